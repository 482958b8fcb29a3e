"""Build the wheel and the source archive, check them, and run the archive's tests on the installed wheel.

On the command line::

    python tools/package.py            # with this Python, and the oldest versions that pyproject.toml allows
    python tools/package.py --pythons  # with each installed version from 3.10 to 3.14, and the newest versions

The tests run outside the checkout, in the unpacked archive without the package's source, so they import the wheel.
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

import pins  # a sibling

ROOT = Path(__file__).parents[1]
PACKAGE = "pulumi_volcano_jobs"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
"""The versions of Python for `--pythons`."""
TESTS = ("cli", "component", "documents", "golden", "schema", "unit")
"""The folders of tests that do not need an engine."""
OLDEST_TESTS = (
    "cli",
    "component",
    "documents",
    "golden",
    "schema",
    "unit/core/test_phrases.py",
    "unit/files",
    "unit/kubernetes/test_schema.py",
    "unit/plugins/test_settings.py",
    "unit/plugins/test_ssh.py",
    "unit/plugins/test_ssh_keys.py",
    "unit/plugins/test_svc.py",
    "unit/spec",
    "unit/test_architecture.py",
    "unit/test_distribution.py",
)
"""Tests with the oldest versions: of whole jobs, of modules that import another package, and of the installed wheel."""
LEFT_OUT = ("tests/component/test_testing_page.py", "tests/unit/test_growth.py")
"""Tests that take long, and run in the development environment only: type checkers, and counts of steps."""
NEWEST_ONLY = ("tests/cli/test_kubectl.py", "tests/cli/test_output.py", "tests/component/test_digest.py")
"""Tests of processes, streams and digests, whose results depend on no other version than that of Python."""
TYPED = "tests/typing/accepted.py"
"""A program of a user that mypy accepts in strict mode if the types of the package are installed."""
OLDEST = ("--resolution", "lowest-direct")
RUNS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("svg", OLDEST, OLDEST_TESTS),
    ("policy", OLDEST, ("policy",)),
    # pulumi-policy keeps protobuf below 6. This run has the newest protobuf, for the tests that use it most, and the
    # newest typer without tools that install its former dependencies, for the test that runs each command.
    ("svg", (), ("component/test_provider.py", "cli/test_program.py::test_no_command_imports_pulumi")),
)
"""Each run of the tests: the extra of the wheel, the options of uv for the versions of dependencies, and the tests."""
UV = str(Path(sys.executable).parent / "uv")


def main(arguments: list[str]) -> int:
    """Build, check and test the package."""
    with tempfile.TemporaryDirectory(prefix="volcano-jobs-package-") as name:
        folder = Path(name)
        wheel, archive = build(folder / "dist")
        found = [*faults(wheel, archive, tracked())]
        if found:
            print(*found, sep="\n")
            return 1
        tests = unpack(archive, folder)
        if "--pythons" not in arguments:
            for extra, versions, names in RUNS:
                own = folder / "environment"
                run_tests(sys.executable, f"{wheel}[{extra}]", tests, own, names, versions, NEWEST_ONLY)
            return 0
        for version in PYTHONS:
            if python := interpreter(version):
                run_tests(python, f"{wheel}[svg]", tests, folder / version, TESTS)
            else:
                print(f"Python {version}: not installed", flush=True)
    return 0


def build(folder: Path) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it. Check their metadata and the README with twine."""
    _run([UV, "build", "--quiet", "--out-dir", str(folder)], ROOT)
    (wheel,), (archive,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive)], ROOT)
    for file in (wheel, archive):
        print(f"{file.name}: {file.stat().st_size // 1000} kB", flush=True)
    return wheel, archive


def tracked() -> set[str]:
    """Return the files that git tracks."""
    return set(_run(["git", "ls-files"], ROOT).splitlines())


def faults(wheel: Path, archive: Path, files: Iterable[str]) -> Iterator[str]:
    """Yield a message for each file that is missing in an archive, or should not be in it."""
    with tarfile.open(archive) as packed:
        # The first part of each name is the top folder of the archive.
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
        yield f"{name}: {file} is not in git: commit it, or add it to .gitignore"
    for file in sorted(files - inside):
        yield f"{name}: {file} is missing"


def unpack(archive: Path, folder: Path) -> Path:
    """Unpack the source archive without the package's source, so that the tests use the wheel."""
    shutil.unpack_archive(archive, folder)
    top = archive.name.removesuffix(".tar.gz")
    shutil.rmtree(folder / top / PACKAGE)
    return folder / top


def interpreter(version: str) -> str | None:
    """Return the path of a version of Python from pyenv, uv or PATH, without downloads."""
    command = [UV, "python", "find", "--no-python-downloads", "--system", version]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    path = os.pathsep.join([*map(str, pyenv.glob("versions/*/bin")), os.environ["PATH"]])
    done = subprocess.run(command, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def run_tests(
    python: str,
    wheel: str,
    tests: Path,
    environment: Path,
    names: Iterable[str],
    versions: Iterable[str] = (),
    left_out: Iterable[str] = (),
) -> None:
    """Install exactly the wheel and its dependencies, check its types, and run the tests there.

    Args:
        python: the path of the interpreter.
        wheel: the path of the wheel, with an extra.
        tests: the folder of the unpacked archive.
        environment: the folder for the environment. Packages that an earlier run also needed stay, already compiled.
        names: the tests to run, below `tests`.
        versions: the options of uv that select the versions of dependencies.
        left_out: files of tests to leave out, besides `LEFT_OUT`.
    """
    _run([UV, "venv", "--quiet", "--allow-existing", "--python", python, str(environment)], tests)
    own = str(environment / "bin" / "python")
    wanted = [wheel, "--group", "pyproject.toml:tests"]
    _run([UV, "pip", "install", "--quiet", "--exact", "--python", own, *versions, *wanted], tests)
    where = _run([own, "-c", f"import sys, {PACKAGE}; print(sys.version.split()[0], {PACKAGE}.__file__)"], tests)
    print(f"Python {where.strip()}", flush=True)
    # Without a cache, mypy takes half a minute for pulumi_kubernetes.
    cache = pins.cache() / f"mypy-{'oldest' if versions else 'newest'}"
    strict = ["--strict", "--config-file=", "--no-error-summary", f"--cache-dir={cache}", "--python-executable", own]
    _run([sys.executable, "-m", "mypy", *strict, TYPED], tests)
    folders = [f"tests/{name}" for name in names]
    # One process, because CI tests the package while its tests run, and more of them only take time from each other.
    # The snapshots of files that are left out are unused.
    options = ["--durations=10", "--snapshot-warn-unused", "-W", "default::DeprecationWarning:typer"]
    ignored = [f"--ignore={name}" for name in (*LEFT_OUT, *left_out)]
    command = [own, "-m", "pytest", "-q", *options, *ignored, *folders]
    done = subprocess.run(command, cwd=tests, env=_environment(), check=False)
    if done.returncode:
        raise SystemExit(f"the tests of the package failed with {python}")


def _environment() -> dict[str, str]:
    """Return the environment without variables that refer to the checkout."""
    return {name: value for name, value in os.environ.items() if name not in {"MYPYPATH", "PYTHONPATH", "VIRTUAL_ENV"}}


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
