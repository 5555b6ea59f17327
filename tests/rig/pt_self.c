/* SPDX-License-Identifier: MIT */
/*
 * A program that traces itself: on each CPU in turn it runs a loop of known length and gives what a
 * CPU with Intel PT would have written of it to aux_replay.c. The decoder has to find exactly these
 * instructions, of this thread, on these CPUs. x86-64 only.
 *
 * Usage: pt_self ROUNDS LOOPS: prints per CPU "cpu N insns M first ADDRESS last ADDRESS".
 */
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef __x86_64__
#include <x86intrin.h>

#include "pt_encode.h"

enum { CPUS = 2 };

void counted(unsigned loops);
extern const char counted_again[], counted_end[];
/* 2 instructions a loop, and the return. */
__asm__(".pushsection .text\n"
	"counted: .globl counted\n"
	".type counted, @function\n"
	"counted_again: dec %edi\n"
	"jnz counted_again\n"
	"counted_end: ret\n"
	".size counted, . - counted\n"
	".popsection");

/* What PT records of one call. */
static void trace(struct ty_pt_enc *e, unsigned loops)
{
	uint64_t tsc = __rdtsc();

	ty_pt_enc_on(e, tsc, (uint64_t)counted_again, true);
	counted(loops);
	for (unsigned i = 1; i <= loops; i++)
		ty_pt_enc_cond(e, tsc, i < loops);
	ty_pt_enc_off_to(e, (uint64_t)trace);
}

int main(int argc, char **argv)
{
	unsigned rounds = argc == 3 ? (unsigned)atoi(argv[1]) : 0,
		 loops = argc == 3 ? (unsigned)atoi(argv[2]) : 0;
	int fd = open("/dev/aux_replay", O_WRONLY);
	uint64_t insns = (uint64_t)rounds * (2 * loops + 1);
	struct ty_pt_enc e;

	if (fd < 0 || !loops)
		return 1;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			return 1;
		ty_pt_enc_init(&e, 1 << 20);
		for (unsigned i = 0; i < rounds; i++) {
			trace(&e, loops);
			if (write(fd, e.out.p, e.out.len) != (ssize_t)e.out.len) {
				perror("/dev/aux_replay");
				return 1;
			}
			ty_buf_reset(&e.out);
		}
		ty_pt_enc_fini(&e);
		printf("cpu %d insns %" PRIu64 " first %#" PRIx64 " last %#" PRIx64 "\n", cpu,
		       insns, (uint64_t)counted_again, (uint64_t)counted_end);
	}
	return 0;
}
#else
int main(void)
{
	return 1;
}
#endif
