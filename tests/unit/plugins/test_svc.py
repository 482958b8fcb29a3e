"""Options of the svc plugin: allowed peers of the Pods, ports for a service mesh, the address of the Pod itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi
import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import Allow, JobContext, RayPlugin, Rendered, SvcPlugin, VolcanoJob, render
from pulumi_volcano_jobs.component.digest import digest
from pulumi_volcano_jobs.component.provider import JobProvider
from pulumi_volcano_jobs.core.errors import RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.resource_types import VOLCANO_JOB
from pulumi_volcano_jobs.testing import Result, run
from tests.conftest import Wire, container, job, problems, task, typed

MEMBERS = {"volcano.sh/job-name": "train", "volcano.sh/job-namespace": "default"}
PROMETHEUS = Allow(namespaces={"kubernetes.io/metadata.name": "monitoring"}, pods={"app": "prometheus"}, ports=[9100])


def with_svc(*tasks: Wire, **settings: Any) -> Wire:
    """Build a job that has the svc plugin with these settings."""
    return job(*tasks, plugins=[SvcPlugin(**settings)])


def objects(rendered: Rendered, kind: str) -> dict[str, Wire]:
    """Return the objects of a kind by name."""
    return {item["metadata"]["name"]: item for item in rendered.objects if item["kind"] == kind}


def policies(*entries: Allow) -> dict[str, Wire]:
    """Return the specs of all policies except the policy for members, by name."""
    made = objects(render(with_svc(task("head"), task("worker"), allow=entries)), "NetworkPolicy")
    return {name: item["spec"] for name, item in made.items() if name != "train"}


def env(pod: Mapping[str, Any], kind: str = "containers") -> list[tuple[str, Any]]:
    """Return the variables of a Pod's first container."""
    entries = pod["spec"][kind][0].get("env", ())
    return [(entry["name"], entry.get("value") or entry["valueFrom"]) for entry in entries]


class TestRecommended:
    """Options that `defaults="recommended"` turns on."""

    def test_addresses_resolve_before_pods_are_ready(self) -> None:
        """Both modes support it, because Volcano has the argument."""
        made = render(job(plugins={"svc": []}), defaults="recommended")

        assert objects(made, "Service")["train"]["spec"]["publishNotReadyAddresses"] is True
        assert made.job.to_manifest()["spec"]["plugins"]["svc"] == ["--publish-not-ready-addresses=true"]

    def test_recommended_turns_on_no_other_option(self) -> None:
        """The other options depend on the cluster or the program."""
        assert SvcPlugin().recommended() == SvcPlugin(publish_not_ready_addresses=True)

    def test_an_explicit_default_overrides_the_recommended_value(self) -> None:
        """The value equals Volcano's default."""
        made = render(job(plugins={"svc": ["--publish-not-ready-addresses=false"]}), defaults="recommended")

        assert "publishNotReadyAddresses" not in objects(made, "Service")["train"]["spec"]


class TestAllow:
    """The allow list becomes additional policies; Kubernetes combines them with the policy for members."""

    def test_namespace_and_pods_of_an_entry_apply_together(self) -> None:
        """One peer has both selectors."""
        assert policies(PROMETHEUS) == {
            "train-allow": {
                "podSelector": {"matchLabels": MEMBERS},
                "policyTypes": ["Ingress"],
                "ingress": [
                    {
                        "from": [
                            {
                                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "monitoring"}},
                                "podSelector": {"matchLabels": {"app": "prometheus"}},
                            }
                        ],
                        "ports": [{"port": 9100, "protocol": "TCP"}],
                    }
                ],
            }
        }

    RULES: Mapping[str, tuple[Allow, Wire]] = {
        "addresses and Pods": (
            {"pods": {"app": "ui"}, "cidrs": ["10.0.0.0/8", "fd00::/8"]},
            {
                "from": [
                    {"podSelector": {"matchLabels": {"app": "ui"}}},
                    {"ipBlock": {"cidr": "10.0.0.0/8"}},
                    {"ipBlock": {"cidr": "fd00::/8"}},
                ]
            },
        ),
        "all namespaces": ({"namespaces": {}}, {"from": [{"namespaceSelector": {}}]}),
        "all peers, to a port by its name": (
            {"ports": ["dashboard"]},
            {"ports": [{"port": "dashboard", "protocol": "TCP"}]},
        ),
    }

    @pytest.mark.parametrize(("entry", "rule"), RULES.values(), ids=RULES)
    def test_each_entry_becomes_a_rule(self, entry: Allow, rule: Wire) -> None:
        """A missing field does not restrict the traffic."""
        assert policies(entry)["train-allow"]["ingress"] == [rule]

    def test_entries_of_a_task_apply_to_its_pods_only(self) -> None:
        """A policy selects whole Pods, so each task has one. Entries for all Pods share one policy."""
        made = policies(
            {"task": "head", "ports": [8265]}, {"ports": [1]}, {"task": "head", "ports": [2]}, {"ports": [3]}
        )

        assert {name: [rule["ports"][0]["port"] for rule in spec["ingress"]] for name, spec in made.items()} == {
            "train-allow": [1, 3],
            "train-allow-head": [8265, 2],
        }
        assert made["train-allow-head"]["podSelector"] == {"matchLabels": MEMBERS | {"volcano.sh/task-spec": "head"}}

    def test_the_policy_for_members_stays_unchanged(self) -> None:
        """Members can use all ports of each other."""
        without, made = (
            objects(render(with_svc(allow=entries)), "NetworkPolicy")["train"] for entries in ((), (PROMETHEUS,))
        )

        assert made == without

    def test_pulumi_creates_the_policies_of_a_native_job(self) -> None:
        """The Job does not contain the allow list."""
        made = run_native([PROMETHEUS])

        assert made.names("NetworkPolicy") == ["train-svc-allow"]
        (whole,) = (item.inputs for name, item in made.resources.items() if name.startswith("Job "))
        assert whole["spec"]["plugins"] == {"svc": []}

    def test_an_output_can_be_an_address_or_a_label_value(self) -> None:
        """Such as the addresses of a VPC; the program does not have to use `apply`."""

        def program() -> None:
            cidr, team = pulumi.Output.from_input("10.0.0.0/8"), pulumi.Output.secret("ml")
            tasks = [task()]
            VolcanoJob(
                "train",
                {"tasks": tasks, "plugins": [SvcPlugin(allow=[{"cidrs": [cidr], "namespaces": {"team": team}}])]},
            )
            options = {"svc": {"allow": [{"cidrs": [cidr]}]}}
            VolcanoJob("other", {"tasks": tasks, "plugins": {"svc": []}, "plugin_options": options})

        made = run(program)
        (rule,) = made.manifests()["NetworkPolicy train-svc-allow"]["spec"]["ingress"]

        assert rule["from"][1] == {"ipBlock": {"cidr": "10.0.0.0/8"}}
        assert made.secret() == {
            "NetworkPolicy train-svc-allow: spec.ingress[0].from[0].namespaceSelector.matchLabels.team"
        }
        (rule,) = made.manifests()["NetworkPolicy other-svc-allow"]["spec"]["ingress"]
        assert rule == {"from": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]}

    def test_whole_floats_are_port_numbers(self) -> None:
        """Pulumi's other languages send them."""

        def program() -> None:
            options = {"svc": {"allow": [{"ports": [8265.0]}], "service_ports": {"tcp-a": 1.0}}}
            inputs = {"tasks": [task()], "plugins": {"svc": []}, "pluginOptions": options}
            JobProvider().construct("train", VOLCANO_JOB, inputs)

        (rule,) = run(program).manifests()["NetworkPolicy train-svc-allow"]["spec"]["ingress"]

        assert rule == {"ports": [{"port": 8265, "protocol": "TCP"}]}


def run_native(allow: list[Allow]) -> Result:
    """Run a program with a native job."""

    def program() -> None:
        VolcanoJob("train", {"tasks": [task()], "managed_by": "volcano", "plugins": [SvcPlugin(allow=allow)]})

    return run(program)


AT, OPTION = "spec.plugins.svc.allow", "plugin_options.svc.allow"
WRONG: dict[str, tuple[Any, str, str, RejectionStage]] = {
    "no list": ("all", OPTION, "TypeInvalid", RejectionStage.DECODE),
    "no mapping": (["all"], f"{OPTION}[0]", "TypeInvalid", RejectionStage.DECODE),
    "an Output for an entry": ([Leaf("entry")], f"{OPTION}[0]", "TypeInvalid", RejectionStage.DECODE),
    "an empty entry": ([{}], f"{OPTION}[0]", "Required", RejectionStage.DECODE),
    "a key that there is not": ([{"namespace": {}}], f"{OPTION}[0].namespace", "Forbidden", RejectionStage.DECODE),
    "a single port": ([{"ports": 8265}], f"{OPTION}[0].ports", "TypeInvalid", RejectionStage.DECODE),
    "no ports": ([{"ports": []}], f"{OPTION}[0].ports", "Invalid", RejectionStage.DECODE),
    "no addresses": ([{"cidrs": []}], f"{OPTION}[0].cidrs", "Invalid", RejectionStage.DECODE),
    "a port that there is not": ([{"ports": [65536]}], f"{OPTION}[0].ports[0]", "Invalid", RejectionStage.API),
    "a truth value for a port": ([{"ports": [1, True]}], f"{OPTION}[0].ports[1]", "TypeInvalid", RejectionStage.DECODE),
    "a name that no port has": ([{"ports": ["ray dashboard"]}], f"{OPTION}[0].ports[0]", "Invalid", RejectionStage.API),
    "a name for labels": (
        [{"namespaces": "monitoring"}],
        f"{OPTION}[0].namespaces",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
    "a number for a label's value": (
        [{"pods": {"tier": 1}}],
        f"{OPTION}[0].pods.tier",
        "TypeInvalid",
        RejectionStage.DECODE,
    ),
    "a label that there cannot be": (
        [{"pods": {"app": "a b"}}],
        f"{OPTION}[0].pods.app",
        "Invalid",
        RejectionStage.API,
    ),
    "an address without its length": (
        [{"cidrs": ["10.0.0.1"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "an address with bits after its prefix length": (
        [{"cidrs": ["10.0.0.1/8"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "an IPv6 address with a zone": (
        [{"cidrs": ["fe80::%eth0/64"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "an IPv6 address with bits after its prefix length": (
        [{"cidrs": ["fd00::1/8"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "an IPv4 address that is written as IPv6": (
        [{"cidrs": ["::ffff:10.0.0.0/104"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "an IPv6 length with a leading 0": (
        [{"cidrs": ["fd00::/08"]}],
        f"{OPTION}[0].cidrs[0]",
        "Invalid",
        RejectionStage.API,
    ),
    "a number for an address": ([{"cidrs": [10]}], f"{OPTION}[0].cidrs[0]", "TypeInvalid", RejectionStage.DECODE),
    "an entry that only names a task": ([{"task": "worker"}], f"{OPTION}[0]", "Required", RejectionStage.DECODE),
    "no task": ([{"task": "", "ports": [1]}], f"{OPTION}[0].task", "TypeInvalid", RejectionStage.DECODE),
}


@pytest.mark.parametrize(("entries", "path", "error_type", "stage"), WRONG.values(), ids=WRONG)
def test_a_wrong_entry_is_rejected(
    entries: Any, path: str, error_type: str, stage: RejectionStage, snapshot: SnapshotAssertion
) -> None:
    """Lenient mode rejects it also: an entry that is partly applied would allow more than the user wants."""
    document, options = job(plugins={"svc": []}), {"svc": {"allow": entries}}

    found = problems(document, plugin_options=options)

    assert typed(found) == [(path, error_type)]
    assert found[0].stage is stage
    assert problems(document, plugin_options=options, strict=False) == found
    assert str(found[0]) == snapshot


def test_an_entry_for_a_missing_task_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The message lists the tasks of the job."""
    found = problems(with_svc(task("head"), task("worker"), allow=[{"task": "haed", "ports": [1]}]))

    assert typed(found) == [(f"{AT}[0].task", "NotFound")]
    assert str(found[0]) == snapshot


def test_an_allow_list_without_a_network_policy_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The list would separate the Pods of the job from each other. Lenient mode ignores it."""
    document = job(plugins={"svc": ["--disable-network-policy"]})
    options = {"svc": {"allow": [{"ports": [1]}]}}

    found = problems(document, plugin_options=options)

    assert typed(found) == [(OPTION, "Forbidden")]
    assert str(found[0]) == snapshot
    assert objects(render(document, plugin_options=options, strict=False), "NetworkPolicy") == {}


def test_all_problems_of_the_allow_list_are_reported() -> None:
    """One entry can have several."""
    entries = [{"ports": [0], "pods": {"a": 1}}, {"prots": [1]}]

    assert typed(problems(with_svc(allow=entries))) == [
        (f"{AT}[0].pods.a", "TypeInvalid"),
        (f"{AT}[0].ports[0]", "Invalid"),
        (f"{AT}[1].prots", "Forbidden"),
    ]


class TestTheDashboard:
    """VJ105 warns that no network policy opens the dashboard of Ray."""

    TASKS = (task("head", containers=[container("head")]), task("worker", containers=[container("worker")]))

    def codes(self, *entries: Allow, port: int = 8265) -> set[str]:
        """Return the codes of the job's warnings."""
        made = render(job(*self.TASKS, plugins=[RayPlugin(dashboard_port=port), SvcPlugin(allow=entries)]))
        return {problem.code for problem in made.warnings}

    @pytest.mark.parametrize(
        "entry",
        [{"ports": [1, 8265]}, {"ports": ["dashboard"]}, {"task": "head", "ports": [8265]}, {"pods": {"app": "ui"}}],
        ids=str,
    )
    def test_an_entry_for_the_dashboard_has_no_warning(self, entry: Allow) -> None:
        """By number, by name, or with all ports."""
        assert self.codes(entry) == set()

    @pytest.mark.parametrize("entry", [{"ports": [6379]}, {"task": "worker", "ports": [8265]}], ids=str)
    def test_an_entry_for_something_else_has_a_warning(self, entry: Allow) -> None:
        """It opens other ports, or other Pods."""
        assert self.codes(entry) == {"VJ105"}

    def test_the_warning_uses_the_port_of_ray(self) -> None:
        """It does not use the default port."""
        assert self.codes({"ports": [8265]}, port=9000) == {"VJ105"}
        assert self.codes({"ports": [9000]}, port=9000) == set()


class TestServicePorts:
    """The headless Service names ports for a service mesh."""

    def test_the_service_has_the_named_ports(self) -> None:
        """Without the option it has no ports, as in Volcano."""
        made = render(with_svc(service_ports={"tcp-torch": 29500, "http-metrics": 9100}))

        assert objects(made, "Service")["train"]["spec"]["ports"] == [
            {"name": "tcp-torch", "port": 29500, "protocol": "TCP"},
            {"name": "http-metrics", "port": 9100, "protocol": "TCP"},
        ]
        assert "ports" not in objects(render(with_svc()), "Service")["train"]["spec"]

    def test_ports_are_rejected_in_native_mode(self, snapshot: SnapshotAssertion) -> None:
        """Volcano creates the Service without ports."""
        found = problems(with_svc(service_ports={"tcp-a": 1}), managed_by="volcano")

        assert typed(found) == [(self.AT, "Forbidden")]
        assert str(found[0]) == snapshot

    AT = "spec.plugins.svc.service_ports"
    WRONG: Mapping[str, tuple[Any, str, str]] = {
        "a list": ([29500], AT, "TypeInvalid"),
        "text for a number": ({"tcp-a": "1"}, f"{AT}.tcp-a", "TypeInvalid"),
        "a number that there is not": ({"tcp-a": 0}, f"{AT}.tcp-a", "Invalid"),
        "a number beyond all bounds": ({"tcp-a": 10**5000}, f"{AT}.tcp-a", "Invalid"),
        "one number twice": ({"tcp-a": 1, "tcp-b": 1}, f"{AT}.tcp-b", "Duplicate"),
        "a name that there cannot be": ({"TCP": 1}, f"{AT}.TCP", "Invalid"),
    }

    @pytest.mark.parametrize(("ports", "path", "error_type"), WRONG.values(), ids=WRONG)
    def test_wrong_ports_are_rejected(
        self, ports: Any, path: str, error_type: str, snapshot: SnapshotAssertion
    ) -> None:
        """The path has the name of the port."""
        found = problems(lambda: with_svc(service_ports=ports))

        assert typed(found) == [(path, error_type)]
        assert str(found[0]) == snapshot


class TestOwnAddress:
    """VC_POD_NAME and VC_POD_ADDRESS."""

    NAME = ("VC_POD_NAME", {"fieldRef": {"fieldPath": "metadata.name"}})

    def test_all_containers_have_name_and_address(self) -> None:
        """The name comes first, because Kubernetes expands it in the address. Init containers also have both."""
        made = render(with_svc(task(initContainers=[container("prepare")]), own_address=True)).pods[0]

        for kind in ("containers", "initContainers"):
            assert env(made, kind)[:2] == [self.NAME, ("VC_POD_ADDRESS", "$(VC_POD_NAME).train")]

    def test_own_address_is_off_by_default(self) -> None:
        """Volcano does not set the variables."""
        assert self.NAME not in env(render(with_svc()).pods[0])

    @pytest.mark.parametrize("fields", [{}, {"hostname": "box"}, {"subdomain": "net"}], ids=str)
    def test_the_own_address_is_the_one_in_the_host_list(self, fields: Wire) -> None:
        """A fixed host name or subdomain is part of it."""
        made = render(with_svc(task(**fields), own_address=True))
        address = dict(env(made.pods[0]))["VC_POD_ADDRESS"].replace("$(VC_POD_NAME)", "train-worker-0")

        assert address == objects(made, "ConfigMap")["train-svc"]["data"]["worker.host"]

    def test_a_native_job_has_the_own_address_in_its_templates(self) -> None:
        """All Pods of a task have the same expression."""
        made = render(with_svc(task(replicas=2), own_address=True), managed_by="volcano").native_job
        (first,) = made.tasks or ()

        assert env(first.pod_template) == [self.NAME, ("VC_POD_ADDRESS", "$(VC_POD_NAME).train")]

    def test_a_variable_of_the_template_is_not_overridden(self) -> None:
        """The message names the plugin, the variable and the option that decides."""
        own = container(env=[{"name": "VC_POD_ADDRESS", "value": "mine"}])

        (found,) = problems(with_svc(task(containers=[own]), own_address=True))

        assert typed([found]) == [("spec.tasks[0].template.spec.containers[0].env[0]", "Forbidden")]
        assert "spec.plugins.svc" in found.reason
        assert "VC_POD_ADDRESS" in found.reason
        assert "on_conflict" in found.hint

    def test_a_value_of_another_type_is_rejected(self, snapshot: SnapshotAssertion) -> None:
        """The option is True or False."""
        (found,) = problems(lambda: with_svc(own_address="yes"))

        assert typed([found]) == [("spec.plugins.svc.own_address", "TypeInvalid")]
        assert str(found) == snapshot


def test_scaling_changes_no_pod() -> None:
    """All options are on. Otherwise `on_scale="keep"` would replace Pods."""
    settings: Wire = {"own_address": True, "allow": [PROMETHEUS], "service_ports": {"tcp-a": 1}}
    small, large = (render(with_svc(task(replicas=n), **settings)) for n in (1, 3))

    assert SvcPlugin(**settings).on_job_update(JobContext(small.job)).scaled_env == frozenset()
    assert digest(small.first_pods["worker"]["spec"]) == digest(large.first_pods["worker"]["spec"])
    for kind in ("NetworkPolicy", "Service"):
        assert objects(small, kind) == objects(large, kind)
