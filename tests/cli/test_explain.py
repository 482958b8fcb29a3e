"""`volcano-jobs explain`: the origin of each value, as text for people."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Plugin
from pulumi_volcano_jobs.explain import tables
from pulumi_volcano_jobs.plugins import Registry, registry
from tests.cli.conftest import Shell
from tests.cli.jobs import DOCUMENTS, accepted, private_keys
from tests.conftest import PAIR, container, job, task, typed
from tests.deadlines import DEADLINE

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"
PYTORCH = ROOT / "examples" / "pytorch" / "job.yaml"
NATIVE = (GOLDEN / "native.yaml").read_text("utf-8")
PROGRAM = Path(sys.executable).parent / "volcano-jobs"
STYLE = re.compile(r"\x1b\[[\d;]*m")


@pytest.fixture(params=[80, 140])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Set the width of the terminal."""
    columns: int = request.param
    monkeypatch.setenv("COLUMNS", str(columns))
    return columns


def in_terminal(*arguments: str, columns: int, **environment: str) -> str:
    """Run the program in a terminal with the given number of columns, and return its output."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    left_out = {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}
    env = {key: value for key, value in os.environ.items() if key not in left_out} | {"TERM": "xterm"} | environment
    with subprocess.Popen([PROGRAM, *arguments], stdin=terminal, stdout=terminal, stderr=terminal, env=env) as process:
        os.close(terminal)
        sent = b""
        while True:
            try:
                read = os.read(main, 65536)
            except OSError:  # The terminal side on Linux.
                read = b""
            if not read:
                break
            sent += read
        process.wait(timeout=DEADLINE)
    os.close(main)
    return sent.decode().replace("\r\n", "\n")


def with_keys(shell: Shell) -> str:
    """Write a Volcano example with a valid key pair, and return the file name."""
    argument = PAIR.private.replace("\n", "\\n")
    return shell.write("native.yaml", NATIVE.replace("PRIVATE", argument).replace("PUBLIC", PAIR.public.strip()))


class TestText:
    """The whole text, as written to a file or a pipe."""

    def test_a_pytorch_job_is_explained(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
    ) -> None:
        """At 140 columns; docs/commands.md has the text at 80 columns."""
        monkeypatch.setenv("COLUMNS", "140")

        assert shell.warned("explain", str(PYTORCH)).out == snapshot

    @pytest.mark.usefixtures("width")
    def test_a_native_job_is_explained(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The text lists features of Volcano's controllers, and their volume names."""
        assert shell.warned("explain", "--managed-by", "volcano", with_keys(shell)).out == snapshot

    def test_the_fields_that_composed_mode_ignores_are_listed(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
    ) -> None:
        """The table is that of native mode with another title, without the restarts of the job, which come last."""
        file, titles = with_keys(shell), set()

        for columns in ("80", "140"):
            monkeypatch.setenv("COLUMNS", columns)
            native = shell.warned("explain", "--managed-by", "volcano", file).out.rpartition("\n\n")[2].splitlines()
            composed = shell.warned("explain", file).out.rpartition("\n\n")[2].splitlines()
            assert composed[1:] == native[1:-1]
            titles.add(composed[0])

        (title,) = titles
        assert title == snapshot

    def test_several_jobs_are_explained_in_file_order(self, shell: Shell) -> None:
        """An empty line separates them."""
        first = shell.write("first.yaml", job(name="first"))
        second = shell.write("second.yaml", job(name="second"))

        alone = [shell.warned("explain", file).out for file in (first, second)]

        assert shell.warned("explain", first, second).out == "\n".join(alone)


class TestPod:
    """The option `--pod NAME`."""

    def test_a_pod_of_a_native_job_shows_the_names_that_volcano_assigns(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, snapshot: SnapshotAssertion
    ) -> None:
        """They are the names of the PodGroup and of the volumes. Pulumi creates the claims."""
        monkeypatch.setenv("COLUMNS", "140")
        out = shell.warned("explain", "--managed-by", "volcano", "--pod", "train-worker-2", with_keys(shell)).out

        assert out.splitlines()[0] == snapshot
        assert re.search(r"(?m)^  .+  scheduling.k8s.io/group-name  train-<uid>$", out)
        assert re.search(r"(?m)^  .+  train-<suffix-1>  .*train-pvc-data$", out)

    def test_a_pod_is_shown_for_each_file_that_has_it(self, shell: Shell) -> None:
        """The files can be alternatives."""
        files = [shell.write(f"{name}.yaml", job(name=name)) for name in ("one", "two")]

        assert shell.warned("explain", *files, "--pod", "two-worker-0").out.startswith("Pod two-worker-0 ")

    @pytest.mark.parametrize(
        ("name", "document"),
        [
            ("train-wroker-1", job(task(replicas=2))),
            ("x", job(task(replicas=2))),
            ("x", job(task(replicas=7))),
            ("x", job(task("some", 0))),
            ("", job()),
        ],
        ids=["near", "far", "far from many", "no Pods", "empty"],
    )
    def test_an_unknown_pod_is_bad_usage(
        self, shell: Shell, name: str, document: dict[str, Any], snapshot: SnapshotAssertion
    ) -> None:
        """The message names the most similar Pods."""
        answer = shell("explain", "--ignore", "VJ129", shell.write("job.yaml", document), "--pod", name)

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot


class TestRefused:
    """Rejected jobs."""

    def test_only_problems_are_printed_for_a_rejected_job(self, shell: Shell) -> None:
        """Each problem has its line."""
        answer = shell("explain", shell.write("job.yaml", job(queue=1)))

        assert (answer.code, answer.out) == (1, "")
        assert answer.err.startswith("job.yaml:6:3: spec.queue: ")

    def test_two_jobs_of_one_name_in_a_file_are_rejected(self, shell: Shell) -> None:
        """The message is that of `render`."""
        file = shell.write("job.yaml", job(), job())

        answer = shell("explain", file)

        assert (answer.code, answer.out) == (1, "")
        assert [place.partition(": ")[2] for place in answer.places] == ["metadata.name"]
        assert answer == shell("render", file)

    def test_a_custom_plugin_is_rejected_in_native_mode(self, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
        """Volcano's controller does not know the plugin."""

        class Own(Plugin):
            name = "own"

        known = Registry()
        known.register(Own)
        monkeypatch.setattr(registry, "_plugins", known._plugins)
        file = shell.write("job.yaml", job(plugins={"own": []}))

        answer = shell("explain", "--managed-by", "volcano", file)

        assert (answer.code, answer.out) == (1, "")
        (problem,) = shell.problems("--managed-by", "volcano", file)
        assert typed([problem]) == [("spec.plugins.own", "Forbidden")]
        assert 'managed_by="pulumi"' in problem.hint
        assert answer.err == f"job.yaml:7:5: {problem}\n"
        assert "own" in shell.warned("explain", file).out


class TestTerminal:
    """Output to a terminal."""

    @pytest.mark.parametrize("columns", [80, 140])
    @pytest.mark.parametrize("options", [(), ("--managed-by", "volcano"), ("--pod", "pytorch-job-worker-1")])
    def test_output_is_styled_and_fits_the_terminal(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: int, options: tuple[str, ...]
    ) -> None:
        """The words are those of the plain text."""
        monkeypatch.setenv("COLUMNS", str(columns))

        sent = in_terminal("explain", "--ignore", "VJ103", str(PYTORCH), *options, columns=columns)

        plain = [line.rstrip() for line in STYLE.sub("", sent).splitlines()]
        assert plain == shell.warned("explain", str(PYTORCH), *options).out.splitlines()
        assert max(map(len, plain)) <= columns
        assert "\x1b[36m" in sent

    @pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
    def test_colours_are_off_on_request(self, environment: dict[str, str]) -> None:
        """They are also off if the terminal does not support them."""
        sent = in_terminal("explain", "--ignore", "VJ103", str(PYTORCH), columns=80, **environment)

        assert sent.startswith(("Job ", "\x1b[1mJob "))
        assert not re.search(r"\x1b\[[\d;]*3\d", sent)

    @pytest.mark.parametrize(("environment", "is_styled"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
    def test_colours_can_be_forced_in_a_pipe(self, environment: dict[str, str], *, is_styled: bool) -> None:
        """`less -R` shows them."""
        done = subprocess.run(
            [PROGRAM, "explain", str(PYTORCH)], capture_output=True, check=True, env=os.environ | environment
        )

        assert (b"\x1b[36m" in done.stdout, b"\x1b" in done.stdout) == (is_styled, is_styled)

    def test_control_characters_of_a_job_are_escaped(self, shell: Shell) -> None:
        """Values, and names in lenient mode, can contain terminal escape sequences."""
        env = [{"name": "A", "value": "\x1b]0;title\x07 \u202eback\nline"}]
        mounts = [{"name": "data", "mountPath": "/a\x1b[31m"}]
        pod = {"containers": [container(env=env, volumeMounts=mounts)], "volumes": [{"name": "data", "emptyDir": {}}]}
        file = shell.write("job.yaml", job(task(**pod)))

        sent = in_terminal("explain", "--lenient", "--pod", "train-worker-0", str(shell.folder / file), columns=140)

        assert [part for part in ("\x1b]", "\x07", "\u202e", "/a\x1b[31m") if part in sent] == []
        assert r"/a\x1b[31m" in sent
        assert r"\x1b]0;title\x07 \u202eback\nline" in sent

    @pytest.mark.parametrize("file", DOCUMENTS, ids=lambda file: file.stem)
    def test_narrow_output_wraps_without_losing_words(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, file: Path, width: int
    ) -> None:
        """A narrow terminal shows the same words in more lines."""
        out = shell("explain", str(file)).out
        monkeypatch.setenv("COLUMNS", "1000")
        whole = shell("explain", str(file)).out

        assert max(map(cell_len, out.splitlines())) <= width
        assert sorted(re.sub(r"[\s─]", "", out)) == sorted(re.sub(r"[\s─]", "", whole))

    @pytest.mark.parametrize("columns", ["1", "2", "7", "30"])
    def test_a_very_narrow_terminal_does_not_fail(
        self, shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: str
    ) -> None:
        """The text is hard to read, but complete."""
        monkeypatch.setenv("COLUMNS", columns)
        env = [{"name": "NOTE", "value": "训练" * 5}]

        shell.good(
            "explain", "--pod", "train-worker-0", shell.write("job.yaml", job(task(containers=[container(env=env)])))
        )

    def test_wide_characters_take_two_columns(self, shell: Shell, width: int) -> None:
        """A line of them fits the terminal."""
        env = [{"name": "NOTE", "value": "训练" * 100}]
        file = shell.write("job.yaml", job(task(containers=[container(env=env)])))

        out = shell.warned("explain", "--pod", "train-worker-0", file).out

        assert max(map(cell_len, out.splitlines())) in {width, width - 1}
        assert out.count("训") == 100


@pytest.mark.parametrize("strict", [True, False], ids=["strict", "lenient"])
def test_every_job_is_explained_without_its_keys(*, strict: bool) -> None:
    """All accepted jobs of the guides and golden cases, and a Pod of each task, in both modes."""
    files = accepted(strict=strict)
    for file, rendered in files.items():
        # The Pods between the first and the last one differ only in their index.
        ends = {task.name: (task, index) for task, index in tables.pods(rendered).values()}
        for native in (False, True):
            whole = tables.explain(rendered, native=native)
            single = [tables.explain_pod(rendered, *place, native=native) for place in ends.values()]
            assert all(section.rows for told in (whole, *single) for section in told.sections)
            text = repr([whole, *single])
            assert [key for key in private_keys(file) if key in text] == []
    assert len(files) > 120
    # No golden case has a key pair that strict mode accepts.
    assert any(private_keys(file) for file in files) is not strict


@pytest.mark.parametrize("columns", ["80", "140"])
def test_the_examples_of_the_help_run(shell: Shell, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """Each example is on its own line at any width (test_help.py has the text)."""
    monkeypatch.setenv("COLUMNS", columns)
    out = shell.warned("explain", "--help").out
    shell.write("train.yaml", job(task(replicas=2)))

    examples = re.findall(r"(?m)^    volcano-jobs (.*)$", out)

    assert len(examples) == 3
    for example in examples:
        shell.good(*example.split())
    assert re.search(r"(?m)^    kubectl get vcjob .* \| volcano-jobs explain - \| less$", out)
