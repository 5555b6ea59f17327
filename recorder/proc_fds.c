/* SPDX-License-Identifier: MIT */
/*
 * See proc_fds.h. /proc/PID/fd and fdinfo as in proc(5); /proc/PID/net/{tcp,udp,unix} as in
 * Documentation/networking/proc_net_tcp.rst and proc(5): the inode in a line is that of the link
 * "socket:[INODE]". Measured per descriptor: 14 us, for a socket 45, and four system calls, which
 * -a records; of each file of /proc/net at most NET_LINES lines are read, and none when no socket
 * is open. The kernel walks all sockets of a namespace to list it, so the number of namespaces is
 * bounded, too. A budget is CPU time, so that the result does not depend on other load; descriptors
 * on which a thread sleeps are not counted.
 */
#include "proc_fds.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "compare.h"
#include "field_text.h"
#include "now.h"
#include "partition.h"
#include "unix_sockets.h"
#include "vec.h"

#define NET_LINES 100000
/* Descriptors read between two checks of the time spent. */
#define LOOK_EVERY 16
/* And lines of /proc/net. */
#define NET_LOOK   256
#define TCP_LISTEN 0x0A

struct fd {
	int pid, fd; /* fd < 0: its working directory */
	ino_t net;   /* the network namespace of its process; 0: unknown */
	bool cloexec;
	unsigned flags;
	unsigned long inode; /* of a socket; 0: none */
	char *target;	     /* heap */
};
struct process {
	int pid;
	ino_t net;
	size_t fds;	 /* how many were counted */
	size_t first, n; /* its descriptors on which a thread sleeps: tasks */
	bool cut, sockets;
};
struct fds {
	VEC(struct fd) v;
	VEC(struct process) of;
	const struct ty_proc_task *tasks;
	size_t room; /* for descriptors on which no thread sleeps; 0: or no time */
	uint64_t budget_ns, spent_ns, since_ns;
	int before_exec; /* those with close-on-exec do not count */
};

static void fini(struct fds *f)
{
	vec_each (d, &f->v)
		free(d->target);
	vec_fini(&f->v);
	vec_fini(&f->of);
}

/* Is there time left of what has a budget? It counts from begin() on, to each of these. */
static bool in_time(struct fds *f)
{
	uint64_t now = f->budget_ns ? ty_now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;

	f->spent_ns += now - f->since_ns;
	f->since_ns = now;
	return f->spent_ns <= f->budget_ns;
}

static void begin(struct fds *f)
{
	f->since_ns = f->budget_ns ? ty_now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
}

/* As open(2) has it; 0: unknown. */
static unsigned flags_of(int proc, const char *fd)
{
	char path[32], text[256], *flags;
	int info;
	ssize_t n;

	snprintf(path, sizeof(path), "fdinfo/%.12s", fd);
	info = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return 0;
	n = read(info, text, sizeof(text) - 1);
	close(info);
	text[n > 0 ? n : 0] = 0;
	flags = strstr(text, "flags:");
	return flags ? (unsigned)strtoul(flags + 6, NULL, 8) : 0;
}

/* A pid without its process is no error. */
static int open_proc(int pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* One descriptor, if it is there: 1. proc, dir: /proc/PID and its fd. */
static int take(struct fds *f, struct process *p, int proc, int dir, const char *name)
{
	struct fd fd = {.pid = p->pid, .net = p->net, .fd = atoi(name)};
	char target[PATH_MAX];
	ssize_t n;

	fd.flags = flags_of(proc, name);
	fd.cloexec = fd.flags & O_CLOEXEC;
	if (fd.cloexec && f->before_exec == p->pid)
		return 0;
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n <= 0)
		return 0;
	target[n] = 0;
	if (sscanf(target, "socket:[%lu]", &fd.inode) != 1)
		fd.inode = 0;
	p->sockets |= fd.inode != 0;
	fd.target = strdup(target);
	if (fd.target && !vec_push(&f->v, fd))
		return 1;
	free(fd.target);
	return -TY_ENOMEM;
}

static int take_cwd(struct fds *f, const struct process *p, int proc)
{
	struct fd fd = {.pid = p->pid, .fd = -1};
	char target[PATH_MAX];
	ssize_t n = readlinkat(proc, "cwd", target, sizeof(target) - 1);

	if (n <= 0)
		return 0;
	target[n] = 0;
	fd.target = strdup(target);
	if (fd.target && !vec_push(&f->v, fd))
		return 0;
	free(fd.target);
	return -TY_ENOMEM;
}

static bool is_slept_for(const struct fds *f, const struct process *p, int fd)
{
	const struct ty_proc_task *t = f->tasks + p->first;
	size_t k = partition_point(i, (size_t)0, p->n, t[i].fd < fd);

	return k < p->n && t[k].fd == fd;
}

/* The rest of a process's descriptors, as long as there is room. */
static int take_rest(struct fds *f, struct process *p, int proc, DIR *d)
{
	struct dirent *e;
	size_t taken = 0;
	int r = 0;

	begin(f);
	while (r >= 0 && (e = readdir(d))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9' || is_slept_for(f, p, atoi(e->d_name)))
			continue;
		p->cut = !f->room;
		if (p->cut)
			break;
		r = take(f, p, proc, dirfd(d), e->d_name);
		f->room -= r > 0;
		if (++taken % LOOK_EVERY == 0 && !in_time(f))
			f->room = 0;
	}
	if (!in_time(f))
		f->room = 0;
	return r;
}

static int list(struct fds *f, struct process *p)
{
	const bool look = f->room || p->n;
	int proc = look ? open_proc(p->pid) : -1, r = 0;
	int dir = proc < 0 ? -1 : openat(proc, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct stat st;

	if (d && !fstatat(proc, "ns/net", &st, 0))
		p->net = st.st_ino;
	for (size_t i = 0; d && i < p->n && r >= 0; i++) {
		const struct ty_proc_task *t = &f->tasks[p->first + i];
		char name[16];

		if ((i && t->fd == t[-1].fd) || f->v.n >= TY_PROC_FDS_MAX)
			continue;
		snprintf(name, sizeof(name), "%d", t->fd);
		r = take(f, p, proc, dir, name);
	}
	if (d && r >= 0)
		r = take_cwd(f, p, proc);
	/* Even to look into a folder takes as long as it has descriptors. */
	p->cut = look ? d && !f->room : p->fds > 0;
	if (d && f->room && r >= 0)
		r = take_rest(f, p, proc, d);
	if (d)
		closedir(d);
	else if (dir >= 0)
		close(dir);
	if (proc >= 0)
		close(proc);
	return r < 0 ? r : 0;
}

ORDER(by_fd, struct ty_proc_task, compare(a->tgid, b->tgid) ?: compare(a->fd, b->fd))

ORDER(fewest_first, struct process, compare(a->fds, b->fds) ?: compare(a->pid, b->pid))

/* How many descriptors a process has: since Linux 6.2 the size of the folder. */
static size_t count(int pid)
{
	size_t n = 0;
	struct dirent *e;
	char path[32];
	struct stat st;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	if (stat(path, &st))
		return 0;
	if (st.st_size > 0)
		return (size_t)st.st_size;
	d = opendir(path);
	while (d && n < TY_PROC_FDS_COUNTED && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

/* The processes of the tasks, and how much room is left when all have what they sleep for. */
static int group(struct fds *f, struct ty_proc_task *tasks, size_t n)
{
	int r = 0;

	f->tasks = tasks;
	f->room = TY_PROC_FDS_MAX;
	if (n)
		qsort(tasks, n, sizeof(*tasks), by_fd);
	for (size_t i = 0; i < n && !r; i++) {
		struct process *p =
			i && tasks[i - 1].tgid == tasks[i].tgid ? &f->of.v[f->of.n - 1] : NULL;

		if (!p) {
			r = vec_push(&f->of, ((struct process){.pid = tasks[i].tgid,
							       .fds = count(tasks[i].tgid)}));
			p = r ? NULL : &f->of.v[f->of.n - 1];
		}
		if (!p || tasks[i].fd < 0)
			continue;
		p->first = p->n ? p->first : i;
		f->room -= f->room && (!p->n || tasks[i].fd != tasks[i - 1].fd);
		p->n++;
	}
	if (!r)
		vec_sort(&f->of, fewest_first);
	return r;
}

/* The kernel prints addresses as words in the machine's byte order. */
static void address(const char *hex, bool six, unsigned port, char *out, size_t size)
{
	char text[INET6_ADDRSTRLEN] = "?";
	uint32_t w[4] = {0};

	for (unsigned i = 0; i < (six ? 4u : 1u); i++) {
		char word[9] = {0};

		memcpy(word, hex + 8 * i, 8);
		w[i] = (uint32_t)strtoul(word, NULL, 16);
	}
	inet_ntop(six ? AF_INET6 : AF_INET, w, text, sizeof(text));
	snprintf(out, size, six ? "[%s]:%u" : "%s:%u", text, port);
}

/* What a line of /proc/net/tcp and the like says of its socket; false: nothing. */
static bool inet_line(const char *line, const char *proto, bool six, unsigned long *inode,
		      char *text, size_t size)
{
	char own[33], peer[33], a[80], b[80];
	unsigned own_port, peer_port, state;
	size_t digits = six ? 32 : 8;

	if (sscanf(line, " %*u: %32[0-9A-F]:%X %32[0-9A-F]:%X %X %*s %*s %*s %*u %*d %lu", own,
		   &own_port, peer, &peer_port, &state, inode) != 6 ||
	    strlen(own) != digits || strlen(peer) != digits)
		return false;
	address(own, six, own_port, a, sizeof(a));
	address(peer, six, peer_port, b, sizeof(b));
	if (state == TCP_LISTEN)
		snprintf(text, size, "%s:[%s listening]", proto, a);
	else if (peer_port)
		snprintf(text, size, "%s:[%s->%s]", proto, a, b);
	else
		snprintf(text, size, "%s:[%s]", proto, a);
	return true;
}

static bool unix_line(const char *line, unsigned long *inode, char *text, size_t size)
{
	int path = 0;

	if (sscanf(line, "%*[^:]: %*x %*x %*x %*x %*x %lu %n", inode, &path) != 1 || !path ||
	    !line[path] || line[path] == '\n')
		return false;
	snprintf(text, size, "UNIX:[%.*s]", (int)strcspn(line + path, "\n"), line + path);
	return true;
}

static int by_inode(const void *pa, const void *pb)
{
	const struct fd *a = *(struct fd *const *)pa, *b = *(struct fd *const *)pb;

	return compare(a->inode, b->inode);
}

/* All descriptors of one socket get its text. */
static int put(struct fd **of, size_t n, unsigned long inode, const char *text)
{
	size_t lo = partition_point(i, 0, n, of[i]->inode < inode);

	for (; lo < n && of[lo]->inode == inode; lo++) {
		char *copy = strdup(text);

		if (!copy)
			return -TY_ENOMEM;
		free(of[lo]->target);
		of[lo]->target = copy;
	}
	return 0;
}

struct unix_ends {
	struct fds *f;
	struct fd **of;
	size_t n;
	unsigned lines;
};

static int on_unix(void *ctx, unsigned long inode, const char *text)
{
	struct unix_ends *u = ctx;

	if (++u->lines > NET_LINES || (u->lines % NET_LOOK == 0 && !in_time(u->f)))
		return 1;
	return put(u->of, u->n, inode, text);
}

/* With their other ends, which /proc lacks; false: of another namespace, or the kernel refuses. */
static bool name_unix(struct fds *f, ino_t ns, struct fd **of, size_t n)
{
	struct unix_ends u = {f, of, n, 0};
	struct stat own;

	return n && !stat("/proc/self/ns/net", &own) && own.st_ino == ns && in_time(f) &&
	       ty_unix_sockets(on_unix, &u) >= 0;
}

/* The sockets of one network namespace by name. 0: none of its lists could be opened (a process
 * that has ended is in no namespace). */
static int name_sockets(struct fds *f, ino_t ns, int proc)
{
	static const char *const files[] = {"tcp", "tcp6", "udp", "udp6", "unix"};
	struct fd **of = malloc((f->v.n + 1) * sizeof(struct fd *));
	char line[512], text[400];
	bool opened = false;
	size_t n = 0;
	int r = 0;

	if (!of)
		return -TY_ENOMEM;
	vec_each (d, &f->v)
		if (d->inode && d->net == ns)
			of[n++] = d;
	qsort(of, n, sizeof(struct fd *), by_inode);
	for (unsigned k = 0; n && !r && in_time(f) && k < sizeof(files) / sizeof(*files); k++) {
		int fd;
		FILE *net;

		if (!strcmp(files[k], "unix") && name_unix(f, ns, of, n))
			break;
		snprintf(text, sizeof(text), "net/%s", files[k]);
		fd = openat(proc, text, O_RDONLY | O_CLOEXEC);
		net = fd < 0 ? NULL : fdopen(fd, "r");
		if (!net) {
			if (fd >= 0)
				close(fd);
			continue;
		}
		opened = true;
		for (unsigned lines = 0; !r && lines < NET_LINES && fgets(line, sizeof(line), net);
		     lines++) {
			unsigned long inode;
			bool six = files[k][3] == '6';

			if (files[k][0] == 'u' && files[k][1] == 'n'
				    ? unix_line(line, &inode, text, sizeof(text))
				    : inet_line(line, files[k][0] == 't' ? "TCP" : "UDP", six,
						&inode, text, sizeof(text)))
				r = put(of, n, inode, text);
			if (lines % NET_LOOK == 0 && !in_time(f))
				break;
		}
		fclose(net);
	}
	free(of);
	return r ? r : opened;
}

/* The lists of each network namespace with sockets are read once, of the first of its processes
 * that still has them; once for each process where namespaces are unknown. */
static int name_all(struct fds *f)
{
	ino_t done[TY_PROC_NETS_MAX];
	size_t n = 0;
	int r = 0;

	f->spent_ns = 0;
	begin(f);
	for (size_t i = 0; i < f->of.n && n < TY_PROC_NETS_MAX && r >= 0; i++) {
		const struct process *p = &f->of.v[i];
		size_t k = 0;
		int proc;

		while (k < n && (!p->net || done[k] != p->net))
			k++;
		proc = p->sockets && k == n && in_time(f) ? open_proc(p->pid) : -1;
		if (proc < 0)
			continue;
		r = name_sockets(f, p->net, proc);
		close(proc);
		if (r > 0)
			done[n++] = p->net;
	}
	return r < 0 ? r : 0;
}

static const char *access_text(unsigned flags)
{
	switch (flags & O_ACCMODE) {
	case O_RDONLY: return "r";
	case O_WRONLY: return "w";
	default: return "rw";
	}
}

static bool has_address(const char *target)
{
	return !strncmp(target, "TCP", 3) || !strncmp(target, "UDP", 3);
}

int ty_proc_fds(struct ty_proc_task *tasks, size_t n, int before_exec, uint64_t budget_ns,
		struct ty_buf *out, size_t *cut, struct ty_err *err)
{
	struct fds f = {.before_exec = before_exec, .budget_ns = budget_ns};
	int r = group(&f, tasks, n);

	*cut = 0;
	for (size_t i = 0; i < f.of.n && !r; i++)
		r = list(&f, &f.of.v[i]);
	r = r ? r : name_all(&f);
	for (size_t i = 0; i < f.v.n && !r; i++) {
		const struct fd *d = &f.v.v[i];

		if (d->fd < 0)
			r = ty_buf_addf(out, "%d\tcwd\t-\t", d->pid);
		else
			r = ty_buf_addf(out, "%d\t%d\t%s\t", d->pid, d->fd,
					d->cloexec ? "cloexec" : "-");
		r = r ? r : ty_escape_field(out, d->target, strlen(d->target));
		/* Which end of a pipe it is. */
		if (!r && d->fd >= 0 && !strncmp(d->target, "pipe:[", 6))
			r = ty_buf_addf(out, "\t%s", access_text(d->flags));
		if (!r && d->inode && d->net && has_address(d->target))
			r = ty_buf_addf(out, "\t-\t%ju", (uintmax_t)d->net);
		r = r ? r : ty_buf_addc(out, '\n');
	}
	for (size_t i = 0; i < f.of.n && !r; i++)
		if (f.of.v[i].cut) {
			r = ty_buf_addf(out, "%d\tleft_out\n", f.of.v[i].pid);
			++*cut;
		}
	if (!r && *cut)
		r = ty_buf_addf(out, "left_out\t%zu\n", *cut);
	fini(&f);
	return r ? ty_fail(err, -r, TY_NO_OFFSET, "the list of open descriptors: %s",
			   ty_strerror(r))
		 : 0;
}
