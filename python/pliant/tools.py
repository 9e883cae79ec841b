# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Rigid tools: the names of their attributes are those of the components in scenes."""
import numpy as np

from . import _library as _l
from ._arrays import real_array, real_number


class Tool:
    """A rigid obstacle. It moves with `velocity`, or along `movements` (displacements from `position`, linear in between) at
    `keyTimes`. One tool may be given to several bodies: each keeps its own force."""

    _shape = None

    def __init__(self, position=(0.0, 0.0, 0.0), *, velocity=(0.0, 0.0, 0.0), keyTimes=(), movements=(), stiffness=0.0, friction=0.0):
        self.position = real_array("position", position, (3,)).copy()
        self.velocity = real_array("velocity", velocity, (3,)).copy()
        self.stiffness, self.friction = real_number("stiffness", stiffness), real_number("friction", friction)
        self.keyTimes = real_array("keyTimes", keyTimes, (None,)).copy()
        moves = np.asarray(movements, float).reshape(-1, 3) if np.size(movements) % 3 == 0 else movements
        self.movements = real_array("movements", moves, (None, 3)).copy()
        if len(self.keyTimes) != len(self.movements) or np.any(np.diff(self.keyTimes) <= 0):
            raise _l.ArgumentError(f"keyTimes ({len(self.keyTimes)} values) must ascend, and movements ({len(self.movements)}) must "
                                   "have one displacement for each")
        if len(self.keyTimes) and np.any(self.velocity):
            raise _l.ArgumentError("a tool moves with a velocity or along keyTimes and movements: give one of them")
        if self.stiffness < 0 or self.friction < 0:
            raise _l.ArgumentError("stiffness and friction must not be negative")

    def at(self, time):
        """m, where it is."""
        if not len(self.keyTimes):
            return self.position + time * self.velocity
        return self.position + [np.interp(time, self.keyTimes, self.movements[:, k]) for k in range(3)]

    def _fill(self, slot, time, dt):
        """As a step that begins now will see it. Sums and quotients are those of the embedded host, to the bit."""
        here = self.at(time)
        there = self.at(time + dt)
        for k in range(3):
            slot.position[k] = here[k]
            slot.velocity[k] = (there[k] - here[k]) / dt if dt > 0 else 0.0

    def _begin(self, slot):
        slot.shape, slot.stiffness, slot.friction = self._shape, self.stiffness, self.friction
        self._fill(slot, 0.0, 0.0)


class SphereTool(Tool):
    """A ball of `radius` m."""
    _shape = 0

    def __init__(self, position=(0.0, 0.0, 0.0), radius=0.01, **more):
        super().__init__(position, **more)
        self.radius = real_number("radius", radius, 0.0)

    def _begin(self, slot):
        super()._begin(slot)
        slot.radius = self.radius


class PlaneTool(Tool):
    """A half-space that bodies stay out of; `normal` points to their side."""
    _shape = 1

    def __init__(self, position=(0.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0), **more):
        super().__init__(position, **more)
        n = real_array("normal", normal, (3,))
        length = np.linalg.norm(n)
        if not 0 < length < np.inf:
            raise _l.ArgumentError("normal has no direction")
        self.normal = n / length

    def _begin(self, slot):
        super()._begin(slot)
        slot.other[:] = list(self.normal)


class CapsuleTool(Tool):
    """A ball of `radius` m drawn from `position` to `other`."""
    _shape = 2

    def __init__(self, position=(0.0, 0.0, 0.0), other=(0.0, 0.0, 0.0), radius=0.01, **more):
        super().__init__(position, **more)
        self.other = real_array("other", other, (3,)).copy()
        self.radius = real_number("radius", radius, 0.0)

    def _fill(self, slot, time, dt):
        super()._fill(slot, time, dt)
        axis = self.other - self.position
        for k in range(3):
            slot.other[k] = slot.position[k] + axis[k]

    def _begin(self, slot):
        super()._begin(slot)
        slot.radius = self.radius
