#!/usr/bin/env bash
# Sets up a fresh Debian machine, builds everything with warnings as errors, and runs every test.
#   ./test.sh                     all
#   ./test.sh -R mesh             arguments go to ctest
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/tools/setup.sh"

setup all
report=$build/tests.xml
rm -f "$report"
code=0
ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-tests=error --output-junit "$report" "$@" || code=$?
[[ -f $report ]] || exit "$code" # ctest was asked for something else, such as --help or -N
python3 "$root/tests/support/summary.py" "$report"
exit "$code"
