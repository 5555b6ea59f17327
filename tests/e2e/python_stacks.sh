#!/usr/bin/env bash
# Python functions in user stacks of long waits, against what CPython itself says at the same place, of each CPython found here.
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
. "$(dirname "$0")/own.bash"
if [ "$(id -u)" -ne 0 ] || [ ! -x "$TARRY" ]; then
	echo "ok 1 - Python stacks # SKIP recording needs root and the program"
	echo "1..1"
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=$PWD/tests/programs/python_waits.py
cd "$dir" || exit 1
export LC_ALL=C PYTHONIOENCODING=utf-8
"$TARRY" record -q --stacks 20ms -o probe.dat -- true 2>err.txt
if ! "$TARRY" report probe.dat stacks --json | grep -q '"least_ns":20000000'; then
	echo "ok 1 - Python stacks # SKIP $(cat err.txt)"
	echo "1..1"
	exit 0
fi

# Each stack with Python functions must be one that CPython named for that thread: all of it for a sleep; what
# waits in a library's function has that one's further functions first.
cat >judge.py <<'P'
import collections, json, sys
truth = collections.defaultdict(list)
for l in open('truth.txt', encoding='utf-8'):
    tid, kind, frames = json.loads(l)
    truth[tid].append((kind, frames))
waits = sum(map(len, truth.values()))
stacks = [json.loads(l) for l in open('p.json', encoding='utf-8')]
found, wrong, cut = set(), [], 0
for s in stacks:
    mine = [[f['function'], f['module'], f['line']] for f in s['frames'] if 'address' not in f and f['module']]
    if not mine: continue
    for n, (kind, frames) in enumerate(truth[s['tid']]):
        if mine == frames or (kind == 'queue' and mine[-len(frames):] == frames):
            found.add((s['tid'], n))
            break
    else:
        # What a library waits in on its own is not planted.
        if any(f[1].startswith('/tmp/') or f[1].endswith('python_waits.py') and f[0] != '<module>' for f in mine):
            wrong.append((s['tid'], mine, truth[s['tid']]))
print(len(found), 'of', waits, 'missing:', [(k, f[0]) for t, v in truth.items() for n, (k, f) in enumerate(v) if (t, n) not in found][:3], 'wrong:', wrong[:2])
sys.exit(bool(wrong) * 2 or waits < 200 or len(found) < 0.95 * waits)
P
planted() { # PYTHON WORKERS
	"$TARRY" record -q --stacks 20ms -o p.dat -- "$1" "$program" 0.2 "$2" >truth.txt 2>err.txt
	"$TARRY" dump p.dat stacks --json >p.json 2>>err.txt
	python3 judge.py >seen.txt 2>&1
	local e=$?
	[ $e -ne 2 ] || cat seen.txt >>wrong.txt
	check "$("$1" --version 2>&1): functions, files and lines of planted waits (95%)" $e "$(cat seen.txt err.txt)"
}
: >wrong.txt
tested=
for python in /usr/bin/python3 "$(command -v python3)" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
	case $("$python" --version 2>&1) in
	*" 3.7."*)
		"$TARRY" record --stacks 20ms -o old.dat -- "$python" -c 'import time; time.sleep(0.3)' 2>err.txt
		grep -q 'Python functions of 1 process are unknown: the version is Python 3.7, ' err.txt
		check "a version that is not known is named in a note" $? "$(cat err.txt)"
		;;
	esac
	version=$("$python" -c 'import sys; v = sys.version_info[:2]; print(*v, sep=".") if (3, 8) <= v <= (3, 13) else None' 2>/dev/null) || continue
	case $version in *.*) ;; *) continue ;; esac
	real=$(readlink -f "$python")
	case " $tested " in *" $real "*) continue ;; esac
	tested="$tested $real"
	tries 3 planted "$python" 200
done
[ ! -s wrong.txt ]
check "no function or line is wrong, in any try" $? "$(cat wrong.txt)"

# What a user reads.
cat >app.py <<'P'
import threading
lock = threading.Lock()
def handle():
    with lock:
        return 1
held = threading.Event()
def owner():
    with lock:
        held.set()
        threading.Event().wait(1)
a = threading.Thread(target=owner)
a.start()
held.wait()
b = threading.Thread(target=handle)
b.start()
P
"$TARRY" record -q -o p.dat -- python3 app.py 2>err.txt
"$TARRY" report p.dat stalls --all >out.txt
# Of the waits of owner and handle, the list has one.
passes "a stall names the function and line" grep -qE 'in function: (handle \(app.py:4|owner \(app.py:10)\)' out.txt
passes "a function of the standard library is not the one named" grep -q 'in function: owner (app.py:10)' out.txt
"$TARRY" report p.dat >out.txt
passes "the answer names them" grep -q '^ *in function: owner (app.py:10)' <(sed '/^stalls/,$d' out.txt)
"$TARRY" dump p.dat stacks >out.txt
passes "folded lines have Python functions" grep -qE ';Thread.run;owner;Event.wait;Condition.wait;|;run;owner;wait;wait;' out.txt
echo "1..$n"
exit $bad
