# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Tetrahedra inside a closed surface or a box, with Gmsh as an external program; quality, order, files."""
import pathlib
import subprocess
import tempfile

import numpy as np

OPTIONS = """
General.Terminal = 1;
Mesh.MshFileVersion = 2.2;
Mesh.Binary = 0;
Mesh.Algorithm3D = 1;
Mesh.Optimize = 1;
Mesh.OptimizeThreshold = 0.5;
Mesh.SaveAll = 1;
"""


def run_gmsh(script, files=()):
    """Points and tetrahedra Gmsh makes of a .geo script; files: (name, text) the script may merge."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, text in files:
            (folder / name).write_text(text)
        (folder / "job.geo").write_text(OPTIONS + script)
        done = subprocess.run(["gmsh", "-3", "-nt", "1", "-format", "msh22", "-o", "out.msh", "job.geo"], cwd=folder,
                              capture_output=True, text=True)
        if done.returncode != 0 or not (folder / "out.msh").exists():
            raise RuntimeError("gmsh failed: " + (done.stdout + done.stderr)[-800:])
        return read_msh(folder / "out.msh")


def read_msh(path):
    words = iter(pathlib.Path(path).read_text().split("\n"))
    points, index, tets = [], {}, []
    for line in words:
        if line == "$Nodes":
            for _ in range(int(next(words))):
                tag, *xyz = next(words).split()
                index[int(tag)] = len(points)
                points.append([float(v) for v in xyz])
        elif line == "$Elements":
            for _ in range(int(next(words))):
                row = [int(v) for v in next(words).split()]
                if row[1] == 4:
                    tets.append([index[v] for v in row[3 + row[2]:]])
    return np.array(points), np.array(tets, int)


def write_msh(path, points, tets, decimals):
    """msh 2.2, no more digits than `decimals`, tetrahedra only (the surface follows from them)."""
    def short(v):
        text = f"{v:.{decimals}f}".rstrip("0").rstrip(".")
        return "0" if text in ("-0", "") else text

    with open(path, "w") as f:
        f.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(points)}\n")
        for i, p in enumerate(points):
            f.write(f"{i + 1} {' '.join(short(v) for v in p)}\n")
        f.write(f"$EndNodes\n$Elements\n{len(tets)}\n")
        for i, t in enumerate(tets):
            f.write(f"{i + 1} 4 2 0 1 {' '.join(str(v + 1) for v in t)}\n")
        f.write("$EndElements\n")


def stl(points, tris):
    rows = ["solid s"]
    for t in tris:
        rows += ["facet normal 0 0 0", "outer loop"]
        rows += ["vertex %.9g %.9g %.9g" % tuple(points[v]) for v in t]
        rows += ["endloop", "endfacet"]
    return "\n".join(rows + ["endsolid s", ""])


def fill(points, tris, interior_size):
    """Tetrahedra inside a closed surface, whose triangles stay as they are."""
    script = f"""
Merge "surface.stl";
Surface Loop(1) = {{1}};
Volume(1) = {{1}};
Mesh.MeshSizeExtendFromBoundary = 0;
Mesh.MeshSizeFromPoints = 0;
Mesh.MeshSizeMin = {interior_size};
Mesh.MeshSizeMax = {interior_size};
"""
    return tidy(*run_gmsh(script, [("surface.stl", stl(points, tris))]))


def box(low, high, size, extra=""):
    """Irregular tetrahedra in a box."""
    script = f"""
SetFactory("Built-in");
Mesh.MeshSizeMin = {size}; Mesh.MeshSizeMax = {size};
Mesh.Algorithm = 6;
{extra}
x0 = {low[0]}; y0 = {low[1]}; z0 = {low[2]}; x1 = {high[0]}; y1 = {high[1]}; z1 = {high[2]};
Point(1) = {{x0, y0, z0}}; Point(2) = {{x1, y0, z0}}; Point(3) = {{x1, y1, z0}}; Point(4) = {{x0, y1, z0}};
Point(5) = {{x0, y0, z1}}; Point(6) = {{x1, y0, z1}}; Point(7) = {{x1, y1, z1}}; Point(8) = {{x0, y1, z1}};
Line(1) = {{1, 2}}; Line(2) = {{2, 3}}; Line(3) = {{3, 4}}; Line(4) = {{4, 1}};
Line(5) = {{5, 6}}; Line(6) = {{6, 7}}; Line(7) = {{7, 8}}; Line(8) = {{8, 5}};
Line(9) = {{1, 5}}; Line(10) = {{2, 6}}; Line(11) = {{3, 7}}; Line(12) = {{4, 8}};
Curve Loop(1) = {{-4, -3, -2, -1}}; Curve Loop(2) = {{5, 6, 7, 8}}; Curve Loop(3) = {{1, 10, -5, -9}};
Curve Loop(4) = {{2, 11, -6, -10}}; Curve Loop(5) = {{3, 12, -7, -11}}; Curve Loop(6) = {{4, 9, -8, -12}};
Plane Surface(1) = {{1}}; Plane Surface(2) = {{2}}; Plane Surface(3) = {{3}};
Plane Surface(4) = {{4}}; Plane Surface(5) = {{5}}; Plane Surface(6) = {{6}};
Surface Loop(1) = {{1, 2, 3, 4, 5, 6}}; Volume(1) = {{1}};
"""
    return tidy(*run_gmsh(script))


# ---- geometry -------------------------------------------------------------------------------------------------------

def volumes(x, tets):
    p = x[tets]
    return np.einsum("ij,ij->i", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 3] - p[:, 0]) / 6


def quality(x, tets):
    """6 sqrt(2) V / l_rms^3: 1 for the regular tetrahedron."""
    total = sum(((x[tets[:, i]] - x[tets[:, j]]) ** 2).sum(1) for i in range(4) for j in range(i))
    return 6 * 2 ** 0.5 * volumes(x, tets) / (total / 6) ** 1.5


def tidy(x, tets):
    """Unused nodes dropped, volumes positive, nodes along a Morton curve and tetrahedra by their lowest node, so that
    neighbours in space are near in memory."""
    used = np.unique(tets)
    index = np.full(len(x), -1)
    index[used] = np.arange(len(used))
    x, tets = x[used], index[tets]
    cell = ((x - x.min(0)) / (x.max(0) - x.min(0)).max() * 1023).astype(np.int64)
    key = np.zeros(len(x), np.int64)
    for bit in range(10):
        for axis in range(3):
            key |= (cell[:, axis] >> bit & 1) << (3 * bit + axis)
    order = np.argsort(key, kind="stable")
    index = np.empty(len(x), int)
    index[order] = np.arange(len(x))
    x, tets = x[order], index[tets]
    turn = volumes(x, tets) < 0
    tets[turn] = tets[turn][:, [0, 1, 3, 2]]
    return x, tets[np.lexsort(np.sort(tets, 1).T[::-1])]


def improve(x, tets, fixed, rounds=30, threshold=0.5):
    """Moves free nodes of poor tetrahedra by small trial steps that raise the worst quality around them."""
    x = x.copy()
    around = [[] for _ in x]
    for t, corners in enumerate(tets):
        for v in corners:
            around[v].append(t)
    random = np.random.default_rng(0)
    for _ in range(rounds):
        q = quality(x, tets)
        poor = np.unique(tets[q < threshold])
        poor = poor[~fixed[poor]]
        if len(poor) == 0:
            break
        for v in poor:
            near = tets[around[v]]
            best, step = quality(x, near).min(), 0.15 * np.abs(volumes(x, near)).mean() ** (1 / 3)
            for _ in range(8):
                old = x[v].copy()
                x[v] = old + step * random.normal(size=3)
                new = quality(x, near).min()
                if new > best:
                    best = new
                else:
                    x[v] = old
    return x


def boundary(tets):
    """Outward triangles used by one tetrahedron only."""
    faces = np.concatenate([tets[:, list(f)] for f in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))])
    _, first, count = np.unique(np.sort(faces, 1), axis=0, return_index=True, return_counts=True)
    return faces[first[count == 1]]
