/* SPDX-License-Identifier: MIT */
/*
 * What is hard about executed instructions and call stacks, one trap after the other, without much
 * code around: signals in a loop and in system calls that are restarted, faults, longjmp, threads,
 * vfork and exec, code written at run time and written over, repeated string instructions, the
 * flags register, forks, calls with known nesting. Argument: the traps to run, by letter; "calls"
 * is what the call tests ask about.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP	 __asm__ volatile("" ::: "memory")

static volatile int hits;
static sigjmp_buf back;

NOINLINE static void on_alarm(int sig)
{
	hits++;
}

NOINLINE static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static void signals(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 20000}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	char c;
	int fds[2];

	sigaction(SIGALRM, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	/* A read that the alarm interrupts and that is restarted; the child ends it. */
	if (pipe(fds))
		exit(1);
	if (!fork()) {
		usleep(100000);
		_exit(write(fds[1], "x", 1) != 1);
	}
	setitimer(ITIMER_REAL, &soon, NULL);
	if (read(fds[0], &c, 1) != 1)
		exit(1);
	wait(NULL);
	/* Ignored: the call continues without a handler. */
	signal(SIGALRM, SIG_IGN);
	setitimer(ITIMER_REAL, &soon, NULL);
	usleep(60000);
	sa.sa_handler = on_fault;
	sigaction(SIGSEGV, &sa, NULL);
	for (int i = 0; i < 3; i++)
		if (!sigsetjmp(back, 1))
			*(volatile int *)(uintptr_t)(16 + i) = 1;
}

static jmp_buf top;
static volatile int leave = 1;

NOINLINE static int deep(int n)
{
	if (!n && leave)
		longjmp(top, 7);
	if (!n)
		return 0;
	n = deep(n - 1);
	KEEP;
	return n + 1;
}

NOINLINE static int jumps(void)
{
	int n = 0;

	for (volatile int i = 0; i < 3; i++)
		if (!setjmp(top))
			n += deep(5);
	return n;
}

static void *worker(void *arg)
{
	long sum = 0;

	for (volatile int i = 0; i < 500; i++)
		sum += i;
	return (void *)sum;
}

static void threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

/* mov $n, %eax; ret - and then another n over it, at the same place. */
static void writes_code(void)
{
	unsigned char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	if (p == MAP_FAILED)
		exit(1);
	p += 4094; /* over the edge of a page */
	for (int n = 0; n < 4; n++) {
		unsigned char mov[] = {0xb8, (unsigned char)n, 0, 0, 0, 0xc3};
		unsigned char inc[] = {0x31, 0xc0, 0xff, 0xc0, 0x90, 0xc3};

		memcpy(p, n & 1 ? inc : mov, 6);
		sum += ((int (*)(void))(uintptr_t)p)();
		sum += ((int (*)(void))(uintptr_t)p)();
	}
	if (sum != 8)
		exit(1);
}

static void repeats(void)
{
	static char a[300], b[300];
	char *d = b, *s = a;
	size_t n = sizeof(a);

	memset(a, 'x', sizeof(a) - 1);
	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
	d = b;
	n = sizeof(b);
	__asm__ volatile("repne scasb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
	n = 0;
	__asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(0) : "memory");
}

NOINLINE static int leaf(int x)
{
	KEEP;
	return x * 3;
}

NOINLINE static int tail(int x)
{
	KEEP;
	return leaf(x + 1); /* a jump at -O2 */
}

NOINLINE static int middle(int x)
{
	int a = leaf(x);

	KEEP;
	a += tail(x);
	KEEP;
	/* A call of the next instruction: pushes an address that no call returns to. */
	__asm__ volatile("call 1f\n1: pop %%rax" ::: "rax", "memory");
	return a;
}

NOINLINE static int calls(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		sum += middle(i);
		KEEP;
	}
	return sum;
}

/* Fifty alike, but for one that has more to do. */
NOINLINE static int refill(void)
{
	int sum = 0;

	for (int i = 0; i < 100; i++) {
		sum += i;
		KEEP;
	}
	return sum;
}

NOINLINE static int request(int i)
{
	int sum = leaf(i);

	KEEP;
	if (i == 31)
		sum += refill();
	KEEP;
	return sum;
}

static int requests(void)
{
	int sum = 0;

	for (int i = 0; i < 50; i++) {
		sum += request(i);
		KEEP;
	}
	return sum;
}

/* The stepping's own trap flag must not be seen. */
static void flags(void)
{
	unsigned long f;

	__asm__ volatile("pushf; pop %0" : "=r"(f));
	if (f & 0x100)
		exit(1);
	__asm__ volatile("pushf; popf" ::: "cc", "memory");
}

static void runs_others(void)
{
	pid_t p = vfork();

	if (!p) {
		execl("/proc/self/exe", "flow_traps", "c", NULL);
		_exit(127);
	}
	waitpid(p, NULL, 0);
}

/* A branch that begins on a page's last byte, taken and not, in children that know no more of their
 * mappings than their parent did. */
static void forks(void)
{
	/* test %edi, %edi; je 1f; inc %edi; 1: mov %edi, %eax; ret */
	static const unsigned char body[] = {0x85, 0xff, 0x74, 0x02, 0xff, 0xc7, 0x89, 0xf8, 0xc3};
	unsigned char *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*f)(int);

	if (p == MAP_FAILED)
		exit(1);
	p += 4096 - 3;
	memcpy(p, body, sizeof(body));
	f = (int (*)(int))(uintptr_t)p;
	for (int i = 0; i < 10; i++) {
		int status = 0;

		if (!fork())
			_exit(f(i & 1) + f(0) + f(1));
		if (wait(&status) < 0 || WEXITSTATUS(status) != 2 * (i & 1) + 2)
			exit(1);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "sjtwrcvf";
	int sum = 0;

	for (; *what; what++)
		switch (*what) {
		case 's': signals(); break;
		case 'j': sum += jumps(); break;
		case 't': threads(); break;
		case 'w': writes_code(); break;
		case 'r': repeats(); break;
		case 'c': sum += calls(10); break;
		case 'R': sum += requests(); break;
		case 'v': runs_others(); break;
		case 'f': flags(); break;
		case 'p': forks(); break;
		default: return 2;
		}
	return sum < 0;
}
