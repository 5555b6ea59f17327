/* SPDX-License-Identifier: MIT */
/* What the files of the recorded machine give: the variable that a cache line belongs to, and how
 * wide an instruction's access is. The recorded program is this test itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mem_names.h"
#include "perf_write.h"
#include "sharing.h"

#ifdef __x86_64__

static struct {
	uint64_t wide;
	uint64_t pad[15];
} shared_line __attribute__((aligned(64), used));

extern const char test_wide_store[], test_narrow_load[];

/* Never called for what it does. */
__attribute__((noinline)) static void code(void)
{
	__asm__ volatile(".globl test_wide_store\n"
			 "test_wide_store: movq $1, %0\n"
			 ".globl test_narrow_load\n"
			 "test_narrow_load: movl 4+%0, %%eax\n"
			 : "+m"(shared_line.wide)
			 :
			 : "eax");
}

/* The mapping of this program that holds an address. */
static void mapping_of(const void *p, uint64_t *from, uint64_t *n, uint64_t *off, char path[256])
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	assert_non_null(f);
	*n = 0;
	while (!*n && fgets(line, sizeof(line), f)) {
		unsigned long a, b, o;
		char file[256] = "";

		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &a, &b, &o, file) >= 3 &&
		    (uintptr_t)p >= a && (uintptr_t)p < b) {
			*from = a;
			*n = b - a;
			*off = o;
			strcpy(path, file);
		}
	}
	fclose(f);
	assert_true(*n);
}

static void sample(struct perf_write *w, int tid, const void *pc, uint64_t addr, bool store,
		   uint64_t t)
{
	uint64_t body[8] = {PW_ID,
			    (uintptr_t)pc,
			    (uint64_t)tid << 32 | 100,
			    t,
			    addr,
			    (uint64_t)tid % 2,
			    90,
			    store ? 0x4 | 0x0aull << 5 : 0x2 | 0x42ull << 5 | 0x10 << 19};

	pw_rec(w, TY_PERF_SAMPLE, 2, body, sizeof(body));
}

static void test_names(void **state)
{
	uint64_t from = 0, n = 0, off = 0, at = (uintptr_t)&shared_line;
	struct ty_mem_points points = {0};
	struct ty_mem_stream *stream = NULL;
	struct ty_mem_names *names;
	struct ty_mem_name_of name;
	const struct ty_mem_code codes[] = {
		{.addr = (uintptr_t)test_wide_store, .ts_ns = 1000, .pid = 100},
		{.addr = (uintptr_t)test_narrow_load, .ts_ns = 1000, .pid = 100},
		{.addr = (uintptr_t)test_wide_store, .ts_ns = 1000, .pid = 7}};
	const struct ty_mem_points some = {.code = codes, .codes = 3};
	struct ty_sharing sharing;
	const struct ty_mem *m;
	const uint8_t *width;
	struct ty_err err = {0};
	struct perf_write w;
	struct ty_perf *perf;
	struct ty_buf file;
	char path[32], exe[256];

	code();
	mapping_of(test_wide_store, &from, &n, &off, exe);
	pw_init(&w);
	w.cpuid = "GenuineIntel,6,106,6";
	w.arch = "x86_64";
	w.type = 4;
	pw_mmap2(&w, (struct pw_at){.pid = 100, .tid = 100, .time = 1}, from, n, off, 5, exe);
	for (unsigned i = 0; i < 10; i++) {
		sample(&w, 101, test_wide_store, at, true, 1000 + 200 * i);
		sample(&w, 102, test_narrow_load, at + 4, false, 1100 + 200 * i);
	}
	/* The one mapped last before counts; where there are too many to be looked at, none. */
	pw_mmap2(&w, (struct pw_at){.pid = 300, .tid = 300, .time = 1}, from, n, off, 5, exe);
	pw_mmap2(&w, (struct pw_at){.pid = 300, .tid = 300, .time = 5000}, from - 8, n, off, 5,
		 exe);
	for (int32_t pid = 301; pid <= 303; pid++)
		for (unsigned i = 0; i < (pid == 302 ? 20000 : 10000); i++) {
			bool own = i == (pid == 301 ? 1 : pid == 302 ? 19999 : 0);

			pw_mmap2(&w, (struct pw_at){.pid = pid, .tid = pid, .time = 1 + i % 1000},
				 own ? from : i << 12, own ? n : 4096, own ? off : 0, 5,
				 own ? exe : "//anon");
		}
	/* With one more than are looked at. */
	pw_mmap2(&w, (struct pw_at){.pid = 303, .tid = 303, .time = 1}, 4096, 4096, 0, 5, "//anon");
	ty_buf_init(&file, 1 << 24);
	pw_file(&w, &file);
	pw_save(&file, path);
	if (ty_perf_open(path, &perf, &err) || ty_mem_open(perf, &stream, &err))
		fail_msg("%s", err.msg);
	unlink(path);
	assert_int_equal(ty_mem_points_begin(&points, stream, 0), 0);
	while (ty_mem_next(stream, &m, &err) > 0)
		assert_int_equal(ty_mem_points_add(&points, m, "", true), 0);
	assert_int_equal(ty_mem_points_end(&points), 0);
	/* By their addresses alone the two have nothing in common. */
	assert_int_equal(ty_sharing_find(&points, 64, NULL, &sharing), 0);
	assert_int_equal(sharing.lines_n, 1);
	assert_int_equal(sharing.lines[0].kind, TY_SHARING_FALSE);
	assert_true(sharing.lines[0].size_assumed);
	ty_sharing_fini(&sharing);
	/* The code shows that the store is of 8 bytes. */
	names = ty_mem_names_new(stream, NULL, 0, true);
	assert_non_null(names);
	width = ty_mem_access_widths(names, &some, NULL);
	assert_memory_equal(width, "\x8\x4\0", 3);
	ty_mem_names_free(names);
	names = ty_mem_names_new(stream, NULL, 0, true);
	assert_non_null(names);
	points.width = ty_mem_access_widths(names, &points, NULL);
	assert_non_null(points.width);
	assert_int_equal(ty_sharing_find(&points, 64, NULL, &sharing), 0);
	assert_int_equal(sharing.lines_n, 1);
	assert_int_equal(sharing.lines[0].kind, TY_SHARING_TRUE);
	assert_false(sharing.lines[0].size_assumed);
	ty_sharing_fini(&sharing);
	/* The variable, though nothing but the code is mapped in the recording. */
	ty_mem_name(names, 100, at + 4, 2000, &name);
	assert_non_null(name.symbol);
	assert_string_equal(name.symbol, "shared_line");
	assert_int_equal(name.offset, 4);
	ty_mem_name(names, 100, (uintptr_t)code, 2000, &name);
	assert_string_equal(name.symbol, "code");
	ty_mem_name(names, 7, at, 2000, &name);
	assert_null(name.symbol);
	ty_mem_name(names, 300, at + 4, 2000, &name);
	assert_int_equal(name.offset, 4);
	ty_mem_name(names, 300, at + 4, 6000, &name);
	assert_int_equal(name.offset, 12);
	for (int32_t pid = 301; pid <= 302; pid++) {
		ty_mem_name(names, pid, at + 4, 2000, &name);
		assert_non_null(name.symbol);
		assert_int_equal(name.offset, 4);
	}
	ty_mem_name(names, 303, at + 4, 2000, &name);
	assert_null(name.symbol);
	/* Another machine's paths say nothing about this one's files. */
	ty_mem_names_free(names);
	names = ty_mem_names_new(stream, NULL, 0, false);
	width = ty_mem_access_widths(names, &some, NULL);
	assert_memory_equal(width, "\0\0\0", 3);
	ty_mem_names_free(names);
	ty_mem_points_fini(&points);
	ty_mem_close(stream);
	ty_perf_close(perf);
	ty_buf_fini(&file);
	pw_fini(&w);
}

#else
static void test_names(void **state)
{
	skip();
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
