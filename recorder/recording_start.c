/* SPDX-License-Identifier: MIT */
/* A recording up to its first event; the order is explained in recording.c. */
#include "recording_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_limit.h"
#include "keep.h"

/* Descriptors of a recording besides those of its CPUs and pids: measured 21 at most. */
#define FDS 40
/* Programs, maps and hooks of recorder/call_data.c: 140 were seen; 12 of
 * recorder/untraced_culprits.c. */
#define CALL_DATA_FDS 196
/* The same of recorder/stacks.c, and a ring per CPU. */
#define STACKS_FDS 24
/* Of recorder/sampler.c, and two per CPU. */
#define SAMPLER_FDS  8
#define RING_DEFAULT (8ull << 20)
#define RING_MIN     (256ull << 10)
#define SLOTS_MAX    (64ull << 20)
/* 32 KB is the largest the kernel's page allocator hands out cheaply (order 3). */
#define RING_PAGE_MAX  (32u << 10)
#define RING_PAGES_MIN 64u

/* Checks that each pid is a live process, and opens a pidfd that reports its end. */
static int open_pids(struct recording *r, struct ty_err *err)
{
	r->polls = calloc(2 + r->o->pids_n, sizeof(*r->polls));
	if (!r->polls)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the list of pids");
	r->polls[0] = (struct pollfd){.fd = r->signals, .events = POLLIN};
	r->polls[1] = (struct pollfd){.fd = r->spool_failed, .events = POLLIN};
	r->polls_n = 2;
	for (size_t i = 0; i < r->o->pids_n; i++) {
		pid_t pid = r->o->pids[i];
		int tgid = ty_proc_tgid(pid), fd;

		if (!tgid)
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "-p %d: no such process (ps -e lists processes)", (int)pid);
		if (tgid != pid)
			return ty_fail(
				err, TY_EUSAGE, TY_NO_OFFSET,
				"-p %d is a thread of process %d: use -p %d, which records it with "
				"all its threads",
				(int)pid, tgid, tgid);
		fd = (int)syscall(SYS_pidfd_open, pid, 0);
		if (fd < 0 && errno == ESRCH)
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "-p %d: the process has exited", (int)pid);
		/* Kernels before 5.3 have no pidfd: fd stays -1 and the main loop polls by kill().
		 */
		if (fd >= 0)
			fcntl(fd, F_SETFD, FD_CLOEXEC);
		r->polls[r->polls_n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	}
	return 0;
}

/*
 * The tracer uses the kernel's pids. This process, and /proc, use the same ones only in the initial
 * pid namespace: elsewhere pids cannot be followed, and /proc would give wrong names.
 */
static int check_pid_namespace(struct recording *r, struct ty_err *err)
{
	if (!ty_proc_own_pids())
		return 0;
	r->foreign_pids = true;
	if (r->o->all) {
		ty_rec_note(r, "this container has its own process ids. The recording shows those "
			       "of the host; threads that existed before have only a name");
		return 0;
	}
	return ty_fail(
		err, TY_EUSAGE, TY_NO_OFFSET,
		"this container has its own process ids, which the kernel's tracer "
		"does not know: run tarry outside (or with --pid=host), or record everything "
		"with -a");
}

static uint64_t ring_default(unsigned cpus, unsigned instances)
{
	uint64_t mem = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE),
		 share = mem / 32 / cpus / instances;

	return share < RING_MIN ? RING_MIN : share > RING_DEFAULT ? RING_DEFAULT : share;
}

/* The flags of a new instance are copied from the top level, where anything may be set. */
static void set_options(struct recording *r, const struct ty_instance *inst, bool follow)
{
	static const struct {
		const char *name, *value;
	} options[] = {{"options/overwrite", "1"},	{"options/stacktrace", "0"},
		       {"options/userstacktrace", "0"}, {"options/markers", "1"},
		       {"options/record-tgid", "0"},	{"options/hash-ptr", "0"}};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (ty_instance_has(inst, options[i].name))
			ty_instance_write(inst, options[i].name, options[i].value, false, NULL);
	/* Lines that programs write to the top level's trace_marker; once. */
	if (!follow && !r->o->probes.no_regions &&
	    ty_instance_has(inst, "options/copy_trace_marker"))
		ty_instance_write(inst, "options/copy_trace_marker", "1", false, NULL);
	if (!follow || !ty_instance_write(inst, "options/event-fork", "1", false, NULL))
		return;
	r->no_follow = true;
	ty_rec_note(r,
		    "this kernel cannot follow new threads and children (options/event-fork: %s): "
		    "their system calls are not recorded. Use -a to record everything",
		    strerror(errno));
}

/* Large ones cost less to move, as long as a ring has enough of them. */
static uint32_t ring_page_bytes(uint64_t ring_bytes)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	while (page < RING_PAGE_MAX && page * 2 * RING_PAGES_MIN <= ring_bytes)
		page *= 2;
	return page;
}

static int create_instances(struct recording *r, uint32_t page_bytes, struct ty_err *err)
{
	int e = 0;

	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_instance_create(&r->inst[i], r->root, i ? "syscalls" : "top", TY_REC_CLOCK,
				       r->ring_bytes, page_bytes, err);
	return e;
}

static int make_instances(struct recording *r, struct ty_err *err)
{
	bool filtered = !r->o->all, two = filtered && ty_event_set_has_syscalls(&r->set);
	int e;

	r->insts_n = two ? 2 : 1;
	r->ring_bytes =
		r->o->buffer_bytes ? r->o->buffer_bytes : ring_default(r->cpus_n, r->insts_n);
	e = create_instances(r, ring_page_bytes(r->ring_bytes), err);
	/* A file has pages of one size. */
	if (!e && two && r->inst[0].page_bytes != r->inst[1].page_bytes) {
		for (unsigned i = 0; i < r->insts_n; i++)
			ty_instance_remove(&r->inst[i]);
		e = create_instances(r, 0, err);
	}
	for (unsigned i = 0; !e && i < r->insts_n; i++) {
		r->names[i] = i ? "syscalls" : "";
		r->insts[i] = &r->inst[i];
		set_options(r, &r->inst[i], i == 1);
	}
	if (!e && r->string_events.len)
		r->string_bytes = ty_string_events_bytes(&r->inst[r->insts_n - 1]);
	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_event_set_enable(&r->set, &r->inst[i], i == 1, !two, err);
	if (!e && !r->set.items.n)
		e = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "no event to record: this kernel has none of the default events. Add "
			    "some with -e");
	return e;
}

/* Narrow the buffer of system calls to the command or to all threads of the pids. */
static int set_pids(struct recording *r, struct ty_err *err)
{
	bool sure = true;
	int e = 0;

	if (r->insts_n < 2)
		return 0;
	if (r->command.pid)
		return ty_follow_tids(&r->inst[1], (int[]){r->command.pid}, 1, err);
	e = ty_follow_pids(&r->inst[1], r->o->pids, r->o->pids_n, &r->family, &sure, err);
	if (!e && !sure)
		ty_rec_note(r,
			    "the processes create and end threads faster than they can be "
			    "listed: system calls of some may be missing. -a records all of them");
	return e;
}

/* Of the processes that are traced now, and of what they make. */
static void start_stacks(struct recording *r)
{
	struct ty_stacks_result none;

	if (!r->stacks)
		return;
	if (!r->call_data)
		snprintf(r->stacks_why, sizeof(r->stacks_why), "%s", r->call_data_why);
	else if (ty_stacks_start(r->stacks, r->spool, r->insts[0], r->cpus, r->cpus_n,
				 r->o->keep_ns || r->o->keep_bytes, r->stacks_why)) {
		if (r->command.pid)
			ty_stacks_know(r->stacks, &r->command.pid, 1);
		else
			ty_stacks_know(r->stacks, r->family.v, r->family.n);
		return;
	}
	ty_stacks_finish(r->stacks, &none);
	r->stacks = NULL;
	ty_rec_note(r, "user stacks of waits are not recorded: %s", r->stacks_why);
}

/* The same of samples. */
static void start_sampler(struct recording *r)
{
	const unsigned max = ty_sampler_rate_max();
	struct ty_sampler_result none;

	if (!r->sampler)
		return;
	if (!r->o->all && !r->call_data) {
		snprintf(r->sampler_why, sizeof(r->sampler_why), "%s", r->call_data_why);
	} else {
		if (r->command.pid)
			ty_sampler_know(r->sampler, &r->command.pid, 1);
		else
			ty_sampler_know(r->sampler, r->family.v, r->family.n);
		if (ty_sampler_start(r->sampler, r->spool, r->cpus, r->cpus_n,
				     r->o->keep_ns || r->o->keep_bytes, r->sampler_why)) {
			if (max && r->o->sampling.hz > max)
				ty_rec_note(
					r,
					"sampling %s instead of cycles: the kernel limits hardware "
					"events to %u samples a second "
					"(kernel.perf_event_max_sample_rate)",
					ty_sampler_event(r->sampler), max);
			return;
		}
	}
	ty_sampler_finish(r->sampler, &none);
	ty_buf_fini(&none.names);
	r->sampler = NULL;
	ty_rec_note(r, "CPU sampling is off: %s", r->sampler_why);
}

/* Strings are read for the processes in the kernel's list. Repeated until a scan finds no new
 * process, because children of a process that is not followed yet are not followed either. */
static int start_call_data(struct recording *r, struct ty_err *err)
{
	ty_tids tids = {0};
	size_t fresh = 1;
	int e = 0;

	for (unsigned looks = 0; r->call_data && !r->o->all && fresh && !e && looks < 100;
	     looks++) {
		e = ty_rec_list_traced(r, &tids, err);
		fresh = e ? 0 : ty_call_data_follow(r->call_data, tids.v, tids.n);
	}
	vec_fini(&tids);
	if (e)
		return e;
	if (r->call_data && !ty_call_data_start(r->call_data, r->spool, r->call_data_why)) {
		r->call_data_hold =
			ty_call_data_finish(r->call_data, &(struct ty_call_data_result){0});
		r->call_data = NULL;
	}
	/* -a has the command lines of all. */
	if (r->call_data && r->commands && !r->o->all)
		r->culprits = ty_culprits_start(r->call_data, r->commands, r->cpus, r->cpus_n);
	start_stacks(r);
	start_sampler(r);
	if (!r->call_data && !r->o->no_strings && !r->o->no_syscalls)
		ty_rec_note(r,
			    r->string_events.len
				    ? "only the first bytes of system call strings are "
				      "recorded. Socket addresses and structures are not: %s"
				    : "paths and other strings of system calls are not recorded: "
				      "%s",
			    r->call_data_why);
	e = r->counters ? ty_counters_start(r->counters, r->spool, err) : 0;
	e = e ? e : ty_rec_put_call_data(r, err);
	return e ? e : ty_rec_put_sampling(r, err);
}

/* The threads whose memory accesses are sampled are those whose system calls are recorded: of the
 * command, the given processes, or all. */
static struct ty_spe_target spe_target(const struct recording *r)
{
	return r->o->all ? (struct ty_spe_target){0}
			 : (struct ty_spe_target){r->command.pid, r->family.v, r->family.n};
}

static int open_hardware(struct recording *r, struct ty_err *err)
{
	struct ty_spe_target w;
	int e = r->o->spe && r->o->pids_n
			? ty_proc_family(r->o->pids, r->o->pids_n, getpid(), &r->family, err)
			: 0;

	if (e)
		return e;
	w = spe_target(r);
	if (r->o->pt)
		return ty_pt_rec_open(&r->aux, r->o->pt, r->command.pid, r->cpus, r->cpus_n, err);
	return r->o->spe ? ty_spe_rec_open(&r->aux, r->o->spe, &w, r->cpus, r->cpus_n, err) : 0;
}

static int start_hardware(struct recording *r, struct ty_err *err)
{
	struct ty_spe_target w = spe_target(r);
	struct ty_buf running;
	int e;

	ty_buf_init(&running, TY_REC_TEXT);
	if (r->o->spe)
		ty_spe_put_running(&running, &w);
	e = running.failed ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				     "out of memory for the mappings of running processes")
			   : ty_aux_rec_start(r->aux, r->spool, &running, err);
	ty_buf_fini(&running);
	return e;
}

/* What is open at a time: of each CPU a ring and a pipe per buffer, and the rings of the hardware.
 */
static unsigned descriptors(const struct recording *r)
{
	return FDS + (unsigned)r->o->pids_n + 3 * TY_READER_INSTANCES * r->cpus_n +
	       (r->o->pt || r->o->spe ? 2 * r->cpus_n : 0);
}

static void open_stacks(struct recording *r)
{
	struct ty_err err = {0};

	/* The BPF programs use the kernel's pids, which denote other processes in this namespace's
	 * /proc. */
	if (r->foreign_pids)
		snprintf(r->stacks_why, sizeof(r->stacks_why),
			 "tarry runs in a PID namespace of its own: run it outside of the "
			 "container");
	else if (ty_fd_limit_need(descriptors(r) + CALL_DATA_FDS + STACKS_FDS + 3 * r->cpus_n,
				  &err))
		snprintf(r->stacks_why, sizeof(r->stacks_why),
			 "the limit on open files leaves no room for %u more (`ulimit -Hn`)",
			 STACKS_FDS + 2 * r->cpus_n);
	else
		r->stacks = ty_stacks_open(r->call_data, r->o->all, r->o->stacks_ns, r->stacks_why);
	ty_stacks_name(r->stacks, r->commands);
	if (!r->stacks)
		ty_rec_note(r, "user stacks of waits are not recorded: %s", r->stacks_why);
}

/* Strings are left out rather than the recording where their hooks find no room. */
static void open_call_data(struct recording *r)
{
	struct ty_err err = {0};

	if (r->o->no_strings || !ty_event_set_has_syscalls(&r->set))
		return;
	if (!r->foreign_pids)
		r->commands = ty_command_lines_new("/proc");
	if (ty_fd_limit_need(descriptors(r) + CALL_DATA_FDS + r->cpus_n, &err))
		snprintf(r->call_data_why, sizeof(r->call_data_why),
			 "the limit on open files leaves no room for %u more (`ulimit -Hn`)",
			 CALL_DATA_FDS);
	else
		r->call_data = ty_call_data_open(r->root, r->o->all, (unsigned)r->o->data_bytes,
						 r->cpus, r->cpus_n, r->call_data_why);
	if (r->call_data && r->o->stacks_ns)
		open_stacks(r);
	if (!r->call_data && ty_string_events_add(&r->set, r->root, &r->string_events))
		ty_buf_reset(&r->string_events);
}

/* The program that reads strings knows the processes in the kernel's list. */
static int open_sampler(struct recording *r, struct ty_err *err)
{
	const struct ty_call_data *e = r->o->all ? NULL : r->call_data;
	struct ty_err full;

	if (!r->o->sampling.hz)
		return 0;
	if (!r->o->all && !e)
		snprintf(r->sampler_why, sizeof(r->sampler_why), "%s",
			 *r->call_data_why ? r->call_data_why
					   : "BPF is not used (--no-strings or --no-syscalls)");
	else if (r->foreign_pids)
		snprintf(r->sampler_why, sizeof(r->sampler_why),
			 "tarry runs in a PID namespace of its own: run it outside of the "
			 "container");
	else if (ty_fd_limit_need(descriptors(r) + CALL_DATA_FDS + STACKS_FDS + SAMPLER_FDS +
					  5 * r->cpus_n,
				  &full))
		snprintf(r->sampler_why, sizeof(r->sampler_why),
			 "the limit on open files leaves no room for %u more (`ulimit -Hn`)",
			 SAMPLER_FDS + 2 * r->cpus_n);
	else
		r->sampler =
			ty_sampler_open(e, &r->o->sampling, r->cpus, r->cpus_n, r->sampler_why);
	/* Requested by the user; most machines lack it. */
	return r->sampler || r->o->sampling.stacks != TY_SAMPLE_STACKS_LBR
		       ? 0
		       : ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET, "--sample-stacks lbr: %s",
				 r->sampler_why);
}

/* Requested counters are recorded, or nothing is. */
static int open_counters(struct recording *r, struct ty_err *err)
{
	const struct ty_record_opts *o = r->o;
	unsigned fds = ty_counters_fds(o->counters, o->counters_n, r->cpus_n);
	int e;

	if (!o->counters_n)
		return 0;
	if (r->foreign_pids || (!o->all && !r->call_data))
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "--counter needs BPF to select the traced threads: %s",
			       r->foreign_pids	   ? "run tarry outside of the container"
			       : *r->call_data_why ? r->call_data_why
						   : "leave out --no-strings and --no-syscalls, or "
						     "use -a");
	e = ty_fd_limit_need(descriptors(r) + CALL_DATA_FDS + STACKS_FDS + SAMPLER_FDS +
				     5 * r->cpus_n + fds,
			     err);
	return e ? e
		 : ty_counters_open(&r->counters, o->counters, o->counters_n,
				    o->all ? NULL : r->call_data, r->root, r->cpus, r->cpus_n, err);
}

/* Regions, functions and static probes of what is traced. */
static int define_probes(struct recording *r, struct ty_err *err)
{
	ty_proc_pids pids = {0};
	int e = r->o->pids_n && (!r->o->probes.no_regions || r->o->probes.usdt_n)
			? ty_proc_family(r->o->pids, r->o->pids_n, getpid(), &pids, err)
			: 0;

	e = e ? e
	      : ty_user_probes_define(&r->probes, r->root, &r->o->probes,
				      r->o->argv ? r->command.path : NULL, &pids, r->o->all,
				      &r->set, err);
	vec_fini(&pids);
	for (size_t i = 0; !e && i < r->o->probes.spans_n; i++)
		if (r->o->probes.spans[i].returns) {
			ty_rec_note(r,
				    "--span FUNC@FILE:return: a C++ exception through such a "
				    "function ends its program. On kernels 6.11 to 6.13 a seccomp "
				    "filter may end it, too. This holds for every process that "
				    "executes the file, traced or not");
			break;
		}
	return e;
}

static bool is_given(const struct ty_record_opts *o, int pid)
{
	size_t i = 0;

	while (i < o->pids_n && o->pids[i] != pid)
		i++;
	return i < o->pids_n;
}

static void tell_started(const struct recording *r)
{
	size_t given = 0;

	while (given < r->family.n && is_given(r->o, r->family.v[given]))
		given++;
	if (given && r->o->started)
		r->o->started(r->o->ctx, given, r->family.n - given);
}

/* Everything up to the first event. */
int ty_rec_start(struct recording *r, struct ty_err *err)
{
	sigset_t reset;
	ty_tids traced = {0};
	unsigned cpu_count;
	uint64_t mem = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	int e;

	r->cpus_n = ty_cpu_list("/sys/devices/system/cpu/online", r->cpus, TY_CPUS_MAX);
	if (!r->cpus_n)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "cannot read /sys/devices/system/cpu/online (mount -t sysfs sysfs "
			       "/sys)");
	cpu_count = r->cpus[r->cpus_n - 1] + 1;
	if ((e = ty_fd_limit_need(descriptors(r), err)))
		return e;
	if (r->o->argv && (e = ty_command_find(&r->command, r->o->argv, err))) {
		r->res->exit_code = r->command.exit_code;
		return e;
	}
	if ((e = ty_tracefs_find(r->root, true, err)) || (e = ty_rec_open_signals(r, err)) ||
	    (e = open_pids(r, err)))
		return e;
	if ((e = check_pid_namespace(r, err)))
		return e;
	r->res->swept = ty_instance_sweep(r->root);
	ty_user_probes_sweep(r->root);
	e = ty_event_set_build(&r->set, r->root, !r->o->no_syscalls, !r->o->no_sched, r->o->events,
			       r->o->events_n, err);
	if (e)
		return e;
	vec_each (s, &r->set.notes)
		ty_rec_note(r, "%s", *s);
	ty_rec_set_dispositions(&reset);
	if (r->o->argv && (e = ty_command_fork(&r->command, &r->old_mask, &reset, err)))
		return e;
	if (r->o->step && (e = ty_step_start(&r->step, r->o->step, r->command.pid, err)))
		return e;
	if ((e = open_hardware(r, err)))
		return e;
	ty_rec_self_test_start(r);
	open_call_data(r);
	if ((e = open_sampler(r, err)) || (e = open_counters(r, err)) ||
	    (e = define_probes(r, err)))
		return e;
	if ((e = make_instances(r, err)) || (e = set_pids(r, err)))
		return e;
	r->marker = openat(r->inst[0].dir, "trace_marker", O_WRONLY | O_CLOEXEC);
	e = ty_spool_create(r->o->out, r->inst[0].page_bytes, &r->spool, err);
	e = e ? e : ty_meta_init(&r->meta, r->spool, err);
	e = e ? e
	      : ty_meta_start(&r->meta, r->root, &r->set, r->insts, r->names, r->insts_n, cpu_count,
			      TY_REC_CLOCK, err);
	e = e ? e : ty_rec_put_machine(r, err);
	e = e ? e : start_call_data(r, err);
	e = e ? e : ty_rec_put_vdso(r, err);
	e = e ? e : ty_rec_put_kernel(r, err);
	if (!e && (r->o->keep_ns || r->o->keep_bytes))
		e = ty_keep_new(r, &r->keep, err);
	e = e ? e
	      : ty_readers_start(&r->readers, r->insts, r->insts_n, r->spool,
				 mem / 16 < SLOTS_MAX ? mem / 16 : SLOTS_MAX, r->spool_failed, err);
	if (!e && r->o->step)
		e = ty_step_collect(&r->step, r->spool, err);
	if (!e && r->aux)
		e = start_hardware(r, err);
	r->start_ns = ty_rec_clock_ns(CLOCK_MONOTONIC);
	for (unsigned i = 0; !e && i < r->insts_n; i++)
		e = ty_instance_on(&r->inst[i], true, err);
	if (e)
		return e;
	ty_keep_begin(r->keep);
	ty_rec_mark_clock(r);
	if (!r->foreign_pids) {
		ty_quotas_open(&r->quotas);
	}
	ty_steal_open(&r->steal, NULL);
	ty_rec_take_samples(r, false);
	e = ty_rec_list_traced(r, &traced, err);
	e = e ? e : ty_rec_put_traced(r, &traced, err);
	e = e ? e : ty_rec_put_threads(r, err);
	e = e ? e : ty_rec_put_fds(r, &traced, true, err);
	vec_fini(&traced);
	if (e)
		return e;
	if (r->o->argv && (e = ty_command_release(&r->command, err))) {
		r->res->exit_code = r->command.exit_code;
		return e;
	}
	e = ty_spool_publish(r->spool, err);
	if (!e)
		tell_started(r);
	return e;
}
