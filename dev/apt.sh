#!/usr/bin/env bash
# Installs the packages of dev/apt.txt that are missing when it may (root), else prints the command that does it.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v dpkg-query >/dev/null || { echo "apt: not a Debian system; see dev/apt.txt for what is useful"; exit 0; }
missing=()
for package in $(grep -v '^#' dev/apt.txt); do
  dpkg-query -W -f '${Status}\n' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
((${#missing[@]})) || exit 0

if [[ $(id -u) == 0 ]]; then
  echo "apt: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } </dev/null >/dev/null ||
    echo "apt: could not install all of ${missing[*]}; going on without" >&2
else
  echo "apt: missing, as root run: apt-get install ${missing[*]}" >&2
fi
