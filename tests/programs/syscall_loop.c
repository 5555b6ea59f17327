/* SPDX-License-Identifier: MIT */
/* syscall_loop PROCS CALLS: PROCS processes, one per CPU when more than one, each CALLS getppid().
 */
#include <err.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int procs = argc > 1 ? atoi(argv[1]) : 1;
	long calls = argc > 2 ? atol(argv[2]) : 1000000;

	for (int i = 0; i < procs; i++) {
		pid_t p = fork();

		if (p < 0)
			err(1, "fork");
		if (p)
			continue;
		if (procs > 1) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET(i, &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		for (long k = 0; k < calls; k++)
			syscall(SYS_getppid);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
