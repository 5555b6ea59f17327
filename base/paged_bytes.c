/* SPDX-License-Identifier: MIT */
/* See paged_bytes.h. */
#include "paged_bytes.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "temp_file.h"

/* From memory into a file. Its blocks are allocated: a full disk is an error here, not a signal
 * when a page is written. */
static bool move_to_file(struct ty_paged *b, size_t room)
{
	const char *dir;
	const int fd = ty_temp_file(&dir);
	char *p = MAP_FAILED;

	if (fd >= 0 && !posix_fallocate(fd, 0, (off_t)room))
		p = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (b->n)
		memcpy(p, b->p, b->n);
	free(b->p);
	*b = (struct ty_paged){
		.p = p, .n = b->n, .room = room, .limit = b->limit, .mapped = true, .fd = fd};
	return true;
}

int ty_paged_reserve(struct ty_paged *b, size_t bytes)
{
	size_t room = b->room + b->room / 2;
	char *p;

	if (bytes <= b->room)
		return 0;
	room = bytes > room ? bytes : room;
	if (b->mapped) {
		if (posix_fallocate(b->fd, (off_t)b->room, (off_t)(room - b->room)))
			return -TY_ENOMEM;
		p = mremap(b->p, b->room, room, MREMAP_MAYMOVE);
		if (p == MAP_FAILED)
			return -TY_ENOMEM;
	} else {
		if (b->limit && room > b->limit && move_to_file(b, room))
			return 0;
		p = realloc(b->p, room);
		if (!p)
			return -TY_ENOMEM;
	}
	b->p = p;
	b->room = room;
	return 0;
}

void ty_paged_fini(struct ty_paged *b)
{
	if (b->mapped) {
		munmap(b->p, b->room);
		close(b->fd);
	} else {
		free(b->p);
	}
	*b = (struct ty_paged){0};
}
