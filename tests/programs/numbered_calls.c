/* SPDX-License-Identifier: MIT */
/*
 * numbered_calls CALLS ROUND: so many lseek(-1, NUMBER, NOISE), NUMBER from 1 on, a millisecond's
 * sleep after each ROUND of them. NOISE does not compress. All fail and do nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 1000, round = argc > 2 ? atol(argv[2]) : 100;
	uint64_t noise = 1;

	for (long i = 1; i <= calls; i++) {
		noise = noise * 6364136223846793005u + 1442695040888963407u;
		syscall(SYS_lseek, -1L, i, noise ^ noise >> 29);
		if (!(i % round))
			usleep(1000);
	}
	return 0;
}
