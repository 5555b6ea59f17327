/* SPDX-License-Identifier: MIT */
/* Build ids of mappings: only of the file that was mapped, and never by waiting for the holder of a
 * lease. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build_id.h"

enum { MAJOR = 40, MINOR = 44, INODE = 48, FILE_NAME = 72, RECORD = 256 };

static char folder[] = "/tmp/tarry-build-id-XXXXXX";

static void put32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/* A record of a mapping of the file at path, by a process that does not exist. */
static void map_record(uint8_t rec[RECORD], const char *path, uint64_t ino_off)
{
	struct perf_event_header h = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_MMAP_BUILD_ID, .size = RECORD};
	struct stat st;
	uint64_t ino;

	assert_int_equal(stat(path, &st), 0);
	memset(rec, 0, RECORD);
	memcpy(rec, &h, sizeof(h));
	put32(rec + MAJOR, major(st.st_dev));
	put32(rec + MINOR, minor(st.st_dev));
	ino = st.st_ino + ino_off;
	memcpy(rec + INODE, &ino, sizeof(ino));
	strcpy((char *)rec + FILE_NAME, path);
}

static bool is_marked(struct ty_build_ids *b, uint8_t *rec)
{
	struct perf_event_header h;

	ty_build_ids_put(b, rec, RECORD);
	memcpy(&h, rec, sizeof(h));
	return h.misc & PERF_RECORD_MISC_MMAP_BUILD_ID;
}

static void copy_ourselves(char *path, const char *name)
{
	char command[200];

	sprintf(path, "%s/%s", folder, name);
	sprintf(command, "cp /proc/%d/exe %s", (int)getpid(), path);
	assert_int_equal(system(command), 0);
}

static void only_the_mapped_file_counts(void **state)
{
	struct ty_build_ids *b = ty_build_ids_new();
	uint8_t rec[RECORD], id[20];
	char path[100];

	copy_ourselves(path, "whole");
	assert_int_equal(ty_file_build_id(path, id), 20);
	for (unsigned i = 0; i < 3; i++) {
		map_record(rec, path, 0);
		assert_true(is_marked(b, rec));
		assert_int_equal(rec[MAJOR], 20);
		assert_memory_equal(rec + MAJOR + 4, id, 20);
		/* Another file has its name now. */
		map_record(rec, path, 1);
		assert_false(is_marked(b, rec));
	}
	/* The same file with other bytes. */
	assert_int_equal(truncate(path, 10), 0);
	map_record(rec, path, 0);
	assert_false(is_marked(b, rec));
	ty_build_ids_free(b);
}

/* An open of a file waits for the holder of a lease on it, 45 s by default. */
static void leases_are_not_waited_for(void **state)
{
	struct ty_build_ids *b = ty_build_ids_new();
	uint8_t rec[RECORD];
	char path[100], byte;
	int ready[2], status;
	pid_t pid;

	copy_ourselves(path, "leased");
	map_record(rec, path, 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		int fd = open(path, O_RDWR | O_CLOEXEC);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGIO, SIG_IGN);
		if (fcntl(fd, F_SETLEASE, F_WRLCK))
			_exit(1);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(0);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(pid, &status, 0);
		print_message("# SKIP no leases on this file system\n");
		skip();
	}
	assert_false(is_marked(b, rec));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	assert_true((map_record(rec, path, 0), is_marked(b, rec)));
	close(ready[0]);
	ty_build_ids_free(b);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[100];

	sprintf(command, "rm -r %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_the_mapped_file_counts),
		cmocka_unit_test(leases_are_not_waited_for),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
