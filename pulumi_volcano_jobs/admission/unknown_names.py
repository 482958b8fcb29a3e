"""Warnings about names in commands and variables that nothing in the job provides.

The variables and files of a container come from its rendered Pod and the objects of the job. To find the plugin or the
option that provides a missing name, other plugins and settings are tried on the template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from pulumi_volcano_jobs.core.errors import JobError, Problem, value_text
from pulumi_volcano_jobs.core.leaf import is_given
from pulumi_volcano_jobs.core.phrases import some
from pulumi_volcano_jobs.core.suggestions import closest
from pulumi_volcano_jobs.kubernetes import commands
from pulumi_volcano_jobs.kubernetes.container_lists import containers_in, rendered_containers
from pulumi_volcano_jobs.kubernetes.manifest import Manifest, Pod
from pulumi_volcano_jobs.plugins import BUILT_IN, Plugin
from pulumi_volcano_jobs.plugins.context import JobContext
from pulumi_volcano_jobs.plugins.settings import facts_of
from pulumi_volcano_jobs.spec import naming
from pulumi_volcano_jobs.spec.model import Task

_NAME = r"[A-Za-z_]\w*"
_OF_VOLCANO = re.compile(r"V[CK]_\w")
# $NAME and ${NAME} of a shell, and environ["NAME"], getenv("NAME") or printenv NAME.
_OF_SHELL = re.compile(rf"\$(?:\{{[#!]?)?({_NAME})")
_OF_PROGRAM = re.compile(
    rf"""[\[(]\s*\\?["']({_NAME})\\?["'](?!\s*\]\s*=[^=])|\bprintenv\s+({_NAME})|\bprocess\.env\.({_NAME})"""
)
# $(NAME) of Kubernetes, unless its dollar is doubled. In a script, it is also the output of a program.
_OF_KUBERNETES = re.compile(rf"(?<!\$)(?:\$\$)*\$\(({_NAME})\)")
# $(cat FILE) and `cat FILE` of a shell.
_OUTPUT = re.compile(r"(?<!\$)\$\([^()\s]+\s[^()]*\)|`[^`]+`")
# Variables of svc for a task with a hyphen, which no name of a variable contains: a shell reads $VC_A-0_HOSTS as $VC_A.
_HYPHENATED = re.compile(r"\b(V[CK]_\w*(?:-\w+)+_(?:HOSTS|NUM))\b")
_ASSIGNED = re.compile(
    rf"(?<![\w$.{{-])({_NAME})\+?=|\bread\s+(?:-\w+\s+)*({_NAME})|\bfor\s+({_NAME})\s+in\b|\$\{{({_NAME}):?="
)
# A script that tests a variable, or has a default for it, runs without the variable.
_OPTIONAL = re.compile(
    rf"""\$\{{({_NAME}):?[-+?]|(?<!\bnc)\s-[nzv]\s+["']?\$?\{{?({_NAME})|get(?:env)?\(\s*\\?["']({_NAME})\\?["']\s*,"""
    rf"""|["']({_NAME})\\?["']\s+(?:not\s+)?in\b"""
)
_SOURCED = re.compile(r"(?:^|[\s;&|])(?:source|\.)\s+\S")
_HOST_FILE = re.compile(rf"({naming.HOSTS_PATH}/)(\w[\w.-]*)(?![\w.*?$\[{{-])", re.IGNORECASE)
_UNEXPANDED = re.compile(rf"(?<![\\$])\$(?:({_NAME})|\{{({_NAME})\}})")
_NOT_EXPANDED = "no shell expands this variable, and Kubernetes expands only $(NAME)"
_NOT_RUN = "no shell runs this command, so the program receives its text"
_IN_A_SHELL = 'run the command in a shell: ["sh", "-c", "..."]'
_ONLY_IN_CONTAINERS = "plugins set this variable in containers, but not in init containers"
# A script that evaluates the value of a variable.
_EVALUATED = re.compile(r"""\beval\b|\benvsubst\b|-[a-z]*c\s+["']?\$|^\$\w+$|^\$\(""")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]+")
# Programs that expand variables themselves, or pass their arguments to a shell.
_EXPANDING = frozenset(
    {"awk", "envsubst", "eval", "gawk", "jq", "make", "mawk", "pdsh", "perl", "php", "ruby", "sed", "ssh", "su"}
)
_CODE_OPTIONS = frozenset({"-c", "-e"})
_Arguments = Sequence[Sequence[str] | None]
"""The command of each container of a task."""
_Offers = Mapping[tuple[str, str, str], str]
"""How to get a variable or a mount: by the name of a container, the kind of the entry, and its name."""


def warnings(
    ctx: JobContext,
    plugins: Sequence[Plugin],
    first_pods: Mapping[str, Manifest],
    objects: Sequence[Manifest],
    *,
    native: bool,
) -> Iterator[Problem]:
    """Yield a warning for each name in a template's commands and variables that its container does not have."""
    config_maps = {item["metadata"]["name"]: item for item in objects if item["kind"] == "ConfigMap"}
    # svc lists all tasks in each Pod. Tasks share equal sets, because memory would otherwise grow with their square.
    shared: dict[AbstractSet[str], AbstractSet[str]] = {}
    injected_by_task = [
        shared.setdefault(names, names)
        for names in (_injected(task, first_pods.get(task.name or "", {}).get("spec", {})) for task in ctx.tasks)
    ]
    setters: dict[str, tuple[str, _Arguments]] = {}
    for task, names in zip(ctx.tasks, injected_by_task, strict=True):
        owner = (task.name or "", _arguments(task))
        setters.update({name: owner for name in names if name not in setters})
    for position, task in enumerate(ctx.tasks):
        # Most jobs have no unknown names, and need no offers.
        offers = functools.cache(functools.partial(_offers, ctx, task, plugins, native=native))
        pod = first_pods.get(task.name or "", {}).get("spec", {})
        injected, arguments = injected_by_task[position], _arguments(task)
        spec_path = f"spec.tasks[{position}].template.spec"
        for path, template, container in rendered_containers(task.pod_spec, pod, spec_path):
            if container:
                files = _host_files(container, pod, config_maps)
                yield from _ContainerCheck(
                    path, template, container, files, injected, setters, arguments, offers
                ).warnings()


def _injected(task: Task, pod: Manifest) -> frozenset[str]:
    """Return the variables that plugins set in the containers of a Pod, which its init containers may lack."""
    in_template = {entry["name"] for item in containers_in(task.pod_spec) for entry in item.get("env") or ()}
    in_pod = frozenset(entry["name"] for item in containers_in(pod) for entry in item.get("env") or ())
    return in_pod - in_template


def _arguments(task: Task) -> _Arguments:
    return [commands.arguments_of(container) for container in containers_in(task.pod_spec)]


def _host_files(
    container: Mapping[str, Any], pod: Manifest, config_maps: Mapping[str, Manifest]
) -> Collection[str] | None:
    """Return the names of the files in /etc/volcano. They are None if something else than the job provides them."""
    mounts = {mount["mountPath"].rstrip("/"): mount["name"] for mount in container.get("volumeMounts") or ()}
    if any(path.startswith(f"{naming.HOSTS_PATH}/") for path in mounts):
        return None
    if naming.HOSTS_PATH not in mounts:
        return ()
    volumes = {volume["name"]: volume for volume in pod.get("volumes") or ()}
    name = (volumes.get(mounts[naming.HOSTS_PATH], {}).get("configMap") or {}).get("name")
    config_map = config_maps.get(name) if isinstance(name, str) else None
    return None if config_map is None else config_map["data"].keys()


def _offers(ctx: JobContext, task: Task, plugins: Sequence[Plugin], *, native: bool) -> _Offers:
    """Return the variables and mounts that other plugins and settings would add to the Pods of a task."""
    offers: dict[tuple[str, str, str], str] = {}
    for plugin, hint in _variants(plugins, native=native):
        pod = Pod(naming.pod(ctx.name, task.name or "", 0), task.name or "", 0, task.pod_template)
        # The values that `ctx` shares are those of the job's own settings.
        own = JobContext(ctx.job, ctx.keys)
        try:
            plugin.extend_pod(pod, own)
            plugin.on_pod_create(pod, own)
        except JobError:
            # The job has no task for a role of this plugin.
            continue
        for (kind, container), entries in pod.lists():
            for name in entries:
                offers.setdefault((container, kind, name), hint)
    return offers


def _variants(plugins: Sequence[Plugin], *, native: bool) -> Iterator[tuple[Plugin, str]]:
    """Yield plugins that the job does not use, then each plugin with another value of a switch, with the fix."""
    used = {type(plugin) for plugin in plugins}
    unused = [plugin.model_construct() for plugin in BUILT_IN if plugin not in used]
    yield from ((plugin, f"add {plugin.name}: []") for plugin in unused)
    for plugin in (*(plugin for plugin in plugins if type(plugin) in BUILT_IN), *unused):
        add = "" if type(plugin) in used else f"add {plugin.name}: [] and "
        for setting, facts in facts_of(type(plugin)).items():
            value = getattr(plugin, setting)
            if isinstance(value, bool) and not (native and "not_native" in facts):
                change = f"set {plugin.name}.{setting}" + ("=false" if value else "")
                yield plugin.unchecked({setting: not value}), f"{add}{change}"


@dataclass(frozen=True)
class _ContainerCheck:
    """The names in one container of a template."""

    path: str
    template: Mapping[str, Any]
    container: Mapping[str, Any]
    """The rendered container."""
    files: Collection[str] | None
    """The files in /etc/volcano, if the job provides them."""
    injected: Collection[str]
    """The variables that plugins set in the containers of the Pod."""
    setters: Mapping[str, tuple[str, _Arguments]]
    """The variables that plugins set in the containers of the job, with the first task that has them."""
    arguments: _Arguments
    """The commands of the task."""
    offers: Callable[[], _Offers]

    def warnings(self) -> Iterator[Problem]:
        """Yield the warnings of variables, then of files, then of references that nothing expands."""
        commands_of_template = list(self._command_items())
        patterns = (_ASSIGNED, _OPTIONAL)
        handled = {name for _, text in commands_of_template for pattern in patterns for name in _names(pattern, text)}
        has_more = is_given(self.container.get("envFrom")) or any(
            _SOURCED.search(text) for _, text in commands_of_template
        )
        for path, text in commands_of_template:
            hyphenated = _names(_HYPHENATED, text)
            names = [*_names(_OF_SHELL, text), *_names(_OF_PROGRAM, text), *_names(_OF_KUBERNETES, text)]
            names = [name for name in names if not any(other.startswith(f"{name}-") for other in hyphenated)]
            yield from self._unknown_variables(path, [*names, *hyphenated], handled, has_more=has_more)
        for path, text in self._values():
            names = _names(_OF_KUBERNETES, text)
            names += [name for name in _names(_OF_SHELL, text) if _OF_VOLCANO.match(name)]
            yield from self._unknown_variables(path, names, handled, has_more=has_more)
        for path, text in (*commands_of_template, *self._values()):
            yield from self._unknown_files(path, text)
        yield from self._unexpanded(commands_of_template)
        if not any(_EVALUATED.search(text) for _, text in commands_of_template):
            yield from self._unexpanded_values()

    def _command_items(self) -> Iterator[tuple[str, str]]:
        """Yield the items of command and args with their paths. A command that is not known yet has none."""
        for field, index, text in commands.texts_of(self.template):
            yield f"{self.path}.{field}[{index}]", text

    def _values(self) -> Iterator[tuple[str, str]]:
        entries = self.template.get("env")
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry.get("value"), str):
                yield f"{self.path}.env[{index}].value", entry["value"]

    @functools.cached_property
    def _variables(self) -> Collection[str]:
        return {entry["name"] for entry in self.container.get("env") or ()}

    def _offer(self, kind: str, name: str) -> str:
        return self.offers().get((self.container["name"], kind, name), "")

    def _other_task(self, name: str) -> str:
        """Return a task that has a variable which this task lacks.

        A command that several tasks share may use the variables of one of them only in this task.
        """
        task, arguments = self.setters.get(name, ("", self.arguments))
        return task if arguments != self.arguments else ""

    def _unknown_variables(
        self, path: str, names: Sequence[str], handled: Collection[str], *, has_more: bool
    ) -> Iterator[Problem]:
        for name in dict.fromkeys(names):
            if name in self._variables or name in handled:
                continue
            # Something else than the job may provide other names: the image, an envFrom, a script.
            is_known = name in self.injected or self._other_task(name) or self._offer("env", name)
            if _OF_VOLCANO.match(name) or (not has_more and is_known):
                reason = "nothing in the job sets this variable"
                if name in self.injected:
                    reason = _ONLY_IN_CONTAINERS
                elif other := self._other_task(name):
                    reason = f"plugins set this variable only in other tasks, such as {other}"
                yield Problem(path, "Warning", reason, self._variable_hint(name), value_text(name), code="VJ142")

    def _variable_hint(self, name: str) -> str:
        if name in self.injected:
            return f"use VC_TASK_INDEX of env, or the host files of svc in {naming.HOSTS_PATH}"
        if self._other_task(name):
            return "set it in env, or do not use it in this task"
        if offer := self._offer("env", name):
            return offer
        known = {variable for variable in self._variables if _OF_VOLCANO.match(variable)}
        if match := _nearest(name, known):
            return f"did you mean {match}?"
        offered = {key[2] for key in self.offers() if key[:2] == (self.container["name"], "env")}
        if match := _nearest(name, filter(_OF_VOLCANO.match, offered)):
            return f"{self._offer('env', match)}, and use {match}"
        return _use(known) if known else "set it in env"

    def _unknown_files(self, path: str, text: str) -> Iterator[Problem]:
        for folder, name in dict.fromkeys((match[1], match[2].rstrip(".")) for match in _HOST_FILE.finditer(text)):
            if self.files is None or (name in self.files and folder == f"{naming.HOSTS_PATH}/"):
                continue
            if self.files:
                reason, hint = "svc writes no such file", self._file_hint(name)
            else:
                reason = f"nothing in the job mounts {naming.HOSTS_PATH}"
                hint = self._offer("volumeMounts", naming.HOSTS_PATH)
            yield Problem(path, "Warning", reason, hint, value_text(f"{folder}{name}"), code="VJ143")

    def _file_hint(self, name: str) -> str:
        hosts = [file for file in self.files or () if file.endswith(naming.host_file(""))]
        if match := _nearest(name, hosts):
            return f"did you mean {naming.HOSTS_PATH}/{match}?"
        return _use([f"{naming.HOSTS_PATH}/{file}" for file in hosts])

    def _unexpanded(self, items: Sequence[tuple[str, str]]) -> Iterator[Problem]:
        """Yield a warning for each variable and each command in a command that has no shell."""
        words = commands.arguments_of(self.template)
        if words is None:
            return
        has_command = bool(self.template.get("command"))
        # Without a command, the image may pass the only argument to a shell.
        if not has_command and re.search(r"\s", words[0]):
            return
        has_script = any(commands.script_of(words[start:]) is not None for start in range(len(words)))
        if has_script or not _EXPANDING.isdisjoint(map(commands.base_name, words)):
            return
        for (path, text), previous in zip(items, ("", *words), strict=False):
            if previous not in _CODE_OPTIONS:
                yield from self._unexpanded_in(path, text, has_command=has_command)

    def _unexpanded_in(self, path: str, text: str, *, has_command: bool) -> Iterator[Problem]:
        for match in _UNEXPANDED.finditer(text):
            name = match[1] or match[2]
            is_of_volcano = bool(_OF_VOLCANO.match(name))
            if name in self._variables or is_of_volcano:
                similar = "" if name in self._variables else _nearest(name, filter(_OF_VOLCANO.match, self._variables))
                yield _unexpanded(path, match[0], _NOT_EXPANDED, f"write $({similar or name})")
            elif has_command and _CONSTANT.fullmatch(name):
                yield _unexpanded(path, match[0], _NOT_EXPANDED, _IN_A_SHELL)
        for match in _OUTPUT.finditer(text):
            yield _unexpanded(path, match[0], _NOT_RUN, _IN_A_SHELL)

    def _unexpanded_values(self) -> Iterator[Problem]:
        """Yield a warning for each value with a variable of Volcano that no shell evaluates."""
        for path, text in self._values():
            for match in _UNEXPANDED.finditer(text):
                name = match[1] or match[2]
                if _OF_VOLCANO.match(name) and name in self._variables:
                    hint = f"use $({name}) in command or args, or read {name} in the program"
                    yield _unexpanded(path, match[0], _NOT_EXPANDED, hint)


def _unexpanded(path: str, text: str, reason: str, hint: str) -> Problem:
    return Problem(path, "Warning", reason, hint, value_text(text), code="VJ144")


def _names(pattern: re.Pattern[str], text: str) -> list[str]:
    """Return the names that a pattern finds, in one of its groups."""
    return [next(filter(None, match.groups())) for match in pattern.finditer(text)]


def _use(names: Collection[str]) -> str:
    return f"use {'one of ' if len(names) > 1 else ''}{some(names)}"


def _nearest(name: str, names: Collection[str] | Iterator[str]) -> str:
    """Return the most similar name, ignoring case."""
    by_upper = {known.upper(): known for known in names}
    return by_upper.get(closest(name.upper(), by_upper), "")
