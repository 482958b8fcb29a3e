"""The base class of job plugins.

A plugin has settings and hooks. It keeps no state between hooks, and does not read files, the clock or the network.
Subclasses are frozen pydantic models, and their fields are the arguments of the plugin:

    class TokenPlugin(Plugin):
        name = "token"
        stage = Stage.FRAMEWORK
        audience: str = flag("audience", default="training")

        def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
            for container in pod.containers:
                container.set_env("TOKEN_AUDIENCE", self.audience)
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import Self

from pulumi_volcano_jobs.core import errors
from pulumi_volcano_jobs.core.errors import ErrorType, JobError, Problem, job_error
from pulumi_volcano_jobs.core.leaf import Leaf, is_given
from pulumi_volcano_jobs.core.phrases import MANAGED_BY_PULUMI, MANAGED_BY_VOLCANO, Phrase
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes import images
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Placeholder, Pod
from pulumi_volcano_jobs.kubernetes.validation.ports import PORT_RULE, is_port
from pulumi_volcano_jobs.plugins import goflag
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import (
    FLAG_KINDS,
    Settings,
    default_of,
    facts_of,
    flags_of,
    path_of,
    since_of,
)
from pulumi_volcano_jobs.spec import releases
from pulumi_volcano_jobs.spec.model import Job

_UPGRADE = Phrase("upgrade Volcano, or set ", MANAGED_BY_PULUMI)


class Stage(enum.IntEnum):
    """The stage in which a plugin runs. Plugins run by stage, then by name.

    Volcano runs its plugins in random order, so it can produce the same result.
    """

    BASE = 1
    """Plugins that other plugins need: names, addresses and keys."""
    FRAMEWORK = 2
    """Plugins that configure the distributed environment of a framework."""
    OBSERVE = 3
    """Plugins that read the edits of other plugins."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class JobUpdate(Sealed):
    """Effects of a job update on the Pods and objects of a plugin."""

    follows: frozenset[ObjectRef] = frozenset()
    """Objects whose contents depend on the replicas of the job, and that are updated with them."""
    scaled_env: frozenset[str] = frozenset()
    """Variables of Pods whose values depend on the replicas. Any other change of these variables is an edit."""
    restart_triggers: tuple[Any, ...] = ()
    """Values (or leaves) that running Pods never reload. If one of them changes, the Pods are replaced."""
    is_elastic: bool = False
    """Whether Pods can join and leave the running job, regardless of their variables."""

    @property
    def is_static(self) -> bool:
        """Whether each Pod knows the number of Pods, so that scaling must replace all Pods."""
        return bool(self.scaled_env) and not self.is_elastic


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class PluginOutput(Sealed):
    """An output of a plugin, and the objects that must exist before a program uses it."""

    value: Any
    """The value. It may contain leaves."""
    depends_on: Sequence[ObjectRef]
    """The objects, such as the Service and the Pods of an address. Objects that the job does not have are ignored."""


class Plugin(Settings):
    """A job plugin: its settings, and a hook for each phase of a job."""

    name: ClassVar[str]
    """The key in `spec.plugins`."""
    stage: ClassVar[Stage] = Stage.FRAMEWORK
    """The stage of the plugin, which runs after all plugins of earlier stages."""
    requires: ClassVar[frozenset[str]] = frozenset()
    """Plugins that this plugin needs. They have their default settings, unless the job configures them."""
    since: ClassVar[str] = ""
    """The first Volcano release with the plugin; empty if all known releases have it."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Wrong argument names in upstream's documentation, and the correct name of each."""

    @classmethod
    def kinds(cls) -> dict[str, goflag.Kind]:
        """Return the type of each Volcano argument, by name."""
        return {name: FLAG_KINDS[type(default_of(cls, setting))] for name, setting in flags_of(cls).items()}

    @classmethod
    def from_args(cls, args: Sequence[Any]) -> Self:
        """Parse Volcano's arguments (`["--port=29500"]`).

        Raises:
            JobError: with a Problem for each argument that Volcano would misread or ignore.
        """
        settings, problems = cls.read_args(args)
        if problems:
            raise job_error(problems)
        return settings

    @classmethod
    def read_args(cls, args: Sequence[Any], *, strict: bool = True) -> tuple[Self, list[Problem]]:
        """Parse Volcano's arguments as Volcano does, and return a Problem for each one that it misreads or ignores.

        With `strict`, resolve the wrong names in upstream's documentation (`aliases`), and also parse the arguments
        after a mistake.
        """
        flags = flags_of(cls)
        aliases = cls.aliases if strict else {}
        kinds = cls.kinds()
        parsed = goflag.parse(kinds | {alias: kinds[name] for alias, name in aliases.items()}, args, read_on=strict)
        values = {flags[aliases.get(name, name)]: value for name, value in parsed.values.items()}
        mistakes = [cls._flag_problem(item, args, kinds) for item in parsed.errors]
        return cls.model_construct({*values}, **values), mistakes

    @classmethod
    def _flag_problem(cls, error: goflag.FlagError, args: Sequence[Any], known: Mapping[str, object]) -> Problem:
        hint = "write --name=value" if not error.flag else ""
        argument, *previous = args[error.position :: -1]
        is_wrong_value = error.flag and not error.unknown
        if isinstance(argument, Leaf):
            hint = 'pass "--name" and the Output as two items of the list'
        elif not is_wrong_value and (right := goflag.nearly_right(cls.kinds(), argument, *previous[:1])):
            hint = f"write {right}"
        elif error.unknown:
            hint = suggestion(error.flag, known) if known else "remove it: this plugin has no arguments"
        at = f"{path_of(cls)}[{error.position}]"
        return Problem(at, "NotSupported" if error.unknown else "Invalid", error.reason, hint)

    def to_args(self) -> list[Any]:
        """Return the settings that differ from Volcano's defaults, as Volcano arguments. A leaf follows its flag.

        The newest flags are last, because a release ignores an unknown flag and all flags after it.
        """
        args: list[Any] = []
        flags = flags_of(type(self))
        for name in sorted(flags, key=lambda name: (releases.order(since_of(type(self), name)), name)):
            value = getattr(self, flags[name])
            if isinstance(value, Leaf):
                args += [f"--{name}", value]
            elif value != default_of(type(self), flags[name]):
                args.append(f"--{name}={str(value).lower() if isinstance(value, bool) else value}")
        return args

    @classmethod
    def newest_last(cls, args: Sequence[Any]) -> list[Any]:
        """Sort Volcano's arguments as `to_args` does. Return them unchanged if Go would not parse some."""
        parsed = goflag.parse(cls.kinds(), args)
        if parsed.errors:
            return list(args)
        by_age = sorted(parsed.flags, key=lambda flag: releases.order(since_of(cls, flag[0])))
        return [argument for _, arguments in by_age for argument in arguments]

    def missing_in(self, version: str, job: Job, args: Sequence[Any], *, strict: bool) -> Iterator[Problem]:  # noqa: ARG002
        """Yield a Problem if a Volcano release lacks the plugin, or a flag that a native job sets.

        Args:
            version: the release.
            job: the job with its defaults.
            args: the arguments of the plugin in the job.
            strict: whether to check arguments after a mistake, which Volcano does not parse.
        """
        if releases.is_older(version, self.since):
            reason = f"Volcano {version} does not have this plugin (added in {self.since})"
            value = errors.value_text(self.name)
            yield Problem(path_of(type(self)), "NotSupported", reason, _UPGRADE, value, errors.RejectionStage.WEBHOOK)
            return
        for name in goflag.parse(type(self).kinds(), args, read_on=strict).values:
            since = since_of(type(self), name)
            if releases.is_older(version, since):
                reason = (
                    f"Volcano {version} does not have the flag --{name} (added in {since}),"
                    " and ignores it and all flags after it"
                )
                yield self.problem(
                    flags_of(type(self))[name],
                    reason,
                    Phrase("remove it, ", _UPGRADE),
                    shown=False,
                    error_type="Forbidden",
                )

    def with_(self, **changes: Any) -> Self:
        """Return a copy with some settings replaced. A setting that is None keeps its value.

        Raises:
            JobError: with a Problem for each invalid setting.
        """
        return self._with(type(self)(**changes), changes)

    def with_options(self, options: Mapping[str, Any]) -> Self:
        """Return a copy as `with_` does, with hints for a file or the command line in problems.

        Raises:
            JobError: with a Problem for each invalid setting.
        """
        return self._with(self.read(options), options)

    def _with(self, checked: Self, changes: Mapping[str, Any]) -> Self:
        return self.unchecked({name: getattr(checked, name) for name in self._given(changes)})

    def unchecked(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with some settings replaced, without validation. The values may contain leaves."""
        settings = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct({*self.model_fields_set, *changes}, **{**settings, **changes})

    @property
    def images(self) -> frozenset[str]:
        """Settings with the images of the containers that the plugin adds in its current configuration."""
        return frozenset()

    def with_images(self, change: Callable[[Any], Any]) -> Self:
        """Return a copy with other images. Settings that were not set remain unset."""
        changed = {name: change(getattr(self, name)) for name in self.images}
        if all(value is getattr(self, name) for name, value in changed.items()):
            return self
        copy = self.unchecked(changed)
        copy.model_fields_set.intersection_update(self.model_fields_set)
        return copy

    def recommended(self, *, native: bool = False, version: str = "") -> Self:
        """Return a copy with the recommended values of all unset settings.

        With `native`, skip settings that Volcano's controllers cannot support, and flags that this Volcano version
        lacks.
        """
        unset = {
            name: facts["recommended"]
            for name, facts in facts_of(type(self)).items()
            if "recommended" in facts
            and name not in self.model_fields_set
            and not (native and ("not_native" in facts or releases.is_older(version, facts.get("since", ""))))
        }
        return self.unchecked(unset)

    def beyond(self) -> dict[str, Any]:
        """Return the settings that differ from their defaults and have no Volcano argument."""
        options = {name: getattr(self, name) for name, facts in facts_of(type(self)).items() if "flag" not in facts}
        return {
            name: value
            for name, value in options.items()
            if isinstance(value, Leaf) or value != default_of(type(self), name)
        }

    def not_native(self) -> Iterator[Problem]:
        """Yield a Problem for each setting that `managed_by="volcano"` cannot support."""
        facts = facts_of(type(self))
        for name, value in self.beyond().items():
            if "not_native" in facts[name]:
                reason = Phrase("may not be set with ", MANAGED_BY_VOLCANO, f", because {facts[name]['not_native']}")
                hint = Phrase("remove it, or use ", MANAGED_BY_PULUMI)
                yield self.problem(name, reason, hint, error_type="Forbidden", shown=not isinstance(value, Leaf))

    def redacted(self) -> Self:
        """Return a copy with placeholders for keys and other secrets."""
        hidden = {
            name: Placeholder(facts["placeholder"])
            for name, facts in facts_of(type(self)).items()
            if "placeholder" in facts and is_given(getattr(self, name))
        }
        return self.unchecked(hidden)

    def validate(self, job: Job) -> Iterator[Problem]:  # noqa: ARG002  # subclasses use the job
        """Yield the problems of these settings in this job. Their types are already validated."""
        yield from self.wrong_images()

    def wrong_images(self) -> Iterator[Problem]:
        """Yield a Problem for each image of the plugin that no kubelet can pull."""
        for setting in sorted(self.images):
            image = getattr(self, setting)
            if not isinstance(image, str):
                continue
            if image != image.strip():
                yield self.problem(setting, "must not have leading or trailing whitespace", "remove the whitespace")
            yield from images.check_reference(image, f"{path_of(type(self))}.{setting}")

    def known_problems(self) -> Iterator[Problem]:
        """Yield the problems of settings that `validate` cannot read while they are Outputs.

        The component calls this method when the Outputs are known. `validate` has to include these problems.
        """
        return iter(())

    def malformed(self) -> Iterator[Problem]:
        """Yield problems of values that `validate` cannot read: arguments of a wrong type, and nested values."""
        # Arguments are parsed without validation. The other settings were validated on construction.
        read = self.model_fields_set.intersection(flags_of(type(self)).values())
        try:
            self.with_options({name: getattr(self, name) for name in read})
        except JobError as error:
            yield from error.problems

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:  # noqa: ARG002
        """Return the objects that the job needs in addition to its Pods."""
        return []

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Edit a Pod before it is created. Each Pod is a separate copy."""

    def extend_objects(self, ctx: JobContext) -> list[Manifest]:  # noqa: ARG002
        """Return the objects of options that Volcano does not have. Pulumi creates them in both modes."""
        return []

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Edit a Pod for options that Volcano does not have. This runs before `on_pod_create` of all plugins.

        With `managed_by="volcano"`, it edits the template of a task, once for all Pods of the task. Options whose
        edits depend on the index of the Pod therefore need `not_native`.
        """

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Return the objects and the values in Pods that depend on the replicas of the job."""
        return JobUpdate()

    def on_job_delete(self, ctx: JobContext) -> frozenset[ObjectRef]:
        """Return the objects to delete with the job: by default, all objects of the plugin."""
        objects = (*self.on_job_add(ctx), *self.extend_objects(ctx))
        return frozenset(map(ObjectRef.of, objects))

    def keeping_command(self, task: str, container: Mapping[str, Any]) -> str:  # noqa: ARG002  # subclasses use them
        """Return how to keep the command of a container that this plugin replaces; empty if it cannot."""
        return ""

    def outputs(self, ctx: JobContext) -> dict[str, Any]:  # noqa: ARG002
        """Return outputs for programs, such as names and addresses. They may contain leaves.

        An output depends on all objects of the plugin. Return a `PluginOutput` for one that depends on other objects.
        """
        return {}

    def problem(
        self,
        setting: str,
        reason: str,
        hint: str = "",
        *,
        error_type: ErrorType = "Invalid",
        shown: bool = True,
        code: str = "",
    ) -> Problem:
        """Return a Problem of a setting. `shown=False` omits the value; the value of a key is always omitted.

        With a code (see `errors.WARNINGS`), the Problem is a warning.
        """
        is_key = "placeholder" in facts_of(type(self)).get(setting, {})
        value = errors.value_text(getattr(self, setting)) if shown and not is_key else ""
        at = f"{path_of(type(self))}.{setting}"
        return Problem(at, "Warning" if code else error_type, reason, hint, value=value, code=code)


def port_problems(plugin: Plugin, *settings: str) -> Iterator[Problem]:
    """Yield a Problem for each setting that is not a port number."""
    for setting in settings:
        value = getattr(plugin, setting)
        if isinstance(value, int) and not is_port(value):
            yield plugin.problem(setting, PORT_RULE)


def role_problem(plugin: Plugin, setting: str, job: Job) -> Iterator[Problem]:
    """Yield a Problem if no task has the name in a setting."""
    name = getattr(plugin, setting)
    if job.task(name) is None:
        known = ", ".join(task.name or "" for task in job.tasks or ())
        yield plugin.problem(
            setting,
            f"no task has this name (tasks: {known})",
            f'add a task named "{name}", or set {plugin.name}.{setting}',
            error_type="NotFound",
        )


def check_definition(plugin: type[Plugin]) -> None:
    """Check the class of a plugin at registration.

    Raises:
        TypeError: if the definition is invalid, with the class and the reasons.
    """
    name = getattr(plugin, "name", None)
    faults = []
    if not isinstance(name, str) or not re.fullmatch(DNS_LABEL, name):
        faults.append(f"name must be a DNS label such as 'token', not {name!r}")
    if not isinstance(getattr(plugin, "stage", None), Stage):
        faults.append("stage must be one of Stage.BASE, Stage.FRAMEWORK, Stage.OBSERVE")
    faults += [
        f"the field {setting} needs a default of type str, int or bool"
        for setting in flags_of(plugin).values()
        if type(default_of(plugin, setting)) not in FLAG_KINDS
    ]
    if faults:
        raise TypeError(f"{plugin.__module__}.{plugin.__qualname__} is not a plugin: {'; '.join(faults)}")
