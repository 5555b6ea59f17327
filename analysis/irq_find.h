/* SPDX-License-Identifier: MIT */
/* Finds the interrupts of a CPU around a time. They are sorted by begin, and nest. */
#ifndef TY_IRQ_FIND_H
#define TY_IRQ_FIND_H

#include <stdint.h>

#include "model.h"

/* First interrupt of the CPU that ends after t, among those that begin later or up to 8 before. */
uint32_t ty_irq_after(const struct ty_model *m, uint32_t cpu, uint64_t t_ns);

#endif
