/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "call_data_index.h"
#include "call_data_table.h"
#include "sanitized.h"

#define CALL(tid_, nr_, start, end, ...)                                                           \
	(&(struct ty_call){.tid = tid_,                                                            \
			   .end_tid = tid_,                                                        \
			   .nr = nr_,                                                              \
			   .start_ns = start,                                                      \
			   .end_ns = end,                                                          \
			   .how = TY_CALL_RETURNED,                                                \
			   .args = {__VA_ARGS__}})

struct section {
	char p[4096];
	size_t n;
};

static void put(struct section *s, struct ty_ev_record h, const char *bytes, unsigned len)
{
	h.len = (__u16)len;
	memcpy(s->p + s->n, &h, sizeof(h));
	memcpy(s->p + s->n + sizeof(h), bytes, len);
	s->n += sizeof(h) + len;
}

static void piece(struct section *s, uint64_t number, uint64_t lost)
{
	put(s, (struct ty_ev_record){.kind = TY_EVK_PIECE, .ptr = number, .ns = lost}, "", 0);
}

static void string(struct section *s, uint64_t ns, uint32_t tid, uint16_t nr, uint8_t arg,
		   uint64_t ptr, uint8_t flags, const char *text)
{
	put(s,
	    (struct ty_ev_record){.ns = ns,
				  .tid = tid,
				  .nr = nr,
				  .kind = TY_EVK_STRING,
				  .arg = arg,
				  .ptr = ptr,
				  .flags = flags},
	    text, flags & TY_EVF_FAULT ? 0 : (unsigned)strlen(text) + 1);
}

static const char *text_of(const struct ty_call_data_item *i)
{
	static struct ty_buf b;

	if (!i->p)
		return "?";
	ty_buf_fini(&b);
	ty_buf_init(&b, 65536);
	assert_int_equal(ty_call_data_text(i, &b), 0);
	ty_buf_addc(&b, 0);
	return b.p;
}

static const char *arg_of(const struct ty_call_data_index *x, const struct ty_call *c,
			  uint64_t after_ns, unsigned arg)
{
	struct ty_call_data_item item[6];

	ty_call_data_of(x, c, after_ns, item);
	return text_of(&item[arg]);
}

/* What belongs to a call lies between the end of the call before and its own beginning. */
static void found_by_call(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *x;

	piece(&s, 0, 0);
	/* Another CPU's records lie behind, and are earlier. */
	string(&s, 1990, 7, 257, 1, 0x10, 0, "/second");
	string(&s, 990, 7, 257, 1, 0x10, 0, "/first");
	string(&s, 991, 8, 257, 1, 0x10, 0, "/other thread");
	string(&s, 2990, 7, 82, 0, 0x20, 0, "from");
	string(&s, 2991, 7, 82, 1, 0x30, 0, "to");
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_int_equal(ty_call_data_counts(x).records, 5);
	assert_false(ty_call_data_counts(x).damaged);
	assert_string_equal(arg_of(x, CALL(7, 257, 1000, 1500, 0, 0x10), 0, 1), "\"/first\"");
	assert_string_equal(arg_of(x, CALL(7, 257, 2000, 2500, 0, 0x10), 1500, 1), "\"/second\"");
	assert_string_equal(arg_of(x, CALL(8, 257, 1000, 1500, 0, 0x10), 0, 1),
			    "\"/other thread\"");
	assert_string_equal(arg_of(x, CALL(7, 82, 3000, 3500, 0x20, 0x30), 2500, 0), "\"from\"");
	assert_string_equal(arg_of(x, CALL(7, 82, 3000, 3500, 0x20, 0x30), 2500, 1), "\"to\"");
	/* Its own was lost: that of the call before is not taken for it, nor that of another
	 * pointer, number or thread. */
	assert_string_equal(arg_of(x, CALL(7, 257, 2600, 2700, 0, 0x10), 2500, 1), "?");
	assert_string_equal(arg_of(x, CALL(7, 257, 2000, 2500, 0, 0x11), 1500, 1), "?");
	assert_string_equal(arg_of(x, CALL(7, 258, 2000, 2500, 0, 0x10), 1500, 1), "?");
	assert_string_equal(arg_of(x, CALL(9, 257, 2000, 2500, 0, 0x10), 1500, 1), "?");
	/* Of a first call what is far away is another one's. */
	assert_string_equal(arg_of(x, CALL(7, 257, 40000, 50000, 0, 0x10), 0, 1), "?");
	ty_call_data_index_free(x);
}

/* For a reader that sees calls in order: ends of calls and losses bound what may be taken. */
static void after_calls_and_losses(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *x;

	piece(&s, 0, 0);
	string(&s, 1990, 7, 257, 1, 0x10, 0, "/a");
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_int_equal(ty_call_data_after(x, 7), 0);
	ty_call_data_over(x, 7, 1500);
	ty_call_data_over(x, 99, 1700);
	assert_int_equal(ty_call_data_after(x, 7), 1500);
	ty_call_data_gap(x, 1995);
	assert_int_equal(ty_call_data_after(x, 7), 1995);
	assert_string_equal(
		arg_of(x, CALL(7, 257, 2000, 2500, 0, 0x10), ty_call_data_after(x, 7), 1), "?");
	ty_call_data_index_free(x);
}

/* A clock that stands still for several calls: whose the data is, is unknown. */
static void of_one_time(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *x;
	struct ty_call *failed;

	piece(&s, 0, 0);
	string(&s, 1000, 7, 257, 1, 0x10, 0, "/this or the next");
	string(&s, 2000, 7, 257, 1, 0x10, TY_EVF_EXIT, "/this or the one before");
	string(&s, 2500, 7, 257, 1, 0x10, TY_EVF_EXIT, "/a later one");
	string(&s, 3500, 7, 257, 1, 0x10, TY_EVF_EXIT, "/this");
	string(&s, 4000, 7, 257, 1, 0x10, 0, "/this, too");
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_string_equal(arg_of(x, CALL(7, 257, 1000, 1000, 0, 0x10), 900, 1), "?");
	failed = CALL(7, 257, 2000, 2500, 0, 0x10);
	failed->ret = -11;
	assert_string_equal(arg_of(x, failed, 1900, 1), "?");
	assert_string_equal(arg_of(x, CALL(7, 257, 3000, 3500, 0, 0x10), 2900, 1), "\"/this\"");
	assert_string_equal(arg_of(x, CALL(7, 257, 4000, 4100, 0, 0x10), 3900, 1),
			    "\"/this, too\"");
	ty_call_data_index_free(x);
}

/* Only a truncated string is inferred to be one, whatever a file says. */
static void inferred(void **state)
{
	static const uint8_t flags[] = {TY_EVF_INFERRED, TY_EVF_CUT, TY_EVF_CUT | TY_EVF_INFERRED};
	struct section s = {.n = 0};
	struct ty_call_data_index *x;

	for (unsigned i = 0; i < 3; i++) {
		string(&s, 990 + i, 7, 257, 1, 0x10, flags[i], "/a");
		put(&s,
		    (struct ty_ev_record){
			    .ns = 1000 + i, .tid = 7, .kind = TY_EVK_ARGV, .flags = flags[i]},
		    "ls", 3);
	}
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_int_equal(ty_call_data_counts(x).records, 6);
	assert_int_equal(ty_call_data_counts(x).cut_inferred, 1);
	ty_call_data_index_free(x);
}

/* The page was not there at the enter: what was read at the exit counts. */
static void read_again(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *x;
	struct ty_call *open = CALL(7, 257, 5000, 0, 0, 0x10);

	piece(&s, 0, 0);
	string(&s, 990, 7, 257, 1, 0x10, TY_EVF_FAULT, "");
	string(&s, 1490, 7, 257, 1, 0x10, TY_EVF_EXIT, "/cold");
	string(&s, 1990, 7, 257, 1, 0x10, TY_EVF_FAULT, "");
	string(&s, 2600, 7, 257, 1, 0x10, TY_EVF_EXIT, "/of a later call");
	put(&s,
	    (struct ty_ev_record){.ns = 2990,
				  .tid = 7,
				  .nr = 59,
				  .kind = TY_EVK_STRINGS,
				  .arg = 1,
				  .ptr = 0x20,
				  .flags = TY_EVF_CUT},
	    "ls\0-l\0abc", 9);
	string(&s, 4990, 7, 257, 1, 0x10, 0, "/open");
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_string_equal(arg_of(x, CALL(7, 257, 1000, 1500, 0, 0x10), 0, 1), "\"/cold\"");
	assert_string_equal(arg_of(x, CALL(7, 257, 2000, 2500, 0, 0x10), 1500, 1), "?");
	assert_string_equal(arg_of(x, CALL(7, 59, 3000, 3500, 0, 0x20), 2500, 1),
			    "[\"ls\", \"-l\", \"abc\"..., ...]");
	open->how = TY_CALL_OPEN;
	assert_string_equal(arg_of(x, open, 3500, 1), "\"/open\"");
	ty_call_data_index_free(x);
}

static int rises(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n)
{
	uint64_t *last = ctx;

	assert_true(ns >= last[0]);
	last[0] = ns;
	last[1]++;
	return 0;
}

static int rises_in_thread(void *ctx, int32_t tid, uint64_t ns, const char *bytes, size_t n)
{
	static uint64_t last_ns;
	int32_t *last = ctx;

	assert_true(tid > *last || (tid == *last && ns > last_ns));
	*last = tid;
	last_ns = ns;
	return 0;
}

/* A thread that changes its CPU, in pieces that overlap in time: a little, as they do, and all of
 * them, each before the one before. */
static void sorted_by_time(void **state)
{
	enum { RUNS = 40, RUN = 25 };
	const size_t one = sizeof(struct ty_ev_record) + 1;

	for (unsigned kind = 0; kind < 3; kind++) {
		char *p = malloc(RUNS * RUN * one);
		struct ty_call_data_index *x;
		uint64_t last[2] = {0};

		assert_non_null(p);
		for (unsigned i = 0; i < RUNS * RUN; i++) {
			const unsigned run = i / RUN, at = i % RUN;
			const struct ty_ev_record h = {
				.ns = kind == 0	  ? 1 + run * (RUN - 3) + at
				      : kind == 1 ? 1 + at * RUNS + RUNS - run
						  : 1 + (RUNS - run) * RUN + at / 2,
				.tid = 7,
				.len = 1,
				.kind = TY_EVK_VALUES};

			memcpy(p + i * one, &h, sizeof(h));
			p[i * one + sizeof(h)] = 'x';
		}
		x = ty_call_data_index_new(p, RUNS * RUN * one, 0);
		assert_non_null(x);
		assert_int_equal(ty_call_data_counts(x).records, RUNS * RUN);
		ty_call_data_each(x, TY_EVK_VALUES, rises, last);
		assert_int_equal(last[1], RUNS * RUN);
		ty_call_data_index_free(x);
		free(p);
	}
}

static size_t in_memory(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Beyond its part of the memory limit the index is in a file. */
static void larger_than_memory(void **state)
{
	enum { RECORDS = 200000, TIDS = 5, ENTRY = 16 };
	const size_t one = sizeof(struct ty_ev_record) + 1;
	char *p = malloc(RECORDS * one);

	assert_non_null(p);
	for (unsigned i = 0; i < RECORDS; i++) {
		/* Pieces of two CPUs, between which the threads change. */
		const struct ty_ev_record h = {.ns = 1 + i % (RECORDS / 2) * 2 + i / (RECORDS / 2),
					       .tid = 7 + i % TIDS,
					       .len = 1,
					       .kind = TY_EVK_VALUES};

		memcpy(p + i * one, &h, sizeof(h));
		p[i * one + sizeof(h)] = 'x';
	}
	for (unsigned limited = 0; limited < 2; limited++) {
		const size_t before = in_memory();
		struct ty_call_data_index *x =
			ty_call_data_index_new(p, RECORDS * one, limited << 20);
		int32_t tid = 0;

		assert_non_null(x);
		if (!SANITIZED) /* its allocator counts nothing here */
			assert_int_equal(in_memory() - before > RECORDS * ENTRY / 8, !limited);
		assert_int_equal(ty_call_data_counts(x).records, RECORDS);
		ty_call_data_each(x, TY_EVK_VALUES, rises_in_thread, &tid);
		assert_int_equal(tid, 7 + TIDS - 1);
		ty_call_data_index_free(x);
	}
	free(p);
}

static void losses(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *x;

	piece(&s, 4, 0); /* a recording that kept its newest part */
	string(&s, 990, 7, 257, 1, 0x10, 0, "/a");
	piece(&s, 7, 3);
	string(&s, 1990, 7, 257, 1, 0x10, 0, "/b");
	x = ty_call_data_index_new(s.p, s.n, 0);
	assert_int_equal(ty_call_data_counts(x).lost, 3);
	assert_int_equal(ty_call_data_counts(x).pieces_missing, 2);
	assert_int_equal(ty_call_data_counts(x).records, 2);
	ty_call_data_index_free(x);
}

/* A section that ends anywhere, or has heads that lie. */
static void damage(void **state)
{
	struct section s = {.n = 0};
	struct ty_call_data_index *newer;
	struct ty_ev_record bad;

	piece(&s, 0, 0);
	string(&s, 990, 7, 257, 1, 0x10, 0, "/a");
	string(&s, 1990, 7, 257, 1, 0x10, 0, "/b");
	for (size_t n = 0; n < s.n; n++) {
		char *exact = malloc(n + !n); /* so that the sanitizers see one byte too much */
		struct ty_call_data_index *x;

		memcpy(exact, s.p, n);
		x = ty_call_data_index_new(exact, n, 0);
		assert_int_equal(ty_call_data_counts(x).records, n >= 67);
		assert_int_equal(ty_call_data_counts(x).damaged, n != 0 && n != 32 && n != 67);
		ty_call_data_index_free(x);
		free(exact);
	}
	/* A kind of a newer version: what follows is read. */
	memcpy(&bad, s.p + 32, sizeof(bad));
	bad.kind = 63;
	memcpy(s.p + 32, &bad, sizeof(bad));
	newer = ty_call_data_index_new(s.p, s.n, 0);
	assert_false(ty_call_data_counts(newer).damaged);
	assert_int_equal(ty_call_data_counts(newer).records, 1);
	assert_int_equal(ty_call_data_counts(newer).newer, 1);
	ty_call_data_index_free(newer);
	bad.kind = TY_EVK_STRING;
	memcpy(s.p + 32, &bad, sizeof(bad));
	for (unsigned i = 0; i < 6; i++) {
		struct section t = s;
		struct ty_call_data_index *x;

		memcpy(&bad, t.p + 67, sizeof(bad));
		bad.len = i == 0 ? 4097 : bad.len;
		bad.arg = i == 1 ? 6 : bad.arg;
		bad.tid = i == 2 ? 0 : i == 3 ? 0x80000000u : bad.tid;
		bad.kind = i == 4 ? 200 : bad.kind;
		memcpy(t.p + 67, &bad, sizeof(bad));
		if (i == 5)
			t.p[t.n - 1] = 'x'; /* a string without its end */
		x = ty_call_data_index_new(t.p, t.n, 0);
		assert_true(ty_call_data_counts(x).damaged);
		assert_int_equal(ty_call_data_counts(x).records, 1);
		ty_call_data_index_free(x);
	}
}

static void is_text(uint8_t kind, uint8_t flags, const char *p, unsigned n, const char *want)
{
	const struct ty_call_data_item i = {.p = p, .len = n, .kind = kind, .flags = flags};

	assert_string_equal(text_of(&i), want);
}

/* As strace 6.1 printed the same. */
static void as_strace(void **state)
{
	is_text(TY_EVK_STRING, 0, "/etc/passwd", 11, "\"/etc/passwd\"");
	is_text(TY_EVK_STRING, 0, "", 0, "\"\"");
	is_text(TY_EVK_STRING, 0, "a\"b\\c\t\n\v\f\r", 10, "\"a\\\"b\\\\c\\t\\n\\v\\f\\r\"");
	is_text(TY_EVK_STRING, 0,
		"\x01"
		"1\x01x\x7f\xc3\xa4",
		7, "\"\\0011\\1x\\177\\303\\244\"");
	is_text(TY_EVK_STRING, TY_EVF_CUT, "ab", 2, "\"ab\"...");
	is_text(TY_EVK_STRINGS, 0, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\0b\"\t\x01", 42,
		"[\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"..., \"b\\\"\\t\\1\"]");
	is_text(TY_EVK_SOCKADDR, 0, "\1\0/tmp/nope", 12,
		"{sa_family=AF_UNIX, sun_path=\"/tmp/nope\"}");
	is_text(TY_EVK_SOCKADDR, 0, "\1\0\0abc", 6, "{sa_family=AF_UNIX, sun_path=@\"abc\"}");
	is_text(TY_EVK_SOCKADDR, 0, "\1\0", 2, "{sa_family=AF_UNIX}");
	is_text(TY_EVK_SOCKADDR, 0, "\2\0\0\65\177\0\0\1\0\0\0\0\0\0\0\0", 16,
		"{sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr(\"127.0.0.1\")}");
	is_text(TY_EVK_SOCKADDR, 0, "\12\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 28,
		"{sa_family=AF_INET6, sin6_port=htons(1), sin6_flowinfo=htonl(0), "
		"inet_pton(AF_INET6, \"::1\", &sin6_addr), sin6_scope_id=0}");
	is_text(TY_EVK_SOCKADDR, 0, "\20\0\0\0\0\0\0\0\3\0\0\0", 12,
		"{sa_family=AF_NETLINK, nl_pid=0, nl_groups=0x000003}");
	is_text(TY_EVK_SOCKADDR, 0, "\1", 1, "{...}");
	is_text(TY_EVK_SOCKADDR, 0, "\2\0\0", 3, "{sa_family=2, sa_data=\"\\0\"}");
}

/* Descriptors as the kernel has them: a pipe, sockets of either family, what is not known. */
static void descriptors(void **state)
{
	static const struct {
		struct ty_ev_fd fd;
		const char *want;
	} v[] = {
		{{.inode = 17, .mode = 0010600}, "pipe:[17]"},
		{{.inode = 17, .mode = 0140777, .family = 2, .type = 1, .protocol = 6}, "TCP:[17]"},
		{{.inode = 17,
		  .mode = 0140777,
		  .family = 2,
		  .type = 1,
		  .protocol = 6,
		  .listens = 1,
		  .own = "\2\0\0\65\177\0\0\1"},
		 "TCP:[127.0.0.1:53 listening]"},
		{{.mode = 0140777,
		  .family = 10,
		  .type = 2,
		  .protocol = 17,
		  .own = "\12\0\0\65",
		  .peer = "\12\0\0\66\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"},
		 "UDPv6:[[::]:53->[::1]:54]"},
		{{.inode = 1,
		  .peer_inode = 2,
		  .mode = 0140777,
		  .family = 1,
		  .type = 1,
		  .peer_pid = 99,
		  .path_len = 5,
		  .path = "/run\"x"},
		 "UNIX-STREAM:[1->2,\"/run\\\"\" process 99]"},
		{{.inode = 1,
		  .mode = 0140777,
		  .family = 1,
		  .type = 2,
		  .path_is_peers = 1,
		  .path_len = 3,
		  .path = "\0ab"},
		 "UNIX-DGRAM:[1 to @\"ab\"]"},
		{{.mode = 0140777, .family = 1, .type = 5, .path_len = 255, .path = "/a"},
		 "UNIX-SEQPACKET:[0,\"/a\"]"},
		{{.inode = 3, .mode = 0140777, .family = 16}, "NETLINK:[3]"},
		{{.inode = 3, .mode = 0100644}, ""},
	};
	struct ty_ev_fd two[2] = {{.fd = 3, .inode = 5, .mode = 0010600},
				  {.fd = 4, .inode = 5, .mode = 0010600}},
			out;
	struct ty_call_data_item it = {(const char *)two, sizeof(two), TY_EVK_FDS, 0};
	struct ty_buf b;

	(void)state;
	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		ty_buf_init(&b, 1024);
		assert_int_equal(ty_call_data_fd_text(&v[i].fd, &b), 0);
		assert_string_equal(b.p ? b.p : "", v[i].want);
		ty_buf_fini(&b);
	}
	assert_string_equal(text_of(&it), "[3<pipe:[5]>, 4<pipe:[5]>]");
	assert_true(ty_call_data_fd(&it, 1, &out));
	assert_int_equal(out.fd, 4);
	assert_false(ty_call_data_fd(&it, 2, &out));
	it.kind = TY_EVK_STRING;
	assert_false(ty_call_data_fd(&it, 0, &out));
}

static void in_short(void **state)
{
	static const struct {
		const char *p, *want;
		unsigned n;
		bool to;
	} v[] = {
		{"\2\0\0\65\177\0\0\1", "socket:[->127.0.0.1:53]", 8, true},
		{"\12\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1", "socket:[[::1]:1]", 24,
		 false},
		{"\1\0/run/x", "UNIX:[/run/x]", 9, false},
		{"\1\0\0abc", "UNIX:[->@abc]", 6, true},
		{"\2\0\0\65", NULL, 4, false},
		{"\1\0", NULL, 2, false},
		{"", NULL, 0, false},
	};

	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const struct ty_call_data_item it = {
			.p = v[i].p, .len = v[i].n, .kind = TY_EVK_SOCKADDR};
		struct ty_buf b;

		ty_buf_init(&b, 4096);
		assert_int_equal(ty_call_data_short(&it, v[i].to, &b), v[i].want != NULL);
		ty_buf_addc(&b, 0);
		if (v[i].want)
			assert_string_equal(b.p, v[i].want);
		ty_buf_fini(&b);
	}
}

static const struct ty_ev_value *value_of(const struct ty_call_data_call *c, unsigned arg)
{
	for (unsigned i = 0; i < 5 && c->what.values[i].arg; i++)
		if (c->what.values[i].arg == arg + 1)
			return &c->what.values[i];
	return NULL;
}

/* The size of a value, what counts them, and when they are there. */
static void fits(const struct ty_sysarch *a, const struct ty_call_data_call *c,
		 const struct ty_sysrow *row, const struct ty_ev_value *v)
{
	const unsigned i = v->arg - 1u;
	const struct ty_pointee p = ty_arg_pointee(row->a[i], ty_sysarch_os(a), false);

	assert_true(i < row->n);
	if (row->a[i] == TY_ARG_FDSET)
		assert_true(v->bytes == 8 && v->count == TY_EV_BITS);
	else if (v->bytes != p.bytes)
		fail_msg("%s: argument %u has %u bytes", c->name, i, p.bytes);
	if (p.counted && v->count != i + 1 && v->count != TY_EV_RESULT)
		fail_msg("%s: argument %u is counted by the next", c->name, i);
	if (v->when & (TY_EV_IN | TY_EV_LATE))
		assert_true(p.in);
	/* A wait also returns its remaining time. */
	if (v->when & TY_EV_OUT)
		assert_true(p.out || row->ret == TY_RET_POLL);
	assert_true(!(v->when & TY_EV_LATE) || !(v->when & (TY_EV_IN | TY_EV_OUT)));
	assert_int_equal(!!(v->when & TY_EV_IOV), p.bytes == 16 && p.counted);
	assert_true(p.bytes != 1 || v->when & TY_EV_DATA);
}

/* What the recorder reads is what the table of system calls says, and all paths of a call. */
static void as_the_table(void **state)
{
	struct utsname u;
	const struct ty_sysarch *a;

	uname(&u);
	a = ty_sysarch_find(u.machine);
	for (unsigned i = 0; i < ty_call_data_table_n; i++) {
		static const uint8_t messages[] = {[TY_EV_MSG_SEND] = TY_ARG_MSG_IN,
						   [TY_EV_MSG_ONE] = TY_ARG_MSG_OUT,
						   [TY_EV_MSG_MANY] = TY_ARG_MMSG_OUT,
						   [TY_EV_MSG_SENT] = TY_ARG_MMSG_IN};
		const struct ty_call_data_call *c = &ty_call_data_table[i];
		const struct ty_sysrow *row = ty_syscall_row(a, TY_ABI_NATIVE64, c->nr);
		const bool is_message = row->a[1] >= TY_ARG_MSG_IN && row->a[1] <= TY_ARG_MMSG_OUT;

		assert_non_null(row->name);
		assert_true(c->nr < TY_EV_CALLS);
		assert_int_equal(messages[c->what.messages], is_message ? row->a[1] : 0);
		if (c->what.fds)
			assert_int_equal(row->fds, c->what.fds == TY_EV_FDS_RESULT  ? TY_FDS_NEW
						   : c->what.fds == TY_EV_FDS_FIRST ? TY_FDS_NAMED
										    : TY_FDS_PAIR);
		for (unsigned k = 0; k < 6; k++) {
			bool read = c->what.strings >> k & 1;
			uint8_t is = k < row->n ? row->a[k] : TY_ARG_INT;

			const struct ty_ev_value *v = value_of(c, k);

			if (v)
				fits(a, c, row, v);
			if (read != (is == TY_ARG_PATH) && !(read && is == TY_ARG_STR))
				fail_msg("%s: argument %u", c->name, k);
			if ((c->what.list == k + 1) && is != TY_ARG_STRS)
				fail_msg("%s: argument %u is no list", c->name, k);
			if ((c->what.fds == TY_EV_FDS_PAIR && k == 0) ||
			    (c->what.fds == TY_EV_FDS_PAIR4 && k == 3))
				assert_int_equal(is, TY_ARG_FDS_OUT);
			if ((c->what.address == k + 1) != (is == TY_ARG_ADDR_OUT))
				fail_msg("%s: argument %u is (no) returned address", c->name, k);
			if ((c->what.sockaddr == k + 1) != (is == TY_ARG_ADDR_IN))
				fail_msg("%s: argument %u is (no) address", c->name, k);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_call),
		cmocka_unit_test(after_calls_and_losses),
		cmocka_unit_test(of_one_time),
		cmocka_unit_test(read_again),
		cmocka_unit_test(inferred),
		cmocka_unit_test(sorted_by_time),
		cmocka_unit_test(larger_than_memory),
		cmocka_unit_test(losses),
		cmocka_unit_test(damage),
		cmocka_unit_test(as_strace),
		cmocka_unit_test(as_the_table),
		cmocka_unit_test(in_short),
		cmocka_unit_test(descriptors),
	};

	return cmocka_run_group_tests_name("call_data", tests, NULL, NULL);
}
