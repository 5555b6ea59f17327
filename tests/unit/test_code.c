/* SPDX-License-Identifier: MIT */
/*
 * Which code is where and when: random mappings, forks and execs against the rule applied one by
 * one; very many mappings; what a core dump says, and what JIT compilers write.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "code_map.h"
#include "flow_perf.h"
#include "jitdump.h"
#include "symbol_list.h"

enum { PIDS = 3, EVENTS = 60, ADDRS = 24, TIMES = 30, FILE_BYTES = 64 };

struct told {
	enum { MAP, FORK, EXEC } what;
	int32_t pid, parent;
	uint64_t t, lo, hi, off;
	int file;
};

static uint8_t bytes[4][FILE_BYTES];

/* The last known mapping of the pid's address at t, before event n. */
static int plain_at(const struct told *v, int n, int32_t pid, uint64_t t, uint64_t addr,
		    uint64_t *off)
{
	for (int i = n; i-- > 0;) {
		if (v[i].pid != pid || v[i].t > t)
			continue;
		if (v[i].what == EXEC)
			return -1;
		if (v[i].what == FORK)
			return plain_at(v, i, v[i].parent, v[i].t, addr, off);
		if (addr >= v[i].lo && addr < v[i].hi) {
			*off = v[i].off + (addr - v[i].lo);
			return v[i].file;
		}
	}
	return -1;
}

static void test_rule(void **state)
{
	unsigned seed = 3;

	for (unsigned f = 0; f < 4; f++)
		for (unsigned i = 0; i < FILE_BYTES; i++)
			bytes[f][i] = (uint8_t)(f * FILE_BYTES + i);
	for (int round = 0; round < 300; round++) {
		struct ty_code *c = ty_code_new(NULL, NULL);
		struct ty_code_where where = {0};
		struct ty_code_at kept = {0}; /* from one read to the next */
		struct told v[EVENTS + PIDS];
		int files[4], n = 0;
		uint64_t t = 1;

		for (int i = 0; i < 4; i++)
			files[i] = ty_code_blob(c, "blob", bytes[i], FILE_BYTES);
		/* All are known from the beginning, so that what is known is all there is. */
		for (int32_t pid = 0; pid < PIDS; pid++) {
			v[n++] = (struct told){.what = EXEC, .pid = pid};
			assert_int_equal(0, ty_code_exec(c, pid, 0));
		}
		for (int i = 0; i < EVENTS; i++) {
			struct told e = {.what = rand_r(&seed) % 10  ? MAP
						 : rand_r(&seed) % 2 ? FORK
								     : EXEC,
					 .pid = (int32_t)(rand_r(&seed) % PIDS),
					 .parent = (int32_t)(rand_r(&seed) % PIDS),
					 .lo = rand_r(&seed) % ADDRS,
					 .off = rand_r(&seed) % 8,
					 .file = files[rand_r(&seed) % 4]};

			e.hi = e.lo + 1 + rand_r(&seed) % 12;
			e.t = t += rand_r(&seed) % 3 ? 0 : 1;
			if (e.what == FORK && e.parent == e.pid)
				e.what = EXEC;
			/* At one instant, a fork continues with all of its parent's. */
			if (e.what == FORK)
				e.t = ++t, t++;
			v[n++] = e;
			if (e.what == MAP)
				assert_int_equal(0, ty_code_map(c, e.pid, e.t, e.lo, e.hi - e.lo,
								e.off, e.file));
			else if (e.what == FORK)
				assert_int_equal(0, ty_code_fork(c, e.parent, e.pid, e.t));
			else
				assert_int_equal(0, ty_code_exec(c, e.pid, e.t));
		}
		assert_int_equal(0, ty_code_ready(c));
		for (int i = 0; i < 2000; i++) {
			int32_t pid = (int32_t)(rand_r(&seed) % PIDS);
			uint64_t addr = rand_r(&seed) % (ADDRS + 14), off = 0, got_off = 0;
			uint64_t when = rand_r(&seed) % (t + 2);
			int want = plain_at(v, n, pid, when, addr, &off);
			uint64_t until;
			uint8_t got[3];
			size_t k;

			assert_int_equal(want,
					 ty_code_mapping_of(c, pid, when, addr, &got_off, &until));
			ty_code_where(c, pid, when, addr, &where);
			assert_int_equal(want, where.file);
			if (want < 0)
				continue;
			assert_int_equal(off, got_off);
			assert_int_equal(off, addr + where.bias);
			/* What is kept between reads is used only where and when it holds. */
			k = ty_code_read(c, pid, when, addr, got, sizeof(got), &kept);
			assert_true(k >= 1);
			for (size_t b = 0; b < k; b++) {
				int f = plain_at(v, n, pid, when, addr + b, &off);

				if (f >= 0)
					assert_int_equal((unsigned)(f - files[0]) * FILE_BYTES +
								 off,
							 got[b]);
			}
		}
		ty_code_free(c);
	}
}

/* What is mapped a little later answers for what was not mapped yet, and for nothing else: what was
 * mapped and cannot be had is not what was mapped there afterwards, or another program. */
static void test_later(void **state)
{
	struct ty_code *c = ty_code_new(NULL, NULL);
	int gone = ty_code_file(c, "/gone", NULL, 0), anon = ty_code_file(c, "//anon", NULL, 0);
	int had = ty_code_blob(c, "had", bytes[0], FILE_BYTES);
	int jit = ty_code_function(c, "jit", bytes[1], FILE_BYTES);
	struct ty_code_at at = {0};

	memset(bytes[0], 'h', FILE_BYTES);
	memset(bytes[1], 'j', FILE_BYTES);
	/* Forked by an unknown process, then a program that is gone, then another one. */
	assert_int_equal(0, ty_code_fork(c, 99, 1, 5));
	assert_int_equal(0, ty_code_exec(c, 1, 10));
	assert_int_equal(0, ty_code_map(c, 1, 12, 0x1000, 64, 0, gone));
	assert_int_equal(0, ty_code_map(c, 1, 12, 0x2000, 64, 0, had));
	assert_int_equal(0, ty_code_map(c, 1, 12, 0x3000, 64, 0, anon));
	assert_int_equal(0, ty_code_map(c, 1, 20, 0x1000, 64, 0, had));
	assert_int_equal(0, ty_code_jit(c, 1, 20, 0x3000, jit));
	assert_int_equal(0, ty_code_jit(c, 1, 25, 0x1000, jit));
	assert_int_equal(0, ty_code_exec(c, 1, 30));
	assert_int_equal(0, ty_code_map(c, 1, 32, 0x1000, 64, 0, had));
	assert_int_equal(0, ty_code_map(c, 1, 32, 0x4000, 64, 0, had));
	assert_int_equal(0, ty_code_jit(c, 1, 35, 0x3000, jit));
	assert_int_equal(0, ty_code_exec(c, 2, 10));
	assert_int_equal(0, ty_code_map(c, 2, 12, 0x2000, 64, 0, had));
	assert_int_equal(0, ty_code_ready(c));
	assert_false(ty_code_find(c, 1, 15, 0x1000, &at)); /* gone, whatever came after it */
	assert_true(ty_code_find(c, 1, 8, 0x2000, &at));   /* before its exec */
	assert_int_equal('h', *at.p);
	assert_true(ty_code_find(c, 2, 8, 0x2000, &at)); /* before it was reported */
	assert_int_equal('h', *at.p);
	assert_true(
		ty_code_find(c, 1, 15, 0x3000, &at)); /* the memory was there, then code in it */
	assert_int_equal('j', *at.p);
	assert_false(ty_code_find(c, 1, 15, 0x4000, &at)); /* another program's */
	assert_false(ty_code_find(c, 1, 29, 0x4000, &at));
	assert_true(ty_code_find(c, 1, 31, 0x4000, &at));
	ty_code_free(c);
}

/* A hostile side band: mappings in many layers. Quadratic work would take hours. */
static void test_many(void **state)
{
	enum { MAPS = 100000, FORKS = 100000, NAMES = 100000 };
	struct ty_code *c = ty_code_new(NULL, NULL);
	int file = ty_code_blob(c, "blob", bytes, sizeof(bytes));
	struct ty_code_at at;
	uint64_t off, until;

	for (uint64_t i = 0; i < MAPS; i++)
		assert_int_equal(
			0, ty_code_map(c, 1, i, 4096 * (MAPS - i), 4096 * (2 * i + 1), i, file));
	for (int32_t i = 1; i < FORKS; i++)
		assert_int_equal(0, ty_code_fork(c, i, i + 1, MAPS));
	for (int i = 0; i < NAMES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "/lib/%d", i);
		assert_true(ty_code_file(c, name, NULL, 0) > 0);
		assert_int_equal(i + 1, ty_code_file(c, name, NULL, 0));
	}
	assert_int_equal(0, ty_code_ready(c));
	for (uint64_t i = 0; i < MAPS; i++) {
		assert_int_equal(file, ty_code_mapping_of(c, 1, i, 4096 * MAPS, &off, &until));
		assert_int_equal(4096 * i + i, off);
		at = (struct ty_code_at){0};
		ty_code_find(c, 1, i, 4096 * (MAPS - i), &at);
	}
	assert_int_equal(file, ty_code_mapping_of(c, 10, MAPS, 4096 * MAPS, &off, &until));
	/* Not known that far from the one that maps it. */
	assert_int_equal(-1, ty_code_mapping_of(c, FORKS, MAPS, 4096 * MAPS, &off, &until));
	ty_code_free(c);
}

/* A dump whose headers name the same empty notes again and again, and whose list of files has a
 * file with the same headers: that looks at each of them would take minutes. */
static void test_same_notes(void **state)
{
	enum { HEADERS = 60000, ZEROS = 8 << 20 };
	struct {
		char pad[4]; /* so that none is behind the name */
		Elf64_Nhdr nh;
		char core[8];
		uint64_t list[2 + 3];
		char name[8];
	} note = {.nh = {.n_namesz = 5, .n_descsz = 48, .n_type = NT_FILE},
		  .core = "CORE",
		  .list = {1, 4096, 0x10000, 0x11000, 0},
		  .name = "/bin/x"};
	size_t at = sizeof(Elf64_Ehdr) + HEADERS * sizeof(Elf64_Phdr),
	       n = at + ZEROS + sizeof(note);
	Elf64_Ehdr eh = {.e_phoff = sizeof(eh), .e_phentsize = sizeof(Elf64_Phdr)};
	struct ty_code *c = ty_code_new(NULL, NULL);
	uint8_t *file = calloc(1, n);
	Elf64_Phdr ph = {.p_type = PT_NOTE, .p_offset = at, .p_filesz = ZEROS};
	uint64_t off, until;
	struct ty_err err = {0};

	assert_non_null(file);
	memcpy(eh.e_ident, ELFMAG "\2\1", 6);
	eh.e_phnum = HEADERS;
	memcpy(file, &eh, sizeof(eh));
	for (size_t i = 0; i < HEADERS - 2; i++)
		memcpy(file + sizeof(eh) + i * sizeof(ph), &ph, sizeof(ph));
	ph = (Elf64_Phdr){
		.p_type = PT_NOTE, .p_offset = at + ZEROS + 4, .p_filesz = sizeof(note) - 4};
	memcpy(file + sizeof(eh) + (HEADERS - 2) * sizeof(ph), &ph, sizeof(ph));
	memcpy(file + at + ZEROS, &note, sizeof(note));
	ph = (Elf64_Phdr){.p_type = PT_LOAD, .p_vaddr = 0x10000, .p_filesz = n};
	memcpy(file + sizeof(eh) + (HEADERS - 1) * sizeof(ph), &ph, sizeof(ph));
	if (ty_code_map_core(c, ty_code_blob(c, "core", file, n), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(0, ty_code_ready(c));
	assert_string_equal(
		"/bin/x", ty_code_file_name(c, ty_code_mapping_of(c, 9, 5, 0x10001, &off, &until)));
	ty_code_free(c);
	free(file);
}

struct core {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	char pad[4]; /* so that none is behind the name */
	Elf64_Nhdr nh;
	char core[8];
	uint64_t list[2 + 3 * 2];
	char names[16];
	/* The first page of the program: its head and its build id. */
	Elf64_Ehdr prog;
	Elf64_Phdr note;
	Elf64_Nhdr id_nh;
	char gnu[4];
	uint8_t id[20];
};

static int asked;
static int load(void *ctx, const char *path, const uint8_t *build_id, size_t n,
		struct ty_bytes *out)
{
	const struct core *core = ctx;

	asked++;
	assert_string_equal("/bin/x", path);
	assert_int_equal(20, n);
	assert_memory_equal(core->id, build_id, 20);
	*out = (struct ty_bytes){.p = bytes[0], .n = sizeof(bytes)};
	return 0;
}

static void test_core(void **state)
{
	struct core k = {
		.eh = {.e_phoff = offsetof(struct core, ph),
		       .e_phentsize = sizeof(Elf64_Phdr),
		       .e_phnum = 2},
		.ph = {{.p_type = PT_NOTE,
			.p_offset = offsetof(struct core, nh),
			.p_filesz = offsetof(struct core, prog) - offsetof(struct core, nh)},
		       {.p_type = PT_LOAD,
			.p_vaddr = 0x10000,
			.p_offset = offsetof(struct core, prog),
			.p_filesz = sizeof(struct core) - offsetof(struct core, prog)}},
		.nh = {.n_namesz = 5,
		       .n_descsz = sizeof(k.list) + sizeof(k.names),
		       .n_type = NT_FILE},
		.core = "CORE",
		.list = {2, 16, 0x10000, 0x11000, 0, 0x20000, 0x20100, 2},
		.names = "/bin/x\0/bin/x\0",
		.prog = {.e_phoff = sizeof(Elf64_Ehdr),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1},
		.note = {.p_type = PT_NOTE,
			 .p_offset = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			 .p_filesz = sizeof(Elf64_Nhdr) + 24},
		.id_nh = {.n_namesz = 4, .n_descsz = 20, .n_type = NT_GNU_BUILD_ID},
		.gnu = "GNU",
		.id = "0123456789abcdefghi",
	};
	struct ty_code *c = ty_code_new(load, &k);
	struct ty_code_at at = {0};
	struct ty_err err;
	uint8_t got[4];
	uint64_t off, until;
	int file;

	memcpy(k.eh.e_ident, ELFMAG "\2\1", 6);
	memcpy(k.prog.e_ident, ELFMAG "\2\1", 6);
	file = ty_code_blob(c, "core", &k, sizeof(k));
	assert_int_equal(0, ty_code_map_core(c, file, &err));
	assert_int_equal(0, ty_code_ready(c));
	/* What the dump has is the dump's; the rest is the file's, known by its build id. */
	assert_int_equal(4, ty_code_read(c, 9, 5, 0x10000, got, 4, &at));
	assert_memory_equal(ELFMAG, got, 4);
	assert_int_equal(0, asked);
	assert_int_equal(4, ty_code_read(c, 9, 5, 0x20001, got, 4, &at));
	assert_memory_equal(bytes[0] + 33, got, 4);
	assert_int_equal(1, asked);
	file = ty_code_mapping_of(c, 9, 5, 0x10001, &off, &until);
	assert_string_equal("/bin/x", ty_code_file_name(c, file));
	/* Cut anywhere, it does no harm. */
	for (size_t n = 0; n < sizeof(k); n++) {
		struct ty_code *cut = ty_code_new(NULL, NULL);
		void *copy = malloc(n + 1);

		memcpy(copy, &k, n);
		(void)ty_code_map_core(cut, ty_code_blob(cut, "core", copy, n), &err);
		ty_code_free(cut);
		free(copy);
	}
	ty_code_free(c);
}

static void put_load(struct ty_buf *b, uint64_t ts, uint64_t addr, const char *name,
		     const char *code)
{
	size_t n = strlen(code);

	ty_buf_addle(b, 0, 4);
	ty_buf_addle(b, 16 + 40 + strlen(name) + 1 + n, 4);
	ty_buf_addle(b, ts, 8);
	ty_buf_addle(b, 7, 8);
	ty_buf_addle(b, addr, 8);
	ty_buf_addle(b, addr, 8);
	ty_buf_addle(b, n, 8);
	ty_buf_addle(b, ts, 8);
	ty_buf_add(b, name, strlen(name) + 1);
	ty_buf_add(b, code, n);
}

static int load_dump(void *ctx, const char *path, const uint8_t *build_id, size_t n,
		     struct ty_bytes *out)
{
	const struct ty_buf *b = ctx;

	if (strcmp(path, "/x/jit-7.dump"))
		return -TY_ENOTFOUND;
	*out = (struct ty_bytes){.p = (const uint8_t *)b->p, .n = b->len};
	return 0;
}

/* A flow of process 7, which mapped its dump and, now and then, the memory of its code anew. */
static struct ty_flow *jit_flow(struct ty_buf *dump, bool clock, struct ty_flow_jit *jit)
{
	struct ty_flow *f = ty_flow_new(load_dump, dump);
	struct ty_flow_perf *p = ty_flow_perf_new(f);

	for (uint64_t t = 10; t < 60; t += 10) {
		struct ty_perf_id id = {.time = t};
		struct ty_perf_rec r = {.type = TY_PERF_MMAP};
		struct ty_buf b;

		ty_buf_init(&b, 4096);
		ty_buf_addle(&b, 7 | 7ull << 32, 8);
		ty_buf_addle(&b, t == 10 ? 0x90000 : 0x1000, 8);
		ty_buf_addle(&b, 0x1000, 8);
		ty_buf_addle(&b, 0, 8);
		ty_buf_add(&b, t == 10 ? "/x/jit-7.dump" : "//anon\0\0\0\0\0\0\0", 14);
		ty_buf_addle(&b, 0, 2);
		r.body = (const uint8_t *)b.p;
		r.n = (uint32_t)b.len;
		assert_int_equal(0, ty_flow_perf_record(p, &r, &id, -1));
		ty_buf_fini(&b);
	}
	assert_true(ty_flow_perf_has_jit(p));
	if (clock) {
		/* From 100 to 200 that clock ran twice as fast. */
		assert_int_equal(0, ty_flow_perf_monotonic(p, 100, 20));
		assert_int_equal(0, ty_flow_perf_monotonic(p, 200, 70));
	}
	assert_int_equal(0, ty_flow_perf_finish(p));
	*jit = ty_flow_perf_jit(p);
	ty_flow_perf_free(p);
	assert_int_equal(0, ty_code_ready(ty_flow_code(f)));
	return f;
}

static int count(void *ctx, const struct ty_jit_load *l)
{
	volatile uint8_t last = l->code[l->n - 1];

	(void)last;
	return 0;
}

static void put_jit_head(struct ty_buf *b)
{
	ty_buf_addle(b, 0x4a695444, 4);
	ty_buf_addle(b, 1, 4);
	ty_buf_addle(b, 40, 4);
	ty_buf_addle(b, 0, 8);
	ty_buf_addle(b, 7, 4);
	ty_buf_addle(b, 1, 8);
	ty_buf_addle(b, 0, 8);
}

/* Three entries, not in order, each of a byte of "one": as they are, or `beyond` that. */
static void put_lines(struct ty_buf *b, uint64_t addr, uint64_t beyond)
{
	ty_buf_addle(b, 2, 4);
	ty_buf_addle(b, 16 + 16 + 3 * 16 + 5 + 5 + 2, 4);
	ty_buf_addle(b, 90, 8);
	ty_buf_addle(b, addr, 8);
	ty_buf_addle(b, 3, 8);
	ty_buf_addle(b, addr + beyond + 2, 8);
	ty_buf_addle(b, 1, 8);
	ty_buf_add(b, "b.js", 5);
	ty_buf_addle(b, addr + beyond, 8);
	ty_buf_addle(b, 3, 8);
	ty_buf_add(b, "a.js", 5);
	ty_buf_addle(b, addr + beyond + 1, 8);
	ty_buf_addle(b, 4, 8);
	ty_buf_add(b, "\xff", 2);
}

static void has_line(struct ty_code *c, int file, uint64_t off, const char *name, int line)
{
	const struct ty_code_line *l = ty_code_line_at(c, file, off);

	assert_int_equal(name != NULL, l != NULL);
	if (l) {
		assert_string_equal(name, l->file);
		assert_int_equal(line, l->line);
	}
}

/* V8's are the size of an ELF header behind. */
static void test_jit_v8(void **state)
{
	struct ty_flow_jit jit;
	struct ty_code *c;
	struct ty_flow *f;
	struct ty_buf b;
	uint64_t off, until;

	ty_buf_init(&b, 1 << 16);
	put_jit_head(&b);
	put_lines(&b, 0x1100, 64);
	put_load(&b, 100, 0x1100, "one", "abc");
	f = jit_flow(&b, true, &jit);
	c = ty_flow_code(f);
	has_line(c, ty_code_mapping_of(c, 7, 30, 0x1100, &off, &until), 0, "a.js", 3);
	has_line(c, ty_code_mapping_of(c, 7, 30, 0x1102, &off, &until), 2, "b.js", 1);
	ty_flow_free(f);
	ty_buf_fini(&b);
}

static void test_jit(void **state)
{
	struct ty_code_at at = {0};
	struct ty_jitdump info;
	struct ty_flow_jit jit;
	struct ty_code *c;
	struct ty_flow *f;
	struct ty_buf b;
	char got[4] = "";
	uint64_t off, until;

	ty_buf_init(&b, 1 << 16);
	put_jit_head(&b);
	put_lines(&b, 0x1100, 0);
	put_load(&b, 100, 0x1100, "one", "abc");
	put_lines(&b, 0x7700, 0); /* of one that does not come */
	put_load(&b, 150, 0x1100, "two", "xyz");
	put_load(&b, 160, 0x1200, "alone", "123");
	/* The clock is known: each from its time on, whatever was mapped anew. */
	f = jit_flow(&b, true, &jit);
	c = ty_flow_code(f);
	assert_int_equal(3, jit.functions);
	assert_int_equal(0, jit.left_out);
	for (uint64_t t = 20; t < 100; t++) {
		assert_int_equal(3, ty_code_read(c, 7, t, 0x1100, got, 3, &at));
		assert_string_equal(t < 45 ? "abc" : "xyz", got);
		assert_string_equal(
			t < 45 ? "one" : "two",
			ty_code_file_name(c, ty_code_mapping_of(c, 7, t, 0x1102, &off, &until)));
		assert_int_equal(t < 45 ? 45 : UINT64_MAX, until);
		has_line(c, ty_code_mapping_of(c, 7, t, 0x1100, &off, &until), 0,
			 t < 45 ? "a.js" : NULL, 3);
		has_line(c, ty_code_mapping_of(c, 7, t, 0x1101, &off, &until), 1,
			 t < 45 ? "a.js" : NULL, 4);
		has_line(c, ty_code_mapping_of(c, 7, t, 0x1102, &off, &until), 2,
			 t < 45 ? "b.js" : NULL, 1);
	}
	ty_flow_free(f);
	/* It is not: only what has its place alone. */
	f = jit_flow(&b, false, &jit);
	c = ty_flow_code(f);
	at = (struct ty_code_at){0};
	assert_int_equal(1, jit.functions);
	assert_int_equal(2, jit.left_out);
	assert_int_equal(0, ty_code_read(c, 7, 50, 0x1100, got, 3, &at));
	assert_int_equal(3, ty_code_read(c, 7, 50, 0x1200, got, 3, &at));
	assert_string_equal("123", got);
	ty_flow_free(f);
	/* Cut or damaged anywhere. */
	for (size_t n = 0; n <= b.len; n++) {
		uint8_t *copy = malloc(n + 1);

		memcpy(copy, b.p, n);
		(void)ty_jitdump_read(copy, n, &info, count, NULL);
		assert_true(n < b.len || (info.loads == 3 && !info.damaged));
		vec_fini(&info.lines);
		for (int bit = 0; n == b.len && bit < 8 * (int)n; bit++) {
			copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
			(void)ty_jitdump_read(copy, n, &info, count, NULL);
			vec_fini(&info.lines);
			copy[bit / 8] ^= (uint8_t)(1u << bit % 8);
		}
		free(copy);
	}
	ty_buf_fini(&b);
}

static void is_named(const struct ty_symbol_list *l, uint64_t addr, const char *want,
		     uint64_t start)
{
	const char *name = NULL;
	uint64_t at = 0, size;

	if (!ty_symbol_list_find(l, addr, &name, &at, &size))
		name = NULL;
	if (!want)
		assert_null(name);
	else
		assert_string_equal(want, name);
	assert_int_equal(start, at);
}

static void test_names(void **state)
{
	static const char map[] = "1000 10 first one\n0x1010 20 second\n1010 20 second\n"
				  "2000 10 a\n2008 10 b\nzz 1 no\n3000\n4000 0 none\n"
				  "ffffffffffffffff 10 wraps\n5000 8 last";
	static const char kernel[] = "ffffffff81000000 T _text\nffffffff81000000 T again\n"
				     "ffffffff81000100 t some_code\nffffffff81000180 d data\n"
				     "ffffffffc0000000 t in_module\t[module]\n";
	struct ty_symbol_list *l = ty_symbol_list_new(map, sizeof(map) - 1, TY_NAMES_PERF_MAP);

	assert_int_equal(5, ty_symbol_list_count(l));
	is_named(l, 0x100f, "first one", 0x1000);
	is_named(l, 0x1010, "second", 0x1010);
	is_named(l, 0x1030, NULL, 0);
	is_named(l, 0x2000, "a?", 0x2000);
	is_named(l, 0x2009, "b?", 0x2008);
	is_named(l, 0x5007, "last", 0x5000);
	ty_symbol_list_free(l);
	l = ty_symbol_list_new(kernel, sizeof(kernel) - 1, TY_NAMES_KALLSYMS);
	is_named(l, 0xffffffff810000ff, "_text", 0xffffffff81000000);
	is_named(l, 0xffffffff81000181, "some_code", 0xffffffff81000100);
	is_named(l, 0xffffffffc0000001, "in_module", 0xffffffffc0000000);
	is_named(l, 0xffffffff80ffffff, NULL, 0);
	ty_symbol_list_free(l);
	/* Shown to a user who may not see addresses. */
	l = ty_symbol_list_new("0000000000000000 T x\n", 21, TY_NAMES_KALLSYMS);
	assert_int_equal(0, ty_symbol_list_count(l));
	ty_symbol_list_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),	   cmocka_unit_test(test_later),
		cmocka_unit_test(test_many),	   cmocka_unit_test(test_core),
		cmocka_unit_test(test_same_notes), cmocka_unit_test(test_jit),
		cmocka_unit_test(test_jit_v8),	   cmocka_unit_test(test_names)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
