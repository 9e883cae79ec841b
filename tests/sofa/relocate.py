#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the plugin into a folder, moves the folder, and runs a scene with the moved plugin, by SOFA_PLUGIN_PATH and by path.
With --source it also configures and builds the plugin out of tree first, from an empty folder, and fails on any warning."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(command, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"failed: {' '.join(str(c) for c in command)}")
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="build folder of the project")
    parser.add_argument("--source", help="project folder: build the plugin alone, out of tree")
    parser.add_argument("--runsofa", default="runSofa")
    parser.add_argument("--jobs", default="2")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        here, build = pathlib.Path(folder), args.build
        if args.source:
            build = here / "build"
            text = run(["cmake", "-S", pathlib.Path(args.source) / "src/sofa", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                        *(f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache"))])
            text += run(["cmake", "--build", build, "-j", args.jobs])
            warnings = [line for line in text.splitlines() if re.search(r"\bwarning\b", line, re.IGNORECASE)]
            if warnings:
                sys.exit("the build warns:\n" + "\n".join(warnings[:20]))
            print("out-of-tree build without a warning")
        run(["cmake", "--install", build, "--prefix", here / "first"])
        shutil.move(here / "first", here / "elsewhere")
        moved = here / "elsewhere" / "plugins"
        scene = moved / "Pliant/share/sofa/examples/Pliant/single/FemModel.scn"
        environment = {k: v for k, v in os.environ.items() if k != "SOFA_PLUGIN_PATH"}
        library = moved / "Pliant/lib/libPliant.so"
        for plugin, paths in (("Pliant", {"SOFA_PLUGIN_PATH": str(moved)}), (library, {})):
            text = run([args.runsofa, "-g", "batch", "-n", "10", "-l", plugin, "--hideProgressBar", scene], cwd=here, env={**environment, **paths})
            bad = [line for line in text.splitlines() if re.match(r"\s*\[(ERROR|WARNING|FATAL)\]", line)]
            if bad or "10 iterations done" not in text or f"Loaded plugin: {library}" not in text:
                sys.exit(f"runSofa -l {plugin}:\n" + "\n".join(bad or text.splitlines()[-20:]))
            print(f"runSofa -l {plugin}: the moved plugin ran 10 steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
