/** @file `gradus eval --task logic`: answers and proofs of a checkpoint, or of a model on a server, on a file of logic problems. */

import { isServerAddress } from '../../chat/model-address.ts'
import { LogicSolver } from '../../grade/logic/solver.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { evaluateAnswers } from '../../recipes/logic/evaluate.ts'
import { LOGIC_SCORES } from '../../recipes/logic/scores.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { scoreNamesOf, scoreValue, scoreWords } from '../../runs/scores.ts'
import { decideRows } from '../../tasks/logic/decided.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { MAX_HOPS } from '../../tasks/logic/generator.ts'
import { formatOfFile, type LeftOutRow, readLogicFile } from '../../tasks/logic/loaders.ts'
import { shuffleSentences } from '../../tasks/logic/reorder.ts'
import { logicTestSet } from '../../tasks/logic/testsets.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { NONE, percent, percentNumber, plural } from '../../util/format.ts'
import { StatusLine } from '../../util/status-line.ts'
import { openCommandJudge } from '../grade/judge.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { bringFiles } from '../rows-option.ts'
import { solverOptionsOf } from '../solver-options.ts'
import { sourceLines } from '../train/by-source.ts'
import type { ServedIdentity } from '../train/served.ts'
import { whoAnswers } from './answering.ts'
import type { EvalOptions } from './options.ts'

const MAX_TOKENS = { miniature: 112, chat: 1024 }

/** Evaluates greedily, or on samples when a temperature is given. @throws CheckpointError, DataError, ServedError. */
export const logicCommand = async (options: EvalOptions, io: Io): Promise<number> => {
  if (options.samples > 1 && options.temperature === 0)
    throw new UsageError('--samples: greedy samples are all alike', { hint: 'give a --temperature above 0' })
  const thresholds = thresholdsOf(options)
  if (!isServerAddress(options.model)) await fetchModel(options.model, { status: new StatusLine(io.err) })
  const candidate = whoAnswers({ ...options, apiKeyEnv: options.modelApiKeyEnv })
  await bringFiles(...(options.data ?? []))
  const files = options.generated === undefined ? readFiles(options) : [generatedOf(options)]
  const judge = openJudge(options)
  const opened = [candidate.open(), LogicSolver.start(solverOptionsOf(options))] as const
  try {
    const [{ answer, served }, solver] = await Promise.all(opened)
    const problems = await problemsOf(files, solver, io)
    const { temperature, samples, seed, maxTokens = MAX_TOKENS[candidate.prompt] } = options
    const row = await evaluateAnswers(
      { answer, solver, judge: judge?.grader },
      files.map(({ path }) => path).join(', '),
      0,
      problems,
      {
        samples: temperature > 0 ? samples : 0,
        greedy: false,
        sampling: { maxTokens, temperature, seed },
      },
    )
    print(row, options, served, io)
    return belowThreshold(row, thresholds, io) ? EXIT.belowThreshold : EXIT.ok
  } finally {
    const settled = await Promise.allSettled(opened)
    await Promise.all(settled.flatMap(each => (each.status === 'fulfilled' ? [each.value.close()] : [])))
    await judge?.grader.close()
    judge?.close()
  }
}

interface ReadFile {
  path: string
  rows: LogicTaskExample[]
  leftOut: readonly LeftOutRow[]
}

const shuffledBy = (rows: LogicTaskExample[], seed: string | undefined): LogicTaskExample[] =>
  seed === undefined ? rows : rows.map(row => shuffleSentences(row, seed))

/** Generated test problems as if a file had them. @throws UsageError for options of files, and hops that there are not. */
const generatedOf = ({ generated, data, format, hops = 5, limit, shuffle }: EvalOptions): ReadFile => {
  const other = data !== undefined ? '--data' : format !== undefined ? '--format' : null
  if (other !== null)
    throw new UsageError(`${other}: expected a file or generated problems, got both`, {
      hint: `leave ${other} or --generated out`,
    })
  if (hops > MAX_HOPS) throw new UsageError(`--hops: expected 1 to ${MAX_HOPS}, got ${hops}`)
  const rows = logicTestSet(generated!, { hops, count: limit })
  return { path: `${generated}, ${plural(hops, 'hop')}`, rows: shuffledBy(rows, shuffle), leftOut: [] }
}

/** @throws UsageError without a file; DataError for one that cannot be used, or that holds nothing. */
const readFiles = ({ data = [], hops, format, limit, shuffle }: EvalOptions): ReadFile[] => {
  if (data.length === 0)
    throw new UsageError('--data: expected a file of problems, got none', {
      hint: 'or --generated shortcut-free',
    })
  if (hops !== undefined)
    throw new UsageError('--hops: has no effect on the problems of a file', { hint: 'leave it out' })
  return data.map(path => {
    const { problems, unread } = readLogicFile(path, format ?? formatOfFile(path))
    const rows = problems.slice(0, limit)
    if (rows.length === 0)
      throw new DataError(
        `${path}: holds no problems${unread.length > 0 ? ` that can be read: ${reasons(unread)}` : ''}`,
      )
    return { path, rows: shuffledBy(rows, shuffle), leftOut: unread }
  })
}

const reasons = (rows: readonly LeftOutRow[]): string =>
  rows.map(({ id, reason }) => `${id} (${reason})`).join('; ')

/** All rows that can be used, each with its file as its source where there are several; what is left out is told. */
const problemsOf = async (
  files: readonly ReadFile[],
  solver: LogicSolver,
  io: Io,
): Promise<LogicTaskExample[]> => {
  const all: LogicTaskExample[] = []
  for (const { path, rows, leftOut } of files) {
    const { problems, faulty, doubted } = await decideRows(rows, solver)
    const missing = [...leftOut, ...faulty]
    if (missing.length > 0)
      io.err.write(`${path}: ${plural(missing.length, 'row')} left out: ${reasons(missing)}\n`)
    if (doubted.length > 0)
      io.err.write(
        `${path}: ${plural(doubted.length, 'row')} whose formulas do not give the label; the answer counts, proofs are not judged: ${reasons(doubted)}\n`,
      )
    all.push(
      ...(files.length > 1
        ? problems.map(row => ({ ...row, id: `${path}/${row.id}`, source: path }))
        : problems),
    )
  }
  return all
}

/** A judge of C4 and C5 that may give half credit; null when none is named. */
const openJudge = ({ judge, judgeModel: model, apiKeyEnv, cache }: EvalOptions) =>
  openCommandJudge({
    judge,
    model,
    modelOption: 'judge-model',
    apiKeyEnv,
    cache,
    calls: 'rubric',
    levels: 'levels',
    concurrency: 64,
  })

const print = (row: EvalRow, options: EvalOptions, served: ServedIdentity | undefined, io: Io): void => {
  const { items: _items, step: _step, ...fields } = row
  if (options.json) {
    printJson(io, {
      ...(served && { model: served }),
      ...fields,
      ...(options.shuffle !== undefined && { shuffle: options.shuffle }),
    })
    return
  }
  const share = (value: number | null | undefined) => (value == null ? NONE : percent(value).padStart(6))
  const lines = [
    `${row.set}: ${row.n} problems, ${row.temperature === 0 ? 'greedy' : `${row.samples} samples at temperature ${row.temperature}`}${options.shuffle === undefined ? '' : `, sentences shuffled by ${options.shuffle}`}`,
    ...(served ? [`  ${servedWords(served)}`] : []),
    ...scoreNamesOf([row]).map(
      name => `  ${scoreWords(name, [row]).padEnd(20)} ${share(scoreValue(row, name))}`,
    ),
    ...Object.entries(row.criteria ?? {}).map(([id, value]) => `  ${id.padEnd(20)} ${share(value)}`),
    ...(row.judged ? [`  C4, C5 by the judge  ${share(row.judged.C4)} ${share(row.judged.C5)}`] : []),
    ...Object.entries(row.byLabel ?? {}).map(
      ([label, { n, scores }]) => `  ${`answers to ${label}`.padEnd(20)} ${share(scores.accuracy)} of ${n}`,
    ),
    ...balanceLines(row),
    ...sourceLines(row),
    '  shallow baselines, answers right:',
    ...Object.entries(row.baselines ?? {}).map(
      ([name, { scores }]) => `    ${share(scores.accuracy?.value)}  ${name}`,
    ),
  ]
  io.out.write(`${lines.join('\n')}\n`)
}

const ASKED = {
  tokens: 'prompts in tokens of the local tokenizer',
  text: 'prompts in words',
  chat: "prompts in words, by the server's own template",
}

const servedWords = ({ server, name, dialect, asked }: ServedIdentity): string =>
  `model ${name} at ${server} (${dialect}); ${ASKED[asked]}`

const balanceLines = ({ balance }: EvalRow): string[] => {
  if (!balance) return []
  const { macroRecall, minClassRecall, predicted, trueBias } = balance
  const said = Object.entries(predicted).filter(([, value]) => value > 0)
  return [
    `  recall over labels   mean ${percent(macroRecall)}, lowest ${percent(minClassRecall)}`,
    `  answers given        ${said.map(([label, value]) => `${label} ${percent(value)}`).join(', ')}`,
    ...(trueBias === null ? [] : [`  True-bias            ${percentNumber(trueBias)} points`]),
  ]
}

interface Threshold {
  /** What messages call it. */
  label: string
  /** The score. */
  name: string
  least: number
}

/** @throws UsageError for a score that evaluations do not have, before anything runs. */
const thresholdsOf = ({ minAccuracy, minValidProofs, minScore = [] }: EvalOptions): Threshold[] => {
  const unknown = minScore.find(([name]) => !LOGIC_SCORES.some(known => known === name))
  if (unknown)
    throw new UsageError(`--min-score: expected the name of a score, got ${unknown[0]}`, {
      hint: `its scores are ${LOGIC_SCORES.join(', ')}`,
    })
  return [
    ...(minAccuracy === undefined ? [] : [{ label: 'accuracy', name: 'accuracy', least: minAccuracy }]),
    ...(minValidProofs === undefined
      ? []
      : [{ label: 'valid proofs', name: 'validProofs', least: minValidProofs }]),
    ...minScore.map(([name, least]) => ({ label: name, name, least })),
  ]
}

const belowThreshold = (row: EvalRow, thresholds: readonly Threshold[], io: Io): boolean => {
  const failed = thresholds.filter(({ name, least }) => (scoreValue(row, name) ?? 0) < least)
  for (const { label, name, least } of failed)
    io.err.write(
      `${label}: expected at least ${least}, got ${scoreValue(row, name)?.toFixed(4) ?? 'nothing that is known of any problem'}\n`,
    )
  return failed.length > 0
}
