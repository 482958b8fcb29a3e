"""Distributed jobs on Kubernetes with Volcano's job plugins, from Pulumi programs.

Names are loaded on first use (`__init__.pyi` lists them), so importing the package takes no time. All names except
`VolcanoJob` and `VolcanoQueue` work without Pulumi.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
