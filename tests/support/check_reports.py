#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports of `pliant verify` and `pliant bench`: valid JSON, exactly the documented fields, nothing else on standard output.

    check_reports.py PLIANT
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile


def refuse_constant(name):
    raise ValueError(f"{name} is not JSON")


def read(text):
    return json.loads(text, parse_constant=refuse_constant)


def run(pliant, *args):
    return subprocess.run([pliant, *args], capture_output=True, text=True, timeout=300)


def check_verify(pliant):
    done = run(pliant, "verify", "fem", "--only", "stretch", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", "no progress without a terminal"
    report = read(done.stdout)
    assert list(report) == ["schema", "cases"] and report["schema"] == 1
    assert len(report["cases"]) >= 7
    for case in report["cases"]:
        assert list(case) == ["scheme", "case", "expected", "measured", "tolerance", "pass"], case
        assert case["scheme"] == "fem" and "stretch" in case["case"]
        assert case["pass"] is (math.fabs(case["measured"] - case["expected"]) <= case["tolerance"])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.json")
        again = run(pliant, "verify", "fem", "--only", "stretch", "--json", str(path))
        assert again.returncode == 0 and "cases hold" in again.stdout
        assert read(path.read_text()) == report, "the same numbers, run by run"
        assert [entry.name for entry in path.parent.iterdir()] == ["report.json"], "no temporary file is left"
        lost = run(pliant, "verify", "fem", "--only", "stretch 1.1", "--json", f"{folder}/none/report.json")
        assert lost.returncode == 4 and lost.stderr.count("\n") == 1, lost.stderr


def check_bench(pliant):
    names = [line.split()[0] for line in run(pliant, "bench", "--list").stdout.splitlines()]
    if not names:
        print("no benchmark cases in this build")
        return
    done = run(pliant, "bench", names[0], "--json", "-")
    assert done.returncode == 0, done.stderr
    report = read(done.stdout)
    assert list(report) == ["schema", "machine", "results"] and report["schema"] == 1
    assert list(report["machine"]) == ["cpu", "cores", "simd", "compiler", "flags", "version"]
    assert report["results"], "a case reports something"
    for result in report["results"]:
        assert list(result) == ["case", "metric", "value", "unit"], result
        assert result["case"] == names[0] and math.isfinite(result["value"])


check_verify(sys.argv[1])
check_bench(sys.argv[1])
print("the reports are as documented")
