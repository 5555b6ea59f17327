/* SPDX-License-Identifier: MIT */
/*
 * The index file: an opened model answers as the built one; a file that does not fit is as good as
 * none; a damaged one is refused, or says so, and never crashes, even when its maker wished it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "build.h"
#include "index_file.h"
#include "model_priv.h"
#include "model_walk.h"

static char dir[] = "/tmp/tarry-test-index-XXXXXX", trace[64], index_path[80];
static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static uint8_t *read_file(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	uint8_t *p = malloc(64 << 20);

	assert_non_null(f);
	*n = fread(p, 1, 64 << 20, f);
	fclose(f);
	return p;
}

static int open_index(const char *path, struct ty_model **m)
{
	int fd = open(path, O_RDONLY), r = ty_index_open(path, fd, m);

	close(fd);
	return r;
}

static int setup(void **state)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(trace, sizeof(trace), "%s/t.dat", dir);
	snprintf(index_path, sizeof(index_path), "%s/.t.dat.tarry-index", dir);
	write_file(trace, "not really a trace", 18);
	return 0;
}

static int teardown(void **state)
{
	char cmd[100];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd);
}

static void feed(struct ty_builder *b, struct ty_event ev)
{
	assert_int_equal(ty_builder_feed(b, &ev, NULL), 0);
}

/* Something of everything, n rounds of it. */
static struct ty_model *build(const char *index_of, unsigned n, uint64_t memory, bool gaps)
{
	struct ty_build_facts facts = {
		.machine = "tarry=0.1\nmode=all\n",
		.threads = "taken 3 900\n3\t3\t1\t0\tS\tother\t0\t0\t1\t-\t0-1\t/\tx\n",
		.arch = "x86_64",
		.index_of = index_of,
		.index_fd = index_of ? open(index_of, O_RDONLY) : -1,
		.memory_bytes = memory,
	};
	struct ty_builder *b = ty_builder_new(&facts);
	struct ty_model *m;
	uint64_t t = 1000;

	assert_non_null(b);
	for (unsigned i = 0; i < n; i++) {
		int32_t me = 3 + (int32_t)(i / 7 % 5), you = 3 + (int32_t)((i / 7 + 1) % 5);
		struct ty_event ev = {.cpu = 0, .tid = me, .loc = (uint64_t)i << 4};

#define EV(k, ...)                                                                                 \
	ev.ts_ns = t += 1 + rnd() % 3000;                                                          \
	ev.kind = TY_EV_##k;                                                                       \
	ev.id = TY_EV_##k;                                                                         \
	__VA_ARGS__;                                                                               \
	feed(b, ev)
		if (i % 7 == 0) {
			EV(WAKING, memset(&ev.u, 0, sizeof(ev.u)); ev.u.wake.tid = you;
			   ev.u.wake.target_cpu = 0);
			EV(SWITCH, memset(&ev.u, 0, sizeof(ev.u)); ev.u.sw.prev_tid = me;
			   ev.u.sw.next_tid = you; ev.u.sw.prev_state = i % 2;
			   ev.u.sw.next_prio = 120; strcpy(ev.u.sw.next_comm, "name"));
			ev.tid = you;
		}
		EV(SYS_ENTER, ev.u.enter.nr = (int64_t)(rnd() % 5));
		EV(IRQ_ENTRY, ev.u.irq.irq = 5; ev.u.irq.name = "eth0");
		EV(IRQ_EXIT, ev.u.irq.irq = 5);
		EV(SYS_EXIT, ev.u.exit.nr = 1; ev.u.exit.ret = (int64_t)(rnd() % 100) - 10);
		EV(HRTIMER_EXPIRE, ev.u.hrtimer.function = rnd());
		if (i % 50 == 0) {
			EV(BLOCK_ISSUE, memset(&ev.u, 0, sizeof(ev.u)); ev.u.block.sector = i;
			   ev.u.block.nr_sector = 8; strcpy(ev.u.block.rwbs, "R"));
			EV(BLOCK_COMPLETE, ev.u.block.error = 0);
			EV(MIGRATE, ev.u.migrate.tid = 4; ev.u.migrate.from_cpu = 0;
			   ev.u.migrate.to_cpu = 1);
		}
		if (gaps && i % 30 == 29) {
			EV(GAP, ev.u.gap.from_ns = t - 200; ev.u.gap.count = 3;
			   ev.u.gap.to_end = false; ev.u.gap.what = 0);
		}
#undef EV
	}
	assert_int_equal(ty_builder_finish(b, &m, NULL), 0);
	ty_builder_free(b);
	if (index_of)
		close(facts.index_fd);
	return m;
}

static uint64_t built(unsigned n, uint64_t memory, bool gaps)
{
	struct ty_model *m = build(trace, n, memory, gaps);
	uint64_t h = walk_model(m);

	ty_model_free(m);
	return h;
}

static void same_answers(void **state)
{
	for (unsigned i = 0; i < 8; i++) {
		unsigned n = i / 2 % 2 ? 20000 : 300;
		uint64_t h = built(n, i >= 4 ? 4 << 20 : 0, i % 2);
		struct ty_model *m;

		assert_int_equal(open_index(trace, &m), 1);
		assert_int_equal(walk_model(m), h);
		assert_false(ty_model_damaged(m));
		ty_model_free(m);
	}
}

static void does_not_fit(void **state)
{
	struct timespec ts[2] = {{1000, 0}, {1000, 1}};
	struct stat st;
	struct ty_model *m;

	built(100, 0, false);
	assert_int_equal(open_index(trace, &m), 1);
	ty_model_free(m);
	/* The trace is another one: by its time, by its content, by its size. */
	assert_int_equal(stat(trace, &st), 0);
	assert_int_equal(utimensat(AT_FDCWD, trace, ts, 0), 0);
	assert_int_equal(open_index(trace, &m), 0);
	built(100, 0, false);
	assert_int_equal(open_index(trace, &m), 1);
	ty_model_free(m);
	write_file(trace, "not really A trace", 18);
	assert_int_equal(utimensat(AT_FDCWD, trace, ts, 0), 0);
	assert_int_equal(open_index(trace, &m), 0);
	write_file(trace, "not really a trace at all", 25);
	assert_int_equal(utimensat(AT_FDCWD, trace, ts, 0), 0);
	assert_int_equal(open_index(trace, &m), 0);
	/* A link in its place is not followed; something else there is no harm. */
	built(100, 0, false);
	assert_int_equal(open_index(trace, &m), 1);
	ty_model_free(m);
	{
		char other[100];

		snprintf(other, sizeof(other), "%s/other", dir);
		assert_int_equal(rename(index_path, other), 0);
		assert_int_equal(symlink(other, index_path), 0);
		assert_int_equal(open_index(trace, &m), 0);
		built(100, 0, false); /* the link is replaced */
		assert_int_equal(lstat(index_path, &st), 0);
		assert_true(S_ISREG(st.st_mode));
		assert_int_equal(open_index(trace, &m), 1);
		ty_model_free(m);
	}
	/* Nothing else is left behind. */
	ty_index_remove(trace);
	assert_int_equal(open_index(trace, &m), 0);
}

/* Another file under the name, or other bytes in the file, while the model is built. */
static void changed_meanwhile(void **state)
{
	for (unsigned i = 0; i < 3; i++) {
		struct ty_build_facts facts = {.index_of = trace,
					       .index_fd = open(trace, O_RDONLY)};
		struct ty_builder *b;
		struct ty_model *m;
		char other[100];
		FILE *f;

		snprintf(other, sizeof(other), "%s/other", dir);
		if (i == 1) {
			write_file(other, "not really a trace", 18);
			assert_int_equal(rename(other, trace), 0);
		}
		b = ty_builder_new(&facts);
		assert_non_null(b);
		feed(b, (struct ty_event){.ts_ns = 5, .kind = TY_EV_SYS_ENTER});
		if (i == 2) {
			f = fopen(trace, "a");
			assert_true(f && fputs("more", f) >= 0 && !fclose(f));
		}
		assert_int_equal(ty_builder_finish(b, &m, NULL), 0);
		ty_builder_free(b);
		ty_model_free(m);
		assert_int_equal(open_index(trace, &m), !i);
		if (!i)
			ty_model_free(m);
		close(facts.index_fd);
		ty_index_remove(trace);
	}
}

/* A folder that is not ours, or cannot be written to. */
static void cache_folder(void **state)
{
	char far[100], cache[100];
	struct ty_model *m;
	struct stat st;
	uint64_t h;

	if (geteuid())
		skip(); /* only root can give a folder away */
	snprintf(far, sizeof(far), "%s/far", dir);
	snprintf(cache, sizeof(cache), "%s/cache", dir);
	assert_int_equal(mkdir(far, 0755), 0);
	assert_int_equal(mkdir(cache, 0755), 0);
	setenv("XDG_CACHE_HOME", cache, 1);
	strcat(far, "/x.dat");
	write_file(far, "a trace", 7);
	*strrchr(far, '/') = 0;
	assert_int_equal(chown(far, 12345, 12345), 0);
	far[strlen(far)] = '/';
	m = build(far, 300, 0, true);
	h = walk_model(m);
	ty_model_free(m);
	strcat(cache, "/tarry");
	assert_int_equal(stat(cache, &st), 0);
	assert_int_equal(open_index(far, &m), 1);
	assert_int_equal(walk_model(m), h);
	ty_model_free(m);
	unsetenv("XDG_CACHE_HOME");
}

/* Every byte of a small index, changed: refused, or reported, or of no consequence. */
static void every_byte(void **state)
{
	unsigned refused = 0, told = 0, harmless = 0;
	uint64_t h = built(60, 0, true);
	struct ty_model *m;
	size_t n;
	uint8_t *p = read_file(index_path, &n);

	assert_true(n > 8000);
	for (size_t i = 0; i < n; i++) {
		int fd = open(index_path, O_WRONLY);
		uint8_t was = p[i], now = was ^ (uint8_t)(1 + rnd() % 255);

		assert_int_equal(pwrite(fd, &now, 1, (off_t)i), 1);
		if (!open_index(trace, &m)) {
			refused++;
		} else {
			uint64_t got = walk_model(m);

			if (ty_model_damaged(m))
				told++;
			else
				harmless++;
			if (got != h && !ty_model_damaged(m))
				fail_msg("byte %zu: another answer, and nobody knows", i);
			ty_model_free(m);
		}
		assert_int_equal(pwrite(fd, &was, 1, (off_t)i), 1);
		close(fd);
	}
	assert_true(refused > 1000 && told > 1000 && harmless < 5000);
	for (size_t cut = 0; cut < n; cut += 97) {
		assert_int_equal(truncate(index_path, (off_t)(n - 1 - cut)), 0);
		assert_int_equal(open_index(trace, &m), 0);
	}
	free(p);
}

/* Random changes whose maker mended the checksums: any answer, but an answer. */
static void hostile(void **state)
{
	struct ty_model *right = build(trace, 400, 0, true), *m;
	struct ty_index_body body = right->body;
	unsigned opened = 0;
	size_t n;
	uint8_t *p;

	ty_model_free(right);
	p = read_file(index_path, &n);
	for (unsigned round = 0; round < 3000; round++) {
		int fd = memfd_create("index", MFD_CLOEXEC);
		unsigned edits = 1 + (unsigned)rnd() % 20;

		assert_int_equal(write(fd, p, n), n);
		m = calloc(1, sizeof(*m));
		m->body = body;
		for (unsigned e = 0; e < edits; e++) {
			static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
			uint8_t v = rnd() % 2 ? (uint8_t)rnd() : bytes[rnd() % 5];
			uint64_t at = rnd() % (n + 100);

			if (rnd() % 200 == 0)
				((uint8_t *)&m->body)[rnd() % sizeof(m->body)] = v;
			else
				assert_int_equal(pwrite(fd, &v, 1, (off_t)(at < n ? at : n - 1)),
						 1);
		}
		m->store = ty_store_map(fd, n);
		assert_non_null(m->store);
		if (!ty_model_load(m, false)) {
			opened++;
			walk_model(m);
		}
		ty_model_free(m);
		close(fd);
	}
	assert_true(opened > 300);
	free(p);
}

/* In place of libc's: a disk that takes its time. */
static atomic_uint slow_ms;
ssize_t pwrite(int fd, const void *p, size_t n, off_t off)
{
	usleep(slow_ms * 1000);
	return syscall(SYS_pwrite64, fd, p, n, off);
}

static unsigned files(const char *path)
{
	struct dirent *e;
	unsigned n = 0;
	DIR *d = opendir(path);

	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_type == DT_REG;
	closedir(d);
	return n;
}

/* Quitting does not wait for a slow disk: its last write is the end, nothing stays in the folder,
 * and the next one writes the index anew. */
static void left_early(void **state)
{
	struct ty_model *m = build(NULL, 10, 0, false);

	ty_model_leave(m);
	ty_model_free(m);
	ty_model_leave(NULL);
	unlink(index_path);
	slow_ms = 2000;
	m = build(trace, 1000, 0, false);
	ty_model_leave(m);
	ty_model_free(m);
	slow_ms = 0;
	assert_int_equal(files(dir), 1);
	built(1000, 0, false);
	assert_int_equal(files(dir), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_answers),	     cmocka_unit_test(does_not_fit),
		cmocka_unit_test(changed_meanwhile), cmocka_unit_test(cache_folder),
		cmocka_unit_test(every_byte),	     cmocka_unit_test(hostile),
		cmocka_unit_test(left_early),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
