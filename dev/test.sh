#!/usr/bin/env bash
# Runs the tests and prints what they came to.
#   test.sh check    what is quick and launches little (minutes)
#   test.sh test     everything that CI runs
#   test.sh long     what takes longer than CI may
set -euo pipefail
source "$(dirname "$0")/env.sh"

case ${1:-test} in
  check) select=(-L '^(unit|passes|layers|catalog|quick)$' -LE '^long$') ;;
  test) select=(-LE '^long$') ;;
  long) select=(-L '^long$') ;;
  *) echo "usage: test.sh check|test|long" >&2; exit 2 ;;
esac

say "building the tests"
cmake --build "$build" --parallel "$jobs" --target all hocket_tests

log=$build/tests.log
say "ctest ${select[*]}"
failed=0
ctest --test-dir "$build" --parallel "$(nproc)" --output-on-failure --no-tests=error "${select[@]}" </dev/null 2>&1 | tee "$log" || failed=1

python_result="none"
if [[ $1 != long ]] && compgen -G 'tests/python/test_*.py' >/dev/null; then
  say "pytest"
  marks=(-m "not long")
  [[ $1 != check ]] || marks=(-m "not long and not slow")
  pytest "${marks[@]}" tests/python </dev/null 2>&1 | tee "$build/pytest.log" || failed=1
  python_result=$(grep -E '(passed|failed|error|no tests ran)' "$build/pytest.log" | tail -1 | tr -d '=' | xargs)
fi

say "closing"
python dev/closing_lines.py "$build" "$log"
echo "python: $python_result"
grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$log" || true
exit $failed
