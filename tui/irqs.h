/* SPDX-License-Identifier: MIT */
/* A CPU's interrupts: handlers, softirqs and vectors, which nest. */
#ifndef TY_IRQS_H
#define TY_IRQS_H

#include <stdbool.h>
#include <stdint.h>

#include "model.h"

/* First interrupt of the CPU that begins at t or later; ty_model_irq_spans() when there is none. */
uint32_t ty_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);

/* "interrupt virtio0-req (24)", "softirq TIMER", "vector call_function (251)"; returns out. */
#define TY_IRQ_NAME_MAX 96
const char *ty_irq_name(const struct ty_model *m, const struct ty_irq_span *s,
			char out[TY_IRQ_NAME_MAX]);

#endif
