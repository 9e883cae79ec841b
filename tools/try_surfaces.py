#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Does with each surface what a new user would: `pliant new` and `pliant compare`, with defaults, and says what came of it.

    tools/try_surfaces.py build/bin/pliant FOLDER_OR_SURFACE... [--out DIR] [--loads poke,drag,squeeze] [--tune 3%] [--limit 600]

Prints a table (Markdown) with a row for each surface, load and scheme: error and tool force against the finest uniform body, whether a
warning was given, seconds of the commands. The same is in DIR/surfaces.csv; scenes and reports stay in DIR.

Wrong is: a command that fails without a sentence, a scheme that does not run, and a scheme that is off by more than 10 % of the largest
displacement or 15 % of the tool force without a warning in compare's table and in the report. Exit code: 0 nothing wrong, 1 otherwise.
With --tune every scene is tuned as well; what cannot be reached must be said, and what is said to hold must hold.
"""
import argparse
import csv
import html
import json
import pathlib
import subprocess
import sys
import time

SURFACES = {".obj", ".stl", ".ply"}
MOST_ERROR, MOST_FORCE = 0.10, 0.15


def run(command, limit):
    """(exit code or None when it was stopped, standard output, standard error, seconds)"""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit, check=False)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - begin
    except subprocess.TimeoutExpired as stopped:
        return None, str(stopped.stdout or ""), str(stopped.stderr or ""), time.monotonic() - begin


def percent(value):
    return "-" if value is None else f"{100.0 * value:.1f}"


def triangles_of(said):
    words = said.replace(",", "").split()
    return words[words.index("triangles") - 1] if "triangles" in words else "?"


def levels_of(said):
    for line in said.splitlines():
        if " levels of " in line:
            return line.split(" levels of ")[1].split(" nodes")[0]
    return "?"


class Table:
    """Rows as they come, and everything that is wrong."""

    heading = ["surface", "triangles", "nodes of levels", "load", "scheme", "error %", "force %", "warned", "tuned: unseen %", "force %", "says", "new s", "load s"]

    def __init__(self, path):
        self.file = open(path, "w", newline="", encoding="utf-8")
        self.csv = csv.writer(self.file)
        self.csv.writerow(self.heading)
        self.wrong = []
        print("| " + " | ".join(self.heading) + " |\n|" + "---|" * len(self.heading), flush=True)

    def row(self, *cells):
        cells = [str(c) for c in cells]
        self.csv.writerow(cells)
        self.file.flush()
        print("| " + " | ".join(cells) + " |", flush=True)

    def fault(self, text):
        self.wrong.append(text)
        print(f"WRONG: {text}", file=sys.stderr, flush=True)


def tune(pliant, scene, wanted, limit, table, where):
    """{body: (error and tool force on the unseen load or None, what is said of it)}"""
    result = scene.with_name(scene.stem + "_tuned.json")
    code, _, said, seconds = run([pliant, "tune", str(scene), "--error", wanted, "--json", str(result), "--quiet"], limit)
    if code not in (0, 1) or not result.exists():
        table.fault(f"{where}: tune ended with {code} after {seconds:.0f} s: {said.strip()[:200]}")
        return {}
    tuned = {}
    for body in json.loads(result.read_text(encoding="utf-8"))["bodies"]:
        tuned[body["name"]] = (body["unseen"]["error"], body["unseen"]["force"], "holds" if body["holds"] else body["verdict"])
        if body["holds"] != (body["verdict"] is None):
            table.fault(f"{where}: {body['name']}: {'holds, but ' + body['verdict'] if body['holds'] else 'does not hold, and nothing says so'}")
    return tuned


def judge(table, where, body, said, report):
    """Whether a warning was given, which it must be for a body that is far off, in all three places."""
    far = [value is not None and value > most for value, most in ((body["error_rms"], MOST_ERROR), (body["force_error"], MOST_FORCE))]
    sentence = body["warning"]
    if body["status"] != "ok":
        table.fault(f"{where}: {body['name']} {body['status']}: {body['reason']}")
    elif any(far) != bool(sentence):
        table.fault(f"{where}: {body['name']} is {'far off without' if any(far) else 'near, with'} a warning")
    elif sentence and ("warning: " + sentence not in said or html.escape(sentence) not in report):
        table.fault(f"{where}: the warning of {body['name']} is not in the table or not in the report")
    elif any(far) and not any(line.split()[:1] == [body["name"]] and "!" in line for line in said.splitlines()):
        table.fault(f"{where}: {body['name']} has no mark in the table")
    return "yes" if sentence else "-"


def try_surface(args, surface, table):
    loads = args.loads.split(",")
    folder = args.out / surface.stem
    command = [args.pliant, "new", str(surface), "--out", str(folder)] + [word for load in loads for word in ("--" + load, "top")] + args.new
    code, said, error, new_seconds = run(command, args.limit)
    if code != 0:
        (table.row if code in (2, 4) and error.strip() else lambda *_: None)(surface.name, triangles_of(said), "-", "-", "refused: " + error.strip()[:160], *["-"] * 8)
        if code not in (2, 4) or len(error.strip().splitlines()) != 1 or folder.exists():
            table.fault(f"{surface.name}: new ended with {code} after {new_seconds:.0f} s: {error.strip()[:200]}")
        return
    for load in loads:
        where = f"{surface.stem} {load}"
        scene, report = folder / (load + ".scn"), folder / ("report_" + load)
        code, table_text, error, seconds = run([args.pliant, "compare", str(scene), "--out", str(report)] + args.compare, args.limit)
        if code not in (0, 5) or not (report / "compare.json").exists():
            table.fault(f"{where}: compare ended with {code} after {seconds:.0f} s: {error.strip()[:200]}")
            continue
        bodies = json.loads((report / "compare.json").read_text(encoding="utf-8"))["bodies"]
        page = (report / "report.html").read_text(encoding="utf-8")
        reference = next(b["scheme"] for b in bodies if b["reference"])
        tuned = tune(args.pliant, scene, args.tune, args.tune_limit, table, where) if args.tune else {}
        for body in bodies:
            if body["scheme"] == reference:
                continue
            warned = judge(table, where, body, table_text, page)
            unseen, force, verdict = tuned.get(body["name"], (None, None, "-"))
            table.row(surface.stem, triangles_of(said), levels_of(said), load, body["scheme"], percent(body["error_rms"]), percent(body["force_error"]),
                      warned, percent(unseen), percent(force), verdict, f"{new_seconds:.0f}", f"{seconds:.0f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pliant")
    parser.add_argument("surface", nargs="+", type=pathlib.Path, help="surfaces, or folders of them")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("surfaces"), help="folder for scenes, reports and the table, made new")
    parser.add_argument("--loads", default="poke,drag,squeeze")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a command may take")
    parser.add_argument("--tune", metavar="E", help="tune every scene to this error, as 3%%")
    parser.add_argument("--tune-limit", type=float, default=1800.0, help="seconds that may take")
    parser.add_argument("--new", default="", help="more options for pliant new, in one text")
    parser.add_argument("--compare", default="--repeat 1", help="options for pliant compare, in one text")
    args = parser.parse_args()
    args.new, args.compare = args.new.split(), args.compare.split()
    surfaces = []
    for path in args.surface:
        found = sorted(p for p in path.rglob("*") if p.suffix.lower() in SURFACES) if path.is_dir() else [path]
        surfaces += found or sys.exit(f"try_surfaces: there is no surface in {path}")
    try:
        args.out.mkdir(parents=True)
    except OSError as why:
        sys.exit(f"try_surfaces: {args.out}: {why.strerror}")
    table = Table(args.out / "surfaces.csv")
    for surface in surfaces:
        try_surface(args, surface, table)
    print(f"\n{len(surfaces)} surfaces, {len(table.wrong)} things wrong")
    sys.exit(1 if table.wrong else 0)


main()
