/* SPDX-License-Identifier: MIT */
/*
 * Event formats: the table id -> (kind, offsets) that formats_decode.c uses, and raw fields. The
 * format texts are those of the file (format_text.h). The print formats are left to libtraceevent
 * (formats_print.c) and not parsed before text is requested.
 *
 * Fields differ between kernels in size, place and presence, never in meaning under one name,
 * except for those listed with alternatives below.
 */
#include "formats.h"

#include <stdlib.h>
#include <string.h>

#include "ends_with.h"
#include "format_text.h"
#include "formats_priv.h"
#include "key_value.h"
#include "trace.h"

/* Which fields a kind uses, in slot order; "a|b": the same thing under two names. */
static const struct {
	uint8_t kind;
	const char *field[TY_FMT_SLOTS];
} uses[] = {
	{TY_EV_SYS_ENTER, {"id", "args"}},
	{TY_EV_SYS_EXIT, {"id", "ret"}},
	{TY_EV_SWITCH,
	 {"prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid",
	  "next_prio"}},
	{TY_EV_WAKING, {"comm", "pid", "prio", "target_cpu"}},
	{TY_EV_WAKEUP, {"comm", "pid", "prio", "target_cpu"}},
	{TY_EV_WAKEUP_NEW, {"comm", "pid", "prio", "target_cpu"}},
	{TY_EV_MIGRATE, {"comm", "pid", "prio", "orig_cpu", "dest_cpu"}},
	{TY_EV_FORK, {"parent_comm", "parent_pid", "child_comm", "child_pid"}},
	{TY_EV_EXEC, {"filename", "pid", "old_pid"}},
	{TY_EV_EXIT, {"comm", "pid", "prio", "group_dead"}},
	{TY_EV_PI_SETPRIO, {"pid", "oldprio", "newprio"}},
	{TY_EV_NEWTASK, {"pid", "comm", "clone_flags|clone_thread"}},
	{TY_EV_RENAME, {"pid", "oldcomm", "newcomm|comm"}},
	{TY_EV_IRQ_ENTRY, {"irq", "name"}},
	{TY_EV_IRQ_EXIT, {"irq", "ret"}},
	{TY_EV_SOFTIRQ_ENTRY, {"vec"}},
	{TY_EV_SOFTIRQ_EXIT, {"vec"}},
	{TY_EV_SOFTIRQ_RAISE, {"vec"}},
	{TY_EV_VECTOR_ENTRY, {"vector"}},
	{TY_EV_VECTOR_EXIT, {"vector"}},
	{TY_EV_HRTIMER_EXPIRE, {"hrtimer", "function"}},
	{TY_EV_BLOCK_ISSUE, {"dev", "sector", "nr_sector", "bytes|nr_bytes", "", "rwbs", "comm"}},
	{TY_EV_BLOCK_COMPLETE,
	 {"dev", "sector", "nr_sector", "bytes|nr_bytes", "error|errors", "rwbs"}},
	{TY_EV_BLOCK_QUEUE, {"dev", "sector", "nr_sector", "", "", "rwbs", "comm"}},
	{TY_EV_SIGNAL_GENERATE, {"sig", "errno", "code", "pid", "group", "result"}},
	{TY_EV_SIGNAL_DELIVER, {"sig", "errno", "code"}},
	{TY_EV_CONTENTION_BEGIN, {"lock_addr", "flags"}},
	{TY_EV_CONTENTION_END, {"lock_addr", "ret"}},
	{TY_EV_POSIX_LOCK, {"i_ino", "s_dev", "type|fl_type", "ret"}},
	{TY_EV_FLOCK, {"i_ino", "s_dev", "type|fl_type", "ret"}},
	{TY_EV_PRINT, {"buf"}},
	{TY_EV_REGION, {"kind", "value", "name", "sp"}},
};

static const struct {
	uint8_t kind;
	const char *system, *name;
} kinds[] = {
#define X(k, s, n) {TY_EV_##k, s, n},
	TY_EVENT_KINDS(X)
#undef X
	/* perf's own records of threads (format/trace_perf.c). */
	{TY_EV_RENAME, "perf", "comm"},
	{TY_EV_NEWTASK, "perf", "fork"},
	{TY_EV_EXIT, "perf", "exit"},
	{TY_EV_SWITCH, "perf", "switch"},
};

static uint8_t kind_of(const char *system, const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(system, kinds[i].system) && !strcmp(name, kinds[i].name))
			return kinds[i].kind;
	if (!strcmp(system, "irq_vectors")) {
		if (ty_ends_with(name, "_entry"))
			return TY_EV_VECTOR_ENTRY;
		if (ty_ends_with(name, "_exit"))
			return TY_EV_VECTOR_EXIT;
	}
	/* Those that recorder/user_probes.c defines: tarry_PID_STARTTIME. */
	return strncmp(system, "tarry_", 6) ? TY_EV_OTHER : TY_EV_REGION;
}

/* A NUL-terminated copy that lives as long as the formats; NULL: out of memory. */
static char *keep(struct ty_formats *f, const char *s, size_t n)
{
	char *p;

	if (!f->kept.n || n >= f->kept_cap - f->kept_used) {
		size_t cap = n + 1 > 65536 ? n + 1 : 65536;

		p = malloc(cap);
		if (!p || vec_push(&f->kept, p)) {
			free(p);
			return NULL;
		}
		f->kept_used = 0;
		f->kept_cap = cap;
	}
	p = f->kept.v[f->kept.n - 1] + f->kept_used;
	memcpy(p, s, n);
	p[n] = 0;
	f->kept_used += n + 1;
	return p;
}

static bool named(const struct ty_ft_field *fd, const char *names)
{
	while (*names) {
		size_t n = strcspn(names, "|");

		if (n == fd->name_n && !memcmp(names, fd->name, n))
			return true;
		names += n + (names[n] == '|');
	}
	return false;
}

/* A slot from a field; a field of a shape that its use cannot read stays absent. */
static struct ty_fmt_slot slot_of(const struct ty_ft_field *fd)
{
	struct ty_fmt_slot s = {.off = fd->off, .count = 1};
	uint32_t size = fd->size;

	if (fd->is_loc) {
		if (fd->is_string)
			s.how = HOW_STR | HOW_LOC | (fd->is_rel ? HOW_REL : 0);
		else
			size = 0;
	} else if (fd->is_string) {
		s.how = HOW_STR | (size ? 0 : HOW_TAIL);
		size = size ? size : 1;
	} else {
		uint32_t n = fd->is_array && fd->elem_size ? size / fd->elem_size : 1;

		size = fd->elem_size;
		s.how = fd->is_signed ? HOW_SIGNED : 0;
		s.count = (uint8_t)(n > 255 ? 255 : n);
		if (!n || (size != 1 && size != 2 && size != 4 && size != 8))
			size = 0;
	}
	if (size > UINT16_MAX)
		size = 0;
	s.size = (uint16_t)size;
	return s;
}

static uint32_t slot_end(const struct ty_fmt_slot *s)
{
	if (!s->size)
		return 0;
	return s->how & HOW_TAIL ? s->off : s->off + (uint32_t)s->size * s->count;
}

/* TY_TASK_* of the letter that a print format gives to a state bit. */
static uint16_t state_of_letter(char c)
{
	switch (c) {
	case 'S': return TY_TASK_INTERRUPTIBLE;
	case 'D': return TY_TASK_UNINTERRUPTIBLE;
	case 'T': return TY_TASK_STOPPED;
	case 't': return TY_TASK_TRACED;
	case 'X':
	case 'x': return TY_TASK_DEAD;
	case 'Z': return TY_TASK_ZOMBIE;
	case 'P': return TY_TASK_PARKED;
	case 'I':
	case 'N': return TY_TASK_IDLE; /* N (4.x): uninterruptible, does not count as load */
	default: return 0;
	}
}

/*
 * The bits of the state letters changed between kernel versions, and the bit for "preempted" with
 * them; the print format of the traced kernel gives both. A text without them gets those of 4.14
 * and later.
 */
static void set_states(struct ty_fmt_entry *e)
{
	const char *print = ty_ft_print(e->text);
	struct ty_ft_states st = {0};
	bool any = false;

	if (print)
		ty_ft_task_states(print, &st);
	for (unsigned i = 0; i < 32; i++) {
		e->state_of_bit[i] = state_of_letter(st.letter[i]);
		any |= st.letter[i] != 0;
	}
	e->preempted = (uint32_t)st.preempted;
	if (!any) {
		for (unsigned i = 0; i < 8; i++)
			e->state_of_bit[i] = (uint16_t)(1u << i);
		if (!e->preempted)
			e->preempted = TY_TASK_PREEMPTED;
	}
	e->plain_states = e->preempted == TY_TASK_PREEMPTED;
	for (unsigned i = 0; i < 8; i++)
		e->plain_states &= e->state_of_bit[i] == 1u << i;
}

#define LABEL 200 /* bytes; a longer one is cut */

/* The recorder's note on one of its probes: "probe=EVENT NAME". NULL: out of memory. */
static const char *probe_label(struct ty_formats *f, const char *event)
{
	const char *text = ty_trace_section(f->trace, TY_SEC_MACHINE).s, *v;
	size_t n, k = strlen(event);

	while (ty_key_next(&text, "probe", &v, &n))
		if (n > k && !memcmp(v, event, k) && v[k] == ' ')
			return keep(f, v + k + 1, n - k - 1 < LABEL ? n - k - 1 : LABEL);
	return "";
}

/* Fields into e; those of known kinds into slots. Field lines that make no sense are left out. */
static int add_fields(struct ty_formats *f, struct ty_fmt_entry *e)
{
	VEC(struct ty_ft_field) fields = {0};
	const char *p = e->text;
	struct ty_ft_field fd;
	size_t use = 0;
	int r;

	while (use < sizeof(uses) / sizeof(*uses) && uses[use].kind != e->kind)
		use++;
	while ((r = ty_ft_next(&p, f->trace->long_size, &fd))) {
		const char *name;

		if (r < 0)
			continue;
		if (fd.name_n > 7 && !memcmp(fd.name, "common_", 7))
			continue;
		if (use < sizeof(uses) / sizeof(*uses))
			for (unsigned i = 0; i < TY_FMT_SLOTS; i++)
				if (uses[use].field[i] && named(&fd, uses[use].field[i]))
					e->slot[i] = slot_of(&fd);
		name = keep(f, fd.name, fd.name_n);
		fd.name = name;
		if (!name || vec_push(&fields, fd)) {
			vec_fini(&fields);
			return -TY_ENOMEM;
		}
	}
	e->fields = fields.v;
	e->nfields = (unsigned)fields.n;
	e->need = f->c_need;
	for (unsigned i = 0; i < TY_FMT_SLOTS; i++)
		if (slot_end(&e->slot[i]) > e->need)
			e->need = slot_end(&e->slot[i]);
	if (e->kind == TY_EV_SWITCH)
		set_states(e);
	return 0;
}

/* The common fields: the same in all formats of a kernel. */
static void set_common(struct ty_formats *f, const char *text)
{
	static const char *const names[] = {"common_type", "common_flags", "common_preempt_count",
					    "common_pid"};
	static const struct ty_fmt_slot usual[] = {
		{0, 2, 0, 1}, {2, 1, 0, 1}, {3, 1, 0, 1}, {4, 4, HOW_SIGNED, 1}};
	struct ty_fmt_slot *slots[] = {&f->c_type, &f->c_flags, &f->c_preempt, &f->c_pid};
	struct ty_ft_field fd;

	f->c_need = 0;
	for (unsigned i = 0; i < 4; i++) {
		*slots[i] = usual[i];
		if (text && !ty_ft_find(text, names[i], &fd) && !fd.is_array && fd.size <= 8 &&
		    fd.off < 256)
			*slots[i] = slot_of(&fd);
		if (slot_end(slots[i]) > f->c_need)
			f->c_need = slot_end(slots[i]);
	}
}

static bool slot_is(const struct ty_fmt_slot *s, uint32_t off, unsigned size)
{
	return s->off == off && s->size == size && !(s->how & HOW_STR);
}

static bool usual_head(const struct ty_formats *f)
{
	return !f->big_endian && slot_is(&f->c_type, 0, 2) && slot_is(&f->c_flags, 2, 1) &&
	       slot_is(&f->c_preempt, 3, 1) && slot_is(&f->c_pid, 4, 4);
}

static bool is_word(const struct ty_fmt_slot *s, unsigned count)
{
	return s->size == 8 && s->count >= count && !(s->how & HOW_STR) &&
	       s->off + 8 * count <= UINT16_MAX;
}

static bool is_int(const struct ty_fmt_slot *s)
{
	return s->size == 4 && s->count == 1 && !(s->how & HOW_STR);
}

static bool is_name(const struct ty_fmt_slot *s)
{
	return s->how == HOW_STR && s->size == TY_COMM && s->off <= TY_PACKED_NAME_MAX;
}

/* Is what pack_item in formats_decode.c reads of the entry as it expects it? */
static bool packs(const struct ty_formats *f, const struct ty_fmt_entry *e)
{
	const struct ty_fmt_slot *s = e->slot;

	if (e->kind == TY_EV_SWITCH)
		return is_name(&s[0]) && is_int(&s[1]) && is_int(&s[2]) && is_word(&s[3], 1) &&
		       is_name(&s[4]) && is_int(&s[5]) && is_int(&s[6]);
	return e->kind == TY_EV_WAKING && is_name(&s[0]) && is_int(&s[1]) && is_int(&s[3]);
}

static struct ty_fmt_hot hot_of(const struct ty_formats *f, const struct ty_fmt_entry *e)
{
	struct ty_fmt_hot h = {.kind = e->kind, .need = TY_FMT_NEVER};
	bool enter = e->kind == TY_EV_SYS_ENTER, call = enter || e->kind == TY_EV_SYS_EXIT;

	if (!f->usual_head || e->need >= TY_FMT_NEVER ||
	    (call && (!is_word(&e->slot[0], 1) || !is_word(&e->slot[1], enter ? 6 : 1))))
		return h;
	h.need = (uint16_t)e->need;
	if (!call) {
		h.how = packs(f, e) ? TY_FMT_PACK : TY_FMT_HEAD;
	} else {
		h.how = TY_FMT_CALL;
		h.nr_off = (uint16_t)e->slot[0].off;
		h.val_off = (uint16_t)e->slot[1].off;
	}
	return h;
}

int ty_formats_new(const struct ty_trace *trace, struct ty_formats **out, struct ty_err *err)
{
	struct ty_formats *f = calloc(1, sizeof(*f));
	bool common = false;
	int r = 0;

	*out = NULL;
	if (!f)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for event formats");
	f->trace = trace;
	f->big_endian = trace->big_endian;
	set_common(f, NULL);
	if (vec_push(&f->hot, (struct ty_fmt_hot){.need = TY_FMT_NEVER}))
		r = -TY_ENOMEM;
	for (size_t i = 0; !r && i < trace->formats.n; i++) {
		const struct ty_event_format *t = &trace->formats.v[i];
		struct ty_fmt_entry e = {0};
		const char *name;
		size_t name_n;

		if (!t->text.s || ty_ft_head(t->text.s, &name, &name_n, &e.id) || f->index[e.id] ||
		    f->entries.n >= UINT16_MAX)
			continue;
		if (!common) {
			set_common(f, t->text.s);
			f->usual_head = usual_head(f);
			common = true;
		}
		e.name = keep(f, name, name_n);
		e.system = keep(f, t->system ? t->system : "", t->system ? strlen(t->system) : 0);
		e.text = t->text.s;
		e.text_n = t->text.n;
		if (!e.name || !e.system) {
			r = -TY_ENOMEM;
			break;
		}
		e.kind = kind_of(e.system, e.name);
		r = add_fields(f, &e);
		if (!r && e.kind == TY_EV_REGION && !e.slot[2].size) {
			e.label = probe_label(f, e.name);
			r = e.label ? 0 : -TY_ENOMEM;
		}
		if (!r && (vec_push(&f->hot, hot_of(f, &e)) || vec_push(&f->entries, e))) {
			free(e.fields);
			r = -TY_ENOMEM;
		}
		if (r)
			break;
		f->index[e.id] = (uint16_t)f->entries.n;
	}
	if (r) {
		ty_formats_free(f);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory for event formats",
			       trace->path ? trace->path : "trace");
	}
	*out = f;
	return 0;
}

void ty_formats_free(struct ty_formats *f)
{
	if (!f)
		return;
	ty_fmt_print_fini(f);
	vec_each (e, &f->entries)
		free(e->fields);
	vec_fini(&f->entries);
	vec_fini(&f->hot);
	vec_each (p, &f->kept)
		free(*p);
	vec_fini(&f->kept);
	free(f);
}

const char *ty_formats_system(const struct ty_formats *f, uint16_t id)
{
	const struct ty_fmt_entry *e = ty_fmt_entry(f, id);

	return e ? e->system : "unknown";
}

const char *ty_formats_name(const struct ty_formats *f, uint16_t id)
{
	const struct ty_fmt_entry *e = ty_fmt_entry(f, id);
	static _Thread_local char name[16];

	if (e)
		return e->name;
	strcpy(name, "event_");
	for (unsigned v = id,
		      n = v > 9999  ? 5
			  : v > 999 ? 4
			  : v > 99  ? 3
			  : v > 9   ? 2
				    : 1,
		      i = n;
	     i > 0; i--, v /= 10) {
		name[6 + i - 1] = (char)('0' + v % 10);
		name[6 + n] = 0;
	}
	return name;
}
