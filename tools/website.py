"""Build the documentation site from docs/ and the docstrings, with Zensical in strict mode.

On the command line::

    python tools/website.py           # into .site/html
    python tools/website.py --serve   # and serve it on http://localhost:8000

The site loads nothing from other servers: diagrams are drawn during the build, and it uses system fonts.

The title of the site has the version of the package. If `[project.urls]` of pyproject.toml has a `Repository` on
GitHub, the site links to it, each page has a link to edit it, and links to files outside docs/ lead there. Run
`make setup` after an edit of pyproject.toml.
"""

from __future__ import annotations

import functools
import html
import http.server
import itertools
import re
import shutil
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mermaidx
import yaml

sys.path.insert(0, str(Path(__file__).parent))

import reference  # a sibling

from pulumi_volcano_jobs.cli.job_schema import job_schema
from pulumi_volcano_jobs.core import distribution
from pulumi_volcano_jobs.core.text import json_text

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SITE = ROOT / ".site"

NAV: dict[str, tuple[str, ...]] = {
    "Begin": ("quickstart", "start"),
    "Frameworks": ("frameworks", "pytorch", "tensorflow", "mpi", "ray", "svc", "ssh", "presets"),
    "GPUs and data": ("gpus", "data", "registries", "secrets"),
    "Write jobs": ("arguments", "options", "modes", "stack", "languages", "commands", "editors", "testing"),
    "Run jobs": ("status", "troubleshooting", "warnings", "updates", "cost", "scale"),
    "Run a platform": ("permissions", "policies", "ci", "upgrades", "schedulers", "versions"),
    "Migrate": ("convert", "migrate-volcano", "migrate-torchx", "migrate-kubeflow"),
}
"""The pages of docs/ by section. docs/index.md has the same sections. A page that does not exist is left out."""
HOME = "index"
CHANGELOG = "changelog"
"""The page of CHANGELOG.md, which is not in docs/."""
FOR_REGISTRY = ("_index", "installation-configuration")
"""Files of docs/ that Pulumi's registry reads. They are not pages of the site."""
BRANCH = "main"

_LINK = re.compile(r"\[([^\]]*)\]\(\.\./([^)]*)\)")
_LOADS = re.compile(
    r"""(?:\bsrc=|<link[^>]*rel="?(?:stylesheet|preconnect|icon)"?[^>]*href=)["']?((?:https?:)?//[^"'\s>]+)"""
)
_UNLINKED = re.compile(r'<span title="(pulumi_volcano_jobs\.[\w.]+)">(?!PluginT<)[A-Z]\w*[a-z]\w*</span>')
"""A type in a signature. Type variables are not described, and names of defaults have capital letters only."""
_MESSAGE = re.compile(r"^```text$", re.MULTILINE)
_TABLE = re.compile(r"<table>.*?</table>", re.DOTALL)
_HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.DOTALL)
_CELL = re.compile(r"<td\b")
_TAG = re.compile(r"<[^>]+>")
_MERMAID = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)


def main(arguments: list[str]) -> int:
    """Build the site. With `--serve`, also serve it."""
    started = time.monotonic()
    assemble(SITE)
    zensical = Path(sys.executable).parent / "zensical"
    done = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=SITE, check=False)
    if done.returncode:
        return done.returncode
    for page in (SITE / "html").rglob("*.html"):
        page.write_text(with_heads(page.read_text("utf-8")), "utf-8")
    foreign = loaded_from_elsewhere(SITE / "html")
    if foreign:
        print("the pages load from other servers:", *sorted(foreign), sep="\n  ")
        return 1
    unknown = types_without_description(SITE / "html")
    if unknown:
        print("no page describes these types of signatures (tools/reference.py):", *sorted(unknown), sep="\n  ")
        return 1
    print(f"the site is in {SITE.relative_to(ROOT)}/html ({time.monotonic() - started:.0f} s)", flush=True)
    if "--serve" in arguments:
        serve(SITE / "html")
    return 0


def assemble(site: Path) -> None:
    """Write the pages and the settings of the site."""
    shutil.rmtree(site, ignore_errors=True)
    (site / "docs" / "reference").mkdir(parents=True)
    address = repository()
    for page in pages():
        text, pictures = page_of_site(page.read_text("utf-8"), page.stem, address)
        edit = f"\n[Edit this page]({address}/edit/{BRANCH}/docs/{page.name}){{ .edit }}\n" if address else ""
        (site / "docs" / page.name).write_text(text + edit, "utf-8")
        for name, picture in pictures.items():
            (site / "docs" / name).write_text(picture, "utf-8")
    for asset in DOCS.glob("*.css"):
        shutil.copy(asset, site / "docs")
    (site / "docs" / "volcano-job.schema.json").write_text(json_text(job_schema()) + "\n", "utf-8")
    (site / "docs" / f"{CHANGELOG}.md").write_text(changelog(address), "utf-8")
    for name, text in reference.pages().items():
        (site / "docs" / "reference" / f"{name}.md").write_text(text, "utf-8")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings["nav"] = nav()
    settings["site_name"] += f" {version(distribution.NAME)}"
    if address:
        settings["repo_url"] = address
    (site / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")


def repository() -> str:
    """Return the address of the repository from pyproject.toml, or an empty string."""
    return distribution.urls().get("Repository", "")


def pages() -> list[Path]:
    """Return the pages of docs/ that the site has."""
    return [page for page in sorted(DOCS.glob("*.md")) if page.stem not in FOR_REGISTRY]


def changelog(address: str) -> str:
    """Return CHANGELOG.md with links as in docs/."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    links = re.sub(r"\]\((?!https?:|#|docs/)", "](../", text).replace("](docs/", "](")
    return page_of_site(links, CHANGELOG, address)[0]


def nav() -> list[Any]:
    """Return the table of contents. Exit if a page of docs/ is not in it."""
    there = {page.stem for page in pages()}
    homeless = there - {HOME}.union(*NAV.values())
    if homeless:
        raise SystemExit(f"tools/website.py: NAV does not contain {', '.join(sorted(homeless))}: add it")
    guides = {section: [f"{name}.md" for name in names if name in there] for section, names in NAV.items()}
    sections = [{section: found} for section, found in guides.items() if found]
    api = {"Reference": [f"reference/{name}.md" for name in reference.names()]}
    return [{"Home": f"{HOME}.md"}, *sections, api, {"Changelog": f"{CHANGELOG}.md"}]


def page_of_site(text: str, name: str, address: str) -> tuple[str, dict[str, str]]:
    """Draw the diagrams of a page, let long messages wrap, and change links to files outside docs/.

    With the address of the repository, these links lead there. Without it, only their text remains.

    Returns:
        The page, and its diagrams by file name.
    """
    pictures: dict[str, str] = {}

    def draw(found: re.Match[str]) -> str:
        file = f"{name}-{len(pictures)}.svg"
        pictures[file] = _picture(found[1])
        return f"![Diagram of the job]({file}){{ .picture }}\n"

    breaking = _MESSAGE.sub("``` { .text .message }", text)
    outside = rf"[\1]({address}/blob/{BRANCH}/\2)" if address else r"\1"
    return _MERMAID.sub(draw, _LINK.sub(outside, breaking)), pictures


@functools.cache
def _picture(diagram: str) -> str:
    return str(mermaidx.render(diagram).svg())


def with_heads(page: str) -> str:
    """Return a page whose table cells have the head of their column, for narrow screens (docs/site.css)."""

    def label(table: re.Match[str]) -> str:
        heads = [html.unescape(_TAG.sub("", head)) for head in _HEAD.findall(table[0])]
        labels = itertools.cycle(f'<td data-head="{html.escape(head)}"' for head in heads)
        return _CELL.sub(lambda _: next(labels), table[0])

    return _TABLE.sub(label, page)


def loaded_from_elsewhere(folder: Path) -> set[str]:
    """Return the addresses of scripts, styles and images that a browser would load from other servers."""
    return {address for page in folder.rglob("*.html") for address in _LOADS.findall(page.read_text("utf-8"))}


def types_without_description(folder: Path) -> set[str]:
    """Return the types of this package in signatures that do not link to a description."""
    return {name for page in folder.rglob("*.html") for name in _UNLINKED.findall(page.read_text("utf-8"))}


def serve(folder: Path) -> None:
    """Serve a folder until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("localhost", 8000), handler) as server:
        print("http://localhost:8000 (Ctrl-C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
