/* SPDX-License-Identifier: MIT */
/* The timeline's signs: what stands for long waits among short ones, for lost events, for what is
 * not known or inferred. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture_story.h"
#include "fixture_timeline.h"
#include "glyphs.h"

#define MS    1000000ull
#define START TY_STORY_START

enum { NR_FSYNC = 74, NR_NANOSLEEP = 230 };

/* A wait of 2 s among hundreds of thousands of short spans, an hour on 40 cells. */
static void a_stall_keeps_its_sign(void **state)
{
	struct ty_build_facts facts = {.cpus = 1, .long_size = 8, .arch = "x86_64"};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	const char *s;
	int pass;

	for (pass = 0; pass < 2; pass++) {
		ty_tl_build(&facts);
		ty_tl_switch(0, 0, 0, 0, 55);
		for (uint64_t ms = 1; ms < 3600000; ms += 40) {
			uint64_t us = ms * 1000;
			bool stall = pass && ms == 1800001;

			ty_tl_enter(us - 10, 0, 55, NR_FSYNC);
			ty_tl_switch(us, 0, 55,
				     stall ? TY_TASK_UNINTERRUPTIBLE : TY_TASK_INTERRUPTIBLE, 0);
			us += stall ? 2000000 : 10000;
			ty_tl_wake(us, 0, 0, TY_EVF_HARDIRQ, 55, 0);
			ty_tl_switch(us + 5, 0, 0, 0, 55);
			ty_tl_leave(us + 10, 0, 55, NR_FSYNC);
			if (stall)
				ms += 2000;
		}
		m = ty_tl_built();
		in = ty_tl_input(m);
		t = ty_tl_open(&in);
		s = strstr(ty_tl_frame(t, &ty_tl_utf8, 60, 24), "busy");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		if (pass)
			assert_non_null(strstr(s, "\xe2\x95\x90"));
		else
			assert_null(strstr(s, "\xe2\x95\x90"));
		free((void *)s);
		/* and among the system calls, with and without UTF-8 */
		s = strstr(ty_tl_frame(t, &ty_tl_utf8, 60, 24), "syscalls");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		assert_true(!strstr(s, "\xe2\x96\xa0") == !pass);
		free((void *)s);
		s = strstr(ty_tl_frame(t, &ty_tl_ascii, 60, 24), "syscalls");
		assert_non_null(s);
		s = strndup(s, strcspn(s, "\n"));
		assert_true(!strchr(s, '=') == !pass);
		free((void *)s);
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

/* A switch that was never delivered cuts a run, but does not hide the state of its cell; an event
 * that was lost is marked on the CPU that lost it, and there only. */
static void only_lost_events_are_exclamation_marks(void **state)
{
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};
	struct ty_event gap = {0};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;

	for (int lost = 0; lost < 2; lost++) {
		const char *s, *cpu0, *cpu1;
		bool unknown = false;

		ty_tl_build(&facts);
		ty_tl_switch(0, 0, 0, 0, 55);
		for (uint64_t ms = 1; ms < 1000; ms += 2) {
			/* 55 leaves; 56 is there although no switch to it is recorded */
			ty_tl_switch(ms * 1000, 0, ms % 10 == 1 ? 56 : 55, TY_TASK_INTERRUPTIBLE,
				     0);
			ty_tl_wake(ms * 1000 + 500, 0, 0, TY_EVF_HARDIRQ, 55, 0);
			ty_tl_switch(ms * 1000 + 505, 0, 0, 0, 55);
			if (lost && ms == 501) {
				gap.u.gap.from_ns = START + 500 * MS;
				gap.u.gap.count = 3;
				ty_tl_feed(gap, 501600, 1, 0, TY_EV_GAP);
			}
		}
		m = ty_tl_built();
		for (uint32_t i = 0; i < ty_model_cpu_spans(m, 0); i++)
			unknown |= ty_model_cpu_span(m, 0, i).state == TY_ST_UNKNOWN;
		assert_true(unknown); /* else nothing is tested here */
		in = ty_tl_input(m);
		t = ty_tl_open(&in);
		s = ty_tl_frame(t, &ty_tl_utf8, 80, 24);
		cpu0 = strstr(s, "CPU 0");
		cpu1 = strstr(s, "CPU 1");
		assert_true(cpu0 && cpu1);
		assert_null(memchr(cpu0, '!', strcspn(cpu0, "\n")));
		assert_true(!memchr(cpu1, '!', strcspn(cpu1, "\n")) == !lost);
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

/* The index says what a walk over all gaps says. */
static void gaps_are_found(void **state)
{
	struct ty_build_facts facts = {.cpus = 4, .long_size = 8, .arch = "x86_64"};
	const struct ty_gap_span *v;
	struct ty_gaps g;
	struct ty_model *m;
	struct ty_err err = {0};
	unsigned seed = 7;
	uint32_t n;

	ty_tl_build(&facts);
	for (uint64_t us = 1000; us < 60000; us += 100) {
		struct ty_event gap = {0};

		gap.u.gap.count = 1;
		gap.u.gap.from_ns = START + (us - (uint64_t)(rand_r(&seed) % 900)) * 1000;
		ty_tl_feed(gap, us, (uint32_t)(rand_r(&seed) % 4), 0, TY_EV_GAP);
	}
	m = ty_tl_built();
	v = ty_model_gaps(m, &n);
	assert_true(n > 100);
	assert_int_equal(ty_gaps_init(&g, m, &err), 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t from = START + (uint64_t)(rand_r(&seed) % 70000) * 1000;
		uint64_t to = from + (uint64_t)(rand_r(&seed) % 400) * 1000;
		uint32_t cpu = i % 3 ? (uint32_t)(rand_r(&seed) % 5) : TY_NONE;
		bool want = false;

		for (uint32_t k = 0; k < n; k++)
			want |= v[k].from_ns <= to && v[k].to_ns >= from &&
				(cpu == TY_NONE || v[k].cpu == cpu);
		assert_int_equal(ty_gaps_touch(&g, from, to, cpu), want);
	}
	ty_gaps_fini(&g);
	ty_model_free(m);
}

/* The glyph of [from, to) of a CPU. */
static struct ty_glyph glyph_of(const struct ty_palette *p, const struct ty_model *m,
				const struct ty_gaps *gaps, uint32_t cpu, uint64_t from,
				uint64_t to)
{
	struct ty_track track = {.kind = TY_TRACK_CPU, .id = cpu};
	struct ty_cell c;

	ty_model_cells(m, track, from, to, 1, &c);
	return ty_glyph_cell(p, m, gaps, track, &c, from, to);
}

/* Lost, not known, inferred: by shape unlike everything else and each other in every mode, and lost
 * by its style, too, wherever there are styles. */
static void every_mode_tells_what_is_not_known(void **state)
{
	struct ty_build_facts facts = {.cpus = 2,
				       .long_size = 8,
				       .arch = "x86_64",
				       .machine = "mode=all\nno_idle_switch=0\n"};
	struct ty_event gap = {0};
	struct ty_span inferred = {0};
	struct ty_gaps gaps;
	struct ty_model *m;
	struct ty_err err = {0};

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, 55);
	ty_tl_switch(1000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	ty_tl_wake(5000, 0, 0, TY_EVF_HARDIRQ, 55, 0);
	ty_tl_switch(9000, 0, 55, TY_TASK_INTERRUPTIBLE, 0);
	gap.u.gap.from_ns = START + 20 * MS;
	gap.u.gap.count = 3;
	ty_tl_feed(gap, 30000, 1, 0, TY_EV_GAP);
	ty_tl_switch(40000, 0, 0, 0, 55);
	m = ty_tl_built();
	assert_int_equal(ty_gaps_init(&gaps, m, &err), 0);
	for (uint32_t i = 0; i < ty_model_cpu_spans(m, 0); i++)
		if (ty_model_cpu_span(m, 0, i).flags & TY_SF_INFERRED)
			inferred = ty_model_cpu_span(m, 0, i);
	assert_true(inferred.end_ns > inferred.start_ns);
	for (unsigned k = 0; k < 4u * (TY_COLOR_TRUE + 1); k++) {
		struct ty_palette p = {
			.mode = (enum ty_color_mode)(k / 4), .utf8 = k & 1, .light = k & 2};
		struct ty_glyph sign[] = {
			glyph_of(&p, m, &gaps, 1, START + 19 * MS, START + 31 * MS),
			ty_glyph_state(&p, TY_ST_UNKNOWN),
			glyph_of(&p, m, &gaps, 0, inferred.start_ns, inferred.end_ns)};
		char lost[TY_SGR_MAX], other[TY_SGR_MAX];

		assert_int_equal(sign[0].ch, '!');
		ty_palette_sgr(&p, sign[0].st, lost);
		for (unsigned i = 0; i < 3; i++) {
			for (unsigned j = 0; j < i; j++)
				assert_int_not_equal(sign[i].ch, sign[j].ch);
			for (unsigned e = 0; e <= 8; e++)
				assert_int_not_equal(sign[i].ch,
						     ty_glyph_bar(&p, e, TY_C_RUNNING).ch);
			for (unsigned s = 0; s < TY_ST_COUNT; s++) {
				struct ty_glyph g = ty_glyph_state(&p, (enum ty_state)s);

				if (s != TY_ST_UNKNOWN || i != 1)
					assert_int_not_equal(sign[i].ch, g.ch);
				if (p.mode > TY_COLOR_NONE)
					assert_string_not_equal(lost,
								ty_palette_sgr(&p, g.st, other));
			}
		}
	}
	ty_gaps_fini(&gaps);
	ty_model_free(m);
}

/* The line of a frame that begins with a row's name; until the next one. */
static char *line_of(struct ty_timeline *t, const struct ty_palette *p, int w, const char *name)
{
	static char line[2000];
	const char *s = strstr(ty_tl_frame(t, p, w, 40), name);

	assert_non_null(s);
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(s, "\n"), s);
	return line;
}

/* Where a thread may have made calls that were lost, its row of calls says so, whatever else is
 * recorded there; while it ran on a CPU that lost nothing the row is as it was. (A sleeper may have
 * been woken and have slept again.) */
static void lost_calls_are_marked(void **state)
{
	/* what 55 does from 100 to 900 ms while CPU 1 loses events of 400 to 500 ms */
	static const struct {
		uint32_t cpu;
		bool sleeps, calls, lost;
	} cases[] = {{0, false, false, false}, {1, false, false, true}, {1, false, true, true},
		     {0, true, false, true},   {1, true, false, true},	{0, false, true, false}};
	struct ty_build_facts facts = {.cpus = 2, .long_size = 8, .arch = "x86_64"};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_event gap = {0};
		uint32_t cpu = cases[i].cpu;
		struct ty_view_input in;
		struct ty_timeline *t;
		struct ty_model *m;
		char *s;

		ty_tl_build(&facts);
		ty_tl_switch(0, 0, 0, 0, cpu ? 0 : 55);
		ty_tl_switch(1, 1, 0, 0, cpu ? 55 : 0);
		ty_tl_enter(100, cpu, 55, NR_FSYNC);
		ty_tl_leave(200, cpu, 55, NR_FSYNC);
		for (uint64_t us = 100000; us < 900000; us += 2000) {
			if (cases[i].calls && (us < 390000 || us > 510000)) {
				ty_tl_enter(us, cpu, 55, NR_FSYNC);
				ty_tl_leave(us + 1000, cpu, 55, NR_FSYNC);
			}
			if (cases[i].sleeps && us == 200000) {
				ty_tl_enter(us, cpu, 55, NR_NANOSLEEP);
				ty_tl_switch(us + 1, cpu, 55, TY_TASK_INTERRUPTIBLE, 0);
			}
			if (us == 500000) {
				gap.u.gap.from_ns = START + 400 * MS;
				gap.u.gap.count = 7;
				ty_tl_feed(gap, us, 1, 0, TY_EV_GAP);
			}
			if (cases[i].sleeps && us == 700000) {
				ty_tl_wake(us, cpu, 0, TY_EVF_HARDIRQ, 55, (int)cpu);
				ty_tl_switch(us + 5, cpu, 0, 0, 55);
				ty_tl_leave(us + 10, cpu, 55, NR_NANOSLEEP);
			}
		}
		ty_tl_switch(990000, cpu, 55, TY_TASK_INTERRUPTIBLE, 0);
		ty_tl_switch(999000, 0, 0, 0, 56);
		m = ty_tl_built();
		in = ty_tl_input(m);
		t = ty_tl_open(&in);
		s = line_of(t, &ty_tl_ascii, 120, "syscalls");
		if (!strchr(s, '!') == cases[i].lost)
			fail_msg("case %u: %s", i, s);
		/* always in the overview */
		assert_non_null(strchr(line_of(t, &ty_tl_ascii, 120, "overview"), '!'));
		if (cases[i].lost && !cases[i].sleeps) {
			uint32_t row = ty_tracks_find(&t->tracks, TY_ROW_SYSCALLS,
						      ty_model_thread_find(m, 55, START));

			assert_int_not_equal(row, TY_NONE);
			t->row = row;
			t->cursor_ns = START + 450 * MS;
			assert_non_null(
				strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 40), "events were lost"));
		}
		ty_timeline_free(t);
		ty_model_free(m);
	}
}

/* A head of thousands of threads is added up in slices, and shows nothing before it is whole. */
static void big_heads_are_added_up(void **state)
{
	enum { MEMBERS = 1500, LEADER = 1000 };
	static const char threads[] = "taken 999999000000 999999900000\n"
				      "1000\t1000\t1\t5\tR\t0\t0\t0\t-\t-\t-\t-\tbusy\n";
	struct ty_build_facts facts = {
		.cpus = 1, .long_size = 8, .arch = "x86_64", .threads = threads};
	struct ty_view_input in;
	struct ty_timeline *t;
	struct ty_model *m;
	const struct ty_head *h = NULL;
	uint64_t sum = 0, want = 0;
	const uint32_t *ids;
	unsigned slices = 0;
	size_t rows;
	uint32_t n;
	uint8_t kind;

	ty_tl_build(&facts);
	ty_tl_switch(0, 0, 0, 0, LEADER);
	for (int i = 1; i < MEMBERS; i++) {
		struct ty_event ev = {0};

		ev.u.newtask.tid = LEADER + i;
		ev.u.newtask.clone_flags = 0x10000 | 0x100;
		snprintf(ev.u.newtask.comm, sizeof(ev.u.newtask.comm), "busy");
		ty_tl_feed(ev, (uint64_t)i, 0, LEADER, TY_EV_NEWTASK);
	}
	ty_tl_switch(5000, 0, LEADER, TY_TASK_INTERRUPTIBLE, 0);
	for (int i = 1; i < MEMBERS; i++) {
		ty_tl_switch(5000 + (uint64_t)i * 100, 0, 0, 0, LEADER + i);
		ty_tl_switch(5030 + (uint64_t)i * 100, 0, LEADER + i, TY_TASK_INTERRUPTIBLE, 0);
	}
	m = ty_tl_built();
	in = ty_tl_input(m);
	t = ty_tl_open(&in);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 40), "1500 threads: computing"));
	while (ty_timeline_ops.wait_ms(t) >= 0) {
		ty_timeline_ops.work(t);
		assert_true(++slices < 10000);
	}
	assert_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 40), "computing"));
	assert_int_equal(ty_timeline_ops.wait_ms(t), -1);
	for (size_t i = 0; i < t->heads.v.n; i++)
		if (t->heads.v.v[i].n == MEMBERS)
			h = &t->heads.v.v[i];
	assert_non_null(h);
	for (uint32_t i = 0; i < h->cells; i++)
		sum += h->ran_ns[i];
	for (uint32_t i = 0; i < ty_model_summary(m)->threads; i++) {
		struct ty_track track = {.kind = TY_TRACK_THREAD, .id = i};
		struct ty_cell c;

		ty_model_cells(m, track, t->vp.from_ns, t->vp.to_ns, 1, &c);
		want += c.ns[TY_ST_RUNNING];
	}
	assert_int_equal(sum, want);
	/* of so many threads the less relevant ones are one row; a jump brings one of them up */
	assert_int_not_equal(ty_tracks_find(&t->tracks, TY_ROW_MORE, 0), TY_NONE);
	assert_in_range(t->tracks.rows.n, 10, 20);
	assert_int_equal(ty_tracks_find(&t->tracks, TY_ROW_THREAD, 700), TY_NONE);
	rows = t->tracks.rows.n;
	ty_timeline_visit(t, 700, t->cursor_ns);
	assert_int_equal(t->tracks.rows.v[t->row].id, 700);
	assert_int_equal(t->tracks.rows.n, rows + 1);
	t->row = ty_tracks_find(&t->tracks, TY_ROW_MORE, 0);
	/* and its row's bar is that of the others, as is its number */
	assert_true(ty_tracks_members(&t->tracks, &t->tracks.rows.v[t->row], &kind, &ids, &n));
	assert_int_equal(n, MEMBERS - 8 - 1);
	assert_int_equal(n, t->tracks.processes.v[0].more_n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_not_equal(ids[i], 700);
	/* a thread with a finding may be among so many */
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 160, 40), "1491 further threads"));
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_true(t->tracks.rows.n >= MEMBERS);
	ty_timeline_ops.act(t, TY_ACT_FOLD);
	assert_int_equal(t->tracks.rows.n, rows + 1);
	/* another window: added up anew, input first */
	ty_timeline_ops.act(t, TY_ACT_ZOOM_IN);
	assert_non_null(strstr(ty_tl_frame(t, &ty_tl_utf8, 120, 40), "computing"));
	ty_timeline_free(t);
	ty_model_free(m);
}

/* The name of the thread is on the runs of a CPU that have the room, and neighbours differ. */
static void runs_are_named(void **state)
{
	struct ty_model *m = ty_tl_stall();
	struct ty_view_input in = ty_tl_input(m);
	struct ty_timeline *t = ty_tl_open(&in);
	const struct ty_palette color = {.mode = TY_COLOR_256, .utf8 = true};
	struct ty_track cpu = {.kind = TY_TRACK_CPU, .id = 1};
	struct ty_gaps none = {0};
	struct ty_glyph a, b, both;
	struct ty_cell c;

	assert_non_null(strstr(line_of(t, &ty_tl_utf8, 200, "CPU 1"), " backup/101 "));
	assert_non_null(strstr(line_of(t, &ty_tl_ascii, 200, "CPU 1"), "R backup/101 R"));
	/* backup until 2000 ms, then the kernel thread */
	ty_model_cells(m, cpu, START + 1990 * MS, START + 1999 * MS, 1, &c);
	a = ty_glyph_cell(&color, m, &none, cpu, &c, START + 1990 * MS, START + 1999 * MS);
	ty_model_cells(m, cpu, START + 2001 * MS, START + 2010 * MS, 1, &c);
	b = ty_glyph_cell(&color, m, &none, cpu, &c, START + 2001 * MS, START + 2010 * MS);
	ty_model_cells(m, cpu, START + 1996 * MS, START + 2012 * MS, 1, &c);
	both = ty_glyph_cell(&color, m, &none, cpu, &c, START + 1996 * MS, START + 2012 * MS);
	assert_int_equal(a.ch, b.ch);
	assert_int_not_equal(a.st.fg, b.st.fg);
	assert_int_equal(both.ch, 0x258e); /* two eighths */
	assert_int_equal(both.st.fg, a.st.fg);
	assert_int_equal(both.st.bg, b.st.fg);
	both = ty_glyph_cell(&ty_tl_utf8, m, &none, cpu, &c, START + 1996 * MS, START + 2012 * MS);
	assert_int_equal(both.ch, 0x2503);
	ty_timeline_free(t);
	ty_model_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stall_keeps_its_sign),
		cmocka_unit_test(only_lost_events_are_exclamation_marks),
		cmocka_unit_test(lost_calls_are_marked),
		cmocka_unit_test(big_heads_are_added_up),
		cmocka_unit_test(runs_are_named),
		cmocka_unit_test(gaps_are_found),
		cmocka_unit_test(every_mode_tells_what_is_not_known),
	};

	ty_tl_locale();
	return cmocka_run_group_tests_name("timeline_signs", tests, NULL, NULL);
}
