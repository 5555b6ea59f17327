#!/usr/bin/env bash
# Text that others chose - names of threads, files, functions, options, log lines - never reaches the
# terminal as controls, as bytes that are no UTF-8, as bidirectional controls, or as lines of its own.
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
evil=$'\033[31m\nFORGED\u202e\xff\u009b'
cat >"$t/judge.py" <<'PY'
import json, sys
what, kind = sys.argv[1], sys.argv[2]
data = open(what, "rb").read()
try:
    text = data.decode("utf-8")
except UnicodeDecodeError as e:
    sys.exit("invalid UTF-8: %r" % data[max(0, e.start - 60):e.end + 30])
bidi = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
for n, c in enumerate(text):
    if c in bidi or (c < " " and c not in "\n\t") or "\x7f" <= c < "\xa0":
        sys.exit("%r in %r" % (c, text[max(0, n - 60):n + 30]))
for line in text.split("\n"):
    if line.startswith("FORGED") or line.startswith("FORG"):
        sys.exit("a line of its own: %r" % line)
if kind == "json":
    for line in text.splitlines():
        json.loads(line)
if not text.strip():
    sys.exit("nothing was printed")
if kind == "named" and "FORG" not in text:
    sys.exit("the name is not there: %s" % text[:300])
PY
clean() { # KIND CMD...: text, json, or named (the hostile name must be in it)
	local kind=$1 said name
	shift
	"$@" >"$t/out" 2>"$t/err"
	name=${*//"$t"/T}; name=$(LC_ALL=C printf %q "${name//"$TARRY"/tarry}")
	said=$(cat "$t/out" "$t/err" >"$t/both"; [ "$kind" != json ] || { cp "$t/out" "$t/both"; python3 "$t/judge.py" "$t/err" text 2>&1 | grep -v 'nothing was printed'; }; python3 "$t/judge.py" "$t/both" "$kind" 2>&1)
	check "$kind: $name" $([ -z "$said" ]; echo $?) "$said"
}

mkdir "$t/d$evil"
program="$t/d$evil/p$evil"
python3 - "$PROGRAMS/hostile" "$program" <<'PY'
import os, sys
b = open(sys.argv[1], "rb").read()
old = b"EVIL_NAME_FUNCTION"
new = b"f\033[31m\nFORGED\xe2\x80\xae\xff"
assert old in b and len(new) <= len(old), len(new)
open(os.fsencode(sys.argv[2]), "wb").write(b.replace(old, new + b"g" * (len(old) - len(new))))
PY
chmod +x "$program"
f="$t/x$evil.dat"
"$TARRY" record -q -o "$f" -- "$program" "$t/d$evil" 2>"$t/err"; r=$?
[ $r = 0 ]; check "a hostile program is recorded" $? "status $r: $(cat -v "$t/err")"
clean named "$TARRY" record -o "$t/y$evil.dat" -- "$program" "$t/d$evil"
for s in "" stalls ledger threads outliers; do
	clean named "$TARRY" report "$f" $s
done
# The ten longest waits can all be of other processes.
clean text "$TARRY" report "$f" longest
clean named "$TARRY" report "$f" --all
clean json "$TARRY" report "$f" --all --json
# In the middle of the first stall, whenever the machine let it begin.
read -r tid at < <("$TARRY" report "$f" stalls --json 2>/dev/null | python3 -c 'import json, sys
r = json.load(sys.stdin)
s = r["stalls"][0]
print(s["tid"], "%.9f" % ((s["start_ns"] - r["summary"]["start_ns"] + s["duration_ns"] / 2) / 1e9))')
clean named "$TARRY" report "$f" chain --at "$at" --tid "$tid"
clean json "$TARRY" report "$f" chain --at "$at" --tid "$tid" --json
clean json "$TARRY" report "$f" ledger --json
clean json "$TARRY" report "$f" outliers --json
clean text "$TARRY" report "$f" diff --from 0 --to "$at"
clean json "$TARRY" report "$f" diff --from 0 --to "$at" --json
clean text "$TARRY" dump "$f" syscalls
clean json "$TARRY" dump "$f" syscalls --json
clean named "$TARRY" dump "$f" events
clean json "$TARRY" dump "$f" events --json
printf '2026-11-22T09:00:00 M %s\n\nother line %s\n' "$evil" "$evil" >"$t/log$evil"
clean named "$TARRY" report "$f" --log "$t/log$evil"
clean named "$TARRY" export "$f" --to perf -o "$t/z$evil"
clean named "$TARRY" export "$f" --to perf -o "$t/z$evil"
"$TARRY" export "$f" --to dat -o "$t/w$evil"
clean named "$TARRY" export "$f" --to dat -o "$t/w$evil"
clean text "$TARRY" view "$f" --print
clean text "$TARRY" view "$f" --print --at 0.1
clean text "$TARRY" doctor

if [ "$(uname -m)" = x86_64 ]; then
	"$TARRY" record -q --flow=step --flow-filter "main@$PROGRAMS/hostile" -o "$t/s$evil.dat" -- "$program" "$t/d$evil" 2>"$t/err"
	"$TARRY" record -q --flow=step -o "$t/s$evil.dat" -- "$program" "$t/d$evil" 2>"$t/err"; r=$?
	[ $r = 0 ]; check "a hostile program is single-stepped" $? "status $r: $(cat -v "$t/err")"
	clean named "$TARRY" dump "$t/s$evil.dat" flow
	clean json "$TARRY" dump "$t/s$evil.dat" flow --json
	clean named "$TARRY" report "$t/s$evil.dat" flow
	clean json "$TARRY" report "$t/s$evil.dat" flow --json
	clean named "$TARRY" report "$t/s$evil.dat" flow --slowest "f$evil"
	clean text "$TARRY" report "$t/s$evil.dat" flow --slowest main
	clean text "$TARRY" view "$t/s$evil.dat" flow --print
fi

# what is typed, or is a file's name
printf 'unknown format %s' "$evil" >"$t/bad$evil"
for cmd in report dump "view --print" "export --to dat -o $t/q"; do
	clean named "$TARRY" $cmd "$t/bad$evil"
	clean named "$TARRY" $cmd "$t/none$evil"
	clean named "$TARRY" $cmd "--opt$evil"
	clean named "$TARRY" $cmd "$f" --from "$evil"
	clean text "$TARRY" $cmd "$f" --tid "$evil"
done
clean text "$TARRY" report "$f" --cpu "$evil"
clean text "$TARRY" report "$f" --memory "$evil"
clean named "$TARRY" "cmd$evil"
clean named "$TARRY" report "$f" "section$evil"
clean named "$TARRY" dump "$f" "what$evil"
clean named "$TARRY" report "$f" --comm "none$evil"
clean named "$TARRY" export "$f" --to "form$evil"
clean named "$TARRY" record -o "$t/no$evil/x" -- true
clean named "$TARRY" record -o "$t/q" -- "$t/none$evil"
clean named "$TARRY" record -o "$t/q" -- "none$evil"
clean named "$TARRY" record -o "$t/q" -e "$evil" -- true
clean named "$TARRY" record -o "$t/q" -p "$evil"
clean named "$TARRY" record -o "$t/q" --flow="$evil" -- true
clean named "$TARRY" record -o "$t/q" --flow=step --flow-filter "$evil" -- true
clean named "$TARRY" record -o "$t/q" --keep "$evil" -- true
clean named "$TARRY" report "$f" --log "$t/none$evil"
clean text "$TARRY" dump "$f" flow --kallsyms "$t/none$evil"
clean text "$TARRY" dump memory --raw "$t/bad$evil"
truncate -s -100 "$f"
clean named "$TARRY" report "$f"
echo "1..$n"
exit $bad
