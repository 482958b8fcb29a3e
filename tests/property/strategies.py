"""Jobs of all kinds that Volcano accepts, as documents."""

from __future__ import annotations

import functools
from typing import Any

from hypothesis import strategies as st

from pulumi_volcano_jobs import (
    EnvPlugin,
    HcclrankPlugin,
    MpiPlugin,
    Plugin,
    PytorchPlugin,
    RayPlugin,
    SshPlugin,
    SvcPlugin,
    TensorflowPlugin,
)

Wire = dict[str, Any]
TASKS = ("chief", "head", "master", "ps", "side-car", "worker")
VARIABLES = ("A", "RANK", "WORLD_SIZE", "lower.case")
ANNOTATIONS = ("example.org/note", "hccl/rankIndex", "volcano.sh/cooldown-time")
LABELS = ("app", "volcano.sh/preemptable")
QUANTITIES = ("1", 2, "500m", "1.5", "2Gi", "1e3", "100Mi", "0.5", "3k")
PRIORITIES = {"high": 1000, "low": 10}

# Any character that can be in a Python string and encoded; surrogates cannot.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
some_text = texts.filter(bool)
images = st.from_regex(r"([a-z0-9]{1,9}/)?[a-z0-9]{1,9}(:[A-Za-z0-9]{1,5})?", fullmatch=True)
names = st.sampled_from(["a", "team-1", "x.y"])
label_values = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,8}[A-Za-z0-9])?", fullmatch=True)
ports = st.integers(1, 65535)
whole_numbers = st.integers(-(2**63), 2**63 - 1)


def mappings(keys: tuple[str, ...], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Wire]:
    """Draw a mapping with some of the keys."""
    return st.dictionaries(st.sampled_from(keys), values, max_size=len(keys))


def _entries(found: Wire, key: str, value: str) -> list[Wire]:
    return [{key: name, value: item} for name, item in found.items()]


@functools.cache
def containers(name: str, volumes: tuple[str, ...]) -> st.SearchStrategy[Wire]:
    """Draw a container that mounts some of the volumes."""
    mounts = st.sets(st.sampled_from(volumes)) if volumes else st.just(set())
    return st.fixed_dictionaries(
        {"name": st.just(name), "image": images},
        optional={
            "command": st.lists(texts, max_size=2),
            "args": st.lists(texts, max_size=2),
            "env": mappings(VARIABLES, some_text).map(lambda found: _entries(found, "name", "value")),
            "ports": st.sets(st.sampled_from([22, 2222, 6379, 8080])).map(
                lambda found: [{"containerPort": number} for number in sorted(found)],
            ),
            "resources": st.fixed_dictionaries(
                {},
                optional={"limits": mappings(("cpu", "memory", "example.org/device"), st.sampled_from(["1", "2Gi"]))},
            )
            | mappings(("cpu", "memory"), st.sampled_from(QUANTITIES)).map(lambda found: {"requests": found}),
            "volumeMounts": mounts.map(
                lambda found: [{"name": volume, "mountPath": f"/{volume}"} for volume in sorted(found)],
            ),
        },
    )


_POD_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "restartPolicy": st.sampled_from(["Never", "OnFailure"]),
        "serviceAccountName": names,
        "priorityClassName": st.sampled_from(["high", "low", "unheard-of"]),
        "hostname": st.just("fixed"),
        "subdomain": st.just("elsewhere"),
        "hostNetwork": st.booleans(),
        "nodeSelector": mappings(("zone", "disk"), label_values),
    },
)
_TEMPLATE_METADATA = st.fixed_dictionaries(
    {},
    optional={"annotations": mappings(ANNOTATIONS, some_text), "labels": mappings(LABELS, label_values)},
)


@st.composite
def templates(draw: st.DrawFn, tasks: tuple[str, ...]) -> Wire:
    """Draw a Pod template. Its containers are named like tasks, because ray looks for them."""
    volumes = draw(st.sampled_from([(), ("data",), ("data", "scratch")]))
    spec = dict(draw(_POD_FIELDS))
    spec["containers"] = [
        draw(containers(name, volumes)) for name in dict.fromkeys([draw(st.sampled_from(tasks)), "main"])
    ]
    if draw(st.booleans()):
        spec["initContainers"] = [draw(containers("early", volumes))]
    if volumes:
        spec["volumes"] = [{"name": name, "emptyDir": {}} for name in volumes]
    return {"metadata": draw(_TEMPLATE_METADATA), "spec": spec}


@functools.cache
def plugin_sets(tasks: tuple[str, ...]) -> st.SearchStrategy[list[Plugin]]:
    """Draw some of the eight plugins, with settings that Volcano accepts for these tasks."""
    role = st.sampled_from(tasks)
    keys: st.SearchStrategy[Wire] = st.just({}) | st.fixed_dictionaries(
        {"ssh_private_key": some_text, "ssh_public_key": some_text}
    )
    path = st.sampled_from(["/root/.ssh", "/home/me/.ssh"])
    kinds: list[st.SearchStrategy[Plugin]] = [
        st.just(EnvPlugin()),
        st.builds(HcclrankPlugin, master=role, worker=role),
        st.builds(MpiPlugin, master=role, worker=role, port=ports),
        st.builds(
            PytorchPlugin,
            master=role,
            worker=role,
            port=ports,
            wait_master_enabled=st.booleans(),
            wait_master_timeout=st.integers(0, 900),
            wait_master_image=images,
        ),
        st.builds(
            RayPlugin,
            head=role,
            worker=role,
            head_container=role,
            worker_container=role,
            port=ports,
            dashboard_port=ports,
            client_port=ports,
        ),
        st.tuples(keys, path, ports).map(lambda d: SshPlugin(**d[0], ssh_key_file_path=d[1], ssh_port=d[2])),
        st.builds(
            SvcPlugin,
            publish_not_ready_addresses=st.booleans(),
            disable_network_policy=st.booleans(),
            inject_hosts_env=st.booleans(),
        ),
        st.builds(TensorflowPlugin, ps=role, worker=role, chief=role, evaluator=role, port=ports),
    ]
    return st.tuples(*(kind | st.none() for kind in kinds)).map(lambda found: [use for use in found if use])


def in_args_form(plugins: list[Plugin]) -> dict[str, list[Any]]:
    """Write plugins as Volcano does."""
    return {plugin.name: plugin.to_args() for plugin in plugins}


def _claims(found: Wire) -> list[Wire]:
    new = {"volumeClaim": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    return [{"mountPath": path} | ({"volumeClaimName": name} if name else new) for path, name in found.items()]


_SPEC = st.fixed_dictionaries(
    {},
    optional={
        "queue": names,
        "priorityClassName": names,
        "volumes": mappings(("/claim", "/other/claim"), st.sampled_from(["", "there"])).map(_claims),
    },
)
_METADATA = st.fixed_dictionaries(
    {"name": st.just("train")},
    optional={
        "namespace": st.sampled_from(["a", "team-1"]),
        "annotations": mappings(ANNOTATIONS, texts),
        "labels": mappings(LABELS, label_values),
    },
)
_TASK_NAMES = st.lists(st.sampled_from(TASKS), min_size=1, max_size=3, unique=True).map(tuple)


@st.composite
def jobs(draw: st.DrawFn) -> Wire:
    """Draw a job that Volcano accepts. Its plugins are typed, or arguments."""
    found = draw(_TASK_NAMES)
    sizes = {name: draw(st.integers(0, 4)) for name in found}
    tasks = []
    for name, size in sizes.items():
        tasks.append({"name": name, "replicas": size, "template": draw(templates(found))})
        if draw(st.booleans()):
            tasks[-1]["minAvailable"] = draw(st.integers(0, size))
    form: Any = draw(st.sampled_from([list, in_args_form]))
    spec = {"tasks": tasks, "plugins": form(draw(plugin_sets(found)))} | draw(_SPEC)
    if draw(st.booleans()):
        spec["minAvailable"] = draw(st.integers(0, sum(sizes.values())))
    return {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": draw(_METADATA), "spec": spec}


@functools.cache
def _fitting_plugins(tasks: tuple[str, ...]) -> st.SearchStrategy[list[Plugin]]:
    kinds: list[st.SearchStrategy[Any]] = [
        st.just(EnvPlugin()),
        st.just(HcclrankPlugin()),
        st.builds(SshPlugin, ssh_port=ports),
        st.builds(SvcPlugin, publish_not_ready_addresses=st.booleans(), inject_hosts_env=st.booleans()),
        st.builds(TensorflowPlugin, port=ports),
    ]
    if "master" in tasks:
        kinds += [
            st.builds(MpiPlugin, port=ports),
            st.builds(PytorchPlugin, port=ports, wait_master_enabled=st.booleans()),
        ]
    if "head" in tasks:
        kinds += [st.just(RayPlugin(head_container="main", worker_container="main", port=6380))]
    return st.tuples(*(kind | st.none() for kind in kinds)).map(lambda found: [use for use in found if use])


@st.composite
def fitting_jobs(draw: st.DrawFn) -> Wire:
    """Draw a job with the tasks that its plugins look for, and without the variables that they set.

    Only one container has a port if the Pods use the host network.
    """
    document = draw(jobs())
    found = ("worker", *sorted(draw(st.sets(st.sampled_from(["head", "master", "ps"])))))
    sizes = {name: 1 if name in {"master", "head"} else draw(st.integers(1, 3)) for name in found}
    tasks: list[Wire] = [
        {"name": name, "replicas": size, "template": draw(templates(found))} for name, size in sizes.items()
    ]
    for part in tasks:
        spec = part["template"]["spec"]
        for holder in spec["containers"][1:] if spec.get("hostNetwork") else ():
            holder.pop("ports", None)
        for holder in spec["containers"] + spec.get("initContainers", []):
            holder["env"] = [entry for entry in holder.get("env", []) if entry["name"] not in {"RANK", "WORLD_SIZE"}]
    document["spec"].pop("minAvailable", None)
    document["spec"] |= {"tasks": tasks, "plugins": draw(_fitting_plugins(found))}
    return document
