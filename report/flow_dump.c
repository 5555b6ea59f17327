/* SPDX-License-Identifier: MIT */
/*
 * See flow_dump.h. Budget: 300 ns per line of JSON.
 */
#include "flow_dump.h"

#include <inttypes.h>
#include <string.h>

#include "digits.h"
#include "disasm.h"
#include "flow_calls.h"
#include "flow_select.h"
#include "flow_text_cache.h"
#include "flow_names.h"
#include "json_out.h"
#include "plain_text.h"

enum { INDENT_MAX = 60 };

struct dump {
	const struct ty_select *sel;
	enum ty_flow_shape shape;
	FILE *out;
	struct ty_json j;
	struct ty_flow *flow;
	struct ty_flow_names *names;
	struct ty_disasm *asm64, *asm32;
	struct ty_flow_lines *lines;
	struct ty_flow_calls *calls;
	struct ty_flow_choice choice;
};

static void json_where(struct dump *d, const struct ty_flow_at *at)
{
	ty_json_object(&d->j, NULL);
	ty_json_u64_if(&d->j, "ts_ns", at->ts_ns != TY_FLOW_NO_TIME, at->ts_ns);
	ty_json_i64_if(&d->j, "tid", at->tid >= 0, at->tid);
	ty_json_i64_if(&d->j, "cpu", at->cpu >= 0, at->cpu);
}

static void json_end(struct dump *d)
{
	ty_json_end_object(&d->j);
	ty_json_line(&d->j);
}

static void text_where(struct dump *d, const struct ty_flow_at *at)
{
	char text[96 + TY_DIGITS_MAX], *p = text;

	/* "~": not later than the next time stamp, and not earlier than this one. */
	if (at->ts_ns == TY_FLOW_NO_TIME) {
		p += sprintf(p, "%14s  ", "?");
	} else {
		p = ty_put_right(p, at->ts_ns / 1000000000, 6, ' ');
		*p++ = '.';
		p = ty_put_right(p, at->ts_ns % 1000000000, 9, '0');
		*p++ = at->item.flags & TY_FF_EXACT ? ' ' : '~';
		*p++ = ' ';
	}
	if (at->tid >= 0)
		p = ty_put_right(p, (uint32_t)at->tid, 7, ' ');
	else
		p += sprintf(p, "%7s", "?");
	*p++ = ' ';
	*p++ = '[';
	if (at->cpu >= 0)
		p = ty_put_right(p, (uint32_t)at->cpu, 3, '0');
	else
		*p++ = '-';
	*p++ = ']';
	*p++ = ' ';
	fwrite(text, 1, (size_t)(p - text), d->out);
}

static uint64_t when(const struct ty_flow_at *at)
{
	return at->ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : at->ts_ns;
}

/* The address and its name. */
static void put_name(struct dump *d, const struct ty_flow_at *at, uint64_t ip)
{
	char sym[256] = "0";
	bool known;
	struct ty_flow_line *l = ty_flow_line(d->lines, at->pid, when(at), ip, NULL, &known);

	if (!known) {
		l->until_ns = ty_flow_names_at(d->names, at->pid, when(at), ip).until_ns;
		if (ip)
			ty_flow_names_text(d->names, at->pid, when(at), ip, sym, sizeof(sym));
		ty_plain(sym, strlen(sym));
		l->len = (uint16_t)snprintf(l->text, sizeof(l->text), "%16" PRIx64 " %s", ip, sym);
	}
	fwrite(l->text, 1, l->len, d->out);
}

/* The instruction's address, name, text and source line. */
static void fill(struct dump *d, const struct ty_flow_at *at, struct ty_flow_line *l)
{
	const struct ty_flow_item *it = &at->item;
	struct ty_flow_name where = ty_flow_names_at(d->names, at->pid, when(at), it->ip);
	char sym[256], text[192];
	const char *file;
	int line, n;

	l->until_ns = where.until_ns;
	ty_flow_names_text(d->names, at->pid, when(at), it->ip, sym, sizeof(sym));
	ty_plain(sym, strlen(sym));
	ty_disasm_text(it->flags & TY_FF_32BIT ? d->asm32 : d->asm64, it->raw, it->size, it->ip,
		       text, sizeof(text));
	n = snprintf(l->text, sizeof(l->text), "%16" PRIx64 " %-32s %s", it->ip, sym, text);
	if (ty_flow_names_line(d->names, &where, &file, &line)) {
		snprintf(sym, sizeof(sym), "%s", file);
		ty_plain(sym, strlen(sym));
		n += snprintf(l->text + n, sizeof(l->text) - (size_t)n, "  %s:%d", sym, line);
	}
	n += snprintf(l->text + n, sizeof(l->text) - (size_t)n, "\n");
	l->len = (uint16_t)n;
}

static void put_insn(struct dump *d, const struct ty_flow_at *at)
{
	struct ty_flow_line *l;
	bool known;

	if (d->sel->json) {
		json_where(d, at);
		ty_json_hex(&d->j, "ip", at->item.ip);
		json_end(d);
		return;
	}
	l = ty_flow_line(d->lines, at->pid, when(at), at->item.ip, &at->item, &known);
	if (!known)
		fill(d, at, l);
	text_where(d, at);
	fwrite(l->text, 1, l->len, d->out);
}

static void put_branch(struct dump *d, const struct ty_flow_at *at)
{
	const struct ty_flow_item *b = &at->item;

	if (d->sel->json) {
		json_where(d, at);
		ty_json_hex(&d->j, "from", b->ip);
		ty_json_hex(&d->j, "to", b->to);
		if (b->flags & TY_FF_INFERRED)
			ty_json_bool(&d->j, "inferred", true);
		json_end(d);
		return;
	}
	text_where(d, at);
	put_name(d, at, b->ip);
	fputs(" => ", d->out);
	put_name(d, at, b->to);
	if (b->flags & TY_FF_INFERRED)
		fputs(" (inferred from where tracing resumed)", d->out);
	fputc('\n', d->out);
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
		c->flags & TY_CALL_BACK ? " (continues)" : "");
}

static void call_ends(void *ctx, const struct ty_flow_call *c)
{
	struct dump *d = ctx;
	struct ty_flow_at at = {.ts_ns = c->start_ns, .tid = c->tid, .pid = c->pid, .cpu = c->cpu};

	if (!d->sel->json || !ty_flow_chosen(&d->choice, &at))
		return;
	json_where(d, &at);
	ty_json_u64_if(&d->j, "end_ns", c->end_ns != TY_FLOW_NO_TIME, c->end_ns);
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
	struct ty_flow_gap g = ty_flow_gap(d->flow, at);
	char size[160];

	if (d->sel->json) {
		json_where(d, at);
		ty_json_str(&d->j, "gap", g.text);
		ty_json_hex(&d->j, "ip", at->item.ip);
		ty_json_u64(&d->j, "offset", g.off);
		ty_json_u64_if(&d->j, "bytes", g.sized, g.bytes);
		ty_json_u64(&d->j, "never_recorded", g.lost);
		ty_json_u64_if(&d->j, "until_ns", g.until_ns != TY_FLOW_NO_TIME, g.until_ns);
		if (g.to)
			ty_json_hex(&d->j, "goes_on_at", g.to);
		else
			ty_json_null(&d->j, "goes_on_at");
		json_end(d);
		return;
	}
	text_where(d, at);
	fprintf(d->out, "GAP: %s (at 0x%" PRIx64 ", byte 0x%" PRIx64 " of the stream; %s)\n",
		g.text, at->item.ip, g.off, ty_flow_gap_size(&g, size, sizeof(size)));
}

static int put(struct dump *d, const struct ty_flow_at *at)
{
	if (d->calls && ty_flow_calls_feed(d->calls, at))
		return -TY_ENOMEM;
	if (!ty_flow_chosen(&d->choice, at))
		return 0;
	if (at->item.kind == TY_FLOW_GAP || at->item.kind == TY_FLOW_OVERFLOW)
		put_gap(d, at);
	else if (d->shape == TY_FLOW_INSNS && at->item.kind == TY_FLOW_INSN)
		put_insn(d, at);
	else if (at->item.kind == TY_FLOW_BRANCH)
		put_branch(d, at);
	return 0;
}

static int run(struct dump *d, struct ty_flow_source *src, const char *path, struct ty_err *err)
{
	struct ty_flow_at at;
	int r = ty_flow_source_window(src, path, d->sel, d->shape == TY_FLOW_BRANCHES, NULL, err);

	if (r)
		return r;
	if (ty_flow_choice_init(&d->choice, d->sel, src))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	d->names = ty_flow_source_names(src, err);
	d->lines = ty_flow_lines_new();
	if (!d->names || !d->lines)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	if (d->shape == TY_FLOW_INSNS) {
		d->asm64 = ty_disasm_new(TY_DISASM_X86_64, err);
		d->asm32 = ty_disasm_new(TY_DISASM_X86_32, err);
		if (!d->asm64 || !d->asm32)
			return -err->code;
	}
	if (d->shape == TY_FLOW_CALLS) {
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
	if (d->calls && ty_flow_calls_functions(d->calls) == TY_CALLS_FUNCS)
		ty_say("tarry: more than %u functions: later ones have no names, and their depth "
		       "may be wrong (narrow with --from and --to)\n",
		       TY_CALLS_FUNCS - 1);
	ty_flow_source_note(src);
	ty_json_fini(&d->j);
	if (fflush(d->out) || ferror(d->out))
		return ty_fail_errno(err, "standard output: write failed");
	return 0;
}

static void fini(struct dump *d)
{
	ty_flow_calls_free(d->calls);
	ty_flow_names_free(d->names);
	ty_flow_lines_free(d->lines);
	ty_disasm_free(d->asm64);
	ty_disasm_free(d->asm32);
	ty_flow_choice_fini(&d->choice);
}

int ty_flow_dump(struct ty_flow_source *src, const char *path, const struct ty_select *sel,
		 enum ty_flow_shape shape, FILE *out, struct ty_err *err)
{
	struct dump d = {.sel = sel, .shape = shape, .out = out, .flow = src->flow};
	int r = run(&d, src, path, err);

	fini(&d);
	return r;
}
