/* SPDX-License-Identifier: MIT */
/* A terminal's other side is slow to answer; the kernel hands the answer on by a worker of its own.
 */
#include <termios.h>

#include "plant.h"

int main(int argc, char **argv)
{
	struct termios raw;
	int m, s;
	uint64_t t;
	pid_t p;
	char c = 'q';

	if (plant_init(argc, argv))
		return 0;
	m = posix_openpt(O_RDWR | O_NOCTTY);
	if (m < 0 || grantpt(m) || unlockpt(m) || (s = open(ptsname(m), O_RDWR | O_NOCTTY)) < 0)
		plant_skip("no terminals can be made here");
	tcgetattr(s, &raw);
	cfmakeraw(&raw);
	tcsetattr(s, TCSANOW, &raw);
	p = fork();
	if (!p) {
		plant_be(&plant->culprit, the.culprit);
		if (read(s, &c, 1) != 1)
			err(1, "slave");
		plant_spend_ms(the.way, the.ms);
		if (write(s, &c, 1) != 1)
			err(1, "slave");
		plant_await(1);
		_exit(0);
	}
	plant_be(&plant->victim, the.victim);
	plant_work(the.before);
	t = plant_begin();
	if (write(m, &c, 1) != 1 || read(m, &c, 1) != 1)
		err(1, "master");
	plant_end(t);
	plant_work(the.after);
	plant_turn(1);
	waitpid(p, NULL, 0);
	plant_truth("terminal", "read");
	return 0;
}
