/* SPDX-License-Identifier: MIT */
/* Messages that may be a stream or a request in pieces; a reply whose rest waits for a disk. */
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
	NR_SENDFILE = 40,
	NR_GETPPID = 110,
	NR_ACCEPT = 43,
	NR_SENDTO = 44,
	NR_RECVFROM = 45,
	NR_EPOLL = 232
};

static const char *fd_before(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	*cloexec = false;
	return pid == 11 && fd == 5 ? "TCP:[127.0.0.1:3306->127.0.0.1:40000]" : NULL;
}

static void begin(void)
{
	givens = 0;
	ty_mx_begin("mode=pids\npid=11\n",
		    "taken 1 2\n" ROW("11", "11", "1", "server") ROW("12", "11", "1", "server"));
	ty_mx_switch(0, 1 * MS, 0, R, 11);
}

static struct ty_requests end(void)
{
	struct ty_requests r;
	struct ty_explain x;
	struct ty_window w;

	ty_mx_switch(0, 900 * MS, 11, S, 0);
	x = explain(ty_mx_end(), 0);
	x.fd_before = fd_before;
	w = window_all(x.m);
	assert_int_equal(ty_requests_find(&x, &w, 10, 0, &r, NULL), 0);
	return r;
}

/* The rest of a reply: a call that a disk blocked belongs to the request, one that waits for the
 * client to receive does not. */
static void the_rest_of_a_reply_waits_for_a_disk(void **state)
{
	for (unsigned disk = 0; disk < 2; disk++) {
		struct ty_requests r;

		begin();
		call(10 * MS, 11, NR_ACCEPT, 9, 3);
		call(20 * MS, 11, NR_READ, 100, 9);
		call(21 * MS, 11, NR_WRITE, 10, 9);
		give(22 * MS, 9, 8, 0);
		ty_mx_enter(0, 22 * MS, 11, NR_SENDFILE);
		ty_mx_switch(0, 23 * MS, 11, disk ? D : S, 0);
		ty_mx_waking_irq(0, 221 * MS, 0, 11, 0);
		ty_mx_switch(0, 222 * MS, 0, R, 11);
		ty_mx_exit(0, 223 * MS, 11, NR_SENDFILE, 1000);
		r = end();
		assert_int_equal(r.services[0].n, 1);
		assert_int_equal(r.services[0].max_ns, disk ? 203 * MS - 1000 : 1 * MS);
		ty_requests_fini(&r);
		ty_mx_drop();
	}
}

enum how {
	ONLY,	  /* messages without a reply, which an event loop receives */
	STOPPED,  /* until it receives no more */
	PING,	  /* something is sent later, between two of them */
	AT_ONCE,  /* it is sent at once */
	ANSWERED, /* later, but a request had a reply before */
	ACCEPTED, /* the connection was seen to begin */
	BUSY,	  /* the thread computes while they arrive */
	OTHER,	  /* another thread sends something at once */
	BLOCKING, /* a thread receives nothing else */
};

static struct ty_requests messages(enum how how)
{
	const uint64_t fd = how == ACCEPTED ? 9 : 5;

	begin();
	if (how == OTHER)
		call(2 * MS, 12, NR_GETPPID, 1, 0);
	if (how == ACCEPTED)
		call(3 * MS, 11, NR_ACCEPT, 9, 3);
	if (how == ANSWERED) {
		call(5 * MS, 11, NR_RECVFROM, 5, fd);
		call(6 * MS, 11, NR_SENDTO, 5, fd);
	}
	for (unsigned i = 0; i < (how == STOPPED ? 22 : 44); i++) {
		const uint64_t at = (20 + 20 * i) * MS, wait = how == BUSY ? 10000 : 8 * MS;

		if (how != BLOCKING) {
			ty_mx_enter(0, at - wait, 11, NR_EPOLL);
			ty_mx_exit(0, at - 1000, 11, NR_EPOLL, 1);
		}
		call(at, 11, NR_RECVFROM, 5, fd);
		if (i != 21 || how == ONLY || how == STOPPED)
			continue;
		if (how != AT_ONCE && how != OTHER) {
			ty_mx_enter(0, at + 1 * MS, 11, NR_EPOLL);
			ty_mx_exit(0, at + 4 * MS, 11, NR_EPOLL, 0);
		}
		call(at + 5 * MS, how == OTHER ? 12 : 11, NR_SENDTO, 10, fd);
	}
	return end();
}

/* Messages that an event loop receives one at a time, with no reply yet, may be no request. But one
 * that it stopped reading is, and so is an upload, which comes in pieces. */
static void messages_and_uploads(void **state)
{
	for (enum how how = ONLY; how <= BLOCKING; how++) {
		const bool none = how == ONLY || how == STOPPED;
		struct ty_requests r = messages(how);

		assert_int_equal(r.services_n, !none);
		assert_int_equal(r.pending_n, how == STOPPED);
		if (!none) {
			assert_int_equal(r.services[0].n, 1 + (how == ANSWERED));
			assert_int_equal(r.services[0].open, how != PING && how != OTHER);
			assert_int_equal(r.services[0].max_ns,
					 ((how == PING || how == OTHER ? 0 : 420) + 5) * MS);
		}
		ty_requests_fini(&r);
		ty_mx_drop();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rest_of_a_reply_waits_for_a_disk),
		cmocka_unit_test(messages_and_uploads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
