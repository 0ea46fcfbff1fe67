import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { gradeLogic, gradeLogicBatch } from './criteria.ts'
import { logicSentences } from './english.ts'
import type { LogicGradeOptions } from './grade.ts'
import { PREMISES, PROOF, problemOf, respond, stella } from './logic-cases.fixture.ts'
import { parseFormula } from './parse.ts'
import type { LogicProblem } from './problem.ts'
import { LOGIC_RUBRIC, logicVerdicts } from './rubric.ts'
import { LogicSolver } from './solver.ts'

describe('the logic rubric', () => {
  let solver: LogicSolver
  beforeAll(async () => {
    solver = await LogicSolver.start({ backend: 'z3' })
  })
  afterAll(() => solver.close())

  const grade = async (response: string, options: LogicGradeOptions = {}, problem = stella) =>
    (await gradeLogic(problem, [response], solver, options))[0]

  it('has weights that sum to 1', () => {
    expect(LOGIC_RUBRIC.criteria.reduce((sum, { points }) => sum + points, 0)).toBeCloseTo(1)
  })

  it('gives a gold proof everything', async () => {
    const found = await grade(respond(PROOF), { truth: true })
    expect(found.criteria).toMatchObject({ C1: 1, C2: 1, C3: 1 })
    expect(found.truth).toEqual({ C4: 1, C5: 1 })
    expect(found).toMatchObject({ validProof: true, correctAndValid: true, correctAndProved: true })
    expect(found).toMatchObject({ validPrefix: 5, requiredSteps: 5, excluded: null })
    expect(found.flags).toMatchObject({ restatedPremise: 0.6, unsupportedStep: 0, consistentStep: 0 })
  })

  it('ignores case and full stops', async () => {
    const found = await grade(
      respond(
        PROOF.map(text => text.toLowerCase().replace('.', '')),
        'false',
      ),
    )
    expect(found.correctAndProved).toBe(true)
  })

  it('gives steps 1, .5, 0 and 0, and .3 for naming a rule', async () => {
    const steps = [
      'Stella is a zumpus.',
      'Stella is red.',
      'Stella is bright.',
      'what is it',
      'we see so [mp; s1]',
    ]
    const found = await grade(respond(steps))
    expect(found.steps.map(({ status, credit }) => [status, credit])).toEqual([
      ['entailed', 1],
      ['consistent', 0.5],
      ['contradicted', 0],
      ['unparsed', 0],
      ['unverifiable', 0.3],
    ])
    expect(found.criteria.C2).toBeCloseTo(1.8 / 5)
    expect(found.validPrefix).toBe(1)
    expect(found.validProof).toBe(false)
    expect(found.flags).toMatchObject({ consistentStep: 0.2, ruleNameOnly: 0.2, foreignName: 0.2 })
  })

  it('says where each step stands in the response', async () => {
    const response = respond(PROOF)
    const found = await grade(response)
    expect(found.steps.map(step => response.slice(...step.span))).toEqual(
      PROOF.map((text, i) => `${i + 1}. ${text}`),
    )
    expect(response.slice(...found.answerSpan!)).toBe('<answer>False</answer>')
  })

  it('gives .3 where the solver runs out of time', async () => {
    const texts = ['∀x ∃y R(x, y)', '∀x ¬R(x, x)', '∀x ∀y ∀z ((R(x, y) ∧ R(y, z)) → R(x, z))']
    const endless: LogicProblem = {
      ...stella,
      id: 'endless',
      premises: texts,
      premisesFol: texts.map(text => parseFormula(text).formula),
      conclusionFol: parseFormula('S(a)').formula,
    }
    const found = await grade(respond(['S(a)']), {}, endless)
    expect(found.steps[0]).toMatchObject({ status: 'unknown', credit: 0.3 })
    expect(found.flags.timeout).toBe(1)
  })

  it('excludes items whose premises contradict each other', async () => {
    const faulty = problemOf([...PREMISES, 'Stella is bright.'], 'Stella is red.', 'Unknown')
    const found = await grade(respond(['Stella is a zumpus.'], 'Unknown'), { truth: true }, faulty)
    expect(found).toMatchObject({ excluded: 'inconsistent-premises', validProof: false, truth: null })
    expect(found.criteria.C2).toBeNull()
    expect(found.steps[0].credit).toBeNull()
    expect(logicVerdicts(found)[1]).toMatchObject({ criterionId: 'C2', met: null })
  })

  it('takes a predicate with another number of arguments as unreadable', async () => {
    const found = await grade(
      respond(['zumpus(stella, stella)', 'zumpus', 'Stella', 'red(a) & red(a, b)', 'zumpus(stella)']),
    )
    expect(found.steps.map(step => step.status)).toEqual([
      'unparsed',
      'unparsed',
      'unparsed',
      'unparsed',
      'entailed',
    ])
  })

  it('reads names with letters beyond ASCII', async () => {
    const problem: LogicProblem = {
      ...stella,
      id: 'names',
      premises: ['∀x (Świątek(x) → Tenniść(x))', 'Świątek(iga’s)'],
      premisesFol: ['∀x (Świątek(x) → Tenniść(x))', 'Świątek(iga’s)'].map(text => parseFormula(text).formula),
      conclusionFol: parseFormula('Tenniść(iga’s)').formula,
      label: 'True',
    }
    const found = await grade(
      respond(['Świątek(iga’s) [premise; p2]', 'Tennisc(igas) [ui; p1, s1]'], 'True'),
      {},
      problem,
    )
    expect(found.correctAndProved).toBe(true)
  })

  it('takes the last of several answers and the first label in it', async () => {
    const twice = await grade(`${respond(PROOF, 'True')}<answer>It is False, not True</answer>`)
    expect([twice.answer, twice.criteria.C1, twice.flags.severalAnswers]).toEqual(['False', 1, 1])
    const none = await grade(respond(PROOF, 'perhaps'))
    expect([none.answer, none.criteria.C1, none.correctAndValid]).toEqual([null, 0, false])
  })

  it('counts each tag once, in any order, and says when they are out of order', async () => {
    const shuffled = await grade('</answer></reasoning><reasoning>\n1. a b\n2. c d\n<answer><answer>')
    expect(shuffled.criteria.C3).toBeCloseTo(1)
    expect(shuffled.flags.tagsOutOfOrder).toBe(1)
    const partial = await grade('<reasoning>\n1. Stella is a zumpus.\n<answer>False')
    expect(partial.criteria.C3).toBeCloseTo(0.4)
    expect(partial.flags.tagsOutOfOrder).toBe(0)
  })

  it('gives nothing for an empty response', async () => {
    const found = await grade('', { truth: true })
    expect(found.criteria).toEqual({ C1: 0, C2: 0, C3: 0, C4: 0, C5: 0 })
    expect(found.truth).toEqual({ C4: 0, C5: 0 })
    expect(found.validProof).toBe(false)
  })

  it('measures the exploits that the mean leaves open, and closes them with the novelty discount', async () => {
    const padded = [
      PREMISES[0],
      PREMISES[3],
      'Stella is red or not',
      '(red(stella) | ~red(stella))',
      PREMISES[0],
      'Stella is a zumpus.',
    ]
    const open = await grade(respond(padded))
    expect(open.flags).toMatchObject({ restatedPremise: 3 / 6, tautology: 1 / 6, repeatedStep: 1 / 6 })
    expect(open.criteria.C2).toBeCloseTo(5 / 6)
    const closed = await grade(respond(padded), { noveltyDiscount: true })
    expect(closed.steps.map(step => step.counted)).toEqual([false, false, true, false, false, true])
    expect(closed.criteria.C2).toBeCloseTo(0.5)
    const nothing = await grade(respond(PREMISES), { noveltyDiscount: true })
    expect(nothing.criteria.C2).toBe(0)
  })

  it('recognises tautologies beyond the ground fragment by Z3', async () => {
    const found = await grade(respond(['∀x (∃y R(x, y) ∨ ¬∃y R(x, y))', 'stella = stella']))
    expect(found.steps.map(step => step.tautology)).toEqual([true, true])
  })

  it('grades batches of different problems as it grades them one by one', async () => {
    const other = problemOf(['Rex is a cat.', 'Cats are red.'], 'Rex is red.', 'True')
    const items = [
      { problem: stella, response: respond(PROOF) },
      { problem: other, response: respond(['Rex is a cat.', 'Cats are red.', 'Rex is red.'], 'True') },
      { problem: stella, response: 'nonsense' },
      { problem: other, response: respond(['Rex is blue.'], 'False') },
    ]
    const together = await gradeLogicBatch(items, solver, { truth: true })
    for (const [i, { problem, response }] of items.entries()) {
      expect(together[i]).toEqual(await grade(response, { truth: true }, problem))
    }
  })

  it('finds every gold proof of the real ProntoQA rows correct, valid and proved', async ctx => {
    const path = sharedData('prontoqa/dev.jsonl')
    if (!path) return ctx.skip('the public data is not here')
    const rows = readJsonl<{ context: string; question: string; answer: string; explanation: string[] }>(path)
    const items = rows.map(({ context, question, answer, explanation }) => {
      const conclusion = question.slice(question.lastIndexOf('? ') + 2)
      const label = answer === 'A' ? 'True' : 'False'
      const problem = problemOf(logicSentences(context), conclusion, label, explanation)
      return { problem, response: respond(explanation, label) }
    })
    for (const found of await gradeLogicBatch(items, solver, { truth: true })) {
      expect(found).toMatchObject({ correctAndProved: true, truth: { C4: 1, C5: 1 } })
    }
  })

  it('gives verdicts with credit', async () => {
    const verdicts = logicVerdicts(await grade(respond(PROOF), { truth: true }), true)
    expect(verdicts.map(({ criterionId, met, source }) => [criterionId, met, source])).toEqual([
      ['C1', true, 'rule'],
      ['C2', true, 'formal'],
      ['C3', true, 'rule'],
      ['C4', true, 'formal'],
      ['C5', true, 'formal'],
    ])
  })
})
