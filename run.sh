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
# every scheme on one object, once there is such a scene; until then the cases with known answers
demo=$root/scenes/compare/poked_liver.scn
if [[ -f $demo ]]; then
    exec "$build/bin/pliant" compare "$demo" --out "$root/out/demo"
fi
say "running the cases with known answers; './run.sh --help' names the other commands"
exec "$build/bin/pliant" verify
