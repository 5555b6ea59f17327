/* SPDX-License-Identifier: MIT */
/*
 * The row of a CPU's interrupts: handlers, softirqs and vectors, which nest. The model has no zoom
 * forest over them, so a cell that holds more than TY_IRQ_WALK is summed up from an even sample of
 * them: how many there are is exact then, how much time they took is not, and details say so.
 */
#ifndef TY_IRQS_H
#define TY_IRQS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* A kind of track beside enum ty_track_kind; id: CPU. The model's cells do not know it. */
#define TY_TRACK_IRQS 16

/* Spans of a cell that are looked at one by one. */
#define TY_IRQ_WALK 32

/* First interrupt of the CPU that begins at t or later; ty_model_irq_spans() when there is none. */
uint32_t ty_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);

/*
 * The cell [from, to) of a CPU's interrupts, as ty_model_cells has it: ns[RUNNING] is the time in
 * interrupts (each nanosecond once, however deep they nest), longest the one that covers most of
 * it, the innermost when several do. Returns true when time and longest are those of a sample.
 */
bool ty_irq_cell(const struct ty_model *m, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		 struct ty_cell *out);

/* "interrupt virtio0-req (24)", "softirq TIMER", "vector call_function (251)"; returns out. */
#define TY_IRQ_NAME_MAX 96
const char *ty_irq_name(const struct ty_model *m, const struct ty_irq_span *s,
			char out[TY_IRQ_NAME_MAX]);

#endif
