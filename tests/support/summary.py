#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Closing lines of a test run: the skipped tests with their reasons, the failed ones, and the counts."""
import re
import sys
import xml.etree.ElementTree as ElementTree


def skip_reason(case):
    """GoogleTest prints `file:line: Skipped` and the reason below; other tests say it in their last line."""
    output = case.findtext("system-out") or ""
    found = re.search(r": Skipped\n(.*\S)", output)
    if found:
        return found.group(1).strip()
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if lines:
        return lines[-1]
    skipped = case.find("skipped")
    return (skipped.get("message") if skipped is not None else None) or "no reason given"


def main():
    passed, failed, skipped = 0, [], []
    for case in ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        if case.get("status") == "fail" or case.find("failure") is not None:
            failed.append(case.get("name"))
        elif case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            skipped.append((case.get("name"), skip_reason(case)))
        else:
            passed += 1
    for name, reason in skipped:
        print(f"skipped: {name}: {reason}")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")


main()
