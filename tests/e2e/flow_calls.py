#!/usr/bin/env python3
"""Checks of `dump FILE flow --calls --json` with known answers. Usage: flow_calls.py traps|throw FILE"""
import json
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
else:
    want("main", [(c["depth"], c["cut"]) for c in of("main")], [(0, False)])
    want("left by exceptions", sorted((c["depth"], c["cut"]) for c in of("_Z4deepi")),
         sorted((d, True) for d in [1, 2, 3, 4, 5] * 2))
for b in bad:
    print("# " + b)
sys.exit(bool(bad))
