#!/usr/bin/env bash
# Names of what memory samples access: variables and source lines of a program's own file, in every
# reader. The recordings are made by ../shared/spe/tools, the program by cc.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"

tools=$PWD/../shared/spe/tools
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! command -v cc >/dev/null || ! command -v python3 >/dev/null || ! command -v readelf >/dev/null; then
	skip "names of data and code" "cc, python3 or readelf is not installed"
	echo "1..$n"
	exit 0
elif [ ! -r "$tools/mkx86.py" ]; then
	skip "names of data and code" "../shared/spe is not there"
	echo "1..$n"
	exit 0
fi

# Labels without a type before each variable and in code, two of them Arm mapping symbols, and one that
# has a size; .data and .bss, which is so large that an address a page beside the right one lies in it, too.
cat >"$dir/prog.c" <<'C'
__asm__(".data\nlabel_in_data:\n.globl $d\n$d:\nsized_label:\n.quad 1, 2\n.size sized_label, 16\n.text\n");
long initialised[16] = {1};
long zeroed[4096];
__attribute__((noinline)) void touch(void)
{
	initialised[1]++;
	__asm__ volatile("$x:");
	zeroed[0x801]++;
}
int main(void)
{
	touch();
}
C
mkdir "$dir/root"
record() { # NAME CC-OPTIONS: $dir/NAME.data of $dir/root/NAME, with one mapping per segment
	cc -g -O1 -o "$dir/root/$1" "${@:2}" "$dir/prog.c" && objcopy --remove-section .debug_aranges "$dir/root/$1" &&
		python3 - "$tools" "$dir/root/$1" "/$1" "$dir/$1" <<'PY'
import subprocess, sys
sys.path.insert(0, sys.argv[1])
import mkx86
from mkx86 import ds, HIT, L1
exe, path, out = sys.argv[2:]
lines = lambda *c: [l.split() for l in subprocess.run(c, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
sym = {x[-1]: int(x[1], 16) for x in lines("readelf", "-sW", exe) if len(x) == 8 and x[0][:-1].isdigit()}
fixed = any(x[:2] == ["Type:", "EXEC"] for x in lines("readelf", "-hW", exe))
base = 0 if fixed else 0x555555554000
loads = [(int(x[1], 16), int(x[2], 16), int(x[4], 16), "".join(x[6:-1])) for x in lines("readelf", "-lW", exe) if x[:1] == ["LOAD"]]
def maps(which):
    rows = [("comm", 100, 101, "prog")]
    for off, addr, size, flags in loads:
        prot = 1 + 2 * ("W" in flags) + 4 * ("E" in flags)
        from_, to = addr & ~4095, (addr + size + 4095) & ~4095
        if which(prot):
            rows.append(("mmap", 100, 101, base + from_, to - from_, off & ~4095, path, 0, 0, 0, prot, 2))
    return rows
samples = [(100, 101, 1000 + i, 0, base + sym[ip], base + sym[v] + at, 40, ds("load", HIT | L1, num=1))
           for i, (ip, v, at) in enumerate((("touch", "initialised", 8), ("$x", "zeroed", 0x4008), ("touch", "sized_label", 8)))]
mkx86.write(out + ".data", samples, maps(lambda p: True))
mkx86.write(out + ".code.data", samples, maps(lambda p: p & 4))
mkx86.write(out + ".data-only.data", samples, maps(lambda p: p & 2))
mkx86.write(out + ".kernel.data", [(100, 101, 1000, 0, 0xffffffff81000010, 0xffffffff81000018, 40, ds("load", HIT | L1, num=1))], maps(lambda p: True))
PY
}
named() { # FILE
	"$TARRY" dump "$dir/$1" memory --symfs "$dir/root" >"$dir/out.txt" &&
		grep -q "initialised+0x8" "$dir/out.txt" && grep -q "zeroed+0x4008" "$dir/out.txt"
}
no_marks() {
	"$TARRY" dump "$dir/$1" memory --symfs "$dir/root" >"$dir/out.txt" &&
		[ "$(grep -c "touch+0x" "$dir/out.txt")" = 3 ] && ! grep -qE '\$[xd]|label' "$dir/out.txt"
}
with_lines() {
	"$TARRY" dump "$dir/$1" memory --symfs "$dir/root" --json >"$dir/out.txt" &&
		grep -q '"symbol":"touch","symbol_offset":0,"object":"/[a-z]*","file":"[^"]*prog.c","source_line":[56],"variable":"initialised","variable_offset":8}' "$dir/out.txt"
}
for p in pie fixed; do
	[ $p = pie ] && how=(-pie -fPIE) || how=(-no-pie -fno-pie)
	passes "a $p program is recorded" record $p "${how[@]}"
	passes "variables of a $p program" named $p.data
	passes "labels without a type name nothing of a $p program" no_marks $p.data
	passes "variables of a $p program whose data are not mapped" named $p.code.data
	passes "source lines without .debug_aranges ($p)" with_lines $p.data
done
# The first page of its data belongs to two segments: .bss cannot be identified from that mapping alone.
half_named() {
	"$TARRY" dump "$dir/pie.data-only.data" memory --symfs "$dir/root" >"$dir/out.txt" &&
		grep -q "initialised+0x8" "$dir/out.txt" && ! grep -q "zeroed+0x[^4]" "$dir/out.txt" &&
		! grep -q "zeroed+0x4[^0]" "$dir/out.txt"
}
passes "a page of two segments names nothing wrong" half_named
passes "a fixed program's own addresses, where only data are mapped" named fixed.data-only.data

view_names() {
	"$TARRY" view "$dir/pie.data" --symfs "$dir/root" --print --size 120x30 >"$dir/out.txt" 2>&1 && grep -q 'touch+0x0' "$dir/out.txt"
}
passes "view --symfs" view_names
kernel_names() {
	printf '%s\n' 'ffffffff81000000 T in_the_kernel' 'ffffffff81001000 T behind' >"$dir/kallsyms"
	"$TARRY" report "$dir/pie.kernel.data" memory --no-index --kallsyms "$dir/kallsyms" >"$dir/out.txt" 2>&1 &&
		grep -q 'in_the_kernel+0x10' "$dir/out.txt" &&
		"$TARRY" view "$dir/pie.kernel.data" --kallsyms "$dir/kallsyms" --print --size 120x30 >"$dir/out.txt" 2>&1 &&
		grep -q 'in_the_kernel+0x10' "$dir/out.txt"
}
passes "--kallsyms of report and view" kernel_names
bad_kallsyms() {
	echo nothing >"$dir/none"
	! "$TARRY" report "$dir/pie.data" memory --no-index --kallsyms "$dir/none" >"$dir/out.txt" 2>&1 &&
		grep -q 'has no functions' "$dir/out.txt"
}
passes "a list without functions is told so" bad_kallsyms
damaged() {
	mkdir -p "$dir/bad" && head -c 4000 /dev/zero >"$dir/bad/pie" &&
		"$TARRY" report "$dir/pie.data" memory sharing --no-index --symfs "$dir/bad" >"$dir/out.txt" 2>"$dir/err.txt" &&
		[ "$(grep -c '/pie is not an ELF file or is damaged.*--symfs DIR' "$dir/err.txt")" = 1 ]
}
passes "a damaged file is named once" damaged
echo "1..$n"
