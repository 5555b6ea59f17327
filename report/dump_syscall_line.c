/* SPDX-License-Identifier: MIT */
/*
 * One line of tarry dump syscalls: a call with the names of its descriptors and the data behind its
 * pointers, or a gap; as text or JSON. The order of lines is dump_syscalls.c's.
 */
#include "dump_syscalls_priv.h"

#include <stdlib.h>
#include <string.h>

#include "syscall_values.h"

#define INNER_MAX     (64u << 20) /* bytes of lists of descriptors in structures; beyond, no names */
#define PEERS_FROM_NS 1000000	  /* shorter calls did not wait for a peer */

static void put_text(struct dump *d)
{
	ty_buf_addc(&d->text, '\n');
	fwrite_unlocked(d->text.p, 1, d->text.len, d->out);
}

/* The data behind pointers, as items and as texts in d->strings_text. A call already shown as
 * unfinished has none yet when it ends. */
static void add_strings(struct dump *d, const struct line *l, const struct ty_sysrow *row,
			bool begun, const struct ty_values *values,
			struct ty_call_data_item item[6], struct ty_arg_names *names)
{
	const struct ty_call *c = &l->u.call;
	size_t at[6] = {0}, after;
	bool paths = false, known = true;

	ty_call_data_of(d->walk.strings, c, l->after_ns, item);
	ty_buf_reset(&d->strings_text);
	for (unsigned i = 0; i < row->n; i++) {
		if (row->a[i] == TY_ARG_PATH && c->args[i] && !begun) {
			paths = true;
			known &= item[i].p != NULL;
		}
		if (!item[i].p || (item[i].kind == TY_EVK_FDS && row->a[i] != TY_ARG_FDS_OUT))
			continue;
		at[i] = d->strings_text.len + 1;
		ty_call_data_text(&item[i], &d->strings_text);
		ty_buf_addc(&d->strings_text, 0);
	}
	for (unsigned i = 0; values && i < row->n; i++) {
		const size_t start = d->strings_text.len;

		if (at[i] || !ty_values_arg(values, i, &d->strings_text))
			continue;
		at[i] = start + 1;
		ty_buf_addc(&d->strings_text, 0);
	}
	after = d->strings_text.len;
	if (!values || !ty_values_after(values, &d->strings_text))
		after = SIZE_MAX;
	ty_buf_addc(&d->strings_text, 0);
	for (unsigned i = 0; i < 6 && !d->strings_text.failed; i++)
		names->text[i] = at[i] ? d->strings_text.p + at[i] - 1 : NULL;
	if (after != SIZE_MAX && !d->strings_text.failed)
		names->after = d->strings_text.p + after;
	d->paths += paths && !ty_call_end_only(c);
	d->paths_unknown += paths && !known && !ty_call_end_only(c);
}

static bool is_fd(const struct ty_sysrow *row, unsigned i)
{
	return row->a[i] == TY_ARG_FD || row->a[i] == TY_ARG_DIRFD;
}

/* The objects of the call's descriptors at its start. */
static void name_fds(const struct dump *d, struct line *l)
{
	const struct ty_call *c = &l->u.call;
	const struct ty_sysrow *row = ty_syscall_row(d->s->arch, c->abi, c->nr);

	for (unsigned i = 0, k = 0; i < row->n && k < TY_DUMP_FDS; i++)
		if (is_fd(row, i))
			l->fd[k++] = ty_fd_track_name(d->walk.fds, l->pid, (int32_t)c->args[i],
						      c->start_ns);
}

static uint32_t keep_list(struct dump *d, const char *list, size_t len)
{
	const uint32_t n = ty_strtab_count(d->inner), id = ty_strtab_add(d->inner, list, len);

	if (id == UINT32_MAX)
		return 0;
	if (id >= n)
		d->inner_bytes += len;
	return id;
}

/* The objects of the descriptors in structures at the call's begin; at its end where the structure
 * was read only there. */
static void name_inner(struct dump *d, struct line *l)
{
	char list[TY_VALUES_FDS * 10];
	const struct ty_call *c = &l->u.call;
	const struct ty_sysrow *row = ty_syscall_row(d->s->arch, c->abi, c->nr);
	struct ty_values v;
	size_t len = 0;
	unsigned n;

	if ((row->ret != TY_RET_POLL && !memchr(row->a, TY_ARG_MSG_IN, row->n) &&
	     !memchr(row->a, TY_ARG_MMSG_IN, row->n) &&
	     !(row->fds == TY_FDS_RECEIVED && ty_fd_track_follows(d->walk.fds, c))) ||
	    !ty_values_find(&v, d->s->arch, d->walk.strings, c, l->after_ns))
		return;
	n = ty_values_fds(&v);
	for (unsigned i = 0; i < n; i++)
		len += (size_t)snprintf(
			list + len, sizeof(list) - len, "%x ",
			ty_fd_track_name(d->walk.fds, l->pid, v.fds[i],
					 c->how == TY_CALL_RETURNED ? c->end_ns : c->start_ns));
	if (!n || d->inner_bytes > INNER_MAX)
		return;
	l->inner = keep_list(d, list, len);
}

/* Of a call that waited: the processes at the other end of its descriptor, as its end finds
 * them, and those that closed it meanwhile. */
static void name_peers(struct dump *d, struct line *l)
{
	const struct ty_call *c = &l->u.call;
	const struct ty_sysrow *row = ty_syscall_row(d->s->arch, c->abi, c->nr);
	char list[TY_FD_HOLDERS * (TY_COMM + 16)], comm[TY_COMM + 1];
	int32_t pid[TY_FD_HOLDERS];
	size_t len = 0;
	unsigned n, i = 0;

	while (i < row->n && row->a[i] != TY_ARG_FD)
		i++;
	if (!d->json || i == row->n || !l->fd[0] || c->end_ns - c->start_ns < PEERS_FROM_NS ||
	    ty_call_end_only(c) || d->inner_bytes > INNER_MAX)
		return;
	n = ty_fd_holders_find(&d->holders, d->walk.fds, l->pid, (int32_t)c->args[i], l->fd[0],
			       c->start_ns, pid);
	for (unsigned k = 0; k < n; k++) {
		snprintf(comm, sizeof(comm), "%s", ty_thread_names_get(d->comms, pid[k]));
		for (char *s = comm; (s = strchr(s, '\n'));)
			*s = '?';
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%d %s\n", pid[k], comm);
	}
	l->peers = n ? keep_list(d, list, len) : 0;
}

static void inner_names(const struct dump *d, const struct line *l, struct ty_values *v)
{
	const char *list = ty_strtab_get(d->inner, l->inner);
	char *end;

	ty_values_fds(v);
	for (unsigned i = 0; i < TY_VALUES_FDS; i++, list = end) {
		const unsigned long id = strtoul(list, &end, 16);

		if (end == list)
			break;
		v->fd_names[i] = ty_fd_track_text(d->walk.fds, (uint32_t)id);
	}
}

/* The object of the descriptor that the call created. */
void ty_dump_line_result(struct dump *d, struct line *l)
{
	const struct ty_call *c = &l->u.call;
	const struct ty_sysrow *row;

	if (c->how == TY_CALL_RETURNED)
		name_peers(d, l);
	if (c->how != TY_CALL_RETURNED || c->ret < 0)
		return;
	if (!l->inner && d->walk.strings)
		name_inner(d, l);
	row = ty_syscall_row(d->s->arch, c->abi, c->nr)->as;
	if (row->fds == TY_FDS_NEW || ty_sysrow_copies(row, c->args) ||
	    ty_sysrow_terminal(row, c->args))
		l->result = ty_fd_track_name(d->walk.fds, l->pid, (int32_t)c->ret, c->end_ns);
}

static void show_call(struct dump *d, const struct line *l, enum ty_call_part part)
{
	const struct ty_call *c = &l->u.call;
	const struct ty_sysrow *row = ty_syscall_row(d->s->arch, c->abi, c->nr);
	struct ty_call_data_item item[6];
	struct ty_arg_names names = {0};
	struct ty_values values;
	bool valued = false;

	for (unsigned i = 0, k = 0; i < row->n && k < TY_DUMP_FDS; i++)
		if (is_fd(row, i))
			names.fd[i] = ty_fd_track_text(d->walk.fds, l->fd[k++]);
	names.result = ty_fd_track_text(d->walk.fds, l->result);
	names.peers = l->peers ? ty_strtab_get(d->inner, l->peers) : NULL;
	if (d->walk.strings && row->points) {
		valued = ty_values_find(&values, d->s->arch, d->walk.strings, c, l->after_ns);
		if (valued)
			inner_names(d, l, &values);
		add_strings(d, l, row, part == TY_CALL_BEGUN, valued ? &values : NULL, item,
			    &names);
	}
	if (d->json) {
		if (part != TY_CALL_BEGUN) /* a JSON line is printed when all of it is known */
			ty_call_json(d->s->arch, c, l->pid, l->comm, &names,
				     d->walk.strings && row->points ? item : NULL,
				     valued ? &values : NULL, &d->text, &d->j);
		return;
	}
	ty_buf_reset(&d->text);
	ty_call_text(d->s->arch, &d->wall, c, part, &names, &d->text);
	put_text(d);
}

static void show_gap(struct dump *d, const struct line *l)
{
	static const char *const what[] = {[TY_GAP_OVERRUN] = "overrun",
					   [TY_GAP_DAMAGED] = "damaged",
					   [TY_GAP_UNFINISHED] = "unfinished"};
	const char *name = l->u.gap.what <= TY_GAP_UNFINISHED ? what[l->u.gap.what] : "lost";
	struct ty_buf *b = &d->text;

	if (d->json) {
		ty_json_object(&d->j, NULL);
		ty_json_u64(&d->j, "ts_ns", l->u.gap.to_ns);
		ty_json_u64(&d->j, "cpu", l->u.gap.cpu);
		ty_json_str(&d->j, "gap", name);
		ty_json_u64(&d->j, "from_ns", l->u.gap.from_ns);
		ty_json_u64_if(&d->j, "count", l->u.gap.count != UINT64_MAX, l->u.gap.count);
		if (l->u.gap.to_end)
			ty_json_bool(&d->j, "to_end", true);
		ty_json_end_object(&d->j);
		ty_json_line(&d->j);
		return;
	}
	ty_buf_reset(b);
	ty_buf_adds(b, "--- ");
	if (l->u.gap.what == TY_GAP_UNFINISHED) {
		ty_buf_addf(b, "CPU %u: the recording was not finished. Events are missing after ",
			    l->u.gap.cpu);
		ty_wall_fmt(&d->wall, l->u.gap.from_ns ? l->u.gap.from_ns : l->u.gap.to_ns, b);
	} else {
		if (l->u.gap.count == UINT64_MAX)
			ty_buf_adds(b, "events");
		else
			ty_buf_addf(b, "%llu event%s", (unsigned long long)l->u.gap.count,
				    l->u.gap.count == 1 ? "" : "s");
		ty_buf_addf(b, " lost on CPU %u%s ", l->u.gap.cpu,
			    l->u.gap.what == TY_GAP_DAMAGED ? " (the file is damaged)" : "");
		if (l->u.gap.to_end) {
			ty_buf_adds(b, "after ");
		} else if (l->u.gap.from_ns) {
			ty_buf_adds(b, "between ");
			ty_wall_fmt(&d->wall, l->u.gap.from_ns, b);
			ty_buf_adds(b, " and ");
		} else {
			ty_buf_adds(b, "before ");
		}
		ty_wall_fmt(&d->wall,
			    l->u.gap.to_end && l->u.gap.from_ns ? l->u.gap.from_ns : l->u.gap.to_ns,
			    b);
	}
	ty_buf_adds(b, " ---");
	put_text(d);
}

void ty_dump_line(struct dump *d, const struct line *l)
{
	switch ((enum kind)l->kind) {
	case LINE_CALL: show_call(d, l, TY_CALL_WHOLE); break;
	case LINE_RESUMED: show_call(d, l, TY_CALL_RESUMED); break;
	case LINE_GAP: show_gap(d, l); break;
	case LINE_PENDING:
	case LINE_DROPPED: break;
	}
}

void ty_dump_line_begun(struct dump *d, const struct line *l)
{
	show_call(d, l, TY_CALL_BEGUN);
}

void ty_dump_line_name(struct dump *d, struct line *l)
{
	name_fds(d, l);
	if (d->walk.strings)
		name_inner(d, l);
}
