# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A Gymnasium environment around a scene: steer its tools, feel their forces, see the skin. No window, no SOFA.

    env = pliant.gym.SceneEnv("poke.scn", body="TetLod", reward=lambda env: -abs(env.force[1] - 2.0))
    observation, info = env.reset(seed=1)
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

Where Gymnasium is not installed the class has the same methods, and spaces with `shape`, `low`, `high`, `sample` and `contains`.
"""
import numpy as np

from . import _library as _l
from ._arrays import real_array, real_number, whole_number
from .scene import Scene

try:
    import gymnasium as _gymnasium
    _Env, _Box = _gymnasium.Env, _gymnasium.spaces.Box
except ImportError:
    _gymnasium = None
    _Env = object

    class _Box:
        """What SceneEnv needs of gymnasium.spaces.Box."""

        def __init__(self, low, high, shape=None, dtype=np.float64):
            self.dtype = np.dtype(dtype)
            self.shape = tuple(np.shape(low) if shape is None else shape)
            self.low, self.high = np.broadcast_to(low, self.shape).astype(dtype), np.broadcast_to(high, self.shape).astype(dtype)
            self._random = np.random.default_rng()

        def seed(self, seed=None):
            self._random = np.random.default_rng(seed)
            return [seed]

        def sample(self):
            bounded = np.isfinite(self.low) & np.isfinite(self.high)
            return np.where(bounded, self._random.uniform(np.where(bounded, self.low, 0), np.where(bounded, self.high, 1)),
                            self._random.standard_normal(self.shape)).astype(self.dtype)

        def contains(self, x):
            x = np.asarray(x)
            return x.shape == self.shape and bool(np.all(x >= self.low) and np.all(x <= self.high))


class SceneEnv(_Env):
    """One body of a scene and its first tools.

    path, set: as for pliant.Scene
    body: name of the body that is seen; default: the first that is not the reference
    tools: how many of its tools the actions steer; default: all that are balls
    reach: m a tool may be sent in each direction from where it is in one action; default: its radius
    substeps: steps of the scene for one action
    horizon: actions until an episode is truncated; 0: never
    reward: function of the environment; default: 0
    jitter: m by which tools start displaced at random, in each direction: what a seed decides

    action [tools, 3]: where the tools go, m, from where they are
    observation [n]: tool positions (m), tool forces (N), skin points (m), one after the other
    An episode terminates when the body diverges.
    """

    metadata = {"render_modes": []}
    render_mode = None

    def __init__(self, path, *, body=None, tools=None, reach=None, substeps=1, horizon=0, reward=None, jitter=0.0, set=None):  # noqa: A002
        self.scene = Scene(path, set=set)
        names = [b.name for b in self.scene.bodies]
        others = [b.name for b in self.scene.bodies if not b.is_reference] or names
        if not names:
            raise _l.ArgumentError(f"{path} has no body")
        if body is not None and body not in names:
            raise _l.ArgumentError(f"{path} has no body {body}; it has {', '.join(names)}")
        self._name = body or others[0]
        raw = self._body()._raw
        balls = [k for k in range(raw.tool_count) if raw.tools[k].shape != 1]
        self._tools = balls if tools is None else balls[:whole_number("tools", tools, 0, len(balls))]
        radius = max((raw.tools[k].radius for k in self._tools), default=0.01)
        reach = radius if reach is None else real_number("reach", reach, 0.0)
        self._substeps, self._horizon = whole_number("substeps", substeps, 1, 10**6), whole_number("horizon", horizon, 0, 10**9)
        self._reward, self._jitter = reward, real_number("jitter", jitter)
        self.action_space = _Box(-reach, reach, (len(self._tools), 3), np.float64)
        self.np_random = np.random.default_rng()
        self._targets = np.zeros((len(self._tools), 3))
        self._begin()
        n = len(self._observe())
        self.observation_space = _Box(-np.inf, np.inf, (n,), np.float64)

    def _body(self):
        return self.scene[self._name]

    def _begin(self):
        self._done, self._count = False, 0
        self._targets = self._body().tool_positions[self._tools]

    @property
    def force(self):
        """N, sum of the forces on the steered tools."""
        return self._body().tool_forces[self._tools].sum(axis=0)

    @property
    def skin(self):
        """m, points of the skin."""
        return self._body().skin_points()

    def _observe(self):
        b = self._body()
        return np.concatenate([b.tool_positions[self._tools].ravel(), b.tool_forces[self._tools].ravel(), b.skin_points().ravel()])

    def reset(self, *, seed=None, options=None):
        """The scene from its beginning. The same seed starts the same episode; options: {"set": {"@path.attribute": value}}."""
        if seed is not None:
            self.np_random = np.random.default_rng(whole_number("seed", seed, 0, 2**63 - 1))
        self.scene.reset(set=(options or {}).get("set"))
        self._begin()
        if self._jitter:
            self._targets = self._targets + self.np_random.uniform(-self._jitter, self._jitter, self._targets.shape)
        self._steer()
        return self._observe(), self._info()

    def _steer(self):
        for k, tool in enumerate(self._tools):
            self.scene.steer(tool, self._targets[k])

    def _info(self):
        return {"time": self.scene.time, "active": self._body().active_count, "hash": self.scene.hash()}

    def step(self, action):
        """(observation, reward, terminated, truncated, info)"""
        if self._done:
            raise _l.ArgumentError("the episode is over: reset the environment")
        action = real_array("action", action, (len(self._tools), 3))
        if not self.action_space.contains(action):
            raise _l.ArgumentError(f"an action is in {self.action_space.low.min():g} .. {self.action_space.high.max():g} m")
        self._targets = self._targets + action
        self._steer()
        terminated = False
        try:
            self.scene.step(self._substeps)
        except _l.DivergedError:
            terminated = True
        self._count += 1
        truncated = 0 < self._horizon <= self._count
        self._done = terminated or truncated
        return self._observe(), float(self._reward(self)) if self._reward else 0.0, terminated, truncated, self._info()

    def render(self):
        """There is no window; pliant.plot.levels draws skins."""

    def close(self):
        """Lets the scene go."""
        self.scene.close()
