/* SPDX-License-Identifier: MIT */
/* A spool that drops its oldest data: what is kept is what lies behind the mark, to the chunk,
 * whenever the recorder dies, and the disk gets the rest back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "full_io.h"
#include "spool_file.h"
#include "trace.h"

enum { STREAMS = 4, PAGES_MAX = 40, ROUNDS = 200, SHAPES = 4 };

static struct ty_spool *spool;
static struct ty_spool_writer *writer;
static uint64_t next[STREAMS];	 /* number of the stream's next chunk */
static uint64_t first[STREAMS];	 /* that is kept */
static uint64_t dropping;	 /* where in the file dropping begins */
static uint64_t taken, taken_at; /* snapshots: the next one's number; that of the kept part */

static const uint32_t stream_id[STREAMS] = {0, 1, 3, 1u << 16 | 1};

/* Bytes that do not compress. */
static void noise(uint8_t *p, size_t n)
{
	static uint64_t x = 88172645463325252u;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		p[i] = (uint8_t)x;
	}
}

/* The times of a chunk show its number. */
static void put(unsigned stream, uint64_t seq, unsigned pages)
{
	static uint8_t raw[PAGES_MAX * TY_FX_PAGE];
	const struct ty_spool_chunk what = {.type = TY_SPOOL_DATA,
					    .flags = seq % 3 ? 0 : TY_SPOOL_LZ4,
					    .stream = stream_id[stream],
					    .seq = seq,
					    .first_ns = seq * 10 + 1,
					    .last_ns = seq * 10 + 9};

	noise(raw, pages * TY_FX_PAGE);
	assert_int_equal(ty_spool_put(writer, &what, raw, pages * TY_FX_PAGE, NULL), 0);
}

static void put_snapshot(uint64_t number)
{
	const struct ty_spool_chunk what = {.type = TY_SPOOL_SECTION,
					    .flags = number ? TY_SPOOL_LATER : 0,
					    .stream = TY_SEC_THREADS,
					    .seq = number};
	char text[64];
	int n = snprintf(text, sizeof(text), "taken %" PRIu64 " 0\n", number);

	assert_int_equal(ty_spool_put(writer, &what, text, (size_t)n, NULL), 0);
}

/* A few chunks; some streams' are overtaken by their successors. */
static void put_some(void)
{
	for (int k = rand() % 6; k >= 0; k--) {
		unsigned s = (unsigned)rand() % STREAMS, pages = 1 + (unsigned)rand() % PAGES_MAX;

		if (rand() % 4) {
			put(s, next[s]++, pages);
		} else {
			put(s, next[s] + 1, pages);
			put(s, next[s], pages);
			next[s] += 2;
		}
	}
}

static const char *begin(const char *name)
{
	struct ty_err err = {0};
	const char *path = ty_fx_path(name);

	memset(next, 0, sizeof(next));
	memset(first, 0, sizeof(first));
	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	writer = ty_spool_writer_new(spool, 1 << 20);
	assert_non_null(writer);
	ty_fx_spool_meta(writer);
	if (ty_spool_keep(spool, &err)) {
		print_message("%s\n", err.msg);
		skip();
	}
	dropping = spool->end;
	taken_at = 0;
	taken = 1;
	put_snapshot(0);
	return path;
}

static void end(void)
{
	ty_spool_writer_free(writer);
	ty_spool_close(spool);
}

/* A mark with all that it stands for. */
struct place {
	struct ty_spool_mark *at;
	uint64_t first[STREAMS], taken, ns;
};

static struct place mark(uint64_t ns)
{
	struct place p = {.at = ty_spool_mark_new(spool), .taken = taken++, .ns = ns};

	assert_non_null(p.at);
	memcpy(p.first, next, sizeof(next));
	assert_int_equal(ty_spool_mark_first(p.at, TY_SPOOL_SECTION, TY_SEC_THREADS, p.taken), 0);
	return p;
}

static void drop(struct place *p)
{
	struct ty_err err = {0};
	char text[64];
	bool begins;

	put_snapshot(p->taken);
	snprintf(text, sizeof(text), "from_ns=%" PRIu64 "\nbegan_ns=7\n", p->ns);
	if (ty_spool_drop(writer, spool, p->at, text, &begins, &err))
		fail_msg("%s", err.msg);
	assert_true(begins);
	ty_spool_mark_free(p->at);
	memcpy(first, p->first, sizeof(first));
	taken_at = p->taken;
}

/* The file at path has the chunks from `from` to `to` of each stream, and none is missing. */
static void check(const char *path, const uint64_t *from, const uint64_t *to, uint64_t snapshot,
		  uint64_t ns)
{
	struct ty_err err = {0};
	struct ty_trace *t;
	char text[64];
	unsigned k = 0;

	if (ty_trace_open(path, &t, &err))
		fail_msg("%s", err.msg);
	assert_false(t->truncated);
	assert_int_equal(t->kept_from_ns, ns);
	assert_int_equal(t->kept_began_ns, ns ? 7 : 0);
	snprintf(text, sizeof(text), "taken %" PRIu64 " 0\n", snapshot);
	assert_string_equal(ty_trace_section(t, TY_SEC_THREADS).s, text);
	assert_string_equal(ty_trace_section(t, TY_SEC_MACHINE).s, "tarry=test\n");
	for (unsigned s = 0; s < STREAMS; s++) {
		if (from[s] == to[s])
			continue;
		assert_true(k < t->streams.n);
		assert_int_equal(t->streams.v[k].buffer << 16 | t->streams.v[k].cpu, stream_id[s]);
		assert_int_equal(t->streams.v[k].chunks, to[s] - from[s]);
		for (uint32_t c = 0; c < t->streams.v[k].chunks; c++) {
			assert_false(ty_trace_chunk(t, k, c).missing);
			assert_int_equal(ty_trace_chunk(t, k, c).first_ns, (from[s] + c) * 10 + 1);
		}
		k++;
	}
	assert_int_equal(k, t->streams.n);
	ty_fx_read_all(t);
	ty_trace_close(t);
}

/* `check` without the facts that only the end of a recording writes. */
static void check_now(const char *path)
{
	check(path, first, next, taken_at, taken_at ? taken_at * 100 : 0);
}

static uint64_t on_disk(void)
{
	struct stat st;

	assert_int_equal(fstat(spool->fd, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void test_random(void **state)
{
	(void)state;
	for (unsigned shape = 0; shape < SHAPES; shape++) {
		struct place place[3];
		const char *path;
		struct ty_err err = {0};
		unsigned n = 0, drops = 0;

		srand(shape);
		path = begin("random");
		for (unsigned i = 0; i < ROUNDS; i++) {
			put_some();
			if (n < 3 && !(rand() % 4)) {
				place[n] = mark(taken * 100);
				n++;
			}
			if (n && !(rand() % 6)) {
				drop(&place[0]);
				memmove(place, place + 1, --n * sizeof(*place));
				drops++;
				/* A block at each end, and what the file system keeps for itself.
				 */
				assert_true(on_disk() < ty_spool_bytes(spool) + 262144);
			}
			if (!(rand() % 40))
				check_now(path);
		}
		assert_true(drops > 10);
		assert_true(ty_spool_bytes(spool) < ty_spool_written(spool) / 2);
		check_now(path);
		if (ty_spool_finish(spool, &err))
			fail_msg("%s", err.msg);
		check_now(path);
		for (unsigned i = 0; i < n; i++)
			ty_spool_mark_free(place[i].at);
		end();
	}
}

/* The file as it is, without its holes. */
static void load(const char *path, struct ty_buf *b)
{
	ty_buf_fini(b);
	ty_fx_read(path, b);
}

/* Where the part that was dropped ends. */
static uint64_t dropped_to(const char *path)
{
	struct ty_trace *t;
	uint64_t from, to;
	const char *p;

	assert_int_equal(ty_trace_open(path, &t, NULL), 0);
	p = strstr(ty_trace_section(t, TY_SEC_KEPT).s, "dropped=");
	assert_int_equal(sscanf(p, "dropped=%" SCNu64 " %" SCNu64, &from, &to), 2);
	assert_int_equal(from, dropping);
	ty_trace_close(t);
	return to;
}

/* A recorder that dies between the steps of a drop. */
static void test_crash(void **state)
{
	const char *path = begin("crash");
	char part[4096];
	struct ty_buf was = {0}, is = {0};
	uint64_t first_was[STREAMS], taken_was, to;

	(void)state;
	snprintf(part, sizeof(part), "%s.part", path);
	for (unsigned i = 0; i < 30; i++) {
		struct place p;

		for (unsigned k = 0; k < 5; k++)
			put_some();
		p = mark(taken * 100);
		put_some();
		memcpy(first_was, first, sizeof(first));
		taken_was = taken_at;
		load(path, &was);
		drop(&p);
		load(path, &is);
		/* What the drop appended is there, and the head is the old one. */
		assert_true(is.len > was.len);
		assert_int_equal(ty_buf_add(&was, is.p + was.len, is.len - was.len), 0);
		ty_fx_write(part, was.p, was.len);
		check(part, first_was, next, taken_was, taken_was * 100);
		/* And the new head, without the hole. */
		memcpy(was.p, is.p, sizeof(struct ty_spool_head));
		ty_fx_write(part, was.p, was.len);
		check(part, first, next, taken_at, taken_at * 100);
		/* The hole, up to where it got. */
		to = dropped_to(path);
		memset(was.p + dropping, 0, (to - dropping) / 2);
		ty_fx_write(part, was.p, was.len);
		check(part, first, next, taken_at, taken_at * 100);
	}
	ty_buf_fini(&was);
	ty_buf_fini(&is);
	end();
}

/* A head that points to nothing that says anything: the newest chunk that does is taken, and the
 * reader gets a message. Without any the spool is one with a hole, and says so. */
static void test_damaged(void **state)
{
	const char *path = begin("damaged");
	char part[4096];
	struct ty_buf b = {0};
	struct place p[2];
	struct ty_err err = {0};
	struct ty_trace *t;
	uint64_t kept = 0, second;

	(void)state;
	snprintf(part, sizeof(part), "%s.part", path);
	/* Both marks are there before the first drop, as the recorder has them: the first chunk
	 * that records one lies behind the second mark. */
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 10; k++)
			put_some();
		p[i] = mark((i + 1) * 100);
	}
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 10; k++)
			put_some();
		drop(&p[i]);
		load(path, &b);
		memcpy(&second, b.p + offsetof(struct ty_spool_head, kept), sizeof(second));
		kept = i ? kept : second;
	}
	for (unsigned i = 0; i < 5; i++) {
		const uint64_t wrong[] = {second + 1, b.len - 3, UINT64_MAX - 5, second, second};

		memcpy(b.p + offsetof(struct ty_spool_head, kept), &wrong[i], sizeof(kept));
		if (i >= 3)
			b.p[(i == 3 ? second : kept) + 80] ^= 1;
		ty_fx_write(part, b.p, b.len);
		assert_int_equal(ty_trace_open(part, &t, &err), 0);
		assert_true(t->truncated);
		assert_non_null(strstr(t->note.s, "unknown which data it dropped last"));
		assert_int_equal(t->kept_from_ns, i < 3 ? 200 : i == 3 ? 100 : 0);
		assert_true(t->streams.n > 0);
		ty_trace_close(t);
	}
	ty_buf_fini(&b);
	end();
}

/* A reader comes to what the recorder dropped since it has opened the file: that is no damage. */
static void test_dropped_while_read(void **state)
{
	const char *path = begin("while");
	static uint8_t raw[PAGES_MAX * TY_FX_PAGE];
	struct ty_chunk_scratch scratch;
	struct ty_err err = {0};
	struct ty_trace *t;
	struct place p;

	(void)state;
	for (unsigned i = 0; i < 8; i++)
		put(0, next[0]++, PAGES_MAX);
	p = mark(100);
	put(0, next[0]++, 2);
	assert_int_equal(ty_trace_open(path, &t, &err), 0);
	ty_chunk_scratch_init(&scratch);
	assert_int_equal(ty_trace_chunk_read(t, 0, 0, raw, &scratch, &err), 0);
	drop(&p);
	/* What is whole yet, because a hole ends with a block, may be read. */
	assert_int_equal(ty_trace_chunk_read(t, 0, 0, raw, &scratch, &err), -TY_EIO);
	assert_non_null(strstr(err.msg, "the running recorder dropped"));
	assert_int_equal(ty_trace_chunk_read(t, 0, 8, raw, &scratch, NULL), 0);
	ty_chunk_scratch_fini(&scratch);
	ty_trace_close(t);
	end();
}

/* More metadata than a megabyte is there before anything can be dropped, and stays. */
static void test_much_before(void **state)
{
	enum { TEXT = 1 << 20, TEXTS = 2 };
	const struct ty_spool_chunk what = {.type = TY_SPOOL_META, .stream = TY_META_EVENT_FORMAT};
	const char *path = ty_fx_path("before");
	struct ty_err err = {0};
	static uint8_t text[TEXT];
	struct ty_trace *t;

	(void)state;
	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, &err), 0);
	assert_int_equal(ty_spool_publish(spool, &err), 0);
	writer = ty_spool_writer_new(spool, TEXT);
	assert_non_null(writer);
	ty_fx_spool_meta(writer);
	noise(text, TEXT);
	memcpy(text, "system", sizeof("system"));
	for (uint64_t i = 0; i < TEXTS; i++) {
		struct ty_spool_chunk c = what;

		c.seq = 100 + i;
		assert_int_equal(ty_spool_put(writer, &c, text, TEXT, &err), 0);
	}
	if (ty_spool_keep(spool, &err)) {
		print_message("%s\n", err.msg);
		end();
		skip();
	}
	assert_int_equal(ty_trace_open(path, &t, &err), 0);
	assert_false(t->truncated);
	assert_true(t->formats.n >= TEXTS);
	assert_memory_equal(t->formats.v[t->formats.n - 1].text.s, text + sizeof("system"),
			    TEXT - sizeof("system"));
	ty_trace_close(t);
	end();
}

/* A spool that says of itself that this text lists what was dropped. */
static void begin_kept(const char *path, const char *text, size_t n)
{
	const struct ty_spool_chunk what = {.type = TY_SPOOL_SECTION, .stream = TY_SEC_KEPT};
	uint64_t off;

	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, NULL), 0);
	assert_int_equal(ty_spool_publish(spool, NULL), 0);
	writer = ty_spool_writer_new(spool, 2 << 20);
	assert_non_null(writer);
	ty_fx_spool_meta(writer);
	off = ty_spool_written(spool);
	assert_int_equal(ty_spool_put(writer, &what, text, n, NULL), 0);
	assert_true(
		ty_full_write(spool->fd, &off, sizeof(off), offsetof(struct ty_spool_head, kept)));
}

/* A section that is made to take long: millions of lines, each of which is looked at once. */
static void test_hostile(void **state)
{
	enum { TEXT = 2 << 20 };
	const char *const lines[] = {"\n", "first=\n", "first=1 \n", "dropped=\n",
				     "first=99999999999999999999 "};
	const char *path = ty_fx_path("hostile");
	static char text[TEXT];
	struct ty_trace *t;

	(void)state;
	for (unsigned i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		const size_t n = strlen(lines[i]);

		for (size_t k = 0; k < TEXT; k++)
			text[k] = lines[i][k % n];
		begin_kept(path, text, TEXT);
		ty_fx_cpu_limit(20);
		assert_int_equal(ty_trace_open(path, &t, NULL), 0);
		ty_fx_cpu_limit(0);
		assert_int_equal(t->kept_from_ns, 0);
		ty_trace_close(t);
		end();
	}
}

/* Many damaged chunks: what was dropped, a long list, is not asked for anew for each of them. */
static void test_hostile_damage(void **state)
{
	enum { TEXT = 2 << 20, CHUNKS = 20000, LINES = 100000 };
	struct ty_spool_chunk bad = {
		.magic = TY_SPOOL_CHUNK_MAGIC, .type = TY_SPOOL_META, .stream = TY_META_CPUSTAT};
	const char *path = ty_fx_path("damage");
	struct ty_trace *t;
	struct ty_buf b;
	uint64_t at;

	(void)state;
	ty_buf_init(&b, TEXT);
	for (unsigned i = 0; i < LINES; i++)
		ty_buf_addf(&b, "first=9 %u 1\n", i);
	assert_int_equal(b.failed, 0);
	begin_kept(path, b.p, b.len);
	for (bad.seq = 1000; bad.seq < 1000 + CHUNKS; bad.seq++) {
		bad.head_crc = ty_spool_head_crc(&bad);
		assert_int_equal(ty_spool_write(spool, &bad, sizeof(bad), &at), 0);
	}
	ty_fx_cpu_limit(20);
	assert_int_equal(ty_trace_open(path, &t, NULL), 0);
	ty_fx_cpu_limit(0);
	assert_non_null(strstr(t->note.s, "20000 damaged metadata chunks"));
	ty_trace_close(t);
	ty_buf_fini(&b);
	end();
}

/* More bytes than any codec makes of one byte are not even looked for. */
static void test_hostile_size(void **state)
{
	const struct ty_spool_ent e = {.h = {.stored = 1u << 30, .raw = 1}};
	const char *path = ty_fx_path("size");
	struct ty_buf b;
	int fd;

	(void)state;
	ty_fx_write(path, "", 0);
	fd = open(path, O_RDONLY);
	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_spool_chunk_read(fd, &e, &b), -TY_EFORMAT);
	ty_buf_fini(&b);
	close(fd);
}

/* A drop for which there is no room: the file is as it was. */
static void test_no_room(void **state)
{
	const char *path = begin("room");
	struct rlimit was, none;
	struct ty_err err = {0};
	struct place p[2];
	bool begins = true;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 5; k++)
			put_some();
		p[i] = mark(taken * 100);
	}
	put_some();
	drop(&p[0]);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	none = (struct rlimit){ty_spool_written(spool), was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(ty_spool_drop(writer, spool, p[1].at, "from_ns=1\n", &begins, &err),
			 -TY_ESYS);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_false(begins);
	assert_non_null(strstr(err.msg, "cannot write"));
	check_now(path);
	ty_spool_mark_free(p[1].at);
	end();
}

/* Holes end in the middle of blocks: what one leaves, the next one takes. */
static void test_nothing_stays(void **state)
{
	struct place p;
	uint64_t most = 0;

	(void)state;
	begin("blocks");
	for (unsigned i = 0; i < 100; i++) {
		put(i % STREAMS, next[i % STREAMS], 5);
		next[i % STREAMS]++;
		p = mark(taken * 100);
		drop(&p);
		most = on_disk() > most ? on_disk() : most;
	}
	assert_true(spool->end > 2000000);
	assert_true(most < 1000000);
	end();
}

static int remove_all(void **state)
{
	(void)state;
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),	       cmocka_unit_test(test_crash),
		cmocka_unit_test(test_damaged),	       cmocka_unit_test(test_dropped_while_read),
		cmocka_unit_test(test_much_before),    cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_hostile_damage), cmocka_unit_test(test_hostile_size),
		cmocka_unit_test(test_no_room),	       cmocka_unit_test(test_nothing_stays),
	};

	return cmocka_run_group_tests(tests, NULL, remove_all);
}
