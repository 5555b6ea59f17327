/* SPDX-License-Identifier: MIT */
/* The memory view on made-up samples: golden frames, its tables, zoom, and the records of a column.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture_timeline.h"
#include "memory_query.h"
#include "memory_view.h"

static struct ty_mem_points points, stepped, crowd;

/* A thread writes a line; two run the same code, which reads it. */
static void make_crowd(struct ty_mem_points *p)
{
	assert_int_equal(ty_mem_points_begin(p, NULL, 0), 0);
	for (unsigned i = 0; i < 90; i++) {
		const struct ty_mem m = {
			.ts_ns = 5000000 + i * 2500,
			.pc = i % 3 ? 0x4010 : 0x4000,
			.va = i % 3 ? 0x7008 : 0x7000,
			.has = TY_MEM_HAS_TIME | TY_MEM_HAS_PC | TY_MEM_HAS_VA | TY_MEM_HAS_TOTAL,
			.pid = 100,
			.tid = (int32_t)(101 + i % 3),
			.who = TY_MEM_THREAD_CONTEXT,
			.kind = i % 3 ? TY_MEM_LOAD : TY_MEM_STORE,
			.level = i % 3 ? TY_MEM_LV_PEER : TY_MEM_LV_L1,
			.src_flags = i % 3 ? TY_MEM_SRC_PEER : 0,
			.lat_total = i % 3 ? 80 + 10 * (i % 3) : 5,
		};

		assert_int_equal(ty_mem_points_add(p, &m, "worker", true), 0);
	}
	assert_int_equal(ty_mem_points_end(p), 0);
}

/* Two threads write one line; a third reads far away, once very slowly at 700 us. */
static void make_points(struct ty_mem_points *p, bool step_back)
{
	assert_int_equal(ty_mem_points_begin(p, NULL, 0), 0);
	for (unsigned i = 0; i < 400; i++) {
		struct ty_mem m = {
			/* The last one's time comes first. */
			.ts_ns = 5000000 + (step_back ? (i + 399) % 400 : i) * 2500,
			.pc = 0x4000 + 16 * (i % 3),
			.va = i % 3 == 2 ? 0x900000 + 64 * (uint64_t)i : 0x7000 + 8 * (i % 3),
			.has = TY_MEM_HAS_TIME | TY_MEM_HAS_PC | TY_MEM_HAS_VA | TY_MEM_HAS_TOTAL,
			.pid = 100,
			.tid = (int32_t)(101 + i % 3),
			.who = TY_MEM_THREAD_CONTEXT,
			.kind = i % 3 ? TY_MEM_LOAD : TY_MEM_STORE,
			.level = i % 3 == 2   ? TY_MEM_LV_RAM
				 : i % 3 == 1 ? TY_MEM_LV_PEER
					      : TY_MEM_LV_L1,
			.src_flags = i % 3 == 1 ? TY_MEM_SRC_PEER : 0,
			.lat_total = i == 281	  ? 40000
				     : i % 3 == 2 ? 300 + i % 7
				     : i % 3	  ? 90
						  : 5,
		};

		assert_int_equal(ty_mem_points_add(p, &m, "worker", true), 0);
	}
	assert_int_equal(ty_mem_points_end(p), 0);
}

static const char *frame(struct ty_memory_view *v, bool utf8, int w, int h)
{
	const struct ty_palette p = {.mode = TY_COLOR_NONE, .utf8 = utf8};
	static struct ty_buf b;
	struct ty_grid g;

	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 24);
	assert_int_equal(ty_grid_init(&g, w, h), 0);
	ty_memory_view_ops.draw(v, &g, &p);
	if (ty_memory_view_ops.wait_ms(v) >= 0) {
		ty_memory_view_ops.work(v);
		ty_memory_view_ops.draw(v, &g, &p);
	}
	assert_int_equal(ty_memory_view_ops.wait_ms(v), -1);
	assert_int_equal(ty_grid_dump(&g, &p, &b), 0);
	ty_grid_fini(&g);
	return b.p;
}

static void name(void *ctx, int32_t pid, uint64_t addr, uint64_t ts_ns, char *buf, size_t n)
{
	assert_int_equal(pid, 100);
	snprintf(buf, n, "%s", addr < 0x5000 ? "work" : "heap");
}

static struct ty_memory_view *view_of(const struct ty_mem_points *p)
{
	static struct ty_memory_input in;
	struct ty_memory_view *v;
	struct ty_err err = {0};

	in = (struct ty_memory_input){
		.points = p, .path = "some/perf.data", .line_bytes = 64, .name = name};
	if (ty_memory_view_new(&in, &v, &err))
		fail_msg("%s", err.msg);
	return v;
}

static struct ty_memory_view *open_view(void)
{
	return view_of(&points);
}

static enum ty_view_result act(struct ty_memory_view *v, enum ty_action a)
{
	return ty_memory_view_ops.act(v, a);
}

static void shows(struct ty_memory_view *v, const char *what)
{
	const char *got = frame(v, true, 100, 30);

	if (!strstr(got, what))
		fail_msg("no '%s' in:\n%s", what, got);
}

static void test_frames(void **state)
{
	struct ty_memory_view *v = open_view();

	(void)state;
	ty_tl_golden("memory-80x24", frame(v, true, 80, 24));
	ty_tl_golden("memory-80x24-ascii", frame(v, false, 80, 24));
	ty_tl_golden("memory-40x10", frame(v, true, 40, 10));
	for (int w = 1; w < 130; w += 7) /* every size is drawn */
		for (int h = 1; h < 60; h += 5)
			frame(v, true, w, h);
	ty_memory_view_free(v);
}

static void test_tables(void **state)
{
	struct ty_memory_view *v = open_view();

	(void)state;
	shows(v, "instructions ");
	shows(v, "133  33.2%    303    306  40000  0x4020 work");
	act(v, TY_ACT_MEMORY);
	shows(v, "133  33.2%     90     90     90  peer");
	act(v, TY_ACT_MEMORY);
	shows(v, "0x7000 heap");
	act(v, TY_ACT_MEMORY);
	shows(v, "103 worker");
	act(v, TY_ACT_MEMORY);
	shows(v, "false   peer       2      267      134  0x7000 heap");
	ty_memory_view_free(v);
}

/* All tables are of the window; a column's records are listed one by one. */
static void test_window(void **state)
{
	struct ty_memory_view *v = open_view();
	const struct ty_view_ops *ops;
	struct ty_buf b;
	struct ty_grid g;
	void *page;

	(void)state;
	frame(v, true, 100, 30);
	act(v, TY_ACT_ZOOM_IN);
	act(v, TY_ACT_ZOOM_IN);
	shows(v, " 100 samples, 100 with latency");
	shows(v, "34  34.0%      5      5      5  0x4000 work");
	act(v, TY_ACT_UNDO);
	shows(v, " 400 samples");
	/* The slow load is alone at the top; the cursor goes to its column. */
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_CLICK, 7 + 56, 5, false});
	assert_int_equal(
		ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DOUBLE, 7 + 56, 5, false}),
		TY_VIEW_PUSH);
	ty_memory_view_ops.child(v, &ops, &page);
	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_grid_init(&g, 120, 20), 0);
	ops->draw(page, &g, &(struct ty_palette){.mode = TY_COLOR_NONE});
	assert_int_equal(ty_grid_dump(&g, NULL, &b), 0);
	if (!strstr(b.p, "40000 load   RAM"))
		fail_msg("no slow load in:\n%s", b.p);
	ty_grid_fini(&g);
	ty_buf_fini(&b);
	act(v, TY_ACT_TIME_LAST);
	act(v, TY_ACT_RIGHT);
	act(v, TY_ACT_PAN_RIGHT);
	act(v, TY_ACT_ZOOM_IN);
	shows(v, "Enter records  f filter");
	assert_int_equal(act(v, TY_ACT_QUIT), TY_VIEW_QUIT);
	ty_memory_view_free(v);
}

static void has_not(struct ty_memory_view *v, const char *what)
{
	const char *got = frame(v, true, 100, 30);

	if (strstr(got, what))
		fail_msg("'%s' in:\n%s", what, got);
}

/* What the view pushes, as text. */
static const char *page_of(struct ty_memory_view *v, enum ty_action a)
{
	const struct ty_palette p = {.mode = TY_COLOR_NONE};
	const struct ty_view_ops *ops;
	static struct ty_buf b;
	struct ty_grid g;
	void *page;

	assert_int_equal(act(v, a), TY_VIEW_PUSH);
	ty_memory_view_ops.child(v, &ops, &page);
	ty_buf_fini(&b);
	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_grid_init(&g, 120, 40), 0);
	ops->draw(page, &g, &p);
	assert_int_equal(ty_grid_dump(&g, &p, &b), 0);
	ty_grid_fini(&g);
	return b.p;
}

/* A rectangle narrows the tables and the records to its time and its latencies. */
static void test_rectangle(void **state)
{
	struct ty_memory_view *v = open_view();
	const char *text;

	(void)state;
	frame(v, true, 100, 30);
	/* The row of 2..7 cycles, half the time: a third of the samples there. */
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_CLICK, 7, 12, false});
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DRAG, 7 + 39, 12, false});
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DROP, 7 + 39, 12, false});
	shows(v, "selected: 498.750 us, 4..7 cycles");
	shows(v, "67 100.0%      5      5      5  0x4000 work");
	has_not(v, "0x4010 work");
	text = page_of(v, TY_ACT_OPEN);
	if (!strstr(text, "67 records, starting at 0.0") || strstr(text, " load "))
		fail_msg("not the stores alone:\n%s", text);
	/* Dropped: all again; kept by keys: from here three cells on and one row up. */
	act(v, TY_ACT_BACK);
	shows(v, "134  33.5%      5      5      5  0x4000 work");
	act(v, TY_ACT_SELECT);
	act(v, TY_ACT_RIGHT);
	shows(v, ", 0..65535 cycles");
	act(v, TY_ACT_UP);
	shows(v, "selected: ");
	act(v, TY_ACT_SELECT);
	act(v, TY_ACT_ZOOM_SPAN);
	shows(v, "samples, ");
	has_not(v, "selected: ");
	act(v, TY_ACT_UNDO);
	shows(v, " 400 samples");
	ty_memory_view_free(v);
}

/* Strips by thread and by CPU, and the turns of a shared line. */
/* A falsely shared line is on the first screen, and one key shows its accesses. */
static void test_false_sharing(void **state)
{
	struct ty_memory_view *v = open_view();
	const char *text;

	(void)state;
	shows(v,
	      "False sharing of line 0x7000: 101 worker writes +0 (0x4000 work), 102 worker reads "
	      "+8");
	act(v, TY_ACT_LINK_1);
	ty_tl_golden("memory-sites-80x24", frame(v, true, 80, 24));
	shows(v, "    +8   8? read       133    133      90  102 worker       0x4010 work");
	/* A rectangle over the first thread's row keeps the line, and its records. */
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_CLICK, 22, 2, false});
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DRAG, 99, 2, false});
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DROP, 99, 2, false});
	shows(v, "false   peer       2      267      134  0x7000 heap");
	text = page_of(v, TY_ACT_OPEN);
	if (!strstr(text, "134 records") || strstr(text, " load "))
		fail_msg("not the stores of the first row alone:\n%s", text);
	act(v, TY_ACT_BACK);
	/* Without one: the records of the table's row. */
	act(v, TY_ACT_FOCUS);
	act(v, TY_ACT_MEMORY);
	act(v, TY_ACT_MEMORY);
	shows(v, "133  33.2%     90     90     90  peer");
	act(v, TY_ACT_DOWN);
	text = page_of(v, TY_ACT_OPEN);
	if (!strstr(text, "133 records of peer") || strstr(text, " store ") ||
	    strstr(text, " RAM "))
		fail_msg("not the records of the row:\n%s", text);
	ty_memory_view_free(v);
}

/* Equal code of several threads is one row of the accesses, with their sums. */
static void test_equal_code(void **state)
{
	struct ty_memory_view *v = view_of(&crowd);

	(void)state;
	frame(v, true, 100, 30);
	act(v, TY_ACT_LINK_1);
	shows(v, "false   peer       3       90       30  0x7000 heap");
	shows(v, "    +0   8? write       30      -       5  101 worker       0x4000 work");
	shows(v, "    +8   8? read        60     60      95  2 threads        0x4010 work");
	has_not(v, "102 worker       0x4010");
	ty_memory_view_free(v);
}

static void test_panes(void **state)
{
	struct ty_memory_view *v = open_view();
	const char *text;

	(void)state;
	act(v, TY_ACT_FOCUS);
	ty_tl_golden("memory-threads-80x24", frame(v, true, 80, 24));
	ty_tl_golden("memory-threads-80x24-ascii", frame(v, false, 80, 24));
	/* A strip alone. */
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_CLICK, 22, 2, false});
	ty_memory_view_ops.mouse(v, &(struct ty_mouse){TY_MOUSE_DRAG, 99, 2, false});
	shows(v, "134 100.0%      5      5      5  0x4000 work");
	act(v, TY_ACT_BACK);
	act(v, TY_ACT_FOCUS);
	shows(v, "no sample in this window has a CPU number");
	act(v, TY_ACT_FOCUS);
	for (int i = 0; i < 5; i++)
		act(v, TY_ACT_ZOOM_IN);
	ty_tl_golden("memory-line-80x24", frame(v, true, 80, 24));
	/* The line stays chosen in another window. */
	act(v, TY_ACT_TIME_LAST);
	shows(v, "+8 102 worker");
	text = page_of(v, TY_ACT_OPEN);
	if (strstr(text, "0x9") || !strstr(text, "0x7000") || !strstr(text, "0x7008"))
		fail_msg("not the accesses to the line:\n%s", text);
	act(v, TY_ACT_FOCUS);
	for (int w = 1; w < 130; w += 7)
		for (int h = 1; h < 60; h += 9)
			for (int i = 0; i < 4; i++) {
				frame(v, true, w, h);
				act(v, TY_ACT_FOCUS);
			}
	ty_memory_view_free(v);
}

static void ask(struct ty_memory_view *v, const char *text)
{
	assert_int_equal(act(v, TY_ACT_FILTER), TY_VIEW_CHANGED);
	for (const char *s = text; *s; s++) {
		assert_true(ty_memory_view_ops.wants_text(v));
		ty_memory_view_ops.text(v, (uint32_t)*s);
	}
	ty_memory_view_ops.text(v, TY_KEY_ENTER);
	assert_false(ty_memory_view_ops.wants_text(v));
}

/* A process has the name of the thread that has its id, wherever that is among the threads. */
static void test_filter_processes(void **state)
{
	struct ty_mem_thread t[] = {{9, 7, "helper"},
				    {-1, -1, "?"},
				    {8, 8, "other"},
				    {7, 7, "server"},
				    {6, 5, "server"}};
	struct ty_mem_points p = {.thread = t, .threads = 5};
	struct ty_memory_query *q;
	struct ty_err err;

	(void)state;
	assert_int_equal(ty_memory_query_new(&p, "process:server", &q, &err), 0);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(ty_memory_query_has(q, &(struct ty_mem_point){.thread = i}),
				 t[i].pid == 7);
	ty_memory_query_free(q);
}

/* Only the samples that match are shown and counted: in the picture, tables and records. */
static void test_filter(void **state)
{
	struct ty_memory_view *v = open_view();
	const char *text;

	(void)state;
	shows(v, "400 samples");
	ask(v, "source:peer");
	shows(v, "133 of 400 samples shown");
	shows(v, "filter: source:peer");
	shows(v, "133 100.0%     90     90     90");
	text = page_of(v, TY_ACT_OPEN);
	if (!strstr(text, "133 records") || strstr(text, " store ") || !strstr(text, " peer "))
		fail_msg("other records:\n%s", text);
	ask(v, "tid:101 kind:store >4");
	shows(v, "134 of 400 samples shown");
	ask(v, "tid:101,102 kind:load");
	shows(v, "133 of 400 samples shown");
	/* A strip for each thread that is left. */
	act(v, TY_ACT_FOCUS);
	shows(v, "102 worker");
	has_not(v, "\n 101 worker");
	/* Shared lines are found in all samples. */
	for (int i = 0; i < 4; i++)
		act(v, TY_ACT_MEMORY);
	shows(v, "shared cache lines, of all samples");
	act(v, TY_ACT_FOCUS);
	act(v, TY_ACT_FOCUS);
	shows(v, "\n of all samples ");
	act(v, TY_ACT_FOCUS);
	act(v, TY_ACT_FOCUS);
	act(v, TY_ACT_BACK);
	assert_null(strstr(frame(v, true, 100, 30), "filter:"));
	has_not(v, "of all samples");
	shows(v, "\n 101 worker");
	/* What is wrong or matches nothing changes nothing. */
	ask(v, "RAM|peer");
	shows(v, "266 of 400 samples shown");
	ask(v, "sauce:peer");
	shows(v, "keys of samples are thread: process:");
	ask(v, "thread:a(");
	shows(v, "not a valid regular expression");
	ask(v, ">fast");
	shows(v, "not a number of cycles");
	ask(v, "tid:7");
	shows(v, "no sample matches 'tid:7'; nothing is changed");
	has_not(v, "(tid:");
	ask(v, "102");
	shows(v, "no sample matches '102'; nothing is changed (tid:102 is the thread");
	ask(v, "thread:103");
	shows(v, "no sample matches 'thread:103'; nothing is changed (tid:103 is");
	act(v, TY_ACT_UP);
	shows(v, "filter: RAM|peer");
	ask(v, "");
	has_not(v, "filter:");
	ty_memory_view_free(v);
}

static void test_help(void **state)
{
	struct ty_memory_view *v = open_view();
	const struct ty_view_ops *ops;
	void *page;

	(void)state;
	assert_int_equal(act(v, TY_ACT_HELP), TY_VIEW_HELP);
	assert_string_equal(ty_memory_view_ops.help(v).title, "Memory samples");
	assert_int_equal(act(v, TY_ACT_OPEN), TY_VIEW_PUSH);
	ty_memory_view_ops.child(v, &ops, &page);
	assert_string_equal(ops->help(page).title, "Memory samples: records");
	/* Above the timeline there is a way back. */
	ty_memory_view_show(v, 5000000, 5500000, 5200000);
	shows(v, "500.000 us at 0.0");
	ty_tl_moves(&ty_memory_view_ops, v, true);
	/* Keys of one burst: the rows are still those of the table before. */
	for (int i = 0; i < 5; i++) {
		act(v, TY_ACT_MEMORY);
		frame(v, true, 100, 30);
		act(v, TY_ACT_MEMORY);
		act(v, TY_ACT_SEARCH);
		ty_memory_view_ops.text(v, '0');
		ty_memory_view_ops.text(v, TY_KEY_ENTER);
		act(v, TY_ACT_NEXT);
		act(v, TY_ACT_DOWN);
		act(v, TY_ACT_OPEN);
		act(v, TY_ACT_BACK);
		frame(v, true, 100, 30);
	}
	/* Rows of the table are found by their text. */
	assert_int_equal(act(v, TY_ACT_SEARCH), TY_VIEW_CHANGED);
	for (const char *s = "4010 w"; *s; s++)
		ty_memory_view_ops.text(v, (unsigned char)*s);
	shows(v, "find in the table: 4010 w_");
	ty_memory_view_ops.text(v, TY_KEY_ENTER);
	if (!strstr(page_of(v, TY_ACT_OPEN), " records of 0x4010 work,"))
		fail_msg("not the row that was searched for");
	shows(v, "n/N next  Esc drop");
	act(v, TY_ACT_BACK);
	has_not(v, "n/N next");
	if (!strstr(frame(v, true, 130, 30), "   mean    loads   stores   L1miss TLBwalks  instr"))
		fail_msg("no further columns on a wide screen");
	assert_int_equal(act(v, TY_ACT_BACK), TY_VIEW_CLOSE);
	assert_int_equal(act(v, TY_ACT_QUIT), TY_VIEW_CLOSE);
	ty_memory_view_free(v);
}

/* A step back in time: the table is still of the window's samples alone. */
static void test_step_back(void **state)
{
	const struct ty_memory_input in = {.points = &stepped, .path = "p", .line_bytes = 64};
	struct ty_memory_view *v;
	struct ty_err err = {0};

	(void)state;
	assert_int_equal(ty_memory_view_new(&in, &v, &err), 0);
	assert_true(stepped.back_ns > 900000);
	frame(v, true, 100, 30);
	act(v, TY_ACT_ZOOM_IN);
	act(v, TY_ACT_ZOOM_IN);
	shows(v, " 100 samples, 100 with latency");
	for (unsigned table = 0; table < 3; table++) {
		has_not(v, "133 ");
		act(v, TY_ACT_MEMORY);
	}
	ty_memory_view_free(v);
}

/* Draws until all is made that threads make. */
static void settle(struct ty_memory_view *v, int w)
{
	const struct ty_palette p = {.mode = TY_COLOR_NONE};
	struct ty_grid g;

	assert_int_equal(ty_grid_init(&g, w, 30), 0);
	ty_memory_view_ops.draw(v, &g, &p);
	while (ty_memory_view_ops.wait_ms(v) >= 0) {
		ty_memory_view_ops.work(v);
		ty_memory_view_ops.draw(v, &g, &p);
	}
	ty_grid_fini(&g);
}

/* Strips come, and the terminal changes, while a table of a selected strip is counted in a thread:
 * it is that strip's in the end. */
static void test_aside(void **state)
{
	const struct ty_memory_input in = {
		.points = &points, .path = "p", .line_bytes = 64, .aside = true};
	const struct ty_palette p = {.mode = TY_COLOR_NONE};

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct ty_memory_view *v;
		struct ty_err err = {0};
		struct ty_grid g;

		assert_int_equal(ty_memory_view_new(&in, &v, &err), 0);
		settle(v, 100);
		act(v, TY_ACT_FOCUS);
		act(v, TY_ACT_TIME_FIRST);
		act(v, TY_ACT_SELECT);
		act(v, TY_ACT_TIME_LAST);
		for (int w = 60; w < 120; w++) {
			assert_int_equal(ty_grid_init(&g, w, 30), 0);
			ty_memory_view_ops.draw(v, &g, &p);
			ty_memory_view_ops.work(v);
			ty_grid_fini(&g);
		}
		settle(v, 100);
		shows(v, "134 100.0%      5      5      5  0x4000");
		ty_memory_view_free(v);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),	   cmocka_unit_test(test_tables),
		cmocka_unit_test(test_window),	   cmocka_unit_test(test_rectangle),
		cmocka_unit_test(test_panes),	   cmocka_unit_test(test_help),
		cmocka_unit_test(test_filter),	   cmocka_unit_test(test_false_sharing),
		cmocka_unit_test(test_equal_code), cmocka_unit_test(test_step_back),
		cmocka_unit_test(test_aside),	   cmocka_unit_test(test_filter_processes),
	};
	int failed;

	setlocale(LC_ALL, "C.UTF-8");
	make_points(&points, false);
	make_points(&stepped, true);
	make_crowd(&crowd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ty_mem_points_fini(&points);
	ty_mem_points_fini(&stepped);
	ty_mem_points_fini(&crowd);
	return failed;
}
