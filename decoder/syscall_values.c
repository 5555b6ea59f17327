/* SPDX-License-Identifier: MIT */
/* See syscall_values.h. Which record is an argument's; syscall_structs.c writes what it holds. */
#include "syscall_values.h"

#include <poll.h>
#include <string.h>

#include "syscall_structs.h"

bool ty_values_find(struct ty_values *o, const struct ty_sysarch *arch,
		    const struct ty_call_data_index *x, const struct ty_call *c, uint64_t after_ns)
{
	memset(o, 0, sizeof(*o));
	o->arch = arch;
	o->call = c;
	o->row = ty_syscall_row(arch, c->abi, c->nr);
	if (!x || !o->row->points || ty_sysarch_bits32(arch, c->abi))
		return false;
	ty_call_data_values(x, c, after_ns, &o->v);
	for (unsigned i = 0; i < 6; i++)
		if (o->v.in[i].p || o->v.out[i].p)
			return true;
	return false;
}

static bool is_poll(const struct ty_values *o)
{
	return o->row->ret == TY_RET_POLL;
}

/* A poll that found something: only then does the kernel's part have a meaning. */
static bool is_ready(const struct ty_values *o)
{
	return is_poll(o) && o->call->ret > 0;
}

/* An argument that the kernel reads may be recorded at exit, unless it is written there, too. */
static struct ty_call_data_item value_of(const struct ty_values *o, unsigned i)
{
	const struct ty_call_data_item none = {0};
	const struct ty_pointee p = ty_values_pointee(o, i);

	if (o->v.in[i].p)
		return o->v.in[i];
	if (o->row->a[i] == TY_ARG_POLLFD) { /* what the caller wrote stays there */
		struct ty_call_data_item it = o->v.out[i];

		it.flags &= (uint8_t)~TY_EVF_EXIT;
		return it;
	}
	if (is_poll(o))
		return none;
	for (unsigned k = 0; p.in && !p.out && k < o->row->n; k++)
		if (k != i && ty_values_pointee(o, k).out && o->call->args[k] == o->call->args[i])
			return none;
	return o->v.out[i];
}

static void add_fd(struct ty_values *o, uint64_t fd)
{
	if (o->fds_n < TY_VALUES_FDS)
		o->fds[o->fds_n++] = (int32_t)fd;
}

/* Those of SCM_RIGHTS. */
static void message_fds(struct ty_values *o, struct ty_record_bytes v, unsigned arg, bool at_exit)
{
	const struct ty_call_data_item c =
		ty_call_data_memory(&o->v, arg, ty_record_get(v, 32, 8), at_exit);
	const struct ty_record_bytes b = ty_record_bytes_of(&c);
	size_t m;

	for (size_t at = 0; (m = ty_control_size(b, at)); at += (m + 7) & ~(size_t)7)
		for (size_t k = 16; ty_record_get(b, at + 8, 8) == (1ull << 32 | 1) && m - k >= 4;
		     k += 4)
			add_fd(o, ty_record_get(b, at + k, 4));
}

static bool has_fd(struct ty_record_bytes set, uint32_t fd)
{
	return (unsigned char)set.p[fd / 8] >> fd % 8 & 1;
}

/* Of a set of select in v: how many bits count. */
static uint32_t set_bits(const struct ty_values *o, unsigned i, struct ty_record_bytes v)
{
	const uint64_t n = v.n * 8;

	return o->row->a[i] != TY_ARG_FDSET || !v.p ? 0
	       : (uint32_t)o->call->args[0] < n	    ? (uint32_t)o->call->args[0]
						    : (uint32_t)n;
}

unsigned ty_values_fds(struct ty_values *o)
{
	o->fds_n = 0;
	for (unsigned i = 0; i < o->row->n; i++) {
		const struct ty_call_data_item it = value_of(o, i);
		const struct ty_record_bytes v = ty_record_bytes_of(&it);
		const uint8_t kind = o->row->a[i];
		const size_t bytes = ty_values_pointee(o, i).bytes;

		if (!v.p)
			continue;
		for (size_t at = 0; kind == TY_ARG_POLLFD && v.n - at >= 8; at += 8)
			add_fd(o, ty_record_get(v, at, 4));
		for (uint32_t fd = 0; fd < set_bits(o, i, v); fd++)
			if (has_fd(v, fd))
				add_fd(o, fd);
		for (size_t at = 0;
		     kind >= TY_ARG_MSG_IN && kind <= TY_ARG_MMSG_OUT && v.n - at >= bytes;
		     at += bytes)
			message_fds(o, (struct ty_record_bytes){v.p + at, 56, false}, i,
				    it.flags & TY_EVF_EXIT);
	}
	return o->fds_n;
}

int32_t ty_values_ready(const struct ty_values *o)
{
	int32_t ready = -1;

	for (unsigned i = 0; i < o->row->n && is_poll(o); i++) {
		const struct ty_record_bytes v = ty_record_bytes_of(&o->v.out[i]);
		const bool set = o->row->a[i] == TY_ARG_FDSET;
		const uint32_t n = o->row->a[i] == TY_ARG_POLLFD ? (uint32_t)(v.n / 8)
				   : set			 ? (uint32_t)o->call->args[0]
								 : 0;

		for (uint32_t k = 0; v.p && k < n && k / 8 < v.n; k++) {
			if (set ? !has_fd(v, k) : !ty_record_get(v, (size_t)k * 8 + 6, 2))
				continue;
			if (ready >= 0 || v.cut)
				return -1;
			ready = set ? (int32_t)k : (int32_t)ty_record_get(v, (size_t)k * 8, 4);
		}
	}
	return ready;
}

bool ty_values_polled(const struct ty_values *o, int32_t *fd, bool *room)
{
	const struct ty_call_data_item in = value_of(o, 0);
	const struct ty_record_bytes asked = ty_record_bytes_of(&in),
				     found = ty_record_bytes_of(&o->v.out[0]);

	if (o->row->a[0] != TY_ARG_POLLFD || o->call->args[1] != 1 || !asked.p || asked.n < 8)
		return false;
	*fd = (int32_t)ty_record_get(asked, 0, 4);
	*room = is_ready(o) && found.p && found.n >= 8 && ty_record_get(asked, 4, 2) & POLLOUT &&
		ty_record_get(found, 6, 2) == POLLOUT;
	return *fd >= 0;
}

bool ty_values_arg(const struct ty_values *o, unsigned i, struct ty_buf *out)
{
	const struct ty_call_data_item it = value_of(o, i);
	struct ty_value_sink s = {.b = out, .o = o};

	return ty_struct_put(&s, i, &it);
}

bool ty_values_after(const struct ty_values *o, struct ty_buf *out)
{
	static const char *const sets[] = {NULL, "in ", "out ", "except "};
	bool any = false;

	for (unsigned i = 0; is_ready(o) && i < o->row->n; i++) {
		const struct ty_call_data_item *it = &o->v.out[i];
		const uint8_t kind = o->row->a[i];
		struct ty_value_sink s = {.b = out, .o = o};
		bool empty = kind == TY_ARG_FDSET;

		if (!it->p || (kind != TY_ARG_POLLFD && it->len < ty_values_pointee(o, i).bytes))
			continue;
		for (size_t at = 0; at < it->len; at++)
			empty &= !it->p[at];
		if (empty)
			continue;
		ty_buf_adds(out, any ? ", " : " (");
		ty_buf_adds(out, kind == TY_ARG_FDSET && i < 4 ? sets[i]
				 : kind == TY_ARG_POLLFD       ? ""
							       : "left ");
		any |= ty_struct_put(&s, i, it);
	}
	if (any)
		ty_buf_addc(out, ')');
	return any;
}

static void json_args(const struct ty_values *o, const char *key, bool after,
		      struct ty_buf *scratch, struct ty_json *j)
{
	struct ty_value_sink s = {.b = scratch, .j = j, .o = o};
	bool any = false;

	for (unsigned i = 0; i < o->row->n; i++)
		any |= after ? o->v.out[i].p != NULL : value_of(o, i).p != NULL;
	if (!any || (after && !is_ready(o)))
		return;
	ty_json_array(j, key);
	for (unsigned i = 0; i < o->row->n; i++) {
		const struct ty_call_data_item it = after ? o->v.out[i] : value_of(o, i);

		if (!ty_struct_put(&s, i, &it))
			ty_json_null(j, NULL);
	}
	ty_json_end_array(j);
}

static void json_set_names(const struct ty_values *o, const char *key, bool after,
			   struct ty_json *j)
{
	bool any = false;

	for (unsigned pass = 0; pass < 2 && (!pass || any); pass++) {
		if (pass)
			ty_json_array(j, key);
		for (unsigned i = 0; i < o->row->n; i++) {
			const struct ty_call_data_item it = after ? o->v.out[i] : value_of(o, i);
			const struct ty_record_bytes v = ty_record_bytes_of(&it);
			const uint32_t bits = set_bits(o, i, v);

			if (pass && bits)
				ty_json_array(j, NULL);
			for (uint32_t fd = 0; fd < bits; fd++) {
				const char *name =
					has_fd(v, fd) ? ty_values_fd_name(o, (int32_t)fd) : NULL;

				any |= name != NULL;
				if (pass && has_fd(v, fd))
					ty_json_str(j, NULL, name);
			}
			if (pass && bits)
				ty_json_end_array(j);
			else if (pass)
				ty_json_null(j, NULL);
		}
		if (pass)
			ty_json_end_array(j);
	}
}

void ty_values_json(const struct ty_values *o, struct ty_buf *scratch, struct ty_json *j)
{
	json_args(o, "values", false, scratch, j);
	json_set_names(o, "values_fd_names", false, j);
	json_args(o, "values_out", true, scratch, j);
	if (is_ready(o))
		json_set_names(o, "values_out_fd_names", true, j);
}
