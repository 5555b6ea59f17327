/* SPDX-License-Identifier: MIT */
#include "explain_session.h"

#include "key_value.h"

/* Of a call that began before the recording nothing but its number is known. */
static int args(void *ctx, const struct ty_syscall *c, uint64_t out[6])
{
	struct ty_session *s = ctx;
	struct ty_event ev;

	if (c->loc == TY_NO_LOC)
		return -TY_ENOTFOUND;
	if (ty_events_read_at(s->events, c->loc, &ev, NULL) || ev.kind != TY_EV_SYS_ENTER)
		return -TY_ENOTFOUND;
	for (unsigned i = 0; i < 6; i++)
		out[i] = ev.u.enter.args[i];
	return 0;
}

struct ty_explain ty_explain_session(struct ty_session *s)
{
	uint64_t tid = ty_key_u64(ty_trace_section(s->trace, TY_SEC_MACHINE).s, "command_tid");

	return (struct ty_explain){.m = s->model,
				   .arch = s->arch,
				   .args = args,
				   .ctx = s,
				   .command_tid = tid < INT32_MAX ? (int32_t)tid : 0};
}
