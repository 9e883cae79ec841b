#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the plugin out of tree from an empty folder, without a warning, installs it, moves it, runs a scene with it, by SOFA_PLUGIN_PATH
and by path, and builds another plugin with find_package(Pliant.Sofa).

    --relocate   cmake -S src/sofa: the plugin and the core alone
    --external   a project named Sofa takes the folder in, as SOFA does with SOFA_EXTERNAL_DIRECTORIES
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# what SOFA's CMakeLists.txt does with an external directory, on top of an installed SOFA
SOFA = """cmake_minimum_required(VERSION 3.22)
project(Sofa LANGUAGES C CXX)
set(SOFA_PLUGINS_RELOCATABLE_PATH "plugins" CACHE STRING "")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${{CMAKE_BINARY_DIR}}/lib")
find_package(Sofa.Config REQUIRED)
add_subdirectory("{directory}" "${{CMAKE_CURRENT_BINARY_DIR}}/external_directories/pliant")
"""
GUEST = """cmake_minimum_required(VERSION 3.22)
project(Guest LANGUAGES C CXX)
find_package(Pliant REQUIRED)      # the C library ...
find_package(Sofa.Config REQUIRED)
sofa_find_package(Pliant.Sofa REQUIRED) # ... and the plugin: two packages that know nothing of each other
if(NOT TARGET Pliant::core OR NOT TARGET Pliant.Sofa)
  message(FATAL_ERROR "one package hides the other")
endif()
add_library(Guest SHARED guest.cpp)
target_link_libraries(Guest Pliant.Sofa)
"""
GUEST_SOURCE = """#include <sofa/BodyModel.h>
#include <pliant/stages.h>
int active(pliant::BodyModel& model) { return pli_version() > 0 ? int(pli_body_active(model.body()).count) : 0; }
"""


def run(command, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"failed: {' '.join(str(c) for c in command)}")
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def configure_and_build(source, build, args, prefixes):
    """Text of both. What the tests' own build was configured with is handed over: the environment is not asked."""
    environment = {k: v for k, v in os.environ.items() if k != "CMAKE_PREFIX_PATH"}
    text = run(["cmake", "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefixes}",
                f"-DCMAKE_C_COMPILER={args.cc}", f"-DCMAKE_CXX_COMPILER={args.cxx}",
                *(f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache"))], env=environment)
    text += run(["cmake", "--build", build, "-j", args.jobs], env=environment)
    return text


def build_plugin(here, args):
    source = pathlib.Path(args.source)
    place = source / "src/sofa"
    if args.external:
        place = here / "sofa"
        place.mkdir()
        (place / "CMakeLists.txt").write_text(SOFA.format(directory=source), encoding="utf-8")
    text = configure_and_build(place, here / "build", args, args.prefixes)
    warnings = [line for line in text.splitlines() if re.search(r"\bwarning\b", line, re.IGNORECASE)]
    if warnings:
        sys.exit("the build warns:\n" + "\n".join(warnings[:20]))
    left = [name for name in ("libpliant_host.a", "bin/pliant") if list((here / "build").rglob(name))]
    if left:
        sys.exit(f"more than plugin and core was built: {left}")
    print("built out of tree without a warning, plugin and core alone")


def run_moved(moved, here, args):
    scene = moved / "Pliant.Sofa/share/sofa/examples/Pliant/single/FemModel.scn"
    environment = {k: v for k, v in os.environ.items() if k != "SOFA_PLUGIN_PATH"}
    library = moved / "Pliant.Sofa/lib/libPliant.so"
    for plugin, paths in (("Pliant", {"SOFA_PLUGIN_PATH": str(moved)}), (library, {})):
        text = run([args.runsofa, "-g", "batch", "-n", "10", "-l", plugin, "--hideProgressBar", scene], cwd=here, env={**environment, **paths})
        bad = [line for line in text.splitlines() if re.match(r"\s*\[(ERROR|WARNING|FATAL)\]", line)]
        if bad or "10 iterations done" not in text or f"Loaded plugin: {library}" not in text:
            sys.exit(f"runSofa -l {plugin}:\n" + "\n".join(bad or text.splitlines()[-20:]))
        print(f"runSofa -l {plugin}: the moved plugin ran 10 steps")


def build_guest(moved, here, args):
    run(["cmake", "--install", args.build, "--component", "pliant_library", "--prefix", here / "elsewhere"])
    guest = here / "guest"
    guest.mkdir()
    (guest / "CMakeLists.txt").write_text(GUEST, encoding="utf-8")
    (guest / "guest.cpp").write_text(GUEST_SOURCE, encoding="utf-8")
    configure_and_build(guest, guest / "build", args, f"{here / 'elsewhere'};{moved};{args.prefixes}")
    if "libPliant.so" not in run(["readelf", "-d", guest / "build/libGuest.so"]):
        sys.exit("the other plugin does not link this one")
    print("another plugin found the moved package, and links it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--relocate", action="store_true")
    parser.add_argument("--external", action="store_true")
    parser.add_argument("--build", required=True, help="build folder of the project, for the C library")
    parser.add_argument("--source", required=True, help="project folder")
    parser.add_argument("--prefixes", default="", help="where SOFA and what it needs are, separated by semicolons")
    parser.add_argument("--runsofa", default="runSofa")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--jobs", default="2")
    args = parser.parse_args()
    if args.relocate == args.external:
        parser.error("say --relocate or --external")
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder).resolve()
        build_plugin(here, args)
        run(["cmake", "--install", here / "build", "--prefix", here / "first"])
        shutil.move(here / "first", here / "elsewhere")
        moved = here / "elsewhere" / "plugins"
        run_moved(moved, here, args)
        build_guest(moved, here, args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
