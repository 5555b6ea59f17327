/* SPDX-License-Identifier: MIT */
/* tarry record: arguments, progress, closing line. The recording itself is in recorder/. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "cli.h"
#include "command.h"
#include "flow_files.h"
#include "index_file.h"
#include "pt_caps.h"
#include "recording.h"
#include "spe_packet.h"
#include "spe_pmu.h"
#include "symbols.h"
#include "units.h"
#include "vec.h"

static const char help[] =
	"usage: tarry record [options] [--] COMMAND [ARG...]\n"
	"       tarry record [options] -p PID[,PID...]\n"
	"       tarry record [options] -a\n"
	"\n"
	"Record system calls and scheduling into a file. The system calls are those of the "
	"command\n"
	"and its children, or of the processes given with all their threads and later children, "
	"or\n"
	"with -a of everybody; scheduling, interrupts and block I/O are always recorded of the "
	"whole\n"
	"machine, because the culprit is often somebody else. Recording ends with the command "
	"(children\n"
	"that outlive it are not waited for), with the last of the processes, after --duration, "
	"or\n"
	"with Ctrl-C; a second Ctrl-C does not wait for the command.\n"
	"\n"
	"  -o, --output FILE      write to FILE (default tarry.dat; an old one is replaced)\n"
	"  -p, --pid PID[,PID]    record these processes (repeatable)\n"
	"  -a, --all              record the system calls of all processes\n"
	"  -d, --duration T       stop after T (500ms, 20s, 2m); a command goes on, and is waited "
	"for\n"
	"  -e, --event SYSTEM:EVENT[:FILTER]\n"
	"                         record this event too (repeatable). EVENT may be a pattern "
	"(block:*);\n"
	"                         FILTER as in the kernel's event filters (prev_pid == 1)\n"
	"      --no-syscalls      leave out system calls\n"
	"      --no-sched         leave out scheduling, interrupts, block I/O, signals and locks\n"
	"      --flow[=pt|step]   record every executed instruction of the command: by Intel PT, "
	"or, "
	"on\n"
	"                         machines without it, by single-stepping (step: 1,000 times "
	"slower "
	"and\n"
	"                         more)\n"
	"      --flow-filter FUNC[@FILE]\n"
	"                         only from a function's entry to its return (of the program, or "
	"of "
	"FILE);\n"
	"                         outside of it the command runs at full speed. With Intel PT: "
	"only\n"
	"                         the function's own code; also OFFSET/SIZE@FILE, 'start FUNC' "
	"and\n"
	"                         'stop FUNC' (repeatable, as many as the CPU has)\n"
	"      --flow-kernel      Intel PT: kernel code, too\n"
	"      --flow-snapshot    Intel PT: keep the newest 4 MB per CPU only, as they are at the "
	"end\n"
	"                         and whenever tarry gets SIGUSR2\n"
	"      --memory[=spe]     sample memory accesses by Arm SPE: of the command, of -p's "
	"processes,\n"
	"                         or with -a of everybody\n"
	"      --mem-ops OP[,OP]  load, store, branch, or all (default load,store)\n"
	"      --mem-latency N    only what takes N cycles or longer\n"
	"      --mem-events EVENT[,EVENT]\n"
	"                         only samples with all these events, by name as `dump memory` "
	"shows\n"
	"                         them (l1d-refill, tlb-refill...) or by bit; !EVENT: only those "
	"without\n"
	"      --mem-period N     operations from one sample to the next (default 4096); the "
	"hardware\n"
	"                         takes multiples of 256 from its least on\n"
	"      --mem-phys         physical addresses, too\n"
	"      --buffer SIZE      kernel ring per CPU and buffer (default 8M, less on small "
	"machines);\n"
	"                         make it larger when events are lost\n"
	"  -q, --quiet            no progress and no closing line\n"
	"  -h, --help             this text\n"
	"\n"
	"Exit status: the command's own (128+N when signal N ended it; 127 not found, 126 not\n"
	"executable), also when all was recorded and only finishing the file failed; without a\n"
	"command 0; 1 when recording failed, 2 for wrong usage.\n"
	"What this machine can record: tarry doctor.\n";

enum {
	OPT_NO_SYSCALLS = 1000,
	OPT_NO_SCHED,
	OPT_BUFFER,
	OPT_FLOW,
	OPT_FLOW_FILTER,
	OPT_FLOW_LIST,
	OPT_FLOW_KERNEL,
	OPT_FLOW_SNAPSHOT,
	OPT_MEMORY,
	OPT_MEM_OPS,
	OPT_MEM_LATENCY,
	OPT_MEM_EVENTS,
	OPT_MEM_PERIOD,
	OPT_MEM_PHYS
};

static const struct option options[] = {
	{"output", required_argument, NULL, 'o'},
	{"pid", required_argument, NULL, 'p'},
	{"all", no_argument, NULL, 'a'},
	{"duration", required_argument, NULL, 'd'},
	{"event", required_argument, NULL, 'e'},
	{"no-syscalls", no_argument, NULL, OPT_NO_SYSCALLS},
	{"no-sched", no_argument, NULL, OPT_NO_SCHED},
	{"flow", optional_argument, NULL, OPT_FLOW},
	{"flow-filter", required_argument, NULL, OPT_FLOW_FILTER},
	{"flow-kernel", no_argument, NULL, OPT_FLOW_KERNEL},
	{"flow-snapshot", no_argument, NULL, OPT_FLOW_SNAPSHOT},
	{"flow-list", required_argument, NULL, OPT_FLOW_LIST},
	{"memory", optional_argument, NULL, OPT_MEMORY},
	{"mem-ops", required_argument, NULL, OPT_MEM_OPS},
	{"mem-latency", required_argument, NULL, OPT_MEM_LATENCY},
	{"mem-events", required_argument, NULL, OPT_MEM_EVENTS},
	{"mem-period", required_argument, NULL, OPT_MEM_PERIOD},
	{"mem-phys", no_argument, NULL, OPT_MEM_PHYS},
	{"buffer", required_argument, NULL, OPT_BUFFER},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct args {
	struct ty_record_opts o;
	VEC(pid_t) pids;
	VEC(const char *) events;
	bool quiet;
	bool flow;
	const char *flow_how;
	VEC(const char *) flow_filters;
	struct ty_pt_opts pt;
	struct ty_buf pt_filter;
	struct ty_step_opts step;
	bool memory, mem_option;
	struct ty_spe_opts spe;
};

/* 1,234,567 */
static const char *grouped(uint64_t v, char out[32])
{
	char digits[24];
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, v), k = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[k++] = ',';
		out[k++] = digits[i];
	}
	out[k] = 0;
	return out;
}

static void progress(void *ctx, const struct ty_record_progress *p)
{
	char n[32], lost[32], bytes[TY_DURATION_MAX];

	fprintf(stderr, "\rtarry: %.1f s, %s events, %s, lost %s\033[K",
		(double)p->elapsed_ns / 1e9, grouped(p->events, n),
		ty_fmt_bytes(p->file_bytes, bytes), grouped(p->lost, lost));
	*(bool *)ctx = true;
}

static void finishing(void *ctx, uint64_t done, uint64_t total)
{
	fprintf(stderr, "\rtarry: the recording has ended; finishing the file, %.0f%%\033[K",
		total ? 100.0 * (double)done / (double)total : 100.0);
	*(bool *)ctx = true;
}

static int add_pids(struct args *a, const char *text)
{
	const char *p = text;

	for (;;) {
		char *end;
		long v;

		errno = 0;
		v = strtol(p, &end, 10);
		if (end == p || *p < '0' || *p > '9' || (*end && *end != ',') || errno || v <= 0 ||
		    v > INT32_MAX)
			return ty_cli_usage("record", "-p '%s' is not a list of process numbers",
					    text);
		if (vec_push(&a->pids, (pid_t)v))
			return ty_cli_usage("record", "out of memory");
		if (!*end)
			return 0;
		p = end + 1;
	}
}

/* "load,store"; "all" is no filter. */
static int mem_ops(struct args *a, const char *text)
{
	static const char *const names[] = {"load", "store", "branch"};
	unsigned ops = 0;

	if (!strcmp(text, "all")) {
		a->spe.ops = 0;
		return 0;
	}
	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ","), i = 0;

		while (i < 3 && (strlen(names[i]) != n || memcmp(p, names[i], n)))
			i++;
		if (i == 3)
			return ty_cli_usage("record",
					    "--mem-ops '%s' is not a list of load, store and "
					    "branch, or all",
					    text);
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

static int mem_events(struct args *a, const char *text)
{
	for (const char *p = text;; p++) {
		bool not = *p == '!';
		size_t n;
		unsigned bit;

		p += not ;
		n = strcspn(p, ",");
		bit = mem_event(p, n);
		if (bit == 64)
			return ty_cli_usage(
				"record",
				"--mem-events '%s': '%.*s' is no event of Arm SPE "
				"(l1d-refill, tlb-refill, llc-refill, remote-access... or "
				"a bit, 0 to 63)",
				text, (int)n, p);
		*(not ? &a->spe.events_not : &a->spe.events) |= 1ull << bit;
		p += n;
		if (!*p)
			break;
	}
	if (a->spe.events & a->spe.events_not)
		return ty_cli_usage("record",
				    "--mem-events '%s': no sample has an event and has it "
				    "not",
				    text);
	return 0;
}

static int mem_number(const char *option, const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !*out)
		return ty_cli_usage("record", "%s '%s' is not a number above 0", option, text);
	return 0;
}

static int take_mem_option(struct args *a, int c)
{
	a->mem_option |= c != OPT_MEMORY;
	switch (c) {
	case OPT_MEM_OPS: return mem_ops(a, optarg);
	case OPT_MEM_LATENCY: return mem_number("--mem-latency", optarg, &a->spe.min_latency);
	case OPT_MEM_EVENTS: return mem_events(a, optarg);
	case OPT_MEM_PERIOD: return mem_number("--mem-period", optarg, &a->spe.period);
	case OPT_MEM_PHYS: a->spe.phys = true; return 0;
	}
	a->memory = true;
	return optarg && strcmp(optarg, "spe")
		       ? ty_cli_usage("record", "--memory=%s: it is spe", optarg)
		       : 0;
}

static int take_option(struct args *a, int c)
{
	if (c >= OPT_MEMORY)
		return take_mem_option(a, c);
	switch (c) {
	case 'o': a->o.out = optarg; return 0;
	case 'p': return add_pids(a, optarg);
	case 'a': a->o.all = true; return 0;
	case 'd':
		if (ty_parse_duration(optarg, &a->o.duration_ns) || !a->o.duration_ns)
			return ty_cli_usage("record",
					    "--duration '%s' is not a duration such as 500ms, 20s "
					    "or 2m",
					    optarg);
		return 0;
	case 'e': return vec_push(&a->events, optarg) ? TY_EXIT_FAILED : 0;
	case OPT_NO_SYSCALLS: a->o.no_syscalls = true; return 0;
	case OPT_NO_SCHED: a->o.no_sched = true; return 0;
	case OPT_BUFFER:
		if (ty_parse_size(optarg, &a->o.buffer_bytes) || a->o.buffer_bytes < 64 << 10 ||
		    a->o.buffer_bytes > 1ull << 40)
			return ty_cli_usage("record",
					    "--buffer '%s' is not a size such as 8M (at least 64k)",
					    optarg);
		return 0;
	case OPT_FLOW:
		a->flow = true;
		a->flow_how = optarg ? optarg : "pt";
		if (strcmp(a->flow_how, "pt") && strcmp(a->flow_how, "step"))
			return ty_cli_usage("record", "--flow=%s: it is pt or step", optarg);
		return 0;
	case OPT_FLOW_FILTER: return vec_push(&a->flow_filters, optarg) ? TY_EXIT_FAILED : 0;
	case OPT_FLOW_KERNEL: a->pt.kernel = true; return 0;
	case OPT_FLOW_SNAPSHOT: a->pt.snapshot = true; return 0;
	case OPT_FLOW_LIST: a->step.list = optarg; return 0;
	case 'q': a->quiet = true; return 0;
	}
	fprintf(stderr, "`tarry record --help` lists the options\n");
	return TY_EXIT_USAGE;
}

/* Where a function is: file (as large as PATH_MAX), its inode, and the stretch of its bytes. */
static int find_function(struct args *a, const char *text, char *path, struct stat *st,
			 struct ty_symbol *sym, struct ty_err *err)
{
	char name[512], *at;
	struct ty_command c;
	struct ty_flow_files *files;
	struct ty_symbols *syms = NULL;
	struct ty_bytes b;
	const char *file = c.path;
	int r;

	if (strlen(text) >= sizeof(name))
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--flow-filter: the name is too long");
	strcpy(name, text);
	at = strchr(name, '@');
	if (at) {
		*at = 0;
		file = at + 1;
	} else if ((r = ty_command_find(&c, a->o.argv, err))) {
		return r;
	}
	files = ty_flow_files_new(NULL, 0);
	if (!files)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	r = ty_flow_files_read(files, file, &b, err);
	if (!r && !(syms = ty_symbols_new(b.p, b.n)))
		r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (!r && (!ty_symbols_named(syms, name, sym) || stat(file, st) || !realpath(file, path)))
		r = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "--flow-filter: %s has no function '%s' in its symbol table (nm shows "
			    "what it has; FUNC@FILE names a function of a library)",
			    file, name);
	ty_symbols_free(syms);
	ty_flow_files_free(files);
	return r;
}

/* OFFSET/SIZE@FILE: 1; not of that form: 0. */
static int is_stretch(const char *text)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	strtoull(text, &end, 0);
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return 0;
	strtoull(end + 1, &end, 0);
	return *end == '@' && end[1];
}

/* One filter in the words of PERF_EVENT_IOC_SET_FILTER. */
static int add_pt_filter(struct args *a, const char *text, struct ty_err *err)
{
	const char *what = "filter", *rest = text;
	char path[PATH_MAX];
	struct ty_symbol sym;
	struct stat st;
	int r;

	if (a->pt_filter.len)
		ty_buf_addc(&a->pt_filter, ',');
	if (is_stretch(text)) {
		ty_buf_addf(&a->pt_filter, "filter %s", text);
		return 0;
	}
	if (!strncmp(text, "start ", 6) || !strncmp(text, "stop ", 5)) {
		what = text[2] == 'a' ? "start" : "stop";
		rest = strchr(text, ' ') + 1;
	}
	r = find_function(a, rest, path, &st, &sym, err);
	if (r)
		return r;
	ty_buf_addf(&a->pt_filter, "%s %#" PRIx64, what, sym.start);
	if (*what == 'f' && !sym.size)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--flow-filter: the size of '%s' is not in the symbol table; give "
			       "%#" PRIx64 "/SIZE@%s",
			       rest, sym.start, path);
	if (*what == 'f')
		ty_buf_addf(&a->pt_filter, "/%#" PRIx64, sym.size);
	ty_buf_addf(&a->pt_filter, "@%s", path);
	return 0;
}

static int check_pt(struct args *a)
{
	struct ty_err err = {0};
	char why[200];

	if (!ty_pt_caps_have()) {
		ty_pt_caps_why_not(why, sizeof(why));
		fprintf(stderr,
			"tarry: this machine cannot record by Intel PT (%s); --flow=step records "
			"by single-stepping on any x86-64 machine, slowly\n",
			why);
		return TY_EXIT_FAILED;
	}
	vec_each (f, &a->flow_filters)
		if (add_pt_filter(a, *f, &err))
			return ty_cli_fail(&err);
	if (a->pt_filter.failed)
		return ty_cli_usage("record", "--flow-filter: too many, or too long");
	a->pt.filter = a->pt_filter.len ? a->pt_filter.p : NULL;
	a->o.pt = &a->pt;
	return 0;
}

static int check_flow(struct args *a)
{
	struct ty_err err = {0};
	char path[PATH_MAX];
	struct ty_symbol sym;
	struct stat st;

	if (!a->o.argv)
		return ty_cli_usage("record", "--flow needs a command to run");
	if (!strcmp(a->flow_how, "pt"))
		return check_pt(a);
	if (a->flow_filters.n > 1 || a->pt.kernel || a->pt.snapshot)
		return ty_cli_usage("record", "--flow=step takes one --flow-filter, and no "
					      "--flow-kernel or --flow-snapshot");
	if (a->flow_filters.n) {
		if (find_function(a, a->flow_filters.v[0], path, &st, &sym, &err))
			return ty_cli_fail(&err);
		a->step.filter = true;
		a->step.dev = st.st_dev;
		a->step.ino = st.st_ino;
		a->step.off = sym.start;
	}
	a->o.step = &a->step;
	return 0;
}

static int check_memory(struct args *a)
{
	struct ty_spe_pmu pmus[TY_SPE_PMUS_MAX];
	uint64_t asked = a->spe.period;
	char why[200];

	if (a->flow)
		return ty_cli_usage("record",
				    "give either --flow or --memory: no machine has both");
	if (!ty_spe_pmus(TY_SPE_DEVICES, pmus, TY_SPE_PMUS_MAX)) {
		ty_spe_why_not(why, sizeof(why));
		fprintf(stderr, "tarry: this machine cannot sample memory by Arm SPE (%s)%s\n", why,
			strstr(why, "not Arm") ? "; on x86, `perf mem record` does, and tarry "
						 "reads its file"
					       : "");
		return TY_EXIT_FAILED;
	}
	a->spe.period = ty_spe_period(&pmus[0], asked);
	if (asked && asked != a->spe.period && !a->quiet)
		fprintf(stderr,
			"tarry: the period is %" PRIu64 " operations: the hardware takes multiples "
			"of 256, from %" PRIu64 " on\n",
			a->spe.period, pmus[0].min_interval ? pmus[0].min_interval : 256);
	a->o.spe = &a->spe;
	return 0;
}

static int check(struct args *a)
{
	if (a->o.argv && a->pids.n)
		return ty_cli_usage("record", "give either a command or -p, not both");
	if (a->o.all && a->pids.n)
		return ty_cli_usage("record", "give either -a or -p, not both");
	if (!a->o.argv && !a->pids.n && !a->o.all)
		return ty_cli_usage("record", "nothing to record: give a command, -p PID or -a");
	if (!*a->o.out)
		return ty_cli_usage("record", "-o needs a file name");
	if ((a->flow_filters.n || a->pt.kernel || a->pt.snapshot) && !a->flow)
		return ty_cli_usage("record", "--flow-filter, --flow-kernel and --flow-snapshot go "
					      "with --flow");
	if (a->mem_option && !a->memory)
		return ty_cli_usage("record", "--mem-... options go with --memory");
	if (a->memory)
		return check_memory(a);
	return a->flow ? check_flow(a) : 0;
}

static void closing_line(const struct ty_record_opts *o, const struct ty_record_result *res)
{
	double own = (double)(res->cpu_user_ns + res->cpu_sys_ns) / 1e9,
	       elapsed = (double)res->elapsed_ns / 1e9;
	char n[32], lost[32], bytes[TY_DURATION_MAX];

	fprintf(stderr,
		"tarry: %s events in %.3g s, %s (%.1f bytes/event), lost %s, own CPU %.2f s "
		"(%.1f%%) "
		"-> %s\n",
		grouped(res->events, n), elapsed, ty_fmt_bytes(res->file_bytes, bytes),
		res->events ? (double)res->file_bytes / (double)res->events : 0.0,
		grouped(res->lost, lost), own, elapsed > 0 ? 100 * own / elapsed : 0.0, o->out);
	if (o->step && !res->steps && !res->steps_lost)
		fprintf(stderr, "tarry: no instruction was single-stepped: %s\n",
			o->step->filter ? "the function of --flow-filter was not called"
					: "the command executed none");
	else if (o->step && res->steps)
		fprintf(stderr,
			"tarry: %s instructions single-stepped in software, %.0f us each: the "
			"command's times are not its own\n",
			grouped(res->steps, n), elapsed * 1e6 / (double)res->steps);
	if (o->pt) {
		fprintf(stderr, "tarry: %s of Intel PT, %s gaps by a full buffer",
			ty_fmt_bytes(res->aux.bytes, bytes), grouped(res->aux.truncated, n));
		fprintf(stderr, ", %s lost sideband records\n", grouped(res->aux.lost, lost));
	}
	if (o->spe) {
		fprintf(stderr,
			"tarry: %s of Arm SPE, one sample in %" PRIu64 " operations, %s gaps "
			"by a full buffer",
			ty_fmt_bytes(res->aux.bytes, bytes), o->spe->period,
			grouped(res->aux.truncated, n));
		fprintf(stderr, ", %s times collisions", grouped(res->aux.collided, n));
		fprintf(stderr, ", %s lost sideband records\n", grouped(res->aux.lost, lost));
	}
	if (res->lost)
		fprintf(stderr, "tarry: the gaps are marked in the file; a larger --buffer loses "
				"less\n");
	if (res->lost && res->no_nice)
		fprintf(stderr, "tarry: the readers got no higher priority (CAP_SYS_NICE), which "
				"makes loss likelier\n");
}

static void say_notes(const struct ty_record_result *res)
{
	for (unsigned i = 0; i < res->notes_n; i++)
		fprintf(stderr, "tarry: note: %s\n", res->notes[i]);
}

static int exit_status(const struct ty_record_opts *o, struct ty_record_result *res, bool quiet)
{
	if (!o->argv)
		return TY_EXIT_GOOD;
	if (res->still_running && res->signal) {
		fprintf(stderr, "tarry: the command (pid %d) still runs\n",
			(int)res->still_running);
		return 128 + res->signal;
	}
	if (res->still_running) {
		if (!quiet)
			fprintf(stderr,
				"tarry: recording ended; waiting for the command (pid %d)\n",
				(int)res->still_running);
		ty_record_wait(res);
	}
	if (!res->command_ended) {
		fprintf(stderr,
			"tarry: the command ended, but the kernel kept its exit status from "
			"tarry (somebody else has taken it)\n");
		return TY_EXIT_FAILED;
	}
	if (WIFSIGNALED(res->command_status))
		return 128 + WTERMSIG(res->command_status);
	return WEXITSTATUS(res->command_status);
}

static int record(struct args *a)
{
	struct ty_record_result res;
	struct ty_err err = {0};
	bool shown = false;
	int r;

	a->o.pids = a->pids.v;
	a->o.pids_n = a->pids.n;
	a->o.events = a->events.v;
	a->o.events_n = a->events.n;
	if (!a->quiet && isatty(STDERR_FILENO)) {
		a->o.progress = progress;
		a->o.finishing = finishing;
		a->o.ctx = &shown;
	}
	r = ty_record(&a->o, &res, &err);
	if (shown)
		fputs("\r\033[K", stderr);
	say_notes(&res);
	/* The index of the recording that was there before does not fit this one (and is not used).
	 */
	if (!r || res.kept_spool)
		ty_index_remove(a->o.out);
	if (r) {
		r = ty_cli_fail(&err);
		if (res.kept_spool && !res.kept_whole)
			fprintf(stderr,
				"tarry: what was recorded until then (%.3g s) is in %s and can be "
				"read\n",
				(double)res.elapsed_ns / 1e9, a->o.out);
		if (res.kept_whole && a->o.argv)
			return exit_status(&a->o, &res, a->quiet);
		if (res.still_running && !res.signal)
			exit_status(&a->o, &res, a->quiet);
		return r == TY_EXIT_USAGE || res.exit_code == 1 ? r : res.exit_code;
	}
	if (!a->quiet)
		closing_line(&a->o, &res);
	return exit_status(&a->o, &res, a->quiet);
}

int ty_cmd_record(int argc, char **argv)
{
	struct args a = {.o = {.out = "tarry.dat"}, .spe = {.ops = TY_SPE_LOAD | TY_SPE_STORE}};
	int c, r = 0;

	ty_buf_init(&a.pt_filter, 1 << 16);
	optind = 1;
	while (!r && (c = getopt_long(argc, argv, "+o:p:ad:e:qh", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(help, stdout);
			goto out;
		}
		r = take_option(&a, c);
	}
	if (!r && optind < argc)
		a.o.argv = argv + optind;
	r = r ? r : check(&a);
	r = r ? r : record(&a);
out:
	vec_fini(&a.pids);
	vec_fini(&a.events);
	vec_fini(&a.flow_filters);
	ty_buf_fini(&a.pt_filter);
	return r;
}
