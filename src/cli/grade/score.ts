/** @file `gradus score FILE.jsonl`: one JSON line a row, in the order of the file. */

import { aggregateScores, nullRates } from '../../rubric/aggregate.ts'
import { parseGradedRow } from '../../rubric/graded-row.ts'
import { type NamedRule, ruleOf, type ScoreByRuleOptions } from '../../rubric/rules.ts'
import type { NullHandling, RubricScore } from '../../rubric/score.ts'
import { GradusError } from '../../util/errors.ts'
import { percent } from '../../util/format.ts'
import { type JsonlLine, parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { readText } from '../../util/text-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'

export interface ScoreCommandOptions {
  rule: string
  nulls: NullHandling
  undefined?: number
  scale: number
  vetoBelow: number
  saturation: number
  summary?: boolean
  json?: boolean
}

/**
 * Scores every row of a file by a rule. A row that cannot be used gets a line of its own with the reason, and the exit
 * code becomes 1; the other rows are still scored.
 * @throws UsageError for a rule that there is none of; DataError for a file that cannot be read.
 */
export const scoreCommand = (file: string, options: ScoreCommandOptions, io: Io): number => {
  const rule = ruleOf(options.rule)
  const scored: RubricScore[] = []
  let failed = 0
  for (const line of linesOf(file)) {
    try {
      const { id, result } = scoreLine(line, rule, options)
      scored.push(result)
      const { counts: _, ...shown } = result
      printJson(io, { id, ...shown })
    } catch (error) {
      if (!(error instanceof GradusError)) throw error
      failed += 1
      printJson(io, { score: null, error: error.message })
      io.err.write(`gradus: ${error.message}\n`)
    }
  }
  if (options.summary) io.err.write(`${summary(scored, failed, options.json ?? false)}\n`)
  return failed > 0 ? EXIT.failed : EXIT.ok
}

/** A `.json` file is one row, on as many lines as it likes: graded trees are often written so. */
const linesOf = (file: string): readonly JsonlLine[] =>
  file.endsWith('.json') ? [{ place: file, text: readText(file) }] : someJsonlLines(file)

const scoreLine = ({ place, text }: JsonlLine, rule: NamedRule, options: ScoreCommandOptions) => {
  const ruleOptions: ScoreByRuleOptions = {
    nulls: options.nulls,
    whenUndefined: options.undefined ?? null,
    scale: options.scale,
    vetoBelow: options.vetoBelow,
    saturation: options.saturation,
  }
  return parseRow(text, place, value => {
    const { id, rubric, verdicts } = parseGradedRow(value, { levels: rule.levels ?? false })
    return { id, result: rule.score(rubric, verdicts, ruleOptions) }
  })
}

const missing = (rate: number | null) => (rate === null ? 'none to give' : percent(rate))

/** The file as one metric: the clipped mean with its bootstrap spread, as HealthBench reports a data set. */
const summary = (scores: readonly RubricScore[], failed: number, asJson: boolean): string => {
  const aggregate = aggregateScores(scores.map(({ score }) => score))
  const nulls = nullRates(scores)
  if (asJson) return JSON.stringify({ ...aggregate, failed, nullRates: nulls })
  const { mean, bootstrapStd, scored, skipped } = aggregate
  const metric =
    mean === null ? 'no score' : `mean ${mean.toFixed(4)} (bootstrap sd ${bootstrapStd.toFixed(4)})`
  return [
    `${metric} over ${scored} rows, the mean clipped to [0, 1]; ${skipped} undefined, ${failed} unusable`,
    `verdicts missing: ${missing(nulls.positive)} of rewards, ${missing(nulls.negative)} of penalties`,
  ].join('\n')
}
