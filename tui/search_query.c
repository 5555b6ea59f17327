/* SPDX-License-Identifier: MIT */
/*
 * Queries; see search_query.h. Names are matched once, when the query is created: the threads, call
 * numbers, errors and events that match each word are stored as bits, one per word. A candidate
 * matches when the bits of its thread and its own together are complete.
 */
#include "search_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process_titles.h"
#include "query_word.h"
#include "units.h"

#define WORDS	8
#define NRS	1024 /* numbers of each ABI that are searched by name */
#define X32_BIT 0x40000000
#define ABIS	4
#define ERRNOS	600 /* the kernel's internal ERESTART* included */
#define SIGNALS 65
#define KINDS	(TY_PT_FILE_LOCK_FAILED + 1)
#define NAMES	1024

enum field {
	ANY,
	THREAD,
	PROCESS,
	TID,
	PID,
	CALL,
	ERROR,
	STATE,
	EVENT,
	IRQ,
	REGION,
	FILES,
	LONGER
};

struct ty_query {
	const struct ty_model *m;
	const struct ty_sysarch *arch;
	char *text;
	struct ty_query_word word[WORDS];
	unsigned n;
	uint8_t all;	 /* bits of all words */
	uint8_t item;	 /* words that only an item can satisfy (not ANY) */
	uint8_t any;	 /* of the ANY words */
	uint8_t files;	 /* of those that the name of a call's object can satisfy, */
	uint8_t *object; /* and per name of an object those that it does; NULL: not looked at */
	uint32_t objects_n;
	const struct ty_call_objects *objects;
	uint8_t *thread; /* per thread: words it satisfies; `refused` is one that it cannot */
	struct ty_query_part *part; /* by the words that an item must satisfy; created on demand */
	bool *part_known;
	uint8_t call[ABIS][NRS], error[ERRNOS], state[TY_ST_COUNT], kind[KINDS], sig[SIGNALS], gap;
	uint64_t min_ns;
	/* Words by names of which there are few, at the id's remainder: id + 1, 0 not known yet. */
	struct named {
		uint32_t id1;
		uint8_t bits;
	} irq[NAMES], region[NAMES];
	bool region_has[1u << WORDS]; /* some region's name satisfies these words and no others */
};

const char *ty_point_name(uint8_t kind)
{
	static const char *const names[KINDS] = {
		[TY_PT_SOFTIRQ_RAISE] = "softirq_raise",
		[TY_PT_HRTIMER] = "hrtimer",
		[TY_PT_SIGNAL] = "signal",
		[TY_PT_SIGNAL_DELIVER] = "signal_deliver",
		[TY_PT_CONTENTION_BEGIN] = "contention_begin",
		[TY_PT_CONTENTION_END] = "contention_end",
		[TY_PT_PI_SETPRIO] = "pi_setprio",
		[TY_PT_PRIO] = "prio",
		[TY_PT_EXEC] = "exec",
		[TY_PT_FILE_LOCK] = "file_lock",
		[TY_PT_FILE_UNLOCK] = "file_unlock",
		[TY_PT_FILE_LOCK_FAILED] = "file_lock_failed",
	};

	return kind < KINDS ? names[kind] : "event";
}

static int add_word(struct ty_query *q, char *s, struct ty_err *err)
{
	static const struct ty_query_key keys[] = {{"thread:", THREAD, false},
						   {"process:", PROCESS, false},
						   {"tid:", TID, true},
						   {"pid:", PID, true},
						   {"call:", CALL, false},
						   {"error:", ERROR, false},
						   {"state:", STATE, false},
						   {"event:", EVENT, false},
						   {"irq:", IRQ, false},
						   {"file:", FILES, false},
						   {"path:", FILES, false},
						   {"region:", REGION, false},
						   {0}};
	struct ty_query_word *w = &q->word[q->n];
	int r;

	if (q->n == WORDS)
		return ty_query_too_long("search", WORDS, err);
	q->n++;
	if (*s == '>') {
		w->field = LONGER;
		if (ty_parse_duration(s + 1, &q->min_ns))
			return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET,
				       "'%s' is not a duration (example: >10ms)", s);
		return 0;
	}
	r = ty_query_word_parse(w, s, keys, q->text, "call:^read", err);
	if (w->field == STATE && *w->text >= 'A' && *w->text <= 'Z' && !w->text[1])
		w->letter = *w->text;
	return r;
}

/* Does the word hold for this thread? Names: any that it bore, and the distinguishing words. */
static bool thread_has(const struct ty_query *q, const struct ty_query_word *w, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(q->m, thread);
	const struct ty_name_at *v;
	uint32_t n, leader;
	char who[TY_WHO_MAX];

	switch (w->field) {
	case TID: return ty_query_word_has(w, t->tid);
	case PID: return ty_query_word_has(w, t->tgid);
	case ANY:
	case THREAD:
		v = ty_model_names(q->m, thread, &n);
		for (uint32_t i = 0; i < n; i++)
			if (ty_query_word_match(w, ty_model_str(q->m, v[i].str)))
				return true;
		if (ty_query_word_match(w, ty_model_str(q->m, t->name)) ||
		    ty_query_word_match(w, ty_model_who_short(q->m, thread, TY_WHO_MAX - 1, who)))
			return true;
		if (w->field == THREAD)
			return false;
		break;
	case PROCESS: break;
	default: return false;
	}
	leader = t->tgid < 0 || t->tgid == t->tid
			 ? thread
			 : ty_model_thread_find(q->m, t->tgid, t->start_ns);
	return leader != TY_NONE &&
	       ty_query_word_match(w, ty_model_str(q->m, ty_model_thread(q->m, leader)->name));
}

static bool is_thread_word(uint8_t field)
{
	return field == THREAD || field == PROCESS || field == TID || field == PID;
}

/* The bits of one word over all that has a name. */
static void fill(struct ty_query *q, unsigned i)
{
	const struct ty_query_word *w = &q->word[i];
	uint8_t bit = (uint8_t)(1u << i);
	char name[40];

	for (uint32_t t = 0; t < ty_model_summary(q->m)->threads; t++)
		if (thread_has(q, w, t))
			q->thread[t] |= bit;
	if (w->field == ANY || w->field == CALL)
		for (unsigned a = 0; a < ABIS; a++)
			for (int nr = 0; nr < NRS; nr++)
				if (ty_query_word_match(
					    w, ty_syscall_name(q->arch, (enum ty_abi)a,
							       nr | (a == TY_ABI_X32 ? X32_BIT : 0),
							       name)))
					q->call[a][nr] |= bit;
	if (w->field == ANY || w->field == ERROR)
		for (int e = 1; e < ERRNOS; e++)
			if (ty_query_word_match(w, ty_errno_name(e)))
				q->error[e] |= bit;
	if (w->field == ANY || w->field == STATE)
		for (unsigned s = 0; s < TY_ST_COUNT; s++)
			if (s != TY_ST_DEAD && s != TY_ST_IDLE &&
			    (w->letter ? w->letter == ty_state_letter((enum ty_state)s)
				       : ty_query_word_match(w, ty_state_name((enum ty_state)s))))
				q->state[s] |= bit;
	if (w->field == ANY || w->field == EVENT) {
		for (unsigned k = 0; k < KINDS; k++)
			if (ty_query_word_match(w, ty_point_name((uint8_t)k)))
				q->kind[k] |= bit;
		for (int s = 1; s < SIGNALS; s++) {
			snprintf(name, sizeof(name), "SIG%s",
				 sigabbrev_np(s) ? sigabbrev_np(s) : "");
			if (sigabbrev_np(s) && ty_query_word_match(w, name))
				q->sig[s] |= bit;
		}
		if (ty_query_word_match(w, "lost"))
			q->gap |= bit;
	}
}

/* Does a word without a key name any thread, call, error, state, event or region? If not, it may be
 * a part of a file's name (or an interrupt's, which are looked at one by one). */
static bool names_something(const struct ty_query *q, unsigned i)
{
	uint8_t bit = (uint8_t)(1u << i), seen = q->gap;

	for (uint32_t t = 0; t < ty_model_summary(q->m)->threads; t++)
		seen |= q->thread[t];
	for (unsigned a = 0; a < ABIS; a++)
		for (int nr = 0; nr < NRS; nr++)
			seen |= q->call[a][nr];
	for (int e = 1; e < ERRNOS; e++)
		seen |= q->error[e];
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		seen |= q->state[s];
	for (unsigned k = 0; k < KINDS; k++)
		seen |= q->kind[k];
	for (int s = 1; s < SIGNALS; s++)
		seen |= q->sig[s];
	for (unsigned has = 0; has < 1u << WORDS; has++)
		seen |= q->region_has[has] ? (uint8_t)has : 0;
	return seen & bit;
}

/* True if a word of a fixed set of names matches any of them. */
static int names_any(const struct ty_query *q, unsigned i, struct ty_err *err)
{
	static const struct {
		const char *what, *example;
	} fixed[] = {[CALL] = {"system call", "call:read"},
		     [ERROR] = {"error", "error:ENOENT"},
		     [STATE] = {"state", "state:sleeping"},
		     [EVENT] = {"event", "event:SIGKILL"}};
	uint8_t bit = (uint8_t)(1u << i), f = q->word[i].field, seen = 0;

	for (unsigned a = 0; f == CALL && a < ABIS; a++)
		for (int nr = 0; nr < NRS; nr++)
			seen |= q->call[a][nr];
	for (int e = 1; f == ERROR && e < ERRNOS; e++)
		seen |= q->error[e];
	for (unsigned s = 0; f == STATE && s < TY_ST_COUNT; s++)
		seen |= q->state[s];
	for (unsigned k = 0; f == EVENT && k < KINDS; k++)
		seen |= q->kind[k];
	for (int s = 1; f == EVENT && s < SIGNALS; s++)
		seen |= q->sig[s];
	seen |= q->gap;
	if (seen & bit || f < CALL || f > EVENT)
		return 0;
	return ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "no %s matches '%s' (example: %s)",
		       fixed[f].what, q->word[i].text, fixed[f].example);
}

/* The words that a name satisfies, of those without a key and those with this one. */
static uint8_t name_bits(const struct ty_query *q, struct named *memo, uint8_t field, uint32_t name)
{
	struct named *at = &memo[name % NAMES];

	if (at->id1 == name + 1)
		return at->bits;
	*at = (struct named){.id1 = name + 1};
	for (unsigned i = 0; i < q->n; i++)
		if ((q->word[i].field == ANY || q->word[i].field == field) &&
		    ty_query_word_match(&q->word[i], ty_model_str(q->m, name)))
			at->bits |= (uint8_t)(1u << i);
	return at->bits;
}

static void find_regions(struct ty_query *q)
{
	const uint32_t n = ty_model_regions(q->m);

	for (uint32_t i = 0; i < n; i++)
		q->region_has[name_bits(q, q->region, REGION, ty_model_region(q->m, i).name)] =
			true;
	q->region_has[0] = false;
}

int ty_query_new(const struct ty_model *m, const struct ty_sysarch *arch, const char *text,
		 struct ty_query **out, struct ty_err *err)
{
	struct ty_query *q = calloc(1, sizeof(*q));
	char *words = strdup(text), *save = NULL;
	int rc = 0;

	if (q) {
		q->m = m;
		q->arch = arch;
		q->text = strdup(text);
		q->thread = calloc(ty_model_summary(m)->threads + 1u, 1);
		q->part = calloc(1u << WORDS, sizeof(*q->part));
		q->part_known = calloc(1u << WORDS, sizeof(*q->part_known));
	}
	if (!q || !words || !q->text || !q->thread || !q->part || !q->part_known)
		rc = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the search");
	for (char *s = words && !rc ? strtok_r(words, " ", &save) : NULL; s && !rc;
	     s = strtok_r(NULL, " ", &save))
		rc = add_word(q, s, err);
	if (!rc && !q->n)
		rc = ty_fail(err, TY_EUSAGE, TY_NO_OFFSET, "the search is empty");
	free(words);
	if (rc) {
		ty_query_free(q);
		return rc;
	}
	find_regions(q);
	for (unsigned i = 0; i < q->n && !rc; i++) {
		uint8_t bit = (uint8_t)(1u << i), f = q->word[i].field;

		if (f == LONGER)
			continue;
		q->all |= bit;
		if (f == ANY)
			q->any |= bit;
		else if (!is_thread_word(f))
			q->item |= bit;
		fill(q, i);
		rc = names_any(q, i, err);
		if (f == FILES || (f == ANY && !names_something(q, i)))
			q->files |= bit;
	}
	if (rc) {
		ty_query_free(q);
		return rc;
	}
	*out = q;
	return 0;
}

void ty_query_free(struct ty_query *q)
{
	if (!q)
		return;
	for (unsigned i = 0; i < q->n; i++)
		ty_query_word_fini(&q->word[i]);
	free(q->thread);
	free(q->object);
	free(q->part);
	free(q->part_known);
	free(q->text);
	free(q);
}

const char *ty_query_text(const struct ty_query *q)
{
	return q->text;
}

const char *ty_query_hint(const struct ty_query *q)
{
	for (unsigned i = 0; i < q->n; i++)
		if (q->word[i].unknown_key)
			return "; keys are thread: process: tid: pid: call: file: error: state: "
			       "event: irq: region: (example: call:read)";
	return "";
}

bool ty_query_needs_objects(const struct ty_query *q)
{
	return q->files && !q->object;
}

int ty_query_objects(struct ty_query *q, const struct ty_call_objects *o, const atomic_bool *stop)
{
	const uint32_t n = ty_strtab_count(o->names);
	uint8_t *bits = calloc(n + (size_t)1, 1);

	if (!bits)
		return -TY_ENOMEM;
	for (uint32_t id = 1; id < n; id++) {
		if (stop && atomic_load_explicit(stop, memory_order_relaxed)) {
			free(bits);
			return -TY_EINTR;
		}
		for (unsigned i = 0; i < q->n; i++)
			if (q->files & 1u << i &&
			    ty_query_word_match(&q->word[i], ty_strtab_get(o->names, id)))
				bits[id] |= (uint8_t)(1u << i);
	}
	free(q->object);
	q->object = bits;
	q->objects_n = n;
	q->objects = o;
	return 0;
}

bool ty_query_thread(const struct ty_query *q, uint32_t thread)
{
	uint8_t need = (uint8_t)(q->all & ~q->item & ~q->any);

	return (q->thread[thread] & need) == need;
}

uint64_t ty_query_min_ns(const struct ty_query *q)
{
	return q->min_ns;
}

/* The words that an item of this thread must satisfy itself; false: it cannot have any. */
static bool left(const struct ty_query *q, uint32_t thread, uint8_t *need)
{
	if (thread == TY_NONE) {
		*need = q->all;
		return true;
	}
	*need = (uint8_t)(q->all & ~q->thread[thread]);
	return ty_query_thread(q, thread);
}

static struct ty_query_part part_of(const struct ty_query *q, uint8_t need)
{
	struct ty_query_part p = {.nr = -1, .min_ns = q->min_ns, .errors_only = true};
	uint8_t failed = 0; /* what the call's error may satisfy */
	bool one = true;

	if (!need) { /* only the name was searched: its runs; with a length, any state of that
			length */
		p.named = true;
		p.states = 1u << TY_ST_RUNNING;
		if (q->min_ns)
			p.states |= 1u << TY_ST_RUNNABLE | 1u << TY_ST_SLEEPING |
				    1u << TY_ST_BLOCKED | 1u << TY_ST_STOPPED;
		return p;
	}
	for (unsigned s = 0; s < TY_ST_COUNT; s++)
		if ((q->state[s] & need) == need)
			p.states |= 1u << s;
	for (int e = 1; e < ERRNOS; e++)
		failed |= q->error[e];
	for (unsigned a = 0; a < ABIS; a++)
		for (int nr = 0; nr < NRS; nr++) {
			int seen = nr | (a == TY_ABI_X32 ? X32_BIT : 0);
			uint8_t has = q->call[a][nr] | q->files;

			if (!(has & need) || ((has | failed) & need) != need ||
			    !ty_model_has_call(q->m, seen))
				continue;
			p.nrs[nr % TY_SEEK_NRS / 64] |= UINT64_C(1) << nr % 64;
			if ((has & need) == need)
				p.errors_only = false;
			one &= !p.calls || p.nr == seen;
			p.nr = seen;
			p.calls = true;
		}
	for (int e = 1; e < ERRNOS; e++)
		if ((q->error[e] & need) == need) { /* of any call */
			p.calls = true;
			one = false;
			memset(p.nrs, 0xff, sizeof(p.nrs));
		}
	if (!one)
		p.nr = -1;
	for (unsigned has = 0; has < 1u << WORDS; has++)
		p.regions |= q->region_has[has] && (has & need) == need;
	return p;
}

struct ty_query_part ty_query_part(const struct ty_query *q, uint32_t thread)
{
	uint8_t need;

	if (!left(q, thread, &need))
		return (struct ty_query_part){.nr = -1};
	if (!q->part_known[need]) {
		q->part[need] = part_of(q, need);
		q->part_known[need] = true;
	}
	return q->part[need];
}

bool ty_query_call(const struct ty_query *q, const struct ty_syscall *c, uint32_t call)
{
	const uint32_t object = q->object ? ty_call_objects_of(q->objects, call) : 0;
	uint8_t need, has = object < q->objects_n ? q->object[object] : 0;
	int32_t nr;

	if (!left(q, c->thread, &need) || !need || c->end_ns - c->start_ns < q->min_ns)
		return false;
	nr = c->abi == TY_ABI_X32 ? c->nr & ~X32_BIT : c->nr;
	if (c->abi < ABIS && nr >= 0 && nr < NRS)
		has |= q->call[c->abi][nr];
	if (c->ret < 0 && c->ret > -ERRNOS && !(c->flags & (TY_SF_OPEN | TY_SF_LOST | TY_SF_ENDED)))
		has |= q->error[-c->ret];
	return (has & need) == need;
}

bool ty_query_point(const struct ty_query *q, const struct ty_point *p)
{
	uint8_t need, has;
	bool sent = p->kind == TY_PT_SIGNAL || p->kind == TY_PT_SIGNAL_DELIVER;

	if (!left(q, p->thread, &need) || !need || q->min_ns || p->kind >= KINDS)
		return false;
	has = q->kind[p->kind];
	if (sent && p->a < SIGNALS)
		has |= q->sig[p->a];
	return (has & need) == need;
}

bool ty_query_irq(struct ty_query *q, const struct ty_irq_span *s)
{
	return q->all && s->end_ns - s->start_ns >= q->min_ns &&
	       (name_bits(q, q->irq, IRQ, s->name) & q->all) == q->all;
}

bool ty_query_region(struct ty_query *q, const struct ty_region *r)
{
	uint8_t need;

	return left(q, r->thread, &need) && need && r->end_ns - r->start_ns >= q->min_ns &&
	       (name_bits(q, q->region, REGION, r->name) & need) == need;
}

bool ty_query_regions(const struct ty_query *q)
{
	for (unsigned has = 0; has < 1u << WORDS; has++)
		if (q->region_has[has])
			return true;
	return false;
}

bool ty_query_irqs(const struct ty_query *q)
{
	for (unsigned i = 0; i < q->n; i++)
		if (q->word[i].field != ANY && q->word[i].field != IRQ &&
		    q->word[i].field != LONGER)
			return false;
	return q->all;
}

bool ty_query_points(const struct ty_query *q)
{
	uint8_t seen = 0;

	for (unsigned k = 0; k < KINDS; k++)
		seen |= q->kind[k];
	for (int s = 1; s < SIGNALS; s++)
		seen |= q->sig[s];
	return seen && !q->min_ns;
}

bool ty_query_gaps(const struct ty_query *q)
{
	return !q->min_ns && q->all && (q->gap & q->all) == q->all;
}
