import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { LogicSolver } from './solver.ts'
import { type LabelVerdict, verifyLogicRow } from './verify.ts'

// Rows whose formulas do not say what their sentences say: the label cannot follow from them.
const FAULTY: Readonly<Record<number, string>> = {
  5: 'the last premise and the conclusion write "both or neither" as exclusive or',
  16: 'no formula says that a favourite season is the only one',
  42: 'the formula of the last premise is missing, and the conclusion says something else',
}

describe('verifyLogicRow', () => {
  let solver: LogicSolver
  beforeAll(async () => {
    solver = await LogicSolver.start({ backend: 'z3' })
  })
  afterAll(() => solver.close())

  const verify = (row: unknown) => verifyLogicRow(row, solver)

  it('proves labels from formulas', async () => {
    const row = (conclusion: string) => ({
      'premises-FOL': ['∀x (P(x) → Q(x))', 'P(a)'],
      'conclusion-FOL': conclusion,
      label: 'x',
    })
    expect(await verify(row('Q(a)'))).toEqual({ label: 'True', reason: null })
    expect(await verify(row('¬Q(a)'))).toEqual({ label: 'False', reason: null })
    expect(await verify(row('Q(b)'))).toEqual({ label: 'Unknown', reason: null })
  })

  it('names what it had to mend, and gives no label to what it cannot read', async () => {
    const row = (premise: string, conclusion: string) => ({
      'premises-FOL': [premise],
      'conclusion-FOL': conclusion,
    })
    expect(await verify(row('P(Bob))', 'P(bob)'))).toEqual({
      label: 'True',
      reason: 'premise 1: dropped 1 surplus ")"; read bob as Bob',
    })
    expect(await verify(row('Meeting(a)', 'Meetings(a)'))).toEqual({
      label: 'True',
      reason: 'read Meetings as Meeting',
    })
    expect(await verify(row('∀x', 'P(a)'))).toEqual({
      label: null,
      reason: expect.stringContaining('premise 1: expected a formula'),
    })
    expect(await verify({ 'premises-FOL': ['p', '¬p'], 'conclusion-FOL': 'q' })).toEqual({
      label: null,
      reason: 'the premises contradict each other',
    })
    expect(await verify({ 'premises-FOL': ['p'] })).toMatchObject({
      label: null,
      reason: expect.stringContaining('conclusion-FOL'),
    })
  })

  it('grades steps in sentences and in formulas', async () => {
    const premises = ['Cats are red.', 'Rex is a cat.']
    const steps = [
      '1. Rex is red.',
      'Rex is not red',
      'Max is red.',
      'hm',
      '4) it follows [modus ponens]',
      'red(rex) [mp; p1, p2]',
    ]
    expect(await verify({ premises, steps })).toEqual({
      steps: [
        { credit: 1, status: 'entailed' },
        { credit: 0, status: 'contradicted' },
        { credit: 0.5, status: 'consistent' },
        { credit: 0.5, status: 'consistent' },
        { credit: 0.3, status: 'unverifiable' },
        { credit: 1, status: 'entailed' },
      ],
    })
    expect(
      await verify({ premises: ['∀x (P(x) → Q(x))', 'P(a)'], steps: ['Q(a)', 'Q(a', 'P(a, a)'] }),
    ).toEqual({
      steps: [
        { credit: 1, status: 'entailed' },
        { credit: 0, status: 'unparsed' },
        { credit: 0, status: 'unparsed' },
      ],
    })
  })

  it('gives no credit at all where the premises are at fault', async () => {
    expect(await verify({ premises: ['P(a)', '¬P(a)'], steps: ['P(a)', '('] })).toMatchObject({
      steps: [
        { credit: null, status: 'inconsistent-premises' },
        { credit: null, status: 'inconsistent-premises' },
      ],
    })
    expect(await verify({ premises: ['P(a'], steps: ['P(a)'] })).toMatchObject({
      steps: [{ credit: null, status: 'premises-unparsed' }],
      reason: expect.stringContaining('premise 1'),
    })
  })

  it('refuses rows of another shape', async () => {
    await expect(verify({ question: 'x' })).rejects.toThrow(/expected "premises" and "steps"/)
    await expect(verify({ premises: 'p', steps: [] })).rejects.toThrow(/premises: expected a list/)
    await expect(verify(3)).rejects.toThrow(/expected an object/)
  })

  it('reproduces the labels of the FOLIO validation rows but for those with faulty formulas', async ctx => {
    const path = sharedData('folio/validation_fol_dev.jsonl')
    if (!path) return ctx.skip('the public data is not here')
    const rows = readJsonl<{ label: string }>(path)
    const wrong: number[] = []
    for (const [index, row] of rows.entries()) {
      const { label } = (await verify(row)) as LabelVerdict
      if (label !== (row.label === 'Uncertain' ? 'Unknown' : row.label)) wrong.push(index)
    }
    expect(wrong).toEqual(Object.keys(FAULTY).map(Number))
  })
})
