# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Type stubs of the classes of all schemes, from the library's table.

    python3 -m pliant.stubs > pliant/__init__.pyi
"""
import inspect

from . import registry


def _method(name, function):
    """A method of Body as its own source declares it, without types."""
    return f"    def {name}{inspect.signature(function)}: ..."


def stubs():
    """The text of __init__.pyi."""
    from . import __all__, body, mesh, scene, tools  # noqa: F401
    from .body import Body
    lines = ["# Made by `python3 -m pliant.stubs`; a test compares it with the library.", "import os",
             "from typing import Any, Literal, Sequence, Union", "", "import numpy as np", "",
             "from ._library import ArgumentError as ArgumentError, DivergedError as DivergedError, FileError as FileError",
             "from ._library import LibraryMemoryError as LibraryMemoryError, MeshError as MeshError, PliantError as PliantError",
             "from ._library import UnsupportedError as UnsupportedError", "from .body import Energy as Energy, StepInfo as StepInfo, Stats as Stats",
             "from .comparison import Comparison as Comparison, compare as compare", "from .mesh import Mesh as Mesh",
             "from .registry import Attribute as Attribute, Scheme as Scheme, load_scheme as load_scheme, schemes as schemes",
             "from .scene import Scene as Scene", "from .tools import CapsuleTool as CapsuleTool, PlaneTool as PlaneTool",
             "from .tools import SphereTool as SphereTool, Tool as Tool", "", "Path = Union[str, 'os.PathLike[str]']",
             "Vector = Union[Sequence[float], np.ndarray]", "Array = Union[Sequence[Any], np.ndarray]", "", "", "class Body:"]
    for name, member in vars(Body).items():
        if name.startswith("_") and name not in ("__enter__", "__exit__"):
            continue
        if isinstance(member, property):
            lines += ["    @property", f"    def {name}(self) -> Any: ..."]
            if member.fset:
                lines += [f"    @{name}.setter", f"    def {name}(self, value: Any) -> None: ..."]
        elif inspect.isfunction(member):
            lines.append(_method(name, member))
    lines += ["    time: float", "", "", "def body(scheme: str, **attributes: Any) -> Body: ..."]
    for scheme in registry.schemes().values():
        lines += ["", "", f"class {scheme.component}(Body):", f'    """{scheme.help[0].upper()}{scheme.help[1:]}."""', "", "    def __init__(", "        self,", "        *,"]
        for a in scheme.attributes.values():
            if a.given:
                lines.append(f"        {a.name}: {a.type} = ...,")
        lines += ["        gravity: Vector = ...,", "        skin: Union[Mesh, Path, None] = ...,", "        threads: int = ...,", "    ) -> None: ..."]
        for a in scheme.attributes.values():
            if a.size == 0 and a.role == registry.IN:
                continue
            lines += ["    @property", f"    def {a.name}(self) -> {'np.ndarray' if a.type in ('Array', 'Vector') else a.type}: ..."]
            if a.running and a.given:
                lines += [f"    @{a.name}.setter", f"    def {a.name}(self, value: {a.type}) -> None: ..."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(stubs(), end="")
