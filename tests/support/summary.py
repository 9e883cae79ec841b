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


def summarize(root):
    """The closing lines for a JUnit tree."""
    passed, failed, skipped = 0, [], []
    for case in root.iter("testcase"):
        if case.get("status") == "fail" or case.find("failure") is not None:
            failed.append(case.get("name"))
        elif case.get("status") in ("notrun", "disabled") or case.find("skipped") is not None:
            skipped.append((case.get("name"), skip_reason(case)))
        else:
            passed += 1
    names = {}
    for name, reason in skipped:
        names.setdefault(reason.removeprefix("skipped: "), []).append(name)
    lines = []
    for reason, those in names.items(): # a reason that many share is said once
        lines += [f"skipped: {those[0]}: {reason}"] if len(those) == 1 else [f"skipped: {reason}:"] + [f"  {name}" for name in those]
    lines += [f"failed: {name}" for name in failed]
    return lines + [f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped"]


def self_test():
    report = """<testsuite>
      <testcase name="a" status="run"/>
      <testcase name="b" status="fail"><failure message="x"/></testcase>
      <testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
        <system-out>[ RUN ] c\n/x/c_test.cpp:12: Skipped\nthis processor has no AVX-512\n\n[ SKIPPED ] c</system-out></testcase>
      <testcase name="d" status="notrun"><skipped message="SKIP_RETURN_CODE"/><system-out>one\nno display\n</system-out></testcase>
      <testcase name="e" status="disabled"><skipped message="Disabled"/></testcase>
      <testcase name="f" status="run"/>
      <testcase name="g" status="notrun"><skipped message="SKIP_RETURN_CODE"/><system-out>skipped: no display\n</system-out></testcase>
    </testsuite>""".replace("\\n", "\n")
    wanted = ["skipped: c: this processor has no AVX-512", "skipped: no display:", "  d", "  g", "skipped: e: Disabled", "failed: b",
              "2 passed, 1 failed, 4 skipped"]
    found = summarize(ElementTree.fromstring(report))
    assert found == wanted, found
    print("\n".join(found))


if sys.argv[1] == "--self-test":
    self_test()
else:
    print("\n".join(summarize(ElementTree.parse(sys.argv[1]).getroot())))
