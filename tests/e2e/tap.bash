# Sourced by end-to-end tests: results in TAP. n: how many there were, for the plan at the end; bad: 1
# when one of them failed.
n=0 bad=0
ok() { # NAME; a status in its place would be taken for one
	[ $# -eq 1 ] || { not_ok "ok takes a name only, not '$*'"; return; }
	n=$((n + 1))
	echo "ok $n - $1"
}
not_ok() { # NAME [WHAT WAS SEEN]
	n=$((n + 1)) bad=1
	echo "not ok $n - $1"
	[ -z "${2-}" ] || printf '%s\n' "$2" | head -n 40 | sed 's/^/#   /'
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; } # NAME WHY
check() { # NAME STATUS [WHAT WAS SEEN]
	if [ "$2" -eq 0 ]; then ok "$1"; else not_ok "$1" "${3-}"; fi
}
passes() { if "${@:2}"; then ok "$1"; else not_ok "$1"; fi; } # NAME CMD...
is() { # NAME WANTED GOT
	[ "$2" = "$3" ]
	check "$1" $? "wanted: $2; got: $3"
}
# What a busy machine does to a program is unknown: the results of the first try in which all is good, or
# of the last. CMD finds in $k which one it is.
tries() { # HOW-MANY CMD...
	local k before=$n was=$bad out
	out=$(mktemp)
	for ((k = 1; ; k++)); do
		n=$before bad=$was
		"${@:2}" >"$out"
		[ "$k" -lt "$1" ] && grep -q '^not ok' "$out" || break
		sed -n 's/^not ok/# tried again: not ok/p' "$out"
	done
	cat "$out"
	rm -f "$out"
}
# Side by side with what follows: a function with a folder $out of its own, whose results `joined` prints.
aside() { # FUNCTION...
	mkdir "$out/aside"
	(
		out=$out/aside
		"$@" >"$out/results" 2>&1
		exit 0
	) &
	beside=$!
}
joined() {
	local line
	wait $beside || not_ok "what ran beside came to its end" "$(cat "$out/aside/results")"
	while IFS= read -r line; do
		case $line in
		'ok '*) n=$((n + 1)) line="ok $n ${line#ok * }" ;;
		'not ok '*) n=$((n + 1)) bad=1 line="not ok $n ${line#not ok * }" ;;
		esac
		printf '%s\n' "$line"
	done <"$out/aside/results"
	rm -rf "$out/aside"
}
judge() { # NAME [ARG...]; a python program on stdin decides
	local said
	said=$(python3 - "${@:2}" 2>&1)
	check "$1" $? "$said"
}
