/* SPDX-License-Identifier: MIT */
/* The answer for a whole machine: users of the CPUs, waits for them, activity of the disks. */
#include "answer_priv.h"

#include <stdio.h>
#include <stdlib.h>

#include "compare.h"
#include "thread_stats.h"
#include "units.h"
#include "window.h"
#include "process_titles.h"

#define DISKS 16

/* Threads of one name. */
struct group {
	uint64_t ran_ns, ready_ns;
	uint32_t name, n, one;
};

ORDER(by_name, struct group, compare(a->name, b->name) ?: compare(b->ran_ns, a->ran_ns))

ORDER(by_ran, struct group, compare(b->ran_ns, a->ran_ns) ?: compare(a->one, b->one))

/* In place; how many. */
static uint32_t join(struct group *g, uint32_t n)
{
	uint32_t to = 0;

	qsort(g, n, sizeof(*g), by_name);
	for (uint32_t i = 0; i < n; i++) {
		if (to && g[i].name && g[to - 1].name == g[i].name) {
			g[to - 1].ran_ns += g[i].ran_ns;
			g[to - 1].ready_ns += g[i].ready_ns;
			g[to - 1].n++;
		} else {
			g[to++] = g[i];
		}
	}
	qsort(g, to, sizeof(*g), by_ran);
	return to;
}

static void say_group(const struct ty_model *m, const struct group *g, char *out, size_t size)
{
	if (g->n > 1)
		ty_comm_several(out, size, ty_model_str(m, g->name), g->n, "threads");
	else
		snprintf(out, size, "%s", ty_who_last(m, g->one));
}

static void note_ready(const struct ty_model *m, const struct group *g, uint32_t n,
		       struct ty_answer *out)
{
	uint64_t all = 0;
	uint32_t most = 0;
	char who[96];

	for (uint32_t i = 0; i < n; i++) {
		all += g[i].ready_ns;
		most = g[i].ready_ns > g[most].ready_ns ? i : most;
	}
	if (!all)
		return;
	say_group(m, &g[most], who, sizeof(who));
	ty_answer_note(out, "all threads together waited %s for a CPU; %s waited %s of that",
		       ty_duration(all), who, ty_duration(g[most].ready_ns));
}

/* Time in which at least one request was at the device, requests, bytes. */
struct disk {
	uint64_t busy_ns, to_ns, bytes, n, longest_ns;
	uint32_t major, minor;
};

static void note_disks(const struct ty_explain *x, const struct ty_window *w, struct ty_answer *out)
{
	const struct ty_model *m = x->m;
	struct disk v[DISKS] = {0}, *most = v;
	uint32_t n = 0, ios = ty_model_ios(m);
	char disk[TY_DISK_TEXT], of[40] = "";

	for (uint32_t i = 0; i < ios; i++) {
		struct ty_io io = ty_model_io(m, i);
		uint64_t from = io.start_ns > w->from_ns ? io.start_ns : w->from_ns,
			 to = io.end_ns < w->to_ns ? io.end_ns : w->to_ns;
		uint32_t k = 0;

		if (io.start_ns >= w->to_ns)
			break;
		if (from >= to)
			continue;
		while (k < n && (v[k].major != io.major || v[k].minor != io.minor))
			k++;
		if (k == DISKS)
			continue;
		if (k == n)
			v[n++] = (struct disk){.major = io.major, .minor = io.minor};
		v[k].n++;
		v[k].bytes += io.bytes;
		if (to - from > v[k].longest_ns)
			v[k].longest_ns = to - from;
		from = from > v[k].to_ns ? from : v[k].to_ns;
		if (to > from) {
			v[k].busy_ns += to - from;
			v[k].to_ns = to;
		}
	}
	for (uint32_t k = 1; k < n; k++)
		most = v[k].busy_ns > most->busy_ns ? &v[k] : most;
	if (n > 1)
		snprintf(of, sizeof(of), " (the busiest of %u disks)", n);
	if (n)
		ty_answer_note(out, "%s was busy for %s: %s request%s, %s, the longest %s%s",
			       ty_explain_disk(x, most->major, most->minor, disk),
			       ty_duration(most->busy_ns), ty_count(most->n),
			       most->n == 1 ? "" : "s", ty_byte_count(most->bytes),
			       ty_duration(most->longest_ns), of);
}

/* The process that spent most time in requests. */
static void note_requests(const struct ty_model *m, const struct ty_requests *q,
			  struct ty_answer *out)
{
	const struct ty_service *s = q && q->services_n ? &q->services[0] : NULL;
	char of[72] = "";

	if (!s || !s->n)
		return;
	if (q->services_n > 1)
		snprintf(of, sizeof(of), " (of %u servers, the one with the most request time)",
			 q->services_n);
	ty_answer_note(out, "%s replied to %s request%s: p50 %s, max %s%s",
		       ty_who_process(m, s->process), ty_count(s->n), s->n == 1 ? "" : "s",
		       ty_duration(s->p50_ns), ty_duration(s->max_ns), of);
}

int ty_answer_machine(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out)
{
	const struct ty_model *m = x->m;
	uint64_t window = out->end_ns - out->start_ns, items = 0, named_ns;
	uint32_t n = 0, cpus = 0;
	struct ty_thread_stats *stats = NULL;
	struct group *g = NULL;
	char who[96];
	int r = ty_thread_stats(m, w, &stats, &n);

	if (!r) {
		g = calloc((size_t)n + 1, sizeof(*g));
		r = g ? 0 : -TY_ENOMEM;
	}
	if (r) {
		free(stats);
		return r;
	}
	for (uint32_t cpu = 0; cpu < ty_model_summary(m)->cpus; cpu++) {
		struct ty_cell c = {0};

		if (!ty_window_cpu(w, cpu))
			continue;
		cpus++;
		if (ty_model_cpu_spans(m, cpu) && window)
			ty_model_cells(m, (struct ty_track){TY_TRACK_CPU, cpu}, out->start_ns,
				       out->end_ns, 1, &c);
		out->part_ns[TY_PART_CPU] += c.ns[TY_ST_RUNNING];
		out->part_ns[TY_PART_IDLE] += c.ns[TY_ST_IDLE];
	}
	out->of = TY_ANSWER_MACHINE;
	out->total_ns = cpus * window;
	named_ns = out->part_ns[TY_PART_CPU] + out->part_ns[TY_PART_IDLE];
	out->part_ns[TY_PART_UNKNOWN] = out->total_ns - named_ns;
	for (uint32_t i = 0; i < n; i++)
		g[i] = (struct group){.ran_ns = stats[i].ns[TY_ST_RUNNING],
				      .ready_ns = stats[i].ns[TY_ST_RUNNABLE],
				      .name = ty_model_thread(m, stats[i].thread)->name,
				      .n = 1,
				      .one = stats[i].thread};
	n = join(g, n);
	for (uint32_t i = 0; i < n && out->items < TY_ANSWER_ITEMS && g[i].ran_ns; i++) {
		struct ty_answer_item *t = &out->item[out->items];

		if (items >= out->part_ns[TY_PART_CPU] / 10 * 9)
			break;
		*t = (struct ty_answer_item){.ns = g[i].ran_ns,
					     .thread = g[i].one,
					     .threads = g[i].n,
					     .part = TY_PART_CPU};
		say_group(m, &g[i], who, sizeof(who));
		snprintf(t->text, sizeof(t->text), "%s ran", who);
		items += g[i].ran_ns;
		out->items++;
	}
	for (uint32_t i = out->items; i < n; i++)
		out->rest += g[i].ran_ns > 0;
	/* The rest of the busy time: idle and unknown time belong to no thread. */
	out->rest_ns = out->part_ns[TY_PART_CPU] > items ? out->part_ns[TY_PART_CPU] - items : 0;
	snprintf(out->head, sizeof(out->head), "%u CPU%s over %s were %.0f%% busy", cpus,
		 cpus == 1 ? "" : "s", ty_duration(window),
		 out->total_ns ? 100.0 * (double)out->part_ns[TY_PART_CPU] / (double)out->total_ns
			       : 0.0);
	if (out->total_ns && !named_ns)
		snprintf(out->head, sizeof(out->head), "what %u CPU%s did over %s is unknown", cpus,
			 cpus == 1 ? "" : "s", ty_duration(window));
	snprintf(out->sum_of, sizeof(out->sum_of), "time of all CPUs: ");
	note_ready(m, g, n, out);
	note_requests(m, requests, out);
	note_disks(x, w, out);
	free(g);
	free(stats);
	return 0;
}
