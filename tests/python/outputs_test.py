# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Comparisons from Python, readers of what the command writes, plots, and the example."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np

import pliant
from common import COMMAND, SOURCE, levels
from pliant import plot, read

SCENE = """<Node name="root" dt="0.01" gravity="0 -1 0">
<ComparisonMonitor reference="@Fine/model" steps="20"/>
{bodies}</Node>"""
NODE = """<Node name="{name}"><{model} name="model" {mesh} skin="{folder}/skin.obj" youngModulus="20000" massDamping="2"/>
<MechanicalObject name="dofs" position="@model.position"/><BoxROI name="held" position="@model.position" box="-9 -9 -9 9 0.001 9"/>
<FixedProjectiveConstraint indices="@held.indices"/><AdaptiveSolver/>
<SphereTool name="ball" radius="0.2" position="0.5 0.72 0.5" keyTimes="0 0.2" movements="0 0 0  0 -0.1 0"/></Node>
"""


def write_scene(folder):
    meshes = levels((2, 4))
    meshes[1].surface().write(f"{folder}/skin.obj")
    for k, mesh in enumerate(meshes):
        mesh.write(f"{folder}/{k}.msh")
    bodies = [("Fine", "FemModel", f'filename="{folder}/1.msh"'), ("Coarse", "FemModel", f'filename="{folder}/0.msh"'),
              ("Lod", "TetLodModel", f'filenames="{folder}/0.msh {folder}/1.msh"')]
    text = SCENE.format(bodies="".join(NODE.format(name=n, model=m, mesh=f, folder=folder) for n, m, f in bodies))
    pathlib.Path(folder, "s.scn").write_text(text)
    return f"{folder}/s.scn"


class Outputs(unittest.TestCase):
    def test_python_and_the_command_measure_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            scene = write_scene(folder)
            subprocess.run([COMMAND, "compare", scene, "--repeat", "1", "--no-cache", "-q", "--out", f"{folder}/out"], check=True)
            told = read.frame(f"{folder}/out/bodies.csv").set_index("body")
            given = dict(skin=f"{folder}/skin.obj", youngModulus=20000.0, massDamping=2.0, gravity=(0, -1, 0))
            bodies = {"Fine": pliant.FemModel(filename=f"{folder}/1.msh", **given), "Coarse": pliant.FemModel(filename=f"{folder}/0.msh", **given),
                      "Lod": pliant.TetLodModel(filenames=[f"{folder}/0.msh", f"{folder}/1.msh"], **given)}
            for b in bodies.values():
                b.fixed = b.rest[:, 1] <= 0.001
                b.tools = [pliant.SphereTool((0.5, 0.72, 0.5), 0.2, keyTimes=[0, 0.2], movements=[[0, 0, 0], [0, -0.1, 0]])]
            mine = pliant.compare(bodies, reference="Fine", steps=20, dt=0.01, repeat=2)
            frame = mine.frame()
            for name in bodies:
                self.assertEqual(frame.status[name], "ok")
                for figure in ("error_rms", "error_max", "force_error", "dofs_mean", "dofs_total"):
                    np.testing.assert_allclose(frame[figure][name], told[figure][name], rtol=1e-6, atol=1e-9)
            self.assertGreater(frame.error_rms["Coarse"], 1e-3)
            self.assertEqual(len(mine.series_frame()), len(read.frame(f"{folder}/out/series.csv")))
            self.assertIn("<html", mine.html().lower())

            # the other readers
            report = read.json_frame(f"{folder}/out/compare.json")
            self.assertEqual(list(report["name"]), list(told.index))
            np.testing.assert_allclose(report["error_rms"], told["error_rms"], rtol=1e-9)
            subprocess.run([COMMAND, "run", scene, "--steps", "4", "--export-every", "2", "--out", f"{folder}/run", "-q"], check=True)
            stats = read.columns(f"{folder}/run/stats.csv")
            np.testing.assert_allclose(stats["time_s"], [0, 0.01, 0.02, 0.03, 0.04])
            series = read.series(f"{folder}/run/Fine.pvd")
            np.testing.assert_allclose(series.times, [0, 0.02, 0.04])
            last = series.frames[2]
            self.assertEqual(len(last.points), len(last.point_data["displacement"]))
            np.testing.assert_allclose(last.points - last.point_data["displacement"], series.frames[0].points, atol=1e-12)
            self.assertEqual(len(read.frame(f"{folder}/run/stats.csv")), 5)

            # plots draw what is there
            ax = mine.plot()
            self.assertEqual([line.get_label() for line in ax.lines], ["fem", "tetlod", "front"])
            self.assertEqual(len(plot.series(mine.series()).lines), 3)
            self.assertGreater(len(plot.levels(bodies["Lod"]).collections), 0)

    def test_front(self):
        self.assertEqual(list(plot.on_front([1, 2, 3, 4], [4, 2, 3, 1])), [True, True, False, True])
        self.assertEqual(list(plot.on_front([1, np.nan], [1, 0])), [True, False])

    def test_recordings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "hand.txt")
            path.write_text("# pliant recording 2: tool x y z, grabbing, at x y z, target x y z, attribute=value of every slider that was turned\n"
                            "# scene liver.scn\n-1 0 0 0 0 0 0 0 0 0 0\n0 1 2 3 1 4 5 6 7 8 9 threshold=0.5\n")
            r = read.recording(path)
            self.assertEqual((r.scene, list(r.tool), list(r.grabbing)), ("liver.scn", [-1, 0], [False, True]))
            self.assertEqual(r.sliders, [{}, {"threshold": 0.5}])
            np.testing.assert_array_equal(r.target[1], [7, 8, 9])
            path.write_text(path.read_text() + "1 2 3\n")
            with self.assertRaisesRegex(pliant.FileError, "hand.txt:5: a step has 11 numbers"):
                read.recording(path)
        with self.assertRaises(pliant.FileError):
            read.columns("/nowhere.csv")

    def test_reports_of_verify_and_bench(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([COMMAND, "list", "TetLodModel", "--json", f"{folder}/list.json"], check=True)
            self.assertEqual(list(read.json_frame(f"{folder}/list.json")["name"]), ["TetLodModel"])
            pathlib.Path(folder, "bad.json").write_text(json.dumps({"schema": 99}))
            with self.assertRaisesRegex(pliant.FileError, "schema 1"):
                read.json_frame(f"{folder}/bad.json")

    def test_the_example_has_15_lines_and_runs(self):
        example = SOURCE / "examples/python/compare_two.py"
        self.assertLessEqual(len(example.read_text().splitlines()), 15)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, str(example)], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
            self.assertIn("tetlod 0.05", done.stdout)
            self.assertGreater(os.path.getsize(f"{folder}/compare_two.png"), 5000)


if __name__ == "__main__":
    unittest.main()
