#!/usr/bin/env bash
# Hocket beside every MPI that is installed, on 2, 4 and 8 ranks (50 minutes on 2 cores): the records replace those of
# the last time in bench/results, docs/performance.md is made from them. Each run of an MPI adds its records as it ends, so
# that a benchmark cut short leaves a page of what it has. Arguments are `hocket bench`'s.
set -euo pipefail
source "$(dirname "$0")/env.sh"
records=bench/results/$(nproc)-cores.jsonl
costs=bench/results/costs/$(nproc)-cores.jsonl
overlap=bench/results/nonblocking/$(nproc)-cores.jsonl
late=bench/results/nonblocking/$(nproc)-cores-late.jsonl
status=0
running=
interrupted=
mkdir -p bench/results
rm -f bench/results/*.jsonl "$costs" "$overlap" "$late"

# step COMMAND...: in the background, since a shell that waits for a child in front hears of signals too late
step() {
  [[ -z $interrupted ]] || return 0
  "$@" &
  running=$!
  wait "$running" || status=$?
  wait "$running" 2>/dev/null || true # a signal ends the first one early
}
trap 'interrupted=1; kill "$running"' INT TERM HUP

step hocket bench --costs -n 2,4,8 --out "$costs"
step python tests/drop_in/mpi4py_suite_time.py --family openmpi --prefix "$venv/opt" \
  --hocket-exec "$venv/bin/hocket-exec" --cache "$build/third_party" --out "$costs"
step hocket bench --nonblocking -n 2 --sizes 8,4K,64K,1M --out "$overlap"
step hocket bench bcast allreduce --nonblocking -n 2 --skew 500:0 --out "$late"
step hocket bench -n 2,4,8 --out "$records" "$@"
[[ ! -s $records ]] || hocket bench --render
exit "$status"
