/* SPDX-License-Identifier: MIT */
/* See ledger_rows.h. */
#include "ledger_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "compare.h"
#include "units.h"
#include "waits.h"

#define ROWS_MAX 2000u
#define ENOUGH	 256 /* objects of waits that are listed */

/* rows -------------------------------------------------------------------------------------- */

static uint32_t hash(const struct ty_ledger_key *k)
{
	uint64_t h = k->who;

	h = h * 31 + k->what;
	h = h * 31 + k->end;
	h = h * 31 + k->abi;
	h = h * 31 + k->state;
	h = h * 1000003 + (uint32_t)k->nr;
	h = h * 1000003 + k->name;
	h = h * 1000003 + k->object;
	return ty_hash_mix(h);
}

static bool same(const struct ty_ledger_key *a, const struct ty_ledger_key *b)
{
	return a->who == b->who && a->what == b->what && a->end == b->end && a->abi == b->abi &&
	       a->state == b->state && a->nr == b->nr && a->name == b->name &&
	       a->object == b->object;
}

/* Index of the row; TY_NONE when there is no memory. */
static uint32_t row_of(struct ty_book *b, struct ty_ledger_key k)
{
	static const struct ty_ledger_key others = {
		.who = TY_NONE, .what = TY_ROW_OTHERS, .state = TY_ST_UNKNOWN, .nr = -1};

	k.who = b->who;
	for (;;) {
		hash_each (r, &b->rows, hash(&k))
			if (same(&b->row.v[r].k, &k))
				return r;
		if (b->row.n < ROWS_MAX || k.what == TY_ROW_OTHERS)
			break;
		k = others;
	}
	if (vec_push(&b->row, (struct ty_book_row){.k = k, .span = TY_NONE}) ||
	    ty_hash_add(&b->rows, hash(&k), (uint32_t)b->row.n - 1)) {
		b->failed = -TY_ENOMEM;
		return TY_NONE;
	}
	return (uint32_t)b->row.n - 1;
}

/* Pieces of a span, ns together, of which the longest lasts that long. */
static void add(struct ty_book *b, uint32_t row, uint64_t ns, uint64_t longest, uint32_t span)
{
	struct ty_book_row *r = row == TY_NONE ? NULL : &b->row.v[row];

	if (!r)
		return;
	r->ns += ns;
	r->pieces++;
	if (longest > r->longest) {
		r->longest = longest;
		r->span = span;
	}
}

void ty_book_pieces(struct ty_book *b, struct ty_ledger_key k, uint64_t ns, uint64_t longest,
		    uint32_t span)
{
	if (ns && !b->failed)
		add(b, row_of(b, k), ns, longest, span);
}

void ty_book_add(struct ty_book *b, struct ty_ledger_key k, uint64_t ns, uint32_t span)
{
	ty_book_pieces(b, k, ns, ns, span);
}

void ty_book_call(struct ty_book *b, int32_t nr, uint8_t abi, uint64_t ns, uint32_t span)
{
	uint32_t *hint = &b->in_call[(uint32_t)nr % TY_BOOK_HINTS];
	const struct ty_ledger_key *k = *hint < b->row.n ? &b->row.v[*hint].k : NULL;

	if (!k || k->what != TY_ROW_KERNEL || k->nr != nr || k->abi != abi || k->who != b->who)
		*hint = row_of(b, (struct ty_ledger_key){.what = TY_ROW_KERNEL,
							 .state = TY_ST_RUNNING,
							 .nr = nr,
							 .abi = abi});
	add(b, *hint, ns, ns, span);
}

void ty_book_sample(struct ty_book *b, uint32_t func, uint64_t weight)
{
	struct ty_book_sample *s =
		pair_element(&b->samples, b->who, func, &b->sample,
			     (struct ty_book_sample){.who = b->who, .func = func});

	if (!s) {
		b->failed = -TY_ENOMEM;
		return;
	}
	s->n++;
	if (__builtin_add_overflow(s->weight, weight, &s->weight))
		s->weight = UINT64_MAX;
}

uint32_t ty_book_object(struct ty_book *b, const char *text)
{
	char *copy;

	if (!*text)
		return 0;
	for (size_t i = 0; i < b->object.n; i++)
		if (!strcmp(b->object.v[i], text))
			return (uint32_t)i + 1;
	if (b->object.n >= ENOUGH)
		return 0;
	copy = strdup(text);
	if (!copy || vec_push(&b->object, copy)) {
		free(copy);
		b->failed = -TY_ENOMEM;
		return 0;
	}
	return (uint32_t)b->object.n;
}

/* texts ------------------------------------------------------------------------------------- */

static void woken_by(const struct ty_book *b, const struct ty_ledger_key *k, char *out, size_t size)
{
	const char *name = k->name ? ty_model_str(b->x->m, k->name) : "";
	struct ty_waker by = {.kind = TY_WAKER_UNKNOWN, .name = k->name, .io = TY_NONE};
	char text[TY_WAKER_TEXT];

	switch ((enum ty_ledger_ender)k->end) {
	case TY_END_THREAD: snprintf(out, size, ", woken by %s", name); return;
	case TY_END_SIGNAL: snprintf(out, size, ", woken by a signal from %s", name); return;
	case TY_END_QUEUED:
		snprintf(out, size, ", I/O request not yet issued to the device");
		return;
	case TY_END_NO_REQUEST: snprintf(out, size, ", no I/O request in flight"); return;
	case TY_END_IO:
		if (!*name) {
			snprintf(out, size, ", waiting for I/O completion");
			return;
		}
		by.io = 0;
		by.kind = TY_WAKER_DEVICE;
		break;
	case TY_END_DEVICE: by.kind = TY_WAKER_DEVICE; break;
	case TY_END_TIMER: by.kind = TY_WAKER_TIMER; break;
	case TY_END_TIMEOUT: snprintf(out, size, ", timed out"); return;
	case TY_END_IRQ: by.name = 0; break;
	case TY_END_OPEN:
		snprintf(out, size, ", still %s when the %s ended",
			 k->what == TY_ROW_STOPPED ? "stopped" : "waiting", ty_model_noun(b->x->m));
		return;
	default: snprintf(out, size, ", waker not recorded"); return;
	}
	snprintf(out, size, ", woken by %s", ty_waker_text(b->x->m, &by, text));
}

static void text(const struct ty_book *b, const struct ty_book_row *r, char *out, size_t size)
{
	const struct ty_model *m = b->x->m;
	const struct ty_ledger_key *k = &r->k;
	const char *call = "", *name = k->name ? ty_model_str(m, k->name) : "", *obj = "";
	char buf[32], end[96];
	size_t n = 0;

	if (k->who != TY_NONE) {
		n = ty_ledger_group_name(m, b->group_of, k->who, out, size);
		n += (size_t)snprintf(out + n, size - n, ": ");
		n = n < size ? n : size - 1;
	}
	if (k->nr >= 0)
		call = ty_syscall_name(b->x->arch, k->what == TY_ROW_RUNNABLE ? 0 : k->abi, k->nr,
				       buf);
	if (k->object)
		obj = ty_wait_argument(call, b->object.v[k->object - 1]);
	out += n;
	size -= n;
	switch ((enum ty_ledger_what)k->what) {
	case TY_ROW_USER: snprintf(out, size, "on CPU outside system calls"); return;
	case TY_ROW_KERNEL: snprintf(out, size, "on CPU in kernel: %s", call); return;
	case TY_ROW_KTHREAD: snprintf(out, size, "on CPU in kernel (kernel thread)"); return;
	case TY_ROW_UNRECORDED: snprintf(out, size, "on CPU, no system call recorded"); return;
	case TY_ROW_CALLS_LOST:
		snprintf(out, size, "on CPU, mode unknown because of lost events");
		return;
	case TY_ROW_IRQ:
		if (k->end < 2)
			snprintf(out, size, "interrupted by %s %s", k->end ? "softirq" : "irq",
				 name);
		else
			snprintf(out, size, "interrupted by the %s interrupt", name);
		return;
	case TY_ROW_STEAL:
		snprintf(out, size, "lost to the hypervisor (steal time, inferred: no timer tick)");
		return;
	case TY_ROW_RUNNABLE:
		snprintf(out, size, "runnable%s, %s%s",
			 k->abi == TY_END_YIELD	    ? " after sched_yield"
			 : k->abi == TY_END_PREEMPT ? " after preemption"
						    : "",
			 k->end == TY_END_THREAD    ? name
			 : k->end == TY_END_SEVERAL ? "several threads ran on its CPU"
			 : k->end == TY_END_IDLE    ? "its CPU was idle"
						    : "activity of its CPU not recorded",
			 k->end == TY_END_THREAD ? " ran on its CPU" : "");
		return;
	case TY_ROW_THROTTLED: snprintf(out, size, "throttled by CPU quota (inferred)"); return;
	case TY_ROW_WAIT:
	case TY_ROW_FAULT:
	case TY_ROW_STOPPED:
		woken_by(b, k, end, sizeof(end));
		if (k->what == TY_ROW_STOPPED)
			snprintf(out, size, "stopped%s", end);
		else if (k->what == TY_ROW_FAULT)
			snprintf(out, size, "waiting in a page fault%s", end);
		else if (k->nr < 0)
			snprintf(out, size, "%s, system call not recorded%s",
				 k->state == TY_ST_BLOCKED ? "blocked (uninterruptible)"
							   : "sleeping",
				 end);
		else
			snprintf(out, size, "%s in %s%s%s%s%s",
				 k->state == TY_ST_BLOCKED ? "blocked (uninterruptible)"
							   : "sleeping",
				 call, *obj ? "(" : "", obj, *obj ? ")" : "", end);
		return;
	case TY_ROW_NEW: snprintf(out, size, "created, not yet run"); return;
	case TY_ROW_DEAD: snprintf(out, size, "after its exit"); return;
	case TY_ROW_LOST: snprintf(out, size, "unknown because of lost events"); return;
	case TY_ROW_UNKNOWN: snprintf(out, size, "unknown: nothing was recorded"); return;
	case TY_ROW_OTHERS:
		snprintf(out, size, "other causes (beyond the limit of %u rows)", ROWS_MAX);
		return;
	}
}

ORDER(by_ns, struct ty_ledger_row, compare(b->ns, a->ns) ?: strcmp(a->row, b->row))

ORDER(by_text, struct ty_ledger_row,
      strcmp(a->row, b->row) ?: compare(b->longest_ns, a->longest_ns))

/* By row, so that each is looked up once. */
ORDER(by_weight, struct ty_book_sample,
      compare(a->who, b->who)
	      ?: compare(b->weight, a->weight)
	      ?: compare(b->n, a->n)
	      ?: compare(a->func, b->func))

/* Gives rows of user mode their samples: the functions with most weight first. */
static void divide(struct ty_book *b, struct ty_ledger *out)
{
	struct ty_book_row of = {
		.k = {.what = TY_ROW_USER, .state = TY_ST_RUNNING, .nr = -1, .who = TY_NONE}};
	struct ty_ledger_row *row = NULL, user;

	vec_sort(&b->sample, by_weight);
	vec_each (s, &b->sample) {
		if (!row || s->who != of.k.who) {
			of.k.who = s->who;
			text(b, &of, user.row, sizeof(user.row));
			for (row = out->rows; row < out->rows + out->n; row++)
				if (!strcmp(row->row, user.row))
					break;
		}
		if (row == out->rows + out->n)
			continue; /* among other causes */
		row->samples += s->n;
		if (__builtin_add_overflow(row->weight, s->weight, &row->weight))
			row->weight = UINT64_MAX;
		if (row->funcs_n < TY_LEDGER_FUNCS)
			row->func[row->funcs_n++] = (struct ty_ledger_func){
				.func = s->func, .samples = s->n, .weight = s->weight};
		else
			row->funcs_left++;
	}
}

void ty_book_fini(struct ty_book *b)
{
	vec_fini(&b->row);
	vec_fini(&b->sample);
	ty_pair_map_fini(&b->samples);
	for (size_t i = 0; i < b->object.n; i++)
		free(b->object.v[i]);
	vec_fini(&b->object);
	ty_hash_fini(&b->rows);
}

int ty_book_close(struct ty_book *b, struct ty_ledger *out)
{
	uint32_t w = 0;

	if (!b->failed) {
		out->rows = calloc(b->row.n + 1, sizeof(*out->rows));
		b->failed = out->rows ? 0 : -TY_ENOMEM;
	}
	for (size_t i = 0; i < b->row.n && !b->failed; i++) {
		out->rows[i].ns = b->row.v[i].ns;
		out->rows[i].longest_ns = b->row.v[i].longest;
		out->rows[i].pieces = b->row.v[i].pieces;
		out->rows[i].span = b->row.v[i].span;
		out->rows[i].state = b->row.v[i].k.state;
		text(b, &b->row.v[i], out->rows[i].row, sizeof(out->rows[i].row));
	}
	if (!b->failed && b->row.n) {
		qsort(out->rows, b->row.n, sizeof(*out->rows), by_text);
		for (size_t i = 0; i < b->row.n; i++) {
			/* The first of a text has the longest piece. */
			if (w && !strcmp(out->rows[w - 1].row, out->rows[i].row)) {
				out->rows[w - 1].ns += out->rows[i].ns;
				out->rows[w - 1].pieces += out->rows[i].pieces;
			} else {
				out->rows[w++] = out->rows[i];
			}
		}
		qsort(out->rows, w, sizeof(*out->rows), by_ns);
		out->n = w;
		divide(b, out);
	}
	ty_book_fini(b);
	if (b->failed)
		ty_ledger_fini(out);
	return b->failed;
}

void ty_ledger_fini(struct ty_ledger *l)
{
	free(l->rows);
	l->rows = NULL;
	l->n = 0;
}

const char *ty_ledger_row_text(const struct ty_model *m, const struct ty_ledger_row *row,
			       char out[TY_LEDGER_ROW_TEXT])
{
	const char *by = strstr(row->row, ", woken by ");
	struct ty_waker w;
	struct ty_span s;
	char who[TY_WHO_MAX];

	snprintf(out, TY_LEDGER_ROW_TEXT, "%s", row->row);
	if (!by || row->span == TY_NONE || row->ns != row->longest_ns)
		return out;
	s = ty_model_span(m, row->span);
	w = ty_waker_find(m, s.edge);
	by += strlen(", woken by ");
	if (w.kind == TY_WAKER_THREAD &&
	    !strcmp(by, ty_model_str(m, ty_model_thread(m, w.thread)->name)))
		snprintf(out + (by - row->row), TY_LEDGER_ROW_TEXT - (size_t)(by - row->row), "%s",
			 ty_model_who(m, w.thread, s.end_ns, who));
	return out;
}

bool ty_ledger_most(const struct ty_explain *x, const struct ty_ledger *l,
		    struct ty_ledger_most *out)
{
	uint64_t ns[TY_ST_COUNT] = {0};
	const struct ty_ledger_row *row = l->rows;

	for (uint32_t i = 0; i < l->n; i++)
		ns[l->rows[i].state] += l->rows[i].ns;
	/* The first one of a state is its largest. */
	for (uint32_t i = 1; i < l->n; i++)
		if (ns[l->rows[i].state] > ns[row->state])
			row = &l->rows[i];
	*out = (struct ty_ledger_most){0};
	if (!l->n)
		return false;
	out->state = row->state;
	out->state_ns = ns[row->state];
	out->ns = row->ns;
	if (row->pieces > 1 && (row->state == TY_ST_SLEEPING || row->state == TY_ST_BLOCKED))
		out->waits = row->pieces;
	ty_ledger_row_text(x->m, row, out->row);
	if (row->ns == row->longest_ns)
		ty_call_name_row(x, row->span, out->row, sizeof(out->row));
	return true;
}

void ty_ledger_most_text(const struct ty_ledger_most *k, const char *thread, char *buf, size_t n)
{
	const bool nearly_all = k->ns >= k->state_ns - k->state_ns / 20;
	const char *all = ty_duration(k->state_ns), *ns = ty_duration(k->ns);
	char waits[48] = "";

	if (k->waits)
		snprintf(waits, sizeof(waits), " (%s waits)", ty_count(k->waits));
	if (nearly_all)
		snprintf(buf, n, "%s%s %s%s", ns, waits, thread, k->row);
	else
		snprintf(buf, n, "%s %s%s; %s of it%s: %s", all, thread,
			 ty_state_name((enum ty_state)k->state), ns, waits, k->row);
}
