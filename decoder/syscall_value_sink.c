/* SPDX-License-Identifier: MIT */
/* See syscall_value_sink.h. */
#include "syscall_value_sink.h"

#include "syscalls.h"

void ty_sink_next(struct ty_value_sink *s, const char *key)
{
	if (s->j)
		return;
	if (s->more)
		ty_buf_adds(s->b, ", ");
	s->more = true;
	if (key) {
		ty_buf_adds(s->b, key);
		ty_buf_addc(s->b, '=');
	}
}

void ty_sink_open(struct ty_value_sink *s, const char *key, char c)
{
	ty_sink_next(s, key);
	if (!s->j)
		ty_buf_addc(s->b, c);
	else if (c == '{')
		ty_json_object(s->j, key);
	else
		ty_json_array(s->j, key);
	s->more = false;
}

void ty_sink_close(struct ty_value_sink *s, char c)
{
	if (!s->j)
		ty_buf_addc(s->b, c);
	else if (c == '}')
		ty_json_end_object(s->j);
	else
		ty_json_end_array(s->j);
	s->more = true;
}

void ty_sink_int(struct ty_value_sink *s, const char *key, int64_t v)
{
	ty_sink_next(s, key);
	if (s->j)
		ty_json_i64(s->j, key, v);
	else
		ty_buf_addf(s->b, "%lld", (long long)v);
}

void ty_sink_uint(struct ty_value_sink *s, const char *key, uint64_t v)
{
	ty_sink_next(s, key);
	if (s->j)
		ty_json_u64(s->j, key, v);
	else
		ty_buf_addf(s->b, "%llu", (unsigned long long)v);
}

void ty_sink_ptr(struct ty_value_sink *s, const char *key, uint64_t v)
{
	ty_sink_next(s, key);
	if (s->j && v)
		ty_json_hex(s->j, key, v);
	else if (s->j)
		ty_json_null(s->j, key);
	else if (v)
		ty_buf_addf(s->b, "%#llx", (unsigned long long)v);
	else
		ty_buf_adds(s->b, "NULL");
}

void ty_sink_word(struct ty_value_sink *s, const char *key, const char *word)
{
	ty_sink_next(s, key);
	if (s->j)
		ty_json_str(s->j, key, word);
	else
		ty_buf_adds(s->b, word);
}

void ty_sink_set(struct ty_value_sink *s, const char *key, enum ty_set set, uint64_t v)
{
	ty_sink_next(s, key);
	if (s->j)
		ty_buf_reset(s->b);
	ty_set_text(set, v, s->b);
	if (s->j)
		ty_json_strn(s->j, key, s->b->p ? s->b->p : "", s->b->len);
}

void ty_sink_fd(struct ty_value_sink *s, const char *key, int32_t fd)
{
	const char *name = s->o ? ty_values_fd_name(s->o, fd) : NULL;

	ty_sink_int(s, key, fd);
	if (name && !s->j)
		ty_syscall_fmt_fd_name(name, s->b);
	else if (name && key)
		ty_json_str(s->j, "fd_name", name);
}

void ty_sink_data(struct ty_value_sink *s, const char *key, const char *p, size_t n, bool cut)
{
	const struct ty_call_data_item item = {p, (unsigned)(n < TY_SINK_SHOWN ? n : TY_SINK_SHOWN),
					       TY_EVK_STRING,
					       cut || n > TY_SINK_SHOWN ? TY_EVF_CUT : 0};

	ty_sink_next(s, key);
	if (s->j)
		ty_json_strn(s->j, key, p, n);
	else
		ty_call_data_text(&item, s->b);
}

void ty_sink_dots(struct ty_value_sink *s)
{
	ty_sink_next(s, NULL);
	if (s->j)
		ty_json_null(s->j, NULL);
	else
		ty_buf_adds(s->b, "...");
}
