/* SPDX-License-Identifier: MIT */
/*
 * See cgroup_quota.h. Files as in the kernel's Documentation/admin-guide/cgroup-v2.rst (cpu.max,
 * cpu.stat: throttled_usec, cgroup.threads) and, for version 1,
 * Documentation/scheduler/sched-bwc.rst (cpu.cfs_quota_us, cpu.cfs_period_us, cpu.stat:
 * throttled_time in ns) and tasks. The kernel adds the time to its count, per CPU, when it
 * unthrottles.
 */
#include "cgroup_quota.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "int_set.h"
#include "field_text.h"
#include "now.h"
#include "proc_snapshot.h"

#define INTERVAL_NS UINT64_C(100000000)
#define SCAN_NS	    UINT64_C(500000000)
#define COST	    200 /* the pause between two samples or scans is this multiple of their duration */
#define DEPTH	    32
#define DIRS	    4096
#define TIDS	    4096
#define BYTES	    (UINT64_C(64) << 20) /* of all lines */

struct look {
	struct ty_quotas *q;
	uint64_t (*trace_ns)(void *ctx);
	void *ctx;
	struct ty_buf *out;
	uint64_t mono_ns;     /* when the sample began */
	uint64_t trace_at_ns; /* trace clock, when there was something to state; 0: not yet */
	uint64_t asked_at_ns; /* CLOCK_MONOTONIC of that */
	unsigned dirs;
	char path[PATH_MAX]; /* of the folder */
};

/* A small file: its length; 0 where there is none, with errno. */
static size_t slurp(int dir, const char *name, char *text, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), e;
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	e = n < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	errno = e;
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
	vec_fini(&g->tids);
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

/* file: a cpu.stat. */
static bool read_throttled(int dir, const char *file, uint64_t *ns)
{
	char text[2048];
	const char *p;

	if (!slurp(dir, file, text, sizeof(text)))
		return false;
	if ((p = strstr(text, "throttled_usec ")))
		*ns = strtoull(p + 15, NULL, 10) * 1000;
	else if ((p = strstr(text, "throttled_time ")))
		*ns = strtoull(p + 15, NULL, 10);
	return p;
}

/* A number that changes when any group is created or removed; 0: unknown. */
static uint64_t count_groups(const struct ty_quotas *q)
{
	char text[4096];
	const char *p;
	uint64_t n = 0;

	if (q->v2) {
		slurp(q->root, "cgroup.stat", text, sizeof(text));
		p = strstr(text, "nr_descendants ");
		return p ? strtoull(p + 15, NULL, 10) : 0;
	}
	slurp(AT_FDCWD, "/proc/cgroups", text, sizeof(text));
	p = strstr(text, "\ncpu\t");
	return p && sscanf(p, " cpu %*u %" SCNu64, &n) == 1 ? n : 0;
}

/* Iterates over the child folders; NULL: no more. */
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

/* The threads of a group and of those below. */
static int add_tids(struct ty_quotas *q, DIR *d, unsigned depth, struct ty_tid_set *out)
{
	int fd = openat(dirfd(d), q->v2 ? "cgroup.threads" : "tasks", O_RDONLY | O_CLOEXEC), r = 0,
	    tid;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	const char *name;
	DIR *below;

	if (!f && fd >= 0)
		close(fd);
	while (f && !r && fscanf(f, "%d", &tid) == 1) {
		if (out->n == TIDS) {
			q->cut = true;
			break;
		}
		r = vec_push(out, tid);
	}
	if (f)
		fclose(f);
	while (!r && depth && out->n < TIDS && (name = next_dir(d)))
		if ((below = open_dir(dirfd(d), name))) {
			r = add_tids(q, below, depth - 1, out);
			closedir(below);
		}
	rewinddir(d);
	return r;
}

static bool same(const struct ty_tid_set *a, const struct ty_tid_set *b)
{
	return a->n == b->n && (!a->n || !memcmp(a->v, b->v, a->n * sizeof(*a->v)));
}

/* The time in the trace clock, which is read once because it costs more than a sample. */
static uint64_t trace_now(struct look *l)
{
	uint64_t mono = ty_now_ns(CLOCK_MONOTONIC);

	if (!l->trace_at_ns) {
		l->trace_at_ns = l->trace_ns(l->ctx);
		l->asked_at_ns = mono = ty_now_ns(CLOCK_MONOTONIC);
	}
	return l->trace_at_ns + (mono - l->asked_at_ns);
}

/*
 * The group was held back since it was last examined, or (ns NULL) is gone. tids: those that it
 * had then and those of now; the same as its line before in `out` has: not written again. False: it
 * was left out.
 */
static bool put_line(struct look *l, struct ty_quota_group *g, const uint64_t *ns,
		     const struct ty_tid_set *tids)
{
	/* A quota that nothing was counted for may have been taken away when it was last read. */
	bool unused = ns && !*ns && !g->quota_us;
	uint64_t to = trace_now(l),
		 since = ty_now_ns(CLOCK_MONOTONIC) - (unused ? g->read_ns : g->seen_ns);
	struct ty_buf line;
	int r;

	ty_buf_init(&line, 2 * PATH_MAX + 2 * TIDS * 12 + 200);
	r = ty_buf_addf(&line, "%" PRIu64 "\t%" PRIu64 "\t", to > since ? to - since : 0, to);
	r = r ? r : ns ? ty_buf_addf(&line, "%" PRIu64, *ns) : ty_buf_addc(&line, '-');
	r = r ? r : ty_buf_addf(&line, "\t%" PRIu64 "\t%" PRIu64 "\t", g->quota_us, g->period_us);
	r = r ? r : ty_escape_field(&line, g->path, strlen(g->path));
	r = r ? r : ty_buf_adds(&line, g->stated ? "\t=" : "\t");
	for (size_t i = 0; !r && !g->stated && i < tids->n; i++)
		r = ty_buf_addf(&line, " %d", tids->v[i]);
	r = r ? r : ty_buf_addc(&line, '\n');
	r = r || l->q->bytes + line.len > BYTES || ty_buf_add(l->out, line.p, line.len);
	if (r)
		l->q->left_out++;
	else
		l->q->bytes += line.len;
	ty_buf_fini(&line);
	return !r;
}

/* The path as openat(2) takes it, from the hierarchy's folder on, with a file's name behind. */
static const char *below_root(const struct ty_quota_group *g, const char *file,
			      char out[PATH_MAX + 16])
{
	snprintf(out, PATH_MAX + 16, ".%s/%s", g->path, file);
	return out;
}

/* The group's threads of now instead of those in tids, and its quota. 1: it has none any more. */
static int read_group(struct ty_quotas *q, struct ty_quota_group *g, struct ty_tid_set *tids)
{
	char path[PATH_MAX + 16];
	DIR *d = open_dir(q->root, below_root(g, "", path));
	int r;

	if (!d)
		return 0;
	if (!read_quota(q, dirfd(d), &g->quota_us, &g->period_us) && !errno) {
		r = 1;
	} else {
		tids->n = 0;
		r = add_tids(q, d, DEPTH, tids);
		tids->n = ty_int_set(tids->v, tids->n);
	}
	closedir(d);
	return r;
}

/* The count grew, or threads are to be examined: both: those of the last look and of now. */
static int look_closer(struct look *l, struct ty_quota_group *g, uint64_t grown)
{
	struct ty_tid_set old = {0}, both = {0};
	const uint64_t quota_us = g->quota_us, period_us = g->period_us;
	int r = 0, e = 0;
	bool changed = g->fresh;

	for (size_t i = 0; !e && i < g->tids.n; i++)
		e = vec_push(&old, g->tids.v[i]) || vec_push(&both, g->tids.v[i]);
	e = e ? -TY_ENOMEM : (r = read_group(l->q, g, &g->tids)) < 0 ? r : 0;
	for (size_t i = 0; !e && i < g->tids.n; i++)
		e = vec_push(&both, g->tids.v[i]);
	both.n = ty_int_set(both.v, both.n);
	g->stated &= same(&old, &g->tids);
	changed |= !same(&old, &g->tids) || quota_us != g->quota_us || period_us != g->period_us;
	if (!e && r == 1)
		g->quota_us = g->period_us = 0;
	if (!e && (grown || changed || r == 1)) {
		bool put = put_line(l, g, &grown, &both);

		g->stated = put && same(&both, &g->tids);
		g->fresh = put && !same(&both, &g->tids);
	}
	g->read_ns = l->mono_ns;
	vec_fini(&old);
	vec_fini(&both);
	return e ? e : r;
}

/* A group's count; whole: its quota and threads as well, which are else read when the count grew,
 * while no thread is known and after threads left. 1: it is to be forgotten. */
static int look_at_group(struct look *l, struct ty_quota_group *g, bool whole)
{
	char path[PATH_MAX + 16];
	uint64_t ns, grown;
	int r = 0;

	if (!read_throttled(l->q->root, below_root(g, "cpu.stat", path), &ns)) {
		if (errno != ENOENT && errno != ENODEV)
			return 0;
		put_line(l, g, NULL, &g->tids);
		return 1;
	}
	/* Less than before: it was removed and made again. */
	grown = ns >= g->throttled_ns ? ns - g->throttled_ns : ns;
	if (whole || grown || !g->tids.n || g->fresh)
		r = look_closer(l, g, grown);
	if (r >= 0) {
		g->throttled_ns = ns;
		g->seen_ns = l->mono_ns;
	}
	return r;
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

/* A new group. This scan reports what it counted since the last one. */
static int add_group(struct look *l, const struct ty_quota_group *new)
{
	struct ty_quota_group g = *new;
	uint64_t since = l->mono_ns - l->q->scanned_ns,
		 cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
	int r;

	g.seen_ns = l->q->scanned_ns;
	g.read_ns = l->mono_ns;
	g.fresh = true;
	/* More than that is of the time before it had a quota, or before the recording. */
	if (!l->q->scanned_ns || g.throttled_ns > since * cpus)
		g.seen_ns = l->mono_ns;
	else
		g.throttled_ns = 0;
	g.path = strdup(l->path);
	r = g.path ? vec_push(&l->q->groups, g) : -TY_ENOMEM;
	if (r)
		free(g.path);
	return r;
}

/* Groups with a quota that are not listed yet. */
static int scan(struct look *l, DIR *d, unsigned depth)
{
	struct ty_quota_group g = {0};
	const char *name;
	size_t len;
	DIR *below;
	int r = 0;

	if (l->dirs++ >= DIRS) {
		l->q->cut = true;
		return 0;
	}
	if (read_quota(l->q, dirfd(d), &g.quota_us, &g.period_us) && !find(l->q, l->path) &&
	    read_throttled(dirfd(d), "cpu.stat", &g.throttled_ns))
		r = add_group(l, &g);
	len = strlen(l->path);
	while (!r && depth && (name = next_dir(d))) {
		if (len + strlen(name) + 2 > sizeof(l->path) || !(below = open_dir(dirfd(d), name)))
			continue;
		/* The root's own path is "/". */
		snprintf(l->path + len, sizeof(l->path) - len, "%s%s", len > 1 ? "/" : "", name);
		r = scan(l, below, depth - 1);
		l->path[len] = 0;
		closedir(below);
	}
	return r;
}

/*
 * Is a walk over all groups due: twice a second, and when groups were made, once more after
 * that, because a group is given its quota when it is there already.
 */
static bool scan_due(struct ty_quotas *q, uint64_t mono_ns)
{
	uint64_t n = count_groups(q);

	if (n != q->count)
		q->rescans = 2;
	q->count = n;
	if (q->scanned_ns && mono_ns < q->scanned_ns + q->scan_spent_ns * COST)
		return false;
	if (!q->rescans && q->scanned_ns && mono_ns < q->scanned_ns + SCAN_NS)
		return false;
	q->rescans -= q->rescans > 0;
	return true;
}

void ty_quotas_sample(struct ty_quotas *q, uint64_t (*trace_ns)(void *ctx), void *ctx,
		      struct ty_buf *out)
{
	struct look l = {.q = q,
			 .trace_ns = trace_ns,
			 .ctx = ctx,
			 .out = out,
			 .mono_ns = ty_now_ns(CLOCK_MONOTONIC),
			 .path = "/"};
	uint64_t began_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID), cpu_ns = began_ns;
	bool whole, fresh = !out->len;
	size_t kept = 0;
	DIR *d;

	q->last_ns = l.mono_ns;
	if (q->root < 0)
		return;
	whole = scan_due(q, l.mono_ns);
	if (whole) {
		q->next = 0;
		if ((d = open_dir(q->root, "."))) {
			scan(&l, d, DEPTH);
			closedir(d);
		}
		cpu_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID);
		q->scan_spent_ns = cpu_ns - began_ns;
		q->scanned_ns = l.mono_ns;
	}
	vec_each (g, &q->groups) {
		/* What is in the file already may be lost with a chunk: nothing refers to it. */
		g->stated &= !fresh;
		if (look_at_group(&l, g, whole) == 1)
			free_group(g);
		else
			q->groups.v[kept++] = *g;
	}
	q->groups.n = kept;
	q->spent_ns = ty_now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

uint64_t ty_quotas_next_ns(const struct ty_quotas *q)
{
	uint64_t pause = q->spent_ns * COST;

	return q->root < 0 ? UINT64_MAX : q->last_ns + (pause > INTERVAL_NS ? pause : INTERVAL_NS);
}
