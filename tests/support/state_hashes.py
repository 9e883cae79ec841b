#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Hash of the state every scene ends in after a few steps, against the list of the last version.

A change that is not meant to change numbers must leave this list alone; one that is meant to says which lines and why.

    state_hashes.py PLIANT SCENES LIST            compare; a scene without a line is a complaint, too
    state_hashes.py PLIANT SCENES LIST --write    write the list anew
"""
import argparse
import csv
import pathlib
import re
import subprocess
import sys
import tempfile

STEPS = 20


def state_of(pliant, scene):
    """'16 hex digits', or 'refused' for what only SOFA runs."""
    with tempfile.TemporaryDirectory() as folder:  # exporters write where the command runs
        run = subprocess.run([pliant, "run", str(scene), "--steps", str(STEPS), "--hash", "--quiet"], cwd=folder,
                             capture_output=True, text=True, timeout=600, check=False)
    if run.returncode == 3:
        return "refused"
    found = re.search(r"\b[0-9a-f]{16}\b", run.stdout)
    return found.group(0) if run.returncode == 0 and found else f"exit {run.returncode}: {run.stderr.strip()[:120]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pliant")
    parser.add_argument("scenes", type=pathlib.Path)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    pliant, args.scenes = str(pathlib.Path(args.pliant).resolve()), args.scenes.resolve()
    scenes = sorted(args.scenes.rglob("*.scn"))
    now = {str(s.relative_to(args.scenes)): state_of(pliant, s) for s in scenes}
    if args.write:
        with args.list.open("w", newline="", encoding="utf-8") as out:
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(["scene", f"hash after {STEPS} steps"])
            writer.writerows(sorted(now.items()))
        print(f"{len(now)} scenes written")
        return 0
    with args.list.open(newline="", encoding="utf-8") as text:
        before = dict(list(csv.reader(text))[1:])
    complaints = [f"{name}: {before.get(name, 'not listed')} before, {now.get(name, 'gone')} now"
                  for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
    print("\n".join(complaints) if complaints else f"{len(now)} scenes end in the states they ended in before")
    return 1 if complaints or not now else 0


sys.exit(main())
