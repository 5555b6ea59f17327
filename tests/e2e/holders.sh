#!/usr/bin/env bash
# The holder of the lock that a thread waits for: contended locks of each kind against what their program
# wrote, and file locks taken before the recording. TIMES=210 is 10,000 contentions.
set -u
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - holders # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
holder=
trap 'rm -rf "$dir"; [ -z "$holder" ] || kill "$holder" 2>/dev/null' EXIT
cd "$dir" || exit 1
export LC_ALL=C
"$TARRY" record -q -o probe.dat -- true 2>err.txt
if ! "$TARRY" report probe.dat stacks --json | grep -q '"least_ns":20000000'; then
	echo "ok 1 - holders # SKIP $(cat err.txt)"
	echo "1..1"
	exit 0
fi

cat >judge.py <<'P'
import json, sys
kinds = ['mutex', 'mutex', 'mutex', 'PI mutex', 'robust mutex', 'rwlock']
s = json.load(open('report.json'))['summary']
clock = s['start_realtime_ns'] - s['start_ns']
SLACK = 3000000 # of that offset
held = {}
for l in open('truth.txt'):
    k, at, tid, a, b, c = l.split()
    held.setdefault(int(at, 16), []).append((int(a) - clock, int(b) - clock, int(c) - clock, int(tid), kinds[int(k)]))
contended = sum(len(v) for v in held.values())
looked, proven, wrong, seen = 0, 0, [], set()
for l in open('stacks.json'):
    d = json.loads(l)
    lock = d.get('lock')
    if not lock or lock.get('name', '').startswith(('g_lock', 'pair')): continue
    looked += 1
    start, end, where = d['start_ns'], d['start_ns'] + d['duration_ns'], int(lock['address'], 16)
    v = next((held[w] for w in (where, where - 8, where - 12) if w in held), None)
    # The holder at some time of the wait; proven: and was the last one before it ended.
    had = {t for a, _, c, t, _ in v if a < end + SLACK and c > start - SLACK} if v else {}
    if lock['holder_tid'] not in had or lock['kind'] != v[0][4]:
        wrong.append((lock, had))
        continue
    if lock['evidence'] != 'proven': continue
    if not any(t == lock['holder_tid'] and b - SLACK < end < c + SLACK + 4000000 for _, b, c, t, _ in v):
        wrong.append((lock, 'did not release it at the end of the wait'))
    proven += 1
    seen.add(lock['kind'])
print(contended, 'contentions', looked, 'looked at', proven, 'proven', sorted(seen), 'wrong', wrong[:3])
if wrong: print(*wrong, sep='\n', file=open('wrong.txt', 'a'))
sys.exit(seen != set(kinds))
P
contended() {
	"$TARRY" record -q -o l.dat -- "$PROGRAMS/lock_holders" "${TIMES:-6}" >truth.txt 2>err.txt
	"$TARRY" dump l.dat stacks --json >stacks.json 2>>err.txt
	"$TARRY" report l.dat --json >report.json 2>>err.txt
	python3 judge.py >seen.txt 2>&1
	check "contended locks of each kind have proven holders" $? "$(cat seen.txt err.txt)"
}
: >wrong.txt
tries 3 contended
[ ! -s wrong.txt ]
check "none of them is wrong, in any try" $? "$(cat wrong.txt)"
sed 's/^/# /' seen.txt
"$TARRY" report l.dat stalls --all --to 0.3s >out.txt
passes "the finding names lock and holder, proven" grep -qE '^ +mutex g_lock \(lock_holders.c:[0-9]+\), held by lock_holders/[0-9]+ \[proven\]$' out.txt
! grep 'held by' out.txt | grep -qE 'alike|pair'
check "a word that looks like a lock has no holder, nor has a condition variable" $? "$(grep -E 'alike|pair' out.txt)"

# File locks: the process that took them before the recording began.
file_lock() { # NAME CALL KIND TYPE TEXT [HAVING]: what the holder does once it has the lock
	cat >holder.py <<P
import fcntl, os, signal, time
f = open('$dir/site.lock', 'w')
$2
${6-}
open('$dir/ready', 'w').close()
time.sleep(60)
P
	printf "import fcntl\nf = open('%s', 'w')\n%s\n" "$dir/site.lock" "$2" >waiter.py
	rm -f ready
	python3 holder.py &
	holder=$!
	until [ -e ready ]; do sleep 0.02; done
	ino=$(stat -c %i site.lock)
	"$TARRY" record -q -o f.dat -- sh -c "python3 waiter.py & until grep -q -- '-> $4.*:$ino ' /proc/locks; do sleep 0.02; done; sleep 0.5; kill $holder; wait" 2>err.txt
	"$TARRY" report f.dat stalls --all >out.txt
	who="([^[]*/)?$holder( \"[^\"]*\")?"
	grep -qE "^ +file lock \\($3\\)${5/HOLDER/$who}$" out.txt
	check "$1: the process that took the lock before the recording" $? "$(cat out.txt err.txt) $holder"
	wait "$holder" 2>/dev/null
	holder=
}
file_lock flock 'fcntl.flock(f, fcntl.LOCK_EX)' flock FLOCK ', held by process HOLDER \[proven\]'
file_lock fcntl 'fcntl.lockf(f, fcntl.LOCK_EX)' 'fcntl lock' POSIX ', held by process HOLDER \[proven\]'
# The process that took it closes the file; its child has the lock until it is requested to exit.
file_lock "flock of a child that inherited it" 'fcntl.flock(f, fcntl.LOCK_EX)' flock FLOCK ': at [0-9.]+ s /proc/locks listed process HOLDER as its holder \[inferred\]' "
child = os.fork()
if not child:
    time.sleep(60)
    os._exit(0)
f.close()
signal.signal(signal.SIGTERM, lambda *_: (os.kill(child, signal.SIGKILL), os.waitpid(child, 0), time.sleep(0.1), os._exit(0)))"
# More waits for locks than one scan reads.
cat >many.py <<'P'
import threading, time
threading.stack_size(65536)
lock = threading.Lock()
lock.acquire()
threads = [threading.Thread(target=lambda: (lock.acquire(), lock.release())) for _ in range(1200)]
for t in threads: t.start()
time.sleep(0.3)
lock.release()
for t in threads: t.join()
P
"$TARRY" record -q -o m.dat -- python3 many.py 2>err.txt
grep -qE 'note: the holder of a lock was not read [0-9]+ times: more than 1,000 threads' err.txt
check "more waits for locks than a scan reads are counted" $? "$(cat err.txt)"

# Locks of Go and Rust: words without a convention about their owner. Numbers beside them, here as a mutex of
# glibc has them and of a thread that lives and has no lock, must not name one.
cat >lock.go <<'P'
package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"
)

var data struct {
	before [8]int32
	lock   sync.Mutex
	behind [8]int32
}

func main() {
	var all sync.WaitGroup
	runtime.GOMAXPROCS(4)
	data.behind = [8]int32{int32(syscall.Getpid()), 1}
	for i := range data.before {
		data.before[i] = int32(syscall.Getpid())
	}
	for i := 0; i < 4; i++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			for k := 0; k < 8; k++ {
				data.lock.Lock()
				from := time.Now().UnixNano()
				time.Sleep(40 * time.Millisecond)
				fmt.Println(syscall.Gettid(), from, time.Now().UnixNano())
				data.lock.Unlock()
			}
			all.Done()
		}()
	}
	all.Wait()
}
P
cat >lock.rs <<'P'
use std::{fs, process, sync::Mutex, thread, time::{Duration, SystemTime, UNIX_EPOCH}};

static LOCK: Mutex<[u32; 8]> = Mutex::new([0; 8]);

fn now() -> u128 { SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() }

fn main() {
    *LOCK.lock().unwrap() = [process::id(), 1, 0, 0, 0, 0, 0, 0];
    let all: Vec<_> = (0..4).map(|_| thread::spawn(|| {
        let tid = fs::read_link("/proc/thread-self").unwrap().file_name().unwrap().to_owned();
        for _ in 0..8 {
            let mut n = LOCK.lock().unwrap();
            let from = now();
            thread::sleep(Duration::from_millis(40));
            n[0] = process::id();
            println!("{} {} {}", tid.to_str().unwrap(), from, now());
        }
    })).collect();
    for t in all { t.join().unwrap(); }
}
P
foreign() { # LANGUAGE COMPILER ARGUMENTS...
	if ! "$2" --version >/dev/null 2>&1 && ! "$2" version >/dev/null 2>&1; then
		skip "$1: no holder is named that did not have the lock" "no $2"
		return
	fi
	GOCACHE=$dir/cache "${@:2}" >err.txt 2>&1 &&
		"$TARRY" record -q -o foreign.dat -- ./foreign >foreign.txt 2>err.txt &&
		"$TARRY" dump foreign.dat stacks --json >foreign.stacks && "$TARRY" report foreign.dat --json >foreign.json &&
		"$TARRY" report foreign.dat stalls --all --json >foreign.stalls
	check "$1: recorded" $? "$(cat err.txt)"
	judge "$1: no holder is named that did not have the lock, and none is proven" <<'P'
import json, re
s = json.load(open('foreign.json'))['summary']
clock = s['start_realtime_ns'] - s['start_ns']
SLACK = 3000000
held = [(int(t), int(a) - clock, int(b) - clock) for t, a, b in (l.split() for l in open('foreign.txt'))]
assert len(held) == 32, held
waits = [json.loads(l) for l in open('foreign.stacks')]
assert len(waits) > 20, len(waits)
named = [w for w in waits if w.get('lock')]
assert not named, named[:3]
for x in json.load(open('foreign.stalls'))['stalls']:
    end = x['start_ns'] + x['duration_ns']
    for tid, grade in re.findall(r'held by \S*/(\d+)(?: "[^"]*")?( \(proven\))?', x['cause']['text'] if x['cause'] else ''):
        assert not grade and x['cause']['evidence'] == 'inferred', x
        assert any(t == int(tid) and a < end + SLACK and b > x['start_ns'] - SLACK for t, a, b in held), (x, held)
P
}
foreign Go go build -o foreign lock.go
foreign Rust rustc -O -o foreign lock.rs
echo "1..$n"
exit "$bad"
