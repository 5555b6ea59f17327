/* SPDX-License-Identifier: MIT */
/* What a thread did in a short time: its system calls, summed by call and by the file that they act
 * on. */
#ifndef TY_CALL_SUMS_H
#define TY_CALL_SUMS_H

#include "explain.h"

struct ty_call_sum {
	int32_t nr;
	uint8_t abi;	    /* enum ty_abi */
	char *object;	    /* "/srv/site.lock"; NULL: none with a name, or not looked up */
	uint64_t n, ns;	    /* calls, and their time within the window */
	uint64_t max_ns;    /* of the longest one, */
	uint64_t max_at_ns; /* and an instant in it, within the window */
};
struct ty_call_sums {
	struct ty_call_sum *v; /* most time first */
	uint32_t n;
	uint64_t calls;
	uint64_t unnamed; /* of them: their file was not looked up (TY_CALL_SUMS_NAMED) */
	bool cut;	  /* there are more than TY_CALL_SUMS_CALLS: the later ones are missing */
};

#define TY_CALL_SUMS_CALLS 50000u
#define TY_CALL_SUMS_NAMED 300u /* of the longest calls the file is looked up, for TY_NAMES_MS */

/*
 * Calls of the thread that overlap [from, to). Cost: one step per call; for the named ones as
 * ty_call_object. 0, -TY_ENOMEM or -TY_EINTR (x->stop); call fini in any case.
 */
int ty_call_sums_find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      struct ty_call_sums *out);
void ty_call_sums_fini(struct ty_call_sums *s);

#endif
