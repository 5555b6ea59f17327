/* SPDX-License-Identifier: MIT */
/* The functions and probes that record's --flow-filter, --span, --usdt and --regions name: found in
 * the files of this machine, and stored in the arguments. */
#ifndef TY_RECORD_PROBES_H
#define TY_RECORD_PROBES_H

#include <sys/stat.h>

#include "record_args.h"
#include "symbols.h"

/* Where the function FUNC[@FILE] (or OFFSET@FILE) of --flow-filter is: file (as large as PATH_MAX),
 * its inode, and the stretch of its bytes. 0 or -TY_E... */
int ty_record_find_function(struct ty_record_args *a, const char *option, const char *text,
			    char *path, struct stat *st, struct ty_symbol *sym, struct ty_err *err);
/* Appends a --flow-filter to a->pt_filter, in the words of PERF_EVENT_IOC_SET_FILTER. 0 or
 * -TY_E... */
int ty_record_add_pt_filter(struct ty_record_args *a, const char *text, struct ty_err *err);
/* --regions, --span and --usdt into a->o.probes. 0 or the exit status. */
int ty_record_find_probes(struct ty_record_args *a);

#endif
