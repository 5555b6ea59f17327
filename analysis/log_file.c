/* SPDX-License-Identifier: MIT */
/*
 * See log_file.h. Reads the file in pieces; only the first TY_LOG_LINE bytes of a line are kept.
 */
#include "log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compare.h"
#include "partition.h"
#include "plain_text.h"

#define SEC	 UINT64_C(1000000000)
#define TEXT_MAX 4000 /* of a line and those without a time that follow it */
#define NEAR_MIN UINT64_C(10000000)
#define NEAR_MAX SEC

/* onto the trace's axis --------------------------------------------------------------------- */

static uint64_t of(const struct ty_clock_point *p, enum ty_log_clock clock)
{
	return clock == TY_LOG_MONOTONIC ? p->monotonic_ns : p->realtime_ns;
}

/* Does ns lie between point i and the next? */
static bool between(const struct ty_clock_point *p, uint32_t i, enum ty_log_clock clock,
		    uint64_t ns, uint64_t *ts_ns)
{
	uint64_t a = of(&p[i], clock), b = of(&p[i + 1], clock);
	uint64_t length = p[i + 1].ts_ns - p[i].ts_ns;

	if (ns < a || p[i + 1].ts_ns <= p[i].ts_ns)
		return false;
	if (b > a) {
		if (ns >= b)
			return false;
		*ts_ns = p[i].ts_ns + (uint64_t)((unsigned __int128)length * (ns - a) / (b - a));
		return true;
	}
	/* The clock was set back meanwhile. */
	*ts_ns = p[i].ts_ns + (ns - a);
	return ns - a < length;
}

bool ty_log_trace_time(const struct ty_model *m, enum ty_log_clock clock, uint64_t ns,
		       uint64_t *ts_ns)
{
	uint32_t n, lo;
	const struct ty_clock_point *p = ty_model_clock(m, &n);

	if (!n || clock == TY_LOG_NONE)
		return false;
	lo = partition_point(i, 0, n, of(&p[i], clock) <= ns);
	if (lo && lo < n && between(p, lo - 1, clock, ns, ts_ns))
		return true;
	if (lo == n) {
		*ts_ns = p[n - 1].ts_ns + (ns - of(&p[n - 1], clock));
		return *ts_ns >= p[n - 1].ts_ns;
	}
	if (!lo) {
		*ts_ns = p[0].ts_ns - (of(&p[0], clock) - ns);
		return *ts_ns <= p[0].ts_ns;
	}
	/* Clocks that were set back: the points are in no order. */
	for (uint32_t i = 0; i + 1 < n; i++)
		if (between(p, i, clock, ns, ts_ns))
			return true;
	return false;
}

/* lines ------------------------------------------------------------------------------------- */

struct reader {
	struct ty_log *l;
	const struct ty_model *m;
	uint64_t start_real_ns, number;
	uint32_t file;
	bool timed;   /* a line with a time was seen */
	bool current; /* lines without a time belong to the last one kept */
	bool cut;
	char line[TY_LOG_LINE];
	size_t n;
};

/* Behind a time at the line's start and its separator; 0: the whole line is shown. */
static uint16_t body(const char *text, const struct ty_log_stamp *s)
{
	size_t n = s->first ? s->end : 0;

	while (n && text[n] && strchr(" \t])>}:,", text[n]))
		n++;
	return (uint16_t)(text[n] ? n : 0);
}

static int keep(struct reader *r, const struct ty_log_stamp *s, uint64_t ts)
{
	struct ty_log *l = r->l;
	char *text;

	if (l->line.n >= TY_LOG_LINES || l->bytes + r->n > TY_LOG_BYTES) {
		l->full = true;
		r->current = false;
		return 0;
	}
	text = malloc(r->n + 1);
	if (!text)
		return -TY_ENOMEM;
	memcpy(text, r->line, r->n);
	text[r->n] = 0;
	if (vec_push(&l->line, (struct ty_log_line){.ts_ns = ts,
						    .number = r->number,
						    .text = text,
						    .file = r->file,
						    .body = body(text, s),
						    .doubtful = s->doubtful})) {
		free(text);
		return -TY_ENOMEM;
	}
	l->bytes += r->n;
	l->local += s->local;
	l->doubtful += s->doubtful;
	l->formats[s->format]++;
	l->cut += r->cut;
	r->current = true;
	return 0;
}

/* A line without a time, behind the last one kept. */
static int append(struct reader *r)
{
	struct ty_log_line *k = &r->l->line.v[r->l->line.n - 1];
	size_t have = strlen(k->text);
	char *text;

	if (have + r->n + 1 > TEXT_MAX || r->l->bytes + r->n + 1 > TY_LOG_BYTES) {
		r->l->cut++;
		r->current = false;
		return 0;
	}
	text = realloc(k->text, have + r->n + 2);
	if (!text)
		return -TY_ENOMEM;
	text[have] = '\n';
	memcpy(text + have + 1, r->line, r->n);
	text[have + 1 + r->n] = 0;
	k->text = text;
	r->l->bytes += r->n + 1;
	r->l->cut += r->cut;
	return 0;
}

static int line_ends(struct reader *r)
{
	const struct ty_summary *sum = ty_model_summary(r->m);
	struct ty_log_stamp s;
	uint64_t ts;
	int e = 0;

	r->number++;
	if (r->n && r->line[r->n - 1] == '\r')
		r->n--;
	for (size_t i = 0; i < r->n; i++)
		if (!r->line[i])
			r->line[i] = '?';
	if (ty_log_stamp(r->line, r->n, r->start_real_ns, &s)) {
		r->timed = true;
		r->current = false;
		ty_plain(r->line, r->n);
		if (ty_log_trace_time(r->m, s.clock, s.ns, &ts) && ts >= sum->start_ns &&
		    ts <= sum->end_ns)
			e = keep(r, &s, ts);
		else
			r->l->outside++;
	} else if (!r->timed) {
		r->l->untimed++;
	} else if (r->current) {
		ty_plain(r->line, r->n);
		e = append(r);
	}
	r->n = 0;
	r->cut = false;
	return e;
}

static int feed(struct reader *r, const char *p, size_t n)
{
	int e = 0;

	while (n && !e) {
		const char *end = memchr(p, '\n', n);
		size_t part = end ? (size_t)(end - p) : n;
		size_t room = sizeof(r->line) - r->n, take = part < room ? part : room;

		memcpy(r->line + r->n, p, take);
		r->n += take;
		r->cut |= take < part;
		if (end)
			e = line_ends(r);
		p += part + (end != NULL);
		n -= part + (end != NULL);
	}
	return e;
}

static struct reader reader_of(struct ty_log *l, const struct ty_model *m, uint32_t file)
{
	struct reader r = {.l = l, .m = m, .file = file};

	ty_model_realtime(m, ty_model_summary(m)->start_ns, &r.start_real_ns);
	return r;
}

int ty_log_add(struct ty_log *l, const struct ty_model *m, const char *p, size_t n, uint32_t file)
{
	struct reader r = reader_of(l, m, file);
	int e = feed(&r, p, n);

	return e || !r.n ? e : line_ends(&r);
}

int ty_log_read(struct ty_log *l, const struct ty_model *m, const char *path, uint32_t file,
		struct ty_err *err)
{
	struct reader r = reader_of(l, m, file);
	uint32_t points;
	char piece[65536];
	struct stat st;
	ssize_t got = 0;
	int fd, e = 0;

	ty_model_clock(m, &points);
	if (!points)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "--log %s cannot be aligned: the recording has no wall clock (not "
			       "made by tarry, "
			       "or its clock marks were lost)",
			       path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ty_fail_errno(err, "--log %s: cannot open", path);
	if (fstat(fd, &st) || (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))) {
		close(fd);
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--log %s is not a file or pipe",
			       path);
	}
	while (!e && !l->full && (got = read(fd, piece, sizeof(piece))) > 0)
		e = feed(&r, piece, (size_t)got);
	if (!e && got < 0)
		e = ty_fail_errno(err, "--log %s: cannot read", path);
	else if (!e && r.n)
		e = line_ends(&r);
	close(fd);
	return e ? ty_fail(err, -e, TY_NO_OFFSET, "--log %s: %s", path, ty_strerror(e)) : 0;
}

ORDER(by_time, struct ty_log_line,
      compare(a->ts_ns, b->ts_ns) ?: compare(a->file, b->file) ?: compare(a->number, b->number))

void ty_log_sort(struct ty_log *l)
{
	vec_sort(&l->line, by_time);
}

size_t ty_log_after(const struct ty_log *l, uint64_t t_ns)
{
	return partition_point(i, 0, l->line.n, l->line.v[i].ts_ns < t_ns);
}

size_t ty_log_near(const struct ty_log *l, uint64_t from_ns, uint64_t to_ns, size_t *first)
{
	uint64_t d = (to_ns - from_ns) / 2;

	d = d < NEAR_MIN ? NEAR_MIN : d > NEAR_MAX ? NEAR_MAX : d;
	*first = ty_log_after(l, from_ns > d ? from_ns - d : 0);
	return ty_log_after(l, to_ns < UINT64_MAX - d ? to_ns + d : UINT64_MAX) - *first;
}

void ty_log_fini(struct ty_log *l)
{
	for (size_t i = 0; i < l->line.n; i++)
		free(l->line.v[i].text);
	vec_fini(&l->line);
}
