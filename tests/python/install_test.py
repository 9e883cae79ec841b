# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""A wheel is built by one command, installs elsewhere, and works there without the source tree."""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def main():
    missing = [name for name in ("pip", "setuptools", "wheel") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"skipped: no {', '.join(missing)}; Debian has python3-pip, python3-setuptools and python3-wheel")
        return SKIPPED
    source = pathlib.Path(os.environ["PLIANT_SOURCE_DIR"])
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder, "source")
        tree.mkdir()
        for name in ("pyproject.toml", "setup.py", "README.md"):
            shutil.copy(source / name, tree)
        shutil.copytree(source / "python", tree / "python", ignore=shutil.ignore_patterns("__pycache__"))
        run = lambda *words, **more: subprocess.run([sys.executable, *words], check=True, cwd=folder, **more)  # noqa: E731
        run("-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", "-q", "-w", f"{folder}/dist", str(tree))
        wheel_file, = pathlib.Path(folder, "dist").glob("*.whl")
        assert wheel_file.name.startswith("pliant-0.1.0-py3-none-linux_"), wheel_file.name
        run("-m", "pip", "install", "--no-deps", "--no-index", "-q", "--target", f"{folder}/site", str(wheel_file))
        installed = {p.name for p in pathlib.Path(folder, "site/pliant").rglob("*")}
        assert {"__init__.pyi", "py.typed", "libpliant_bindings.so"} <= installed, installed
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PLIANT")}
        environment["PYTHONPATH"] = f"{folder}/site"
        script = "import pliant; b = pliant.FemModel(mesh=pliant.Mesh.box((0,0,0),(1,1,1),(2,2,2))); b.step(0.01); print(pliant.__file__)"
        said = run("-c", script, env=environment, stdout=subprocess.PIPE, text=True).stdout
        assert said.startswith(folder), said
    print(wheel_file.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
