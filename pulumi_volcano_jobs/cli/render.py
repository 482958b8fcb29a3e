"""`volcano-jobs render`: write the manifests to standard output or to a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import quote

import typer

from pulumi_volcano_jobs.cli import arguments
from pulumi_volcano_jobs.cli.check_options import Checks, reject_choice
from pulumi_volcano_jobs.cli.documents import Item, RenderedJob, each_once, process
from pulumi_volcano_jobs.cli.findings import to_stderr
from pulumi_volcano_jobs.cli.output import (
    GENERATED,
    STDIN,
    check_overwrite,
    display_name,
    exit_with_usage_error,
    reason_of,
    write_file,
    write_out,
)
from pulumi_volcano_jobs.core.resource_types import JOB, SECRET
from pulumi_volcano_jobs.core.text import holds_key
from pulumi_volcano_jobs.core.tree import scalars
from pulumi_volcano_jobs.files import job_file
from pulumi_volcano_jobs.kubernetes.manifest import Placeholder, identity
from pulumi_volcano_jobs.kubernetes.object_kinds import group_of
from pulumi_volcano_jobs.plugins import ssh_keys
from pulumi_volcano_jobs.plugins.settings import secret_settings
from pulumi_volcano_jobs.rendering.renderer import Rendered, render
from pulumi_volcano_jobs.spec.options import ManagedBy

EXAMPLES = """\b
Examples:
  volcano-jobs render train.yaml
  volcano-jobs render train.yaml -o manifests --show-keys
  volcano-jobs render train.yaml --show-keys | kubectl apply -f -
  volcano-jobs render train.yaml --managed-by volcano --format json
  volcano-jobs render train.yaml --defaults recommended
  volcano-jobs render train.yaml --set svc.publish_not_ready_addresses=true
  kubectl get vcjob train -o yaml | volcano-jobs render -

Only its owner can read a new folder, because it may contain SSH keys."""

_PLACEHOLDERS = {
    "pulumi": (
        'SSH keys are placeholders, which kubectl apply rejects ("illegal base64 data"): add --show-keys to print the '
        "keys; each run generates a new key pair, unless the ssh plugin has --ssh-private-key and --ssh-public-key"
    ),
    "volcano": "SSH keys are placeholders, which Volcano would use as keys: add --show-keys to print the keys",
}


ManifestFormat = Literal["yaml", "json"]
_COMMENT = f"# {GENERATED} render: edit the job file instead.\n"


def render_command(
    files: arguments.Files,
    *,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="-|DIR", help="Write to a folder, or to standard output (-).")
    ] = STDIN,
    style: Annotated[
        ManifestFormat, typer.Option("--format", help="Output format: YAML documents, or one JSON List.")
    ] = "yaml",
    managed_by: Annotated[
        ManagedBy,
        typer.Option(
            "--managed-by", help="pulumi: render Pods and other objects; volcano: render the Job with its defaults."
        ),
    ] = "pulumi",
    force: arguments.Force = False,
    namespace: Annotated[
        str, typer.Option(metavar="NAMESPACE", help="Namespace of objects without metadata.namespace.")
    ] = "",
    show_keys: Annotated[
        bool, typer.Option("--show-keys", help="Print SSH keys. A key pair that is not set is generated.")
    ] = False,
    lenient: arguments.Lenient = False,
    on_conflict: arguments.Conflict = "error",
    defaults: arguments.PluginDefaults = "volcano",
    plugin_settings: arguments.PluginSettings = None,
    ignore: arguments.Ignore = "",
    kubernetes_version: arguments.KubernetesVersion = "",
    volcano_version: arguments.VolcanoVersion = "",
    cluster: arguments.Cluster = None,
    quiet: arguments.Quiet = False,
) -> None:
    """Print the manifests of Volcano jobs, and the other objects of the files.

    Objects that are not Jobs are printed as they are written, Secrets as well.
    """
    checks = Checks.read(
        files,
        lenient=lenient,
        on_conflict=on_conflict,
        defaults=defaults,
        plugin_settings=plugin_settings,
        ignore=ignore,
        kubernetes_version=kubernetes_version,
        volcano_version=volcano_version,
        cluster=cluster,
        quiet=quiet,
        namespace=namespace,
    )
    if not output:
        exit_with_usage_error("-o needs a folder, or - for standard output")
    reject_choice(checks, managed_by)

    def make(document: job_file.Document, options: Checks) -> Rendered:
        return render(
            document.data,
            **options.settings(managed_by),
            namespace=options.namespace,
            keys=ssh_keys.generate if show_keys else ssh_keys.PLACEHOLDERS,
            redact=not show_keys,
            earlier=document.problems,
        )

    batch = process(files, make, checks, checks.unless_quiet(to_stderr), managed_by, duplicates="command")
    batch.exit_if_failed()
    batch.exit_if_empty(batch.items)
    if output == STDIN:
        manifests = each_once(manifest for item in batch.items for manifest in item.manifests(managed_by))
        write_out(job_file.dump(manifests, style))
        if not show_keys and any(_has_placeholders(item, managed_by) for item in batch.jobs):
            checks.note(_PLACEHOLDERS[managed_by])
    else:
        _write_folder(Path(output), batch.items, managed_by, style, force=force)


def _has_placeholders(document: RenderedJob, managed_by: ManagedBy) -> bool:
    """Check whether a plugin's settings or a manifest contain placeholders."""
    settings = [vars(plugin) for plugin in document.rendered.plugins]
    return any(isinstance(value, Placeholder) for value in scalars([*settings, *document.manifests(managed_by)]))


def _write_folder(
    folder: Path, items: Sequence[Item], managed_by: ManagedBy, style: ManifestFormat, *, force: bool
) -> None:
    """Write a file for each manifest. Only its owner can read a new folder, because it may contain Secrets."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        files = [(folder / name, text, has_key) for name, text, has_key in _manifest_files(items, managed_by, style)]
        for path, text, _ in files:
            check_overwrite(path, text, str(path), force=force)
        for path, text, has_key in files:
            write_file(path, text, private=has_key)
    except FileExistsError:
        exit_with_usage_error(f"cannot write to {display_name(str(folder))}: not a folder")
    except (OSError, ValueError) as error:
        place = getattr(error, "filename2", None) or getattr(error, "filename", None) or folder
        exit_with_usage_error(f"cannot write {display_name(str(place))}: {reason_of(error)}")


def _manifest_files(
    items: Sequence[Item], managed_by: ManagedBy, style: ManifestFormat
) -> Iterator[tuple[str, str, bool]]:
    """Yield the file name and the text of each manifest, and whether it contains a key."""
    comment = _COMMENT if style == "yaml" else ""
    manifests = [(item, manifest) for item in items for manifest in item.manifests(managed_by)]
    groups: dict[tuple[str, str, str], set[str]] = {}
    for _, manifest in manifests:
        groups.setdefault(identity(manifest), set()).add(group_of(manifest["apiVersion"]))
    for item, manifest in manifests:
        kind, namespace, name = identity(manifest)
        # A Job of Kubernetes and one of Volcano can have the same name.
        group = group_of(manifest["apiVersion"]) if len(groups[identity(manifest)]) > 1 else ""
        # Escaped, because a plugin chooses the names of its objects: a path must not leave the folder.
        file = quote(".".join(filter(None, (namespace, kind.lower(), group, name))), safe="")
        text = job_file.dump([manifest], style)
        has_given_key = isinstance(item, RenderedJob) and kind == JOB.kind and _has_given_key(item.rendered)
        yield f"{file}.{style}", comment + text, kind == SECRET.kind or holds_key(text) or has_given_key


def _has_given_key(rendered: Rendered) -> bool:
    """Check whether the settings of a job's plugins contain a private key. A placeholder is not a key."""
    secrets = [getattr(plugin, name) for plugin in rendered.plugins for name in secret_settings(type(plugin)).values()]
    return any(value and not isinstance(value, Placeholder) for value in secrets)
