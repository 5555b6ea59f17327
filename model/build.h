/* SPDX-License-Identifier: MIT */
/* Events to model: the scheduler state machine, system call pairing, identities over time. */
#ifndef TY_BUILD_H
#define TY_BUILD_H

#include "err.h"
#include "event.h"
#include "events.h"
#include "model.h"

/* Input besides events: texts of tarry's sections (section.h), NULL when absent. */
struct ty_build_facts {
	const char *machine, *threads, *self, *cmdlines;
	const char *begins_later; /* not NULL: the recording begins later than the command; this
				   * text replaces machine as the list of threads traced at its
				   * start ("traced=FROM TO") */
	uint32_t cpus;		  /* of the file; 0 unknown */
	unsigned long_size;	  /* 8 or 4 */
	const char *arch;	  /* "x86_64", ...; NULL: unknown */
	bool gaps_known; /* there are gaps, although the recorder counted none (ty_builder_refuted)
			  */
	bool own_only;	 /* the file has events of chosen threads only (struct ty_trace) */
	bool aside;	 /* code blocks in a helper thread */
	uint64_t memory_bytes; /* what building may hold in memory (--memory); 0: no limit */
	/* Path and file of the trace: an index file is written for it, unless the model is smaller
	 * than index_min bytes. NULL: none. */
	const char *index_of;
	int index_fd;
	uint64_t index_min;
	const char *(*event_name)(void *ctx,
				  uint16_t id); /* names of irq_vectors events; may be NULL */
	void *ctx;
	/* Called by ty_builder_finish periodically; `part` of the work is done (0 .. 1). Return
	 * false to cancel with -TY_EINTR. May be NULL. */
	bool (*finishing)(void *ctx, double part);
	void *finishing_ctx;
};

struct ty_builder;
struct ty_builder *ty_builder_new(const struct ty_build_facts *facts); /* NULL: out of memory */
void ty_builder_free(struct ty_builder *b);
/* Events in time order. 0 or -TY_ENOMEM / -TY_ELIMIT (2^32 spans). */
int ty_builder_feed(struct ty_builder *b, const struct ty_event *ev, struct ty_err *err);
/*
 * Takes `most` events from es, which only the builder may read, plus a run of calls (at most a
 * batch) beyond that; *n is the number taken. 1: there may be more; 0 at the end; or a failure of
 * either.
 */
int ty_builder_take(struct ty_builder *b, struct ty_events *es, uint64_t most, uint64_t *n,
		    struct ty_err *err);
/* Call right after that when the model is to end there: some CPUs' calls were taken ahead of other
 * CPUs' events, and a loss is only known from the event after it. Takes the fewest further events
 * until all CPUs are known up to the same instant, that of the last event taken. Returns as
 * ty_builder_take. */
int ty_builder_even(struct ty_builder *b, struct ty_events *es, uint64_t *n, struct ty_err *err);
/* True when there is a gap although the recorder counted no loss: the file is damaged. Spans before
 * the gap were taken as complete, because a gap is reported at its end: build again with
 * gaps_known. */
bool ty_builder_refuted(const struct ty_builder *b);
/* Ends the events and returns the model. The builder can then only be freed. */
int ty_builder_finish(struct ty_builder *b, struct ty_model **out, struct ty_err *err);

#endif
