/* SPDX-License-Identifier: MIT */
/* See build_id.h. ELF: System V ABI, "Program Header", "Note Section". */
#include "build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "unaligned.h"

enum { PHDRS_MAX = 256, NOTES_MAX = 65536, FILES_MAX = 65536 };

unsigned ty_file_build_id(const char *path, uint8_t id[20])
{
	struct stat st;
	/* Opening a device may do something. */
	int fd = stat(path, &st) || !S_ISREG(st.st_mode) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	uint8_t notes[NOTES_MAX];
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	unsigned got = 0;

	if (fd < 0)
		return 0;
	if (pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) ||
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
	return got;
}

/* The file at path, read only if it was not yet, or has changed since. */
static unsigned read_once(struct ty_build_ids *b, const char *path, const struct stat *st,
			  uint8_t id[20])
{
	uint32_t *i =
		b->ids.n < FILES_MAX ? ty_pair_map_add(&b->by_file, st->st_dev, st->st_ino) : NULL;
	struct ty_known_id *got;

	if (!i || (*i == TY_PAIR_NONE && vec_reserve(&b->ids, b->ids.n + 1)))
		return ty_file_build_id(path, id);
	if (*i == TY_PAIR_NONE) {
		*i = (uint32_t)b->ids.n++;
		b->ids.v[*i].changed = (struct timespec){.tv_nsec = -1};
	}
	got = &b->ids.v[*i];
	if (got->changed.tv_sec != st->st_ctim.tv_sec ||
	    got->changed.tv_nsec != st->st_ctim.tv_nsec) {
		got->n = (uint8_t)ty_file_build_id(path, got->id);
		got->changed = st->st_ctim;
	}
	memcpy(id, got->id, got->n);
	return got->n;
}

/* The bytes of PERF_RECORD_MMAP2 (perf_event_open(2)). */
enum { PID = 8, ADDR = 16, LEN = 24, MAJOR = 40, MINOR = 44, INODE = 48, FILE_NAME = 72 };

/* Is the file that the process has there now, at link, the one of the record? An overlay file
 * system has other devices and inodes than the kernel's records: by its name then. */
static bool is_still(const char *link, const char *name, dev_t recorded, const struct stat *st)
{
	char path[PATH_MAX];
	ssize_t n = st->st_dev == recorded ? -1 : readlink(link, path, sizeof(path));

	return n > 0 && strlen(name) == (size_t)n && !memcmp(path, name, (size_t)n);
}

void ty_build_ids_put(struct ty_build_ids *b, uint8_t *rec, size_t n)
{
	struct perf_event_header h;
	const char *name = (const char *)rec + FILE_NAME;
	uint8_t id[20] = {0}, id_n = 0;
	struct stat st;
	char link[96];
	dev_t dev;

	if (n <= FILE_NAME)
		return;
	memcpy(&h, rec, sizeof(h));
	if (h.type != PERF_RECORD_MMAP2)
		return;
	h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
	if (*name == '/' && memchr(name, 0, n - FILE_NAME)) {
		dev = makedev(ty_u32_at(rec + MAJOR), ty_u32_at(rec + MINOR));
		snprintf(link, sizeof(link), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
			 ty_u32_at(rec + PID), ty_u64_at(rec + ADDR),
			 ty_u64_at(rec + ADDR) + ty_u64_at(rec + LEN));
		for (unsigned k = 0; !id_n && k < 2; k++) {
			const char *at = k ? link : name;

			if (!stat(at, &st) &&
			    ((st.st_dev == dev && st.st_ino == ty_u64_at(rec + INODE)) ||
			     (k && is_still(link, name, dev, &st))))
				id_n = (uint8_t)read_once(b, at, &st, id);
		}
	}
	if (id_n) {
		h.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		memset(rec + MAJOR, 0, 4);
		rec[MAJOR] = id_n;
		memcpy(rec + MAJOR + 4, id, sizeof(id));
	}
	memcpy(rec, &h, sizeof(h));
}

void ty_build_ids_fini(struct ty_build_ids *b)
{
	ty_pair_map_fini(&b->by_file);
	vec_fini(&b->ids);
}
