#!/usr/bin/env bash
# Measures what the pages say, step by step. The records of a step replace those of the last time in bench/results, and the
# pages are made again from all that are there. docs/benchmark.md says what each step measures and how long it takes.
#   dev/bench.sh [STEP...]           costs blocking nonblocking nodes late progress loggp applications topology workers net; without a name: all
#   dev/bench.sh --quick [STEP...]   in small and under one MPI, into build/bench: shows that it works, its numbers say nothing
# Each command ends at its limit. What was measured until then, or until a signal, is kept.
set -euo pipefail
source "$(dirname "$0")/env.sh"
steps=(costs blocking nonblocking nodes late progress loggp applications topology workers net)
results=bench/results
docs=docs
machine=$(nproc)-cores
out= # of the step that runs
four=(alltoall allgather allreduce bcast)
in_small=()      # options of hocket bench, after a step's own: the last one counts
in_small_apps=()
in_small_loggp=()
in_small_topology=()
quick=
status=0
running=
interrupted=

if [[ ${1:-} == --quick ]]; then
  quick=1
  shift
  results=build/bench/results
  docs=build/bench
  in_small=(--against openmpi --seconds 0.01)
  in_small_apps=(--against openmpi --rounds 1)
  in_small_loggp=(--most 4K)
  in_small_topology=(--quick)
fi

# limited SECONDS COMMAND...: in the background, since a shell that waits for a child in front hears of signals too late
limited() {
  local limit=$1 result=0
  shift
  [[ -z $interrupted ]] || return 0
  timeout --kill-after=30 "$limit" "$@" &
  running=$!
  wait "$running" || result=$?
  wait "$running" 2>/dev/null || true # a signal ends the first one early
  [[ $result == 0 ]] || status=$result
  if [[ $result == 124 ]]; then say "ended at its limit of $limit s"; fi
}
trap 'interrupted=1; kill "$running"' INT TERM HUP

# fresh FOLDER ENDING: forgets the records of a step, of whatever machine; `out` is where the new ones go
fresh() {
  mkdir -p "$1"
  rm -f "$1"/*-cores"$2"
  out=$1/$machine$2
}

# Without it the step is left out, and its old records are kept: they are no worse for that.
can_shape() {
  dev/shaped.sh 2gbit true 2>/dev/null && return
  say "left out: dev/shaped.sh needs user namespaces, iproute2 and the kernel's token bucket filter"
  return 1
}

costs() {
  fresh "$results/costs" .jsonl
  limited 180 hocket bench --costs -n 2,4,8 --out "$out" "${in_small[@]}"
  [[ -z $quick ]] || return 0
  limited 1800 python tests/drop_in/mpi4py_suite_time.py --family openmpi --prefix "$venv/opt" \
    --hocket-exec "$venv/bin/hocket-exec" --cache "$build/third_party" --out "$out"
}

blocking() {
  local ranks=2,4,8
  [[ -z $quick ]] || ranks=2
  fresh "$results" .jsonl
  limited 5400 hocket bench -n "$ranks" --out "$out" "${in_small[@]}"
}

nonblocking() {
  fresh "$results/nonblocking" .jsonl
  limited 200 hocket bench "${four[@]}" --nonblocking -n 2 --sizes 8,4K,64K,512K,4M --tests 0,8 --out "$out" \
    "${in_small[@]}"
  limited 280 hocket bench "${four[@]}" --nonblocking -n 4 --sizes 8,4K,64K,512K --tests 0,8 --out "$out" \
    "${in_small[@]}"
  limited 60 hocket bench alltoall --nonblocking -n 8 --sizes 4K,64K,512K --tests 0 --seconds 0.5 --out "$out" \
    --against openmpi "${in_small[@]}"
}

nodes() {
  can_shape || return 0
  fresh "$results/nonblocking" -nodes.jsonl
  limited 240 dev/shaped.sh 2gbit hocket bench "${four[@]}" --nonblocking -n 2 --sizes 8,4K,64K,512K,4M --tests 0,8 \
    --node-size 1 --progress thread --against openmpi --out "$out" "${in_small[@]}"
}

late() {
  fresh "$results/nonblocking" -late.jsonl
  limited 120 hocket bench bcast allreduce --nonblocking -n 2 --skew 500:0 --out "$out" "${in_small[@]}"
  limited 60 hocket bench bcast --nonblocking -n 2 --skew 500:0 --against openmpi --gantt "$docs/late-rank.png"
}

progress() {
  fresh "$results/nonblocking" -progress.jsonl
  limited 180 hocket bench allreduce alltoall --nonblocking -n 2 --sizes 8,512K --tests 0,8 --progress calls,thread,auto \
    --out "$out" "${in_small[@]}"
}

loggp() {
  fresh "$results/loggp" .json
  limited 90 hocket loggp -n 2 --against openmpi --out "$out" "${in_small_loggp[@]}"
  can_shape || return 0
  fresh "$results/loggp" -2gbit.json
  limited 150 env HOCKET_NODE_SIZE=1 dev/shaped.sh 2gbit hocket loggp -n 2 --against openmpi --out "$out" \
    "${in_small_loggp[@]}"
}

# between_nodes LIMIT RATE [APPLICATION...]: both sides in turns, A B B A
between_nodes() {
  local limit=$1 rate=$2
  shift 2
  limited "$limit" dev/shaped.sh "$rate" hocket bench "$@" --applications -n 2 --node-size 1 --progress thread \
    --rounds 2 --against openmpi --out "$out" "${in_small_apps[@]}"
}

# on_one_node RANKS: of which 4 share 2 cores, as in containers and on laptops. A limit for each MPI: what is slow under one
# must not leave the other out.
on_one_node() {
  local mpi
  for mpi in openmpi mpich; do
    limited 300 hocket bench --applications -n "$1" --rounds 2 --against "$mpi" --out "$out" "${in_small_apps[@]}"
  done
}

# The others, where they are installed, with a core for each rank
under_other_mpis() {
  local mpi
  [[ -z $quick ]] || return 0
  for mpi in intel debian; do
    limited 300 hocket bench --applications -n 2 --rounds 2 --against "$mpi" --out "$out" "${in_small_apps[@]}"
  done
}

# Four ranks a core under an MPI whose waits keep the core
many_on_one_node() {
  limited 120 hocket bench compress --applications -n 8 --rounds 2 --against mpich --out "$out" "${in_small_apps[@]}"
}

applications() {
  fresh "$results/applications" .jsonl
  on_one_node 2
  on_one_node 4
  many_on_one_node
  under_other_mpis
  can_shape || return 0
  between_nodes 240 20gbit
  between_nodes 240 2gbit
  between_nodes 150 500mbit poisson_cg
}

# It makes labs, which need what shaping needs. All experiments, what is judged first: the limit cuts off the rest.
topology() {
  can_shape || return 0
  fresh "$results/topology" -setup.jsonl
  fresh "$results/topology" .jsonl
  limited 21600 hocket bench --topology --out "$out" "${in_small_topology[@]}"
}

# In labs likewise
workers() {
  can_shape || return 0
  fresh "$results/workers" .jsonl
  fresh "$results/workers" -metadata.jsonl
  fresh "$results/workers" -applications.jsonl
  out=$results/workers/$machine.jsonl
  limited 3600 hocket bench --workers --out "$out" "${in_small_topology[@]}"
}

# In labs whose switches aggregate
net() {
  can_shape || return 0
  fresh "$results/net" .jsonl
  fresh "$results/net" -bytes.jsonl
  fresh "$results/net" -stages.jsonl
  fresh "$results/net" -registration.jsonl
  out=$results/net/$machine.jsonl
  limited 5400 hocket bench --net --out "$out" "${in_small_topology[@]}"
}

is_step() { [[ " ${steps[*]} " == *" $1 "* ]]; }

for name in "$@"; do
  is_step "$name" || { echo "no step named '$name'; there are: ${steps[*]}" >&2; exit 2; }
done
[[ $# == 0 ]] || steps=("$@")
mkdir -p "$results" "$docs"
for name in "${steps[@]}"; do
  [[ -z $interrupted ]] || break
  say "$name"
  started=$SECONDS
  "$name"
  say "$name: $((SECONDS - started)) s"
done
hocket bench --render --results "$results" --page "$docs/performance.md"
exit "$status"
