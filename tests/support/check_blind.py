#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The core is blind: below the schemes no word of a scheme occurs, neither in code nor in comments.

Words are looked for inside names, too: `PliFramesDef`, `wavelet_ops` and `PLI_OCTREE` all count. A word may have another,
older meaning; EXCEPTIONS lists each such phrase with its reason, and one that nothing needs any more is a complaint.

    check_blind.py ROOT         check ROOT/src
    check_blind.py --self-test  prove that the rule catches what it should
"""
import pathlib
import re
import sys
import tempfile

FOLDERS = ("base", "mesh", "kernel", "solver", "surface", "contact", "body")
# The folders below src/scheme/ add their names, but for `fem`: finite elements are what the kernel computes.
WORDS = ("tetlod", "frame", "wavelet", "octree", "spring", "subdivision", "lattice", "affine")
# phrase (regular expression), folder or file it is allowed in, reason
EXCEPTIONS = (
    (r"principal frame|the frame on the right", "kernel", "axes of a deformation gradient"),
    (r"lattice", "mesh", "the regular grid of voxels"),
)


def words_of(root):
    """The list, and the names of the schemes that are there."""
    folder = root / "src" / "scheme"
    names = {path.name for path in folder.iterdir() if path.is_dir()} if folder.is_dir() else set()
    return tuple(WORDS) + tuple(sorted(names - {"fem"}))


def check(root):
    """All complaints about root/src, as `file:line: sentence`, and the number of files."""
    word = re.compile("|".join(words_of(root)), re.IGNORECASE)
    complaints, used, files = [], set(), 0
    for folder in FOLDERS:
        for path in sorted((root / "src" / folder).rglob("*.[chi]*")):
            files += 1
            below = path.relative_to(root / "src").as_posix()
            allowed = [(n, re.compile(phrase, re.IGNORECASE)) for n, (phrase, where, _) in enumerate(EXCEPTIONS)
                       if below == where or below.startswith(where + "/")]
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                rest = line
                for n, phrase in allowed:
                    rest, count = phrase.subn("", rest)
                    used.update([n] if count else [])
                for found in sorted({w.lower() for w in word.findall(rest)}):
                    complaints.append(f"src/{below}:{number}: '{found}' is a word of a scheme")
    unused = [f"EXCEPTIONS: nothing needs /{phrase}/ in {where} any more" for n, (phrase, where, _) in enumerate(EXCEPTIONS)
              if n not in used]
    return complaints, unused, files


def self_test():
    good = {"solver/a.c": "// points in blocks of n\n", "kernel/a.h": "/// dP/dF in the principal frame of each element\n",
            "mesh/voxel.c": "PliIndex lattice_cell;\n", "scheme/frames/a.c": "PliFrames *s;\n", "host/a.c": "// wavelet\n"}
    bad = {"solver/a.c": "bool is_frame;\n", "solver/b.h": "/// of a Wavelet\n", "body/a.c": "const PliTetLodDef *d;\n",
           "mesh/a.c": "// an affine map\n", "solver/c.c": "// the principal frame\n", "contact/a.h": "int spring_count;\n",
           "base/a.h": "// octree\n", "kernel/a.h": "// subdivision\n", "surface/a.c": "// lattice\n"}
    for cases, wanted in ((good, 0), (bad, 1)):
        for name, text in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "src", name)
                path.parent.mkdir(parents=True)
                path.write_text(text, encoding="utf-8")
                complaints, _, _ = check(pathlib.Path(folder))
                assert len(complaints) == wanted, f"{name}: {text!r} gave {complaints}, {wanted} wanted"
    with tempfile.TemporaryDirectory() as folder:  # a scheme that comes later brings its name along
        for name, text in (("scheme/ropes/a.c", ""), ("body/a.c", "// of ropes\n")):
            path = pathlib.Path(folder, "src", name)
            path.parent.mkdir(parents=True)
            path.write_text(text, encoding="utf-8")
        complaints, unused, _ = check(pathlib.Path(folder))
        assert len(complaints) == 1 and len(unused) == len(EXCEPTIONS), (complaints, unused)
    print(f"{len(good)} good and {len(bad) + 1} bad files judged as they should, stale exceptions found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    complaints, unused, files = check(pathlib.Path(sys.argv[1]).resolve())
    complaints += unused
    print("\n".join(complaints) if complaints else f"{files} files know no scheme")
    return 1 if complaints or files == 0 else 0


sys.exit(main())
