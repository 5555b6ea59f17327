/* SPDX-License-Identifier: MIT */
/* Interrupts of a CPU around a point in time, nested ones included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fixture_model.h"
#include "irq_find.h"

static void irq(unsigned kind, uint64_t ts)
{
	struct ty_event ev = {.ts_ns = ts, .cpu = 1, .tid = 5, .kind = kind, .id = 9};

	if (kind == TY_EV_IRQ_ENTRY || kind == TY_EV_IRQ_EXIT)
		ev.u.irq.name = "eth0";
	ty_mx_feed(ev);
}

/* On CPU 1: 100-200 with 120-140 inside it, and 300-310. */
static const struct ty_model *model(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_switch(1, 10, 0, R, 5);
	irq(TY_EV_IRQ_ENTRY, 100);
	irq(TY_EV_SOFTIRQ_ENTRY, 120);
	irq(TY_EV_SOFTIRQ_EXIT, 140);
	irq(TY_EV_IRQ_EXIT, 200);
	irq(TY_EV_IRQ_ENTRY, 300);
	irq(TY_EV_IRQ_EXIT, 310);
	ty_mx_switch(1, 400, 5, S, 0);
	return ty_mx_end();
}

static void the_first_that_begins(void **state)
{
	const struct ty_model *m = model();

	assert_int_equal(ty_model_irq_spans(m, 1), 3);
	assert_int_equal(ty_model_irq_at(m, 1, 0), 0);
	assert_int_equal(ty_model_irq_at(m, 1, 100), 0);
	assert_int_equal(ty_model_irq_at(m, 1, 101), 1);
	assert_int_equal(ty_model_irq_at(m, 1, 121), 2);
	assert_int_equal(ty_model_irq_at(m, 1, 301), 3);
	assert_int_equal(ty_model_irq_at(m, 0, 0), ty_model_irq_spans(m, 0));
	ty_mx_drop();
}

static void the_first_that_ends(void **state)
{
	const struct ty_model *m = model();

	/* The outer one is still running after the inner one ended. */
	assert_int_equal(ty_irq_after(m, 1, 150), 0);
	assert_int_equal(ty_irq_after(m, 1, 130), 0);
	assert_int_equal(ty_irq_after(m, 1, 199), 0);
	assert_int_equal(ty_irq_after(m, 1, 200), 2);
	assert_int_equal(ty_irq_after(m, 1, 309), 2);
	assert_int_equal(ty_irq_after(m, 1, 310), 3);
	ty_mx_drop();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_that_begins),
		cmocka_unit_test(the_first_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
