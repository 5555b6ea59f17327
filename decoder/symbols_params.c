/* SPDX-License-Identifier: MIT */
/*
 * Parameters of functions by name, and the integer registers that hold them at the entry: DWARF 5,
 * 3.3.4; System V ABI, AMD64 supplement, 3.2.3; Procedure Call Standard for the Arm 64-bit
 * Architecture, 6.8.2. Where a rule would need more than the types (structs by value, calls that
 * the compiler made its own), no register is given.
 */
#include <dwarf.h>
#include <string.h>

#include "symbols_priv.h"

#if defined(__x86_64__)
enum { REGS = 6, MACHINE = EM_X86_64 };
static const uint8_t dwarf_reg[REGS] = {5, 4, 1, 2, 8, 9};
#else
enum { REGS = 8, MACHINE = EM_AARCH64 };
static const uint8_t dwarf_reg[REGS] = {0, 1, 2, 3, 4, 5, 6, 7};
#endif

/* Of DWARF 6, which newer compilers write and <dwarf.h> may lack. */
enum { CPP17 = 0x2a, CPP20 = 0x2b, C17 = 0x2c };

struct search {
	uint64_t addr;
	Dwarf_Die die;
	bool found;
};

static int at_entry(Dwarf_Die *die, void *arg)
{
	struct search *s = arg;
	Dwarf_Addr pc;

	if (dwarf_entrypc(die, &pc) || pc != s->addr)
		return DWARF_CB_OK;
	s->die = *die;
	s->found = true;
	return DWARF_CB_ABORT;
}

/* The type behind its names and qualifiers; false: none (void), or damaged. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	*type = *die;
	/* Bounded: a damaged file may have circles. */
	for (unsigned i = 0; i < 32; i++) {
		Dwarf_Attribute a;

		if (!dwarf_attr_integrate(type, DW_AT_type, &a) || !dwarf_formref_die(&a, type))
			return false;
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type: break;
		default: return true;
		}
	}
	return false;
}

static bool number(Dwarf_Die *die, unsigned name, Dwarf_Word *out)
{
	Dwarf_Attribute a;

	return dwarf_attr_integrate(die, name, &a) && !dwarf_formudata(&a, out);
}

enum class { INTEGER, FLOATING, OTHER };

static enum class class_of(Dwarf_Die *type, struct ty_param *p) {
	int tag = dwarf_tag(type), size = dwarf_bytesize(type); Dwarf_Word enc; Dwarf_Die base;

	p->size = 8;
	p->sort = 'x';
	if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	    tag == DW_TAG_rvalue_reference_type) return INTEGER;
	p->sort = 'u';
	if (tag != DW_TAG_enumeration_type && tag != DW_TAG_base_type) return OTHER;
	base = *type;
	if (!number(&base, DW_AT_encoding, &enc) &&
	    (!type_of(type, &base) || !number(&base, DW_AT_encoding, &enc)))
		enc = tag == DW_TAG_enumeration_type ? DW_ATE_unsigned : 0;
	if (enc == DW_ATE_float || enc == DW_ATE_complex_float) return FLOATING;
	if (size != 1 && size != 2 && size != 4 && size != 8) return OTHER;
	p->size = (uint8_t)size;
	if (enc == DW_ATE_signed || enc == DW_ATE_signed_char) p->sort = 's';
	return p->sort == 's' || enc == DW_ATE_unsigned || enc == DW_ATE_unsigned_char ||
			       enc == DW_ATE_boolean || enc == DW_ATE_UTF
		       ? INTEGER
		       : OTHER;
}

/* Does the compiler say that it is elsewhere at the entry? Without optimization it gives the place
 * on the stack only, where the function is about to put it. */
static bool is_elsewhere(Dwarf_Die *die, uint64_t addr, unsigned reg)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_hasattr(die, DW_AT_const_value))
		return true;
	if (!dwarf_attr(die, DW_AT_location, &a) ||
	    dwarf_getlocation_addr(&a, addr, &ops, &n, 1) != 1 || n != 1)
		return false;
	if (ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return ops[0].atom - DW_OP_reg0 != dwarf_reg[reg];
	return false;
}

/* Calls by the rules of C; NULL: yes. */
static const char *irregular(Dwarf_Die *cu, Dwarf_Die *fn)
{
	int lang = dwarf_srclang(cu), tag;
	GElf_Ehdr eh;
	Dwarf_Word convention;
	Dwarf_Die type;

	if (!gelf_getehdr(dwarf_getelf(dwarf_cu_getdwarf(cu->cu)), &eh) ||
	    eh.e_machine != MACHINE || eh.e_ident[EI_CLASS] != ELFCLASS64)
		return "the file is of another architecture";
	switch (lang) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case CPP17:
	case CPP20:
	case C17:
	case DW_LANG_ObjC:
	case DW_LANG_ObjC_plus_plus: break;
	default: return "it is not written in C or C++";
	}
	if (number(fn, DW_AT_calling_convention, &convention) && convention != DW_CC_normal)
		return "the compiler changed how it is called";
	if (!type_of(fn, &type))
		return NULL;
	tag = dwarf_tag(&type);
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type
		       ? "it returns a struct"
		       : NULL;
}

size_t ty_symbols_params(struct ty_symbols *s, const struct ty_symbol *f, struct ty_param *out,
			 size_t max, const char **why)
{
	struct search at = {0};
	Dwarf_Die cu, die, type;
	unsigned used = 0;
	bool known = true;
	size_t n = 0;

	*why = "no debug information (compile with -g, or install that of the package)";
	if (!ty_symbols_unit(s, f->start, &cu, &at.addr))
		return 0;
	(void)dwarf_getfuncs(&cu, at_entry, &at, 0);
	if (!at.found)
		return 0;
	/* Copies with other parameters: name.constprop.0, name.isra.0, name.part.0 */
	*why = strchr(f->name, '.') ? "the compiler changed how it is called"
				    : irregular(&cu, &at.die);
	if (*why || dwarf_child(&at.die, &die))
		return 0;
	do {
		struct ty_param p = {.reg = -1};
		enum class c;

		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		p.name = dwarf_diename(&die);
		c = type_of(&die, &type) ? class_of(&type, &p) : OTHER;
		/* Hidden ones of constructors may be missing in the code. */
		if (dwarf_hasattr_integrate(&die, DW_AT_artificial) &&
		    (!p.name || strcmp(p.name, "this") != 0))
			c = OTHER;
		known &= c != OTHER;
		if (known && c == INTEGER && used < REGS) {
			p.reg = is_elsewhere(&die, at.addr, used) ? -1 : (int)used;
			used++;
		}
		if (p.name && n < max)
			out[n++] = p;
	} while (!dwarf_siblingof(&die, &die));
	return n;
}
