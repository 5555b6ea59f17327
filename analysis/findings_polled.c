/* SPDX-License-Identifier: MIT */
/*
 * A polled lock: the same call fails with the same error repeatedly, and its thread sleeps in
 * between. The thread that released it is inferred (file_lock_release.h). And refused
 * connections, which are repeated until the server listens.
 */
#include "findings_priv.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "file_lock_release.h"
#include "polled_call.h"
#include "units.h"

#define TRIES	 3
#define LEAST_NS UINT64_C(20000000)

enum ty_poll_role ty_poll_role(const struct ty_sysrow *row)
{
	if (row->wait_on == TY_WAIT_ON_SLEEP || row->zero_is_timeout)
		return TY_POLL_SLEEP;
	if (row->says & TY_CONNECTS)
		return TY_POLL_CONNECT;
	if (row->wait_on == TY_WAIT_ON_LOCK || row->id == TY_SYS_fcntl ||
	    (row->object >= 0 && row->a[row->object] == TY_ARG_PATH))
		return TY_POLL_TRY;
	return TY_POLL_NONE;
}

static bool is_try(const struct ty_explain *x, enum ty_poll_role role, int32_t nr, uint8_t abi,
		   int error)
{
	return error &&
	       (role == TY_POLL_CONNECT
			? error == ECONNREFUSED
			: ty_polled_call_failed(ty_syscall_row(x->arch, abi, nr)->as, -error));
}

void ty_poll_begin(struct ty_poll_watch *p, uint32_t thread)
{
	*p = (struct ty_poll_watch){
		.k = p->k, .thread = thread, .first = TY_NONE, .ok = TY_NONE, .left = p->left};
}

static void found(struct ty_poll_watch *p)
{
	const struct ty_explain *x = p->k->x;
	uint64_t end = p->ok_ns ? p->ok_ns : p->last_ns, ns = end - p->start_ns;
	struct ty_finding f = {.kind = TY_FINDING_POLLED,
			       .ns = ns,
			       .n = p->n,
			       .at_ns = p->start_ns,
			       .thread = p->thread,
			       .culprit = TY_NONE};
	char who[TY_WHO_MAX], object[96], buf[32], d[TY_DURATION_MAX];
	const char *error = ty_errno_name(p->error);
	struct ty_finding *to;
	const char *address = NULL;
	bool connects, is_lock;

	if (p->n < TRIES || ns < LEAST_NS || p->slept_ns < ns / 2 ||
	    (p->ok == TY_NONE && ty_polled_call_must_succeed(ty_explain_row(x, p->last))))
		return;
	connects = ty_explain_row(x, p->last)->says & TY_CONNECTS;
	is_lock = ty_explain_row(x, p->last)->wait_on == TY_WAIT_ON_LOCK;
	if (connects && x->pointee)
		address = x->pointee(x->ctx, p->thread, p->last, 1);
	if (address && strstr(address, "->"))
		snprintf(object, sizeof(object), "%.*s",
			 (int)strcspn(strstr(address, "->") + 2, "]"), strstr(address, "->") + 2);
	else
		ty_finding_object(x, p->last, object);
	if (p->ok != TY_NONE && !connects)
		f.culprit = ty_polled_release(x, p->last, p->ok, &p->left).thread;
	f.inferred = f.culprit != TY_NONE;
	to = ty_finding_add(p->k, &f);
	if (!to)
		return;
	ty_finding_say(to, "%s polled %s%s: %s failed %s times with %s",
		       ty_finding_thread_name(x->m, p->thread, false, who),
		       is_lock && *object ? "the lock on " : "",
		       *object	  ? object
		       : connects ? "a server"
				  : "a lock",
		       ty_syscall_name(x->arch, p->abi, p->nr, buf), ty_count(p->n),
		       error ? error : "an error");
	ty_finding_say(to, ". It slept %s in between", ty_fmt_duration(p->slept_ns, d));
	if (f.culprit != TY_NONE)
		ty_finding_say(to, ". Released by %s",
			       ty_finding_thread_name(x->m, f.culprit, false, who));
	else
		ty_finding_say(to, ". %s",
			       p->ok_ns && connects ? "Then it was connected"
			       : !p->ok_ns	    ? "It never succeeded"
			       : is_lock	    ? "The release of the lock is not recorded"
					 : "Which thread released the lock is not recorded");
	if (f.culprit != TY_NONE)
		ty_finding_next(to, "tarry dump FILE syscalls --tid %d",
				ty_model_thread(x->m, f.culprit)->tid);
	else if (connects)
		ty_finding_next(to, "tarry dump FILE syscalls --tid %d",
				ty_model_thread(x->m, p->thread)->tid);
	else
		ty_finding_next(to, "tarry record -a (also records the holder)");
}

void ty_poll_end(struct ty_poll_watch *p)
{
	if (p->first != TY_NONE)
		found(p);
	p->first = TY_NONE;
}

void ty_poll_step(struct ty_poll_watch *p, enum ty_poll_role role, uint32_t call, int32_t nr,
		  uint8_t abi, uint64_t start_ns, uint64_t end_ns, int64_t ret)
{
	bool same = p->first != TY_NONE && p->nr == nr && p->abi == abi;
	int error = ret < 0 && ret >= -511 ? (int)-ret : 0;

	if (role == TY_POLL_SLEEP) {
		/* A call that checks for something and succeeds is work, not polling. */
		p->between_ns += error && error != EINTR ? 0 : end_ns - start_ns;
		return;
	}
	if (!is_try(p->k->x, role, nr, abi, error)) {
		if (same && !error && !p->ok_ns) {
			p->ok_ns = start_ns;
			p->ok = call;
			p->slept_ns += p->between_ns;
			p->between_ns = 0;
		}
		return;
	}
	if (same && p->error == error && p->between_ns >= (start_ns - p->last_ns) / 2) {
		p->n++;
		p->slept_ns += p->between_ns;
	} else {
		ty_poll_end(p);
		p->first = call;
		p->nr = nr;
		p->abi = abi;
		p->error = error;
		p->start_ns = start_ns;
		p->n = 1;
		p->slept_ns = 0;
	}
	p->last = call;
	p->last_ns = end_ns;
	p->ok_ns = 0;
	p->ok = TY_NONE;
	p->between_ns = 0;
}
