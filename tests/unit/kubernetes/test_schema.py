"""Pod templates and claims are converted to the form that the API server would store."""

from __future__ import annotations

from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs.core.errors import Problem, RejectionStage
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.core.suggestions import suggestion
from pulumi_volcano_jobs.kubernetes import schema
from tests.conftest import Wire, container, typed

MAIN = "t.spec.containers[0]"


def conform(tree: Any, definition: str = schema.POD_TEMPLATE) -> tuple[Any, list[Problem]]:
    """Convert a tree at the path `t`."""
    walk = schema.SchemaPruner()
    return walk.apply(tree, definition, "t"), walk.problems


def template(**spec: Any) -> Wire:
    """Build a Pod template."""
    return {"spec": {"containers": [container()], **spec}}


def template_of(**fields: Any) -> Wire:
    """Build a Pod template whose container has some fields."""
    return template(containers=[container(**fields)])


def conformed_container(**fields: Any) -> Wire:
    """Return the converted container without its name and image. It has no problem."""
    tree, problems = conform(template_of(**fields))
    assert problems == []
    found: Wire = tree["spec"]["containers"][0]
    return {key: value for key, value in found.items() if key not in {"name", "image"}}


class TestUnknownFields:
    """Unknown fields are dropped and reported."""

    @pytest.mark.parametrize(
        ("tree", "path", "right"),
        [
            (template(restartPolcy="Never"), "t.spec.restartPolcy", "restartPolicy"),
            (template(restart_policy="Never"), "t.spec.restart_policy", "restartPolicy"),
            (template(RestartPolicy="Never"), "t.spec.RestartPolicy", "restartPolicy"),
            (template_of(imagePullPolcy="Always"), f"{MAIN}.imagePullPolcy", "imagePullPolicy"),
            (
                template_of(livenessProbe={"httpGet": {"port": 1, "pth": "/"}}),
                f"{MAIN}.livenessProbe.httpGet.pth",
                "path",
            ),
            (template() | {"Spec": {}}, "t.Spec", "spec"),
        ],
        ids=["a typo", "snake case", "a capital", "in a list", "deep down", "at the top"],
    )
    def test_a_similar_name_is_suggested(self, tree: Wire, path: str, right: str) -> None:
        """Volcano would drop the field silently."""
        _, problems = conform(tree)

        assert typed(problems) == [(path, "Forbidden")]
        assert (problems[0].hint, problems[0].stage) == (suggestion(right, [right]), RejectionStage.STRICT)

    def test_known_names_are_listed_if_none_is_similar(self, snapshot: SnapshotAssertion) -> None:
        """The user does not have to look them up."""
        _, (problem,) = conform(template() | {"zzz": 1})

        assert typed([problem]) == [("t.zzz", "Forbidden")]
        assert str(problem) == snapshot

    def test_an_unknown_field_is_left_out_with_its_value(self) -> None:
        """Its value is not checked."""
        tree, problems = conform(template(bogus={"also": [{"bogus": 1}]}))

        assert tree == template()
        assert len(problems) == 1

    @pytest.mark.parametrize("key", ["creationTimestamp", "generateName", "uid", "ownerReferences"])
    def test_metadata_of_a_template_has_few_fields(self, key: str) -> None:
        """Volcano's CRD has name, namespace, labels, annotations and finalizers."""
        kept = {"name": "n", "namespace": "m", "labels": {"a": "b"}, "annotations": {"c": "d"}, "finalizers": ["e/f"]}

        tree, problems = conform(template() | {"metadata": {**kept, key: "x"}})

        assert tree["metadata"] == kept
        assert [problem.path for problem in problems] == [f"t.metadata.{key}"]


class TestNulls:
    """A null is a missing field."""

    @pytest.mark.parametrize(
        ("tree", "left"),
        [
            (template(hostname=None), template()),
            (template(nodeSelector={"a": "b", "c": None}), template(nodeSelector={"a": "b"})),
            (template(containers=[None, container()]), template()),
            (template_of(env=[{"name": "A", "value": None}]), template_of(env=[{"name": "A"}])),
            (template() | {"metadata": None}, template()),
        ],
        ids=["a field", "a value of a mapping", "an entry of a list", "deep down", "a whole part"],
    )
    def test_a_null_is_dropped(self, tree: Wire, left: Wire) -> None:
        """At every depth."""
        assert conform(tree) == (left, [])

    def test_a_null_gets_the_default_of_its_field(self) -> None:
        """As a missing field does."""
        ports = [{"containerPort": 80, "protocol": None}]

        assert conformed_container(ports=ports) == {"ports": [{"containerPort": 80, "protocol": "TCP"}]}


class TestDefaults:
    """Defaults of Volcano's CRD."""

    @pytest.mark.parametrize(
        ("volume", "defaults"),
        [
            ({"azureDisk": {"diskName": "d", "diskURI": "u"}}, {"fsType": "ext4", "readOnly": False}),
            ({"iscsi": {"iqn": "i", "lun": 0, "targetPortal": "t"}}, {"iscsiInterface": "default"}),
            (
                {"rbd": {"image": "i", "monitors": ["m"]}},
                {"keyring": "/etc/ceph/keyring", "pool": "rbd", "user": "admin"},
            ),
            (
                {"scaleIO": {"gateway": "g", "system": "s", "secretRef": {}}},
                {"fsType": "xfs", "storageMode": "ThinProvisioned"},
            ),
        ],
        ids=lambda value: next(iter(value)) if isinstance(value, dict) else None,
    )
    def test_a_volume_source_gets_its_defaults(self, volume: Wire, defaults: Wire) -> None:
        """Kubernetes defines these defaults in its types."""
        ((kind, source),) = volume.items()

        tree, problems = conform(template(volumes=[{"name": "v", **volume}]))

        assert problems == []
        assert tree["spec"]["volumes"] == [{"name": "v", kind: source | defaults}]

    def test_the_protocol_of_a_port_is_tcp_by_default(self) -> None:
        """An explicit protocol stays."""
        ports = [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}]

        assert [port["protocol"] for port in conformed_container(ports=ports)["ports"]] == ["TCP", "UDP"]

    def test_a_grpc_probe_has_an_empty_service_by_default(self) -> None:
        """The name is written into the manifest."""
        assert conformed_container(livenessProbe={"grpc": {"port": 1}}) == {
            "livenessProbe": {"grpc": {"port": 1, "service": ""}},
        }

    def test_a_key_of_a_file_is_required_by_default(self) -> None:
        """In the source of a variable."""
        source = {"fileKeyRef": {"key": "k", "path": "p", "volumeName": "v"}}

        assert conformed_container(env=[{"name": "A", "valueFrom": source}])["env"][0]["valueFrom"] == {
            "fileKeyRef": {"key": "k", "path": "p", "volumeName": "v", "optional": False},
        }

    def test_explicit_values_override_defaults(self) -> None:
        """Only missing fields get a default."""
        source = {"iqn": "i", "lun": 0, "targetPortal": "t", "iscsiInterface": "mine"}

        tree, _ = conform(template(volumes=[{"name": "v", "iscsi": source}]))

        assert tree["spec"]["volumes"][0]["iscsi"] == source


TYPES: dict[str, tuple[Any, str]] = {
    "a number for a string": (template_of(env=[{"name": "A", "value": 5}]), f"{MAIN}.env[0].value"),
    "a truth value for a string": (template_of(image=True), f"{MAIN}.image"),
    "a list for a string": (template(hostname=["a"]), "t.spec.hostname"),
    "a string for a number": (
        template(terminationGracePeriodSeconds="5"),
        "t.spec.terminationGracePeriodSeconds",
    ),
    "a fraction for a number": (
        template_of(securityContext={"runAsUser": 1.5}),
        f"{MAIN}.securityContext.runAsUser",
    ),
    "a truth value for a number": (
        template_of(ports=[{"containerPort": True}]),
        f"{MAIN}.ports[0].containerPort",
    ),
    "a string for a truth value": (template(hostNetwork="yes"), "t.spec.hostNetwork"),
    "a number for a truth value": (template(hostNetwork=1), "t.spec.hostNetwork"),
    "a string for a list": (template(containers="x"), "t.spec.containers"),
    "a mapping for a list": (template(tolerations={}), "t.spec.tolerations"),
    "a string for a command": (template_of(command="run"), f"{MAIN}.command"),
    "a number in a command": (template_of(command=["run", 1]), f"{MAIN}.command[1]"),
    "a string for a mapping": (template(securityContext="x"), "t.spec.securityContext"),
    "a list for a mapping": (template(nodeSelector=[]), "t.spec.nodeSelector"),
    "a string for an entry": (template_of(env=["A=b"]), f"{MAIN}.env[0]"),
    "a number in a mapping of strings": (template(nodeSelector={"a/b": 1}), "t.spec.nodeSelector.a/b"),
    "a truth value for a quantity": (
        template_of(resources={"limits": {"cpu": True}}),
        f"{MAIN}.resources.limits.cpu",
    ),
    "a list for a quantity": (
        template_of(resources={"limits": {"cpu": [1]}}),
        f"{MAIN}.resources.limits.cpu",
    ),
    "a fraction for a port or its name": (
        template_of(livenessProbe={"httpGet": {"port": 80.5}}),
        f"{MAIN}.livenessProbe.httpGet.port",
    ),
    "a string for the whole spec": ({"spec": "x"}, "t.spec"),
    "a string for the template": ("x", "t"),
}


@pytest.mark.parametrize(("tree", "path"), TYPES.values(), ids=TYPES)
def test_a_wrong_type_is_an_error_of_the_decoder(tree: Any, path: str, snapshot: SnapshotAssertion) -> None:
    """The message has the right type."""
    _, problems = conform(tree)

    assert typed(problems) == [(path, "TypeInvalid")]
    assert problems[0].stage is RejectionStage.DECODE
    assert str(problems[0]) == snapshot


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"ports": [{"containerPort": 80.0}]}, [{"containerPort": 80, "protocol": "TCP"}]),
        ({"livenessProbe": {"httpGet": {"port": 80.0}}}, {"httpGet": {"port": 80}}),
        ({"livenessProbe": {"httpGet": {"port": "web"}}}, {"httpGet": {"port": "web"}}),
        ({"resources": {"limits": {"cpu": 2.0, "memory": "1Gi"}}}, {"limits": {"cpu": 2, "memory": "1Gi"}}),
        ({"resources": {"limits": {"cpu": 0.5}}}, {"limits": {"cpu": 0.5}}),
    ],
    ids=["a number", "a port or its name", "a port's name", "a quantity", "a fraction of a quantity"],
)
def test_a_whole_float_is_an_integer(fields: Wire, found: Any) -> None:
    """Pulumi sends all numbers as floats; a manifest must not have `2.0`."""
    (value,) = conformed_container(**fields).values()

    assert value == found
    assert ".0" not in repr(value)


@pytest.mark.parametrize(
    ("tree", "path"),
    [
        ({"spec": {"containers": None}}, "t.spec.containers"),
        ({"spec": {}}, "t.spec.containers"),
        (template(containers=[{"image": "i"}]), f"{MAIN}.name"),
        (template_of(ports=[{"hostPort": 1}]), f"{MAIN}.ports[0].containerPort"),
        (template_of(env=[{"value": "x"}]), f"{MAIN}.env[0].name"),
        (template_of(volumeMounts=[{"name": "v"}]), f"{MAIN}.volumeMounts[0].mountPath"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_missing_required_field_is_an_error_of_the_schema(tree: Wire, path: str) -> None:
    """Volcano's CRD requires it."""
    _, problems = conform(tree)

    assert typed(problems) == [(path, "Required")]
    assert problems[0].stage is RejectionStage.SCHEMA


def test_the_error_of_a_missing_field_has_the_fix(snapshot: SnapshotAssertion) -> None:
    """The fix is to add the field."""
    _, (problem,) = conform({"spec": {}})

    assert str(problem) == snapshot


PLAIN: dict[str, Wire] = {
    "t.metadata": template() | {"metadata": Leaf("x")},
    "t.metadata.labels": template() | {"metadata": {"labels": Leaf("x")}},
    "t.metadata.annotations": template() | {"metadata": {"annotations": Leaf("x")}},
    "t.spec": {"spec": Leaf("x")},
    "t.spec.containers": template(containers=Leaf("x")),
    "t.spec.containers[0]": template(containers=[Leaf("x")]),
    "t.spec.initContainers": template(initContainers=Leaf("x")),
    "t.spec.initContainers[1]": template(initContainers=[container("early"), Leaf("x")]),
    "t.spec.volumes": template(volumes=Leaf("x")),
    "t.spec.volumes[0]": template(volumes=[Leaf("x")]),
    "t.spec.volumes[0].name": template(volumes=[{"name": Leaf("x"), "emptyDir": {}}]),
    "t.spec.hostname": template(hostname=Leaf("x")),
    "t.spec.subdomain": template(subdomain=Leaf("x")),
    "t.spec.schedulerName": template(schedulerName=Leaf("x")),
    "t.spec.hostNetwork": template(hostNetwork=Leaf("x")),
    f"{MAIN}.name": template(containers=[{"name": Leaf("x"), "image": "i"}]),
    f"{MAIN}.env": template_of(env=Leaf("x")),
    f"{MAIN}.env[0]": template_of(env=[Leaf("x")]),
    f"{MAIN}.env[0].name": template_of(env=[{"name": Leaf("x")}]),
    f"{MAIN}.ports": template_of(ports=Leaf("x")),
    f"{MAIN}.ports[0]": template_of(ports=[Leaf("x")]),
    f"{MAIN}.ports[0].containerPort": template_of(ports=[{"containerPort": Leaf("x")}]),
    f"{MAIN}.ports[0].name": template_of(ports=[{"containerPort": 1, "name": Leaf("x")}]),
    f"{MAIN}.ports[0].protocol": template_of(ports=[{"containerPort": 1, "protocol": Leaf("x")}]),
    f"{MAIN}.volumeMounts": template_of(volumeMounts=Leaf("x")),
    f"{MAIN}.volumeMounts[0]": template_of(volumeMounts=[Leaf("x")]),
    f"{MAIN}.volumeMounts[0].mountPath": template_of(volumeMounts=[{"name": "v", "mountPath": Leaf("x")}]),
}


@pytest.mark.parametrize(("path", "tree"), PLAIN.items(), ids=PLAIN)
def test_structure_cannot_be_unknown(path: str, tree: Wire) -> None:
    """The fix is to take the value from a source of plain values."""
    _, problems = conform(tree)

    assert typed(problems) == [(path, "TypeInvalid")]
    assert "Output" in problems[0].reason
    assert "pulumi.Config" in problems[0].hint
    assert "get_output_details" in problems[0].hint


def test_the_error_of_an_output_for_structure_has_the_reason(snapshot: SnapshotAssertion) -> None:
    """The reason names the decision that depends on the value."""
    _, (problem,) = conform(PLAIN["t.spec.hostname"])

    assert str(problem) == snapshot


VALUES: dict[str, Wire] = {
    "an image": template(containers=[{"name": "main", "image": Leaf("x")}]),
    "a value": template_of(env=[{"name": "A", "value": Leaf("x")}]),
    "a whole source of a value": template_of(env=[{"name": "A", "valueFrom": Leaf("x")}]),
    "a command": template_of(command=Leaf("x")),
    "an argument": template_of(args=["a", Leaf("x")]),
    "all resources": template_of(resources=Leaf("x")),
    "a number": template(terminationGracePeriodSeconds=Leaf("x")),
    "a toleration": template(tolerations=[Leaf("x")]),
    "a label": template() | {"metadata": {"labels": {"a": Leaf("x")}}},
    "a whole mapping": template(nodeSelector=Leaf("x")),
    "a whole object": template(affinity=Leaf("x")),
    "a volume's source": template(volumes=[{"name": "v", "emptyDir": Leaf("x")}]),
}


@pytest.mark.parametrize("tree", VALUES.values(), ids=VALUES)
def test_every_other_value_may_be_unknown(tree: Wire) -> None:
    """The same leaf is in the result, without a problem."""
    kept, problems = conform(tree)

    assert problems == []
    assert repr(kept) == repr(tree)


def test_all_problems_of_a_tree_are_found_at_once() -> None:
    """Malformed fields are left out, and all other fields are checked."""
    tree = template(
        containers=[container(image=5, bogus=1), "x", {"image": "i"}],
        hostNetwork="yes",
        volumes=[{"name": Leaf("x")}],
    )

    kept, problems = conform(tree)

    assert [problem.path for problem in problems] == [
        f"{MAIN}.image",
        f"{MAIN}.bogus",
        "t.spec.containers[1]",
        "t.spec.containers[2].name",
        "t.spec.hostNetwork",
        "t.spec.volumes[0].name",
    ]
    assert kept == {"spec": {"containers": [{"name": "main"}, {}, {"image": "i"}], "volumes": [{}]}}


def test_the_input_is_not_changed() -> None:
    """The conversion copies it."""
    tree = template_of(ports=[{"containerPort": 80.0}], bogus=None)
    before = repr(tree)

    kept, _ = conform(tree)
    kept["spec"]["containers"][0]["ports"].clear()

    assert repr(tree) == before


def test_a_claim_has_its_own_definition() -> None:
    """It is a PersistentVolumeClaimSpec."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storagClassName": "x"}

    tree, problems = conform(claim, schema.CLAIM)

    assert tree == {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    assert typed(problems) == [("t.storagClassName", "Forbidden")]
    assert "storageClassName" in problems[0].hint


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("prot", ["port", "master"]),
        ("head_container", ["head", "headContainer"]),
        ("wait-master-timeouts", ["wait-master-timeout", "port"]),
    ],
)
def test_the_most_similar_word_is_suggested(word: str, words: list[str], snapshot: SnapshotAssertion) -> None:
    """A word of the same letters takes precedence over a word that looks alike."""
    assert suggestion(word, words) == snapshot


@pytest.mark.parametrize(
    ("snake", "wire"),
    [
        ("image_pull_policy", "imagePullPolicy"),
        ("host_ipc", "hostIPC"),
        ("set_hostname_as_fqdn", "setHostnameAsFQDN"),
        ("restart_policy", "restartPolicy"),
    ],
)
def test_snake_case_names_of_pulumi_match_the_api_names(snake: str, wire: str) -> None:
    """Acronyms are one word."""
    names = schema.wire_names("io.k8s.api.core.v1.PodSpec") | schema.wire_names("io.k8s.api.core.v1.Container")

    assert names[snake] == wire
