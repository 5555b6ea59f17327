/* SPDX-License-Identifier: MIT */
/*
 * Which code is where and when: random mappings, forks and execs against the rule applied one by
 * one; very many mappings; what a core dump says.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_map.h"

enum { PIDS = 3, EVENTS = 60, ADDRS = 24, TIMES = 30, FILE_BYTES = 64 };

struct told {
	enum { MAP, FORK, EXEC } what;
	int32_t pid, parent;
	uint64_t t, lo, hi, off;
	int file;
};

static uint8_t bytes[4][FILE_BYTES];

/* The last thing told of the pid's address at t, before event n. */
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
		struct ty_code_at kept = {0}; /* from one read to the next */
		struct told v[EVENTS + PIDS];
		int files[4], n = 0;
		uint64_t t = 1;

		for (int i = 0; i < 4; i++)
			files[i] = ty_code_blob(c, "blob", bytes[i], FILE_BYTES);
		/* All are known from the beginning, so that what is told is all there is. */
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
			/* At one instant, a fork goes on with all of its parent's. */
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
			uint8_t got[3];
			size_t k;

			assert_int_equal(want, ty_code_whose(c, pid, when, addr, &got_off));
			if (want < 0)
				continue;
			assert_int_equal(off, got_off);
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

/* A hostile side band: mappings in many layers. Quadratic work would take hours. */
static void test_many(void **state)
{
	enum { MAPS = 100000, FORKS = 100000, NAMES = 100000 };
	struct ty_code *c = ty_code_new(NULL, NULL);
	int file = ty_code_blob(c, "blob", bytes, sizeof(bytes));
	struct ty_code_at at;
	uint64_t off;

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
		assert_int_equal(file, ty_code_whose(c, 1, i, 4096 * MAPS, &off));
		assert_int_equal(4096 * i + i, off);
		at = (struct ty_code_at){0};
		ty_code_find(c, 1, i, 4096 * (MAPS - i), &at);
	}
	assert_int_equal(file, ty_code_whose(c, 10, MAPS, 4096 * MAPS, &off));
	/* Not known that far from the one that maps it. */
	assert_int_equal(-1, ty_code_whose(c, FORKS, MAPS, 4096 * MAPS, &off));
	ty_code_free(c);
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
	uint64_t off;
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
	file = ty_code_whose(c, 9, 5, 0x10001, &off);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rule), cmocka_unit_test(test_many),
					   cmocka_unit_test(test_core)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
