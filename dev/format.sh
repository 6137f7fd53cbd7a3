#!/usr/bin/env bash
# Formats everything the way `make lint` wants it.
set -euo pipefail
source "$(dirname "$0")/env.sh"
git ls-files -- '*.c' '*.h' '*.cpp' '*.hpp' | xargs -r clang-format -i
ruff check --quiet --fix python dev tests || true
ruff format --quiet python dev tests
