/* SPDX-License-Identifier: MIT */
/*
 * Points and block requests (points.h). Points are stored under the CPU that reports them, so that
 * each CPU's are in time order.
 *
 * Block requests (Linux include/trace/events/block.h): block_rq_issue passes a request to the
 * device, block_rq_complete says how many of its sectors are done, in order from the first; the
 * request ends with the last. A request issued again without a completion was requeued by its
 * driver: it has been waiting since its first issue. Requests without sectors (flushes) end at
 * their only completion. A request in flight while block events were lost is marked LOST.
 */
#include "builder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

static void push(struct ty_builder *b, uint32_t cpu, uint64_t ts, enum ty_point_kind kind,
		 uint32_t thread, uint8_t context, uint64_t a, uint64_t arg)
{
	struct ty_point_row p = {
		.ts = ts,
		.a = a,
		.b = arg,
		.thread1 = thread + 1,
		.kind = (uint8_t)kind,
		.context = context & (TY_EVF_HARDIRQ | TY_EVF_SOFTIRQ | TY_EVF_NMI),
	};

	ty_build_fail(b, ty_table_push(&b->fill[TY_T_POINTS], cpu, &p));
}

void ty_points_prio(struct ty_builder *b, uint32_t cpu, uint32_t thread, int32_t prio, uint64_t ts)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (prio == t->prio_seen)
		return;
	t->prio_seen = prio;
	push(b, cpu, ts, TY_PT_PRIO, thread, 0, (uint64_t)(int64_t)prio, 0);
}

/* block requests ---------------------------------------------------------------------------- */

/* The first way of a set of requests, or bios, that begin at a sector of a device. */
static unsigned set_of(uint32_t major, uint32_t minor, uint64_t sector)
{
	uint64_t key = sector ^ (uint64_t)major << 44 ^ (uint64_t)minor << 24;

	return (unsigned)ty_hash_bits(key, 32) % TY_IO_SETS * TY_IO_WAYS;
}

static struct ty_io_open *set_at(struct ty_io_log *l, const struct ty_event *ev)
{
	return l->open + set_of(ev->u.block.major, ev->u.block.minor, ev->u.block.sector);
}

static bool same_device(const struct ty_io *io, const struct ty_event *ev)
{
	return io->major == ev->u.block.major && io->minor == ev->u.block.minor;
}

static struct ty_io_open *find_open(struct ty_io_log *l, const struct ty_event *ev)
{
	struct ty_io_open *o = set_at(l, ev);

	for (unsigned w = 0; w < TY_IO_WAYS; w++)
		if (o[w].io && o[w].sector == ev->u.block.sector &&
		    same_device(&l->io.v[o[w].io - 1], ev))
			return &o[w];
	return NULL;
}

/* A free way, or that of the oldest request, whose completion is not awaited any more. */
static struct ty_io_open *take_way(struct ty_io_log *l, const struct ty_event *ev)
{
	struct ty_io_open *o = set_at(l, ev), *best = o;

	for (unsigned w = 0; w < TY_IO_WAYS && best->io; w++)
		if (!o[w].io || o[w].io < best->io)
			best = &o[w];
	if (best->io) {
		l->io.v[best->io - 1].flags = TY_SF_LOST;
		l->io.v[best->io - 1].end_ns = ev->ts_ns;
	}
	return best;
}

/* A bio of the device that begins at this sector; NULL: none that is known. */
static struct ty_bio *find_bio(struct ty_io_log *l, uint32_t major, uint32_t minor, uint64_t sector,
			       bool make)
{
	struct ty_bio *s = l->bio + set_of(major, minor, sector), *best = s;

	for (unsigned w = 0; w < TY_IO_WAYS; w++) {
		if (s[w].ts_ns && s[w].sector == sector && s[w].major == major &&
		    s[w].minor == minor)
			return &s[w];
		best = s[w].ts_ns < best->ts_ns ? &s[w] : best;
	}
	return make ? best : NULL;
}

static void queue(struct ty_builder *b, const struct ty_event *ev, uint64_t ts, uint32_t thread)
{
	struct ty_io_log *l = &b->ios;

	if (!l->bio)
		l->bio = calloc(TY_IO_SETS * TY_IO_WAYS, sizeof(*l->bio));
	if (!l->bio)
		ty_build_fail(b, -TY_ENOMEM);
	else if (ev->u.block.nr_sector)
		*find_bio(l, ev->u.block.major, ev->u.block.minor, ev->u.block.sector, true) =
			(struct ty_bio){ev->u.block.sector,    ts,
					ev->u.block.major,     ev->u.block.minor,
					ev->u.block.nr_sector, thread};
}

/* The bios of the request: when and by which thread the first was submitted. The rest of a split
 * bio belongs to the next request. */
static void take_bios(struct ty_io_log *l, struct ty_io *io, uint32_t sectors)
{
	uint64_t at = io->sector;

	while (l->bio && sectors) {
		struct ty_bio *s = find_bio(l, io->major, io->minor, at, false), was;

		if (!s)
			return;
		was = *s;
		s->ts_ns = 0;
		/* Where events were lost since, it may be another one. */
		if (was.ts_ns >= l->gap_ns && (!io->queue_ns || was.ts_ns < io->queue_ns)) {
			io->queue_ns = was.ts_ns;
			io->bio_thread = was.thread;
		}
		at += was.sectors;
		if (was.sectors > sectors) {
			at = was.sector + sectors;
			was.sectors -= sectors;
			was.sector = at;
			*find_bio(l, io->major, io->minor, at, true) = was;
			return;
		}
		sectors -= was.sectors;
	}
}

static void issue(struct ty_builder *b, const struct ty_event *ev, uint64_t ts, uint32_t thread)
{
	struct ty_io_log *l = &b->ios;
	uint32_t sectors = ev->u.block.nr_sector;
	struct ty_io io = {
		.start_ns = ts,
		.end_ns = ts,
		.major = ev->u.block.major,
		.minor = ev->u.block.minor,
		.sector = ev->u.block.sector,
		.bytes = ev->u.block.bytes	      ? ev->u.block.bytes
			 : sectors < UINT32_MAX / 512 ? sectors * 512
						      : UINT32_MAX,
		.thread = thread,
		.bio_thread = TY_NONE,
		.cpu = ev->cpu,
		.end_cpu = TY_NONE,
		.rwbs = ty_strtab_add(b->strs, ev->u.block.rwbs, strlen(ev->u.block.rwbs)),
	};
	struct ty_io_open *o;

	if (!l->open)
		l->open = calloc(TY_IO_SETS * TY_IO_WAYS, sizeof(*l->open));
	if (!l->open || io.rwbs == UINT32_MAX) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	o = find_open(l, ev);
	if (o) {
		struct ty_io *was = &l->io.v[o->io - 1];

		if (was->start_ns >= l->gap_ns && o->left == sectors)
			return; /* put back and issued again */
		was->flags = TY_SF_LOST;
		was->end_ns = ts;
	} else {
		o = take_way(l, ev);
	}
	if (l->io.n >= UINT32_MAX - 1) {
		ty_build_fail(b, -TY_ELIMIT);
		return;
	}
	take_bios(l, &io, sectors);
	if (vec_push(&l->io, io)) {
		ty_build_fail(b, -TY_ENOMEM);
		return;
	}
	*o = (struct ty_io_open){ev->u.block.sector, (uint32_t)l->io.n, sectors};
}

static void complete(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	struct ty_io_log *l = &b->ios;
	struct ty_io_open *o = l->open ? find_open(l, ev) : NULL, was;
	uint32_t done = ev->u.block.nr_sector;
	struct ty_io *io;

	if (!o)
		return; /* issued before the recording, or where events were lost */
	io = &l->io.v[o->io - 1];
	was = *o;
	o->io = 0;
	if (done && done < was.left) {
		struct ty_event next = *ev;

		next.u.block.sector += done;
		o = take_way(l, &next);
		*o = (struct ty_io_open){next.u.block.sector, was.io, was.left - done};
		return;
	}
	io->end_ns = ts;
	io->end_cpu = ev->cpu;
	io->error = ev->u.block.error;
	io->flags = io->start_ns < l->gap_ns ? TY_SF_LOST : 0;
}

void ty_points_gap(struct ty_builder *b, uint64_t to)
{
	b->ios.gap_ns = to;
}

void ty_points_finish(struct ty_builder *b, uint64_t end)
{
	struct ty_io_log *l = &b->ios;
	uint64_t busy_to = 0;

	for (unsigned i = 0; l->open && i < TY_IO_SETS * TY_IO_WAYS; i++) {
		struct ty_io *io = l->open[i].io ? &l->io.v[l->open[i].io - 1] : NULL;

		if (!io)
			continue;
		io->end_ns = end;
		io->flags = io->start_ns < l->gap_ns ? TY_SF_LOST | TY_SF_OPEN : TY_SF_OPEN;
	}
	vec_each (io, &l->io) {
		busy_to = io->end_ns > busy_to ? io->end_ns : busy_to;
		io->busy_to_ns = busy_to;
	}
	free(l->open);
	l->open = NULL;
	free(l->bio);
	l->bio = NULL;
}

/* events ------------------------------------------------------------------------------------ */

void ty_points_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	uint32_t current, i;

	switch (ev->kind) {
	case TY_EV_SOFTIRQ_RAISE:
	case TY_EV_HRTIMER_EXPIRE:
	case TY_EV_SIGNAL_GENERATE:
	case TY_EV_SIGNAL_DELIVER:
	case TY_EV_CONTENTION_BEGIN:
	case TY_EV_CONTENTION_END:
	case TY_EV_POSIX_LOCK:
	case TY_EV_FLOCK:
	case TY_EV_PI_SETPRIO:
	case TY_EV_EXEC:
	case TY_EV_BLOCK_QUEUE:
	case TY_EV_BLOCK_ISSUE: break;
	case TY_EV_BLOCK_COMPLETE: complete(b, ev, ts); return;
	default: return;
	}
	current = ev->tid ? ty_identity_find(b, ev->tid) : TY_NONE;

#define PUSH(kind, a, arg) push(b, ev->cpu, ts, kind, current, ev->flags, a, arg)
	switch (ev->kind) {
	case TY_EV_SOFTIRQ_RAISE: PUSH(TY_PT_SOFTIRQ_RAISE, ev->u.softirq.vec, 0); break;
	case TY_EV_HRTIMER_EXPIRE: PUSH(TY_PT_HRTIMER, ev->u.hrtimer.function, 0); break;
	case TY_EV_SIGNAL_GENERATE:
		i = ty_identity_find(b, ev->u.sig.tid);
		PUSH(TY_PT_SIGNAL, (uint64_t)(int64_t)ev->u.sig.sig, i);
		break;
	case TY_EV_SIGNAL_DELIVER:
		PUSH(TY_PT_SIGNAL_DELIVER, (uint64_t)(int64_t)ev->u.sig.sig, 0);
		break;
	case TY_EV_CONTENTION_BEGIN:
		PUSH(TY_PT_CONTENTION_BEGIN, ev->u.lock.lock, ev->u.lock.flags);
		break;
	case TY_EV_CONTENTION_END:
		PUSH(TY_PT_CONTENTION_END, ev->u.lock.lock, (uint64_t)(int64_t)ev->u.lock.ret);
		break;
	case TY_EV_POSIX_LOCK:
	case TY_EV_FLOCK:
		PUSH(ev->u.file_lock.ret < 0	       ? TY_PT_FILE_LOCK_FAILED
		     : ev->u.file_lock.type == F_UNLCK ? TY_PT_FILE_UNLOCK
						       : TY_PT_FILE_LOCK,
		     ev->u.file_lock.ino, ev->u.file_lock.dev);
		break;
	case TY_EV_PI_SETPRIO:
		i = ty_identity_find(b, ev->u.pi.tid);
		PUSH(TY_PT_PI_SETPRIO, (uint64_t)(int64_t)ev->u.pi.new_prio, i);
		break;
	case TY_EV_EXEC: PUSH(TY_PT_EXEC, 0, 0); break;
	case TY_EV_BLOCK_ISSUE: issue(b, ev, ts, current); break;
	case TY_EV_BLOCK_QUEUE: queue(b, ev, ts, current); break;
	default: break;
	}
#undef PUSH
}
