#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Include layers: a file may include its own folder, lower layers, and pliant/. Nothing else keeps the core a core.

    check_layers.py ROOT        check ROOT/src
    check_layers.py --self-test prove that each rule catches what it should
"""
import pathlib
import re
import sys
import tempfile

LAYER = {"base": 0, "mesh": 1, "hierarchy": 2, "kernel": 3, "solver": 4, "surface": 5, "scheme": 6, "haptics": 7,
         "host": 8, "sofa": 8, "cli": 9, "viewer": 9}
# Below the hosts there is no XML, no SOFA, no Qt, no Python.
OUTSIDE = re.compile(r"tinyxml|^sofa/|^Sofa|^Q[A-Z]|^Qt|^Python\.h|^pybind11/", re.IGNORECASE)
ALLOWED_OUTSIDE = {"tinyxml": {"host"}, "sofa": {"sofa"}, "q": {"viewer"}, "python": set(), "pybind11": set()}
SCHEMES = ("fem", "tetlod", "octree", "wavelet", "springs", "frames")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def scheme_of(name):
    """Scheme a file of src/scheme belongs to by its prefix (tetlod.c, tetlod_build.h), or None."""
    return next((s for s in SCHEMES if name == s or re.match(rf"{s}[._]", name)), None)


def check_include(folder, file, quote, target):
    """One sentence saying what is wrong, or None."""
    first = target.split("/")[0]
    outside = OUTSIDE.search(target)
    if quote == "<" and first in LAYER and first != "sofa":  # <sofa/...> is SOFA, "sofa/..." is ours
        return f"<{target}> is ours: write it with quotes"
    if quote == '"' and "/" not in target:
        return f'"{target}": includes are written from src/, as "{folder}/{target}"'
    if quote == '"' and ".." in target.split("/"):
        return f'"{target}" climbs out of its folder'
    if outside and not (quote == '"' and first in LAYER):
        allowed = next(where for prefix, where in ALLOWED_OUTSIDE.items() if target.lower().startswith(prefix))
        if folder not in allowed:
            return f"{target} has no place in {folder}/"
        return None
    if first == "pliant":
        return None
    if folder == "pliant":
        return f"{target}: public headers include only the standard library and each other" if quote == '"' else None
    if quote == "<":
        return None
    if first not in LAYER:
        return f'"{target}" is in no layer'
    if folder == "kernel" and first == "hierarchy":
        return f'"{target}": the kernel gets index lists and never sees the hierarchy'
    if first != folder and LAYER[first] >= LAYER[folder]:
        return f'"{target}": {folder}/ is layer {LAYER[folder]}, {first}/ is layer {LAYER[first]}'
    if folder == "scheme" and first == "scheme":
        mine, theirs = scheme_of(file), scheme_of(target.split("/")[-1])
        if theirs and mine != theirs:
            return f'"{target}": schemes never include each other, and what they share does not know them'
    return None


def check(root):
    """All complaints about root/src, as `file:line: sentence`."""
    complaints, files = [], 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".c", ".h", ".cpp", ".inl"):
            continue
        files += 1
        folder = path.relative_to(root / "src").parts[0]
        text = path.read_text(encoding="utf-8")
        if folder not in LAYER and folder != "pliant":
            complaints.append(f"{path.relative_to(root)}: folder {folder}/ is in no layer")
            continue
        if path.suffix == ".cpp" and LAYER.get(folder, 0) < LAYER["host"]:
            complaints.append(f"{path.relative_to(root)}: the core below the hosts is C17")
        for found in INCLUDE.finditer(text):
            sentence = check_include(folder, path.name, found.group(1), found.group(2))
            if sentence:
                line = text.count("\n", 0, found.start(2)) + 1
                complaints.append(f"{path.relative_to(root)}:{line}: {sentence}")
    return complaints, files


def self_test():
    good = {
        "kernel/a.c": '#include "kernel/a.h"\n#include "base/vec.h"\n#include <pliant/body.h>\n#include <math.h>\n',
        "scheme/tetlod.c": '#include "scheme/tetlod_build.h"\n#include "scheme/scheme.h"\n#include "surface/skin.h"\n',
        "host/xml.cpp": "#include <tinyxml2.h>\n",
        "sofa/x.cpp": "#include <sofa/core/ObjectFactory.h>\n#include <pliant/body.h>\n",
        "viewer/w.cpp": '#include <QWidget>\n#include "host/scene.h"\n',
    }
    bad = {
        "base/a.c": '#include "mesh/mesh.h"\n',
        "kernel/a.c": '#include "hierarchy/transfer.h"\n',
        "mesh/a.c": "#include <tinyxml2.h>\n",
        "scheme/a.c": "#include <sofa/core/ObjectFactory.h>\n",
        "scheme/frames.c": '#include "scheme/tetlod.h"\n',
        "scheme/body.c": '#include "scheme/fem.h"\n',
        "surface/a.c": '#include "scheme/scheme.h"\n',
        "host/a.c": '#include "sofa/x.h"\n',
        "host/b.cpp": "#include <QWidget>\n",
        "pliant/a.h": '#include "base/vec.h"\n',
        "cli/a.c": '#include "table.h"\n',
        "solver/a.c": '#include "../base/vec.h"\n',
        "solver/b.c": "#include <base/vec.h>\n",
        "util/a.c": "",
        "mesh/b.cpp": "",
    }
    for cases, wanted in ((good, 0), (bad, 1)):
        for name, text in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "src", name)
                path.parent.mkdir(parents=True)
                path.write_text(text, encoding="utf-8")
                complaints, _ = check(pathlib.Path(folder))
                assert len(complaints) == wanted, f"{name}: {text!r} gave {complaints}, {wanted} wanted"
    print(f"{len(good)} good and {len(bad)} bad files judged as they should")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    complaints, files = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(complaints) if complaints else f"{files} files keep their layers")
    return 1 if complaints or files == 0 else 0


sys.exit(main())
