/* SPDX-License-Identifier: MIT */
/* See talk.h. One table of names; those of 32-bit machines are led back to them (explain.h). */
#include "talk.h"

#include <string.h>

#define NONE (-1)

static const struct {
	const char *name;
	struct ty_talk talk;
} calls[] = {
	{"accept", {TY_ACCEPTS, NONE, 0}},
	{"accept4", {TY_ACCEPTS, NONE, 0}},
	{"close", {TY_CLOSES, 0, NONE}},
	{"connect", {TY_CONNECTS, 0, NONE}},
	{"io_uring_enter", {TY_GIVES, NONE, NONE}}, /* requests; its result is how many */
	{"kill", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"mq_timedreceive", {TY_TAKES, NONE, 0}},
	{"mq_timedsend", {TY_GIVES, 0, NONE}},
	{"msgrcv", {TY_TAKES, NONE, NONE}},
	{"msgsnd", {TY_GIVES, NONE, NONE}},
	{"pidfd_send_signal", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"read", {TY_TAKES, NONE, 0}},
	{"readv", {TY_TAKES, NONE, 0}},
	{"recv", {TY_TAKES | TY_MESSAGE, NONE, 0}},
	{"recvfrom", {TY_TAKES | TY_MESSAGE, NONE, 0}},
	{"recvmmsg", {TY_TAKES | TY_MESSAGE, NONE, 0}},
	{"recvmsg", {TY_TAKES | TY_MESSAGE, NONE, 0}},
	{"rt_sigqueueinfo", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"rt_tgsigqueueinfo", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"semop", {TY_GIVES, NONE, NONE}},
	{"semtimedop", {TY_GIVES, NONE, NONE}},
	{"send", {TY_GIVES | TY_MESSAGE, 0, NONE}},
	{"sendfile", {TY_GIVES, 0, NONE}},
	{"sendmmsg", {TY_GIVES | TY_MESSAGE, 0, NONE}},
	{"sendmsg", {TY_GIVES | TY_MESSAGE, 0, NONE}},
	{"sendto", {TY_GIVES | TY_MESSAGE, 0, NONE}},
	{"splice", {TY_GIVES | TY_TAKES, 2, 0}},
	{"tee", {TY_GIVES | TY_TAKES, 1, 0}},
	{"tgkill", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"tkill", {TY_GIVES | TY_SIGNALS, NONE, NONE}},
	{"vmsplice", {TY_GIVES, 0, NONE}},
	{"write", {TY_GIVES, 0, NONE}},
	{"writev", {TY_GIVES, 0, NONE}},
};

struct ty_talk ty_talk(const struct ty_explain *x, const struct ty_syscall *c)
{
	struct ty_talk none = {.gives = NONE, .takes = NONE};
	bool behind;
	char buf[32];
	const char *name = ty_explain_deed(x, c, &behind, buf);

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (!strcmp(calls[i].name, name)) {
			struct ty_talk t = calls[i].talk;

			if (behind)
				t.gives = t.takes = NONE;
			/* It may as well only wait for earlier requests. */
			return !strcmp(name, "io_uring_enter") && c->ret <= 0 ? none : t;
		}
	return none;
}

unsigned ty_talk_on(const struct ty_explain *x, const struct ty_syscall *c, const struct ty_talk *t,
		    int64_t fd)
{
	uint64_t args[6];
	unsigned says = 0;

	if ((t->gives < 0 && t->takes < 0) || !x->args || x->args(x->ctx, c, args))
		return 0;
	if (t->gives >= 0 && (int32_t)args[t->gives] == fd)
		says |= t->says & ~(unsigned)TY_TAKES;
	if (t->takes >= 0 && (int32_t)args[t->takes] == fd)
		says |= t->says & ~(unsigned)TY_GIVES;
	return says;
}
