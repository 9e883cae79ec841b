#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes cloth.obj beside this file: a square of 1 m in the plane y = 0, 8 x 8 cells, diagonals alternating."""
import pathlib

CELLS = 8

def main():
    lines = ["# a square sheet; made by make_cloth.py, LGPL-2.1-or-later"]
    for i in range(CELLS + 1):
        for j in range(CELLS + 1):
            lines.append(f"v {i / CELLS:g} 0 {j / CELLS:g}")
    corner = lambda i, j: 1 + i * (CELLS + 1) + j
    for i in range(CELLS):
        for j in range(CELLS):
            a, b, c, d = corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)
            for t in ((a, c, b), (a, d, c)) if (i + j) % 2 else ((a, d, b), (b, d, c)):
                lines.append("f {} {} {}".format(*t))
    (pathlib.Path(__file__).parent / "cloth.obj").write_text("\n".join(lines) + "\n", encoding="utf-8")

if __name__ == "__main__":
    main()
