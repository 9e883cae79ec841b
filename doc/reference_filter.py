#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""What Doxygen reads of a header: its banner (the first // lines) becomes the page of the file, sections become headings."""
import re
import sys

lines, state = [], "before"
for line in open(sys.argv[1], encoding="utf-8"):
    if line.startswith("/* Pliant:"):
        line = "/// @file\n"
    elif state == "before" and re.match(r"//( |$)", line):
        state = "banner"
        line = "/// @file\n///" + line[2:]
    elif state == "banner":
        if re.match(r"//( |$)", line):
            line = "///" + line[2:]
        else:
            state = "after"
    elif line.startswith("#include"):
        state = "after"  # no banner
    lines.append(line)
sys.stdout.write("".join(lines))
