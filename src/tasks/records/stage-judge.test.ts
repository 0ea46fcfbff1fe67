import { describe, expect, it } from 'vitest'
import { acceptDrafts, DEFAULT_EVOLVING, judgeGroup, scriptedStageJudge } from '../../grade/evolving/index.ts'
import { Rng } from '../../util/rng.ts'
import {
  demonstrateResearch,
  draftOf,
  drawHabits,
  persistentRubrics,
  recordsJudgeParts,
  recordsQuestion,
  STAGE_CRITERIA,
} from './index.ts'

describe('the judge of stages of the records task', () => {
  const question = recordsQuestion('here', 4)
  const rollouts = Array.from({ length: 8 }, (_, i) => {
    const rng = new Rng(`rollout ${i}`)
    const segments = demonstrateResearch(question, [], drawHabits(rng), { calls: 6, scaffold: true }, rng)
    const parts = segments.map(({ text, own }) => ({ stage: own ? (2 as const) : null, text }))
    return { key: String(i), stages: ['plan', 'research', 'review', 'answer'] as const, parts }
  })
  const judge = (sound: number) => scriptedStageJudge(recordsJudgeParts({ seed: 1, sound, discerning: 0.7 }))

  it('proposes only what may be proposed', () => {
    for (const stage of [1, 2, 3, 4]) {
      const drafts = STAGE_CRITERIA.filter(own => own.stage === stage).map(draftOf)
      const { born, refused } = acceptDrafts(drafts, { existing: [], step: 1, settings: DEFAULT_EVOLVING })
      expect(refused).toEqual([])
      expect(born).toHaveLength(drafts.length)
    }
  })

  it('gives every rollout a reward in every stage, and what evolves depends on the names alone', async () => {
    const group = { step: 3, question, key: question.id, rollouts, persistent: persistentRubrics }
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
      const isSound = (title: string) => STAGE_CRITERIA.find(own => own.title === title)!.worth === 'sound'
      return titles.filter(isSound).length / titles.length
    }
    expect(await share(1)).toBe(1)
    expect(await share(0)).toBe(0)
    expect(await share(0.7)).toBeGreaterThan(0.5)
  })
})
