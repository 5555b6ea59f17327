/* SPDX-License-Identifier: MIT */
/*
 * Findings about signals: thousands of them, handled by one process. The time is that on a CPU from
 * a signal's generation there, or else (also if it was blocked) from its delivery, until its
 * handler returned: at least that. Budget: one pass over the points of the window, and log(calls)
 * for each signal; only where a handler returned that often (findings_calls.c).
 */
#include "findings_priv.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "pair_map.h"
#include "process_of_thread.h"
#include "units.h"
#include "vec.h"

#define SIGNALS	  1000
#define INSIDE	  16		   /* calls of a handler, at most */
#define EXPIRY_NS UINT64_C(100000) /* from a timer's expiry to its signal, and to its delivery */

/* The signals of one number to one process. */
struct group {
	uint64_t n, ns, at_ns;
	uint64_t by_timer, by_itself, by_others;
	uint32_t thread; /* the first receiver */
	bool several;
	uint32_t sender; /* of those of others, by majority */
	int64_t votes;
	int sig;
};

struct pass {
	const struct ty_finding_work *k;
	VEC(struct group) g;
	struct ty_pair_map by_key;
};

/* The last ones of a CPU. */
struct last {
	uint64_t expiry_ns, sent_ns;
	uint64_t counted_ns; /* until then: a handler may jump out, or be interrupted */
	uint32_t sent_to;    /* process */
	int sig;
};

static struct group *group_of(struct pass *p, uint32_t process, int sig)
{
	return pair_element(&p->by_key, process, (uint32_t)sig, &p->g,
			    (struct group){.thread = TY_NONE, .sender = TY_NONE, .sig = sig});
}

static int add_sent(struct pass *p, const struct ty_point *t, struct last *l)
{
	const struct ty_model *m = p->k->x->m;
	const uint32_t to = t->b < TY_NONE ? ty_process_of(m, (uint32_t)t->b) : TY_NONE;
	struct group *g = to == TY_NONE ? NULL : group_of(p, to, (int)t->a);

	if (!g)
		return to == TY_NONE ? 0 : -TY_ENOMEM;
	l->sent_ns = t->ts_ns;
	l->sent_to = to;
	l->sig = (int)t->a;
	if (t->context & TY_EVF_HARDIRQ) {
		g->by_timer += l->expiry_ns && t->ts_ns - l->expiry_ns < EXPIRY_NS;
	} else if (t->thread != TY_NONE && ty_process_of(m, t->thread) == to) {
		g->by_itself++;
	} else if (t->thread != TY_NONE) {
		g->by_others++;
		if (!g->votes)
			g->sender = t->thread;
		g->votes += g->sender == t->thread ? 1 : -1;
	}
	return 0;
}

/* When the handler that was called then returned; 0: unknown. */
static uint64_t returned(const struct ty_explain *x, uint32_t thread, uint64_t ns)
{
	const struct ty_thread *t = ty_model_thread(x->m, thread);
	uint32_t call = ty_model_syscall_after(x->m, thread, ns);
	char buf[32];

	for (unsigned i = 0; i < INSIDE && call < t->syscalls_first + t->syscalls_n; i++, call++) {
		struct ty_syscall c = ty_model_syscall_brief(x->m, thread, call);

		if (c.start_ns >= ns && ty_is_sigreturn(ty_syscall_name(x->arch, c.abi, c.nr, buf)))
			return c.end_ns;
	}
	return 0;
}

/* Was it pending until a later call of the thread let it through? */
static bool was_blocked(const struct ty_explain *x, const struct ty_point *t, uint64_t sent_ns)
{
	const struct ty_thread *of = ty_model_thread(x->m, t->thread);
	const uint32_t end = of->syscalls_first + of->syscalls_n;
	uint32_t call = ty_model_syscall_after(x->m, t->thread, sent_ns);

	if (call < end && ty_model_syscall_brief(x->m, t->thread, call).start_ns < sent_ns)
		call++; /* it may have sent the signal */
	return t->ts_ns - sent_ns >= EXPIRY_NS ||
	       (call < end && ty_model_syscall_brief(x->m, t->thread, call).start_ns < t->ts_ns);
}

static int add_delivered(struct pass *p, const struct ty_point *t, struct last *l)
{
	const struct ty_explain *x = p->k->x;
	const uint32_t process = ty_process_of(x->m, t->thread);
	struct group *g = group_of(p, process, (int)t->a);
	uint64_t from = t->ts_ns, to;
	struct ty_span s;
	uint32_t span;

	if (!g)
		return -TY_ENOMEM;
	g->at_ns = g->n ? g->at_ns : t->ts_ns;
	g->several |= g->n && g->thread != t->thread;
	g->thread = g->n ? g->thread : t->thread;
	g->n++;
	to = returned(x, t->thread, t->ts_ns);
	span = to ? ty_model_span_find(x->m, t->thread, t->ts_ns) : TY_NONE;
	if (l->sent_to == process && l->sig == (int)t->a && !was_blocked(x, t, l->sent_ns))
		from = l->sent_ns;
	l->sent_to = TY_NONE;
	if (span == TY_NONE)
		return 0;
	s = ty_model_span_brief(x->m, t->thread, span);
	from = from > s.start_ns ? from : s.start_ns;
	from = from > l->counted_ns ? from : l->counted_ns;
	to = to < s.end_ns ? to : s.end_ns;
	if (s.state == TY_ST_RUNNING && from < to) {
		g->ns += to - from;
		l->counted_ns = to;
	}
	return 0;
}

static int collect(struct pass *p)
{
	const struct ty_model *m = p->k->x->m;
	const struct ty_window *w = p->k->w;
	int r = 0;

	for (uint32_t cpu = 0; cpu < ty_model_summary(m)->cpus && !r; cpu++) {
		const uint32_t n = ty_model_points(m, cpu);
		struct last l = {.sent_to = TY_NONE};

		for (uint32_t i = ty_model_point_after(m, cpu, w->from_ns); i < n && !r; i++) {
			const struct ty_point t = ty_model_point(m, cpu, i);

			if (t.ts_ns >= w->to_ns)
				break;
			if (ty_explain_stopped(p->k->x))
				r = -TY_EINTR;
			else if (t.kind == TY_PT_HRTIMER)
				l.expiry_ns = t.ts_ns;
			else if (t.kind == TY_PT_SIGNAL)
				r = add_sent(p, &t, &l);
			else if (t.kind == TY_PT_SIGNAL_DELIVER && t.thread != TY_NONE &&
				 ty_window_thread(w, m, t.thread))
				r = add_delivered(p, &t, &l);
		}
	}
	return r;
}

static const char *signal_name(int sig, char out[24])
{
	const char *name = sig > 0 && sig < NSIG ? sigabbrev_np(sig) : NULL;

	if (name)
		snprintf(out, 24, "SIG%s", name);
	else
		snprintf(out, 24, "signal %d", sig);
	return out;
}

static void say_sender(struct ty_finding *f, const struct ty_model *m, const struct group *g)
{
	char who[TY_WHO_MAX];
	const uint64_t most = g->n - g->n / 10;

	if (g->by_timer >= most)
		ty_finding_say(f, " from a timer");
	else if (g->by_itself >= most)
		ty_finding_say(f, " from itself (a CPU timer, a fault or a call)");
	else if (g->by_others >= most && g->votes > (int64_t)g->by_others / 2)
		ty_finding_say(f, " from %s", ty_finding_thread_name(m, g->sender, false, who));
}

static void report(const struct pass *p, const struct group *g)
{
	const struct ty_model *m = p->k->x->m;
	char who[TY_WHO_MAX], sig[24];
	struct ty_finding *f;

	if (g->n < SIGNALS || g->ns < p->k->wall_ns / 20)
		return;
	f = ty_finding_add(p->k, &(struct ty_finding){.kind = TY_FINDING_STORM,
						      .ns = g->ns,
						      .n = g->n,
						      .at_ns = g->at_ns,
						      .thread = g->thread,
						      .culprit = TY_NONE});
	if (!f)
		return;
	ty_finding_say(f, "%s handled %s signals (%s)",
		       ty_finding_thread_name(m, g->thread, g->several, who), ty_count(g->n),
		       signal_name(g->sig, sig));
	say_sender(f, m, g);
	ty_finding_say(f, ", at least %s of CPU time on average", ty_duration(g->ns / g->n));
	ty_finding_next(f, "tarry dump FILE events --tid %d", ty_model_thread(m, g->thread)->tid);
}

int ty_findings_of_signals(const struct ty_finding_work *k)
{
	struct pass p = {.k = k};
	int r = collect(&p);

	for (size_t i = 0; i < p.g.n && !r; i++)
		report(&p, &p.g.v[i]);
	vec_fini(&p.g);
	ty_pair_map_fini(&p.by_key);
	return r;
}
