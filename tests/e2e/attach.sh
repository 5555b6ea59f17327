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
trap 'cd / && rm -rf "$t"' EXIT
sleeps() { grep -q '^State:.*S' "/proc/$1/status"; }

# -a: a read that began before the recording tells of a pipe, whose other end a child has. A second one,
# of a descriptor from before, has its name.
cat >reader.py <<'P'
import os
ours, theirs = os.pipe()
child = os.fork()
if not child:
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
await 60 tracing $rec
sleep 0.3
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
assert "<pipe:[" in s["object"], s["object"]
P
judge "-a: a descriptor from before has its name" <<'P'
import json
calls = [json.loads(line) for line in open("calls.json")]
assert any(c["name"] == "read" and c.get("fd_name", "").startswith("pipe:[") for c in calls), calls[-5:]
P

# -p: what descends from the process and runs already; one of them does nothing at all.
mkfifo gate
bash -c 'bash -c "while :; do sleep 0.02; done" & cat gate & wait' & parent=$!
started() { loop=$(pgrep -P $parent -x bash) && idle=$(pgrep -P $parent -x cat) && [ "$(wc -w <<<"$loop")" = 1 ] && sleeps "$idle"; }
await 60 started
"$TARRY" record -p $parent -o p.dat 2>said & rec=$!
await 60 tracing $rec
await 60 test -s said
sleep 0.3
kill -INT $rec; wait $rec
check "-p is recorded until SIGINT" $? "$(cat said)"
grep -qE '^tarry: recording [3-9] processes: 1 given, and [2-9] found running that descend from it$' said
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

# -p of who made tarry: not itself, whose calls would make calls.
"$TARRY" record -q -p $$ -d 300ms -o s.dat & rec=$!
wait $rec
"$TARRY" dump s.dat syscalls >s.txt 2>err
! grep -q "^$rec " s.txt
check "-p of tarry's own parent leaves tarry out" $? "$(grep -m 3 "^$rec " s.txt)"
echo "1..$n"
exit $bad
