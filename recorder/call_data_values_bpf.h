/* SPDX-License-Identifier: MIT */
/* In the kernel: the structures and buffers that arguments point to, as the table says. */
#ifndef TY_CALL_DATA_VALUES_BPF_H
#define TY_CALL_DATA_VALUES_BPF_H

#include "call_data_put_bpf.h"
#include "call_data_strings_bpf.h"

struct buffers {
	const struct ty_ev_record *head;
	__u64 ptr, n, left;
};

static long put_buffer(__u32 i, struct buffers *b)
{
	struct {
		__u64 base, len;
	} v;

	if (i >= b->n || !b->left ||
	    bpf_probe_read_user(&v, sizeof(v), (const void *)(b->ptr + sizeof(v) * i)))
		return 1;
	if (v.len > b->left)
		v.len = b->left;
	b->left -= v.len;
	if (v.base && v.len)
		put_bytes(b->head, TY_EVK_MEMORY, v.base, v.len, data);
	return 0;
}

/* The first bytes of a vector's buffers, of which `left` hold something. By bpf_loop: the verifier
 * checks every iteration of a plain loop, and gives up. */
static __always_inline void put_buffers(const struct ty_ev_record *head, __u64 ptr, __u64 n,
					__u64 left)
{
	struct buffers b = {head, ptr, n, left};

	if (data)
		bpf_loop(TY_EV_BUFFERS, put_buffer, &b, 0);
}

/* The values that the call's arguments point to. when: IN, or LATE|OUT with the result; with STAYS,
 * what the enter left out. Returns whether such a value was left out now. */
static __always_inline int put_values(struct ty_ev_call *what, __u32 tid, __u32 nr,
				      const __u64 a[6], __u8 when, __s64 result)
{
	struct ty_ev_record head = {.tid = tid, .nr = nr};
	struct ty_ev_budget *b = budget();
	int stays = 0;
	const __u64 left = when & TY_EV_IN ? ~0ull : result > 0 ? result : 0;

	head.flags = when & TY_EV_IN ? 0 : TY_EVF_EXIT;
#pragma clang loop unroll(disable)
	for (int i = 0; i < 5; i++) {
		const struct ty_ev_value *v = &what->values[i];
		__u32 at = v->arg - 1u, of = v->count;
		__u64 ptr, n = 1, again = when & v->when & TY_EV_STAYS;

		if (at > 5)
			break;
		ptr = a[at];
		if (!ptr || !(v->when & when) || (v->when & TY_EV_DATA && !data))
			continue;
		if (!(when & TY_EV_IN) && v->when & TY_EV_OUT && !again &&
		    (result < 0 || (v->when & TY_EV_SOME && !result)))
			continue;
		if (!affords(b)) {
			b->left_out += !again || result > 0;
			stays |= v->when & TY_EV_STAYS;
			continue;
		}
		if (again && b)
			b->left_out--;
		if (of < 6)
			n = (__u32)a[of];
		else if (of == TY_EV_RESULT)
			n = (__u64)result < a[2] ? (__u64)result : a[2];
		else if (of == TY_EV_BITS)
			n = ((__u32)a[0] + 63) / 64;
		head.arg = at;
		put_bytes(&head, TY_EVK_VALUES, ptr, n * v->bytes,
			  v->when & TY_EV_DATA && v->bytes == 1 ? data : TY_EV_VALUES_BYTES);
		if (v->when & TY_EV_IOV)
			put_buffers(&head, ptr, n, left);
	}
	return stays;
}

/* Without its arguments, only what a call with one structure leaves out can be counted. */
static __always_inline int has_one(const struct ty_ev_call *what)
{
	return !what->values[1].arg;
}

enum { EPOLL_CTL_DEL = 2 };
/* FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
#define FUTEX_WAITS (1u << 0 | 1u << 6 | 1u << 9 | 1u << 11 | 1u << 13)

SEC("tp") int enter_values(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 nr = c->nr, op = c->more[1];
	__u8 *byte;
	struct ty_ev_call *what = find_call(id, nr, &byte);
	struct ty_ev_budget *b = budget();
	__u8 stays;

	if (!what || (what->only == TY_EV_FUTEX_WAITS && !(FUTEX_WAITS >> (op & 31) & 1)) ||
	    (what->only == TY_EV_NOT_DEL && op == EPOLL_CTL_DEL))
		return 0;
	stays = what->values[0].when & TY_EV_STAYS;
	if ((stays || what->only == TY_EV_NOT_DEL) && has_one(what) && is_spent(b)) {
		b->left_out++;
		if (byte && stays)
			*byte |= TY_EV_LEFT_OUT;
		return 0;
	}
	get_args(a);
	if (put_values(what, id, nr, a, TY_EV_IN, 0) && byte)
		*byte |= TY_EV_LEFT_OUT;
	return 0;
}

SEC("tp") int leave_values(struct call *c)
{
	__u64 id = bpf_get_current_pid_tgid(), a[6];
	__u32 nr = c->nr;
	__u8 *byte;
	struct ty_ev_call *what = find_call(id, nr, &byte);
	struct ty_ev_budget *b = budget();
	__u8 when = TY_EV_LATE | TY_EV_OUT;

	if (!what)
		return 0;
	if (byte && *byte & TY_EV_DEFERRED)
		put_deferred(byte, id, nr);
	if (byte && *byte & TY_EV_LEFT_OUT) {
		*byte &= ~TY_EV_LEFT_OUT;
		when |= TY_EV_STAYS;
	}
	if ((what->values[0].when & TY_EV_STAYS || what->values[0].count == TY_EV_RESULT) &&
	    has_one(what) && is_spent(b)) {
		b->left_out += c->more[0] > 0;
		return 0;
	}
	get_args(a);
	put_values(what, id, nr, a, when, c->more[0]);
	return 0;
}

#endif
