/* SPDX-License-Identifier: MIT */
/*
 * See log_file.h. The file is read in pieces; of a line only the first TY_LOG_LINE bytes are held.
 * Time stamps: RFC 3339, RFC 3164 section 4.1.2, printk's and date +%s's.
 */
#include "log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "partition.h"
#include "plain.h"

#define SEC	 UINT64_C(1000000000)
#define TEXT_MAX 4000 /* of a line and those without a time that follow it */
#define NEAR_MIN UINT64_C(10000000)
#define NEAR_MAX SEC

const char *ty_log_format_name(enum ty_log_format f)
{
	static const char *const name[] = {"ISO 8601", "syslog", "epoch", "dmesg"};

	return f < TY_LOG_FORMATS ? name[f] : "";
}

/* reading a time stamp ---------------------------------------------------------------------- */

struct cur {
	const char *p, *end;
};

static int peek(const struct cur *c, size_t k)
{
	return (size_t)(c->end - c->p) > k ? (unsigned char)c->p[k] : -1;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool eat(struct cur *c, char ch)
{
	if (peek(c, 0) != ch)
		return false;
	c->p++;
	return true;
}

/* Exactly n digits up to max. */
static bool number(struct cur *c, int n, int max, int *out)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (!is_digit(peek(c, 0)))
			return false;
		v = v * 10 + (*c->p++ - '0');
	}
	*out = v;
	return v <= max;
}

/* ".123456", ",123": nanoseconds; 0 without one. */
static uint64_t fraction(struct cur *c)
{
	uint64_t ns = 0, unit = SEC / 10;

	if ((peek(c, 0) != '.' && peek(c, 0) != ',') || !is_digit(peek(c, 1)))
		return 0;
	for (c->p++; is_digit(peek(c, 0)); c->p++, unit /= 10)
		ns += (uint64_t)(*c->p - '0') * unit;
	return ns;
}

/* "hh:mm:ss", with a leap second. */
static bool time_of_day(struct cur *c, struct tm *tm)
{
	return number(c, 2, 23, &tm->tm_hour) && eat(c, ':') && number(c, 2, 59, &tm->tm_min) &&
	       eat(c, ':') && number(c, 2, 60, &tm->tm_sec);
}

/* Days from 1970-01-01 in the Gregorian calendar. */
static int64_t days(int year, int month, int day)
{
	int y = year - (month <= 2), era = y / 400, in_era = y - era * 400;
	int in_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return (int64_t)era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

static bool is_date(int year, int month, int day)
{
	static const int length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (year < 1971 || year > 2200 || month < 1 || month > 12 || day < 1 ||
	    day > length[month - 1])
		return false;
	return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 || year % 400 == 0));
}

static int64_t utc(const struct tm *tm)
{
	return days(tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday) * 86400 + tm->tm_hour * 3600 +
	       tm->tm_min * 60 + tm->tm_sec;
}

/* Is t the local time tm, with or without daylight saving as isdst says? */
static bool local_as(const struct tm *tm, int isdst, time_t *t, const char **zone)
{
	struct tm a = *tm, b;

	a.tm_isdst = isdst;
	*t = mktime(&a);
	if (*t == (time_t)-1 || !localtime_r(t, &b))
		return false;
	*zone = b.tm_zone;
	return b.tm_isdst == isdst && b.tm_hour == tm->tm_hour && b.tm_min == tm->tm_min &&
	       b.tm_mday == tm->tm_mday;
}

/* Local time; zone[0..n) is a word behind it that may be the zone's name. */
static int64_t local(const struct tm *tm, const char *zone, size_t n, bool *doubtful)
{
	const char *z0 = NULL, *z1 = NULL;
	time_t t0, t1;
	bool is0 = local_as(tm, 0, &t0, &z0), is1 = local_as(tm, 1, &t1, &z1);

	if (is0 && is1) {
		/* The hour that is there twice. */
		if (z1 && n == strlen(z1) && !memcmp(z1, zone, n))
			return t1;
		*doubtful = !(z0 && n == strlen(z0) && !memcmp(z0, zone, n));
		return t0;
	}
	*doubtful = !is0 && !is1; /* the hour that is left out */
	return is1 ? t1 : t0;
}

/* The zone behind a time: its seconds east in *east; false: none that is told. */
static bool zone(struct cur *c, int *east)
{
	struct cur k = *c;
	int sign, h, m = 0;

	*east = 0;
	eat(&k, ' ');
	if (peek(&k, 0) == 'Z' && !is_alpha(peek(&k, 1))) {
		c->p = k.p + 1;
		return true;
	}
	for (int i = 0; i < 2; i++) {
		const char *name = i ? "GMT" : "UTC";

		if (peek(&k, 0) == name[0] && peek(&k, 1) == name[1] && peek(&k, 2) == name[2] &&
		    !is_alpha(peek(&k, 3))) {
			c->p = k.p + 3;
			return true;
		}
	}
	if (peek(&k, 0) != '+' && peek(&k, 0) != '-')
		return false;
	sign = *k.p++ == '-' ? -1 : 1;
	if (!number(&k, 2, 14, &h))
		return false;
	eat(&k, ':');
	if (is_digit(peek(&k, 0)) && !number(&k, 2, 59, &m))
		return false;
	if (is_digit(peek(&k, 0)))
		return false; /* a longer number: no zone */
	*east = sign * (h * 3600 + m * 60);
	c->p = k.p;
	return true;
}

static bool finish(struct cur *c, const struct tm *tm, struct ty_log_stamp *out)
{
	uint64_t ns = fraction(c);
	int64_t sec;
	int east;
	size_t n = 0;

	if (zone(c, &east)) {
		sec = utc(tm) - east;
	} else {
		eat(c, ' ');
		while (is_alpha(peek(c, n)) && n < 8)
			n++;
		sec = local(tm, c->p, n, &out->doubtful);
		out->local = true;
	}
	if (sec <= 0)
		return false;
	out->ns = (uint64_t)sec * SEC + ns;
	out->clock = TY_LOG_REALTIME;
	return true;
}

static bool iso(struct cur *at, struct ty_log_stamp *out)
{
	struct cur c = *at;
	struct tm tm = {0};
	int year, month;
	char sep;

	if (!number(&c, 4, 9999, &year))
		return false;
	sep = peek(&c, 0) == '/' ? '/' : '-';
	if (!eat(&c, sep) || !number(&c, 2, 12, &month) || !eat(&c, sep) ||
	    !number(&c, 2, 31, &tm.tm_mday) || !is_date(year, month, tm.tm_mday) ||
	    !(eat(&c, 'T') || eat(&c, ' ') || eat(&c, 't')) || !time_of_day(&c, &tm))
		return false;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	out->format = TY_LOG_ISO;
	if (!finish(&c, &tm, out))
		return false;
	at->p = c.p;
	return true;
}

/* "May  6 07:08:09": of the years around the recording the nearest. */
static bool syslog_time(struct cur *at, uint64_t near_ns, struct ty_log_stamp *out)
{
	struct cur c = *at;
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t near_s = (time_t)(near_ns / SEC);
	struct tm tm = {.tm_mon = -1}, now;
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 12; i++)
		if (peek(&c, 0) == names[3 * i] && peek(&c, 1) == names[3 * i + 1] &&
		    peek(&c, 2) == names[3 * i + 2] && peek(&c, 3) == ' ')
			tm.tm_mon = i;
	if (tm.tm_mon < 0)
		return false;
	c.p += 4;
	if (!(eat(&c, ' ') ? number(&c, 1, 9, &tm.tm_mday) : number(&c, 2, 31, &tm.tm_mday)) ||
	    !eat(&c, ' ') || !time_of_day(&c, &tm) || is_digit(peek(&c, 0)) ||
	    !localtime_r(&near_s, &now))
		return false;
	for (int y = now.tm_year - 1; y <= now.tm_year + 1; y++) {
		struct ty_log_stamp s = {.format = TY_LOG_SYSLOG};
		struct cur rest = c;
		uint64_t off;

		tm.tm_year = y;
		if (!is_date(y + 1900, tm.tm_mon + 1, tm.tm_mday) || !finish(&rest, &tm, &s))
			continue;
		off = s.ns > near_ns ? s.ns - near_ns : near_ns - s.ns;
		if (off < best) {
			best = off;
			*out = s;
			at->p = rest.p;
		}
	}
	return best != UINT64_MAX;
}

static bool epoch(struct cur *at, struct ty_log_stamp *out)
{
	struct cur c = *at;
	uint64_t v = 0;
	size_t n = 0;

	for (; is_digit(peek(&c, 0)) && n < 19; n++)
		v = v * 10 + (uint64_t)(*c.p++ - '0');
	if (is_digit(peek(&c, 0)) || v < 31536000)
		return false;
	switch (n) {
	case 9:
	case 10:
		v *= SEC;
		v += fraction(&c);
		break;
	case 13:
		v *= 1000000;
		v += fraction(&c) / 1000;
		break;
	case 16: v *= 1000; break;
	case 19: break;
	default: return false;
	}
	if (is_alpha(peek(&c, 0)) || is_digit(peek(&c, 0)) || peek(&c, 0) == '-')
		return false;
	*out = (struct ty_log_stamp){.ns = v, .clock = TY_LOG_REALTIME, .format = TY_LOG_EPOCH};
	at->p = c.p;
	return true;
}

/* "[12345.678901]", padded by blanks, perhaps behind "<6>". */
static bool dmesg(struct cur *at, struct ty_log_stamp *out)
{
	struct cur c = *at;
	uint64_t v = 0, ns;
	size_t n = 0;

	if (eat(&c, '<')) {
		while (is_digit(peek(&c, 0)))
			c.p++;
		if (!eat(&c, '>'))
			return false;
	}
	if (!eat(&c, '['))
		return false;
	while (eat(&c, ' '))
		;
	for (; is_digit(peek(&c, 0)) && n < 10; n++)
		v = v * 10 + (uint64_t)(*c.p++ - '0');
	if (!n || peek(&c, 0) != '.')
		return false;
	ns = fraction(&c);
	if (!eat(&c, ']'))
		return false;
	*out = (struct ty_log_stamp){
		.ns = v * SEC + ns, .clock = TY_LOG_MONOTONIC, .format = TY_LOG_DMESG};
	at->p = c.p;
	return true;
}

bool ty_log_stamp(const char *line, size_t n, uint64_t near_ns, struct ty_log_stamp *out)
{
	struct cur c = {line, line + n};

	*out = (struct ty_log_stamp){0};
	if (dmesg(&c, out) || epoch(&c, out)) {
		out->end = (uint16_t)(c.p - line);
		out->first = true;
		return true;
	}
	for (size_t i = 0; i < n && i < TY_LOG_HEAD; i++) {
		c.p = line + i;
		if (i && !strchr(" \t[(<{\"'=", line[i - 1]))
			continue;
		*out = (struct ty_log_stamp){0};
		if ((is_digit(line[i]) && iso(&c, out)) ||
		    (is_alpha(line[i]) && syslog_time(&c, near_ns, out))) {
			out->end = (uint16_t)(c.p - line);
			out->first = i <= 1;
			return true;
		}
	}
	return false;
}

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

/* Behind a time at the line's start and what sets it off; 0: the whole line is told. */
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
		return ty_fail(
			err, TY_ENOTFOUND, TY_NO_OFFSET,
			"--log %s: the recording has no wall clock (it was not made by tarry, "
			"or its clock marks were lost), so that a log has no place in it",
			path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ty_fail_errno(err, "--log %s: cannot be opened", path);
	if (fstat(fd, &st) || (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))) {
		close(fd);
		return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "--log %s: not a file or pipe", path);
	}
	while (!e && !l->full && (got = read(fd, piece, sizeof(piece))) > 0)
		e = feed(&r, piece, (size_t)got);
	if (!e && got < 0)
		e = ty_fail_errno(err, "--log %s: cannot be read", path);
	else if (!e && r.n)
		e = line_ends(&r);
	close(fd);
	return e ? ty_fail(err, -e, TY_NO_OFFSET, "--log %s: %s", path, ty_strerror(e)) : 0;
}

static int by_time(const void *pa, const void *pb)
{
	const struct ty_log_line *a = pa, *b = pb;

	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns ? -1 : 1;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void ty_log_sort(struct ty_log *l)
{
	if (l->line.n)
		qsort(l->line.v, l->line.n, sizeof(*l->line.v), by_time);
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
