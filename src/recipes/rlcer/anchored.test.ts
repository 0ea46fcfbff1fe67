import { describe, expect, it } from 'vitest'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import type { ThinkingVerifier, VerifierItem } from '../../tasks/thinking.ts'
import { StepRollouts } from '../../train/rollout.ts'
import { rlcerSchema } from './config.ts'
import {
  lettersTask,
  lettersVerifier,
  rubricOf,
  type Script,
  ScriptedPolicy,
  thought,
} from './letters.fixture.ts'
import { rlcer } from './recipe.ts'

/** Of reasoners that write `a` and `s` when they are right and `b` when they are wrong, the first three are valid. */
const RUBRIC = rubricOf([
  ['has a', 3],
  ['has s', 2],
  ['has b', -4],
  ['has x', 1],
  ['has z', 1],
])
const REASONERS = ['xas</think>right', 'xas</think>right', 'xb</think>wrong', 'xb</think>wrong']
const script: Script = (prompt, _, index) => (prompt.endsWith('!') ? RUBRIC : REASONERS[index])

/** On the anchors `a` goes with being good, `s` is in all of them, and `b` in none. */
const ANCHORS = [
  { problem: 'other', shown: thought('as'), good: true },
  { problem: 'other', shown: thought('as'), good: true },
  { problem: 'other', shown: thought('s'), good: false },
  { problem: 'another', shown: thought('s'), good: false },
]

const stepOf = async (settings: object = {}, verifier: ThinkingVerifier<string> = lettersVerifier) => {
  const asked: VerifierItem<string>[] = []
  const config = rlcerSchema.parse({
    rollout: { prompts: 1, samples: 4, maxTokens: 40 },
    rubricator: { maxTokens: 2000 },
    anchors: { start: 4 },
    ...settings,
  })
  const policy = new ScriptedPolicy(script)
  const recipe = rlcer(config, {
    ...{ policy, task: lettersTask, problem: () => 'p', evaluate: async () => [] },
    verifier: {
      verify: async items => {
        asked.push(...items.filter(({ problem }) => problem !== 'p'))
        return verifier.verify(items)
      },
    },
    ...(config.anchors && { anchors: { minAgreement: config.anchors.minAgreement, of: () => ANCHORS } }),
  })
  const io = new StepRollouts(policy, { seed: config.seed, step: 1 })
  const lesson = await recipe.learn(1, await recipe.rollOut(1, io))
  const rows = lesson.rollouts.map(own => own.row())
  const of = (role: string) => rows.filter(row => row.role === role)
  return { ...lesson, asked, reasoners: of('reasoner'), rubricators: of('rubricator') }
}

const withoutAnchors = { anchors: undefined }

describe('valid criteria on anchors', () => {
  it('pay nobody where they are met by good and bad answers alike, and say why', async () => {
    const { rubricators, reasoners, metrics, rubrics } = await stepOf()
    // One of five is left: +1 for the format.
    expect(rubricators.map(({ reward }) => reward)).toEqual(Array(4).fill(1.2))
    const [{ verdicts = [] }] = rubricators
    expect(verdicts.map(({ met }) => met)).toEqual([true, false, false, false, false])
    expect(verdicts[0].explanation).toMatch(
      /correlation 1\.00 .*; anchors: good answers earn 100\.0% and bad ones 0\.0%/,
    )
    expect(verdicts[1].explanation).toMatch(/correlation 1\.00 .*agreement 50\.0%, below 70\.0%$/)
    // A penalty that no anchor shows is always earned.
    expect(verdicts[2].explanation).toMatch(/good answers earn 100\.0% and bad ones 100\.0%/)
    // Not valid in their group, so nobody was asked.
    expect(verdicts[3].explanation).not.toContain('anchors')
    // Of four rubrics each, three were tried and two kept out; mean of 1, .5 and .5.
    expect(metrics.anchorsKeptOut).toBeCloseTo(2 / 3, 12)
    expect(metrics.anchorAgreement).toBeCloseTo(2 / 3, 12)
    expect(metrics.payingCriteria).toBe(1)
    // Once a statement, though four rubricators wrote it.
    expect(rubrics).toMatchObject([
      {
        ...{ step: 1, question: 'p', rollouts: 4, rubrics: [] },
        refused: [
          { stage: null, title: 'has s', description: '2 points', rule: 'anchors' },
          { title: 'has b', description: '-4 points', reason: expect.stringContaining('agreement 50.0%') },
        ],
      },
    ])
    expect(reasoners.map(({ parts }) => parts?.cot)).toEqual([1, 1, 0, 0])
  })

  it('are three of five without anchors, and then nothing is told of any', async () => {
    const { rubricators, metrics, asked, rubrics } = await stepOf(withoutAnchors)
    expect(rubricators[0].reward).toBeCloseTo(1.6, 12)
    expect(metrics).not.toHaveProperty('anchorsKeptOut')
    expect(rubrics).toBeUndefined()
    expect(asked).toEqual([])
  })

  it('are asked about once a statement and anchor, each as an answer to its own question', async () => {
    const { asked } = await stepOf()
    // Four rubricators wrote the same three.
    expect(asked).toHaveLength(4)
    expect(asked.map(({ problem }) => problem)).toEqual(['other', 'other', 'other', 'another'])
    expect(asked[0].rubric.criteria.map(({ text }) => text)).toEqual(['has a', 'has s', 'has b'])
  })

  it('are kept out where the verifier says nothing of the anchors', async () => {
    const mute: ThinkingVerifier<string> = {
      verify: async items => {
        const verdicts = await lettersVerifier.verify(items)
        return items.map(({ problem, rubric: { criteria } }, i) =>
          problem === 'p' ? verdicts[i] : criteria.map(nothing),
        )
      },
    }
    const { rubricators, metrics } = await stepOf({}, mute)
    expect(rubricators[0].reward).toBe(1)
    expect(rubricators[0].verdicts?.[0].explanation).toMatch(/the judge says nothing of good answers$/)
    expect(metrics).toMatchObject({ anchorsKeptOut: 1, anchorAgreement: null })
  })

  it('need what the setting says', async () => {
    const { rubricators } = await stepOf({ anchors: { start: 4, minAgreement: 0.51 } })
    expect(rubricators[0].verdicts?.map(({ met }) => met)).toEqual([true, false, false, false, false])
  })
})

const nothing = ({ id }: Criterion): Verdict => ({ criterionId: id, met: null, source: 'model' })
