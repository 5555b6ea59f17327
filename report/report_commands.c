/* SPDX-License-Identifier: MIT */
/* See report_commands.h. */
#include "report_commands.h"

#include <string.h>

#include "interpreter.h"
#include "process_of_thread.h"
#include "process_titles.h"
#include "put_text.h"

#define MOST 120 /* bytes */

/* It has arguments, and they are not just those that the name has behind it. */
static bool says_more(const char *line, const char *who)
{
	const char *arguments = strchr(line, ' '), *words = strchr(who, '"');
	const size_t n = arguments ? strlen(++arguments) : 0;

	return n && !(words && strlen(++words) == n + 1 && !strncmp(words, arguments, n));
}

static bool is_new(struct ty_commands *k, const char *line, int32_t pid)
{
	for (unsigned i = 0; i < k->n; i++)
		if (k->line[i] == line && k->pid[i] == pid)
			return false;
	if (k->n == TY_COMMANDS_SHOWN)
		return false;
	k->line[k->n] = line;
	k->pid[k->n++] = pid;
	return true;
}

const char *ty_telling_command(const struct ty_model *m, uint32_t thread, uint64_t t)
{
	const char *line = thread == TY_NONE ? NULL : ty_model_command_line(m, thread, t);

	return line && says_more(line, ty_who(m, thread, t)) ? line : NULL;
}

static void put_name(const struct ty_model *m, uint32_t thread, uint64_t t, FILE *f)
{
	const char *comm = ty_model_comm(m, thread, t);
	char name[64];

	snprintf(name, sizeof(name), "%.*s", ty_comm_shown(comm), comm);
	ty_put_plain(f, name);
}

bool ty_put_command(struct ty_commands *k, const struct ty_model *m, uint32_t thread, uint64_t t,
		    int indent, FILE *f)
{
	const char *line = ty_telling_command(m, thread, t);
	char text[MOST + 4];
	size_t n;

	if (!line || !is_new(k, line, ty_model_thread(m, thread)->tgid))
		return false;
	snprintf(text, MOST + 1, "%s", line);
	if (strlen(line) > MOST) {
		for (n = MOST; n && (line[n] & 0xc0) == 0x80;) /* whole characters */
			n--;
		strcpy(text + n, "...");
	}
	fprintf(f, "%*s", indent, "");
	put_name(m, thread, t, f);
	fprintf(f, "/%d: ", ty_model_tid(m, thread, t));
	ty_put_plain(f, text);
	putc('\n', f);
	return true;
}

/* The programs that the thread had executed before t, but for the name that it was born with. */
static void put_earlier(const struct ty_model *m, uint32_t thread, uint64_t t, FILE *f)
{
	const char *last = ty_model_comm(m, thread, t);
	const struct ty_name_at *v;
	uint32_t n, i;
	bool any = false;

	v = ty_model_names(m, thread, &n);
	while (n && (v[n - 1].from_ns > t || !strcmp(ty_model_str(m, v[n - 1].str), last)))
		n--;
	for (i = ty_model_thread(m, thread)->born; i < n; i++) {
		const char *name = ty_model_str(m, v[i].str);

		if (!*name || !strcmp(name, last))
			continue;
		fputs(any ? ", " : ", earlier named ", f);
		ty_put_plain(f, name);
		last = name;
		any = true;
	}
}

/* The thread that started the process, or its parent when the recording began; TY_NONE: unknown. */
static uint32_t parent_of(const struct ty_model *m, uint32_t process, uint64_t t)
{
	const struct ty_thread *of = ty_model_thread(m, process);

	if (of->kernel)
		return TY_NONE;
	if (of->born)
		return of->forked_by < 0 ? TY_NONE : (uint32_t)of->forked_by;
	return of->ppid > 0 ? ty_model_thread_find(m, of->ppid, t) : TY_NONE;
}

/* Its own command line does not explain what it does; of the first one also: is not recorded. */
static bool needs_caller(const struct ty_model *m, uint32_t process, uint64_t t, bool first)
{
	const char *line = ty_model_command_line(m, process, t);
	char argv[MOST + 1];
	size_t n;

	if (!line)
		return first && ty_model_thread(m, process)->born;
	snprintf(argv, sizeof(argv), "%s", line);
	n = strlen(argv) + 1;
	for (char *p = argv; (p = strchr(p, ' '));)
		*p++ = 0;
	return ty_needs_caller(argv, n);
}

static uint32_t caller_of(const struct ty_model *m, uint32_t thread, uint64_t t, bool first,
			  uint64_t *at_ns)
{
	uint32_t process, by;

	if (thread == TY_NONE)
		return TY_NONE;
	process = ty_process_of(m, thread);
	by = needs_caller(m, process, t, first) ? parent_of(m, process, t) : TY_NONE;
	*at_ns = ty_model_thread(m, process)->born ? ty_model_thread(m, process)->start_ns : t;
	return by;
}

/* "gdb/5391: started by bash/5384, earlier named cache-snapshot., gcore", "kill/7: started by sh/5
 * "backup.sh"", and the caller's line; and so on for a caller that needs one. */
static void put_callers(struct ty_commands *k, const struct ty_model *m, uint32_t thread,
			uint64_t t, int indent, FILE *f)
{
	static const char none[] = "";
	uint64_t at_ns;
	uint32_t by;

	for (unsigned i = 0; i < TY_COMMAND_CALLERS; i++, thread = by, t = at_ns) {
		by = caller_of(m, thread, t, !i, &at_ns);
		if (by == TY_NONE || !is_new(k, none, ty_model_thread(m, thread)->tgid))
			return;
		fprintf(f, "%*s", indent, "");
		put_name(m, ty_process_of(m, thread), t, f);
		fprintf(f, "/%d: started by ", ty_model_thread(m, thread)->tgid);
		ty_put_plain(f, ty_who(m, by, at_ns));
		put_earlier(m, by, at_ns, f);
		putc('\n', f);
		ty_put_command(k, m, by, at_ns, indent, f);
	}
}

void ty_put_stall_commands(struct ty_commands *k, const struct ty_model *m,
			   const struct ty_stall *s, int indent, FILE *f)
{
	for (uint32_t i = 1; i < s->links; i++)
		ty_put_command(k, m, s->link[i].thread,
			       s->link[i].start_ns + (s->link[i].end_ns - s->link[i].start_ns) / 2,
			       indent, f);
	ty_put_command(k, m, s->culprit, s->culprit_ns, indent, f);
	put_callers(k, m, s->culprit, s->culprit_ns, indent, f);
}

void ty_command_json(const struct ty_model *m, uint32_t thread, uint64_t t, struct ty_json *j)
{
	const char *line = thread == TY_NONE ? NULL : ty_model_command_line(m, thread, t);

	if (line)
		ty_json_str(j, "command_line", line);
}

void ty_callers_json(const struct ty_model *m, uint32_t thread, uint64_t t, struct ty_json *j)
{
	uint64_t at_ns;

	ty_json_array(j, "started_by");
	for (unsigned i = 0; i < TY_COMMAND_CALLERS; i++, t = at_ns) {
		thread = caller_of(m, thread, t, !i, &at_ns);
		if (thread == TY_NONE)
			break;
		ty_json_object(j, NULL);
		ty_json_str(j, "comm", ty_model_comm(m, thread, at_ns));
		ty_json_i64(j, "tid", ty_model_tid(m, thread, at_ns));
		ty_command_json(m, thread, at_ns, j);
		ty_json_end_object(j);
	}
	ty_json_end_array(j);
}
