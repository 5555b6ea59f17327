/* SPDX-License-Identifier: MIT */
#include "call_data_source.h"

#include "key_value.h"
#include "section.h"
#include "user_strings.h"

bool ty_session_event_strings(const struct ty_session *s)
{
	const char *facts = ty_trace_section(s->trace, TY_SEC_MACHINE).s;
	char one[2] = "";

	ty_key_value(facts, "strings", one, sizeof(one));
	return s->formats && (!*one || ty_key_value(facts, "strings_bytes", NULL, 0)) &&
	       ty_user_strings_in(s->formats);
}

struct ty_text ty_session_call_data(struct ty_session *s)
{
	struct ty_text section = ty_trace_section(s->trace, TY_SEC_CALL_DATA);
	const char *facts = ty_trace_section(s->trace, TY_SEC_MACHINE).s;
	struct ty_paged *b = &s->event_strings;

	pthread_mutex_lock(&s->event_strings_lock);
	if (!s->event_strings_read && ty_session_event_strings(s)) {
		b->limit = ty_paged_limit(s->memory_bytes);
		if ((section.n && ty_paged_add(b, section.s, section.n)) ||
		    ty_user_strings_read(s->trace, s->formats, s->arch,
					 (unsigned)ty_key_u64(facts, "strings_bytes"), b,
					 &s->call_data_err)) {
			ty_paged_fini(b);
			ty_fail(&s->call_data_err, TY_ENOMEM, TY_NO_OFFSET,
				"%s: out of memory for strings of its events", s->trace->path);
		}
	}
	s->event_strings_read = true;
	pthread_mutex_unlock(&s->event_strings_lock);
	return b->n ? (struct ty_text){b->p, b->n} : section;
}
