#!/usr/bin/env bash
# What tests/fuzz/run says: every fuzzer runs to its end whatever the others do, and the table tells what
# each did. The fuzzers, their seeds and the compiler are stand-ins.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
[ -x /usr/bin/time ] || { echo "ok 1 - the fuzzers' table # SKIP /usr/bin/time is not installed"; exit 0; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
b=$out/build/fuzz
mkdir -p "$out/tests/fuzz" "$b/fuzz" "$out/bin"
cp tests/fuzz/run "$out/tests/fuzz"
program() { # FILE LINES...
	{ echo '#!/bin/sh'; printf '%s\n' "${@:2}"; } >"$1"
	chmod +x "$1"
}
program "$out/bin/clang" 'while [ $# -gt 1 ]; do [ "$1" != -o ] || : >"$2"; shift; done'
program "$b/fuzz/seeds" '[ "$2" != seedless ] || { echo "seeds: none" >&2; exit 2; }' 'echo seed >"$1/seed"'
good='echo "#9 DONE cov: 42 ft: 50"; echo "stat::number_of_executed_units: 1234"'
program "$b/fuzz/fuzz_good" 'for d; do :; done; [ -e "$d/seed" ] || exit 1' 'echo "#3 NEW cov: 7 ft: 9"' "$good"
program "$b/fuzz/fuzz_crash" 'for a; do case $a in -artifact_prefix=*) : >"${a#*=}crash-1" ;; esac; done' \
	'echo "==1== ERROR: AddressSanitizer: planted" >&2; exit 77'
program "$b/fuzz/fuzz_seedless" "$good"
for f in crash good seedless; do : >"$out/tests/fuzz/fuzz_$f.c"; done
table() { sed -n 's/  */ /g; /^fuzzer /,$p' "$out/said" | awk -v f="$1" '$1 == f {print $2, $4, $5, $6, $7, $8, $9}'; }
PATH=$out/bin:$PATH FUZZ_SECONDS=1 "$out/tests/fuzz/run" >"$out/said" 2>&1
is "a crash fails the run" 1 $?
is "all run to their end" 3 "$(grep -c ' has ended$' "$out/said")"
is "executions, edges and inputs of one" "1234 42 1 0 good  " "$(table fuzz_good)"
is "a crash is counted and named" "- - 1 1 ERROR: AddressSanitizer: planted" "$(table fuzz_crash)"
is "one without seeds does not run" "- - 0 0 ended with status" "$(table fuzz_seedless)"
PATH=$out/bin:$PATH FUZZ_SECONDS=1 "$out/tests/fuzz/run" fuzz_good >"$out/said" 2>&1
is "a run without a crash" "0 1234 42 1 0 good  " "$? $(table fuzz_good)"
for f in tests/fuzz/fuzz_*.c; do
	f=${f##*/fuzz_} f=${f%.c}
	grep -q "{\"$f\", " tests/fuzz/seeds.c
	check "fuzz_$f has seeds" $?
done
echo "1..$n"
exit $bad
