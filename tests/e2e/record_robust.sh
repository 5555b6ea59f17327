#!/usr/bin/env bash
# tarry record under bad conditions: two at once, killed at random times, a full disk, a CPU-bound
# machine, thousands of short-lived processes.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
note_recorders "$t"
trap 'umount "$t/small" 2>/dev/null; rm -rf "$t"' EXIT
tracefs=/sys/kernel/tracing
mine() { ls "$tracefs/instances" | grep "^tarry-$1-[0-9]*-" ; }
announced() { tr -d , <"$1" | sed -n 's/^tarry: \([0-9]*\) events.* \([0-9]*\) lost recorder.*/\1 \2/p'; }
summary() { # FILE KEY
	"$TARRY" report "$1" --json 2>"$t/said" | python3 -c 'import json,sys; print(json.load(sys.stdin)["summary"][sys.argv[1]])' "$2"
}
length() { # FILE: of the recording, in ms
	"$TARRY" report "$1" --json 2>"$t/said" | python3 -c 'import json, sys
s = json.load(sys.stdin)["summary"]; print((s["end_ns"] - s["start_ns"]) // 1000000)'
}
calls() { # FILE NAME: how many of this system call
	"$TARRY" report "$1" --json 2>/dev/null | python3 -c 'import json,sys
print(sum(c["count"] for c in json.load(sys.stdin)["syscalls"] if c["name"] == sys.argv[1]))' "$2"
}

# What this machine gives the recorder's readers: threads of their priority, one on each CPU, that sleep
# for 20 ms at a time; until it is killed. The longest that one was late, in ms, in $t/late: a ring of 8 MB
# holds 100,000 events and more.
witness() {
	exec python3 - "$t/late" <<'P'
import os, signal, sys, threading, time
late, stop = [0], threading.Event()
def watch(cpu):
    os.sched_setaffinity(0, {cpu})
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), -20)
    while not stop.is_set():
        before = time.monotonic()
        time.sleep(0.02)
        late[0] = max(late[0], time.monotonic() - before - 0.02)
threads = [threading.Thread(target=watch, args=(c,)) for c in os.sched_getaffinity(0)]
signal.signal(signal.SIGTERM, lambda *a: stop.set())
for t in threads: t.start()
while not stop.is_set(): time.sleep(0.05)
for t in threads: t.join()
open(sys.argv[1], "w").write("%d\n" % (late[0] * 1000))
P
}

# two at once, each with all of its own
"$TARRY" record -o "$t/1.dat" -- "$PROGRAMS/syscall_loop" 1 200000 2>"$t/1.err" & a=$!
"$TARRY" record -o "$t/2.dat" -- "$PROGRAMS/syscall_loop" 1 200000 2>"$t/2.err" & b=$!
wait $a; ra=$?; wait $b; rb=$?
[ $ra = 0 ] && [ $rb = 0 ]; check "two recorders at once both succeed" $? "$(cat "$t"/[12].err)"
for i in 1 2; do
	[ "$(announced "$t/$i.err")" = "$(summary "$t/$i.dat" events) 0" ]
	check "recorder $i of 2: as many events in the file as announced, none lost" $? "$(cat "$t/$i.err") file $(summary "$t/$i.dat" events)"
	[ "$(calls "$t/$i.dat" getppid)" = 200000 ]; check "recorder $i of 2: every call of its own command and none of the other's" $? "$(calls "$t/$i.dat" getppid)"
done

# kill -9 at random times: what is left opens, and the next start clears the instances
# (after that the kernel takes 6 s to end a recorder of strings: one in three is that).
opened=0 cleared=0 tries=${KILLS:-6}
for i in $(seq $tries); do
	[ $((i % 3)) = 1 ] && strings= || strings=--no-strings
	"$TARRY" record -q -a $strings -o "$t/k.dat" & p=$!
	sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
	kill -9 $p; wait $p 2>/dev/null
	left=$(mine $p | wc -l)
	if [ -e "$t/k.dat" ]; then
		# A spool without one ring page yet may only be refused with a sentence, never crash.
		"$TARRY" report "$t/k.dat" >"$t/k.out" 2>"$t/k.err"; r=$?
		[ $r -le 1 ] && [ -s "$t/k.err" ] && opened=$((opened + 1)) || cp "$t/k.err" "$t/k.bad"
		rm -f "$t/k.dat"
	else
		opened=$((opened + 1))
	fi
	"$TARRY" record -q -o "$t/next.dat" -- true
	[ "$(mine $p | wc -l)" = 0 ] && cleared=$((cleared + 1))
done
[ $opened = $tries ]; check "kill -9: the file left behind opens and says that it is unfinished" $? "$opened of $tries; $(cat "$t/k.bad" 2>/dev/null)"
[ $cleared = $tries ]; check "kill -9: the next start removes the dead recorder's instances" $? "$cleared of $tries"
"$TARRY" record -q --no-strings -o "$t/k.dat" -- "$PROGRAMS/syscall_loop" 1 20000000 & p=$!
await 60 tracing $p; sleep 3; child=$(pgrep -P $p | head -n 1) loop=$(pgrep -P "$child" | head -n 1) # it calls in a child
kill -9 $p; wait $p 2>/dev/null; kill -9 "$child" "$loop" 2>/dev/null
k=$(length "$t/k.dat") events=$(summary "$t/k.dat" events)
[ "${k:-0}" -gt 2000 ] && [ "${events:-0}" -gt $((500000 / ${SLOWER:-1})) ]
check "kill -9: all but the last second is there" $? "${k:-no} ms of some 3 s, ${events:-no} events; $(cat "$t/said")"
"$TARRY" record -q -o "$t/next.dat" -- true

# the same while every CPU is busy, so that the idle class does not run
busy=()
for i in $(seq $(($(nproc) * 2))); do (while :; do :; done) & busy+=($!); done
"$TARRY" record -q -a --no-strings -o "$t/k.dat" & p=$!
await 60 tracing $p; sleep 6.5; kill -9 $p; wait $p 2>/dev/null
kill "${busy[@]}"; wait "${busy[@]}" 2>/dev/null
k=$(length "$t/k.dat")
[ "${k:-0}" -gt 3500 ]; check "kill -9 on a busy machine: all but the last two seconds is there" $? "${k:-no} ms of some 6.5 s; $(cat "$t/said")"
"$TARRY" record -q -o "$t/next.dat" -- true

# a live recorder's instances are not taken away
"$TARRY" record -q -a -o "$t/live.dat" & p=$!
await 60 tracing $p; had=$(mine $p | wc -l)
"$TARRY" record -q -o "$t/next.dat" -- true
[ "$had" -ge 1 ] && [ "$(mine $p | grep -vc idletest)" -ge 1 ]; check "a live recorder keeps its instances" $?
kill -INT $p; wait $p; check "and finishes" $?

# the output path: a link is replaced and never followed; what failed to start leaves all as it was
echo victim >"$t/victim"; ln -s victim "$t/link.dat"
"$TARRY" record -q -o "$t/link.dat" -- true 2>"$t/err"; r=$?
[ $r = 0 ] && [ "$(cat "$t/victim")" = victim ] && [ ! -L "$t/link.dat" ] && "$TARRY" report "$t/link.dat" >"$t/out" 2>&1
check "a link at the output path is replaced, its target untouched" $? "status $r: $(cat "$t/err"); $(ls -l "$t/link.dat" "$t/victim")"
"$TARRY" record -q -o "$t/old.dat" -- true; before=$(sha256sum <"$t/old.dat")
ln -s victim "$t/link2.dat"; printf '#!/no/such/interpreter\n' >"$t/script"; chmod +x "$t/script"
for o in old link2; do
	"$TARRY" record -q -o "$t/$o.dat" -- "$t/script" 2>"$t/err"; r=$?
	[ $r = 127 ]; check "a script without its interpreter is status 127 ($o)" $? "status $r: $(cat "$t/err")"
done
[ "$(sha256sum <"$t/old.dat")" = "$before" ]; check "a command that cannot be run leaves the old recording as it was" $?
[ -L "$t/link2.dat" ] && [ "$(cat "$t/victim")" = victim ]; check "and a link, and its target" $? "$(ls -l "$t/link2.dat" "$t/victim")"
[ -z "$(ls "$t" | grep unfinished)" ]; check "and nothing beside it" $? "$(ls "$t")"

# an index belongs to one recording
"$TARRY" record -q -o "$t/again.dat" -- "$PROGRAMS/syscall_loop" 1 200000; calls "$t/again.dat" getppid >/dev/null
index="$t/.again.dat.tarry-index"
"$TARRY" record -q -o "$t/again.dat" -- "$t/script" 2>"$t/err"
[ -s "$index" ] && cp "$index" "$t/stale"; check "a recording that cannot start leaves the old one's index" $? "$(ls -la "$t" | grep again)"
"$TARRY" record -q -o "$t/again.dat" -- "$PROGRAMS/syscall_loop" 1 100000
[ ! -e "$index" ]; check "the index of a recording that is replaced goes with it" $?
cp "$t/stale" "$index"; k=$(calls "$t/again.dat" getppid)
[ "$k" = 100000 ]; check "an index of another recording is not used" $? "$k"

for o in /dev/null /dev/stdout "$t"; do
	"$TARRY" record -q -o "$o" -- true 2>"$t/err" | cat; r=${PIPESTATUS[0]}
	[ "$r" = 2 ] && grep -q 'not a regular file' "$t/err"; check "-o ${o/#"$t"/FOLDER} is refused" $? "status $r: $(cat "$t/err")"
done
[ -L /dev/stdout ] && [ -c /dev/null ]; check "devices are still there" $?

# one output path for two recorders: the second gets an error, the first keeps its recording
echo mine >"$t/same.dat.tmp"
"$TARRY" record -q -o "$t/same.dat" -- sh -c 'while [ ! -e "$0" ]; do sleep 0.1; done; exit 5' "$t/go" 2>"$t/1.err" & a=$!
await 60 test -e "$t/same.dat"
"$TARRY" record -q -o "$t/same.dat" -- true 2>"$t/2.err"; rb=$?
: >"$t/go"
wait $a; ra=$?
[ $rb = 2 ] && grep -q 'being written by another tarry record' "$t/2.err" && [ $ra = 5 ]
check "the same -o twice: the second recorder is told, the first goes on" $? "status $ra, $rb: $(cat "$t"/[12].err)"
"$TARRY" report "$t/same.dat" 2>&1 | grep -q "exit 5"; check "the same -o twice: the file is the first one's" $?
[ "$(cat "$t/same.dat.tmp")" = mine ]; check "a file named like the output with .tmp is not touched" $?
for k in 1 2 3; do # started in the same moment
	"$TARRY" record -q -o "$t/race.dat" -- sleep 1 2>"$t/1.err" & a=$!
	"$TARRY" record -q -o "$t/race.dat" -- sleep 1 2>"$t/2.err" & b=$!
	wait $a; ra=$?; wait $b; rb=$?
	{ [ $ra = 0 ] && [ $rb != 0 ] && grep -q 'another tarry record' "$t/2.err"; } ||
		{ [ $rb = 0 ] && [ $ra != 0 ] && grep -q 'another tarry record' "$t/1.err"; } || break
	"$TARRY" report "$t/race.dat" >/dev/null 2>&1 || break
	[ $k = 3 ]
done
check "the same -o twice in the same moment: one of them is told" $? "status $ra, $rb: $(cat "$t"/[12].err)"

# the folder of the output goes away meanwhile
mkdir "$t/gone"
"$TARRY" record -q -o "$t/gone/x.dat" -- bash -c 'until [ -s "$1" ]; do sleep 0.05; done; rm -r "${1%/*}"' - "$t/gone/x.dat" 2>"$t/err"; r=$?
[ $r = 1 ] && grep -q "recording is lost" "$t/err" && grep -q "cannot create $t/gone/x.dat" "$t/err"
check "the output's folder is removed meanwhile: said, status 1" $? "status $r: $(cat "$t/err")"

# a full disk
mkdir "$t/small" && mount -t tmpfs -o size=1m tmpfs "$t/small" 2>/dev/null
if mountpoint -q "$t/small"; then
	"$TARRY" record -o "$t/small/f.dat" -- "$PROGRAMS/syscall_loop" 1 3000000 2>"$t/err"; r=$?
	[ $r = 1 ] && grep -q 'No space left' "$t/err" && grep -q 'can be read' "$t/err"
	check "a full disk: said, with what and where; status 1" $? "status $r: $(cat "$t/err")"
	k=$(summary "$t/small/f.dat" events); [ "${k:-0}" -gt 10000 ]
	check "a full disk: what was written before can be read" $? "events: ${k:-none}; $(cat "$t/said")"
	# Room for the recording, none for its second form: all is there, the command's status stands.
	rm -f "$t"/small/*; mount -o remount,size=40m "$t/small"
	"$TARRY" record -o "$t/big.dat" -- "$PROGRAMS/syscall_loop" 1 1000000 2>/dev/null
	# A recorder that the loop starves writes more at first (LZ4), up to twice as much or more: where
	# there was room for both, the room is measured by what has become of it; where there was too
	# little for the first form, there is a third more.
	size=$(($(stat -c %s "$t/big.dat") * 7 / 4))
	for k in 1 2 3 4 5 6 7 8; do
		rm -f "$t"/small/*; mount -o remount,size=$size "$t/small"
		"$TARRY" record -o "$t/small/f.dat" -- sh -c "\"$PROGRAMS/syscall_loop\" 1 1000000; exit 7" 2>"$t/err"; r=$?
		if [ $r != 7 ]; then
			grep -q 'No space left' "$t/err" || break
			size=$((size * 4 / 3))
		elif grep -q 'complete and tarry can read it' "$t/err"; then
			break
		else
			size=$(($(stat -c %s "$t/small/f.dat") * 7 / 4))
		fi
	done
	[ $r = 7 ] && grep -q 'complete and tarry can read it' "$t/err"
	check "no room to finish: said, with what to do; the command's own status" $? "status $r: $(cat "$t/err")"
	k=$(calls "$t/small/f.dat" getppid); [ "$k" = 1000001 ] || [ "$k" = 1000000 ]; check "no room to finish: every call is there (the shell may add one)" $? "$k"
	umount "$t/small"
else
	echo "ok $((n += 1)) - a full disk # SKIP cannot mount a tmpfs"
fi

# a limit on the size of files
(ulimit -f 400; exec "$TARRY" record -o "$t/lim.dat" -- sh -c "'$PROGRAMS/syscall_loop' 1 3000000; echo done >'$t/lim.done'; exit 7") >"$t/out" 2>"$t/err"; r=$?
[ $r = 1 ] && grep -q 'File too large' "$t/err" && grep -q 'can be read' "$t/err"
check "a limit on file sizes: said, with what and where; status 1" $? "status $r: $(cat "$t/err")"
[ -e "$t/lim.done" ]; check "a limit on file sizes: the command is waited for" $?
k=$(summary "$t/lim.dat" events); [ "${k:-0}" -gt 10000 ]
check "a limit on file sizes: what was written before can be read" $? "events: ${k:-none}; $(cat "$t/said")"
[ "$("$TARRY" record -q -o "$t/next.dat" -- grep SigIgn /proc/self/status)" = "$(grep SigIgn /proc/self/status)" ]
check "the command ignores the signals that it would without tarry" $?

# all CPUs busy: nothing lost with the default buffers
cpus=$(nproc) many=$((1000000 / ${SLOWER:-1}))
"$TARRY" record -o "$t/busy.dat" -- "$PROGRAMS/syscall_loop" "$cpus" $many 2>"$t/err"
set -- $(announced "$t/err")
[ "${2:-x}" = 0 ]; check "a system call loop per CPU: nothing lost" $? "$(cat "$t/err")"
[ "$(calls "$t/busy.dat" getppid)" = $((cpus * many)) ]; check "a system call loop per CPU: every call is there" $? "$(calls "$t/busy.dat" getppid)"
"$TARRY" record -o "$t/tiny.dat" --buffer 64k -- "$PROGRAMS/syscall_loop" "$cpus" 300000 2>"$t/err"
[ $? = 0 ]; check "very small rings: recording succeeds" $? "$(cat "$t/err")"
set -- $(announced "$t/err")
[ "$(summary "$t/tiny.dat" events)" = "${1:-x}" ] && [ "$(summary "$t/tiny.dat" lost)" = "${2:-x}" ]
check "very small rings: the announced numbers of events and of lost ones are those of the file" $? \
	"announced ${1:-} events, ${2:-} lost; file $(summary "$t/tiny.dat" events), $(summary "$t/tiny.dat" lost)"

# More short-lived processes than there are process numbers, beside compilers on all CPUs: tids are
# reused, the readers compete.
many=${SHORT_LIVED:-40000}
if [ -x "$PROGRAMS/short_lived" ]; then
	load=()
	for _ in $(seq $(($(nproc) * 2))); do
		(while :; do for f in tests/programs/*.c; do cc -O2 -D_GNU_SOURCE -c -o /dev/null "$f" 2>/dev/null; done; done) & load+=($!)
	done
	witness & watch=$!
	"$TARRY" record -o "$t/many.dat" -- "$PROGRAMS/short_lived" "$many" 2>"$t/err"; r=$?
	kill $watch; wait $watch 2>/dev/null
	kill "${load[@]}"; wait "${load[@]}" 2>/dev/null
	set -- $(announced "$t/err")
	late=$(cat "$t/late") lost=${2:-x} ended=$(calls "$t/many.dat" exit_group) name="$many short-lived processes"
	[ $r = 0 ] && [ "$lost" != x ]; check "$name: recorded" $? "status $r: $(cat "$t/err")"
	if [ "${lost:-x}" = 0 ] || [ "${late:-0}" -lt 500 ]; then
		[ "$lost" = 0 ]; check "$name: nothing lost" $? "$(cat "$t/err"); a thread of the readers' priority was at most ${late:-?} ms late"
		[ "$ended" -ge "$many" ]; check "$name: every one's exit_group is there" $? "$ended"
	else
		skip "$name: nothing lost" "the machine kept a thread of the readers' priority off its CPU for $late ms; $lost events were lost"
		[ "$(summary "$t/many.dat" lost)" = "$lost" ] && [ $((ended + lost)) -ge "$many" ]
		check "$name: what is missing is counted" $? "$ended exit_group, announced $lost, file $(summary "$t/many.dat" lost)"
	fi
	reused=$("$TARRY" report "$t/many.dat" --json | python3 -c 'import json, sys
tids = [t["tid"] for t in json.load(sys.stdin)["threads"]]
print(len(tids) - len(set(tids)))')
	if [ "$many" -gt "$(cat /proc/sys/kernel/pid_max)" ]; then
		[ "$reused" -gt 0 ]; check "$many short-lived processes: lives of a reused tid are told apart" $? "$reused reused"
	fi
fi
is "no instance is left" "" "$(own_instances "$t")"
echo "1..$n"
