/* SPDX-License-Identifier: MIT */
/* Whether this machine has Intel PT, and why not. */
#ifndef TY_PT_CAPS_H
#define TY_PT_CAPS_H

#include <stdbool.h>
#include <stddef.h>

/* True when there is a usable intel_pt PMU. */
bool ty_pt_caps_have(void);
/* A clause with the reason why not ("this is not an Intel CPU"), or, when there is one, how to
 * record it. */
void ty_pt_caps_why_not(char *out, size_t size);
/* Capabilities of the PMU: "mtc, psb_cyc, ..., 2 address filters"; "" without one. */
void ty_pt_caps_text(char *out, size_t size);

#endif
