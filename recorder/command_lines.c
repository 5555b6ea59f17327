/* SPDX-License-Identifier: MIT */
/*
 * See command_lines.h. To read a command line the kernel takes the process' mmap lock, so a reader
 * may be held up for any time; then the other ones continue.
 *
 * Budget: 10 us per process; of those that are not traced 20 a second.
 */
#include "command_lines.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "field_text.h"
#include "hash_index.h"
#include "interpreter.h"
#include "now.h"
#include "pair_map.h"
#include "read_pool.h"
#include "vec.h"

enum { QUEUE_MAX = 16384, LINE_BYTES = 2048 };
#define SECTION_BYTES	 (UINT64_C(16) << 20)
#define AGAIN_NS	 UINT64_C(100000000)
#define CULPRIT_AGAIN_NS UINT64_C(2000000000)
/* Of processes that are not traced: per second, how many at once, and parents of each. */
enum { CULPRITS_RATE = 20, CULPRITS_BURST = 100, PARENTS = 3 };
/* What a reading is of: a process, or also its parents if its line needs them. */
enum { ALONE, WITH_PARENTS };

struct process {
	int pid;
	uint32_t hash; /* of the last line */
	uint64_t read_ns;
	bool queued, any;
};

/* In what a reading returns; the bytes follow. */
struct read_head {
	int32_t pid;
	uint32_t n;
};

/* A line that was read: length, then the bytes, in `bytes`. */
struct line {
	uint64_t mono_ns;
	int pid;
	uint32_t n;
};

struct ty_command_lines {
	pthread_mutex_t lock;
	struct ty_read_pool *reader;
	VEC(struct process) of;
	struct ty_pair_map by_pid;
	VEC(struct line) lines;
	struct ty_buf bytes;
	uint64_t written, budget_ns; /* when the budget for culprits was counted */
	unsigned budget;
};

/* The first bytes of a process' file: how many. */
static size_t read_start(const char *proc, int pid, const char *name, char *p, size_t size)
{
	char path[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/%s", proc, pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, p, size);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* 0: none. The name of the process, in brackets, may have any characters. */
static int parent_of(const char *proc, int pid)
{
	char text[512], *end;
	int parent;

	text[read_start(proc, pid, "stat", text, sizeof(text) - 1)] = 0;
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

/* Lines with their heads; an empty one: the process has none (a kernel thread), or is gone. */
static void read_lines(void *proc, struct ty_reading *r)
{
	const size_t most = sizeof(struct read_head) + LINE_BYTES + 1;
	struct read_head h = {.pid = (int32_t)r->pid};

	for (unsigned i = 0; i <= PARENTS && h.pid > 0; i++) {
		char *p = ty_buf_reserve(&r->bytes, most) ? NULL : r->bytes.p + r->bytes.len;

		if (!p)
			return;
		h.n = (uint32_t)read_start(proc, h.pid, "cmdline", p + sizeof(h), LINE_BYTES);
		p[sizeof(h) + h.n] = 0;
		memcpy(p, &h, sizeof(h));
		r->bytes.len += sizeof(h) + h.n;
		if (!h.n || r->number == ALONE || !ty_needs_caller(p + sizeof(h), h.n))
			return;
		h.pid = parent_of(proc, h.pid);
	}
}

struct ty_command_lines *ty_command_lines_new(const char *proc)
{
	struct ty_command_lines *c = calloc(1, sizeof(*c));
	char *folder = strdup(proc);

	if (c && folder)
		c->reader = ty_read_pool_new(TY_READ_THREADS, read_lines, free, folder);
	if (!c || !c->reader) {
		free(folder);
		free(c);
		return NULL;
	}
	ty_buf_init(&c->bytes, SECTION_BYTES);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/* NULL: out of memory. */
static struct process *process_of(struct ty_command_lines *c, int pid)
{
	return pair_element(&c->by_pid, (uint32_t)pid, 0, &c->of, (struct process){.pid = pid});
}

/* With the lock. */
static void keep_line(struct ty_command_lines *c, int pid, const char *line, size_t n, uint64_t ns)
{
	struct process *p = process_of(c, pid);
	const uint32_t hash = ty_hash_bytes(line, n);

	if (!p)
		return;
	p->read_ns = ns; /* so that it is not taken for that of a later exec */
	if (!n || (p->any && p->hash == hash) || ty_buf_reserve(&c->bytes, n) ||
	    vec_push(&c->lines, ((struct line){ns, pid, (uint32_t)n})))
		return;
	ty_buf_add(&c->bytes, line, n);
	p->any = true;
	p->hash = hash;
}

static void keep_reading(struct ty_command_lines *c, const struct ty_reading *r)
{
	const char *p = r->bytes.p, *end = p + r->bytes.len;
	struct process *of = process_of(c, (int)r->pid);
	struct read_head h;

	if (of)
		of->queued = false;
	for (; p < end; p += h.n) {
		memcpy(&h, p, sizeof(h));
		p += sizeof(h);
		keep_line(c, h.pid, p, h.n, r->began_ns);
	}
}

/* What was read; waits for what was requested. Without the lock. */
static void take_readings(struct ty_command_lines *c, unsigned wait_ms)
{
	const uint64_t end_ms = ty_now_ms() + wait_ms;
	struct ty_reading r;

	for (uint64_t now = end_ms - wait_ms;
	     ty_read_pool_take(c->reader, now < end_ms ? (unsigned)(end_ms - now) : 0, &r);
	     now = ty_now_ms()) {
		pthread_mutex_lock(&c->lock);
		keep_reading(c, &r);
		pthread_mutex_unlock(&c->lock);
		ty_buf_fini(&r.bytes);
	}
}

/* With the lock. */
static bool is_due(struct ty_command_lines *c, const struct process *p, uint64_t now_ns,
		   uint64_t again_ns)
{
	return p && !p->queued && ty_read_pool_left(c->reader) < QUEUE_MAX &&
	       (!p->read_ns || now_ns - p->read_ns > again_ns);
}

/* With the lock: one more process that is not traced. */
static bool has_budget(struct ty_command_lines *c, uint64_t now_ns)
{
	const uint64_t more = c->budget_ns ? (now_ns - c->budget_ns) * CULPRITS_RATE / 1000000000
					   : CULPRITS_BURST;

	if (more) {
		c->budget = c->budget + more < CULPRITS_BURST ? c->budget + (unsigned)more
							      : CULPRITS_BURST;
		c->budget_ns = now_ns;
	}
	return c->budget && c->budget--;
}

static void request(struct ty_command_lines *c, int pid, uint32_t of, bool limited)
{
	const uint64_t now_ns = ty_now_ns(CLOCK_MONOTONIC);
	struct process *p;

	take_readings(c, 0);
	pthread_mutex_lock(&c->lock);
	p = process_of(c, pid);
	if (is_due(c, p, now_ns, limited ? CULPRIT_AGAIN_NS : AGAIN_NS) &&
	    (!limited || has_budget(c, now_ns)))
		p->queued = ty_read_pool_request(c->reader, (uint32_t)pid, of);
	pthread_mutex_unlock(&c->lock);
}

void ty_command_lines_request(struct ty_command_lines *c, int pid)
{
	if (c && pid > 0)
		request(c, pid, ALONE, false);
}

void ty_command_lines_culprit(struct ty_command_lines *c, int pid)
{
	if (c && pid > 0)
		request(c, pid, WITH_PARENTS, true);
}

void ty_command_lines_add(struct ty_command_lines *c, int pid, const char *line, size_t n,
			  int parent)
{
	const uint64_t now_ns = ty_now_ns(CLOCK_MONOTONIC);
	char text[LINE_BYTES + 1];
	bool more;

	if (!c || pid <= 0)
		return;
	n = n < LINE_BYTES ? n : LINE_BYTES;
	memcpy(text, line, n);
	text[n] = 0;
	pthread_mutex_lock(&c->lock);
	more = n && has_budget(c, now_ns);
	if (more)
		keep_line(c, pid, text, n, now_ns);
	pthread_mutex_unlock(&c->lock);
	if (more && parent > 0 && ty_needs_caller(text, n))
		request(c, parent, WITH_PARENTS, true);
}

/* "NS PID ARGUMENT..." */
static void put_line(struct ty_command_lines *c, uint64_t ns, int pid, const char *p, size_t n,
		     struct ty_buf *out)
{
	const size_t before = out->len;

	/* The room that a title left at its end is filled with NULs or blanks. */
	while (n && (!p[n - 1] || p[n - 1] == ' '))
		n--;
	if (!n || c->written > SECTION_BYTES)
		return;
	ty_buf_addf(out, "%" PRIu64 "\t%d", ns, pid);
	for (const char *end = p + n; p < end;) {
		const size_t k = strnlen(p, (size_t)(end - p));

		ty_buf_addc(out, '\t');
		ty_escape_field(out, p, k);
		p += k + 1;
	}
	ty_buf_addc(out, '\n');
	c->written += out->len - before;
}

void ty_command_lines_take(struct ty_command_lines *c, unsigned wait_ms,
			   uint64_t (*trace_ns)(void *ctx), void *ctx, struct ty_buf *out)
{
	uint64_t mono_ns, now_ns;
	size_t at = 0;

	if (!c)
		return;
	take_readings(c, wait_ms);
	pthread_mutex_lock(&c->lock);
	if (c->lines.n) {
		mono_ns = ty_now_ns(CLOCK_MONOTONIC);
		now_ns = trace_ns(ctx);
		vec_each (l, &c->lines) {
			const uint64_t ago = mono_ns > l->mono_ns ? mono_ns - l->mono_ns : 0;

			put_line(c, now_ns > ago ? now_ns - ago : 0, l->pid, c->bytes.p + at, l->n,
				 out);
			at += l->n;
		}
	}
	c->lines.n = 0;
	ty_buf_reset(&c->bytes);
	pthread_mutex_unlock(&c->lock);
}

void ty_command_lines_free(struct ty_command_lines *c)
{
	if (!c)
		return;
	ty_read_pool_free(c->reader);
	vec_fini(&c->of);
	ty_pair_map_fini(&c->by_pid);
	vec_fini(&c->lines);
	ty_buf_fini(&c->bytes);
	pthread_mutex_destroy(&c->lock);
	free(c);
}
