#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes every file of scenes/meshes. Needs numpy and the program gmsh.

usage: make_meshes.py FOLDER [liver|sphere|cube|bar|box ...]

Prints one table row per file: nodes, tetrahedra, volume, worst and mean quality 6 sqrt(2) V / l_rms^3.
"""
import pathlib
import sys

import numpy as np

import cubes
import surfaces
import tets

LIVER_LOW, LIVER_HIGH = (-0.115, -0.085, -0.07), (0.115, 0.07, 0.07)
# edge length on the surface, size of tetrahedra inside
LIVER_LEVELS = [(0.0235, 0.026), (0.0114, 0.0117), (0.0062, 0.0064), (0.00395, 0.00395)]
LIVER_SURFACE = 0.00485


def report(path, x, t):
    q = tets.quality(x, t)
    print(f"| `{path.name}` | {len(x)} | {len(t)} | {tets.volumes(x, t).sum():.6g} | {q.min():.2f} | {q.mean():.2f} | "
          f"{path.stat().st_size // 1000} |", flush=True)


def surface_volume(x, tris):
    p = x[tris]
    return np.einsum("ij,ij->i", np.cross(p[:, 0], p[:, 1]), p[:, 2]).sum() / 6


def save(path, x, t, decimals):
    tets.write_msh(path, x, t, decimals)
    x, t = tets.read_msh(path)  # the report is about the rounded numbers
    report(path, x, t)


def scale_to(x, t, volume):
    """About the centre of mass."""
    v = tets.volumes(x, t)
    centre = (v[:, None] * x[t].mean(1)).sum(0) / v.sum()
    return centre + (x - centre) * (volume / v.sum()) ** (1 / 3)


def better(x, t):
    fixed = np.zeros(len(x), bool)
    fixed[np.unique(tets.boundary(t))] = True
    return tets.improve(x, t, fixed)


def make_liver(folder):
    x, tris = surfaces.surface(surfaces.liver, LIVER_LOW, LIVER_HIGH, LIVER_SURFACE)
    volume = surface_volume(x, tris)
    path = folder / "liver_surface.obj"
    with open(path, "w") as f:
        for p in x:
            f.write("v %.5f %.5f %.5f\n" % tuple(p))
        for a, b, c in tris + 1:
            f.write(f"f {a} {b} {c}\n")
    print(f"| `{path.name}` | {len(x)} | {len(tris)} triangles | {volume:.6g} | | | {path.stat().st_size // 1000} |")
    for level, (length, inside) in enumerate(LIVER_LEVELS):
        x, tris = surfaces.surface(surfaces.liver, LIVER_LOW, LIVER_HIGH, length)
        x, t = tets.fill(x, tris, inside)
        x = scale_to(better(x, t), t, volume)
        save(folder / f"liver_{level}.msh", x, t, 6)


def make_sphere(folder):
    for level, (cuts, inside) in enumerate([(1, 0.33), (2, 0.27), (3, 0.155)]):
        x, tris = surfaces.icosphere(cuts, 1.0, 0.4 * level)
        x, t = tets.fill(x, tris, inside)
        x = scale_to(better(x, t), t, 4 / 3 * np.pi)
        save(folder / f"sphere_{level}.msh", x, t, 5)


def make_cube(folder):
    """The cube of Debunne et al. 2001 at its three sizes: exactly 27, 57 and 135 nodes, four irregular ones of each."""
    for count in cubes.SIZES:
        for variant, (_, x, t) in enumerate(cubes.best(count, 40, 4)):
            save(folder / f"cube_{count}_{variant}.msh", x, t, 5)


def make_bar(folder):
    for level, size in enumerate((1.05, 0.505, 0.335, 0.201)):
        x, t = tets.box((0, 0, 0), (1, 1, 4), size)
        save(folder / f"bar_{level}.msh", better(x, t), t, 5)


def make_box(folder):
    for level, size in enumerate((0.505, 0.335, 0.201, 0.112)):
        x, t = tets.box((0, 0, 0), (1, 1, 1), size)
        save(folder / f"box_{level}.msh", better(x, t), t, 5)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1])
    makers = {"liver": make_liver, "sphere": make_sphere, "cube": make_cube, "bar": make_bar, "box": make_box}
    wanted = sys.argv[2:] or list(makers)
    print("| file | nodes | tetrahedra | volume | worst q | mean q | kB |\n|---|---|---|---|---|---|---|")
    for name in wanted:
        makers[name](target)
