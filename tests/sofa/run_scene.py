#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs one scene in runSofa without a window and fails on any error or warning, or when fewer steps were done than asked for."""
import argparse
import re
import subprocess
import sys
import tempfile

# What SOFA prints about itself, whatever the scene.
NOISE = (
    "[DEPRECATED] [RequiredPlugin(Sofa.Component.Mapping.MappedMatrix",
    "[DEPRECATED] [Sofa.Component.Mapping.MappedMatrix]",
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runsofa", default="runSofa")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--plugin", default="Pliant")
    parser.add_argument("scene")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:  # runSofa writes files where it stands
        run = subprocess.run([args.runsofa, "-g", "batch", "-n", str(args.steps), "-l", args.plugin, "--hideProgressBar", args.scene],
                             cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    text = re.sub(r"\x1b\[[0-9;]*m", "", run.stdout)
    bad = [line for line in text.splitlines()
           if re.match(r"\s*\[(ERROR|WARNING|FATAL|DEPRECATED)\]", line) and not any(noise in line for noise in NOISE)]
    done = re.search(r"(\d+) iterations done in ([\d.]+) s", text)
    for line in bad:
        print(line)
    if run.returncode != 0:
        print(f"runSofa ended with {run.returncode}")
        print("\n".join(text.splitlines()[-30:]))
    if not done or int(done.group(1)) != args.steps:
        print(f"runSofa did not do {args.steps} steps")
        print("\n".join(text.splitlines()[-30:]))
    if bad or run.returncode != 0 or not done or int(done.group(1)) != args.steps:
        return 1
    print(f"{args.steps} steps in {done.group(2)} s, no error, no warning")
    return 0


if __name__ == "__main__":
    sys.exit(main())
