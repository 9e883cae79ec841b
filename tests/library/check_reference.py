#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the reference pages and fails when a public function has no words, or Doxygen complains of anything else than a field without.

    check_reference.py DOXYGEN DOXYFILE FOLDER      FOLDER is where the Doxyfile puts its pages
"""
import pathlib
import re
import subprocess
import sys

# fields, enumerators and typedefs that explain themselves need no words
SILENT = re.compile(r"warning: (Member .* \((variable|enumvalue|enumeration|macro definition|typedef)\) of |Compound Pli\w+ is not documented)")


def main():
    doxygen, doxyfile, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([doxygen, doxyfile], check=True)
    complaints = [line for line in (folder / "warnings.txt").read_text(encoding="utf-8").splitlines() if line.strip() and not SILENT.search(line)]
    pages = list((folder / "html").glob("*_8h.html"))
    print("\n".join(complaints) if complaints else f"{len(pages)} headers have their page: {folder}/html/index.html")
    return 1 if complaints or not pages else 0


sys.exit(main())
