/* SPDX-License-Identifier: MIT */
/* Selects executed instructions by --tid, --comm and --cpu (a time range is seeked to:
 * ty_flow_source_window). */
#ifndef TY_FLOW_SELECT_H
#define TY_FLOW_SELECT_H

#include "thread_names.h"
#include "flow_source.h"
#include "window.h"

struct ty_flow_choice {
	struct ty_window w; /* of threads, names, CPUs; borrows from the options */
	const struct ty_flow *flow;
	struct ty_thread_names
		*comms; /* of a recording, for threads without a name record in its flow */
	/* Cached decision for a thread's name, and its validity. */
	int32_t tid;
	uint64_t from_ns, until_ns;
	bool named;
};

/* For an opened source; both are borrowed. 0 or -TY_ENOMEM. Call fini in any state, also zeroed. */
int ty_flow_choice_init(struct ty_flow_choice *c, const struct ty_select *sel,
			const struct ty_flow_source *s);
void ty_flow_choice_fini(struct ty_flow_choice *c);
/* True when anything is excluded. */
static inline bool ty_flow_choosy(const struct ty_flow_choice *c)
{
	return c->w.tids_n || c->w.comms_n || c->w.cpus_n;
}
/* True when the item is selected: by thread, by its name at that time, and by CPU. */
bool ty_flow_chosen(struct ty_flow_choice *c, const struct ty_flow_at *at);

#endif
