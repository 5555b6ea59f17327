#!/usr/bin/env bash
# tarry record --keep: the newest part of a recording, whole, on a bounded disk, however it ends.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$t"' EXIT
export t
fact() { # FILE OBJECT KEY
	"$TARRY" report "$1" --json 2>/dev/null | python3 -c 'import json, sys
print(json.load(sys.stdin)[sys.argv[1]].get(sys.argv[2], "none"))' "$2" "$3"
}
numbers() { # FILE: numbers of the calls of numbered_calls, in the order of their time
	"$TARRY" dump "$1" syscalls --json 2>/dev/null | python3 -c 'import json, sys
calls = (json.loads(l) for l in sys.stdin if "\"lseek\"" in l)
for c in sorted((c for c in calls if c["comm"] == "numbered_calls"), key=lambda c: c["ts_ns"]):
    print(int(c["args"][1], 0))' >"$1.numbers"
}
# FIRST-AT-LEAST LAST-AT-LEAST: the numbers follow each other
row() { awk -v first="$2" -v least="$3" 'NR == 1 && $1 < first { print "begins with " $1; exit 1 }
	NR > 1 && $1 != last + 1 { print $1 " follows " last; exit 1 }
	{ last = $1 }
	END { if (last < least) { print "ends with " last; exit 1 } }' "$1.numbers"; }

# FILE N: wait until the recorder has dropped something N times (the head of the file tells)
drops() {
	local was=0 now left=$2 end=$((SECONDS + 60))
	while [ $SECONDS -lt $end ]; do
		now=$(od -An -tu8 -j24 -N8 "$1" 2>/dev/null | tr -d ' ')
		[ "${now:-0}" != "$was" ] && was=$now left=$((left - 1)) && [ $left = 0 ] && return 0
		sleep 0.05
	done
	return 1
}

for wrong in 0 20000000 10ms x 1k -1s 1s2; do
	"$TARRY" record --keep "$wrong" -o "$t/no.dat" -- true 2>"$t/said"
	[ $? = 2 ] && grep -q "neither a time" "$t/said" && [ ! -e "$t/no.dat" ]
	check "--keep $wrong is refused" $? "$(cat "$t/said")"
done
for with in --flow=step --memory; do
	"$TARRY" record --keep 5s "$with" -o "$t/no.dat" -- true 2>"$t/said"
	[ $? = 2 ] && grep -q -e "--keep cannot be combined with" "$t/said"
	check "--keep with $with is refused" $? "$(cat "$t/said")"
done
"$TARRY" record --keep 1s -o "$t/none.dat" -- true 2>"$t/said"
case $? in
1)
	grep -q "cannot punch holes into files" "$t/said"
	check "a file system without holes is refused with a sentence" $? "$(cat "$t/said")"
	echo "1..$n"
	exit $bad
	;;
esac
"$TARRY" record --keep 1h -o "$t/all.dat" -- "$PROGRAMS/numbered_calls" 3000 100 2>"$t/said"
numbers "$t/all.dat"
row "$t/all.dat" 1 3000 && [ "$(head -n 1 "$t/all.dat.numbers")" = 1 ] && ! grep -q "kept" "$t/said" &&
	[ "$(fact "$t/all.dat" file kept_from_ns)" = none ]
check "shorter than --keep: all is there, and nothing is said to be dropped" $? "$(cat "$t/said")"

# a command: 90000 calls take 9 s and more; beside it sleeps what never stirs
sleep 600 & sleeper=$!
"$TARRY" record --keep 2s -o "$t/c.dat" -- "$PROGRAMS/numbered_calls" 90000 10 2>"$t/said"
check "a command is recorded with --keep 2s" $? "$(cat "$t/said")"
grep -q "^tarry: kept the newest .* of .* (at least the time of --keep)$" "$t/said"
check "the closing line says how much of how much is kept" $? "$(cat "$t/said")"
numbers "$t/c.dat"
said=$(row "$t/c.dat" 2 90000); check "each call from the first that is kept to the last" $? "$said"
"$TARRY" report "$t/c.dat" --json 2>"$t/err" >"$t/c.json"
judge "the kept part has 2 s and more, and not all; nothing counts as lost" <<'P'
import json, os
r = json.load(open(os.environ["t"] + "/c.json"))
f, s = r["file"], r["summary"]
kept = s["end_ns"] - f["kept_from_ns"]
assert kept >= 2e9, kept
assert f["recorded_ns"] >= 6e9 and f["recorded_ns"] - kept >= 1e9, (kept, f)
assert s["start_ns"] >= f["kept_from_ns"], (s, f)
assert s["lost"] == 0 and s["gaps_of_unknown_size"] == 0, s
assert not f["unfinished"] and not f["truncated"] and "note" not in f, f
P
[ ! -s "$t/err" ]; check "it opens without a warning" $? "$(cat "$t/err")"
"$TARRY" report "$t/c.dat" 2>/dev/null | grep -q "^kept *the newest .* of .*. Older data was dropped"
check "the report says that it is the newest part" $?
for range in "" "--from 0.5 --to 0.6"; do
	# shellcheck disable=SC2086
	"$TARRY" report "$t/c.dat" answer $range 2>/dev/null | sed -n 's/^answer: .* of it in \([a-z ]*\) (critical path.*/\1/p'
done >"$t/of"
[ "$(paste -sd, "$t/of")" = "this recording,the selected part" ]
check "the answer tells a selected part from the kept one" $? "$(cat "$t/of")"
COLUMNS=120 LINES=40 "$TARRY" view "$t/c.dat" --print 2>/dev/null | head -n 1 | grep -q "NEWEST PART"
check "and so does the timeline" $?
"$TARRY" dump "$t/c.dat" events --json 2>/dev/null | python3 -c 'import json, sys
print(min(json.loads(l)["ts_ns"] for l in sys.stdin))' >"$t/first"
[ "$(cat "$t/first")" -ge "$(fact "$t/c.dat" file kept_from_ns)" ]
check "no event is older than the kept part" $? "$(cat "$t/first") $(fact "$t/c.dat" file kept_from_ns)"
"$TARRY" report "$t/c.dat" threads --json 2>/dev/null >"$t/threads.json"
sleeper=$sleeper judge "threads that never stirred are known, as at a recording's start" <<'P'
import json, os
for t in json.load(open(os.environ["t"] + "/threads.json"))["threads"]:
    if t["tid"] == int(os.environ["sleeper"]):
        assert t["comm"] == "sleep", t
        break
else:
    raise SystemExit("no thread " + os.environ["sleeper"])
P
# its last second as a recording of its own, and all of it
"$TARRY" export "$t/c.dat" --to dat --from -1 -o "$t/part.dat" && "$TARRY" export "$t/c.dat" --to dat -o "$t/whole.dat"
check "a part of the kept part, and all of it, are exported as smaller recordings" $?
cat >"$t/same.py" <<'P'
import json, os, subprocess, sys
def threads(*args):
    return json.loads(subprocess.run([os.environ["TARRY"], "report", *args, "threads", "--json"],
                                     capture_output=True, text=True, check=True).stdout)
KNOWN = ["running_ns", "runnable_ns", "blocked_ns", "stopped_ns", "dead_ns"]
def known_or_not(t):
    return sum(t[k] for k in KNOWN) + t["unknown_ns"]
cut, whole = threads(sys.argv[1]), threads(os.environ["t"] + "/c.dat")
start = whole["summary"]["start_ns"]
at = ["%d.%09d" % divmod(cut["summary"][k] - start, 10**9) for k in ("start_ns", "end_ns")]
window = threads(os.environ["t"] + "/c.dat", "--from", at[0], "--to", at[1])
ours = {} # of each tid: where tids are reused, one thread after the other
for t in sorted(cut["threads"], key=lambda t: t["generation"]):
    ours.setdefault(t["tid"], []).append(t)
for t in sorted(window["threads"], key=lambda t: t["generation"]):
    mine = ours[t["tid"]].pop(0)
    # What shows which thread ran may be cut off, and where a kernel leaves out a switch one of both may know more:
    # no known state of one is another state of the other.
    more = t["unknown_ns"] - mine["unknown_ns"]
    for k in t: # of kernel threads /proc has other names than their events
        assert k in ("start_ns", "end_ns", "born", "died", "generation", "command_line") or mine[k] == t[k] or more or \
            k == "comm" and t["kernel"] or k == "inferred_ns" and mine[k] > t[k], (t["tid"], t["comm"], k, t[k], mine[k])
    for k in KNOWN:
        assert (mine[k] - t[k]) * more >= 0, (t["tid"], t["comm"], k, t[k], mine[k], more)
    assert known_or_not(mine) == known_or_not(t), (mine, t)
assert not any(ours.values()), ours
sleeper = [t for t in cut["threads"] if t["tid"] == int(os.environ["sleeper"])][0]
assert sleeper["sleeping_ns"] == cut["summary"]["end_ns"] - cut["summary"]["start_ns"], sleeper
P
for f in part whole; do
	said=$(sleeper=$sleeper python3 "$t/same.py" "$t/$f.dat" 2>&1)
	check "$f: every thread is in the states that it was in then, threads without events, too" $? "$said"
done
numbers "$t/part.dat"; numbers "$t/whole.dat"
said=$(row "$t/part.dat" 2 90000) && [ "$(cat "$t/whole.dat.numbers")" = "$(cat "$t/c.dat.numbers")" ]
check "their calls are those of the original" $? "$said"
if command -v trace-cmd >/dev/null; then
	trace-cmd report "$t/c.dat" 2>/dev/null | sed -n 's/.*numbered_calls-.*sys_enter: *NR 8 (ffffffffffffffff, \([0-9a-f]*\),.*/\1/p' >"$t/hex"
	python3 - "$t/hex" "$t/c.dat.numbers" >"$t/said" <<'P'
import sys
theirs = [int(l, 16) for l in open(sys.argv[1])]
ours = [int(l) for l in open(sys.argv[2])]
assert theirs[-len(ours):] == ours, (len(theirs), len(ours), theirs[:3], ours[:3])
assert theirs == sorted(theirs), "not in order"
P
	check "trace-cmd report reads the same calls" $? "$(cat "$t/said") $(wc -l <"$t/hex")"
else
	skip "trace-cmd report reads the same calls" "trace-cmd is not installed"
fi

# processes, with a descriptor from before; stopped by SIGTERM
bash -c 'exec 9>"$t/log"; while sleep 0.02; do echo x >&9; done' & writer=$!
await 20 test -s "$t/log"
"$TARRY" record --keep 1s -p $writer -o "$t/p.dat" 2>"$t/said" & p=$!
await 60 tracing $p; drops "$t/p.dat" 1; kill -TERM $p; wait $p
check "a process is recorded until SIGTERM" $? "$(cat "$t/said")"
kill $writer
"$TARRY" dump "$t/p.dat" syscalls --json 2>/dev/null | python3 -c 'import json, os, sys
calls = [json.loads(l) for l in sys.stdin]
named = [c for c in calls if c["name"] == "dup2" and c.get("fd_name") == os.environ["t"] + "/log"]
assert len(named) > 10, (len(named), [c for c in calls if c["name"] == "dup2"][:2])' 2>"$t/err"
check "descriptors that were open before the kept part have their names" $? "$(tail -n 1 "$t/err")"

# a command's children: forked, with what they opened, before the kept part; one waits all the time
cat >"$t/waits.py" <<'P'
import json, os
tid = int(open(os.environ["t"] + "/cat").read())
r = json.load(open(os.environ["t"] + "/longest.json"))
assert tid in [w["tid"] for w in r["longest"]], (tid, r["longest"][:3])
P
children() { # [-a]
	rm -f "$t/f.dat" "$t/log2" "$t/cat"
	"$TARRY" record -q --keep 1s "$@" -o "$t/f.dat" -- bash -c '(exec 9>"$t/log2"; while sleep 0.02; do echo x >&9; done) &
		cat "$t/fifo" & echo $! >"$t/cat"; wait' 2>"$t/said" & p=$!
	await 60 test -s "$t/log2" -a -s "$t/cat"
	# Some marks may be waiting that were made before that.
	if ! drops "$t/f.dat" 4; then
		kill -TERM $p; wait $p
		skip "children of before the kept part $*" "nothing was dropped in a minute"
		return
	fi
	shell=$(pgrep -P $p bash)
	started="$(pgrep -P "$shell") $shell"
	kill -TERM $p; wait $p
	"$TARRY" dump "$t/f.dat" syscalls --json 2>/dev/null | python3 -c 'import json, os, sys
calls = [c for c in map(json.loads, sys.stdin) if c["name"] == "dup2"]
named = [c for c in calls if c.get("fd_name") == os.environ["t"] + "/log2"]
assert len(named) > 10, (len(named), calls[:2])' 2>"$t/err"
	check "descriptors that a child opened before the kept part have their names $*" $? "$(tail -n 1 "$t/err")"
	# Of all processes, others wait longer.
	"$TARRY" report "$t/f.dat" longest --tid "$(cat "$t/cat")" --json 2>/dev/null >"$t/longest.json"
	judge "who waits since before the kept part is one of the traced $*" <"$t/waits.py"
	if [ $# = 0 ]; then
		rm "$t/longest.json"
		"$TARRY" export "$t/f.dat" --to dat -o "$t/w.dat" &&
			"$TARRY" report "$t/w.dat" longest --json 2>/dev/null >"$t/longest.json"
		judge "and in all of it as a recording of its own" <"$t/waits.py"
	fi
	kill $started 2>/dev/null
}
mkfifo "$t/fifo"
children
children -a

# a size: how much the disk holds while it is recorded, and in the end
"$TARRY" record --keep 16M -a -o "$t/s.dat" 2>"$t/said" & p=$!
await 60 tracing $p
"$PROGRAMS/numbered_calls" 100000000 4000 & load=$!
most=0 written=0 before=0 step=0 end=$((SECONDS + 30))
while [ $written -lt $((48 << 20)) ] && [ $SECONDS -lt $end ]; do
	read -r blocks written <<<"$(stat -c '%b %s' "$t/s.dat" 2>/dev/null || echo 0 0)"
	[ $((blocks * 512)) -gt $most ] && most=$((blocks * 512))
	[ $((written - before)) -gt $step ] && step=$((written - before))
	before=$written
	sleep 0.05
done
kill -INT $p; wait $p; r=$?
kill $load; wait $load 2>/dev/null
check "a recording with --keep 16M ends well" $r "$(cat "$t/said")"
if [ $written -lt $((48 << 20)) ]; then
	skip "the disk holds what is kept" "the machine writes too slowly: $written bytes in half a minute"
else
	# Where the recorder got no CPU for a while it holds up to twice as much, and what came then.
	[ $most -gt 0 ] && [ $most -le $(((32 << 20) + step)) ]
	check "the disk holds what is kept" $? "$most bytes of $written, $step at once"
	[ "$(stat -c %s "$t/s.dat")" -le $(((32 << 20) + step)) ]
	check "and so does the finished file" $? "$(stat -c %s "$t/s.dat")"
	grep -q "limited by the size of --keep" "$t/said"
	check "the closing line says that the size is the bound" $? "$(cat "$t/said")"
	if grep -q ", 0 lost, recorder" "$t/said"; then
		is "nothing is said to be lost where the kernel lost nothing" \
			"$(fact "$t/s.dat" summary lost)" 0
	else
		skip "nothing is said to be lost" "the kernel lost events"
	fi
fi

# killed, most likely right after a drop: what is left is the kept part; of the last two seconds a chunk may be
# missing that was being written
"$TARRY" record -q --no-strings --keep 3s -o "$t/k.dat" -- "$PROGRAMS/numbered_calls" 1000000 10 & p=$!
await 60 tracing $p; drops "$t/k.dat" 2
child=$(pgrep -P $p numbered_calls); kill -9 $p; wait $p 2>/dev/null; kill $child 2>/dev/null
"$TARRY" dump "$t/k.dat" syscalls --json 2>/dev/null >"$t/k.calls"
"$TARRY" report "$t/k.dat" --json 2>/dev/null >"$t/k.json"
judge "kill -9: the kept part is there, and says that it is one, of a recording that was not finished" <<'P'
import json, os
f = json.load(open(os.environ["t"] + "/k.json"))["file"]
assert f["unfinished"] and f["kept_from_ns"] and f["recorded_ns"] > 0, f
calls = [c for c in map(json.loads, open(os.environ["t"] + "/k.calls"))
         if c.get("comm") == "numbered_calls" and c["name"] == "lseek"]
# A call whose begin was in a chunk that is missing has no arguments.
calls = sorted((c["ts_ns"], int(c["args"][1], 0) if c["args"] else None) for c in calls)
assert len(calls) > 100 and calls[0][1] > 1, calls[:2]
assert calls[0][0] < f["kept_from_ns"] + 5e8 and calls[-1][0] > f["kept_from_ns"] + 2.5e9, (calls[0], calls[-1], f)
for a, b in zip(calls, calls[1:]):
    assert b[0] > calls[-1][0] - 2e9 or b[1] == a[1] + 1, (a, b, calls[-1])
P
"$TARRY" record -q -o "$t/next.dat" -- true
echo "1..$n"
exit $bad
