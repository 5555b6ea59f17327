#!/usr/bin/env bash
# Levels of calls, and the end of a filter's function, whatever programs do to their stacks: programs with
# known answers, single-stepped.
# Lane: beside
set -u
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/tap.bash"
ok_if() { check "$2" "$1"; } # STATUS NAME, which may tell what a command says
finish() { echo "1..$n"; exit $bad; }

known() { # NAME FILTER CHECK COMMAND...
	"$TARRY" record -q --flow=step --flow-filter "$2" -o "$out/t.dat" "${@:4}" >"$out/said" 2>"$out/err"
	sed 's/^/# /' "$out/err"
	"$TARRY" dump "$out/t.dat" flow --calls --json >"$out/c"
	python3 tests/e2e/flow_calls.py "$3" "$out/c" "$out/said"
	ok_if $? "$1"
}
levels() { known "levels: $1" "$2" levels "$PROGRAMS/call_traps" "$3"; }

if [ "$(uname -m)" != x86_64 ] || [ "$(id -u)" -ne 0 ]; then
	skip "software branch tracer" "needs root and an x86-64 machine"
	finish
elif ! "$TARRY" dump flow --pt-raw /dev/null 2>&1 | grep -q 'regular file'; then
	skip "calls" "this tarry was built without Intel PT decoding"
	finish
elif ! strace -o /dev/null true 2>"$out/err" || ! "$TARRY" record -q -o "$out/t.dat" -- true 2>"$out/err"; then
	skip "calls" "nothing can be traced here: $(head -n 1 "$out/err")"
	finish
fi
ends() {
	local cxx
	known "a filter's function ends by returns, longjmp, out of handlers, with its coroutine" traced ends "$PROGRAMS/func_ends"
	cxx=$(command -v g++ || command -v clang++)
	if [ -z "$cxx" ]; then
		skip "levels: C++ exceptions" "no C++ compiler"
		return
	fi
	"$cxx" -O2 -g -o "$out/throws" tests/programs/call_throws.cc
	ok_if $? "call_throws.cc is compiled"
	known "levels: C++ exceptions: destructors, caught and thrown again, out of a recursion" main throws "$out/throws"
	known "a filter's function ends by an exception" cleans cleans "$out/throws"
}
aside ends # stepping waits most of the time
levels "signals: nested, on another stack, left by siglongjmp, going on elsewhere" main s
levels "longjmp out of a recursion to one of its levels" main l
levels "stacks switched by swapcontext, by a return, by a jump" main c
levels "contexts that come to their end" main e
levels "PLT, bound at the first call" main p
LD_BIND_NOW=1 levels "PLT, bound at the start" main p
levels "zero-length calls, retpolines, returns as jumps, jumps as returns" main o
levels "tail calls" main t
levels "vfork and exec" main v
levels "all of it in three threads at once" thread_main Tslcepot
joined
finish
