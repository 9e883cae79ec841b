#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs every .scn below the given folders in the embedded host and counts what ran, what was refused and why, and what went wrong.

    tools/try_scenes.py build/bin/pliant SOFA/examples --data-path SOFA/share [--steps 10] [--list]

A scene outside the profile must be refused by name (exit code 3 and a sentence with file and line), and none may crash.
Exit code: 0 when nothing crashed or hung, 1 otherwise.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def attempt(pliant, scene, steps, limit, data):
    """('ran'|'refused'|'failed'|'crashed'|'hung', first sentence)"""
    with tempfile.TemporaryDirectory() as folder:
        command = [pliant, "run", str(scene), "--steps", str(steps), "--out", os.path.join(folder, "out")]
        command += ["--data-path", data]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, cwd=folder, check=False)
        except subprocess.TimeoutExpired:
            return "hung", f"no end after {limit} s"
    said = [line for line in done.stderr.splitlines() if line.strip()]
    if done.returncode == 0:
        return "ran", ""
    if done.returncode < 0 or done.returncode > 125:
        return "crashed", f"signal or code {done.returncode}"
    if not said:
        return "crashed", f"code {done.returncode} without a sentence"
    return ("refused" if done.returncode == 3 else "failed"), said[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pliant")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a scene may take")
    parser.add_argument("--data-path", default="", help="more folders than those of the scenes for meshes and includes, separated by ':'")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--list", action="store_true", help="name every scene with its outcome")
    args = parser.parse_args()
    scenes = sorted({p for folder in args.folder for p in folder.rglob("*.scn")})
    if not scenes:
        sys.exit("try_scenes: there is no .scn file in " + ", ".join(map(str, args.folder)))
    pliant = os.path.abspath(args.pliant)
    data = ":".join([str(f.absolute()) for f in args.folder] + [os.path.abspath(d) for d in args.data_path.split(":") if d])
    counts, reasons, wrong = collections.Counter(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        outcomes = pool.map(lambda p: attempt(pliant, p.absolute(), args.steps, args.limit, data), scenes)
        for k, (scene, (outcome, sentence)) in enumerate(zip(scenes, outcomes), 1):
            counts[outcome] += 1
            if outcome == "refused":
                named = re.search(r":\d+: (\w+)", sentence)
                reasons[named.group(1) if named else sentence] += 1
            if outcome in ("crashed", "hung"):
                wrong.append((scene, outcome, sentence))
            if args.list or outcome in ("crashed", "hung", "failed"):
                print(f"{outcome:8} {scene}: {sentence}")
            if sys.stderr.isatty():
                print(f"\r{k} of {len(scenes)}", end="", file=sys.stderr)
    print(f"{len(scenes)} scenes: " + ", ".join(f"{counts[k]} {k}" for k in ("ran", "refused", "failed", "crashed", "hung")))
    if reasons:
        print("refused for: " + ", ".join(f"{name} {n}" for name, n in reasons.most_common(15)))
    sys.exit(1 if wrong else 0)


main()
