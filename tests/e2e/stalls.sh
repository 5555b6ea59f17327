#!/usr/bin/env bash
# Planted stalls, each a program that knows its own truth, and controls without one: once each, with
# random seeds. STALL_TIMES=20 for make soak.
set -u
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - planted stalls # SKIP recording needs root and the program"
	exit 0
fi
here=$(cd "$(dirname "$0")" && pwd)
# On a disk: some stalls are the device's.
dir=$(mktemp -d "$(cd "$B" && pwd)/stalls-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
python3 "$here/stalls.py" --times "${STALL_TIMES:-1}" "$@"
