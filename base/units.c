/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <ctype.h>
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

int ty_parse_digits(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (!n)
		return -TY_EUSAGE;
	for (size_t i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v) || v > max)
			return -TY_EUSAGE;
	}
	*out = v;
	return 0;
}

int ty_parse_count(const char *s, uint64_t max, uint64_t *out)
{
	return ty_parse_digits(s, strlen(s), max, out) || !*out ? -TY_EUSAGE : 0;
}

/* A plain decimal number; strtod alone would also take "inf", "nan", "0x10" and leading blanks. */
static int number(const char *s, double *v, const char **rest)
{
	size_t n = strspn(s, "0123456789.");
	char t[40];
	char *end;

	if (!n || n >= sizeof(t))
		return -TY_EUSAGE;
	memcpy(t, s, n);
	t[n] = 0;
	*v = strtod(t, &end);
	if (*end)
		return -TY_EUSAGE;
	*rest = s + n;
	return 0;
}

int ty_parse_duration(const char *s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9},	  {"s", 1e9},	{"ms", 1e6},   {"us", 1e3},  {"ns", 1},
		     {"m", 6e10}, {"h", 36e11}, {"min", 6e10}, {"d", 864e11}};
	const char *rest;
	double v;

	if (number(s, &v, &rest))
		return -TY_EUSAGE;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(rest, units[i].unit)) {
			v = round(v * units[i].ns);
			if (v >= 9.2e18)
				return -TY_EUSAGE;
			*ns = (uint64_t)v;
			return 0;
		}
	return -TY_EUSAGE;
}

int ty_parse_size(const char *s, uint64_t *bytes)
{
	const char *rest, *units = "kmgt";
	double v;

	if (number(s, &v, &rest))
		return -TY_EUSAGE;
	if (*rest) {
		const char *u = strchr(units, tolower((unsigned char)*rest));

		if (!u || (rest[1] && strcasecmp(rest + 1, "b") && strcasecmp(rest + 1, "ib")))
			return -TY_EUSAGE;
		v *= pow(1024, (double)(u - units) + 1);
	}
	if (v >= 9.2e18)
		return -TY_EUSAGE;
	*bytes = (uint64_t)v;
	return 0;
}

const char *ty_fmt_duration(uint64_t ns, char out[TY_DURATION_MAX])
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		double v = (double)ns / units[i].ns;
		/* Seconds keep their milliseconds, the rest three digits. */
		int digits = i ? (v < 9.995 ? 2 : v < 99.95 ? 1 : 0) : (v < 1000 ? 3 : 0);

		/* What rounds to a thousand of the next unit is one of this. */
		if (v >= 0.99951) {
			snprintf(out, TY_DURATION_MAX, "%.*f %s", digits, v, units[i].unit);
			return out;
		}
	}
	snprintf(out, TY_DURATION_MAX, "%u ns", (unsigned)ns);
	return out;
}

const char *ty_fmt_span(uint64_t ns, char out[TY_DURATION_MAX])
{
	uint64_t s = ns / 1000000000 + (ns % 1000000000 >= 500000000), min = s / 60;

	if (ns < 59950000000 && ns >= 1000000000)
		snprintf(out, TY_DURATION_MAX, "%.1f s", (double)ns / 1e9);
	else if (ns < 1000000000)
		ty_fmt_duration(ns, out);
	else if (s < 3600)
		snprintf(out, TY_DURATION_MAX, s % 60 ? "%u min %u s" : "%u min", (unsigned)min,
			 (unsigned)(s % 60));
	else
		snprintf(out, TY_DURATION_MAX, min % 60 ? "%llu h %u min" : "%llu h",
			 (unsigned long long)(min / 60), (unsigned)(min % 60));
	return out;
}

const char *ty_fmt_bytes(uint64_t bytes, char out[TY_DURATION_MAX])
{
	static const char *unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double v = (double)bytes;
	unsigned i = 0;

	while (v >= 999.5 && i < 6) {
		v /= 1000;
		i++;
	}
	snprintf(out, TY_DURATION_MAX, i && v < 9.95 ? "%.1f %s" : "%.0f %s", v, unit[i]);
	return out;
}

const char *ty_fmt_count(uint64_t v, char out[TY_COUNT_MAX])
{
	char t[24];
	int n = snprintf(t, sizeof(t), "%" PRIu64, v), o = 0;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			out[o++] = ',';
		out[o++] = t[i];
	}
	out[o] = 0;
	return out;
}
