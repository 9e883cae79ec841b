#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes pad.obj, the closed surface of a pad of 0.12 x 0.04 x 0.12 m with squares of 5 mm, each two triangles, outward.

    python3 scenes/haptics/make_pad.py scenes/haptics
"""
import pathlib
import sys

CELLS, SIZE = (24, 8, 24), (0.12, 0.04, 0.12)


def make():
    number, points, faces = {}, [], []

    def point(at):
        if at not in number:
            number[at] = len(points) + 1
            points.append(tuple(SIZE[c] * at[c] / CELLS[c] for c in range(3)))
        return number[at]

    for axis in range(3):
        u, w = (axis + 1) % 3, (axis + 2) % 3
        for end in (0, CELLS[axis]):
            for i in range(CELLS[u]):
                for j in range(CELLS[w]):
                    corner = []
                    for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        at = [0, 0, 0]
                        at[axis], at[u], at[w] = end, i + a, j + b
                        corner.append(point(tuple(at)))
                    if end == 0:
                        corner.reverse()
                    faces += [(corner[0], corner[1], corner[2]), (corner[0], corner[2], corner[3])]
    return points, faces


def main():
    points, faces = make()
    lines = ["v %.6g %.6g %.6g" % p for p in points] + ["f %d %d %d" % f for f in faces]
    pathlib.Path(sys.argv[1], "pad.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")


main()
