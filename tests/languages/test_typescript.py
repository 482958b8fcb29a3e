"""A TypeScript program with the SDK that the schema makes: it compiles, and the real engine runs it."""

from __future__ import annotations

from pathlib import Path

import nodemodules
import pytest

from tests.languages.checks import Project, check_what_it_makes, copy_example, generate, run

pytestmark = [pytest.mark.engine, pytest.mark.languages]


def compile_project(folder: Path) -> None:
    """Compile the project in a folder as its tsconfig.json says."""
    run([nodemodules.NODE, nodemodules.ensure() / "typescript" / "bin" / "tsc", "--project", folder], folder)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the example with its SDK, compiled."""
    above = tmp_path_factory.mktemp("typescript")
    (above / "node_modules").symlink_to(nodemodules.ensure())
    folder = copy_example("typescript", above)
    sdk = folder / "node_modules" / "@pulumi" / "volcano-jobs"
    generate("nodejs", sdk)
    compile_project(sdk)
    # As the SDK's own postinstall script does.
    (sdk / "bin" / "package.json").write_bytes((sdk / "package.json").read_bytes())
    compile_project(folder)
    return folder


def test_a_mistake_does_not_compile(program: Path) -> None:
    """The SDK has types: text is no number, and a misspelt input is none."""
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


def test_it_runs_on_the_real_engine(program: Path) -> None:
    """It makes what the same job in Python makes."""
    check_what_it_makes(Project(program, {"main": "bin"}))
