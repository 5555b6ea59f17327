/* SPDX-License-Identifier: MIT */
/* Models from small hand-written event streams, and tracks as text for comparison. */
#ifndef TY_FIXTURE_MODEL_H
#define TY_FIXTURE_MODEL_H

#include "build.h"

enum { S = TY_TASK_INTERRUPTIBLE, D = TY_TASK_UNINTERRUPTIBLE, R = 0, RP = TY_TASK_PREEMPTED };

/* One model at a time. machine, threads: section texts or NULL. */
void ty_mx_begin(const char *machine, const char *threads);
/* The same with what the recorder noted of itself. */
void ty_mx_begin_self(const char *machine, const char *threads, const char *self);
void ty_mx_feed(struct ty_event ev);
const struct ty_model *ty_mx_end(void);
void ty_mx_drop(void); /* the model, and a builder that was not ended */

/* Each on a CPU at a time, as the kernel would emit it. */
void ty_mx_switch(unsigned cpu, uint64_t ts, int prev, uint64_t state, int next);
void ty_mx_waking(unsigned cpu, uint64_t ts, int current, int target, int target_cpu);
void ty_mx_waking_irq(unsigned cpu, uint64_t ts, int current, int target, int target_cpu);
void ty_mx_event(unsigned cpu, uint64_t ts, int current, int kind); /* no payload */
void ty_mx_enter(unsigned cpu, uint64_t ts, int tid, int64_t nr);
void ty_mx_exit(unsigned cpu, uint64_t ts, int tid, int64_t nr, int64_t ret);
void ty_mx_fork(unsigned cpu, uint64_t ts, int parent, int child, uint64_t clone_flags);
void ty_mx_gap(unsigned cpu, uint64_t from, uint64_t to, uint64_t count);

/*
 * The track as "R0-10 S10-20~ ..."; after each span: < before, > open, ! lost, ~ inferred,
 * + preempted, y yield, n new, s snapshot; RUNNING and RUNNABLE with the CPU as R@1. Static.
 */
const char *ty_mx_thread(int tid, unsigned gen);
const char *ty_mx_cpu(unsigned cpu);
/* Every promise of model.h that holds for any input; fails the test. */
void ty_mx_check(const struct ty_model *m);

#endif
