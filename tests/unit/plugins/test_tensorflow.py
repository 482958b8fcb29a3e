"""The tensorflow plugin's options: where the evaluator stands, and the roles that a strategy needs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pulumi_volcano_jobs import JobContext, TensorflowPlugin, render
from pulumi_volcano_jobs.plugins.tensorflow import MIRRORED, PARAMETER_SERVER
from tests.conftest import Wire, job, problems, refused, task

PLACE = "spec.plugins.tensorflow"


def cluster(plugin: TensorflowPlugin, **replicas: int) -> Wire:
    """Give a job by the replicas of its tasks."""
    return job(*(task(name, count) for name, count in replicas.items()), plugins=[plugin])


def training(plugin: TensorflowPlugin, *, evaluators: int = 1) -> Wire:
    """Give a job that trains and evaluates."""
    return cluster(plugin, chief=1, ps=1, worker=2, evaluator=evaluators)


def seen(document: Wire, **choices: Any) -> dict[str, tuple[list[str], Wire]]:
    """Give the roles in the cluster that the first Pod of each task sees, and what it is itself."""
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
}


@pytest.mark.parametrize(("settings", "of_training", "of_evaluator"), PLACED.values(), ids=PLACED)
def test_the_evaluator_is_where_it_is_asked_for(
    settings: Wire, of_training: list[str], of_evaluator: list[str]
) -> None:
    """It is an evaluator all the same."""
    made = seen(training(TensorflowPlugin(**settings)))

    assert {name: roles for name, (roles, _) in made.items()} == {
        **dict.fromkeys(("chief", "ps", "worker"), of_training),
        "evaluator": of_evaluator,
    }
    assert made["evaluator"][1] == {"type": "evaluator", "index": 0}


def test_an_evaluator_of_another_name_is_one() -> None:
    """Roles count, not names."""
    plugin = TensorflowPlugin(evaluator="judge", evaluator_in_cluster="own")
    made = seen(cluster(plugin, worker=2, judge=1))

    assert made == {
        "worker": (["worker"], {"type": "worker", "index": 0}),
        "judge": (["worker", "evaluator"], {"type": "evaluator", "index": 0}),
    }


def test_the_recommended_evaluator_sees_itself_only() -> None:
    """So that nobody who trains waits for it, and its own checks find it."""
    assert seen(training(TensorflowPlugin()), defaults="recommended") == seen(
        training(TensorflowPlugin(evaluator_in_cluster="own"))
    )
    given = TensorflowPlugin(evaluator_in_cluster="all")
    assert seen(training(given), defaults="recommended") == seen(training(TensorflowPlugin()))


def test_the_output_is_the_cluster_of_those_that_train() -> None:
    """A program may want to know it."""
    plugin = TensorflowPlugin(evaluator_in_cluster="own")
    made = plugin.outputs(JobContext(render(training(plugin)).job))

    assert list(made["cluster"]) == TRAINS
    assert made["cluster"]["chief"] == ["train-chief-0.train:2222"]


def test_volcano_writes_its_own_configuration() -> None:
    """The message says so; the recommended set leaves it out."""
    document = training(TensorflowPlugin(evaluator_in_cluster="none"))

    assert str(refused(document, managed_by="volcano")) == (
        'spec.plugins.tensorflow.evaluator_in_cluster: with managed_by="volcano" this cannot be had: Volcano\'s plugin'
        " writes TF_CONFIG (given: 'none'): remove it, or use managed_by=\"pulumi\""
    )
    made = render(training(TensorflowPlugin()), managed_by="volcano", defaults="recommended")
    assert TensorflowPlugin() in made.plugins


@pytest.mark.parametrize("place", ["all", "own", "none"])
def test_scaling_changes_tf_config_and_nothing_else(place: str) -> None:
    """As it does in Volcano."""
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
    "mirrored, evaluators of their own": (
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
def test_a_strategy_changes_nothing_in_pods(settings: Wire, replicas: Wire) -> None:
    """It only checks."""
    settings = {"evaluator_in_cluster": "all", **settings}
    others = {name: value for name, value in settings.items() if name != "strategy"}

    assert seen(cluster(TensorflowPlugin(**settings), **replicas)) == seen(
        cluster(TensorflowPlugin(**others), **replicas)
    )


WRONG: dict[str, tuple[Wire, Wire, list[str]]] = {
    "parameter servers without a chief": (
        {"strategy": PARAMETER_SERVER},
        {"worker": 2, "ps": 1},
        [
            (
                f"{PLACE}.strategy: this strategy needs one chief, which coordinates the others, and the job has none"
                " (given: 'ParameterServerStrategy'): give the job a task chief of 1 replica"
            )
        ],
    ),
    "parameter servers with two chiefs": (
        {"strategy": PARAMETER_SERVER, "chief": "boss"},
        {"boss": 2, "worker": 2, "ps": 1},
        [
            (
                f"{PLACE}.strategy: this strategy needs one chief, which coordinates the others, and the job has 2"
                " (given: 'ParameterServerStrategy'): give the job a task boss of 1 replica"
            )
        ],
    ),
    "no parameter servers, no workers": (
        {"strategy": PARAMETER_SERVER},
        {"chief": 1, "worker": 0},
        [
            (
                f"{PLACE}.strategy: this strategy needs a ps at least, and the job has none"
                " (given: 'ParameterServerStrategy'): give the job a task ps"
            ),
            (
                f"{PLACE}.strategy: this strategy needs a worker at least, and the job has none"
                " (given: 'ParameterServerStrategy'): give the job a task worker"
            ),
        ],
    ),
    "parameter servers and an evaluator in the cluster": (
        {"strategy": PARAMETER_SERVER},
        {"chief": 1, "worker": 2, "ps": 2, "evaluator": 1},
        [
            (
                f"{PLACE}.evaluator_in_cluster: ParameterServerStrategy's chief connects to all members of the cluster,"
                " and waits for ever for the evaluator, which serves nobody (tensorflow 46169) (given: 'all'): say own,"
                " or let the chief evaluate"
            )
        ],
    ),
    "two evaluators": (
        {"strategy": PARAMETER_SERVER, "evaluator_in_cluster": "own"},
        {"chief": 1, "worker": 2, "ps": 2, "evaluator": 2},
        [f"{PLACE}.evaluator: TensorFlow takes one evaluator, and the job has 2 (given: 'evaluator')"],
    ),
    "mirrored, nobody trains": (
        {"strategy": MIRRORED},
        {"evaluator": 1},
        [
            (
                f"{PLACE}.strategy: this strategy needs a worker at least, and the job has none"
                " (given: 'MultiWorkerMirroredStrategy')"
            )
        ],
    ),
    "mirrored, two chiefs and a parameter server": (
        {"strategy": MIRRORED},
        {"chief": 2, "ps": 1},
        [
            (
                f"{PLACE}.strategy: this strategy knows no parameter servers: those of the task ps would end with an"
                " error (given: 'MultiWorkerMirroredStrategy'): remove the task"
            ),
            (
                f"{PLACE}.strategy: this strategy takes one chief at most (without one, worker 0 is it), and the job"
                " has 2 (given: 'MultiWorkerMirroredStrategy'): count the others as workers"
            ),
        ],
    ),
    "a strategy that there is not": (
        {"strategy": "MirroredStrategy"},
        {"worker": 2},
        [
            (
                f"{PLACE}.strategy: this must be one of any, MultiWorkerMirroredStrategy, ParameterServerStrategy"
                " (given: 'MirroredStrategy')"
            )
        ],
    ),
    "a place that there is not": (
        {"evaluator_in_cluster": "no"},
        {"worker": 2},
        [f"{PLACE}.evaluator_in_cluster: this must be one of all, own, none (given: 'no')"],
    ),
}


@pytest.mark.parametrize(("settings", "replicas", "messages"), WRONG.values(), ids=WRONG)
def test_what_the_strategy_would_end_for_is_told_in_full(settings: Wire, replicas: Wire, messages: list[str]) -> None:
    """Before anything waits in the cluster."""
    assert sorted(map(str, problems(cluster(TensorflowPlugin(**settings), **replicas)))) == messages


def test_a_strategy_is_checked_for_volcano_too() -> None:
    """It changes no Pod, so it can be had in both modes."""
    document = cluster(TensorflowPlugin(strategy=PARAMETER_SERVER), worker=2, ps=1, chief=1)

    assert render(document, managed_by="volcano").handed_over.task("ps")
    error = refused(cluster(TensorflowPlugin(strategy=PARAMETER_SERVER), worker=2, ps=1), managed_by="volcano")
    assert str(error).startswith(f"{PLACE}.strategy: this strategy needs one chief")
