/* SPDX-License-Identifier: MIT */
/*
 * What is hard about call stacks: every trap leaves its calls in another way than by returns. The
 * names give the expected answer: at1 is called only by a function at level 0, at2 at level 1 and
 * so on, before, inside and behind each trap; a level that is spoilt shows.
 *
 * Arguments: the traps by letter, in the order in which they run; with a capital T first, in three
 * threads at the same time (thread_main is level 0 then), else in main. Prints how often each of
 * at1, at2 ... was called in all.
 */
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__)

#define NOINLINE __attribute__((noinline, noclone))
/* A call before it is no tail call. */
#define KEEP __asm__ volatile("" ::: "memory")
enum { STACK = 65536, LEVELS = 5 };

static atomic_int counts[LEVELS];

#define AT(n)                                                                                      \
	NOINLINE static void at##n(void)                                                           \
	{                                                                                          \
		counts[n]++;                                                                       \
		KEEP;                                                                              \
	}
AT(1)
AT(2)
AT(3)
AT(4)

/* A signal for this thread, by an instruction of the caller's own. */
static inline __attribute__((always_inline)) void signal_self(int sig)
{
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "0"((long)SYS_tgkill), "D"((long)getpid()),
			   "S"((long)syscall(SYS_gettid)), "d"((long)sig)
			 : "rcx", "r11", "memory");
}

/* ---- signals: nested, on another stack, left by siglongjmp, going on elsewhere ---- */

static __thread sigjmp_buf out;
static __thread int leave;

NOINLINE static void inner_handler(int sig)
{
	at4();
	if (leave)
		siglongjmp(out, 1);
	KEEP;
}

NOINLINE static void outer_handler(int sig)
{
	at3();
	signal_self(SIGUSR2);
	at3();
	KEEP;
}

NOINLINE static void skipping_handler(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	at3();
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* ud2 */
	KEEP;
}

NOINLINE static void trap_signals(void)
{
	stack_t mine = {.ss_sp = malloc(STACK), .ss_size = STACK}, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&mine, NULL);
	for (volatile int i = 0; i < 2; i++) {
		leave = 0;
		signal_self(SIGUSR1);
		at2();
		leave = 1;
		if (!sigsetjmp(out, 1))
			signal_self(SIGUSR1);
		at2();
		__asm__ volatile("ud2" ::: "memory");
		at2();
	}
	sigaltstack(&none, NULL);
	free(mine.ss_sp);
	KEEP;
}

static void handlers(void)
{
	struct sigaction sa = {.sa_handler = outer_handler, .sa_flags = SA_ONSTACK};

	sigaction(SIGUSR1, &sa, NULL);
	sa.sa_handler = inner_handler;
	sigaction(SIGUSR2, &sa, NULL);
	sa.sa_sigaction = skipping_handler;
	sa.sa_flags = SA_ONSTACK | SA_SIGINFO;
	sigaction(SIGILL, &sa, NULL);
}

/* ---- longjmp: over several calls, and out of a recursion to one of its upper levels ---- */

static __thread jmp_buf again;

/* The first call of it is at level 2. */
NOINLINE static int recursion(int n)
{
	if (n == 1) {
		if (setjmp(again)) {
			at4();
			return 1;
		}
	}
	if (n == 4)
		longjmp(again, 1);
	n = recursion(n + 1);
	KEEP;
	return n;
}

NOINLINE static void trap_longjmp(void)
{
	for (volatile int i = 0; i < 3; i++) {
		recursion(0);
		at2();
		if (!setjmp(again))
			recursion(2);
		at2();
	}
	KEEP;
}

/* ---- stack switching: swapcontext, and by hand with a return and with a jump ---- */

struct routine {
	void *sp;
	ucontext_t context, back;
	char stack[STACK];
};

static __thread struct routine *a, *b;
static __thread void *own_sp;

void switch_by_return(void **save, void *to);
void switch_by_jump(void **save, void *to);
__asm__(".pushsection .text\n"
	".macro switcher name\n"
	".globl \\name\n.type \\name, @function\n\\name:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
	".endm\n"
	"switcher switch_by_return\nret\n.size switch_by_return, . - switch_by_return\n"
	"switcher switch_by_jump\npop %rcx\njmp *%rcx\n"
	".size switch_by_jump, . - switch_by_jump\n"
	".popsection");

/* Macros, so that the calls that switch are made where the levels are known. */
#define SWITCH(how, from, to)                                                                      \
	do {                                                                                       \
		if (how == 0)                                                                      \
			swapcontext((from) ? &(from)->context : &a->back,                          \
				    (to) ? &(to)->context : &a->back);                             \
		else if (how == 1)                                                                 \
			switch_by_return((from) ? &(from)->sp : &own_sp,                           \
					 (to) ? (to)->sp : own_sp);                                \
		else                                                                               \
			switch_by_jump((from) ? &(from)->sp : &own_sp, (to) ? (to)->sp : own_sp);  \
		KEEP;                                                                              \
	} while (0)
#define NOBODY ((struct routine *)NULL)

static __thread int how;

/* Level 3: gives up its stack in the middle, twice. */
NOINLINE static void step_a(void)
{
	at4();
	SWITCH(how, a, NOBODY);
	at4();
	SWITCH(how, a, b); /* from one routine to the other */
	at4();
	KEEP;
}

NOINLINE static void step_b(void)
{
	at4();
	SWITCH(how, b, NOBODY);
	at4();
	SWITCH(how, b, a);
	at4();
	KEEP;
}

/* Level 2, in place of what switches. */
NOINLINE static void routine_a(void)
{
	at3();
	for (;;) {
		step_a();
		at3();
	}
}

NOINLINE static void routine_b(void)
{
	at3();
	for (;;) {
		step_b();
		at3();
	}
}

static void prepare(struct routine *r, void (*run)(void))
{
	void **sp = (void **)(void *)(r->stack + STACK - 64);

	*--sp = NULL; /* as if it had been called */
	*--sp = (void *)run;
	r->sp = sp - 6;
	getcontext(&r->context);
	r->context.uc_stack = (stack_t){.ss_sp = r->stack, .ss_size = STACK};
	r->context.uc_link = NULL;
	makecontext(&r->context, run, 0);
}

NOINLINE static void trap_switches(void)
{
	a = malloc(sizeof(*a));
	b = malloc(sizeof(*b));
	for (how = 0; how < 3; how++) {
		prepare(a, routine_a);
		prepare(b, routine_b);
		at2();
		SWITCH(how, NOBODY, a); /* until its first */
		at2();
		SWITCH(how, NOBODY, b);
		at2();
		SWITCH(how, NOBODY, a); /* on, to b, on, and to a, to its end and round */
		at2();
		SWITCH(how, NOBODY, b);
		at2();
	}
	free(a);
	free(b);
	KEEP;
}

/* A routine that comes to its end. */
NOINLINE static void routine_ends(void)
{
	at3();
	SWITCH(0, a, NOBODY);
	at3();
	KEEP;
}

NOINLINE static void trap_context_ends(void)
{
	a = malloc(sizeof(*a));
	for (volatile int i = 0; i < 2; i++) {
		prepare(a, routine_ends);
		a->context.uc_link = &a->back;
		makecontext(&a->context, routine_ends, 0);
		SWITCH(0, NOBODY, a);
		at2();
		SWITCH(0, NOBODY, a);
		at2();
	}
	free(a);
	KEEP;
}

/* ---- the procedure linkage table: bound at the first call, or at the start (LD_BIND_NOW) ---- */

NOINLINE static int compare(const void *x, const void *y)
{
	at4();
	KEEP;
	return *(const int *)x - *(const int *)y;
}

NOINLINE static void trap_plt(void)
{
	int v[] = {1, 2, 3}, key = 3;
	size_t n = 3;

	for (volatile int i = 0; i < 2; i++) {
		if (!lfind(&key, v, &n, sizeof(*v), compare))
			exit(1);
		at2();
	}
	KEEP;
}

/* ---- returns and calls that are none ---- */

void odd_calls(void (*f)(void));
__asm__(".pushsection .text\n"
	".type odd_calls, @function\nodd_calls:\n"
	"push %rbx\nmov %rdi, %rbx\n"
	/* A call of the next instruction. */
	"call 1f\n1: pop %rax\n"
	/* A return used as a jump. */
	"lea 2f(%rip), %rax\npush %rax\nret\n2:\n"
	/* A call by way of a return (retpoline). */
	"jmp 4f\n"
	"3: call 5f\n6: pause\njmp 6b\n5: mov %rbx, (%rsp)\nret\n"
	"4: call 3b\n"
	/* A callee that returns by a jump, one that drops its arguments. */
	"call by_jump\npush %rax\ncall drops\n"
	"call *%rbx\npop %rbx\nret\n.size odd_calls, . - odd_calls\n"
	".type by_jump, @function\nby_jump: pop %rcx\njmp *%rcx\n.size by_jump, . - by_jump\n"
	".type drops, @function\ndrops: ret $8\n.size drops, . - drops\n"
	/* One that returns to its caller's caller. */
	".type skips, @function\nskips: add $8, %rsp\nret\n.size skips, . - skips\n"
	".type skipped, @function\nskipped: call skips\nud2\n.size skipped, . - skipped\n"
	".popsection");
void skipped(void);

NOINLINE static void trap_odd(void)
{
	for (volatile int i = 0; i < 2; i++) {
		odd_calls(at3);
		at2();
		skipped();
		at2();
	}
	KEEP;
}

/* ---- tail calls ---- */

NOINLINE static int last(int x)
{
	at3(); /* level 2 whatever jumped here */
	KEEP;
	return x + 1;
}

NOINLINE static int jumps_on(int x, int (*f)(int))
{
	at3();
	return x ? f(x) : last(x); /* jumps, one by a register */
}

NOINLINE static void trap_tail(void)
{
	jumps_on(0, last);
	at2();
	jumps_on(1, last);
	at2();
	KEEP;
}

/* ---- vfork: the child returns first, then the parent, from the same call; and exec ---- */

NOINLINE static void trap_vfork(void)
{
	pid_t p;

	fflush(NULL);
	p = vfork();
	if (!p) {
		execl("/proc/self/exe", "call_traps", "t", NULL);
		_exit(127);
	}
	at2();
	waitpid(p, NULL, 0);
	at2();
	KEEP;
}

static const char *traps;

#define RUN                                                                                        \
	for (const char *w = traps; *w; w++) {                                                     \
		switch (*w) {                                                                      \
		case 's': trap_signals(); break;                                                   \
		case 'l': trap_longjmp(); break;                                                   \
		case 'c': trap_switches(); break;                                                  \
		case 'e': trap_context_ends(); break;                                              \
		case 'p': trap_plt(); break;                                                       \
		case 'o': trap_odd(); break;                                                       \
		case 't': trap_tail(); break;                                                      \
		case 'v': trap_vfork(); break;                                                     \
		default: exit(2);                                                                  \
		}                                                                                  \
		at1();                                                                             \
	}

NOINLINE static void *thread_main(void *arg)
{
	RUN;
	return NULL;
}

static int in_threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, thread_main, NULL))
			return 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	traps = argc > 1 ? argv[1] : "slceoptv";
	handlers();
	if (*traps == 'T') {
		traps++;
		if (in_threads())
			return 1;
	} else {
		RUN;
	}
	for (int i = 1; i < LEVELS; i++)
		printf("at%d %d\n", i, counts[i]);
	return 0;
}

#else
int main(void)
{
	return 1;
}
#endif
