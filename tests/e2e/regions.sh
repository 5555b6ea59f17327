#!/usr/bin/env bash
# Regions of user code (tarry.h, lines of trace_marker), functions (--span) and static probes (--usdt):
# all found, statistics exact to the time stamps of the trace, nothing left behind.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
tracing=/sys/kernel/tracing
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "regions" "recording needs root and the program"
	exit 0
fi
if [ ! -w $tracing/uprobe_events ]; then
	skip "regions" "this kernel has no uprobes"
	exit 0
fi
top=$PWD
dir=$(mktemp -d)
note_recorders "$dir"
cd "$dir" || exit 1
held=
cleanup() {
	[ -z "$held" ] || { kill "$held" && wait "$held"; } 2>/dev/null
	cd / && rm -rf "$dir"
}
trap cleanup EXIT
left() { grep -c ":tarry_$1_" $tracing/uprobe_events; } # PID: its probes
mkdir 'a b:c'
cp "$PROGRAMS/regions" 'a b:c/regions'

# A path that the kernel's list of probes could not hold.
"$TARRY" record -q -o t.dat --counter task-clock,page-faults --span work@'a b:c/regions':return 'a b:c/regions' >truth 2>rec.log
check "a command with regions is recorded" $? "$(cat rec.log)"
"$TARRY" report t.dat --json >r.json && "$TARRY" dump t.dat events --json >e.json
judge "200 regions: every one found, lengths between those of the program and the time stamps" <<'P'
import json
r = {x["name"]: x for x in json.load(open("r.json"))["regions"]["names"]}
for line in open("truth"):
    name, n, least, most = line.split()
    x = r[name]
    assert x["count"] == x["timed"] == int(n) == 40, x
    assert x["p50_ns"] <= x["p90_ns"] <= x["p99_ns"] <= x["max_ns"] <= int(most), (x, line)
    assert x["total_ns"] <= int(most) * 40
    assert not (x["without_end"] or x["without_begin"] or x["lost"])
assert r["load"]["p50_ns"] >= 70000 and r["parse"]["p50_ns"] >= 20000
assert r["handoff"]["kind"] == r["request"]["kind"] == "async"
assert r["handoff"]["threads"] == 1
assert r["sum"]["kind"] == "counter" and r["sum"]["last"] == r["sum"]["max"] == sum(range(40)) + 280
assert r["all done"]["kind"] == "instant" and r["all done"]["p50_ns"] is None
w = r["work"]
assert w["kind"] == "function" and w["timed"] == 40 and w["p50_ns"] >= 20000, w
P
judge "percentiles, totals and self times are those of the recorded time stamps" <<'P'
import json, re
stack, found, opened = {}, {}, {}
for line in open("e.json"):
    e = json.loads(line)
    if not e["event"].startswith(("region_", "span_")): continue
    f = e.get("info", "") + " " + " ".join(f"{k}={v}" for k, v in e.get("fields", {}).items())
    kind = int(re.search(r"kind=(\d+)", f)[1]); name = e.get("fields", {}).get("name", "work")
    value = int(re.search(r"value=(-?\d+)", f)[1]); t = e["ts_ns"]; s = stack.setdefault(e["tid"], [])
    if kind in (1, 7): s.append([name, t, 0])
    elif kind in (2, 8):
        n, from_, inside = s.pop()
        found.setdefault(n, []).append((t - from_, t - from_ - inside))
        if s: s[-1][2] += t - from_
    elif kind == 5: opened[name, value] = t
    elif kind == 6:
        d = t - opened.pop((name, value)); found.setdefault(name, []).append((d, d))
r = {x["name"]: x for x in json.load(open("r.json"))["regions"]["names"]}
assert len(found) == 6, found.keys()
for name, v in found.items():
    v.sort(); x = r[name]; n = len(v)
    rank = lambda p: v[-(-p * n // 100) - 1][0]
    want = [n, rank(50), rank(90), rank(99), v[-1][0], sum(a for a, _ in v), sum(b for _, b in v)]
    got = [x[k] for k in ("timed", "p50_ns", "p90_ns", "p99_ns", "max_ns", "total_ns", "self_ns")]
    assert want == got, (name, want, got)
P
judge "counters of regions: near their lengths; estimates where readings are divided; none that end in another thread" <<'P'
import json
r = {x["name"]: x for x in json.load(open("r.json"))["regions"]["names"]}
for name in ("round", "load", "parse", "work"):
    clock, faults = r[name]["measures"]
    assert (clock["name"], faults["name"]) == ("task-clock", "page-faults") and clock["estimated"], r[name]
    assert 0 < clock["value"] <= 1.05 * r[name]["total_ns"], r[name]
clock = r["request"]["measures"][0]
assert 0 < clock["value"] <= 1.05 * r["request"]["total_ns"] and not r["request"]["ended_elsewhere"], r["request"]
assert r["handoff"]["ended_elsewhere"] == 40 and "measures" not in r["handoff"] and "measures" not in r["sum"]
P
"$TARRY" report t.dat regions parse >one.txt
grep -q 'the slowest: .* compared with a median one: ' one.txt && grep -q 'on CPU outside system calls' one.txt
check "one region in depth: its threads, the slowest beside a median one" $? "$(cat one.txt)"
"$TARRY" report t.dat regions round --json >one.json
judge "its calls and counters beside those of the median one" <<'P'
import json
s = json.load(open("one.json"))["regions"]["slowest"]
assert all(c["slow"] + c["median"] for c in s["calls"]), s
for k in ("slow", "median"):
    clock = s[f"{k}_counters"]["measures"][0]
    assert clock["name"] == "task-clock" and clock["value"] <= 1.05 * s[f"{k}_ns"], s
P
"$TARRY" dump t.dat regions --json >d.json
judge "dump regions: each one, at its depth, with who ended it" <<'P'
import json
d = [json.loads(x) for x in open("d.json")]
n = lambda name, **kw: sum(x["name"] == name and all(x.get(k) == v for k, v in kw.items()) for x in d)
assert [n("round", depth=0), n("load", depth=1), n("parse", depth=2), n("work", depth=3, kind="function")] == [40] * 4
assert n("handoff", kind="async") == 40 and all("ended_by" in x for x in d if x["name"] == "handoff")
assert not any("ended_by" in x for x in d if x["name"] == "request")
assert [x["value"] for x in d if x["name"] == "work"] == list(range(40))
assert d == sorted(d, key=lambda x: x["start_ns"]) and not any("unknown" in x for x in d)
P
"$TARRY" report t.dat regions handoff >hist.txt && "$TARRY" report t.dat regions handoff --json >hist.json
judge "histogram: each region in its power of two, as text and as JSON" <<'P'
import json, re
n = [x["duration_ns"] for x in map(json.loads, open("d.json")) if x["name"] == "handoff"]
rows = json.load(open("hist.json"))["regions"]["names"][0]["lengths"]
assert rows and all(r["count"] == sum(r["from_ns"] <= x < r["below_ns"] for x in n) for r in rows), (rows, n)
assert sum(r["count"] for r in rows) == len(n) == 40 and all(a["below_ns"] == b["from_ns"] for a, b in zip(rows, rows[1:]))
text = open("hist.txt").read().split("lengths (")[1].splitlines()[2:]
assert [int(re.match(r" *\S+ \S+ +\S+ \S+ +([0-9]+)", t)[1]) for t in text[:len(rows)]] == [r["count"] for r in rows], text
P
"$TARRY" dump t.dat regions | grep -Eq '^[0-9.]+ regions/[0-9]+ +2[0-9.]+ us        work$'
check "dump regions: nested ones are indented" $? "$("$TARRY" dump t.dat regions | head)"
"$TARRY" report t.dat regions nothing >out 2>&1
is "an unknown name is an error" "1 tarry: t.dat: no region is called 'nothing' in this recording (tarry report FILE regions lists the names)" "$? $(cat out)"
"$TARRY" record -q -o none.dat --no-strings --sample off --regions off true 2>none.log
"$TARRY" report none.dat regions nothing >out 2>&1
is "in a recording without regions, too" "1 tarry: none.dat: no regions were recorded (record them with tarry.h, --span or --usdt)" "$? $(cat out none.log)"
grep -q '^below a name: counters, the sum of all its regions (~: an estimate)$' one.txt
check "what the counters below a name are" $? "$(head -4 one.txt)"

# Attached, with a region that is open; then killed by force, and swept by the next recorder.
mkfifo in
"$PROGRAMS/regions" wait <in >up &
held=$!
exec 8>in
await 60 test -s up
"$TARRY" record -q -o p.dat -p $held 2>p.log &
rec=$!
await 60 recording "$rec" p.dat
echo go >&8
await 60 eval '[ "$(wc -l <up)" -ge 6 ]'
kill -INT $rec && wait $rec
"$TARRY" report p.dat --json >p.json
judge "-p: a running process, too; what was open before has no length" <<'P'
import json
r = json.load(open("p.json"))["regions"]["names"]
x = {x["name"]: x for x in r}
for k in ("round", "load", "parse", "request", "handoff"): assert x[k]["timed"] == 40, x[k]
assert x[None]["without_begin"] == 1 and x[None]["timed"] == 0 and x[None]["max_ns"] is None, x[None]
P
"$TARRY" record -q -o k.dat -p $held 2>k.log &
rec=$!
await 60 recording "$rec" k.dat
is "while it records there is a probe" 1 "$(left $rec)"
kill -KILL $rec
wait $rec 2>/dev/null
"$TARRY" record -q -o m.dat sh -c "echo 'B|1|shell region' >$tracing/trace_marker; sleep 0.01; echo 'E|1' >$tracing/trace_marker" 2>m.log
is "the next recorder removes what a killed one left" 0 "$(left $rec)"
if [ -e $tracing/options/copy_trace_marker ]; then
	"$TARRY" report m.dat regions >m.txt
	grep -Eq '^shell region  .*region .* 1  ' m.txt
	check "lines of a shell in trace_marker are regions" $? "$(cat m.txt m.log)"
else
	skip "lines of a shell in trace_marker are regions" "this kernel does not copy them into instances"
fi

# Without a probe of the return: calls as instants, which do a program no harm.
"$TARRY" record -q -o s.dat --regions off --span work@"$PROGRAMS/regions" "$PROGRAMS/regions" >/dev/null 2>s.log
"$TARRY" report s.dat --json >s.json
judge "--span without :return: calls are instants" <<'P'
import json
r, = json.load(open("s.json"))["regions"]["names"]
assert (r["name"], r["kind"], r["count"], r["timed"]) == ("work", "instant", 40, 0), r
P

# Parameters by name: the program passes (0..39, 7).
"$TARRY" record -q -o n.dat --regions off --span 'work(b,a)'@"$PROGRAMS/regions" "$PROGRAMS/regions" >/dev/null 2>n.log
"$TARRY" dump n.dat events --json >n.json 2>>n.log
judge "--span: parameters by name have the values that the program passes" <<'P'
import json
f = [x["fields"] for x in map(json.loads, open("n.json")) if x["event"].startswith("span_")]
assert [(x["arg_a"], x["arg_b"], x["value"]) for x in f] == [(i, 7, 7) for i in range(40)], f[:2]
P
"$TARRY" record -q -o x.dat --span 'work(size)'@"$PROGRAMS/regions" true >out 2>&1
is "an unknown parameter is an error that lists them" "1 tarry: --span: work has no parameter 'size'. Its parameters: a, b" "$? $(cat out)"

# The static probe of tarry.h itself, as any other; with its arguments.
"$TARRY" record -q -o u.dat --regions off --usdt tarry:region "$PROGRAMS/regions" >/dev/null 2>u.log
"$TARRY" report u.dat regions >u.txt
grep -Eq '^tarry:region +instant +441 ' u.txt
check "--usdt: each time the probe was passed" $? "$(cat u.log u.txt)"
"$TARRY" dump u.dat events | grep -q 'usdt_0: .*arg1=1 .*arg3=0'
check "--usdt: with its arguments" $? "$("$TARRY" dump u.dat events | grep usdt | head -3)"
"$TARRY" record -q -o x.dat --usdt no:such true >out 2>&1
is "a static probe that nobody has is an error" 1 "$?"
grep -q 'usdt no:such: this probe is not in ' out
check "which says so" $? "$(cat out)"
"$TARRY" record -q -o x.dat --regions /bin/true true >out 2>&1
is "--regions: a file without any is an error" 1 "$?"
mkfifo pipe
timeout 20 "$TARRY" record -q -o x.dat --regions pipe true >out 2>&1
is "--regions: a pipe is refused, not waited for" "1 tarry: --regions pipe: not a regular file; give a program or library" "$? $(cat out)"
"$TARRY" record -q -o x.dat --span nowhere@"$PROGRAMS/regions" true >out 2>&1
is "a function that is not there is an error" 1 "$?"
grep -q "span: .*/regions has no function 'nowhere'" out
check "which says so, too" $? "$(cat out)"
is "nothing is left in the list of probes" "" "$(own_probes "$dir")"
"$TARRY" doctor >doctor.txt 2>&1
grep -q '^ok  *regions .*a test probe (uprobe) worked' doctor.txt && ! grep -q /trial "$tracing/uprobe_events"
check "doctor tries a probe, and leaves none" $? "$(cat doctor.txt)"

# The header elsewhere: C++, and what it costs a program that is not recorded is no system call.
cat >x.cc <<'C'
#include "tarry.h"
int main() { tarry::region r("scope"); { tarry::region inner("inner"); } return tarry_recording() ? 3 : 4; }
C
if command -v g++ >/dev/null && g++ -std=c++11 -Wall -Wextra -Werror -pedantic -I"$top/include" -o x x.cc 2>cc.log; then
	"$TARRY" record -q -o x.dat ./x
	is "C++: the program knows that it is recorded" 3 $?
	./x
	is "and that it is not" 4 $?
	"$TARRY" report x.dat regions >x.txt
	grep -Eq '^scope +region +1 ' x.txt && grep -Eq '^inner +region +1 ' x.txt
	check "C++: regions are blocks" $? "$(cat x.txt)"
	cat >same1.cc <<'C'
static __attribute__((noinline)) void twin(int n) { __asm__ volatile("" : : "r"(n)); }
extern "C" void call1(void) { for (int i = 0; i < 1; i++) twin(i); }
extern "C" { static int one(void) { return 1; } static int (*choose(void))(void) { return one; } int chosen(void) __attribute__((ifunc("choose"))); }
C
	cat >same2.cc <<'C'
static __attribute__((noinline)) void twin(int n) { __asm__ volatile("" : : "r"(n)); }
extern "C" void call2(void) { for (int i = 0; i < 2; i++) twin(i); }
extern "C" { void call1(void); int chosen(void); }
int main() { call1(); call2(); return chosen() - 1; }
C
	g++ -O1 -o same same1.cc same2.cc 2>cc.log && "$TARRY" record -q -o s.dat --span _ZL4twini@./same ./same 2>s.log &&
		grep -q 'has 2 functions of this name, and all are recorded' s.log && "$TARRY" report s.dat regions >s.txt &&
		grep -Eq '^_ZL4twini +instant +3 ' s.txt
	check "of several functions of one name all are recorded" $? "$(cat cc.log s.log s.txt)"
	"$TARRY" record -q -o x.dat --span chosen@./same ./same >out 2>&1
	is "a function that only chooses another is an error" 1 $?
	grep -q "'chosen' of .* only chooses a function" out
	check "which says so, too" $? "$(cat out)"
	cat >throws.cc <<'C'
extern "C" __attribute__((noinline)) void thrower(int n) { if (n) throw n; }
int main() { try { thrower(3); } catch (int n) { return n; } return 0; }
C
	g++ -O1 -o throws throws.cc && "$TARRY" record -q -o y.dat --span thrower@./throws ./throws
	is "a program that throws through a function of --span runs on" 3 $?
else
	skip "C++" "no C++ compiler: $(head -1 cc.log 2>/dev/null)"
fi
if [ "$(uname -m)" = x86_64 ]; then
	"$TARRY" record -q -o step.dat --flow=step --flow-filter work --span work@'a b:c/regions' 'a b:c/regions' >/dev/null 2>out
	is "a program is single-stepped over its probes" 0 $? "$(cat out)"
	"$TARRY" report step.dat flow --json >f.json && "$TARRY" report step.dat --json >r.json
	judge "each call is a region and has its instructions" <<'P'
import json
assert {x["name"]: x for x in json.load(open("r.json"))["regions"]["names"]}["work"]["count"] == 40
f = json.load(open("f.json"))
assert f["flow"]["gaps"] == 0 and {x["name"]: x for x in f["flow"]["functions"]}["work"]["count"] == 40, f["flow"]
P
else
	skip "single-stepping over probes" "stepping is for x86-64"
fi
echo "1..$n"
exit $bad
