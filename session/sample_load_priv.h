/* SPDX-License-Identifier: MIT */
/* Shared by sample_load.c (naming and unwinding) and sample_sources.c (files). */
#ifndef TY_SAMPLE_LOAD_PRIV_H
#define TY_SAMPLE_LOAD_PRIV_H

#include "buf.h"
#include "flow.h"
#include "flow_files.h"
#include "flow_names.h"
#include "flow_perf.h"
#include "pair_map.h"
#include "perf_data.h"
#include "sample_load.h"
#include "unwind.h"
#include "vec.h"

#define TY_SAMPLE_EVENTS 256

/* A thread's name from a time on: its own, or (text 0) that of its parent. */
struct name_change {
	uint64_t ns;
	uint32_t order, text;
	int32_t tid, parent;
};

/* The frames at an address of a file, the innermost first: of `frames`. */
struct named {
	uint32_t first, n;
};

struct loader {
	const struct ty_sample_load_opts *o;
	struct ty_samples *out;
	struct ty_flow_files *files;
	struct ty_flow *flow; /* for its code map */
	struct ty_flow_perf *perf;
	struct ty_flow_names *names;
	struct ty_unwinder *unwinder;
	bool arm;
	bool unwound, calls, pointers; /* how callers were found, anywhere */
	uint64_t kernel_text;	       /* where the kernel's _text was; 0: unknown */
	VEC(struct name_change) comms;
	VEC(struct named) named;
	VEC(uint32_t) frames;
	struct ty_pair_map named_of;
	uint64_t count[TY_SAMPLE_EVENTS]; /* samples of each event */
	struct ty_buf kallsyms;
	struct ty_text given_kallsyms;
	bool kernel_ready;
	uint64_t lost[2]; /* of LOST_SAMPLES, of LOST */
};

/* 0 or -TY_ENOMEM. Call done in any case. */
int ty_sample_loader_init(struct loader *l, const struct ty_sample_load_opts *o);
/* Adds a record that is no sample: a mapping, an exec, a fork, a name, a loss. 0 or -TY_E... */
int ty_sample_loader_side(struct loader *l, const struct ty_perf_rec *r,
			  const struct ty_perf_id *id);
/* All other records are added: samples may follow. 0 or -TY_E... */
int ty_sample_loader_ready(struct loader *l);
/* Adds a sample of the event-th event. 0 or -TY_E... */
int ty_sample_loader_sample(struct loader *l, const struct ty_perf_attr *a,
			    const struct ty_perf_sample *p, uint8_t event);
/* All samples are added: keeps those of the most frequent event, sorted. 0 or -TY_E... */
int ty_sample_loader_finish(struct loader *l);
/* Frees l. e: the result so far, returned; *out: the samples, NULL unless e is 0. */
int ty_sample_loader_done(struct loader *l, int e, const char *path, struct ty_samples **out,
			  struct ty_err *err);

#endif
