/** @file Reads what a rubricator wrote: criteria as far as there are any, and whether it kept to the format. Any text is data. */

import type { Criterion } from '../../rubric/criterion.ts'
import { type Fields, isObject } from '../../rubric/formats/item.ts'
import { type Parsed, parseAnswer } from '../judge/parse.ts'
import {
  DEFAULT_PROPOSAL,
  formatProblems,
  onlyObject,
  type ProposalSettings,
  plainCategory,
} from './format.ts'

/** A rubric as a policy proposed it. */
export interface Proposal {
  /** Criteria that can be used, c1, c2, ...: those with a statement and points, at most `MOST_CRITERIA` of them. */
  criteria: Criterion[]
  /** Criteria that were written, usable or not. */
  K: number
  /** Whether the text is a rubric in the strict format (`formatProblems`). */
  wellFormed: boolean
  /** What keeps it from being one. */
  problems: string[]
}

/** Longer texts are not read, and of longer rubrics no further criteria: what a hostile text may cost. */
const LONGEST_TEXT = 100_000
/** Repairing broken JSON takes time that grows faster than its length. */
const LONGEST_REPAIRED = 16_000
export const MOST_CRITERIA = 64
const LONGEST_CRITERION = 2000
const MOST_POINTS = 1e6

const nothing = (problem: string): Proposal => ({
  criteria: [],
  K: 0,
  wellFormed: false,
  problems: [problem],
})

/**
 * Reads a rubric leniently (fences, text around it, doubled braces, comments, missing commas), and says whether it is one in the
 * strict format. Never throws.
 */
export const readProposal = (text: string, settings: ProposalSettings = DEFAULT_PROPOSAL): Proposal => {
  if (text.length > LONGEST_TEXT)
    return nothing(`expected at most ${LONGEST_TEXT} characters, got ${text.length}`)
  const problems = formatProblems(text, settings)
  const object = onlyObject(text)
  const read = object ? entriesOf(object) : parseAnswer(text.slice(-LONGEST_REPAIRED), entriesOf)
  if (read.problem !== undefined) return nothing(read.problem)
  const categories = new Map(settings.categories.map(name => [plainCategory(name), name]))
  const criteria = read.value
    .slice(0, MOST_CRITERIA)
    .flatMap((entry, i) => criterionOf(entry, `c${i + 1}`, categories))
  return { criteria, K: read.value.length, wellFormed: problems.length === 0, problems }
}

const looksLikeCriterion = (entry: unknown): boolean =>
  isObject(entry) && typeof statementOf(entry) === 'string' && 'points' in entry

/** The list of criteria in the JSON of an answer: under `rubrics`, another name, or by itself. */
const entriesOf = (json: unknown): Parsed<unknown[]> => {
  const { rubrics, criteria, rubric } = isObject(json) ? json : ({} as Fields)
  const named = [rubrics, criteria, rubric].find(list => Array.isArray(list)) as unknown[] | undefined
  if (named !== undefined) return { value: named }
  if (Array.isArray(json) && json.some(looksLikeCriterion)) return { value: json }
  return { problem: 'expected an object with a list `rubrics`' }
}

const statementOf = ({ criterion, text }: Fields): unknown => criterion ?? text

const POINTS = /^[+-]?\d{1,6}(?:\.\d{1,6})?$/

/** Points as a number, or as a text that is one. */
const pointsOf = (points: unknown): number => {
  if (typeof points === 'number') return points
  return typeof points === 'string' && POINTS.test(points.trim()) ? Number(points) : Number.NaN
}

/** None for an entry without a statement or without points that count. */
const criterionOf = (entry: unknown, id: string, categories: ReadonlyMap<string, string>): Criterion[] => {
  if (!isObject(entry)) return []
  const statement = statementOf(entry)
  const points = pointsOf(entry.points)
  const text = typeof statement === 'string' ? statement.trim() : ''
  const usable = text !== '' && text.length <= LONGEST_CRITERION
  if (!usable || !(Math.abs(points) <= MOST_POINTS) || points === 0) return []
  const { category } = entry
  const known = typeof category === 'string' ? categories.get(plainCategory(category)) : undefined
  return [{ id, text, points, ...(known !== undefined && { category: known }), origin: 'self' }]
}
