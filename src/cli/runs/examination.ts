/** @file What `gradus runs check` prints. */

import type { Examined, RunExamination } from '../../runs/check-run.ts'

const line = ({ name, problems, notes }: Examined): string[] => {
  const remarks = notes.length > 0 ? ` (${notes.join('; ')})` : ''
  return [
    `  ${problems.length === 0 ? 'whole  ' : 'DAMAGED'}  ${name}${remarks}`,
    ...problems.map(problem => `           ${problem}`),
  ]
}

const linesOf = ({ dir, examined, leftovers, lockedBy, resumesFrom, phases }: RunExamination): string[] => [
  dir,
  ...examined.flatMap(line),
  ...leftovers.map(path => `  leftover ${path}: of a killed save; the next start removes it`),
  ...(lockedBy === null ? [] : [`  being written by ${lockedBy}`]),
  `  --resume goes on from ${resumesFrom ?? 'nothing: no checkpoint will do'}`,
  ...phases.flatMap(phase => ['', ...linesOf(phase)]),
]

/** An examination as text, a line for each thing. */
export const formatExamination = (found: RunExamination): string =>
  `${linesOf(found).join('\n')}\n\n${found.whole ? 'whole' : 'damaged'}\n`
