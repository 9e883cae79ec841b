#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the sh and python blocks of a tutorial, in order, in a folder of its own; any that fails fails the test.
Python blocks are one program, run by $PLIANT_PYTHON after the sh blocks.
A block "python NAME.py" becomes that file, with a createScene that is called on a node that only notes what is asked of it.
A block "sh NAME" is run where $PLIANT_TUTORIAL_WITH has that word, and said to be left out elsewhere.

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
NOTED = """
import runpy, sys
class Note:
    count = 0
    def addObject(self, kind, **given):
        assert all(isinstance(v, str) for v in given.values()), (kind, given)
        Note.count += 1
        print("   ", kind, *(f'{k}="{v[:60]}"' for k, v in given.items()))
        return Note()
    def addChild(self, name):
        print("  node", name)
        return Note()
    def __getattr__(self, name):
        self.__dict__[name] = Note()
        return self.__dict__[name]
runpy.run_path(sys.argv[1])["createScene"](Note())
assert Note.count > 5, Note.count
"""


def main():
    pliant, tutorial, surface = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    if not shutil.which("gmsh"):
        print("gmsh is not installed")
        return SKIPPED
    blocks = re.findall(r"^```(sh|python)(?: (\S+))?\n(.*?)^```", tutorial.read_text(), re.MULTILINE | re.DOTALL)
    if not blocks:
        print(f"{tutorial} has no block to run")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(surface, pathlib.Path(folder) / "organ.obj")
        path = f"{pliant.parent}:{os.environ['PATH']}"
        python = [os.environ.get("PLIANT_PYTHON", sys.executable), "-B", "-c"]
        have = os.environ.get("PLIANT_TUTORIAL_WITH", "").split()
        program, programs = "", []
        for language, word, block in blocks:
            if language == "python" and word:
                (pathlib.Path(folder) / word).write_text(block)
                programs.append([*python, NOTED, word])
            elif language == "python":
                program += block
            elif word and word not in have:
                programs.append(["true", f"not run, there is no {word} here: {block}"])
            else:
                programs.append(["bash", "-e", "-c", block])
        if program:
            programs.append([*python, program])
        for words in programs:
            print(f"createScene of {words[-1]}" if NOTED in words else words[-1], flush=True)
            # runSofa says that it failed in words only
            sofa = re.findall(r"runSofa .*-n (\d+)", words[-1]) if words[0] == "bash" else []
            done = subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path}, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE if sofa else None, text=True, errors="replace")
            said = done.stdout or ""
            print(said, end="", flush=True)
            if done.returncode or "[ERROR]" in said or any(f"{n} iterations done in " not in said for n in sofa):
                print(f"exit code {done.returncode}")
                return 1
        for name in sys.argv[4:]:
            if not (pathlib.Path(folder) / name).exists():
                print(f"{name} was not written")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
