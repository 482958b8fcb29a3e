"""Resource options that have no effect on a component."""

from __future__ import annotations

from collections.abc import Iterator

import pulumi

_FIXES = {
    "additional_secret_outputs": "wrap the secret value in pulumi.Output.secret",
    "custom_timeouts": "set it on the children with transforms",
    "delete_before_replace": "remove it, because every child already has it",
    "hide_diffs": "set it on the children with transforms",
    "ignore_changes": "set it on the children with transforms",
    "import_": "import the children with `pulumi import`",
    "replace_on_changes": "set it on the children with transforms",
    "replace_with": "set it on the children with transforms",
    "replacement_trigger": "replace the children with `pulumi up --replace`",
}


def ignored_options(opts: pulumi.ResourceOptions | None, *forwarded: str) -> Iterator[str]:
    """Yield a warning about the options that Pulumi ignores on a component, with a fix for each.

    Args:
        opts: the options of the component.
        forwarded: the options that the component passes to its children.
    """
    ignored = [name for name in _FIXES if opts is not None and name not in forwarded and getattr(opts, name)]
    if ignored:
        lines = "\n".join(f"  opts.{name}: {_FIXES[name]}" for name in ignored)
        yield f"Pulumi ignores these options on a component (docs/stack.md has an example of a transform):\n{lines}"
