/* SPDX-License-Identifier: MIT */
/* Between the files of symbols.h. */
#ifndef TY_SYMBOLS_PRIV_H
#define TY_SYMBOLS_PRIV_H

#include <elfutils/libdw.h>

#include "symbols.h"

/* The unit of the code at a file offset, and the address of the offset. False: no debug
 * information. */
bool ty_symbols_unit(struct ty_symbols *s, uint64_t off, Dwarf_Die *cu, uint64_t *addr);

#endif
