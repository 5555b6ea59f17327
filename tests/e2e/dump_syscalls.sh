#!/usr/bin/env bash
# tarry dump syscalls beside strace: the same calls, arguments, results and counts for programs that
# do the same in every run. Pointers and strings are compared as "PTR"; what strace reads from memory
# is switched off (-e verbose=none).
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
skip_all() { skip "dump syscalls" "$1"; exit 0; }
[ "$(id -u)" = 0 ] || skip_all "needs root to record"
[ -w /sys/kernel/tracing/instances ] || skip_all "no tracefs here"
command -v python3 >/dev/null || skip_all "needs python3 to compare"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

cat >norm.py <<'P'
# Lines of strace or of tarry to what must be equal: tids by their order of appearance, pointers and
# strings as PTR, no times.
import re, sys
ids = {}
out = []
for line in open(sys.argv[1]):
    m = re.match(r'(\d+) +\S+ (.*)$', line.rstrip('\n'))
    if not m or m.group(2).startswith(('---', '+++')):
        continue
    t = m.group(2)
    ids.setdefault(m.group(1), 'TID%d' % len(ids))
    t = re.sub(r' <[\d.]+>$', '', t)
    t = re.sub(r'\b(\d+|AT_FDCWD)<.*?>(\(deleted\))?(?=[],)} ]|$)', r'\1', t)  # names of descriptors and folders
    t = re.sub(r'^((pipe2?|socketpair)\(.*?)\[\d+, \d+\]', r'\1PTR', t)  # strace: verbose=none
    t = re.sub(r'"(\\.|[^"\\])*"(\.\.\.)?', 'PTR', t)
    t = re.sub(r'\[PTR(, PTR)*(, \.\.\.)?\]', 'PTR', t)
    t = re.sub(r' /\* \d+ vars? \*/', '', t)
    t = re.sub(r'0x[0-9a-f]{7,16}\b', 'PTR', t)
    # strace -e verbose=none shows pointers to structures (strings.sh compares what they hold)
    t = re.sub(r'\{[^{}]*\}|(?<=, )\[\](?=, 8\))', 'PTR', t)
    t = re.sub(r' +=', ' =', t)
    t = re.sub(r'ioctl\((-?\d+), 0x[0-9a-f]+ /\* (\w+) \*/', r'ioctl(\1, \2', t)  # tarry: number, name
    t = re.sub(r'syscall_0x([0-9a-f]+)', lambda x: 'syscall_%d' % int(x.group(1), 16), t)
    t = re.sub(r'^getppid\(\) = \d+', 'getppid() = PARENT', t)
    t = re.sub(r'= (\d+)$', lambda x: '= ' + ids.get(x.group(1), x.group(1)), t)
    out.append(t)
print('\n'.join(out))
P
cat >counts.py <<'P'
# Counts of completed calls by name: of tarry's NDJSON, or of strace -c's table.
import json, sys, collections
c = collections.Counter()
for line in open(sys.argv[1]):
    if line.startswith('{'):
        o = json.loads(line)
        # strace -c has no row for numbers without a name
        if 'name' in o and o['status'] == 'returned' and not o['name'].startswith('syscall_'):
            c[o['name']] += 1
    else:
        f = line.split()
        if len(f) >= 5 and f[0][0].isdigit() and f[-1] != 'total':
            c[f[-1]] += int(f[3])
for k in sorted(c):
    print(k, c[k])
P

# every kind of argument, one thread
"$TARRY" record -q -o args.dat -- "$PROGRAMS/syscall_args"
[ $? = 3 ] && ok "the command's status is passed on" || not_ok "the command's status is passed on"
"$TARRY" dump args.dat syscalls >args.txt || not_ok "dump syscalls"
if command -v strace >/dev/null; then
	strace -f -tt -T -e verbose=none -o args.strace "$PROGRAMS/syscall_args"
	d=$(diff <(python3 norm.py args.strace) <(python3 norm.py args.txt))
	[ -z "$d" ] && [ "$(wc -l <args.txt)" -gt 200 ] && ok "lines as strace's, every kind of argument" ||
		not_ok "lines as strace's, every kind of argument" "$d"
	d=$(sed -E 's/^([0-9]+ +)[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6} .* <[0-9]+\.[0-9]{6}>$/good/' args.txt | grep -vc '^good$')
	[ "$d" = 1 ] && ok "pid, time of day, duration in every line but exit_group's" ||
		not_ok "pid, time of day, duration in every line but exit_group's" "$(grep -v '>$' args.txt)"

	# processes and threads
	for p in syscall_args syscall_procs; do
		"$TARRY" record -q -o p.dat -- "$PROGRAMS/$p" </dev/null >/dev/null
		strace -f -c -o p.strace "$PROGRAMS/$p"
		"$TARRY" dump p.dat syscalls --json >p.json
		d=$(diff <(python3 counts.py p.strace) <(python3 counts.py p.json))
		[ -z "$d" ] && [ "$(python3 counts.py p.json | wc -l)" -gt 20 ] &&
			ok "$p: counts equal strace -f -c" || not_ok "$p: counts equal strace -f -c" "$d"
	done
else
	skip "compare with strace" "no strace here"
	"$TARRY" record -q -o p.dat -- "$PROGRAMS/syscall_procs" </dev/null >/dev/null
fi

"$TARRY" dump p.dat syscalls >p.txt
[ "$(wc -l <p.txt)" = "$(wc -l <p.json)" ] && ok "text and JSON have the same lines" || not_ok "text and JSON have the same lines"
d=$(grep -cE ' (<unfinished|<\.\.\.|<unknown)|\[(32-bit|x32|if a )' p.txt)
[ "$d" = 0 ] && ok "nothing unknown in a whole recording" || not_ok "nothing unknown in a whole recording" "$(grep -E '<unf|<\.\.\.|<unk|\[(32-bit|x32|if a )' p.txt)"
d=$(python3 - p.json <<'P'
import json, sys
last = 0
for line in open(sys.argv[1]):
    o = json.loads(line)
    for k in ('ts_ns', 'duration_ns', 'tid', 'pid', 'comm', 'name', 'args', 'ret', 'errno'):
        if k not in o: print('missing', k, line)
    if o['ts_ns'] < last: print('order', line)
    last = o['ts_ns']
    if o['pid'] is None: print('pid', line)
    if o['errno'] is not None and o['ret'] != -1: print('errno', line)
P
)
[ -z "$d" ] && ok "JSON: keys, order, pid" || not_ok "JSON: keys, order, pid" "$d"
# The exec by a thread continues as the leader's: the last program's seven getgid are the leader's.
leader=$(head -n 1 p.txt | cut -d' ' -f1)
[ "$(grep -c "^$leader .*getgid()" p.txt)" = 7 ] && ok "exec by a thread that is not the leader" ||
	not_ok "exec by a thread that is not the leader" "$(grep getgid p.txt)"
# ...and so is that execve, which began as the thread's.
d=$("$TARRY" dump p.dat syscalls --tid "$leader" | grep -v "^$leader " | sed -E 's/^[0-9]+ +[0-9:.]+ (execve\().* = 0 <[0-9.]+>$/\1/')
[ "$d" = 'execve(' ] && [ "$("$TARRY" dump p.dat syscalls --tid "$leader" | grep -c "^$leader ")" = "$(grep -c "^$leader " p.txt)" ] &&
	ok "--tid" || not_ok "--tid" "$d"
# The name is the one at the call's start, whatever the query.
comm=$(sed -n '1s/.*"comm":"\([^"]*\)".*/\1/p' p.json)
[ "$("$TARRY" dump p.dat syscalls --json --comm "$comm")" = "$(grep -F "\"comm\":\"$comm\"" p.json)" ] && ok "--comm" || not_ok "--comm" "$comm"
"$TARRY" dump p.dat syscalls --from 99999 >behind.txt 2>behind.err
[ $? = 2 ] && [ ! -s behind.txt ] && grep -q -- '--from 99999 is after the end' behind.err && ok "--from behind the end" || not_ok "--from behind the end" "$(cat behind.err)"
"$TARRY" dump p.dat events --from 99999 >behind.txt 2>behind.err
[ $? = 2 ] && [ ! -s behind.txt ] && ok "events --from behind the end" || not_ok "events --from behind the end" "$(cat behind.err)"
start=$("$TARRY" dump p.dat events --json | head -n 1 | sed 's/.*"ts_ns":\([0-9]*\).*/\1/')
mid=$(sed -n '400s/.*"ts_ns":\([0-9]*\).*/\1/p' p.json)
mid=$(awk "BEGIN { printf \"%.9f\", ($mid - $start) / 1e9 }")
a=$("$TARRY" dump p.dat syscalls --to "$mid" | wc -l) b=$("$TARRY" dump p.dat syscalls --from "$mid" | wc -l)
all=$(wc -l <p.txt)
# a call that lies across the border is in both
[ "$a" -ge 399 ] && [ "$a" -lt "$all" ] && [ $((a + b)) -ge "$all" ] && [ $((a + b)) -le $((all + 20)) ] && ok "--from and --to split the lines" ||
	not_ok "--from and --to split the lines" "$a + $b of $all, at $mid"

# calls in progress at either end of the recording
mkfifo gate
(read -r _ <gate; exec sleep 100) &
sleeper=$!
"$TARRY" record -q -o attach.dat -p $sleeper &
rec=$!
asleep() { [ "$(cat /proc/$sleeper/comm)" = sleep ] && grep -q '^State:.*S' /proc/$sleeper/status; }
await 60 recording $rec attach.dat
echo >gate
# It has exec'ed, and then waits in clock_nanosleep.
await 60 asleep
kill -INT $rec
wait $rec
kill $sleeper
"$TARRY" dump attach.dat syscalls >attach.txt 2>attach.err
grep -qE '^[0-9]+ +[0-9:.]+ <\.\.\. [a-z0-9_]+ resumed>\) += .* <unknown: began before the recording>' attach.txt &&
	ok "a call that began before says so" || not_ok "a call that began before says so" "$(head -n 3 attach.txt)"
tail -n 1 attach.txt | grep -qE 'clock_nanosleep\(CLOCK_REALTIME, 0, \{tv_sec=100, tv_nsec=0\}, (0x[0-9a-f]+|NULL) <unfinished \.\.\.>$' &&
	ok "a call in progress at the end is unfinished" || not_ok "a call in progress at the end is unfinished" "$(tail -n 3 attach.txt)"

# what the command and its children inherit has a name, until something else has its number
printf '1\n2\n3\n' >inherited
"$TARRY" record -q -o inherit.dat -- bash -c 'read -r -u 7 x; (read -r -u 7 x; :); exec 7</dev/null; (read -r -u 7 x); :' 7<inherited
"$TARRY" dump inherit.dat syscalls >inherit.txt
named="$(grep -cE " read\\(7<$(pwd -P)/inherited>," inherit.txt) $(grep -E " read\\(7<$(pwd -P)/inherited>," inherit.txt | cut -d' ' -f1 | sort -u | wc -l) $(grep -cE ' read\(7</dev/null>,' inherit.txt)"
[[ $named =~ ^[1-9][0-9]*\ 2\ 1$ ]] && ok "inherited descriptors have names, in children, too" ||
	not_ok "inherited descriptors have names, in children, too" "$named: $(grep -E '\(7' inherit.txt)"

# 32-bit callers are named by their own table
cat >i386.c <<'C'
static int sc(int n, int a, int b, int c)
{
	int r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
	return r;
}
void _start(void)
{
	int p = sc(2, 0, 0, 0);
	if (!p) { sc(20, 0, 0, 0); sc(1, 5, 0, 0); }
	sc(7, p, 0, 0); sc(252, 6, 0, 0);
	for (;;);
}
C
if gcc -m32 -nostdlib -static -fno-pie -no-pie -fno-stack-protector -O1 -o i386 i386.c 2>/dev/null && { ./i386; [ $? = 6 ]; }; then
	"$TARRY" record -q -o i386.dat -- ./i386
	d=$("$TARRY" dump i386.dat syscalls | grep -F '[32-bit]' | sed -E 's/^[0-9]+ +[0-9:.]+ ([a-z0-9_]+)\(.*/\1/' | sort | tr '\n' ' ')
	[ "$d" = "exit exit_group fork getpid waitpid " ] && ok "32-bit callers are named rightly" || not_ok "32-bit callers are named rightly" "$d"
else
	skip "32-bit callers" "cannot build or run them here"
fi
echo "1..$n"
