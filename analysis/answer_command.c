/* SPDX-License-Identifier: MIT */
/* The answer for a traced command: its critical path. */
#include "answer_priv.h"

#include <stdlib.h>

#include "command_path.h"
#include "process_of_thread.h"

/* The command's process and all its descendants. The parent of a thread may be listed after the
 * thread: repeat until nothing new is found. */
static void find_mine(const struct ty_model *m, uint32_t root, uint8_t *mine)
{
	uint32_t n = ty_model_summary(m)->threads, process = ty_process_of(m, root);
	bool more = true;

	mine[root] = 1;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < n; i++) {
			const struct ty_thread *t = ty_model_thread(m, i);
			uint32_t by = ty_process_parent(m, i);

			if (mine[i] || t->kernel)
				continue;
			if ((by != TY_NONE && mine[by]) || ty_process_of(m, i) == process)
				mine[i] = more = true;
		}
	}
}

/* The book is empty then. */
static int take_rows(struct ty_book *book, struct ty_answer *out)
{
	struct ty_ledger l = {0};
	int r = ty_book_close(book, &l);

	for (uint32_t i = 0; i < l.n; i++)
		if (i < TY_ANSWER_ROWS) {
			out->row[out->rows++] = l.rows[i];
		} else {
			out->rows_left++;
			out->rows_left_ns += l.rows[i].ns;
		}
	ty_ledger_fini(&l);
	return r;
}

int ty_answer_command(const struct ty_explain *x, const struct ty_window *w,
		      const struct ty_requests *requests, struct ty_answer *out)
{
	size_t threads = (size_t)ty_model_summary(x->m)->threads + 1;
	struct ty_book book = {.x = x};
	struct ty_ledger_group *group_of = NULL;
	uint8_t *mine = NULL;
	struct ty_path p;
	uint32_t root;
	int r = ty_command_path(x, w->from_ns, w->to_ns, &out->start_ns, &out->end_ns, &p);

	if (!r) {
		group_of = calloc(threads, sizeof(*group_of));
		mine = calloc(threads, sizeof(*mine));
		r = group_of && mine ? 0 : -TY_ENOMEM;
	}
	if (!r) {
		root = ty_model_thread_find(x->m, x->command_tid, w->to_ns);
		out->of = TY_ANSWER_COMMAND;
		out->total_ns = out->end_ns - out->start_ns;
		out->command_ns = ty_command_ns(x);
		out->inferred = p.inferred;
		find_mine(x->m, root, mine);
		vec_each (s, &p.seg)
			group_of[s->thread].n = 1;
		r = ty_ledger_groups(x->m, mine, group_of);
	}
	book.group_of = group_of;
	if (!r)
		r = ty_ledger_path(x, &p, group_of, out->start_ns, out->end_ns, &book);
	if (!r) {
		const struct ty_answer_work k = {.requests = requests,
						 .x = x,
						 .book = &book,
						 .group_of = group_of,
						 .path = &p,
						 .mine = mine};

		out->server = ty_answer_is_server(&k, out->total_ns);
		r = ty_answer_items(&k, out);
		if (!r)
			r = ty_answer_children(&k, ty_process_of(x->m, root), out->total_ns,
					       out->children, sizeof(out->children));
		r = r ?: take_rows(&book, out);
	}
	ty_path_fini(&p);
	ty_book_fini(&book);
	free(group_of);
	free(mine);
	return r;
}
