#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs damaged copies of our scenes: every one must end by itself with a documented exit code, and with a sentence when that is not 0.

    tests/fuzz/scene_fuzz.py build/bin/pliant scenes/single [--count 200] [--seed 1] [--keep FOLDER]

The damage depends on the seed and the file names only. A copy that crashes, hangs or fails without a sentence is kept.
"""
import argparse
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

VALUES = ["", " ", "0", "-1", "1e308", "-1e-320", "nan", "inf", "1e999", "4294967296", "-2147483649", "0.5", "true", "abc", "1 2", "1 2 3", "0 0 0 0",
          "@", "@/", "@..", "@.", "@../..", "@loader", "@dofs.position", "@nothing.at.all", "x" * 300, "1,2,3", "0x10", "&#233;", "../..", "/", "%s%n", "1 nan 3"]
CODES = {0, 2, 3, 4, 5, 6}


def damage(text, rng, names):
    """One to three small changes."""
    for _ in range(rng.randint(1, 3)):
        attributes = list(re.finditer(r'(\w+)="([^"]*)"', text))
        tags = list(re.finditer(r"<(\w+)", text))
        lines = text.split("\n")
        kind = rng.randrange(9)
        if kind <= 2 and attributes:  # another value
            a = rng.choice(attributes)
            value = rng.choice(VALUES) if rng.random() < 0.7 else rng.choice(attributes).group(2)
            text = text[: a.start(2)] + value + text[a.end(2):]
        elif kind == 3 and attributes:  # an attribute less
            a = rng.choice(attributes)
            text = text[: a.start()] + text[a.end():]
        elif kind == 4 and attributes:  # another attribute's name
            a = rng.choice(attributes)
            text = text[: a.start(1)] + rng.choice(attributes).group(1) + text[a.end(1):]
        elif kind == 5 and tags:  # another component
            t = rng.choice(tags)
            text = text[: t.start(1)] + rng.choice(names) + text[t.end(1):]
        elif kind == 6:  # a line less, or twice
            k = rng.randrange(len(lines))
            lines[k:k + 1] = [lines[k]] * rng.choice((0, 2))
            text = "\n".join(lines)
        elif kind == 7:  # two lines change places
            i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
            text = "\n".join(lines)
        elif text:  # a cut, or a byte
            k = rng.randrange(len(text))
            text = text[:k] if rng.random() < 0.3 else text[:k] + chr(rng.randrange(1, 256)) + text[k + 1:]
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pliant")
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds a run may take")
    parser.add_argument("--keep", type=pathlib.Path, help="where scenes that went wrong are kept")
    args = parser.parse_args()
    pliant = os.path.abspath(args.pliant)
    scenes = sorted(p for folder in args.folder for p in folder.rglob("*.scn"))
    if not scenes:
        sys.exit("scene_fuzz: no scene in " + ", ".join(map(str, args.folder)))
    texts = {p: p.read_text() for p in scenes}
    names = sorted({n for t in texts.values() for n in re.findall(r"<(\w+)", t)})
    rng = random.Random(args.seed)
    counts, wrong = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.count):
            source = rng.choice(scenes)
            scene = pathlib.Path(folder) / f"{source.stem}_{args.seed}_{k}.scn"
            scene.write_text(damage(texts[source], rng, names), encoding="utf-8", errors="replace")
            command = [pliant, "run", str(scene), "--steps", "3", "--data-path", f"{source.parent.absolute()}:{source.parent.parent.absolute()}",
                       "--out", os.path.join(folder, "out")]
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=args.limit, cwd=folder, check=False)
                code, said = done.returncode, done.stderr.strip()
            except subprocess.TimeoutExpired:
                code, said = "hung", ""
            counts[code] = counts.get(code, 0) + 1
            if code in CODES and (code == 0 or said):
                scene.unlink()
                continue
            wrong += 1
            print(f"{scene.name}: ended with {code}: {said[-2000:]}")
            if args.keep:
                args.keep.mkdir(parents=True, exist_ok=True)
                scene.rename(args.keep / scene.name)
    print(f"{args.count} damaged scenes, seed {args.seed}: " + ", ".join(f"{n} ended with {code}" for code, n in sorted(counts.items(), key=str)))
    sys.exit(1 if wrong else 0)


main()
