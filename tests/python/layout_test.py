# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The structs of the Python package have the layout that the C compiler gives those of the headers."""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile

from pliant import _library

HEADERS = ("pliant/registry.h", "host/compare/compare.h", "host/report/report.h", "host/graph/scene.h", "host/components/bodies.h", "output/file.h")
PREFIX = {"PliScene"}  # only its beginning is used


def structs():
    return {n: s for n, s in vars(_library).items() if isinstance(s, type) and issubclass(s, ctypes.Structure) and n.startswith("Pli")}


def program(named):
    lines = ["#include <stdio.h>", "#include <stddef.h>"] + [f'#include "{h}"' for h in HEADERS] + ["int main(void) {"]
    for name, struct in named.items():
        lines.append(f'printf("{name} . %zu\\n", sizeof({name}));')
        for field, *_ in struct._fields_:
            lines.append(f'printf("{name} {field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
    return "\n".join(lines + ["return 0; }"])


def compare(named, text):
    wrong = []
    for line in text.splitlines():
        name, field, *numbers = line.split()
        struct = named[name]
        if field == ".":
            if name not in PREFIX and ctypes.sizeof(struct) != int(numbers[0]):
                wrong.append(f"{name} has {numbers[0]} bytes, and {ctypes.sizeof(struct)} in Python")
        elif (getattr(struct, field).offset, getattr(struct, field).size) != (int(numbers[0]), int(numbers[1])):
            wrong.append(f"{name}.{field} is at {numbers[0]} with {numbers[1]} bytes, and another in Python")
    return wrong


def main():
    named = structs()
    with tempfile.TemporaryDirectory() as folder:
        source, out = pathlib.Path(folder, "layout.c"), pathlib.Path(folder, "layout")
        source.write_text(program(named))
        subprocess.run([os.environ["CC"], "-std=c17", "-I", os.environ["PLIANT_SOURCE_DIR"] + "/src", str(source), "-o", str(out)], check=True)
        text = subprocess.run([str(out)], stdout=subprocess.PIPE, text=True, check=True).stdout
    wrong = compare(named, text)
    # the check itself: a field that moved is noticed
    assert compare(named, "PliTool radius 0 8"), "a moved field was not noticed"
    assert len(text.splitlines()) > 200 and not wrong, wrong
    print(f"{len(named)} structs agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
