/* SPDX-License-Identifier: MIT */
/* See record_args.h. */
#include "record_args.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "plain_text.h"
#include "pt_caps.h"
#include "record_probes.h"
#include "spe_packet.h"
#include "spe_pmu.h"
#include "stacks.h"
#include "units.h"

static const char head[] =
	"usage: tarry record [options] [--] COMMAND [ARG...]\n"
	"       tarry record [options] -p PID[,PID...]\n"
	"       tarry record [options] -a\n"
	"\n"
	"Record system calls and scheduling into a file. System calls are recorded for\n"
	"the command and its descendants, for the given processes and their descendants\n"
	"(-p), or for all processes (-a). Scheduling, interrupts and block I/O are\n"
	"recorded for the whole machine unless --no-sched is given, because the cause of\n"
	"a wait is often elsewhere.\n"
	"\n"
	"Recording stops when the command or the last given process ends, after\n"
	"--duration, or at Ctrl-C. tarry does not wait for children that outlive the\n"
	"command. A second Ctrl-C makes tarry exit without waiting for the command.\n"
	"\n";
static const char tail[] =
	"\n"
	"Exit status: that of the command (128+N if killed by signal N, 127 if not found,\n"
	"126 if not executable), also if only the last step, finishing the file, fails.\n"
	"1 if recording could not start or failed before it was complete. Without a\n"
	"command: 0 on success. 2 is wrong usage.\n"
	"To see what this machine can record, run tarry doctor.\n";

static int take_pids(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;
	const char *blanks = " \n", *p = arg + strspn(arg, blanks); /* of pidof and pgrep */

	for (;;) {
		char *end;
		long v;

		errno = 0;
		v = strtol(p, &end, 10);
		if (end == p || *p < '0' || *p > '9' || (*end && !strchr(", \n", *end)) || errno ||
		    v <= 0 || v > INT32_MAX)
			return ty_wrong_value(err, "-p '%s' is not a list of process numbers", arg);
		if (vec_push(&a->pids, (pid_t)v))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
		p = end + strspn(end, blanks);
		if (!*p)
			return 0;
		p += *p == ',';
		p += strspn(p, blanks);
	}
}

static int take_duration(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *ns = to;

	if (ty_parse_duration(arg, ns) || !*ns)
		return ty_wrong_value(
			err, "--duration '%s' is not a duration such as 500ms, 20s or 2m", arg);
	return 0;
}

static int take_data(void *to, const char *arg, struct ty_err *err)
{
	if (ty_parse_count(arg, TY_RECORD_DATA_MAX, to))
		return ty_wrong_value(err, "--data %s is not a number of bytes from 1 to %u", arg,
				      TY_RECORD_DATA_MAX);
	return 0;
}

static int take_stacks(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *ns = to;

	*ns = 0;
	if (!strcmp(arg, "off"))
		return 0;
	if (ty_parse_duration(arg, ns) || *ns < TY_STACKS_MIN_NS)
		return ty_wrong_value(
			err,
			"--stacks '%s' is neither a duration such as 20ms or 1s (at least "
			"2ms) nor off",
			arg);
	return 0;
}

static int take_sample(void *to, const char *arg, struct ty_err *err)
{
	unsigned *hz = to;
	uint64_t v;

	*hz = 0;
	if (!strcmp(arg, "off"))
		return 0;
	if (ty_parse_count(arg, TY_SAMPLE_HZ_MAX, &v))
		return ty_wrong_value(
			err,
			"--sample '%s' is neither a rate such as 99 (samples a second, 1 to "
			"10000) nor off",
			arg);
	*hz = (unsigned)v;
	return 0;
}

static int take_sample_stacks(void *to, const char *arg, struct ty_err *err)
{
	enum ty_sample_stacks *how = to;

	if (!strcmp(arg, "auto"))
		*how = TY_SAMPLE_STACKS_AUTO;
	else if (!strcmp(arg, "dwarf"))
		*how = TY_SAMPLE_STACKS_DWARF;
	else if (!strcmp(arg, "fp"))
		*how = TY_SAMPLE_STACKS_FP;
	else if (!strcmp(arg, "lbr"))
		*how = TY_SAMPLE_STACKS_LBR;
	else
		return ty_wrong_value(
			err, "--sample-stacks '%s' is not one of fp, dwarf, lbr and auto", arg);
	return 0;
}

static int take_buffer(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *bytes = to;

	if (ty_parse_size(arg, bytes) || *bytes < 64 << 10)
		return ty_wrong_value(err, "--buffer '%s' is not a size such as 8M (at least 64k)",
				      arg);
	if (*bytes > 1ull << 40)
		return ty_wrong_value(err, "--buffer '%s' is too large: at most 1024G", arg);
	return 0;
}

/* A time or a size; both may be given. */
static int take_keep(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;
	const size_t n = strlen(arg);

	if (n && strchr("0123456789.", arg[n - 1]))
		return ty_wrong_value(
			err,
			"--keep '%s' is neither a time nor a size: a unit is missing (30s, "
			"10m are times; 500M, 2G are sizes)",
			arg);
	if (!ty_parse_duration(arg, &a->o.keep_ns) && a->o.keep_ns >= TY_KEEP_MIN_NS)
		return 0;
	if (ty_parse_duration(arg, &a->o.keep_ns) && !ty_parse_size(arg, &a->o.keep_bytes) &&
	    a->o.keep_bytes >= TY_KEEP_MIN_BYTES)
		return 0;
	return ty_wrong_value(
		err,
		"--keep '%s' is neither a time such as 30s, 10m or 2h (at least 1s) nor a "
		"size such as 500M or 2G (at least 16M)",
		arg);
}

static int take_flow(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->flow = arg ? arg : "pt";
	if (strcmp(a->flow, "pt") && strcmp(a->flow, "step"))
		return ty_wrong_value(err, "--flow=%s is neither pt nor step", a->flow);
	return 0;
}

static int take_memory(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->memory = true;
	return arg && strcmp(arg, "spe")
		       ? ty_wrong_value(err, "--memory=%s: only spe is supported", arg)
		       : 0;
}

/* "load,store"; "all" is no filter. */
static int take_mem_ops(void *to, const char *arg, struct ty_err *err)
{
	static const char *const names[] = {"load", "store", "branch"};
	struct ty_record_args *a = to;
	unsigned ops = 0;

	a->mem_option = true;
	for (const char *p = arg; strcmp(arg, "all"); p++) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < 3 && (strlen(names[i]) != n || memcmp(p, names[i], n)))
			i++;
		if (i == 3)
			return ty_wrong_value(
				err,
				"--mem-ops '%s' is not a list of load, store and branch, or all",
				arg);
		ops |= 1u << i;
		p += n;
		if (!*p)
			break;
	}
	a->spe.ops = ops;
	return 0;
}

/* The bit of an event by name or number; 64: none. */
static unsigned mem_event(const char *p, size_t n)
{
	unsigned long bit;
	char *end;

	for (unsigned i = 0; i < 64; i++) {
		const char *name = ty_spe_event_name(i);

		if (strlen(name) == n && !strncasecmp(name, p, n))
			return i;
	}
	if (*p < '0' || *p > '9')
		return 64;
	bit = strtoul(p, &end, 10);
	return end == p + n && bit < 64 ? (unsigned)bit : 64;
}

static int take_mem_events(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->mem_option = true;
	for (const char *p = arg;; p++) {
		bool not = *p == '!';
		size_t n;
		unsigned bit;

		p += not ;
		n = strcspn(p, ",");
		bit = mem_event(p, n);
		if (bit == 64)
			return ty_wrong_value(
				err,
				"--mem-events '%s': '%.*s' is not an event of Arm SPE "
				"(l1d-refill, tlb-refill, llc-refill, remote-access... or a "
				"bit, 0 to 63)",
				arg, (int)n, p);
		*(not ? &a->spe.events_not : &a->spe.events) |= 1ull << bit;
		p += n;
		if (!*p)
			break;
	}
	if (a->spe.events & a->spe.events_not)
		return ty_wrong_value(
			err, "--mem-events '%s': an event cannot be both required and excluded",
			arg);
	return 0;
}

static int mem_number(const char *option, const char *arg, uint64_t *out, struct ty_err *err)
{
	if (ty_parse_count(arg, UINT64_MAX, out))
		return ty_wrong_value(err, "%s '%s' is not a number above 0", option, arg);
	return 0;
}

static int take_mem_latency(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->mem_option = true;
	return mem_number("--mem-latency", arg, &a->spe.min_latency, err);
}

static int take_mem_period(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->mem_option = true;
	return mem_number("--mem-period", arg, &a->spe.period, err);
}

static int take_mem_phys(void *to, const char *arg, struct ty_err *err)
{
	struct ty_record_args *a = to;

	a->mem_option = a->spe.phys = true;
	return 0;
}

#define AT(member) offsetof(struct ty_record_args, member)
static const struct ty_option options[] = {
	{'o', "output", "FILE", "write to FILE (default tarry.dat, replaced if present)",
	 .take = ty_take_text, .at = AT(o.out)},
	{'p', "pid", "PID[,PID]",
	 "record these processes, their threads and all their descendants (repeatable)",
	 .take = take_pids},
	{'a', "all", NULL, "record the system calls of all processes", .take = ty_take_flag,
	 .at = AT(o.all)},
	{'d', "duration", "T",
	 "stop recording after T (500ms, 20s, 2m); the command keeps running, and tarry exits "
	 "when it ends",
	 .take = take_duration, .at = AT(o.duration_ns)},
	{0, "keep", "TIME|SIZE",
	 "keep only the newest part (flight recorder): at least the last TIME (30s, 10m, 2h), or "
	 "at most SIZE on disk (500M, 2G); may be given once for each, then SIZE wins",
	 .take = take_keep},
	{'e', "event", "SYSTEM:EVENT[:FILTER]",
	 "also record this event (repeatable); EVENT may be a pattern (block:*), FILTER is a "
	 "kernel event filter (prev_pid == 1)",
	 .take = ty_take_texts, .at = AT(events)},
	{0, "no-syscalls", NULL, "do not record system calls", .take = ty_take_flag,
	 .at = AT(o.no_syscalls)},
	{0, "no-sched", NULL, "do not record scheduling, interrupts, block I/O, signals, locks",
	 .take = ty_take_flag, .at = AT(o.no_sched)},
	{0, "no-strings", NULL,
	 "do not use BPF: no strings and structures of system calls, no command lines, no user "
	 "stacks of waits. CPU samples "
	 "and counters then need -a",
	 .take = ty_take_flag, .at = AT(o.no_strings)},
	{0, "data", "N",
	 "also record the first N bytes (at most 4096) of each buffer of read, write, send and "
	 "receive "
	 "call transfers (they may contain secrets), and what stat returns",
	 .take = take_data, .at = AT(o.data_bytes)},
	{0, "stacks", "T|off",
	 "record user stacks of waits of about T or longer, and of their wakers (default 20ms)",
	 .take = take_stacks, .at = AT(o.stacks_ns)},
	{0, "sample", "HZ|off",
	 "take CPU samples with stacks HZ times a second on each CPU (default 99)",
	 .take = take_sample, .at = AT(o.sampling.hz)},
	{0, "sample-stacks", "HOW",
	 "find callers by dwarf (call frame information), fp (frame pointers), lbr (branch records "
	 "of the CPU) or auto (default): dwarf where supported, else fp",
	 .take = take_sample_stacks, .at = AT(o.sampling.stacks)},
	{0, "counter", "EVENT[,EVENT]",
	 "count these events per thread, by perf's names (page-faults, cycles, LLC-load-misses, "
	 "rNNN, cpu/event=0x3c/, sched:sched_switch; :u and :k for user code and kernel). The "
	 "events of one --counter are counted together, as a group (repeatable)",
	 .take = ty_take_texts, .at = AT(counter_texts)},
	{0, "regions", "FILE|off",
	 "also find regions (tarry.h) of FILE, a program or library that the command starts or "
	 "loads later (repeatable); off records no regions",
	 .take = ty_take_texts, .at = AT(region_files)},
	{0, "span", "FUNC[(PARAM,...)]@FILE[:return]",
	 "record each call of a function as an instant, or with :return as a region until it "
	 "returns (repeatable); PARAM: a parameter to record, by name. :return kills programs that "
	 "throw C++ exceptions through the function",
	 .take = ty_take_texts, .at = AT(span_texts)},
	{0, "usdt", "PROVIDER:NAME[@FILE]",
	 "record a static probe as an instant (repeatable); default FILE: the command's program, "
	 "or "
	 "with -p all files that those processes have mapped",
	 .take = ty_take_texts, .at = AT(usdt_texts)},
	{0, "flow", "[=pt|step]",
	 "record every executed instruction of the command, with Intel PT or by single-stepping "
	 "(step: at least 1,000 times slower)",
	 .take = take_flow},
	{0, "flow-filter", "FUNC[@FILE]",
	 "record only a function; FILE is a path or a library name. --flow=step records from the "
	 "entry of FUNC (or OFFSET@FILE) to its return, "
	 "with the functions that it calls; elsewhere the command runs at full speed. Intel PT "
	 "records only the code of FUNC itself. It also takes OFFSET/SIZE@FILE, 'start FUNC' and "
	 "'stop FUNC'. The CPU limits the number of filters (tarry doctor)",
	 .take = ty_take_texts, .at = AT(flow_filters)},
	{0, "flow-kernel", NULL, "Intel PT: also record kernel code", .take = ty_take_flag,
	 .at = AT(pt.kernel)},
	{0, "flow-snapshot", NULL,
	 "Intel PT: record into a ring of 4 MB per CPU, and save it at the end and at each SIGUSR2",
	 .take = ty_take_flag, .at = AT(pt.snapshot)},
	{0, "flow-list", "FILE",
	 "single-stepping: write thread and address of each instruction to FILE (decoder tests)",
	 .take = ty_take_text, .at = AT(step.list)},
	{0, "memory", "[=spe]",
	 "sample memory accesses of the command, the -p processes or (-a) all processes with Arm "
	 "SPE",
	 .take = take_memory},
	{0, "mem-ops", "OP[,OP]", "sample load, store, branch, or all (default load,store)",
	 .take = take_mem_ops},
	{0, "mem-latency", "N", "sample only accesses of N cycles or more",
	 .take = take_mem_latency},
	{0, "mem-events", "EVENT[,EVENT]",
	 "sample only accesses with all these events, named as in tarry dump memory (l1d-refill, "
	 "tlb-refill...) or by bit; !EVENT excludes",
	 .take = take_mem_events},
	{0, "mem-period", "N",
	 "sample every N operations (default 4096; rounded to a multiple of 256, at least the "
	 "minimum of the hardware)",
	 .take = take_mem_period},
	{0, "mem-phys", NULL, "also record physical addresses", .take = take_mem_phys},
	{0, "buffer", "SIZE",
	 "set the size of each kernel ring buffer (default 8M per CPU, less on small machines); "
	 "increase it if events are lost",
	 .take = take_buffer, .at = AT(o.buffer_bytes)},
	{'q', "quiet", NULL, "print no progress and no summary", .take = ty_take_flag,
	 .at = AT(quiet)},
	{0}};

static int check_pt(struct ty_record_args *a)
{
	struct ty_err err = {0};
	char why[200];

	if (!ty_pt_caps_have()) {
		ty_pt_caps_why_not(why, sizeof(why));
		ty_say("tarry: this machine cannot record with Intel PT (%s); --flow=step records "
		       "by single-stepping on any x86-64 machine, slowly\n",
		       why);
		return TY_EXIT_FAILED;
	}
	vec_each (f, &a->flow_filters)
		if (ty_record_add_pt_filter(a, *f, &err))
			return ty_cli_fail(&err);
	if (a->pt_filter.failed)
		return ty_cli_usage("record", "--flow-filter: all filters together are too long. "
					      "Give fewer or shorter ones");
	a->pt.filter = a->pt_filter.len ? a->pt_filter.p : NULL;
	a->o.pt = &a->pt;
	return 0;
}

static int check_flow(struct ty_record_args *a)
{
	struct ty_err err = {0};
	char path[PATH_MAX];
	struct ty_symbol sym;
	struct stat st;

	if (!a->o.argv)
		return ty_cli_usage("record", "--flow records a command from its start: give one "
					      "(-- CMD...). It cannot attach to running processes");
	if (!strcmp(a->flow, "pt"))
		return check_pt(a);
	if (a->flow_filters.n > 1 || a->pt.kernel || a->pt.snapshot)
		return ty_cli_usage("record", "--flow=step takes one --flow-filter, and no "
					      "--flow-kernel or --flow-snapshot");
	if (a->flow_filters.n) {
		if (ty_record_find_function(a, "--flow-filter", a->flow_filters.v[0], path, &st,
					    &sym, &err))
			return ty_cli_fail(&err);
		a->step.filter = true;
		a->step.dev = st.st_dev;
		a->step.ino = st.st_ino;
		a->step.off = sym.start;
	}
	a->o.step = &a->step;
	return 0;
}

static int check_memory(struct ty_record_args *a)
{
	struct ty_spe_pmu pmus[TY_SPE_PMUS_MAX];
	uint64_t asked = a->spe.period;
	char why[200];

	if (a->flow)
		return ty_cli_usage(
			"record",
			"--flow and --memory cannot be combined: --flow needs an x86 CPU, "
			"--memory an Arm CPU");
	if (!ty_spe_pmus(TY_SPE_DEVICES, pmus, TY_SPE_PMUS_MAX)) {
		ty_spe_why_not(why, sizeof(why));
		ty_say("tarry: this machine cannot sample memory with Arm SPE (%s)%s\n", why,
		       strstr(why, "not Arm") ? "; on x86, `perf mem record` does, and tarry "
						"reads its file"
					      : "");
		return TY_EXIT_FAILED;
	}
	a->spe.period = ty_spe_period(&pmus[0], asked);
	if (asked && asked != a->spe.period && !a->quiet)
		ty_say("tarry: the sampling period is %" PRIu64
		       " operations. The hardware supports multiples of 256 from %" PRIu64 "\n",
		       a->spe.period, pmus[0].min_interval ? pmus[0].min_interval : 256);
	a->o.spe = &a->spe;
	return 0;
}

static int check(struct ty_record_args *a)
{
	int status;

	if (a->o.argv && a->pids.n)
		return ty_cli_usage("record", "give either a command or -p, not both");
	if (a->o.all && a->pids.n)
		return ty_cli_usage("record", "give either -a or -p, not both");
	if (!a->o.argv && !a->pids.n && !a->o.all)
		return ty_cli_usage("record", "nothing to record: give a command, -p PID or -a");
	if (a->o.data_bytes && (a->o.no_strings || a->o.no_syscalls))
		return ty_cli_usage("record", "give either --data or %s, not both",
				    a->o.no_strings ? "--no-strings" : "--no-syscalls");
	if (!*a->o.out)
		return ty_cli_usage("record", "-o needs a file name");
	if (!strcmp(a->o.out, "-"))
		return ty_cli_usage(
			"record", "-o - is not supported: tarry needs a file. For a file named -, "
				  "give -o ./-");
	if ((a->flow_filters.n || a->pt.kernel || a->pt.snapshot) && !a->flow)
		return ty_cli_usage("record",
				    "--flow-filter, --flow-kernel and --flow-snapshot need --flow");
	if ((a->o.keep_ns || a->o.keep_bytes) && (a->flow || a->memory))
		return ty_cli_usage(
			"record",
			"--keep cannot be combined with --flow or --memory, whose data cannot be "
			"dropped in parts (--flow-snapshot keeps the newest Intel PT data)");
	if (a->mem_option && !a->memory)
		return ty_cli_usage("record", "--mem-... options need --memory");
	if (!a->o.sampling.hz && a->o.sampling.stacks != TY_SAMPLE_STACKS_AUTO)
		return ty_cli_usage("record",
				    "--sample-stacks needs samples: leave out --sample off");
	if ((status = ty_record_find_probes(a)))
		return status;
	if (a->memory)
		return check_memory(a);
	if (a->flow && (status = check_flow(a)))
		return status;
	if (a->o.step)
		a->o.sampling.hz = 0; /* it would meet the stepper */
	return 0;
}

int ty_record_args_parse(struct ty_record_args *a, int argc, char **argv)
{
	const struct ty_command_line line = {"record", head, tail, .first_word_ends = true,
					     .groups = {{options, .to = a}}};
	int status;

	*a = (struct ty_record_args){.o.out = "tarry.dat",
				     .o.stacks_ns = TY_STACKS_DEFAULT_NS,
				     .o.sampling.hz = TY_SAMPLE_HZ,
				     .spe.ops = TY_SPE_LOAD | TY_SPE_STORE};
	ty_buf_init(&a->pt_filter, 1 << 16);
	status = ty_options_parse(&line, argc, argv);
	if (status >= 0)
		return status;
	if (optind < argc)
		a->o.argv = argv + optind;
	a->o.pids = a->pids.v;
	a->o.pids_n = a->pids.n;
	a->o.events = a->events.v;
	a->o.events_n = a->events.n;
	a->o.counters = a->counter_texts.v;
	a->o.counters_n = a->counter_texts.n;
	status = check(a);
	return status ? status : -1;
}

void ty_record_args_fini(struct ty_record_args *a)
{
	vec_fini(&a->pids);
	vec_fini(&a->events);
	vec_fini(&a->flow_filters);
	vec_fini(&a->region_files);
	vec_fini(&a->counter_texts);
	vec_fini(&a->span_texts);
	vec_fini(&a->usdt_texts);
	vec_fini(&a->spans);
	vec_fini(&a->usdt);
	ty_buf_fini(&a->pt_filter);
}
