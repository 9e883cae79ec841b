#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""clang-tidy with .clang-tidy finds nothing. Exit code 77: there is no clang-tidy, or no compile_commands.json to go by.

    check_tidy.py ROOT BUILD            every C file that BUILD compiles (20 s of CPU)
    check_tidy.py ROOT BUILD --all      the C++ files as well (minutes)
    check_tidy.py ROOT BUILD FILE...    these
    check_tidy.py --self-test           a slip is found
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:warning|error): (.*\[[\w.,-]+\])$", re.MULTILINE)


def find_slips(tool, build, files, config):
    """`file:line: sentence [check]` of everything found; eight files a run, so that one that crashes the tool is seen."""
    found, broken = set(), []
    for at in range(0, len(files), 8):
        run = subprocess.run([tool, "-p", str(build), f"--config-file={config}", "--quiet", *files[at:at + 8]], capture_output=True, text=True,
                             check=False)
        here = {f"{m[0]}:{m[1]}: {m[2]}" for m in FINDING.findall(run.stdout)}
        found |= here
        if run.returncode and not here:
            broken.append(f"{tool} fails on {' '.join(files[at:at + 8])}: {(run.stderr or run.stdout)[-500:]}")
    return sorted(found) + broken


def self_test(tool, config):
    """A comparison of a thing with itself, and a clean file."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        bad, good = root / "bad.c", root / "good.c"
        bad.write_text("int same(int a, int b);\nint same(int a, int b) { return a == a && b; }\n")
        good.write_text("int same(int a, int b);\nint same(int a, int b) { return a == b; }\n")
        commands = [{"directory": folder, "file": str(f), "command": f"cc -c {f}"} for f in (bad, good)]
        (root / "compile_commands.json").write_text(json.dumps(commands))
        slips = find_slips(tool, root, [str(bad)], config), find_slips(tool, root, [str(good)], config)
    held = len(slips[0]) == 1 and "misc-redundant-expression" in slips[0][0] and not slips[1]
    print("the self-test holds" if held else f"the self-test fails: {slips}")
    return 0 if held else 1


def main(arguments):
    tool = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if not tool:
        print("clang-tidy was not found: install clang-tidy")
        return 77
    here = pathlib.Path(__file__).resolve().parents[2]
    if arguments == ["--self-test"]:
        return self_test(tool, here / ".clang-tidy")
    root, build, rest = pathlib.Path(arguments[0]).resolve(), pathlib.Path(arguments[1]).resolve(), arguments[2:]
    table = build / "compile_commands.json"
    if not table.exists():
        print(f"{table} is not there: configure with CMAKE_EXPORT_COMPILE_COMMANDS")
        return 77
    ours = {entry["file"] for entry in json.loads(table.read_text())}
    files = sorted(f for f in ours if f.startswith(f"{root}/src/") and (f.endswith(".c") or "--all" in rest))
    if rest and "--all" not in rest:
        files = [str(pathlib.Path(f).resolve()) for f in rest]
    slips = find_slips(tool, build, files, root / ".clang-tidy")
    print("\n".join(slips) or f"{len(files)} files have no slip that clang-tidy knows")
    return 1 if slips or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
