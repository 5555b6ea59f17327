/* SPDX-License-Identifier: MIT */
/* See build_id.h. ELF: System V ABI, "Program Header", "Note Section". */
#include "build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PHDRS_MAX = 256, NOTES_MAX = 65536 };

unsigned ty_file_build_id(const char *path, uint8_t id[20])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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
