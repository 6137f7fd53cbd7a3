#!/usr/bin/env bash
# Runs a command where the loopback device carries no more than a rate, so that messages over TCP take time in
# which the cores are free, as between nodes:
#   dev/shaped.sh 2gbit hocket bench alltoall --nonblocking --node-size 1 -n 2 --against debian
# Needs iproute2 and user namespaces, not root. Open MPI is told to use TCP.
set -euo pipefail
if [ $# -lt 2 ]; then
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 2
fi
rate=$1
shift
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
export SHAPED_LOOPBACK=$rate # hocket bench writes it into its records
# shellcheck disable=SC2016 # for the inner shell
exec unshare --map-root-user --net bash -c '
  rate=$1; shift
  ip link set lo up mtu 9000
  tc qdisc add dev lo root tbf rate "$rate" burst 64kb limit 64mb
  exec "$@"' shaped "$rate" "$@"
