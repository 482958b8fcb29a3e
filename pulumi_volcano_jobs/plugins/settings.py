"""Settings of plugins: the declaration of their pydantic fields, and the facts about each field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, get_args, overload

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetPydanticSchema,
    ValidatorFunctionWrapHandler,
    field_validator,
)
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError
from pydantic_core.core_schema import ValidationInfo, dict_schema, list_schema, tuple_variable_schema, union_schema
from typing_extensions import Self, dataclass_transform

from pulumi_volcano_jobs.core.calls import not_assignable, not_keywords, unknown_attribute
from pulumi_volcano_jobs.core.errors import job_error
from pulumi_volcano_jobs.core.integers import MAX_INT64, MIN_INT64
from pulumi_volcano_jobs.core.leaf import is_valid_unicode, may_be_output
from pulumi_volcano_jobs.core.text import redacted_for_repr
from pulumi_volcano_jobs.plugins import goflag
from pulumi_volcano_jobs.spec.model_errors import as_job_error

T = TypeVar("T")

UNSET: Any = object()
"""The marker for a setting without a recommended value."""
FLAG_KINDS: dict[type, goflag.Kind] = {bool: "bool", int: "int", str: "string"}
"""The Python types of flags, and Volcano's type of each."""


if TYPE_CHECKING:

    class Setting(Generic[T]):
        """The type of a setting: reading it returns `T`, and the constructor also accepts None, for the default."""

        @overload
        def __get__(self, instance: None, owner: type, /) -> Self: ...

        @overload
        def __get__(self, instance: object, owner: type, /) -> T: ...

        def __get__(self, instance: object | None, owner: type, /) -> Self | T: ...  # noqa: D105

        def __set__(self, instance: object, value: T | None, /) -> None: ...  # noqa: D105

else:

    class Setting:
        """The type of a setting; for pydantic, `Setting[T]` is `T`."""

        def __class_getitem__(cls, kind: T) -> T:
            """Return the type of the values."""
            return kind


def flag(
    argument: str,
    *,
    default: T,
    recommended: T = UNSET,
    placeholder: str = "",
    secret: bool = False,
    since: str = "",
) -> Any:
    """Declare a field that is also one of Volcano's arguments, `--argument`.

    Args:
        argument: the name of Volcano's flag, without dashes.
        default: Volcano's default. Its type (str, int or bool) is the type of the flag.
        recommended: the default with `defaults="recommended"`.
        placeholder: the text that replaces key material in output. The field is then also omitted from repr. A secret
            always has a placeholder.
        secret: whether Pulumi must encrypt the value.
        since: the first Volcano release with the flag; empty if the plugin has always had it.
    """
    placeholder = placeholder or ("<secret>" if secret else "")
    facts = {"placeholder": placeholder, "secret": secret, "since": since, "may_be_output": bool(placeholder)}
    return _declared(default, recommended, {"flag": argument, **facts})


def option(*, default: T, recommended: T = UNSET, not_native: str = "", may_be_output: bool = False) -> Any:
    """Declare a field that Volcano does not have as an argument.

    Args:
        default: the value with Volcano's behavior.
        recommended: the default with `defaults="recommended"`.
        not_native: the reason why `managed_by="volcano"` cannot support it, as a clause after "because"; empty if it
            can.
        may_be_output: whether the value may be an Output, because it only appears in objects and decides nothing.
    """
    return _declared(default, recommended, {"not_native": not_native, "may_be_output": may_be_output})


def _declared(default: T, recommended: T, facts: dict[str, Any]) -> Any:
    facts = {name: fact for name, fact in facts.items() if fact}
    if recommended is not UNSET:
        facts["recommended"] = recommended
    return Field(default=default, repr="placeholder" not in facts, json_schema_extra=facts)


if TYPE_CHECKING:

    @dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(flag, option, Field))
    class _FrozenModel:
        """A frozen BaseModel for type checkers, without methods, so that a plugin can define `validate`."""

        model_fields: ClassVar[Mapping[str, FieldInfo]]
        __class_vars__: ClassVar[set[str]]

        def __init__(self, **settings: Any) -> None: ...

        def __repr_args__(self) -> Iterator[tuple[str | None, Any]]: ...

        @property
        def model_fields_set(self) -> set[str]: ...

        @classmethod
        def model_construct(cls, _fields_set: set[str] | None = None, **settings: Any) -> Self: ...

else:

    class _FrozenModel(BaseModel):
        def __setattr__(self, name: str, value: object) -> None:
            raise job_error([not_assignable(path_of(type(self)), name)])

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):
                return super().__getattr__(name)
            raise unknown_attribute("setting", name, type(self), type(self).model_fields)

        __str__ = BaseModel.__repr__


class Settings(_FrozenModel):
    """The base class of plugins: a model whose fields are the settings."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        # Importing the package builds no schemas.
        defer_build=True,
        arbitrary_types_allowed=True,
        hide_input_in_errors=True,
        # An attribute without an annotation is not a setting.
        ignored_types=(object,),
        protected_namespaces=(),
    )

    def __init_subclass__(cls, **options: Any) -> None:
        """Keep class variables such as `name` if a subclass annotates them with a plain type."""
        super().__init_subclass__(**options)
        annotations = vars(cls).get("__annotations__", {})
        annotations.update(dict.fromkeys(annotations.keys() & cls.__class_vars__, ClassVar[Any]))

    @classmethod
    def __pydantic_init_subclass__(cls, **_options: Any) -> None:
        """Reject a setting without an annotation: pydantic would ignore it."""
        for name, value in vars(cls).items():
            if isinstance(value, FieldInfo):
                message = f"{name!r} is a field but has no type annotation"
                raise TypeError(message)

    def __init__(self, /, *values: Any, **settings: Any) -> None:
        """Validate the settings. A setting that is None has its default.

        Raises:
            JobError: with a Problem for each invalid setting.
        """
        cls = type(self)
        if values:
            raise job_error([not_keywords(path_of(cls), "settings", cls.__name__, cls.model_fields)])
        self._set(settings, of_program=True)

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Self:
        """Validate settings of a file or of the command line, as the constructor does for a program.

        Raises:
            JobError: with a Problem for each invalid setting.
        """
        plugin = cls.__new__(cls)
        cls._set(plugin, settings, of_program=False)
        return plugin

    def _set(self, settings: Mapping[str, Any], *, of_program: bool) -> None:
        cls = type(self)
        with as_job_error(path_of(cls), settings=cls.model_fields, of_program=of_program):
            super().__init__(**cls._given(settings))

    @classmethod
    def _given(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings without those that are None, unless None is one of the values of a setting."""
        return {name: value for name, value in settings.items() if value is not None or not cls._has_default(name)}

    @classmethod
    def _has_default(cls, name: str) -> bool:
        """Check whether None means the default of a setting; an unknown setting is an error, even if it is None."""
        field = cls.model_fields.get(name)
        return field is not None and type(None) not in get_args(field.annotation)

    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]  # internal to pydantic

    @field_validator("*", mode="wrap")
    @classmethod
    def _check(cls, value: Any, check: ValidatorFunctionWrapHandler, info: ValidationInfo) -> Any:
        """Accept an Output if the setting allows it, and reject text and numbers that a manifest cannot contain."""
        facts = facts_of(cls)[info.field_name or ""]
        if may_be_output(value):
            if "may_be_output" in facts:
                return value
            raise _refused("plain_type", hint="only keys may be Outputs" if "flag" in facts else "")
        checked = check(value)
        if isinstance(checked, str) and not is_valid_unicode(checked):
            raise _refused("string_unicode")
        if isinstance(checked, int) and not MIN_INT64 <= checked <= MAX_INT64:
            raise _refused("int64_overflow")
        return checked

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield the settings for repr, without keys."""
        return ((name, redacted_for_repr(value)) for name, value in super().__repr_args__())


def _refused(kind: Any, **facts: str) -> PydanticCustomError:
    return PydanticCustomError(kind, kind, facts)


A_LIST = GetPydanticSchema(lambda *_: union_schema([list_schema(strict=True), tuple_variable_schema(strict=True)]))
"""The annotation of a setting that must be a list or a tuple. Its items are validated later."""
A_MAPPING = GetPydanticSchema(lambda *_: dict_schema(strict=False))
"""The annotation of a setting that must be a mapping. Its entries are validated later."""


def path_of(plugin: type[Settings]) -> str:
    """Return the path of a plugin in the job."""
    return f"spec.plugins.{getattr(plugin, 'name', plugin.__name__)}"


def facts_of(plugin: type[Settings]) -> dict[str, dict[str, Any]]:
    """Return the non-empty facts that `flag` or `option` declares, by setting."""
    extras = {name: field.json_schema_extra for name, field in plugin.model_fields.items()}
    return {name: extra if isinstance(extra, dict) else {} for name, extra in extras.items()}


def flags_of(plugin: type[Settings], *, of: str = "flag") -> dict[str, str]:
    """Return the setting of each Volcano argument of a plugin. `of` selects the settings with a fact."""
    return {facts["flag"]: name for name, facts in facts_of(plugin).items() if {"flag", of} <= facts.keys()}


def flag_of(plugin: type[Settings], setting: str) -> str:
    """Return the name of the Volcano argument for a setting, or an empty string."""
    return str(facts_of(plugin).get(setting, {}).get("flag", ""))


def since_of(plugin: type[Settings], argument: str) -> str:
    """Return the first Volcano release with an argument, or an empty string if the plugin has always had it."""
    return str(facts_of(plugin)[flags_of(plugin)[argument]].get("since", ""))


def secret_settings(plugin: type[Settings]) -> dict[str, str]:
    """Return the setting of each Volcano argument that contains a secret."""
    return flags_of(plugin, of="secret")


def default_of(plugin: type[Settings], setting: str) -> Any:
    """Return the default of a setting."""
    return plugin.model_fields[setting].get_default(call_default_factory=True)
