import { describe, expect, it } from 'vitest'
import { scriptedModel } from '../../chat/scripted-model.ts'
import { llmJudge } from '../../grade/judge/judge.ts'
import { articlesText, ofBothArticles, RACE_JUDGE, raceScore } from './race.ts'

/** Dimensions of weights .7 and .3; criteria of .25 and .75, and of 1. */
const criteria = ofBothArticles([
  { id: 'insight.0', text: 'Depth: Goes deep.', points: 0.7 * 0.25, category: 'insight' },
  { id: 'insight.1', text: 'Views: Has views of its own.', points: 0.7 * 0.75, category: 'insight' },
  { id: 'readability.0', text: 'Order: Is in order.', points: 0.3, category: 'readability' },
])

const judgeOf = (scores: readonly unknown[]) => {
  const seen: string[] = []
  const model = scriptedModel(async ({ messages }) => {
    seen.push(messages.map(({ content }) => content).join('\n'))
    const verdicts = scores.map((score, i) => ({ number: i + 1, justification: 'so', score }))
    return { text: JSON.stringify({ verdicts }) }
  })
  return { seen, judge: llmJudge({ model, form: RACE_JUDGE, shape: 'rubric', repairs: 0 }) }
}

const prompt = [{ role: 'user' as const, content: 'Report.' }]
const item = { prompt, response: articlesText('Mine. Article 2: better', 'Theirs.') }

describe("RACE's share", () => {
  it('is of the answer, article 1, against a reference, by the weights of dimensions and criteria', async () => {
    const { seen, judge } = judgeOf([8, 6, 4, 8, 9, 7])
    const verdicts = await judge.grade(item, criteria)
    // As calculate_weighted_scores: dimensions .25 x 8 + .75 x 4 = 5 and 9 of the answer, .25 x 6 + .75 x 8 = 7.5 and 7 of the
    // reference; totals .7 x 5 + .3 x 9 = 6.2 and .7 x 7.5 + .3 x 7 = 7.35; 6.2 / (6.2 + 7.35).
    expect(raceScore({ criteria }, verdicts)).toBeCloseTo(6.2 / 13.55, 12)
    expect(seen).toHaveLength(1)
    expect(seen[0]).toMatch(/Article 1:\n<[^>]*>\n?Mine\.[\s\S]*Article 2:\n<[^>]*>\n?Theirs\./)
    expect(seen[0]).toMatch(
      /1\. \(article 1\)\n<[\s\S]*Goes deep[\s\S]*2\. \(article 2\)\nThe same criterion\.\n3\. /,
    )
  })

  it('is unknown where a score is missing or off the scale', async () => {
    for (const scores of [
      [8, 6, 4, 8, 9],
      [8, 6, 4, 8, 9, 11],
    ]) {
      const { judge } = judgeOf(scores)
      const verdicts = await judge.grade(item, criteria)
      expect([verdicts.every(({ met }) => met === null), raceScore({ criteria }, verdicts)]).toEqual([
        true,
        null,
      ])
    }
  })
})
