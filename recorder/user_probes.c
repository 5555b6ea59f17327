/* SPDX-License-Identifier: MIT */
/*
 * See user_probes.h. Definitions: Documentation/trace/uprobetracer.rst. A file is named by
 * /proc/self/fd/N, which the kernel resolves when the line is written: the file whose notes were
 * read is the one that is probed, whatever its name holds, and in whatever namespace it has it.
 */
#include "user_probes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST  "uprobe_events"
#define GROUP "tarry_"
/* Files that a machine's processes have mapped: bounds the start with -a. */
#define FILES_MAX 20000
#define PID_FILES 2000
#define LINE_MAX_ 1024

/* Kinds of decoder/event.h and tarry.h. */
enum { INSTANT = 3, SPAN_ENTRY = 7, SPAN_RETURN = 8 };

#if defined(__x86_64__)
static const char *const arg_of[] = {"%di", "%si", "%dx", "%cx", "%r8", "%r9"};
#else
static const char *const arg_of[] = {"%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7"};
#endif

/* One line to the list of uprobes; 0 or -1 with errno. */
static int put_line(const char *root, const char *line)
{
	char path[TY_TRACEFS_PATH + 32];
	ssize_t n;
	int fd, e;

	snprintf(path, sizeof(path), "%s/" LIST, root);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC); /* without O_APPEND it empties the list */
	if (fd < 0)
		return -1;
	n = write(fd, line, strlen(line));
	e = n < 0 ? errno : EIO;
	close(fd);
	errno = e;
	return n == (ssize_t)strlen(line) ? 0 : -1;
}

static int probe(struct ty_user_probes *u, const char *event, const char *label, const char *fmt,
		 ...) __attribute__((format(printf, 4, 5)));

/* Define one probe of an event. label: of a new event, which goes into the set: the name of its
 * records, "" if each record contains it; NULL: the event is there. 0; -TY_ESYS with errno;
 * -TY_ENOMEM. */
static int probe(struct ty_user_probes *u, const char *event, const char *label, const char *fmt,
		 ...)
{
	char line[LINE_MAX_];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line)) {
		errno = ENAMETOOLONG;
		return -TY_ESYS;
	}
	if (put_line(u->root, line))
		return -TY_ESYS;
	if (!label)
		return 0;
	u->events++;
	if (*label)
		ty_buf_addf(&u->labels, "probe=%s %s\n", event, label);
	return u->labels.failed ? -TY_ENOMEM
				: ty_event_set_add(u->set, u->group, event, *label != 0);
}

static bool is_new(struct ty_user_probes *u, const struct stat *st)
{
	vec_each (f, &u->seen) {
		if (f->dev == st->st_dev && f->ino == st->st_ino)
			return false;
	}
	return u->seen.n < FILES_MAX &&
	       !vec_push(&u->seen, (struct ty_user_file){st->st_dev, st->st_ino});
}

/* "file:offset(semaphore)" */
static void place(char *out, size_t n, int fd, const struct ty_sdt *s)
{
	int k = snprintf(out, n, "/proc/self/fd/%d:%#" PRIx64, fd, s->offset);

	if (s->semaphore)
		snprintf(out + k, n - (size_t)k, "(%#" PRIx64 ")", s->semaphore);
}

/* tarry.h: its arguments are those of a call. A program that was linked without groups of sections
 * has several copies, which are probes of one event. */
static int add_region(struct ty_user_probes *u, int fd, const struct ty_sdt *s, char *event)
{
	bool first = !*event;
	char at[96];
	int r;

	if (first)
		snprintf(event, TY_PROBE_GROUP, "region_%u", u->events);
	place(at, sizeof(at), fd, s);
	r = probe(u, event, first ? "" : NULL,
		  "p:%s/%s %s kind=%s:u32 name=+0(%s):string value=%s:s64", u->group, event, at,
		  arg_of[0], arg_of[1], arg_of[2]);
	if (r && first)
		*event = 0; /* the next copy's */
	return r;
}

/* Another program's static probe: an instant; each place is an event of its own, as the arguments
 * may lie elsewhere. */
static int add_usdt(struct ty_user_probes *u, int fd, const struct ty_sdt *s)
{
	char event[TY_PROBE_GROUP], label[2 * TY_SDT_NAME], at[96], fetch[128],
		value[160] = "value=\\0:s64", more[600] = "";
	const char *args = s->args;
	size_t used = 0;
	int r;

	for (unsigned i = 0; i < 12 && (r = ty_sdt_arg(&args, fetch, sizeof(fetch))); i++) {
		if (r < 0)
			continue;
		if (!i)
			snprintf(value, sizeof(value), "value=%.*s:s64", (int)strcspn(fetch, ":"),
				 fetch);
		if (used + strlen(fetch) + 12 < sizeof(more))
			used += (size_t)snprintf(more + used, sizeof(more) - used, " arg%u=%s",
						 i + 1, fetch);
	}
	snprintf(event, sizeof(event), "usdt_%u", u->events);
	place(at, sizeof(at), fd, s);
	snprintf(label, sizeof(label), "%s:%s", s->provider, s->name);
	return probe(u, event, label, "p:%s/%s %s kind=\\%d:u32 %s%s", u->group, event, at, INSTANT,
		     value, more);
}

/* NULL: any. */
static bool is_file(const char *path, const struct stat *st)
{
	struct stat its;

	return !path || (!stat(path, &its) && its.st_dev == st->st_dev && its.st_ino == st->st_ino);
}

/* Defines the requested probes that the file has. `path`: as given by the user; NULL: found by
 * tarry, and then a probe that the kernel refuses is left out. */
static int add_file(struct ty_user_probes *u, const struct ty_user_probe_opts *o, int fd,
		    const char *path, struct ty_err *err)
{
	char event[TY_PROBE_GROUP] = "";
	ty_sdts sdts = {0};
	struct stat st;
	int r = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_new(u, &st))
		return 0;
	r = ty_sdt_read(fd, &sdts);
	r = r < 0 ? r : 0;
	vec_each (s, &sdts) {
		if (r || u->events >= TY_PROBES_MAX)
			break;
		if (!o->no_regions && !strcmp(s->provider, "tarry") && !strcmp(s->name, "region"))
			r = add_region(u, fd, s, event);
		for (size_t i = 0; !r && i < o->usdt_n; i++)
			if (!strcmp(s->provider, o->usdt[i].provider) &&
			    !strcmp(s->name, o->usdt[i].name) && is_file(o->usdt[i].path, &st)) {
				r = add_usdt(u, fd, s);
				u->usdt_found |= !r ? 1u << (i & 31) : 0;
			}
		if (r == -TY_ESYS && path)
			ty_fail(err, TY_ESYS, TY_NO_OFFSET,
				"the kernel refuses the probe %s:%s in %s: %s", s->provider,
				s->name, path, strerror(errno));
		else if (r == -TY_ESYS)
			r = 0;
	}
	vec_fini(&sdts);
	return r == -TY_ENOMEM ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory") : r;
}

/* A file that was named. */
static int add_path(struct ty_user_probes *u, const struct ty_user_probe_opts *o, const char *path,
		    const char *option, struct ty_err *err)
{
	bool regions = option && !strcmp(option, "--regions");
	unsigned events = u->events;
	size_t seen = u->seen.n;
	struct stat st;
	int fd, r;

	/* Before the open, which acts on some devices. */
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return option ? ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
					"%s %s: not a regular file; give a program or library",
					option, path)
			      : 0;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return option ? ty_fail_errno(err, "%s %s: cannot open the file", option, path) : 0;
	r = add_file(u, o, fd, option ? path : NULL, err);
	close(fd);
	if (!r && regions && u->seen.n != seen && u->events == events)
		r = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
			    "--regions %s: the file has no regions (it does not use tarry.h, or "
			    "its notes were removed)",
			    path);
	return r;
}

/* What a process has mapped to be executed. One that has ended, or whose files cannot be opened,
 * has nothing. */
static int add_process(struct ty_user_probes *u, const struct ty_user_probe_opts *o, int pid,
		       struct ty_err *err)
{
	char path[128], line[4096 + 128], *mode;
	unsigned files = 0;
	int r = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !r && files < PID_FILES && fgets(line, sizeof(line), f)) {
		struct stat st;
		int fd;

		mode = strchr(line, ' ');
		if (!mode || strlen(mode) < 5 || mode[3] != 'x' || !strchr(mode, '/'))
			continue;
		*mode = 0;
		/* By the mapping: the file may be another one's now, or have no name here. */
		snprintf(path, sizeof(path), "/proc/%d/map_files/%.40s", pid, line);
		if (stat(path, &st) || !S_ISREG(st.st_mode))
			continue;
		files++;
		vec_each (s, &u->seen)
			if (s->dev == st.st_dev && s->ino == st.st_ino)
				st.st_ino = 0;
		fd = st.st_ino ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : -1;
		if (fd < 0)
			continue;
		r = add_file(u, o, fd, NULL, err);
		close(fd);
	}
	if (f)
		fclose(f);
	return r;
}

static int add_everybody(struct ty_user_probes *u, const struct ty_user_probe_opts *o,
			 struct ty_err *err)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int r = 0;

	while (proc && !r && (e = readdir(proc)))
		if (*e->d_name >= '1' && *e->d_name <= '9' && atoi(e->d_name) != getpid())
			r = add_process(u, o, atoi(e->d_name), err);
	if (proc)
		closedir(proc);
	return r;
}

/* What is recorded of a call: its named parameters, the first as its value, too; else what the
 * first integer registers hold. */
static void span_args(const struct ty_span_point *s, char *out, size_t n)
{
	int k = snprintf(out, n, "value=%s:%s sp=%%sp:u64", arg_of[s->args_n ? s->args[0].reg : 0],
			 s->args_n ? s->args[0].type : "s64");

	for (unsigned i = 0; i < s->args_n; i++)
		k += snprintf(out + k, n - (size_t)k, " arg_%s=%s:%s", s->args[i].name,
			      arg_of[s->args[i].reg], s->args[i].type);
	for (unsigned i = 1; !s->args_n && i < 6; i++)
		k += snprintf(out + k, n - (size_t)k, " arg%u=%s:u64", i + 1, arg_of[i]);
}

/* Probes the entry of a function, and its return only if requested: the kernel replaces the return
 * address by one of its own, which not every program survives. */
static int add_span(struct ty_user_probes *u, const struct ty_span_point *s, struct ty_err *err)
{
	char in[TY_PROBE_GROUP], out[TY_PROBE_GROUP], args[512];
	int fd = open(s->path, O_RDONLY | O_CLOEXEC), r;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		r = ty_fail_errno(err, "--span %s: cannot open %s", s->name, s->path);
		if (fd >= 0)
			close(fd);
		return r;
	}
	if (st.st_dev != s->dev || st.st_ino != s->ino || st.st_mtim.tv_sec != s->changed.tv_sec ||
	    st.st_mtim.tv_nsec != s->changed.tv_nsec) {
		close(fd);
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "--span %s: %s was changed after its symbols were read: run the "
			       "command again",
			       s->name, s->path);
	}
	if (s->returns && ty_elf_is_go(fd)) {
		close(fd);
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "--span %s@%s:return: a Go program moves its stacks, and a probe of "
			       "a return would kill it. --span %s@%s records its entries",
			       s->name, s->path, s->name, s->path);
	}
	span_args(s, args, sizeof(args));
	snprintf(in, sizeof(in), "span_%u_entry", u->events);
	r = probe(u, in, s->name, "p:%s/%s /proc/self/fd/%d:%#" PRIx64 " kind=\\%d:u32 %s",
		  u->group, in, fd, s->offset, s->returns ? SPAN_ENTRY : INSTANT, args);
	snprintf(out, sizeof(out), "span_%u_return", u->events);
	if (!r && s->returns)
		r = probe(u, out, s->name,
			  "r:%s/%s /proc/self/fd/%d:%#" PRIx64
			  " kind=\\%d:u32 value=$retval:s64 sp=%%sp:u64",
			  u->group, out, fd, s->offset, SPAN_RETURN);
	if (r == -TY_ESYS)
		ty_fail(err, TY_ESYS, TY_NO_OFFSET,
			"--span %s@%s: the kernel refuses the probe: %s", s->name, s->path,
			strerror(errno));
	close(fd);
	return r;
}

static int define(struct ty_user_probes *u, const struct ty_user_probe_opts *o, const char *command,
		  const ty_proc_pids *pids, bool all, struct ty_err *err)
{
	int r = 0;

	for (size_t i = 0; !r && i < o->spans_n; i++)
		r = add_span(u, &o->spans[i], err);
	if (o->no_regions && !o->usdt_n)
		return r;
	for (size_t i = 0; !r && i < o->files_n; i++)
		r = add_path(u, o, o->files[i], "--regions", err);
	for (size_t i = 0; !r && i < o->usdt_n; i++)
		if (o->usdt[i].path)
			r = add_path(u, o, o->usdt[i].path, "--usdt", err);
	if (!r && command)
		r = add_path(u, o, command, NULL, err);
	for (size_t i = 0; !r && pids && i < pids->n; i++)
		r = add_process(u, o, pids->v[i], err);
	if (!r && all)
		r = add_everybody(u, o, err);
	for (size_t i = 0; !r && i < o->usdt_n && i < 32; i++)
		if (!(u->usdt_found >> i & 1))
			r = ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				    "--usdt %s:%s: this probe is not in %s (readelf -n FILE lists "
				    "the probes of a file)%s",
				    o->usdt[i].provider, o->usdt[i].name,
				    o->usdt[i].path ? o->usdt[i].path
				    : command	    ? command
						    : "any file of the traced processes",
				    o->usdt[i].path || !command
					    ? ""
					    : ". For a probe of a library, append @FILE");
	return r;
}

static void name_group(struct ty_user_probes *u, const char *root)
{
	snprintf(u->root, sizeof(u->root), "%s", root);
	snprintf(u->group, sizeof(u->group), GROUP "%d_%" PRIu64, (int)getpid(),
		 ty_proc_start_ticks(getpid()));
}

int ty_user_probes_one(struct ty_user_probes *u, const char *root, const char *event,
		       const char *at)
{
	int r;

	name_group(u, root);
	r = probe(u, event, NULL, "p:%s/%s %s", u->group, event, at);
	u->events = !r;
	return r;
}

int ty_user_probes_define(struct ty_user_probes *u, const char *root,
			  const struct ty_user_probe_opts *o, const char *command,
			  const ty_proc_pids *pids, bool all, struct ty_event_set *set,
			  struct ty_err *err)
{
	char path[TY_TRACEFS_PATH + 32];
	int r;

	name_group(u, root);
	u->set = set;
	ty_buf_init(&u->labels, 4u << 20);
	snprintf(path, sizeof(path), "%s/" LIST, root);
	if (access(path, W_OK)) {
		if (!o->spans_n && !o->usdt_n && !o->files_n)
			return 0;
		return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
			       "--span, --usdt and --regions need uprobes, which this kernel does "
			       "not have (%s: %s)",
			       path, strerror(errno));
	}
	r = define(u, o, command, pids, all, err);
	vec_fini(&u->seen);
	return r;
}

/* Does the line define an event of such a group? Then "-:GROUP/EVENT" of it. `own` NULL: the group
 * of a dead recorder. */
static bool removal(const char *line, const char *own, char *out, size_t n)
{
	const char *colon = strchr(line, ':'), *slash = colon ? strchr(colon, '/') : NULL;
	size_t group, event;
	unsigned long long start;
	char owner[TY_PROBE_GROUP];
	int pid, end = 0;

	if (!slash)
		return false;
	group = (size_t)(slash - colon - 1);
	event = strcspn(slash + 1, " \n");
	if (group >= sizeof(owner) || !event || event >= 100)
		return false;
	memcpy(owner, colon + 1, group);
	owner[group] = 0;
	if (own ? strcmp(owner, own) != 0
		: sscanf(owner, GROUP "%d_%llu%n", &pid, &start, &end) != 2 ||
			    (size_t)end != group || pid <= 0 || ty_proc_start_ticks(pid) == start)
		return false;
	snprintf(out, n, "-:%s/%.*s", owner, (int)event, slash + 1);
	return true;
}

static unsigned remove_events(const char *root, const char *own)
{
	char line[TY_PROBE_GROUP + 128], *p;
	unsigned n = 0;
	struct ty_buf b;
	int dir = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	ty_buf_init(&b, 8u << 20);
	if (dir >= 0 && !ty_tracefs_read(dir, LIST, &b, NULL))
		for (p = b.p; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
			if (removal(p, own, line, sizeof(line)) && !put_line(root, line))
				n++;
	if (dir >= 0)
		close(dir);
	ty_buf_fini(&b);
	return n;
}

void ty_user_probes_remove(struct ty_user_probes *u)
{
	if (u->events)
		remove_events(u->root, u->group);
	u->events = 0;
	ty_buf_fini(&u->labels);
}

unsigned ty_user_probes_sweep(const char *root)
{
	return ty_proc_own_pids() ? 0 : remove_events(root, NULL);
}
