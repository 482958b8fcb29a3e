"""A TypeScript program with the generated SDK compiles and runs on the real engine."""

from __future__ import annotations

from pathlib import Path

import nodemodules
import pytest

from tests.languages.checks import Project, check_manifests, copy_example, generate, run

pytestmark = [pytest.mark.engine, pytest.mark.languages]


def compile_project(folder: Path) -> None:
    """Compile the project in a folder with its tsconfig.json."""
    run([nodemodules.NODE, nodemodules.ensure() / "typescript" / "bin" / "tsc", "--project", folder], folder)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the compiled example with its SDK."""
    above = tmp_path_factory.mktemp("typescript")
    (above / "node_modules").symlink_to(nodemodules.ensure())
    folder = copy_example("typescript", above)
    sdk = folder / "node_modules" / "@pulumi" / "volcano-jobs"
    generate("nodejs", sdk)
    compile_project(sdk)
    # The postinstall script of the SDK does the same.
    (sdk / "bin" / "package.json").write_bytes((sdk / "package.json").read_bytes())
    compile_project(folder)
    return folder


def test_a_mistake_does_not_compile(program: Path) -> None:
    """The SDK is typed: a string for a number and a misspelled input are rejected."""
    source = (program / "index.ts").read_text("utf-8")
    wrong = program / "wrong"
    wrong.mkdir()
    (wrong / "number.ts").write_text(source.replace("replicas: 1", 'replicas: "1"'), "utf-8")
    (wrong / "name.ts").write_text(source.replace("queue:", "quue:"), "utf-8")
    (wrong / "tsconfig.json").write_text('{"extends": "../tsconfig.json", "files": ["number.ts", "name.ts"]}', "utf-8")

    with pytest.raises(AssertionError) as refused:
        compile_project(wrong)

    assert "number.ts(27,27): error TS2322: Type 'string' is not assignable to type 'number'" in str(refused.value)
    assert "'quue' does not exist in type 'VolcanoJobArgs'" in str(refused.value)


def test_the_program_runs_on_the_real_engine(program: Path) -> None:
    """It creates the same objects as the Python job."""
    check_manifests(Project(program, {"main": "bin"}))
