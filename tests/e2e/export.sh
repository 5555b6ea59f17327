#!/usr/bin/env bash
# `tarry export --to perf`: perf script reads the same events in the same order, text for text; its
# own Intel PT decoder executes the same instructions from the packets of the software branch tracer.
# Lane: beside
set -u
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. "$(dirname "$0")/tap.bash"

cd "$d" || exit 1
"$TARRY" export x --to perfetto 2>err
is "another form: wrong usage" 2 $?
grep -q "perfetto.*--format perf" err
check "another form: told what there is" $? "$(cat err)"
"$TARRY" export x --to dat 2>err || "$TARRY" export x --to dat -o y --cpu 0 2>>err
is "a dat: not without -o, not of chosen CPUs" "2 2" "$? $(grep -c -e "needs -o OUT" -e "--cpu cannot be used with format dat" err)"
"$TARRY" export x --from 1 --to 3 -o y 2>err
is "a time is no format: told how to give one" "2 1" "$? $(grep -c 'format is missing: give --format perf or dat' err)"
"$TARRY" export x --to dat --format perf -o y 2>err
is "two formats: wrong usage" "2 1" "$? $(grep -c 'two formats' err)"
"$TARRY" export nowhere --from 1 --to 3 -o y.dat 2>err
is "the name tells the format, --to is a time" "1 1" "$? $(grep -c 'nowhere' err)"
echo mine >perf.data
"$TARRY" export x --to perf 2>err
is "a perf.data that is there: not without -o" "2 mine" "$? $(cat perf.data)"
(ulimit -f 0; exec "$TARRY" --help) 2>&1 >keys | cat >err
is "output that may not grow: a sentence, no signal" "1 1" "${PIPESTATUS[0]} $(grep -c 'File too large' err)"

cat >load <<'EOF'
for i in 1 2 3; do ls -R /usr/include | sort | wc -l; sleep 0.01; done >/dev/null
EOF
if ! command -v perf >/dev/null; then
	skip "perf script reads it" "perf is not installed"
elif ! "$TARRY" record -q -o t.dat -- bash ./load 2>err; then
	skip "perf script reads it" "tarry cannot record here: $(head -n 1 err)"
else
	# tid, CPU, time, event, text
	tarry() {
		"$TARRY" dump t.dat events "$@" | grep -v 'EVENTS DROPPED' |
			sed -nE 's/^.*-([0-9]+) +\[0*([0-9]+)\] +([0-9.]+): ([^:]+): */\1 \2 \3 \4 /p' | sed 's/ *$//'
	}
	perf_script() {
		perf script -i "$1" --ns -F tid,cpu,time,event,trace 2>script.err | grep -v 'sched_stat_runtime: .*(from switch to switch)$' |
			sed -nE 's/^ *([0-9]+) +\[0*([0-9]+)\] +([0-9.]+): +[^: ]+:([^: ]+): */\1 \2 \3 \4 /p' | sed 's/ *$//'
	}
	"$TARRY" export t.dat --to perf -o whole 2>err
	check "exported" $? "$(cat err)"
	(ulimit -f 1; exec "$TARRY" export t.dat --to perf -o small) 2>&1 | cat >err
	is "a file that may not grow: a sentence, no signal, no file" "1 1 0" \
		"${PIPESTATUS[0]} $(grep -c 'File too large' err) $(ls small* 2>/dev/null | wc -l)"
	tarry >want
	perf_script whole >got
	cmp -s want got && [ "$(wc -l <want)" -gt 1000 ]
	check "perf script: every event, in order" $? "$(diff want got)"
	is "perf script: no warning" "" "$(grep -v 'not valid for' script.err)"
	# From the 40% event of CPU 0 to the 60% one, in seconds from the start.
	start=$("$TARRY" dump t.dat events --json | sed -nE '1s/.*"ts_ns":([0-9]+).*/\1/p')
	set -- $("$TARRY" dump t.dat events --cpu 0 --json | sed -nE 's/.*"ts_ns":([0-9]+).*/\1/p' |
		awk -v s="$start" '{ t[NR] = $1 } END { printf "%.9f %.9f\n", (t[int(NR * 0.4) + 1] - s) / 1e9, (t[int(NR * 0.6) + 1] - s) / 1e9 }')
	"$TARRY" export t.dat --to perf -o part --from "$1" --to "$2" --cpu 0 2>err
	tarry --from "$1" --to "$2" --cpu 0 >want
	perf_script part >got
	cmp -s want got && [ -s want ]
	check "a window of a CPU" $? "from $1 to $2: $(diff want got)"
	perf trace -i whole >got 2>&1
	grep -q 'execve(' got
	check "perf trace shows system calls" $? "$(head got)"
	perf sched latency -i whole >got 2>&1
	grep -qE '^ +(ls|sort|wc):' got # perf leaves out threads that never waited
	check "perf sched latency knows the threads" $? "$(head -n 20 got)"
	# perf's run times are those of the report, within its microseconds.
	"$TARRY" report t.dat --json >t.json
	perf sched latency -p -i whole >got 2>err
	judge "perf sched latency shows run times" <<-'P'
		import json, re
		ours = {t["tid"]: t["running_ns"] / 1e6 for t in json.load(open("t.json"))["threads"] if not t["inferred_ns"]}
		perf = {int(m[1]): float(m[2]) for m in re.finditer(r"^ +\S.*?:(\d+) +\| +([0-9.]+) ms", open("got").read(), re.M)}
		both = [(t, ours[t], perf[t]) for t in perf if t in ours and perf[t] > 0.1]
		wrong = [b for b in both if b[2] > b[1] * 1.001 + 0.01]
		print(both[:20], "too long:", wrong, open("err").read())
		assert len(both) > 2 and not wrong and any(abs(o - p) < 0.01 for _, o, p in both)
	P
	"$TARRY" export t.dat --to perf -o t.dat 2>err
	is "never over its own input" 2 $?
fi

if ! command -v perf >/dev/null; then
	skip "perf decodes the instructions" "perf is not installed"
elif [ "$(uname -m)" != x86_64 ] || ! strace -o s true 2>err || [ ! -e t.dat ]; then
	skip "perf decodes the instructions" "nothing can be traced here: $(head -n 1 err)"
else
	"$TARRY" record -q --flow=step --flow-list list -o f.dat -- /bin/true 2>err
	check "single-stepped" $? "$(cat err)"
	# Events and instructions in one file: both are read again, the same.
	"$TARRY" export f.dat --to perf -o both 2>err
	"$TARRY" dump f.dat events --json | sed 's/"buffer":"[^"]*",//' >want
	"$TARRY" dump both events --json | grep -v '"sched_stat_runtime"' | cmp -s - want
	check "read again: events" $? "$(cat err)"
	"$TARRY" dump f.dat flow --branches --json --from 0.1 >want
	"$TARRY" dump both flow --branches --json --from 0.1 2>err | cmp -s - want && [ -s want ]
	check "read again: branches, with the same begin of time" $? "$(cat err)"
	"$TARRY" report both flow --json 2>err | grep -q '"software":true'
	check "read again: it was recorded in software" $? "$(cat err)"
	"$TARRY" export f.dat --to perf -o flow --tid 4194305 2>err
	check "a flow recording is exported" $? "$(cat err)"
	perf script -i flow --itrace=i0nse -F ip 2>err | tr -d ' ' >got
	cut -d' ' -f2 list >want
	if [ ! -s got ] && grep -qi 'itrace\|auxtrace' err; then
		skip "perf's decoder: every instruction" "this perf is built without it"
	else
		cmp -s want got && [ -s want ]
		check "perf's decoder: every instruction" $? "$(diff want got | head -n 10; cat err)"
		perf script -i flow --itrace=be -F ip,addr 2>err | sed -E 's/^ *([0-9a-f]+) => +([0-9a-f]+).*/\1 \2/' >got
		"$TARRY" dump f.dat flow --branches --json |
			sed -n 's/.*"from":"0x\([0-9a-f]*\)","to":"0x\([0-9a-f]*\)".*/\1 \2/p' >want
		cmp -s want got && [ -s want ]
		check "perf's decoder: every branch" $? "$(diff want got | head -n 10; cat err)"
		# A window in the middle: its instructions in a row, and not all that there are.
		all=$(wc -l <list)
		start=$("$TARRY" dump f.dat events --json | sed -nE '1s/.*"ts_ns":([0-9]+).*/\1/p')
		"$TARRY" dump f.dat flow --insn --json | sed -nE 's/.*"ts_ns":([0-9]+).*/\1/p' |
			awk -v s="$start" -v n="$all" 'NR == int(n * 0.4) || NR == int(n * 0.6) { printf "%.6f\n", ($1 - s) / 1e9 }' >times
		set -- $(cat times)
		"$TARRY" export f.dat --to perf -o flow --tid 4194305 --from "$1" --to "$2" 2>err
		perf script -i flow --itrace=i0nse -F ip 2>>err | tr -d ' ' | tr '\n' ' ' >got
		"$TARRY" dump f.dat flow --insn --json --from "$1" --to "$2" | sed -nE 's/.*"ip":"0x([0-9a-f]*)"\}$/\1/p' | tr '\n' ' ' >want
		[ "$(wc -w <want)" -gt 1000 ] && [ "$(wc -w <got)" -lt $((all * 9 / 10)) ] && grep -qFf want got
		check "a window's instructions" $? "$(cat times err)"
	fi
fi
echo "1..$n"
