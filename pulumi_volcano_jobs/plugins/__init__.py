"""The job plugins: the contract, the built-in ones, and those that users register."""

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
"""The entry point group of plugins in other packages: `token = "my_package:TokenPlugin"`."""

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
    """The plugins that a job may name: the built-in ones, those of installed packages, and those registered here."""

    def __init__(self) -> None:
        """Begin with the built-in plugins; installed packages are asked when another name is first looked up."""
        self._plugins: dict[str, type[Plugin]] = {}
        self._asked_packages = False
        for plugin in BUILT_IN:
            self.register(plugin)

    def register(self, plugin: type[PluginT]) -> type[PluginT]:
        """Add a plugin; usable as a class decorator.

        Raises:
            TypeError: if its definition cannot work, or another plugin has its name.
        """
        if not (isinstance(plugin, type) and issubclass(plugin, Plugin)):
            message = f"{plugin!r} is not a plugin: it must be a subclass of pulumi_volcano_jobs.Plugin"
            raise TypeError(message)
        check_definition(plugin)
        present = self._plugins.get(plugin.name)
        if present not in {None, plugin}:
            message = f"two plugins are called {plugin.name}: {_place(present)} and {_place(plugin)}; rename one"
            raise TypeError(message)
        self._plugins[plugin.name] = plugin
        return plugin

    def find(self, name: str) -> type[Plugin] | None:
        """Give the plugin of a name, or None."""
        if name not in self._plugins:
            self._ask_packages()
        return self._plugins.get(name)

    def names(self) -> list[str]:
        """Give the names of all plugins, in order."""
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
"""The registry that jobs are read with."""

register = registry.register
