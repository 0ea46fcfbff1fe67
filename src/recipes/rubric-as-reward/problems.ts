/** @file The problems that rubric-as-reward trains on: generated, or the rows of a file. */

import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { logicGenerator, settleLogicOptions } from '../../tasks/logic/generator.ts'
import { loadLogicRows } from '../../tasks/logic/loaders.ts'
import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { RubricAsRewardConfig } from './config.ts'
import { goalOf, isSchedule, mostHops } from './lengths.ts'

/** Problem i of the training stream; of a schedule's, the one of so many hops. */
export type ProblemSource = (index: number, hops?: number) => LogicTaskExample

/** Files are shuffled anew every pass; where lengths follow a schedule and none is given, problems are the longest. */
export const problemSource = ({ task, seed }: Pick<RubricAsRewardConfig, 'task' | 'seed'>): ProblemSource => {
  if (task.file === null) return generated(task, seed)
  const rows = loadLogicRows(task.file, task.format)
  if (rows.length === 0) throw new ConfigError(`task.file: ${task.file} holds no usable problems`)
  return index => {
    const pass = Math.floor(index / rows.length)
    return new Rng(seed).fork(`pass ${pass}`).shuffle(rows)[index % rows.length]
  }
}

/** Kinds that problems draw from: of a schedule, all lengths from those that the longest takes. */
export const kindsOf = ({ hops, kinds }: Pick<RubricAsRewardConfig['task'], 'hops' | 'kinds'>): number =>
  kinds ?? settleLogicOptions({ hops: goalOf(hops) }).kinds

const generated = (
  { hops, style, labels, ...shape }: RubricAsRewardConfig['task'],
  seed: number | string,
): ProblemSource => {
  const { order, distractors, negation, mentions, sideKinds } = shape
  const kinds = kindsOf({ hops, kinds: shape.kinds })
  const generatorFor = (count: number | Record<string, number>) =>
    logicGenerator(
      { hops: count, style, labels, order, distractors, negation, mentions, sideKinds, kinds },
      `train:${seed}`,
    )
  if (!isSchedule(hops)) return generatorFor(hops)
  const longest = mostHops(hops)
  const byHops = new Map<number, (index: number) => LogicTaskExample>()
  return (index, count = longest) => {
    const known = byHops.get(count) ?? generatorFor(count)
    byHops.set(count, known)
    return known(index)
  }
}
