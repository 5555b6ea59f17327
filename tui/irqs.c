/* SPDX-License-Identifier: MIT */
#include "irqs.h"

#include <stdio.h>
#include <string.h>

uint32_t ty_irq_at(const struct ty_model *m, uint32_t cpu, uint64_t t)
{
	uint32_t lo = 0, hi = ty_model_irq_spans(m, cpu);

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ty_model_irq_span(m, cpu, mid).start_ns < t)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const char *ty_irq_name(const struct ty_model *m, const struct ty_irq_span *s,
			char out[TY_IRQ_NAME_MAX])
{
	const char *name = ty_model_str(m, s->name);

	if (s->kind == 1)
		snprintf(out, TY_IRQ_NAME_MAX, "softirq %.60s", name);
	else
		snprintf(out, TY_IRQ_NAME_MAX, "%s %.60s (%u)", s->kind ? "vector" : "interrupt",
			 name && *name ? name : "?", s->vec);
	return out;
}
