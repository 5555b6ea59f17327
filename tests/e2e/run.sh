#!/usr/bin/env bash
# What tests/run itself says: how far it is, and at its end each test that failed or was skipped.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir -p "$out/tests/unit" "$out/tests/e2e"
cp tests/run "$out/tests"
script() { # NAME LINES...
	{ echo '#!/bin/sh'; printf '%s\n' "${@:2}"; } >"$out/tests/e2e/$1.sh"
	chmod +x "$out/tests/e2e/$1.sh"
}
last() { sed -n '$p' "$out/said"; }
script a 'echo "ok 1 - first"; echo "ok 2 - second # SKIP no such machine"; echo 1..2'
script b 'echo "not ok 1 - third"; echo "# seen there"; echo "ok 2 - fourth"; seq 100; echo 1..2; exit 1'
script c 'echo "ok 1 - fifth"; exit 3'
script d 'echo "ok 1 - sixth"; echo 1..3'
script e 'sleep 60'
TEST_SECONDS=2 "$out/tests/run" >"$out/said" 2>&1
is "a failed test fails the run" 1 $?
for k in a b c d e; do
	i=$((${i:-0} + 1))
	grep -q "^$i of 5: $k: " "$out/said"
	check "$k is the ${i}th of 5" $? "$(cat "$out/said")"
done
grep -q '^ *# seen there$' "$out/said"
check "what was seen of a failure is shown, however far above the end" $? "$(cat "$out/said")"
is "the skipped test is named again" "  a: second (skipped: no such machine)" "$(sed -n '/^skipped:$/,/^failed:$/p' "$out/said" | sed -n 2p)"
is "and those that failed" "  b: third
  c ended with status 3
  d: the plan says 3, 1 results were seen
  e took too long" "$(sed -n '/^failed:$/,$p' "$out/said" | sed '1d; $d')"
is "the last line is alone" "4 passed, 4 failed, 1 skipped" "$(last)"
"$out/tests/run" a >"$out/said" 2>&1
is "a run without failures" "0 1 passed, 0 failed, 1 skipped" "$? $(last)"
! grep -q '^failed:' "$out/said"
check "names none" $? "$(cat "$out/said")"
"$out/tests/run" nonesuch >"$out/said" 2>&1
is "a test that does not exist" "1 0 passed, 1 failed, 0 skipped" "$? $(last)"
# Two that wait for each other: one says that it may run beside others; and one that is to be alone.
script f '# Lane: beside' ': >f; until [ -e g ]; do sleep 0.05; done' 'echo "ok 1 - seventh"; echo 1..1; : >f.over'
script g ': >g; until [ -e f ]; do sleep 0.05; done' 'echo "ok 1 - eighth"; echo 1..1; : >g.over'
script A '# Lane: alone' '[ -e f.over ] && [ -e g.over ] && echo "ok 1 - ninth"; echo 1..1'
sed -i "2i cd '$out'" "$out/tests/e2e/"[fgA].sh
TEST_SECONDS=20 "$out/tests/run" A f g >"$out/said" 2>&1
is "scripts that may run beside others do, those that are to be alone are" "0 3 passed, 0 failed, 0 skipped" "$? $(last)"
grep -q '^3 of 3: A: ' "$out/said"
check "and come last" $? "$(cat "$out/said")"
# What a sanitizer reports fails the run, also where the test itself saw nothing of it.
cp tests/sanitized "$out/tests"
script s 'case $TARRY in */build/asan/tarry) echo "ok 1 - tenth" ;; esac' 'echo planted report >"${UBSAN_OPTIONS##*log_path=}.1"' 'echo 1..1'
"$out/tests/sanitized" s >"$out/said" 2>&1
is "a sanitizer's report fails the run" "1 1 passed, 1 failed, 0 skipped" "$? $(last)"
is "and is shown" "  planted report" "$(sed -n '/^sanitizers:$/{n;p;}' "$out/said")"
"$out/tests/sanitized" a >"$out/said" 2>&1
is "without a report it passes" "0 1 passed, 0 failed, 1 skipped" "$? $(last)"

echo "1..$n"
exit $bad
