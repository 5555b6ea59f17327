#!/usr/bin/env bash
# Which files of tracefs the recorder touches: never those of the function tracer (a container may forbid
# them, and other people's recordings live there), and of the top level nothing but the list of probes for
# writing.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
out() { echo "1..$n"; exit $bad; }
command -v strace >/dev/null || { skip "files of tracefs" "no strace"; out; }
"$TARRY" record -q -o "$T/t" -- true 2>/dev/null || { skip "files of tracefs" "recording does not work here"; out; }
root=$(sed -n 's/^[^ ]* \([^ ]*\) tracefs .*/\1/p' /proc/mounts | head -n 1)
# As they are called in an instance or at the top level.
tracer='(set_ftrace_(filter|notrace|pid|notrace_pid)|set_graph_(function|notrace)|available_filter_functions(_addrs)?|enabled_functions|touched_functions|(current|available)_tracers?|function_profile_enabled|dyn_ftrace_total_info|max_graph_depth|stack_(trace|max_size|trace_filter)|options/func[a-z_-]*)'
files() { # NAME CMD...: touched files of tracefs into $T/NAME, one line per call
	local name=$1 root_re=${root//./\\.}
	shift
	strace -f -y -qq -e trace=%file,openat,openat2 -o "$T/strace" "$@" >"$T/said" 2>&1
	# Absolute paths, and those relative to a directory of tracefs.
	grep -E "\"$root_re/|<$root_re" "$T/strace" >"$T/$name"
}
check_files() { # NAME
	local hits
	hits=$(grep -E "[\"/]$tracer\"" "$T/$1")
	[ -z "$hits" ]
	check "$1: no file of the function tracer is touched" $? "$hits"
	hits=$(grep -E 'O_(WRONLY|RDWR)' "$T/$1" | grep -vE "$root/(instances/tarry-|uprobe_events\")")
	[ -z "$hits" ]
	check "$1: nothing of the top level but the list of probes is opened for writing" $? "$hits"
}
files command "$TARRY" record -q -o "$T/t" -- true
check_files command
files all "$TARRY" record -q -a --no-strings -o "$T/t" -- sleep 0.1
check_files all
files filter "$TARRY" record -q -e 'sched:sched_stat_runtime:runtime > 1' -o "$T/t" -- true
check_files filter
files refused "$TARRY" record -q -e 'sched:sched_switch:none == 1' --no-sched -o "$T/t" -- true
passes "a filter that is refused is told with the kernel's words" grep -q 'Field not found' "$T/said"
check_files refused
files doctor "$TARRY" doctor
check_files doctor
# All this would hold of a program that touches nothing, or whose files strace does not show.
for f in 'instances/tarry-[^/"]*"' trace_pipe_raw sched_switch/enable options/event-fork set_event_pid tracing_on; do
	passes "the files of a recording are seen: ${f%%[*}" grep -qE "$f" "$T/command"
done
out
