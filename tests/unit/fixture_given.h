/* SPDX-License-Identifier: MIT */
/* Stalls of hand-written models whose calls have arguments. Included behind cmocka.h. */
#ifndef TY_FIXTURE_GIVEN_H
#define TY_FIXTURE_GIVEN_H

#include <string.h>

#include "fixture_model.h"
#include "stalls.h"

/* What calls were given, by the time of their begin. */
static struct {
	uint64_t at_ns, args[6];
} given[16];
static unsigned givens;

static inline void give(uint64_t at_ns, uint64_t a, uint64_t b, uint64_t c)
{
	given[givens].at_ns = at_ns;
	memcpy(given[givens++].args, (uint64_t[6]){a, b, c}, sizeof(given->args));
}

static inline int args_of(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	for (unsigned i = 0; i < givens; i++)
		if (given[i].at_ns == c->start_ns) {
			memcpy(args, given[i].args, sizeof(given->args));
			return 0;
		}
	return -TY_ENOTFOUND;
}

static inline struct ty_explain explain(const struct ty_model *m, int command)
{
	return (struct ty_explain){
		.m = m, .arch = ty_sysarch_find("x86_64"), .args = args_of, .command_tid = command};
}

static inline struct ty_stalls stalls_of(const struct ty_model *m, int command, bool all)
{
	struct ty_explain x = explain(m, command);
	struct ty_window w = ty_window_all(m);
	struct ty_stalls_opts o = {.all = all};
	struct ty_stalls s;

	assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
	return s;
}

#endif
