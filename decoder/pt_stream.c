/* SPDX-License-Identifier: MIT */
/*
 * See pt_stream.h. libipt's instruction flow decoder does the work. Three things are added: an
 * error is an item and not the end; an instruction stream that consumes no packet is cut (hostile
 * code such as "jmp ." would go on for ever); and time stamps are told apart from repetitions of
 * them.
 */
#include "pt_stream.h"

#include <string.h>

#define PSB_SIZE 16

size_t ty_pt_psb_after(const uint8_t *bytes, size_t n, size_t from)
{
	static const uint8_t psb[PSB_SIZE] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					      2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	uint64_t even, odd, word;

	memcpy(&even, psb, 8);
	memcpy(&odd, psb + 1, 8);
	/* Every eighth byte begins a word that lies within a PSB, if there is one. */
	for (size_t i = from; i < n && n - i >= 8; i += 8) {
		memcpy(&word, bytes + i, 8);
		if (word != even && word != odd)
			continue;
		for (size_t k = i - from < 7 ? from : i - 7; k <= i && n - k >= PSB_SIZE; k++)
			if (!memcmp(bytes + k, psb, PSB_SIZE))
				return k;
	}
	return n;
}

/* The packets that may stand in a PSB+ (SDM, table "PSB+"); payload bytes behind the opcode. */
static size_t header_packet(const uint8_t *p, size_t n, struct ty_pt_point *out, bool *end)
{
	static const uint8_t ip_bytes[8] = {0, 2, 4, 6, 6, 0, 8, 0};
	uint8_t op = p[0];
	size_t k;

	if (op == 0x00) /* PAD */
		return 1;
	if (op == 0x19 && n >= 8) { /* TSC */
		out->tsc = 0;
		for (unsigned i = 0; i < 7; i++)
			out->tsc |= (uint64_t)p[1 + i] << 8 * i;
		out->timed = true;
		return 8;
	}
	if (op == 0x99 && n >= 2) { /* MODE; of the execution mode? */
		out->mode |= p[1] >> 5 == 0;
		return 2;
	}
	if (op == 0x59) /* MTC */
		return 2;
	if ((op & 3) == 3) { /* CYC: as long as bit 2, then bit 0, says so */
		bool more = op & 4;

		for (k = 1; more && k < n && k < 10; k++)
			more = p[k] & 1;
		return k;
	}
	if ((op & 0x1f) == 0x1d) { /* FUP */
		uint64_t ip = 0;

		k = ip_bytes[op >> 5];
		if (n <= k)
			return 0;
		for (unsigned i = 0; i < k; i++)
			ip |= (uint64_t)p[1 + i] << 8 * i;
		if (op >> 5 == 3 && ip >> 47)
			ip |= 0xffffull << 48;
		out->ip = ip;
		out->on = k != 0;
		return 1 + k;
	}
	if (op != 0x02 || n < 2)
		return 0;
	switch (p[1]) {
	case 0x23: *end = true; return 2; /* PSBEND */
	case 0x03: return 4;		  /* CBR */
	case 0x43: return 8;		  /* PIP */
	case 0x73: return 7;		  /* TMA */
	case 0xc8: return 7;		  /* VMCS */
	case 0xc3: return 11;		  /* MNT */
	default: return 0;
	}
}

struct ty_pt_point ty_pt_point_at(const uint8_t *bytes, size_t n, size_t off)
{
	struct ty_pt_point out = {.off = off};
	bool end = false;

	off += PSB_SIZE;
	while (off < n && !end) {
		size_t k = header_packet(bytes + off, n - off, &out, &end);

		if (!k || k > n - off)
			break;
		off += k;
	}
	out.whole = end;
	return out;
}

#ifdef TY_HAVE_IPT

#include <stdio.h>
#include <stdlib.h>

#include "pt_conf.h"

/* Real code does not run that long without a conditional or indirect branch; only a loop does. */
#define IDLE_INSNS_MAX 100000

enum { MTC_FREQ_MAX = 15 }; /* four bits of the register */

struct ty_pt {
	struct pt_insn_decoder *dec;
	ty_pt_code *code;
	void *ctx;
	size_t n, end;
	uint64_t tsc, last_tsc;
	uint64_t ip;	   /* of the last instruction */
	uint64_t progress; /* offset in the stream when an instruction last needed packets */
	uint32_t idle;	   /* instructions since */
	int status;	   /* of the last call */
	bool synced, timed, over;
	bool entered; /* a PSB was found once */
	bool stops;   /* tracing is on at end, and goes on at: */
	bool stopped; /* there */
};

bool ty_pt_available(void)
{
	return true;
}

const char *ty_pt_version(void)
{
	static char text[32];
	struct pt_version v = pt_library_version();

	snprintf(text, sizeof(text), "%u.%u", v.major, v.minor);
	return text;
}

static int read_code(uint8_t *buf, size_t n, const struct pt_asid *asid, uint64_t ip, void *ctx)
{
	struct ty_pt *pt = ctx;
	size_t got = pt->code(pt->ctx, pt->tsc, ip, buf, n);

	return got ? (int)got : -pte_nomap;
}

void ty_pt_conf(struct pt_config *conf, const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n)
{
	pt_config_init(conf);
	conf->begin = (uint8_t *)bytes; /* libipt's encoder shares the type; it only reads */
	conf->end = (uint8_t *)bytes + n;
	if (cpu->family) {
		conf->cpu.vendor = pcv_intel;
		conf->cpu.family = cpu->family;
		conf->cpu.model = cpu->model;
		conf->cpu.stepping = cpu->stepping;
		/* An unknown CPU has no known errata. */
		(void)pt_cpu_errata(&conf->errata, &conf->cpu);
	}
	conf->mtc_freq = cpu->mtc_freq <= MTC_FREQ_MAX ? cpu->mtc_freq : 0;
	conf->nom_freq = cpu->nom_freq;
	conf->cpuid_0x15_eax = cpu->cpuid_15_eax;
	conf->cpuid_0x15_ebx = cpu->cpuid_15_ebx;
}

int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err)
{
	struct pt_config conf;
	struct ty_pt *pt = calloc(1, sizeof(*pt));

	if (!pt)
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for a PT decoder");
	ty_pt_conf(&conf, cpu, bytes, n);
	pt->code = code;
	pt->ctx = ctx;
	pt->n = pt->end = n;
	pt->over = !n;
	pt->dec = n ? pt_insn_alloc_decoder(&conf) : NULL;
	if (n &&
	    (!pt->dec || pt_image_set_callback(pt_insn_get_image(pt->dec), read_code, pt) < 0)) {
		ty_pt_free(pt);
		return ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "out of memory for a PT decoder");
	}
	*out = pt;
	return 0;
}

void ty_pt_free(struct ty_pt *pt)
{
	if (pt && pt->dec)
		pt_insn_free_decoder(pt->dec);
	free(pt);
}

int ty_pt_range(struct ty_pt *pt, size_t off, size_t end, bool stops)
{
	pt->over = !pt->dec;
	pt->end = end;
	pt->stops = stops;
	pt->stopped = false;
	pt->idle = 0;
	pt->progress = 0;
	pt->timed = false;
	pt->ip = 0;
	pt->tsc = pt->last_tsc = 0;
	pt->status = pt->dec ? pt_insn_sync_set(pt->dec, off) : -pte_eos;
	pt->synced = pt->status >= 0;
	pt->entered |= pt->synced;
	return pt->synced ? 0 : -TY_EFORMAT;
}

static uint64_t position(struct ty_pt *pt)
{
	uint64_t off = pt->n;

	if (pt_insn_get_offset(pt->dec, &off) < 0)
		off = pt->n;
	return off;
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

/* The time that the decoder has come to. */
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

/* The decoder has come to what is next: the begin of tracing hours later. */
static void stamp_event(struct ty_pt *pt, struct ty_flow_item *out, const struct pt_event *ev)
{
	bool back = pt->timed && ev->tsc < pt->last_tsc;

	reached(pt);
	stamp(pt, out, ev->has_tsc && !back, ev->tsc);
}

static int gap(struct ty_pt *pt, struct ty_flow_item *out, uint64_t ip, const char *text)
{
	out->kind = TY_FLOW_GAP;
	out->text = text;
	out->ip = ip;
	out->off = position(pt);
	out->tsc = pt->last_tsc;
	if (!pt->timed)
		out->flags |= TY_FF_NO_TIME;
	pt->synced = false;
	return 1;
}

/* Find the next PSB; false when there is none. */
static bool sync_forward(struct ty_pt *pt)
{
	pt->idle = 0;
	do {
		pt->status = pt_insn_sync_forward(pt->dec);
		/* A PSB whose header is broken is passed over like one that is not there. */
	} while (pt->status < 0 && pt->status != -pte_eos);
	pt->synced = pt->status >= 0;
	pt->entered |= pt->synced;
	return pt->synced;
}

/* 1: *out is an item; 0: the event is not for anybody to see. */
static int event(struct ty_pt *pt, const struct pt_event *ev, struct ty_flow_item *out)
{
	switch (ev->type) {
	case ptev_enabled:
		if (ev->status_update)
			return 0;
		out->kind = TY_FLOW_START;
		out->ip = ev->variant.enabled.ip;
		if (ev->variant.enabled.resumed)
			out->flags |= TY_FF_RESUMED;
		return 1;
	case ptev_disabled:
		out->kind = TY_FLOW_STOP;
		out->ip = pt->ip;
		out->to = ev->ip_suppressed ? 0 : ev->variant.disabled.ip;
		return 1;
	case ptev_async_disabled:
		out->kind = TY_FLOW_ASYNC;
		out->ip = ev->variant.async_disabled.at;
		return 1;
	case ptev_async_branch:
		out->kind = TY_FLOW_ASYNC;
		out->ip = ev->variant.async_branch.from;
		out->to = ev->ip_suppressed ? 0 : ev->variant.async_branch.to;
		return 1;
	case ptev_overflow:
		out->kind = TY_FLOW_OVERFLOW;
		out->ip = ev->ip_suppressed ? 0 : ev->variant.overflow.ip;
		return 1;
	case ptev_tsx:
		if (!ev->variant.tsx.aborted)
			return 0;
		out->kind = TY_FLOW_ABORT;
		out->ip = ev->ip_suppressed ? pt->ip : ev->variant.tsx.ip;
		return 1;
	case ptev_stop: return 0;
	case ptev_ptwrite:
		out->kind = TY_FLOW_PTWRITE;
		out->ip = ev->ip_suppressed ? pt->ip : ev->variant.ptwrite.ip;
		out->value = ev->variant.ptwrite.payload;
		return 1;
	case ptev_cbr:
		out->kind = TY_FLOW_CBR;
		out->value = ev->variant.cbr.ratio;
		return 1;
	case ptev_exstop:
		out->kind = TY_FLOW_POWER;
		out->text = "exstop";
		return 1;
	case ptev_mwait:
		out->kind = TY_FLOW_POWER;
		out->text = "mwait";
		out->value = ev->variant.mwait.hints;
		return 1;
	case ptev_pwre:
		out->kind = TY_FLOW_POWER;
		out->text = "pwre";
		out->value = ev->variant.pwre.state;
		return 1;
	case ptev_pwrx:
		out->kind = TY_FLOW_POWER;
		out->text = "pwrx";
		out->value = ev->variant.pwrx.deepest;
		return 1;
	default: return 0;
	}
}

static uint8_t class_of(enum pt_insn_class c)
{
	switch (c) {
	case ptic_call: return TY_FC_CALL;
	case ptic_return: return TY_FC_RETURN;
	case ptic_jump: return TY_FC_JUMP;
	case ptic_cond_jump: return TY_FC_COND;
	case ptic_far_call: return TY_FC_FAR_CALL;
	case ptic_far_return: return TY_FC_FAR_RETURN;
	case ptic_far_jump: return TY_FC_FAR_JUMP;
	default: return TY_FC_OTHER;
	}
}

static void take_insn(struct ty_pt *pt, const struct pt_insn *insn, struct ty_flow_item *out)
{
	out->kind = TY_FLOW_INSN;
	out->cls = class_of(insn->iclass);
	out->size = insn->size <= sizeof(insn->raw) ? insn->size : 0;
	out->ip = insn->ip;
	memcpy(out->raw, insn->raw, out->size);
	if (insn->speculative)
		out->flags |= TY_FF_SPECULATIVE;
	if (insn->mode == ptem_32bit)
		out->flags |= TY_FF_32BIT;
	pt->ip = insn->ip;
}

/* Has the PSB at the end been read? It is read ahead: what was executed up to its address is still
 * to come, until one of its own events is pending. */
static bool past_end(struct ty_pt *pt)
{
	return pt->end < pt->n && position(pt) > pt->end;
}

bool ty_pt_stopped(const struct ty_pt *pt)
{
	return pt->stopped;
}

int ty_pt_next(struct ty_pt *pt, struct ty_flow_item *out)
{
	while (!pt->over) {
		struct pt_insn insn = {.iclass = ptic_error};
		uint64_t at;
		bool past, fresh = !pt->synced;
		int r;

		memset(out, 0, sizeof(*out));
		if (!pt->synced && !sync_forward(pt)) {
			if (pt->entered)
				break;
			gap(pt, out, 0,
			    "no PSB packet in this piece: decoding has nowhere to begin");
			out->off = 0;
			pt->over = true;
			return 1;
		}
		past = past_end(pt);
		if (past && fresh)
			break; /* an error's next PSB is of the next range */
		if (past && (!pt->stops || pt->status & pts_ip_suppressed))
			break;
		if (pt->status == -pte_eos)
			break;
		if (pt->status < 0)
			return gap(pt, out, pt->ip, pt_errstr(pt_errcode(pt->status)));
		if (pt->status & pts_event_pending) {
			struct pt_event ev;

			pt->status = pt_insn_event(pt->dec, &ev, sizeof(ev));
			if (pt->status < 0)
				continue;
			if (past && ev.status_update) {
				pt->stopped = ev.type == ptev_exec_mode || ev.type == ptev_tsx;
				if (pt->stopped)
					break;
				continue; /* a CBR of the next range */
			}
			stamp_event(pt, out, &ev);
			if (event(pt, &ev, out))
				return 1;
			continue;
		}
		if (pt->status & pts_eos)
			break;
		r = pt_insn_next(pt->dec, &insn, sizeof(insn));
		/* The instruction may be good although what comes after it is not. */
		if (insn.iclass != ptic_error) {
			pt->status = r;
			stamp_insn(pt, out);
			take_insn(pt, &insn, out);
			at = position(pt);
			if (at != pt->progress) {
				pt->progress = at;
				pt->idle = 0;
			} else if (++pt->idle > IDLE_INSNS_MAX) {
				return gap(pt, out, pt->ip,
					   "a loop without any packet: the code is not what ran");
			}
			return 1;
		}
		if (insn.ip)
			pt->ip = insn.ip;
		pt->status = r;
	}
	pt->over = true;
	return 0;
}

#else

bool ty_pt_available(void)
{
	return false;
}

const char *ty_pt_version(void)
{
	return "";
}

int ty_pt_new(const struct ty_pt_cpu *cpu, const uint8_t *bytes, size_t n, ty_pt_code *code,
	      void *ctx, struct ty_pt **out, struct ty_err *err)
{
	return ty_fail(err, TY_EUNSUPPORTED, TY_NO_OFFSET,
		       "this tarry was built without Intel PT decoding: install libipt (Debian: "
		       "libipt-dev) and build again");
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
