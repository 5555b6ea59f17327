/* SPDX-License-Identifier: MIT */
/* One table of fields as text and as JSON: unknown values, gaps, hidden columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "fields.h"

struct rec {
	uint64_t n, dur, at;
	uint32_t u;
	int32_t id;
	double f;
	bool b;
	const char *s;
	char c[8];
};

static const char *shout(const void *ctx, const void *record, char *buf, size_t n)
{
	const struct rec *r = record;

	snprintf(buf, n, "%s%s", r->c, (const char *)ctx);
	return *r->c ? buf : NULL;
}

static const char *instant(const void *ctx, uint64_t t_ns, char *buf, size_t n)
{
	snprintf(buf, n, "t%d", (int)t_ns);
	return buf;
}

#define OF(member) offsetof(struct rec, member)
static const struct ty_field fields[] = {{TY_F_U64, "n", "count", 6, .at = OF(n)},
					 {TY_F_DIGITS, "digits", "raw", 5, .at = OF(n), .gap = 1},
					 {TY_F_DURATION, "dur_ns", "dur", 8, .at = OF(dur)},
					 {TY_F_ELAPSED, NULL, "spent", 7, .at = OF(dur), .gap = -1},
					 {TY_F_INSTANT, "at_ns", "at", 4, .at = OF(at)},
					 {TY_F_U32, "u", "u", 3, .at = OF(u)},
					 {TY_F_ID, "id", "id", 3, .at = OF(id)},
					 {TY_F_F64, "f", "f", 5, .at = OF(f)},
					 {TY_F_BOOL, "b", "yes", 3, .at = OF(b)},
					 {TY_F_STR, "s", "string", -8, .at = OF(s)},
					 {TY_F_CHARS, "c", NULL, 0, .at = OF(c)},
					 {TY_F_TEXT, "loud", "loud", 0, .text = shout},
					 {.type = TY_F_END}};

static const struct ty_field_ctx ctx = {.ctx = "!", .instant = instant};
static const struct rec known = {.n = 1234,
				 .dur = 1500,
				 .at = 7,
				 .u = 5,
				 .id = 3,
				 .f = 2.5,
				 .b = true,
				 .s = "a\tb",
				 .c = "x"};
static const struct rec unknown = {
	.n = UINT64_MAX, .dur = UINT64_MAX, .at = UINT64_MAX, .u = UINT32_MAX, .id = -1, .f = NAN};

static char *text;
static size_t text_n;

/* What was put since, as a string. */
static const char *got(FILE *f)
{
	fclose(f);
	return text;
}

static FILE *begin(void)
{
	free(text);
	text = NULL;
	return open_memstream(&text, &text_n);
}

static const char *json(const struct rec *r, size_t n)
{
	FILE *f = begin();
	struct ty_json j;

	ty_json_init(&j, f);
	ty_json_object(&j, NULL);
	ty_fields_array(fields, &ctx, "v", r, n, sizeof(*r), &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
	return got(f);
}

static void text_lines(void **state)
{
	struct ty_field_ctx c = ctx;
	FILE *f = begin();

	ty_fields_head(fields, &c, f);
	ty_fields_text(fields, &c, &known, f);
	c.hide = ~(1u << 0 | 1u << 9); /* count and string are left */
	ty_fields_text(fields, &c, &unknown, f);
	ty_fields_text(fields, &c, &known, f);
	assert_string_equal(
		got(f),
		" count   raw       dur  spent    at    u   id      f  yes  string    loud\n"
		" 1,234  1234   1.50 us1.50 us    t7    5    3    2.5  yes  a?b       x!\n"
		"     -  -\n"
		" 1,234  a?b\n");
}

static void json_objects(void **state)
{
	const struct rec both[] = {known, unknown};

	assert_string_equal(
		json(both, 2),
		"{\"v\":[{\"n\":1234,\"digits\":1234,\"dur_ns\":1500,\"at_ns\":7,\"u\":5,\"id\":3,"
		"\"f\":2.5,"
		"\"b\":true,\"s\":\"a\\u0009b\",\"c\":\"x\",\"loud\":\"x!\"},"
		"{\"n\":null,\"digits\":18446744073709551615,\"dur_ns\":null,\"at_ns\":null,\"u\":"
		"null,"
		"\"id\":null,\"f\":null,\"b\":false,\"s\":null,\"c\":\"\",\"loud\":null}]}\n");
	assert_string_equal(json(both, 0), "{\"v\":[]}\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_lines),
		cmocka_unit_test(json_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
