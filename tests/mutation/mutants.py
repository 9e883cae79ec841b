#!/usr/bin/env python3
# Pliant: adaptive deformable bodies. SPDX-License-Identifier: LGPL-2.1-or-later
"""Breaks the program on purpose, one fault at a time, and looks whether `pliant verify` notices.

Each mutant replaces one piece of the source; named cases must then fail. A mutant whose piece is gone, that does not compile, or
that a named case survives is a complaint: evidence that cannot fail is none.

    mutants.py SOURCE                 all mutants, in a copy of SOURCE below the temporary folder (minutes)
    mutants.py SOURCE --only TEXT     those whose name contains TEXT
    mutants.py SOURCE --discover      say which cases of the mutant's schemes fail, whatever is named
    mutants.py SOURCE --table         the list as Markdown, for doc/validation.md
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FORCE = "src/body/elastic_force.c"
CALL = "    pli_elastic_add_force(((PliElasticForce *)self)->kernel, x, v, f);"
DCALL = "        pli_elastic_add_dforce(e->kernel, dx, k, df);"
ENERGY = "{ return pli_elastic_energy(((PliElasticForce *)self)->kernel, x); }"
# name, file, piece, what replaces it, cases that must fail
MUTANTS = (
    ("every internal force is NaN", "src/kernel/tet.c", "PliLame pli_lame(const PliMaterial *m)\n{\n    double mu = m->young", "PliLame pli_lame(const PliMaterial *m)\n{\n    double mu = NAN * m->young",
     ("fem: affine patch, stvk", "fem: affine patch, corotational", "fem: affine patch, neohookean", "fem: force = -dE/dx, stvk",
      "fem: dforce = d(force), corotational", "tetlod: affine state, paper coupling", "tetlod: affine state, fitted weights",
      "frames: offsets, net torque")),
    ("one internal force is NaN", FORCE, CALL, CALL + "\n    f[0] = NAN;",
     ("fem: force = -dE/dx, stvk", "fem: dforce = d(force), corotational", "fem: linear momentum, stvk", "frames: offsets, net torque")),
    ("internal forces are zero", FORCE, CALL, "    (void)self, (void)x, (void)v, (void)f;",
     ("fem: force = -dE/dx, neohookean", "fem: uniaxial stretch 1.2, stvk")),
    ("internal forces are doubled", FORCE, CALL, CALL + "\n" + CALL,
     ("fem: force = -dE/dx, stvk", "fem: dforce = d(force), stvk")),
    ("force derivatives are NaN", FORCE, DCALL, DCALL + "\n    df[0] = NAN;",
     ("fem: dforce = d(force), stvk",)),
    ("force derivatives are zero", FORCE, DCALL, "        (void)dx, (void)k, (void)df;",
     ("fem: dforce = d(force), stvk", "fem: dforce = d(force), neohookean")),
    ("force derivatives are doubled", FORCE, DCALL, DCALL + "\n" + DCALL.lstrip(),
     ("fem: dforce = d(force), stvk",)),
    ("elastic energy is doubled", FORCE, ENERGY, ENERGY.replace("return ", "return 2.0 * "),
     ("fem: force = -dE/dx, stvk", "fem: force = -dE/dx, corotational")),
    ("elastic energy is NaN", FORCE, ENERGY, ENERGY.replace("return ", "return NAN * "),
     ("fem: force = -dE/dx, stvk", "tetlod: energy drift, mixed levels")),
    ("first force misses a part", FORCE, CALL, CALL + "\n    f[0] *= 1.001;",
     ("fem: linear momentum, stvk", "fem: force = -dE/dx, stvk")),
    ("masses are doubled in kicks", "src/body/live.c", "l->fixed[i] ? 0.0 : 1.0 / cut->mass[i]", "l->fixed[i] ? 0.0 : 0.5 / cut->mass[i]",
     ("fem: first axial frequency", "fem: first bending frequency")),
    ("one mass is NaN", "src/body/live.c", "l->fixed[i] ? 0.0 : 1.0 / cut->mass[i]", "l->fixed[i] ? 0.0 : (i == 3 ? NAN : 1.0) / cut->mass[i]",
     ("fem: linear momentum, stvk", "fem: first axial frequency")),
    ("drifts are half as long", "src/solver/explicit.c", "s->x[i] += m->h * s->v[i]", "s->x[i] += 0.5 * m->h * s->v[i]",
     ("fem: first axial frequency",)),
    ("implicit drifts are half as long", "src/solver/implicit.c", "s->x[i] += h * s->v[i];", "s->x[i] += 0.5 * h * s->v[i];",
     ("wavelet: grab_error", "wavelet: free_fall")),
    ("followers are scaled", "src/adapt/transfer.c", "s[0] += w * x[0], s[1] += w * x[1], s[2] += w * x[2];",
     "s[0] += 1.001 * w * x[0], s[1] += w * x[1], s[2] += w * x[2];",
     ("tetlod: affine state, paper coupling",)),
    ("followers take the wrong column", "src/adapt/transfer.c", "const double *x = in + 3 * (size_t)r.column[k];\n            const double w = r.weight[k];\n            s[0]",
     "const double *x = in + 3 * (size_t)r.column[r.first[i]];\n            const double w = r.weight[k];\n            s[0]",
     ("tetlod: affine state, paper coupling",)),
    ("forces on followers are lost", "src/solver/system.c", "if (s->one_way) return;", "if (s->one_way || s->slave_count) return;",
     ("tetlod: linear momentum", "tetlod: energy drift, mixed levels")),
    ("events hand no momentum over", "src/adapt/handover.c", "if (!(fixed && fixed[c])) v3_madd(v + 3 * (size_t)c, 1.0 / mass[c], d);", "(void)fixed, (void)mass, (void)v;",
     ("tetlod: linear momentum",)),
    ("rest gradients are off", "src/kernel/tet.c", "memcpy(rest[t].grad, inverse, sizeof inverse);", "memcpy(rest[t].grad, inverse, sizeof inverse), rest[t].grad[0] *= 1.01;",
     ("fem: affine patch, stvk", "fem: affine patch, neohookean")),
    ("frames that sleep lose their momentum", "src/scheme/frames/adapt.c", "if (off) pli_frames_project_velocity(s, v);", "",
     ("frames: free beam, momentum",)),
    ("frames never wake", "src/scheme/frames/adapt.c", "if (s->score[i] > unit) s->wish[i] = ACTIVATE, wishes++;", "if (s->score[i] > INFINITY) s->wish[i] = ACTIVATE, wishes++;",
     ("frames: release, wakes up", "frames: free beam, momentum")),
    ("frames remember every blow", "src/scheme/frames/adapt.c", "s->peak_kinetic * exp(-s->since_look / MEMORY)", "s->peak_kinetic",
     ("frames: tip under load, forgets a blow",)),
    ("frames count their flight", "src/scheme/frames/motion.c", "r.kinetic - 0.5 * s->mass->total * v3_dot(r.velocity, r.velocity)", "r.kinetic",
     ("frames: free beam, boosted",)),
    ("merged regions carry no stress", "src/scheme/frames/merge.c", "memcpy(p->s0, S, sizeof p->s0);", "memset(p->s0, 0, sizeof p->s0);",
     ("frames: merge, force jump",)),
    ("wavelet stiffness without shear", "src/scheme/wavelet/pairs.c", "mu * g[3 * j + i] + (i == j ? mu * trace : 0.0)", "mu * g[3 * j + i]",
     ("wavelet: beam_tip_1", "wavelet: beam_frequency_1")),
    ("wavelet masses are halved", "src/scheme/wavelet/pairs.c", "v[9] *= density;", "v[9] *= 0.5 * density;",
     ("wavelet: free_fall",)),
    ("tools of implicit steps are soft", "src/contact/press.c", "        s->stiffness = tool->stiffness * c->area[i];\n    }",
     "        s->stiffness = tool->stiffness * c->area[i];\n    }\n    if (s->is_constraint) s->is_constraint = false, s->stiffness = 50.0 * c->modulus / c->size * c->area[i];",
     ("fem: held plate, implicit", "fem: held plate, implicit with CG", "tetlod: held plate, implicit", "frames: held plate", "wavelet: held plate")),
    ("tools of implicit steps feel half", "src/contact/press.c", "-c->stage.length, s->force", "-0.5 * c->stage.length, s->force",
     ("fem: held plate, implicit", "tetlod: held plate, implicit", "wavelet: held plate")),
    ("wavelet details that go push nobody", "src/scheme/wavelet/fade.c", "s->mass_value[k], change);", "0.0 * s->mass_value[k], change);",
     ("wavelet: momentum_quasi_linear", "wavelet: momentum_nonlinear", "wavelet: momentum_plain")),
    ("wavelet transitions turn the body", "src/scheme/wavelet/fade.c", "if (s->held ||", "if (true ||",
     ("wavelet: momentum_quasi_linear", "wavelet: momentum_linear", "wavelet: momentum_nonlinear")),
)


def run(command, **more):
    return subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)


def verify(pliant, schemes, only=None):
    """{"scheme: case": holds} of a run."""
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [pliant, "verify", *schemes, "--json", out.name] + (["--only", only] if only else [])
        try:
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=300)
            cases = json.load(open(out.name, encoding="utf-8"))["cases"]
        except (subprocess.TimeoutExpired, json.JSONDecodeError):
            return None  # it hung or crashed: noticed, too
    return {f"{c['scheme']}: {c['case']}": c["pass"] for c in cases}


def survivors(pliant, named):
    """Named cases that still hold."""
    left = []
    for name in named:
        scheme, case = name.split(": ", 1)
        found = verify(pliant, [scheme], case)
        if found is None:
            continue
        if name not in found:
            left.append(f"{name} (there is no such case)")
        elif found[name]:
            left.append(name)
    return left


def table():
    print("| what is broken | cases that fail |\n|---|---|")
    for name, _, _, _, cases in MUTANTS:
        print(f"| {name} | {'; '.join(cases)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--discover", action="store_true")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.table:
        table()
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="pliant-mutants-"))
    complaints, tried = [], 0
    try:
        for part in ("src", "python", "cmake", "scenes", "doc", "CMakeLists.txt"):
            source = args.source / part
            (shutil.copytree if source.is_dir() else shutil.copy)(source, folder / part)
        options = ["-DPLIANT_TESTS=OFF", "-DPLIANT_SOFA=OFF", "-DPLIANT_WERROR=OFF"]
        if shutil.which("ccache"):
            options += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
        built = run(["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", *options])
        if not built.returncode:
            built = run(["ninja", "-C", folder / "build", "pliant"])
        if built.returncode:
            print(built.stdout[-2000:])
            return 1
        pliant = folder / "build" / "bin" / "pliant"
        for name, file, piece, other, cases in MUTANTS:
            if args.only not in name:
                continue
            tried += 1
            path = folder / file
            whole = path.read_text(encoding="utf-8")
            if whole.count(piece) != 1:
                complaints.append(f"{name}: {file} has its piece {whole.count(piece)} times, not once")
                continue
            path.write_text(whole.replace(piece, other), encoding="utf-8")
            built = run(["ninja", "-C", folder / "build", "pliant"])
            if built.returncode:
                complaints.append(f"{name}: does not compile: {built.stdout[-300:]}")
            elif args.discover:
                found = verify(pliant, sorted({c.split(':')[0] for c in cases}))
                red = ["everything: it crashed"] if found is None else [c for c, holds in found.items() if not holds]
                print(f"{name}: {'; '.join(red) or 'NOTHING FAILS'}", flush=True)
            else:
                left = survivors(pliant, cases)
                print(f"{name}: {'not noticed by ' + ', '.join(left) if left else 'noticed'}", flush=True)
                complaints += [f"{name}: {case} still holds" for case in left]
            path.write_text(whole, encoding="utf-8")
            os.utime(path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(complaints))
    print(f"{tried - len({c.split(':')[0] for c in complaints})} of {tried} mutants found")
    return 1 if complaints or tried == 0 else 0


sys.exit(main())
