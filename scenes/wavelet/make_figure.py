#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes figure.msh, the control lattice of a small figure: cubes for trunk, head, arms and legs. Smooth, it has no edges left."""
import os

CUBE = 0.1  # m


def cubes():
    """Cells of the figure on an integer grid, x to its left, y up, z forward."""
    cells = set()
    for z in range(2):
        for x in range(1, 5):
            for y in range(4, 9):
                cells.add((x, y, z))  # trunk
        for y in range(4):
            cells.update({(1, y, z), (4, y, z)})  # legs; the gap between them is two cells
        for x in (-3, -2, -1, 0, 5, 6, 7, 8):
            cells.update({(x, 7, z), (x, 8, z)})  # arms
        for x in (2, 3):
            for y in (9, 10, 11):
                cells.add((x, y, z))  # neck and head
    return sorted(cells, key=lambda c: (c[2], c[1], c[0]))


def main():
    corner = ((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))
    number, hexes = {}, []
    for c in cubes():
        hexes.append([number.setdefault(tuple(a + b for a, b in zip(c, d)), len(number) + 1) for d in corner])
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "figure.msh")
    with open(path, "w", encoding="ascii") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(number))
        for p, n in number.items():
            out.write("%d %.4g %.4g %.4g\n" % (n, CUBE * p[0], CUBE * p[1], CUBE * p[2]))
        out.write("$EndNodes\n$Elements\n%d\n" % len(hexes))
        for i, h in enumerate(hexes):
            out.write("%d 5 2 0 0 %s\n" % (i + 1, " ".join(map(str, h))))
        out.write("$EndElements\n")
    print("%s: %d vertices, %d cells" % (os.path.basename(path), len(number), len(hexes)))


if __name__ == "__main__":
    main()
