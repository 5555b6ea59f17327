#!/usr/bin/env bash
# Processes that are not traced but hold up a traced one: below the stall is the command line of each, with
# the argument that only it has. A script whose `kill` ends at once, a process that keeps the CPU, one that
# wakes the reader of a pipe late.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "culprits" "recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export LC_ALL=C
"$TARRY" record -q -o probe.dat -- true 2>err.txt
if ! "$TARRY" report probe.dat stacks --json | grep -q '"least_ns":20000000'; then
	skip "culprits" "$(cat err.txt)"
	echo "1..1"
	exit 0
fi
mkfifo pipe
# Each becomes its program when the recording has begun, as this shell's children they are not traced.
cat >backup.sh <<'E2'
/bin/kill -STOP "$1"
sleep 0.7
/bin/kill -CONT "$1"
sleep 0.2
E2
# The second page of its arguments cannot be read (PR_SET_MM_MAP), as if it were in swap space.
cat >cold.py <<'P'
import ctypes, os, signal, struct, sys, time
libc = ctypes.CDLL(None)
libc.mmap.restype = libc.sbrk.restype = ctypes.c_void_p
text = b'thaw\0cold-42\0'
end = libc.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_long(0)) + 4096
at = end - len(text)
ctypes.memmove(at, text, len(text))
libc.munmap(ctypes.c_void_p(end), ctypes.c_size_t(4096))
v = [0] * 4 + [int(w) for w in open('/proc/self/stat').read().rpartition(')')[2].split()[1:]]
memory = struct.pack('=12QIi', v[26], v[27], v[45], v[46], v[47], libc.sbrk(0), v[28], at, end + 64, v[50], v[51], 0, 0, -1)
if libc.prctl(35, ctypes.c_ulong(14), memory, ctypes.c_ulong(len(memory)), ctypes.c_ulong(0)):
    sys.exit(3)
os.kill(int(sys.argv[1]), signal.SIGSTOP)
time.sleep(0.5)
P
echo 'while :; do :; done' >hog.sh
echo 'exec 3>pipe; while [ ! -e go ]; do sleep 0.1; done; sleep 1; echo >&3; sleep 0.5' >waker.sh
python3 -c 'import time
while True: time.sleep(0.01)' & stopped=$!
taskset -c 0 sh -c 'while :; do :; done' & starved=$!
sh -c 'read -r x <pipe; sleep 9' & reader=$!
sh waker.sh late-42 & waker=$!
"$TARRY" record -q -o f.dat -p $stopped -p $starved -p $reader >rec.txt 2>&1 & rec=$!
await 60 recording $rec f.dat || not_ok "recording begins" "$(cat rec.txt)"
: >go
sh backup.sh $stopped nightly-42 & backup=$!
timeout 0.9 taskset -c 0 chrt -f 10 sh hog.sh hog-42
wait $backup $waker
python3 cold.py $stopped 2>>err.txt & cold=$!
wait $cold
moved=$?
/bin/kill -CONT $stopped
sleep 0.2
kill -INT $rec && wait $rec
kill $stopped $starved $reader
"$TARRY" report f.dat stalls --all >text.txt 2>>err.txt
"$TARRY" report f.dat stalls --all --json >f.json 2>>err.txt
is "the sender of a signal is shown with the script that started it" "$backup" \
	"$(sed -n 's|^ *sh/\([0-9]*\): sh backup.sh [0-9]* nightly-42$|\1|p' text.txt | head -n 1)"
passes "the sender's own line is the one of the program that had ended" \
	grep -q "kill/[0-9]*: /bin/kill -STOP $stopped" text.txt
if [ $moved -eq 3 ]; then
	skip "the sender's line is read later if it is not in memory" "this kernel cannot move arguments"
else
	passes "the sender's line is read later if it is not in memory" grep -q "signal from python3/$cold .cold-42." text.txt
fi
passes "JSON names the processes that started the sender" \
	grep -q '"started_by":\[{"comm":"sh","tid":'$backup',"command_line":"sh backup.sh '$stopped' nightly-42"' f.json
passes "what ran on the CPU is shown" grep -q 'sh/[0-9]*: sh hog.sh hog-42' text.txt
passes "who woke late is shown" grep -q "sh/$waker: sh waker.sh late-42" text.txt
[ $bad -eq 0 ] || sed 's/^/# /' text.txt rec.txt err.txt
echo "1..$n"
