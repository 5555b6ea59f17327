/* SPDX-License-Identifier: MIT */
/*
 * tarry dump syscalls: one line per system call, in the order of their beginnings, as
 * strace -f -tt -T shows calls that are not interrupted.
 *
 * Lines wait in a queue until all calls that began earlier are over. When LINES_MAX wait for one
 * that blocks, that one is shown as unfinished and its end later as resumed, as strace does; so
 * memory is bounded (about 160 bytes per waiting line). Positions in the queue are found by binary
 * search: keys ascend, a call's key is 2 x seq + 1, other lines have the even key behind the latest
 * call's.
 *
 * With --from and --to a call is shown when any part of it lies in the window; reading goes on
 * behind the window until the ends of its calls are known.
 *
 * Budget: 700 ns per line of text, decoding included.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "call_line.h"
#include "comms.h"
#include "dump.h"
#include "section.h"
#include "tgids.h"

#define LINES_MAX      (1u << 19)
#define LINE_MAX_BYTES (1u << 20)
#define BUFFERS_MAX    64

enum kind { LINE_PENDING, LINE_CALL, LINE_RESUMED, LINE_GAP, LINE_DROPPED };

struct line {
	uint64_t key;
	union {
		struct ty_call call;
		struct {
			uint64_t from_ns, to_ns, count;
			uint32_t cpu;
			uint8_t what;
		} gap;
	} u;
	int32_t pid;
	char comm[TY_COMM + 1];
	uint8_t kind;
};

struct dump {
	struct ty_session *s;
	const struct ty_window *w;
	FILE *out;
	bool json;
	struct ty_pairs *pairs;
	struct ty_comms *comms;
	struct ty_tgids *tgids;
	struct ty_wall wall;
	struct ty_json j;
	struct ty_buf text;
	struct line *ring; /* power of two */
	size_t cap, head, n;
	uint64_t last_key;
	uint64_t split_open;  /* calls shown as begun whose ends are still to come */
	uint64_t sys_buffers; /* bit per buffer in which system calls were seen */
};

static struct line *at(const struct dump *d, size_t i)
{
	return &d->ring[(d->head + i) & (d->cap - 1)];
}

static bool tid_wanted(const struct ty_window *w, int32_t tid)
{
	for (uint32_t i = 0; i < w->tids_n; i++)
		if (w->tids[i] == tid)
			return true;
	return !w->tids_n;
}

static bool comm_wanted(const struct ty_window *w, const char *comm)
{
	for (uint32_t i = 0; i < w->comms_n; i++)
		if (!fnmatch(w->comms[i], comm, 0))
			return true;
	return !w->comms_n;
}

static bool cpu_wanted(const struct ty_window *w, uint32_t cpu)
{
	for (uint32_t i = 0; i < w->cpus_n; i++)
		if (w->cpus[i] == cpu)
			return true;
	return !w->cpus_n;
}

/* Shown whatever comes: decided when it begins. */
static bool begin_wanted(const struct dump *d, const struct ty_call *c)
{
	return tid_wanted(d->w, c->tid) && cpu_wanted(d->w, c->cpu) &&
	       (c->how != TY_CALL_OPEN || c->start_ns < d->w->to_ns);
}

/* The rest: decided when it is over. */
static bool end_wanted(const struct dump *d, const struct ty_call *c, const char *comm)
{
	if (!comm_wanted(d->w, comm))
		return false;
	if (c->how == TY_CALL_OPEN)
		return true;
	if (ty_call_end_only(c) && c->end_ns >= d->w->to_ns)
		return false;
	return c->end_ns >= d->w->from_ns;
}

/* output -------------------------------------------------------------------------------------- */

static void put_text(struct dump *d)
{
	ty_buf_addc(&d->text, '\n');
	fwrite_unlocked(d->text.p, 1, d->text.len, d->out);
}

static void show_call(struct dump *d, const struct line *l, enum ty_call_part part)
{
	const struct ty_call *c = &l->u.call;

	if (d->json) {
		if (part != TY_CALL_BEGUN) /* a JSON line is whole: it comes when all is known */
			ty_call_json(d->s->arch, c, l->pid, l->comm, &d->text, &d->j);
		return;
	}
	ty_buf_reset(&d->text);
	ty_call_text(d->s->arch, &d->wall, c, part, &d->text);
	put_text(d);
}

static void show_gap(struct dump *d, const struct line *l)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "overrun",
					   [TY_GAP_DAMAGED] = "damaged",
					   [TY_GAP_UNFINISHED] = "unfinished"};
	const char *name = l->u.gap.what <= TY_GAP_UNFINISHED ? what[l->u.gap.what] : "lost";
	struct ty_buf *b = &d->text;

	if (d->json) {
		ty_json_object(&d->j, NULL);
		ty_json_u64(&d->j, "ts_ns", l->u.gap.to_ns);
		ty_json_u64(&d->j, "cpu", l->u.gap.cpu);
		ty_json_str(&d->j, "gap", name);
		ty_json_u64(&d->j, "from_ns", l->u.gap.from_ns);
		if (l->u.gap.count == UINT64_MAX)
			ty_json_null(&d->j, "count");
		else
			ty_json_u64(&d->j, "count", l->u.gap.count);
		ty_json_end_object(&d->j);
		ty_json_line(&d->j);
		return;
	}
	ty_buf_reset(b);
	ty_buf_adds(b, "--- ");
	if (l->u.gap.what == TY_GAP_UNFINISHED) {
		ty_buf_addf(b, "CPU %u: the recording was not finished; nothing is known after ",
			    l->u.gap.cpu);
		ty_wall_fmt(&d->wall, l->u.gap.from_ns ? l->u.gap.from_ns : l->u.gap.to_ns, b);
	} else {
		if (l->u.gap.count == UINT64_MAX)
			ty_buf_adds(b, "events");
		else
			ty_buf_addf(b, "%llu event%s", (unsigned long long)l->u.gap.count,
				    l->u.gap.count == 1 ? "" : "s");
		ty_buf_addf(b, " lost on CPU %u%s ", l->u.gap.cpu,
			    l->u.gap.what == TY_GAP_DAMAGED ? " (the file is damaged)" : "");
		if (l->u.gap.from_ns) {
			ty_buf_adds(b, "between ");
			ty_wall_fmt(&d->wall, l->u.gap.from_ns, b);
			ty_buf_adds(b, " and ");
		} else {
			ty_buf_adds(b, "before ");
		}
		ty_wall_fmt(&d->wall, l->u.gap.to_ns, b);
	}
	ty_buf_adds(b, " ---");
	put_text(d);
}

static void show(struct dump *d, const struct line *l)
{
	switch ((enum kind)l->kind) {
	case LINE_CALL: show_call(d, l, TY_CALL_WHOLE); break;
	case LINE_RESUMED: show_call(d, l, TY_CALL_RESUMED); break;
	case LINE_GAP: show_gap(d, l); break;
	case LINE_PENDING:
	case LINE_DROPPED: break;
	}
}

/* Show what waits for nothing any more. */
static void flush_lines(struct dump *d)
{
	while (d->n && at(d, 0)->kind != LINE_PENDING) {
		show(d, at(d, 0));
		d->head = (d->head + 1) & (d->cap - 1);
		d->n--;
	}
}

/* queue --------------------------------------------------------------------------------------- */

/* Forget lines that will not be shown but lie behind one that waits. */
static void squeeze(struct dump *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->n; i++)
		if (at(d, i)->kind != LINE_DROPPED)
			*at(d, kept++) = *at(d, i);
	d->n = kept;
}

static int grow(struct dump *d)
{
	size_t cap = d->cap ? d->cap * 2 : 256;
	struct line *r = malloc(cap * sizeof(*r));

	if (!r)
		return -TY_ENOMEM;
	for (size_t i = 0; i < d->n; i++)
		r[i] = *at(d, i);
	free(d->ring);
	d->ring = r;
	d->cap = cap;
	d->head = 0;
	return 0;
}

static struct line *push(struct dump *d)
{
	if (d->n == d->cap && d->cap == LINES_MAX) {
		squeeze(d);
		if (d->n > LINES_MAX / 2) {
			/* All wait for the first: show its beginning, go on without its end. */
			show_call(d, at(d, 0), TY_CALL_BEGUN);
			d->split_open++;
			at(d, 0)->kind = LINE_DROPPED;
			flush_lines(d);
		}
	} else if (d->n == d->cap && grow(d)) {
		return NULL;
	}
	return at(d, d->n++);
}

static struct line *find(const struct dump *d, uint64_t key)
{
	size_t lo = 0, hi = d->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (at(d, mid)->key < key)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < d->n && at(d, lo)->key == key ? at(d, lo) : NULL;
}

static void name_line(const struct dump *d, struct line *l, int32_t tid)
{
	const char *comm = ty_comms_get(d->comms, tid);
	size_t n = strnlen(comm, TY_COMM);

	memcpy(l->comm, comm, n);
	l->comm[n] = 0;
}

static int begun(struct dump *d, const struct ty_call *c)
{
	struct line *l;

	if (!begin_wanted(d, c))
		return 0;
	l = push(d);
	if (!l)
		return -TY_ENOMEM;
	l->key = d->last_key = 2 * c->seq + 1;
	l->kind = LINE_PENDING;
	l->u.call = *c;
	l->pid = ty_tgids_get(d->tgids, c->tid);
	return 0;
}

static int over(struct dump *d, const struct ty_call *c)
{
	uint64_t key = 2 * c->seq + 1;
	bool ended_only = ty_call_end_only(c);
	struct line *l;

	if (!begin_wanted(d, c) || (!ended_only && c->start_ns >= d->w->to_ns))
		return 0;
	l = ended_only ? NULL : find(d, key);
	if (!l) {
		l = push(d);
		if (!l)
			return -TY_ENOMEM;
		l->pid = ty_tgids_get(d->tgids, c->end_tid);
		if (ended_only) {
			l->key = d->last_key = key;
			l->kind = LINE_CALL;
		} else {
			l->key = d->last_key = (d->last_key | 1) + 1;
			l->kind = LINE_RESUMED;
			d->split_open--;
		}
	} else {
		l->kind = LINE_CALL;
	}
	l->u.call = *c;
	name_line(d, l, c->end_tid);
	if (!end_wanted(d, c, l->comm))
		l->kind = LINE_DROPPED;
	return 0;
}

static int lost(struct dump *d, const struct ty_event *ev)
{
	struct line *l;

	/* Buffers without system calls cannot lose any. */
	if (d->sys_buffers && ev->buffer < BUFFERS_MAX && !(d->sys_buffers >> ev->buffer & 1))
		return 0;
	if (!cpu_wanted(d->w, ev->cpu) || ev->ts_ns < d->w->from_ns ||
	    ev->u.gap.from_ns >= d->w->to_ns)
		return 0;
	l = push(d);
	if (!l)
		return -TY_ENOMEM;
	l->key = d->last_key = (d->last_key | 1) + 1;
	l->kind = LINE_GAP;
	l->u.gap.from_ns = ev->u.gap.from_ns;
	l->u.gap.to_ns = ev->ts_ns;
	l->u.gap.count = ev->u.gap.count;
	l->u.gap.cpu = ev->cpu;
	l->u.gap.what = ev->u.gap.what;
	return 0;
}

/* the loop ------------------------------------------------------------------------------------ */

static int one(struct dump *d, const struct ty_event *ev, struct ty_err *err)
{
	struct ty_pair_step step;
	int r = ty_comms_feed(d->comms, ev);

	if (!r)
		r = ty_wall_feed(&d->wall, ev);
	if (!r)
		r = ty_tgids_feed(d->tgids, ev);
	if (!r && ev->kind == TY_EV_GAP)
		r = lost(d, ev);
	if ((ev->kind == TY_EV_SYS_ENTER || ev->kind == TY_EV_SYS_EXIT) && ev->buffer < BUFFERS_MAX)
		d->sys_buffers |= (uint64_t)1 << ev->buffer;
	if (!r)
		r = ty_pairs_feed(d->pairs, ev, &step, err);
	if (r)
		return r;
	for (unsigned i = 0; i < step.done_n && !r; i++)
		r = over(d, &step.done[i]);
	if (!r && step.started)
		r = begun(d, &step.call);
	flush_lines(d);
	return r;
}

static void finish(struct dump *d)
{
	struct ty_call c;
	uint32_t it = 0;

	while (ty_pairs_open_next(d->pairs, &it, &c)) {
		struct line *l = begin_wanted(d, &c) ? find(d, 2 * c.seq + 1) : NULL;

		struct line now = {.pid = ty_tgids_get(d->tgids, c.tid)};

		if (!l && (!d->json || !begin_wanted(d, &c)))
			continue; /* not wanted, or shown as begun already */
		if (!l)
			l = &now;
		l->kind = LINE_CALL;
		l->u.call = c;
		name_line(d, l, c.end_tid);
		if (!end_wanted(d, &c, l->comm))
			l->kind = LINE_DROPPED;
		if (l == &now)
			show(d, l);
	}
	flush_lines(d);
}

static int run(struct dump *d, struct ty_err *err)
{
	struct ty_event ev;
	int r;

	while ((r = ty_events_next(d->s->events, &ev, err)) > 0) {
		if (ev.ts_ns >= d->w->to_ns && !d->n && !d->split_open && ev.kind != TY_EV_GAP)
			return 0;
		r = one(d, &ev, err);
		if (r < 0)
			return ty_fail(err, -r, TY_NO_OFFSET, "%s: %s while listing system calls",
				       d->s->trace->path, ty_strerror(r));
		if (ferror_unlocked(d->out))
			return 0; /* the caller reports it */
	}
	if (r < 0)
		return r;
	finish(d);
	if (!d->sys_buffers)
		fprintf(stderr,
			"tarry: %s: no system calls are recorded in it (raw_syscalls:sys_enter and "
			"sys_exit)\n",
			d->s->trace->path);
	return 0;
}

/* The command's tid out of the MACHINE section, -1 when there is none. */
static int32_t command_tid(const struct ty_session *s)
{
	const char *p = ty_trace_section(s->trace, TY_SEC_MACHINE).s;

	for (; p && *p; p = strchr(p, '\n'), p += p ? 1 : 0)
		if (!strncmp(p, "command_tid=", 12))
			return (int32_t)strtol(p + 12, NULL, 10);
	return -1;
}

static int prepare(struct dump *d, struct ty_err *err)
{
	struct ty_trace *t = d->s->trace;
	const char *threads = ty_trace_section(t, TY_SEC_THREADS).s;
	int r;

	d->pairs = ty_pairs_new(d->s->arch);
	d->comms = ty_comms_new(t->cmdlines.s, threads);
	d->tgids = ty_tgids_new(threads);
	if (!d->pairs || !d->comms || !d->tgids)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", t->path);
	ty_pairs_command(d->pairs, command_tid(d->s));
	if (d->json)
		return 0;
	/* Only tarry's own files have clock markers; others need not be searched. */
	if (ty_trace_section(t, TY_SEC_MACHINE).s) {
		r = ty_wall_find(&d->wall, d->s->events, err);
		if (r < 0)
			return r;
	}
	if (!d->wall.points.n)
		fprintf(stderr,
			"tarry: %s: the file does not relate its clock to the time of day; times "
			"are seconds of the trace clock\n",
			t->path);
	return 0;
}

int ty_dump_syscalls(struct ty_session *s, const struct ty_select *sel, const struct ty_window *w,
		     FILE *out, struct ty_err *err)
{
	struct dump d = {.s = s, .w = w, .out = out, .json = sel->json};
	int r;

	ty_wall_init(&d.wall);
	ty_buf_init(&d.text, LINE_MAX_BYTES);
	ty_json_init(&d.j, out);
	r = prepare(&d, err);
	if (!r)
		r = run(&d, err);
	free(d.ring);
	ty_buf_fini(&d.text);
	ty_wall_fini(&d.wall);
	ty_tgids_free(d.tgids);
	ty_comms_free(d.comms);
	ty_pairs_free(d.pairs);
	return r;
}
