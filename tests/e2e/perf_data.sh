#!/usr/bin/env bash
# perf.data files with tracepoints as ordinary traces: what `tarry dump events` shows is what perf
# script shows, event for event, in every form of file that perf writes; losses are where perf has
# them; report and dump syscalls work on them; a recording of chosen threads claims nothing of others.
# Lane: alone
set -u
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. "$(dirname "$0")/tap.bash"
cd "$d" || exit 1
events="-e sched:sched_switch -e sched:sched_waking -e sched:sched_process_exec -e raw_syscalls:* -e irq:softirq*"
printf '%s\n' 'for i in 1 2; do ls -R /usr/include/linux | sort | wc -l; sleep 0.01; done >/dev/null' >load

if ! command -v perf >/dev/null; then
	skip "perf.data with tracepoints" "perf is not installed"
	echo 1..1
	exit
elif ! perf record -q -B -a -e sched:sched_switch -o try -- true >/dev/null 2>err; then
	skip "perf.data with tracepoints" "perf cannot record tracepoints here: $(head -n 1 err)"
	echo 1..1
	exit
fi

# tid, CPU, time, event, text; what has the same time in the order of CPUs. A name may hold anything.
tarry() {
	"$TARRY" dump "$1" events 2>err | grep -v 'EVENTS DROPPED' | grep -vE ': (comm|fork|exit): +pid=' |
		sed -nE 's/^.*-([0-9]+) +\[0*([0-9]+)\] +([0-9]+\.[0-9]{9}): ([^:]+): */\3 \2 \1 \4 /p' | sed 's/ *$//' | sort -s -k1,2
}
# A thread that is past its exit has the number -1 to perf; tarry has it from the event (common_pid).
perf_script() { # FILE
	local file=$1 from=/dev/null
	[ "$(dd if="$1" bs=1 skip=8 count=1 2>/dev/null | od -An -tu1)" -ne 16 ] || file=- from=$1
	perf script -i "$file" --ns -F tid,cpu,time,event,trace <"$from" 2>/dev/null |
		sed -nE 's/^ *(-1|[0-9]+) +\[0*([0-9]+)\] +([0-9]+\.[0-9]{9}): +[^: ]+:([^: ]+): */\3 \2 \1 \4 /p' | sed 's/ *$//' | sort -s -k1,2
}
same() { # NAME FILE
	perf_script "$2" >want
	tarry "$2" | awk 'NR == FNR { if ($3 == -1) gone[$1, $2]; next }
		($1, $2) in gone { $0 = $1 " " $2 " -1" substr($0, length($1 $2 $3) + 3) } 1' want - >got
	cmp -s want got && [ "$(wc -l <want)" -gt 100 ]
	check "$1: the events of perf script" $? "$(diff want got | head -n 12; head -n 3 err)"
}
# How many perf lost: what its records say, or what it counted in the end, whatever is more.
lost() { # FILE
	perf report -D -i "$1" 2>/dev/null | grep -ao 'PERF_RECORD_LOST.*' |
		awk '/LOST:/ { split($0, a, "lost:"); s += a[2] } /LOST_SAMPLES/ { split($0, a, "samples :"); t += a[2] }
			END { print (t > s ? t : s) + 0 }'
}
told() { "$TARRY" report "$1" header 2>/dev/null | sed -nE 's/^content.* ([0-9,]+) lost.*/\1/p' | tr -d ,; }

perf record -q -B -a $events -o all -- bash ./load 2>err
same "the whole machine" all
"$TARRY" view all --print --size 100x30 >got 2>err
[ "$(grep -cE '^ ?[▸▾] CPU|CPU +[01] ' got)" -ge 1 ]
check "the timeline" $? "$(cat err got)"
perf record -q -B -m 4 -a $events -o few -- bash ./load 2>err
same "too little room" few
is "too little room: losses" "$(lost few)" "$(told few)"
perf record -q -B $events -o - -- bash ./load >pipe 2>err
same "pipe form" pipe
if perf record -q -B -z $events -o z -- bash ./load 2>err; then
	same "compressed" z
else
	skip "compressed" "this perf has no zstd"
fi
perf record -q -B $events -o own -- bash ./load 2>err
same "one command's threads" own
"$TARRY" report own header threads >got 2>&1
grep -q '^ *only events of selected threads' got
check "one command's threads: said so" $? "$(cat got)"
"$TARRY" dump own syscalls >got 2>err
grep -qE 'execve\(|getdents64\(' got
check "dump syscalls" $? "$(head -n 3 got; cat err)"
# perf trace counts ends, tarry calls: a call whose end perf missed parts them (seen once in hundreds
# of recordings), so what differs is recorded again; a wrong count differs every time.
counted() {
	wanted=$(perf trace -s -i ptrace 2>&1 | awk '$1 == "wait4" { s += $2 } END { print s + 0 }')
	got=$("$TARRY" report ptrace syscalls 2>/dev/null | awk '$1 == "wait4" { print $2 }')
	[ "$wanted" -gt 0 ] && [ "$wanted" = "$got" ]
}
if perf trace record -o ptrace -- bash ./load >/dev/null 2>err; then
	same "perf trace record" ptrace
	for again in 1 2 3; do
		counted && break
		echo "# $again: perf trace -s $wanted, tarry ${got:-none}; begun and ended in perf script:" \
			"$(perf script -i ptrace 2>/dev/null | grep -c 'sys_enter: NR 61 ')," \
			"$(perf script -i ptrace 2>/dev/null | grep -c 'sys_exit: NR 61 ')"
		perf trace record -o ptrace -- bash ./load >/dev/null 2>err
	done
	counted
	check "perf trace record: calls of wait4 as perf trace -s counts them" $? "wanted: $wanted; got: $got"
else
	skip "perf trace record" "$(head -n 1 err)"
fi
# Within a record: their lengths are multiples of 8, and a file that ends with one cannot tell that it was cut.
head -c $(($(stat -c %s pipe) / 2 | 1)) pipe >cut
"$TARRY" dump cut events >got 2>err
[ "$(grep -c . got)" -gt 100 ] && grep -q 'END OF DATA' got && grep -q cut err
check "a file that was cut: its begin, and said so" $? "$(tail -n 2 got; cat err)"
"$TARRY" export own --to perf -o again 2>err
check "exported" $? "$(cat err)"
same "exported again" again
echo "1..$n"
