/* SPDX-License-Identifier: MIT */
/* Descriptors that were open before the recording: what /proc has of this process' own, through
 * the section's text and back; and texts that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "fd_snapshot.h"
#include "proc_fds.h"

static void add_fds_in(uint64_t budget_ns, struct ty_buf *b, struct ty_proc_task *tasks, size_t n,
		       int before_exec, size_t cut)
{
	size_t found;

	assert_int_equal(ty_proc_fds(tasks, n, before_exec, budget_ns, b, &found, NULL), 0);
	assert_int_equal(found, cut);
	assert_int_equal(ty_buf_addc(b, 0), 0);
}

static void add_fds(struct ty_buf *b, struct ty_proc_task *tasks, size_t n, int before_exec,
		    size_t cut)
{
	add_fds_in(0, b, tasks, n, before_exec, cut);
}

static struct ty_buf listed(int pid)
{
	struct ty_proc_task task = {pid, pid, -1};
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	assert_int_equal(ty_buf_adds(&b, "taken 5 17\n"), 0);
	add_fds(&b, &task, 1, 0, 0);
	return b;
}

static const char *target(const struct ty_fd_snapshot *n, int fd)
{
	const struct ty_fd_name *f = ty_fd_snapshot_find(n, getpid(), fd);

	return f ? f->target : "";
}

static void our_own(void **state)
{
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET};
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC), ends[2], event = eventfd(0, 0);
	int path = socket(AF_UNIX, SOCK_STREAM, 0), serves = socket(AF_INET, SOCK_STREAM, 0),
	    asks = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t len = sizeof(in);
	struct ty_fd_snapshot *n;
	unsigned a, a1, b0, b1;
	char text[200];
	struct ty_buf b;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
	assert_int_equal(pipe(ends), 0);
	/* An abstract name leaves no file behind. */
	snprintf(u.sun_path + 1, sizeof(u.sun_path) - 1, "tarry-test-%d", getpid());
	assert_int_equal(bind(path, (void *)&u, sizeof(u)), 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(serves, (void *)&in, len), 0);
	assert_int_equal(listen(serves, 1), 0);
	assert_int_equal(getsockname(serves, (void *)&in, &len), 0);
	assert_int_equal(connect(asks, (void *)&in, len), 0);

	b = listed(getpid());
	n = ty_fd_snapshot_new(b.p);
	assert_int_equal(ty_fd_snapshot_taken_ns(n), 17);
	assert_string_equal(target(n, file), "/dev/null");
	assert_true(ty_fd_snapshot_find(n, getpid(), file)->cloexec);
	assert_memory_equal(target(n, ends[0]), "pipe:[", 6);
	assert_false(ty_fd_snapshot_find(n, getpid(), ends[0])->cloexec);
	assert_string_equal(target(n, event), "anon_inode:[eventfd]");
	snprintf(text, sizeof(text), ",@\"tarry-test-%d\"]", getpid());
	assert_memory_equal(target(n, path), "UNIX-STREAM:[", 13);
	assert_string_equal(strchr(target(n, path), ','), text);
	assert_int_equal(sscanf(target(n, pair[0]), "UNIX-DGRAM:[%u->%u]", &a, &b0), 2);
	assert_int_equal(sscanf(target(n, pair[1]), "UNIX-DGRAM:[%u->%u]", &b1, &a1), 2);
	assert_true(a == a1 && b0 == b1 && a != b0);
	snprintf(text, sizeof(text), "TCP:[127.0.0.1:%u listening]", ntohs(in.sin_port));
	assert_string_equal(target(n, serves), text);
	snprintf(text, sizeof(text), "->127.0.0.1:%u]", ntohs(in.sin_port));
	assert_non_null(strstr(target(n, asks), text));
	assert_memory_equal(target(n, asks), "TCP:[127.0.0.1:", 15);
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(in.sin_port));
	assert_true(ty_fd_snapshot_listens(n, text, strlen(text)));
	assert_false(ty_fd_snapshot_listens(n, text, strlen(text) - 1));
	assert_null(ty_fd_snapshot_find(n, getpid(), 1000000));
	assert_null(ty_fd_snapshot_find(n, 1, file));
	assert_int_equal(ty_fd_snapshot_from(n, getpid(), file), file);
	for (int32_t fd = 0, from = 0; fd < 1000; fd++)
		if (ty_fd_snapshot_find(n, getpid(), fd)) {
			assert_int_equal(ty_fd_snapshot_from(n, getpid(), from), fd);
			from = fd + 1;
		}
	assert_int_equal(ty_fd_snapshot_from(n, getpid(), 1000000), INT32_MAX);
	assert_int_equal(ty_fd_snapshot_from(n, getpid() - 1, file), INT32_MAX);
	assert_int_equal(ty_fd_snapshot_from(NULL, getpid(), 0), INT32_MAX);
	ty_fd_snapshot_free(n);
	ty_buf_fini(&b);
	for (unsigned i = 0; i < 9; i++)
		close((int[]){file, ends[0], ends[1], event, path, serves, asks, pair[0],
			      pair[1]}[i]);
}

/* Sockets of several processes of one network namespace, one of which is gone. */
static void of_several(void **state)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	int serves = socket(AF_INET, SOCK_STREAM, 0), hold[2], status;
	int pids[] = {0x7ffffff0, getpid(), 0};
	struct ty_proc_task tasks[3];
	struct ty_fd_snapshot *n;
	struct ty_buf b;

	(void)state;
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(serves, (void *)&in, sizeof(in)), 0);
	assert_int_equal(listen(serves, 1), 0);
	assert_int_equal(pipe(hold), 0);
	pids[2] = fork();
	assert_true(pids[2] >= 0);
	if (!pids[2]) {
		char c;

		close(hold[1]);
		_exit(read(hold[0], &c, 1) != 0); /* until the other end is closed */
	}
	ty_buf_init(&b, 1 << 20);
	for (unsigned i = 0; i < 3; i++)
		tasks[i] = (struct ty_proc_task){pids[i], pids[i], -1};
	add_fds(&b, tasks, 3, 0, 0);
	n = ty_fd_snapshot_new(b.p);
	for (unsigned i = 1; i < 3; i++) {
		assert_non_null(ty_fd_snapshot_find(n, pids[i], serves));
		assert_memory_equal(ty_fd_snapshot_find(n, pids[i], serves)->target,
				    "TCP:[127.0.0.1:", 15);
	}
	ty_fd_snapshot_free(n);
	ty_buf_fini(&b);
	close(hold[0]);
	close(hold[1]);
	close(serves);
	assert_int_equal(waitpid(pids[2], &status, 0), pids[2]);
	assert_int_equal(status, 0);
}

static void a_process_that_is_gone(void **state)
{
	struct ty_buf b = listed(0x7ffffff0);

	assert_string_equal(b.p, "taken 5 17\n");
	ty_buf_fini(&b);
}

static void whatever_the_text(void **state)
{
	static const char *const bad[] = {
		"",
		"taken",
		"taken 1",
		"\n\n\n",
		"1",
		"1\t",
		"1\t2",
		"1\t2\t-",
		"1\t2\t-\n",
		"-1\t2\t-\tx",
		"1\t99999999999999999999\t-\tx",
		"left_out\t7\n",
		"x\ty\tz\tw\n",
	};
	struct ty_fd_snapshot *n;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		n = ty_fd_snapshot_new(bad[i]);
		assert_non_null(n);
		assert_null(ty_fd_snapshot_find(n, 1, 2));
		ty_fd_snapshot_free(n);
	}
	n = ty_fd_snapshot_new(NULL);
	assert_int_equal(ty_fd_snapshot_taken_ns(n), 0);
	ty_fd_snapshot_free(n);
	n = ty_fd_snapshot_new("7\t1\t-\ta\\tb\\nc\\\\d\n7\tcwd\t-\t/home\n7\t0\tcloexec\tend\\");
	assert_string_equal(ty_fd_snapshot_find(n, 7, 1)->target, "a\tb\nc\\d");
	assert_string_equal(ty_fd_snapshot_find(n, 7, 0)->target, "end\\");
	ty_fd_snapshot_free(n);
}

/* At its own address, at any one of its port. */
static void who_listens(void **state)
{
	static const struct {
		const char *at;
		bool listens;
	} v[] = {{"127.0.0.1:80", true},
		 {"10.0.0.1:80", false},
		 {"10.0.0.1:81", true},
		 {"[::1]:81", true},
		 {"[::ffff:1.2.3.4]:82", true},
		 {"1.2.3.4:82", true},
		 {"10.0.0.1:83", false},
		 {"10.0.0.1:84", false},
		 {"", false},
		 {":80", false},
		 {"80", false}};
	struct ty_fd_snapshot *n = ty_fd_snapshot_new("taken 5 17\n"
						      "7\t3\t-\tTCP:[127.0.0.1:80 listening]\n"
						      "7\t4\t-\tTCP:[0.0.0.0:81 listening]\n"
						      "8\t3\t-\tTCP:[[::]:82 listening]\n"
						      "8\t4\t-\tTCP:[10.0.0.1:83->10.0.0.1:80]\n"
						      "8\t5\t-\t/tmp/TCP:[10.0.0.1:84 listening]\n"
						      "8\t6\t-\tTCP:[ listening]x\n");

	(void)state;
	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++)
		assert_int_equal(ty_fd_snapshot_listens(n, v[i].at, strlen(v[i].at)), v[i].listens);
	ty_fd_snapshot_free(n);
	assert_false(ty_fd_snapshot_listens(NULL, "10.0.0.1:81", 11));
}

/* More descriptors than there is room for: those that a thread sleeps for are there, and all of
 * processes with few. */
static void too_many(void **state)
{
	enum { FD = TY_PROC_FDS_MAX + 100, OTHERS = 200 };
	struct rlimit was, many;
	struct ty_fd_snapshot *n;
	int hold[2], status, child, pid = getpid();
	unsigned have = 0;
	struct ty_buf b;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	many = (struct rlimit){FD + OTHERS, was.rlim_max};
	if (was.rlim_max < many.rlim_cur || setrlimit(RLIMIT_NOFILE, &many))
		skip(); /* not allowed so many */
	assert_int_equal(pipe(hold), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		char c;

		close(hold[1]);
		_exit(read(hold[0], &c, 1) != 0); /* until the other end is closed */
	}
	for (int i = 0; i < TY_PROC_FDS_MAX; i++)
		assert_int_equal(dup2(hold[0], OTHERS + i), OTHERS + i);
	ty_buf_init(&b, 64 << 20);
	/* Each thread but the last in a call on the highest one, and on none that is open. */
	add_fds(&b,
		(struct ty_proc_task[]){{pid, pid, FD},
					{1, pid, FD},
					{2, pid, 77},
					{child, child, -1},
					{3, pid, -1}},
		5, 0, 1);
	n = ty_fd_snapshot_new(b.p);
	assert_true(ty_fd_snapshot_left_out(n, pid));
	assert_false(ty_fd_snapshot_left_out(n, child));
	assert_memory_equal(target(n, FD), "pipe:[", 6);
	assert_non_null(ty_fd_snapshot_find(n, child, hold[0]));
	for (int i = 0; i < FD + OTHERS; i++)
		have += ty_fd_snapshot_find(n, pid, i) || ty_fd_snapshot_find(n, child, i);
	assert_true(have > TY_PROC_FDS_MAX / 2 && have <= TY_PROC_FDS_MAX);
	ty_fd_snapshot_free(n);
	ty_buf_fini(&b);
	for (int i = 0; i < FD + OTHERS; i++)
		if (i >= OTHERS || i == hold[0] || i == hold[1])
			close(i);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	/* Older recordings do not say whose list is incomplete. */
	n = ty_fd_snapshot_new("taken 5 17\n7\t3\t-\tx\nleft_out\t9\n");
	assert_true(ty_fd_snapshot_left_out(n, 8));
	ty_fd_snapshot_free(n);
}

/* No time: those that a thread sleeps for are there, whatever other processes have. */
static void no_time(void **state)
{
	enum { FEW = 20, FIRST = 200, SECOND = 300 };
	struct ty_proc_task tasks[2];
	struct ty_fd_snapshot *n;
	int hold[2], pids[2], status;
	struct ty_buf b;

	(void)state;
	assert_int_equal(pipe(hold), 0);
	for (int i = 0; i < FEW; i++)
		assert_int_equal(dup2(hold[0], FIRST + i), FIRST + i);
	for (unsigned i = 0; i < 2; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (!pids[i]) {
			char c;

			close(hold[1]);
			_exit(read(hold[0], &c, 1) != 0);
		}
		for (int k = 0; !i && k < FEW; k++)
			assert_int_equal(dup2(hold[0], SECOND + k), SECOND + k);
		tasks[i] = (struct ty_proc_task){pids[i], pids[i], i ? SECOND : FIRST};
	}
	ty_buf_init(&b, 1 << 20);
	add_fds_in(1, &b, tasks, 2, 0, 2);
	n = ty_fd_snapshot_new(b.p);
	for (unsigned i = 0; i < 2; i++) {
		assert_non_null(ty_fd_snapshot_find(n, pids[i], i ? SECOND : FIRST));
		assert_null(ty_fd_snapshot_find(n, pids[i], (i ? SECOND : FIRST) + FEW - 1));
		assert_true(ty_fd_snapshot_left_out(n, pids[i]));
	}
	assert_null(ty_fd_snapshot_find(n, pids[1], hold[0])); /* not even looked into */
	ty_fd_snapshot_free(n);
	ty_buf_fini(&b);
	for (int i = 0; i < FEW; i++) {
		close(FIRST + i);
		close(SECOND + i);
	}
	close(hold[0]);
	close(hold[1]);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
}

/* The list for an exec leaves out what that closes. */
static void before_an_exec(void **state)
{
	int kept = open("/dev/null", O_RDONLY), closed = open("/dev/null", O_RDONLY | O_CLOEXEC),
	    pid = getpid();
	struct ty_fd_snapshot *n;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	add_fds(&b, &(struct ty_proc_task){pid, pid, -1}, 1, pid, 0);
	n = ty_fd_snapshot_new(b.p);
	assert_string_equal(target(n, kept), "/dev/null");
	assert_string_equal(target(n, closed), "");
	ty_fd_snapshot_free(n);
	ty_buf_fini(&b);
	close(kept);
	close(closed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own),
		cmocka_unit_test(of_several),
		cmocka_unit_test(a_process_that_is_gone),
		cmocka_unit_test(whatever_the_text),
		cmocka_unit_test(who_listens),
		cmocka_unit_test(too_many),
		cmocka_unit_test(no_time),
		cmocka_unit_test(before_an_exec),
	};

	return cmocka_run_group_tests_name("fd_names", tests, NULL, NULL);
}
