#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes a program of the C example in README.md, so that the example is compiled and run by the tests.

    extract_example.py README.md OUT.c
"""
import pathlib
import re
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
assert len(blocks) == 1, f"README.md has {len(blocks)} C examples, this script knows one"
lines = blocks[0].replace("/* x and v: 3 * pli_body_dof_count(body) doubles, yours */",
                          "if (!body) return 2;\n"
                          "const size_t count = 3 * (size_t)pli_body_dof_count(body);\n"
                          "double *x = calloc(count, sizeof *x), *v = calloc(count, sizeof *v);\n"
                          "if (!x || !v) return 3;")
assert lines != blocks[0], "the line that lends x and v has changed"
pathlib.Path(sys.argv[2]).write_text(f"""#include <pliant/body.h>
#include <math.h>
#include <stdlib.h>
int main(void)
{{
{lines}
const PliEnergy energy = pli_body_energy(body, x, v);
const bool falls = energy.centre[1] < 0.0 && isfinite(energy.kinetic); /* nothing holds it */
pli_body_destroy(body);
pli_mesh_destroy(mesh);
free(x);
free(v);
return falls ? 0 : 1;
}}
""", encoding="utf-8")
