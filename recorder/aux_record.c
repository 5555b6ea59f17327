/* SPDX-License-Identifier: MIT */
/*
 * See aux_record.h. One thread drains all rings: when one is half full, and ten times a second.
 * Events of several threads on one CPU write to the ring of the first (PERF_EVENT_IOC_SET_OUTPUT).
 */
#include "aux_record.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "aux_ring.h"
#include "meta_writer.h"
#include "perf_write.h"

#define PIECE_MAX (8u << 20)
enum {
	TICK_MS = 100,
	AUX_BYTES = 4 << 20,
	SIDE_BYTES = 1 << 20,
	DATA_BYTES = 256 << 10,
	BEFORE_PIECE = 1 << 20,
	PMUS_MAX = 16,
};

struct ty_aux_rec {
	struct ty_aux_events ev; /* the pointers in it other than option, what, snapshot, put_info
				    and ctx are no longer valid */
	unsigned n;		 /* CPUs; ring i of each kind is of the i-th */
	struct ty_aux_ring *hw, *side; /* hw[i].fd -1: none on that CPU */
	int *more;		       /* events of the second and later threads, CPU by CPU */
	size_t more_n;		       /* of one CPU */
	struct perf_event_attr attrs[PMUS_MAX], side_attr;
	const char *names[PMUS_MAX];
	uint8_t *pmu_of;
	struct ty_build_ids *ids;
	struct ty_meta meta;
	bool have_meta, started;
	pthread_t thread;
	int wake; /* eventfd */
	atomic_uint requests;
	atomic_bool stop;
	struct ty_aux_result res;
};

static int open_side(struct ty_aux_rec *a, unsigned i, int cpu, struct ty_err *err)
{
	struct ty_err why = {0};
	int e = ty_aux_open_side(&a->side[i], &a->side_attr, cpu, SIDE_BYTES, a->ids, &why);

	return e ? ty_fail(err, -e, TY_NO_OFFSET, "%s, switches of CPU %d: %s", a->ev.option, cpu,
			   why.msg)
		 : 0;
}

static int open_hw(struct ty_aux_rec *a, unsigned i, const struct ty_aux_events *ev, int cpu,
		   struct ty_err *err)
{
	struct perf_event_attr *attr = &a->attrs[a->pmu_of[i]];
	struct ty_aux_ring *r = &a->hw[i];
	struct ty_err why = {0};
	int e = ty_aux_open(r, attr, ev->tids_n ? ev->tids[0] : -1, cpu, DATA_BYTES, AUX_BYTES,
			    ev->snapshot, &why);

	r->more = a->more + i * a->more_n;
	for (; !e && r->more_n < a->more_n; r->more_n++)
		e = ty_aux_join(r, attr, ev->tids[1 + r->more_n], &r->more[r->more_n], &why);
	if (e)
		return ty_fail(err, -e, TY_NO_OFFSET, "%s, %s on CPU %d: %s", ev->option, ev->what,
			       cpu, why.msg);
	if (ev->filter && ioctl(r->fd, PERF_EVENT_IOC_SET_FILTER, ev->filter))
		return ty_fail_errno(err,
				     "%s-filter: the kernel rejects '%s' (tarry doctor "
				     "shows how many address filters the CPU has)",
				     ev->option, ev->filter);
	return 0;
}

static void free_all(struct ty_aux_rec *a)
{
	for (unsigned i = 0; i < a->n; i++) {
		if (a->hw)
			ty_aux_close(&a->hw[i]);
		if (a->side)
			ty_aux_close(&a->side[i]);
	}
	if (a->have_meta)
		ty_meta_fini(&a->meta);
	if (a->wake >= 0)
		close(a->wake);
	ty_build_ids_free(a->ids);
	free(a->hw);
	free(a->side);
	free(a->more);
	free(a->pmu_of);
	free(a->ev.ctx);
	free(a);
}

static bool make_arrays(struct ty_aux_rec *a, const struct ty_aux_events *ev)
{
	a->n = ev->cpus_n;
	a->more_n = ev->tids_n > 1 ? ev->tids_n - 1 : 0;
	a->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	a->hw = calloc(a->n, sizeof(*a->hw));
	a->side = calloc(a->n, sizeof(*a->side));
	a->more = calloc(a->n * a->more_n + 1, sizeof(*a->more));
	a->pmu_of = calloc(a->n, sizeof(*a->pmu_of));
	for (unsigned i = 0; i < a->n && a->hw && a->side; i++)
		a->hw[i].fd = a->side[i].fd = -1;
	a->ids = ty_build_ids_new();
	if (!a->ids || !a->hw || !a->side || !a->more || !a->pmu_of || a->wake < 0)
		return false;
	if (ev->pmu_of)
		memcpy(a->pmu_of, ev->pmu_of, a->n);
	memcpy(a->attrs, ev->attrs, ev->attrs_n * sizeof(*ev->attrs));
	memcpy(a->names, ev->names, ev->attrs_n * sizeof(*ev->names));
	for (unsigned i = 0; i < ev->attrs_n; i++) {
		a->attrs[i].watermark = 1;
		a->attrs[i].wakeup_watermark = DATA_BYTES / 2;
	}
	return true;
}

int ty_aux_rec_open(struct ty_aux_rec **out, const struct ty_aux_events *ev, struct ty_err *err)
{
	struct ty_aux_rec *a = calloc(1, sizeof(*a));
	int e = 0;

	*out = NULL;
	if (!a) {
		free(ev->ctx);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory");
	}
	a->ev = *ev;
	a->wake = -1;
	if (ev->attrs_n > PMUS_MAX || !make_arrays(a, ev))
		e = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", ev->option);
	a->side_attr = ty_aux_side_attr(TY_AUX_SAMPLE, SIDE_BYTES / 2);
	a->side_attr.sample_period = 1;
	a->side_attr.mmap_data = ev->data_maps;
	a->side_attr.context_switch = 1;
	for (unsigned i = 0; i < a->n && !e; i++) {
		e = open_side(a, i, (int)ev->cpus[i], err);
		if (!e && a->pmu_of[i] < ev->attrs_n)
			e = open_hw(a, i, ev, (int)ev->cpus[i], err);
	}
	if (e)
		free_all(a);
	else
		*out = a;
	return e;
}

static void put(struct ty_aux_rec *a, const void *bytes, size_t n)
{
	if (!a->res.failed && ty_meta_section(&a->meta, TY_SEC_PERF, bytes, n, NULL))
		a->res.failed = true;
}

static int on_records(void *ctx, const struct ty_aux_ring *r, const void *bytes, size_t n)
{
	put(ctx, bytes, n);
	return 0;
}

static int on_aux(void *ctx, const struct ty_aux_ring *r, uint64_t off, const void *bytes, size_t n)
{
	struct ty_buf b;

	ty_buf_init(&b, PIECE_MAX);
	ty_perf_put_auxtrace(&b, r->cpu, -1, (uint32_t)r->cpu, off, bytes, n);
	if (b.failed)
		((struct ty_aux_rec *)ctx)->res.failed = true;
	else
		put(ctx, b.p, b.len);
	ty_buf_fini(&b);
	return 0;
}

static void drain(struct ty_aux_rec *a, bool snapshot, const struct ty_aux_sink *sink)
{
	for (unsigned i = 0; i < a->n; i++) {
		if (a->hw[i].fd >= 0 && snapshot) {
			if (ty_aux_snapshot(&a->hw[i], sink, NULL))
				a->res.failed = true;
		} else if (a->hw[i].fd >= 0) {
			ty_aux_drain(&a->hw[i], sink);
		}
		ty_aux_drain(&a->side[i], sink);
	}
}

static void *move_main(void *arg)
{
	struct ty_aux_rec *a = arg;
	const struct ty_aux_sink sink = {on_records, on_aux, a};
	struct pollfd *polls = calloc(2 * (size_t)a->n + 1, sizeof(*polls));
	unsigned done = 0;
	uint64_t v;

	for (unsigned i = 0; polls && i < a->n; i++) {
		polls[2 * i] = (struct pollfd){.fd = a->hw[i].fd, .events = POLLIN};
		polls[2 * i + 1] = (struct pollfd){.fd = a->side[i].fd, .events = POLLIN};
	}
	if (polls)
		polls[2 * a->n] = (struct pollfd){.fd = a->wake, .events = POLLIN};
	while (!atomic_load(&a->stop)) {
		unsigned requested;

		poll(polls, polls ? 2 * a->n + 1 : 0, TICK_MS);
		/* An event whose threads have exited reports HUP for ever. */
		for (unsigned i = 0; polls && i < 2 * a->n; i++)
			if (polls[i].revents & (POLLHUP | POLLERR))
				polls[i].fd = -1;
		(void)!read(a->wake, &v, sizeof(v));
		requested = atomic_load(&a->requests);
		drain(a, requested != done && a->ev.snapshot, &sink);
		a->res.snapshots += requested != done;
		done = requested;
	}
	/* The hardware ends first: switches and mappings are known to its end. */
	for (unsigned i = 0; i < a->n; i++)
		if (a->hw[i].fd >= 0)
			ty_aux_finish(&a->hw[i], &sink);
	for (unsigned i = 0; i < a->n; i++)
		ty_aux_finish(&a->side[i], &sink);
	free(polls);
	return NULL;
}

/* The ids of the events of one PMU (of the sideband: r is side, pmu TY_AUX_NONE). */
static void put_attr(struct ty_aux_rec *a, struct ty_buf *b, const struct perf_event_attr *attr,
		     const struct ty_aux_ring *r, uint8_t pmu)
{
	size_t all = a->n * (1 + a->more_n), n = 0;
	uint64_t *ids = calloc(all, sizeof(*ids));

	for (unsigned i = 0; ids && i < a->n; i++) {
		if (pmu != TY_AUX_NONE && a->pmu_of[i] != pmu)
			continue;
		n += !ioctl(r[i].fd, PERF_EVENT_IOC_ID, &ids[n]);
		for (size_t k = 0; k < r[i].more_n; k++)
			n += !ioctl(r[i].more[k], PERF_EVENT_IOC_ID, &ids[n]);
	}
	if (ids)
		ty_perf_put_attr(b, attr, ids, (unsigned)n);
	else
		b->failed = true;
	free(ids);
}

static void put_head(struct ty_aux_rec *a, struct ty_buf *b)
{
	const struct perf_event_mmap_page *page = a->side[0].page;
	uint32_t types[PMUS_MAX];

	/* The hardware's own clock, where any CPU has one. */
	for (unsigned i = a->n; i-- > 0;)
		if (a->hw[i].fd >= 0)
			page = a->hw[i].page;
	a->res.no_time = !page->cap_user_time_zero;
	for (unsigned i = 0; i < a->ev.attrs_n; i++)
		types[i] = a->attrs[i].type;
	ty_perf_put_machine(b);
	ty_perf_put_pmus(b, types, a->names, a->ev.attrs_n);
	for (unsigned i = 0; i < a->ev.attrs_n; i++)
		put_attr(a, b, &a->attrs[i], a->hw, (uint8_t)i);
	put_attr(a, b, &a->side_attr, a->side, TY_AUX_NONE);
	/* perf expects it before the records that it applies to. */
	if (!a->res.no_time)
		ty_perf_put_time_conv(b, page);
	a->ev.put_info(a->ev.ctx, b, page);
}

int ty_aux_rec_start(struct ty_aux_rec *a, struct ty_spool *spool, const struct ty_buf *before,
		     struct ty_err *err)
{
	struct ty_buf b;
	int e = ty_meta_init(&a->meta, spool, err);

	if (e)
		return e;
	a->have_meta = true;
	for (unsigned i = 0; i < a->n && !e; i++)
		e = ty_aux_on(&a->side[i], true, err);
	if (e)
		return e;
	ty_buf_init(&b, PIECE_MAX);
	put_head(a, &b);
	e = b.failed ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory")
		     : ty_meta_section(&a->meta, TY_SEC_PERF, b.p, b.len, err);
	ty_buf_fini(&b);
	for (size_t at = 0, k; !e && before && at < before->len; at += k) {
		k = before->len - at < BEFORE_PIECE ? before->len - at : BEFORE_PIECE;
		e = ty_meta_section(&a->meta, TY_SEC_PERF, before->p + at, k, err);
	}
	for (unsigned i = 0; i < a->n && !e; i++)
		if (a->hw[i].fd >= 0 && !a->attrs[a->pmu_of[i]].enable_on_exec)
			e = ty_aux_on(&a->hw[i], true, err);
	if (!e && pthread_create(&a->thread, NULL, move_main, a))
		e = ty_fail(err, TY_ESYS, TY_NO_OFFSET, "cannot start a thread");
	a->started = !e;
	return e;
}

static void wake(struct ty_aux_rec *a)
{
	uint64_t one = 1;

	(void)!write(a->wake, &one, sizeof(one));
}

void ty_aux_rec_snapshot(struct ty_aux_rec *a)
{
	atomic_fetch_add(&a->requests, 1);
	wake(a);
}

void ty_aux_rec_finish(struct ty_aux_rec *a, struct ty_aux_result *res)
{
	if (!a)
		return;
	if (a->started) {
		atomic_store(&a->stop, true);
		wake(a);
		pthread_join(a->thread, NULL);
	}
	for (unsigned i = 0; i < a->n; i++) {
		a->res.bytes += a->hw[i].bytes;
		a->res.truncated += a->hw[i].truncated;
		a->res.collided += a->hw[i].collided;
		a->res.lost += a->hw[i].lost + a->side[i].lost;
	}
	*res = a->res;
	free_all(a);
}
