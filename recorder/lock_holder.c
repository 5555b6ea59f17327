/* SPDX-License-Identifier: MIT */
/* See lock_holder.h. */
#include "lock_holder.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of pthread_mutex_t's __kind: nptl/pthreadP.h. */
enum { TYPE = 3, ROBUST = 16, INHERIT = 32, PROTECT = 64, SHARED = 128, ELISION = 0x300 };
/* The futex' word, of words[]. */
enum { WORD = 0 };

static int32_t mutex(uint32_t val, const uint32_t *w, enum ty_lock_kind *kind)
{
	/* __lock, __count, __owner, __nusers, __kind */
	const uint32_t owner = w[WORD + 2], type = w[WORD + 4];

	if (type & ~(uint32_t)(TYPE | ROBUST | INHERIT | PROTECT | SHARED | ELISION) || !owner ||
	    !w[WORD + 3])
		return 0;
	if (type & ROBUST) {
		*kind = TY_LOCK_ROBUST;
		return w[WORD] == (owner | FUTEX_WAITERS) && val == w[WORD] ? (int32_t)owner : 0;
	}
	*kind = TY_LOCK_MUTEX;
	return val == 2 && w[WORD] == 2 && !(type & (INHERIT | PROTECT)) ? (int32_t)owner : 0;
}

/* The futexes are 8 and 12 bytes behind the beginning, the writer 24; both are waited on with 3.
 * What lies between is padding. */
static int32_t rwlock(uint32_t val, const uint32_t *w, enum ty_lock_kind *kind)
{
	const uint32_t writers = w[WORD + 1];

	*kind = TY_LOCK_RWLOCK;
	if (val != 3 || w[WORD] != 3 || w[WORD + 2])
		return 0;
	if (w[WORD + 3]) /* the second one */
		return writers ? 0 : (int32_t)w[WORD + 3];
	return writers == 0 || writers == 1 || writers == 3 ? (int32_t)w[WORD + 4] : 0;
}

int32_t ty_futex_holder(uint64_t op, uint64_t val, const uint32_t words[6], enum ty_lock_kind *kind)
{
	int32_t tid = 0;

	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
		*kind = TY_LOCK_PI;
		tid = (int32_t)(words[WORD] & FUTEX_TID_MASK);
		break;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		tid = mutex((uint32_t)val, words, kind);
		if (!tid)
			tid = rwlock((uint32_t)val, words, kind);
		break;
	}
	return tid > 0 ? tid : 0;
}

/* "1: -> FLOCK  ADVISORY  WRITE 812 fe:00:1234 0 EOF" */
int32_t ty_file_lock_holder(const char *locks, int32_t pid, int flock, __u64 *inode)
{
	long holder = 0, found = 0, id = -1;
	bool waits = false;

	for (const char *l = locks; l && *l; l = strchr(l, '\n'), l = l ? l + 1 : NULL) {
		char type[16] = "";
		unsigned long long ino = 0;
		long line_id, owner;
		int at = 0, rest = 0;

		if (sscanf(l, "%ld: %n", &line_id, &at) < 1 || !at)
			continue;
		if (strncmp(l + at, "->", 2)) {
			id = line_id;
			holder = sscanf(l + at, "%*s %*s %*s %ld", &owner) == 1 ? owner : 0;
			continue;
		}
		at += 2;
		if (line_id != id ||
		    sscanf(l + at, " %15s %*s %*s %ld %*[^:]:%*[^:]:%llu%n", type, &owner, &ino,
			   &rest) < 3 ||
		    !rest || owner != pid || !strcmp(type, "FLOCK") != !!flock)
			continue;
		if (holder <= 0 || holder > INT32_MAX || waits)
			return 0;
		waits = true;
		found = holder;
		*inode = ino;
	}
	return (int32_t)found;
}
