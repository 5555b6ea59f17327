#!/usr/bin/env python3
"""Planted stalls: record each program of tests/programs/stalls, compare what tarry report names first
with what the program itself says happened. Called by stalls.sh; prints TAP.

Usage: stalls.py [--times N] [--seed S] [NAME...]

The truths come from the issue ("Explain every nanosecond"), not from analysis/: a finding must name
the thread that was held up, who held it up, the system call and the kind of cause, under any names,
lengths, layouts and order of calls that the seed chooses."""
import argparse, glob, json, os, random, re, shutil, subprocess, sys, tempfile, time

TARRY, PROGRAMS = os.environ["TARRY"], os.environ["PROGRAMS"] + "/stalls"

# What the programs call a kind, and the kinds of findings that mean it.
KINDS = {
    "lock": {"lock"},
    "futex": {"lock", "futex", "thread"},
    "semaphore": {"lock", "futex", "semaphore", "thread"},
    "pipe": {"pipe"},
    "socket": {"socket"},
    "queue": {"queue"},
    "fd": {"fd", "pipe"},
    "terminal": {"fd", "terminal"},
    "signal": {"signal"},
    "eventfd": {"eventfd"},
    "child": {"child"},
    "stopped": {"stopped"},
    "runqueue": {"runqueue"},
    "throttled": {"throttled"},
    "io": {"io"},
    "storm": {"io", "lock"},
    "fault": {"fault", "io"},
    "page": {"fault"},
    "kernel": {"uninterruptible"},
    "timer": {"timer"},
    "cpu": {"cpu"},
    "lost": {"lost", "lock", "futex"},
    "chain": {"lock", "futex", "socket", "pipe", "stopped"},
    "convoy": {"lock"},
    "starved": {"lock", "runqueue"},
    "turns": {"lock", "futex", "semaphore"},
    "gate": {"futex"},
}
# What the sentence says of a cause; of all others its waker, or that it is not recorded.
SAYS = {
    "stopped": r"was stopped .*, stopped by (a signal |its tracer )",
    "runqueue": r"(waited for a CPU .*(ran .*that time on CPU|shared CPU|starved|not recorded)|woken by )",
    "throttled": r"(waited for a CPU .*|woken by .*)throttled by CPU quota: its (cgroup .* of CPU time every|CPU was idle)",
    "io": r", waiting for .*disk (\S+ \(\d+:\d+[^)]*\)|\d+:\d+) \(\d+ request",
    "fault": r", waiting for (a page|disk)",
    "timer": r", (timed out|woken by a timer) ",
    "cpu": r" ran (and waited for a CPU )?in .*: the call itself used the CPU (\(computing or busy-waiting\)|for .* waited for a CPU)",
    "lost": r"because of lost events",
    "irq": r", interrupts took ",
    "steal": r"steal time, inferred",
}
# Stalls of many short waits, or whose begin was not recorded: length and begin are not compared.
MANY = {"storm", "io", "fault", "throttled", "lost"}
# No thread is to blame.
NOBODY = {"timer", "throttled", "cpu"}
# The device is, or a thread that kept it busy.
ANYBODY = {"io", "storm", "fault", "lost"}
# Each of the waiting threads may be named as the victim.
SEVERAL = {"chain", "convoy", "starved", "storm", "turns", "gate"}
CONTRADICTS = "a finding contradicts itself: "
NOTHING_PLANTED = "nothing was planted: the machine is too busy"
# Not explained well enough yet: skipped, unless --pending.
PENDING = set()


class Wrong(Exception):
    pass


# What a broken or slow tarry makes of a check: a fault of this run, not the end of all.
FAILS = (Wrong, json.JSONDecodeError, subprocess.TimeoutExpired, OSError)


def expect(cond, text):
    if not cond:
        raise Wrong(text)


def typed(obj, key, *types):
    expect(key in obj, f"no key '{key}' in {json.dumps(obj)[:200]}")
    expect(type(obj[key]) in types, f"'{key}' is {obj[key]!r}")


def check_rule(s):
    """Why it is a stall: a rule that says so, and edges from the victim on, each within the recording."""
    typed(s, "rule", dict)
    for key in ("id", "verdict", "grade", "sentence"):
        typed(s["rule"], key, str)
    expect(s["rule"]["verdict"] == "stall", f"a finding by a rule of idle waits: {s['rule']}")
    typed(s, "edges", list)
    expect(s["edges"], f"no edges: {s['sentence']}")
    own = [e for e in s["edges"] if e["kind"] not in ("receives", "sends")]
    expect(own[0]["tid"] == s["tid"], f"the first edge is not the victim's: {own[0]}")
    for e in s["edges"]:
        expect(0 < e["start_ns"] <= e["end_ns"], f"an edge ends before it begins: {e}")


def check_shape(doc):
    """The shapes of the issue, whatever is in them."""
    none = type(None)
    typed(doc, "stalls", list)
    for i, s in enumerate(doc["stalls"]):
        for key in ("rank", "tid", "start_ns", "duration_ns"):
            typed(s, key, int)
        for key in ("comm", "state", "sentence"):
            typed(s, key, str)
        for key in ("syscall", "object"):
            typed(s, key, str, none)
        typed(s, "cause", dict)
        typed(s, "chain", list)
        expect(s["rank"] == i + 1, f"rank {s['rank']} stands at {i + 1}")
        expect(s["duration_ns"] > 0 and s["start_ns"] > 0, "a stall without length or begin")
        expect(s["sentence"].strip(), "an empty sentence")
        c = s["cause"]
        check_rule(s)
        typed(c, "kind", str)
        typed(c, "tid", int, none)
        typed(c, "comm", str, none)
        typed(c, "text", str)
        expect("evidence" in c, "no cause.evidence")
        expect((c["tid"] is None) == (c["comm"] is None), f"cause is half named: {c}")
        # The words by which the load of the machine is known below.
        expect(s["state"] != "runnable" or is_ready(s["chain"][0]), f"of a runnable thread the chain says {s['chain'][:1]}")
        for hop in s["chain"]:
            typed(hop, "tid", int, none)
            typed(hop, "comm", str, none)
            typed(hop, "what", str)
            typed(hop, "start_ns", int)
            typed(hop, "duration_ns", int)
        if c["tid"] is not None and c["kind"] not in ("runqueue", "cpu"):
            expect(s["chain"], f"a cause ({c['comm']}/{c['tid']}) but no chain")


def check_ledger(doc):
    typed(doc, "ledger", list)
    for e in doc["ledger"]:
        for key in ("tid", "start_ns", "end_ns"):
            typed(e, key, int)
        typed(e, "comm", str)
        typed(e, "rows", list)
        for r in e["rows"]:
            typed(r, "row", str)
            typed(r, "ns", int)
            expect(r["ns"] >= 0, f"a negative row: {r}")
        names = [r["row"] for r in e["rows"]]
        expect(len(names) == len(set(names)), f"a row twice in the ledger of {e['tid']}: {names}")
        total = sum(r["ns"] for r in e["rows"])
        expect(total == e["end_ns"] - e["start_ns"],
               f"rows of {e['comm']}/{e['tid']} sum to {total}, not {e['end_ns'] - e['start_ns']}")
    tids = [e["tid"] for e in doc["ledger"]]
    commands = tids.count(0)
    expect(commands == (1 if doc["machine"]["mode"] == "command" else 0), f"{commands} ledgers with tid 0")


def who(tid, comm):
    return "nobody" if tid is None else f"{comm}/{tid}"


def check_sentence(top):
    """Victim, call, cause, culprit and evidence stand in the sentence, as in the fields."""
    says, cause = top["sentence"], top["cause"]
    # What tells a process from others of its name stands between the name and the number.
    named = r"%s( [^/]*)?/%d"
    victim = named % (re.escape(top["comm"]), top["tid"])
    lock = re.match(victim + " waited for the lock on ", says)
    call = fr" \({top['syscall']}\) " if lock else f" in {top['syscall']}"
    for text in ([victim], [call] if top["syscall"] else [],
                 [named % (re.escape(cause["comm"]), cause["tid"])] if cause["tid"] else []):
        expect(all(re.search(t, says) for t in text), f"{text} is not in the sentence: {says}")
    expect(re.match(victim + " ", says), f"the sentence does not begin with the victim: {says}")
    unknown = cause["kind"] == "lost" or cause["text"].startswith("still ")
    ends = [cause["evidence"]] + ["cause unknown"] * (unknown and cause["evidence"] == "inferred")
    expect(any(says.endswith(f" [{e}]") for e in ends), f"the sentence does not end with {ends}: {says}")
    expect(re.search(SAYS.get(cause["kind"], r", (woken by|held by|released by|still |holder not recorded|waker not recorded|what ended it is not recorded)"), says), f"not said is {cause['kind']}: {says}")


def check_sentences(doc):
    """No load of the machine makes a finding contradict itself: that is a fault whatever was planted, in any run."""
    for s in doc["stalls"]:
        try:
            check_sentence(s)
        except Wrong as e:
            raise Wrong(CONTRADICTS + str(e)) from None


def check_threads(top, own, doc, data):
    """One finding stands for all threads that the process had through the stop, but those that got no CPU to stop on."""
    begin, end = top["start_ns"], top["start_ns"] + top["duration_ns"]
    all_through = [t for t in own if t["start_ns"] < begin and t["end_ns"] >= end]
    late = [t for t in all_through if sum(stood_ready(doc, data, t["tid"], begin, end - begin)) > (end - begin) / 4]
    n = top.get("threads", 1)
    expect(len(all_through) - len(late) <= n <= len(own), f"{len(all_through)} threads were stopped, told are {n}")
    expect(n == 1 or re.search(rf" with (all )?{n} threads of its process", top["sentence"]),
           f"of a stopped process: {top['sentence']}")


def check_top(doc, truth, name, data):
    kind = truth["kind"]
    # A process that took the program's CPU for longer than the planted stall is not the program's fault.
    victim, culprit = truth["victim"], truth["culprit"]
    stalls = [s for s in doc["stalls"] if kind == "throttled" or not kept_ready(s)
              or blamed(s, culprit) or starved(s, culprit) or not foreign(s, doc, data)]
    expect(stalls, "no stall was found")
    top = stalls[0]
    cause = top["cause"]
    victims = {victim["tid"]} | (set(truth["hops"]) if kind in SEVERAL else set())
    if kind == "stopped":
        # A signal stops a process: each of its threads is a victim.
        pid = {t["tid"]: t["pid"] for t in doc["threads"]}
        own = {t for t in pid if pid[t] == pid[victim["tid"]]}
        victims |= own
        stops = [s for s in stalls if s["cause"]["kind"] == "stopped" and s["tid"] in own]
        expect(len(stops) == 1, f"one stop is told {len(stops)} times")
        check_threads(top, [t for t in doc["threads"] if t["tid"] in own], doc, data)
    expect(top["tid"] in victims,
           f"the victim is {victim['comm']}/{victim['tid']}, named is {top['comm']}/{top['tid']}")
    if top["tid"] == victim["tid"]:
        expect(top["comm"] == victim["comm"], f"the victim's name is {victim['comm']}, not {top['comm']}")
    expect(cause["kind"] in KINDS[kind] or (starved(top, culprit) and cause["kind"] == "runqueue"), f"the kind is {kind}, named is {cause['kind']}")
    if kind in NOBODY:
        expect(cause["tid"] in (None, victim["tid"]),
               f"nobody is to blame, named is {who(cause['tid'], cause['comm'])}")
    elif kind == "lost":
        expect(cause["tid"] in (None, culprit["tid"]) or starved(top, culprit), f"blamed is {who(cause['tid'], cause['comm'])}")
        expect(cause["tid"] or cause["kind"] == "lost", "a lock without a holder, and nothing lost")
    elif kind not in ANYBODY:
        expect((cause["tid"] == culprit["tid"] and cause["comm"] == culprit["comm"]) or starved(top, culprit),
               f"the culprit is {who(**culprit)}, named is {who(cause['tid'], cause['comm'])}")
    if truth["syscalls"]:
        expect(top["syscall"] in truth["syscalls"].split("|"),
               f"the call is {truth['syscalls']}, named is {top['syscall']}")
    chain = [hop["tid"] for hop in top["chain"]]
    if kind == "chain":
        # From whichever hop is named as the victim, the others follow down to the culprit, or to the one it stopped.
        order = [victim["tid"]] + truth["hops"] + [culprit["tid"]] * ("was stopped" not in top["chain"][-1]["what"])
        rest = order[order.index(top["tid"]) + 1:]
        seen = [t for t in chain if t in rest]
        first = [t for i, t in enumerate(seen) if t not in seen[:i]]
        expect(first == rest, f"the chain should go over {rest}, it goes over {chain}")
    if name == "futex_timeout":
        expect(cause["evidence"] == "inferred", "a runtime's sleep is no proof")
    if name == "sleep_in_lock":
        expect(any(hop["tid"] == culprit["tid"] and "nanosleep" in hop["what"] for hop in top["chain"]),
               "the chain does not show the holder's sleep")
    if kind in MANY | SEVERAL or name == "attach":
        return
    want, got = truth["duration_ns"], top["duration_ns"]
    low = 0.5 if name == "nice_hog" else 0.75
    ready = victim_ready(doc, data, truth)
    expect(low * want - 40e6 - ready <= got <= 1.25 * want + 30e6, f"it took {want} ns, named are {got}")
    begin = planted_at(doc, truth)
    expect(begin - 30e6 <= top["start_ns"] and top["start_ns"] + got <= begin + 1.25 * want + 30e6,
           f"it was from {begin} on for {want} ns, named are {got} ns from {top['start_ns']}")


def blamed(stall, culprit):
    return culprit is not None and stall["cause"]["tid"] == culprit["tid"]


def is_ready(hop):
    return hop["what"] == "waited for a CPU"


def kept_ready(stall):
    """It, or who it waits for at last, was ready and got no CPU."""
    return stall["cause"]["kind"] == "runqueue" or any(is_ready(hop) for hop in stall["chain"][-2:])


def starved(stall, culprit):
    """The culprit stands ready at the chain's end, or behind it whoever took its CPU for most of the time."""
    chain = stall["chain"]
    ready = [i for i, hop in enumerate(chain) if is_ready(hop)]
    if not culprit or not ready or not ready[-1] or chain[ready[-1]]["tid"] != culprit["tid"]:
        return False
    behind = chain[ready[-1] + 1:]
    return stall["cause"]["tid"] == (behind[0]["tid"] if behind else None) and len(behind) < 2


def program(doc):
    """The tids of the program, and the names of its threads."""
    pids, tids, comms = {doc["machine"].get("command_tid")}, set(), set()
    for t in sorted(doc["threads"], key=lambda t: t["start_ns"]):
        if t["pid"] in pids or t["ppid"] in pids:
            pids.add(t["pid"])
            tids.add(t["tid"])
            comms.add(t["comm"])
    return tids, comms


def seconds(ns):
    """A time since the recording's begin as options take it."""
    return f"{ns // 10**9}.{ns % 10**9:09}"


def stood_ready(doc, data, tid, start_ns, duration_ns):
    """How long the thread stood ready while others had its CPU, and while the program's own threads had it, as the
    ledger tells."""
    s = doc["summary"]
    # A stall may have begun before the recording.
    begin, end = (min(max(ns - s["start_ns"], 0), s["end_ns"] - s["start_ns"]) for ns in (start_ns, start_ns + duration_ns))
    if begin >= end:
        return 0, 0
    r = subprocess.run([TARRY, "report", data, "ledger", "--json", "--tid", str(tid),
                        "--from", seconds(begin), "--to", seconds(end)],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    expect(r.returncode == 0, f"report ledger ended with {r.returncode}: {r.stderr}")
    rows = [row for e in json.loads(r.stdout)["ledger"] if e["tid"] for row in e["rows"] if row["row"].startswith("runnable")]
    behind = {f"{comm} ran on its CPU" for comm in program(doc)[1]}
    own = sum(row["ns"] for row in rows if row["row"].split(", ", 1)[-1] in behind)
    return sum(row["ns"] for row in rows) - own, own


def foreign(stall, doc, data):
    """Somebody outside the program is to blame, or several who shared a CPU and most of whose time is
    outside it: on a busy machine that is true, if not planted."""
    culprit, chain = stall["cause"]["tid"], stall["chain"]
    if culprit is not None and culprit not in program(doc)[0]:
        return True
    ready = [hop for hop in chain if is_ready(hop)]
    # A lock, say, is not let go of by a holder that gets no CPU: then that is the chain's end.
    if not ready or (stall["cause"]["kind"] != "runqueue" and ready[-1] != chain[-1]) or \
            (culprit is not None and stall["cause"]["kind"] == "runqueue"):
        return False
    others, own = stood_ready(doc, data, ready[-1]["tid"], ready[-1]["start_ns"], ready[-1]["duration_ns"])
    return others > own


def planted_at(doc, truth):
    return doc["summary"]["start_ns"] + truth["start_realtime_ns"] - doc["summary"]["start_realtime_ns"]


def victim_ready(doc, data, truth):
    """How much of the planted time the victim was ready, before and after the call that it times."""
    return sum(stood_ready(doc, data, truth["victim"]["tid"], planted_at(doc, truth), truth["duration_ns"]))


def kept_from_its_cpu(doc, data, truth):
    """For most of the planted stall the culprit, or the victim, got no CPU because of others: it became another stall."""
    begin = planted_at(doc, truth)
    return any(who and stood_ready(doc, data, who["tid"], begin, truth["duration_ns"])[0] > truth["duration_ns"] / 2
               for who in (truth["culprit"], truth["victim"]))


def crowded(stall, doc, data):
    """A thread of the program stood ready beside another one, while processes outside it had as much as half a CPU
    that both could have shared: on a busy machine that is true, too."""
    if stall["cause"]["kind"] != "runqueue":
        return False
    begin, end = (stall["start_ns"] - doc["summary"]["start_ns"] + ns for ns in (0, stall["duration_ns"]))
    r = subprocess.run([TARRY, "report", data, "threads", "--json", "--from", seconds(begin), "--to", seconds(end)],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    expect(r.returncode == 0, f"report threads ended with {r.returncode}: {r.stderr}")
    own = program(doc)[0]
    return sum(t["running_ns"] for t in json.loads(r.stdout)["threads"] if t["tid"] not in own) >= (end - begin) / 2


def check_none(doc, data):
    for s in doc["stalls"]:
        expect(foreign(s, doc, data) or crowded(s, doc, data), f"a stall where there is none: {s['sentence']}")


def run(cmd, **kw):
    return subprocess.run(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=120, **kw)


def wait_for(cond, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if cond():
            return True
        time.sleep(0.01)
    return False


def record_attached(cmd, truth_path, data):
    prog = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        expect(wait_for(lambda: os.path.exists(truth_path + ".ready")), "the program is not ready")
        pid = open(truth_path + ".ready").read().strip()
        rec = subprocess.Popen([TARRY, "record", "-q", "-o", data, "-p", pid], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

        def tracing():
            on = glob.glob(f"/sys/kernel/tracing/instances/tarry-{rec.pid}-*/tracing_on")
            try:
                return on and all("idletest" not in f and open(f).read().strip() == "1" for f in on)
            except OSError:  # an instance is gone that was there a moment ago
                return False
        started = wait_for(tracing)
        time.sleep(0.5)
        open(truth_path + ".go", "w").close()
        out = rec.communicate(timeout=60)[0]
        expect(started and rec.returncode == 0, f"record -p ended with {rec.returncode}: {out}")
    finally:
        open(truth_path + ".go", "w").close()
        prog.wait(timeout=60)


def check_chain(doc, data):
    """A chain asked for amid the first finding, in whichever of its tries, is the finding's."""
    top = doc["stalls"][0]
    for part in (0.2, 0.5, 0.8):
        at = top["start_ns"] + int(top["duration_ns"] * part)
        r = subprocess.run([TARRY, "report", data, "chain", "--json", "--tid", str(top["tid"]), "--at", seconds(at - doc["summary"]["start_ns"])],
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        expect(r.returncode == 0, f"report chain ended with {r.returncode}: {r.stderr}")
        chain = json.loads(r.stdout).get("chain", [])
        if chain and chain[0]["what"].startswith("r"):  # it ran or was runnable between two tries
            continue
        expect([h["tid"] for h in chain] == [h["tid"] for h in top["chain"]],
               f"the finding's chain goes over {[h['tid'] for h in top['chain']]}, that at {at} over {[h['tid'] for h in chain]}")


def check_dump(doc, data, truth):
    """The victim's call is in the dump, as long as the victim says."""
    names = set((truth["syscalls"] or "").split("|"))
    r = subprocess.run([TARRY, "dump", data, "syscalls", "--json", "--tid", str(truth["victim"]["tid"])],
                       stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    calls = [c for c in map(json.loads, r.stdout.splitlines())
             if c.get("name") in names and c["duration_ns"] is not None]
    expect(calls, f"dump syscalls shows none of {names}")
    longest = max(c["duration_ns"] for c in calls)
    want = truth["duration_ns"]
    expect(0.8 * want - 40e6 - victim_ready(doc, data, truth) <= longest <= want + 1e6,
           f"dump: the call took {longest} ns, the victim saw {want}")


def compile_command(seed, where):
    """A compiler at work: much computing, children that are waited for, no stall."""
    r = random.Random(seed)
    with open(f"{where}/x.c", "w") as f:
        for i in range(r.randrange(200, 500)):
            f.write(f"int f{i}(int a, int *p) {{ for (int i = 0; i < a; i++) p[i] += p[a - i] * {r.randrange(99)}; "
                    f"return p[a] ? f{max(i - 1, 0)}(a - 1, p) : {i}; }}\n")
    with open(f"{where}/truth", "w") as f:
        json.dump({"kind": "none", "syscalls": None}, f)
    return ["gcc", "-O1", "-c", "-o", f"{where}/x.o", f"{where}/x.c"]


def one(name, seed, where):
    """Record and compare; returns (why it was skipped or None, list of faults)."""
    truth_path, data = f"{where}/truth", f"{where}/t.dat"
    try:
        if name == "control_compile":
            cmd = compile_command(seed, where)
            run(cmd)
        else:
            cmd = [f"{PROGRAMS}/{name}", str(seed), truth_path]
            run(cmd + ["prepare"])
        if name == "attach":
            record_attached(cmd, truth_path, data)
        else:
            small = ["--buffer", "64K"] if name == "lost" else []
            r = run([TARRY, "record", "-q", *small, "-o", data, "--", *cmd])
            if r.returncode == 77:
                return r.stdout.strip(), []
            expect(r.returncode == 0, f"record ended with {r.returncode}: {r.stdout}")
        truth = json.load(open(truth_path))
        if truth["kind"] not in MANY - {"throttled"} | {"none"} and truth["duration_ns"] < 40e6:
            return NOTHING_PLANTED, []
        r = subprocess.run([TARRY, "report", data, "--json"], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, timeout=60)
        expect(r.returncode == 0, f"report ended with {r.returncode}: {r.stderr}")
        doc = json.loads(r.stdout)
    except FAILS as e:
        return None, [str(e)]
    faults = []

    def check(f, *args):
        try:
            return f(*args)
        except FAILS as e:
            faults.append(str(e))
    check(check_shape, doc)
    if "ledger" not in PENDING:
        check(check_ledger, doc)
    if faults and "stalls" not in doc:
        return None, faults
    check(check_sentences, doc)
    if truth["kind"] == "none":
        check(check_none, doc, data)
    else:
        # The load of the machine excuses that nothing is found, or that first which is its doing, and nothing else.
        sound = not faults
        if truth["syscalls"] and truth["kind"] not in MANY and name not in ("attach", "vfork", "retries", "polled_lock"):
            check(check_dump, doc, data, truth)
        check(check_top, doc, truth, name, data)
        if name in ("retries", "polled_lock") and doc["stalls"]:
            check(check_chain, doc, data)
        if (sound and faults and truth["kind"] not in {"throttled", "lost", "none", "runqueue", "starved"}
                and (not doc["stalls"] or check(foreign, doc["stalls"][0], doc, data))
                and check(kept_from_its_cpu, doc, data, truth)):
            return NOTHING_PLANTED, []
    if faults:
        faults.append(f"truth: {json.dumps(truth)}")
        for s in doc["stalls"][:3]:
            c = s["cause"]
            faults.append(f"found {s['rank']}: {s['sentence']}")
            faults.append(f"    [{c['kind']}, {who(c['tid'], c['comm'])}, {s['syscall']}, {s['state']}, "
                          f"chain {[(h['tid'], h['what']) for h in s['chain']]}]")
        if not doc["stalls"]:
            faults.append("found nothing")
    return None, faults


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--times", type=int, default=1)
    ap.add_argument("--seed", type=int, help="the first seed (default: random)")
    ap.add_argument("--keep", help="keep the recordings of failed runs in this folder")
    ap.add_argument("--pending", action="store_true", help="judge also what is not yet expected to pass")
    ap.add_argument("names", nargs="*")
    a = ap.parse_args()
    names = a.names or sorted(os.listdir(PROGRAMS) + ["control_compile"])
    n = bad = 0
    for name in names:
        n += 1
        missed, skipped, skips, unplanted = [], None, 0, 0
        if name in PENDING and not a.pending:
            print(f"ok {n} - {name} # SKIP not explained yet")
            continue
        for i in range(a.times):
            seed = a.seed + i if a.seed is not None else random.randrange(1, 1 << 31)
            where = tempfile.mkdtemp(prefix="stall-", dir=".")
            give_up = time.monotonic() + (20 if a.times == 1 else 120)
            skipped, faults = one(name, seed, where)
            # The victim came too late to be held up: a busy machine kept it from its CPU.
            while skipped == NOTHING_PLANTED and time.monotonic() < give_up:
                shutil.rmtree(where)
                os.mkdir(where)
                skipped, faults = one(name, seed, where)
            # make check runs on machines that others keep busy, where a planted stall is not always the
            # worst one: a miss is printed and tried twice more. make soak counts every miss.
            for again in range(2):
                if faults and a.times == 1 and not any(f.startswith(CONTRADICTS) for f in faults):
                    print(f"# missed, tried again: stalls.py --seed {seed} {name}: {faults[0].strip().splitlines()[0]}")
                    shutil.rmtree(where)
                    os.mkdir(where)
                    skipped, faults = one(name, seed, where)
            if faults:
                missed.append((seed, faults))
                if a.keep:
                    os.makedirs(f"{a.keep}/{name}-{seed}", exist_ok=True)
                    for f in glob.glob(f"{where}/truth") + glob.glob(f"{where}/t.dat"):
                        shutil.copy(f, f"{a.keep}/{name}-{seed}")
            shutil.rmtree(where)
            skips += skipped is not None
            unplanted += skipped == NOTHING_PLANTED
        control = name.startswith("control_")
        what = f"{name}: " + ("no stall is found" if control else "the top finding is what was planted")
        what += f" ({a.times} times)" if a.times > 1 else ""
        if skips and not missed:
            what += f", {skips} runs not judged" if skips < a.times else ""
        # So many times without a miss was asked for: a run that was not judged is none of them.
        if a.times > 1 and unplanted and not missed:
            bad += 1
            print(f"not ok {n} - {what}")
            print(f"# {NOTHING_PLANTED}: run it when the machine is idle")
        elif skips == a.times:
            print(f"ok {n} - {what} # SKIP {skipped}")
        elif missed:
            bad += 1
            print(f"not ok {n} - {what}")
            for seed, faults in missed[:4]:
                print(f"# {len(missed)} of {a.times} missed; again with: stalls.py --seed {seed} {name}")
                for f in faults:
                    print("#   " + f.strip().replace("\n", "\n#   "))
        else:
            print(f"ok {n} - {what}")
        sys.stdout.flush()
    print(f"1..{n}")
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
