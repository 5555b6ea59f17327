/* SPDX-License-Identifier: MIT */
/* Maps well-known functions to what a thread inside them waits for (a lock, a sleep). */
#ifndef TY_STACK_ROLES_H
#define TY_STACK_ROLES_H

#include <stdbool.h>
#include <stddef.h>

#include "explain.h"

/* Frames that may lie between the wait and a function with a role: condition variables and how
 * runtimes park a thread (OpenJDK: 5). What is called further in waits for something else. */
#define TY_ROLE_FRAMES 8
/* By the names of the stack's functions as the symbol table has them (NULL: none), innermost first:
 * TY_ROLE_FRAMES of n are looked at. */
enum ty_stack_role ty_stack_role(const char *const *functions, size_t n);

/* True if one of these functions locks a mutex or rwlock of the C library's pthreads: its memory
 * has the library's layout, unlike the words of other runtimes and the library's own. */
bool ty_stack_locks_pthread(const char *const *functions, size_t n);

#endif
