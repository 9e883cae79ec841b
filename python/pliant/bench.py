# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""What Python adds to a step: python3 -m pliant.bench"""
import ctypes as c
import time

from . import FemModel, Mesh
from . import _library as _l


def _rounds(body, dt, count, rounds):
    """CPU s per step of the loop in C and of the loop in Python, the least of several rounds of each."""
    state, pointer, best = c.byref(body._state), body._kept.pointer, [float("inf")] * 2
    for _ in range(rounds):
        start = time.process_time()
        _l.lib.pli_binding_steps(pointer, state, dt, count)
        middle = time.process_time()
        for _ in range(count):
            body.step(dt)
        end = time.process_time()
        best = [min(best[0], (middle - start) / count), min(best[1], (end - middle) / count)]
    return best


def _body(cells):
    b = FemModel(mesh=Mesh.box((0, 0, 0), (1, 1, 1), cells), youngModulus=100.0, massDamping=5.0, gravity=(0.0, 0.0, 0.0))
    b.step(1e-3)
    return b


def added_microseconds():
    """us that the call from Python adds to a step, seen on a body of one cell."""
    in_c, in_python = _rounds(_body((1, 1, 1)), 1e-3, 2000, 7)
    return 1e6 * (in_python - in_c)


def main():
    cells = 6
    while True:  # a body of about 1 ms
        b = _body((cells, cells, cells))
        in_c, in_python = _rounds(b, 0.02, 100, 7)
        if in_c >= 0.8e-3 or cells > 40:
            break
        cells += 2
    print(f"{len(b.x)} coefficients: {1e3 * in_c:.3f} ms a step from C, {1e3 * in_python:.3f} ms from Python, "
          f"{100 * (in_python / in_c - 1):+.2f} %; on a body of one cell Python adds {added_microseconds():.1f} us")


if __name__ == "__main__":
    main()
