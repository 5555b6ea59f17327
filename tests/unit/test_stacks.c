/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "buf.h"
#include "proc_maps.h"
#include "sanitized.h"
#include "stack_index.h"
#include "unwind.h"

static void put(struct ty_buf *b, struct ty_stk_head h, const void *p, size_t n)
{
	h.len = (uint32_t)n;
	ty_buf_add(b, &h, sizeof(h));
	ty_buf_add(b, p, n);
}

static void piece(struct ty_buf *b, uint64_t number, uint64_t left_out, uint32_t limited)
{
	put(b,
	    (struct ty_stk_head){
		    .kind = TY_STK_PIECE, .aux = number, .ns = left_out, .target = limited},
	    "", 0);
}

/* Two registers, a kernel address and 5 bytes of stack. */
static void stack(struct ty_buf *b, uint8_t kind, uint64_t ns, uint32_t tid, uint32_t target)
{
	uint64_t words[3] = {0xffffffff81000000, ns, tid};
	char bytes[29];

	memcpy(bytes, words, 24);
	memcpy(bytes + 24, "abcde", 5);
	put(b,
	    (struct ty_stk_head){.ns = ns,
				 .pid = tid,
				 .tid = tid,
				 .target = target,
				 .kind = kind,
				 .regs_n = 2,
				 .kernel_n = 1},
	    bytes, sizeof(bytes));
}

static void found_by_thread_and_time(void **state)
{
	struct ty_stack_index *x;
	struct ty_stack s;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	piece(&b, 0, 0, 0);
	stack(&b, TY_STK_WAIT, 3000, 7, 7);
	stack(&b, TY_STK_WAIT, 1000, 7, 7);
	stack(&b, TY_STK_NEVER - 1, 1000, 7, 7); /* of a newer tarry */
	stack(&b, TY_STK_WAIT, 1000, 8, 8);
	piece(&b, 2, 5, 3);
	stack(&b, TY_STK_WAKER, 1500, 9, 7);
	x = ty_stack_index_new(b.p, b.len);
	assert_int_equal(ty_stack_counts(x).waits, 3);
	assert_int_equal(ty_stack_counts(x).wakers, 1);
	assert_int_equal(ty_stack_counts(x).left_out, 5);
	assert_int_equal(ty_stack_counts(x).limited, 3);
	assert_int_equal(ty_stack_counts(x).pieces_missing, 1);
	assert_int_equal(ty_stack_counts(x).newer, 1);
	assert_false(ty_stack_counts(x).damaged);
	assert_true(ty_stack_of_wait(x, 7, 500, 3500, &s));
	assert_int_equal(s.head.ns, 1000);
	assert_int_equal(s.kernel[0], 0xffffffff81000000);
	assert_int_equal(s.regs[0], 1000);
	assert_int_equal(s.regs[1], 7);
	assert_int_equal(s.bytes_n, 5);
	assert_memory_equal(s.bytes, "abcde", 5);
	assert_true(ty_stack_of_wait(x, 7, 1001, 3000, &s));
	assert_int_equal(s.head.ns, 3000);
	assert_false(ty_stack_of_wait(x, 7, 1001, 2999, &s));
	assert_false(ty_stack_of_wait(x, 6, 0, 9999, &s));
	assert_true(ty_stack_of_waker(x, 7, 1000, 1500, &s));
	assert_int_equal(s.head.tid, 9);
	assert_false(ty_stack_of_waker(x, 7, 1501, 9999, &s));
	assert_false(ty_stack_of_waker(x, 9, 0, 9999, &s));
	assert_true(ty_stack_nth(x, 2, &s));
	assert_int_equal(s.head.tid, 8);
	assert_false(ty_stack_nth(x, 3, &s));
	ty_stack_index_free(x);
	ty_buf_fini(&b);
}

/* Nothing is read beyond what is there, and nothing believed behind what is wrong. */
static void damaged(void **state)
{
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	stack(&b, TY_STK_WAIT, 1000, 7, 7);
	for (size_t n = 0; n < b.len; n++) {
		char *exact = malloc(n ? n : 1);
		struct ty_stack_index *x;

		memcpy(exact, b.p, n);
		x = ty_stack_index_new(exact, n);
		assert_int_equal(ty_stack_counts(x).waits, 0);
		assert_int_equal(ty_stack_counts(x).damaged, n != 0);
		ty_stack_index_free(x);
		free(exact);
	}
	for (unsigned k = 0; k < 6; k++) {
		struct ty_stk_head *h = (void *)b.p, was = *h;
		struct ty_stack_index *x;

		if (k == 0)
			h->regs_n = TY_STK_REGS_MAX + 1;
		if (k == 1)
			h->kernel_n = 4; /* more than there is */
		if (k == 2)
			h->tid = 0;
		if (k == 3)
			h->kind = 99;
		if (k == 4)
			h->target = 1u << 31;
		if (k == 5)
			h->target = 8; /* of a wait that of another thread */
		x = ty_stack_index_new(b.p, b.len);
		assert_true(ty_stack_counts(x).damaged);
		assert_int_equal(ty_stack_counts(x).waits, 0);
		ty_stack_index_free(x);
		*h = was;
	}
	ty_buf_fini(&b);
}

/* unwinding: this very process, against backtrace(3) ---------------------------------------------
 */

struct own {
	struct ty_buf maps;
	void *trace[64];
	int trace_n;
	ucontext_t context;
	uint8_t bytes[TY_STK_BYTES];
	size_t bytes_n;
	struct ty_code *code;
	struct ty_unwinder *unwinder;
};

static void add_map(struct own *o, const struct ty_stk_map *m, const char *path)
{
	char bytes[sizeof(*m) + 4096];

	memcpy(bytes, m, sizeof(*m));
	snprintf(bytes + sizeof(*m), 4096, "%s", path);
	put(&o->maps, (struct ty_stk_head){.ns = 5, .pid = 77, .kind = TY_STK_MAP}, bytes,
	    sizeof(*m) + strlen(path) + 1);
}

static int load(void *ctx, const char *path, const uint8_t *id, size_t id_n, struct ty_bytes *out)
{
	FILE *f = fopen(path, "rb");
	struct ty_code *code = *(struct ty_code **)ctx;
	size_t cap = 64 << 20;
	uint8_t *p = malloc(cap);

	if (f && p)
		*out = (struct ty_bytes){.p = p, .n = fread(p, 1, cap, f)};
	if (f)
		fclose(f);
	if (!f || ty_code_own(code, p)) {
		free(p);
		return -TY_ENOTFOUND;
	}
	return 0;
}

static const uint8_t *top_of_stack(const ucontext_t *c)
{
#if defined(__x86_64__)
	return (const uint8_t *)c->uc_mcontext.gregs[REG_RSP];
#else
	return (const uint8_t *)c->uc_mcontext.sp;
#endif
}

static __attribute__((noinline)) void inner(struct own *o)
{
	const uint8_t *sp;

	getcontext(&o->context);
	o->trace_n = backtrace(o->trace, 64);
	sp = top_of_stack(&o->context);
	/* The environment lies above all frames. */
	o->bytes_n = 0;
	while (o->bytes_n < sizeof(o->bytes) && sp + o->bytes_n < (const uint8_t *)environ)
		o->bytes[o->bytes_n] = sp[o->bytes_n], o->bytes_n++;
	__asm__ volatile("" ::: "memory");
}

static __attribute__((noinline)) int middle(struct own *o, int n)
{
	volatile char *sized = __builtin_alloca((size_t)n);

	sized[0] = 1;
	if (n > 60)
		inner(o);
	else
		return middle(o, n + 10) + sized[0];
	__asm__ volatile("" ::: "memory");
	return sized[0];
}

static int set_up(void **state)
{
	struct own *o = calloc(1, sizeof(*o));
	struct ty_reading r = {.pid = (uint32_t)getpid()};
	struct ty_stk_map m;
	unsigned n = 0;

	*state = o;
	ty_buf_init(&o->maps, 1 << 24);
	ty_buf_init(&r.bytes, 1 << 24);
	ty_proc_maps_read(NULL, &r);
	for (size_t at = 0; at < r.bytes.len; n++) {
		const char *path = r.bytes.p + at + sizeof(m);

		memcpy(&m, r.bytes.p + at, sizeof(m));
		add_map(o, &m, path);
		at += sizeof(m) + strlen(path) + 1;
	}
	ty_buf_fini(&r.bytes);
	assert_true(n > 3);
	o->code = ty_code_new(load, &o->code);
	assert_int_equal(ty_stack_maps(o->maps.p, o->maps.len, o->code), 1);
	assert_int_equal(ty_code_ready(o->code), 0);
	o->unwinder = ty_unwinder_new(o->code, NULL);
	return 0;
}

static int tear_down(void **state)
{
	struct own *o = *state;

	ty_unwinder_free(o->unwinder);
	ty_code_free(o->code);
	ty_buf_fini(&o->maps);
	free(o);
	return 0;
}

static struct ty_stack stack_of(struct own *o)
{
	struct ty_stack s = {.head = {.ns = 9, .pid = 77, .tid = 77, .target = 77},
			     .bytes = o->bytes,
			     .bytes_n = o->bytes_n};
#if defined(__x86_64__)
	static const int order[17] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				      REG_RBP, REG_RSP, REG_R8,	 REG_R9,  REG_R10, REG_R11,
				      REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};

	s.head.regs_n = 17;
	for (int i = 0; i < 17; i++)
		s.regs[i] = (uint64_t)o->context.uc_mcontext.gregs[order[i]];
#else
	s.head.regs_n = 33;
	memcpy(s.regs, o->context.uc_mcontext.regs, 31 * 8);
	s.regs[31] = o->context.uc_mcontext.sp;
	s.regs[32] = o->context.uc_mcontext.pc;
#endif
	return s;
}

static void callers_are_those_of_backtrace(void **state)
{
	struct ty_frame f[TY_FRAMES_MAX];
	struct own *o = *state;
	enum ty_stack_end end;
	struct ty_stack s;
	size_t n;

	if (SANITIZED)
		skip();
	middle(o, 10);
	s = stack_of(o);
	n = ty_unwind(o->unwinder, &s, f, &end);
	assert_true(n >= 8);
	assert_true(f[0].exact);
	/* Of inner itself both have a place of their own. */
	for (size_t i = 1; i < n; i++) {
		assert_true(i < (size_t)o->trace_n);
		assert_false(f[i].exact || f[i].by_pointer);
		assert_int_equal(f[i].pc + 1, (uintptr_t)o->trace[i]);
	}
	assert_int_equal(end, TY_STACK_COMPLETE);
	assert_int_equal(n, o->trace_n);
}

/* Where the copy ends so does the stack, and says it. */
static void cut_where_the_copy_ends(void **state)
{
	struct ty_frame f[TY_FRAMES_MAX];
	struct own *o = *state;
	enum ty_stack_end end;
	struct ty_stack s;
	size_t all, before = 0;

	if (SANITIZED)
		skip();
	middle(o, 10);
	s = stack_of(o);
	all = ty_unwind(o->unwinder, &s, f, &end);
	for (s.bytes_n = 0; s.bytes_n < o->bytes_n && s.bytes_n < 600; s.bytes_n++) {
		const size_t n = ty_unwind(o->unwinder, &s, f, &end);

		assert_true(n >= before && n <= all);
		assert_true(n == all || end == TY_STACK_CUT);
		for (size_t i = 1; i < n; i++)
			assert_int_equal(f[i].pc + 1, (uintptr_t)o->trace[i]);
		before = n;
	}
	assert_true(before > 1);
}

/* A return address that no call precedes, or that lies nowhere, is never shown. */
static void wrong_callers_are_not_shown(void **state)
{
	struct ty_frame f[TY_FRAMES_MAX];
	struct own *o = *state;
	enum ty_stack_end end;
	struct ty_stack s;
	unsigned tried = 0;

	if (SANITIZED)
		skip();
	middle(o, 10);
	s = stack_of(o);
	for (size_t at = 0; at + 8 <= o->bytes_n && tried < 3; at += 8) {
		const uint64_t wrong[] = {2, (uintptr_t)inner, (uintptr_t)o->trace[1] + 1};
		uint64_t was;
		size_t n;

		memcpy(&was, o->bytes + at, 8);
		if (was != (uintptr_t)o->trace[2])
			continue;
		for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
			memcpy(o->bytes + at, &wrong[k], 8);
			n = ty_unwind(o->unwinder, &s, f, &end);
			for (size_t i = 1; i < n; i++)
				assert_int_not_equal(f[i].pc + 1, wrong[k]);
			assert_true(end == TY_STACK_INVALID || end == TY_STACK_NO_MAPPING || n > 2);
		}
		memcpy(o->bytes + at, &was, 8);
		tried++;
	}
	assert_true(tried > 0);
}

/* A word that the recorder removed does not end a stack as a zero does. */
static void cut_where_a_word_was_removed(void **state)
{
	const uint64_t removed = TY_STK_REMOVED, zero = 0;
	struct ty_frame f[TY_FRAMES_MAX];
	struct own *o = *state;
	enum ty_stack_end end;
	struct ty_stack s;
	bool seen = false;

	if (SANITIZED)
		skip();
	middle(o, 10);
	s = stack_of(o);
	for (size_t at = 0; at + 8 <= o->bytes_n && !seen; at += 8) {
		uint64_t was;

		memcpy(&was, o->bytes + at, 8);
		if (was != (uintptr_t)o->trace[2])
			continue;
		memcpy(o->bytes + at, &zero, 8);
		seen = ty_unwind(o->unwinder, &s, f, &end) == 2 && end == TY_STACK_COMPLETE;
		memcpy(o->bytes + at, &removed, 8);
		if (seen) {
			assert_int_equal(ty_unwind(o->unwinder, &s, f, &end), 2);
			assert_int_equal(end, TY_STACK_CUT);
		}
		memcpy(o->bytes + at, &was, 8);
	}
	assert_true(seen);
}

/* arm64: frames of code without a file, whose return addresses are signed. */
static void signed_return_addresses(void **state)
{
	enum { SP = 0x70000000, CODE = 0x400000 };
	static const struct ty_stk_map m = {.start = CODE, .bytes = 0x10000};
	const uint64_t words[4] = {SP + 16, 0x002b000000400208, 0, 0};
	struct own o = {0};
	struct ty_stack s = {.head = {.ns = 9, .pid = 77, .tid = 77, .regs_n = 33},
			     .bytes = (const uint8_t *)words,
			     .bytes_n = sizeof(words)};
	struct ty_frame f[TY_FRAMES_MAX];
	enum ty_stack_end end;

	ty_buf_init(&o.maps, 1 << 16);
	add_map(&o, &m, "//anon");
	o.code = ty_code_new(load, &o.code);
	assert_int_equal(ty_stack_maps(o.maps.p, o.maps.len, o.code), 1);
	assert_int_equal(ty_code_ready(o.code), 0);
	o.unwinder = ty_unwinder_new(o.code, NULL);
	s.regs[29] = s.regs[31] = SP;
	s.regs[32] = CODE + 0x100;
	assert_int_equal(ty_unwind(o.unwinder, &s, f, &end), 2);
	assert_true(f[1].pc == CODE + 0x207 && f[1].by_pointer);
	ty_unwinder_free(o.unwinder);
	ty_code_free(o.code);
	ty_buf_fini(&o.maps);
}

/* A Python record of the wait of thread 7 at 3000: the bytes v. */
static unsigned python(const void *v, size_t n, uint8_t flags, struct ty_python_frame *out,
		       enum ty_stk_python_end *end)
{
	struct ty_stk_head h = {
		.ns = 3000, .pid = 7, .tid = 7, .target = 7, .kind = TY_STK_PYTHON, .flags = flags};
	struct ty_stack_index *x;
	unsigned found;
	struct ty_stack s;
	struct ty_buf b;

	ty_buf_init(&b, 1 << 16);
	stack(&b, TY_STK_WAIT, 3000, 7, 7);
	stack(&b, TY_STK_WAIT, 5000, 7, 7);
	put(&b, h, v, n);
	x = ty_stack_index_new(b.p, b.len);
	assert_true(ty_stack_of_wait(x, 7, 4000, 6000, &s));
	assert_int_equal(ty_stack_python(x, &s, out, end), 0);
	assert_true(ty_stack_of_wait(x, 7, 0, 4000, &s));
	found = ty_stack_python(x, &s, out, end);
	for (unsigned i = 0; i < found && out[i].name; i++)
		assert_true(strlen(out[i].file) && strlen(out[i].name));
	ty_stack_index_free(x);
	ty_buf_fini(&b);
	return found;
}

static void python_functions(void **state)
{
	static const uint8_t v[] = {41,	 0,   0,   0,	5, 0,	2, 0,	0, 0,	0,   0,
				    'a', '.', 'p', 'y', 0, 'f', 0, 9,	0, 0,	0,   2,
				    0,	 3,   0,   1,	0, 0,	0, 'b', 0, 'g', 'h', 0};
	struct ty_python_frame f[TY_STK_PYTHON_MAX];
	enum ty_stk_python_end end;
	uint8_t bad[sizeof(v)];

	assert_int_equal(python(v, sizeof(v), TY_STK_PYTHON_MORE, f, &end), 2);
	assert_int_equal(end, TY_STK_PYTHON_MORE);
	assert_int_equal(f[0].line, 41);
	assert_false(f[0].entry);
	assert_true(f[1].entry);
	/* Cut anywhere, and with any byte changed. */
	for (size_t n = 0; n < sizeof(v); n++) {
		assert_int_equal(python(v, n, 0, f, &end), n >= 19);
		assert_int_equal(end,
				 n == 0 || n == 19 ? TY_STK_PYTHON_ALL : TY_STK_PYTHON_INVALID);
	}
	for (unsigned i = 0; i < 8 * sizeof(v); i++) {
		memcpy(bad, v, sizeof(v));
		bad[i / 8] ^= 1 << i % 8;
		assert_true(python(bad, sizeof(bad), 0, f, &end) <= 2);
	}
}

/* The ids of a record of Python are checked as those of the others. */
static void python_ids(void **state)
{
	for (unsigned k = 0; k < 6; k++) {
		struct ty_stk_head h = {
			.ns = 3000, .pid = 7, .tid = 7, .target = 7, .kind = TY_STK_PYTHON};
		struct ty_stack_index *x;
		struct ty_buf b;

		if (k == 1 || k == 2)
			h.pid = k == 1 ? 0 : 1u << 31;
		if (k == 3 || k == 4)
			h.tid = h.target = k == 3 ? 0 : 1u << 31;
		if (k == 5)
			h.target = 8;
		ty_buf_init(&b, 1 << 16);
		put(&b, h, "", 0);
		x = ty_stack_index_new(b.p, b.len);
		assert_int_equal(ty_stack_counts(x).damaged, k != 0);
		ty_stack_index_free(x);
		ty_buf_fini(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found_by_thread_and_time),
		cmocka_unit_test(damaged),
		cmocka_unit_test(python_functions),
		cmocka_unit_test(python_ids),
		cmocka_unit_test_setup_teardown(callers_are_those_of_backtrace, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_where_the_copy_ends, set_up, tear_down),
		cmocka_unit_test_setup_teardown(wrong_callers_are_not_shown, set_up, tear_down),
		cmocka_unit_test_setup_teardown(cut_where_a_word_was_removed, set_up, tear_down),
		cmocka_unit_test(signed_return_addresses),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
