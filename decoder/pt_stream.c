/* SPDX-License-Identifier: MIT */
/*
 * See pt_stream.h. libipt's instruction flow decoder does the work. Added here:
 *
 * - An error is an item, not the end; decoding resumes at the next packet with an address
 *   (pt_entry.h). libipt enters at a PSB only, so one is written over the preceding packets, in a
 *   copy.
 * - Instructions on the path to a branch or an event are held back until that has applied: those
 *   that lead to a contradiction were not executed, and a path that consumes no packet is cut
 *   (hostile code such as "jmp ." would never end).
 * - Packets that this libipt rejects, and that do not affect the flow, are replaced by padding.
 * - New time stamps are distinguished from repeated ones.
 */
#include "pt_stream.h"

#include <string.h>

const char ty_pt_no_code[] = "no memory mapped at this address";
const char ty_pt_ended_nowhere[] =
	"tracing ended and no packet says where: unknown what ran up to the next branch";

#ifdef TY_HAVE_IPT

#include <stdlib.h>

#include "pt_conf.h"
#include "pt_entry.h"
#include "pt_item.h"
#include "pt_packet.h"
#include "vec.h"

enum {
	PSB_SIZE = 16,
	HEADER_MAX = 512 /* bytes of a PSB+: those of hardware have less than 100 */
};

/* Real code does not run that long without a conditional or indirect branch; only a loop does. */
#define IDLE_INSNS_MAX 100000

struct ty_pt {
	struct pt_insn_decoder *dec;
	struct ty_pt_cpu cpu;
	ty_pt_code *code;
	void *ctx;
	const uint8_t *bytes;
	uint8_t *own; /* a copy behind TY_PT_ENTRY_MAX bytes, which dec reads; NULL: it reads bytes
		       */
	size_t n, end;
	uint64_t tsc, last_tsc;
	uint64_t ip;	   /* of the last instruction */
	uint64_t progress; /* offset in the stream when an instruction last needed packets */
	uint32_t idle;	   /* instructions since */
	int status;	   /* of the last call */
	bool synced, timed, over;
	bool entered;		/* a PSB was found once */
	bool made;		/* the PSB+ that is read is one of ours */
	unsigned modes, ratios; /* events of the PSB+ where it was entered that are to come */
	bool stops;		/* tracing is on at end, and continues at: */
	bool stopped;		/* there */

	struct ty_pt_entries entries;
	size_t entry; /* where it was entered last */

	/* Items to be given; from `ready` on they are held back. */
	VEC(struct ty_flow_item) items;
	size_t taken, ready;
	size_t far; /* behind the end of tracing that is held back, by a far transfer; 0: none is */
	size_t far_end; /* its item */
	size_t sure;	/* offset when they last were ready: what is not decoded begins there */
};

static int read_code(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip, void *ctx)
{
	struct ty_pt *pt = ctx;
	size_t got = pt->code(pt->ctx, pt->tsc, ip, buf, n);

	return got ? (int)got : -pte_nomap;
}

/* A decoder of the copy if there is one. 0 or -TY_ENOMEM. */
static int open_decoder(struct ty_pt *pt)
{
	size_t head = pt->own ? TY_PT_ENTRY_MAX : 0;
	struct pt_config conf;

	if (pt->dec)
		pt_insn_free_decoder(pt->dec);
	ty_pt_conf(&conf, &pt->cpu, pt->own ? pt->own : pt->bytes, pt->n + head);
	pt->dec = pt_insn_alloc_decoder(&conf);
	return pt->dec && pt_image_set_callback(pt_insn_get_image(pt->dec), read_code, pt) >= 0
		       ? 0
		       : -TY_ENOMEM;
}

/* From here on it reads a copy of the bytes. 0 or -TY_ENOMEM. */
static int copy(struct ty_pt *pt)
{
	if (pt->own)
		return 0;
	pt->own = malloc(TY_PT_ENTRY_MAX + pt->n);
	if (!pt->own)
		return -TY_ENOMEM;
	memset(pt->own, 0, TY_PT_ENTRY_MAX);
	memcpy(pt->own + TY_PT_ENTRY_MAX, pt->bytes, pt->n);
	return open_decoder(pt);
}

/* Does libipt know these packets? Those of PEBS records: none does. */
static bool is_foreign(const struct ty_pt_packet *k)
{
	return k->kind == TY_PKT_BLOCK || (k->kind == TY_PKT_EVENT && LIBIPT_VERSION < 0x201);
}

/* Write padding over what libipt stops at. 0 or -TY_ENOMEM. */
static int blank(struct ty_pt *pt)
{
	size_t p = ty_pt_psb_after(pt->bytes, pt->n, 0);
	bool fup = false;
	uint8_t block = 0;

	while (p < pt->n) {
		struct ty_pt_packet k = ty_pt_packet_at(pt->bytes + p, pt->n - p, &block);

		if (k.kind == TY_PKT_BAD) {
			p = ty_pt_psb_after(pt->bytes, pt->n, p + 1);
			block = 0;
			continue;
		}
		if (k.kind == TY_PKT_PSB)
			block = 0;
		/* The FUP of a record's end is of no TIP. */
		if (is_foreign(&k) || (fup && k.kind == TY_PKT_FUP)) {
			if (copy(pt))
				return -TY_ENOMEM;
			memset(pt->own + TY_PT_ENTRY_MAX + p, 0, k.size);
		}
		if (k.kind == TY_PKT_BLOCK || k.kind == TY_PKT_FUP)
			fup = k.kind == TY_PKT_BLOCK && k.has_fup;
		p += k.size;
	}
	return 0;
}

static void read_entries(struct ty_pt *pt, size_t from)
{
	struct pt_config conf;

	ty_pt_conf(&conf, &pt->cpu, pt->bytes, pt->n);
	pt->entries = (struct ty_pt_entries){.bytes = pt->bytes,
					     .n = pt->n,
					     .p = from,
					     .clock = {.cpuid_15_eax = conf.cpuid_0x15_eax,
						       .cpuid_15_ebx = conf.cpuid_0x15_ebx,
						       .mtc_freq = conf.mtc_freq,
						       .nom_freq = conf.nom_freq,
						       .skl168 = conf.errata.skl168}};
}

int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err)
{
	struct ty_pt *pt = calloc(1, sizeof(*pt));

	if (!pt)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for a PT decoder");
	pt->cpu = *cpu;
	pt->code = code;
	pt->ctx = ctx;
	pt->bytes = bytes;
	pt->n = pt->end = n;
	pt->over = !n;
	read_entries(pt, 0);
	if (n && (open_decoder(pt) || blank(pt))) {
		ty_pt_free(pt);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for a PT decoder");
	}
	*out = pt;
	return 0;
}

void ty_pt_free(struct ty_pt *pt)
{
	if (!pt)
		return;
	if (pt->dec)
		pt_insn_free_decoder(pt->dec);
	free(pt->own);
	vec_fini(&pt->items);
	free(pt);
}

/*
 * The PSB+ at off has so many packets of state that libipt will report as events. The last of them
 * comes when the PSB+ behind has been read, if nothing is between the two.
 */
static void expect_state(struct ty_pt *pt, size_t off)
{
	const size_t end = off < pt->n && pt->n - off > HEADER_MAX ? off + HEADER_MAX : pt->n;
	struct ty_pt_packet k = {.kind = TY_PKT_PSB};
	uint8_t block = 0;

	pt->modes = pt->ratios = 0;
	for (; off < end && k.kind != TY_PKT_PSBEND && k.kind != TY_PKT_BAD; off += k.size) {
		k = ty_pt_packet_at(pt->bytes + off, end - off, &block);
		pt->modes += k.kind == TY_PKT_MODE_EXEC || k.kind == TY_PKT_MODE_TSX;
		pt->ratios += k.kind == TY_PKT_CBR;
	}
}

/* Is the event part of the PSB+ where it was entered? */
static bool is_entrys(struct ty_pt *pt, const struct pt_event *ev)
{
	unsigned *left = ev->type == ptev_exec_mode || ev->type == ptev_tsx ? &pt->modes
			 : ev->type == ptev_cbr				    ? &pt->ratios
									    : NULL;

	if (!left || !*left || !ev->status_update)
		return false;
	--*left;
	return true;
}

static int sync_set(struct ty_pt *pt, size_t off)
{
	expect_state(pt, off);
	pt->status = pt_insn_sync_set(pt->dec, off + (pt->own ? TY_PT_ENTRY_MAX : 0));
	pt->synced = pt->status >= 0;
	pt->made = false;
	pt->entered |= pt->synced;
	pt->idle = 0;
	pt->progress = 0;
	pt->entry = pt->sure = off;
	return pt->synced ? 0 : -TY_EFORMAT;
}

int ty_pt_range(struct ty_pt *pt, size_t off, size_t end, bool stops)
{
	pt->over = !pt->dec;
	pt->end = end;
	pt->stops = stops;
	pt->stopped = false;
	pt->timed = false;
	pt->ip = 0;
	pt->tsc = pt->last_tsc = 0;
	pt->items.n = pt->taken = pt->ready = pt->far = 0;
	read_entries(pt, off);
	return pt->dec ? sync_set(pt, off) : -TY_EFORMAT;
}

static uint64_t position(struct ty_pt *pt)
{
	uint64_t off, head = pt->own ? TY_PT_ENTRY_MAX : 0;

	return pt_insn_get_offset(pt->dec, &off) < 0 || off < head ? pt->n : off - head;
}

static void stamp(struct ty_pt *pt, struct ty_flow_item *out, bool timed, uint64_t tsc)
{
	if (timed) {
		if (!pt->timed || tsc != pt->last_tsc)
			out->flags |= TY_FF_EXACT;
		pt->last_tsc = tsc;
		pt->timed = true;
	}
	if (!pt->timed)
		out->flags |= TY_FF_NO_TIME;
	out->tsc = pt->last_tsc;
}

/* The time that the decoder has reached. */
static bool reached(struct ty_pt *pt)
{
	uint64_t tsc;

	if (pt_insn_time(pt->dec, &tsc, NULL, NULL) < 0)
		return false;
	pt->tsc = tsc;
	return true;
}

static void stamp_insn(struct ty_pt *pt, struct ty_flow_item *out)
{
	bool timed = reached(pt);

	stamp(pt, out, timed, pt->tsc);
}

/* The decoder has reached the next item: possibly the start of tracing hours later. */
static void stamp_event(struct ty_pt *pt, struct ty_flow_item *out, const struct pt_event *ev)
{
	bool back = pt->timed && ev->tsc < pt->last_tsc;

	reached(pt);
	stamp(pt, out, ev->has_tsc && !back, ev->tsc);
}

/* ---- what is held back ---- */

static void add(struct ty_pt *pt, const struct ty_flow_item *it)
{
	if (vec_push(&pt->items, *it))
		pt->over = true; /* out of memory: what is there is given */
}

/* All added instructions were executed, as shown by the packets up to `off`. */
static void be_sure(struct ty_pt *pt, size_t off)
{
	pt->ready = pt->items.n;
	pt->sure = off < pt->entry ? pt->entry : off;
	pt->far = 0;
}

/* Where tracing began again is on the way that is held back: it was interrupted there. */
static bool was_interrupted_at(struct ty_pt *pt, uint64_t ip)
{
	size_t k = pt->ready;

	while (k < pt->items.n && pt->items.v[k].ip != ip)
		k++;
	if (k == pt->items.n)
		return false;
	pt->items.n = k;
	return true;
}

/*
 * Tracing begins at ip behind an end by a far transfer. Where ip is on the way to that, the FUP of
 * an interrupt there is missing, and the transfer was not executed.
 */
static void begins_behind_far(struct ty_pt *pt, uint64_t ip)
{
	struct ty_flow_item *v = pt->items.v;
	size_t end = pt->far_end, k = pt->ready, last = end - 1;

	while (last > k && v[last].kind != TY_FLOW_INSN)
		last--;
	if (ip == v[last].ip + v[last].size) /* it returned to the same place */
		k = end;
	while (k < last && (v[k].kind != TY_FLOW_INSN || v[k].ip != ip))
		k++;
	if (k < last) {
		v[k] = (struct ty_flow_item){
			.kind = TY_FLOW_ASYNC,
			.flags = (v[end].flags & (TY_FF_NO_TIME | TY_FF_EXACT)) | TY_FF_INFERRED,
			.tsc = v[end].tsc,
			.ip = ip};
		memmove(v + k + 1, v + end + 1, (pt->items.n - end - 1) * sizeof(*v));
		pt->items.n -= end - k;
	}
	be_sure(pt, pt->far);
}

/* ---- where it cannot go on ---- */

/* The last item is a gap, and nothing was decoded since. */
static bool in_gap(const struct ty_pt *pt)
{
	return pt->items.n > pt->taken && pt->items.n == pt->ready &&
	       pt->items.v[pt->items.n - 1].kind == TY_FLOW_GAP;
}

/* It is the same gap if decoding again after the last one gave nothing. */
static void add_gap(struct ty_pt *pt, const struct ty_flow_item *it)
{
	struct ty_flow_item *last = in_gap(pt) ? &pt->items.v[pt->items.n - 1] : NULL;

	if (!last || it->kind != TY_FLOW_GAP) {
		add(pt, it);
		return;
	}
	last->value = it->off + it->value - last->off;
	last->to = it->to;
	last->until = it->until;
}

/* Enter at e, which is behind all that was used. 0; -TY_EFORMAT: it cannot be. */
static int enter(struct ty_pt *pt, const struct ty_pt_entry *e)
{
	uint8_t header[TY_PT_ENTRY_MAX];
	size_t n;
	int r;

	if (e->psb)
		return sync_set(pt, e->off);
	r = copy(pt);
	if (r)
		return r;
	n = ty_pt_entry_header(e, header);
	memcpy(pt->own + TY_PT_ENTRY_MAX + e->off - n, header, n);
	/* The place in the copy is that of off - n in the stream, which may be before its start. */
	pt->status = pt_insn_sync_set(pt->dec, TY_PT_ENTRY_MAX + e->off - n);
	pt->synced = pt->status >= 0;
	pt->made = true;
	pt->modes = e->have_mode && !e->begins;
	pt->ratios = e->cbr != 0;
	pt->idle = 0;
	pt->progress = 0;
	pt->entry = pt->sure = e->off;
	return pt->synced ? 0 : -TY_EFORMAT;
}

/* A path to missing code leads there again; and where tracing ended, a PSB+ does not give the place
 * where it begins again. */
static bool leads_nowhere(const struct ty_pt *pt, uint64_t ip, const struct ty_pt_entry *e)
{
	if (pt->status == -pte_nomap)
		return e->ip == ip && !e->psb;
	return e->psb && e->lost_fup && !ty_pt_point_at(pt->bytes, pt->n, e->off).on;
}

/* Where decoding can begin again after the last certain item. gap: its text may become more
 * specific. */
static bool find_entry(struct ty_pt *pt, uint64_t ip, struct ty_pt_entry *e,
		       struct ty_flow_item *gap)
{
	size_t from = pt->sure, after = pt->entry;
	bool found, overflow = false;

	do {
		found = ty_pt_entry_find(&pt->entries, from, after, pt->end, e);
		overflow |= pt->entries.overflowed;
		from = e->from;
		after = e->off;
	} while (found && leads_nowhere(pt, ip, e));
	if (found && e->psb) {
		struct ty_pt_point p = ty_pt_point_at(pt->bytes, pt->n, e->off);

		e->ip = p.on ? p.ip : 0;
		e->timed = p.timed;
		e->tsc = p.tsc;
	}
	if (overflow && pt->status != -pte_nomap)
		gap->text = "overflow: the CPU lost packets, and later packets do not say where "
			    "execution resumed";
	if (!found)
		*e = (struct ty_pt_entry){0};
	return found;
}

/*
 * It cannot be decoded on from here, near ip: find where it can, and add what is to be said of what
 * lies between. unproven: what is held back led here and was not executed.
 */
static void fail(struct ty_pt *pt, uint64_t ip, const char *text, bool unproven)
{
	struct ty_flow_item it = {.kind = TY_FLOW_GAP, .text = text, .off = pt->sure};
	struct ty_pt_entry e = {0};
	bool found = find_entry(pt, ip, &e, &it);
	size_t lost_fup = found ? e.lost_fup : pt->entries.lost_fup;
	bool nowhere = unproven && lost_fup >= pt->sure && lost_fup && lost_fup < position(pt);

	it.tsc = pt->last_tsc;
	it.flags = pt->timed ? 0 : TY_FF_NO_TIME;
	if (pt->status == -pte_nomap || pt->status == -pte_bad_insn)
		it.flags |= TY_FF_NO_CODE;
	it.value = found ? e.from : pt->end;
	it.value -= it.off < it.value ? it.off : it.value;
	if (nowhere) {
		it.text = ty_pt_ended_nowhere;
		it.off = lost_fup;
		it.value = 1;
	} else if (!pt->cpu.family && pt->status < 0 && !(it.flags & TY_FF_NO_CODE)) {
		it.flags |= TY_FF_ERRATUM;
	}
	if (nowhere && e.begins && was_interrupted_at(pt, e.ip)) {
		it = (struct ty_flow_item){.kind = TY_FLOW_ASYNC,
					   .flags = it.flags | TY_FF_INFERRED,
					   .tsc = it.tsc,
					   .ip = e.ip};
	} else {
		if (unproven && pt->ready < pt->items.n) {
			ip = pt->items.v[pt->ready].ip;
			pt->items.n = pt->ready;
		}
		it.ip = ip;
		it.to = e.ip;
		it.until = e.timed ? e.tsc : 0;
	}
	add_gap(pt, &it);
	pt->ready = pt->items.n;
	pt->synced = false;
	while (found && enter(pt, &e))
		found = ty_pt_entry_find(&pt->entries, e.from, e.off, pt->end, &e);
	pt->over |= !found;
}

/* Find the first PSB; false when there is none. */
static bool sync_first(struct ty_pt *pt)
{
	size_t off = ty_pt_psb_after(pt->bytes, pt->n, 0);

	/* A PSB whose header is broken is passed over like one that is not there. */
	while (off < pt->n && sync_set(pt, off)) {
		/* The trace ends behind its state, which libipt read ahead: nothing is missing. */
		pt->entered |=
			pt->status == -pte_eos && ty_pt_point_at(pt->bytes, pt->n, off).whole;
		off = ty_pt_psb_after(pt->bytes, pt->n, off + PSB_SIZE);
	}
	pt->synced &= off < pt->end;
	read_entries(pt, off);
	return pt->synced;
}

/* Has the PSB at the end been read? It is read ahead: the instructions up to its address are not
 * yet reported, until one of its own events is pending. */
static bool past_end(struct ty_pt *pt)
{
	return pt->end < pt->n && position(pt) > pt->end;
}

/* Tracing ended at the last pending instruction, and no address is given: possible, or is a FUP
 * missing? Later versions of libipt let any branch be that. */
static bool is_near_branch(const struct ty_pt *pt)
{
	uint8_t cls = pt->ready < pt->items.n ? pt->items.v[pt->items.n - 1].cls : TY_FC_OTHER;

	return cls == TY_FC_COND || cls == TY_FC_RETURN || cls == TY_FC_JUMP || cls == TY_FC_CALL;
}

/* Tracing ended on the path to `to`: if the code reaches it without a branch, there. */
static void run_out(struct ty_pt *pt, struct ty_flow_item *stop)
{
	for (size_t k = pt->ready + 1; stop->to && k < pt->items.n; k++)
		if (pt->items.v[k].ip == stop->to) {
			pt->items.n = k;
			stop->ip = pt->items.v[k - 1].ip;
		}
}

/* An event is pending. */
static void take_event(struct ty_pt *pt, bool past)
{
	size_t before = position(pt); /* behind the event's packets; others are read ahead */
	const enum pt_event_type none = (enum pt_event_type)UINT16_MAX;
	struct ty_flow_item it = {0};
	struct pt_event ev = {.type = none};

	/* The event may be good although what comes after it, which is read ahead, is not. */
	pt->status = pt_insn_event(pt->dec, &ev, sizeof(ev));
	if (ev.type == none)
		return;
	if (!is_entrys(pt, &ev) && past && ev.status_update) {
		pt->stopped = ev.type == ptev_exec_mode || ev.type == ptev_tsx;
		pt->over |= pt->stopped;
		return; /* a CBR of the next range */
	}
	if (pt->made && ev.status_update)
		return;
	pt->made = false;
	if (ev.type == ptev_disabled && ev.ip_suppressed && is_near_branch(pt)) {
		pt->status = 0;
		fail(pt, pt->ip, ty_pt_ended_nowhere, true);
		return;
	}
	if (pt->far && ev.type == ptev_enabled)
		begins_behind_far(pt, ev.variant.enabled.ip);
	stamp_event(pt, &it, &ev);
	if (ty_pt_item_event(&ev, pt->ip, &it)) {
		if (it.kind == TY_FLOW_STOP)
			run_out(pt, &it);
		add(pt, &it);
	}
	if (ev.type == ptev_disabled && ev.ip_suppressed && pt->ready + 1 < pt->items.n) {
		pt->far = before;
		pt->far_end = pt->items.n - 1;
	} else if (!pt->far || ev.type == ptev_overflow) {
		be_sure(pt, before);
	}
}

static void take_next_insn(struct ty_pt *pt)
{
	uint64_t before = position(pt);
	struct pt_insn insn = {.iclass = ptic_error};
	int r = pt_insn_next(pt->dec, &insn, sizeof(insn));
	struct ty_flow_item it = {0};

	pt->status = r;
	pt->made = false;
	pt->modes = pt->ratios = 0;
	if (insn.iclass == ptic_error) {
		pt->ip = insn.ip ? insn.ip : pt->ip;
		return;
	}
	/* The instruction may be good although what comes after it is not. */
	stamp_insn(pt, &it);
	ty_pt_item_insn(&insn, &it);
	pt->ip = insn.ip;
	add(pt, &it);
	if (position(pt) != pt->progress) {
		pt->progress = position(pt);
		pt->idle = 0;
	} else if (++pt->idle > IDLE_INSNS_MAX) {
		fail(pt, pt->ip, "a loop without any packet: this is not the code that ran", true);
		return;
	}
	if (r >= 0 && !(r & pts_event_pending) && ty_pt_item_needs_packet(&it))
		be_sure(pt, before);
}

bool ty_pt_stopped(const struct ty_pt *pt)
{
	return pt->stopped;
}

/* The path reaches a branch without packets for it: tracing may have ended before it. */
static bool ended_before(struct ty_pt *pt)
{
	const struct ty_pt_entries *s = &pt->entries;
	struct ty_pt_entry e = {0};

	while (is_near_branch(pt) && ty_pt_entry_find(&pt->entries, pt->sure, e.off, pt->end, &e))
		;
	return is_near_branch(pt) && s->lost_fup >= pt->sure && s->lost_fup;
}

/* One step of the decoder, which may add items. */
static void step(struct ty_pt *pt)
{
	bool past;

	if (!pt->synced && !sync_first(pt)) {
		struct ty_flow_item it = {.kind = TY_FLOW_GAP, .value = pt->n};

		it.text = "no PSB packet in this part: decoding cannot start";
		it.flags = TY_FF_NO_TIME;
		pt->over = true;
		if (!pt->entered)
			add(pt, &it);
		return;
	}
	past = past_end(pt);
	if (past && (!pt->stops || (pt->status >= 0 && pt->status & pts_ip_suppressed)))
		pt->over = true;
	else if (pt->status == -pte_eos && !ended_before(pt))
		pt->over = true;
	else if (pt->status < 0 && pt->far)
		be_sure(pt, pt->far);
	else if (pt->status < 0)
		fail(pt, pt->ip,
		     pt->status == -pte_nomap ? ty_pt_no_code : pt_errstr(pt_errcode(pt->status)),
		     pt->status == -pte_bad_query || pt->status == -pte_eos);
	else if (pt->status & pts_event_pending)
		take_event(pt, past);
	else if (pt->status & pts_eos)
		pt->over = true;
	else
		take_next_insn(pt);
}

int ty_pt_next(struct ty_pt *pt, struct ty_flow_item *out)
{
	if (pt->taken == pt->ready && pt->taken) {
		/* What is held back moves to the front. */
		memmove(pt->items.v, pt->items.v + pt->taken,
			(pt->items.n - pt->taken) * sizeof(*pt->items.v));
		pt->items.n -= pt->taken;
		pt->taken = pt->ready = 0;
	}
	while ((pt->taken == pt->ready || in_gap(pt)) && !pt->over)
		step(pt);
	if (pt->over)
		pt->ready = pt->items.n;
	if (pt->taken == pt->ready)
		return 0;
	*out = pt->items.v[pt->taken++];
	return 1;
}

#else

int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err)
{
	return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
		       "this tarry was built without Intel PT decoding. Install libipt (Debian: "
		       "libipt-dev) and rebuild");
}

void ty_pt_free(struct ty_pt *pt)
{
}

int ty_pt_next(struct ty_pt *pt, struct ty_flow_item *out)
{
	return 0;
}

bool ty_pt_stopped(const struct ty_pt *pt)
{
	return false;
}

int ty_pt_range(struct ty_pt *pt, size_t off, size_t end, bool stops)
{
	return -TY_EUNSUPPORTED;
}

#endif
