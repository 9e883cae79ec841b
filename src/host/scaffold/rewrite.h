/* Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PLI_REWRITE_H
#define PLI_REWRITE_H

// Attributes changed in the text of a scene: everything else, comments and line ends too, stays as somebody wrote it.

#include "host/graph/scene.h"
#include "output/file.h"

/// Sets an attribute of an element that was read from `text`. False: the text does not have that element, or no memory.
bool pli_rewrite_attribute(PliText *text, const PliXml *element, const char *name, const char *value);

#endif
