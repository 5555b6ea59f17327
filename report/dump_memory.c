/* SPDX-License-Identifier: MIT */
/*
 * tarry dump memory: one line per sampled operation, in time order, as text or as JSON with every
 * field that was recorded. Budget: 250 ns per line; numbers are written by hand for that, and the
 * texts of operations made once.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dump.h"
#include "mem_session.h"
#include "plain.h"
#include "spe_packet.h"

/* No line is longer: 64 events, TY_MEM_EXTRAS raw packets, six names of NAME_BYTES. */
#define LINE_MAX_BYTES 8192u
#define NAME_BYTES     256u
#define OUT_BYTES      65536u

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
	static const char pairs[] = "0001020304050607080910111213141516171819"
				    "2021222324252627282930313233343536373839"
				    "4041424344454647484950515253545556575859"
				    "6061626364656667686970717273747576777879"
				    "8081828384858687888990919293949596979899";
	unsigned n = 1;
	char *p;

	for (uint64_t most = 10; n < 20 && v >= most; most *= 10)
		n++;
	l->p = p = l->p + n;
	for (; v >= 100; v /= 100)
		memcpy(p -= 2, pairs + v % 100 * 2, 2);
	if (v >= 10)
		memcpy(p - 2, pairs + v * 2, 2);
	else
		p[-1] = (char)('0' + v);
}

/* At least `width` wide. */
static void put_right(struct line *l, uint64_t v, unsigned width, char fill)
{
	uint64_t most = 10;

	for (unsigned n = 1; n < width; n++, most *= 10)
		if (v < most)
			*l->p++ = fill; /* one for each digit that is missing */
	put_u(l, v);
}

static void put_x(struct line *l, uint64_t v)
{
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	PUT(l, "0x");
	for (unsigned i = n; i-- > 0; v >>= 4)
		l->p[i] = "0123456789abcdef"[v & 15];
	l->p += n;
}

/* Text of a name of the file: no control bytes, JSON's own signs escaped. */
static void put_json_text(struct line *l, const char *s)
{
	for (unsigned n = 0; *s && n < NAME_BYTES / 2; s++, n++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			PUT(l, "\\");
		put(l, c < 32 || c >= 127 ? "?" : (const char *)s, 1);
	}
}

struct event_text {
	char s[31];
	uint8_t n;
};

/* Texts made once: operations, by class and payload; events, plain and as JSON. */
struct texts {
	struct ty_mem_names *names; /* NULL: not asked for */
	char op[4][256][40];
	struct event_text events[2][64];
};

static void events_init(struct texts *t)
{
	for (unsigned i = 0; i < 64; i++) {
		const char *name = ty_spe_event_name(i);
		struct event_text *e = t->events[0];

		e[i].n = (uint8_t)snprintf(e[i].s, sizeof(e[i].s), " %s", name);
		e = t->events[1];
		e[i].n = (uint8_t)snprintf(e[i].s, sizeof(e[i].s), ",\"%s\"", name);
	}
}

static const char *op_text(struct texts *t, const struct ty_mem *m)
{
	unsigned c = m->has & TY_MEM_HAS_OP ? m->op_class & 3 : 3;
	unsigned v = m->has & TY_MEM_HAS_OP ? m->op : m->kind | (unsigned)ty_mem_writes(m) << 3;
	char *s = t->op[c][v];
	struct ty_buf b;

	/* Class 3 is no class of Arm's: its payloads are shown without this table. */
	if (m->has & TY_MEM_HAS_OP && c == 3)
		s[0] = 0;
	if (!s[0]) {
		ty_buf_init(&b, 256);
		ty_mem_op_text(m, &b);
		snprintf(s, sizeof(t->op[c][v]), "%s", b.p ? b.p : "");
		ty_buf_fini(&b);
	}
	return s;
}

/* The names of events: quoted and with a comma before, or with a space before; the first one's
 * separator is left out. */
static void put_events(struct line *l, const struct texts *t, uint64_t events, bool json)
{
	char *first = l->p;

	for (; events; events &= events - 1) {
		const struct event_text *e = &t->events[json][__builtin_ctzll(events)];

		memcpy(l->p, e->s, sizeof(e->s)); /* whole: a copy of known size is no call */
		l->p += e->n;
	}
	if (l->p > first) {
		memmove(first, first + 1, (size_t)(l->p - first - 1));
		l->p--;
	}
}

static inline void key_u(struct line *l, const char *key, uint64_t v)
{
	put_s(l, key);
	put_u(l, v);
}

static inline void key_x(struct line *l, const char *key, uint64_t v)
{
	put_s(l, key);
	PUT(l, "\"");
	put_x(l, v);
	PUT(l, "\"");
}

static const char *const who_names[] = {"unknown", "context", "switch", "ring"};
static const char *const kind_names[] = {"other", "load", "store", "branch", "gap"};

static void json_extra(struct line *l, const struct ty_mem *m)
{
	PUT(l, ",\"raw\":[");
	for (unsigned i = 0; i < m->extras; i++) {
		const struct ty_mem_extra *x = &m->extra[i];

		if (i)
			PUT(l, ",");
		put_s(l, x->kind == TY_SPE_ADDRESS   ? "{\"packet\":\"address\""
			 : x->kind == TY_SPE_COUNTER ? "{\"packet\":\"counter\""
			 : x->kind == TY_SPE_CONTEXT ? "{\"packet\":\"context\""
						     : "{\"packet\":\"source\"");
		key_u(l, ",\"index\":", x->index);
		if (x->kind == TY_SPE_ADDRESS)
			key_x(l, ",\"value\":", x->value);
		else
			key_u(l, ",\"value\":", x->value);
		PUT(l, "}");
	}
	PUT(l, "]");
}

/* Names of the addresses, where files for them were given. */
static void json_names(struct line *l, struct ty_mem_names *names, const struct ty_mem *m)
{
	struct ty_mem_name_of n = {0};

	if (m->has & TY_MEM_HAS_PC)
		ty_mem_name(names, m->pid, m->pc, m->ts_ns, &n);
	if (n.symbol) {
		PUT(l, ",\"symbol\":\"");
		put_json_text(l, n.symbol);
		key_u(l, "\",\"symbol_offset\":", n.offset);
	}
	if (n.mapping) {
		PUT(l, ",\"object\":\"");
		put_json_text(l, n.mapping);
		PUT(l, "\"");
	}
	if (n.file) {
		PUT(l, ",\"file\":\"");
		put_json_text(l, n.file);
		key_u(l, "\",\"source_line\":", n.line > 0 ? (unsigned)n.line : 0);
	}
	n.symbol = NULL;
	if (m->has & TY_MEM_HAS_VA)
		ty_mem_name(names, m->pid, m->va, m->ts_ns, &n);
	if (n.symbol) {
		PUT(l, ",\"variable\":\"");
		put_json_text(l, n.symbol);
		key_u(l, "\",\"variable_offset\":", n.offset);
	}
}

/* "name+0x10 ", and of code where it stands. */
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
		const char *slash = strrchr(n.file, '/');
		const char *base = slash ? slash + 1 : n.file;

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

static void json_line(struct line *l, struct texts *t, const struct ty_mem_stream *s,
		      const struct ty_mem *m)
{
	const char *comm = m->tid >= 0 ? ty_mem_comm(s, m->tid, m->ts_ns) : NULL, *src;
	char name[TY_MEM_LEVEL_TEXT];

	PUT(l, "{");
	if (m->has & TY_MEM_HAS_TIME) {
		key_u(l, "\"ts_ns\":", m->ts_ns);
		PUT(l, ",");
	} else if (m->has & TY_MEM_HAS_TICKS) {
		key_u(l, "\"ticks\":", m->ticks);
		PUT(l, ",");
	}
	if (m->has & TY_MEM_HAS_CPU) {
		key_u(l, "\"cpu\":", m->cpu);
		PUT(l, ",");
	}
	if (m->kind == TY_MEM_GAP) {
		PUT(l, "\"gap\":\"");
		put_s(l, m->gap);
		key_u(l, "\",\"offset\":", m->off);
		key_u(l, ",\"bytes\":", m->gap_bytes);
		PUT(l, "}\n");
		return;
	}
	if (m->who != TY_MEM_WHO_UNKNOWN) {
		key_u(l, "\"tid\":", (uint32_t)m->tid);
		PUT(l, ",\"tid_by\":\"");
		put_s(l, who_names[m->who]);
		PUT(l, "\",");
		if (m->pid >= 0) {
			key_u(l, "\"pid\":", (uint32_t)m->pid);
			PUT(l, ",");
		}
		if (comm) {
			PUT(l, "\"comm\":\"");
			put_json_text(l, comm);
			PUT(l, "\",");
		}
	}
	if (m->has & TY_MEM_HAS_PC) {
		key_x(l, "\"pc\":", m->pc);
		if (!m->data_src) {
			key_u(l, ",\"el\":", m->el);
			key_u(l, ",\"ns\":", m->ns);
			if (m->nse)
				PUT(l, ",\"nse\":1");
		}
		PUT(l, ",");
	}
	PUT(l, "\"op\":\"");
	put_s(l, op_text(t, m));
	PUT(l, "\",\"kind\":\"");
	put_s(l, kind_names[m->kind]);
	put_s(l, m->kind == TY_MEM_STORE || m->data_src & TY_MEM_SRC_OP_STORE
			 ? "\",\"store\":true"
			 : "\",\"store\":false");
	if (ty_mem_writes(m) && m->kind != TY_MEM_STORE && !m->data_src)
		PUT(l, ",\"atomic\":true");
	if (m->has & TY_MEM_HAS_VA)
		key_x(l, ",\"va\":", m->va);
	if (m->has & TY_MEM_HAS_TAG)
		key_x(l, ",\"tag\":", m->tag);
	if (m->has & TY_MEM_HAS_PA) {
		key_x(l, ",\"pa\":", m->pa);
		if (!m->data_src) {
			key_u(l, ",\"pa_ns\":", m->pa_ns);
			key_u(l, ",\"pa_ch\":", m->pa_ch);
			key_u(l, ",\"pa_pat\":", m->pa_pat);
			if (m->pa_nse)
				PUT(l, ",\"pa_nse\":1");
		}
	}
	if (m->has & TY_MEM_HAS_TARGET)
		key_x(l, ",\"target\":", m->target);
	if (m->has & TY_MEM_HAS_PREV)
		key_x(l, ",\"prev_target\":", m->prev_target);
	if (m->has & TY_MEM_HAS_TOTAL)
		key_u(l, ",\"lat_total\":", m->lat_total);
	if (m->has & TY_MEM_HAS_ISSUE) {
		key_u(l, ",\"lat_issue\":", m->lat_issue);
		if (m->has & TY_MEM_HAS_TOTAL && m->lat_total >= m->lat_issue)
			key_u(l, ",\"lat_exec\":", m->lat_total - m->lat_issue);
	}
	if (m->has & TY_MEM_HAS_XLAT)
		key_u(l, ",\"lat_xlat\":", m->lat_xlat);
	if (m->has & TY_MEM_HAS_INSN)
		key_u(l, ",\"lat_insn\":", m->lat_insn);
	if (m->has & TY_MEM_HAS_RETIRE)
		key_u(l, ",\"lat_retire\":", m->lat_retire);
	if (m->has & TY_MEM_HAS_EVENTS) {
		key_u(l, ",\"events\":", m->events);
		PUT(l, ",\"event_names\":[");
		put_events(l, t, m->events, true);
		PUT(l, "]");
	}
	src = ty_mem_source_text(m, ty_mem_midr(s, m->has & TY_MEM_HAS_CPU ? m->cpu : UINT32_MAX),
				 name);
	if (*src) {
		PUT(l, ",\"source\":\"");
		put_s(l, src);
		put_s(l, m->src_flags & TY_MEM_SRC_EVENTS ? "\",\"source_by\":\"events\""
							  : "\",\"source_by\":\"code\"");
	}
	if (m->has & TY_MEM_HAS_SOURCE)
		key_u(l, ",\"source_code\":", m->source);
	if (m->data_src)
		key_x(l, ",\"data_src\":", m->data_src);
	if (m->src_flags & TY_MEM_SRC_PEER)
		PUT(l, ",\"peer\":true");
	if (m->src_flags & TY_MEM_SRC_HITM)
		PUT(l, ",\"modified\":true");
	if (m->src_flags & TY_MEM_SRC_REMOTE)
		PUT(l, ",\"remote\":true");
	if (m->extras)
		json_extra(l, m);
	if (t->names)
		json_names(l, t->names, m);
	PUT(l, "}\n");
}

static void text_line(struct line *l, struct texts *t, const struct ty_mem_stream *s,
		      const struct ty_mem *m)
{
	const char *comm = m->tid >= 0 ? ty_mem_comm(s, m->tid, m->ts_ns) : NULL, *src;
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
	if (m->who != TY_MEM_WHO_UNKNOWN)
		put_u(l, (uint32_t)m->tid);
	else
		PUT(l, "?");
	if (m->who == TY_MEM_WHO_RING)
		PUT(l, " (ring)");
	PUT(l, " ");
	if (m->has & TY_MEM_HAS_PC) {
		PUT(l, "pc ");
		put_x(l, m->pc);
		PUT(l, " ");
		if (t->names)
			text_name(l, t->names, m, m->pc);
	}
	put_s(l, op_text(t, m));
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
			PUT(l, " (by events)");
	}
	if (m->has & TY_MEM_HAS_EVENTS) {
		PUT(l, " [");
		put_events(l, t, m->events, false);
		PUT(l, "]");
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

static bool flush(struct line *l, FILE *out)
{
	size_t n = (size_t)(l->p - l->buf);

	l->p = l->buf;
	return fwrite(l->buf, 1, n, out) == n;
}

static int dump(struct ty_mem_session *s, const struct ty_mem_options *o,
		const struct ty_select *sel, FILE *out, struct ty_err *err)
{
	struct texts *t = calloc(1, sizeof(*t));
	struct line *l = malloc(sizeof(*l));
	const struct ty_mem *m;
	struct ty_window w;
	int r = t && l ? 0 : ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", s->path);

	if (!r) {
		l->p = l->buf;
		events_init(t);
		r = ty_mem_session_window(s, sel, &w, err);
		if (!r && (o->roots.n || o->kallsyms))
			r = ty_mem_session_names(s, o, &t->names, err);
	}
	while (!r && (r = ty_mem_next(s->stream, &m, err)) > 0) {
		r = 0;
		if (!ty_mem_chosen(s->stream, &w, m))
			continue;
		(sel->json ? json_line : text_line)(l, t, s->stream, m);
		if (l->p >= l->buf + OUT_BYTES && !flush(l, out))
			break; /* the caller sees it in the stream's state */
	}
	if (t && l)
		flush(l, out);
	if (t && t->names) {
		ty_mem_names_tell(t->names);
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
