/* SPDX-License-Identifier: MIT */
/*
 * tarry's own sections: what trace.dat has no place for. Most are text, one item per line, so that
 * the reader of one is a line splitter and a person can read it with `strings`; unknown keys and
 * types are skipped by readers, so new ones may be added. Layout on disk: tarry.dat(5).
 */
#ifndef TY_SECTION_H
#define TY_SECTION_H

enum ty_section {
	/*
	 * key=value lines. Keys: tarry (version), host, kernel, arch, cpus (online at start, list
	 * form), possible_cpus, cpu_model, mem_bytes, page_size, mode (command|pids|all), command
	 * (shell-quoted), command_tid, pid (repeated), recorder_tid, cwd, start_realtime_ns, event
	 * (repeated: SYSTEM:EVENT enabled), skipped (repeated: SYSTEM:EVENT, reason after a space),
	 * no_idle_switch (repeated: CPU that does not deliver switch-from-idle events), tick_ns
	 * (the timer tick's period), nohz_full (list of CPUs that need no tick while they run one
	 * thread), pid_namespace (other: recorded inside a pid namespace, no names or tids of /proc
	 * are stored), follow_children (no: this kernel cannot follow children),
	 * idle_switch_untested (repeated: CPU that was too busy to tell), idle_switch_seen
	 * (repeated: told later that it does; lines at the end add to those of the start),
	 * buffer_bytes, strings (names of the tracepoints of system calls, separated by commas, of
	 * which strings are recorded; empty: none) and strings_why (why none are),
	 * stacks_ns (user stacks of waits from that length on are recorded; 0: none) and
	 * stacks_why (why none are); of a file cut
	 * out of another one: cut_to_ns (trace clock), clock (a trace time, a blank, and the clock
	 * marker that the original has there: the last one before the window); where something was
	 * cut off before it cut_from_ns; of it, and of chosen processes, traced as in TY_SEC_KEPT
	 * (at the begin); of a cut of perf.data own_only and switches_only (struct ty_trace).
	 */
	TY_SEC_MACHINE = 1,
	/*
	 * Threads alive when recording (of a cut: its window) began. First line: "taken FROM_NS
	 * TO_NS" (trace clock). Then one line per thread, TAB-separated: tid tgid ppid
	 * start_boot_ns state policy prio cpu syscall wchan affinity cgroup comm. state: the letter
	 * of /proc/TID/stat, and of a cut w: it waits for a CPU; syscall: number and, of newer
	 * recordings, its six arguments in hex, separated by blanks; "running" or "-"; missing
	 * values "-"; TAB, newline and backslash in cgroup and comm as \t \n \\.
	 */
	TY_SEC_THREADS = 2,
	/*
	 * key=value lines, written at the end: end_ns (trace clock), duration_ns, end_realtime_ns,
	 * recorded_ns (of all that was ever recorded; with TY_SEC_KEPT more than duration_ns; the
	 * next but events and lost are of it), events, lost, raw_bytes, cpu_user_ns, cpu_sys_ns
	 * (recorder's own), command_status (as
	 * waitpid gives), stat (repeated: "BUFFER CPU entries overrun commit_overrun dropped
	 * read"), stop (why it ended).
	 */
	TY_SEC_SELF = 3,
	/* Chunk directory of the finished file, one line per chunk: "BUFFER CPU FIRST_NS LAST_NS
	   CRC32". */
	TY_SEC_CHUNKS = 4,
	/*
	 * Descriptors that were open when recording of chosen processes (-p) or of everybody (-a)
	 * began, or that a traced command inherits. First line: "taken FROM_NS TO_NS" (trace
	 * clock). Then one line per descriptor, TAB-separated: pid fd flags target. flags:
	 * "cloexec" or "-"; target: the link of /proc/PID/fd, of sockets that /proc/PID/net knows
	 * "TCP:[OWN->PEER]", "TCP:[OWN listening]", "UDP:[..]", "UNIX:[PATH]"; TAB, newline and
	 * backslash in it as above. The fd "cwd" is the working directory (older recordings have
	 * none). Last, where there were too many: a line "PID left_out" for each process whose list
	 * is not whole, and "left_out N", how many these are (of older recordings: descriptors, and
	 * no such lines).
	 */
	TY_SEC_FDS = 5,
	/*
	 * Cgroups with a CPU quota, and when they were held back, as sampled about ten times a
	 * second. One line per group when it is first seen, when its quota, its threads or its
	 * count changed (of a quota that is gone: 0), TAB-separated: FROM_NS TO_NS (trace
	 * clock) throttled_ns (of all CPUs together, counted when its threads ran again; "-": not
	 * known, the group is gone) quota_us period_us path tids (each with a blank before it,
	 * those of groups below included, 4096 at most; "=": as in the path's line before); TAB,
	 * newline and backslash in the path as above. 64 MB at most; last, where that was not
	 * enough: "left_out N".
	 */
	TY_SEC_QUOTA = 6,
	/*
	 * key=value lines, of a recording that kept its newest part only (record --keep): from_ns
	 * (trace clock: all events from then on are there; some older ones may be, and do not
	 * count), began_ns (trace clock: when recording began),
	 * dropped (two offsets in the spool) and first (repeated: type, stream and number of the
	 * first chunk that counts), which mean nothing in a finished file; of recordings of a
	 * command or of processes also traced (repeated, in order: two tids, all threads from the
	 * one to the other were traced at from_ns). None: nothing was dropped.
	 */
	TY_SEC_KEPT = 7,
	/*
	 * Binary. Executed instructions or memory samples: a perf.data file in pipe form, with
	 * intel_pt or arm_spe AUXTRACE records and the records that belong to them. Machine fact
	 * flow=step: written by the software branch tracer, time stamps are ns of the trace clock.
	 */
	TY_SEC_PERF = 8,
	/* Binary. Images of code: u64 time in ns, u64 address, u32 process, u32 n, n bytes that
	   were there from then on. */
	TY_SEC_CODE = 9,
	/* Binary. Of recordings with executed instructions or stacks: the vdso of the machine's
	   64-bit processes, an ELF file. */
	TY_SEC_VDSO = 10,
	/* Binary. Of recordings of kernel code (record --flow-kernel): the code as it was at the
	   start, an ELF core whose segments are in order of their addresses. */
	TY_SEC_KERNEL = 11,
	/* With it, as /proc/kallsyms: the lines that name code. */
	TY_SEC_KALLSYMS = 12,
	/*
	 * What the hypervisor took of a CPU, by the kernel's count (/proc/stat, steal), as sampled
	 * about ten times a second. One line per CPU and sample in which its count grew,
	 * TAB-separated: FROM_NS TO_NS (trace clock) cpu ns (counted in steps of USER_HZ). 16 MB at
	 * most.
	 */
	TY_SEC_STEAL = 13,
	/* Binary. What lay behind the pointers of system calls: records of evidence_record.h, in
	   pieces of whole records, in no order of time. 512 MB at most. Machine fact strings: of
	   which calls. */
	TY_SEC_EVIDENCE = 14,
	/* Binary. User stacks of long waits: records of stack_record.h, in pieces of whole records,
	   in no order of time. 512 MB at most. Machine fact stacks_ns: from which length on; 0:
	   none, stacks_why says why. */
	TY_SEC_STACKS = 15,
	/* Binary. What the processes of these stacks have mapped to be executed: records of
	   stack_record.h, as above. 64 MB at most. */
	TY_SEC_MAPS = 16,
};

/*
 * Clock correlation needs no section: the recorder writes trace_marker lines
 * "tarry_clock realtime_ns=N monotonic_ns=N boottime_ns=N tsc=N" into the top buffer at start, at
 * the end and every few seconds; the time stamp of that print event is the trace clock.
 */
#define TY_CLOCK_MARKER "tarry_clock "

#endif
