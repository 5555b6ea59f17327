/* SPDX-License-Identifier: MIT */
/* See reader_options.h. */
#include "reader_options.h"

#include <stddef.h>
#include <string.h>

#include "flow_source.h"
#include "mem_session.h"
#include "units.h"

#define MEMORY_MIN (16u << 20)

/* "1,3-5": each number to add(). */
static int list(const char *s, unsigned long max, int (*add)(struct ty_select *, unsigned long),
		struct ty_select *sel)
{
	for (;;) {
		size_t n = strcspn(s, ",");
		const char *dash = memchr(s, '-', n);
		size_t first = dash ? (size_t)(dash - s) : n;
		uint64_t a, b;

		if (ty_parse_digits(s, first, max, &a))
			return -TY_EUSAGE;
		b = a;
		if (dash &&
		    (ty_parse_digits(dash + 1, n - first - 1, max, &b) || b < a || b - a > 65535))
			return -TY_EUSAGE;
		for (uint64_t v = a; v <= b; v++)
			if (add(sel, v))
				return -TY_ENOMEM;
		if (!s[n])
			return 0;
		s += n + 1;
	}
}

static int add_tid(struct ty_select *s, unsigned long v)
{
	return vec_push(&s->tids, (int32_t)v);
}

static int add_cpu(struct ty_select *s, unsigned long v)
{
	return vec_push(&s->cpus, (uint32_t)v);
}

static int take_tids(void *to, const char *arg, struct ty_err *err)
{
	if (list(arg, INT32_MAX, add_tid, to))
		return ty_wrong_value(
			err, "--tid takes thread ids such as 812 or 812,815, not '%s'", arg);
	return 0;
}

int ty_select_take_cpus(void *to, const char *arg, struct ty_err *err)
{
	if (list(arg, 65535, add_cpu, to))
		return ty_wrong_value(err, "--cpu takes CPU numbers such as 0 or 0,2-3, not '%s'",
				      arg);
	return 0;
}

static int take_comm(void *to, const char *arg, struct ty_err *err)
{
	if (!*arg)
		return ty_wrong_value(err,
				      "--comm takes a thread's name or a pattern such as 'nginx*'");
	return ty_take_texts(to, arg, err);
}

static int take_memory(void *to, const char *arg, struct ty_err *err)
{
	uint64_t *bytes = to;

	if (ty_parse_size(arg, bytes) || *bytes < MEMORY_MIN)
		return ty_wrong_value(err, "--memory '%s' is not a size such as 2G (at least 16M)",
				      arg);
	return 0;
}

static int take_clock(void *to, const char *arg, struct ty_err *err)
{
	struct ty_select *s = to;

	if (ty_parse_clock_name(arg, &s->clock))
		return ty_wrong_value(err, "--clock takes start, wall or trace, not '%s'", arg);
	s->clock_chosen = true;
	return 0;
}

#define AT(member) offsetof(struct ty_select, member)
const struct ty_option ty_select_options[] = {
	{0, "from", "T",
	 "start at T: seconds from the start (12.5), before the end (-3), or a clock time "
	 "(14:03:22.5, optionally with a date)",
	 .take = ty_take_text, .at = AT(from)},
	{0, "to", "T", "end at T", .take = ty_take_text, .at = AT(to)},
	{0, "tid", "N[,N]", "select these threads", .take = take_tids},
	{0, "comm", "NAME", "select threads by name (shell pattern, repeatable)", .take = take_comm,
	 .at = AT(comms)},
	{0, "cpu", "N[,N-M]", "select these CPUs", .take = ty_select_take_cpus},
	{0}};
const struct ty_option ty_json_option[] = {{0, "json", NULL,
					    "print JSON, as tarry-json(5) describes it",
					    .take = ty_take_flag, .at = AT(json)},
					   {0}};
/* dump says at its end which default each section has. */
#define CLOCK_HELP(start)                                                                          \
	"print times as seconds since the start (" start "), time of day (wall) or trace clock "   \
	"(trace); JSON always has the trace clock"
const struct ty_option ty_clock_option[] = {
	{0, "clock", "WHICH", CLOCK_HELP("start, the default"), .take = take_clock}, {0}};
const struct ty_option ty_dump_clock_option[] = {
	{0, "clock", "WHICH", CLOCK_HELP("start"), .take = take_clock}, {0}};
const struct ty_option ty_memory_option[] = {
	{0, "memory", "SIZE",
	 "limit the memory of analysis data and caches to SIZE, such as 2G (default: a quarter of "
	 "the machine)",
	 .take = take_memory, .at = AT(memory_bytes)},
	{0}};
const struct ty_option ty_unused_options[] = {
	{0, "memory", "SIZE", NULL, .take = take_memory, .at = AT(memory_bytes)},
	{0, "no-index", NULL, NULL, .take = ty_take_flag, .at = AT(no_index)},
	{0}};
const struct ty_option ty_index_option[] = {{0, "no-index", NULL,
					     "do not use an index file (reopening will be slower)",
					     .take = ty_take_flag, .at = AT(no_index)},
					    {0}};

const struct ty_option ty_mem_options[] = {
	{0, "spe-raw", "FILE", "memory samples: read a bare Arm SPE stream, not a recording",
	 .take = ty_take_text, .at = offsetof(struct ty_mem_options, raw)},
	{0, "midr", "HEX",
	 "set MIDR_EL1 of the core that wrote the --spe-raw stream; without it, data sources "
	 "come from event bits only",
	 .take = ty_take_text, .at = offsetof(struct ty_mem_options, midr)},
	{0, "symfs", "DIR",
	 "memory samples, stacks: look for the recorded machine's files in DIR (alias: "
	 "--sysroot, repeatable)",
	 .take = ty_take_texts, .at = offsetof(struct ty_mem_options, roots)},
	{0, "sysroot", "DIR", NULL, .take = ty_take_texts,
	 .at = offsetof(struct ty_mem_options, roots)},
	{0, "kallsyms", "FILE",
	 "memory samples: read kernel function names from a copy of /proc/kallsyms",
	 .take = ty_take_text, .at = offsetof(struct ty_mem_options, kallsyms)},
	{0}};

#undef AT
#define AT(member) offsetof(struct ty_flow_source, member)
const struct ty_option ty_code_options[] = {
	{0, "symfs", "DIR",
	 "look for program files in DIR by path, name or build id (alias: --sysroot, repeatable)",
	 .take = ty_take_texts, .at = AT(roots)},
	{0, "sysroot", "DIR", NULL, .take = ty_take_texts, .at = AT(roots)},
	{0, "image", "FILE@ADDRESS[:OFFSET:SIZE]",
	 "map an ELF file with its lowest page at ADDRESS, or SIZE bytes of any file from OFFSET",
	 .take = ty_take_texts, .at = AT(images)},
	{0, "core", "FILE", "read code from a core dump if no other file has it",
	 .take = ty_take_texts, .at = AT(cores)},
	{0, "kcore", "PATH",
	 "read kernel code from a copy of /proc/kcore (or a directory with kcore and kallsyms), "
	 "not from the recording",
	 .take = ty_take_texts, .at = AT(kcores)},
	{0, "kallsyms", "FILE", "read kernel function names from a copy of /proc/kallsyms",
	 .take = ty_take_text, .at = AT(kallsyms)},
	{0}};
