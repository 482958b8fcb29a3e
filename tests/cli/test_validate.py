"""`volcano-jobs validate`: every problem, where it is and what to do, on one line."""

from __future__ import annotations

import json
import re
from urllib.parse import quote

import pytest

from tests.cli.conftest import PLACEHOLDERS, Shell
from tests.conftest import container, job, task

# What is expected stands behind each line: the column of the key, the path, and words of the message.
MANY = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: many
spec:
  minAvailable: 5                       # 3 spec.minAvailable: only 2 replicas
  queue: root                           # 3 spec.queue: root queue
  quue: research                        # 3 spec.quue: did you mean queue?
  plugins:
    pytorch:
      - --master=chief                  # 9 spec.plugins.pytorch[0]: no task of this name
      - --port=99999                    # 9 spec.plugins.pytorch[1]: from 1 to 65535
      - --wait-master-timout=3          # 9 spec.plugins.pytorch[2]: wait-master-timeout
    pytroch: []                         # 5 spec.plugins.pytroch: did you mean pytorch?
  policies:
    - event: PodFailed
      action: RestartJobs               # 7 spec.policies[0].action: RestartJob
    - {event: OutOfSync, action: RestartJob}  # 7 spec.policies[1]: OutOfSync
  volumes:
    - mountPath: /data                  # 7 spec.volumes[0]: volumeClaimName
  tasks:
    - name: worker
      replicas: 2
      minAvailable: 3                   # 7 spec.tasks[0].minAvailable: only 2 replicas
      dependsOn: {name: [nobody]}       # 19 spec.tasks[0].dependsOn.name: no task has this name
      template:
        spec:
          containers:
            - name: main
              image: busybox
              imagee: busybox           # 15 spec.tasks[0].template.spec.containers[0].imagee: did you mean image?
              ports:
                - containerPort: 70000  # 19 spec.tasks[0].template.spec.containers[0].ports[0].containerPort: 65535
            - image: busybox
              name: main                # 15 spec.tasks[0].template.spec.containers[1].name: two containers
              resources:
                requests:
                  cpu: two              # 19 spec.tasks[0].template.spec.containers[1].resources.requests.cpu: quantity
"""
# Values of the wrong type or form.
TYPES = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: Types                           # 3 metadata.name: lower-case
  labels:
    version: 1                          # 5 metadata.labels.version: a string
spec:
  minAvailable: "1"                     # 3 spec.minAvailable: a whole number
  tasks:
    - name: A_b                         # 7 spec.tasks[0].name: lower-case
      replicas: 1.5                     # 7 spec.tasks[0].replicas: a whole number
      template: &template {spec: {containers: [{name: main, image: busybox}]}}
    - replicas: many                    # 7 spec.tasks[1].replicas: a whole number
      template: *template
  plugins:
    svc: publish                        # 5 spec.plugins.svc: a list
"""
EXPECTED = re.compile(r"# (\d+) (\S+): (.+)$")


def expected(*texts: str) -> list[tuple[int, int, str, str]]:
    """Read the comments of a file: line, column, path and words of each problem."""
    lines = "".join(texts).splitlines()
    found = [(number, EXPECTED.search(line)) for number, line in enumerate(lines, 1)]
    return [(number, int(match[1]), match[2], match[3]) for number, match in found if match]


def reported(lines: list[str], file: str) -> list[tuple[int, int, str, str]]:
    """Take the lines of the answer apart: line, column, path and message of each problem."""
    found = [re.fullmatch(rf"{re.escape(file)}:(\d+):(\d+): (\S+): (.+)", line) for line in lines]
    return [(int(match[1]), int(match[2]), match[3], match[4]) for match in found if match]


class TestProblems:
    """What is wrong with a file, line by line."""

    @pytest.mark.parametrize("texts", [(MANY,), (TYPES,), (MANY, "---\n", TYPES)], ids=["many", "types", "both"])
    def test_each_is_told_with_its_line_and_column(self, shell: Shell, texts: tuple[str, ...]) -> None:
        """All of them at once, in the order of the file, and nothing besides."""
        answer = shell("validate", shell.write("job.yaml", "".join(texts)))

        found, wanted = reported(answer.lines, "job.yaml"), expected(*texts)
        assert (answer.code, answer.out) == (1, "")
        assert [place for *place, _ in found] == [place for *place, _ in wanted]
        assert [message for (*_, message), (*_, words) in zip(found, wanted, strict=True) if words not in message] == []
        assert len(found) == len(answer.lines)

    def test_those_of_all_documents_are_told_by_place(self, shell: Shell) -> None:
        """A document that is no YAML ends the file, and hides nothing before it."""
        file = shell.write("job.yaml", "- 1\n---\na: 1\n---\nmetadata: {name: !!int x}\nspec: []\n---\n\ta: 1\n")

        assert shell("validate", file).lines == [
            "job.yaml:1:1: a document must be a mapping: write a Job",
            "job.yaml:3:1: this is no Volcano Job: it has none of its fields: give a batch.volcano.sh/v1alpha1 Job",
            "job.yaml:5:18: metadata.name: Invalid value: must be of the type of its tag !!int: write the plain value",
            "job.yaml:6:1: spec: a Job needs a spec, which is a mapping: add it",
            "job.yaml:8:1: this is no YAML: a tab indents this line: indent with spaces",
        ]

    def test_the_jobs_of_a_list_are_told_with_their_lines(self, shell: Shell) -> None:
        """As `kubectl get jobs.batch.volcano.sh -o yaml` prints them."""
        listed = {"apiVersion": "v1", "kind": "List", "items": [job(), job(name="Other")]}
        file = shell.write("jobs.yaml", listed)
        line = (shell.folder / file).read_text("utf-8").splitlines().index("    name: Other") + 1

        answer = shell("validate", file)

        assert (answer.code, len(answer.lines)) == (1, 1)
        assert answer.err.startswith(f"jobs.yaml:{line}:5: metadata.name: this must be lower-case letters")

    def test_those_of_all_files_are_told(self, shell: Shell) -> None:
        """A bad file does not hide what is wrong with the next, be it no YAML at all."""
        files = [
            shell.write("first.yaml", MANY),
            shell.write("second.yaml", "a: [1"),
            shell.write("third.yaml", job()),
            shell.write("fourth.yaml", TYPES),
        ]

        answer = shell("validate", *files)

        assert answer.code == 1
        assert len(reported(answer.lines, "first.yaml")) == len(expected(MANY))
        assert [line for line in answer.lines if line.startswith("second.yaml:2:1: this is no YAML: ")] != []
        assert [line for line in answer.lines if line.startswith("third.yaml")] == []
        assert len(reported(answer.lines, "fourth.yaml")) == len(expected(TYPES))

    def test_render_tells_the_same(self, shell: Shell) -> None:
        """Whoever renders a bad job need not validate it to learn why it is bad."""
        file = shell.write("job.yaml", MANY)

        assert shell("render", file) == shell("validate", file)

    def test_standard_input_has_a_name_too(self, shell: Shell) -> None:
        """Lines count from its beginning."""
        answer = shell("validate", "-", stdin=MANY.encode())

        assert answer.code == 1
        assert len(reported(answer.lines, "<stdin>")) == len(expected(MANY))

    @pytest.mark.parametrize(
        ("text", "line"),
        [
            ("- 1\n", "1:1: a document must be a mapping: "),
            ("text\n", "1:1: a document must be a mapping: "),
            ("", "1:1: there is no document in it: "),
            ("---\n# nothing\n---\n", "1:1: there is no document in it: "),
            ("a:\n  - [1\n", "3:1: this is no YAML: "),
            ("a: b: c\n", "1:5: this is no YAML: "),
            ("a: *nobody\n", "1:4: this is no YAML: "),
            ("\ta: 1\n", "1:1: this is no YAML: "),
            ("kind: &x [*x]\n", "1:7: "),
            ("metadata: {name: a}\nspec: !!int x\n", "2:7: spec: "),
            ("a: 1\n", "1:1: this is no Volcano Job: it has none of its fields: "),
            ("kind: Pod\nmetadata: {name: a}\nspec: {}\n", "1:1: kind: this is no Volcano Job"),
            ("apiVersion: batch/v1\nkind: Job\n", "1:1: apiVersion: this is no Volcano Job"),
            ("kind: Job\nmetadata: {name: a}\n", "1:1: spec: a Job needs a spec"),
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
    def test_what_is_no_job_is_told_in_one_line(self, shell: Shell, text: str, line: str) -> None:
        """The line says where it went wrong."""
        answer = shell("validate", shell.write("job.yaml", text))

        assert (answer.code, answer.out, len(answer.lines)) == (1, "", 1)
        assert answer.err.startswith(f"job.yaml:{line}")

    def test_a_message_of_several_lines_stays_on_one(self, shell: Shell) -> None:
        """The parser of YAML tells of a control character in two."""
        answer = shell("validate", shell.write("job.yaml", b"a: \0\n"))

        assert (answer.code, len(answer.lines)) == (1, 1)
        assert answer.err.startswith("job.yaml:1:4: this is no YAML: ")

    def test_a_clash_with_a_plugin_has_its_line(self, shell: Shell) -> None:
        """A variable that the template sets and a plugin too is found when the Pods are made."""
        containers = [container(env=[{"name": "VC_TASK_INDEX", "value": "7"}])]
        file = shell.write("job.yaml", job(task(containers=containers), plugins={"env": []}))
        lines = (shell.folder / file).read_text("utf-8").splitlines()

        answer = shell("validate", file)

        ((line, column, path, message),) = reported(answer.lines, file)
        assert path == "spec.tasks[0].template.spec.containers[0].env[0]"
        assert (lines[line - 1], column) == ("          - name: VC_TASK_INDEX", 13)
        assert message.startswith("the plugin env (spec.plugins.env) sets the variable VC_TASK_INDEX of the container")


class TestWarnings:
    """What is odd and still done."""

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
    def test_they_are_no_failure(self, shell: Shell, command: str) -> None:
        """They are told on standard error, in the order of the file, and the exit code is 0."""
        answer = shell(command, shell.write("job.yaml", self.TWICE))

        assert answer.code == 0
        assert [line.split(": this ")[0].split(": without ")[0] for line in answer.lines] == [
            "job.yaml:5:13: warning: spec.plugins.ssh",
            "job.yaml:9:3: warning: spec.queue",
            *([PLACEHOLDERS.strip()] if command == "render" else []),
        ]
        assert [item["kind"] for item in answer.documents()] == (
            ["PodGroup", "Secret", "Pod"] if command == "render" else []
        )

    def test_they_are_told_beside_problems(self, shell: Shell) -> None:
        """The order is that of the file."""
        answer = shell("validate", shell.write("job.yaml", self.TWICE.replace("replicas: 1", "replicas: -1")))

        assert answer.code == 1
        assert [line.split(":")[1] for line in answer.lines if "ssh" not in line] == ["8", "9"]
        assert [": warning: " in line for line in answer.lines if "ssh" not in line] == [False, True]

    def test_two_values_of_one_key_are_a_problem(self, shell: Shell) -> None:
        """Nobody can say which one was meant."""
        text = self.TWICE.replace("ssh: []", "ssh: [], svc: []").removesuffix("research\n") + "other\n"

        answer = shell("validate", shell.write("job.yaml", text))

        assert (answer.code, len(answer.lines)) == (1, 1)
        assert answer.err.startswith("job.yaml:9:3: spec.queue: this stands twice, with two values (first in line 6): ")


class TestExitCodes:
    """0 if all is well, 1 for problems of a job, 2 for bad usage or files."""

    def test_a_good_job_is_told_by_silence(self, shell: Shell) -> None:
        """Nothing is printed, and the exit code is 0."""
        assert shell.good("validate", shell.write("job.yaml", job())).out == ""

    @pytest.mark.parametrize("command", ["validate", "render"])
    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("nowhere.yaml", "cannot read nowhere.yaml: No such file or directory"),
            (".", "cannot read .: Is a directory"),
            ("image.png", "cannot read image.png: it is not UTF-8 text"),
            ("", "a FILE has an empty name: give one, or - for standard input"),
        ],
    )
    def test_a_file_that_cannot_be_read(self, shell: Shell, command: str, name: str, reason: str) -> None:
        """Its name and the reason are told in one line."""
        shell.write("image.png", b"\x89PNG\r\n\x1a\n")

        answer = shell(command, name)

        assert (answer.code, answer.out, answer.err) == (2, "", f"volcano-jobs: {reason}\n")

    @pytest.mark.parametrize("command", ["validate", "render"])
    @pytest.mark.parametrize(("file", "name"), [("-", "<stdin>"), ("job.yaml", "job.yaml")])
    def test_a_file_that_is_given_twice(self, shell: Shell, command: str, file: str, name: str) -> None:
        """Standard input can be read once, and a job can be made once."""
        shell.write("job.yaml", job())

        answer = shell(command, file, file)

        assert (answer.code, answer.out, answer.err) == (
            2,
            "",
            f"volcano-jobs: {name} is given 2 times: give it once\n",
        )

    @pytest.mark.parametrize(("name", "written"), [("a\udcff.yaml", "a\\udcff.yaml"), ("a\n.yaml", "a\\n.yaml")])
    @pytest.mark.parametrize("style", ["text", "json", "sarif"])
    def test_a_name_that_cannot_be_written(self, shell: Shell, name: str, written: str, style: str) -> None:
        """File names are bytes; messages are text, on one line."""
        answer = shell("validate", "--format", style, shell.write(name, "a: 1\n"))

        assert answer.code == 1
        assert {"text": written, "json": json.dumps(written), "sarif": quote(written)}[style] in answer.out + answer.err

    def test_a_file_steers_no_terminal(self, shell: Shell) -> None:
        """Neither its name nor what is in it."""
        red = "\x1b[31m"
        document = job()
        document["spec"][f"quue{red}"] = "a"

        problems = shell("validate", shell.write(f"job{red}.yaml", document)).err
        refusal = shell("validate", f"nowhere{red}.yaml").err

        assert problems.startswith(r"job\x1b[31m.yaml:6:3: spec.quue\x1b[31m: unknown field; Volcano drops it: ")
        assert refusal == "volcano-jobs: cannot read nowhere\\x1b[31m.yaml: No such file or directory\n"

    def test_standard_input_that_is_no_text(self, shell: Shell) -> None:
        """It is read as bytes: the terminal's encoding does not matter."""
        answer = shell("validate", "-", stdin=b"\xff\xfe")

        assert (answer.code, answer.err) == (2, "volcano-jobs: cannot read <stdin>: it is not UTF-8 text\n")

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
        """The message names what is wrong and how to get help."""
        shell.write("job.yaml", job())

        answer = shell(*arguments)

        assert (answer.code, answer.out) == (2, "")
        assert word in answer.err
        assert "--help" in answer.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--help"],
            ["render", "Print the manifests", "validate", "Report every problem of Volcano jobs and what to do."],
        ),
        (
            ["render", "--help"],
            ["FILE", "--format", "--managed-by", "--namespace", "--lenient", "--show-keys", "--cluster"],
        ),
        (["validate", "--help"], ["FILE", "--lenient", "--cluster", "kubectl get"]),
    ],
    ids=lambda value: " ".join(value) if "--help" in value else "",
)
def test_help_names_what_there_is(shell: Shell, arguments: list[str], words: list[str]) -> None:
    """Each command and option is there, and every text is whole."""
    answer = shell.good(*arguments)

    assert [word for word in words if word not in answer.out] == []
    assert "..." not in answer.out.replace("]...", "").replace("}...", "")


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
    answer = shell("validate", shell.write("job.yaml", TWICE.replace("%s", fields)))

    place = f"spec.tasks[0].template.spec.containers[0].{path}: "
    said = [line.partition(place)[2].partition(":")[0] for line in answer.lines if place in line]
    assert answer.code == 1
    assert said == ["this stands twice, with two values (first in line 9)", "this field is required"]
