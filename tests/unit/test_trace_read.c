/* SPDX-License-Identifier: MIT */
/* Reading trace.dat of both versions in every form; refusing what cannot be read; damage and cuts
 * at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "spool_file.h"
#include "trace_dat.h"

static struct ty_trace *reopen(const char *path)
{
	struct ty_err err = {0};
	struct ty_trace *t;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	return t;
}

static void check_text(struct ty_text t, const char *want)
{
	assert_non_null(t.s);
	assert_string_equal(t.s, want);
	assert_int_equal(t.n, strlen(want));
}

/* Write d's file, read it, compare everything. */
static void check_form(const struct ty_fx_dat *d)
{
	const char *path = ty_fx_path("form");
	struct ty_trace *t;
	struct ty_buf b;

	ty_fx_dat(d, &b);
	ty_fx_write(path, b.p, b.len);
	ty_buf_fini(&b);
	t = reopen(path);
	assert_int_equal(t->version, d->version);
	assert_int_equal(t->big_endian, d->big_endian);
	assert_int_equal(t->long_size, d->long_size);
	assert_false(t->unfinished);
	assert_false(t->truncated);
	assert_null(t->note.s);
	assert_int_equal(t->formats.n, 4);
	assert_string_equal(t->formats.v[0].system, "ftrace");
	assert_string_equal(t->formats.v[1].system, "irq");
	assert_string_equal(t->formats.v[3].system, "sched");
	check_text(t->formats.v[3].text, "name: sched_waking\nID: 302\nformat:\n");
	check_text(t->header_event, "# header\n");
	check_text(t->kallsyms, "ffff T first\n");
	assert_null(t->printk.s);
	check_text(t->cmdlines, "1 init\n");
	check_text(t->uname, "Linux box");
	assert_int_equal(t->ts_offset_ns, -5);
	assert_int_equal(t->cpu_count, d->cpus);
	assert_int_equal(t->buffers.n, d->buffers);
	assert_non_null(strstr(t->trace_clock.s, "[perf]"));
	for (unsigned k = 0; k < d->buffers; k++) {
		assert_string_equal(t->buffers.v[k].name, k ? "syscalls" : "");
		assert_string_equal(t->buffers.v[k].clock, "perf");
	}
	assert_int_equal(t->streams.n, d->buffers * d->cpus);
	for (unsigned i = 0; i < t->streams.n; i++) {
		const struct ty_stream *s = &t->streams.v[i];
		unsigned bad;

		assert_int_equal(s->buffer, i / d->cpus);
		assert_int_equal(s->cpu, i % d->cpus);
		assert_int_equal(s->raw_bytes, d->pages * TY_FX_PAGE);
		assert_int_equal(ty_fx_check(t, i, &bad), d->pages);
		assert_int_equal(bad, 0);
	}
	ty_trace_close(t);
}

static void test_v6(void **state)
{
	for (unsigned be = 0; be < 2; be++)
		for (unsigned buffers = 1; buffers < 3; buffers++)
			for (unsigned ls = 4; ls <= 8; ls += 4)
				check_form(&(struct ty_fx_dat){.version = 6,
							       .codec = "none",
							       .big_endian = be,
							       .long_size = ls,
							       .buffers = buffers,
							       .cpus = 3,
							       .pages = 70});
}

static void test_v7(void **state)
{
	static const char *const codecs[] = {"none", "zlib", "zstd"};

	for (unsigned c = 0; c < 3; c++)
		for (unsigned be = 0; be < 2; be++)
			for (unsigned chunk = 1; chunk < 20; chunk += 6)
				check_form(&(struct ty_fx_dat){.version = 7,
							       .codec = codecs[c],
							       .big_endian = be,
							       .long_size = 8,
							       .buffers = 1 + be,
							       .cpus = 2,
							       .pages = 20,
							       .chunk_pages = chunk,
							       .compress_options = chunk > 1,
							       .short_size = chunk > 7});
}

/* A 32-bit trace-cmd on a 64-bit kernel: the head has the program's word size, the description of
 * the ring pages the kernel's, which counts. */
static void test_other_word_size(void **state)
{
	const size_t at = sizeof(TY_DAT_MAGIC) - 1 + 3; /* behind magic, version and byte order */
	struct ty_fx_dat d = {.codec = "none", .long_size = 8, .buffers = 1, .cpus = 1, .pages = 3};

	for (d.version = 6; d.version <= 7; d.version++) {
		struct ty_trace *t;
		struct ty_buf b;
		unsigned bad;

		ty_fx_dat(&d, &b);
		assert_int_equal(b.p[at], 8);
		b.p[at] = 4;
		ty_fx_write(ty_fx_path("words"), b.p, b.len);
		ty_buf_fini(&b);
		t = reopen(ty_fx_path("words"));
		assert_int_equal(t->long_size, 8);
		assert_int_equal(ty_fx_check(t, 0, &bad), 3);
		ty_trace_close(t);
	}
}

/* Uncompressed pages come in chunks of up to 64. */
static void test_flat_chunks(void **state)
{
	const char *path = ty_fx_path("flat");
	struct ty_trace *t;
	struct ty_buf b;

	ty_fx_dat(&(struct ty_fx_dat){.version = 6,
				      .codec = "none",
				      .long_size = 8,
				      .buffers = 1,
				      .cpus = 1,
				      .pages = 130},
		  &b);
	ty_fx_write(path, b.p, b.len);
	ty_buf_fini(&b);
	t = reopen(path);
	assert_int_equal(t->streams.v[0].chunks, 3);
	assert_int_equal(ty_trace_chunk(t, 0, 1).raw_bytes, 64 * TY_FX_PAGE);
	assert_int_equal(ty_trace_chunk(t, 0, 2).raw_bytes, 2 * TY_FX_PAGE);
	assert_int_equal(ty_trace_chunk(t, 0, 2).first_page, 128);
	ty_trace_close(t);
}

/* A last page that is not whole is left out, and that is said. */
static void test_odd_tail(void **state)
{
	static const struct {
		int version;
		const char *codec;
	} form[] = {{6, "none"}, {7, "none"}, {7, "zlib"}, {7, "zstd"}};

	for (unsigned i = 0; i < 4; i++) {
		const char *path = ty_fx_path("odd");
		struct ty_trace *t;
		struct ty_buf b;
		unsigned bad;

		ty_fx_dat(&(struct ty_fx_dat){.version = form[i].version,
					      .codec = form[i].codec,
					      .long_size = 8,
					      .buffers = 1,
					      .cpus = 1,
					      .pages = 5,
					      .chunk_pages = 2,
					      .odd = 100},
			  &b);
		ty_fx_write(path, b.p, b.len);
		ty_buf_fini(&b);
		t = reopen(path);
		assert_true(t->truncated);
		assert_int_equal(t->streams.v[0].raw_bytes, 5 * TY_FX_PAGE);
		assert_int_equal(ty_fx_check(t, 0, &bad), 5);
		ty_trace_close(t);
	}
}

static void refuse(const void *p, size_t n, int code, const char *words)
{
	const char *path = ty_fx_path("refused");
	struct ty_err err = {0};
	struct ty_trace *t;

	ty_fx_write(path, p, n);
	assert_int_equal(ty_trace_open(path, &t, &err), -code);
	assert_null(t);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, path));
	if (!strstr(err.msg, words))
		fail_msg("\"%s\" does not say \"%s\"", err.msg, words);
}

#define REFUSE(text, code, words) refuse(text, sizeof(text) - 1, code, words)

static void test_refused(void **state)
{
	struct ty_fx_dat d = {
		.version = 6, .codec = "none", .long_size = 8, .buffers = 1, .cpus = 1, .pages = 1};
	struct ty_err err = {0};
	struct ty_trace *t;
	struct ty_buf b;
	char *p;

	REFUSE("", TY_EFORMAT, "is empty");
	REFUSE("hello", TY_EFORMAT, "unknown format");
	REFUSE("PERFILE2........", TY_EFORMAT, "damaged");
	REFUSE("\x17\x08\x44tracing8\0\0\b\0\x10\0\0", TY_EUNSUPPORTED, "version 8");
	REFUSE("\x17\x08\x44tracing7\0\0\b\0\x10\0\0lzma\0x\0", TY_EUNSUPPORTED, "zstd");
	REFUSE("\x17\x08\x44tracing7\0\0\b\1\x10\0\0zstd\0x\0", TY_EFORMAT, "initial header");

	ty_fx_dat(&d, &b);
	p = memmem(b.p, b.len, "flyrecord", 10);
	memcpy(p, "latency  ", 10);
	refuse(b.p, b.len, TY_EUNSUPPORTED, "latency");
	/* The option that says how TSC ticks become time (14), in the place of an unknown one. */
	memcpy(p, "flyrecord", 10);
	p = memmem(b.p, b.len, "\x63\0\x0c\0\0\0what", 10);
	*p = 14;
	refuse(b.p, b.len, TY_EUNSUPPORTED, "TSC");
	ty_buf_fini(&b);

	assert_int_equal(ty_trace_open(ty_fx_path("absent"), &t, &err), -TY_ENOTFOUND);
	assert_non_null(strstr(err.msg, "no such file"));
	assert_non_null(strstr(err.msg, " -- COMMAND"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(ty_trace_open(ty_fx_dir(), &t, &err), -TY_EFORMAT);
	memset(&err, 0, sizeof(err));
	assert_int_equal(mkfifo(ty_fx_path("fifo"), 0600), 0);
	/* Not waited for: it has no writer. */
	assert_int_equal(ty_trace_open(ty_fx_path("fifo"), &t, &err), -TY_EFORMAT);
}

/* Claims of a small file never become memory: 256 MB from 16 bytes, 4 billion chunks. */
static void test_bombs(void **state)
{
	struct ty_fx_dat d = {.version = 7,
			      .codec = "zstd",
			      .long_size = 8,
			      .buffers = 1,
			      .cpus = 1,
			      .pages = 2,
			      .chunk_pages = 1};
	const char *path = ty_fx_path("bomb");
	struct ty_trace *t;
	struct ty_buf b;
	unsigned bad;
	char *p;

	ty_fx_dat(&d, &b);
	p = b.p + (b.len / TY_FX_PAGE) * TY_FX_PAGE;
	while (memcmp(p + 12, "\x28\xb5\x2f\xfd", 4)) /* the data's first zstd frame */
		p -= TY_FX_PAGE;
	memcpy(p, "\xff\xff\xff\xff", 4); /* chunks */
	memcpy(p + 8, "\0\0\0\x10", 4);	  /* raw size of the first */
	ty_fx_write(path, b.p, b.len);
	t = reopen(path);
	assert_true(t->truncated);
	assert_true(ty_trace_chunk(t, 0, 0).missing);
	assert_int_equal(ty_trace_chunk(t, 0, 0).raw_bytes, 0);
	assert_int_equal(ty_fx_check(t, 0, &bad), 1);
	ty_trace_close(t);
	ty_buf_fini(&b);
}

static struct ty_buf finished_file(unsigned pages)
{
	const char *path = ty_fx_path("finished");
	struct ty_spool_writer *w;
	struct ty_err err = {0};
	struct ty_spool *s;
	struct ty_buf b;

	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &s, &err), 0);
	assert_int_equal(ty_spool_publish(s, &err), 0);
	w = ty_spool_writer_new(s, 1 << 20);
	ty_fx_spool_meta(w);
	for (unsigned k = 0; k < 3; k++) {
		assert_int_equal(ty_fx_spool_data(w, 0, 0, k, pages, NULL), 0);
		assert_int_equal(ty_fx_spool_data(w, 1, 1, k, pages, NULL), 0);
	}
	ty_fx_spool_end(w);
	if (ty_spool_finish(s, &err))
		fail_msg("%s", err.msg);
	ty_spool_writer_free(w);
	ty_spool_close(s);
	ty_fx_read(path, &b);
	return b;
}

/* Options that lead in a circle, each time decompressing 64 MB anew: refused at once. */
static void test_options_in_a_circle(void **state)
{
	static const char head[] = "\x17\x08\x44tracing7\0\0\b\0\x10\0\0zstd\0x";
	const uint32_t len = 64 << 20, all = len + 6 + 14;
	const uint64_t at = sizeof(head) + 8;
	uint8_t *plain = calloc(1, all), *packed = malloc(ZSTD_compressBound(all));
	struct ty_buf b;
	size_t z;

	/* An option of no known writer, a very long one, and DONE with the place of its own
	 * section. */
	memcpy(plain, "\x34\x12\0\0\0\x04", 6);
	plain[6 + len + 2] = 8;
	memcpy(plain + 6 + len + 6, &at, 8);
	z = ZSTD_compress(packed, ZSTD_compressBound(all), plain, all, 1);
	assert_false(ZSTD_isError(z));
	ty_buf_init(&b, 64 << 20);
	ty_buf_add(&b, head, sizeof(head));
	ty_buf_addle(&b, at, 8);
	ty_buf_addle(&b, 1ull << 16, 8); /* id 0, compressed */
	ty_buf_addle(&b, z + 8, 8);
	ty_buf_addle(&b, z, 4);
	ty_buf_addle(&b, all, 4);
	ty_buf_add(&b, packed, z);
	ty_fx_cpu_limit(20);
	refuse(b.p, b.len, TY_EFORMAT, "the chain of options");
	ty_fx_cpu_limit(0);
	ty_buf_fini(&b);
	free(plain);
	free(packed);
}

/* Threads that read chunks of one trace at once see what one alone sees. */
static void *check_all(void *arg)
{
	unsigned bad = 0, n = 0;

	for (unsigned round = 0; round < 20; round++)
		for (uint32_t s = 0; s < 2; s++)
			n += (unsigned)ty_fx_check(arg, s, &bad) + bad * 1000;
	return (void *)(uintptr_t)n;
}

static void test_threads(void **state)
{
	struct ty_buf b = finished_file(2);
	struct ty_trace *t = reopen(ty_fx_path("finished"));
	pthread_t th[4];

	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&th[i], NULL, check_all, t), 0);
	for (unsigned i = 0; i < 4; i++) {
		void *n;

		pthread_join(th[i], &n);
		assert_int_equal((uintptr_t)n, 20 * 2 * 6);
	}
	ty_trace_close(t);
	ty_buf_fini(&b);
}

/* Every byte of the data is covered: a flipped one is never given out as good. */
static void test_data_damage_is_found(void **state)
{
	struct ty_buf b = finished_file(2);
	const char *path = ty_fx_path("damage");
	struct ty_trace *t;
	size_t first = b.len, last = 0;

	ty_fx_write(path, b.p, b.len);
	for (size_t i = 0; i + 16 <= b.len; i++) /* chunk heads with their 8 KiB raw size */
		if (!memcmp(b.p + i, "\0\x20\0\0\x28\xb5\x2f\xfd", 8)) {
			first = i < first ? i : first;
			last = i;
		}
	assert_true(last > first + 2 * TY_FX_PAGE / 2);
	t = reopen(path);
	assert_false(t->truncated);
	ty_trace_close(t);
	for (size_t i = first; i < last + 8; i++) {
		uint64_t good = 0;
		unsigned bad, all_bad = 0;
		char c = (char)(b.p[i] ^ 0x10);
		int fd;

		if (i > first + 200 && i % TY_FX_PAGE > 300)
			continue; /* padding */
		fd = open(path, O_WRONLY);
		assert_int_equal(pwrite(fd, &c, 1, (off_t)i), 1);
		t = reopen(path);
		for (uint32_t s = 0; s < t->streams.n; s++) {
			good += ty_fx_check(t, s, &bad);
			all_bad += bad;
		}
		/* All twelve pages, or a chunk that says that it is bad. */
		assert_true(good == 12 || all_bad);
		ty_trace_close(t);
		assert_int_equal(pwrite(fd, b.p + i, 1, (off_t)i), 1);
		close(fd);
	}
	ty_buf_fini(&b);
}

/* Whatever one byte becomes: an error with a sentence, or a trace that can be read through. */
static void any_byte(const struct ty_buf *b, size_t step)
{
	static const uint8_t how[] = {0xff, 0x01, 0x80};
	const char *path = ty_fx_path("any");
	int fd;

	ty_fx_write(path, b->p, b->len);
	fd = open(path, O_WRONLY);
	for (size_t i = 0; i < b->len; i += i < 6000 ? 1 : step)
		for (unsigned k = 0; k < sizeof(how); k++) {
			char c = (char)(b->p[i] ^ how[k]);
			struct ty_err err = {0};
			struct ty_trace *t;

			assert_int_equal(pwrite(fd, &c, 1, (off_t)i), 1);
			if (!ty_trace_open(path, &t, &err)) {
				ty_fx_read_all(t);
				if (t->truncated)
					assert_non_null(t->note.s);
				ty_trace_close(t);
			} else {
				assert_int_not_equal(err.code, 0);
				assert_non_null(strstr(err.msg, path));
			}
			assert_int_equal(pwrite(fd, b->p + i, 1, (off_t)i), 1);
		}
	close(fd);
}

/* Cut at any length: an error with a sentence, or what is left is right and the rest is reported.
 */
static void any_length(const struct ty_buf *b, size_t step, uint64_t pages)
{
	const char *path = ty_fx_path("any");
	bool opened = false;

	ty_fx_write(path, b->p, b->len);
	for (size_t n = b->len; n > 0; n -= n <= 6000 || n <= step ? 1 : step) {
		struct ty_err err = {0};
		struct ty_trace *t;
		uint64_t good = 0;
		unsigned bad, all_bad = 0;

		assert_int_equal(truncate(path, (off_t)n - 1), 0);
		if (ty_trace_open(path, &t, &err)) {
			assert_int_not_equal(err.code, 0);
			assert_non_null(strstr(err.msg, path));
			continue;
		}
		opened = true;
		for (uint32_t s = 0; s < t->streams.n; s++) {
			good += ty_fx_check(t, s, &bad);
			all_bad += bad;
		}
		assert_true(good <= pages);
		/* Either pages are missing and that is said, or it is all there. */
		if (good < pages)
			assert_true((t->truncated || t->unfinished) && t->note.s);
		if (good < pages && !t->unfinished)
			assert_true(all_bad);
		ty_trace_close(t);
	}
	assert_true(opened);
}

static void test_damage_and_cuts_finished(void **state)
{
	struct ty_buf b = finished_file(1);

	any_byte(&b, 37);
	any_length(&b, 97, 6);
	ty_buf_fini(&b);
}

static void test_damage_and_cuts_v7(void **state)
{
	static const char *const codecs[] = {"none", "zlib", "zstd"};

	for (unsigned c = 0; c < 3; c++) {
		struct ty_buf b;

		ty_fx_dat(&(struct ty_fx_dat){.version = 7,
					      .codec = codecs[c],
					      .long_size = 8,
					      .buffers = 2,
					      .cpus = 1,
					      .pages = 2,
					      .chunk_pages = 1,
					      .compress_options = true},
			  &b);
		any_byte(&b, 61);
		/* Its options lie at the end: any cut is an error, but no crash. */
		ty_fx_write(ty_fx_path("any"), b.p, b.len);
		for (size_t n = b.len; n > 101; n -= n < 3000 ? 1 : 101) {
			struct ty_trace *t;

			assert_int_equal(truncate(ty_fx_path("any"), (off_t)n - 1), 0);
			assert_true(ty_trace_open(ty_fx_path("any"), &t, NULL) < 0);
		}
		ty_buf_fini(&b);
	}
}

static void test_damage_and_cuts_v6(void **state)
{
	struct ty_buf b;

	ty_fx_dat(&(struct ty_fx_dat){.version = 6,
				      .codec = "none",
				      .long_size = 8,
				      .buffers = 2,
				      .cpus = 2,
				      .pages = 2},
		  &b);
	any_byte(&b, 61);
	any_length(&b, 101, 8);
	ty_buf_fini(&b);
}

static void test_damage_and_cuts_spool(void **state)
{
	const char *path = ty_fx_path("spool");
	struct ty_spool_writer *w;
	struct ty_spool *s;
	struct ty_buf b;

	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &s, NULL), 0);
	assert_int_equal(ty_spool_publish(s, NULL), 0);
	w = ty_spool_writer_new(s, 1 << 20);
	ty_fx_spool_meta(w);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(ty_fx_spool_data(w, 0, 0, k, 1, NULL), 0);
	ty_fx_spool_end(w);
	ty_spool_writer_free(w);
	ty_spool_close(s);
	ty_fx_read(path, &b);
	any_byte(&b, 1);
	any_length(&b, 1, 4);
	ty_buf_fini(&b);
}

static int teardown(void **state)
{
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_v6),
		cmocka_unit_test(test_v7),
		cmocka_unit_test(test_other_word_size),
		cmocka_unit_test(test_flat_chunks),
		cmocka_unit_test(test_odd_tail),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bombs),
		cmocka_unit_test(test_options_in_a_circle),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_data_damage_is_found),
		cmocka_unit_test(test_damage_and_cuts_finished),
		cmocka_unit_test(test_damage_and_cuts_v7),
		cmocka_unit_test(test_damage_and_cuts_v6),
		cmocka_unit_test(test_damage_and_cuts_spool),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
