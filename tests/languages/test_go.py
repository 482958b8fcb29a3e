"""A Go program with the generated SDK compiles and runs on the real engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.languages.checks import Project, check_manifests, copy_example, generate, run

pytestmark = [pytest.mark.engine, pytest.mark.languages]
GO = {"GOFLAGS": "-mod=readonly -trimpath", "GOWORK": "off", "CGO_ENABLED": "0"}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Provide the built example with its SDK."""
    folder = copy_example("go", tmp_path_factory.mktemp("go"))
    generate("go", folder / "sdks" / "volcano-jobs")
    run(["go", "build", "-o", "program", "."], folder, **GO)
    return folder


def test_go_vet_accepts_the_sdk_and_the_program(program: Path) -> None:
    """Both have no findings."""
    run(["go", "vet", ".", "example.com/pulumi-volcano-jobs/sdk/go/..."], program, **GO)


def test_a_mistake_does_not_build(program: Path) -> None:
    """The SDK is typed: a string is rejected for a number."""
    source = program / "main.go"
    wrong = source.read_text("utf-8").replace("pulumi.IntRef(1)", 'pulumi.StringRef("1")')
    (program / "wrong").mkdir()
    (program / "wrong" / "main.go").write_text(wrong, "utf-8")

    with pytest.raises(AssertionError, match=r"cannot use pulumi.StringRef\(\"1\"\)"):
        run(["go", "build", "-o", "/dev/null", "./wrong"], program, **GO)


def test_the_program_runs_on_the_real_engine(program: Path) -> None:
    """It creates the same objects as the Python job."""
    check_manifests(Project(program, {"binary": "program"}))
