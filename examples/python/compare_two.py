import pliant
levels = [pliant.Mesh.box((0, 0, 0), (1, 0.5, 1), (n, n // 2, n)) for n in (2, 4, 8, 12)]
skin = levels[-1].surface()
tool = pliant.SphereTool((0.5, 0.72, 0.5), 0.2, keyTimes=[0, 0.3, 0.6], movements=[[0, 0, 0], [0, -0.15, 0], [0, 0, 0]])
given = dict(skin=skin, youngModulus=2e4, massDamping=5.0)
bodies = {f"uniform {k}": pliant.FemModel(mesh=level, **given) for k, level in enumerate(levels)}
bodies.update({f"tetlod {t}": pliant.TetLodModel(levels=levels, threshold=t, **given) for t in (0.02, 0.05, 0.2)})
for body in bodies.values():
    body.fixed = body.rest[:, 1] == 0
    body.tools = [tool]
result = pliant.compare(bodies, reference="uniform 3", steps=60, dt=0.01, repeat=1)
print(result)
result.plot().figure.savefig("compare_two.png")
