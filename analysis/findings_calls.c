/* SPDX-License-Identifier: MIT */
/*
 * Findings about many calls: failing calls, storms, tiny reads and writes. One pass counts calls by
 * thread name and number; the object is resolved for a few of each.
 */
#include "findings_priv.h"

#include <stdlib.h>
#include <string.h>

#include "fd_kind.h"
#include "file_lock_release.h"
#include "pair_map.h"
#include "units.h"
#include "vec.h"

#define SHORT_NS     UINT64_C(100000) /* a longer call waits, which is what stalls are about */
#define SAMPLE	     32		      /* calls whose object is examined */
#define NRS	     512
#define FAILS	     1000
#define MANY	     5000 /* calls on anything but a path */
#define MANY_SAME    1000 /* on one path; small reads and writes */
#define CONNECTS     300
#define SYNCS	     20
#define TINY	     16 /* bytes */
#define TINY_MESSAGE 2

/* Evenly among all. */
struct sample {
	uint32_t call[SAMPLE], n;
	uint64_t seen;
};

struct group {
	uint64_t n, short_n, short_ns, total_ns, max_ns;
	uint64_t fails, fail_ns;    /* short ones */
	uint64_t bytes, io;	    /* of calls that returned a number above 0 */
	uint64_t at_ns, fail_at_ns; /* of the first */
	uint32_t name, thread;
	int32_t nr;
	int error; /* the most frequent one, by majority */
	int64_t votes;
	uint8_t abi;
	bool several; /* threads */
	struct sample any, failed;
};

struct pass {
	const struct ty_finding_work *k;
	VEC(struct group) g;
	struct ty_pair_map by_key;
	/* Of the current thread: group + 1 by number. */
	uint32_t at[NRS], thread_of[NRS];
	uint8_t role[NRS];
	bool role_known[NRS];
	struct ty_limit_watch limits;
};

/* Reservoir sampling: a fixed step would always meet the same file of a loop over several ones. */
static void take(struct sample *s, uint32_t call)
{
	uint32_t at = s->n, hash = (uint32_t)++s->seen * UINT32_C(2654435769);

	if (s->n == SAMPLE) {
		hash = (hash ^ hash >> 15) * UINT32_C(0x85ebca6b);
		hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
		at = (uint32_t)((hash ^ hash >> 16) * (s->seen & UINT32_MAX) >> 32);
	}
	if (at < SAMPLE)
		s->call[at] = call;
	s->n += at == s->n && at < SAMPLE;
}

static struct group *group_of(struct pass *p, uint32_t thread, int32_t nr, uint8_t abi)
{
	uint32_t name = ty_model_thread(p->k->x->m, thread)->name;
	bool usual = (uint32_t)nr < NRS && !abi;
	struct group *g;

	if (usual && p->thread_of[nr] == thread)
		return &p->g.v[p->at[nr]];
	g = pair_element(&p->by_key, name, (uint64_t)abi << 32 | (uint32_t)nr, &p->g,
			 (struct group){.name = name, .thread = thread, .nr = nr, .abi = abi});
	if (!g)
		return NULL;
	g->several |= g->thread != thread;
	if (usual) {
		p->thread_of[nr] = thread;
		p->at[nr] = (uint32_t)(g - p->g.v);
	}
	return g;
}

static enum ty_poll_role role_of(struct pass *p, int32_t nr, uint8_t abi)
{
	bool usual = (uint32_t)nr < NRS && !abi;

	if (usual && p->role_known[nr])
		return p->role[nr];
	if (usual) {
		p->role_known[nr] = true;
		p->role[nr] = (uint8_t)ty_poll_role(ty_syscall_row(p->k->x->arch, abi, nr)->as);
		return p->role[nr];
	}
	return ty_poll_role(ty_syscall_row(p->k->x->arch, abi, nr)->as);
}

static int add(struct pass *p, struct ty_poll_watch *poll, const struct ty_call_rows *c, uint32_t i,
	       uint32_t thread, uint32_t call)
{
	uint64_t ns = c->end_ns[i] - c->start_ns[i];
	uint8_t abi = c->abi[i] == TY_ABI_UNSURE ? TY_ABI_NATIVE64 : c->abi[i];
	struct group *g = group_of(p, thread, c->nr[i], abi);
	int limit;
	enum ty_poll_role role = role_of(p, c->nr[i], abi);

	if (!g)
		return -TY_ENOMEM;
	g->at_ns = g->n ? g->at_ns : c->start_ns[i];
	g->n++;
	g->total_ns += ns;
	g->max_ns = ns > g->max_ns ? ns : g->max_ns;
	take(&g->any, call);
	if (ns < SHORT_NS) {
		g->short_n++;
		g->short_ns += ns;
	}
	if (c->ret[i] >= 0 && p->limits.open)
		ty_limit_succeeded(&p->limits, c->nr[i], abi, c->end_ns[i]);
	if (c->ret[i] > 0) {
		g->bytes += (uint64_t)c->ret[i];
		g->io++;
	} else if (c->ret[i] < 0 &&
		   (limit = ty_limit_of(ty_syscall_row(p->k->x->arch, abi, c->nr[i]), c->ret[i])) >=
			   0) {
		ty_limit_failed(&p->limits, limit, call, c->nr[i], abi, c->start_ns[i],
				c->end_ns[i]);
	} else if (c->ret[i] < 0 && c->ret[i] >= -511 && ns < SHORT_NS) {
		g->fail_at_ns = g->fails ? g->fail_at_ns : c->start_ns[i];
		g->fails++;
		g->fail_ns += ns;
		if (!g->votes)
			g->error = (int)-c->ret[i];
		g->votes += g->error == (int)-c->ret[i] ? 1 : -1;
		take(&g->failed, call);
	}
	if (role)
		ty_poll_step(poll, role, call, c->nr[i], abi, c->start_ns[i], c->end_ns[i],
			     c->ret[i]);
	return 0;
}

/* Calls that returned, of threads that the window chooses. */
static int collect(struct pass *p, struct ty_call_rows *c)
{
	const struct ty_model *m = p->k->x->m;
	const struct ty_window *w = p->k->w;
	struct ty_poll_watch poll = {.k = p->k, .left = TY_RELEASE_LOOKS};
	int r = 0;

	memset(p->thread_of, 0xff, sizeof(p->thread_of));
	for (uint32_t i = 0; i < ty_model_summary(m)->threads && !r; i++) {
		const struct ty_thread *t = ty_model_thread(m, i);
		uint32_t call, n, end = t->syscalls_first + t->syscalls_n;

		if (!t->syscalls_n || !ty_window_thread(w, m, i) ||
		    (t->tgid == p->k->x->recorder_pid && t->tgid > 0))
			continue;
		call = w->from_ns ? ty_model_syscall_after(m, i, w->from_ns - 1)
				  : t->syscalls_first;
		ty_poll_begin(&poll, i);
		ty_limit_begin(&p->limits, i);
		for (; call < end && (n = ty_model_call_rows(m, i, call, c)) && !r; call += n) {
			if (ty_explain_stopped(p->k->x))
				r = -TY_EINTR;
			for (uint32_t j = 0; j < n && !r; j++) {
				if (c->start_ns[j] >= w->to_ns) {
					end = 0;
					break;
				}
				if (c->flags[j] & (TY_SF_SNAPSHOT | TY_SF_LOST | TY_SF_BEFORE |
						   TY_SF_OPEN | TY_SF_ENDED) ||
				    c->start_ns[j] < w->from_ns)
					continue;
				r = add(p, &poll, c, j, i, call + j);
			}
		}
		ty_poll_end(&poll);
	}
	return r;
}

/* Is it the same descriptor, whatever is known of it, or the same name? */
static bool same_object(const char *a, const char *b)
{
	size_t na = strncmp(a, "fd ", 3) ? strlen(a) : 3 + strcspn(a + 3, " "),
	       nb = strncmp(b, "fd ", 3) ? strlen(b) : 3 + strcspn(b + 3, " ");

	return na == nb && !strncmp(a, b, na);
}

/* What most of the sampled calls act on: how many of ten; "": nothing is known of any. */
static unsigned usual_object(const struct ty_explain *x, const struct sample *s, char out[96])
{
	char name[SAMPLE][96];
	unsigned best = 0, most = 0;

	for (uint32_t i = 0; i < s->n; i++)
		ty_finding_object(x, s->call[i], name[i]);
	for (uint32_t i = 0; i < s->n; i++) {
		unsigned n = 0;

		for (uint32_t k = 0; k < s->n; k++)
			n += same_object(name[i], name[k]);
		if (*name[i] && (n > most || (n == most && strlen(name[i]) > strlen(name[best])))) {
			most = n;
			best = i;
		}
	}
	if (!most) {
		*out = 0;
		return 0;
	}
	memcpy(out, name[best], 96);
	return most * 10 / s->n;
}

static enum ty_fd_kind kind_of_fd(const struct ty_explain *x, uint32_t call)
{
	struct ty_syscall c = ty_model_syscall(x->m, call);
	const struct ty_sysrow *row;
	const char *name = NULL;
	uint64_t args[6];
	bool behind;

	row = ty_explain_deed(x, &c, &behind);
	if (behind || !x->args || x->args(x->ctx, &c, args))
		return TY_FD_UNKNOWN;
	return ty_fd_kind(x, c.thread, args[row->object], c.start_ns, &name);
}

static bool at_least(const struct pass *p, uint64_t ns, unsigned percent)
{
	return ns >= p->k->wall_ns / 100 * percent;
}

static void say_object(struct ty_finding *f, unsigned tenths, const char *object)
{
	if (*object)
		ty_finding_say(f, " on %s%s", object,
			       tenths >= 9   ? ""
			       : tenths >= 7 ? ", mostly"
			       : tenths >= 4 ? " (about half of them) and others"
					     : " and others");
}

static struct ty_finding *add_finding(const struct pass *p, const struct group *g, unsigned kind,
				      uint64_t ns, uint64_t n, uint64_t at_ns)
{
	struct ty_finding *f = ty_finding_add(p->k, &(struct ty_finding){.kind = (uint8_t)kind,
									 .ns = ns,
									 .n = n,
									 .at_ns = at_ns,
									 .thread = g->thread,
									 .culprit = TY_NONE});

	if (f)
		ty_finding_calls(f, p->k->x->m, g->thread, g->name, g->several);
	return f;
}

static void failing(const struct pass *p, const struct group *g, const char *call)
{
	char who[TY_WHO_MAX], object[96];
	const char *name = ty_errno_name(g->error);
	struct ty_finding *f;
	unsigned tenths;

	f = add_finding(p, g, TY_FINDING_FAILING, g->fail_ns, g->fails, g->fail_at_ns);
	if (!f)
		return;
	tenths = usual_object(p->k->x, &g->failed, object);
	ty_finding_say(f, "%s: %s failed %s times",
		       ty_finding_thread_name(p->k->x->m, g->thread, g->several, who), call,
		       ty_count(g->fails));
	say_object(f, tenths, object);
	ty_finding_say(f, ", with %s%s, %s on average", name ? name : "errors",
		       g->votes * 2 < (int64_t)g->fails ? " and others" : "",
		       ty_duration(g->fail_ns / g->fails));
}

static void made(const struct pass *p, const struct group *g, unsigned kind, const char *call,
		 uint64_t n, uint64_t ns, unsigned tenths, const char *object)
{
	char who[TY_WHO_MAX];
	struct ty_finding *f = add_finding(p, g, kind, ns, n, g->at_ns);
	uint64_t bytes = g->io ? (g->bytes + g->io / 2) / g->io : 0;

	if (!f)
		return;
	ty_finding_say(f, "%s made %s calls of %s",
		       ty_finding_thread_name(p->k->x->m, g->thread, g->several, who), ty_count(n),
		       call);
	say_object(f, tenths, object);
	ty_finding_say(f, ", ");
	if (kind == TY_FINDING_SMALL_IO)
		ty_finding_say(f, "%llu byte%s in ", (unsigned long long)bytes,
			       bytes == 1 ? "" : "s");
	ty_finding_say(f, "%s on average", ty_duration(ns / n));
	if (ns == g->total_ns && g->max_ns > ns / n * 2)
		ty_finding_say(f, " (longest %s)", ty_duration(g->max_ns));
}

static void judge(const struct pass *p, const struct group *g)
{
	const struct ty_sysrow *row = ty_syscall_row(p->k->x->arch, g->abi, g->nr)->as;
	uint64_t good = g->short_ns - g->fail_ns, good_n = g->n - g->fails;
	char buf[32], object[96] = "";
	const char *call = ty_syscall_name(p->k->x->arch, g->abi, g->nr, buf);
	int kind = row->object < 0 ? -1 : row->a[row->object];
	unsigned tenths = 0;
	enum ty_fd_kind fd;

	if (ty_is_sigreturn(call))
		return; /* findings_signals.c */
	if (g->fails >= FAILS && at_least(p, g->fail_ns, 5))
		failing(p, g, call);
	if (!strcmp(call, "fsync") || !strcmp(call, "fdatasync") || !strcmp(call, "msync") ||
	    !strcmp(call, "sync_file_range")) {
		/* A single long one is a stall. */
		if (g->n < SYNCS || !at_least(p, g->total_ns - g->max_ns, 20))
			return;
		tenths = usual_object(p->k->x, &g->any, object);
		made(p, g, TY_FINDING_STORM, call, g->n, g->total_ns, tenths, object);
		return;
	}
	if (good_n < CONNECTS || !at_least(p, good, 5))
		return;
	if (row->says & TY_CONNECTS) {
		made(p, g, TY_FINDING_STORM, call, good_n, good, 0, object);
		return;
	}
	if (good_n < MANY_SAME)
		return;
	if (kind == TY_ARG_FD && row->says & (TY_GIVES | TY_TAKES)) {
		/* The result is the size of the read; a small one from large data is ordinary. */
		if (g->io < MANY_SAME || g->bytes > g->io * TINY)
			return;
		/* A message may well be short, and counters of descriptors are. */
		fd = kind_of_fd(p->k->x, g->any.call[g->any.n / 2]);
		if (fd == TY_FD_EVENTFD || fd == TY_FD_TIMERFD || fd == TY_FD_SIGNALFD)
			return;
		if (g->bytes > g->io * TINY_MESSAGE && fd != TY_FD_FILE)
			return;
		tenths = usual_object(p->k->x, &g->any, object);
		made(p, g, TY_FINDING_SMALL_IO, call, good_n, good, tenths, object);
		return;
	}
	if (!at_least(p, good, kind == TY_ARG_PATH ? 10 : 20) ||
	    (kind != TY_ARG_PATH && good_n < MANY) || row->wait_on == TY_WAIT_ON_SLEEP ||
	    row->wait_on == TY_WAIT_ON_EVENTS)
		return;
	if (kind >= 0)
		tenths = usual_object(p->k->x, &g->any, object);
	if ((kind == TY_ARG_PATH || kind == TY_ARG_FD) && tenths < 7)
		return;
	made(p, g, TY_FINDING_STORM, call, good_n, good, tenths, object);
}

static bool handles_signals(const struct pass *p, const struct group *g)
{
	char buf[32];

	return g->n >= MANY_SAME &&
	       ty_is_sigreturn(ty_syscall_name(p->k->x->arch, g->abi, g->nr, buf));
}

int ty_findings_of_calls(const struct ty_finding_work *k)
{
	struct ty_call_rows *rows = malloc(sizeof(*rows));
	struct pass *p = calloc(1, sizeof(*p));
	int r = rows && p ? 0 : -TY_ENOMEM;
	bool signals = false;

	if (!r) {
		p->k = p->limits.k = k;
		r = collect(p, rows);
		for (size_t i = 0; i < p->g.n && !r; i++) {
			judge(p, &p->g.v[i]);
			signals |= handles_signals(p, &p->g.v[i]);
		}
		if (!r)
			ty_limit_report(&p->limits);
		if (!r && signals)
			r = ty_findings_of_signals(k);
		vec_fini(&p->g);
		ty_pair_map_fini(&p->by_key);
	}
	free(p);
	free(rows);
	return r;
}
