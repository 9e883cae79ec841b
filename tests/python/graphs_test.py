# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Prefabs make the graphs of the .scn files; the environment is repeatable, and works without Gymnasium."""
import unittest
import xml.etree.ElementTree

import numpy as np

import pliant
from common import SOURCE
from pliant import gym, prefabs


class Node:
    """Records what is made on it, as SofaPython3's node would make it."""

    def __init__(self, name="root"):
        self.name, self.parts = name, []

    def addChild(self, name):
        child = Node(name)
        self.parts.append(child)
        return child

    def addObject(self, component, **attributes):
        for value in attributes.values():
            assert isinstance(value, str), "SofaPython3 gets texts"
        self.parts.append((component, attributes))

    def graph(self):
        return (self.name, [part.graph() if isinstance(part, Node) else (part[0], normal(part[1])) for part in self.parts])


def normal(attributes):
    """Numbers count, not how they are written."""
    out = {}
    for name, value in attributes.items():
        try:
            out[name] = tuple(float(w) for w in value.split())
        except ValueError:
            out[name] = value
    return out


def parse(element):
    parts = []
    for e in element:
        parts.append(parse(e) if e.tag == "Node" else (e.tag, normal(e.attrib)))
    return (element.get("name"), parts)


def scene(name):
    return parse(xml.etree.ElementTree.parse(SOURCE / "scenes/single" / name).getroot())


class Prefabs(unittest.TestCase):
    def check(self, name, build):
        root = Node()
        build(root)
        self.assertEqual(root.graph(), scene(name))

    def test_tetlod(self):
        def build(root):
            prefabs.requirements(root)
            prefabs.tetlod(root, "box", meshes={"mesh0": {"filename": "../meshes/cube_57_0.msh", "scale": 0.1},
                                                "mesh1": {"filename": "../meshes/cube_135_0.msh", "scale": 0.1}},
                           levels="@mesh0 @mesh1", youngModulus=2e4, poissonRatio=0.3, density=1000, law="corotational", massDamping=5,
                           criterion="contact", radius=0.04, fix=[-0.001, -1, -1, 0.001, 1, 1], fix_of=None, fix_name="clamp",
                           tools=[prefabs.sphere(name="ball", radius=0.03, position=[0.14, 0.05, 0.05], keyTimes=[0, 0.3, 0.6],
                                                 movements=[[0, 0, 0], [-0.03, 0, 0], [0, 0, 0]])])
        self.check("TetLodModel.scn", build)

    def test_frames(self):
        def build(root):
            prefabs.requirements(root)
            prefabs.frames(root, "beam", meshes={"mesh": {"filename": "../meshes/bar_0.msh"}}, mesh="@mesh", frames=8, resolution=32,
                           anchors=np.array([[0.5, 0.5, 0], [0.5, 0.5, 4]]), law="stvk", youngModulus=2e6, poissonRatio=0.3, density=1000,
                           rayleighStiffness=0.02, fix="-1 -1 -0.1 2 2 0.1", fix_of="places",
                           tools=[prefabs.sphere(name="ball", radius=0.5, position=(0.5, 1.6, 3.5), keyTimes=(0, 0.3, 0.6),
                                                 movements="0 0 0  0 -0.4 0  0 0 0")])
        self.check("FramesModel.scn", build)

    def test_springs(self):
        def build(root):
            prefabs.requirements(root)
            prefabs.springs(root, "box", meshes={"mesh": {"filename": "../meshes/box_1.msh", "scale": 0.1}}, mesh="@mesh", basePoints=0,
                            detailLevels=1, open=False, volume=True, thickness=0.02, criterion="displacement", threshold=0.03,
                            youngModulus=2e4, poissonRatio=0.4, density=1000, damping=0.002, massDamping=2,
                            fix="-0.001 -1 -1 0.001 1 1", tools=[prefabs.sphere(name="ball", radius=0.02, position="0.08 0.13 0.05",
                                                                                keyTimes="0 0.3 0.6", movements="0 0 0  0 -0.03 0  0 0 0")])
        self.check("SpringsModel.scn", build)

    def test_fem_on_a_plane(self):
        def build(root):
            prefabs.requirements(root, [p for p in prefabs.PLUGINS if not p.endswith(("Projective", "Select"))])
            prefabs.fem(root, "box", meshes={"mesh": {"filename": "../meshes/box_1.msh", "scale": 0.1}}, src="@mesh", youngModulus=2e4,
                        poissonRatio=0.3, density=1000, law="corotational", massDamping=1,
                        tools=[prefabs.plane(normal=[0, 1, 0], position=[0, -0.01, 0], friction=0.5)])
        self.check("PlaneTool.scn", build)

    def test_wavelet(self):
        def build(root):
            prefabs.requirements(root, [p for p in prefabs.PLUGINS if not p.endswith("IO.Mesh")])
            prefabs.wavelet(root, "block", min=[0, 0, 0], max=[1, 0.5, 1], cells=[4, 2, 4], detailLevels=1, elasticity="nonlinear", law="stvk",
                            threshold=0.02, youngModulus=1e5, poissonRatio=0.3, density=1000, rayleighStiffness=0.02,
                            fix="-1 -0.1 -1 2 0.001 2", fix_of="places",
                            tools=[prefabs.sphere(name="ball", radius=0.2, position="0.5 0.75 0.5", keyTimes="0 0.3 0.6",
                                                  movements="0 0 0  0 -0.15 0  0 0 0")])
        self.check("WaveletModel.scn", build)

    def test_every_scheme_has_one_and_misspellings_are_refused(self):
        for name in pliant.schemes():
            prefabs.body(Node(), "b", name)
            self.assertTrue(callable(getattr(prefabs, name)))
        with self.assertRaisesRegex(pliant.ArgumentError, "did you mean threshold"):
            prefabs.tetlod(Node(), "b", treshold=1)


class Environment(unittest.TestCase):
    PATH = SOURCE / "scenes/single/TetLodModel.scn"

    def episode(self, seed):
        env = gym.SceneEnv(self.PATH, horizon=12, jitter=0.01, reward=lambda e: -float(np.linalg.norm(e.force)))
        observation, info = env.reset(seed=seed)
        self.assertEqual(observation.shape, env.observation_space.shape)
        total, hashes = 0.0, [info["hash"]]
        for k in range(12):
            observation, reward, terminated, truncated, info = env.step(np.array([[-0.01, 0, 0]]))
            self.assertTrue(np.isfinite(observation).all())
            self.assertEqual((terminated, truncated), (False, k == 11))
            total += reward
            hashes.append(info["hash"])
        with self.assertRaisesRegex(pliant.ArgumentError, "the episode is over"):
            env.step(np.zeros((1, 3)))
        env.close()
        return total, hashes

    def test_the_same_seed_is_the_same_episode(self):
        first, again, other = self.episode(3), self.episode(3), self.episode(4)
        self.assertEqual(first, again)
        self.assertNotEqual(first[1][-1], other[1][-1])
        self.assertLess(first[0], 0.0)  # the tool felt the body

    def test_bad_actions_are_refused(self):
        env = gym.SceneEnv(self.PATH)
        env.reset(seed=0)
        for action in (np.zeros(3), np.full((1, 3), np.nan), np.full((1, 3), 1e9), "x"):
            with self.assertRaises(pliant.ArgumentError):
                env.step(action)
        with self.assertRaises(pliant.ArgumentError):
            gym.SceneEnv(self.PATH, body="nobody")
        with self.assertRaisesRegex(pliant.UnsupportedError, "SofaPython3"):
            pliant.Scene("scene.py")


if __name__ == "__main__":
    unittest.main()
