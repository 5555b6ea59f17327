/* SPDX-License-Identifier: MIT */
/* Libraries by name as ld.so(8) finds them, among files that are made here; and damaged ones. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "loader_find.h"

static char dir[] = "/tmp/tarry-loader-XXXXXX";

struct image {
	Elf64_Ehdr head;
	Elf64_Phdr load, dynamic;
	Elf64_Dyn dyn[8];
	char strings[256];
};

static const char *in(const char *name)
{
	static char path[4][PATH_MAX];
	static unsigned i;

	snprintf(path[++i % 4], PATH_MAX, "%s/%s", dir, name);
	return path[i % 4];
}

static void write_file(const char *name, const void *p, size_t n)
{
	FILE *f = fopen(in(name), "w");

	assert_non_null(f);
	assert_int_equal(n, fwrite(p, 1, n, f));
	assert_int_equal(0, fclose(f));
}

static void add(struct image *e, unsigned *n, size_t *at, int64_t tag, const char *text)
{
	if (!text)
		return;
	e->dyn[(*n)++] = (Elf64_Dyn){.d_tag = tag, .d_un.d_val = *at};
	strcpy(e->strings + *at, text);
	*at += strlen(text) + 1;
}

/* An ELF file that needs up to two libraries. */
static struct image make(const char *name, const char *a, const char *b, const char *rpath,
			 const char *runpath)
{
	struct image e = {
		.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			 .e_machine = EM_X86_64,
			 .e_phoff = offsetof(struct image, load),
			 .e_phnum = 2,
			 .e_phentsize = sizeof(Elf64_Phdr)},
		.load = {.p_type = PT_LOAD, .p_vaddr = 0x1000, .p_filesz = sizeof(struct image)},
		.dynamic = {.p_type = PT_DYNAMIC,
			    .p_offset = offsetof(struct image, dyn),
			    .p_filesz = sizeof(e.dyn)},
	};
	unsigned n = 0;
	size_t at = 1;

	e.dyn[n++] = (Elf64_Dyn){.d_tag = DT_STRTAB,
				 .d_un.d_ptr = 0x1000 + offsetof(struct image, strings)};
	add(&e, &n, &at, DT_NEEDED, a);
	add(&e, &n, &at, DT_NEEDED, b);
	add(&e, &n, &at, DT_RPATH, rpath);
	add(&e, &n, &at, DT_RUNPATH, runpath);
	write_file(name, &e, sizeof(e));
	return e;
}

static void found(const char *want, const char *program, const char *name)
{
	char path[PATH_MAX] = "nothing", real[PATH_MAX];
	bool got = ty_loader_find(in(program), name, in("cache"), path);

	assert_int_equal(want != NULL, got);
	if (want)
		assert_string_equal(in(want), realpath(path, real));
}

static int begin(void **state)
{
	static const char *const folders[] = {"a", "b", "c"};

	assert_non_null(mkdtemp(dir));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(0, mkdir(in(folders[i]), 0755));
	unsetenv("LD_LIBRARY_PATH");
	return 0;
}

static int end(void **state)
{
	char cmd[64];

	snprintf(cmd, sizeof(cmd), "rm -r %s", dir);
	return system(cmd);
}

static void test_order(void **state)
{
	char b[PATH_MAX];

	snprintf(b, sizeof(b), "%s", in("b"));
	make("a/libx.so", NULL, NULL, NULL, NULL);
	make("b/libx.so", NULL, NULL, NULL, NULL);
	make("plain", "libx.so", NULL, NULL, NULL);
	make("runpath", "libx.so", NULL, NULL, "/nowhere:$ORIGIN/a");
	make("rpath", "libx.so", NULL, "${ORIGIN}/a", NULL);
	make("both", "libx.so", NULL, in("c"), "$ORIGIN/a");
	found(NULL, "plain", "libx.so");
	found("a/libx.so", "runpath", "libx.so");
	found("a/libx.so", "rpath", "libx.so");
	found("a/libx.so", "both", "libx.so");
	setenv("LD_LIBRARY_PATH", b, 1);
	found("b/libx.so", "plain", "libx.so");
	found("b/libx.so", "runpath", "libx.so");
	found("a/libx.so", "rpath", "libx.so");
	unsetenv("LD_LIBRARY_PATH");
}

/* DT_RPATH holds for what the needed libraries need, DT_RUNPATH does not. */
static void test_indirect(void **state)
{
	make("a/liby.so", "libz.so", NULL, NULL, NULL);
	make("a/libz.so", NULL, NULL, NULL, NULL);
	make("rpath", "liby.so", NULL, "$ORIGIN/a", NULL);
	make("runpath", "liby.so", NULL, NULL, "$ORIGIN/a");
	found("a/libz.so", "rpath", "libz.so");
	/* As dlopen in the program would. */
	found("a/libz.so", "runpath", "libz.so");
	make("a/liby.so", "libz.so", NULL, NULL, "$ORIGIN/../b");
	make("b/libz.so", NULL, NULL, NULL, NULL);
	found("b/libz.so", "rpath", "libz.so");
	found("b/libz.so", "runpath", "libz.so");
	found("a/liby.so", "runpath", "liby.so");
	found(NULL, "rpath", "libother.so");
}

/* Of another machine, or no ELF file: passed over. */
static void test_others(void **state)
{
	struct image e = make("a/libx.so", NULL, NULL, NULL, NULL);

	make("b/libx.so", NULL, NULL, NULL, NULL);
	make("runpath", "libx.so", NULL, NULL, "$ORIGIN/a:$ORIGIN/b");
	found("a/libx.so", "runpath", "libx.so");
	e.head.e_machine = EM_AARCH64;
	write_file("a/libx.so", &e, sizeof(e));
	found("b/libx.so", "runpath", "libx.so");
	write_file("a/libx.so", "GROUP ( libx.so.1 )", 19);
	found("b/libx.so", "runpath", "libx.so");
	write_file("runpath", "#!/bin/sh\n", 10);
	found(NULL, "runpath", "libx.so");
}

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

static void test_cache(void **state)
{
	uint8_t c[48 + 2 * 24 + 600] = "glibc-ld.so.cache1.1";
	char path[PATH_MAX];

	make("c/libx.so", NULL, NULL, NULL, NULL);
	make("plain", "libx.so", NULL, NULL, NULL);
	put32(c + 20, 2);
	put32(c + 48 + 4, 96); /* of a newer CPU */
	put32(c + 48 + 8, 104);
	c[48 + 16] = 1;
	put32(c + 72 + 4, 96);
	put32(c + 72 + 8, 104);
	strcpy((char *)c + 96, "libx.so");
	strcpy((char *)c + 104, in("c/libx.so"));
	write_file("cache", c, sizeof(c));
	found("c/libx.so", "plain", "libx.so");
	/* Cut anywhere, numbers beyond all: it ends. */
	for (size_t n = 0; n < 130; n++) {
		write_file("cache", c, n);
		(void)ty_loader_find(in("plain"), "libx.so", in("cache"), path);
	}
	put32(c + 20, UINT32_MAX);
	put32(c + 72 + 4, UINT32_MAX);
	write_file("cache", c, sizeof(c));
	found(NULL, "plain", "libx.so");
	unlink(in("cache"));
}

static void test_damage(void **state)
{
	struct image e = make("p", "libx.so", "liby.so", "$ORIGIN/a", "$ORIGIN/b");
	unsigned seed = 1;
	char path[PATH_MAX];

	for (unsigned i = 0; i < 500; i++) {
		struct image bad = e;
		size_t n = i % 3 ? sizeof(bad) : (unsigned)rand_r(&seed) % sizeof(bad);

		for (unsigned k = 0; k < 1 + i % 4; k++)
			((uint8_t *)&bad)[16 + (unsigned)rand_r(&seed) % (sizeof(bad) - 16)] =
				(uint8_t)rand_r(&seed);
		write_file("p", &bad, n);
		(void)ty_loader_find(in("p"), "libnone.so", in("cache"), path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order), cmocka_unit_test(test_indirect),
		cmocka_unit_test(test_others), cmocka_unit_test(test_cache),
		cmocka_unit_test(test_damage)};

	return cmocka_run_group_tests(tests, begin, end);
}
