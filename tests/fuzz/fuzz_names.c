/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as what names code or holds copies of it: a JIT compiler's jitdump (read alone, and
 * through perf's records of the process that mapped it), its perf-PID.map, a copy of kallsyms, a
 * core dump or copy of kcore. Input: parts of u8 kind, u16 bytes, bytes; then names and code are
 * looked up in all of it, at addresses of every part.
 */
#include <stdlib.h>
#include <string.h>

#include "flow.h"
#include "flow_names.h"
#include "flow_perf.h"
#include "jitdump.h"
#include "symbol_list.h"
#include "checked_read.h"
#include "fuzz.h"

enum { BYTES_MAX = 65536, PID = 7, ASKED = 64 };
enum kind { JITDUMP, MAP, KALLSYMS, CORE, KINDS };

struct input {
	struct ty_bytes of[KINDS]; /* the last part of each kind */
};

static int load_function(void *ctx, const struct ty_jit_load *l)
{
	size_t *seen = ctx;

	/* Every byte that is given must be there. */
	for (uint64_t i = 0; i < l->n; i += 64)
		*seen += l->code[i];
	*seen += strlen(l->name);
	return 0;
}

/* Files of the recording: the dump and the map. */
static int load_file(void *ctx, const char *path, const uint8_t *build_id, size_t build_id_n,
		     struct ty_bytes *out)
{
	const struct input *in = ctx;

	*out = strstr(path, ".dump")  ? in->of[JITDUMP]
	       : strstr(path, ".map") ? in->of[MAP]
				      : (struct ty_bytes){0};
	return out->n ? 0 : -TY_ENOTFOUND;
}

static void ask(struct ty_flow_names *names, struct ty_code *code, uint64_t ip, uint64_t t_ns)
{
	struct ty_code_at at = {0};
	char text[200];
	uint8_t bytes[16];

	ty_flow_names_at(names, PID, t_ns, ip);
	ty_flow_names_text(names, PID, t_ns, ip, text, sizeof(text));
	ty_code_read(code, PID, t_ns, ip, bytes, sizeof(bytes), &at);
}

static void list(struct ty_bytes b, enum ty_symbol_list_kind kind)
{
	struct ty_symbol_list *l = ty_symbol_list_new((const char *)b.p, b.n, kind);
	uint64_t start, size;
	const char *name;

	for (unsigned i = 0; l && i < 64; i++)
		ty_symbol_list_find(l, 1ull << i, &name, &start, &size);
	ty_symbol_list_free(l);
}

/* perf's record of a mapping of the dump, as tools/perf/util/jitdump.c finds it. */
static void map_dump(struct ty_flow_perf *p)
{
	static const char name[] = "/tmp/jit-7.dump\0\0\0\0\0\0\0";
	uint8_t rec[8 + 32 + sizeof(name) / 8 * 8] = {1, 0, 0, 0, 2, 0, sizeof(rec)};

	rec[8] = rec[12] = PID;
	rec[25] = 0x10; /* its length */
	memcpy(rec + 40, name, sizeof(rec) - 40);
	ty_flow_perf_file(p, rec, sizeof(rec), 0, 0);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	return fuzz_mutate_parts(data, size, max, seed, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {0};
	struct ty_flow *f = ty_flow_new(load_file, &in);
	struct ty_code *code = ty_flow_code(f);
	struct ty_flow_perf *p = ty_flow_perf_new(f);
	struct ty_flow_names *names = ty_flow_names_new(code);
	struct ty_jitdump dump;
	struct ty_err err = {0};
	size_t seen = 0;

	for (size_t at = 0; size <= BYTES_MAX && at + 3 <= size;) {
		size_t n = ty_load(data + at + 1, 2, false), left = size - at - 3;
		struct ty_bytes b = {.p = data + at + 3, .n = n < left ? n : left};
		enum kind kind = data[at] % KINDS;

		in.of[kind] = b;
		if (kind == JITDUMP) {
			ty_jitdump_read(b.p, b.n, &dump, load_function, &seen);
			vec_fini(&dump.lines);
		}
		if (kind == CORE)
			ty_code_map_core(code, ty_code_blob(code, "core", b.p, b.n), &err);
		if (kind == MAP || kind == KALLSYMS)
			list(b, kind == MAP ? TY_NAMES_PERF_MAP : TY_NAMES_KALLSYMS);
		at += 3 + b.n;
	}
	if (size & 1)
		ty_flow_perf_monotonic(p, 1, 1);
	map_dump(p);
	ty_flow_perf_finish(p);
	if (in.of[KALLSYMS].n)
		ty_flow_names_kernel(names, (const char *)in.of[KALLSYMS].p, in.of[KALLSYMS].n);
	if (!ty_code_ready(code))
		for (size_t i = 0; i < ASKED && i * 8 + 8 <= size; i++)
			ask(names, code, ty_load(data + (size - 8) * i / ASKED, 8, false), i);
	ask(names, code, 0xffffffff81000000ull, 0);
	ask(names, code, 0x1000, 1);
	ty_flow_names_free(names);
	ty_flow_perf_free(p);
	ty_flow_free(f);
	return 0;
}
