#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A sweep that is killed again and again ends with the table of one that is not, whoever runs its jobs.

    check_sweep.py PLIANT SOURCE [--jobs N] [--kills K] [--with parallel|slurm|dask ...]

Slurm must be running; for Dask this must be run by an interpreter that has it.

Prints which executors were tried. Times are left out of the comparison: they are measured.
"""
import argparse
import csv
import os
import pathlib
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BODY = """<Node name="{name}"><{model} name="model" {mesh} skin="{source}/scenes/compare/box_skin.obj" youngModulus="20000" massDamping="4" {more}/>
<MechanicalObject name="dofs" position="@model.position"/><BoxROI name="held" position="@model.position" box="-9 -9 -9 9 0.001 9"/>
<FixedProjectiveConstraint indices="@held.indices"/><AdaptiveSolver/>
<SphereTool name="ball" radius="0.3" position="0.5 1.31 0.5" keyTimes="0 0.1" movements="0 0 0  0 -0.15 0"/></Node>
"""


def write(folder, source, jobs):
    """A scene of two schemes and a sweep of `jobs` tiny jobs."""
    mesh = f"{source}/scenes/meshes/box_"
    bodies = [("Fine", "FemModel", f'filename="{mesh}1.msh"', ""), ("Lod", "TetLodModel", f'filenames="{mesh}0.msh {mesh}1.msh"', ""),
              ("Springs", "SpringsModel", f'filename="{mesh}1.msh"', 'thickness="0.1"')]
    text = "".join(BODY.format(name=n, model=m, mesh=f, more=e, source=source) for n, m, f, e in bodies)
    (folder / "s.scn").write_text(f'<Node name="root" dt="0.01" gravity="0 0 0"><ComparisonMonitor reference="@Fine/model" steps="5"/>\n{text}</Node>')
    values = ", ".join(f"{3 + 0.1 * k:.1f}" for k in range(jobs // 4))
    (folder / "s.toml").write_text(f'scenes = ["s.scn"]\nrepeat = 1\nsteps = 4\nseeds = [0, 7]\n[attributes]\nmassDamping = [{values}]\n')


def table(path):
    """The rows without what is measured with a clock."""
    with open(path, newline="") as file:
        rows = [{k: v for k, v in row.items() if not k.startswith("ms_") and k != "speedup"} for row in csv.DictReader(file)]
    return rows


class Sweep:
    def __init__(self, pliant, folder, source):
        self.pliant, self.folder = pliant, folder
        python = os.pathsep.join([str(source / "python")] + os.environ.get("PYTHONPATH", "").split(os.pathsep))
        self.env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONPATH": python}

    def call(self, *words, **more):
        return subprocess.run([self.pliant, "sweep", *words], env=self.env, stdout=subprocess.PIPE, text=True, **more)

    def plan(self, out):
        return int(self.call("plan", str(self.folder / "s.toml"), "--out", str(out), check=True).stdout.split()[0])

    def collect(self, out):
        self.call("collect", str(out), check=True)
        assert not [p for p in (out / "results").iterdir() if p.suffix != ".csv" and ".tmp" not in p.name]
        assert (out / "report.html").stat().st_size > 2000
        return table(out / "table.csv")

    def plain(self, out):
        self.plan(out)
        self.call("run", str(out), "--quiet", check=True)
        return self.collect(out)

    def killed(self, out, kills, seconds):
        """SIGKILL to the whole group at random moments, then once more to the end."""
        self.plan(out)
        chance, ended = random.Random(18), 0
        for _ in range(kills):
            run = subprocess.Popen([self.pliant, "sweep", "run", str(out), "--quiet"], env=self.env, start_new_session=True)
            time.sleep(chance.uniform(0.05, 1.0) * 1.2 * seconds / max(1, kills))
            ended += run.poll() is None
            try:
                os.killpg(run.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            run.wait()
            time.sleep(0.05)
        partial = len(list((out / "results").glob("*.csv")))
        self.call("run", str(out), "--quiet", check=True)
        return self.collect(out), ended, partial

    def parallel(self, out):
        self.plan(out)
        subprocess.run(["parallel", self.pliant, "sweep", "run", str(out), "-q", "-j", "1", "--shard", "{}/4", ":::", "1", "2", "3", "4"], env=self.env, check=True)
        return self.collect(out)

    def slurm(self, out):
        self.plan(out)
        script = f"{self.pliant} sweep run {out} -q -j 1 --shard $SLURM_ARRAY_TASK_ID/4"
        subprocess.run(["sbatch", "--wait", "--array=1-4", "-o", str(self.folder / "slurm-%a.log"), "--wrap", script], env=self.env, check=True, timeout=600)
        return self.collect(out)

    def dask(self, out):
        self.plan(out)
        subprocess.run([sys.executable, "-m", "pliant.sweep", str(out), "--pliant", self.pliant], env=self.env, check=True, timeout=600)
        return self.collect(out)


def interrupted(sweep, out):
    """Ctrl-C ends it with a sentence, and what is done stays done."""
    sweep.plan(out)
    run = subprocess.Popen([sweep.pliant, "sweep", "run", str(out), "-j", "1"], env=sweep.env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    while not list((out / "results").glob("*.csv")) and run.poll() is None:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130 and "results were written" in said, (run.returncode, said)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pliant", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=40)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--with", dest="executors", action="append", default=[])
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sweep = Sweep(str(a.pliant.resolve()), folder, a.source.resolve())
        write(folder, a.source.resolve(), a.jobs)
        probe = sweep.call("plan", str(folder / "s.toml"), "--out", str(folder / "probe"), stderr=subprocess.PIPE)
        if probe.returncode == 3:
            print(f"skipped: {probe.stderr}")
            return 77
        start = time.time()
        wanted = sweep.plain(folder / "plain")
        seconds = time.time() - start
        assert len(wanted) == a.jobs // 4 * 4 and all(r["status"] == "ok" for r in wanted), wanted[:2]
        assert len({r["hash"] for r in wanted}) > 4, "jobs do not differ"
        ids = {r["id"] for r in wanted}
        assert len(ids) == len(wanted)
        got, ended, partial = sweep.killed(folder / "killed", a.kills, seconds)
        assert got == wanted, "the killed sweep has another table"
        print(f"{len(wanted)} jobs in {seconds:.1f} s; killed {ended} times while it ran, {partial} done then: the same table")
        interrupted(sweep, folder / "interrupted")
        # another value in the scene gives other ids; the same gives the same
        sweep.plan(folder / "again")
        assert {line.split(",")[0] for line in (folder / "again/plan.csv").read_text().splitlines()[1:]} == ids
        (folder / "s.scn").write_text((folder / "s.scn").read_text().replace('dt="0.01"', 'dt="0.02"'))
        sweep.plan(folder / "other")
        assert not {line.split(",")[0] for line in (folder / "other/plan.csv").read_text().splitlines()[1:]} & ids
        write(folder, a.source.resolve(), a.jobs)
        for executor in a.executors or [e for e in ("parallel",) if shutil.which(e)]:
            assert getattr(sweep, executor)(folder / executor) == wanted, f"{executor} has another table"
            print(f"{executor}: the same table")
        # what is said to come next is what a shell takes
        odd = folder / "it's my sweep"
        words = shlex.split(sweep.call("plan", str(folder / "s.toml"), "--out", str(odd), check=True).stdout.splitlines()[-1])
        assert words == ["Next:", "pliant", "sweep", "run", str(odd)], words
        # what is wrong is said with its line
        (folder / "bad.toml").write_text('scenes = ["s.scn"]\n[attributes]\ntreshold = [1]\n')
        bad = sweep.call("plan", str(folder / "bad.toml"), stderr=subprocess.PIPE)
        assert bad.returncode == 2 and "did you mean threshold" in bad.stderr, bad.stderr
        (folder / "bad.toml").write_text("scenes = [\n")
        bad = sweep.call("plan", str(folder / "bad.toml"), stderr=subprocess.PIPE)
        assert bad.returncode == 2 and "bad.toml:" in bad.stderr, bad.stderr
    return 0


if __name__ == "__main__":
    sys.exit(main())
