/* SPDX-License-Identifier: MIT */
/*
 * Filters the lists in a recording for libtraceevent, whose parsers trust them: a line of
 * printk_formats without ':' or without text is read past its end, one of a single character before
 * its start; a "%" at the end of a text is skipped together with the NUL; one malformed line of
 * kallsyms ends the list. They get copies with well-formed lines only; the address of a removed
 * line is shown as a number.
 */
#ifndef TY_PRINTK_KALLSYMS_CHECK_H
#define TY_PRINTK_KALLSYMS_CHECK_H

#include "buf.h"

/*
 * Append the well-formed lines of `text` (NUL-terminated) to *out, each with its newline:
 *
 *   printk_formats  [0x]HEX " : " '"' two characters or more '"'
 *   kallsyms        HEX " " CHARACTER " " NAME [TAB "[" MODULE "]"]
 *
 * A printk text is well-formed when each "%" begins a complete directive whose width and precision
 * are short numbers in the text. 0 or -TY_ENOMEM.
 */
int ty_printk_lines(const char *text, struct ty_buf *out);
int ty_kallsyms_lines(const char *text, struct ty_buf *out);

#endif
