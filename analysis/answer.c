/* SPDX-License-Identifier: MIT */
/* See answer.h: selects the kind of answer for a recording. */
#include "answer_priv.h"
#include "shell_word.h"

const char *ty_answer_of_key(enum ty_answer_of of)
{
	static const char *const key[] = {[TY_ANSWER_NOTHING] = "nothing",
					  [TY_ANSWER_COMMAND] = "command",
					  [TY_ANSWER_REQUESTS] = "requests",
					  [TY_ANSWER_THREADS] = "threads",
					  [TY_ANSWER_MACHINE] = "machine"};

	return key[of];
}

int ty_answer_find(const struct ty_explain *x, const struct ty_window *w,
		   const struct ty_requests *requests, struct ty_answer *out)
{
	bool chosen = w->tids_n || w->comms_n || w->cpus_n;
	int r = -TY_ENOTFOUND;

	*out = (struct ty_answer){.of = TY_ANSWER_NOTHING,
				  .start_ns = w->from_ns,
				  .end_ns = w->to_ns > w->from_ns ? w->to_ns : w->from_ns};
	if (!chosen)
		r = ty_answer_command(x, w, requests, out);
	if (r == -TY_ENOTFOUND && requests && requests->services_n && !x->whole_machine)
		r = ty_answer_requests(x, w, requests, out);
	if (r == -TY_ENOTFOUND && !w->cpus_n && (!x->whole_machine || chosen))
		r = ty_answer_threads(x, w, requests, out);
	if (r == -TY_ENOTFOUND)
		r = ty_answer_machine(x, w, requests, out);
	for (uint32_t i = 0; i < out->notes && x->file; i++)
		ty_shell_name_file(out->note[i], sizeof(out->note[i]), x->file);
	return r;
}
