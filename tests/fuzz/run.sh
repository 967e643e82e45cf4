#!/usr/bin/env bash
# Builds every fuzz target with clang's ASan and UBSan and runs each on its corpus; fails on the first crash.
#
#   tests/fuzz/run.sh [SECONDS_PER_TARGET]    12 by default: a minute in all
#
# A crash leaves its input in build-fuzz/crashes/<target>/ and the command that replays it on the screen. New inputs
# that the fuzzer finds go to build-fuzz/corpus/, not into the repository. TESON_FUZZ_BUILD names another build folder.
set -euo pipefail

seconds=${1:-12}
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: tests/fuzz/run.sh [SECONDS_PER_TARGET], a whole number from 1 up, not '$seconds'" >&2
  exit 2
fi
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${TESON_FUZZ_BUILD:-$root/build-fuzz}

if [[ ! -f $build/build.ninja ]]; then
  (cd "$root" && cmake --preset fuzz -B "$build" >/dev/null)
fi
cmake --build "$build" --target fuzz_all

failed=0
for seeds in "$here"/corpus/*/; do
  target=$(basename "$seeds")
  program=$build/tests/fuzz/fuzz_$target
  found=$build/corpus/$target
  crashes=$build/crashes/$target
  mkdir -p "$found" "$crashes"
  printf '%-16s ' "$target"
  log=$build/corpus/$target.log
  if "$program" "$found" "$seeds" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=2048 -max_len=8192 \
    -artifact_prefix="$crashes/" -print_final_stats=1 >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$runs runs, no failure"
  else
    failed=1
    echo "FAILED"
    tail -n 40 "$log" >&2
    echo "replay: $program $crashes/<file>" >&2
    break
  fi
done
exit $failed
