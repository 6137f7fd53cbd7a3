#!/usr/bin/env bash
# Format and static checks. clang-tidy looks at the files changed since the branch left main (all: LINT_ALL=1), at a header
# through a source that includes it.
set -euo pipefail
source "$(dirname "$0")/env.sh"
failed=0
check() {
  local name=$1
  shift
  if "$@"; then echo "lint: $name: ok"; else echo "lint: $name: FAILED"; failed=1; fi
}

c_patterns=('*.c' '*.h' '*.cpp' '*.hpp')
c_files() { git ls-files -- "${c_patterns[@]}"; }
python_files=(python dev tests)

changed_files() {
  local base=""
  if [[ ${LINT_ALL:-0} != 1 ]]; then
    base=$(git merge-base HEAD origin/main 2>/dev/null || true)
    if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then base=$(git rev-parse --verify -q HEAD~ || true); fi
  fi
  if [[ -n $base ]]; then git diff --name-only --diff-filter=d "$base" -- "${c_patterns[@]}"; else c_files; fi
}

# C is as in libc: tags are lower case.
c_config='{InheritParentConfig: true, CheckOptions: {readability-identifier-naming.StructCase: lower_case,
  readability-identifier-naming.EnumCase: lower_case, readability-identifier-naming.UnionCase: lower_case}}'

run_tidy() {  # run_tidy OPTION...: file names on standard input
  xargs -r -d '\n' -P "$jobs" -n 1 clang-tidy -p "$build/lint" --quiet "$@" \
    2> >(grep -v -E 'warnings? (generated|treated)|^Suppressed|^Use -header-filter|Processing file' >&2)
}

tidy() {
  local files status=0
  files=$(changed_files | python dev/compile_once.py "$build/compile_commands.json" "$build/lint") || return 1
  sed '/\.c$/d; /^$/d' <<<"$files" | run_tidy || status=1
  sed -n '/\.c$/p' <<<"$files" | run_tidy --config="$c_config" || status=1
  return $status
}

check clang-format bash -c 'xargs -r clang-format --dry-run -Werror' < <(c_files)
check clang-tidy tidy
check ruff ruff check --quiet "${python_files[@]}"
check "ruff format" ruff format --check --quiet "${python_files[@]}"
check mypy mypy
exit $failed
