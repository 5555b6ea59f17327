#!/usr/bin/env bash
# The index file and --memory on real recordings: used again, made anew when it does not fit, reported
# when it is damaged, in the cache folder where the trace's is not ours, and nothing left behind.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"

if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - index files # SKIP needs root and the program"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export XDG_CACHE_HOME=$dir/cache
mkdir in
t=in/t.dat index=in/.t.dat.tarry-index

"$TARRY" record -q -o $t -- "$PROGRAMS/syscall_loop" 2 1500000 2>err.txt
passes "recording" [ $? -eq 0 ]
"$TARRY" record -q -o other.dat -- "$PROGRAMS/syscall_loop" 1 200000 2>err.txt
passes "another recording" [ $? -eq 0 ]

report() { "$TARRY" report $t syscalls threads longest --json ${2:-} >"$1" 2>err.txt; }
same() { cmp -s right.json "$1" && [ ! -s err.txt ]; }
id() { stat -c '%i %y %s' $index; }
only() { [ "$(ls -A in | LC_ALL=C sort | tr '\n' ' ')" = "$1" ]; }

# What holds of every index; right.json is what is said without. $t and $index are its paths.
rules() { # WHAT COMMAND OTHER: COMMAND OUT [--no-index] tells of $t; a file of other content
	local what=$1 tell=$2 bare="${t#in/} " both="${index#in/} ${t#in/} " was size
	$tell right.json --no-index
	passes "$what: --no-index leaves none" only "$bare"
	$tell a.json
	passes "$what: the first open says the same" same a.json
	passes "and leaves an index" only "$both"
	was=$(id)
	$tell a.json
	passes "$what: the second open says the same" same a.json
	passes "from the same index" [ "$(id)" = "$was" ]
	$tell a.json --no-index
	passes "$what: --no-index beside an index: the same" same a.json
	passes "which is not touched" [ "$(id)" = "$was" ]
	touch $t
	$tell a.json
	passes "$what: a file of another time: the same" same a.json
	passes "a new index" [ "$(id)" != "$was" ]
	cp -p $t keep
	was=$(id)
	cp "$3" $t
	$tell a.json
	$tell b.json --no-index
	passes "$what: a file of other content: its own answers" cmp -s a.json b.json
	passes "which are others" [ "$(cmp a.json right.json 2>&1 | wc -l)" -eq 1 ]
	passes "a new index, too" [ "$(id)" != "$was" ]
	cp -p keep $t
	$tell a.json
	passes "$what: the first content again" same a.json
	truncate -s -5000 $index
	$tell a.json
	passes "$what: a truncated index is made anew" same a.json
	printf 'XXXX' | dd of=$index bs=1 seek=100 conv=notrunc status=none
	$tell a.json
	passes "$what: an index with a damaged head is made anew" same a.json
	: >$index
	$tell a.json
	passes "$what: an empty index is made anew" same a.json
	# Everything between head and directories.
	size=$(stat -c %s $index)
	dd if=/dev/urandom of=$index bs=4096 seek=1 count=$((size / 4096 / 2)) conv=notrunc status=none
	$tell a.json
	passes "$what: an index with damaged blocks: status 1" [ $? -eq 1 ]
	passes "one sentence" [ "$(wc -l <err.txt)" -eq 1 ]
	passes "that says what to do" grep -q 'index file was damaged.*again' err.txt
	passes "it is removed" only "$bare"
	$tell a.json
	passes "$what: the next open is right" same a.json
	rm -f $index
	chown 12345 in
	$tell a.json
	passes "$what in somebody else's folder: the same" same a.json
	passes "nothing is left there" only "$bare"
	was=$(stat -c '%i %y' cache/tarry/*."${index##*.}")
	$tell a.json
	passes "$what: the cache folder's index: the same" same a.json
	passes "is used again" [ "$(stat -c '%i %y' cache/tarry/*."${index##*.}")" = "$was" ]
	chown 0 in
	rm -rf cache
}

rules "a model" report other.dat
report a.json
passes "the index is larger than what --memory allows below" [ "$(stat -c %s $index)" -gt 16000000 ]
echo "# $(stat -c %s $index) bytes"
rm -f $index

report a.json & one=$!
"$TARRY" report $t syscalls threads longest --json >b.json 2>err2.txt
wait $one
passes "two at once: the same" same a.json
passes "of both" cmp -s right.json b.json
passes "one index" only ".t.dat.tarry-index t.dat "
rm -f $index

report a.json --memory=16M
passes "--memory of less than the model: the same" same a.json
passes "its index" only ".t.dat.tarry-index t.dat "
report a.json
passes "opens" same a.json
rm -f $index
export TMPDIR=$dir/tmp
mkdir tmp
"$TARRY" report $t syscalls threads longest --json --no-index --memory=16M >a.json 2>err.txt
passes "--memory without an index: the same" same a.json
passes "nothing is left" [ -z "$(ls -A tmp)" ]
if unshare -m sh -c 'mount -t tmpfs -o size=1m none tmp' 2>/dev/null; then
	unshare -m sh -c 'mount -t tmpfs -o size=1m none tmp && exec "$0" "$@"' \
		"$TARRY" report $t --no-index --memory=16M >a.json 2>err.txt
	passes "a full disk for what is over --memory: status 1" [ $? -eq 1 ]
	passes "names the disk" grep -q "to a file in $dir/tmp.*No space left on device" err.txt
	unshare -m sh -c 'mount -t tmpfs -o size=1m none in && cp "$1" in/t.dat 2>/dev/null; exec "$0" report in/t.dat' \
		"$TARRY" "$dir/other.dat" >a.json 2>err.txt
	passes "a full disk for the index alone is no failure" [ $? -eq 0 ]
fi

# Interrupted and killed while the index is written: when it is seen among the open files.
cat >end.py <<'P'
import glob, os, signal, subprocess, sys
tarry, trace, sig = sys.argv[1], sys.argv[2], int(sys.argv[3])
p = subprocess.Popen([tarry, "report", trace], stdout=subprocess.DEVNULL, stderr=open("err.txt", "w"))
def writing():
    for f in glob.glob(f"/proc/{p.pid}/fd/*"):
        try:
            if "/in/" in os.readlink(f) and not os.readlink(f).endswith("t.dat"):
                return True
        except OSError:
            pass
while p.poll() is None and not writing():
    pass
p.send_signal(sig)
print(p.wait())
P
# A signal that comes too late, when all is built, proves nothing: again.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rm -f $index
	r=$(python3 end.py "$TARRY" $t 2)
	[ "$r" = 130 ] && break
done
passes "Ctrl-C while indexing: status 130" [ "$r" = 130 ]
passes "and a sentence" grep -q interrupted err.txt
passes "leaves nothing" only "t.dat "
for _ in 1 2 3 4 5 6 7 8 9 10; do
	rm -f $index
	r=$(python3 end.py "$TARRY" $t 9)
	[ "$r" = -9 ] && [ ! -e $index ] && break
done
passes "killed while indexing" [ "$r" = -9 ]
passes "leaves nothing behind" only "t.dat "
report a.json
passes "and harms nothing" same a.json

# The index is cut short while the timeline has it mapped.
cat >cut.py <<'P'
import os, pty, select, sys, time
tarry, trace, index = sys.argv[1:]
pid, fd = pty.fork()
if not pid:
    os.environ.update(TERM="xterm", COLUMNS="100", LINES="30")
    os.execv(tarry, [tarry, "view", trace])
out = b""
def look(seconds):
    global out
    end = time.time() + seconds
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                out += os.read(fd, 65536)
            except OSError:
                return
end = time.time() + 60
while b"\x1b[?1049h" not in out and time.time() < end:
    look(0.2)
look(0.5)
os.truncate(index, 4096)
# Wherever the view then goes, it soon needs what is gone. Its output ends (EIO) with it.
while time.time() < end:
    try:
        os.write(fd, b"wwddsswwaass")
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            break
    except OSError:
        break
    look(0.2)
look(0.5)
while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
    if time.time() > end:
        os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
back = out.rfind(b"\x1b[?1049l")
said = out.rfind(b"its index file")
print(os.waitstatus_to_exitcode(status), 0 <= back < said)
P
passes "an index cut short under view: a sentence behind the restored terminal, status 1" \
	[ "$(python3 cut.py "$TARRY" $t $index 2>&1 | head -1)" = "1 True" ]
report a.json
passes "the next open is right again" same a.json

# Thousands of threads whose blocks stay open, and as many waits: the report stays within --memory,
# mapped files aside, and says the same as without it. Prints the greatest RssAnon in MB.
rm -rf in
mkdir in
cat >many.py <<'P'
import os, threading, time
def work():
    for i in range(150):
        os.getppid()
    for i in range(3):
        time.sleep(0.025)
for k in range(20):
    t = [threading.Thread(target=work) for i in range(250)]
    [x.start() for x in t]
    [x.join() for x in t]
P
cat >anonymous.py <<'P'
import subprocess, sys, time
with open(sys.argv[1], "w") as out:
    p, most = subprocess.Popen(sys.argv[2:], stdout=out), 0
    while p.poll() is None:
        with open("/proc/%d/status" % p.pid) as f:
            for line in f:
                if line.startswith("RssAnon:"):
                    most = max(most, int(line.split()[1]))
        time.sleep(0.001)
print(-(-most // 1024) if p.returncode == 0 else "failed")
P
t=in/many.dat
"$TARRY" record -q -o $t -- python3 many.py 2>err.txt
passes "recording of 5,000 threads" [ $? -eq 0 ]
"$TARRY" report $t --no-index >right.txt 2>err.txt
for open in first second; do
	most=$(python3 anonymous.py a.txt "$TARRY" report $t --memory 64M)
	passes "the $open report stays within 64 MB of anonymous memory: $most" [ "$most" -le 64 ]
	passes "and says the same" cmp -s right.txt a.txt
done

# The index of memory samples (a bare stream of them, 120,000 records): the same rules.
rm -rf in cache
mkdir in
t=in/m.spe index=in/.m.spe.tarry-memory-index
stream() { # SEED
	python3 - "$1" <<'P'
import random, struct, sys
r = random.Random(int(sys.argv[1]))
for i in range(120000):
    sys.stdout.buffer.write(b"\xb0" + struct.pack("<Q", 1 << 63 | 0x400000 + 4 * r.randrange(500)) +
        b"\x64" + struct.pack("<I", 1000 + r.randrange(4)) + b"\x49" + bytes([r.randrange(2)]) + b"\x52\x16\0" +
        b"\x98" + struct.pack("<H", r.randrange(300)) + b"\xb2" + struct.pack("<Q", 0x7f0000000000 + 8 * r.randrange(1 << 30)) +
        b"\x71" + struct.pack("<Q", 1000 + 20 * i))
P
}
samples() { "$TARRY" report memory sharing --spe-raw $t --json ${2:-} >"$1" 2>err.txt; }
stream 1 >$t
stream 2 >other.spe
rules samples samples other.spe
samples a.json
passes "there are samples" grep -q '"samples":120000' a.json
echo "1..$n"
