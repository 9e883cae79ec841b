# shellcheck shell=bash
# Shared by run.sh and test.sh: installs what is missing, configures, builds. Sourced, never run.
# Everything it says goes to stderr, so that `./run.sh ... --json -` leaves only JSON on standard output.
#
# PLIANT_BUILD_DIR  another build folder than build/       PLIANT_JOBS  compiler and test jobs, default: all cores

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd -P)
build=${PLIANT_BUILD_DIR:-$root/build}
jobs=${PLIANT_JOBS:-$(nproc 2>/dev/null || echo 2)}

say() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

# One configuration for both commands, so that they share one build folder; only running the tests needs more.
needed_packages() {
    local list=(gcc g++ libc6-dev cmake ninja-build python3 libtinyxml2-dev libtomlplusplus-dev libsuitesparse-dev zlib1g-dev libgtest-dev)
    [[ ! -f $root/src/viewer/CMakeLists.txt ]] || list+=(qtbase5-dev)
    if [[ $(basename "$0") == test.sh ]]; then
        # reads our meshes independently; the style of the code; reference pages; how others find the library; pliant mesh
        list+=(python3-meshio clang-format clang-tidy doxygen pkg-config gmsh parallel)
        # the Python package: arrays, tables, plots, wheels
        list+=(python3-numpy python3-pandas python3-matplotlib python3-pip python3-setuptools python3-wheel)
        [[ ! -f $root/tests/viewer/CMakeLists.txt ]] || list+=(xvfb xauth)
    fi
    printf '%s\n' "${list[@]}"
}

install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        say "this is not a Debian machine: using the compiler, CMake, Ninja and libraries that are there"
        return
    fi
    local package missing=() as_root=()
    while read -r package; do
        [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || missing+=("$package")
    done < <(needed_packages)
    [[ ${#missing[@]} -gt 0 ]] || return 0

    if [[ $(id -u) -ne 0 ]]; then
        command -v sudo >/dev/null ||
            fail "these packages are missing and there is no sudo: run as root 'apt-get install ${missing[*]}', then again"
        as_root=(sudo)
        [[ -t 0 ]] || as_root+=(-n) # nobody is there to type a password
    fi
    say "installing Debian packages, with what they depend on: ${missing[*]}"
    mkdir -p "$build"
    local log=$build/packages.log
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
    # a failed update is no reason to stop: the lists may be good enough, and install says what it lacks
    if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } </dev/null >"$log" 2>&1 &&
        ! "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null >>"$log" 2>&1; then
        tail -n 15 "$log" >&2
        fail "the packages could not be installed (network down, or no permission?); the whole log is $log"
    fi
}

configure() {
    local cache=$build/CMakeCache.txt options=(-DPLIANT_TESTS=ON) version
    if [[ -f $cache ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache"; then
        grep -qxF "CMAKE_PROJECT_NAME:STATIC=Pliant" "$cache" || fail "$build is the build folder of something else: set PLIANT_BUILD_DIR to another"
        say "the source folder has moved: emptying $build"
        rm -rf "$build"
    fi
    # Warnings are errors with the compiler of Debian 12. A newer one may know new warnings, which must not stop a user.
    version=$("${CC:-gcc}" -dumpversion 2>/dev/null || true)
    if [[ ${version%%.*} == 12 ]]; then options+=(-DPLIANT_WERROR=ON); else options+=(-DPLIANT_WERROR=OFF); fi

    mkdir -p "$build"
    local log=$build/configure.log
    if ! cmake -S "$root" -B "$build" -G Ninja "${options[@]}" >"$log" 2>&1; then
        tail -n 25 "$log" >&2
        fail "CMake could not configure the build; the whole log is $log"
    fi
    # which parts are on and why the others are off: said once, and again when it changes
    sed -n 's/^-- //; /^Pliant /,/^$/p' "$log" >"$build/summary.new"
    cmp -s "$build/summary.new" "$build/summary.txt" || cat "$build/summary.new" >&2
    mv -f "$build/summary.new" "$build/summary.txt"
}

# build_targets TARGET...
build_targets() {
    local ninja=(ninja -C "$build" -j "$jobs") log=$build/build.log
    if [[ -t 2 ]]; then
        "${ninja[@]}" "$@" >&2 || fail "the build failed; the compiler's messages are above"
        return
    fi
    [[ -x $build/bin/pliant ]] || say "building in $build"
    if ! "${ninja[@]}" --quiet "$@" >"$log" 2>&1; then
        cat "$log" >&2
        fail "the build failed; the compiler's messages are above"
    fi
}

setup() {
    install_packages
    configure
    build_targets "$@"
}
