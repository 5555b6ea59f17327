/* SPDX-License-Identifier: MIT */
/*
 * What the step tracer makes of an instruction whose bytes it has not, or not all of: a branch over
 * the edge of a page whose mapping it was not given is found; one that ends where nothing can be
 * read is a gap in the packets, and never a bit that is missing. The process stepped is this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "flow.h"
#include "step_state.h"

#if defined(__x86_64__)

enum { PAGE = 4096, CS_64 = 0x33, LIMIT = 1 << 20 };

struct stepped {
	struct ty_step_opts o;
	struct ty_step_engine e;
	struct ty_step_thread *t;
	struct user_regs_struct regs;
	struct ty_buf packets;
	uint8_t *code; /* two pages */
};

static void begin(struct stepped *s)
{
	struct ty_err err = {0};

	*s = (struct stepped){.e.fd = -1, .regs.cs = CS_64};
	s->e.o = &s->o;
	if (ty_perf_clock_open(&s->e.clock, &err))
		skip(); /* no perf events here */
	ty_buf_init(&s->e.out.perf, LIMIT);
	ty_buf_init(&s->e.out.code, LIMIT);
	s->t = ty_step_add(&s->e, getpid());
	assert_non_null(s->t);
	s->t->is64 = true;
	s->code = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(s->code != MAP_FAILED);
	memset(s->code, 0x90, 2 * PAGE);
}

static void end(struct stepped *s)
{
	s->e.failed = true; /* no process reads */
	ty_step_drop(&s->e, s->t);
	vec_fini(&s->e.threads);
	vec_fini(&s->e.processes);
	ty_buf_fini(&s->e.out.perf);
	ty_buf_fini(&s->e.out.code);
	ty_perf_clock_close(&s->e.clock);
	munmap(s->code, 2 * PAGE);
}

/* The thread is about to execute what lies there. */
static void at(struct stepped *s, const uint8_t *ip)
{
	s->t->ip = (uint64_t)(uintptr_t)ip;
	s->t->ready_ns = ty_perf_clock_now(&s->e.clock);
	ty_step_prepare(&s->e, s->t, &s->regs);
}

/* It has, and continues there. */
static void to(struct stepped *s, const uint8_t *ip)
{
	s->regs.rip = (uint64_t)(uintptr_t)ip;
	assert_false(ty_step_executed(&s->e, s->t, &s->regs));
	ty_step_prepare(&s->e, s->t, &s->regs);
}

static void test_edge(void **state)
{
	static const uint8_t je[] = {0x74, 0x10};
	struct stepped s;
	uint8_t *ip;

	begin(&s);
	ip = s.code + PAGE - 1;
	memcpy(ip, je, sizeof(je));
	assert_false(ty_step_mm_known(s.t->p->mm));
	at(&s, ip);
	assert_int_equal(TY_STEP_COND, s.t->insn.cls);
	to(&s, ip + 2);
	assert_int_equal(1, s.t->enc.tnt_n);
	end(&s);
}

static void test_unreadable(void **state)
{
	struct stepped s;
	uint8_t *edge;
	struct ty_flow *f;
	struct ty_flow_at now;
	char kinds[16] = "";
	size_t n = 0;

	if (!ty_pt_available())
		skip();
	begin(&s);
	edge = s.code + PAGE;
	edge[-1] = 0x74;
	assert_int_equal(0, mprotect(edge, PAGE, PROT_NONE));
	/* Lost: the first of all, and one behind an instruction that is known. */
	at(&s, edge - 1);
	assert_int_equal(TY_STEP_UNKNOWN, s.t->insn.cls);
	to(&s, s.code);
	to(&s, s.code + 1);
	to(&s, edge - 1); /* which a nop cannot do: it was interrupted */
	to(&s, edge - 1);
	assert_int_equal(TY_STEP_UNKNOWN, s.t->insn.cls);
	to(&s, s.code + 8);
	to(&s, s.code + 9);
	ty_step_interrupted(s.t);
	assert_int_equal(5, s.e.insns);

	f = ty_flow_new(NULL, NULL);
	assert_int_equal(0, ty_flow_thread(f, 7, 7));
	assert_int_equal(0, ty_code_map(ty_flow_code(f), 7, 0, (uintptr_t)s.code, PAGE, 0,
					ty_code_blob(ty_flow_code(f), "code", s.code, PAGE)));
	ty_flow_set_time(f, 0, 1, 0);
	assert_int_equal(0, ty_flow_add(f, -1, 7, 0, s.t->enc.out.p, s.t->enc.out.len, 0));
	assert_int_equal(0, ty_flow_start(f, NULL));
	while (ty_flow_next(f, &now) > 0 && n < sizeof(kinds) - 1)
		switch (now.item.kind) {
		case TY_FLOW_INSN: kinds[n++] = 'i'; break;
		case TY_FLOW_OVERFLOW: kinds[n++] = 'o'; break;
		case TY_FLOW_GAP: kinds[n++] = '!'; break;
		default: break;
		}
	assert_string_equal("oioi", kinds);
	ty_flow_free(f);
	end(&s);
}

#else

static void test_edge(void **state)
{
	skip();
}

static void test_unreadable(void **state)
{
	skip();
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edge),
		cmocka_unit_test(test_unreadable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
