#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Gymnasium's own checker on our environment, and an episode through gymnasium.make. Exit code 77: Gymnasium is not installed."""
import sys
import unittest

import numpy as np

from common import SOURCE

try:
    import gymnasium
    from gymnasium.utils.env_checker import check_env
except ImportError:
    print("skipped: Gymnasium is not installed")
    sys.exit(77)

from pliant import gym  # noqa: E402  (it looks for Gymnasium, too)

PATH = str(SOURCE / "scenes/single/TetLodModel.scn")


class Checked(unittest.TestCase):
    def test_gymnasium_accepts_it(self):
        env = gym.SceneEnv(PATH, horizon=12, jitter=0.01, reward=lambda e: -float(np.linalg.norm(e.force)))
        self.assertIsInstance(env, gymnasium.Env)
        check_env(env, skip_render_check=True)

    def test_the_checker_would_notice(self):
        class Forgetful(gym.SceneEnv):
            def reset(self, *, seed=None, options=None):
                return super().reset(seed=None, options=options)

        with self.assertRaises(AssertionError):
            check_env(Forgetful(PATH, horizon=12, jitter=0.01), skip_render_check=True)

    def test_an_episode_through_make(self):
        gymnasium.register("Pliant/Scene-v0", entry_point=gym.SceneEnv, max_episode_steps=5)
        env = gymnasium.make("Pliant/Scene-v0", path=PATH, jitter=0.01)
        first, _ = env.reset(seed=3)
        env.action_space.seed(3)
        ends = [env.step(env.action_space.sample())[2:4] for _ in range(5)]
        self.assertEqual(ends, [(False, False)] * 4 + [(False, True)])
        np.testing.assert_array_equal(first, env.reset(seed=3)[0])
        env.close()


if __name__ == "__main__":
    unittest.main()
