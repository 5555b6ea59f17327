/* SPDX-License-Identifier: MIT */
/* The spool's path: what is there before, beside it and behind a link, and when it is replaced. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture_trace.h"
#include "atomic_file.h"
#include "spool.h"

static struct ty_spool *spool;
static struct ty_spool_writer *writer;

static void begin(const char *name)
{
	assert_int_equal(ty_spool_create(ty_fx_path(name), TY_FX_PAGE, &spool, NULL), 0);
	assert_int_equal(ty_spool_publish(spool, NULL), 0);
	writer = ty_spool_writer_new(spool, 1 << 20);
	assert_non_null(writer);
}

static void end(void)
{
	ty_spool_writer_free(writer);
	ty_spool_close(spool);
}

static void finish(void)
{
	ty_fx_spool_meta(writer);
	assert_int_equal(ty_fx_spool_data(writer, 0, 0, 0, 1, NULL), 0);
	ty_fx_spool_end(writer);
	assert_false(ty_spool_removed(spool));
	assert_int_equal(ty_spool_finish(spool, NULL), 0);
	/* Not removed, but replaced. */
	assert_false(ty_spool_removed(spool));
	end();
}

static void check_file(const char *path, const char *want)
{
	struct ty_buf b;

	ty_fx_read(path, &b);
	assert_int_equal(b.len, strlen(want));
	assert_memory_equal(b.p, want, b.len);
	ty_buf_fini(&b);
}

static void test_odd_places(void **state)
{
	const char *link = ty_fx_path("link"), *real = ty_fx_path("real");
	struct ty_err err = {0};
	struct ty_trace *t;
	struct stat st;

	assert_int_equal(ty_spool_create("/dev/null", TY_FX_PAGE, &spool, &err), -TY_EUSAGE);
	assert_non_null(strstr(err.msg, "/dev/null"));
	memset(&err, 0, sizeof(err));
	assert_int_equal(ty_spool_create(ty_fx_dir(), TY_FX_PAGE, &spool, &err), -TY_EUSAGE);
	memset(&err, 0, sizeof(err));
	assert_int_equal(ty_spool_create(ty_fx_path("no/such"), TY_FX_PAGE, &spool, &err),
			 -TY_ENOTFOUND);
	assert_null(spool);
	memset(&err, 0, sizeof(err));
	assert_int_equal(symlink("/dev/null", ty_fx_path("tonull")), 0);
	assert_int_equal(ty_spool_create(ty_fx_path("tonull"), TY_FX_PAGE, &spool, &err),
			 -TY_EUSAGE);
	memset(&err, 0, sizeof(err));
	assert_int_equal(symlink("/proc/self/fd/1", ty_fx_path("stdout")), 0);
	assert_int_equal(ty_spool_create(ty_fx_path("stdout"), TY_FX_PAGE, &spool, &err),
			 -TY_EUSAGE);
	memset(&err, 0, sizeof(err));
	assert_int_equal(ty_spool_create(ty_fx_path("new/"), TY_FX_PAGE, &spool, &err), -TY_EUSAGE);
	/* A link is replaced; what it points to is none of the recorder's business. */
	ty_fx_write(real, "old", 3);
	assert_int_equal(symlink(real, link), 0);
	begin("link");
	finish();
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(ty_trace_open(link, &t, &err), 0);
	assert_int_equal(t->version, 7);
	ty_trace_close(t);
	check_file(real, "old");
}

/* Until it is published, a recording leaves what is at its path, and beside it, alone. */
static void test_publish(void **state)
{
	const char *path = ty_fx_path("pub/x"), *tmp = ty_fx_path("pub/x.tmp");
	struct ty_spool *other;
	struct ty_err err = {0};

	assert_int_equal(mkdir(ty_fx_path("pub"), 0700), 0);
	ty_fx_write(path, "old", 3);
	ty_fx_write(tmp, "mine", 4);
	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &spool, NULL), 0);
	check_file(path, "old");
	assert_int_equal(ty_fx_files(ty_fx_path("pub")), 2);
	ty_spool_discard(spool);
	ty_spool_close(spool);
	check_file(path, "old");
	assert_int_equal(ty_fx_files(ty_fx_path("pub")), 2);

	/* Two that were made before either was published: the second gets an error. */
	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &other, NULL), 0);
	begin("pub/x");
	assert_int_equal(ty_spool_publish(other, &err), -TY_EUSAGE);
	assert_non_null(strstr(err.msg, "another tarry record"));
	ty_spool_discard(other);
	ty_spool_close(other);
	/* And a later one gets it at once. */
	memset(&err, 0, sizeof(err));
	assert_int_equal(ty_spool_create(path, TY_FX_PAGE, &other, &err), -TY_EUSAGE);
	assert_non_null(strstr(err.msg, "another tarry record"));
	finish();
	check_file(tmp, "mine");
	assert_int_equal(ty_fx_files(ty_fx_path("pub")), 2);

	/* What is discarded after it was published is gone, but only if it is still ours. */
	begin("pub/x");
	ty_spool_discard(spool);
	assert_int_equal(access(path, F_OK), -1);
	end();
	begin("pub/x");
	assert_int_equal(unlink(path), 0);
	assert_true(ty_spool_removed(spool));
	ty_fx_write(path, "new", 3);
	ty_spool_discard(spool);
	check_file(path, "new");
	end();
}

/* The way for file systems without unnamed files. */
static void test_named(void **state)
{
	const char *path = ty_fx_path("named/x");
	char *name;
	int fd;

	assert_int_equal(mkdir(ty_fx_path("named"), 0700), 0);
	for (int place = 0; place < 2; place++) {
		fd = ty_atomic_file_open(path, -1, true, &name, NULL);
		assert_true(fd >= 0);
		assert_non_null(strstr(name, "/named/tarry-unfinished-"));
		assert_int_equal(access(name, F_OK), 0);
		if (place)
			assert_int_equal(ty_atomic_file_place(fd, &name, path, -1, NULL), 0);
		ty_atomic_file_remove(&name);
		assert_null(name);
		assert_int_equal(ty_atomic_file_is_at(path, fd), place);
		close(fd);
		assert_int_equal(ty_fx_files(ty_fx_path("named")), place);
	}
}

static int teardown(void **state)
{
	ty_fx_remove_dir();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odd_places),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
