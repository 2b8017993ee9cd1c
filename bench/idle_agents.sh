#!/usr/bin/env bash
# usage: bench/idle_agents.sh [AGENTS] [SECONDS]
#
# What does an agent at rest cost? Starts a development market, leaves it alone, and prints memory and CPU of one agent.
# The floor, in the same run: a client of the same program that waits, with the same libraries and no work.
set -euo pipefail

agents="${1:-20}"
seconds="${2:-40}"
bin="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/release/bin"
home="$(mktemp -d)"
export ABACUS_HOME="$home"
waiter=0
clean_up() {
  if ((waiter > 0)); then kill "$waiter" 2>/dev/null || true; fi
  "$bin/abacus" dev down >/dev/null 2>&1 || true
  rm -rf "$home"
}
trap clean_up EXIT

pids=()
ticks() { awk '{sum += $14 + $15} END {print sum}' "${pids[@]/%//stat}"; }
mean_of() { awk -v field="$1:" -v count="$2" '$1 == field {sum += $2} END {printf "%.1f", sum / count / 1024}' "${@:3}"; }

"$bin/abacus" dev up --agents "$agents" --regions a,b,c >/dev/null
job="$("$bin/abacus" submit --quiet -- sleep 600)"
"$bin/abacus" wait "$job" >/dev/null &
waiter=$!
while read -r pid; do pids+=("/proc/$pid"); done < <(pgrep -f "^$bin/abacus agent .*$home")
sleep 10
before="$(ticks)"
sleep "$seconds"
after="$(ticks)"
count="${#pids[@]}"
hertz="$(getconf CLK_TCK)"
echo "$count agents at rest for $seconds s, one agent:"
echo "  resident $(mean_of VmRSS "$count" "${pids[@]/%//status}") MiB, proportional $(mean_of Pss "$count" "${pids[@]/%//smaps_rollup}") MiB"
echo "  a waiting client of the same program: resident $(mean_of VmRSS 1 "/proc/$waiter/status") MiB"
awk -v used="$((after - before))" -v hertz="$hertz" -v n="$count" -v s="$seconds" \
  'BEGIN {printf "  CPU %.3f %% of a core\n", 100 * used / hertz / n / s}'
