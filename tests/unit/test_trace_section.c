/* SPDX-License-Identifier: MIT */
/* Large sections are decompressed when they are first requested (format/trace_section.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "trace_dat.h"

enum { PIECE = 300001, PIECES = 11 };

static char *content; /* of the section: PIECE * PIECES bytes */

static const char *write_file(const char *name)
{
	struct ty_spool *spool;
	struct ty_spool_writer *w;
	struct ty_err err = {0};
	const char *path = ty_fx_path(name);

	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	w = ty_spool_writer_new(spool, 1 << 20);
	ty_fx_spool_meta(w);
	for (unsigned i = 0; i < PIECES; i++) {
		const struct ty_spool_chunk what = {
			.type = TY_SPOOL_SECTION, .stream = TY_SEC_CALL_DATA, .seq = i};

		assert_int_equal(ty_spool_put(w, &what, content + i * PIECE, PIECE, &err), 0);
	}
	assert_int_equal(ty_fx_spool_data(w, 0, 0, 0, 2, &err), 0);
	ty_fx_spool_end(w);
	assert_int_equal(ty_spool_finish(spool, &err), 0);
	ty_spool_writer_free(w);
	ty_spool_close(spool);
	return path;
}

static int set_up(void **state)
{
	content = malloc(PIECE * PIECES);
	assert_non_null(content);
	for (unsigned i = 0; i < PIECE * PIECES; i++)
		content[i] = (char)((uint64_t)i * i / 7 % 251);
	return 0;
}

static int tear_down(void **state)
{
	free(content);
	ty_fx_remove_dir();
	return 0;
}

static struct ty_trace *reopen(const char *path)
{
	struct ty_err err = {0};
	struct ty_trace *t;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

/* Whether p lies in a file without a name. */
static bool in_unnamed_file(const void *p)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[4400];
	bool found = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		uintptr_t from, to;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2 &&
		    (uintptr_t)p >= from && (uintptr_t)p < to)
			found = strstr(line, "(deleted)");
	}
	fclose(f);
	return found;
}

static void *request(void *t)
{
	return (void *)ty_trace_section(t, TY_SEC_CALL_DATA).s;
}

static void content_is_read_when_it_is_requested(void **state)
{
	const char *path = write_file("later");

	for (unsigned small = 0; small < 2; small++) {
		struct ty_trace *t = reopen(path);
		struct ty_text text;
		pthread_t thread[4];
		struct ty_err err = {0};

		ty_trace_memory(t, small ? 4 << 20 : 256 << 20);
		assert_int_equal(ty_trace_section_bytes(t, TY_SEC_CALL_DATA), PIECE * PIECES);
		assert_int_equal(ty_trace_section_bytes(t, TY_SEC_STACKS), 0);
		assert_string_equal(ty_trace_section(t, TY_SEC_MACHINE).s, "tarry=test\n");
		for (unsigned i = 0; i < 4; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, request, t), 0);
		text = ty_trace_section(t, TY_SEC_CALL_DATA);
		for (unsigned i = 0; i < 4; i++) {
			void *got;

			pthread_join(thread[i], &got);
			assert_ptr_equal(got, text.s);
		}
		assert_int_equal(text.n, PIECE * PIECES);
		assert_memory_equal(text.s, content, text.n);
		assert_int_equal(text.s[text.n], 0);
		assert_int_equal(in_unnamed_file(text.s), small);
		assert_int_equal(ty_trace_section_check(t, &err), 0);
		ty_trace_close(t);
	}
}

/* Where the directory has its entry of the section. */
static char *entry_of(struct ty_buf *b, struct ty_dat_footer *f, struct ty_dat_entry *e)
{
	memcpy(f, b->p + b->len - sizeof(*f), sizeof(*f));
	for (char *at = b->p + f->off; at < b->p + f->off + f->size; at += sizeof(*e)) {
		memcpy(e, at, sizeof(*e));
		if (e->id == TY_DAT_TARRY + TY_SEC_CALL_DATA)
			return at;
	}
	fail_msg("the section is not in the file");
	return NULL;
}

/* By its checksum when the file is opened; else when it is read, which ends with an error. */
static void damage_is_reported(void **state)
{
	const char *path = write_file("damaged");

	for (unsigned checksum = 0; checksum < 2; checksum++) {
		struct ty_dat_footer f;
		struct ty_dat_entry e;
		struct ty_trace *t;
		struct ty_err err = {0};
		struct ty_buf b;
		char *at;

		ty_fx_read(path, &b);
		at = entry_of(&b, &f, &e);
		b.p[e.off + TY_DAT_SECTION_HEAD + e.size / 2] ^= 0x55;
		if (checksum) { /* as if it had been written so */
			e.crc = (uint32_t)crc32_z(0, (uint8_t *)b.p + e.off + TY_DAT_SECTION_HEAD,
						  e.size);
			memcpy(at, &e, sizeof(e));
			f.crc = (uint32_t)crc32_z(0, (uint8_t *)b.p + f.off, f.size);
			memcpy(b.p + b.len - sizeof(f), &f, sizeof(f));
		}
		ty_fx_write(ty_fx_path("other"), b.p, b.len);
		ty_buf_fini(&b);
		t = reopen(ty_fx_path("other"));
		ty_trace_memory(t, 4 << 20);
		assert_int_equal(!t->note.s, checksum);
		if (!checksum)
			assert_non_null(strstr(t->note.s, "section 14 at offset "));
		assert_int_equal(ty_trace_section_check(t, &err), 0);
		assert_null(ty_trace_section(t, TY_SEC_CALL_DATA).s);
		assert_int_equal(ty_trace_section(t, TY_SEC_CALL_DATA).n, 0);
		if (checksum) {
			assert_int_equal(ty_trace_section_check(t, &err), -TY_EFORMAT);
			assert_non_null(strstr(err.msg, "section 14 at offset "));
		} else {
			assert_int_equal(ty_trace_section_check(t, &err), 0);
		}
		ty_trace_close(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(content_is_read_when_it_is_requested),
		cmocka_unit_test(damage_is_reported),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
