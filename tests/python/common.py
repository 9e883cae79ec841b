# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A small body of every registered scheme, held at its base and poked, and where things are."""
import os
import pathlib

import pliant

SOURCE = pathlib.Path(os.environ["PLIANT_SOURCE_DIR"])
COMMAND = os.environ["PLIANT_COMMAND"]
LOW, HIGH = (0.0, 0.0, 0.0), (1.0, 0.5, 1.0)


def levels(sizes=(2, 4)):
    return [pliant.Mesh.box(LOW, HIGH, (n, max(1, n // 2), n)) for n in sizes]


def arguments(scheme):
    """What a body of a scheme is made from: its mesh need says, no scheme is known by name."""
    meshes = levels()
    need = scheme.meshes
    given = {need["link"]: meshes if need["most"] > 1 else meshes[-1]}
    if "resolution" in scheme.attributes:
        given["resolution"] = 8
    return given


def make(scheme, **more):
    b = pliant.body(scheme.name, **{**arguments(scheme), "youngModulus": 2e4, "massDamping": 2.0, "gravity": (0.0, 0.0, 0.0), **more})
    b.fixed = b.rest[:, 1] < 0.05
    b.tools = [pliant.SphereTool((0.5, 0.72, 0.5), radius=0.2, velocity=(0.0, -0.25, 0.0))]
    return b
