#!/usr/bin/env bash
# A limit on open files is named as such, whatever fails for it: each command does all of its work or says
# so at once, and never reports a file that it could not open as missing.
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
"$TARRY" record -q -o "$t/y.dat" -- "$PROGRAMS/syscall_loop" 1 2000
f="$t/y.dat" flow=()
if [ "$(uname -m)" = x86_64 ]; then
	"$TARRY" record -q --flow=step -o "$t/x.dat" -- "$PROGRAMS/syscall_loop" 1 20 2>/dev/null
	flow=("dump $t/x.dat flow" "report $t/x.dat flow")
fi
limited() { # LIMIT CMD...
	(ulimit -n "$1"; shift; exec "$@") >"$t/out" 2>"$t/err"
}
for cmd in "report $f" "dump $f" "dump $f syscalls" "${flow[@]}" "view $f --print" "export $f --to perf -o $t/e" doctor \
	"record -q -o $t/r.dat -- true" "record -q -a -d 100ms -o $t/r.dat" "record -q -p $$ -d 100ms -o $t/r.dat"; do
	rm -f "$t/e"
	"$TARRY" $cmd >"$t/want" 2>"$t/wanterr"; want=$? wrong='' refused=0 worked=0
	for k in 6 7 8 9 10 12 14 17 20 23 26 30 40 50 64 200; do
		rm -f "$t/e"
		limited $k "$TARRY" $cmd; r=$?
		if grep -q "the limit on open files is $k, but [0-9]* are needed" "$t/err"; then
			refused=1
			[ $r = 1 ] && [ ! -s "$t/out" ] && [ "$(wc -l <"$t/err")" = 1 ] && [ $worked = 0 ] || wrong="limit $k: status $r: $(cat "$t/err")"
		else
			worked=1
			case $cmd in
			record*|doctor) [ $r = $want ] && ! grep -qE 'no such process|is empty|[Tt]oo many' "$t/err" ;;
			*) [ $r = $want ] && cmp -s "$t/out" "$t/want" && cmp -s "$t/err" "$t/wanterr" ;;
			esac || wrong="limit $k: status $r: $(cat "$t/err")"
		fi
	done
	[ -z "$wrong" ] && [ $refused$worked = 11 ]
	check "${cmd//"$t"/T}: works, or names the limit" $? "$wrong (refused $refused, worked $worked)"
done
# The command has its own limit, though tarry raises its.
(ulimit -Sn 77; "$TARRY" record -q -o "$t/r.dat" -- sh -c 'ulimit -Sn' >"$t/out" 2>"$t/err")
is "the command's limit is as it was" 77 "$(cat "$t/out")"
echo "1..$n"
exit $bad
