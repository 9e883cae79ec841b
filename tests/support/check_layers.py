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

LAYER = {"base": 0, "mesh": 1, "output": 1, "adapt": 2, "kernel": 3, "solver": 4, "surface": 5, "contact": 6, "body": 7, "scheme": 8,
         "haptics": 9, "mesher": 9, "host/graph": 10, "host/stock": 11, "host/components": 12, "host/compare": 13, "host/feel": 13, "host/report": 14,
         "host/scaffold": 14, "host/sweep": 15, "sofa": 10,
         "evidence": 16, "cli": 17, "viewer": 17}
# Below the hosts there is no XML, no SOFA, no Qt, no Python.
OUTSIDE = re.compile(r"tinyxml|^toml|^sofa/|^Sofa|^Q[A-Z]|^Qt|^Python\.h|^pybind11/", re.IGNORECASE)
ALLOWED_OUTSIDE = {"tinyxml": {"host/graph"}, "toml": {"host/sweep"}, "sofa": {"sofa"}, "q": {"viewer"}, "python": set(), "pybind11": set()}
# Hosts know bodies and schemes through <pliant/...> only.
PUBLIC_ONLY = {"adapt", "kernel", "contact", "body", "scheme"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def layer_of(path):
    """(layer, scheme) of a path below src/. A scheme's evidence is evidence, and may look into that scheme."""
    parts = path.split("/")
    if parts[0] == "host":
        return "/".join(parts[:2]), None
    if parts[0] == "scheme" and len(parts) > 2:
        return ("evidence" if parts[2] == "evidence" else "scheme"), parts[1]
    return parts[0], None


def check_include(file, quote, target):
    """One sentence saying what is wrong, or None. `file` and `target` are paths below src/."""
    folder, mine = layer_of(file)
    first, theirs = layer_of(target)
    outside = OUTSIDE.search(target)
    if quote == "<" and first in LAYER and first != "sofa":  # <sofa/...> is SOFA, "sofa/..." is ours
        return f"<{target}> is ours: write it with quotes"
    if quote == '"' and "/" not in target:
        return f'"{target}": includes are written from src/, as "{folder}/{target}"'
    if quote == '"' and ".." in target.split("/"):
        return f'"{target}" climbs out of its folder'
    if outside and not (quote == '"' and first in LAYER):
        allowed = next(where for prefix, where in ALLOWED_OUTSIDE.items() if target.lower().startswith(prefix))
        return None if folder in allowed else f"{target} has no place in {folder}/"
    if first == "pliant":
        return None
    if folder == "pliant":
        return f"{target}: public headers include only the standard library and each other" if quote == '"' else None
    if quote == "<":
        return None
    if first not in LAYER:
        return f'"{target}" is in no layer'
    if theirs and theirs != mine:
        return f'"{target}": what is private to a scheme is seen by that scheme only'
    if folder == "sofa" and first != "sofa" or folder.startswith("host/") and first in PUBLIC_ONLY:
        return f'"{target}": hosts include <pliant/...> only'
    if folder == "kernel" and first == "adapt":
        return f'"{target}": the kernel gets index lists and never sees what is active'
    if first != folder and LAYER[first] >= LAYER[folder]:
        return f'"{target}": {folder}/ is layer {LAYER[folder]}, {first}/ is layer {LAYER[first]}'
    return None


def check(root):
    """All complaints about root/src, as `file:line: sentence`."""
    complaints, files = [], 0
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".c", ".h", ".cpp", ".inl"):
            continue
        files += 1
        below = path.relative_to(root / "src").as_posix()
        folder, _ = layer_of(below)
        text = path.read_text(encoding="utf-8")
        if folder not in LAYER and folder != "pliant":
            complaints.append(f"{path.relative_to(root)}: folder {folder}/ is in no layer")
            continue
        if path.suffix == ".cpp" and LAYER.get(folder, 0) < LAYER["host/graph"]:
            complaints.append(f"{path.relative_to(root)}: the core below the hosts is C17")
        for found in INCLUDE.finditer(text):
            sentence = check_include(below, found.group(1), found.group(2))
            if sentence:
                line = text.count("\n", 0, found.start(2)) + 1
                complaints.append(f"{path.relative_to(root)}:{line}: {sentence}")
    return complaints, files


def self_test():
    good = {
        "kernel/a.c": '#include "kernel/a.h"\n#include "base/vec.h"\n#include <pliant/body.h>\n#include <math.h>\n',
        "scheme/tetlod/a.c": '#include "scheme/tetlod/b.h"\n#include "body/body.h"\n#include "surface/skin.h"\n',
        "scheme/tetlod/evidence/verify.c": '#include "scheme/tetlod/b.h"\n#include "evidence/verify.h"\n#include "host/graph/scene.h"\n',
        "host/graph/xml.cpp": "#include <tinyxml2.h>\n",
        "host/report/a.c": '#include "host/compare/compare.h"\n',
        "sofa/x.cpp": "#include <sofa/core/ObjectFactory.h>\n#include <pliant/body.h>\n",
        "viewer/w.cpp": '#include <QWidget>\n#include "host/graph/scene.h"\n',
    }
    bad = {
        "base/a.c": '#include "mesh/mesh.h"\n',
        "kernel/a.c": '#include "adapt/transfer.h"\n',
        "mesh/a.c": "#include <tinyxml2.h>\n",
        "host/report/t.cpp": "#include <toml++/toml.h>\n",
        "scheme/fem/a.c": "#include <sofa/core/ObjectFactory.h>\n",
        "scheme/frames/a.c": '#include "scheme/tetlod/tetlod.h"\n',
        "scheme/tetlod/a.c": '#include "scheme/tetlod/evidence/rig.h"\n',
        "scheme/frames/evidence/verify.c": '#include "scheme/tetlod/tetlod.h"\n',
        "evidence/a.c": '#include "scheme/tetlod/tetlod.h"\n',
        "body/body.c": '#include "scheme/fem/fem.h"\n',
        "surface/a.c": '#include "body/body.h"\n',
        "host/graph/a.c": '#include "sofa/x.h"\n',
        "host/stock/a.c": '#include "host/components/model.h"\n',
        "host/graph/b.cpp": "#include <QWidget>\n",
        "host/components/a.c": '#include "scheme/frames/frames.h"\n',
        "host/components/b.c": '#include "body/body.h"\n',
        "sofa/a.cpp": '#include "base/vec.h"\n',
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
