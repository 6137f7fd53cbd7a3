# Sourced by the scripts here: go to the root of the tree, put .venv first, forget variables that would change what is built.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
venv=$root/.venv
build=$root/build/dev
export PATH=$venv/bin:$PATH
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV LD_PRELOAD CC CXX CFLAGS CXXFLAGS LDFLAGS
jobs=${BUILD_JOBS:-$(nproc)} # HOCKET_ is for what the library reads: it refuses names that it does not know

say() { printf '%s\n' "== $*"; }
