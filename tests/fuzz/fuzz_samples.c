/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file, any bytes: its samples with their call chains, registers and copies of stacks,
 * unwound and named, and all tables and trees of them. What comes out may be nonsense; its counts
 * agree.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "hot_functions.h"
#include "sample_load.h"

static void ask(const struct ty_samples *s)
{
	const struct ty_window w = {.to_ns = UINT64_MAX};
	const struct ty_hot_of of = {.s = s, .w = &w};
	struct ty_flame f;
	struct ty_hot h;
	uint64_t self = 0;

	if (ty_hot_find(&of, &h))
		abort();
	vec_each (v, &s->v)
		if (v->branches &&
		    (v->branches >= s->branch_sets.n ||
		     s->branch_sets.v[v->branches].first + s->branch_sets.v[v->branches].n >
			     s->branch_v.n))
			abort();
	for (uint32_t i = 0; i < h.funcs_n; i++)
		self += h.funcs[i].self;
	if (self > h.samples || h.samples > s->v.n)
		abort();
	for (unsigned kind = TY_FLAME_CALLEES; kind <= TY_FLAME_CALLERS; kind++) {
		if (ty_flame_find(&of, (enum ty_flame_kind)kind, UINT32_MAX, &f) ||
		    f.v.v[0].total != h.samples)
			abort();
		ty_flame_fini(&f);
		if (h.funcs_n && ty_flame_find(&of, (enum ty_flame_kind)kind, h.funcs[0].func, &f))
			abort();
		ty_flame_fini(&f);
	}
	ty_hot_fini(&h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct ty_sample_load_opts o = {.quiet = true, .branches = true};
	struct ty_samples *s = NULL;
	struct ty_err err = {0};
	char path[64];
	int fd = memfd_create("perf.data", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!ty_samples_of_perf(path, &o, &s, &err))
		ask(s);
	ty_samples_free(s);
	close(fd);
	return 0;
}
