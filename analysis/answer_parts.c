/* SPDX-License-Identifier: MIT */
/* The parts of an answer's time as text, and its notes; see answer.h. */
#include "answer_priv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

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
	{999500000, 1000000000, 1000000, 3, "s"}, /* as ty_fmt_duration rounds it */
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
	/* With nothing to add up, three digits as everywhere. */
	if (n == 1 && !strcmp(text[order[0]], text[TY_ANSWER_PARTS_N])) {
		snprintf(out + at, size - at, "%s, all of it %s", ty_duration(total_ns),
			 part[order[0]].text);
		return;
	}
	at += (size_t)snprintf(out + at, size - at, "%s", text[TY_ANSWER_PARTS_N]);
	for (unsigned i = 0; i < n && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, " %s %s %s", i ? "+" : "=",
				       text[order[i]], part[order[i]].text);
}

enum ty_answer_part ty_answer_part_of(const struct ty_answer_work *k, const struct ty_ledger_key *r)
{
	const struct ty_model *m = k->x->m;
	const struct ty_sysrow *call;

	if (r->what == TY_ROW_LOST || r->what == TY_ROW_UNKNOWN || r->what == TY_ROW_OTHERS ||
	    r->what == TY_ROW_DEAD)
		return TY_PART_UNKNOWN;
	/* Kernel threads work for others: a device that they wait for is the object of the wait. */
	if (r->who != TY_NONE && k->mine && !k->mine[r->who] &&
	    !(ty_model_thread(m, r->who)->kernel && r->what == TY_ROW_WAIT &&
	      (r->end == TY_END_IO || r->end == TY_END_QUEUED || r->end == TY_END_NO_REQUEST)))
		return TY_PART_OTHERS;
	switch ((enum ty_ledger_what)r->what) {
	case TY_ROW_RUNNABLE: return TY_PART_RUNNABLE;
	case TY_ROW_THROTTLED: return TY_PART_THROTTLED;
	case TY_ROW_STEAL: return TY_PART_STOLEN;
	case TY_ROW_STOPPED: return TY_PART_STOPPED;
	case TY_ROW_NEW: return TY_PART_RUNNABLE;
	case TY_ROW_FAULT:
	case TY_ROW_WAIT: break;
	default: return TY_PART_CPU;
	}
	switch ((enum ty_ledger_ender)r->end) {
	case TY_END_IO:
	case TY_END_QUEUED:
	case TY_END_NO_REQUEST: return TY_PART_DISK;
	default: break;
	}
	if (r->what == TY_ROW_FAULT)
		return TY_PART_FAULT;
	call = r->nr < 0 ? NULL : ty_syscall_row(k->x->arch, r->abi, r->nr)->as;
	if (k->fold && call && call->wait_class == TY_WAIT_IDLE &&
	    call->wait_on != TY_WAIT_ON_SLEEP)
		return TY_PART_IDLE;
	if (r->end == TY_END_DEVICE)
		return TY_PART_DEVICE;
	if (r->end != TY_END_TIMER && r->end != TY_END_TIMEOUT)
		return TY_PART_WAIT;
	return call && call->wait_on == TY_WAIT_ON_SLEEP ? TY_PART_SLEEP : TY_PART_TIMEOUT;
}
