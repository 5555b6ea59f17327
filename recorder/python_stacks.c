/* SPDX-License-Identifier: MIT */
/* See python_stacks.h. */
#include "python_stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "buf.h"
#include "hash_index.h"
#include "now.h"
#include "pair_map.h"
#include "python_find.h"
#include "vec.h"

enum { PAGE = 4096, PAGES = 64 };
enum { QUEUE = 2048, PROCESSES_MAX = 65536, HINTS = 4096, RECORD_MAX = 1 << 20 };
/* A process may load an interpreter later. */
#define AGAIN_MS     1000u
#define AGAIN_MAX_MS 64000u

struct process {
	uint32_t pid, exe; /* exe: hash of the program's path */
	uint64_t at_ms;	   /* when it was searched */
	uint32_t again_ms;
	bool is_python, counted;
	struct ty_python_layout layout;
	uint64_t runtime, code_type;
};

/* Of the memory of one wait: objects of a stack lie close together. */
struct page {
	uint64_t addr, request;
	uint8_t bytes[PAGE];
};

struct hint {
	uint32_t tid;
	uint64_t thread;
};

struct ty_python_stacks {
	ty_python_stacks_put *put;
	void *ctx;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t some;
	struct ty_python_wait queue[QUEUE]; /* lock */
	unsigned first, n;		    /* lock */
	bool stop;			    /* lock */
	struct ty_python_result res;	    /* lock */
	/* Of the thread: */
	struct ty_python python;
	uint32_t reads_of;
	uint64_t request;
	struct page pages[PAGES];
	int error;
	VEC(struct process) of;
	struct ty_pair_map by_pid;
	struct hint hints[HINTS];
	struct ty_buf frames;
};

static const struct page *page_of(struct ty_python_stacks *p, uint64_t addr)
{
	struct page *g = &p->pages[addr / PAGE % PAGES];
	const struct iovec here = {g->bytes, PAGE}, there = {(void *)(uintptr_t)addr, PAGE};

	if (g->addr == addr && g->request == p->request)
		return g;
	g->request = 0;
	if (process_vm_readv((pid_t)p->reads_of, &here, 1, &there, 1, 0) != PAGE) {
		p->error = errno;
		return NULL;
	}
	g->addr = addr;
	g->request = p->request;
	return g;
}

static bool read_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
	if (addr > UINT64_MAX - PAGE - n)
		return false;
	for (uint8_t *to = out; n;) {
		const size_t at = addr % PAGE, k = n < PAGE - at ? n : PAGE - at;
		const struct page *g = page_of(ctx, addr - at);

		if (!g)
			return false;
		memcpy(to, g->bytes + at, k);
		to += k;
		addr += k;
		n -= k;
	}
	return true;
}

/* The first number of a line of /proc/PID/status; its last one (last). */
static uint64_t number_of(const char *status, const char *key, bool last)
{
	const char *s = strstr(status, key), *end;

	if (!s)
		return 0;
	s += strlen(key);
	end = s + strcspn(s, "\n");
	if (last)
		for (const char *at = s; at < end; at++)
			if (*at == '\t' || *at == ' ')
				s = at + 1;
	return strtoull(s, NULL, 10);
}

/* The thread sleeps, and has done so since the copy. */
static bool sleeps_still(const struct ty_python_wait *w, uint32_t *native)
{
	char path[64], b[4096];
	const char *state;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", w->pid, w->tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(b, 1, sizeof(b) - 1, f);
	fclose(f);
	b[n] = 0;
	state = strstr(b, "\nState:\t");
	*native = (uint32_t)number_of(b, "\nNSpid:\t", true);
	return state && strchr("SDTt", state[8]) &&
	       number_of(b, "\nvoluntary_ctxt_switches:\t", false) +
			       number_of(b, "\nnonvoluntary_ctxt_switches:\t", false) ==
		       w->switches;
}

static uint32_t hash_of_exe(uint32_t pid)
{
	char path[64], exe[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, exe, sizeof(exe));
	return n > 0 ? ty_hash_bytes(exe, (size_t)n) : 0;
}

static void search(struct ty_python_stacks *p, struct process *of)
{
	uint32_t version;

	p->error = 0;
	of->at_ms = ty_now_ms();
	of->is_python = ty_python_find(of->pid, &p->python, &version);
	of->layout = p->python.layout;
	of->runtime = p->python.runtime;
	of->code_type = p->python.code_type;
	if (of->is_python || of->counted)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->error == EPERM) {
		p->res.refused++;
		of->counted = true;
	} else if (version) {
		p->res.unknown++;
		p->res.version = version == TY_PY_UNKNOWN ? 0 : version;
		of->counted = true;
	}
	pthread_mutex_unlock(&p->lock);
}

static struct process *process_of(struct ty_python_stacks *p, uint32_t pid)
{
	const uint32_t exe = hash_of_exe(pid);
	struct process *of;

	if (p->of.n > PROCESSES_MAX) {
		p->of.n = 0;
		ty_pair_map_fini(&p->by_pid);
		p->by_pid = (struct ty_pair_map){0};
	}
	of = pair_element(&p->by_pid, pid, 0, &p->of, (struct process){.pid = pid});
	if (!of)
		return NULL;
	if (!of->again_ms || of->exe != exe) {
		of->exe = exe;
		of->counted = false;
		of->again_ms = AGAIN_MS;
		search(p, of);
	} else if (!of->is_python && ty_now_ms() - of->at_ms >= of->again_ms) {
		of->again_ms = of->again_ms < AGAIN_MAX_MS ? 2 * of->again_ms : AGAIN_MAX_MS;
		search(p, of);
	}
	return of;
}

static unsigned read_frames(struct ty_python_stacks *p, const struct process *of,
			    const struct ty_python_wait *w, uint32_t native,
			    enum ty_stk_python_end *end)
{
	struct hint *h = &p->hints[w->tid % HINTS];

	p->python.layout = of->layout;
	p->python.runtime = of->runtime;
	p->python.code_type = of->code_type;
	if (h->tid != w->tid)
		*h = (struct hint){.tid = w->tid};
	h->thread = ty_python_thread(&p->python, w->self, native, h->thread);
	ty_buf_reset(&p->frames);
	*end = TY_STK_PYTHON_ALL;
	return h->thread ? ty_python_frames(&p->python, h->thread, &p->frames, end) : 0;
}

/* One wait. Without the lock. */
static void take(struct ty_python_stacks *p, const struct ty_python_wait *w)
{
	struct ty_stk_head h = {
		.kind = TY_STK_PYTHON, .ns = w->ns, .pid = w->pid, .tid = w->tid, .target = w->tid};
	enum ty_stk_python_end end = TY_STK_PYTHON_ALL;
	struct process *of;
	uint32_t native = 0;
	unsigned n;
	bool same;

	p->reads_of = w->tid;
	p->request++;
	of = process_of(p, w->pid);
	if (!of || !of->is_python)
		return;
	same = w->self || sleeps_still(w, &native);
	n = same ? read_frames(p, of, w, native, &end) : 0;
	same = same && sleeps_still(w, &native);
	/* The program may have been replaced by another run of itself. */
	if (same && !n && ty_now_ms() - of->at_ms >= AGAIN_MS) {
		search(p, of);
		n = of->is_python ? read_frames(p, of, w, native, &end) : 0;
		same = sleeps_still(w, &native);
	}
	h.aux = of->layout.version;
	h.flags = (uint8_t)end;
	h.len = (uint32_t)p->frames.len;
	if (same && n)
		p->put(p->ctx, &h, p->frames.p);
	pthread_mutex_lock(&p->lock);
	p->res.over += !same;
	p->res.stacks += same && n;
	p->res.invalid += same && end == TY_STK_PYTHON_INVALID;
	pthread_mutex_unlock(&p->lock);
}

static void *python_main(void *arg)
{
	struct ty_python_stacks *p = arg;

	/* As the thread that copies the stacks: the wait may be over soon. */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct ty_python_wait w;

		if (!p->n) {
			pthread_cond_wait(&p->some, &p->lock);
			continue;
		}
		w = p->queue[p->first];
		p->first = (p->first + 1) % QUEUE;
		p->n--;
		pthread_mutex_unlock(&p->lock);
		take(p, &w);
		pthread_mutex_lock(&p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void free_all(struct ty_python_stacks *p)
{
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->some);
	vec_fini(&p->of);
	ty_pair_map_fini(&p->by_pid);
	ty_buf_fini(&p->frames);
	ty_buf_fini(&p->python.table);
	free(p);
}

struct ty_python_stacks *ty_python_stacks_new(ty_python_stacks_put *put, void *ctx)
{
	struct ty_python_stacks *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->put = put;
	p->ctx = ctx;
	p->python.read = read_memory;
	p->python.ctx = p;
	ty_buf_init(&p->frames, RECORD_MAX);
	ty_buf_init(&p->python.table, TY_PY_TABLE_MAX);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->some, NULL);
	if (!pthread_create(&p->thread, NULL, python_main, p))
		return p;
	free_all(p);
	return NULL;
}

void ty_python_stacks_request(struct ty_python_stacks *p, const struct ty_python_wait *w)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	if (p->n < QUEUE) {
		p->queue[(p->first + p->n++) % QUEUE] = *w;
		pthread_cond_signal(&p->some);
	} else {
		p->res.over++;
	}
	pthread_mutex_unlock(&p->lock);
}

bool ty_python_stacks_finish(struct ty_python_stacks *p, unsigned wait_ms,
			     struct ty_python_result *res)
{
	struct timespec until;
	bool over;

	*res = (struct ty_python_result){0};
	if (!p)
		return true;
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_signal(&p->some);
	pthread_mutex_unlock(&p->lock);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += wait_ms / 1000;
	over = !pthread_timedjoin_np(p->thread, NULL, &until);
	pthread_mutex_lock(&p->lock);
	*res = p->res;
	pthread_mutex_unlock(&p->lock);
	if (over)
		free_all(p);
	else
		pthread_detach(p->thread);
	return over;
}
