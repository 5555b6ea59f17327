/* SPDX-License-Identifier: MIT */
/*
 * Functions with known shares of CPU time: alpha, beta (whose work is inlined into it) and deep,
 * which recurses. argv: rounds, threads besides main, "jit": jitted, too, which is made at run time
 * and has its name in /tmp/perf-PID.map (x86-64). Each call does between none and twice its mean of
 * work, by chance: rounds of one length that is a multiple of the clock's period would be sampled
 * at the same places each time. Each thread measures its own functions by the CPU clock; standard
 * output has "NAME NS" in the end, all threads together.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

enum { ALPHA, BETA, DEEP, JITTED, FUNCS };
static void (*jitted)(int n);
static _Atomic uint64_t took[FUNCS];
static int rounds;
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline __attribute__((always_inline)) void inlined_work(int n)
{
	for (int i = 0; i < n; i++)
		sink += (uint64_t)i;
}

APART static void alpha(int n)
{
	for (int i = 0; i < n; i++)
		sink += (uint64_t)i;
}

APART static void beta(int n)
{
	inlined_work(n);
	__asm__ volatile("");
}

APART static void deep(int level, int n)
{
	if (level)
		deep(level - 1, n);
	else
		for (int i = 0; i < n; i++)
			sink += (uint64_t)i;
	__asm__ volatile("");
}

/* A loop of n with a frame. */
static void make_jitted(void)
{
	static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, /* push rbp; mov rbp,rsp */
				       0x83, 0x04, 0x24, 0x00, /* 1: add [rsp],0 */
				       0xff, 0xcf, 0x75, 0xf8,
				       0x5d, 0xc3}; /* dec edi; jnz 1b; pop; ret */
	uint8_t *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *f;

	if (p == MAP_FAILED)
		exit(1);
	memcpy(p, code, sizeof(code));
	mprotect(p, 4096, PROT_READ | PROT_EXEC);
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	if (!f)
		exit(1);
	fprintf(f, "%lx %zx jitted\n", (unsigned long)p, sizeof(code));
	fclose(f);
	jitted = (void (*)(int))p;
}

/* A number from 0 to 2 * mean (xorshift32); *seed is not 0. */
static int about(int mean, uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return (int)((uint64_t)*seed * (2 * (unsigned)mean + 1) >> 32);
}

APART static void *work(void *arg)
{
	uint32_t seed = arg ? 0x9e3779b9 : 0x85ebca6b;
	volatile uint64_t secret[8]; /* on the stack while samples are taken; in no file */

	for (unsigned i = 0; i < 8; i++)
		secret[i] = 0x5345435245540000 ^ 0x0101010101010101 ^ i;
	for (int i = 0; i < rounds; i++) {
		const uint64_t a = cpu_ns();
		uint64_t b, c;

		alpha(about(2500000, &seed));
		b = cpu_ns();
		beta(about(1500000, &seed));
		c = cpu_ns();
		deep(20, about(1000000, &seed));
		took[ALPHA] += b - a;
		took[BETA] += c - b;
		took[DEEP] += cpu_ns() - c;
		if (jitted) {
			const uint64_t d = cpu_ns();

			jitted(1 + about(2000000, &seed));
			took[JITTED] += cpu_ns() - d;
		}
	}
	sink += secret[rounds & 7];
	return arg;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"alpha", "beta", "deep", "jitted"};
	int threads = argc > 2 ? atoi(argv[2]) : 0;
	pthread_t t[64];

	rounds = argc > 1 ? atoi(argv[1]) : 10;
	threads = threads < 64 ? threads : 64;
	if (argc > 3)
		make_jitted();
	for (int i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, work, &rounds))
			return 1;
	work(NULL);
	for (int i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < FUNCS - !jitted; i++)
		printf("%s %llu\n", names[i], (unsigned long long)took[i]);
	return 0;
}
