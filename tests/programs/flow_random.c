/* SPDX-License-Identifier: MIT */
/*
 * flow_random SEED ROUNDS: control flow by chance, the same for the same seed: conditional
 * branches, jumps and calls through tables, recursion, tail calls, repeated strings, system calls,
 * signals and longjmp. Some 130 instructions per round.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAR __attribute__((noinline))

static uint64_t state;
static volatile uint64_t sink;
static sigjmp_buf back;

static inline unsigned any(unsigned n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % n;
}

static void on_signal(int sig)
{
	if (any(2))
		siglongjmp(back, 1);
	sink += (uint64_t)sig;
}

FAR static void leaf(unsigned n)
{
	for (unsigned i = any(8); i--;)
		sink += any(3) ? n : i;
}

FAR static void tail(unsigned n)
{
	sink++;
	leaf(n + 1);
}

FAR static void deep(unsigned n)
{
	if (n)
		deep(n - 1);
	sink += n;
}

FAR static void table(unsigned n)
{
	static const void *const to[] = {&&a, &&b, &&c, &&d};

	for (unsigned i = any(6); i--;) {
		goto *to[any(4)];
	a:
		sink += n;
	b:
		sink ^= 5;
		continue;
	c:
		sink--;
	d:;
	}
}

FAR static void text(unsigned n)
{
	static char from[64], to[64];
	char *d = to, *s = from;
	size_t k = any(64);

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(k)::"memory");
	sink += n;
}

FAR static void kernel(unsigned n)
{
	if (!any(8))
		raise(any(2) ? SIGUSR1 : SIGUSR2);
	else
		sink += (uint64_t)getppid() + n;
}

int main(int argc, char **argv)
{
	static void (*const calls[])(unsigned) = {leaf, tail, deep, table, text, kernel};
	volatile unsigned rounds = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 0) : 100;
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};

	state = 0x9e3779b97f4a7c15ull * (1 + (argc > 1 ? strtoull(argv[1], NULL, 0) : 0));
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	sigsetjmp(back, 1);
	while (rounds) {
		unsigned k = any(64);

		rounds--;
		calls[k < 60 ? k % 5 : 5](any(12));
	}
	return 0;
}
