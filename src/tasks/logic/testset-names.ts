/** @file Names of the logic task's test sets, apart from what draws them. */

/**
 * `real`: ProntoQA rows of a file; the others are generated. `-shuffled`: the same with the sentences of each problem in
 * another order, all else as it is.
 */
export const LOGIC_TEST_SETS = [
  'train-distribution',
  'real',
  'shortcut-free',
  'varied',
  'train-distribution-shuffled',
  'real-shuffled',
] as const

export type LogicTestSetName = (typeof LOGIC_TEST_SETS)[number]

/** Those that take no file. */
export type GeneratedTestSet = Exclude<LogicTestSetName, 'real' | 'real-shuffled'>

export const GENERATED_TEST_SETS = LOGIC_TEST_SETS.filter(
  (name): name is GeneratedTestSet => name !== 'real' && name !== 'real-shuffled',
)
