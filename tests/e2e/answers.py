#!/usr/bin/env python3
"""Programs whose trouble is known, as performance textbooks and workshops describe it, and what a report's
first screen has to say of each: the answer, the findings and the first three stalls. Three of them are quiet.

    answers.py [NAME...]   one TAP line per program; "# SHARE right of all" at the end

A program is right when each pattern of `want` is found, and wrong when a finding of a kind outside of `may`
is told of it. TARRY: the program."""
import json, os, re, signal, subprocess, sys, tempfile, time

PY = sys.executable
TARRY = os.environ["TARRY"]
SLOW = int(os.environ.get("SLOWER", "1"))
CASES = []

class Case:
    """code: Python (or a shell's line); how: command, attach, machine; beside: Python that runs meanwhile,
    started first, for `attach` and `machine` the program itself that is looked at."""
    def __init__(self, name, want, code=None, sh=None, how="command", beside=None, after="", may=(), quiet=False):
        self.__dict__.update(locals())
        self.may = tuple(may) + ("starved",) # other users of the machine
        CASES.append(self)

# on a CPU ---------------------------------------------------------------------------------------
Case("user loop", [r"python.* ran: (9|8|100).*outside system calls"], "x = 0\nfor i in range(6000000): x += i")
Case("kernel loop", [r"dd/\d+ ran:.* in read"], sh="dd if=/dev/urandom of=/dev/null bs=1M count=150 2>/dev/null")
Case("CPU taken by another process", [r"waited for a CPU.*hog"], beside="""
import ctypes, os
ctypes.CDLL(None).prctl(15, b"hog", 0, 0, 0); os.sched_setaffinity(0, {0}); os.nice(-15)
print("up", flush=True)
while True: pass""", code="import os\nos.sched_setaffinity(0, {0})\nfor i in range(4000000): pass", may=("starved",))
Case("CPU taken by a real-time thread", [r"waited for a CPU.*rthog|rthog.*ran"], beside="""
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"rthog", 0, 0, 0); os.sched_setaffinity(0, {0})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
print("up", flush=True)
while True:
    end = time.monotonic() + 0.08
    while time.monotonic() < end: pass
    time.sleep(0.02)""", code="import os\nos.sched_setaffinity(0, {0})\nfor i in range(2000000): pass", may=("starved",))
Case("more workers than CPUs", [r"waited for a CPU"], """
import os
for k in range(6):
    if os.fork() == 0:
        for i in range(4000000): pass
        os._exit(0)
for k in range(6): os.wait()""", may=("starved",))

# files -------------------------------------------------------------------------------------------
Case("open of a path that is not there", [r"openat.*(fail|ENOENT).*nofile|nofile.*openat.*(fail|ENOENT)"], """
import os
for i in range(30000):
    try: os.open("/tmp/nofile", os.O_RDONLY)
    except OSError: pass""", may=("failing", "storm"))
Case("a list of places for one file", [r"(openat|stat|access).*(fail|ENOENT)"], """
import os
for i in range(3000):
    for d in ("/etc", "/usr/etc", "/usr/local/etc", "/opt", "/srv", "/var/lib", "/run", "/home"):
        try: os.stat(d + "/tool.conf")
        except OSError: pass""", may=("failing", "storm"))
Case("reads of one byte", [r"read.*\b1 byte"], sh="dd if=/dev/zero of=/dev/null bs=1 count=300000 2>/dev/null", may=("storm", "small_io"))
Case("writes of one byte", [r"write.*\b1 byte"], """
import os
f = os.open("out", os.O_CREAT | os.O_WRONLY)
for i in range(100000): os.write(f, b"x")""", may=("storm", "small_io"))
Case("fsync for each record", [r"fsync.*records|records.*fsync"], """
import os
f = os.open("records", os.O_CREAT | os.O_WRONLY)
for i in range(150): os.write(f, b"x" * 100); os.fsync(f)""", may=("storm",))
Case("a database commits each row", [r"fdatasync|fsync"], sh="""
for i in $(seq 100); do echo "insert into t values($i);"; done | (echo "create table t(x);"; cat) | sqlite3 rows.db""", may=("storm",))
Case("a big file that is read", [r"dd/\d+ (waited for disk .*in|ran: .*in) read"], sh="""
dd if=/dev/zero of=big bs=1M count=60 conv=fsync 2>/dev/null; dd if=big iflag=nocache count=0 2>/dev/null
dd if=big of=/dev/null bs=64k 2>/dev/null; echo >/dev/null""")
Case("direct reads at random", [r"disk.*pread64|disk.*preadv"], """
import os, mmap, random
f = os.open("file", os.O_CREAT | os.O_RDWR); os.write(f, b"x" * 50000000); os.fsync(f)
g = os.open("file", os.O_RDONLY | os.O_DIRECT); m = mmap.mmap(-1, 4096)
for i in range(3000): os.preadv(g, [m], random.randrange(12000) * 4096)""", may=("storm",))
Case("the same stat again and again", [r"newfstatat.*zone|stat.*zone|zone.*stat"], """
import os
for i in range(100000): os.stat("/etc/timezone" if os.path.exists("/etc/timezone") else "/etc/hostname")""".replace(
    'os.stat("/etc/timezone" if os.path.exists("/etc/timezone") else "/etc/hostname")', 'os.stat("/usr/share/zoneinfo/UTC")'), may=("storm",))
Case("files made and removed", [r"ran:.*(openat|unlink)"], """
import os
for i in range(20000):
    os.close(os.open("t", os.O_CREAT | os.O_WRONLY)); os.unlink("t")""", may=("storm",))
Case("writeback of somebody else", [r"(fsync|disk)"], beside="""
import os
f = os.open("other", os.O_CREAT | os.O_WRONLY)
print("up", flush=True)
while True:
    os.write(f, b"x" * 8000000); os.fdatasync(f)
    if os.lseek(f, 0, 1) > 200000000: os.lseek(f, 0, 0)""", code="""
import os
f = os.open("mine", os.O_CREAT | os.O_WRONLY)
for i in range(20): os.write(f, b"x"); os.fsync(f)""", may=("storm", "starved"))

# locks -------------------------------------------------------------------------------------------
HOLD = """
import ctypes, fcntl, os, time
ctypes.CDLL(None).prctl(15, b"holder", 0, 0, 0)
f = os.open("lock", os.O_CREAT | os.O_RDWR)
%s
print("up", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
time.sleep(1.2)"""
Case("a file lock", [r"flock.*lock.*holder|lock.*flock.*holder"], beside=HOLD % "fcntl.flock(f, fcntl.LOCK_EX)", code="""
import fcntl, os
fcntl.flock(os.open("lock", os.O_RDWR), fcntl.LOCK_EX)""")
Case("a record lock", [r"fcntl.*lock.*holder"], beside=HOLD % "fcntl.lockf(f, fcntl.LOCK_EX)", code="""
import fcntl, os
fcntl.lockf(os.open("lock", os.O_RDWR), fcntl.LOCK_EX)""")
Case("a lock that is polled", [r"polled.*lock.*flock|flock.*lock.*(fail|EAGAIN|polled|again)|(polled|again).*flock.*lock"], beside=HOLD % "fcntl.flock(f, fcntl.LOCK_EX)", code="""
import fcntl, os, time
f = os.open("lock", os.O_RDWR)
while True:
    try: fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB); break
    except OSError: time.sleep(0.02)""", may=("polled", "failing"))
Case("a lock file", [r"openat.*busy\.lck.*(fail|EEXIST|polled|again)|(polled|again).*busy\.lck"], beside="""
import os, time
os.close(os.open("busy.lck", os.O_CREAT | os.O_EXCL)); print("up", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
time.sleep(1.2); os.unlink("busy.lck")""", code="""
import os, time
while True:
    try: os.open("busy.lck", os.O_CREAT | os.O_EXCL); break
    except OSError: time.sleep(0.02)""", may=("polled", "failing"))
Case("a database that is locked", [r"fcntl.*(polled|again|fail)|(polled|again).*fcntl"], beside="""
import os, sqlite3, time
c = sqlite3.connect("b.db", isolation_level=None); c.execute("create table t(x)"); c.execute("begin exclusive")
print("up", flush=True)
while not os.path.exists("go"): time.sleep(0.01)
time.sleep(1.3); c.execute("commit")""", code="""
import sqlite3
sqlite3.connect("b.db", timeout=10, isolation_level=None).execute("insert into t values(1)")""", may=("polled", "failing"))
Case("a mutex whose holder sleeps", [r"slept in \S+; python.* waited for python.* in futex|waited in futex.*woken by python.*, which slept"], """
import threading, time
lock = threading.Lock()
def hold():
    with lock: time.sleep(0.7)
t = threading.Thread(target=hold); t.start(); time.sleep(0.05)
with lock: pass
t.join()""")
Case("a handoff for each item", [r"futex"], """
import threading, queue
a, b = queue.Queue(), queue.Queue()
def work():
    while (x := a.get()) is not None: b.put(x)
t = threading.Thread(target=work); t.start()
for i in range(6000): a.put(i); b.get()
a.put(None); t.join()""", may=("storm", "starved"))

# processes ---------------------------------------------------------------------------------------
Case("hundreds of short children", [r"(children|processes).*true|true.*(children|processes)"], sh="i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done", may=("children",))
Case("a slow step below a script", [r"sleep/\d+ slept", r"> sleep/"], sh="sh -c 'sh -c \"sleep 0.8; :\"; :'; :")
Case("a pipe whose reader is slow", [r"slow.*slept|slept.*slow|python.* slept"], sh=PY + """ -c 'import sys; sys.stdout.write("x" * 3000000)' | """ + PY + """ -c 'import sys, time
while sys.stdin.buffer.raw.read(65536): time.sleep(0.02)'""", may=("storm",))
Case("a pipe whose writer is slow", [r"sleep/\d+ slept"], sh="(sleep 0.7; echo x) | cat >/dev/null")
Case("one straggler of several workers", [r"straggler|sleep.*slept"], sh="sleep 0.1 & sleep 0.1 & sleep 0.9 & wait", may=())
Case("a search along PATH", [r"(execve|stat|access).*(fail|ENOENT)|children"], """
import os
os.environ["PATH"] = ":".join("/tmp/none%d" % k for k in range(60)) + ":/bin"
for i in range(60):
    if os.fork() == 0: os.execvp("true", ["true"])
    os.wait()""", may=("failing", "children", "storm"))

# network -----------------------------------------------------------------------------------------
SERVER = """
import ctypes, socket, time, threading
ctypes.CDLL(None).prctl(15, b"server", 0, 0, 0)
s = socket.create_server(("127.0.0.1", 0)); open("port", "w").write(str(s.getsockname()[1]))
def serve(c):
    k, seen = 0, []
    while (what := c.recv(100)):
        k += 1
        %s
        c.sendall(b"done")
print("up", flush=True)
while True: threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()"""
CLIENT = """
import socket, time
c = socket.create_connection(("127.0.0.1", int(open("port").read()))); c.setsockopt(6, 1, 1)
def ask(): c.sendall(b"x"); c.recv(100)
"""
Case("a server that is slow", [r"waited.*(recv|read).*server|server.*slept"], beside=SERVER % "time.sleep(0.05)", code=CLIENT + "for i in range(15): ask()")
Case("nobody answers a connect", [r"(connect|poll).*127\.0\.0\.1|127\.0\.0\.1.*(connect|poll)"], beside="""
import socket, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0); open("port", "w").write(str(s.getsockname()[1]))
full = [socket.socket() for i in range(4)] # the queue of connections is full: further ones get no answer
for c in full: c.setblocking(False); c.connect_ex(("127.0.0.1", s.getsockname()[1]))
print("up", flush=True); time.sleep(60)""", code="""
import socket
s = socket.socket(); s.settimeout(0.8)
try: s.connect(("127.0.0.1", int(open("port").read())))
except OSError: pass""")
Case("small writes and a delayed acknowledgement", [r"recvfrom"], beside=SERVER % "what += c.recv(100) if len(what) < 2 else b''", code="""
import socket
c = socket.create_connection(("127.0.0.1", int(open("port").read())))
for i in range(15): c.send(b"x"); c.send(b"y"); c.recv(100)""")
Case("a connection for each request", [r"connect|socket"], beside=SERVER % "pass", code="""
import socket
for i in range(1500):
    c = socket.create_connection(("127.0.0.1", int(open("port").read()))); c.sendall(b"x"); c.recv(10); c.close()""", may=("storm", "starved"))
Case("a socket that is polled", [r"recv.*(fail|EAGAIN)"], """
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("127.0.0.1", 0)); s.setblocking(False)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    try: s.recv(10)
    except OSError: pass""", may=("failing", "storm"))

# time --------------------------------------------------------------------------------------------
Case("sleeps of a millisecond", [r"slept in clock_nanosleep.*times"], """
import time
for i in range(600): time.sleep(0.001)""", may=("storm",))
Case("signals again and again", [r"(kill|signal|rt_sigreturn)"], """
import os, signal
signal.signal(signal.SIGUSR1, lambda *a: None)
for i in range(20000): os.kill(os.getpid(), signal.SIGUSR1)""", may=("storm",))
Case("memory given back and taken again", [r"madvise|munmap|mmap"], """
import mmap
for i in range(1500): m = mmap.mmap(-1, 4000000); m[:1000000] = bytes(1000000); m.close()""", may=("storm",))

# attached, whole machine -------------------------------------------------------------------------
Case("one request of forty is slow", [r"40 requests|41 requests", r"server.*slept|slept"], how="attach", beside=SERVER % "time.sleep(0.4 if k == 20 else 0)", code=CLIENT + "for i in range(40): ask(); time.sleep(0.005)", may=("outliers",))
Case("requests that take longer and longer", [r"grew|longer"], how="attach", beside=SERVER % "seen.extend(range(12000)); sum(seen)", code=CLIENT + "for i in range(60): ask()", may=("grew", "outliers"))
Case("who has the CPUs", [r"eater.*ran|ran.*eater|eater.*(CPU)"], how="machine", beside="""
import ctypes
ctypes.CDLL(None).prctl(15, b"eater", 0, 0, 0)
print("up", flush=True)
while True: pass""", code="import time; time.sleep(1)", may=("starved", "failing", "storm", "small_io", "children", "grew", "outliers", "polled"))
# quiet -------------------------------------------------------------------------------------------
Case("quiet: a listing", [r"answer"], sh="ls -l /etc >/dev/null", quiet=True)
Case("quiet: a sleep", [r"sleep/\d+ slept"], sh="sleep 0.5; :", quiet=True)
Case("quiet: a server with light load", [r"25 requests|26 requests"], how="attach", beside=SERVER % "pass", code=CLIENT + "for i in range(25): ask(); time.sleep(0.02)", quiet=True)

def start(code, cwd):
    p = subprocess.Popen([PY, "-c", code], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    p.stdout.readline()
    return p

def until(test, seconds=30):
    end = time.monotonic() + seconds * SLOW
    while not test() and time.monotonic() < end: time.sleep(0.05)

def record(c, cwd, file):
    beside = start(c.beside, cwd) if c.beside else None
    program = ["sh", "-c", c.sh] if c.sh else [PY, "-S", "-c", 'open("go", "w").close()\n' + c.code]
    try:
        if c.how == "command":
            subprocess.run([TARRY, "record", "-q", "-o", file, "--"] + program, cwd=cwd, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
            return
        r = subprocess.Popen([TARRY, "record", "-q", "-o", file] + (["-p", str(beside.pid)] if c.how == "attach" else ["-a"]) + ["--duration", "60s"], stderr=subprocess.DEVNULL)
        until(lambda: os.path.exists(file))
        subprocess.run(program, cwd=cwd, timeout=60)
        time.sleep(0.1)
        r.send_signal(signal.SIGINT)
        r.wait()
    finally:
        if beside:
            beside.kill()
            beside.wait()

def judge(c, file):
    text = subprocess.run([TARRY, "report", file, "answer", "findings", "stalls"], capture_output=True, text=True)
    if text.returncode: return "wrong", [text.stderr]
    parts = text.stdout.split("\nstalls\n")
    screen = parts[0].strip().split("\n") + (parts[1].split("\n")[:3] if len(parts) > 1 else [])
    said = json.loads(subprocess.run([TARRY, "report", file, "findings", "--json"], capture_output=True, text=True).stdout)
    if len(parts[0].split("\n\n")[0].split("\n")) > 10: return "wrong", screen
    kinds = [f["kind"] for f in said.get("findings", [])]
    if not screen[0].startswith("answer"): return "silent", screen
    if any(k not in c.may for k in kinds): return "wrong", screen
    return ("right" if all(any(re.search(w, l) for l in screen) for w in c.want) else "missed"), screen

def main():
    counts, n = {"right": 0, "missed": 0, "wrong": 0, "silent": 0}, 0
    chosen = [c for c in CASES if not sys.argv[1:] or c.name in sys.argv[1:]]
    for c in chosen:
        n += 1
        with tempfile.TemporaryDirectory() as cwd:
            file = os.path.join(cwd, "a.dat")
            record(c, cwd, file)
            what, screen = judge(c, file)
        counts[what] += 1
        print(f"{'ok' if what == 'right' else 'not ok'} {n} - {c.name}: {what}")
        print("\n".join("# " + l for l in screen), flush=True)
    print(f"# {counts['right']} right of {n}; missed {counts['missed']}, wrong {counts['wrong']}, silent {counts['silent']}")
    print(f"1..{n}")
    return counts

if __name__ == "__main__":
    counts = main()
    all_n = sum(counts.values())
    sys.exit(counts["wrong"] + counts["silent"] > 0 or counts["right"] < 0.75 * all_n)
