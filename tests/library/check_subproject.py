#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A project that takes Pliant in, by add_subdirectory and by FetchContent, gets the library: no tests, no command, nothing to install.

    check_subproject.py --source ROOT [--cc CC] [--cxx CXX]
"""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

TAKEN_IN = {
    "add_subdirectory": 'add_subdirectory("{source}" pliant)',
    "FetchContent": 'include(FetchContent)\nFetchContent_Declare(Pliant SOURCE_DIR "{source}")\nFetchContent_MakeAvailable(Pliant)',
}
LISTS = """cmake_minimum_required(VERSION 3.22)
project(Outer LANGUAGES C CXX)
enable_testing()
{how}
add_executable(outer_shared "{source}/examples/hello.c")
target_link_libraries(outer_shared PRIVATE Pliant::core)
add_executable(outer_static "{source}/examples/hello.c")
target_link_libraries(outer_static PRIVATE Pliant::core_static)
"""


def run(command):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if done.returncode != 0:
        print(done.stdout[-4000:])
        sys.exit(f"failed: {' '.join(str(c) for c in command)}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--cxx", default="c++")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, how in TAKEN_IN.items():
            place = pathlib.Path(folder, name)
            place.mkdir()
            (place / "CMakeLists.txt").write_text(LISTS.format(how=how.format(source=args.source), source=args.source), encoding="utf-8")
            run(["cmake", "-S", place, "-B", place / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_COMPILER={args.cc}",
                 f"-DCMAKE_CXX_COMPILER={args.cxx}",
                 *(f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache"))])
            if "Total Tests: 0" not in run(["ctest", "--test-dir", place / "build", "-N"]):
                sys.exit(f"{name}: Pliant brought its tests along")
            targets = run(["cmake", "--build", place / "build", "--target", "help"])
            for unwanted in ("pliant_host", "test_body", "pliant-view"):
                if unwanted in targets:
                    sys.exit(f"{name}: Pliant brought {unwanted} along")
            if "libpliant_core.a" not in targets:
                sys.exit(f"{name}: the list of targets is not what this test reads")
            if name == "add_subdirectory":  # compiled once: the second way differs in nothing that is compiled
                run(["cmake", "--build", place / "build", "-j", "2", "--target", "outer_shared", "outer_static"])
                for program in ("outer_shared", "outer_static"):
                    if "sagged" not in run([place / "build" / program]):
                        sys.exit(f"{name}: {program} did not run")
                run(["cmake", "--install", place / "build", "--prefix", place / "installed"])
            if (place / "installed").exists() and any(p.is_file() for p in (place / "installed").rglob("*")):
                sys.exit(f"{name}: Pliant installs itself with a project that takes it in")
            print(f"{name}: the library, and nothing else")
    return 0


sys.exit(main())
