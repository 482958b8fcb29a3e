"""Replacement of Outputs in arguments by leaves, and of leaves in manifests by Outputs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pulumi

from pulumi_volcano_jobs.component.error_hooks import wait_for_hooks
from pulumi_volcano_jobs.component.input_errors import raise_output_error
from pulumi_volcano_jobs.component.job_args import JobOptions
from pulumi_volcano_jobs.component.kubernetes_args import to_wire
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import (
    JobError,
    Problem,
    RejectionStage,
    key_text,
    not_following,
    not_plain,
    output_as_text,
    raise_if_any,
)
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, has_leaf, leaves, substitute
from pulumi_volcano_jobs.core.text import holds_output
from pulumi_volcano_jobs.core.tree import map_tree
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.validation import resolved
from pulumi_volcano_jobs.kubernetes.validation.resolved import TypePath
from pulumi_volcano_jobs.plugins import Plugin, registry
from pulumi_volcano_jobs.plugins.settings import default_of, facts_of, flags_of, secret_settings
from pulumi_volcano_jobs.spec.document import DOCUMENT_FIELDS, METADATA_FIELDS
from pulumi_volcano_jobs.spec.model import Model

# Fields of a job that hold a Kubernetes type, in either spelling.
_KUBERNETES_TYPES = {
    "template": schema.POD_TEMPLATE,
    "volumeClaim": schema.CLAIM,
    "volume_claim": schema.CLAIM,
}
_TEXT = TypePath("string")
# Other fields, of a job and of its defaults, that accept an Output.
_TYPES = {
    **dict.fromkeys(("namespace", "queue", "priorityClassName", "priority_class_name"), _TEXT),
    "image_registry": TypePath(resolved.REGISTRY),
    "labels": TypePath(schema.POD_TEMPLATE, ("metadata", "labels")),
    "annotations": TypePath(schema.POD_TEMPLATE, ("metadata", "annotations")),
    "node_selector": TypePath(schema.POD_TEMPLATE, ("spec", "nodeSelector")),
    "tolerations": TypePath(schema.POD_TEMPLATE, ("spec", "tolerations")),
    # A list of strings, as accessModes is: these are names, unlike imagePullSecrets of a Pod.
    "image_pull_secrets": TypePath(schema.CLAIM, ("accessModes",)),
}


class Outputs:
    """The Outputs in the arguments of one job, by the path of the leaf that replaces each.

    Their values are validated when they become known.
    """

    def __init__(self, name: str, kind: str = "VolcanoJob") -> None:
        """Create an empty collection for the resource of this name and kind."""
        self._name, self._kind = name, kind
        self._outputs: dict[str, pulumi.Output[Any]] = {}
        self._given: dict[str, pulumi.Output[Any]] = {}
        self._secrets: dict[str, dict[str, Any]] = {}
        # A Problem for each string that contains the text of an Output.
        self._texts: list[Problem] = []

    def lift(self, tree: Any, path: str = "", typed: TypePath | None = None) -> Any:
        """Return a copy of the tree with models as dicts and a leaf instead of each Output.

        Args:
            tree: the arguments, or a part of them.
            path: the path of the tree.
            typed: the position of the tree in a Kubernetes type, if it has one.
        """
        if isinstance(tree, (pulumi.Output, Awaitable)):
            # An Output stays the same object, by which other code recognizes it.
            output = tree if isinstance(tree, pulumi.Output) else pulumi.Output.from_input(tree)
            return self.leaf(path, output, typed)
        if isinstance(tree, Model):
            return self.lift({**(tree.model_extra or {}), **tree.to_wire()}, path)
        if isinstance(tree, Plugin):
            return self._plugin(tree, path)
        if isinstance(tree, Mapping):
            return {
                key: self._entry(key, value, _child(path, key), typed)
                for key, value in tree.items()
                if self._is_plain_key(key, path)
            }
        if isinstance(tree, (list, tuple)):
            return [
                self.lift(item, paths.join(path, index), typed and typed.below(index))
                for index, item in enumerate(tree)
            ]
        return self._text_leaf(path, tree) if holds_output(tree) else tree

    def _is_plain_key(self, key: Any, path: str) -> bool:
        if isinstance(key, pulumi.Output) or holds_output(key):
            reason = "a key is an Output, or contains the text of one"
            hint = "use a plain value, for example from pulumi.Config"
            self._texts.append(Problem(path, "Invalid", reason, hint, stage=RejectionStage.DECODE))
            return False
        return True

    def _text_leaf(self, path: str, text: str, hint: str = "") -> Leaf:
        """Report the text of an Output, and return a leaf, so that other checks treat it as an Output."""
        self._texts.append(output_as_text(path, text, hint))
        return Leaf(path)

    @contextmanager
    def text_problems(self) -> Iterator[None]:
        """Raise the problems of texts of Outputs with the other problems of the arguments.

        If a field does not accept an Output, only the problem that says so is raised.
        """
        others: Sequence[Problem] = ()
        try:
            yield
        except JobError as error:
            others = error.problems
        not_outputs = {problem.path for problem in others if problem.type == "TypeInvalid"}
        texts = [item for item in self._texts if not_outputs.isdisjoint(paths.with_parents(item.path))]
        raise_if_any([*texts, *not_following(others, texts)])

    def _entry(self, key: Any, value: Any, path: str, typed: TypePath | None) -> Any:
        if typed:
            return self.lift(value, path, typed.below(key))
        if key in _KUBERNETES_TYPES:
            definition = _KUBERNETES_TYPES[key]
            return self.lift(to_wire(value, definition), path, TypePath(definition))
        if path == "spec.plugins" and isinstance(value, Mapping):
            return {name: self._arguments(name, use, _child(path, name)) for name, use in value.items()}
        return self.lift(value, path, _TYPES.get(key))

    def _arguments(self, name: str, arguments: Any, path: str) -> Any:
        """Lift a plugin's arguments for Volcano, and mark secret settings in them as secrets of Pulumi."""
        plugin = registry.find(name)
        if plugin is None or not isinstance(arguments, (list, tuple)):
            return self.lift(arguments, path)
        secrets = secret_settings(plugin)
        lifted_arguments: list[Any] = []
        previous = ""
        for index, argument in enumerate(arguments):
            place = paths.join(path, index)
            flag, equals, value = argument.partition("=") if isinstance(argument, str) else ("", "", "")
            if holds_output(argument):
                lifted_arguments += self._text_argument(plugin, argument, place)
            elif equals and flag.lstrip("-") in secrets:
                lifted_arguments += [flag, self._secret_leaf(name, secrets[flag.lstrip("-")], place, value)]
            elif previous.lstrip("-") in secrets and isinstance(argument, (str, pulumi.Output)):
                lifted_arguments.append(self._secret_leaf(name, secrets[previous.lstrip("-")], place, argument))
            else:
                lifted_arguments.append(self.lift(argument, place))
            previous = argument if isinstance(argument, str) else ""
        return lifted_arguments

    def _text_argument(self, plugin: type[Plugin], argument: str, path: str) -> list[Any]:
        """Return an argument that contains the text of an Output as if the program had passed the Output."""
        flag, equals, _ = argument.partition("=")
        if flag.lstrip("-") not in flags_of(plugin, of="may_be_output"):
            self._texts.append(not_plain(path))
            return [Leaf(path)]
        leaf = self._text_leaf(path, argument, 'pass "--name" and the Output as two items of the list')
        return [flag, leaf] if equals else [leaf]

    def _secret_leaf(self, plugin: str, setting: str, path: str, value: Any) -> Leaf:
        return self.leaf(path, self._secret(plugin, setting, value), _TEXT)

    def _secret(self, plugin: str, setting: str, value: Any) -> pulumi.Output[Any]:
        self._secrets.setdefault(plugin, {})[setting] = value
        return pulumi.Output.secret(value)

    def plain_secrets(self, plugin: str) -> pulumi.Output[list[str] | None] | None:
        """Return the settings of a plugin that contain a secret in plain text; None if the plugin has no secret."""
        secrets = self._secrets.get(plugin)
        if not secrets:
            return None
        is_plain_by_setting = {setting: _is_plain(value) for setting, value in secrets.items()}
        return pulumi.Output.all(**is_plain_by_setting).apply(
            lambda known: [key for key in known if known[key]] or None
        )

    def check_plugin(self, plugin: Plugin, report: Callable[[Sequence[Problem]], None]) -> None:
        """Check the settings of a plugin that are Outputs when its secrets are known.

        Args:
            plugin: a plugin of the rendered job.
            report: a function that reports the warnings.
        """
        values = {name: getattr(plugin, name) for name in type(plugin).model_fields}
        places = {name: value.path for name, value in values.items() if type(value) is Leaf}
        outputs = {name: self._outputs[path] for name, path in places.items()}

        async def checked(value: Any) -> Any:
            # Not `Output.all`: in a preview, a value stays known if another one is not.
            known = {name: await output.future() for name, output in outputs.items() if await output.is_known()}
            problems = [
                replace(problem, path=places.get(problem.path.rpartition(".")[2], problem.path))
                for problem in plugin.unchecked(known).known_problems()
            ]
            report([problem for problem in problems if problem.warning])
            errors = [problem for problem in problems if not problem.warning]
            if errors:
                await self._refuse(errors)
            return value

        for name in secret_settings(type(plugin)).values():
            if name in places:
                self._outputs[places[name]] = outputs[name].apply(checked)

    def leaf(self, path: str, output: pulumi.Output[Any], typed: TypePath | None = None) -> Leaf:
        """Return the leaf that replaces an Output. Its value is validated by its type when it becomes known."""

        def checked(value: Any) -> Any:
            problems = resolved.check(value, typed, path) if typed else ()
            return self._refuse(problems) if problems else value

        self._given[path] = output
        self._outputs[path] = output.apply(checked) if typed else output
        return Leaf(path)

    async def _refuse(self, problems: Sequence[Problem]) -> None:
        await wait_for_hooks()
        raise_output_error(self._name, self._kind, problems)

    def original(self, value: Any) -> Any:
        """Return the Output that the program passed for a leaf; return any other value unchanged."""
        return self._given[value.path] if isinstance(value, Leaf) else value

    def lower(self, tree: Any) -> Any:
        """Return a copy of the tree with Outputs instead of its leaves. Other values stay known."""
        return map_tree(tree, self._output)

    def _output(self, value: Any) -> Any:
        if isinstance(value, Derived):
            return self.apply(lambda args: value.fn(*args), list(value.args))
        return self._outputs[value.path] if isinstance(value, Leaf) else value

    def apply(self, fn: Callable[[Any], Any], tree: Any) -> Any:
        """Return `fn(tree)`, as an Output if the tree has leaves."""
        needed = {leaf.path: self._outputs[leaf.path] for leaf in plain_leaves(tree)}
        if not needed:
            return fn(substitute(tree, lambda leaf: leaf))
        return pulumi.Output.all(**needed).apply(lambda known: fn(substitute(tree, lambda leaf: known[leaf.path])))

    def _plugin(self, plugin: Plugin, path: str) -> Plugin:
        place = paths.join(path.rpartition("[")[0] or path, plugin.name)
        changed: dict[str, Any] = {}
        for name, facts in facts_of(type(plugin)).items():
            value = getattr(plugin, name)
            if holds_output(value) and "may_be_output" not in facts:
                self._texts.append(not_plain(paths.join(place, name)))
                changed[name] = default_of(type(plugin), name)
                continue
            is_given = isinstance(value, pulumi.Output) or (isinstance(value, str) and value)
            if is_given and "secret" in facts and not holds_output(value):
                value = self._secret(plugin.name, name, value)
            typed = _TEXT if "placeholder" in facts else None
            lifted_value = self.lift(value, paths.join(place, name), typed)
            if has_leaf(lifted_value):
                changed[name] = lifted_value
        return plugin.unchecked(changed) if changed else plugin


async def _is_plain(value: Any) -> bool:
    return not (isinstance(value, pulumi.Output) and await value.is_secret())


def _child(path: str, key: Any) -> str:
    name = key_text(key)
    if not path and key in JobOptions.__annotations__:
        return name
    if path or key in DOCUMENT_FIELDS:
        return paths.join(path, name)
    return paths.join("metadata" if key in METADATA_FIELDS else "spec", name)


def plain_leaves(tree: Any) -> list[Leaf]:
    """Return the leaves of a tree, with the arguments of each Derived instead of the Derived."""
    leaves_found: list[Leaf] = []
    for leaf in leaves(tree):
        leaves_found += plain_leaves(list(leaf.args)) if isinstance(leaf, Derived) else [leaf]
    return leaves_found
