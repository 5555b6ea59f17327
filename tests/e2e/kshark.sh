#!/usr/bin/env bash
# KernelShark's loader opens what tarry records, all buffers, with the same number of events.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
cd "$(dirname "$0")"
if [ ! -e /usr/include/kernelshark/libkshark.h ]; then
	skip "kernelshark's loader agrees" "libkshark-dev is not installed"
	exit 0
fi
gcc -D_GNU_SOURCE -o "$t/kshark_count" kshark_count.c $(pkg-config --cflags libtraceevent libtracefs) -lkshark || exit 1
same() { # NAME FILE MORE-THAN
	local ours theirs
	ours=$("$TARRY" report "$2" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["summary"]["events"])')
	theirs=$("$t/kshark_count" "$2")
	[ -n "$ours" ] && [ "$ours" = "$theirs" ] && [ "$ours" -gt "$3" ]
	check "$1" $? "tarry '$ours', kernelshark '$theirs', expected more than $3"
}
"$TARRY" record -q -o "$t/cmd.dat" -- find /usr/share/doc -maxdepth 1 >/dev/null
same "a command, two buffers" "$t/cmd.dat" 500
"$TARRY" record -q -a --duration 500ms -o "$t/all.dat"
same "the whole machine, one buffer" "$t/all.dat" 20
"$TARRY" record -q -o "$t/loop.dat" -- "$PROGRAMS/syscall_loop" 2 200000
same "a long loop on two CPUs" "$t/loop.dat" 800000
echo "1..$n"
