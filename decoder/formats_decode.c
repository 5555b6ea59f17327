/* SPDX-License-Identifier: MIT */
/*
 * The hot path of formats.h: one record into struct ty_event by precomputed offsets.
 *
 * Invariant: a record is compared once with `need`, the end of the last fixed field that is used;
 * after that every fixed field may be read unchecked. __data_loc strings are checked one by one.
 * Budget: 15 ns per event, no allocation, no look-up by name.
 */
#include "formats.h"

#include <string.h>

#include "formats_priv.h"
#include "unaligned.h"

static inline uint64_t num(const struct ty_formats *f, const struct ty_fmt_slot *s,
			   const uint8_t *data)
{
	uint64_t v;

	if (s->how & HOW_STR)
		return 0;
	v = ty_fmt_load(data + s->off, s->size, f->big_endian);
	if (s->how & HOW_SIGNED && s->size && s->size < 8)
		v = (uint64_t)((int64_t)(v << (64 - 8 * s->size)) >> (64 - 8 * s->size));
	return v;
}

/* The bytes of a string slot: its start and how many bytes may be examined; NULL when damaged. */
static const char *str(const struct ty_formats *f, const struct ty_fmt_slot *s,
		       const struct ty_event *ev, uint32_t *n)
{
	const uint8_t *p = ev->data + s->off;
	uint32_t loc, off, len;

	*n = 0;
	if (!s->size || !(s->how & HOW_STR))
		return "";
	if (s->how & HOW_TAIL) {
		*n = ev->size - s->off;
		return (const char *)p;
	}
	if (!(s->how & HOW_LOC)) {
		*n = s->size;
		return (const char *)p;
	}
	loc = (uint32_t)ty_fmt_load(p, 4, f->big_endian);
	off = loc & 0xffff;
	len = loc >> 16;
	if (s->how & HOW_REL)
		off += s->off + 4;
	if (off > ev->size || len > ev->size - off)
		return NULL;
	*n = len;
	return (const char *)ev->data + off;
}

/* A name of at most TY_COMM bytes, NUL-terminated in dst. */
static inline void comm(const struct ty_formats *f, const struct ty_fmt_slot *s,
			struct ty_event *ev, char *dst)
{
	uint32_t n;
	const char *p;

	if (s->how == HOW_STR && s->size == TY_COMM) { /* the usual char comm[16] */
		memcpy(dst, ev->data + s->off, TY_COMM);
		dst[TY_COMM] = 0;
		return;
	}
	p = str(f, s, ev, &n);
	if (!p) {
		ev->decode_error = 1;
		p = "";
	}
	n = (uint32_t)strnlen(p, n > TY_COMM ? TY_COMM : n);
	memcpy(dst, p, n);
	dst[n] = 0;
}

/* A string used in place: must end within its bytes. */
static const char *in_place(const struct ty_formats *f, const struct ty_fmt_slot *s,
			    struct ty_event *ev)
{
	uint32_t n;
	const char *p = str(f, s, ev, &n);

	if (!p || (n && !memchr(p, 0, n))) {
		ev->decode_error = 1;
		return "";
	}
	return n ? p : "";
}

static uint64_t task_state(const struct ty_fmt_entry *e, uint64_t raw)
{
	uint64_t v = 0;

	if (e->plain_states)
		return raw & 0x1ff;
	if (raw & e->preempted)
		return TY_TASK_PREEMPTED;
	for (unsigned i = 0; i < 32; i++)
		if (raw >> i & 1)
			v |= e->state_of_bit[i];
	return v & TY_TASK_IDLE ? v & ~(uint64_t)TY_TASK_UNINTERRUPTIBLE : v;
}

static void decode_known(const struct ty_formats *f, const struct ty_fmt_entry *e,
			 struct ty_event *ev)
{
	const struct ty_fmt_slot *s = e->slot;
	const uint8_t *d = ev->data;

#define N(i) num(f, &s[i], d)
#define I(i) ((int32_t)num(f, &s[i], d))
#define U(i) ((uint32_t)num(f, &s[i], d))
	switch (ev->kind) {
	case TY_EV_SYS_ENTER:
		ev->u.enter.nr = (int64_t)N(0);
		memset(ev->u.enter.args, 0, sizeof(ev->u.enter.args));
		for (unsigned i = 0; i < s[1].count && i < 6; i++)
			ev->u.enter.args[i] =
				ty_fmt_load(d + s[1].off + i * s[1].size, s[1].size, f->big_endian);
		break;
	case TY_EV_SYS_EXIT:
		ev->u.exit.nr = (int64_t)N(0);
		ev->u.exit.ret = (int64_t)N(1);
		break;
	case TY_EV_SWITCH:
		comm(f, &s[0], ev, ev->u.sw.prev_comm);
		ev->u.sw.prev_tid = I(1);
		ev->u.sw.prev_prio = I(2);
		ev->u.sw.prev_state = task_state(e, N(3));
		comm(f, &s[4], ev, ev->u.sw.next_comm);
		ev->u.sw.next_tid = I(5);
		ev->u.sw.next_prio = I(6);
		if (!s[2].size) { /* perf's own record */
			ev->u.sw.prev_prio = ev->u.sw.next_prio = TY_PRIO_UNKNOWN;
			if (!ev->u.sw.prev_state)
				ev->u.sw.prev_state = TY_TASK_UNRECORDED;
		}
		break;
	case TY_EV_WAKING:
	case TY_EV_WAKEUP:
	case TY_EV_WAKEUP_NEW:
		comm(f, &s[0], ev, ev->u.wake.comm);
		ev->u.wake.tid = I(1);
		ev->u.wake.prio = I(2);
		ev->u.wake.target_cpu = I(3);
		break;
	case TY_EV_MIGRATE:
		comm(f, &s[0], ev, ev->u.migrate.comm);
		ev->u.migrate.tid = I(1);
		ev->u.migrate.prio = I(2);
		ev->u.migrate.from_cpu = I(3);
		ev->u.migrate.to_cpu = I(4);
		break;
	case TY_EV_FORK:
		comm(f, &s[0], ev, ev->u.fork.parent_comm);
		ev->u.fork.parent_tid = I(1);
		comm(f, &s[2], ev, ev->u.fork.child_comm);
		ev->u.fork.child_tid = I(3);
		break;
	case TY_EV_EXEC:
		ev->u.exec.filename = in_place(f, &s[0], ev);
		ev->u.exec.tid = I(1);
		ev->u.exec.old_tid = I(2);
		break;
	case TY_EV_EXIT:
		comm(f, &s[0], ev, ev->u.tex.comm);
		ev->u.tex.tid = I(1);
		ev->u.tex.prio = I(2);
		ev->u.tex.group_dead = s[3].size ? N(3) != 0 : -1;
		break;
	case TY_EV_PI_SETPRIO:
		ev->u.pi.tid = I(0);
		ev->u.pi.old_prio = I(1);
		ev->u.pi.new_prio = I(2);
		break;
	case TY_EV_NEWTASK:
		ev->u.newtask.tid = I(0);
		comm(f, &s[1], ev, ev->u.newtask.comm);
		ev->u.newtask.clone_flags = N(2);
		break;
	case TY_EV_RENAME:
		ev->u.rename.tid = s[0].size ? I(0) : ev->tid;
		comm(f, &s[1], ev, ev->u.rename.old_comm);
		comm(f, &s[2], ev, ev->u.rename.new_comm);
		break;
	case TY_EV_IRQ_ENTRY:
		ev->u.irq.irq = I(0);
		ev->u.irq.ret = 0;
		ev->u.irq.name = in_place(f, &s[1], ev);
		break;
	case TY_EV_IRQ_EXIT:
		ev->u.irq.irq = I(0);
		ev->u.irq.ret = I(1);
		ev->u.irq.name = "";
		break;
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_SOFTIRQ_RAISE:
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_VECTOR_EXIT: ev->u.softirq.vec = U(0); break;
	case TY_EV_HRTIMER_EXPIRE:
		ev->u.hrtimer.hrtimer = N(0);
		ev->u.hrtimer.function = N(1);
		break;
	case TY_EV_BLOCK_ISSUE:
	case TY_EV_BLOCK_COMPLETE:
	case TY_EV_BLOCK_QUEUE: {
		uint32_t dev = U(0), n;
		const char *p;

		ev->u.block.major = dev >> 20; /* the kernel's own dev_t: 12 + 20 bits */
		ev->u.block.minor = dev & 0xfffff;
		ev->u.block.sector = N(1);
		ev->u.block.nr_sector = U(2);
		ev->u.block.bytes = U(3);
		ev->u.block.error = I(4);
		p = str(f, &s[5], ev, &n);
		n = p ? (uint32_t)strnlen(p, n < 11 ? n : 11) : 0;
		memset(ev->u.block.rwbs, 0, sizeof(ev->u.block.rwbs));
		if (n)
			memcpy(ev->u.block.rwbs, p, n);
		comm(f, &s[6], ev, ev->u.block.comm);
		break;
	}
	case TY_EV_SIGNAL_GENERATE:
	case TY_EV_SIGNAL_DELIVER:
		ev->u.sig.sig = I(0);
		ev->u.sig.err = I(1);
		ev->u.sig.code = I(2);
		ev->u.sig.tid = ev->kind == TY_EV_SIGNAL_DELIVER ? ev->tid : I(3);
		ev->u.sig.group = I(4);
		ev->u.sig.result = I(5);
		break;
	case TY_EV_CONTENTION_BEGIN:
	case TY_EV_CONTENTION_END:
		ev->u.lock.lock = N(0);
		ev->u.lock.flags = ev->kind == TY_EV_CONTENTION_BEGIN ? U(1) : 0;
		ev->u.lock.ret = ev->kind == TY_EV_CONTENTION_END ? I(1) : 0;
		break;
	case TY_EV_POSIX_LOCK:
	case TY_EV_FLOCK:
		ev->u.file_lock.ino = N(0);
		ev->u.file_lock.dev = N(1);
		ev->u.file_lock.type = U(2);
		ev->u.file_lock.ret = I(3);
		break;
	case TY_EV_PRINT: ev->u.print.text = in_place(f, &s[0], ev); break;
	case TY_EV_REGION:
		ev->u.region.kind = U(0);
		ev->u.region.value = (int64_t)N(1);
		ev->u.region.sp = N(3);
		ev->u.region.name = e->label ? e->label : in_place(f, &s[2], ev);
		break;
	}
#undef N
#undef I
#undef U
}

/* The result for a damaged record of a known kind: zeros, and empty strings that can be read. */
static void zero_known(struct ty_event *ev)
{
	memset(&ev->u, 0, sizeof(ev->u));
	if (ev->kind == TY_EV_EXEC)
		ev->u.exec.filename = "";
	else if (ev->kind == TY_EV_IRQ_ENTRY || ev->kind == TY_EV_IRQ_EXIT)
		ev->u.irq.name = "";
	else if (ev->kind == TY_EV_PRINT)
		ev->u.print.text = "";
	else if (ev->kind == TY_EV_REGION)
		ev->u.region.name = "";
}

void ty_formats_decode(const struct ty_formats *f, struct ty_event *ev)
{
	const struct ty_fmt_entry *e;

	ev->decode_error = 0;
	ev->kind = TY_EV_OTHER;
	if (ev->size < f->c_need) {
		ev->id = 0;
		ev->tid = 0;
		ev->flags = ev->preempt = 0;
		ev->decode_error = 1;
		return;
	}
	ev->id = (uint16_t)num(f, &f->c_type, ev->data);
	ev->flags = (uint8_t)num(f, &f->c_flags, ev->data);
	ev->preempt = (uint8_t)num(f, &f->c_preempt, ev->data);
	ev->tid = (int32_t)num(f, &f->c_pid, ev->data);
	e = ty_fmt_entry(f, ev->id);
	if (!e)
		return;
	ev->kind = e->kind;
	if (e->kind == TY_EV_OTHER)
		return;
	if (ev->size >= e->need)
		decode_known(f, e, ev);
	else
		ev->decode_error = 1;
	if (ev->decode_error)
		zero_known(ev);
}

/* Heads only. */
static void plain_item(const uint8_t *data, uint32_t size, bool big_endian, struct ty_item *item)
{
	item->kind = size < 8 ? TY_IT_WHOLE : TY_EV_OTHER;
	if (size < 8)
		return;
	item->id = (uint16_t)ty_load(data, 2, big_endian);
	item->flags = data[2];
	item->tid = (int32_t)ty_load(data + 4, 4, big_endian);
}

static uint64_t enter_val(const struct ty_formats *f, const struct ty_fmt_slot *s,
			  const uint8_t *data)
{
	uint64_t args[6] = {0};

	if (s->size == 8 && s->count >= 6 && !f->big_endian)
		memcpy(args, data + s->off, sizeof(args));
	else
		for (unsigned i = 0; i < s->count && i < 6; i++)
			args[i] = ty_fmt_load(data + s->off + i * s->size, s->size, f->big_endian);
	return ty_enter_val(args[0], args[1], args[2], args[3], args[4], args[5]);
}

/* The rest of a record whose head is in *item, by the slots: any byte order and size. */
static void any_item(const struct ty_formats *f, const struct ty_fmt_entry *e, const uint8_t *data,
		     uint32_t size, struct ty_item *item)
{
	int64_t nr;

	item->kind = TY_IT_WHOLE;
	if (size < e->need)
		return;
	if (e->kind == TY_EV_SYS_ENTER || e->kind == TY_EV_SYS_EXIT) {
		nr = (int64_t)num(f, &e->slot[0], data);
		if (nr != (int32_t)nr)
			return;
		item->nr = (int32_t)nr;
		item->val = e->kind == TY_EV_SYS_EXIT ? num(f, &e->slot[1], data)
						      : enter_val(f, &e->slot[1], data);
	}
	item->kind = e->kind;
}

static int32_t load_int(const uint8_t *data, const struct ty_fmt_slot *s)
{
	int32_t v;

	memcpy(&v, data + s->off, 4);
	return v;
}

/* A switch or waking whose entry is of the usual sizes (packs), in the item's few bits. What does
 * not fit stays unpacked. */
static __attribute__((noinline)) void pack_item(const struct ty_fmt_entry *e, const uint8_t *data,
						struct ty_item *item)
{
	const struct ty_fmt_slot *s = e->slot;
	int32_t prev_prio, next_prio;
	uint64_t state;

	item->kind = e->kind;
	if (e->kind == TY_EV_WAKING) {
		item->nr = load_int(data, &s[1]);
		item->val = ty_pack_names(s[0].off, 0) | (uint32_t)load_int(data, &s[3]);
		return;
	}
	memcpy(&state, data + s[3].off, 8);
	state = task_state(e, state);
	prev_prio = load_int(data, &s[2]);
	next_prio = load_int(data, &s[6]);
	if (load_int(data, &s[1]) != item->tid || state > UINT16_MAX ||
	    prev_prio != (int16_t)prev_prio || next_prio != (int16_t)next_prio)
		return;
	item->nr = load_int(data, &s[5]);
	item->val = ty_pack_names(s[0].off, s[4].off) | state |
		    (uint64_t)(uint16_t)prev_prio << 16 | (uint64_t)(uint16_t)next_prio << 32;
}

/* All of an item but its time and place; the fast way is ty_formats_items. */
static void to_item(const struct ty_formats *f, const uint8_t *data, uint32_t size, bool big_endian,
		    struct ty_item *item)
{
	const struct ty_fmt_entry *e;

	item->val = 0;
	item->tid = item->nr = 0;
	item->id = 0;
	item->flags = 0;
	if (!f) {
		plain_item(data, size, big_endian, item);
		return;
	}
	item->kind = TY_IT_WHOLE;
	if (size < f->c_need)
		return;
	item->id = (uint16_t)num(f, &f->c_type, data);
	item->flags = (uint8_t)num(f, &f->c_flags, data);
	item->tid = (int32_t)num(f, &f->c_pid, data);
	e = ty_fmt_entry(f, item->id);
	if (e && e->kind != TY_EV_OTHER)
		any_item(f, e, data, size, item);
	else
		item->kind = TY_EV_OTHER;
}

/* The usual record of `size` bytes, all of its item but the time; false: to_item it. */
static inline bool to_item_quick(const struct ty_formats *f, const struct ty_fmt_hot *hots,
				 const uint8_t *data, uint32_t size, uint32_t at,
				 struct ty_item *item)
{
	const struct ty_fmt_hot *hot;
	uint64_t head, nr;
	const uint8_t *a;

	/* A record has at least a word of data. */
	hot = &hots[f->index[data[0] | data[1] << 8]];
	if (size < hot->need)
		return false;
	head = ty_u64_at(data);
	item->at = at;
	item->tid = (int32_t)(head >> 32);
	item->id = (uint16_t)head;
	item->kind = hot->kind;
	item->flags = (uint8_t)(head >> 16);
	if (hot->how == TY_FMT_CALL) {
		nr = ty_u64_at(data + hot->nr_off);
		item->nr = (int32_t)nr;
		a = data + hot->val_off;
		item->val = hot->kind == TY_EV_SYS_EXIT
				    ? ty_u64_at(a)
				    : ty_enter_val(ty_u64_at(a), ty_u64_at(a + 8),
						   ty_u64_at(a + 16), ty_u64_at(a + 24),
						   ty_u64_at(a + 32), ty_u64_at(a + 40));
		return (int64_t)nr == (int32_t)nr;
	}
	item->nr = 0;
	item->val = 0;
	if (hot->how == TY_FMT_PACK)
		pack_item(ty_fmt_entry(f, (uint16_t)head), data, item);
	return true;
}

bool ty_formats_args(const struct ty_formats *f, const struct ty_ring_record *rec, uint16_t id,
		     uint64_t args[6])
{
	const struct ty_fmt_hot *hot = f ? &f->hot.v[f->index[id]] : NULL;

	if (!hot || rec->size < hot->need || hot->how != TY_FMT_CALL ||
	    hot->kind != TY_EV_SYS_ENTER)
		return false;
	memcpy(args, rec->data + hot->val_off, 6 * sizeof(*args));
	return true;
}

/* One record by the iterator, any byte order and size: 1, 0 or a failure as it gives them. */
static __attribute__((noinline)) int any_record(const struct ty_formats *f, struct ty_ring_page *it,
						uint32_t page_at, struct ty_item *item)
{
	struct ty_ring_record rec;
	int r = ty_ring_page_next_any(it, &rec);

	if (r <= 0)
		return r;
	item->ts_ns = rec.ts;
	item->at = page_at + rec.off;
	to_item(f, rec.data, rec.size, it->big_endian, item);
	return r;
}

uint32_t ty_formats_items(const struct ty_formats *f, struct ty_ring_page *it, uint32_t page_at,
			  struct ty_item *item, uint32_t room, int *more)
{
	/* Copies, never pointed at: they stay in registers. Offsets are those in the chunk. */
	const struct ty_fmt_hot *hots = f ? f->hot.v : NULL;
	const uint8_t *chunk = it->base - page_at;
	bool quick = hots && !it->big_endian && it->pos < it->end;
	uint32_t at = page_at + it->pos, to = quick ? page_at + it->end : at;
	struct ty_item *i = item, *end = item + room;
	uint64_t ts = it->ts;

	*more = 1;
	while (i < end) {
		uint32_t head, size = ty_ring_page_quick(chunk + at, to - at, &head);

		if (size && to_item_quick(f, hots, chunk + at + 4, size - 4, at, i)) {
			ts += head >> 5;
			i->ts_ns = ts;
			at += size;
			i++;
			continue;
		}
		it->pos = at - page_at;
		it->ts = ts;
		*more = any_record(f, it, page_at, i);
		if (*more <= 0)
			return (uint32_t)(i - item);
		at = page_at + it->pos;
		to = quick ? to : at;
		ts = it->ts;
		i++;
	}
	it->pos = at - page_at;
	it->ts = ts;
	return room;
}
