# What the host of a virtual machine took from its CPUs (proc_stat(5), "steal"). The kernel's own account of
# a thread leaves it out (CONFIG_PARAVIRT_TIME_ACCOUNTING), times between switches hold it.
# steal_ns: since boot, in ns. steal_since BEFORE: since that answer, one tick more for what is not a tick yet.
steal_ns() { # (By the shell's numbers: those of mawk's %d end at 2^31.)
	local stat
	read -ra stat </proc/stat
	echo $((${stat[8]:-0} * (1000000000 / $(getconf CLK_TCK))))
}
steal_since() {
	local took=$(($(steal_ns) - $1))
	[ $took -le 0 ] && echo 0 || echo $((took + 1000000000 / $(getconf CLK_TCK)))
}
