/* SPDX-License-Identifier: MIT */
/* See counter_load.h. */
#include "counter_load.h"

#include <stdio.h>
#include <string.h>

#include "counter_measures.h"
#include "counter_record.h"
#include "key_value.h"
#include "plain_text.h"
#include "section.h"

_Static_assert((int)TY_COUNTS_MAX == (int)TY_COUNTERS_READ, "one limit");
_Static_assert((int)TY_COUNT_GROUPS_MAX == (int)TY_COUNTERS_READ, "one limit");
_Static_assert((int)TY_COUNT_NO_CPU == (int)TY_CT_NO_CPU, "one number");

/* "GROUP UNIT NAME" */
static bool take_def(struct ty_counts *c, const char *p, size_t n)
{
	struct ty_count_def *d = &c->def[c->n];
	const char *unit = memchr(p, ' ', n), *name;
	const uint32_t last = c->groups;
	uint64_t group;

	if (c->n == TY_COUNTS_MAX || !unit || !ty_key_numbers(p, (size_t)(unit - p), &group, 1))
		return false;
	unit++;
	name = memchr(unit, ' ', n - (size_t)(unit - p));
	if (!name || group >= TY_COUNT_GROUPS_MAX || group > last || (last && group + 1 < last))
		return false;
	name++;
	n -= (size_t)(name - p);
	if (!n || n >= sizeof(d->name))
		return false;
	*d = (struct ty_count_def){.group = (uint32_t)group, .is_time = !strncmp(unit, "ns ", 3)};
	memcpy(d->name, name, n);
	ty_plain(d->name, n);
	c->groups = (uint32_t)group + 1;
	c->n++;
	return true;
}

static bool take_defs(struct ty_counts *c, const struct ty_trace *t)
{
	const char *facts = ty_trace_section(t, TY_SEC_MACHINE).s, *p;
	bool good = true;
	size_t n;

	while (good && ty_key_next(&facts, "counter", &p, &n))
		good = take_def(c, p, n);
	c->intervals = ty_key_u64(ty_trace_section(t, TY_SEC_MACHINE).s, "counter_intervals");
	ty_count_ratios(c);
	return good && c->n;
}

bool ty_counts_recorded(const struct ty_trace *t)
{
	const char *facts = ty_trace_section(t, TY_SEC_MACHINE).s, *p;
	size_t n;

	return ty_key_next(&facts, "counter", &p, &n);
}

/* false: no reading is of such a thread. */
static bool whose(const struct ty_counts *c, const struct ty_counter_head *h, int32_t *tid)
{
	const bool of_cpu = c->intervals && h->tid == UINT32_MAX && h->cpu != TY_CT_NO_CPU;

	*tid = of_cpu ? TY_COUNT_OF_CPU(h->cpu) : (int32_t)h->tid;
	return of_cpu || h->tid <= INT32_MAX;
}

static int read_all(struct ty_counts *c, struct ty_text t, int64_t offset_ns)
{
	const size_t all = TY_COUNTER_RECORD(c->n, c->groups);
	uint64_t v[TY_COUNTS_MAX + 2 * TY_COUNT_GROUPS_MAX];
	struct ty_counter_head h;

	for (size_t at = 0; at < t.n; at += all) {
		struct ty_count_reading r;
		int32_t tid;

		if (t.n - at < all) {
			c->damaged = true;
			break;
		}
		memcpy(&h, t.s + at, sizeof(h));
		memcpy(v, t.s + at + sizeof(h), all - sizeof(h));
		if (h.flags & TY_CT_LOST) {
			c->lost += h.dur_ns;
			continue;
		}
		/* What could not be read has no value, also not 0. */
		if (h.flags & TY_CT_UNREAD) {
			c->unread++;
			continue;
		}
		if (!whose(c, &h, &tid) || h.dur_ns > h.ns) {
			c->damaged = true;
			continue;
		}
		r = (struct ty_count_reading){h.ns - h.dur_ns + (uint64_t)offset_ns,
					      h.ns + (uint64_t)offset_ns, tid, h.cpu};
		if (!ty_counts_add(c, r, v) && r.from_ns <= r.to_ns)
			return -TY_ENOMEM;
	}
	return ty_counts_finish(c);
}

int ty_counts_of_trace(const struct ty_trace *t, struct ty_counts **out, struct ty_err *err)
{
	int e = 0;

	*out = NULL;
	if (!ty_counts_recorded(t))
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "%s: it has no counters (record --counter EVENT)", t->path);
	*out = ty_counts_new();
	if (!*out)
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for its counters",
			    t->path);
	else if (!take_defs(*out, t))
		e = ty_fail(err, TY_EFORMAT, TY_NO_OFFSET,
			    "%s: the list of its counters is damaged", t->path);
	else if (read_all(*out, ty_trace_section(t, TY_SEC_COUNTERS), t->ts_offset_ns))
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for its counters",
			    t->path);
	if (e) {
		ty_counts_free(*out);
		*out = NULL;
	}
	return e;
}
