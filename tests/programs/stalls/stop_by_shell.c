/* SPDX-License-Identifier: MIT */
/* A child that computes is stopped and continued by commands of a shell; its parent waits for both.
 */
#include "plant.h"

int main(int argc, char **argv)
{
	char text[200];
	pid_t p;

	if (plant_init(argc, argv))
		return 0;
	p = fork();
	if (!p) {
		plant_be(&plant->victim, the.victim);
		plant_watch(1);
		_exit(0);
	}
	plant_sleep_us(50000);
	snprintf(text, sizeof(text),
		 "kill -STOP %d; echo $$ >%s.shell; sleep 0.%03u; kill -CONT %d", p, plant_path,
		 the.ms, p);
	if (system(text))
		errx(1, "system");
	plant_turn(1);
	waitpid(p, NULL, 0);
	snprintf(text, sizeof(text), "%.180s.shell", plant_path);
	plant->culprit = (struct plant_who){.comm = "sh"};
	if (fscanf(fopen(text, "r"), "%d", (int *)&plant->culprit.tid) != 1)
		err(1, "%s", text);
	plant_truth("stopped", NULL);
	return 0;
}
