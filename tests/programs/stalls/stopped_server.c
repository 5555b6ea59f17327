/* SPDX-License-Identifier: MIT */
/* The server does not answer because a third process has stopped it. */
#include "plant.h"

static int there[2], back[2];
static _Atomic int *server_pid;
static const char *server_name;

static void server(void)
{
	char c;

	plant_be(&plant->hop[0], server_name);
	atomic_store(server_pid, getpid());
	plant_turn(1);
	while (read(there[0], &c, 1) == 1 && c != 'x')
		if (write(back[1], &c, 1) != 1)
			err(1, "server");
}

static void culprit(void)
{
	plant_be(&plant->culprit, the.culprit);
	plant_await(2);
	kill(atomic_load(server_pid), SIGSTOP);
	plant_turn(3);
	plant_spend_ms(the.way, the.ms);
	kill(atomic_load(server_pid), SIGCONT);
}

static void ask(void)
{
	char c = 'q';

	if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
		err(1, "client");
}

static void victim(void)
{
	struct plant_part s;
	uint64_t t;

	plant_be(&plant->victim, the.victim);
	plant_start(&s, PLANT_CHILD, server);
	plant_await(1);
	for (unsigned i = 0; i < the.before % 5; i++)
		ask();
	plant_turn(2);
	plant_await(3);
	t = plant_begin();
	ask();
	plant_end(t);
	plant_work(the.after);
	if (write(there[1], "x", 1) != 1)
		err(1, "client");
	plant_finish(&s);
}

int main(int argc, char **argv)
{
	if (plant_init(argc, argv))
		return 0;
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	server_name = plant_new_name();
	server_pid = (void *)plant->own;
	plant_run_as(plant_pick(2) ? PLANT_MAIN : PLANT_CHILD, victim, PLANT_CHILD, culprit);
	plant_truth("chain", NULL);
	return 0;
}
