/* SPDX-License-Identifier: MIT */
/* short_lived N: N processes one after the other that do nothing but end; tids are used again. */
#include <err.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000;

	for (long i = 0; i < n; i++) {
		pid_t p = vfork();

		if (p < 0)
			err(1, "vfork");
		if (!p)
			_exit(0);
		if (waitpid(p, NULL, 0) != p)
			err(1, "waitpid");
	}
	return 0;
}
