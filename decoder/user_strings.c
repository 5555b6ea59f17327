/* SPDX-License-Identifier: MIT */
/*
 * See user_strings.h. The probe that writes such an event and that of raw_syscalls run one behind
 * the other at the same enter, in the order in which they were enabled. So a string belongs to the
 * thread's open call of this number and pointer that has no strings yet, or else to its next call,
 * which call_data_index.h finds by time. After a loss no call is known to be open: it counts as
 * such only with the number of losses that there were when it began.
 */
#include "user_strings.h"

#include <stdlib.h>
#include <string.h>

#include "call_data_record.h"
#include "events.h"
#include "pair_map.h"
#include "trace.h"

#define BYTES_MAX (512u << 20)
enum { VALUES = 3, DEFAULT_BYTES = 63 };
static const char more[] = "..."; /* the kernel's mark of a truncated string */

/* An event with such fields: number of the field, and the argument whose string it has. */
struct known {
	uint8_t n;
	struct {
		uint8_t field, arg;
	} of[VALUES];
};

struct open_call {
	uint64_t ns, args[6];
	int64_t nr;
	uint64_t gaps; /* before it */
	bool open;
};

struct reading {
	const struct ty_formats *f;
	const struct ty_sysarch *arch;
	struct ty_paged *out;
	VEC(struct known) known;
	uint8_t index[65536]; /* event id -> known + 1 */
	struct ty_pair_map by_tid;
	VEC(struct open_call) calls;
	uint64_t lost, gaps;
	uint32_t lengths[TY_EV_BYTES]; /* strings of that length */
};

static const char *field_name(const struct ty_formats *f, uint16_t id, unsigned k)
{
	const struct ty_event none = {.id = id, .data = (const uint8_t *)""};
	struct ty_field_value v;

	ty_formats_field(f, &none, k, &v);
	return v.name;
}

/* Fields: the number, the arguments, then the values of some of them. */
static struct known fields_of(const struct ty_formats *f, uint16_t id)
{
	const unsigned n = ty_formats_nfields(f, id);
	struct known known = {0};

	if (strcmp(ty_formats_system(f, id), "syscalls") ||
	    strncmp(ty_formats_name(f, id), "sys_enter_", 10))
		return known;
	for (unsigned k = 1; k < n && k < UINT8_MAX && known.n < VALUES; k++) {
		const char *name = field_name(f, id, k);
		const size_t len = strlen(name);

		if (len < 7 || strncmp(name, "__", 2) || strcmp(name + len - 4, "_val"))
			continue;
		for (unsigned arg = 0; arg < 6 && arg + 1 < k; arg++) {
			const char *of = field_name(f, id, arg + 1);

			if (strlen(of) != len - 6 || strncmp(of, name + 2, len - 6))
				continue;
			known.of[known.n].field = (uint8_t)k;
			known.of[known.n++].arg = (uint8_t)arg;
			break;
		}
	}
	return known;
}

bool ty_user_strings_in(const struct ty_formats *f)
{
	for (uint32_t id = 1; id <= UINT16_MAX; id++)
		if (fields_of(f, (uint16_t)id).n)
			return true;
	return false;
}

static int find_known(struct reading *r)
{
	for (uint32_t id = 1; id <= UINT16_MAX && r->known.n < UINT8_MAX; id++) {
		const struct known k = fields_of(r->f, (uint16_t)id);

		if (k.n && vec_push(&r->known, k))
			return -TY_ENOMEM;
		if (k.n)
			r->index[id] = (uint8_t)r->known.n;
	}
	return 0;
}

static int put(struct reading *r, const struct ty_ev_record *h, const char *s)
{
	if (r->out->n + sizeof(*h) + h->len > BYTES_MAX) {
		r->lost++;
		return 0;
	}
	r->lengths[h->len - 1]++;
	return ty_paged_add(r->out, h, sizeof(*h)) ?: ty_paged_add(r->out, s, h->len - 1u)
					   ?: ty_paged_add(r->out, "", 1);
}

static struct open_call *call_of(struct reading *r, int32_t tid)
{
	return pair_element(&r->by_tid, (uint32_t)tid, 0, &r->calls, (struct open_call){0});
}

static int take(struct reading *r, const struct ty_event *ev)
{
	const struct known *known = &r->known.v[r->index[ev->id] - 1];
	struct open_call *c = call_of(r, ev->tid);
	struct ty_field_value nr, ptr, s;
	const struct ty_sysrow *row;
	bool own = false;
	int e = 0;

	if (!c)
		return -TY_ENOMEM;
	if (ev->tid <= 0 || ty_formats_field(r->f, ev, 0, &nr) || nr.u > UINT16_MAX)
		return 0;
	row = ty_syscall_row(r->arch, TY_ABI_NATIVE64, (int64_t)nr.u);
	for (unsigned i = 0; i < known->n && !e; i++) {
		const unsigned arg = known->of[i].arg;
		struct ty_ev_record h = {.tid = (uint32_t)ev->tid,
					 .nr = (uint16_t)nr.u,
					 .kind = TY_EVK_STRING,
					 .arg = (uint8_t)arg};

		if ((row->a[arg] != TY_ARG_PATH && row->a[arg] != TY_ARG_STR) || arg >= row->n ||
		    ty_formats_field(r->f, ev, arg + 1, &ptr) ||
		    ty_formats_field(r->f, ev, known->of[i].field, &s) || s.type != TY_FIELD_STR ||
		    !s.room || s.n >= TY_EV_BYTES)
			continue;
		own = own || (c->open && c->gaps == r->gaps && c->nr == (int64_t)nr.u &&
			      c->args[arg] == ptr.u);
		h.ns = own ? c->ns : ev->ts_ns;
		h.ptr = ptr.u;
		h.len = (uint16_t)(s.n + 1);
		e = put(r, &h, s.s);
	}
	c->open = c->open && !own;
	return e;
}

static int feed(struct reading *r, const struct ty_event *ev)
{
	struct open_call *c;

	r->gaps += ev->kind == TY_EV_GAP;
	if (ev->kind == TY_EV_OTHER && r->index[ev->id])
		return take(r, ev);
	if ((ev->kind != TY_EV_SYS_ENTER && ev->kind != TY_EV_SYS_EXIT) || ev->decode_error)
		return 0;
	c = call_of(r, ev->tid);
	if (!c)
		return -TY_ENOMEM;
	c->open = ev->kind == TY_EV_SYS_ENTER;
	if (!c->open)
		return 0;
	c->ns = ev->ts_ns;
	c->gaps = r->gaps;
	c->nr = ev->u.enter.nr;
	memcpy(c->args, ev->u.enter.args, sizeof(c->args));
	return 0;
}

/* The length of a truncated string with its mark; 0: none is known to be one. */
static uint32_t cut_length(const struct reading *r, unsigned bytes)
{
	uint32_t n = TY_EV_BYTES - 1;

	if (bytes)
		return bytes + (uint32_t)strlen(more);
	while (n && !r->lengths[n])
		n--;
	/* Between the most bytes and those with the mark no length occurs. */
	return n < DEFAULT_BYTES + strlen(more) || r->lengths[n - 1] || r->lengths[n - 2] ? 0 : n;
}

/* Removes the kernel's mark from the truncated strings, and flags them. */
static void mark_cut(struct ty_paged *b, size_t from, uint32_t length, uint8_t flags)
{
	const size_t less = strlen(more);
	size_t to = from;

	for (size_t at = from; at < b->n;) {
		struct ty_ev_record h;
		size_t n;

		memcpy(&h, b->p + at, sizeof(h));
		n = sizeof(h) + h.len;
		memmove(b->p + to, b->p + at, n);
		at += n;
		if (length && h.len == length + 1 &&
		    !memcmp(b->p + to + n - sizeof(more), more, sizeof(more))) {
			h.len = (uint16_t)(h.len - less);
			h.flags |= flags;
			memcpy(b->p + to, &h, sizeof(h));
			n -= less;
			b->p[to + n - 1] = 0;
		}
		to += n;
	}
	b->n = to;
}

int ty_user_strings_read(const struct ty_trace *t, const struct ty_formats *f,
			 const struct ty_sysarch *arch, unsigned bytes, struct ty_paged *out,
			 struct ty_err *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	const size_t from = out->n;
	struct ty_events *events = NULL;
	struct ty_event ev;
	int e = r ? 0 : -TY_ENOMEM;

	if (!e) {
		*r = (struct reading){.f = f, .arch = arch, .out = out};
		e = find_known(r);
	}
	if (!e && r->known.n)
		e = ty_events_open(t, f, &events, err);
	while (events && !e && (e = ty_events_next(events, &ev, err)) > 0)
		e = feed(r, &ev);
	if (!e && out->n > from)
		mark_cut(out, from, cut_length(r, bytes),
			 bytes ? TY_EVF_CUT : TY_EVF_CUT | TY_EVF_INFERRED);
	if (!e && r->lost)
		e = ty_paged_add(out, &(struct ty_ev_record){.kind = TY_EVK_PIECE, .ns = r->lost},
				 sizeof(struct ty_ev_record));
	ty_events_close(events);
	if (r) {
		vec_fini(&r->known);
		vec_fini(&r->calls);
		ty_pair_map_fini(&r->by_tid);
	}
	free(r);
	return e < 0 ? ty_fail(err, -e, TY_NO_OFFSET, "%s: %s while reading strings of its events",
			       t->path, ty_strerror(e))
		     : 0;
}
