#!/usr/bin/env bash
# The first lines of a report name where the time of a command went: programs of which that is known.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	skip "answers" "recording needs root and the program"
	exit 0
fi
src=$PWD
dir=$(mktemp -d)
cd "$dir" || exit 1
holder=
cleanup() {
	[ -z "$holder" ] || { kill "$holder" && wait "$holder"; } 2>/dev/null
	cd / && rm -rf "$dir"
}
trap cleanup EXIT
cat >answer.py <<'P'
import json, os, re, subprocess
def report(file, *options):
    r = subprocess.run([os.environ["TARRY"], "report", file, *options], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
    return r.stdout
def first(file): # the lines of the answer
    lines = report(file).split("\n\n")[0].split("\n")
    assert lines[0].startswith("answer: ") and 1 < len(lines) <= 10, lines
    return lines
def answer(file):
    a = json.loads(report(file, "--json"))["answer"]
    assert sum(p["ns"] for p in a["parts"]) == a["total_ns"], a
    assert sum(i["ns"] for i in a["items"]) + a["rest_ns"] == a["total_ns"], a
    return a
def shown_sum(line): # "  812 ms = 300 ms sleeping + ...": in one unit, exact
    total, parts = line.split(" = ")
    values = [re.match(r" *([0-9.]+) (s|ms|us|ns)\b", p).groups() for p in parts.split(" + ")]
    total, unit = total.split()
    digits = lambda v: int(v.replace(".", ""))
    assert all(u == unit for _, u in values) and sum(digits(v) for v, _ in values) == digits(total), line
P
export PYTHONPATH=$dir PYTHONDONTWRITEBYTECODE=1
record() { "$TARRY" record -q -o a.dat -- "$@" >said.txt 2>err.txt || not_ok "recording $*" "$(cat err.txt)"; }

in_children() {
	record sh -c 'sh -c "sleep 0.4; :"; :'
	judge "a child of a child that sleeps is named, with its time; parts and items sum exactly" <<'P'
from answer import *
lines, a = first("a.dat"), answer("a.dat")
print("\n".join(lines))
shown_sum(lines[1])
assert a["of"] == "command" and a["total_ns"] >= 400e6, a
assert re.match(r"sleep/[0-9]+ slept in clock_nanosleep$", a["items"][0]["text"]), a["items"]
# Preempted right after its timer was armed, it sleeps for less.
assert a["items"][0]["part"] == "sleep" and 350e6 <= a["items"][0]["ns"] < 500e6, a["items"]
assert re.search(r"By child, with descendants: sh/[0-9]+ .* \(of which in child sleep/[0-9]+: .*\)", a["children"]), a["children"]
P
}
tries 3 in_children

on_cpu() {
	record sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'
	judge "a loop on the CPU is told as that, outside system calls" <<'P'
from answer import *
lines, a = first("a.dat"), answer("a.dat")
print("\n".join(lines))
on_cpu = [i for i in a["items"] if i["part"] == "on_cpu"]
assert re.search(r"sh/[0-9]+ ran: (9.|100)% outside system calls", on_cpu[0]["text"]), on_cpu
parts = {p["part"]: p["ns"] for p in a["parts"]}
assert parts["on_cpu"] + parts.get("runnable", 0) + parts.get("stolen", 0) > 0.95 * a["total_ns"], parts
P
}
tries 3 on_cpu

locked_out() {
	rm -f held up
	flock lock sh -c 'echo >held; until [ -e up ]; do sleep 0.05; done; exec sleep 0.8' &
	holder=$!
	await 60 test -s held
	record sh -c 'echo >up; exec flock lock true'
	wait "$holder"
	holder=
	judge "a process outside of the command's tree that held its lock is named" <<'P'
from answer import *
lines, a = first("a.dat"), answer("a.dat")
print("\n".join(lines))
shown_sum(lines[1])
assert a["items"][0]["part"] == "others", a["items"]
# Of the two flocks one is the command; the other one was there before.
assert re.match(r'flock/[0-9]+( "[^"]*")? waited in flock.* for (flock/[0-9]+ "sh", which waited for )?sleep/[0-9]+( "[^"]*")?, which slept', a["items"][0]["text"]), a["items"]
P
}
tries 3 locked_out

# Programs of answers.py, of which the first screen has to say what a textbook says; all of them: make soak.
programs() {
	local line name
	while IFS= read -r line; do
		case $line in
		'ok '*' - '*) ok "known trouble: ${line#ok * - }" ;;
		'not ok '*' - '*)
			name=${line#not ok * - }
			not_ok "known trouble: $name" "$(cat said.txt)"
			;;
		esac
	done < <(python3 "$src/tests/e2e/answers.py" "$@" | tee said.txt)
}
if [ -n "${ANSWERS:-}" ]; then
	python3 "$src/tests/e2e/answers.py" >said.txt
	check "three quarters of the known troubles are told, none wrong, none silent" $? "$(grep -E '^(not )?ok|right of' said.txt)"
	sed -n '/right of/p' said.txt
else
	for name in "open of a path that is not there" "reads of one byte" "a lock that is polled" \
		"hundreds of short children" "one request of forty is slow" "quiet: a server with light load"; do
		tries 3 programs "$name"
	done
fi
echo "1..$n"
exit $bad
