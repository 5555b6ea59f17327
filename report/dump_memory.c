/* SPDX-License-Identifier: MIT */
/*
 * tarry dump memory: one line per sampled operation, in time order, as text or as JSON with every
 * field that was recorded. Budget: 250 ns per line; numbers are written by hand for that, and the
 * texts of operations made once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base_name.h"
#include "digits.h"
#include "dump.h"
#include "hash_index.h"
#include "json_out.h"
#include "mem_session.h"
#include "plain_text.h"
#include "spe_packet.h"

/* No line is longer: 64 events, TY_MEM_EXTRAS raw packets, six names of NAME_BYTES. */
#define LINE_MAX_BYTES 8192u
#define NAME_BYTES     256u
#define OUT_BYTES      65536u
#define EVENTS_BITS    6    /* 2^6 lists are kept */
#define EVENTS_BYTES   2304 /* 64 names of 32 bytes, quoted */

struct line {
	char *p; /* where the next byte goes */
	char buf[OUT_BYTES + LINE_MAX_BYTES];
};

static inline void put(struct line *l, const char *s, size_t n)
{
	memcpy(l->p, s, n);
	l->p += n;
}
#define PUT(l, text) put(l, text, sizeof(text) - 1)

static inline void put_s(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

static void put_u(struct line *l, uint64_t v)
{
	l->p = ty_put_dec(l->p, v);
}

static void put_right(struct line *l, uint64_t v, unsigned width, char fill)
{
	l->p = ty_put_right(l->p, v, width, fill);
}

static void put_x(struct line *l, uint64_t v)
{
	l->p = ty_put_hex(l->p, v);
}

struct name {
	const char *s;
	size_t n;
};

#define NAME(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* Texts made once: operations, by class and payload; names of events. */
struct texts {
	struct ty_mem_names *names; /* NULL: not requested */
	struct {
		uint8_t n; /* 0: not made yet */
		char s[39];
	} op[4][256];
	/* Of events that many samples have: a list in JSON. */
	struct {
		uint64_t events;
		size_t n; /* 0: none */
		char s[EVENTS_BYTES];
	} events[1 << EVENTS_BITS];
};

static struct name op_text(struct texts *t, const struct ty_mem *m)
{
	unsigned c = m->has & TY_MEM_HAS_OP ? m->op_class & 3 : 3;
	unsigned v = m->has & TY_MEM_HAS_OP ? m->op : m->kind | (unsigned)ty_mem_writes(m) << 3;
	typeof(&t->op[c][v]) made = &t->op[c][v];
	struct ty_buf b;

	/* Class 3 is no class of Arm's: its payloads are shown without this table. */
	if (!made->n || (m->has & TY_MEM_HAS_OP && c == 3)) {
		ty_buf_init(&b, 256);
		ty_mem_op_text(m, &b);
		snprintf(made->s, sizeof(made->s), "%s", b.p ? b.p : "");
		made->n = (uint8_t)strlen(made->s);
		ty_buf_fini(&b);
	}
	return (struct name){made->s, made->n};
}

static inline void key_u(struct line *l, const char *key, uint64_t v)
{
	put_s(l, key);
	put_u(l, v);
}

static const struct name who_names[] = {NAME("unknown"), NAME("context"), NAME("switch"),
					NAME("ring")};
static const struct name kind_names[] = {NAME("other"), NAME("load"), NAME("store"), NAME("branch"),
					 NAME("gap")};

static inline void json_name(struct ty_json *j, const char *key, struct name n)
{
	ty_json_name(j, key, n.s, n.n);
}

static void json_extra(struct ty_json *j, const struct ty_mem *m)
{
	ty_json_array(j, "raw");
	for (unsigned i = 0; i < m->extras; i++) {
		const struct ty_mem_extra *x = &m->extra[i];

		ty_json_object(j, NULL);
		ty_json_str(j, "packet",
			    x->kind == TY_SPE_ADDRESS	? "address"
			    : x->kind == TY_SPE_COUNTER ? "counter"
			    : x->kind == TY_SPE_CONTEXT ? "context"
							: "source");
		ty_json_u64(j, "index", x->index);
		if (x->kind == TY_SPE_ADDRESS)
			ty_json_hex(j, "value", x->value);
		else
			ty_json_u64(j, "value", x->value);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}

static void json_text(struct ty_json *j, const char *key, const char *text)
{
	ty_json_strn(j, key, text, strnlen(text, NAME_BYTES));
}

/* Names of the addresses, where files for them were given. */
static void json_names(struct ty_json *j, struct ty_mem_names *names, const struct ty_mem *m)
{
	struct ty_mem_name_of n = {0};

	if (m->has & TY_MEM_HAS_PC)
		ty_mem_name(names, m->pid, m->pc, m->ts_ns, &n);
	if (n.symbol) {
		json_text(j, "symbol", n.symbol);
		ty_json_u64(j, "symbol_offset", n.offset);
	}
	if (n.mapping)
		json_text(j, "object", n.mapping);
	if (n.file) {
		json_text(j, "file", n.file);
		ty_json_u64(j, "source_line", n.line > 0 ? (unsigned)n.line : 0);
	}
	n.symbol = NULL;
	if (m->has & TY_MEM_HAS_VA)
		ty_mem_name(names, m->pid, m->va, m->ts_ns, &n);
	if (n.symbol) {
		json_text(j, "variable", n.symbol);
		ty_json_u64(j, "variable_offset", n.offset);
	}
}

/* "name+0x10 ", and for code the source line. */
static void text_name(struct line *l, struct ty_mem_names *names, const struct ty_mem *m,
		      uint64_t addr)
{
	struct ty_mem_name_of n;
	char *from = l->p;

	ty_mem_name(names, m->pid, addr, m->ts_ns, &n);
	if (!n.symbol)
		return;
	put(l, n.symbol, strnlen(n.symbol, NAME_BYTES));
	PUT(l, "+");
	put_x(l, n.offset);
	if (n.file) {
		const char *base = ty_base_name(n.file);

		PUT(l, " (");
		put(l, base, strnlen(base, NAME_BYTES));
		PUT(l, ":");
		put_u(l, n.line > 0 ? (unsigned)n.line : 0);
		PUT(l, ")");
	}
	if (n.assumed)
		PUT(l, " (assumed)");
	ty_plain(from, (size_t)(l->p - from));
	PUT(l, " ");
}

static void json_where(struct ty_json *j, const struct ty_mem_stream *s, const struct ty_mem *m)
{
	const char *comm = m->tid >= 0 ? ty_mem_comm(s, m->tid, m->ts_ns) : NULL;

	if (m->who != TY_MEM_THREAD_UNKNOWN) {
		ty_json_u64(j, "tid", (uint32_t)m->tid);
		json_name(j, "tid_by", who_names[m->who]);
		if (m->pid >= 0)
			ty_json_u64(j, "pid", (uint32_t)m->pid);
		if (comm)
			json_text(j, "comm", comm);
	}
	if (m->has & TY_MEM_HAS_PC) {
		ty_json_hex(j, "pc", m->pc);
		if (!m->data_src) {
			ty_json_u64(j, "el", m->el);
			ty_json_u64(j, "ns", m->ns);
			if (m->nse)
				ty_json_u64(j, "nse", 1);
		}
	}
}

static void json_addresses(struct ty_json *j, const struct ty_mem *m)
{
	if (m->has & TY_MEM_HAS_VA)
		ty_json_hex(j, "va", m->va);
	if (m->has & TY_MEM_HAS_TAG)
		ty_json_hex(j, "tag", m->tag);
	if (m->has & TY_MEM_HAS_PA) {
		ty_json_hex(j, "pa", m->pa);
		if (!m->data_src) {
			ty_json_u64(j, "pa_ns", m->pa_ns);
			ty_json_u64(j, "pa_ch", m->pa_ch);
			ty_json_u64(j, "pa_pat", m->pa_pat);
			if (m->pa_nse)
				ty_json_u64(j, "pa_nse", 1);
		}
	}
	if (m->has & TY_MEM_HAS_TARGET)
		ty_json_hex(j, "target", m->target);
	if (m->has & TY_MEM_HAS_PREV)
		ty_json_hex(j, "prev_target", m->prev_target);
}

static void json_source(struct ty_json *j, const struct ty_mem_stream *s, const struct ty_mem *m)
{
	char name[TY_MEM_LEVEL_TEXT];
	const char *src = ty_mem_source_text(
		m, ty_mem_midr(s, m->has & TY_MEM_HAS_CPU ? m->cpu : UINT32_MAX), name);

	if (*src) {
		ty_json_name(j, "source", src, strlen(src));
		if (m->src_flags & TY_MEM_SRC_EVENTS)
			ty_json_name(j, "source_by", "events", 6);
		else
			ty_json_name(j, "source_by", "code", 4);
	}
	if (m->has & TY_MEM_HAS_SOURCE)
		ty_json_u64(j, "source_code", m->source);
	if (m->data_src)
		ty_json_hex(j, "data_src", m->data_src);
	if (m->src_flags & TY_MEM_SRC_PEER)
		ty_json_bool(j, "peer", true);
	if (m->src_flags & TY_MEM_SRC_HITM)
		ty_json_bool(j, "modified", true);
	if (m->src_flags & TY_MEM_SRC_REMOTE)
		ty_json_bool(j, "remote", true);
}

static struct name events_list(struct texts *t, uint64_t events)
{
	typeof(&t->events[0]) e = &t->events[ty_hash_bits(events, EVENTS_BITS)];
	char *p = e->s;

	if (!e->n || e->events != events) {
		*p++ = '[';
		for (uint64_t left = events; left; left &= left - 1)
			p += sprintf(p, "%s\"%s\"", left == events ? "" : ",",
				     ty_spe_event_name((unsigned)__builtin_ctzll(left)));
		*p++ = ']';
		e->n = (size_t)(p - e->s);
		e->events = events;
	}
	return (struct name){e->s, e->n};
}

static void json_sample(struct ty_json *j, struct texts *t, const struct ty_mem_stream *s,
			const struct ty_mem *m)
{
	struct name list;

	json_where(j, s, m);
	json_name(j, "op", op_text(t, m));
	json_name(j, "kind", kind_names[m->kind]);
	ty_json_bool(j, "store", m->kind == TY_MEM_STORE || m->data_src & TY_MEM_SRC_OP_STORE);
	if (ty_mem_writes(m) && m->kind != TY_MEM_STORE && !m->data_src)
		ty_json_bool(j, "atomic", true);
	json_addresses(j, m);
	if (m->has & TY_MEM_HAS_TOTAL)
		ty_json_u64(j, "lat_total", m->lat_total);
	if (m->has & TY_MEM_HAS_ISSUE) {
		ty_json_u64(j, "lat_issue", m->lat_issue);
		if (m->has & TY_MEM_HAS_TOTAL && m->lat_total >= m->lat_issue)
			ty_json_u64(j, "lat_exec", m->lat_total - m->lat_issue);
	}
	if (m->has & TY_MEM_HAS_XLAT)
		ty_json_u64(j, "lat_xlat", m->lat_xlat);
	if (m->has & TY_MEM_HAS_INSN)
		ty_json_u64(j, "lat_insn", m->lat_insn);
	if (m->has & TY_MEM_HAS_RETIRE)
		ty_json_u64(j, "lat_retire", m->lat_retire);
	if (m->has & TY_MEM_HAS_EVENTS) {
		ty_json_u64(j, "events", m->events);
		list = events_list(t, m->events);
		ty_json_made(j, "event_names", list.s, list.n);
	}
	json_source(j, s, m);
	if (m->extras)
		json_extra(j, m);
	if (t->names)
		json_names(j, t->names, m);
}

static void json_line(struct ty_json *j, struct texts *t, const struct ty_mem_stream *s,
		      const struct ty_mem *m)
{
	ty_json_object(j, NULL);
	if (m->has & TY_MEM_HAS_TIME)
		ty_json_u64(j, "ts_ns", m->ts_ns);
	else if (m->has & TY_MEM_HAS_TICKS)
		ty_json_u64(j, "ticks", m->ticks);
	if (m->has & TY_MEM_HAS_CPU)
		ty_json_u64(j, "cpu", m->cpu);
	if (m->kind == TY_MEM_GAP) {
		ty_json_str(j, "gap", m->gap);
		ty_json_u64(j, "offset", m->off);
		ty_json_u64(j, "bytes", m->gap_bytes);
	} else {
		json_sample(j, t, s, m);
	}
	ty_json_end_object(j);
	ty_json_line(j);
}

static void text_line(struct line *l, struct texts *t, const struct ty_mem_stream *s,
		      const struct ty_mem *m)
{
	const char *comm = m->tid >= 0 ? ty_mem_comm(s, m->tid, m->ts_ns) : NULL, *src;
	struct name op;
	char name[TY_MEM_LEVEL_TEXT];

	if (m->has & TY_MEM_HAS_TIME) {
		put_right(l, m->ts_ns / 1000000000, 5, ' ');
		PUT(l, ".");
		put_right(l, m->ts_ns % 1000000000, 9, '0');
		PUT(l, " ");
	} else if (m->has & TY_MEM_HAS_TICKS) {
		char *from = l->p;

		PUT(l, "ticks ");
		put_u(l, m->ticks);
		do
			PUT(l, " ");
		while (l->p < from + 16);
	} else {
		PUT(l, "              - ");
	}
	if (m->has & TY_MEM_HAS_CPU) {
		PUT(l, "[");
		put_right(l, m->cpu, 3, '0');
		PUT(l, "] ");
	} else {
		PUT(l, "[ - ] ");
	}
	if (m->kind == TY_MEM_GAP) {
		PUT(l, "GAP ");
		put_s(l, m->gap);
		PUT(l, " at offset ");
		put_x(l, m->off);
		if (m->gap_bytes) {
			PUT(l, ", ");
			put_u(l, m->gap_bytes);
			PUT(l, " bytes");
		}
		PUT(l, "\n");
		return;
	}
	if (comm) {
		put(l, comm, strnlen(comm, NAME_BYTES));
		ty_plain(l->p - strnlen(comm, NAME_BYTES), strnlen(comm, NAME_BYTES));
		PUT(l, " ");
	}
	if (m->who != TY_MEM_THREAD_UNKNOWN)
		put_u(l, (uint32_t)m->tid);
	else
		PUT(l, "?");
	if (m->who == TY_MEM_THREAD_RING)
		PUT(l, " (ring)");
	PUT(l, " ");
	if (m->has & TY_MEM_HAS_PC) {
		PUT(l, "pc ");
		put_x(l, m->pc);
		PUT(l, " ");
		if (t->names)
			text_name(l, t->names, m, m->pc);
	}
	op = op_text(t, m);
	put(l, op.s, op.n);
	if (m->has & TY_MEM_HAS_VA) {
		PUT(l, " va ");
		put_x(l, m->va);
		if (t->names) {
			PUT(l, " ");
			text_name(l, t->names, m, m->va);
			l->p--;
		}
	}
	if (m->has & TY_MEM_HAS_TAG) {
		PUT(l, " tag ");
		put_x(l, m->tag);
	}
	if (m->has & TY_MEM_HAS_PA) {
		PUT(l, " pa ");
		put_x(l, m->pa);
	}
	if (m->has & TY_MEM_HAS_TARGET) {
		PUT(l, " to ");
		put_x(l, m->target);
	}
	if (m->has & TY_MEM_HAS_PREV) {
		PUT(l, " before to ");
		put_x(l, m->prev_target);
	}
	if (m->has & TY_MEM_HAS_TOTAL)
		key_u(l, " total ", m->lat_total);
	if (m->has & TY_MEM_HAS_ISSUE)
		key_u(l, " issue ", m->lat_issue);
	if (m->has & TY_MEM_HAS_XLAT)
		key_u(l, " xlat ", m->lat_xlat);
	if (m->has & TY_MEM_HAS_INSN)
		key_u(l, " insn ", m->lat_insn);
	if (m->has & TY_MEM_HAS_RETIRE)
		key_u(l, " retire ", m->lat_retire);
	src = ty_mem_source_text(m, ty_mem_midr(s, m->has & TY_MEM_HAS_CPU ? m->cpu : UINT32_MAX),
				 name);
	if (*src) {
		PUT(l, " from ");
		put_s(l, src);
		if (m->src_flags & TY_MEM_SRC_EVENTS)
			PUT(l, " (from event bits)");
	}
	if (m->has & TY_MEM_HAS_EVENTS) {
		for (uint64_t e = m->events; e; e &= e - 1) {
			put_s(l, e == m->events ? " [" : " ");
			put_s(l, ty_spe_event_name((unsigned)__builtin_ctzll(e)));
		}
		put_s(l, m->events ? "]" : " []");
	}
	for (unsigned i = 0; i < m->extras; i++) {
		const struct ty_spe_packet k = {.kind = m->extra[i].kind,
						.index = m->extra[i].index,
						.value = m->extra[i].value};
		struct ty_buf b;

		ty_buf_init(&b, 256);
		ty_spe_packet_text(&k, &b);
		PUT(l, " ");
		put(l, b.p, b.len);
		ty_buf_fini(&b);
	}
	PUT(l, "\n");
}

static void flush(struct line *l, FILE *out)
{
	fwrite(l->buf, 1, (size_t)(l->p - l->buf), out);
	l->p = l->buf;
}

static int dump(struct ty_mem_session *s, const struct ty_mem_options *o,
		const struct ty_select *sel, FILE *out, struct ty_err *err)
{
	struct texts *t = calloc(1, sizeof(*t));
	struct line *l = malloc(sizeof(*l));
	const struct ty_mem *m;
	struct ty_window w;
	struct ty_json j;
	int r = t && l ? 0 : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);

	if (!r) {
		l->p = l->buf;
		ty_json_init(&j, out);
		r = ty_mem_session_window(s, sel, &w, err);
		if (!r && (o->roots.n || o->kallsyms))
			r = ty_mem_session_names(s, o, &t->names, err);
	}
	while (!r && (r = ty_mem_next(s->stream, &m, err)) > 0) {
		r = 0;
		if (!ty_mem_chosen(s->stream, &w, m))
			continue;
		if (sel->json)
			json_line(&j, t, s->stream, m);
		else
			text_line(l, t, s->stream, m);
		if (l->p >= l->buf + OUT_BYTES)
			flush(l, out);
		if (ferror_unlocked(out))
			break; /* the caller sees it in the stream's state */
	}
	if (t && l) {
		flush(l, out);
		ty_json_fini(&j);
	}
	if (t && t->names) {
		ty_mem_names_note(t->names);
		ty_mem_names_free(t->names);
	}
	free(t);
	free(l);
	return r;
}

int ty_dump_memory(const char *path, const struct ty_mem_options *o, const struct ty_select *sel,
		   FILE *out, struct ty_err *err)
{
	struct ty_mem_session s;
	int r = ty_mem_session_open(&s, path, o, err);

	if (!r)
		r = dump(&s, o, sel, out, err);
	ty_mem_session_fini(&s);
	return r;
}
