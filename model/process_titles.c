/* SPDX-License-Identifier: MIT */
/* See process_titles.h. A look-up is a binary search, and one for each fork without an exec. */
#include "process_titles.h"

#include <stdio.h>
#include <string.h>

#include "model_priv.h"
#include "partition.h"

#define FORKS 16

void ty_model_set_titles(struct ty_model *m, struct ty_titles *t)
{
	ty_titles_free(m->titles);
	__atomic_store_n(&m->titles, t, __ATOMIC_RELEASE);
}

enum ty_cgroup_kind ty_model_cgroup(const struct ty_model *m, uint32_t thread,
				    char out[TY_CGROUP_NAME_MAX])
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	enum ty_cgroup_kind kind = TY_CGROUP_OTHER;

	*out = 0;
	if (t->cgroup)
		kind = ty_cgroup_name(ty_model_str(m, t->cgroup), out);
	if (kind == TY_CGROUP_CONTAINER || !t->born)
		return kind;
	*out = 0;
	return TY_CGROUP_OTHER;
}

const char *ty_model_cgroup_path(const struct ty_model *m, uint32_t thread)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	char name[TY_CGROUP_NAME_MAX];

	return t->cgroup && (!t->born || ty_model_cgroup(m, thread, name) == TY_CGROUP_CONTAINER)
		       ? ty_model_str(m, t->cgroup)
		       : NULL;
}

static uint32_t process_of(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_thread *t = ty_model_thread(m, thread);
	uint32_t p =
		t->tgid > 0 && t->tgid != t->tid ? ty_model_thread_find(m, t->tgid, t_ns) : thread;

	return p == TY_NONE ? thread : p;
}

uint64_t ty_model_executed(const struct ty_model *m, uint32_t process, uint64_t from_ns,
			   uint64_t to_ns)
{
	uint32_t n;
	const struct ty_name_at *at = ty_model_names(m, process, &n);
	uint32_t i = partition_point(k, 0u, n, at[k].from_ns <= from_ns);

	for (; i < n && at[i].from_ns <= to_ns; i++)
		if (i && at[i].str == at[i - 1].str)
			return at[i].from_ns;
	return UINT64_MAX;
}

/* No exec between these times, in whichever order; one whose event was lost shows in the name. */
static bool same_program(const struct ty_model *m, uint32_t process, uint64_t a, uint64_t b)
{
	return !strcmp(ty_model_comm(m, process, a), ty_model_comm(m, process, b)) &&
	       ty_model_executed(m, process, a < b ? a : b, a < b ? b : a) == UINT64_MAX;
}

/* NULL: it is of another program than the one that the process executes at t. */
static const struct ty_title *still(const struct ty_model *m, const struct ty_title *t,
				    uint64_t t_ns)
{
	return same_program(m, t->process, t->from_ns, t_ns) ? t : NULL;
}

static const struct ty_title *title_at(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_titles *all = __atomic_load_n(&m->titles, __ATOMIC_ACQUIRE);
	const struct ty_title *later = NULL, *next;

	for (unsigned i = 0; all && i < FORKS; i++) {
		const uint32_t p = process_of(m, thread, t_ns);
		const struct ty_thread *t = ty_model_thread(m, p);
		size_t k = partition_point(j, (size_t)0, all->n,
					   all->v[j].process < p || (all->v[j].process == p &&
								     all->v[j].from_ns <= t_ns));

		if (k && all->v[k - 1].process == p)
			return still(m, &all->v[k - 1], t_ns);
		/* Read somewhat later, it is still that one. */
		next = k < all->n && all->v[k].process == p ? still(m, &all->v[k], t_ns) : NULL;
		if (!t->born)
			return next ? next : later;
		if (!i)
			later = next;
		/* The parent's, until it executes a program. */
		if (t->forked_by < 0 || !same_program(m, p, t->start_ns, t_ns))
			return later;
		thread = (uint32_t)t->forked_by;
		t_ns = t->start_ns;
	}
	return later;
}

const char *ty_model_command_line(const struct ty_model *m, uint32_t thread, uint64_t t_ns)
{
	const struct ty_title *t = title_at(m, thread, t_ns);

	return t ? m->titles->text + t->whole : NULL;
}

/* NULL: its name is enough. comm: of the thread at that time. */
static const struct ty_title *telling(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				      const char *comm)
{
	const struct ty_title *t = title_at(m, thread, t_ns);
	uint32_t p;

	if (!t || t->brief == TY_NONE)
		return NULL;
	p = process_of(m, thread, t_ns);
	return p == thread || !strcmp(comm, ty_model_comm(m, p, t_ns)) ? t : NULL;
}

/* The words; of a title of the process' own ("nginx: worker process") those after its name. */
static const char *words(const struct ty_title *t, const char *part, const char *comm)
{
	const char *own = NULL;

	if (t->replaces_name && !strncmp(part, comm, strlen(comm)))
		own = strstr(part, ": ");
	return own && own[2] ? own + 2 : part;
}

int ty_comm_shown(const char *comm)
{
	int n = (int)strlen(comm), all = n;

	while (n && comm[n - 1] == ' ')
		n--;
	return n ? n : all;
}

int ty_comm_several(char *out, size_t size, const char *comm, uint32_t n, const char *what)
{
	return snprintf(out, size, "%.*s (%u %s)", ty_comm_shown(comm), comm, n, what);
}

static const char *put(const struct ty_model *m, uint32_t thread, uint64_t t_ns, const char *comm,
		       int32_t number, char out[TY_WHO_MAX])
{
	const struct ty_title *t = telling(m, thread, t_ns, comm);
	const char *s = t ? words(t, m->titles->text + t->brief, comm) : "";
	const char *name = *comm ? comm : TY_NO_NAME;
	size_t n = (size_t)snprintf(out, TY_WHO_MAX, number < 0 ? "%.*s" : "%.*s/%d",
				    ty_comm_shown(name), name, number);

	if (!t || n + 8 > TY_WHO_MAX) /* a damaged file may have longer names */
		return out;
	n += (size_t)sprintf(out + n, " \"");
	for (; *s && n + 4 < TY_WHO_MAX; s++) {
		if (*s == '"' || *s == '\\')
			out[n++] = '\\';
		out[n++] = *s;
	}
	strcpy(out + n, "\"");
	return out;
}

void ty_who_once(char *text)
{
	char *p = text, *end;

	while ((p = strchr(p, '/'))) {
		const size_t n = 1 + strspn(p + 1, "0123456789"); /* of "/12" */
		const char *first = text;

		if (n < 2 || strncmp(p + n, " \"", 2) != 0) {
			p++;
			continue;
		}
		for (end = p + n + 2; *end && *end != '"'; end++)
			end += *end == '\\' && end[1];
		if (!*end)
			return;
		while (strncmp(first, p, n + 2) != 0) /* found at p at the latest */
			first++;
		if (first < p)
			memmove(p + n, end + 1, strlen(end));
		p = first < p ? p + n : end;
	}
}

const char *ty_model_who_numbered(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				  int32_t number, char out[TY_WHO_MAX])
{
	return put(m, thread, t_ns, ty_model_comm(m, thread, t_ns), number, out);
}

const char *ty_model_who(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
			 char out[TY_WHO_MAX])
{
	return ty_model_who_numbered(m, thread, t_ns, ty_model_tid(m, thread, t_ns), out);
}

const char *ty_model_who_within(const struct ty_model *m, uint32_t thread, uint64_t t_ns,
				unsigned columns, char out[TY_WHO_MAX])
{
	enum { WORDS = 6 }; /* with blank and quotes; fewer bytes say nothing */
	const char *name = ty_model_comm(m, thread, t_ns), *comm = *name ? name : TY_NO_NAME;
	char number[16];
	unsigned n, keep;

	if (strlen(ty_model_who(m, thread, t_ns, out)) <= columns)
		return out;
	n = (unsigned)snprintf(number, sizeof(number), "/%d", ty_model_tid(m, thread, t_ns));
	if (strlen(comm) + n + WORDS <= columns) {
		for (keep = columns - 2; (out[keep] & 0xc0) == 0x80; keep--) /* whole characters */
			;
		keep -= out[keep - 1] == '\\';
		strcpy(out + keep, "~\"");
		return out;
	}
	keep = (unsigned)ty_comm_shown(comm);
	if (keep + n > columns) {
		keep = columns > n + 1 ? columns - n - 1 : 0;
		while (keep && (comm[keep] & 0xc0) == 0x80)
			keep--;
		snprintf(out, TY_WHO_MAX, "%.*s~%s", (int)keep, comm, number);
	} else {
		snprintf(out, TY_WHO_MAX, "%.*s%s", (int)keep, comm, number);
	}
	return out;
}

const char *ty_model_who_process(const struct ty_model *m, uint32_t thread, char out[TY_WHO_MAX])
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	return put(m, thread, t->end_ns, ty_model_str(m, t->name), t->tgid > 0 ? t->tgid : t->tid,
		   out);
}

const char *ty_model_who_last(const struct ty_model *m, uint32_t thread, char out[TY_WHO_MAX])
{
	const struct ty_thread *t = ty_model_thread(m, thread);

	return put(m, thread, t->end_ns, ty_model_str(m, t->name), t->tid, out);
}

/* Its start and its end, in n bytes; of an option only the end, where its value is. */
static void put_ends(char *out, const char *s, size_t n, bool option)
{
	size_t head = option ? 0 : (n - 1) / 2, tail = strlen(s) - (n - 1 - head);

	while (head && (s[head] & 0xc0) == 0x80) /* whole characters */
		head--;
	while ((s[tail] & 0xc0) == 0x80)
		tail++;
	sprintf(out, "%.*s~%s", (int)head, s, s + tail);
}

const char *ty_model_who_short(const struct ty_model *m, uint32_t thread, unsigned columns,
			       char out[TY_WHO_MAX])
{
	enum { END = 4 }; /* with ~; fewer bytes distinguish little */
	const struct ty_thread *t = ty_model_thread(m, thread);
	const char *comm = ty_model_str(m, t->name);
	const struct ty_title *title = telling(m, thread, t->end_ns, comm);
	const char *part =
		title && title->placeless != TY_NONE ? m->titles->text + title->placeless : NULL;
	const bool own = part && title->replaces_name;
	bool option;
	size_t n;

	snprintf(out, TY_WHO_MAX, "%s%s%s", own ? "" : comm, part && !own ? " " : "", part ?: "");
	if (!part || strlen(out) <= columns)
		return out;
	part = words(title, part, comm);
	option = !own && *part == '-' && strncmp(part, "-m ", 3) != 0; /* -m: a module */
	n = option ? strlen(comm) + 1 : 0;
	if (n + END > columns || (!option && strlen(part) <= columns))
		snprintf(out, TY_WHO_MAX, "%s", option ? comm : part);
	else
		put_ends(out + n, part, columns - n, option);
	return out;
}
