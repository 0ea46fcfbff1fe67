import { expect, it } from 'vitest'
import type { JudgedGroup } from '../../grade/evolving/index.ts'
import { agentRow } from './metrics.ts'

it('keeps levels so that a half is no missing verdict, and a flaw that is away is a good thing', () => {
  const rubric = (id: string, sign: 'positive' | 'negative', title: string) => ({
    ...{ id, stage: 4, sign, title },
    ...{ description: `Says ${title}.`, weight: 2 },
  })
  const group = {
    key: 'q',
    rubrics: [
      rubric('a', 'positive', 'right'),
      rubric('b', 'positive', 'cited'),
      rubric('c', 'negative', 'guesses'),
      rubric('d', 'negative', 'repeats'),
      rubric('e', 'positive', 'unasked'),
    ],
    rollouts: [
      {
        rollout: { key: 'r' },
        scores: {
          a: { level: 2, justification: 'as in the passage' },
          b: { level: 1 },
          c: { level: 0 },
          d: { level: 2, justification: '' },
        },
      },
    ],
  } as unknown as JudgedGroup
  const task = { id: () => 'q', question: () => 'Where?', show: () => 'There.' }
  const rollout = { key: 'r', tokens: [], logprobs: [] }
  const item = { problem: null, rollout, parts: {}, grade: { wellFormed: true }, reward: 1, advantage: 0 }
  // The same question may come twice in a step.
  const other = { ...group, rollouts: [{ rollout: { key: 's' }, scores: {} }] } as unknown as JudgedGroup
  const { verdicts = [] } = agentRow(task as never, 1, item as never, [other, group])
  expect(verdicts.slice(0, 3).map(({ text, points }) => [text, points])).toEqual([
    ['Says right.', 2],
    ['Says cited.', 2],
    ['Avoids: Says guesses.', 2],
  ])
  expect(verdicts.map(({ source: _source, text: _text, points: _points, ...verdict }) => verdict)).toEqual([
    { criterionId: '4.right', met: true, credit: 1, explanation: 'level 2 of 2: as in the passage' },
    { criterionId: '4.cited', met: null, credit: 0.5, explanation: 'level 1 of 2' },
    { criterionId: '4.guesses', met: true, credit: 1, explanation: 'a flaw; level 0 of 2' },
    { criterionId: '4.repeats', met: false, credit: 0, explanation: 'a flaw; level 2 of 2' },
    { criterionId: '4.unasked', met: null, explanation: 'no level was given' },
  ])
})

it('keeps the lessons that an attempt was shown, a long one without its end; none where it was shown none', () => {
  const group = { key: 'q', rubrics: [], rollouts: [] } as unknown as JudgedGroup
  const stages = { show: ({ takeaways }: { takeaways: string[] }) => takeaways.join('\n') }
  const task = { id: () => 'q', question: () => 'Where?', show: () => 'There.', stages }
  const rowFor = (rollout: object, retrieval: unknown) =>
    agentRow(
      task as never,
      1,
      { problem: null, rollout, parts: {}, grade: { wellFormed: true }, reward: 1 } as never,
      [group],
      retrieval as never,
    )
  const rollout = { key: 'r', tokens: [], logprobs: [] }
  const item = { question: 'Who?', rubrics: '', takeaways: ['Ask the guide.', 'x'.repeat(9000)] }
  const found = { items: [{ how: 'within', score: 1, item }] }
  const { lessons, flags } = rowFor({ ...rollout, sampledFrom: [1] }, found)
  expect(flags).toEqual({ referred: 1 })
  expect(lessons).toEqual([
    {
      how: 'within',
      question: 'Who?',
      text: `${`Ask the guide.\n${'x'.repeat(9000)}`.slice(0, 2000)} [...]`,
    },
  ])
  expect(rowFor(rollout, found)).not.toHaveProperty('lessons')
  expect(rowFor({ ...rollout, sampledFrom: [1] }, { items: [] })).not.toHaveProperty('lessons')
  expect(rowFor({ ...rollout, sampledFrom: [1] }, { items: [] }).flags).toEqual({})
  expect(rowFor(rollout, null)).not.toHaveProperty('lessons')
})
