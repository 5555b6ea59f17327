/* SPDX-License-Identifier: MIT */
/*
 * The table of keys, the only source of the bindings, the help screen, the footer and the man page,
 * so that they cannot differ.
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

/* action, group, footer word ("": not in the footer; +: combined with the next one), help. The
 * order in the footer is the view's. */
#define TY_ACTIONS(X)                                                                              \
	X(ZOOM_IN, "Time", "+zoom", "zoom in at the cursor")                                       \
	X(ZOOM_OUT, "Time", "", "zoom out")                                                        \
	X(PAN_LEFT, "Time", "+pan", "pan left by a quarter of the window")                         \
	X(PAN_RIGHT, "Time", "", "pan right by a quarter of the window")                           \
	X(ALL, "Time", "all", "show the whole recording")                                          \
	X(ZOOM_SPAN, "Time", "fit",                                                                \
	  "fit the window to the selection, or to the span at the cursor")                         \
	X(UNDO, "Time", "+undo", "undo the last change of the window")                             \
	X(REDO, "Time", "", "redo the last change of the window")                                  \
	X(GOTO, "Time", "go to",                                                                   \
	  "go to a time: 1.5 or 250ms from the start, +2ms or -2ms from the cursor, 14:03:22.5 "   \
	  "as time of day")                                                                        \
	X(TIME_FIRST, "Time", "", "go to the start of the recording")                              \
	X(TIME_LAST, "Time", "", "go to the end of the recording")                                 \
	X(CLOCK, "Time", "", "show times from the start, as time of day, or in the trace clock")   \
	X(LEFT, "Cursor", "", "move one cell left")                                                \
	X(RIGHT, "Cursor", "", "move one cell right")                                              \
	X(SPAN_PREV, "Cursor", "+span", "go to the previous span of this row")                     \
	X(SPAN_NEXT, "Cursor", "", "go to the next span of this row")                              \
	X(UP, "Cursor", "+rows", "move one row up")                                                \
	X(DOWN, "Cursor", "", "move one row down")                                                 \
	X(PAGE_UP, "Cursor", "", "move one page up")                                               \
	X(PAGE_DOWN, "Cursor", "", "move one page down")                                           \
	X(ROW_FIRST, "Cursor", "", "go to the first row")                                          \
	X(ROW_LAST, "Cursor", "", "go to the last row")                                            \
	X(FOLD, "Cursor", "fold",                                                                  \
	  "fold or unfold a process, the system calls of a thread, the interrupts and memory "     \
	  "samples of a CPU")                                                                      \
	X(DETAILS_DOWN, "Cursor", "+details", "scroll the details down")                           \
	X(DETAILS_UP, "Cursor", "", "scroll the details up")                                       \
	X(LINK_1, "Cursor", "", "follow link [1] in the details")                                  \
	X(LINK_2, "Cursor", "", "follow link [2]")                                                 \
	X(LINK_3, "Cursor", "", "follow link [3]")                                                 \
	X(LINK_4, "Cursor", "", "follow link [4]")                                                 \
	X(NEXT, "Analysis", "+wait",                                                               \
	  "jump to the next entry of the list: stalls first, then the longest waits")              \
	X(PREV, "Analysis", "", "jump to the previous entry of the list")                          \
	X(OPEN, "Analysis", "open",                                                                \
	  "go to the selected entry; on a row: fit the span, or unfold; on a region: the slowest " \
	  "of its name; on memory samples: switch the color")                                      \
	X(FOCUS, "Analysis", "list", "switch between the rows and the list of stalls and waits")   \
	X(CHAIN, "Analysis", "chain",                                                              \
	  "show the wakeup chain of the span under the cursor, back to its root cause, and what "  \
	  "the holder or waker did meanwhile")                                                     \
	X(STACK, "Analysis", "stack",                                                              \
	  "show the stack of the wait under the cursor, and that of its waker")                    \
	X(ARROWS, "Analysis", "arrows",                                                            \
	  "draw the wakeup chain of the span under the cursor as arrows between rows")             \
	X(ONLY, "Analysis", "only chain",                                                          \
	  "filter: show only the threads of the wakeup chain of the span under the cursor")        \
	X(PATH, "Analysis", "path", "show the critical path of the traced command on the rows")    \
	X(LEDGER, "Analysis", "ledger",                                                            \
	  "ledger: where the time of this row's thread or process (else of the traced command) "   \
	  "went")                                                                                  \
	X(DIFF, "Analysis", "diff",                                                                \
	  "compare the selection, or the window, with the rest of the recording")                  \
	X(REQUESTS, "Analysis", "requests",                                                        \
	  "list the slowest requests; Enter compares one with a median request")                   \
	X(SPECTRUM, "Analysis", "latencies",                                                       \
	  "spectrogram: latencies of waits, system calls or block requests over time")             \
	X(FLAME, "Analysis", "flames",                                                             \
	  "flame graph: functions by CPU samples in the window; Tab: only this row's process, or " \
	  "thread")                                                                                \
	X(LOG_NEXT, "Analysis", "+log", "go to the next log line (--log)")                         \
	X(LOG_PREV, "Analysis", "", "go to the previous log line")                                 \
	X(CALLS, "Analysis", "calls",                                                              \
	  "show or hide the executed function calls of the thread under its row (record --flow)")  \
	X(INSNS, "Analysis", "instructions",                                                       \
	  "open the executed instructions of the thread at the cursor (record --flow)")            \
	X(MEMORY, "Analysis", "", "open the memory samples; in that view: the next table")         \
	X(SEARCH, "Search", "search", "search: threads, processes, system calls, events, errors")  \
	X(HIT_NEXT, "Search", "+hit", "go to the next hit")                                        \
	X(HIT_PREV, "Search", "", "go to the previous hit")                                        \
	X(HITS, "Search", "list hits",                                                             \
	  "list the hits, the longest first, with the files that calls act on")                    \
	X(FILTER, "Search", "filter", "filter: show only the rows of threads that match a search") \
	X(SELECT, "Selection", "select", "start a selection at the cursor; again: finish it")      \
	X(STATS, "Selection", "statistics",                                                        \
	  "statistics of the selection, or of this row in the window")                             \
	X(EXPORT, "Selection", "export",                                                           \
	  "export the selection, or the window, to NAME.txt, .json or .dat")                       \
	X(MARK, "Selection", "mark", "set a named mark at the cursor")                             \
	X(MARK_JUMP, "Selection", "",                                                              \
	  "jump to a mark by name, with its window, row and filter; no name: the next mark")       \
	X(KEPT, "Selection", "marks",                                                              \
	  "list the marks, searches and filters that are kept for this recording")                 \
	X(HELP, "Program", "help", "this help")                                                    \
	X(BACK, "Program", "back",                                                                 \
	  "close or clear the topmost: prompt, page, running search, list, arrows, path, filter, " \
	  "selection")                                                                             \
	X(REDRAW, "Program", "", "redraw the screen")                                              \
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
