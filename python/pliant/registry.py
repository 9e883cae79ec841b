# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""What each scheme is, read from the library's own table: names, attributes, defaults, help."""
import ctypes as c
import difflib
import os

import numpy as np

from . import _library as _l
from ._arrays import index_array, real_array, real_number, whole_number

(BOOL, INT, REAL, VEC3, REALS, POINTS, INDICES, TEXT, FILE, FILES, NEW_FILE, OPTION, LINK, LINKS) = range(14)
IN, OUT, ALIAS, IN_OUT = range(4)
_TYPE = {BOOL: "bool", INT: "int", REAL: "float", VEC3: "Vector", REALS: "Vector", POINTS: "Array", INDICES: "Array", TEXT: "str",
         FILE: "Path", FILES: "Sequence[Path]", NEW_FILE: "Path", LINK: "Mesh", LINKS: "Sequence[Mesh]"}


class Attribute:
    """One attribute of a scheme: `name`, `kind`, `default` (as a scene writes it), `help`, `options`, `running`."""

    def __init__(self, row, refused=()):
        self.address = c.addressof(row)
        self._row = row
        self.name = row.name.decode()
        self.kind = row.kind
        self.kind_name = _l.lib.pli_kind_name(row.kind).decode()
        self.help = (row.help or b"").decode()
        self.options = tuple((row.options or b"").decode().split())
        self.role, self.size, self.width, self.running = row.role, row.size, row.width, bool(row.running)
        self.given = self.role in (IN, IN_OUT) and self.name not in refused
        self.default = None

    @property
    def type(self):
        """As a type stub writes it."""
        return f"Literal[{', '.join(repr(o) for o in self.options)}]" if self.kind == OPTION else _TYPE[self.kind]

    def text(self, definition):
        """The field in a definition, as a scene writes it."""
        buffer = c.create_string_buffer(4096)
        _l.lib.pli_attribute_text(c.byref(self._row), definition, buffer, len(buffer))
        return buffer.value.decode()

    def value(self, text):
        """What a text means in Python."""
        if self.kind == BOOL:
            return text not in ("0", "false", "")
        if self.kind == INT:
            return int(float(text))
        if self.kind == REAL:
            return float(text)
        if self.kind == VEC3:
            return np.array([float(w) for w in text.split()])
        return text

    def write(self, value):
        """A Python value as a scene writes it; refuses what has the wrong type or shape."""
        if self.kind == BOOL:
            if isinstance(value, (bool, np.bool_)) or (isinstance(value, (int, np.integer)) and value in (0, 1)):
                return str(int(value))
            raise _l.ArgumentError(f"{self.name} is True or False, not {value!r}")
        if self.kind == INT:
            return str(whole_number(self.name, value, -2**31, 2**31 - 1))
        if self.kind == REAL:
            return repr(real_number(self.name, value))
        if self.kind == VEC3:
            return " ".join(repr(float(k)) for k in real_array(self.name, value, (3,)))
        if self.kind == OPTION:
            if value in self.options:
                return str(value)
            near = difflib.get_close_matches(str(value), self.options, 1)
            raise _l.ArgumentError(f"{self.name} is one of {', '.join(self.options)}, not {value!r}"
                                   + (f"; did you mean {near[0]}?" if near else ""))
        return path_text(self.name, value)

    @property
    def is_list(self):
        """Its value is an array, and no field of a definition."""
        return self.size == 0 and self.kind in (REALS, POINTS, INDICES)

    def default_list(self):
        """Numbers of the default text."""
        numbers = [float(w) for w in self.default.split()]
        return [int(n) for n in numbers] if self.kind == INDICES else numbers

    def array(self, value):
        """A list of the library: doubles or indices."""
        if self.kind == INDICES:
            return index_array(self.name, value, self.width, None)
        return real_array(self.name, value, (None, 3) if self.kind == POINTS else (None,))


def path_text(name, value):
    """A path or a text without a zero in it."""
    try:
        text = os.fspath(value)
    except TypeError:
        raise _l.ArgumentError(f"{name} is a path, not {value!r}") from None
    if isinstance(text, bytes):
        text = os.fsdecode(text)
    if "\0" in text:
        raise _l.ArgumentError(f"{name} has a zero byte in it")
    return text


class Scheme:
    """One registered scheme: `name` ("tetlod"), `component` ("TetLodModel"), `help`, `attributes` by name."""

    def __init__(self, pointer):
        self.pointer = pointer
        info = pointer.contents
        if info.abi != _l.SCHEME_ABI:
            raise ImportError(f"the library has schemes of interface {info.abi}, and this package is for {_l.SCHEME_ABI}")
        self.name, self.component, self.help = info.name.decode(), info.component.decode(), info.help.decode()
        self.adaptive = bool(info.adaptive)
        self.def_size = info.def_size
        refused = (info.refuses or b"").decode().split()
        self.attributes = {}
        definition = c.create_string_buffer(info.def_size)
        c.CFUNCTYPE(None, c.c_void_p)(info.defaults)(definition)
        k = 0
        while True:
            group = _l.lib.pli_scheme_group(pointer, k)
            if not group:
                break
            for i in range(group.contents.count):
                a = Attribute(group.contents.rows[i], refused)
                if a.role != ALIAS:
                    a.default = a.text(definition)
                    self.attributes.setdefault(a.name, a)
            k += 1
        self.by_address = {a.address: a for a in self.attributes.values()}
        need = info.mesh
        self.meshes = {"least": need.least, "most": need.most, "file": (need.file or b"").decode() or None,
                       "link": (need.link or b"").decode() or None, "own": (need.own or b"").decode() or None}

    def find(self, name):
        """The attribute that may be given under this name; refuses another with the most similar one."""
        a = self.attributes.get(name)
        if a is not None and a.given:
            return a
        names = [n for n, known in self.attributes.items() if known.given] + ["gravity", "skin", "threads"]
        near = difflib.get_close_matches(name, names, 1, 0.6)
        known = " can only be read" if a is not None and a.role == OUT else " means nothing to it" if a is not None else None
        raise _l.ArgumentError(f"{self.component} has no attribute {name}" + (f"; did you mean {near[0]}?" if near else "")
                               if known is None else f"{self.component}: {name}{known}")


def schemes():
    """All schemes the library has now, by name."""
    found = {}
    for k in range(_l.lib.pli_scheme_count()):
        scheme = Scheme(_l.lib.pli_scheme_at(k))
        found[scheme.name] = scheme
    return found


def load_scheme(path):
    """Loads a scheme that was built elsewhere, from its shared object."""
    err = _l.PliError()
    _l.check(_l.lib.pli_scheme_load(os.fsencode(path_text("path", path)), c.byref(err)), err)
