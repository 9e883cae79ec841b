#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Benches against SOFA with no runSofa, and with ones that are broken: a sentence each time, and never a figure. One that does nothing
but count steps shows that figures do come where a program runs."""
import os
import pathlib
import subprocess
import sys
import tempfile

FAKES = {  # what runSofa does -> exit code of the bench, what it says
    None: (0, "the program runSofa is not on the PATH"),
    "exit 3": (1, "runSofa ended with code 3"),
    "echo '[ERROR]   [Root] no such component'; echo \"$4 iterations done in 1 s\"": (1, "no such component"),
    "echo '2 iterations done in 1 s'": (1, "runSofa took 2 steps of"),
    "echo 'hello'": (1, "runSofa took 0 steps of"),
    "echo \"$4 iterations done in 1 s\"": (1, "runSofa wrote the times of 0 of"),
    "printf '1,0.01,0.5,0.5\\n2,0.02,0,0.5\\n' > times.csv; echo \"$4 iterations done in 1 s\"": (1, "runSofa wrote the times of 1 of"),
    "printf '1,0.01,nan,0.5\\n' > times.csv; echo \"$4 iterations done in 1 s\"": (1, "runSofa wrote the times of 0 of"),
    "seq -f '%g,0.01,1.5,1.5' \"$4\" > times.csv; echo \"$4 iterations done in 1 s\"": (1, "coordinates"),
    "kill -9 $$": (1, "runSofa ended with code -1"),
}
# places of one point, and the time of each step
GOOD = """f=$(sed -n 's/.*WriteState filename="\\([^"]*\\)".*/\\1/p' $8); [ -n "$f" ] && printf 'T= 1\\n  X= -0.038 0.05 0\\n' > $f
echo 'step,time_s,cpu_ms,wall_ms' > times.csv; seq -f '%g,0.01,1.5,1.5' "$4" >> times.csv; echo "$4 iterations done in 1 s"
"""


# meshes a program that runs elsewhere finds
FINDS = """for m in $(tr '"' '\n' < $8 | tr ' ' '\n' | grep '[.]msh$'); do [ -r "$m" ] || echo "[ERROR] no file $m"; done
""" + GOOD


def run(command, folder, body, where=None, scenes=None):
    program = folder / "runSofa"
    program.unlink(missing_ok=True)
    if body is not None:
        program.write_text("#!/bin/sh\n" + body + "\n")
        program.chmod(0o755)
    # nothing else is on the PATH that is called runSofa
    path = ":".join([str(folder)] + [p for p in ("/usr/bin", "/bin") if not (pathlib.Path(p) / "runSofa").exists()])
    env = {**os.environ, "PATH": path, "SOFA_PLUGIN_PATH": str(folder)}
    if scenes:
        env["PLIANT_SCENES"] = scenes
    done = subprocess.run([command, "bench", "contact.sofa"], env=env, cwd=where,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    return done.returncode, done.stderr, [line for line in done.stdout.splitlines() if line.startswith("contact.sofa")]


def main():
    command = os.path.abspath(sys.argv[1])
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for body, (code, words) in FAKES.items():
            found, said, figures = run(command, folder, body)
            if found != code or words not in said or figures:
                print(f"{body}: exit {found}, said {said!r}, figures {figures}")
                bad += 1
        found, said, figures = run(command, folder, GOOD)
        if found != 0 or not any(" fps " in line for line in figures):
            print(f"a program that runs: exit {found}, said {said!r}, figures {figures}")
            bad += 1
        root = pathlib.Path(__file__).resolve().parents[2]
        found, said, figures = run(command, folder, FINDS, root, "scenes")
        if found != 0 or not figures:
            print(f"scenes by a relative path: exit {found}, said {said!r}, figures {figures}")
            bad += 1
    print(f"{len(FAKES)} broken programs, {bad} complaints")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
