/* SPDX-License-Identifier: MIT */
/* Start (files, memory, threads) and end of the recording path. */
#include "ring_reader_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "cpu_list.h"
#include "spool_file.h"

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
		return ty_fail_errno(err, "cannot create a pipe");
	fcntl(p->pipe[1], F_SETPIPE_SZ, SLOT_BYTES); /* a smaller one only means more calls */
	return 0;
}

static int init_pools(struct ty_readers *rs, const struct ty_instance *const *inst, unsigned n,
		      struct ty_spool *spool, uint64_t budget, struct ty_err *err)
{
	static const char dir[] = "/sys/devices/system/cpu/";
	unsigned online[TY_CPUS_MAX], possible[TY_CPUS_MAX], on, poss, streams, r = 0;
	uint64_t slots;
	char path[64];

	snprintf(path, sizeof(path), "%sonline", dir);
	on = ty_cpu_list(path, online, TY_CPUS_MAX);
	snprintf(path, sizeof(path), "%spossible", dir);
	poss = ty_cpu_list(path, possible, TY_CPUS_MAX);
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
	errno = pthread_create(&rs->writer, NULL, ty_packet_writer_main, rs);
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
		r = ty_fail_errno(err, "cannot create an eventfd");
	snprintf(percent, sizeof(percent), "%d", WAKE_PERCENT);
	/* Kernels before 4.21 have no buffer_percent: their readers wake at every page. */
	for (unsigned i = 0; !r && i < n; i++)
		ty_instance_write(inst[i], "buffer_percent", percent, false, NULL);
	if (!r)
		r = init_packets(rs, err);
	if (!r)
		r = init_pools(rs, inst, n, spool, budget, err);
	for (unsigned i = 0; !r && i < rs->cpus; i++) {
		struct pool *p = &rs->pools[i];
		struct compressor *c = &rs->comps[i];

		p->polls[p->polls_n++] = (struct pollfd){.fd = rs->wake_fd, .events = POLLIN};
		errno = pthread_create(&p->thread, NULL, ty_reader_main, p);
		p->started = !errno;
		if (p->started) {
			errno = pthread_create(&c->thread, NULL, ty_compressor_main, c);
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
