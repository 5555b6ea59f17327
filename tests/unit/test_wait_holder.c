/* SPDX-License-Identifier: MIT */
/* The holder of a lock, as seen during the wait: when that is proven, and its text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_lock.h"
#include "wait_holder.h"

static struct ty_lock_seen seen;
static bool any;

static bool holder(void *ctx, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		   struct ty_lock_seen *out)
{
	(void)ctx;
	assert_int_equal(tid, 12);
	assert_int_equal(from_ns, 5 * MS);
	assert_int_equal(to_ns, 108 * MS);
	*out = seen;
	return any;
}

/* The victim, 12, waits from 5 to 108 ms, and 13 wakes it. */
static bool find(struct ty_wait_holder *h, char *text, size_t n)
{
	const struct ty_model *m = lock_and_sleep();
	struct ty_explain x = explain(m, 0);
	uint32_t victim = thread(m, 12);
	bool known;

	x.holder = holder;
	known = ty_wait_holder(&x, victim, ty_model_span_find(m, victim, 50 * MS), h);
	ty_wait_holder_text(&x, h, text, n);
	ty_mx_drop();
	return known;
}

static void when_it_is_proven(void **state)
{
	static const struct {
		struct ty_lock_seen seen;
		bool known, proven;
		const char *text;
	} cases[] = {
		{{.kind = "mutex", .holder = 13, .looks = 2, .at_ns = 100 * MS, .name = "g_lock"},
		 true,
		 true,
		 "mutex g_lock, held by t13/13"},
		/* Seen once only; or last long before the end; or not the one that woke it. */
		{{.kind = "mutex", .holder = 13, .looks = 1, .at_ns = 100 * MS, .word = 0x1000},
		 false,
		 false,
		 "mutex 0x1000, held by t13/13"},
		{{.kind = "mutex", .holder = 13, .looks = 2, .at_ns = 20 * MS},
		 false,
		 false,
		 "mutex, held by t13/13"},
		{{.kind = "mutex", .holder = 11, .looks = 2, .at_ns = 100 * MS},
		 false,
		 false,
		 "mutex, held by t11/11"},
		/* What is a lock for certain is reported, inferred. */
		{{.kind = "mutex", .holder = 13, .looks = 1, .at_ns = 100 * MS, .certain = true},
		 true,
		 false,
		 "mutex, held by t13/13"},
		/* A process in the kernel's list of file locks. */
		{{.kind = "flock", .holder = 13, .looks = 1, .at_ns = 20 * MS, .process = true},
		 true,
		 true,
		 "file lock (flock), held by process t13/13"},
		{{.kind = "flock",
		  .holder = 11,
		  .at_ns = 20 * MS,
		  .process = true,
		  .certain = true},
		 true,
		 false,
		 "file lock (flock): at 0.019 s /proc/locks listed process t11/11 as its holder"},
		/* A thread that did nothing that was recorded. */
		{{.kind = "mutex", .holder = 99, .looks = 3, .at_ns = 100 * MS, .certain = true},
		 true,
		 false,
		 "mutex, held by 99"},
	};

	any = true;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_wait_holder h;
		char text[200];

		seen = cases[i].seen;
		if (find(&h, text, sizeof(text)) != cases[i].known || h.proven != cases[i].proven)
			fail_msg("case %zu: proven %d", i, h.proven);
		assert_string_equal(text, cases[i].text);
	}
}

static void none_seen(void **state)
{
	const struct ty_model *m;
	struct ty_wait_holder h;
	struct ty_explain x;
	uint32_t victim;
	char text[200];

	any = false;
	seen = (struct ty_lock_seen){.kind = ""};
	assert_false(find(&h, text, sizeof(text)));
	assert_int_equal(h.thread, TY_NONE);
	/* Without the recorder's looks, of no span, and of a run. */
	m = lock_and_sleep();
	x = explain(m, 0);
	victim = thread(m, 12);
	assert_false(ty_wait_holder(&x, victim, ty_model_span_find(m, victim, 50 * MS), &h));
	x.holder = holder;
	any = true;
	assert_false(ty_wait_holder(&x, victim, TY_NONE, &h));
	assert_false(ty_wait_holder(&x, victim, ty_model_span_find(m, victim, 4 * MS), &h));
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(when_it_is_proven),
		cmocka_unit_test(none_seen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
