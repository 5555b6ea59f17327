/* SPDX-License-Identifier: MIT */
/* Structures behind pointers as text and JSON; the texts are those of strace 6.1 on x86-64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syscall_values.h"

enum { OUT = TY_EVF_EXIT };

static const struct ty_sysarch *x86;
static char section[8192];
static size_t section_n;
static struct ty_call call;

static void begin(const char *name, int64_t ret, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3,
		  uint64_t a4, uint64_t a5)
{
	x86 = ty_sysarch_find("x86_64");
	section_n = 0;
	call = (struct ty_call){.tid = 7,
				.end_tid = 7,
				.nr = ty_syscall_number(x86, name),
				.start_ns = 1000,
				.end_ns = 2000,
				.how = TY_CALL_RETURNED,
				.ret = ret,
				.args = {a0, a1, a2, a3, a4, a5}};
}

static void put(uint8_t kind, unsigned arg, uint64_t ptr, unsigned flags, const void *p, size_t n)
{
	const struct ty_ev_record h = {.ns = flags & OUT ? 1990 : 990,
				       .ptr = ptr,
				       .tid = 7,
				       .nr = (uint16_t)call.nr,
				       .len = (uint16_t)n,
				       .kind = kind,
				       .arg = (uint8_t)arg,
				       .flags = (uint8_t)flags};

	memcpy(section + section_n, &h, sizeof(h));
	memcpy(section + section_n + sizeof(h), p, n);
	section_n += sizeof(h) + n;
}

static void value(unsigned arg, unsigned flags, const void *p, size_t n)
{
	put(TY_EVK_VALUES, arg, call.args[arg], flags, p, n);
}

/* All arguments that are known and what follows the result, as "ARG; ARG; AFTER". */
static const char *text(const char *name0)
{
	static struct ty_buf b;
	struct ty_call_data_index *x = ty_call_data_index_new(section, section_n, 0);
	struct ty_values v;

	ty_buf_fini(&b);
	ty_buf_init(&b, 65536);
	ty_buf_adds(&b, "");
	ty_values_find(&v, x86, x, &call, 0);
	ty_values_fds(&v);
	v.fd_names[0] = name0;
	for (unsigned i = 0; i < 6; i++)
		if (ty_values_arg(&v, i, &b))
			ty_buf_adds(&b, "; ");
	ty_values_after(&v, &b);
	ty_call_data_index_free(x);
	ty_buf_addc(&b, 0);
	return b.p;
}

static const char *json(void)
{
	static char got[8192];
	struct ty_call_data_index *x = ty_call_data_index_new(section, section_n, 0);
	FILE *f = fmemopen(got, sizeof(got), "w");
	struct ty_values v;
	struct ty_buf b;
	struct ty_json j;

	ty_buf_init(&b, 65536);
	ty_json_init(&j, f);
	ty_values_find(&v, x86, x, &call, 0);
	if (ty_values_fds(&v))
		v.fd_names[0] = "pipe:[9]";
	ty_json_object(&j, NULL);
	ty_values_json(&v, &b, &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
	fclose(f);
	ty_buf_fini(&b);
	ty_call_data_index_free(x);
	return got;
}

/* What the poll was for, and whether for room to write; -2: unknown. */
static int32_t polled(bool *room)
{
	struct ty_call_data_index *x = ty_call_data_index_new(section, section_n, 0);
	struct ty_values v;
	int32_t fd;

	if (!ty_values_find(&v, x86, x, &call, 0) || !ty_values_polled(&v, &fd, room))
		fd = -2;
	ty_call_data_index_free(x);
	return fd;
}

static void poll_for_one(void **state)
{
	bool room;

	begin("poll", 1, 16, 1, 1000, 0, 0, 0);
	assert_int_equal(polled(&room), -2);
	value(0, 0, "\3\0\0\0\5\0\0\0", 8); /* POLLIN|POLLOUT */
	value(0, OUT, "\3\0\0\0\5\0\4\0", 8);
	assert_int_equal(polled(&room), 3);
	assert_true(room);
	begin("poll", 1, 16, 1, 1000, 0, 0, 0);
	value(0, 0, "\3\0\0\0\5\0\0\0", 8);
	value(0, OUT, "\3\0\0\0\5\0\5\0", 8); /* both */
	assert_int_equal(polled(&room), 3);
	assert_false(room);
	begin("poll", 0, 16, 1, 1000, 0, 0, 0); /* timed out */
	value(0, 0, "\3\0\0\0\4\0\0\0", 8);
	assert_int_equal(polled(&room), 3);
	assert_false(room);
	begin("poll", 1, 16, 1, 1000, 0, 0, 0);
	value(0, 0, "\3\0\0\0", 4); /* cut */
	assert_int_equal(polled(&room), -2);
	begin("poll", 1, 16, 2, 1000, 0, 0, 0);
	value(0, 0, "\3\0\0\0\4\0\0\0\5\0\0\0\4\0\0\0", 16);
	assert_int_equal(polled(&room), -2);
}

static void poll_and_select(void **state)
{
	static const int64_t timeout[2] = {1, 500000000}, left[2] = {1, 7};
	static const uint64_t in = 1 << 3 | 1 << 5, out = 1 << 3, none = 0;

	begin("poll", 1, 16, 2, 1000, 0, 0, 0);
	value(0, 0, "\3\0\0\0\1\0\0\0\377\377\377\377\3\0\0\0", 16);
	assert_string_equal(text("pipe:[17]"), "[{fd=3<pipe:[17]>, events=POLLIN}, {fd=-1, "
					       "events=POLLIN|POLLPRI}]; ");
	value(0, OUT, "\3\0\0\0\1\0\21\0\377\377\377\377\3\0\0\0", 16);
	assert_string_equal(text(NULL), "[{fd=3, events=POLLIN}, {fd=-1, events=POLLIN|POLLPRI}]; "
					" ([{fd=3, revents=POLLIN|POLLHUP}])");
	assert_string_equal(
		json(), "{\"values\":[[{\"fd\":3,\"fd_name\":\"pipe:[9]\",\"events\":\"POLLIN\"},{"
			"\"fd\":-1,\"events\":\"POLLIN|POLLPRI\"}],null,null],"
			"\"values_out\":[[{\"fd\":3,\"fd_name\":\"pipe:[9]\",\"revents\":\"POLLIN|"
			"POLLHUP\"}],null,null]}\n");
	/* The enter's was left out (TY_EV_STAYS): what the caller wrote is there at the exit. */
	begin("poll", 0, 16, 1, 1000, 0, 0, 0);
	value(0, OUT, "\3\0\0\0\1\0\0\0", 8);
	assert_string_equal(text("pipe:[17]"), "[{fd=3<pipe:[17]>, events=POLLIN}]; ");
	assert_string_equal(
		json(), "{\"values\":[[{\"fd\":3,\"fd_name\":\"pipe:[9]\",\"events\":\"POLLIN\"}],"
			"null,null]}\n");
	begin("pselect6", 1, 6, 16, 32, 0, 64, 128);
	value(1, 0, &in, 8);
	value(2, 0, &none, 8);
	value(4, 0, timeout, 16);
	value(5, 0, "\0\0\0\0\0\0\0\0\10\0\0\0\0\0\0\0", 16);
	value(1, OUT, &out, 8);
	value(2, OUT, &none, 8);
	value(4, OUT, left, 16);
	assert_string_equal(text("/x"), "[3</x> 5]; []; {tv_sec=1, tv_nsec=500000000}; "
					"{sigmask=NULL, sigsetsize=8};  (in [3], left {tv_sec=1, "
					"tv_nsec=7})");
	assert_non_null(strstr(json(), "\"values_fd_names\":[null,[\"pipe:[9]\",null],[],null,null,"
				       "null],\"values_out\""));
	assert_non_null(strstr(json(), "\"values_out_fd_names\":[null,[\"pipe:[9]\"],[],null,null,"
				       "null]}"));
	/* Bits behind the first argument's number do not count. */
	begin("select", 1, 4, 16, 0, 0, 0, 0);
	value(1, 0, &in, 8);
	assert_string_equal(text(NULL), "[3]; ");
}

static void times_and_limits(void **state)
{
	static const int64_t t[4] = {0, 5, 1, 0};
	static const uint64_t limits[2] = {8192 * 1024, UINT64_MAX}, small[2] = {1024, 1025};

	begin("nanosleep", 0, 16, 0, 0, 0, 0, 0);
	value(0, 0, t, 16);
	assert_string_equal(text(NULL), "{tv_sec=0, tv_nsec=5}; ");
	begin("timerfd_settime", 0, 3, 0, 16, 32, 0, 0);
	value(2, OUT, t, 32);
	value(3, OUT, t, 32);
	assert_string_equal(
		text(NULL),
		"{it_interval={tv_sec=0, tv_nsec=5}, it_value={tv_sec=1, tv_nsec=0}}; "
		"{it_interval={tv_sec=0, tv_nsec=5}, it_value={tv_sec=1, tv_nsec=0}}; ");
	begin("setitimer", 0, 0, 16, 0, 0, 0, 0);
	value(1, OUT, t, 32);
	assert_string_equal(text(NULL), "{it_interval={tv_sec=0, tv_usec=5}, it_value={tv_sec=1, "
					"tv_usec=0}}; ");
	begin("prlimit64", 0, 0, 3, 16, 32, 0, 0);
	value(2, OUT, limits, 16);
	value(3, OUT, small, 16);
	assert_string_equal(text(NULL), "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}; "
					"{rlim_cur=1024, rlim_max=1025}; ");
}

static void file_statuses(void **state)
{
	uint64_t st[7] = {0x10302, 4711, 2, 1000ull << 32 | 0101755, 1001, 0, 12345};
	static const uint64_t stx[6] = {4096ull << 32 | 0x17ff,	 0x2000, 1000ull << 32 | 3,
					(uint64_t)0040700 << 32, 4711,	 4096};

	begin("newfstatat", 0, 3, 16, 32, 0, 0, 0);
	value(2, OUT, st, 56);
	assert_string_equal(text(NULL), "{st_mode=S_IFREG|S_ISVTX|0755, st_size=12345, ...}; ");
	begin("fstat", 0, 3, 16, 0, 0, 0, 0);
	st[3] = 1000ull << 32 | 0100644;
	value(1, OUT, st, 56);
	assert_string_equal(text(NULL), "{st_mode=S_IFREG|0644, st_size=12345, ...}; ");
	assert_string_equal(json(),
			    "{\"values\":[null,{\"st_dev\":66306,\"st_ino\":4711,\"st_nlink\":2,"
			    "\"st_uid\":1000,\"st_gid\":1001,\"st_mode\":\"S_IFREG|0644\","
			    "\"st_size\":12345}]}\n");
	begin("stat", 0, 8, 16, 0, 0, 0, 0);
	st[3] = 0020666;
	st[5] = 0x100103;
	value(1, OUT, st, 56);
	assert_string_equal(text(NULL),
			    "{st_mode=S_IFCHR|0666, st_rdev=makedev(0x1, 0x103), ...}; ");
	begin("lstat", 0, 8, 16, 0, 0, 0, 0);
	st[3] = 0047007;
	value(1, OUT, st, 56);
	assert_string_equal(text(NULL),
			    "{st_mode=S_IFDIR|S_ISUID|S_ISGID|S_ISVTX|007, st_size=12345, ...}; ");
	begin("statx", 0, 3, 16, 0, 0xfff, 32, 0);
	value(4, OUT, stx, 48);
	assert_string_equal(text(NULL), "{stx_mask=STATX_BASIC_STATS|STATX_MNT_ID, "
					"stx_attributes=STATX_ATTR_MOUNT_ROOT, "
					"stx_mode=S_IFDIR|0700, stx_size=4096, ...}; ");
	assert_string_equal(json(), "{\"values\":[null,null,null,null,{\"stx_mask\":"
				    "\"STATX_BASIC_STATS|STATX_MNT_ID\",\"stx_attributes\":"
				    "\"STATX_ATTR_MOUNT_ROOT\",\"stx_nlink\":3,\"stx_uid\":1000,"
				    "\"stx_gid\":0,\"stx_ino\":4711,\"stx_mode\":\"S_IFDIR|0700\","
				    "\"stx_size\":4096}]}\n");
}

static void signal_actions(void **state)
{
	static const uint64_t handler[4] = {0x7000, 0x14000004, 0x8000, 1 << 9},
			      none[4] = {0, 0, 0x8000, 0};

	begin("rt_sigaction", 0, 10, 16, 32, 8, 0, 0);
	value(1, OUT, handler, 32);
	value(2, OUT, none, 32);
	assert_string_equal(text(NULL),
			    "{sa_handler=0x7000, sa_mask=[USR1], sa_flags=SA_RESTORER|SA_RESTART|"
			    "SA_SIGINFO, sa_restorer=0x8000}; "
			    "{sa_handler=SIG_DFL, sa_mask=[], sa_flags=0}; ");
	assert_non_null(strstr(json(), "{\"sa_handler\":\"0x7000\",\"sa_mask\":[\"SIGUSR1\"],"));
	begin("rt_sigtimedwait", -11, 16, 0, 32, 8, 0, 0);
	value(0, 0, &handler[3], 8);
	value(2, 0, none, 16);
	assert_string_equal(text(NULL), "[USR1]; {tv_sec=0, tv_nsec=0}; ");
}

static void signals_and_statuses(void **state)
{
	static const uint64_t chld = 1ull << 16 | 1ull << 32, all = ~(1ull << 8 | 1ull << 63);
	static const struct {
		uint32_t v;
		const char *want, *json;
	} v[] = {
		{0x300, "[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]; ", "{\"exited\":3}"},
		{9, "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGKILL}]; ", "{\"killed\":\"SIGKILL\"}"},
		{0x8b, "[{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}]; ",
		 "{\"killed\":\"SIGSEGV\",\"core_dumped\":true}"},
		{0x857f, "[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGTRAP | 0x80}]; ",
		 "{\"stopped\":\"SIGTRAP\"}"},
		{0x3057f, "[{WIFSTOPPED(s) && WSTOPSIG(s) == SIGTRAP} | 0x30000]; ",
		 "{\"stopped\":\"SIGTRAP\",\"event\":3}"},
		{0xffff, "[{WIFCONTINUED(s)}]; ", "{\"continued\":true}"},
	};

	begin("rt_sigprocmask", 0, 0, 16, 32, 8, 0, 0);
	value(1, OUT, &chld, 8);
	value(2, OUT, &all, 8);
	assert_string_equal(text(NULL), "[CHLD RT_1]; ~[KILL RT_32]; ");
	/* The kernel wrote over what it had read. */
	begin("rt_sigprocmask", 0, 0, 16, 16, 8, 0, 0);
	value(1, OUT, &chld, 8);
	value(2, OUT, &chld, 8);
	assert_string_equal(text(NULL), "[CHLD RT_1]; ");
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		char want[128];

		begin("wait4", 9, (uint64_t)-1, 16, 0, 0, 0, 0);
		value(1, OUT, &v[i].v, 4);
		assert_string_equal(text(NULL), v[i].want);
		snprintf(want, sizeof(want), "{\"values\":[null,[%s],null,null]}\n",
			 v[i].v == 0x857f ? "{\"stopped\":\"SIGTRAP\"}" : v[i].json);
		assert_string_equal(json(), want);
	}
}

static void epoll(void **state)
{
	begin("epoll_ctl", 0, 3, 1, 4, 16, 0, 0);
	value(3, 0, "\1\0\0\200\4\0\0\0\1\0\0\0", 12);
	assert_string_equal(text(NULL), "{events=EPOLLIN|EPOLLET, data={u32=4, u64=4294967300}}; ");
	call.args[1] = 2; /* EPOLL_CTL_DEL: the kernel does not read it */
	assert_string_equal(text(NULL), "");
	begin("epoll_wait", 1, 3, 16, 10, 0, 0, 0);
	value(1, OUT, "\20\0\0\0\4\0\0\0\0\0\0\0", 12);
	assert_string_equal(text(NULL), "[{events=EPOLLHUP, data={u32=4, u64=4}}]; ");
}

static void vectors_and_messages(void **state)
{
	static const uint64_t iov[4] = {0x100, 3, 0x200, 8};
	static const uint64_t msg[7] = {0x300, 8, 0x400, 2, 0x500, 24, 0x40};
	static const char rights[24] = "\30\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0\6\0\0\0";
	static const char creds[32] = "\34\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\5\0\0\0\6\0\0\0\7\0\0\0";

	begin("writev", 11, 1, 16, 2, 0, 0, 0);
	value(1, 0, iov, 32);
	assert_string_equal(text(NULL),
			    "[{iov_base=0x100, iov_len=3}, {iov_base=0x200, iov_len=8}]; ");
	put(TY_EVK_MEMORY, 1, 0x100, 0, "a\"b", 3);
	put(TY_EVK_MEMORY, 1, 0x200, TY_EVF_CUT, "de", 2);
	assert_string_equal(text(NULL), "[{iov_base=\"a\\\"b\", iov_len=3}, "
					"{iov_base=\"de\"..., iov_len=8}]; ");
	begin("sendmsg", 11, 3, 16, 0, 0, 0, 0);
	value(1, 0, msg, 56);
	assert_string_equal(text(NULL),
			    "{msg_name=0x300, msg_namelen=8, msg_iov=0x400, msg_iovlen=2, "
			    "msg_control=0x500, msg_controllen=24, msg_flags=MSG_DONTWAIT}; ");
	put(TY_EVK_MEMORY, 1, 0x300, 0, "\2\0\0\65\177\0\0\1", 8);
	put(TY_EVK_MEMORY, 1, 0x400, 0, iov, 32);
	put(TY_EVK_MEMORY, 1, 0x500, 0, rights, 24);
	assert_string_equal(
		text("pipe:[1]"),
		"{msg_name={sa_family=AF_INET, sin_port=htons(53), "
		"sin_addr=inet_addr(\"127.0.0.1\")}, msg_namelen=8, msg_iov=[{iov_base=0x100, "
		"iov_len=3}, {iov_base=0x200, iov_len=8}], msg_iovlen=2, "
		"msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
		"cmsg_data=[5<pipe:[1]>, 6]}], msg_controllen=24, msg_flags=MSG_DONTWAIT}; ");
	/* Of what is received only what came counts. */
	begin("recvmsg", 4, 3, 16, 0, 0, 0, 0);
	value(1, OUT, msg, 56);
	put(TY_EVK_MEMORY, 1, 0x400, OUT, iov, 32);
	put(TY_EVK_MEMORY, 1, 0x100, OUT, "abc", 3);
	put(TY_EVK_MEMORY, 1, 0x200, OUT, "d", 1);
	put(TY_EVK_MEMORY, 1, 0x500, OUT, creds, 32);
	assert_string_equal(
		text(NULL),
		"{msg_name=0x300, msg_namelen=8, msg_iov=[{iov_base=\"abc\", iov_len=3}, "
		"{iov_base=\"d\", iov_len=8}], msg_iovlen=2, msg_control=[{cmsg_len=28, "
		"cmsg_level=SOL_SOCKET, cmsg_type=SCM_CREDENTIALS, cmsg_data={pid=5, uid=6, "
		"gid=7}}], msg_controllen=24, msg_flags=MSG_DONTWAIT}; ");
}

static void several_messages(void **state)
{
	static const uint64_t iov[4] = {0x100, 9, 0x200, 9};
	static const uint64_t msgs[16] = {0, 0, 0x400, 1, 0,	 0,  0, 3,
					  0, 0, 0x410, 1, 0x500, 24, 0, 2};
	static const char rights[24] = "\30\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\5\0\0\0\6\0\0\0";

	/* Of what is received each message's own length counts; of what was not sent there is none.
	 */
	begin("recvmmsg", 2, 3, 16, 2, 0, 0, 0);
	value(1, OUT, msgs, 128);
	put(TY_EVK_MEMORY, 1, 0x400, OUT, iov, 16);
	put(TY_EVK_MEMORY, 1, 0x410, OUT, iov + 2, 16);
	put(TY_EVK_MEMORY, 1, 0x100, OUT, "abc", 3);
	put(TY_EVK_MEMORY, 1, 0x500, OUT, rights, 24);
	assert_string_equal(
		text("pipe:[1]"),
		"[{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=\"abc\", iov_len=9}], "
		"msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}, "
		"{msg_hdr={msg_name=NULL, "
		"msg_namelen=0, msg_iov=[{iov_base=0x200, iov_len=9}], msg_iovlen=1, "
		"msg_control=[{cmsg_len=24, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, "
		"cmsg_data=[5<pipe:[1]>, 6]}], msg_controllen=24, msg_flags=0}, msg_len=2}]; ");
	begin("sendmmsg", 1, 3, 16, 3, 0, 0, 0);
	value(1, OUT | TY_EVF_CUT, msgs, 127);
	put(TY_EVK_MEMORY, 1, 0x400, OUT, iov, 16);
	assert_string_equal(
		text(NULL),
		"[{msg_hdr={msg_name=NULL, msg_namelen=0, msg_iov=[{iov_base=0x100, iov_len=9}], "
		"msg_iovlen=1, msg_controllen=0, msg_flags=0}, msg_len=3}, ...]; ");
	begin("sendmmsg", -9, 3, 16, 1, 0, 0, 0);
	value(1, OUT, msgs, 64);
	assert_null(strstr(text(NULL), "msg_len"));
}

static void returned_addresses(void **state)
{
	static const char whole[] = "\200\0\0\0\20\0\0\0\2\0\0\120\177\0\0\1\0\0\0\0\0\0\0",
			  none[] = "\20\0\0\0\0\0\0\0";

	begin("accept4", 5, 3, 16, 32, 0, 0, 0);
	put(TY_EVK_ADDRESS, 1, 16, OUT, whole, 24);
	assert_string_equal(text(NULL), "{sa_family=AF_INET, sin_port=htons(80), "
					"sin_addr=inet_addr(\"127.0.0.1\")}; [128 => 16]; ");
	assert_string_equal(json(), "{\"values\":[null,\"{sa_family=AF_INET, sin_port=htons(80), "
				    "sin_addr=inet_addr(\\\"127.0.0.1\\\")}\",16,null]}\n");
	begin("recvfrom", 1, 3, 64, 1, 0, 16, 32);
	put(TY_EVK_ADDRESS, 4, 16, OUT, none, 8);
	assert_string_equal(text(NULL), "[16 => 0]; ");
	/* Of another pointer: another call's. */
	begin("getsockname", 0, 3, 17, 32, 0, 0, 0);
	put(TY_EVK_ADDRESS, 1, 16, OUT, whole, 24);
	assert_string_equal(text(NULL), "");
}

static void data(void **state)
{
	begin("write", 5, 1, 16, 5, 0, 0, 0);
	value(1, TY_EVF_CUT, "abc", 3);
	assert_string_equal(text(NULL), "\"abc\"...; ");
	assert_string_equal(json(), "{\"values\":[null,\"abc\",null]}\n");
	begin("read", 3, 1, 16, 5, 0, 0, 0);
	value(1, OUT, "abc", 3);
	assert_string_equal(text(NULL), "\"abc\"; ");
	begin("read", 33, 1, 16, 99, 0, 0, 0);
	value(1, OUT, "0123456789abcdef0123456789abcdefX", 33);
	assert_string_equal(text(NULL), "\"0123456789abcdef0123456789abcdef\"...; ");
	assert_non_null(strstr(json(), "0123456789abcdef0123456789abcdefX"));
}

/* Records that end anywhere, and numbers that lie: nothing behind them is read (the sanitizers
 * see it), and a structure that is not whole is not shown. */
static void short_records(void **state)
{
	static const char *const names[] = {
		"poll",		"pselect6",  "epoll_ctl",      "epoll_wait", "writev",
		"sendmsg",	"nanosleep", "setitimer",      "prlimit64",  "wait4",
		"write",	"read",	     "rt_sigprocmask", "newfstatat", "statx",
		"rt_sigaction", "sendmmsg",  "recvmmsg"};
	char bytes[64];

	memset(bytes, 0x7f, sizeof(bytes));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (unsigned n = 0; n < sizeof(bytes); n++)
			for (unsigned arg = 0; arg < 6; arg++) {
				char *exact;
				struct ty_call_data_index *x;
				struct ty_values v;
				struct ty_buf b;

				begin(names[i], 5, 0x7f7f7f7f, 0x7f7f7f7f7f7f7f7f, 16, 16, 16, 16);
				value(arg, 0, bytes, n);
				value(arg, OUT, bytes, n);
				put(TY_EVK_MEMORY, arg, 0x7f7f7f7f7f7f7f7f, 0, bytes, n);
				put(TY_EVK_ADDRESS, arg, call.args[arg], OUT, bytes, n);
				exact = malloc(section_n);
				memcpy(exact, section, section_n);
				x = ty_call_data_index_new(exact, section_n, 0);
				ty_buf_init(&b, 65536);
				ty_values_find(&v, x86, x, &call, 0);
				ty_values_fds(&v);
				ty_values_arg(&v, arg, &b);
				ty_values_after(&v, &b);
				if (!strcmp(names[i], "nanosleep") && n < 16)
					assert_int_equal(b.len, 0);
				ty_buf_fini(&b);
				ty_call_data_index_free(x);
				free(exact);
			}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_for_one),
		cmocka_unit_test(poll_and_select),
		cmocka_unit_test(times_and_limits),
		cmocka_unit_test(file_statuses),
		cmocka_unit_test(signal_actions),
		cmocka_unit_test(signals_and_statuses),
		cmocka_unit_test(epoll),
		cmocka_unit_test(vectors_and_messages),
		cmocka_unit_test(several_messages),
		cmocka_unit_test(data),
		cmocka_unit_test(returned_addresses),
		cmocka_unit_test(short_records),
	};

	return cmocka_run_group_tests_name("syscall_values", tests, NULL, NULL);
}
