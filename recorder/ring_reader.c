/* SPDX-License-Identifier: MIT */
/*
 * The recording path. Per CPU one reader thread and a pool of slots; as many compressor threads as
 * CPUs, of the SCHED_IDLE class, serve all pools; one thread writes.
 *
 *   ring --splice--> pipe --read--> slot --zstd or LZ4--> packet --write--> spool
 *
 * Budget (measured, EPYC VM, per 4 KB of pages of 32 KB): splice + read 0.5 us, zstd level 1 1.7
 * us, LZ4 0.6 us; they are produced in 13 us at the fastest. No lock, no allocation and no decoding
 * per page or event: of a page only its time stamp is read. Fresh memory is expensive (11 us per
 * page in a VM), so slots are touched once at the start and reused.
 *
 * splice gives full pages only, so a busy ring is read in bulk (poll wakes at buffer_percent);
 * read() of single pages also takes the page that is being written, so it is used once per FLUSH_MS
 * and at the end.
 *
 * A slot goes FREE -> FILLING (its pool's reader) -> FILLED -> CLAIMED (a compressor, or the
 * reader)
 * -> FREE; only the owner named here changes the state or looks at the content. When no slot is
 * free the reader compresses one itself (LZ4), the one filled last (still in the cache): busy CPUs
 * starve the idle class, so a thread of normal priority must do the work; for the same reason
 * it compresses what has waited for a whole flush. So a kill -9 costs at most the last two flushes.
 * A compressor may be preempted for long with a slot in its hands: a pool lends only so many that
 * its reader always finds one. Order in the spool does not matter; each chunk carries its number.
 *
 * Only the writer touches the file: a thread of the idle class that is preempted with the file's
 * lock held would stop all others for as long as the CPUs are busy, and a disk that throttles must
 * not stop a reader. Packets hold compressed chunks in between (FREE -> FILLING -> FILLED ->
 * CLAIMED by the writer -> FREE). There are enough for a second or more of a disk that stands still
 * (another program's fsync), as much as QUEUED_MAX holds; the memory of all but the first is given
 * back when they are written.
 */
#include "full_io.h"
#include "ring_reader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>

#include "now.h"
#include "unaligned.h"

/* Hand a stream's slot, if it holds anything, to the compressors. */
static void post(struct pool *p, struct stream *st)
{
	struct slot *s = st->slot;

	if (!s)
		return;
	st->slot = NULL;
	if (!s->bytes) {
		/* Not kept: the first pool has more streams (of CPUs that are offline) than slots.
		 */
		atomic_store_explicit(&s->state, FREE, memory_order_release);
		return;
	}
	p->last = s;
	s->filled_ms = ty_now_ms();
	s->seq = st->seq++;
	s->first_ns = ty_u64_at(s->mem);
	s->last_ns = ty_u64_at(s->mem + s->bytes - p->all->page_bytes);
	atomic_store_explicit(&s->state, FILLED, memory_order_release);
	atomic_fetch_add(&p->all->work, 1);
	if (atomic_load(&p->all->waiting))
		futex_wake(&p->all->work, 1);
}

static struct slot *begin(struct slot *s, const struct stream *st)
{
	atomic_store_explicit(&s->state, FILLING, memory_order_relaxed);
	s->bytes = 0;
	s->stream = st->id;
	return s;
}

/*
 * The reader compresses only when no compressor gets a CPU. That time is taken from the traced
 * work, and LZ4 needs a third of zstd's. At the end nothing is traced any more.
 */
static void put_myself(struct pool *p, struct slot *s)
{
	ty_reader_put(p->all, p->writer, s,
		      !atomic_load_explicit(&p->all->stopping, memory_order_relaxed));
}

/* A slot with room for this stream. */
static struct slot *slot_for(struct pool *p, struct stream *st)
{
	if (st->slot)
		return st->slot;
	for (;;) {
		for (unsigned i = 0; i < p->slots_n; i++) {
			struct slot *s = &p->slots[p->next];

			p->next = p->next + 1 < p->slots_n ? p->next + 1 : 0;
			if (atomic_load_explicit(&s->state, memory_order_acquire) == FREE)
				return st->slot = begin(s, st);
		}
		if (p->last && claim(p->last)) {
			put_myself(p, p->last);
			return st->slot = begin(p->last, st);
		}
		for (unsigned i = 0; i < p->slots_n; i++) {
			if (claim(&p->slots[i])) {
				put_myself(p, &p->slots[i]);
				return st->slot = begin(&p->slots[i], st);
			}
		}
		usleep(50); /* every slot is in some compressor's hands */
	}
}

static void filled(struct pool *p, struct stream *st, size_t n)
{
	st->slot->bytes += (uint32_t)n;
	atomic_store_explicit(&p->raw_bytes,
			      atomic_load_explicit(&p->raw_bytes, memory_order_relaxed) + n,
			      memory_order_relaxed);
	if (st->slot->bytes + p->all->page_bytes > SLOT_BYTES)
		post(p, st);
}

/* Single pages, the one being written included; `most` because its own writes refill it. Were there
 * any? */
static bool move_partial(struct pool *p, struct stream *st, unsigned most)
{
	unsigned i;

	for (i = 0; i < most; i++) {
		struct slot *s = slot_for(p, st);
		ssize_t n = read(st->fd, s->mem + s->bytes, p->all->page_bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		/* Always a whole page; a shorter read would shift all later ones. */
		if ((size_t)n < p->all->page_bytes)
			memset(s->mem + s->bytes + n, 0, p->all->page_bytes - (size_t)n);
		filled(p, st, p->all->page_bytes);
	}
	return i;
}

/* All full pages of a stream. Were there any? */
static bool move_full(struct pool *p, struct stream *st)
{
	for (bool any = false;; any = true) {
		struct slot *s = slot_for(p, st);
		ssize_t n = splice(st->fd, NULL, p->pipe[1], NULL, SLOT_BYTES - s->bytes,
				   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);

		if (n < 0 && errno == EINTR)
			continue;
		/* splice replaces each page that it takes from the ring by a new one; read
		 * copies. */
		if (n < 0 && errno == ENOMEM)
			return move_partial(p, st, SLOT_BYTES / (unsigned)p->all->page_bytes) ||
			       any;
		if (n <= 0 || !ty_exact_read(p->pipe[0], s->mem + s->bytes, (size_t)n, TY_IO_HERE))
			return any;
		filled(p, st, (size_t)n);
	}
}

/* What waits since the last flush or longer: no compressor gets to run on this machine. */
static void put_overdue(struct pool *p, uint64_t now)
{
	for (unsigned i = 0; i < p->slots_n; i++) {
		struct slot *s = &p->slots[i];

		if (atomic_load_explicit(&s->state, memory_order_relaxed) == FILLED &&
		    now - s->filled_ms + FLUSH_MS / 10 >= FLUSH_MS && claim(s))
			put_myself(p, s);
	}
}

void *ty_reader_main(void *arg)
{
	struct pool *p = arg;
	struct ty_readers *rs = p->all;
	uint64_t flush_at = ty_now_ms() + FLUSH_MS, now;
	bool stop, any;

	if (setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20))
		atomic_store(&rs->no_nice, true);
	do {
		now = ty_now_ms();
		poll(p->polls, p->polls_n, flush_at > now ? (int)(flush_at - now) : 0);
		stop = atomic_load(&rs->stopping);
		any = stop;
		for (unsigned i = 0; i < p->streams_n; i++)
			if (p->streams[i].polled || stop)
				any |= move_full(p, &p->streams[i]);
		for (unsigned i = 0; i + 1 < p->polls_n; i++)
			if (p->polls[i].revents & (POLLERR | POLLNVAL))
				p->polls[i].fd =
					-1; /* the CPU went offline: flushes still read it */
		now = ty_now_ms();
		if (now >= flush_at || stop) {
			put_overdue(p, now);
			for (unsigned i = 0; i < p->streams_n; i++) {
				struct stream *st = &p->streams[i];

				if (!st->polled)
					move_full(p, st);
				move_partial(p, st, stop ? UINT_MAX : 1);
				post(p, st);
			}
			flush_at = now + FLUSH_MS;
		} else if (!any) {
			usleep(1000); /* the kernel's count of full pages may be off: do not spin */
		}
	} while (!stop);
	return NULL;
}
