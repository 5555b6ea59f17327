/* SPDX-License-Identifier: MIT */
/* The process in the recorded name of a unix socket: "UNIX-STREAM:[17->18 process 5]". */
#ifndef TY_UNIX_PEER_H
#define TY_UNIX_PEER_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Where " process 5]" begins, and its number, which the kernel gave (SO_PEERCRED); NULL: there is
 * none. A path in the name may have these words, too: only the end counts. */
static inline const char *ty_unix_peer(const char *name, int32_t *pid)
{
	static const char mark[] = " process ";
	const char *at = NULL, *next = strncmp(name, "UNIX-", 5) ? NULL : strstr(name, mark);
	char *end;
	long n;

	for (; next; next = strstr(next + 1, mark))
		at = next;
	if (!at)
		return NULL;
	n = strtol(at + strlen(mark), &end, 10);
	*pid = (int32_t)n;
	return n > 0 && n <= INT32_MAX && !strcmp(end, "]") ? at : NULL;
}

#endif
