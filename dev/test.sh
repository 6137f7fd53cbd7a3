#!/usr/bin/env bash
# Runs the tests and prints what they came to.
#   test.sh check    what is quick and launches little (minutes)
#   test.sh test     everything that CI runs
#   test.sh long     what takes longer than CI may
set -uo pipefail
source "$(dirname "$0")/env.sh"
extent=${1:-test}
failed=0
# libfabric, which Open MPI asks for networks that no test needs, sleeps for a second in every process that starts.
export OMPI_MCA_btl=${OMPI_MCA_btl:-^ofi}

case $extent in
  check) select=(-L '^(unit|passes|layers|catalog|quick)$' -LE '^long$') ;;
  test) select=(-LE '^long$') ;;
  long) select=(-L '^long$') ;;
  *) echo "usage: test.sh check|test|long" >&2; exit 2 ;;
esac

# run_ctest BUILD-FOLDER SELECTION...: its output also goes to BUILD-FOLDER/tests.log
run_ctest() {
  local folder=$1
  shift
  ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --no-tests=error "$@" </dev/null 2>&1 |
    tee "$folder/tests.log"
}

summary() { grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$1" || echo "no result"; }

native() {
  say "building the tests"
  cmake "$build" >/dev/null || return 1 # an MPI may have come since the last time
  cmake --build "$build" --parallel "$jobs" --target all hocket_tests || return 1
  say "ctest ${select[*]}"
  run_ctest "$build" "${select[@]}"
}

has_tests() { ctest --test-dir "$1" -N -L "^$2\$" | grep '^ *Test *#' >/dev/null; }

# sanitized PRESET LABEL...: the programs of these labels once more, under a sanitizer
sanitized() {
  local preset=$1 folder=$root/build/$1 labels targets label
  shift
  labels="^($(IFS='|'; echo "$*"))\$"
  targets=("${@/#/hocket_tests.}")
  say "$preset: $*"
  mkdir -p "$folder"
  : >"$folder/tests.log"
  cmake --preset "$preset" -DHOCKET_MPI_PREFIX="$venv/opt" >"$folder/configure.log" || { cat "$folder/configure.log"; return 1; }
  cmake --build "$folder" --parallel "$jobs" --target "${targets[@]}" || return 1
  for label in "$@"; do
    has_tests "$folder" "$label" || { echo "no test has the label $label"; return 1; }
  done
  run_ctest "$folder" -L "$labels" -LE '^(long|layers)$'
}

python_tests() {
  local marks=(-m "not long")
  [[ $extent != check ]] || marks=(-m "not long and not slow")
  say "pytest"
  pytest "${marks[@]}" -n "$jobs" --dist loadgroup tests/python </dev/null 2>&1 | tee "$build/pytest.log"
}

mkdir -p "$build"
: >"$build/tests.log"
native || failed=1
if [[ $extent != long ]]; then python_tests || failed=1; fi
if [[ $extent == test ]]; then
  sanitized asan-ubsan unit semantics passes differential transport fault fuzz || failed=1
  sanitized tsan threads || failed=1
fi

say "closing"
python dev/closing_lines.py "$build" "$build/tests.log"
if [[ $extent == test ]]; then
  echo "address and undefined-behaviour sanitizers: $(summary build/asan-ubsan/tests.log)"
  echo "thread sanitizer: $(summary build/tsan/tests.log)"
fi
if [[ $extent != long ]]; then
  echo "python: $(grep -E '(passed|failed|error|no tests ran)' "$build/pytest.log" | tail -1 | tr -d '=' | xargs)"
fi
summary "$build/tests.log"
exit $failed
