/* SPDX-License-Identifier: MIT */
/*
 * Requests: data that a process received on a socket and answered on the same one. A request begins
 * when its first bytes have arrived (the receiving call returns) and ends when the first bytes of
 * the reply were sent, by any thread of the process (or when a call that sends more of it has
 * waited for a disk); so it includes everything that the server waited for in between. Data
 * received on a connection that this process opened is a reply, not a request; the time it was
 * awaited is measured in the same pass.
 *
 * Which end of a connection serves is recorded if accept or connect were recorded; otherwise it is
 * inferred: from the sockets listening at the start of the recording, from the ports, from the end
 * that sent first.
 *
 * Limits: a reply by another process is not seen; of several requests sent at once before the first
 * reply, one is counted; time in the socket's buffer is not included.
 *
 * Cost: one pass over the calls of all traced threads in time order; the arguments of those that
 * send or receive are read from the file, in its order.
 */
#ifndef TY_REQUESTS_H
#define TY_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "err.h"
#include "explain.h"
#include "fd_sides.h"
#include "window.h"

enum {
	TY_REQ_OPEN = 1,     /* no reply when the recording (or the process) ended */
	TY_REQ_BEFORE = 2,   /* received before the recording: the length is a lower bound */
	TY_REQ_INFERRED = 4, /* the serving end is inferred */
	TY_REQ_CONNECT = 8,  /* awaited ones: a connection being established */
	TY_REQ_VAIN = 16,    /* awaited ones: abandoned, no reply came */
};

struct ty_request {
	uint64_t start_ns, end_ns;
	uint32_t thread;     /* receiving thread; TY_NONE: before the recording */
	uint32_t replied_by; /* TY_NONE: none */
	uint32_t service;    /* index into services */
	int32_t fd;
	uint8_t flags; /* TY_REQ_* */
};

static inline uint64_t ty_request_ns(const struct ty_request *r)
{
	return r->end_ns - r->start_ns;
}

/* The requests of one process. */
struct ty_service {
	uint32_t process;				   /* ty_process_of */
	uint64_t n, open;				   /* answered; unanswered */
	uint64_t p50_ns, p90_ns, p99_ns, max_ns, total_ns; /* of answered ones */
	bool inferred;					   /* for some of them */
	uint32_t sample, sample_n;			   /* its range in the samples */
};

struct ty_requests {
	struct ty_service *services; /* most time in requests first */
	uint32_t services_n;
	struct ty_request *v; /* the longest, longest first */
	uint32_t n;
	/* Answered ones, evenly spaced within their service: service by service, in time order. */
	struct ty_request *sample;
	uint32_t sample_n;
	/* The longest times that a client waited for a reply: from sending data on a socket of its
	 * own (or starting to connect) until it received data there; thread: the sender. Longest
	 * first. */
	struct ty_request *client_waits;
	uint32_t client_waits_n;
	/* Data received where this end may be the server, though it never sent any there: requests
	 * without a reply so far, or messages that need none. Not in order. */
	struct ty_request *pending;
	uint32_t pending_n;
	struct ty_fd_sides sides; /* of all processes */
	uint64_t all;		  /* requests in all */
	uint64_t cut_ns;	  /* the limit of calls was reached here; 0: all were read */
};

#define TY_REQUESTS_KEPT   1000 /* by reports and views, at most */
#define TY_REQUESTS_SAMPLE 256	/* of a service at most */

/* Limit for callers that do not ask for requests primarily: a second or two. */
#define TY_REQUESTS_CALLS 8000000

/*
 * Finds requests that end in [from, to) of w, of processes with a selected thread. Keeps at most
 * `most` of the longest; reads at most `calls` calls (0: no limit). 0 or -TY_E... with err.
 */
int ty_requests_find(const struct ty_explain *x, const struct ty_window *w, uint32_t most,
		     uint64_t calls, struct ty_requests *out, struct ty_err *err);
void ty_requests_fini(struct ty_requests *r);

#endif
