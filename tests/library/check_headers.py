#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Every public header compiles alone, and twice, in C17 and in C++17, without a warning.

    check_headers.py FOLDER CC CXX      FOLDER holds pliant/*.h and nothing else
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def main():
    folder, cc, cxx = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    compilers = {(cc, "c"), (cxx, "c++")} | {(c, k) for c, k in (("clang", "c"), ("clang++", "c++")) if shutil.which(c)}
    headers = sorted(folder.glob("pliant/*.h"))
    bad = 0
    with tempfile.TemporaryDirectory() as scratch:
        for header in headers:
            source = pathlib.Path(scratch, "alone.c")
            line = f"#include <pliant/{header.name}>\n"
            source.write_text(line + line, encoding="utf-8")
            for compiler, language in sorted(compilers):
                standard = ["-std=c17", "-Wstrict-prototypes"] if language == "c" else ["-std=c++17"]
                done = subprocess.run([compiler, "-x", language, *standard, *FLAGS, "-I", folder, source], stderr=subprocess.PIPE, text=True, check=False)
                if done.returncode:
                    print(f"{header.name}, {compiler} {standard[0]}:\n{done.stderr[:2000]}")
                    bad += 1
    print(f"{len(headers)} headers, {len(compilers)} compilers, {bad} complaints")
    return 1 if bad or not headers else 0


sys.exit(main())
