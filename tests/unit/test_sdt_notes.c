/* SPDX-License-Identifier: MIT */
/* Static probes: this program's own (tarry.h), and arguments in the kernel's words. */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../include/tarry.h"
#include "sdt_notes.h"

static void own_probe(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ty_sdts v = {0};
	uint8_t code[2];

	tarry_begin("used, so that it is there");
	tarry_end();
	assert_int_equal(tarry_recording(), 0);
	assert_true(fd >= 0);
	assert_int_equal(ty_sdt_read(fd, &v), 1);
	assert_string_equal(v.v[0].provider, "tarry");
	assert_string_equal(v.v[0].name, "region");
	assert_true(v.v[0].semaphore > 0);
	assert_int_equal(pread(fd, code, 2, (off_t)v.v[0].offset), 2);
#if defined(__x86_64__)
	assert_int_equal(code[0], 0x90); /* nop; ret */
	assert_int_equal(code[1], 0xc3);
#endif
	/* The semaphore: two bytes of zero. */
	assert_int_equal(pread(fd, code, 2, (off_t)v.v[0].semaphore), 2);
	assert_int_equal(code[0] | code[1], 0);
	vec_fini(&v);
	close(fd);
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	assert_int_equal(ty_sdt_read(fd, &v), 0);
	close(fd);
}

/* This program has a section as Go's have; the shell has none. */
static const char mark[] __attribute__((section(".go.buildinfo"), used)) = "x";

static void go_programs(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(ty_elf_is_go(fd));
	close(fd);
	fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_false(ty_elf_is_go(fd));
	close(fd);
	fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	assert_false(ty_elf_is_go(fd));
	close(fd);
}

/* A table of section names that a file without blocks claims to be of 400 MB is not read. */
static void large_tables(void **state)
{
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("elf", MFD_CLOEXEC);
	struct stat st;
	Elf64_Ehdr eh;
	Elf64_Shdr sh;
	off_t at;
	ty_sdts v = {0};

	assert_true(own >= 0 && fd >= 0 && !fstat(own, &st));
	assert_int_equal(sendfile(fd, own, NULL, (size_t)st.st_size), st.st_size);
	assert_int_equal(ty_sdt_read(fd, &v), 1);
	assert_int_equal(pread(fd, &eh, sizeof(eh), 0), sizeof(eh));
	at = (off_t)(eh.e_shoff + (uint64_t)eh.e_shstrndx * sizeof(sh));
	assert_int_equal(pread(fd, &sh, sizeof(sh), at), sizeof(sh));
	sh.sh_size = 400u << 20;
	assert_int_equal(pwrite(fd, &sh, sizeof(sh), at), sizeof(sh));
	assert_int_equal(ftruncate(fd, 500 << 20), 0);
	assert_int_equal(ty_sdt_read(fd, &v), 0);
	assert_false(ty_elf_is_go(fd));
	vec_fini(&v);
	close(own);
	close(fd);
}

static const char *arguments(const char *args)
{
	static char out[512];
	char one[128];
	size_t k = 0;
	int r;

	*out = 0;
	while ((r = ty_sdt_arg(&args, one, sizeof(one))))
		k += (size_t)snprintf(out + k, sizeof(out) - k, "%s%s", k ? " " : "",
				      r < 0 ? "?" : one);
	return out;
}

static void operands(void **state)
{
	assert_string_equal(arguments(""), "");
#if defined(__x86_64__)
	assert_string_equal(arguments("4@%edi 8@%rsi -8@%rdx"), "%di:u32 %si:u64 %dx:s64");
	assert_string_equal(arguments("-4@-20(%rbp) 1@$7 -2@%r9w 8@(%rsp)"),
			    "-20(%bp):s32 \\7:u8 %r9:s16 +0(%sp):u64");
	assert_string_equal(arguments("4@foo(%rip) 8@(%rax,%rbx,8) 3@%al 8@%xmm0 x 8@ 4@%eax"),
			    "? ? ? ? ? %ax:u32");
#elif defined(__aarch64__)
	assert_string_equal(arguments("4@w0 8@[sp, 16] -4@5"), "%x0:u32 +16(%sp):u64 \\5:s32");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_probe), cmocka_unit_test(go_programs),
		cmocka_unit_test(large_tables), cmocka_unit_test(operands)};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
