# SPDX-License-Identifier: MIT
# For io_errors.sh: each call that writes a file fails once, and then for good; what is said and the exit
# status must be true of the files that exist. Arguments: a folder to work in, the shim, and which
# parts of it (all). IO_ERRORS=long: for good, and by a full disk, in more places (make soak).
import errno, json, os, re, shutil, subprocess, sys

top, shim = sys.argv[1:3]
tarry, programs = os.environ["TARRY"], os.environ["PROGRAMS"]
out, log = top + "/out", top + "/log"
tests = failed = 0
long = os.environ.get("IO_ERRORS") == "long"
# Of every run a test would be some hundred lines: one for each case and call.


def run(cmd, fault=None, env={}):
    e = dict(os.environ, XDG_CACHE_HOME=out + "/cache", **env)
    if os.path.exists(log):
        os.remove(log)
    if fault:
        e.update(LD_PRELOAD=shim, IO_FAULT=fault, IO_FAULT_DIR=out, IO_FAULT_LOG=log)
    p = subprocess.run(cmd, env=e, capture_output=True, text=True, timeout=120)
    faults = open(log).read().count("\n") if os.path.exists(log) else 0
    return p.returncode, p.stdout, p.stderr, faults


def files():
    return sorted(os.path.join(d, f) for d, _, v in os.walk(out) for f in v)


def calls_of(path):
    """What a recording holds: (calls of the traced command, unfinished), or None when it cannot be read."""
    r, text, _, _ = run([tarry, "report", path, "--json", "--no-index"])
    if r:
        return None
    j = json.loads(text)
    _, dump, _, _ = run([tarry, "dump", path, "syscalls", "--json"])
    return dump.count('"lseek"') + dump.count('"getppid"'), j["file"]["unfinished"]


class Case:
    """cmd: what runs; path: what it makes; fresh: what is in the folder before."""

    def __init__(self, name, cmd, path, before=(), truth=None):
        self.name, self.cmd, self.path, self.before, self.truth = name, cmd, path, before, truth

    def prepare(self):
        shutil.rmtree(out, ignore_errors=True)
        os.mkdir(out)
        for a, b in self.before:
            shutil.copy(a, b)
        return {f: open(f, "rb").read() for f in files()}


def say(ok, name, seen):
    global tests, failed
    tests += 1
    failed += not ok
    print(("ok %d - %s" if ok else "not ok %d - %s") % (tests, name), flush=True)
    for line in seen if not ok else []:
        print("#  ", line, flush=True)


def sweep(case, call, number, most):
    """The N-th call fails, N = 1, 2, ... until none was made so often."""
    wrong, injected = [], 0
    n = 1
    while n <= most:
        hit = 0
        for later in ("", "+") if n < (4 if long else 2) else ("",):
            old = case.prepare()
            fault = "%s:%d%s:%d" % (call, n, later, number)
            r, text, err, faults = run(case.cmd, fault)
            hit += faults
            if faults:
                why = case.truth(r, text, err, old)
                if why:
                    wrong.append("%s: %s (status %d, said: %s; files: %s)" % (fault, why, r, err.strip(), files()))
        if not hit:
            break
        injected += 1
        n += 1 if n < 3 else n
    return injected, wrong


def recorded(case, want):
    """The truth of `tarry record` into case.path; want: calls of a whole recording."""

    def truth(r, text, err, old):
        there = files()
        same = os.path.exists(case.path) and open(case.path, "rb").read() == old.get(case.path)
        if any("unfinished-" in f for f in there):
            return "a file without its name is left"
        if not os.path.exists(case.path) or same:
            if case.path in old and not same:
                return "the recording that was there before is gone"
            if " is in " in err or "stays" in err or "is finished" in err:
                return "what is said to be there is not"
            return None if r == 1 and err else "nothing was recorded, and the status is not 1"
        got = calls_of(case.path)
        if got is None:
            return "what is left cannot be read"
        calls, unfinished = got
        if not err:
            return None if r == 0 and calls >= want and not unfinished else "not all is there, and nothing is said (%d calls)" % calls
        if case.path not in err:
            return "the file that is there is not named"
        if "complete" in err or "is finished" in err:
            if calls < want or ("is finished" in err) == unfinished:
                return "it is not whole (%d calls)" % calls
            return None
        if " is in " not in err:
            return "nobody is told that there is a recording"
        return None if r == 1 else "a part is lost, and the status is %d" % r

    case.truth = truth
    return case


def exported(case, readable):
    def truth(r, text, err, old):
        there = [f for f in files() if f not in old and not f.endswith("tarry-index")]
        if r == 0:
            whole = re.fullmatch(r"(tarry: [0-9]+ events -> .*\n)?", err)
            return None if there == [case.path] and readable() and whole else "what was written is not good"
        if r != 1 or not err:
            return "status %d without a sentence" % r
        return "something is left" if there and "is finished" not in err else None

    case.truth = truth
    return case


def reported(case, want):
    def truth(r, text, err, old):
        left = [f for f in files() if f not in old and not re.search(r"tarry-index$|/cache/tarry/[^/.]*$", f)]
        if left:
            return "something is left"
        if r == 0:
            if text != want:
                return "the report is another one"
        elif r != 1 or not err:
            return "status %d without a sentence" % r
        # And what it left for the next one is right.
        r, text, err, _ = run(case.cmd)
        return None if r == 0 and text == want and not err else "the next report is another one: %s" % err

    case.truth = truth
    return case


WRITES = ["write", "pwrite64", "fsync", "fdatasync", "ftruncate64", "fallocate64", "copy_file_range", "rename", "linkat", "create", "close"]
READS = ["pread64", "read"]


def each(case, calls, most, least=()):
    """least: calls that are known to be made; a case in which they are not tests nothing."""
    for call in calls:
        n, wrong = 0, []
        for number in (errno.EIO, errno.ENOSPC) if call in ("pwrite64", "copy_file_range") else (errno.EIO,):
            k, w = sweep(case, call, number, most if long or number == errno.EIO else 1)
            n, wrong = n + k, wrong + w
        if n or call in least:
            say(n and not wrong, "%s: %s fails (%d places)" % (case.name, call, n), wrong[:6] or ["it was never called"])


loop = [programs + "/numbered_calls"]
good = top + "/good.dat"
subprocess.run([tarry, "record", "-q", "-o", good, "--"] + loop + ["150000", "1000"], check=True)
x = out + "/x.dat"


def record(name, options, calls, before=(), whole=True):
    cmd = [tarry, "record", "-q", "-o", x, *options, "--"] + loop + calls
    return recorded(Case(name, cmd, x, before), int(calls[0]) if whole else 1)


parts = sys.argv[3:] or ["record", "busy", "read"]
if "record" in parts:
    each(record("a recording", [], ["3000", "100"]), WRITES + READS, 12, ["pwrite64", "fsync", "copy_file_range", "rename", "linkat", "pread64"])
    each(record("a recording over another one", [], ["3000", "100"], [(good, x)]), ["rename", "create"], 3, ["rename", "create"])
    each(record("--keep", ["--keep", "1s"], ["50000", "10"], whole=False), ["pwrite64", "fdatasync", "fallocate64"], 3 if long else 1, ["fdatasync", "fallocate64"])
if "busy" in parts:
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(os.cpu_count())]
    each(record("a recording on busy CPUs", [], ["3000", "100"]), ["pread64", "pwrite64"], 8)
    for h in hogs:
        h.kill()
if "read" in parts:
    want = run([tarry, "report", good, "--no-index"])[1]
    y = out + "/good.dat"
    want = want.replace(good, y)
    each(reported(Case("an index", [tarry, "report", y], y, [(good, y)]), want), WRITES + READS, 200, ["pwrite64", "rename", "create"])
    dat, perf = out + "/e.dat", out + "/e.perf"
    smaller = lambda: calls_of(dat) == (150000, False)
    each(exported(Case("export --to dat", [tarry, "export", y, "--to", "dat", "-o", dat], dat, [(good, y)]), smaller), WRITES + READS, 40, ["pwrite64", "fsync", "rename"])
    opens = lambda: run([tarry, "report", perf, "--no-index"])[0] == 0
    each(exported(Case("export --to perf", [tarry, "export", y, "--to", "perf", "-o", perf], perf, [(good, y)]), opens), WRITES + READS, 40, ["write", "rename"])
print("1..%d" % tests)
sys.exit(failed != 0)
