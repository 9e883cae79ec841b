#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes duck.obj, cucumber.obj and chain.msh of this folder: usage: make_bodies.py FOLDER

The surfaces are unions of capsules cut out of a grid, as in scenes/frames. The chain is a lattice of hexahedra: square rings with
sharp edges, every other one turned, each through the next. duck_fitted.vtu comes from
    pliant mesh duck.obj --hexahedra 16 --out OUT      (smooth.vtu of it)
"""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "frames"))
from make_surfaces import march, union, write  # noqa: E402


def duck():
    body = [((-0.10, 0.0, 0.0), (0.10, 0.01, 0.0), 0.105, 0.115), ((-0.10, 0.02, 0.0), (-0.24, 0.11, 0.0), 0.075, 0.03)]
    neck = [((0.12, 0.05, 0.0), (0.15, 0.19, 0.0), 0.07, 0.06)]
    head = [((0.15, 0.21, 0.0), (0.17, 0.215, 0.0), 0.085, 0.085)]
    beak = [((0.22, 0.195, 0.0), (0.32, 0.185, 0.0), 0.04, 0.025)]
    wings = [((0.06, 0.03, s * 0.10), (-0.13, 0.06, s * 0.14), 0.055, 0.03) for s in (1, -1)]
    return march(union(body + neck + head + beak + wings, 0.012), [-0.30, -0.14, -0.2], [0.38, 0.32, 0.2], 28)


def cucumber():
    turn = [0.25 * math.pi * (k / 8 - 0.5) for k in range(9)]
    at = [(0.5 * math.sin(t), 0.5 * math.cos(t) - 0.45, 0.0) for t in turn]
    parts = [(at[k], at[k + 1], 0.045, 0.045) for k in range(8)]
    return march(union(parts, 0.004), [-0.27, -0.06, -0.07], [0.27, 0.12, 0.07], 36)


def chain(links, path):
    points, cells = {}, []

    def point(p):
        return points.setdefault(p, len(points) + 1)

    for link in range(links): # 5 x 3 cells with a hole of 3 x 1, one thick; pitch of 3.5: half a cell of play
        for a in range(5):
            for b in range(3):
                if 1 <= a <= 3 and b == 1:
                    continue
                corner = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]
                at = []
                for i, j, k in corner:
                    u, v, w = -(a + i), b + j - 1.5, k - 0.5
                    v, w = 0.95 * v, 0.9 * w
                    y, z = (v, w) if link % 2 == 0 else (-w, v)
                    at.append(point((link, round(u - 3.5 * link, 6), round(y, 6), round(z, 6))))
                cells.append(at)
    size = 0.05
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$Nodes", str(len(points))]
    for (_, x, y, z), k in points.items(): # hanging down along y
        lines.append(f"{k} {size * y:.9g} {size * x:.9g} {size * z:.9g}")
    lines += ["$EndNodes", "$Elements", str(len(cells))]
    lines += [f"{k + 1} 5 2 0 0 " + " ".join(map(str, c)) for k, c in enumerate(cells)]
    path.write_text("\n".join(lines + ["$EndElements"]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    write(folder / "duck.obj", *duck())
    write(folder / "cucumber.obj", *cucumber())
    chain(3, folder / "chain.msh")
