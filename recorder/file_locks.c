/* SPDX-License-Identifier: MIT */
/* See file_locks.h. */
#include "file_locks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include "lock_holder.h"
#include "now.h"

enum { BYTES = 256 << 10 };
#define EVERY_NS 1000000000ull
#define WAIT_NS	 200000000ull

struct ty_file_locks {
	uint64_t from_ns, to_ns; /* read between; 0: never */
	char text[BYTES];
};

struct ty_file_locks *ty_file_locks_new(void)
{
	return calloc(1, sizeof(struct ty_file_locks)); /* untouched pages cost nothing */
}

void ty_file_locks_free(struct ty_file_locks *l)
{
	free(l);
}

static void read_locks(struct ty_file_locks *l)
{
	ssize_t n = 0, r = 1;
	int fd;

	l->from_ns = ty_now_ns(CLOCK_MONOTONIC);
	fd = open("/proc/locks", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && r > 0 && n < BYTES - 1) {
		r = read(fd, l->text + n, (size_t)(BYTES - 1 - n));
		n += r > 0 ? r : 0;
	}
	if (fd >= 0)
		close(fd);
	/* What is missing may be another wait of the process. */
	l->text[n < BYTES - 1 ? n : 0] = 0;
	l->to_ns = ty_now_ns(CLOCK_MONOTONIC);
}

int32_t ty_file_locks_holder(struct ty_file_locks *l, uint32_t pid, bool flock, uint64_t since_ns,
			     uint64_t now_ns, __u64 *inode, uint64_t *read_ns)
{
	int32_t holder = 0;

	if (l->to_ns && l->from_ns >= since_ns && l->to_ns <= now_ns) {
		holder = ty_file_lock_holder(l->text, (int32_t)pid, flock, inode);
		*read_ns = l->from_ns;
	} else if (now_ns - since_ns >= WAIT_NS && (!l->to_ns || now_ns >= l->to_ns + EVERY_NS)) {
		read_locks(l);
	}
	return holder && !kill(holder, 0) ? holder : 0;
}
