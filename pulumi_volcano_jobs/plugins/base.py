"""The contract of a job plugin, built-in or the user's own.

A plugin is settings and hooks; it keeps no state between hooks and reads no file, clock or network. Subclasses are
frozen pydantic models whose fields are the plugin's arguments:

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
from pulumi_volcano_jobs.core.text import Sealed
from pulumi_volcano_jobs.kubernetes.dns import DNS_LABEL
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, ObjectRef, Placeholder, Pod
from pulumi_volcano_jobs.kubernetes.schema import suggestion
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

_UPGRADE = 'upgrade Volcano, or set managed_by="pulumi"'


class Stage(enum.IntEnum):
    """When a plugin runs: by stage, then by name. Volcano's own order is random, so this is one of its results."""

    BASE = 1
    """What others build on: names, addresses, keys."""
    FRAMEWORK = 2
    """What tells a framework its world."""
    OBSERVE = 3
    """What looks at the others' work."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class JobUpdate(Sealed):
    """What a change of the job means for what a plugin made."""

    follows: frozenset[ObjectRef] = frozenset()
    """Objects whose contents depend on the job's replicas, and follow them."""
    scaled_env: frozenset[str] = frozenset()
    """Variables in Pods whose values depend on the job's replicas; a change of what else is in them is an edit."""
    restart_triggers: tuple[Any, ...] = ()
    """Values (leaves may be among them) that running Pods would never see change: another one replaces the Pods."""
    is_elastic: bool = False
    """Whether Pods take others in and let them go, whatever their variables say."""

    @property
    def is_static(self) -> bool:
        """Whether Pods are told how many they are, so that another number of them has to begin anew."""
        return bool(self.scaled_env) and not self.is_elastic


class Plugin(Settings):
    """A job plugin: its settings, and what it does at each point of a job's life."""

    name: ClassVar[str]
    """The key in `spec.plugins`."""
    stage: ClassVar[Stage] = Stage.FRAMEWORK
    """When it runs: after all plugins of earlier stages."""
    requires: ClassVar[frozenset[str]] = frozenset()
    """Plugins that come with this one, with their default settings unless the job has them."""
    since: ClassVar[str] = ""
    """The first release of Volcano that has the plugin; empty if all known releases have it."""
    aliases: ClassVar[Mapping[str, str]] = {}
    """Arguments that upstream documents name wrongly, and what they are really called."""

    @classmethod
    def kinds(cls) -> dict[str, goflag.Kind]:
        """Return the kind of each of Volcano's arguments, by name."""
        return {name: FLAG_KINDS[type(default_of(cls, setting))] for name, setting in flags_of(cls).items()}

    @classmethod
    def from_args(cls, args: Sequence[Any]) -> Self:
        """Read Volcano's arguments (`["--port=29500"]`).

        Raises:
            JobError: with a Problem for each argument that Volcano would misread or drop.
        """
        settings, problems = cls.read_args(args)
        if problems:
            raise job_error(problems)
        return settings

    @classmethod
    def read_args(cls, args: Sequence[Any], *, strict: bool = True) -> tuple[Self, list[Problem]]:
        """Read Volcano's arguments as Volcano does, and say where that is not what was meant.

        With `strict`, misnamed arguments of upstream's documents (`aliases`) are taken for what they mean, and what
        stands behind a mistake is read too.
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
        if isinstance(args[error.position], Leaf):
            hint = 'write "--name" and the Output as two items of the list'
        if error.unknown:
            hint = suggestion(error.flag, known) if known else "remove it: this plugin takes no arguments"
        at = f"{path_of(cls)}[{error.position}]"
        return Problem(at, "NotSupported" if error.unknown else "Invalid", error.reason, hint)

    def to_args(self) -> list[Any]:
        """Return the settings that differ from Volcano's defaults as its arguments; a leaf follows its flag.

        The newest flags are last: a release that does not know a flag ignores it and all flags after it.
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
        """Sort Volcano's arguments as `to_args` does; return them as they are if Go does not read all of them."""
        parsed = goflag.parse(cls.kinds(), args)
        if parsed.errors:
            return list(args)
        by_age = sorted(parsed.flags, key=lambda flag: releases.order(since_of(cls, flag[0])))
        return [argument for _, arguments in by_age for argument in arguments]

    def missing_in(self, version: str, job: Job, args: Sequence[Any], *, strict: bool) -> Iterator[Problem]:  # noqa: ARG002
        """Yield a Problem if a release of Volcano does not have the plugin, or a flag that a native job sets.

        Args:
            version: the release.
            job: the job with its defaults.
            args: the arguments of the plugin in the job.
            strict: whether to check arguments after a mistake. Volcano does not read these.
        """
        if releases.is_older(version, self.since):
            reason = f"Volcano {version} has no such plugin (added in {self.since})"
            value = errors.value_text(self.name)
            yield Problem(path_of(type(self)), "NotSupported", reason, _UPGRADE, value, errors.RejectionStage.WEBHOOK)
            return
        for name in goflag.parse(type(self).kinds(), args, read_on=strict).values:
            since = since_of(type(self), name)
            if releases.is_older(version, since):
                reason = (
                    f"Volcano {version} has no flag --{name} (added in {since}), and ignores it and all flags after it"
                )
                yield self.problem(
                    flags_of(type(self))[name],
                    reason,
                    f"remove it, {_UPGRADE}",
                    shown=False,
                    error_type="Forbidden",
                )

    def with_(self, **changes: Any) -> Self:
        """Copy the settings with some of them replaced.

        Raises:
            JobError: with a Problem for each that does not fit.
        """
        checked = type(self)(**changes) if changes else self
        return self.unchecked({name: getattr(checked, name) for name in changes})

    def unchecked(self, changes: Mapping[str, Any]) -> Self:
        """Copy the settings with some of them replaced, without validation; the values may contain leaves."""
        settings = {name: getattr(self, name) for name in type(self).model_fields}
        return self.model_construct({*self.model_fields_set, *changes}, **{**settings, **changes})

    @property
    def images(self) -> frozenset[str]:
        """The settings that name images of containers which the plugin adds, as it is set."""
        return frozenset()

    def with_images(self, change: Callable[[Any], Any]) -> Self:
        """Copy the settings with other images; what was not given still counts as not given."""
        changed = {name: change(getattr(self, name)) for name in self.images}
        if all(value is getattr(self, name) for name, value in changed.items()):
            return self
        copy = self.unchecked(changed)
        copy.model_fields_set.intersection_update(self.model_fields_set)
        return copy

    def recommended(self, *, native: bool = False, version: str = "") -> Self:
        """Return a copy in which the settings that were not given have their recommended values.

        With `native`, settings that Volcano's controllers cannot support, and flags that this version of Volcano
        lacks, stay as they are.
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
        """Give the settings that differ from their default and for which Volcano has no argument."""
        options = {name: getattr(self, name) for name, facts in facts_of(type(self)).items() if "flag" not in facts}
        return {
            name: value
            for name, value in options.items()
            if isinstance(value, Leaf) or value != default_of(type(self), name)
        }

    def not_native(self) -> Iterator[Problem]:
        """Yield the settings that cannot be had with `managed_by="volcano"`."""
        facts = facts_of(type(self))
        for name, value in self.beyond().items():
            if "not_native" in facts[name]:
                reason = f'with managed_by="volcano" this cannot be had: {facts[name]["not_native"]}'
                hint = 'remove it, or use managed_by="pulumi"'
                yield self.problem(name, reason, hint, error_type="Forbidden", shown=not isinstance(value, Leaf))

    def redacted(self) -> Self:
        """Copy the settings with placeholders for given keys and other secrets."""
        hidden = {
            name: Placeholder(facts["placeholder"])
            for name, facts in facts_of(type(self)).items()
            if "placeholder" in facts and is_given(getattr(self, name))
        }
        return self.unchecked(hidden)

    def validate(self, job: Job) -> Iterator[Problem]:  # noqa: ARG002  # subclasses look at the job
        """Yield the problems of these settings with this job; their types have been checked."""
        for setting in sorted(self.images):
            image = getattr(self, setting)
            if isinstance(image, str) and any(map(str.isspace, image)):
                yield self.problem(setting, "must not contain whitespace", "remove the whitespace")

    def malformed(self) -> Iterator[Problem]:
        """Yield problems of values that `validate` cannot read: arguments of another type, and nested values."""
        # Arguments are read without validation; other settings were validated on construction.
        read = self.model_fields_set.intersection(flags_of(type(self)).values())
        try:
            self.with_(**{name: getattr(self, name) for name in read})
        except JobError as error:
            yield from error.problems

    def on_job_add(self, ctx: JobContext) -> list[Manifest]:  # noqa: ARG002
        """Return the objects that the job needs beside its Pods."""
        return []

    def on_pod_create(self, pod: Pod, ctx: JobContext) -> None:
        """Edit one Pod, a private copy, before it is created."""

    def extend_objects(self, ctx: JobContext) -> list[Manifest]:  # noqa: ARG002
        """Return the objects that only our own options ask for; Pulumi makes them in both modes."""
        return []

    def extend_pod(self, pod: Pod, ctx: JobContext) -> None:
        """Edit one Pod as only our own options ask for, before all `on_pod_create`.

        With `managed_by="volcano"` it edits a task's template instead, once for all its Pods: what depends on the Pod's
        index must be an option with `not_native`.
        """

    def on_job_update(self, ctx: JobContext) -> JobUpdate:  # noqa: ARG002
        """Say which objects and which values in Pods depend on the job's replicas."""
        return JobUpdate()

    def on_job_delete(self, ctx: JobContext) -> frozenset[ObjectRef]:
        """Say which objects go with the job: all that it makes, unless one is to be kept."""
        objects = (*self.on_job_add(ctx), *self.extend_objects(ctx))
        return frozenset(map(ObjectRef.of, objects))

    def outputs(self, ctx: JobContext) -> dict[str, Any]:  # noqa: ARG002
        """Give what a program may want to know of this plugin's work: names, addresses (leaves may be in them)."""
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
        """Return a Problem of one of the settings; `shown=False` omits its value, and a key is never shown.

        With a code (see `errors.WARNINGS`) it is a warning.
        """
        is_key = "placeholder" in facts_of(type(self)).get(setting, {})
        value = errors.value_text(getattr(self, setting)) if shown and not is_key else ""
        at = f"{path_of(type(self))}.{setting}"
        return Problem(at, "Warning" if code else error_type, reason, hint, value=value, code=code)


def port_problems(plugin: Plugin, *settings: str) -> Iterator[Problem]:
    """Yield a Problem for each setting that is no port number."""
    for setting in settings:
        value = getattr(plugin, setting)
        if isinstance(value, int) and not is_port(value):
            yield plugin.problem(setting, PORT_RULE)


def role_problem(plugin: Plugin, setting: str, job: Job) -> Iterator[Problem]:
    """Yield a Problem if no task has the name that a setting gives."""
    name = getattr(plugin, setting)
    if job.task(name) is None:
        known = ", ".join(task.name or "" for task in job.tasks or ())
        yield plugin.problem(
            setting,
            f"the job has no task of this name (it has {known})",
            "name the task of this role",
            error_type="NotFound",
        )


def check_definition(plugin: type[Plugin]) -> None:
    """Check the class of a plugin when it is registered.

    Raises:
        TypeError: if its definition cannot work, with the class and what is wrong.
    """
    name = getattr(plugin, "name", None)
    faults = []
    if not isinstance(name, str) or not re.fullmatch(DNS_LABEL, name):
        faults.append(f"name must be a lower-case name such as 'token', not {name!r}")
    if not isinstance(getattr(plugin, "stage", None), Stage):
        faults.append("stage must be one of Stage.BASE, Stage.FRAMEWORK, Stage.OBSERVE")
    faults += [
        f"the field {setting} needs a default of the type str, int or bool"
        for setting in flags_of(plugin).values()
        if type(default_of(plugin, setting)) not in FLAG_KINDS
    ]
    if faults:
        raise TypeError(f"{plugin.__module__}.{plugin.__qualname__} is not a plugin: {'; '.join(faults)}")
