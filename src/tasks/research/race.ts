/**
 * @file RACE, the score of DeepResearch Bench: an article beside a reference article, judged criterion by criterion in one call
 * (deepresearch_bench_race.py and utils/score_calculator.py of Ayanami0730/deep_research_bench; the judge's words are ours).
 */

import { z } from 'zod'
import { entriesTemplate, judgeFormOf, listScale, questionParts } from '../../grade/judge/templates/lists.ts'
import { wrong } from '../../grade/judge/templates/scale.ts'
import type { Criterion, Rubric, Verdict } from '../../rubric/criterion.ts'
import { creditOf } from '../../rubric/score.ts'
import { DataError } from '../../util/errors.ts'
import { readJsonl } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'

/** Scores of a criterion, from 0 to 10. */
export const RACE_LEVELS = ['very poor', 'poor', 'average', 'good', 'very good to outstanding'].map(
  (text, i) => ({ low: 2 * i, high: 2 * i + 2, text }),
)

const OF_REFERENCE = ' (reference)'

export const isOfReference = ({ id }: Pick<Criterion, 'id'>): boolean => id.endsWith(OF_REFERENCE)

/** Every criterion twice: of the answer, and of the reference article. */
export const ofBothArticles = (criteria: readonly Criterion[]): Criterion[] =>
  criteria.flatMap(own => [
    own,
    { ...own, id: `${own.id}${OF_REFERENCE}`, category: `${own.category}${OF_REFERENCE}` },
  ])

const template = entriesTemplate({
  name: 'race/articles',
  version: 1,
  scale: listScale({
    ...{ name: 'zero-to-ten', key: 'score', valueText: 'a number from 0 to 10' },
    valueSchema: { type: 'number', minimum: 0, maximum: 10 },
    read: value =>
      typeof value === 'number' && value >= 0 && value <= 10
        ? { value: { met: value > 5, credit: value / 10 } }
        : wrong('score', 'a number from 0 to 10', value),
  }),
  instructions: [
    'You compare two research articles that were written for the same task. You are given the task, both articles, and a numbered list of criteria, which has each criterion once for either article. Score how well the article that an entry names does by its criterion.',
    'Rules:',
    ...[
      'Before you score a criterion, see what each article does for it, and compare the two. How far the scores are apart says how far the articles are.',
      `Scores go from 0 to 10; those between are allowed: ${RACE_LEVELS.map(({ low, high, text }) => `${low} to ${high} ${text}`).join(', ')}.`,
      'Be strict, and score every criterion by itself. The number of an article says nothing about it, and neither does what it says of itself.',
      'Keep the order and the numbers of the list. Give exactly one entry for each; leave none out and add none.',
    ].map(rule => `- ${rule}`),
  ],
  decides: 'what decides it in this article, compared with the other, briefly',
  answerName: count => `race_scores_${count}`,
  list: (criteria, quote) => [
    `The criteria, ${criteria.length} entries in all:`,
    ...criteria.map((own, i) => {
      const text = own.text === criteria[i - 1]?.text ? 'The same criterion.' : quote(own.text, 'criterion')
      return `${i + 1}. (article ${isOfReference(own) ? 2 : 1})\n${text}`
    }),
  ],
  shown: own => [own.text, isOfReference(own)],
})

/** A judge of an answer beside a reference article: `articlesText` is the response. As there, the answer is article 1. */
export const RACE_JUDGE = judgeFormOf(template, (item, options, quote) =>
  [
    'The task:',
    ...questionParts(item, options, quote),
    ...(JSON.parse(item.response) as string[]).flatMap((text, i) => [
      `Article ${i + 1}:`,
      quote(text, 'article'),
    ]),
  ].join('\n'),
)

export const articlesText = (answer: string, reference: string): string => JSON.stringify([answer, reference])

/**
 * The answer's points over those of both articles, so that 0.5 is as good as the reference: points are the weights of dimensions times
 * those of criteria. 0 where neither has any, as there; null where a verdict is missing.
 * @param rubric of `ofBothArticles`
 */
export const raceScore = ({ criteria }: Rubric, verdicts: readonly Verdict[]): number | null => {
  const credits = new Map(verdicts.map(own => [own.criterionId, creditOf(own)]))
  let [answer, both] = [0, 0]
  for (const own of criteria) {
    const credit = credits.get(own.id) ?? null
    if (credit === null) return null
    both += own.points * credit
    if (!isOfReference(own)) answer += own.points * credit
  }
  return both === 0 ? 0 : answer / both
}

/** The article to a prompt. @throws DataError where there is none */
export type ReferenceArticles = (prompt: string, place: string) => string

const articleSchema = z.object({ prompt: z.string(), article: z.string().min(1) })

/**
 * Reads reference articles: rows `{prompt, article}`, as the benchmark's `reference.jsonl` has them; prompts name them.
 * @param file undefined: there are none
 * @throws DataError naming file and line of what cannot be used
 */
export const readReferenceArticles = (file?: string): ReferenceArticles | undefined => {
  if (file === undefined) return undefined
  const rows = readJsonl(file, row => parseWith(articleSchema, row, '', DataError))
  const articles = new Map(rows.map(({ prompt, article }) => [prompt, article]))
  return (prompt, place) => {
    const article = articles.get(prompt)
    if (article !== undefined) return article
    throw new DataError(
      `${place}: expected an article to its prompt in ${file}, got none among ${articles.size}`,
      { hint: 'take the question out, or add its article: a mean over other questions is another score' },
    )
  }
}
