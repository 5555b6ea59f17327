#!/usr/bin/env bash
# The ledger of real recordings: rows sum to the time exactly, little is unknown where nothing was lost,
# time on CPU is the kernel's own account, with user and kernel mode separate.
set -u
# Lane: alone
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "ledgers" "recording needs root and the program"
	exit 0
fi
src=$PWD
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/steal.bash"
cd "$dir" || exit 1
cat >ledger.py <<'P'
import json, subprocess, sys, os

def load(file, *options):
    r = subprocess.run([os.environ["TARRY"], "report", file, "ledger", "--json", *options],
                       capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout)

def check_sums(doc):
    assert doc["ledger"], "an empty ledger"
    for e in doc["ledger"]:
        total = sum(r["ns"] for r in e["rows"])
        assert total == e["end_ns"] - e["start_ns"], (e["tid"], e["comm"], total, e["end_ns"] - e["start_ns"])
        assert all(r["ns"] >= 0 for r in e["rows"]), e

def part(entry, *begins):
    return sum(r["ns"] for r in entry["rows"] if r["row"].startswith(begins))

def unknown(entry):
    return sum(r["ns"] for r in entry["rows"] if "unknown" in r["row"])

def born(doc):
    return {t["tid"] for t in doc["threads"] if t.get("born")} | {doc["machine"]["command_tid"]}
P
export PYTHONPATH=$dir PYTHONDONTWRITEBYTECODE=1
record() { # WHAT OPTIONS... -- CMD...
	"$TARRY" record -q -o l.dat "${@:2}" >ran.txt 2>err.txt && return
	not_ok "$1" "$(cat err.txt)"
	return 1
}

sums='
import sys
from ledger import *
doc = load("l.dat")
check_sums(doc)
command = [e for e in doc["ledger"] if e["tid"] == 0]
assert len(command) == 1, len(command)
mine = [e for e in doc["ledger"] if e["tid"] in born(doc)]
assert mine, "no thread of the command"
for what, es in ("threads", mine), ("command", command):
    all_ns = sum(e["end_ns"] - e["start_ns"] for e in es)
    no = sum(unknown(e) for e in es)
    print(f"{what}: {len(es)} ledgers, {all_ns / 1e9:.3f} s, unknown {no / all_ns:.3%}")
    assert doc["summary"]["lost"] or no < 0.01 * all_ns, "more than 1% is unknown"
# So do processes: to what their threads lived.
by_process = load("l.dat", "--process")
check_sums(by_process)
assert [e["tid"] for e in by_process["ledger"]] == [0]
for e in by_process["processes"]:
    assert sum(r["ns"] for r in e["rows"]) == e["total_ns"] > 0, e
    assert e["threads"] > 1 or e["total_ns"] == e["end_ns"] - e["start_ns"], e
threads_ns = sum(e["end_ns"] - e["start_ns"] for e in doc["ledger"] if e["tid"])
assert sum(e["total_ns"] for e in by_process["processes"]) >= threads_ns, threads_ns
assert doc["machine"]["command_tid"] in [e["pid"] for e in by_process["processes"]]
# Any window sums, too.
s = doc["summary"]
length = (s["end_ns"] - s["start_ns"]) / 1e9
for a, b in (0.1, 0.2), (0.33, 0.77), (0.9, 1.0):
    part_doc = load("l.dat", "--from", f"{a * length:.9f}", "--to", f"{b * length:.9f}")
    check_sums(part_doc)
    w = part_doc["summary"]
    for e in part_doc["ledger"]:
        assert w["from_ns"] <= e["start_ns"] <= e["end_ns"] <= w["to_ns"], (e, w)
'
# What the threads say of themselves against their ledgers.
cat >schedstat.py <<'P'
from ledger import *
doc = load("l.dat")
check_sums(doc)
entries = {e["tid"]: e for e in doc["ledger"]}
inferred = {t["tid"]: t["inferred_ns"] for t in doc["threads"]}
for line in open("ran.txt"):
    tid, name, ran, still, preempted = line.split()
    e = entries[int(tid)]
    got = part(e, "on CPU", "interrupted by")
    short = name in ("tick", "tock")
    # In bursts of 10 us the kernel's account lies between running and running + ready: it
    # charges a woken thread that takes the CPU at once from the wakeup on (tests/programs/schedstat.c).
    most = got + (part(e, "runnable") if short else 0)
    print(f"{name}: kernel {ran} ns, ledger {got} ns ({got / int(ran) - 1:+.3%}), at most {most}, "
          f"inferred {inferred[int(tid)]}, stood still {still}, preempted {preempted}")
    # (As report.sh: of bursts of 10 us the start of each may be inferred.)
    assert inferred[int(tid)] <= (0.5 if short else 0.1) * int(ran), e
    slack = 0.01 * int(ran) + inferred[int(tid)]
    uncharged = int(still) + (0 if short else 25000 * int(preempted)) + int(os.environ["STEAL_NS"])
    assert got - slack - uncharged <= int(ran) <= most + slack, e
P
cat >split.py <<'P'
from ledger import *
doc = load("l.dat")
check_sums(doc)
entries = {e["tid"]: e for e in doc["ledger"]}
for line in open("ran.txt"):
    tid, name, ns = line.split()
    e = entries[int(tid)]
    u, all_ns = part(e, "on CPU outside system calls"), part(e, "on CPU")
    print(f"{name}: {ns} ns, ledger: user {u}, kernel {all_ns - u}")
    right = u if name == "user" else all_ns - u
    # What interrupts and the hypervisor took meanwhile stands in rows of its own.
    taken = part(e, "interrupted by", "lost to the hypervisor")
    assert 0.97 * int(ns) - taken <= right <= 1.03 * int(ns), e
    assert all_ns - right <= 0.03 * int(ns) + 2e6, e
P

if record "a compile" -- sh -c "for f in $src/base/*.c; do
	gcc -std=gnu17 -D_GNU_SOURCE -O1 -iquote $src/base -c -o x.o \$f; done"; then
	judge "a compile: ledgers sum exactly, less than 1% is unknown" <<<"$sums"
fi
if record "find /usr" -- find /usr -name x; then
	judge "find /usr: ledgers sum exactly, less than 1% is unknown" <<<"$sums"
fi
account() { # SCRIPT WHAT PROGRAM...
	local steal
	steal=$(steal_ns)
	"$TARRY" record -q -o l.dat -- "$PROGRAMS/$3" "${@:4}" >ran.txt 2>err.txt
	[ $? -ne 3 ] || { skip "$2" "no such CPU"; return; }
	STEAL_NS=$(steal_since $steal) judge "$2" <"$1"
}
# (Again as in report.sh.)
for cpu in 0 1 -1; do
	tries 6 account schedstat.py "schedstat $cpu: time on CPU is the kernel's own account within 1%" schedstat $cpu
done
tries 6 account split.py "time in user mode and in the kernel is told apart" user_kernel
echo "1..$n"
