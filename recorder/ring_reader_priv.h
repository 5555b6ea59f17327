/* SPDX-License-Identifier: MIT */
/*
 * Shared by the parts of the recording path: ring_reader.c (ring to slot), ring_reader_compress.c
 * (slot to packet to file), ring_reader_start.c (start and end). The design is described in
 * ring_reader.c.
 */
#ifndef TY_RING_READER_PRIV_H
#define TY_RING_READER_PRIV_H

#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ring_reader.h"

enum {
	SLOT_BYTES = 256 << 10,
	SLOTS_MIN = 4,
	SLOTS_MAX = 16,
	PACKETS_MIN = 64,
	PACKETS_MAX = 2048,
	PACKETS_KEPT = 128,    /* their memory is kept */
	QUEUED_MAX = 64 << 20, /* bytes in packets waiting for the disk */
	FLUSH_MS = TY_READER_LATE_MS / 2,
	WAKE_PERCENT = 12, /* pages are still in the L2 cache: 2.75 us per page in all, 3.0 at 50 */
};

enum slot_state { FREE, FILLING, FILLED, CLAIMED };

struct slot {
	_Atomic int state;
	uint32_t bytes, stream;
	uint64_t seq, first_ns, last_ns;
	uint64_t filled_ms; /* when it was filled; belongs to the pool's reader */
	char *mem;
};

/* A compressed chunk on its way to the file. Memory is touched only where it is used. */
struct packet {
	_Atomic int state;
	size_t len;
	char *mem;
};

/* One CPU of one instance. */
struct stream {
	int fd;
	uint32_t id; /* the spool's: buffer << 16 | cpu */
	bool polled; /* false: the CPU is offline, checked once per flush */
	uint64_t seq;
	struct slot *slot; /* being filled; NULL */
};

struct pool {
	struct ty_readers *all;
	pthread_t thread;
	bool started;
	int pipe[2];
	struct stream *streams;
	unsigned streams_n;
	struct pollfd *polls; /* one per polled stream, then the stop event */
	unsigned polls_n;
	struct slot *slots;
	unsigned slots_n, next;
	struct slot *last; /* filled last */
	int lend;	   /* maximum slots held by compressors at a time */
	_Atomic int lent;
	char *mem;
	struct ty_spool_writer *writer;
	_Atomic uint64_t raw_bytes;
};

struct compressor {
	struct ty_readers *all;
	pthread_t thread;
	bool started;
	_Atomic int tid;
	unsigned first; /* first pool to check */
	struct ty_spool_writer *writer;
};

struct ty_readers {
	struct pool *pools;
	struct compressor *comps;
	unsigned cpus;		/* pools, compressors */
	size_t page_bytes;	/* of a ring page */
	int wake_fd;		/* eventfd: readers stop */
	struct ty_spool *spool; /* borrowed */
	int stop_fd;		/* the caller's: the spool failed */
	_Atomic bool stopping, drained, failed, no_nice;
	_Atomic uint32_t work;	  /* futex: counts filled slots */
	_Atomic uint32_t waiting; /* compressors asleep */
	struct packet packets[PACKETS_MAX];
	unsigned packets_n;
	_Atomic unsigned packets_used; /* highest packet ever used, + 1 */
	_Atomic uint64_t queued;       /* bytes in FILLED ones */
	char *packet_mem;
	size_t packet_bytes;
	pthread_t writer;
	bool writer_started;
	_Atomic bool packed;	/* no further packets */
	_Atomic uint32_t ready; /* futex: counts filled packets */
	_Atomic bool writer_waits;
};

static inline void futex_wake(_Atomic uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

static inline bool claim(struct slot *s)
{
	int filled = FILLED;

	return atomic_compare_exchange_strong(&s->state, &filled, CLAIMED);
}

/* Thread functions; arg: a struct pool, a struct compressor, the struct ty_readers. */
void *ty_reader_main(void *arg);
void *ty_compressor_main(void *arg);
void *ty_packet_writer_main(void *arg);

/* Compresses a CLAIMED slot and frees it. After a failure of the spool, discards the data. */
void ty_reader_put(struct ty_readers *rs, struct ty_spool_writer *w, struct slot *s, bool lz4);

#endif
