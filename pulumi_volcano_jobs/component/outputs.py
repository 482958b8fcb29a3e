"""Replacement of Outputs in arguments by leaves, and of leaves in manifests by Outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi

from pulumi_volcano_jobs.component.error_hooks import wait_for_hooks
from pulumi_volcano_jobs.component.input_errors import raise_output_error
from pulumi_volcano_jobs.component.kubernetes_args import to_wire
from pulumi_volcano_jobs.core import paths
from pulumi_volcano_jobs.core.errors import Problem, key_text
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, has_leaf, leaves, substitute
from pulumi_volcano_jobs.core.tree import map_tree
from pulumi_volcano_jobs.kubernetes import schema
from pulumi_volcano_jobs.kubernetes.validation import resolved
from pulumi_volcano_jobs.kubernetes.validation.resolved import TypePath
from pulumi_volcano_jobs.plugins import Plugin, registry
from pulumi_volcano_jobs.plugins.settings import facts_of, secret_settings
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
    **dict.fromkeys(("namespace", "queue", "priorityClassName", "priority_class_name", "image_registry"), _TEXT),
    "labels": TypePath(schema.POD_TEMPLATE, ("metadata", "labels")),
    "annotations": TypePath(schema.POD_TEMPLATE, ("metadata", "annotations")),
    "node_selector": TypePath(schema.POD_TEMPLATE, ("spec", "nodeSelector")),
    "tolerations": TypePath(schema.POD_TEMPLATE, ("spec", "tolerations")),
    "image_pull_secrets": TypePath(schema.POD_TEMPLATE, ("spec", "imagePullSecrets")),
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

    def lift(self, tree: Any, path: str = "", typed: TypePath | None = None) -> Any:
        """Return a copy of the tree with models as dicts and a leaf instead of each Output.

        Args:
            tree: the arguments, or a part of them.
            path: the path of the tree.
            typed: the position of the tree in a Kubernetes type, if it has one.
        """
        if isinstance(tree, pulumi.Output):
            return self.leaf(path, tree, typed)
        if isinstance(tree, Model):
            return self.lift({**(tree.model_extra or {}), **tree.to_wire()}, path)
        if isinstance(tree, Plugin):
            return self._plugin(tree, path)
        if isinstance(tree, Mapping):
            return {key: self._entry(key, value, _child(path, key), typed) for key, value in tree.items()}
        if isinstance(tree, (list, tuple)):
            return [
                self.lift(item, paths.join(path, index), typed and typed.below(index))
                for index, item in enumerate(tree)
            ]
        return tree

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
            if equals and flag.lstrip("-") in secrets:
                lifted_arguments += [flag, self._secret_leaf(name, secrets[flag.lstrip("-")], place, value)]
            elif previous.lstrip("-") in secrets and isinstance(argument, (str, pulumi.Output)):
                lifted_arguments.append(self._secret_leaf(name, secrets[previous.lstrip("-")], place, argument))
            else:
                lifted_arguments.append(self.lift(argument, place))
            previous = argument if isinstance(argument, str) else ""
        return lifted_arguments

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

    def leaf(self, path: str, output: pulumi.Output[Any], typed: TypePath | None = None) -> Leaf:
        """Return the leaf that replaces an Output. Its value is validated by its type when it becomes known."""

        async def refused(problems: Sequence[Problem]) -> None:
            await wait_for_hooks()
            raise_output_error(self._name, self._kind, problems)

        def checked(value: Any) -> Any:
            problems = resolved.check(value, typed, path) if typed else ()
            return refused(problems) if problems else value

        self._given[path] = output
        self._outputs[path] = output.apply(checked) if typed else output
        return Leaf(path)

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
            is_given = isinstance(value, pulumi.Output) or (isinstance(value, str) and value)
            if is_given and "secret" in facts:
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
    if path or key in DOCUMENT_FIELDS:
        return paths.join(path, name)
    return paths.join("metadata" if key in METADATA_FIELDS else "spec", name)


def plain_leaves(tree: Any) -> list[Leaf]:
    """Return the leaves of a tree, with the arguments of each Derived instead of the Derived."""
    leaves_found: list[Leaf] = []
    for leaf in leaves(tree):
        leaves_found += plain_leaves(list(leaf.args)) if isinstance(leaf, Derived) else [leaf]
    return leaves_found
