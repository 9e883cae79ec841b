#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""The shared library exports what the public headers declare with PLI_API, all of it and nothing else.

    check_symbols.py HEADERS LIBRARY    compare the headers of a folder with a shared library
    check_symbols.py --self-test        prove that each rule catches what it should
"""
import pathlib
import re
import subprocess
import sys

# a function declaration: a name followed by parameters and a semicolon, or by an attribute that takes arguments
DECLARATION = re.compile(r"(?P<before>[^;{}#]*?)\b(?P<name>pli_\w+)\s*\((?P<rest>[^;{}]*)\)\s*(?:PLI_\w+\s*\([^;]*\)\s*)?;")


DATA = re.compile(r"\bextern\s+PLI_API\b[^;{}()]*\b(?P<name>pli_\w+)\s*;")


def strip(text):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    return re.sub(r"extern\s+\"C\"\s*\{", "", text)


def declared(text):
    """(names declared with PLI_API, complaints about those declared without)."""
    names, complaints = {found.group("name") for found in DATA.finditer(strip(text))}, []
    for found in DECLARATION.finditer(strip(text)):
        before = found.group("before")
        if re.search(r"\btypedef\b|\bstatic\b|=", before) or found.group("name").endswith("_fn"):
            continue
        if "PLI_API" in before:
            names.add(found.group("name"))
        else:
            complaints.append(f"{found.group('name')} is declared without PLI_API")
    return names, complaints


def compare(names, exported):
    complaints = [f"{name} is declared, but not exported" for name in sorted(names - exported)]
    return complaints + [f"{name} is exported, but not declared in a public header" for name in sorted(exported - names)]


def exported_by(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = {line.split()[-1].split("@")[0] for line in text.splitlines() if line.strip()}
    return {name for name in names if not name.startswith("__")}  # what sanitizers and coverage add


def self_test():
    good = '#define PLI_API x\nextern "C" {\n/* pli_no(void); */\nPLI_API int pli_a(void); ///< pli_b(1);\n' \
           "typedef void PliFn(int a);\nPLI_API PliStatus pli_c(PliError *e,\n   const char *f, ...) PLI_PRINTF(2, 3);\n" \
           "typedef struct S { int (*pli_member)(int a); } S;\nPLI_API const char *pli_d(int k);\nextern PLI_API const Rows pli_e;\n}\n"
    names, complaints = declared(good)
    assert names == {"pli_a", "pli_c", "pli_d", "pli_e"} and not complaints, (names, complaints)
    _, complaints = declared("int pli_forgotten(void);\nPLI_API int pli_a(void);\n")
    assert complaints == ["pli_forgotten is declared without PLI_API"], complaints
    assert compare({"pli_a", "pli_b"}, {"pli_b", "pli_c"}) == [
        "pli_a is declared, but not exported", "pli_c is exported, but not declared in a public header"]
    assert not compare({"pli_a"}, {"pli_a"})
    print("each rule catches what it should")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    names, complaints = set(), []
    for header in sorted(pathlib.Path(sys.argv[1]).glob("*.h")):
        more, wrong = declared(header.read_text(encoding="utf-8"))
        names |= more
        complaints += [f"{header.name}: {sentence}" for sentence in wrong]
    complaints += compare(names, exported_by(sys.argv[2]))
    print("\n".join(complaints) if complaints else f"{len(names)} functions and tables, declared and exported")
    return 1 if complaints or not names else 0


sys.exit(main())
