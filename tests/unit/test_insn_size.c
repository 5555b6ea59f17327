/* SPDX-License-Identifier: MIT */
/* Lengths of instructions: some by hand, and random ones against libipt, which decodes them alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "insn_size.h"
#include "pt_stream.h"
#include "step_insn.h"

enum { AT = 0x1000, INSN = 15 };

static void test_known(void **state)
{
	static const struct {
		const char *hex;
		size_t size; /* 0: unknown */
	} cases[] = {
		{"90", 1},
		{"4889e5", 3},
		{"48b8efcdab9078563412", 10},
		{"66b83412", 4},
		{"b878563412", 5},
		{"48a1efcdab9078563412", 10},
		{"6748a178563412", 7},
		{"c8100000", 4},
		{"f6c101", 3},
		{"f6d1", 2},
		{"f7c178563412", 6},
		{"66f7c13412", 5},
		{"48c7442408785634ff", 9},
		{"8b0425785634ff", 7},
		{"8b05785634ff", 6},
		{"f30f1efa", 4},
		{"0f20c0", 3},
		{"0f2005", 3},	 /* its mod is ignored */
		{"0f70c1e4", 4}, /* pshufw */
		{"660f3a0fc108", 6},
		{"660f3800c1", 5},
		{"f30fb8c1", 4},
		{"0fb8c1", 0},
		{"c5f877", 0}, /* there may be more of it: a page's end */
		{"c5f877909090", 3},
		{"c5f9eff6909090", 4},
		{"c4e3fd00c04e90", 6},
		{"62f17c48104001", 7},
		{"62f3fd4825c0ff", 7},
		{"48c5f9eff69090", 0}, /* undefined */
		{"c708", 0},
		{"06", 0},
		{"66e878563412", 0}, /* of 4 or 6 bytes, depending on the maker of the processor */
		{"488b", 0},
		{"66666666666666666666666666666690", 0}, /* too long */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t code[20];
		size_t n = strlen(cases[i].hex) / 2;

		for (size_t k = 0; k < n; k++) {
			char byte[3] = {cases[i].hex[2 * k], cases[i].hex[2 * k + 1], 0};

			code[k] = (uint8_t)strtoul(byte, NULL, 16);
		}
		assert_int_equal(cases[i].size, ty_insn_size(code, n));
		/* The length of a part of it is unknown. */
		for (size_t k = 0; k < cases[i].size; k++)
			assert_int_equal(0, ty_insn_size(code, k));
	}
}

/* The fast way gives what the other one gives. */
static void test_plain(void **state)
{
	unsigned seed = 1, plain = 0;
	uint8_t code[INSN];

	ty_insn_plain_ready();
	for (unsigned i = 0; i < 1 << 21; i++) {
		struct ty_step_insn s;
		uint8_t told = 0;
		size_t size;

		for (size_t k = 0; k < INSN; k++)
			code[k] = (uint8_t)(rand_r(&seed) >> 7);
		/* Each first and second byte. */
		code[0] = (uint8_t)i;
		code[1] = (uint8_t)(i >> 8);
		assert_int_equal(0, ty_insn_plain(code, INSN - 1, &told, 1, &size));
		if (!ty_insn_plain(code, INSN, &told, 1, &size))
			continue;
		assert_int_equal(told, size);
		plain++;
		if (size != ty_insn_size(code, INSN))
			fail_msg("%02x %02x %02x %02x: %zu, not %zu", code[0], code[1], code[2],
				 code[3], size, ty_insn_size(code, INSN));
		s = ty_step_classify(code, INSN, AT, true);
		assert_int_equal(TY_STEP_OTHER, s.cls);
		assert_false(s.syscall || s.call || s.ret || s.far || s.rare || s.pushf);
	}
	assert_true(plain > 1 << 19);
}

static size_t read_code(void *ctx, uint64_t tsc, uint64_t ip, void *buf, size_t n)
{
	size_t left = ip >= AT && ip < AT + INSN ? AT + INSN - ip : 0;

	n = n < left ? n : left;
	memcpy(buf, (const uint8_t *)ctx + (left ? ip - AT : 0), n);
	return n;
}

/* Of AVX512-FP16's maps libipt 2.0 knows nothing. */
static bool is_fp16(const uint8_t *code)
{
	const uint8_t *evex = memchr(code, 0x62, 4);

	return evex && (evex[1] & 7) >= 5;
}

/* As libipt has it; 0: it is none. */
static size_t libipt(uint8_t *code)
{
	/* PSB, MODE (64 bits), FUP, PSBEND, and branches to be decoded towards. */
	static const uint8_t packets[] = {2,	   0x82, 2, 0x82, 2, 0x82, 2,	 0x82, 2,    0x82,
					  2,	   0x82, 2, 0x82, 2, 0x82, 0x99, 1,    0x7d, 0,
					  AT >> 8, 0,	 0, 0,	  0, 2,	   0x23, 6,    6};
	const struct ty_pt_cpu cpu = {0};
	struct ty_flow_item it = {0};
	struct ty_pt *pt;
	size_t size = 0;

	assert_int_equal(0, ty_pt_new(&cpu, packets, sizeof(packets), read_code, code, &pt, NULL));
	while (!size && ty_pt_next(pt, &it) > 0 && it.kind != TY_FLOW_GAP)
		size = it.kind == TY_FLOW_INSN ? it.size : 0;
	ty_pt_free(pt);
	return size;
}

static void test_random(void **state)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0x2e,
					   0x64, 0x48, 0x41, 0x4f, 0x40};
	static const char *const maps[] = {"", "", "\x0f", "\x0f", "\x0f\x38", "\x0f\x3a"};
	unsigned seed = 7, told = 0;

	if (!ty_pt_available())
		skip();
	for (unsigned i = 0; i < 60000; i++) {
		const char *map = maps[(unsigned)rand_r(&seed) % 6];
		size_t at = 0, ours, theirs;
		uint8_t code[INSN];

		for (size_t k = 0; k < INSN; k++)
			code[k] = (uint8_t)(rand_r(&seed) >> 8);
		for (unsigned k = (unsigned)rand_r(&seed) % 3; k; k--)
			code[at++] = prefixes[(unsigned)rand_r(&seed) % sizeof(prefixes)];
		memcpy(code + at, map, strlen(map));
		ours = ty_insn_size(code, INSN);
		theirs = ours && !is_fp16(code) ? libipt(code) : 0;
		if (theirs)
			assert_int_equal(theirs, ours);
		told += theirs != 0;
	}
	assert_true(told > 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_known),
					   cmocka_unit_test(test_plain),
					   cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
