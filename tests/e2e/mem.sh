#!/usr/bin/env bash
# Memory samples: tarry against perf, record by record, on random Arm SPE streams; labelled sharing.
# The streams and answers come from ../shared and perf, where they are there.
# Lane: alone
set -u
. "$(dirname "$0")/tap.bash"

shared=$PWD/../shared/spe
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

oracle() {
	(cd "$dir" && python3 "$shared/tools/oracle.py" --fuzz 200 4711 "$dir/streams") >"$dir/oracle.txt" 2>&1 ||
		{ tail -n 3 "$dir/oracle.txt" | sed 's/^/# /'; return 1; }
	python3 - "$TARRY" "$dir/streams" <<'P'
import json, re, subprocess, sys
tarry, d = sys.argv[1:]

# Payloads of load/store operations that Debian's perf (6.1) is too old for: it prints them by the
# bits that it knows. The specification (FORMAT.md) wins.
NEWER = {0x14: "MTE-TAG", 0x20: "MEMCPY", 0x30: "NV-SYSREG", 0x10: "UNSPEC-REG"}

def records(packets):
    r = {}
    for off, raw, text in packets:
        b = bytes(int(x, 16) for x in raw.split())
        w = text.split()
        if w[0] == "PAD": continue
        r.setdefault("off", off)
        if w[0] == "PC": r["pc"] = int(w[1], 16); r["el"] = int(w[2][2:])
        elif w[0] == "TGT": r["target"] = int(w[1], 16)
        elif w[0] == "VA": r["va"] = int(w[1], 16)
        elif w[0] == "PA": r["pa"] = int(w[1], 16)
        elif w[0] == "LAT": r[{"TOT": "lat_total", "ISSUE": "lat_issue", "XLAT": "lat_xlat"}[w[2]]] = int(w[1])
        elif w[0] == "EV": r["events"] = int.from_bytes(b[1:], "little"); r["event_names"] = w[1:]
        elif w[0] == "CONTEXT": r["tid"] = int(w[1], 16)
        elif w[0] == "DATA-SOURCE": r["source_code"] = int(w[1])
        elif w[0] == "TS": r["ticks"] = int(w[1]); yield r; r = {}
        elif w[0] == "END": yield r; r = {}
        elif b[0] & 0xfc == 0x48:
            v = b[1] & 0xfe
            r["op"] = ("ST " if b[1] & 1 else "LD ") + NEWER[v] if b[0] == 0x49 and v in NEWER else text
            r["kind"] = ["other", "store" if b[1] & 1 else "load", "branch"][b[0] & 3]
    assert not r

def code(v, el, ns=1):
    return v | 0xff << 56 if el in (1, 2) else v & (1 << 56) - 1

def data(v):
    return v | 0xff << 56 if v >> 52 & 15 == 15 else v & (1 << 56) - 1

compared = samples = 0
for i in range(200):
    f = f"{d}/f{i:04d}"
    want = json.load(open(f + ".json"))
    p = subprocess.run([tarry, "dump", "memory", "--spe-raw", f + ".spe", "--midr", "410fd0c0", "--json"],
                       stdout=subprocess.PIPE, check=True)
    got = [json.loads(l) for l in p.stdout.splitlines()]
    recs = list(records(want["packets"]))
    assert len(recs) == len(got), (f, len(recs), len(got))
    for w, g in zip(recs, got):
        assert "gap" not in g, (f, g)
        el = w["el"]
        w["pc"] = code(w["pc"], el)
        if "target" in w: w["target"] = code(w["target"], el)
        if "va" in w: w["va"] = data(w["va"])
        for k in ("pc", "va", "pa", "target", "lat_total", "lat_issue", "lat_xlat", "events", "event_names",
                  "tid", "source_code", "ticks", "op", "kind", "el"):
            have = g.get(k)
            if k in ("pc", "va", "pa", "target") and have is not None: have = int(have, 16)
            assert have == w.get(k), (f, hex(w["off"]), k, have, w.get(k), w)
        compared += 1
    # perf's samples are its loads and stores (and older ones class 0, as loads without an address).
    mem = [g for g in got if g["kind"] in ("load", "store")]
    per = [s for s in want["memory"] if int(s["va"], 16) or int(s["pa"], 16)]
    for s in per: assert "unparsed" not in s, s
    timed = {g["ticks"]: g for g in mem if "ticks" in g}
    for s in per:
        g = timed.get(s["ns"])
        if g is None: continue  # ended by END: perf gives it the time of the record before
        assert int(s["ip"], 16) == int(g["pc"], 16), (f, s, g)
        assert int(s["va"], 16) == int(g["va"], 16), (f, s, g)
        assert int(s["pa"], 16) == int(g.get("pa", "0"), 16), (f, s, g)
        assert s["weight"] == g["lat_total"], (f, s, g)
        assert ("STORE" in s["text"]) == g["store"], (f, s, g)
        if "tid" in g: assert s["tid"] == g["tid"], (f, s, g)
        if not g["store"]:
            t, src = s["text"], g.get("source", "")
            level = {"L1": "LVL L1", "L2": "LVL L2", "peer core": "LVL L2", "local cluster": "LVL L3",
                     "system cache": "LVL L3", "peer cluster": "LVL L3", "remote socket": "LVL Remote",
                     "DRAM": "LVL Local RAM"}.get(src)
            if level: assert level in t, (f, t, src)
            assert ("Peer" in t) == g.get("peer", False), (f, t, g)
        samples += 1
print(f"# {compared} records and {samples} samples are perf's")
sys.exit(compared < 9000 or samples < 4000)
P
}
if ! command -v perf >/dev/null || ! command -v python3 >/dev/null; then
	skip "200 random streams are read as perf reads them" "perf or python3 is not installed"
elif [ ! -r "$shared/tools/oracle.py" ]; then
	skip "200 random streams are read as perf reads them" "../shared/spe is not there"
else
	passes "200 random streams are read as perf reads them" oracle
fi

scenario() { # NAME KIND LINES
	"$TARRY" report "$shared/scenarios/$1.data" sharing --json >"$dir/s.json" || return 1
	python3 - "$dir/s.json" "$shared/scenarios/$1.truth.json" <<'P'
import json, sys
got, truth = (json.load(open(f)) for f in sys.argv[1:])
for kind in ("false", "true"):
    have = sorted(l["va"] for l in got["sharing"] if l["kind"] == kind)
    assert have == sorted(truth[kind]), (kind, have, truth)
assert all(l["evidence"] == "peer" and len(l["accessors"]) == 2 for l in got["sharing"]), got
P
}
for s in false-peer true-peer read-only-shared; do
	if [ ! -r "$shared/scenarios/$s.data" ] || ! command -v python3 >/dev/null; then
		skip "sharing of $s" "../shared/spe or python3 is not there"
	else
		passes "sharing of $s" scenario $s
	fi
done

# What perf itself records on x86 without the hardware: samples with an address field, all unknown.
local_samples() {
	perf record -q -B -d -e cpu-clock -o "$dir/p.data" -- "$PROGRAMS/hot_shares" 10 >/dev/null 2>&1
	"$TARRY" report "$dir/p.data" memory --json >"$dir/m.json" 2>"$dir/err.txt" ||
		grep -q 'no memory samples' "$dir/err.txt"
}
if ! command -v perf >/dev/null; then
	skip "samples of this machine" "perf is not installed"
else
	passes "samples of this machine" local_samples
fi

# The memory view of a labelled file, as text.
sees() { # TEXT
	"$TARRY" view "$shared/scenarios/false-peer.data" --print --size 100x30 >"$dir/frame.txt" 2>&1 &&
		grep -q -- "$1" "$dir/frame.txt"
}
if [ -d "$shared/scenarios" ]; then
	passes "view opens a file of memory samples" sees "40  50.0%    203    206    206  0x4010"
else
	skip "view opens a file of memory samples" "../shared/spe is not there"
fi

# The variable that is accessed is named, though another one lies at the line's start: one of tarry's own
# that does not begin with its line; only the code is mapped.
variable_of_a_line() {
	python3 - "$shared/tools" "$TARRY" "$dir/v.data" >"$dir/v.name" <<'PY' &&
import subprocess, sys
sys.path.insert(0, sys.argv[1])
import spe_enc
from mkperfdata import PerfData
def lines(*cmd):
    return [x.split() for x in subprocess.run(cmd, capture_output=True, text=True).stdout.splitlines()]
name, at = next((x[3], int(x[0], 16)) for x in lines('nm', '-S', sys.argv[2])
                if len(x) == 4 and x[2] in 'dD' and int(x[1], 16) >= 16 and int(x[0], 16) % 64 in (16, 32))
off, vaddr, size = next((int(x[1], 16), int(x[2], 16), int(x[4], 16)) for x in lines('readelf', '-lW', sys.argv[2])
                        if x[:1] == ['LOAD'] and 'E' in x[6:-1])
base = 0x555500000000
p = PerfData(ncpu=2)
p.comm_ev(100, 101, 'one')
p.comm_ev(100, 102, 'two')
p.mmap2(100, 101, base + vaddr, size + 4095 & ~4095, off, sys.argv[2])
for cpu in 0, 1:
    p.spe(cpu, 101 + cpu, 100, b''.join(
        spe_enc.mem(base + vaddr + 16, base + at + 8 * cpu, not cpu, 30, None, 1000 + 200 * i + 100 * cpu, ctx=101 + cpu)
        for i in range(20)))
p.write(sys.argv[3])
print(name)
PY
		"$TARRY" report "$dir/v.data" sharing --symfs / --no-index >"$dir/v.txt" &&
		grep -qF ", $(cat "$dir/v.name")+0x0, in " "$dir/v.txt" &&
		"$TARRY" report "$dir/v.data" sharing --symfs / --no-index --json |
		grep -qF "\"variable\":\"$(cat "$dir/v.name")\",\"variable_offset\":8"
}
if [ ! -d "$shared/tools" ]; then
	skip "a line is named by what is accessed" "../shared/spe is not there"
elif ! command -v nm >/dev/null || ! command -v readelf >/dev/null; then
	skip "a line is named by what is accessed" "nm and readelf are not installed"
else
	passes "a line is named by what is accessed" variable_of_a_line
fi

# Records without a context are of the thread that perf opened the ring for, and marked.
ring_thread() {
	python3 - "$shared/tools" "$dir/r.data" <<'PY' &&
import sys
sys.path.insert(0, sys.argv[1])
import spe_enc
from mkperfdata import PerfData
p = PerfData(ncpu=2, per_cpu=False)
p.comm_ev(100, 101, 'one')
p.spe(0, 101, 100, b''.join(spe_enc.mem(0x4000, 0x7000 + t, 1, 30, None, 1000 + t, ctx=ctx) for t, ctx in enumerate((None, 101))))
p.write(sys.argv[2])
PY
		"$TARRY" dump "$dir/r.data" memory --no-index >"$dir/r.txt" &&
		[ "$(grep -o 'one 101.* pc' "$dir/r.txt" | tr '\n' ,)" = "one 101 (ring) pc,one 101 pc," ]
}
if [ -d "$shared/tools" ]; then
	passes "records without a context are of the ring's thread, and marked" ring_thread
else
	skip "records without a context are of the ring's thread, and marked" "../shared/spe is not there"
fi

says() { # TEXT CMD...
	"${@:2}" >"$dir/out.txt" 2>"$dir/err.txt" && return 1
	grep -q -- "$1" "$dir/err.txt"
}
echo "unknown format" >"$dir/text"
passes "a file without samples is told so" says "unknown format" "$TARRY" report "$dir/text" memory
passes "a wrong MIDR is told so" says "not a hexadecimal" "$TARRY" dump memory --spe-raw "$dir/text" --midr N1
passes "a missing file is told so" says "no such file" "$TARRY" dump "$dir/none" memory

# Readers of JSON keep only the last of two equal keys.
if [ -f "$shared/scenarios/false-peer.data" ]; then
	"$TARRY" report "$shared/scenarios/false-peer.data" memory --json >"$dir/m.json" &&
		python3 -c '
import json, sys
def keys(pairs):
    names = [k for k, _ in pairs]
    assert len(names) == len(set(names)), sorted(k for k in names if names.count(k) > 1)
    return dict(pairs)
json.load(open(sys.argv[1]), object_pairs_hook=keys)' "$dir/m.json" 2>"$dir/err.txt"
	check "report memory --json: no object has a key twice" $? "$(tail -1 "$dir/err.txt")"
else
	skip "report memory --json: no object has a key twice" "needs ../shared"
fi
echo "1..$n"
