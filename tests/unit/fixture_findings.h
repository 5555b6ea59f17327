/* SPDX-License-Identifier: MIT */
/* A command whose calls are given one by one, and the findings of its model. Included behind
 * cmocka.h. */
#ifndef TY_FIXTURE_FINDINGS_H
#define TY_FIXTURE_FINDINGS_H

#include "findings.h"
#include "fixture_given.h"
#include "window_all.h"

#define MS UINT64_C(1000000)
#define US UINT64_C(1000)

enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_CLOSE = 3,
	NR_NANOSLEEP = 35,
	NR_ACCEPT = 43,
	NR_EXIT = 60,
	NR_FLOCK = 73,
	NR_FSYNC = 74,
	NR_LINK = 86,
	NR_GETPPID = 110,
	NR_OPENAT = 257,
	NR_UNLINKAT = 263
};

static uint64_t at;

/* A call of this length, then time outside of calls. */
static inline void one(int tid, int nr, int64_t ret, uint64_t in_ns, uint64_t out_ns)
{
	ty_mx_enter(0, at, tid, nr);
	at += in_ns;
	ty_mx_exit(0, at, tid, nr, ret);
	at += out_ns;
}

/* On fd 5; of fsync on 6 in each second millisecond. */
static inline int on_fd_5(void *ctx, const struct ty_syscall *c, uint64_t args[6])
{
	(void)ctx;
	memcpy(args,
	       (uint64_t[6]){c->nr == NR_OPENAT	  ? 0
			     : c->nr == NR_ACCEPT ? 3
			     : c->nr == NR_FSYNC  ? 5 + c->start_ns / MS % 2
						  : 5,
			     0, 10},
	       6 * sizeof(*args));
	return 0;
}

static inline const char *path(void *ctx, uint32_t thread, uint32_t call, unsigned arg)
{
	(void)ctx, (void)thread, (void)call;
	return arg == 1 ? "/etc/absent" : NULL;
}

static inline void begin(void)
{
	at = 2 * MS;
	givens = 0;
	ty_mx_begin("mode=command\ncommand_tid=11\n", "taken 1 2\n" ROW("11", "11", "1", "tool"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
	one(11, NR_GETPPID, 1, US, US);
}

static inline struct ty_findings find(int command)
{
	struct ty_explain x;
	struct ty_window w;
	struct ty_requests q;
	struct ty_findings f;
	struct ty_answer a;

	ty_mx_switch(0, at, 11, TY_TASK_DEAD, 0);
	x = explain(ty_mx_end(), command);
	x.args = on_fd_5;
	x.pointee = path;
	x.file = "my trace.dat";
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 1000, 0, &q, NULL), 0);
	assert_int_equal(ty_answer_find(&x, &w, &q, &a), 0);
	assert_int_equal(ty_findings_find(&x, &w, &a, &q, &f), 0);
	for (uint32_t i = 0; i < f.n; i++) {
		assert_true(f.v[i].text[0] && f.v[i].next[0] && f.v[i].ns && f.v[i].n);
		assert_true(!i || f.v[i].ns <= f.v[i - 1].ns);
		/* What is proposed can be typed as it stands. */
		assert_null(strstr(f.v[i].next, "FILE"));
		if (!strncmp(f.v[i].next, "tarry report ", 13) ||
		    !strncmp(f.v[i].next, "tarry dump ", 11))
			assert_non_null(strstr(f.v[i].next, " 'my trace.dat' "));
	}
	ty_requests_fini(&q);
	ty_mx_drop();
	return f;
}

#endif
