#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the closed surfaces of the scenes in this folder.

usage: make_surfaces.py FOLDER

Shapes are unions of capsules with rounded joints, cut out of a grid by marching tetrahedra, so that every surface is closed;
short edges are collapsed by snapping nearly touched grid points onto the surface. Several pieces go into one file where one
root frame is to carry them all.
"""
import math
import pathlib
import re
import sys


def write(path, points, tris, digits=6):
    lines = [f"# {len(points)} points, {len(tris)} triangles, made by make_surfaces.py"]
    lines += ["v " + " ".join(f"{v:.{digits}g}" for v in p) for p in points]
    lines += ["f " + " ".join(str(i + 1) for i in t) for t in tris]
    path.write_text("\n".join(lines) + "\n")


def capsule(p, a, b, ra, rb):
    ab = [b[k] - a[k] for k in range(3)]
    ap = [p[k] - a[k] for k in range(3)]
    t = sum(ab[k] * ap[k] for k in range(3)) / (sum(c * c for c in ab) or 1.0)
    t = min(1.0, max(0.0, t))
    return math.dist(ap, [t * c for c in ab]) - (ra + t * (rb - ra))


def union(parts, soft):
    """Distance to the union of capsules, joints rounded over `soft`."""
    def distance(p):
        d = [capsule(p, *part) for part in parts]
        least = min(d)
        return least - soft * math.log(sum(math.exp(-(x - least) / soft) for x in d))
    return distance


def march(distance, low, high, cells):
    """Surface where distance is 0, on cubes of (longest side / cells), six tetrahedra each."""
    h = max(high[k] - low[k] for k in range(3)) / cells
    n = [int(math.ceil((high[k] - low[k]) / h)) + 2 for k in range(3)]
    value = {}
    for i in range(n[0] + 1):
        for j in range(n[1] + 1):
            for k in range(n[2] + 1):
                d = distance([low[0] + h * (i - 1), low[1] + h * (j - 1), low[2] + h * (k - 1)])
                value[i, j, k] = d if abs(d) > 1e-9 * h else 1e-9 * h
    paths = [((1, 0, 0), (1, 1, 0)), ((1, 0, 0), (1, 0, 1)), ((0, 1, 0), (1, 1, 0)), ((0, 1, 0), (0, 1, 1)), ((0, 0, 1), (1, 0, 1)),
             ((0, 0, 1), (0, 1, 1))]
    number, points, tris = {}, [], []

    def place(a):
        return [low[m] + h * (a[m] - 1) for m in range(3)]

    def cut(a, b):
        a, b = min(a, b), max(a, b)
        s = value[a] / (value[a] - value[b])
        near = a if s < 0.3 else b if s > 0.7 else None # several cuts near one grid point become one point
        key = near if near else (a, b)
        if key not in number:
            number[key] = len(points)
            points.append([[0.0] * 3, 0])
        pa, pb = place(a), place(b)
        entry = points[number[key]]
        if near is None or (a, b) not in seen:
            seen.add((a, b))
            entry[0] = [entry[0][m] + pa[m] + s * (pb[m] - pa[m]) for m in range(3)]
            entry[1] += 1
        return number[key]

    def add(t, inside, outside):
        if len(set(t)) < 3:
            return
        tris.append((list(t), inside, outside))

    seen = set()
    for i in range(n[0]):
        for j in range(n[1]):
            for k in range(n[2]):
                corner = lambda o: (i + o[0], j + o[1], k + o[2])
                for one, two in paths:
                    tet = [corner((0, 0, 0)), corner(one), corner(two), corner((1, 1, 1))]
                    inner = [c for c in tet if value[c] < 0]
                    outer = [c for c in tet if value[c] > 0]
                    if len(inner) == 1:
                        add([cut(inner[0], o) for o in outer], inner, outer)
                    elif len(inner) == 3:
                        add([cut(outer[0], c) for c in inner], inner, outer)
                    elif len(inner) == 2:
                        q = [cut(inner[0], outer[0]), cut(inner[0], outer[1]), cut(inner[1], outer[1]), cut(inner[1], outer[0])]
                        add([q[0], q[1], q[2]], inner, outer)
                        add([q[0], q[2], q[3]], inner, outer)
    at = [[c / count for c in total] for total, count in points]
    out, have = [], {}
    for t, inner, outer in tris:
        a, b, c = (at[v] for v in t)
        e, f = [b[m] - a[m] for m in range(3)], [c[m] - a[m] for m in range(3)]
        normal = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]]
        mean = lambda cs: [sum(place(x)[m] for x in cs) / len(cs) for m in range(3)]
        way = [p - q for p, q in zip(mean(outer), mean(inner))]
        if sum(p * q for p, q in zip(normal, way)) < 0:
            t = [t[0], t[2], t[1]]
        key = tuple(sorted(t))
        if key in have: # two flat triangles back to back: both go
            out[have.pop(key)] = None
        else:
            have[key] = len(out)
            out.append(t)
    out = [t for t in out if t]
    used = sorted({v for t in out for v in t})
    name = {v: k for k, v in enumerate(used)}
    return [at[v] for v in used], [[name[v] for v in t] for t in out]


def check(points, tris):
    edges = {}
    for t in tris:
        for k in range(3):
            e = (min(t[k], t[k - 1]), max(t[k], t[k - 1]))
            edges[e] = edges.get(e, 0) + 1
    assert all(c == 2 for c in edges.values()), "an edge has not two triangles"
    top = list(range(len(points)))

    def find(v):
        while top[v] != v:
            top[v] = v = top[top[v]]
        return v

    for t in tris:
        top[find(t[0])] = find(t[1])
        top[find(t[1])] = find(t[2])
    pieces = len({find(v) for v in range(len(points))})
    assert len(points) - len(edges) + len(tris) == 2 * pieces, "a piece is no sphere"


def copies(points, tris, places):
    all_points, all_tris = [], []
    for x, y, z, turn, lean in places:
        first = len(all_points)
        c, s, d, e = math.cos(turn), math.sin(turn), math.cos(lean), math.sin(lean)
        for p in points:
            q = [c * p[0] + s * p[2], p[1], c * p[2] - s * p[0]]
            q = [d * q[0] - e * q[1], e * q[0] + d * q[1], q[2]]
            all_points.append([q[0] + x, q[1] + y, q[2] + z])
        all_tris += [[v + first for v in t] for t in tris]
    return all_points, all_tris


def icosphere(radius, level):
    g = (1 + math.sqrt(5)) / 2
    points = [[-1, g, 0], [1, g, 0], [-1, -g, 0], [1, -g, 0], [0, -1, g], [0, 1, g], [0, -1, -g], [0, 1, -g], [g, 0, -1], [g, 0, 1], [-g, 0, -1], [-g, 0, 1]]
    tris = [[0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4], [11, 10, 2], [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6],
            [3, 6, 8], [3, 8, 9], [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1]]
    for _ in range(level):
        middle, finer = {}, []
        for t in tris:
            m = []
            for k in range(3):
                a, b = sorted((t[k], t[(k + 1) % 3]))
                if (a, b) not in middle:
                    middle[a, b] = len(points)
                    points.append([(u + v) / 2 for u, v in zip(points[a], points[b])])
                m.append(middle[a, b])
            finer += [[t[0], m[0], m[2]], [m[0], t[1], m[1]], [m[2], m[1], t[2]], m]
        tris = finer
    return [[radius * c / math.hypot(*p) for c in p] for p in points], tris


def branches():
    parts, tips = [([0, 0, 0], [0, 1.0, 0], 0.07, 0.045)], []
    for k in range(6):
        angle, height, length = 2.4 * k, 0.3 + 0.11 * k, 0.5 - 0.03 * k
        tip = [length * math.cos(angle), height + 0.08, length * math.sin(angle)]
        parts.append(([0, height, 0], tip, 0.035, 0.028))
        tips.append(tip)
    print("tips:", "  ".join(" ".join(f"{c:.3f}" for c in t) for t in tips))
    return march(union(parts, 0.012), [-0.55, -0.08, -0.55], [0.55, 1.06, 0.55], 42)


def creature():
    parts = [([0, 0.40, 0], [0, 0.62, 0], 0.16, 0.14), ([0, 0.65, 0], [0, 0.86, 0.02], 0.07, 0.11)]
    for side in (-1, 1):
        parts += [([side * 0.12, 0.62, 0], [side * 0.46, 0.52, 0.05], 0.07, 0.06), ([side * 0.08, 0.38, 0], [side * 0.18, 0.06, 0.03], 0.09, 0.08)]
    parts.append(([0, 0.36, -0.10], [0, 0.25, -0.42], 0.07, 0.05))
    return march(union(parts, 0.02), [-0.56, -0.06, -0.5], [0.56, 1.02, 0.2], 18)


def seal():
    parts = [([-0.6, 0, 0], [0, 0.02, 0], 0.10, 0.2), ([0, 0.02, 0], [0.55, 0.08, 0], 0.2, 0.12), ([-0.6, 0, 0], [-0.9, 0.0, 0], 0.1, 0.05)]
    for side in (-1, 1):
        parts += [([0.2, -0.08, side * 0.14], [0.05, -0.14, side * 0.42], 0.065, 0.055), ([-0.85, 0, 0], [-1.05, 0.02, side * 0.16], 0.055, 0.05)]
    return march(union(parts, 0.02), [-1.15, -0.24, -0.52], [0.7, 0.26, 0.52], 36)


def bent(p):
    """What the target of the registration does to the bar [0, 1] x [0, 1] x [0, 4]: a bow, a twist and a waist."""
    x, y, z = p[0] - 0.5, p[1] - 0.5, p[2]
    s = 1 - 0.25 * math.sin(math.pi * z / 4) ** 2
    turn = 0.15 * z
    x, y = s * (x * math.cos(turn) - y * math.sin(turn)), s * (x * math.sin(turn) + y * math.cos(turn))
    angle = 0.2 * z
    return [x + 0.5, (5 + y) * math.cos(angle) - 5 + 0.5, (5 + y) * math.sin(angle)]


# ---- what the timings run on (bench_*.scn) ------------------------------------------------------------------------------------


def box(size, cells):
    """Surface of a box at the origin, each side a grid."""
    number, points, tris = {}, [], []

    def corner(at):
        if at not in number:
            number[at] = len(points)
            points.append([size[k] * at[k] / cells[k] for k in range(3)])
        return number[at]

    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for end in (0, cells[k]):
            for a in range(cells[i]):
                for b in range(cells[j]):
                    q = []
                    for da, db in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        at = [0, 0, 0]
                        at[i], at[j], at[k] = a + da, b + db, end
                        q.append(corner(tuple(at)))
                    q = q if end else q[::-1]
                    tris += [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
    return points, tris


def bench_branches():
    parts, tips = [([0, 0.04, 0], [0, 1.0, 0], 0.06, 0.06)], []
    for k in range(10):
        angle, height, length = 2.4 * k, 0.25 + 0.07 * k, 0.45 - 0.02 * k
        tip = [length * math.cos(angle), height + 0.05, length * math.sin(angle)]
        parts.append(([0, height, 0], tip, 0.028, 0.028))
        tips.append(tip)
    print("tips of bench_branches:", "  ".join(" ".join(f"{c:.4f}" for c in t) for t in tips))
    return march(union(parts, 0.004), [-0.5, -0.03, -0.5], [0.5, 1.07, 0.5], 42)


def mushroom():
    parts = [([0, 0.05, 0], [0, 0.25, 0], 0.05, 0.05), ([-0.03, 0.30, 0], [0.03, 0.30, 0], 0.10, 0.10)]
    return march(union(parts, 0.004), [-0.14, -0.01, -0.11], [0.14, 0.41, 0.11], 14)


def creature_parts():
    """Body, head, arms with hands, legs with feet and a tail, about 1 m tall."""
    parts = [([0, 0.40, 0], [0, 0.62, 0], 0.16, 0.16), ([0, 0.82, 0], [0, 0.88, 0.03], 0.11, 0.11), ([0, 0.65, 0], [0, 0.80, 0], 0.07, 0.07)]
    for side in (1, -1):
        parts += [([side * 0.12, 0.62, 0], [side * 0.42, 0.52, 0.05], 0.065, 0.065), ([side * 0.42, 0.52, 0.05], [side * 0.48, 0.70, 0.12], 0.05, 0.05),
                  ([side * 0.08, 0.38, 0], [side * 0.17, 0.08, 0], 0.08, 0.08), ([side * 0.17, 0.07, 0], [side * 0.18, 0.06, 0.14], 0.06, 0.06)]
    return parts + [([0, 0.36, -0.10], [0, 0.25, -0.42], 0.06, 0.06)]


def carve(distance, low, high, h):
    """Tetrahedra, six a cube, whose centre is inside, as far as they hang together by faces."""
    n = [int(round((high[k] - low[k]) / h)) for k in range(3)]
    orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    place = lambda a: [low[k] + h * a[k] for k in range(3)]
    tets = []
    for i in range(n[0]):
        for j in range(n[1]):
            for k in range(n[2]):
                if distance([low[m] + h * ((i, j, k)[m] + 0.5) for m in range(3)]) > h:
                    continue
                for order in orders:
                    tet = [(i, j, k)]
                    for axis in order:
                        step = list(tet[-1])
                        step[axis] += 1
                        tet.append(tuple(step))
                    if order in orders[1:3] or order == orders[5]:
                        tet[2], tet[3] = tet[3], tet[2]  # odd orders are mirrored
                    at = [place(c) for c in tet]
                    if distance([sum(p[m] for p in at) / 4 for m in range(3)]) < 0:
                        tets.append(tet)
    top = list(range(len(tets)))

    def find(t):
        while top[t] != t:
            top[t] = t = top[top[t]]
        return t

    faces = {}
    for t, tet in enumerate(tets):
        for k in range(4):
            face = tuple(sorted(tet[:k] + tet[k + 1:]))
            top[find(t)] = find(faces.setdefault(face, t))
    names = [find(t) for t in range(len(tets))]
    largest = max(sorted(set(names)), key=names.count)
    tets = [tet for tet, name in zip(tets, names) if name == largest]
    number = {c: k for k, c in enumerate(sorted({c for tet in tets for c in tet}))}
    return [place(c) for c in number], [[number[c] for c in tet] for tet in tets]


def write_tets(path, points, tets):
    lines = ["# vtk DataFile Version 3.0", "made by make_surfaces.py", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(points)} double"]
    lines += [" ".join(f"{v:.5g}" for v in p) for p in points]
    lines += [f"CELLS {len(tets)} {5 * len(tets)}"] + ["4 " + " ".join(map(str, t)) for t in tets]
    lines += [f"CELL_TYPES {len(tets)}", " ".join(["10"] * len(tets))]
    path.write_text("\n".join(lines) + "\n")


def bench_shapes(folder):
    creature_18 = march(union(creature_parts(), 0.01), [-0.56, -0.03, -0.5], [0.56, 1.01, 0.22], 15)
    turns = [0.27, -0.2, 0.05, -0.29, 0.13, 0.22, -0.08, 0.3, -0.16]
    shapes = {
        "bench_beam": box([2.0, 0.2, 0.2], [20, 2, 2]),
        "bench_branches": bench_branches(),
        "bench_mushrooms": copies(*mushroom(), [(0.3 * (k % 4), 0, 0.3 * (k // 4), 0.3 * k, 0) for k in range(13)]),
        "bench_salad": copies(*creature_18, [(1.3 * (k % 3), 1.2 * (k // 9), 1.2 * (k // 3 % 3), turns[k % 9] * (1 - 2 * (k // 9)), 0) for k in range(18)]),
        "bench_stack": copies(*icosphere(0.1, 2), [(0.06 * (1 if k % 2 else -1), 0.15 + 0.22 * k, 0.03 * (k % 3 - 1), 0, 0) for k in range(8)]),
    }
    for name, (points, tris) in shapes.items():
        check(points, tris)
        write(folder / (name + ".obj"), points, tris, 4)
        print(f"{name}.obj: {len(points)} points, {len(tris)} triangles")
    points, tets = carve(union(creature_parts(), 0.001), [-0.6, 0, -0.6], [0.6, 1.02, 0.3], 0.04)
    write_tets(folder / "bench_single.vtk", points, tets)
    middle = [[sum(points[v][m] for v in t) / 4 for m in range(3)] for t in tets]
    soft = ["1" if p[0] >= 0.16 and p[1] >= 0.42 else "30" for p in middle]
    scene = folder / "bench_single.scn"
    if scene.exists():
        scene.write_text(re.sub('stiffnessFactors="[^"]*"', 'stiffnessFactors="' + " ".join(soft) + '"', scene.read_text()))
    print(f"bench_single.vtk: {len(points)} points, {len(tets)} tetrahedra, {soft.count('1')} soft ones")


def main():
    folder = pathlib.Path(sys.argv[1])
    bench_shapes(folder)
    shapes = {"branches": branches(), "seal": seal(), "ball": icosphere(0.1, 2)}
    shapes["balls"] = copies(*shapes["ball"], [(0.04 * (1 if k % 2 else -1), 0.13 + 0.215 * k, 0.03 * (k % 3 - 1), 0, 0) for k in range(8)])
    shapes["salad"] = copies(*creature(), [(0, 0, 0, 0, 0), (0.35, 1.15, 0.2, 1.2, 0.4), (-0.3, 2.3, -0.1, 2.5, -0.5), (0.1, 3.45, 0.1, 4.0, 0.9)])
    lines = (folder / "../compare/bar_skin.obj").read_text().split("\n")
    bar = [[float(v) for v in l.split()[1:4]] for l in lines if l.startswith("v ")]
    faces = [[int(v.split("/")[0]) - 1 for v in l.split()[1:4]] for l in lines if l.startswith("f ")]
    shapes["beam"] = ([[0.4 * x, 0.4 * y, z] for x, y, z in bar], faces)
    shapes["bent_bar"] = ([bent(p) for p in bar], faces)
    for name, (points, tris) in shapes.items():
        check(points, tris)
        write(folder / (name + ".obj"), points, tris)
        print(f"{name}.obj: {len(points)} points, {len(tris)} triangles")


if __name__ == "__main__":
    main()
