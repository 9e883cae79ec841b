# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Adaptive deformable bodies: build, step, read and compare bodies of every scheme, without SOFA.

    import pliant
    body = pliant.TetLodModel(filenames=["coarse.msh", "fine.msh"], youngModulus=4000.0)
    body.fixed = body.rest[:, 1] < 0.01
    body.tools = [pliant.SphereTool((0, 0.1, 0), radius=0.02, velocity=(0, -0.05, 0))]
    for _ in range(100):
        body.step(0.01)
    print(body.skin_points(), body.tool_forces)

Every registered scheme has a class of the name its component has in scenes; pliant.schemes() lists them, and their attributes,
defaults and texts come from the library's own table. doc/python.md has more.
"""
from ._library import (ArgumentError, DivergedError, FileError, LibraryMemoryError, MeshError, PliantError, UnsupportedError)  # noqa: F401
from .body import Body, Energy, StepInfo, Stats, make_class
from .mesh import Mesh
from .registry import Attribute, Scheme, load_scheme, schemes
from .tools import CapsuleTool, PlaneTool, SphereTool, Tool

__version__ = "0.1.0"
_classes = {}


def _class_of(name):
    found = _classes.get(name)
    if found is None:
        scheme = next((s for s in schemes().values() if name in (s.name, s.component)), None)
        if scheme is None:
            return None
        found = make_class(scheme)
        _classes[scheme.name] = _classes[scheme.component] = found
    return found


def body(scheme, **attributes):
    """A body of a scheme by its name: pliant.body("tetlod", filenames=[...])."""
    found = _class_of(scheme) if isinstance(scheme, str) else None
    if found is None:
        raise ArgumentError(f"there is no scheme {scheme!r}; there are {', '.join(schemes())}")
    return found(**attributes)


_LATE = {"compare": "comparison", "Comparison": "comparison", "Scene": "scene"}  # read when they are used: they are heavier


def __getattr__(name):
    if name in _LATE:
        import importlib
        return getattr(importlib.import_module(f".{_LATE[name]}", __name__), name)
    found = _class_of(name) if name.endswith("Model") else None
    if found is None:
        raise AttributeError(f"pliant has no {name}")
    return found


def __dir__():
    return sorted(list(globals()) + list(_LATE) + [s.component for s in schemes().values()])


__all__ = ["ArgumentError", "Attribute", "Body", "CapsuleTool", "DivergedError", "Energy", "FileError", "LibraryMemoryError", "Mesh",
           "MeshError", "PlaneTool", "PliantError", "Scheme", "SphereTool", "Stats", "StepInfo", "Tool", "UnsupportedError", "body",
           "compare", "Comparison", "Scene", "load_scheme", "schemes"]
