#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The surfaces that all bodies of a comparison share, and balls of hexahedra.

Surfaces are nobody's own: regular grids on boxes, a subdivided icosahedron for the ball. make_compare.py writes them.
"""
import math


def write(path, points, tris):
    lines = [f"# {len(points)} points, {len(tris)} triangles, made by tools/scenes/make_compare.py"]
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


def ball(core, layers):
    """Points and hexahedra of the unit ball: a rounded cube of core^3 cells in `layers` shells. Scaled to the ball's volume."""
    number, points, hexes = {}, [], []

    def place(index, layer):
        # even angles on the faces; the inner cube is half round, the shells go out straight
        p = [math.tan(math.pi / 4 * (2 * i / core - 1)) for i in index]
        top, length = max(abs(v) for v in p), math.sqrt(sum(v * v for v in p))
        if length == 0:
            return [0.0, 0.0, 0.0]
        blend = 0.5 * top
        inner = [0.45 * ((1 - blend) * v + blend * 1.2 * v * top / length) for v in p]
        part = layer / layers
        return [(1 - part) * a + part * v / length for a, v in zip(inner, p)]

    def point(index, layer=0):
        key = (index, layer)
        if key not in number:
            number[key] = len(points)
            points.append(place(index, layer))
        return number[key]

    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    for i in range(core):
        for j in range(core):
            for k in range(core):
                hexes.append([point((i + a, j + b, k + c)) for c in (0, 1) for a, b in square])
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, core):
            for i in range(core):
                for j in range(core):
                    face = []
                    for a, b in square if side else square[::-1]:
                        index = [0, 0, 0]
                        index[axis], index[u], index[v] = side, i + a, j + b
                        face.append(tuple(index))
                    for layer in range(layers):
                        hexes.append([point(f, layer + s) for s in (0, 1) for f in face])

    def six_volumes(a, b, c, d):
        e = [[points[q][k] - points[a][k] for k in range(3)] for q in (b, c, d)]
        return sum(e[0][k] * (e[1][(k + 1) % 3] * e[2][(k + 2) % 3] - e[1][(k + 2) % 3] * e[2][(k + 1) % 3]) for k in range(3))

    volume = sum(six_volumes(*[h[c] for c in t]) for h in hexes
                 for t in ((0, 1, 2, 5), (0, 2, 7, 5), (0, 2, 3, 7), (0, 5, 7, 4), (2, 7, 5, 6))) / 6
    scale = (4 / 3 * math.pi / volume) ** (1 / 3)
    return [[scale * v for v in p] for p in points], hexes


def write_vtk(path, points, hexes):
    lines = ["# vtk DataFile Version 2.0", "a ball of hexahedra, made by tools/scenes/make_compare.py", "ASCII",
             "DATASET UNSTRUCTURED_GRID", f"POINTS {len(points)} double"]
    lines += [" ".join(f"{v + 0.0:.5g}" for v in p) for p in points]
    lines += [f"CELLS {len(hexes)} {9 * len(hexes)}"] + ["8 " + " ".join(map(str, h)) for h in hexes]
    lines += [f"CELL_TYPES {len(hexes)}"] + ["12"] * len(hexes)
    path.write_text("\n".join(lines) + "\n")
