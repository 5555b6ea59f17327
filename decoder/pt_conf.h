/* SPDX-License-Identifier: MIT */
/* Converts tarry's decoder configuration to libipt's; for the files that use libipt. */
#ifndef TY_PT_CONF_H
#define TY_PT_CONF_H

#include "pt_stream.h"

#ifdef TY_HAVE_IPT

#include <intel-pt.h>

/* bytes[0..n) are only read. */
void ty_pt_conf(struct pt_config *conf, const struct ty_pt_cpu *cpu, const uint8_t *bytes,
		size_t n);

#endif
#endif
