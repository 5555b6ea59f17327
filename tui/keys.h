/* SPDX-License-Identifier: MIT */
/*
 * The one table of keys: it feeds the bindings, the help screen, the footer and the man page, so
 * that none of them can say something else than the others.
 */
#ifndef TY_KEYS_H
#define TY_KEYS_H

#include <stdint.h>

#include "buf.h"

/* Keys that are not characters; above all code points. term.c translates the terminal's. */
enum {
	TY_KEY_UP = 0x110000,
	TY_KEY_DOWN,
	TY_KEY_LEFT,
	TY_KEY_RIGHT,
	TY_KEY_PGUP,
	TY_KEY_PGDN,
	TY_KEY_HOME,
	TY_KEY_END,
	TY_KEY_F1,
	TY_KEY_BACKSPACE,
	TY_KEY_BACKTAB
};
#define TY_KEY_ESC     0x1b
#define TY_KEY_ENTER   '\n'
#define TY_KEY_TAB     '\t'
#define TY_KEY_CTRL(c) ((c)&0x1f)

/* action, group, footer word ("" not in the footer; + : together with the next one), help. The
 * footer's order is the view's. */
#define TY_ACTIONS(X)                                                                              \
	X(ZOOM_IN, "Time", "+zoom", "zoom in at the cursor")                                       \
	X(ZOOM_OUT, "Time", "", "zoom out")                                                        \
	X(PAN_LEFT, "Time", "+pan", "pan a quarter of the window to earlier")                      \
	X(PAN_RIGHT, "Time", "", "pan a quarter of the window to later")                           \
	X(ALL, "Time", "all", "the whole recording")                                               \
	X(ZOOM_SPAN, "Time", "fit", "fit the window to the selection, or the span at the cursor")  \
	X(UNDO, "Time", "+undo", "back to the view before")                                        \
	X(REDO, "Time", "", "forward to the view that was undone")                                 \
	X(GOTO, "Time", "go to",                                                                   \
	  "go to a time: 1.5 or 250ms from the start, +2ms or -2ms from "                          \
	  "here, 14:03:22.5 by the clock")                                                         \
	X(TIME_FIRST, "Time", "", "go to the start of the recording")                              \
	X(TIME_LAST, "Time", "", "go to the end of the recording")                                 \
	X(CLOCK, "Time", "", "times from the start, as time of day, or in the trace clock")        \
	X(LEFT, "Cursor", "", "one cell to earlier")                                               \
	X(RIGHT, "Cursor", "", "one cell to later")                                                \
	X(SPAN_PREV, "Cursor", "+span", "to the span before on this row")                          \
	X(SPAN_NEXT, "Cursor", "", "to the next span on this row")                                 \
	X(UP, "Cursor", "+rows", "one row up")                                                     \
	X(DOWN, "Cursor", "", "one row down")                                                      \
	X(PAGE_UP, "Cursor", "", "a page of rows up")                                              \
	X(PAGE_DOWN, "Cursor", "", "a page of rows down")                                          \
	X(FOLD, "Cursor", "fold",                                                                  \
	  "fold or unfold a process, a thread's system calls, a CPU's interrupts and memory")      \
	X(LINK_1, "Cursor", "", "follow link [1] of the details")                                  \
	X(LINK_2, "Cursor", "", "follow link [2]")                                                 \
	X(LINK_3, "Cursor", "", "follow link [3]")                                                 \
	X(LINK_4, "Cursor", "", "follow link [4]")                                                 \
	X(NEXT, "Findings", "+finding", "jump to the next stall, then to the next longest wait")   \
	X(PREV, "Findings", "", "jump to the one before")                                          \
	X(OPEN, "Findings", "open",                                                                \
	  "to the chosen finding; a row: fit the span, unfold, recolour")                          \
	X(FOCUS, "Findings", "list", "between the rows and the list of findings")                  \
	X(CHAIN, "Findings", "chain",                                                              \
	  "what the span under the cursor waited for, back to the cause")                          \
	X(ARROWS, "Findings", "arrows",                                                            \
	  "draw the chain of the span under the cursor: who ended each wait, row to row")          \
	X(PATH, "Findings", "path", "lay the traced command's critical path over the rows")        \
	X(LEDGER, "Findings", "ledger",                                                            \
	  "where the time of the row's thread or process went, elsewhere the traced command's: "   \
	  "the selected time, or the window")                                                      \
	X(DIFF, "Findings", "diff",                                                                \
	  "what was different then: the selected time, or the window, against the rest")           \
	X(SPECTRUM, "Findings", "latencies",                                                       \
	  "spectrogram: how long waits, calls or requests took over time")                         \
	X(LOG_NEXT, "Findings", "+log", "to the next line of the log files (--log)")               \
	X(LOG_PREV, "Findings", "", "to the line before")                                          \
	X(CALLS, "Findings", "calls",                                                              \
	  "unfold the thread's executed calls under its row (record --flow); again: fold them")    \
	X(INSNS, "Findings", "instructions",                                                       \
	  "the thread's executed instructions and calls at the cursor (record --flow)")            \
	X(MEMORY, "Findings", "", "memory samples of the recording; among them: the next table")   \
	X(SEARCH, "Search", "search", "search: threads, processes, system calls, events, errors")  \
	X(HIT_NEXT, "Search", "+hit", "to the next hit in the whole recording")                    \
	X(HIT_PREV, "Search", "", "to the hit before")                                             \
	X(FILTER, "Search", "filter", "show only the rows of threads that a search would find")    \
	X(SELECT, "Selection", "select",                                                           \
	  "select from here on; again: keep the selection as it is")                               \
	X(STATS, "Selection", "statistics",                                                        \
	  "statistics of the selection, or of the row in the window")                              \
	X(EXPORT, "Selection", "export",                                                           \
	  "write the selected time, or the window, to NAME.txt, .json or .dat")                    \
	X(MARK, "Selection", "mark", "put a mark with a name at the cursor")                       \
	X(MARK_JUMP, "Selection", "", "jump to a mark by its name; empty: to the next one")        \
	X(HELP, "Program", "help", "this help")                                                    \
	X(BACK, "Program", "back",                                                                 \
	  "close what is open; drop the selection; leave the list; else undo")                     \
	X(REDRAW, "Program", "", "draw the screen afresh")                                         \
	X(QUIT, "Program", "quit", "quit")

enum ty_action {
	TY_ACT_NONE,
#define X(name, group, footer, help) TY_ACT_##name,
	TY_ACTIONS(X)
#undef X
		TY_ACT_COUNT
};

#define TY_KEYS_PER_ACTION 4
struct ty_key_row {
	enum ty_action action;
	uint32_t keys[TY_KEYS_PER_ACTION]; /* 0 ends */
	const char *group, *footer, *help;
};

/* The table, in the order of help; *n rows. */
const struct ty_key_row *ty_keys_table(unsigned *n);
/* TY_ACT_NONE when the key is not bound. */
enum ty_action ty_keys_action(uint32_t key);
const struct ty_key_row *ty_keys_row(enum ty_action a); /* NULL for TY_ACT_NONE */
/* "w", "PgUp", "Ctrl-L", arrows as words ("Left") or, with utf8, as arrows; returns out. */
#define TY_KEY_NAME_MAX 12
const char *ty_key_name(uint32_t key, int utf8, char out[TY_KEY_NAME_MAX]);
/* "w, +, =": all keys of a row; returns out. */
#define TY_KEY_NAMES_MAX (TY_KEYS_PER_ACTION * (TY_KEY_NAME_MAX + 2))
const char *ty_key_names(const struct ty_key_row *r, int utf8, char out[TY_KEY_NAMES_MAX]);

/* The table as man(7) text for the page tarry-view. */
int ty_keys_man(struct ty_buf *out);

#endif
