/* SPDX-License-Identifier: MIT */
/*
 * From slot to file: compressors (and readers without a free slot) compress slots into packets, one
 * thread writes the packets. States and reasons: ring_reader.c.
 */
#include "ring_reader_priv.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* A free packet, waiting for the disk when there is none; NULL once the spool has failed. The
 * lowest is taken first: its memory is touched already. */
static struct packet *packet_for(struct ty_readers *rs)
{
	while (!atomic_load_explicit(&rs->failed, memory_order_relaxed)) {
		bool room = atomic_load_explicit(&rs->queued, memory_order_relaxed) < QUEUED_MAX;

		for (unsigned i = 0; room && i < rs->packets_n; i++) {
			unsigned used =
				atomic_load_explicit(&rs->packets_used, memory_order_relaxed);
			int state = FREE;

			if (atomic_load_explicit(&rs->packets[i].state, memory_order_relaxed) !=
				    FREE ||
			    !atomic_compare_exchange_strong(&rs->packets[i].state, &state, FILLING))
				continue;
			while (used <= i &&
			       !atomic_compare_exchange_weak(&rs->packets_used, &used, i + 1))
				;
			return &rs->packets[i];
		}
		usleep(200);
	}
	return NULL;
}

/* The first failure of the spool: reported to the caller of the readers, which then stops. */
static void fail(struct ty_readers *rs)
{
	uint64_t one = 1;

	if (!atomic_exchange(&rs->failed, true) && write(rs->stop_fd, &one, 8) < 0)
		return; /* the counter is full: the caller is awake already */
}

void ty_reader_put(struct ty_readers *rs, struct ty_spool_writer *w, struct slot *s, bool lz4)
{
	const struct ty_spool_chunk what = {.type = TY_SPOOL_DATA,
					    .flags = lz4 ? TY_SPOOL_LZ4 : 0,
					    .stream = s->stream,
					    .seq = s->seq,
					    .first_ns = s->first_ns,
					    .last_ns = s->last_ns};
	struct packet *k = packet_for(rs);

	if (k && ty_spool_pack(w, &what, s->mem, s->bytes, k->mem, rs->packet_bytes, &k->len, NULL))
		fail(rs);
	s->bytes = 0;
	atomic_store_explicit(&s->state, FREE, memory_order_release);
	if (!k)
		return;
	atomic_fetch_add_explicit(&rs->queued, k->len, memory_order_relaxed);
	atomic_store_explicit(&k->state, FILLED, memory_order_release);
	atomic_fetch_add(&rs->ready, 1);
	if (atomic_load(&rs->writer_waits))
		futex_wake(&rs->ready, 1);
}

/* Write every packet that is there. Were there any? */
static bool write_packets(struct ty_readers *rs)
{
	unsigned used = atomic_load(&rs->packets_used);
	bool any = false;

	for (unsigned i = 0; i < used; i++) {
		struct packet *k = &rs->packets[i];

		if (atomic_load_explicit(&k->state, memory_order_acquire) != FILLED)
			continue;
		if (k->len && !atomic_load(&rs->failed) &&
		    ty_spool_append(rs->spool, k->mem, k->len, NULL))
			fail(rs);
		atomic_fetch_sub_explicit(&rs->queued, k->len, memory_order_relaxed);
		if (i >= PACKETS_KEPT)
			madvise(k->mem, rs->packet_bytes, MADV_DONTNEED);
		atomic_store_explicit(&k->state, FREE, memory_order_release);
		any = true;
	}
	return any;
}

void *ty_packet_writer_main(void *arg)
{
	struct ty_readers *rs = arg;

	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
	for (;;) {
		uint32_t seen = atomic_load(&rs->ready);
		bool last = atomic_load(&rs->packed);

		if (write_packets(rs))
			continue;
		if (last)
			return NULL;
		atomic_store(&rs->writer_waits, true);
		syscall(SYS_futex, &rs->ready, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_store(&rs->writer_waits, false);
	}
}

static bool borrow(struct pool *p, bool last)
{
	if (atomic_fetch_add(&p->lent, 1) < p->lend || last)
		return true;
	atomic_fetch_sub(&p->lent, 1);
	return false;
}

/*
 * Claim a filled slot of a pool that may lend one more (at the end any may): *from. A slot that is
 * skipped for that reason is found by the compressor that returns one, because it scans again.
 */
static struct slot *find_filled(struct ty_readers *rs, unsigned first, bool last,
				struct pool **from)
{
	for (unsigned i = 0; i < rs->cpus; i++) {
		struct pool *p = &rs->pools[(first + i) % rs->cpus];

		for (unsigned k = 0; k < p->slots_n; k++) {
			struct slot *s = &p->slots[k];

			if (atomic_load_explicit(&s->state, memory_order_relaxed) != FILLED)
				continue;
			if (!borrow(p, last))
				break;
			if (claim(s)) {
				*from = p;
				return s;
			}
			atomic_fetch_sub(&p->lent, 1);
		}
	}
	return NULL;
}

void *ty_compressor_main(void *arg)
{
	struct compressor *c = arg;
	struct ty_readers *rs = c->all;
	const struct sched_param none = {0};

	sched_setscheduler(0, SCHED_IDLE, &none);
	atomic_store(&c->tid, (int)syscall(SYS_gettid));
	for (;;) {
		uint32_t seen = atomic_load(&rs->work);
		bool last = atomic_load(&rs->drained);
		struct pool *from;
		struct slot *s = find_filled(rs, c->first, last, &from);

		if (s) {
			ty_reader_put(rs, c->writer, s, false);
			atomic_fetch_sub(&from->lent, 1);
			continue;
		}
		if (last)
			return NULL;
		atomic_fetch_add(&rs->waiting, 1);
		syscall(SYS_futex, &rs->work, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		atomic_fetch_sub(&rs->waiting, 1);
	}
}
