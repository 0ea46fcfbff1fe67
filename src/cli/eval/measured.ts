/** @file `gradus eval` on rows and on public benchmarks: answers, their figures, a comparison, a gate. */

import { FormalGrader } from '../../grade/formal-grader.ts'
import { RuleGrader } from '../../grade/rules/index.ts'
import {
  type GradedAnswer,
  gradeAll,
  measure,
  type NamedJudge,
  pairedDifferences,
  type SavedAnswer,
  savedAnswer,
} from '../../measure/index.ts'
import { Progress } from '../../runs/progress.ts'
import { UsageError } from '../../util/errors.ts'
import { untilInterrupted } from '../interrupts.ts'
import { EXIT, Interrupted, type Io } from '../io.ts'
import { heldBack } from './gate.ts'
import { openEvalJudges } from './judges.ts'
import type { EvalOptions } from './options.ts'
import { type Evaluation, prepare } from './prepare.ts'
import { answersOf, type Side } from './sides.ts'
import { startLogprobs } from './start.ts'
import { type MeasuredSide, tell } from './tell.ts'

/** @throws UsageError, DataError, ConfigError before anything is asked; CheckpointError, ServedError, JudgeError. */
export const measuredCommand = async (options: EvalOptions, io: Io): Promise<number> => {
  const evaluation = await prepare(options, io)
  const { names, gates } = evaluation
  return untilInterrupted(
    io,
    async signal => {
      const sides = [
        await answersOf(evaluation, options.model, '--model', io, signal),
        ...(options.against === undefined
          ? []
          : [await answersOf(evaluation, options.against, '--against', io, signal)]),
      ]
      const [a, b = null] = await graded(evaluation, sides, io, signal)
      const paired = b && pairedDifferences(a.measured, b.measured, names)
      await tell({ ...evaluation, a, b, paired }, io)
      const compared = { names, a: a.measured, b: b?.measured ?? null, paired }
      return heldBack(gates, compared, io) ? EXIT.belowThreshold : EXIT.ok
    },
    () => evaluation.task.close?.(),
  )
}

/** Without a judge, verdicts that saved answers have are taken as they are. @throws UsageError where two judges gave them */
const refuseTwoJudges = ({ judge }: EvalOptions, sides: readonly Side[]): void => {
  const names = new Set(sides.flatMap(({ answers_P }) => answers_P.flat().flatMap(own => own.judge ?? [])))
  if (judge === undefined && names.size > 1)
    throw new UsageError(
      `--against: expected verdicts of one judge, got those of ${[...names].join(' and ')}`,
      {
        hint: 'give --judge, which is then asked about all of them',
      },
    )
}

const graded = async (
  evaluation: Evaluation,
  sides: readonly Side[],
  io: Io,
  signal: AbortSignal,
): Promise<MeasuredSide[]> => {
  const { options, kind, task, measured: own, problems, names, way } = evaluation
  refuseTwoJudges(options, sides)
  const answers = sides.flatMap(({ answers_P }) => answers_P.flat())
  const startLogprob = await startLogprobs(options, problems, answers, io)
  const judges = await openEvalJudges({ ...options, way }, io)
  const parts = {
    rules: new RuleGrader(),
    formal: new FormalGrader(),
    judge: judges.judge,
    heldOut: judges.heldOut,
    ...(startLogprob && { startLogprob }),
  }
  try {
    const measured: MeasuredSide[] = []
    for (const { answers_P, keep, ...side } of sides) {
      const total = answers_P.flat().length
      const progress = new Progress({
        total,
        label: 'graded',
        unit: 'answer',
        quiet: options.json || judges.judge === null,
        stream: io.err,
      })
      const onGraded = (done: number) => progress.update(done)
      const graded_P = await gradeAll(kind, task, problems, answers_P, parts, { onGraded, signal })
      progress.close()
      keep?.(rowsOf(evaluation, graded_P, parts))
      const answered = problems.flatMap(({ problem }, p) => {
        const said = graded_P[p].flatMap(graded => graded.said ?? [])
        return said.length > 0 ? [{ problem, said }] : []
      })
      measured.push({
        ...{ ...side, measured: measure(side.model, own, problems, graded_P, names) },
        breakdown: kind.breakdown?.(answered) ?? {},
      })
    }
    for (const line of judges.lines()) io.err.write(`${line}\n`)
    return measured
  } catch (error) {
    if (error instanceof Interrupted)
      io.err.write('interrupted while answers were graded; those of --out and --against-out are kept\n')
    throw error
  } finally {
    await parts.formal.close()
    await judges.close()
  }
}

const rowsOf = (
  { measured, problems }: Evaluation,
  graded_P: readonly (readonly GradedAnswer[])[],
  judges: { judge: NamedJudge | null; heldOut: NamedJudge | null },
): SavedAnswer[] =>
  problems.flatMap((problem, p) => graded_P[p].map(own => savedAnswer(measured, problem, own, judges)))
