/* SPDX-License-Identifier: MIT */
/* A program that calls a function in a loop, executed on the machine of pt_machine.h, and its flow.
 * Included behind cmocka.h. */
#ifndef TY_FIXTURE_LOOP_H
#define TY_FIXTURE_LOOP_H

#include "flow_names.h"
#include "pt_machine.h"

#define BASE 0x400000ull
enum { TID = 7, LOOPS = 5 };

struct loop {
	struct pm m;
	struct pm_block call, again, leave, work;
	struct ty_buf elf;
	struct ty_flow *flow;
	struct ty_flow_names *names;
};

/* main calls work LOOPS times, and leaves by an indirect jump to itself. */
static inline void loop_open(struct loop *l)
{
	const struct ty_pt_cpu cpu = {.mtc_freq = PM_MTC_FREQ,
				      .nom_freq = PM_NOM_FREQ,
				      .cpuid_15_eax = 1,
				      .cpuid_15_ebx = PM_TSC_CTC};
	struct ty_code *c;

	memset(l, 0, sizeof(*l));
	pm_init(&l->m, BASE, (struct pm_options){.cyc = true, .tsc = 1000000});
	pm_function(&l->m, "main");
	l->call = pm_block(&l->m, PM_CALL, 2, 0);
	l->again = pm_block(&l->m, PM_COND, 1, l->call.ip);
	l->leave = pm_block(&l->m, PM_INDIRECT_JUMP, 0, 0);
	pm_function(&l->m, "work");
	l->work = pm_block(&l->m, PM_RETURN, 4, 0);
	pm_aim(&l->m, &l->call, l->work.ip);
	pm_start(&l->m, l->call.ip);
	for (unsigned i = 0; i < LOOPS; i++) {
		pm_run(&l->m, &l->call, 0);
		pm_run(&l->m, &l->work, 0);
		pm_run(&l->m, &l->again, i + 1 < LOOPS);
	}
	pm_run(&l->m, &l->leave, l->call.ip);
	pm_stop(&l->m);
	ty_buf_init(&l->elf, SIZE_MAX / 2);
	pm_elf(&l->m, &l->elf);
	l->flow = ty_flow_new(NULL, NULL);
	c = ty_flow_code(l->flow);
	assert_int_equal(0, ty_flow_thread(l->flow, TID, TID));
	assert_int_equal(0,
			 ty_code_map_elf(c, TID, 0, 0,
					 ty_code_blob(c, "program", l->elf.p, l->elf.len), NULL));
	ty_flow_set_cpu(l->flow, &cpu);
	ty_flow_set_time(l->flow, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(l->flow, -1, TID, 0, l->m.out.p, l->m.out.len, 0));
	assert_int_equal(0, ty_flow_start(l->flow, NULL));
	l->names = ty_flow_names_new(c);
}

static inline void loop_close(struct loop *l)
{
	ty_flow_names_free(l->names);
	ty_flow_free(l->flow);
	ty_buf_fini(&l->elf);
	pm_fini(&l->m);
}

#endif
