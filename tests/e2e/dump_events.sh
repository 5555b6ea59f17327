#!/usr/bin/env bash
# `tarry dump FILE events` against trace-cmd report, line by line: number, order, time stamp, cpu,
# tid, event name and text of every event, and the places and counts of lost ones. (Only the name
# column may differ: trace-cmd knows one name per tid, tarry the one at that time.) JSON: every line
# is an object that says the same as the text.
# Lane: beside
set -u
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
. "$(dirname "$0")/tap.bash"
report() { # STATUS NAME [LOG]
	check "$2" "$1" "$([ -z "${3:-}" ] || cat "$3")"
}

cat >"$d/load.sh" <<'EOF'
#!/bin/bash
cd "$(dirname "$0")" || exit 1
find /usr/include -name '*.h' >list
(sort list | uniq | wc -l) >/dev/null
dd if=/dev/zero of=blob bs=64k count=20 conv=fsync 2>/dev/null
(sleep 0.2) &
(trap '' TERM; exec sleep 0.1) &
wait
EOF
chmod +x "$d/load.sh"

cat >"$d/compare.py" <<'EOF'
import re, sys, json
line = re.compile(r'^(?: *(\S+): | *)(.*)-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (.*)$')
drop = re.compile(r'CPU:(\d+) \[(?:(\d+) )?EVENTS DROPPED\]')
def read(path):
    for l in open(path, errors='surrogateescape'):
        l = l.rstrip('\n')
        if re.match(r'^ *cpus=\d+$', l):
            continue
        m = drop.search(l)
        if m:
            yield ('drop', int(m[1]), m[2] and int(m[2]))
            continue
        m = re.search(r'-(\d+) +\[(\d+)\] +(\d+)\.(\d{9}): (.*)$', l)
        if m:
            head = l[:m.start()]
            buf = 'syscalls' if head.startswith('syscalls: ') else '' # names hold ': ' too (tmux: client)
            yield (buf, int(m[1]), int(m[2]), int(m[3]) * 10**9 + int(m[4]), m[5])
        else:
            yield ('more', l)
mode, a, b = sys.argv[1:4]
bad = total = 0
if mode == 'text':
    x, y = list(read(a)), list(read(b))
    total = len(y)
    if len(x) != len(y):
        print('trace-cmd has', len(x), 'items, tarry', len(y)); bad += 1
    for i, (p, q) in enumerate(zip(x, y)):
        if p != q:
            bad += 1
            if bad < 5:
                print('item', i, '\n  trace-cmd', p, '\n  tarry    ', q)
else: # b is tarry's JSON
    text = [t for t in read(a) if t[0] != 'more']
    for i, l in enumerate(open(b)):
        total += 1
        o = json.loads(l)
        t = text[i] if i < len(text) else None
        if 'gap' in o:
            ok = t and t[0] == 'drop' and t[1] == o['cpu'] and t[2] == o['count'] \
                and o['from_ns'] <= o['ts_ns'] and o['gap'] == 'overrun'
        else:
            ok = t and t[0] == o.get('buffer', '') and t[1:4] == (o['tid'], o['cpu'], o['ts_ns']) \
                and t[4].startswith(o['event'] + ':') and isinstance(o['fields'], dict) \
                and isinstance(o['comm'], str) and o['system']
            f = o['fields'] if ok else {}
            if ok and o['event'] == 'sys_enter' and 'args' in f:
                ok = t[4].split(':', 1)[1].strip() == 'NR %d (%s)' % (f['id'], ', '.join('%x' % v for v in f['args']))
            elif ok and o['event'] == 'sys_exit' and 'ret' in f:
                ok = t[4].split(':', 1)[1].strip() == 'NR %d = %d' % (f['id'], f['ret'])
            elif ok and o['event'] == 'sched_switch':
                ok = ('next_comm=%s next_pid=%d next_prio=%d' % (f['next_comm'], f['next_pid'], f['next_prio'])) in t[4]
        if not ok:
            bad += 1
            if bad < 5:
                print('line', i + 1, '\n  text', t, '\n  json', l)
    if total != len(text):
        print('text has', len(text), 'items, JSON', total); bad += 1
if total < int(sys.argv[4]):
    print('only', total, 'items: the load was not recorded'); bad += 1
sys.exit(bad != 0)
EOF

same() { # NAME FILE LEAST
	local text
	trace-cmd report -t -N "$2" >"$d/theirs" 2>/dev/null & # one of them is slow
	"$TARRY" dump "$2" events >"$d/ours" 2>"$d/err" && [ ! -s "$d/err" ]
	report $? "$1: dumped without complaint" "$d/err"
	"$TARRY" dump "$2" --json >"$d/json" 2>"$d/err"
	wait
	python3 "$d/compare.py" text "$d/theirs" "$d/ours" "$3" >"$d/log" 2>&1 & text=$!
	python3 "$d/compare.py" json "$d/ours" "$d/json" "$3" >"$d/log.json" 2>&1
	report $? "$1: JSON says the same, line by line" "$d/log.json"
	wait $text
	report $? "$1: every event as trace-cmd report prints it" "$d/log"
}

if ! command -v trace-cmd >/dev/null || ! command -v python3 >/dev/null; then
	skip 'dump events like trace-cmd' 'trace-cmd or python3 is not installed'
	exit 0
fi
if [ "$(id -u)" != 0 ] || ! "$TARRY" record -q -o "$d/cmd.dat" -- "$d/load.sh" 2>"$d/err"; then
	skip 'dump events like trace-cmd' "cannot record here: $(head -n 1 "$d/err")"
	exit 0
fi
same 'two buffers' "$d/cmd.dat" 5000
page=$("$TARRY" report "$d/cmd.dat" --json | grep -o '"ring_page_bytes": *[0-9]*' | grep -o '[0-9]*$')
if [ -e /sys/kernel/tracing/buffer_subbuf_size_kb ]; then
	[ "$page" -gt "$(getconf PAGESIZE)" ]
	report $? "its ring pages ($page bytes) are larger than the machine's"
else
	skip "ring pages larger than the machine's" 'this kernel has none'
fi
"$TARRY" record -q -a -e 'kmem:*' -e 'ext4:*' -e 'sched:*' -o "$d/all.dat" -- "$d/load.sh" 2>"$d/err"
report $? 'recorded with many events' "$d/err"
same 'many kinds of events' "$d/all.dat" 5000
for i in 1 2 3; do # how much is lost is up to the machine
	"$TARRY" record -q -a -e 'kmem:*' --buffer 64k -o "$d/lost.dat" -- "$d/load.sh" 2>"$d/err"
	"$TARRY" dump "$d/lost.dat" | grep -q DROPPED && break
done
if "$TARRY" dump "$d/lost.dat" | grep -q DROPPED; then
	same 'lost events' "$d/lost.dat" 100
else
	skip 'lost events' 'nothing was lost in three tries'
fi
# trace-cmd's converter knows only ring pages of the machine's size, which small rings have.
"$TARRY" record -q --buffer 500k -o "$d/small.dat" -- "$d/load.sh" 2>"$d/err"
report $? 'recorded with pages of the machine'"'s size" "$d/err"
for to in '--file-version 6' '--file-version 7 --compression none' '--file-version 7 --compression zlib'; do
	# shellcheck disable=SC2086
	if trace-cmd convert $to -i "$d/small.dat" -o "$d/conv.dat" >/dev/null 2>&1; then
		same "trace-cmd's own file ($to)" "$d/conv.dat" 5000
	else
		skip "trace-cmd's own file ($to)" 'this trace-cmd cannot write it'
	fi
	rm -f "$d/conv.dat"
done

# Choices: what --tid, --comm, --cpu, --from and --to leave is what filtering the whole gives.
"$TARRY" dump "$d/cmd.dat" --json >"$d/json"
cat >"$d/choose.py" <<'EOF'
import json, sys
how, value = sys.argv[1:3]
for l in open(sys.argv[3]):
    o = json.loads(l)
    if 'gap' in o: continue
    if how == 'tid' and o['tid'] != int(value): continue
    if how == 'comm' and o['comm'] != value: continue
    if how == 'cpu' and o['cpu'] != int(value): continue
    sys.stdout.write(l)
EOF
tid=$(python3 -c '
import json,sys,collections
c=collections.Counter(json.loads(l).get("tid",0) for l in open(sys.argv[1])); del c[0]
print(c.most_common(1)[0][0])' "$d/json")
for choice in "tid $tid" 'comm find' 'cpu 0'; do
	set -- $choice
	python3 "$d/choose.py" "$1" "$2" "$d/json" >"$d/want"
	"$TARRY" dump "$d/cmd.dat" --json "--$1" "$2" >"$d/got" 2>"$d/err"
	[ -s "$d/want" ] && cmp "$d/want" "$d/got" >>"$d/err" 2>&1
	report $? "--$1 leaves exactly its events" "$d/err"
done
"$TARRY" dump "$d/cmd.dat" --json --from 0.1 --to 0.2 >"$d/got" 2>"$d/err"
python3 - "$d/json" "$d/got" >"$d/log" 2>&1 <<'EOF'
import json, sys
all = [l for l in open(sys.argv[1])]
t0 = min(json.loads(l)['ts_ns'] for l in all)
want = [l for l in all if t0 + 10**8 <= json.loads(l)['ts_ns'] < t0 + 2 * 10**8]
got = open(sys.argv[2]).readlines()
print(len(want), len(got))
sys.exit(want != got or not want)
EOF
report $? '--from and --to leave exactly their events, names included' "$d/log"
"$TARRY" dump "$d/cmd.dat" 2>"$d/err" | head -n 3 >/dev/null
s=${PIPESTATUS[0]} # 141: SIGPIPE, as other tools; 0 where the caller ignores that signal
{ [ "$s" -eq 141 ] || [ "$s" -eq 0 ]; } && [ ! -s "$d/err" ]
report $? 'a reader that goes away is no failure' "$d/err"
echo "1..$n"
