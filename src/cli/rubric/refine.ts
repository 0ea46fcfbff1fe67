/** @file `gradus rubric refine`: revises a rubric in rounds, from good and bad traces. */

import { z } from 'zod'
import { refineRubric } from '../../grade/author/index.ts'
import { type RubricFile, readRubricFile } from '../../rubric/formats/index.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { parseWith } from '../../util/schema.ts'
import { EXIT, type Io } from '../io.ts'
import { type ModelOptions, withAuthor } from './model.ts'
import { writeRubrics } from './output.ts'

export interface RefineCommandOptions extends Omit<ModelOptions, 'judge'> {
  preferences?: string
  judge?: string
  task?: string
  dimensions?: string
  positives?: string
  negatives?: string
  subject: string
  rounds: number
}

/**
 * Writes the revised rubric and says on stderr what each round found. When the model's answers stop being usable after the
 * first round, the rubric of the rounds before is written and the exit code is 1.
 * @throws UsageError, ConfigError, DataError before any call, and for a first answer that cannot be used.
 */
export const refineCommand = async (
  path: string | undefined,
  options: RefineCommandOptions,
  io: Io,
): Promise<number> => {
  if (options.preferences !== undefined) {
    const { weightsCommand } = await import('./weights.ts')
    return weightsCommand(path, { ...options, preferences: options.preferences }, io)
  }
  const { judge, task, dimensions, subject, rounds } = options
  if (judge === undefined || task === undefined)
    throw new UsageError(`rubric refine: expected --${judge === undefined ? 'judge URL' : 'task TEXT'}`, {
      hint: 'or --preferences RUN, to fit points to what people chose',
    })
  const file = path === undefined ? null : readOne(path)
  const positives = tracesOf(options.positives)
  const negatives = tracesOf(options.negatives)
  if (positives.length + negatives.length === 0)
    throw new UsageError('rubric refine: expected traces to learn from, got none', {
      hint: 'give --positives FILE.jsonl, --negatives FILE.jsonl or both',
    })
  const { result } = await withAuthor({ ...options, judge }, io, author =>
    refineRubric(
      { task, dimensions, positives, negatives },
      {
        ...author,
        rubric: file?.items[0].rubric,
        subject,
        rounds,
        onRound: (round, index) => {
          for (const fault of ['missing', 'redundant', 'ambiguous'] as const)
            for (const text of round[fault]) io.err.write(`round ${index + 1}: ${fault}: ${text}\n`)
        },
      },
    ),
  )
  if (result === null) return EXIT.interrupted
  const item = { ...(file?.items[0] ?? { id: 'rubric' }), rubric: result.rubric }
  const written: RubricFile = file
    ? { ...file, items: [item] }
    : { format: 'native', layout: 'single', items: [item] }
  writeRubrics(written, { out: options.out, like: path }, io)
  const why = {
    'no-change': 'nothing left to change',
    rounds: 'the rounds were used up',
    unusable: result.problem,
  }
  io.err.write(`${result.rounds.length} rounds: ${why[result.stopped]}\n`)
  return result.stopped === 'unusable' ? EXIT.failed : EXIT.ok
}

const readOne = (path: string): RubricFile => {
  const file = readRubricFile(path)
  if (file.items.length !== 1)
    throw new DataError(`${path}: expected one rubric, got ${file.items.length}; refine them one by one`)
  return file
}

const traceSchema = z.union([
  z.string(),
  z.looseObject({ text: z.string() }).transform(({ text }) => text),
  z.looseObject({ response: z.string() }).transform(({ response }) => response),
])

const tracesOf = (file: string | undefined): string[] =>
  file === undefined
    ? []
    : someJsonlLines(file, 'trace').map(({ place, text }) =>
        parseRow(text, place, row => parseWith(traceSchema, row, '', DataError)),
      )
