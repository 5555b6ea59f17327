#!/usr/bin/env bash
# What root makes for a user who called sudo belongs to that user (SUDO_UID, SUDO_GID), mode 0600:
# recordings, unfinished ones, exports, index files.
# Lane: beside
set -u
. "$(dirname "$0")/await.bash"
. "$(dirname "$0")/tap.bash"
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
unset SUDO_UID SUDO_GID
export XDG_CACHE_HOME=$t/cache
chmod 755 "$t"
mkdir "$t/u"; chown 12345:23456 "$t/u"
as() { SUDO_UID=12345 SUDO_GID=23456 "$@"; } # as sudo starts it
owned() { # NAME FILE OWNER
	local got
	got=$(stat -c '%u:%g:%a' "$2" 2>&1)
	is "$1" "$3" "$got"
}

as "$TARRY" record -q -o "$t/u/x.dat" -- "$PROGRAMS/syscall_loop" 1 200000
owned "a recording" "$t/u/x.dat" 12345:23456:600
as "$TARRY" report "$t/u/x.dat" >"$t/out" 2>&1
owned "its index, beside it" "$t/u/.x.dat.tarry-index" 12345:23456:600
before=$(stat -c %i "$t/u/.x.dat.tarry-index")
as "$TARRY" report "$t/u/x.dat" >"$t/out" 2>&1
is "the index is used again" "$before" "$(stat -c %i "$t/u/.x.dat.tarry-index")"
as "$TARRY" record -q --keep 16M -o "$t/u/k.dat" -- true
owned "one that keeps its newest part" "$t/u/k.dat" 12345:23456:600
as "$TARRY" export "$t/u/x.dat" --to dat --from 0 --to 0.1 -o "$t/u/e.dat" 2>"$t/err" || as "$TARRY" export "$t/u/x.dat" --to dat -o "$t/u/e.dat" 2>"$t/err"
owned "a smaller recording" "$t/u/e.dat" 12345:23456:600
as "$TARRY" export "$t/u/x.dat" --to perf -o "$t/u/e.perf" 2>"$t/err"
owned "a perf.data file" "$t/u/e.perf" 12345:23456:600
SUDO_UID=12345 SUDO_GID=23456 "$TARRY" record -q -a -o "$t/u/killed.dat" & p=$! # not by a function, whose shell would be killed instead
await 60 test -s "$t/u/killed.dat"
kill -9 $p; wait $p 2>/dev/null
owned "what a killed recorder leaves" "$t/u/killed.dat" 12345:23456:600

# a folder of root's: no file of another user is left in root's cache
mkdir -m 755 "$t/r"
as "$TARRY" record -q -o "$t/r/x.dat" -- "$PROGRAMS/syscall_loop" 1 200000
owned "a recording in a folder of root's" "$t/r/x.dat" 12345:23456:600
as "$TARRY" report "$t/r/x.dat" >"$t/out" 2>&1
owned "its index there is root's" "$t/r/.x.dat.tarry-index" 0:0:600

# the cache of the user
mkdir "$t/home"; chown 12345:23456 "$t/home"
mkdir "$t/other"; chown 777:777 "$t/other"; cp "$t/u/x.dat" "$t/other/"
XDG_CACHE_HOME=$t/home/c as "$TARRY" report "$t/other/x.dat" >"$t/out" 2>&1
owned "a folder that is made in the user's cache" "$t/home/c" 12345:23456:700
owned "and the one below" "$t/home/c/tarry" 12345:23456:700
is "and the index in it" 12345:23456:600 "$(stat -c '%u:%g:%a' "$t"/home/c/tarry/*)"

for who in "SUDO_UID=12345" "SUDO_GID=23456" "SUDO_UID=x SUDO_GID=1" "SUDO_UID= SUDO_GID=1" "SUDO_UID=-1 SUDO_GID=1" \
	"SUDO_UID=1 SUDO_GID=4294967295" "SUDO_UID=4294967296 SUDO_GID=1" "SUDO_UID=0 SUDO_GID=7"; do
	env $who "$TARRY" record -q -o "$t/r/n.dat" -- true
	owned "$who: root's" "$t/r/n.dat" 0:0:600
done
if command -v setpriv >/dev/null; then
	chmod 644 "$t/u/x.dat"; mkdir "$t/v"; chown 4242:4242 "$t/v"
	as setpriv --reuid=4242 --regid=4242 --clear-groups "$TARRY" export "$t/u/x.dat" --to dat -o "$t/v/e.dat" 2>"$t/err"
	owned "without root SUDO_UID changes nothing" "$t/v/e.dat" 4242:4242:600
else
	skip "without root" "no setpriv here"
fi
echo "1..$n"
exit $bad
