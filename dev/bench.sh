#!/usr/bin/env bash
# Hocket beside every MPI that is installed, on 2, 4 and 8 ranks (about an hour on 2 cores): the records replace those of
# the last time in bench/results, docs/performance.md is made from them. Each run of an MPI adds its records as it ends, so
# that a benchmark cut short leaves a page of what it has. Arguments are `hocket bench`'s.
set -euo pipefail
source "$(dirname "$0")/env.sh"
records=bench/results/$(nproc)-cores.jsonl
costs=bench/results/costs/$(nproc)-cores.jsonl
status=0
mkdir -p bench/results
rm -f bench/results/*.jsonl "$costs"
measure() {
  hocket bench --costs -n 2,4,8 --out "$costs"
  for family in openmpi mpich; do
    python tests/drop_in/mpi4py_suite_time.py --family $family --prefix "$venv/opt" --hocket-exec "$venv/bin/hocket-exec" \
      --cache "$build/third_party" --out "$costs"
  done
  hocket bench -n 2,4,8 --out "$records" "$@"
}
measure "$@" &
bench=$!
trap 'kill "$bench"' INT TERM HUP
wait "$bench" || status=$?
wait "$bench" 2>/dev/null || true # a signal ends the first one early
[[ ! -s $records ]] || hocket bench --render
exit "$status"
