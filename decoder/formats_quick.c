/* SPDX-License-Identifier: MIT */
/*
 * Text of the most frequent events without an interpreter: when an event's print format is,
 * character by character, one of those below, its text is produced from the decoded union. The
 * result equals libtraceevent's byte for byte (tests/e2e/dump_events.sh compares whole traces),
 * except for 32-bit kernels, whose negative %ld libtraceevent prints as large positive numbers.
 *
 * Budget: 100 ns per event (libtraceevent: 1 to 3 us).
 */
#include <string.h>

#include "formats_priv.h"

static const char enter_text[] = "\"NR %ld (%lx, %lx, %lx, %lx, %lx, %lx)\", REC->id, "
				 "REC->args[0], REC->args[1], REC->args[2], REC->args[3], "
				 "REC->args[4], REC->args[5]";
static const char exit_text[] = "\"NR %ld = %ld\", REC->id, REC->ret";
static const char wake_text[] = "\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
				"REC->prio, REC->target_cpu";
static const char vector_text[] = "\"vector=%d\", REC->vector";
static const char softirq_text[] =
	"\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 0, \"HI\" }, { 1, "
	"\"TIMER\" }, { 2, \"NET_TX\" }, { 3, \"NET_RX\" }, { 4, \"BLOCK\" }, { 5, \"IRQ_POLL\" }, "
	"{ 6, \"TASKLET\" }, { 7, \"SCHED\" }, { 8, \"HRTIMER\" }, { 9, \"RCU\" })";
#define REPORT                                                                                     \
	"0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | "           \
	"0x00000020 | 0x00000040"
static const char switch_text[] =
	"\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d "
	"next_prio=%d\", REC->prev_comm, REC->prev_pid, REC->prev_prio, (REC->prev_state & "
	"((((" REPORT ") + 1) << 1) - 1)) ? __print_flags(REC->prev_state & ((((" REPORT
	") + 1) << 1) - 1), \"|\", { 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, "
	"\"T\" }, { 0x00000008, \"t\" }, { 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { "
	"0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", REC->prev_state & (((" REPORT
	") + 1) << 1) ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio";

/* kind, its text, how many of its slots the text shows */
static const struct {
	uint8_t kind, slots;
	const char *text;
} known[] = {
	{TY_EV_SYS_ENTER, 2, enter_text},	{TY_EV_SYS_EXIT, 2, exit_text},
	{TY_EV_SWITCH, 7, switch_text},		{TY_EV_WAKING, 4, wake_text},
	{TY_EV_WAKEUP, 4, wake_text},		{TY_EV_WAKEUP_NEW, 4, wake_text},
	{TY_EV_SOFTIRQ_ENTRY, 1, softirq_text}, {TY_EV_SOFTIRQ_EXIT, 1, softirq_text},
	{TY_EV_SOFTIRQ_RAISE, 1, softirq_text}, {TY_EV_VECTOR_ENTRY, 1, vector_text},
	{TY_EV_VECTOR_EXIT, 1, vector_text},
};

bool ty_fmt_quick_knows(const struct ty_formats *f, const struct ty_fmt_entry *e)
{
	const char *p = ty_ft_print(e->text);

	if (!p)
		return false;
	p += strspn(p, " ");
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		size_t n = strlen(known[i].text);

		if (known[i].kind != e->kind || strncmp(p, known[i].text, n) ||
		    (p[n] && p[n] != '\n'))
			continue;
		for (unsigned k = 0; k < known[i].slots; k++) {
			const struct ty_fmt_slot *s = &e->slot[k];
			bool name = s->how & HOW_STR;

			if (!s->size || (name && (s->how != HOW_STR || s->size > TY_COMM)))
				return false;
		}
		if (e->kind == TY_EV_SYS_ENTER)
			return e->slot[0].how == HOW_SIGNED && !e->slot[1].how &&
			       e->slot[1].count == 6;
		if (e->kind == TY_EV_SYS_EXIT)
			return e->slot[0].how == HOW_SIGNED && e->slot[1].how == HOW_SIGNED;
		return e->kind != TY_EV_SWITCH || e->plain_states;
	}
	return false;
}

/* One event's text: at most 6 numbers and two names. */
struct line {
	char *p;
};

static void put(struct line *l, const char *s, size_t n)
{
	memcpy(l->p, s, n);
	l->p += n;
}
#define PUT(l, literal) put(l, literal, sizeof(literal) - 1)

static void put_str(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

static void put_u(struct line *l, uint64_t v, int width)
{
	char t[20], *p = t + sizeof(t);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (t + sizeof(t) - p < width)
		*--p = '0';
	put(l, p, (size_t)(t + sizeof(t) - p));
}

static void put_d(struct line *l, int64_t v)
{
	if (v < 0)
		*l->p++ = '-';
	put_u(l, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 1);
}

static void put_x(struct line *l, uint64_t v)
{
	char t[16], *p = t + sizeof(t);

	do
		*--p = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	put(l, p, (size_t)(t + sizeof(t) - p));
}

static void put_softirq(struct line *l, uint32_t vec)
{
	static const char *const names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	PUT(l, "vec=");
	put_u(l, vec, 1);
	PUT(l, " [action=");
	if (vec < sizeof(names) / sizeof(*names)) {
		put_str(l, names[vec]);
	} else {
		PUT(l, "0x");
		put_x(l, vec);
	}
	*l->p++ = ']';
}

static void put_switch(struct line *l, const struct ty_event *ev)
{
	unsigned state = (unsigned)ev->u.sw.prev_state;
	bool any = false;

	PUT(l, "prev_comm=");
	put_str(l, ev->u.sw.prev_comm);
	PUT(l, " prev_pid=");
	put_d(l, ev->u.sw.prev_tid);
	PUT(l, " prev_prio=");
	put_d(l, ev->u.sw.prev_prio);
	PUT(l, " prev_state=");
	for (unsigned i = 0; i < 8; i++)
		if (state >> i & 1) {
			if (any)
				*l->p++ = '|';
			*l->p++ = "SDTtXZPI"[i];
			any = true;
		}
	if (!any)
		*l->p++ = 'R';
	if (state & TY_TASK_PREEMPTED)
		*l->p++ = '+';
	PUT(l, " ==> next_comm=");
	put_str(l, ev->u.sw.next_comm);
	PUT(l, " next_pid=");
	put_d(l, ev->u.sw.next_tid);
	PUT(l, " next_prio=");
	put_d(l, ev->u.sw.next_prio);
}

int ty_fmt_quick_print(const struct ty_event *ev, struct ty_buf *out)
{
	struct line l;
	int r = ty_buf_reserve(out, 256); /* 8 numbers of 20, two names of 16, 60 of text */

	if (r)
		return r;
	l.p = out->p + out->len;
	switch (ev->kind) {
	case TY_EV_SYS_ENTER:
		PUT(&l, "NR ");
		put_d(&l, ev->u.enter.nr);
		PUT(&l, " (");
		for (unsigned i = 0; i < 6; i++) {
			if (i)
				PUT(&l, ", ");
			put_x(&l, ev->u.enter.args[i]);
		}
		*l.p++ = ')';
		break;
	case TY_EV_SYS_EXIT:
		PUT(&l, "NR ");
		put_d(&l, ev->u.exit.nr);
		PUT(&l, " = ");
		put_d(&l, ev->u.exit.ret);
		break;
	case TY_EV_SWITCH: put_switch(&l, ev); break;
	case TY_EV_SOFTIRQ_ENTRY:
	case TY_EV_SOFTIRQ_EXIT:
	case TY_EV_SOFTIRQ_RAISE: put_softirq(&l, ev->u.softirq.vec); break;
	case TY_EV_VECTOR_ENTRY:
	case TY_EV_VECTOR_EXIT:
		PUT(&l, "vector=");
		put_d(&l, (int32_t)ev->u.softirq.vec);
		break;
	default:
		PUT(&l, "comm=");
		put_str(&l, ev->u.wake.comm);
		PUT(&l, " pid=");
		put_d(&l, ev->u.wake.tid);
		PUT(&l, " prio=");
		put_d(&l, ev->u.wake.prio);
		PUT(&l, " target_cpu=");
		if (ev->u.wake.target_cpu < 0) {
			*l.p++ = '-';
			put_u(&l, 0 - (uint64_t)ev->u.wake.target_cpu, 2);
		} else {
			put_u(&l, (uint64_t)ev->u.wake.target_cpu, 3);
		}
	}
	out->len = (size_t)(l.p - out->p);
	*l.p = 0;
	return 0;
}
