/* SPDX-License-Identifier: MIT */
/* See stack_maps.h. */
#include "stack_maps.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "now.h"
#include "proc_maps.h"
#include "vec.h"

/* Reader threads; bytes kept of a process, and of all. Beyond that, mappings are read when they are
 * needed. */
enum { READERS = 4, PROC_MAX = 256 << 10 };
#define ALL_MAX	 (64u << 20)
#define PIDS_MAX (1u << 22) /* the kernel's own limit: PID_MAX_LIMIT */

typedef VEC(char) bytes;

struct proc {
	uint32_t pid;
	bool known;		   /* records: all that it has mapped */
	bool partial;		   /* of these, the file alone has the first ones */
	bool needed;		   /* it has a stack: what is known goes to the file */
	uint64_t need_ns, read_ns; /* of its newest stack; from when on what is read holds */
	uint32_t reads;		   /* the number of the reading under way; 0: none */
	bytes records;		   /* since its last exec, begun by an EXEC */
	size_t put_n;		   /* of these the file has */
};

struct ty_stack_maps {
	pthread_mutex_t lock;
	pthread_cond_t work, idle;
	bool trace_all, full, stop;
	ty_stack_maps_put *put; /* NULL: nothing may be put any more */
	void *ctx;
	struct proc **of; /* by pid, none from `top` on; untouched pages cost nothing */
	uint32_t top;
	size_t bytes; /* of all processes */
	uint32_t reads;
	VEC(uint32_t) queue; /* pids to read */
	size_t taken;	     /* of the queue */
	unsigned readers, waiting, reading;
};

struct ty_stack_maps *ty_stack_maps_new(bool trace_all, ty_stack_maps_put *put, void *ctx)
{
	struct ty_stack_maps *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->of = calloc(PIDS_MAX, sizeof(struct proc *));
	if (!m->of) {
		free(m);
		return NULL;
	}
	m->trace_all = trace_all;
	m->put = put;
	m->ctx = ctx;
	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->work, NULL);
	pthread_cond_init(&m->idle, NULL);
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
	if (n && (!m->put || !m->put(m->ctx, p, n)))
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

struct reading {
	uint32_t pid;
	uint64_t ns;
	bytes records;
	bool failed;
};

static void on_map(void *ctx, const struct ty_stk_map *map, const char *path)
{
	struct reading *r = ctx;

	if (!r->records.n && !append_exec(&r->records, r->pid, r->ns))
		r->failed = true;
	if (!append_map(&r->records, r->pid, r->ns, map, path, strnlen(path, PATH_MAX)))
		r->failed = true;
}

/* With the lock: what was read goes before what happened meanwhile. */
static void take_reading(struct ty_stack_maps *m, struct proc *p, struct reading *r)
{
	const size_t n = p->records.n;

	p->reads = 0;
	if (r->failed)
		m->full = true;
	if (r->failed ||
	    !r->records.n) { /* it has ended: what was recorded since its exec remains valid */
		if (!p->known)
			forget(m, p);
		return;
	}
	r->failed = !append(&r->records, p->records.v, n);
	free(p->records.v);
	memcpy(&p->records, &r->records, sizeof(p->records));
	memset(&r->records, 0, sizeof(r->records));
	p->known = true;
	keep(m, p, n, !r->failed);
}

static void *read_main(void *arg)
{
	struct ty_stack_maps *m = arg;

	pthread_mutex_lock(&m->lock);
	while (!m->stop || m->taken < m->queue.n) {
		struct reading r = {0};
		struct proc *p;
		uint32_t reads;

		if (m->taken == m->queue.n) {
			m->taken = m->queue.n = 0;
			m->waiting++;
			pthread_cond_wait(&m->work, &m->lock);
			m->waiting--;
			continue;
		}
		r.pid = m->queue.v[m->taken++];
		p = find(m, r.pid);
		if (!p || !p->reads)
			continue;
		reads = p->reads;
		r.ns = p->read_ns;
		m->reading++;
		pthread_mutex_unlock(&m->lock);
		ty_proc_maps((int)r.pid, on_map, &r);
		pthread_mutex_lock(&m->lock);
		m->reading--;
		p = find(m, r.pid);
		if (p && p->reads == reads)
			take_reading(m, p, &r);
		vec_fini(&r.records);
		pthread_cond_broadcast(&m->idle);
	}
	m->readers--;
	pthread_cond_broadcast(&m->idle);
	pthread_mutex_unlock(&m->lock);
	return NULL;
}

/* From ns on. */
static void read_later(struct ty_stack_maps *m, struct proc *p, uint64_t ns)
{
	pthread_attr_t detached;
	pthread_t thread;

	if (p->known || p->reads || m->stop)
		return;
	p->read_ns = ns;
	p->reads = ++m->reads ? m->reads : ++m->reads;
	if (vec_push(&m->queue, p->pid)) {
		m->full = true;
		p->reads = 0;
		return;
	}
	if (m->waiting || m->readers == READERS) {
		pthread_cond_signal(&m->work);
		return;
	}
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &detached, read_main, m))
		m->readers++;
	pthread_attr_destroy(&detached);
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
		if (p->needed && append_exec(&b, pid, from_ns))
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
	struct timespec until;
	size_t left;

	*full = false;
	if (!m)
		return 0;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += (time_t)(wait_ms / 1000);
	until.tv_nsec += (long)(wait_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&m->lock);
	m->stop = true;
	pthread_cond_broadcast(&m->work);
	while (m->readers && !pthread_cond_timedwait(&m->idle, &m->lock, &until))
		;
	*full = m->full;
	left = m->reading + (m->queue.n - m->taken);
	m->put = NULL;
	/* Readers that are held up own what they use; the process ends with them. */
	if (m->readers) {
		m->taken = m->queue.n;
		pthread_mutex_unlock(&m->lock);
		return left;
	}
	pthread_mutex_unlock(&m->lock);
	for (uint32_t pid = 0; pid < m->top; pid++)
		if (m->of[pid])
			drop(m, pid);
	free(m->of);
	vec_fini(&m->queue);
	pthread_mutex_destroy(&m->lock);
	pthread_cond_destroy(&m->work);
	pthread_cond_destroy(&m->idle);
	free(m);
	return left;
}
