/* SPDX-License-Identifier: MIT */
/* See sample_maps.h. */
#include "sample_maps.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "read_pool.h"
#include "now.h"
#include "pair_map.h"
#include "partition.h"
#include "perf_write.h"
#include "proc_maps.h"
#include "section.h"

enum {
	READ_MS = 100, /* to wait for the mappings of a process: its sample is scrubbed by them */
	END_MS = 500,  /* in the end, for all of them */
	AGAIN_NS = 1000000000, /* after lost records a process is read again, no earlier */
	EXITED = 4096, /* processes whose code is kept after their end: a thread may be left */
};
/* Records of perf.data. */
static const struct ty_section_form form = {
	.section = TY_SEC_SAMPLING, .most = (uint64_t)64 << 20, .raw_part = 4};

/* A process. TRIED: nothing is mapped, or it cannot be read. */
struct proc {
	uint32_t pid, reading; /* reading: the number of that under way */
	enum { UNKNOWN, READING, TRIED, KNOWN } state;
	bool exited, stale;		 /* stale: records were lost during the reading */
	uint64_t read_ns, not_before_ns; /* it was read; it is read */
	uint64_t last_ns;		 /* of the newest record */
	ty_code_ranges code;
};

struct ty_sample_maps {
	bool trace_all;
	struct ty_spooled_section maps;
	struct ty_read_pool *reader;
	uint32_t readings;
	bool slow; /* the reader gave nothing in time: it is not waited for until it does */
	bool full;
	struct ty_pair_map proc_of; /* by pid: an index of procs */
	VEC(struct proc) procs;
	uint32_t exited[EXITED]; /* pids, the oldest at exited_n % EXITED */
	size_t exited_n;
};

struct ty_sample_maps *ty_sample_maps_new(bool trace_all)
{
	struct ty_sample_maps *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->trace_all = trace_all;
	s->reader = ty_read_pool_new(TY_READ_THREADS, ty_proc_maps_read, NULL, NULL);
	if (!s->reader) {
		free(s);
		return NULL;
	}
	ty_spooled_section_init(&s->maps, &form, NULL);
	return s;
}

void ty_sample_maps_free(struct ty_sample_maps *s)
{
	if (!s)
		return;
	ty_read_pool_free(s->reader);
	ty_pair_map_fini(&s->proc_of);
	vec_each (p, &s->procs)
		vec_fini(&p->code);
	vec_fini(&s->procs);
	ty_spooled_section_fini(&s->maps);
	free(s);
}

struct ty_spooled_section *ty_sample_maps_section(struct ty_sample_maps *s)
{
	return &s->maps;
}

/* Until the next one is made. */
static struct proc *find(const struct ty_sample_maps *s, uint32_t pid)
{
	const uint32_t n = ty_pair_map_get(&s->proc_of, pid, 0);

	return n == TY_PAIR_NONE ? NULL : &s->procs.v[n];
}

static struct proc *make(struct ty_sample_maps *s, uint32_t pid)
{
	return pair_element(&s->proc_of, pid, 0, &s->procs, (struct proc){.pid = pid});
}

/* The code of a process that is known; NULL: it is not. Until the next one is made. */
static ty_code_ranges *code_of(const struct ty_sample_maps *s, uint32_t pid)
{
	struct proc *p = find(s, pid);

	return p && p->state == KNOWN ? &p->code : NULL;
}

/* Events may be older than what was read. */
static void set_last(struct proc *p, uint64_t ns)
{
	p->last_ns = ns > p->last_ns ? ns : p->last_ns;
}

/* A process of that number begins, of which nothing is known. */
static void forget(struct proc *p)
{
	vec_fini(&p->code);
	*p = (struct proc){.pid = p->pid};
}

/* Make it known, with no code, or with that of its parent. */
static void set_known(struct ty_sample_maps *s, uint32_t pid, uint32_t parent)
{
	struct proc *p = make(s, pid);
	const ty_code_ranges *from = parent ? code_of(s, parent) : NULL;

	if (!p)
		return;
	vec_fini(&p->code);
	*p = (struct proc){.pid = pid, .state = KNOWN, .last_ns = p->last_ns};
	for (size_t i = 0; from && i < from->n; i++)
		if (vec_push(&p->code, from->v[i]))
			break;
}

/* Unmapped code is kept, because records arrive late. */
static void add_code(ty_code_ranges *r, uint64_t from, uint64_t bytes)
{
	uint64_t to = from + bytes;
	size_t a, b;

	if (to <= from)
		return;
	a = partition_point(i, (size_t)0, r->n, r->v[i].to < from);
	b = partition_point(i, a, r->n, r->v[i].from <= to);
	if (a == b) {
		if (vec_push(r, (struct ty_code_range){0}))
			return;
		memmove(r->v + a + 1, r->v + a, (r->n - 1 - a) * sizeof(*r->v));
		r->v[a] = (struct ty_code_range){from, to};
		return;
	}
	r->v[a].from = from < r->v[a].from ? from : r->v[a].from;
	r->v[a].to = to > r->v[b - 1].to ? to : r->v[b - 1].to;
	memmove(r->v + a + 1, r->v + b, (r->n - b) * sizeof(*r->v));
	r->n -= b - a - 1;
}

bool ty_is_code(const ty_code_ranges *r, uint64_t addr)
{
	const size_t i = r ? partition_point(k, (size_t)0, r->n, r->v[k].to <= addr) : 0;

	return r && i < r->n && r->v[i].from <= addr;
}

/* false: there is no room. */
static bool put_existing(struct ty_sample_maps *s, const struct ty_perf_where *where,
			 const struct ty_stk_map *m, const char *path)
{
	const uint32_t pid = (uint32_t)where->pid;

	if (!ty_spooled_section_room(&s->maps, 256 + strlen(path)))
		return false;
	/* What was mapped before it is known of is forgotten. */
	if (!code_of(s, pid)) {
		ty_perf_put_comm(&s->maps.b, where, "", true);
		set_known(s, pid, 0);
	}
	if (code_of(s, pid)) {
		add_code(code_of(s, pid), m->start, m->bytes);
		set_last(find(s, pid), where->time_ns);
	}
	ty_perf_put_mmap2(&s->maps.b, where, m->start, m->bytes, m->off, PROT_READ | PROT_EXEC,
			  m->build_id, m->build_id_n, path);
	return true;
}

/* What was read of a process, unless it has become another one meanwhile. */
static void take_reading(struct ty_sample_maps *s, const struct ty_reading *r)
{
	struct proc *p = find(s, r->pid);
	struct ty_perf_where where = {
		.pid = (pid_t)r->pid, .tid = (pid_t)r->pid, .id = TY_SAMPLE_MAPS_ID};

	if (!p || p->state != READING || p->reading != r->number)
		return;
	where.time_ns = p->read_ns;
	if (p->stale) {
		forget(p);
		p->not_before_ns = where.time_ns + AGAIN_NS;
		return;
	}
	p->state = TRIED;
	s->full |= r->full;
	for (size_t at = 0; at + sizeof(struct ty_stk_map) < r->bytes.len;) {
		const char *path = r->bytes.p + at + sizeof(struct ty_stk_map);
		struct ty_stk_map m;

		memcpy(&m, r->bytes.p + at, sizeof(m));
		if (!put_existing(s, &where, &m, path)) {
			s->full = true;
			break;
		}
		at += sizeof(m) + strlen(path) + 1;
	}
	p = find(s, r->pid);
	if (p)
		p->read_ns = where.time_ns;
}

/* What has been read; one of them is waited for. false: there is none. */
static bool take_readings(struct ty_sample_maps *s, unsigned wait_ms)
{
	struct ty_reading r;
	bool any = false;

	while (ty_read_pool_take(s->reader, any ? 0 : wait_ms, &r)) {
		take_reading(s, &r);
		ty_buf_fini(&r.bytes);
		any = true;
	}
	if (any)
		s->slow = false;
	return any;
}

/* What the process has mapped, from ns on: known at once, unless it takes too long. */
void ty_sample_maps_know(struct ty_sample_maps *s, uint32_t pid, uint64_t ns)
{
	struct proc *p = make(s, pid);
	uint64_t end_ms;

	if (!p || p->state != UNKNOWN || ns < p->not_before_ns)
		return;
	p->reading = ++s->readings;
	p->read_ns = ns;
	p->state = ty_read_pool_request(s->reader, pid, p->reading) ? READING : TRIED;
	if (s->slow)
		return;
	end_ms = ty_now_ms() + READ_MS;
	for (uint64_t now; p && p->state == READING; p = find(s, pid)) {
		now = ty_now_ms();
		if (now >= end_ms || !take_readings(s, (unsigned)(end_ms - now))) {
			s->slow = true;
			return;
		}
	}
}

void ty_sample_maps_take(struct ty_sample_maps *s)
{
	take_readings(s, 0);
}

const ty_code_ranges *ty_sample_maps_code(const struct ty_sample_maps *s, uint32_t pid)
{
	return code_of(s, pid);
}

/* events ------------------------------------------------------------------------------------------
 */

/* Mappings may be missing from since_ns on: no process is known until it is read again. */
static void on_lost(struct ty_sample_maps *s, uint64_t since_ns)
{
	vec_each (p, &s->procs) {
		struct ty_perf_where where = {.pid = (pid_t)p->pid,
					      .tid = (pid_t)p->pid,
					      .time_ns = since_ns,
					      .id = TY_SAMPLE_MAPS_ID};
		const struct proc was = *p;

		if (was.state == KNOWN) {
			bool room = ty_spooled_section_room(&s->maps, 256);

			s->full |= !room;
			if (room)
				ty_perf_put_comm(&s->maps.b, &where, "", true);
			/* What was learnt since then holds at its time alone: events of another CPU
			 * are missing, which may be newer. */
			where.time_ns = was.last_ns;
			if (room && was.last_ns >= since_ns)
				ty_perf_put_comm(&s->maps.b, &where, "", true);
		}
		p->stale = was.state == READING;
		if (was.state == UNKNOWN || was.state == READING)
			continue;
		forget(p);
		p->exited = was.exited;
		p->not_before_ns = was.read_ns ? was.read_ns + AGAIN_NS : 0;
	}
}

/* Other threads may outlive the process's first one, and records arrive late: its code is kept for
 * a time. */
static void on_task_end(struct ty_sample_maps *s, uint32_t pid, struct proc *p)
{
	struct proc *oldest;

	if (!p)
		return;
	p->exited = true;
	if (s->exited_n >= EXITED) {
		oldest = find(s, s->exited[s->exited_n % EXITED]);
		if (oldest && oldest->exited)
			forget(oldest);
	}
	s->exited[s->exited_n++ % EXITED] = pid;
}

void ty_sample_maps_event(void *maps, const struct ty_map_event *e)
{
	struct ty_sample_maps *s = maps;
	struct proc *of = find(s, e->pid);
	const struct ty_perf_where where = {.pid = (pid_t)e->pid,
					    .tid = (pid_t)e->pid,
					    .time_ns = e->ns,
					    .id = TY_SAMPLE_MAPS_ID};
	char text[PATH_MAX];

	switch (e->kind) {
	case TY_MAP_EV_LOST: on_lost(s, e->since_ns); return;
	case TY_MAP_EV_EXIT: on_task_end(s, e->pid, of); return;
	case TY_MAP_EV_FORK:
		if (!code_of(s, e->parent)) {
			if (of)
				forget(of); /* another one's number now */
			return;
		}
		set_known(s, e->pid, e->parent);
		break;
	case TY_MAP_EV_EXEC:
		if (!code_of(s, e->pid) && !s->trace_all)
			return;
		set_known(s, e->pid, 0);
		break;
	case TY_MAP_EV_MAP:
		if (!of || of->state == UNKNOWN) {
			if (s->trace_all)
				ty_sample_maps_know(s, e->pid, e->ns); /* with this one */
			return;
		}
		if (of->state == TRIED) /* a first one */
			of->state = KNOWN;
		if (of->state == KNOWN)
			add_code(&of->code, e->map.start, e->map.bytes);
		break;
	}
	of = find(s, e->pid);
	if (of)
		set_last(of, e->ns);
	if (!ty_spooled_section_room(&s->maps, 256 + e->text_n)) {
		s->full = true;
		return;
	}
	memcpy(text, e->text_n ? e->text : "", e->text_n);
	text[e->text_n] = 0;
	if (e->kind == TY_MAP_EV_MAP)
		ty_perf_put_mmap2(&s->maps.b, &where, e->map.start, e->map.bytes, e->map.off,
				  PROT_READ | PROT_EXEC, e->map.build_id, e->map.build_id_n, text);
	else if (e->kind == TY_MAP_EV_EXEC)
		ty_perf_put_comm(&s->maps.b, &where, text, true);
	else
		ty_perf_put_task(&s->maps.b, &where, true, (pid_t)e->parent, (pid_t)e->parent_tid);
}

size_t ty_sample_maps_end(struct ty_sample_maps *s, bool *full)
{
	const uint64_t end_ms = ty_now_ms() + END_MS;

	/* A process whose reading is stuck is abandoned. */
	for (uint64_t now; ty_read_pool_left(s->reader);) {
		now = ty_now_ms();
		if (now >= end_ms || !take_readings(s, (unsigned)(end_ms - now)))
			break;
	}
	*full = s->full;
	return ty_read_pool_left(s->reader);
}
