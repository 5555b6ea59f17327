/* SPDX-License-Identifier: MIT */
/* A request beside a median one of the same process: the ledgers of the threads that served them.
 */
#ifndef TY_REQUEST_COMPARE_H
#define TY_REQUEST_COMPARE_H

#include "ledger.h"
#include "outliers.h"
#include "requests.h"

/* The thread that sent the reply, else the one that received the request; TY_NONE: before the
 * recording. */
uint32_t ty_request_thread(const struct ty_request *r);

/* What the threads that had the request did for the longest time: the one that received it until it
 * first woke the one that replied, and from then on that one. */
struct ty_request_most {
	uint32_t thread; /* TY_NONE: nothing is known */
	struct ty_ledger_most most;
};
/* Cost: the ledgers of both, and the spans of the second one. 0 or as ty_ledger_thread. */
int ty_request_most(const struct ty_explain *x, const struct ty_request *r,
		    struct ty_request_most *out);

/*
 * The sampled request of the same process whose length is nearest to the median; NULL: none was
 * answered. Borrowed from q.
 */
const struct ty_request *ty_request_median(const struct ty_requests *q, const struct ty_request *r);

/* Fills out: times and rows of both, as ty_outlier_ledgers does (slow: r). ty_outlier_fini
 * in any case. 0, -TY_ENOTFOUND (a thread is unknown, or there is no median) or
 * -TY_ENOMEM. */
int ty_request_compare(const struct ty_explain *x, const struct ty_request *r,
		       const struct ty_request *median, struct ty_outlier *out);

#endif
