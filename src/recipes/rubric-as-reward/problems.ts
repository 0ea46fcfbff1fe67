/** @file The problems that rubric-as-reward trains on: generated, or the rows of a file. */

import { shapeOf } from '../../tasks/logic/demonstrations.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import {
  type LogicGeneratorOptions,
  logicGenerator,
  settleLogicOptions,
} from '../../tasks/logic/generator.ts'
import { loadLogicRows } from '../../tasks/logic/loaders.ts'
import { ConfigError } from '../../util/errors.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { goalOf, isSchedule, mostHops } from './lengths.ts'
import { inPasses, mixedStream, type OpenSource, openSources } from './sources.ts'

/** Problem i of the training stream; of a schedule's, the one of so many hops. */
export type ProblemSource = (index: number, hops?: number) => LogicTaskExample

/**
 * Files are shuffled anew every pass; where lengths follow a schedule and none is given, problems are the longest.
 * @param sources those of `task.sources`; read here where they are not given
 */
export const problemSource = (
  { task, seed }: Pick<RubricAsRewardConfig, 'task' | 'seed'>,
  sources = trainingSources({ task }),
): ProblemSource => {
  if (sources !== null) return mixedStream(sources, seed)
  if (task.file === null) return generated(task, seed)
  const rows = loadLogicRows(task.file, task.format)
  if (rows.length === 0) throw new ConfigError(`task.file: ${task.file} holds no usable problems`)
  return inPasses(rows, seed)
}

/** What generated problems of a source have where it does not say: the task's own settings. */
const defaultsOf = ({
  hops,
  style,
  labels,
  ...shape
}: RubricAsRewardConfig['task']): LogicGeneratorOptions => ({
  ...shapeOf(shape),
  ...{ hops: goalOf(hops), style, labels },
})

/** The sources of `task.sources`, opened; null without. @throws ConfigError, DataError as `openSources` */
export const trainingSources = (
  { task }: Pick<RubricAsRewardConfig, 'task'>,
  mayComeLater = false,
): OpenSource[] | null =>
  task.sources === undefined
    ? null
    : openSources(task.sources, 'task.sources', defaultsOf(task), mayComeLater)

/** Those of `evaluation.sources`. @throws ConfigError, DataError as `openSources` */
export const testSources = (
  { task, evaluation }: Pick<RubricAsRewardConfig, 'task' | 'evaluation'>,
  mayComeLater = false,
): OpenSource[] | null =>
  evaluation.sources === undefined
    ? null
    : openSources(evaluation.sources, 'evaluation.sources', defaultsOf(task), mayComeLater)

/** Kinds that problems draw from: of a schedule, all lengths from those that the longest takes. */
export const kindsOf = ({
  hops,
  kinds,
  style,
}: Pick<RubricAsRewardConfig['task'], 'hops' | 'kinds' | 'style'>): number =>
  kinds ?? settleLogicOptions({ hops: goalOf(hops), style }).kinds

const generated = (
  { hops, style, labels, ...shape }: RubricAsRewardConfig['task'],
  seed: number | string,
): ProblemSource => {
  const kinds = kindsOf({ hops, kinds: shape.kinds, style })
  const generatorFor = (count: number | Record<string, number>) =>
    logicGenerator({ ...shapeOf(shape), hops: count, style, labels, kinds }, `train:${seed}`)
  if (!isSchedule(hops)) return generatorFor(hops)
  const longest = mostHops(hops)
  const byHops = new Map<number, (index: number) => LogicTaskExample>()
  return (index, count = longest) => {
    const known = byHops.get(count) ?? generatorFor(count)
    byHops.set(count, known)
    return known(index)
  }
}
