#!/usr/bin/env bash
# Recording from a PMU with an AUX buffer through a real kernel's perf core, in an emulated machine
# (tests/rig). Needs the kernel that tests/rig/fetch gets (80 MB and more: `make soak` fetches it).
set -u
n=0
dir=${RIG_DIR:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/tarry-rig}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

machine() { # ARCHITECTURE QEMU SCRIPT WHAT BUILD [NAME=VALUE...]
	local why= failed=0 silent slow="too slow to come to an end here"
	n=$((n + 1))
	command -v "$2" >/dev/null || why="$2 is not installed"
	[ "$1" = x86_64 ] || command -v aarch64-linux-gnu-gcc >/dev/null || why="aarch64-linux-gnu-gcc is not installed"
	command -v busybox >/dev/null && command -v cpio >/dev/null || why="busybox or cpio is not installed"
	[ -s "$dir/$1/release" ] || why="no kernel here: tests/rig/fetch $1 gets one"
	if [ -n "$why" ]; then
		echo "ok $n - $4 # SKIP $why"
		return
	fi
	if ! tests/rig/build "$1" >"$log" 2>&1; then
		tail -n 5 "$log" | sed 's/^/# /'
		echo "not ok $n - $4: its programs can be built"
		return
	fi
	n=$((n - 1))
	timeout "${RIG_SECONDS:-800}" tests/rig/boot "$1" "tests/rig/$3" "B=$5" "${@:6}" >"$log" 2>&1
	failed=$?
	silent=$(($(date +%s) - $(stat -c %Y "$log")))
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*) n=$((n + 1)); echo "${line%%ok *}ok $n - $4: ${line#* - }" ;;
		'#'*) echo "$line" ;;
		esac
	done <"$log"
	grep -q '^1\.\.' "$log" && return
	n=$((n + 1))
	# What hangs in there is ended and reported by the script in there; a machine this slow proves nothing.
	if [ $failed = 124 ] && grep -q '^\(# \|ok \)' "$log"; then
		# No output from a machine that gives it (guest_e2e): it, not what is tested in it.
		grep -q '^alive' "$log" && [ $silent -gt 60 ] && slow="the emulated machine stood still for its last $silent s"
		echo "ok $n - $4: all of it # SKIP $slow"
	else
		tail -n 8 "$log" | sed 's/^/# /'
		echo "not ok $n - $4 came to no end"
	fi
}
# RIG_E2E: the name of an end-to-end test that is run in there instead, alone.
if [ -n "${RIG_E2E:-}" ]; then
	make --no-print-directory -s programs B="$B" >/dev/null 2>&1
	RIG_THREADS=single machine x86_64 qemu-system-x86_64 guest_e2e "on Linux 6.1" "$B" "E2E=$RIG_E2E"
	echo "1..$n"
	exit
fi
[ "$(uname -m)" != x86_64 ] || machine x86_64 qemu-system-x86_64 guest_pt "Intel PT on Linux 6.1" "$B"
# The cross build needs none of this machine's libraries, but minutes.
[ -z "${RIG_ALL:-}" ] && echo "ok $((n += 1)) - Arm SPE on Linux 6.1, arm64 # SKIP only in make soak" ||
	machine arm64 qemu-system-aarch64 guest_spe "Arm SPE on Linux 6.1, arm64" build/aarch64-linux-gnu
echo "1..$n"
