"""Job files are read as kubectl reads them, with the line of each value. Manifests are written for kubectl."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, load_jobs, render
from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.files import job_file, yaml_reader
from pulumi_volcano_jobs.kubernetes.manifest import Placeholder
from tests.conftest import job, typed

HEAD = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\n"
JOB = """\
# a comment
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: train
spec:
  queue: 5
  plugins:
    pytorch: ["--port=1", "--prt=2"]
  tasks:
  - name: master
    replicas: 1
    template:
      spec:
        containers:
        - name: main
          image: x
          env: [{name: A, value: 1}]
          prots: []
  - {name: worker, replicas: 2, template: {spec: {containers: [{name: main, image: x, tty: "yes"}]}}}
"""


def read_one(text: str) -> job_file.Document:
    """Read YAML text of one document."""
    (document,) = job_file.read(text)
    return document


def refused(text: str) -> Problem:
    """Return the problem of text that cannot be read."""
    with pytest.raises(JobError) as caught:
        job_file.read(text)
    (problem,) = caught.value.problems
    return problem


def bad(text: str) -> Problem:
    """Return the problem of the YAML of a document."""
    documents, problems = job_file.read_valid_documents(text)
    (problem,) = [*problems, *(problem for document in documents for problem in document.problems)]
    return problem


class TestPlaces:
    """Every problem has its line and column."""

    @pytest.mark.parametrize(
        ("path", "place"),
        [
            ("", (2, 1)),
            ("metadata.name", (5, 3)),
            ("spec", (6, 1)),
            ("spec.plugins.pytorch", (9, 5)),
            ("spec.plugins.pytorch[1]", (9, 27)),
            ("spec.tasks[0]", (11, 5)),
            ("spec.tasks[0].template.spec.containers[0].env[0].value", (18, 27)),
            ("spec.tasks[1].template.spec.containers[0].tty", (20, 87)),
        ],
    )
    def test_the_place_of_a_value_is_its_key_and_of_an_entry_itself(self, path: str, place: tuple[int, int]) -> None:
        """Lines and columns begin with 1."""
        assert read_one(JOB).positions[path] == place

    def test_problems_of_a_job_have_the_places_of_the_values(self) -> None:
        """This includes problems of rendering."""
        document = read_one(JOB)
        with pytest.raises(JobError) as caught:
            render(document.data)

        found = document.with_positions(caught.value.problems)

        assert {(problem.line, problem.column): problem.path for problem in found} == {
            (7, 3): "spec.queue",
            (9, 27): "spec.plugins.pytorch[1]",
            (18, 27): "spec.tasks[0].template.spec.containers[0].env[0].value",
            (19, 11): "spec.tasks[0].template.spec.containers[0].prots",
            (20, 87): "spec.tasks[1].template.spec.containers[0].tty",
        }

    def test_the_problems_of_building_the_job_are_placed_in_order(self) -> None:
        """`Document.job` raises them with their places."""
        text = JOB.replace("replicas: 1", "replicas: many").replace("name: train", "name: Train")

        with pytest.raises(JobError) as caught:
            read_one(text).job()

        assert [(problem.line, problem.path) for problem in caught.value.problems] == [
            (5, "metadata.name"),
            (7, "spec.queue"),
            (12, "spec.tasks[0].replicas"),
        ]

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ("spec.minAvailable", 6),
            ("spec.tasks[0].template.spec.containers[0].image.nothing", 17),
            ("spec.tasks[7].name", 10),
            ("metadata.namespace", 4),
            ("elsewhere", 2),
        ],
    )
    def test_a_missing_value_has_the_place_of_its_parent(self, path: str, line: int) -> None:
        """If the parent is also missing, its nearest ancestor."""
        (placed,) = read_one(JOB).with_positions([Problem(path, "Required", "missing")])

        assert placed.line == line

    def test_a_known_place_is_kept(self) -> None:
        """A problem of the YAML itself has one."""
        (placed,) = read_one(JOB).with_positions([Problem("spec.queue", "Invalid", "odd").at(99, 9)])

        assert (placed.line, placed.column) == (99, 9)

    def test_lines_are_counted_over_several_documents(self) -> None:
        """They are lines of the file."""
        first, second = job_file.read("a: 1\n---\nb: 2\n")

        assert (first.positions["a"], second.positions["b"]) == ((1, 1), (3, 1))


class TestTwice:
    """A repeated key in a mapping."""

    @pytest.mark.parametrize(
        "text",
        [
            "queue: default\nqueue: default\n",
            "queue: default\nqueue: 'default'\n",
            "queue: default\n'queue': \"default\"\n",
            "queue: [a, b]\nqueue:\n- a\n- b\n",
            "queue: {a: 1, b: 2}\nqueue: {b: 2, a: 1}\n",
            "queue: 1 # one\nqueue:   1\n",
            "queue: &one 1\nqueue: *one\n",
        ],
        ids=["alike", "quoted", "a quoted key", "another layout", "another order", "a comment", "an alias"],
    )
    def test_a_repeated_key_with_one_value_has_a_warning(self, text: str) -> None:
        """The warning is at the second key, with the line of the first."""
        (problem,) = read_one(text).problems

        assert (problem.path, problem.warning, problem.line) == ("queue", True, 2)
        assert problem.code == "VJ115"
        assert "line 1" in problem.reason

    @pytest.mark.parametrize(
        "text",
        [
            "queue: a\nqueue: b\n",
            "queue: 1\nqueue: '1'\n",
            "queue: [a, b]\nqueue: [b, a]\n",
            "queue: {a: 1}\nqueue: {a: 1, b: 2}\n",
            "queue:\nqueue: ''\n",
        ],
        ids=["text", "a number and text", "the order of a list", "more keys", "a null and nothing"],
    )
    def test_a_repeated_key_with_two_values_is_an_error(self, text: str) -> None:
        """Kubernetes would silently use the last value."""
        document = read_one(text)

        (problem,) = document.problems

        assert typed([problem]) == [("queue", "Duplicate")]
        assert (problem.warning, problem.line) == (False, 2)

    def test_the_messages_have_the_line_of_the_first_key(self, snapshot: SnapshotAssertion) -> None:
        """A warning for one value, and an error for two."""
        texts = ("queue: a\nqueue: a\n", "queue: a\nqueue: b\n")

        assert [str(problem) for text in texts for problem in read_one(text).problems] == snapshot

    def test_a_repeated_key_is_found_at_any_depth(self) -> None:
        """This includes lists and flow mappings."""
        problems = read_one("a:\n- b: 1\n  b: 1\n- {c: {d: 1, d: 2}}\n").problems

        assert [(problem.path, problem.line, problem.column) for problem in problems] == [
            ("a[0].b", 3, 3),
            ("a[1].c.d", 4, 14),
        ]

    def test_one_key_in_two_mappings_is_valid(self) -> None:
        """Each task has a name."""
        assert read_one("a: {name: x}\nb: {name: x}\nc: [{name: x}, {name: y}]\n").problems == ()

    def test_a_job_with_two_values_is_rejected_and_with_one_is_not(self) -> None:
        """`Document.job` does not raise the warning."""
        text = HEAD + "metadata: {name: train}\nspec: {queue: a, queue: %s}\n"

        assert read_one(text % "a").job().queue == "a"
        with pytest.raises(JobError) as caught:
            read_one(text % "b").job()
        assert [problem.path for problem in caught.value.problems] == ["spec.queue"]

    def test_repeated_keys_are_reported_with_the_other_problems_of_the_job(self) -> None:
        """All problems are in the order of the file."""
        with pytest.raises(JobError) as caught:
            read_one(f"{HEAD}metadata: {{name: train}}\nspec:\n  queue: a\n  queue: b\n  minAvailable: -1\n").job()

        assert [(problem.line, problem.path) for problem in caught.value.problems] == [
            (6, "spec.queue"),
            (7, "spec.minAvailable"),
        ]


KUBECTL: dict[str, Any] = {
    # Text in kubectl, and another type in PyYAML.
    "2026-01-01": "2026-01-01",
    "2026-99-99": "2026-99-99",
    "2026-01-01T00:00:00Z": "2026-01-01T00:00:00Z",
    "8080:22": "8080:22",
    "1:30": "1:30",
    "=": "=",
    # Another type in kubectl, and text in PyYAML.
    "y": True,
    "N": False,
    "1e3": 1000.0,
    "0o17": 15,
    "089": 89.0,
    # The same type in both.
    "yes": True,
    "off": False,
    "017": 15,
    "0x1F": 31,
    "0b11": 3,
    "-7": -7,
    "1_000": 1000,
    "1.5": 1.5,
    ".5": 0.5,
    "~": None,
    "Null": None,
    "text": "text",
    "1.2.3": "1.2.3",
    "1Gi": "1Gi",
    "yep": "yep",
    "0o8": "0o8",
    "'y'": "y",
    "'1e3'": "1e3",
    '"2026-01-01"': "2026-01-01",
}


@pytest.mark.parametrize(("plain", "value"), KUBECTL.items(), ids=KUBECTL)
def test_a_plain_value_has_the_type_that_kubectl_reads(plain: str, value: Any) -> None:
    """The file is a Job as kubectl reads it."""
    found = read_one(f"a: {plain}\n").data["a"]

    assert (found, type(found)) == (value, type(value))


OF_KUBECTL = json.loads((Path(__file__).parents[2] / "documents/kubectl.json").read_text("utf-8"))


def test_yaml_is_read_as_kubectl_reads_it() -> None:
    """The file has documents with the JSON or the error of sigs.k8s.io/yaml 1.6.0 (in kubectl) for each."""
    for entry in OF_KUBECTL:
        documents = _read_all(entry["text"])
        expected = None if "error" in entry else [entry["json"]]
        assert documents == expected, entry["text"]


def _read_all(text: str) -> list[Any] | None:
    try:
        return yaml_reader.load(text)
    except yaml_reader.YamlError:
        return None


@pytest.mark.parametrize("special", [".inf", "-.INF", "+.Inf", ".nan"])
def test_a_value_that_json_does_not_have_is_rejected(special: str) -> None:
    """As in kubectl, it is rejected as a value, and is text as a key."""
    problem = bad(f"a: {special}\n")

    assert typed([problem]) == [("a", "Invalid")]
    assert str(problem) == str(bad("a: .nan\n"))
    assert read_one(f"{special}: a\n").data == {special.lower().removeprefix("+"): "a"}


def test_the_error_of_a_value_that_json_does_not_have_has_a_fix(snapshot: SnapshotAssertion) -> None:
    """The fix is to write the plain value."""
    assert str(bad("a: .nan\n")) == snapshot


def test_a_tag_that_kubectl_ignores_has_a_warning(snapshot: SnapshotAssertion) -> None:
    """The tag is for another program; kubectl reads the value after it."""
    document = read_one("a: !Ref Name\nb: !vault {c: 1}\n")

    assert document.data == {"a": "Name", "b": {"c": 1}}
    assert typed(document.problems) == [("a", "VJ124"), ("b", "VJ124")]
    assert [str(problem) for problem in document.problems] == snapshot


@pytest.mark.parametrize("text", ["a: !!str 1\n", "a: ! 1\n", "a: !!map {}\n", "a: !!seq []\n", "a: !!binary aGk=\n"])
def test_a_tag_that_kubectl_applies_has_no_warning(text: str) -> None:
    """A tag that changes nothing is not reported either."""
    assert read_one(text).problems == ()


def test_a_merge_key_after_a_key_overrides_it_with_a_warning(snapshot: SnapshotAssertion) -> None:
    """In YAML the mapping's own keys take precedence; kubectl inserts the merged keys at the place of `<<`."""
    document = read_one("base: &base {queue: a, name: x}\njob:\n  queue: b\n  name: x\n  <<: *base\n")

    assert document.data["job"] == {"queue": "a", "name": "x"}
    assert [(problem.path, problem.line, problem.code) for problem in document.problems] == [("job.queue", 5, "VJ125")]
    assert str(document.problems[0]) == snapshot


def test_a_merge_key_before_a_key_is_overridden() -> None:
    """All readers agree, so no warning is needed."""
    document = read_one("base: &base {queue: a}\njob:\n  <<: *base\n  queue: b\n")

    assert (document.data["job"], document.problems) == ({"queue": "b"}, ())


YTT = [
    '#@ load("@ytt:data", "data")\na: 1\n',
    "a: #@ data.values.a\n",
    "a:\n- #@ data.values.a\n",
    "#@ for name in names:\n- a\n#@ end\n",
    "#@data/values\n---\na: 1\n",
]


@pytest.mark.parametrize("text", YTT)
def test_a_template_of_ytt_is_rejected(text: str) -> None:
    """Its directives are comments, so YAML would read nulls."""
    _, (problem,) = job_file.read_valid_documents(text)

    assert problem.hint == "render the template first: ytt -f FILE | volcano-jobs validate -"


@pytest.mark.parametrize("text", ["# a\na: 1\n", "#@author me\na: 1\n", "a: '#@ b'\n", "a: b #@ c\n"])
def test_an_ordinary_comment_is_accepted(text: str) -> None:
    """These are near misses."""
    assert job_file.read(text)


UNFILLED = ["a: {b: ${B}}\n", "replicas: @REPLICAS@\n", "a: %A%\n", "a: [<b>: c: d]\n"]


@pytest.mark.parametrize("text", UNFILLED)
def test_a_placeholder_that_is_not_yaml_has_the_right_fix(text: str, snapshot: SnapshotAssertion) -> None:
    """The words of the parser would not help."""
    _, (problem,) = job_file.read_valid_documents(text)

    assert str(problem) == snapshot


class TestDocuments:
    """Files with several documents or without one."""

    def test_empty_documents_are_skipped(self) -> None:
        """Such as the one after a trailing `---`."""
        documents = job_file.read("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n---\n")

        assert [document.data for document in documents] == [{"a": 1}, {"b": 2}]

    def test_a_document_has_its_source(self) -> None:
        """Messages use it."""
        (document,) = job_file.read("a: 1\n", "job.yaml")

        assert document.source == "job.yaml"

    @pytest.mark.parametrize("text", ["", "\n", "---\n", "# nothing\n", "---\n---\n", "null\n", "~"], ids=repr)
    def test_a_file_without_a_document_is_a_problem(self, text: str) -> None:
        """A command without a job has nothing to do."""
        problem = refused(text)

        assert typed([problem]) == [("", "Required")]
        assert (problem.line, problem.column) == (1, 1)

    @pytest.mark.parametrize(
        ("text", "place"),
        [("- a\n", (1, 1)), ("text\n", (1, 1)), ("a: 1\n---\n\n- b\n", (4, 1)), ("5", (1, 1))],
        ids=repr,
    )
    def test_a_document_that_is_not_a_mapping_is_a_problem(self, text: str, place: tuple[int, int]) -> None:
        """The problem has its place."""
        problem = refused(text)

        assert typed([problem]) == [("", "TypeInvalid")]
        assert (problem.line, problem.column) == place
        assert problem.stage is RejectionStage.DECODE


BAD: dict[str, tuple[str, tuple[int, int], str, str]] = {
    "a tab": ("a:\n\t- b\n", (2, 1), "", "Invalid"),
    "a tab after spaces": (
        "a:\n  b: 1\n  \tc: 1\n",
        (3, 3),
        "",
        "Invalid",
    ),
    "a colon in text": (
        "a: b: c\n",
        (1, 5),
        "",
        "Invalid",
    ),
    "a control character": (
        "a: 1\nb: \x07\n",
        (2, 4),
        "",
        "Invalid",
    ),
    "half of a character": (
        "a: \ud800\n",
        (1, 4),
        "",
        "Invalid",
    ),
    "JSON of a line each": ('{"a": 1}\n{"a": 2}\n', (2, 1), "", "Invalid"),
    "a tag that does not fit": (
        "a: 1\nb: !!int x\n",
        (2, 4),
        "b",
        "Invalid",
    ),
    "a truth value that is none": (
        "a: !!bool x\n",
        (1, 4),
        "a",
        "Invalid",
    ),
    "bytes that are not base64": (
        "a: !!binary x\n",
        (1, 4),
        "a",
        "Invalid",
    ),
    "a date that is none": (
        "a: !!timestamp x\n",
        (1, 4),
        "a",
        "Invalid",
    ),
    "a question mark in brackets": (
        "a: [--url=http://x/?y=1]\n",
        (1, 5),
        "",
        "Invalid",
    ),
    "an escaped slash": ('a: "\\/"\n', (1, 4), "", "Invalid"),
    "a list as a key": (
        "a:\n  ? [a]\n  : b\n",
        (2, 5),
        "a.?",
        "Invalid",
    ),
    "a null as a key": (
        "a:\n  ~: b\n",
        (2, 3),
        "a.null",
        "Invalid",
    ),
    "a merge of text": (
        "a:\n  <<: b\n",
        (2, 7),
        "a",
        "Invalid",
    ),
    "a list inside of itself": ("a: &x [*x]\n", (1, 8), "", "Invalid"),
    "a mapping inside of itself": ("a: &x\n  b: *x\n", (2, 6), "", "Invalid"),
    "much too deep": ("a: " + "[" * 200 + "]" * 200, (1, 102), "", "Invalid"),
    "Helm's value": ("a: {{ .Values.a }}\n", (1, 4), "", "Invalid"),
    "Helm's key": ("{{ .Values.a }}: 1\n", (1, 1), "", "Invalid"),
    "Helm's value in text": ("a:\n  b: 'x:{{ .Values.tag }}'\n", (2, 6), "", "Invalid"),
    "Helm's block": ("a: 1\n{{- if .Values.x }}\nb: 1\n{{- end }}\n", (2, 1), "", "Invalid"),
    "Helm's definition": ('{{- define "a" -}}\na: 1\n{{- end -}}\n', (1, 3), "", "Invalid"),
    "Jinja's loop": ("{% for i in x %}\na: 1\n{% endfor %}\n", (1, 2), "", "Invalid"),
    "Jinja's comment": ("{# a #}\nb: 1\n", (1, 1), "", "Invalid"),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_yaml_is_a_problem_with_its_line_and_column(name: str, snapshot: SnapshotAssertion) -> None:
    """The parser prints no traceback, and creates no Python objects."""
    text, place, path, error_type = BAD[name]

    problem = bad(text)

    assert typed([problem]) == [(path, error_type)]
    assert problem.stage is RejectionStage.DECODE
    assert (problem.line, problem.column) == place
    assert str(problem) == snapshot


SYNTAX: dict[str, tuple[str, tuple[int, int]]] = {
    "an open list": ("a: 1\nb: [1, 2\n", (3, 1)),
    "bad indentation": ("a: 1\n  b: 2\n", (2, 4)),
    "an unknown alias": ("a: *b\n", (1, 4)),
}


@pytest.mark.parametrize(("text", "place"), SYNTAX.values(), ids=SYNTAX)
def test_an_error_of_the_parser_has_its_message(text: str, place: tuple[int, int]) -> None:
    """Only the first words are the same in all versions of the parser."""
    problem = bad(text)

    assert typed([problem]) == [("", "Invalid")]
    assert problem.reason.partition(": ")[0] == bad(BAD["a tab"][0]).reason.partition(": ")[0]
    assert (problem.line, problem.column) == place


def test_yaml_that_is_too_deep_for_the_parser_has_the_same_error() -> None:
    """Some parsers have a limit."""
    assert str(bad("a: " + "[" * 5000 + "]" * 5000)) == str(bad(BAD["much too deep"][0]))


def test_text_with_braces_is_not_a_template() -> None:
    """Go templates are arguments of commands, and parameters of Argo are text."""
    text = "a: ['{{.ID}}', '{{inputs.parameters.x}}']\nb: '{{'\n# {{ .Values.x }}\n"

    assert read_one(text).data == {"a": ["{{.ID}}", "{{inputs.parameters.x}}"], "b": "{{"}


def test_a_wrong_document_does_not_hide_other_documents() -> None:
    """The problems of other documents are also reported."""
    documents, problems = job_file.read_valid_documents("a: 1\n---\n- b\n---\nc: !!int x\nd: !!int y\n---\n\te: 1\n")

    assert [document.data for document in documents] == [{"a": 1}, {"c": None, "d": None}]
    assert [(problem.line, problem.path) for document in documents for problem in document.problems] == [
        (5, "c"),
        (6, "d"),
    ]
    assert [(problem.line, problem.type) for problem in problems] == [(3, "TypeInvalid"), (8, "Invalid")]
    assert [problem.reason for problem in problems] == [bad("- b").reason, bad(BAD["a tab"][0]).reason]


@pytest.mark.parametrize("text", ["\U0001f600", "\\", "\\ud83d\\ude00", "a\\\U0001f600é\t\n\x00\u2028"], ids=ascii)
def test_json_is_read_as_json(text: str) -> None:
    """With its escapes, as Python and other tools write them."""
    assert read_one(json.dumps({"a": text}, indent="\t")).data == {"a": text}


KEYS = {"1": "1", "017": "15", "true": "true", "yes": "true", "1.50": "1.5", "2026-01-01": "2026-01-01", "''": ""}


@pytest.mark.parametrize(("written", "key"), KEYS.items(), ids=KEYS)
def test_a_key_is_text_as_in_kubectl(written: str, key: str) -> None:
    """Labels and selectors can be numbers in a file."""
    document = read_one(f"a: {{{written}: b}}\n")

    assert document.data == {"a": {key: "b"}}
    assert document.positions[f"a.{key}"] == (1, 5)


class TestLists:
    """Output of `kubectl get -o yaml` for several objects."""

    TEXT = "apiVersion: v1\nkind: List\nitems:\n- a: 1\n- b: [1]\n"

    @pytest.mark.parametrize("kind", ["List", "JobList"])
    def test_the_items_of_a_list_are_documents(self, kind: str) -> None:
        """Each has its places."""
        first, second = job_file.read(self.TEXT.replace("List", kind))

        assert (first.data, second.data) == ({"a": 1}, {"b": [1]})
        assert (first.positions["a"], second.positions["b[0]"]) == ((4, 3), (5, 7))

    def test_an_empty_list_has_no_document(self, snapshot: SnapshotAssertion) -> None:
        """The fix is to write a job."""
        problem = bad("kind: List\nitems: []\n")

        assert typed([problem]) == [("", "Required")]
        assert str(problem) == snapshot

    def test_an_item_that_is_not_a_mapping_is_an_error(self, snapshot: SnapshotAssertion) -> None:
        """The error has the line of the item."""
        problem = bad("kind: List\nitems:\n- 5\n")

        assert typed([problem]) == [("", "TypeInvalid")]
        assert problem.line == 3
        assert str(problem) == snapshot


def test_aliases_that_multiply_are_a_problem(snapshot: SnapshotAssertion) -> None:
    """Ten lines can expand to a thousand million values. The parser counts them, and no value is read."""
    names = "abcdefghij"
    lines = [f"a: &a [{', '.join('x' * 10)}]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]" for before, name in itertools.pairwise(names)]

    text = "\n".join(lines)

    problem = refused(text)

    assert typed([problem]) == [("", "TooMany")]
    assert str(problem) == snapshot
    with pytest.raises(yaml_reader.FileTooLargeError):
        list(yaml_reader.compose(text))


class TestAnchors:
    """Anchors, aliases and merge keys."""

    def test_an_alias_has_the_value_of_its_anchor(self) -> None:
        """Problems in it have the place of the anchor."""
        document = read_one("a: &x\n  b: 1\nc: *x\n")

        assert document.data == {"a": {"b": 1}, "c": {"b": 1}}
        assert document.positions["c.b"] == (2, 3)

    def test_a_merge_key_adds_missing_keys(self) -> None:
        """The keys of the mapping take precedence."""
        document = read_one("base: &x {a: 1, b: 2}\nmore: {<<: *x, b: 3}\n")

        assert document.data["more"] == {"a": 1, "b": 3}

    def test_two_tasks_with_one_template_render(self) -> None:
        """Tasks often share a template by an anchor; a change for one task does not affect the other."""
        text = f"""{HEAD}metadata: {{name: train}}
spec:
  plugins: {{env: []}}
  tasks:
  - name: a
    replicas: 1
    template: &template {{spec: {{containers: [{{name: main, image: x}}]}}}}
  - {{name: b, replicas: 1, template: *template}}
"""
        first, second = render(read_one(text).job()).pods

        assert first["spec"]["containers"] == second["spec"]["containers"]
        assert first["spec"]["containers"][0]["env"] is not second["spec"]["containers"][0]["env"]


class TestLoadJobs:
    """`load_jobs` takes a path or text."""

    TEXT = "---\n".join(f"{HEAD}metadata: {{name: {name}}}\nspec: {{}}\n" for name in ("one", "two"))

    @pytest.mark.parametrize("as_text", [False, True], ids=["a Path", "a str"])
    def test_load_jobs_reads_a_file(self, tmp_path: Path, as_text: bool) -> None:  # noqa: FBT001
        """It reads all documents."""
        path = tmp_path / "jobs.yaml"
        path.write_text(self.TEXT, "utf-8")

        jobs = load_jobs(str(path) if as_text else path)

        assert [found.name for found in jobs] == ["one", "two"]

    def test_load_jobs_reads_text(self) -> None:
        """Text has a line break."""
        assert [found.name for found in load_jobs(self.TEXT)] == ["one", "two"]

    def test_load_jobs_reads_the_output_of_dump(self) -> None:
        """The native form of a job, in YAML and in JSON."""
        stored = render(job()).job

        assert load_jobs(job_file.dump([stored.to_manifest()])) == [stored]

    @pytest.mark.parametrize(
        ("name", "error_type"), {"nothing.yaml": "NotFound", "": "Invalid", "a\0b": "Invalid"}.items(), ids=repr
    )
    def test_a_file_that_cannot_be_read_is_a_job_error(self, tmp_path: Path, name: str, error_type: str) -> None:
        """A missing file, a folder, and a path that no file can have."""
        with pytest.raises(JobError) as caught:
            load_jobs(tmp_path / name)
        assert [problem.type for problem in caught.value.problems] == [error_type]

    def test_another_source_than_a_path_or_a_text_is_a_job_error(self) -> None:
        """The message says what to pass."""
        with pytest.raises(JobError) as caught:
            load_jobs(5)  # type: ignore[arg-type]  # that is the mistake
        assert typed(caught.value.problems) == [("source", "TypeInvalid")]

    def test_other_objects_of_the_file_are_skipped(self) -> None:
        """A file for kubectl also has ConfigMaps and Queues, also in a List."""
        others = [
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}},
            {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": {"name": "research"}},
            {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"template": {}}},
        ]
        listed = {"apiVersion": "v1", "kind": "List", "items": [*others, job(name="two")]}

        jobs = load_jobs(job_file.dump([*others, job(name="one"), listed]))

        assert [found.name for found in jobs] == ["one", "two"]

    @pytest.mark.parametrize("kind", ["ConfigMap", "Service", "HyperJob"])
    def test_a_file_without_a_job_is_an_error(self, kind: str) -> None:
        """A program that creates a job for each result would delete the jobs of the stack."""
        text = job_file.dump([{"apiVersion": "v1", "kind": kind, "metadata": {"name": "a"}}])

        with pytest.raises(JobError) as caught:
            load_jobs(text)

        assert typed(caught.value.problems) == [("apiVersion", "NotSupported")]


TEXTS: dict[str, tuple[str, str]] = {
    "plain": ("text", "text"),
    "other alphabets": ("中文é", "中文é"),
    "a number": ("5", "'5'"),
    "an exponent, as in a commit's hash": ("12e45", "'12e45'"),
    "eight and nine": ("089", "'089'"),
    "an octal number": ("0o17", "'0o17'"),
    "a capital's prefix": ("0X1F", "'0X1F'"),
    "underscores": ("1_000", "'1_000'"),
    "a truth value": ("true", "'true'"),
    "a truth value to kubectl alone": ("y", "'y'"),
    "a truth value in a capital": ("N", "'N'"),
    "nothing": ("", "''"),
    "a null": ("~", "'~'"),
    "a merge key": ("<<", "'<<'"),
    "a date": ("2026-01-01", "'2026-01-01'"),
    "two numbers": ("8080:22", "'8080:22'"),
    "lines": ("a\nb\n", "|\n  a\n  b"),
    "lines without an end": ("a\nb", "|-\n  a\n  b"),
    "lines with an empty end": ("a\n\n", "|+\n  a\n\n..."),
    "indented lines": ("  a\nb", "|2-\n    a\n  b"),
    "blanks at an end of a line": ("a \nb", '"a \\nb"'),
    "a tab in lines": ("a\tb\nc", '"a\\tb\\nc"'),
    "a carriage return": ("a\r\nb", '"a\\r\\nb"'),
    "a next line": ("a\x85b", '"a\\Nb"'),
    "a line separator": ("a\u2028b", '"a\\Lb"'),
    "a byte order mark": ("\ufeffa", '"\\uFEFFa"'),
    "a control character": ("a\x00\x1b", '"a\\0\\e"'),
    "a delete": ("\x7f", '"\\x7F"'),
    "no character": ("\uffff", '"\\uFFFF"'),
    "a comment": ("a #b", "'a #b'"),
    "a mapping": ("a: b", "'a: b'"),
    "a template": ("{a}", "'{a}'"),
}


@pytest.mark.parametrize(("text", "written"), TEXTS.values(), ids=TEXTS)
def test_text_is_written_so_that_all_parsers_read_it_as_text(text: str, written: str) -> None:
    """It is quoted where kubectl or YAML 1.1 would read another type; scripts are blocks."""
    dumped = job_file.dump([{"a": text}])

    assert dumped == f"---\na: {written}\n"
    assert yaml.safe_load(dumped) == {"a": text}
    assert read_one(dumped).data == {"a": text}


@pytest.mark.parametrize("text", [text for text, _ in TEXTS.values()], ids=TEXTS)
def test_any_text_can_be_a_key(text: str) -> None:
    """Such as a label, or a file of a ConfigMap."""
    dumped = job_file.dump([{text: "a"}])

    assert yaml.safe_load(dumped) == read_one(dumped).data == {text: "a"}


class TestDump:
    """Manifests that `dump` writes."""

    def test_identity_comes_first_and_other_fields_by_name(self) -> None:
        """Fields below the top are sorted."""
        manifest = {"spec": {"kind": 1, "a": 2}, "data": {}, "metadata": {"namespace": "b", "name": "a"}}

        dumped = job_file.dump([manifest | {"kind": "K", "apiVersion": "v1"}])

        assert dumped == (
            "---\napiVersion: v1\nkind: K\nmetadata:\n  name: a\n  namespace: b\ndata: {}\nspec:\n  a: 2\n  kind: 1\n"
        )

    def test_shared_values_are_written_without_anchors(self) -> None:
        """Each copy is complete."""
        shared = {"a": [1]}

        assert job_file.dump([{"b": shared, "c": shared}]) == "---\nb:\n  a:\n  - 1\nc:\n  a:\n  - 1\n"

    def test_long_text_is_not_wrapped(self) -> None:
        """A diff shows only changed lines."""
        text = "word " * 200 + "end"

        assert job_file.dump([{"a": text}]) == f"---\na: {text}\n"

    def test_a_placeholder_is_written_as_text(self) -> None:
        """In both formats."""
        manifest = {"a": Placeholder("<private>")}

        assert job_file.dump([manifest]) == "---\na: <private>\n"
        assert '"a": "<private>"' in job_file.dump([manifest], "json")

    def test_tuples_are_written_as_lists(self) -> None:
        """Models have tuples."""
        assert job_file.dump([{"a": (1, 2)}]) == "---\na:\n- 1\n- 2\n"

    def test_no_manifest_is_no_document(self) -> None:
        """JSON is an empty list."""
        assert job_file.dump([]) == ""
        assert job_file.dump([], "json") == '{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": []\n}\n'

    def test_a_rendered_script_is_written_unchanged(self) -> None:
        """In a block, not in quotes with doubled lines."""
        made = render(job(task_with_script("set -e\nrun --fast\n")))

        assert "  - args:\n    - |\n      set -e\n      run --fast\n" in job_file.dump(made.pods)


def task_with_script(script: str) -> dict[str, Any]:
    """Build a task that runs a script."""
    main = {"name": "main", "image": "example.org/image:1", "args": [script]}
    return {"name": "worker", "replicas": 1, "template": {"spec": {"containers": [main]}}}
