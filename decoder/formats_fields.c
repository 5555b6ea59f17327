/* SPDX-License-Identifier: MIT */
/* Raw fields of a record, by the format of its event (formats.h). */
#include <string.h>

#include "checked_read.h"
#include "formats_priv.h"

unsigned ty_formats_nfields(const struct ty_formats *f, uint16_t id)
{
	const struct ty_fmt_entry *e = ty_fmt_entry(f, id);

	return e ? e->nfields : 0;
}

int64_t ty_formats_element(const struct ty_field_value *v, size_t i)
{
	uint64_t x;

	if (i >= v->n || !v->elem_size || v->elem_size > 8)
		return 0;
	x = ty_load(v->base + i * v->elem_size, v->elem_size, v->big_endian);
	if (v->elem_signed && v->elem_size < 8)
		x = (uint64_t)((int64_t)(x << (64 - 8 * v->elem_size)) >> (64 - 8 * v->elem_size));
	return (int64_t)x;
}

int ty_formats_field(const struct ty_formats *f, const struct ty_event *ev, unsigned k,
		     struct ty_field_value *out)
{
	const struct ty_fmt_entry *e = ty_fmt_entry(f, ev->id);
	const struct ty_ft_field *fd;
	const uint8_t *p;
	uint32_t n;

	*out = (struct ty_field_value){.name = "", .big_endian = f->big_endian};
	if (!e || k >= e->nfields)
		return -TY_EFORMAT;
	fd = &e->fields[k];
	out->name = fd->name;
	if (fd->off > ev->size || fd->size > ev->size - fd->off)
		return -TY_EFORMAT;
	p = ev->data + fd->off;
	n = fd->size ? fd->size : ev->size - fd->off;
	if (fd->is_loc) {
		uint32_t loc = (uint32_t)ty_fmt_load(p, 4, f->big_endian);
		uint32_t off = (loc & 0xffff) + (fd->is_rel ? fd->off + 4 : 0);

		n = loc >> 16;
		if (off > ev->size || n > ev->size - off)
			return -TY_EFORMAT;
		p = ev->data + off;
	}
	out->base = p;
	out->elem_size = fd->elem_size;
	out->elem_signed = fd->is_signed;
	if (fd->is_string) {
		out->type = TY_FIELD_STR;
		out->s = (const char *)p;
		out->room = n;
		out->n = strnlen(out->s, n);
	} else if (fd->is_array || fd->is_loc || (n != 1 && n != 2 && n != 4 && n != 8)) {
		out->type = TY_FIELD_ARRAY;
		if (!out->elem_size || out->elem_size > 8 || out->elem_size == 3 ||
		    (out->elem_size > 4 && out->elem_size < 8))
			out->elem_size = 1;
		out->n = n / out->elem_size;
	} else {
		uint64_t v = ty_fmt_load(p, n, f->big_endian);

		out->type = fd->is_signed ? TY_FIELD_INT : TY_FIELD_UINT;
		if (fd->is_signed && n < 8)
			v = (uint64_t)((int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n));
		out->u = v;
		out->i = (int64_t)v;
	}
	return 0;
}
