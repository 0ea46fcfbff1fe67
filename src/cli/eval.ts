/** @file `gradus eval`: a checkpoint's answers and proofs on a file of logic problems. */

import { LogicSolver } from '../grade/logic/solver.ts'
import { hasTokenizer } from '../model/tokenizer.ts'
import { LocalPolicy } from '../policy/local/local-policy.ts'
import { evaluateSet } from '../recipes/logic/evaluate.ts'
import { formatFor, type PromptKind } from '../recipes/logic/format.ts'
import { assertLogicVocabulary, existingModel, hasLogicTokenizer } from '../recipes/starting-model.ts'
import type { EvalRow } from '../runs/rows.ts'
import { loadProntoQa } from '../tasks/logic/loaders.ts'
import { DataError, UsageError } from '../util/errors.ts'
import { openCommandJudge } from './grade-judge.ts'
import { EXIT, type Io, printJson } from './io.ts'
import { type SolverCommandOptions, solverOptionsOf } from './solver-options.ts'

export interface EvalOptions extends SolverCommandOptions {
  task: 'logic'
  model: string
  data: string
  samples: number
  temperature: number
  maxTokens?: number
  seed: string
  limit?: number
  threads: number
  minAccuracy?: number
  minValidProofs?: number
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
  const folder = existingModel(options.model, '--model')
  const problems = loadProntoQa(options.data).slice(0, options.limit)
  if (problems.length === 0) throw new DataError(`${options.data}: holds no problems`)
  const prompt = promptKind(folder)
  if (prompt === 'miniature') assertLogicVocabulary(folder)
  const format = formatFor(prompt, folder)
  const judge = openJudge(options)
  const opened = [
    LocalPolicy.start({ folder }, { threads: options.threads }),
    LogicSolver.start(solverOptionsOf(options)),
  ] as const
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
    return belowThreshold(row, options, io) ? EXIT.belowThreshold : EXIT.ok
  } finally {
    const settled = await Promise.allSettled(opened)
    await Promise.all(settled.flatMap(each => (each.status === 'fulfilled' ? [each.value.close()] : [])))
    await judge?.grader.close()
    judge?.close()
  }
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
    printJson(io, fields)
    return
  }
  const percent = (value: number | null | undefined) =>
    value == null ? '–' : `${(100 * value).toFixed(1).padStart(5)}%`
  const lines = [
    `${options.data}: ${row.n} problems, ${row.temperature === 0 ? 'greedy' : `${row.samples} samples at temperature ${row.temperature}`}`,
    `  answers right        ${percent(row.accuracy)}`,
    `  proofs valid         ${percent(row.validProofs)}`,
    `  correct and valid    ${percent(row.correctAndValid)}`,
    ...Object.entries(row.criteria ?? {}).map(([id, value]) => `  ${id.padEnd(20)} ${percent(value)}`),
    ...(row.judged ? [`  C4, C5 by the judge  ${percent(row.judged.C4)} ${percent(row.judged.C5)}`] : []),
    ...Object.entries(row.byLabel ?? {}).map(
      ([label, { n, accuracy }]) => `  ${`answers to ${label}`.padEnd(20)} ${percent(accuracy)} of ${n}`,
    ),
    ...balanceLines(row),
    '  shallow baselines, answers right:',
    ...Object.entries(row.baselines ?? {}).map(([name, { accuracy }]) => `    ${percent(accuracy)}  ${name}`),
  ]
  io.out.write(`${lines.join('\n')}\n`)
}

const balanceLines = ({ balance }: EvalRow): string[] => {
  if (!balance) return []
  const { macroRecall, minClassRecall, predicted, trueBias } = balance
  const share = (value: number) => `${(100 * value).toFixed(1)}%`
  const said = Object.entries(predicted).filter(([, value]) => value > 0)
  return [
    `  recall over labels   mean ${share(macroRecall)}, lowest ${share(minClassRecall)}`,
    `  answers given        ${said.map(([label, value]) => `${label} ${share(value)}`).join(', ')}`,
    ...(trueBias === null ? [] : [`  True-bias            ${(100 * trueBias).toFixed(1)} points`]),
  ]
}

const belowThreshold = (row: EvalRow, options: EvalOptions, io: Io): boolean => {
  const checks = [
    ['accuracy', row.accuracy, options.minAccuracy],
    ['valid proofs', row.validProofs ?? 0, options.minValidProofs],
  ] as const
  const failed = checks.filter(([, value, least]) => least !== undefined && value < least)
  for (const [name, value, least] of failed)
    io.err.write(`${name}: expected at least ${least}, got ${value.toFixed(4)}\n`)
  return failed.length > 0
}
