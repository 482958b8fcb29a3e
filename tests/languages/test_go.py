"""A Go program with the SDK that the schema makes: it builds, and the real engine runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.languages.checks import Project, check_what_it_makes, copy_example, generate, run

pytestmark = [pytest.mark.engine, pytest.mark.languages]
GO = {"GOFLAGS": "-mod=readonly -trimpath", "GOWORK": "off", "CGO_ENABLED": "0"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the example with its SDK, built."""
    folder = copy_example("go", tmp_path_factory.mktemp("go"))
    generate("go", folder / "sdks" / "volcano-jobs")
    run(["go", "build", "-o", "program", "."], folder, **GO)
    return folder


def test_the_sdk_and_the_program_have_no_faults(program: Path) -> None:
    """Go's own checks find nothing, in either."""
    run(["go", "vet", ".", "example.com/pulumi-volcano-jobs/sdk/go/..."], program, **GO)


def test_a_mistake_does_not_build(program: Path) -> None:
    """The SDK has types: text is no number."""
    source = program / "main.go"
    wrong = source.read_text("utf-8").replace("pulumi.IntRef(1)", 'pulumi.StringRef("1")')
    (program / "wrong").mkdir()
    (program / "wrong" / "main.go").write_text(wrong, "utf-8")

    with pytest.raises(AssertionError, match=r"cannot use pulumi.StringRef\(\"1\"\)"):
        run(["go", "build", "-o", "/dev/null", "./wrong"], program, **GO)


def test_it_runs_on_the_real_engine(program: Path) -> None:
    """It makes what the same job in Python makes."""
    check_what_it_makes(Project(program, {"binary": "program"}))
