/** @file In which order a training sees its problems. */

import { Rng } from '../../util/rng.ts'

/** Problem number i of a stream without end. */
export type ProblemStream<Problem> = (index: number) => Problem

/** Every pass in another order, which the label and the pass decide. */
export const shuffledPasses = <Problem>(
  problems: readonly Problem[],
  label: string,
): ProblemStream<Problem> => {
  const passes = new Map<number, Problem[]>()
  const passOf = (pass: number): Problem[] => {
    const known = passes.get(pass) ?? new Rng(`${label}/${pass}`).shuffle(problems)
    passes.set(pass, known)
    return known
  }
  return index => passOf(Math.floor(index / problems.length))[index % problems.length]
}

/** The same order in every pass. */
export const fixedPasses =
  <Problem>(problems: readonly Problem[]): ProblemStream<Problem> =>
  index =>
    problems[index % problems.length]
