/* SPDX-License-Identifier: MIT */
/*
 * Code that is written anew at the same addresses, to and fro, and then is not mapped any more, in
 * two processes with code of their own: what was remembered of it (flow_blocks.h, flow_memo.h)
 * holds for its time and its process only. Counting against the machine of pt_machine.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "flow_names.h"
#include "flow_priv.h"
#include "pt_conf.h"
#include "pt_machine.h"

#define BASE 0x400000ull
enum { PAGE = 4096, PROCESSES = 2, VERSIONS = 6, ROUNDS = 300 };

#ifdef TY_HAVE_IPT

static uint64_t fill_up_to(struct pm *m, size_t len)
{
	while (m->code.len < len)
		assert_int_equal(0, ty_buf_addc(&m->code, 0x90));
	return pm_here(m);
}

/* Lays out a loop at BASE, and in the next two pages what it calls and what it jumps to, and goes
 * through them; the code, which is the caller's. */
static struct ty_buf version(struct pm *m, unsigned fillers)
{
	struct pm_block loop, call, called, ret, jump, there, back, test;
	struct ty_buf code;

	ty_buf_init(&code, SIZE_MAX / 2);
	m->code.len = 0;
	m->seed = 1;
	loop = pm_block(m, PM_COND, 2, BASE);
	call = pm_block(m, PM_CALL, 3, 0);
	called = pm_block(m, PM_INDIRECT_CALL, 1, 0);
	jump = pm_block(m, PM_INDIRECT_JUMP, 1, 0);
	pm_aim(m, &call, fill_up_to(m, PAGE));
	test = pm_block(m, PM_COND, fillers, 0);
	ret = pm_block(m, PM_RETURN, 1, 0);
	pm_aim(m, &test, ret.ip);
	fill_up_to(m, 2 * PAGE);
	there = pm_block(m, PM_COND, fillers, 0);
	back = pm_block(m, PM_INDIRECT_JUMP, 1, 0);
	pm_aim(m, &there, back.ip);
	assert_int_equal(0, ty_buf_add(&code, m->code.p, m->code.len));
	m->cycles256 += 1 << 20;
	m->stack.n = 0;
	pm_start(m, BASE);
	for (unsigned i = 0; i < ROUNDS; i++) {
		for (unsigned k = 0; k < 10; k++)
			pm_run(m, &loop, k < 9);
		pm_run(m, &call, 0);
		pm_run(m, &test, i % 3 == 0);
		pm_run(m, &ret, 0);
		pm_run(m, &called, test.ip);
		pm_run(m, &test, i % 3 == 0);
		pm_run(m, &ret, 0);
		pm_run(m, &jump, there.ip);
		pm_run(m, &there, i % 3 == 0);
		pm_run(m, &back, BASE);
	}
	pm_stop(m);
	return code;
}

/* Adds the versions of a process with a thread; how many of its instructions are known. */
static uint64_t add_process(struct ty_flow *f, struct pm *m, int32_t pid, unsigned fillers,
			    struct ty_buf *code)
{
	struct ty_code *c = ty_flow_code(f);
	uint64_t known = 0;

	for (unsigned i = 0; i < VERSIONS; i++) {
		const size_t psb = m->out.len;
		const bool mapped = i + 1 < VERSIONS;
		uint64_t tsc = 0;
		int file;

		code[i] = version(m, fillers - i % 2);
		memcpy(&tsc, m->out.p + psb + 17, 7);
		file = mapped ? ty_code_blob(c, "version", code[i].p, code[i].len)
			      : ty_code_file(c, "gone", NULL, 0);
		/* The loop stays until all is gone. */
		assert_int_equal(0, ty_code_map(c, pid, tsc, BASE + PAGE, 2 * PAGE, PAGE, file));
		if (!i || !mapped)
			assert_int_equal(0, ty_code_map(c, pid, tsc, BASE, PAGE, 0, file));
		known = mapped ? m->insns : known;
	}
	assert_int_equal(0, ty_flow_thread(f, pid, pid));
	assert_int_equal(0, ty_flow_add(f, -1, pid, 0, m->out.p, m->out.len, 0));
	return known;
}

static void test_rewritten(void **state)
{
	const struct pm_options o = {.return_compression = true, .tsc = 1000000};
	const struct ty_pt_cpu cpu = {.nom_freq = PM_NOM_FREQ};
	const struct ty_flow_window all = {.to_ns = UINT64_MAX};
	struct ty_flow_count count = {.extent_of = ty_flow_names_extent};
	struct ty_flow *f = ty_flow_new(NULL, NULL);
	struct ty_buf code[PROCESSES][VERSIONS];
	uint64_t known[PROCESSES];
	struct pm m[PROCESSES];
	struct ty_flow_at at;

	if (!ty_pt_available())
		skip();
	/* So little that one thread reads it all, and remembers it. */
	ty_flow_set_memory(f, 16 << 20);
	for (unsigned i = 0; i < PROCESSES; i++) {
		pm_init(&m[i], BASE, o);
		known[i] = add_process(f, &m[i], 1 + (int32_t)i, 4 + 4 * i, code[i]);
	}
	ty_flow_set_cpu(f, &cpu);
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_start(f, NULL));
	count.ctx = ty_flow_names_new(ty_flow_code(f));
	/* Counted twice: the second time, what is remembered is of a later time. */
	for (unsigned way = 0; way < 4; way++) {
		uint64_t counted[PROCESSES] = {0}, gaps[PROCESSES] = {0};

		f->by_libipt = way == 3;
		assert_int_equal(0, way % 3 ? ty_flow_seek_runs(f, &all, &count, NULL)
					    : ty_flow_seek(f, &all, false, NULL));
		while (ty_flow_next(f, &at) > 0) {
			counted[at.pid - 1] += at.item.kind == TY_FLOW_RUN
						       ? at.item.value
						       : at.item.kind == TY_FLOW_INSN;
			gaps[at.pid - 1] += at.item.kind == TY_FLOW_GAP;
			assert_true(at.item.kind != TY_FLOW_GAP ||
				    (at.item.flags & TY_FF_NO_CODE && at.item.ip == BASE));
		}
		for (unsigned i = 0; i < PROCESSES; i++) {
			assert_int_equal(known[i], counted[i]);
			assert_true(gaps[i]);
		}
	}
	ty_flow_free(f);
	ty_flow_names_free(count.ctx);
	for (unsigned i = 0; i < PROCESSES; i++) {
		for (unsigned k = 0; k < VERSIONS; k++)
			ty_buf_fini(&code[i][k]);
		pm_fini(&m[i]);
	}
}

#else

static void test_rewritten(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewritten)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
