/* SPDX-License-Identifier: MIT */
/* See wait_stacks.h. */
#include "wait_stacks.h"
#include "plain_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_name.h"
#include "flow_files.h"
#include "flow_names.h"
#include "pair_map.h"
#include "python_merge.h"
#include "runtime_code.h"
#include "stack_roles.h"
#include "vec.h"

enum { INLINED_MAX = 16 };
enum { OUTER = 8 }; /* frames from one without a function */

/* Frames that are kept, of all stacks: 64 MB. */
enum { KEPT_FRAMES = 1 << 20 };
struct known {
	size_t first;
	unsigned n;
	enum ty_stack_end end;
};

struct ty_wait_stacks {
	struct ty_stack_index *index;
	struct ty_code *code;
	struct ty_flow_files *files;
	struct ty_flow_names *names;
	struct ty_unwinder *unwinder;
	struct ty_pair_map known; /* a stack's bytes and time to its number in unwound */
	VEC(struct known) unwound;
	VEC(struct ty_stack_frame) frames;
	/* The last stack whose role was found: rules, the answer and holders ask for the same. */
	const void *of_role;
	uint64_t of_role_ns;
	enum ty_stack_role role;
	bool pthread; /* the lock is one of the C library */
};

struct ty_wait_stacks *ty_wait_stacks_new(const struct ty_trace *t, const char *const *roots,
					  size_t roots_n)
{
	struct ty_wait_stacks *w = calloc(1, sizeof(*w));
	const struct ty_text stacks = ty_trace_section(t, TY_SEC_STACKS),
			     maps = ty_trace_section(t, TY_SEC_MAPS),
			     vdso = ty_trace_section(t, TY_SEC_VDSO);

	if (!w)
		return NULL;
	w->index = ty_stack_index_new(stacks.s, stacks.n);
	w->files = ty_flow_files_new(roots, roots_n);
	w->code = w->files ? ty_code_new(ty_flow_files_load, w->files) : NULL;
	w->names = w->code ? ty_flow_names_new(w->code) : NULL;
	w->unwinder = w->names ? ty_unwinder_new(w->code, w->names) : NULL;
	if (!w->index || !w->names || !w->unwinder || ty_stack_maps(maps.s, maps.n, w->code) < 0 ||
	    ty_code_ready(w->code)) {
		ty_wait_stacks_free(w);
		return NULL;
	}
	ty_flow_files_of(w->files, t);
	ty_flow_files_vdso(w->files, (struct ty_bytes){(const uint8_t *)vdso.s, vdso.n});
	ty_flow_names_symbols(w->names, ty_flow_files_symbols, w->files);
	return w;
}

void ty_wait_stacks_free(struct ty_wait_stacks *w)
{
	if (!w)
		return;
	ty_unwinder_free(w->unwinder);
	ty_pair_map_fini(&w->known);
	vec_fini(&w->unwound);
	vec_fini(&w->frames);
	ty_flow_names_free(w->names);
	ty_code_free(w->code);
	ty_flow_files_free(w->files);
	ty_stack_index_free(w->index);
	free(w);
}

struct ty_stack_counts ty_wait_stacks_counts(const struct ty_wait_stacks *w)
{
	return ty_stack_counts(w->index);
}

void ty_wait_stacks_note(struct ty_wait_stacks *w)
{
	ty_flow_files_note(w->files);
}

static void add(struct ty_stack_frames *s, struct ty_stack_frame f)
{
	f.runtime = ty_is_runtime_file(f.module) || ty_is_runtime_function(f.function, f.file);
	if (s->n < TY_STACK_FRAMES)
		s->v[s->n++] = f;
}

static void name_frame(struct ty_wait_stacks *w, const struct ty_frame *f,
		       struct ty_stack_frames *out)
{
	const struct ty_stk_head *h = &out->stack.head;
	struct ty_inlined in[INLINED_MAX], caller = {0};
	struct ty_flow_name at = ty_flow_names_at(w->names, (int32_t)h->pid, h->ns, f->pc);
	struct ty_stack_frame v = {
		.pc = f->pc, .module = at.file, .off = at.off, .by_pointer = f->by_pointer};
	/* Not of libraries that hold frames of no interest: their debug information is large. */
	const size_t n = ty_is_runtime_file(at.file)
				 ? 0
				 : ty_flow_names_inlined(w->names, &at, in, INLINED_MAX, &caller);

	for (size_t i = 0; i < n; i++) {
		v.function = in[i].name;
		v.file = in[i].file;
		v.line = in[i].line;
		v.inlined = true;
		add(out, v);
	}
	v.function = at.function;
	v.file = caller.file;
	v.line = caller.line;
	v.inlined = false;
	add(out, v);
}

static void merge_python(struct ty_wait_stacks *w, struct ty_stack_frames *out)
{
	struct ty_python_frame frames[TY_STK_PYTHON_MAX];
	enum ty_stk_python_end end;
	const unsigned n = ty_stack_python(w->index, &out->stack, frames, &end);

	if (n)
		ty_python_merge(out, frames, n, end);
}

static void unwind(struct ty_wait_stacks *w, struct ty_stack_frames *out)
{
	struct ty_frame frames[TY_FRAMES_MAX];
	const size_t n = ty_unwind(w->unwinder, &out->stack, frames, &out->end);

	for (size_t i = 0; i < n; i++)
		name_frame(w, &frames[i], out);
	if (out->stack.head.kind == TY_STK_WAIT)
		merge_python(w, out);
}

/* Frames are kept: several parts of a report show those of one wait. */
void ty_wait_stacks_unwind(struct ty_wait_stacks *w, struct ty_stack_frames *out)
{
	uint32_t *at = ty_pair_map_add(&w->known, (uintptr_t)out->stack.bytes, out->ns);
	struct known k = {.first = w->frames.n};

	out->n = 0;
	if (at && *at != TY_PAIR_NONE && w->frames.v) {
		k = w->unwound.v[*at];
		out->n = k.n;
		out->end = k.end;
		memcpy(out->v, w->frames.v + k.first, k.n * sizeof(*out->v));
		return;
	}
	unwind(w, out);
	k.n = out->n;
	k.end = out->end;
	if (!at || w->frames.n + out->n > KEPT_FRAMES || !out->n ||
	    vec_reserve(&w->frames, w->frames.n + out->n) || vec_push(&w->unwound, k))
		return;
	memcpy(w->frames.v + k.first, out->v, out->n * sizeof(*out->v));
	w->frames.n += out->n;
	*at = (uint32_t)w->unwound.n - 1;
}

static void show(struct ty_stack_frames *out)
{
	out->n = 0;
	out->tid = (int32_t)out->stack.head.tid;
	out->ns = out->stack.head.ns;
}

bool ty_wait_stacks_peek(struct ty_wait_stacks *w, size_t i, struct ty_stack_frames *out)
{
	if (!ty_stack_nth(w->index, i, &out->stack))
		return false;
	show(out);
	return true;
}

bool ty_wait_stacks_nth(struct ty_wait_stacks *w, size_t i, struct ty_stack_frames *out)
{
	if (!ty_wait_stacks_peek(w, i, out))
		return false;
	ty_wait_stacks_unwind(w, out);
	return true;
}

bool ty_wait_stacks_of(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns, uint64_t to_ns,
		       bool waker, struct ty_stack_frames *out)
{
	if (!(waker ? ty_stack_of_waker : ty_stack_of_wait)(w->index, tid, from_ns, to_ns,
							    &out->stack))
		return false;
	show(out);
	ty_wait_stacks_unwind(w, out);
	return true;
}

/* The variable at an address of the process: of a file whose code is in the stack, and which lies
 * in memory as in the file. */
static bool name_variable(struct ty_wait_stacks *w, const struct ty_stack_frames *s, uint64_t addr,
			  char *buf, size_t n)
{
	const char *last = NULL;

	for (unsigned i = 0; i < s->n; i++) {
		struct ty_flow_variable v;
		const char *file;

		if (!s->v[i].module || s->v[i].module == last)
			continue;
		last = s->v[i].module;
		if (!ty_flow_names_variable(w->names, (int32_t)s->stack.head.pid, s->ns, s->v[i].pc,
					    addr, &v))
			continue;
		file = ty_base_name(v.file);
		snprintf(buf, n, "%s", v.name);
		if (v.in)
			snprintf(buf + strlen(buf), n - strlen(buf), "+%#" PRIx64, v.in);
		if (file)
			snprintf(buf + strlen(buf), n - strlen(buf), " (%s:%d)", file, v.line);
		return true;
	}
	return false;
}

enum ty_stack_role ty_wait_stacks_role(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns,
				       uint64_t to_ns)
{
	const char *functions[TY_ROLE_FRAMES];
	struct ty_frame frames[TY_FRAMES_MAX];
	enum ty_stack_end end;
	struct ty_stack s;
	size_t n;

	if (!ty_stack_of_wait(w->index, tid, from_ns, to_ns, &s))
		return TY_ROLE_NONE;
	if (w->of_role == s.bytes && w->of_role_ns == s.head.ns)
		return w->role;
	w->of_role = s.bytes;
	w->of_role_ns = s.head.ns;
	n = ty_unwind(w->unwinder, &s, frames, &end);
	n = n < TY_ROLE_FRAMES ? n : TY_ROLE_FRAMES;
	for (size_t i = 0; i < n; i++)
		functions[i] =
			ty_flow_names_at(w->names, (int32_t)s.head.pid, s.head.ns, frames[i].pc)
				.function;
	w->role = ty_stack_role(functions, n);
	w->pthread = ty_stack_locks_pthread(functions, n);
	return w->role;
}

static const char *lock_kind(uint8_t kind)
{
	static const char *const names[TY_LOCK_KINDS] = {
		[TY_LOCK_MUTEX] = "mutex",	   [TY_LOCK_PI] = "PI mutex",
		[TY_LOCK_ROBUST] = "robust mutex", [TY_LOCK_RWLOCK] = "rwlock",
		[TY_LOCK_FLOCK] = "flock",	   [TY_LOCK_POSIX] = "fcntl lock"};

	return kind < TY_LOCK_KINDS && names[kind] ? names[kind] : "lock";
}

bool ty_wait_stacks_holder(struct ty_wait_stacks *w, int32_t tid, uint64_t from_ns, uint64_t to_ns,
			   struct ty_lock_seen *out)
{
	struct ty_stack_frames *s;
	struct ty_stk_head h;
	const unsigned looks = ty_stack_holder_of(w->index, tid, from_ns, to_ns, &h);

	*out = (struct ty_lock_seen){.looks = looks};
	if (!looks)
		return false;
	out->kind = lock_kind(h.flags);
	out->process = h.flags >= TY_LOCK_FLOCK;
	out->holder = (int32_t)h.target;
	out->at_ns = h.ns;
	out->word = out->process ? 0 : h.aux;
	out->certain = out->process || h.flags == TY_LOCK_PI;
	s = out->word ? malloc(sizeof(*s)) : NULL;
	if (s && ty_wait_stacks_of(w, tid, from_ns, to_ns, false, s)) {
		name_variable(w, s, out->word, out->name, sizeof(out->name));
		out->certain |=
			ty_wait_stacks_role(w, tid, from_ns, to_ns) == TY_ROLE_LOCK && w->pthread;
	}
	free(s);
	return true;
}

const struct ty_stack_frame *ty_stack_frames_own(const struct ty_stack_frames *s)
{
	unsigned i = 0, k;

	/* A Python function before the extension that it called. */
	for (k = 0; k < s->n; k++)
		if (!s->v[k].pc && s->v[k].file && !s->v[k].runtime)
			return &s->v[k];
	while (i < s->n && (s->v[i].runtime || !s->v[i].module))
		i++;
	/* A statically linked program has source lines of its own code only. */
	for (k = i; k < s->n && !s->v[k].file && s->v[k].module &&
		    !strcmp(s->v[k].module, s->v[i].module);)
		k++;
	if (k < s->n && s->v[k].file && !s->v[k].runtime)
		i = k;
	return i < s->n ? &s->v[i] : NULL;
}

const struct ty_stack_frame *ty_stack_frames_named(const struct ty_stack_frames *s,
						   const struct ty_stack_frame *of)
{
	const struct ty_stack_frame *f = of;

	if (of->function || !of->module)
		return NULL;
	while (++f < s->v + s->n && f - of <= OUTER && f->module && !strcmp(f->module, of->module))
		if (f->function)
			return strcmp(f->function, "main") && strcmp(f->function, "_start") ? f
											    : NULL;
	return NULL;
}

void ty_stack_frames_text(const struct ty_stack_frames *s, unsigned most, struct ty_buf *out)
{
	const unsigned n = s->n < most ? s->n : most;

	for (unsigned i = 0; i < n; i++) {
		const struct ty_stack_frame *f = &s->v[i];
		const size_t at = out->len;

		ty_stack_frame_text(f, out);
		if (out->len > at)
			ty_plain(out->p + at, out->len - at);
		ty_buf_addf(out, "%s%s\n", f->inlined ? " (inlined)" : "",
			    f->by_pointer ? " (by frame pointer)" : "");
	}
	if (n < s->n)
		ty_buf_addf(out, "and %u more frames\n", s->n - n);
	else if (s->end != TY_STACK_COMPLETE)
		ty_buf_addf(out, "[%s]\n", ty_stack_end_text(s->end));
}

void ty_stack_frame_name(const struct ty_stack_frame *f, struct ty_buf *out)
{
	if (f->function)
		ty_buf_addf(out, "%s", f->function);
	else if (f->module)
		ty_buf_addf(out, "%s+0x%" PRIx64, ty_base_name(f->module), f->off);
	else
		ty_buf_addf(out, "0x%" PRIx64, f->pc);
}

void ty_stack_frame_text(const struct ty_stack_frame *f, struct ty_buf *out)
{
	ty_stack_frame_name(f, out);
	if (f->file && f->line)
		ty_buf_addf(out, " (%s:%d)", ty_base_name(f->file), f->line);
	else if (f->file)
		ty_buf_addf(out, " (%s)", ty_base_name(f->file));
	else if (f->function && f->module)
		ty_buf_addf(out, " (%s)", ty_base_name(f->module));
}
