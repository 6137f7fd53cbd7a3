#!/usr/bin/env bash
# Hocket beside every MPI that is installed, 2, 4 and 8 ranks; the records go to bench/results, docs/performance.md is made from them.
# Arguments are `hocket bench`'s.
set -euo pipefail
source "$(dirname "$0")/env.sh"
mkdir -p bench/results
rm -f bench/results/two-cores.jsonl
hocket bench -n 2,4,8 --out bench/results/two-cores.jsonl "$@"
hocket bench --render
