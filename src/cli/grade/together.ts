/** @file `gradus grade --together`: all responses to a prompt in one call of the judge, scored relative to each other. */

import type { ChatMessage } from '../../chat/chat-model.ts'
import { groupSettingsSchema } from '../../grade/group/config.ts'
import { GROUP_JUDGE, type GroupScores, type Standards, scoreGroup } from '../../grade/group/index.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { promptKey } from '../../tasks/conversation/rows.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { noRows } from '../../util/jsonl.ts'
import { streamRows } from '../../util/row-stream.ts'
import { parseWith } from '../../util/schema.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { unlessInterrupted } from '../interrupts.ts'
import { EXIT, type Io } from '../io.ts'
import { refuseGiven } from '../option-values.ts'
import { bringFiles } from '../rows-option.ts'
import type { GradeCommandOptions } from './grade.ts'
import { openCommandJudge } from './judge.ts'
import { gradeItemOf, parseResponseRow, type ResponseRow, RubricMatcher } from './rows.ts'
import { thresholdCode } from './tally.ts'

interface Row {
  place: string
  id: string | number
  row: ResponseRow
}

/** Responses that are compared, and by what. */
interface Group {
  name: string
  rows: Row[]
  by: Standards
  prompts: ChatMessage[][]
}

type Result = Group & GroupScores

const checkOptions = (options: GradeCommandOptions): void => {
  // What a judge of groups has no use for.
  const keys = ['dryRun', 'price', 'callSeconds'] as const
  refuseGiven(options, keys, 'not with --together', 'a group is one call; leave it out')
  if (options.criterion !== undefined && options.rubric !== undefined)
    throw new UsageError('--criterion: expected nothing beside --rubric', { hint: 'give one of the two' })
  if (options.judge === undefined)
    throw new UsageError('--together: expected a judge, got none', {
      hint: 'give --judge URL and --model NAME',
    })
}

/**
 * Scores every group. Rows belong together that have the same `group`, or, without one, the same prompt.
 * @throws UsageError, ConfigError, DataError before anything is scored; JudgeError when every call of the judge would fail
 */
export const gradeTogether = async (options: GradeCommandOptions, io: Io): Promise<number> => {
  checkOptions(options)
  const { responses } = options
  if (responses === undefined) throw new UsageError('--responses: expected a file, got none')
  const { looks } = options
  const settings = parseWith(groupSettingsSchema, looks === undefined ? {} : { looks }, '-', UsageError)
  const { groups, count, unusable } = await readGroups(responses, options, io)
  const judge = openCommandJudge({ ...options, calls: 'rubric' }, io, { form: GROUP_JUDGE })!
  const results: Result[] = []
  const scoreAll = async (signal: AbortSignal): Promise<void> => {
    const work = async (group: Group): Promise<Result> => {
      const { rows, prompts, by } = group
      const own = rows.map(({ row }, i) => ({ prompt: prompts[i], response: row.response }))
      const asked = { ...settings, seed: options.seed ?? 0, signal }
      return { ...group, ...(await scoreGroup(judge.grader, { responses: own, by }, asked)) }
    }
    for await (const result of mapInOrder(groups, work, { concurrency: options.concurrency }))
      results.push(result)
  }
  const { interrupted } = await unlessInterrupted(io, scoreAll, () => judge.close())
  tell(results, options, io)
  const lines = [...summary(results, count), judge.describe()]
  ;(options.json ? io.err : io.out).write(`${lines.join('\n')}\n`)
  if (interrupted) return EXIT.interrupted
  if (unusable > 0 || judge.neverAnswered()) return EXIT.failed
  return thresholds(results, options, io)
}

const readGroups = async (responses: string, options: GradeCommandOptions, io: Io) => {
  await bringFiles(options.rubric)
  const matcher = options.rubric === undefined ? null : new RubricMatcher(readRubricFile(options.rubric))
  const groups = new Map<string, Group>()
  let count = 0
  let unusable = 0
  for await (const line of streamRows(responses, { columns: options.columns })) {
    try {
      const row = parseResponseRow(line)
      const item = matcher?.find(row, line.place)
      const prompt = item === undefined ? (row.prompt ?? []) : [...gradeItemOf(row, item).prompt]
      const { group: given } = row.metadata
      const name =
        typeof given === 'string' || typeof given === 'number' ? `group ${given}` : promptKey(prompt)
      const known = groups.get(name)
      const group: Group = known ?? {
        name,
        rows: [],
        prompts: [],
        by: item?.rubric ?? options.criterion ?? null,
      }
      if (known === undefined) groups.set(name, group)
      count++
      group.rows.push({ place: line.place, id: row.id ?? count, row })
      group.prompts.push(prompt)
    } catch (error) {
      if (!(error instanceof DataError)) throw error
      unusable++
      io.err.write(`gradus: ${error.message}\n`)
    }
  }
  if (count + unusable === 0) throw noRows(responses, 'response')
  return { groups: [...groups.values()], count, unusable }
}

/** Groups one after the other, the responses of each with the best first; with `--json` a line a response. */
const tell = (results: readonly Result[], { json = false }: GradeCommandOptions, io: Io): void => {
  for (const [at, { rows, scores, explanations, problem }] of results.entries()) {
    const results = rows.map(({ id }, i) => ({
      id,
      group: at + 1,
      score: scores[i],
      explanation: explanations[i],
    }))
    if (json) {
      for (const { explanation, ...row } of results)
        io.out.write(
          `${JSON.stringify({ ...row, ...(explanation !== null && { explanation }), ...(row.score === null && { error: problem }) })}\n`,
        )
      continue
    }
    io.out.write(`group ${at + 1}, ${rows.length} responses${problem === null ? '' : `: ${problem}`}\n`)
    const best = [...results].sort((a, b) => (b.score ?? -1) - (a.score ?? -1))
    for (const { id, score } of best)
      io.out.write(`  ${score === null ? 'none  ' : score.toFixed(4)}  ${id}\n`)
  }
}

const knownOf = (results: readonly Result[]): number[] =>
  results.flatMap(({ scores }) => scores.flatMap(score => score ?? []))

const summary = (results: readonly Result[], count: number): string[] => {
  const known = knownOf(results)
  const missing = results.flatMap(({ scores }) => scores).length - known.length
  const cut = results.reduce((sum, own) => sum + own.cut, 0)
  return [
    `${count} responses in ${results.length} groups: ${known.length > 0 ? `mean score ${mean(known).toFixed(4)}` : 'no score'}, ${missing} without a score${cut > 0 ? `, ${cut} cut for length` : ''}`,
    'scores compare the responses of a group; those of two groups are not on one scale',
  ]
}

const thresholds = (
  results: readonly Result[],
  { minScore, maxNullRate }: GradeCommandOptions,
  io: Io,
): number => {
  const known = knownOf(results)
  const all = results.flatMap(({ scores }) => scores).length
  const nulls = all > 0 ? 1 - known.length / all : 0
  const nullFault =
    maxNullRate !== undefined && nulls > maxNullRate
      ? `missing scores: expected a share of at most ${maxNullRate}, got ${nulls}`
      : null
  return thresholdCode({ mean: meanKnown(known), minScore, nullFault }, io)
}
