#!/usr/bin/env bash
# Requests of real servers: a threaded Python server with two slow ones of known length, one of them
# behind a lock, attached to; a Redis server, whose own count of commands is compared with ours.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "requests" "recording needs root and the program"
	exit 0
fi
dir=$(mktemp -d)
cd "$dir" || exit 1
server= redis=
cleanup() {
	for p in $server $redis; do kill "$p" && wait "$p"; done 2>/dev/null
	cd / && rm -rf "$dir"
}
trap cleanup EXIT

cat >server.py <<'P'
import socket, threading, time
lock = threading.Lock()
def serve(c):
    while (what := c.recv(100)):
        if what == b"sleep": time.sleep(0.5)
        elif what == b"hold":
            with lock: time.sleep(0.8)
        elif what == b"lock":
            with lock: pass
        c.sendall(b"done")
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
P
cat >client.py <<'P'
import socket, sys, threading, time
def ask(c, what):
    c.sendall(what); c.recv(100)
a, b, d = (socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(3))
for c in (a, b, d): ask(c, b"x")       # three requests before the recording
print("up", flush=True); sys.stdin.readline()
for _ in range(100): ask(a, b"x")
ask(b, b"sleep")
t = threading.Thread(target=ask, args=(d, b"hold")); t.start()
time.sleep(0.3)
ask(b, b"lock")
t.join()
P
python3 server.py >port 2>/dev/null &
server=$!
await 60 test -s port
mkfifo go
python3 client.py "$(cat port)" <go >up &
client=$!
exec 9>go
await 60 test -s up
"$TARRY" record -q -o t.dat -p "$server" --counter task-clock --duration 60s 2>rec.log &
rec=$!
await 60 recording "$rec" t.dat
echo >&9
wait "$client"
exec 9>&-
kill -INT "$rec"
wait "$rec"
"$TARRY" report t.dat requests --json >r.json 2>r.err
judge "requests of an attached server: all counted, the slow ones with their length and what they waited for" <<'P'
import json
q = json.load(open("r.json"))["requests"]
assert q["count"] == 103, q["count"]
slow = [(r["duration_ns"] / 1e9, r["most_in"] or "") for r in q["slowest"][:3]]
print("#", slow)
assert 0.78 < slow[0][0] < 1.6 and "nanosleep" in slow[0][1], slow
assert 0.48 < slow[1][0] < 1.2, slow
assert sum("futex" in w for _, w in slow) == 1, slow
assert q["services"][0]["p50_ns"] < 0.1e9
P
found=$("$TARRY" report t.dat stalls --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["stalls"]))')
passes "a printed frame has the report's stalls ($found), those inside requests, too" \
	eval '[ "$found" -gt 0 ] && "$TARRY" view t.dat --print --size 100x30 | grep -q " $found stall"'
"$TARRY" report t.dat requests >text
judge "the slowest beside a median one, with the counters of their threads" <<'P'
import json
s = json.load(open("r.json"))["requests"]["slowest_and_median"]
clock = [s[f"{k}_counters"]["measures"][0] for k in ("slow", "median")]
assert all(c["name"] == "task-clock" for c in clock), clock
# It slept most of the time.
assert clock[0]["value"] < 0.2 * s["slow_ns"], s
P
read -r from to < <(python3 -c 'import json
d = json.load(open("r.json"))
first = min(d["requests"]["slowest"][:3], key=lambda r: r["start_ns"])
at = (first["start_ns"] - d["summary"]["start_ns"]) / 1e9
print(at - 1e-4, at + first["duration_ns"] / 1e9 + 1e-4)')
"$TARRY" report t.dat findings --from "$from" --to "$to" >few
passes "no finding, and that there were too few requests for one" \
	grep -qE '^     python3/[0-9]+ .*replied to [0-9]+ requests?: at least 16 are needed' few
passes "the same as text" grep -qE 'python3/[0-9]+ "' text

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	redis-server --port 0 --unixsocket "$dir/sock" --save '' >/dev/null 2>&1 &
	redis=$!
	await 60 test -S sock
	"$TARRY" record -q -o redis.dat -p "$redis" --duration 60s 2>/dev/null &
	rec=$!
	await 60 recording "$rec" redis.dat
	redis-benchmark -s "$dir/sock" -n 3000 -c 7 -t get -q >/dev/null 2>&1
	kill -INT "$rec"
	wait "$rec"
	"$TARRY" report redis.dat requests --json >q.json 2>/dev/null
	judge "each command of Redis is a request, whatever is served in between" <<'P'
import json
q = json.load(open("q.json"))["requests"]
print("#", q["count"], q["services"])
# redis-benchmark requests the configuration before it starts.
assert 3000 <= q["count"] <= 3010, q["count"]
P
else
	skip "each command of Redis is a request" "redis is not installed"
fi
echo "1..$n"
exit $bad
