/* SPDX-License-Identifier: MIT */
/* What a system call says between threads: who hands over, takes, asks, answers. */
#ifndef TY_TALK_H
#define TY_TALK_H

#include "explain.h"

struct ty_talk {
	unsigned says;	     /* enum ty_talk_says; 0: nothing */
	int8_t gives, takes; /* the argument with the descriptor that is given to (connected to,
				closed), taken from (accepted at); -1: there is none */
};

/* By the table of system calls, of whatever ABI; and by its result: what handed nothing over says
 * nothing. */
struct ty_talk ty_talk(const struct ty_explain *x, const struct ty_syscall *c);
/* What it says on the descriptor; 0: nothing, or its arguments are not recorded. */
unsigned ty_talk_on(const struct ty_explain *x, const struct ty_syscall *c, const struct ty_talk *t,
		    int64_t fd);

#endif
