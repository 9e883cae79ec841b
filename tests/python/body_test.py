# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Bodies of every registered scheme, made, stepped, read and changed from Python."""
import ast
import gc
import pathlib
import subprocess
import tempfile
import threading
import time
import unittest

import numpy as np

import pliant
from common import COMMAND, SOURCE, make
from pliant import stubs


class Bodies(unittest.TestCase):
    def test_every_scheme_steps_and_is_pushed(self):
        schemes = pliant.schemes()
        self.assertGreaterEqual(len(schemes), 6)
        for scheme in schemes.values():
            with self.subTest(scheme.name):
                b = make(scheme)
                x, rest = b.x, b.rest
                self.assertTrue(np.array_equal(x, rest))
                push = 0.0
                for _ in range(30):
                    info = b.step(0.01)
                    self.assertEqual(info.status, 0)
                    push = max(push, b.tool_forces[0, 1])
                self.assertGreater(push, 0.0)
                self.assertFalse(np.array_equal(x, rest))  # the same array, moved by the library
                self.assertAlmostEqual(b.time, 0.3)
                self.assertEqual(b.stats().steps, 30)
                self.assertEqual(len(b.active), b.stats().active)
                skin = b.skin_points()
                self.assertLess(int(b.skin_triangles.max()), len(skin))
                first = b.x.copy()
                b.reset()
                self.assertTrue(np.array_equal(b.x, rest))
                for _ in range(30):
                    b.step(0.01)
                self.assertTrue(np.array_equal(b.x, first))

    def test_a_reset_body_is_a_new_one(self):
        def run(b, steps):
            for _ in range(steps):
                b.step(0.01)
                yield b.hash()

        tried = 0
        for scheme in pliant.schemes().values():
            for integrator in ("symplectic", "implicit"):
                with self.subTest(scheme.name, integrator=integrator):
                    try:
                        b = make(scheme, integrator=integrator)
                    except pliant.PliantError:
                        continue  # not every scheme has both
                    fresh = list(run(b, 24))
                    self.assertGreater(len(set(fresh)), 12)  # until the tool comes nothing moves
                    for before in (1, 9, 24):  # after the first events, under the tool, at the end
                        b.reset()
                        self.assertEqual(list(run(b, before)), fresh[:before])
                        b.skin_points()
                    tried += 1
        self.assertGreaterEqual(tried, 8)

    def test_arrays_are_shared(self):
        b = make(pliant.schemes()["fem"])
        b.x[3, 1] += 0.01
        self.assertEqual(b.x[3, 1], b._x[3, 1])
        self.assertEqual(b._state.x, b.x.ctypes.data)
        self.assertFalse(b.rest.flags.writeable)
        rest = b.rest
        before = rest.copy()
        b.close()
        del b
        gc.collect()
        self.assertTrue(np.array_equal(rest, before))  # the view keeps the memory

    def test_attributes_come_from_the_registry(self):
        for scheme in pliant.schemes().values():
            cls = getattr(pliant, scheme.component)
            for a in scheme.attributes.values():
                if a.given:
                    self.assertIn(a.help, cls.__doc__)
                    self.assertIn(a.name, cls.__init__.__signature__.parameters)
                self.assertFalse(hasattr(pliant.Body, a.name), f"{scheme.component}.{a.name} hides a member of Body")
        b = make(pliant.schemes()["tetlod"])
        self.assertEqual(b.threshold, 0.1)
        b.threshold = 0.025
        self.assertEqual(b.threshold, 0.025)
        with self.assertRaisesRegex(pliant.ArgumentError, "threshold"):
            b.threshold = -1.0
        self.assertEqual(b.threshold, 0.025)
        with self.assertRaisesRegex(pliant.UnsupportedError, "cannot change while running"):
            b.set_attributes(density=2000.0)
        with self.assertRaisesRegex(pliant.ArgumentError, "did you mean youngModulus"):
            make(pliant.schemes()["fem"], youngModulsu=3.0)
        with self.assertRaisesRegex(pliant.ArgumentError, "did you mean corotational"):
            make(pliant.schemes()["fem"], law="corotationl")

    def test_errors_are_the_library_s_sentences(self):
        with self.assertRaisesRegex(pliant.FileError, "nowhere.msh"):
            pliant.FemModel(filename="nowhere.msh")
        with self.assertRaisesRegex(pliant.ArgumentError, "no mesh"):
            pliant.FemModel()
        b = make(pliant.schemes()["fem"])
        b.x[:] = np.nan
        with self.assertRaises(pliant.DivergedError) as caught:
            b.step(0.01)
        self.assertEqual(caught.exception.info.status, -2)
        b.reset()
        b.step(0.01)

    def test_a_body_is_that_of_the_embedded_host(self):
        """The same block from Python and from a scene: the same bits."""
        mesh = pliant.Mesh(SOURCE / "scenes/meshes/box_1.msh")
        with tempfile.TemporaryDirectory() as folder:
            scene = pathlib.Path(folder, "s.scn")
            scene.write_text(f'''<Node name="root" dt="0.01" gravity="0 -9.81 0">
<Node name="b"><FemModel name="model" filename="{SOURCE}/scenes/meshes/box_1.msh" youngModulus="2e5" massDamping="2" law="corotational"/>
<MechanicalObject name="dofs" position="@model.position"/><BoxROI name="held" position="@model.position" box="-0.01 -9 -9 0.01 9 9"/>
<FixedProjectiveConstraint indices="@held.indices"/><AdaptiveSolver/>
<SphereTool radius="0.3" position="0.8 1.31 0.5" keyTimes="0 0.3" movements="0 0 0  0 -0.6 0"/></Node></Node>''')
            scene_body = pliant.Scene(scene)
            b = pliant.FemModel(mesh=mesh, youngModulus=2e5, massDamping=2.0, law="corotational")
            b.fixed = np.abs(b.rest[:, 0]) <= 0.01
            b.tools = [pliant.SphereTool((0.8, 1.31, 0.5), radius=0.3, keyTimes=[0, 0.3], movements=[[0, 0, 0], [0, -0.6, 0]])]
            for _ in range(25):
                b.step(0.01)
            scene_body.step(25)
            self.assertLess(np.abs(b.x - scene_body.bodies[0].x).max(), 1e-9)
            self.assertGreater(np.abs(b.tool_forces).max(), 0)
            done = subprocess.run([COMMAND, "run", str(scene), "--steps", "25", "--hash", "-q"], stdout=subprocess.PIPE, text=True, check=True)
            self.assertEqual(done.stdout.strip(), f"{scene_body.hash():016x}")

    def test_steps_release_the_interpreter_and_bodies_are_one_thread_s(self):
        big = pliant.FemModel(mesh=pliant.Mesh.box((0, 0, 0), (1, 1, 1), (12, 12, 12)), youngModulus=1e6)
        ticks, busy, stop = [0], [], threading.Event()

        def other():
            while not stop.is_set():
                ticks[0] += 1
                try:
                    big.stats()
                except pliant.ArgumentError as cause:
                    busy.append(str(cause))
                time.sleep(1e-4)
        thread = threading.Thread(target=other)
        thread.start()
        try:
            for _ in range(1000):
                before = ticks[0]
                try:
                    big.step(0.02, count=5)
                    break
                except pliant.ArgumentError:  # the other one was looking at it
                    time.sleep(1e-4)
            during = ticks[0] - before
        finally:
            stop.set()
            thread.join()
        self.assertGreater(during, 5)
        self.assertTrue(any("another thread" in text for text in busy))

    def test_stubs_name_what_there_is(self):
        tree = ast.parse(stubs.stubs())
        classes = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        for scheme in pliant.schemes().values():
            init = next(n for n in classes[scheme.component].body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
            want = {a.name for a in scheme.attributes.values() if a.given} | {"gravity", "skin", "threads"}
            self.assertEqual({a.arg for a in init.args.kwonlyargs}, want)

    def test_a_step_from_python_costs_little(self):
        """What Python adds to a step, on a body so small that this is nearly all: 5 % of a step of 1 ms are 50 us."""
        from pliant import bench
        added = bench.added_microseconds()
        print(f"Python adds {added:.1f} us to a step")
        self.assertLess(added, 50.0)


if __name__ == "__main__":
    unittest.main()
