/* SPDX-License-Identifier: MIT */
/* See findings.h. */
#include "findings_priv.h"
#include "shell_word.h"

int ty_findings_find(const struct ty_explain *x, const struct ty_window *w,
		     const struct ty_answer *answer, const struct ty_requests *requests,
		     struct ty_findings *out)
{
	struct ty_finding_work k = {
		.x = x, .w = w, .answer = answer, .requests = requests, .out = out};
	int r;

	out->n = 0;
	k.wall_ns = answer->end_ns - answer->start_ns;
	/* What was waited for a CPU is a finding of its own, and makes no call cheaper. */
	if (answer->of == TY_ANSWER_COMMAND)
		k.wall_ns -= answer->part_ns[TY_PART_RUNNABLE];
	if (!k.wall_ns)
		return 0;
	r = ty_findings_of_calls(&k);
	if (!r)
		r = ty_findings_of_children(&k);
	if (!r && requests)
		r = ty_findings_of_requests(&k);
	if (!r)
		ty_findings_of_cpus(&k);
	for (uint32_t i = 0; i < out->n && x->file; i++)
		ty_shell_name_file(out->v[i].next, sizeof(out->v[i].next), x->file);
	return r;
}
