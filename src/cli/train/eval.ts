/** @file `gradus eval`: a checkpoint's answers and proofs on a file of logic problems. */

import { LogicSolver } from '../../grade/logic/solver.ts'
import { hasTokenizer } from '../../model/tokenizer.ts'
import { openPolicy, policySchema } from '../../policy/open.ts'
import {
  assertLogicVocabulary,
  existingModel,
  hasLogicTokenizer,
} from '../../recipes/common/starting-model.ts'
import { evaluateSet } from '../../recipes/logic/evaluate.ts'
import { formatFor, type PromptKind } from '../../recipes/logic/format.ts'
import { LOGIC_SCORES } from '../../recipes/logic/scores.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { scoreNamesOf, scoreValue, scoreWords } from '../../runs/scores.ts'
import type { LogicTaskExample } from '../../tasks/logic/example.ts'
import { type LogicFileFormat, loadLogicRows } from '../../tasks/logic/loaders.ts'
import { shuffleSentences } from '../../tasks/logic/reorder.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { NONE, percent, percentNumber } from '../../util/format.ts'
import { openCommandJudge } from '../grade/judge.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { type SolverCommandOptions, solverOptionsOf } from '../solver-options.ts'

export interface EvalOptions extends SolverCommandOptions {
  task: 'logic'
  model: string
  data: string
  samples: number
  temperature: number
  maxTokens?: number
  seed: string
  /** How the rows are written. */
  format: LogicFileFormat
  /** Seed of another order of each row's sentences. */
  shuffle?: string
  limit?: number
  threads: number
  minAccuracy?: number
  minValidProofs?: number
  /** Least values by the name of the score. */
  minScore?: readonly (readonly [name: string, least: number])[]
  judge?: string
  judgeModel?: string
  apiKeyEnv?: string
  cache?: string
  json?: boolean
}

/** The word-level prompt of the small model, or a chat prompt for any other tokenizer. */
const promptKind = (folder: string): PromptKind =>
  hasTokenizer(folder) && !hasLogicTokenizer(folder) ? 'chat' : 'miniature'

const MAX_TOKENS = { miniature: 112, chat: 1024 }

/** Evaluates greedily, or on samples when a temperature is given. @throws CheckpointError, DataError. */
export const evalCommand = async (options: EvalOptions, io: Io): Promise<number> => {
  if (options.samples > 1 && options.temperature === 0)
    throw new UsageError('--samples: greedy samples are all alike', { hint: 'give a --temperature above 0' })
  const thresholds = thresholdsOf(options)
  const folder = existingModel(options.model, '--model')
  const problems = readProblems(options)
  const prompt = promptKind(folder)
  if (prompt === 'miniature') assertLogicVocabulary(folder)
  const format = formatFor(prompt, folder)
  const judge = openJudge(options)
  const settings = policySchema.parse({ threads: options.threads })
  const opened = [openPolicy(settings, { folder }), LogicSolver.start(solverOptionsOf(options))] as const
  try {
    const [policy, solver] = await Promise.all(opened)
    const { temperature, samples, seed, maxTokens = MAX_TOKENS[prompt] } = options
    const row = await evaluateSet(
      { policy, solver, format, judge: judge?.grader },
      options.data,
      0,
      problems,
      {
        samples: temperature > 0 ? samples : 0,
        greedy: false,
        sampling: { maxTokens, temperature, seed },
      },
    )
    print(row, options, io)
    return belowThreshold(row, thresholds, io) ? EXIT.belowThreshold : EXIT.ok
  } finally {
    const settled = await Promise.allSettled(opened)
    await Promise.all(settled.flatMap(each => (each.status === 'fulfilled' ? [each.value.close()] : [])))
    await judge?.grader.close()
    judge?.close()
  }
}

/** @throws DataError for a file that cannot be used, or that holds nothing. */
const readProblems = ({ data, format, limit, shuffle }: EvalOptions): LogicTaskExample[] => {
  const rows = loadLogicRows(data, format).slice(0, limit)
  if (rows.length === 0) throw new DataError(`${data}: holds no problems`)
  return shuffle === undefined ? rows : rows.map(row => shuffleSentences(row, shuffle))
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

const print = (row: EvalRow, options: EvalOptions, io: Io): void => {
  const { items: _items, step: _step, ...fields } = row
  if (options.json) {
    printJson(io, { ...fields, ...(options.shuffle !== undefined && { shuffle: options.shuffle }) })
    return
  }
  const share = (value: number | null | undefined) => (value == null ? NONE : percent(value).padStart(6))
  const lines = [
    `${options.data}: ${row.n} problems, ${row.temperature === 0 ? 'greedy' : `${row.samples} samples at temperature ${row.temperature}`}${options.shuffle === undefined ? '' : `, sentences shuffled by ${options.shuffle}`}`,
    ...scoreNamesOf([row]).map(
      name => `  ${scoreWords(name, [row]).padEnd(20)} ${share(scoreValue(row, name))}`,
    ),
    ...Object.entries(row.criteria ?? {}).map(([id, value]) => `  ${id.padEnd(20)} ${share(value)}`),
    ...(row.judged ? [`  C4, C5 by the judge  ${share(row.judged.C4)} ${share(row.judged.C5)}`] : []),
    ...Object.entries(row.byLabel ?? {}).map(
      ([label, { n, scores }]) => `  ${`answers to ${label}`.padEnd(20)} ${share(scores.accuracy)} of ${n}`,
    ),
    ...balanceLines(row),
    '  shallow baselines, answers right:',
    ...Object.entries(row.baselines ?? {}).map(
      ([name, { scores }]) => `    ${share(scores.accuracy?.value)}  ${name}`,
    ),
  ]
  io.out.write(`${lines.join('\n')}\n`)
}

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
    io.err.write(`${label}: expected at least ${least}, got ${(scoreValue(row, name) ?? 0).toFixed(4)}\n`)
  return failed.length > 0
}
