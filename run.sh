#!/usr/bin/env bash
# Sets up a fresh Debian machine, builds, and runs the demo; or, with arguments, the `pliant` command with them.
#   ./run.sh                      the demo
#   ./run.sh verify fem           any command of pliant; paths are relative to where you are
set -euo pipefail
# shellcheck source=tools/setup.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/tools/setup.sh"

targets=(pliant)
[[ ${1-} != view ]] || targets+=(pliant-view) # a program of its own, because of Qt
setup "${targets[@]}"
if [[ $# -gt 0 ]]; then
    exec "$build/bin/pliant" "$@"
fi
# the demo: every scheme on one liver, poked by one tool, measured against a fine reference
exec "$build/bin/pliant" compare "$root/scenes/compare/poked_liver.scn" --out "$root/out/demo"
