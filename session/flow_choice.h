/* SPDX-License-Identifier: MIT */
/* What --tid, --comm and --cpu choose of executed instructions (a time slice is sought:
 * ty_flow_source_window). */
#ifndef TY_FLOW_CHOICE_H
#define TY_FLOW_CHOICE_H

#include "comms.h"
#include "flow_source.h"
#include "window.h"

struct ty_flow_choice {
	struct ty_window w; /* of threads, names, CPUs; borrows from the options */
	const struct ty_flow *flow;
	struct ty_comms *comms; /* of a recording, for threads that no record of its flow names */
	/* The answer for a thread's name, and how long it holds. */
	int32_t tid;
	uint64_t from_ns, until_ns;
	bool named;
};

/* Of an opened source; both are borrowed. 0 or -TY_ENOMEM. fini in any state, zeroed too. */
int ty_flow_choice_init(struct ty_flow_choice *c, const struct ty_select *sel,
			const struct ty_flow_source *s);
void ty_flow_choice_fini(struct ty_flow_choice *c);
/* Is there anything that is not chosen? */
static inline bool ty_flow_choosy(const struct ty_flow_choice *c)
{
	return c->w.tids_n || c->w.comms_n || c->w.cpus_n;
}
/* Is it chosen? By thread, time (for the name it has then) and CPU of an item. */
bool ty_flow_chosen(struct ty_flow_choice *c, const struct ty_flow_at *at);

#endif
