/* SPDX-License-Identifier: MIT */
/*
 * The store; see store.h. Budget: an allocation is an addition and a comparison; memory is
 * requested every 2 MB. (Measured on the development machine: fresh memory 1.1 ns per byte, a
 * direct write of 2 MB 0.4 ns per byte of which the CPU spends 4%, the same through the page cache
 * 2.4 ns, all CPU.)
 *
 * Invariants: the writer reads only complete extents [written, full). Memory is replaced by the
 * file's pages under the lock, and only where they are written. Addresses never move. A reader that
 * faults during the exchange of pages waits in the kernel and sees the same bytes (TSan reports
 * this as a race).
 */
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "now.h"
#include "temp_file.h"

#define EXTENT (UINT64_C(2) << 20)
#ifndef RESERVED /* less where addresses are expensive: qemu-user notes something for each page */
#define RESERVED (UINT64_C(1) << 38)
#endif
#define WRITE_MAX  (4 * EXTENT)
#define WRITE_MIN  (EXTENT / 8)
#define WRITE_NS   20000000 /* a write that takes longer halves the next: it cannot be cut short */
#define LEAVE_NS   UINT64_C(100000000)
#define WAIT_NS	   UINT64_C(10000000000)
#define LEAST	   EXTENT /* of memory, whatever lies beside */
#define FILE_BLOCK 4096u  /* O_DIRECT's unit */

struct ty_store_writer {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	int fd;
	uint64_t full;	  /* up to here extents are complete */
	uint64_t written; /* up to here they are in the file */
	uint64_t dropped; /* up to here the data is in the file's pages and no longer in memory */
	uint64_t begun_ns, until_ns; /* when writing began; when it is not worth waiting any more */
	bool closing, failed;
	int error; /* errno of the failure */
	ty_store_done *done;
	void *ctx;
};

uint64_t ty_store_hash(const void *p, size_t n)
{
	static const uint64_t k = 0x9e3779b97f4a7c15u;
	const uint8_t *b = p;
	uint64_t h[4] = {n, 1, 2, 3}, w[4];

	for (; n >= 32; n -= 32, b += 32) {
		memcpy(w, b, 32);
		for (unsigned i = 0; i < 4; i++) {
			h[i] = (h[i] ^ w[i]) * k;
			h[i] ^= h[i] >> 29;
		}
	}
	memset(w, 0, sizeof(w));
	memcpy(w, b, n);
	for (unsigned i = 0; i < 4; i++) {
		h[i] = (h[i] ^ w[i]) * k;
		h[i] ^= h[i] >> 32;
	}
	return ((h[0] * k ^ h[1]) * k ^ h[2]) * k ^ h[3];
}

static struct ty_store *reserve(uint64_t bytes)
{
	struct ty_store *s = calloc(1, sizeof(*s));
	void *p;

	if (!s)
		return NULL;
	/* A limit on addresses (ulimit -v) may allow less. */
	for (;; bytes /= 2) {
		p = mmap(NULL, bytes + EXTENT, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED || bytes <= 64 * EXTENT)
			break;
	}
	if (p == MAP_FAILED) {
		free(s);
		return NULL;
	}
	s->base = (uint8_t *)(((uintptr_t)p + EXTENT - 1) & ~(uintptr_t)(EXTENT - 1));
	/* The rest on both sides is given back, so that freeing is one call. */
	if (s->base != p)
		munmap(p, (size_t)(s->base - (uint8_t *)p));
	if (s->base != (uint8_t *)p + EXTENT)
		munmap(s->base + bytes, (size_t)((uint8_t *)p + EXTENT - s->base));
	s->reserved = bytes;
	s->budget = UINT64_MAX;
	return s;
}

struct ty_store *ty_store_new(uint64_t budget_bytes)
{
	struct ty_store *s = reserve(RESERVED);

	if (!s)
		return NULL;
	s->budget = budget_bytes;
	s->used = TY_STORE_HEAD;
	return s;
}

struct ty_store *ty_store_map(int fd, uint64_t bytes)
{
	struct ty_store *s;

	if (bytes > RESERVED || bytes < TY_STORE_HEAD)
		return NULL;
	s = reserve((bytes + TY_STORE_GUARD + EXTENT - 1) & ~(EXTENT - 1));
	if (!s)
		return NULL;
	s->opened = true;
	s->used = s->committed = bytes;
	/* The guard behind the file reads as zero. */
	if (mmap(s->base, s->reserved, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) ==
		    MAP_FAILED ||
	    mmap(s->base, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
		ty_store_free(s);
		return NULL;
	}
	return s;
}

/* writing ----------------------------------------------------------------------------------- */

static bool write_all(int fd, const uint8_t *p, uint64_t n, uint64_t off)
{
	while (n) {
		ssize_t r = pwrite(fd, p, n, (off_t)off);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EINVAL && fcntl(fd, F_GETFL) & O_DIRECT) {
			/* This file system takes no direct writes after all. */
			if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT))
				return false;
			continue;
		}
		if (!r)
			errno = ENOSPC;
		if (r <= 0)
			return false;
		p += r;
		off += (uint64_t)r;
		n -= (uint64_t)r;
		if (n && r % FILE_BLOCK) /* a short write leaves direct writes unaligned */
			fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_DIRECT);
	}
	return true;
}

/* Under the lock: nothing more is written or given back. */
static void give_up(struct ty_store_writer *w)
{
	w->error = errno;
	w->failed = true;
	/* Free the space of a full disk; pages that replace memory are kept. */
	if (ftruncate(w->fd, (off_t)w->dropped))
		w->error = errno;
}

/* Is there as much memory in use as may be? Something is always left, or nothing would go on. */
static bool all_used(const struct ty_store *s, uint64_t bytes)
{
	uint64_t beside = __atomic_load_n(&s->beside, __ATOMIC_RELAXED);

	return bytes >= (s->budget > beside + LEAST ? s->budget - beside : LEAST);
}

void ty_store_beside(struct ty_store *s, uint64_t more, uint64_t less)
{
	/* The writer looks at it. */
	__atomic_store_n(&s->beside, s->beside + more - less, __ATOMIC_RELAXED);
}

/* Under the lock: give memory back beyond the budget. */
static void drop(struct ty_store *s, struct ty_store_writer *w)
{
	while (all_used(s, s->committed - w->dropped) && w->dropped + EXTENT <= w->written) {
		if (mmap(s->base + w->dropped, EXTENT, PROT_READ, MAP_SHARED | MAP_FIXED, w->fd,
			 (off_t)w->dropped) == MAP_FAILED) {
			give_up(w);
			return;
		}
		w->dropped += EXTENT;
	}
}

static void *writer_main(void *arg)
{
	struct ty_store *s = arg;
	struct ty_store_writer *w = s->writer;
	uint64_t most = EXTENT;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		uint64_t from = w->written, n = w->full - from, t;
		bool ok;

		/* Also when nothing is to be written: the filling thread may wait for room. */
		drop(s, w);
		pthread_cond_broadcast(&w->moved);
		if (w->failed || (!n && w->closing))
			break;
		if (!n) {
			pthread_cond_wait(&w->moved, &w->lock);
			continue;
		}
		n = n < most ? n : most;
		pthread_mutex_unlock(&w->lock);
		t = ty_now_ns(CLOCK_MONOTONIC);
		ok = write_all(w->fd, s->base + from, n, from);
		if (ty_now_ns(CLOCK_MONOTONIC) - t > WRITE_NS)
			most = most > WRITE_MIN ? most / 2 : most;
		else
			most = most < WRITE_MAX ? most * 2 : most;
		pthread_mutex_lock(&w->lock);
		if (ok) {
			w->written += n;
			drop(s, w);
		} else {
			give_up(w);
		}
		pthread_cond_broadcast(&w->moved);
	}
	/* Without the end of the store there is no index, only a place for extents. */
	while (!w->closing)
		pthread_cond_wait(&w->moved, &w->lock);
	pthread_mutex_unlock(&w->lock);
	if (w->done)
		w->done(w->ctx, w->fd, !w->failed && w->written >= s->used);
	return NULL;
}

int ty_store_file(struct ty_store *s, int fd, const char *place, ty_store_done *done, void *ctx)
{
	struct ty_store_writer *w = calloc(1, sizeof(*w));
	pthread_condattr_t attr;
	sigset_t all, was;
	int r;

	if (!w)
		return -TY_ENOMEM;
	w->fd = fd;
	w->begun_ns = ty_now_ns(CLOCK_MONOTONIC);
	w->done = done;
	w->ctx = ctx;
	snprintf(s->place, sizeof(s->place), "%s", place);
	pthread_mutex_init(&w->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w->moved, &attr);
	pthread_condattr_destroy(&attr);
	s->writer = w;
	w->full = s->used & ~(EXTENT - 1);
	/* Signals are for the thread that waits for input. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &was);
	r = pthread_create(&w->thread, NULL, writer_main, s);
	pthread_sigmask(SIG_SETMASK, &was, NULL);
	if (r) {
		pthread_mutex_destroy(&w->lock);
		pthread_cond_destroy(&w->moved);
		s->writer = NULL;
		free(w);
		return -TY_ESYS;
	}
	return 0;
}

void ty_store_close_file(struct ty_store *s)
{
	struct ty_store_writer *w = s->writer;

	if (!w)
		return;
	pthread_mutex_lock(&w->lock);
	w->full = (s->used + FILE_BLOCK - 1) & ~(uint64_t)(FILE_BLOCK - 1);
	w->until_ns = 2 * ty_now_ns(CLOCK_MONOTONIC) - w->begun_ns + WAIT_NS;
	w->closing = true;
	pthread_cond_broadcast(&w->moved);
	pthread_mutex_unlock(&w->lock);
}

/* filling ----------------------------------------------------------------------------------- */

/* Over the budget without a file to write to: use an unnamed one. */
static bool spill(struct ty_store *s)
{
	const char *dir;
	int fd = ty_temp_file(&dir);

	if (fd < 0) {
		s->error = errno;
		snprintf(s->place, sizeof(s->place), "%s", dir);
		return false;
	}
	if (ty_store_file(s, fd, dir, NULL, NULL)) {
		close(fd);
		return false;
	}
	return true;
}

/* Memory for [committed, to). Over the budget: wait until the writer has made room. */
static bool commit(struct ty_store *s, uint64_t to)
{
	bool ok = true;

	while (s->committed < to) {
		uint8_t *p = s->base + s->committed;
		struct ty_store_writer *w;

		if (s->committed + EXTENT > s->reserved ||
		    (!s->writer && all_used(s, s->committed) && !spill(s)))
			return false;
		w = s->writer;
		if (w) {
			pthread_mutex_lock(&w->lock);
			w->full = s->used & ~(EXTENT - 1);
			pthread_cond_broadcast(&w->moved);
			while (all_used(s, s->committed - w->dropped) && w->dropped < w->full &&
			       !w->failed)
				pthread_cond_wait(&w->moved, &w->lock);
			ok = !w->failed || !all_used(s, s->committed - w->dropped);
			if (!ok)
				s->error = w->error;
			pthread_mutex_unlock(&w->lock);
		}
		if (!ok || mmap(p, EXTENT, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
			return false;
		/* Small models stay small. */
		if (s->committed >= EXTENT)
			madvise(p, EXTENT, MADV_HUGEPAGE);
		if (w)
			pthread_mutex_lock(&w->lock);
		s->committed += EXTENT;
		if (w)
			pthread_mutex_unlock(&w->lock);
	}
	return true;
}

void ty_store_filled(struct ty_store *s)
{
	struct ty_store_writer *w;

	if (s->budget == UINT64_MAX || s->committed <= s->budget / 4)
		return;
	if (!s->writer && !spill(s))
		return;
	w = s->writer;
	pthread_mutex_lock(&w->lock);
	s->budget = 0; /* LEAST */
	w->full = s->used > w->full ? s->used & ~(EXTENT - 1) : w->full;
	pthread_cond_broadcast(&w->moved);
	/* The writer may have ended. */
	for (drop(s, w);
	     all_used(s, s->committed - w->dropped) && w->dropped + EXTENT <= w->full && !w->failed;
	     drop(s, w))
		pthread_cond_wait(&w->moved, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

uint64_t ty_store_alloc(struct ty_store *s, uint64_t bytes)
{
	uint64_t off = (s->used + 7) & ~UINT64_C(7), to;

	if (s->opened || bytes > s->reserved || off > s->reserved - bytes)
		return 0;
	/* Memory behind it, for readers that load 8 bytes at a column's end and beyond. */
	to = off + bytes + TY_STORE_GUARD;
	if (to > s->committed && !commit(s, to))
		return 0;
	s->used = off + bytes;
	return off;
}

int ty_store_why(const struct ty_store *s, struct ty_err *err)
{
	if (!s->error)
		return 0;
	errno = s->error;
	return ty_fail_errno(err,
			     "the index exceeds --memory and cannot be spilled to a file in %s. "
			     "Free space there, increase --memory, or use --no-index with TMPDIR "
			     "set to a directory on another disk",
			     s->place);
}

/* Under the lock: until all is written, or it is not worth waiting any more. */
static void await(const struct ty_store *s, struct ty_store_writer *w)
{
	uint64_t until = w->until_ns, most = ty_now_ns(CLOCK_MONOTONIC) + LEAVE_NS;
	struct timespec ts;

	if (s->leaving && until > most)
		until = most;
	ts = (struct timespec){.tv_sec = (time_t)(until / 1000000000),
			       .tv_nsec = (long)(until % 1000000000)};
	while (!w->failed && w->written < w->full)
		if (pthread_cond_timedwait(&w->moved, &w->lock, &ts) == ETIMEDOUT)
			w->failed = w->written < w->full;
}

void ty_store_free(struct ty_store *s)
{
	if (!s)
		return;
	if (s->writer) {
		struct ty_store_writer *w = s->writer;

		pthread_mutex_lock(&w->lock);
		if (!w->closing) /* abandoned: its content is useless */
			w->closing = w->failed = true;
		else
			await(s, w);
		pthread_cond_broadcast(&w->moved);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
		pthread_mutex_destroy(&w->lock);
		pthread_cond_destroy(&w->moved);
		close(w->fd);
		free(w);
	}
	munmap(s->base, s->reserved);
	free(s);
}
