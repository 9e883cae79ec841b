#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""What must not be in the tree: paths of one machine, unfinished work, oversized files, tabs, CRLF, trailing blanks,
links that lead nowhere.

    check_hygiene.py ROOT         check what git tracks in ROOT (everything outside build folders without git)
    check_hygiene.py --self-test  prove that each rule catches what it should
"""
import pathlib
import re
import subprocess
import sys
import tempfile

MAX_BYTES = 3 * 1000 * 1000
MAX_LINES = 900
SOURCE = {".c", ".h", ".cpp", ".inl", ".py", ".sh", ".cmake", ".scn", ".xml"}
PROSE = {".md", ".txt", ".json", ".yml", ".yaml", ".toml", ".html", ".csv"}
FREE_LENGTH = {"LICENSE"}
SKIPPED_FOLDERS = {"build", "out", ".git", ".cache", "__pycache__"}
# Written in halves so that this file is no find of its own.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:work|root|opt|home/\w+|mnt|Users)" + r"/[\w.]")
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX|HA" + r"CK)\b|not (?:yet )?imple" + r"mented|unimple" + r"mented", re.IGNORECASE)
FIRST_LINE = "Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later"


def tracked_files(root):
    """Files git tracks or would track; without git, every file outside build folders."""
    listing = None
    if (root / ".git").exists():
        try:
            listing = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                     capture_output=True, check=True).stdout.decode()
        except (OSError, subprocess.CalledProcessError):
            listing = None
    if listing is not None:
        return sorted(root / name for name in listing.split("\0") if name and (root / name).is_file())
    return sorted(path for path in root.rglob("*") if path.is_file() and not any(
        part in SKIPPED_FOLDERS or part.startswith("build-") for part in path.relative_to(root).parts[:-1]))


def check_links(root, path, text):
    """Links and pictures of a document that lead nowhere in the tree."""
    name = path.relative_to(root)
    for found in re.finditer(r"\]\(([^)\s#]+)(?:#[^)]*)?\)", text):
        target = found.group(1)
        if "://" not in target and not target.startswith("mailto:") and not (path.parent / target).exists():
            yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {target} does not exist"


def check_file(root, path):
    """Complaints about one file, as `file:line: sentence`."""
    name = path.relative_to(root)
    if path.stat().st_size > MAX_BYTES:
        yield f"{name}: {path.stat().st_size} bytes, more than {MAX_BYTES}"
        return
    data = path.read_bytes()
    is_source = path.suffix in SOURCE or path.name in ("CMakeLists.txt", "run")
    if not is_source and path.suffix not in PROSE and path.name not in FREE_LENGTH:
        return
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"{name}: not UTF-8 at byte {error.start}"
        return
    lines = text.split("\n")
    if path.suffix == ".md":
        yield from check_links(root, path, text)
    is_mesh = name.parts[:2] == ("scenes", "meshes")
    if is_source and not is_mesh and len(lines) > MAX_LINES:
        yield f"{name}: {len(lines)} lines, more than {MAX_LINES}"
    if b"\r" in data:
        yield f"{name}: has carriage returns"
    if name.parts[0] in ("src", "tests") and path.suffix in (".c", ".h", ".cpp", ".inl", ".py"):
        if not any(FIRST_LINE in line for line in lines[:2]):
            yield f"{name}:1: the first line names the project and its licence"
    if path.suffix in (".c", ".h", ".cpp", ".inl") and text and not text.endswith("\n"):
        yield f"{name}: no line end at the end of the file"
    for number, line in enumerate(lines, 1):
        if is_source and "\t" in line:
            yield f"{name}:{number}: tab"
        if is_source and line != line.rstrip():
            yield f"{name}:{number}: trailing blanks"
        if path.name not in FREE_LENGTH and MACHINE_PATH.search(line):
            yield f"{name}:{number}: a path of one machine: {MACHINE_PATH.search(line).group(0)}..."
        if name.parts[0] in ("src", "scenes", "python", "tools") and is_source and UNFINISHED.search(line):
            yield f"{name}:{number}: unfinished: {UNFINISHED.search(line).group(0)}"


def check(root):
    files = tracked_files(root)
    return [sentence for path in files for sentence in check_file(root, path)], len(files)


def self_test():
    head = f"/* {FIRST_LINE} */\n"
    work, todo = "/wo" + "rk/x", "TO" + "DO"
    good = {"src/a/b.c": head + "int x;\n", "doc/a.md": "A [link](https://x.org/work/x), [this](a.md) and [that](#there).\n", "scenes/a.scn": "<Node/>\n",
            "tests/a.py": f"# {FIRST_LINE}\n", "src/c.c": head + '#include "base/vec.h"\n'}
    bad = {"src/a/b.c": head + f'const char *p = "{work}";\n', "src/c.c": head + f"// {todo}: later\n", "src/d.c": head + "\tint x;\n",
           "src/e.c": head + "int x; \n", "src/f.c": head.replace("\n", "\r\n"), "src/g.c": head + "\n" * MAX_LINES, "src/h.c": "int x;\n",
           "scenes/a.scn": f"<!-- {todo} -->\n", "doc/a.md": f"Look in {work}.\n", "src/i.c": head + "// not imple" + "mented\n",
           "scenes/meshes/big.msh": "x" * (MAX_BYTES + 1), "src/j.c": head + "int x;", "doc/b.md": b"\xff\n", "doc/c.md": "![picture](none.png)\n"}
    for cases, wanted in ((good, False), (bad, True)):
        for name, text in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
                complaints, _ = check(pathlib.Path(folder))
                assert bool(complaints) == wanted, f"{name} gave {complaints}"
    print(f"{len(good)} good and {len(bad)} bad files judged as they should")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    complaints, files = check(pathlib.Path(sys.argv[1]).resolve())
    print("\n".join(complaints) if complaints else f"{files} files are clean")
    return 1 if complaints or files == 0 else 0


sys.exit(main())
