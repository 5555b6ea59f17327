#!/usr/bin/env bash
# After a full disk or an output that cannot be written, what is said is true of the files that exist.
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'umount "$t/small" 2>/dev/null; rm -rf "$t"' EXIT
f=$t/x.dat
"$TARRY" record -q -o "$f" -- "$PROGRAMS/syscall_loop" 1 100000

# standard output
for cmd in "report $f --no-index" "report $f --json --no-index" "dump $f" "dump $f syscalls --json" "view $f --print" doctor \
	--help --version "help report"; do
	"$TARRY" $cmd >/dev/full 2>"$t/err"; r=$?
	[ $r = 1 ] && grep -q 'standard output: write failed: No space left' "$t/err"
	check "${cmd/"$t"/T} to a full disk: said, status 1" $? "status $r: $(cat "$t/err")"
	"$TARRY" $cmd 2>"$t/err" | true
	[ ! -s "$t/err" ]; check "${cmd/"$t"/T} to a reader that goes away: nothing to be said" $? "$(cat "$t/err")"
done

mkdir "$t/small" && mount -t tmpfs -o size=64k tmpfs "$t/small" 2>/dev/null
if mountpoint -q "$t/small"; then
	for size in 64k $(($(stat -c %s "$f") * 3 / 2)); do
		mount -o remount,size=$size "$t/small"
		for form in dat perf; do
			"$TARRY" export "$f" --to $form -o "$t/small/out" 2>"$t/err"; r=$?
			if [ $r = 0 ]; then
				[ $size != 64k ] && [ -s "$t/small/out" ]
			else
				[ $r = 1 ] && [ -z "$(ls -A "$t/small")" ] && grep -qE 'No space left|needs .* free' "$t/err" && ! grep -q 'stays\|readable' "$t/err"
			fi
			check "export --to $form, room for $size: nothing is left, and none is promised" $? "status $r: $(cat "$t/err"); $(ls -lA "$t/small")"
			rm -f "$t"/small/*
		done
	done
	# no room for an index: the report is whole, and no half index is left
	cp "$f" "$t/small/"; mount -o remount,size=$(($(stat -c %s "$f") + 65536)) "$t/small"
	XDG_CACHE_HOME=$t/small/c "$TARRY" report "$t/small/x.dat" >"$t/out" 2>"$t/err"; r=$?
	"$TARRY" report "$f" --no-index >"$t/want" 2>"$t/wanterr"
	[ $r = 0 ] && diff <(grep -v '^file ' "$t/out" | sed "s|$t/small/|$t/|") <(grep -v '^file ' "$t/want") >"$t/diff"
	check "no room for an index: the report is the same" $? "status $r: $(cat "$t/err" "$t/diff")"
	[ -z "$(find "$t/small" -name '*tarry-index*')" ]; check "and no part of an index is left" $? "$(ls -laR "$t/small")"
	rm -rf "${t:?}/small/"* "$t/small/".[!.]*

	# --keep: room for a part of what is kept. What was recorded until then is there, and is said to be.
	mount -o remount,size=512k "$t/small"
	"$TARRY" record -q --keep 1h -o "$t/small/k.dat" -- "$PROGRAMS/numbered_calls" 200000 4000 2>"$t/err"; r=$?
	[ $r = 1 ] && [ "$(grep -c 'No space left on device' "$t/err")" = 1 ] &&
		grep -q "the part recorded until then (.* s) is in $t/small/k.dat and can be read" "$t/err" &&
		"$TARRY" dump "$t/small/k.dat" syscalls >"$t/out" 2>"$t/err2" && [ "$(grep -c lseek "$t/out")" -gt 1000 ] &&
		[ "$(ls -A "$t/small")" = k.dat ]
	check "record --keep on a full disk: the part that is there is named, and can be read" $? "status $r: $(cat "$t/err" "$t/err2"); $(ls -lA "$t/small")"
	rm -f "${t:?}/small/"*

	# What the timeline writes is whole, or not there and the screen says why.
	for form in txt json dat; do
		for size in 16k 64m; do
			mount -o remount,size=$size "$t/small"
			python3 "${0%/*}/view_export.py" "$TARRY" "$f" "$t/small/e.$form" >"$t/screen" 2>&1
			if [ $size = 16k ]; then
				grep -aqE 'No space left|are free' "$t/screen" && [ -z "$(ls -A "$t/small")" ]
			else
				[ -s "$t/small/e.$form" ] && ! grep -aq 'No space left' "$t/screen"
			fi
			check "the timeline's export to .$form, room for $size: true of the file" $? "$(ls -lA "$t/small"; cat -v "$t/screen" | tail -c 600)"
			rm -f "${t:?}/small/"*
		done
	done
	umount "$t/small"
else
	skip "a full disk" "cannot mount a tmpfs"
fi
echo "1..$n"
exit $bad
