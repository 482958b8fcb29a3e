"""Built-in job plugins, and the registry of plugins."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TypeVar

from pulumi_volcano_jobs.plugins.base import Plugin, check_definition
from pulumi_volcano_jobs.plugins.env import EnvPlugin
from pulumi_volcano_jobs.plugins.hcclrank import HcclrankPlugin
from pulumi_volcano_jobs.plugins.mpi import MpiPlugin
from pulumi_volcano_jobs.plugins.pytorch import PytorchPlugin
from pulumi_volcano_jobs.plugins.ray import RayPlugin
from pulumi_volcano_jobs.plugins.ssh import SshPlugin
from pulumi_volcano_jobs.plugins.svc import SvcPlugin
from pulumi_volcano_jobs.plugins.tensorflow import TensorflowPlugin

ENTRY_POINTS = "pulumi_volcano_jobs.plugins"
"""The entry point group for plugins of other packages: `token = "my_package:TokenPlugin"`."""

BUILT_IN: tuple[type[Plugin], ...] = (
    EnvPlugin,
    HcclrankPlugin,
    MpiPlugin,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
)

PluginT = TypeVar("PluginT", bound=Plugin)

__all__ = [
    "BUILT_IN",
    "ENTRY_POINTS",
    "EnvPlugin",
    "HcclrankPlugin",
    "MpiPlugin",
    "Plugin",
    "PytorchPlugin",
    "RayPlugin",
    "Registry",
    "SshPlugin",
    "SvcPlugin",
    "TensorflowPlugin",
    "register",
    "registry",
]


class Registry:
    """Plugins that a job can use: built-in plugins, plugins of installed packages, and registered plugins."""

    def __init__(self) -> None:
        """Register the built-in plugins. The first lookup of another name loads the plugins of installed packages."""
        self._plugins: dict[str, type[Plugin]] = {}
        self._asked_packages = False
        for plugin in BUILT_IN:
            self.register(plugin)

    def register(self, plugin: type[PluginT]) -> type[PluginT]:
        """Add a plugin to the registry, and return it, so that this also works as a class decorator.

        Raises:
            TypeError: if the definition of the plugin is invalid, or another plugin has its name.
        """
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
            message = f"{plugin!r} is not a plugin: it must be a subclass of pulumi_volcano_jobs.Plugin"
            raise TypeError(message)
        check_definition(plugin)
        present = self._plugins.get(plugin.name)
        if present not in {None, plugin}:
            message = f"two plugins have the name {plugin.name}: {_place(present)} and {_place(plugin)}: rename one"
            raise TypeError(message)
        self._plugins[plugin.name] = plugin
        return plugin

    def find(self, name: str) -> type[Plugin] | None:
        """Return the plugin with a name, or None."""
        if name not in self._plugins:
            self._ask_packages()
        return self._plugins.get(name)

    def names(self) -> list[str]:
        """Return the names of all plugins, sorted."""
        self._ask_packages()
        return sorted(self._plugins)

    def _ask_packages(self) -> None:
        if self._asked_packages:
            return
        self._asked_packages = True
        for entry in entry_points(group=ENTRY_POINTS):
            self.register(entry.load())


def _place(plugin: type[Plugin] | None) -> str:
    return f"{plugin.__module__}.{plugin.__qualname__}" if plugin else ""


registry = Registry()
"""The registry that resolves plugin names in jobs."""

register = registry.register
