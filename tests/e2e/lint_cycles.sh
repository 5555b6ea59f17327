#!/usr/bin/env bash
# Circles of files that include or call each other are found, in a tree of a few files.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
cycles=$PWD/scripts/dependency-cycles
mkdir -p "$T/base" "$T/tui" "$T/scripts"
file() { # PATH TEXT: a source is compiled, too
	printf '%b' "$2" >"$T/$1"
	[ "${1##*.}" = h ] || { mkdir -p "$T/build/obj/${1%/*}"; ${CC:-cc} -c -o "$T/build/obj/${1%.c}.o" "$T/$1"; }
}
finds() { # STATUS [WHAT IT SAYS]
	(cd "$T" && "$cycles") >"$T/out" 2>&1
	[ $? -eq "$1" ] && grep -qF -- "${2-}" <(cat "$T/out"; echo)
}
allow() { printf '%s\n' "$@" >"$T/scripts/dependency-cycles.allowed"; }
allow
file base/low.c 'int low(void) { return 1; }\n'
file base/mid.c 'int low(void);\nint mid(void) { return low(); }\n'
file tui/top.c 'int mid(void);\nint top(void) { return mid(); }\n'
passes "no cycle" finds 0
file base/low.c 'int top(void);\nint low(void) { return 0 * sizeof(top()); }\n'
passes "a declaration is no call" finds 0
file base/low.c 'int top(void);\nint low(void) { return top(); }\n'
passes "three files that call each other" finds 1 "cycle of 3 files: base/low.c base/mid.c tui/top.c"
passes "what is called is named" finds 1 "base/low.c -> tui/top.c: top"
allow "base/low.c base/mid.c: they are halves of one thing"
passes "a pair that may stay does not hide a larger cycle" finds 1 "cycle of 3 files"
file base/low.c 'int mid(void);\nint low(void) { return mid(); }\n'
passes "a pair that may stay" finds 0
allow "base/*.c: they are halves of one thing"
passes "a pattern" finds 0
allow "base/low.c base/mid.c:"
passes "its reason is missing" finds 1 "needs its reason"
allow "base/low.c base/mid.c: they are halves of one thing"
file base/low.c 'int low(void) { return 1; }\n'
passes "it is not a cycle any more" finds 1 "remove the line"
allow
file base/a.h '#ifndef A\n#define A\n#include "b.h"\n#endif\n'
file tui/b.h '#ifndef B\n#define B\n#include "a.h"\n#endif\n'
passes "headers that include each other" finds 1 "cycle of 2 files: base/a.h tui/b.h"
echo "1..$n"
exit $bad
