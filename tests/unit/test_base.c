/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buf.h"
#include "compare.h"
#include "err.h"
#include "field_text.h"
#include "digits.h"
#include "json_out.h"
#include "checked_read.h"
#include "strtab.h"
#include "shell_word.h"
#include "units.h"
#include "vec.h"

static void err_keeps_innermost(void **state)
{
	struct ty_err e = {0};

	assert_int_equal(ty_fail(&e, TY_EFORMAT, 7, "inner %d", 1), -TY_EFORMAT);
	assert_int_equal(ty_fail(&e, TY_EIO, 9, "outer"), -TY_EIO);
	assert_string_equal(e.msg, "inner 1");
	assert_int_equal(e.code, TY_EFORMAT);
	assert_int_equal(e.off, 7);
	assert_string_equal(ty_strerror(-TY_ENOSPC), "no space left");
}

static void buf_has_a_limit(void **state)
{
	struct ty_buf b;
	char big[600];

	ty_buf_init(&b, 1000);
	memset(big, 'x', sizeof(big));
	assert_int_equal(ty_buf_add(&b, big, sizeof(big)), 0);
	assert_int_equal(ty_buf_add(&b, big, sizeof(big)), -TY_ELIMIT);
	assert_int_equal(b.len, 600);
	assert_int_equal(ty_buf_addc(&b, 'y'), -TY_ELIMIT); /* sticky */
	ty_buf_reset(&b);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(ty_buf_addc(&b, 'z'), 0);
	assert_int_equal(ty_buf_addc(&b, 'z'), -TY_ELIMIT);
	ty_buf_reset(&b);
	assert_int_equal(ty_buf_addf(&b, "%0500d|%s", 1, "end"), 0);
	assert_int_equal(b.len, 504);
	assert_string_equal(b.p + 500, "|end");
	ty_buf_reset(&b);
	ty_buf_addle(&b, 0x0102030405060708, 8);
	ty_buf_addle(&b, 0xaabb, 2);
	assert_memory_equal(b.p, "\x08\x07\x06\x05\x04\x03\x02\x01\xbb\xaa", 10);
	ty_buf_fini(&b);
	/* no limit: sizes near the end of the address space are refused, not wrapped around */
	ty_buf_init(&b, SIZE_MAX);
	assert_int_equal(ty_buf_addc(&b, 'x'), 0);
	assert_string_equal(b.p, "x");
	assert_true(ty_buf_reserve(&b, SIZE_MAX - 1) < 0);
	assert_string_equal(b.p, "x");
	ty_buf_fini(&b);
}

static void reads_stay_inside(void **state)
{
	const uint8_t bytes[] = {1, 2, 3, 4, 'h', 'i', 0, 9};
	struct ty_rd r = ty_rd_init(bytes, sizeof(bytes), false);

	assert_int_equal(ty_rd_u32(&r), 0x04030201);
	assert_string_equal(ty_rd_str(&r), "hi");
	assert_int_equal(ty_rd_left(&r), 1);
	assert_null(ty_rd_str(&r)); /* no NUL */
	assert_true(r.bad);
	assert_int_equal(ty_rd_u8(&r), 0); /* sticky */
	r = ty_rd_init(bytes, sizeof(bytes), true);
	assert_int_equal(ty_rd_u32(&r), 0x01020304);
	assert_null(ty_rd_bytes(&r, UINT64_MAX));
	r = ty_rd_init(bytes, 3, false);
	assert_int_equal(ty_rd_u32(&r), 0);
	assert_true(r.bad);
}

static void strings_are_interned(void **state)
{
	struct ty_strtab *t = ty_strtab_new();
	char name[32];

	assert_int_equal(ty_strtab_add(t, "", 0), 0);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 1; i < 5000; i++) {
			snprintf(name, sizeof(name), "thread-%u", i);
			assert_int_equal(ty_strtab_add(t, name, sizeof(name)), i);
		}
	assert_string_equal(ty_strtab_get(t, 77), "thread-77");
	assert_int_equal(ty_strtab_add(t, "thread-77xx", 9), 77);
	assert_string_equal(ty_strtab_get(t, 1000000), "");
	assert_int_equal(ty_strtab_find(t, "thread-77xx", 9), 77);
	assert_int_equal(ty_strtab_find(t, "", 0), 0);
	assert_int_equal(ty_strtab_find(t, "thread-5000", 11), UINT32_MAX);
	assert_int_equal(ty_strtab_count(t), 5000);
	ty_strtab_free(t);
}

static void durations_and_sizes(void **state)
{
	static const struct {
		const char *s;
		uint64_t ns;
	} good[] = {{"500ms", 500000000}, {"20s", 20000000000}, {"2m", 120000000000},
		    {"1.5", 1500000000},  {"7ns", 7},		{"10us", 10000},
		    {"1h", 3600000000000}};
	static const char *const bad[] = {"",	 "-1",	"5x",	"ms", "1..2",
					  "inf", "nan", "0x10", " 5", "99999999999d"};
	char t[TY_DURATION_MAX];
	uint64_t v;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		assert_int_equal(ty_parse_duration(good[i].s, &v), 0);
		assert_int_equal(v, good[i].ns);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ty_parse_duration(bad[i], &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_size("64M", &v), 0);
	assert_int_equal(v, 64 << 20);
	assert_int_equal(ty_parse_size("512k", &v), 0);
	assert_int_equal(v, 512 << 10);
	assert_int_equal(ty_parse_size("2GiB", &v), 0);
	assert_int_equal(v, UINT64_C(2) << 30);
	assert_int_equal(ty_parse_size("5Q", &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_size("", &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_digits("420x", 3, 420, &v), 0);
	assert_int_equal(v, 420);
	assert_int_equal(ty_parse_digits("420x", 4, 420, &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_digits("421", 3, 420, &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_digits("", 0, 420, &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_digits("-1", 2, 420, &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_digits("18446744073709551615", 20, UINT64_MAX, &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(ty_parse_digits("18446744073709551616", 20, UINT64_MAX, &v), -TY_EUSAGE);
	assert_int_equal(ty_parse_count("1", 1, &v), 0);
	assert_int_equal(ty_parse_count("0", 1, &v), -TY_EUSAGE);
	assert_string_equal(ty_fmt_duration(2310000000, t), "2.310 s");
	assert_string_equal(ty_fmt_duration(12300000, t), "12.3 ms");
	assert_string_equal(ty_fmt_duration(999999999, t), "1.000 s");
	assert_string_equal(ty_fmt_duration(450000, t), "450 us");
	assert_string_equal(ty_fmt_duration(80, t), "80 ns");
	assert_string_equal(ty_fmt_span(1200000, t), "1.20 ms");
	assert_string_equal(ty_fmt_span(12340000000, t), "12.3 s");
	assert_string_equal(ty_fmt_span(59970000000, t), "1 min");
	assert_string_equal(ty_fmt_span(603400000000, t), "10 min 3 s");
	assert_string_equal(ty_fmt_span(3600000000000, t), "1 h");
	assert_string_equal(ty_fmt_span(10925000000000, t), "3 h 2 min");
	assert_non_null(ty_fmt_span(UINT64_MAX, t));
	assert_string_equal(ty_fmt_bytes(11200000, t), "11 MB");
	assert_string_equal(ty_fmt_bytes(1234, t), "1.2 kB");
	assert_string_equal(ty_fmt_bytes(999, t), "999 B");
}

/* As printf has them: around every power of ten and of two. */
static void digits(void **state)
{
	for (unsigned k = 0; k < 64 * 5; k++) {
		uint64_t v = (UINT64_C(1) << k / 5) + k % 5 - 2, ten = 1;
		char mine[TY_DIGITS_MAX + 10], ours[40];

		for (unsigned i = 0; i < k % 20; i++)
			ten *= 10;
		v = k & 1 ? v : ten - (k / 20 % 3) + 1;
		snprintf(ours, sizeof(ours), "%" PRIu64, v);
		*ty_put_dec(mine, v) = 0;
		assert_string_equal(mine, ours);
		snprintf(ours, sizeof(ours), "0x%" PRIx64, v);
		memset(mine, 'x', sizeof(mine));
		*ty_put_hex(mine, v) = 0;
		assert_string_equal(mine, ours);
		assert_true(strlen(mine) < TY_DIGITS_MAX);
		snprintf(ours, sizeof(ours), k & 2 ? "%0*" PRIu64 : "%*" PRIu64, k % 10, v);
		*ty_put_right(mine, v, k % 10, k & 2 ? '0' : ' ') = 0;
		assert_string_equal(mine, ours);
	}
}

/* What is longer than the writer holds, with commas and signs that close at every place in it. */
static void long_json(void **state)
{
	const unsigned n = 9000;
	struct ty_json j;
	char *text = NULL, word[64];
	const char *at;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	ty_json_init(&j, f);
	ty_json_array(&j, NULL);
	for (unsigned i = 0; i < n; i++) {
		memset(word, 'a' + (int)(i % 26), sizeof(word));
		ty_json_object(&j, NULL);
		ty_json_strn(&j, "s", word, i % sizeof(word));
		ty_json_array(&j, "e");
		ty_json_end_array(&j);
		ty_json_i64(&j, "i", -(int64_t)i);
		ty_json_name(&j, "n", word, i % 7);
		ty_json_made(&j, "m", "[1]", 3);
		ty_json_null(&j, "z");
		ty_json_end_object(&j);
	}
	ty_json_end_array(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
	fclose(f);
	at = text;
	for (unsigned i = 0; i < n; i++) {
		char want[200];
		int w;

		memset(word, 'a' + (int)(i % 26), sizeof(word));
		w = snprintf(want, sizeof(want),
			     "%c{\"s\":\"%.*s\",\"e\":[],\"i\":%s%u,\"n\":\"%.*s\",\"m\":[1],\"z\":"
			     "null}",
			     i ? ',' : '[', (int)(i % sizeof(word)), word, i ? "-" : "", i,
			     (int)(i % 7), word);
		assert_memory_equal(at, want, w);
		at += w;
	}
	assert_string_equal(at, "]\n");
	free(text);
}

static void json_is_json(void **state)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	struct ty_json j;

	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_json_u64(&j, "a", UINT64_MAX);
	ty_json_array(&j, "b");
	ty_json_i64(&j, NULL, -5);
	ty_json_object(&j, NULL);
	ty_json_end_object(&j);
	ty_json_str(&j, NULL, "q\"\\\n\x01\xff\xc3\xa9\xed\xa0\x80");
	ty_json_end_array(&j);
	ty_json_hex(&j, "h", 255);
	ty_json_f64(&j, "f", 1.0 / 0.0);
	ty_json_bool(&j, "t", true);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_u64(&j, NULL, 1);
	ty_json_line(&j);
	ty_json_fini(&j);
	fclose(f);
	assert_string_equal(text,
			    "{\"a\":18446744073709551615,\"b\":[-5,{},"
			    "\"q\\\"\\\\\\u000a\\u0001\\ufffd\xc3\xa9\\ufffd\\ufffd\\ufffd\"],"
			    "\"h\":\"0xff\",\"f\":null,\"t\":true}\n1\n");
	free(text);
}

/* What is written as one field of a line is read back; a cut one ends within its room. */
static void fields_of_lines(void **state)
{
	static const char text[] = "a\tb\nc\\d\\te";
	char out[sizeof(text)];
	struct ty_buf b;

	ty_buf_init(&b, 100);
	assert_int_equal(ty_escape_field(&b, text, sizeof(text) - 1), 0);
	assert_string_equal(b.p, "a\\tb\\nc\\\\d\\\\te");
	assert_int_equal(ty_unescape_field(b.p, b.len, out, sizeof(out)), sizeof(text) - 1);
	assert_string_equal(out, text);
	assert_int_equal(ty_unescape_field(b.p, b.len, out, 4), 3);
	assert_string_equal(out, "a\tb");
	assert_int_equal(ty_unescape_field("x\\", 2, out, sizeof(out)), 2);
	assert_string_equal(out, "x\\"); /* nothing is behind it */
	ty_buf_fini(&b);
	assert_int_equal(compare(1, 2), -1);
	assert_int_equal(compare(2, 2) ?: compare(UINT64_MAX, (uint64_t)1), 1);
}

/* A shell takes the words as they were meant; a name that does not fit is not cut. */
static void words_for_a_shell(void **state)
{
	char out[32], text[48] = "see tarry report FILE ledger";

	assert_string_equal(ty_shell_word("/tmp/a-1.dat", "FILE", out, sizeof(out)),
			    "/tmp/a-1.dat");
	assert_string_equal(ty_shell_word("it's $x", "FILE", out, sizeof(out)), "'it'\\''s $x'");
	assert_string_equal(ty_shell_word("", "FILE", out, sizeof(out)), "''");
	assert_string_equal(ty_shell_word("0123456789012345678901234567890", "FILE", out, 32),
			    "FILE");
	ty_shell_name_file(text, sizeof(text), "a b");
	assert_string_equal(text, "see tarry report 'a b' ledger");
	snprintf(text, sizeof(text), "tarry dump FILE x, tarry dump FILES");
	ty_shell_name_file(text, sizeof(text), "0123456789012345");
	assert_string_equal(text, "tarry dump 0123456789012345 x, tarry dump FILES");
	snprintf(text, sizeof(text), "tarry dump FILE x, tarry dump FILES");
	ty_shell_name_file(text, sizeof(text), "01234567890123456");
	assert_string_equal(text, "tarry dump FILE x, tarry dump FILES");
}

ORDER(by_value, int, compare(*a, *b))

/* In order or not, where the last two are the first that are not. */
static void arrays_are_sorted(void **state)
{
	static const int from[][4] = {{1, 2, 2, 3}, {1, 2, 4, 3}, {2, 1, 3, 4}, {4, 3, 2, 1}};

	for (unsigned i = 0; i < sizeof(from) / sizeof(*from); i++)
		for (unsigned n = 0; n <= 4; n++) {
			VEC(int) v = {0};

			for (unsigned k = 0; k < n; k++)
				assert_int_equal(0, vec_push(&v, from[i][k]));
			vec_sort(&v, by_value);
			for (unsigned k = 1; k < n; k++)
				assert_true(v.v[k - 1] <= v.v[k]);
			vec_fini(&v);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err_keeps_innermost), cmocka_unit_test(buf_has_a_limit),
		cmocka_unit_test(reads_stay_inside),   cmocka_unit_test(strings_are_interned),
		cmocka_unit_test(durations_and_sizes), cmocka_unit_test(json_is_json),
		cmocka_unit_test(long_json),	       cmocka_unit_test(digits),
		cmocka_unit_test(fields_of_lines),     cmocka_unit_test(words_for_a_shell),
		cmocka_unit_test(arrays_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
