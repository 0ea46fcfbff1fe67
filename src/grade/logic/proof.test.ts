import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { gradeLogic } from './criteria.ts'
import type { LogicGradeOptions } from './grade.ts'
import { PREMISES, PROOF, problemInFormulas, problemOf, respond, stella } from './logic-cases.fixture.ts'
import { parseFormula } from './parse.ts'
import { LogicSolver } from './solver.ts'

/** Every rule there is, applied: what Stella is without the rule about bright. */
const EXHAUSTED = [
  'Stella is a yumpus.',
  'Yumpuses are zumpuses.',
  'Stella is a zumpus.',
  'Each zumpus is a numpus.',
  'Stella is a numpus.',
]
const REFERRED = [EXHAUSTED[0], `${EXHAUSTED[2]} [mp; p1, s1]`, `${EXHAUSTED[4]} [mp; p2, s2]`]
const open = problemOf(
  PREMISES.filter((_, i) => i !== 1),
  'Stella is bright.',
  'Unknown',
  EXHAUSTED,
)

describe('what the steps of a response make together', () => {
  let solver: LogicSolver
  beforeAll(async () => {
    solver = await LogicSolver.start({ backend: 'z3' })
  })
  afterAll(() => solver.close())

  const grade = async (response: string, options: LogicGradeOptions = {}, problem = stella) =>
    (await gradeLogic(problem, [response], solver, options))[0]

  it('tells a proof from an assertion over the heads of the steps between', async () => {
    const leap = await grade(respond(['Stella is a yumpus.', 'Stella is not bright.']))
    expect(leap).toMatchObject({ correctAndValid: true, correctAndProved: false })
    expect(leap.steps.map(step => step.supported)).toEqual([true, false])
    expect(leap.flags.unsupportedStep).toBe(0.5)
  })

  it('measures truthfully what premises were used and how far the proof came', async () => {
    const half = await grade(respond(['Stella is a yumpus.', 'Stella is a zumpus. [mp; p1, s1]']), {
      truth: true,
    })
    expect(half.truth!.C4).toBeCloseTo(2 / 3)
    expect(half.truth!.C5).toBeCloseTo(2 / 5)
    const wrong = await grade(
      respond(['Dumpuses are bright.', 'Stella is a dumpus.', 'Stella is bright.'], 'True'),
      { truth: true },
    )
    expect(wrong.truth).toEqual({ C4: 0, C5: 0 })
    expect(wrong.criteria.C4).toBeGreaterThan(0.5)
  })

  it('sees Unknown as settled when the reference proof is exhausted, or both directions were addressed', async () => {
    const full = await grade(respond(EXHAUSTED, 'Unknown'), { truth: true }, open)
    expect(full).toMatchObject({ correctAndValid: true, correctAndProved: true })
    expect(full.truth).toEqual({ C4: 1, C5: 1 })
    const leap = await grade(
      respond(
        EXHAUSTED.filter((_, i) => i !== 3),
        'Unknown',
      ),
      { truth: true },
      open,
    )
    expect(leap).toMatchObject({ correctAndValid: true, correctAndProved: false })
    expect(leap.truth!.C5).toBeCloseTo(3 / 5)
    const partial = await grade(respond(EXHAUSTED.slice(0, 2), 'Unknown'), { truth: true }, open)
    expect(partial.validProof).toBe(false)
    expect(partial.truth!.C5).toBeCloseTo(2 / 5)
  })

  it('finds a support set by deletion and by Z3 outside chains of rules', async () => {
    const texts = ['∀x ∃y L(x, y)', '∀x ∀y (L(x, y) → H(x))', 'P(a)', 'P(a) ∨ Q(a)']
    const problem = problemInFormulas(texts, 'H(a) ∧ P(a)', 'True')
    const found = await grade(respond([texts[0], texts[3], 'H(a)'], 'True'), { truth: true }, problem)
    expect(found.truth!.C4).toBeCloseTo(1 / 3)
    const all = await grade(respond([...texts, 'H(a)', 'H(a) & P(a)'], 'True'), { truth: true }, problem)
    expect(all.truth).toEqual({ C4: 1, C5: 1 })
    expect(all.correctAndProved).toBe(true)
  })

  describe('beyond the ground fragment', () => {
    const texts = ['∀x ∃y L(x, y)', '∀x ∀y (L(x, y) → H(x))', 'P(a)', 'P(a) ∨ Q(a)']
    /** A fresh one each time: what was found out about a problem is remembered with it. */
    const problemBeyond = () => problemInFormulas(texts, 'H(a) ∧ P(a)', 'True')
    const proof = respond([...texts.slice(0, 3), 'H(a)', 'H(a) & P(a)'], 'True')
    const leap = respond(['P(a)', texts[0], 'H(a) & P(a)'], 'True')

    it('training pays for the proofs that evaluation finds', async () => {
      for (const [response, proved] of [
        [proof, true],
        [leap, false],
      ] as const) {
        const [training, evaluation] = [
          await grade(response, {}, problemBeyond()),
          await grade(response, { truth: true }, problemBeyond()),
        ]
        expect([training.correctAndValid, training.correctAndProved]).toEqual([true, proved])
        expect(evaluation.correctAndProved).toBe(proved)
        expect(training.steps).toEqual(evaluation.steps)
      }
    })

    describe('a solver that failed', () => {
      afterEach(() => {
        vi.restoreAllMocks()
      })

      /** All calls after the first, until `vi.restoreAllMocks()`. */
      const failAfterFirst = () => {
        const ask = solver.checkSteps.bind(solver)
        let calls = 0
        vi.spyOn(solver, 'checkSteps').mockImplementation(async items =>
          ++calls === 1 ? ask(items) : items.map(() => 'failed' as const),
        )
      }

      it.each([
        ['the support of a step', proof, {}],
        ['the truth criteria', respond(['P(a)', 'nothing'], 'True'), { truth: true, support: false }],
      ])('on %s: the response is left out, and nothing is remembered', async (_, response, options) => {
        const problem = problemBeyond()
        failAfterFirst()
        const failed = await grade(response, options, problem)
        expect(failed).toMatchObject({ excluded: 'solver-failed', truth: null, correctAndProved: false })
        expect(failed.criteria.C2).toBeNull()
        vi.restoreAllMocks()
        expect(await grade(response, options, problem)).toEqual(
          await grade(response, options, problemBeyond()),
        )
        const whole = await grade(
          respond([...texts, 'H(a)', 'H(a) & P(a)'], 'True'),
          { truth: true },
          problem,
        )
        expect(whole).toMatchObject({ excluded: null, truth: { C4: 1, C5: 1 }, correctAndProved: true })
      })

      it('on a tautology: the response is left out', async () => {
        const ask = solver.checkSteps.bind(solver)
        vi.spyOn(solver, 'checkSteps').mockImplementationOnce(async items => {
          const statuses = await ask(items)
          return [...statuses.slice(0, -1), 'failed']
        })
        const found = await grade(respond(['∀x (∃y R(x, y) ∨ ¬∃y R(x, y))']))
        expect(found.excluded).toBe('solver-failed')
      })
    })
  })

  describe('Unknown without a reference proof', () => {
    const texts = ['∀x (A(x) ↔ B(x))', '∀x (B(x) → D(x))', '∀x (E(x) → B(x))', 'C(c)']
    const open = problemInFormulas(texts, 'B(c)', 'Unknown')

    it.each([
      ['a restated equivalence', [texts[0]]],
      ['all premises restated', texts],
      ['one step that says both', [texts[0], 'A(c) <-> B(c)']],
      ['a tautology', ['B(c) | ~B(c)']],
      ['two tautologies', ['C(c) -> (C(c) | B(c))', 'C(c) -> (C(c) | ~B(c))']],
      ['disjuncts that are no news', [texts[3], 'C(c) | B(c)', 'C(c) | ~B(c)']],
      ['another name', [texts[1], texts[2], 'B(d) -> D(d)', 'E(d) -> B(d)']],
    ])('is not settled by %s', async (_, steps) => {
      const found = await grade(respond(steps, 'Unknown'), { truth: true }, open)
      expect(found.steps.every(step => step.supported)).toBe(true)
      expect(found).toMatchObject({ answerCorrect: true, validProof: false, correctAndProved: false })
      expect(found.truth!.C5).toBe(0)
    })

    it('is settled by what would make the conclusion true, and what would make it false', async () => {
      const steps = [texts[1], texts[2], 'E(c) -> B(c)', '~D(c) -> ~B(c)']
      const found = await grade(respond(steps, 'Unknown'), { truth: true }, open)
      expect(found).toMatchObject({ correctAndProved: true, truth: { C5: 1 } })
      const half = await grade(respond(steps.slice(0, 3), 'Unknown'), { truth: true }, open)
      expect(half).toMatchObject({ validProof: false, truth: { C5: 0.5 } })
    })

    it('with a quantified conclusion looks at any name', async () => {
      const some = { ...open, conclusionFol: parseFormula('∃x B(x)').formula }
      const steps = [texts[1], texts[2], 'E(c) -> B(c)', 'B(c) -> D(c)']
      expect((await grade(respond(steps, 'Unknown'), {}, some)).correctAndProved).toBe(true)
    })
  })
})

describe.each(['z3', 'ground'] as const)('C5 by proof, solver %s', backend => {
  let solver: LogicSolver
  beforeAll(async () => {
    solver = await LogicSolver.start({ backend })
  })
  afterAll(() => solver.close())

  const grade = async (steps: readonly string[], problem = stella) =>
    (await gradeLogic(problem, [respond(steps, problem.label)], solver, { truth: true }))[0]
  const completeness = async (steps: readonly string[], problem = stella) =>
    (await grade(steps, problem)).truth!.C5

  const unproved = { ...stella, proof: undefined }
  const red = ['Stella is red.', 'Every red thing is a yumpus.', 'If something is a yumpus then it is kind.']
  const kind = problemOf(red, 'Stella is kind.', 'True')

  it('gives a bare assertion of the answer nothing, and a proof without its end what it reached', async () => {
    const bare = await grade(['Dumpuses are bright.', 'Stella is not bright.'])
    expect(bare.criteria).toMatchObject({ C1: 1, C2: 1, C3: 1 })
    expect(bare).toMatchObject({ correctAndValid: true, correctAndProved: false, truth: { C4: 0, C5: 0 } })
    expect(await completeness(PROOF.slice(0, -2))).toBeCloseTo(3 / 5)
    expect(await completeness(PROOF.slice(0, -1))).toBe(1)
  })

  it.each([
    ['alone', ['Stella is not bright.']],
    ['twice', ['Stella is not bright.', 'Stella is not bright.']],
    ['in other words', ['~~~bright(stella)', 'Stella is not bright.']],
    ['with something beside it', ['~bright(stella) & (red(stella) | ~red(stella))', 'Stella is not bright.']],
    ['from a step that itself is a leap', ['Stella is a zumpus.', 'Stella is not bright.']],
    ['by a rule of its own', ['∀x (Yumpus(x) → ¬Bright(x))', 'Stella is not bright.']],
    ['referring to itself', ['Stella is not bright. [mp; s1]']],
    ['from a step that is wrong', ['Dumpuses are numpuses.', 'Stella is not bright.']],
  ])('the answer asserted %s counts for nothing', async (_, steps) => {
    expect(await completeness(steps)).toBe(0)
    expect(await completeness(steps, unproved)).toBe(0)
  })

  it.each([
    ['True, by names', kind, [red[0], red[1], 'Stella is a yumpus.', red[2], 'Stella is kind.']],
    ['False', stella, PROOF],
    ['False, without a reference proof', unproved, PROOF],
    ['a negated conclusion', problemOf(PREMISES, 'Stella is not bright.', 'True', PROOF), PROOF],
    ['a denied negation', problemOf([...red], 'Stella is not kind.', 'False'), [...red, 'Stella is kind.']],
    ['rules first, then facts', stella, [PROOF[1], PROOF[3], PROOF[0], PROOF[2], PROOF[4]]],
    ['premises by reference', stella, ['Stella is a zumpus. [mp; p1, p5]', 'Stella is not bright. [mp; p2]']],
    ['a premise as the answer', problemOf(red, 'Stella is red.', 'True'), ['Stella is red.']],
    ['every rule applied (Unknown)', open, EXHAUSTED],
    ['every rule applied by reference (Unknown)', open, REFERRED],
    ['after an idle leap', stella, ['Stella is a numpus.', ...PROOF]],
  ])('an honest proof is complete: %s', async (_, problem, steps) => {
    expect(await completeness(steps, problem)).toBe(1)
  })

  describe('of five hops', () => {
    const kinds = ['yumpus', 'zumpus', 'numpus', 'dumpus', 'tumpus', 'bright']
    const article = (i: number) => (i < 5 ? 'a ' : '')
    const facts = kinds.map((kind, i) => `Stella is ${article(i)}${kind}.`)
    const rules = kinds.slice(1).map((kind, i) => `Every ${kinds[i]} is ${article(i + 1)}${kind}.`)
    const proof = [facts[0], ...rules.flatMap((rule, i) => [rule, facts[i + 1]])]
    const idle = 'Every wumpus is red.'
    const problem = problemOf([idle, ...rules, facts[0]], facts[5], 'True', proof)

    it.each([
      ['the proof', proof, 1],
      ['without its last line', proof.slice(0, -1), 1],
      ['without its last two lines', proof.slice(0, -2), 9 / 11],
      ['without its third rule', proof.filter((_, i) => i !== 5), 7 / 11],
      ['its first five lines, then the last', [...proof.slice(0, 5), facts[5]], 5 / 11],
      ['its facts without the rules', facts, 1 / 11],
      ['an idle premise, then the last line', [idle, facts[5]], 0],
      ['its premises and no more', [facts[0], ...rules], 1],
    ])('%s', async (_, steps, share) => {
      const found = await grade(steps, problem)
      expect(found.criteria).toMatchObject({ C1: 1, C2: 1 })
      expect(found.truth!.C5).toBeCloseTo(share, 9)
    })
  })

  it('counts of the reference proof what is supported, and nothing that rests on a gap', async () => {
    const gap = PROOF.filter((_, i) => i !== 1)
    // The fact and the second rule: that Stella is a zumpus, and what follows from it, is asserted.
    expect(await completeness(gap)).toBeCloseTo(2 / 5)
    expect(await completeness(gap, unproved)).toBeCloseTo(2 / 4)
    expect(await completeness(['Stella is a numpus. [mp; p9]', 'Stella is a zumpus.'])).toBe(0)
  })

  it('is full for whatever is proved, and does not see what is not supported (300 responses drawn)', async () => {
    const rng = new Rng('completeness')
    const pool = [
      ...PROOF,
      ...EXHAUSTED,
      'Dumpuses are bright.',
      'Stella is bright.',
      'Yumpuses are numpuses.',
    ]
    const wrongWay = 'Stella is not a dumpus.'
    const drawn = Array.from({ length: 300 }, (_, i) => ({
      problem: [stella, unproved, open][i % 3],
      steps: rng.shuffle([...pool, wrongWay]).slice(0, 1 + rng.int(10)),
    }))
    const proofs = [
      { problem: stella, steps: PROOF },
      { problem: open, steps: EXHAUSTED },
    ]
    let [proved, leaps] = [0, 0]
    for (const { problem, steps } of [...drawn, ...proofs]) {
      const found = await grade(steps, problem)
      if (found.correctAndProved) expect(found.truth!.C5).toBe(1)
      const supported = steps.filter((_, i) => found.steps[i].supported)
      expect(await completeness(supported, problem)).toBe(found.truth!.C5)
      proved += Number(found.correctAndProved)
      leaps += steps.length - supported.length
    }
    expect(proved).toBeGreaterThan(1)
    expect(leaps).toBeGreaterThan(300)
  })

  it('Unknown: bare assertions of both directions address neither', async () => {
    const both = ['Stella is bright.', 'Stella is not bright.']
    expect(await completeness(both, open)).toBe(0)
    expect(await completeness(both, { ...open, proof: undefined })).toBe(0)
    expect(await completeness(['Stella is a numpus.'], open)).toBe(0)
    const formulas = ['∀x (B(x) → D(x))', '∀x (E(x) → B(x))']
    const undecided = problemInFormulas(formulas, 'B(c)', 'Unknown')
    expect(await completeness(['E(c) -> B(c)', '~D(c) -> ~B(c)'], undecided)).toBe(0)
    expect(await completeness([...formulas, 'E(c) -> B(c)', '~D(c) -> ~B(c)'], undecided)).toBe(1)
    expect(await completeness([formulas[1], 'E(c) -> B(c)', '~D(c) -> ~B(c)'], undecided)).toBe(0.5)
  })
})
