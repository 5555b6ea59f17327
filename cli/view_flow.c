/* SPDX-License-Identifier: MIT */
/* See view_flow.h. */
#include "view_flow.h"

#include <stdio.h>
#include <string.h>

#include "base_name.h"
#include "key_value.h"
#include "plain_text.h"
#include "section.h"

/* So much is decoded from its start on, so that all calls that a part lies in are known. */
#define WHOLE_BYTES (4u << 20)

/* The instructions of a part: half of the memory is the view's, the others share the rest. */
static uint32_t most(const struct ty_view_flow *f, const struct ty_flow_part_request *ask)
{
	const uint64_t each = f->parts_bytes / 2 / (ask->slot ? TY_FLOW_SLOTS - 1 : 1);
	const uint64_t n = each / TY_FLOW_PART_BYTES;

	return f->parts_bytes && n < ask->most ? (uint32_t)n + 1 : ask->most;
}

/* Once; decoding only begins with a part. */
static int open_source(struct ty_view_flow *f, struct ty_err *err)
{
	int r = f->names ? 0 : ty_flow_source_open(&f->source, f->path, err);

	if (!r && !f->names) {
		f->asm64 = f->asm64 ?: ty_disasm_new(TY_DISASM_X86_64, err);
		f->asm32 = f->asm32 ?: ty_disasm_new(TY_DISASM_X86_32, err);
		if (f->asm64 && f->asm32)
			f->names = ty_flow_source_names(&f->source, err);
		if (!f->names)
			r = ty_fail(err, TY_ENOMEM, TY_NO_OFFSET, "%s: out of memory", f->path);
	}
	if (r)
		ty_flow_source_close(&f->source); /* to be opened again */
	return r;
}

static int read_part(void *ctx, const struct ty_flow_part_request *ask,
		     const struct ty_flow_part **out, struct ty_err *err)
{
	struct ty_view_flow *f = ctx;
	struct ty_flow_window w = {.from_ns = ask->from_ns, .to_ns = ask->to_ns};
	struct ty_flow_part *part = &f->part[ask->slot];
	struct ty_flow_part_request of = *ask;
	int r;

	of.most = most(f, ask);
	ty_flow_part_fini(part);
	*out = NULL;
	r = open_source(f, err);
	if (r)
		return r;
	if (ty_flow_bytes(f->source.flow) <= WHOLE_BYTES)
		w.from_ns = 0;
	r = ty_flow_seek(f->source.flow, &w, false, err);
	if (r)
		return r;
	r = ty_flow_part_read(f->source.flow, f->names, &of, part);
	if (r)
		return ty_fail(err, -r, TY_NO_OFFSET, "%s: executed instructions: %s", f->path,
			       ty_strerror(r));
	*out = part;
	return 0;
}

static uint64_t when(const struct ty_flow_step *s)
{
	return s->ts_ns == TY_FLOW_NO_TIME ? UINT64_MAX - 1 : s->ts_ns;
}

static int packets(void *ctx, const struct ty_flow_part_request *ask, uint32_t n, uint64_t *bytes,
		   struct ty_err *err)
{
	struct ty_view_flow *f = ctx;
	int r = open_source(f, err);

	if (!r && !ty_flow_density(f->source.flow, ask->tid, ask->from_ns, ask->to_ns, n, bytes,
				   ask->stop))
		r = ty_fail(err, TY_EINTR, TY_NO_OFFSET, "%s: interrupted", f->path);
	return r;
}

static void place(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n)
{
	struct ty_view_flow *f = ctx;

	ty_flow_names_text(f->names, pid, when(s), s->ip, out, n);
	ty_plain(out, strlen(out));
}

static void insn(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		 char *bytes, size_t bytes_n)
{
	struct ty_view_flow *f = ctx;
	struct ty_code_at at = {0};
	uint8_t raw[16];
	size_t have = ty_code_read(ty_flow_code(f->source.flow), pid, when(s), s->ip, raw,
				   s->size < sizeof(raw) ? s->size : sizeof(raw), &at);

	*bytes = 0;
	for (size_t i = 0; i < have && 3 * i + 4 < bytes_n; i++)
		snprintf(bytes + 3 * i, bytes_n - 3 * i, "%02x ", raw[i]);
	if (have < s->size)
		snprintf(out, n, "(its bytes are not available)");
	else
		ty_disasm_text(s->flags & TY_FF_32BIT ? f->asm32 : f->asm64, raw, have, s->ip, out,
			       n);
}

static void line(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n)
{
	struct ty_view_flow *f = ctx;
	struct ty_flow_name at = ty_flow_names_at(f->names, pid, when(s), s->ip);
	const char *file;
	int number;

	*out = 0;
	if (!ty_flow_names_line(f->names, &at, &file, &number))
		return;
	/* The end of a path is more specific than its beginning. */
	snprintf(out, n, "%s:%d", ty_base_name(file), number);
	ty_plain(out, strlen(out));
}

static bool source(void *ctx, int32_t pid, const struct ty_flow_step *s, char *out, size_t n,
		   bool *newer)
{
	struct ty_view_flow *f = ctx;
	struct ty_flow_name at = ty_flow_names_at(f->names, pid, when(s), s->ip);
	const char *file;
	int number;

	if (!f->texts)
		f->texts = ty_source_text_new(&f->source.roots);
	return f->texts && ty_flow_names_line(f->names, &at, &file, &number) &&
	       ty_source_text_line(f->texts, file, number, at.file, out, n, newer);
}

static bool has_flow(const struct ty_trace *trace, char *how, size_t n)
{
	return trace->perf ? trace->perf_pt
			   : ty_trace_section_bytes(trace, TY_SEC_PERF) &&
				     ty_key_value(ty_trace_section(trace, TY_SEC_MACHINE).s, "flow",
						  how, n);
}

bool ty_view_has_flow(const struct ty_trace *trace)
{
	char how[32];

	return has_flow(trace, how, sizeof(how));
}

const struct ty_flow_input *ty_view_flow_init(struct ty_view_flow *f, const struct ty_trace *trace,
					      const struct ty_flow_source *options)
{
	char how[32] = "pt";

	*f = (struct ty_view_flow){.path = trace->path, .source = *options};
	f->source.quiet = true;
	f->parts_bytes = options->memory_bytes / 2;
	f->source.memory_bytes -= f->parts_bytes;
	if (!has_flow(trace, how, sizeof(how)))
		return NULL;
	f->in = (struct ty_flow_input){.software = trace->perf_stepped || !strcmp(how, "step"),
				       .read = read_part,
				       .packets = packets,
				       .place = place,
				       .insn = insn,
				       .line = line,
				       .source = source,
				       .ctx = f};
	return &f->in;
}

void ty_view_flow_fini(struct ty_view_flow *f)
{
	for (unsigned i = 0; i < TY_FLOW_SLOTS; i++)
		ty_flow_part_fini(&f->part[i]);
	ty_flow_names_free(f->names);
	ty_source_text_free(f->texts);
	ty_disasm_free(f->asm64);
	ty_disasm_free(f->asm32);
	ty_flow_source_close(&f->source);
}
