/* SPDX-License-Identifier: MIT */
/* A CPU's interrupts: handlers, softirqs and vectors, which nest. */
#ifndef TY_IRQS_H
#define TY_IRQS_H

#include <stdbool.h>
#include <stdint.h>

#include "irq_find.h"

/* "interrupt virtio0-req (24)", "softirq TIMER", "vector call_function (251)"; returns out. */
#define TY_IRQ_NAME_MAX 96
const char *ty_irq_name(const struct ty_model *m, const struct ty_irq_span *s,
			char out[TY_IRQ_NAME_MAX]);

#endif
