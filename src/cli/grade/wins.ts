/** @file `gradus judge wins`: whose thinking judges find the best, question by question, shown in every order (RiT Fig. 6). */

import { type JudgedComparison, winRates } from '../../eval/winrate.ts'
import { matchLengths, pickWinners, type Traces, WINNER_JUDGE } from '../../grade/thinking/winner.ts'
import { promptKey } from '../../tasks/conversation/rows.ts'
import { partThinking } from '../../tasks/thinking.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { percent } from '../../util/format.ts'
import { bootstrapInterval, type Estimate } from '../../util/intervals.ts'
import { someJsonlLines } from '../../util/jsonl.ts'
import { measuredUntilInterrupted } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { formatRate, type JudgeCommandOptions, openCommandJudge } from './judge.ts'
import { parseResponseRow } from './rows.ts'

export interface JudgeWinsOptions extends Omit<JudgeCommandOptions, 'judge' | 'calls'> {
  judge: string[]
  matchLengths?: number
  minWins?: number
  json?: boolean
}

/** What one judge found. */
interface Wins {
  judge: string
  /** By file, in their order: share of the wins, equals sharing; null where nothing was decided. */
  wins: Estimate[] | null
  tieRate: number | null
  /** How often each place was chosen: far from equal means that order decides. */
  placeShares: number[] | null
  questions: number
  failed: number
}

interface Samples {
  question: string
  texts: string[]
}

/** The thinking of a file's responses by question; of several responses with one id, or one prompt, all. */
const readThinking = (path: string): Map<string, Samples> => {
  const found = new Map<string, Samples>()
  for (const line of someJsonlLines(path, 'response')) {
    const { id, prompt, response } = parseResponseRow(line)
    if (!prompt?.length)
      throw new DataError(`${line.place}: prompt: expected the question, got nothing; the judge is told it`)
    const key = id === undefined ? promptKey(prompt) : String(id)
    const own = found.get(key) ?? { question: prompt.map(({ content }) => content).join('\n\n'), texts: [] }
    own.texts.push(partThinking(response).thinking)
    found.set(key, own)
  }
  return found
}

/** One text of each file about every question that all have; of like length where that is asked for. */
const tracesOf = (files: readonly string[], within?: number): { common: number; traces: Traces[] } => {
  const [first, ...others] = files.map(readThinking)
  const common = [...first].flatMap(([key, { question, texts }]) => {
    const rest = others.map(other => other.get(key)?.texts)
    return rest.every(own => own !== undefined) ? [{ question, samples: [texts, ...rest] }] : []
  })
  const traces = common.flatMap(({ question, samples }) => {
    const texts = within === undefined ? samples.map(([own]) => own) : matchLengths(samples, within)
    return texts === null ? [] : [{ question, texts }]
  })
  if (common.length === 0)
    throw new DataError(`${files.join(', ')}: expected questions with the same id or prompt, got none`)
  if (traces.length === 0)
    throw new DataError(
      `--match-lengths: expected questions with thinking of like length, got none of ${common.length}; raise it`,
    )
  return { common: common.length, traces }
}

/** @throws UsageError for fewer than two files; DataError for rows that cannot be used */
export const judgeWins = async (
  files: readonly string[],
  options: JudgeWinsOptions,
  io: Io,
): Promise<number> => {
  if (files.length < 2) throw new UsageError('expected two files of responses or more, got one')
  const { common, traces } = tracesOf(files, options.matchLengths)
  return measuredUntilInterrupted(io, async signal => {
    const judges: Wins[] = []
    for (const judge of options.judge) judges.push(await askJudge(judge, traces, options, io, signal))
    const questions = { common, compared: traces.length }
    if (options.json) printJson(io, { files, questions, judges })
    else io.out.write(formatWins(files, questions, judges))
    if (judges.some(({ wins }) => wins === null)) return EXIT.failed
    const lowest = Math.min(...judges.map(({ wins }) => wins!.at(-1)!.estimate))
    return lowest < (options.minWins ?? 0) ? EXIT.belowThreshold : EXIT.ok
  })
}

const askJudge = async (
  judge: string,
  traces: readonly Traces[],
  options: JudgeWinsOptions,
  io: Io,
  signal: AbortSignal,
): Promise<Wins> => {
  const asked = { ...options, judge, calls: 'rubric' as const }
  const { grader, describe, close } = openCommandJudge(asked, io, { form: WINNER_JUDGE })!
  try {
    const looks = await Promise.all(traces.map(own => pickWinners(grader, own, undefined, { signal })))
    io.err.write(`${describe()}\n`)
    const failed = looks.reduce((sum, own) => sum + own.failed, 0)
    const decided = looks.flatMap(({ comparisons }) => (comparisons.length > 0 ? [comparisons] : []))
    if (decided.length === 0) io.err.write(`gradus: ${judge}: no usable answer; check --judge and --model\n`)
    return { judge, ...winsIn(decided, traces[0].texts.length), questions: decided.length, failed }
  } finally {
    await close()
  }
}

/** Questions count alike, and are what intervals are over. */
const winsIn = (looks_Q: readonly JudgedComparison[][], arms: number) => {
  if (looks_Q.length === 0) return { wins: null, tieRate: null, placeShares: null }
  const shares_Q = looks_Q.map(looks => winRates(looks, arms).shares)
  const { tieRate, placeShares } = winRates(looks_Q.flat(), arms)
  const wins = Array.from({ length: arms }, (_, arm) =>
    bootstrapInterval(
      shares_Q.map(shares => shares[arm]),
      { seed: 'wins' },
    ),
  )
  return { wins, tieRate, placeShares }
}

const formatWins = (
  files: readonly string[],
  { common, compared }: { common: number; compared: number },
  judges: readonly Wins[],
): string => {
  const width = Math.max(...files.map(({ length }) => length)) + 2
  const lines = judges.flatMap(({ judge, wins, tieRate, placeShares, questions, failed }) => [
    `${judge}: ${questions} questions${failed > 0 ? `, ${failed} looks without a usable answer` : ''}`,
    ...(wins ?? []).map((rate, arm) => `  ${files[arm].padEnd(width)}${formatRate(rate)}`),
    ...(wins ? [`  ties ${percent(tieRate!)}; by place ${placeShares!.map(percent).join(', ')}`] : []),
  ])
  return `${[`${compared} of ${common} common questions compared`, ...lines].join('\n')}\n`
}
