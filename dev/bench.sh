#!/usr/bin/env bash
# Hocket beside every MPI that is installed; results go to bench-results/. Arguments are `hocket bench`'s.
set -euo pipefail
source "$(dirname "$0")/env.sh"
exec hocket bench --against openmpi,mpich,intel "$@"
