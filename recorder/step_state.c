/* SPDX-License-Identifier: MIT */
/* See step_state.h: tables of threads and processes, frames and records. */
#include "step_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"
#include "first_line.h"

#define ENC_LIMIT (64u << 20)
#define OUT_FLUSH (256u << 10)

void ty_step_put_frame(struct ty_step_engine *e, uint32_t kind, const void *p, size_t n)
{
	uint32_t head[2] = {kind, (uint32_t)n};
	const char *parts[2] = {(const char *)head, p};
	size_t left[2] = {sizeof(head), n};

	for (int i = 0; i < 2; i++)
		while (left[i] && !e->failed) {
			ssize_t r = write(e->fd, parts[i], left[i]);

			if (r > 0) {
				parts[i] += r;
				left[i] -= (size_t)r;
			} else if (errno != EINTR) {
				e->failed = true;
			}
		}
}

void ty_step_send(struct ty_step_engine *e, bool all)
{
	struct ty_buf *bufs[] = {&e->out.code, &e->out.perf};

	/* Images first: what is decoded must be there. */
	for (int i = 0; i < 2; i++)
		if (bufs[i]->len &&
		    (all || bufs[i]->len >= OUT_FLUSH || bufs[!i]->len >= OUT_FLUSH)) {
			ty_step_put_frame(e, i ? TY_FRAME_PERF : TY_FRAME_CODE, bufs[i]->p,
					  bufs[i]->len);
			ty_buf_reset(bufs[i]);
		}
}

/* The thread's packets so far become a piece of its AUX stream. */
void ty_step_flush(struct ty_step_engine *e, struct ty_step_thread *t)
{
	while (t->enc.out.len % 8 && !t->enc.out.failed)
		ty_buf_addc(&t->enc.out, 0); /* PAD */
	if (t->enc.out.len)
		ty_perf_put_auxtrace(&e->out.perf, -1, t->tid, t->idx, t->aux_off, t->enc.out.p,
				     t->enc.out.len);
	t->aux_off += t->enc.out.len;
	ty_buf_reset(&t->enc.out);
	ty_step_send(e, false);
}

struct ty_perf_where ty_step_at(struct ty_step_engine *e, const struct ty_step_thread *t)
{
	return (struct ty_perf_where){
		.pid = t->p->tgid, .tid = t->tid, .time_ns = ty_perf_clock_now(&e->clock)};
}

void ty_step_put_comm(struct ty_step_engine *e, const struct ty_step_thread *t, bool exec)
{
	struct ty_perf_where w = ty_step_at(e, t);
	char name[64];

	ty_first_line(name, sizeof(name), "/proc/%d/comm", (int)t->tid);
	ty_perf_put_comm(&e->out.perf, &w, name, exec);
}

static pid_t status_field(pid_t tid, const char *key)
{
	char path[64], line[256];
	size_t n = strlen(key);
	pid_t v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n))
			v = atoi(line + n);
	if (f)
		fclose(f);
	return v;
}

static struct ty_step_process *process_of(struct ty_step_engine *e, pid_t tgid)
{
	struct ty_step_process *p;

	vec_each (q, &e->processes)
		if ((*q)->tgid == tgid)
			return *q;
	p = calloc(1, sizeof(*p));
	if (p) {
		p->tgid = tgid;
		p->mm = ty_step_mm_new(tgid, ty_perf_clock_now(&e->clock));
	}
	if (!p || !p->mm || vec_push(&e->processes, p)) {
		if (p)
			ty_step_mm_free(p->mm);
		free(p);
		return NULL;
	}
	return p;
}

struct ty_step_thread *ty_step_find(struct ty_step_engine *e, pid_t tid)
{
	vec_each (t, &e->threads)
		if ((*t)->tid == tid)
			return *t;
	return NULL;
}

struct ty_step_thread *ty_step_add(struct ty_step_engine *e, pid_t tid)
{
	struct ty_step_thread *t = calloc(1, sizeof(*t));
	pid_t tgid = status_field(tid, "Tgid:");

	if (t)
		t->p = process_of(e, tgid ? tgid : tid);
	if (!t || !t->p || vec_push(&e->threads, t)) {
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->p->threads++;
	t->idx = e->next_idx++;
	t->born_ns = ty_perf_clock_now(&e->clock);
	ty_pt_enc_init(&t->enc, ENC_LIMIT);
	return t;
}

static void drop_process(struct ty_step_engine *e, struct ty_step_process *p)
{
	for (size_t i = 0; i < e->processes.n; i++)
		if (e->processes.v[i] == p) {
			e->processes.v[i] = e->processes.v[--e->processes.n];
			break;
		}
	ty_step_mm_free(p->mm);
	free(p);
}

void ty_step_drop(struct ty_step_engine *e, struct ty_step_thread *t)
{
	struct ty_perf_where w = ty_step_at(e, t);

	ty_step_flush(e, t);
	ty_perf_put_task(&e->out.perf, &w, false, t->ppid, t->ppid);
	for (size_t i = 0; i < e->threads.n; i++)
		if (e->threads.v[i] == t) {
			e->threads.v[i] = e->threads.v[--e->threads.n];
			break;
		}
	if (!--t->p->threads)
		drop_process(e, t->p);
	ty_pt_enc_fini(&t->enc);
	free(t);
}
