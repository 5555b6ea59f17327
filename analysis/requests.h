/* SPDX-License-Identifier: MIT */
/*
 * Requests: what a process received on a socket and answered on the same one. A request begins when
 * the first bytes are there (its receiving call returns) and ends when the first bytes of the reply
 * were sent, by whichever thread of the process; so it includes all that the server waited for in
 * between. What is received on a connection that this process opened itself is a reply, not a
 * request; for how long it was awaited is found in the same pass.
 *
 * Which end of a connection serves is recorded where accept or connect were; else it is inferred:
 * from the sockets that listened when recording began, from the ports, from who spoke first.
 *
 * Limits: a reply by another process is not seen; of several requests that were sent at once before
 * the first reply, one is counted; the time that a request waited in the socket's buffer is not
 * part of it.
 *
 * Cost: one pass over the calls of all traced threads in time order; the arguments of those that
 * send or receive are read again from the file, in its order.
 */
#ifndef TY_REQUESTS_H
#define TY_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "window.h"

enum {
	TY_REQ_OPEN = 1,     /* no reply when the recording ended (or the process did) */
	TY_REQ_BEFORE = 2,   /* received before the recording: it is longer than told */
	TY_REQ_INFERRED = 4, /* that this end serves is inferred */
	TY_REQ_CONNECT = 8,  /* of asked ones: a connection that is being made */
	TY_REQ_VAIN = 16,    /* of asked ones: given up, no reply came */
};

struct ty_request {
	uint64_t start_ns, end_ns;
	uint32_t thread;     /* that received it; TY_NONE: before the recording */
	uint32_t replied_by; /* TY_NONE: nobody */
	uint32_t service;    /* index into services */
	int32_t fd;
	uint8_t flags; /* TY_REQ_* */
};

/* The requests of one process. */
struct ty_service {
	uint32_t process;				   /* ty_process_of */
	uint64_t n, open;				   /* answered; not answered yet */
	uint64_t p50_ns, p90_ns, p99_ns, max_ns, total_ns; /* of answered ones */
	bool inferred;					   /* of some of them */
	uint32_t sample, sample_n;			   /* its part of the samples */
};

struct ty_requests {
	struct ty_service *services; /* most time in requests first */
	uint32_t services_n;
	struct ty_request *v; /* the longest, longest first */
	uint32_t n;
	/* Answered ones, evenly among those of their service: service by service, in time order. */
	struct ty_request *sample;
	uint32_t sample_n;
	/* The longest times that a client had no reply: from when it sent something on a socket of
	 * its own (or began to connect) to when it received something there; thread: who sent.
	 * Longest first. */
	struct ty_request *asked;
	uint32_t asked_n;
	uint64_t all; /* requests in all */
	uint64_t
		cut_ns; /* after so many calls no further ones were looked at: up to here; 0: all */
};

#define TY_REQUESTS_KEPT   1000 /* by reports and views, at most */
#define TY_REQUESTS_SAMPLE 256	/* of a service at most */

/* Calls that are read where requests are not the question: a second or two. */
#define TY_REQUESTS_CALLS 8000000

/*
 * Requests that end in [from, to) of w, and of processes of which w chooses a thread. At most
 * `most` of the longest are kept; at most `calls` calls are read (0: any number). 0 or -TY_E...
 * with err.
 */
int ty_requests_find(const struct ty_explain *x, const struct ty_window *w, uint32_t most,
		     uint64_t calls, struct ty_requests *out, struct ty_err *err);
/* The longest of the kept ones that the thread received before from and that was not answered
 * before to; NULL. r may be NULL. */
const struct ty_request *ty_requests_around(const struct ty_requests *r, uint32_t thread,
					    uint64_t from_ns, uint64_t to_ns);
/* The longest of the kept replies that the thread had asked for before from and that had not come
 * at to; NULL. vain: also such as never came. r may be NULL. */
const struct ty_request *ty_requests_awaited(const struct ty_requests *r, uint32_t thread,
					     uint64_t from_ns, uint64_t to_ns, bool vain);
void ty_requests_fini(struct ty_requests *r);

#endif
