/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLIANT_ATTRIBUTES_H
#define PLIANT_ATTRIBUTES_H

// The scene names of every field of the definitions, once for all hosts: the embedded host, the SOFA plugin and the
// documentation read the same rows, and take defaults from pli_*_default() through them. A row without a field is for the host:
// files, links, lists, what a component publishes.

#include <pliant/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/// What a value is. Lists are flat: `PLI_POINTS` holds 3 numbers a point.
typedef enum PliKind {
    PLI_BOOL,
    PLI_INT,
    PLI_REAL,
    PLI_VEC3,
    PLI_REALS,
    PLI_POINTS,
    PLI_INDICES, ///< list of indices; cells are flat
    PLI_TEXT,
    PLI_FILE,     ///< an existing file, searched for by the host
    PLI_FILES,    ///< several of them, separated by blanks
    PLI_NEW_FILE, ///< a file that may not be there yet; relative to the scene
    PLI_OPTION,   ///< one of `options`
    PLI_LINK,     ///< "@path" of another component
    PLI_LINKS,    ///< several of them
    PLI_KIND_COUNT
} PliKind;
PLI_API const char *pli_kind_name(PliKind kind); ///< "bool", "int", "real", ...

typedef enum PliSupport { PLI_SUPPORTED, PLI_VISUAL_ONLY, PLI_APPROXIMATED, PLI_NOT_SUPPORTED } PliSupport;
PLI_API const char *pli_support_name(PliSupport support); ///< "supported", "visual-only", "approximated", "unsupported"

/// PLI_IN_OUT: read when the component is made, then what it publishes.
enum { PLI_IN = 0, PLI_OUT = 1, PLI_ALIAS = 2, PLI_IN_OUT = 3 };

/// The range of a slider in a viewer; 0, 0: none. Relative: from `low` times the value to `high` times. Absolute: from low to high, whose
/// end stands for the value of the scene. Of a row that does not change while running: where `pliant tune` looks.
typedef struct PliSlide {
    double low, high;
    bool absolute;
} PliSlide;

typedef struct PliAttribute {
    const char *name;
    PliKind kind;
    PliSupport support;
    const char *value;   ///< default as text; NULL: none, or (with a field) taken from the definition's default
    const char *help;    ///< what it is, with its unit; PLI_ALIAS: the attribute meant
    const char *reason;  ///< why approximated or unsupported, else NULL
    const char *options; ///< PLI_OPTION: the words, separated by blanks, in the order of the C enumeration
    int role;            ///< PLI_IN, PLI_OUT, PLI_ALIAS or PLI_IN_OUT
    int offset;          ///< byte of the field in the definition
    int size;            ///< bytes of the field; 0: the row has no field
    int width;           ///< PLI_INDICES: corners of a cell; 0: single numbers
    bool running;        ///< it may change while the component runs
    PliSlide slide;      ///< PLI_REAL that is `running`, or a PLI_INT that makes a body finer
    char sign;           ///< PLI_REAL: may follow the number, such as '%'
} PliAttribute;

/// Rows that several components share.
typedef struct PliAttributeGroup {
    const PliAttribute *rows;
    int count;
} PliAttributeGroup;

/// The field of a definition that a row names: { "ramp", PLI_INT, PLI_FIELD(PliTetLodDef, ramp), .help = "..." }.
#define PLI_FIELD(type, field) .offset = (int)offsetof(type, field), .size = (int)sizeof(((type *)0)->field)
#define PLI_GROUP(rows)                                                                                                \
    {                                                                                                                  \
        rows, (int)(sizeof(rows) / sizeof *(rows))                                                                     \
    }

extern PLI_API const PliAttributeGroup pli_model_attributes;     ///< what every model has: skin, and what it publishes
extern PLI_API const PliAttributeGroup pli_body_attributes;      ///< PliBodyDef, which every definition begins with
extern PLI_API const PliAttributeGroup pli_criterion_attributes; ///< the part of it that adaptive schemes have
extern PLI_API const PliAttributeGroup pli_pieces_attributes;    ///< PliPiecesDef
extern PLI_API const PliAttributeGroup pli_target_attributes;    ///< PliTargetDef
extern PLI_API const PliAttributeGroup pli_tool_attributes;      ///< PliTool, what sphere and plane share

/// Text of the field in `def`, as a scene would write it. Rows without a field give their default text ("" when none).
PLI_API void pli_attribute_text(const PliAttribute *row, const void *def, char *text, size_t size);
/// Sets the field of `def` from scene text. A PLI_TEXT field keeps the pointer.
PLI_API PliStatus pli_attribute_set(const PliAttribute *row, void *def, const char *text, PliError *err);
/// Word number `k` of a PLI_OPTION; false: there is none.
PLI_API bool pli_option_word(const PliAttribute *row, int k, char *text, size_t size);
/// Row called `name` (case counts) in a group, or NULL.
PLI_API const PliAttribute *pli_attribute_find(const PliAttributeGroup *group, const char *name);

/// One number of text in the C locale, whatever LC_NUMERIC is; refuses what is not finite. *end is behind it; NULL on failure.
PLI_API const char *pli_parse_number(const char *text, double *value);

#ifdef __cplusplus
}
#endif
#endif
