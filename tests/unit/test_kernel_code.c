/* SPDX-License-Identifier: MIT */
/* The kernel's code for a recording, from files as /proc has them, read back as the decoder does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <elf.h>

#include "code_map.h"
#include "kernel_code.h"

#define TEXT   0xffffffff81000000ull /* three pages of code, then data */
#define MODULE 0xffffffffc0001000ull /* a page of code, a hole, a page of code */
#define DATA   0xffff888000000000ull
enum { PAGE = 4096, PAGES = 16 };

static char dir[] = "/tmp/tarry-test-XXXXXX";
static char kcore[64], kallsyms[64];

static uint8_t byte_at(uint64_t addr)
{
	return (uint8_t)(addr * 7 + (addr >> 12) * 13);
}

static void put(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(!n || fwrite(p, n, 1, f) == 1);
	assert_int_equal(0, fclose(f));
}

/* As the kernel's: segments in no order, and far more than code. */
static void put_kcore(size_t bytes)
{
	static const uint64_t at[] = {MODULE, DATA, TEXT};
	static uint8_t file[PAGE + 3 * PAGES * PAGE];
	Elf64_Ehdr eh = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB},
			 .e_type = ET_CORE,
			 .e_phoff = sizeof(eh),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 3};

	memcpy(file, &eh, sizeof(eh));
	for (unsigned i = 0; i < 3; i++) {
		Elf64_Phdr ph = {.p_type = PT_LOAD,
				 .p_offset = PAGE + i * PAGES * PAGE,
				 .p_vaddr = at[i],
				 .p_filesz = PAGES * PAGE};

		memcpy(file + sizeof(eh) + i * sizeof(ph), &ph, sizeof(ph));
		for (uint64_t k = 0; k < ph.p_filesz; k++)
			file[ph.p_offset + k] = byte_at(at[i] + k);
	}
	put(kcore, file, bytes < sizeof(file) ? bytes : sizeof(file));
}

static void put_names(const char *text)
{
	put(kallsyms, text, strlen(text));
}

static const char names[] = "ffffffff81002800 t last_one\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81001010 W other\n"
			    "ffffffff81003000 D _sdata\n"
			    "0000000000000000 A fixed_percpu_data\n"
			    "ffffffffc0001100 t mod_init\t[mod]\n"
			    "ffffffffc0001f00 d mod_data\t[mod]\n"
			    "ffffffffc0005ff0 t bpf_prog_1\t[bpf]\n"
			    "ffffffffc0006004 d behind\t[mod]\n"
			    "ffff888000001000 d direct\n";

static size_t readable(struct ty_code *c, uint64_t addr, size_t n)
{
	struct ty_code_at at = {0};
	uint8_t got[8 * PAGE];

	n = ty_code_read(c, 7, 0, addr, got, n, &at);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(byte_at(addr + i), got[i]);
	return n;
}

static struct ty_code *code_of(struct ty_kernel_code *k)
{
	struct ty_code *c = ty_code_new(NULL, NULL);
	static struct ty_buf core;
	int file;

	ty_buf_fini(&core);
	ty_buf_init(&core, 8 << 20);
	ty_buf_add(&core, k->head.p, k->head.len);
	assert_int_equal(0, ty_buf_add(&core, k->code.p, k->code.len));
	file = ty_code_blob(c, "kernel", core.p, core.len);
	assert_int_equal(0, ty_code_map_core(c, file, NULL));
	assert_int_equal(0, ty_code_ready(c));
	return c;
}

static void test_code(void **state)
{
	struct ty_kernel_code k;
	struct ty_code *c;
	char why[200];

	put_kcore(SIZE_MAX);
	put_names(names);
	assert_int_equal(0, ty_kernel_code_read(kcore, kallsyms, &k, why, sizeof(why)));
	assert_string_equal("", why);
	c = code_of(&k);
	assert_int_equal(3 * PAGE, readable(c, TEXT, 4 * PAGE));
	assert_int_equal(PAGE, readable(c, MODULE, 2 * PAGE));
	assert_int_equal(0, readable(c, MODULE + PAGE, 1));
	assert_int_equal(2 * PAGE,
			 readable(c, MODULE + 4 * PAGE, 4 * PAGE)); /* both of its pages */
	assert_int_equal(0, readable(c, DATA + PAGE, 1));
	ty_code_free(c);
	assert_non_null(strstr(k.names.p, "T _stext\n"));
	assert_non_null(strstr(k.names.p, "t mod_init\t[mod]\n"));
	assert_null(strstr(k.names.p, "_sdata"));
	ty_kernel_code_fini(&k);
}

/* What was freed behind the text, and all of what ran at boot only, is others' memory by now. */
static void test_freed(void **state)
{
	struct ty_kernel_code k;
	struct ty_code *c;
	char why[200];

	put_kcore(SIZE_MAX);
	put_names("ffffffff81000000 T _stext\n"
		  "ffffffff81001800 T _etext\n"
		  "ffffffff81004000 T _sinittext\n"
		  "ffffffff81004000 T __init_begin\n"
		  "ffffffff81004100 T start_kernel\n"
		  "ffffffff81006010 T _einittext\n"
		  "ffffffff81007010 t some_exit\n"
		  "ffffffff81009000 D __init_end\n"
		  "ffffffff8100a000 T behind\n"
		  "ffffffff8100b000 D data\n"
		  "ffffffffc0001100 t mod_init\t[mod]\n"
		  "ffffffffc0002000 d mod_data\t[mod]\n");
	assert_int_equal(0, ty_kernel_code_read(kcore, kallsyms, &k, why, sizeof(why)));
	c = code_of(&k);
	for (unsigned i = 0; i < PAGES; i++)
		assert_int_equal(i < 2 || i == 10 ? PAGE : 0, readable(c, TEXT + i * PAGE, PAGE));
	assert_int_equal(PAGE, readable(c, MODULE, 2 * PAGE));
	ty_code_free(c);
	ty_kernel_code_fini(&k);
}

/* What cannot be read is not there; what is before it is. */
static void test_short(void **state)
{
	struct ty_kernel_code k;
	struct ty_code *c;
	char why[200];

	put_kcore(PAGE + 2 * PAGES * PAGE + PAGE + 100); /* into the text's second page */
	put_names(names);
	assert_int_equal(0, ty_kernel_code_read(kcore, kallsyms, &k, why, sizeof(why)));
	/* Of the text's second page, and its third. */
	assert_non_null(strstr(why, "8 KB of "));
	c = code_of(&k);
	assert_int_equal(PAGE + 100, readable(c, TEXT, 4 * PAGE));
	assert_int_equal(PAGE, readable(c, MODULE, PAGE));
	ty_code_free(c);
	ty_kernel_code_fini(&k);
}

static void refused(const char *part)
{
	struct ty_kernel_code k;
	char why[200];

	assert_int_equal(-TY_ENOTFOUND, ty_kernel_code_read(kcore, kallsyms, &k, why, sizeof(why)));
	if (!strstr(why, part))
		fail_msg("'%s' does not say '%s'", why, part);
	assert_int_equal(0, k.head.len);
	ty_kernel_code_fini(&k);
}

static void test_refused(void **state)
{
	put_kcore(SIZE_MAX);
	put_names("0000000000000000 T _stext\n0000000000000000 t other\n");
	refused("kptr_restrict");
	put_names("ffffffff90000000 T elsewhere\n");
	refused("none of the code");
	put_names(names);
	put_kcore(70); /* its headers are cut off */
	refused("none of the code");
	put(kcore, "\177ELF", 4);
	refused("none of the code");
	assert_int_equal(0, unlink(kcore));
	refused("No such file");
	assert_int_equal(0, unlink(kallsyms));
	refused("No such file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code), cmocka_unit_test(test_short),
		cmocka_unit_test(test_freed), cmocka_unit_test(test_refused)};
	int r;

	if (!mkdtemp(dir))
		return 1;
	snprintf(kcore, sizeof(kcore), "%s/kcore", dir);
	snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", dir);
	r = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(kcore);
	unlink(kallsyms);
	rmdir(dir);
	return r;
}
