/** @file `gradus judge check --preferences`: orders pairs by what a judge says of both answers, beside what people chose. */

import { areaUnderCurve, crossCalibrated, fitCalibration, reliability } from '../../eval/calibration.ts'
import { type LabelledPair, orderAgreement, pairMargin } from '../../eval/preferences.ts'
import type { Grader } from '../../grade/grader.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { creditOf } from '../../rubric/score.ts'
import { type Preference, somePreferences } from '../../runs/preferences.ts'
import { UsageError } from '../../util/errors.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { formatRate } from './judge.ts'

export interface JudgePairsOptions {
  preferences?: string
  rubric?: string
  concurrency: number
  minAgreement?: number
  json?: boolean
}

/** Every pair with the judge's credits in place of the run's. */
const judgedPairs = async (
  labels: readonly Preference[],
  grader: Grader,
  { rubric: path = '', concurrency }: JudgePairsOptions,
  signal: AbortSignal,
): Promise<LabelledPair[]> => {
  const { items } = readRubricFile(path)
  const rubricOf = (problemId: string) => {
    const item = items.length === 1 ? items[0] : items.find(({ id }) => id === problemId)
    if (item) return item.rubric
    throw new UsageError(`--rubric: ${path} has no rubric for ${JSON.stringify(problemId.slice(0, 80))}`)
  }
  const answers = labels.flatMap(({ problemId, prompt, a, b }) =>
    [a, b].map(({ response }) => ({ prompt, response, rubric: rubricOf(problemId) })),
  )
  const distinct = new Map(answers.map(own => [JSON.stringify([own.prompt, own.response]), own]))
  const graded = new Map<string, Record<string, number | null>>()
  const work = async ([key, { prompt, response, rubric }]: [string, (typeof answers)[number]]) => {
    const item = { id: key, prompt: [{ role: 'user' as const, content: prompt }], response }
    const verdicts = await grader.grade(item, rubric.criteria, { signal })
    graded.set(key, Object.fromEntries(verdicts.map(own => [own.criterionId, creditOf(own)])))
  }
  for await (const _ of mapInOrder(distinct, work, { concurrency }));
  return labels.map(({ problemId, prompt, a, b, choice }) => {
    const [first, second] = [a, b].map(({ response }) => ({
      credits: graded.get(JSON.stringify([prompt, response])) ?? {},
    }))
    const points = Object.fromEntries(rubricOf(problemId).criteria.map(own => [own.id, own.points]))
    return { problemId, points, choice, a: first, b: second }
  })
}

/** How well differences of points foretell choices; each prompt by a scale that the others taught. */
const qualityOf = (pairs: readonly LabelledPair[]) => {
  const rows = pairs
    .filter(({ choice }) => choice === 'a' || choice === 'b')
    .map(pair => ({ logOdds: pairMargin(pair), label: pair.choice === 'a', group: pair.problemId }))
  const held = crossCalibrated(rows)
  const calibrated = rows.flatMap((row, i) => (held[i] === null ? [] : [{ ...row, logOdds: held[i] }]))
  const credits = pairs.flatMap(({ a, b }) => [a, b].flatMap(own => Object.values(own.credits)))
  const scale = fitCalibration(rows)
  return {
    pairs: pairs.length,
    decided: rows.length,
    nullRate: credits.filter(credit => credit === null).length / Math.max(1, credits.length),
    agreement: orderAgreement(pairs),
    areaUnderCurve: areaUnderCurve(
      rows.map(({ logOdds }) => logOdds),
      rows.map(({ label }) => label),
    ),
    /** Points that make one answer e times as likely to be chosen; log-odds of the one that is shown first. */
    scale: scale && { pointsPerNat: scale.temperature, first: scale.bias },
    calibrated: calibrated.length === rows.length && rows.length > 0 ? reliability(calibrated) : null,
  }
}

const formatPairs = (quality: ReturnType<typeof qualityOf>): string => {
  const { pairs, decided, nullRate, agreement, scale, calibrated } = quality
  const lines = [
    `${pairs} pairs, ${decided} decided; verdicts missing: ${(100 * nullRate).toFixed(1)}%`,
    `ordered as people do: ${agreement ? formatRate(agreement) : '-'} of the decided ones, ties counting half`,
    scale === null
      ? 'no calibration: choices of both sides are needed, and differences that go with them'
      : `${scale.pointsPerNat.toPrecision(3)} points more make an answer e times as likely to be chosen; being shown first is worth ${(scale.first * scale.pointsPerNat).toPrecision(2)}`,
    ...(calibrated
      ? [
          `chances of the choices, by the other prompts: Brier score ${calibrated.brier.toFixed(3)} (0.25: nothing is known), calibration error ${calibrated.ece.toFixed(3)}`,
        ]
      : []),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Prints how a judge orders the pairs. Exit code 100 below `minAgreement`.
 * @throws DataError without choices; UsageError without a rubric, or where it has none for a prompt
 */
export const checkPairs = async (
  grader: Grader,
  options: JudgePairsOptions,
  io: Io,
  signal: AbortSignal,
): Promise<number> => {
  if (options.rubric === undefined)
    throw new UsageError('--preferences: expected --rubric FILE beside it, which answers are judged by')
  const labels = somePreferences(options.preferences ?? '')
  const quality = qualityOf(await judgedPairs(labels, grader, options, signal))
  if (options.json) printJson(io, quality)
  else io.out.write(formatPairs(quality))
  return (quality.agreement?.estimate ?? 0) < (options.minAgreement ?? 0) ? EXIT.belowThreshold : EXIT.ok
}
