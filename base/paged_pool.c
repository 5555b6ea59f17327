/* SPDX-License-Identifier: MIT */
/* See paged_pool.h. */
#include "paged_pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "temp_file.h"

#ifndef RESERVED /* less under qemu-user, as in store.c */
#define RESERVED (UINT64_C(1) << 36)
#endif
#define EXTENT	(UINT64_C(4) << 20)
#define ALIGNED 16u

static bool open_file(struct ty_paged_pool *p)
{
	const char *dir;
	void *base;

	p->fd = ty_temp_file(&dir);
	if (p->fd < 0)
		return false;
	base = mmap(NULL, RESERVED, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED) {
		close(p->fd);
		return false;
	}
	__atomic_store_n(&p->base, base, __ATOMIC_RELAXED); /* others look at it */
	return true;
}

/* The file's blocks: a full disk is an error here, not a signal when a page is written. */
static bool enlarge(const struct ty_paged_pool *p)
{
	int r;

	do
		r = posix_fallocate(p->fd, (off_t)p->mapped, (off_t)EXTENT);
	while (r == EINTR);
	return !r;
}

static bool extend(struct ty_paged_pool *p, size_t bytes)
{
	while (p->mapped - p->used < bytes) {
		if (p->mapped + EXTENT > RESERVED || !enlarge(p) ||
		    mmap(p->base + p->mapped, EXTENT, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, p->fd, (off_t)p->mapped) == MAP_FAILED)
			return false;
		p->mapped += EXTENT;
	}
	return true;
}

/* True when further bytes would exceed the limit, and the file has room for them. */
static bool use_file(struct ty_paged_pool *p, size_t bytes)
{
	if (!p->limit || p->failed || p->held + bytes <= p->limit)
		return false;
	p->failed = (!p->base && !open_file(p)) || !extend(p, bytes + ALIGNED);
	return !p->failed;
}

void *ty_paged_pool_alloc(struct ty_paged_pool *p, size_t bytes)
{
	void *piece;

	if (!use_file(p, bytes)) {
		p->held += bytes;
		return malloc(bytes);
	}
	piece = p->base + p->used;
	p->used += (bytes + ALIGNED - 1) & ~(uint64_t)(ALIGNED - 1);
	return piece;
}

bool ty_paged_pool_has(const struct ty_paged_pool *p, const void *piece)
{
	const uintptr_t base = (uintptr_t)__atomic_load_n(&p->base, __ATOMIC_RELAXED);

	return base && (uintptr_t)piece - base < RESERVED;
}

void ty_paged_pool_free(const struct ty_paged_pool *p, void *piece)
{
	if (!p || !ty_paged_pool_has(p, piece))
		free(piece);
}

void ty_paged_pool_fini(struct ty_paged_pool *p)
{
	if (p->base) {
		munmap(p->base, RESERVED);
		close(p->fd);
	}
	*p = (struct ty_paged_pool){.limit = p->limit};
}
