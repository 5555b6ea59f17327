/* SPDX-License-Identifier: MIT */
/* Gives the model the processes' command lines that were recorded (model/process_titles.h), with
 * the part of each that distinguishes it from the others: of an interpreter the script, of a
 * process that wrote a title of its own that, else the first argument that the fewest others of its
 * name have.
 */
#ifndef TY_COMMAND_TITLES_H
#define TY_COMMAND_TITLES_H

#include "call_data_index.h"
#include "model.h"

/* section: the text of TY_SEC_COMMANDS, strings: of execs while recording; both NULL: none.
 * 0 or -TY_ENOMEM. */
int ty_command_titles(struct ty_model *m, const char *section,
		      const struct ty_call_data_index *strings);

#endif
