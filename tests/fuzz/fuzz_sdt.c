/* SPDX-License-Identifier: MIT */
/* Any bytes as a program whose static probes are looked for, and each argument that is found. */
#include "fuzz.h"
#include "sdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ty_sdts v = {0};
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (ty_sdt_read(fd, &v) > TY_SDT_MAX)
		abort();
	vec_each (s, &v) {
		const char *args = s->args, *before;
		char one[128];

		if (!*s->provider || !*s->name || !s->offset)
			abort();
		do
			before = args;
		while (ty_sdt_arg(&args, one, sizeof(one)) && args > before);
		if (*args)
			abort();
	}
	vec_fini(&v);
	return 0;
}
