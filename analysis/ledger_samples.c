/* SPDX-License-Identifier: MIT */
/* See ledger_samples.h. */
#include "ledger_samples.h"

#include <inttypes.h>
#include <stdio.h>

#include "base_name.h"
#include "cpu_gaps.h"
#include "hot_functions.h"
#include "ledger_rows.h"
#include "confidence_interval.h"

enum { SHOWN_LEAST = 2 }; /* samples of a function */

/* In user mode: on a CPU, in no call, where no calls were lost. */
static bool in_user_mode(const struct ty_book *b, const struct ty_cpu_gaps *gaps, uint32_t thread,
			 const struct ty_sample *s)
{
	const struct ty_model *m = b->x->m;
	const uint32_t span = ty_model_span_find(m, thread, s->ns),
		       call = ty_explain_call_after(m, thread, s->ns);
	const struct ty_cpu_gap *g =
		s->cpu == UINT16_MAX ? NULL : ty_cpu_gap_after(gaps, s->cpu, s->ns);

	return span != TY_NONE && ty_model_span_brief(m, thread, span).state == TY_ST_RUNNING &&
	       (call == TY_NONE || ty_model_syscall_brief(m, thread, call).start_ns > s->ns) &&
	       !(g && g->from_ns <= s->ns);
}

void ty_ledger_samples(struct ty_book *b, const struct ty_cpu_gaps *gaps, uint32_t thread,
		       uint64_t from_ns, uint64_t to_ns)
{
	const struct ty_samples *s = b->x->samples;
	const struct ty_thread *t = ty_model_thread(b->x->m, thread);
	size_t first, end;

	/* Of others the mode is not known (ledger.c). */
	if (!s || t->kernel || !t->syscalls_n)
		return;
	ty_samples_of_thread(s, t->tid, from_ns, to_ns, &first, &end);
	for (size_t i = first; i < end && !b->failed; i++) {
		const struct ty_sample *v = &s->v.v[s->by_thread.v[i]];

		if (in_user_mode(b, gaps, thread, v))
			ty_book_sample(b,
				       v->node ? s->frames.v[s->nodes.v[v->node].frame].func
					       : UINT32_MAX,
				       v->period);
	}
}

struct ty_ledger_share ty_ledger_share(const struct ty_samples *s, const struct ty_ledger_row *row,
				       uint32_t i)
{
	const struct ty_ledger_func *f = &row->func[i];
	const struct ty_sample_func *of = f->func == UINT32_MAX ? NULL : &s->funcs.v[f->func];
	struct ty_ledger_share out = {
		.function = of && of->name ? ty_samples_str(s, of->name) : NULL,
		.module = of && of->module ? ty_base_name(ty_samples_str(s, of->module)) : NULL};

	out.share = row->weight ? (double)f->weight / (double)row->weight : 0;
	ty_wilson(out.share, (double)row->samples, &out.low, &out.high);
	return out;
}

void ty_ledger_share_text(const struct ty_samples *s, const struct ty_ledger_row *row, uint32_t i,
			  char *out, size_t size)
{
	const struct ty_ledger_share v = ty_ledger_share(s, row, i);

	snprintf(out, size, "~%.0f%% (%.0f to %.0f%%, %u of %" PRIu64 " samples) %s%s%s%s",
		 100 * v.share, 100 * v.low, 100 * v.high, row->func[i].samples, row->samples,
		 v.function ? v.function : "[no symbol]", v.module ? " (" : "",
		 v.module ? v.module : "", v.module ? ")" : "");
}

uint32_t ty_ledger_shares_shown(const struct ty_ledger_row *row)
{
	uint32_t n = row->samples < TY_HOT_LEAST ? 0 : row->funcs_n;

	while (n > 1 && row->func[n - 1].samples < SHOWN_LEAST)
		n--;
	return n;
}
