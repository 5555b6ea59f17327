/* SPDX-License-Identifier: MIT */
/* See paged_bytes.h. */
#include "paged_bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "temp_file.h"

/* The file's blocks: a full disk is an error here, not a signal when a page is written. */
static bool allocate(int fd, size_t from, size_t to)
{
	int r;

	do
		r = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
	while (r == EINTR);
	return !r;
}

static bool move_to_file(struct ty_paged *b, size_t room)
{
	const char *dir;
	const int fd = ty_temp_file(&dir);
	char *p = MAP_FAILED;

	if (fd >= 0 && allocate(fd, 0, room))
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

/* No file from now on: there is no room for a larger one. */
static int move_to_memory(struct ty_paged *b, size_t room)
{
	const size_t n = b->n;
	char *p = malloc(room);

	if (!p)
		return -TY_ENOMEM;
	memcpy(p, b->p, n);
	ty_paged_fini(b);
	*b = (struct ty_paged){.p = p, .n = n, .room = room};
	return 0;
}

int ty_paged_reserve(struct ty_paged *b, size_t bytes)
{
	size_t room = b->room + b->room / 2;
	char *p;

	if (bytes <= b->room)
		return 0;
	room = bytes > room ? bytes : room;
	if (b->mapped) {
		p = allocate(b->fd, b->room, room) ? mremap(b->p, b->room, room, MREMAP_MAYMOVE)
						   : MAP_FAILED;
		if (p == MAP_FAILED)
			return move_to_memory(b, room);
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
