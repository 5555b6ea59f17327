/* SPDX-License-Identifier: MIT */
/*
 * See proc_snapshot.h; fields of /proc/PID/stat as in proc(5). About 30 us per thread: syscall and
 * wchan are read only for sleeping threads, and never for kernel threads (whose registers hold no
 * system call, and for which the kernel would report 0, which is read).
 */
#include "proc_snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compare.h"
#include "field_text.h"
#include "partition.h"

#define PF_KTHREAD  0x00200000u
#define TASK_CPUS   8192
#define FIELD_STATE 3
#define FIELDS	    42

/* A small file of a task: its length, without the newline at the end; 0 when unreadable. */
static size_t slurp(int dir, const char *tid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tid, file);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, size - 1);
	close(fd);
	if (n < 0)
		n = 0;
	text[n] = 0;
	if (n && text[n - 1] == '\n')
		text[--n] = 0;
	return (size_t)n;
}

struct stat_fields {
	const char *comm;
	size_t comm_n;
	char state;
	long long f[FIELDS]; /* by proc(5)'s numbers */
};

static bool parse_stat(char *text, struct stat_fields *s)
{
	char *open = strchr(text, '('), *close = strrchr(text, ')'), *p;

	*s = (struct stat_fields){0};
	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return false;
	s->comm = open + 1;
	s->comm_n = (size_t)(close - open - 1);
	s->state = close[2];
	p = close + 3;
	for (int i = FIELD_STATE + 1; i < FIELDS && *p == ' '; i++)
		s->f[i] = strtoll(p + 1, &p, 10);
	return true;
}

/* Affinity in list form. */
static int add_affinity(struct ty_buf *out, int tid)
{
	static __thread cpu_set_t set[TASK_CPUS / CPU_SETSIZE];
	bool first = true;
	int r = 0;

	memset(set, 0, sizeof(set));
	if (sched_getaffinity(tid, sizeof(set), set))
		return ty_buf_addc(out, '-');
	for (int a = 0; a < TASK_CPUS && !r; a++) {
		int b = a;

		if (!CPU_ISSET_S(a, sizeof(set), set))
			continue;
		while (b + 1 < TASK_CPUS && CPU_ISSET_S(b + 1, sizeof(set), set))
			b++;
		r = ty_buf_addf(out, b > a ? "%s%d-%d" : "%s%d", first ? "" : ",", a, b);
		first = false;
		a = b;
	}
	return r;
}

static const char *policy_name(long long policy, char other[24])
{
	static const char *const names[] = {"other", "fifo", "rr",	 "batch",
					    "iso",   "idle", "deadline", "ext"};

	if (policy >= 0 && policy < (long long)(sizeof(names) / sizeof(*names)))
		return names[policy];
	snprintf(other, 24, "%lld", policy);
	return other;
}

bool ty_in_words(const char *list, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; (p = strstr(p, word)); p++)
		if ((p == list || p[-1] == ',') && (!p[n] || p[n] == ','))
			return true;
	return false;
}

static const char *end_at(char *p, char *end)
{
	*end = 0;
	return p;
}

/* The path in the hierarchy that has the CPU controller, or else in the unified one. */
static const char *cgroup_path(char *text)
{
	char *found = NULL;

	for (char *p = text, *end; *p; p = end + (*end == '\n')) {
		char *list, *path;

		end = p + strcspn(p, "\n");
		list = memchr(p, ':', (size_t)(end - p));
		path = list ? memchr(list + 1, ':', (size_t)(end - list - 1)) : NULL;
		if (!path)
			continue;
		*path = 0;
		if (ty_in_words(list + 1, "cpu"))
			return end_at(path + 1, end);
		if (path == list + 1)
			found = path + 1;
	}
	return found ? end_at(found, found + strcspn(found, "\n")) : "";
}

/* Of "NUMBER ARG1 ..", the first argument if it may be a descriptor's number. */
static int first_fd(const char *call)
{
	const char *arg = strchr(call, ' ');
	unsigned long v = arg ? strtoul(arg, NULL, 16) : ULONG_MAX;

	return v <= INT_MAX ? (int)v : -1;
}

static int add_thread(struct ty_buf *out, struct ty_buf *names, ty_proc_tasks *tasks, int dir,
		      const char *tid, int tgid)
{
	char text[1024], wchan[128], call[256], cgroup[4096], policy[24];
	const char *group = "";
	struct stat_fields s;
	long hz = sysconf(_SC_CLK_TCK);
	bool user, sleeps;
	int r;

	if (!slurp(dir, tid, "stat", text, sizeof(text)) || !parse_stat(text, &s))
		return 0;
	user = !((unsigned long long)s.f[9] & PF_KTHREAD);
	sleeps = s.state != 'R' && user;
	strcpy(call, s.state == 'R' ? "running" : "-");
	strcpy(wchan, "-");
	if (sleeps && slurp(dir, tid, "syscall", call, sizeof(call))) {
		/* "NUMBER ARG1 .. ARG6 SP PC", or "-1 SP PC": the registers are not published. */
		char *p = call;

		for (int i = 0; i < 7 && p; i++)
			p = strchr(p + 1, ' ');
		if (p)
			*p = 0;
		if (call[0] == '-')
			strcpy(call, "-");
	}
	if (s.state != 'R' &&
	    (!slurp(dir, tid, "wchan", wchan, sizeof(wchan)) || !strcmp(wchan, "0")))
		strcpy(wchan, "-");
	if (slurp(dir, tid, "cgroup", cgroup, sizeof(cgroup)))
		group = cgroup_path(cgroup);
	r = ty_buf_addf(out, "%s\t%d\t%lld\t%llu\t%c\t%s\t%lld\t%lld\t%s\t%s\t", tid, tgid, s.f[4],
			(unsigned long long)s.f[22] * (1000000000ull / (unsigned long)hz), s.state,
			policy_name(s.f[41], policy), s.f[18] + 100, s.f[39], call, wchan);
	r = r ? r : add_affinity(out, atoi(tid));
	r = r ? r : ty_buf_addc(out, '\t');
	r = r ? r : ty_escape_field(out, *group ? group : "-", strlen(*group ? group : "-"));
	r = r ? r : ty_buf_addc(out, '\t');
	r = r ? r : ty_escape_field(out, s.comm, s.comm_n);
	r = r ? r : ty_buf_addc(out, '\n');
	if (!r) {
		r = ty_buf_addf(names, "%s ", tid);
		for (size_t i = 0; i < s.comm_n && !r; i++)
			r = ty_buf_addc(names, s.comm[i] == '\n' ? '?' : s.comm[i]);
		r = r ? r : ty_buf_addc(names, '\n');
	}
	if (!r && user)
		r = vec_push(tasks, ((struct ty_proc_task){atoi(tid), tgid,
							   sleeps ? first_fd(call) : -1}));
	return r;
}

int ty_proc_snapshot(struct ty_buf *out, struct ty_buf *names, ty_proc_tasks *tasks,
		     struct ty_err *err)
{
	DIR *proc = opendir("/proc"), *task;
	struct dirent *p, *t;
	char path[300];
	int r = 0;

	if (!proc)
		return ty_fail_errno(err, "cannot read /proc (mount -t proc proc /proc)");
	while (!r && (p = readdir(proc))) {
		if (p->d_name[0] < '1' || p->d_name[0] > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/task", p->d_name);
		task = opendir(path);
		if (!task)
			continue;
		while (!r && (t = readdir(task)))
			if (t->d_name[0] >= '1' && t->d_name[0] <= '9')
				r = add_thread(out, names, tasks, dirfd(task), t->d_name,
					       atoi(p->d_name));
		closedir(task);
	}
	closedir(proc);
	if (r)
		return ty_fail(err, -r, TY_NO_OFFSET, "the list of threads: %s", ty_strerror(r));
	return 0;
}

int ty_proc_threads(int pid, int **tids, size_t *n, struct ty_err *err)
{
	VEC(int) v = {*tids, *n, *n};
	struct dirent *t;
	char path[64];
	int r = 0;
	DIR *task;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	task = opendir(path);
	if (!task)
		return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			       "process %d does not exist (ps -e lists processes)", pid);
	while (!r && (t = readdir(task)))
		if (t->d_name[0] >= '1' && t->d_name[0] <= '9')
			r = vec_push(&v, atoi(t->d_name));
	closedir(task);
	*tids = v.v;
	*n = v.n;
	return r ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for the threads of %d", pid)
		 : 0;
}

struct process_parent {
	int pid, parent;
};

ORDER(by_parent, struct process_parent, compare(a->parent, b->parent))

/* All processes there are. */
static int list_processes(struct process_parent **out, size_t *n)
{
	VEC(struct process_parent) v = {0};
	DIR *proc = opendir("/proc");
	struct dirent *p;
	char text[1024];
	int r = proc ? 0 : -TY_ESYS;

	while (!r && (p = readdir(proc))) {
		struct stat_fields s;

		if (p->d_name[0] >= '1' && p->d_name[0] <= '9' &&
		    slurp(dirfd(proc), p->d_name, "stat", text, sizeof(text)) &&
		    parse_stat(text, &s) &&
		    vec_push(&v, ((struct process_parent){atoi(p->d_name), (int)s.f[4]})))
			r = -TY_ENOMEM;
	}
	if (proc)
		closedir(proc);
	*out = v.v;
	*n = v.n;
	return r;
}

/* Moves the listed pids into the family. Each is taken once: its entry becomes 0. */
static int take_listed(const int *pids, size_t n, struct process_parent *procs, size_t procs_n,
		       ty_proc_pids *family)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		size_t k = 0;

		while (k < i && pids[k] != pids[i])
			k++;
		if (k == i)
			r = vec_push(family, pids[i]);
		for (k = 0; k < procs_n; k++)
			if (procs[k].pid == pids[i])
				procs[k].pid = 0;
	}
	return r;
}

int ty_proc_family(const int *pids, size_t n, int but, ty_proc_pids *family, struct ty_err *err)
{
	size_t procs_n;
	struct process_parent *procs;
	int r = list_processes(&procs, &procs_n);

	if (!r && procs_n)
		qsort(procs, procs_n, sizeof(*procs), by_parent);
	family->n = 0;
	r = r ? r : take_listed(pids, n, procs, procs_n, family);
	for (size_t next = 0; !r && next < family->n; next++) {
		size_t lo = partition_point(k, 0, procs_n, procs[k].parent < family->v[next]);

		for (; !r && lo < procs_n && procs[lo].parent == family->v[next]; lo++)
			if (procs[lo].pid > 0 && procs[lo].pid != but) {
				r = vec_push(family, procs[lo].pid);
				procs[lo].pid = 0;
			}
	}
	free(procs);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "cannot list child processes: %s", ty_strerror(r))
		 : 0;
}

long ty_proc_syscall(int tid)
{
	char text[256], name[16];
	long nr = -1;
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (proc < 0)
		return -1;
	snprintf(name, sizeof(name), "%d", tid);
	if (slurp(proc, name, "syscall", text, sizeof(text)) && sscanf(text, "%ld", &nr) != 1)
		nr = -1;
	close(proc);
	return nr;
}

int ty_proc_tgid(int tid)
{
	char path[64], line[256];
	int tgid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (!tgid && fgets(line, sizeof(line), f))
		if (sscanf(line, "Tgid: %d", &tgid) == 1)
			break;
	fclose(f);
	return tgid;
}
