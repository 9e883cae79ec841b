# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The shared library and its structs. Nothing here is for users.

ctypes, and not a compiled extension: one wheel serves every Python version, nothing needs Python.h, calls release the GIL, and a
step of 1 ms costs some ten microseconds more than from C. What ctypes cannot know, the layout of structs, the library
tells (python/structs.def), and a test compares with the headers.
"""
import ctypes as c
import os
import pathlib

VERSION = 100  # major * 10000 + minor * 100 + patch, as pli_version()
SCHEME_ABI = 8
NONE = 0xFFFFFFFF

Index = c.c_uint32
Real = c.c_double
Pointer = c.c_void_p
Text = c.c_char_p


class PliantError(Exception):
    """What the library refuses, in its own sentence. `status` is the number of the PliStatus."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


class ArgumentError(PliantError, ValueError):
    """A value, a shape, a type or an order that cannot be."""


class FileError(PliantError, OSError):
    """A file that is missing, or cannot be read or written."""

    def __str__(self):
        return str(self.args[0])


class MeshError(PliantError, ValueError):
    """A mesh that a body cannot be made from."""


class UnsupportedError(PliantError, NotImplementedError):
    """Well formed, but not something the library does."""


class DivergedError(PliantError, ArithmeticError):
    """A step that could not be done; it was undone. `info` is its StepInfo."""

    info = None


class LibraryMemoryError(PliantError, MemoryError):
    """No memory."""


_BY_STATUS = {1: ArgumentError, 2: FileError, 3: MeshError, 4: ArgumentError, 5: UnsupportedError, -1: LibraryMemoryError,
              -2: DivergedError}


def error(status, text):
    """The exception of a status."""
    return _BY_STATUS.get(status, PliantError)(text, status)


# ---- the library ------------------------------------------------------------------------------------------------------------

NAME = "libpliant_bindings.so"


def candidates():
    """Where the library may be, best first."""
    here = pathlib.Path(__file__).resolve().parent
    if os.environ.get("PLIANT_LIBRARY"):
        return [pathlib.Path(os.environ["PLIANT_LIBRARY"])]
    build = pathlib.Path(os.environ.get("PLIANT_BUILD_DIR") or here.parent.parent / "build")
    return [here / "_lib" / NAME, build / "lib" / NAME]  # of a wheel, of a source tree


def _open():
    for path in candidates():
        if path.exists():
            try:
                return c.CDLL(str(path))
            except OSError as cause:
                raise ImportError(f"{path} cannot be loaded: {cause}") from None
    raise ImportError(f"{NAME} is in none of {', '.join(str(p) for p in candidates())}: build it with `ninja -C build "
                      "pliant_bindings`, or name it in PLIANT_LIBRARY")


lib = _open()


class _Field(c.Structure):
    _fields_ = [("type", Text), ("name", Text), ("offset", c.c_size_t), ("size", c.c_size_t)]


def _layouts():
    """{struct: (bytes, {field: (offset, bytes)})}, as the C compiler laid them out: python/structs.def."""
    lib.pli_binding_field.restype, lib.pli_binding_field.argtypes = c.POINTER(_Field), [c.c_int]
    found, k = {}, 0
    while True:
        field = lib.pli_binding_field(k)
        if not field:
            return found
        f, k = field.contents, k + 1
        size, fields = found.setdefault(f.type.decode(), [0, {}])
        if f.name:
            fields[f.name.decode()] = (f.offset, f.size)
        else:
            found[f.type.decode()][0] = f.size


LAYOUTS = _layouts()


def laid_out(name, declared):
    """The fields of a struct where the library has them; fields that nobody here uses become room between them."""
    if name not in LAYOUTS:
        raise ImportError(f"the library says nothing of {name}: build it and this package again")
    size, places = LAYOUTS[name]
    fields, at = [], 0
    for field, kind in sorted(declared, key=lambda d: places.get(d[0], (0, 0))[0]):
        if field not in places or places[field][1] != c.sizeof(kind):
            raise ImportError(f"{name}.{field} of the library is another than this package knows: build both again")
        if places[field][0] > at:
            fields.append((f"_{at}", c.c_char * (places[field][0] - at)))
        fields.append((field, kind))
        at = places[field][0] + places[field][1]
    if size > at:
        fields.append((f"_{at}", c.c_char * (size - at)))
    return fields


def names(struct):
    """The fields that are used, in the order of the header."""
    return [name for name, *_ in struct._fields_ if not name.startswith("_")]


# ---- structs, in the order and with the names of the headers ---------------------------------------------------------------


class PliError(c.Structure):
    _fields_ = laid_out("PliError", [("status", c.c_int), ("text", c.c_char * 400)])

    def throw(self):
        raise error(self.status, self.text.decode("utf-8", "replace") or "refused without a reason")


class PliHost(c.Structure):
    _fields_ = laid_out("PliHost", [("alloc", Pointer), ("release", Pointer), ("log", Pointer), ("parallel_for", Pointer), ("worker_count", c.c_int),
                ("user", Pointer), ("parallel_user", Pointer)])


class PliMesh(c.Structure):
    _fields_ = laid_out("PliMesh", [("host", PliHost), ("x", c.POINTER(Real)), ("edges", c.POINTER(Index)), ("tris", c.POINTER(Index)),
                ("quads", c.POINTER(Index)), ("tets", c.POINTER(Index)), ("hexes", c.POINTER(Index)), ("point_count", Index),
                ("edge_count", Index), ("tri_count", Index), ("quad_count", Index), ("tet_count", Index), ("hex_count", Index),
                ("flipped", Index)])


class PliBoxDef(c.Structure):
    _fields_ = laid_out("PliBoxDef", [("min", Real * 3), ("max", Real * 3), ("cells", Index * 3), ("jitter", Real), ("seed", c.c_uint64)])


class PliMeshArrays(c.Structure):
    _fields_ = laid_out("PliMeshArrays", [("name", Text), ("type", Text), ("position", Pointer), ("triangles", Pointer), ("quads", Pointer),
                ("tetrahedra", Pointer), ("hexahedra", Pointer), ("point_count", c.c_size_t), ("triangle_count", c.c_size_t),
                ("quad_count", c.c_size_t), ("tetrahedron_count", c.c_size_t), ("hexahedron_count", c.c_size_t)])


class PliSlide(c.Structure):
    _fields_ = laid_out("PliSlide", [("low", Real), ("high", Real), ("absolute", c.c_bool)])


class PliAttribute(c.Structure):
    _fields_ = laid_out("PliAttribute", [("name", Text), ("kind", c.c_int), ("support", c.c_int), ("value", Text), ("help", Text), ("reason", Text),
                ("options", Text), ("role", c.c_int), ("offset", c.c_int), ("size", c.c_int), ("width", c.c_int),
                ("running", c.c_bool), ("slide", PliSlide)])


class PliAttributeGroup(c.Structure):
    _fields_ = laid_out("PliAttributeGroup", [("rows", c.POINTER(PliAttribute)), ("count", c.c_int)])


class PliMeshNeed(c.Structure):
    _fields_ = laid_out("PliMeshNeed", [("kind", c.c_int), ("least", c.c_int), ("most", c.c_int), ("file", Text), ("link", Text), ("own", Text),
                ("around", Text), ("cells", Text), ("base", Text), ("missing", Text)])


class PliValue(c.Structure):
    _fields_ = laid_out("PliValue", [("set", c.c_bool), ("real", Pointer), ("index", Pointer), ("count", c.c_size_t)])


_ROW = c.POINTER(PliAttribute)
_ERR = c.POINTER(PliError)
IsSet = c.CFUNCTYPE(c.c_bool, Pointer, _ROW)
Fill = c.CFUNCTYPE(c.c_int, Pointer, _ROW, Pointer, _ERR)
Count = c.CFUNCTYPE(c.c_int, Pointer, _ROW)
# a path comes back as an address: ctypes would free a string of Python's too early
File = c.CFUNCTYPE(Pointer, Pointer, _ROW, c.c_int, _ERR)
Linked = c.CFUNCTYPE(c.c_int, Pointer, _ROW, c.c_int, c.POINTER(PliMeshArrays), _ERR)
Own = c.CFUNCTYPE(c.c_int, Pointer, c.POINTER(PliMeshArrays), _ERR)
Publish = c.CFUNCTYPE(c.c_int, Pointer, _ROW, c.POINTER(Real), c.POINTER(Index), c.c_size_t, _ERR)


class PliSource(c.Structure):
    # `list` returns a struct, which a callback of ctypes cannot: it is a C function (pli_source_list_of), fed from tables
    _fields_ = laid_out("PliSource", [("user", Pointer), ("is_set", IsSet), ("fill", Fill), ("list", Pointer), ("file_count", Count), ("file", File),
                ("link_count", Count), ("linked", Linked), ("own", Own), ("publish", Publish), ("look", Pointer)])


class PliSchemeInfo(c.Structure):
    _fields_ = laid_out("PliSchemeInfo", [("abi", c.c_int), ("name", Text), ("component", Text), ("help", Text), ("def_size", c.c_size_t), ("defaults", Pointer),
                ("attributes", PliAttributeGroup), ("mesh", PliMeshNeed), ("adaptive", c.c_bool), ("refuses", Text),
                ("create", Pointer), ("retune", Pointer), ("output", Pointer), ("overlays", Pointer), ("overlay_count", c.c_int),
                ("anchors", Text)])


class PliTool(c.Structure):
    _fields_ = laid_out("PliTool", [("shape", c.c_int), ("position", Real * 3), ("other", Real * 3), ("velocity", Real * 3), ("radius", Real),
                ("stiffness", Real), ("friction", Real), ("force", Real * 3)])


class PliState(c.Structure):
    _fields_ = laid_out("PliState", [("x", Pointer), ("v", Pointer), ("f_ext", Pointer), ("external", Pointer), ("external_user", Pointer),
                ("points", Pointer), ("points_user", Pointer)])


class PliActive(c.Structure):
    _fields_ = laid_out("PliActive", [("dof", c.POINTER(Index)), ("count", Index), ("revision", c.c_uint64)])


class PliStepInfo(c.Structure):
    _fields_ = laid_out("PliStepInfo", [("status", c.c_int), ("cause", c.c_int), ("finite", c.c_bool), ("substeps", c.c_int), ("cg_iterations", c.c_int),
                ("residual", Real), ("refined", Index), ("coarsened", Index), ("inverted", Index), ("bad_element", Index),
                ("bad_dof", Index), ("needed_substeps", Real), ("retries", c.c_int)])


class PliEnergy(c.Structure):
    _fields_ = laid_out("PliEnergy", [("elastic", Real), ("kinetic", Real), ("gravity", Real), ("momentum", Real * 3), ("angular", Real * 3),
                ("mass", Real), ("centre", Real * 3)])


class PliStats(c.Structure):
    _fields_ = laid_out("PliStats", [("adapt_ms", Real), ("force_ms", Real), ("solve_ms", Real), ("surface_ms", Real), ("step_ms", Real), ("active", Index),
                ("elements", Index), ("slaves", Index), ("per_level", Index * 8), ("steps", c.c_uint64), ("refined", c.c_uint64),
                ("coarsened", c.c_uint64), ("refused", c.c_uint64), ("forced", c.c_uint64), ("energy_added", Real),
                ("energy_removed", Real), ("energy_forced", Real), ("largest_jump", Real), ("largest_hidden", Real), ("substep", Real),
                ("rates", c.c_int), ("eased", Index), ("retries", c.c_uint64), ("linearize_ms", Real), ("prepare_ms", Real), ("iterate_ms", Real), ("linear_solver", Text),
                ("bytes", c.c_size_t)])


# ---- comparisons and scenes: what the embedded host has -----------------------------------------------------------------------


class PliKey(c.Structure):
    _fields_ = laid_out("PliKey", [("word", c.c_uint64 * 2), ("unknown", c.c_bool)])


class PliRun(c.Structure):
    _fields_ = laid_out("PliRun", [("body", Pointer), ("x", Pointer), ("v", Pointer), ("tools", Pointer), ("tool_count", c.c_int), ("dt", Real),
                ("held", c.c_bool), ("driven", c.c_bool), ("self", Pointer)])


RunOpen = c.CFUNCTYPE(c.c_int, Pointer, c.POINTER(PliRun), _ERR)
RunStep = c.CFUNCTYPE(c.c_int, c.POINTER(PliRun), _ERR)
RunClose = c.CFUNCTYPE(None, c.POINTER(PliRun))
Stopped = c.CFUNCTYPE(c.c_bool)


class PliEntrant(c.Structure):
    _fields_ = laid_out("PliEntrant", [("name", Text), ("scheme", Text), ("curve", Text), ("parameters", Text), ("open", RunOpen), ("step", RunStep),
                ("close", RunClose), ("user", Pointer)])


class PliCompareDef(c.Structure):
    _fields_ = laid_out("PliCompareDef", [("entrants", c.POINTER(PliEntrant)), ("count", c.c_int), ("reference", c.c_int), ("steps", Index), ("repeat", c.c_int),
                ("wall_clock", c.c_bool), ("patience", Real), ("instants", Pointer), ("instant_count", c.c_int), ("progress", Pointer),
                ("progress_user", Pointer), ("cache", Text), ("reference_key", PliKey), ("cache_bytes", c.c_uint64),
                ("stopped", Stopped)])


class PliChapter(c.Structure):
    _fields_ = laid_out("PliChapter", [("comparison", Pointer), ("title", Text), ("scene", Text), ("note", Text), ("view", Real * 3), ("up", Real * 3)])


class PliReportDef(c.Structure):
    _fields_ = laid_out("PliReportDef", [("chapter", c.POINTER(PliChapter)), ("count", c.c_int), ("command", Text), ("facts", Pointer), ("fact_count", c.c_int)])


class PliText(c.Structure):
    _fields_ = laid_out("PliText", [("data", Pointer), ("bytes", c.c_size_t), ("capacity", c.c_size_t), ("failed", c.c_bool)])


class PliOverride(c.Structure):
    _fields_ = laid_out("PliOverride", [("path", Text), ("value", Text)])


class PliSceneDef(c.Structure):
    _fields_ = laid_out("PliSceneDef", [("allow_unsupported", c.c_bool), ("warn_visual", c.c_bool), ("graph_only", c.c_bool), ("root", Text),
                ("data_path", Text), ("overrides", c.POINTER(PliOverride)), ("override_count", c.c_int), ("output", Text),
                ("dt", Real)])


class PliFinding(c.Structure):
    _fields_ = laid_out("PliFinding", [("severity", c.c_int), ("file", Text), ("line", c.c_int), ("component", c.c_char * 64), ("text", c.c_char * 400)])


class PliFindings(c.Structure):
    _fields_ = laid_out("PliFindings", [("finding", c.POINTER(PliFinding)), ("count", c.c_size_t), ("capacity", c.c_size_t), ("dropped", c.c_size_t)])


class PliScene(c.Structure):
    """Its beginning; scenes are made by the library and only looked at through pointers."""
    _fields_ = laid_out("PliScene", [("host", PliHost), ("def", PliSceneDef), ("doc", Pointer), ("root", Pointer), ("report", PliFindings), ("path", Text),
                ("dt", Real), ("gravity", Real * 3), ("time", Real), ("step", c.c_uint64)])


class PliSceneBody(c.Structure):
    _fields_ = laid_out("PliSceneBody", [("name", Text), ("body", Pointer), ("x", Pointer), ("v", Pointer), ("tools", c.POINTER(PliTool)), ("tool_count", c.c_int),
                ("is_reference", c.c_bool)])


class PliGrip(c.Structure):
    _fields_ = laid_out("PliGrip", [("at", Real * 3), ("radius", Real), ("target", Real * 3), ("stiffness", Real)])


class PliTuning(c.Structure):
    _fields_ = laid_out("PliTuning", [("name", Text), ("value", Real)])


# ---- functions -----------------------------------------------------------------------------------------------------------------

def _declare(lib):
    p = Pointer
    # name: (result, arguments)
    table = {
        "pli_version": (c.c_int, []),
        "pli_host_default": (PliHost, []),
        "pli_pool_create": (p, [c.c_int]),
        "pli_pool_destroy": (None, [p]),
        "pli_pool_lend": (None, [p, c.POINTER(PliHost)]),
        "pli_kind_name": (Text, [c.c_int]),
        "pli_attribute_text": (None, [_ROW, p, p, c.c_size_t]),
        "pli_attribute_set": (c.c_int, [_ROW, p, p, _ERR]),
        "pli_scheme_count": (c.c_int, []),
        "pli_scheme_at": (c.POINTER(PliSchemeInfo), [c.c_int]),
        "pli_scheme_find": (c.POINTER(PliSchemeInfo), [Text]),
        "pli_scheme_group": (c.POINTER(PliAttributeGroup), [c.POINTER(PliSchemeInfo), c.c_int]),
        "pli_scheme_load": (c.c_int, [Text, _ERR]),
        "pli_scheme_load_list": (c.c_int, [Text, _ERR]),
        "pli_scheme_make": (p, [c.POINTER(PliSchemeInfo), c.POINTER(PliHost), c.POINTER(PliSource), p, p, _ERR]),
        "pli_scheme_retune": (c.c_int, [c.POINTER(PliSchemeInfo), p, c.POINTER(PliSource), p, _ERR]),
        "pli_mesh_read": (c.POINTER(PliMesh), [c.POINTER(PliHost), Text, _ERR]),
        "pli_mesh_box": (c.POINTER(PliMesh), [c.POINTER(PliHost), c.POINTER(PliBoxDef), _ERR]),
        "pli_mesh_destroy": (None, [c.POINTER(PliMesh)]),
        "pli_mesh_from_arrays": (c.POINTER(PliMesh), [c.POINTER(PliHost), c.POINTER(PliMeshArrays), c.c_int, _ERR]),
        "pli_mesh_find_surface": (c.c_int, [c.POINTER(PliMesh)]),
        "pli_mesh_write_msh": (c.c_int, [c.POINTER(PliMesh), Text, _ERR]),
        "pli_mesh_write_obj": (c.c_int, [c.POINTER(PliMesh), Text, _ERR]),
        "pli_mesh_volume": (Real, [c.POINTER(PliMesh)]),
        "pli_body_destroy": (None, [p]),
        "pli_body_scheme": (Text, [p]),
        "pli_body_dof_count": (Index, [p]),
        "pli_body_rest": (p, [p]),
        "pli_body_level_count": (c.c_int, [p]),
        "pli_body_dof_level": (p, [p]),
        "pli_body_active": (PliActive, [p]),
        "pli_body_set_fixed": (c.c_int, [p, p, Index, _ERR]),
        "pli_body_set_gravity": (None, [p, p]),
        "pli_body_set_tools": (c.c_int, [p, p, c.c_int, _ERR]),
        "pli_body_reset": (None, [p, c.POINTER(PliState)]),
        "pli_body_step": (PliStepInfo, [p, c.POINTER(PliState), Real]),
        "pli_step_check": (c.c_int, [c.POINTER(PliStepInfo), _ERR]),
        "pli_body_energy": (PliEnergy, [p, p, p]),
        "pli_body_attach_skin": (c.c_int, [p, p, Index, p, Index, _ERR]),
        "pli_body_skin_count": (Index, [p]),
        "pli_body_skin_tris": (p, [p, c.POINTER(Index)]),
        "pli_body_skin_positions": (None, [p, p, p]),
        "pli_body_skin_level": (p, [p]),
        "pli_body_stats": (PliStats, [p]),
        "pli_body_hash": (c.c_uint64, [p, c.POINTER(PliState)]),
        "pli_body_von_mises": (None, [p, p, p]),
        "pli_compare_default": (PliCompareDef, []),
        "pli_compare": (p, [c.POINTER(PliCompareDef), _ERR]),
        "pli_comparison_destroy": (None, [p]),
        "pli_report_bodies_csv": (None, [c.POINTER(PliReportDef), c.POINTER(PliText)]),
        "pli_report_series_csv": (None, [c.POINTER(PliReportDef), c.POINTER(PliText)]),
        "pli_report_html": (c.c_int, [c.POINTER(PliReportDef), c.POINTER(PliText)]),
        "pli_text_free": (None, [c.POINTER(PliText)]),
        "pli_scene_default": (PliSceneDef, []),
        "pli_scene_load": (c.POINTER(PliScene), [c.POINTER(PliHost), Text, c.POINTER(PliSceneDef), c.POINTER(c.c_int)]),
        "pli_scene_destroy": (None, [c.POINTER(PliScene)]),
        "pli_scene_start": (c.c_int, [c.POINTER(PliScene), _ERR]),
        "pli_scene_step": (c.c_int, [c.POINTER(PliScene), _ERR]),
        "pli_scene_finish": (c.c_int, [c.POINTER(PliScene), _ERR]),
        "pli_scene_hash": (c.c_uint64, [c.POINTER(PliScene)]),
        "pli_scene_bodies": (c.c_int, [c.POINTER(PliScene), c.POINTER(PliSceneBody), c.c_int]),
        "pli_scene_steer": (None, [c.POINTER(PliScene), c.c_int, p]),
        "pli_scene_grab": (c.c_int, [c.POINTER(PliScene), c.POINTER(PliGrip), _ERR]),
        "pli_scene_tune": (c.c_int, [c.POINTER(PliScene), c.c_int, c.POINTER(PliTuning), c.c_int, _ERR]),
    }
    for name, (result, arguments) in table.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    if lib.pli_version() != VERSION:
        raise ImportError(f"the library has version {lib.pli_version()}, and this package is for {VERSION}: build both again")


_declare(lib)


def check(status, err):
    """Raises what a call refused."""
    if status != 0:
        if err.status == 0:
            err.status = status
        err.throw()


def host(threads=1):
    """(PliHost, pool or None)."""
    h = lib.pli_host_default()
    pool = None
    if threads > 1:
        pool = lib.pli_pool_create(threads)
        if not pool:
            raise error(-1, f"{threads} threads cannot be started")
        lib.pli_pool_lend(pool, c.byref(h))
    return h, pool


_err = PliError()
if lib.pli_scheme_load_list(os.environ.get("PLIANT_SCHEMES", "").encode(), c.byref(_err)):
    raise ImportError(_err.text.decode("utf-8", "replace"))
