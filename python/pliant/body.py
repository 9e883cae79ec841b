# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A body of any scheme: made from attributes, stepped, looked at."""
import ctypes as c
import os
import threading
from collections import namedtuple

import numpy as np

from . import _library as _l
from . import registry as _r
from ._arrays import Kept, copied, index_array, real_array, real_number, whole_number
from .mesh import Mesh
from .tools import Tool

StepInfo = namedtuple("StepInfo", [name for name, _ in _l.PliStepInfo._fields_])
StepInfo.__doc__ = "What a step did; see PliStepInfo in <pliant/body.h>."
Energy = namedtuple("Energy", [name for name, _ in _l.PliEnergy._fields_])
Energy.__doc__ = "J, kg m/s, kg m2/s, kg, m; see PliEnergy in <pliant/body.h>."
Stats = namedtuple("Stats", [name for name, _ in _l.PliStats._fields_])
Stats.__doc__ = "Costs and events; see PliStats in <pliant/body.h>."
_INFO = [name for name, _ in _l.PliStepInfo._fields_]


def _plain(value):
    return np.array(value) if isinstance(value, c.Array) else value.decode() if isinstance(value, bytes) else value


def _tuple(kind, struct):
    return kind(*(_plain(getattr(struct, name)) for name, _ in struct._fields_))


class _Lists(c.Structure):
    _fields_ = [("count", c.c_int), ("row", c.POINTER(c.c_void_p)), ("value", c.POINTER(_l.PliValue))]


_l.lib.pli_binding_steps.restype = _l.PliStepInfo
_l.lib.pli_binding_steps.argtypes = [c.c_void_p, c.POINTER(_l.PliState), c.c_double, c.c_int]
_LIST = c.cast(_l.lib.pli_binding_list, c.c_void_p).value


class _Source:
    """How the library asks for what was given; it keeps all that the answers point to."""

    def __init__(self, scheme, given):
        self.scheme, self.given, self.outputs = scheme, given, {}
        self.texts, self.failure = {}, None
        self.buffers = []
        rows, values = [], []
        lists = {a.name: a.default_list() for a in scheme.attributes.values() if a.is_list and a.default}
        for name, value in {**lists, **given}.items():
            a = scheme.attributes[name]
            if a.is_list:
                array = a.array(value)
                self.buffers.append(array)
                rows.append(a.address)
                count = array.size if a.kind != _r.POINTS else len(array)
                pointer = array.ctypes.data
                values.append(_l.PliValue(name in given, None if a.kind == _r.INDICES else pointer, pointer if a.kind == _r.INDICES else None, count))
            elif a.size:
                self.texts[name] = c.create_string_buffer(os.fsencode(a.write(value)))
            elif a.kind in (_r.FILE, _r.FILES):
                self.texts[name] = [c.create_string_buffer(os.fsencode(_r.path_text(name, p))) for p in self._several(a, value, _r.FILE)]
            elif a.kind in (_r.LINK, _r.LINKS):
                meshes = self._several(a, value, _r.LINK)
                for m in meshes:
                    if not isinstance(m, Mesh):
                        raise _l.ArgumentError(f"{name} is made of pliant.Mesh, not {type(m).__name__}")
                self.texts[name] = meshes
        self.rows = (c.c_void_p * max(1, len(rows)))(*rows)
        self.values = (_l.PliValue * max(1, len(values)))(*values)
        self.lists = _Lists(len(rows), self.rows, self.values)
        self.struct = _l.PliSource(c.addressof(self.lists), _l.IsSet(self._is_set), _l.Fill(self._fill), _LIST, _l.Count(self._count),
                                   _l.File(self._file), _l.Count(self._count), _l.Linked(self._linked), _l.Own(self._own),
                                   _l.Publish(self._publish), None)

    @staticmethod
    def _several(a, value, one):
        if a.kind == one:
            return [value]
        if isinstance(value, (str, bytes, os.PathLike, Mesh)):
            return [value]
        try:
            return list(value)
        except TypeError:
            raise _l.ArgumentError(f"{a.name} is a list, not {value!r}") from None

    def _of(self, row):
        return self.scheme.by_address.get(c.cast(row, c.c_void_p).value)

    def _guard(self, err, action):
        """An exception must not be lost in C: it becomes a refusal, and is raised when the library is back."""
        try:
            return action() or 0
        except BaseException as cause:  # pylint: disable=broad-except
            self.failure = cause
            if err:
                err.contents.status = 1
                err.contents.text = str(cause).encode()[:399]
            return 1

    def _is_set(self, _user, row):
        a = self._of(row)
        return a is not None and a.name in self.given

    def _fill(self, _user, row, definition, err):
        return self._guard(err, lambda: _l.lib.pli_attribute_set(row, definition, self.texts[self._of(row).name], err))

    def _count(self, _user, row):
        a = self._of(row)
        return len(self.texts.get(a.name, ())) if a is not None else 0

    def _file(self, _user, row, k, err):
        found = []
        self._guard(err, lambda: found.append(c.addressof(self.texts[self._of(row).name][k])))
        return found[0] if found else None

    def _linked(self, _user, row, k, arrays, err):
        def fill():
            arrays[0] = self.texts[self._of(row).name][k]._arrays()
        return self._guard(err, fill)

    def _own(self, _user, arrays, err):
        def fill():
            missing = [n for n in ("position", "tetrahedra") if n not in self.given]
            if missing:
                raise _l.ArgumentError(f"{missing[0]} is missing: position and tetrahedra go together")
            x = real_array("position", self.given["position"], (None, 3))
            t = index_array("tetrahedra", self.given["tetrahedra"], 4, len(x))
            self.buffers += [x, t]
            arrays[0] = _l.PliMeshArrays(name=b"body", type=self.scheme.component.encode(), position=x.ctypes.data,
                                         tetrahedra=t.ctypes.data, point_count=len(x), tetrahedron_count=len(t))
        return self._guard(err, fill)

    def _publish(self, _user, row, real, index, count, err):
        def keep():
            a = self._of(row)
            pointer = c.cast(index if index else real, c.c_void_p).value
            shape = (count // 3, 3) if a.kind == _r.POINTS else (count // a.width, a.width) if a.kind == _r.INDICES and a.width else (count,)
            self.outputs[a.name] = copied(pointer, shape, np.uint32 if a.kind == _r.INDICES else np.float64)
        return self._guard(err, keep)

    def throw(self, err):
        if self.failure is not None:
            raise self.failure
        err.throw()


class Body:
    """A deformable body. Use the class of a scheme (pliant.TetLodModel, ...) or pliant.body("tetlod", ...).

    Attributes have the names and defaults of scenes; those that may change while it runs can be assigned.
    `x` and `v` are the state itself, shared with the library: write into them, `body.x[:] = ...`.
    One body is used by one thread at a time; another one is refused. Steps release the GIL.
    """

    _scheme = None

    def __init__(self, *, gravity=(0.0, -9.81, 0.0), skin=None, threads=1, **attributes):
        scheme = self._scheme
        if scheme is None:
            raise TypeError("use the class of a scheme, or pliant.body(name, ...)")
        given = {name: value for name, value in attributes.items() if value is not None}
        for name in given:
            scheme.find(name)
        g = real_array("gravity", gravity, (3,))
        self._lock = threading.Lock()
        host, pool = _l.host(whole_number("threads", threads, 1, 64))
        pool = Kept(pool, _l.lib.pli_pool_destroy) if pool else None
        self._given = given
        self._definition = c.create_string_buffer(scheme.def_size)
        source, err = _Source(scheme, given), _l.PliError()
        pointer = _l.lib.pli_scheme_make(scheme.pointer, c.byref(host), c.byref(source.struct), g.ctypes.data, self._definition, c.byref(err))
        if not pointer or source.failure:
            if pointer:
                _l.lib.pli_body_destroy(pointer)
            source.throw(err)
        self._kept = Kept(pointer, _l.lib.pli_body_destroy, pool, source)
        self._source, self._gravity = source, g.copy()
        n = _l.lib.pli_body_dof_count(pointer)
        self._x, self._v = np.zeros((n, 3)), np.zeros((n, 3))
        self._force = None
        self._tools, self._slots, self._fixed = [], None, np.zeros(0, np.uint32)
        self._state = _l.PliState(self._x.ctypes.data, self._v.ctypes.data)
        self._err = _l.PliError()
        self.time = 0.0
        _l.lib.pli_body_reset(pointer, c.byref(self._state))
        if skin is not None:
            self.attach_skin(skin)

    # ---- state -----------------------------------------------------------------------------------------------------------------

    def _pointer(self):
        if self._kept is None:
            raise _l.ArgumentError("the body is closed")
        return self._kept.pointer

    def _use(self):
        """The body, for this thread alone until `self._lock` is released."""
        pointer = self._pointer()
        if not self._lock.acquire(False):
            raise _l.ArgumentError("another thread is using this body: one body, one thread at a time")
        return pointer

    def _call(self, function, *arguments):
        pointer = self._use()
        try:
            return function(pointer, *arguments)
        finally:
            self._lock.release()

    def close(self):
        """Lets the body go; its memory goes with the last array that shows it."""
        if self._kept is None:
            return
        self._call(lambda pointer: None)
        self._kept = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def x(self):
        """m, positions of all coefficients, [n, 3]: the state itself."""
        return self._x[:]

    @x.setter
    def x(self, value):
        self._x[:] = real_array("x", value, self._x.shape)

    @property
    def v(self):
        """m/s, velocities of all coefficients, [n, 3]: the state itself."""
        return self._v[:]

    @v.setter
    def v(self, value):
        self._v[:] = real_array("v", value, self._v.shape)

    @property
    def external_force(self):
        """N, forces on coefficients held during steps, [n, 3], or None; assign an array or None."""
        return None if self._force is None else self._force[:]

    @external_force.setter
    def external_force(self, value):
        force = None if value is None else real_array("external_force", value, self._x.shape).copy()

        def put(_pointer):
            self._force = force
            self._state.f_ext = None if force is None else force.ctypes.data
        self._call(put)

    def reset(self):
        """Rest state, first active set, no statistics; time and tools go back to 0."""
        self._call(_l.lib.pli_body_reset, c.byref(self._state))
        self.time = 0.0
        self._place_tools(0.0)

    @property
    def rest(self):
        """m, rest positions of all coefficients, [n, 3]; a view."""
        return self._kept_view(_l.lib.pli_body_rest, self._x.shape, np.float64)

    @property
    def dof_levels(self):
        """Level of every coefficient, 0 is the coarsest; a view."""
        return self._kept_view(_l.lib.pli_body_dof_level, (len(self._x),), np.uint8)

    def _kept_view(self, function, shape, dtype):
        pointer = self._pointer()
        return self._kept.view(function(pointer), shape, dtype)

    @property
    def level_count(self):
        """1 where nothing adapts."""
        return _l.lib.pli_body_level_count(self._pointer())

    @property
    def active(self):
        """The coefficients that move by themselves now, ascending; a copy."""
        def look(pointer):
            a = _l.lib.pli_body_active(pointer)
            return copied(c.cast(a.dof, c.c_void_p).value, (a.count,), np.uint32)
        return self._call(look)

    # ---- the world -------------------------------------------------------------------------------------------------------------

    @property
    def fixed(self):
        """Coefficients that do not accelerate; assign their numbers, or a mask of all coefficients."""
        return self._fixed.copy()

    @fixed.setter
    def fixed(self, value):
        a = np.asarray(value)
        if a.dtype == bool:
            if a.shape != (len(self._x),):
                raise _l.ArgumentError(f"the mask of fixed has shape {list(a.shape)}, and needs [{len(self._x)}]")
            a = np.flatnonzero(a)
        a = index_array("fixed", a, 0, len(self._x))
        err = _l.PliError()
        _l.check(self._call(_l.lib.pli_body_set_fixed, a.ctypes.data, len(a), c.byref(err)), err)
        self._fixed = a

    @property
    def gravity(self):
        """m/s2."""
        return self._gravity.copy()

    @gravity.setter
    def gravity(self, value):
        g = real_array("gravity", value, (3,)).copy()
        self._call(_l.lib.pli_body_set_gravity, g.ctypes.data)
        self._gravity = g

    @property
    def tools(self):
        """Tools around it; assign a list of SphereTool, PlaneTool, CapsuleTool."""
        return tuple(self._tools)

    @tools.setter
    def tools(self, value):
        try:
            tools = list(value)
        except TypeError:
            raise _l.ArgumentError(f"tools is a list of tools, not {value!r}") from None
        for tool in tools:
            if not isinstance(tool, Tool):
                raise _l.ArgumentError(f"tools is made of tools, not {type(tool).__name__}")
        slots = (_l.PliTool * max(1, len(tools)))()
        for tool, slot in zip(tools, slots):
            tool._begin(slot)
        err = _l.PliError()
        _l.check(self._call(_l.lib.pli_body_set_tools, slots, len(tools), c.byref(err)), err)
        self._kept._others += (slots,)  # the library reads them in every step
        self._tools, self._slots = tools, slots
        self._place_tools(0.0)

    def _place_tools(self, dt):
        for k, tool in enumerate(self._tools):
            tool._fill(self._slots[k], self.time, dt)

    @property
    def tool_forces(self):
        """N on each tool, mean over the last step, [n, 3]."""
        return np.array([list(self._slots[k].force) for k in range(len(self._tools))]).reshape(-1, 3)

    # ---- steps -----------------------------------------------------------------------------------------------------------------

    def step(self, dt, count=1):
        """`count` steps of dt s. What the last of them did; DivergedError when one could not be done: it was undone, and the body
        can be stepped again."""
        if type(dt) is not float or not 0.0 < dt < 1e9:  # pylint: disable=unidiomatic-typecheck
            dt = real_number("dt", dt, 0.0)
        if count != 1:
            count = whole_number("count", count, 1, 2**31 - 1)
        pointer = self._use()
        try:
            if not self._tools and count > 1:
                info = _l.lib.pli_binding_steps(pointer, c.byref(self._state), dt, count)
                self.time += dt * count
            else:
                for _ in range(count):
                    if self._tools:
                        self._place_tools(dt)
                    info = _l.lib.pli_body_step(pointer, c.byref(self._state), dt)
                    if info.status:
                        break
                    self.time += dt
        finally:
            self._lock.release()
        if info.status:
            err = self._err
            err.status = 0
            _l.lib.pli_step_check(c.byref(info), c.byref(err))
            failure = _l.error(info.status, err.text.decode("utf-8", "replace"))
            failure.info = _tuple(StepInfo, info)
            raise failure
        return StepInfo(info.status, info.cause, info.finite, info.substeps, info.cg_iterations, info.residual, info.refined, info.coarsened,
                        info.inverted, info.bad_element, info.bad_dof, info.needed_substeps, info.retries)

    # ---- looking ---------------------------------------------------------------------------------------------------------------

    def energy(self):
        """Energies and momenta of the active coefficients."""
        return _tuple(Energy, self._call(_l.lib.pli_body_energy, self._x.ctypes.data, self._v.ctypes.data))

    def stats(self):
        """Costs of the last step, what is active, events since reset."""
        return _tuple(Stats, self._call(_l.lib.pli_body_stats))

    def hash(self):
        """Of the state; the same for any number of threads and any vector unit."""
        return self._call(_l.lib.pli_body_hash, c.byref(self._state))

    def von_mises(self):
        """Pa, averaged to coefficients of the active level, [n]."""
        out = np.zeros(len(self._x))
        self._call(_l.lib.pli_body_von_mises, self._x.ctypes.data, out.ctypes.data)
        return out

    def attach_skin(self, skin):
        """A surface of any resolution: a Mesh with triangles, or the path of one."""
        mesh = skin if isinstance(skin, Mesh) else Mesh(skin)
        x, t = mesh.points, mesh.triangles
        if not len(t):
            raise _l.MeshError("the skin has no triangles", 3)
        err = _l.PliError()
        _l.check(self._call(_l.lib.pli_body_attach_skin, x.ctypes.data, len(x), t.ctypes.data, len(t), c.byref(err)), err)

    def skin_points(self):
        """m, where the points of the skin are, [n, 3]; a new array."""
        def look(pointer):
            out = np.zeros((_l.lib.pli_body_skin_count(pointer), 3))
            _l.lib.pli_body_skin_positions(pointer, self._x.ctypes.data, out.ctypes.data)
            return out
        return self._call(look)

    @property
    def skin_triangles(self):
        """Corners of the skin's triangles, [n, 3]; a copy."""
        def look(pointer):
            count = _l.Index()
            address = _l.lib.pli_body_skin_tris(pointer, c.byref(count))
            return copied(address, (count.value, 3), np.uint32)
        return self._call(look)

    @property
    def skin_levels(self):
        """Level of every skin point, for colouring; a copy."""
        return self._call(lambda pointer: copied(_l.lib.pli_body_skin_level(pointer), (_l.lib.pli_body_skin_count(pointer),), np.uint8))

    @property
    def scheme(self):
        """"fem", "tetlod", ..."""
        return self._scheme.name

    def __repr__(self):
        if self._kept is None:
            return f"<pliant.{self._scheme.component}: closed>"
        return f"<pliant.{self._scheme.component}: {len(self._x)} coefficients, {_l.lib.pli_body_active(self._kept.pointer).count} active>"

    # ---- attributes ------------------------------------------------------------------------------------------------------------

    def attribute(self, name):
        """The value of an attribute now, or what the scheme published under this name."""
        a = self._scheme.attributes.get(name)
        if a is None:
            self._scheme.find(name)
        self._pointer()
        if a.size:
            return a.value(a.text(self._definition))
        if name in self._source.outputs:
            return self._source.outputs[name].copy()
        if name == "position":
            return self.rest
        return self._given.get(name)

    def set_attributes(self, **changes):
        """Several changes while it runs, all of them or none."""
        for name in changes:
            self._scheme.find(name)
        given = {**self._given, **changes}
        source, err = _Source(self._scheme, given), _l.PliError()

        def retune(pointer):
            status = _l.lib.pli_scheme_retune(self._scheme.pointer, pointer, c.byref(source.struct), self._definition, c.byref(err))
            if status:
                source.throw(err)
        self._call(retune)
        self._kept._others += (source,)  # texts of the definition point into it
        self._given = given


def _attribute_property(a):
    def get(self):
        return self.attribute(a.name)

    def put(self, value):
        self.set_attributes(**{a.name: value})
    doc = f"{a.kind_name}: {a.help}" + (f" (default {a.default})" if a.default else "")
    return property(get, put if a.running and a.given else None, doc=doc)


def make_class(scheme):
    """The Body of one scheme, with its attributes as properties and in its signature."""
    import inspect
    given = [a for a in scheme.attributes.values() if a.given]
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for a in given:
        default = a.value(a.default) if a.size and a.default else None
        parameters.append(inspect.Parameter(a.name, inspect.Parameter.KEYWORD_ONLY, default=default))
    for name, default in (("gravity", (0.0, -9.81, 0.0)), ("skin", None), ("threads", 1)):
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))

    def __init__(self, **attributes):
        Body.__init__(self, **attributes)
    __init__.__signature__ = inspect.Signature(parameters)
    lines = [f"{scheme.help[0].upper()}{scheme.help[1:]}.", ""]
    for a in given:
        lines.append(f"{a.name}: {a.kind_name}{' = ' + a.default if a.default else ''}\n    {a.help}"
                     + (f"; one of {', '.join(a.options)}" if a.options else "") + ("; may change while it runs" if a.running else ""))
    lines.append("gravity: vec3\n    m/s2\nskin: Mesh or path\n    surface attached to the body; default: its own finest surface\n"
                 "threads: int = 1\n    workers, 1 .. 64; results do not depend on it")
    members = {"_scheme": scheme, "__init__": __init__, "__doc__": "\n".join(lines), "__module__": "pliant"}
    for a in scheme.attributes.values():
        members.setdefault(a.name, _attribute_property(a))
    return type(scheme.component, (Body,), members)
