/* SPDX-License-Identifier: MIT */
/* The examples of docs/design/index.md (Writing an analysis) compile, do what they say, and are
 * what stands there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_model.h"
#include "model.h"

/* >>> */
/* The longest wait of all threads for a disk, a lock of the kernel or the like: seek finds it by
 * the zoom forest, whatever the number of spans. TY_NONE: no thread waited. */
static uint32_t longest_block(const struct ty_model *m)
{
	uint32_t best = TY_NONE;
	struct ty_seek q = {.states = 1u << TY_ST_BLOCKED, .min_ns = 1, .nr = -1};

	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		struct ty_track track = {TY_TRACK_THREAD, i};
		uint64_t after_ns = 0; /* only spans that start later are searched */
		uint32_t s;

		while ((s = ty_model_seek(m, track, &q, after_ns, false)) != TY_NONE) {
			struct ty_span span = ty_model_span(m, s);

			best = s;
			q.min_ns = span.end_ns - span.start_ns + 1; /* the next must be longer */
			after_ns = span.start_ns;
		}
	}
	return best;
}

/* The wait in words: thread, system call, waker. */
static void describe(const struct ty_model *m, uint32_t span, char *out, size_t n)
{
	struct ty_span s = ty_model_span(m, span);
	const char *who = ty_model_comm(m, s.thread, s.start_ns), *by = "no thread";
	int call = s.syscall == TY_NONE ? -1 : ty_model_syscall(m, s.syscall).nr;

	if (s.edge != TY_NONE && ty_model_edge(m, s.edge).waker != TY_NONE)
		by = ty_model_comm(m, ty_model_edge(m, s.edge).waker, s.end_ns);
	snprintf(out, n, "%s %s for %" PRIu64 " ns in system call %d, woken by %s%s", who,
		 ty_state_name(s.state), s.end_ns - s.start_ns, call, by,
		 s.flags & TY_SF_LOST ? " (events were lost meanwhile)" : "");
}

/* The time that a thread ran, by a walk over all its spans, many at once. */
static uint64_t ran_ns(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	struct ty_span_rows rows;
	uint64_t sum = 0;
	uint32_t n;

	for (uint32_t s = t->spans_first; (n = ty_model_span_rows(m, thread, s, &rows)); s += n)
		for (uint32_t k = 0; k < n; k++)
			if (rows.state[k] == TY_ST_RUNNING)
				sum += rows.start_ns[k + 1] - rows.start_ns[k];
	return sum;
}

/* The same of a part of the recording, without the walk. */
static uint64_t ran_between(const struct ty_model *m, uint32_t thread, uint64_t from, uint64_t to)
{
	struct ty_cell cell;

	ty_model_cells(m, (struct ty_track){TY_TRACK_THREAD, thread}, from, to, 1, &cell);
	return cell.ns[TY_ST_RUNNING];
}
/* <<< */

static void examples(void **state)
{
	const struct ty_model *m;
	char text[200];

	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(0, 100, 0, R, 5);
	ty_mx_enter(0, 110, 5, 74);
	ty_mx_switch(0, 120, 5, D, 6);
	ty_mx_waking(0, 140, 6, 5, 0);
	ty_mx_switch(0, 150, 6, D, 5);
	ty_mx_exit(0, 160, 5, 74, 0);
	ty_mx_enter(0, 170, 5, 75);
	ty_mx_switch(0, 180, 5, D, 0);
	ty_mx_waking(0, 200, 0, 6, 0);
	ty_mx_switch(0, 210, 0, R, 6);
	ty_mx_waking(0, 280, 6, 5, 0);
	ty_mx_switch(0, 290, 6, S, 5);
	ty_mx_exit(0, 300, 5, 75, 0);
	m = ty_mx_end();
	describe(m, longest_block(m), text, sizeof(text));
	assert_string_equal(text, "t5 uninterruptible for 100 ns in system call 75, woken by t6");
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++)
		assert_int_equal(ran_ns(m, i), ran_between(m, i, 0, UINT64_MAX));
	assert_int_equal(ran_between(m, ty_model_thread_find(m, 5, 100), 110, 160), 20);
	ty_mx_drop();
}

static char *whole(const char *path)
{
	FILE *f = fopen(path, "r");
	char *s = calloc(1, 1 << 20);

	if (!f || !s)
		fail_msg("%s is missing: run from the project's root", path);
	(void)!fread(s, 1, (1 << 20) - 1, f);
	fclose(f);
	return s;
}

static void is_what_is_documented(void **state)
{
	char *here = whole("tests/unit/test_model_example.c"), *doc = whole("docs/design/index.md");
	char *from = strstr(here, "/* >>> */\n") + 10, *to = strstr(here, "/* <<< */\n");

	*to = 0;
	if (!strstr(doc, from))
		fail_msg("docs/design/index.md shows another example than this test compiles");
	free(here);
	free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),
		cmocka_unit_test(is_what_is_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
