#!/usr/bin/env bash
# A disk that fails: each call that writes or reads a file of tarry's fails, once and for good, the first,
# the second and so on. What is said, and the exit status, is true of the files that exist (io_errors.py).
# Lane: beside
set -u
[ "$(id -u)" = 0 ] || { echo "ok 1 - recording # SKIP not root"; exit 0; }
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
python3 "${0%/*}/io_errors.py" "$t" "$PROGRAMS/io_fault.so"
