/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_ATTRIBUTES_H
#define PLI_ATTRIBUTES_H

// The scene names of every field of the definitions, once for all hosts: the embedded host, the SOFA plugin and the
// documentation read the same rows, and take defaults from pli_*_default() through them. A row of a stock component has no
// field; its default is text.

#include <pliant/body.h>

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
    PLI_FILE,
    PLI_OPTION, ///< one of `options`
    PLI_LINK,   ///< "@path" of another component
    PLI_LINKS,  ///< several of them
    PLI_KIND_COUNT
} PliKind;
const char *pli_kind_name(PliKind kind);

typedef enum PliSupport { PLI_SUPPORTED, PLI_VISUAL_ONLY, PLI_APPROXIMATED, PLI_NOT_SUPPORTED } PliSupport;
const char *pli_support_name(PliSupport support); ///< "supported", "visual-only", "approximated", "unsupported"

enum { PLI_IN = 0, PLI_OUT = 1, PLI_ALIAS = 2 };

typedef struct PliAttribute {
    const char *name;
    PliKind kind;
    PliSupport support;
    const char *value;   ///< default as text; NULL: none, or (with a field) taken from the definition's default
    const char *help;    ///< what it is, with its unit; PLI_ALIAS: the attribute meant
    const char *reason;  ///< why approximated or unsupported, else NULL
    const char *options; ///< PLI_OPTION: the words, separated by blanks, in the order of the C enumeration
    int role;            ///< PLI_IN, PLI_OUT or PLI_ALIAS
    int offset;          ///< byte of the field in the definition
    int size;            ///< bytes of the field; 0: the row has no field
} PliAttribute;

/// Rows that several components share.
typedef struct PliAttributeGroup {
    const PliAttribute *rows;
    int count;
} PliAttributeGroup;

extern const PliAttributeGroup pli_body_attributes;    ///< PliBodyDef, which every definition begins with
extern const PliAttributeGroup pli_tetlod_attributes;  ///< what PliTetLodDef adds
extern const PliAttributeGroup pli_frames_attributes;  ///< what PliFramesDef adds
extern const PliAttributeGroup pli_wavelet_attributes; ///< what PliWaveletDef adds
extern const PliAttributeGroup pli_pieces_attributes;  ///< PliPiecesDef
extern const PliAttributeGroup pli_target_attributes;  ///< PliTargetDef
extern const PliAttributeGroup pli_tool_attributes;    ///< PliTool, what sphere and plane share

/// Text of the field in `def`, as a scene would write it. Rows without a field give their default text ("" when none).
void pli_attribute_text(const PliAttribute *row, const void *def, char *text, size_t size);
/// Sets the field of `def` from scene text. A PLI_TEXT field keeps the pointer.
PliStatus pli_attribute_set(const PliAttribute *row, void *def, const char *text, PliError *err);
/// Row called `name` (case counts) in a group, or NULL.
const PliAttribute *pli_attribute_find(const PliAttributeGroup *group, const char *name);

/// One number of text in the C locale, whatever LC_NUMERIC is; refuses what is not finite. *end is behind it; NULL on failure.
const char *pli_parse_number(const char *text, double *value);

#endif
