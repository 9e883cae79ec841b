# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the shared library with CMake and the type stubs from it. One wheel serves every Python 3: nothing is compiled against it."""
import os
import pathlib
import shutil
import subprocess
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

try:
    from wheel.bdist_wheel import bdist_wheel
except ImportError:  # not needed for anything but wheels
    bdist_wheel = None

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = "libpliant_bindings.so"


def library():
    """The built library: PLIANT_LIBRARY if it is set, else what CMake makes in build-python/."""
    if os.environ.get("PLIANT_LIBRARY"):
        return pathlib.Path(os.environ["PLIANT_LIBRARY"])
    build = pathlib.Path(os.environ.get("PLIANT_BUILD_DIR") or HERE / "build-python")
    subprocess.check_call(["cmake", "-S", str(HERE), "-B", str(build), "-DPLIANT_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release"])
    subprocess.check_call(["cmake", "--build", str(build), "--target", "pliant_bindings", "--parallel"])
    return build / "lib" / LIBRARY


class Build(build_py):
    def run(self):
        super().run()
        package = pathlib.Path(self.build_lib).resolve() / "pliant"
        (package / "_lib").mkdir(parents=True, exist_ok=True)
        shutil.copy2(library(), package / "_lib" / LIBRARY)
        environment = {**os.environ, "PYTHONPATH": str(package.parent)}
        environment.pop("PLIANT_LIBRARY", None)
        try:
            text = subprocess.run([sys.executable, "-m", "pliant.stubs"], env=environment, stdout=subprocess.PIPE, check=True).stdout
            (package / "__init__.pyi").write_bytes(text)
        except subprocess.CalledProcessError:
            print("no type stubs: NumPy is not there to read the table of schemes with", file=sys.stderr)


class Binary(Distribution):
    def has_ext_modules(self):
        return True


commands = {"build_py": Build}
if bdist_wheel:
    class Wheel(bdist_wheel):
        def get_tag(self):
            return ("py3", "none", super().get_tag()[2])
    commands["bdist_wheel"] = Wheel

setup(cmdclass=commands, distclass=Binary)
