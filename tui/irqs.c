/* SPDX-License-Identifier: MIT */
#include "irqs.h"

#include <stdio.h>

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
