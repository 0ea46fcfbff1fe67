/** @file Evaluation of rubric-as-reward: in full at the start and the end, briefly between. */

import { optimisationTax } from '../../eval/tax.ts'
import { readEvals } from '../../runs/readers.ts'
import type { CriterionChange, EvalItem, EvalRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { hopsTitle, type LogicTestSetName, logicTestSet } from '../../tasks/logic/testsets.ts'
import { testProblems } from '../common/evaluation-config.ts'
import { samplingOf } from '../common/training.ts'
import { evaluateSets, type LogicEvaluationParts, type TestSet } from '../logic/evaluate.ts'
import { type RubricAsRewardConfig, trainingSteps } from './config.ts'
import { goalOf } from './lengths.ts'
import { kindsOf, type OpenSource, sourcesTitle, testProblemsOf } from './sources.ts'

/** Judged by proof in evaluation alone; training sees proxies for them at most. */
const UNSEEN: ReadonlySet<string> = new Set(['C4', 'C5'])

const scoresOf = (items: readonly EvalItem[] | undefined, id: string): Map<string, number> =>
  new Map(
    items?.flatMap(item => {
      const score = item.criteria?.[id]
      return typeof score === 'number' ? [[item.id, score] as const] : []
    }),
  )

/**
 * Change of each criterion from one evaluation to a later one on the same set, over the problems that have
 * a score in both, with 95% intervals from a bootstrap over problems. Null when they share no scores.
 */
export const taxBetween = (before: EvalRow, after: EvalRow): Record<string, CriterionChange> | null => {
  const changes = Object.keys(after.criteria ?? {}).flatMap(id => {
    const [start, end] = [scoresOf(before.items, id), scoresOf(after.items, id)]
    const pairs = [...end].flatMap(([item, score]) => (start.has(item) ? [[start.get(item)!, score]] : []))
    if (pairs.length < 2) return []
    const table = (column: 0 | 1) => ({ [id]: [pairs.map(pair => pair[column])] })
    const [tax] = optimisationTax(table(0), table(1), { resamples: 2000, seed: 'tax' })
    const change: CriterionChange = {
      n: pairs.length,
      before: tax.before,
      after: tax.after,
      change: tax.estimate,
      interval: [tax.low, tax.high],
      ...(UNSEEN.has(id) && { unseen: true }),
    }
    return [[id, change] as const]
  })
  return changes.length > 0 ? Object.fromEntries(changes) : null
}

/** The rows with `tax` against the run's own evaluation of step 0 on the same set, where there is one. */
export const withTax = (rows: readonly EvalRow[], earlier: readonly EvalRow[]): EvalRow[] =>
  rows.map(row => {
    const start = earlier.find(({ step, set }) => step === 0 && set === row.set)
    const tax = start && row.step > 0 ? taxBetween(start, row) : null
    return tax ? { ...row, tax } : row
  })

/** The test set that the headline is about: that of the sources, else the first named one. */
export const primarySet = ({ evaluation: { sources, sets } }: Pick<RubricAsRewardConfig, 'evaluation'>) =>
  sources === undefined ? sets.at(0) : sourcesTitle(sources)

/** The first so many problems of a test set. @throws DataError for a file that cannot be used */
export const problemSet = (
  { evaluation, task }: RubricAsRewardConfig,
  set: LogicTestSetName,
  count: number,
): LogicTaskExample[] => {
  const realPath = evaluation.realFile ?? undefined
  const { labels, kinds } = task
  return logicTestSet(set, { count, hops: goalOf(task.hops), labels, kinds, realPath })
}

/** Problems of each test set of one length, unless said otherwise. */
const HOP_PROBLEMS = 200

/** The test sets of single lengths, all from the same kinds. @param only these lengths of them */
export const hopSets = (
  { evaluation, task }: RubricAsRewardConfig,
  count = evaluation.hopProblems ?? HOP_PROBLEMS,
  only?: readonly number[],
): TestSet[] => {
  const { hops = [] } = evaluation
  const name = task.style === 'real' ? 'train-distribution-shuffled' : task.style
  const kinds = Math.max(kindsOf(task), ...hops.map(each => kindsOf({ ...task, hops: each })))
  return hops
    .filter(each => only?.includes(each) ?? true)
    .map(each => ({
      title: hopsTitle(each),
      problems: () => logicTestSet(name, { count, hops: each, labels: task.labels, kinds }),
    }))
}

const textLength = ({ context, conclusion }: LogicTaskExample): number => context.length + conclusion.length

/** The longest rows of some sources. */
export const longestRows = (sources: readonly OpenSource[], count: number): LogicTaskExample[] =>
  sources.flatMap(({ rows }) =>
    [...(rows ?? [])].sort((a, b) => textLength(b) - textLength(a)).slice(0, count),
  )

/** Most tokens of an answer in evaluations. */
export const evaluationTokens = ({ evaluation: { maxTokens }, rollout }: RubricAsRewardConfig): number =>
  maxTokens ?? rollout.maxTokens

/**
 * Points between start and end are on fewer problems of the first set, without greedy decoding; the end says what each
 * criterion gained or lost since the run's own start.
 * @param dir folder of the run
 * @param sources those of `evaluation.sources`
 */
export const rubricAsRewardEvaluation =
  (
    config: RubricAsRewardConfig,
    parts: LogicEvaluationParts,
    dir: string,
    sources: readonly OpenSource[] | null = null,
  ) =>
  async (step: number, last: boolean): Promise<EvalRow[]> => {
    const { evaluation: settings } = config
    const between = step > 0 && !last
    const count = testProblems({ steps: trainingSteps(config), evaluation: settings }, step, last)
    const sets: TestSet[] = [
      ...(sources === null
        ? []
        : [{ title: primarySet(config)!, problems: () => testProblemsOf(sources, count) }]),
      ...settings.sets.map(set => ({ title: set, problems: () => problemSet(config, set, count) })),
    ]
    const maxTokens = evaluationTokens(config)
    const lengths = between ? hopSets(config, count, settings.hopsBetween ?? []) : hopSets(config)
    const rows = await evaluateSets(parts, step, [...(between ? sets.slice(0, 1) : sets), ...lengths], {
      samples: settings.samples,
      greedy: settings.greedy && !between,
      sampling: { ...samplingOf(config, parts.task.stopTokens), maxTokens, seed: 'evaluation' },
    })
    return last ? withTax(rows, readEvals(dir)) : rows
  }
