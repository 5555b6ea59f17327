/* SPDX-License-Identifier: MIT */
/* Between the files of the answer. */
#ifndef TY_ANSWER_PRIV_H
#define TY_ANSWER_PRIV_H

#include "answer.h"
#include "chain.h"
#include "ledger_book.h"

/* Rows of one item. */
struct ty_answer_sum {
	uint64_t ns, longest_ns, pieces;
	uint32_t span; /* of the longest piece */
	uint32_t who;  /* ty_ledger_key.who */
	uint32_t row;  /* the largest of them */
	int32_t nr;    /* waits: the system call; -1 */
	uint8_t abi, part;
	bool last; /* behind those that are not */
};

/* What the texts of items need. */
struct ty_answer_work {
	const struct ty_explain *x;
	const struct ty_book *book;
	const struct ty_ledger_group *crowd; /* by thread index */
	const struct ty_path *path;	     /* of a command; NULL */
	const uint8_t *mine;		     /* by thread index: of the command's tree; NULL: all */
	const struct ty_requests *requests;  /* of the window; NULL: not looked for */
	bool fold; /* of threads: waits without work are idle, and stand last */
};

/* The items of the book's rows, into the answer: its parts, its largest items with their texts. 0
 * or -TY_ENOMEM. answer_items.c */
int ty_answer_items(const struct ty_answer_work *k, struct ty_answer *out);
/* c[i].n is 1 for each thread that the answer is about: sets with whom each is told. mine: NULL, or
 * for which threads are told apart. 0 or -TY_ENOMEM. answer_groups.c */
int ty_answer_groups(const struct ty_model *m, const uint8_t *mine, struct ty_ledger_group *c);
/* The answers: 0, -TY_ENOTFOUND where there is nothing such, or -TY_E... */
int ty_answer_command(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out);
int ty_answer_requests(const struct ty_explain *x, const struct ty_requests *requests,
		       struct ty_answer *out);
int ty_answer_threads(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out);
int ty_answer_machine(const struct ty_explain *x, const struct ty_window *w, struct ty_answer *out);
/* A line of notes, as printf has it. answer_parts.c */
void ty_answer_note(struct ty_answer *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* answer_text.c */
void ty_answer_item_text(const struct ty_answer_work *k, const struct ty_answer_sum *s, char *out,
			 size_t size);
/* answer_children.c: the command's children on its path. root: the command's process. 0 or
 * -TY_ENOMEM. */
int ty_answer_children(const struct ty_answer_work *k, uint32_t root, uint64_t total_ns, char *out,
		       size_t size);

#endif
