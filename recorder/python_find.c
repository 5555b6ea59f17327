/* SPDX-License-Identifier: MIT */
/* See python_find.h. */
#include "python_find.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base_name.h"
#include "elf_symbols.h"

enum { RUNTIME, CODE_TYPE, VERSION, SYMBOLS };

/* From the file's name, as libpython3.9.so.1.0. */
static uint32_t version_of_name(const char *base)
{
	unsigned major, minor;
	const char *s = strstr(base, "python");

	return s && sscanf(s, "python%1u.%2u", &major, &minor) == 2 ? major << 8 | minor : 0;
}

/* Releases only: earlier versions have other layouts. */
static uint32_t version_of_memory(struct ty_python *p, uint64_t at)
{
	uint64_t v;

	return p->read(p->ctx, at, &v, sizeof(v)) && v >> 32 == 0 && (v & 0xf0) == 0xf0
		       ? (uint32_t)v >> 16
		       : 0;
}

static bool is_candidate(const char *path, const char *exe)
{
	return strstr(ty_base_name(path), "python") || !strcmp(path, exe);
}

/* The file whose start is mapped at `start`. */
static bool look_in(uint32_t pid, uint64_t start, uint64_t end, const char *path,
		    struct ty_python *p, uint32_t *version)
{
	static const char *const names[SYMBOLS] = {"_PyRuntime", "PyCode_Type", "Py_Version"};
	uint64_t at[SYMBOLS], base = 0;
	uint8_t own[TY_PY_OWN_BYTES];
	const struct ty_python_layout *l;
	char file[96];
	bool found;
	int fd;

	snprintf(file, sizeof(file), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, pid, start, end);
	fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	found = ty_elf_symbols(fd, names, SYMBOLS, at, &base) && at[RUNTIME] && at[CODE_TYPE];
	close(fd);
	if (!found)
		return false;
	p->runtime = at[RUNTIME] - base + start;
	p->code_type = at[CODE_TYPE] - base + start;
	*version = at[VERSION] ? version_of_memory(p, at[VERSION] - base + start)
			       : version_of_name(ty_base_name(path));
	*version = *version ?: TY_PY_UNKNOWN;
	l = ty_python_layout(*version);
	if (l)
		p->layout = *l;
	return l || (p->read(p->ctx, p->runtime, own, sizeof(own)) &&
		     ty_python_layout_own(own, sizeof(own), &p->layout) &&
		     p->layout.version == *version);
}

bool ty_python_find(uint32_t pid, struct ty_python *p, uint32_t *version)
{
	char path[64], exe[PATH_MAX], line[PATH_MAX + 128];
	bool found = false;
	ssize_t n;
	FILE *f;

	*version = 0;
	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	exe[n > 0 ? n : 0] = 0;
	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f)) {
		uint64_t lo, hi, off;
		int name = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &lo, &hi,
			   &off, &name) < 3 ||
		    !name || off || line[name] != '/' || !is_candidate(line + name, exe))
			continue;
		found = look_in(pid, lo, hi, line + name, p, version);
		if (*version)
			break;
	}
	if (f)
		fclose(f);
	return found;
}
