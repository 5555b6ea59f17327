/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the section of what pointers of system calls pointed to: indexed, searched for calls
 * that the bytes themselves name, and printed. Input: the section.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "syscall_values.h"

enum { BYTES_MAX = 65536, ASKED = 256 };

static FILE *null;

static void print(const struct ty_call_data_item *i)
{
	struct ty_buf b;

	if (!i->p)
		return;
	ty_buf_init(&b, 1 << 20);
	ty_call_data_text(i, &b);
	ty_call_data_short(i, i->len & 1, &b);
	/* Strings end with a NUL that is there. */
	if (i->kind == TY_EVK_STRING && i->p[i->len])
		abort();
	ty_buf_fini(&b);
}

/* Structures, as the arguments of the call that the record's number is on x86-64. */
static void print_values(struct ty_call_data_index *x, const struct ty_call *c)
{
	struct ty_values v;
	struct ty_buf b;
	struct ty_json j;

	if (!ty_values_find(&v, ty_sysarch_find("x86_64"), x, c, ty_call_data_after(x, c->tid)))
		return;
	ty_buf_init(&b, 1 << 20);
	(void)ty_values_ready(&v);
	for (unsigned n = ty_values_fds(&v); n; n--)
		v.fd_names[n - 1] = v.fds[n - 1] & 1 ? "pipe:[1]" : NULL;
	for (unsigned i = 0; i < 6; i++)
		ty_values_arg(&v, i, &b);
	ty_values_after(&v, &b);
	ty_json_init(&j, null);
	ty_json_object(&j, NULL);
	ty_values_json(&v, &b, &j);
	ty_json_end_object(&j);
	ty_json_line(&j);
	ty_json_fini(&j);
	ty_buf_fini(&b);
}

static void ask(struct ty_call_data_index *x, const struct ty_ev_record *h)
{
	struct ty_call c = {.tid = (int32_t)h->tid,
			    .end_tid = (int32_t)h->tid,
			    .nr = h->nr,
			    .start_ns = h->flags & TY_EVF_EXIT ? h->ns - 1 : h->ns + 1,
			    .end_ns = h->ns + 2,
			    .ret = h->pad2 ? (int64_t)h->pad2 : h->len,
			    .how = h->flags & TY_EVF_EXIT ? TY_CALL_RETURNED : TY_CALL_OPEN};
	struct ty_call_data_item item[6];
	struct ty_ev_fd fd;
	struct ty_buf b;

	for (unsigned i = 0; i < 6; i++)
		c.args[i] = h->ptr;
	ty_call_data_of(x, &c, ty_call_data_after(x, c.tid), item);
	for (unsigned i = 0; i < 6; i++)
		print(&item[i]);
	print_values(x, &c);
	c.how = TY_CALL_RETURNED;
	print_values(x, &c);
	ty_buf_init(&b, 8192);
	for (unsigned i = 0; i < TY_EV_RECEIVED_CALL && ty_call_data_received(x, &c, i, &fd, &b);)
		i++;
	ty_buf_fini(&b);
	if (h->pad & 1)
		ty_call_data_over(x, c.tid, h->ns);
	if (h->pad & 2)
		ty_call_data_gap(x, h->ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ty_call_data_index *x;
	unsigned asked = 0;

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null || size > BYTES_MAX)
		return 0;
	x = ty_call_data_index_new(data, size, 0);
	if (!x)
		return 0;
	/* As the index goes from record to record. */
	for (size_t at = 0; size - at >= sizeof(struct ty_ev_record) && asked < ASKED; asked++) {
		struct ty_ev_record h;

		memcpy(&h, data + at, sizeof(h));
		ask(x, &h);
		if (h.len > size - at - sizeof(h))
			break;
		at += sizeof(h) + h.len;
	}
	ty_call_data_counts(x);
	ty_call_data_index_free(x);
	return 0;
}
