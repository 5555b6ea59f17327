/* SPDX-License-Identifier: MIT */
/*
 * Index files; see index_file.h.
 *
 * Invariants: a file gets its name by rename(2) after all its bytes are written, so that a reader
 * sees a whole file or none; after a power cut, hashes detect damage. Only the user's own regular
 * files are read, never through a symbolic link (an owner who truncates the file during use kills
 * the process by SIGBUS, session/sigbus.c).
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

#include "cache_folder.h"
#include "model_priv.h"
#include "file_owner.h"

#define MAGIC	"tarryidx"
#define VERSION 12u	    /* to be raised when the same trace gives another model */
#define SAMPLE	(64u << 10) /* of the trace's start and end */

/* Identifies a trace. */
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
	uint64_t hash; /* of all before and the body */
};

_Static_assert(sizeof(struct head) + TY_INDEX_BODY_MAX <= TY_STORE_HEAD, "they fit their place");

struct ty_index_write {
	char final[PATH_MAX], temp[PATH_MAX]; /* temp: "" while the file has no name */
	const struct ty_index_kind *kind;
	struct identity trace;
	uint8_t head[TY_STORE_HEAD];
	bool wanted;
};

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

static bool beside(const char *suffix, const char *trace, char out[PATH_MAX])
{
	const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
	int n = snprintf(out, PATH_MAX, "%.*s.%s.%s", (int)(name - trace), trace, name, suffix);

	return n > 0 && n < PATH_MAX && *name;
}

/* make: create the folder. */
static bool cached(const char *suffix, const char *trace, bool make, char out[PATH_MAX])
{
	char real[PATH_MAX], dir[PATH_MAX];
	int n;

	if (!realpath(trace, real) || !ty_cache_folder(make, dir))
		return false;
	n = snprintf(out, PATH_MAX, "%s/%016llx.%s", dir,
		     (unsigned long long)ty_store_hash(real, strlen(real)), suffix);
	return n > 0 && n < PATH_MAX;
}

/* The hash of a head that its body follows, as it should be. */
static uint64_t head_hash(const uint8_t *head, size_t body_bytes)
{
	uint8_t whole[TY_STORE_HEAD];

	memcpy(whole, head, sizeof(struct head) + body_bytes);
	memset(whole + offsetof(struct head, hash), 0, sizeof(uint64_t));
	return ty_store_hash(whole, sizeof(struct head) + body_bytes);
}

/* reading ----------------------------------------------------------------------------------- */

static struct ty_store *load(const struct ty_index_kind *kind, const char *path,
			     const struct identity *id, void *body)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct ty_store *store = NULL;
	uint8_t page[TY_STORE_HEAD];
	struct stat st;
	struct head h;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && ty_file_owner_is_ours(st.st_uid) &&
	    pread(fd, page, sizeof(page), 0) == sizeof(page)) {
		memcpy(&h, page, sizeof(h));
		if (!memcmp(h.magic, MAGIC, 8) && h.version == VERSION &&
		    h.head_bytes == sizeof(h) + kind->body_bytes && h.layout == kind->layout() &&
		    h.file_bytes == (uint64_t)st.st_size && !memcmp(&h.trace, id, sizeof(*id)) &&
		    h.hash == head_hash(page, kind->body_bytes)) {
			memcpy(body, page + sizeof(h), kind->body_bytes);
			store = ty_store_map(fd, h.file_bytes);
		}
	}
	close(fd);
	return store;
}

bool ty_index_load(const struct ty_index_kind *kind, const char *trace_path, int trace_fd,
		   void *body, bool (*attach)(void *ctx, struct ty_store *store), void *ctx)
{
	struct ty_store *store;
	struct identity id;
	char path[PATH_MAX];

	if (!identify(trace_fd, &id))
		return false;
	if (beside(kind->suffix, trace_path, path)) {
		store = load(kind, path, &id, body);
		if (store && attach(ctx, store))
			return true;
	}
	if (!cached(kind->suffix, trace_path, false, path))
		return false;
	store = load(kind, path, &id, body);
	return store && attach(ctx, store);
}

void ty_index_remove(const char *trace_path)
{
	static const char *const suffixes[] = {TY_INDEX_OF_MODEL, TY_INDEX_OF_SAMPLES};
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		if (beside(suffixes[i], trace_path, path))
			unlink(path);
		if (cached(suffixes[i], trace_path, false, path))
			unlink(path);
	}
}

/* writing ----------------------------------------------------------------------------------- */

/* A nameless file in the folder of path; where there are none such, one with a temporary name. */
static int create(const char *path, char temp[PATH_MAX])
{
	char dir[PATH_MAX];
	int fd, n;

	ty_folder_of(path, dir);
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
	struct head h;

	if (ok && w->wanted && !posix_memalign(&page, TY_STORE_HEAD, TY_STORE_HEAD)) {
		memcpy(page, w->head, TY_STORE_HEAD);
		memcpy(&h, w->head, sizeof(h));
		if (pwrite(fd, page, TY_STORE_HEAD, 0) == TY_STORE_HEAD &&
		    !ftruncate(fd, (off_t)h.file_bytes))
			give_name(w, fd);
	}
	if (w->temp[0])
		unlink(w->temp);
	free(page);
	free(w);
}

struct ty_index_write *ty_index_begin(const struct ty_index_kind *kind, struct ty_store *store,
				      const char *trace_path, int trace_fd)
{
	struct ty_index_write *w = calloc(1, sizeof(*w));
	char dir[PATH_MAX];
	struct stat st;
	int fd = -1;

	if (!w || !identify(trace_fd, &w->trace))
		goto none;
	w->kind = kind;
	ty_folder_of(trace_path, dir);
	/* Not into another user's folder, though root may. */
	if (beside(kind->suffix, trace_path, w->final) && !stat(dir, &st) &&
	    ty_file_owner_is_ours(st.st_uid))
		fd = create(w->final, w->temp);
	if (fd < 0 && cached(kind->suffix, trace_path, true, w->final))
		fd = create(w->final, w->temp);
	if (fd < 0)
		goto none;
	ty_cache_give(fd, w->final);
	ty_folder_of(w->final, dir);
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

void ty_index_commit(struct ty_index_write *w, struct ty_store *store, const void *body)
{
	struct head h = {.version = VERSION,
			 .head_bytes = (uint32_t)(sizeof(h) + w->kind->body_bytes),
			 .layout = w->kind->layout(),
			 .file_bytes = store->used,
			 .trace = w->trace};

	memcpy(h.magic, MAGIC, 8);
	memcpy(w->head, &h, sizeof(h));
	memcpy(w->head + sizeof(h), body, w->kind->body_bytes);
	h.hash = head_hash(w->head, w->kind->body_bytes);
	memcpy(w->head, &h, sizeof(h));
	w->wanted = true;
	ty_store_close_file(store);
}

void ty_index_seal(struct ty_store *store, struct ty_index_part *parts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		parts[i].hash = ty_store_hash(ty_store_at(store, parts[i].off), parts[i].bytes);
}
