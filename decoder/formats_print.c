/* SPDX-License-Identifier: MIT */
/*
 * An event as text in the kernel's own print format, by libtraceevent. Each format is parsed when
 * the first event of its id is printed, and no plugins are loaded (the text is that of trace-cmd
 * report -N).
 *
 * libtraceevent trusts its input, so tarry checks a record first: every field and __data_loc must
 * be inside it, the record is copied in front of PAD zero bytes (a string without NUL ends there),
 * and lengths and indices that a print format computes from the record are computed here in
 * advance. A record that fails is printed field by field without libtraceevent. The parser only
 * gets well-formed texts (format_check.h), and only well-formed lines of lists
 * (printk_kallsyms_check.h).
 */
#include <event-parse.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format_check.h"
#include "formats_priv.h"
#include "printk_kallsyms_check.h"

#define PAD	   65536
#define EVAL_DEPTH 30000
#define WIDTH_MAX  4096

enum { NOT_LOOKED = 0, QUICK, NOT_QUICK, PRINTABLE, PRINTABLE_IF_CHECKED, FIELDS_ONLY };

/* Give a parser of libtraceevent what it may read of a list. */
static int give_list(struct ty_formats *f, const struct ty_text *list,
		     int (*check)(const char *, struct ty_buf *),
		     int (*parse)(struct tep_handle *, const char *))
{
	struct ty_buf good;
	int r;

	if (!list->s)
		return 0;
	ty_buf_init(&good, list->n + 2);
	r = check(list->s, &good);
	if (!r && good.len)
		parse(f->tep, good.p);
	ty_buf_fini(&good);
	return r;
}

static int make_tep(struct ty_formats *f)
{
	const struct ty_trace *t = f->trace;

	if (!f->seq) {
		f->seq = malloc(sizeof(*f->seq));
		if (!f->seq)
			return -TY_ENOMEM;
		trace_seq_init(f->seq);
	}
	f->tep = tep_alloc();
	if (!f->tep)
		return -TY_ENOMEM;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_flag(f->tep, TEP_NSEC_OUTPUT);
	tep_set_file_bigendian(f->tep, t->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
	tep_set_local_bigendian(f->tep, TEP_LITTLE_ENDIAN);
	tep_set_long_size(f->tep, (int)t->long_size);
	return give_list(f, &t->kallsyms, ty_kallsyms_lines, tep_parse_kallsyms)
		       ?: give_list(f, &t->printk, ty_printk_lines, tep_parse_printk_formats);
}

void ty_fmt_print_fini(struct ty_formats *f)
{
	if (f->tep)
		tep_free(f->tep);
	if (f->seq)
		trace_seq_destroy(f->seq);
	free(f->seq);
	free(f->scratch);
}

/* what a print format computes ---------------------------------------------------------------- */

struct eval {
	struct tep_event *event;
	const uint8_t *data; /* NULL: only the shape is examined, not the values of a record */
	uint32_t size;
	bool be;
	bool bad;     /* not of a form that is known to be safe */
	bool dynamic; /* there is something whose safety depends on the record */
};

static struct tep_format_field *field_of(struct eval *x, const struct tep_print_arg *a)
{
	struct tep_format_field *fd = NULL;

	if (a->type == TEP_PRINT_FIELD)
		fd = a->field.field ? a->field.field : tep_find_any_field(x->event, a->field.name);
	else if (a->type == TEP_PRINT_DYNAMIC_ARRAY || a->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
		fd = a->dynarray.field;
	if (!fd)
		x->bad = true;
	return fd;
}

/* An integer at off of the record; what lies behind it is not a number. */
static uint64_t number(struct eval *x, int64_t off, int size)
{
	if (!x->data)
		return 0;
	if (off < 0 || size <= 0 || size > 8 || off + size > x->size) {
		x->bad = true;
		return 0;
	}
	return ty_fmt_load(x->data + off, (unsigned)size, x->be);
}

static uint64_t binary(struct eval *x, const char *op, uint64_t l, uint64_t r)
{
	if (!strcmp(op, "+"))
		return l + r;
	if (!strcmp(op, "-"))
		return l - r;
	if (!strcmp(op, "*"))
		return l * r;
	if (!strcmp(op, "/"))
		return r ? l / r : 0;
	if (!strcmp(op, "&"))
		return l & r;
	if (!strcmp(op, "|"))
		return l | r;
	if (!strcmp(op, ">>"))
		return r < 64 ? l >> r : 0;
	if (!strcmp(op, "<<"))
		return r < 64 ? l << r : 0;
	x->bad = true;
	return 0;
}

/* The value of an argument; bad if it is not one of the simple forms. */
static uint64_t eval(struct eval *x, const struct tep_print_arg *a, unsigned depth)
{
	struct tep_format_field *fd;
	uint64_t l, r;
	char *end;

	if (!a || depth > EVAL_DEPTH) {
		x->bad = true;
		return 0;
	}
	switch (a->type) {
	case TEP_PRINT_ATOM:
		l = strtoull(a->atom.atom, &end, 0);
		if (end == a->atom.atom)
			x->bad = true;
		return l;
	case TEP_PRINT_TYPE: return eval(x, a->typecast.item, depth + 1);
	case TEP_PRINT_FIELD: fd = field_of(x, a); return fd ? number(x, fd->offset, fd->size) : 0;
	case TEP_PRINT_DYNAMIC_ARRAY_LEN:
		fd = field_of(x, a);
		return fd ? number(x, fd->offset, 4) >> 16 : 0;
	case TEP_PRINT_OP:
		l = eval(x, a->op.left, depth + 1);
		r = eval(x, a->op.right, depth + 1);
		return binary(x, a->op.op, l, r);
	default: x->bad = true; return 0;
	}
}

/* `bytes` from the start of array `a` on must lie in the record. */
static void within(struct eval *x, const struct tep_print_arg *a, uint64_t count, uint64_t elem)
{
	struct tep_format_field *fd = field_of(x, a);
	uint64_t off, loc;

	x->dynamic = true;
	if (!fd || !x->data)
		return;
	off = (uint64_t)fd->offset;
	if (a->type == TEP_PRINT_DYNAMIC_ARRAY) {
		loc = number(x, fd->offset, 4);
		off = (loc & 0xffff) +
		      (fd->flags & TEP_FIELD_IS_RELATIVE ? (uint64_t)(fd->offset + fd->size) : 0);
	}
	/* PAD zero bytes follow: a kernel's fixed index may reach behind a short record */
	if (count > PAD || elem > 64 || off > x->size || off + count * elem > x->size + PAD / 2)
		x->bad = true;
}

/* Go through one argument and all below it. */
static void inspect(struct eval *x, const struct tep_print_arg *a, unsigned depth)
{
	const struct tep_print_arg *l;

	if (!a || x->bad)
		return;
	if (depth > EVAL_DEPTH) {
		x->bad = true;
		return;
	}
	switch (a->type) {
	case TEP_PRINT_FLAGS: inspect(x, a->flags.field, depth + 1); break;
	case TEP_PRINT_SYMBOL: inspect(x, a->symbol.field, depth + 1); break;
	case TEP_PRINT_TYPE: inspect(x, a->typecast.item, depth + 1); break;
	case TEP_PRINT_HEX:
	case TEP_PRINT_HEX_STR: within(x, a->hex.field, eval(x, a->hex.size, 0), 1); break;
	case TEP_PRINT_INT_ARRAY:
		within(x, a->int_array.field, eval(x, a->int_array.count, 0),
		       eval(x, a->int_array.el_size, 0));
		break;
	case TEP_PRINT_OP:
		if (strcmp(a->op.op, "[")) {
			inspect(x, a->op.left, depth + 1);
			inspect(x, a->op.right, depth + 1);
			break;
		}
		for (l = a->op.left; l && l->type == TEP_PRINT_TYPE;)
			l = l->typecast.item;
		if (!l || (l->type != TEP_PRINT_FIELD && l->type != TEP_PRINT_DYNAMIC_ARRAY))
			x->bad = true;
		else
			within(x, l, eval(x, a->op.right, 0) + 1, 8);
		break;
	case TEP_PRINT_FUNC:
		for (l = a->func.args; l; l = l->next)
			inspect(x, l, depth + 1);
		break;
	default: break;
	}
}

/* All arguments; those that a '*' of the format string takes as width must be small. */
static void inspect_all(struct eval *x)
{
	const struct tep_print_arg *a = x->event->print_fmt.args;
	const char *p = x->event->print_fmt.format;

	for (const struct tep_print_arg *i = a; i; i = i->next)
		inspect(x, i, 0);
	for (; p && *p && !x->bad; p++) {
		if (*p != '%' || *++p == '%')
			continue;
		for (; *p && strchr("0123456789.-+ #*", *p); p++) {
			if (*p != '*' || !a)
				continue;
			x->dynamic = true;
			if (eval(x, a, 0) + WIDTH_MAX > 2 * WIDTH_MAX)
				x->bad = true;
			a = a->next;
		}
		a = a ? a->next : NULL;
		if (!*p)
			break;
	}
}

/* formats and records -------------------------------------------------------------------------- */

static bool is_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Adds a part of a print format in which no quote starts or ends. */
static void add_signs(const struct ty_fmt_entry *e, const char *p, size_t n, struct ty_buf *out)
{
	for (size_t i = 0, k; i < n; i += k) {
		const bool is_rec = n - i > 5 && !strncmp(p + i, "REC->", 5);
		const char *name = p + i + 5;

		k = 1;
		for (unsigned f = 0; is_rec && f < e->nfields; f++) {
			const struct ty_ft_field *fd = &e->fields[f];

			if (fd->is_signed && fd->size < 4 && fd->size && !fd->is_array &&
			    !fd->is_loc && n - i - 5 >= fd->name_n &&
			    !strncmp(name, fd->name, fd->name_n) &&
			    (n - i - 5 == fd->name_n || !is_name(name[fd->name_n]))) {
				const unsigned sign = 1u << (8 * fd->size - 1);

				k = 5 + fd->name_n;
				ty_buf_addf(out, "(((%.*s + %u) & %u) - %u)", (int)k, p + i, sign,
					    2 * sign - 1, sign);
				break;
			}
		}
		if (k == 1)
			ty_buf_addc(out, p[i]);
	}
}

/* The format, in whose arguments numbers of 1 and 2 bytes have the sign that libtraceevent (1.7.1)
 * does not extend. Empty: there is no print format. */
static void with_signs(const struct ty_fmt_entry *e, struct ty_buf *out)
{
	const char *p = ty_ft_print(e->text), *end = e->text + e->text_n, *q;
	bool quoted = false;

	if (!p)
		return;
	ty_buf_add(out, e->text, (size_t)(p - e->text));
	for (; p < end; p = q) {
		for (q = p; q < end && (*q != '"' || (quoted && q[-1] == '\\'));)
			q++;
		if (quoted)
			ty_buf_add(out, p, (size_t)(q - p));
		else
			add_signs(e, p, (size_t)(q - p), out);
		if (q < end)
			ty_buf_addc(out, *q++);
		quoted = !quoted;
	}
}

/* libtraceevent prints a bprint event by these fields, takes them for there, and keeps those of the
 * first one that it prints (1.7.1). */
static bool bprint_fits(struct ty_formats *f, struct tep_event *event)
{
	if (!(event->flags & TEP_EVENT_FL_ISBPRINT))
		return true;
	if (f->bprint || !tep_find_field(event, "fmt") || !tep_find_field(event, "ip") ||
	    !tep_find_field(event, "buf"))
		return false;
	f->bprint = event;
	return true;
}

static void look(struct ty_formats *f, struct ty_fmt_entry *e)
{
	struct eval x = {.be = f->big_endian};
	struct ty_buf text;

	e->print_state = FIELDS_ONLY;
	if (!ty_ft_wellformed(e->text, e->text_n))
		return;
	ty_buf_init(&text, 8 * e->text_n + 4096);
	with_signs(e, &text);
	if (!text.failed && text.len) {
		ty_ft_sizeof(text.p, f->trace->long_size);
		tep_parse_event(f->tep, text.p, text.len, e->system);
	}
	ty_buf_fini(&text);
	x.event = tep_find_event(f->tep, e->id);
	if (!x.event || strcmp(x.event->name, e->name) || strcmp(x.event->system, e->system))
		return;
	for (struct tep_format_field *fd = x.event->format.fields; fd; fd = fd->next)
		if (fd->offset < 0 || fd->size < 0 ||
		    (fd->flags & TEP_FIELD_IS_DYNAMIC && fd->size != 4))
			return;
	inspect_all(&x);
	if (x.bad || !bprint_fits(f, x.event))
		return;
	e->tep = x.event;
	e->print_state = x.dynamic ? PRINTABLE_IF_CHECKED : PRINTABLE;
}

/* Does every field of the record, as libtraceevent sees it, lie in the record? */
static bool whole(const struct ty_formats *f, const struct tep_event *event,
		  const struct ty_event *ev)
{
	for (const struct tep_format_field *fd = event->format.fields; fd; fd = fd->next) {
		uint32_t off = (uint32_t)fd->offset, loc, end;

		if (off > ev->size || (uint32_t)fd->size > ev->size - off)
			return false;
		if (!(fd->flags & TEP_FIELD_IS_DYNAMIC))
			continue;
		loc = (uint32_t)ty_fmt_load(ev->data + off, 4, f->big_endian);
		end = (loc & 0xffff) + (loc >> 16);
		if (fd->flags & TEP_FIELD_IS_RELATIVE)
			end += off + 4;
		if (end > ev->size)
			return false;
	}
	return true;
}

static int print_value(const struct ty_field_value *v, struct ty_buf *out)
{
	switch (v->type) {
	case TY_FIELD_INT: return ty_buf_addf(out, "%" PRId64, v->i);
	case TY_FIELD_UINT: return ty_buf_addf(out, v->u > 99999 ? "0x%" PRIx64 : "%" PRIu64, v->u);
	case TY_FIELD_STR: return ty_buf_add(out, v->s, v->n);
	case TY_FIELD_ARRAY: break;
	}
	ty_buf_addc(out, '{');
	for (size_t i = 0; i < v->n; i++)
		ty_buf_addf(out, "%s0x%" PRIx64, i ? "," : "", (uint64_t)ty_formats_element(v, i));
	return ty_buf_addc(out, '}');
}

/* "name=value name=value": when the print format cannot be used. */
static int print_fields(struct ty_formats *f, const struct ty_event *ev, struct ty_buf *out)
{
	unsigned n = ty_formats_nfields(f, ev->id);

	for (unsigned k = 0; k < n; k++) {
		struct ty_field_value v;
		int r = ty_formats_field(f, ev, k, &v);

		ty_buf_addf(out, "%s%s=", k ? " " : "", v.name);
		if (r)
			ty_buf_adds(out, "[damaged]");
		else
			print_value(&v, out);
	}
	return out->failed;
}

int ty_formats_print(struct ty_formats *f, const struct ty_event *ev, struct ty_buf *out)
{
	struct ty_fmt_entry *e = f->index[ev->id] ? &f->entries.v[f->index[ev->id] - 1] : NULL;
	struct tep_record rec = {.cpu = (int)ev->cpu, .size = (int)ev->size, .ts = ev->ts_ns};
	bool use;

	if (!e)
		return ty_buf_addf(out, "[unknown event %u, %u bytes]", ev->id, ev->size);
	if (e->print_state == NOT_LOOKED)
		e->print_state = ty_fmt_quick_knows(f, e) ? QUICK : NOT_QUICK;
	if (e->print_state == QUICK && ev->kind == e->kind && !ev->decode_error)
		return ty_fmt_quick_print(ev, out);
	if (e->print_state == QUICK)
		return print_fields(f, ev, out);
	if (!f->tep && make_tep(f))
		return -TY_ENOMEM;
	if (e->print_state == NOT_QUICK)
		look(f, e);
	use = e->print_state != FIELDS_ONLY && ev->size <= TY_FT_RECORD_MAX && whole(f, e->tep, ev);
	if (use && e->print_state == PRINTABLE_IF_CHECKED) {
		struct eval x = {
			.event = e->tep, .data = ev->data, .size = ev->size, .be = f->big_endian};

		inspect_all(&x);
		use = !x.bad;
	}
	if (!use) {
		if (e->print_state == FIELDS_ONLY)
			ty_buf_adds(out, "[FAILED TO PARSE] "); /* as trace-cmd prints it */
		return print_fields(f, ev, out);
	}
	if (ev->size + PAD > f->scratch_cap) {
		uint8_t *p = realloc(f->scratch, ev->size + PAD + 4096);

		if (!p)
			return -TY_ENOMEM;
		f->scratch = p;
		f->scratch_cap = ev->size + PAD + 4096;
		f->scratch_dirty = f->scratch_cap;
	}
	memcpy(f->scratch, ev->data, ev->size);
	if (f->scratch_dirty > ev->size)
		memset(f->scratch + ev->size, 0, f->scratch_dirty - ev->size);
	f->scratch_dirty = ev->size;
	rec.data = f->scratch;
	rec.record_size = (int)ev->size;
	trace_seq_reset(f->seq);
	tep_print_event(f->tep, f->seq, &rec, "%s", TEP_PRINT_INFO);
	if (f->seq->len && f->seq->buffer[f->seq->len - 1] == '\n')
		f->seq->len--;
	return ty_buf_add(out, f->seq->buffer, f->seq->len);
}
