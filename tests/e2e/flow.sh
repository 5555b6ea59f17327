#!/usr/bin/env bash
# Executed instructions: real Intel PT captures with known answers (../shared/pt, where it is there), and
# the software branch tracer: what it saw executed against what is decoded from its packets, address for
# address (over 300,000 instructions).
# Lane: beside
set -u
unset DEBUGINFOD_URLS # nothing is asked of the network
pt=../shared/pt
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/tap.bash"
insns() { grep -c '"ip":"0x[0-9a-f]*"}$' "$1"; }
gaps() { sed -n 's/.*"gap":"\([^"]*\)","ip":"\([^"]*\)".*/\1 \2/p' "$1" | paste -sd, -; }
# The list of taken branches as the captures' answers write it.
branches() { sed -n 's/.*"from":"0x\([0-9a-f]*\)","to":"0x\([0-9a-f]*\)".*/\1\t\2/p' "$1"; }

# The branches of $out/b are those of perf's decoder, which wants the program under its whole path.
by_perf() { # FOLDER PROGRAM
	local path
	if ! command -v perf >/dev/null; then
		skip "perf.data $2: perf's branches" "perf is not installed"
		return
	fi
	path=$(perf script -i "$1/$2"-*.perf --show-mmap-events 2>/dev/null | sed -n "s/.* r-xp \(\/.*\/$2\)$/\1/p" | head -n 1)
	mkdir -p "$out/root${path%/*}"
	cp "$1/$2" "$out/root$path"
	perf script -i "$1/$2"-*.perf --itrace=b -F ip,addr --symfs "$out/root" 2>"$out/err" |
		sed -E 's/^ *([0-9a-f]+) => +([0-9a-f]+).*/\1\t\2/' >"$out/p"
	if [ ! -s "$out/p" ]; then
		skip "perf.data $2: perf's branches" "this perf decodes no Intel PT: $(head -n 1 "$out/err")"
		return
	fi
	branches "$out/b" | cmp -s - "$out/p"
	check "perf.data $2: perf's branches" $?
}

captures() {
	local d
	for d in loopy control_flow; do
		"$TARRY" dump $pt/perfdata/$d/$d-*.perf flow --symfs $pt/perfdata/$d --json >"$out/b"
		tr -d '\r' <$(echo $pt/perfdata/$d/$d-*.trace) >"$out/t"
		branches "$out/b" | cmp -s - "$out/t"
		check "perf.data $d: every taken branch" $?
		"$TARRY" dump $pt/perfdata/$d/$d-*.perf flow --core $pt/perfdata/$d/$d-*.coredump --json >"$out/c"
		branches "$out/c" | cmp -s - "$out/t"
		check "perf.data $d: the same with the code of a core dump" $?
		by_perf $pt/perfdata/$d $d
		"$TARRY" view --print --size 80x24 $pt/perfdata/$d/$d-*.perf >"$out/v" 2>&1 && grep -q " $(sed -n '1s/.*"tid":\([0-9]*\).*/\1/p' "$out/b")[│|]" "$out/v"
		check "perf.data $d: it has a timeline by its switches" $?
		"$TARRY" dump $pt/perfdata/$d/$d-*.perf flow --symfs $pt/perfdata/$d --insn --json >"$out/i"
		is "perf.data $d: instructions" $([ $d = loopy ] && echo 57 || echo 1092) "$(insns "$out/i")"
	done
	"$TARRY" dump flow --pt-raw $pt/timing/pt.bin --cpu-model 6/85/4 --pt-sideband $pt/timing/primary.sideband.pevent \
		--pt-sideband $pt/timing/secondary.sideband.pevent --symfs $pt/timing --insn >"$out/i"
	is "raw with sideband: the 8 instructions" \
		"401000 401005 40100a 401014 401019 40101b 401020 401025" "$(awk '{print $4}' "$out/i" | paste -sd' ' -)"
	is "raw with sideband: thread and CPU from the sideband" "223991 [009]" "$(awk '{print $2, $3}' "$out/i" | sort -u)"
	"$TARRY" dump flow --pt-raw $pt/single/3842849.trace,tid=3842849 --cpu-model 6/79/1 \
		--image $pt/single/a.out@0x400000 --insn --json >"$out/i"
	is "one thread: 21 instructions, no gap" "21 " "$(insns "$out/i") $(gaps "$out/i")"
	is "one thread: one call is one call" "flow: 21 instructions, 1 call of 1 function, 0 gaps" \
		"$("$TARRY" report flow --pt-raw $pt/single/3842849.trace,tid=3842849 --cpu-model 6/79/1 \
			--image $pt/single/a.out@0x400000 | sed -n 2p)"
	"$TARRY" dump flow --pt-raw $pt/multi-file/multi-file.trace --cpu-model 6/79/1 --image $pt/multi-file/a.out@4194304 \
		--image $pt/multi-file/libfoo.so@140737349783552 --image $pt/multi-file/libbar.so@140737347678208 \
		--insn --json >"$out/i"
	is "several images: 45 instructions and the gap where one is missing" \
		"45 no memory mapped at this address 0x7ffff7df1950" "$(insns "$out/i") $(gaps "$out/i")"
	for d in 45 51; do
		"$TARRY" dump flow --pt-raw $pt/multi-core/cores/$d.intelpt_trace,cpu=$d --cpu-model 6/85/4 \
			--pt-sideband $pt/multi-core/cores/$d.perf_context_switch_trace,cpu=$d,sample=6 \
			--pt-time 18433473881008870804/1076264588/31 \
			--image $pt/multi-core/modules/m.out@0x400000 --insn --json >"$out/i$d"
	done
	is "CPU 45: instructions" 61825 "$(insns "$out/i45")"
	is "CPU 45: one gap" 1 "$(grep -c '"gap"' "$out/i45")"
	is "CPU 45: its thread" 3497497 "$(sed -n 's/.*"tid":\([0-9]*\),.*"ip":"[^"]*"}$/\1/p' "$out/i45" | sort -u)"
	is "CPU 51: instructions" 19521 "$(insns "$out/i51")"
	is "CPU 51: the gaps that miss an image" \
		"0x7ffe151f98ec 0x14affc8 0x7ffff6fb56a8 " \
		"$(gaps "$out/i51" | cut -d, -f1-3 | tr ',' '\n' | sed -n 's/^no memory mapped.* //p' | tr '\n' ' ')"
	is "CPU 51: decoding goes on before the next PSB" 4 "$(grep -c '"gap"' "$out/i51")"
}

# Each thread's decoded addresses are the listed ones, and there is no gap.
same() { # LIST DUMP
	! grep -q '"gap"' "$2" && [ -s "$1" ] &&
		sort -s -k1,1n "$1" | cmp -s - <(sed -n 's/.*"tid":\([0-9]*\),.*"ip":"0x\([0-9a-f]*\)".*/\1 \2/p' "$2" |
			sort -s -k1,1n)
}
steps=$out/steps # how many, a line per recording
step() { # NAME WANTED-STATUS COMMAND...
	local name=$1 status=$2 got count
	shift 2
	"$TARRY" record -q --flow=step --flow-list "$out/list" -o "$out/t.dat" "$@" >/dev/null 2>"$out/err"
	got=$?
	"$TARRY" dump "$out/t.dat" flow --insn --json >"$out/d"
	count=$(wc -l <"$out/list")
	[ $got -eq "$status" ] && same "$out/list" "$out/d"
	check "$name: $count instructions, address for address" $? # make soak adds them up
	echo "$count" >>"$steps"
	sed 's/^/# /' "$out/err"
}

stepper() {
	local cxx all
	aside programs # stepping waits most of the time
	step "step: threads, signals, faults, longjmp, vfork and exec, written code, repeated strings" 0 \
		"$PROGRAMS/flow_traps"
	cxx=$(command -v g++ || command -v clang++)
	if [ -n "$cxx" ]; then
		"$cxx" -O2 -g -o "$out/throws" tests/programs/call_throws.cc
		check "call_throws.cc is compiled" $?
		step "step: C++ exceptions" 0 --flow-filter main "$out/throws"
	else
		skip "step: C++ exceptions" "no C++ compiler"
	fi
	step "step: repeated strings" 0 --flow-filter main "$PROGRAMS/flow_traps" r
	trace-cmd report -i "$out/t.dat" 2>/dev/null | tail -n 1 | grep -q '\[[0-9]*\]'
	check "step: trace-cmd opens the recording" $?
	is "step: a repeated instruction counts once" "rep movsb,repne scasb,rep stosb" "$("$TARRY" dump "$out/t.dat" flow --insn |
		grep -E " (main|repeats)\+" | grep -oE "repn?e? (movs|scas|stos)b" | paste -sd, -)"
	"$TARRY" record -q --flow=step --flow-filter calls --flow-list "$out/list" -o "$out/t.dat" "$PROGRAMS/flow_traps" c
	"$TARRY" dump "$out/t.dat" flow --insn --json >"$out/d"
	same "$out/list" "$out/d" && [ "$(wc -l <"$out/list")" -lt 2000 ]
	check "step: a filter traces one function and what it calls" $?
	"$TARRY" dump "$out/t.dat" flow --insn | awk '{print $5}' | sed 's/+.*//' | sort -u | paste -sd' ' - >"$out/f"
	is "step: its functions" "calls leaf middle tail" "$(cat "$out/f")"
	"$TARRY" report "$out/t.dat" flow --json >"$out/r"
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))["flow"]
f = {x["name"]: x for x in r["functions"]}
got = [(n, f[n]["count"], f[n]["callers"][0]["name"]) for n in ("middle", "leaf", "tail")]
assert got == [("middle", 10, "calls"), ("leaf", 20, "middle"), ("tail", 10, "middle")], got
assert sum(x["self_insns"] for x in r["functions"]) == r["instructions"] == f["calls"]["insns"], r
assert r["software"] and f["middle"]["p50_insns"] == f["middle"]["max_insns"]' "$out/r"
	check "report: counts, callers and instructions of functions add up" $?
	"$TARRY" report "$out/t.dat" flow --slowest middle | grep -q '^middle: 10 calls; .* for 14 instructions: all'
	check "report: slowest beside median" $?
	"$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$PROGRAMS/flow_traps" R
	"$TARRY" report "$out/t.dat" flow --slowest request --json >"$out/r"
	python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))["flow_slowest"]
f = {x["name"]: x for x in r["functions"]}
assert r["calls"] == 50 and r["software"], r
assert r["functions"][0]["name"] == "refill" and f["refill"]["slowest"]["calls"] == 1, r
assert f["refill"]["median"]["calls"] == 0 and f["leaf"]["slowest"] == f["leaf"]["median"], r
for w in "slowest", "median":
    assert sum(x[w]["self_insns"] for x in r["functions"]) == r[w]["insns"], r
    assert sum(x[w]["calls"] for x in r["functions"]) == r[w]["calls_inside"] + 1, r
assert r["slowest"]["path"][0] == r["median"]["path"][0] and r["slowest"]["path"][1] != r["median"]["path"][1], r' "$out/r" &&
		"$TARRY" report "$out/t.dat" flow --slowest request | grep -q '^ *1 .* 0 .* refill  .*flow_traps\.c:'
	check "report: of one slow call among fifty, the function that makes the difference" $?
	"$TARRY" report "$out/t.dat" flow --slowest request >"$out/text"
	"$TARRY" report "$out/t.dat" flow >>"$out/text"
	"$TARRY" report "$out/t.dat" flow --json >"$out/all"
	"$TARRY" report "$out/t.dat" header --json >"$out/h"
	python3 -c '
import json, sys
start = json.load(open(sys.argv[1]))["summary"]["start_ns"]
r = json.load(open(sys.argv[2]))["flow_slowest"]
text = open(sys.argv[3]).read()
for w in "slowest", "median":
    at = ", at %.9f s\n" % ((r[w]["start_ns"] - start) / 1e9)
    assert at in text, (at, text)
longest, = (f["max_start_ns"] for f in json.load(open(sys.argv[4]))["flow"]["functions"] if f["name"] == "request")
assert " at %.9f s tid " % ((longest - start) / 1e9) in text, text' "$out/h" "$out/r" "$out/text" "$out/all"
	check "report: times of the calls are seconds since the start" $?
	"$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$PROGRAMS/flow_traps" sjwrcjtv
	"$TARRY" dump "$out/t.dat" flow --calls --json >"$out/c"
	python3 tests/e2e/flow_calls.py traps "$out/c"
	check "calls: longjmp, signals, tail calls, zero-length calls, vfork and exec" $?
	"$TARRY" report "$out/t.dat" flow --json >"$out/r"
	is "report: a recursion's instructions count once" "$(recursion 'sum(c["insns"] for c in deep if c["depth"] == 2)')" \
		"$(recursion '[x["insns"] for x in r["functions"] if x["name"] == "deep"][0]')"
	choice
	cut_short
	jitted
	elsewhere
	stripped
	joined
	"$TARRY" record -q --flow=step --flow-filter "0x$(nm "$PROGRAMS/flow_traps" | awk '$3 == "leaf" { print $1 }')@$PROGRAMS/flow_traps" \
		-o "$out/t.dat" "$PROGRAMS/flow_traps" c
	is "step: a function by its offset, as its name may be that of several" "leaf" \
		"$("$TARRY" dump "$out/t.dat" flow --insn | awk '{ print $5 }' | sed 's/+.*//' | sort -u)"
	all=$(awk '{ n += $1 } END { print n }' "$steps")
	[ "$all" -ge 300000 ]
	check "step: $all instructions in all" $?
	"$TARRY" record --flow-filter nosuch --flow=step -o "$out/t.dat" true 2>&1 | grep -q "no function 'nosuch'"
	check "step: a function that is not there" $?
	"$TARRY" record --flow=step -p $$ -o "$out/t.dat" 2>&1 | grep -q 'cannot attach to running processes'
	check "step: -p is refused, with the reason" $?
}

programs() {
	LC_ALL=C step "step: ls" 0 ls /
	step "step: true" 0 /bin/true
	step "step: children that stop before their parent is heard of" 0 "$PROGRAMS/flow_traps" p
	let_go
}

recursion() { # WHAT OF THE CALLS OF deep, OR OF THE REPORT
	python3 -c '
import json, sys
deep = [c for c in map(json.loads, open(sys.argv[1])) if c.get("function") == "deep"]
r = json.load(open(sys.argv[2]))["flow"]
print('"$1"' or "none")' "$out/c" "$out/r"
}
dumped() { "$TARRY" dump "$out/t.dat" flow --insn --json "$@" | wc -l; }
reported() { "$TARRY" report "$out/t.dat" flow --json "$@" | sed 's/.*"instructions":\([0-9]*\).*/\1/'; }
# Time slices, threads and names choose the same in dump and report, and the parts are the whole.
choice() {
	local all=$(dumped) exe=$(dumped --comm exe) traps=$(dumped --comm 'flow_*') tid tids=0 mid last to from
	[ "$exe" -gt 0 ] && [ "$traps" -gt 0 ]
	check "choice: a name that came by exec, and the one before" $?
	is "choice: by name" "$all $exe $traps" "$((exe + traps)) $(reported --comm exe) $(reported --comm 'flow_*')"
	"$TARRY" dump "$out/t.dat" flow --insn --json >"$out/d"
	for tid in $(sed -n 's/.*"tid":\([0-9]*\).*/\1/p' "$out/d" | sort -u); do
		to=$(dumped --tid "$tid")
		tids=$((tids + to))
	done
	is "choice: by thread" "$all $to" "$tids $(reported --tid "$tid")"
	is "choice: no CPU is known of a stream of a thread" "0 0" "$(dumped --cpu 0) $(reported --cpu 0)"
	last=$(tail -n 1 "$out/d" | sed 's/.*"ts_ns":\([0-9]*\).*/\1/')
	mid=$(sed -n "$((all / 2))s/.*\"ts_ns\":\([0-9]*\).*/\1/p" "$out/d")
	mid=$(printf -- '-%d.%09d' $(((last - mid) / 1000000000)) $(((last - mid) % 1000000000)))
	to=$(dumped --to "$mid") from=$(dumped --from "$mid")
	[ "$to" -gt 0 ] && [ "$from" -gt 0 ]
	check "choice: slices around an instruction" $?
	is "choice: by time" "$all $to $from" "$((to + from)) $(reported --to "$mid") $(reported --from "$mid")"
	is "choice: outside of the recording" 2 "$("$TARRY" report "$out/t.dat" flow --from 1000000 >/dev/null 2>&1; echo $?)"
}

# A program that is cut short while its symbols are read: the sentence names it, and nothing else.
cut_short() {
	cp "$PROGRAMS/flow_traps" "$out/prog"
	"$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$out/prog" sjwrc
	"$TARRY" dump "$out/t.dat" flow --insn 2>"$out/err" | {
		head -c 1000 >/dev/null
		: >"$out/prog"
		cat >/dev/null
	}
	is "a program's file that is cut short" "1 tarry: $out/prog was truncated while tarry read it, or cannot be read any more. Try again when nothing writes to it." \
		"${PIPESTATUS[0]} $(cat "$out/err")"
}

named() { # NAME...: counts of functions in the recording $out/t.dat, of files
	"$TARRY" report "$out/t.dat" flow --json --symfs "${symfs:-$out/none}" 2>"$out/err" | python3 -c '
import json, sys
f = {x["name"]: x for x in json.load(sys.stdin)["flow"]["functions"]}
print(*(n + ":" + str(f[n]["count"]) for n in sys.argv[1:] if n in f))' "$@"
}
# Code that no file has: a JIT compiler's dump with its times, and its map of names without any.
jitted() {
	local pid
	mkdir "$out/jit"
	pid=$("$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$PROGRAMS/flow_jit" "$out/jit")
	is "JIT: functions of a jitdump, one after the other at one place; of a map, which may be in doubt" \
		"first:3 second:7 listed:4 or?:4" "$(named first second listed 'either?' 'or?')"
	is "JIT: and its source lines" "3 first.js:10 3 first.js:11" \
		"$("$TARRY" dump "$out/t.dat" flow --insn 2>"$out/err" | grep -o 'first\.js:.*' | sort | uniq -c | xargs)"
	touch -d '1 hour ago' "/tmp/perf-$pid.map"
	is "JIT: a map of before, of another process" "first:3 second:7" "$(named first second listed)"
	grep -q "^tarry: /tmp/perf-$pid.map is not used: " "$out/err"
	check "JIT: and that is told" $?
	mv "$out/jit/jit-$pid.dump" "$out"
	is "JIT: a dump that is gone" "" "$(named first)"
	grep -q '^tarry: 1 of 1 jitdump file .* is missing' "$out/err"
	check "JIT: and that is told" $?
	mkdir "$out/tmp"
	mv "/tmp/perf-$pid.map" "$out/tmp"
	is "JIT: dump and map below --symfs" "first:3 listed:4" "$(symfs=$out named first listed)"
	# Of a machine of another name nothing of this one is taken for its own.
	if ! unshare -u hostname elsewhere 2>"$out/err"; then
		skip "the vdso is the recording's own" "no namespace for a name: $(head -n 1 "$out/err")"
		return
	fi
	unshare -u sh -c 'hostname elsewhere; exec "$@"' - "$TARRY" record -q --flow=step --flow-filter main \
		-o "$out/t.dat" "$PROGRAMS/flow_jit" "$out/jit" >"$out/pid" 2>"$out/err"
	is "a machine of another name: recorded" "0 " "$? $(cat "$out/err")"
	rm -f "/tmp/perf-$(cat "$out/pid").map"
	"$TARRY" dump "$out/t.dat" flow --insn | grep -q ' __vdso_clock_gettime+0x'
	check "the vdso is the recording's own" $?
}
# A program that is not where it was: another one with its path is reported, and not used; a debuginfod
# server that the user has named has it.
elsewhere() {
	local id
	cp "$PROGRAMS/flow_traps" "$out/prog"
	"$TARRY" record -q --flow=step --flow-filter calls -o "$out/t.dat" "$out/prog" c
	id=$(readelf -n "$out/prog" 2>/dev/null | sed -n 's/.*Build ID: //p')
	if [ -z "$id" ]; then
		skip "images by build id" "programs have none here, or there is no readelf"
		return
	fi
	cp "$PROGRAMS/let_go" "$out/prog"
	is "images: another program at the path is not used" "" "$(named middle)"
	grep -q "^tarry: $out/prog is not used: its build id is [0-9a-f]*, the recorded one is $id\$" "$out/err"
	check "images: and that is told" $?
	mkdir -p "$out/sys/lib" "$out/srv/buildid/$id"
	cp "$PROGRAMS/flow_traps" "$out/sys/lib/prog"
	is "images: below --symfs by its name" "middle:10" "$(symfs=$out/sys/lib named middle)"
	if ! ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
		skip "images: by debuginfod" "libdebuginfod is not installed"
		return
	fi
	cp "$PROGRAMS/flow_traps" "$out/srv/buildid/$id/executable"
	is "images: by debuginfod" "middle:10" "$(DEBUGINFOD_URLS=file://$out/srv DEBUGINFOD_CACHE_PATH=$out/cache named middle)"
}

# What was stripped of a program is found by build id, and by the name that the program tells; another
# program's is reported, and not used.
stripped() {
	local id
	cp "$PROGRAMS/flow_traps" "$out/prog"
	id=$(readelf -n "$out/prog" 2>/dev/null | sed -n 's/.*Build ID: //p')
	if [ -z "$id" ] || ! objcopy --only-keep-debug "$out/prog" "$out/prog.debug" 2>"$out/err"; then
		skip "names of a stripped program" "programs have no build id here, or there is no objcopy"
		return
	fi
	strip "$out/prog"
	objcopy --add-gnu-debuglink="$out/prog.debug" "$out/prog"
	"$TARRY" record -q --flow=step --flow-filter calls -o "$out/t.dat" "$out/prog" c
	is "stripped: a filter's function and names, by the link" "middle:10" "$(named middle)"
	"$TARRY" dump "$out/t.dat" flow --insn | grep -q 'leaf+0x0.*flow_traps\.c:'
	check "stripped: source lines" $?
	mkdir -p "$out/dbg/usr/lib/debug/.build-id/${id:0:2}"
	mv "$out/prog.debug" "$out/dbg/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
	is "stripped: without that file there are no names" "" "$(named middle)"
	is "stripped: names by build id" "middle:10" "$(symfs=$out/dbg named middle)"
	if ldconfig -p 2>/dev/null | grep -q libdebuginfod.so.1; then
		mkdir -p "$out/srv/buildid/$id"
		cp "$out/dbg/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" "$out/srv/buildid/$id/debuginfo"
		is "stripped: names by debuginfod" "middle:10" \
			"$(DEBUGINFOD_URLS=file://$out/srv DEBUGINFOD_CACHE_PATH=$out/cache.names named middle)"
	else
		skip "stripped: names by debuginfod" "libdebuginfod is not installed"
	fi
	cp "$PROGRAMS/let_go" "$out/prog.debug"
	is "stripped: another program's are not used" "" "$(named middle)"
	grep -q "^tarry: $out/prog.debug is not used: its build id is [0-9a-f]*, the recorded one is $id\$" "$out/err"
	check "stripped: and that is told" $?
	objcopy -R .note.gnu.build-id "$out/prog.debug"
	named middle >"$out/n"
	grep -q "^tarry: $out/prog.debug is not used: its checksum differs" "$out/err"
	check "stripped: by its checksum, too" $?
}

# Parts of five million instructions and more (make soak), in the place of all else.
soak() { # PART
	case $1 in
	awk) step "soak: awk" 0 awk 'BEGIN { for (i = 0; i < 1500; i++) { s = s i % 7; n += length(s) } print n }' ;;
	bash) step "soak: bash, its children and pipes" 0 bash -c 'for i in 1 2 3; do echo $i | cat; done; x=$(ls /); wait' ;;
	traps)
		LC_ALL=C step "soak: ls" 0 ls -lR /etc/init.d
		step "soak: sort" 0 sort -n /etc/passwd /etc/group
		step "soak: threads that change stacks" 0 "$PROGRAMS/call_traps" Tslcepot
		step "soak: vfork and exec" 0 "$PROGRAMS/call_traps" slceoptv
		step "soak: threads, signals, longjmp, written code" 0 "$PROGRAMS/flow_traps"
		;;
	exceptions)
		"${CXX:-c++}" -O2 -g -o "$out/throws" tests/programs/call_throws.cc
		check "call_throws.cc is compiled" $?
		step "soak: C++ exceptions, all of it" 0 "$out/throws"
		;;
	esac
}

# Whatever its threads are doing when the stepping ends, a command continues as if nothing had happened.
let_go() {
	local d pid got=
	# A function that is left after a popf, a signal and a fork.
	"$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$PROGRAMS/let_go" child 2>"$out/err"
	is "step: popf, a signal and a fork in the function, and the command goes on" 0 $?
	sed 's/^/# /' "$out/err"
	for d in 20 60 150 300 500 900; do
		"$TARRY" record -q --flow=step -d ${d}ms -o "$out/t.dat" "$PROGRAMS/let_go" >"$out/o" 2>"$out/err"
		got="$got$? $(tail -n 1 "$out/o") "
		sed 's/^/# /' "$out/err"
	done
	is "step: a command that is let go of goes on" "0 on 0 on 0 on 0 on 0 on 0 on " "$got"
	# The recorder killed while it steps.
	: >"$out/o"
	"$TARRY" record -q --flow=step --flow-filter main -o "$out/t.dat" "$PROGRAMS/let_go" >"$out/o" 2>/dev/null &
	pid=$!
	until [ -s "$out/o" ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	kill -KILL $pid
	wait $pid 2>/dev/null
	while grep -qs '^State:[[:space:]]*[^ZX]' "/proc/$(head -n 1 "$out/o")/status"; do sleep 0.05; done
	is "step: a command whose recorder is killed goes on" on "$(tail -n 1 "$out/o")"
}

# A record that is too short for its kind is not passed over in silence.
malformed() {
	python3 - "$out" <<'END'
import struct, sys
open(sys.argv[1] + "/pt", "wb").write(b"\x02\x82" * 8 + b"\x02\x23")
mmap = struct.pack("<IHHII3Q", 1, 2, 48, 7, 7, 0x400000, 0x1000, 0) + b"//anon\0\0"
open(sys.argv[1] + "/side", "wb").write(mmap + struct.pack("<IHHQ", 1, 2, 16, 0))
END
	"$TARRY" dump flow --pt-raw "$out/pt" --pt-sideband "$out/side",sample=0 2>"$out/err"
	is "a malformed record of the sideband is told" "tarry: 1 malformed perf record is" \
		"$(grep -o '^tarry: 1 malformed perf record is' "$out/err")"
}

if [ "$(uname -m)" != x86_64 ] || [ "$(id -u)" -ne 0 ]; then
	skip "software branch tracer" "needs root and an x86-64 machine"
elif ! strace -o /dev/null true 2>"$out/err" || ! "$TARRY" record -q -o "$out/t.dat" -- true 2>"$out/err"; then
	skip "software branch tracer" "nothing can be traced here: $(head -n 1 "$out/err")"
elif "$TARRY" dump flow --pt-raw /dev/null 2>&1 | grep -q 'regular file'; then
	if [ -n "${FLOW_SOAK:-}" ]; then
		soak "$FLOW_SOAK"
		echo "1..$n"
		exit $bad
	fi
	stepper
fi
if ! "$TARRY" dump flow --pt-raw /dev/null 2>&1 | grep -q 'regular file'; then
	skip "real captures" "this tarry was built without Intel PT decoding"
else
	malformed
	if [ -d $pt ]; then
		captures
	else
		skip "real captures of Intel PT" "../shared/pt is not on this machine"
	fi
fi
echo "1..$n"
exit $bad
