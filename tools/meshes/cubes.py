# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Irregular tetrahedra in the unit cube with an exact number of nodes, a new mesh for every seed."""
import numpy as np

import tets

# nodes on each edge, nodes on each face, nodes inside
SIZES = {27: (1, 1, 1), 57: (2, 3, 7), 135: (3, 9, 37)}


def delaunay(p):
    """Bowyer and Watson: points one by one, the tetrahedra whose spheres hold the new point are replaced by those from
    it to the rim of the hole. Points must be in general position."""
    far = 50.0
    points = np.concatenate([p, far * np.array([[1, 1, 1], [-1, -1, 1], [-1, 1, -1], [1, -1, -1]])])
    n = len(p)
    cells = np.array([[n, n + 1, n + 2, n + 3]])

    def spheres(c):
        x = points[c]
        edge = x[:, 1:] - x[:, :1]
        centre = np.linalg.solve(edge, 0.5 * (edge * edge).sum(2)[:, :, None])[:, :, 0]
        return x[:, 0] + centre, (centre * centre).sum(1)

    centre, radius2 = spheres(cells)
    for i in range(n):
        hit = ((points[i] - centre) ** 2).sum(1) < radius2
        hole = cells[hit]
        faces = np.concatenate([np.delete(hole, k, 1) for k in range(4)])
        unique, count = np.unique(np.sort(faces, 1), axis=0, return_counts=True)
        rim = unique[count == 1]
        new = np.concatenate([rim, np.full((len(rim), 1), i)], 1)
        new_centre, new_radius2 = spheres(new)
        cells = np.concatenate([cells[~hit], new])
        centre = np.concatenate([centre[~hit], new_centre])
        radius2 = np.concatenate([radius2[~hit], new_radius2])
    return cells[(cells < n).all(1)]


def sample(count, random):
    """Points and the mask of directions each may move in: corners none, edges one, faces two, inside three."""
    per_edge, per_face, inside = SIZES[count]
    points, free = [], []
    for corner in np.ndindex(2, 2, 2):
        points.append(corner)
        free.append((0, 0, 0))
    for axis in range(3):
        for side in np.ndindex(2, 2):
            for k in range(per_edge):
                points.append(np.insert(np.array(side, float), axis, (k + 0.3 + 0.4 * random.random()) / per_edge))
                free.append(np.eye(3)[axis])
        for side in range(2):
            points += [np.insert(random.random(2), axis, side) for _ in range(per_face)]
            free += [1 - np.eye(3)[axis]] * per_face
    points += list(random.random((inside, 3)))
    free += [(1, 1, 1)] * inside
    return np.array(points, float), np.array(free, float)


def relax(x, free, rounds, random):
    """Nodes push each other apart; what is left of the random start keeps the mesh irregular."""
    step = 0.1 * len(x) ** (-1 / 3)
    for r in range(rounds):
        d = x[:, None] - x[None]
        l2 = (d * d).sum(2) + np.eye(len(x))
        push = (d / l2[:, :, None] ** 2.5).sum(1) * free
        size = np.linalg.norm(push, axis=1)[:, None]
        x = np.clip(x + step * (1 - r / rounds) * push / np.maximum(size, 1e-9), 0, 1)
    # a node pushed to the end of its edge or face comes back a little
    inner = np.clip(x, 0.12, 0.88)
    return np.where(free > 0, inner, x) + 0.15 * len(x) ** (-1 / 3) * random.uniform(-1, 1, x.shape) * free


def make(count, seed):
    """Nodes and tetrahedra of one variant."""
    random = np.random.default_rng(seed)
    x, free = sample(count, random)
    x = np.where(free > 0, np.clip(relax(x, free, 60, random), 0.08, 0.92), x)
    # flat faces are not in general position: bulge them to a strictly convex body and flatten what comes out
    c = x - 0.5
    bulge = c * (1 + 0.02 * (0.75 - (c * c).sum(1)))[:, None] + 1e-7 * random.normal(size=x.shape)
    cells = delaunay(bulge)
    volume = np.abs(tets.volumes(x, cells))
    x, cells = tets.tidy(x, cells[volume > 1e-9])
    return x, cells


def best(count, seeds, keep):
    """The `keep` best of `seeds` seeds: whole, of the right size, interior nodes moved to mend poor tets."""
    found = []
    for seed in range(seeds):
        x, t = make(count, seed)
        v = tets.volumes(x, t)
        if len(x) == count and v.min() > 0 and abs(v.sum() - 1) < 1e-9:
            worst = np.sort(tets.quality(x, t))[:len(t) // 20]
            found.append((-worst.mean(), seed, x, t))
    found.sort(key=lambda f: f[:2])
    mended = []
    for _, seed, x, t in found[:3 * keep]:
        fixed = ((x < 1e-9) | (x > 1 - 1e-9)).any(1)
        x = tets.improve(x, t, fixed)
        mended.append((-tets.quality(x, t).min(), seed, x, t))
    mended.sort(key=lambda f: f[:2])
    return [m[1:] for m in mended[:keep]]
