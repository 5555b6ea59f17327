/* SPDX-License-Identifier: MIT */
/* A small machine: two threads on one CPU, a waker on another. */
#ifndef TY_FIXTURE_TWO_CPUS_H
#define TY_FIXTURE_TWO_CPUS_H

#include "fixture_model.h"

/* 5 and 6 take turns on CPU 0; 5 is woken by 7 on CPU 1. */
static inline const struct ty_model *turns(void)
{
	ty_mx_begin("mode=all\n", NULL);
	ty_mx_event(0, 0, 5, TY_EV_OTHER);
	ty_mx_event(1, 0, 7, TY_EV_OTHER);
	ty_mx_enter(0, 50, 5, 202); /* futex */
	ty_mx_switch(0, 100, 5, S, 6);
	ty_mx_waking(1, 1100, 7, 5, 0);
	ty_mx_switch(0, 1400, 6, RP, 5);
	ty_mx_exit(0, 1410, 5, 202, 0);
	ty_mx_switch(0, 1500, 5, D, 6);
	ty_mx_event(0, 2000, 6, TY_EV_OTHER);
	return ty_mx_end();
}

#endif
