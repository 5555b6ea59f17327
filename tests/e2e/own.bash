# Sourced by end-to-end tests: what this test's recorders have in the kernel, whatever others record meanwhile.
# note_recorders DIR: each start of $TARRY is noted in DIR/started as PID-START, by which a recorder names
# its trace instances and probes.
note_recorders() {
	printf '#!/bin/sh\necho "$$-$(cut -d " " -f 22 /proc/$$/stat)" >>"%s/started"\nexec "%s" "$@"\n' "$1" "$TARRY" >"$1/noted"
	chmod 755 "$1/noted"
	: >"$1/started"
	TARRY=$1/noted
}
own_instances() { # DIR
	ls /sys/kernel/tracing/instances | grep -E "^tarry-($(paste -sd '|' "$1/started"))-"
}
own_probes() { # DIR
	grep -E ":tarry_($(tr - _ <"$1/started" | paste -sd '|'))/" /sys/kernel/tracing/uprobe_events
}
programs_of() { sed -n 's/^prog_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u; } # PID: BPF programs
still_loaded() { # PROGRAM...
	local i
	for i; do bpftool prog show id "$i" >/dev/null 2>&1 && echo "$i"; done
}
