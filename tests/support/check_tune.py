#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""What pliant tune says it found is what pliant compare then measures on the scene it wrote.

    check_tune.py PLIANT SOURCE
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from check_sweep import write


def main():
    pliant, source = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        call = lambda *words: subprocess.run([pliant, *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)  # noqa: E731
        write(folder, source, 4)
        scene = folder / "s.scn"
        # a comment, another quote and a line end of its own must come through
        text = scene.read_text().replace('steps="5"', 'steps="20"').replace("<TetLodModel ", "<!-- levels > here -->\n<TetLodModel threshold='2'\n ")
        text = text.replace('keyTimes="0 0.1"', 'keyTimes="0 0.2"').replace("0 -0.15 0", "0 -0.3 0")
        scene.write_text(text)

        def errors(path, seed=0):
            done = call("compare", str(path), "--seed", str(seed), "--schemes", "Lod", "--repeat", "1", "-q", "--json", "-", "--out", str(folder / "out"))
            assert done.returncode == 0, done.stderr
            return {b["name"]: b for b in json.loads(done.stdout)["bodies"]}["Lod"]["error_rms"]

        before = errors(scene)
        goal = 0.9 * before
        done = call("tune", "s.scn", "--schemes", "Lod", "--error", f"{100 * goal:.6f}%", "--tries", "12", "-q")
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        tuned = folder / "s_tuned.scn"
        after = errors(tuned)
        assert after <= goal < before, (before, goal, after)
        assert scene.read_text() == text, "the scene itself was changed"
        found = re.search(r"threshold='([^']*)'", tuned.read_text()).group(1)
        assert re.sub(r"threshold='[^']*'", "threshold='2'", tuned.read_text()) == text, "something else was changed"
        assert float(found) < 2 and f"threshold={float(found):.3g}" in done.stdout, done.stdout
        # what is said of every load, guards too, is what compare measures there, and the worst of them is what is said of all
        done = call("tune", "s.scn", "--schemes", "Lod", "--error", f"{100 * goal:.6f}%", "--tries", "12", "-q", "--guards", "2", "--json", "t.json")
        body = json.loads((folder / "t.json").read_text())["bodies"][0]
        loads = body["loads"]
        assert [load["seed"] for load in loads][:4] == [0, 1, 2, 3] and [load["trained"] for load in loads][:2] == [True, True], loads
        assert body["tuned"]["error"] == max(load["error"] for load in loads) <= goal and body["holds"], body
        for load in loads[1:]:
            assert abs(errors(tuned, load["seed"]) - load["error"]) < 1e-9, (load, errors(tuned, load["seed"]))
        # two bodies that do the same: the second asks the first, and needs two tries
        twins = text.replace('<Node name="Springs">', re.search(r'<Node name="Lod">.*?</Node>', text, re.S).group(0).replace('"Lod"', '"Twin"') + '\n<Node name="Springs">')
        (folder / "twins.scn").write_text(twins)
        done = call("tune", "twins.scn", "--schemes", "Lod,Twin", "--error", f"{100 * goal:.6f}%", "--tries", "12", "-q", "--json", "t.json")
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        first, second = json.loads((folder / "t.json").read_text())["bodies"]
        assert second["like"] == "Lod" and second["tried"] == 2 < first["tried"] and first["like"] is None, (first, second)
        assert all(first[k] == second[k] for k in ("parameters", "holds")) and first["unseen"]["error"] == second["unseen"]["error"], (first, second)
        # a load that misses the body is none: the next one that moves it is taken, and said; where there is none, that is said
        near = text.replace("0 -0.3 0", "0 -0.0122 0")
        (folder / "near.scn").write_text(near)
        done = call("tune", "near.scn", "--schemes", "Lod", "--error", "50%", "--tries", "1", "--loads", "1", "-q", "--json", "t.json")
        assert done.returncode in (0, 1), (done.stdout, done.stderr)
        seed = json.loads((folder / "t.json").read_text())["bodies"][0]["unseen_seed"]
        assert seed > 99 and f"The unseen load of Lod is that of seed {seed}" in done.stdout, done.stdout
        missed = call("compare", "near.scn", "--schemes", "Lod", "--seed", "99", "--repeat", "1", "--out", str(folder / "out"))
        assert "nothing moves the reference" in missed.stdout, (missed.stdout, missed.stderr)
        (folder / "far.scn").write_text(text.replace("0 -0.3 0", "0 0.3 0"))
        done = call("tune", "far.scn", "--schemes", "Lod", "--error", "50%", "--tries", "1", "-q", "--out", "far_tuned.scn")
        assert done.returncode == 2 and "nothing moves the reference" in done.stderr and not (folder / "far_tuned.scn").exists(), (done.returncode, done.stderr)
        # what cannot be reached is said, and is no success
        done = call("tune", "s.scn", "--schemes", "Springs", "--error", "0.0001%", "--tries", "3", "-q", "--out", "t.scn", "--json", "t.json")
        assert done.returncode == 1 and "Springs cannot reach 0.0001 %" in done.stdout, (done.stdout, done.stderr)
        said = json.loads((folder / "t.json").read_text())["bodies"]
        assert len(said) == 1 and said[0]["tried"] == 3 and not said[0]["reached"] and not said[0]["holds"], said
        assert said[0]["verdict"] in done.stdout and said[0]["tuned"]["error"] <= said[0]["before"]["error"], said
        # a budget: cheaper than before, and no more than asked for, or it says so
        done = call("tune", "s.scn", "--schemes", "Lod", "--budget", "1000 ms", "--tries", "6", "-q", "--out", "t.scn")
        assert done.returncode == 0 and errors(folder / "t.scn") < before, (done.stdout, done.stderr)
        done = call("tune", "s.scn", "--schemes", "Lod", "--budget", "1e-6", "--tries", "3", "-q", "--out", "t.scn")
        assert done.returncode == 1 and "cannot be as cheap" in done.stdout, (done.stdout, done.stderr)
        for words, code, said in ((["s.scn"], 2, "one of them"), (["s.scn", "--error", "2%", "--budget", "3"], 2, "one of them"),
                                  (["s.scn", "--error", "-3"], 2, "largest displacement"), (["x.scn", "--error", "2%"], 4, "there is no file"),
                                  (["s.scn", "--error", "2%", "--schemes", "nobody"], 2, "nobody")):
            done = call("tune", *words)
            assert done.returncode == code and said in done.stderr, (words, done.returncode, done.stderr)
        print(f"error {100 * before:.3g} % -> {100 * after:.3g} %, wanted {100 * goal:.3g} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
