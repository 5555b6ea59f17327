/* SPDX-License-Identifier: MIT */
/* What descriptors are while calls go by: opened, copied, inherited, closed, and what is not known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fd_holders.h"
#include "fd_track.h"
#include "fixture_story.h"

enum { CWD = -100, CLOEXEC = 02000000, THREAD = 0x10000, FILES = 0x400, FS = 0x200 };

struct all {
	struct ty_fd_track *t;
	struct ty_call_data_index *x;
	struct ty_trace *trace;
	struct ty_buf strings;
	uint64_t over_ns; /* the last call of the only thread that has strings */
};

static const struct ty_sysarch *x86;

static void path_at(struct all *a, uint64_t ns, int32_t tid, unsigned nr, unsigned arg,
		    uint64_t ptr, const char *text)
{
	struct ty_ev_record h = {.ns = ns,
				 .ptr = ptr,
				 .tid = (uint32_t)tid,
				 .nr = (uint16_t)nr,
				 .len = (uint16_t)(strlen(text) + 1),
				 .kind = TY_EVK_STRING,
				 .arg = (uint8_t)arg};

	ty_buf_add(&a->strings, &h, sizeof(h));
	ty_buf_add(&a->strings, text, strlen(text) + 1);
}

static void fds_at(struct all *a, uint64_t ns, int32_t tid, unsigned nr, uint64_t ptr,
		   const struct ty_ev_fd *fd, unsigned n)
{
	struct ty_ev_record h = {.ns = ns,
				 .ptr = ptr,
				 .tid = (uint32_t)tid,
				 .nr = (uint16_t)nr,
				 .len = (uint16_t)(n * sizeof(*fd)),
				 .kind = TY_EVK_FDS,
				 .flags = TY_EVF_EXIT};

	ty_buf_add(&a->strings, &h, sizeof(h));
	ty_buf_add(&a->strings, fd, n * sizeof(*fd));
}

/* kept: the text of TY_SEC_KEPT; NULL: none. */
static void begin_kept(struct all *a, const char *fds, const char *machine, const char *kept)
{
	char path[] = "/tmp/tarry-fd-track-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	ty_story_begin(path, 1, machine ? machine : "arch=x86_64\n", TY_STORY_THREADS);
	ty_story_section(TY_SEC_FDS, fds, strlen(fds));
	if (kept)
		ty_story_section(TY_SEC_KEPT, kept, strlen(kept));
	ty_story_end();
	assert_int_equal(0, ty_trace_open(path, &a->trace, NULL));
	unlink(path);
	x86 = ty_sysarch_find("x86_64");
	a->x = ty_call_data_index_new(a->strings.p, a->strings.len, 0);
	a->t = ty_fd_track_new(a->trace, x86, a->x);
	assert_non_null(a->x);
	assert_non_null(a->t);
}

static void begin(struct all *a, const char *fds, const char *machine)
{
	begin_kept(a, fds, machine, NULL);
}

static void end(struct all *a)
{
	ty_fd_track_free(a->t);
	ty_call_data_index_free(a->x);
	ty_trace_close(a->trace);
	ty_buf_fini(&a->strings);
}

static struct ty_call call_of(int32_t tid, uint64_t at, const char *name, int64_t ret, uint64_t a,
			      uint64_t b, uint64_t c)
{
	struct ty_call k = {.start_ns = at,
			    .end_ns = at + 5,
			    .nr = ty_syscall_number(x86, name),
			    .ret = ret,
			    .tid = tid,
			    .end_tid = tid,
			    .args = {a, b, c}};

	assert_true(k.nr >= 0);
	return k;
}

static void is_over(struct all *a, int32_t pid, const struct ty_call *k)
{
	assert_int_equal(ty_fd_track_end(a->t, pid, k), 0);
	ty_call_data_over(a->x, k->end_tid, k->end_ns);
}

static void call(struct all *a, int32_t pid, uint64_t at, const char *name, int64_t ret, uint64_t b,
		 uint64_t c, uint64_t d)
{
	struct ty_call k = call_of(pid, at, name, ret, b, c, d);

	assert_true(ty_fd_track_follows(a->t, &k));
	ty_fd_track_begin(a->t, pid, &k);
	is_over(a, pid, &k);
}

static const char *name(const struct all *a, int32_t pid, int32_t fd, uint64_t at)
{
	const char *s = ty_fd_track_text(a->t, ty_fd_track_name(a->t, pid, fd, at));

	return s ? s : "?";
}
#define NAME(pid, fd, at, want) assert_string_equal(name(&a, pid, fd, at), want)

static void born(struct all *a, uint64_t at, int32_t parent, int32_t child, uint64_t flags,
		 uint64_t since)
{
	struct ty_event ev = {.kind = TY_EV_NEWTASK, .ts_ns = at, .tid = parent};

	ev.u.newtask.tid = child;
	ev.u.newtask.clone_flags = flags;
	assert_int_equal(ty_fd_track_event(a->t, &ev, parent, since), 0);
}

static const char listed[] = "taken 90 100\n7\t3\t-\tthree\n7\t4\tcloexec\tfour\n7\t5\t-\tfive\n"
			     "7\t6\t-\tsix\n7\tcwd\t-\t/home\n8\t3\t-\tother\n8\t4\t-\tanother\n";

static void what_was_open_is_closed(void **state)
{
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	begin(&a, listed, NULL);
	NAME(7, 3, 99, "?"); /* not looked at yet */
	NAME(7, 3, 100, "three");
	NAME(7, CWD, 100, "/home");
	call(&a, 8, 110, "close", -EINTR, 4, 0, 0); /* closed all the same */
	NAME(8, 4, 120, "?");
	NAME(8, 3, 120, "other");
	call(&a, 7, 130, "dup2", -EBADF, 9, 5, 0);
	NAME(7, 5, 140, "five");
	call(&a, 7, 150, "dup2", 5, 6, 5, 0);
	NAME(7, 5, 160, "six");
	call(&a, 7, 170, "execve", -ENOENT, 0, 0, 0);
	NAME(7, 4, 180, "four");
	call(&a, 7, 190, "execve", 0, 0, 0, 0);
	NAME(7, 4, 200, "?");
	call(&a, 7, 210, "fcntl", 0, 6, 2, 1); /* F_SETFD, FD_CLOEXEC */
	call(&a, 7, 220, "ioctl", 0, 3, 0x5451, 0);
	/* Of the command the kernel reads 32 bits. */
	call(&a, 7, 230, "fcntl", 9, 6, TY_F_DUPFD | UINT64_C(7) << 32, 0);
	call(&a, 7, 231, "fcntl", 10, 6, TY_F_DUPFD_CLOEXEC, 0);
	NAME(7, 10, 238, "six");
	call(&a, 7, 240, "execve", 0, 0, 0, 0);
	NAME(7, 6, 250, "?");
	NAME(7, 3, 250, "?");
	NAME(7, 9, 250, "six");
	NAME(7, 10, 250, "?");
	call(&a, 7, 260, "close_range", 0, 3, UINT32_MAX, 0);
	NAME(7, 9, 270, "?");
	end(&a);
}

/* The other end of a pseudoterminal is what an ioctl returns. */
static void terminals(void **state)
{
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	begin(&a, listed, NULL);
	call(&a, 7, 110, "ioctl", 9, 3, 0x5441, CLOEXEC | 2); /* TIOCGPTPEER */
	NAME(7, 9, 120, "/dev/pts/?");
	call(&a, 7, 130, "dup2", 5, 9, 5, 0);
	NAME(7, 5, 140, "/dev/pts/?");
	call(&a, 7, 150, "execve", 0, 0, 0, 0);
	NAME(7, 5, 160, "/dev/pts/?");
	NAME(7, 9, 160, "?");
	end(&a);
}

static void opened_by_path(void **state)
{
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	path_at(&a, 109, 7, SYS_openat, 1, 0x10, "/etc/passwd");
	path_at(&a, 129, 7, SYS_openat, 1, 0x10, "./lock");
	path_at(&a, 149, 7, SYS_openat, 1, 0x20, "/srv");
	path_at(&a, 169, 7, SYS_openat, 1, 0x30, "sub/../x");
	path_at(&a, 189, 7, SYS_chdir, 0, 0x40, "web");
	path_at(&a, 209, 7, SYS_openat, 1, 0x50, ".");
	path_at(&a, 229, 7, SYS_openat, 1, 0x60, "/tmp");
	path_at(&a, 249, 7, SYS_memfd_create, 0, 0x70, "m");
	path_at(&a, 269, 7, SYS_openat, 1, 0x80, "lost");
	begin(&a, "", "command_tid=7\ncwd=/home\n");
	call(&a, 7, 110, "openat", 3, (uint32_t)CWD, 0x10, CLOEXEC);
	NAME(7, 3, 120, "/etc/passwd");
	call(&a, 7, 130, "openat", 4, (uint32_t)CWD, 0x10, 0);
	NAME(7, 4, 140, "/home/lock");
	call(&a, 7, 150, "openat", 5, (uint32_t)CWD, 0x20, 0200000);
	call(&a, 7, 170, "openat", 6, 5, 0x30, 0);
	NAME(7, 6, 180, "/srv/sub/../x"); /* sub may be a symbolic link */
	call(&a, 7, 190, "chdir", 0, 0x40, 0, 0);
	NAME(7, CWD, 200, "/home/web");
	call(&a, 7, 210, "openat", 7, (uint32_t)CWD, 0x50, 0);
	NAME(7, 7, 220, "/home/web");
	call(&a, 7, 230, "openat", 8, (uint32_t)CWD, 0x60, 020200002);
	NAME(7, 8, 240, "/tmp (O_TMPFILE)");
	call(&a, 7, 250, "memfd_create", 9, 0x70, 1, 0);
	NAME(7, 9, 260, "/memfd:m (deleted)");
	call(&a, 7, 270, "openat", 10, 99, 0x80, 0); /* from a folder that is not known */
	NAME(7, 10, 280, "lost");
	call(&a, 7, 290, "eventfd2", 11, 0, 0x80000, 0);
	NAME(7, 11, 300, "anon_inode:[eventfd]");
	call(&a, 7, 310, "openat", 12, (uint32_t)CWD, 0x90, 0); /* its path was lost */
	NAME(7, 12, 320, "?");
	call(&a, 7, 330, "dup", 13, 4, 0, 0);
	call(&a, 7, 340, "fchdir", 0, 5, 0, 0);
	NAME(7, CWD, 350, "/srv");
	call(&a, 7, 360, "execve", 0, 0, 0, 0);
	NAME(7, 3, 370, "?");
	NAME(7, 11, 370, "?");
	NAME(7, 13, 370, "/home/lock");
	ty_fd_track_lost(a.t);
	NAME(7, 13, 380, "?");
	NAME(7, CWD, 380, "?");
	end(&a);
}

/* The most bytes that the kernel takes: flagged as truncated, but complete. */
static void the_longest_path(void **state)
{
	static const struct ty_call_data_item short_one = {.len = 60, .flags = TY_EVF_CUT};
	struct ty_call_data_item item = {.len = TY_EV_BYTES - 1, .flags = TY_EVF_CUT};
	const struct ty_call refused = {.ret = -ENAMETOOLONG}, taken = {.ret = 3};
	struct all a = {.strings.limit = 1 << 20};
	char path[TY_EV_BYTES];

	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = 0;
	path_at(&a, 109, 7, SYS_openat, 1, 0x10, path);
	a.strings.p[offsetof(struct ty_ev_record, flags)] = TY_EVF_CUT;
	begin(&a, listed, NULL);
	call(&a, 7, 110, "openat", 7, (uint32_t)CWD, 0x10, 0);
	NAME(7, 7, 120, path);
	end(&a);
	assert_false(ty_call_data_path_cut(&item, &taken));
	assert_true(ty_call_data_path_cut(&item, &refused));
	assert_true(ty_call_data_path_cut(&short_one, &taken));
	item.flags = 0;
	assert_false(ty_call_data_path_cut(&item, &refused));
}

/* What the kernel reported of pipes and sockets. */
static void pipes_and_sockets(void **state)
{
	const struct ty_ev_fd ends[2] = {{.fd = 3, .inode = 5, .mode = 0010600},
					 {.fd = 4, .inode = 5, .mode = 0010600}},
			      tcp = {.fd = 5,
				     .inode = 6,
				     .mode = 0140777,
				     .family = 2,
				     .type = 1,
				     .protocol = 6};
	struct ty_ev_fd to = tcp, other = tcp;
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	memcpy(to.own, "\2\0\0\65\177\0\0\1", 8);
	memcpy(to.peer, "\2\0\0\66\177\0\0\1", 8);
	other.fd = 9;
	fds_at(&a, 114, 7, SYS_pipe2, 0x10, ends, 2);
	fds_at(&a, 134, 7, SYS_socket, 2, &tcp, 1);
	fds_at(&a, 154, 7, SYS_connect, 5, &to, 1);
	fds_at(&a, 174, 7, SYS_connect, 9, &other, 1);
	begin(&a, "", NULL);
	call(&a, 7, 110, "pipe2", 0, 0x10, CLOEXEC, 0);
	NAME(7, 3, 120, "pipe:[5]");
	NAME(7, 4, 120, "pipe:[5]");
	call(&a, 7, 130, "socket", 5, 2, 1, 0);
	NAME(7, 5, 140, "TCP:[6]");
	call(&a, 7, 150, "connect", -EINPROGRESS, 5, 0x20, 16);
	NAME(7, 5, 160, "TCP:[127.0.0.1:53->127.0.0.1:54]");
	call(&a, 7, 170, "connect", 0, 9, 0x20, 16); /* of which nothing was known */
	NAME(7, 9, 180, "TCP:[6]");
	call(&a, 7, 190, "connect", -ECONNREFUSED, 5, 0x20, 16);
	NAME(7, 5, 200, "TCP:[127.0.0.1:53->127.0.0.1:54]");
	call(&a, 7, 210, "execve", 0, 0, 0, 0);
	NAME(7, 3, 220, "?");
	NAME(7, 5, 220, "TCP:[127.0.0.1:53->127.0.0.1:54]");
	NAME(7, 9, 220, "?"); /* nor whether exec closes it */
	end(&a);
}

static void received_at(struct all *a, uint64_t ns, const struct ty_ev_fd *fd, unsigned flags,
			const char *parts, size_t n)
{
	struct ty_ev_record h = {.ns = ns,
				 .ptr = 0x10,
				 .tid = 7,
				 .nr = SYS_recvmsg,
				 .len = (uint16_t)(sizeof(*fd) + n),
				 .kind = TY_EVK_RECEIVED,
				 .arg = 1,
				 .flags = (uint8_t)(TY_EVF_EXIT | flags)};

	ty_buf_add(&a->strings, &h, sizeof(h));
	ty_buf_add(&a->strings, fd, sizeof(*fd));
	ty_buf_add(&a->strings, parts, n);
}

/* By SCM_RIGHTS, as the kernel has them: whichever process sent them. */
static void received(void **state)
{
	static const struct ty_ev_fd pipe = {.fd = 3, .inode = 5, .mode = 0010600},
				     file = {.fd = 4, .mode = 0100644},
				     gone = {.fd = 5, .mode = 0100644, .deleted = 1},
				     event = {.fd = 6, .mode = 0600, .deleted = 1},
				     root = {.fd = 7, .mode = 0040755, .deleted = 1},
				     cut = {.fd = 8, .mode = 0100644};
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	received_at(&a, 111, &pipe, 0, "", 0);
	received_at(&a, 111, &file, 0, "passwd\0etc", 11);
	received_at(&a, 111, &gone, 0, "x\0tmp", 6);
	received_at(&a, 112, &event, 0, "[eventfd]", 10);
	received_at(&a, 112, &root, 0, "/", 2);
	received_at(&a, 112, &cut, TY_EVF_CUT, "a\0b", 4);
	received_at(&a, 133, &file, 0, "not-ended", 9);
	begin(&a, "", NULL);
	call(&a, 7, 110, "recvmsg", 1, 9, 0x10, 0x40000000);
	NAME(7, 3, 120, "pipe:[5]");
	NAME(7, 4, 120, "/etc/passwd");
	NAME(7, 5, 120, "/tmp/x (deleted)");
	NAME(7, 6, 120, "anon_inode:[eventfd]");
	NAME(7, 7, 120, "/");
	NAME(7, 8, 120, "?");
	call(&a, 7, 130, "recvmsg", 1, 9, 0x10, 0);
	NAME(7, 4, 140, "?");
	call(&a, 7, 150, "execve", 0, 0, 0, 0);
	NAME(7, 3, 160, "?"); /* MSG_CMSG_CLOEXEC */
	end(&a);
}

/* What other threads do while a call lasts. */
static void at_the_same_time(void **state)
{
	struct all a = {.strings.limit = 1 << 20};
	struct ty_call k;

	(void)state;
	path_at(&a, 119, 8, SYS_openat, 1, 0x10, "/new");
	path_at(&a, 219, 8, SYS_openat, 1, 0x10, "/newer");
	path_at(&a, 319, 8, SYS_openat, 1, 0x10, "/newest");
	begin(&a, listed, NULL);
	/* Opened again before the call that closes the old one is over. */
	k = call_of(7, 110, "close", 0, 3, 0, 0);
	k.end_ns = 130;
	ty_fd_track_begin(a.t, 7, &k);
	NAME(7, 3, 110, "three"); /* for that call itself */
	NAME(7, 3, 111, "?");
	k = call_of(8, 120, "openat", 3, (uint32_t)CWD, 0x10, 0);
	is_over(&a, 7, &k);
	k = call_of(7, 110, "close", 0, 3, 0, 0);
	k.end_ns = 130;
	is_over(&a, 7, &k);
	NAME(7, 3, 140, "/new");
	/* Nothing is known to have been there: the new one may be what was closed. */
	k = call_of(7, 210, "close", 0, 9, 0, 0);
	k.end_ns = 230;
	ty_fd_track_begin(a.t, 7, &k);
	k = call_of(8, 220, "openat", 9, (uint32_t)CWD, 0x10, 0);
	is_over(&a, 7, &k);
	NAME(7, 9, 226, "/newer");
	k = call_of(7, 210, "close", 0, 9, 0, 0);
	k.end_ns = 230;
	is_over(&a, 7, &k);
	NAME(7, 9, 240, "?");
	/* A child is born while another thread opens. */
	k = call_of(8, 320, "openat", 10, (uint32_t)CWD, 0x10, 0);
	is_over(&a, 7, &k);
	born(&a, 330, 7, 20, 0, 322);
	NAME(7, 10, 340, "/newest");
	NAME(20, 10, 340, "?");
	NAME(20, 3, 340, "/new");
	/* And while one is closed. */
	k = call_of(7, 350, "close", 0, 6, 0, 0);
	ty_fd_track_begin(a.t, 7, &k);
	born(&a, 352, 7, 21, 0, 351);
	NAME(21, 6, 360, "?");
	end(&a);
}

static void children(void **state)
{
	struct all a = {.strings.limit = 1 << 20};
	struct ty_event ev = {.kind = TY_EV_EXIT, .ts_ns = 400, .tid = 9};

	(void)state;
	path_at(&a, 219, 9, SYS_openat, 1, 0x10, "/shared");
	begin(&a, listed, NULL);
	born(&a, 95, 7, 12, 0, 94); /* before the list was taken: it may be of what came later */
	NAME(12, 3, 200, "?");
	born(&a, 200, 7, 8, 0, 198); /* the number was another process's */
	NAME(8, 3, 200, "three");
	NAME(8, CWD, 200, "/home");
	call(&a, 8, 201, "close", 0, 3, 0, 0);
	NAME(8, 3, 210, "?");
	NAME(7, 3, 210, "three");
	/* One table for both, until one of them execs. */
	born(&a, 212, 7, 9, FILES, 211);
	call(&a, 9, 220, "openat", 10, (uint32_t)CWD, 0x10, CLOEXEC);
	NAME(7, 10, 230, "/shared");
	call(&a, 9, 240, "execve", 0, 0, 0, 0);
	NAME(9, 10, 250, "?");
	NAME(7, 10, 250, "/shared");
	call(&a, 7, 260, "close", 0, 6, 0, 0);
	NAME(9, 6, 270, "six");
	born(&a, 280, 7, 10, THREAD | FILES, 279);
	NAME(10, 3, 290, "?"); /* a thread is no process */
	born(&a, 300, 7, 11, FS, 299);
	NAME(11, CWD, 310, "?"); /* either may change it */
	NAME(7, CWD, 310, "?");
	call(&a, 7, 320, "unshare", 0, FILES, 0, 0);
	NAME(7, 3, 330, "?"); /* of which thread? */
	ev.u.tex.tid = 9;
	assert_int_equal(ty_fd_track_event(a.t, &ev, 9, 0), 0);
	NAME(9, 6, 410, "?");
	end(&a);
}

/* More than there is room for has no name; nothing else suffers. */
static void bounds(void **state)
{
	struct all a = {.strings.limit = 1 << 20};

	(void)state;
	path_at(&a, 99, 7, SYS_openat, 1, 0x10, "/x");
	begin(&a, "taken 1 2\n5\t99999999\t-\tx\n5\t2147483647\t-\tx\n", NULL);
	call(&a, 7, 100, "openat", 1000000, (uint32_t)CWD, 0x10, 0);
	NAME(7, 1000000, 110, "/x");
	NAME(5, 99999999, 110, "?");
	for (int i = 0; i < 1000; i++)
		born(&a, 120, 7, 1000 + i, 0, 119);
	NAME(1000, 1000000, 130, "/x");
	NAME(1999, 1000000, 130, "?");
	NAME(7, 1000000, 130, "/x");
	NAME(-1, -1, 130, "?");
	end(&a);
}

static void list_is(const struct all *a, const char *before, bool lost, const char *want)
{
	static const char taken[] = "taken 90 90\n";
	struct ty_buf b;

	ty_buf_init(&b, 1 << 20);
	ty_fd_track_list(a->t, 90, before, lost, &b);
	assert_int_equal(ty_buf_addc(&b, 0), 0);
	assert_memory_equal(b.p, taken, sizeof(taken) - 1);
	assert_string_equal(b.p + sizeof(taken) - 1, want);
	ty_buf_fini(&b);
}

/* As a recording that begins now would list them: what is not known is said to be left out. */
static void listed_anew(void **state)
{
	static const char before[] = "taken 1 2\n7\tcwd\t-\t/home\n7\t3\tcloexec\ta\\tb\n"
				     "9\t1\t-\tone\n9\tleft_out\nleft_out 1\n";
	struct all a = {.strings.limit = 1 << 20};
	struct ty_event ev = {.kind = TY_EV_EXIT, .ts_ns = 400, .tid = 9};
	struct ty_call closes;

	(void)state;
	path_at(&a, 99, 7, SYS_openat, 1, 0x10, "x");
	begin(&a, before, NULL);
	call(&a, 7, 100, "openat", 5, (uint32_t)CWD, 0x10, 0);
	list_is(&a, before, false,
		"7\tcwd\t-\t/home\n7\t3\tcloexec\ta\\tb\n7\t5\t-\t/home/x\n"
		"9\t1\t-\tone\n9\tleft_out\nleft_out 1\n");
	/* Of a name that is not known, and one that is being closed. */
	call(&a, 7, 110, "openat", 6, (uint32_t)CWD, 0x99, 0);
	ev.u.tex.tid = 9;
	assert_int_equal(ty_fd_track_event(a.t, &ev, 9, 0), 0);
	list_is(&a, before, false,
		"7\tcwd\t-\t/home\n7\t3\tcloexec\ta\\tb\n7\t5\t-\t/home/x\n"
		"7\tleft_out\nleft_out 1\n");
	call(&a, 7, 120, "close", 0, 6, 0, 0);
	closes = call_of(7, 130, "close", 0, 3, 0, 0);
	ty_fd_track_begin(a.t, 7, &closes);
	list_is(&a, NULL, false, "7\tcwd\t-\t/home\n7\t5\t-\t/home/x\n7\tleft_out\nleft_out 1\n");
	is_over(&a, 7, &closes);
	list_is(&a, NULL, false, "7\tcwd\t-\t/home\n7\t5\t-\t/home/x\n");
	list_is(&a, NULL, true, "7\tcwd\t-\t/home\n7\t5\t-\t/home/x\n7\tleft_out\nleft_out 1\n");
	/* Two processes with one table. */
	born(&a, 140, 7, 12, FILES, 139);
	list_is(&a, NULL, false,
		"7\tcwd\t-\t/home\n12\tcwd\t-\t/home\n7\tleft_out\n12\tleft_out\nleft_out 2\n");
	end(&a);
}

/* Ends of pipes and network namespaces as listed, of copies, and as the kernel reported them. */
static void listed_with_ends(void **state)
{
	static const char before[] = "taken 1 2\n7\t3\t-\tpipe:[5]\tr\n7\t4\t-\tpipe:[5]\trw\n"
				     "7\t5\t-\tTCP:[127.0.0.1:1->127.0.0.1:2]\t-\t71\n";
	const struct ty_ev_fd
		ends[2] = {{.fd = 6, .inode = 8, .mode = 0010600},
			   {.fd = 7, .inode = 8, .mode = 0010600}},
		pair[2] = {{.fd = 8, .inode = 9, .mode = 0140777, .family = 1, .type = 1},
			   {.fd = 9, .inode = 10, .mode = 0140777, .family = 1, .type = 1}},
		tcp = {.fd = 10,
		       .inode = 6,
		       .net = 72,
		       .mode = 0140777,
		       .family = 2,
		       .type = 1,
		       .protocol = 6};
	struct all a = {.strings.limit = 1 << 20};
	struct ty_call k;
	size_t at;

	(void)state;
	fds_at(&a, 114, 7, SYS_pipe2, 0x10, ends, 2);
	at = a.strings.len;
	fds_at(&a, 124, 7, SYS_socketpair, 0x20, pair, 2);
	a.strings.p[at + offsetof(struct ty_ev_record, arg)] = 3;
	fds_at(&a, 134, 7, SYS_socket, 2, &tcp, 1);
	begin(&a, before, NULL);
	list_is(&a, before, false, strchr(before, '\n') + 1);
	call(&a, 7, 110, "pipe2", 0, 0x10, 0, 0);
	k = call_of(7, 120, "socketpair", 0, 1, 1, 0);
	k.args[3] = 0x20;
	is_over(&a, 7, &k);
	call(&a, 7, 130, "socket", 10, 2, 1, 0);
	call(&a, 7, 140, "dup2", 11, 5, 11, 0);
	call(&a, 7, 150, "dup2", 3, 7, 3, 0);
	list_is(&a, before, false,
		"7\t3\t-\tpipe:[8]\tw\n7\t4\t-\tpipe:[5]\trw\n"
		"7\t5\t-\tTCP:[127.0.0.1:1->127.0.0.1:2]\t-\t71\n"
		"7\t6\t-\tpipe:[8]\tr\n7\t7\t-\tpipe:[8]\tw\n"
		"7\t8\t-\tUNIX-STREAM:[9]\n7\t9\t-\tUNIX-STREAM:[10]\n"
		"7\t10\t-\tTCP:[6]\t-\t72\n"
		"7\t11\t-\tTCP:[127.0.0.1:1->127.0.0.1:2]\t-\t71\n");
	end(&a);
}

/* Where a part begins before the list was taken: what calls opened is known from its begin on, as
 * in the whole recording. */
static void listed_later(void **state)
{
	static const char before[] = "taken 400 500\n7\t3\t-\tthree\n7\t4\t-\tfour\n"
				     "8\t3\t-\tthree\n",
			  want[] = "taken 200 200\n7\t4\t-\t/x\ntaken 200 500\n7\t3\t-\tthree\n"
				   "8\t3\t-\tthree\n";
	struct all a = {.strings.limit = 1 << 20};
	struct ty_buf b;

	(void)state;
	path_at(&a, 99, 7, SYS_openat, 1, 0x10, "/x");
	begin(&a, before, NULL);
	call(&a, 7, 100, "openat", 4, (uint32_t)CWD, 0x10, 0);
	ty_buf_init(&b, 1 << 20);
	ty_fd_track_list(a.t, 200, before, false, &b);
	assert_int_equal(ty_buf_addc(&b, 0), 0);
	assert_string_equal(b.p, want);
	ty_buf_fini(&b);
	end(&a);
	for (unsigned of = 0; of < 2; of++) {
		struct all c = {.strings.limit = 1 << 20};

		begin(&c, want, NULL);
		assert_string_equal(name(&c, 7, 4, 199), "?");
		assert_string_equal(name(&c, 7, 4, 200), "/x");
		assert_string_equal(name(&c, 7, 3, 499), "?");
		assert_string_equal(name(&c, 7, 3, 500), "three");
		/* A fork that began before. */
		born(&c, of ? 600 : 300, 7, 12, 0, 150);
		assert_string_equal(name(&c, 12, 4, 700), "/x");
		assert_string_equal(name(&c, 12, 3, 700), of ? "three" : "?");
		end(&c);
	}
}

/* The folder of the command's start, or of where a recording begins that begins later: one that
 * kept its newest part, one that was cut out. */
static void begins_later(void **state)
{
	static const char fds[] = "taken 1 2\n7\tcwd\t-\t/later\n";
	static const char command[] = "arch=x86_64\ncommand_tid=7\ncwd=/start\n";
	static const char cut[] = "arch=x86_64\ncommand_tid=7\ncwd=/start\ncut_from_ns=1000\n";
	static const char kept[] = "from_ns=1000\nbegan_ns=1\n";

	(void)state;
	for (unsigned k = 0; k < 3; k++) {
		struct all a = {0};

		begin_kept(&a, fds, k == 1 ? cut : command, k == 2 ? kept : NULL);
		assert_string_equal(k ? "/later" : "/start",
				    ty_fd_track_text(a.t, ty_fd_track_name(a.t, 7, CWD, 5)));
		assert_int_equal(k ? 0 : 7, ty_trace_command(a.trace));
		end(&a);
	}
}

/* The processes at the other end, one digit each. */
static const char *holders(const struct all *a, int32_t pid, int32_t fd, uint64_t at)
{
	static char text[TY_FD_HOLDERS + 1];
	struct ty_fd_holders h = {0};
	int32_t out[TY_FD_HOLDERS];
	const unsigned n = ty_fd_holders_find(&h, a->t, pid, fd,
					      ty_fd_track_name(a->t, pid, fd, at), at - 3, out);

	for (unsigned i = 0; i < n; i++)
		text[i] = (char)('0' + out[i]);
	text[n] = 0;
	ty_fd_holders_fini(&h);
	return text;
}
#define HOLDERS(pid, fd, at, want) assert_string_equal(holders(&a, pid, fd, at), want)

static void other_ends(void **state)
{
	static const char fds[] =
		"taken 90 100\n1\t3\t-\tpipe:[5]\tr\n1\t4\t-\tpipe:[5]\tw\n"
		"2\t3\t-\tpipe:[5]\tw\n2\t4\t-\tpipe:[5]\tw\n3\t3\t-\tpipe:[5]\tr\n"
		"4\t3\t-\tpipe:[5]\n5\t3\t-\tpipe:[5]\trw\n"
		"6\t3\t-\tUNIX-STREAM:[17->18]\n7\t3\t-\tUNIX-STREAM:[18->17,\"/s\"]\n"
		"8\t3\t-\tUNIX-STREAM:[18]\n9\t3\t-\tUNIX-STREAM:[x\n"
		"9\t4\t-\tfile\n";
	struct ty_event gone = {.kind = TY_EV_EXIT, .ts_ns = 160, .tid = 2};
	struct all a = {.strings.limit = 1 << 20};
	const struct ty_ev_fd made[] = {{.inode = 7, .fd = 5, .mode = 0010600},
					{.inode = 7, .fd = 6, .mode = 0010600}};

	(void)state;
	fds_at(&a, 134, 1, SYS_pipe2, 0x10, made, 2);
	begin(&a, fds, NULL);
	HOLDERS(1, 3, 101, "2");
	HOLDERS(2, 3, 101, "13");
	HOLDERS(4, 3, 101, ""); /* how it is used is unknown */
	HOLDERS(6, 3, 101, "78");
	HOLDERS(8, 3, 101, "6");
	HOLDERS(9, 3, 101, "");
	HOLDERS(9, 4, 101, "");
	HOLDERS(9, 99, 101, "");
	/* A copy is used in the same way; what is closed counts no more. */
	call(&a, 3, 110, "dup", 9, 3, 0, 0);
	HOLDERS(3, 9, 116, "12");
	call(&a, 2, 120, "close", 0, 3, 0, 0);
	HOLDERS(3, 9, 126, "12");
	call(&a, 2, 121, "close", 0, 4, 0, 0);
	HOLDERS(3, 9, 130, "1");
	/* Made while recording, and inherited. */
	call(&a, 1, 130, "pipe2", 0, 0x10, 0, 0);
	HOLDERS(1, 5, 136, "");
	born(&a, 140, 1, 2, 0, 139);
	HOLDERS(1, 5, 141, "2");
	HOLDERS(1, 6, 141, "2");
	call(&a, 2, 150, "close", 0, 6, 0, 0);
	HOLDERS(1, 5, 156, "2");
	HOLDERS(1, 5, 159, "");
	HOLDERS(1, 6, 156, "2");
	/* It ended 3 ns before, and 4. */
	gone.u.tex.tid = 2;
	assert_int_equal(ty_fd_track_event(a.t, &gone, 2, 0), 0);
	HOLDERS(1, 6, 163, "2");
	HOLDERS(1, 6, 164, "");
	end(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_open_is_closed),
		cmocka_unit_test(terminals),
		cmocka_unit_test(opened_by_path),
		cmocka_unit_test(the_longest_path),
		cmocka_unit_test(pipes_and_sockets),
		cmocka_unit_test(received),
		cmocka_unit_test(at_the_same_time),
		cmocka_unit_test(children),
		cmocka_unit_test(bounds),
		cmocka_unit_test(listed_anew),
		cmocka_unit_test(listed_with_ends),
		cmocka_unit_test(listed_later),
		cmocka_unit_test(begins_later),
		cmocka_unit_test(other_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
