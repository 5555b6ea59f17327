/* SPDX-License-Identifier: MIT */
/*
 * See command_lines.h. To read a command line the kernel takes the process' mmap lock, so a reader
 * may be held up for any time; then the other ones go on.
 *
 * Budget: 10 us per process.
 */
#include "command_lines.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "field_text.h"
#include "hash_index.h"
#include "now.h"
#include "pair_map.h"
#include "vec.h"

enum { READERS = 2, QUEUE_MAX = 16384, LINE_BYTES = 2048 };
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
	pthread_cond_t work, done;
	char proc[64];
	bool stop;
	VEC(struct process) of;
	struct ty_pair_map by_pid;
	VEC(int) queue;
	size_t taken;
	VEC(struct line) lines;
	struct ty_buf bytes;
	uint64_t written;
	unsigned threads, waiting, reading;
};

struct ty_command_lines *ty_command_lines_new(const char *proc)
{
	struct ty_command_lines *c = calloc(1, sizeof(*c));
	pthread_condattr_t a;

	if (!c)
		return NULL;
	snprintf(c->proc, sizeof(c->proc), "%s", proc);
	ty_buf_init(&c->bytes, SECTION_BYTES);
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&a);
	pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
	pthread_cond_init(&c->work, &a);
	pthread_cond_init(&c->done, &a);
	pthread_condattr_destroy(&a);
	return c;
}

static void free_all(struct ty_command_lines *c)
{
	vec_fini(&c->of);
	ty_pair_map_fini(&c->by_pid);
	vec_fini(&c->queue);
	vec_fini(&c->lines);
	ty_buf_fini(&c->bytes);
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->work);
	pthread_cond_destroy(&c->done);
	free(c);
}

/* Its bytes; 0: it has none (a kernel thread), or is gone. */
static size_t read_line(const char *proc, int pid, char line[LINE_BYTES])
{
	char path[96];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, LINE_BYTES);
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* NULL: out of memory. */
static struct process *process_of(struct ty_command_lines *c, int pid)
{
	uint32_t *i = ty_pair_map_add(&c->by_pid, (uint32_t)pid, 0);

	if (!i)
		return NULL;
	if (*i == TY_PAIR_NONE) {
		if (vec_push(&c->of, ((struct process){.pid = pid})))
			return NULL;
		*i = (uint32_t)c->of.n - 1;
	}
	return &c->of.v[*i];
}

/* since_ns: before it was read, so that it is not taken for that of a later exec. */
static void keep_line(struct ty_command_lines *c, int pid, const char *line, size_t n,
		      uint64_t since_ns)
{
	struct process *p = process_of(c, pid);
	uint32_t hash = ty_hash_bytes(line, n);

	if (!p)
		return;
	p->queued = false;
	p->read_ns = since_ns;
	if (!n || (p->any && p->hash == hash) || ty_buf_reserve(&c->bytes, n) ||
	    vec_push(&c->lines, ((struct line){p->read_ns, pid, (uint32_t)n})))
		return;
	ty_buf_add(&c->bytes, line, n);
	p->any = true;
	p->hash = hash;
}

static void *read_main(void *arg)
{
	struct ty_command_lines *c = arg;
	char line[LINE_BYTES];
	bool last;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		uint64_t since_ns;
		size_t n;
		int pid;

		if (c->taken == c->queue.n) {
			c->taken = c->queue.n = 0;
			c->waiting++;
			pthread_cond_wait(&c->work, &c->lock);
			c->waiting--;
			continue;
		}
		pid = c->queue.v[c->taken++];
		c->reading++;
		pthread_mutex_unlock(&c->lock);
		since_ns = ty_now_ns(CLOCK_MONOTONIC);
		n = read_line(c->proc, pid, line);
		pthread_mutex_lock(&c->lock);
		c->reading--;
		if (!c->stop)
			keep_line(c, pid, line, n, since_ns);
		if (c->taken == c->queue.n)
			pthread_cond_broadcast(&c->done);
	}
	last = !--c->threads;
	pthread_mutex_unlock(&c->lock);
	if (last)
		free_all(c);
	return NULL;
}

static void start_reader(struct ty_command_lines *c)
{
	pthread_attr_t detached;
	pthread_t thread;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (!pthread_create(&thread, &detached, read_main, c))
		c->threads++;
	pthread_attr_destroy(&detached);
}

void ty_command_lines_request(struct ty_command_lines *c, int pid)
{
	struct process *p;

	if (!c || pid <= 0)
		return;
	pthread_mutex_lock(&c->lock);
	p = process_of(c, pid);
	if (p && !p->queued && c->queue.n < QUEUE_MAX &&
	    (!p->read_ns || ty_now_ns(CLOCK_MONOTONIC) - p->read_ns > AGAIN_NS) &&
	    !vec_push(&c->queue, pid)) {
		p->queued = true;
		if (!c->waiting && c->threads < READERS)
			start_reader(c);
		pthread_cond_signal(&c->work);
	}
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
	const struct timespec until = ty_in_ms(wait_ms);
	uint64_t mono_ns, now_ns;
	size_t at = 0;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	while (wait_ms && c->threads && (c->reading || c->taken < c->queue.n) &&
	       !pthread_cond_timedwait(&c->done, &c->lock, &until))
		;
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
	bool last;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	last = !c->threads;
	pthread_cond_broadcast(&c->work);
	pthread_mutex_unlock(&c->lock);
	if (last)
		free_all(c);
}
