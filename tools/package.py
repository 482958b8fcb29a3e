"""Build the wheel and the source archive, check them, and run the archive's tests on the installed wheel.

On the command line::

    python tools/package.py            # with this Python
    python tools/package.py --pythons  # with each of 3.10 to 3.14 that is installed here

The tests run outside the checkout, from the unpacked archive less the package's source: what they import is the wheel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = "pulumi_volcano_jobs"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""The versions of Python that are looked for."""
TESTS = ("cli", "component", "documents", "golden", "schema", "unit")
"""The folders of tests that run: those that need no engine."""
LEFT_OUT = "tests/component/test_testing_page.py"
"""It runs type checkers, and pytest in pytest: the development environment has them, and the time."""
TYPED = "tests/typing/accepted.py"
"""A user's program that a strict type checker accepts, if it finds the package's types."""
UV = str(Path(sys.executable).parent / "uv")


def main(arguments: list[str]) -> int:
    """Build, check and test."""
    with tempfile.TemporaryDirectory(prefix="volcano-jobs-package-") as name:
        folder = Path(name)
        wheel, archive = build(folder / "dist")
        found = [*faults(wheel, archive, tracked())]
        if found:
            print(*found, sep="\n")
            return 1
        tests = unpack(archive, folder)
        pythons = {version: interpreter(version) for version in PYTHONS}
        for version, python in pythons.items() if "--pythons" in arguments else [("", sys.executable)]:
            if python:
                run_tests(python, wheel, tests, folder / "environment")
            else:
                print(f"Python {version}: not installed here", flush=True)
    return 0


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it; have their metadata and the README's looks checked."""
    _run([UV, "build", "--quiet", "--out-dir", str(folder)], ROOT)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive)], ROOT)
    for file in (wheel, archive):
        print(f"{file.name}: {file.stat().st_size // 1000} kB", flush=True)
    return wheel, archive


def tracked() -> set[str]:
    """Give the files that git knows."""
    return set(_run(["git", "ls-files"], ROOT).splitlines())


def faults(wheel: Path, archive: Path, files: Iterable[str]) -> Iterator[str]:
    """Tell what is in an archive and should not be, and what is not and should be."""
    with tarfile.open(archive) as packed:
        # The first part of each name is the archive's own.
        inside = {name.partition("/")[2] for name in packed.getnames()}
    yield from _differences(archive.name, inside - {"PKG-INFO"}, set(files))
    with zipfile.ZipFile(wheel) as zipped:
        inside = {name for name in zipped.namelist() if ".dist-info/" not in name}
        metadata = {name.partition(".dist-info/")[2] for name in zipped.namelist()} - {""}
    yield from _differences(wheel.name, inside, {file for file in files if file.startswith(f"{PACKAGE}/")})
    required = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}
    yield from _differences(f"{wheel.name}, .dist-info", metadata, required)


def _differences(name: str, inside: set[str], files: set[str]) -> Iterator[str]:
    for file in sorted(inside - files):
        yield f"{name}: {file} is in it, but not in git: commit it, or name it in .gitignore"
    for file in sorted(files - inside):
        yield f"{name}: {file} is missing"


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack the source archive less the package's source, which the wheel has to replace."""
    shutil.unpack_archive(archive, folder)
    top = archive.name.removesuffix(".tar.gz")
    shutil.rmtree(folder / top / PACKAGE)
    return folder / top


def interpreter(version: str) -> str | None:
    """Find a Python by its version: one of pyenv, of uv, or on PATH; nothing is downloaded."""
    command = [UV, "python", "find", "--no-python-downloads", "--system", version]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    path = os.pathsep.join([*map(str, pyenv.glob("versions/*/bin")), os.environ["PATH"]])
    done = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def run_tests(python: str, wheel: Path, tests: Path, environment: Path) -> None:
    """Install the wheel into a new environment, check its types, and run the tests there."""
    _run([UV, "venv", "--quiet", "--clear", "--python", python, str(environment)], tests)
    own = str(environment / "bin" / "python")
    wanted = [f"{wheel}[svg]", "--group", "pyproject.toml:tests"]
    _run([UV, "pip", "install", "--quiet", "--python", own, *wanted], tests)
    where = _run([own, "-c", f"import sys, {PACKAGE}; print(sys.version.split()[0], {PACKAGE}.__file__)"], tests)
    print(f"Python {where.strip()}", flush=True)
    types = ["mypy", "--strict", "--config-file=", "--no-error-summary", "--python-executable", own, TYPED]
    _run([sys.executable, "-m", *types], tests)
    folders = [f"tests/{name}" for name in TESTS]
    command = [own, "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", f"--ignore={LEFT_OUT}", *folders]
    done = subprocess.run(command, cwd=tests, env=_environment(), check=False)
    if done.returncode:
        raise SystemExit(f"the tests of the package fail with Python {python}")


def _environment() -> dict[str, str]:
    """Give the environment less what would bring the checkout back."""
    return {name: value for name, value in os.environ.items() if name not in {"MYPYPATH", "PYTHONPATH", "VIRTUAL_ENV"}}


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
