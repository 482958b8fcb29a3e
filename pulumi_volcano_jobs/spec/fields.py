"""Types of the fields of a Volcano Job, with their validators.

A field of type `LeafStr` accepts a `Leaf`, because its value does not decide which objects exist or their names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeGuard, TypeVar, runtime_checkable

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, StringConstraints, WrapValidator
from pydantic_core import PydanticCustomError

from pulumi_volcano_jobs.core.errors import key_text, value_text
from pulumi_volcano_jobs.core.integers import MAX_INT32, MIN_INT32
from pulumi_volcano_jobs.core.leaf import Leaf, Text, is_valid_unicode, may_be_output
from pulumi_volcano_jobs.core.tree import whole_number
from pulumi_volcano_jobs.kubernetes import duration
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL, DNS_SUBDOMAIN, MAX_LABEL, MAX_SUBDOMAIN

Tree = Any
"""A tree of dictionaries, lists and scalars, which may contain Outputs."""


_OF_YAML = (str, int, float, bool, list, tuple, type(None))


def _text(value: object) -> object:
    # An Output passes: the component replaces it by a leaf before the job is rendered.
    if not isinstance(value, str) and not may_be_output(value):
        kind = "string_type"
        raise PydanticCustomError(kind, "must be a string")
    if isinstance(value, str) and not is_valid_unicode(value):
        kind = "string_unicode"
        raise PydanticCustomError(kind, "must be valid Unicode")
    return value


def _dns_name(pattern: str, longest: int) -> PlainValidator:
    """Return a validator of a DNS name. Empty means missing: Volcano sets the default before it checks the schema."""

    def check(value: object) -> object:
        text = _text(value)
        if isinstance(text, str) and text and (len(text) > longest or not re.fullmatch(pattern, text)):
            kind = "string_pattern_mismatch"
            raise PydanticCustomError(kind, "must be a DNS name")
        return text

    text_type = Annotated[str, StringConstraints(pattern=f"^({pattern})?$", max_length=longest)]
    return PlainValidator(check, json_schema_input_type=text_type)


def _plain_text(value: object) -> object:
    if not isinstance(value, str):
        kind = "string_type"
        raise PydanticCustomError(kind, "must be a string")
    return _text(value)


def _duration(value: object) -> object:
    """Check a `metav1.Duration` as the decoder of Volcano's webhook does."""
    kind, template = "duration_type", "{problem}"
    if not isinstance(value, str):
        context = {"problem": "must be a string", "fix": 'write a duration such as "10m"'}
        raise PydanticCustomError(kind, template, context)
    if problem := duration.problem(value):
        raise PydanticCustomError(kind, template, {"problem": problem, "fix": duration.fix(value)})
    return value


def _given(value: object) -> object:
    """Return None for an empty text: Go omits empty fields."""
    return None if isinstance(value, str) and not value else value


class PodTemplateArgs(Protocol):
    """`pulumi_kubernetes.core.v1.PodTemplateSpecArgs`, declared without an import of Pulumi."""

    @property
    def metadata(self) -> Any:
        """The metadata of each Pod."""
        ...

    @property
    def spec(self) -> Any:
        """The spec of each Pod."""
        ...


def mapping(value: object) -> object:
    """Convert a mapping to a dict; leave types that only Pulumi programs have to the component."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (*_OF_YAML, Leaf)):
        kind = "dict_type"
        raise PydanticCustomError(kind, "must be a mapping")
    return value


T = TypeVar("T")
Listed = Annotated[Sequence[T], AfterValidator(tuple)]
Str = Annotated[str, Field(strict=True)]
Duration = Annotated[Str, BeforeValidator(_duration)]
LeafStr = Annotated[Text, PlainValidator(_text, json_schema_input_type=str)]
Int32 = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=MIN_INT32, le=MAX_INT32)]
Count = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=0, le=MAX_INT32)]
Positive = Annotated[int, BeforeValidator(whole_number), Field(strict=True, ge=1, le=MAX_INT32)]
LeafLabel = Annotated[Text, _dns_name(DNS_LABEL, MAX_LABEL)]
LeafSubdomain = Annotated[Text, _dns_name(DNS_SUBDOMAIN, MAX_SUBDOMAIN)]
TaskName = Annotated[Str, StringConstraints(pattern=f"^({DNS_LABEL})?$", max_length=63)]
MountPath = Annotated[Str, StringConstraints(pattern="^[^:]+$")]
Event = Literal[
    "*",
    "PodPending",
    "PodRunning",
    "PodFailed",
    "PodEvicted",
    "Unknown",
    "TaskCompleted",
    "TaskFailed",
    "OutOfSync",
    "CommandIssued",
    "JobUpdated",
]
"""An event of a policy."""
_Action = Literal[
    "AbortJob",
    "CompleteJob",
    "RestartJob",
    "RestartPartition",
    "RestartPod",
    "RestartTask",
    "ResumeJob",
    "TerminateJob",
]
# `admission.policies` rejects other actions, with the versions of Volcano that have each. Volcano accepts any action
# with an exit code.
Action = Annotated[_Action, PlainValidator(_plain_text, json_schema_input_type=_Action | str)]
"""An action of a policy, such as `RestartJob` or `CompleteJob`."""
OptionalEvent = Annotated[Event | None, BeforeValidator(_given)]
TopologyMode = Annotated[Literal["hard", "soft"] | None, BeforeValidator(_given)]
TopologyPolicy = Annotated[
    Literal["none", "best-effort", "restricted", "single-numa-node"] | None, BeforeValidator(_given)
]


@runtime_checkable
class PluginSettings(Protocol):
    """The name of a typed plugin and its arguments for Volcano."""

    @property
    def name(self) -> str:
        """The key in `spec.plugins`."""
        ...

    def to_args(self) -> list[Tree]:
        """Return the settings as Volcano's arguments."""
        ...


def _is_plugin(value: object) -> TypeGuard[PluginSettings]:
    # A plugin class has all attributes of the protocol, but is not a plugin.
    return isinstance(value, PluginSettings) and not isinstance(value, type)


def _by_name(value: object) -> object:
    """Convert a list of typed plugins to Volcano's mapping, and reject a plugin that is listed twice."""
    # A class has no settings, and a plugin is iterable because it is a pydantic model.
    if isinstance(value, type):
        raise _plugins_error(f"write [{value.__name__}()]")
    if _is_plugin(value):
        raise _plugins_error(f"put it in a list: [{type(value).__name__}(...)]")
    if value is None or isinstance(value, (str, Mapping, Leaf)) or not isinstance(value, Iterable):
        return value
    plugins: dict[str, object] = {}
    entries = list(value)
    if entries and all(isinstance(entry, str) for entry in entries):
        kind, fix = "plugin_names", {"fix": f"write {json.dumps({key: [] for key in entries})}"}
        raise PydanticCustomError(kind, "must be a mapping", fix)
    for plugin in entries:
        if not _is_plugin(plugin):
            raise _plugins_error(_fix_of_entry(plugin))
        if plugin.name in plugins:
            kind = "plugin_twice"
            raise PydanticCustomError(kind, "the plugin {name} is listed twice", {"name": plugin.name})
        plugins[plugin.name] = plugin
    return plugins


def _plugins_error(fix: str) -> PydanticCustomError:
    kind = "plugin_type"
    return PydanticCustomError(kind, "must be a list of plugin objects", {"fix": fix})


def _fix_of_entry(entry: object) -> str:
    if entry is None:
        return "remove None"
    if isinstance(entry, type):
        return f"call it: {entry.__name__}()"
    return 'to pass Volcano\'s arguments, write a mapping: {"pytorch": ["--port=29500"]}'


def _plugin_or_args(value: object, check: Any) -> Any:
    if isinstance(value, (type, Mapping)):
        kind = "plugin_arguments_type"
        fix = f"call it: {value.__name__}()" if isinstance(value, type) else f"write {json.dumps(as_flags(value))}"
        raise PydanticCustomError(kind, "must be a list of Volcano's arguments", {"fix": fix})
    return value if _is_plugin(value) else check(value)


def as_flags(settings: Mapping[Any, object]) -> list[str]:
    """Return settings as Volcano's flags. Only numbers are shown, because other values may be secret."""
    names = {key_text(key).replace("_", "-"): value for key, value in settings.items()}
    return [f"--{name}={value_text(value) if isinstance(value, int) else '...'}" for name, value in names.items()]


def name_of_resource(value: object) -> str:
    """Return the expression for the name of a Pulumi resource, which is recognized without an import of Pulumi."""
    if not hasattr(value, "urn") or isinstance(value, type):
        return ""
    return next((text for key, text in _RESOURCE_NAMES.items() if hasattr(value, key)), "")


_RESOURCE_NAMES = {"metadata": '.metadata["name"]', "name": ".name"}


PluginUse = Annotated[tuple[LeafStr, ...] | None, WrapValidator(_plugin_or_args)]
Uses = dict[str, Any]
"""The plugins of a job by name: a typed plugin, or a tuple of Volcano's arguments (None: a key without a value)."""
if TYPE_CHECKING:
    # The types that a caller may pass; the validator converts them to `Uses`.
    Plugins = Sequence[PluginSettings] | Mapping[str, Sequence[Text] | PluginSettings | None]
else:
    Plugins = Annotated[dict[str, PluginUse], BeforeValidator(_by_name)]
