"""Twice the input takes at most 2.03 times the work, for each kind of input.

Work is the number of lines of Python that run, not time. A new kind of input is one line of `KINDS`.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import pkgutil
import re
import sys
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import pulumi_volcano_jobs
from pulumi_volcano_jobs import render
from pulumi_volcano_jobs.kubernetes import quantity
from tests.commands import run_command
from tests.conftest import CLAIM, Wire, container, job, task

MOST = 2.03
"""The maximum growth of the work for twice the input."""
SLACK = 300
"""Steps and characters to ignore: lazy imports, and numbers with one more digit."""
Maker = Callable[[int], "Wire | str"]


def pod(**spec: Any) -> Wire:
    """Return a job of one Pod whose spec has these fields."""
    return job(task(**spec))


def main(**fields: Any) -> Wire:
    """Return a job of one container that has these fields."""
    return pod(containers=[container(**fields)])


def tasks(n: int, plugins: Mapping[str, Any] | None = None, **fields: Any) -> Wire:
    """Return a job of n tasks."""
    return job(*({**task(f"t{i}"), **fields} for i in range(n)), plugins=dict(plugins or {}))


def names(n: int, prefix: str = "n") -> list[str]:
    """Return n names."""
    return [f"{prefix}{i:04}" for i in range(n)]


def labels(n: int) -> dict[str, str]:
    """Return n labels."""
    return {f"example.org/k{i}": f"v{i}" for i in range(n)}


def waiting(i: int) -> list[Wire]:
    """Return init containers that look for the Pods of a task."""
    return [container("wait", command=["sh", "-c", f"until nslookup train-t{i}-0.train; do sleep 1; done"])]


def term(i: int) -> Wire:
    """Return a term of Pod affinity."""
    return {"topologyKey": f"example.org/k{i}", "labelSelector": {"matchLabels": {"a": f"b{i}"}}}


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"

KINDS: dict[str, Maker] = {
    # Lists and mappings of a template.
    "variables": lambda n: main(env=[{"name": f"A{i}", "value": f"$(A{i - 1})"} for i in range(n)]),
    "variables of one name": lambda n: main(env=[{"name": "A", "value": "x"}] * n),
    "variables of a ConfigMap": lambda n: main(
        env=[{"name": f"A{i}", "valueFrom": {"configMapKeyRef": {"name": f"c{i}", "key": "k"}}} for i in range(n)]
    ),
    "sources of variables": lambda n: main(envFrom=[{"configMapRef": {"name": name}} for name in names(n)]),
    "ports": lambda n: main(ports=[{"containerPort": 1000 + i, "name": f"p{i}"} for i in range(n)]),
    "volumes": lambda n: pod(volumes=[{"name": name, "emptyDir": {}} for name in names(n)]),
    "volumes that are mounted": lambda n: pod(
        volumes=[{"name": name, "emptyDir": {}} for name in names(n)],
        containers=[container(volumeMounts=[{"name": name, "mountPath": f"/{name}"} for name in names(n)])],
    ),
    "containers": lambda n: pod(containers=[container(name) for name in names(n)]),
    "init containers": lambda n: pod(initContainers=[container(name) for name in names(n)]),
    "containers and volumes": lambda n: pod(
        volumes=[{"name": name, "emptyDir": {}} for name in names(n)],
        containers=[container(name, volumeMounts=[{"name": name, "mountPath": "/x"}]) for name in names(n)],
    ),
    "devices": lambda n: pod(
        volumes=[{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names(n)],
        containers=[container(volumeDevices=[{"name": name, "devicePath": f"/dev/{name}"} for name in names(n)])],
    ),
    "devices and mounts": lambda n: pod(
        volumes=[{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names(2 * n)],
        containers=[
            container(
                volumeDevices=[{"name": name, "devicePath": f"/dev/{name}"} for name in names(n)],
                volumeMounts=[{"name": name, "mountPath": f"/{name}"} for name in names(2 * n)[n:]],
            )
        ],
    ),
    "claims of devices": lambda n: pod(
        resourceClaims=[{"name": name, "resourceClaimName": name} for name in names(n)],
        containers=[container(name, resources={"claims": [{"name": name}]}) for name in names(n)],
    ),
    "amounts": lambda n: main(resources={"limits": {f"example.org/r{i}": 1 for i in range(n)}}),
    "labels": lambda n: _with_metadata(labels=labels(n)),
    "annotations": lambda n: _with_metadata(annotations=labels(n)),
    "labels of nodes": lambda n: pod(nodeSelector=labels(n)),
    "tolerations": lambda n: pod(tolerations=[{"key": f"k{i}", "operator": "Exists"} for i in range(n)]),
    "hosts": lambda n: pod(
        hostAliases=[{"ip": f"10.0.{i // 256}.{i % 256}", "hostnames": [f"h{i}"]} for i in range(n)]
    ),
    "terms of affinity": lambda n: pod(affinity={"podAffinity": {REQUIRED: [term(i) for i in range(n)]}}),
    "spread constraints": lambda n: pod(
        topologySpreadConstraints=[term(i) | {"maxSkew": 1, "whenUnsatisfiable": "ScheduleAnyway"} for i in range(n)]
    ),
    "projections": lambda n: pod(
        volumes=[{"name": "v", "projected": {"sources": [{"configMap": {"name": name}} for name in names(n)]}}]
    ),
    "arguments": lambda n: main(args=names(n)),
    "secrets for images": lambda n: pod(imagePullSecrets=[{"name": name} for name in names(n)]),
    "groups": lambda n: pod(securityContext={"supplementalGroups": list(range(n))}),
    "sysctls": lambda n: pod(securityContext={"sysctls": [{"name": f"net.k{i}", "value": "1"} for i in range(n)]}),
    "gates": lambda n: pod(schedulingGates=[{"name": f"example.org/g{i}"} for i in range(n)]),
    # Lists of the job.
    "tasks": tasks,
    "tasks with svc": lambda n: tasks(n, {"svc": []}),
    "tasks with all plugins": lambda n: tasks(n, {"svc": [], "ssh": [], "env": [], "hcclrank": []}),
    "tasks with init containers and svc": lambda n: job(
        *(task(f"t{i}", initContainers=waiting(i)) for i in range(n)), plugins={"svc": []}
    ),
    "tasks of torch": lambda n: job(task("master"), *(task(f"t{i}") for i in range(n)), plugins={"pytorch": []}),
    "tasks of one name": lambda n: job(*(task("t") for _ in range(n))),
    "tasks that wait in a row": lambda n: job(
        *({**task(f"t{i}"), "dependsOn": {"name": [f"t{i + 1}"]}} for i in range(n)), task(f"t{n}")
    ),
    "tasks that wait for one": lambda n: job(
        task("first"), *({**task(f"t{i}"), "dependsOn": {"name": ["first"]}} for i in range(n))
    ),
    "tasks that wait in a circle": lambda n: job(
        *({**task(f"t{i}"), "dependsOn": {"name": [f"t{(i + 1) % n}"]}} for i in range(n))
    ),
    "a task that waits for all": lambda n: job(
        *(task(name) for name in names(n)), {**task("last"), "dependsOn": {"name": names(n)}}
    ),
    "tasks with the address of the next one": lambda n: job(
        *(
            task(f"t{i}", containers=[container(env=[{"name": "NEXT", "value": f"train-t{i + 1}-0.train:80"}])])
            for i in range(n)
        ),
        plugins={"svc": ["--inject-hosts-env=false"]},
    ),
    "Pods": lambda n: job(task(replicas=n)),
    "Pods with svc and ssh": lambda n: job(task(replicas=n), plugins={"svc": [], "ssh": []}),
    "Pods of mpi": lambda n: job(task("master"), task("worker", n), plugins={"mpi": []}),
    "masters of mpi": lambda n: job(task("master", n), task("worker", 1), plugins={"mpi": []}),
    "Pods of torch": lambda n: job(task("master"), task("worker", n), plugins={"pytorch": []}),
    "volumes of the job": lambda n: job(
        volumes=[{"mountPath": f"/v{i}", "volumeClaim": CLAIM} for i in range(n)],
    ),
    "claims of the job": lambda n: job(
        volumes=[{"mountPath": f"/v{i}", "volumeClaimName": f"v{i}"} for i in range(n)],
    ),
    "policies": lambda n: job(policies=[{"exitCode": i + 1, "action": "RestartJob"} for i in range(n)]),
    "events": lambda n: job(policies=[{"events": ["PodFailed"] * n, "action": "RestartJob"}]),
    "arguments of a plugin": lambda n: job(task("master"), task("worker"), plugins={"pytorch": ["--port=1234"] * n}),
    "labels of the job": lambda n: _of_job(labels=labels(n)),
    "sidecars with different amounts": lambda n: pod(
        initContainers=[
            container(name, restartPolicy="Always", resources={"limits": {f"example.org/{name}": 1}})
            for name in names(n)
        ]
    ),
    "amounts of the Pod and its containers": lambda n: pod(
        resources={"requests": {f"hugepages-{i}Mi": f"{i}Mi" for i in range(1, n + 1)}},
        containers=[container(name) for name in names(n)],
    ),
    "entries of the allow-list": lambda n: job(
        *(task(name, containers=[container(ports=[{"containerPort": 80, "name": name}])]) for name in names(n)),
        plugins={"svc": ["--inject-hosts-env=false"]},
    ),
    "tasks with longer and longer names": lambda n: job(
        *(task(f"a{'-a' * (i % 20)}-{i}") for i in range(n)), plugins={"svc": [], "ssh": []}
    ),
    "an init container that looks for all tasks": lambda n: job(
        task("first", initContainers=[container("wait", args=[f"train-t{i}-0.train" for i in range(n)])]),
        *(task(f"t{i}") for i in range(n)),
        plugins={"svc": ["--inject-hosts-env=false"]},
    ),
    "scripts": lambda n: job(
        *(task(f"t{i}", containers=[container(args=[f"echo {i}\n" + "a b c\n" * 30])]) for i in range(n))
    ),
    # Problems.
    "unknown fields": lambda n: pod(**{f"field{i}": 1 for i in range(n)}),
    "unknown fields of the job": lambda n: job(task(), **dict.fromkeys(names(n, "field"), 1)),
    "unknown plugins": lambda n: job(plugins={name: [] for name in names(n)}),
    "wrong types": lambda n: main(env=[{"name": f"A{i}", "value": i} for i in range(n)]),
    "wrong values": lambda n: pod(tolerations=[{"key": "k", "operator": f"x{i}"} for i in range(n)]),
    "wrong labels": lambda n: _with_metadata(labels={f"k {i}": "v" for i in range(n)}),
    "wrong tasks": lambda n: job(*({**task(f"t{i}"), "replicas": "many"} for i in range(n))),
    "tasks without containers": lambda n: job(*(task(f"t{i}", containers=[]) for i in range(n))),
    "unknown arguments": lambda n: job(task("master"), task("worker"), plugins={"pytorch": ["--nonsense=1"] * n}),
    "unknown tasks": lambda n: job(*({**task(f"t{i}"), "dependsOn": {"name": ["nobody"]}} for i in range(n))),
    "references that come too early": lambda n: main(
        env=[*({"name": f"A{i}", "value": f"$(B{i})"} for i in range(n)), *({"name": f"B{i}"} for i in range(n))]
    ),
    "conflicts": lambda n: job(
        *(task(f"t{i}", containers=[container(env=[{"name": "VC_TASK_INDEX", "value": "1"}])]) for i in range(n)),
        plugins={"env": []},
    ),
    "hosts of mpi in conflict": lambda n: pod(
        containers=[container(name, ports=[{"containerPort": 1}] * 2) for name in names(n)]
    ),
    # Text.
    "names of ports in the allow-list": lambda n: job(
        task(containers=[container(ports=[{"containerPort": i + 1, "name": f"p{i}"} for i in range(n)])])
    ),
    "a long name": lambda n: job(name="x" * (100 * n)),
    "a long key": lambda n: pod(nodeSelector={"x" * (100 * n): "y"}),
    "a key of many dots": lambda n: pod(nodeSelector={"a." * (50 * n) + "b": "y", "a." * (50 * n) + "b/c": "y"}),
    "a long key that is not a word": lambda n: pod(**{"x" * (50 * n) + "!": 1}) | {"a" * (50 * n) + "!": 1},
    "wrong keys of many dots": lambda n: pod(**{"a.[" * (50 * n): {"b": 1}}, nodeSelector={"." * (50 * n): 1}),
    "a long argument": lambda n: job(plugins={"svc": ["--x=" + "1_" * (50 * n)]}),
    "a long amount of digits": lambda n: main(resources={"limits": {"cpu": "1" * (100 * n)}}),
    "a long fraction": lambda n: main(resources={"limits": {"cpu": "0." + "1" * (100 * n)}}),
    "a long value": lambda n: main(env=[{"name": "A", "value": "x " * (100 * n)}]),
    "a long command": lambda n: main(command=["sh", "-c", "echo a b; " * (20 * n)]),
    "a long amount": lambda n: main(resources={"limits": {"cpu": "1" * (100 * n) + "x"}}),
    "a long reference": lambda n: main(env=[{"name": "A", "value": "$(" * (50 * n)}]),
    # YAML.
    "documents": lambda n: "".join(f"---\n{json.dumps(job(name=f'train{i}'))}\n" for i in range(n)),
    "documents that are not jobs": lambda n: "---\n{kind: Job}\n" * n,
    "items of a List": lambda n: json.dumps({"kind": "List", "items": [job(name=f"train{i}") for i in range(n)]}),
    "repeated keys": lambda n: "kind: Job\nmetadata: {name: train}\nspec:\n" + "  k: 1\n" * n,
    "aliases": lambda n: (
        "kind: Job\nmetadata: {name: train}\nspec:\n  x: &x {a: 1}\n  y: [" + ", ".join(["*x"] * n) + "]\n"
    ),
    "anchors": lambda n: (
        "kind: Job\nmetadata: {name: train}\nspec:\n" + "".join(f"  x{i}: &x{i} {{a: 1}}\n" for i in range(n))
    ),
    "merge keys": lambda n: (
        "kind: Job\nmetadata: {name: train}\nx: &x {a: 1}\nspec:\n" + "".join(f"  x{i}: {{<<: *x}}\n" for i in range(n))
    ),
    "lines of nothing": lambda n: "# nothing\n" * (50 * n) + json.dumps(job()),
    "braces": lambda n: f"kind: Job\nmetadata: {{name: '{'{{' * (50 * n)}'}}\nspec: {{}}\n",
    "spaces": lambda n: f"kind: Job\nmetadata: {{name: '{'{{' + ' ' * (100 * n)}'}}\nspec: {{}}\n",
}
WAYS: dict[str, tuple[str, ...]] = {
    "validate": ("validate",),
    "json": ("validate", "--format", "json"),
    "sarif": ("validate", "--format", "sarif"),
    "render": ("render",),
    "lenient": ("render", "--lenient", "--on-conflict", "plugin"),
    "native": ("render", "--managed-by", "volcano"),
    "recommended": ("render", "--defaults", "recommended"),
    "explain": ("explain",),
    "graph": ("graph",),
    "convert": ("convert",),
    "convert to YAML": ("convert", "--language", "yaml"),
}
LEAST = 3
"""The size of an input whose steps do not count: each command takes them."""
SIZE = 20
"""The size of an input, without the least one."""
# In these kinds the Pods themselves grow with the square, because svc lists each task in each Pod. The limit on the
# manifests of all Pods applies.
SQUARE = {"tasks with svc", "tasks with all plugins", "tasks with init containers and svc", "tasks of torch"}
SQUARE |= {"tasks with longer and longer names"}
MOST_OF_SQUARE = 2.07
"""The maximum growth for these kinds."""
# These kinds add tasks, Pods or containers, and each command processes them in its own way.
STRUCTURE = (
    "tasks",
    "Pods",
    "masters",
    "containers",
    "claims of devices",
    "devices and mounts",
    "documents",
    "scripts",
)
# These kinds have a problem, or a warning, for each entry.
FOUND = (
    "unknown",
    "wrong",
    "conflicts",
    "tasks of one name",
    "tasks that wait in a circle",
    "tasks without containers",
    "references that come too early",
    "documents that are not jobs",
    "repeated keys",
)
REPORTS = {"validate", "json", "sarif"}
COUNTED = [(kind, "json") for kind in KINDS] + [
    (kind, way)
    for kind in KINDS
    for way in WAYS
    if way != "json" and kind.startswith(FOUND if way in REPORTS else STRUCTURE)
    if not (kind in SQUARE and way in {"render", "lenient", "recommended", "explain"})
]


def _with_metadata(**metadata: Any) -> Wire:
    made = job()
    made["spec"]["tasks"][0]["template"]["metadata"] = metadata
    return made


def _of_job(**metadata: Any) -> Wire:
    made = job()
    made["metadata"] |= metadata
    return made


def counted(run: Callable[[], Any]) -> tuple[Any, int]:
    """Run a function, and return its result and the number of lines of Python that ran."""
    count = 0

    # It runs for each line. A closure is faster than a method.
    def trace(_frame: FrameType, _event: str, _argument: object) -> Any:
        nonlocal count
        count += 1
        return trace

    # The garbage collector would run finalizers of earlier tests, whose lines would count.
    gc.disable()
    sys.settrace(trace)
    try:
        return run(), count
    finally:
        sys.settrace(None)
        gc.enable()


def written(made: Wire | str, file: Path) -> Path:
    """Write a job file."""
    file.write_text(made if isinstance(made, str) else json.dumps(made))
    return file


def steps(make: Maker, n: int, way: str, folder: Path) -> tuple[int, int]:
    """Count the steps of a command for an input of size n, and the characters that it prints."""
    command, *options = WAYS[way]
    file = written(make(n), folder / "job.yaml")
    done, count = counted(lambda: run_command(command, str(file), *options))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exc_info
    return count, len(done.output)


@pytest.fixture(scope="module", autouse=True)
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import the modules of each command."""
    for way in WAYS:
        steps(KINDS["tasks with all plugins"], 2, way, tmp_path_factory.mktemp("warm"))


@pytest.mark.parametrize(("kind", "way"), COUNTED, ids=[f"{kind}-{way}" for kind, way in COUNTED])
def test_twice_the_input_takes_twice_the_steps(kind: str, way: str, tmp_path: Path) -> None:
    """The steps for a minimal input are subtracted. The output does not grow faster than the input."""
    command, *options = WAYS[way]
    # The first run imports modules. It is not counted, because that takes ten times as long.
    run_command(command, str(written(KINDS[kind](LEAST), tmp_path / "job.yaml")), *options)
    sizes = (LEAST, SIZE + LEAST, 2 * SIZE + LEAST)
    (nothing, _), (once, printed), (twice, more) = (steps(KINDS[kind], n, way, tmp_path) for n in sizes)

    most = MOST_OF_SQUARE if kind in SQUARE else MOST
    assert twice - nothing <= most * max(once - nothing, 0) + SLACK
    assert more <= 2.5 * printed + SLACK


@pytest.mark.parametrize("kind", ["tasks with svc", "tasks of torch", "Pods with svc and ssh", "masters of mpi"])
def test_twice_the_input_takes_twice_the_memory(kind: str) -> None:
    """The Pods of a job share equal values."""
    _peak(KINDS[kind](2))

    once, twice = (_peak(KINDS[kind](n)) for n in (50, 100))

    assert twice <= MOST * once + 300_000


def _peak(document: Wire | str) -> int:
    assert isinstance(document, dict)
    tracemalloc.start()
    try:
        render(document)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# A repeated class of characters, then at most one optional character, then another repeated class.
_IN_A_ROW = re.compile(r"(\[[^]]+\]|\\[dsw])[*+](?:\\?.\?)?(\[[^]]+\]|\\[dsw])[*+]")


def _in_a_row(pattern: str) -> list[tuple[str, str]]:
    # An optional group stays in parentheses, because the text after it can begin where the group does.
    found: list[tuple[str, str]] = _IN_A_ROW.findall(re.sub(r"(?<!\\)(\(|\)(?![?*+]))", "", pattern))
    return found


def _patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    # The policies need an extra, and cannot be imported without it.
    needs_policies = () if importlib.util.find_spec("pulumi_policy") else "pulumi_volcano_jobs.policy"
    for found in pkgutil.walk_packages(pulumi_volcano_jobs.__path__, "pulumi_volcano_jobs.", onerror=lambda _: None):
        if not found.name.endswith("__main__") and not found.name.startswith(needs_policies):
            module = importlib.import_module(found.name)
            kept = {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}
            yield from ((f"{found.name}.{name}", value) for name, value in kept.items())


@pytest.mark.parametrize("pattern", [pytest.param(value, id=name) for name, value in _patterns()])
def test_no_expression_repeats_the_same_characters_twice_in_a_row(pattern: re.Pattern[str]) -> None:
    """It would backtrack over each way to split a long text between the two."""
    for first, second in _in_a_row(pattern.pattern):
        both = [sign for sign in map(chr, range(128)) if re.match(first, sign) and re.match(second, sign)]
        assert both == [], pattern.pattern


def test_the_rule_finds_an_expression_that_backtracks() -> None:
    """An earlier expression for quantities was of this form."""
    assert _in_a_row(r"([0-9]*)\.?([0-9]*)") == [("[0-9]", "[0-9]")]


LONG_AMOUNTS = {
    "1" * 50_000: "1" * 2000,
    "0" * 50_000 + "1": "1",
    "0." + "0" * 50_000 + "1": "1n",
    "1." + "0" * 50_000: "1",
    "1e" + "9" * 1000: "10e999",
    "1e-" + "9" * 1000: "1e-9",
}


@pytest.mark.parametrize(("text", "amount"), LONG_AMOUNTS.items(), ids=range(len(LONG_AMOUNTS)))
def test_a_quantity_of_many_digits_is_read(text: str, amount: str) -> None:
    """Further digits and larger exponents are dropped. An amount below 10^-9 is rounded up, as in Kubernetes."""
    assert str(quantity.parse(text)) == amount
