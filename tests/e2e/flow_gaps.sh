#!/usr/bin/env bash
# What of a trace cannot be decoded: how much it is, where decoding resumes, and what would help. Streams of
# our own making; real ones (../shared/pt) where they are there.
# Lane: beside
set -u
unset DEBUGINFOD_URLS # nothing is asked of the network
pt=../shared/pt
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
. "$(dirname "$0")/tap.bash"
done_with() { echo "1..$n"; exit $bad; }
if "$TARRY" dump flow --pt-raw "$0" 2>&1 | grep -q 'built without Intel PT'; then
	skip "gaps" "this tarry was built without Intel PT decoding"
	done_with
fi
python3 - "$out" <<'END'
import sys
out = sys.argv[1]
# 400000 jmp rax; 400020 mov rdi,rsp; call 400040; 400040 nop; je 400044; nop; ret; 400060 nop; jmp rax
code = bytearray(128)
for at, b in ((0, "ffe090"), (0x20, "4889e7e818000000"), (0x40, "90740190c3"), (0x60, "90ffe0")):
    code[at:at + len(b) // 2] = bytes.fromhex(b)
open(out + "/code", "wb").write(code)
ip = lambda op, to: bytes([op | 3 << 5]) + to.to_bytes(6, "little")
tip, pge, fup = (lambda to, op=op: ip(op, to) for op in (0x0d, 0x11, 0x1d))
pgd, mode, cbr = b"\x01", b"\x99\x01", b"\x02\x03\x1e\x00"
tsc = lambda t: b"\x19" + t.to_bytes(7, "little")
psb = lambda t: b"\x02\x82" * 8 + tsc(t) + b"\x02\x23"
begin = lambda t, to: tsc(t) + mode + pge(to)
A = 0x400020
head = psb(1000) + begin(1001, 0x400000)
tail = b"\x06" + tip(0x400060) + tip(0x400002)
# Two faults on a program's first instruction, of which the second has no FUP.
open(out + "/faults", "wb").write(
    head + tip(A) + fup(A) + pgd + cbr + begin(1100, A) + pgd + cbr + begin(1200, A) + tail)
# Packets that are not of this code, and where tracing begins again.
open(out + "/other", "wb").write(head + tip(A) + fup(0x400060) + pgd + begin(1300, 0x400060) + tip(0x400002))
# Into the kernel, whose code is not there.
open(out + "/kernel", "wb").write(head + tip(0xffff81000010) + b"\x06")
open(out + "/overflow", "wb").write(head + b"\x02\xf3" + fup(0x400060) + tip(0x400002))
END
flow() { # dump|report FILE [ARG...]
	"$TARRY" "$1" flow --pt-raw "$out/$2" --pt-time 0/1/0 --image "$out/code@0x400000:0:128" "${@:3}"
}
insns() { grep -c '"ip":"0x[0-9a-f]*"}$' "$1"; }

flow dump faults --insn --json >"$out/d" 2>"$out/err"
is "two faults, one without a FUP: every instruction, no gap, nothing to say" "8 0 " \
	"$(insns "$out/d") $(grep -c '"gap"' "$out/d") $(cat "$out/err")"
is "and the interruption that is inferred is marked" '"from":"0x400020","to":"0x0","inferred":true' \
	"$(flow dump faults --branches --json | grep -o '"from":"0x400020","to":"0x0".*true')"
is "also as text" 1 "$(flow dump faults | grep -c '=> *0 0 (inferred from where tracing resumed)$')"
is "report flow: everything was decoded, said first" "all $(wc -c <"$out/faults") B of packets decoded" \
	"$(flow report faults | head -n 1)"

flow dump other --insn --json >"$out/d" 2>"$out/err"
is "a gap: its bytes, and when and where decoding goes on" '25 1300 "0x400060"' \
	"$(sed -n 's/.*"gap".*"bytes":\([0-9]*\),.*"until_ns":\([0-9]*\),"goes_on_at":\("[^"]*"\).*/\1 \2 \3/p' "$out/d")"
is "and on it goes" "0x400060" "$(sed -n 's/.*"ip":"\([^"]*\)"}$/\1/p' "$out/d" | tail -n 2 | head -n 1)"
is "a gap as text" "25 B not decoded, 299 ns, resumes at 0x400060" \
	"$(flow dump other 2>/dev/null | sed -n 's/.*GAP: .*; \(.*\))$/\1/p')"
is "without a CPU a gap may be an erratum's" 1 "$(grep -c 'give it with --cpu-model' "$out/err")"
for cpu in --cpu-model --cpu; do
	is "with $cpu F/M/S it is not" "1 0" "$(flow dump other $cpu 6/85/4 2>"$out/err" | grep -c GAP) $(grep -c errat "$out/err")"
done
of_cpu() { flow dump other,cpu=1 --cpu "$1" 2>/dev/null | grep -c GAP; }
is "--cpu still chooses CPUs" "1 0" "$(of_cpu 1) $(of_cpu 3)"
flow dump other --cpu-model 6/85 2>"$out/err"
is "a model that is none is a usage error" "2 1" "$? $(grep -c 'cpu-model.*FAMILY/MODEL/STEPPING' "$out/err")"
is "report flow: the share, first" "not decoded: 30.5% of 82 B of packets (25 B); first gap at 0.000000001 s" \
	"$(flow report other 2>/dev/null | head -n 1)"
is "report flow: as JSON with little memory" "$(flow report other --json 2>/dev/null)" \
	"$(flow report other --json --memory 16M 2>/dev/null)"
is "report and dump flow: help tells --memory" "1 1" \
	"$("$TARRY" report flow --help | grep -c -- ' --memory SIZE') $("$TARRY" dump flow --help | grep -c -- ' --memory SIZE')"
is "report flow: as JSON" "82 25 0" "$(flow report other --json 2>/dev/null |
	sed -n 's/.*"overflows":\([0-9]*\),"bytes":\([0-9]*\),"bytes_not_decoded":\([0-9]*\),.*/\2 \3 \1/p')"
is "an overflow has no size, and goes on at its FUP" "of unknown size, resumes at 0x400060" \
	"$(flow dump overflow 2>/dev/null | sed -n 's/.*GAP: .*; \(.*\))$/\1/p')"
is "report flow: an overflow" 1 "$(flow report overflow 2>/dev/null | head -n 1 | grep -c 'of unknown size: 1 overflow')"

# The program that a perf record says was mapped: not there; something else of that name; given by hand.
mkdir "$out/root"
python3 - "$out" <<'END'
import struct, sys
name = b"/nowhere/prog\0\0\0"
rec = lambda t, misc, body: struct.pack("<IHH", t, misc, 8 + len(body)) + body
open(sys.argv[1] + "/side", "wb").write(
    rec(3, 2, struct.pack("<II", 7, 7) + b"prog\0\0\0\0") +
    rec(1, 2, struct.pack("<II3Q", 7, 7, 0x400000, 0x1000, 0) + name) +
    rec(1, 1, struct.pack("<iI3Q", -1, 0, 0xffffffff81000000, 0x1000, 0) + b"[kernel.kallsyms]_text\0\0"))
END
mapped() { "$TARRY" dump flow --pt-raw "$out/faults,tid=7" --pt-sideband "$out/side,sample=0" --symfs "$out/root" --insn --json "$@"; }
mapped >"$out/d" 2>"$out/err"
is "a program that is not there is named, and what would help" 1 \
	"$(grep -c '^tarry: /nowhere/prog is not available (.*--symfs.*--image' "$out/err")"
"$TARRY" dump flow --pt-raw "$out/kernel,tid=7" --pt-sideband "$out/side,sample=0" --image "$out/code@0x400000:0:128" >"$out/d" 2>"$out/err"
is "of a kernel that is not there, the option that would help" 1 \
	"$(grep -c '^tarry: \[kernel.kallsyms\].* is not available (.*--kcore FILE$' "$out/err")"
printf 'version https://example.invalid/spec/v1\noid sha256:0\n' >"$out/root/prog"
mapped >"$out/d" 2>"$out/err"
is "a file that is not an ELF file is named, too" 1 "$(grep -c '^tarry: /nowhere/prog is not an ELF file' "$out/err")"
mapped --image "$out/code@0x400000:0:128" >"$out/d" 2>"$out/err"
is "and --image comes before it" "8 " "$(insns "$out/d") $(cat "$out/err")"

flow dump kernel >"$out/d" 2>"$out/err"
is "and where nothing says what was mapped" 1 "$(grep -c '^tarry: unknown what was mapped at 0xffff.*give it with --kcore FILE$' "$out/err")"

# A library by its name, as the command would load it.
if [ "$(id -u)" -eq 0 ] && command -v cc >/dev/null; then
	mkdir "$out/lib"
	echo 'int twice(int n) { return n + n; }' >"$out/twice.c"
	echo 'int twice(int); int main(void) { return twice(21) != 42; }' >"$out/main.c"
	cc -shared -fPIC -Wl,-soname,libtwice.so.3 -o "$out/lib/libtwice.so.3" "$out/twice.c" &&
		cc -o "$out/prog" "$out/main.c" "$out/lib/libtwice.so.3" -Wl,-rpath,'$ORIGIN/lib'
	if "$TARRY" record -q --flow=step --flow-filter twice@libtwice.so.3 -o "$out/t.dat" "$out/prog" 2>"$out/err"; then
		is "--flow-filter finds a library by its soname" 1 "$("$TARRY" report "$out/t.dat" flow | grep -c ' twice (')"
	else
		skip "--flow-filter finds a library by its soname" "nothing can be traced here: $(head -n 1 "$out/err")"
	fi
	"$TARRY" record -q --flow=step --flow-filter twice@libnone.so -o "$out/t.dat" "$out/prog" 2>"$out/err"
	is "a library that is none is an error" "1 1" "$? $(grep -c "does not load a library 'libnone.so'" "$out/err")"
fi

if [ ! -d $pt ]; then
	skip "real captures without their CPU" "../shared/pt is not on this machine"
	done_with
fi
# BDM70: a PSB+ has an address before tracing begins.
"$TARRY" dump flow --pt-raw $pt/single/3842849.trace --image $pt/single/a.out@0x400000 --insn --json >"$out/d" 2>"$out/err"
is "a real capture without its CPU: no instruction is lost, and the CPU is asked for" "21 1" \
	"$(insns "$out/d") $(grep -c 'give it with --cpu-model' "$out/err")"
done_with
