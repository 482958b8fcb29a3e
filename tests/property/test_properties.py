"""Properties of every job."""

from __future__ import annotations

import base64
import copy
import json
import os
import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pulumi_volcano_jobs import ClusterFacts, Plugin, Rendered, SshPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf, substitute
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.plugins import BUILT_IN
from pulumi_volcano_jobs.plugins.settings import default_of, flags_of
from pulumi_volcano_jobs.spec.naming import pod_group
from tests.conftest import container, job, task
from tests.property import strategies

profile = settings(
    max_examples=60,
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    database=None,
    # Jobs are large examples.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

Wire = dict[str, Any]
Path = tuple[Any, ...]
CLUSTER = ClusterFacts(priority_classes=strategies.PRIORITIES)


def written(made: Rendered) -> str:
    """Return the manifests as the bytes of a file."""
    return job_file.dump([*made.objects, *made.pods])


def lenient(document: Wire) -> Rendered:
    """Render a job in lenient mode."""
    return render(document, strict=False, cluster=CLUSTER)


def places(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield every value of a tree except mappings and lists, with its path."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from places(value, (*path, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from places(value, (*path, index))
    else:
        yield path, tree


def at(tree: Any, path: Path) -> Any:
    """Return the value at a path."""
    for key in path:
        tree = tree[key]
    return tree


def put(tree: Any, path: Path, value: Any) -> None:
    """Set the value at a path."""
    at(tree, path[:-1])[path[-1]] = value


LEAF_KEYS = {"namespace", "queue", "priorityClassName", "serviceAccountName", "image", "value"}
LEAF_PARENTS = {"labels", "annotations", "command", "args", "requests", "limits"}


def may_be_a_leaf(path: Path, value: Any) -> bool:
    """Check whether a value of a job may be an Output (design, section 3). Empty text decides the structure."""
    if "plugins" in path or "volumes" in path or value == "":
        return False
    return path[-1] in LEAF_KEYS or not LEAF_PARENTS.isdisjoint(path[-2:-1])


class Unknowns:
    """Leaves and their values."""

    def __init__(self) -> None:
        """Start without leaves."""
        self._values: list[tuple[Leaf, Any]] = []

    def leaf(self, path: str, value: Any) -> Leaf:
        """Return a leaf for a value."""
        self._values.append((Leaf(path), value))
        return self._values[-1][0]

    def resolve(self, leaf: Leaf) -> Any:
        """Return the value of a leaf."""
        (value,) = (value for known, value in self._values if known is leaf)
        return value


def with_leaves(draw: Any, document: Wire) -> tuple[Wire, Unknowns]:
    """Replace some of the values that may be Outputs by leaves."""
    leafed, unknowns = copy.deepcopy(document), Unknowns()
    for path, value in places(document):
        if may_be_a_leaf(path, value) and draw(st.booleans()):
            put(leafed, path, unknowns.leaf(".".join(map(str, path)), value))
    plugins = document["spec"]["plugins"]
    if isinstance(plugins, list):
        leafed["spec"]["plugins"] = [_with_leaf_keys(plugin, unknowns) for plugin in plugins]
    elif plugins.get("ssh"):
        leafed["spec"]["plugins"]["ssh"] = [part for arg in plugins["ssh"] for part in _key_apart(arg, unknowns)]
    return leafed, unknowns


def _with_leaf_keys(plugin: Plugin, unknowns: Unknowns) -> Plugin:
    if not isinstance(plugin, SshPlugin) or not plugin.ssh_private_key:
        return plugin
    return plugin.with_(
        ssh_private_key=unknowns.leaf("private", plugin.ssh_private_key),
        ssh_public_key=unknowns.leaf("public", plugin.ssh_public_key),
    )


def _key_apart(argument: str, unknowns: Unknowns) -> list[Any]:
    flag, _, value = argument.partition("=")
    return [flag, unknowns.leaf(flag, value)] if flag.endswith("-key") else [argument]


@profile
@given(st.data())
def test_resolved_leaves_equal_the_values_in_their_places(data: st.DataObject) -> None:
    """The leaves are in any allowed places, and are resolved at the end."""
    document = data.draw(strategies.jobs())
    leafed, unknowns = with_leaves(data.draw, document)

    made = lenient(leafed)

    known = lenient(document)
    resolved = substitute({"objects": made.objects, "pods": made.pods}, unknowns.resolve)
    assert resolved == {"objects": list(known.objects), "pods": list(known.pods)}


@profile
@given(strategies.jobs(), st.randoms(use_true_random=False))
def test_the_order_of_plugins_does_not_matter(document: Wire, shuffle: random.Random) -> None:
    """Both in a list and in a mapping."""
    permuted = copy.deepcopy(document)
    plugins = permuted["spec"]["plugins"]
    order = list(plugins.items() if isinstance(plugins, dict) else plugins)
    shuffle.shuffle(order)
    permuted["spec"]["plugins"] = dict(order) if isinstance(plugins, dict) else order

    made = lenient(permuted)

    assert written(made) == written(lenient(document))
    assert made.plugins == lenient(document).plugins


@profile
@given(strategies.jobs())
def test_a_typed_plugin_and_its_arguments_render_the_same(document: Wire) -> None:
    """A list of plugins, and Volcano's mapping."""
    plugins = lenient(document).plugins
    typed, args = copy.deepcopy(document), copy.deepcopy(document)
    typed["spec"]["plugins"] = list(plugins)
    args["spec"]["plugins"] = {plugin.name: plugin.to_args() for plugin in plugins}

    assert written(lenient(typed)) == written(lenient(args)) == written(lenient(document))


@profile
@given(strategies.jobs())
def test_rendering_does_not_change_its_input(document: Wire) -> None:
    """The document stays the same."""
    before = copy.deepcopy(document)

    lenient(document)

    assert document == before


def ruin(tree: Any) -> None:
    """Empty every mapping and list of a tree."""
    for value in list(tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()):
        ruin(value)
    if isinstance(tree, (dict, list)):
        tree.clear()


@profile
@given(strategies.jobs())
def test_manifests_share_only_variables_with_each_other(document: Wire) -> None:
    """A change of one manifest changes no other manifest, and not the next rendering.

    Pods share the entries of their variables: with svc each Pod has two for each task of the job.
    """
    before, made = written(lenient(document)), lenient(document)
    for pod in made.pods:
        for each in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ())):
            # Each Pod has its own lists.
            each.get("env", [])[:] = copy.deepcopy(each.get("env", []))
    manifests = [*made.objects, *made.pods]
    spared = manifests[0::2]
    kept = copy.deepcopy(spared)

    for manifest in manifests[1::2]:
        ruin(manifest)

    assert spared == kept
    ruin(spared)
    assert written(lenient(document)) == before


def reordered(tree: Any, shuffle: random.Random) -> Any:
    """Copy a tree with the keys of its mappings in another order."""
    if isinstance(tree, dict):
        items = [(key, reordered(value, shuffle)) for key, value in tree.items()]
        shuffle.shuffle(items)
        return dict(items)
    return [reordered(value, shuffle) for value in tree] if isinstance(tree, list) else tree


@profile
@given(strategies.jobs(), st.randoms(use_true_random=False))
def test_the_same_job_gives_the_same_bytes(document: Wire, shuffle: random.Random) -> None:
    """The order of the keys in its mappings does not matter."""
    assert written(lenient(reordered(document, shuffle))) == written(lenient(document))


@profile
@given(strategies.jobs())
def test_the_stored_form_of_a_job_renders_the_same(document: Wire) -> None:
    """The native Job describes the same Pods."""
    made = lenient(document)

    assert written(lenient(made.job.to_manifest())) == written(made)
    assert lenient(made.job.to_manifest()).job.to_manifest() == made.job.to_manifest()


@profile
@given(strategies.fitting_jobs())
def test_strict_mode_renders_accepted_jobs_as_lenient_mode_does(document: Wire) -> None:
    """Strict mode accepts every valid job."""
    strict = render(document, cluster=CLUSTER)

    assert written(strict) == written(lenient(document))
    assert strict.job.to_manifest() == lenient(document).job.to_manifest()


@profile
@given(strategies.jobs())
def test_a_plugin_deletes_the_objects_that_it_adds(document: Wire) -> None:
    """Each object belongs to one plugin, and is deleted with the job."""
    made = lenient(document)

    added = {(item["kind"], item["metadata"]["name"]) for item in made.objects}

    own = {("PodGroup", pod_group("train"))} | {key for key in added if key[0] == "PersistentVolumeClaim"}
    assert made.made_by.keys() == added - own
    assert len(added) == len(made.objects)


@profile
@given(strategies.jobs())
def test_each_key_is_written_once(document: Wire) -> None:
    """Server-side apply rejects a repeated variable, path, port or volume."""
    for pod in lenient(document).pods:
        spec = pod["spec"]
        volumes = [volume["name"] for volume in spec.get("volumes", [])]
        assert len(set(volumes)) == len(volumes)
        for found in spec["containers"] + spec.get("initContainers", []):
            keys = {
                "env": [entry["name"] for entry in found.get("env", [])],
                "ports": [(entry["containerPort"], entry.get("protocol", "TCP")) for entry in found.get("ports", [])],
                "volumeMounts": [entry["mountPath"] for entry in found.get("volumeMounts", [])],
            }
            assert {key: len(set(entries)) for key, entries in keys.items()} == {
                key: len(entries) for key, entries in keys.items()
            }
            assert {entry["name"] for entry in found.get("volumeMounts", [])} <= set(volumes)


@profile
@given(strategies.texts, strategies.texts, strategies.texts)
def test_any_text_is_passed_to_the_pods(value: str, argument: str, note: str) -> None:
    """As a variable, an argument and an annotation."""
    document = job(task(containers=[container(env=[{"name": "A", "value": value}], args=[argument, ""])]))
    document["spec"]["tasks"][0]["template"]["metadata"] = {"annotations": {"example.org/note": note}}

    (pod,) = render(document).pods

    (main,) = pod["spec"]["containers"]
    assert (main["env"], main["args"]) == ([{"name": "A", "value": value}], [argument, ""])
    assert pod["metadata"]["annotations"]["example.org/note"] == note


@profile
@given(strategies.some_text, strategies.some_text, st.booleans())
def test_any_text_can_be_a_key(private: str, public: str, typed: bool) -> None:  # noqa: FBT001
    """The Secret has the keys of the user in base64; only strict mode checks them."""
    plugin = SshPlugin(ssh_private_key=private, ssh_public_key=public)
    plugins: Any = [plugin] if typed else {"ssh": plugin.to_args()}

    (secret,) = (item for item in render(job(plugins=plugins), strict=False).objects if item["kind"] == "Secret")

    decoded = {key: base64.b64decode(value, validate=True).decode() for key, value in secret["data"].items()}
    assert (decoded["id_rsa"], decoded["id_rsa.pub"], decoded["authorized_keys"]) == (private, public, public)


def trees(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[Wire]:
    """Return mappings of all types of YAML with these numbers."""
    leaves = strategies.texts | numbers | st.booleans() | st.none()
    inner = st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(strategies.texts, inner, max_size=3),
        max_leaves=8,
    )
    return st.dictionaries(strategies.texts, inner, max_size=4)


def read_by_kubectl(tree: Any) -> Any:
    """Return a tree with the numbers as Go parses them: large floats, and digits for floats below 1e21."""
    if isinstance(tree, dict):
        return {key: read_by_kubectl(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [read_by_kubectl(value) for value in tree]
    if isinstance(tree, int) and not -(2**63) <= tree < 2**64:
        tree = float(tree)
    return int(Decimal(repr(tree))) if isinstance(tree, float) and tree.is_integer() and abs(tree) < 1e21 else tree


@profile
@given(trees(st.integers() | st.floats(allow_nan=False)))
def test_any_tree_is_read_back_from_yaml(tree: Wire) -> None:
    """YAML 1.1, as PyYAML reads it."""
    assert yaml.safe_load(job_file.dump([tree])) == tree


@profile
@given(trees(st.integers() | st.floats(allow_nan=False, allow_infinity=False)))
def test_any_tree_is_read_as_kubectl_reads_it(tree: Wire) -> None:
    """The reader follows kubectl, which rejects infinity."""
    assert [document.data for document in job_file.read(job_file.dump([tree]))] == [read_by_kubectl(tree)]


@profile
@given(trees(st.integers() | st.floats(allow_nan=False)))
def test_any_tree_is_read_back_from_json(tree: Wire) -> None:
    """The file is one List of all manifests."""
    assert json.loads(job_file.dump([tree, tree], "json")) == {
        "apiVersion": "v1",
        "kind": "List",
        "items": [tree, tree],
    }


@pytest.mark.parametrize("plugin", BUILT_IN, ids=lambda plugin: plugin.name)
@profile
@given(st.data())
def test_the_arguments_of_a_plugin_have_all_of_its_settings(plugin: type[Plugin], data: st.DataObject) -> None:
    """Any settings that Volcano has can be written as arguments and read back."""
    kinds: dict[type, st.SearchStrategy[Any]] = {
        str: strategies.texts,
        int: strategies.whole_numbers,
        bool: st.booleans(),
    }
    fields = {name: kinds[type(default_of(plugin, name))] for name in flags_of(plugin).values()}
    settings_ = plugin(**data.draw(st.fixed_dictionaries(fields)))

    args = settings_.to_args()

    assert plugin.from_args(args) == settings_
    assert all(isinstance(arg, str) for arg in args)


def test_a_leaf_follows_its_flag_in_the_arguments() -> None:
    """It cannot be part of a text."""
    private: Any = Leaf("private")
    public: Any = Leaf("public")

    args = SshPlugin(ssh_private_key=private, ssh_public_key=public).to_args()

    assert [arg if isinstance(arg, str) else arg.path for arg in args] == [
        "--ssh-private-key",
        "private",
        "--ssh-public-key",
        "public",
    ]
    read = SshPlugin.from_args(args)
    assert (read.ssh_private_key is private, read.ssh_public_key is public) == (True, True)
