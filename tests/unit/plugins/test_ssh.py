"""Options of the ssh plugin: key types, file modes, aliases, the port of mpi, and a key pair in a Secret."""

from __future__ import annotations

import base64
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from syrupy.assertion import SnapshotAssertion

from pulumi_volcano_jobs import JobContext, MpiPlugin, SshPlugin, SvcPlugin, render
from pulumi_volcano_jobs.core.leaf import Leaf
from pulumi_volcano_jobs.plugins import ssh_keys
from tests.conftest import PAIR, Wire, container, job, problems, task, typed

HOME = "/home/me/.ssh"
KINDS: tuple[ssh_keys.KeyType, ...] = get_args(ssh_keys.KeyType)
needs_ssh = pytest.mark.skipif(shutil.which("ssh") is None, reason="OpenSSH's client is not installed")


def with_ssh(*tasks: Wire, **settings: Any) -> Wire:
    """Build a job with the plugin. Without tasks it has one task with one Pod."""
    return job(*tasks, plugins=[SshPlugin(**settings), SvcPlugin()])


def secret(document: Wire, **options: Any) -> dict[str, str]:
    """Return the data of the job's Secret. Placeholders are not decoded."""
    (data,) = (item["data"] for item in render(document, **options).objects if item["kind"] == "Secret")
    return {key: text if text.startswith("<") else base64.b64decode(text).decode() for key, text in data.items()}


def config(document: Wire, **options: Any) -> str:
    """Return the ssh configuration."""
    return secret(document, **options)["config"]


def volume(document: Wire, **options: Any) -> Wire:
    """Return the volume with the keys in the first Pod."""
    spec = render(document, **options).pods[0]["spec"]
    (found,) = (item for item in spec["volumes"] if item["name"] == "train-ssh")
    return dict(found)


def mode(document: Wire, **options: Any) -> str:
    """Return the mode of the files in the first Pod."""
    found = volume(document, **options)
    return oct((found.get("secret") or found["projected"])["defaultMode"])


class TestKeyType:
    """`key_type`: the type of the generated key pair and the names of its files."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_files_have_the_names_of_ssh_keygen(self, kind: ssh_keys.KeyType) -> None:
        """Ssh looks for these names. The authorized key is the same."""
        document = with_ssh(key_type=kind)

        assert {key: text for key, text in secret(document).items() if key != "config"} == {
            f"id_{kind}": "<private>",
            f"id_{kind}.pub": "<public>",
            "authorized_keys": "<public>",
        }
        assert [(item["key"], item["path"]) for item in volume(document)["secret"]["items"]] == [
            (f"id_{kind}", f".ssh/id_{kind}"),
            (f"id_{kind}.pub", f".ssh/id_{kind}.pub"),
            ("authorized_keys", ".ssh/authorized_keys"),
            ("config", ".ssh/config"),
        ]

    @needs_ssh
    @pytest.mark.parametrize("name", ["its own", "id_rsa"])
    @pytest.mark.parametrize("kind", KINDS)
    def test_openssh_reads_the_private_key(self, kind: ssh_keys.KeyType, name: str, tmp_path: Path) -> None:
        """Ssh reads the type from the file, so a Secret can have any type."""
        pair = ssh_keys.generate(kind)
        file = tmp_path / (f"id_{kind}" if name == "its own" else name)
        file.touch(mode=0o600)
        file.write_text(pair.private, "utf-8")

        read = subprocess.run(["ssh-keygen", "-y", "-f", file], capture_output=True, text=True, check=True)

        assert read.stdout.split()[:2] == pair.public.split()
        assert pair.public.split()[0] in {f"ssh-{kind}", "ecdsa-sha2-nistp256"}

    def test_another_type_than_rsa_is_rejected_in_native_mode(self, snapshot: SnapshotAssertion) -> None:
        """Volcano's controllers create RSA pairs only."""
        found = problems(with_ssh(key_type="ed25519"), managed_by="volcano")

        assert typed(found) == [(f"{AT}.key_type", "Forbidden")]
        assert str(found[0]) == snapshot


AT = "spec.plugins.ssh"
ROOT, ME, SOMEBODY = {"runAsUser": 0}, {"runAsUser": 1000}, {"runAsNonRoot": True}
LATER = {"runAsUser": Leaf("tasks[0].user")}
# Security context of the Pod, security contexts of its containers, key path and mode.
MODES: dict[str, tuple[Wire, list[Wire], str, str]] = {
    "root": (ROOT, [{}], "/root/.ssh", "0o600"),
    "root elsewhere": (ROOT, [{}], HOME, "0o600"),
    "root by its container": (ME, [ROOT], HOME, "0o600"),
    "another user": (ME, [{}], HOME, "0o644"),
    "another user by its container": (ROOT, [ME], HOME, "0o644"),
    "another user whose number the image knows": (SOMEBODY, [{}], HOME, "0o644"),
    "another user with a group": ({**ME, "fsGroup": 2000}, [{}], HOME, "0o640"),
    "another user with a group that comes later": ({**ME, "fsGroup": Leaf("group")}, [{}], HOME, "0o644"),
    "unknown user, path of root": ({}, [{}], "/root/.ssh", "0o600"),
    "unknown user, other path": ({}, [{}], HOME, "0o644"),
    "a user that comes later": (LATER, [{}], "/root/.ssh", "0o600"),
    "a user that is null": ({"runAsUser": None}, [{}], "/root/.ssh", "0o600"),
    "two other users": ({}, [ME, {"runAsUser": 1001}], HOME, "0o644"),
}
# The same, for users that no mode fits.
WARNED: dict[str, tuple[Wire, list[Wire], str, str]] = {
    "another user where only root may look": (ME, [{}], "/root/.ssh", "0o644"),
    "root with a group, which nothing helps": ({**ROOT, "fsGroup": 2000}, [{}], "/root/.ssh", "0o600"),
    "root and an unknown user": ({}, [ROOT, {}], HOME, "0o644"),
    "root and another": ({}, [ROOT, ME], HOME, "0o644"),
    "root and another user": ({}, [SOMEBODY, ROOT], "/root/.ssh", "0o600"),
}


def with_users(pod: Wire, containers: list[Wire], path: str) -> Wire:
    """Return a job with these security contexts of the Pod and its containers, with file modes by user."""
    named = zip(("main", "two"), containers, strict=False)
    made = [container(name, securityContext=context) for name, context in named]
    return with_ssh(task(securityContext=pod, containers=made), ssh_key_file_path=path, file_modes="by-user")


class TestFileModes:
    """`file_modes="by-user"`: the mode with which ssh accepts the key of each user."""

    @pytest.mark.parametrize(("pod", "containers", "path", "expected"), MODES.values(), ids=MODES)
    def test_file_modes_follow_from_the_users(
        self, pod: Wire, containers: list[Wire], path: str, expected: str
    ) -> None:
        """Unknown users have the mode of Volcano."""
        document = with_users(pod, containers, path)

        assert mode(document) == expected
        assert render(document).warnings == ()

    @pytest.mark.parametrize(("pod", "containers", "path", "expected"), WARNED.values(), ids=WARNED)
    def test_users_without_a_right_mode_have_a_warning(
        self, pod: Wire, containers: list[Wire], path: str, expected: str, snapshot: SnapshotAssertion
    ) -> None:
        """Ssh rejects the key of one of them, or the user cannot read it."""
        document = with_users(pod, containers, path)

        warnings = render(document).warnings

        assert mode(document) == expected
        assert typed(warnings) == [("spec.tasks[0].template.spec.securityContext", "VJ108")]
        assert str(warnings[0]) == snapshot

    def test_each_task_has_its_own_file_mode(self) -> None:
        """The users of a task do not affect other tasks."""
        document = with_ssh(
            task("a", securityContext=ROOT), task("b", securityContext=ME), ssh_key_file_path=HOME, file_modes="by-user"
        )

        modes = [pod["spec"]["volumes"][0]["secret"]["defaultMode"] for pod in render(document).pods]
        assert modes == [0o600, 0o644]

    def test_init_containers_do_not_change_the_file_mode(self) -> None:
        """They often run as root to prepare a volume, and do not log in."""
        init = container("init", securityContext=ROOT)

        document = with_ssh(
            task(securityContext=ME, initContainers=[init]), ssh_key_file_path=HOME, file_modes="by-user"
        )

        assert (mode(document), render(document).warnings) == ("0o644", ())

    def test_modes_by_user_are_rejected_in_native_mode(self, snapshot: SnapshotAssertion) -> None:
        """Volcano's controllers mount the files with their own modes."""
        found = problems(with_ssh(file_modes="by-user"), managed_by="volcano")

        assert typed(found) == [(f"{AT}.file_modes", "Forbidden")]
        assert str(found[0]) == snapshot


class TestAddressAliases:
    """`address_aliases`: the port also applies to `pod.job`, the names in MPI_HOST."""

    def test_each_host_has_two_names(self) -> None:
        """They are the name of the Pod and its address. A pattern matches all Pods of a task."""
        document = with_ssh(task(replicas=2), task("fixed", hostname="node"), address_aliases=True, ssh_port=2222)

        assert config(document) == (
            "StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
            "Host train-worker-* !*.*\n  HostName %h.train\nHost train-worker-*\n  Port 2222\n"
            "Host node node.train\n  HostName node.train\n  Port 2222\n"
        )

    @needs_ssh
    @pytest.mark.parametrize(
        ("host", "domain"),
        [("train-worker-0", "nodes"), ("train-worker-late-0", "train"), ("train-worker-late-1", "train")],
    )
    def test_tasks_with_a_common_prefix_have_their_own_domains(self, host: str, domain: str, tmp_path: Path) -> None:
        """The pattern of the shorter name also matches the Pods of the longer one."""
        tasks = (task(subdomain="nodes"), task("worker-late", 2))
        file = tmp_path / "config"
        file.write_text(config(with_ssh(*tasks, address_aliases=True)), "utf-8")

        answer = subprocess.run(["ssh", "-G", "-F", file, host], capture_output=True, text=True, check=True).stdout

        assert f"hostname {host}.{domain}" in answer.splitlines()

    @needs_ssh
    @pytest.mark.parametrize(
        ("aliases", "host", "port"),
        [
            (True, "train-worker-0", "2222"),
            (True, "train-worker-0.train", "2222"),
            (True, "train-worker-7", "2222"),
            (True, "train-worker-7.train", "2222"),
            (True, "train-worker-0.train.default.svc.cluster.local", "2222"),
            (True, "train-other-0", "22"),
            (False, "train-worker-0", "2222"),
            (False, "train-worker-0.train", "22"),
            (False, "train-worker-7", "22"),
        ],
    )
    def test_openssh_finds_the_port_of_an_address(self, aliases: bool, host: str, port: str, tmp_path: Path) -> None:  # noqa: FBT001  # a table's column
        """Without the option ssh uses port 22 for addresses, as in Volcano, and does not know new Pods."""
        file = tmp_path / "config"
        file.write_text(config(with_ssh(address_aliases=aliases, ssh_port=2222)), "utf-8")

        answer = subprocess.run(["ssh", "-G", "-F", file, host], capture_output=True, text=True, check=True).stdout

        settings = dict(line.split(" ", 1) for line in answer.splitlines())
        is_known = port == "2222" or "." in host
        address = host if "." in host or not is_known else f"{host}.train"
        assert (settings["hostname"], settings["port"]) == (address, port)

    def test_address_aliases_are_rejected_in_native_mode(self, snapshot: SnapshotAssertion) -> None:
        """Volcano's controllers write the ssh configuration."""
        found = problems(with_ssh(address_aliases=True), managed_by="volcano")

        assert typed(found) == [(f"{AT}.address_aliases", "Forbidden")]
        assert str(found[0]) == snapshot


FROM_SECRET = SshPlugin(key_secret="team", key_secret_private="id_rsa", key_secret_public="id_rsa.pub")


class TestKeySecret:
    """`key_secret`: the key pair stays in the cluster."""

    def test_pods_mount_the_secret_and_the_configuration(self) -> None:
        """The keys are those of kubernetes.io/ssh-auth and kubectl. The public key is authorized."""
        assert volume(with_ssh(key_secret="team"))["projected"] == {
            "sources": [
                {
                    "secret": {
                        "name": "team",
                        "items": [
                            {"key": "ssh-privatekey", "path": ".ssh/id_rsa"},
                            {"key": "ssh-publickey", "path": ".ssh/id_rsa.pub"},
                            {"key": "ssh-publickey", "path": ".ssh/authorized_keys"},
                        ],
                    }
                },
                {"secret": {"name": "train-ssh", "items": [{"key": "config", "path": ".ssh/config"}]}},
            ],
            "defaultMode": 0o600,
        }

    def test_the_keys_of_the_secret_can_have_other_names(self) -> None:
        """A Secret of Volcano has other keys."""
        (keys_of, _) = volume(job(plugins=[FROM_SECRET, SvcPlugin()]))["projected"]["sources"]

        assert [item["key"] for item in keys_of["secret"]["items"]] == ["id_rsa", "id_rsa.pub", "id_rsa.pub"]

    def test_the_secret_of_the_job_has_only_the_configuration(self) -> None:
        """A key pair in the settings is not added."""
        assert list(secret(with_ssh(key_secret="team"), keys=PAIR)) == ["config"]

    def test_file_modes_by_user_apply_to_a_key_secret(self) -> None:
        """Secret and configuration are in one volume."""
        document = with_ssh(task(securityContext=ME), key_secret="team", file_modes="by-user", ssh_key_file_path=HOME)

        assert mode(document) == "0o644"

    def test_the_outputs_have_no_key(self) -> None:
        """They have the name of the Secret."""
        made = render(job(plugins=[FROM_SECRET, SvcPlugin()]))

        assert made.plugins[0].outputs(JobContext(made.job, PAIR)) == {
            "secret_name": "team",
            "public_key": None,
            "private_key": None,
        }

    def test_a_key_secret_is_rejected_in_native_mode(self, snapshot: SnapshotAssertion) -> None:
        """Volcano's controllers mount their own Secret. The names of the keys are rejected also."""
        found = problems(job(plugins=[FROM_SECRET, SvcPlugin()]), managed_by="volcano")

        assert typed(found) == [
            (f"{AT}.key_secret", "Forbidden"),
            (f"{AT}.key_secret_private", "Forbidden"),
            (f"{AT}.key_secret_public", "Forbidden"),
        ]
        assert [problem.value for problem in found] == ['"team"', '"id_rsa"', '"id_rsa.pub"']
        assert {(problem.reason, problem.hint) for problem in found} == {(found[0].reason, found[0].hint)}
        assert str(found[0]) == snapshot

    def test_the_message_has_no_unknown_name(self) -> None:
        """The name can be an Output."""
        name = Leaf("spec.plugins.ssh.key_secret")

        assert volume(with_ssh(key_secret=name))["projected"]["sources"][0]["secret"]["name"] is name
        found = problems(with_ssh(key_secret=name), managed_by="volcano")
        (known,) = problems(with_ssh(key_secret="team"), managed_by="volcano")
        assert found == [replace(known, value="")]

    @pytest.mark.parametrize("given", ["", "other"])
    def test_an_unknown_secret_name_can_be_a_job_option(self, given: str) -> None:
        """It takes precedence over the setting of the plugin."""
        name = Leaf("plugin_options.ssh.key_secret")

        made = volume(with_ssh(key_secret=given), plugin_options={"ssh": {"key_secret": name}})

        assert made["projected"]["sources"][0]["secret"]["name"] is name


GIVEN = {"ssh_private_key": PAIR.private, "ssh_public_key": PAIR.public}
WRONG: dict[str, tuple[Wire, str, str]] = {
    "a type that there is not": ({"key_type": "dsa"}, "key_type", "NotSupported"),
    "modes that there are not": ({"file_modes": "0600"}, "file_modes", "NotSupported"),
    "aliases that are not a boolean": ({"address_aliases": "both"}, "address_aliases", "TypeInvalid"),
    "a type of a given pair": ({"key_type": "ecdsa", **GIVEN}, "key_type", "Forbidden"),
    "two pairs": ({"key_secret": "team", **GIVEN}, "key_secret", "Forbidden"),
    "a name that no Secret has": ({"key_secret": "Team_keys"}, "key_secret", "Invalid"),
    "a name that is too long": ({"key_secret": "a" * 254}, "key_secret", "Invalid"),
    "the job's own Secret": ({"key_secret": "train-ssh"}, "key_secret", "Duplicate"),
    "a Secret that is not a name": ({"key_secret": ["team"]}, "key_secret", "TypeInvalid"),
    "a key with a slash": (
        {"key_secret": "team", "key_secret_private": "keys/id_rsa"},
        "key_secret_private",
        "Invalid",
    ),
    "a key that is a directory": (
        {"key_secret": "team", "key_secret_public": ".."},
        "key_secret_public",
        "Invalid",
    ),
    "a key that is this directory": (
        {"key_secret": "team", "key_secret_public": "."},
        "key_secret_public",
        "Invalid",
    ),
    "a key without a name": ({"key_secret": "team", "key_secret_public": ""}, "key_secret_public", "Invalid"),
    "a key that is not known yet": (
        {"key_secret": "team", "key_secret_public": Leaf("key")},
        "key_secret_public",
        "TypeInvalid",
    ),
    "a private key in no Secret": ({"key_secret_private": "id_rsa"}, "key_secret_private", "Required"),
    "a public key in no Secret": ({"key_secret_public": "id_rsa.pub"}, "key_secret_public", "Required"),
}


@pytest.mark.parametrize(("settings", "setting", "error_type"), WRONG.values(), ids=WRONG)
def test_a_wrong_setting_is_rejected(
    settings: Wire, setting: str, error_type: str, snapshot: SnapshotAssertion
) -> None:
    """The message never shows a key."""
    found = problems(lambda: with_ssh(**settings))

    assert typed(found) == [(f"{AT}.{setting}", error_type)]
    assert str(found[0]) == snapshot


GIVEN_TWICE: dict[str, tuple[Wire, Wire]] = {
    "a type of a Secret's pair": ({"key_type": "ecdsa", "key_secret": "team"}, {"key_type": "ecdsa", **GIVEN}),
    "a public key and a Secret": (
        {"key_secret": "team", "ssh_public_key": PAIR.public},
        {"key_secret": "team", **GIVEN},
    ),
}


@pytest.mark.parametrize(("settings", "alike"), GIVEN_TWICE.values(), ids=GIVEN_TWICE)
def test_each_way_to_set_the_pair_has_the_same_problem(settings: Wire, alike: Wire) -> None:
    """A Secret is one way, a private key with a public key another."""
    assert problems(with_ssh(**settings)) == problems(with_ssh(**alike))


def mpi(ssh: SshPlugin | None = None, **settings: Any) -> Wire:
    """Build an MPI job."""
    plugins = [MpiPlugin(**settings), *([ssh] if ssh else [])]
    return job(task("master", restartPolicy="OnFailure"), task(replicas=2), plugins=plugins)


PORTS: dict[str, tuple[Wire, int, int]] = {
    "neither is given": (mpi(), 22, 22),
    "mpi's is ssh's too": (mpi(port=2222), 2222, 2222),
    "also with another setting of ssh's": (mpi(SshPlugin(key_type="ecdsa"), port=2222), 2222, 2222),
    "ssh's is mpi's too": (mpi(SshPlugin(ssh_port=2222)), 2222, 2222),
    "both are given": (mpi(SshPlugin(ssh_port=22), port=2222), 22, 2222),
}


class TestRecommended:
    """`defaults="recommended"`: file modes by user, the port for both names, and the port of mpi."""

    @pytest.mark.parametrize(("document", "ssh", "declared"), PORTS.values(), ids=PORTS)
    def test_both_plugins_use_one_port(self, document: Wire, ssh: int, declared: int) -> None:
        """If each has its own port, the problem is reported."""
        made = render(document, defaults="recommended")

        assert f"  Port {ssh}\n" in config(document, defaults="recommended")
        assert made.pods[0]["spec"]["containers"][0]["ports"] == [{"name": "mpijob-port", "containerPort": declared}]
        assert [warning.code for warning in made.warnings] == (["VJ111"] if ssh != declared else [])

    def test_both_plugins_use_a_port_from_arguments(self) -> None:
        """Jobs in YAML have arguments."""
        document = mpi() | {"spec": mpi()["spec"] | {"plugins": {"mpi": ["--port=2222"]}}}

        assert "  Port 2222\n" in config(document, defaults="recommended")
        assert "  Port 22\n" in config(document)

    def test_the_port_is_an_argument_in_native_mode(self) -> None:
        """Options that Volcano's controllers do not have stay off, because the user did not set them."""
        made = render(mpi(port=2222), defaults="recommended", managed_by="volcano")

        assert made.native_job.to_manifest()["spec"]["plugins"]["ssh"] == ["--ssh-port=2222"]
        (ssh,) = (plugin for plugin in made.plugins if plugin.name == "ssh")
        assert ssh.beyond() == {}

    def test_recommended_options_fix_a_job_for_another_user(self) -> None:
        """They add both names and the mode."""
        document = with_ssh(task(securityContext=ROOT), ssh_key_file_path=HOME)

        assert (mode(document), mode(document, defaults="recommended")) == ("0o644", "0o600")
        assert [warning.code for warning in render(document).warnings] == ["VJ108"]
        assert render(document, defaults="recommended").warnings == ()
        assert "Host train-worker-* !*.*\n" in config(document, defaults="recommended")

    def test_explicit_settings_take_precedence(self) -> None:
        """This applies to all plugins."""
        document = with_ssh(task(securityContext=ROOT), file_modes="volcano", ssh_key_file_path=HOME)

        assert mode(document, defaults="recommended") == "0o644"


def test_scaling_does_not_change_the_patterns() -> None:
    """Running Pods never see a change of the file, and new Pods match the patterns."""
    before, after = (config(with_ssh(task(replicas=number), address_aliases=True)) for number in (2, 3))

    assert before == after


@pytest.mark.parametrize("settings", [{"key_type": "ed25519"}, {"key_secret": "team"}], ids=["ed25519", "Secret"])
def test_scaling_changes_nothing_in_a_pod(settings: Wire) -> None:
    """Only the configuration in the Secret changes."""

    def first(replicas: int) -> Wire:
        document = with_ssh(task(replicas=replicas), file_modes="by-user", address_aliases=True, **settings)
        return dict(render(document).pods[0]["spec"])

    assert first(2) == first(3)
