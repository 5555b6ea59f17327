/* SPDX-License-Identifier: MIT */
/* See python_merge.h. */
#include "python_merge.h"

#include <string.h>

#include "base_name.h"

static bool is_loop(const struct ty_stack_frame *f)
{
	static const char name[] = "_PyEval_EvalFrameDefault";

	return f->function && !f->inlined && !strncmp(f->function, name, sizeof(name) - 1);
}

/* Its own, or a trampoline of `python3 -X perf`, which has the name of a function that is shown. */
static bool is_interpreter(const struct ty_stack_frame *f)
{
	const char *base = ty_base_name(f->module);

	return (base && (!strncmp(base, "python", 6) || !strncmp(base, "libpython", 9))) ||
	       (f->function && !strncmp(f->function, "py::", 4));
}

/* The standard library. */
static bool is_library(const char *file)
{
	const char *at = strstr(file, "/lib/python");

	return !strncmp(file, "<frozen ", 8) ||
	       (at && !strstr(at, "/site-packages/") && !strstr(at, "/dist-packages/"));
}

static void add(struct ty_stack_frames *s, struct ty_stack_frame f)
{
	if (s->n < TY_STACK_FRAMES)
		s->v[s->n++] = f;
}

static void add_python(struct ty_stack_frames *s, const struct ty_python_frame *p)
{
	add(s, (struct ty_stack_frame){.function = p->name,
				       .module = p->file,
				       .file = p->file,
				       .line = (int)p->line,
				       .runtime = is_library(p->file)});
}

static void add_end(struct ty_stack_frames *s, enum ty_stk_python_end end)
{
	if (end != TY_STK_PYTHON_ALL)
		add(s, (struct ty_stack_frame){.function = end == TY_STK_PYTHON_MORE
								   ? "[more Python functions]"
								   : "[unknown Python functions]",
					       .runtime = true});
}

/* Those from py[at] on that one loop ran; all: without regard to loops. Returns the next. */
static unsigned add_loop(struct ty_stack_frames *s, const struct ty_python_frame *py, unsigned n,
			 unsigned at, bool all)
{
	bool more = at < n;

	for (; more; more = at < n && (all || !py[at - 1].entry))
		add_python(s, &py[at++]);
	return at;
}

void ty_python_merge(struct ty_stack_frames *s, const struct ty_python_frame *py, unsigned n,
		     enum ty_stk_python_end end)
{
	struct ty_stack_frame v[TY_STACK_FRAMES];
	const unsigned frames = s->n;
	unsigned loops = 0, entries = 0, at = 0;
	bool met = false, each;

	memcpy(v, s->v, frames * sizeof(*v));
	for (unsigned i = 0; i < frames; i++)
		loops += is_loop(&v[i]);
	for (unsigned i = 0; i < n; i++)
		entries += py[i].entry;
	/* Otherwise which C frames are between which functions is not known. */
	each = loops == entries || (loops < entries && s->end != TY_STACK_COMPLETE) ||
	       (loops > entries && end != TY_STK_PYTHON_ALL);
	s->n = 0;
	for (unsigned i = 0; i < frames; i++) {
		if (is_loop(&v[i]) || (!loops && !met && is_interpreter(&v[i]))) {
			const unsigned from = at;

			at = add_loop(s, py, n, at, !each || !loops);
			met = true;
			/* In this loop. */
			if (at == n && (from == n || !each || !py[n - 1].entry)) {
				add_end(s, end);
				end = TY_STK_PYTHON_ALL;
			}
		} else if (!met || !is_interpreter(&v[i])) {
			v[i].runtime |= is_interpreter(&v[i]);
			add(s, v[i]);
		}
	}
	add_loop(s, py, n, at, true);
	add_end(s, end);
}
