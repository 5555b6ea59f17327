/* SPDX-License-Identifier: MIT */
/* Sockets by descriptor: which end serves, by the name it had before the recording; bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "request_sockets.h"

static const char *name_of_5;
static const char *listening; /* "127.0.0.1:80", ... */

static const char *name(void *ctx, int32_t pid, int32_t fd, bool *cloexec)
{
	(void)ctx;
	*cloexec = false;
	return pid == 42 && fd == 5 ? name_of_5 : NULL;
}

static bool listens(void *ctx, const char *address, size_t n)
{
	(void)ctx;
	return listening && strlen(listening) == n && !memcmp(listening, address, n);
}

static struct ty_sock socket_named(const char *text, const char *server)
{
	struct ty_explain x = {.fd_before = name, .listens = listens};
	struct ty_sock_table t = {.pid = 42, .before = true};
	struct ty_sock *s, copy;

	name_of_5 = text;
	listening = server;
	s = ty_sock_at(&x, &t, 5);
	assert_non_null(s);
	copy = *s;
	vec_fini(&t.fd);
	return copy;
}

static void which_end_serves(void **state)
{
	static const struct {
		const char *name, *listens;
		enum ty_sock_role role;
	} cases[] = {
		{"TCP:[10.0.0.1:80->10.0.0.2:40000]", NULL, TY_SOCK_SERVER},
		{"TCP:[10.0.0.2:40000->10.0.0.1:80]", NULL, TY_SOCK_CLIENT},
		/* The first port that a kernel gives to a client, and the last it does not. */
		{"TCP:[10.0.0.1:32767->10.0.0.2:32768]", NULL, TY_SOCK_SERVER},
		{"TCP:[10.0.0.1:32768->10.0.0.2:32769]", NULL, TY_SOCK_UNKNOWN},
		{"TCP:[10.0.0.1:80->10.0.0.2:81]", NULL, TY_SOCK_UNKNOWN},
		/* What listened decides, whatever the ports. */
		{"TCP:[10.0.0.1:50000->10.0.0.2:80]", "10.0.0.1:50000", TY_SOCK_SERVER},
		{"TCP:[10.0.0.1:80->10.0.0.2:50000]", "10.0.0.2:50000", TY_SOCK_CLIENT},
		{"TCP:[[::1]:80->[::1]:40000]", NULL, TY_SOCK_SERVER},
		/* Not what the kernel writes. */
		{"TCP:[10.0.0.1:80]", NULL, TY_SOCK_UNKNOWN},
		{"TCP:[->]", NULL, TY_SOCK_UNKNOWN},
		{"TCP:->[]", NULL, TY_SOCK_UNKNOWN},
		{"TCP:[a:80->b:40000", NULL, TY_SOCK_UNKNOWN},
		{"TCP:[80->40000]", NULL, TY_SOCK_UNKNOWN},
		{"TCP", NULL, TY_SOCK_UNKNOWN},
		{"UNIX:[/run/x]", NULL, TY_SOCK_SERVER},
		{"UDP:[10.0.0.1:53]", NULL, TY_SOCK_UNKNOWN},
		{"socket:[123]", NULL, TY_SOCK_UNKNOWN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ty_sock s = socket_named(cases[i].name, cases[i].listens);

		if (s.role != cases[i].role)
			fail_msg("%s: role %u", cases[i].name, s.role);
		assert_int_equal(s.kind, TY_FD_SOCKET);
		assert_true(s.known && s.inferred);
		assert_int_equal(s.client, cases[i].role == TY_SOCK_CLIENT);
		assert_true(ty_sock_named(cases[i].name));
	}
	assert_int_equal(socket_named("/etc/passwd", NULL).kind, TY_FD_OTHER);
	assert_false(ty_sock_named("/etc/passwd"));
	assert_false(ty_sock_named("pipe:[7]"));
}

static void bounds(void **state)
{
	struct ty_explain x = {0};
	struct ty_sock_table t = {0};

	assert_null(ty_sock_at(&x, &t, -1));
	assert_null(ty_sock_at(&x, &t, 65536));
	assert_null(ty_sock_at(&x, &t, INT64_MAX));
	assert_int_equal(t.fd.n, 0);
	assert_non_null(ty_sock_at(&x, &t, 65535));
	/* One in between was never recorded. */
	assert_int_equal(t.fd.v[1000].kind, 0);
	assert_false(t.fd.v[1000].known);
	vec_fini(&t.fd);
}

/* A child has its parent's descriptors, but neither its open requests nor its own table's. */
static void a_child_inherits(void **state)
{
	struct ty_explain x = {.fd_before = name};
	struct ty_sock_table parent = {.pid = 42, .before = true}, child = {0};
	struct ty_sock *s;

	name_of_5 = "UNIX:[/run/x]";
	s = ty_sock_at(&x, &parent, 5);
	s->open = s->used = s->replied = s->awaits_reply = s->connecting = true;
	assert_non_null(ty_sock_at(&x, &child, 900));
	assert_int_equal(ty_sock_inherit(&child, &parent), 0);
	assert_int_equal(child.fd.n, parent.fd.n);
	assert_int_equal(child.pid, 42);
	assert_true(child.before);
	assert_int_equal(child.fd.v[5].role, TY_SOCK_SERVER);
	s = &child.fd.v[5];
	assert_false(s->open || s->used || s->replied || s->awaits_reply || s->connecting);
	assert_true(parent.fd.v[5].open);
	vec_fini(&parent.fd);
	/* Of a parent without any: none. */
	assert_int_equal(ty_sock_inherit(&child, &parent), 0);
	assert_int_equal(child.fd.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_end_serves),
		cmocka_unit_test(bounds),
		cmocka_unit_test(a_child_inherits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
