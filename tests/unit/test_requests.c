/* SPDX-License-Identifier: MIT */
/* Requests of hand-written models: which end serves, when a request begins and ends, what is none.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture_given.h"
#include "requests.h"
#include "window_all.h"

#define MS UINT64_C(1000000)
enum {
	NR_READ = 0,
	NR_WRITE = 1,
	NR_OPEN = 2,
	NR_CLOSE = 3,
	NR_PIPE = 22,
	NR_DUP = 32,
	NR_FCNTL = 72,
	NR_SOCKET = 41,
	NR_CONNECT = 42,
	NR_ACCEPT = 43,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_RECVMSG = 47
};

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return pid != 11 ? NULL
	       : fd == 5 ? "TCP:[127.0.0.1:3306->127.0.0.1:40000]"
	       : fd == 6 ? "TCP:[127.0.0.1:40002->127.0.0.1:3306]"
	       : fd == 7 ? "pipe:[9]"
	       : fd == 8 ? "UNIX:[/run/s]"
	       /* Both ports are of those that clients get. */
	       : fd == 30 ? "TCP:[127.0.0.1:50000->127.0.0.1:40000]"
	       : fd == 31 ? "TCP:[127.0.0.1:40000->127.0.0.1:50000]"
	       : fd == 32 ? "TCP:[127.0.0.1:50000->127.0.0.1:51000]"
	       : fd == 33 ? "TCP:[10.0.0.1:8080->10.0.0.1:9090]"
	       : fd == 34 ? "TCP:[10.0.0.1:9090->10.0.0.1:8080]"
			  : NULL;
}

static bool listens(void *ctx, const char *at, size_t n)
{
	return !strncmp(at, "127.0.0.1:50000", n);
}

/* recvmsg receives descriptor 9, too: a connection that another process has accepted. */
static bool passed(void *ctx, uint32_t thread, uint32_t call, unsigned i,
		   struct ty_fd_received *out)
{
	(void)ctx, (void)thread, (void)call;
	*out = (struct ty_fd_received){9, false, "TCP:[127.0.0.1:50000->127.0.0.1:40000]"};
	return !i;
}

static const struct ty_model *model;

static void begin(void)
{
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n", "taken 1 2\n" ROW("11", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
}

static struct ty_requests end_of(uint32_t most, uint64_t calls)
{
	struct ty_requests r;
	struct ty_explain x;
	struct ty_window w;

	ty_mx_switch(0, 900 * MS, 11, S, 0);
	model = ty_mx_end();
	x = explain(model, 0);
	x.fd_before = fd_before;
	x.listens = listens;
	x.received = passed;
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, most, calls, &r, NULL), 0);
	return r;
}

static struct ty_requests end(void)
{
	return end_of(10, 0);
}

static void accepted_connection(void **state)
{
	struct ty_requests r;

	begin();
	call(10 * MS, 11, NR_ACCEPT, 9, 3);
	call(20 * MS, 11, NR_READ, 100, 9);
	call(25 * MS, 11, NR_READ, 50, 9); /* more of the same request */
	call(60 * MS, 11, NR_WRITE, 10, 9);
	call(61 * MS, 11, NR_WRITE, 10, 9); /* more of the same reply */
	call(70 * MS, 11, NR_READ, 100, 9);
	call(71 * MS, 11, NR_WRITE, 10, 9);
	call(80 * MS, 11, NR_READ, 0, 9); /* its end */
	call(81 * MS, 11, NR_CLOSE, 0, 9);
	r = end();
	assert_int_equal(r.all, 2);
	assert_int_equal(r.services_n, 1);
	assert_int_equal(r.services[0].n, 2);
	assert_false(r.services[0].inferred);
	assert_int_equal(r.services[0].max_ns, 40 * MS);
	assert_int_equal(r.services[0].p50_ns, 1 * MS);
	assert_int_equal(r.v[0].start_ns, 20 * MS + 1000);
	assert_int_equal(r.v[0].end_ns, 60 * MS + 1000);
	assert_int_equal(r.v[0].fd, 9);
	assert_int_equal(r.v[0].flags, 0);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* What this process says first, replies to what another one received. */
static void a_connection_passed_on(void **state)
{
	struct ty_requests r;

	begin();
	call(10 * MS, 11, NR_RECVMSG, 96, 8);
	call(20 * MS, 11, NR_WRITE, 409, 9);
	call(30 * MS, 11, NR_READ, 20, 9);
	call(70 * MS, 11, NR_WRITE, 346, 9);
	r = end();
	assert_int_equal(r.all, 1);
	assert_int_equal(r.services[0].max_ns, 40 * MS);
	assert_int_equal(r.v[0].fd, 9);
	assert_int_equal(r.v[0].flags, TY_REQ_INFERRED);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* What is received on a connection that was opened here is a reply; files and pipes have none. */
static void replies_files_and_pipes(void **state)
{
	struct ty_requests r;

	begin();
	call(10 * MS, 11, NR_SOCKET, 9, 2);
	call(11 * MS, 11, NR_CONNECT, 0, 9);
	call(20 * MS, 11, NR_WRITE, 100, 9);
	call(25 * MS, 11, NR_READ, 50, 9);
	call(60 * MS, 11, NR_WRITE, 10, 9);
	call(70 * MS, 11, NR_OPEN, 10, 0x7000);
	call(71 * MS, 11, NR_READ, 50, 10);
	call(90 * MS, 11, NR_WRITE, 50, 10);
	call(100 * MS, 11, NR_READ, 50, 7);
	call(150 * MS, 11, NR_WRITE, 50, 7);
	/* A port that no client gets serves: this end is the client. */
	call(200 * MS, 11, NR_READ, 50, 6);
	call(250 * MS, 11, NR_WRITE, 50, 6);
	r = end();
	assert_int_equal(r.all, 0);
	assert_int_equal(r.services_n, 0);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* A connection from before the recording: its ports say which end serves, or which one sent first.
 */
static void attached(void **state)
{
	struct ty_requests r;

	begin();
	call(50 * MS, 11, NR_SENDTO, 10, 5);   /* the reply to a request from before */
	call(100 * MS, 11, NR_RECVFROM, 5, 5); /* the next one */
	call(130 * MS, 11, NR_SENDTO, 10, 5);
	call(200 * MS, 11, NR_RECVFROM, 5, 20); /* not in the list */
	call(210 * MS, 11, NR_SENDTO, 5, 20);
	call(300 * MS, 11, NR_SENDTO, 5, 21); /* spoke first: a client */
	call(310 * MS, 11, NR_RECVFROM, 5, 21);
	call(350 * MS, 11, NR_SENDTO, 5, 21);
	call(400 * MS, 11, NR_RECVFROM, 5, 5); /* no reply to this one */
	r = end();
	assert_int_equal(r.all, 4);
	assert_int_equal(r.services[0].n, 3);
	assert_int_equal(r.services[0].open, 1);
	assert_true(r.services[0].inferred);
	assert_int_equal(r.v[0].flags, TY_REQ_OPEN | TY_REQ_INFERRED);
	assert_int_equal(r.v[0].replied_by, TY_NONE);
	assert_int_equal(r.v[0].end_ns, 900 * MS);
	assert_int_equal(r.v[1].flags, TY_REQ_BEFORE | TY_REQ_INFERRED);
	assert_int_equal(r.v[1].thread, TY_NONE);
	assert_int_equal(r.v[1].start_ns, 1 * MS);
	assert_int_equal(r.v[2].end_ns - r.v[2].start_ns, 30 * MS);
	assert_int_equal(r.v[3].fd, 20);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* Where both ports are those of clients: the end that listened serves, whichever is seen to send
 * first; else the end that receives first. */
static void which_end_serves(void **state)
{
	static const struct {
		int32_t fd;
		bool sends_first, serves;
	} v[] = {{30, true, true},   {30, false, true}, {31, true, false},
		 {31, false, false}, {32, true, true},	{33, false, true},
		 {33, true, false},  {34, false, true}, {34, true, false}};
	struct ty_requests r;

	for (unsigned i = 0; i < sizeof(v) / sizeof(*v); i++) {
		uint64_t fd = (uint64_t)v[i].fd;

		begin();
		if (v[i].sends_first)
			call(10 * MS, 11, NR_SENDTO, 10, fd);
		call(20 * MS, 11, NR_RECVFROM, 5, fd);
		call(50 * MS, 11, NR_SENDTO, 10, fd);
		r = end();
		assert_int_equal(r.all, v[i].serves ? 1 + v[i].sends_first : 0);
		for (unsigned k = 0; k < r.n; k++)
			assert_true(r.v[k].flags & TY_REQ_INFERRED);
		ty_requests_fini(&r);
		ty_mx_drop();
	}
}

/* A child continues with its parent's connection; a copy of a descriptor is the same connection; a
 * thread's request may be answered by another one. */
static void children_copies_and_threads(void **state)
{
	enum { CLONE_THREAD_ = 0x10000 };
	struct ty_requests r;
	uint32_t t12;

	begin();
	call(10 * MS, 11, NR_ACCEPT, 9, 3);
	ty_mx_fork(0, 12 * MS, 11, 12, 0);
	call(13 * MS, 11, NR_CLOSE, 0, 9);
	ty_mx_switch(0, 14 * MS, 11, S, 12);
	call(20 * MS, 12, NR_DUP, 4, 9);
	call(21 * MS, 12, NR_FCNTL, 5, 4); /* F_DUPFD */
	call(30 * MS, 12, NR_READ, 5, 9);  /* received by one copy, replied to by another */
	call(31 * MS, 12, NR_CLOSE, 0, 9);
	call(32 * MS, 12, NR_CLOSE, 0, 5);
	ty_mx_fork(0, 40 * MS, 12, 13, CLONE_THREAD_);
	ty_mx_switch(0, 50 * MS, 12, S, 13);
	call(80 * MS, 13, NR_WRITE, 5, 4);
	ty_mx_switch(0, 90 * MS, 13, S, 11);
	r = end();
	t12 = ty_model_thread_find(model, 12, 30 * MS);
	assert_int_equal(r.all, 1);
	assert_int_equal(r.services[0].process, t12);
	assert_int_equal(r.v[0].thread, t12);
	assert_int_equal(r.v[0].replied_by, ty_model_thread_find(model, 13, 80 * MS));
	assert_int_equal(r.v[0].end_ns - r.v[0].start_ns, 50 * MS);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* Only the longest are kept, in order; all are counted. Too many calls are cut, and that is
 * reported.
 */
static void bounds(void **state)
{
	struct ty_requests r;

	for (int cut = 0; cut < 2; cut++) {
		begin();
		call(2 * MS, 11, NR_ACCEPT, 9, 3);
		for (unsigned i = 0; i < 40; i++) {
			uint64_t at = (10 + 20 * (uint64_t)i) * MS;

			call(at, 11, NR_READ, 5, 9);
			call(at + (i * 7 % 40 + 1) * MS / 4, 11, NR_WRITE, 5, 9);
		}
		r = end_of(5, cut ? 20 : 0);
		assert_int_equal(r.all, cut ? 10 : 40);
		assert_int_equal(r.services[0].n, cut ? 10 : 40);
		assert_int_equal(r.n, 5);
		for (unsigned i = 0; i + 1 < r.n; i++)
			assert_true(r.v[i].end_ns - r.v[i].start_ns >
				    r.v[i + 1].end_ns - r.v[i + 1].start_ns);
		assert_int_equal(r.cut_ns != 0, cut);
		if (!cut)
			assert_int_equal(r.v[0].end_ns - r.v[0].start_ns, 10 * MS);
		ty_requests_fini(&r);
		ty_mx_drop();
	}
}

/* A wait for a reply without a seen request is a stall where a request waits for its reply
 * meanwhile.
 */
static void a_wait_within_a_request_is_a_stall(void **state)
{
	enum { NR_FUTEX = 202 };
	struct ty_stalls_opts o = {0};
	struct ty_requests r;
	struct ty_stalls s;
	struct ty_explain x;
	struct ty_window w;

	for (int answered = 0; answered < 2; answered++) {
		begin();
		ty_mx_fork(0, 2 * MS, 11, 12, 0x10000);
		ty_mx_switch(1, 3 * MS, 0, R, 12);
		call(10 * MS, 11, NR_ACCEPT, 9, 3);
		call(20 * MS, 11, NR_READ, 100, 9);
		if (answered)
			call(25 * MS, 11, NR_WRITE, 10, 9);
		give(30 * MS, 0x7000, 128, 0);
		ty_mx_enter(0, 30 * MS, 11, NR_FUTEX);
		ty_mx_switch(0, 31 * MS, 11, S, 0);
		give(130 * MS, 0x7000, 129, 1);
		ty_mx_enter(1, 130 * MS, 12, NR_FUTEX);
		ty_mx_waking(1, 131 * MS, 12, 11, 0);
		ty_mx_exit(1, 131 * MS + 500, 12, NR_FUTEX, 1);
		ty_mx_switch(0, 133 * MS, 0, R, 11);
		ty_mx_exit(0, 134 * MS, 11, NR_FUTEX, 0);
		if (!answered)
			call(140 * MS, 11, NR_WRITE, 10, 9);
		r = end();
		x = explain(model, 0);
		w = window_all(model);
		assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
		assert_int_equal(s.n, 0);
		ty_stalls_fini(&s);
		o.requests = &r;
		assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
		assert_int_equal(s.n, !answered);
		if (s.n) {
			assert_true(s.v[0].in_request);
			assert_false(s.v[0].proven);
			assert_int_equal(s.v[0].culprit, ty_model_thread_find(model, 12, 130 * MS));
			assert_non_null(strstr(s.v[0].sentence,
					       "Meanwhile a client waited for a reply from"));
		}
		ty_stalls_fini(&s);
		ty_requests_fini(&r);
		o.requests = NULL;
		ty_mx_drop();
	}
}

/* How long a client had no reply: of connections, of requests; what never comes, or is not awaited.
 */
static void awaited_replies(void **state)
{
	struct ty_requests r;
	uint32_t t;

	begin();
	call(10 * MS, 11, NR_SOCKET, 9, 2);
	call(11 * MS, 11, NR_CONNECT, -EINPROGRESS, 9);
	call(50 * MS, 11, NR_WRITE, 100, 9);
	call(51 * MS, 11, NR_WRITE, 100, 9);
	call(150 * MS, 11, NR_READ, 50, 9);
	call(160 * MS, 11, NR_READ, 50, 9);
	call(190 * MS, 11, NR_DUP, 15, 6);
	call(195 * MS, 11, NR_CLOSE, 0, 15);
	call(200 * MS, 11, NR_WRITE, 50, 6); /* by its ports a client */
	call(260 * MS, 11, NR_CLOSE, 0, 6);
	call(300 * MS, 11, NR_SENDTO, 5, 21); /* spoke first: which end serves is not known */
	call(390 * MS, 11, NR_RECVFROM, 5, 21);
	call(400 * MS, 11, NR_SOCKET, 10, 2);
	call(401 * MS, 11, NR_CONNECT, 0, 10);
	call(410 * MS, 11, NR_SENDTO, 50, 10); /* a log: never replies */
	call(850 * MS, 11, NR_WRITE, 100, 9);  /* no reply when the recording ends */
	r = end();
	t = ty_model_thread_find(model, 11, 100 * MS);
	assert_int_equal(r.client_waits_n, 5);
	assert_int_equal(r.client_waits[0].fd, 10);
	assert_int_equal(r.client_waits[0].flags, TY_REQ_OPEN | TY_REQ_VAIN);
	assert_int_equal(r.client_waits[1].start_ns, 50 * MS);
	assert_int_equal(r.client_waits[1].end_ns, 150 * MS + 1000);
	assert_int_equal(r.client_waits[1].flags, 0);
	assert_int_equal(r.client_waits[1].thread, t);
	assert_int_equal(r.client_waits[2].fd, 6);
	assert_int_equal(r.client_waits[2].flags, TY_REQ_VAIN);
	assert_int_equal(r.client_waits[3].flags, TY_REQ_OPEN);
	assert_int_equal(r.client_waits[4].flags, TY_REQ_CONNECT);
	assert_int_equal(r.client_waits[4].end_ns, 50 * MS);
	ty_requests_fini(&r);
	ty_mx_drop();
}

/* A thread that polls several descriptors within a request waits for what it sent itself, and was
 * not idle; the other end of it is named. Without that it waits for whatever comes. */
static void a_loop_that_awaits_a_reply(void **state)
{
	enum { NR_POLL = 7 };
	struct ty_stalls_opts o = {0};
	struct ty_requests r;
	struct ty_stalls s;
	struct ty_explain x;
	struct ty_window w;

	for (int awaits = 0; awaits < 2; awaits++) {
		begin();
		ty_mx_fork(0, 2 * MS, 11, 12, 0x10000);
		ty_mx_switch(1, 3 * MS, 0, R, 12);
		call(5 * MS, 11, NR_SOCKET, 8, 2);
		call(6 * MS, 11, NR_CONNECT, 0, 8);
		call(10 * MS, 11, NR_ACCEPT, 9, 3);
		call(20 * MS, 11, NR_READ, 100, 9);
		if (awaits)
			call(25 * MS, 11, NR_WRITE, 10, 8);
		give(30 * MS, 0x7000, 3, UINT64_MAX);
		ty_mx_enter(0, 30 * MS, 11, NR_POLL);
		ty_mx_switch(0, 31 * MS, 11, S, 0);
		ty_mx_waking(1, 131 * MS, 12, 11, 0);
		ty_mx_switch(0, 133 * MS, 0, R, 11);
		ty_mx_exit(0, 134 * MS, 11, NR_POLL, 1);
		if (awaits)
			call(135 * MS, 11, NR_READ, 10, 8);
		call(140 * MS, 11, NR_WRITE, 10, 9);
		r = end();
		x = explain(model, 0);
		w = window_all(model);
		o.requests = &r;
		assert_int_equal(ty_stalls_find(&x, &w, &o, 10, &s, NULL), 0);
		assert_int_equal(s.n, awaits);
		if (awaits) {
			assert_false(s.v[0].proven);
			assert_string_equal(s.v[0].peer, "fd 8");
		}
		ty_stalls_fini(&s);
		ty_requests_fini(&r);
		ty_mx_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accepted_connection),
		cmocka_unit_test(a_connection_passed_on),
		cmocka_unit_test(replies_files_and_pipes),
		cmocka_unit_test(attached),
		cmocka_unit_test(which_end_serves),
		cmocka_unit_test(children_copies_and_threads),
		cmocka_unit_test(bounds),
		cmocka_unit_test(a_wait_within_a_request_is_a_stall),
		cmocka_unit_test(awaited_replies),
		cmocka_unit_test(a_loop_that_awaits_a_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
