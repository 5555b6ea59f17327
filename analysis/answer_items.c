/* SPDX-License-Identifier: MIT */
/* Converts the rows of a ledger to items of an answer: the thread, and the kind of time. */
#include "answer_priv.h"

#include <stdlib.h>

#include "compare.h"
#include "pair_map.h"

/* Waits are listed by call; all other time of a process is one item. */
static bool by_call(enum ty_answer_part p)
{
	switch (p) {
	case TY_PART_DISK:
	case TY_PART_DEVICE:
	case TY_PART_SLEEP:
	case TY_PART_TIMEOUT:
	case TY_PART_IDLE:
	case TY_PART_WAIT: return true;
	default: return false;
	}
}

ORDER(by_ns, struct ty_answer_sum,
      compare(a->last, b->last) ?: compare(b->ns, a->ns) ?: compare(a->part, b->part) ?:
      compare(a->who, b->who) ?: compare(a->nr, b->nr))

static void add(struct ty_answer_sum *s, const struct ty_answer_work *k, uint32_t row)
{
	const struct ty_book_row *r = &k->book->row.v[row];

	if (s->ns == 0 || r->ns > k->book->row.v[s->row].ns)
		s->row = row;
	s->ns += r->ns;
	s->pieces += r->pieces;
	if (r->longest > s->longest_ns) {
		s->longest_ns = r->longest;
		s->span = r->span;
	}
}

/* The threads that ran most while the subject of the answer waited for a CPU. */
static int find_rivals(const struct ty_answer_work *k, struct ty_answer *out)
{
	struct ty_pair_map by_name = {0};
	VEC(uint64_t) ns = {0};
	int r = 0;

	vec_each (row, &k->book->row) {
		uint64_t *sum;

		if (row->k.what != TY_ROW_RUNNABLE ||
		    ty_answer_part_of(k, &row->k) != TY_PART_RUNNABLE)
			continue;
		out->ready_pieces += row->pieces;
		if (row->k.end != TY_END_THREAD || r)
			continue;
		sum = pair_element(&by_name, row->k.name, 0, &ns, 0);
		if (sum)
			*sum += row->ns;
		else
			r = -TY_ENOMEM;
	}
	vec_each (p, &by_name.pairs) {
		uint64_t v = p->value < ns.n ? ns.v[p->value] : 0;

		for (unsigned i = 0; i < TY_ANSWER_RIVALS; i++)
			if (v > out->rival[i].ns) {
				for (unsigned j = TY_ANSWER_RIVALS - 1; j > i; j--)
					out->rival[j] = out->rival[j - 1];
				out->rival[i].ns = v;
				out->rival[i].name = (uint32_t)p->a;
				break;
			}
	}
	vec_fini(&ns);
	ty_pair_map_fini(&by_name);
	return r;
}

int ty_answer_items(const struct ty_answer_work *k, struct ty_answer *out)
{
	struct ty_answer_sum *v = calloc(k->book->row.n + 1, sizeof(*v));
	uint64_t shown_ns = 0;
	uint32_t n = 0;

	if (!v)
		return -TY_ENOMEM;
	for (size_t i = 0; i < k->book->row.n; i++) {
		const struct ty_book_row *r = &k->book->row.v[i];
		enum ty_answer_part p = ty_answer_part_of(k, &r->k);
		struct ty_answer_sum key = {.who = r->k.who,
					    .nr = by_call(p) ? r->k.nr : -1,
					    .abi = by_call(p) ? r->k.abi : 0,
					    .part = (uint8_t)p,
					    .span = TY_NONE};
		uint32_t at = 0;

		while (at < n && (v[at].who != key.who || v[at].nr != key.nr ||
				  v[at].abi != key.abi || v[at].part != key.part))
			at++;
		if (at == n)
			v[n++] = key;
		add(&v[at], k, (uint32_t)i);
		/* Threads that wait for work hide what those did that had some. */
		v[at].last = k->fold && (p == TY_PART_IDLE || p == TY_PART_SLEEP ||
					 p == TY_PART_TIMEOUT || p == TY_PART_WAIT);
		out->part_ns[p] += r->ns;
	}
	qsort(v, n, sizeof(*v), by_ns);
	for (uint32_t i = 0; i < n; i++) {
		struct ty_answer_item *t = &out->item[out->items];

		if (out->items == TY_ANSWER_ITEMS ||
		    shown_ns >= out->total_ns - out->total_ns / 10) {
			out->rest++;
			out->rest_ns += v[i].ns;
			continue;
		}
		*t = (struct ty_answer_item){
			.ns = v[i].ns,
			.longest_ns = v[i].longest_ns,
			.pieces = v[i].pieces,
			.thread = v[i].who,
			.threads = v[i].who == TY_NONE ? 0 : k->group_of[v[i].who].n,
			.span = v[i].span,
			.part = v[i].part};
		ty_answer_item_text(k, &v[i], t->text, sizeof(t->text));
		shown_ns += v[i].ns;
		out->items++;
	}
	free(v);
	return find_rivals(k, out);
}
