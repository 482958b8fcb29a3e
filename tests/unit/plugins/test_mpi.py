"""Options of the mpi plugin: the host file, single-node jobs, whole host names, and the wait for the workers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import MpiPlugin, ObjectRef, Rendered, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.leaf import Derived, Leaf, substitute
from pulumi_volcano_jobs.plugins.context import JobContext
from tests.conftest import Wire, container, job, problems, task, typed

MODES = ("pulumi", "volcano")
FILE = ObjectRef("ConfigMap", "train-mpi")


def training(workers: int = 2, worker: Wire | None = None, **master: Any) -> tuple[Wire, Wire]:
    """Build a master and its workers, which have GPUs. The keywords are fields of the master's Pod spec."""
    with_gpus = container(resources={"limits": {"nvidia.com/gpu": 4, "cpu": 8}})
    made = task("worker", workers, containers=[worker or with_gpus], restartPolicy="OnFailure")
    return task("master", **{"restartPolicy": "OnFailure", **master}), made


def mpi(*tasks: Wire, **settings: Any) -> Wire:
    """Build an MPI job."""
    return job(*(tasks or training()), plugins=[MpiPlugin(**settings)])


def host_file(made: Rendered) -> Any:
    """Return the text of the host file."""
    (found,) = (item for item in made.objects if (item["kind"], item["metadata"]["name"]) == FILE)
    assert found["data"].keys() == {"hostfile"}
    return found["data"]["hostfile"]


def hosts(**settings: Any) -> str:
    """Return the host file of the job of `training`."""
    text: str = host_file(render(mpi(**settings)))
    return text


def variables(spec: Wire) -> dict[str, Any]:
    """Return the literal variables of a Pod's first container without MPI_HOST."""
    entries = spec["containers"][0].get("env", ())
    return {entry["name"]: entry["value"] for entry in entries if "value" in entry and entry["name"] != "MPI_HOST"}


def spec_of_master(mode: Any = "pulumi", **settings: Any) -> Wire:
    """Return the Pod spec of the master, from its Pod or from the template in the native Job."""
    made = render(mpi(**settings), managed_by=mode)
    spec: Wire = made.pods[0]["spec"] if mode == "pulumi" else made.native_job.to_manifest()["spec"]["tasks"][0]
    return spec if mode == "pulumi" else spec["template"]["spec"]


def test_mpi_without_options_renders_the_objects_of_volcano() -> None:
    """Volcano's plugin has no such options."""
    made = render(mpi())

    assert [item["kind"] for item in made.objects] == ["ConfigMap", "NetworkPolicy", "PodGroup", "Secret", "Service"]
    assert variables(made.pods[0]["spec"]) == {}
    assert "initContainers" not in made.pods[0]["spec"]


FORMS: dict[str, tuple[str, str, dict[str, str]]] = {
    "openmpi": (
        "train-worker-0.train slots=4\ntrain-worker-1.train slots=4\n",
        "/etc/mpi",
        {
            "OMPI_MCA_orte_default_hostfile": "/etc/mpi/hostfile",
            "PRTE_MCA_prte_default_hostfile": "/etc/mpi/hostfile",
        },
    ),
    "intel": (
        "train-worker-0.train:4\ntrain-worker-1.train:4\n",
        "/etc/mpi",
        {"I_MPI_HYDRA_HOST_FILE": "/etc/mpi/hostfile", "I_MPI_HYDRA_IFACE": "eth0", "I_MPI_PERHOST": "4"},
    ),
    "mpich": (
        "train-worker-0.train:4\ntrain-worker-1.train:4\n",
        "/etc/mpi",
        {"HYDRA_HOST_FILE": "/etc/mpi/hostfile", "HYDRA_IFACE": "eth0"},
    ),
    "deepspeed": ("train-worker-0.train slots=4\ntrain-worker-1.train slots=4\n", "/job", {}),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("form", "text", "path", "told"), [(name, *row) for name, row in FORMS.items()], ids=FORMS)
def test_the_master_has_a_host_file_in_the_form_of_its_launcher(
    mode: Any, form: str, text: str, path: str, told: dict[str, str]
) -> None:
    """A variable or a flag gives the launcher its path."""
    spec = spec_of_master(mode, hostfile=form)

    assert hosts(hostfile=form) == text
    assert variables(spec) == told
    assert {"name": "train-mpi", "configMap": {"name": "train-mpi"}} in spec["volumes"]
    assert {"name": "train-mpi", "mountPath": path} in spec["containers"][0]["volumeMounts"]


def test_only_the_master_and_its_init_containers_have_the_host_file() -> None:
    """MPI_HOST is set in the same containers."""
    master, worker = training(initContainers=[container("early")])
    made = render(mpi(master, worker, hostfile="openmpi"))

    (early,) = made.pods[0]["spec"]["initContainers"]
    assert "train-mpi" in {mount["name"] for mount in early["volumeMounts"]}
    assert "train-mpi" not in {volume["name"] for volume in made.pods[1]["spec"]["volumes"]}


def test_native_mode_has_the_same_host_file() -> None:
    """Pulumi creates it, because Volcano creates none."""
    made = render(mpi(hostfile="openmpi"), managed_by="volcano")

    assert host_file(made) == hosts(hostfile="openmpi")
    assert made.extension_objects == {FILE}


SSHD: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "openmpi": (
        {"hostfile": "openmpi"},
        {"OMPI_MCA_plm_rsh_args": "-p 2222", "PRTE_MCA_plm_ssh_args": "-p 2222"},
    ),
    "intel": ({"hostfile": "intel"}, {"I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS": "-p 2222"}),
    "mpich": ({"hostfile": "mpich"}, {"HYDRA_LAUNCHER_EXTRA_ARGS": "-p 2222"}),
    "deepspeed, which has a flag for it": ({"hostfile": "deepspeed"}, {}),
    "no host file": ({}, {}),
    "Open MPI with whole names, and no host file": (
        {"keep_fqdn": True},
        {"OMPI_MCA_plm_rsh_args": "-p 2222", "PRTE_MCA_plm_ssh_args": "-p 2222"},
    ),
}


@pytest.mark.parametrize(("settings", "told"), SSHD.values(), ids=SSHD)
def test_launchers_get_an_sshd_port_that_is_not_22(settings: dict[str, Any], told: dict[str, str]) -> None:
    """The ssh configuration has the port for short names only."""
    document = job(*training(), plugins=[MpiPlugin(port=2222, **settings), SshPlugin(ssh_port=2222)])
    found = variables(render(document).pods[0]["spec"])

    assert {name: value for name, value in found.items() if value == "-p 2222"} == told


SLOTS: dict[str, tuple[Wire, int]] = {
    "GPUs before CPUs": ({"limits": {"nvidia.com/gpu": "8", "cpu": "96"}}, 8),
    "GPUs of another maker": ({"limits": {"amd.com/gpu": 2}}, 2),
    "slices of a GPU": ({"limits": {"nvidia.com/mig-1g.5gb": 3}}, 3),
    "Volcano's shared GPUs": ({"limits": {"volcano.sh/vgpu-number": 1}, "requests": {"cpu": 6}}, 1),
    "whole CPUs": ({"requests": {"cpu": "3500m"}}, 3),
    "the request before the limit": ({"requests": {"cpu": 2}, "limits": {"cpu": 4}}, 2),
    "the limit for want of a request": ({"requests": {"memory": "1Gi"}, "limits": {"cpu": 4}}, 4),
    "a part of a CPU": ({"requests": {"cpu": "200m"}}, 1),
    "nothing": ({}, 1),
}


@pytest.mark.parametrize(("resources", "slots"), SLOTS.values(), ids=SLOTS)
def test_slots_equal_the_devices_that_the_workers_request(resources: Wire, slots: int) -> None:
    """A host has at least one slot."""
    tasks = training(1, container(resources=resources))

    assert host_file(render(mpi(*tasks, hostfile="openmpi"))) == f"train-worker-0.train slots={slots}\n"


def test_the_slots_option_applies_to_all_hosts() -> None:
    """It also overrides the slots of a launcher whose host file has none."""
    assert hosts(hostfile="mpich", slots=16) == "train-worker-0.train:16\ntrain-worker-1.train:16\n"
    assert variables(spec_of_master(hostfile="intel", slots=16))["I_MPI_PERHOST"] == "16"


def test_slots_come_from_the_container_that_runs_sshd() -> None:
    """An earlier sidecar does not change them."""
    sidecar = container("proxy", resources={"requests": {"cpu": 1}})
    sshd = container("sshd", resources={"requests": {"cpu": 6}}, ports=[{"containerPort": 22}])
    master, worker = training(1)
    worker["template"]["spec"]["containers"] = [sidecar, sshd]

    assert host_file(render(mpi(master, worker, hostfile="mpich"))) == "train-worker-0.train:6\n"


UNKNOWN: dict[str, Any] = {
    "an amount": {"limits": {"nvidia.com/gpu": Leaf("x")}},
    "the limits": {"limits": Leaf("x")},
    "all resources": Leaf("x"),
}
VALUES: dict[str, Any] = {"an amount": 2, "the limits": {"cpu": "2"}, "all resources": {"requests": {"cpu": 2}}}


@pytest.mark.parametrize("name", UNKNOWN)
def test_unknown_slots_make_only_the_host_file_unknown(name: str) -> None:
    """The file is written when they are known."""
    made = render(mpi(*training(1, container(resources=UNKNOWN[name])), hostfile="intel"))
    text = host_file(made)

    assert isinstance(text, Derived)
    assert substitute(text, lambda _: VALUES[name]) == "train-worker-0.train:2\n"
    perhost = variables(made.pods[0]["spec"])["I_MPI_PERHOST"]
    assert substitute(perhost, lambda _: VALUES[name]) == "2"


@pytest.mark.parametrize("mode", MODES)
def test_the_master_can_be_a_host(mode: Any) -> None:
    """It has its own slots and precedes the workers."""
    tasks = training(1, containers=[container(resources={"requests": {"cpu": 2}})])
    made = render(mpi(*tasks, hostfile="openmpi", master_as_worker=True), managed_by=mode)

    assert host_file(made) == "train-master-0.train slots=2\ntrain-worker-0.train slots=4\n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("form", "variable"), [("intel", "I_MPI_HYDRA_IFACE"), ("mpich", "HYDRA_IFACE")])
def test_hydra_has_the_address_of_the_master_for_callbacks(mode: Any, form: str, variable: str) -> None:
    """Workers cannot resolve the host name of the master's Pod, unless it uses the host network."""

    def rendered(**spec: Any) -> tuple[str, Any]:
        document = mpi(*training(1, **spec), hostfile=form, master_as_worker=True)
        made = render(document, managed_by=mode, strict=False)
        masters = (
            made.pods[0]["spec"]
            if mode == "pulumi"
            else made.native_job.to_manifest()["spec"]["tasks"][0]["template"]["spec"]
        )
        return host_file(made).splitlines()[0], variables(masters).get(variable)

    assert rendered() == ("train-master-0:1", "eth0")
    assert rendered(hostname="head") == ("head:1", "eth0")
    assert rendered(hostNetwork=True) == ("train-master-0.train:1", None)


def test_several_masters_are_hosts_by_their_addresses() -> None:
    """A master cannot resolve the host names of the other masters."""
    tasks = [{**one, "replicas": 2} for one in training(1)]
    first, second, *_ = host_file(render(mpi(*tasks, hostfile="mpich", master_as_worker=True))).splitlines()

    assert (first, second) == ("train-master-0.train:1", "train-master-1.train:1")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("workers", [(), (task("worker", 0),)], ids=["no task", "no replicas"])
def test_a_single_node_job_runs_on_its_master(mode: Any, workers: tuple[Wire, ...]) -> None:
    """It also has no host file."""
    document = mpi(task("master", restartPolicy="OnFailure"), *workers, master_as_worker=True, wait_for_workers=True)
    assert len(render(document, managed_by=mode).pods) == 1

    document["spec"]["plugins"] = [MpiPlugin(master_as_worker=True, hostfile="openmpi")]
    assert host_file(render(document, managed_by=mode)) == "train-master-0.train slots=1\n"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("policy", ["OnFailure", "Never"])
def test_a_master_without_workers_has_no_port_and_no_hosts(mode: Any, policy: str) -> None:
    """As in Volcano (mpi-master-only.yaml). Warnings about workers do not apply."""
    made = render(job(task("master", restartPolicy=policy), plugins={"mpi": []}), managed_by=mode)

    (pod,) = made.pods
    (main,) = pod["spec"]["containers"]
    assert "ports" not in main
    assert not any(entry["name"] == "MPI_HOST" for entry in main["env"])
    assert [plugin.name for plugin in made.plugins] == ["ssh", "svc", "mpi"]
    assert made.warnings == ()


def test_a_job_without_workers_but_with_other_tasks_is_rejected(snapshot: SnapshotAssertion) -> None:
    """The other task is probably the worker with another name."""
    document = job(task("master", restartPolicy="OnFailure"), task("workers"), plugins={"mpi": []})

    found = problems(document)

    assert typed(found) == [(PLUGIN, "NotFound")]
    assert str(found[0]) == snapshot
    assert len(render(document, strict=False).pods) == 2


@pytest.mark.parametrize("mode", MODES)
def test_open_mpi_keeps_whole_host_names(mode: Any) -> None:
    """Versions 4 and 5 have different variables."""
    assert variables(spec_of_master(mode, keep_fqdn=True)) == {
        "OMPI_MCA_orte_keep_fqdn_hostnames": "true",
        "PRTE_MCA_prte_keep_fqdn_hostnames": "true",
    }


@pytest.mark.parametrize("mode", MODES)
def test_the_wait_runs_after_the_init_containers_of_the_template(mode: Any) -> None:
    """It has the image of the master, and the resources that a namespace can require."""
    own = container(imagePullPolicy="Always", resources={"limits": {"cpu": "1"}}, securityContext={"runAsUser": 7})
    master, worker = training(containers=[own], initContainers=[container("early")])
    made = render(mpi(master, worker, wait_for_workers=True), managed_by=mode)
    spec = (
        made.pods[0]["spec"]
        if mode == "pulumi"
        else made.native_job.to_manifest()["spec"]["tasks"][0]["template"]["spec"]
    )

    early, waiting = spec["initContainers"]
    assert (early["name"], waiting["name"]) == ("early", "wait-for-workers")
    assert {key: waiting[key] for key in own if key != "name"} == {key: own[key] for key in own if key != "name"}
    assert waiting["command"][:2] == ["sh", "-c"]
    assert waiting["command"][3:] == ["wait-for-workers", "/etc/volcano/worker.host", "22", "300"]
    assert waiting["terminationMessagePolicy"] == "FallbackToLogsOnError"


def test_the_wait_has_an_image_and_a_timeout_option() -> None:
    """It uses the port of sshd and the path of the file that svc mounts."""
    tasks = (task("master", restartPolicy="OnFailure"), task("big-worker", restartPolicy="OnFailure"))
    settings = {"wait_for_workers_image": "busybox:1.36.1", "wait_for_workers_timeout": 5, "worker": "big-worker"}
    document = mpi(*tasks, wait_for_workers=True, **settings)
    (waiting,) = render(document).pods[0]["spec"]["initContainers"]

    assert waiting["image"] == "busybox:1.36.1"
    assert waiting["command"][4:] == ["/etc/volcano/big_worker.host", "22", "5"]
    assert {"mountPath": "/etc/volcano", "name": "train-svc"} in waiting["volumeMounts"]
    assert {"mountPath": "/root/.ssh", "name": "train-ssh", "subPath": ".ssh"} in waiting["volumeMounts"]


def test_an_init_container_of_the_template_replaces_the_wait() -> None:
    """The pytorch plugin does the same."""
    own = container("wait-for-workers", command=["own"])
    (found,) = render(mpi(*training(initContainers=[own]), wait_for_workers=True)).pods[0]["spec"]["initContainers"]

    assert found["command"] == ["own"]


def test_a_master_that_waits_may_have_restart_policy_never() -> None:
    """VJ102 warns about a master that does not wait."""
    tasks = training(restartPolicy="Never")

    codes, waiting = (
        {problem.code for problem in render(document).warnings}
        for document in (mpi(*tasks), mpi(*tasks, wait_for_workers=True))
    )

    assert codes - waiting == {"VJ102"}


@pytest.mark.parametrize("mode", MODES)
def test_the_recommended_options_are_a_host_file_and_the_wait(mode: Any) -> None:
    """Explicit options take precedence."""
    (made,) = (found for found in render(mpi(), defaults="recommended", managed_by=mode).plugins if found.name == "mpi")
    assert made.beyond() == {"hostfile": "openmpi", "wait_for_workers": True}

    kept = render(mpi(hostfile="none", wait_for_workers=False), defaults="recommended", managed_by=mode)
    assert all(found.beyond() == {} for found in kept.plugins if found.name == "mpi")


def test_scaling_changes_only_the_host_file_and_mpi_host() -> None:
    """Running Pods are not replaced."""
    plugin = MpiPlugin(hostfile="intel", wait_for_workers=True, keep_fqdn=True, master_as_worker=True)
    small, large, none = (render(job(*training(size), plugins=[plugin])) for size in (1, 3, 0))

    assert plugin.on_job_update(JobContext(small.job)).follows == {FILE}
    assert host_file(small) != host_file(large)
    for made in (small, large, none):
        for entry in (
            made.first_pods["master"]["spec"]["containers"] + made.first_pods["master"]["spec"]["initContainers"]
        ):
            entry["env"] = [item for item in entry["env"] if item["name"] != "MPI_HOST"]
    assert small.first_pods == large.first_pods == none.first_pods


def test_changed_slots_replace_the_pods() -> None:
    """Mpiexec reads the host file once. Without a host file nothing changes."""
    ctx = JobContext(render(mpi()).job)

    assert MpiPlugin(hostfile="openmpi", slots=2).on_job_update(ctx).restart_triggers == (2, False)
    assert MpiPlugin().on_job_update(ctx).restart_triggers == ()
    assert MpiPlugin().on_job_update(ctx).follows == frozenset()


def test_deleting_the_job_deletes_the_host_file() -> None:
    """The other objects of the plugin are deleted with it."""
    ctx = JobContext(render(mpi()).job)

    assert MpiPlugin(hostfile="openmpi").on_job_delete(ctx) == {FILE}
    assert MpiPlugin().on_job_delete(ctx) == frozenset()


PLUGIN = "spec.plugins.mpi"
WRONG: dict[str, tuple[Wire | Callable[[], Wire], list[tuple[str, str]]]] = {
    "a form that there is not": (lambda: mpi(hostfile="slurm"), [(f"{PLUGIN}.hostfile", "NotSupported")]),
    "negative numbers": (
        mpi(hostfile="openmpi", slots=-1, wait_for_workers_timeout=-5),
        [(f"{PLUGIN}.slots", "Invalid"), (f"{PLUGIN}.wait_for_workers_timeout", "Invalid")],
    ),
    "slots without a file": (mpi(slots=4), [(f"{PLUGIN}.slots", "Forbidden")]),
    "a master that nothing lists": (mpi(master_as_worker=True), [(f"{PLUGIN}.master_as_worker", "Forbidden")]),
    "a file without hosts": (mpi(*training(0), hostfile="openmpi"), [(f"{PLUGIN}.hostfile", "Invalid")]),
    "a worker name that is not a task, with the master as a host": (
        mpi(task("master", restartPolicy="OnFailure"), master_as_worker=True, worker="node"),
        [(f"{PLUGIN}.worker", "NotFound")],
    ),
}


@pytest.mark.parametrize(("document", "expected"), WRONG.values(), ids=WRONG)
def test_a_wrong_option_is_rejected(
    document: Wire | Callable[[], Wire], expected: list[tuple[str, str]], snapshot: SnapshotAssertion
) -> None:
    """In composed and in native mode."""
    found = problems(document)

    assert typed(found) == expected
    assert [problem for problem in problems(document, managed_by="volcano") if not problem.warning] == found
    assert list(map(str, found)) == snapshot


def test_a_template_that_has_the_mount_or_the_variable_is_rejected() -> None:
    """The plugin would override the mount and the variable of the template."""
    own = container(
        env=[{"name": "HYDRA_HOST_FILE", "value": "/own"}],
        volumeMounts=[{"name": "own", "mountPath": "/etc/mpi"}],
    )
    tasks = training(containers=[own], volumes=[{"name": "own", "emptyDir": {}}])

    (variable, mount) = problems(mpi(*tasks, hostfile="mpich"))

    main = "spec.tasks[0].template.spec.containers[0]"
    assert typed([variable, mount]) == [(f"{main}.env[0]", "Forbidden"), (f"{main}.volumeMounts[0]", "Forbidden")]
    assert PLUGIN in variable.reason
    assert "HYDRA_HOST_FILE" in variable.reason
    assert PLUGIN in mount.reason
    assert "/etc/mpi" in mount.reason


def test_lenient_mode_writes_a_host_file_for_any_tasks() -> None:
    """It does not check whether the job can run."""
    document = mpi(task("master"), hostfile="intel")

    made = render(document, strict=False)
    assert host_file(made) == ""
    assert variables(made.pods[0]["spec"])["I_MPI_PERHOST"] == "1"


def test_the_wait_reads_the_host_lists_that_svc_mounts() -> None:
    """The path is the one that svc uses."""
    made = render(job(*training(), plugins=[MpiPlugin(wait_for_workers=True), SvcPlugin(inject_hosts_env=False)]))
    (waiting,) = made.pods[0]["spec"]["initContainers"]
    (lists,) = (item for item in made.objects if item["metadata"]["name"] == "train-svc")

    folder, _, name = waiting["command"][4].rpartition("/")
    assert lists["data"][name] == "train-worker-0.train\ntrain-worker-1.train"
    assert {"mountPath": folder, "name": "train-svc"} in waiting["volumeMounts"]


def test_native_mode_keeps_other_metadata_of_a_template() -> None:
    """Volcano's CRD has more metadata than labels and annotations."""
    master = task("master", restartPolicy="OnFailure")
    metadata = {"labels": {"a": "b"}, "finalizers": ["example.org/wait"]}
    master["template"]["metadata"] = metadata

    made = render(job(master, task("worker"), plugins=[MpiPlugin(hostfile="openmpi")]), managed_by="volcano")

    assert made.native_job.to_manifest()["spec"]["tasks"][0]["template"]["metadata"] == metadata
