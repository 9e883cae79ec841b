#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the library into a folder, moves the folder, and builds, links and runs programs against it from outside the tree:
with find_package(Pliant), shared and static, and with pkg-config, shared and static.

    check_install.py --build BUILD --source ROOT [--cc CC]
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# what a user writes: three lines
THREE_LINES = """cmake_minimum_required(VERSION 3.22)
project(Outside LANGUAGES C)
find_package(Pliant REQUIRED)
add_executable(outside hello.c)
target_link_libraries(outside PRIVATE {target})
"""


def run(command, **more):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False, **more)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"failed: {' '.join(str(c) for c in command)}")
    return done.stdout


def needs_shared(program):
    return "libpliant_core.so." in run(["readelf", "-d", program])


def complain_of_paths(folder, paths):
    """Text files of the package must name neither where it was built nor where it was first."""
    for file in folder.rglob("*"):
        if file.suffix not in (".cmake", ".pc", ".h"):
            continue
        text = file.read_text(encoding="utf-8")
        for path in paths:
            if str(path) in text:
                sys.exit(f"{file.name} names {path}: it would not find itself after a move")


def with_cmake(here, source, moved, cc, environment):
    for target in ("Pliant::core", "Pliant::core_static"):
        place = here / target.replace("::", "_")
        place.mkdir()
        shutil.copy(source / "examples/hello.c", place)
        (place / "CMakeLists.txt").write_text(THREE_LINES.format(target=target), encoding="utf-8")
        run(["cmake", "-S", place, "-B", place / "build", "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={moved}", f"-DCMAKE_C_COMPILER={cc}"], env=environment)
        run(["cmake", "--build", place / "build"], env=environment)
        text = run([place / "build/outside"], env=environment)
        if "sagged" not in text or needs_shared(place / "build/outside") != (target == "Pliant::core"):
            sys.exit(f"{target}: linked the wrong way, or did not run:\n{text}")
        print(f"find_package, {target}: {text.splitlines()[-1]}")


def with_pkg_config(here, source, moved, cc, environment):
    if not shutil.which("pkg-config"):
        print("skipped: there is no pkg-config")
        sys.exit(77)
    folder = next(moved.rglob("pliant.pc")).parent
    environment = {**environment, "PKG_CONFIG_PATH": str(folder)}

    def flags(*options):
        return run(["pkg-config", *options, "pliant"], env=environment).split()

    library = pathlib.Path(run(["pkg-config", "--variable=libdir", "pliant"], env=environment).strip())
    shared, static = here / "pc_shared", here / "pc_static"
    hello = source / "examples/hello.c"
    run([cc, *flags("--cflags"), hello, "-o", shared, *flags("--libs"), f"-Wl,-rpath,{library}"])
    # -l takes the shared library where both are: the archive is asked for by its name
    run([cc, *flags("--cflags"), hello, "-o", static,
         *(f if f != "-lpliant_core" else "-l:libpliant_core.a" for f in flags("--static", "--libs"))])
    for program, wanted in ((shared, True), (static, False)):
        text = run([program], env=environment)
        if "sagged" not in text or needs_shared(program) != wanted:
            sys.exit(f"{program.name}: linked the wrong way, or did not run:\n{text}")
        print(f"pkg-config, {program.name}: {text.splitlines()[-1]}")


def with_examples(here, source, moved, cc, environment):
    shutil.copytree(source / "examples", here / "examples")
    build = here / "examples-build"
    run(["cmake", "-S", here / "examples", "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={moved}", f"-DCMAKE_C_COMPILER={cc}"], env=environment)
    run(["cmake", "--build", build], env=environment)
    text = run(["ctest", "--test-dir", build, "--no-tests=error"], env=environment)
    print("examples: " + re.search(r".*tests passed.*", text).group())


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--cc", default="cc")
    args = parser.parse_args()
    source = pathlib.Path(args.source).resolve()
    environment = {k: v for k, v in os.environ.items() if k not in ("CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH", "LD_LIBRARY_PATH", "Pliant_DIR")}
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder).resolve()
        run(["cmake", "--install", args.build, "--component", "pliant_library", "--prefix", here / "first"])
        complain_of_paths(here / "first", (source, pathlib.Path(args.build).resolve(), here))
        moved = here / "else where"  # a blank in a path is nothing special
        shutil.move(here / "first", moved)
        with_cmake(here, source, moved, args.cc, environment)
        with_examples(here, source, moved, args.cc, environment)
        shutil.move(moved, here / "again")  # pkg-config writes paths with blanks as a shell reads them
        with_pkg_config(here, source, here / "again", args.cc, environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
