/* SPDX-License-Identifier: MIT */
/*
 * See cgroup_quota.h. Files as in the kernel's Documentation/admin-guide/cgroup-v2.rst (cpu.max,
 * cpu.stat: throttled_usec, cgroup.threads) and, of version 1,
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat:
 * throttled_time in ns) and tasks. The kernel adds the time to its count when it lets the threads
 * run again, of each CPU.
 */
#include "cgroup_quota.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proc_snapshot.h"

#define INTERVAL_NS UINT64_C(100000000)
#define COST	    200 /* so many times what a look takes lies between two of them */
#define DEPTH	    32
#define DIRS	    4096
#define TIDS	    4096

struct look {
	struct ty_quotas *q;
	uint64_t (*trace_ns)(void *ctx);
	void *ctx;
	struct ty_buf *out;
	uint64_t mono_ns;  /* the look's begin */
	uint64_t now_ns;   /* trace clock, when there was something to tell; 0: not yet */
	uint64_t since_ns; /* so long before that the last look began */
	uint64_t most_ns;  /* that a group can have been held back since the last look */
	unsigned dirs;
	char path[PATH_MAX]; /* of the group */
};

static uint64_t clock_ns(clockid_t c)
{
	struct timespec t;

	clock_gettime(c, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A small file: its length; 0 where there is none. */
static size_t slurp(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, size - 1);

	if (fd >= 0)
		close(fd);
	n = n > 0 ? n : 0;
	text[n] = 0;
	return (size_t)n;
}

void ty_quotas_open(struct ty_quotas *q)
{
	char line[2 * PATH_MAX], where[PATH_MAX] = "", dir[PATH_MAX], type[32], opts[512];
	FILE *f = fopen("/proc/self/mounts", "re");

	*q = (struct ty_quotas){.root = -1};
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %4095s %31s %511s", dir, type, opts) != 3)
			continue;
		if (!strcmp(type, "cgroup") && ty_in_words(opts, "cpu")) {
			strcpy(where, dir);
			q->v2 = false;
			break;
		}
		if (!strcmp(type, "cgroup2") && !*where) {
			strcpy(where, dir);
			q->v2 = true;
		}
	}
	if (f)
		fclose(f);
	if (*where)
		q->root = open(where, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void free_group(struct ty_quota_group *g)
{
	free(g->path);
	ty_buf_fini(&g->tids);
}

void ty_quotas_close(struct ty_quotas *q)
{
	vec_each (g, &q->groups)
		free_group(g);
	vec_fini(&q->groups);
	if (q->root >= 0)
		close(q->root);
	q->root = -1;
}

static bool read_quota(const struct ty_quotas *q, int dir, uint64_t *quota_us, uint64_t *period_us)
{
	char text[64];

	if (q->v2)
		return slurp(dir, "cpu.max", text, sizeof(text)) &&
		       sscanf(text, "%" SCNu64 " %" SCNu64, quota_us, period_us) == 2;
	if (!slurp(dir, "cpu.cfs_quota_us", text, sizeof(text)) || text[0] == '-')
		return false;
	*quota_us = strtoull(text, NULL, 10);
	if (!slurp(dir, "cpu.cfs_period_us", text, sizeof(text)))
		return false;
	*period_us = strtoull(text, NULL, 10);
	return true;
}

static bool read_throttled(int dir, uint64_t *ns)
{
	char text[2048];
	const char *p;

	if (!slurp(dir, "cpu.stat", text, sizeof(text)))
		return false;
	if ((p = strstr(text, "throttled_usec ")))
		*ns = strtoull(p + 15, NULL, 10) * 1000;
	else if ((p = strstr(text, "throttled_time ")))
		*ns = strtoull(p + 15, NULL, 10);
	return p;
}

static struct ty_quota_group *find(struct ty_quotas *q, const char *path)
{
	for (size_t i = 0; i < q->groups.n; i++) {
		struct ty_quota_group *g = &q->groups.v[(q->next + i) % q->groups.n];

		if (!strcmp(g->path, path)) {
			q->next = (size_t)(g - q->groups.v) + 1;
			return g;
		}
	}
	return NULL;
}

/* The folders below, one after the other; NULL: no more. */
static const char *next_dir(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)))
		if (e->d_type == DT_DIR && strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			return e->d_name;
	return NULL;
}

static DIR *open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/* The threads of a group and of those below, each with a blank before it. */
static int add_tids(const struct ty_quotas *q, DIR *d, unsigned depth, struct ty_buf *out,
		    unsigned *n)
{
	int fd = openat(dirfd(d), q->v2 ? "cgroup.threads" : "tasks", O_RDONLY | O_CLOEXEC), r = 0,
	    tid;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	const char *name;
	DIR *below;

	if (!f && fd >= 0)
		close(fd);
	for (; f && !r && *n < TIDS && fscanf(f, "%d", &tid) == 1; ++*n)
		r = ty_buf_addf(out, " %d", tid);
	if (f)
		fclose(f);
	while (!r && depth && *n < TIDS && (name = next_dir(d)))
		if ((below = open_dir(dirfd(d), name))) {
			r = add_tids(q, below, depth - 1, out, n);
			closedir(below);
		}
	rewinddir(d);
	return r;
}

/* The group was held back since the last look, or (ns NULL) is gone. tids: of now, besides those of
 * the last look. */
static int put_line(struct look *l, const struct ty_quota_group *g, const uint64_t *ns,
		    const struct ty_buf *tids)
{
	uint64_t from;
	int r;

	/* On a busy machine much time may go by since the look began, and since the last one did.
	 */
	if (!l->now_ns) {
		l->now_ns = l->trace_ns(l->ctx);
		l->since_ns = clock_ns(CLOCK_MONOTONIC) - l->q->last_ns;
	}
	from = l->now_ns > l->since_ns ? l->now_ns - l->since_ns : 0;
	r = ty_buf_addf(l->out, "%" PRIu64 "\t%" PRIu64 "\t", from, l->now_ns);
	r = r ? r : ns ? ty_buf_addf(l->out, "%" PRIu64, *ns) : ty_buf_addc(l->out, '-');
	r = r ? r : ty_buf_addf(l->out, "\t%" PRIu64 "\t%" PRIu64 "\t", g->quota_us, g->period_us);
	r = r ? r : ty_escape_field(l->out, g->path, strlen(g->path));
	r = r ? r : ty_buf_addc(l->out, '\t');
	r = r ? r : ty_buf_add(l->out, g->tids.p, g->tids.len);
	r = r || !tids ? r : ty_buf_add(l->out, tids->p, tids->len);
	return r ? r : ty_buf_addc(l->out, '\n');
}

/* A group with a quota. */
static int look_at_group(struct look *l, DIR *d, unsigned depth, struct ty_quota_group *now)
{
	struct ty_quotas *q = l->q;
	struct ty_quota_group *g = find(q, l->path);
	uint64_t ns;
	unsigned n = 0;
	int r;

	ty_buf_init(&now->tids, TIDS * 16);
	r = add_tids(q, d, depth, &now->tids, &n);
	if (!r && !g) {
		struct ty_quota_group new = *now;

		ty_buf_init(&new.tids, TIDS * 16);
		new.path = strdup(l->path);
		/* More than that is of the time before it had a quota. */
		new.throttled_ns = now->throttled_ns > l->most_ns ? now->throttled_ns : 0;
		r = new.path ? vec_push(&q->groups, new) : -TY_ENOMEM;
		if (r)
			free(new.path);
		else
			g = &q->groups.v[q->groups.n - 1];
	}
	if (!r && now->throttled_ns > g->throttled_ns) {
		ns = now->throttled_ns - g->throttled_ns;
		r = put_line(l, g, &ns, &now->tids);
	}
	if (!r) {
		now->path = g->path;
		now->look = q->looks;
		ty_buf_fini(&g->tids);
		*g = *now;
	} else {
		ty_buf_fini(&now->tids);
	}
	return r;
}

static int look_at(struct look *l, DIR *d, unsigned depth)
{
	struct ty_quota_group now = {0};
	const char *name;
	size_t len;
	DIR *below;
	int r = 0;

	if (l->dirs++ >= DIRS)
		return 0;
	if (read_quota(l->q, dirfd(d), &now.quota_us, &now.period_us) &&
	    read_throttled(dirfd(d), &now.throttled_ns))
		r = look_at_group(l, d, depth, &now);
	len = strlen(l->path);
	while (!r && depth && (name = next_dir(d))) {
		if (len + strlen(name) + 2 > sizeof(l->path) || !(below = open_dir(dirfd(d), name)))
			continue;
		/* The root's own path is "/". */
		snprintf(l->path + len, sizeof(l->path) - len, "%s%s", len > 1 ? "/" : "", name);
		r = look_at(l, below, depth - 1);
		l->path[len] = 0;
		closedir(below);
	}
	return r;
}

void ty_quotas_look(struct ty_quotas *q, uint64_t (*trace_ns)(void *ctx), void *ctx,
		    struct ty_buf *out)
{
	struct look l = {.q = q,
			 .trace_ns = trace_ns,
			 .ctx = ctx,
			 .out = out,
			 .mono_ns = clock_ns(CLOCK_MONOTONIC),
			 .path = "/"};
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	DIR *d = q->root < 0 ? NULL : open_dir(q->root, ".");
	size_t kept = 0;
	int r = 0;

	if (q->looks++)
		l.most_ns = (l.mono_ns - q->last_ns) * (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	if (d) {
		r = look_at(&l, d, DEPTH);
		closedir(d);
	}
	vec_each (g, &q->groups) {
		if (g->look == q->looks) {
			q->groups.v[kept++] = *g;
			continue;
		}
		r = r ? r : put_line(&l, g, NULL, NULL);
		free_group(g);
	}
	q->groups.n = kept;
	q->next = 0;
	q->last_ns = l.mono_ns;
	q->spent_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

uint64_t ty_quotas_next_ns(const struct ty_quotas *q)
{
	uint64_t pause = q->spent_ns * COST;

	return q->root < 0 ? UINT64_MAX : q->last_ns + (pause > INTERVAL_NS ? pause : INTERVAL_NS);
}
