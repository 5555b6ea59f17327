/* SPDX-License-Identifier: MIT */
/* Requests through one pipe, answers through another. */
#include "service.h"

static int there[2], back[2];

static void ask(void)
{
	char c = 'q';

	if (write(there[1], &c, 1) != 1)
		err(1, "pipe");
}

static void take(void)
{
	char c;

	if (read(back[0], &c, 1) != 1)
		err(1, "pipe");
}

static void hear(void)
{
	char c;

	if (read(there[0], &c, 1) != 1)
		err(1, "pipe");
}

static void answer(void)
{
	char c = 'a';

	if (write(back[1], &c, 1) != 1)
		err(1, "pipe");
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	service_run();
	plant_truth("pipe", "read");
	return 0;
}
