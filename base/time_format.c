/* SPDX-License-Identifier: MIT */
/* See time_format.h. */
#include "time_format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "err.h"
#include "units.h"

#define SEC UINT64_C(1000000000)

int ty_parse_seconds(const char *s, uint64_t *ns)
{
	size_t n = strcspn(s, ".");
	uint64_t frac = 0, unit = SEC / 10, sec = 0;

	if ((n || !s[n]) && ty_parse_digits(s, n, 9000000000u, &sec))
		return -TY_EUSAGE;
	if (s[n] == '.') {
		if (!n && !s[1])
			return -TY_EUSAGE;
		for (const char *p = s + n + 1; *p; p++, unit /= 10) {
			if (*p < '0' || *p > '9')
				return -TY_EUSAGE;
			frac += (uint64_t)(*p - '0') * unit;
		}
	}
	*ns = sec * SEC + frac;
	return 0;
}

int ty_parse_clock_name(const char *s, enum ty_clock *clock)
{
	static const char *const name[] = {
		[TY_CLOCK_START] = "start", [TY_CLOCK_WALL] = "wall", [TY_CLOCK_TRACE] = "trace"};

	for (unsigned i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (!strcmp(s, name[i])) {
			*clock = (enum ty_clock)i;
			return 0;
		}
	return -TY_EUSAGE;
}

static int decimals_of(uint64_t res_ns, uint64_t *unit)
{
	int decimals = 9;

	for (*unit = 1; decimals > 0 && *unit * 10 <= res_ns; decimals--)
		*unit *= 10;
	return decimals;
}

uint64_t ty_fmt_unit(uint64_t res_ns)
{
	uint64_t unit;

	(void)decimals_of(res_ns, &unit);
	return unit;
}

/* Appends ".345678" to out[0..n); nothing for whole seconds. */
static void add_fraction(uint64_t ns, uint64_t res_ns, char out[TY_TIME_MAX], size_t n)
{
	uint64_t unit;
	const int decimals = decimals_of(res_ns, &unit);

	if (decimals)
		snprintf(out + n, TY_TIME_MAX - n, ".%0*" PRIu64, decimals, ns % SEC / unit);
}

const char *ty_fmt_seconds(uint64_t ns, uint64_t res_ns, char out[TY_TIME_MAX])
{
	size_t n = (size_t)snprintf(out, TY_TIME_MAX, "%" PRIu64, ns / SEC);

	add_fraction(ns, res_ns, out, n);
	return out;
}

const char *ty_fmt_since(uint64_t t_ns, uint64_t start_ns, uint64_t res_ns, char out[TY_TIME_MAX])
{
	return ty_fmt_seconds(t_ns > start_ns ? t_ns - start_ns : 0, res_ns, out);
}

const char *ty_fmt_clock(uint64_t realtime_ns, uint64_t res_ns, char out[TY_TIME_MAX])
{
	time_t sec = (time_t)(realtime_ns / SEC);
	struct tm tm;
	size_t n = localtime_r(&sec, &tm) ? strftime(out, TY_TIME_MAX, "%H:%M:%S", &tm) : 0;

	if (!n)
		n = (size_t)snprintf(out, TY_TIME_MAX, "??:??:??");
	add_fraction(realtime_ns, res_ns, out, n);
	return out;
}
