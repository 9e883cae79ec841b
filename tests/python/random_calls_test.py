# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""10,000 random calls with wrong shapes, types, values and orders: each returns or raises, none ends the interpreter.

    random_calls_test.py [COUNT [SEED]]     the calls run in a process of their own, whose end is looked at
"""
import math
import random
import subprocess
import sys

PRINTED = "calls survived"


def junk(r, np, pliant):
    """A value that is mostly wrong."""
    n = r.choice([0, 1, 2, 3, 4, 7, 12, 57, 100])
    dtype = r.choice([np.float64, np.float32, np.int64, np.uint8, np.int8, np.complex128, object, bool, ">f8", "U3"])
    arrays = [
        lambda: np.zeros((n, 3), dtype), lambda: np.ones(n, dtype), lambda: np.zeros((3, n), dtype).T,
        lambda: np.zeros((n, 3, 2)), lambda: np.full((n, 3), r.choice([np.nan, np.inf, -1e308, 1e308])),
        lambda: np.arange(3 * n).reshape(n, 3), lambda: np.array(r.randrange(-9, 9)), lambda: np.zeros((0, 4), np.uint32),
        lambda: np.random.default_rng(r.randrange(99)).integers(-5, 2**33, (n, 4)), lambda: np.broadcast_to(1.0, (n, 3)),
        lambda: np.zeros((2 * n, 6))[::2, ::2], lambda: np.asfortranarray(np.random.default_rng(1).random((n, 3))),
    ]
    plain = [None, True, False, 0, 1, -1, 3, 2**31, 2**64, -2**70, 0.0, 1e-300, 1e300, math.nan, math.inf, -math.inf, "", "x", "1 2 3", b"\xff",
             "a\0b", "/nowhere/mesh.msh", [], [1], [1, 2, 3], [[1, 2], [3]], {}, {"a": 1}, (0, 0, 0), (1, 1, 1), object(), Exception, range(3),
             "tetlod", "implicit", "stvk", 0.01, 1e-3, 5, 10]
    return r.choice(arrays)() if r.random() < 0.5 else r.choice(plain)


def calls(count, seed):
    import warnings
    import numpy as np
    import pliant
    from common import levels, make
    warnings.simplefilter("ignore")
    r = random.Random(seed)
    schemes = list(pliant.schemes().values())
    meshes = levels((1, 2)) + [levels((2,))[0].surface()]
    small = {"resolution": 4, "youngModulus": 1e3, "massDamping": 1.0}
    bodies = [make(s, **{k: v for k, v in small.items() if k in s.attributes}) for s in schemes]
    raised, fine = 0, 0

    def value():
        return r.choice(meshes) if r.random() < 0.1 else r.choice(bodies) if r.random() < 0.05 else junk(r, np, pliant)

    def new_body():
        s = r.choice(schemes)
        names = [n for n, a in s.attributes.items()] + ["gravity", "skin", "nonsense"]
        given = {}
        if r.random() < 0.8:
            need = s.meshes
            given[need["link"]] = meshes[:r.randrange(1, 3)] if need["most"] > 1 else r.choice(meshes)
        # sizes that would only be slow are no defect, and are left alone
        for name in r.sample(names, r.randrange(0, 3)):
            if name not in ("resolution", "cells", "refine", "detailLevels", "levels", "frames", "threads", "basePoints", "voxelSize", "regions"):
                given[name] = value()
        b = pliant.body(s.name, **given)
        if len(b.x) < 5000:
            bodies[r.randrange(len(bodies))] = b

    def on_body():
        b = r.choice(bodies)
        what = r.randrange(14)
        if what == 0:
            b.step(r.choice([0.001, 0.01, value()]), r.choice([1, 2, value()]) if r.random() < 0.3 else 1)
        elif what == 1:
            setattr(b, r.choice(["x", "v", "external_force", "fixed", "gravity", "tools"]), value())
        elif what == 2:
            b.x[...] = value()
        elif what == 3:
            b.set_attributes(**{r.choice(list(b._scheme.attributes)): value()})
        elif what == 4:
            b.attach_skin(value())
        elif what == 5:
            b.fixed = np.random.default_rng(r.randrange(9)).integers(-1, len(b.x) + 2, r.randrange(0, 9))
        elif what == 6:
            tool = r.choice([pliant.SphereTool, pliant.PlaneTool, pliant.CapsuleTool])
            b.tools = [tool(value(), value()) for _ in range(r.randrange(0, 4))]
        elif what == 7:
            b.reset()
        elif what == 8:
            r.choice([b.energy, b.stats, b.hash, b.von_mises, b.skin_points])()
        elif what == 9:
            getattr(b, r.choice(["skin_levels", "skin_triangles", "active", "rest", "dof_levels", "level_count"]))
        elif what == 10:
            b.attribute(r.choice([value(), "threshold", "position", "law"]))
        elif what == 11:
            b.x.resize((r.randrange(9), 3), refcheck=False)
        elif what == 12 and r.random() < 0.1:
            b.close()
        else:
            b.tools = [pliant.SphereTool((0.5, 0.6, 0.5), radius=0.1)]

    def on_mesh():
        what = r.randrange(4)
        if what == 0:
            m = pliant.Mesh(value(), points=value())
        elif what == 1:
            m = pliant.Mesh(points=value(), **{r.choice(["triangles", "quads", "tetrahedra", "hexahedra"]): value()})
        elif what == 2:
            m = pliant.Mesh.box(value(), value(), r.choice([(1, 1, 1), (2, 1, 0), "abc", None]), value())
        else:
            x = np.random.default_rng(r.randrange(99)).random((r.randrange(0, 9), 3))
            m = pliant.Mesh(points=x, tetrahedra=np.random.default_rng(r.randrange(99)).integers(0, max(1, len(x)), (r.randrange(0, 5), 4)))
        meshes[r.randrange(len(meshes))] = m

    def others():
        what = r.randrange(3)
        if what == 0:
            pliant.Scene(value(), dt=value())
        elif what == 1:
            pliant.compare({"a": r.choice(bodies), "b": value()}, reference="a", steps=value(), dt=value())
        else:
            pliant.body(value(), **{"mesh": value()})

    for k in range(count):
        action = r.choices([on_body, new_body, on_mesh, others], [70, 12, 12, 6])[0]
        try:
            action()
            fine += 1
        except Exception as cause:  # any exception will do, an end of the process will not
            assert str(cause) or not isinstance(cause, pliant.PliantError), "an error without a sentence"
            raised += 1
        if k % 500 == 0:  # bodies that diverged or were closed give way
            bodies = [b if b._kept is not None else make(s) for b, s in zip(bodies, schemes)]
    print(f"{count} {PRINTED}: {fine} returned, {raised} raised")
    assert raised > count // 4 and fine > count // 10


def main():
    if len(sys.argv) > 3:
        calls(int(sys.argv[1]), int(sys.argv[2]))
        return 0
    count, seed = (sys.argv[1:] + ["10000", "18"][len(sys.argv) - 1:])[:2]
    done = subprocess.run([sys.executable, "-B", "-X", "faulthandler", __file__, count, seed, "child"], stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="")
    if done.returncode != 0 or PRINTED not in done.stdout:
        print(f"the process ended with {done.returncode}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
