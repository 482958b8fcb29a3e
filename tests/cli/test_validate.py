"""`volcano-jobs validate`: each problem with its place and fix, on one line."""

from __future__ import annotations

import inspect
import json
import re
from urllib.parse import quote

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Problem
from pulumi_volcano_jobs.cli import render, validate
from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import container, job, task, typed

# The comment after a line has the column of the key, the path and the type of the problem.
IDENTITY = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
MANY = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: many
spec:
  minAvailable: 5                       # 3 spec.minAvailable: Invalid
  queue: root                           # 3 spec.queue: Forbidden
  quue: research                        # 3 spec.quue: Forbidden
  plugins:
    pytorch:
      - --master=chief                  # 9 spec.plugins.pytorch[0]: NotFound
      - --port=99999                    # 9 spec.plugins.pytorch[1]: Invalid
      - --wait-master-timout=3          # 9 spec.plugins.pytorch[2]: NotSupported
    pytroch: []                         # 5 spec.plugins.pytroch: NotSupported
  policies:
    - event: PodFailed
      action: RestartJobs               # 7 spec.policies[0].action: NotSupported
    - {event: OutOfSync, action: RestartJob}  # 7 spec.policies[1]: NotSupported
  volumes:
    - mountPath: /data                  # 7 spec.volumes[0]: Required
  tasks:
    - name: worker
      replicas: 2
      minAvailable: 3                   # 7 spec.tasks[0].minAvailable: Invalid
      dependsOn: {name: [nobody]}       # 19 spec.tasks[0].dependsOn.name: NotFound
      template:
        spec:
          restartPolicy: Never
          containers:
            - name: main
              image: busybox
              imagee: busybox           # 15 spec.tasks[0].template.spec.containers[0].imagee: Forbidden
              ports:
                - containerPort: 70000  # 19 spec.tasks[0].template.spec.containers[0].ports[0].containerPort: Invalid
            - image: busybox
              name: main                # 15 spec.tasks[0].template.spec.containers[1].name: Duplicate
              resources:
                requests:
                  cpu: two              # 19 spec.tasks[0].template.spec.containers[1].resources.requests.cpu: Invalid
"""
# Values of the wrong type or format.
TYPES = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: Types                           # 3 metadata.name: Invalid
  labels:
    version: 1                          # 5 metadata.labels.version: TypeInvalid
spec:
  minAvailable: "1"                     # 3 spec.minAvailable: TypeInvalid
  tasks:
    - name: A_b                         # 7 spec.tasks[0].name: Invalid
      replicas: 1.5                     # 7 spec.tasks[0].replicas: TypeInvalid
      template: &template {spec: {containers: [{name: main, image: busybox}]}}
    - replicas: many                    # 7 spec.tasks[1].replicas: TypeInvalid
      template: *template
  plugins:
    svc: publish                        # 5 spec.plugins.svc: TypeInvalid
"""
EXPECTED = re.compile(r"# (\d+) (\S+): (.+)$")


def expected(*texts: str) -> list[tuple[int, int, str, str]]:
    """Read the comments of a file: line, column, path and type of each problem."""
    lines = "".join(texts).splitlines()
    found = [(number, EXPECTED.search(line)) for number, line in enumerate(lines, 1)]
    return [(number, int(match[1]), match[2], match[3]) for number, match in found if match]


def expected_places(file: str, *texts: str) -> list[str]:
    """Return the places of the commented problems, in the form of `Answer.places`."""
    return [f"{file}:{line}:{column}: {path}" for line, column, path, _ in expected(*texts)]


class TestProblems:
    """Problems of a file, by line."""

    @pytest.mark.parametrize("texts", [(MANY,), (TYPES,), (MANY, "---\n", TYPES)], ids=["many", "types", "both"])
    def test_each_problem_has_its_line_and_column(self, shell: Shell, texts: tuple[str, ...]) -> None:
        """All problems are reported on standard output in the order of the file, without other output."""
        file = shell.write("job.yaml", "".join(texts))

        answer = shell("validate", file)

        assert (answer.code, answer.err) == (1, "")
        assert answer.places == expected_places(file, *texts)
        assert [(problem.line, problem.column, *pair) for problem, pair in self.typed(shell, file)] == expected(*texts)

    @pytest.mark.parametrize("text", [MANY, TYPES], ids=["many", "types"])
    def test_each_problem_has_a_message(self, shell: Shell, text: str, snapshot: SnapshotAssertion) -> None:
        """Each is on one line, with its fix."""
        assert shell("validate", shell.write("job.yaml", text)).lines == snapshot

    @staticmethod
    def typed(shell: Shell, file: str) -> list[tuple[Problem, tuple[str, str]]]:
        """Return the problems of a file, each with its path and type."""
        problems = shell.problems(file)
        return list(zip(problems, typed(problems), strict=True))

    def test_the_problems_of_all_documents_are_reported_by_place(
        self, shell: Shell, snapshot: SnapshotAssertion
    ) -> None:
        """A document that is not YAML ends the file. The problems of the documents before it are reported."""
        file = shell.write(
            "job.yaml", f"- 1\n---\na: 1\n---\n{IDENTITY}metadata: {{name: !!int x}}\nspec: []\n---\n\ta: 1\n"
        )

        answer = shell("validate", file)

        assert [(problem.line, problem.column, *pair) for problem, pair in self.typed(shell, file)] == [
            (1, 1, "", "TypeInvalid"),
            (3, 1, "", "Required"),
            (7, 18, "metadata.name", "Invalid"),
            (8, 1, "spec", "Required"),
            (10, 1, "", "Invalid"),
        ]
        assert answer.lines == snapshot

    def test_the_jobs_of_a_list_are_validated_with_their_lines(self, shell: Shell) -> None:
        """`kubectl get jobs.batch.volcano.sh -o yaml` prints a List."""
        listed = {"apiVersion": "v1", "kind": "List", "items": [job(), job(name="Other")]}
        file = shell.write("jobs.yaml", listed)
        line = (shell.folder / file).read_text("utf-8").splitlines().index("    name: Other") + 1

        answer = shell("validate", file)

        assert (answer.code, answer.places) == (1, [f"jobs.yaml:{line}:5: metadata.name"])
        assert typed(shell.problems(file)) == [("metadata.name", "Invalid")]

    def test_the_problems_of_all_files_are_reported(self, shell: Shell) -> None:
        """A file with problems, or that is not YAML, does not hide the problems of the next file."""
        files = [
            shell.write("first.yaml", MANY),
            shell.write("second.yaml", "a: [1"),
            shell.write("third.yaml", job()),
            shell.write("fourth.yaml", TYPES),
        ]

        answer = shell("validate", *files)

        assert answer.code == 1
        assert answer.places == [
            *expected_places("first.yaml", MANY),
            "second.yaml:2:1",
            *expected_places("fourth.yaml", TYPES),
        ]

    def test_render_reports_the_same_problems(self, shell: Shell) -> None:
        """The user of `render` need not run `validate`."""
        file = shell.write("job.yaml", MANY)

        rendered = shell("render", file)

        assert rendered.out == ""
        assert rendered.reported == shell("validate", file).reported

    def test_problems_of_standard_input_have_a_name_and_lines(self, shell: Shell) -> None:
        """Lines are numbered from its beginning."""
        answer = shell("validate", "-", stdin=MANY.encode())

        assert answer.code == 1
        assert answer.places == expected_places("<stdin>", MANY)

    @pytest.mark.parametrize(
        ("text", "line", "column", "path", "error_type"),
        [
            ("- 1\n", 1, 1, "", "TypeInvalid"),
            ("text\n", 1, 1, "", "TypeInvalid"),
            ("", 1, 1, "", "Required"),
            ("---\n# nothing\n---\n", 1, 1, "", "Required"),
            ("a:\n  - [1\n", 3, 1, "", "Invalid"),
            ("a: b: c\n", 1, 5, "", "Invalid"),
            ("a: *nobody\n", 1, 4, "", "Invalid"),
            ("\ta: 1\n", 1, 1, "", "Invalid"),
            ("kind: &x [*x]\n", 1, 11, "", "Invalid"),
            (f"{IDENTITY}metadata: {{name: a}}\nspec: !!int x\n", 4, 7, "spec", "Invalid"),
            ("a: 1\n", 1, 1, "", "Required"),
            ("kind: Pod\nmetadata: {name: a}\nspec: {}\n", 1, 1, "apiVersion", "Required"),
            ("apiVersion: batch/v1\nkind: Job\n", 1, 1, "apiVersion", "NotSupported"),
            (f"{IDENTITY}metadata: {{name: a}}\n", 1, 1, "spec", "Required"),
        ],
        ids=[
            "a list",
            "a text",
            "an empty file",
            "nothing but a comment",
            "YAML that ends too soon",
            "a colon too much",
            "an alias of nothing",
            "a tab",
            "an alias of itself",
            "a value that does not fit its tag",
            "another file",
            "a Pod",
            "a Job of Kubernetes' own",
            "a Job without a spec",
        ],
    )
    def test_a_file_without_a_job_is_one_problem(
        self, shell: Shell, text: str, line: int, column: int, path: str, error_type: str
    ) -> None:
        """The line and the column are those of the mistake."""
        file = shell.write("job.yaml", text)

        answer = shell("validate", file)

        ((problem, pair),) = self.typed(shell, file)
        assert (problem.line, problem.column, *pair) == (line, column, path, error_type)
        assert (answer.code, answer.err, len(answer.lines)) == (1, "", 1)
        assert answer.out.startswith(f"job.yaml:{line}:{column}: {path}")

    def test_a_message_of_several_lines_is_printed_on_one(self, shell: Shell) -> None:
        """The YAML parser's message about a control character has two lines."""
        file = shell.write("job.yaml", b"a: \0\n")

        answer = shell("validate", file)

        assert (answer.code, answer.places) == (1, ["job.yaml:1:4"])
        assert typed(shell.problems(file)) == [("", "Invalid")]

    def test_errors_do_not_hide_warnings(self, shell: Shell) -> None:
        """The warnings of rendered Pods are reported also, if the plugins can render them."""
        pod = task(restartPolicy=None, containers=[container(command=["sh", "-c", "echo $VC_MASTER_HOST"])])
        file = shell.write("job.yaml", job(pod, queue="root", plugins={"svc": []}))

        answer = shell("validate", file)

        assert answer.code == 1
        assert sorted((problem.path, problem.code or problem.type) for problem in shell.problems(file)) == [
            ("spec.queue", "Forbidden"),
            ("spec.tasks[0].template.spec", "VJ101"),
            ("spec.tasks[0].template.spec.containers[0].command[2]", "VJ142"),
        ]

    def test_a_conflict_with_a_plugin_has_its_line(self, shell: Shell) -> None:
        """A variable that both the template and a plugin set is found when the Pods are rendered."""
        containers = [container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])]
        file = shell.write("job.yaml", job(task(containers=containers), plugins={"env": []}))
        lines = (shell.folder / file).read_text("utf-8").splitlines()

        (problem,) = shell.problems(file)

        assert typed([problem]) == [("spec.tasks[0].template.spec.containers[0].env[0]", "Forbidden")]
        assert (lines[problem.line - 1], problem.column) == ("          - name: VC_TASK_INDEX", 13)
        assert "spec.plugins.env" in problem.reason
        assert "VC_TASK_INDEX" in problem.reason
        assert shell("validate", file).lines == [f"{file}:{problem.line}:{problem.column}: {problem}"]


class TestWarnings:
    """Warnings."""

    TWICE = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: odd}
spec:
  plugins: {ssh: []}
  queue: research
  tasks:
    - {name: a, replicas: 1, template: {spec: {restartPolicy: Never, containers: [{name: c, image: example.org/i:1}]}}}
  queue: research
"""

    @pytest.mark.parametrize("command", ["validate", "render"])
    def test_warnings_do_not_change_the_exit_code(self, shell: Shell, command: str) -> None:
        """They are printed in the order of the file."""
        answer = shell(command, shell.write("job.yaml", self.TWICE))

        assert answer.code == 0
        assert answer.places[:2] == ["job.yaml:5:13: warning: spec.plugins.ssh", "job.yaml:9:3: warning: spec.queue"]
        assert answer.lines[2:] == ([PLACEHOLDERS.strip()] if command == "render" else [])

    def test_warnings_and_problems_are_printed_together(self, shell: Shell) -> None:
        """The order is that of the file."""
        answer = shell("validate", shell.write("job.yaml", self.TWICE.replace("replicas: 1", "replicas: -1")))

        assert answer.code == 1
        assert [line.split(":")[1] for line in answer.lines if "ssh" not in line] == ["8", "9"]
        assert [": warning: " in line for line in answer.lines if "ssh" not in line] == [False, True]

    def test_a_duplicate_key_with_two_values_is_an_error(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """The message has the line of the first key."""
        text = self.TWICE.replace("ssh: []", "ssh: [], svc: []").removesuffix("research\n") + "other\n"

        answer = shell("validate", shell.write("job.yaml", text))

        assert (answer.code, answer.places) == (1, ["job.yaml:9:3: spec.queue"])
        assert typed(shell.problems("job.yaml")) == [("spec.queue", "Duplicate")]
        assert answer.lines == snapshot


class TestExitCodes:
    """0 for success, 1 for problems of a job, 2 for invalid usage or unreadable files."""

    @pytest.mark.parametrize("name", ["nowhere.yaml", ".", "image.png", ""])
    def test_an_unreadable_file_is_bad_usage(self, shell: Shell, name: str, snapshot: SnapshotAssertion) -> None:
        """Its name and the reason are printed on one line."""
        shell.write("image.png", b"\x89PNG\r\n\x1a\n")

        (answer,) = {shell(command, name) for command in ("validate", "render")}

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot

    @pytest.mark.parametrize("file", ["-", "job.yaml"])
    def test_a_repeated_file_is_bad_usage(self, shell: Shell, file: str, snapshot: SnapshotAssertion) -> None:
        """Standard input can be read once, and a job can be created once."""
        shell.write("job.yaml", job())

        (answer,) = {shell(command, file, file) for command in ("validate", "render")}

        assert (answer.code, answer.out) == (2, "")
        assert answer.err == snapshot

    @pytest.mark.parametrize(("name", "written"), [("a\udcff.yaml", "a\\udcff.yaml"), ("a\n.yaml", "a\\n.yaml")])
    @pytest.mark.parametrize("style", ["text", "json", "sarif"])
    def test_a_file_name_that_is_not_text_is_escaped(self, shell: Shell, name: str, written: str, style: str) -> None:
        """File names are bytes; messages are text, on one line."""
        answer = shell("validate", "--format", style, shell.write(name, "a: 1\n"))

        assert answer.code == 1
        assert {"text": written, "json": json.dumps(written), "sarif": quote(written)}[style] in answer.out + answer.err

    def test_control_characters_of_names_and_keys_are_escaped(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """A terminal would execute them."""
        red = "\x1b[31m"
        document = job()
        document["spec"][f"quue{red}"] = "a"

        problems = shell("validate", shell.write(f"job{red}.yaml", document)).out
        refusal = shell("validate", f"nowhere{red}.yaml").err

        assert problems.startswith(r"job\x1b[31m.yaml:6:3: spec.quue\x1b[31m: ")
        assert "\x1b" not in problems
        assert refusal == snapshot

    def test_standard_input_in_another_encoding_is_bad_usage(self, shell: Shell, snapshot: SnapshotAssertion) -> None:
        """It is read as bytes: the terminal's encoding does not matter."""
        answer = shell("validate", "-", stdin=b"\xff\xfe")

        assert answer.code == 2
        assert answer.err == snapshot

    @pytest.mark.parametrize(
        ("arguments", "word"),
        [
            (["validate"], "FILE"),
            (["render"], "FILE"),
            (["validate", "--no-such-option", "job.yaml"], "--no-such-option"),
            (["render", "--format", "toml", "job.yaml"], "'yaml', 'json'"),
            (["render", "--managed-by", "me", "job.yaml"], "'pulumi', 'volcano'"),
            (["launch"], "launch"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_bad_usage(self, shell: Shell, arguments: list[str], word: str) -> None:
        """The message has the mistake and the command for help."""
        shell.write("job.yaml", job())

        answer = shell(*arguments)

        assert (answer.code, answer.out) == (2, "")
        assert word in answer.err
        assert "--help" in answer.err


FIRST_LINES = [
    str(inspect.getdoc(command)).partition("\n")[0][:60] for command in (render.render_command, validate.validate)
]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--help"], ["render", *FIRST_LINES, "validate"]),
        (
            ["render", "--help"],
            ["FILE", "--format", "--managed-by", "--namespace", "--lenient", "--show-keys", "--cluster"],
        ),
        (["validate", "--help"], ["FILE", "--lenient", "--cluster", "kubectl get"]),
    ],
    ids=lambda value: " ".join(value) if "--help" in value else "",
)
def test_help_lists_all_commands_and_options(shell: Shell, arguments: list[str], words: list[str]) -> None:
    """No text is truncated."""
    answer = shell.good(*arguments)

    assert [word for word in words if word not in answer.out] == []
    assert "..." not in answer.out.replace("FILE...", "").replace("]...", "")


TWICE = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train}
spec:
  tasks:
  - name: main
    replicas: 1
    template:
      spec: {restartPolicy: Never, containers: [{%s}]}
"""
REQUIRED = {
    "a port": ("name: c, image: a, ports: [{containerPort: 22, containerPort: null}]", "ports[0].containerPort"),
    "a variable": ("name: c, image: a, env: [{name: A, name: null}]", "env[0].name"),
    "a container": ("image: a, name: c, name: null", "name"),
}


@pytest.mark.parametrize(("fields", "path"), REQUIRED.values(), ids=REQUIRED)
def test_a_required_value_that_a_second_key_removes_is_two_problems(shell: Shell, fields: str, path: str) -> None:
    """The last value of the duplicate key takes precedence, and it is missing: nothing is computed from it."""
    place = f"spec.tasks[0].template.spec.containers[0].{path}"

    problems = shell.problems(shell.write("job.yaml", TWICE.replace("%s", fields)))

    assert typed(problem for problem in problems if problem.path == place) == [
        (place, "Duplicate"),
        (place, "Required"),
    ]
    assert "line 9" in next(problem for problem in problems if problem.type == "Duplicate").reason
