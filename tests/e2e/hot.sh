#!/usr/bin/env bash
# Samples of what runs on the CPUs: shares of a program that measures itself, and the same under perf record.
# Lane: alone
set -u
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - samples # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
src=$PWD
judge=$src/tests/e2e/hot.py
prog=$PROGRAMS/hot_shares
cd "$dir" || exit 1
export LC_ALL=C
"$TARRY" record -q -- "$prog" 1200 >truth.txt 2>err.txt
why=$(sed -n 's/.*CPU sampling is off: //p' err.txt)
if [ -n "$why" ]; then
	echo "ok 1 - samples # SKIP $why"
	echo "1..1"
	exit 0
fi
"$TARRY" report hot >hot.txt 2>err.txt
passes "by default the hottest function is known with its line" grep -qE '^ +[0-9.]+% .* alpha \(hot_shares\.c:[0-9]+\)$' hot.txt
grep -A1 ' alpha (hot_shares' hot.txt | grep -q '^ *called by .*main'
check "the line below it names its callers" $? "$(head -n 20 hot.txt)"
"$TARRY" report tarry.dat answer >answer.txt
passes "the answer names it, as sampled" grep -qE '^  alpha \(hot_shares\.c:[0-9]+\) used about [0-9]+% of the [0-9.]+ m?s of CPU time \([0-9]+ threads?; [0-9]+ of [0-9]+ samples; 95% interval [0-9]+ to [0-9]+%(, including threads that were not sampled)?\)$' answer.txt

"$TARRY" report tarry.dat ledger >ledger.txt && "$TARRY" report tarry.dat ledger --json >ledger.json
grep -A1 'on CPU outside system calls$' ledger.txt | grep -qE '^ +~[0-9]+% \([0-9]+ to [0-9]+%, [0-9]+ of [0-9]+ samples\) alpha \(hot_shares\)$'
check "the ledger divides user mode by function" $? "$(head -n 20 ledger.txt)"
judge "by shares within four standard deviations" <<'P'
import json, math
truth = {n: int(v) for n, v in map(str.split, open('truth.txt'))}
row, = [r for l in json.load(open('ledger.json'))['ledger'] if l['tid'] for r in l['rows'] if r['row'] == 'on CPU outside system calls']
seen = {f['function']: f['samples'] for f in row['functions']}
n = row['samples']
assert n > 30 and 0.5 < n * 1e9 / 99 / row['ns'] < 1.5, row
for name, own in (('alpha', seen['alpha']), ('beta', seen.get('beta', 0) + seen.get('inlined_work', 0)), ('deep', seen['deep'])):
    p = truth[name] / sum(truth.values())
    assert abs(own / n - p) <= 4 * math.sqrt(p * (1 - p) / n), (name, own, n, p)
P

# With recursion, an inlined function and, on x86-64, one that is made at run time.
printf 'echo $$ >pid\nexec "%s" "$@" %s\n' "$prog" "$([ "$(uname -m)" != x86_64 ] || echo jit)" >jit.sh
shares() { # FILE HOW TREE RECORD-OPTION...
	local file=$1 how=$2 tree=$3
	shift 3
	"$TARRY" record -q -o "$file" --sample 997 "$@" -- sh jit.sh 300 1 >truth.txt 2>err.txt &&
		"$TARRY" report "$file" hot --json >hot.json 2>>err.txt &&
		python3 "$judge" truth.txt hot.json $tree >seen.txt 2>&1
	check "$how: shares within four standard deviations" $? "$(cat seen.txt err.txt)"
	rm -f "/tmp/perf-$(cat pid).map"
}
tries 2 shares d.dat "call frame information, two threads" tree
tries 2 shares f.dat "frame pointers, two threads" "" --sample-stacks fp
"$TARRY" report f.dat hot >out.txt 2>&1
passes "callers by frame pointers are marked" grep -q 'frame pointers: wrong where code was compiled without them' out.txt
judge "time on CPU of all functions is that of the ledgers, to the nanosecond" <<P
import json, subprocess
def ask(*a): return json.loads(subprocess.run(['$TARRY', 'report', 'f.dat', *a, '--json'], capture_output=True, text=True).stdout)
s = ask()['summary']
ran = 0
for k in range(8):
    o = ['--from', f"{k * (s['end_ns'] - s['start_ns']) / 9e9:.9f}", '--to', f"{(k + 1 + k % 3) * (s['end_ns'] - s['start_ns']) / 9e9:.9f}"]
    hot = ask('hot', *o)['hot']
    want = sum(r['ns'] for l in ask('ledger', *o)['ledger'] if l['tid'] for r in l['rows'] if r['row'].startswith(('on CPU', 'interrupted by', 'lost to the hypervisor')))
    assert want == sum(f['self_ns'] for f in hot['functions']) == hot['exact']['on_cpu_ns'], (o, want, hot['exact'])
    ran += want > 0
assert ran >= 4, ran # before the command ran, or in a wait, there may be none
P
"$TARRY" record -q -o o.dat --sample off -- true 2>err.txt
"$TARRY" report o.dat hot >out.txt 2>&1
passes "--sample off samples nothing, and the report says so" grep -q '^none recorded: record --sample off$' out.txt
chosen=1 # the speed of machines differs
for to in 0.1 0.2 0.4 0.8 1.6 3.2; do
	"$TARRY" report f.dat hot --from 0 --to $to --json >part.json
	python3 -c '
import json
all, part = (json.load(open(f))["hot"]["samples"] for f in ("hot.json", "part.json"))
raise SystemExit(not 0 < part < all)' 2>/dev/null && chosen=0 && break
done
check "--from and --to choose a part" $chosen
"$TARRY" dump f.dat samples --from 0 --to $to --json >dump.txt 2>err.txt
python3 -c 'import json; raise SystemExit(json.load(open("part.json"))["hot"]["samples"] != len(open("dump.txt").readlines()))' 2>>err.txt
check "dump samples prints those of the same part" $? "$(wc -l <dump.txt) $(cat err.txt)"

# Counters beside what the kernel says of each thread, which exits at once. Status 3: no thread has all its switches.
counted_on() { # CPUS
	"$TARRY" record -q -o c.dat --sample off --counter page-faults,context-switches,task-clock --counter minor-faults \
		-- taskset -c "$1" "$PROGRAMS/counted" >truth.txt 2>err.txt &&
		"$TARRY" report c.dat counters --json >c.json 2>>err.txt
	"$TARRY" dump c.dat >events.txt 2>>err.txt
	python3 - >seen.txt 2>&1 <<'P'
import collections, json, re
truth = {}
for tid, what, value in map(str.split, open('truth.txt')): truth.setdefault(int(tid), {})[what] = int(value)
c = json.load(open('c.json'))['counters']
seen = {}
for r in c['threads']:
    seen.setdefault(r['tid'], {})[r['counter']] = r['raw']
    if r['estimated'] or r['scaled'] != r['raw'] or r['counting'] != 1: raise SystemExit(f'not counted all the time: {r}')
if len(truth) != 2 or c['lost'] or c['unread']: raise SystemExit(f'{truth} {c}')
# Some virtual machines keep switches from all tracers (recorder/idle_switch.c), seen when a thread leaves a
# CPU that it did not come to: what it did there is in no reading.
came, left = collections.Counter(), collections.Counter()
for m in re.finditer(r'sched_switch: .* prev_pid=(\d+) .* next_pid=(\d+) ', open('events.txt', errors='replace').read()):
    left[int(m[1])] += 1
    came[int(m[2])] += 1
whole = {tid: t for tid, t in truth.items() if came[tid] == left[tid]}
if not whole:
    print(f'each thread has a switch that was not delivered: {truth} {came} {left}')
    raise SystemExit(3)
for tid, t in whole.items():
    s = seen[tid]
    if s['page-faults'] != t['faults']: raise SystemExit(f'faults: {s} {t}')
    # The last one is its end; preempted right before it, there is one more.
    if not 1 <= s['context-switches'] - t['switches'] <= 2: raise SystemExit(f'switches: {s} {t}')
    # Less by the switches themselves.
    if not -50000 * t['switches'] - t['cpu'] // 50 <= s['task-clock'] - t['cpu'] <= t['cpu'] // 50: raise SystemExit(f'clock: {s} {t}')
    if abs(s['minor-faults'] - t['minflt']) > 16: raise SystemExit(f'minor faults: {s} {t}')
sums = lambda rows: {n: sum(r['raw'] for r in rows if r['counter'] == n) for n in ('page-faults', 'context-switches', 'task-clock')}
if sums(c['threads']) != sums(c['cpus']): raise SystemExit(f"CPUs: {c['cpus']}")
P
}
counters() {
	local cpus status
	for cpus in $(python3 -c 'import os; c = list(map(str, sorted(os.sched_getaffinity(0)))); print(",".join(c), *c)'); do
		counted_on "$cpus"
		status=$?
		[ $status -eq 3 ] || break
	done
	check "counters: page faults and switches are those of getrusage, task-clock is the CPU time" $status "$(cat seen.txt err.txt truth.txt)"
}
tries 2 counters
"$TARRY" report c.dat counters >out.txt 2>&1
grep -A1 -E '^counted/[0-9]+, [0-9.]+ ms on CPU$' out.txt | grep -qE '^page-faults +[0-9,]+ +- +100\.0% ' && ! grep -q '.\{81\}' out.txt
check "counters as text of 80 columns" $? "$(cat out.txt)"
"$TARRY" export c.dat --format dat --from 0.001 -o cut.dat >out.txt 2>&1 && "$TARRY" report cut.dat counters --json >cut.json 2>>out.txt &&
	python3 -c '
import json
a, b = ({(r["tid"], r["counter"]): r["raw"] for r in json.load(open(f))["counters"]["threads"]} for f in ("c.json", "cut.json"))
raise SystemExit(not b or any(v > a[k] for k, v in b.items()))' >>out.txt 2>&1
check "counters are kept in a part" $? "$(cat out.txt)"
# Of everything, of a running process, and of the newest part.
"$TARRY" record -q -o ca.dat -a --sample off --stacks off --counter task-clock -- "$PROGRAMS/counted" >truth.txt 2>err.txt
"$TARRY" report ca.dat counters --json >c.json && python3 -c '
import json
t = {r["tid"] for r in json.load(open("c.json"))["counters"]["threads"] if r["raw"]}
own = {int(l.split()[0]) for l in open("truth.txt")}
raise SystemExit(not (own and own < t))' 2>>err.txt
check "--counter with -a counts the threads of the command, and others" $? "$(cat err.txt)"
"$PROGRAMS/hot_shares" 4000 >truth.txt &
held=$!
"$TARRY" record -q -o cp.dat -p $held --sample off --counter task-clock,page-faults --duration 400ms 2>err.txt
"$TARRY" record -q -o ck.dat -p $held --sample off --keep 1s --counter task-clock --duration 2s 2>>err.txt
kill $held
wait $held 2>/dev/null
judge "--counter with -p and with --keep: the process, all of the time that is kept" <<P
import json, subprocess
print(open('err.txt').read())
for f in ('cp.dat', 'ck.dat'):
    j = json.loads(subprocess.run(['$TARRY', 'report', f, '--json'], capture_output=True, text=True).stdout)
    c, t = j['counters'], [x for x in j['threads'] if x['tid'] == $held]
    rows = [r for r in c['threads'] if r['counter'] == 'task-clock' and r['raw']]
    assert {r['tid'] for r in rows} == {$held} and len(t) == 1 and not c['lost'], (f, rows, t)
    ran = t[0]['running_ns']
    assert 0 < ran and abs(rows[0]['raw'] - ran) < 0.1 * ran + 20e6, (f, rows, ran)
P
judge "readings divided at the ends of a window are estimates" <<P
import json, subprocess
divided = 0
for k in range(1, 9):
    c = json.loads(subprocess.run(['$TARRY', 'report', 'cp.dat', 'counters', '--from', f'{k * 0.04:.3f}', '--json'], capture_output=True, text=True).stdout)['counters']
    rows = c['threads'] + c['cpus']
    assert all(r['estimated'] == (r['divided'] > 0) for r in rows), (k, c)
    divided += c['divided']
assert divided
P
"$TARRY" record -q -o no.dat --counter no-such-event -- touch ran 2>err.txt
[ $? -eq 1 ] && [ ! -e ran ] && grep -q 'no-such-event: unknown event' err.txt
check "an unknown event is an error before the command starts" $? "$(cat err.txt)"
"$TARRY" record -q -o lbr.dat --sample-stacks lbr -- touch ran-lbr 2>err.txt
status=$?
[ "$status$(grep -c 'cannot record call stacks as branch records' err.txt)" = 11 ] && [ ! -e ran-lbr ] || { [ "$status" -eq 0 ] && [ -e ran-lbr ]; }
check "branch records are used, or an error before the command starts" $? "$(cat err.txt)"
"$TARRY" record -q -o lbr.dat --sample off --sample-stacks lbr -- true 2>err.txt
[ $? -eq 2 ] && grep -q 'sample-stacks needs samples' err.txt
check "a way to find callers without samples is wrong usage" $? "$(cat err.txt)"

# What the program has on its stack is in no chunk of the file; its name is.
"$TARRY" record -q -o s.dat --stacks off --sample 997 -- "$prog" 60 >truth.txt 2>err.txt
judge "copies of stacks hold no data of the program" <<'P'
import ctypes
z = ctypes.CDLL('libzstd.so.1')
for f in ('ZSTD_findFrameCompressedSize', 'ZSTD_decompress'): getattr(z, f).restype = ctypes.c_size_t
z.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
raw, at, plain = open('s.dat', 'rb').read(), 0, []
while (at := raw.find(b'\x28\xb5\x2f\xfd', at)) >= 0:
    part = raw[at:]
    n, out_n = z.ZSTD_findFrameCompressedSize(part, ctypes.c_size_t(len(part))), z.ZSTD_getFrameContentSize(part, ctypes.c_size_t(len(part)))
    at += 1
    if n > len(part) or not 0 < out_n < 1 << 28: continue
    out = ctypes.create_string_buffer(out_n)
    if z.ZSTD_decompress(out, ctypes.c_size_t(out_n), part, ctypes.c_size_t(n)) == out_n: plain.append(out.raw)
whole = b'\n'.join(plain) + raw
secret = (0x5345435245540000 ^ 0x0101010101010101).to_bytes(8, 'little')
if b'hot_shares' not in whole: raise SystemExit('nothing was decompressed')
if secret[2:] in whole: raise SystemExit('the secret is there')
P

# perf's own recording of the same program: what perf script counts, and the program's truth.
if ! command -v perf >/dev/null || ! perf record -q -B -e cpu-clock -o probe.data true 2>err.txt; then
	skip "perf.data files" "perf cannot record here"
else
	for how in fp dwarf; do
		perf record -q -B --call-graph "$how" -F 3997 -e cpu-clock -o "$how.data" sh jit.sh 60 1 >truth.txt 2>err.txt
		mkdir -p tmp && cp "/tmp/perf-$(cat pid).map" tmp 2>/dev/null # x86-64 only
		"$TARRY" report "$how.data" hot --symfs . --json >hot.json 2>>err.txt && python3 "$judge" truth.txt hot.json >seen.txt 2>&1
		check "perf record --call-graph $how: the same shares" $? "$(cat seen.txt err.txt)"
		perf script -i "$how.data" -F ip,sym -G 2>/dev/null | awk '{print $2}' | sort | uniq -c | awk '{print $2, $1}' >script.txt
		rm -f "/tmp/perf-$(cat pid).map"
		python3 - >seen.txt 2>&1 <<'P'
import json
hot = json.load(open('hot.json'))['hot']
script = dict(l.split() for l in open('script.txt'))
rows = {f['function']: f['self'] for f in hot['functions'] if f['function']}
own = {n: rows.get(n, 0) for n in [l.split()[0] for l in open('truth.txt')]}
own['beta'] += rows.get('inlined_work', 0)
want = {n: int(script.get(n, 0)) for n in own}
if own != want or hot['samples'] != sum(map(int, script.values())): raise SystemExit(f'{own} {want} {hot["samples"]}')
P
		check "perf record --call-graph $how: counts are those of perf script" $? "$(cat seen.txt)"
	done
	# Samples beside events, of which a timeline is made: both are there.
	if perf record -q -B -F 3997 -e cpu-clock -e sched:sched_switch -o both.data "$prog" 60 >truth.txt 2>err.txt; then
		# Now and then perf records no sample at all on a loaded machine.
		for again in 1 2 3; do
			perf script -i both.data --ns -F time,event 2>/dev/null | sed -n 's/: *cpu-clock:.*//p' >script.txt
			[ "$(wc -l <script.txt)" -lt 20 ] || break
			perf record -q -B -F 3997 -e cpu-clock -e sched:sched_switch -o both.data "$prog" 60 >truth.txt 2>err.txt
		done
		"$TARRY" report both.data hot --json >hot.json 2>>err.txt
		python3 - >seen.txt 2>&1 <<'P'
import json
j = json.load(open('hot.json'))
at = [int(l.replace('.', '')) for l in open('script.txt')]
if len(at) < 20 or j['hot']['samples'] != len(at): raise SystemExit(f"{len(at)} {j['hot']}")
P
		check "samples beside events: as many as perf script has" $? "$(cat seen.txt)"
	else
		skip "samples beside events" "perf cannot record tracepoints here"
	fi
	# Switches of all CPUs make a timeline; its samples are those that perf has.
	perf record -q -B -a --switch-events -F 497 -e cpu-clock -o switches.data "$prog" 40 >truth.txt 2>err.txt
	"$TARRY" view --print --size 100x40 --no-index --comm hot_shares switches.data >view.txt 2>>err.txt && grep -q ' CPU 0 ' view.txt &&
		grep -q '` samples' view.txt && "$TARRY" dump switches.data samples --json >dump.txt 2>>err.txt &&
		[ "$(wc -l <dump.txt)" -gt 10 ] && [ "$(wc -l <dump.txt)" -eq "$(perf script -i switches.data -F event 2>/dev/null | grep -c cpu-clock)" ]
	check "perf record -a --switch-events: a timeline with lanes of samples" $? "$(cat err.txt; head -n 12 view.txt)"
	perf stat record -o stat.data -e page-faults,task-clock "$prog" 10 >truth.txt 2>err.txt
	want=$(perf stat report -i stat.data 2>&1 | sed -n 's/,//g; s/^ *\([0-9]*\) *page-faults.*/\1/p')
	[ -n "$want" ] && "$TARRY" report stat.data >out.txt 2>&1 && grep -qE "^ +$want counted of page-faults  \(perf stat: tarry report FILE counters, tarry view FILE\)$" out.txt
	check "perf stat record: counts are those of perf stat report" $? "want $want; $(cat out.txt)"
	# Over time: those of each interval, as perf stat report has them, and lanes in the timeline.
	perf stat record -a -I 20 -o stat.data -e page-faults,context-switches "$prog" 40 >truth.txt 2>err.txt
	perf stat report -i stat.data 2>&1 | sed -n 's/,//g; s/^ *\([0-9.]*\)  *\([0-9]*\) *\([pc][a-z-]*\) .*/\1 \2 \3/p' >want.txt
	from=0 bad_rows=
	for at in $(cut -d' ' -f1 want.txt | uniq); do
		for event in page-faults context-switches; do
			want=$(sed -n "s/^$at \([0-9]*\) $event$/\1/p" want.txt)
			got=$("$TARRY" report --json --from $from --to $at stat.data counters 2>>err.txt | python3 -c "import json,sys
print(sum(r['raw'] for r in json.load(sys.stdin)['counters']['cpus'] if r['counter'] == '$event'))")
			[ "$got" = "$want" ] || bad_rows="$bad_rows $at:$event:$got:$want"
		done
		from=$at
	done
	[ -s want.txt ] && [ -z "$bad_rows" ] && "$TARRY" report stat.data answer 2>>err.txt | grep -q 'what .* did over .* is unknown' &&
		"$TARRY" view --print --no-index --size 100x30 stat.data >view.txt 2>>err.txt &&
		[ "$(grep -c '` page-faults' view.txt)" -eq "$(nproc)" ]
	check "perf stat record -I: each interval is that of perf stat report, and a lane of each CPU" $? "$bad_rows; $(cat err.txt; head -n 12 view.txt)"
fi
echo "1..$n"
exit "$bad"
