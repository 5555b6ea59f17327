#!/usr/bin/env bash
# Subjects of commits are checked, those of a branch only, and only once they are not elsewhere.
# Lane: beside
set -u
. "$(dirname "$0")/tap.bash"
command -v git >/dev/null || { skip "subjects of commits" "no git"; echo "1..$n"; exit 0; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
lint=$PWD/scripts/lint-subjects
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
commit() { git -C "$1" commit -q --allow-empty -m "$2"; } # REPOSITORY SUBJECT
good() { # SUBJECT
	git -C "$T/r" reset -q --hard main
	commit "$T/r" "$1"
	passes "good: $1" bad_lines 0
}
bad() { # WHAT IT SAYS, SUBJECT
	git -C "$T/r" reset -q --hard main
	commit "$T/r" "$2"
	passes "bad: $2" bad_lines 1 "$1"
}
bad_lines() { # STATUS [WHAT IT SAYS]
	(cd "$T/r" && "$lint") >"$T/out" 2>&1
	[ $? -eq "$1" ] && grep -qF -- "${2-}" <(cat "$T/out"; echo)
}
git init -q -b main "$T/r"
commit "$T/r" "What was before the rule was written stays as it is"
passes "main's own commits are not looked at" bad_lines 0
git -C "$T/r" checkout -q -b topic
good "decoder: describe every call in one table"
good "tests, docs: pass what is needed"
good "base/json_out: feed the writer"
bad "more than 72" "decoder: describe every system call in one table that is looked up by its number"
bad '"area: what"' "Describe every call"
bad '"area: what"' "decoder: Describe every call"
bad imperative "decoder: described every call"
bad imperative "decoder: describes every call"
bad imperative "decoder: describing every call"
commit "$T/r" "decoder: describe it"
passes "a bad one among good ones is found" bad_lines 1 "describing"
git clone -q "$T/r" "$T/clone" 2>/dev/null
passes "a fresh clone has no commits of its own" eval '(cd "$T/clone" && "$lint")'
rm -rf "$T/r" && mkdir "$T/r"
passes "without a repository there is nothing to check" bad_lines 0
echo "1..$n"
exit $bad
