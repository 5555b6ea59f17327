/* SPDX-License-Identifier: MIT */
/* Shared by the timeline's files: state, layout, and actions common to keys and mouse. */
#ifndef TY_TIMELINE_PRIV_H
#define TY_TIMELINE_PRIV_H

#include "background.h"
#include "call_sums.h"
#include "chain.h"
#include "counter_readings.h"
#include "window_diff.h"
#include "stall_list.h"
#include "flame_view.h"
#include "flow_view.h"
#include "gaps.h"
#include "group_bars.h"
#include "ledger.h"
#include "mem_heat.h"
#include "memory_view.h"
#include "page.h"
#include "range_stats.h"
#include "request_compare.h"
#include "search.h"
#include "sentence.h"
#include "spectrum_view.h"
#include "timeline.h"
#include "timeline_slowest.h"
#include "tracks.h"
#include "vec.h"
#include "viewport.h"

/* Layout of a screen of w x h. A height of 0: not shown. */
struct ty_layout {
	int w, h;
	int label_w; /* columns of names, the separator included */
	int cells_x, cells_w;
	int minimap_y; /* -1: none */
	int ruler_y;
	int log_y;  /* lines of log files; -1: none */
	int path_y; /* the critical path; -1: none */
	int rows_y, rows_h;
	int list_y, list_h;	  /* its headline included */
	int details_y, details_h; /* its headline included */
	int footer_y;
};

#define TY_DETAIL_LINES 8
#define TY_DETAIL_MAX	640

/* Destination of a link in the details. */
#define TY_LINKS_MAX 4
struct ty_lead {
	uint64_t at_ns;
	uint32_t row_id;
	uint8_t row_kind; /* enum ty_row_kind */
};

struct ty_mark {
	uint64_t at_ns, from_ns, to_ns; /* and the window that was shown */
	uint32_t row_id;
	uint8_t row_kind;
	char name[24];
	char filter[200]; /* that was in force; "": none */
};

/* Texts of searches and filters. */
#define TY_HISTORY  50u
#define TY_KEEP_MAX (64u << 10) /* bytes of what is kept of a recording */
struct ty_past_query {
	bool filter;
	char text[200];
};

/* Cells and rows between two corners; a corner is a cell with its two edges. */
struct ty_selection {
	bool on, held;		   /* held: the cursor moves without changing it */
	uint64_t a_ns[2], b_ns[2]; /* the cells of its corners */
	uint64_t a_at_ns, b_at_ns; /* where times were typed: these; 0 */
	uint32_t a_row, b_row;
};

/* The prompt in the footer. */
enum ty_prompt {
	TY_PROMPT_NONE,
	TY_PROMPT_GOTO,
	TY_PROMPT_SEARCH,
	TY_PROMPT_FILTER,
	TY_PROMPT_MARK,
	TY_PROMPT_MARK_JUMP,
	TY_PROMPT_EXPORT
};

/* Long work started by a key, one at a time, executed in slices (timeline_layers.c). */
struct ty_job {
	bool makes_page;
	bool keeps_rows;			 /* relies on the order of threads and rows */
	bool (*step)(struct ty_timeline *t);	 /* a slice; true: finished */
	bool (*done)(struct ty_timeline *t);	 /* true: a view is pushed */
	void (*progress)(struct ty_timeline *t); /* shows the progress */
	void (*stop)(struct ty_timeline *t);	 /* cancels it; NULL: nothing to undo */
	void (*replaced)(struct ty_timeline *t); /* another one starts; NULL: no effect */
};

/* Layers of the screen (timeline_layers.c). Each callback may be NULL. */
struct ty_layer {
	void (*draw)(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p);
	/* As in struct ty_view_ops; work: true when the screen changes. */
	int (*wait_ms)(const struct ty_timeline *t);
	bool (*work)(struct ty_timeline *t);
	bool (*stop)(struct ty_timeline *t); /* Esc: true when something was cancelled */
	void (*fini)(struct ty_timeline *t);
};
extern const struct ty_layer ty_indexing_layer, ty_findings_layer, ty_marks_layer, ty_log_layer,
	ty_rows_layer, ty_memory_layer, ty_lanes_layer, ty_path_overlay_layer, ty_calls_layer,
	ty_cursor_layer, ty_selection_layer, ty_export_layer, ty_names_layer;
#define TY_LAYER_POLL_MS 20 /* poll interval of background work */

/* Search for stalls and longest waits, in a thread, when a file is opened. */
struct ty_stall_searching {
	struct ty_background aside;
	struct ty_explain explain; /* with the thread's own stop */
	struct ty_findings found;
	struct ty_window window;
	struct ty_err err;
	int rc;
};

/* A page computed in a thread for a key (a chain, a ledger, a comparison). */
struct ty_page_job;
struct ty_page_job_ops {
	const char *name, *doing;  /* "ledger", "computing the ledger" */
	const char *title, *about; /* of the page's help */
	int (*make)(struct ty_page_job
			    *a); /* runs in the thread: 0 or -TY_E..., with err for details */
	bool (*page)(struct ty_timeline *t,
		     struct ty_page_job *a); /* false: a sentence states why */
	void (*forget)(struct ty_page_job *a);
	void (*left)(
		struct ty_timeline *t); /* when the page is closed; NULL: its link is followed */
};
struct ty_page_job {
	struct ty_background aside;
	const struct ty_page_job_ops *what;
	const struct ty_view_host *host;
	struct ty_explain explain;
	uint32_t thread;
	struct ty_window window;
	struct ty_path path;
	struct ty_link link[TY_STALL_LINKS]; /* chain: links of the stall that contains the wait */
	uint32_t links;			     /* 0: no stall contains it */
	const struct ty_rule *rule;	     /* with links: the rule that made it a stall, */
	bool proven;			     /* and whether its chain is */
	struct ty_call_sums sums;	     /* what the thread at the chain's end did meanwhile */
	struct ty_timeline_slowest slowest;  /* requests or regions; */
	struct ty_slow slow;		     /* one of them, */
	struct ty_outlier beside;	     /* and a median one */
	struct ty_hits hits;		     /* of a search, */
	char *object[TY_HITS_MAX];	     /* and what each acts on; NULL: unknown */
	struct ty_ledger ledger;
	struct ty_diff diff;
	struct ty_err err;
	int rc;
};

/* Memory samples of the recording (timeline_memory.c). */
struct ty_timeline_memory {
	struct ty_background aside;	 /* reading of the samples */
	const struct ty_view_host *host; /* whose they are */
	const struct ty_memory_input *in;
	int rc;
	struct ty_err err;
	struct ty_mem_heat *heat; /* NULL: there are none */
	uint32_t *strip;	  /* strip of each thread of the model; TY_NONE */
	uint32_t strips;
	uint8_t *cpus; /* by number: has samples; as many CPUs as a point can hold */
	struct ty_background cpus_aside; /* computation of their strips, when first shown */
	struct ty_mem_heat *cpu_heat;	 /* NULL: not computed */
	bool cpus_failed;
	bool by_source;		     /* colours, until the view sets its own */
	struct ty_memory_view *view; /* NULL: not opened yet */
};

/* Lanes of CPU samples and performance counters (timeline_lanes.c). */
struct ty_timeline_lanes {
	struct ty_background aside, names_aside;
	const struct ty_view_host *host;     /* whose they are */
	const struct ty_sample_marks *marks; /* NULL: there are none */
	const struct ty_counts *counts;	     /* the same */
	struct ty_counts *cpu_counts;	     /* the same by CPU */
	const struct ty_samples *names;	     /* the samples' functions; NULL: not read */
	bool names_failed;
	int rc;
	struct ty_err err;
};

/* Executed calls under threads' rows (timeline_calls.c); the threads, in this order, are in
 * tracks. */
#define TY_CALLS_BINS	256u
#define TY_CALLS_MIN_NS 16u /* the shortest window where there are instructions */
struct ty_timeline_part {
	uint32_t thread; /* whose it is */
	bool made;
	struct ty_flow_part_request request;
	uint64_t request_from_ns, request_to_ns; /* the window at the time of the request */
	const struct ty_flow_part *part;	 /* NULL: none, because */
	int rc;					 /* it failed, or, if 0, */
	bool wide;				 /* the window is too large */
	struct ty_err err;
	uint64_t bytes[TY_CALLS_BINS]; /* packet bytes in equal parts of the request; all 0: unknown
					*/
};
struct ty_timeline_calls {
	struct ty_background aside;
	uint32_t at; /* which one is being decoded while that is on */
	struct ty_timeline_part of[TY_TRACKS_FLOW];
};

/* Overlay on the rows: the chain of the span under the cursor, or the critical path of the traced
 * command; computed in a thread. */
struct ty_path_overlay {
	struct ty_background aside;
	struct ty_explain explain;
	bool on, made;
	bool only;	 /* its threads become the filter when it is made, */
	bool was_on;	 /* and then `on` is this again */
	uint32_t thread; /* the chain's thread, */
	uint64_t from_ns, to_ns;
	struct ty_link link[TY_STALL_LINKS]; /* and its links */
	uint32_t links;
	struct ty_path path; /* the command's */
	int rc;
};

/* Arguments with names of the call in the details (timeline_names.c). */
#define TY_ARGS_MAX 400
struct ty_call_names {
	struct ty_background aside;
	struct ty_explain explain;
	const struct ty_view_host *host;
	uint32_t call;
	atomic_bool numbered; /* its arguments as numbers are there */
	bool shown;	      /* and in the details */
	char numbers[TY_ARGS_MAX], text[TY_ARGS_MAX];
	int rc;
};

/* Names of files for a search or a filter, looked at in a thread (timeline_objects.c). */
struct ty_timeline_objects {
	struct ty_background aside;
	atomic_uint permille;
	struct ty_query *query; /* whose words they are matched with */
	void (*then)(struct ty_timeline *t);
	int rc;
	struct ty_err err;
};

/* The view opened above the timeline; ops NULL: none. */
struct ty_timeline_child {
	const struct ty_view_ops *ops;
	void *view;
	void (*left)(struct ty_timeline *t); /* called when it is closed; NULL */
};

#define TY_THREAD_NAME_MAX (TY_WHO_MAX + 12)
#define TY_WAIT_CAUSE	   (TY_THREAD_NAME_MAX + 32)

struct ty_timeline {
	const struct ty_view_input *in;
	const struct ty_model *m;
	enum ty_clock clock; /* that times are shown in */
	struct ty_viewport vp;
	struct ty_tracks tracks;
	struct ty_findings findings; /* empty during the search */
	/* Texts of the list's rows, which few keys change: names and wakers cost more to find than
	 * a row to draw. */
	struct ty_wait_text {
		bool known;
		uint8_t clock;
		int who_w, cause_w; /* the columns they are made for */
		char who[TY_THREAD_NAME_MAX], cause[TY_WAIT_CAUSE], start[TY_TIME_MAX + 8];
	} wait_text[TY_FINDINGS_MAX];
	struct ty_timeline_memory memory;
	struct ty_timeline_lanes lanes;
	struct ty_timeline_calls calls;
	struct ty_stall_searching stall_search;
	struct ty_page_job page_job;
	struct ty_path_overlay arrows, route;
	struct ty_gaps gaps;
	struct ty_group_bars heads;
	struct ty_layout lay;
	uint64_t cursor_ns; /* in the window */
	uint64_t typed_ns;  /* the last time that was typed (g) */
	uint32_t row, top;  /* selected row, first row on the screen */
	uint32_t finding;   /* the selected one; TY_NONE */
	/* Findings whose threads the filter shows, in order; positions in it are the list's lines.
	 */
	uint32_t listed[TY_FINDINGS_MAX], listed_n, list_top;
	uint32_t below; /* rows below the selected one to keep on the screen */
	bool list_focus;
	size_t log_at;		    /* the log line that was jumped to */
	int wanted;		    /* n or N was pressed before there were findings: 1 or -1 */
	bool touched;		    /* a key or the mouse was used */
	bool note_seen;		    /* a key was pressed since the note about the file was shown */
	bool keys_shown, keys_seen; /* the first keys; a key after them closes them */
	struct ty_count_sum stats_counted; /* of the page of statistics */
	uint8_t prompt;			   /* enum ty_prompt */
	char input[200], refused[200];	   /* of the prompt; why not what was entered; "" */
	char message[200];		   /* shown once in the footer */
	bool no_page;			   /* the last key requested a page that is not shown */
	struct ty_selection sel;
	bool dragging, drag_times; /* the button is down; it was pressed on the ruler: time only */
	VEC(struct ty_mark) marks; /* in time order */
	VEC(struct ty_past_query) history;  /* the oldest first, TY_HISTORY at most */
	bool unkept;			    /* some of both could not be kept yet */
	size_t recalled;		    /* of it in the prompt */
	struct ty_lead links[TY_LINKS_MAX]; /* of the details last made */
	unsigned links_n;
	struct ty_place details_of; /* subject of the details last drawn, */
	int details_top, details_n; /* first line shown, number of lines */
	uint32_t stall_here;	    /* stall shown in the details, from 1; 0: none */
	const struct ty_job *job;   /* NULL: none */
	bool exporting;		    /* an export is running: only its end is awaited */
	int64_t progress_ms;	    /* time of the last progress message */
	struct ty_query *query, *filter;
	struct ty_search search;
	struct ty_hit hit; /* last match, where the next search continues */
	bool hit_known;
	struct ty_search count; /* how many hits there are, */
	struct ty_hits longest; /* and the longest of them */
	struct ty_timeline_objects objects;
	struct ty_timeline_slowest slowest;
	bool backward;		    /* the search that waits for names */
	uint64_t hits_n, hit_at;    /* of the query; which of them the hit is, from 1 */
	int hits_place;		    /* where their page was left */
	bool hits_known, hits_many; /* they are counted; there are too many */
	bool hit_steps, hit_said;   /* from a hit to the next; the message is of the hit */
	uint64_t filter_i, filter_at;
	struct ty_range_stats *stats;
	struct ty_page page;		   /* the last page */
	struct ty_spectrum_view *spectrum; /* NULL: it is not open */
	struct ty_flame_view *flame;	   /* the same */
	struct ty_flow_view *flow;	   /* likewise */
	uint32_t flow_thread;
	/* The instant of the last jump (typed, a link, a hit, a stall, a mark): while the cursor
	 * stays there, each row shows its span at that instant, not the longest span of the cell.
	 * UINT64_MAX: none. */
	uint64_t exact_ns;
	/* The span at that instant that was the target of the jump. */
	struct {
		bool on;
		struct ty_track track;
		uint32_t idx;
	} pin;
	bool partial; /* the model covers the recording's first part only */
	bool indexed; /* the rest is indexed, or cannot be */
	struct ty_indexing_news indexing;
	struct ty_timeline_child child;
	struct ty_cell *cells; /* one row's, and those of the thread that a row of calls is of */
	int cells_n;
	/* Cached arguments of the last system call shown: reading them costs a decompression. */
	uint32_t args_of;
	char args[TY_ARGS_MAX];
	struct ty_call_names names;
};

/* timeline_state.c: queries of other files */
/* True for threads of the recorder itself. */
bool ty_timeline_is_recorder(const struct ty_timeline *t, uint32_t thread);
/* "name/tid" of a thread at an instant, " (recorder)" behind the recorder's; returns out. */
const char *ty_timeline_thread_name(const struct ty_timeline *t, uint32_t thread, uint64_t at_ns,
				    char out[TY_THREAD_NAME_MAX]);
/* In so many columns: its number is kept. */
const char *ty_timeline_thread_within(const struct ty_timeline *t, uint32_t thread, uint64_t at_ns,
				      int columns, char out[TY_THREAD_NAME_MAX]);
/* "12.345678 s" or "14:03:22.512", in the selected clock; returns out. */
const char *ty_timeline_at(const struct ty_timeline *t, uint64_t ns, uint64_t res_ns,
			   char out[TY_TIME_MAX]);
/* The track of a row with a single track; false for heads. */
bool ty_timeline_track(const struct ty_timeline *t, uint32_t row, struct ty_track *track);
/* The span under the cursor: the one that represents its cell; false when there is none. */
bool ty_timeline_subject(const struct ty_timeline *t, struct ty_track *track, struct ty_cell *cell,
			 uint32_t *idx, uint64_t *from_ns, uint64_t *to_ns);
/* Selects this span of the cursor's row, which need not be the longest of its cell. */
void ty_timeline_pin(struct ty_timeline *t, struct ty_track track, uint32_t idx);
/* From now on each row shows its span at the cursor's instant. */
void ty_timeline_exact(struct ty_timeline *t);
/* The track's span at the instant of the last jump; TY_NONE: the cursor has left it, or the track
 * is empty there. */
uint32_t ty_timeline_span_at_instant(const struct ty_timeline *t, struct ty_track track);
/* The thread of the cursor's row, for a process's head its leader; TY_NONE: none. */
uint32_t ty_timeline_row_thread(const struct ty_timeline *t);
/* The same; for a CPU's row the thread running at the cursor. */
uint32_t ty_timeline_thread_here(const struct ty_timeline *t);
uint32_t ty_timeline_cells(const struct ty_timeline *t); /* columns of cells */
uint32_t ty_timeline_cursor_column(const struct ty_timeline *t);
void ty_timeline_to_column(struct ty_timeline *t, uint32_t c); /* the cursor, into its middle */
void ty_timeline_clamp(struct ty_timeline *t);		       /* the cursor, into the window */
/* Cursor and row, for a view that may be undone. */
struct ty_place ty_timeline_place(const struct ty_timeline *t);
/* Shows a sentence in the footer until the next key. */
#define ty_timeline_say(t, ...) ty_put_instead((t)->message, sizeof((t)->message), __VA_ARGS__)
/* For actions that need the whole recording: when it is still being indexed, says so and returns
 * true. */
bool ty_timeline_indexing_waits(struct ty_timeline *t, const char *what);

/* timeline_layout.c */
struct ty_layout ty_timeline_layout(const struct ty_timeline *t, int w, int h);
/* Computes the layout for a screen of w x h and scrolls the selection into view. 0 or
 * -TY_ENOMEM. */
int ty_timeline_settle(struct ty_timeline *t, int w, int h);

/* details.c: describes what is under the cursor; returns the number of lines. Fills t->links. */
unsigned ty_details(struct ty_timeline *t, char lines[TY_DETAIL_LINES][TY_DETAIL_MAX]);

/* timeline_names.c: "8</srv/site.lock>, LOCK_EX" of a call; at first, and where nothing is known,
 * without names. Kept until the names of another call are requested. */
const char *ty_timeline_args(struct ty_timeline *t, uint32_t call);
void ty_timeline_args_forget(struct ty_timeline *t); /* the model changes */

/* timeline_draw.c, timeline_mouse.c */
void ty_timeline_draw(void *self, struct ty_grid *g, const struct ty_palette *p);
enum ty_view_result ty_timeline_mouse(void *self, const struct ty_mouse *m);

/* timeline_move.c: cursor, window and rows */
void ty_timeline_show_row(struct ty_timeline *t, uint32_t below);
void ty_timeline_list(struct ty_timeline *t);		     /* makes `listed` anew */
uint32_t ty_timeline_listed_at(const struct ty_timeline *t); /* position of the selected finding, or
								listed_n */
void ty_timeline_show_finding(struct ty_timeline *t);
void ty_timeline_pan(struct ty_timeline *t, int64_t delta_ns);
void ty_timeline_move_cursor(struct ty_timeline *t, int by);
void ty_timeline_up_down(struct ty_timeline *t, int by, bool page);
void ty_timeline_move_in_list(struct ty_timeline *t, int64_t by);
void ty_timeline_step_span(struct ty_timeline *t, int by);
void ty_timeline_zoom(struct ty_timeline *t);
/* Fits the window to a span with a margin, the cursor in its middle. */
void ty_timeline_fit(struct ty_timeline *t, uint64_t start_ns, uint64_t end_ns);
void ty_timeline_fold(struct ty_timeline *t);
/* Goes to a thread and time (TY_NONE: on the current row), as a separate undo step. */
void ty_timeline_visit(struct ty_timeline *t, uint32_t thread, uint64_t at_ns);
/* The same for any row. */
void ty_timeline_visit_row(struct ty_timeline *t, uint8_t kind, uint32_t id, uint64_t at_ns);
/* Restores cursor and row of an undone or redone view. */
void ty_timeline_restore(struct ty_timeline *t);

/* timeline_select.c */
void ty_timeline_select(struct ty_timeline *t);	   /* begin, hold, begin anew */
void ty_timeline_select_to(struct ty_timeline *t); /* the cursor is its other corner */
void ty_timeline_unselect(struct ty_timeline *t);
/* When rows are reordered: the selection's corners before, and restoring them; it is dropped when
 * one disappeared. */
void ty_timeline_selected_rows(const struct ty_timeline *t, struct ty_row ends[2]);
void ty_timeline_select_rows(struct ty_timeline *t, const struct ty_row ends[2]);
/* The selection: [from, to) and rows first..last; false when there is none. */
bool ty_timeline_selected(const struct ty_timeline *t, uint64_t *from_ns, uint64_t *to_ns,
			  uint32_t *first, uint32_t *last);
/* Its length and where its time went, for the details; false: no selection. */
bool ty_timeline_selection_text(const struct ty_timeline *t, char *length, char *shares);
/* The columns of cells that its ends take on the ruler. */
void ty_timeline_selection_taken(const struct ty_timeline *t, uint8_t *taken);

/* timeline_cursor.c */
void ty_timeline_scroll_details(struct ty_timeline *t, int by);

/* timeline_marks.c */
/* The columns of cells that marks take on the ruler. */
void ty_timeline_marks_taken(const struct ty_timeline *t, uint8_t *taken);
void ty_timeline_mark(struct ty_timeline *t, const char *name);
void ty_timeline_mark_jump(struct ty_timeline *t, const char *name);

/* timeline_marks_write.c */
/* The one before (or after) that in the prompt; false: there is none. */
bool ty_timeline_recall(struct ty_timeline *t, bool filter, bool older);
/* Around a change of marks, of searches or filters: other views of the recording do so, too. */
void ty_timeline_keep_begin(struct ty_timeline *t);
void ty_timeline_keep_end(struct ty_timeline *t, bool changed);
void ty_timeline_keep_query(struct ty_timeline *t, bool filter, const char *text);

/* timeline_marks_read.c */
struct ty_mark *ty_timeline_find_mark(struct ty_timeline *t, const char *name); /* NULL: none */
/* One that may take the place of another of its name. 0 or -TY_ENOMEM. */
int ty_timeline_add_mark(struct ty_timeline *t, const struct ty_mark *m);
/* The newest search or filter of the history. */
void ty_timeline_remember(struct ty_timeline *t, bool filter, const char *text);
/* As it is kept now; added to what there is where that is not kept. */
void ty_timeline_keep_load(struct ty_timeline *t);

/* timeline_marks_page.c */
bool ty_timeline_kept(struct ty_timeline *t); /* the page of it; false: a sentence says why not */

/* timeline_stall_list.c */
void ty_timeline_find(struct ty_timeline *t); /* begins to search for them */
void ty_timeline_to_foremost(struct ty_timeline *t);
void ty_timeline_to_finding(struct ty_timeline *t);
void ty_timeline_step_finding(struct ty_timeline *t, int by);

/* timeline_indexing.c: a recording whose rest is still being indexed */
void ty_timeline_indexing_begin(struct ty_timeline *t);
/* " INDEXING 43%, 12 s left", "" when all is there; in out or constant. */
#define TY_INDEXING_MAX 48
const char *ty_timeline_indexing_mark(const struct ty_timeline *t, char out[TY_INDEXING_MAX]);

/* timeline_objects.c: true if the query has the names of files that it needs. If not, they are
 * read, and `then` is called at the end; the query must live until then. */
bool ty_timeline_objects(struct ty_timeline *t, struct ty_query *q,
			 void (*then)(struct ty_timeline *t));
void ty_timeline_objects_stop(struct ty_timeline *t);

/* timeline_hits.c: the hits of the search, the longest first; false: a sentence says why not yet.
 */
bool ty_timeline_hits(struct ty_timeline *t);

/* timeline_search.c: "read", "softirq_raise on CPU 1" of a hit; returns what. */
#define TY_HIT_TEXT 140
const char *ty_timeline_hit_text(const struct ty_timeline *t, const struct ty_hit *h,
				 char what[TY_HIT_TEXT]);

/* timeline_search.c: search and filter */
void ty_timeline_search(struct ty_timeline *t, const char *text);
void ty_timeline_next_hit(struct ty_timeline *t, bool backward);
/* Counts some of all hits; true when done. Then takes the result. */
bool ty_timeline_count_step(struct ty_timeline *t);
void ty_timeline_take_count(struct ty_timeline *t);
void ty_timeline_filter(struct ty_timeline *t, const char *text); /* "": all rows again */

/* timeline_job.c */
void ty_timeline_begin(struct ty_timeline *t, const struct ty_job *job);
void ty_timeline_drop_job(struct ty_timeline *t); /* its result is no longer needed */
bool ty_timeline_stop_job(struct ty_timeline *t); /* by a key; false: there was none */
/* Cancels a job that would push a page above the view being opened. */
void ty_timeline_stop_page(struct ty_timeline *t);
/* True when threads and rows must not be reordered now. */
bool ty_timeline_keeps_rows(const struct ty_timeline *t);

/* timeline_layers.c: slices of the job, and the layers */
/* Cancels the job, else what layers can cancel; false: there was nothing. */
bool ty_timeline_stop(struct ty_timeline *t);
int ty_timeline_wait_ms(const void *self);
enum ty_view_result ty_timeline_work(void *self);
void ty_timeline_layers_draw(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p);
void ty_timeline_layers_fini(struct ty_timeline *t);

/* timeline_actions.c: what keys do */
enum ty_view_result ty_timeline_act(void *self, enum ty_action a);

/* timeline_child_view.c: the view above the timeline */
/* Opens a view above the timeline; the caller then returns TY_VIEW_PUSH. Returns true. */
bool ty_timeline_push(struct ty_timeline *t, const struct ty_view_ops *ops, void *view,
		      void (*left)(struct ty_timeline *t));
bool ty_timeline_push_page(struct ty_timeline *t); /* t->page, as it was filled */
void ty_timeline_page_left(struct ty_timeline *t); /* goes where its chosen line leads */
void ty_timeline_child(void *self, const struct ty_view_ops **ops, void **view);
enum ty_view_result ty_timeline_resumed(void *self);

/* timeline_chain.c: the wakeup chain of the span under the cursor; true: the page is ready;
 * otherwise it is being computed, or a sentence states why not. */
bool ty_timeline_chain(struct ty_timeline *t);
/* timeline_stack.c: pushes the page of the stack of the wait under the cursor. */
bool ty_timeline_stack(struct ty_timeline *t);
/* Likewise: where the time of the thread under the cursor went. */
bool ty_timeline_ledger(struct ty_timeline *t);
/* timeline_chain_pane.c: the chain beside the list, from column x of a wide and tall screen on, for
 * the stall of the wait under the cursor. g NULL: nothing is drawn. False: there is no such pane
 * now. */
#define TY_CHAIN_PANE_W 72
bool ty_timeline_chain_pane(const struct ty_timeline *t, struct ty_grid *g,
			    const struct ty_palette *p, int x);
/* timeline_diff.c, likewise: the selection, or the window, compared with the rest. */
bool ty_timeline_diff(struct ty_timeline *t);

/* timeline_requests.c: the slowest requests, each beside a median one; the same. */
bool ty_timeline_requests(struct ty_timeline *t);
/* timeline_regions.c: the region under the cursor (TY_NONE: none, or the row has no regions), and
 * the slowest of its name and kind; the same. */
uint32_t ty_timeline_region_here(const struct ty_timeline *t);
bool ty_timeline_region_slowest(struct ty_timeline *t);

/* timeline_page_job.c */
/* Starts it for [from, to), with the page's title set. */
bool ty_timeline_start_page_job(struct ty_timeline *t, const struct ty_page_job_ops *what,
				uint32_t thread, uint64_t from_ns, uint64_t to_ns);
/* In the job: finds the functions of CPU samples, for ledgers and comparisons. 0 or -TY_E.... */
int ty_timeline_page_functions(struct ty_page_job *a);
void ty_timeline_cancel_page_job(struct ty_timeline *t); /* no longer wanted */

/* timeline_path_overlay.c: arrows of the chain, and the critical path */
void ty_timeline_arrows(struct ty_timeline *t); /* on, off */
void ty_timeline_only(struct ty_timeline *t);	/* filters by the chain's threads */
void ty_timeline_route(struct ty_timeline *t);
/* path_overlay_draw.c: over the rows, after these */
void ty_timeline_paths_draw(const struct ty_timeline *t, struct ty_grid *g,
			    const struct ty_palette *p);

/* timeline_spectrum.c: the spectrogram; false: a sentence says why not. */
bool ty_timeline_spectrum(struct ty_timeline *t);
/* timeline_flame.c: the flame graph; the same. */
bool ty_timeline_flame(struct ty_timeline *t);

/* timeline_flow.c: executed instructions; false: a sentence says why not. */
bool ty_timeline_flow(struct ty_timeline *t);

/* timeline_calls.c: executed calls under a thread's row */
void ty_timeline_calls(struct ty_timeline *t); /* of the thread under the cursor: on, off */
/* Cancels decoding and discards parts, because another view decodes. */
void ty_timeline_calls_stop(struct ty_timeline *t);
void ty_timeline_calls_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			   const struct ty_row *r, int y);
/* Describes the thread's calls under the cursor in sentences. */
void ty_timeline_calls_text(const struct ty_timeline *t, uint32_t thread, char *out, size_t n);
void ty_timeline_calls_note(const struct ty_timeline *t, uint32_t thread, char *out, size_t n);

/* timeline_log.c: lines of log files on the axis. */
void ty_timeline_log_step(struct ty_timeline *t, int by); /* to the next line, or the one before */
/* The line in the cursor's cell, for the details; false: there is none. */
bool ty_timeline_log_text(const struct ty_timeline *t, char *out, size_t n);
/* The lines around a wait, as lines of the page. */
void ty_timeline_log_page(struct ty_timeline *t, uint64_t from_ns, uint64_t to_ns);

/* timeline_memory.c: samples of memory accesses */
void ty_timeline_memory_begin(struct ty_timeline *t);
bool ty_timeline_memory_loaded(struct ty_timeline *t, unsigned ms); /* true: the rows change */
/* The threads of another model. 0 or -TY_ENOMEM. */
int ty_timeline_memory_map(struct ty_timeline *t);
/* r: a thread's or a CPU's strip. */
void ty_timeline_memory_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			    const struct ty_row *r, int y);
/* The strip's samples under the cursor. */
void ty_timeline_memory_text(const struct ty_timeline *t, const struct ty_row *r, char *out,
			     size_t n);
/* The meaning of the colours, and the key to change them. */
void ty_timeline_memory_colours(const struct ty_timeline *t, char *what, char *other, size_t n);
void ty_timeline_memory_recolour(struct ty_timeline *t);
bool ty_timeline_memory_open(struct ty_timeline *t); /* true: there is a view to push */

/* timeline_lanes.c: CPU samples and performance counters */
void ty_timeline_lanes_begin(struct ty_timeline *t);
bool ty_timeline_lanes_loaded(struct ty_timeline *t, unsigned ms); /* true: the screen changes */
void ty_timeline_lanes_map(struct ty_timeline *t); /* the threads of another model */
/* r: a lane. Its cells, its name, and what is under the cursor. */
void ty_timeline_lane_row(struct ty_timeline *t, struct ty_grid *g, const struct ty_palette *p,
			  const struct ty_row *r, int y);
void ty_timeline_lane_name(const struct ty_timeline *t, const struct ty_row *r, bool utf8,
			   char *out, size_t n);
void ty_timeline_lane_text(struct ty_timeline *t, const struct ty_row *r, char *out, size_t n);
/* What a thread's counters grew by in [from, to), within its life; no readings: none are there. */
struct ty_count_sum ty_timeline_counted(const struct ty_timeline *t, uint32_t thread, uint64_t from,
					uint64_t to);
/* The same of a CPU. */
struct ty_count_sum ty_timeline_cpu_counted(const struct ty_timeline *t, uint32_t cpu,
					    uint64_t from, uint64_t to);

/* timeline_stats.c */
void ty_timeline_stats(struct ty_timeline *t);

/* timeline_prompt.c: typed input */
void ty_timeline_prompt_open(struct ty_timeline *t, enum ty_prompt what);
/* The prompt, for the footer; the typed text follows it. */
#define TY_QUESTION_MAX 120
const char *ty_timeline_prompt_label(const struct ty_timeline *t, char buf[TY_QUESTION_MAX]);
enum ty_view_result ty_timeline_text(void *self, uint32_t key);

#endif
