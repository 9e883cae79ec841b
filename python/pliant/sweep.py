# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Dask distributed as an executor of sweeps: every job is one task that runs `pliant sweep run DIR --job ID`.

    python3 -m pliant.sweep DIR                           a local cluster, a process for every core
    python3 -m pliant.sweep DIR --scheduler tcp://HOST:8786

Folder and command must be seen by all workers. A job that has a result is not run again, so that a run that was killed goes on.
"""
import argparse
import csv
import pathlib
import subprocess
import sys

from ._library import FileError, PliantError


def jobs(folder):
    """(ids without a result, how many there are)."""
    folder = pathlib.Path(folder)
    try:
        with open(folder / "plan.csv", newline="", encoding="utf-8") as file:
            ids = [row["id"] for row in csv.DictReader(file)]
    except (OSError, KeyError) as cause:
        raise FileError(f"{folder}/plan.csv cannot be read: {cause}; pliant sweep plan makes it", 2) from None
    return [i for i in ids if not (folder / "results" / f"{i}.csv").exists()], len(ids)


def run_job(pliant, folder, job):
    """One job; its id, exit code and what it said."""
    done = subprocess.run([pliant, "sweep", "run", folder, "--quiet", "--jobs", "1", "--job", job], stderr=subprocess.PIPE, text=True, check=False)
    return job, done.returncode, done.stderr.strip()


def run(folder, client, pliant="pliant"):
    """Runs what has no result on a dask.distributed Client. How many jobs ran; PliantError when one left no result."""
    from distributed import as_completed
    folder = str(pathlib.Path(folder).resolve())
    due, _ = jobs(folder)
    # pure=False: the result is a file, not what the task returns
    futures = client.map(lambda job: run_job(pliant, folder, job), due, pure=False)
    bad = [(job, said) for _, (job, code, said) in as_completed(futures, with_results=True) if code]
    if bad:
        raise PliantError(f"{len(bad)} of {len(due)} jobs left no result; the first, {bad[0][0]}: {bad[0][1]}")
    return len(due)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m pliant.sweep", description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--scheduler", help="address of a running scheduler; default: a cluster on this machine")
    parser.add_argument("--pliant", default="pliant", help="the command, as workers find it")
    a = parser.parse_args()
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        print("pliant.sweep: dask.distributed is not installed (Debian: python3-distributed)", file=sys.stderr)
        return 3
    try:
        if a.scheduler:
            with Client(a.scheduler) as client:
                done = run(a.folder, client, a.pliant)
        else:
            with LocalCluster(threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
                done = run(a.folder, client, a.pliant)
    except PliantError as cause:
        print(f"pliant.sweep: {cause}", file=sys.stderr)
        return 1
    print(f"{done} jobs done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
