"""Distributed jobs on Kubernetes, from Pulumi programs, with Volcano's job plugins.

`__init__.pyi` lists the public names. Each is loaded on first use, so that the import of the package is fast. Only
`VolcanoJob` and `VolcanoQueue` need Pulumi.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
