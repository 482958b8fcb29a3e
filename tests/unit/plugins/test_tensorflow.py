"""Options of the tensorflow plugin: the place of the evaluator, and the roles that a strategy needs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, TensorflowPlugin, render
from pulumi_volcano_jobs.plugins.tensorflow import MIRRORED, PARAMETER_SERVER
from tests.conftest import Wire, job, problems, task, typed

PLACE = "spec.plugins.tensorflow"


def cluster(plugin: TensorflowPlugin, **replicas: int) -> Wire:
    """Build a job by the replicas of its tasks."""
    return job(*(task(name, count) for name, count in replicas.items()), plugins=[plugin])


def training(plugin: TensorflowPlugin, *, evaluators: int = 1) -> Wire:
    """Build a job that trains and evaluates."""
    return cluster(plugin, chief=1, ps=1, worker=2, evaluator=evaluators)


def seen(document: Wire, **choices: Any) -> dict[str, tuple[list[str], Wire]]:
    """Return the roles in the cluster of the first Pod of each task, and its own role."""
    found = {}
    for name, pod in render(document, **choices).first_pods.items():
        (entry,) = (item for item in pod["spec"]["containers"][0]["env"] if item["name"] == "TF_CONFIG")
        config = json.loads(entry["value"])
        found[name] = (list(config["cluster"]), config["task"])
    return found


TRAINS = ["ps", "worker", "chief"]
ALL = [*TRAINS, "evaluator"]
PLACED: dict[str, tuple[Wire, list[str], list[str]]] = {
    "Volcano's default": ({}, ALL, ALL),
    "all": ({"evaluator_in_cluster": "all"}, ALL, ALL),
    "own": ({"evaluator_in_cluster": "own"}, TRAINS, ALL),
    "none": ({"evaluator_in_cluster": "none"}, TRAINS, TRAINS),
    "no role of this name": ({"evaluator": ""}, TRAINS, TRAINS),
}


@pytest.mark.parametrize(("settings", "of_training", "of_evaluator"), PLACED.values(), ids=PLACED)
def test_the_evaluator_is_in_the_chosen_cluster(
    settings: Wire, of_training: list[str], of_evaluator: list[str]
) -> None:
    """Its role is evaluator in each case."""
    made = seen(training(TensorflowPlugin(**settings)))

    assert {name: roles for name, (roles, _) in made.items()} == {
        **dict.fromkeys(("chief", "ps", "worker"), of_training),
        "evaluator": of_evaluator,
    }
    assert made["evaluator"][1] == {"type": "evaluator", "index": 0}


def test_an_evaluator_can_have_another_task_name() -> None:
    """The setting decides the role, and not the name."""
    plugin = TensorflowPlugin(evaluator="judge", evaluator_in_cluster="own")
    made = seen(cluster(plugin, worker=2, judge=1))

    assert made == {
        "worker": (["worker"], {"type": "worker", "index": 0}),
        "judge": (["worker", "evaluator"], {"type": "evaluator", "index": 0}),
    }


def test_the_recommended_evaluator_is_alone_in_its_cluster() -> None:
    """No other Pod waits for it."""
    assert seen(training(TensorflowPlugin()), defaults="recommended") == seen(
        training(TensorflowPlugin(evaluator_in_cluster="own"))
    )
    given = TensorflowPlugin(evaluator_in_cluster="all")
    assert seen(training(given), defaults="recommended") == seen(training(TensorflowPlugin()))


def test_the_output_is_the_cluster_without_the_evaluator() -> None:
    """A program can use it."""
    plugin = TensorflowPlugin(evaluator_in_cluster="own")
    cluster = plugin.outputs(JobContext(render(training(plugin)).job))["cluster"].value

    assert list(cluster) == TRAINS
    assert cluster["chief"] == ["train-chief-0.train:2222"]


def test_the_place_of_the_evaluator_is_rejected_in_native_mode(snapshot: SnapshotAssertion) -> None:
    """Volcano's plugin writes TF_CONFIG. The recommended set omits the option."""
    document = training(TensorflowPlugin(evaluator_in_cluster="none"))

    found = problems(document, managed_by="volcano")

    assert typed(found) == [(f"{PLACE}.evaluator_in_cluster", "Forbidden")]
    assert str(found[0]) == snapshot
    made = render(training(TensorflowPlugin()), managed_by="volcano", defaults="recommended")
    assert TensorflowPlugin() in made.plugins


@pytest.mark.parametrize("strategy", ["any", PARAMETER_SERVER])
@pytest.mark.parametrize("defaults", ["volcano", "recommended"])
def test_the_fix_for_an_evaluator_in_native_mode_works(strategy: Any, defaults: Any) -> None:
    """Both errors about the evaluator have this fix. Volcano's plugin then writes the same TF_CONFIG."""
    settings = TensorflowPlugin(strategy=strategy, evaluator="")
    fix = 'set tensorflow.evaluator to "" instead, and name its task "evaluator"'
    wrong = [
        training(TensorflowPlugin(strategy=PARAMETER_SERVER)),
        training(TensorflowPlugin(strategy=strategy, evaluator_in_cluster="own")),
    ]

    made = render(training(settings), managed_by="volcano", defaults=defaults)

    for document in wrong:
        (found,) = problems(document, managed_by="volcano", defaults=defaults)
        assert fix in found.hint
    assert made.native_job.to_manifest()["spec"]["plugins"]["tensorflow"] == ["--evaluator="]
    assert seen(training(settings)) == seen(training(TensorflowPlugin(evaluator_in_cluster="none")))
    assert seen(job(*training(settings)["spec"]["tasks"], plugins={"tensorflow": ["--evaluator="]})) == seen(
        training(settings)
    )


@pytest.mark.parametrize("place", ["all", "own", "none"])
def test_scaling_changes_only_tf_config(place: str) -> None:
    """Volcano also changes TF_CONFIG."""
    plugin = TensorflowPlugin(evaluator_in_cluster=place)
    made = [render(cluster(plugin, worker=count, evaluator=1)) for count in (2, 5)]

    assert plugin.on_job_update(JobContext(made[0].job)).scaled_env == {"TF_CONFIG"}
    for rendered in made:
        for pod in rendered.first_pods.values():
            (main,) = pod["spec"]["containers"]
            main["env"] = [entry for entry in main["env"] if entry["name"] != "TF_CONFIG"]
    assert [pod["spec"] for pod in made[0].first_pods.values()] == [pod["spec"] for pod in made[1].first_pods.values()]


FITS: dict[str, tuple[Wire, Wire]] = {
    "mirrored, with a chief": ({"strategy": MIRRORED}, {"chief": 1, "worker": 2, "evaluator": 1}),
    "mirrored, worker 0 is the chief": ({"strategy": MIRRORED}, {"worker": 2}),
    "mirrored, with parameter servers that are none": ({"strategy": MIRRORED}, {"worker": 2, "ps": 0}),
    "mirrored, only evaluators": (
        {"strategy": MIRRORED, "evaluator_in_cluster": "none"},
        {"worker": 2, "evaluator": 2},
    ),
    "parameter servers": ({"strategy": PARAMETER_SERVER}, {"chief": 1, "worker": 2, "ps": 2}),
    "parameter servers and an evaluator": (
        {"strategy": PARAMETER_SERVER, "evaluator_in_cluster": "own"},
        {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1},
    ),
    "any": ({}, {"ps": 1, "evaluator": 2}),
}


@pytest.mark.parametrize(("settings", "replicas"), FITS.values(), ids=FITS)
def test_a_strategy_does_not_change_pods(settings: Wire, replicas: Wire) -> None:
    """It only adds checks."""
    settings = {"evaluator_in_cluster": "all", **settings}
    others = {name: value for name, value in settings.items() if name != "strategy"}

    assert seen(cluster(TensorflowPlugin(**settings), **replicas)) == seen(
        cluster(TensorflowPlugin(**others), **replicas)
    )


WRONG: dict[str, tuple[Wire, Wire, list[tuple[str, str]]]] = {
    "parameter servers without a chief": (
        {"strategy": PARAMETER_SERVER},
        {"worker": 2, "ps": 1},
        [(f"{PLACE}.strategy", "Required")],
    ),
    "parameter servers with two chiefs": (
        {"strategy": PARAMETER_SERVER, "chief": "boss"},
        {"boss": 2, "worker": 2, "ps": 1},
        [(f"{PLACE}.strategy", "Required")],
    ),
    "no parameter servers, no workers": (
        {"strategy": PARAMETER_SERVER},
        {"chief": 1, "worker": 0},
        [(f"{PLACE}.strategy", "Required"), (f"{PLACE}.strategy", "Required")],
    ),
    "parameter servers and an evaluator in the cluster": (
        {"strategy": PARAMETER_SERVER},
        {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1},
        [(f"{PLACE}.evaluator_in_cluster", "Invalid")],
    ),
    "two evaluators": (
        {"strategy": PARAMETER_SERVER, "evaluator_in_cluster": "own"},
        {"chief": 1, "worker": 2, "ps": 2, "evaluator": 2},
        [(f"{PLACE}.evaluator", "TooMany")],
    ),
    "mirrored, no worker": ({"strategy": MIRRORED}, {"evaluator": 1}, [(f"{PLACE}.strategy", "Required")]),
    "mirrored, two chiefs and a parameter server": (
        {"strategy": MIRRORED},
        {"chief": 2, "ps": 1},
        [(f"{PLACE}.strategy", "TooMany"), (f"{PLACE}.strategy", "Forbidden")],
    ),
    "a strategy that there is not": (
        {"strategy": "MirroredStrategy"},
        {"worker": 2},
        [(f"{PLACE}.strategy", "NotSupported")],
    ),
    "a place that there is not": (
        {"evaluator_in_cluster": "no"},
        {"worker": 2},
        [(f"{PLACE}.evaluator_in_cluster", "NotSupported")],
    ),
}


@pytest.mark.parametrize(("settings", "replicas", "expected"), WRONG.values(), ids=WRONG)
def test_tasks_that_do_not_fit_the_strategy_are_rejected(
    settings: Wire, replicas: Wire, expected: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    """Otherwise the Pods would wait in the cluster, or fail."""
    found = problems(lambda: cluster(TensorflowPlugin(**settings), **replicas))

    assert typed(found) == expected
    assert list(map(str, found)) == snapshot


def test_a_strategy_is_checked_in_native_mode_also() -> None:
    """The option changes no Pod, so both modes support it."""
    document = cluster(TensorflowPlugin(strategy=PARAMETER_SERVER), worker=2, ps=1, chief=1)

    assert render(document, managed_by="volcano").native_job.task("ps")
    without_chief = cluster(TensorflowPlugin(strategy=PARAMETER_SERVER), worker=2, ps=1)
    assert problems(without_chief, managed_by="volcano") == problems(without_chief)
    assert typed(problems(without_chief)) == [(f"{PLACE}.strategy", "Required")]
