/* SPDX-License-Identifier: MIT */
/* See call_data_ring.h. */
#include "call_data_ring.h"

#ifdef TY_HAVE_BPF

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "call_data_bpf.h"

enum { RING = 1 << 20, RING_MANY = 256 << 10, MANY_CPUS = 32 };

uint64_t ty_call_data_ring_bytes(unsigned cpus)
{
	return cpus > MANY_CPUS ? RING_MANY : RING;
}

static struct ty_ev_ring *ring_at(const struct ty_call_data_rings *r, unsigned cpu)
{
	return (struct ty_ev_ring *)(void *)(r->mapped + cpu * r->stride);
}

static bool runs(const struct bpf_program *p, uint64_t arg, unsigned cpu, bool there)
{
	uint64_t args[2] = {arg, cpu};
	LIBBPF_OPTS(bpf_test_run_opts, o, .ctx_in = args, .ctx_size_in = sizeof(args),
		    .cpu = there ? cpu : 0, .flags = there ? BPF_F_TEST_RUN_ON_CPU : 0);
	const int e = bpf_prog_test_run_opts(bpf_program__fd(p), &o);

	if (!e && o.retval)
		errno = EOPNOTSUPP;
	return !e && !o.retval;
}

static int take_wake(void *ctx, void *data, size_t n)
{
	return 0;
}

/* A CPU loses its event when it goes offline, so it may need another one. */
static bool give_clock(struct ty_call_data_rings *r, unsigned cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof(attr),
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .pinned = 1}; /* or a stopped one has an old time */
	struct ty_ev_ring *ring = ring_at(r, cpu);
	const int fd =
		(int)syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int error;

	if (fd < 0)
		return false;
	/* No time is better than that of the old event, read together with the new one. */
	__atomic_store_n(&ring->clock, 0, __ATOMIC_SEQ_CST);
	if (!bpf_map_update_elem(r->clocks_fd, &cpu, &fd, BPF_ANY)) {
		if (r->clocks.v[cpu] >= 0)
			close(r->clocks.v[cpu]);
		r->clocks.v[cpu] = fd;
		/* An interrupt may have come between. */
		if (runs(r->note, (uint64_t)fd, cpu, false) &&
		    (runs(r->check, 0, cpu, true) || runs(r->check, 0, cpu, true)))
			return true;
		error = errno;
		__atomic_store_n(&ring->clock, 0, __ATOMIC_SEQ_CST);
		errno = error;
		return false;
	}
	error = errno;
	close(fd);
	errno = error;
	return false;
}

bool ty_call_data_rings_open(struct ty_call_data_rings *r, const struct bpf_map *rings,
			     const struct bpf_map *clocks, const struct bpf_map *wakes,
			     const struct bpf_program *note, const struct bpf_program *check,
			     const unsigned *cpus, unsigned cpus_n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	bool any = false;
	void *p;

	r->clocks_fd = bpf_map__fd(clocks);
	r->note = note;
	r->check = check;
	r->n = bpf_map__max_entries(rings);
	r->stride = bpf_map__value_size(rings);
	r->ring = ty_call_data_ring_bytes(r->n);
	r->bytes = (r->n * r->stride + page - 1) & ~(page - 1);
	p = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(rings), 0);
	if (p == MAP_FAILED)
		return false;
	r->mapped = p;
	madvise(p, r->bytes, MADV_DONTFORK);
	r->wakes = ring_buffer__new(bpf_map__fd(wakes), take_wake, NULL, NULL);
	if (!r->wakes)
		return false;
	for (unsigned i = 0; i < r->n; i++)
		if (vec_push(&r->clocks, -1))
			return false;
	for (unsigned i = 0; i < cpus_n; i++) {
		const bool given = give_clock(r, cpus[i]);

		/* One may have gone offline meanwhile. */
		if (!given && errno != ENODEV && errno != ENXIO)
			return false;
		any |= given;
	}
	return any;
}

int ty_call_data_rings_fd(const struct ty_call_data_rings *r)
{
	return ring_buffer__epoll_fd(r->wakes);
}

void ty_call_data_rings_drain(struct ty_call_data_rings *r,
			      void (*give)(void *ctx, const struct ty_ev_record *rec,
					   const char *bytes),
			      void *ctx)
{
	ring_buffer__consume(r->wakes);
	for (unsigned i = 0; i < r->n; i++) {
		struct ty_ev_ring *ring = ring_at(r, i);
		const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		uint64_t at = ring->tail;

		while (at != head) {
			const char *p = ring->bytes + (at & (r->ring - 1));
			struct ty_ev_record rec;

			memcpy(&rec, p, sizeof(rec));
			give(ctx, &rec, p + sizeof(rec));
			at = TY_EV_RING_NEXT(at, sizeof(rec) + rec.len, r->ring);
		}
		__atomic_store_n(&ring->tail, head, __ATOMIC_RELEASE);
		if (__atomic_load_n(&ring->no_clock, __ATOMIC_RELAXED)) {
			give_clock(r, i);
			__atomic_store_n(&ring->no_clock, 0, __ATOMIC_RELAXED);
		}
	}
}

void ty_call_data_rings_close(struct ty_call_data_rings *r)
{
	vec_each (fd, &r->clocks)
		if (*fd >= 0)
			close(*fd);
	vec_fini(&r->clocks);
	ring_buffer__free(r->wakes);
	if (r->mapped)
		munmap(r->mapped, r->bytes);
	*r = (struct ty_call_data_rings){0};
}

#endif
