/* SPDX-License-Identifier: MIT */
/* No stall: work that is shared by threads or children, which are waited for; then it is summed up.
 */
#include "plant.h"

static void *share(void *arg)
{
	/* Shorter than what is reported of a thread that waits for its CPU. */
	plant_spin_ms(20 + the.before);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t[2];
	pid_t p[2];

	if (plant_init(argc, argv))
		return 0;
	plant_be(NULL, the.victim);
	for (int i = 0; i < 2; i++) {
		if (the.way % 2) {
			if (pthread_create(&t[i], NULL, share, NULL))
				errx(1, "pthread_create");
		} else if (!(p[i] = fork())) {
			share(NULL);
			_exit(0);
		}
	}
	for (int i = 0; i < 2; i++)
		the.way % 2 ? pthread_join(t[i], NULL) : waitpid(p[i], NULL, 0);
	plant_work(the.after);
	plant_truth("none", NULL);
	return 0;
}
