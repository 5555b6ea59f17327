/* SPDX-License-Identifier: MIT */
/*
 * See command_lines.h. To read a command line the kernel takes the process' mmap lock, so a reader
 * may be held up for any time; then the other ones continue.
 *
 * Budget: 10 us per process.
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
#include "now.h"
#include "pair_map.h"
#include "read_pool.h"
#include "vec.h"

enum { QUEUE_MAX = 16384, LINE_BYTES = 2048 };
#define SECTION_BYTES (UINT64_C(16) << 20)
#define AGAIN_NS      UINT64_C(100000000)

struct process {
	int pid;
	uint32_t hash; /* of the last line */
	uint64_t read_ns;
	bool queued, any;
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
	uint64_t written;
};

/* Its bytes; none: it has no command line (a kernel thread), or is gone. */
static void read_line(void *proc, struct ty_reading *r)
{
	char path[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%u/cmdline", (const char *)proc, r->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = ty_buf_reserve(&r->bytes, LINE_BYTES) ? 0 : read(fd, r->bytes.p, LINE_BYTES);
	r->bytes.len = n > 0 ? (size_t)n : 0;
	close(fd);
}

struct ty_command_lines *ty_command_lines_new(const char *proc)
{
	struct ty_command_lines *c = calloc(1, sizeof(*c));
	char *folder = strdup(proc);

	if (c && folder)
		c->reader = ty_read_pool_new(TY_READ_THREADS, read_line, free, folder);
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

static void keep_line(struct ty_command_lines *c, const struct ty_reading *r)
{
	struct process *p = process_of(c, (int)r->pid);
	const size_t n = r->bytes.len;
	uint32_t hash = ty_hash_bytes(r->bytes.p, n);

	if (!p)
		return;
	p->queued = false;
	p->read_ns = r->began_ns; /* so that it is not taken for that of a later exec */
	if (!n || (p->any && p->hash == hash) || ty_buf_reserve(&c->bytes, n) ||
	    vec_push(&c->lines, ((struct line){p->read_ns, p->pid, (uint32_t)n})))
		return;
	ty_buf_add(&c->bytes, r->bytes.p, n);
	p->any = true;
	p->hash = hash;
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
		keep_line(c, &r);
		pthread_mutex_unlock(&c->lock);
		ty_buf_fini(&r.bytes);
	}
}

void ty_command_lines_request(struct ty_command_lines *c, int pid)
{
	struct process *p;

	if (!c || pid <= 0)
		return;
	take_readings(c, 0);
	pthread_mutex_lock(&c->lock);
	p = process_of(c, pid);
	if (p && !p->queued && ty_read_pool_left(c->reader) < QUEUE_MAX &&
	    (!p->read_ns || ty_now_ns(CLOCK_MONOTONIC) - p->read_ns > AGAIN_NS))
		p->queued = ty_read_pool_request(c->reader, (uint32_t)pid, 0);
	pthread_mutex_unlock(&c->lock);
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
