#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the sh blocks of a tutorial, in order, in a folder of its own; any command that fails fails the test.

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
    blocks = re.findall(r"^```sh\n(.*?)^```", tutorial.read_text(), re.MULTILINE | re.DOTALL)
    if not blocks:
        print(f"{tutorial} has no block to run")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(surface, pathlib.Path(folder) / "organ.obj")
        path = f"{pliant.parent}:{os.environ['PATH']}"
        for block in blocks:
            print(block, flush=True)
            done = subprocess.run(["bash", "-e", "-c", block], cwd=folder, env={**os.environ, "PATH": path})
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
