#!/usr/bin/env bash
# The timeline, driven as a person drives it: the real binary in a real terminal (tmux) on a real
# recording of a stall; and its one-frame text form.
set -u
. "${0%/*}/await.bash"
. "${0%/*}/tap.bash"

T=$(mktemp -d)
# A server of its own for each session: one that is just dying would take the next session with it.
servers=0
tm() { tmux -L "tarry-test-$$-$servers" -f /dev/null "$@" 2>/dev/null; }
trap 'tm kill-server; rm -rf "$T"' EXIT
F=$T/stall.dat
unset NO_COLOR COLORTERM COLORFGBG
export TERM=xterm-256color LC_ALL=C.UTF-8

if ! "$TARRY" record -q -o "$F" -- "$PROGRAMS/demo_stall" "$T" >"$T/log" 2>&1; then
	if [ "$(id -u)" != 0 ]; then
		echo "ok 1 - view # SKIP not root"
		exit 0
	fi
	not_ok "recording the stall" "$(cat "$T/log")"
	echo "1..$n"
	exit 1
fi

# one frame as text ---------------------------------------------------------------------------------
"$TARRY" view "$F" --print --size 80x24 --at-wait 1 >"$T/frame"
[ "$(wc -l <"$T/frame")" -eq 24 ] && [ "$(wc -L <"$T/frame")" -le 80 ]
check "--print writes a frame of the size asked for" $? "$(cat "$T/frame")"
grep -q 'webserver/[0-9]* sleeping for' "$T/frame" && grep -q 'in flock(' "$T/frame" &&
	grep -q 'held by backup/' "$T/frame"
check "--at-wait 1 is the stall: its call and the holder" $? "$(cat "$T/frame")"
"$TARRY" view "$F" --print --size 80x24 --at-finding 1 | cmp - "$T/frame"
check "--at-finding is the same" $?
! grep -q $'\033' "$T/frame"
check "no colours into a file" $?
"$TARRY" view "$F" --print --color truecolor | grep -q $'\033\[[0-9;]*38;2;'
check "--color truecolor" $?
"$TARRY" view "$F" --print --color | grep -q $'\033\[0;[0-9;]*38;5;' &&
	"$TARRY" view --print --color 16 "$F" | grep -q $'\033\[0;[0-9;]*32m' &&
	"$TARRY" view --color "$F" --print | grep -q $'\033'
check "--color alone is always; a known word after it is its value, a file is not" $?
"$TARRY" view "$F" --print --json >"$T/out" 2>&1
[ $? -eq 2 ] && grep -q 'report --json' "$T/out"
check "--json is refused with what to use instead" $? "$(cat "$T/out")"
if localedef -i de_DE -f UTF-8 "$T/de_DE.UTF-8" 2>/dev/null; then
	LOCPATH=$T LC_ALL=de_DE.UTF-8 "$TARRY" view "$F" --print --from 1.5s --to 2 --size 120x30 >"$T/de" 2>&1 &&
		head -n 1 "$T/de" | grep -q ' 1\.5[0-9]* s to 2\.0[0-9]* s (500\.000 ms'
	check "numbers have a point in every locale" $? "$(head -n 3 "$T/de")"
else
	skip "numbers have a point in every locale" "no de_DE locale can be made here"
fi
LC_ALL=C "$TARRY" view "$F" --print >"$T/ascii"
! LC_ALL=C grep -q '[^ -~]' "$T/ascii" && grep -q 'SSS' "$T/ascii"
check "letters and ASCII only in the C locale" $? "$(head -n 8 "$T/ascii")"
"$TARRY" view "$F" --print --from 1 --to 2 --size 120x30 | head -n 1 | grep -q ' 1.000 s to 2.000 s (1.000 s'
check "--from and --to are the window" $?
"$TARRY" view "$F" </dev/null >"$T/out" 2>&1
[ $? -eq 2 ] && grep -q -- '--print' "$T/out"
check "without a terminal: usage error that names --print" $? "$(cat "$T/out")"
"$TARRY" view "$F" --print --at-wait 4000000000 >"$T/out" 2>&1
[ $? -eq 2 ] && grep -q -- '--at-wait 4000000000: the list has only' "$T/out"
check "a finding that is not there is a sentence" $? "$(cat "$T/out")"
"$TARRY" view "$F" --print --size 80by24 >"$T/out" 2>&1
[ $? -eq 2 ]
check "a size that is none is a usage error" $? "$(cat "$T/out")"
"$TARRY" view --keys-man | grep -q '^\.TP'
check "--keys-man writes the table of keys" $?

# Attached to a process that waits on a descriptor that was open before.
exec 9>"$T/the.lock"
flock 9
flock "$T/the.lock" true 9>&- &
waiter=$!
waits() { [ "$(cat /proc/$waiter/comm)" = flock ] && grep -q '^State:.*S' /proc/$waiter/status; }
await 60 waits
"$TARRY" record -q -o "$T/attach.dat" -p $waiter 9>&- &
recorder=$!
await 60 recording $recorder "$T/attach.dat"
sleep 0.3 # the stall
flock -u 9
wait $recorder
exec 9>&-
"$TARRY" view "$T/attach.dat" --print --at-wait 1 --size 160x40 >"$T/frame" 2>&1 &&
	grep -q 'flock/[0-9]*[^,]* sleeping for' "$T/frame" && grep -q 'stall 1, proven' "$T/frame" &&
	grep -q 'in flock([0-9]*<[^>]*the.lock>, LOCK_EX) = 0.* began before the recording' "$T/frame" &&
	"$TARRY" report "$T/attach.dat" stalls | grep -q 'waited for the lock on fd [0-9]* <[^>]*the.lock> (flock)'
check "attached: a stall on a descriptor that was open before, the call with its arguments" $? "$(cat "$T/frame")"

command -v tmux >/dev/null || {
	skip "in a terminal" "tmux is not installed"
	echo "1..$n"
	exit 0
}

# in a terminal -------------------------------------------------------------------------------------
screen() { tm capture-pane -p; }
wait_for() { # PATTERN: until the screen shows it, at most a minute
	local i
	for i in $(seq 600); do
		screen | grep -q -- "$1" && return 0
		sleep 0.1
	done
	return 1
}
wait_gone() { # PATTERN: until the screen does not show it
	local i s
	for i in $(seq 600); do
		s=$(screen) || return 1
		grep -q -- "$1" <<<"$s" || return 0
		sleep 0.1
	done
	return 1
}
keys() { tm send-keys "$@"; }
cursor_at() { # SECONDS: the ruler's mark is there, within two cells
	screen | python3 -c 'import re, sys
unit = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
lines = sys.stdin.read().splitlines()
size, u, first, v = re.search(r" \(?(?:all )?([\d.]+) (\w+)(?: of |\))", lines[0]).groups() + re.search(r" ([\d.]+) (\w+) to ", lines[0]).groups()
ruler = next(l for l in lines if "▼" in l)
left = len(ruler) - len(ruler.lstrip())
cell = float(size) * unit[u] / (len(ruler) - left)
at = float(first) * unit[v] + (ruler.index("▼") - left + 0.5) * cell
sys.exit(abs(at - float(sys.argv[1])) > 2 * cell)' "$1"
}
state() { tm display-message -p '#{alternate_on} #{cursor_flag} #{mouse_any_flag}'; }
start() { # W H [ARGS]: a shell that runs the viewer and says how it ended
	local w=$1 h=$2
	shift 2
	tm kill-server
	servers=$((servers + 1))
	tm new-session -d -x "$w" -y "$h" "TERM=xterm-256color '$TARRY' view '$F' $*; echo status=\$?; exec cat"
	wait_for 'q quit'
}

# How long the stall was, by the report, in the timeline's digits but the last two (2.9998 s is "3.000 s").
stall=$("$TARRY" report "$F" --json | python3 -c 'import json, sys; print(("%.3f" % (json.load(sys.stdin)["stalls"][0]["duration_ns"] / 1e9))[:-2])')
for size in '80 24' '200 60'; do
	s=${size/ /x}
	start $size
	check "$s: opens" $? "$(screen)"
	screen | grep -q 'webserver' && screen | grep -q 'CPU 0' && screen | grep -qF "#1 $stall"
	check "$s: CPUs, the thread, the stall in its row" $? "$(screen)"
	whole=$(screen | head -n 1)
	keys w w
	wait_gone "^$whole"
	check "$s: w zooms in" $? "$(screen)"
	keys 0
	wait_for "^$whole"
	check "$s: 0 is the whole recording again" $? "$(screen)"
	keys '?'
	wait_for 'keys and symbols' && screen | grep -q 'zoom in at the cursor'
	check "$s: ? opens the help" $? "$(screen)"
	keys q
	wait_for 'q quit'
	check "$s: q closes the help" $? "$(screen)"
	if "$TARRY" dump "$F" syscalls | grep -q 'flock(.*journal'; then
		keys /
		keys -l 'call:flock file:journal'
		keys Enter
		wait_for 'flock of ' && keys H && wait_for 'longest first' &&
			screen | sed -n 2,4p | tr -s '\n ' ' ' | grep -qE "> [23]\.[0-9]+ s webserver/.* flock .*/journal"
		check "$s: a file is found by name, and H lists the longest call on it first" $? "$(screen)"
		keys q
		wait_gone 'longest first'
	fi
	keys n
	wait_for 'stall 1 of' && screen | grep -q 'in flock(' && screen | grep -q 'held by backup/'
	check "$s: n jumps to the stall; details name the call and the waker" $? "$(screen)"
	keys Tab j Enter
	wait_for 'stall 2 of\|2 of .* in the list' && screen | grep -q '^>  2 '
	check "$s: the list is walked and Enter jumps" $? "$(screen)"
	keys g 1 . 2 5 Enter
	await 60 cursor_at 1.25
	check "$s: g goes to a time" $? "$(screen)"
	keys q
	wait_for 'status=0' && [ "$(state)" = '0 1 0' ]
	check "$s: q quits and the terminal is as before" $? "$(state; screen)"
done

start 80 24
# Half of the whole recording, however long that is here.
shown() { screen | sed -n '1s/.* s (\(all \)\?\([0-9.]*\) s.*/\2/p'; }
all=$(shown)
keys -l $'\033[<64;50;3M'
wait_gone "(all $all s" && awk "BEGIN { h = $(shown) / $all; exit !(h > 0.49 && h < 0.51) }"
check "mouse: wheel over the ruler zooms" $? "$(screen)"
keys -l $'\033[<0;10;5M'
wait_for '^>[^│]*CPU 1'
check "mouse: a click selects a row" $? "$(screen)"
tm resize-window -x 60 -y 16
wait_for 'q quit' && [ "$(screen | wc -l)" -eq 16 ] && screen | grep -q '^>[^│]*CPU 1'
check "a resized terminal is drawn anew" $? "$(screen)"
tm resize-window -x 39 -y 9
wait_for 'tarry needs 40x10'
check "a screen too small is said so" $? "$(screen)"
tm resize-window -x 80 -y 24
wait_for 'q quit'
check "and comes back" $? "$(screen)"

# Kept in the cache folder: the mark of one session is there in the next, whatever the path; a copy has
# its own.
export XDG_CACHE_HOME=$T/cache
start 80 24
keys g 1 . 5 Enter w w m s p o t Enter
wait_for "mark 'spot' is set"
keys q
wait_for 'status=0'
mkdir "$T/moved" && ln "$F" "$T/moved/other.dat" && cp "$F" "$T/moved/copy.dat"
F=$T/moved/other.dat start 80 24
keys "'" s p o t Enter
wait_for "mark 'spot'" && screen | grep -q 'at 1\.50*' && [ "$(stat -c %a "$T"/cache/tarry/view-*.marks)" = 600 ]
check "marks are kept for the recording, by what it is" $? "$(ls -la "$T/cache/tarry"; screen)"
keys q
F=$T/moved/copy.dat start 80 24
keys "'"
wait_for 'marks: none'
check "a copy of it has marks of its own" $? "$(screen)"
keys Escape q

for sig in TERM SEGV; do
	start 80 24
	kill -$sig "$(pgrep -P "$(tm display-message -p '#{pane_pid}')")"
	wait_for 'status=1' && [ "$(state)" = '0 1 0' ]
	check "SIG$sig: dies of it, and the terminal is as before" $? "$(state; screen)"
done

tm kill-server
servers=$((servers + 1))
tm new-session -d -x 80 -y 24 "TERM=dumb '$TARRY' view '$F'; echo status=\$?; exec cat"
wait_for 'status=1' && screen | grep -q 'cannot position the cursor'
check "a terminal that cannot place text is said so" $? "$(screen)"

# Ctrl-Z and fg need a shell with job control.
tm kill-server
servers=$((servers + 1))
tm new-session -d -x 80 -y 24 "TERM=xterm-256color PS1='ready> ' bash --norc -i"
wait_for 'ready>'
keys "'$TARRY' view '$F'" Enter
wait_for 'q quit'
keys C-z
wait_for 'Stopped' && [ "$(state)" = '0 1 0' ]
check "Ctrl-Z gives the terminal back" $? "$(state; screen)"
keys fg Enter
wait_for 'q quit' && [ "$(state)" = '1 0 1' ]
check "fg brings the timeline back" $? "$(state; screen)"
keys q
wait_gone 'q quit'
check "and q quits it" $? "$(screen)"

# A SIGSTOP comes without warning: what the shell wrote meanwhile must not stay on the screen.
wait_for 'ready>'
keys "'$TARRY' view '$F'" Enter
wait_for 'q quit'
kill -STOP "$(pgrep -P "$(tm display-message -p '#{pane_pid}')")"
wait_for 'Stopped'
keys 'echo in the way' Enter
wait_for '^in the way'
keys fg Enter
wait_gone 'in the way' && wait_for 'q quit' && [ "$(state)" = '1 0 1' ]
check "after SIGSTOP, fg draws the timeline afresh" $? "$(state; screen)"
keys w
wait_for 'n/N wait' && keys q && wait_gone 'q quit'
check "and its keys work" $? "$(screen)"

# Executed instructions: from the timeline into them, through them, and back to their instant.
if "$TARRY" doctor | grep -q '^ok.*PT decoding' &&
	"$TARRY" record -q --flow=step --flow-filter main -o "$T/flow.dat" -- "$PROGRAMS/flow_traps" c 2>"$T/log"; then
	F=$T/flow.dat start 80 24
	wait_gone 'Searching for stalls'
	keys / "thread:^flow_traps" Enter
	wait_for ' of flow_traps/[0-9]* at ' # the rows tell the name before it was found
	keys i
	wait_for 'executed (software)' && wait_for 'main'
	check "i: the thread's executed instructions" $? "$(screen)"
	keys ^
	wait_for '^>.*main+0x0'
	check "^: the first is main's" $? "$(screen)"
	keys '$' ?
	wait_for 'Executed instructions: keys and symbols'
	check "? its own help" $? "$(screen)"
	keys q
	wait_gone 'keys and symbols'
	keys q
	wait_for 'Under the cursor'
	check "q leads back to the timeline" $? "$(screen)"
	keys q
	"$TARRY" record -q --flow=step -o "$T/flow.dat" -- "$PROGRAMS/flow_traps" c 2>"$T/log"
	F=$T/flow.dat start 80 24 --memory 16M
	keys / "thread:^flow_traps" Enter
	wait_for ' of flow_traps/[0-9]* at '
	keys i
	wait_for 'NOT ALL DECODED (zoom in)'
	check "--memory limits the instructions that are decoded at a time" $? "$(screen)"
	keys q q
else
	skip "i: executed instructions" "they cannot be recorded or decoded here: $(tail -n 1 "$T/log")"
fi

# One thread keeps another from the CPU: what report says of it, view says, too.
busy='i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'
cpu=$(sed -n 's/^Cpus_allowed_list:[^0-9]*\([0-9]*\).*/\1/p' /proc/self/status)
if "$TARRY" record -q -o "$T/hog.dat" -- taskset -c "$cpu" sh -c "(sh -c '$busy') & chrt -f 1 sh -c '$busy'; wait" >"$T/log" 2>&1 &&
	"$TARRY" report "$T/hog.dat" stalls | grep -q 'waited for a CPU'; then
	"$TARRY" view "$T/hog.dat" --print --size 200x40 >"$T/frame" 2>&1 && grep -qE 'ran (for [0-9.]+ m?s of|all) that time' "$T/frame"
	check "a wait for a CPU is among the findings" $? "$(cat "$T/frame")"
else
	skip "a wait for a CPU is among the findings" "nobody could be kept from a CPU: $(tail -n 1 "$T/log")"
fi

tm kill-server
servers=$((servers + 1))
tm new-session -d -x 90 -y 20 "unset COLUMNS LINES; '$TARRY' view '$F' --print; exec cat"
wait_for 'q quit' && [ "$(screen | grep -c .)" -eq 19 ] && [ "$(screen | grep 'Under the cursor' | wc -L)" -eq 90 ]
check "--print to a terminal has its size" $? "$(screen)"
echo "1..$n"
