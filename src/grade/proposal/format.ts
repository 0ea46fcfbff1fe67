/** @file The format that a proposed rubric is paid for: one JSON object, its keys, its bounds, its sums (RLCER). */

import { z } from 'zod'
import { type Fields, isObject } from '../../rubric/formats/item.ts'

/** The closed list (RLCER Fig. 9). */
export const PROPOSAL_CATEGORIES = [
  'problem decomposition and planning',
  'backtracking, self-validation and error handling',
  'reasoning clarity and flow',
  'reasoning focus and efficiency',
  'other question-specific aspects',
] as const

/** Longest name that is looked at. */
const LONGEST_NAME = 200

/**
 * A category's name as names are compared: case, punctuation, `effectiveness of` before it, and whether a comma, a slash, `&` or
 * `and` stands between its parts say nothing: the paper spells one of them otherwise in its prompt (Fig. 9) and its sample (Fig. 11).
 */
export const plainCategory = (name: string): string =>
  name
    .slice(0, LONGEST_NAME)
    .toLowerCase()
    .replace(/[^a-z]+/g, ' ')
    .trim()
    .replace(/^effectiveness of /, '')
    .replace(/ and(?= )/g, '')

export const proposalSettingsSchema = z.strictObject({
  minCriteria: z.int().min(1).default(5).describe('Fewest criteria of a rubric.'),
  maxCriteria: z.int().min(1).max(64).default(15).describe('Most criteria of a rubric.'),
  maxPoints: z
    .int()
    .min(1)
    .default(5)
    .describe('Most points of a criterion. Points are whole numbers other than 0, up to this in size.'),
  requireCurrentScore: z
    .boolean()
    .default(true)
    .describe('Require `current_score`; the sample output of the paper lacks it.'),
  requireDomain: z
    .boolean()
    .default(false)
    .describe('Require `question_domain`, as the prompt of the paper does.'),
  categories: z
    .array(z.string().min(1))
    .min(1)
    .default([...PROPOSAL_CATEGORIES])
    .describe('Categories that a criterion may have.'),
})
export type ProposalSettings = z.output<typeof proposalSettingsSchema>

export const DEFAULT_PROPOSAL: ProposalSettings = proposalSettingsSchema.parse({})

const FENCE = '```'
const OPENING = /^```json[ \t]*\r?\n/

/** What stands in a fence ```json that is the whole text; the text itself where there is none. */
const unfenced = (text: string): string => {
  const opening = OPENING.exec(text)?.[0]
  return opening !== undefined && text.endsWith(FENCE) && text.length >= opening.length + FENCE.length
    ? text.slice(opening.length, -FENCE.length)
    : text
}

const NOT_ONE_OBJECT = 'expected one JSON object, in a fence ```json or none, and nothing else'

/** The object of a text that is nothing else; null for any other. */
export const onlyObject = (text: string): Fields | null => {
  try {
    const value: unknown = JSON.parse(unfenced(text.trim()))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Faults that are reported; more say nothing new. */
const MOST_PROBLEMS = 20

/**
 * What keeps a text from being a well-formed rubric, a sentence each; none where it is one. Keys beside those asked for are no
 * fault.
 */
export const formatProblems = (text: string, settings: ProposalSettings = DEFAULT_PROPOSAL): string[] => {
  const object = onlyObject(text)
  if (object === null) return [NOT_ONE_OBJECT]
  const { rubrics } = object
  if (!Array.isArray(rubrics)) return ['rubrics: expected a list of criteria']
  return [
    ...domainProblems(object, settings),
    ...countProblems(rubrics, settings),
    ...rubrics.flatMap((entry, i) => entryProblems(entry, i, settings)),
    ...scoreProblems(object, rubrics, settings),
  ].slice(0, MOST_PROBLEMS)
}

const domainProblems = ({ question_domain: domain }: Fields, { requireDomain }: ProposalSettings) =>
  requireDomain && !(typeof domain === 'string' && domain.trim() !== '')
    ? ['question_domain: expected the domain of the question as text']
    : []

const countProblems = ({ length }: readonly unknown[], { minCriteria, maxCriteria }: ProposalSettings) =>
  length < minCriteria || length > maxCriteria
    ? [`rubrics: expected ${minCriteria} to ${maxCriteria} criteria, got ${length}`]
    : []

const isWorth = (points: unknown, maxPoints: number): points is number =>
  Number.isInteger(points) && points !== 0 && Math.abs(points as number) <= maxPoints

const entryProblems = (entry: unknown, i: number, settings: ProposalSettings): string[] => {
  const { maxPoints, categories } = settings
  if (!isObject(entry)) return [`rubrics[${i}]: expected {category, criterion, points}`]
  const { category, criterion, points } = entry
  const known =
    typeof category === 'string' && categories.map(plainCategory).includes(plainCategory(category))
  return [
    ...(known ? [] : [`rubrics[${i}].category: expected one of the list`]),
    ...(typeof criterion === 'string' && criterion.trim() !== ''
      ? []
      : [`rubrics[${i}].criterion: expected a statement`]),
    ...(isWorth(points, maxPoints)
      ? []
      : [`rubrics[${i}].points: expected a whole number of 1..${maxPoints} or -${maxPoints}..-1`]),
  ]
}

/** Sums as written must be the sums, and the response at hand must lie strictly below their middle. */
const scoreProblems = (object: Fields, rubrics: readonly unknown[], settings: ProposalSettings): string[] => {
  const points = rubrics.map(entry => (isObject(entry) ? entry.points : undefined))
  if (!points.every((own): own is number => isWorth(own, settings.maxPoints))) return []
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const highest = sum(points.filter(own => own > 0))
  const lowest = sum(points.filter(own => own < 0))
  const { maximum_score: maximum, minimum_score: minimum, current_score: current } = object
  return [
    ...(maximum === highest ? [] : [`maximum_score: expected ${highest}, the sum of the points above zero`]),
    ...(minimum === lowest ? [] : [`minimum_score: expected ${lowest}, the sum of the points below zero`]),
    ...currentProblems(current, (highest + lowest) / 2, settings),
  ]
}

const currentProblems = (
  current: unknown,
  middle: number,
  { requireCurrentScore }: ProposalSettings,
): string[] => {
  if (current === undefined)
    return requireCurrentScore ? ['current_score: expected the score of the response at hand'] : []
  return typeof current === 'number' && current < middle
    ? []
    : [`current_score: expected a number below ${middle}, the middle of the scores`]
}
