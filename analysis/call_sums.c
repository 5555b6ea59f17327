/* SPDX-License-Identifier: MIT */
#include "call_sums.h"

#include <stdlib.h>
#include <string.h>

#include "call_args.h"
#include "compare.h"
#include "now.h"
#include "vec.h"
#include "thread_walk.h"

struct one {
	uint64_t ns, at_ns;
	uint32_t call;
	int32_t nr;
	uint8_t abi;
};

typedef VEC(struct one) ones;
typedef VEC(struct ty_call_sum) sums;

ORDER(by_length, struct one, compare(b->ns, a->ns) ?: compare(a->call, b->call))

ORDER(by_time, struct ty_call_sum, compare(b->ns, a->ns) ?: compare(a->max_at_ns, b->max_at_ns))

static int collect(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		   struct ty_call_rows *rows, ones *v, bool *cut)
{
	const uint32_t end = ty_thread_calls(x->m, thread).to;
	uint32_t call = ty_model_syscall_after(x->m, thread, from_ns), n;

	while (call != TY_NONE && call < end &&
	       (n = ty_model_call_rows(x->m, thread, call, rows)) > 0) {
		for (uint32_t i = 0; i < n; i++) {
			const uint64_t a = rows->start_ns[i] > from_ns ? rows->start_ns[i]
								       : from_ns,
				       b = rows->end_ns[i] < to_ns ? rows->end_ns[i] : to_ns;

			if (rows->start_ns[i] >= to_ns)
				return 0;
			if (v->n == TY_CALL_SUMS_CALLS) {
				*cut = true;
				return 0;
			}
			if (vec_push(v, ((struct one){.ns = b > a ? b - a : 0,
						      .at_ns = a + (b > a ? (b - a) / 2 : 0),
						      .call = call + i,
						      .nr = rows->nr[i],
						      .abi = rows->abi[i]})))
				return -TY_ENOMEM;
		}
		call += n;
		if (ty_explain_stopped(x))
			return -TY_EINTR;
	}
	return 0;
}

/* NULL: it has none. */
static char *object_of(const struct ty_explain *x, uint32_t call)
{
	struct ty_buf b;
	char *s = NULL;

	ty_buf_init(&b, 8192);
	if (!ty_call_object(x, call, &b) && b.p)
		s = strdup(b.p);
	ty_buf_fini(&b);
	return s;
}

static bool same(const struct ty_call_sum *s, const struct one *c, const char *object)
{
	return s->nr == c->nr && s->abi == c->abi && !s->object == !object &&
	       (!object || !strcmp(s->object, object));
}

/* Takes object. */
static int add(sums *v, const struct one *c, char *object)
{
	size_t i = 0;

	while (i < v->n && !same(&v->v[i], c, object))
		i++;
	if (i < v->n)
		free(object);
	else if (vec_push(v, ((struct ty_call_sum){.nr = c->nr,
						   .abi = c->abi,
						   .object = object,
						   .max_ns = c->ns,
						   .max_at_ns = c->at_ns}))) {
		free(object);
		return -TY_ENOMEM;
	}
	v->v[i].n++;
	v->v[i].ns += c->ns;
	return 0;
}

int ty_call_sums_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      struct ty_call_sums *out)
{
	const int64_t start = ty_now_ms();
	struct ty_call_rows *rows = malloc(sizeof(*rows));
	ones calls = {0};
	sums v = {0};
	int r;

	*out = (struct ty_call_sums){0};
	r = rows ? collect(x, thread, from_ns, to_ns, rows, &calls, &out->cut) : -TY_ENOMEM;
	free(rows);
	if (!r)
		vec_sort(&calls, by_length);
	for (size_t i = 0; i < calls.n && !r; i++) {
		const bool named = i < TY_CALL_SUMS_NAMED && ty_now_ms() - start < TY_NAMES_MS;

		out->unnamed += !named;
		if (i < TY_CALL_SUMS_NAMED && ty_explain_stopped(x))
			r = -TY_EINTR;
		else
			r = add(&v, &calls.v[i], named ? object_of(x, calls.v[i].call) : NULL);
	}
	vec_sort(&v, by_time);
	out->v = v.v;
	out->n = (uint32_t)v.n;
	out->calls = calls.n;
	vec_fini(&calls);
	return r;
}

void ty_call_sums_fini(struct ty_call_sums *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->v[i].object);
	free(s->v);
	*s = (struct ty_call_sums){0};
}
