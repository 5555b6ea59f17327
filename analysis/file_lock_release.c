/* SPDX-License-Identifier: MIT */
/* See file_lock_release.h. */
#include "file_lock_release.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fd_kind.h"
#include "syscall_ipc.h"
#include "thread_walk.h"

#define RELEASES 256 /* calls of a thread */

static bool of_one_process(const struct ty_model *m, uint32_t a, uint32_t b)
{
	const struct ty_thread *t = ty_model_thread(m, a), *u = ty_model_thread(m, b);

	return a == b || (t->tgid > 0 && t->tgid == u->tgid);
}

/* The first failed attempt of the thread (tried NULL), or the last release of the lock that `tried`
 * was for; thread TY_NONE: none. */
static struct ty_point find(const struct ty_explain *x, uint32_t thread, uint64_t from_ns,
			    uint64_t to_ns, const struct ty_point *tried)
{
	struct ty_point best = {.thread = TY_NONE};

	for (uint32_t cpu = 0; cpu < ty_model_summary(x->m)->cpus; cpu++) {
		uint32_t n = ty_model_points(x->m, cpu);

		for (uint32_t i = ty_model_point_after(x->m, cpu, from_ns); i < n; i++) {
			struct ty_point p = ty_model_point(x->m, cpu, i);
			bool none = best.thread == TY_NONE;

			if (p.ts_ns > to_ns || ty_explain_stopped(x))
				break;
			if (p.thread == TY_NONE)
				continue;
			if (!tried) {
				if (p.kind == TY_PT_FILE_LOCK_FAILED && p.thread == thread &&
				    (none || p.ts_ns < best.ts_ns))
					best = p;
			} else if (p.kind == TY_PT_FILE_UNLOCK && p.a == tried->a &&
				   p.b == tried->b && (none || p.ts_ns >= best.ts_ns) &&
				   !of_one_process(x->m, p.thread, thread)) {
				best = p;
			}
		}
	}
	return best;
}

struct ty_release ty_file_lock_release(const struct ty_explain *x, uint32_t thread,
				       uint64_t from_ns, uint64_t to_ns)
{
	struct ty_point p = find(x, thread, from_ns, to_ns, NULL);

	if (p.thread != TY_NONE)
		p = find(x, thread, p.ts_ns, to_ns, &p);
	return (struct ty_release){p.thread, p.ts_ns};
}

/* The file that the call is about: its path, or what its first descriptor is; NULL. */
static const char *file_of(const struct ty_explain *x, uint32_t call)
{
	const struct ty_sysrow *r = ty_explain_row(x, call);
	struct ty_syscall c = ty_model_syscall(x->m, call);
	const char *name = NULL;
	uint64_t args[6];
	int object = ty_sysrow_object(r, c.ret);

	if (object >= 0 && r->a[object] == TY_ARG_PATH)
		return x->pointee ? x->pointee(x->ctx, c.thread, call, (unsigned)object) : NULL;
	if (r->a[0] == TY_ARG_FD && !ty_explain_args(x, &c, 1, args))
		ty_fd_kind(x, c.thread, (uint32_t)args[0], c.start_ns, &name);
	return name;
}

/* A name without a folder is compared with the last part of the other. */
static bool same_file(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);

	if (na < nb)
		return na && b[nb - na - 1] == '/' && !strcmp(b + nb - na, a);
	return nb && (na == nb || a[na - nb - 1] == '/') && !strcmp(a + na - nb, b);
}

static bool removes(const struct ty_explain *x, const struct ty_syscall *s)
{
	char buf[32];
	const char *what = ty_syscall_name(x->arch, s->abi, s->nr, buf);

	return !strncmp(what, "unlink", 6) || !strncmp(what, "rename", 6) || !strcmp(what, "rmdir");
}

/* May the call release what is tried for: a lock by an unlock or a close; a file that must not
 * exist, or is in use, by what removes or closes it? */
static bool may_release(const struct ty_explain *x, const struct ty_syscall *tried,
			const struct ty_syscall *s)
{
	bool closes = ty_syscall_ipc(x, s).says & TY_CLOSES;

	if (s->ret < 0 || s->flags & (TY_SF_OPEN | TY_SF_LOST))
		return false;
	switch (-tried->ret) {
	case EEXIST:
	case ENOTEMPTY: return removes(x, s);
	case EBUSY:
	case ETXTBSY: return closes || removes(x, s);
	default: return closes || s->nr == tried->nr;
	}
}

struct ty_release ty_polled_release(const struct ty_explain *x, uint32_t failed, uint32_t got,
				    unsigned *left)
{
	const struct ty_model *m = x->m;
	struct ty_syscall tried = ty_model_syscall(m, failed), to = ty_model_syscall(m, got);
	uint32_t threads = ty_model_summary(m)->threads;
	struct ty_release best = ty_file_lock_release(x, tried.thread, tried.start_ns, to.end_ns);
	const char *borrowed = file_of(x, failed), *name;
	uint64_t last = 0;
	char file[160];

	if (best.thread != TY_NONE || !borrowed)
		return best;
	snprintf(file, sizeof(file), "%s", borrowed);
	/* On a busy machine hundreds of threads close files: unlocks first. */
	for (unsigned pass = 0; pass < 2 && best.thread == TY_NONE; pass++)
		for (uint32_t i = 0; i < threads && *left; i++) {
			uint32_t k = ty_model_syscall_after(m, i, tried.start_ns),
				 end = ty_thread_calls(m, i).to;

			if (i == tried.thread || !ty_model_thread(m, i)->traced)
				continue;
			for (unsigned n = 0; k < end && n < RELEASES && *left; n++, k++) {
				struct ty_syscall s = ty_model_syscall_brief(m, i, k);

				if (s.start_ns >= to.end_ns)
					break;
				if ((s.nr != tried.nr) != pass || !may_release(x, &tried, &s))
					continue;
				--*left;
				if (s.end_ns <= last || !(name = file_of(x, k)) ||
				    !same_file(name, file))
					continue;
				last = s.end_ns;
				best = (struct ty_release){i, s.start_ns};
			}
		}
	return best;
}
