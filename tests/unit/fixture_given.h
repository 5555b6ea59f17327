/* SPDX-License-Identifier: MIT */
/* Stalls of hand-written models whose calls have arguments. Included behind cmocka.h. */
#ifndef TY_FIXTURE_GIVEN_H
#define TY_FIXTURE_GIVEN_H

#include <string.h>

#include "fixture_model.h"
#include "stalls.h"
#include "window_all.h"

/* A line of the threads' table for ty_mx_begin. */
#define ROW(tid, pid, ppid, name) tid "\t" pid "\t" ppid "\t5\tR\t0\t0\t0\t-\t-\t-\t-\t" name "\n"

/* What calls were given, by the time of their start. */
static struct {
	uint64_t at_ns, args[6];
} given[4096];
static unsigned givens;

static inline void give(uint64_t at_ns, uint64_t a, uint64_t b, uint64_t c)
{
	assert_true(givens < sizeof(given) / sizeof(*given));
	given[givens].at_ns = at_ns;
	memcpy(given[givens++].args, (uint64_t[6]){a, b, c}, sizeof(given->args));
}

/* A call of a microsecond on CPU 0. */
static inline void call(uint64_t at_ns, int tid, int nr, int64_t ret, uint64_t fd)
{
	give(at_ns, fd, 0, 1);
	ty_mx_enter(0, at_ns, tid, nr);
	ty_mx_exit(0, at_ns + 1000, tid, nr, ret);
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
	return (struct ty_explain){.m = m,
				   .arch = ty_sysarch_find("x86_64"),
				   .args = givens ? args_of : NULL,
				   .command_tid = command};
}

static inline struct ty_stalls stalls_by(const struct ty_explain *x, bool all)
{
	struct ty_window w = window_all(x->m);
	struct ty_stalls_opts o = {.all = all};
	struct ty_stalls s;

	assert_int_equal(ty_stalls_find(x, &w, &o, 100, &s, NULL), 0);
	return s;
}

static inline struct ty_stalls stalls_of(const struct ty_model *m, int command, bool all)
{
	struct ty_explain x = explain(m, command);

	return stalls_by(&x, all);
}

#endif
