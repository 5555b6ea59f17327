/* SPDX-License-Identifier: MIT */
/*
 * See aux_ring.h. Budget: a piece is passed in place, without a copy; only records that wrap,
 * mappings and the last words of the stream are copied.
 */
#include "aux_ring.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD = 8, RECORD_MAX = 1 << 16 };

static int no_event(struct ty_err *err, int error)
{
	errno = error;
	if (error == EACCES || error == EPERM)
		return ty_fail(err, TY_EPERM, TY_NO_OFFSET,
			       "no permission to open the event: run tarry as root, or "
			       "lower kernel.perf_event_paranoid");
	if (error == EBUSY)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "the hardware tracer is in use by another program (perf, a "
			       "hypervisor): stop that program first");
	if (error == EMFILE || error == ENFILE)
		return ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			       "too many files are open for one event per thread and CPU: raise "
			       "the limit (ulimit -n), or record all processes with -a");
	return ty_fail_errno(err, "cannot open the event (perf_event_open)");
}

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
	attr->size = sizeof(*attr);
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int map_aux(struct ty_aux_ring *r, struct ty_err *err)
{
	void *p;

	r->page->aux_offset = r->page_bytes + r->data_bytes;
	r->page->aux_size = r->aux_bytes;
	p = mmap(NULL, r->aux_bytes, PROT_READ | (r->snapshot ? 0 : PROT_WRITE), MAP_SHARED, r->fd,
		 (off_t)r->page->aux_offset);
	r->aux = p == MAP_FAILED ? NULL : p;
	return r->aux ? 0
		      : ty_fail_errno(err, "cannot map a buffer of %zu kB for the hardware tracer",
				      r->aux_bytes >> 10);
}

int ty_aux_open(struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int cpu,
		size_t data_bytes, size_t aux_bytes, bool snapshot, struct ty_err *err)
{
	void *p;
	int e = 0;

	*r = (struct ty_aux_ring){.fd = -1,
				  .cpu = cpu,
				  .tid = tid,
				  .page_bytes = (size_t)sysconf(_SC_PAGESIZE),
				  .data_bytes = data_bytes,
				  .aux_bytes = aux_bytes,
				  .snapshot = snapshot};
	r->fd = open_event(attr, tid, cpu);
	if (r->fd < 0)
		return no_event(err, errno);
	p = mmap(NULL, r->page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (p == MAP_FAILED)
		e = ty_fail_errno(err, "cannot map a buffer of %zu kB for the event",
				  data_bytes >> 10);
	else
		r->page = p;
	if (!e && aux_bytes)
		e = map_aux(r, err);
	if (e)
		ty_aux_close(r);
	return e;
}

struct perf_event_attr ty_aux_side_attr(uint64_t sample_type, uint32_t wakeup)
{
	return (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
					.size = sizeof(struct perf_event_attr),
					.config = PERF_COUNT_SW_DUMMY,
					.sample_type = sample_type,
					.disabled = 1,
					.mmap = 1,
					.mmap2 = 1,
					.comm = 1,
					.comm_exec = 1,
					.task = 1,
					.sample_id_all = 1,
					.watermark = 1,
					.wakeup_watermark = wakeup};
}

int ty_aux_open_side(struct ty_aux_ring *r, struct perf_event_attr *attr, int cpu, size_t bytes,
		     struct ty_build_ids *ids, struct ty_err *err)
{
	int e = ty_aux_open(r, attr, -1, cpu, bytes, 0, false, err);

	r->ids = ids;
	return e;
}

int ty_aux_join(const struct ty_aux_ring *r, struct perf_event_attr *attr, pid_t tid, int *fd,
		struct ty_err *err)
{
	*fd = open_event(attr, tid, r->cpu);
	if (*fd < 0)
		return errno == ESRCH ? 0 : no_event(err, errno);
	if (!ioctl(*fd, PERF_EVENT_IOC_SET_OUTPUT, r->fd))
		return 0;
	ty_fail_errno(err, "cannot join events of two threads in one buffer");
	close(*fd);
	*fd = -1;
	return -TY_ESYS;
}

void ty_aux_close(struct ty_aux_ring *r)
{
	for (size_t i = 0; i < r->more_n; i++)
		if (r->more[i] >= 0)
			close(r->more[i]);
	r->more_n = 0;
	if (r->aux)
		munmap(r->aux, r->aux_bytes);
	if (r->page)
		munmap(r->page, r->page_bytes + r->data_bytes);
	if (r->fd >= 0)
		close(r->fd);
	r->aux = NULL;
	r->page = NULL;
	r->fd = -1;
}

/* All events of the rings. */
static int each(struct ty_aux_ring *r, unsigned long what)
{
	int e = ioctl(r->fd, what, 0);

	for (size_t i = 0; i < r->more_n; i++)
		if (r->more[i] >= 0)
			e |= ioctl(r->more[i], what, 0);
	return e;
}

int ty_aux_on(struct ty_aux_ring *r, bool on, struct ty_err *err)
{
	if (each(r, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE))
		return ty_fail_errno(err, "cannot %s the event", on ? "enable" : "disable");
	return 0;
}

/* The stream's bytes [off, off + n), whole words that are in the ring: in two pieces where they
 * wrap. */
static int give_words(struct ty_aux_ring *r, const struct ty_aux_sink *sink, uint64_t off, size_t n)
{
	size_t at = (size_t)(off % r->aux_bytes);
	size_t first = n < r->aux_bytes - at ? n : r->aux_bytes - at;
	int e = first ? sink->aux(sink->ctx, r, off, r->aux + at, first) : 0;

	if (!e && n > first)
		e = sink->aux(sink->ctx, r, off + first, r->aux, n - first);
	if (!e)
		r->bytes += n;
	return e;
}

/* The bytes up to `to`, the last word with zeros behind it. */
static int give_rest(struct ty_aux_ring *r, const struct ty_aux_sink *sink, uint64_t to)
{
	size_t n = (size_t)(to - r->taken), words = n & ~(size_t)(WORD - 1);
	uint8_t last[WORD] = {0};
	int e = give_words(r, sink, r->taken, words);

	for (size_t i = words; i < n; i++)
		last[i - words] = r->aux[(r->taken + i) % r->aux_bytes];
	if (!e && n > words) {
		e = sink->aux(sink->ctx, r, r->taken + words, last, WORD);
		r->bytes += WORD;
	}
	r->taken = to;
	return e;
}

static int drain_aux(struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	uint64_t head = __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE);
	size_t n = (size_t)(head - r->taken) & ~(size_t)(WORD - 1);
	int e;

	if (!n)
		return 0;
	e = give_words(r, sink, r->taken, n);
	r->taken += n;
	__atomic_store_n(&r->page->aux_tail, r->taken, __ATOMIC_RELEASE);
	return e;
}

static void copy_out(const struct ty_aux_ring *r, uint64_t at, void *to, size_t n)
{
	const uint8_t *data = (const uint8_t *)r->page + r->page_bytes;
	size_t i = (size_t)(at % r->data_bytes);
	size_t first = n < r->data_bytes - i ? n : r->data_bytes - i;

	memcpy(to, data + i, first);
	memcpy((uint8_t *)to + first, data, n - first);
}

/* Count the losses that a record reports. The sink stores the record unchanged. */
static void look(struct ty_aux_ring *r, uint64_t at, const struct perf_event_header *h)
{
	uint64_t words[3] = {0};
	size_t n = h->size - sizeof(*h) < sizeof(words) ? h->size - sizeof(*h) : sizeof(words);

	copy_out(r, at + sizeof(*h), words, n);
	if (h->type == PERF_RECORD_LOST)
		r->lost += words[1];
	if (h->type == PERF_RECORD_AUX &&
	    words[2] & (PERF_AUX_FLAG_TRUNCATED | PERF_AUX_FLAG_PARTIAL))
		r->truncated++;
	if (h->type == PERF_RECORD_AUX && words[2] & PERF_AUX_FLAG_COLLISION)
		r->collided++;
	if (h->type == PERF_RECORD_AUX && words[2] & PERF_AUX_FLAG_TRUNCATED)
		r->stopped = true;
}

static int drain_records(struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	const uint8_t *data = (const uint8_t *)r->page + r->page_bytes;
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE),
		 tail = r->page->data_tail, from = tail;
	uint8_t copy[RECORD_MAX];
	int e = 0;

	while (!e && tail < head) {
		struct perf_event_header h;
		bool maps, wraps;

		copy_out(r, tail, &h, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break; /* not what a kernel writes; nothing behind it can be read */
		look(r, tail, &h);
		wraps = tail % r->data_bytes + h.size > r->data_bytes;
		maps = r->ids && h.type == PERF_RECORD_MMAP2;
		if (maps || wraps || tail % r->data_bytes == 0) {
			if (tail > from)
				e = sink->records(sink->ctx, r, data + from % r->data_bytes,
						  (size_t)(tail - from));
			from = tail;
		}
		if (!e && (maps || wraps)) {
			copy_out(r, tail, copy, h.size);
			if (maps)
				ty_build_ids_put(r->ids, copy, h.size);
			e = sink->records(sink->ctx, r, copy, h.size);
			from = tail + h.size;
		}
		tail += h.size;
	}
	if (!e && tail > from)
		e = sink->records(sink->ctx, r, data + from % r->data_bytes, (size_t)(tail - from));
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
	return e;
}

int ty_aux_drain(struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	int e = r->aux && !r->snapshot ? drain_aux(r, sink) : 0, x = drain_records(r, sink);

	if (r->stopped) {
		/* The ring is empty now. A thread that has exited cannot be started: no error. */
		each(r, PERF_EVENT_IOC_DISABLE);
		each(r, PERF_EVENT_IOC_ENABLE);
		r->stopped = false;
	}
	return e ? e : x;
}

static bool any_nonzero(const uint8_t *p, size_t n)
{
	return n && (p[0] || memcmp(p, p + 1, n - 1) != 0);
}

/*
 * The newest bytes. The kernel's head is a place in the ring, or counts on: either way modulo its
 * size. The pages were zero when the head was at `since`: the bytes between head and `since` were
 * written only if the ring has been filled once. The stream's offsets advance by a whole ring, and
 * off % size is the position in the ring, so that no data appears to continue the previous
 * snapshot.
 */
static int take_newest(struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	uint64_t size = r->aux_bytes, from,
		 head = __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE) % size;
	bool full;

	if (head >= r->since)
		full = any_nonzero(r->aux + head, size - head) || any_nonzero(r->aux, r->since);
	else
		full = any_nonzero(r->aux + head, r->since - head);
	/* Pieces begin at words: zeros before the first byte, or a few of the oldest bytes less. */
	from = full ? (head + WORD - 1) / WORD * WORD : r->since / WORD * WORD;
	r->taken = (r->taken / size + 2) * size + from;
	r->since = head;
	return give_rest(r, sink,
			 r->taken + (full && head % WORD ? size - WORD + head % WORD
				     : full		 ? size
							 : (head + size - from) % size));
}

int ty_aux_snapshot(struct ty_aux_ring *r, const struct ty_aux_sink *sink, struct ty_err *err)
{
	int e, x;

	if (!r->aux) /* it could not be mapped anew */
		return drain_records(r, sink);
	each(r, PERF_EVENT_IOC_DISABLE);
	e = take_newest(r, sink);
	x = drain_records(r, sink);
	r->stopped = false;
	/* Mapped anew the pages are zeros. */
	munmap(r->aux, r->aux_bytes);
	r->aux = NULL;
	x = x ? x : map_aux(r, err);
	if (!x)
		each(r, PERF_EVENT_IOC_ENABLE);
	return e ? e : x;
}

int ty_aux_finish(struct ty_aux_ring *r, const struct ty_aux_sink *sink)
{
	int e = 0, x;

	each(r, PERF_EVENT_IOC_DISABLE);
	if (r->aux && r->snapshot)
		e = take_newest(r, sink);
	else if (r->aux)
		e = give_rest(r, sink, __atomic_load_n(&r->page->aux_head, __ATOMIC_ACQUIRE));
	x = drain_records(r, sink);
	r->stopped = false;
	return e ? e : x;
}
