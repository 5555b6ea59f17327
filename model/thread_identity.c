/* SPDX-License-Identifier: MIT */
/*
 * Identity of threads: (tid, generation), names over time, processes and parents. From the /proc
 * snapshot (section.h, TY_SEC_THREADS), fork, newtask, exec, exit and rename events, and names in
 * scheduler events. A tid belongs to one life at a time; a fork of a tid that is in use starts
 * another life.
 *
 * exec by a thread other than the leader (kernel fs/exec.c, de_thread): the thread takes the
 * leader's tid and the dying leader takes the thread's, before sched_process_exec says so. Its life
 * continues under the new tid; the old tid remains as an alias for the earlier time.
 */
#include "builder.h"
#include "field_text.h"
#include "key_value.h"
#include "snapshot_text.h"

#include <stdlib.h>
#include <string.h>

#define CLONE_PARENT 0x00008000
#define CLONE_THREAD 0x00010000

/* tid -> life ------------------------------------------------------------------------------- */

static void set_life(struct ty_builder *b, int32_t tid, uint32_t thread)
{
	if (ty_hash_put(&b->by_tid, (uint32_t)tid, thread))
		ty_build_fail(b, -TY_ENOMEM);
}

int ty_identity_init(struct ty_builder *b)
{
	b->strs = ty_strtab_new();
	return b->strs ? 0 : -TY_ENOMEM;
}

uint32_t ty_identity_find(const struct ty_builder *b, int32_t tid)
{
	uint32_t i = tid > 0 ? ty_hash_get(&b->by_tid, (uint32_t)tid) : TY_NONE;

	/* An exec may have given the life another tid. */
	return i != TY_NONE && b->thread.v[i].tid_now == tid ? i : TY_NONE;
}

static uint32_t life_new(struct ty_builder *b, int32_t tid, uint64_t ts)
{
	uint32_t was = ty_identity_find(b, tid), i = (uint32_t)b->thread.n;
	struct ty_bthread t = {
		.pub = {.tid = tid,
			.gen = was == TY_NONE ? 0 : b->thread.v[was].pub.gen + 1,
			.tgid = -1,
			.ppid = -1,
			.forked_by = -1,
			.policy = -1,
			.start_ns = ts},
		.tid_now = tid,
		.open_start = ts,
		.open_cpu = TY_NO_CPU,
		.open_state = TY_ST_UNKNOWN,
		.snap_nr = -1,
		.in_nr = -2,
		.pair_slot = UINT32_MAX,
		.prov_cpu = TY_NONE,
		.prio_seen = INT32_MIN,
	};

	if (tid <= 0 || tid > TY_MAX_TID)
		return TY_NONE; /* a damaged record: no kernel gives such a tid */
	if (b->thread.n >= TY_MAX_THREADS) {
		ty_build_fail(b, -TY_ELIMIT);
		return TY_NONE;
	}
	if (vec_push(&b->thread, t)) {
		ty_build_fail(b, -TY_ENOMEM);
		return TY_NONE;
	}
	set_life(b, tid, i);
	return i;
}

uint32_t ty_identity_get(struct ty_builder *b, int32_t tid, uint64_t ts)
{
	uint32_t i = ty_identity_find(b, tid);
	bool reused = i != TY_NONE;

	if (reused && !b->thread.v[i].ended)
		return i;
	/* Not forked in the trace. Without a snapshot it may have been there all along; one that is
	 * not in the snapshot, or has a used tid, was created while events were lost. */
	i = life_new(b, tid, reused || b->have_snapshot ? ts : b->start);
	if (i != TY_NONE)
		b->thread.v[i].open_flags = reused || b->have_snapshot ? TY_SF_LOST : TY_SF_BEFORE;
	return i;
}

void ty_identity_end(struct ty_builder *b, uint32_t thread, uint64_t ts)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (t->ended)
		return;
	if (ts < t->open_start)
		ts = t->open_start;
	ty_sched_close(b, thread, 0);
	t->pub.end_ns = ts;
	t->ended = true;
}

bool ty_identity_handover(struct ty_builder *b, uint32_t a, int32_t tid, uint64_t ts, bool proven)
{
	uint32_t leader = ty_identity_find(b, tid);
	struct ty_bthread *t = &b->thread.v[a], *l;
	int32_t old = t->tid_now;

	if (leader == a || tid <= 0 || tid > TY_MAX_TID)
		return false;
	l = leader == TY_NONE ? NULL : &b->thread.v[leader];
	/* Without the exec event: only if the leader of this very process is dying or dead. */
	if (!proven && (!l || !(l->exiting || l->ended) || t->exiting ||
			(t->pub.tgid != tid && t->pub.tgid != -1)))
		return false;
	if (vec_push(&b->alias, (struct ty_tid_entry){old, a, t->pub.start_ns, ts})) {
		ty_build_fail(b, -TY_ENOMEM);
		return false;
	}
	t->pub.gen = l ? l->pub.gen + 1 : 0;
	t->tid_now = t->pub.tid = t->pub.tgid = tid;
	set_life(b, tid, a);
	if (l && !l->ended) {
		/* The rest of the leader's exit has the thread's old tid. */
		l->tid_now = old;
		set_life(b, old, leader);
	}
	return true;
}

bool ty_identity_leader_left(struct ty_builder *b, uint32_t leader, int32_t tid, uint64_t ts)
{
	const struct ty_bthread *l = &b->thread.v[leader];
	uint32_t a = ty_identity_find(b, tid);

	if (a == TY_NONE || a == leader || !l->exiting || l->ended || l->tid_now != l->pub.tgid ||
	    b->thread.v[a].pub.tgid != l->pub.tgid || b->thread.v[a].open_state != TY_ST_RUNNING)
		return false;
	return ty_identity_handover(b, a, l->tid_now, ts, true);
}

/* names ------------------------------------------------------------------------------------- */

static void name_log(struct ty_builder *b, uint32_t thread, uint64_t ts, const char *s, size_t n)
{
	uint32_t str = ty_strtab_add(b->strs, s, n);

	if (str == UINT32_MAX || vec_push(&b->names.thread, thread) ||
	    vec_push(&b->names.at, (struct ty_name_at){ts, str}))
		ty_build_fail(b, -TY_ENOMEM);
	else
		b->thread.v[thread].pub.name = str;
}

void ty_identity_name(struct ty_builder *b, uint32_t thread, uint64_t ts, const char *comm)
{
	struct ty_bthread *t = &b->thread.v[thread];

	if (!*comm || !strncmp(t->comm, comm, TY_COMM))
		return;
	strncpy(t->comm, comm, TY_COMM);
	memcpy(t->comm_raw, t->comm, TY_COMM);
	name_log(b, thread, ts, t->comm, TY_COMM);
}

void ty_identity_executed(struct ty_builder *b, uint32_t thread, uint64_t ts)
{
	const char *comm = b->thread.v[thread].comm;

	if (*comm)
		name_log(b, thread, ts, comm, strnlen(comm, TY_COMM));
}

void ty_identity_name_raw(struct ty_builder *b, uint32_t thread, uint64_t ts, const char *raw)
{
	char comm[TY_COMM + 1];

	memcpy(comm, raw, TY_COMM);
	comm[TY_COMM] = 0;
	ty_identity_name(b, thread, ts, comm);
	memcpy(b->thread.v[thread].comm_raw, raw, TY_COMM);
}

/* births ------------------------------------------------------------------------------------ */

void ty_identity_birth(struct ty_builder *b, const struct ty_event *ev, int32_t child,
		       int32_t parent, uint64_t ts)
{
	uint32_t p = ty_identity_find(b, parent), i = ty_identity_find(b, child);
	bool newtask = ev->kind == TY_EV_NEWTASK;
	struct ty_bthread *t;

	if (child <= 0 || child > TY_MAX_TID)
		return;
	if (i != TY_NONE && !b->thread.v[i].ended && !b->thread.v[i].fresh) {
		t = &b->thread.v[i];
		if (!t->seen && t->in_snapshot && ts <= b->snap_to) {
			/* The snapshot was taken after this birth. */
			t->pub.born = t->fresh = t->seen = true;
			t->pub.start_ns = t->open_start = ts;
			t->open_state = TY_ST_BLOCKED;
			t->open_flags = TY_SF_NEW;
		} else {
			/* Its end was lost. */
			uint64_t gap = ty_gap_stack_from(&b->gaps, t->open_start);

			ty_sched_vacate(b, i);
			if (gap < ts)
				ty_sched_set(b, i, gap, TY_ST_UNKNOWN, TY_SF_LOST, TY_NO_CPU);
			ty_identity_end(b, i, ts);
		}
	}
	if (i == TY_NONE || b->thread.v[i].ended) {
		i = life_new(b, child, ts);
		if (i == TY_NONE)
			return;
		t = &b->thread.v[i];
		t->pub.born = t->fresh = t->seen = true;
		t->in_nr = -1;
		t->open_state = TY_ST_BLOCKED;
		t->open_flags = TY_SF_NEW;
	}
	t = &b->thread.v[i];
	t->pub.forked_by = p == TY_NONE ? -1 : (int32_t)p;
	if (p != TY_NONE) {
		const struct ty_thread *pp = &b->thread.v[p].pub;

		t->pub.kernel = pp->kernel || pp->tid == 2;
		t->pub.traced = t->pub.traced || pp->traced;
		if (!t->in_snapshot) {
			t->pub.policy = pp->policy;
			t->pub.affinity = pp->affinity;
			t->pub.cgroup = pp->cgroup;
		}
	}
	if (newtask) {
		uint64_t f = ev->u.newtask.clone_flags;
		const struct ty_thread *pp = p == TY_NONE ? NULL : &b->thread.v[p].pub;

		t->pub.tgid = f & CLONE_THREAD ? (pp ? pp->tgid : -1) : child;
		if (f & (CLONE_THREAD | CLONE_PARENT))
			t->pub.ppid = pp ? pp->ppid : -1;
		else
			t->pub.ppid = pp && pp->tgid > 0 ? pp->tgid : parent;
		/* perf's record of a birth has no name: it is the parent's. */
		ty_identity_name(b, i, ts,
				 *ev->u.newtask.comm || p == TY_NONE ? ev->u.newtask.comm
								     : b->thread.v[p].comm);
	} else {
		if (t->pub.ppid < 0 && t->pub.tgid < 0)
			t->pub.ppid = p != TY_NONE && b->thread.v[p].pub.tgid > 0
					      ? b->thread.v[p].pub.tgid
					      : parent;
		ty_identity_name(b, i, ts, ev->u.fork.child_comm);
	}
}

/* texts ------------------------------------------------------------------------------------- */

void ty_identity_machine(struct ty_builder *b, const char *text)
{
	const char *p, *v;
	size_t n;

	for (p = text; ty_key_next(&p, "no_idle_switch", &v, &n);) {
		unsigned long cpu = strtoul(v, NULL, 10);

		if (cpu < TY_MAX_CPUS && !ty_builder_cpu(b, (uint32_t)cpu))
			b->cpu[cpu].no_idle = true;
	}
	for (p = text; ty_key_next(&p, "mode", &v, &n);)
		b->all_mode = !strncmp(v, "all", 3);
	for (p = text; ty_key_next(&p, "command_tid", &v, &n);) {
		long tid = strtol(v, NULL, 10);

		if (tid > 0 && tid <= TY_MAX_TID && !b->facts.begins_later) {
			ty_pairs_command(b->pairs, (int32_t)tid);
			b->command_tid = (int32_t)tid;
		}
	}
}

static enum ty_state letter_state(char c)
{
	switch (c) {
	case 'S':
	case 'I':
	case 'P': return TY_ST_SLEEPING;
	case 'D': return TY_ST_BLOCKED;
	case 'T':
	case 't': return TY_ST_STOPPED;
	case 'Z':
	case 'X': return TY_ST_DEAD;
	case 'w': return TY_ST_RUNNABLE; /* of a cut */
	default: return TY_ST_UNKNOWN;	 /* R: running or ready; the events will say */
	}
}

/* A field as a string id; 0 when it is missing or "-". */
static uint32_t field_id(struct ty_builder *b, struct ty_snap_field f)
{
	uint32_t id = f.n && !(f.n == 1 && *f.s == '-') ? ty_strtab_add(b->strs, f.s, f.n) : 0;

	if (id == UINT32_MAX)
		ty_build_fail(b, -TY_ENOMEM);
	return id == UINT32_MAX ? 0 : id;
}

/* SCHED_* of include/uapi/linux/sched.h by the name proc_snapshot.c gives it, or a number. */
static int32_t policy_number(struct ty_snap_field f)
{
	static const char *const names[] = {"other", "fifo", "rr",	 "batch",
					    "iso",   "idle", "deadline", "ext"};
	int32_t v = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (f.n == strlen(names[i]) && !memcmp(f.s, names[i], f.n))
			return (int32_t)i;
	for (size_t i = 0; i < f.n && v < 1024; i++)
		v = f.s[i] >= '0' && f.s[i] <= '9' ? v * 10 + f.s[i] - '0' : 1024;
	return f.n && v < 1024 ? v : -1;
}

static void snapshot_thread(struct ty_builder *b, const struct ty_snap_thread *l)
{
	struct ty_bthread *t;
	char comm[TY_COMM + 1] = "";
	uint32_t i;

	if (l->tid > TY_MAX_TID || ty_identity_find(b, l->tid) != TY_NONE)
		return;
	i = life_new(b, l->tid, 0); /* moved to the start at the first event */
	if (i == TY_NONE)
		return;
	t = &b->thread.v[i];
	t->in_snapshot = b->have_snapshot; /* else perf's: names, but nothing of a time */
	t->pub.tgid = l->tgid > 0 && l->tgid <= TY_MAX_TID ? l->tgid : -1;
	t->pub.ppid = l->ppid >= 0 && l->ppid <= TY_MAX_TID ? l->ppid : -1;
	t->pub.kernel = l->tid == 2 || l->ppid == 2;
	t->snap_letter = l->state;
	t->open_state = (uint8_t)letter_state(t->snap_letter);
	t->open_flags = TY_SF_BEFORE | (t->open_state == TY_ST_UNKNOWN ? 0 : TY_SF_SNAPSHOT);
	t->snap_nr = l->nr >= 0 && l->nr < INT32_MAX ? (int32_t)l->nr : -1;
	t->pub.policy = policy_number(l->policy);
	t->pub.affinity = field_id(b, l->affinity);
	t->pub.cgroup = field_id(b, l->cgroup);
	if (l->comm.s)
		ty_unescape_field(l->comm.s, l->comm.n, comm, sizeof(comm));
	ty_identity_name(b, i, 0, comm);
}

void ty_identity_snapshot(struct ty_builder *b, const char *text)
{
	struct ty_snap_thread line;

	b->have_snapshot = ty_snap_taken(text, &b->snap_from, &b->snap_to);
	while (ty_snap_thread(&text, &line))
		snapshot_thread(b, &line);
}

/* trace-cmd's saved names, "TID NAME" per line: for threads that no event names. */
void ty_identity_cmdlines(struct ty_builder *b, const char *text)
{
	for (const char *p = text; p && *p;) {
		size_t n = strcspn(p, "\n");
		char *end;
		long tid = strtol(p, &end, 10);
		uint32_t i =
			tid > 0 && tid <= TY_MAX_TID ? ty_identity_find(b, (int32_t)tid) : TY_NONE;

		if (i != TY_NONE && !b->thread.v[i].comm[0] && end < p + n && *end == ' ') {
			char comm[TY_COMM + 1] = "";
			size_t len = (size_t)(p + n - end - 1);

			memcpy(comm, end + 1, len < TY_COMM ? len : TY_COMM);
			ty_identity_name(b, i, b->thread.v[i].pub.start_ns, comm);
		}
		p += n + (p[n] == '\n');
	}
}
