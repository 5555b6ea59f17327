/* SPDX-License-Identifier: MIT */
/*
 * The recording path. Per CPU one reader thread and a pool of slots; as many compressor threads as
 * CPUs, of the SCHED_IDLE class, serve all pools; one thread writes.
 *
 *   ring --splice--> pipe --read--> slot --zstd or LZ4--> packet --write--> spool
 *
 * Budget (measured, EPYC VM, per 4 KB of pages of 32 KB): splice + read 0.5 us, zstd level 1 1.7
 * us, LZ4 0.6 us; they are produced in 13 us at the fastest. No lock, no allocation and no decoding
 * per page or event: of a page only its time stamp is looked at. Fresh memory is dear (11 us per
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
 * starve the idle class, and then the work must be done by somebody who runs; for the same reason
 * it compresses what has waited for a whole flush. So a kill -9 costs at most the last two flushes.
 * A compressor may be preempted for long with a slot in its hands: a pool lends only so many that
 * its reader always finds one. Order in the spool does not matter; each chunk carries its number.
 *
 * Only the writer touches the file: a thread of the idle class that is preempted with the file's
 * lock held would stop everybody for as long as the CPUs are busy, and a disk that throttles must
 * not stop a reader. Packets hold compressed chunks in between (FREE -> FILLING -> FILLED ->
 * CLAIMED by the writer -> FREE). There are enough for a second or more of a disk that stands still
 * (another program's fsync), as much as QUEUED_MAX holds; the memory of all but the first is given
 * back when they are written.
 */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "spool_file.h"

enum {
	SLOT_BYTES = 256 << 10,
	SLOTS_MIN = 4,
	SLOTS_MAX = 16,
	PACKETS_MIN = 64,
	PACKETS_MAX = 2048,
	PACKETS_KEPT = 128,    /* their memory stays */
	QUEUED_MAX = 64 << 20, /* bytes in packets that wait for the disk */
	FLUSH_MS = 1000,
	WAKE_PERCENT = 12, /* pages are still in the L2 cache: 2.75 us per page in all, 3.0 at 50 */
	CPUS_MAX = 4096
};

enum slot_state { FREE, FILLING, FILLED, CLAIMED };

struct slot {
	_Atomic int state;
	uint32_t bytes, stream;
	uint64_t seq, first_ns, last_ns;
	uint64_t filled_ms; /* when it was handed over; the pool's reader's */
	char *mem;
};

/* A compressed chunk on its way to the file. Its memory is only touched as far as it is used. */
struct packet {
	_Atomic int state;
	size_t len;
	char *mem;
};

/* One CPU of one instance. */
struct stream {
	int fd;
	uint32_t id; /* the spool's: buffer << 16 | cpu */
	bool polled; /* false: the CPU is offline, looked at once per flush */
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
	int lend;	   /* most slots that compressors may hold at a time */
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
	unsigned first; /* the pool it looks at first */
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
	_Atomic unsigned packets_used; /* the highest that was ever in use, + 1 */
	_Atomic uint64_t queued;       /* bytes in FILLED ones */
	char *packet_mem;
	size_t packet_bytes;
	pthread_t writer;
	bool writer_started;
	_Atomic bool packed;	/* no more packets will come */
	_Atomic uint32_t ready; /* futex: counts filled packets */
	_Atomic bool writer_waits;
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t page_time(const char *page)
{
	uint64_t ns;

	memcpy(&ns, page, sizeof(ns));
	return ns;
}

static void futex_wake(_Atomic uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
}

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

/* The first failure of the spool: the caller of the readers is told, and is about to stop. */
static void fail(struct ty_readers *rs)
{
	uint64_t one = 1;

	if (!atomic_exchange(&rs->failed, true) && write(rs->stop_fd, &one, 8) < 0)
		return; /* the counter is full: the caller is awake already */
}

/* Compress a CLAIMED slot and free it. After a failure of the spool data is dropped. */
static void put(struct ty_readers *rs, struct ty_spool_writer *w, struct slot *s, bool lz4)
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

static void *writer_main(void *arg)
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

static bool claim(struct slot *s)
{
	int filled = FILLED;

	return atomic_compare_exchange_strong(&s->state, &filled, CLAIMED);
}

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
	s->filled_ms = now_ms();
	s->seq = st->seq++;
	s->first_ns = page_time(s->mem);
	s->last_ns = page_time(s->mem + s->bytes - p->all->page_bytes);
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
 * The reader compresses itself only when nobody else gets to run: then what it takes is taken from
 * the traced work, and LZ4 takes a third of zstd's time. At the end nothing is traced any more.
 */
static void put_myself(struct pool *p, struct slot *s)
{
	put(p->all, p->writer, s, !atomic_load_explicit(&p->all->stopping, memory_order_relaxed));
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

/* Exactly n bytes that are known to be in the pipe. */
static bool from_pipe(const struct pool *p, char *to, size_t n)
{
	while (n) {
		ssize_t r = read(p->pipe[0], to, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		to += r;
		n -= (size_t)r;
	}
	return true;
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
		/* Always a whole page; a shorter answer would shift all later ones. */
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
		/* splice gives the ring a new page for each it takes; read has one of its own. */
		if (n < 0 && errno == ENOMEM)
			return move_partial(p, st, SLOT_BYTES / (unsigned)p->all->page_bytes) ||
			       any;
		if (n <= 0 || !from_pipe(p, s->mem + s->bytes, (size_t)n))
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

static void *reader_main(void *arg)
{
	struct pool *p = arg;
	struct ty_readers *rs = p->all;
	uint64_t flush_at = now_ms() + FLUSH_MS, now;
	bool stop, any;

	if (setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20))
		atomic_store(&rs->no_nice, true);
	do {
		now = now_ms();
		poll(p->polls, p->polls_n, flush_at > now ? (int)(flush_at - now) : 0);
		stop = atomic_load(&rs->stopping);
		any = stop;
		for (unsigned i = 0; i < p->streams_n; i++)
			if (p->streams[i].polled || stop)
				any |= move_full(p, &p->streams[i]);
		for (unsigned i = 0; i + 1 < p->polls_n; i++)
			if (p->polls[i].revents & (POLLERR | POLLNVAL))
				p->polls[i].fd = -1; /* the CPU went away: flushes still look */
		now = now_ms();
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

static bool borrow(struct pool *p, bool last)
{
	if (atomic_fetch_add(&p->lent, 1) < p->lend || last)
		return true;
	atomic_fetch_sub(&p->lent, 1);
	return false;
}

/*
 * Claim a filled slot of a pool that may lend one more (at the end any may): *from. A slot passed
 * by for that reason is found by who gives one back, because that one looks again.
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

static void *compressor_main(void *arg)
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
			put(rs, c->writer, s, false);
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

unsigned ty_cpu_list(const char *path, unsigned *cpus, unsigned max)
{
	char text[4096], *p = text;
	FILE *f = fopen(path, "re");
	unsigned n = 0;

	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	while (*p >= '0' && *p <= '9') {
		unsigned long a = strtoul(p, &p, 10), b = a;

		if (*p == '-')
			b = strtoul(p + 1, &p, 10);
		for (; a <= b && n < max && a < CPUS_MAX; a++)
			cpus[n++] = (unsigned)a;
		if (*p == ',')
			p++;
	}
	return n;
}

static int open_stream(struct pool *p, const struct ty_instance *inst, unsigned buffer,
		       unsigned cpu, bool polled, struct ty_err *err)
{
	char path[64];
	struct stream *st = &p->streams[p->streams_n];
	int fd;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = openat(inst->dir, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return ty_fail_errno(err, "cannot open %s/%s", inst->path, path);
	/* The kernel takes the page that read() works with now, when there is memory. */
	(void)!read(fd, p->mem, 0);
	*st = (struct stream){.fd = fd, .id = buffer << 16 | cpu, .polled = polled};
	p->streams_n++;
	if (polled)
		p->polls[p->polls_n++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

static int init_pool(struct ty_readers *rs, struct pool *p, struct ty_spool *spool,
		     unsigned streams_max, unsigned slots, struct ty_err *err)
{
	size_t bytes = (size_t)slots * SLOT_BYTES;

	p->all = rs;
	p->pipe[0] = p->pipe[1] = -1;
	p->streams = calloc(streams_max, sizeof(*p->streams));
	p->polls = calloc(streams_max + 1, sizeof(*p->polls));
	p->slots = calloc(slots, sizeof(*p->slots));
	p->mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->mem == MAP_FAILED)
		p->mem = NULL;
	p->slots_n = slots;
	p->writer = ty_spool_writer_new(spool, SLOT_BYTES);
	if (!p->streams || !p->polls || !p->slots || !p->mem || !p->writer)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the readers");
	madvise(p->mem, bytes, MADV_HUGEPAGE);
	memset(p->mem, 1, bytes);
	for (unsigned i = 0; i < slots; i++)
		p->slots[i].mem = p->mem + (size_t)i * SLOT_BYTES;
	if (pipe2(p->pipe, O_CLOEXEC | O_NONBLOCK))
		return ty_fail_errno(err, "cannot make a pipe");
	fcntl(p->pipe[1], F_SETPIPE_SZ, SLOT_BYTES); /* a smaller one only means more calls */
	return 0;
}

static int init_pools(struct ty_readers *rs, const struct ty_instance *const *inst, unsigned n,
		      struct ty_spool *spool, uint64_t budget, struct ty_err *err)
{
	static const char dir[] = "/sys/devices/system/cpu/";
	unsigned online[CPUS_MAX], possible[CPUS_MAX], on, poss, streams, r = 0;
	uint64_t slots;
	char path[64];

	snprintf(path, sizeof(path), "%sonline", dir);
	on = ty_cpu_list(path, online, CPUS_MAX);
	snprintf(path, sizeof(path), "%spossible", dir);
	poss = ty_cpu_list(path, possible, CPUS_MAX);
	if (!on)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET, "cannot read %sonline", dir);
	rs->pools = calloc(on, sizeof(*rs->pools));
	rs->comps = calloc(on, sizeof(*rs->comps));
	if (!rs->pools || !rs->comps)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the readers");
	slots = budget / SLOT_BYTES / on;
	slots = slots < SLOTS_MIN ? SLOTS_MIN : slots > SLOTS_MAX ? SLOTS_MAX : slots;
	for (unsigned i = 0; i < on; i++) {
		/* The first pool also serves the CPUs that may come online later. */
		streams = n * (i ? 1 : 1 + poss);
		rs->cpus++;
		rs->pools[i].pipe[0] = rs->pools[i].pipe[1] = -1;
		r = init_pool(rs, &rs->pools[i], spool, streams, (unsigned)slots, err);
		/* Every stream fills one, those of offline CPUs one after the other. */
		rs->pools[i].lend = (int)slots - (n < 2 ? 2 : (int)n) - (!i && poss > on);
		for (unsigned k = 0; !r && k < n; k++)
			r = open_stream(&rs->pools[i], inst[k], k, online[i], true, err);
		if (r)
			return r;
		rs->comps[i] = (struct compressor){.all = rs, .first = i};
		rs->comps[i].writer = ty_spool_writer_new(spool, SLOT_BYTES);
		if (!rs->comps[i].writer)
			return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
				       "out of memory for the compressors");
	}
	for (unsigned i = 0, o = 0; i < poss; i++) {
		while (o < on && online[o] < possible[i])
			o++;
		if (o < on && online[o] == possible[i])
			continue;
		for (unsigned k = 0; k < n; k++)
			open_stream(&rs->pools[0], inst[k], k, possible[i], false, NULL);
	}
	return 0;
}

static int init_packets(struct ty_readers *rs, struct ty_err *err)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *mem = MAP_FAILED;

	rs->packet_bytes = (ty_spool_packed_max(SLOT_BYTES) + page - 1) & ~(page - 1);
	/* Address space, not memory; where even that is counted (overcommit_memory 2), less. */
	for (unsigned n = PACKETS_MAX; mem == MAP_FAILED && n >= PACKETS_MIN; n /= 2) {
		rs->packets_n = n;
		mem = mmap(NULL, rs->packet_bytes * n, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	}
	if (mem == MAP_FAILED)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the writer");
	rs->packet_mem = mem;
	for (unsigned i = 0; i < rs->packets_n; i++)
		rs->packets[i].mem = rs->packet_mem + i * rs->packet_bytes;
	errno = pthread_create(&rs->writer, NULL, writer_main, rs);
	if (errno)
		return ty_fail_errno(err, "cannot start the writer thread");
	rs->writer_started = true;
	return 0;
}

int ty_readers_start(struct ty_readers **out, const struct ty_instance *const *inst, unsigned n,
		     struct ty_spool *spool, uint64_t budget, int stop_fd, struct ty_err *err)
{
	struct ty_readers *rs = calloc(1, sizeof(*rs));
	char percent[8];
	int r = 0;

	*out = NULL;
	if (!rs)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the readers");
	rs->stop_fd = stop_fd;
	rs->spool = spool;
	rs->page_bytes = inst[0]->page_bytes;
	rs->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rs->wake_fd < 0)
		r = ty_fail_errno(err, "cannot make an eventfd");
	snprintf(percent, sizeof(percent), "%d", WAKE_PERCENT);
	/* Kernels before 4.21 have no buffer_percent: their readers wake at every page. */
	for (unsigned i = 0; !r && i < n; i++)
		ty_tracefs_write(inst[i]->dir, "buffer_percent", percent, false, NULL);
	if (!r)
		r = init_packets(rs, err);
	if (!r)
		r = init_pools(rs, inst, n, spool, budget, err);
	for (unsigned i = 0; !r && i < rs->cpus; i++) {
		struct pool *p = &rs->pools[i];
		struct compressor *c = &rs->comps[i];

		p->polls[p->polls_n++] = (struct pollfd){.fd = rs->wake_fd, .events = POLLIN};
		errno = pthread_create(&p->thread, NULL, reader_main, p);
		p->started = !errno;
		if (p->started) {
			errno = pthread_create(&c->thread, NULL, compressor_main, c);
			c->started = !errno;
		}
		if (errno)
			r = ty_fail_errno(err, "cannot start the reader threads");
	}
	if (r) {
		ty_readers_finish(rs, NULL);
		ty_readers_free(rs);
		return r;
	}
	*out = rs;
	return 0;
}

int ty_readers_finish(struct ty_readers *rs, struct ty_err *err)
{
	const struct sched_param none = {0};
	uint64_t one = 1;

	atomic_store(&rs->stopping, true);
	if (rs->wake_fd >= 0 && write(rs->wake_fd, &one, 8) < 0)
		return ty_fail_errno(err, "cannot wake the reader threads");
	for (unsigned i = 0; i < rs->cpus; i++)
		if (rs->comps[i].started && atomic_load(&rs->comps[i].tid))
			sched_setscheduler(atomic_load(&rs->comps[i].tid), SCHED_OTHER, &none);
	for (unsigned i = 0; i < rs->cpus; i++)
		if (rs->pools[i].started)
			pthread_join(rs->pools[i].thread, NULL);
	atomic_store(&rs->drained, true);
	atomic_fetch_add(&rs->work, 1);
	futex_wake(&rs->work, INT_MAX);
	for (unsigned i = 0; i < rs->cpus; i++) {
		if (rs->comps[i].started)
			pthread_join(rs->comps[i].thread, NULL);
		rs->pools[i].started = rs->comps[i].started = false;
		for (unsigned k = 0; k < rs->pools[i].streams_n; k++)
			close(rs->pools[i].streams[k].fd);
		rs->pools[i].streams_n = 0;
	}
	atomic_store(&rs->packed, true);
	atomic_fetch_add(&rs->ready, 1);
	futex_wake(&rs->ready, 1);
	if (rs->writer_started)
		pthread_join(rs->writer, NULL);
	rs->writer_started = false;
	return atomic_load(&rs->failed) ? ty_spool_failed(rs->spool, err) : 0;
}

void ty_readers_free(struct ty_readers *rs)
{
	if (!rs)
		return;
	for (unsigned i = 0; i < rs->cpus; i++) {
		struct pool *p = &rs->pools[i];

		ty_spool_writer_free(p->writer);
		ty_spool_writer_free(rs->comps[i].writer);
		if (p->pipe[0] >= 0) {
			close(p->pipe[0]);
			close(p->pipe[1]);
		}
		if (p->mem)
			munmap(p->mem, (size_t)p->slots_n * SLOT_BYTES);
		free(p->streams);
		free(p->polls);
		free(p->slots);
	}
	if (rs->wake_fd >= 0)
		close(rs->wake_fd);
	if (rs->packet_mem)
		munmap(rs->packet_mem, rs->packet_bytes * rs->packets_n);
	free(rs->pools);
	free(rs->comps);
	free(rs);
}

uint64_t ty_readers_raw_bytes(const struct ty_readers *rs)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < rs->cpus; i++)
		n += atomic_load_explicit(&rs->pools[i].raw_bytes, memory_order_relaxed);
	return n;
}

bool ty_readers_no_nice(const struct ty_readers *rs)
{
	return atomic_load(&rs->no_nice);
}
