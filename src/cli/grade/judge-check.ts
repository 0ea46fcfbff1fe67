/** @file `gradus judge check`: asks a judge about labelled verdicts and says how often it errs. */

import {
  areaUnderCurve,
  type Calibration,
  crossCalibrated,
  fitCalibration,
  type Reliability,
  reliability,
} from '../../eval/calibration.ts'
import { type JudgeQuality, type JudgeRates, judgeQuality } from '../../eval/judge-quality.ts'
import { type LabelledPair, orderAgreement, pairMargin } from '../../eval/preferences.ts'
import { reliabilitySvg } from '../../eval/reliability-picture.ts'
import { pictureFor } from '../../eval/share-picture.ts'
import type { Grader } from '../../grade/grader.ts'
import {
  type CheckedCase,
  checkGrader,
  type LabelledCase,
  parseLabelledCase,
} from '../../grade/judge/calibration.ts'
import { verdictDemonstration } from '../../grade/judge/demonstrations.ts'
import type { JudgedVerdict } from '../../grade/judge/verdicts.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { creditOf } from '../../rubric/score.ts'
import { type Preference, somePreferences } from '../../runs/preferences.ts'
import { countEach } from '../../util/descriptive.ts'
import { UsageError } from '../../util/errors.ts'
import { number } from '../../util/format.ts'
import { mapInOrder } from '../../util/in-order.ts'
import { parseRow, someJsonlLines } from '../../util/jsonl.ts'
import { assertWritable, writeOutput } from '../../util/output-file.ts'
import { openJudgeModel } from '../eval/judges.ts'
import { measuredUntilInterrupted } from '../interrupts.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { formatRate, type JudgeCommandOptions } from './judge.ts'

export interface JudgeCheckOptions extends JudgeCommandOptions {
  labels?: string
  preferences?: string
  rubric?: string
  threads: number
  minAgreement?: number
  /** Where the picture of reliability goes. */
  svg?: string
  json?: boolean
}

const casesOf = (labels: string): LabelledCase[] =>
  someJsonlLines(labels, 'label').map(({ text, place }) => parseLabelledCase(parseRow(text, place), place))

/** Prints labelled verdicts as demonstrations for `sft`. @throws DataError for labels that cannot be used */
export const judgeDemonstrations = (labels: string, io: Io): number => {
  for (const row of casesOf(labels).map(verdictDemonstration)) io.out.write(`${JSON.stringify(row)}\n`)
  return EXIT.ok
}

/**
 * Prints the judge's quality. Exit code 100 when agreement is below `minAgreement`, or could not be measured.
 * @throws DataError for labels that cannot be used; JudgeError when every call would fail
 */
export const judgeCheck = async (options: JudgeCheckOptions, io: Io): Promise<number> => {
  if ((options.labels === undefined) === (options.preferences === undefined))
    throw new UsageError('judge check: expected either --labels FILE or --preferences RUN')
  if (options.svg !== undefined && (options.labels === undefined || options.levels !== 'likelihood'))
    throw new UsageError('--svg: expected --labels FILE --levels likelihood beside it')
  if (options.svg !== undefined) assertWritable(options.svg)
  const cases = options.labels === undefined ? null : casesOf(options.labels)
  const { judge: named, model: judgeModel, apiKeyEnv, cache, threads } = options
  const way = { ...options, modelOption: 'model' }
  const asked = { judge: named, judgeModel, apiKeyEnv, cache, threads, way }
  const judge = await openJudgeModel(asked, '--judge', io)
  if (!judge) throw new UsageError('--judge: expected the address of a judge, got none')
  try {
    return await measuredUntilInterrupted(io, async signal => {
      const check =
        cases === null
          ? checkPairs(judge.grader, options, io, signal)
          : checkCases(judge.grader, cases, options, io, signal)
      const code = await check
      if (judge.describe) io.err.write(`${judge.describe()}\n`)
      return code
    })
  } finally {
    await judge.close()
  }
}

/** Prints how a judge agrees with labels, and how fast it is. Exit code 100 below `minAgreement`. */
const checkCases = async (
  grader: Grader,
  cases: readonly LabelledCase[],
  { judge, concurrency, levels, svg, json, minAgreement = 0 }: JudgeCheckOptions,
  io: Io,
  signal: AbortSignal,
): Promise<number> => {
  const startMs = performance.now()
  const rows = await checkGrader(grader, cases, { concurrency, signal })
  const pace = paceOf(rows.length, startMs)
  const quality = qualityOf(rows)
  const likelihood = levels === 'likelihood' ? likelihoodOf(rows) : null
  if (json) printJson(io, { ...quality, ...pace, ...(likelihood && { likelihood }) })
  else
    io.out.write(
      `${formatQuality(quality)}${reasons(rows)}${formatPace(pace)}${likelihood ? formatLikelihood(likelihood) : ''}`,
    )
  if (svg !== undefined && likelihood === null) {
    io.err.write(`gradus: no verdict has a likelihood; ${svg} was not written\n`)
    return EXIT.failed
  }
  if (svg !== undefined && likelihood) {
    const title = `Reliability of ${judge}`
    writeOutput(svg, pictureFor(svg, reliabilitySvg(likelihood.raw, likelihood.calibrated, title), title))
    io.err.write(`${svg} written\n`)
  }
  const agreement = (likelihood?.calibrated?.agreement ?? quality.all.agreement)?.estimate ?? 0
  return agreement < minAgreement ? EXIT.belowThreshold : EXIT.ok
}

/** How fast verdicts came: by the clock, so no two runs say the same; those of a cache count too. */
const paceOf = (verdicts: number, startMs: number) => {
  const seconds = (performance.now() - startMs) / 1000
  return { seconds, verdictsPerSecond: verdicts / seconds }
}

const formatPace = ({ seconds, verdictsPerSecond }: ReturnType<typeof paceOf>): string =>
  `${number(seconds)} s, ${number(verdictsPerSecond)} verdicts a second\n`

const qualityOf = (rows: readonly Pick<CheckedCase, 'points' | 'label' | 'verdict' | 'group'>[]) =>
  judgeQuality(rows.map(({ points, label, verdict, group }) => ({ points, label, verdict, group })))

/** How far likelihoods can be believed; calibrated ones by labels of other responses, never their own. */
interface LikelihoodQuality {
  verdicts: number
  areaUnderCurve: number | null
  raw: Reliability
  calibrated: (Reliability & Pick<JudgeRates, 'agreement'>) | null
  /** By all labels: for settings. */
  calibration: Calibration | null
}

/** Null where no verdict has likelihoods. */
const likelihoodOf = (rows: readonly CheckedCase[]): LikelihoodQuality | null => {
  const labelled = rows.flatMap(row => {
    const { logOdds } = row.said as JudgedVerdict
    return logOdds === undefined ? [] : [{ ...row, logOdds }]
  })
  if (labelled.length === 0) return null
  const held = crossCalibrated(labelled)
  const calibrated = labelled.flatMap((row, i) => {
    const logOdds = held[i]
    return logOdds === null ? [] : [{ ...row, logOdds, verdict: logOdds > 0 }]
  })
  return {
    verdicts: labelled.length,
    areaUnderCurve: areaUnderCurve(
      labelled.map(({ logOdds }) => logOdds),
      labelled.map(({ label }) => label),
    ),
    raw: reliability(labelled),
    calibrated:
      calibrated.length === labelled.length
        ? { ...reliability(calibrated), agreement: qualityOf(calibrated).all.agreement }
        : null,
    calibration: fitCalibration(labelled),
  }
}

/** Why there are verdicts missing: the commonest reasons. */
const reasons = (rows: readonly CheckedCase[]): string => {
  const counts = countEach(
    rows.flatMap(({ verdict, said }) => (verdict === null ? [said.explanation ?? 'no reason'] : [])),
  )
  const commonest = [...counts].sort(([, a], [, b]) => b - a).slice(0, MOST_REASONS)
  return commonest.map(([reason, count]) => `no verdict ${count} x: ${reason}\n`).join('')
}

const MOST_REASONS = 3

const fixed = (value: number): string => value.toFixed(3)
/** As settings take it: digits that count, however small. */
const setting = (value: number): number => Number(value.toPrecision(5))

const BAR = 40

const formatLikelihood = ({
  verdicts,
  areaUnderCurve,
  raw,
  calibrated,
  calibration,
}: LikelihoodQuality): string => {
  const head = `\nlikelihoods of ${verdicts} verdicts: area under the ROC curve ${areaUnderCurve === null ? '-' : fixed(areaUnderCurve)}; as they are Brier score ${fixed(raw.brier)}, calibration error ${fixed(raw.ece)}`
  if (calibration === null)
    return `${head}\nno calibration: labels of both kinds are needed, and likelihoods that rise with them\n`
  const { temperature, bias } = calibration
  const settings = `settings of this judge: ask: { levels: likelihood, calibration: { temperature: ${setting(temperature)}, bias: ${setting(bias)} } }`
  if (calibrated === null)
    return `${head}\nnot checked on other responses: too few of them have labels of both kinds\n${settings}\n`
  const bins = calibrated.bins.map(
    ({ rows, said, true: share }) =>
      `  ${said.toFixed(2)}  ${share.toFixed(2)}  ${String(rows).padStart(5)}  ${'█'.repeat(Math.round(BAR * share))}`,
  )
  return `${[
    head,
    `calibrated on the other responses: agreement ${calibrated.agreement ? formatRate(calibrated.agreement) : '-'}, Brier score ${fixed(calibrated.brier)}, calibration error ${fixed(calibrated.ece)}`,
    '  said  true   rows',
    ...bins,
    settings,
  ].join('\n')}\n`
}

const formatRow = (name: string, rates: JudgeRates): string =>
  [
    name.padEnd(10),
    `${rates.judged}/${rates.rows}`.padEnd(12),
    ...[rates.agreement, rates.falseAccept, rates.falseReject, rates.nullRate].map(rate =>
      (rate === null ? '-' : formatRate(rate)).padEnd(22),
    ),
    rates.kappa === null ? '-' : rates.kappa.toFixed(3),
  ]
    .join('')
    .trimEnd()

const formatQuality = ({ all, positive, negative, nullsAcceptable }: JudgeQuality): string => {
  const heads = ['agreement', 'false accept', 'false reject', 'no verdict'].map(head => head.padEnd(22))
  const lines = [
    ['criteria'.padEnd(10), 'judged'.padEnd(12), ...heads, 'kappa'].join(''),
    formatRow('merits', positive),
    formatRow('flaws', negative),
    formatRow('all', all),
  ]
  if (!nullsAcceptable)
    lines.push('more than 5% of the verdicts of one sign are missing: do not train on this judge')
  return `${lines.join('\n')}\n`
}

/** Every pair with the judge's credits in place of the run's. */
const judgedPairs = async (
  labels: readonly Preference[],
  grader: Grader,
  { rubric: path = '', concurrency }: JudgeCheckOptions,
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

/** How well differences of points predict choices; each prompt by a scale that the others taught. */
const pairQuality = (pairs: readonly LabelledPair[]) => {
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

const formatPairs = (quality: ReturnType<typeof pairQuality>): string => {
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
const checkPairs = async (
  grader: Grader,
  options: JudgeCheckOptions,
  io: Io,
  signal: AbortSignal,
): Promise<number> => {
  if (options.rubric === undefined)
    throw new UsageError('--preferences: expected --rubric FILE beside it, which answers are judged by')
  const labels = somePreferences(options.preferences ?? '')
  const quality = pairQuality(await judgedPairs(labels, grader, options, signal))
  if (options.json) printJson(io, quality)
  else io.out.write(formatPairs(quality))
  return (quality.agreement?.estimate ?? 0) < (options.minAgreement ?? 0) ? EXIT.belowThreshold : EXIT.ok
}
