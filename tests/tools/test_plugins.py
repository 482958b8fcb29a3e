"""Tests of tools/plugins.py with a fake ``pulumi``, so nothing is downloaded."""

from __future__ import annotations

import os
import shutil
from importlib import metadata
from pathlib import Path

import plugins
import pytest

VERSION = metadata.version("pulumi_kubernetes")
INSTALL = """\
#!/bin/sh
echo "$*" >> {log}
/bin/mkdir -p {home}/plugins/resource-kubernetes-v$5
/bin/cp "$0" {home}/plugins/resource-kubernetes-v$5/pulumi-resource-kubernetes
"""
FAIL = """\
#!/bin/sh
echo "warning: no network" >&2
echo "error: dial tcp: lookup get.pulumi.com: no such host" >&2
exit 1
"""


class User:
    """A user with an empty PATH and Pulumi's folder."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Create both in a folder."""
        self.bin = root / "bin"
        self.bin.mkdir()
        self.home = root / "home"
        self.log = root / "log"
        self.said: list[str] = []
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("PULUMI_HOME", str(self.home))

    def has_pulumi(self, text: str) -> None:
        """Put a program `pulumi` on PATH."""
        path = self.bin / "pulumi"
        path.write_text(text.format(log=self.log, home=self.home))
        path.chmod(0o755)

    def has_plugin(self, version: str) -> Path:
        """Add a plugin as Pulumi installs it."""
        path = self.home / "plugins" / f"resource-kubernetes-v{version}" / plugins.PROVIDER
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    def finds(self) -> str | None:
        """Return the provider on PATH after the search."""
        plugins.put_provider_on_path(self.said.append)
        return shutil.which(plugins.PROVIDER)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """Provide a new User."""
    return User(tmp_path, monkeypatch)


def test_the_newest_installed_provider_is_used(user: User) -> None:
    """Versions are compared as numbers, and Pulumi is not run."""
    user.has_pulumi(FAIL)
    user.has_plugin("4.9.9")
    newest = user.has_plugin("4.110.0")
    user.has_plugin("4.34.0")

    assert user.finds() == str(newest)
    assert user.said == []


def test_a_provider_on_path_comes_first(user: User) -> None:
    """PATH does not change."""
    user.has_plugin("4.34.0")
    shutil.copy(user.has_plugin("4.30.0"), user.bin)

    assert user.finds() == str(user.bin / plugins.PROVIDER)
    assert os.environ["PATH"] == str(user.bin)


def test_pulumi_installs_a_missing_provider(user: User) -> None:
    """Its version is that of the SDK, so the engine does not warn of two versions."""
    user.has_pulumi(INSTALL)

    found = user.finds()

    assert found == str(user.home / "plugins" / f"resource-kubernetes-v{VERSION}" / plugins.PROVIDER)
    assert user.log.read_text() == f"plugin install resource kubernetes {VERSION}\n"
    assert len(user.said) == 1


def test_a_failed_installation_says_why_and_what_comes_next(user: User) -> None:
    """The caller then builds the provider."""
    user.has_pulumi(FAIL)

    assert user.finds() is None
    assert user.said[-1] == (
        "Pulumi could not install it (error: dial tcp: lookup get.pulumi.com: no such host): "
        "it is built from its Go module instead"
    )


def test_without_pulumi_nothing_is_installed(user: User) -> None:
    """No message is printed."""
    assert user.finds() is None
    assert user.said == []


@pytest.mark.parametrize("version", ["4.23.0", "3.30.2"])
def test_an_old_provider_is_not_used(user: User, version: str) -> None:
    """The components need features of newer ones."""
    user.has_plugin(version)

    assert user.finds() is None


def test_an_incomplete_installation_is_not_used(user: User) -> None:
    """Pulumi marks it with a file beside the folder."""
    folder = user.has_plugin("4.34.0").parent
    folder.with_name(f"{folder.name}.partial").touch()

    assert user.finds() is None
