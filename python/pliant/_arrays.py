# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Arrays on their way into the library and out of it."""
import ctypes as c

import numpy as np

from . import _library as _l


class Kept:
    """An object of the library that lives as long as anybody holds it or a view of its memory."""

    def __init__(self, pointer, destroy, *others):
        self.pointer = pointer
        self._destroy, self._others = destroy, others  # others: what must outlive it

    def view(self, address, shape, dtype):
        """The library's memory as an array that cannot be written; it keeps this object alive."""
        count = int(np.prod(shape))
        address = c.cast(address, c.c_void_p).value if address else None
        if count == 0 or not address:
            return np.zeros(shape, dtype)
        buffer = (c.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
        buffer.kept = self
        array = np.frombuffer(buffer, dtype, count).reshape(shape)
        array.flags.writeable = False
        return array

    def __del__(self):
        if self.pointer and self._destroy:
            self._destroy(self.pointer)
            self.pointer = None


def copied(address, shape, dtype):
    """A copy of memory that is only good for a moment."""
    count = int(np.prod(shape))
    if count == 0 or not address:
        return np.zeros(shape, dtype)
    buffer = (c.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    return np.frombuffer(buffer, dtype, count).reshape(shape).copy()


def _numbers(name, value):
    try:
        a = np.asarray(value)
    except Exception as cause:
        raise _l.ArgumentError(f"{name} is no array of numbers: {cause}") from None
    if a.dtype.kind not in "iufb" or (a.dtype.kind == "f" and a.dtype.itemsize > 8):
        raise _l.ArgumentError(f"{name} must be numbers, not {a.dtype}")
    return a


def real_array(name, value, shape, finite=True):
    """Double numbers in C order, of a shape in which None is any length. Copied only where it must be."""
    a = _numbers(name, value)
    if a.ndim != len(shape) or any(want is not None and have != want for have, want in zip(a.shape, shape)):
        want = ", ".join("n" if k is None else str(k) for k in shape)
        raise _l.ArgumentError(f"{name} has shape {list(a.shape)}, and needs [{want}]")
    a = np.ascontiguousarray(a, np.float64)
    if finite and not np.isfinite(a).all():
        raise _l.ArgumentError(f"{name} has a value that is not finite")
    return a


def index_array(name, value, width, limit):
    """Indices below `limit` (None: any): [n] for width 0, else [n, width], or flat."""
    a = _numbers(name, value)
    if a.size and a.dtype.kind not in "iu":
        raise _l.ArgumentError(f"{name} must be whole numbers, not {a.dtype}")
    if width and a.ndim == 1 and a.size % width == 0:
        a = a.reshape(-1, width)
    if a.ndim != (2 if width else 1) or (width and a.shape[1] != width):
        raise _l.ArgumentError(f"{name} has shape {list(a.shape)}, and needs {f'[n, {width}]' if width else '[n]'}")
    if a.size and (a.min() < 0 or int(a.max()) >= (limit if limit is not None else 2**32 - 1)):
        worst = int(a.min()) if a.min() < 0 else int(a.max())
        raise _l.ArgumentError(f"{name} has {worst}, and there are {limit if limit is not None else 2**32 - 1}")
    return np.ascontiguousarray(a, np.uint32)


def real_number(name, value, least=None):
    """A finite number."""
    try:
        number = float(value)
    except Exception:
        raise _l.ArgumentError(f"{name} is a number, not {value!r}") from None
    if not np.isfinite(number) or (least is not None and not number > least):
        raise _l.ArgumentError(f"{name} = {number} must be finite{'' if least is None else f' and > {least:g}'}")
    return number


def whole_number(name, value, least, most):
    """An int in a range."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not least <= value <= most:
        raise _l.ArgumentError(f"{name} = {value!r} must be a whole number in {least} .. {most}")
    return int(value)
