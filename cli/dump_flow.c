/* SPDX-License-Identifier: MIT */
/*
 * tarry dump FILE flow: executed instructions or taken branches, one line per item, in time order
 * over all streams; what could not be decoded in its place. Budget: 300 ns per line of JSON.
 */
#include "dump_flow.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "disasm.h"
#include "flow_calls.h"
#include "flow_choice.h"
#include "flow_names.h"
#include "flow_source.h"
#include "json_out.h"
#include "plain.h"

enum { INDENT_MAX = 60 };
enum shape { INSN, BRANCHES, CALLS };

static const char help[] =
	"usage: tarry dump [FILE] flow [--insn|--branches|--calls] [options]\n\n"
	"Executed instructions, from Intel PT or the software branch tracer.\n\n"
	"  --branches         taken branches, FROM => TO; 0 is outside of what was traced "
	"(default)\n"
	"  --insn             every instruction, with symbol, disassembly and source line\n"
	"  --calls            calls, indented by depth, as they begin; as JSON as they end\n"
	"  --json             one JSON object per line\n"
	"  --from T, --to T   only this time slice (seconds from the start, +T, -T before the "
	"end);\n"
	"                     only what lies around it is decoded\n"
	"  --tid N[,N]        only these threads\n"
	"  --comm NAME        only threads while they are called so (a pattern such as 'nginx*')\n"
	"  --cpu N[,N]        only these CPUs (of recordings by CPU; a stream of a thread has "
	"none)\n";

struct dump {
	const struct ty_select *sel;
	enum shape shape;
	FILE *out;
	struct ty_json j;
	struct ty_flow *flow;
	struct ty_flow_names *names;
	struct ty_disasm *asm64, *asm32;
	struct ty_flow_calls *calls;
	struct ty_flow_choice choice;
};

bool ty_dump_is_flow(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		if (!strcmp(argv[i], "flow") || !strncmp(argv[i], "--pt-raw", 8))
			return true;
	return false;
}

static void json_where(struct dump *d, const struct ty_flow_at *at)
{
	ty_json_object(&d->j, NULL);
	if (at->ts_ns == TY_FLOW_NO_TIME)
		ty_json_null(&d->j, "ts_ns");
	else
		ty_json_u64(&d->j, "ts_ns", at->ts_ns);
	if (at->tid < 0)
		ty_json_null(&d->j, "tid");
	else
		ty_json_i64(&d->j, "tid", at->tid);
	if (at->cpu < 0)
		ty_json_null(&d->j, "cpu");
	else
		ty_json_i64(&d->j, "cpu", at->cpu);
}

static void json_end(struct dump *d)
{
	ty_json_end_object(&d->j);
	ty_json_line(&d->j);
}

static void text_where(struct dump *d, const struct ty_flow_at *at)
{
	char tid[16] = "?", cpu[16] = "-";

	if (at->tid >= 0)
		snprintf(tid, sizeof(tid), "%d", at->tid);
	if (at->cpu >= 0)
		snprintf(cpu, sizeof(cpu), "%03d", at->cpu);
	/* "~": not later than the next time stamp, and not earlier than this one. */
	if (at->ts_ns == TY_FLOW_NO_TIME)
		fprintf(d->out, "%14s  %7s [%s] ", "?", tid, cpu);
	else
		fprintf(d->out, "%6" PRIu64 ".%09" PRIu64 "%c %7s [%s] ", at->ts_ns / 1000000000,
			at->ts_ns % 1000000000, at->item.flags & TY_FF_EXACT ? ' ' : '~', tid, cpu);
}

static const char *name(struct dump *d, const struct ty_flow_at *at, uint64_t ip, char *out,
			size_t size)
{
	uint64_t t = at->ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : at->ts_ns;

	if (!ip)
		snprintf(out, size, "0");
	else
		ty_flow_names_text(d->names, at->pid, t, ip, out, size);
	ty_plain(out, strlen(out));
	return out;
}

static void put_insn(struct dump *d, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	uint64_t t = at->ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : at->ts_ns;
	struct ty_flow_name where;
	char sym[256], text[192];
	const char *file;
	int line;

	if (d->sel->json) {
		json_where(d, at);
		ty_json_hex(&d->j, "ip", it->ip);
		json_end(d);
		return;
	}
	where = ty_flow_names_at(d->names, at->pid, t, it->ip);
	ty_disasm_text(it->flags & TY_FF_32BIT ? d->asm32 : d->asm64, it->raw, it->size, it->ip,
		       text, sizeof(text));
	text_where(d, at);
	fprintf(d->out, "%16" PRIx64 " %-32s %s", it->ip, name(d, at, it->ip, sym, sizeof(sym)),
		text);
	if (ty_flow_names_line(d->names, &where, &file, &line)) {
		snprintf(sym, sizeof(sym), "%s", file);
		ty_plain(sym, strlen(sym));
		fprintf(d->out, "  %s:%d", sym, line);
	}
	fputc('\n', d->out);
}

static void put_branch(struct dump *d, const struct ty_flow_at *at)
{
	const struct ty_flow_item *b = &at->item;
	char from[256], to[256];

	if (d->sel->json) {
		json_where(d, at);
		ty_json_hex(&d->j, "from", b->ip);
		ty_json_hex(&d->j, "to", b->to);
		json_end(d);
		return;
	}
	text_where(d, at);
	fprintf(d->out, "%16" PRIx64 " %s => %16" PRIx64 " %s\n", b->ip,
		name(d, at, b->ip, from, sizeof(from)), b->to, name(d, at, b->to, to, sizeof(to)));
}

static void call_begins(void *ctx, const struct ty_flow_call *c)
{
	struct dump *d = ctx;
	struct ty_flow_at at = {.ts_ns = c->start_ns, .tid = c->tid, .pid = c->pid, .cpu = c->cpu};
	char text[300];

	if (d->sel->json || !ty_flow_chosen(&d->choice, &at))
		return;
	at.item.flags = TY_FF_EXACT;
	snprintf(text, sizeof(text), "%s", ty_flow_calls_function(d->calls, c->func)->name);
	ty_plain(text, strlen(text));
	text_where(d, &at);
	fprintf(d->out, "%*s%s%s%s%s%s\n",
		c->depth < INDENT_MAX ? 2 * (int)c->depth : 2 * INDENT_MAX, "", text,
		c->flags & TY_CALL_SIGNAL ? " (signal)" : "",
		c->flags & TY_CALL_TAIL ? " (tail call)" : "",
		c->flags & TY_CALL_BEFORE ? " (began before)" : "",
		c->flags & TY_CALL_BACK ? " (goes on)" : "");
}

static void json_time(struct dump *d, const char *key, uint64_t ns)
{
	if (ns == TY_FLOW_NO_TIME)
		ty_json_null(&d->j, key);
	else
		ty_json_u64(&d->j, key, ns);
}

static void call_ends(void *ctx, const struct ty_flow_call *c)
{
	struct dump *d = ctx;
	struct ty_flow_at at = {.ts_ns = c->start_ns, .tid = c->tid, .pid = c->pid, .cpu = c->cpu};

	if (!d->sel->json || !ty_flow_chosen(&d->choice, &at))
		return;
	json_where(d, &at);
	json_time(d, "end_ns", c->end_ns);
	ty_json_str(&d->j, "function", ty_flow_calls_function(d->calls, c->func)->name);
	ty_json_hex(&d->j, "ip", c->ip);
	ty_json_u64(&d->j, "depth", c->depth);
	ty_json_u64(&d->j, "insns", c->insns);
	ty_json_u64(&d->j, "self_insns", c->self_insns);
	ty_json_bool(&d->j, "began_before", c->flags & TY_CALL_BEFORE);
	ty_json_bool(&d->j, "open", c->flags & TY_CALL_OPEN);
	ty_json_bool(&d->j, "cut", c->flags & TY_CALL_CUT);
	ty_json_bool(&d->j, "gap_inside", c->flags & TY_CALL_GAP);
	ty_json_bool(&d->j, "signal", c->flags & TY_CALL_SIGNAL);
	ty_json_bool(&d->j, "tail", c->flags & TY_CALL_TAIL);
	ty_json_bool(&d->j, "back", c->flags & TY_CALL_BACK);
	json_end(d);
}

static void put_gap(struct dump *d, const struct ty_flow_at *at)
{
	const struct ty_flow_item *it = &at->item;
	const char *text =
		it->kind == TY_FLOW_OVERFLOW ? "overflow: the CPU lost packets" : it->text;

	if (d->sel->json) {
		json_where(d, at);
		ty_json_str(&d->j, "gap", text);
		ty_json_hex(&d->j, "ip", it->ip);
		ty_json_u64(&d->j, "offset", it->off);
		json_end(d);
		return;
	}
	text_where(d, at);
	fprintf(d->out, "GAP: %s (at 0x%" PRIx64 ", byte 0x%" PRIx64 " of the stream)\n", text,
		it->ip, it->off);
}

static int put(struct dump *d, const struct ty_flow_at *at)
{
	if (d->calls && ty_flow_calls_feed(d->calls, at))
		return -TY_ENOMEM;
	if (!ty_flow_chosen(&d->choice, at))
		return 0;
	if (at->item.kind == TY_FLOW_GAP || at->item.kind == TY_FLOW_OVERFLOW)
		put_gap(d, at);
	else if (d->shape == INSN && at->item.kind == TY_FLOW_INSN)
		put_insn(d, at);
	else if (at->item.kind == TY_FLOW_BRANCH)
		put_branch(d, at);
	return 0;
}

static int run(struct dump *d, struct ty_flow_source *src, const char *path, struct ty_err *err)
{
	struct ty_flow_at at;
	int r = ty_flow_source_window(src, path, d->sel, d->shape == BRANCHES, err);

	if (r)
		return r;
	if (ty_flow_choice_init(&d->choice, d->sel, src))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	d->names = ty_flow_source_names(src, err);
	d->asm64 = ty_disasm_new(TY_DISASM_X86_64);
	d->asm32 = ty_disasm_new(TY_DISASM_X86_32);
	if (!d->names || !d->asm64 || !d->asm32)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (d->shape == CALLS) {
		d->calls = ty_flow_calls_new(d->names, call_begins, call_ends, d);
		if (!d->calls)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	ty_json_init(&d->j, d->out);
	while ((r = ty_flow_next(d->flow, &at)) > 0 && !ferror(d->out))
		if (put(d, &at))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (r < 0)
		return ty_fail(err, -r, TY_NO_OFFSET, "%s: executed instructions: %s", path,
			       ty_strerror(r));
	if (d->calls)
		ty_flow_calls_finish(d->calls);
	ty_flow_source_tell(src);
	if (fflush(d->out) || ferror(d->out))
		return ty_fail_errno(err, "standard output: write failed");
	return 0;
}

static void fini(struct dump *d)
{
	ty_flow_calls_free(d->calls);
	ty_flow_names_free(d->names);
	ty_disasm_free(d->asm64);
	ty_disasm_free(d->asm32);
	ty_flow_choice_fini(&d->choice);
}

int ty_cmd_dump_flow(int argc, char **argv)
{
	enum { OPT_INSN = TY_OPT_OWN, OPT_BRANCHES, OPT_CALLS };
	static const struct option opts[] = {TY_SELECT_OPTIONS,
					     TY_FLOW_OPTIONS,
					     {"insn", no_argument, NULL, OPT_INSN},
					     {"branches", no_argument, NULL, OPT_BRANCHES},
					     {"calls", no_argument, NULL, OPT_CALLS},
					     {"help", no_argument, NULL, 'h'},
					     {0}};
	struct ty_flow_source src = {0};
	struct ty_select sel = {0};
	struct dump d = {.sel = &sel, .shape = BRANCHES, .out = stdout};
	struct ty_err err = {0};
	const char *path = NULL;
	int c, r = 0, status = TY_EXIT_GOOD;

	while (!status && (c = getopt_long(argc, argv, "h", opts, NULL)) != -1) {
		if (c == 'h') {
			printf("%s%s%s", help, ty_code_options_help, ty_flow_options_help);
			goto out;
		}
		if (c == '?')
			status = ty_cli_usage("dump", "unknown option or missing value");
		else if (c == OPT_INSN)
			d.shape = INSN;
		else if (c == OPT_BRANCHES)
			d.shape = BRANCHES;
		else if (c == OPT_CALLS)
			d.shape = CALLS;
		else if (c == TY_OPT_CPU && strchr(optarg, '/'))
			src.cpu = optarg;
		else if (c >= TY_OPT_FLOW)
			status = ty_flow_source_option(&src, c, optarg) ? TY_EXIT_FAILED : 0;
		else
			status = ty_select_option(&sel, "dump", c, optarg);
	}
	for (int i = optind; !status && i < argc; i++) {
		if (!strcmp(argv[i], "flow") && (path || i == argc - 1))
			continue;
		if (path)
			status = ty_cli_usage("dump", "'%s' is one file too many", argv[i]);
		path = argv[i];
	}
	if (status)
		goto out;
	if (!path && !src.raws.n)
		path = "tarry.dat";
	r = ty_flow_source_open(&src, path, &err);
	d.flow = src.flow;
	r = r ? r : run(&d, &src, path, &err);
	if (r)
		status = errno == EPIPE && ferror(stdout) ? TY_EXIT_GOOD : ty_cli_fail(&err);
out:
	fini(&d);
	ty_flow_source_fini(&src);
	ty_select_fini(&sel);
	return status;
}
