/* SPDX-License-Identifier: MIT */
/*
 * tarry's own sections: data that has no place in trace.dat. Most are text with one item per line,
 * so that a reader is a line splitter and `strings` shows the content. Readers skip unknown keys
 * and types, so new ones may be added. Layout on disk: tarry.dat(5).
 */
#ifndef TY_SECTION_H
#define TY_SECTION_H

enum ty_section {
	/*
	 * key=value lines. Keys: tarry (version), host, kernel, arch, cpus (online at start, list
	 * form), possible_cpus, cpu_model, mem_bytes, page_size, mode (command|pids|all), command
	 * (shell-quoted), command_tid, pid (repeated), recorder_tid, cwd, start_realtime_ns, event
	 * (repeated: SYSTEM:EVENT enabled), skipped (repeated: SYSTEM:EVENT, reason after a
	 * space), no_idle_switch (repeated: CPU that does not deliver switch-from-idle events),
	 * tick_ns (the timer tick's period), disk (repeated: MAJOR MINOR NAME MOUNTS, of a block
	 * device: mount points of the file systems on it, separated by ", "; TAB, newline and
	 * backslash as in TY_SEC_THREADS), nohz_full (list of CPUs that need no tick while they
	 * run one thread), pid_namespace (other: recorded inside a pid namespace, no names or tids
	 * of /proc are stored), follow_children (no: this kernel cannot follow children),
	 * idle_switch_untested (repeated: CPU that was too busy for the test), idle_switch_seen
	 * (repeated: such a CPU that did deliver one later; lines at the end add to those of the
	 * start), buffer_bytes, strings (names of the tracepoints of system calls, separated by
	 * commas, of which strings are recorded; empty: none), strings_bytes (present: the strings
	 * are in these events, at most so many bytes of each, 0: unknown) and strings_why (why they
	 * were not read by BPF), stacks_ns (user stacks of waits from that length on are recorded;
	 * 0: none) and stacks_why (why no stacks are recorded), sample_hz (samples per second and
	 * CPU; 0: none) with sample_event and sample_stacks, or sample_why (why there are no
	 * samples), counter (repeated) and counter_intervals (counter_record.h). In a file cut out
	 * of another one: cut_to_ns (trace clock), clock (a trace time, a blank, and the original's
	 * last clock marker before the window), cut_keeps (strings,descriptors,stacks,
	 * samples,counters: what the original had of these was kept; absent in cuts by older
	 * versions, which lack them), cut_origin_ns (start of the original, from which its seconds
	 * count) and cut_of (name of its file; TAB, newline and backslash as in TY_SEC_THREADS),
	 * of a traced command cut_command_ns (how long it ran in all) and cut_path_tid (the thread
	 * that its critical path lies on at cut_to_ns, with cut_path_inferred=yes if inferred);
	 * when the cut removed earlier data, cut_from_ns and, for recordings of chosen processes,
	 * traced as in TY_SEC_KEPT (at the window's start); in a cut of perf.data, own_only and
	 * switches_only (struct ty_trace).
	 */
	TY_SEC_MACHINE = 1,
	/*
	 * Threads alive when the recording (in a cut: the window) began. First line: "taken FROM_NS
	 * TO_NS" (trace clock). Then one line per thread, TAB-separated: tid tgid ppid
	 * start_boot_ns state policy prio cpu syscall wchan affinity cgroup comm. state: the letter
	 * of /proc/TID/stat; in a cut also w: runnable. syscall: number and, in newer recordings,
	 * its six arguments in hex, separated by blanks; "running" or "-". Missing values are "-";
	 * TAB, newline and backslash in cgroup and comm are \t \n \\.
	 */
	TY_SEC_THREADS = 2,
	/*
	 * key=value lines, written at the end: end_ns (trace clock), duration_ns, end_realtime_ns,
	 * recorded_ns (duration including dropped data, with TY_SEC_KEPT more than duration_ns; the
	 * counts that follow, except events and lost, include dropped data), events, lost,
	 * raw_bytes, cpu_user_ns, cpu_sys_ns (recorder's own), command_status (as from waitpid),
	 * stat (repeated: "BUFFER CPU entries overrun commit_overrun dropped read"), stop (why the
	 * recording ended), note (repeated: what is missing, as the recorder said at its end).
	 */
	TY_SEC_SELF = 3,
	/* Chunk directory of the finished file, one line per chunk: "BUFFER CPU FIRST_NS LAST_NS
	   CRC32". */
	TY_SEC_CHUNKS = 4,
	/*
	 * Descriptors open when a recording of chosen processes (-p) or of all (-a) began, or
	 * inherited by a traced command. First line: "taken FROM_NS TO_NS" (trace clock). In a cut
	 * that begins before its descriptors were listed, a second such line is followed by those
	 * that are known only from its TO_NS on. Then one line per descriptor, TAB-separated: pid
	 * fd flags target access net. access: r, w or rw, of pipes only; net: of an internet socket
	 * its network namespace, access is "-" then (both absent in older recordings). flags:
	 * "cloexec" or "-"; target: the link /proc/PID/fd, for sockets listed in /proc/PID/net
	 * "TCP:[OWN->PEER]", "TCP:[OWN listening]", "UDP:[..]", "UNIX:[PATH]", of the recorder's
	 * own namespace "UNIX-STREAM:[INODE->PEER,"PATH"]"; TAB, newline and backslash as above.
	 * The fd "cwd" is the working directory (absent in older recordings). At the end, when
	 * there were too many: a line "PID left_out" for each process with an incomplete list, and
	 * "left_out N", the number of these processes (in older recordings: of descriptors, without
	 * the PID lines).
	 */
	TY_SEC_FDS = 5,
	/*
	 * Cgroups with a CPU quota, and when they were throttled, sampled about ten times a second.
	 * One line per group when it is first seen and whenever its quota, its threads or its count
	 * changed (quota 0: it was removed), TAB-separated: FROM_NS TO_NS (trace clock)
	 * throttled_ns (sum over all CPUs, counted when its threads ran again; "-": unknown, the
	 * group was removed) quota_us period_us path tids (each preceded by a blank, including
	 * those of child groups, 4096 at most; "=": as in the path's previous line); TAB, newline
	 * and backslash in the path as above. After threads left, a further line states those that
	 * remain. FROM_NS of a quota that is gone and was not used since is when it was last read
	 * (of older recordings: when the count was). At most 64 MB; when that did not suffice, the
	 * last line is "left_out N".
	 */
	TY_SEC_QUOTA = 6,
	/*
	 * key=value lines of a recording that kept only its newest part (record --keep): from_ns
	 * (trace clock: all events from then on are present; older ones may be present and do not
	 * count), began_ns (trace clock: when recording began), dropped (two offsets in the spool)
	 * and first (repeated: type, stream and number of the first chunk that counts), which are
	 * meaningless in a finished file; for recordings of a command or of processes also traced
	 * (repeated, ascending: two tids; all threads in that range were traced at from_ns).
	 * Absent: nothing was dropped.
	 */
	TY_SEC_KEPT = 7,
	/*
	 * Binary. Executed instructions or memory samples: a perf.data file in pipe form, with
	 * intel_pt or arm_spe AUXTRACE records and the records that belong to them. Machine fact
	 * flow=step: written by the software branch tracer, time stamps are ns of the trace clock.
	 */
	TY_SEC_PERF = 8,
	/* Binary. Code images: u64 time in ns, u64 address, u32 process, u32 n, then n bytes of
	 * code present from that time on. */
	TY_SEC_CODE = 9,
	/* Binary. In recordings with executed instructions or stacks: the vDSO of the machine's
	 * 64-bit processes, an ELF file. */
	TY_SEC_VDSO = 10,
	/* Binary. In recordings of kernel code (record --flow-kernel): the kernel's code at the
	 * start, an ELF core file with its segments sorted by address. */
	TY_SEC_KERNEL = 11,
	/* In the format of /proc/kallsyms. With TY_SEC_KERNEL: the lines that name code; else those
	 * of the functions that samples hit, and the line after each. */
	TY_SEC_KALLSYMS = 12,
	/*
	 * Time stolen from a CPU by the hypervisor, as the kernel counts it (/proc/stat, steal),
	 * sampled about ten times a second. One line per CPU and sample in which its count grew,
	 * TAB-separated: FROM_NS TO_NS (trace clock) cpu ns (in steps of USER_HZ). At most 16 MB.
	 */
	TY_SEC_STEAL = 13,
	/* Binary. Data behind the pointers of system calls: records of call_data_record.h, in
	 * pieces of whole records, not sorted by time. At most 512 MB. Machine fact strings: of
	 * which calls. */
	TY_SEC_CALL_DATA = 14,
	/* Binary. User stacks of long waits: records of stack_record.h, in pieces of whole records,
	 * not sorted by time. At most 512 MB. Machine fact stacks_ns: minimum length of the waits;
	 * 0: none, and stacks_why says why. */
	TY_SEC_STACKS = 15,
	/* Binary. Executable mappings of the processes of these stacks: records of stack_record.h,
	 * as above. At most 64 MB. */
	TY_SEC_MAPS = 16,
	/* Binary. Samples of what ran on the CPUs: a perf.data file in pipe form with the event and
	   the mappings, names and forks of the processes, but without the samples. 64 MB at most.
	   Machine facts sample_hz (0: none, sample_why says why), sample_event, sample_stacks. */
	TY_SEC_SAMPLING = 20,
	/* Binary. The samples: PERF_RECORD_SAMPLE of that event and LOST, one behind the other, in
	   no order of time. 256 MB at most. */
	TY_SEC_SAMPLES = 21,
	/*
	 * Command lines of traced processes: of those that existed before the recording, and of
	 * those with long waits when they had changed (setproctitle); and of other processes that
	 * held a file lock that was waited for. One line each, TAB-separated: NS
	 * (trace clock, when it was read) pid and its arguments; TAB, newline and backslash as in
	 * TY_SEC_THREADS. 2,048 bytes of each, 16 MB at most. Those of processes that execute
	 * while recording are in TY_SEC_CALL_DATA.
	 */
	TY_SEC_COMMANDS = 22,
	/* Binary. Readings of performance counters: records of counter_record.h, in no order of
	   time. 128 MB at most. Machine fact counter (repeated): what they are of. */
	TY_SEC_COUNTERS = 23,
	TY_SEC_COUNT
};

/*
 * Clock correlation needs no section: the recorder writes trace_marker lines "tarry_clock
 * realtime_ns=N monotonic_ns=N boottime_ns=N tsc=N" into the top buffer at start, at the end and
 * every few seconds; the time stamp of that print event is the trace clock.
 */
#define TY_CLOCK_MARKER "tarry_clock "

#endif
