/* SPDX-License-Identifier: MIT */
/* See irq_find.h. Budget: log(interrupts). */
#include "irq_find.h"

/* Nested ones end before what they interrupted: so many that began before are searched. */
#define NESTED 8

uint32_t ty_irq_after(const struct ty_model *m, uint32_t cpu, uint64_t t)
{
	uint32_t at = ty_model_irq_at(m, cpu, t), first = at;

	for (uint32_t k = at; k && at - k < NESTED; k--)
		if (ty_model_irq_span(m, cpu, k - 1).end_ns > t)
			first = k - 1;
	return first;
}
