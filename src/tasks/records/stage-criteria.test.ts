import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { mean } from '../../util/statistics.ts'
import {
  type Contribution,
  demonstrateResearch,
  drawResearchHabits,
  encodeRecords,
  fieldName,
  outputText,
  readTrajectory,
  recordName,
  recordsQuestion,
  trajectoryPieces,
  truthOf,
} from './index.ts'
import { type Attempt, PERSISTENT_CRITERIA, READER_CRITERIA, STAGE_CRITERIA } from './stage-criteria.ts'

const question = recordsQuestion('here', 4, { hops: { min: 2, max: 2 } })
const [one, two] = truthOf(question)

const attemptOf = (segments: readonly Contribution[], own = question): Attempt => {
  const encoded = segments.map(({ text, own: mine }) => ({ tokens: encodeRecords(text), mine }))
  const mask = encoded.flatMap(({ tokens, mine }) => tokens.map(() => Number(mine)))
  const trajectory = readTrajectory(
    trajectoryPieces(
      encoded.flatMap(({ tokens }) => tokens),
      mask,
    ),
  )
  return { question: own, trajectory }
}

const ALL = [...new Set([...STAGE_CRITERIA, ...READER_CRITERIA, ...PERSISTENT_CRITERIA])]

const levels = (attempt: Attempt) => Object.fromEntries(ALL.map(({ id, level }) => [id, level(attempt)]))

const found = ({ record, person }: { record: number; person: string }) => ({
  text: outputText({ kind: 'found', record, person }),
  own: false,
})

const best: Contribution[] = [
  {
    text: `\n<structured_plan><rubric> ${question.relations.join(' ')}</rubric> ${fieldName(one.field)} ${fieldName(two.field)}</structured_plan>\n<call_tool> ${question.person} ${fieldName(one.field)}</call_tool>`,
    own: true,
  },
  found(one),
  {
    text: `\n<state_evaluation> got ${one.person}</state_evaluation>\n<call_tool> ${one.person} ${fieldName(two.field)}</call_tool>`,
    own: true,
  },
  found(two),
  {
    text: `\n<state_evaluation> got ${two.person}</state_evaluation>\n<review> ${question.relations[0]} ${recordName(one.record)} ${question.relations[1]} ${recordName(two.record)}</review>\n<answer> ${two.person}<cite> ${recordName(one.record)} ${recordName(two.record)}</cite></answer>`,
    own: true,
  },
]

describe('criteria of stages', () => {
  it('give all of an attempt without a fault the best level of every sound criterion', () => {
    const own = levels(attemptOf(best))
    for (const { id, negative, worth } of ALL)
      if (worth === 'sound') expect([id, own[id]]).toEqual([id, negative ? 0 : 2])
  })

  it('see what is missing of each stage where the others are as they should be', () => {
    const late = { ...best[4], text: best[4].text.replace(/<answer> \w+/, '<answer> unknown') }
    expect(levels(attemptOf([...best.slice(0, 4), late]))).toMatchObject({
      'answer-right': 0,
      'answer-follows': 0,
      'review-true': 2,
      'research-settles': 2,
    })
    const unticked = { ...best[4], text: best[4].text.replace(/<review>.*<\/review>/, '<review></review>') }
    expect(levels(attemptOf([...best.slice(0, 4), unticked]))).toMatchObject({
      'answer-right': 2,
      'review-true': 0,
      'review-invents': 0,
    })
    const short = [
      ...best.slice(0, 2),
      { ...best[4], text: best[4].text.replace(/.*<\/state_evaluation>/, '') },
    ]
    // The right name by luck, and a record that was never seen.
    expect(levels(attemptOf(short))).toMatchObject({
      'answer-right': 2,
      'answer-follows': 0,
      'plan-fields': 2,
      'plan-holds': 1,
      'research-settles': 1,
      'answer-guesses': 2,
      'answer-invents': 1,
      'review-invents': 1,
    })
  })

  it('of a reader depend on question and attempt alone; two of an oracle on what neither says', () => {
    const attempts = Array.from({ length: 300 }, (_, i) => {
      const rng = new Rng(`reader ${i}`)
      const asked = recordsQuestion('reader', i)
      return attemptOf(
        demonstrateResearch(asked, [], drawResearchHabits(rng), { calls: 8, scaffold: true }, rng),
        asked,
      )
    })
    const archive = { ...question.archive, world: 'elsewhere' }
    const depends = ALL.filter(({ level }) =>
      attempts.some(
        attempt => level(attempt) !== level({ ...attempt, question: { ...attempt.question, archive } }),
      ),
    )
    expect(depends.map(({ id }) => id)).toEqual(['plan-fields', 'answer-right'])
    expect(depends.filter(own => READER_CRITERIA.includes(own))).toEqual([])
  })

  it('of any pieces give levels', () => {
    const rng = new Rng('any pieces')
    for (let i = 0; i < 2000; i++) {
      const tokens = Array.from({ length: rng.int(60) }, () => rng.int(180))
      const trajectory = readTrajectory(
        trajectoryPieces(
          tokens,
          tokens.map(() => rng.int(2)),
        ),
      )
      for (const level of Object.values(levels({ question, trajectory }))) expect([0, 1, 2]).toContain(level)
    }
  })

  it('of nothing give nothing', () => {
    const own = levels(attemptOf([]))
    for (const { id, worth, negative } of STAGE_CRITERIA)
      if (worth === 'sound' && !negative && id !== 'research-retries') expect([id, own[id]]).toEqual([id, 0])
    expect(own['answer-right']).toBe(0)
  })

  it('are of use where they are sound, and stages can disagree with the answer', () => {
    const attempts = Array.from({ length: 1500 }, (_, i) => {
      const rng = new Rng(`population ${i}`)
      const asked = recordsQuestion(`world ${i}`, i)
      const habits = drawResearchHabits(rng)
      return attemptOf(demonstrateResearch(asked, [], habits, { calls: 6, scaffold: true }, rng), asked)
    })
    const [right] = PERSISTENT_CRITERIA
    const isRight = attempts.map(attempt => right.level(attempt) === 2)
    expect(mean(isRight.map(Number))).toBeGreaterThan(0.2)
    expect(mean(isRight.map(Number))).toBeLessThan(0.6)
    const gap = (level: (attempt: Attempt) => number) => {
      const of = (wanted: boolean) => mean(attempts.filter((_, i) => isRight[i] === wanted).map(level))
      return of(true) - of(false)
    }
    for (const { id, level, negative, worth } of STAGE_CRITERIA) {
      const own = negative ? -gap(level) : gap(level)
      if (worth === 'sound' && /settles|retries|plan-whole|guesses/.test(id))
        expect([id, own > 0.1]).toEqual([id, true])
    }
    // A right answer without a true review, and a true review without a right answer.
    const review = STAGE_CRITERIA.find(({ id }) => id === 'review-true')!
    expect(attempts.some((attempt, i) => isRight[i] && review.level(attempt) < 2)).toBe(true)
    expect(attempts.some((attempt, i) => !isRight[i] && review.level(attempt) === 2)).toBe(true)
  })
})
