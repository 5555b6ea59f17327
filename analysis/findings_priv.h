/* SPDX-License-Identifier: MIT */
/* Shared by the files of findings. */
#ifndef TY_FINDINGS_PRIV_H
#define TY_FINDINGS_PRIV_H

#include <string.h>

#include "process_titles.h"
#include "sentence.h"
#include "findings.h"

struct ty_finding_work {
	const struct ty_explain *x;
	const struct ty_window *w;
	const struct ty_answer *answer;
	const struct ty_requests *requests;
	uint64_t wall_ns; /* base of percentages */
	struct ty_findings *out;
};

/* Adds a finding if there is room or it is longer than another one; its text and next as printf.
 * FILE in `next` stands for the recording (ty_shell_name_file). */
struct ty_finding *ty_finding_add(const struct ty_finding_work *k, const struct ty_finding *f);
#define ty_finding_say(f, ...)	ty_put_behind((f)->text, sizeof((f)->text), __VA_ARGS__)
#define ty_finding_next(f, ...) ty_put_behind((f)->next, sizeof((f)->next), __VA_ARGS__)
/* "sh/12" for one thread, "sh" for several. */
const char *ty_finding_thread_name(const struct ty_model *m, uint32_t thread, bool several,
				   char out[TY_WHO_MAX]);
/* Object of the call: "fd 3 </etc/x>", "\"/etc/x\"", "futex 0x7f"; "": none, or not recorded. */
void ty_finding_object(const struct ty_explain *x, uint32_t call, char out[96]);

/* Proposes to print the calls of the thread, or of all of its name. */
void ty_finding_calls(struct ty_finding *f, const struct ty_model *m, uint32_t thread,
		      uint32_t name, bool several);

/* Each 0 or -TY_E... */
int ty_findings_of_calls(const struct ty_finding_work *k);
int ty_findings_of_children(const struct ty_finding_work *k);
int ty_findings_of_signals(const struct ty_finding_work *k);
void ty_findings_of_cpus(const struct ty_finding_work *k);
int ty_findings_of_requests(const struct ty_finding_work *k);

/* The call by which a signal's handler returns. */
static inline bool ty_is_sigreturn(const char *call)
{
	return !strcmp(call, "rt_sigreturn") || !strcmp(call, "sigreturn");
}

/* State of the search for polled locks: one thread's calls in order. */
struct ty_poll_watch {
	const struct ty_finding_work *k;
	uint32_t thread, first, last; /* calls; first TY_NONE: no candidate */
	uint64_t start_ns, last_ns,
		ok_ns;		       /* of the first; end of the last; first success after it */
	uint64_t slept_ns, between_ns; /* sleep between them; since the last */
	uint64_t n;
	int32_t nr;
	int error;
	uint8_t abi;
	uint32_t ok;   /* the call at ok_ns; TY_NONE */
	unsigned left; /* calls to look up for releases, over all threads */
};
enum ty_poll_role { TY_POLL_NONE, TY_POLL_SLEEP, TY_POLL_TRY, TY_POLL_CONNECT };
/* Role of the call in a polling loop. */
enum ty_poll_role ty_poll_role(const struct ty_sysrow *row);
void ty_poll_begin(struct ty_poll_watch *p, uint32_t thread);
void ty_poll_step(struct ty_poll_watch *p, enum ty_poll_role role, uint32_t call, int32_t nr,
		  uint8_t abi, uint64_t start_ns, uint64_t end_ns, int64_t ret);
void ty_poll_end(struct ty_poll_watch *p);

/* Failures of threads of one name at one limit. */
struct ty_limit_group {
	uint32_t name, thread, call; /* the first thread and call */
	int32_t nr;
	uint8_t abi;
	bool several, other_calls; /* threads; calls besides nr */
	int limit;
	uint64_t failed, fail_ns, at_ns;
	uint64_t longest_ns; /* until nr succeeded in the same thread; 0: it did not, or is not
				asked */
	uint64_t since_ns;   /* of the current thread: failed, and has not succeeded yet; else 0 */
};
#define TY_LIMIT_GROUPS 64 /* more are left out */
struct ty_limit_watch {
	const struct ty_finding_work *k;
	struct ty_limit_group v[TY_LIMIT_GROUPS];
	unsigned n, open; /* open: with since_ns */
	uint32_t thread;
};
/* Which limit a failed call reached; -1: none. */
int ty_limit_of(const struct ty_sysrow *row, int64_t ret);
/* Then the calls of this thread, in order. */
void ty_limit_begin(struct ty_limit_watch *p, uint32_t thread);
void ty_limit_failed(struct ty_limit_watch *p, int limit, uint32_t call, int32_t nr, uint8_t abi,
		     uint64_t start_ns, uint64_t end_ns);
void ty_limit_succeeded(struct ty_limit_watch *p, int32_t nr, uint8_t abi, uint64_t end_ns);
void ty_limit_report(const struct ty_limit_watch *p);

#endif
