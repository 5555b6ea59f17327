#!/usr/bin/env bash
# tarry report on real recordings: run time against the kernel's own account, counts against known
# numbers, JSON that parses, windows and choices.
set -u
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "report on recordings" "needs root and the program"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
. "$(dirname "$0")/steal.bash"
cd "$dir" || exit 1

# Run time within 1% of schedstat, per thread; see below for short bursts. $1: CPU or -1
# (An emulated machine stands still for milliseconds between any two instructions: 10% there.)
within=0.01
[ -z "${SLOWER:-}" ] || within=0.1
account() {
	local what="any CPU" steal
	[ "$1" -ge 0 ] && what="CPU $1"
	steal=$(steal_ns)
	"$TARRY" record -q -o s.dat -- "$PROGRAMS/schedstat" "$1" >ran.txt 2>err.txt
	case $? in
	0) ;;
	3) skip "run time is schedstat's on $what" "no such CPU"; return ;;
	*) not_ok "run time is schedstat's on $what" "$(cat err.txt)"; return ;;
	esac
	"$TARRY" report s.dat --json >s.json || { not_ok "report --json of $what"; return; }
	WITHIN=$within STEAL_NS=$(steal_since $steal) judge "run time is within $within of schedstat's on $what (bursts of 10 us: between it and it + runnable)" <<'P'
import json, os, sys
threads = {t["tid"]: t for t in json.load(open("s.json"))["threads"] if t["born"]}
within, steal = 1 + float(os.environ["WITHIN"]), int(os.environ["STEAL_NS"])
bad = 0
pair = []
for line in open("ran.txt"):
    tid, name, ran, still, preempted = line.split()
    got, ran, short = threads[int(tid)], int(ran), name in ("tick", "tock")
    uncharged = int(still) + (0 if short else 25000 * int(preempted)) # (schedstat.c)
    running, ready, inferred = got["running_ns"], got["running_ns"] + got["runnable_ns"], got["inferred_ns"]
    print(f"{name}: kernel {ran} ns, tarry {running} ns ({running / ran - 1:+.3%}), "
          f"runnable {got['runnable_ns']}, inferred {inferred}, unknown {got['unknown_ns']}, stood still {still}, preempted {preempted}, steal {steal}")
    # The kernel charges a thread that takes the CPU at once from the wakeup on: some microseconds in which the
    # thread is runnable, to tarry, and its waker still runs. In bursts of milliseconds that is below 1%.
    bad |= ran > within * (ready if short else running) + inferred
    # What is inferred (switches that this machine does not deliver) is known to no better than that.
    # (The start of every burst on such a CPU: of 10 us that is much.)
    bad |= inferred > (0.5 if short else 0.1) * ran or got["comm"] != name
    if short:
        pair.append((ran, running, got["runnable_ns"], inferred + uncharged))
    else:
        bad |= running > within * ran + inferred + uncharged + steal
# Between the two, what one of them is not charged the other is; what both ran is known.
for one, other in (pair, pair[::-1]):
    bad |= one[1] > within * one[0] + one[3] + other[2] + steal
ran, running, _, inferred = map(sum, zip(*pair))
bad |= running > within * ran + inferred + steal
sys.exit(bad)
P
}
tries 6 account 0
tries 6 account 1
tries 6 account -1

# A known number of calls, with a known time window and thread.
"$TARRY" record -q -o c.dat -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done; sleep 0.3' 2>err.txt
passes "recording" [ $? -eq 0 ]
"$TARRY" report c.dat --json >c.json
judge "report --json: keys, counts, sums, the sleep is among the longest" <<'P'
import json, sys
d = json.load(open("c.json"))
calls = {c["name"]: c for c in d["syscalls"]}
s = d["summary"]
for k in ("events", "lost", "cpus", "threads", "start_ns", "end_ns"):
    assert isinstance(s[k], int), k
assert s["start_ns"] < s["end_ns"]
# sh, five true, sleep: sh may exec its last command itself (dash does not)
assert calls["execve"]["count"] == 7, calls["execve"]
assert calls["exit_group"]["count"] == 7, calls["exit_group"]
w = calls.get("clock_nanosleep") or calls["nanosleep"]
assert w["count"] == 1 and 0.3e9 <= w["max_ns"] < s["end_ns"] - s["start_ns"], w
for c in d["syscalls"]:
    for k in ("errors", "total_ns", "p50_ns", "p99_ns", "max_ns"):
        assert isinstance(c[k], int), (c, k)
    assert c["p50_ns"] <= c["p99_ns"] <= c["max_ns"] <= c["total_ns"] or c["count"] == 0, c
for t in d["threads"]:
    for k in ("tid", "running_ns", "runnable_ns", "blocked_ns"):
        assert isinstance(t[k], int), (t, k)
    life = min(t["end_ns"], s["to_ns"]) - max(t["start_ns"], s["from_ns"])
    total = t["running_ns"] + t["runnable_ns"] + t["blocked_ns"] + t["dead_ns"] + t["unknown_ns"]
    assert life == total, (t, life, total)
kinds = [l["kind"] for l in d["longest"]]
assert kinds.count("blocked") <= 10 and kinds.count("runnable") <= 10
b = [l for l in d["longest"] if l["kind"] == "blocked"]
assert b == sorted(b, key=lambda l: -l["duration_ns"])
assert any(l["syscall"] in ("clock_nanosleep", "nanosleep") and l["comm"] == "sleep" and
           l["duration_ns"] > 0.29e9 for l in b), b
P
"$TARRY" report c.dat >c.txt
passes "text: the sleep with its call" grep -q 'sleep/[0-9]* sleeping in clock_nanosleep(CLOCK_REALTIME' c.txt
passes "text: 7 execve" grep -qE '^execve +7 ' c.txt
passes "text: command in the header" grep -q '^command .*sleep 0.3' c.txt
passes "the shares of the command's ledger are in the default report" grep -qE '^ +[0-9.]+ ms +[0-9.]+%  sleep/[0-9]+: sleeping in clock_nanosleep, woken by a timer$' c.txt
passes "... and the command that shows the rest names the file" grep -q 'smaller rows: tarry report c.dat ledger$' c.txt
see=$(sed -n 's/^the longest [a-z0-9_]*: tarry //p' c.txt)
passes "the command below the system calls shows the first row's longest call" grep -qE "[0-9] $(sed -n '/^system call  /{n;s/ .*//;p}' c.txt)\(" <("$TARRY" $see)
"$TARRY" report c.dat loss >l.txt
passes "one section only" [ "$(grep -c . l.txt)" -eq 1 ]
"$TARRY" report c.dat --json --comm sleep >w.json
passes "--comm chooses" python3 -c '
import json
d = json.load(open("w.json"))
assert d["threads"] and all(t["comm"] == "sleep" for t in d["threads"])'
"$TARRY" report c.dat --json --from -0.05 >w.json
passes "--from cuts" python3 -c '
import json
d = json.load(open("w.json"))
s = d["summary"]
assert s["to_ns"] - s["from_ns"] < 60e6
assert all(t["running_ns"] + t["blocked_ns"] <= 60e6 for t in d["threads"])'
middle=$(python3 -c '
import json
d = json.load(open("c.json"))
l = max((l for l in d["longest"] if l["kind"] == "blocked" and l["comm"] == "sleep"), key=lambda l: l["duration_ns"])
print((l["start_ns"] + l["duration_ns"] // 2 - d["summary"]["start_ns"]) / 1e9)')
"$TARRY" report c.dat longest --from "$middle" >w.txt
passes "a wait that --from cuts is marked with its length" [ "$(grep -cE 'clipped to the selection: the wait took [0-9.]+ m?s, from 0\.' w.txt)" -ge 2 ]
"$TARRY" report c.dat --to -1000 >/dev/null 2>err.txt
passes "--to before the start says so" [ $? -eq 2 -a "$(grep -c -- '--to -1000 is before the start of this recording' err.txt)" -eq 1 ]
"$TARRY" report c.dat nonsense >/dev/null 2>err.txt
passes "a wrong section is wrong usage" [ $? -eq 2 ]
"$TARRY" report c.dat stalls --why 0 >/dev/null 2>err.txt
passes "--why 0 is wrong usage" [ $? -eq 2 ]
"$TARRY" report c.dat stalls --why 99999 >/dev/null 2>err.txt
passes "--why of a stall that there is not fails with a sentence" [ $? -eq 1 -a "$(grep -c 'stalls' err.txt)" -eq 1 ]
"$TARRY" report c.dat --why 1 --not-stalls >/dev/null 2>err.txt
passes "--why and --not-stalls together are wrong usage" [ $? -eq 2 ]
"$TARRY" report c.dat --not-stalls >out.txt 2>err.txt
passes "--not-stalls lists the command's sleep as its own choice" grep -q 'rule  *voluntary-sleep: ' out.txt
# On a terminal of 80 columns and 24 lines; what it shows, without the terminal's \r.
on_terminal() { # OUT ENVIRONMENT... -- ARGUMENTS...
	python3 - "$@" <<'P'
import fcntl, os, pty, struct, sys, termios
out, rest = sys.argv[1], sys.argv[2:]
cut = rest.index("--")
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    for name in ("COLUMNS", "LINES", "NO_COLOR", "PAGER", "LESS"): os.environ.pop(name, None)
    os.environ["TERM"] = "xterm"
    os.environ.update(v.split("=", 1) for v in rest[:cut])
    os.execvp(os.environ["TARRY"], ["tarry", *rest[cut + 1:]])
got = b""
try:
    while part := os.read(fd, 65536): got += part
except OSError: pass
open(out, "wb").write(got.replace(b"\r\n", b"\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
P
}
on_terminal out.txt PAGER='cat >paged.txt; exit 3' -- report c.dat answer
passes "what fits the terminal is not paged" [ $? -eq 0 -a -s out.txt -a ! -e paged.txt ]
passes "a terminal has colors" grep -q $'\033\\[1m' out.txt
on_terminal out.txt PAGER='cat >paged.txt; exit 3' -- report c.dat
passes "what does not fit goes through \$PAGER" [ $? -eq 0 -a "$(wc -l <paged.txt)" -gt 24 -a "$(grep -c . out.txt)" -lt 5 ] # (below 5: a slow reading says how far it is)
on_terminal out.txt PAGER=/nonexistent/pager NO_COLOR=1 -- report c.dat
passes "without the pager it is printed" [ $? -eq 0 -a "$(wc -l <out.txt)" -gt 24 ]
passes "NO_COLOR: no colors" [ "$(grep -c $'\033\\[[0-9;]*m' out.txt)" -eq 0 ] # (a slow reading clears its own line)
on_terminal out.txt PAGER='cat >no.txt' TERM=dumb -- report c.dat
passes "TERM=dumb: no colors, no pager" [ $? -eq 0 -a "$(grep -c $'\033' out.txt)" -eq 0 -a ! -e no.txt ]
on_terminal out.txt PAGER='cat >no.txt' -- report c.dat --no-pager --color=never
passes "--no-pager, --color=never" [ $? -eq 0 -a -s out.txt -a "$(grep -c $'\033' out.txt)" -eq 0 -a ! -e no.txt ]
passes "--color=always: in a pipe, too" grep -q $'\033\\[1m' <("$TARRY" report c.dat answer --color=always)
passes "else a pipe has none" [ "$("$TARRY" report c.dat | grep -c $'\033')" -eq 0 ]
"$TARRY" report c.dat --color=blue >/dev/null 2>err.txt
passes "another --color is wrong usage" [ $? -eq 2 ]
for clock in start wall trace; do
	wide=$("$TARRY" report c.dat --clock $clock syscalls threads | awk 'length($0) > 80 && length($1) <= 16')
	is "no row of a table of more than 80 columns in a pipe, --clock $clock" "" "$wide"
	COLUMNS=80 "$TARRY" report c.dat --clock $clock answer findings stalls requests header syscalls threads longest \
		loss ledger outliers stacks >out.txt
	wide=$(python3 -c '
for l in open("out.txt"):
    l = l.rstrip("\n")
    if len(l) > 80 and " " in l.strip(): print(len(l), l)')
	is "no line of more than 80 columns, --clock $clock" "" "$wide"
done
# Waits for a disk, whose name is a callback of the session: the timeline has a context of its own.
"$TARRY" record -q -o d.dat -- dd if=/dev/zero of=d.bin bs=4k count=3000 oflag=direct 2>err.txt
if [ "$("$TARRY" report d.dat stalls | grep -c ' disk ')" -eq 0 ]; then
	skip "the timeline names the disk that was waited for" "no stall of a disk: $(tail -n 1 err.txt)"
else
	COLUMNS=200 "$TARRY" view d.dat --print --at-wait 1 >out.txt 2>err.txt
	passes "the timeline names the disk that was waited for" [ $? -eq 0 -a -s out.txt ]
fi
rm -f d.bin
"$TARRY" report missing.dat >/dev/null 2>err.txt
passes "a missing file fails with a sentence" [ $? -eq 1 -a -s err.txt ]
"$TARRY" report c.dat header --comm nobody --comm sleep --tid 2000000000 --cpu 60000 >out.txt 2>err.txt
passes "a choice that chooses nothing is told" [ $? -eq 0 -a "$(grep -c . err.txt)" -eq 3 ]
passes "... a name, a thread, a CPU" [ "$(grep -cE "named 'nobody'|no thread 2000000000|no CPU 60000" err.txt)" -eq 3 ]
"$TARRY" report c.dat --from 9999 2>err.txt
passes "a window behind the end is told, with the length of the recording" grep -q 'this recording, which is .* long' err.txt
"$TARRY" report c.dat chain --tid 1 --at 9999 2>err.txt
passes "so is a time of a chain" grep -q -- '--at 9999 is after the end' err.txt
"$TARRY" report c.dat header --comm memory --comm flow >out.txt 2>err.txt
passes "an option's value is no word: a thread named memory" [ $? -eq 0 -a "$(grep -c 'named' err.txt)" -eq 2 ]
passes "help COMMAND is COMMAND --help" cmp -s <("$TARRY" help report memory) <("$TARRY" report memory --help)
echo "1..$n"
