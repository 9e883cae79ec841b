# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The comparison of `pliant compare`, for bodies made in Python: the same code measures both."""
import contextlib
import ctypes as c

from . import _library as _l
from . import read as _read
from ._arrays import Kept, real_number, whole_number
from .body import Body


class Comparison:
    """What bodies did and cost. `columns()` and `series()` are dicts of NumPy arrays, `frame()` and `series_frame()` pandas tables;
    the names are those of bodies.csv and series.csv (doc/comparison.md)."""

    def __init__(self, kept, title):
        self._kept, self.title = kept, title

    def _text(self, function):
        chapter = _l.PliChapter(comparison=self._kept.pointer, title=self.title.encode(), scene=b"", note=None)
        definition = _l.PliReportDef(c.pointer(chapter), 1, b"pliant.compare(...)", None, 0)
        text = _l.PliText()
        function(c.byref(definition), c.byref(text))
        try:
            if text.failed:
                raise _l.error(-1, "no memory for the report")
            return c.string_at(text.data, text.bytes).decode("utf-8", "replace")
        finally:
            _l.lib.pli_text_free(c.byref(text))

    def columns(self):
        """One row per body: the figures."""
        return _read.columns_of(self._text(_l.lib.pli_report_bodies_csv))

    def series(self):
        """One row per body and sample."""
        return _read.columns_of(self._text(_l.lib.pli_report_series_csv))

    def frame(self):
        """`columns` as a pandas table, indexed by body."""
        return _read.frame_of(self._text(_l.lib.pli_report_bodies_csv)).set_index("body")

    def series_frame(self):
        """`series` as a pandas table."""
        return _read.frame_of(self._text(_l.lib.pli_report_series_csv))

    def html(self):
        """The report that `pliant compare` writes: one file that opens without a network."""
        return self._text(_l.lib.pli_report_html)

    def plot(self, **options):
        """Error against cost, with the front; see pliant.plot.front."""
        from . import plot
        return plot.front(self.columns(), **options)

    def __repr__(self):
        rows = self.columns()
        lines = [f"{'body':<20} {'scheme':<10} {'error':>9} {'ms/step':>9} {'DOFs':>8}"]
        for k, name in enumerate(rows["body"]):
            lines.append(f"{name:<20} {rows['scheme'][k]:<10} {100 * rows['error_rms'][k]:8.3g}% {rows['ms_median'][k]:9.3g} "
                         f"{rows['dofs_mean'][k]:8.0f}")
        return "\n".join(lines)


class _Seat:
    """One body as the comparison sees it."""

    def __init__(self, body, dt):
        self.body, self.dt, self.failure = body, dt, None
        self.slots = (_l.PliTool * 1)()
        self.entrant = (_l.RunOpen(self.open), _l.RunStep(self.step), _l.RunClose(lambda run: None))

    def guard(self, err, action):
        try:
            return action() or 0
        except BaseException as cause:  # pylint: disable=broad-except
            self.failure = cause
            if err:
                err.contents.status, err.contents.text = 1, str(cause).encode()[:399]
            return 1

    def open(self, _user, run, err):
        def begin():
            b, r = self.body, run.contents
            _l.lib.pli_body_reset(b._kept.pointer, c.byref(b._state))
            b.time = 0.0
            b._place_tools(self.dt)
            r.body, r.x, r.v = b._kept.pointer, b._x.ctypes.data, b._v.ctypes.data
            slots = b._slots if b._tools else self.slots
            r.tools, r.tool_count, r.dt = c.addressof(slots), len(b._tools), self.dt
            r.held, r.driven = len(b._fixed) > 0, b._force is not None
        return self.guard(err, begin)

    def step(self, _run, err):
        def go():
            b = self.body
            b._place_tools(self.dt)
            info = _l.lib.pli_body_step(b._kept.pointer, c.byref(b._state), self.dt)
            b.time += self.dt
            return _l.lib.pli_step_check(c.byref(info), err)
        return self.guard(err, go)


def compare(bodies, *, reference, steps, dt, repeat=0, title="comparison"):
    """Runs every body alone from its rest state, measures it against the reference on their common skin, and times it.

    bodies: {name: Body}; all need the skin of the reference (skin=...) and the same tools
    reference: the name of one of them
    repeat: timed runs; 0: up to three, as long as they take less than ten seconds
    Times include the call from Python, some ten microseconds a step.
    """
    if not isinstance(bodies, dict) or reference not in bodies:
        raise _l.ArgumentError(f"bodies is a dict with {reference!r} in it")
    if len({id(b) for b in bodies.values()}) != len(bodies):
        raise _l.ArgumentError("a body takes part once: make one for each name")
    dt = real_number("dt", dt, 0.0)
    steps, repeat = whole_number("steps", steps, 1, 10**8), whole_number("repeat", repeat, 0, 100)
    seats, names = [], list(bodies)
    for name, body in bodies.items():
        if not isinstance(body, Body) or not isinstance(name, str):
            raise _l.ArgumentError(f"{name!r} is no name of a body")
        body._pointer()
        seats.append(_Seat(body, dt))
    entrants = (_l.PliEntrant * len(seats))()
    for entrant, seat, name in zip(entrants, seats, names):
        entrant.name, entrant.scheme = name.encode(), seat.body.scheme.encode()
        entrant.open, entrant.step, entrant.close = seat.entrant
    definition = _l.lib.pli_compare_default()
    definition.entrants, definition.count, definition.reference = entrants, len(seats), names.index(reference)
    definition.steps, definition.repeat = steps, repeat
    definition.stopped = _l.Stopped(lambda: any(seat.failure is not None for seat in seats))
    err = _l.PliError()
    with contextlib.ExitStack() as stack:
        for seat in seats:
            seat.body._use()
            stack.callback(seat.body._lock.release)
        pointer = _l.lib.pli_compare(c.byref(definition), c.byref(err))
    kept = Kept(pointer, _l.lib.pli_comparison_destroy)
    for seat in seats:
        if seat.failure is not None:
            raise seat.failure
    if not pointer:
        err.throw()
    return Comparison(kept, title)
