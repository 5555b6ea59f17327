#!/usr/bin/env bash
# Recordings that begin when all runs already: what a thread waits for since before -a, and the children
# that a process given with -p has by then.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "attaching" "recording needs root and the program"
	echo "1..$n"
	exit 0
fi
t=$(mktemp -d)
export t
cd "$t" || exit 1
quit() {
	local j
	for j in $(jobs -p); do kill $(pgrep -P "$j") "$j" 2>/dev/null; done
	cd / && rm -rf "$t"
}
trap quit EXIT
sleeps() { grep -q '^State:.*S' "/proc/$1/status"; }

# -a: a read that began before the recording tells of a pipe, whose other end a child has. A second one,
# of a descriptor from before, has its name.
cat >reader.py <<'P'
import os
ours, theirs = os.pipe()
child = os.fork()
if not child:
    # A neighbour that took the CPU would rightly be the answer.
    os.nice(-20)
    while not os.path.exists("go"):
        pass
    for i in range(2):
        os.write(theirs, b"x")
        while os.path.exists("go"):
            pass
    os._exit(0)
open("pids", "w").write(f"{os.getpid()} {child}\n")
os.read(ours, 1)
os.unlink("go")
os.read(ours, 1)
os.waitpid(child, 0)
P
python3 reader.py & reader=$!
await 60 test -s pids && await 60 sleeps $reader
"$TARRY" record -q -a -o a.dat 2>said & rec=$!
# It has that name once the descriptors are listed; and is a stall if it waits for 20 ms from then on.
await 60 test -e a.dat
sleep 0.2
touch go
wait $reader
kill -INT $rec; wait $rec
check "-a is recorded until SIGINT" $? "$(cat said)"
"$TARRY" report a.dat --json >a.json 2>err
"$TARRY" dump a.dat syscalls --json --tid $reader >calls.json 2>>err
judge "-a: who reads from a pipe since before is held up by the one that writes to it" <<'P'
import json
reader, child = map(int, open("pids").read().split())
stalls = json.load(open("a.json"))["stalls"]
s = [s for s in stalls if s["tid"] == reader][0]
assert s["cause"]["kind"] == "pipe" and s["cause"]["tid"] == child, s["sentence"]
assert s["object"].endswith(f" <pipe from python3/{child} \"reader.py\">"), (s["object"], child)
P
judge "-a: a descriptor from before has its name" <<'P'
import json
calls = [json.loads(line) for line in open("calls.json")]
assert any(c["name"] == "read" and c.get("fd_name", "").startswith("pipe:[") for c in calls), calls[-5:]
P

# -p: what descends from the process and runs already; one of them does nothing at all.
mkfifo gate
loop() { while :; do sleep 0.02; echo; done >>"$1"; }
export -f loop
bash -c 'bash -c "loop rounds" & cat gate & wait' & parent=$!
started() { loop=$(pgrep -P $parent -x bash) && idle=$(pgrep -P $parent -x cat) && [ "$(wc -w <<<"$loop")" = 1 ] && sleeps "$idle"; }
rounds() { wc -l <"$1"; }
more() { [ "$(rounds "$1")" -gt $(($2 + 5)) ]; } # FILE SINCE
if ! await 60 started; then
	not_ok "a process with two children runs"
	echo "1..$n"
	exit $bad
fi
"$TARRY" record -p $parent -o p.dat 2>said & rec=$!
await 60 test -s said
await 60 more rounds "$(rounds rounds)"
kill -INT $rec; wait $rec
check "-p is recorded until SIGINT" $? "$(cat said)"
grep -qE '^tarry: recording [3-9] processes: 1 given, and [2-9] that descend from it$' said
check "-p says how many children were found running" $? "$(cat said)"
"$TARRY" report p.dat --json >p.json 2>err
"$TARRY" dump p.dat syscalls --json >calls.json 2>>err
loop=$loop idle=$idle judge "-p: a child's calls are recorded, and one that does not stir is one of them" <<'P'
import json, os
threads = {t["tid"]: t for t in json.load(open("p.json"))["threads"]}
loop, idle = int(os.environ["loop"]), int(os.environ["idle"])
calls = [json.loads(line)["tid"] for line in open("calls.json")]
assert calls.count(loop) > 3 and not calls.count(idle), (calls.count(loop), calls.count(idle))
assert threads[idle]["traced"], threads[idle]
P
kill $loop $idle $parent 2>/dev/null
wait $parent 2>/dev/null

# -p of tarry's parent: its other children, and not tarry itself, whose calls would make calls.
loop others & other=$!
await 60 test -s others
"$TARRY" record -q -p $$ -o s.dat 2>said & rec=$!
await 60 test -e s.dat
await 60 more others "$(rounds others)"
kill -INT $rec; wait $rec
check "-p of tarry's own parent is recorded until SIGINT" $? "$(cat said)"
"$TARRY" dump s.dat syscalls --json >calls.json 2>err
other=$other rec=$rec judge "it has the calls of another child, and none of tarry" <<'P'
import json, os
pids = [json.loads(line)["pid"] for line in open("calls.json")]
other, rec = int(os.environ["other"]), int(os.environ["rec"])
assert pids.count(other) > 3 and not pids.count(rec), (pids.count(other), pids.count(rec), len(pids))
P
echo "1..$n"
exit $bad
