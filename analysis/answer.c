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

/* Of a command that is a server: its requests instead, with the command's time. */
static int of_server(const struct ty_explain *x, const struct ty_window *w,
		     const struct ty_requests *requests, struct ty_answer *out)
{
	struct ty_answer a = {.start_ns = out->start_ns, .end_ns = out->end_ns};
	int r = ty_answer_requests(x, w, requests, &a);
	char sum[240] = "";

	if (r)
		return r == -TY_ENOTFOUND ? 0 : r;
	ty_answer_sum_text(out->part_ns, out->total_ns, sum, sizeof(sum));
	ty_answer_note(&a, "the critical path of the command, mostly idle: %s", sum);
	*out = a;
	return 0;
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
	if (!r && out->server)
		r = of_server(x, w, requests, out);
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
