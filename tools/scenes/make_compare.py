#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the comparison scenes, their tools, surfaces and balls: everything in scenes/compare but the liver's meshes.

usage: make_compare.py FOLDER [NAME...]      such as  make_compare.py scenes/compare cantilever
       make_compare.py --check FOLDER        exit code 1 when a file there is not the one that would be written

Every scene has the same bodies: a uniform reference of 10,000 nodes or more, uniform bodies of several sizes, explicit with rates
of their own and implicit ones, and every scheme. Boxes come from grids in the scene; only the ball and the liver have mesh files.
What a scheme is given besides the material belongs to the shape, not to the scene.
Levels are a factor of 1.6 to 2.1 in size apart, down to one or two cells across: what lies between two sizes cannot be chosen, and two
coarser levels have to run along with the one that is chosen. Closer ones do not fit (a coarse node may reach no finer one), and
make mixtures dear. The ball has meshes 1.5 apart, which fit and are never mixed.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import skins  # noqa: E402  pylint: disable=wrong-import-position


class Shape:
    """Where the meshes of a shape come from, and how each scheme is laid out on it."""

    def __init__(self, skin, frames, wavelet, octree, springs):
        self.skin = skin
        self.layout = {"Frames": frames, "Wavelet": wavelet, "Octree": octree, "Springs": springs}


class Grids(Shape):
    """A box; sizes are cells along x, y and z."""

    def __init__(self, skin, size, reference, levels, family, **layout):
        super().__init__(skin, **layout)
        self.size, self.reference, self.levels, self.family = size, reference, levels, family
        self.implicit = range(2, len(family))

    @staticmethod
    def name(cells):
        return "grid_" + "_".join(map(str, cells))

    def meshes(self):
        wanted = []
        for cells in [self.reference, *self.levels, *self.family]:
            if cells not in wanted:
                wanted.append(cells)
        lines = ['    <Node name="Meshes">']
        for cells in sorted(wanted):
            points = " ".join(str(c + 1) for c in cells)
            top = " ".join(f"{s:g}" for s in self.size)
            # a node has one topology
            lines.append(f'        <Node name="{self.name(cells)}"><RegularGridTopology name="grid" n="{points}" min="0 0 0" max="{top}"/></Node>')
        return lines + ["    </Node>"]

    def one(self, cells):
        return f'mesh="@../Meshes/{self.name(cells)}/grid"'

    def several(self, name="levels"):
        return name + '="' + " ".join(f"@../Meshes/{self.name(c)}/grid" for c in self.levels) + '"'

    def fallback(self):
        return self.several("fallbackLevels")

    def solid(self):
        low, high = "0 0 0", " ".join(f"{s:g}" for s in self.size)
        return f'min="{low}" max="{high}"'


class Files(Shape):
    """Meshes in files, coarse to fine; the last is the reference's."""

    def __init__(self, skin, levels, family, **layout):
        super().__init__(skin, **layout)
        self.levels, self.family, self.reference = levels, family, levels[-1]
        self.implicit = range(1, len(family))

    @staticmethod
    def meshes():
        return []

    @staticmethod
    def one(name):
        return f'filename="{name}"'

    def several(self, name="filenames"):
        return name + '="' + " ".join(self.levels) + '"'

    def fallback(self):
        return self.several("fallbackFilenames")

    def solid(self):
        return f'filename="{self.skin}"'


def cells_per_metre(size, counts):
    return [tuple(max(1, round(s * n)) for s in size) for n in counts]


LIVER_MESHES = [f"../meshes/liver_{k}.msh" for k in range(4)]
BALLS = {"ball_0.vtk": (2, 1), "ball_1.vtk": (4, 2), "ball_2.vtk": (6, 3), "ball_3.vtk": (9, 4), "ball_4.vtk": (14, 6)}
SHAPES = {
    "bar": Grids("bar_skin.obj", (1, 1, 4), (13, 13, 52), cells_per_metre((1, 1, 4), (1, 2, 4, 7, 13)),
                 cells_per_metre((1, 1, 4), (1, 2, 3, 4, 5, 7, 9, 11)),
                 frames='frames="8" resolution="32" anchors="0.5 0.5 0  0.5 0.5 4" threshold="1e-4"',
                 wavelet='cells="2 2 8" detailLevels="2"', octree='resolution="32" levels="3"',
                 springs='basePoints="80" detailLevels="2"'),
    "box": Grids("box_skin.obj", (1, 1, 1), (21, 21, 21), cells_per_metre((1, 1, 1), (2, 4, 7, 12, 21)),
                 cells_per_metre((1, 1, 1), (2, 3, 4, 5, 7, 10, 14, 18)),
                 frames='frames="8" resolution="16" shape="smooth" threshold="1e-4"',
                 wavelet='cells="3 3 3" detailLevels="1"', octree='resolution="16" levels="3"',
                 springs='basePoints="60" detailLevels="2"'),
    "pad": Grids("pad_skin.obj", (1, 0.25, 1), (33, 8, 33), [(4, 1, 4), (8, 2, 8), (16, 4, 16), (33, 8, 33)],
                 [(4, 1, 4), (8, 2, 8), (12, 3, 12), (16, 4, 16), (24, 6, 24), (28, 7, 28)],
                 frames='frames="16" shape="smooth"', wavelet='cells="4 1 4" detailLevels="2"',
                 octree='resolution="16" levels="3"', springs='basePoints="100" detailLevels="2"'),
    "bridge": Grids("bridge_skin.obj", (1, 0.5, 5), (16, 8, 80), cells_per_metre((1, 0.5, 5), (2, 4, 8, 16)),
                    cells_per_metre((1, 0.5, 5), (2, 4, 6, 8, 10, 13)),
                    frames='frames="16" anchors="0.5 0.25 0  0.5 0.25 5"', wavelet='cells="2 1 10" detailLevels="2"',
                    octree='resolution="40" levels="3"', springs='basePoints="100" detailLevels="2"'),
    "ball": Files("sphere_skin.obj", ["ball_0.vtk", "ball_1.vtk", "ball_2.vtk", "ball_3.vtk", "ball_4.vtk"], ["ball_0.vtk", "ball_1.vtk", "ball_2.vtk", "ball_3.vtk"],
                  frames='frames="8" resolution="16" shape="smooth" threshold="1e-4"',
                  wavelet='resolution="5" sharpAngle="180" detailLevels="1"', octree='resolution="16" levels="3"',
                  springs='basePoints="80" detailLevels="2"'),
    "liver": Files("../meshes/liver_surface.obj", LIVER_MESHES,
                   [*LIVER_MESHES[:2], "../meshes/liver_1b.vtu", LIVER_MESHES[2], "../meshes/liver_2b.vtu"],
                   frames='frames="24" resolution="32" anchors="-0.05 -0.04 0  0.084 0.0125 0.015" threshold="1e-4"',
                   wavelet='resolution="10" detailLevels="1"', octree='resolution="32" levels="3"',
                   springs='basePoints="139" detailLevels="2"'),
}

LIVER_MATERIAL = 'youngModulus="4000" poissonRatio="0.4" density="1050" damping="0.0002" massDamping="15"'
LIVER_HELD = "-0.2 -0.2 -0.2 0.2 -0.025 0.2  0.07 -0.2 -0.2 0.2 0.2 0.2"
BAR_HELD = "-1 -1 -0.01 2 2 0.01"
SCENES = {
    "poked_liver": dict(
        about="A ball pokes a liver: approach, press, hold, leave. The same tool, surface and material for every scheme.",
        shape="liver", gravity="0 0 0", monitor='steps="150" instants="0.3 0.7 0.96 1.5" view="0.25 0.75 1" title="Poked liver"',
        note="A ball approaches the right lobe of a liver, presses it by 12 mm, holds, and leaves. The underside and the tip of the left lobe are held.",
        material=LIVER_MATERIAL, held=LIVER_HELD, tools="poke_tool.xml"),
    "dragged_liver": dict(
        about="A ball drags along a liver with friction.",
        shape="liver", gravity="0 0 0", monitor='steps="180" instants="0.4 0.8 1.2 1.8" view="0.25 0.75 1" title="Dragged liver"',
        note="A ball presses a liver by 12 mm, drags 50 mm along it with friction 0.4, and leaves.",
        material=LIVER_MATERIAL, held=LIVER_HELD, tools="drag_tool.xml"),
    "twisting_bar": dict(
        about="Two balls twist the free end of a bar, hold, and let go.",
        shape="bar", gravity="0 0 0", monitor='steps="180" instants="0.4 0.8 1.2 1.8" view="0.8 0.5 1" title="Twisting bar"',
        note="Two balls turn the free end of a bar by pressing opposite edges, hold, and let go.",
        material='youngModulus="5e6" poissonRatio="0.35" density="1000" damping="0.0002" massDamping="8"',
        held=BAR_HELD, tools="twist_tools.xml"),
    "cantilever": dict(
        about="A bar held at one end sinks under its own weight to rest.",
        shape="bar", gravity="0 -9.81 0", monitor='steps="200" view="1 0.35 0.5" title="Cantilever"',
        note="A bar of 1 x 1 x 4 m, held at one end, sinks under its own weight to rest.",
        material='youngModulus="2e7" poissonRatio="0.35" density="1000" damping="0.0002" massDamping="8"',
        held=BAR_HELD),
    "free_vibration": dict(
        about="An undamped bar swings under its own weight.",
        shape="bar", gravity="0 -9.81 0", monitor='steps="300" view="1 0.35 0.5" title="Free vibration"',
        note="The cantilever without any damping: weight acts from one moment to the next, and the bar swings. Energy must stay.",
        material='youngModulus="2e7" poissonRatio="0.35" density="1000" damping="0"', held=BAR_HELD),
    "squeezed_box": dict(
        about="A press flattens a box on a floor and holds it.",
        shape="box", gravity="0 0 0", monitor='steps="200" instants="0.3 0.6 1.2 2" view="0.8 0.4 1" title="Squeeze and hold"',
        note="A press flattens a box on a floor by a quarter and holds it: a scheme that adapts to motion should get cheap again while the shape stays.",
        material='youngModulus="2e5" poissonRatio="0.35" density="1000" damping="0.0002" massDamping="4"', tools="squeeze_tools.xml"),
    "released_box": dict(
        about="A press flattens a box and lets go at once.",
        shape="box", gravity="0 -9.81 0", monitor='steps="180" instants="0.5 0.86 1 1.8" view="0.8 0.4 1" title="Release"',
        note="A press flattens a box on a floor and is gone from one moment to the next: the box springs back and jumps.",
        material='youngModulus="2e5" poissonRatio="0.35" density="1000" damping="0.0002"', tools="release_tools.xml"),
    "dropped_sphere": dict(
        about="A soft ball falls onto a floor and bounces.",
        shape="ball", gravity="0 -9.81 0", monitor='steps="150" instants="0.2 0.32 0.42 0.8" view="0.4 0.3 1" title="Drop on a floor"',
        note="A ball of 1 m radius falls 0.3 m onto a floor and bounces. Nothing holds it: momentum must be what gravity and the floor give.",
        material='youngModulus="8e5" poissonRatio="0.35" density="1000" damping="0.0005"', tools="floor.xml"),
    # these three were in view when constants of tetlod's accuracy were chosen
    "dented_pad": dict(
        about="A small ball dents a flat pad away from its middle and rolls off.",
        shape="pad", gravity="0 0 0", monitor='steps="150" instants="0.3 0.6 1 1.5" view="0.5 0.8 1" title="Dented pad"',
        note="A pad of 1 x 0.25 x 1 m, held from below; a ball of 0.1 m dents it by a quarter of its thickness near a corner, slides, and leaves. Nothing was chosen on this scene but constants of tetlod's accuracy, which had it in view.",
        material='youngModulus="5e4" poissonRatio="0.4" density="1000" damping="0.0005" massDamping="5"',
        held="-1 -0.01 -1 2 0.01 2", tools="dent_tool.xml"),
    "loaded_bridge": dict(
        about="A bar held at both ends is pushed down near one of them.",
        shape="bridge", gravity="0 -9.81 0", monitor='steps="160" instants="0.4 0.8 1.2 1.6" view="1 0.4 0.3" title="Loaded bridge"',
        note="A bar of 1 x 0.5 x 5 m, held at both ends under its weight; a ball pushes it down at a third of its length and leaves. Nothing was chosen on this scene but constants of tetlod's accuracy, which had it in view.",
        material='youngModulus="2e6" poissonRatio="0.35" density="1000" damping="0.0005" massDamping="3"',
        held="-1 -1 -0.01 2 2 0.01  -1 -1 4.99 2 2 5.01", tools="bridge_tool.xml"),
    "struck_liver": dict(
        about="A heavy ball strikes the left lobe of a liver that is held on the right.",
        shape="liver", gravity="0 0 0", monitor='steps="150" instants="0.15 0.3 0.6 1.5" view="0.25 0.75 1" title="Struck liver"',
        note="The liver, stiffer and hardly damped, held at the right end; a ball strikes the left lobe from above at 0.2 m/s and goes. Nothing was chosen on this scene but the level tetlod starts at.",
        material='youngModulus="9000" poissonRatio="0.4" density="1050" damping="0.0002" massDamping="3"',
        held="-0.2 -0.2 -0.2 -0.06 0.2 0.2", tools="strike_tool.xml"),
    # written when all constants were final, and run once as they are
    "pinched_bar": dict(
        about="Two balls pinch a bar in the middle and let go.",
        shape="bar", gravity="0 -9.81 0", monitor='steps="160" instants="0.4 0.8 1.2 1.6" view="0.9 0.4 1" title="Pinched bar"',
        note="A bar of 1 x 1 x 4 m, held at one end under its weight; two balls pinch it from both sides in the middle, hold, and let go.",
        material='youngModulus="8e6" poissonRatio="0.4" density="1000" damping="0.0005" massDamping="4"',
        held=BAR_HELD, tools="pinch_tools.xml"),
    "tumbling_box": dict(
        about="A box falls onto a slope and slides.",
        shape="box", gravity="0 -9.81 0", monitor='steps="150" instants="0.2 0.4 0.8 1.4" view="0.6 0.4 1" title="Tumbling box"',
        note="A soft box falls 0.2 m onto a slope of one in four, bounces, turns and slides. Nothing holds it.",
        material='youngModulus="3e5" poissonRatio="0.4" density="1000" damping="0.001"', tools="slope.xml"),
    "pressed_ball": dict(
        about="A ball on a floor is pressed by a smaller one from above.",
        shape="ball", gravity="0 0 0", monitor='steps="150" instants="0.3 0.7 1 1.5" view="0.5 0.4 1" title="Pressed ball"',
        note="A ball of 1 m radius lies on a floor; a rigid one of 0.5 m presses it from above by 0.4 m off its middle, holds, and leaves.",
        material='youngModulus="2e5" poissonRatio="0.4" density="1000" damping="0.0005" massDamping="3"', tools="press_tools.xml"),
}
TOOLS = {
    "poke_tool.xml": ['<SphereTool name="ball" radius="0.01" position="-0.04 0.068 0"',
                      '            keyTimes="0 0.1 0.5 0.9 1.1 1.3" movements="0 0 0  0 -0.004 0  0 -0.016 0  0 -0.016 0  0 0.02 0  0 0.06 0"/>'],
    "drag_tool.xml": ['<SphereTool name="ball" radius="0.022" position="-0.055 0.08 0.005" friction="0.4"',
                      '            keyTimes="0 0.1 0.4 1.2 1.4" movements="0 0 0  0 -0.006 0  0 -0.017 0  0.05 -0.027 0  0.05 0.03 0"/>'],
    "twist_tools.xml": ['<SphereTool name="right" radius="0.5" position="1.52 0.85 3.6" friction="0.5"',
                        '            keyTimes="0 0.6 1.2 1.4" movements="0 0 0  -0.3 0 0  -0.3 0 0  0.3 0 0"/>',
                        '<SphereTool name="left" radius="0.5" position="-0.52 0.15 3.6" friction="0.5"',
                        '            keyTimes="0 0.6 1.2 1.4" movements="0 0 0  0.3 0 0  0.3 0 0  -0.3 0 0"/>'],
    "squeeze_tools.xml": ['<PlaneTool name="floor" position="0 0 0" normal="0 1 0" friction="0.5"/>',
                          '<PlaneTool name="press" position="0 1.02 0" normal="0 -1 0" friction="0.5" keyTimes="0 0.6" movements="0 0 0  0 -0.27 0"/>'],
    "release_tools.xml": ['<PlaneTool name="floor" position="0 0 0" normal="0 1 0" friction="0.5"/>',
                          '<PlaneTool name="press" position="0 1.02 0" normal="0 -1 0" friction="0.5" keyTimes="0 0.5 0.8 0.85" movements="0 0 0  0 -0.22 0  0 -0.22 0  0 1 0"/>'],
    "floor.xml": ['<PlaneTool name="floor" position="0 -1.3 0" normal="0 1 0" friction="0.2"/>'],
    "dent_tool.xml": ['<SphereTool name="ball" radius="0.1" position="0.3 0.36 0.35" friction="0.2"',
                      '            keyTimes="0 0.4 0.7 1.1 1.3" movements="0 0 0  0 -0.0725 0  0 -0.0725 0  0.25 -0.0725 0.1  0.25 0.1 0.1"/>'],
    "bridge_tool.xml": ['<SphereTool name="ball" radius="0.3" position="0.4 0.85 1.7" friction="0.3"',
                        '            keyTimes="0 0.3 0.6 1 1.2" movements="0 0 0  0 -0.1 0  0 -0.3 0  0 -0.3 0  0 0.2 0"/>'],
    "pinch_tools.xml": ['<SphereTool name="right" radius="0.4" position="1.45 0.5 2" friction="0.4"',
                        '            keyTimes="0 0.3 0.7 1 1.2" movements="0 0 0  -0.05 0 0  -0.25 0 0  -0.25 0 0  0.4 0 0"/>',
                        '<SphereTool name="left" radius="0.4" position="-0.45 0.5 2" friction="0.4"',
                        '            keyTimes="0 0.3 0.7 1 1.2" movements="0 0 0  0.05 0 0  0.25 0 0  0.25 0 0  -0.4 0 0"/>'],
    "slope.xml": ['<PlaneTool name="slope" position="0 -0.2 0" normal="0.2425 0.9701 0" friction="0.3"/>'],
    "press_tools.xml": ['<PlaneTool name="floor" position="0 -1 0" normal="0 1 0" friction="0.4"/>',
                        '<SphereTool name="press" radius="0.5" position="0.2 1.52 0.1" friction="0.4"',
                        '            keyTimes="0 0.1 0.6 1 1.2" movements="0 0 0  0 -0.04 0  0 -0.42 0  0 -0.42 0  0 0.3 0"/>'],
    "strike_tool.xml": ['<SphereTool name="ball" radius="0.015" position="0.06 0.075 0.01" friction="0.2"',
                        '            keyTimes="0 0.1 0.2 0.3" movements="0 0 0  0 -0.02 0  0 -0.04 0  0 0.05 0"/>'],
}
NEOHOOKEAN = 'law="neohookean" '
# particles have no neo-Hookean law, wavelets are linear about the turned shape unless told otherwise, and springs are linear
LAWS = {"OctreeModel": "", "WaveletModel": "", "SpringsModel": ""}
# the same in every scene; nobody looks at passive nodes in a comparison
ACCURACY = 'accuracy="2"'
TETLOD = f'{ACCURACY} spread="0"'
MODELS = {"TetLod": "TetLodModel", "Frames": "FramesModel", "Wavelet": "WaveletModel", "Octree": "OctreeModel", "Springs": "SpringsModel"}


def body(name, scene, shape, component, source, extra, places=False):
    lines = [f'    <Node name="{name}">',
             f'        <{component} name="model" {source} skin="{shape.skin}"']
    room = " " * (len(component) + 10)
    if extra:
        lines.append(room + extra)
    lines.append(f'{room}{LAWS.get(component, NEOHOOKEAN)}{scene["material"]}/>')
    lines.append('        <MechanicalObject name="dofs" position="@model.position"/>')
    if "held" in scene:
        lines.append(f'        <BoxROI name="held" position="@model.{"places" if places else "position"}" box="{scene["held"]}"/>')
        lines.append('        <FixedProjectiveConstraint indices="@held.indices"/>')
    lines.append('        <AdaptiveSolver name="solver"/>')
    if "tools" in scene:
        lines.append(f'        <include href="{scene["tools"]}"/>')
    return lines + ["    </Node>"]


def uniform(name, scene, shape, size, implicit=False):
    extra = 'integrator="implicit" order="2" tolerance="1e-5"' if implicit else 'multirate="1"'
    if name != "Reference":  # what bodies with an accuracy have, the family has, too
        extra += ' sparseContact="1"'
    return body(name, scene, shape, "FemModel", shape.one(size), extra)


def write_scene(path, scene):
    shape = SHAPES[scene["shape"]]
    plugins = ["Pliant", "Sofa.Component.StateContainer", "Sofa.Component.AnimationLoop"]
    if "held" in scene:
        plugins += ["Sofa.Component.Engine.Select", "Sofa.Component.Constraint.Projective"]
    if shape.meshes():
        plugins += ["Sofa.Component.Topology.Container.Grid"]
    lines = ['<?xml version="1.0"?>', f'<!-- {scene["about"]} Written by tools/scenes/make_compare.py. -->',
             f'<Node name="root" dt="0.01" gravity="{scene["gravity"]}">']
    lines += [f'    <RequiredPlugin pluginName="{p}"/>' for p in plugins]
    lines += ["    <DefaultAnimationLoop/>",
              f'    <ComparisonMonitor name="monitor" reference="@Reference/model" {scene["monitor"]}',
              f'                       note="{scene["note"]}"/>']
    lines += shape.meshes()
    lines += uniform("Reference", scene, shape, shape.reference)
    middle = len(shape.family) // 2
    lines += uniform(f"Uniform{middle}", scene, shape, shape.family[middle])
    lines += body("TetLod", scene, shape, MODELS["TetLod"], shape.several(), TETLOD)
    for name, layout in shape.layout.items():
        # wavelets know boxes by themselves; all others start from the surface
        source = shape.solid() if name == "Wavelet" else f'filename="{shape.skin}"'
        law = 'fallbackLaw="neohookean" ' if MODELS[name] in LAWS else ""
        layout += f' {ACCURACY} {law}{shape.fallback()}'
        lines += body(name, scene, shape, MODELS[name], source, layout, places=name in ("Frames", "Wavelet"))
    for k, size in enumerate(shape.family):
        if k != middle:
            lines += uniform(f"Uniform{k}", scene, shape, size)
    for k, size in enumerate(shape.family):
        if k in shape.implicit:
            lines += uniform(f"Implicit{k}", scene, shape, size, implicit=True)
    path.write_text("\n".join(lines + ["</Node>"]) + "\n")


def write_all(folder):
    for name, scene in SCENES.items():
        write_scene(folder / f"{name}.scn", scene)
    for name, lines in TOOLS.items():
        (folder / name).write_text("\n".join(['<Node name="Tools">'] + [f"    {line}" for line in lines] + ["</Node>"]) + "\n")
    # tools touch the points of a skin: where whole faces or dents of a few elements touch, it is as fine as the reference, or a finer
    # mesh would sink in between its points and nothing would converge
    skins.write(folder / "bar_skin.obj", *skins.box((1, 1, 4), (6, 6, 24)))
    skins.write(folder / "box_skin.obj", *skins.box((1, 1, 1), (21, 21, 21)))
    skins.write(folder / "pad_skin.obj", *skins.box((1, 0.25, 1), (33, 8, 33)))
    skins.write(folder / "bridge_skin.obj", *skins.box((1, 0.5, 5), (6, 3, 30)))
    skins.write(folder / "sphere_skin.obj", *skins.sphere(1.0, 3))
    for name, size in BALLS.items():
        skins.write_vtk(folder / name, *skins.ball(*size))


def check(folder):
    with tempfile.TemporaryDirectory() as fresh:
        write_all(pathlib.Path(fresh))
        made = {p.name: p.read_bytes() for p in pathlib.Path(fresh).iterdir()}
    there = {p.name: p.read_bytes() for p in folder.iterdir()}
    other = sorted(n for n in made.keys() | there.keys() if made.get(n) != there.get(n))
    for name in other:
        print(f"{folder / name}: not what tools/scenes/make_compare.py writes: change the script, not the file")
    if not other:
        print(f"{len(made)} files are as the script writes them")
    return 1 if other else 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        sys.exit(check(pathlib.Path(sys.argv[2])))
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) == 2:
        write_all(folder)
    for name in sys.argv[2:]:
        write_scene(folder / f"{name}.scn", SCENES[name])


if __name__ == "__main__":
    main()
