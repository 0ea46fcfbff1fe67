import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rollout, rubric } from './evolving.fixture.ts'
import {
  gainOf,
  type Level,
  type LevelsById,
  persistentRubrics,
  type Stage,
  stagedRollout,
  stageParts,
  stageRewards,
} from './rubrics.ts'

const levels = (given: Record<string, Level | null>): LevelsById =>
  Object.fromEntries(Object.entries(given).map(([id, level]) => [id, { level }]))

describe('what levels earn', () => {
  it('is half a level of a merit, and what is missing to two of a flaw', () => {
    expect(([0, 1, 2] as const).map(level => gainOf('positive', level))).toEqual([0, 0.5, 1])
    expect(([0, 1, 2] as const).map(level => gainOf('negative', level))).toEqual([1, 0.5, 0])
  })

  it('gives .75 for the worked example', () => {
    const rubrics = [
      rubric('a', 2, { weight: 3 }),
      rubric('b', 2, { weight: 1 }),
      rubric('c', 2, { weight: 2, sign: 'negative' }),
    ]
    expect(stageRewards(rubrics, rollout('x'), levels({ a: 2, b: 1, c: 1 }))).toEqual([0, 0.75, 0, 0])
  })

  it('is 0 in a stage without rubrics, and in one that the rollout lacks, flaws that it cannot have included', () => {
    const flaw = rubric('a', 3, { sign: 'negative' })
    expect(stageRewards([], rollout('x'), {})).toEqual([0, 0, 0, 0])
    expect(stageRewards([flaw], rollout('x', ['p', 'r', ' \n', 'a']), levels({ a: 0 }))).toEqual([0, 0, 0, 0])
    expect(stageRewards([flaw], rollout('x'), levels({ a: 0 }))).toEqual([0, 0, 1, 0])
  })

  it('leaves a level out that was not given, with its weight; without any the stage is not known', () => {
    const rubrics = [rubric('a', 1, { weight: 3 }), rubric('b', 1, { weight: 1 })]
    expect(stageRewards(rubrics, rollout('x'), levels({ a: null, b: 2 }))[0]).toBe(1)
    expect(stageRewards(rubrics, rollout('x'), levels({ a: 0 }))[0]).toBe(0)
    expect(stageRewards(rubrics, rollout('x'), levels({ a: null }))[0]).toBeNull()
    // Names that every object knows are no levels.
    expect(stageRewards([rubric('toString', 1)], rollout('x'), {})[0]).toBeNull()
  })

  it('lies in [0, 1] or is not known, whatever was given', () => {
    const one = fc.record({
      stage: fc.constantFrom<Stage>(1, 2, 3, 4),
      sign: fc.constantFrom('positive' as const, 'negative' as const),
      weight: fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
      level: fc.constantFrom<Level | null>(0, 1, 2, null),
    })
    const text = fc.constantFrom('', ' ', 'text')
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), fc.tuple(text, text, text, text), (all, stages) => {
        const rubrics = all.map((own, i) => rubric(`r${i}`, own.stage, own))
        const scores = levels(Object.fromEntries(all.map(({ level }, i) => [`r${i}`, level])))
        return stageRewards(rubrics, rollout('x', stages), scores).every(
          reward => reward === null || (reward >= 0 && reward <= 1),
        )
      }),
    )
  })
})

describe('a staged rollout', () => {
  it('has the text of its stages and, between them, what tools said', () => {
    const text = 'plan!call-tool-says-more.end'
    const found = stagedRollout('k', text, [
      { stage: 1, start: 0, end: 5 },
      { stage: 2, start: 5, end: 10 },
      { stage: 2, start: 20, end: 25 },
      { stage: 4, start: 25, end: 28 },
    ])
    expect(found.stages).toEqual(['plan!', 'call-\nmore.', '', 'end'])
    expect(found.parts).toEqual([
      { stage: 1, text: 'plan!' },
      { stage: 2, text: 'call-' },
      { stage: null, text: 'tool-says-' },
      { stage: 2, text: 'more.' },
      { stage: 4, text: 'end' },
    ])
    expect(
      stageParts(found)
        .map(({ text: own }) => own)
        .join(''),
    ).toBe(text)
  })

  it('may do without parts: its stages are in order then', () => {
    expect(stageParts(rollout('x', ['a', '', 'c', 'd']))).toEqual([
      { stage: 1, text: 'a' },
      { stage: 3, text: 'c' },
      { stage: 4, text: 'd' },
    ])
  })
})

it('rubrics that come with a question are for its answer and have no step of birth', () => {
  const given = persistentRubrics([
    { id: 'a', text: 'Names the year', points: 5 },
    { id: 'a', text: 'Invents a source', points: -2.5, title: 'invention' },
  ])
  expect(given).toEqual([
    {
      id: 'given.a',
      stage: 4,
      sign: 'positive',
      title: 'a',
      description: 'Names the year',
      weight: 5,
      since: null,
    },
    {
      id: 'given.a~2',
      stage: 4,
      sign: 'negative',
      title: 'invention',
      description: 'Invents a source',
      weight: 2.5,
      since: null,
    },
  ])
})
