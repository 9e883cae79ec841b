#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Every C and C++ file is as clang-format 14 with .clang-format leaves it. Exit code 77: there is no clang-format 14 to ask.

    check_format.py ROOT        check ROOT/src, ROOT/tests, ROOT/tools and ROOT/examples
"""
import pathlib
import re
import shutil
import subprocess
import sys


def main():
    root = pathlib.Path(sys.argv[1])
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout if tool else ""
    if not re.search(r"version 14\.", version):
        print("clang-format 14 was not found: install clang-format")
        return 77
    files = sorted(str(p) for folder in ("src", "tests", "tools", "examples") for p in (root / folder).rglob("*")
                   if p.suffix in (".c", ".h", ".cpp"))
    run = subprocess.run([tool, "--dry-run", "-Werror", "--ferror-limit=1", *files], capture_output=True, text=True, check=False)
    differ = sorted({line.split(":")[0] for line in run.stderr.splitlines() if "clang-format-violations" in line})
    print("\n".join(f"{name} is not formatted" for name in differ) or f"{len(files)} files are formatted")
    return 1 if differ or run.returncode or not files else 0


sys.exit(main())
