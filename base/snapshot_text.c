/* SPDX-License-Identifier: MIT */
/* See snapshot_text.h. Never reads past the end of a line. */
#include "snapshot_text.h"

#include <limits.h>
#include <string.h>

/* Returns the next line and advances *text past it; NULL at the end. */
static const char *next_line(const char **text, size_t *n)
{
	const char *line = *text;

	if (!line || !*line)
		return NULL;
	*n = strcspn(line, "\n");
	*text = line + *n + (line[*n] == '\n');
	return line;
}

/* Splits a line into at most max fields; missing fields are empty. */
static void split(const char *line, size_t n, struct ty_snap_field *f, unsigned max)
{
	const char *end = line + n, *tab;

	memset(f, 0, max * sizeof(*f));
	for (unsigned i = 0; i < max && line; i++) {
		tab = memchr(line, '\t', (size_t)(end - line));
		f[i].s = line;
		f[i].n = (size_t)((tab ? tab : end) - line);
		line = tab ? tab + 1 : NULL;
	}
}

/* Parses a decimal number that ends before `end`, and advances *p past it. -1 when there is none
 * below 2^63. */
static int64_t digits(const char **p, const char *end)
{
	int64_t v = 0;
	const char *s = *p;

	for (; s < end && *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *s - '0', &v))
			return -1;
	if (s == *p)
		return -1;
	*p = s;
	return v;
}

/* Parses a field as a number of at most `most`; -1 otherwise. */
static int64_t number(struct ty_snap_field f, int64_t most)
{
	const char *p = f.s;
	int64_t v = f.n ? digits(&p, f.s + f.n) : -1;

	return v >= 0 && p == f.s + f.n && v <= most ? v : -1;
}

/* "taken FROM_NS TO_NS" */
static bool taken_line(const char *line, size_t n, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *end = line + n, *p = line + 6;
	int64_t from, to;

	if (n <= 6 || memcmp(line, "taken ", 6))
		return false;
	from = digits(&p, end);
	p += p < end && *p == ' ';
	to = digits(&p, end);
	*from_ns = from < 0 ? 0 : (uint64_t)from;
	*to_ns = to < 0 ? 0 : (uint64_t)to;
	return true;
}

bool ty_snap_taken(const char *text, uint64_t *from_ns, uint64_t *to_ns)
{
	const char *line;
	bool any = false;
	size_t n;

	while ((line = next_line(&text, &n)))
		any |= taken_line(line, n, from_ns, to_ns);
	return any;
}

bool ty_snap_thread(const char **text, struct ty_snap_thread *t)
{
	enum { TID, TGID, PPID, STATE = 4, POLICY, CALL = 8, AFFINITY = 10, CGROUP, COMM, FIELDS };
	struct ty_snap_field f[FIELDS];
	const char *line, *p;
	size_t n;

	while ((line = next_line(text, &n))) {
		split(line, n, f, FIELDS);
		/* Any field but the last must be followed by a TAB: otherwise the line was
		 * truncated. */
		for (unsigned i = 0; i < COMM; i++)
			if (!f[i + 1].s)
				f[i].n = 0;
		t->tid = (int32_t)number(f[TID], INT32_MAX);
		if (t->tid <= 0)
			continue;
		t->tgid = (int32_t)number(f[TGID], INT32_MAX);
		t->ppid = (int32_t)number(f[PPID], INT32_MAX);
		t->state = f[STATE].n ? *f[STATE].s : '?';
		t->policy = f[POLICY];
		t->call = f[CALL];
		t->affinity = f[AFFINITY];
		t->cgroup = f[CGROUP];
		t->comm = f[COMM];
		/* The number is followed by the arguments. */
		p = t->call.s;
		t->nr = t->call.n ? digits(&p, t->call.s + t->call.n) : -1;
		if (t->nr >= 0 && p < t->call.s + t->call.n && *p != ' ')
			t->nr = -1;
		return true;
	}
	return false;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

bool ty_snap_args(const struct ty_snap_thread *t, uint64_t args[6])
{
	const char *p = t->call.s, *end;

	if (t->nr < 0)
		return false;
	end = p + t->call.n;
	digits(&p, end);
	for (unsigned i = 0; i < 6; i++) {
		if (p == end || *p++ != ' ')
			return false;
		if (end - p > 2 && p[0] == '0' && p[1] == 'x')
			p += 2;
		if (p == end || hex(*p) < 0)
			return false;
		for (args[i] = 0; p < end && hex(*p) >= 0; p++)
			args[i] = args[i] << 4 | (unsigned)hex(*p);
	}
	return true;
}

static bool is(struct ty_snap_field f, const char *text)
{
	return f.n == strlen(text) && !memcmp(f.s, text, f.n);
}

struct ty_snap_fd ty_snap_fd(const char **text)
{
	struct ty_snap_fd d = {.is = TY_SNAP_FD_END};
	struct ty_snap_field f[6];
	const char *line;
	uint64_t from;
	int64_t net;
	size_t n;

	while ((line = next_line(text, &n))) {
		if (taken_line(line, n, &from, &d.taken_ns)) {
			d.is = TY_SNAP_FD_TAKEN;
			return d;
		}
		split(line, n, f, 6);
		d.pid = (int32_t)number(f[0], INT_MAX);
		d.fd = (int32_t)number(f[1], INT_MAX);
		d.is = is(f[0], "left_out") || (d.pid >= 0 && is(f[1], "left_out"))
			       ? TY_SNAP_FD_LEFT_OUT
		       : d.pid >= 0 && is(f[1], "cwd") && f[3].s ? TY_SNAP_FD_CWD
		       : d.pid >= 0 && d.fd >= 0 && f[3].s	 ? TY_SNAP_FD_OPEN
								 : TY_SNAP_FD_END;
		if (d.is == TY_SNAP_FD_END)
			continue;
		d.cloexec = is(f[2], "cloexec");
		d.access = is(f[4], "r") || is(f[4], "w") ? *f[4].s : is(f[4], "rw") ? 'b' : 0;
		net = f[5].s ? number(f[5], UINT32_MAX) : 0;
		d.net = net > 0 ? (uint32_t)net : 0;
		d.target = f[3];
		return d;
	}
	return d;
}

bool ty_snap_command(const char **text, struct ty_snap_command *c)
{
	struct ty_snap_field f[3];
	const char *line;
	int64_t ns;
	size_t n;

	while ((line = next_line(text, &n))) {
		split(line, n, f, 3);
		ns = number(f[0], INT64_MAX);
		c->pid = (int32_t)number(f[1], INT_MAX);
		if (ns < 0 || c->pid <= 0 || !f[2].s)
			continue;
		c->ns = (uint64_t)ns;
		c->arguments.s = f[2].s;
		c->arguments.n = (size_t)(line + n - f[2].s);
		return true;
	}
	return false;
}

bool ty_snap_quota(const char **text, struct ty_snap_quota *q)
{
	enum { FROM, TO, THROTTLED, QUOTA, PERIOD, PATH, TIDS, FIELDS };
	struct ty_snap_field f[FIELDS];
	const char *line;
	int64_t v[PERIOD + 1];
	size_t n;

	while ((line = next_line(text, &n))) {
		split(line, n, f, FIELDS);
		for (unsigned i = 0; i <= PERIOD; i++)
			v[i] = number(f[i], INT64_MAX);
		q->unknown = is(f[THROTTLED], "-");
		if (v[FROM] < 0 || v[TO] <= v[FROM] || (v[THROTTLED] < 0 && !q->unknown) ||
		    v[QUOTA] < 0 || v[PERIOD] < 0 || !f[TIDS].s)
			continue;
		q->from_ns = (uint64_t)v[FROM];
		q->to_ns = (uint64_t)v[TO];
		q->throttled_ns = q->unknown ? 0 : (uint64_t)v[THROTTLED];
		q->quota_us = (uint64_t)v[QUOTA];
		q->period_us = (uint64_t)v[PERIOD];
		q->path = f[PATH];
		q->tids = f[TIDS];
		q->same_tids = is(f[TIDS], "=");
		return true;
	}
	return false;
}

bool ty_snap_tid(struct ty_snap_field *tids, int32_t *tid)
{
	const char *end = tids->s + tids->n, *p = tids->s;
	int64_t v;

	while (p < end && *p == ' ') {
		p++;
		v = digits(&p, end);
		tids->n = (size_t)(end - p);
		tids->s = p;
		if (v > 0 && v <= INT32_MAX) {
			*tid = (int32_t)v;
			return true;
		}
		if (v < 0)
			return false;
	}
	return false;
}
