/** @file Evaluation of rubric-as-reward: in full at the start and the end, briefly between. */

import { readEvals } from '../../runs/readers.ts'
import type { EvalRow } from '../../runs/rows.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { hopsTitle, type LogicTestSetName, logicTestSet } from '../../tasks/logic/testsets.ts'
import { testProblems } from '../common/test-problems.ts'
import { samplingOf } from '../common/training.ts'
import { evaluateSets, type LogicEvaluationParts, type TestSet } from '../logic/evaluate.ts'
import { withTax } from '../logic/tax.ts'
import { type RubricAsRewardConfig, trainingSteps } from './config.ts'
import { goalOf } from './lengths.ts'
import { testProblemsOf } from './mixture.ts'
import { kindsOf } from './problems.ts'
import { type OpenSource, sourcesTitle } from './sources.ts'

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
