/** @file `gradus grade --dry-run`: what grading a file would ask, of whom, and what that may take. Nothing is sent. */

import { estimateJudging, type JudgingEstimate, type Price } from '../../chat/index.ts'
import { type LlmJudge, llmJudge } from '../../grade/judge/index.ts'
import { type GradingRoute, routeOf } from '../../grade/rubric-grader.ts'
import type { RubricFile } from '../../rubric/formats/index.ts'
import type { Columns } from '../../util/column-names.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { formatDuration, formatInteger } from '../../util/format.ts'
import { type JsonlLine, noRows } from '../../util/jsonl.ts'
import { streamRows } from '../../util/row-stream.ts'
import { endpointOf } from '../endpoint.ts'
import { unlessInterrupted } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { refuseGiven } from '../option-values.ts'
import { type JudgeCommandOptions, openCommandJudge } from './judge.ts'
import { gradeItemOf, parseResponseRow, RubricMatcher } from './rows.ts'

/** What only a dry run asks for. */
export interface PriceOptions {
  price?: Price
  callSeconds?: number
}

type Options = JudgeCommandOptions & PriceOptions & { json?: boolean; columns?: Columns }

/** @throws UsageError where they are given and nothing is reckoned */
export const refuseStrayPrices = (options: PriceOptions): void =>
  refuseGiven(
    options,
    ['price', 'callSeconds'],
    'it is for --dry-run, which reckons with it',
    'add --dry-run',
  )

/** Counts what the rows of a file need. */
class Needs {
  rows = 0
  unusable = 0
  readonly verdicts: Record<GradingRoute, number> = { rule: 0, formal: 0, judge: 0 }
  calls = 0
  cached = 0
  promptCharacters = 0
  readonly #keys = new Set<string>()
  readonly #judge: LlmJudge
  readonly #remembers: boolean

  /** @param remembers there is a cache, which answers the second of two identical questions */
  constructor(judge: LlmJudge, remembers: boolean) {
    this.#judge = judge
    this.#remembers = remembers
  }

  add({ item, rubric }: ReturnType<typeof rowWithRubric>): void {
    this.rows++
    for (const criterion of rubric.criteria) this.verdicts[routeOf(criterion)]++
    const judged = rubric.criteria.filter(criterion => routeOf(criterion) === 'judge')
    for (const { key, cached, promptCharacters } of this.#judge.preview(item, judged)) {
      this.calls++
      if (cached || (this.#remembers && this.#keys.has(key))) this.cached++
      else this.promptCharacters += promptCharacters
      if (this.#remembers) this.#keys.add(key)
    }
  }
}

/** @throws DataError for a row that cannot be used */
const rowWithRubric = (line: JsonlLine, matcher: RubricMatcher) => {
  const row = parseResponseRow(line)
  const item = matcher.find(row, line.place)
  return { item: gradeItemOf(row, item), rubric: item.rubric }
}

/** A judge that is only asked what it would ask. */
const nobody = ({ calls }: Options): LlmJudge =>
  llmJudge({
    model: {
      name: 'nobody',
      complete: async () => {
        throw new UsageError('a dry run makes no call')
      },
    },
    shape: calls,
  })

/**
 * Reads all rows and prints what they would take. The exit code is that of rows which cannot be used.
 * @throws UsageError, ConfigError as grading does
 */
export const planGrading = async (
  file: RubricFile,
  responses: string,
  options: Options,
  io: Io,
): Promise<number> => {
  const judge = openCommandJudge(options)
  const needs = new Needs(judge?.grader ?? nobody(options), options.cache !== undefined)
  const matcher = new RubricMatcher(file)
  const count = async (signal: AbortSignal): Promise<void> => {
    for await (const line of streamRows(responses, { columns: options.columns })) {
      if (signal.aborted) return
      try {
        needs.add(rowWithRubric(line, matcher))
      } catch (error) {
        if (!(error instanceof DataError)) throw error
        needs.unusable++
        io.err.write(`gradus: ${error.message}\n`)
      }
    }
  }
  const { interrupted } = await unlessInterrupted(io, count, () => judge?.close())
  if (interrupted) return EXIT.interrupted
  if (needs.rows + needs.unusable === 0) throw noRows(responses, 'response')
  const estimate = estimateOf(needs, options)
  if (options.json) printJson(io, asJson(needs, estimate, options))
  else io.out.write(`${linesOf(needs, estimate, options).join('\n')}\n`)
  return needs.unusable > 0 ? EXIT.failed : EXIT.ok
}

const estimateOf = (needs: Needs, options: Options): JudgingEstimate => {
  const { concurrency, price, callSeconds } = options
  const { url, model = 'nobody' } = endpointOf(options.judge ?? 'http://127.0.0.1', options.model)
  const calls = needs.calls - needs.cached
  const estimate = estimateJudging(
    { endpoints: [{ url, model, concurrency, price }] },
    {
      calls,
      promptCharacters: calls > 0 ? needs.promptCharacters / calls : 0,
      secondsPerCall: callSeconds,
    },
  )
  const { minutes } = estimate
  // However many are under way at a time, one call takes as long as it takes.
  const least = calls > 0 ? (callSeconds ?? 0) / 60 : 0
  return { ...estimate, minutes: minutes === null ? null : Math.max(minutes, least) }
}

const asJson = (needs: Needs, estimate: JudgingEstimate, options: Options): object => {
  const { rows, unusable, verdicts, calls, cached } = needs
  const { calls: toMake, promptTokens, completionTokens, cost, minutes } = estimate
  return {
    rows,
    unusable,
    verdicts,
    judge: {
      model: modelOf(options) ?? null,
      calls,
      cached,
      toMake,
      promptTokens,
      completionTokens,
      cost,
      minutes,
    },
  }
}

/** The judge's model, by whichever option names it. */
const modelOf = ({ judge, model }: Options): string | undefined =>
  judge === undefined ? model : endpointOf(judge, model).model

const linesOf = (needs: Needs, estimate: JudgingEstimate, options: Options): string[] => {
  const { rows, unusable, verdicts } = needs
  const all = verdicts.rule + verdicts.formal + verdicts.judge
  return [
    `rows         ${formatInteger(rows)}${unusable > 0 ? `, and ${formatInteger(unusable)} that cannot be used` : ''}`,
    `criteria     ${rows > 0 ? (all / rows).toFixed(2) : '0'} a row, ${formatInteger(all)} verdicts in all: ${formatInteger(verdicts.rule)} by rules, ${formatInteger(verdicts.formal)} by the solver, ${formatInteger(verdicts.judge)} by a judge`,
    ...(verdicts.judge > 0 ? judgeLines(needs, estimate, options) : ['judge        none is needed']),
    'nothing was sent',
  ]
}

const judgeLines = ({ calls, cached }: Needs, estimate: JudgingEstimate, options: Options): string[] => {
  const { cache, concurrency, callSeconds } = options
  const model = modelOf(options)
  const { promptTokens, completionTokens, cost, minutes } = estimate
  return [
    ...(model === undefined ? ['judge        none is named: these verdicts would be null'] : []),
    `judge calls  ${formatInteger(calls)}${cache === undefined ? '' : `, ${formatInteger(cached)} of them answered by the cache: ${formatInteger(calls - cached)} to make`}`,
    `tokens       about ${formatInteger(promptTokens)} in (four characters a token), ${formatInteger(completionTokens)} out (256 an answer)`,
    `cost         ${cost === null ? 'unknown: give --price IN,OUT for a million tokens' : `about ${cost.toFixed(2)}, in the currency of --price`}`,
    `time         ${minutes === null ? 'unknown: give --call-seconds' : `about ${formatDuration(60 * minutes)} at ${concurrency} calls of ${callSeconds} s at a time`}`,
  ]
}
