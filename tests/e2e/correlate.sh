#!/usr/bin/env bash
# Outliers, comparison and log files on a real recording of a program whose odd moments are known.
set -u
n=0
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - correlate # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cat >program.py <<'P'
# 40 answers through a pipe, the 30th 300 ms late; then 300 ms of getppid on the CPU.
import os, threading, time, sys, datetime
ask, answer = os.pipe(), os.pipe()
log = open("app.log", "w")

def say(text):
    log.write(datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="microseconds") + " " + text + "\n")

def server():
    for i in range(40):
        os.read(ask[0], 1)
        time.sleep(0.3 if i == 29 else 0.004)
        os.write(answer[1], b"x")

t = threading.Thread(target=server)
t.start()
for i in range(40):
    if i == 29:
        say("slow answer begins")
    os.write(ask[1], b"x")
    os.read(answer[0], 1)
    if i == 29:
        say("slow answer came")
t.join()
time.sleep(0.1)
say("burn begins")
end = time.monotonic() + 0.3
while time.monotonic() < end:
    os.getppid()
say("burn ends")
time.sleep(0.3)
log.close()
P
check() { # WHAT; a python program on stdin decides
	cat >judge.py
	n=$((n + 1))
	if python3 judge.py >said.txt 2>&1; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
	sed 's/^/# /' said.txt | tail -n 12
}
if ! "$TARRY" record -q -o c.dat -- python3 program.py >/dev/null 2>err.txt; then
	echo "not ok 1 - the program is recorded"
	sed 's/^/# /' err.txt
	echo "1..1"
	exit 1
fi
cat >common.py <<'P'
import json, os, subprocess, datetime

def tarry(*args):
    r = subprocess.run([os.environ["TARRY"], *args], capture_output=True, text=True)
    assert r.returncode == 0, (args, r.stderr)
    return r.stdout

def report(*args):
    return json.loads(tarry("report", "c.dat", *args, "--json"))

def logged(doc):
    """Texts of the program's log -> trace time in ns"""
    out = {}
    start = doc["summary"]["start_ns"], doc["summary"]["start_realtime_ns"]
    for line in open("app.log"):
        when, text = line.rstrip("\n").split(" ", 1)
        d = datetime.datetime.fromisoformat(when)
        ns = int(d.replace(microsecond=0).timestamp()) * 10**9 + d.microsecond * 1000
        out[text] = start[0] + ns - start[1]
    return out
P
export PYTHONPATH=$dir PYTHONDONTWRITEBYTECODE=1

check "outliers: the late answer beside a usual one, and that it waited for the server" <<'P'
from common import *
doc = report("outliers")
at = logged(doc)
mine = [o for o in doc["outliers"] if o["comm"] == "python3" and o["syscall"] == "read" and o["slow_ns"] > 2e8
        and at["slow answer begins"] - 5e6 < o["slow_start_ns"] < at["slow answer came"]]
assert len(mine) == 1, doc["outliers"][:5]
o = mine[0]
print(o["slow_ns"], o["median_ns"], o["rows"][0])
assert 295e6 < o["slow_ns"] < 450e6 and o["slow_ns"] > 2 * o["median_ns"], o
assert o["rows"][0]["row"].startswith("blocked in read"), o["rows"][0]
for k in ("slow_ns", "median_ns"):
    assert sum(r[k] for r in o["rows"]) == o[k], k
text = tarry("report", "c.dat", "outliers")
assert "read: " in text and "blocked in read" in text, text
P
check "diff: the burning part differs by this program's CPU time and getppid" <<'P'
from common import *
doc = report()
at, start = logged(doc), doc["summary"]["start_ns"]
window = [x for o, t in (("--from", "burn begins"), ("--to", "burn ends"))
          for x in (o, f"{(at[t] - start) / 1e9:.9f}")]
doc = report("diff", *window)
d = doc["diff"]
print(d["in_ns"], d["out_ns"], [(r["kind"], r["what"], round(r["share"], 2)) for r in d["rows"][:5]])
assert 290e6 < d["in_ns"] < 600e6, d["in_ns"]
assert d["in_ns"] + d["out_ns"] == doc["summary"]["end_ns"] - start
rows = {(r["kind"], r["what"]): r for r in d["rows"]}
getppid, cpu = rows["syscall", "getppid"], rows["cpu", "python3"] # others may be at work, too
assert getppid["in"] > 1000 and getppid["out"] < getppid["in"] / 50 and getppid["significant"], getppid
assert d["rows"].index(getppid) < 15, d["rows"][:15]
assert cpu["in_per_s"] > 2 * cpu["out_per_s"] and cpu["significant"], cpu
text = tarry("report", "c.dat", "diff", *window)
assert "getppid" in text, text
r = subprocess.run([os.environ["TARRY"], "report", "c.dat", "diff"], capture_output=True, text=True)
assert r.returncode == 2 and "--from" in r.stderr, r
P
check "--log: the program's own lines lie at their instants, and around the stall" <<'P'
from common import *
plain = report()
at = logged(plain)
local = open("local.log", "w") # the same in local time without a zone, and lines that belong to others
for line in open("app.log"):
    when, text = line.rstrip("\n").split(" ", 1)
    when = datetime.datetime.fromisoformat(when).astimezone()
    local.write(when.strftime("%Y-%m-%d %H:%M:%S.%f ") + text + "\n\tat a line of its own\n")
local.write("2001-01-01T00:00:00Z long ago\n\tand more\n")
local.close()
doc = report("--log", "app.log", "--log", "local.log")
log = doc["log"]
print({k: v for k, v in log.items() if k != "lines"})
assert len(log["lines"]) == 2 * len(at) and log["outside"] == 1 and log["without_zone"] == len(at), log
assert log["lines"] == sorted(log["lines"], key=lambda k: k["ts_ns"])
for k in log["lines"]:
    text = k["text"].split("\n")[0].split(" ", 1 if k["file"] == 0 else 2)[-1]
    assert abs(k["ts_ns"] - at[text]) < 1e6, (k, at[text]) # the clock's points are interpolated
    assert k["text"].count("\n") == k["file"], k
for s in doc["stalls"]:
    for i in s["log"]:
        assert s["start_ns"] - 1e9 <= log["lines"][i]["ts_ns"] <= s["start_ns"] + s["duration_ns"] + 1e9 or s["waits"] > 1, s
text = tarry("report", "c.dat", "stalls", "--all", "--log", "app.log")
assert "app.log: " in text and "slow answer begins" in text and "log        4 lines" in text, text
assert "log" not in plain
P
check "--log: what is no log is refused, what has no times is said" <<'P'
from common import *
for bad in ("/dev/zero", "nothing.there", "."):
    r = subprocess.run([os.environ["TARRY"], "report", "c.dat", "--log", bad], capture_output=True, text=True)
    assert r.returncode in (1, 2) and bad in r.stderr, (bad, r)
open("junk.log", "wb").write(os.urandom(300000) + b"\n" + b"x" * 3000000)
doc = report("--log", "junk.log")
assert doc["log"]["untimed"] > 100 and not doc["log"]["lines"], doc["log"]["untimed"]
P
echo "1..$n"
