#!/usr/bin/env bash
# User stacks of long waits: planted waits, and gdb's backtrace of the same waits.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - stacks # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
src=$PWD
cd "$dir" || exit 1
export LC_ALL=C
"$TARRY" record -q --stacks 20ms -o probe.dat -- true 2>err.txt
if ! "$TARRY" report probe.dat stacks --json | grep -q '"least_ns":20000000'; then
	echo "ok 1 - stacks # SKIP $(cat err.txt)"
	echo "1..1"
	exit 0
fi

cat >library.c <<'C'
#include <time.h>
__attribute__((noinline, noclone)) void wait_in_library(const struct timespec *t)
{
	nanosleep(t, 0);
	__asm__ volatile("" ::: "memory");
}
void library_caller(const struct timespec *t, void (*say)(const char *))
{
	say("wait_in_library library_caller main");
	wait_in_library(t);
	__asm__ volatile("" ::: "memory");
}
C
flags="-O2 -g -fomit-frame-pointer -D_GNU_SOURCE -pthread"
p=$src/tests/programs/wait_stacks.c
gcc $flags -fPIC -shared -o library.so library.c
gcc $flags -std=gnu17 -o pie "$p" -ldl
gcc $flags -std=gnu17 -no-pie -o fixed "$p" -ldl
g++ $flags -x c++ -o cpp "$p" -ldl
gcc $flags -std=gnu17 -static -o static "$p" 2>/dev/null

# Of the truth on standard output and the dump of stacks: how many planted waits have their functions, which
# are wrong.
cat >judge.py <<'P'
import json, sys
stacks = [json.loads(l) for l in open(sys.argv[2])]
good, missing, wrong = 0, [], []
truth = [l.split() for l in open(sys.argv[1])]
for tid, *want in truth:
    of = [s for s in stacks if s['tid'] == int(tid)]
    names = [[f['function'].split('.')[0] for f in s['frames'] if f.get('file', '').endswith(('wait_stacks.c', 'library.c'))] for s in of]
    if want in [n[:len(want)] for n in names]: good += 1
    else: missing.append((tid, want, names))
# What was planted has no other callers, ever.
callers = {w[i]: {v[j + 1] for _, *v in truth for j in range(len(v) - 1) if v[j] == w[i]} for _, *w in truth for i in range(len(w) - 1)}
for s in stacks:
    n = [f['function'].split('.')[0] for f in s['frames'] if f.get('file', '').endswith(('wait_stacks.c', 'library.c'))]
    for a, b in zip(n, n[1:]):
        if a in callers and b not in callers[a]: wrong.append(n)
if wrong: print(sys.argv, *wrong[:9], file=open('wrong.txt', 'a'))
if good < 0.95 * len(truth):
    print(good, 'of', len(truth), 'missing', missing[:3])
    sys.exit(1)
P
planted() { # NAME PROGRAM ARG...
	local name=$1
	shift
	"$TARRY" record -q --stacks 20ms -o p.dat -- "$@" >truth.txt 2>err.txt &&
		"$TARRY" dump p.dat stacks --json >p.json 2>>err.txt &&
		python3 "$dir/judge.py" truth.txt p.json >seen.txt 2>&1
	check "$name: each planted wait has its callers (95%)" $? "$(cat seen.txt err.txt)"
}
: >wrong.txt
tries 3 planted "position-independent, with a library" ./pie 0.06 "$dir/library.so"
tries 3 planted "position-dependent" ./fixed 0.06 "$dir/library.so"
tries 3 planted "C++" ./cpp 0.06 "$dir/library.so"
tries 3 planted "static" ./static 0.06
[ ! -s wrong.txt ]
check "none has a wrong caller, in any try" $? "$(cat wrong.txt)"

# The report names the first function that is not libc's.
reported() {
	"$TARRY" record -q --stacks 20ms -o p.dat -- ./pie 0.06 >truth.txt 2>err.txt
	"$TARRY" report p.dat stalls --all >out.txt
	passes "the finding says where: function, file and line" grep -q '^ *in function: thread_wait (wait_stacks.c:10' out.txt
	"$TARRY" record -q --stacks 20ms -o st.dat -- ./static 0.06 >truth.txt 2>err.txt
	"$TARRY" report st.dat stalls --all >out.txt
	passes "also of a program that holds libc itself" grep -q '^ *in function: thread_wait (wait_stacks.c:10' out.txt
	"$TARRY" report p.dat --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
sys.exit(not all("in" in s for s in d["stalls"]))'
	check "JSON has it as \"in\", null where it is not known" $?
	"$TARRY" dump p.dat stacks >out.txt
	passes "folded lines" grep -qE '^pie;.*;main;plain_caller;plain_wait;.*nanosleep[^;]* [56][0-9]{4}$' out.txt
	"$TARRY" report p.dat stacks >out.txt
	passes "the report adds up 40 threads of a pool" grep -qE '^ +2\.[34]...s +40 ' out.txt
}
tries 3 reported

# gdb on the same waits: every frame by its address, up to where ours ends. STACKS: of which programs.
cat >bt.py <<'P'
import gdb, json
out = []
for t in gdb.selected_inferior().threads():
    t.switch()
    f, v = gdb.newest_frame(), []
    while f and f.is_valid():
        if f.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME): v.append(f.pc())
        try: f = f.older()
        except gdb.error: break
    out.append((t.ptid[1], v))
json.dump(out, open('gdb.json', 'w'))
P
oracle() {
	: >truth.txt
	"$TARRY" record -q --stacks 20ms -o g.dat -- "$@" $((6 * k)) >truth.txt 2>err.txt & # a longer wait in the next try
	local recorder=$! pid=
	until [ -s truth.txt ]; do sleep 0.1; done
	pid=$(awk 'NR == 1 {print $1}' truth.txt)
	until [ "$(grep -c thread_wait truth.txt)" = 40 ]; do sleep 0.1; done
	sleep 0.3
	gdb -nx -batch -p "$pid" -ex 'set backtrace past-main on' -ex 'set backtrace past-entry on' -ex 'source bt.py' >gdb.txt 2>&1
	wait "$recorder"
	"$TARRY" dump g.dat stacks --json >g.json 2>>err.txt
	python3 - >seen.txt 2>&1 <<'P'
import json, sys
stacks = [json.loads(l) for l in open('g.json')]
compared = 0
for tid, pcs in json.load(open('gdb.json')):
    mine = [[int(f['address'], 16) for f in s['frames'] if not f.get('inlined')] for s in stacks if s['tid'] == tid]
    ends = [s['end'] for s in stacks if s['tid'] == tid]
    # The innermost one is where the thread is itself; of the others ours lie in the call.
    same = [m for m, e in zip(mine, ends) if m and [m[0]] + [a + 1 for a in m[1:]] == pcs[:len(m)] and (e != 'complete' or len(m) == len(pcs))]
    if same: compared += 1
    else: print(tid, [hex(p) for p in pcs], [[hex(a) for a in m] for m in mine][-2:], ends[-2:])
print(compared, 'agree')
sys.exit(compared < 41)
P
	check "gdb's backtrace of 41 waiting threads is the same, frame by frame: ${1#./}" $? "$(cat seen.txt gdb.txt err.txt)"
}
if command -v gdb >/dev/null; then
	for v in ${STACKS:-pie static}; do tries 3 oracle "./$v" 0.06 -; done
else
	skip "gdb's backtrace" "there is no gdb"
fi

# Stripped: where in the file.
strip -o stripped pie
stripped() {
	"$TARRY" record -q --stacks 20ms -o s.dat -- ./stripped 0.06 >truth.txt 2>err.txt
	"$TARRY" dump s.dat stacks --json >s.json 2>>err.txt
	nm pie | awk '$3 == "plain_wait" || $3 == "plain_caller" {print $1, $3}' >nm.txt
	python3 - >seen.txt 2>&1 <<'P'
import json, sys
# Of this program's code addresses are offsets in the file.
at = {n: int(a, 16) for a, n in map(str.split, open('nm.txt'))}
for l in open('s.json'):
    v = [f for f in json.loads(l)['frames'] if f['module'] and f['module'].endswith('/stripped')]
    if len(v) < 3 or any(f['function'] for f in v[:2]): continue
    o = [int(f['offset'], 16) for f in v]
    if 0 <= o[0] - at['plain_wait'] < 128 and 0 <= o[1] - at['plain_caller'] < 128: sys.exit(0)
sys.exit(1)
P
	check "a stripped program: module and offset" $? "$(cat seen.txt nm.txt; head -c 2000 s.json)"
}
tries 3 stripped

# The program is gone; its files are below a directory.
mkdir -p "root$dir"
mv pie "root$dir/pie"
"$TARRY" dump p.dat stacks >out.txt 2>err.txt
! grep -q plain_wait out.txt && grep -q '\[truncated\]' out.txt
check "without its file a stack is cut, and says so" $? "$(head -3 out.txt)"
"$TARRY" dump p.dat stacks --symfs root >out.txt 2>err.txt
passes "--symfs finds it" grep -q ';main;plain_caller;plain_wait;' out.txt
cp fixed "root$dir/pie"
"$TARRY" dump p.dat stacks --symfs root >out.txt 2>err.txt
! grep -q plain_wait out.txt && grep -q 'pie is not used: its build id' err.txt
check "another file of that name is not used" $? "$(head -3 out.txt err.txt)"
rm "root$dir/pie"

# A JIT compiler's code: frame pointers, and names of its map.
cat >jit.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* push rbp; mov rbp,rsp; call rdi; pop rbp; ret */
static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	char name[64];
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;
	memcpy(p, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx %zx jitted_function\n", (long)p, sizeof(code));
	fclose(f);
	puts(name);
	((void (*)(void (*)(void)))p)(nap);
	__asm__ volatile("" ::: "memory");
	return 0;
}
C
if [ "$(uname -m)" = x86_64 ]; then
	gcc -O2 -g -fno-omit-frame-pointer -o jit jit.c
	jitted() {
		"$TARRY" record -q --stacks 20ms -o j.dat -- ./jit >map.txt 2>err.txt
		"$TARRY" dump j.dat stacks >out.txt 2>>err.txt
		passes "code of a JIT compiler: its map, and the caller by the frame pointer" grep -q ';main;jitted_function;nap;' out.txt
		rm -f "$(cat map.txt)"
	}
	tries 3 jitted
else
	skip "code of a JIT compiler" "its code here is x86-64"
fi

# CPython's trampolines, which have no frame pointer, and leave that of their caller's caller: as it makes them,
# and its own.
cat >trampoline.c <<'C'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* sub rsp, 8; call rdi; add rsp, 8; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 8, 0xff, 0xd7, 0x48, 0x83, 0xc4, 8, 0xc3};
static char *p;
__attribute__((noipa)) static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
	__asm__ volatile("" ::: "memory");
}
__attribute__((noipa)) static void evaluator(void)
{
	((void (*)(void (*)(void)))p)(nap);
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	char name[64];
	FILE *f;
	p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p, code, sizeof(code));
	memcpy(p + 64, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx b py::inner:/x.py\n%lx b py::outer:/x.py\n", (long)p, (long)p + 64);
	fclose(f);
	puts(name);
	((void (*)(void (*)(void)))(p + 64))(evaluator);
	__asm__ volatile("" ::: "memory");
	return 0;
}
C
cat >slow.py <<'P'
import os, time
print(os.getpid())
def inner(): time.sleep(0.06)
def outer(): inner()
outer()
P
frames=';main;py::outer:/x.py;evaluator;py::inner:/x.py;nap;'
if [ "$(uname -m)" = x86_64 ]; then
	for pointer in omit no-omit; do
		gcc -O2 -g -f$pointer-frame-pointer -o trampoline trampoline.c
		"$TARRY" record -q --stacks 20ms -o j.dat -- ./trampoline >map.txt 2>err.txt
		"$TARRY" dump j.dat stacks >out.txt 2>>err.txt
		grep -qF "$frames" out.txt
		check "code of CPython's trampolines, $pointer-frame-pointer" $? "$(cat out.txt err.txt)"
		rm -f "$(cat map.txt)"
	done
fi
python=
for each in $(type -ap python3 python3.{12..19}) ~/.pyenv/versions/3.1[2-9]*/bin/python3; do
	[ -n "$python" ] || ! "$each" -X perf -c 'import os, sys; assert sys.is_stack_trampoline_active(); os.remove(f"/tmp/perf-{os.getpid()}.map")' 2>/dev/null || python=$each
done
if [ -n "$python" ]; then
	"$TARRY" record -q --stacks 20ms -o j.dat -- "$python" -X perf slow.py >pid.txt 2>err.txt
	"$TARRY" dump j.dat stacks >out.txt 2>>err.txt
	grep -qE ';<module>;outer;inner;' out.txt
	check "functions of Python with perf support, after its end" $? "$(cat out.txt err.txt)"
	"$TARRY" report j.dat stalls --all >out.txt 2>>err.txt
	passes "the finding names the function of Python" grep -q 'in function: inner (slow.py:[0-9]*)' out.txt
	rm -f "/tmp/perf-$(cat pid.txt).map"
else
	skip "functions of Python with perf support" "no Python 3.12 or later here"
fi

# Its waker.
cat >waker.c <<'C'
#include <unistd.h>
__attribute__((noinline)) void waiting(int fd) { char c; (void)!read(fd, &c, 1); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void writing(int fd) { (void)!write(fd, "x", 1); __asm__ volatile("" ::: "memory"); }
int main(void)
{
	int p[2];
	(void)!pipe(p);
	if (fork()) { waiting(p[0]); return 0; }
	usleep(80000);
	writing(p[1]);
	return 0;
}
C
gcc -O2 -g -o waker waker.c
woken_by() {
	"$TARRY" record -q --stacks 20ms -o w.dat -- ./waker
	"$TARRY" dump w.dat stacks --json | python3 -c '
import json, sys
for l in sys.stdin:
    d = json.loads(l)
    own = [f["function"] for f in d["frames"] if not f["runtime"]]
    by = [f["function"] for f in d.get("waker", {}).get("frames", []) if not f["runtime"]]
    if own[:2] == ["waiting", "main"] and by[:2] == ["writing", "main"] and d["waker"]["tid"] != d["tid"]: sys.exit(0)
sys.exit(1)'
	check "the stack of the waker stands beside that of the wait" $?
}
tries 3 woken_by

# Functions inlined into each other.
cat >nested.c <<'C'
#include <time.h>
#define INLINE static inline __attribute__((always_inline))
INLINE void innermost(void) { nanosleep(&(struct timespec){0, 60000000}, 0); __asm__ volatile("" ::: "memory"); }
INLINE void middle(void) { innermost(); __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void outer(void) { middle(); __asm__ volatile("" ::: "memory"); }
int main(void) { for (int i = 0; i < 5; i++) outer(); }
C
gcc -O2 -g -o nested nested.c
nested() {
	"$TARRY" record -q --stacks 20ms -o n.dat -- ./nested && "$TARRY" dump n.dat stacks 2>/dev/null | grep -q ';main;outer;middle;innermost;'
}
passes "functions inlined into each other are all named" nested

# What the standard library has inlined is not the program's function.
cat >inlined.cc <<'C'
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
static std::mutex m;
static std::condition_variable c;
__attribute__((noinline)) void own_sleep(int ms)
{
	std::this_thread::sleep_for(std::chrono::milliseconds(ms));
	__asm__ volatile("" ::: "memory");
}
__attribute__((noinline)) void own_wait()
{
	std::unique_lock<std::mutex> l(m);
	c.wait_for(l, std::chrono::milliseconds(210), [] { return false; });
	__asm__ volatile("" ::: "memory");
}
int main()
{
	int ms[] = {220};
	std::for_each(ms, ms + 1, own_sleep);
	own_wait();
}
C
g++ $flags -o inlined inlined.cc
"$TARRY" record -q -o inlined.dat -- ./inlined
"$TARRY" report inlined.dat stalls --all >text.txt
is "a wait in inlined functions of C++'s library is named by their caller" "own_sleep own_wait" \
	"$(sed -n 's/^ *in function: \(own_[a-z]*\) (inlined.cc:[0-9]*)$/\1/p' text.txt | xargs)"

by_default() {
	"$TARRY" record -q -o on.dat -- ./waker
	"$TARRY" report on.dat stacks --json >out.txt
	passes "they are recorded unless refused" grep -q '"least_ns":20000000.*"function":"waiting"' out.txt
}
tries 3 by_default
"$TARRY" record -q --stacks off -o off.dat -- ./waker
"$TARRY" report off.dat stacks >out.txt
passes "--stacks off records none, and that is said" grep -q 'none recorded: record --stacks off' out.txt
"$TARRY" record --stacks 1ms -o off.dat -- true 2>err.txt
is "--stacks 1ms is refused" "1 2" "$(grep -c "^tarry: --stacks '1ms' is neither a duration" err.txt) $(
	"$TARRY" record --stacks 1ms -o off.dat -- true 2>/dev/null
	echo $?
)"

# A recorder that is killed leaves no program behind, and the stacks of what it wrote.
if command -v bpftool >/dev/null || [ -x /usr/sbin/bpftool ]; then
	PATH=$PATH:/usr/sbin
	gone() { [ -z "$(still_loaded $during)" ]; }
	killed() {
		"$TARRY" record -q --stacks 20ms -o k.dat -- ./fixed $k >truth.txt 2>&1 & # a longer wait in the next try
		recorder=$!
		await 60 test -s truth.txt # it waits; and is in the file a second, or two, after its end
		sleep $((3 * k))
		during=$(still_loaded $(programs_of "$recorder"))
		kill -9 "$recorder"
		wait "$recorder" 2>/dev/null
		await 60 gone
		check "kill -9 leaves no program in the kernel" $? "$(bpftool prog show)"
		[ -n "$during" ]
		check "while recording they were there" $?
		"$TARRY" dump k.dat stacks >out.txt 2>err.txt
		passes "the stacks of a killed recorder" grep -q ';main;plain_caller;plain_wait;' out.txt
	}
	tries 3 killed
else
	skip "nothing is left behind" "there is no bpftool"
fi
echo "1..$n"
exit "$bad"
