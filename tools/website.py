"""The documentation as a site: the pages of docs/, and a reference from the code, built strictly by Zensical.

On the command line::

    python tools/website.py           # into .site/html
    python tools/website.py --serve   # and show it on http://localhost:8000

Nothing of it is loaded from elsewhere when it is read: pictures are drawn here, and the fonts are the reader's own.
"""

from __future__ import annotations

import functools
import http.server
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mermaidx
import yaml

sys.path.insert(0, str(Path(__file__).parent))

import reference  # a sibling

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SITE = ROOT / ".site"

NAV: dict[str, tuple[str, ...]] = {
    "Begin": ("start", "frameworks", "troubleshooting"),
    "Use": (
        "modes",
        "updates",
        "policies",
        "stack",
        "languages",
        "commands",
        "convert",
        "testing",
        "versions",
        "warnings",
    ),
    "Migrate": ("migrate-volcano", "migrate-torchx", "migrate-kubeflow"),
}
"""The pages of docs/ by section; one that is not there (yet) is left out."""
HOME = "index"

_LINK = re.compile(r"\[([^\]]*)\]\((\.\./[^)]*)\)")
_LOADS = re.compile(
    r"""(?:\bsrc=|<link[^>]*rel="?(?:stylesheet|preconnect|icon)"?[^>]*href=)["']?((?:https?:)?//[^"'\s>]+)"""
)
_MESSAGE = re.compile(r"^```text$", re.MULTILINE)
_MERMAID = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)


def main(arguments: list[str]) -> int:
    """Build the site; with `--serve` show it too."""
    started = time.monotonic()
    assemble(SITE)
    zensical = Path(sys.executable).parent / "zensical"
    done = subprocess.run([zensical, "build", "--strict", "--clean"], cwd=SITE, check=False)
    if done.returncode:
        return done.returncode
    foreign = loaded_from_elsewhere(SITE / "html")
    if foreign:
        print("the pages load from elsewhere:", *sorted(foreign), sep="\n  ")
        return 1
    print(f"the site is in {SITE.relative_to(ROOT)}/html ({time.monotonic() - started:.0f} s)", flush=True)
    if "--serve" in arguments:
        serve(SITE / "html")
    return 0


def assemble(site: Path) -> None:
    """Write what the site is built from: its pages and its settings."""
    shutil.rmtree(site, ignore_errors=True)
    (site / "docs" / "reference").mkdir(parents=True)
    for page in DOCS.glob("*.md"):
        text, pictures = page_of_site(page.read_text("utf-8"), page.stem)
        (site / "docs" / page.name).write_text(text, "utf-8")
        for name, picture in pictures.items():
            (site / "docs" / name).write_text(picture, "utf-8")
    for asset in DOCS.glob("*.css"):
        shutil.copy(asset, site / "docs")
    for name, text in reference.pages().items():
        (site / "docs" / "reference" / f"{name}.md").write_text(text, "utf-8")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings["nav"] = nav()
    (site / "mkdocs.yml").write_text(yaml.safe_dump(settings, sort_keys=False), "utf-8")


def nav() -> list[Any]:
    """Give the table of contents; a page of docs/ that has no place in it stops the build."""
    there = {page.stem for page in DOCS.glob("*.md")}
    homeless = there - {HOME}.union(*NAV.values())
    if homeless:
        raise SystemExit(f"tools/website.py has no place for {', '.join(sorted(homeless))}: add it to NAV")
    guides = {section: [f"{name}.md" for name in names if name in there] for section, names in NAV.items()}
    sections = [{section: found} for section, found in guides.items() if found]
    return [{"Home": f"{HOME}.md"}, *sections, {"Reference": [f"reference/{name}.md" for name in reference.names()]}]


def page_of_site(text: str, name: str) -> tuple[str, dict[str, str]]:
    """Draw a page's pictures, let long messages break, and leave only the words of links to files that are not there.

    Returns:
        The page, and its pictures by file name.
    """
    pictures: dict[str, str] = {}

    def draw(found: re.Match[str]) -> str:
        file = f"{name}-{len(pictures)}.svg"
        pictures[file] = mermaidx.render(found[1]).svg()
        return f"![The picture that this page tells of]({file}){{ .picture }}\n"

    breaking = _MESSAGE.sub("``` { .text .message }", text)
    return _MERMAID.sub(draw, _LINK.sub(r"\1", breaking)), pictures


def loaded_from_elsewhere(folder: Path) -> set[str]:
    """Give the addresses of scripts, styles and pictures that a reader's browser would ask others for."""
    return {address for page in folder.rglob("*.html") for address in _LOADS.findall(page.read_text("utf-8"))}


def serve(folder: Path) -> None:
    """Show a folder until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("localhost", 8000), handler) as server:
        print("http://localhost:8000 (Ctrl-C stops it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
