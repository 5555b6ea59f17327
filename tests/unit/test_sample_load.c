/* SPDX-License-Identifier: MIT */
/* Samples of perf.data files: callers by branch records, branch stacks, lanes beside switches. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "dump.h"
#include "fixture_story.h"
#include "fixture_trace.h"
#include "perf_write.h"
#include "sample_load.h"
#include "sample_marks_load.h"
#include "section.h"

#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)

/* Code to be named; none of it runs. */
__attribute__((noinline, used)) static int leaf(int n)
{
	return n * 3 + 1;
}
__attribute__((noinline, used)) static int middle(int n)
{
	return n * 5 + 2;
}
__attribute__((noinline, used)) static int outer(int n)
{
	return n * 7 + 3;
}
static uint64_t at(int (*f)(int))
{
	return (uint64_t)(uintptr_t)f + 1;
}

/* This program as process 7 has it mapped. */
static void map_self(struct perf_write *w)
{
	char line[512], path[256];
	FILE *f = fopen("/proc/self/maps", "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long from, to, off;
		char mode[8];

		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &from, &to, mode, &off, path) ==
			    5 &&
		    from <= (uintptr_t)leaf && (uintptr_t)leaf < to)
			pw_mmap2(w, (struct pw_at){7, 7, 1, 0}, from, to - from, off, 5, path);
	}
	fclose(f);
}

struct branch {
	uint64_t from, to, flags;
};

static void sample(struct perf_write *w, uint64_t ns, const uint64_t *chain, size_t n,
		   const struct branch *b, size_t branches)
{
	struct ty_buf body;

	ty_buf_init(&body, 65536);
	ty_buf_addle(&body, PW_ID, 8);
	ty_buf_addle(&body, chain[1], 8); /* address */
	ty_buf_addle(&body, 7ull << 32 | 7, 8);
	ty_buf_addle(&body, ns, 8);
	ty_buf_addle(&body, n, 8);
	ty_buf_add(&body, chain, 8 * n);
	ty_buf_addle(&body, branches, 8);
	ty_buf_addle(&body, 0, 8); /* of the hardware: where the newest is */
	ty_buf_add(&body, b, branches * sizeof(*b));
	pw_rec(w, TY_PERF_SAMPLE, 2, body.p, body.len);
	ty_buf_fini(&body);
}

static void begin(struct perf_write *w, uint64_t branch_type)
{
	pw_init(w);
	w->arch = "x86_64";
	w->type = 0;
	w->config = 0;
	w->branch_type = branch_type | TY_PERF_BRANCH_HW_INDEX;
	w->sample_type = TY_PERF_S_IDENTIFIER | TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME |
			 TY_PERF_S_CALLCHAIN | TY_PERF_S_BRANCH_STACK;
	map_self(w);
}

static struct ty_samples *load(struct perf_write *w)
{
	struct ty_texts roots = {0};
	const struct ty_sample_load_opts o = {.roots = &roots, .quiet = true};
	struct ty_samples *s = NULL;
	struct ty_err err = {0};
	struct ty_buf file;
	char path[32];

	assert_int_equal(vec_push(&roots, "/"), 0);
	ty_buf_init(&file, 1 << 20);
	pw_file(w, &file);
	pw_save(&file, path);
	if (ty_samples_of_perf(path, &o, &s, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	ty_buf_fini(&file);
	pw_fini(w);
	vec_fini(&roots);
	return s;
}

/* "leaf<middle", the innermost first. */
static const char *stack(const struct ty_samples *s, size_t i)
{
	static char text[256];
	size_t n = 0;

	*text = 0;
	for (uint32_t k = s->v.v[i].node; k; k = s->nodes.v[k].parent)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n, "%s%s", n ? "<" : "",
			ty_samples_str(s, s->funcs.v[s->frames.v[s->nodes.v[k].frame].func].name));
	return text;
}

static void callers_by_branch_records(void **state)
{
	/* What frame pointers say is wrong: none of it counts. */
	const uint64_t chain[] = {CONTEXT_USER, at(leaf), at(leaf), at(leaf)};
	const uint64_t kernel[] = {CONTEXT_KERNEL, 0xffffffff81000010, CONTEXT_USER, at(middle),
				   at(leaf)};
	const struct branch calls[] = {{at(middle), at(leaf) - 1, 0},
				       {at(outer), at(middle) - 1, 0}};
	struct branch full[16];
	struct perf_write w;
	struct ty_samples *s;

	(void)state;
	begin(&w, TY_PERF_BRANCH_CALL_STACK);
	sample(&w, 10, chain, 4, calls, 2);
	sample(&w, 20, kernel, 5, calls + 1, 1);
	sample(&w, 30, chain, 3, NULL, 0); /* frame pointers are what is left */
	for (unsigned i = 0; i < 16; i++)
		full[i] = calls[1];
	sample(&w, 40, chain, 2, full, 16);
	s = load(&w);
	assert_int_equal(s->v.n, 4);
	assert_string_equal(stack(s, 0), "leaf<middle<outer");
	assert_false(s->v.v[0].cut);
	/* The kernel's function has no name here. */
	assert_string_equal(stack(s, 1), "middle<outer");
	assert_true(s->v.v[1].in_kernel);
	assert_string_equal(stack(s, 2), "leaf<leaf");
	assert_true(s->v.v[3].cut);
	assert_non_null(strstr(s->how, "LBR"));
	assert_int_equal(s->branches, 0);
	ty_samples_free(s);
}

/* What is printed of a file, as text or JSON. Freed by the caller. */
static char *dumped(const char *path, bool json)
{
	const struct ty_select sel = {.json = json};
	struct ty_texts roots = {0};
	struct ty_err err = {0};
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_int_equal(vec_push(&roots, "/"), 0);
	if (ty_dump_samples(path, &roots, &sel, f, &err))
		fail_msg("%s", err.msg);
	fclose(f);
	vec_fini(&roots);
	return text;
}

/* Branches of any kind say nothing of callers; they are printed. */
static void other_branch_stacks(void **state)
{
	const uint64_t chain[] = {CONTEXT_USER, at(leaf), at(outer)};
	/* Of the kernel as perf has it mapped, and beside that. */
	const uint64_t kernel[] = {CONTEXT_KERNEL, 0xffffffff81000010, 0xffffffff91000010,
				   CONTEXT_USER, at(leaf)};
	const struct branch any[] = {{0x1234, 0x5678, 1 | 8 | 300 << 4}, {0x9, 0xa, 2 | 4}};
	struct ty_buf file;
	char path[32], *text;
	struct perf_write w;
	struct ty_samples *s;

	(void)state;
	begin(&w, 1 << 3);
	pw_mmap2(&w, (struct pw_at){-1, 0, 1, 0}, 0xffffffff81000000, 1 << 20, 0x81000000, 5,
		 "[kernel.kallsyms]_stext");
	sample(&w, 1000000010, chain, 3, any, 2);
	sample(&w, 1000000020, chain, 3, NULL, 0);
	sample(&w, 1000000030, kernel, 5, NULL, 0);
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	ty_buf_fini(&file);
	s = load(&w);
	assert_string_equal(stack(s, 0), "leaf<outer");
	assert_int_equal(s->branches, 2);
	assert_int_equal(s->branch_v.n, 0); /* not requested */
	ty_samples_free(s);
	text = dumped(path, false);
	if (strncmp(text, "1.000000010 /7 CPU - 1024 ", 26) ||
	    !strstr(text, "    branches: 0x1234/0x5678/M/-/A/300 0x9/0xa/P/X/-/0\n1.000000020 ") ||
	    !strstr(text, "\n    leaf (") || !strstr(text, "\n    outer (") ||
	    !strstr(text, "\n    [no symbol] ([kernel.kallsyms])\n"
			  "    [no symbol] ([kernel.kallsyms])\n    leaf ("))
		fail_msg("%s", text);
	free(text);
	text = dumped(path, true);
	if (!strstr(text,
		    "\"branches\":[{\"from\":\"0x1234\",\"to\":\"0x5678\",\"mispredicted\":true,"
		    "\"predicted\":false,\"in_transaction\":false,\"abort\":true,\"cycles\":300}"))
		fail_msg("%s", text);
	free(text);
	unlink(path);
}

/* Switches and samples of all CPUs, without Intel PT: a timeline, with lanes of the samples. */
static void lanes_beside_switches(void **state)
{
	struct ty_sample_marks *m = NULL;
	struct ty_trace *t = NULL;
	struct ty_buf body, file;
	struct perf_write w;
	struct ty_err err = {0};
	char path[32];

	(void)state;
	pw_init(&w);
	w.type = 1;
	w.config = 0; /* cpu-clock */
	w.period = 1000;
	w.switches = true;
	w.sample_type = TY_PERF_S_IDENTIFIER | TY_PERF_S_IP | TY_PERF_S_TID | TY_PERF_S_TIME |
			TY_PERF_S_CPU;
	for (uint64_t i = 0; i < 10; i++) {
		pw_switch(&w, (struct pw_at){7, 7, 10000 + 2000 * i, i % 2}, false, 0, 0);
		ty_buf_init(&body, 4096);
		ty_buf_addle(&body, PW_ID, 8);
		ty_buf_addle(&body, 0x401000, 8);
		ty_buf_addle(&body, 7ull << 32 | 7, 8);
		ty_buf_addle(&body, 11000 + 2000 * i, 8);
		ty_buf_addle(&body, i % 2, 8);
		pw_rec(&w, TY_PERF_SAMPLE, 2, body.p, body.len);
		ty_buf_fini(&body);
		pw_switch(&w, (struct pw_at){7, 7, 11500 + 2000 * i, i % 2}, true, 0, 0);
	}
	ty_buf_init(&file, 1 << 20);
	pw_file(&w, &file);
	pw_save(&file, path);
	ty_buf_fini(&file);
	pw_fini(&w);
	assert_true(ty_trace_in_perf(path));
	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	assert_true(t->perf_samples && t->switches_only);
	assert_true(ty_samples_recorded(t));
	assert_int_equal(ty_sample_marks_of_trace(t, NULL, &m), 0);
	assert_int_equal(m->period_ns, 1000);
	assert_int_equal(ty_sample_marks_count(m, TY_MARKS_THREAD, 7, 0, UINT64_MAX), 10);
	assert_int_equal(ty_sample_marks_count(m, TY_MARKS_THREAD, 7, 13000, 17000), 2);
	assert_int_equal(ty_sample_marks_count(m, TY_MARKS_CPU, 1, 0, UINT64_MAX), 5);
	ty_sample_marks_free(m);
	ty_trace_close(t);
	unlink(path);
}

static void sample_at(struct perf_write *w, uint64_t ns)
{
	const uint64_t body[] = {PW_ID, at(leaf), 7ull << 32 | 7, ns, 0, 0, 0};

	pw_rec(w, TY_PERF_SAMPLE, 2, body, sizeof(body));
}

/* record --keep drops samples less finely than events: what is older than the kept part does not
 * count. Losses do: their record, at the end, has no time. */
static void older_than_the_kept_part(void **state)
{
	const uint64_t kept = TY_STORY_START + 5, lost[2] = {0, 3};
	const char *path = ty_fx_path("kept.dat");
	struct ty_texts roots = {0};
	const struct ty_sample_load_opts o = {.roots = &roots, .quiet = true};
	struct ty_samples *s = NULL;
	struct ty_trace *t = NULL;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_buf head;
	char facts[64];

	(void)state;
	assert_int_equal(vec_push(&roots, "/"), 0);
	ty_buf_init(&head, 1 << 20);
	begin(&w, 0);
	pw_file(&w, &head);
	ty_story_begin(path, 4, "mode=all\n", TY_STORY_THREADS);
	snprintf(facts, sizeof(facts), "from_ns=%" PRIu64 "\n", kept);
	ty_story_section(TY_SEC_KEPT, facts, strlen(facts));
	ty_story_section(TY_SEC_SAMPLING, head.p, head.len);
	ty_buf_reset(&w.rec);
	for (uint64_t i = 0; i < 10; i++)
		sample_at(&w, TY_STORY_START + i);
	pw_rec_at(&w, TY_PERF_LOST, 0, lost, sizeof(lost), (struct pw_at){0});
	ty_story_section(TY_SEC_SAMPLES, w.rec.p, w.rec.len);
	ty_story_stall(ty_story_event);
	ty_story_end();
	pw_fini(&w);
	ty_buf_fini(&head);
	if (ty_trace_open(path, &t, &err) || ty_samples_of_trace(t, &o, &s, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(t->kept_from_ns, kept);
	assert_int_equal(s->v.n, 5);
	for (size_t i = 0; i < s->v.n; i++)
		assert_int_equal(s->v.v[i].ns, kept + i);
	assert_int_equal(s->lost, 3);
	ty_samples_free(s);
	ty_trace_close(t);
	vec_fini(&roots);
	ty_fx_remove_dir();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_by_branch_records),
		cmocka_unit_test(other_branch_stacks),
		cmocka_unit_test(lanes_beside_switches),
		cmocka_unit_test(older_than_the_kept_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
