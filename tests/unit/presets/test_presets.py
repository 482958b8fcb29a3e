"""Presets for Pod templates: the fields that each adds, and the conflicts with a template."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, Problem, load_jobs, presets, render
from pulumi_volcano_jobs.presets import Preset
from tests.conftest import Wire, container, job, typed
from tests.readme import ROOT


class Output:
    """An Output of Pulumi, whose value must not be read."""

    def apply(self, func: Callable[[Any], Any]) -> Any:
        """Exist, as an Output does."""
        raise AssertionError(func)

    def __bool__(self) -> bool:
        """Raise an error, which Pulumi's Output does not do, so that the test notices it."""
        message = "an Output was looked into"
        raise AssertionError(message)


def template(*containers: Wire, **spec: Any) -> Wire:
    """Build a template. Without containers it has one."""
    return {"spec": {"restartPolicy": "Never", "containers": list(containers) or [container()], **spec}}


def main(made: Mapping[str, Any]) -> Wire:
    """Return the fields that a preset adds to the only container."""
    (only,) = made["spec"]["containers"]
    return {key: value for key, value in only.items() if key not in container()}


def rejected(given: Any, *chosen: Preset) -> list[Problem]:
    """Return the problems of presets that cannot be applied to a template."""
    with pytest.raises(JobError) as caught:
        presets.apply(given, *chosen)
    return list(caught.value.problems)


OF_CONTAINERS: dict[str, tuple[Preset, Wire]] = {
    "nccl": (
        presets.nccl(interface="=eth0", debug="WARN", variables={"NCCL_IB_HCA": "mlx5"}),
        {
            "env": [
                {"name": "NCCL_SOCKET_IFNAME", "value": "=eth0"},
                {"name": "NCCL_DEBUG", "value": "WARN"},
                {"name": "NCCL_IB_HCA", "value": "mlx5"},
            ]
        },
    ),
    "rdma": (
        presets.rdma("rdma/hca_shared_devices_a", 2),
        {
            "resources": {
                "limits": {"rdma/hca_shared_devices_a": "2"},
                "requests": {"rdma/hca_shared_devices_a": "2"},
            },
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
        },
    ),
    "efa": (
        presets.efa(4, huge_pages="5120Mi"),
        {
            "resources": {
                "limits": {"vpc.amazonaws.com/efa": "4", "hugepages-2Mi": "5120Mi"},
                "requests": {"vpc.amazonaws.com/efa": "4", "hugepages-2Mi": "5120Mi"},
            },
            "env": [{"name": "FI_PROVIDER", "value": "efa"}],
        },
    ),
    "efa without huge pages": (
        presets.efa(),
        {
            "resources": {"limits": {"vpc.amazonaws.com/efa": "1"}, "requests": {"vpc.amazonaws.com/efa": "1"}},
            "env": [{"name": "FI_PROVIDER", "value": "efa"}],
        },
    ),
}
SELECTOR = {"matchLabels": {"volcano.sh/job-name": "train"}}
OF_PODS: dict[str, tuple[Preset, Wire]] = {
    "GPUs' taint": (
        presets.gpu_tolerations(),
        {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]},
    ),
    "other taints": (
        presets.gpu_tolerations("amd.com/gpu", "sku"),
        {
            "tolerations": [
                {"key": "amd.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "sku", "operator": "Exists", "effect": "NoSchedule"},
            ]
        },
    ),
    "spread": (
        presets.topology_spread("train", "topology.kubernetes.io/zone", when_unsatisfiable="DoNotSchedule"),
        {
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "DoNotSchedule",
                    "labelSelector": SELECTOR,
                }
            ]
        },
    ),
    "together if possible": (
        presets.pod_affinity("train", "example.org/rack"),
        {
            "affinity": {
                "podAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 100,
                            "podAffinityTerm": {"labelSelector": SELECTOR, "topologyKey": "example.org/rack"},
                        }
                    ]
                }
            }
        },
    ),
    "together in any case": (
        presets.pod_affinity("train", "example.org/rack", required=True),
        {
            "affinity": {
                "podAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [
                        {"labelSelector": SELECTOR, "topologyKey": "example.org/rack"}
                    ]
                }
            }
        },
    ),
}
OTHERS = {"shm": presets.shm("8Gi"), "istio": presets.no_istio_sidecar()}
ALL = {name: preset for name, (preset, _) in (OF_CONTAINERS | OF_PODS).items()} | OTHERS


@pytest.mark.parametrize(("preset", "added"), OF_CONTAINERS.values(), ids=OF_CONTAINERS)
def test_a_preset_adds_fields_to_the_container(preset: Preset, added: Wire) -> None:
    """The template has one container."""
    assert main(preset(template())) == added


@pytest.mark.parametrize(("preset", "added"), OF_PODS.values(), ids=OF_PODS)
def test_a_preset_adds_fields_to_the_pod(preset: Preset, added: Wire) -> None:
    """Existing fields stay."""
    assert preset(template()) == template(**added)


def test_shared_memory_is_a_volume_and_a_mount() -> None:
    """At /dev/shm."""
    made = presets.shm("8Gi")(template())

    assert made["spec"]["volumes"] == [{"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}]
    assert main(made) == {"volumeMounts": [{"mountPath": "/dev/shm", "name": "shm"}]}


def test_istio_has_a_label() -> None:
    """Existing labels stay."""
    made = presets.no_istio_sidecar()({**template(), "metadata": {"labels": {"app": "a"}}})

    assert made["metadata"]["labels"] == {"app": "a", "sidecar.istio.io/inject": "false"}


@pytest.mark.parametrize("preset", ALL.values(), ids=ALL)
class TestEach:
    """Properties of every preset."""

    def test_a_preset_does_not_change_its_input(self, preset: Preset) -> None:
        """At any depth."""
        given = template(container(env=[{"name": "A", "value": "a"}], resources={"limits": {"cpu": "1"}}))
        before = copy.deepcopy(given)
        preset(given)

        assert given == before

    def test_a_preset_applied_twice_adds_its_fields_once(self, preset: Preset) -> None:
        """The second time changes nothing."""
        once = preset(template())

        assert preset(once) == once

    def test_results_of_a_preset_share_no_objects(self, preset: Preset) -> None:
        """A change of one result does not change the next."""
        first = preset(template())
        expected = copy.deepcopy(first)
        _spoil(first)

        assert preset(template()) == expected

    def test_kubernetes_accepts_the_result(self, preset: Preset) -> None:
        """All fields and values are valid."""
        made = presets.apply(template(container(resources={"limits": {"memory": "16Gi"}})), preset)

        assert render(job({"name": "worker", "replicas": 1, "template": made})).pods

    def test_outputs_are_kept(self, preset: Preset) -> None:
        """Their values are not read."""
        output = Output()
        made = preset(template(container(image=output, env=[{"name": output, "value": output}]), nodeName=output))

        (only,) = made["spec"]["containers"]
        assert (only["image"], made["spec"]["nodeName"]) == (output, output)
        assert only["env"][0] == {"name": output, "value": output}

    def test_a_null_is_a_missing_field(self, preset: Preset) -> None:
        """YAML has nulls where lines are commented out."""
        nothing = dict.fromkeys(("env", "resources", "securityContext", "volumeMounts"))
        spec = dict.fromkeys(("volumes", "tolerations", "affinity", "topologySpreadConstraints"))
        given = {**template(container(**nothing), **spec), "metadata": None}

        assert _dense(preset(given)) == preset(template())

    def test_other_types_of_templates_are_rejected(self, preset: Preset) -> None:
        """A template is a mapping."""
        assert typed(rejected("a template", preset)) == [("template", "TypeInvalid")]

    def test_fields_in_snake_case_are_rejected(self, preset: Preset) -> None:
        """The preset would add the field in camelCase, and one of the two would be lost."""
        given = template(container(volume_mounts=[]), restart_policy="Never")

        found = rejected(given, preset)

        assert ("template.spec.restart_policy", "Forbidden") in typed(found)
        assert all("volumeMounts" in problem.hint for problem in found)


def test_wrong_templates_have_the_same_message_for_each_preset(snapshot: SnapshotAssertion) -> None:
    """Presets do not differ in the templates that they accept."""
    (snake_case,) = {
        str(problem) for preset in ALL.values() for problem in rejected(template(restart_policy="Never"), preset)
    }
    (text,) = {str(problem) for preset in ALL.values() for problem in rejected("a template", preset)}

    assert [text, snake_case] == snapshot


def test_the_topology_of_docs_presets_md_is_passed_to_the_scheduler() -> None:
    """Its job has no problems and no warnings."""
    page = (ROOT / "docs" / "presets.md").read_text("utf-8")
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (document,) = load_jobs(text)
    made = render(document)
    (group,) = (item for item in made.objects if item["kind"] == "PodGroup")

    assert made.warnings == ()
    assert group["spec"]["networkTopology"] == {"mode": "hard", "highestTierAllowed": 2}
    (policy,) = group["spec"]["subGroupPolicy"]
    assert policy["networkTopology"] == {"mode": "hard", "highestTierAllowed": 1}
    assert [pod["metadata"]["labels"]["volcano.sh/partition-id"] for pod in made.pods] == ["0"] * 4 + ["1"] * 4


def _spoil(tree: Any) -> None:
    for value in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        _spoil(value)
    if isinstance(tree, (dict, list)):
        tree.clear()


def _dense(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _dense(value) for key, value in tree.items() if value is not None}
    return [_dense(item) for item in tree] if isinstance(tree, list) else tree


def test_presets_compose() -> None:
    """Functions of the user also work."""

    def named(given: Mapping[str, Any]) -> Wire:
        return {**given, "metadata": {"labels": {"team": "ml"}}}

    made = presets.apply(template(), presets.shm("1Gi"), presets.efa(), named, presets.no_istio_sidecar())

    assert made == presets.no_istio_sidecar()(named(presets.efa()(presets.shm("1Gi")(template()))))
    assert set(main(made)) == {"volumeMounts", "resources", "env"}


def test_without_presets_a_template_is_copied() -> None:
    """Tuples become lists, and other mappings become dicts."""
    given = {"spec": {"containers": ({"name": "main"},)}}

    assert presets.apply(given) == {"spec": {"containers": [{"name": "main"}]}}


def test_an_output_can_be_a_size_or_the_value_of_a_variable() -> None:
    """No decision depends on these values."""
    output = Output()
    made = presets.apply(template(), presets.shm(output), presets.nccl(variables={"NCCL_IB_HCA": output}))

    assert made["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] is output
    assert main(made)["env"] == [{"name": "NCCL_IB_HCA", "value": output}]


def test_existing_fields_stay() -> None:
    """A number equals the same quantity; capabilities are added."""
    own = container(
        resources={"limits": {"rdma/hca": 1, "cpu": "4"}},
        securityContext={"runAsUser": 0, "capabilities": {"add": ["SYS_PTRACE"], "drop": ["ALL"]}},
    )

    assert main(presets.rdma("rdma/hca")(template(own))) == {
        "resources": {"limits": {"rdma/hca": 1, "cpu": "4"}, "requests": {"rdma/hca": "1"}},
        "securityContext": {"runAsUser": 0, "capabilities": {"add": ["SYS_PTRACE", "IPC_LOCK"], "drop": ["ALL"]}},
    }


def test_the_container_is_named_if_there_are_several() -> None:
    """The other container does not change."""
    given = template(container("main"), container("log"))
    (first, second) = presets.shm("1Gi", container="main")(given)["spec"]["containers"]

    assert first["volumeMounts"] == [{"mountPath": "/dev/shm", "name": "shm"}]
    assert second == container("log")


CLASHES: dict[str, tuple[Wire, Preset, str, str]] = {
    "a variable": (
        template(container(env=[{"name": "A", "value": "a"}, {"name": "NCCL_DEBUG", "value": "INFO"}])),
        presets.nccl(debug="WARN"),
        "template.spec.containers[0].env[1]",
        "Duplicate",
    ),
    "a variable that is an Output": (
        template(container(env=[{"name": "FI_PROVIDER", "value": Output()}])),
        presets.efa(),
        "template.spec.containers[0].env[0]",
        "Duplicate",
    ),
    "a mount": (
        template(container(volumeMounts=[{"name": "dshm", "mountPath": "/dev/shm"}])),
        presets.shm("8Gi"),
        "template.spec.containers[0].volumeMounts[0]",
        "Duplicate",
    ),
    "a volume": (
        template(volumes=[{"name": "shm", "emptyDir": {}}]),
        presets.shm("8Gi"),
        "template.spec.volumes[0]",
        "Duplicate",
    ),
    "a resource": (
        template(container(resources={"limits": {"vpc.amazonaws.com/efa": 4}})),
        presets.efa(),
        "template.spec.containers[0].resources.limits.vpc.amazonaws.com/efa",
        "Duplicate",
    ),
    "a label": (
        {**template(), "metadata": {"labels": {"sidecar.istio.io/inject": "true"}}},
        presets.no_istio_sidecar(),
        "template.metadata.labels.sidecar.istio.io/inject",
        "Duplicate",
    ),
    "a constraint": (
        presets.topology_spread("train", "zone", max_skew=2)(template()),
        presets.topology_spread("train", "zone"),
        "template.spec.topologySpreadConstraints[0]",
        "Duplicate",
    ),
}


@pytest.mark.parametrize(("given", "preset", "path", "error_type"), CLASHES.values(), ids=CLASHES)
def test_a_preset_overrides_nothing(
    given: Wire, preset: Preset, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The message names the preset, and never has the value, which can be a secret."""
    found = rejected(given, preset)

    assert typed(found) == [(path, error_type)]
    assert str(found[0]) == snapshot


SHAPES: dict[str, tuple[Wire, str, str]] = {
    "no containers": ({"spec": {}}, "template.spec.containers", "Required"),
    "several": (template(container("main"), container("log")), "template.spec.containers", "Required"),
    "an Output for a list": (
        template(container(volumeMounts=Output())),
        "template.spec.containers[0].volumeMounts",
        "TypeInvalid",
    ),
    "an Output for the Pod": ({"spec": Output()}, "template.spec", "TypeInvalid"),
    "an Output for a container": (
        template(Output()),  # type: ignore[arg-type]  # that is the mistake
        "template.spec.containers[0]",
        "TypeInvalid",
    ),
}


@pytest.mark.parametrize(("given", "path", "error_type"), SHAPES.values(), ids=SHAPES)
def test_a_template_without_a_place_for_the_preset_is_rejected(
    given: Wire, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The template has one problem."""
    found = rejected(given, presets.shm("8Gi"))

    assert typed(found) == [(path, error_type)]
    assert str(found[0]) == snapshot


def test_a_missing_container_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The message lists the containers of the template."""
    found = rejected(template(container("main"), container("log")), presets.shm("8Gi", container="mian"))

    assert typed(found) == [("template.spec.containers", "NotFound")]
    assert str(found[0]) == snapshot


def test_the_problems_of_all_presets_are_reported() -> None:
    """They are in the order of the presets."""
    given = template(container(env=[{"name": "NCCL_DEBUG", "value": "INFO"}, {"name": "FI_PROVIDER", "value": "tcp"}]))

    found = rejected(given, presets.nccl(debug="WARN"), presets.efa())

    assert typed(found) == [(f"template.spec.containers[0].env[{index}]", "Duplicate") for index in (0, 1)]


ARGUMENTS: dict[str, tuple[Callable[[], Preset], str, str]] = {
    "a size": (lambda: presets.shm("8 GB"), "presets.shm.size", "Invalid"),
    "no size": (lambda: presets.shm("0"), "presets.shm.size", "Invalid"),
    "huge pages": (lambda: presets.efa(huge_pages="many"), "presets.efa.huge_pages", "Invalid"),
    "no devices": (lambda: presets.efa(0), "presets.efa.devices", "Invalid"),
    "a truth value": (
        lambda: presets.rdma("rdma/hca", True),  # noqa: FBT003  # that is the mistake
        "presets.rdma.count",
        "TypeInvalid",
    ),
    "a resource": (lambda: presets.rdma("hca"), "presets.rdma.resource", "Invalid"),
    "a skew": (
        lambda: presets.topology_spread("train", "zone", max_skew=0),
        "presets.topology_spread.max_skew",
        "Invalid",
    ),
    "what NCCL logs": (
        lambda: presets.nccl(debug="DEBUG"),  # type: ignore[arg-type]  # that is the mistake
        "presets.nccl.debug",
        "NotSupported",
    ),
    "another's variable": (lambda: presets.nccl(variables={"PATH": "/"}), "presets.nccl.variables", "Invalid"),
    "variables in a list": (
        lambda: presets.nccl(variables=["NCCL_IB_HCA=mlx5"]),  # type: ignore[arg-type]  # that is the mistake
        "presets.nccl.variables",
        "TypeInvalid",
    ),
    "a variable that is not text": (
        lambda: presets.nccl(variables={1: "a"}),  # type: ignore[dict-item]  # that is the mistake
        "presets.nccl.variables",
        "Invalid",
    ),
    "a size below zero": (
        lambda: presets.shm(-8),  # type: ignore[arg-type]  # that is the mistake
        "presets.shm.size",
        "Invalid",
    ),
    "a size that is none": (
        lambda: presets.shm(None),  # type: ignore[arg-type]  # that is the mistake
        "presets.shm.size",
        "Required",
    ),
    "what happens where it cannot be": (
        lambda: presets.topology_spread("train", "zone", when_unsatisfiable="Wait"),  # type: ignore[arg-type]  # that is the mistake
        "presets.topology_spread.when_unsatisfiable",
        "NotSupported",
    ),
    "a taint without a key": (lambda: presets.gpu_tolerations(""), "presets.gpu_tolerations.keys", "Invalid"),
    "taints in a list": (
        lambda: presets.gpu_tolerations(["amd.com/gpu", "sku"]),  # type: ignore[arg-type]  # that is the mistake
        "presets.gpu_tolerations.keys",
        "TypeInvalid",
    ),
    "nothing": (presets.nccl, "presets.nccl", "Required"),
}


@pytest.mark.parametrize(("make", "path", "error_type"), ARGUMENTS.values(), ids=ARGUMENTS)
def test_a_wrong_argument_is_rejected_when_the_preset_is_made(
    make: Callable[[], Preset], path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The error is not raised later, when the preset is applied."""
    with pytest.raises(JobError) as caught:
        make()

    assert typed(caught.value.problems) == [(path, error_type)]
    assert str(caught.value) == snapshot


WITH_SECRET = template(container(env=[{"name": "TOKEN", "value": "secret"}]))
NO_PRESETS: dict[str, tuple[Any, str, str]] = {
    "one that was not called": (presets.efa, "presets.efa.devices", "TypeInvalid"),
    "a maker of presets": (lambda _template: presets.efa(), "presets.apply[1]", "TypeInvalid"),
    "a function without a return": (lambda _template: None, "presets.apply[1]", "TypeInvalid"),
}


@pytest.mark.parametrize(("preset", "path", "error_type"), NO_PRESETS.values(), ids=NO_PRESETS)
def test_a_value_that_is_not_a_preset_is_rejected(
    preset: Any, path: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The path has its position. The message has no value of the template, which can be a secret."""
    found = rejected(WITH_SECRET, presets.no_istio_sidecar(), preset)

    assert typed(found) == [(path, error_type)]
    assert str(found[0]) == snapshot


@pytest.mark.parametrize("value", [[presets.efa()], 5], ids=["a list of presets", "a number"])
def test_values_that_cannot_be_called_are_rejected_like_a_function_that_returns_a_preset(value: Any) -> None:
    """The fix is the same."""
    (like, _, _) = NO_PRESETS["a maker of presets"]

    assert rejected(WITH_SECRET, presets.no_istio_sidecar(), value) == rejected(
        WITH_SECRET, presets.no_istio_sidecar(), like
    )


def test_a_container_whose_name_is_not_text_is_not_found() -> None:
    """It does not match the name that the preset looks for."""
    given = template({**container(), "name": {}}, container("log"))

    assert presets.shm("8Gi", container="log")(given)["spec"]["containers"][1]["volumeMounts"]
