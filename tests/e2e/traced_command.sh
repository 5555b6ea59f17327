#!/usr/bin/env bash
# A command that requests to be traced (PTRACE_TRACEME), or traces others: its exit status, its signals and its
# end are those it has without tarry.
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
me="$PROGRAMS/traceme"
recorded() { # STATUS ARG... : the status of a recorded command, and what the file says
	local want=$1 r
	shift
	timeout -k 5 60 "$TARRY" record -q -o "$t/x.dat" "$@" 2>"$t/err"; r=$?
	[ $r = "$want" ] && "$TARRY" report "$t/x.dat" >"$t/out" 2>&1
	check "record ${*##*/}: status $want" $? "status $r: $(cat "$t/err")"
}

for way in exit handled trap exec thread thread-signal debugger; do
	recorded 7 -- "$me" $way
done
recorded 143 -- "$me" killed

# It stops itself for a tracer that is not there: said, and SIGCONT continues it.
for flow in "" --flow=step; do
	[ -z "$flow" ] || [ "$(uname -m)" = x86_64 ] || continue
	"$TARRY" record -q $flow -o "$t/x.dat" -- "$me" stop 2>"$t/err" & p=$!
	if [ -z "$flow" ]; then
		await 60 grep -q 'kill -CONT' "$t/err"; check "a command that stops itself after PTRACE_TRACEME: said, with what to do" $? "$(cat "$t/err")"
		c=$(pgrep -P $p | head -n 1)
		await 60 grep -q '^State:.T' "/proc/$c/status"; check "and it is stopped, as SIGSTOP has it" $? "$(grep State "/proc/$c/status")"
		kill -CONT "$c"
	fi
	wait $p; r=$?
	# Stepped, its tracer is the stepper: PTRACE_TRACEME fails, and it goes its way.
	is "a command that stops itself after PTRACE_TRACEME${flow:+ ($flow)}: its own status" "$([ -z "$flow" ] && echo 7 || echo 1)" $r
done

if command -v gdb >/dev/null; then
	recorded 7 -- gdb -batch -nx -return-child-result -ex run --args "$me" end
else
	skip "a debugger" "no gdb here"
fi
if command -v strace >/dev/null; then
	recorded 143 -- strace -f -o /dev/null sh -c 'kill -TERM $$'
	recorded 7 -- strace -f -D -o /dev/null "$me" end
else
	skip "strace" "not here"
fi
[ "$(uname -m)" != x86_64 ] || {
	# A stepped process cannot have another tracer; that is said.
	recorded 1 --flow=step -- "$me" debugger
	grep -q 'could not use ptrace' "$t/err"; check "--flow=step: that a command's debugger cannot trace is said" $? "$(cat "$t/err")"
}
echo "1..$n"
exit $bad
