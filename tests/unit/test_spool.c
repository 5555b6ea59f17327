/* SPDX-License-Identifier: MIT */
/* The spool: what is put is read back, unfinished and finished; what breaks costs only itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "atomic_file.h"
#include "full_io.h"
#include "trace_v7_write.h"
#include "trace_dat.h"

#define PAGES  4u /* per chunk */
#define CHUNKS 5u /* per stream */

static struct ty_spool *spool;
static struct ty_spool_writer *writer;

static const char *begin(const char *name)
{
	struct ty_err err = {0};
	const char *path = ty_fx_path(name);

	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	writer = ty_spool_writer_new(spool, 1 << 20);
	assert_non_null(writer);
	ty_fx_spool_meta(writer);
	return path;
}

/* All streams' chunks, but `skip` of (0, 1). */
static void put_data(int skip)
{
	for (unsigned b = 0; b < 2; b++)
		for (unsigned cpu = 0; cpu < 3; cpu += 1 + b)
			for (unsigned k = 0; k < CHUNKS; k++)
				if (b || cpu != 1 || (int)k != skip)
					assert_int_equal(
						ty_fx_spool_data(writer, b, cpu, k, PAGES, NULL),
						0);
}

/* One chunk of buffer 0, CPU 0; every second is LZ4. */
static int put_raw(struct ty_spool_writer *w, uint64_t seq, const void *raw, size_t n,
		   struct ty_err *err)
{
	const struct ty_spool_chunk what = {.type = TY_SPOOL_DATA,
					    .flags = seq % 2 ? TY_SPOOL_LZ4 : 0,
					    .seq = seq,
					    .first_ns = 1,
					    .last_ns = 1};

	return ty_spool_put(w, &what, raw, n, err);
}

static void end(void)
{
	ty_spool_writer_free(writer);
	ty_spool_close(spool);
}

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

/* Everything that ty_fx_spool_meta and _end wrote. */
static void check_meta(const struct ty_trace *t)
{
	static const char *const systems[] = {"ftrace", "irq", "sched", "sched"};

	assert_int_equal(t->long_size, 8);
	assert_int_equal(t->formats.n, 4);
	/* A spool has the events as they were put, a finished file by system. */
	for (unsigned i = 0; i < 4 && !t->unfinished; i++)
		assert_string_equal(t->formats.v[i].system, systems[i]);
	check_text(t->formats.v[3].text, "name: sched_waking\nID: 302\nformat:\n");
	check_text(t->kallsyms, "ffff T first\nfffe T second\n");
	check_text(t->header_event, "# compressed entry header\n");
	check_text(t->uname, "Linux box 6.1 x86_64");
	check_text(t->recorder_version, "tarry test");
	check_text(t->trace_clock, "local [perf]\n");
	check_text(t->cmdlines, "1 init\n");
	assert_int_equal(t->cpu_count, 4);
	assert_int_equal(t->cpustat.n, 2);
	check_text(t->cpustat.v[1], "CPU: 1\nentries: 0\n");
	assert_int_equal(t->buffers.n, 2);
	assert_string_equal(t->buffers.v[0].name, "");
	assert_string_equal(t->buffers.v[1].name, "syscalls");
	assert_string_equal(t->buffers.v[1].clock, "perf");
	assert_int_equal(t->buffers.v[1].page_size, TY_FX_PAGE);
	check_text(ty_trace_section(t, TY_SEC_MACHINE), "tarry=test\n");
	check_text(ty_trace_section(t, TY_SEC_SELF), "lost=0\nstop=done\n");
	assert_null(ty_trace_section(t, TY_SEC_THREADS).s);
}

/* All five streams whole. */
static void check_data(const struct ty_trace *t)
{
	static const unsigned want[][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 2}};

	assert_int_equal(t->streams.n, 5);
	for (unsigned i = 0; i < 5; i++) {
		const struct ty_stream *s = &t->streams.v[i];
		unsigned bad;

		assert_int_equal(s->buffer, want[i][0]);
		assert_int_equal(s->cpu, want[i][1]);
		assert_int_equal(s->chunks, CHUNKS);
		assert_int_equal(s->raw_bytes, CHUNKS * PAGES * TY_FX_PAGE);
		assert_int_equal(ty_fx_check(t, i, &bad), CHUNKS * PAGES);
		assert_int_equal(bad, 0);
		for (unsigned k = 0; k < CHUNKS; k++) {
			struct ty_chunk c = ty_trace_chunk(t, i, k);

			assert_int_equal(c.first_page, k * PAGES);
			assert_int_equal(c.first_ns, ty_fx_ns(s->buffer, s->cpu, k * PAGES));
			assert_int_equal(c.last_ns,
					 ty_fx_ns(s->buffer, s->cpu, k * PAGES + PAGES - 1));
		}
	}
}

static void test_unfinished(void **state)
{
	const char *path = begin("unfinished");
	struct ty_trace *t;

	put_data(-1);
	ty_fx_spool_end(writer);
	t = reopen(path);
	assert_true(t->unfinished);
	assert_false(t->truncated);
	assert_int_equal(t->version, 0);
	assert_non_null(strstr(t->note.s, "25 chunks"));
	check_meta(t);
	check_data(t);
	ty_trace_close(t);
	end();
}

static void test_finished(void **state)
{
	const char *path = begin("finished");
	struct ty_err err = {0};
	struct ty_trace *t;
	struct ty_buf b;

	put_data(-1);
	ty_fx_spool_end(writer);
	if (ty_spool_finish(spool, &err))
		fail_msg("%s", err.msg);
	end();
	t = reopen(path);
	assert_int_equal(t->version, 7);
	assert_false(t->unfinished);
	assert_false(t->truncated);
	assert_null(t->note.s);
	check_meta(t);
	check_data(t);
	assert_non_null(strstr(ty_trace_section(t, TY_SEC_CHUNKS).s, "1 2 1002001 4002001 "));
	ty_trace_close(t);
	ty_fx_read(path, &b);
	assert_memory_equal(b.p + b.len - sizeof(struct ty_dat_footer), "TARRYEND", 8);
	ty_buf_fini(&b);
	assert_int_equal(access(ty_fx_path("finished.tmp"), F_OK), -1);
}

static void test_empty_payload_and_no_data(void **state)
{
	const char *path = begin("empty");
	struct ty_trace *t;

	assert_int_equal(ty_fx_spool_data(writer, 0, 0, 0, 0, NULL), 0);
	assert_int_equal(ty_spool_finish(spool, NULL), 0);
	end();
	t = reopen(path);
	assert_int_equal(t->streams.n, 0);
	assert_null(t->note.s);
	ty_trace_close(t);
}

/* A number that is not there is a missing chunk in its place. */
static void test_hole(void **state)
{
	const char *path = begin("hole");
	struct ty_trace *t;
	struct ty_chunk c;
	unsigned bad;

	put_data(2);
	ty_fx_spool_end(writer);
	for (int finished = 0; finished < 2; finished++) {
		if (finished)
			assert_int_equal(ty_spool_finish(spool, NULL), 0);
		t = reopen(path);
		assert_int_equal(t->streams.v[1].chunks, CHUNKS);
		assert_int_equal(ty_fx_check(t, 1, &bad), (CHUNKS - 1) * PAGES);
		assert_int_equal(bad, 1);
		c = ty_trace_chunk(t, 1, 2);
		assert_true(c.missing);
		assert_int_equal(c.raw_bytes, 0);
		assert_int_equal(c.first_page, 2 * PAGES);
		c = ty_trace_chunk(t, 1, 3);
		assert_false(c.missing);
		assert_int_equal(c.first_ns, ty_fx_ns(0, 1, 3 * PAGES));
		assert_int_equal(ty_fx_check(t, 0, &bad), CHUNKS * PAGES);
		assert_int_equal(bad, 0);
		if (!finished)
			assert_non_null(strstr(t->note.s, "1 gap"));
		ty_trace_close(t);
	}
	end();
}

/* Where the k-th chunk of stream (0, 1) lies. */
static struct ty_spool_ent place(const char *path, uint32_t stream, unsigned k)
{
	struct ty_spool_scan scan;
	struct ty_spool_ent e = {0};
	struct stat st;
	int fd = open(path, O_RDONLY);

	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ty_spool_scan(fd, (uint64_t)st.st_size, path, &scan, NULL), 0);
	vec_each (p, &scan.ents)
		if (p->h.type == TY_SPOOL_DATA && p->h.stream == stream && p->h.seq == k)
			e = *p;
	ty_spool_scan_fini(&scan);
	close(fd);
	assert_int_not_equal(e.off, 0);
	return e;
}

static void overwrite(const char *path, uint64_t off, int byte, size_t n)
{
	char b[65536];
	int fd = open(path, O_WRONLY);

	memset(b, byte, sizeof(b));
	assert_true(n <= sizeof(b));
	assert_int_equal(pwrite(fd, b, n, (off_t)off), n);
	close(fd);
}

/* A chunk without a head (its writer died), of zeros, with a damaged head, with a damaged payload:
 * it alone is lost. */
static void test_torn(void **state)
{
	static const struct {
		int byte;
		bool head, all;
	} how[] = {{0, true, false}, {0, true, true}, {0x47, true, false}, {0x55, false, false}};

	for (unsigned i = 0; i < sizeof(how) / sizeof(*how); i++) {
		const char *path = begin("torn");
		struct ty_spool_ent e;
		struct ty_trace *t;
		unsigned bad;

		put_data(-1);
		ty_fx_spool_end(writer);
		end();
		e = place(path, 1, 2);
		if (how[i].head)
			overwrite(path, e.off, how[i].byte,
				  how[i].all ? sizeof(e.h) + e.h.stored : 8);
		else
			overwrite(path, e.off + sizeof(e.h) + 20, how[i].byte, 4);
		t = reopen(path);
		check_meta(t);
		assert_int_equal(t->streams.n, 5);
		assert_int_equal(ty_fx_check(t, 1, &bad), (CHUNKS - 1) * PAGES);
		assert_int_equal(bad, 1);
		assert_int_equal(ty_trace_chunk(t, 1, 2).missing, how[i].head);
		for (unsigned s = 0; s < 5; s++)
			if (s != 1)
				assert_int_equal(ty_fx_check(t, s, &bad), CHUNKS * PAGES);
		assert_int_equal(t->truncated, how[i].head);
		if (how[i].head) {
			char want[64];

			snprintf(want, sizeof(want), "offset %llu)", (unsigned long long)e.off);
			assert_non_null(strstr(t->note.s, "1 damaged place"));
			assert_non_null(strstr(t->note.s, want));
		}
		ty_trace_close(t);
	}
}

/* A file that ends anywhere: what is whole is read. */
static void test_cut(void **state)
{
	const char *path = begin("cut");
	struct ty_spool_ent e;
	struct ty_trace *t;
	struct ty_err err = {0};
	unsigned bad;

	put_data(-1);
	end();
	e = place(path, 1u << 16 | 2, CHUNKS - 1);
	assert_int_equal(truncate(path, (off_t)(e.off + sizeof(e.h) + e.h.stored - 1)), 0);
	t = reopen(path);
	assert_true(t->truncated);
	assert_int_equal(ty_fx_check(t, 4, &bad), (CHUNKS - 1) * PAGES);
	ty_trace_close(t);
	assert_int_equal(truncate(path, 200), 0);
	assert_int_equal(ty_trace_open(path, &t, &err), -TY_EFORMAT);
	assert_non_null(strstr(err.msg, "recorder died before"));
}

/* A sparse hole of a terabyte inside costs no time. */
static void test_sparse(void **state)
{
	const char *path = begin("sparse");
	struct ty_trace *t;
	unsigned bad;

	put_data(-1);
	atomic_fetch_add(&spool->end, 1ull << 40);
	assert_int_equal(ty_fx_spool_data(writer, 0, 0, CHUNKS, PAGES, NULL), 0);
	end();
	ty_fx_cpu_limit(20);
	t = reopen(path);
	assert_int_equal(ty_fx_check(t, 0, &bad), (CHUNKS + 1) * PAGES);
	ty_fx_cpu_limit(0);
	ty_trace_close(t);
}

/* The first failure stays, earlier chunks stay, and nothing is finished over them. */
static void test_failure_sticks(void **state)
{
	const char *path = begin("full");
	struct rlimit old, small;
	struct ty_err first = {0}, second = {0}, third = {0};
	struct ty_trace *t;
	unsigned bad;

	put_data(-1);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	small = old;
	small.rlim_cur = ty_spool_bytes(spool) + 200;
	setrlimit(RLIMIT_FSIZE, &small);
	assert_true(ty_fx_spool_data(writer, 0, 0, CHUNKS, PAGES, &first) < 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_true(ty_fx_spool_data(writer, 0, 0, CHUNKS, PAGES, &second) < 0);
	assert_string_equal(first.msg, second.msg);
	assert_true(ty_spool_finish(spool, &third) < 0);
	assert_string_equal(first.msg, third.msg);
	end();
	t = reopen(path);
	assert_true(t->unfinished);
	for (unsigned s = 0; s < 5; s++) {
		assert_int_equal(ty_fx_check(t, s, &bad), CHUNKS * PAGES);
		assert_int_equal(bad, 0);
	}
	ty_trace_close(t);
}

/* No room for the finished file: the spool stays, nothing is left beside it. */
static void test_no_room_to_finish(void **state)
{
	const char *mnt = ty_fx_path("mnt"), *path;
	struct ty_err err = {0};
	struct ty_trace *t;
	char noise[TY_FX_PAGE * 16];
	uint64_t full;
	unsigned seq = 0, bad;

	mkdir(mnt, 0700);
	if (mount("tmpfs", mnt, "tmpfs", 0, "size=1m")) {
		print_message("no right to mount a tmpfs\n");
		skip();
	}
	path = begin("mnt/spool");
	for (unsigned i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(random() >> 8);
	for (; ty_spool_bytes(spool) < 600000; seq++)
		assert_int_equal(put_raw(writer, seq, noise, sizeof(noise), &err), 0);
	full = ty_spool_bytes(spool);
	assert_int_equal(ty_spool_finish(spool, &err), -TY_ENOSPC);
	assert_non_null(strstr(err.msg, path));
	assert_non_null(strstr(err.msg, "needs"));
	assert_null(strstr(err.msg, "stays")); /* the owner of the spool knows what becomes of it */
	assert_false(ty_spool_is_finished(spool));
	assert_int_equal(ty_spool_bytes(spool), full);
	assert_int_equal(access(ty_fx_path("mnt/spool.tmp"), F_OK), -1);
	/* The disk fills up for good: the last chunk is lost, not the others. */
	memset(&err, 0, sizeof(err));
	while (!put_raw(writer, seq, noise, sizeof(noise), &err))
		seq++;
	assert_int_equal(err.code, TY_ENOSPC);
	end();
	t = reopen(path);
	assert_int_equal(t->streams.v[0].chunks, seq);
	for (unsigned k = 0; k < seq; k++) {
		struct ty_chunk_scratch scratch;
		char got[sizeof(noise)];

		ty_chunk_scratch_init(&scratch);
		assert_int_equal(ty_trace_chunk_read(t, 0, k, got, &scratch, NULL), 0);
		assert_memory_equal(got, noise, sizeof(noise));
		ty_chunk_scratch_fini(&scratch);
	}
	bad = t->streams.v[0].chunks;
	assert_true(bad > 0);
	ty_trace_close(t);
	umount(mnt);
}

/* A recorder that dies between compressing anew and finishing: everything is there, once. */
static void test_repacked(void **state)
{
	const char *path = begin("repacked");
	struct ty_spool_scan scan;
	struct ty_trace *t;
	uint64_t before;
	unsigned lz4 = 0;

	put_data(-1);
	ty_fx_spool_end(writer);
	before = ty_spool_bytes(spool);
	assert_int_equal(ty_spool_scan(spool->fd, before, path, &scan, NULL), 0);
	assert_int_equal(ty_spool_repack(spool, &scan, NULL), 0);
	assert_true(ty_spool_bytes(spool) > before);
	vec_each (e, &scan.ents) {
		assert_false(e->h.flags & TY_SPOOL_LZ4);
		lz4 += e->off >= before;
	}
	assert_int_equal(lz4, 5 * (CHUNKS / 2));
	ty_spool_scan_fini(&scan);
	t = reopen(path);
	assert_true(t->unfinished);
	assert_false(t->truncated);
	check_meta(t);
	check_data(t);
	ty_trace_close(t);
	end();
}

struct told {
	uint64_t last, total, first_total;
	unsigned times;
};

static void on_finish(void *ctx, uint64_t done, uint64_t total)
{
	struct told *t = ctx;

	assert_true(done >= t->last);
	if (!t->times++)
		t->first_total = total;
	t->last = done;
	t->total = total;
}

/* Finishing reports its progress: never backwards, to the end. */
static void test_finish_tells(void **state)
{
	struct told t = {0};

	begin("tells");
	put_data(-1);
	ty_fx_spool_end(writer);
	ty_spool_on_finish(spool, on_finish, &t);
	assert_int_equal(ty_spool_finish(spool, NULL), 0);
	assert_true(t.times > CHUNKS);
	assert_int_equal(t.first_total, t.total);
	assert_int_equal(t.last, t.total);
	end();
}

/* A damaged chunk that would have to be compressed anew: the spool stays, without the new ones. */
static void test_damaged_lz4(void **state)
{
	const char *path = begin("damaged");
	struct ty_spool_scan scan;
	struct ty_err err = {0};
	struct ty_trace *t;
	uint64_t before, at = 0;
	unsigned bad;

	put_data(-1);
	ty_fx_spool_end(writer);
	before = ty_spool_bytes(spool);
	assert_int_equal(ty_spool_scan(spool->fd, before, path, &scan, NULL), 0);
	vec_each (e, &scan.ents)
		if (e->h.flags & TY_SPOOL_LZ4)
			at = e->off + sizeof(e->h) + TY_V7_CHUNK_HEAD + 3;
	ty_spool_scan_fini(&scan);
	assert_true(ty_full_write(spool->fd, "\x55\xaa", 2, at));
	assert_int_equal(ty_spool_finish(spool, &err), -TY_EFORMAT);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(ty_spool_bytes(spool), before);
	t = reopen(path);
	assert_int_equal(t->streams.n, 5);
	assert_int_equal(ty_fx_check(t, 0, &bad), CHUNKS * PAGES);
	assert_int_equal(bad, 0);
	ty_fx_check(t, 4, &bad); /* the last LZ4 chunk is this stream's */
	assert_int_equal(bad, 1);
	ty_trace_close(t);
	end();
}

#define THREADS 4
#define MANY	300

static void *put_many(void *arg)
{
	struct ty_spool_writer *w = ty_spool_writer_new(spool, 1 << 16);
	unsigned cpu = (unsigned)(uintptr_t)arg;
	uintptr_t failed = 0;

	for (unsigned k = 0; k < MANY; k++)
		failed += ty_fx_spool_data(w, 0, cpu, k, 1 + k % 3, NULL) != 0;
	ty_spool_writer_free(w);
	return (void *)failed;
}

static void test_threads(void **state)
{
	const char *path = begin("threads");
	pthread_t th[THREADS];
	struct ty_trace *t;
	void *failed;

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&th[i], NULL, put_many, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(th[i], &failed);
		assert_null(failed);
	}
	assert_int_equal(ty_spool_finish(spool, NULL), 0);
	end();
	t = reopen(path);
	assert_int_equal(t->streams.n, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned bad;

		assert_int_equal(t->streams.v[i].chunks, MANY);
		assert_int_equal(ty_fx_check(t, i, &bad), MANY * 2);
		assert_int_equal(bad, 0);
	}
	ty_trace_close(t);
}

/* The recording path holds no more memory after many chunks than before. */
static void test_no_allocation(void **state)
{
	static uint8_t raw[16 * TY_FX_PAGE];
	struct mallinfo2 before, after;

	begin("alloc");
	for (unsigned i = 0; i < sizeof(raw); i++)
		raw[i] = (uint8_t)(random() >> 8);
	before = mallinfo2();
	for (unsigned k = 0; k < 200; k++)
		assert_int_equal(put_raw(writer, k, raw, sizeof(raw), NULL), 0);
	after = mallinfo2();
	assert_int_equal(before.uordblks, after.uordblks);
	assert_int_equal(before.hblkhd, after.hblkhd);
	end();
}

static void test_too_big(void **state)
{
	struct ty_err err = {0};
	struct ty_spool_writer *w;

	begin("big");
	w = ty_spool_writer_new(spool, 100);
	assert_int_equal(put_raw(w, 0, spool, 101, &err), -TY_ELIMIT);
	ty_spool_writer_free(w);
	end();
}

/* Many short torn places cost one pass over the file, not one window each. */
static void test_many_torn(void **state)
{
	static uint8_t one[sizeof(struct ty_spool_chunk) + 1];
	struct ty_spool_chunk c = {.magic = TY_SPOOL_CHUNK_MAGIC, .type = TY_SPOOL_META};
	const unsigned n = 200000;
	struct ty_spool_scan scan;
	struct ty_spool_head head = {0};
	struct ty_buf b;
	int fd;

	ty_buf_init(&b, 64 << 20);
	ty_buf_add(&b, &head, sizeof(head));
	for (unsigned i = 0; i < n; i++) {
		c.seq = i;
		c.head_crc = ty_spool_head_crc(&c);
		memcpy(one, &c, sizeof(c));
		ty_buf_add(&b, one, sizeof(one));
	}
	ty_fx_write(ty_fx_path("manytorn"), b.p, b.len);
	fd = open(ty_fx_path("manytorn"), O_RDONLY);
	ty_fx_cpu_limit(10); /* a window each would be 200 GB */
	assert_int_equal(ty_spool_scan(fd, b.len, "manytorn", &scan, NULL), 0);
	ty_fx_cpu_limit(0);
	assert_int_equal(scan.ents.n, n);
	assert_int_equal(scan.torn, n);
	assert_int_equal(scan.torn_bytes, n);
	ty_spool_scan_fini(&scan);
	ty_buf_fini(&b);
	close(fd);
}

static int teardown(void **state)
{
	umount2(ty_fx_path("mnt"), MNT_DETACH); /* of a test that failed halfway */
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_finished),
		cmocka_unit_test(test_empty_payload_and_no_data),
		cmocka_unit_test(test_hole),
		cmocka_unit_test(test_torn),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_failure_sticks),
		cmocka_unit_test(test_no_room_to_finish),
		cmocka_unit_test(test_repacked),
		cmocka_unit_test(test_finish_tells),
		cmocka_unit_test(test_damaged_lz4),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_allocation),
		cmocka_unit_test(test_too_big),
		cmocka_unit_test(test_many_torn),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
