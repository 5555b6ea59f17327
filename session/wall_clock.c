/* SPDX-License-Identifier: MIT */
/* See wall_clock.h. Budget: 40 ns per formatted time; localtime() is called once per second of
 * trace time. */
#include "wall_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "key_value.h"
#include "partition.h"
#include "section.h"

void ty_wall_init(struct ty_wall *w)
{
	memset(w, 0, sizeof(*w));
	w->sec = INT64_MIN;
	w->clock = TY_CLOCK_WALL;
	w->decimals = 6;
}

void ty_wall_fini(struct ty_wall *w)
{
	vec_fini(&w->points);
}

int ty_wall_feed(struct ty_wall *w, const struct ty_event *ev)
{
	static const char key[] = "realtime_ns=";
	const char *s = ev->u.print.text;
	struct ty_wall_point p = {.ts_ns = ev->ts_ns};
	char *end;

	if (ev->kind != TY_EV_PRINT || ev->decode_error || !s ||
	    strncmp(s, TY_CLOCK_MARKER, sizeof(TY_CLOCK_MARKER) - 1))
		return 0;
	s = strstr(s, key);
	if (!s)
		return 0;
	errno = 0;
	p.realtime_ns = strtoull(s + sizeof(key) - 1, &end, 10);
	if (errno || end == s + sizeof(key) - 1)
		return 0;
	/* Rewound: known already. */
	if (w->points.n && w->points.v[w->points.n - 1].ts_ns >= p.ts_ns)
		return 0;
	return vec_push(&w->points, p);
}

int ty_wall_machine(struct ty_wall *w, const char *text)
{
	char line[200];
	const char *v;
	size_t n;

	while (ty_key_next(&text, "clock", &v, &n)) {
		struct ty_event ev = {.kind = TY_EV_PRINT};
		char *marker;
		int r;

		n = n < sizeof(line) ? n : sizeof(line) - 1;
		memcpy(line, v, n);
		line[n] = 0;
		ev.ts_ns = strtoull(line, &marker, 10);
		ev.u.print.text = marker + (marker != line && *marker == ' ');
		r = ty_wall_feed(w, &ev);
		if (r)
			return r;
	}
	return 0;
}

int ty_wall_find(struct ty_wall *w, const struct ty_trace *t, struct ty_events *es,
		 struct ty_err *err)
{
	const char *machine = ty_trace_section(t, TY_SEC_MACHINE).s;
	struct ty_event ev;
	int r = 1;

	if (w->clock == TY_CLOCK_START) {
		r = ty_events_next(es, &ev, err);
		if (r > 0)
			w->start_ns = t->cut_origin_ns
					      ? t->cut_origin_ns + (uint64_t)t->ts_offset_ns
					      : ev.ts_ns;
		return r < 0 ? r : ty_events_seek(es, 0, err);
	}
	if (w->clock != TY_CLOCK_WALL || !machine)
		return 0;
	if (ty_wall_machine(w, machine))
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	while (!w->points.n && r > 0) {
		r = ty_events_next(es, &ev, err);
		if (r > 0 && ty_wall_feed(w, &ev))
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	return r < 0 ? r : ty_events_seek(es, 0, err);
}

bool ty_wall_realtime(const struct ty_wall *w, uint64_t ts_ns, uint64_t *realtime_ns)
{
	size_t lo;

	if (!w->points.n)
		return false;
	lo = partition_point(i, 1, w->points.n, w->points.v[i].ts_ns <= ts_ns) - 1;
	*realtime_ns = w->points.v[lo].realtime_ns + (ts_ns - w->points.v[lo].ts_ns);
	return true;
}

static void add_fraction(const struct ty_wall *w, struct ty_buf *out, uint64_t ns)
{
	char t[10] = ".000000000";

	ns %= 1000000000;
	for (unsigned i = 9; ns; i--, ns /= 10)
		t[i] = (char)('0' + ns % 10);
	ty_buf_add(out, t, 1 + (w->decimals < 9 ? w->decimals : 9));
}

void ty_wall_fmt(struct ty_wall *w, uint64_t ts_ns, struct ty_buf *out)
{
	uint64_t ns;
	int64_t sec;

	if (w->clock != TY_CLOCK_WALL || !ty_wall_realtime(w, ts_ns, &ns)) {
		if (w->clock == TY_CLOCK_START)
			ts_ns = ts_ns > w->start_ns ? ts_ns - w->start_ns : 0;
		ty_buf_addf(out, "%llu", (unsigned long long)(ts_ns / 1000000000));
		add_fraction(w, out, ts_ns);
		return;
	}
	sec = (int64_t)(ns / 1000000000);
	if (sec != w->sec) {
		time_t t = (time_t)sec;
		struct tm tm;

		if (!localtime_r(&t, &tm) || !strftime(w->hms, sizeof(w->hms), "%H:%M:%S", &tm))
			memcpy(w->hms, "??:??:??", sizeof(w->hms));
		w->sec = sec;
	}
	ty_buf_add(out, w->hms, 8);
	add_fraction(w, out, ns);
}
