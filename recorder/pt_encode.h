/* SPDX-License-Identifier: MIT */
/*
 * Intel PT packets, as a CPU writes them with user-mode tracing, time stamps and without return
 * compression (Intel SDM vol. 3, "Intel Processor Trace", "Packet Definitions"). The caller tells
 * what happened; the encoder collects conditional branches, compresses addresses, and puts a PSB+
 * every few kilobytes, so that the stream can be entered there.
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
/* The far transfer just executed left what is traced. */
void ty_pt_enc_off(struct ty_pt_enc *e);
/* The indirect branch just executed left what is traced, to `to`. */
void ty_pt_enc_off_to(struct ty_pt_enc *e, uint64_t to);
/* Tracing ended at ip, which is not executed (interrupt, signal). */
void ty_pt_enc_async_off(struct ty_pt_enc *e, uint64_t ip);
/* A conditional branch was executed. */
void ty_pt_enc_cond(struct ty_pt_enc *e, uint64_t tsc, bool taken);
/* A return, an indirect jump or call was executed. */
void ty_pt_enc_indirect(struct ty_pt_enc *e, uint64_t tsc, uint64_t to);
/* Between two instructions, the next at ip, while tracing: a PSB+ when it is time for one. */
void ty_pt_enc_tick(struct ty_pt_enc *e, uint64_t tsc, uint64_t ip, bool is64);
/* While tracing is off: what was executed from now until it is on again is not known. */
void ty_pt_enc_overflow(struct ty_pt_enc *e, uint64_t tsc);
/* Write what is collected. */
void ty_pt_enc_flush(struct ty_pt_enc *e);

#endif
