#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the sh and python blocks of a tutorial, in order, in a folder of its own; any that fails fails the test.
Python blocks are one program, run by $PLIANT_PYTHON after the sh blocks before them.

    run_tutorial.py PLIANT TUTORIAL SURFACE [FILE...]   SURFACE becomes organ.obj; FILEs must be there afterwards
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    pliant, tutorial, surface = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    if not shutil.which("gmsh"):
        print("gmsh is not installed")
        return SKIPPED
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```", tutorial.read_text(), re.MULTILINE | re.DOTALL)
    if not blocks:
        print(f"{tutorial} has no block to run")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(surface, pathlib.Path(folder) / "organ.obj")
        path = f"{pliant.parent}:{os.environ['PATH']}"
        program = "".join(block for language, block in blocks if language == "python")
        programs = [["bash", "-e", "-c", block] for language, block in blocks if language == "sh"]
        if program:
            programs.append([os.environ.get("PLIANT_PYTHON", sys.executable), "-B", "-c", program])
        for words in programs:
            print(words[-1], flush=True)
            done = subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL)
            if done.returncode:
                print(f"exit code {done.returncode}")
                return 1
        for name in sys.argv[4:]:
            if not (pathlib.Path(folder) / name).exists():
                print(f"{name} was not written")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
