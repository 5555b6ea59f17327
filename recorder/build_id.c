/* SPDX-License-Identifier: MIT */
/* See build_id.h. ELF: System V ABI, "Program Header", "Note Section". */
#include "build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "pair_map.h"
#include "read_pool.h"
#include "unaligned.h"
#include "vec.h"

enum { PHDRS_MAX = 256, NOTES_MAX = 65536, FILES_MAX = 65536, WAIT_MS = 500 };

/* Of the file that st is of; -1: it cannot be read now. Never waits for the holder of a lease, or
 * for a writer of a FIFO that came to that place meanwhile. */
static int read_id(const char *path, const struct stat *st, uint8_t id[20])
{
	int fd = S_ISREG(st->st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
				      : -1;
	struct stat now;
	uint8_t notes[NOTES_MAX];
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned got = 0;

	if (fd < 0)
		return -1;
	if (fstat(fd, &now) || now.st_dev != st->st_dev || now.st_ino != st->st_ino ||
	    pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh.e_phentsize != sizeof(ph))
		eh.e_phnum = 0;
	for (unsigned i = 0; i < eh.e_phnum && i < PHDRS_MAX && !got; i++) {
		ssize_t n;
		size_t at = 0;

		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) !=
		    (ssize_t)sizeof(ph))
			break;
		if (ph.p_type != PT_NOTE)
			continue;
		n = pread(fd, notes, ph.p_filesz < NOTES_MAX ? ph.p_filesz : NOTES_MAX,
			  (off_t)ph.p_offset);
		while (n > 0 && at + sizeof(Elf64_Nhdr) <= (size_t)n) {
			Elf64_Nhdr nh;
			size_t name = at + sizeof(nh), desc, end;

			memcpy(&nh, notes + at, sizeof(nh));
			desc = name + ((size_t)nh.n_namesz + 3) / 4 * 4;
			end = desc + ((size_t)nh.n_descsz + 3) / 4 * 4;
			if (end > (size_t)n || end <= at)
				break;
			if (nh.n_type == NT_GNU_BUILD_ID && nh.n_namesz == 4 &&
			    !memcmp(notes + name, "GNU", 4) && nh.n_descsz) {
				got = nh.n_descsz < 20 ? nh.n_descsz : 20;
				memcpy(id, notes + desc, got);
				break;
			}
			at = end;
		}
	}
	close(fd);
	return (int)got;
}

unsigned ty_file_build_id(const char *path, uint8_t id[20])
{
	struct stat st;
	int n = stat(path, &st) ? 0 : read_id(path, &st, id);

	return n > 0 ? (unsigned)n : 0;
}

struct known {
	struct timespec changed; /* ctime of the file */
	uint8_t id[20], n;
};

/* A mapping's file, as the record has it, and its build id when the thread has looked. */
struct question {
	char name[PATH_MAX], link[96];
	dev_t dev;
	uint64_t ino;
	uint8_t id[20], n;
};

struct ty_build_ids {
	struct ty_read_pool *pool;  /* of one thread */
	struct question q;	    /* the thread's, as is all below, while it has one to answer */
	struct ty_pair_map by_file; /* device and inode: index of known */
	VEC(struct known) known;
};

/* The file at path, read only if it was not yet, or has changed since. */
static int read_once(struct ty_build_ids *b, const char *path, const struct stat *st,
		     uint8_t id[20])
{
	const bool room = b->known.n < FILES_MAX && !vec_reserve(&b->known, b->known.n + 1);
	uint32_t *add = room ? ty_pair_map_add(&b->by_file, st->st_dev, st->st_ino) : NULL,
		 i = ty_pair_map_get(&b->by_file, st->st_dev, st->st_ino);
	struct known *k;

	if (add && i == TY_PAIR_NONE) {
		*add = i = (uint32_t)b->known.n++;
		b->known.v[i] = (struct known){.changed.tv_nsec = -1};
	}
	if (i == TY_PAIR_NONE)
		return read_id(path, st, id);
	k = &b->known.v[i];
	if (k->changed.tv_sec != st->st_ctim.tv_sec || k->changed.tv_nsec != st->st_ctim.tv_nsec) {
		int n = read_id(path, st, k->id);

		if (n < 0)
			return n;
		k->n = (uint8_t)n;
		k->changed = st->st_ctim;
	}
	memcpy(id, k->id, k->n);
	return k->n;
}

/* Is the file that the process has there now, at link, the one of the record? An overlay file
 * system has other devices and inodes than the kernel's records: by its name then. */
static bool is_still(const struct question *q, const struct stat *st)
{
	char path[PATH_MAX];
	ssize_t n = st->st_dev == q->dev ? -1 : readlink(q->link, path, sizeof(path));

	return n > 0 && strlen(q->name) == (size_t)n && !memcmp(path, q->name, (size_t)n);
}

static void look_up(void *ids, struct ty_reading *r)
{
	struct ty_build_ids *b = ids;
	struct question *q = &b->q;
	struct stat st;
	int n = 0;

	for (unsigned k = 0; n <= 0 && k < 2; k++) {
		const char *at = k ? q->link : q->name;

		if (!stat(at, &st) &&
		    ((st.st_dev == q->dev && st.st_ino == q->ino) || (k && is_still(q, &st))))
			n = read_once(b, at, &st, q->id);
	}
	q->n = n > 0 ? (uint8_t)n : 0;
}

static void free_all(void *ids)
{
	struct ty_build_ids *b = ids;

	ty_pair_map_fini(&b->by_file);
	vec_fini(&b->known);
	free(b);
}

struct ty_build_ids *ty_build_ids_new(void)
{
	struct ty_build_ids *b = calloc(1, sizeof(*b));

	if (b)
		b->pool = ty_read_pool_new(1, look_up, free_all, b);
	if (b && b->pool)
		return b;
	free(b);
	return NULL;
}

void ty_build_ids_free(struct ty_build_ids *b)
{
	if (b)
		ty_read_pool_free(b->pool);
}

/* The bytes of PERF_RECORD_MMAP2 (perf_event_open(2)). */
enum { PID = 8, ADDR = 16, LEN = 24, MAJOR = 40, MINOR = 44, INODE = 48, FILE_NAME = 72 };

/* Its length; 0: none, or not within WAIT_MS. While the thread is held up by a file, all have none.
 */
static unsigned ask(struct ty_build_ids *b, const uint8_t *rec, const char *name, uint8_t id[20])
{
	struct question *q = &b->q;
	struct ty_reading r;

	ty_read_pool_take(b->pool, 0, &r); /* an answer that came too late */
	if (ty_read_pool_left(b->pool))
		return 0;
	snprintf(q->name, sizeof(q->name), "%s", name);
	snprintf(q->link, sizeof(q->link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 ty_u32_at(rec + PID), ty_u64_at(rec + ADDR),
		 ty_u64_at(rec + ADDR) + ty_u64_at(rec + LEN));
	q->dev = makedev(ty_u32_at(rec + MAJOR), ty_u32_at(rec + MINOR));
	q->ino = ty_u64_at(rec + INODE);
	if (!ty_read_pool_request(b->pool, ty_u32_at(rec + PID), 0) ||
	    !ty_read_pool_take(b->pool, WAIT_MS, &r))
		return 0;
	memcpy(id, q->id, q->n);
	return q->n;
}

void ty_build_ids_put(struct ty_build_ids *b, uint8_t *rec, size_t n)
{
	const char *name = (const char *)rec + FILE_NAME;
	struct perf_event_header h;
	uint8_t id[20] = {0};
	unsigned id_n = 0;

	if (n <= FILE_NAME)
		return;
	memcpy(&h, rec, sizeof(h));
	if (h.type != PERF_RECORD_MMAP2)
		return;
	h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (*name == '/' && memchr(name, 0, n - FILE_NAME))
		id_n = ask(b, rec, name, id);
	if (id_n) {
		h.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		memset(rec + MAJOR, 0, 4);
		rec[MAJOR] = (uint8_t)id_n;
		memcpy(rec + MAJOR + 4, id, sizeof(id));
	}
	memcpy(rec, &h, sizeof(h));
}
