/** @file The test sets of the logic task, and validation sets for choosing checkpoints: fixed, apart from all training. */

import { ConfigError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import type { LogicTaskExample } from './example.ts'
import { generateLogicProblems, type LogicGeneratorOptions } from './generator.ts'
import { loadProntoQa } from './loaders.ts'
import type { LogicStart } from './start-settings.ts'
import type { LogicTestSetName } from './testset-names.ts'

export { LOGIC_TEST_SETS, type LogicTestSetName } from './testset-names.ts'

/** A sentence that begins so speaks of the one before it. */
const LEANS_BACK =
  /^(?:it|its|they|their|them|he|she|his|her|hers|him|this|that|these|those|such|then|therefore|thus|hence|so|however|both|neither)\b/i

/** Indices of the sentences in groups that must stay together, each in its order. */
const groupsOf = (premises: readonly string[]): number[][] => {
  const groups: number[][] = []
  for (const [i, text] of premises.entries()) {
    const last = groups.at(-1)
    if (last !== undefined && LEANS_BACK.test(text.trim())) last.push(i)
    else groups.push([i])
  }
  return groups
}

/**
 * The same problem with the sentences of its context in an order that seed and id decide. A sentence that speaks of the one
 * before it ("They ...") stays behind that. Id, label, statement and gold proof are as they were.
 */
export const shuffleSentences = <
  T extends Pick<LogicTaskExample, 'id' | 'premises' | 'premisesFol' | 'context'>,
>(
  problem: T,
  seed: number | string,
): T => {
  const order = new Rng(`sentences/${seed}/${problem.id}`).shuffle(groupsOf(problem.premises)).flat()
  const premises = order.map(i => problem.premises[i])
  return {
    ...problem,
    premises,
    premisesFol: order.map(i => problem.premisesFol[i]),
    context: premises.join(' '),
  }
}

export interface LogicTestSetOptions {
  /** Problems; `real` takes the file's first so many, all when absent. Default 500. */
  count?: number
  /** Default 5. */
  hops?: LogicGeneratorOptions['hops']
  labels?: LogicGeneratorOptions['labels']
  /** Kinds that problems draw from; the generator's usual number when absent. */
  kinds?: LogicGeneratorOptions['kinds']
  /** `validation` gives other problems than `test`, to choose checkpoints and settings on. Default `test`. */
  split?: 'test' | 'validation'
  /** A file of ProntoQA rows; needed for `real` and `real-shuffled`. */
  realPath?: string
}

/** No training seed may start so: problems of a set depend on this label and their index. */
export const RESERVED_SEED_PREFIX = 'held-out:'

/** Refuses a training seed that would repeat held-out problems. @throws ConfigError */
export const checkTrainingSeed = (seed: number | string): void => {
  if (String(seed).startsWith(RESERVED_SEED_PREFIX)) {
    throw new ConfigError(`seed: "${seed}" names held-out problems`, { hint: 'choose another training seed' })
  }
}

/**
 * A test set by name, the same at every call.
 * @throws ConfigError for `real` without a path; DataError for a file that cannot be read.
 */
export const logicTestSet = (
  name: LogicTestSetName,
  options: LogicTestSetOptions = {},
): LogicTaskExample[] => {
  const { count, hops = 5, labels = 'two-way', kinds, split = 'test', realPath } = options
  if (name === 'train-distribution-shuffled' || name === 'real-shuffled') {
    const base = name === 'real-shuffled' ? 'real' : 'train-distribution'
    return logicTestSet(base, options).map(problem => shuffleSentences(problem, RESERVED_SEED_PREFIX))
  }
  if (name === 'real') {
    if (realPath === undefined) {
      throw new ConfigError('test set "real": expected the path of a file of ProntoQA rows, got none', {
        hint: 'pass realPath',
      })
    }
    return loadProntoQa(realPath).slice(0, count)
  }
  const style = name === 'train-distribution' ? 'real' : name
  return generateLogicProblems(
    count ?? 500,
    { style, hops, labels, kinds },
    `${RESERVED_SEED_PREFIX}${split}`,
  )
}

/** Name of the test set of a hop count. */
export const hopsTitle = (hops: number): string => (hops === 1 ? '1 hop' : `${hops} hops`)

/** The test sets of what is learnt, in the order of its settings; a hop count alone is the title where there is one set of each. */
export const startTestSets = ({
  tests: { hops: lengths, sets },
  style,
  labels,
  kinds,
}: Pick<LogicStart, 'tests' | 'style' | 'labels' | 'kinds'>) =>
  (sets ?? [style === 'real' ? 'train-distribution' : style]).flatMap(name =>
    lengths.map(hops => ({
      title: `${hopsTitle(hops)}${sets ? `, ${name}` : ''}`,
      hops,
      /** The first so many. */
      problems: (count: number) => logicTestSet(name, { count, hops, labels, kinds }),
    })),
  )
