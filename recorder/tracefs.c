/* SPDX-License-Identifier: MIT */
/*
 * See tracefs.h. Files: Documentation/trace/ftrace.rst. None of this is on the recording path
 * except ty_instance_stats, which the progress line calls twice a second.
 */
#include "tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <tracefs.h>
#include <unistd.h>

#ifndef TRACEFS_MAGIC
#define TRACEFS_MAGIC 0x74726163
#endif
#define DEFAULT_ROOT "/sys/kernel/tracing"
#define NAME_PREFIX  "tarry-"
#define SMALL_FILE   (4u << 20)

static bool is_tracefs(const char *dir)
{
	struct statfs s;

	return !statfs(dir, &s) && (unsigned long)s.f_type == TRACEFS_MAGIC;
}

/* As libtracefs finds it in /proc/mounts, or below a mounted debugfs. */
static bool find_mounted(char root[TY_TRACEFS_PATH], bool mount)
{
	const char *dir = NULL;

	if (tracefs_tracing_dir_is_mounted(mount, &dir) < 0 || !dir ||
	    strlen(dir) >= TY_TRACEFS_PATH || !is_tracefs(dir))
		return false;
	strcpy(root, dir);
	return true;
}

int ty_tracefs_find(char root[TY_TRACEFS_PATH], bool may_mount, struct ty_err *err)
{
	if (is_tracefs(DEFAULT_ROOT))
		strcpy(root, DEFAULT_ROOT);
	else if (!find_mounted(root, false)) {
		if (access(DEFAULT_ROOT, F_OK))
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "this kernel has no tracefs (%s is missing): it needs "
				       "CONFIG_FTRACE and CONFIG_EVENT_TRACING",
				       DEFAULT_ROOT);
		if (!may_mount)
			return ty_fail(err, TY_ENOTFOUND, TY_NO_OFFSET,
				       "tracefs is not mounted: mount -t tracefs tracefs %s",
				       DEFAULT_ROOT);
		if (!find_mounted(root, true)) {
			int e = errno;

			if (e == EPERM || e == EACCES)
				return ty_fail(
					err, TY_EPERM, TY_NO_OFFSET,
					"tracefs is not mounted, and mounting it is not "
					"permitted: run tarry as root (sudo tarry ...); in a "
					"container, mount it from outside on %s",
					DEFAULT_ROOT);
			errno = e;
			return ty_fail_errno(err,
					     "cannot mount tracefs (mount -t tracefs tracefs %s)",
					     DEFAULT_ROOT);
		}
	}
	if (access(root, R_OK | W_OK | X_OK)) {
		if (errno == EROFS)
			return ty_fail(err, TY_EPERM, TY_NO_OFFSET,
				       "%s is mounted read-only: mount -o remount,rw %s", root,
				       root);
		return ty_fail(err, TY_EPERM, TY_NO_OFFSET,
			       "no permission to use %s: run tarry as root (sudo tarry ...)", root);
	}
	return tracefs_set_tracing_dir(root)
		       ? ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory")
		       : 0;
}

static int written(int r, const char *file, const char *text, struct ty_err *err)
{
	if (r == (int)strlen(text))
		return 0;
	errno = r < 0 ? errno : EIO;
	return ty_fail_errno(err, "cannot write '%.*s' to tracefs file %s",
			     (int)strcspn(text, "\n"), text, file);
}

int ty_instance_write(const struct ty_instance *inst, const char *file, const char *text,
		      bool append, struct ty_err *err)
{
	return written(append ? tracefs_instance_file_append(inst->lib, file, text)
			      : tracefs_instance_file_write(inst->lib, file, text),
		       file, text, err);
}

int ty_instance_event(const struct ty_instance *inst, const char *system, const char *event,
		      const char *file, const char *text, struct ty_err *err)
{
	return written(tracefs_event_file_write(inst->lib, system, event, file, text), file, text,
		       err);
}

bool ty_instance_has(const struct ty_instance *inst, const char *file)
{
	return tracefs_file_exists(inst->lib, file);
}

int ty_tracefs_read(int dirfd, const char *path, struct ty_buf *out, struct ty_err *err)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t at = out->len;

	if (fd < 0)
		return ty_fail_errno(err, "cannot open tracefs file %s", path);
	while (out->len - at < SMALL_FILE) {
		ssize_t r;

		if (ty_buf_reserve(out, 4096)) {
			close(fd);
			return ty_fail(err, -out->failed, TY_NO_OFFSET, "%s: %s", path,
				       ty_strerror(out->failed));
		}
		r = read(fd, out->p + out->len, 4096);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			int e = errno;

			close(fd);
			errno = e;
			return ty_fail_errno(err, "cannot read tracefs file %s", path);
		}
		if (!r)
			break;
		out->len += (size_t)r;
		out->p[out->len] = 0;
	}
	close(fd);
	return 0;
}

bool ty_tracefs_exists(int dirfd, const char *path)
{
	return !faccessat(dirfd, path, F_OK, 0);
}

uint64_t ty_proc_start_ticks(int pid)
{
	char path[64], text[1024], *p;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = 0;
	p = strrchr(text, ')'); /* the name may hold anything */
	if (p && (!strncmp(p, ") Z", 3) || !strncmp(p, ") X", 3)))
		return 0;
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static int set_ring_bytes(const struct ty_instance *inst, uint64_t bytes)
{
	return tracefs_instance_set_buffer_size(inst->lib, (bytes + 1023) / 1024, -1);
}

/* 0 only if the kernel then reports this page size. */
static int set_page_bytes(const struct ty_instance *inst, uint32_t bytes)
{
	static const char file[] = "buffer_subbuf_size_kb";
	long long now;
	char text[16];
	int r;

	snprintf(text, sizeof(text), "%" PRIu32, bytes / 1024);
	r = ty_instance_write(inst, file, text, false, NULL);
	if (!r && (tracefs_instance_file_read_number(inst->lib, file, &now) || now != bytes / 1024))
		r = -TY_EUNSUPPORTED;
	return r;
}

/* Make and open; the ring is sized before events are enabled, so that nothing is copied. */
static int prepare(struct ty_instance *inst, const char *clock, uint64_t ring_bytes,
		   uint32_t page_bytes, struct ty_err *err)
{
	const uint32_t machine = (uint32_t)sysconf(_SC_PAGESIZE);
	int r;

	inst->dir = open(inst->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (inst->dir < 0)
		return ty_fail_errno(err, "cannot open trace instance %s", inst->path);
	inst->on = tracefs_instance_file_open(inst->lib, "tracing_on", O_WRONLY | O_CLOEXEC);
	if (inst->on < 0)
		return ty_fail_errno(err, "cannot open %s/tracing_on", inst->path);
	r = ty_instance_on(inst, false, err);
	if (!r && clock)
		r = ty_instance_write(inst, "trace_clock", clock, false, err);
	inst->page_bytes = machine;
	if (!r && page_bytes > machine && !set_page_bytes(inst, page_bytes))
		inst->page_bytes = page_bytes;
	if (r || !ring_bytes || !set_ring_bytes(inst, ring_bytes))
		return r;
	/* Memory may be there, but not in pieces of this size. */
	if (inst->page_bytes > machine && !set_page_bytes(inst, machine)) {
		inst->page_bytes = machine;
		if (!set_ring_bytes(inst, ring_bytes))
			return 0;
	}
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET,
		       "cannot allocate %" PRIu64
		       " kB of trace buffer per CPU (%s): reduce --buffer",
		       ring_bytes / 1024, strerror(errno));
}

int ty_instance_create(struct ty_instance *inst, const char *root, const char *what,
		       const char *clock, uint64_t ring_bytes, uint32_t page_bytes,
		       struct ty_err *err)
{
	int r;

	*inst = (struct ty_instance){.dir = -1, .on = -1};
	snprintf(inst->name, sizeof(inst->name), NAME_PREFIX "%d-%" PRIu64 "-%s", (int)getpid(),
		 ty_proc_start_ticks(getpid()), what);
	snprintf(inst->path, sizeof(inst->path), "%s/instances/%s", root, inst->name);
	inst->lib = tracefs_instance_create(inst->name);
	if (!inst->lib)
		return ty_fail_errno(err, "cannot create the trace instance %s%s", inst->path,
				     errno == ENOENT ? " (this kernel has no trace instances)"
						     : "");
	if (!tracefs_instance_is_new(inst->lib)) {
		tracefs_instance_free(inst->lib);
		inst->lib = NULL;
		errno = EEXIST;
		return ty_fail_errno(err, "cannot create the trace instance %s", inst->path);
	}
	r = prepare(inst, clock, ring_bytes, page_bytes, err);
	if (r)
		ty_instance_remove(inst);
	return r;
}

int ty_instance_on(const struct ty_instance *inst, bool on, struct ty_err *err)
{
	if (!(on ? tracefs_trace_on_fd : tracefs_trace_off_fd)(inst->on))
		return 0;
	return ty_fail_errno(err, "cannot switch tracing %s in %s", on ? "on" : "off", inst->path);
}

void ty_instance_remove(struct ty_instance *inst)
{
	if (!inst->lib)
		return;
	if (inst->on >= 0) {
		ty_instance_on(inst, false, NULL);
		close(inst->on);
	}
	if (inst->dir >= 0)
		close(inst->dir);
	/* A reader of another program (cat trace_pipe) may keep it for a moment. */
	for (int i = 0; tracefs_instance_destroy(inst->lib) && errno == EBUSY && i < 20; i++)
		usleep(5000);
	tracefs_instance_free(inst->lib);
	*inst = (struct ty_instance){.dir = -1, .on = -1};
}

/*
 * An entry of error_log:
 *   [ 1234.567890] event filter parse error: error: Field not found
 *     Command: foo == 1
 *              ^
 */
bool ty_instance_error(const struct ty_instance *inst, char *out, size_t size)
{
	char *log = tracefs_error_last(inst->lib), *last = NULL, *text, *end;
	bool found = false;

	for (char *p = log; p && *p; p = strchr(p, '\n'), p = p ? p + 1 : NULL)
		if (*p == '[')
			last = p;
	text = last ? strchr(last, ']') : NULL;
	if (text) {
		for (text++; *text == ' ';)
			text++;
		end = text + strcspn(text, "\n");
		if (*end)
			*end++ = 0;
		while (*end && isspace((unsigned char)*end))
			end++;
		if (!strncmp(end, "Command: ", 9)) {
			char *command = end + 9, *mark = command + strcspn(command, "\n");
			size_t col, lead = strlen("  Command: ");

			if (*mark)
				*mark++ = 0;
			col = strcspn(mark, "^");
			if (mark[col] == '^' && col > lead && col - lead < strlen(command))
				snprintf(out, size, "%s (in '%s', before '%s')", text, command,
					 command + col - lead);
			else
				snprintf(out, size, "%s (in '%s')", text, command);
		} else {
			snprintf(out, size, "%s", text);
		}
		found = true;
	}
	free(log);
	return found;
}

/* The recorder that created the instance has ended: no process has that pid and start time. */
static bool owner_is_dead(const char *name)
{
	unsigned long long start;
	int pid;

	if (sscanf(name, NAME_PREFIX "%d-%llu-", &pid, &start) != 2 || pid <= 0)
		return false;
	return ty_proc_start_ticks(pid) != start;
}

unsigned ty_instance_sweep(const char *root)
{
	char dir[TY_TRACEFS_PATH + 16];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	if (ty_proc_own_pids())
		return 0;
	snprintf(dir, sizeof(dir), "%s/instances", root);
	d = opendir(dir);
	if (!d)
		return 0;
	while ((e = readdir(d)))
		if (!strncmp(e->d_name, NAME_PREFIX, strlen(NAME_PREFIX)) &&
		    owner_is_dead(e->d_name) && !unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR))
			n++;
	closedir(d);
	return n;
}

static int read_stats(const struct ty_instance *inst, unsigned cpu, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
	fd = openat(inst->dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -TY_ENOTFOUND;
	n = read(fd, text, size - 1);
	close(fd);
	if (n <= 0)
		return -TY_EIO;
	text[n] = 0;
	return 0;
}

int ty_instance_stats(const struct ty_instance *inst, unsigned cpu, struct ty_cpu_stats *st,
		      struct ty_buf *out)
{
	static const struct {
		const char *key;
		size_t at;
	} keys[] = {
		{"\nentries: ", offsetof(struct ty_cpu_stats, entries)},
		{"\noverrun: ", offsetof(struct ty_cpu_stats, overrun)},
		{"\ncommit overrun: ", offsetof(struct ty_cpu_stats, commit_overrun)},
		{"\ndropped events: ", offsetof(struct ty_cpu_stats, dropped)},
		{"\nread events: ", offsetof(struct ty_cpu_stats, read)},
	};
	char text[1024] = "\n";
	int r = read_stats(inst, cpu, text + 1, sizeof(text) - 1);

	*st = (struct ty_cpu_stats){0};
	if (r)
		return r;
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *p = strstr(text, keys[i].key);

		if (p)
			*(uint64_t *)((char *)st + keys[i].at) =
				strtoull(p + strlen(keys[i].key), NULL, 10);
	}
	return out ? ty_buf_adds(out, text + 1) : 0;
}

uint64_t ty_instance_now_ns(const struct ty_instance *inst)
{
	char text[1024];
	unsigned long long s, us;
	const char *p;

	for (unsigned cpu = 0; cpu < 8; cpu++) {
		if (read_stats(inst, cpu, text, sizeof(text)))
			continue;
		p = strstr(text, "now ts:");
		if (p && sscanf(p, "now ts: %llu.%llu", &s, &us) == 2)
			return s * 1000000000ull + us * 1000;
	}
	return 0;
}

bool ty_proc_own_pids(void)
{
	char link[64] = "";

	return readlink("/proc/self/ns/pid", link, sizeof(link) - 1) > 0 &&
	       strcmp(link, "pid:[4026531836]") != 0;
}
