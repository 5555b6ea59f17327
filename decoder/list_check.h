/* SPDX-License-Identifier: MIT */
/*
 * Which lines of a recording's lists libtraceevent may read. Its parsers trust them: a line of
 * printk_formats without ':' or without text is read past its end, one of a single character before
 * its begin, a "%" at the end of a text is stepped over together with the NUL, one line of kallsyms
 * that it cannot read ends the list. So they are given copies that hold well-formed lines only; an
 * address of a line that was left out is shown as a number.
 */
#ifndef TY_LIST_CHECK_H
#define TY_LIST_CHECK_H

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
