/* SPDX-License-Identifier: MIT */
/* A model as an index file (index_file.h): its layout, opening and naming. */
#include "index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_priv.h"

_Static_assert(sizeof(struct ty_index_body) <= TY_INDEX_BODY_MAX, "it fits its place");

static uint64_t model_layout(void)
{
	struct {
		char version[32];
		uint32_t size[TY_SECTION_IDS], rows[TY_TABLES], one, other[4];
	} l;

	memset(&l, 0, sizeof(l));
	snprintf(l.version, sizeof(l.version), "%s", TY_VERSION);
	l.one = 1; /* byte order */
#define X(id, type, v, n) l.size[TY_S_##id] = sizeof(type);
	TY_SECTIONS(X)
#undef X
	for (unsigned i = 0; i < TY_TABLES; i++)
		l.rows[i] = ty_table_kinds[i].row_bytes;
	l.other[0] = sizeof(struct ty_node);
	l.other[1] = sizeof(struct ty_block_head);
	l.other[2] = TY_BLOCK_ROWS;
	l.other[3] = TY_NODE_FAN;
	return ty_store_hash(&l, sizeof(l));
}

struct attaching {
	struct ty_index_body body;
	struct ty_model *model;
};

static bool attach_model(void *ctx, struct ty_store *store)
{
	struct attaching *a = ctx;
	struct ty_model *m = calloc(1, sizeof(*m));

	if (!m) {
		ty_store_free(store);
		return false;
	}
	m->body = a->body;
	m->store = store;
	if (ty_model_load(m, true)) {
		ty_model_free(m);
		return false;
	}
	a->model = m;
	return true;
}

const struct ty_index_kind ty_index_of_model = {TY_INDEX_OF_MODEL, model_layout,
						sizeof(struct ty_index_body)};

int ty_index_open(const char *trace_path, int trace_fd, struct ty_model **out)
{
	struct attaching a = {0};

	(void)ty_index_load(&ty_index_of_model, trace_path, trace_fd, &a.body, attach_model, &a);
	*out = a.model;
	return *out != NULL;
}

void ty_index_commit_model(struct ty_index_write *w, struct ty_model *m)
{
	ty_index_seal(m->store, m->body.table, TY_TABLES);
	ty_index_seal(m->store, m->body.section, TY_SECTION_IDS);
	ty_index_commit(w, m->store, &m->body);
}
