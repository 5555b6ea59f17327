/* SPDX-License-Identifier: MIT */
/* Lengths and classes of instructions: some by hand, and random ones against libipt, which decodes
 * them alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "insn_size.h"
#include "pt_conf.h"
#include "pt_item.h"
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
		{"4c46e80b000000", 7},			 /* of REX, the last one applies, */
		{"4048b8efcdab9078563412", 11},
		{"4840b878563412", 7},
		{"4866b83412", 5}, /* and none before another prefix */
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

/* REX that is not the last prefix is ignored: these are the branch that they end with. */
static void test_prefixes(void **state)
{
	static const uint8_t calls[][8] = {
		{0x4c, 0x46, 0xe8, 0x0b}, {0x48, 0x66, 0xe8, 0x0b}, {0x66, 0x48, 0xe8, 0x0b}};
	static const uint8_t far_call[] = {0x40, 0x41, 0xff, 0x1d, 0, 0, 0, 0};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct ty_step_insn s = ty_step_classify(calls[i], sizeof(calls[i]), AT, true);

		assert_int_equal(TY_STEP_DIRECT, s.cls);
		assert_true(s.call);
		assert_int_equal(AT + 7, s.next);
		assert_int_equal(AT + 7 + 0xb, s.target);
		assert_int_equal(TY_STEP_UNKNOWN, ty_step_classify(calls[i], 2, AT, true).cls);
		/* In 32-bit code it is an instruction. */
		if (i < 2)
			assert_int_equal(TY_STEP_OTHER,
					 ty_step_classify(calls[i], 8, AT, false).cls);
	}
	assert_int_equal(TY_STEP_INDIRECT,
			 ty_step_classify(far_call, sizeof(far_call), AT, true).cls);
}

#ifdef TY_HAVE_IPT

static int read_code(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip, void *ctx)
{
	size_t left = ip >= AT && ip < AT + INSN ? AT + INSN - ip : 0;

	n = n < left ? n : left;
	memcpy(buf, (const uint8_t *)ctx + (left ? ip - AT : 0), n);
	return n ? (int)n : -pte_nomap;
}

/* Of AVX512-FP16's maps libipt 2.0 knows nothing. */
static bool is_fp16(const uint8_t *code)
{
	const uint8_t *evex = memchr(code, 0x62, 5);

	return evex && (evex[1] & 7) >= 5;
}

/* As libipt has it; its class is ptic_error: it is none. */
static struct pt_insn libipt(uint8_t *code)
{
	/* PSB, MODE (64 bits), FUP, PSBEND, and branches to be decoded towards. */
	static const uint8_t packets[] = {2,	   0x82, 2, 0x82, 2, 0x82, 2,	 0x82, 2,    0x82,
					  2,	   0x82, 2, 0x82, 2, 0x82, 0x99, 1,    0x7d, 0,
					  AT >> 8, 0,	 0, 0,	  0, 2,	   0x23, 6,    6};
	const struct ty_pt_cpu cpu = {0};
	struct pt_insn insn = {.iclass = ptic_error};
	struct pt_insn_decoder *d;
	struct pt_config conf;
	struct pt_event ev;
	int status;

	ty_pt_conf(&conf, &cpu, packets, sizeof(packets));
	d = pt_insn_alloc_decoder(&conf);
	assert_non_null(d);
	assert_true(pt_image_set_callback(pt_insn_get_image(d), read_code, code) >= 0);
	status = pt_insn_sync_forward(d);
	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(d, &ev, sizeof(ev));
	assert_true(status >= 0);
	(void)pt_insn_next(d, &insn, sizeof(insn));
	pt_insn_free_decoder(d);
	return insn;
}

/* Far calls and jumps to a constant and INTO, which 64-bit code does not have, but libipt 2.0 does.
 */
static bool is_undefined(const uint8_t *code)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};

	while ((*code & 0xf0) == 0x40 || memchr(prefixes, *code, sizeof(prefixes)))
		code++;
	return *code == 0x9a || *code == 0xce || *code == 0xea;
}

/* As libipt's class, but all far branches that are no calls as one. */
static enum pt_insn_class class_of(const struct ty_step_insn *s)
{
	switch (s->cls) {
	case TY_STEP_COND: return ptic_cond_jump;
	case TY_STEP_DIRECT: return s->call ? ptic_call : ptic_jump;
	case TY_STEP_INDIRECT:
		return s->far	 ? s->call ? ptic_far_call : ptic_far_return
		       : s->ret	 ? ptic_return
		       : s->call ? ptic_call
				 : ptic_jump;
	case TY_STEP_KERNEL: return ptic_far_call;
	default: return ptic_other;
	}
}

static void test_random(void **state)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf2, 0xf3, 0x2e,
					   0x64, 0x48, 0x41, 0x4f, 0x40};
	static const char *const maps[] = {"", "", "\x0f", "\x0f", "\x0f\x38", "\x0f\x3a"};
	unsigned seed = 7, sizes = 0, branches = 0;

	for (unsigned i = 0; i < 60000; i++) {
		const char *map = maps[(unsigned)rand_r(&seed) % 6];
		struct ty_flow_item it = {0};
		struct ty_step_insn ours;
		struct pt_insn theirs;
		uint8_t code[INSN];
		size_t at = 0, size;

		for (size_t k = 0; k < INSN; k++)
			code[k] = (uint8_t)(rand_r(&seed) >> 8);
		for (unsigned k = (unsigned)rand_r(&seed) % 4; k; k--)
			code[at++] = prefixes[(unsigned)rand_r(&seed) % sizeof(prefixes)];
		memcpy(code + at, map, strlen(map));
		theirs = libipt(code);
		if (theirs.iclass == ptic_error || is_fp16(code) || is_undefined(code))
			continue;
		ty_pt_item_insn(&theirs, &it);
		if (theirs.iclass == ptic_far_jump)
			theirs.iclass = ptic_far_return;
		if (theirs.iclass == ptic_ptwrite)
			theirs.iclass = ptic_other;
		size = ty_insn_size(code, INSN);
		ours = ty_step_classify(code, INSN, AT, true);
		sizes += size != 0;
		branches += theirs.iclass != ptic_other;
		/* The kernel's own are left to libipt. */
		if ((size && size != theirs.size) ||
		    (!ours.rare && class_of(&ours) != theirs.iclass))
			fail_msg("%02x %02x %02x %02x %02x: %zu, not %u, class %d, not %d", code[0],
				 code[1], code[2], code[3], code[4], size, theirs.size,
				 class_of(&ours), theirs.iclass);
		if (!ours.rare)
			assert_int_equal(theirs.iclass != ptic_other && ours.cls != TY_STEP_DIRECT,
					 ty_pt_item_needs_packet(&it));
	}
	assert_true(sizes > 20000);
	assert_true(branches > 3000);
}

#else

static void test_random(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known), cmocka_unit_test(test_plain),
		cmocka_unit_test(test_prefixes), cmocka_unit_test(test_random)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
