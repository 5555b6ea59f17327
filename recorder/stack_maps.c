/* SPDX-License-Identifier: MIT */
/* See stack_maps.h. */
#include "stack_maps.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "read_pool.h"
#include "now.h"
#include "proc_maps.h"
#include "vec.h"

/* Bytes kept of a process, and of all. Beyond that, mappings are read when they are needed. */
enum { PROC_MAX = 256 << 10 };
#define ALL_MAX	 (64u << 20)
#define PIDS_MAX (1u << 22) /* the kernel's own limit: PID_MAX_LIMIT */

typedef VEC(char) bytes;

struct proc {
	uint32_t pid;
	bool known;		   /* records: all that it has mapped */
	bool partial;		   /* of these, the file alone has the first ones */
	bool needed;		   /* it has a stack: what is known goes to the file */
	uint64_t need_ns, read_ns; /* of its newest stack; from when on what is read holds */
	uint64_t last_ns;	   /* of the newest record */
	uint32_t reads;		   /* the number of the reading under way; 0: none */
	bytes records;		   /* since its last exec, begun by an EXEC */
	size_t put_n;		   /* of these the file has */
};

struct ty_stack_maps {
	pthread_mutex_t lock;
	bool trace_all, full;
	ty_stack_maps_put *put;
	void *ctx;
	struct proc **of; /* by pid, none from `top` on; untouched pages cost nothing */
	uint32_t top;
	size_t bytes; /* of all processes */
	uint32_t reads;
	struct ty_read_pool *reader;
};

struct ty_stack_maps *ty_stack_maps_new(bool trace_all, ty_stack_maps_put *put, void *ctx)
{
	struct ty_stack_maps *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->of = calloc(PIDS_MAX, sizeof(struct proc *));
	m->reader = ty_read_pool_new(TY_READ_THREADS, ty_proc_maps_read, NULL, NULL);
	if (!m->of || !m->reader) {
		ty_read_pool_free(m->reader);
		free(m->of);
		free(m);
		return NULL;
	}
	m->trace_all = trace_all;
	m->put = put;
	m->ctx = ctx;
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

static struct proc *find(const struct ty_stack_maps *m, uint32_t pid)
{
	return pid < PIDS_MAX ? m->of[pid] : NULL;
}

static struct proc *make(struct ty_stack_maps *m, uint32_t pid)
{
	struct proc *p = find(m, pid);

	if (p || pid >= PIDS_MAX)
		return p;
	p = m->of[pid] = calloc(1, sizeof(*p));
	if (p)
		p->pid = pid;
	if (p && pid >= m->top)
		m->top = pid + 1;
	return p;
}

/* No mapping of it is known any more. */
static void forget(struct ty_stack_maps *m, struct proc *p)
{
	m->bytes -= p->records.n;
	vec_fini(&p->records);
	p->put_n = 0;
	p->known = p->partial = false;
	p->reads = 0;
	p->last_ns = 0;
}

static void drop(struct ty_stack_maps *m, uint32_t pid)
{
	struct proc *p = find(m, pid);

	if (!p)
		return;
	forget(m, p);
	free(p);
	m->of[pid] = NULL;
}

static void put(struct ty_stack_maps *m, const void *p, size_t n)
{
	if (n && !m->put(m->ctx, p, n))
		m->full = true;
}

/* What the file needs of it. */
static void put_needed(struct ty_stack_maps *m, struct proc *p)
{
	if (!p->needed || !p->known || p->put_n == p->records.n)
		return;
	put(m, p->records.v + p->put_n, p->records.n - p->put_n);
	p->put_n = p->records.n;
}

static bool append(bytes *b, const void *p, size_t n)
{
	if (vec_reserve(b, b->n + n))
		return false;
	if (n) /* else there may be nothing to copy from, or to */
		memcpy(b->v + b->n, p, n);
	b->n += n;
	return true;
}

static bool append_map(bytes *b, uint32_t pid, uint64_t ns, const struct ty_stk_map *map,
		       const char *path, size_t path_n)
{
	const struct ty_stk_head h = {.ns = ns,
				      .pid = pid,
				      .kind = TY_STK_MAP,
				      .len = (uint32_t)(sizeof(*map) + path_n + 1)};

	return append(b, &h, sizeof(h)) && append(b, map, sizeof(*map)) &&
	       append(b, path, path_n) && append(b, "", 1);
}

static bool append_exec(bytes *b, uint32_t pid, uint64_t ns)
{
	const struct ty_stk_head h = {.ns = ns, .pid = pid, .kind = TY_STK_EXEC};

	return append(b, &h, sizeof(h));
}

/* What is kept grew from n bytes. What is too much is in the file where it is needed, and else read
 * when it is. */
static void keep(struct ty_stack_maps *m, struct proc *p, size_t n, bool ok)
{
	m->bytes += p->records.n - n;
	put_needed(m, p);
	if (ok && p->records.n <= PROC_MAX && m->bytes <= ALL_MAX)
		return;
	if (!ok)
		m->full = true;
	if (ok && p->needed) { /* continues in the file only */
		m->bytes -= p->records.n;
		p->records.n = p->put_n = 0;
		p->partial = true;
		return;
	}
	forget(m, p);
}

/* reading -----------------------------------------------------------------------------------------
 */

/* With the lock: what was read goes before what happened meanwhile. */
static void take_reading(struct ty_stack_maps *m, const struct ty_reading *r)
{
	struct proc *p = find(m, r->pid);
	bytes read = {0};
	bool ok = true;

	if (!p || p->reads != r->number)
		return;
	p->reads = 0;
	m->full |= r->full;
	if (!r->bytes.len) { /* it has ended: what was recorded since its exec remains valid */
		if (!p->known)
			forget(m, p);
		return;
	}
	p->last_ns = p->read_ns > p->last_ns ? p->read_ns : p->last_ns;
	ok = append_exec(&read, p->pid, p->read_ns);
	for (size_t at = 0; ok && at < r->bytes.len;) {
		const char *path = r->bytes.p + at + sizeof(struct ty_stk_map);
		struct ty_stk_map map;

		memcpy(&map, r->bytes.p + at, sizeof(map));
		ok = append_map(&read, p->pid, p->read_ns, &map, path, strlen(path));
		at += sizeof(map) + strlen(path) + 1;
	}
	if (ok && append(&read, p->records.v, p->records.n)) {
		const size_t n = p->records.n;

		free(p->records.v);
		memcpy(&p->records, &read, sizeof(read));
		p->known = true;
		keep(m, p, n, true);
		return;
	}
	vec_fini(&read);
	m->full = true;
	if (!p->known)
		forget(m, p);
}

/* One that was read, waiting for it as long. false: there is none. */
static bool take(struct ty_stack_maps *m, unsigned wait_ms)
{
	struct ty_reading r;

	if (!ty_read_pool_take(m->reader, wait_ms, &r))
		return false;
	pthread_mutex_lock(&m->lock);
	take_reading(m, &r);
	pthread_mutex_unlock(&m->lock);
	ty_buf_fini(&r.bytes);
	return true;
}

void ty_stack_maps_take(struct ty_stack_maps *m)
{
	while (take(m, 0))
		;
}

/* From ns on. */
static void read_later(struct ty_stack_maps *m, struct proc *p, uint64_t ns)
{
	if (p->known || p->reads)
		return;
	p->read_ns = ns;
	p->reads = ++m->reads ? m->reads : ++m->reads;
	if (!ty_read_pool_request(m->reader, p->pid, p->reads)) {
		m->full = true;
		p->reads = 0;
	}
}

void ty_stack_maps_read(struct ty_stack_maps *m, uint32_t pid, uint64_t ns)
{
	struct proc *p;

	pthread_mutex_lock(&m->lock);
	p = make(m, pid);
	if (p)
		read_later(m, p, ns);
	pthread_mutex_unlock(&m->lock);
}

void ty_stack_maps_need(struct ty_stack_maps *m, uint32_t pid, uint64_t ns)
{
	struct proc *p;

	pthread_mutex_lock(&m->lock);
	p = make(m, pid);
	if (p)
		p->need_ns = ns > p->need_ns ? ns : p->need_ns;
	if (p && !p->needed) {
		p->needed = true;
		read_later(m, p, ns);
		put_needed(m, p);
	}
	pthread_mutex_unlock(&m->lock);
}

/* events ------------------------------------------------------------------------------------------
 */

void ty_stack_maps_mmap(struct ty_stack_maps *m, uint32_t pid, uint64_t ns,
			const struct ty_stk_map *map, const char *path, size_t path_n)
{
	struct proc *p;

	pthread_mutex_lock(&m->lock);
	p = find(m, pid);
	if (p && (p->known || p->reads)) {
		const size_t n = p->records.n;

		p->last_ns = ns > p->last_ns ? ns : p->last_ns; /* it may be older than a reading */
		keep(m, p, n, append_map(&p->records, pid, ns, map, path, path_n));
	}
	pthread_mutex_unlock(&m->lock);
}

/* The process executed another program: only later mappings count. A stack that arrived before this
 * event may belong to the new program. */
static struct proc *begin(struct ty_stack_maps *m, uint32_t pid, uint64_t ns)
{
	struct proc *p = make(m, pid);

	if (!p)
		return NULL;
	forget(m, p);
	p->needed = p->needed && p->need_ns >= ns;
	return p;
}

void ty_stack_maps_exec(struct ty_stack_maps *m, uint32_t pid, uint64_t ns)
{
	struct proc *p;

	pthread_mutex_lock(&m->lock);
	p = find(m, pid);
	if (p || m->trace_all) {
		/* What the file has of it ends here. */
		if (p && p->needed && p->known) {
			bytes b = {0};

			if (append_exec(&b, pid, ns))
				put(m, b.v, b.n);
			vec_fini(&b);
		}
		p = begin(m, pid, ns);
	}
	if (p) {
		p->known = true;
		p->last_ns = ns;
		keep(m, p, 0, append_exec(&p->records, pid, ns));
	}
	pthread_mutex_unlock(&m->lock);
}

/* Its parent's mappings, from now on. */
static bool copy(bytes *to, const struct proc *parent, uint32_t pid, uint64_t ns)
{
	if (!append(to, parent->records.v, parent->records.n))
		return false;
	for (size_t at = 0; at < to->n;) {
		struct ty_stk_head h;

		memcpy(&h, to->v + at, sizeof(h));
		h.pid = pid;
		h.ns = ns;
		memcpy(to->v + at, &h, sizeof(h));
		at += sizeof(h) + h.len;
	}
	return true;
}

void ty_stack_maps_fork(struct ty_stack_maps *m, uint32_t parent, uint32_t pid, uint64_t ns)
{
	const struct proc *from;
	struct proc *p;

	pthread_mutex_lock(&m->lock);
	from = find(m, parent);
	p = from || find(m, pid) ? begin(m, pid, ns) : NULL;
	if (p && from && from->known && !from->partial) {
		p->known = true;
		p->last_ns = ns;
		keep(m, p, 0, copy(&p->records, from, pid, ns));
	} else if (p && p->needed) {
		read_later(m, p, p->need_ns);
	}
	pthread_mutex_unlock(&m->lock);
}

void ty_stack_maps_exit(struct ty_stack_maps *m, uint32_t pid, uint64_t ns)
{
	const struct proc *p;

	pthread_mutex_lock(&m->lock);
	p = find(m, pid);
	/* A reading in progress may still arrive. */
	if (p && !p->reads && !(p->needed && p->need_ns > ns))
		drop(m, pid);
	pthread_mutex_unlock(&m->lock);
}

void ty_stack_maps_lost(struct ty_stack_maps *m, uint64_t from_ns, uint64_t to_ns)
{
	pthread_mutex_lock(&m->lock);
	for (uint32_t pid = 0; pid < m->top; pid++) {
		struct proc *p = m->of[pid];
		bytes b = {0};

		if (!p || !p->known)
			continue;
		/* What was learnt since then holds at its time alone: events of another CPU are
		 * missing, which may be newer. */
		if (p->needed && append_exec(&b, pid, from_ns) &&
		    (p->last_ns < from_ns || append_exec(&b, pid, p->last_ns)))
			put(m, b.v, b.n);
		vec_fini(&b);
		forget(m, p);
		if (p->needed)
			read_later(m, p, to_ns);
	}
	pthread_mutex_unlock(&m->lock);
}

size_t ty_stack_maps_finish(struct ty_stack_maps *m, unsigned wait_ms, bool *full)
{
	const uint64_t end_ms = ty_now_ms() + wait_ms;
	size_t left;

	*full = false;
	if (!m)
		return 0;
	for (uint64_t now = ty_now_ms(); now < end_ms && take(m, (unsigned)(end_ms - now));)
		now = ty_now_ms();
	*full = m->full;
	left = ty_read_pool_left(m->reader);
	ty_read_pool_free(m->reader);
	for (uint32_t pid = 0; pid < m->top; pid++)
		drop(m, pid);
	free(m->of);
	pthread_mutex_destroy(&m->lock);
	free(m);
	return left;
}
