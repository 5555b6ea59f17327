/* SPDX-License-Identifier: MIT */
/* The parts of an answer's time as text, and its notes; see answer.h. */
#include "answer_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *key, *text;
} part[] = {
#define X(name, json, text) {json, text},
	TY_ANSWER_PARTS(X)
#undef X
};

const char *ty_answer_part_key(enum ty_answer_part p)
{
	return p < TY_ANSWER_PARTS_N ? part[p].key : "";
}

void ty_answer_note(struct ty_answer *a, const char *fmt, ...)
{
	va_list ap;

	if (a->notes == TY_ANSWER_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(a->note[a->notes++], sizeof(a->note[0]), fmt, ap);
	va_end(ap);
}

/* Four digits of the total. */
static const struct fixed {
	uint64_t from_ns, unit_ns, step_ns; /* of totals from here on; what one step is */
	unsigned decimals;
	const char *unit;
} scale[] = {
	{UINT64_C(100000000000), 1000000000, 100000000, 1, "s"},
	{UINT64_C(10000000000), 1000000000, 10000000, 2, "s"},
	{1000000000, 1000000000, 1000000, 3, "s"},
	{100000000, 1000000, 100000, 1, "ms"},
	{10000000, 1000000, 10000, 2, "ms"},
	{1000000, 1000000, 1000, 3, "ms"},
	{10000, 1000, 10, 2, "us"},
	{0, 1, 1, 0, "ns"},
};

static void fixed_text(const struct fixed *f, uint64_t steps, char out[TY_ANSWER_FIXED])
{
	uint64_t per = f->unit_ns / f->step_ns;

	if (f->decimals)
		snprintf(out, TY_ANSWER_FIXED, "%" PRIu64 ".%0*" PRIu64 " %s", steps / per,
			 (int)f->decimals, steps % per, f->unit);
	else
		snprintf(out, TY_ANSWER_FIXED, "%" PRIu64 " %s", steps, f->unit);
}

void ty_answer_fixed(const uint64_t *ns, uint32_t n, uint64_t total_ns,
		     char (*out)[TY_ANSWER_FIXED])
{
	const struct fixed *f = scale;
	uint64_t total, sum = 0, up;

	while (f->from_ns > total_ns)
		f++;
	total = (total_ns + f->step_ns / 2) / f->step_ns;
	for (uint32_t i = 0; i < n; i++)
		sum += ns[i] / f->step_ns;
	/* Rounds up this many: those closest to the next unit; among equal ones the first. */
	up = total > sum ? total - sum : 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t left = ns[i] % f->step_ns, before = 0;

		for (uint32_t k = 0; k < n; k++)
			before +=
				ns[k] % f->step_ns > left || (ns[k] % f->step_ns == left && k < i);
		fixed_text(f, ns[i] / f->step_ns + (before < up), out[i]);
	}
	fixed_text(f, total, out[n]);
}

void ty_answer_sum_text(const uint64_t part_ns[TY_ANSWER_PARTS_N], uint64_t total_ns, char *out,
			size_t size)
{
	char text[TY_ANSWER_PARTS_N + 1][TY_ANSWER_FIXED];
	uint8_t order[TY_ANSWER_PARTS_N];
	size_t at = strlen(out);
	unsigned n = 0;

	ty_answer_fixed(part_ns, TY_ANSWER_PARTS_N, total_ns, text);
	for (unsigned p = 0; p < TY_ANSWER_PARTS_N; p++) {
		unsigned i = n;

		if (!part_ns[p] || text[p][strspn(text[p], "0.")] == ' ')
			continue; /* shown as 0.000 s */
		for (; i && part_ns[order[i - 1]] < part_ns[p]; i--)
			order[i] = order[i - 1];
		order[i] = (uint8_t)p;
		n++;
	}
	at += (size_t)snprintf(out + at, size - at, "%s", text[TY_ANSWER_PARTS_N]);
	if (n == 1 && at < size && !strcmp(text[order[0]], text[TY_ANSWER_PARTS_N])) {
		snprintf(out + at, size - at, ", all of it %s", part[order[0]].text);
		return;
	}
	for (unsigned i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, " %s %s %s", i ? "+" : "=",
				       text[order[i]], part[order[i]].text);
}
