#!/usr/bin/env bash
# `tarry export --format dat`: what is said of a part of a recording, from the part that was cut out of it and
# from the whole with --from and --to: system calls with their strings and descriptors, samples, stacks.
set -u
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - cut # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
why=$("$TARRY" doctor | sed -n 's/^no  *strings  *//p')
if [ -n "$why" ]; then
	echo "ok 1 - cut # SKIP $why"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
. "$(dirname "$0")/await.bash"
tm() { tmux -L "tarry-cut-$$" -f /dev/null "$@" 2>/dev/null; }
trap 'tm kill-server; rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C
mkdir sub

# Descriptors and a folder from before the window, a lock that another process holds across its begin, in each
# round for 0.1 s from when this one waits, samples, and calls with paths all the time.
cat >load.py <<'P'
import fcntl, hashlib, os, sys, time
rounds = int(sys.argv[1])
early = open("early.txt", "w+")
os.chdir("sub")
def work(i):
    for k in range(30):
        hashlib.sha256(b"x" * 1000000).digest()
        os.access("f%d" % k, os.R_OK)
    with open("f%d" % i, "w") as f: f.write("x")
    os.stat("f%d" % i)
    early.write("y"); early.flush()
held, comes = os.pipe(), os.pipe()
if os.fork() == 0:
    for i in range(rounds):
        with open("lock", "w") as f:
            fcntl.flock(f, fcntl.LOCK_EX)
            os.write(held[1], b"x")
            os.read(comes[0], 1)
            time.sleep(0.1)
        os.read(comes[0], 1)
    os._exit(0)
for i in range(rounds):
    work(i)
    os.read(held[0], 1)
    os.write(comes[1], b"x")
    with open("lock", "w") as f: fcntl.flock(f, fcntl.LOCK_EX)
    os.write(comes[1], b"x")
os.wait()
P
python=$(python3 -c 'import sys; print(sys.executable)')
# FILE N M: both ways, from amid the Nth wait for the lock (0: from the begin) until right after the Mth, of those
# since descriptors have names (with --keep they are listed a moment after the kept part begins).
both() {
	set -- "$1" $("$TARRY" dump "$1" syscalls --clock start 2>/dev/null | awk -v n="$2" -v m="$3" '
		BEGIN { if (!n) print 0 }
		/early.txt>/ { named = 1 }
		/ flock\(/ && named { gsub(/[<>]/, "", $NF); i += $NF > 0.05 }
		i == n && n { printf "%.6f\n", $2 + 0.03; n = 0 }
		i == m { printf "%.6f\n", $2 + $NF + 0.01; exit }')
	export FROM=$2 TO=$3
	rm -f cut.dat
	"$TARRY" export "$1" --from "$2" --to "$3" -o cut.dat 2>err.txt
	check "$1: a part is cut out" $? "$(cat err.txt)"
	"$TARRY" dump "$1" syscalls --from "$2" --to "$3" --clock start >whole.txt 2>>err.txt
	"$TARRY" dump cut.dat syscalls --clock start >cut.txt 2>>err.txt
	for what in hot stacks; do
		"$TARRY" report "$1" $what --from "$2" --to "$3" --json >whole.$what 2>>err.txt
		"$TARRY" report cut.dat $what --json >cut.$what 2>>err.txt
	done
}
same() { # FILE
	FILE=$1 judge "$1: calls that began in the window are the same, line by line" <<-'P'
		import os, re
		# Of which ABI a caller is, is known from what it did before; and a call that ended after the window is cut.
		plain = lambda f: [re.sub(r" \[or, from a 32-bit.*", "", l.rstrip("\n")) for l in open(f)]
		cut = [l for l in plain("cut.txt") if "resumed>" not in l and "unfinished" not in l]
		whole = plain("whole.txt")
		missing = [l for l in cut if l not in set(whole)]
		def inside(l):
		    m = re.match(r"\d+ +([\d.]+) .* <([\d.]+)>$", l)
		    return m and float(m[1]) >= float(os.environ["FROM"]) and float(m[1]) + float(m[2]) < float(os.environ["TO"]) - 1e-5
		other = [l for l in whole if l not in set(cut) and inside(l)]
		print("only in the cut:", missing[:9], "only in the whole:", other[:9], len(cut), len(whole))
		text = "\n".join(cut)
		assert not missing and not other and len(cut) > 5
		assert re.search(r'openat\(AT_FDCWD<[^>]*/sub>, "f\d', text), "a relative path in a folder from before"
		assert re.search(r'write\(\d+<[^>]*/early.txt>', text), "a descriptor from before"
		assert re.search(r'flock\(\d+<[^>]*/sub/lock>', text)
	P
	judge "$1: samples and their functions are the same" <<-'P'
		import json
		def of(f):
		    h = json.load(open(f + ".hot"))["hot"]
		    return (h["samples"], h["functions"], h["lines"]) if h else (0, [], [])
		# A part ends with its last event: a thread that ran then has up to a few ms less.
		def split(rows):
		    exact = lambda k: not k.endswith("_ns") and not k.startswith("share")
		    return ([{k: r[k] for k in r if exact(k)} for r in rows],
		            [r[k] for r in rows for k in sorted(r) if not exact(k)])
		a, b = of("whole"), of("cut")
		print(a[0], b[0], [x for x in zip(a[1], b[1]) if x[0] != x[1]][:2])
		assert a[0] == b[0]
		for i in 1, 2:
		    (same, times), (same_cut, times_cut) = split(a[i]), split(b[i])
		    assert same == same_cut
		    far = [(x, y) for x, y in zip(times, times_cut) if abs(x - y) > 0.05 * max(x, y) + (8e6 if max(x, y) > 1 else 0.05)]
		    assert not far, far
		open("counts", "a").write("%d\n" % a[0])
	P
	judge "$1: the same stacks, those of waits that began before the window, too" <<-'P'
		import json
		a, b = ({g.get("folded"): g["waits"] for g in json.load(open(f + ".stacks"))["stacks"]["groups"]} for f in ("whole", "cut"))
		print(*("%d %s" % (v, k[-60:]) for k, v in a.items()), "cut:", *("%d %s" % (v, k[-60:]) for k, v in b.items()))
		assert a == b and any("flock" in k for k in a)
	P
}
"$TARRY" record -q -o t.dat -- "$python" load.py 8 >/dev/null 2>err.txt
check "recorded" $? "$(cat err.txt)"
both t.dat 3 6
same t.dat
# A part that ends in the middle of the longest wait for the lock, and one with its end.
read -r from middle end < <("$TARRY" report t.dat header --json 2>/dev/null >t.header; "$TARRY" dump t.dat syscalls --json 2>/dev/null | python3 -c '
import json, sys
start = json.load(open("t.header"))["summary"]["start_ns"]
s = max((c for c in map(json.loads, sys.stdin) if c["name"] == "flock"), key=lambda c: c["duration_ns"] or 0)
at = s["ts_ns"] - start
print(*("%.6f" % (x / 1e9) for x in (at - 1e6, at + s["duration_ns"] * 3 // 4, at + s["duration_ns"] + 1e6)))')
"$TARRY" export t.dat --from "$from" --to "$middle" -o middle.dat 2>middle.txt &&
	"$TARRY" export t.dat --from "$from" --to "$end" -o end.dat 2>end.txt
grep -q 'middle.dat ends during .* may be missing: .* Include the end with --to [0-9.]*$' middle.txt && [ ! -s end.txt ]
check "a part that ends during a stall says so, and until when" $? "$from $middle $end $(cat middle.txt end.txt)"
"$TARRY" report end.dat 2>/dev/null | head -1 >window.txt
"$TARRY" report t.dat --from "$from" --to "$end" 2>/dev/null | head -1 >>window.txt
[ "$(grep -c '^window: ' window.txt)" = 1 ] && grep -qF "window: $from .. $end s of t.dat" window.txt
check "a report of a window says first which it is" $? "$(cat window.txt)"
"$TARRY" report cut.dat stalls >stalls.txt 2>>err.txt
grep -q 'waited for the lock on fd [0-9]* <lock> (flock)' stalls.txt
check "the lock of a wait is named" $? "$(cat stalls.txt err.txt)"
"$TARRY" report cut.dat threads >threads.txt 2>>err.txt
[ "$(grep -c 'python.* load.py' threads.txt)" = 2 ]
check "a process that was forked before the window has its parent's command line" $? "$(cat threads.txt err.txt)"
"$TARRY" report cut.dat answer >cut.txt 2>>err.txt
grep -qE ': [0-9.]* m?s of the command.s [0-9.]* m?s \(critical path' cut.txt && grep -qE 'By child( of .*)?, with descendants: python' cut.txt &&
	! grep -q 'when the recording ended' cut.txt
check "the answer of a part is of the command's path in it, and says how long the command ran" $? "$(cat cut.txt err.txt)"
shows() { tm capture-pane -p >screen.txt && grep -q "$1" screen.txt; }
tm new-session -d -x 200 -y 50 "TERM=xterm-256color '$TARRY' view cut.dat"
await 60 shows 'quit' && tm send-keys F t && await 60 shows 'waits with a stack' && # t is kept while samples are read
	await 60 shows 'flock' && shows '\[sleep'
check "the timeline has its waits as a flame graph, with the function that locks" $? "$(cat screen.txt)"
tm kill-server
# The cut of a cut, and one that begins with the recording.
mv cut.dat part.dat
both part.dat 1 2
same part.dat
both t.dat 0 2
same t.dat
# A recording that kept its newest part.
"$TARRY" record -q --keep=2s -o k.dat -- "$python" load.py 20 >/dev/null 2>err.txt
check "recorded with --keep" $? "$(cat err.txt)"
both k.dat 1 3
same k.dat
[ "$(sort -n counts | tail -n 1)" -gt 1 ]
check "there were samples" $? "$(cat counts)"
echo "1..$n"
