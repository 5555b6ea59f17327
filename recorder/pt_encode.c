/* SPDX-License-Identifier: MIT */
/*
 * See pt_encode.h. A time stamp is written after the branches it belongs to and before tracing
 * begins: a decoder then gives the following instructions the time at which they began.
 */
#include "pt_encode.h"

enum { TNT_MAX = 6, IPC_NONE = 0, IPC_16 = 1, IPC_32 = 2, IPC_SEXT_48 = 3 };
enum { OP_TIP = 0x0d, OP_PGE = 0x11, OP_PGD = 0x01, OP_FUP = 0x1d };

void ty_pt_enc_init(struct ty_pt_enc *e, size_t limit_bytes)
{
	*e = (struct ty_pt_enc){0};
	ty_buf_init(&e->out, limit_bytes);
}

void ty_pt_enc_fini(struct ty_pt_enc *e)
{
	ty_buf_fini(&e->out);
}

static void bytes(struct ty_pt_enc *e, const void *p, size_t n)
{
	ty_buf_add(&e->out, p, n);
	e->since_psb += (uint32_t)n;
}

static void le(struct ty_pt_enc *e, uint64_t v, unsigned n)
{
	ty_buf_addle(&e->out, v, n);
	e->since_psb += n;
}

static void put_tsc(struct ty_pt_enc *e, uint64_t tsc)
{
	le(e, 0x19, 1);
	le(e, tsc, 7);
}

static void put_ip(struct ty_pt_enc *e, uint8_t op, uint64_t ip)
{
	unsigned ipc, n;

	if (ip >> 16 == e->last_ip >> 16) {
		ipc = IPC_16;
		n = 2;
	} else if (ip >> 32 == e->last_ip >> 32) {
		ipc = IPC_32;
		n = 4;
	} else {
		ipc = IPC_SEXT_48;
		n = 6;
	}
	le(e, op | ipc << 5, 1);
	le(e, ip, n);
	e->last_ip = ip;
}

static void put_mode(struct ty_pt_enc *e, bool is64)
{
	le(e, 0x99, 1);
	le(e, is64 ? 1 : 2, 1); /* MODE.Exec: CS.L, CS.D */
}

static void flush(struct ty_pt_enc *e)
{
	if (e->tnt_n)
		le(e, (1u << (e->tnt_n + 1)) | (unsigned)e->tnt << 1, 1);
	e->tnt = e->tnt_n = 0;
}

static void put_psb(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool on, bool is64)
{
	static const uint8_t psb[16] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
					2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};

	bytes(e, psb, sizeof(psb));
	e->last_ip = 0;
	put_tsc(e, tsc);
	if (on) {
		put_mode(e, is64);
		put_ip(e, OP_FUP, ip);
	}
	bytes(e, "\x02\x23", 2);
	e->since_psb = 0;
	e->started = true;
}

void ty_pt_enc_on(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool is64)
{
	if (!e->started || e->since_psb >= TY_PT_PSB_EVERY)
		put_psb(e, tsc, 0, false, is64);
	else
		put_tsc(e, tsc);
	put_mode(e, is64);
	put_ip(e, OP_PGE, ip);
	e->lost = false;
}

void ty_pt_enc_off(struct ty_pt_enc *e)
{
	flush(e);
	le(e, OP_PGD | IPC_NONE << 5, 1);
}

void ty_pt_enc_off_to(struct ty_pt_enc *e, uint64_t to)
{
	flush(e);
	put_ip(e, OP_PGD, to);
}

void ty_pt_enc_async_off(struct ty_pt_enc *e, uint64_t ip)
{
	flush(e);
	put_ip(e, OP_FUP, ip);
	le(e, OP_PGD | IPC_NONE << 5, 1);
}

void ty_pt_enc_cond(struct ty_pt_enc *e, uint64_t tsc, bool taken)
{
	e->tnt = (uint8_t)(e->tnt << 1 | taken);
	if (++e->tnt_n == TNT_MAX) {
		flush(e);
		put_tsc(e, tsc);
	}
}

void ty_pt_enc_indirect(struct ty_pt_enc *e, uint64_t tsc, uint64_t to)
{
	flush(e);
	put_ip(e, OP_TIP, to);
	put_tsc(e, tsc);
}

void ty_pt_enc_tick(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool is64)
{
	if (e->since_psb < TY_PT_PSB_EVERY)
		return;
	flush(e);
	put_psb(e, tsc, ip, true, is64);
}

void ty_pt_enc_overflow(struct ty_pt_enc *e, uint64_t tsc)
{
	if (e->lost)
		return;
	if (!e->started)
		put_psb(e, tsc, 0, false, false);
	else
		put_tsc(e, tsc);
	bytes(e, "\x02\xf3", 2);
	e->last_ip = UINT64_MAX; /* some decoders forget theirs: the next address is whole */
	e->lost = true;
}
