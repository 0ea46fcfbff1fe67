import { describe, expect, it } from 'vitest'
import { acceptDrafts, DEFAULT_EVOLVING, judgeGroup, scriptedStageJudge } from '../../grade/evolving/index.ts'
import { Rng } from '../../util/rng.ts'
import {
  attemptOf,
  demonstrateResearch,
  draftOf,
  drawResearchHabits,
  encodeRecords,
  GIVEN_RUBRICS,
  READER_CRITERIA,
  RECORDS_VOCABULARY,
  readTrajectory,
  recordsJudgeParts,
  recordsQuestion,
  STAGE_CRITERIA,
  stagedAttempt,
  trajectoryPieces,
} from './index.ts'

describe('the judge of stages of the records task', () => {
  const question = recordsQuestion('here', 4)
  const rollouts = Array.from({ length: 8 }, (_, i) => {
    const rng = new Rng(`rollout ${i}`)
    const segments = demonstrateResearch(
      question,
      [],
      drawResearchHabits(rng),
      { calls: 6, scaffold: true },
      rng,
    )
    const parts = segments.map(({ text, own }) => ({ stage: own ? (2 as const) : null, text }))
    return { key: String(i), stages: ['plan', 'research', 'review', 'answer'] as const, parts }
  })
  const judge = (sound: number, oracle = false) =>
    scriptedStageJudge(recordsJudgeParts({ seed: 1, sound, discerning: 0.7, oracle }))

  it('reads of the stages of a rollout what its tokens say, wherever a stage begins', () => {
    for (let i = 0; i < 60; i++) {
      const rng = new Rng(`read ${i}`)
      const own = recordsQuestion('read', i)
      const options = { calls: 8, scaffold: i % 5 > 0 }
      const segments = demonstrateResearch(own, [], drawResearchHabits(rng), options, rng)
      const tokens = segments.flatMap(({ text }) => encodeRecords(text))
      const mask = segments.flatMap(({ text, own: writes }) => encodeRecords(text).map(() => Number(writes)))
      // Also such as were cut off, or are garbled.
      const cut = i % 3 === 0 ? rng.int(tokens.length) : tokens.length
      if (i % 4 === 0) tokens[rng.int(tokens.length)] = 4 + rng.int(RECORDS_VOCABULARY.length - 4)
      const rollout = [tokens.slice(0, cut), mask.slice(0, cut)] as const
      const { staged } = stagedAttempt('k', ...rollout, 8)
      expect(attemptOf(own, staged).trajectory).toEqual(readTrajectory(trajectoryPieces(...rollout)))
    }
  })

  it('reads what the tool said where the agent wrote a special token before', () => {
    for (let i = 0; i < 60; i++) {
      const rng = new Rng(`special ${i}`)
      const own = recordsQuestion('special', i)
      const segments = demonstrateResearch(
        own,
        [],
        drawResearchHabits(rng),
        { calls: 8, scaffold: true },
        rng,
      )
      const tokens = segments.flatMap(({ text }) => encodeRecords(text))
      const mask = segments.flatMap(({ text, own: writes }) => encodeRecords(text).map(() => Number(writes)))
      // At the end of the plan, which does not change what is called.
      const at = tokens.indexOf(encodeRecords('</structured_plan>')[0])
      tokens[at] = rng.int(4)
      const outputs = (read: { calls: readonly { output: object }[] }) =>
        read.calls.map(({ output }) => output)
      const { staged } = stagedAttempt('k', tokens, mask, 8)
      expect(outputs(attemptOf(own, staged).trajectory)).toEqual(
        outputs(readTrajectory(trajectoryPieces(tokens, mask))),
      )
    }
  })

  it('proposes only what may be proposed', () => {
    for (const stage of [1, 2, 3, 4]) {
      const all = new Set([...STAGE_CRITERIA, ...READER_CRITERIA])
      const drafts = [...all].filter(own => own.stage === stage).map(draftOf)
      const { born, refused } = acceptDrafts(drafts, { existing: [], step: 1, settings: DEFAULT_EVOLVING })
      expect(refused).toEqual([])
      expect(born).toHaveLength(drafts.length)
    }
  })

  it('without an oracle says the same of an attempt whatever the truth is', async () => {
    // The same words about archives of other names and records: only who knows these can tell a difference.
    const elsewhere = { ...question, archive: { ...question.archive, world: 'elsewhere' } }
    const of = async (own: typeof question, oracle: boolean) => {
      const persistent = oracle ? GIVEN_RUBRICS : []
      const group = { step: 3, question: own, key: question.id, rollouts, persistent }
      return (await judgeGroup(judge(1, oracle), group)).rollouts.map(({ scores }) => scores)
    }
    expect(await of(elsewhere, false)).toEqual(await of(question, false))
    expect(await of(elsewhere, true)).not.toEqual(await of(question, true))
  })

  it('gives every rollout a reward in every stage, and what evolves depends on the names alone', async () => {
    const group = { step: 3, question, key: question.id, rollouts, persistent: GIVEN_RUBRICS }
    const one = await judgeGroup(judge(0.7), group)
    expect(one).toEqual(await judgeGroup(judge(0.7), group))
    for (const { rewards_K } of one.rollouts)
      expect(rewards_K.every(reward => reward !== null && reward >= 0 && reward <= 1)).toBe(true)
    expect(one.rubrics.length).toBeGreaterThan(4)
    expect(one.refused).toEqual([])
  })

  it('finds sound criteria as often as it is skilled', async () => {
    const share = async (sound: number) => {
      const titles: string[] = []
      for (let step = 0; step < 30; step++) {
        const { rubrics } = await judgeGroup(judge(sound), { step, question, key: String(step), rollouts })
        titles.push(...rubrics.map(({ title }) => title))
      }
      const isSound = (title: string) => READER_CRITERIA.find(own => own.title === title)!.worth === 'sound'
      return titles.filter(isSound).length / titles.length
    }
    expect(await share(1)).toBe(1)
    expect(await share(0)).toBe(0)
    expect(await share(0.7)).toBeGreaterThan(0.5)
  })
})
