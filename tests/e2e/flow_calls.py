#!/usr/bin/env python3
"""Checks of `dump FILE flow --calls --json` with known answers. Usage: flow_calls.py traps|throws|levels|ends FILE [COUNTS]"""
import json
import re
import sys

calls = [json.loads(line) for line in open(sys.argv[2])]
bad = []


def of(name):
    return [c for c in calls if c.get("function") == name]


def want(what, got, wanted):
    if got != wanted:
        bad.append(f"{what}: wanted {wanted}, got {got}")


want("gaps", [c for c in calls if "gap" in c], [])
if sys.argv[1] == "traps":
    # Run as "sjwrcjtv": signals, jumps, ..., calls, jumps, threads, and vfork + exec of itself with "c".
    want("main, once per program", [(c["depth"], c["cut"]) for c in of("main")], [(0, False), (0, False)])
    want("jumps, at one level whatever came before", [(c["depth"], c["cut"]) for c in of("jumps")], [(1, False)] * 2)
    want("calls", [(c["depth"], c["cut"]) for c in of("calls")], [(1, False)] * 2)
    want("deep, left by longjmp", sorted(c["depth"] for c in of("deep") if c["cut"]), sorted([2, 3, 4, 5, 6, 7] * 6))
    want("deep, in all", len(of("deep")), 36)
    want("handlers that return", [(c["signal"], c["cut"]) for c in of("on_alarm")], [(True, False)] * 2)
    want("handlers left by longjmp", [(c["signal"], c["cut"], c["depth"]) for c in of("on_fault")], [(True, True, 2)] * 3)
    want("middle", [c["depth"] for c in of("middle")], [2] * 20)
    want("middle: a call of the next instruction is no level", {c["cut"] for c in of("middle")}, {False})
    want("tail", [c["depth"] for c in of("tail")], [3] * 20)
    want("leaf: called, and entered by a jump", sorted((c["depth"], c["tail"]) for c in of("leaf")),
         [(3, False)] * 20 + [(3, True)] * 20)
if sys.argv[1] in ("levels", "throws"):
    # atN stands at level N and returns, whatever happened around it; as often as the program says.
    got = {}
    for c in calls:
        level = re.fullmatch(r"at(\d)", c.get("function", ""))
        if level:
            got[int(level[1])] = got.get(int(level[1]), 0) + 1
            want(c["function"], (c["depth"], c["cut"], c["back"]), (int(level[1]), False, False))
if sys.argv[1] == "levels":
    counts = {}
    for line in open(sys.argv[3]):
        level, n = re.fullmatch(r"at(\d) (\d+)\n", line).groups()
        counts[int(level)] = counts.get(int(level), 0) + int(n)
    want("calls by level", got, {k: n for k, n in counts.items() if n})
if sys.argv[1] == "throws":
    want("calls by level", got, {1: 3, 2: 10, 3: 3, 4: 2})
    want("main", [(c["depth"], c["cut"]) for c in of("main")], [(0, False)])
    want("who catches", [(c["function"], c["depth"], c["cut"]) for f in ("through", "again", "out_of_recursion")
                         for c in of(f)], [("through", 1, False), ("again", 1, False), ("out_of_recursion", 1, False)])
    want("who throws again", [(c["depth"], c["cut"]) for c in of("rethrows")], [(2, True)])
    want("who cleans up", [(c["depth"], c["cut"]) for c in of("cleans")], [(2, True)] * 2)
    want("passed by", sorted(c["depth"] for c in of("passes") if c["cut"]), sorted([3, 4, 5] * 2 + [3, 4, 2]))
    want("passed by, in all", len(of("passes")), 9)
    want("a recursion that cleans up", sorted((c["depth"], c["cut"]) for c in of("recursion")),
         [(d, True) for d in (2, 3, 4, 5)])
if sys.argv[1] == "ends":
    # What the traced function is over with is not seen; all its calls and what they call is.
    said = re.fullmatch(r"traced (\d+) inside (\d+) outside \d+\n", open(sys.argv[3]).read())
    want("traced, inside, outside", [len([c for c in of(f) if not c["back"]]) for f in
                                          ("traced", "inside", "outside")], [int(said[1]), int(said[2]), 0])
    want("between, on another stack", len(of("between")), 2)
    want("traced is at level 0, but in itself and in what is not known to be over", {c["depth"] for c in of("traced")},
         {0, 1})
if sys.argv[1] == "cleans":
    want("left by an exception", [(c["depth"], c["cut"]) for c in of("cleans")], [(0, True)] * 2)
    want("its destructor", len(of("at4")), 2)
    want("what comes after", [len(of(f)) for f in ("at2", "at3", "through")], [0, 0, 0])
for b in bad:
    print("# " + b)
sys.exit(bool(bad))
