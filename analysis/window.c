/* SPDX-License-Identifier: MIT */
/* Selection by time, threads and CPUs. */
#include "window.h"

#include "window_filter.h"

static bool tid_chosen(const struct ty_window *w, const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	for (uint32_t i = 0; i < w->tids_n; i++)
		/* Also under the tid it had before an exec. */
		if (w->tids[i] == t->tid ||
		    ty_model_thread_find(m, w->tids[i], t->start_ns) == thread)
			return true;
	return !w->tids_n;
}

bool ty_window_thread(const struct ty_window *w, const struct ty_model *m, uint32_t thread)
{
	const struct ty_name_at *name;
	uint32_t n;

	if (w->traced_only && !ty_model_thread(m, thread)->traced)
		return false;
	if (!tid_chosen(w, m, thread))
		return false;
	if (!w->comms_n)
		return true;
	name = ty_model_names(m, thread, &n);
	for (uint32_t k = 0; k < n; k++) {
		/* The first name holds from the thread's first instant. */
		if ((k && name[k].from_ns >= w->to_ns) ||
		    (k + 1 < n && name[k + 1].from_ns <= w->from_ns))
			continue;
		if (ty_window_has_comm(w, ty_model_str(m, name[k].str)))
			return true;
	}
	return false;
}

bool ty_window_comm(const struct ty_window *w, const struct ty_model *m, uint32_t thread,
		    uint64_t t_ns, struct ty_comm_memo *memo)
{
	const char *comm;

	if (!w->comms_n)
		return true;
	comm = ty_model_comm(m, thread, t_ns);
	if (comm != memo->comm || !comm)
		*memo = (struct ty_comm_memo){comm, comm && ty_window_has_comm(w, comm)};
	return memo->chosen;
}

bool ty_window_cpu(const struct ty_window *w, uint32_t cpu)
{
	return ty_window_has_cpu(w, cpu);
}

bool ty_window_clip(const struct ty_window *w, uint64_t *start_ns, uint64_t *end_ns)
{
	if (*start_ns < w->from_ns)
		*start_ns = w->from_ns;
	if (*end_ns > w->to_ns)
		*end_ns = w->to_ns;
	return *start_ns < *end_ns;
}
