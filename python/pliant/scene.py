# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A scene (.scn) in the embedded host, without a window and without SOFA."""
import ctypes as c
import os

import numpy as np

from . import _library as _l
from ._arrays import Kept, copied, real_array, real_number, whole_number

_MOST_BODIES = 64


class SceneBody:
    """One body of a running scene. `x` and `v` are views of its state; they keep the scene's memory alive."""

    def __init__(self, scene, number, raw):
        self._scene, self._kept, self._raw, self._number = scene, scene._kept, raw, number
        self.name, self.is_reference = raw.name.decode(), bool(raw.is_reference)
        self.scheme = _l.lib.pli_body_scheme(raw.body).decode()
        n = _l.lib.pli_body_dof_count(raw.body)
        self.x, self.v = self._kept.view(raw.x, (n, 3), np.float64), self._kept.view(raw.v, (n, 3), np.float64)

    def skin_points(self):
        """m, [n, 3]; a new array."""
        out = np.zeros((_l.lib.pli_body_skin_count(self._raw.body), 3))
        _l.lib.pli_body_skin_positions(self._raw.body, self._raw.x, out.ctypes.data)
        return out

    @property
    def skin_triangles(self):
        """[n, 3]; a copy."""
        count = _l.Index()
        address = _l.lib.pli_body_skin_tris(self._raw.body, c.byref(count))
        return copied(address, (count.value, 3), np.uint32)

    @property
    def active_count(self):
        """Coefficients that move by themselves now."""
        return _l.lib.pli_body_active(self._raw.body).count

    @property
    def tool_positions(self):
        """m, [n, 3], when the last step began."""
        return np.array([list(self._raw.tools[k].position) for k in range(self._raw.tool_count)]).reshape(-1, 3)

    @property
    def tool_forces(self):
        """N, [n, 3], mean over the last step."""
        return np.array([list(self._raw.tools[k].force) for k in range(self._raw.tool_count)]).reshape(-1, 3)

    def tune(self, **attributes):
        """Attributes that may change while it runs: a multiple of the scene's value, as the sliders of the window."""
        tunings = (_l.PliTuning * max(1, len(attributes)))()
        for slot, (name, value) in zip(tunings, attributes.items()):
            slot.name, slot.value = name.encode(), real_number(name, value)
        err = _l.PliError()
        _l.check(_l.lib.pli_scene_tune(self._scene._open(), self._number, tunings, len(attributes), c.byref(err)), err)


class Scene:
    """Scene("poke.scn", set={"@TetLod/model.threshold": 0.05})"""

    def __init__(self, path, *, set=None, dt=None, data_path=None, threads=1):  # noqa: A002: the option of the command
        self.path = os.fspath(path)
        if self.path.endswith(".py"):
            raise _l.UnsupportedError(f"{self.path} is a Python scene, which SOFA runs with SofaPython3; this host reads XML scenes (.scn)", 5)
        if not os.path.isfile(self.path):
            raise _l.FileError(f"there is no file {self.path}", 2)
        self._set = {str(k): self._text(v) for k, v in (set or {}).items()}
        self._dt = 0.0 if dt is None else real_number("dt", dt, 0.0)
        self._data_path, self._threads = data_path, whole_number("threads", threads, 1, 64)
        self._kept = None
        self.reset()

    @staticmethod
    def _text(value):
        if isinstance(value, (list, tuple, np.ndarray)):
            return " ".join(repr(float(k)) for k in np.ravel(value))
        return str(int(value)) if isinstance(value, bool) else str(value)

    def reset(self, set=None):  # noqa: A002
        """Loads the scene again, at its beginning; `set` adds to the attributes that were set."""
        overrides = {**self._set, **{str(k): self._text(v) for k, v in (set or {}).items()}}
        for path in overrides:
            if not path.startswith("@") or "." not in path:
                raise _l.ArgumentError(f"an attribute is set by @path.attribute, not {path!r}")
        host, pool = _l.host(self._threads)
        pool = Kept(pool, _l.lib.pli_pool_destroy) if pool else None
        definition = _l.lib.pli_scene_default()
        listed = (_l.PliOverride * max(1, len(overrides)))()
        for slot, (path, value) in zip(listed, overrides.items()):
            slot.path, slot.value = path.encode(), value.encode()
        definition.overrides, definition.override_count, definition.dt = listed, len(overrides), self._dt
        definition.data_path = os.fsencode(self._data_path) if self._data_path else None
        status = c.c_int()
        pointer = _l.lib.pli_scene_load(c.byref(host), os.fsencode(self.path), c.byref(definition), c.byref(status))
        if not pointer:
            raise _l.error(-1, f"no memory for {self.path}")
        kept = Kept(pointer, _l.lib.pli_scene_destroy, pool, listed, definition)
        if status.value:
            report = pointer.contents.report
            worst = max((report.finding[k] for k in range(report.count)), key=lambda f: f.severity, default=None)
            where = f"{worst.file.decode()}:{worst.line}: " if worst is not None and worst.file else ""
            what = f"{worst.component.decode()}: {worst.text.decode()}" if worst is not None else f"{self.path} cannot be loaded"
            raise _l.error(status.value, where + what)
        err = _l.PliError()
        _l.check(_l.lib.pli_scene_start(pointer, c.byref(err)), err)
        self._kept = kept
        found = (_l.PliSceneBody * _MOST_BODIES)()
        count = min(_MOST_BODIES, _l.lib.pli_scene_bodies(pointer, found, _MOST_BODIES))
        self.bodies = [SceneBody(self, k, found[k]) for k in range(count)]

    def _open(self):
        if self._kept is None:
            raise _l.ArgumentError("the scene is closed")
        return self._kept.pointer

    def close(self):
        """Lets it go; its memory goes with the last array that shows it."""
        self._kept, self.bodies = None, []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __getitem__(self, name):
        for body in self.bodies:
            if body.name == name:
                return body
        raise KeyError(f"{self.path} has no body {name}; it has {', '.join(b.name for b in self.bodies)}")

    def step(self, count=1):
        """Steps of the scene's dt."""
        pointer, err = self._open(), _l.PliError()
        for _ in range(whole_number("count", count, 1, 2**31 - 1)):
            _l.check(_l.lib.pli_scene_step(pointer, c.byref(err)), err)

    dt = property(lambda self: self._open().contents.dt, doc="s")
    time = property(lambda self: self._open().contents.time, doc="s")
    gravity = property(lambda self: np.array(self._open().contents.gravity), doc="m/s2")

    def hash(self):
        """Of every state and body."""
        return _l.lib.pli_scene_hash(self._open())

    def steer(self, tool, target):
        """Tool number `tool` of every body goes to `target` instead of along its path, at ten radii a second at most; None gives it
        back to its path."""
        pointer = self._open()
        most = max((b._raw.tool_count for b in self.bodies), default=0)
        tool = whole_number("tool", tool, 0, max(0, most - 1))
        t = None if target is None else real_array("target", target, (3,))
        _l.lib.pli_scene_steer(pointer, tool, None if t is None else t.ctypes.data)

    def grab(self, at, target, radius, stiffness=0.0):
        """Holds every body by the patch of skin around `at` (at rest) and pulls it to `target`; grab(None, None, 0) lets go."""
        pointer, err = self._open(), _l.PliError()
        grip = None
        if at is not None:
            a, t = real_array("at", at, (3,)), real_array("target", target, (3,))
            grip = _l.PliGrip((c.c_double * 3)(*a), real_number("radius", radius, 0.0), (c.c_double * 3)(*t), real_number("stiffness", stiffness))
        _l.check(_l.lib.pli_scene_grab(pointer, None if grip is None else c.byref(grip), c.byref(err)), err)
