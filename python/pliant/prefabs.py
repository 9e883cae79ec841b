# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Prefabs for SofaPython3: the graphs that the .scn files have, in one call.

    def createScene(root):
        from pliant import prefabs
        prefabs.requirements(root)
        liver = prefabs.tetlod(root, "liver", filenames="coarse.msh fine.msh", youngModulus=4000,
                               fix="-1 -1 -1 1 0.01 1", tools=[prefabs.sphere(radius=0.01, position=[0, 0.1, 0])])

There is one function for every registered scheme, named as the scheme. It works on anything that has addObject and addChild.
"""
from . import _library as _l
from . import registry as _r

PLUGINS = ("Pliant", "Sofa.Component.AnimationLoop", "Sofa.Component.Constraint.Projective", "Sofa.Component.Engine.Select",
           "Sofa.Component.IO.Mesh", "Sofa.Component.StateContainer")


def text(value):
    """A value as a scene writes it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, str):
        return value
    value = value.tolist() if hasattr(value, "tolist") else value  # of NumPy
    try:
        parts = list(value)
    except TypeError:
        return repr(value) if isinstance(value, float) else str(value)
    return " ".join(text(p) for p in parts)


def requirements(root, plugins=PLUGINS):
    """RequiredPlugin for everything these graphs use, and the loop."""
    for plugin in plugins:
        root.addObject("RequiredPlugin", pluginName=plugin)
    root.addObject("DefaultAnimationLoop")


def sphere(**attributes):
    """A SphereTool for `tools`."""
    return "SphereTool", attributes


def plane(**attributes):
    """A PlaneTool for `tools`."""
    return "PlaneTool", attributes


def body(node, name, scheme, *, meshes=(), fix=None, fix_of="position", fix_name="held", tools=(), skin_node=True, **attributes):
    """A child of `node` with one body of a scheme. Returns the child.

    meshes: {loader name: attributes of MeshGmshLoader} or (name, attributes) pairs, made first
    fix: box or boxes (xmin ymin zmin xmax ymax zmax) whose coefficients are held; fix_of: the model's points that are looked at
         ("position", or "places" where coefficients are no places), None: those of the state
    tools: of sphere(...) and plane(...)
    skin_node: whether a child shows the skin
    attributes: of the model, as in scenes; misspelt ones are refused here
    """
    found = _r.schemes().get(scheme)
    if found is None:
        raise _l.ArgumentError(f"there is no scheme {scheme!r}; there are {', '.join(_r.schemes())}")
    for attribute in attributes:
        if attribute not in ("skin", "src", "threads", "showLevels", "showInterface"):
            found.find(attribute)
    child = node.addChild(name)
    for loader, given in dict(meshes).items():
        child.addObject("MeshGmshLoader", name=loader, **{k: text(v) for k, v in given.items()})
    child.addObject(found.component, name="model", **{k: text(v) for k, v in attributes.items()})
    child.addObject("AdaptiveSolver")
    child.addObject("MechanicalObject", name="dofs", position="@model.position")
    if fix is not None:
        place = {} if fix_of is None else {"position": f"@model.{fix_of}"}
        child.addObject("BoxROI", name=fix_name, box=text(fix), **place)
        child.addObject("FixedProjectiveConstraint", indices=f"@{fix_name}.indices")
    for component, given in tools:
        child.addObject(component, **{k: text(v) for k, v in given.items()})
    if skin_node:
        skin = child.addChild("skin")
        skin.addObject("AdaptiveSurface", name="surface")
        skin.addObject("MechanicalObject", name="points")
        skin.addObject("AdaptiveMapping")
    return child


def __getattr__(name):
    scheme = _r.schemes().get(name)
    if scheme is None:
        raise AttributeError(f"pliant.prefabs has no {name}; schemes are {', '.join(_r.schemes())}")

    def prefab(node, child="body", **more):
        return body(node, child, name, **more)
    prefab.__name__ = name
    prefab.__doc__ = f"{scheme.component}: {scheme.help}. See pliant.prefabs.body."
    return prefab
