/* SPDX-License-Identifier: MIT */
/*
 * Index files; see index_file.h.
 *
 * Invariants: a file gets its name by rename(2) when all its bytes are written, so that a reader
 * sees a whole one or none; after a power cut, hashes tell. Read are only regular files of our own
 * (one that its owner cuts short ends us by SIGBUS, cli/bus.c), not through a symbolic link.
 */
#include "index_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model_priv.h"

#define MAGIC	"tarryidx"
#define VERSION 2u	    /* to be raised when the same trace gives another model */
#define SAMPLE	(64u << 10) /* of the trace's begin and end */

/* What a trace is known by. */
struct identity {
	uint64_t bytes, inode;
	int64_t mtime_ns;
	uint64_t sample; /* hash of its first and last bytes */
};

struct head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes;
	uint64_t layout; /* hash of this program's version and the sizes of what is stored */
	uint64_t file_bytes;
	struct identity trace;
	struct ty_index_body body;
	uint64_t hash; /* of all before */
};

_Static_assert(sizeof(struct head) <= TY_STORE_HEAD, "the head fits its place");

struct ty_index_write {
	char final[PATH_MAX], temp[PATH_MAX]; /* temp: "" while the file has no name */
	struct head head;
	bool wanted;
};

static uint64_t layout(void)
{
	struct {
		char version[32];
		uint32_t size[TY_SECTION_IDS], rows[TY_TABLES], one, other[4];
	} l;

	memset(&l, 0, sizeof(l));
	snprintf(l.version, sizeof(l.version), "%s", TY_VERSION);
	l.one = 1; /* byte order */
#define X(id, type, v, n) l.size[TY_S_##id] = sizeof(type);
	TY_SECTIONS(X)
#undef X
	for (unsigned i = 0; i < TY_TABLES; i++)
		l.rows[i] = ty_table_kinds[i].row_bytes;
	l.other[0] = sizeof(struct ty_node);
	l.other[1] = sizeof(struct ty_block_head);
	l.other[2] = TY_BLOCK_ROWS;
	l.other[3] = TY_NODE_FAN;
	return ty_store_hash(&l, sizeof(l));
}

/* Of the open file, not of a path, where another file may lie by now. */
static bool identify(int fd, struct identity *id)
{
	uint8_t *buf = malloc(2 * SAMPLE);
	ssize_t a = -1, b = -1;
	struct stat st;

	if (buf && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		*id = (struct identity){
			.bytes = (uint64_t)st.st_size,
			.inode = st.st_ino,
			.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
		};
		a = pread(fd, buf, SAMPLE, 0);
		b = a < 0 ? -1
			  : pread(fd, buf + a, SAMPLE,
				  st.st_size > SAMPLE ? st.st_size - (off_t)SAMPLE : 0);
		if (b >= 0)
			id->sample = ty_store_hash(buf, (size_t)(a + b));
	}
	free(buf);
	return b >= 0;
}

/* places ------------------------------------------------------------------------------------ */

static bool beside(const char *trace, char out[PATH_MAX])
{
	const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
	int n = snprintf(out, PATH_MAX, "%.*s.%s.tarry-index", (int)(name - trace), trace, name);

	return n > 0 && n < PATH_MAX && *name;
}

/* make: create the folder. */
static bool cached(const char *trace, bool make, char out[PATH_MAX])
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char real[PATH_MAX], dir[PATH_MAX];
	int n;

	if (!realpath(trace, real))
		return false;
	if (base && *base == '/')
		n = snprintf(dir, sizeof(dir), "%s/tarry", base);
	else if (home && *home == '/')
		n = snprintf(dir, sizeof(dir), "%s/.cache/tarry", home);
	else
		return false;
	if (n >= PATH_MAX)
		return false;
	if (make) {
		char *slash = strrchr(dir, '/');

		*slash = 0;
		mkdir(dir, 0700);
		*slash = '/';
		mkdir(dir, 0700);
	}
	n = snprintf(out, PATH_MAX, "%s/%016llx.tarry-index", dir,
		     (unsigned long long)ty_store_hash(real, strlen(real)));
	return n > 0 && n < PATH_MAX;
}

static void dir_of(const char *path, char out[PATH_MAX])
{
	char *slash;

	snprintf(out, PATH_MAX, "%s", path);
	slash = strrchr(out, '/');
	if (!slash)
		strcpy(out, ".");
	else
		slash[slash == out] = 0;
}

/* reading ----------------------------------------------------------------------------------- */

static struct ty_model *load(const char *path, const struct identity *id)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct ty_model *m = NULL;
	struct stat st;
	struct head h;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    pread(fd, &h, sizeof(h), 0) == sizeof(h) && !memcmp(h.magic, MAGIC, 8) &&
	    h.version == VERSION && h.head_bytes == sizeof(h) && h.layout == layout() &&
	    h.file_bytes == (uint64_t)st.st_size && !memcmp(&h.trace, id, sizeof(*id)) &&
	    h.hash == ty_store_hash(&h, offsetof(struct head, hash)))
		m = calloc(1, sizeof(*m));
	if (m) {
		m->body = h.body;
		m->store = ty_store_map(fd, h.file_bytes);
		if (!m->store || ty_model_attach(m, true)) {
			ty_model_free(m);
			m = NULL;
		}
	}
	close(fd);
	return m;
}

int ty_index_open(const char *trace_path, int trace_fd, struct ty_model **out)
{
	struct identity id;
	char path[PATH_MAX];

	*out = NULL;
	if (!identify(trace_fd, &id))
		return 0;
	if (beside(trace_path, path))
		*out = load(path, &id);
	if (!*out && cached(trace_path, false, path))
		*out = load(path, &id);
	return *out != NULL;
}

void ty_index_remove(const char *trace_path)
{
	char path[PATH_MAX];

	if (beside(trace_path, path))
		unlink(path);
	if (cached(trace_path, false, path))
		unlink(path);
}

/* writing ----------------------------------------------------------------------------------- */

/* A nameless file in the folder of path; where there are none such, one with a temporary name. */
static int create(const char *path, char temp[PATH_MAX])
{
	char dir[PATH_MAX];
	int fd, n;

	dir_of(path, dir);
	temp[0] = 0;
	fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_DIRECT, 0600);
	if (fd < 0 && errno == EINVAL) /* no direct writes there */
		fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	n = snprintf(temp, PATH_MAX, "%s.%ld", path, (long)getpid());
	if (n < 0 || n >= PATH_MAX)
		return -1;
	unlink(temp); /* of a process of that number that was killed */
	return open(temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool give_name(struct ty_index_write *w, int fd)
{
	char proc[64];

	if (!w->temp[0]) {
		int n = snprintf(w->temp, sizeof(w->temp), "%s.%ld", w->final, (long)getpid());

		snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
		if (n < 0 || n >= (int)sizeof(w->temp))
			return false;
		unlink(w->temp);
		if (linkat(AT_FDCWD, proc, AT_FDCWD, w->temp, AT_SYMLINK_FOLLOW)) {
			w->temp[0] = 0;
			return false;
		}
	}
	if (rename(w->temp, w->final))
		return false;
	w->temp[0] = 0;
	return true;
}

/* In the writing thread. What fails leaves no index, which costs time at the next open only. */
static void finish(void *ctx, int fd, bool ok)
{
	struct ty_index_write *w = ctx;
	void *page = NULL;

	if (ok && w->wanted && !posix_memalign(&page, TY_STORE_HEAD, TY_STORE_HEAD)) {
		memset(page, 0, TY_STORE_HEAD);
		memcpy(page, &w->head, sizeof(w->head));
		if (pwrite(fd, page, TY_STORE_HEAD, 0) == TY_STORE_HEAD &&
		    !ftruncate(fd, (off_t)w->head.file_bytes))
			give_name(w, fd);
	}
	if (w->temp[0])
		unlink(w->temp);
	free(page);
	free(w);
}

struct ty_index_write *ty_index_begin(struct ty_store *store, const char *trace_path, int trace_fd)
{
	struct ty_index_write *w = calloc(1, sizeof(*w));
	char dir[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (!w || !identify(trace_fd, &w->head.trace))
		goto none;
	dir_of(trace_path, dir);
	/* Not into somebody else's folder, though root may. */
	if (beside(trace_path, w->final) && !stat(dir, &st) && st.st_uid == geteuid())
		fd = create(w->final, w->temp);
	if (fd < 0 && cached(trace_path, true, w->final))
		fd = create(w->final, w->temp);
	if (fd < 0)
		goto none;
	dir_of(w->final, dir);
	if (ty_store_file(store, fd, dir, finish, w)) {
		close(fd);
		if (w->temp[0])
			unlink(w->temp);
		goto none;
	}
	return w;
none:
	free(w);
	return NULL;
}

void ty_index_commit(struct ty_index_write *w, struct ty_model *m)
{
	struct head *h = &w->head;

	for (unsigned i = 0; i < TY_TABLES; i++) {
		struct ty_index_part *p = &m->body.table[i];

		p->hash = ty_store_hash(ty_store_at(m->store, p->off), p->bytes);
	}
	for (unsigned i = 0; i < TY_SECTION_IDS; i++) {
		struct ty_index_part *p = &m->body.section[i];

		p->hash = ty_store_hash(ty_store_at(m->store, p->off), p->bytes);
	}
	memcpy(h->magic, MAGIC, 8);
	h->version = VERSION;
	h->head_bytes = sizeof(*h);
	h->layout = layout();
	h->file_bytes = m->store->used;
	memcpy(&h->body, &m->body, sizeof(h->body));
	h->hash = ty_store_hash(h, offsetof(struct head, hash));
	w->wanted = true;
	ty_store_close_file(m->store);
}
