/* SPDX-License-Identifier: MIT */
/*
 * Encodes Intel PT packets as a CPU writes them with user-mode tracing, time stamps and without
 * return compression (Intel SDM vol. 3, "Intel Processor Trace", "Packet Definitions"). The caller
 * reports what happened; the encoder collects conditional branches, compresses addresses, and
 * writes a PSB+ every few kilobytes, so that decoding can start there.
 */
#ifndef TY_PT_ENCODE_H
#define TY_PT_ENCODE_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"

enum { TY_PT_PSB_EVERY = 4096 };

struct ty_pt_enc {
	struct ty_buf out; /* the caller takes bytes from it and resets it */
	uint64_t last_ip;
	uint8_t tnt, tnt_n;
	uint32_t since_psb;
	bool started;
	bool lost; /* since tracing was last on */
};

void ty_pt_enc_init(struct ty_pt_enc *e, size_t limit_bytes);
void ty_pt_enc_fini(struct ty_pt_enc *e);

/* Tracing begins at ip (in 64-bit or 32-bit code). */
void ty_pt_enc_on(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool is64);
/* The last instruction, a far transfer, left the traced code. */
void ty_pt_enc_off(struct ty_pt_enc *e);
/* The last instruction, an indirect branch, left the traced code, to `to`. */
void ty_pt_enc_off_to(struct ty_pt_enc *e, uint64_t to);
/* Tracing ended at ip, which is not executed (interrupt, signal). */
void ty_pt_enc_async_off(struct ty_pt_enc *e, uint64_t ip);
/* A conditional branch was executed. */
void ty_pt_enc_cond(struct ty_pt_enc *e, uint64_t tsc, bool taken);
/* A return, an indirect jump or call was executed. */
void ty_pt_enc_indirect(struct ty_pt_enc *e, uint64_t tsc, uint64_t to);
/* Between two instructions, the next at ip, while tracing: writes a PSB+ when it is due. */
void ty_pt_enc_tick(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool is64);
/* While tracing is off: execution from now until it is on again is unknown. */
void ty_pt_enc_overflow(struct ty_pt_enc *e, uint64_t tsc);

#endif
