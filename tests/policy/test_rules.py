"""Violations of each rule and near misses, in both modes."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from pulumi_policy import EnforcementLevel, Policy, PolicyResource
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobError, policy
from pulumi_volcano_jobs.component.plugin_components import PLAIN_SECRETS
from pulumi_volcano_jobs.core.errors import value_text
from pulumi_volcano_jobs.core.resource_types import JOB, TASK
from pulumi_volcano_jobs.plugins import ssh_keys
from pulumi_volcano_jobs.policy.resources import from_args
from tests.conftest import typed
from tests.policy.harness import (
    UNKNOWN,
    are_about,
    ask,
    ask_in_both_modes,
    composed,
    container,
    job,
    made,
    native,
    raw,
    resource,
    spec,
    task_component,
)
from tests.unit.core.test_bounds import TREES

BOTH = pytest.mark.parametrize("become", [composed, native])
PEM = ssh_keys.generate("ed25519").private
NEVER = "can't be known during preview"


class TestQueues:
    """`volcano-job-queues`."""

    rule = policy.allowed_queues(["research", "prod"])

    @BOTH
    def test_a_queue_of_the_list(self, become: Any) -> None:
        """It says nothing."""
        assert ask(self.rule, become(job())) == []

    def test_another_queue(self, snapshot: SnapshotAssertion) -> None:
        """A part of a name on the list is another name."""
        messages = ask_in_both_modes(self.rule, job(queue="prod2"))

        assert are_about(messages, "job train: spec.queue")
        assert messages == snapshot

    def test_no_queue(self, snapshot: SnapshotAssertion) -> None:
        """It is the queue `default`, which may be on the list."""
        document = job(queue="")

        messages = ask_in_both_modes(self.rule, document)

        assert are_about(messages, "job train: spec.queue")
        assert messages == snapshot
        assert ask_in_both_modes(policy.allowed_queues(["default"]), document) == []

    def test_a_job_without_the_component(self, snapshot: SnapshotAssertion) -> None:
        """It has Volcano's default queue."""
        messages = ask(policy.allowed_queues(["a", "b", "c"]), raw(tasks=[]))

        assert are_about(messages, "job raw: spec.queue")
        assert messages == snapshot

    def test_a_pod_group_of_others(self) -> None:
        """It is nobody's business: another controller made it."""
        group = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "PodGroup", "metadata": {"name": "other"}}

        assert ask(self.rule, [resource(group, ours=False)]) == []
        assert ask(self.rule, [resource(group)]) != []

    def test_a_queue_that_is_not_known(self) -> None:
        """Pulumi says so, and asks again at the update."""
        assert ask(self.rule, raw(queue=UNKNOWN)) == [f"unknown: string value at .spec.queue {NEVER}"]

    def test_the_configuration_overrides_the_program(self, snapshot: SnapshotAssertion) -> None:
        """Without either list no queue is allowed."""
        assert ask(self.rule, raw(queue="other"), queues=["other"]) == []
        messages = ask(policy.allowed_queues(), raw(queue="other"))
        assert are_about(messages, "job raw: spec.queue")
        assert messages == snapshot


class TestImages:
    """`volcano-job-images`."""

    rule = policy.allowed_registries(["registry.example.com:5000", "ghcr.io/my-team/", "docker.io/library"])

    @pytest.mark.parametrize(
        "image",
        [
            "registry.example.com:5000/a",
            f"REGISTRY.example.com:5000/a/b:1@sha256:{64 * 'a'}",
            "ghcr.io/my-team/train",
            "ghcr.io/my-team:1",
            "ghcr.io/my-team/deep/train:1",
            "busybox",
            f"busybox:1.36@sha256:{64 * 'a'}",
            "library/busybox",
            "docker.io/busybox",
            "index.docker.io/library/busybox:1",
        ],
    )
    def test_images_of_the_list(self, image: str) -> None:
        """With a tag, a digest, both or none; Docker's own with or without its host."""
        assert ask(self.rule, composed(job(spec(container(image=image))))) == []

    def test_images_of_other_registries(self, snapshot: SnapshotAssertion) -> None:
        """Near misses: another port, a longer name, the list's entry further in, no host."""
        images = [
            "registry.example.com/a",
            "registry.example.com:5001/a",
            "ghcr.io/my-team2/train:1",
            "evil.io/ghcr.io/my-team/train",
            "me/busybox:1",
            "my-team/train",
            "localhost/a",
            "Host/a",
        ]

        found = {image: ask_in_both_modes(self.rule, job(spec(container(image=image)))) for image in images}

        assert all(are_about(each, "job train, task worker, container main: image") for each in found.values())
        assert found == snapshot

    def test_all_places(self) -> None:
        """Init containers, ephemeral ones, and volumes that are images."""
        pod = {
            "containers": [{"name": "a", "image": "quay.io/a"}],
            "initContainers": [{"name": "b", "image": "quay.io/b"}],
            "ephemeralContainers": [{"name": "c", "image": "quay.io/c"}],
            "volumes": [{"name": "d", "image": {"reference": "quay.io/d"}}, {"name": "e", "emptyDir": {}}],
        }

        said = ask(self.rule, raw(tasks=[{"name": "worker", "template": {"spec": pod}}]))

        assert are_about(
            said,
            "job raw, task worker, container b: image",
            "job raw, task worker, container a: image",
            "job raw, task worker, container c: image",
            "job raw, task worker, volume d: image.reference",
        )

    def test_the_image_that_volcano_waits_with(self) -> None:
        """Its pytorch plugin adds a container to the workers' Pods of a Job, unless it does not wait."""
        waits = ["--wait-master-enabled=true", "--wait-master-image=quay.io/nc:1"]
        tasks = [{"name": "worker"}]

        messages = ask(self.rule, raw(plugins={"pytorch": waits}, tasks=tasks))

        assert are_about(messages, "job raw: pytorch: --wait-master-image")
        assert '"quay.io/nc:1"' in messages[0]
        assert ask(self.rule, raw(plugins={"pytorch": waits[1:]}, tasks=tasks)) == []
        assert ask(self.rule, raw(plugins={"pytorch": waits}, tasks=[{"name": "master"}])) == []

    @pytest.mark.parametrize("options", [{"defaults": "recommended"}, {}])
    @BOTH
    def test_a_wait_in_an_image_of_the_job_s_own(self, become: Any, options: dict[str, Any]) -> None:
        """Volcano adds no container where the template waits already, and its image is not pulled."""
        tasks = [{"name": name, "replicas": 1, "template": {"spec": spec()}} for name in ("master", "worker")]
        document = job(plugins={"pytorch": ["--wait-master-enabled=true"]}, tasks=tasks)

        said = ask(policy.allowed_registries(["ghcr.io"]), become(document, **options))

        assert all("busybox" in text for text in said)
        assert len(said) == (not options)

    def test_a_wait_that_is_not_known(self) -> None:
        """What is not known may be the container itself."""
        tasks = [{"name": "worker", "template": {"spec": {"initContainers": UNKNOWN}}}]

        assert ask(self.rule, raw(plugins={"pytorch": ["--wait-master-enabled=true"]}, tasks=tasks)) == [
            f"unknown: string value at .spec.tasks.0.template.spec.initContainers {NEVER}"
        ]

    def test_one_unknown_image_hides_no_other(self) -> None:
        """The others are checked in the same preview."""
        pod = {"containers": [{"name": "a", "image": UNKNOWN}, {"name": "b", "image": "quay.io/b"}]}

        said = ask(self.rule, raw(tasks=[{"name": "worker", "template": {"spec": pod}}]))

        assert len(said) == 2
        assert are_about(said[:1], "job raw, task worker, container b: image")
        assert said[1] == f"unknown: string value at .spec.tasks.0.template.spec.containers.0.image {NEVER}"

    @pytest.mark.parametrize("at", ["tasks", "template", "spec", "containers", "plugins"])
    def test_parts_that_are_not_known(self, at: str) -> None:
        """Whatever is unknown is told, and nothing breaks."""
        fields: dict[str, Any] = {
            "tasks": {"tasks": UNKNOWN},
            "template": {"tasks": [{"name": "a", "template": UNKNOWN}]},
            "spec": {"tasks": [{"name": "a", "template": {"spec": UNKNOWN}}]},
            "containers": {"tasks": [{"name": "a", "template": {"spec": {"containers": UNKNOWN}}}]},
            "plugins": {"plugins": UNKNOWN},
        }[at]

        for rule in policy.rules(queues=["default"], registries=["ghcr.io"]):
            assert all(text.startswith("unknown: string value at .spec.") for text in ask(rule, raw(**fields)))
        assert len(ask(self.rule, raw(**fields))) == 1

    @pytest.mark.parametrize(
        "registries",
        ["ghcr.io", ["https://ghcr.io"], ["busybox"], ["ghcr.io/*"], ["ghcr.io/a:1"], [""], [7], 7, {"ghcr.io": 1}],
    )
    def test_a_wrong_list_is_rejected(self, registries: Any) -> None:
        """The pack does not start."""
        with pytest.raises(JobError) as caught:
            policy.allowed_registries(registries)

        error_type = "Invalid" if isinstance(registries, list) else "TypeInvalid"
        assert typed(caught.value.problems) == [("registries", error_type)]
        assert caught.value.problems[0].value == value_text(registries)

    def test_the_message_of_a_wrong_list(self, snapshot: SnapshotAssertion) -> None:
        """It has an example."""
        with pytest.raises(JobError) as caught:
            policy.allowed_registries(["busybox"])

        assert str(caught.value) == snapshot

    @pytest.mark.parametrize("registry", ["host:5000:6000", "a..b:5000", "ghcr.io/-a", "ghcr.io/a..b", "ghcr.io\n"])
    def test_a_registry_that_no_image_can_name_is_rejected(self, registry: str) -> None:
        """The rule for a registry is that of `image_registry`, which rejects the same values."""
        with pytest.raises(JobError) as caught:
            policy.allowed_registries([registry])

        assert typed(caught.value.problems) == [("registries", "Invalid")]


class TestRequests:
    """`volcano-job-requests`."""

    rule = policy.resource_requests()

    def missing(self, message: str) -> list[str]:
        """Return the resources that a message names."""
        return re.findall("cpu|memory|nvidia.com/gpu", message)

    def test_no_requests(self, snapshot: SnapshotAssertion) -> None:
        """One message has all missing resources."""
        messages = ask_in_both_modes(self.rule, job(spec(container(resources={}))))

        assert are_about(messages, "job train, task worker, container main: resources.requests")
        assert messages == snapshot

    @pytest.mark.parametrize(
        ("resources", "missing"),
        [
            ({"requests": {"cpu": "100m", "memory": "1Gi"}}, ""),
            ({"limits": {"cpu": 1, "memory": "1Gi"}}, ""),
            ({"requests": {"cpu": 1}, "limits": {"memory": "1Gi"}}, ""),
            ({"requests": {"cpu": "0", "memory": "1Gi"}}, "cpu"),
            ({"requests": {"cpu": 1}, "limits": {"nvidia.com/gpu": 1}}, "memory"),
        ],
    )
    def test_what_counts(self, resources: Any, missing: str) -> None:
        """Amounts above nothing; a limit is the default of a request."""
        said = ask(self.rule, composed(job(spec(container(resources=resources)))))

        assert [self.missing(text) for text in said] == ([[missing]] if missing else [])

    def test_what_the_whole_pod_requests(self) -> None:
        """Its containers share it."""
        pod = spec(container(resources={}), resources={"requests": {"cpu": 4}, "limits": {"memory": "1Gi"}})

        assert ask(self.rule, raw(tasks=[{"name": "worker", "template": {"spec": pod}}])) == []

    def test_init_containers(self) -> None:
        """Only those that go on beside the others must request anything, unless all must."""
        ends = {"name": "ends", "image": "ghcr.io/a"}
        pod = spec(initContainers=[ends, {**ends, "name": "stays", "restartPolicy": "Always"}])

        def names(rule: Any, **config: Any) -> list[str]:
            return [text.partition("container ")[2].partition(":")[0] for text in ask(rule, native(job(pod)), **config)]

        assert names(self.rule) == ["stays"]
        assert names(self.rule, initContainers=True) == ["ends", "stays"]
        assert names(policy.resource_requests(init_containers=True)) == ["ends", "stays"]

    def test_init_containers_that_are_not_known(self) -> None:
        """One of them may go on beside the others."""
        pod = spec(initContainers=UNKNOWN)

        assert ask(self.rule, raw(tasks=[{"name": "worker", "template": {"spec": pod}}])) == [
            f"unknown: string value at .spec.tasks.0.template.spec.initContainers {NEVER}"
        ]

    def test_other_resources(self) -> None:
        """The list says which."""
        said = ask(policy.resource_requests(["nvidia.com/gpu"]), native(job()))

        assert are_about(said, "job train, task worker, container main: resources.requests")
        assert self.missing(said[0]) == ["nvidia.com/gpu"]

    def test_amounts_that_are_not_known(self) -> None:
        """An unknown amount is none that is missing; one that is known to be missing is told."""
        pod = spec(container(resources={"requests": {"cpu": UNKNOWN}}))

        said = ask(self.rule, raw(tasks=[{"name": "worker", "template": {"spec": pod}}]))

        assert len(said) == 2
        assert are_about(said[:1], "job raw, task worker, container main: resources.requests")
        assert self.missing(said[0]) == ["memory"]
        assert said[1] == (
            f"unknown: string value at .spec.tasks.0.template.spec.containers.0.resources.requests.cpu {NEVER}"
        )


class TestHostNetwork:
    """`volcano-job-host-network`."""

    rule = policy.no_host_network()

    def test_on(self, snapshot: SnapshotAssertion) -> None:
        """The message is about the task."""
        messages = ask_in_both_modes(self.rule, job(spec(hostNetwork=True)))

        assert are_about(messages, "job train, task worker: hostNetwork")
        assert messages == snapshot

    @BOTH
    def test_off(self, become: Any) -> None:
        """False is as good as nothing; other namespaces of the node are another matter."""
        assert ask(self.rule, become(job(spec(hostNetwork=False, hostPID=True)))) == []
        assert ask(self.rule, become(job())) == []

    def test_pods_of_others(self) -> None:
        """They are nobody's business."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": spec(hostNetwork=True)}

        assert ask(self.rule, [resource(pod, ours=False)]) == []


class TestEdits:
    """A Pod that is edited is shown with its old spec, its task with the new one."""

    @pytest.mark.parametrize(
        ("rule", "pod", "place"),
        [
            (
                policy.allowed_registries(["ghcr.io"]),
                spec(container(image="quay.io/train:1")),
                ", container main: image",
            ),
            (
                policy.resource_requests(),
                spec(container(resources={"limits": {"cpu": 1}})),
                ", container main: resources.requests",
            ),
            (policy.no_host_network(), spec(hostNetwork=True), ": hostNetwork"),
            (policy.no_plain_keys(), spec(container(args=[PEM])), ": containers[0].args[0]"),
        ],
        ids=["image", "requests", "host network", "key"],
    )
    def test_the_new_spec_is_validated_by_each_rule(self, rule: Policy, pod: dict[str, Any], place: str) -> None:
        """The message is that of a new Pod."""
        before = [item for item in composed(job()) if item.resource_type != TASK]

        assert ask(rule, [*before, task_component("worker", spec())]) == []
        messages = ask(rule, [*before, task_component("worker", pod)])
        assert are_about(messages, f"job train, task worker{place}")
        assert messages == ask(rule, composed(job(pod)))

    def test_what_is_not_known(self) -> None:
        """Pulumi says so, and asks again at the update."""
        edited = task_component("worker", spec(container(image=UNKNOWN)))

        assert ask(policy.allowed_registries(["ghcr.io"]), [edited]) == [
            f"unknown: string value at .pod_spec.containers.0.image {NEVER}"
        ]

    def test_a_task_that_volcano_makes(self) -> None:
        """It has no spec; the Job has it."""
        task = made(TASK, "train-worker", {})

        for rule in (policy.allowed_registries(["ghcr.io"]), policy.no_host_network(), policy.no_plain_keys()):
            assert ask(rule, [task]) == []


class TestOnce:
    """A violation of a new job is reported once for its task."""

    rule = policy.no_host_network()
    (here,) = ask(policy.no_host_network(), [task_component("worker", spec(hostNetwork=True))])

    def jobs(self, pod: dict[str, Any], *, of_task: dict[str, Any] | None = None) -> list[PolicyResource]:
        """Return a job of three Pods; its task has another spec if a transform edits the Pods."""
        others = [item for item in composed(job(pod, replicas=3)) if item.resource_type != TASK]
        return [task_component("worker", pod if of_task is None else of_task), *others]

    def test_not_again_for_its_pods(self) -> None:
        """The message of a Pod is the same."""
        assert ask(self.rule, self.jobs(spec(hostNetwork=True))) == [self.here]

    def test_what_a_transform_adds_to_all_pods(self) -> None:
        """The first Pod reports it."""
        assert ask(self.rule, self.jobs(spec(hostNetwork=True), of_task=spec())) == [self.here]

    def test_a_pod_with_another_violation_reports_it(self) -> None:
        """Only equal messages are left out."""
        rule = policy.allowed_registries(["ghcr.io"])
        first, second = spec(container(image="quay.io/a")), spec(container(image="quay.io/b"))

        said = ask(rule, self.jobs(second, of_task=first))

        assert [re.findall(r"quay\.io/\w", text) for text in said] == [["quay.io/a"], ["quay.io/b"]]

    def test_the_update_reports_what_the_preview_did(self) -> None:
        """A mandatory violation must stop it: the check of a task starts again."""
        resources = self.jobs(spec(hostNetwork=True), of_task=spec())

        assert ask(self.rule, [*resources, *resources]) == [self.here] * 2

    def test_pods_whose_task_was_not_checked_report_all(self) -> None:
        """No finding was reported for their task."""
        pods = [item for item in self.jobs(spec(hostNetwork=True)) if item.resource_type != TASK]

        assert ask(policy.no_host_network(), pods) == [self.here] * 3

    def test_two_jobs_and_two_rules_do_not_share_it(self) -> None:
        """Each has its own tasks, and each rule its own findings."""
        pod = spec(container(resources={}), hostNetwork=True)
        other = {**job(pod), "metadata": {"name": "other", "namespace": "default"}}

        for rule in (policy.no_host_network(), policy.resource_requests()):
            said = ask(rule, [*self.jobs(pod), *[item for item in composed(other) if item.resource_type != TASK]])
            assert [text.partition(",")[0] for text in said] == ["job train", "job other", "job other"]

    def test_an_unknown_value_is_reported_once(self) -> None:
        """Pulumi prints it as advice in a preview."""
        assert ask(policy.allowed_registries(["ghcr.io"]), self.jobs(spec(container(image=UNKNOWN)))) == [
            f"unknown: string value at .pod_spec.containers.0.image {NEVER}"
        ]

    def test_a_key_in_the_metadata_of_all_pods(self) -> None:
        """A template's annotations are in its Pods alone."""
        document = job()
        document["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"note": PEM}}

        said = ask(policy.no_plain_keys(), composed(document))

        assert are_about(said, "job train, task worker: metadata.annotations.note")


class TestGang:
    """`volcano-job-gang`."""

    rule = policy.gang()

    def numbers(self, message: str) -> set[int]:
        """Return the numbers of a message."""
        return set(map(int, re.findall(r"\d+", message)))

    def test_too_few_at_once(self, snapshot: SnapshotAssertion) -> None:
        """All Pods must start at once by default."""
        messages = ask_in_both_modes(self.rule, job(replicas=4, minAvailable=3))

        assert are_about(messages, "job train: spec.minAvailable")
        assert messages == snapshot

    @BOTH
    @pytest.mark.parametrize("fields", [{}, {"minAvailable": 4}])
    def test_all_at_once(self, become: Any, fields: dict[str, int]) -> None:
        """Given, or because nobody gave it."""
        assert ask(self.rule, become(job(replicas=4, **fields))) == []

    @BOTH
    def test_one_pod(self, become: Any) -> None:
        """It is no gang."""
        assert ask(self.rule, become(job(replicas=1, minAvailable=1))) == []

    @pytest.mark.parametrize(
        ("share", "replicas", "least"),
        [(0, 30, 2), (0.1, 30, 3), (0.5, 5, 3), (0.34, 3, 2), (0.07, 100, 7), (1, 30, 30)],
    )
    @BOTH
    def test_a_share(self, become: Any, share: float, replicas: int, least: int) -> None:
        """Rounded up, and two at least."""
        rule = policy.gang(share)

        few = ask(rule, become(job(replicas=replicas, minAvailable=least - 1)))

        assert are_about(few, "job train: spec.minAvailable")
        assert self.numbers(few[0]) == {replicas, least, least - 1}
        assert ask(rule, become(job(replicas=replicas, minAvailable=least))) == []
        assert ask(self.rule, become(job(replicas=replicas, minAvailable=least)), share=share) == []

    def test_tasks_of_a_job_without_the_component(self) -> None:
        """Their own minimum counts where the Job has none; a task without replicas has no Pods, as for Volcano."""
        tasks = [{"name": "a", "replicas": 3, "minAvailable": 1}, {"name": "b"}]

        messages = ask(self.rule, raw(tasks=tasks))
        assert are_about(messages, "job raw: spec.minAvailable")
        assert self.numbers(messages[0]) == {3, 1}
        assert ask(self.rule, raw(tasks=[{"name": "a", "replicas": 3}, {"name": "b"}], minAvailable=3)) == []
        assert ask(self.rule, raw(tasks=[{"name": "a", "replicas": 3}])) == []
        # Volcano refuses it.
        assert ask(self.rule, raw(tasks=[{"name": "a", "replicas": 3}], minAvailable="3")) == []
        assert ask(self.rule, raw(tasks=[{"name": "a", "replicas": UNKNOWN}])) == [
            f"unknown: string value at .spec.tasks.0.replicas {NEVER}"
        ]

    @pytest.mark.parametrize(
        ("partitions", "text"),
        [
            ({"minPartitions": 1}, r"spec\.minAvailable\b.*\b2\b"),
            ({"minPartitions": 2}, ""),
            ({}, ""),
            ({"minPartitions": UNKNOWN}, "minPartitions"),
            ({"minPartitions": 1, "partitionSize": UNKNOWN}, "partitionSize"),
        ],
    )
    def test_partitions_of_a_job_without_the_component(self, partitions: dict[str, Any], text: str) -> None:
        """Volcano computes a task's minimum from its partitions."""
        policy = {"totalPartitions": 2, "partitionSize": 2, **partitions}

        found = ask(self.rule, raw(tasks=[{"name": "a", "replicas": 4, "partitionPolicy": policy}]))

        assert len(found) == bool(text)
        assert all(re.search(text, message) for message in found)

    def test_a_pod_group_of_others(self) -> None:
        """What did not come from a VolcanoJob is nobody's business."""
        others = composed(job(replicas=4, minAvailable=1))[1:]
        for item in others:
            item.parent = None

        assert ask(self.rule, others) == []

    @pytest.mark.parametrize("share", [-0.1, 1.1, "1", True])
    def test_a_wrong_share_is_rejected(self, share: Any) -> None:
        """The pack does not start."""
        with pytest.raises(JobError) as caught:
            policy.gang(share)

        assert typed(caught.value.problems) == [("share", "Invalid")]
        assert caught.value.problems[0].value == value_text(share)

    def test_the_message_of_a_wrong_share(self, snapshot: SnapshotAssertion) -> None:
        """It has the range."""
        with pytest.raises(JobError) as caught:
            policy.gang(1.1)

        assert str(caught.value) == snapshot


class TestNetworkPolicy:
    """`volcano-job-network-policy`."""

    rule = policy.network_policy()

    def test_off(self, snapshot: SnapshotAssertion) -> None:
        """A job with svc must not disable it."""
        messages = ask_in_both_modes(self.rule, job(plugins={"svc": ["--disable-network-policy=true"]}))

        assert are_about(messages, "job train: svc")
        assert messages == snapshot

    @BOTH
    @pytest.mark.parametrize("plugins", [{"svc": []}, {"svc": ["--disable-network-policy=false"]}])
    def test_on(self, become: Any, plugins: Any) -> None:
        """By default, and by an argument that says so."""
        assert ask(self.rule, become(job(plugins=plugins))) == []
        assert ask(self.rule, become(job(plugins=plugins)), everyJob=True) == []

    def test_without_svc(self, snapshot: SnapshotAssertion) -> None:
        """A job needs none, unless each job must have one."""
        document = job(plugins={"env": []})

        assert ask_in_both_modes(self.rule, document) == []
        messages = ask_in_both_modes(policy.network_policy(every_job=True), document)
        assert are_about(messages, "job train: plugins")
        assert ask_in_both_modes(self.rule, document, everyJob=True) == messages
        assert messages == snapshot

    def test_plugins_that_bring_svc(self) -> None:
        """Volcano adds it to theirs."""
        assert ask(self.rule, raw(plugins={"pytorch": []}), everyJob=True) == []
        assert ask(self.rule, raw(plugins={"pytorch": [], "svc": ["-disable-network-policy"]})) != []

    def test_arguments_that_are_none(self) -> None:
        """Volcano refuses such a Job; the rule says what it can."""
        assert len(ask(self.rule, raw(plugins={"svc": [8080, None, "--disable-network-policy"]}))) == 1

    def test_arguments_that_are_not_known(self) -> None:
        """Any may be the one that switches it off."""
        assert ask(self.rule, raw(plugins={"svc": [UNKNOWN]})) == [
            f"unknown: string value at .spec.plugins.svc.0 {NEVER}"
        ]

    def test_two_jobs(self) -> None:
        """One's NetworkPolicy is not the other's."""
        one, other = composed(job()), composed(job(plugins={"svc": ["--disable-network-policy=true"]}))
        other[0].urn += "2"

        assert len(ask(self.rule, [*one, *other])) == 1


class TestKeys:
    """`volcano-job-keys`."""

    rule = policy.no_plain_keys()

    def test_a_pair_that_pulumi_makes(self) -> None:
        """The Secret is the place for it."""
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "train-ssh"}, "data": {"id_rsa": PEM}}

        assert ask(self.rule, [*composed(job(plugins={"ssh": []})), resource(secret)]) == []

    def test_a_pair_that_volcano_makes(self) -> None:
        """No key is in the Job; a public one may be."""
        assert ask(self.rule, native(job(plugins={"ssh": []}))) == []
        assert ask(self.rule, raw(plugins={"ssh": ["--ssh-public-key=ssh-rsa AAAA", "--ssh-private-key="]})) == []

    @pytest.mark.parametrize(
        "arguments",
        [[f"--ssh-private-key={PEM}"], ["-ssh-private-key", PEM], ["--ssh-private-key", "x"]],
        ids=["one argument", "two arguments", "any text"],
    )
    def test_a_key_in_a_job(self, arguments: list[str]) -> None:
        """Go's flags have several forms, and each is one violation."""
        assert are_about(ask(self.rule, raw(plugins={"ssh": arguments})), "job raw: ssh: --ssh-private-key")

    def test_the_message_of_a_key_in_a_job(self, snapshot: SnapshotAssertion) -> None:
        """It has the fix and not the key."""
        assert ask(self.rule, raw(plugins={"ssh": [f"--ssh-private-key={PEM}"]})) == snapshot

    def test_a_key_that_is_not_known(self) -> None:
        """Pulumi says so, and asks again at the update."""
        assert ask(self.rule, raw(plugins={"ssh": ["--ssh-private-key", UNKNOWN]})) == [
            f"unknown: string value at .spec.plugins.ssh.1 {NEVER}"
        ]

    def test_a_key_in_the_program(self, snapshot: SnapshotAssertion) -> None:
        """The plugin's component names the setting."""
        messages = ask(self.rule, [made("volcano-jobs:index:SshPlugin", "a", {PLAIN_SECRETS: ["ssh_private_key"]})])

        assert are_about(messages, "job train: ssh_private_key")
        assert messages == snapshot

    @pytest.mark.parametrize(
        "text",
        [PEM, f"x={PEM}", base64.b64encode(PEM.encode()).decode()],
        ids=["as it is", "in other text", "in base64"],
    )
    def test_a_key_anywhere_else(self, text: str) -> None:
        """In Pods, Jobs and ConfigMaps, as it is or in base64."""
        pod = spec(container(env=[{"name": "A", "value": "a"}, {"name": "KEY", "value": text}], args=["-c", text]))
        files = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "files"}, "data": {"key": text}}

        assert are_about(
            sorted(ask(self.rule, composed(job(pod)))),
            "job train, task worker: containers[0].args[1]",
            "job train, task worker: containers[0].env[1].value",
        )
        place = "Job train: spec.tasks[0].template.spec.containers[0].args[1]"
        assert any(message.startswith(f"{place}: ") for message in ask(self.rule, native(job(pod))))
        assert are_about(ask(self.rule, [resource(files)]), "ConfigMap files: data.key")
        assert ask(self.rule, [resource(files, ours=False)]) == []

    def test_the_message_of_a_key_anywhere_else(self, snapshot: SnapshotAssertion) -> None:
        """It has the fix and not the key."""
        assert ask(self.rule, composed(job(spec(container(args=[PEM]))))) == snapshot

    @pytest.mark.parametrize(
        "text",
        [
            "-----BEGIN PUBLIC KEY-----",
            "-----BEGIN CERTIFICATE-----",
            base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMIIB").decode(),
            "LS0tLS1CRUdJTiBAAAAAAAAA",
            "PRIVATE KEY",
        ],
    )
    def test_what_is_no_private_key(self, text: str) -> None:
        """Certificates and public keys may lie open."""
        assert ask(self.rule, native(job(spec(container(args=[text]))))) == []


@pytest.mark.parametrize("tree", ["330 mappings", "330 lists"])
def test_data_that_is_too_deep_is_a_problem(tree: str) -> None:
    """The engine serializes data before it passes it to a policy, so other data cannot occur."""
    with pytest.raises(JobError) as caught:
        from_args(JOB.token, "urn", {"spec": {"nonsense": TREES[tree]}})

    assert [problem.type for problem in caught.value.problems] == ["Invalid"]


def test_each_rule_has_a_name_of_its_own() -> None:
    """None leaves a rule with a list out; the order is that of the page."""
    named = ["volcano-job-queues", "volcano-job-images"]
    others = [
        "volcano-job-requests",
        "volcano-job-gang",
        "volcano-job-network-policy",
        "volcano-job-host-network",
        "volcano-job-keys",
    ]

    assert [rule.name for rule in policy.rules()] == [*named, *others]
    assert [rule.name for rule in policy.rules(queues=None, registries=None)] == others


def test_a_rule_takes_a_level() -> None:
    """Without one the pack's counts."""
    level = EnforcementLevel.ADVISORY
    each = [
        policy.allowed_queues,
        policy.allowed_registries,
        policy.resource_requests,
        policy.gang,
        policy.network_policy,
        policy.no_host_network,
        policy.no_plain_keys,
    ]

    assert {rule(enforcement_level=level).enforcement_level for rule in each} == {level}  # type: ignore[operator]
    assert {rule().enforcement_level for rule in each} == {None}  # type: ignore[operator]
