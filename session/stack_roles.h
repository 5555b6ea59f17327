/* SPDX-License-Identifier: MIT */
/* What a thread waits for that is in a function: a table of well-known ones. */
#ifndef TY_STACK_ROLES_H
#define TY_STACK_ROLES_H

#include "explain.h"

/* By the function's name as the symbol table has it; NULL: none. */
enum ty_stack_role ty_stack_role(const char *function);

#endif
