#!/usr/bin/env bash
# --clock: the same moment in all three clocks, in each command that shows times as text.
set -u
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - clockopt # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export TZ=Asia/Kathmandu # no zone of whole hours
export TERM=xterm LC_ALL=C.UTF-8 # block elements
if ! "$TARRY" record -q -o c.dat -- python3 -c 'import time; print(time.time()); time.sleep(0.4)' >told.txt 2>err.txt; then
	echo "not ok 1 - the program is recorded"
	sed 's/^/# /' err.txt
	echo "1..1"
	exit 1
fi
cat >common.py <<'P'
import datetime, json, os, re, subprocess
def run(*args):
    return subprocess.run([os.environ["TARRY"], *args], capture_output=True, text=True)
def tarry(*args):
    r = run(*args)
    assert r.returncode == 0, r
    return r.stdout
def day_ns(text): # "14:03:22.512345" as ns of the day
    h, m, s = text.split(":")
    return (int(h) * 60 + int(m)) * 60 * 10**9 + ns(s)
def ns(text):
    whole, frac = text.split(".")
    return int(whole) * 10**9 + int(frac.ljust(9, "0"))
calls = [json.loads(l) for l in tarry("dump", "c.dat", "syscalls", "--json").splitlines()]
events = [json.loads(l) for l in tarry("dump", "c.dat", "events", "--json").splitlines()]
begin = min(e["ts_ns"] for e in events)
P
judge "dump events: trace clock as ever, from the start, time of day of the machine" <<'P'
from common import *
def times(*args): # of events, not of losses
    return re.findall(r"^.*?-\d+ *\[\d+\] +([\d:.]+): ", tarry("dump", "c.dat", "events", *args), re.M)
plain, trace, start, wall = times(), times("--clock", "trace"), times("--clock", "start"), times("--clock", "wall")
assert plain == trace and len(plain) > 100 and len({len(plain), len(start), len(wall)}) == 1, (len(plain), len(start), len(wall))
for p, s, w in zip(plain, start, wall):
    assert ns(p) - begin == ns(s), (p, s)
    assert (day_ns(w) - day_ns(wall[0]) - (ns(p) - ns(plain[0]))) % (86400 * 10**9) in range(0, 10**8) or \
        (ns(p) - ns(plain[0]) - (day_ns(w) - day_ns(wall[0]))) % (86400 * 10**9) in range(0, 10**8), (p, w)
told = float(open("told.txt").read())
zone = datetime.timezone(datetime.timedelta(hours=5, minutes=45))
t = datetime.datetime.fromtimestamp(told, zone)
at = ((t.hour * 60 + t.minute) * 60 + t.second) * 10**9 + t.microsecond * 1000
assert day_ns(wall[0]) <= at + 10**7 and at <= day_ns(wall[-1]) + 10**7 or day_ns(wall[-1]) < day_ns(wall[0]), (wall[0], at, wall[-1])
P
judge "dump syscalls: time of day as ever, from the start, trace clock" <<'P'
from common import *
def times(*args):
    return [l.split()[1] for l in tarry("dump", "c.dat", "syscalls", *args).splitlines() if re.match(r"\d+ ", l)]
plain, wall, start, trace = times(), times("--clock", "wall"), times("--clock", "start"), times("--clock", "trace")
assert plain == wall and ":" in plain[0] and len(plain) == len(start) == len(trace) > 50
known = {c["ts_ns"] // 1000 for c in calls if "ts_ns" in c} | {c.get("start_ns", 0) // 1000 for c in calls}
for s, t in zip(start, trace):
    assert abs(ns(t) - begin - ns(s)) <= 1000, (s, t)
assert sum(ns(t) // 1000 in known for t in trace) > len(trace) // 2, (trace[:3], sorted(known)[:3])
P
judge "report: stalls, ledger, tables and JSON" <<'P'
from common import *
doc = json.loads(tarry("report", "c.dat", "--all", "--json"))
assert json.loads(tarry("report", "c.dat", "--all", "--json", "--clock", "wall"))["stalls"] == doc["stalls"]
def stalls(*args):
    return re.findall(r"^ +\d+ .*? at ([\d:.]*\d)( s)?", tarry("report", "c.dat", "stalls", "--all", *args), re.M)
start, wall, trace = stalls(), stalls("--clock", "wall"), stalls("--clock", "trace")
assert start and start == stalls("--clock", "start") and len(start) == len(wall) == len(trace)
for s, w, t in zip(start, wall, trace):
    assert s[1] == t[1] == " s" and not w[1] and re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", w[0]), (s, w, t)
    assert abs(ns(t[0]) - begin - ns(s[0])) < 2 * 10**6, (s, t)
for section, unit in (("syscalls", "at (s)"), ("longest", " at "), ("ledger", " from "), ("header", "period")):
    text = tarry("report", "c.dat", section, "--clock", "wall")
    assert re.search(r"\d\d:\d\d:\d\d\.\d{3}", text), (section, text[:500])
    assert "at (s)" not in text
P
judge "view --print: window, ruler, findings and cursor" <<'P'
from common import *
def frame(*args):
    return tarry("view", "c.dat", "--print", "--size", "120x40", "--from", "0.05", "--to", "0.25", *args)
start, wall, trace = frame(), frame("--clock", "wall"), frame("--clock", "trace")
assert start == frame("--clock", "start") and " 0.0500 s to 0.2500 s (" in start, start
clock = re.search(r"at [\d.]+ s, clock (\d\d:\d\d:\d\d\.\d+)", start)[1]
other = re.search(r"at (\d\d:\d\d:\d\d\.\d+), ([\d.]+) s from the start", wall)
assert other and abs(day_ns(other[1]) - day_ns(clock)) < 10**7, (clock, other)
m = re.search(r" ([\d.]+) s to ", trace)
assert abs(ns(m[1]) - begin - 50 * 10**6) < 10**6, (m[1], begin)
ruler = [l for l in wall.splitlines() if l.count(":") >= 4 and "\u252c" in l]
assert ruler and all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{2,3}", t) for t in re.findall(r"\d\d:\d\d:\d\d[.\d]*", ruler[0])), wall
P
judge "a word that is no clock, and commands without times of a recording" <<'P'
from common import *
for args in (("report", "c.dat", "--clock", "utc"), ("dump", "c.dat", "--clock", ""), ("view", "c.dat", "--print", "--clock", "Wall")):
    r = run(*args)
    assert r.returncode == 2 and "--clock takes start, wall or trace" in r.stderr, (args, r)
r = run("dump", "c.dat", "memory", "--clock", "wall")
assert r.returncode == 2 and "--clock does not work with" in r.stderr, r
P
echo "1..$n"
