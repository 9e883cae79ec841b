# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Closed triangle surfaces of implicit shapes: marching tetrahedra, then isotropic remeshing to an edge length."""
import itertools
import math

import numpy as np


# ---- implicit shapes: negative inside, roughly a distance, arrays of points in -------------------------------------

def ellipsoid(p, centre, radii):
    q = (p - np.asarray(centre)) / np.asarray(radii)
    return (np.sqrt((q * q).sum(-1)) - 1.0) * min(radii)


def smooth_union(a, b, k):
    h = np.clip(0.5 + 0.5 * (b - a) / k, 0.0, 1.0)
    return b * (1 - h) + a * h - k * h * (1 - h)


def smooth_cut(a, b, k):
    """a without b"""
    return -smooth_union(-a, b, k)


def liver(p):
    """An organ like a liver, about 0.2 m long on x, y up: a thick right lobe, a thin left lobe, a lower lobe behind, a
    notch between the lobes from below and a shallow bed underneath. Metres."""
    f = ellipsoid(p, (-0.038, 0.002, 0.000), (0.062, 0.052, 0.050))
    f = smooth_union(f, ellipsoid(p, (-0.058, -0.026, -0.006), (0.036, 0.042, 0.034)), 0.020)
    f = smooth_union(f, ellipsoid(p, (0.020, 0.016, 0.010), (0.050, 0.032, 0.032)), 0.024)
    f = smooth_union(f, ellipsoid(p, (0.064, 0.012, 0.016), (0.036, 0.022, 0.020)), 0.018)
    f = smooth_union(f, ellipsoid(p, (0.004, -0.004, -0.026), (0.022, 0.024, 0.016)), 0.012)
    f = smooth_cut(f, ellipsoid(p, (0.006, -0.044, 0.022), (0.012, 0.036, 0.040)), 0.012)
    return smooth_cut(f, ellipsoid(p, (-0.030, -0.078, 0.018), (0.030, 0.030, 0.024)), 0.014)


def gradient(f, p, h=1e-6):
    g = np.empty_like(p)
    for a in range(3):
        e = np.zeros(3)
        e[a] = h
        g[:, a] = (f(p + e) - f(p - e)) / (2 * h)
    return g


def project(f, p, steps=8):
    """Newton steps along the gradient onto f = 0."""
    for _ in range(steps):
        g = gradient(f, p)
        p = p - (f(p) / np.maximum((g * g).sum(1), 1e-12))[:, None] * g
    return p


# ---- marching tetrahedra --------------------------------------------------------------------------------------------

def march(f, low, high, spacing):
    """Triangles of f = 0 on a grid of cubes cut into six tetrahedra each; welded, outward."""
    n = [int(math.ceil((b - a) / spacing)) + 1 for a, b in zip(low, high)]
    axes = [a + spacing * np.arange(k) for a, k in zip(low, n)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    value = f(grid)
    value[value == 0.0] = 1e-12
    ids = np.arange(len(grid)).reshape(n)
    tets = []
    for order in itertools.permutations(range(3)):
        corner = np.zeros(3, int)
        path = [corner.copy()]
        for axis in order:
            corner[axis] += 1
            path.append(corner.copy())
        tets.append(np.stack([ids[c[0]:n[0] - 1 + c[0], c[1]:n[1] - 1 + c[1], c[2]:n[2] - 1 + c[2]].ravel()
                              for c in path], 1))
    tets = np.concatenate(tets)
    inside = value[tets] < 0
    edges = []
    for pattern in range(1, 15):
        rows = tets[(inside == [(pattern >> k & 1) == 1 for k in range(4)]).all(1)]
        ins = [k for k in range(4) if pattern >> k & 1]
        out = [k for k in range(4) if not pattern >> k & 1]
        if len(ins) == 2:
            (a, b), (c, d) = ins, out
            quad = [(a, c), (a, d), (b, d), (b, c)]
            faces = [(quad[0], quad[1], quad[2]), (quad[0], quad[2], quad[3])]
        elif len(ins) == 1:
            faces = [tuple((ins[0], k) for k in out)]
        else:
            faces = [tuple((k, out[0]) for k in ins)]
        for face in faces:
            edges.append(np.stack([np.sort(rows[:, list(e)], 1) for e in face], 1))
    edges = np.concatenate(edges).reshape(-1, 2)
    unique, index = np.unique(edges, axis=0, return_inverse=True)
    a, b = unique.T
    t = value[a] / (value[a] - value[b])
    points = project(f, grid[a] + t[:, None] * (grid[b] - grid[a]))
    tris = index.reshape(-1, 3)
    x = points[tris]
    normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    turn = (normal * gradient(f, x.mean(1))).sum(1) < 0
    tris[turn] = tris[turn][:, ::-1]
    return points, tris


# ---- isotropic remeshing (Botsch and Kobbelt 2004) ------------------------------------------------------------------

def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def middle(a, b):
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])


def agree(a, b):
    """Directions within 60 degrees."""
    return dot(a, b) > 0.5 * math.sqrt(dot(a, a) * dot(b, b))


class Remesher:
    """Split long edges, collapse short ones, flip towards valence six, smooth in the tangent plane, project. Points are
    tuples: for three numbers plain Python is faster than arrays."""

    def __init__(self, f, points, tris, length):
        self.f, self.length = f, length
        self.x = [tuple(map(float, p)) for p in points]
        self.face = {i: tuple(map(int, t)) for i, t in enumerate(tris)}
        self.next_face = len(self.face)
        self.around = [set() for _ in self.x]
        for i, t in self.face.items():
            for v in t:
                self.around[v].add(i)

    def add(self, t):
        self.face[self.next_face] = t
        for v in t:
            self.around[v].add(self.next_face)
        self.next_face += 1

    def remove(self, i):
        for v in self.face.pop(i):
            self.around[v].discard(i)

    def edges(self):
        return sorted({(min(a, b), max(a, b)) for t in self.face.values()
                       for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))})

    def neighbours(self, v):
        return {w for i in self.around[v] for w in self.face[i]} - {v}

    def size(self, a, b):
        return math.dist(self.x[a], self.x[b])

    def wings(self, a, b):
        """The two faces on edge ab, first the one that runs a -> b."""
        pair = sorted(self.around[a] & self.around[b])
        if len(pair) != 2:
            return None
        t = self.face[pair[0]]
        return pair if t[(t.index(a) + 1) % 3] == b else pair[::-1]

    def opposite(self, i, a, b):
        return next(v for v in self.face[i] if v not in (a, b))

    def normal(self, t):
        p, q, r = (self.x[v] for v in t)
        return cross(minus(q, p), minus(r, p))

    def split(self):
        for a, b in self.edges():
            if self.size(a, b) <= 4 / 3 * self.length:
                continue
            wings = self.wings(a, b)
            if not wings:
                continue
            c, d = self.opposite(wings[0], a, b), self.opposite(wings[1], a, b)
            m = len(self.x)
            self.x.append(middle(self.x[a], self.x[b]))
            self.around.append(set())
            for i in wings:
                self.remove(i)
            for t in ((a, m, c), (m, b, c), (b, m, d), (m, a, d)):
                self.add(t)

    def collapse(self):
        for a, b in self.edges():
            if not (self.around[a] and self.around[b]) or self.size(a, b) >= 4 / 5 * self.length:
                continue
            wings = self.wings(a, b)
            if not wings or len(self.neighbours(a) & self.neighbours(b)) != 2:
                continue
            place = middle(self.x[a], self.x[b])
            rim = (self.neighbours(a) | self.neighbours(b)) - {a, b}
            if len(rim) < 4 or any(math.dist(self.x[v], place) > 4 / 3 * self.length for v in rim):
                continue
            kept = [i for i in self.around[a] | self.around[b] if i not in wings]
            before = [self.normal(self.face[i]) for i in kept]
            old = self.x[a], self.x[b]
            self.x[a] = self.x[b] = place
            after = [self.normal(self.face[i]) for i in kept]
            if not all(map(agree, before, after)):
                self.x[a], self.x[b] = old
                continue
            for i in wings:
                self.remove(i)
            for i in sorted(self.around[b]):
                t = self.face[i]
                self.remove(i)
                self.add(tuple(a if v == b else v for v in t))

    def flip(self):
        for a, b in self.edges():
            wings = self.wings(a, b)
            if not wings:
                continue
            c, d = self.opposite(wings[0], a, b), self.opposite(wings[1], a, b)
            na, nb, nc, nd = (len(self.around[v]) for v in (a, b, c, d))
            gain = (sum((n - 6) ** 2 for n in (na, nb, nc, nd))
                    - sum((n - 6) ** 2 for n in (na - 1, nb - 1, nc + 1, nd + 1)))
            if gain <= 0 or min(na, nb) <= 3 or d in self.neighbours(c):
                continue
            p, q = self.normal(self.face[wings[0]]), self.normal(self.face[wings[1]])
            old = p[0] + q[0], p[1] + q[1], p[2] + q[2]
            new = (a, d, c), (d, b, c)
            if not all(agree(self.normal(t), old) for t in new):
                continue
            for i in wings:
                self.remove(i)
            for t in new:
                self.add(t)

    def smooth(self):
        used = [v for v in range(len(self.x)) if self.around[v]]
        x = np.array([self.x[v] for v in used])
        g = gradient(self.f, x)
        g /= np.linalg.norm(g, axis=1)[:, None]
        centre = np.empty_like(x)
        for row, v in enumerate(used):
            near = sorted(self.neighbours(v))
            centre[row] = [sum(self.x[w][a] for w in near) / len(near) for a in range(3)]
        move = 0.5 * (centre - x)
        x = project(self.f, x + move - (move * g).sum(1)[:, None] * g)
        for v, p in zip(used, x.tolist()):
            self.x[v] = tuple(p)

    def run(self, rounds):
        for _ in range(rounds):
            self.split()
            self.collapse()
            self.flip()
            self.smooth()
        used = [v for v in range(len(self.x)) if self.around[v]]
        index = {v: i for i, v in enumerate(used)}
        return (np.array([self.x[v] for v in used]),
                np.array([[index[v] for v in self.face[i]] for i in sorted(self.face)]))


def surface(f, low, high, length, rounds=12):
    """Closed surface of f = 0 with edges of about `length`."""
    points, tris = march(f, low, high, min(length, min(b - a for a, b in zip(low, high)) / 12))
    return Remesher(f, points, tris, length).run(rounds)


def icosphere(level, radius, turn):
    """An icosahedron cut `level` times, turned so that levels share no points."""
    g = (1 + 5 ** 0.5) / 2
    points = [(-1, g, 0), (1, g, 0), (-1, -g, 0), (1, -g, 0), (0, -1, g), (0, 1, g), (0, -1, -g), (0, 1, -g),
              (g, 0, -1), (g, 0, 1), (-g, 0, -1), (-g, 0, 1)]
    points = [np.array(p) / np.linalg.norm(p) for p in points]
    tris = [(0, 11, 5), (0, 5, 1), (0, 1, 7), (0, 7, 10), (0, 10, 11), (1, 5, 9), (5, 11, 4), (11, 10, 2), (10, 7, 6),
            (7, 1, 8), (3, 9, 4), (3, 4, 2), (3, 2, 6), (3, 6, 8), (3, 8, 9), (4, 9, 5), (2, 4, 11), (6, 2, 10),
            (8, 6, 7), (9, 8, 1)]
    for _ in range(level):
        middle = {}

        def half(a, b):
            key = (min(a, b), max(a, b))
            if key not in middle:
                p = points[a] + points[b]
                points.append(p / np.linalg.norm(p))
                middle[key] = len(points) - 1
            return middle[key]

        cut = []
        for a, b, c in tris:
            ab, bc, ca = half(a, b), half(b, c), half(c, a)
            cut += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        tris = cut
    c, s = math.cos(turn), math.sin(turn)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return radius * np.array(points) @ rotation.T, np.array(tris)
