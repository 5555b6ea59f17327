/* SPDX-License-Identifier: MIT */
/*
 * Converts the counts of perf stat record to readings of counters (counter_record.h), an event
 * "perf:round" for each time at which perf read them, and the table of threads.
 *
 * A STAT record has the sum since the counter was enabled; a reading has what it grew by since the
 * round before. Times count from perf's start. Counters that perf read once more, without a round
 * (at the end of perf stat -I), were read when they had been enabled for that much longer.
 *
 * Memory: 24 bytes of each counter of each CPU and thread, and the readings.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checked_read.h"
#include "counter_record.h"
#include "pair_map.h"
#include "perf_reading.h"
#include "plain_text.h"

#define READINGS_BYTES (1u << 30)
#define LAST_NS	       (1ull << 58) /* nine years */
#define COUNTED_MAX    65536u	    /* CPUs and threads */
#define THREAD_BYTES   24u	    /* of THREAD_MAP: a number, a name */
#define COMM_BYTES     16u

struct value {
	uint64_t v, enabled_ns, running_ns;
};

/* A CPU or thread. */
struct counted {
	int32_t tid;
	uint16_t cpu;
	bool read;	  /* since the last round */
	uint64_t last_ns; /* the round of its last reading */
};

struct ty_perf_rounds {
	VEC(struct counted) of;
	VEC(struct value) was, now; /* for each of those, of each counter */
	struct ty_pair_map find;    /* by CPU and thread's place in the map */
	VEC(int32_t) tids;	    /* of the thread map; negative: all of a CPU */
	struct ty_buf readings;
	uint32_t counters;
	uint64_t last_ns;
	uint64_t left_out; /* records that cannot be placed: of an unknown thread, or a time that is
			    * none */
	bool more;	   /* counters, CPUs or threads than are read */
};

static int nomem(struct ty_perf_reading *rd, struct ty_err *err)
{
	return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for its counters",
		       rd->t->path);
}

static int add_facts(struct ty_perf_reading *rd)
{
	struct ty_buf b;
	struct ty_text text;
	int e;

	ty_buf_init(&b, 1 << 20);
	ty_buf_adds(&b, "counter_intervals=1\n");
	for (uint32_t i = 0; i < rd->rounds->counters; i++) {
		const struct ty_perf_event *event = &rd->p->events.v[i];
		char name[96];

		snprintf(name, sizeof(name), "%s", *event->name ? event->name : "unnamed");
		ty_plain(name, strlen(name));
		ty_buf_addf(&b, "counter=%u %s %s\n", i,
			    ty_perf_event_is_clock(event) ? "ns" : "count", name);
	}
	e = b.failed ? b.failed : ty_trace_keep_bytes(rd->t, b.p, b.len, 1 << 20, &text);
	ty_buf_fini(&b);
	return e ? e : ty_trace_add_section(rd->t, TY_SEC_MACHINE, text);
}

/* At the first record. */
static int begin(struct ty_perf_reading *rd, struct ty_err *err)
{
	const size_t events = rd->p->events.n;

	rd->rounds = calloc(1, sizeof(*rd->rounds));
	if (!rd->rounds)
		return nomem(rd, err);
	rd->rounds->counters = events < TY_COUNTERS_READ ? (uint32_t)events : TY_COUNTERS_READ;
	rd->rounds->more = events > TY_COUNTERS_READ;
	ty_buf_init(&rd->rounds->readings, READINGS_BYTES);
	return add_facts(rd) ? nomem(rd, err) : ty_perf_made_round(rd, 0, err);
}

static int thread_map(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_rd in = ty_rd_init(r->body, r->n, false);
	struct ty_perf_rounds *c = rd->rounds;
	uint64_t n = ty_rd_u64(&in);

	c->tids.n = 0;
	for (; n && ty_rd_left(&in) >= THREAD_BYTES && c->tids.n < COUNTED_MAX; n--) {
		const uint64_t tid = ty_rd_u64(&in);
		const struct ty_perf_comm of = {.pid = -1,
						.tid = tid && tid <= INT32_MAX ? (int32_t)tid : -1,
						.comm = (const char *)ty_rd_bytes(&in, COMM_BYTES)};

		if (vec_push(&c->tids, of.tid))
			return nomem(rd, err);
		ty_perf_add_thread(rd, &of);
	}
	return 0;
}

/* The place of a CPU and thread; NONE: it is not read. */
static int place_of(struct ty_perf_reading *rd, const struct ty_perf_stat *s, uint32_t *place,
		    struct ty_err *err)
{
	struct ty_perf_rounds *c = rd->rounds;
	const bool known = s->thread < c->tids.n, of_cpu = s->cpu < TY_DAT_CPUS_MAX;
	const int32_t tid = known ? c->tids.v[s->thread] : -1;
	uint32_t *at;

	*place = ty_pair_map_get(&c->find, s->cpu, s->thread);
	if (*place != TY_PAIR_NONE)
		return 0;
	if (!known || (tid < 0 && !of_cpu)) {
		c->left_out++;
		return 0;
	}
	if (c->of.n == COUNTED_MAX) {
		c->more = true;
		return 0;
	}
	at = ty_pair_map_add(&c->find, s->cpu, s->thread);
	if (!at)
		return nomem(rd, err);
	*place = *at = (uint32_t)c->of.n;
	if (vec_push(&c->of,
		     (struct counted){.tid = tid, .cpu = of_cpu ? (uint16_t)s->cpu : TY_CT_NO_CPU}))
		return nomem(rd, err);
	for (uint32_t i = 0; i < c->counters; i++)
		if (vec_push(&c->was, (struct value){0}) || vec_push(&c->now, (struct value){0}))
			return nomem(rd, err);
	if (of_cpu && s->cpu >= rd->cpus)
		rd->cpus = s->cpu + 1;
	return 0;
}

static int counted(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_perf_rounds *c = rd->rounds;
	const struct ty_perf_event *event;
	struct ty_perf_stat s;
	uint32_t place;
	size_t i;
	int e;

	event = ty_perf_stat(r, &s) ? NULL : ty_perf_event_find(rd->p, s.id);
	i = event ? (size_t)(event - rd->p->events.v) : SIZE_MAX;
	if (i >= c->counters)
		return 0;
	e = place_of(rd, &s, &place, err);
	if (e || place == TY_PAIR_NONE)
		return e;
	c->of.v[place].read = true;
	c->now.v[place * c->counters + i] = (struct value){s.value, s.enabled_ns, s.running_ns};
	return 0;
}

/* What one CPU or thread grew by. A sum that shrank is none. */
static void add_reading(struct ty_perf_rounds *c, size_t place, uint64_t ns)
{
	struct counted *of = &c->of.v[place];
	struct value *was = c->was.v + place * c->counters, *now = c->now.v + place * c->counters;
	struct ty_counter_head h = {.ns = ns,
				    .dur_ns = ns - of->last_ns,
				    .pid = (uint32_t)of->tid,
				    .tid = (uint32_t)of->tid,
				    .cpu = of->cpu};

	for (uint32_t i = 0; i < c->counters; i++)
		if (now[i].v < was[i].v || now[i].enabled_ns < was[i].enabled_ns ||
		    now[i].running_ns < was[i].running_ns)
			h.flags |= TY_CT_UNREAD;
	ty_buf_add(&c->readings, &h, sizeof(h));
	for (uint32_t i = 0; i < c->counters; i++)
		ty_buf_add(&c->readings, &(uint64_t){now[i].v - was[i].v}, 8);
	for (uint32_t i = 0; i < c->counters; i++) {
		ty_buf_add(&c->readings, &(uint64_t){now[i].enabled_ns - was[i].enabled_ns}, 8);
		ty_buf_add(&c->readings, &(uint64_t){now[i].running_ns - was[i].running_ns}, 8);
		was[i] = now[i];
	}
	of->last_ns = ns;
	of->read = false;
}

static int round_at(struct ty_perf_reading *rd, uint64_t ns, struct ty_err *err)
{
	struct ty_perf_rounds *c = rd->rounds;

	/* Of a damaged file: time does not go back, nor on for years. */
	if (ns < c->last_ns || ns > LAST_NS) {
		c->left_out++;
		return 0;
	}
	for (size_t i = 0; i < c->of.n; i++)
		if (c->of.v[i].read)
			add_reading(c, i, ns);
	c->last_ns = ns;
	return c->readings.failed ? nomem(rd, err) : ty_perf_made_round(rd, ns, err);
}

/* How much longer than at the last round the counters were enabled. */
static uint64_t longer(const struct ty_perf_rounds *c)
{
	uint64_t most = 0;

	for (size_t i = 0; i < c->now.n; i++) {
		const uint64_t was = c->was.v[i].enabled_ns, now = c->now.v[i].enabled_ns;

		if (now > was && now - was > most)
			most = now - was;
	}
	return most;
}

int ty_perf_rounds_add(struct ty_perf_reading *rd, const struct ty_perf_rec *r, struct ty_err *err)
{
	struct ty_rd in = ty_rd_init(r->body, r->n, false);
	uint64_t ns;
	int e = rd->rounds ? 0 : begin(rd, err);

	if (e || r->type == TY_PERF_STAT_CONFIG)
		return e;
	if (r->type == TY_PERF_THREAD_MAP)
		return thread_map(rd, r, err);
	if (r->type == TY_PERF_STAT)
		return counted(rd, r, err);
	ty_rd_u64(&in); /* its type */
	ns = ty_rd_u64(&in);
	return in.bad ? 0 : round_at(rd, ns, err);
}

int ty_perf_rounds_end(struct ty_perf_reading *rd, struct ty_err *err)
{
	struct ty_perf_rounds *c = rd->rounds;
	struct ty_text text;
	bool left = false;
	int e = 0;

	if (!c)
		return 0;
	vec_each (of, &c->of)
		left |= of->read;
	if (left)
		e = round_at(rd, c->last_ns + longer(c), err);
	if (e)
		return e;
	if (c->more)
		ty_trace_note(rd->t,
			      "counters beyond the first %u, or of more than %u CPUs and "
			      "threads, are left out",
			      (unsigned)TY_COUNTERS_READ, COUNTED_MAX);
	if (c->left_out)
		ty_trace_note(rd->t,
			      "%" PRIu64 " records of counters have an impossible time or thread "
			      "and are left out",
			      c->left_out);
	if (!c->readings.len)
		return 0;
	e = ty_trace_keep_bytes(rd->t, c->readings.p, c->readings.len, READINGS_BYTES, &text);
	e = e ? e : ty_trace_add_section(rd->t, TY_SEC_COUNTERS, text);
	return e ? nomem(rd, err) : 0;
}

void ty_perf_rounds_free(struct ty_perf_rounds *c)
{
	if (!c)
		return;
	vec_fini(&c->of);
	vec_fini(&c->was);
	vec_fini(&c->now);
	vec_fini(&c->tids);
	ty_pair_map_fini(&c->find);
	ty_buf_fini(&c->readings);
	free(c);
}
