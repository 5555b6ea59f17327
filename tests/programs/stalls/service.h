/* SPDX-License-Identifier: MIT */
/*
 * A service and its client: the client sends requests and waits for each answer; all are quick but
 * one. The server waits for requests, which is no stall. How both talk is the program's: it gives
 * ask (client: send, then wait for the answer), hear (server: wait for a request) and answer.
 */
#ifndef TY_SERVICE_H
#define TY_SERVICE_H

#include "plant.h"

static void ask(void), hear(void), answer(void);
static unsigned requests, slow;

static void server(void)
{
	plant_be(&plant->culprit, the.culprit);
	for (unsigned i = 0; i < requests; i++) {
		hear();
		if (i == slow)
			plant_spend_ms(the.way, the.ms);
		answer();
	}
}

static void client(void)
{
	plant_be(&plant->victim, the.victim);
	for (unsigned i = 0; i < requests; i++) {
		uint64_t t;

		plant_work(1 + the.before % 3);
		t = plant_begin();
		ask();
		if (i == slow)
			plant_end(t);
	}
	plant_work(the.after);
}

static inline void service_run(enum plant_as c, enum plant_as s)
{
	requests = plant_between(1, 8);
	slow = plant_pick(requests);
	plant_run_as(c, client, s, server);
}

#endif
