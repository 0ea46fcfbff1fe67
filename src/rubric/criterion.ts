/** @file What a rubric is: criteria worth points, and verdicts about them. */

import { z } from 'zod'
import { DataError } from '../util/errors.ts'
import { parseWith } from '../util/schema.ts'
import { boundedNumber, levelSchema, levelsOf, MOST_TREE_LEVELS, type ScoreLevel } from './levels.ts'
import { leavesOf, type RubricTree, treeSchema } from './tree.ts'

/** Worth of a criterion: above zero rewards, below zero penalises. Never zero. */
export type Points = number

/** One thing to look for in a response. */
export interface Criterion {
  id: string
  /** Short name for people, where the author gave one. */
  title?: string
  /** The statement that is judged; for a penalty it states the flaw. */
  text: string
  points: Points
  category?: string
  tags?: string[]
  /** Stage of a staged trajectory: plan, research, review, answer (RubricEM). */
  stage?: 1 | 2 | 3 | 4
  /** Given with the task, proposed while training, or written by the policy itself. */
  origin?: 'persistent' | 'adaptive' | 'self'
  /** Failing it is fatal: the rule `veto` zeroes the whole score. */
  critical?: boolean
  /** What the scores of a graded criterion look like, ascending; a criterion without them is met or not. */
  levels?: ScoreLevel[]
  /** Checked without a judge. */
  verifier?: Verifier
  /** What the file it was read from says beyond this. */
  extra?: Record<string, unknown>
}

/** What checks a criterion instead of a judge: a named rule predicate, or a formal check by a solver. */
export interface Verifier {
  kind: 'rule' | 'formal'
  fn: string
  params?: Record<string, unknown>
}

export interface Rubric {
  id?: string
  title?: string
  /** What is judged by it: a whole response where absent, or only the thinking before the answer. */
  about?: 'thinking'
  criteria: Criterion[]
  /** How criteria roll up, where the rubric is a tree; its leaves are the criteria, by id. */
  tree?: RubricTree
}

/** What a grader found for one criterion. A grader that failed says null: a failure is not a zero. */
export interface Verdict {
  criterionId: string
  met: boolean | null
  /** Graded credit in [0, 1]; where present it is used instead of `met`. */
  credit?: number
  /** Three-step level of staged judges (RubricEM). */
  level?: 0 | 1 | 2
  explanation?: string
  source: 'rule' | 'formal' | 'model' | 'llm'
  attempts?: number
  raw?: string
  /** The call that it came from; verdicts of one call share it. Only of judges that are asked to tell (`tellsCalls`). */
  call?: JudgeCall
}

/** A verdict as it is scored: who gave it need not be said. */
export type ScoredVerdict = Omit<Verdict, 'source'> & Partial<Verdict>

/** What a call to a judge brought and took. What a server does not say is absent, never 0. */
export interface JudgeCall {
  /** The model that answered, as its server calls it; else as the configuration does. */
  judge: string
  /** Its last answer as it came, a long one without its middle; absent where there was none. */
  raw?: string
  /** Of all attempts that were answered. `cachedTokens`: of the prompts, from the server's prefix cache. */
  promptTokens?: number
  completionTokens?: number
  cachedTokens?: number
  /** In the currency of the configured prices. */
  cost?: number
  /** Where more than one was needed. */
  attempts?: number
  /** Nothing was asked now: it was remembered, or another response waited for the same answer. The rest is of that call. */
  reused?: 'cache' | 'shared'
}

const verifierSchema = z.strictObject({
  kind: z.enum(['rule', 'formal']),
  fn: z.string().min(1),
  params: z.record(z.string(), z.unknown()).optional(),
})

/** Points of a criterion in a file: any number up to 1e100 either way but zero. */
export const pointsSchema = boundedNumber.refine(
  points => points !== 0,
  'a non-zero number; a criterion that is worth nothing cannot be scored',
)

/** Shape of a criterion in a file. */
export const criterionSchema = z.strictObject({
  id: z.string().min(1),
  title: z.string().optional(),
  text: z.string().min(1),
  points: pointsSchema,
  category: z.string().optional(),
  tags: z.array(z.string()).optional(),
  stage: z.literal([1, 2, 3, 4]).optional(),
  origin: z.enum(['persistent', 'adaptive', 'self']).optional(),
  critical: z.boolean().optional(),
  levels: z.array(levelSchema).min(2).max(1000).optional(),
  verifier: verifierSchema.optional(),
  extra: z.record(z.string(), z.unknown()).optional(),
})

/** Shape of a rubric in a file. */
export const rubricSchema = z.strictObject({
  id: z.string().optional(),
  title: z.string().optional(),
  about: z.literal('thinking').optional(),
  criteria: z.array(criterionSchema),
  tree: treeSchema.optional(),
})

/**
 * Checks an outside value (from YAML or JSON) and returns it as a rubric. An empty rubric is allowed: some methods
 * propose none.
 * @param source named in errors, for example the file
 * @throws DataError listing every problem, also ids that occur twice and a tree whose leaves are not the criteria.
 * @example
 * parseRubric({ criteria: [{ id: 'cites', text: 'Names a source.', points: 2 }] }).criteria[0].points // 2
 */
export const parseRubric = (value: unknown, source = 'rubric'): Rubric => {
  checkDepth(value, source)
  const rubric = parseWith(rubricSchema, value, source, DataError)
  checkIds(rubric, source)
  if (rubric.tree) checkTree(rubric, rubric.tree, source)
  return rubric
}

/** Before anything goes through the tree by recursion. */
const checkDepth = (value: unknown, source: string): void => {
  const tree = (value as { tree?: unknown } | null | undefined)?.tree
  if (tree === undefined || levelsOf(tree, MOST_TREE_LEVELS) <= MOST_TREE_LEVELS) return
  throw new DataError(
    `${source}: tree: expected at most ${MOST_TREE_LEVELS} levels, got more; make it flatter`,
  )
}

const checkIds = ({ criteria }: Rubric, source: string): void => {
  const seen = new Map<string, number>()
  for (const [index, { id }] of criteria.entries()) {
    const first = seen.get(id)
    if (first !== undefined)
      throw new DataError(
        `${source}: criteria[${index}].id: expected an id of its own, got ${JSON.stringify(id)} as in criteria[${first}]; rename one, verdicts are matched by id`,
      )
    seen.set(id, index)
  }
}

const checkTree = ({ criteria }: Rubric, tree: RubricTree, source: string): void => {
  const leaves = leavesOf(tree)
  const named = new Set(leaves.map(({ id }) => id))
  const known = new Set(criteria.map(({ id }) => id))
  const stranger = leaves.find(({ id, share }) => share > 0 && !known.has(id))
  const missing = criteria.find(({ id }) => !named.has(id))
  const problem = stranger
    ? `leaf ${JSON.stringify(stranger.id)} is no criterion`
    : missing
      ? `criterion ${JSON.stringify(missing.id)} is no leaf`
      : named.size < leaves.length
        ? 'two leaves share an id'
        : null
  if (problem !== null)
    throw new DataError(
      `${source}: tree: expected one leaf for each criterion, by id, but ${problem}; make ids of leaves and criteria match`,
    )
}

/**
 * Sum of the positive points: the best attainable score.
 * @example
 * maxPoints({ criteria: [{ id: 'a', text: 'A.', points: 3 }, { id: 'b', text: 'B.', points: -1 }] }) // 3
 */
export const maxPoints = (rubric: Rubric): number =>
  rubric.criteria.reduce((sum, { points }) => sum + Math.max(points, 0), 0)

/** Sum of the negative points: the worst attainable score. */
export const minPoints = (rubric: Rubric): number =>
  rubric.criteria.reduce((sum, { points }) => sum + Math.min(points, 0), 0)
