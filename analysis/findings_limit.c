/* SPDX-License-Identifier: MIT */
/*
 * Calls that failed because a limit was reached (descriptors, space, quota, watches, processes),
 * however few. Of descriptors and processes: with the longest time from a thread's failure to its
 * next success of the same call. (Of space that would need the same file.)
 */
#include "findings_priv.h"

#include <errno.h>

#include "process_of_thread.h"
#include "units.h"
#include "wakeup.h"

#define SECOND_NS UINT64_C(1000000000)
#define WAKEUPS	  512 /* of each thread are examined */
#define CLIENTS	  64  /* are counted */
#define PACKETS	  8   /* fewer say nothing */

static const struct {
	int error;
	bool any_object; /* the limit is the same for each object of the call */
	const char *words;
} limits[] = {
	{EMFILE, true, "EMFILE (too many open files in the process)"},
	{ENFILE, true, "ENFILE (too many open files in the system)"},
	{ENOSPC, false, "ENOSPC (no space or other resource left)"},
	{EDQUOT, false, "EDQUOT (disk quota exceeded)"},
	{ENOBUFS, false, "ENOBUFS (no buffer space)"},
	{EAGAIN, true, "EAGAIN (limit of processes)"}, /* of calls that make one */
};

int ty_limit_of(const struct ty_sysrow *row, int64_t ret)
{
	for (int i = 0; i < (int)(sizeof(limits) / sizeof(*limits)); i++)
		if (ret == -limits[i].error &&
		    (limits[i].error != EAGAIN || row->class == TY_SC_FORK))
			return i;
	return -1;
}

/* Makes a descriptor or a process whenever it succeeds: not fcntl, ioctl or bpf. */
static bool is_one_deed(const struct ty_sysrow *row)
{
	return row->class == TY_SC_FORK || row->fds == TY_FDS_NEW || row->fds == TY_FDS_PAIR ||
	       row->fds == TY_FDS_DUP || row->fds == TY_FDS_DUP2;
}

void ty_limit_begin(struct ty_limit_watch *p, uint32_t thread)
{
	p->thread = thread;
	p->open = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->v[i].since_ns = 0;
}

void ty_limit_failed(struct ty_limit_watch *p, int limit, uint32_t call, int32_t nr, uint8_t abi,
		     uint64_t start_ns, uint64_t end_ns)
{
	const struct ty_sysrow *row = ty_syscall_row(p->k->x->arch, abi, nr);
	uint32_t name = ty_model_thread(p->k->x->m, p->thread)->name;
	struct ty_limit_group *g = p->v;

	while (g < p->v + p->n && (g->name != name || g->limit != limit))
		g++;
	if (g == p->v + TY_LIMIT_GROUPS)
		return;
	if (g == p->v + p->n) {
		p->n++;
		*g = (struct ty_limit_group){.name = name,
					     .thread = p->thread,
					     .call = call,
					     .nr = nr,
					     .abi = abi,
					     .limit = limit,
					     .at_ns = start_ns};
	}
	g->several |= g->thread != p->thread;
	g->other_calls |= g->nr != nr || g->abi != abi;
	g->failed++;
	g->fail_ns += end_ns - start_ns;
	if (limits[limit].any_object && is_one_deed(row) && !g->since_ns && g->nr == nr &&
	    g->abi == abi) {
		g->since_ns = start_ns;
		p->open++;
	}
}

void ty_limit_succeeded(struct ty_limit_watch *p, int32_t nr, uint8_t abi, uint64_t end_ns)
{
	for (unsigned i = 0; i < p->n; i++) {
		struct ty_limit_group *g = &p->v[i];

		if (!g->since_ns || g->nr != nr || g->abi != abi)
			continue;
		g->longest_ns =
			end_ns - g->since_ns > g->longest_ns ? end_ns - g->since_ns : g->longest_ns;
		g->since_ns = 0;
		p->open--;
	}
}

/* Of a process that cannot accept: whose packets woke its threads in the second before; often that
 * is the one that opened the connections. */
static void say_connector(struct ty_finding *f, const struct ty_model *m,
			  const struct ty_limit_group *g)
{
	const uint32_t process = ty_process_of(m, g->thread),
		       threads = ty_model_summary(m)->threads;
	const struct ty_seek q = {.states = 1u << TY_ST_SLEEPING, .nr = -1};
	const uint64_t from = g->at_ns > SECOND_NS ? g->at_ns - SECOND_NS : 0;
	struct {
		uint32_t process, n;
	} by[CLIENTS], best = {.process = TY_NONE};
	uint32_t n = 0, all = 0;
	char who[TY_WHO_MAX];

	for (uint32_t i = 0; i < threads; i++) {
		uint64_t at = g->at_ns;

		if (ty_process_of(m, i) != process)
			continue;
		for (unsigned left = WAKEUPS; left; left--) {
			const uint32_t k = ty_model_seek(m, (struct ty_track){TY_TRACK_THREAD, i},
							 &q, at, true);
			struct ty_waker w;
			struct ty_span s;
			uint32_t c = 0, by_process;

			if (k == TY_NONE)
				break;
			s = ty_model_span_brief(m, i, k);
			if (s.start_ns < from)
				break;
			at = s.start_ns;
			w = ty_waker_find(m, ty_model_span_edge(m, &s, k));
			if (w.kind != TY_WAKER_THREAD || !w.net)
				continue;
			all++;
			by_process = ty_process_of(m, w.thread);
			while (c < n && by[c].process != by_process)
				c++;
			if (c == CLIENTS || by_process == process)
				continue;
			if (c == n)
				by[n++] = (typeof(best)){.process = by_process};
			if (++by[c].n > best.n)
				best = by[c];
		}
	}
	if (best.n > all / 2 && best.n >= PACKETS)
		ty_finding_say(
			f,
			". In the 1 s before the first failure, %u of %u packets that woke it "
			"came from %s",
			best.n, all, ty_model_who(m, best.process, g->at_ns, who));
}

void ty_limit_report(const struct ty_limit_watch *p)
{
	const struct ty_model *m = p->k->x->m;

	for (unsigned i = 0; i < p->n; i++) {
		const struct ty_limit_group *g = &p->v[i];
		char who[TY_WHO_MAX], object[96], buf[32];
		const char *call = ty_syscall_name(p->k->x->arch, g->abi, g->nr, buf);
		struct ty_finding *f = ty_finding_add(
			p->k, &(struct ty_finding){.kind = TY_FINDING_LIMIT,
						   .ns = g->longest_ns ? g->longest_ns : g->fail_ns,
						   .n = g->failed,
						   .at_ns = g->at_ns,
						   .thread = g->thread,
						   .culprit = TY_NONE});

		if (!f)
			continue;
		ty_finding_object(p->k->x, g->call, object);
		ty_finding_say(f, "%s: %s%s failed %s time%s",
			       ty_finding_thread_name(m, g->thread, g->several, who), call,
			       g->other_calls ? " and other calls" : "", ty_count(g->failed),
			       g->failed == 1 ? "" : "s");
		if (*object)
			ty_finding_say(f, "%s on %s", g->failed == 1 ? "" : ", first", object);
		ty_finding_say(f, ", with %s", limits[g->limit].words);
		if (g->longest_ns)
			ty_finding_say(
				f, "; %s%s passed until %s succeeded again in the same thread",
				g->failed == 1 ? "" : "up to ", ty_duration(g->longest_ns), call);
		if (ty_syscall_row(p->k->x->arch, g->abi, g->nr)->says & TY_ACCEPTS)
			say_connector(f, m, g);
		ty_finding_calls(f, m, g->thread, g->name, g->several);
	}
}
