#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The scheme of examples/scheme, built outside the tree, appears in list, run and compare, and in runSofa where SOFA is.

    check_scheme.py PLIANT SOURCE [RUNSOFA PLUGIN]
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def run(*words, code=0, **environment):
    """Output of a command that must end with `code`."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, **{k: str(v) for k, v in environment.items()}})
    text = done.stdout + done.stderr
    assert done.returncode == code, f"{' '.join(str(w) for w in words)}: exit {done.returncode}\n{text}"
    return text


def build(source, folder, *options):
    """Configures and builds a copy of the example, so that nothing around it helps."""
    folder.mkdir()
    for name in ("CMakeLists.txt", "affine.c"):
        (folder / name).write_text((source / "examples/scheme" / name).read_text(encoding="utf-8"), encoding="utf-8")
    run("cmake", "-S", folder, "-B", folder / "build", f"-DPLIANT_INCLUDE={source / 'src'}", *options)
    run("cmake", "--build", folder / "build")
    return folder / "build/affine.so"


def check_host(pliant, source, folder):
    scheme, scene = build(source, folder / "affine"), source / "examples/scheme/affine.scn"
    assert "affine map" in run(pliant, "list", "--scheme", scheme)
    assert "AffineModel" not in run(pliant, "list")
    assert "stiffness=1" in run(pliant, "list", "AffineModel", PLIANT_SCHEMES=scheme)
    assert "AffineModel" in run(pliant, "check", scene, code=3)  # unknown without it
    hashes = {re.search(r"\b[0-9a-f]{16}\b", run(pliant, "run", scene, "--steps", 20, "--hash", "--quiet", "--scheme", scheme)).group(0)
              for _ in range(2)}
    assert len(hashes) == 1, hashes
    text = run(pliant, "compare", scene, "--scheme", scheme, "--no-cache", "--out", folder / "report")
    assert re.search(r"Affine\s.*affine", text), text
    return scheme, scene


def check_refusals(pliant, source, folder, scheme):
    old = build(source, folder / "old", "-DCMAKE_C_FLAGS=-DAFFINE_ABI=999")
    assert "interface 999" in run(pliant, "list", "--scheme", old, code=3)
    assert "cannot be loaded" in run(pliant, "list", "--scheme", folder / "none.so", code=4)
    (folder / "text.so").write_text("no library", encoding="utf-8")
    assert "cannot be loaded" in run(pliant, "list", PLIANT_SCHEMES=folder / "text.so", code=4)
    assert "needs the shared object" in run(pliant, "list", "--scheme", code=2)
    both = f"{scheme}:{scheme}"  # twice is once
    assert "AffineModel" in run(pliant, "list", "--scheme", scheme, PLIANT_SCHEMES=both)


def main():
    pliant, source = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scheme, scene = check_host(pliant, source, folder)
        check_refusals(pliant, source, folder, scheme)
        if len(sys.argv) > 3:
            text = run(sys.argv[3], "-g", "batch", "-n", 5, "-l", sys.argv[4], scene, PLIANT_SCHEMES=scheme)
            assert "[ERROR]" not in text, text
    print("a scheme built outside the tree runs in every host")
    return 0


sys.exit(main())
