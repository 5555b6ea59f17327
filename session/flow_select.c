/* SPDX-License-Identifier: MIT */
/* See flow_select.h. */
#include "flow_select.h"

#include "window_filter.h"

int ty_flow_choice_init(struct ty_flow_choice *c, const struct ty_select *sel,
			const struct ty_flow_source *s)
{
	*c = (struct ty_flow_choice){
		.w = {.tids = sel->tids.v,
		      .tids_n = (uint32_t)sel->tids.n,
		      .comms = sel->comms.v,
		      .comms_n = (uint32_t)sel->comms.n,
		      .cpus = sel->cpus.v,
		      .cpus_n = (uint32_t)sel->cpus.n},
		.flow = s->flow,
	};
	if (!sel->comms.n || !s->trace)
		return 0;
	c->comms = ty_thread_names_new(s->trace->cmdlines.s,
				       ty_trace_section(s->trace, TY_SEC_THREADS).s);
	return c->comms ? 0 : -TY_ENOMEM;
}

void ty_flow_choice_fini(struct ty_flow_choice *c)
{
	ty_thread_names_free(c->comms);
	c->comms = NULL;
}

static bool named(struct ty_flow_choice *c, int32_t tid, uint64_t t_ns)
{
	const char *comm;

	if (tid == c->tid && t_ns >= c->from_ns && t_ns < c->until_ns)
		return c->named;
	comm = ty_flow_comm_at(c->flow, tid, t_ns, &c->until_ns);
	if (!comm && c->comms && ty_thread_names_known(c->comms, tid))
		comm = ty_thread_names_get(c->comms, tid);
	c->tid = tid;
	c->from_ns = t_ns;
	c->named = comm && ty_window_has_comm(&c->w, comm);
	return c->named;
}

bool ty_flow_chosen(struct ty_flow_choice *c, const struct ty_flow_at *at)
{
	if (!ty_window_has_tid(&c->w, at->tid) ||
	    (c->w.cpus_n && (at->cpu < 0 || !ty_window_has_cpu(&c->w, (uint32_t)at->cpu))))
		return false;
	return !c->w.comms_n || named(c, at->tid, at->ts_ns == TY_FLOW_NO_TIME ? 0 : at->ts_ns);
}
