/* SPDX-License-Identifier: MIT */
/* See flow_files.h. */
#include "flow_files.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base_name.h"
#include "debuginfod.h"
#include "first_line.h"
#include "key_value.h"
#include "plain_text.h"
#include "sigbus.h"
#include "vdso.h"
#include "vec.h"

enum { NOTES_MAX = 8 };
#define SLACK_NS 1000000000 /* between clocks of files, of processes and of the recording */

struct ty_flow_files {
	const char *const *roots;
	size_t roots_n;
	bool local, same_boot;
	int64_t from_ns, to_ns; /* when it was recorded; the same: unknown */
	struct ty_bytes vdso;	/* the recording's; n 0: it has none */
	char cache[PATH_MAX];	/* perf's own, "" none */
	VEC(struct ty_bytes) maps;
	struct ty_debuginfod *debuginfod; /* NULL: not requested */
	VEC(char *) notes;
	size_t more_notes;
};

/* A file that is searched. */
struct wanted {
	const uint8_t *id;
	size_t id_n;
	const uint32_t *crc; /* of all its bytes, where one of the two has no build id; NULL */
	char other[PATH_MAX + 4 * TY_BUILD_ID_MAX + 100]; /* one that was found, but is another */
};

static void unmap(const struct ty_bytes *m)
{
	ty_sigbus_forget(m->p);
	munmap((void *)m->p, m->n);
}

struct ty_flow_files *ty_flow_files_new(const char *const *roots, size_t roots_n)
{
	struct ty_flow_files *f = calloc(1, sizeof(*f));
	const char *home = getenv("HOME");

	if (!f)
		return NULL;
	f->roots = roots;
	f->roots_n = roots_n;
	f->debuginfod = ty_debuginfod_new();
	if (home && *home)
		snprintf(f->cache, sizeof(f->cache), "%s/.debug", home);
	return f;
}

void ty_flow_files_free(struct ty_flow_files *f)
{
	if (!f)
		return;
	vec_each (m, &f->maps)
		unmap(m);
	vec_each (n, &f->notes)
		free(*n);
	vec_fini(&f->notes);
	vec_fini(&f->maps);
	ty_debuginfod_free(f->debuginfod);
	free(f);
}

void ty_flow_files_local(struct ty_flow_files *f, bool local, bool same_boot)
{
	f->local = local;
	f->same_boot = local && same_boot;
}

bool ty_flow_files_this_boot(struct ty_flow_files *f, const struct ty_trace *t)
{
	const char *machine = ty_trace_section(t, TY_SEC_MACHINE).s,
		   *self = ty_trace_section(t, TY_SEC_SELF).s;
	int64_t start, end, n;
	struct timespec now, up;
	char other[32];

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	if (!ty_key_i64(machine, "start_realtime_ns", &start) ||
	    start / 1000000000 <= now.tv_sec - up.tv_sec)
		return false;
	if (!ty_key_i64(self, "duration_ns", &n) || n < 0 || n > (int64_t)1 << 60 ||
	    start > (int64_t)1 << 61)
		return true;
	/* Older recordings do not contain their end, and begin somewhat later than they say. */
	if (!ty_key_i64(self, "end_realtime_ns", &end) || end < start || end > (int64_t)1 << 61)
		end = start + n;
	if (!ty_key_value(machine, "pid_namespace", other, sizeof(other))) {
		f->from_ns = start - SLACK_NS;
		f->to_ns = end + SLACK_NS;
	}
	return true;
}

bool ty_is_this_host(const char *host)
{
	char here[256] = "";

	gethostname(here, sizeof(here) - 1);
	return host && *host && !strcmp(host, here);
}

void ty_flow_files_of(struct ty_flow_files *f, const struct ty_trace *t)
{
	char host[256] = "";

	ty_key_value(ty_trace_section(t, TY_SEC_MACHINE).s, "host", host, sizeof(host));
	ty_flow_files_local(f, ty_is_this_host(host), ty_flow_files_this_boot(f, t));
}

void ty_flow_files_vdso(struct ty_flow_files *f, struct ty_bytes vdso)
{
	f->vdso = vdso;
}

static int64_t ns_of(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* fd is closed. */
static int map_fd(struct ty_flow_files *f, int fd, const char *path, struct ty_bytes *out,
		  struct ty_err *err)
{
	struct stat st;
	void *p;
	int r = 0;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return ty_fail(err, TY_EIO, TY_NO_OFFSET, "%s is not a regular file", path);
	}
	if (!st.st_size) {
		close(fd);
		return ty_fail(err, TY_EFORMAT, 0, "%s is empty", path);
	}
	/* libdw writes into the headers of compressed sections, here only. */
	p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		r = ty_fail_errno(err, "%s: cannot map", path);
	close(fd);
	if (r)
		return r;
	*out = (struct ty_bytes){.p = p, .n = (size_t)st.st_size};
	if (vec_push(&f->maps, *out)) {
		munmap(p, (size_t)st.st_size);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", path);
	}
	ty_sigbus_watch(p, (size_t)st.st_size, path);
	return 0;
}

int ty_flow_files_read(struct ty_flow_files *f, const char *path, struct ty_bytes *out,
		       struct ty_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? ty_fail_errno(err, "%s: cannot open", path) : map_fd(f, fd, path, out, err);
}

static void hex(const uint8_t *id, size_t n, char out[2 * TY_BUILD_ID_MAX + 1])
{
	*out = 0;
	for (size_t i = 0; i < n && i < TY_BUILD_ID_MAX; i++)
		sprintf(out + 2 * i, "%02x", id[i]);
}

static bool is_wanted(struct wanted *w, const char *path, struct ty_bytes b)
{
	char got[2 * TY_BUILD_ID_MAX + 1], want[2 * TY_BUILD_ID_MAX + 1];
	uint8_t id[TY_BUILD_ID_MAX];
	size_t n;

	if (!w->id_n && !w->crc)
		return true;
	n = ty_elf_build_id(b.p, b.n, id);
	if (w->crc && (!w->id_n || !n)) {
		if (crc32_z(0, b.p, b.n) == *w->crc)
			return true;
		snprintf(w->other, sizeof(w->other),
			 "%s is not used: its checksum differs from the one in the program", path);
		return false;
	}
	/* perf pads short ids with zeros. */
	if (n && n <= w->id_n && !memcmp(id, w->id, n))
		return true;
	hex(id, n, got);
	hex(w->id, w->id_n, want);
	snprintf(w->other, sizeof(w->other),
		 "%s is not used: its build id is %s, the recorded one is %s", path,
		 n ? got : "missing", want);
	return false;
}

/* fd is closed. */
static bool attempt_fd(struct ty_flow_files *f, int fd, const char *path, struct wanted *w,
		       struct ty_bytes *out)
{
	if (map_fd(f, fd, path, out, NULL))
		return false;
	if (is_wanted(w, path, *out))
		return true;
	unmap(out);
	f->maps.n--;
	*out = (struct ty_bytes){0};
	return false;
}

static bool attempt(struct ty_flow_files *f, const char *path, struct wanted *w,
		    struct ty_bytes *out)
{
	struct stat st;
	/* The path is the recording's: to open a device may do something. */
	int fd = !stat(path, &st) && S_ISREG(st.st_mode)
			 ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
			 : -1;

	return fd >= 0 && attempt_fd(f, fd, path, w, out);
}

/* By build id, as perf's cache and debug packages have it. */
static bool by_id(struct ty_flow_files *f, const char *root, struct wanted *w, struct ty_bytes *out)
{
	static const char *const in[] = {"", "/elf", "/vdso"};
	char full[PATH_MAX], id[2 * TY_BUILD_ID_MAX + 1];

	hex(w->id, w->id_n, id);
	for (size_t i = 0; w->id_n > 1 && i < sizeof(in) / sizeof(*in); i++) {
		snprintf(full, sizeof(full), "%s/.build-id/%.2s/%s%s", root, id, id + 2, in[i]);
		if (attempt(f, full, w, out))
			return true;
	}
	return false;
}

/* The recording's own; or that of this very process, which is every process', when the kernel is
 * the one that ran. */
static bool vdso(struct ty_flow_files *f, struct wanted *w, struct ty_bytes *out)
{
	*out = f->vdso;
	if (out->n)
		return is_wanted(w, "the recording's vdso", *out);
	out->p = ty_vdso(&out->n);
	return out->p && (w->id_n || f->same_boot) && is_wanted(w, "this machine's vdso", *out);
}

/* When the process began, by the wall clock; false: there is none. */
static bool began(int pid, int64_t *ns)
{
	unsigned long long ticks;
	struct timespec now, up;
	bool known = false;
	char line[1024];
	const char *s;

	ty_first_line(line, sizeof(line), "/proc/%d/stat", pid);
	/* The 22nd field; the second one may hold anything. */
	s = strrchr(line, ')');
	if (s)
		known = sscanf(s,
			       ") %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			       "%*s %*s %*s %llu",
			       &ticks) == 1;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	if (known)
		*ns = ns_of(now) - ns_of(up) +
		      (int64_t)(ticks * (1000000000ull / (unsigned long)sysconf(_SC_CLK_TCK)));
	return known;
}

/*
 * Is it a JIT compiler's map of the recorded process? Its name is a number that other processes
 * have before and after, and any user may write one.
 */
static bool is_its_map(const struct ty_flow_files *f, int pid, const struct stat *st)
{
	const int64_t written = ns_of(st->st_mtim);
	bool trusted = !st->st_uid || st->st_uid == geteuid();
	struct stat proc;
	char name[64];
	int64_t begin;

	if (f->from_ns == f->to_ns)
		return false;
	/* It has ended, and another one may have its number by now. */
	if (!began(pid, &begin) || begin > f->to_ns)
		return trusted && written >= f->from_ns && written <= f->to_ns;
	snprintf(name, sizeof(name), "/proc/%d", pid);
	trusted = trusted || (!stat(name, &proc) && proc.st_uid == st->st_uid);
	return trusted && written >= begin - SLACK_NS;
}

static bool attempt_map(struct ty_flow_files *f, const char *path, int pid, struct wanted *w,
			struct ty_bytes *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && is_its_map(f, pid, &st))
		return !map_fd(f, fd, path, out, NULL);
	close(fd);
	snprintf(w->other, sizeof(w->other),
		 "%s is not used: tarry cannot verify that the recorded process wrote it. If it "
		 "did, copy "
		 "it to DIR/tmp and give --symfs DIR",
		 path);
	return false;
}

/* A JIT compiler's map where the process wrote it; in a container that is in there, by the number
 * that the process has there. */
static bool map_of(struct ty_flow_files *f, const char *path, int pid, struct wanted *w,
		   struct ty_bytes *out)
{
	char name[64], line[256], *last;
	int own = 0;
	FILE *status;

	if (attempt_map(f, path, pid, w, out))
		return true;
	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	status = fopen(name, "re");
	while (status && !own && fgets(line, sizeof(line), status))
		if (!strncmp(line, "NSpid:", 6)) {
			last = strrchr(line, '\t');
			own = last ? atoi(last + 1) : 0;
		}
	if (status)
		fclose(status);
	snprintf(name, sizeof(name), "/proc/%d/root/tmp/perf-%d.map", pid, own);
	return own > 0 && attempt_map(f, name, pid, w, out);
}

/* At its own path. */
static bool in_place(struct ty_flow_files *f, const char *path, struct wanted *w,
		     struct ty_bytes *out)
{
	int pid, end = 0;

	if (sscanf(path, "/tmp/perf-%d.map%n", &pid, &end) == 1 && end && !path[end])
		return f->local && map_of(f, path, pid, w, out);
	return attempt(f, path, w, out);
}

static bool find(struct ty_flow_files *f, const char *path, struct wanted *w, struct ty_bytes *out)
{
	const char *base = ty_base_name(path);
	char full[PATH_MAX];
	int fd;

	for (size_t i = 0; i < f->roots_n; i++) {
		snprintf(full, sizeof(full), "%s/%s", f->roots[i], path);
		if (attempt(f, full, w, out))
			return true;
		snprintf(full, sizeof(full), "%s/%s", f->roots[i], base);
		if (*base && attempt(f, full, w, out))
			return true;
		if (by_id(f, f->roots[i], w, out))
			return true;
	}
	/* Another machine's file at its own path is a different file, unless its build id says
	 * otherwise. */
	if (*path == '/' && strncmp(path, "//", 2) && (f->local || w->id_n) &&
	    in_place(f, path, w, out))
		return true;
	if (!strcmp(path, "[vdso]") && vdso(f, w, out))
		return true;
	if (*f->cache && by_id(f, f->cache, w, out))
		return true;
	fd = f->debuginfod && w->id_n && *path == '/'
		     ? ty_debuginfod_executable(f->debuginfod, w->id, w->id_n)
		     : -1;
	return fd >= 0 && attempt_fd(f, fd, path, w, out);
}

static void note(struct ty_flow_files *f, const struct wanted *w)
{
	char *text = f->notes.n < NOTES_MAX ? strdup(w->other) : NULL;

	if (!text || vec_push(&f->notes, text)) {
		free(text);
		f->more_notes++;
	}
}

int ty_flow_files_load(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
		       struct ty_bytes *out)
{
	struct ty_flow_files *f = ctx;
	struct wanted w = {.id = build_id, .id_n = build_id_n};

	*out = (struct ty_bytes){0};
	if (find(f, path, &w, out))
		return 0;
	*out = (struct ty_bytes){0};
	if (w.other[0])
		note(f, &w);
	return -TY_ENOTFOUND;
}

/* Below a root ("": this machine's), in the places of gdb: by build id, then by the name in the
 * stripped file, beside it, in .debug beside it, and below the root with its path. */
static bool debug_below(struct ty_flow_files *f, const char *root, const char *path,
			const char *link, struct wanted *w, struct ty_bytes *out)
{
	static const char *const by_id[] = {"/usr/lib/debug", ""};
	static const char *const by_link[][2] = {{"", ""}, {"", "/.debug"}, {"/usr/lib/debug", ""}};
	char full[2 * PATH_MAX], id[2 * TY_BUILD_ID_MAX + 1];
	const char *base = strrchr(path, '/');

	hex(w->id, w->id_n, id);
	for (size_t i = 0; w->id_n > 1 && i < (*root ? 2 : 1); i++) {
		snprintf(full, sizeof(full), "%s%s/.build-id/%.2s/%s.debug", root, by_id[i], id,
			 id + 2);
		if (attempt(f, full, w, out))
			return true;
	}
	for (size_t i = 0; link && base && i < sizeof(by_link) / sizeof(*by_link); i++) {
		snprintf(full, sizeof(full), "%s%s%.*s%s/%s", root, by_link[i][0],
			 (int)(base - path), path, by_link[i][1], link);
		if (attempt(f, full, w, out))
			return true;
	}
	return false;
}

/* By the servers that the user has named. */
static bool debug_served(struct ty_flow_files *f, struct wanted *w, struct ty_bytes *out)
{
	int fd = f->debuginfod && w->id_n ? ty_debuginfod_names(f->debuginfod, w->id, w->id_n) : -1;

	return fd >= 0 && attempt_fd(f, fd, "the file of a debuginfod server", w, out);
}

struct ty_symbols *ty_flow_files_symbols(void *ctx, const char *path, struct ty_bytes b)
{
	struct ty_symbols *s = ty_symbols_new(b.p, b.n);
	struct ty_flow_files *f = ctx;
	uint8_t id[TY_BUILD_ID_MAX];
	struct wanted w = {.id = id};
	struct ty_bytes debug = {0};
	const char *link;
	uint32_t crc;
	bool found = false;

	if (!s || ty_symbols_whole(s))
		return s;
	/* A mapping without a path (the vdso) is identified by its build id only. */
	link = *path == '/' ? ty_symbols_link(s, &crc) : NULL;
	w.crc = link ? &crc : NULL;
	w.id_n = ty_elf_build_id(b.p, b.n, id);
	for (size_t i = 0; !found && i < f->roots_n; i++)
		found = debug_below(f, f->roots[i], path, link, &w, &debug);
	found = found || debug_below(f, "", path, link, &w, &debug) || debug_served(f, &w, &debug);
	if (found)
		ty_symbols_debug(s, debug.p, debug.n);
	else if (w.other[0])
		note(f, &w);
	return s;
}

void ty_flow_files_note(struct ty_flow_files *f)
{
	vec_each (n, &f->notes)
		ty_say("tarry: %s\n", *n);
	if (f->more_notes)
		ty_say(f->more_notes == 1 ? "tarry: %zu more file differs from the recorded one "
					    "and is not used\n"
					  : "tarry: %zu more files differ from the recorded ones "
					    "and are not used\n",
		       f->more_notes);
}
