/* SPDX-License-Identifier: MIT */
/*
 * See log_timestamp.h. RFC 3339, RFC 3164 section 4.1.2, RFC 5322 section 3.3, the common log
 * format of web servers, glog's, printk's and date +%s's.
 */
#include "log_timestamp.h"

#include <string.h>
#include <time.h>

#include "err.h"

#define SEC UINT64_C(1000000000)

const char *ty_log_format_name(enum ty_log_format f)
{
	static const char *const name[] = {"ISO 8601", "syslog", "day/month/year",
					   "glog",     "epoch",	 "dmesg"};

	return f < TY_LOG_FORMATS ? name[f] : "";
}

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

static bool is_date(int year, int month, int day)
{
	static const int length[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	if (year < 1971 || year > 2200 || month < 1 || month > 12 || day < 1 ||
	    day > length[month - 1])
		return false;
	return month != 2 || day < 29 || (year % 4 == 0 && (year % 100 || year % 400 == 0));
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

/* The zone behind a time: its seconds east in *east; false: none. */
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

/* The rest, a fraction and a zone, behind a date and a time. */
static bool finish(struct cur *c, const struct tm *tm, struct ty_log_stamp *out)
{
	struct tm utc = *tm; /* timegm changes it */
	uint64_t ns = fraction(c);
	int64_t sec;
	int east;
	size_t n = 0;

	if (zone(c, &east)) {
		sec = timegm(&utc) - east;
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

static bool of_year(struct cur *at, struct cur c, struct tm tm, int year, enum ty_log_format format,
		    struct ty_log_stamp *out)
{
	tm.tm_year = year - 1900;
	out->format = format;
	if (!finish(&c, &tm, out))
		return false;
	at->p = c.p;
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
	tm.tm_mon = month - 1;
	return of_year(at, c, tm, year, TY_LOG_ISO, out);
}

/* "May": 4, -1 none. */
static int month_name(struct cur *c)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	for (int i = 0; i < 12; i++)
		if (c->end - c->p >= 3 && !memcmp(c->p, names + 3 * i, 3)) {
			c->p += 3;
			return i;
		}
	return -1;
}

/* "06/May/2024:12:53:20 +0000" (web servers), "06 May 2024 12:53:20.123" (Redis, mail). */
static bool day_first(struct cur *at, struct ty_log_stamp *out)
{
	struct cur c = *at;
	struct tm tm = {0};
	int year;
	char sep;

	if (!number(&c, is_digit(peek(&c, 1)) ? 2 : 1, 31, &tm.tm_mday))
		return false;
	sep = peek(&c, 0) == '/' ? '/' : ' ';
	if (!eat(&c, sep) || (tm.tm_mon = month_name(&c)) < 0 || !eat(&c, sep) ||
	    !number(&c, 4, 9999, &year) || !eat(&c, sep == '/' ? ':' : ' ') ||
	    !is_date(year, tm.tm_mon + 1, tm.tm_mday) || !time_of_day(&c, &tm))
		return false;
	return of_year(at, c, tm, year, TY_LOG_DAY_FIRST, out);
}

/* Month, day and time are in tm: of the years around the recording the nearest. */
static bool nearest_year(struct cur *at, struct cur c, struct tm tm, enum ty_log_format format,
			 uint64_t near_ns, struct ty_log_stamp *out)
{
	time_t near_s = (time_t)(near_ns / SEC);
	uint64_t best = UINT64_MAX;
	struct tm now;

	if (!localtime_r(&near_s, &now))
		return false;
	for (int y = now.tm_year - 1; y <= now.tm_year + 1; y++) {
		struct ty_log_stamp s = {.format = format};
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

/* "May  6 07:08:09". */
static bool syslog_time(struct cur *at, uint64_t near_ns, struct ty_log_stamp *out)
{
	struct cur c = *at;
	struct tm tm = {.tm_mon = month_name(&c)};

	return tm.tm_mon >= 0 && eat(&c, ' ') &&
	       (eat(&c, ' ') ? number(&c, 1, 9, &tm.tm_mday) : number(&c, 2, 31, &tm.tm_mday)) &&
	       eat(&c, ' ') && time_of_day(&c, &tm) && !is_digit(peek(&c, 0)) &&
	       nearest_year(at, c, tm, TY_LOG_SYSLOG, near_ns, out);
}

/* "I0506 07:08:09.123456": glog, Kubernetes. */
static bool glog(struct cur *at, uint64_t near_ns, struct ty_log_stamp *out)
{
	struct cur c = *at;
	struct tm tm = {0};

	if (peek(&c, 0) < 0 || !strchr("IWEFD", peek(&c, 0)))
		return false;
	c.p++;
	if (!number(&c, 2, 12, &tm.tm_mon) || !number(&c, 2, 31, &tm.tm_mday) || !eat(&c, ' ') ||
	    !time_of_day(&c, &tm) || peek(&c, 0) != '.')
		return false;
	tm.tm_mon--;
	return nearest_year(at, c, tm, TY_LOG_GLOG, near_ns, out);
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

/* "ts":1715000000.5, "time":1715000000123, ts=1715000000: where a line of JSON or logfmt says what
 * the number is. */
static bool named_epoch(const char *line, size_t at, struct cur *c, struct ty_log_stamp *out)
{
	static const char *const keys[] = {"\"ts\"", "\"time\"", "\"timestamp\"", "\"@timestamp\"",
					   "ts",     "time",	 "timestamp"};

	if (at && line[at - 1] == ' ')
		at--;
	if (!at || (line[at - 1] != ':' && line[at - 1] != '='))
		return false;
	for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++) {
		size_t n = strlen(keys[k]);
		bool json = *keys[k] == '"';

		if (at > n && (line[at - 1] == ':') == json &&
		    !memcmp(line + at - 1 - n, keys[k], n) &&
		    (json || at == n + 1 || line[at - 2 - n] == ' '))
			return epoch(c, out);
	}
	return false;
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
		if (i && !strchr(" \t[(<{\"'=:", line[i - 1]))
			continue;
		*out = (struct ty_log_stamp){0};
		if ((is_digit(line[i]) &&
		     (iso(&c, out) || day_first(&c, out) || named_epoch(line, i, &c, out))) ||
		    (is_alpha(line[i]) &&
		     (syslog_time(&c, near_ns, out) || (!i && glog(&c, near_ns, out))))) {
			out->end = (uint16_t)(c.p - line);
			out->first = i <= 1;
			return true;
		}
	}
	return false;
}

/* "HH:MM[:SS[.frac]]", the whole text. */
static bool clock_only(const char *s, uint64_t start_ns, uint64_t length_ns,
		       struct ty_log_stamp *out)
{
	time_t start = (time_t)(start_ns / SEC);
	struct cur c = {s, s + strlen(s)};
	uint64_t frac = 0;
	struct tm tm, at;
	int64_t sec;

	if (!localtime_r(&start, &tm) ||
	    !number(&c, is_digit(peek(&c, 1)) ? 2 : 1, 23, &tm.tm_hour) || !eat(&c, ':') ||
	    !number(&c, is_digit(peek(&c, 1)) ? 2 : 1, 59, &tm.tm_min))
		return false;
	tm.tm_sec = 0;
	if (eat(&c, ':')) {
		if (!number(&c, is_digit(peek(&c, 1)) ? 2 : 1, 60, &tm.tm_sec))
			return false;
		frac = fraction(&c);
	}
	if (c.p != c.end)
		return false;
	for (int day = 0; day <= 1; day++) {
		bool doubtful;
		uint64_t ns;

		at = tm;
		at.tm_mday += day;
		at.tm_isdst = -1;
		/* The day may be the next month's first. */
		if (day && mktime(&at) == (time_t)-1)
			break;
		at.tm_hour = tm.tm_hour;
		at.tm_min = tm.tm_min;
		at.tm_sec = tm.tm_sec;
		sec = local(&at, "", 0, &doubtful);
		ns = sec < 0 ? 0 : (uint64_t)sec * SEC + frac;
		if (!day || (ns >= start_ns && ns - start_ns <= length_ns))
			*out = (struct ty_log_stamp){.ns = ns, .doubtful = doubtful};
		if (ns >= start_ns)
			break;
	}
	return true;
}

bool ty_wall_time_like(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return strchr(s, ':') ||
	       (n >= 10 && (!s[n] || (s[n] == '.' && !s[n + 1 + strspn(s + n + 1, "0123456789")])));
}

int ty_wall_time(const char *s, uint64_t start_real_ns, uint64_t length_ns, uint64_t *real_ns)
{
	size_t n = strlen(s);
	struct ty_log_stamp t;

	if (!clock_only(s, start_real_ns, length_ns, &t) &&
	    (!ty_log_stamp(s, n, start_real_ns, &t) || !t.first || t.end != n ||
	     t.clock != TY_LOG_REALTIME))
		return -TY_EUSAGE;
	*real_ns = t.ns;
	return t.doubtful;
}
