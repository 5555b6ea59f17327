/* SPDX-License-Identifier: MIT */
/* How many bytes instructions access; capstone is not there. */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "disasm.h"

static bool absent;

/* Stands in for the C library's. */
void *dlopen(const char *file, int mode)
{
	static void *(*real)(const char *, int);
	void *f = dlsym(RTLD_NEXT, "dlopen");

	memcpy(&real, &f, sizeof(f));
	return real(absent ? "libabsent.so.0" : file, mode);
}

static void test_absent(void **state)
{
	struct ty_err err = {0};

	assert_null(ty_disasm_missing());
	absent = true;
	assert_null(ty_disasm_new(TY_DISASM_X86_64, &err));
	absent = false;
	assert_string_equal(err.msg, ty_disasm_missing());
	/* It is not tried again. */
	assert_null(ty_disasm_new(TY_DISASM_X86_64, NULL));
	assert_int_equal(err.code, TY_ENOTFOUND);
	assert_non_null(strstr(err.msg, "libabsent.so.0: cannot open shared object file"));
	assert_non_null(strstr(err.msg, "(install libcapstone.so."));
}

static void test_arm64(void **state)
{
	static const struct {
		uint32_t code;
		unsigned bytes;
		const char *text; /* begins so */
	} cases[] = {
		{0xb9400020, 4, "ldr w0, [x1]"},
		{0xf9400020, 8, "ldr x0, [x1]"},
		{0x39400020, 1, "ldrb"},
		{0x79400020, 2, "ldrh"},
		{0x39000020, 1, "strb"},
		{0x79c00020, 2, "ldrsh"},
		{0xb9800020, 4, "ldrsw x0"},
		{0xf900003f, 8, "str xzr"},
		{0xa9400440, 16, "ldp x0, x1"},
		{0x29400440, 8, "ldp w0, w1"},
		{0x69400440, 8, "ldpsw x0, x1"},
		{0xad400440, 32, "ldp q0, q1"},
		{0x3dc00020, 16, "ldr q0"},
		{0xbd400020, 4, "ldr s0"},
		{0xfd400020, 8, "ldr d0"},
		{0xc85f7c20, 8, "ldxr x0"},
		{0xc8027c20, 8, "stxr w2, x0"},
		{0x08027c20, 1, "stxrb w2, w0"},
		{0x88dffc20, 4, "ldar w0"},
		{0xf8200041, 8, ""},
		{0xb8e00041, 4, ""},
		{0x38e00041, 1, ""},
		{0xf8208041, 8, ""},
		{0xc8a07c41, 8, ""},
		{0x4c407020, 16, "ld1 {v0.16b}"},
		{0x0c40a020, 16, "ld1 {v0.8b, v1.8b}"},
		{0x0d408020, 4, "ld1 {v0.s}[0]"},
		{0xf9800020, 0, "prfm"},
		{0x8b010000, 0, "add x0"},
		{0x00000000, 0, "(bad)"},
	};
	struct ty_disasm *d = ty_disasm_new(TY_DISASM_ARM64, NULL);

	assert_non_null(d);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[4];
		char text[80], flat[80];
		unsigned bytes, n = 0;

		memcpy(code, &cases[i].code, 4);
		ty_disasm_text(d, code, 4, 0x4000, text, sizeof(text));
		for (const char *p = text; *p; p++) /* "{v0.16b}, [x1]" in one blank style */
			if (!(*p == ' ' && (p[-1] == '{' || p[1] == '}')))
				flat[n++] = *p;
		flat[n] = 0;
		if (strncmp(flat, cases[i].text, strlen(cases[i].text)) && cases[i].code)
			fail_msg("0x%08x is '%s', not '%s'", cases[i].code, flat, cases[i].text);
		bytes = ty_disasm_access(d, code, 4, 0x4000);
		if (bytes != cases[i].bytes)
			fail_msg("%s: %u bytes", text, bytes);
	}
	ty_disasm_free(d);
}

static void test_x86(void **state)
{
	static const struct {
		const char *code;
		unsigned n, bytes;
	} cases[] = {
		{"\x8b\x07", 2, 4},	     /* mov eax, [rdi] */
		{"\x48\x89\x07", 3, 8},	     /* mov [rdi], rax */
		{"\xc6\x07\x01", 3, 1},	     /* mov byte [rdi], 1 */
		{"\x0f\xb6\x07", 3, 1},	     /* movzx eax, byte [rdi] */
		{"\xf0\x0f\xc1\x07", 4, 4},  /* lock xadd [rdi], eax */
		{"\xc5\xfe\x6f\x07", 4, 32}, /* vmovdqu ymm0, [rdi] */
		{"\x8d\x07", 2, 0},	     /* lea eax, [rdi] */
		{"\x0f\x1f\x00", 3, 0},	     /* nop dword [rax] */
		{"\x01\xc0", 2, 0},	     /* add eax, eax */
		{"\x8b", 1, 0},		     /* cut */
	};
	struct ty_disasm *d = ty_disasm_new(TY_DISASM_X86_64, NULL);

	assert_non_null(d);
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(
			ty_disasm_access(d, (const uint8_t *)cases[i].code, cases[i].n, 0x4000),
			cases[i].bytes);
	ty_disasm_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_x86),
		cmocka_unit_test(test_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
