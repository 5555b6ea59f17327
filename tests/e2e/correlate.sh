#!/usr/bin/env bash
# Outliers, comparison and log files on a real recording of a program whose odd moments are known.
set -u
export LC_ALL=C.UTF-8 TERM=xterm-256color
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip correlate "recording needs root and the program"
	exit 0
fi
# What the program did is known, but not what a busy machine does to it: up to three tries.
if [ -z "${CORRELATE_TRY:-}" ]; then
	CORRELATE_TRY=1 tries 3 bash "$0"
	exit
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cat >program.py <<'P'
# 40 answers through a pipe, the 30th 300 ms late; then 200,000 getppid on the CPU.
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
for i in range(200000): # a number, not a time: however many share the CPUs
    os.getppid()
say("burn ends")
time.sleep(0.3)
log.close()
P
# Not by way of a wrapper in a shell: its calls would be the same thread's.
python=$(python3 -c 'import sys; print(sys.executable)')
if ! "$TARRY" record -q -o c.dat -- "$python" program.py >/dev/null 2>err.txt; then
	not_ok "the program is recorded" "$(cat err.txt)"
	echo "1..$n"
	exit
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

judge "outliers: the late answer beside a usual one, and that it waited for the server" <<'P'
from common import *
doc = report("outliers")
at = logged(doc)
mine = [o for o in doc["outliers"] if o["comm"].startswith("python") and o["syscall"] == "read" and o["slow_ns"] > 2e8
        and at["slow answer begins"] - 5e6 < o["slow_start_ns"] < at["slow answer came"]]
assert len(mine) == 1, doc["outliers"][:5]
o = mine[0]
print(o["slow_ns"], o["median_ns"], o["rows"][0])
assert 295e6 < o["slow_ns"] and o["slow_ns"] > 2 * o["median_ns"], o
assert o["rows"][0]["row"].startswith("sleeping in read"), o["rows"][0]
for k in ("slow_ns", "median_ns"):
    assert sum(r[k] for r in o["rows"]) == o[k], k
text = tarry("report", "c.dat", "outliers")
assert "read: " in text and "sleeping in read" in text, text
P
judge "diff: the burning part differs by this program's CPU time and getppid" <<'P'
from common import *
doc = report()
at, start = logged(doc), doc["summary"]["start_ns"]
window = [x for o, t in (("--from", "burn begins"), ("--to", "burn ends"))
          for x in (o, f"{(at[t] - start) / 1e9:.9f}")]
doc = report("diff", *window)
d = doc["diff"]
print(d["in_ns"], d["out_ns"], [(r["kind"], r["what"], round(r["share"], 2)) for r in d["rows"][:5]])
assert abs(d["in_ns"] - (at["burn ends"] - at["burn begins"])) < 1e4, d["in_ns"]
assert d["in_ns"] + d["out_ns"] == doc["summary"]["end_ns"] - start
rows = {(r["kind"], r["what"]): r for r in d["rows"]}
getppid = rows["syscall", "getppid"]
cpu = [r for (kind, what), r in rows.items() if kind == "cpu" and what.startswith("python")]
cpu = max(cpu, key=lambda r: r["in"])
assert getppid["in"] == 200000 or doc["summary"]["lost"] and getppid["in"] > 100000, getppid
assert getppid["out"] < getppid["in"] / 50 and getppid["significant"], getppid
assert getppid["share"] > 0.8, getppid
assert 20e6 < cpu["in"] <= d["in_ns"], cpu
text = tarry("report", "c.dat", "diff", *window)
assert "getppid" in text, text
r = subprocess.run([os.environ["TARRY"], "report", "c.dat", "diff"], capture_output=True, text=True)
assert r.returncode == 2 and "--from" in r.stderr, r
P
judge "--log: the program's own lines lie at their instants, and around the stall" <<'P'
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
judge "--from and --to take the log's own time stamps, whatever their form" <<'P'
from common import *
at = logged(report())
lines = [line.split(" ", 1) for line in open("app.log")]
begins, ends = (next(w for w, text in lines if text.strip() == t) for t in ("burn begins", "burn ends"))
def forms(when):
    t = datetime.datetime.fromisoformat(when)
    return (when, when.replace("T", " "), f"{t.timestamp():.6f}",
            t.astimezone().strftime("%d %b %Y %H:%M:%S.%f"))
for first, last in zip(forms(begins), forms(ends)):
    s = report("--from", first, "--to", last)["summary"]
    print(first, last, s["from_ns"] - at["burn begins"], s["to_ns"] - at["burn ends"])
    assert abs(s["from_ns"] - at["burn begins"]) < 1e6 and abs(s["to_ns"] - at["burn ends"]) < 1e6, s
r = subprocess.run([os.environ["TARRY"], "report", "c.dat", "--from", begins + " burn"], capture_output=True, text=True)
assert r.returncode == 2 and "with its date" in r.stderr, r
P
judge "view --log: the lines stand on the axis, at their instants" <<'P'
from common import *
doc = report()
at, start = logged(doc), doc["summary"]["start_ns"]
window = [x for o, t, d in (("--from", "burn begins", -0.01), ("--to", "burn ends", 0.05))
          for x in (o, f"{(at[t] - start) / 1e9 + d:.9f}")]
frame = tarry("view", "c.dat", "--print", "--size", "120x30", "--log", "app.log", *window).split("\n")
strip = [l for l in frame if l.startswith(" app.log")]
assert len(strip) == 1, frame
print(strip[0])
assert "burn begins" in strip[0] and "slow answer" not in strip[0], strip
assert strip[0].count("◆") == 2, strip
cells = strip[0][strip[0].index("│") + 1:]
length = at["burn ends"] - at["burn begins"] + 6e7
for t in ("burn begins", "burn ends"):
    c = (at[t] - at["burn begins"] + 1e7) / length * 90
    assert any(cells[i:i + 1] == "◆" for i in range(max(0, int(c) - 1), int(c) + 2)), (t, c, cells)
without = tarry("view", "c.dat", "--print", "--size", "120x30", *window)
assert "app.log" not in without and "burn begins" not in without
P
judge "--log: what is no log is refused, what has no times is said" <<'P'
from common import *
for bad in ("/dev/zero", "nothing.there", "."):
    for how in (["report", "c.dat"], ["view", "c.dat", "--print"]):
        r = subprocess.run([os.environ["TARRY"], *how, "--log", bad], capture_output=True, text=True)
        assert r.returncode in (1, 2) and bad in r.stderr, (bad, r)
open("junk.log", "wb").write(os.urandom(300000) + b"\n" + b"x" * 3000000)
doc = report("--log", "junk.log")
assert doc["log"]["untimed"] > 100 and not doc["log"]["lines"], doc["log"]["untimed"]
P
echo "1..$n"
