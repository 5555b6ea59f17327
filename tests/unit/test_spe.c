/* SPDX-License-Identifier: MIT */
/* Arm SPE: every packet, records, damage and where reading resumes; the packet dumps of real cores
 * in ../shared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "err.h"
#include "mem_access.h"
#include "spe_encode.h"
#include "spe_packet.h"
#include "spe_record.h"

#define N1 0x410fd0c0ull

static struct ty_buf in;

static void packet_is(unsigned line, const char *want, unsigned bytes)
{
	struct ty_spe_packet k;
	struct ty_buf t;

	ty_buf_init(&t, 4096);
	if (ty_spe_packet((uint8_t *)in.p, in.len, 0, &k) != 1)
		fail_msg("line %u: no packet, should be %s", line, want);
	ty_spe_packet_text(&k, &t);
	if (strcmp(t.p, want) || k.bytes != bytes)
		fail_msg("line %u: '%s' (%u bytes), should be '%s' (%u)", line, t.p, k.bytes, want,
			 bytes);
	/* Cut anywhere it is no packet yet. */
	for (size_t n = 0; n < bytes && k.kind != TY_SPE_PAD; n++)
		assert_int_equal(ty_spe_packet((uint8_t *)in.p, n, 0, &k), 0);
	ty_buf_fini(&t);
	ty_buf_reset(&in);
}
#define IS(want, bytes) packet_is(__LINE__, want, bytes)

static void test_packets(void **state)
{
	struct ty_spe_packet k;

	(void)state;
	spe_pad(&in, 3);
	IS("PAD", 3);
	spe_end(&in);
	IS("END", 1);
	spe_ts(&in, 77);
	IS("TS 77", 9);
	for (unsigned n = 1; n <= 8; n *= 2) {
		spe_events(&in, 0x16, n);
		IS("EV RETIRED L1D-ACCESS TLB-ACCESS", 1 + n);
	}
	spe_events(&in, 1ull << 63 | 1 << 12 | 1 << 21, 8);
	IS("EV EVENT-12 HITM EVENT-63", 9);
	spe_source(&in, 9, 1);
	IS("DATA-SOURCE 9", 2);
	spe_source(&in, 0x1234, 2);
	IS("DATA-SOURCE 4660", 3);
	spe_context(&in, 0, 0x5f80);
	IS("CONTEXT 0x5f80 el1", 5);
	spe_context(&in, 1, 14);
	IS("CONTEXT 0xe el2", 5);
	spe_address(&in, 0, 0x4000 | 1ull << 63);
	IS("PC 0x4000 el0 ns=1", 9);
	spe_address(&in, 1, 0x4000 | 3ull << 61);
	IS("TGT 0x4000 el3 ns=0", 9);
	spe_address(&in, 2, 0xffff00000f293bc0);
	IS("VA 0xffff00000f293bc0", 9);
	spe_address(&in, 3, 0x1000 | 1ull << 62 | 5ull << 56);
	IS("PA 0x1000 ns=0 ch=1 pat=5", 9);
	spe_address(&in, 4, 0x4000 | 1ull << 61);
	IS("PBT 0x4000 el1 ns=0", 9);
	spe_address(&in, 9, 0x99);
	IS("ADDR 9 0x99", 10);
	spe_counter(&in, 0, 12);
	IS("LAT 12 TOT", 3);
	spe_counter(&in, 1, 4);
	IS("LAT 4 ISSUE", 3);
	spe_counter(&in, 2, 1);
	IS("LAT 1 XLAT", 3);
	spe_counter(&in, 6, 5);
	IS("LAT 5 COUNTER-6", 3);
	spe_counter(&in, 31, 5);
	IS("LAT 5 COUNTER-31", 4);
	/* Alignment: to the next multiple of 16, by the place in the AUX stream. */
	ty_buf_add(&in, "\x23\0aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 34);
	assert_int_equal(ty_spe_packet((uint8_t *)in.p, in.len, 0, &k), 1);
	assert_int_equal(k.bytes, 16);
	assert_int_equal(ty_spe_packet((uint8_t *)in.p, in.len, 37, &k), 1);
	assert_int_equal(k.bytes, 11);
	assert_int_equal(ty_spe_packet((uint8_t *)in.p, in.len, 47, &k), 1);
	assert_int_equal(k.bytes, 17);
	ty_buf_reset(&in);
	/* What begins no packet. */
	ty_buf_add(&in, "\xff\0\0\0\0\0\0\0\0\0", 10);
	assert_int_equal(ty_spe_packet((uint8_t *)in.p, in.len, 0, &k), -TY_EFORMAT);
	ty_buf_reset(&in);
	ty_buf_add(&in, "\x20\x42\0\0", 4);
	assert_int_equal(ty_spe_packet((uint8_t *)in.p, in.len, 0, &k), -TY_EFORMAT);
	ty_buf_reset(&in);
}

static void test_operations(void **state)
{
	static const struct {
		unsigned c, v;
		const char *text;
	} ops[] = {
		{0, 0x00, "OTHER INSN-OTHER"},
		{0, 0x01, "OTHER COND-SELECT"},
		{0, 0x06, "OTHER INSN-OTHER FP ASE"},
		{0, 0x1e, "SVE-OTHER EVLEN 64 FP PRED"},
		{0, 0x9e, "SME-OTHER ETS 1024 FP"},
		{1, 0x00, "LD GP-REG"},
		{1, 0x01, "ST GP-REG"},
		{1, 0x05, "ST SIMD-FP"},
		{1, 0x10, "LD UNSPEC-REG"},
		{1, 0x14, "LD MTE-TAG"},
		{1, 0x31, "ST NV-SYSREG"},
		{1, 0x20, "LD MEMCPY"},
		{1, 0x21, "ST MEMCPY"},
		{1, 0x25, "ST MEMSET"},
		{1, 0x16, "LD AT AR"},
		{1, 0x0a, "LD EXCL"},
		{1, 0x1f, "ST AT EXCL AR"},
		{1, 0x9c, "LD EVLEN 64 PRED SG"},
		{1, 0x45, "ST GCS COMMON"},
		{2, 0x01, "B COND"},
		{2, 0x02, "B IND"},
		{2, 0x0a, "B IND BL"},
		{2, 0x16, "B IND GCS RET"},
		{2, 0x18, "B NOT-CALL-RET"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ops) / sizeof(*ops); i++) {
		spe_op(&in, ops[i].c, ops[i].v);
		IS(ops[i].text, 2);
	}
}

static int next(struct ty_spe_decoder *d, size_t *pos, struct ty_mem *m)
{
	size_t used;
	int r = ty_spe_next(d, (uint8_t *)in.p + *pos, in.len - *pos, &used, m);

	*pos += used;
	assert_int_equal(d->off, *pos);
	return r;
}

static void test_record(void **state)
{
	struct ty_spe_decoder d = {.midr = N1, .last = true};
	struct ty_mem m;
	size_t pos = 0;

	(void)state;
	ty_buf_reset(&in);
	spe_address(&in, 0, 0x8000001000 | 1ull << 61 | 1ull << 63);
	spe_context(&in, 0, 41);
	spe_context(&in, 1, 42);
	spe_op(&in, 1, 0);
	spe_events(&in, 0x16, 2);
	spe_counter(&in, 1, 4);
	spe_counter(&in, 0, 300);
	spe_address(&in, 2, 0xa5ull << 56 | 0xaaab00001020);
	spe_counter(&in, 2, 7);
	spe_address(&in, 3, 0x80000040020 | 1ull << 63 | 1ull << 62 | 3ull << 56);
	spe_source(&in, 9, 1);
	spe_counter(&in, 6, 99);
	spe_address(&in, 5, 0x1234);
	spe_ts(&in, 5000);
	spe_pad(&in, 20);
	assert_int_equal(next(&d, &pos, &m), 1);
	assert_int_equal(m.kind, TY_MEM_LOAD);
	assert_int_equal(m.pc, 0xff00008000001000);
	assert_int_equal(m.el, 1);
	assert_int_equal(m.va, 0xaaab00001020);
	assert_int_equal(m.tag, 0xa5);
	assert_true(m.has & TY_MEM_HAS_TAG);
	assert_int_equal(m.pa, 0x80000040020);
	assert_int_equal(m.pa_ch, 1);
	assert_int_equal(m.pa_pat, 3);
	assert_int_equal(m.tid, 42); /* the host's context */
	assert_int_equal(m.who, TY_MEM_THREAD_CONTEXT);
	assert_int_equal(m.lat_total, 300);
	assert_int_equal(m.lat_issue, 4);
	assert_int_equal(m.lat_xlat, 7);
	assert_int_equal(m.level, TY_MEM_LV_PEER);
	assert_int_equal(m.src_flags, TY_MEM_SRC_PEER);
	assert_int_equal(m.ticks, 5000);
	assert_int_equal(m.extras, 2);
	assert_int_equal(m.extra[0].index, 6);
	assert_int_equal(m.extra[0].value, 99);
	assert_int_equal(m.extra[1].value, 0x1234);
	assert_int_equal(next(&d, &pos, &m), 0);
	assert_int_equal(pos, in.len);
	ty_buf_reset(&in);
}

static void test_levels(void **state)
{
	static const struct {
		uint64_t midr;
		unsigned code, events, op;
		const char *text;
		unsigned flags;
	} cases[] = {
		{N1, 0xe, 0x16, 0, "DRAM", 0},
		{N1, 0xd, 0x16, 0, "remote socket", TY_MEM_SRC_PEER | TY_MEM_SRC_REMOTE},
		{N1, 0x56, 0x16, 0, "unknown 0x56", 0},
		{0x410fd490, 0xb, 0x16, 0, "system cache", 0},
		{0xc00fac40, 0x7, 0x16, 0, "DDR", 0},
		{0x480fd060, 7, 0x16, 0, "remote socket, modified",
		 TY_MEM_SRC_PEER | TY_MEM_SRC_HITM | TY_MEM_SRC_REMOTE},
		/* An unknown core's codes say nothing. */
		{0, 0xe, 0x16, 0, "L1", TY_MEM_SRC_EVENTS},
		{0, 0xe, 0x30e, 0, "L3 miss", TY_MEM_SRC_EVENTS | TY_MEM_SRC_MISS},
		{0, 0xe, 0x10e, 0, "L3", TY_MEM_SRC_EVENTS},
		{0, 0xe, 0xa0000c, 0, "L1 miss",
		 TY_MEM_SRC_EVENTS | TY_MEM_SRC_MISS | TY_MEM_SRC_HITM | TY_MEM_SRC_PEER},
		{0, 0xe, 0x50e, 0, "L3", TY_MEM_SRC_EVENTS | TY_MEM_SRC_REMOTE},
		/* A store's code is not defined. */
		{N1, 0xe, 0x16, 1, "L1", TY_MEM_SRC_EVENTS},
		{N1, 0xe, 0x2, 1, "", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_mem m = {.kind = cases[i].op ? TY_MEM_STORE : TY_MEM_LOAD,
				   .has = TY_MEM_HAS_SOURCE | TY_MEM_HAS_EVENTS,
				   .source = (uint16_t)cases[i].code,
				   .events = cases[i].events};
		char name[TY_MEM_LEVEL_TEXT];

		ty_mem_set_level(&m, cases[i].midr);
		if (strcmp(ty_mem_source_text(&m, cases[i].midr, name), cases[i].text) ||
		    m.src_flags != cases[i].flags)
			fail_msg("case %zu: '%s' %x", i,
				 ty_mem_source_text(&m, cases[i].midr, name), m.src_flags);
	}
	assert_null(ty_mem_core_name(0));
	assert_string_equal(ty_mem_core_name(N1), "Neoverse N1");
}

static void good(uint64_t ts)
{
	spe_mem(&in,
		(struct spe_mem){
			.pc = 0x4000, .va = 0x1000, .ts = ts, .ctx = 7, .source = 0, .total = 9});
}

/* A bad byte in each place of the middle record: the records around it are read, and every byte is
 * in a record, a gap or padding. */
static void test_damage(void **state)
{
	(void)state;
	for (unsigned at = 0; at < 64; at++) {
		struct ty_spe_decoder d = {.midr = N1, .last = true};
		struct ty_mem m;
		unsigned whole = 0, gaps = 0;
		uint64_t first = 0, last = 0;
		size_t pos = 0;

		ty_buf_reset(&in);
		for (unsigned i = 1; i <= 3; i++)
			good(i * 1000);
		in.p[64 + at] = (char)0xff;
		while (next(&d, &pos, &m)) {
			if (m.kind == TY_MEM_GAP) {
				gaps++;
				assert_true(m.off >= 64 && m.off + m.gap_bytes <= 128);
				continue;
			}
			whole++;
			first = first ? first : m.ticks;
			last = m.ticks;
		}
		assert_int_equal(pos, in.len);
		assert_true(gaps <= 1);
		assert_int_equal(whole + gaps, 3);
		assert_int_equal(first, 1000);
		assert_int_equal(last, 3000);
	}
	/* Cut at every length. */
	for (size_t n = 1; n < 128; n++) {
		struct ty_spe_decoder d = {.midr = N1, .last = true};
		struct ty_mem m;
		size_t pos = 0;
		unsigned whole = 0, gaps = 0;

		ty_buf_reset(&in);
		good(1000);
		good(2000);
		in.len = n;
		while (next(&d, &pos, &m))
			*(m.kind == TY_MEM_GAP ? &gaps : &whole) += 1;
		assert_int_equal(whole, n / 64);
		assert_int_equal(gaps, n % 64 ? 1 : 0);
	}
	/* Cut in the file, filled up with zeros: the next record begins where it ends, and is read.
	 */
	for (unsigned n = 9; n < 55; n++) {
		struct ty_spe_decoder d = {.midr = N1, .last = true};
		struct ty_mem m;
		size_t pos = 0;

		ty_buf_reset(&in);
		for (unsigned i = 1; i <= 4; i++)
			good(i * 1000);
		memset(in.p + 64 + n, 0, 64 - n);
		assert_int_equal(next(&d, &pos, &m), 1);
		assert_int_equal(next(&d, &pos, &m), 1);
		assert_int_equal(m.kind, TY_MEM_GAP);
		assert_int_equal(m.off, 64);
		assert_int_equal(m.gap_bytes, 64);
		assert_int_equal(next(&d, &pos, &m), 1);
		assert_int_equal(m.ticks, 3000);
		assert_int_equal(next(&d, &pos, &m), 1);
		assert_int_equal(m.ticks, 4000);
	}
	/* An alignment packet in a record that is none: the records that it would skip are read. */
	for (unsigned at = 1; at < 3; at++) {
		struct ty_spe_decoder d = {.midr = N1, .last = true};
		struct ty_mem m;
		unsigned whole = 0;
		size_t pos = 0;

		ty_buf_reset(&in);
		for (unsigned i = 1; i <= 1200; i++)
			good(i * 1000);
		in.p[64 * at + 9] = 0x2f;
		in.p[64 * at + 10] = 0;
		while (next(&d, &pos, &m))
			whole += m.kind != TY_MEM_GAP;
		assert_int_equal(whole, 1199);
		assert_int_equal(m.ticks, 1200000);
	}
	/* Between records it skips to where it says, however the bytes are handed over. */
	for (size_t step = 1; step < 3000; step += 171) {
		struct ty_spe_decoder d = {.midr = N1};
		size_t pos = 0, have = 0, used;
		struct ty_mem m;
		int r;

		ty_buf_reset(&in);
		good(1000);
		ty_buf_addc(&in, 0x2a); /* to a multiple of 2048 */
		ty_buf_addc(&in, 0);
		while (in.len < 2048)
			ty_buf_addc(&in, 0x71); /* what is skipped says nothing */
		good(2000);
		assert_int_equal(ty_spe_next(&d, (uint8_t *)in.p, 64, &used, &m), 1);
		for (pos = have = 64, r = 0; !r && have < in.len;) {
			have = have + step < in.len ? have + step : in.len;
			r = ty_spe_next(&d, (uint8_t *)in.p + pos, have - pos, &used, &m);
			pos += used;
		}
		assert_int_equal(r, 1);
		assert_int_equal(m.ticks, 2000);
		assert_int_equal(m.off, 2048);
	}
	/* The same, as long as more may come: nothing is decided. */
	{
		struct ty_spe_decoder d = {.midr = N1};
		struct ty_mem m;
		size_t pos = 0;

		ty_buf_reset(&in);
		good(1000);
		in.len = 40;
		assert_int_equal(next(&d, &pos, &m), 0);
		assert_int_equal(pos, 0);
	}
	ty_buf_reset(&in);
}

/* "." lines of perf's dump: offset, bytes, text. Older texts for what Debian's perf does not know
 * are the same in these files. */
/* A record's last packet around the greatest length of a record, cut at every byte of it: what is
 * not all there is no record, and nothing behind the end is used. */
static void test_longest_waits(void **state)
{
	static const uint8_t tail[][9] = {{0x71, 1, 2, 3, 4, 5, 6, 7, 8}, {0xb2, 1}, {0x20, 0x98}};

	(void)state;
	for (unsigned t = 0; t < 3; t++) {
		for (unsigned at = 4080; at < 4100; at++) {
			for (unsigned cut = 0; cut <= 9; cut++) {
				struct ty_spe_decoder d = {.midr = N1, .last = true};
				bool whole = !t && cut == 9 && at + 9 <= TY_SPE_RECORD_MAX;
				size_t used = 0;
				struct ty_mem m;

				ty_buf_reset(&in);
				spe_context(&in, 0, 1);
				spe_pad(&in, at - (unsigned)in.len);
				ty_buf_add(&in, tail[t], cut);
				assert_int_equal(
					ty_spe_next(&d, (uint8_t *)in.p, in.len, &used, &m), 1);
				assert_true(used <= in.len);
				assert_int_equal(d.off, used);
				assert_int_equal(m.kind == TY_MEM_GAP, !whole);
			}
		}
	}
}

static void check_dump(const char *path)
{
	char name[4096], line[512], want[256];
	uint8_t bytes[4096];
	size_t n, pads = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	snprintf(name, sizeof(name), "%.*s.dump.txt", (int)(strlen(path) - 4), path);
	f = fopen(name, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct ty_spe_packet k;
		struct ty_buf t;
		unsigned off;
		char *s;

		if (sscanf(line, ". %8x:", &off) != 1)
			continue;
		s = strrchr(line, '\n');
		*s = 0;
		/* Bytes are pairs of hex digits; the text begins with a capital. */
		for (s = strchr(line, ':') + 1;
		     *s == ' ' || (isxdigit((unsigned char)s[0]) && isxdigit((unsigned char)s[1]) &&
				   (s[2] == ' ' || !s[2]));
		     s += *s == ' ' ? 1 : 2)
			;
		snprintf(want, sizeof(want), "%s", s);
		if (off < pads)
			continue; /* a longer run of padding takes several lines */
		ty_buf_init(&t, 4096);
		assert_int_equal(ty_spe_packet(bytes + off, n - off, off, &k), 1);
		ty_spe_packet_text(&k, &t);
		if (strcmp(t.p, want))
			fail_msg("%s at 0x%x: '%s', perf says '%s'", path, off, t.p, want);
		pads = off + k.bytes;
		ty_buf_fini(&t);
	}
	fclose(f);
	assert_int_equal(pads, n);
}

static void test_shared(void **state)
{
	const char *dir = "../shared/spe/real";
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned n = 0;

	(void)state;
	if (!d) {
		print_message("# %s is not there\n", dir);
		skip();
	}
	while ((e = readdir(d)))
		if (strlen(e->d_name) > 4 && !strcmp(e->d_name + strlen(e->d_name) - 4, ".bin")) {
			char path[4096];

			snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
			check_dump(path);
			n++;
		}
	closedir(d);
	assert_true(n > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets), cmocka_unit_test(test_operations),
		cmocka_unit_test(test_record),	cmocka_unit_test(test_levels),
		cmocka_unit_test(test_damage),	cmocka_unit_test(test_longest_waits),
		cmocka_unit_test(test_shared),
	};

	ty_buf_init(&in, 1 << 20);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
