/* SPDX-License-Identifier: MIT */
/* Names of threads that a list of stalls gives more than one name, as programs that start another
 * one by exec or change their title have. */
#ifndef TY_REPORT_RENAMED_H
#define TY_REPORT_RENAMED_H

#include <stdio.h>

#include "stalls.h"

/* A line for each such thread of the n stalls, five at most: "     17940 was bash pyenv, then
 * python3 upload.py". Names are those of the sentences, and that at the thread's end. */
void ty_report_renamed(const struct ty_model *m, const struct ty_stall *v, uint32_t n, FILE *f);

#endif
