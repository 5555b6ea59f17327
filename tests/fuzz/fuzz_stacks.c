/* SPDX-License-Identifier: MIT */
/*
 * User stacks, mappings and the file that is mapped, all of them any bytes: u32 bytes of stacks,
 * u32 bytes of mappings, the two, and an ELF file for every path. What is unwound and named may be
 * nonsense, but nothing is read beyond what there is: the file ends at a page that cannot be read,
 * because libdw was not built with AddressSanitizer.
 */
#include "flow_names.h"
#include "fuzz.h"
#include "stack_index.h"
#include "unwind.h"

enum { STACKS_MAX = 64 };

/* libdw leaks on what it refuses. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:libdw\nleak:libelf";
}

static struct ty_bytes file;

static int load(void *ctx, const char *path, const uint8_t *id, size_t id_n, struct ty_bytes *out)
{
	*out = file;
	return file.n ? 0 : -TY_ENOTFOUND;
}

static void unwind(struct ty_unwinder *u, struct ty_flow_names *names, const struct ty_stack *s)
{
	struct ty_frame f[TY_FRAMES_MAX];
	enum ty_stack_end end;
	const size_t n = ty_unwind(u, s, f, &end);

	if (n > TY_FRAMES_MAX || !ty_stack_end_text(end))
		abort();
	for (size_t i = 0; i < n; i++) {
		struct ty_flow_name at =
			ty_flow_names_at(names, (int32_t)s->head.pid, s->head.ns, f[i].pc);
		struct ty_inlined in[4], caller;
		const size_t k = ty_flow_names_inlined(names, &at, in, 4, &caller);

		if (k > 4)
			abort();
		for (size_t m = 0; m < k; m++)
			if (in[m].name && strlen(in[m].name) == SIZE_MAX)
				abort();
	}
}

static void check_python(const struct ty_stack_index *x, const struct ty_stack *s)
{
	struct ty_python_frame f[TY_STK_PYTHON_MAX];
	enum ty_stk_python_end end;
	const unsigned n = ty_stack_python(x, s, f, &end);

	if (n > TY_STK_PYTHON_MAX || (n && end >= TY_STK_PYTHON_ENDS))
		abort();
	for (unsigned i = 0; i < n; i++)
		if (!*f[i].file || !*f[i].name ||
		    strlen(f[i].file) + strlen(f[i].name) > 2 * UINT16_MAX)
			abort();
}

static void ask(const struct ty_stack_index *x, struct ty_code *code)
{
	struct ty_flow_names *names = ty_flow_names_new(code);
	struct ty_unwinder *u = ty_unwinder_new(code, NULL);
	struct ty_stk_head head;
	struct ty_stack s, same;

	if (!names || !u)
		abort();
	for (size_t i = 0; i < STACKS_MAX && ty_stack_nth(x, i, &s); i++) {
		if (!ty_stack_of_wait(x, (int32_t)s.head.tid, s.head.ns, s.head.ns, &same))
			abort();
		unwind(u, names, &s);
		check_python(x, &s);
		ty_stack_holder_of(x, (int32_t)s.head.tid, 0, UINT64_MAX, &head);
		if (ty_stack_of_waker(x, (int32_t)s.head.tid, 0, UINT64_MAX - 1, &same))
			unwind(u, names, &same);
	}
	ty_unwinder_free(u);
	ty_flow_names_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ty_stack_index *x;
	struct ty_code *code;
	uint32_t stacks_n, maps_n;

	if (size < 8)
		return 0;
	memcpy(&stacks_n, data, 4);
	memcpy(&maps_n, data + 4, 4);
	data += 8;
	size -= 8;
	stacks_n = stacks_n < size ? stacks_n : (uint32_t)size;
	maps_n = maps_n < size - stacks_n ? maps_n : (uint32_t)(size - stacks_n);
	file.n = size - stacks_n - maps_n;
	file.p = fuzz_guarded(data + stacks_n + maps_n, file.n);
	file.n = file.p ? file.n : 0;
	x = ty_stack_index_new(data, stacks_n);
	code = ty_code_new(load, NULL);
	if (!x || !code || ty_stack_maps(data + stacks_n, maps_n, code) < 0 || ty_code_ready(code))
		abort();
	ask(x, code);
	ty_code_free(code);
	ty_stack_index_free(x);
	return 0;
}
