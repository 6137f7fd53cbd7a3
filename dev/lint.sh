#!/usr/bin/env bash
# Format and static checks. clang-tidy looks at the files changed since the branch left main (all: HOCKET_LINT_ALL=1).
set -euo pipefail
source "$(dirname "$0")/env.sh"
failed=0
check() {
  local name=$1
  shift
  if "$@"; then echo "lint: $name: ok"; else echo "lint: $name: FAILED"; failed=1; fi
}

c_files() { git ls-files -- '*.c' '*.h' '*.cpp' '*.hpp'; }
python_files=(python dev tests)

changed_sources() {
  local base=""
  if [[ ${HOCKET_LINT_ALL:-0} != 1 ]]; then
    base=$(git merge-base HEAD origin/main 2>/dev/null || true)
    if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then base=$(git rev-parse --verify -q HEAD~ || true); fi
  fi
  if [[ -n $base ]]; then git diff --name-only --diff-filter=d "$base" -- '*.c' '*.cpp'; else git ls-files -- '*.c' '*.cpp'; fi
}

# Only what the build compiles here has flags to be checked with (not, for example, another processor's code).
tidy() {
  local files
  files=$(changed_sources | python dev/compiled_files.py "$build/compile_commands.json")
  [[ -n $files ]] || return 0
  echo "clang-tidy: $(wc -l <<<"$files") files"
  xargs -d '\n' -P "$jobs" -n 2 clang-tidy -p "$build" --quiet <<<"$files" 2> >(grep -v -E 'warnings? (generated|treated)|^Suppressed|^Use -header-filter' >&2)
}

check clang-format bash -c 'xargs -r clang-format --dry-run -Werror' < <(c_files)
check clang-tidy tidy
check ruff ruff check --quiet "${python_files[@]}"
check "ruff format" ruff format --check --quiet "${python_files[@]}"
check mypy mypy
exit $failed
