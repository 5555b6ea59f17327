/* SPDX-License-Identifier: MIT */
/* Events to model: the scheduler state machine, system call pairing, identities over time. */
#ifndef TY_BUILD_H
#define TY_BUILD_H

#include "err.h"
#include "event.h"
#include "events.h"
#include "model.h"

/* What is known besides events: texts of tarry's sections (section.h), NULL when absent. */
struct ty_build_facts {
	const char *machine, *threads, *self, *cmdlines;
	const char *begins_later; /* not NULL: the command's start is not there; tells in machine's
				   * place who was traced where it begins ("traced=FROM TO") */
	uint32_t cpus;		  /* of the file; 0 unknown */
	unsigned long_size;	  /* 8 or 4 */
	const char *arch;	  /* "x86_64", ...; NULL: unknown */
	bool gaps_known; /* there are gaps, whatever the recorder counted (ty_builder_refuted) */
	bool own_only; /* only events of chosen threads are there, of nobody else (struct ty_trace)
			*/
	bool aside;    /* code blocks in a thread aside */
	uint64_t memory_bytes; /* what building may hold in memory (--memory); 0: no limit */
	/* The trace's path and file: an index file is written for it, unless the model takes less
	 * than index_min bytes. NULL: none. */
	const char *index_of;
	int index_fd;
	uint64_t index_min;
	const char *(*event_name)(void *ctx,
				  uint16_t id); /* names of irq_vectors events; may be NULL */
	void *ctx;
	/* Called by ty_builder_finish now and then; `part` of the work is done (0 .. 1). False: it
	 * gives up, with -TY_EINTR. May be NULL. */
	bool (*finishing)(void *ctx, double part);
	void *finishing_ctx;
};

struct ty_builder;
struct ty_builder *ty_builder_new(const struct ty_build_facts *facts); /* NULL: out of memory */
void ty_builder_free(struct ty_builder *b);
/* Events in time order. 0 or -TY_ENOMEM / -TY_ELIMIT (2^32 spans). */
int ty_builder_feed(struct ty_builder *b, const struct ty_event *ev, struct ty_err *err);
/*
 * Take `most` events from es, at which only the builder pulls, and what calls in a row (a batch at
 * most) go beyond that; *n counts those taken. 1: there may be more, 0 at the end, or a failure of
 * either.
 */
int ty_builder_take(struct ty_builder *b, struct ty_events *es, uint64_t most, uint64_t *n,
		    struct ty_err *err);
/* Right after that, when the model is to end there: some CPUs' calls were taken ahead of others'
 * events, and a loss is known when what follows it comes. Goes on, as little as need be, until all
 * CPUs are known up to the same instant, the last event taken. Returns as ty_builder_take. */
int ty_builder_even(struct ty_builder *b, struct ty_events *es, uint64_t *n, struct ty_err *err);
/* The recorder counted no loss, and there is a gap all the same: the file is damaged. What lay
 * before the gap was taken for whole, as a gap is heard of at its end: build anew, with gaps_known.
 */
bool ty_builder_refuted(const struct ty_builder *b);
/* No more events: the model (the builder is then only to be freed). */
int ty_builder_finish(struct ty_builder *b, struct ty_model **out, struct ty_err *err);

#endif
