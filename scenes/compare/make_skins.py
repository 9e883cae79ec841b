#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the surfaces that all bodies of a comparison share: bar_skin.obj, box_skin.obj, sphere_skin.obj.

usage: make_skins.py FOLDER

They are nobody's own surface: regular grids on the box and bar of scenes/meshes, and a subdivided icosahedron for the sphere.
The liver's is scenes/meshes/liver_surface.obj.
"""
import math
import pathlib
import sys


def write(path, points, tris):
    lines = [f"# {len(points)} points, {len(tris)} triangles, made by make_skins.py"]
    lines += ["v " + " ".join(f"{v:.6g}" for v in p) for p in points]
    lines += ["f " + " ".join(str(i + 1) for i in t) for t in tris]
    path.write_text("\n".join(lines) + "\n")


def box(size, cells):
    """Closed surface of [0, size] with cells per side, outward; squares are cut the same way on opposite sides."""
    number, points, tris = {}, [], []

    def point(index):
        if index not in number:
            number[index] = len(points)
            points.append([size[k] * index[k] / cells[k] for k in range(3)])
        return number[index]

    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, cells[axis]):
            for i in range(cells[u]):
                for j in range(cells[v]):
                    corner = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        index = [0, 0, 0]
                        index[axis], index[u], index[v] = side, i + a, j + b
                        corner.append(point(tuple(index)))
                    if side == 0:
                        corner.reverse()
                    a, b, c, d = corner
                    tris += [(a, b, c), (a, c, d)] if (i + j) % 2 else [(a, b, d), (b, c, d)]
    return points, tris


def sphere(radius, cuts):
    g = (1 + math.sqrt(5)) / 2
    points = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g), (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    tris = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6), (7, 1, 8),
            (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10), (8, 6, 7), (9, 8, 1)]

    def on_sphere(p):
        length = math.sqrt(sum(v * v for v in p))
        return tuple(radius * v / length for v in p)

    points = [on_sphere(p) for p in points]
    for _ in range(cuts):
        middle, finer = {}, []

        def half(a, b):
            key = (min(a, b), max(a, b))
            if key not in middle:
                middle[key] = len(points)
                points.append(on_sphere([(x + y) / 2 for x, y in zip(points[a], points[b])]))
            return middle[key]

        for a, b, c in tris:
            ab, bc, ca = half(a, b), half(b, c), half(c, a)
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        tris = finer
    return points, tris


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    write(folder / "bar_skin.obj", *box((1, 1, 4), (6, 6, 24)))
    write(folder / "box_skin.obj", *box((1, 1, 1), (10, 10, 10)))
    write(folder / "sphere_skin.obj", *sphere(1.0, 3))
