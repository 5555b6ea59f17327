# Sourced by end-to-end tests: wait for what is needed, and fail when it does not come. SLOWER: how many
# times as long as on an ordinary machine (an emulated one, tests/rig).
await() { # SECONDS CMD...: until it succeeds
	local end=$((SECONDS + $1 * ${SLOWER:-1}))
	until "${@:2}" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}
tracing() { # PID of a recorder: its instances are there and on
	local f
	for f in /sys/kernel/tracing/instances/tarry-"$1"-*/tracing_on; do
		[[ $f != *idletest* ]] && [ -e "$f" ] && [ "$(cat "$f")" = 1 ] || return 1
	done
}
recording() { # PID FILE: its recorder has begun, and has read /proc, after which the file gets its name
	tracing "$1" && [ -e "$2" ]
}
