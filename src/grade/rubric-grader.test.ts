import { afterAll, describe, expect, it } from 'vitest'
import type { Criterion } from '../rubric/criterion.ts'
import { FormalGrader } from './formal-grader.ts'
import type { GradeItem, Grader } from './grader.ts'
import { LogicSolver } from './logic/solver.ts'
import { needsJudge, rubricGrader, validateVerifiers } from './rubric-grader.ts'

/** Counts what reaches it, and meets what mentions its word. */
const countingJudge = () => {
  const seen: string[][] = []
  const judge: Grader = {
    grade: async (_item, criteria) => {
      seen.push(criteria.map(({ id }) => id))
      return criteria.map(({ id, text }) => ({
        criterionId: id,
        met: text.includes('kind'),
        source: 'llm' as const,
      }))
    },
  }
  return { judge, seen }
}

const judged = (id: string, text: string): Criterion => ({ id, text, points: 1 })
const rule = (id: string, fn: string, params: Record<string, unknown>): Criterion => ({
  id,
  text: id,
  points: 1,
  verifier: { kind: 'rule', fn, params },
})
const formal = (id: string, fn: string, params?: Record<string, unknown>): Criterion => ({
  id,
  text: id,
  points: 1,
  verifier: { kind: 'formal', fn, ...(params && { params }) },
})

const item = (response: string, metadata?: Record<string, unknown>): GradeItem => ({
  prompt: [{ role: 'user', content: 'Q' }],
  response,
  ...(metadata && { metadata }),
})

describe('a rubric of rules and judged criteria', () => {
  const criteria = [
    judged('kind', 'Is kind'),
    rule('short', 'length', { max: 3 }),
    judged('deep', 'Is deep'),
    rule('heat', 'contains', { all: ['heat'] }),
  ]

  it('lets only judged criteria reach the model, and keeps the order', async () => {
    const { judge, seen } = countingJudge()
    const verdicts = await rubricGrader({ judge }).grade(item('the heat is on'), criteria)
    expect(seen).toEqual([['kind', 'deep']])
    expect(verdicts.map(({ criterionId, met, source }) => [criterionId, met, source])).toEqual([
      ['kind', true, 'llm'],
      ['short', false, 'rule'],
      ['deep', false, 'llm'],
      ['heat', true, 'rule'],
    ])
  })

  it('does not call the model for rules alone', async () => {
    const { judge, seen } = countingJudge()
    const verdicts = await rubricGrader({ judge }).grade(item('heat'), [criteria[1], criteria[3]])
    expect(seen).toEqual([])
    expect(verdicts.map(({ met }) => met)).toEqual([true, true])
    expect(needsJudge({ criteria })).toBe(true)
    expect(needsJudge({ criteria: [criteria[1]] })).toBe(false)
  })

  it('has no verdict without a judge, or refuses, by option', async () => {
    const [kind, short] = await rubricGrader().grade(item('heat'), criteria)
    expect(kind).toEqual({
      criterionId: 'kind',
      met: null,
      explanation: 'no judge configured',
      source: 'llm',
    })
    expect(short.met).toBe(true)
    const strict = rubricGrader({ onNoJudge: 'error' })
    await expect(strict.grade(item('heat'), criteria)).rejects.toThrow(/"kind": expected a judge, got none/)
    await expect(strict.grade(item('heat'), [criteria[1]])).resolves.toHaveLength(1)
  })

  it('refuses a grader that loses or swaps verdicts', async () => {
    const swapping: Grader = {
      grade: async (_item, asked) =>
        asked.map(({ id }) => ({ criterionId: id, met: true, source: 'llm' as const })).reverse(),
    }
    await expect(rubricGrader({ judge: swapping }).grade(item('heat'), criteria)).rejects.toThrow(
      /expected verdicts on kind, deep, got deep, kind/,
    )
  })

  it('closes its parts', async () => {
    let closed = 0
    const part: Grader = {
      grade: async () => [],
      close: async () => {
        closed++
      },
    }
    await rubricGrader({ judge: part, rules: part, formal: part }).close?.()
    expect(closed).toBe(3)
  })

  it('names every verifier that cannot be used when it is loaded', () => {
    const faulty = [
      rule('a', 'lenght', {}),
      formal('b', 'entailed_answr'),
      formal('c', 'step_validity', { x: 1 }),
    ]
    const load = () => validateVerifiers({ criteria: faulty }, 'r.yaml')
    expect(load).toThrow(/r\.yaml: criteria\[0\] "a": verifier: fn: .*did you mean length/)
    expect(load).toThrow(/r\.yaml: criteria\[1\] "b": verifier: fn: .*did you mean entailed_answer/)
    expect(load).toThrow(/r\.yaml: criteria\[2\] "c": verifier: params: x: expected one of premises/)
    const unreadable = formal('d', 'step_validity', {
      premises: ['Colourless green ideas sleep furiously maybe'],
    })
    expect(() => validateVerifiers({ criteria: [unreadable] })).toThrow(/params: premises\[0\]/)
  })
})

describe('formal checks', async () => {
  const solver = await LogicSolver.start()
  afterAll(() => solver.close())
  const grader = new FormalGrader({ solver })
  const premises = ['Every cat is a mammal.', 'Every mammal is warm.', 'Tom is a cat.']
  const known = { premises, conclusion: 'Tom is warm.' }
  const proof = '<reasoning>\n1. Tom is a mammal\n2. Tom is warm\n</reasoning>\n<answer>True</answer>'

  it('prove answers and steps, with credit by degrees', async () => {
    const all = ['entailed_answer', 'step_validity', 'valid_proof', 'completeness'].map(fn => formal(fn, fn))
    const [answer, steps, whole, complete] = await grader.grade(item(proof, known), all)
    // Valid, but nothing is said of the premises that it rests on.
    expect([answer.met, steps.met, whole.met, complete.credit]).toEqual([true, true, true, 0])
    const referring = proof.replace('mammal', 'mammal [mp; p1, p3]').replace('warm', 'warm [mp; p2, s1]')
    expect((await grader.grade(item(referring, known), all))[3]).toMatchObject({ met: true, credit: 1 })
    expect(answer).toMatchObject({
      credit: 1,
      source: 'formal',
      explanation: 'answer True; steps: 2 entailed',
    })
    // Entailed 1, consistent .5, contradicted 0.
    const mixed =
      '<reasoning>\n1. Tom is a mammal\n2. Tom is red\n3. Tom is not warm\n</reasoning>\n<answer>False</answer>'
    const [wrong, half] = await grader.grade(item(mixed, known), all)
    expect(wrong).toMatchObject({ met: false, credit: 0 })
    expect(half).toMatchObject({ met: false, credit: 0.5 })
  })

  it('take statements from the parameters, formulas too, and steps need no conclusion', async () => {
    const params = { premises: ['∀x (Cat(x) → Warm(x))', 'Cat(tom)'] }
    const criteria = [formal('s', 'step_validity', params), formal('a', 'entailed_answer', params)]
    const [steps, answer] = await grader.grade(item('1. Warm(tom)\n<answer>True</answer>'), criteria)
    expect(steps).toMatchObject({ met: true, credit: 1 })
    expect(answer).toMatchObject({ met: null, explanation: 'there is no conclusion' })
  })

  it('have no verdict where the item is at fault', async () => {
    const [missing] = await grader.grade(item(proof), [formal('a', 'entailed_answer')])
    expect(missing).toMatchObject({ met: null, explanation: expect.stringContaining('metadata.premises') })
    const clash = { premises: ['Tom is a cat.', 'Tom is not a cat.'], conclusion: 'Tom is warm.' }
    const [faulty, steps] = await grader.grade(item(proof, clash), [
      formal('a', 'entailed_answer'),
      formal('s', 'step_validity'),
    ])
    expect(faulty).toMatchObject({ met: null, explanation: 'the premises contradict each other' })
    expect(steps).toMatchObject({ met: null, explanation: 'inconsistent-premises' })
  })

  it('answer many calls at once, each its own', async () => {
    const criteria = [formal('a', 'entailed_answer')]
    const answers = ['True', 'False', 'Unknown', 'True']
    const scripts = solver.stats().scripts
    const graded = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        grader.grade(item(`1. Tom is warm\n<answer>${answers[index % 4]}</answer>`, known), criteria),
      ),
    )
    expect(graded.map(([verdict]) => verdict.met)).toEqual(
      Array.from({ length: 40 }, (_, index) => index % 4 === 0 || index % 4 === 3),
    )
    expect(solver.stats().scripts - scripts).toBeLessThan(5)
  })

  it('go by the settings of the solver: names are different things only where that is said', async () => {
    const names = { premises: ['∀x (Cat(x) → x = tom)', 'Cat(rex)'], conclusion: 'rex = tom' }
    const criteria = [formal('a', 'entailed_answer'), formal('s', 'step_validity')]
    const unique = new FormalGrader({ solver: { uniqueNames: true } })
    const [plain] = await grader.grade(item('1. rex = tom\n<answer>True</answer>', names), criteria)
    expect(plain.met).toBe(true)
    const [apart] = await unique.grade(item('1. rex = tom\n<answer>True</answer>', names), criteria)
    expect(apart).toMatchObject({ met: null, explanation: 'the premises contradict each other' })
    await unique.close()
    const hasty = new FormalGrader({ solver: { timeoutMs: 0 } })
    await expect(hasty.grade(item(proof, known), criteria)).rejects.toThrow(/solver: timeoutMs: expected/)
  })

  it('give no verdict when aborted', async () => {
    const signal = AbortSignal.abort()
    await expect(
      grader.grade(item(proof, known), [formal('a', 'entailed_answer')], { signal }),
    ).rejects.toThrow()
  })
})
