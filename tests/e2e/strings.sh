#!/usr/bin/env bash
# Paths and addresses behind the pointers of system calls, against strace on the same execution.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - strings # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
why=$("$TARRY" doctor | sed -nE 's/^(no|note) +strings +//p')
if [ -n "$why" ]; then
	echo "ok 1 - strings # SKIP $why"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
src=$PWD
cd "$dir" || exit 1
PROGRAMS=${PROGRAMS:-$src/${B:-build}/programs}
export LC_ALL=C

# Both see the same calls of the same threads: strace is the command that is recorded.
cat >load.sh <<'S'
find "$1/tests" -name '*.c' >found
gcc -c -O1 -std=gnu17 -D_GNU_SOURCE -iquote "$1/base" "$1/base/buf.c" -o buf.o
ls -la /etc | sort | head -n 3 | wc -l
mkdir a; mv a b; ln -s b c; chmod 700 b; rmdir b; rm c
python3 -c 'import socket, os
s = socket.socket(socket.AF_UNIX)
for a in ("/nowhere/socket", "\0abstract"):
    try: s.connect(a)
    except OSError: pass
p = os.getcwd() + "/s"
s = socket.socket(socket.AF_UNIX); s.bind(p); s.listen(1)
c = socket.socket(socket.AF_UNIX); c.connect(p); a, _ = s.accept(); c.send(b"x"); a.recv(10)
t = socket.socket(); t.bind(("127.0.0.1", 0)); t.listen(1)
u = socket.create_connection(t.getsockname()); v, _ = t.accept(); u.send(b"hi"); v.recv(3); u.getpeername(); a.getpeername()
r, w = os.pipe(); os.write(w, b"a"); os.read(r, 1); x, y = socket.socketpair(); x.send(b"1"); y.recv(1)
m = os.memfd_create("mem"); os.write(m, b"1"); d = os.open("/etc", os.O_RDONLY); os.fchdir(d); os.read(os.dup(os.open("passwd", os.O_RDONLY)), 1)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0)); s.sendto(b"x", s.getsockname()); s.recvfrom(3)
s = socket.socket(socket.AF_INET6)
try: s.connect(("::1", 1))
except OSError: pass'
python3 -c 'import os, resource, select, signal, socket, threading, time
r, w = os.pipe(); p = select.poll(); p.register(r, select.POLLIN | select.POLLPRI); p.register(w, 0); p.poll(1)
os.write(w, b"data"); p.poll(1000); select.select([r], [w], [], 1.5); select.select([], [], [], 0.01)
e = select.epoll(); e.register(r, select.EPOLLIN | select.EPOLLET); e.poll(1); e.modify(r, select.EPOLLOUT); e.unregister(r)
os.writev(w, [b"abc", b"de"]); os.readv(r, [bytearray(4), bytearray(9)]); time.sleep(0.01)
a, b = socket.socketpair(); socket.send_fds(a, [b"fds"], [r, w, os.open("found", 0), os.eventfd(0), os.memfd_create("m")]); _, got, _, _ = socket.recv_fds(b, 9, 9); os.read(got[2], 1)
signal.setitimer(signal.ITIMER_REAL, 10, 1); signal.setitimer(signal.ITIMER_REAL, 0)
lock = threading.Lock(); lock.acquire(); lock.acquire(timeout=0.01)
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 1024)); resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD, 34]); signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.sigtimedwait([signal.SIGUSR1], 0.001); signal.signal(signal.SIGUSR1, lambda *a: 0)
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); s.sendmsg([b"x", b"yy"], [], 0, s.getsockname()); s.recvmsg(9, 99)
if not os.fork(): os.kill(os.getpid(), 9)
os.wait()'
"$2/messages" load.sh
S
"$TARRY" record -q -o s.dat -- strace -f -yy -qq -o s.txt sh load.sh "$src" "$PROGRAMS" >/dev/null 2>err.txt
check "a command under strace is recorded" $? "$(cat err.txt)"
"$TARRY" dump s.dat syscalls >s.dump 2>err.txt
judge "every path, address and argument of exec is strace's, byte for byte (99.9%)" <<'P'
import collections, re
paths = set('''openat newfstatat statx access faccessat faccessat2 readlink readlinkat execve chdir unlink unlinkat mkdir
rename renameat2 symlink symlinkat chmod fchmodat rmdir connect bind sendto'''.split())
quoted = re.compile(r'"(?:[^"\\]|\\.)*"')
address = re.compile(r'\{sa_family=.*\}')
def calls(file):
    by = collections.defaultdict(list)
    for line in open(file, errors='surrogateescape'):
        m = re.match(r'\s*(\d+)\s+(?:[\d:.]+ )?(\w+)\((.*)', line)
        if not m or m[2] not in paths: continue
        if m[2] in ('connect', 'bind', 'sendto'): what = address.findall(m[3])
        elif m[2] in ('readlink', 'readlinkat'): what = quoted.findall(m[3])[:1]
        elif m[2] == 'execve': what = re.findall(r'^".*?", \[.*?\](?=, 0x)', m[3])
        else: what = quoted.findall(m[3])
        by[int(m[1])].append((m[2], what))
    return by
want, got = calls('s.txt'), calls('s.dump')
pairs = [(w, g) for t in want for w, g in zip(want[t], got[t])]
differ = [(w, g) for w, g in pairs if w != g]
assert len(pairs) > 800, len(pairs)
assert len(pairs) == sum(map(len, want.values())), "calls are missing"
assert sum(w[0] == 'execve' and bool(w[1]) for w, g in pairs) > 10
assert sum(w[0] in ('connect', 'bind', 'sendto') for w, g in pairs) >= 5
assert len(differ) * 1000 <= len(pairs), differ[:10]
P
judge "every descriptor and folder has the name that strace -yy has for it, or none" <<'P'
import collections, difflib, os, re
named = re.compile(r'(?:AT_FDCWD|(?<![\w"\[:>])\d+)<((?:[^<>]|->)*)>')
# A connection that is not accepted yet has no peer here: strace looks later.
ours = re.compile(r' listening|(?<=UNIX-STREAM:\[)(\d+).*')
def calls(file):
    by = collections.defaultdict(list)
    for line in open(file, errors='surrogateescape'):
        m = re.match(r'\s*(\d+)\s+(?:[\d:.]+ )?(\w+)\((.*)', line)
        if m and m[2] not in ('exit', 'exit_group') and 'resumed>' not in line:
            text = re.sub(r'"(?:[^"\\]|\\.)*"', '', re.sub(r' <[\d.]+>$', '', m[3]))
            if 'unfinished ...>' in text: text = ''
            text = re.sub(r'<char [\d:]+>', '', text)
            by[int(m[1])].append((m[2], [ours.sub(r'\1', n) for n in named.findall(text)]))
    return by
want, got = calls('s.txt'), calls('s.dump')
wrong, known, all_of, kinds = [], 0, 0, collections.Counter()
for tid in want:
    a, b = ([c[0] for c in x[tid]] for x in (want, got))
    same = difflib.SequenceMatcher(None, a, b, False).get_matching_blocks()
    for w, g in ((want[tid][k.a + i], got[tid][k.b + i]) for k in same for i in range(k.size)):
        if w[0].startswith('dup') or any(n.startswith('/dev/') for n in w[1]): continue
        all_of += len(w[1])
        for n in w[1]: kinds[re.sub('[^A-Za-z/].*', '', n)[:4]] += 1
        known += len(g[1]) if w[1] else 0
        if len(g[1]) == len(w[1]) and any(a != b and os.path.realpath(b) != a for a, b in zip(w[1], g[1])):
            wrong.append((w, g))
assert all_of > 2000 and all(kinds[k] for k in ('pipe', 'TCP', 'UNIX', 'UDP', '/mem')), (all_of, kinds)
assert not wrong, wrong[:5]
assert known * 1000 >= all_of * 999, (known, all_of)
P
judge "structures are strace's: poll, select, epoll, vectors, messages, times, limits, signals, statuses" <<'P'
import collections, re
calls_of = set('''poll pselect6 epoll_ctl epoll_wait readv writev clock_nanosleep sendmsg recvmsg setitimer prlimit64 rt_sigprocmask
rt_sigaction rt_sigtimedwait wait4 futex accept4 getsockname getpeername recvfrom sendmmsg recvmmsg'''.split())
def calls(file):
    by, begun = collections.defaultdict(list), {}
    for line in open(file, errors='surrogateescape'):
        m = re.match(r'\s*(\d+)\s+(?:[\d:.]+ )?(.*)', line)
        if not m: continue
        t, x = int(m[1]), m[2]
        if x.endswith('<unfinished ...>'):
            begun[t] = x[:-len('<unfinished ...>')]
            continue
        r = re.match(r'<\.\.\. \w+ resumed>(.*)', x)
        x = begun.pop(t, '') + r[1] if r else x
        if x.split('(')[0] not in calls_of: continue
        x = re.sub(r'\) +=', ') =', re.sub(r' <[\d.]+>$', '', x))
        x = re.sub(r'iov_base=("(\\.|[^"\\])*"|0x[0-9a-f]+)', 'iov_base=B', x)  # bytes are not recorded
        x = re.sub(r'^(recvfrom\(\d+(<([^<>]|->)*>)?), ("(\\.|[^"\\])*"|0x[0-9a-f]+)', r'\1, B', x).replace(' listening]', ']')
        x = re.sub(r', (\[\d+\]|0x[0-9a-f]+)\) = -1 ENOTCONN', ', N) = -1 ENOTCONN', x)
        x = re.sub(r'msg_name=0x[0-9a-f]+|msg_namelen=\d+( => \d+)?', 'N', x)  # at enter, strace only
        x = re.sub(r', left \{[^}]*\}| \(left \{[^}]*\}\)$', '', x)  # two clocks
        x = re.sub(r'(UNIX-STREAM:\[\d+)[^\]]*', r'\1', x)
        x = re.sub(r',  +', ', ', x)
        by[t].append(x)
    return by
want, got = calls('s.txt'), calls('s.dump')
pairs = [(w, g) for t in want for w, g in zip(want[t], got[t])]
kinds = collections.Counter(w.split('(')[0] for w, g in pairs)
assert all(kinds[k] for k in calls_of), kinds
assert len(pairs) == sum(map(len, want.values())), "calls are missing"
differ = [(w, g) for w, g in pairs if w != g]
assert len(differ) * 1000 <= len(pairs), differ[:10]
for what in ('revents=POLLIN}', 'in [', 'EPOLLET', 'iov_len=9', 'SCM_RIGHTS', 'WTERMSIG(s) == SIGKILL', 'CHLD RT_2', 'rlim_cur=512', 'sin_port', '[128 => 16]', 'msg_len=8'):
    assert any(what in g for w, g in pairs), what
P
judge "--json has the structures as objects" <<'P'
import json, subprocess, os
out = subprocess.run([os.environ['TARRY'], 'dump', 's.dat', 'syscalls', '--json'], capture_output=True).stdout
seen = {}
for c in map(json.loads, out.splitlines()):
    if 'values' in c: seen.setdefault(c['name'], []).append(c)
poll = [c for c in seen['poll'] if 'POLLPRI' in str(c['values']) and c['ret'] > 0][-1]
assert [e['events'] for e in poll['values'][0]] == ['POLLIN|POLLPRI', '0'] and poll['values'][1:] == [None, None], poll
assert poll['values_out'][0][0]['revents'] == 'POLLIN', poll
assert poll['values'][0][0]['fd_name'].startswith('pipe:['), poll
names = [m['cmsg_data_names'] for c in seen['recvmsg'] for m in c['values'][1].get('msg_control', []) if 'cmsg_data_names' in m]
many = [m['cmsg_data_names'] for c in seen['sendmmsg'] + seen['recvmmsg'] for v in c['values'][1] for m in v['msg_hdr'].get('msg_control', [])]
assert len(many) == 2 and all(n[0].endswith('/load.sh') and n[1].startswith('pipe:[') for n in many), many
assert names and names[0][2].endswith('/found') and names[0][3:] == ['anon_inode:[eventfd]', '/memfd:m (deleted)'], names
assert poll['values_out'][0][0]['fd_name'] == poll['values'][0][0]['fd_name'], poll
sets = [c for c in seen.get('pselect6', []) + seen.get('select', []) if 'values_fd_names' in c]
assert any(c['values_fd_names'][1][0].startswith('pipe:[') and c['values_out_fd_names'][2][0].startswith('pipe:[') for c in sets), sets
assert any(c['values'][1] == [{'killed': 'SIGKILL'}] for c in seen['wait4'])
assert any(m['cmsg_type'] == 'SCM_RIGHTS' for c in seen['sendmsg'] for m in c['values'][1].get('msg_control', []))
assert seen['clock_nanosleep'][0]['values'][2].keys() == {'tv_sec', 'tv_nsec'}
P
# What buffers hold, on request only.
cat >data.sh <<'S'
seq 1 50 | sort -r | tail -n 2; ls -l / >list
python3 -c 'import os, socket
a, b = socket.socketpair(); a.send(b"secret \0\1\"2"); b.recv(99); a.sendmsg([b"x" * 40, b"yy"]); b.recvmsg(9)
f = os.open("list", os.O_RDWR); os.preadv(f, [bytearray(3), bytearray(50)], 1); os.pread(f, 9, 2); os.pwrite(f, b"", 0); os.pwrite(f, b"abc", 1)
os.writev(f, [b"1", b"", b"z" * 33])'
"$1/messages" list
S
"$TARRY" record -q --data 40 -o d.dat -- strace -f -yy -qq -o d.txt sh data.sh "$PROGRAMS" >/dev/null 2>err.txt
check "--data: recorded" $? "$(cat err.txt)"
"$TARRY" dump d.dat syscalls >d.dump 2>err.txt
judge "--data: what is read, written, sent and received is strace's" <<'P'
import collections, re
calls_of = set('read write pread64 pwrite64 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg writev preadv preadv2'.split())
quoted = re.compile(r'"(?:\\.|[^"\\])*"(?:\.\.\.)?')
def calls(file):
    by, begun = collections.defaultdict(list), {}
    for line in open(file, errors='surrogateescape'):
        m = re.match(r'\s*(\d+)\s+(?:[\d:.]+ )?(.*)', line)
        if not m: continue
        t, x = int(m[1]), m[2]
        if x.endswith('<unfinished ...>'):
            begun[t] = x
            continue
        r = re.match(r'<\.\.\. \w+ resumed>(.*)', x)
        x = begun.pop(t, '') + r[1] if r else x
        if x.split('(')[0] in calls_of:
            by[t].append((x.split('(')[0], quoted.findall(re.sub(r'<UNIX[^>]*(->[^>]*)?>', '', x))))
    return by
want, got = calls('d.txt'), calls('d.dump')
pairs = [(w, g) for t in want for w, g in zip(want[t], got[t])]
kinds = collections.Counter(w[0] for w, g in pairs)
assert all(kinds[k] for k in calls_of - {'preadv', 'preadv2'}) and kinds['preadv'] + kinds['preadv2'], kinds
differ = [(w, g) for w, g in pairs if w != g]
assert len(pairs) > 50 and len(differ) * 200 <= len(pairs), differ[:9]
assert any(r'"secret \0\1\"2"' in g[1] for w, g in pairs)
P
judge "--data: what stat returns is strace's" <<'P'
import collections, re
def calls(file):
    of = collections.Counter()
    for line in open(file, errors='surrogateescape'):
        m = re.match(r'\s*(\d+)\s+(?:[\d:.]+ )?(newfstatat|statx)\(.*?(\{.*\})', line)
        if m: of[m.groups()] += 1
    return of
want, got = calls('d.txt'), calls('d.dump')
assert sum(want.values()) > 50 and all(t in str(want) for t in ('S_IFDIR', 'S_IFREG', 'stx_mask')), want
assert not want - got, want - got # the others: unfinished ones in strace's lines
P
# Memory beside what a call was given: never; what control data of other protocols holds: with --data only.
cat >beside.py <<'S'
import ctypes, os, socket, struct, time
libc = ctypes.CDLL(None, use_errno=True)
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
a.send(b"d" * 300)
m = ctypes.create_string_buffer(b"\0" * 4 + b"beside-" + b"buffer", 300)
assert libc.recv(b.fileno(), m, 4, socket.MSG_TRUNC) == 300
r, w = (socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for i in range(2))
r.bind("r"); w.bind("long-name-" * 9); w.sendto(b"hi", "r")
name = ctypes.create_string_buffer(b"\0" * 8 + b"beside-" + b"name", 200)
got, vec = ctypes.create_string_buffer(8), ctypes.create_string_buffer(16)
def message(name, name_len, control=0, control_len=0):
    struct.pack_into("QQ", vec, 0, ctypes.addressof(got), 8)
    return ctypes.create_string_buffer(struct.pack("QQQQQQQ", name, name_len, ctypes.addressof(vec), 1, control, control_len, 0))
assert libc.recvmsg(r.fileno(), message(ctypes.addressof(name), 8), 0) == 2
key = ctypes.create_string_buffer(struct.pack("QII", 40, 279, 2) + b"control-" + b"key", 48)
assert libc.sendmsg(a.fileno(), message(0, 0, ctypes.addressof(key), 40), 0) in (8, -1)
S
"$TARRY" record -q -o n.dat -- sh -c 'sh data.sh "$1"; rm -f r long*; python3 beside.py' - "$PROGRAMS" >/dev/null 2>err.txt &&
	rm -f r long* &&
	"$TARRY" record -q --data 4096 -o nd.dat -- python3 beside.py >/dev/null 2>>err.txt
check "no data without --data: recorded" $? "$(cat err.txt)"
for f in d n nd; do "$PROGRAMS/section_text" $f.dat >$f.raw; done
sent='secret \x00\x01"2' # as sent: the command has it with backslashes
for what in "d $sent" 'nd control-key' 'n long-name'; do grep -qaP "${what#* }" "${what%% *}.raw" || echo "no $what"; done >missing
[ ! -s missing ]
check "the file's section of strings holds what was recorded" $? "$(cat missing)"
! grep -qaP "$sent|control-key" n.raw
check "no data without --data" $? "$(grep -aoP 'control-key' n.raw | sort | uniq -c)"
! grep -qaE 'beside-(buffer|name)' nd.raw && ! grep -qaE 'beside-(buffer|name)' n.raw
check "nothing behind a buffer that is shorter than the message or name" $? "$(grep -aoE 'beside-(buffer|name)' nd.raw n.raw)"
"$TARRY" record -q --data 5000 -o x.dat -- true 2>err.txt
[ $? = 2 ] && grep -q 'data 5000 is not a number of bytes from 1 to 4096' err.txt
check "--data: too many bytes are refused" $? "$(cat err.txt)"
"$TARRY" record -q --data 5 --no-strings -o x.dat -- true 2>err.txt
[ $? = 2 ] && grep -q 'not both' err.txt
check "--data with --no-strings is refused" $? "$(cat err.txt)"

# Command lines: of the traced ones only, and none where no strings are wanted.
sleep 1000.25 &
other=$!
"$TARRY" record -q -o c.dat -- sh -c 'sleep 0.125; :' 2>err.txt
"$TARRY" record -q -o cn.dat --no-strings -- sh -c 'sleep 0.125; :' 2>>err.txt
"$TARRY" record -q -o ca.dat -a -- sleep 0.3 2>>err.txt
kill $other
for f in c cn ca; do "$TARRY" report $f.dat threads --json >$f.json 2>>err.txt; done
judge "command lines are those of traced processes; --no-strings leaves them out" <<'P'
import json
def lines(f): return {t['command_line'] for t in json.load(open(f))['threads'] if 'command_line' in t}
assert 'sleep 0.125' in lines('c.json') and 'sleep 1000.25' not in lines('c.json'), lines('c.json')
assert not lines('cn.json'), lines('cn.json')
assert 'sleep 1000.25' in lines('ca.json'), lines('ca.json')
P

# Of the processes that held a thread up, the answer and the stalls have them.
"$TARRY" record -q -o hl.dat -- sh -c 'flock l sleep 0.4 & sleep 0.1; flock l true; wait' 2>err.txt
"$TARRY" report hl.dat stalls >hl.txt 2>>err.txt
"$TARRY" report hl.dat stalls --why 1 >hw.txt 2>>err.txt
"$TARRY" report hl.dat stalls --json >hl.json 2>>err.txt
[ "$(grep -cE '^ {16}flock/[0-9]+: flock l sleep 0.4$' hl.txt)" = 1 ] && grep -qE '^ {11}flock/[0-9]+: flock l true$' hw.txt &&
	grep -q '"cause":{[^}]*"command_line":"sleep 0.4"' hl.json
check "a stall has the command lines of its culprits" $? "$(cat hl.txt hw.txt err.txt)"

# Containers, by the names that docker gives their cgroups.
ids=(3f2a9c1b2d4e 0123456789ab) pids=() groups=()
for root in /sys/fs/cgroup /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
	[ -e "$root/cgroup.procs" ] || continue
	for id in "${ids[@]}"; do
		group=$root/docker-$id$(printf '%052x' $$).scope
		mkdir "$group" 2>/dev/null && groups+=("$group")
	done
	[ ${#groups[@]} -eq 0 ] || break
done
if [ ${#groups[@]} -ne 2 ]; then
	skip "containers" "no cgroup can be made here"
else
	for group in "${groups[@]}"; do
		sleep 1000.5 &
		pids+=($!)
		echo $! >"$group/cgroup.procs"
	done
	sleep 1000.5 &
	pids+=($!)
	"$TARRY" record -q -o g.dat -a -- sleep 0.3 2>err.txt
	kill "${pids[@]}"
	wait "${pids[@]}" 2>/dev/null
	rmdir "${groups[@]}"
	"$TARRY" report g.dat threads --json >g.json 2>>err.txt
	"$TARRY" report g.dat threads --tid "${pids[0]}" >g.txt 2>>err.txt
	judge "containers are named, and tell apart processes of one command line" "${ids[@]}" "${pids[@]}" <<'P'
import json, sys
ids, pids = sys.argv[1:3], list(map(int, sys.argv[3:]))
rows = {t['tid']: t for t in json.load(open('g.json'))['threads']}
for id, pid in zip(ids, pids):
    assert rows[pid]['cgroup_name'] == 'docker:' + id, rows[pid]
    assert rows[pid]['cgroup'].startswith('/docker-' + id), rows[pid]
assert 'docker' not in rows[pids[2]].get('cgroup', ''), rows[pids[2]]
text = open('g.txt').read()
assert 'docker:' + ids[0] in text and 'docker:' + ids[1] not in text, text
P
fi

# Pages that are not in memory when the call begins; strace would bring them in.
"$TARRY" record -q -o cold.dat -- "$PROGRAMS/cold_path" >opened 2>err.txt
check "cold pages: recorded" $? "$(cat err.txt)"
"$TARRY" dump cold.dat syscalls >cold.dump 2>cold.err
"$TARRY" dump cold.dat syscalls --json >cold.json 2>/dev/null
judge "cold pages: each path is there, and the pointer that leads nowhere is counted as not known" <<'P'
import json, re
text = open('cold.dump', errors='surrogateescape').read()
for i in range(64):
    assert f'"/nowhere/cold/{i}"' in text, i
assert f'"/nowhere/\\"quoted\\"\\t\\n\\\\"' in text
assert '"/nowhere/\\377\\303(\\0011"' in text
assert re.search(r'openat\(AT_FDCWD<[^>]*>, 0x8, O_RDONLY\) = -1 EFAULT', text)
long = re.search(r'"(/nowhere/long/[x/]*)"', text)[1]
assert len(long) == 4095, len(long)
said = open('cold.err').read()
m = re.search(r'paths of (\d+) of (\d+) calls', said)
assert m and m[1] == '1', said
strings = [c["strings"] for c in map(json.loads, open('cold.json', errors='surrogateescape')) if "strings" in c]
assert [None, '/nowhere/cold/7', None] in [s[:3] for s in strings], strings[:3]
P

"$TARRY" record -q --no-strings -o no.dat -- ls /etc/passwd >/dev/null
"$TARRY" dump no.dat syscalls >no.dump 2>err.txt
{ ! grep -q passwd no.dump && [ ! -s err.txt ]; }
check "--no-strings records none, and nothing is said to be missing" $? "$(cat err.txt)"

# Running processes and their descendants, no others.
mkfifo gate
sh -c 'read _ <gate; ls /etc/hostname; cat /etc/hosts >/dev/null' >/dev/null &
other=$!
"$TARRY" record -q -o p.dat -p $other 2>err.txt &
rec=$!
await 60 recording $rec p.dat
ls /etc/shadow >/dev/null
echo >gate
wait $rec
"$TARRY" dump p.dat syscalls >p.dump 2>/dev/null
grep -q '"/etc/hostname"' p.dump && grep -q '"/etc/hosts"' p.dump
check "-p: children of the process have their paths" $?
! grep -qa /etc/shadow p.dump
check "-p: nobody else is read" $?
# A socket pair from before the recording.
cat >pair.py <<'S'
import os, socket, time
a, b = socket.socketpair()
if not os.fork():
    a.close(); print(os.getpid(), flush=True); b.recv(1); b.recv(1); os._exit(0)
b.close(); open("gate").read(); a.send(b"x"); time.sleep(0.3); a.send(b"y"); os.wait()
S
python3 pair.py >child &
other=$!
await 60 test -s child
"$TARRY" record -q -o pair.dat -p $other -p "$(cat child)" 2>err.txt &
rec=$!
await 60 recording $rec pair.dat
echo >gate
wait $rec
"$TARRY" report pair.dat stalls --all 2>&1 | grep -qE "recvfrom\(fd [0-9]+ <UNIX-STREAM:\[[0-9]+->[0-9]+\] to python3/$other \"pair.py\">\)"
check "-p: the process at the other end of a socket pair that was there before" $? "$("$TARRY" report pair.dat stalls --all | head -n 5)"
"$TARRY" record -q -a --duration 2s -o a.dat 2>err.txt &
rec=$!
while kill -0 $rec 2>/dev/null; do # how long it takes to start depends on what else removes hooks
	ls /etc/networks >/dev/null
	sleep 0.2
done
wait $rec
grep -q '"/etc/networks"' <("$TARRY" dump a.dat syscalls 2>/dev/null)
check "-a: everybody" $?

# Findings name what was waited for.
cat >wait.sh <<'S'
mkfifo ff
( flock 9; : >held; sleep 0.5 ) 9>site.lock &
until [ -e held ]; do sleep 0.02; done
( flock 9; true ) 9>site.lock
(sleep 0.3; echo hi >ff) & cat "$PWD/ff"
wait
python3 -c 'import os, select, socket, time
p = select.poll(); p.register(os.eventfd(0), select.POLLIN); p.poll(150)
s = socket.socket(socket.AF_UNIX); s.bind("/proc/self/cwd/peer"); s.listen(1)
if not os.fork():
    a, _ = s.accept(); time.sleep(0.4); a.send(b"x"); os._exit(0)
c = socket.socket(socket.AF_UNIX); c.connect("/proc/self/cwd/peer"); c.recv(1)
r, w = os.pipe()
if not os.fork():
    time.sleep(0.4); os.write(w, b"x"); os._exit(0)
os.read(r, 1); a, b = socket.socketpair()
if not os.fork():
    r, w = os.pipe(); socket.send_fds(a, [b"x"], [r]); os.close(r); time.sleep(0.3); os.write(w, b"x"); os._exit(0)
os.read(socket.recv_fds(b, 9, 9)[1][0], 9)
e = select.epoll(); r, w = os.pipe(); idle, kept = os.pipe(); e.register(idle, select.EPOLLIN); e.register(r, select.EPOLLIN)
if not os.fork():
    os.close(kept); time.sleep(0.3); os.write(w, b"x"); os._exit(0)
e.poll()'
"$1/epoll_same_data"
S
"$TARRY" record -q -o w.dat -- sh wait.sh "$PROGRAMS" >/dev/null 2>&1
"$TARRY" report w.dat stalls --all >stalls.txt 2>&1
grep -q 'the lock on fd [0-9]* <site.lock> (flock)' stalls.txt
check "a finding names the file of a descriptor" $? "$(cat stalls.txt)"
grep -q 'openat("[^ ]*/ff")' stalls.txt
check "a finding names the path of a call" $? "$(cat stalls.txt)"
grep -q 'recvfrom(fd [0-9]* <UNIX-STREAM:\[[0-9]* to "/proc/self/cwd/peer"\] to python3/[0-9]*>)' stalls.txt
check "a finding names the unix socket's path and process" $? "$(cat stalls.txt)"
[ "$(grep -c ' waited in read(fd [0-9]* <pipe from python3/[0-9]*>)' stalls.txt)" -ge 2 ]
check "a finding names the process that writes to the pipe, which was made here or received" $? "$(cat stalls.txt)"
grep -q 'waited in epoll_wait at [0-9.]* s until fd [0-9]* <pipe from python3/[0-9]*> was ready[ ,]' stalls.txt
check "a finding names the descriptor that epoll_wait found ready" $? "$(cat stalls.txt)"
grep -q 'epoll_same_data/[0-9]* waited in epoll_wait' stalls.txt && ! grep -q 'epoll_same_data/[0-9]* waited in epoll_wait at [0-9.]* s until' stalls.txt
check "a finding names none where several descriptors have the event's data" $? "$(grep epoll_same stalls.txt)"

# The processes at the other end, in the same waits.
"$TARRY" dump w.dat syscalls --json >w.json 2>/dev/null
judge "dump syscalls --json: the processes at the other end of a pipe and a unix socket" <<'P'
import json
kinds = set()
for l in open('w.json'):
    d = json.loads(l)
    for p in d.get('fd_peers', []):
        assert p['pid'] != d['pid'], d
        if d['duration_ns'] > 250e6 and p['comm'].startswith('python'): kinds.add(d['fd_name'].split(':')[0])
assert {'pipe', 'UNIX-STREAM'} <= kinds, kinds
P

# Two network namespaces with the same connection, both made before either waits; made while recording, and before.
cat >pair.py <<'P'
import os, socket, sys, time
name, other = sys.argv[1:]
def bound(port):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.0.0.1', port))
    return s
listens = bound(5432)
listens.listen()
if os.fork():
    s, _ = listens.accept()
    while s.recv(1):
        time.sleep(0.3)
        s.send(b'x')
else:
    c = bound(4000)
    c.connect(('127.0.0.1', 5432))
    print(os.getpid(), os.getppid(), file=open(name + '.new', 'w'))
    os.rename(name + '.new', name)
    while not os.path.exists(other): time.sleep(0.02)
    for i in range(3 if len(sys.argv[1]) > 1 else 30):
        c.send(b'x')
        c.recv(1)
P
in_namespaces() { # NAME NAME: two pairs
	for pair in "$1 $2" "$2 $1"; do
		unshare -n sh -c "ip link set lo up && exec python3 pair.py $pair" &
	done
	wait
}
export -f in_namespaces
if ! unshare -n ip link set lo up 2>err.txt; then
	skip "the peer in its own network namespace" "$(cat err.txt)"
else
	"$TARRY" record -q -o ns.dat -- bash -c 'in_namespaces aa bb' 2>err.txt
	in_namespaces a b &
	namespaces=$!
	until [ -e a ] && [ -e b ]; do sleep 0.05; done
	"$TARRY" record -q -a -o na.dat -- sleep 1 2>>err.txt
	wait $namespaces
	for f in ns na; do "$TARRY" report $f.dat stalls --json >$f.json 2>>err.txt; done
	judge "the peer of a socket is in its own network namespace" <<'P'
import json, re
for f, names, least in ('ns', 'aa bb', 2), ('na', 'a b', 1):
    server = dict(map(int, open(n).read().split()) for n in names.split())
    found = set()
    for s in json.load(open(f + '.json'))['stalls']:
        m = s['tid'] in server and re.search(r'127.0.0.1:4000->127.0.0.1:5432\] to python3/(\d+)', s['sentence'])
        if m:
            found.add(s['tid'])
            assert int(m[1]) == server[s['tid']], s['sentence']
    assert len(found) >= least, (f, found, server)
P
fi

# The same calls by object.
"$TARRY" report w.dat objects >objects.txt 2>&1
grep -qE '^ *[3-9][0-9]{2} ms .* lock +[^ ]*/site.lock$' objects.txt && grep -qE ' UNIX-STREAM:\[[0-9]+ to "/proc/self/cwd/peer"' objects.txt
check "report objects: the lock's file and the socket's peer" $? "$(cat objects.txt)"
grep -qE '^ *[3-9][0-9]{2} ms .* pipe +pipe:\[[0-9]+\] from python3/[0-9]+$' objects.txt && grep -qE ' UNIX-STREAM:.* to python3/[0-9]+$' objects.txt
check "report objects: the process at the other end of a pipe and a socket" $? "$(cat objects.txt)"
grep -qE '^ *[12][0-9]{2} ms .* other +anon_inode:\[eventfd\] of python3/' objects.txt
check "report objects: a poll counts for its descriptor" $? "$(cat objects.txt)"
judge "report objects: calls and bytes of pipes and sockets are those of dump syscalls" <<'P'
import collections, json, os, subprocess
def run(*a): return subprocess.run([os.environ['TARRY'], *a, '--json'], capture_output=True).stdout
of = {o['name']: o for o in json.loads(run('report', 'w.dat', 'objects'))['objects']['list'] if o['kind'] in ('pipe', 'socket')}
want = collections.defaultdict(lambda: [0, 0, 0, 0])
for c in map(json.loads, run('dump', 'w.dat', 'syscalls').splitlines()):
    name = c.get('fd_name')
    if name not in of or c['name'] == 'close' or c['duration_ns'] is None: continue
    w = want[name]
    w[0] += 1
    w[1] += c['duration_ns']
    if c['name'] in ('read', 'recvfrom', 'recvmsg', 'getdents64') and c['ret'] > 0: w[2] += c['ret']
    if c['name'] in ('write', 'sendto', 'sendmsg') and c['ret'] > 0: w[3] += c['ret']
got = {n: [o['calls'], o['total_ns'], o['received_bytes'], o['sent_bytes']] for n, o in of.items()}
assert len(got) >= 4 and any(g[2] for g in got.values()) and any(g[3] for g in got.values()), got
assert got == dict(want), (got, dict(want))
P
"$TARRY" report w.dat objects --from 0 --to 0.000001 | grep -q 'none: no system call'
check "report objects: a window without calls" $?

# A program that polls without pause: structures up to a limit; the poll that waits has its own.
cat >poll.py <<'P'
import os, select
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # each CPU has a limit
r, w = os.pipe(); p = select.poll(); p.register(w, select.POLLOUT)
for i in range(100000): p.poll(0)
p = select.poll(); p.register(r, select.POLLIN); p.poll(300)
P
"$TARRY" record -o l.dat -- python3 poll.py >/dev/null 2>l.err
"$TARRY" dump l.dat syscalls >l.dump
left=$(sed -n 's/^tarry: note: \([0-9]*\) structures of system calls were left out: .*/\1/p' l.err)
with=$(grep -c ' poll(\[{fd=' l.dump) polls=$(grep -c ' poll(' l.dump)
[ "${left:-0}" -gt 10000 ] && [ "$with" -ge 10000 ] && [ "$with" -lt "$polls" ] && [ "$polls" -ge 100001 ]
check "polls that return at once: structures up to a limit, the others counted" $? "$left left out; $with of $polls shown; $(cat l.err)"
"$TARRY" report l.dat header 2>/dev/null | grep -qE "^ *note +$left structures of system calls were left out: "
check "the report's header says what was left out" $? "$("$TARRY" report l.dat header)"
grep -q ' poll(\[{fd=[0-9]*<pipe:\[[0-9]*\]>, events=POLLIN}\], 1, 300) = 0 (Timeout) <' l.dump
check "a poll that waits after them has its structure" $? "$(grep ' poll(' l.dump | tail -n 1)"

# A recorder that is stopped: its rings become full. What has no room is counted, the rest is right.
"$TARRY" record --buffer 64M -o full.dat -- sh -c 'kill -STOP $PPID; "$0" 1 100000 stat; kill -CONT $PPID; sleep 1; ls /etc/hostname' "$PROGRAMS/syscall_loop" >/dev/null 2>full.err
"$TARRY" dump full.dat syscalls 2>/dev/null >full.dump
lost=$(sed -n 's/^tarry: note: \([0-9]*\) paths or other strings of system calls were dropped: .*/\1/p' full.err)
root=$(grep -cE ' (new)?(fstatat\(AT_FDCWD[^,]*, |stat\()"/",' full.dump) without=$(grep -cE ' (new)?(fstatat\(AT_FDCWD[^,]*, |stat\()0x' full.dump)
[ "${lost:-0}" -ge "$without" ] && [ "$without" -gt 1000 ] && [ "$root" -gt 1000 ] && [ $((root + without)) -ge 100000 ] && grep -q '"/etc/hostname"' full.dump
check "full rings: paths that were lost are counted, the others are right" $? "$lost lost; $root with a path, $without without; $(cat full.err)"

# A recorder that is killed leaves nothing in the kernel, and its strings are in what it leaves.
if command -v bpftool >/dev/null; then
	"$TARRY" record -q -o k.dat -- sh -c 'ls /etc/hostname; echo $$ >pid; exec sleep 30' >/dev/null 2>&1 &
	rec=$!
	await 60 test -s pid # then all but the last second, or two, is in the file
	sleep 3
	during=$(still_loaded $(programs_of $rec))
	kill -9 $rec
	gone() { [ -z "$(still_loaded $during)" ]; }
	[ -n "$during" ] && await 60 gone
	check "kill -9: no program stays in the kernel" $? "$during: $(still_loaded $during)"
	"$TARRY" dump k.dat syscalls 2>/dev/null | grep -q '"/etc/hostname"'
	check "kill -9: the strings are in the unfinished file" $?
	kill "$(cat pid)"
else
	skip "kill -9: no program stays in the kernel" "no bpftool"
fi

# The newest part of a recording: strings of the part that is kept.
"$TARRY" record -q --keep 2s -o keep.dat -- sh -c 'ls /etc/oldest; for i in $(seq 16); do ls /etc/hostname; sleep 0.5; done; ls /etc/newest' >/dev/null 2>&1
"$TARRY" dump keep.dat syscalls >keep.dump 2>keep.err
grep -q '"/etc/newest"' keep.dump && grep -q '"/etc/hostname"' keep.dump && ! grep -q oldest keep.dump && [ ! -s keep.err ]
check "--keep: strings of the part that is kept" $? "$(cat keep.err)"
echo "1..$n"
exit $bad
