/* SPDX-License-Identifier: MIT */
/*
 * System calls as spans: decoder/syscall_pair pairs enter and exit; this file assigns them to
 * thread lives and marks unknown parts by flags. A call known from the snapshot only (the thread
 * had no event) is a span over the whole recording, marked as such.
 */
#include "builder.h"

#define PREFETCH_ITEMS 48 /* another core wrote them */

/* Field by field, where it will lie: a copy would wait for the small stores that it reads at once.
 * arg: as in struct ty_call_row. */
static inline void fill_row(struct ty_call_row *row, uint64_t start, uint64_t end, int64_t ret,
			    ty_loc loc, int32_t nr, uint16_t cpu1, unsigned flags, unsigned abi,
			    uint64_t arg)
{
	row->start = start;
	row->length = end - start;
	row->ret = ret;
	row->loc1 = (loc + 1) & TY_LOC_LOW;
	row->loc1_high = (uint16_t)((loc + 1) >> 52);
	row->nr = nr;
	row->cpu1 = cpu1;
	row->flags = (uint8_t)flags;
	row->abi = (uint8_t)abi;
	row->arg = arg;
	row->arg1 = row->arg2 = 0;
}

static inline uint16_t cpu1_of(uint32_t cpu)
{
	return cpu < TY_NO_CPU ? (uint16_t)(cpu + 1) : 0;
}

static inline bool has_bit(const uint64_t bits[TY_KEPT_NRS / 64], int64_t nr)
{
	return nr >= 0 && nr < TY_KEPT_NRS && bits[nr / 64] >> nr % 64 & 1;
}

/* How many arguments analyses ask of many calls: the descriptor or futex word; of futex calls the
 * operation, too, and the value waited with; the number of descriptors; what decides which
 * descriptor a call makes. */
static unsigned kept_args(const struct ty_sysrow *r, uint32_t arg1)
{
	enum { WAIT = 0, WAIT_BITSET = 9, OP = 0x7f, SETFD = 2 };
	const int last = r->gives > r->takes ? r->gives : r->takes;

	switch ((enum ty_sysid)r->id) {
	case TY_SYS_futex: return (arg1 & OP) == WAIT || (arg1 & OP) == WAIT_BITSET ? 3 : 2;
	case TY_SYS_futex_wait:
	case TY_SYS_futex_wake:
	case TY_SYS_poll:
	case TY_SYS_ppoll: return 2;
	case TY_SYS_select:
	case TY_SYS_pselect6:
	case TY_SYS_socketcall:
	case TY_SYS_ipc: return 1;
	case TY_SYS_fcntl: return arg1 == SETFD ? 3 : 2;
	default: break;
	}
	if (r->fds == TY_FDS_RANGE || (r->fds == TY_FDS_DUP2 && r->cloexec == 2))
		return 3;
	if (r->says && last > 0 && last < TY_MODEL_ARGS)
		return (unsigned)last + 1;
	return r->n && (r->a[0] == TY_ARG_FD || r->a[0] == TY_ARG_IPC);
}

void ty_calls_keep(struct ty_kept_args *k, const struct ty_sysarch *arch)
{
	k->arch = arch;
	for (unsigned abi = 0; abi <= TY_ABI_UNSURE; abi++)
		for (int nr = 0; nr < TY_KEPT_NRS; nr++) {
			unsigned n = kept_args(ty_syscall_row(arch, (enum ty_abi)abi, nr)->as, 0);

			k->one[abi][nr / 64] |= (uint64_t)(n > 0) << nr % 64;
			k->more[nr / 64] |= (uint64_t)(n > 1) << nr % 64;
		}
}

/* The first argument alone. */
static inline uint64_t first_arg(bool kept, uint64_t enter_val)
{
	const uint64_t first = ty_first_arg(enter_val);

	return kept && first != TY_FIRST_ARG_NONE ? ty_call_arg(first, 1) : 0;
}

/* All that are kept of a call of which there may be more. */
static void fill_args(const struct ty_builder *b, struct ty_call_row *row, const struct ty_call *c)
{
	const struct ty_sysrow *r = ty_syscall_row(b->kept.arch, (enum ty_abi)c->abi, c->nr)->as;
	const unsigned n = kept_args(r, (uint32_t)c->args[1]);

	if (n < 2)
		return;
	row->arg = ty_call_arg(ty_first_arg(c->val), n);
	row->arg1 = (uint32_t)c->args[1];
	row->arg2 = n > 2 ? (uint32_t)c->args[2] : 0;
}

/* c: with its arguments, if more than one is kept; NULL: none are known. */
static void log_call(struct ty_builder *b, uint32_t thread, uint64_t start, uint64_t end,
		     int64_t ret, ty_loc loc, int64_t nr, unsigned flags, unsigned abi,
		     uint32_t cpu, const struct ty_call *c)
{
	uint64_t *last = &b->thread.v[thread].call_end;
	struct ty_table_fill *f = &b->fill[TY_T_CALLS];
	struct ty_call_row *row, apart;

	/* Calls of one thread do not overlap; overlaps in a damaged file are cut, so that searches
	 * stay correct. */
	if (start < *last)
		start = *last;
	*last = end > start ? end : start;
	row = ty_table_room(f, thread, start, sizeof(*row));
	if (!row)
		row = &apart;
	fill_row(row, start, *last, ret, loc, nr >= INT32_MIN && nr <= INT32_MAX ? (int32_t)nr : -1,
		 cpu1_of(cpu), flags, abi,
		 c ? first_arg(has_bit(b->kept.one[abi], nr), c->val) : 0);
	if (row->arg && ty_calls_keep_more(b, row->nr))
		fill_args(b, row, c);
	if (row == &apart)
		ty_build_fail(b, ty_table_push(f, thread, &apart));
}

static void done(struct ty_builder *b, const struct ty_call *c, uint64_t ts)
{
	uint32_t thread = ty_identity_get(b, c->end_tid, ts);
	uint64_t start = c->start_ns, end = c->end_ns, born;
	unsigned flags = 0;
	int64_t ret = c->ret;
	ty_loc loc = c->loc;

	if (thread == TY_NONE)
		return;
	born = b->thread.v[thread].pub.start_ns;
	switch ((enum ty_call_how)c->how) {
	case TY_CALL_RETURNED:
		/* The end may be that of a later call of the same number. */
		flags = c->gap_inside ? TY_SF_LOST : 0;
		break;
	case TY_CALL_NO_ENTER_BEFORE:
		flags = TY_SF_BEFORE;
		start = born;
		loc = TY_NO_LOC;
		break;
	case TY_CALL_NO_ENTER_LOST:
		flags = TY_SF_LOST;
		start = end;
		loc = TY_NO_LOC;
		break;
	case TY_CALL_NO_ENTER:
		start = end;
		loc = TY_NO_LOC;
		break;
	case TY_CALL_EXITED: flags = TY_SF_ENDED; break;
	case TY_CALL_END_LOST:
	case TY_CALL_END_MISSING: flags = TY_SF_LOST; break;
	case TY_CALL_OPEN:
		flags = TY_SF_OPEN;
		end = ts;
		break;
	}
	if (flags & (TY_SF_LOST | TY_SF_ENDED | TY_SF_OPEN))
		ret = 0;
	if (start < born)
		start = born;
	if (end < start)
		end = start;
	log_call(b, thread, start, end, ret, loc, c->nr, flags, c->abi,
		 loc == TY_NO_LOC ? TY_NONE : c->cpu, loc == TY_NO_LOC ? NULL : c);
}

/* The mask is behind a pointer: from the first change on, where a thread may run is unknown. */
static void forget_affinity(struct ty_builder *b, const struct ty_event *ev, uint32_t caller)
{
	int32_t tid = (int32_t)ev->u.enter.args[0];
	uint32_t target = tid ? ty_identity_find(b, tid) : caller;

	if (target != TY_NONE)
		b->thread.v[target].pub.affinity = 0;
}

bool ty_calls_quick(struct ty_builder *b, const struct ty_brief *br, uint32_t thread)
{
	struct ty_bthread *t = &b->thread.v[thread];
	const struct ty_call *c;
	uint64_t start;

	if (!t->pub.traced || br->tid == b->command_tid || br->nr == b->setaffinity_nr ||
	    (br->kind == TY_EV_SYS_ENTER && !br->args && ty_calls_keep_more(b, br->nr)) ||
	    !ty_pairs_quick(b->pairs, t->pair_slot, br, &c))
		return false;
	b->sum.has_syscalls = true;
	t->in_nr = br->kind == TY_EV_SYS_ENTER && !c ? br->nr : -1;
	if (c) {
		start = c->start_ns < t->pub.start_ns ? t->pub.start_ns : c->start_ns;
		log_call(b, thread, start, c->end_ns < start ? start : c->end_ns,
			 c->gap_inside ? 0 : c->ret, c->loc, c->nr, c->gap_inside ? TY_SF_LOST : 0,
			 c->abi, c->cpu, c);
	}
	return true;
}

const struct ty_item *ty_calls_run(struct ty_builder *b, const struct ty_run *run,
				   struct ty_brief *br, uint32_t thread)
{
	struct ty_table_fill *f = &b->fill[TY_T_CALLS];
	uint64_t *call_end = &b->thread.v[thread].call_end, start = 0, end;
	uint64_t last = run->last_ns > *call_end ? run->last_ns : *call_end;
	uint32_t slot = b->thread.v[thread].pair_slot, cpu = br->cpu, room = 0, used = 0;
	const struct ty_call *c = ty_pairs_latest(b->pairs, slot);
	const struct ty_item *i = run->item, *stop = run->end - 1;
	const uint16_t id = br->id, end_id = br->end_id, cpu1 = cpu1_of(br->cpu);
	const uint64_t offset = run->offset, before = run->before_ns;
	int32_t nr = br->nr, tid = br->tid;
	struct ty_call_row *row = NULL;
	uint8_t abi = c->abi;
	bool kept = has_bit(b->kept.one[abi], nr);

	if (c->gap_inside || ty_calls_keep_more(b, nr))
		return i;
	for (; i < stop; i += 2) {
		uint64_t at = i[0].ts_ns + offset;

		end = i[1].ts_ns + offset;
		if (!ty_items_call(&i[0], &i[1]) || i[0].tid != tid || at < last || end < at ||
		    end >= before || i[0].id != id || i[1].id != end_id ||
		    ty_call_interrupted((int64_t)i[1].val) ||
		    (i[0].val & 1 && abi != TY_ABI_NATIVE64))
			break;
		if (i[0].nr != nr) {
			if (!ty_pairs_plain(b->pairs, abi, i[0].nr) ||
			    i[0].nr == b->setaffinity_nr || ty_calls_keep_more(b, i[0].nr))
				break;
			nr = i[0].nr;
			kept = has_bit(b->kept.one[abi], nr);
		}
		__builtin_prefetch(i + PREFETCH_ITEMS);
		last = end;
		if (used == room) {
			if (used)
				ty_table_filled(f, thread, used, start);
			used = 0;
			row = ty_table_rooms(f, thread, sizeof(*row), &room);
		}
		start = at;
		if (row)
			fill_row(&row[used++], start, end, (int64_t)i[1].val, ty_run_loc(run, i),
				 nr, cpu1, 0, abi, first_arg(kept, i[0].val));
		else
			log_call(b, thread, start, end, (int64_t)i[1].val, ty_run_loc(run, i), nr,
				 0, abi, cpu, &(struct ty_call){.val = i[0].val});
	}
	if (used)
		ty_table_filled(f, thread, used, start);
	if (i == run->item)
		return i;
	*call_end = last;
	br->args = NULL;
	br->ts_ns = start;
	br->end_ns = last;
	br->loc = ty_run_loc(run, &i[-2]);
	br->val = i[-2].val;
	br->nr = i[-2].nr;
	br->ret = (int64_t)i[-1].val;
	ty_pairs_ran(b->pairs, slot, (uint64_t)(i - run->item) / 2, br);
	return i;
}

/* The first event of the traced command: from here on it runs on its own. */
static void released(struct ty_builder *b, int32_t tid, uint64_t ts)
{
	uint32_t i = tid && tid == b->command_tid ? ty_identity_get(b, tid, ts) : TY_NONE;

	if (i == TY_NONE)
		return;
	b->thread.v[i].pub.released_ns = ts;
	b->command_tid = 0;
}

void ty_calls_event(struct ty_builder *b, const struct ty_event *ev, uint64_t ts)
{
	struct ty_pair_step step;
	uint32_t thread = TY_NONE;

	switch (ev->kind) {
	case TY_EV_SYS_ENTER:
	case TY_EV_SYS_EXIT:
		b->sum.has_syscalls = true;
		thread = ev->tid ? ty_identity_get(b, ev->tid, ts) : TY_NONE;
		if (ev->kind == TY_EV_SYS_ENTER)
			released(b, ev->tid, ts);
		if (thread != TY_NONE) {
			struct ty_bthread *t = &b->thread.v[thread];

			t->pub.traced = true;
			if (ev->kind == TY_EV_SYS_ENTER && ev->u.enter.nr == b->setaffinity_nr)
				forget_affinity(b, ev, thread);
			t->in_nr = ev->kind == TY_EV_SYS_ENTER ? ev->u.enter.nr : -1;
		}
		break;
	case TY_EV_EXEC: released(b, ev->tid, ts); break; /* its execve's begin may be lost */
	case TY_EV_GAP:
	case TY_EV_FORK:
	case TY_EV_NEWTASK:
	case TY_EV_EXIT:
	case TY_EV_SIGNAL_DELIVER: break; /* a deadly signal: the call never returns */
	default: return;
	}
	step.done_n = 0;
	ty_build_fail(b, ty_pairs_feed(b->pairs, ev, &step, NULL));
	for (unsigned i = 0; !b->failed && i < step.done_n; i++)
		done(b, &step.done[i], ts);
	if (thread != TY_NONE)
		b->thread.v[thread].pair_slot = ty_pairs_slot(b->pairs, ev->tid);
}

void ty_calls_finish(struct ty_builder *b, uint64_t end)
{
	struct ty_call c;
	uint32_t it = 0;

	while (ty_pairs_open_next(b->pairs, &it, &c)) {
		if (c.how == TY_CALL_END_LOST)
			c.end_ns = end;
		done(b, &c, end);
	}
	for (size_t i = 0; i < b->thread.n; i++) {
		const struct ty_bthread *t = &b->thread.v[i];

		/* Without any event: it is still in the call that the snapshot saw. */
		if (t->in_snapshot && !t->seen && !t->pub.traced && t->snap_nr >= 0 && !t->ended)
			log_call(b, (uint32_t)i, t->pub.start_ns, end, 0, TY_NO_LOC, t->snap_nr,
				 TY_SF_BEFORE | TY_SF_OPEN | TY_SF_SNAPSHOT, TY_ABI_UNSURE, TY_NONE,
				 NULL);
	}
}
