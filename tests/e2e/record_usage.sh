#!/usr/bin/env bash
# tarry record: exit status, one clear sentence for what is wrong, signals, tracefs left as it was.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
[ "$(id -u)" = 0 ] || { skip recording "not root"; exit 0; }
t=$(mktemp -d)
program=$TARRY
note_recorders "$t"
trap 'rm -rf "$t"' EXIT
tracefs=/sys/kernel/tracing
# says NAME STATUS PATTERN ARGS...: the exit status and one sentence that matches.
says() {
	local name=$1 want=$2 pattern=$3 out got
	shift 3
	out=$("$TARRY" record "$@" 2>&1 >/dev/null)
	got=$?
	[ "$got" = "$want" ] && printf '%s' "$out" | grep -qE "$pattern" && [ "$(printf '%s\n' "$out" | wc -l)" -le 2 ]
	check "$name" $? "status $got, expected $want; said: $out"
}
# Everything of the top level that a recorder could have changed.
settings() {
	(cd "$tracefs" && for f in tracing_on trace_clock buffer_size_kb buffer_percent set_event set_event_pid \
		set_event_notrace_pid trace_options tracing_cpumask events/enable events/sched/enable; do
		echo "$f: $(cat "$f" 2>&1)"
	done
	[ -d "instances/$other" ] && echo "$other is there")
}
threads() { # PID N: that it has so many, or more
	[ "$(awk '/^Threads:/ {print $2}' "/proc/$1/status")" -ge "$2" ]
}
[ -d "$tracefs/events" ] || mount -t tracefs tracefs "$tracefs" 2>/dev/null
other=somebody-elses-$$
mkdir "$tracefs/instances/$other"
trap 'rmdir "$tracefs/instances/$other"; rm -rf "$t"' EXIT
# To kernel 6.6 the first event of any instance gives the top buffer its full size.
for on in 1 0; do echo $on >"$tracefs/instances/$other/events/sched/sched_switch/enable"; done
before=$(settings)

# exit status
"$TARRY" record -q -o "$t/a" -- sh -c 'exit 7'; check "the command's exit status is passed on" $(($? != 7))
"$TARRY" record -q -o "$t/a" -- sh -c 'kill -TERM $$'; check "a signal becomes 128+N" $(($? != 143))
[ "$("$TARRY" record -q -o "$t/a" -- echo one two)" = "one two" ]; check "the command's output is its own" $?
[ "$(echo in | "$TARRY" record -q -o "$t/a" cat)" = in ]; check "without --, and standard input passes" $?
says "a command that is not there: 127" 127 'no such command in PATH' -o "$t/b" -- no-such-command-here
says "a path that is not there: 127" 127 'no such file exists' -o "$t/b" -- ./no/such/file
: >"$t/plain"
says "not executable: 126" 126 'chmod \+x' -o "$t/b" -- "$t/plain"
says "a directory: 126" 126 'Is a directory' -o "$t/b" -- "$t"
printf '#!/no/such/interpreter\n' >"$t/script"; chmod +x "$t/script"
says "a script without its interpreter: 127" 127 'interpreter' -o "$t/b" -- "$t/script"
[ ! -e "$t/b" ]; check "no output file is left by these" $?
printf 'exit 5\n' >"$t/bare"; chmod +x "$t/bare"
"$TARRY" record -q -o "$t/a" -- "$t/bare"; check "a script without #! is run by sh" $(($? != 5))

# wrong usage
says "nothing to record" 2 'give a command, -p PID or -a' -o "$t/b"
says "a command and -p" 2 'not both' -p 1 -o "$t/b" -- true
says "an unknown option" 2 'tarry help record' --nonsense
says "not a duration" 2 'not a duration' -a --duration abc -o "$t/b"
says "no stream" 2 'tarry needs a file' -o - -- true
says "a list of pids that ends in a comma" 2 'not a list of process numbers' -p 1, -o "$t/b"
says "not a pid" 2 'not a list of process numbers' -p 12x -o "$t/b"
says "no such event" 1 "no event 'sched_nothing'.*No such file" -e sched:sched_nothing -o "$t/b" -- true
says "no such event system" 1 "no event system 'nothing'" -e nothing:at_all -o "$t/b" -- true
says "not an event" 2 'SYSTEM:EVENT' -e sched_switch -o "$t/b" -- true
says "a filter on a field that is not there: the kernel's words" 2 'Field not found' \
	--no-sched -e 'sched:sched_switch:nothing == 1' -o "$t/b" -- true
"$TARRY" record -q -d 50ms -p "$$ $PPID
" -o "$t/a"; check "pids as pidof and pgrep print them" $?
sleep 0 & gone=$!; wait $gone
says "a pid that is gone" 1 'no such process' -p $gone -o "$t/b"
sleep 0.1 & says "a pid that ends before recording begins" 1 'the process ended before recording began|no such process' -q -p $! -o "$t/b"
says "an output that cannot be written" 1 'No such file or directory' -o "$t/no/such/dir/f" -- true
says "an output that is a directory" 2 'not a regular file' -o "$t" -- true
if command -v setpriv >/dev/null; then
	cp "$program" "$t/tarry"; chmod 755 "$t" "$t/tarry"
	out=$(cd /; setpriv --reuid=65534 --clear-groups "$t/tarry" record -o "$t/b" true 2>&1); got=$?
	[ $got = 1 ] && printf '%s' "$out" | grep -q 'as root'; check "not root: says so" $? "$out"
fi
[ ! -e "$t/b" ]; check "no output file is left by these either" $?
[ "$(settings)" = "$before" ]; check "tracefs is as it was" $? "$(diff <(echo "$before") <(settings))"
is "no instance is left" "" "$(own_instances "$t")"

# more descriptors than a shell allows at first; the command keeps its limit
[ "$(ulimit -Sn 24; "$TARRY" record -q -o "$t/a" -- bash -c 'ulimit -Sn')" = 24 ]; check "few descriptors allowed: recorded all the same, the command's limit stays" $?
# what is recorded is there
"$TARRY" record -o "$t/f.dat" -e 'sched:sched_process_*' -- sh -c '/bin/true; /bin/true' 2>"$t/err"
grep -qE '^tarry: [0-9,]+ events in .*, 0 lost, recorder CPU time .*, exit status 0$' "$t/err" && grep -qE ' bytes/event\) -> .*f.dat$' "$t/err" &&
	grep -q "^tarry: next: tarry report $t/f.dat, or tarry view $t/f.dat$" "$t/err"; check "the closing line" $? "$(cat "$t/err")"
# ... with its first finding, and the same numbers everywhere
"$TARRY" record -o "$t/g.dat" -- sh -c 'exit 3' 2>"$t/err2"
[ $? = 3 ] && grep -q ', exit status 3$' "$t/err2"; check "the closing line has the exit status" $? "$(cat "$t/err2")"
first_finding() {
	"$TARRY" record -o "$t/g.dat" -- sleep 0.1 2>"$t/err2"
	grep -qE '^tarry: no stalls. For 1[0-9][0-9] ms of the command.s [0-9.]+ m?s, sleep/[0-9]+ slept in clock_nanosleep$' "$t/err2"; check "the first finding" $? "$(cat "$t/err2")"
}
tries 5 first_finding
own=$(sed -n 's/.*recorder CPU time \([0-9.]* [mun]*s\).*/\1/p' "$t/err2") events=$(sed -n 's/^tarry: \([0-9,]*\) events.*/\1/p' "$t/err2")
"$TARRY" report "$t/g.dat" header >"$t/head"
[ -n "$own" ] && grep -q "^recorder  $own CPU time" "$t/head" && grep -q ", $events events, 0 lost" "$t/head"; check "own CPU and events are the same in the report" $? "$own, $events: $(cat "$t/head")"
COLUMNS=150 "$TARRY" view "$t/g.dat" --print | grep -q "recorder $own CPU"; check "... and in the timeline" $? "$own"
"$TARRY" record -q -o "$t/g.dat" -- sh -c 'kill -9 $$' 2>"$t/err2"; [ ! -s "$t/err2" ]; check "-q: no closing line" $? "$(cat "$t/err2")"
if command -v trace-cmd >/dev/null; then
	said=$(tr -d , <"$t/err" | sed -n 's/^tarry: \([0-9]*\) events.*/\1/p')
	read=$(trace-cmd report "$t/f.dat" 2>/dev/null | grep -cE '\[[0-9]{3}\] +[0-9]+\.')
	[ "$said" = "$read" ]; check "trace-cmd reads as many events as were announced" $? "announced $said, read $read"
	trace-cmd report "$t/f.dat" 2>/dev/null >"$t/report"
	[ "$(grep -c 'sched_process_exec:' "$t/report")" -ge 3 ]
	check "the exec of the command and of its children are in it" $?
	"$TARRY" record --no-sched --no-syscalls -o "$t/g.dat" -- true 2>"$t/g.err"
	grep -qx 'tarry: stalls unknown: scheduling was not recorded' "$t/g.err"; check "the summary of a record without scheduling says so" $?
	! trace-cmd report "$t/g.dat" 2>/dev/null | grep -qE 'sched_switch:|sys_enter'; check "--no-sched --no-syscalls" $?
	"$TARRY" report "$t/g.dat" stalls | grep -q 'unknown: no scheduler events'; check "... whose stalls are unknown" $?
	"$TARRY" record -q --no-syscalls --no-sched --duration 300ms -a -e 'sched:sched_switch:prev_pid == 0' -o "$t/h.dat"
	trace-cmd report "$t/h.dat" 2>/dev/null | grep 'sched_switch:' | grep -vqE 'swapper/?[0-9]*:0 .*==>|prev_pid=0'
	check "a filter of the user's holds" $(($? == 0))
	"$TARRY" record -q --no-sched -o "$t/h.dat" -e 'sched:sched_switch:prev_comm == "sleep"' \
		-e 'sched:sched_switch:prev_comm == "sh"' -- sh -c 'sleep 0.1; true'
	trace-cmd report "$t/h.dat" 2>/dev/null | grep 'sched_switch:' >"$t/report"
	grep -qE 'sched_switch: +sleep:' "$t/report" && grep -qE 'sched_switch: +sh:' "$t/report" &&
		! grep -vqE 'sched_switch: +(sleep|sh):' "$t/report"
	check "of two filters on one event either is enough" $? "$(tail -3 "$t/report")"
	"$TARRY" record -q -o "$t/h.dat" -e 'sched:sched_switch:prev_pid == 1' -- sh -c 'sleep 0.1; sleep 0.1' 2>"$t/err"; got=$?
	[ $got = 0 ] && grep -q 'recorded without filter' "$t/err" && trace-cmd report "$t/h.dat" 2>/dev/null | grep -qE 'sched_switch: +sleep:'
	check "-e with a filter does not narrow a default event, and says so" $? "status $got: $(cat "$t/err")"
else
	skip "events are counted by trace-cmd" "trace-cmd is not installed"
fi

# how recordings end
s=$(date +%s%N); "$TARRY" record -q -a --duration 300ms -o "$t/a"; got=$?; e=$((($(date +%s%N) - s) / 1000000))
[ $got = 0 ] && [ $e -ge 300 ] && [ $e -lt 60000 ]; check "--duration" $? "status $got after $e ms"
"$TARRY" record -q --duration 200ms -o "$t/a" -- sh -c 'sleep 0.6; exit 9' 2>/dev/null
check "a command goes on after --duration, and its status counts" $(($? != 9))
sleep 300 & c=$!
"$TARRY" record -q -p $c -o "$t/a" & p=$!
await 60 tracing $p; kill $c; wait $p; check "-p ends with the process" $?
# Threads that make their successor and end: one that is missed hides the rest of its chain.
chains=$((20 / ${SLOWER:-1}))
for life in 0 1000; do
	"$PROGRAMS/thread_chains" $chains $life 100 & c=$!
	await 60 threads $c $chains
	rm -f "$t/c.dat"
	"$TARRY" record -p $c -o "$t/c.dat" 2>"$t/err" & p=$!
	# The short ones would be over before they are listed, where the recorder gets no CPU.
	if [ $life = 0 ]; then await 60 recording $p "$t/c.dat"; else await 60 tracing $p; fi ||
		echo "not recording in time" >>"$t/err"
	kill -USR1 $c; wait $p; got=$?
	wait $c
	# (Others may have got the number of a thread that ended while it was listed, and are recorded then.)
	found=$("$TARRY" dump "$t/c.dat" syscalls --json 2>/dev/null | grep -c '"comm":"thread_chains","name":"getppid"')
	# A machine too slow for such short lives must say so.
	[ $got = 0 ] && { [ "$found" = $((chains * 100)) ] ||
		{ [ "${SLOWER:-1}" -gt 1 ] && grep -q 'faster than they can be listed' "$t/err"; }; }
	check "-p: every call of chains of threads (each living $life us more) is there" $? "status $got, $found of $((chains * 100)); $(cat "$t/err")"
done
for sig in INT TERM HUP; do
	"$TARRY" record -q -a -o "$t/sig.dat" & p=$!
	await 60 tracing $p; kill -$sig $p; wait $p
	got=$?; [ $got = 0 ] && head -c 10 "$t/sig.dat" | grep -q tracing
	check "SIG$sig ends a recording of all and finishes the file" $? "status $got"
done
"$TARRY" record -q -o "$t/sig.dat" -- sh -c 'trap "exit 33" TERM; : >"$0"; while :; do sleep 0.05; done' "$t/ready" & p=$!
await 60 test -e "$t/ready"; kill -TERM $p; wait $p; check "SIGTERM is sent on to the command, whose status counts" $(($? != 33))
rm -f "$t/ready"
timeout 300 "$TARRY" record -q --duration 1500ms -o "$t/a" -- sh -c 'trap "" INT; : >"$0"; sleep 2.5; exit 9' "$t/ready" & p=$!
await 60 test -e "$t/ready"; kill -INT "$(pgrep -P $p | head -n 1)"; wait $p
check "a signal only sent on to the command does not end the waiting for it" $(($? != 9))
if command -v perl >/dev/null; then
	timeout -s KILL 300 perl -e '$SIG{CHLD} = "IGNORE"; exec @ARGV' "$TARRY" record -q -o "$t/a" -- sh -c 'exit 5'
	got=$?; [ $got = 5 ]; check "an inherited ignored SIGCHLD does not lose the command's end or status" $? "status $got"
	perl -e '$SIG{HUP} = "IGNORE"; exec @ARGV' "$TARRY" record -q -a -d 1500ms -o "$t/hup.dat" & p=$!
	s=$(date +%s%N); await 60 tracing $p; kill -HUP $p; wait $p
	got=$?; [ $got = 0 ] && [ $((($(date +%s%N) - s) / 1000000)) -ge 1400 ]
	check "an ignored SIGHUP (nohup) does not end a recording" $? "status $got"
else
	skip "inherited signal dispositions" "no perl"
fi
# a container's process numbers are not the kernel's
if unshare -pf --mount-proc true 2>/dev/null; then
	unshare -pf --mount-proc "$TARRY" record -a --no-strings -o "$t/ns.dat" -- sleep 0.2 2>"$t/err"; got=$?
	[ $got = 0 ] && [ "$(grep -c 'own process ids' "$t/err")" = 1 ]
	check "-a in a pid namespace: recorded, and said once" $? "status $got: $(cat "$t/err")"
	# tarry and sleep had 1 and 2 in there
	"$TARRY" report "$t/ns.dat" --json 2>"$t/err" | python3 -c 'import json, sys
t = json.load(sys.stdin)["threads"]
sleeps = [x["tid"] for x in t if x.get("comm") == "sleep"]
sys.exit(not sleeps or min(sleeps) < 10 or any(x["tid"] < 10 and x.get("comm") == "tarry" for x in t))'
	check "-a in a pid namespace: no name from the container's /proc" $? "$(cat "$t/err")"
	unshare -pf --mount-proc "$TARRY" record -q -o "$t/b" -- true 2>"$t/err"; got=$?
	[ $got = 2 ] && grep -q 'with -a' "$t/err"; check "a command in a pid namespace without -a is refused" $?
else
	skip "pid namespaces" "unshare -p is not permitted"
fi
# doctor, ended early, leaves nothing; the CPUs must be known
left=0
for pause in 0.02 0.05 0.1 0.15; do
	env --default-signal=INT "$TARRY" doctor >/dev/null 2>&1 & p=$!
	sleep $pause; kill -INT $p 2>/dev/null; wait $p
	ls "$tracefs/instances" | grep -q "^tarry-$p-" && left=1
done
check "doctor interrupted leaves no instance" $left "$(ls "$tracefs/instances")"
if unshare -m true 2>/dev/null; then
	out=$(unshare -m sh -c 'mount -t tmpfs none /sys/devices/system/cpu && exec "$0" doctor' "$TARRY" 2>&1); got=$?
	[ $got = 1 ] && printf '%s' "$out" | grep -q '^FAIL .*cpu/online'; check "doctor: no list of CPUs is a failure" $? "status $got: $out"
fi
[ "$(settings)" = "$before" ] && [ -z "$(own_instances "$t")" ]
check "tracefs is as it was, no instance is left" $? "$(diff <(echo "$before") <(settings))"
echo "1..$n"
