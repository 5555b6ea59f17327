#!/usr/bin/env bash
# Memory samples of x86 (PEBS, IBS) as perf names them: sources, TLB, latencies. The files are made by
# ../shared/spe/tools, where that is there; perf is the oracle.
# Lane: alone
set -u
. "$(dirname "$0")/tap.bash"

tools=$PWD/../shared/spe/tools
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

as_perf() {
	python3 - "$tools" "$TARRY" "$dir/x.data" <<'PY'
import json, re, subprocess, sys
sys.path.insert(0, sys.argv[1])
import mkx86
from mkx86 import ds, HIT, L1, L2, L3, LFB, LR, RR1, RC1, IO, UNC
tarry, out = sys.argv[2:]
# perf's memory access, and ours.
sources = [("L1 hit", "L1", dict(lvl=HIT | L1, num=1)), ("LFB/MAB hit", "LFB", dict(lvl=HIT | LFB, num=12)),
           ("L2 hit", "L2", dict(lvl=HIT | L2, num=2)), ("L3 hit", "peer, modified", dict(lvl=HIT | L3, num=3, snoop=16)),
           ("Remote Cache (1 hop)", "remote, modified, peer", dict(lvl=HIT | RC1, num=3, remote=1, snoop=16)),
           ("RAM hit", "RAM", dict(lvl=HIT | LR, num=13)), ("Remote RAM (1 hop)", "remote RAM", dict(lvl=HIT | RR1, num=13, remote=1)),
           ("I/O hit", "device", dict(lvl=HIT | IO, num=10)), ("Uncached", "uncached", dict(lvl=HIT | UNC)),
           ("L4 hit", "L4", dict(lvl=HIT, num=4)), ("PMEM hit", "PMEM", dict(lvl=HIT, num=14)),
           ("core, same node Any cache", "any cache, another core of the node", dict(lvl=HIT, num=11, remote=1, hops=1)),
           ("node, same socket Any cache", "any cache, another node of the socket", dict(lvl=HIT, num=11, remote=1, hops=2)),
           ("CXL hit", "CXL", dict(lvl=HIT, num=9))]
# perf's words for the TLB; None: nothing is known, False: no walk, True: a walk.
tlbs = [("TLB L1 or L2 hit", False, 2 | 8 | 16), ("TLB L1 hit", False, 2 | 8), ("TLB L2 hit", False, 2 | 16),
        ("TLB L2 miss", True, 4 | 16), ("TLB Walker hit", True, 2 | 32), ("TLB Fault hit", True, 2 | 64), ("TLB N/A", None, 1)]
want = [(s, t) for s in sources for t in tlbs]
mkx86.write(out, [(100, 101, 1000 + i, 0, 0x401000, 0x7f0000000000 + 64 * i, 40 + i | (290 + i if i % 2 else 0) << 32,
                   ds("load", tlb=t[2], **s[2])) for i, (s, t) in enumerate(want)], [("comm", 100, 101, "x")], wstruct=True)
run = lambda *c: subprocess.run(c, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout.splitlines()
perf = [l for l in run("perf", "script", "-i", out, "-F", "weight,ins_lat,data_src") if l.strip()]
got = [json.loads(l) for l in run(tarry, "dump", out, "memory", "--json")]
assert len(perf) == len(got) == len(want), (len(perf), len(got), len(want))
for p, g, (s, t) in zip(perf, got, want):
    total, insn = map(int, re.search(r"(\d+) +(\d+) *$", p).groups())
    events = g.get("event_names", [])
    tlb = "TLB-REFILL" in events if "TLB-ACCESS" in events or "TLB-REFILL" in events else None
    assert g.get("source") == s[1] and (s[0] in p or len(p) > 100), (p, g)
    assert tlb == t[1] and (t[0] in p or "TLB" not in p.split("BLK")[0][-60:]), (p, g)
    assert g["lat_total"] == total and g.get("lat_insn", 0) == insn, (p, g)
# A part of the latency that was not recorded is no 0.
text = "\n".join(run(tarry, "report", out, "memory", "--no-index"))
row = re.search(r"^ +\d+ +\S+ \(.*0x401000.*$", text, re.M).group(0)
assert re.search(r"\d+ +\d+ +\d+ +\d+ +- +- +- +\d+\.\d  ", row), row
PY
}
if ! command -v perf >/dev/null || ! command -v python3 >/dev/null; then
	skip "sources, TLB and latencies are perf's" "perf or python3 is not installed"
elif [ ! -r "$tools/mkx86.py" ]; then
	skip "sources, TLB and latencies are perf's" "../shared/spe is not there"
else
	passes "sources, TLB and latencies are perf's" as_perf
fi
# Recordings of loads only, and of stores, too: the first line says where that one writes is inferred.
headlines() {
	python3 - "$tools" "$dir/h" <<'PY' || return 1
import sys
sys.path.insert(0, sys.argv[1])
import mkx86
from mkx86 import ds, HIT, L1, L3
for name, op in (("loads", "load"), ("stores", "store")):
    mkx86.write(sys.argv[2] + "." + name, [(100, 101 + i % 2, 1000 + i, i % 2, 0x401000, 0x7f0000000000 + 8 * (i % 2), 40,
                ds(op if i % 2 else "load", lvl=HIT | L3, num=3, snoop=16)) for i in range(20)], [("comm", 100, 101, "x"), ("comm", 100, 102, "x")])
PY
	"$TARRY" report "$dir/h.loads" sharing >"$dir/out.txt" && grep -q '^1 line of 64 bytes is shared by two or more threads and written, .*no store was sampled (20 ' "$dir/out.txt" &&
		"$TARRY" report "$dir/h.stores" sharing >"$dir/out.txt" && grep -q '^1 line of 64 bytes is shared by two or more threads while one writes (20 ' "$dir/out.txt"
}
if [ -r "$tools/mkx86.py" ] && command -v python3 >/dev/null; then
	passes "the headline says whether writes were sampled" headlines
else
	skip "the headline says whether writes were sampled" "python3 or ../shared/spe is not there"
fi
# What a file holds is said where there is nothing for a timeline; cycles are no memory samples.
contents() {
	perf record -q -B -d -e cpu-clock -o "$dir/c.data" -- "$PROGRAMS/hot_shares" 10 >/dev/null 2>&1
	[ -s "$dir/c.data" ] || return 1
	"$TARRY" report "$dir/c.data" >"$dir/out.txt" || return 1
	grep -q 'samples of cpu-clock.*tarry report FILE hot, tarry dump FILE samples' "$dir/out.txt" || return 1
	"$TARRY" report "$dir/c.data" hot >"$dir/out.txt" || return 1
	! "$TARRY" report "$dir/c.data" memory >"$dir/out.txt" 2>&1 && grep -q 'has no memory samples' "$dir/out.txt" &&
		! "$TARRY" report "$dir/c.data" stalls >/dev/null 2>&1
}
memory_contents() {
	"$TARRY" report "$dir/x.data" >"$dir/out.txt" && grep -q '98 samples of cpu/mem-loads.*tarry report FILE memory|sharing' "$dir/out.txt" &&
		"$TARRY" report "$dir/x.data" --json | python3 -c 'import json, sys; c = json.load(sys.stdin)["contents"]; assert c[0]["memory_samples"] == 98, c'
}
if ! command -v perf >/dev/null; then
	skip "a file of cycles is told so, and is no memory recording" "perf is not installed"
else
	passes "a file of cycles is told so, and is no memory recording" contents
fi
if [ -r "$dir/x.data" ]; then
	passes "a file of memory samples says what shows them" memory_contents
else
	skip "a file of memory samples says what shows them" "../shared/spe is not there"
fi
echo "1..$n"
