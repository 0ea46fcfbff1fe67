/** @file Weights of criteria from pairs that people chose from: a Bradley-Terry model around the present points, and which pair to ask about next. */

import { countEach, mean } from '../util/descriptive.ts'
import { type Estimate, pairedBootstrapInterval, wilsonInterval } from '../util/intervals.ts'
import { ownValue } from '../util/own-value.ts'

type ById<Value> = Readonly<Record<string, Value>>

/** An answer's credit in [0, 1] by criterion; null where its grader gave none. */
export interface PairSide {
  credits: ById<number | null>
}

/** Two answers to one prompt. */
export interface AnswerPair {
  problemId: string
  /** Present points of the criteria that weigh here. */
  points: ById<number>
  a: PairSide
  b: PairSide
}

/** What a person said of a pair. `unsure` teaches nothing. */
export type PairChoice = 'a' | 'b' | 'alike' | 'unsure'

export interface LabelledPair extends AnswerPair {
  choice: PairChoice
}

/** Of so many criteria at most weights are learnt, of those in which most pairs differ; the others keep their points. */
const MOST_LEARNT = 64
/** Scales of the answers in log-odds a criterion of mean points, and doubts in the points as shares of their mean. */
const SCALES = [0.125, 0.25, 0.5, 1, 2, 4, 8]
const DOUBTS = [0, 0.125, 0.25, 0.5, 1, 2]
/** A criterion keeps its sign: what people pay against is left so small a share of the mean points. */
const LEAST_SHARE = 0.01
const NEWTON_STEPS = 50
const FOLDS = 5

const meanSize = (points: readonly number[]): number =>
  points.reduce((sum, own) => sum + Math.abs(own), 0) / Math.max(1, points.length)

/** Credit of A less credit of B; 0 where either is not known: a failed verdict is no evidence. */
const difference = ({ a, b }: AnswerPair, id: string): number => {
  const [own, other] = [ownValue(a.credits, id) ?? null, ownValue(b.credits, id) ?? null]
  return own === null || other === null ? 0 : own - other
}

/** How much more the rubric gives A than B, in points: what every rule that adds up points orders them by. */
export const pairMargin = (pair: AnswerPair, points: ById<number> = pair.points): number =>
  Object.entries(points).reduce((sum, [id, own]) => sum + own * difference(pair, id), 0)

interface Frame {
  /** Criteria whose points are learnt. */
  ids: string[]
  /** Mean size of the points: what scale and doubt are in. */
  unit: number
  /** Mean points of each criterion, in units. */
  present: number[]
}

const frameOf = (pairs: readonly AnswerPair[]): Frame => {
  const counts = countEach(
    pairs.flatMap(pair => Object.keys(pair.points).filter(id => difference(pair, id) !== 0)),
  )
  const byCount = [...counts].sort(([, a], [, b]) => b - a).map(([id]) => id)
  const ids = byCount.slice(0, MOST_LEARNT)
  const unit = meanSize(pairs.flatMap(({ points }) => Object.values(points))) || 1
  const present = ids.map(id => mean(pairs.flatMap(({ points }) => ownValue(points, id) ?? [])) / unit)
  return { ids, unit, present }
}

/** A pair in numbers: its margin by the present points in units of their mean size, and its differences. */
const numbersOf = (pair: AnswerPair, { ids, unit }: Frame) => ({
  present: pairMargin(pair) / unit,
  x: ids.map(id => (Object.hasOwn(pair.points, id) ? difference(pair, id) : 0)),
})

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, own, i) => sum + own * b[i], 0)

const sigmoid = (z: number): number => 1 / (1 + Math.exp(-z))

/** Lower triangle L of a positive definite matrix, with L L' the matrix. */
const cholesky = (matrix: readonly (readonly number[])[]): number[][] => {
  const lower = matrix.map(row => row.map(() => 0))
  for (const [i, row] of matrix.entries())
    for (let j = 0; j <= i; j++) {
      let sum = row[j]
      for (let k = 0; k < j; k++) sum -= lower[i][k] * lower[j][k]
      lower[i][j] = i === j ? Math.sqrt(sum) : sum / lower[j][j]
    }
  return lower
}

const solve = (lower: readonly (readonly number[])[], right: readonly number[]): number[] => {
  const y = [...right]
  for (let i = 0; i < y.length; i++) {
    for (let k = 0; k < i; k++) y[i] -= lower[i][k] * y[k]
    y[i] /= lower[i][i]
  }
  for (let i = y.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < y.length; k++) y[i] -= lower[k][i] * y[k]
    y[i] /= lower[i][i]
  }
  return y
}

/** What is added to the points of criteria, in units. */
interface Shifted {
  ids: string[]
  unit: number
  shifts: number[]
}

/** Points at the mode of what they may be for one scale and doubt. */
interface ModeFit extends Shifted {
  /** Cholesky factor of the precision of scale x shifts; null where they are held. */
  precision: number[][] | null
  logEvidence: number
}

/** Points as the choices make them likely. */
export interface PointsFit extends Shifted {
  /** Standard deviation of each one's points, in points. */
  deviations: number[]
  /** How likely it is that points are others than the present ones; a half before anybody chose. */
  moved: number
}

const TARGET: Record<Exclude<PairChoice, 'unsure'>, number> = { a: 1, b: 0, alike: 0.5 }

type Targets = readonly (ReturnType<typeof numbersOf> & { target: number })[]

const lossOf = (rows: Targets, scale: number, theta: readonly number[], variance: number): number =>
  rows.reduce(
    (sum, { present, x, target }) => {
      const z = scale * present + dot(theta, x)
      return sum + Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - target * z
    },
    dot(theta, theta) / (2 * variance),
  )

/** Gradient and Cholesky factor of the Hessian of the loss. */
const slopeOf = (rows: Targets, scale: number, theta: readonly number[], variance: number) => {
  const gradient = theta.map(own => own / variance)
  const hessian = theta.map((_, i) => theta.map((__, j) => (i === j ? 1 / variance : 0)))
  for (const { present, x, target } of rows) {
    const p = sigmoid(scale * present + dot(theta, x))
    for (const [i, own] of x.entries()) {
      if (own === 0) continue
      gradient[i] += (p - target) * own
      for (let j = 0; j <= i; j++) hessian[i][j] += p * (1 - p) * own * x[j]
    }
  }
  return { gradient, lower: cholesky(hessian) }
}

/**
 * Mode and evidence (Laplace) for one scale and doubt: P(A better) = sigmoid(scale (sum of points x differences)), points in units
 * of their mean, each normal around the present ones with standard deviation `doubt`.
 */
const fitAt = (rows: Targets, frame: Frame, scale: number, doubt: number): ModeFit => {
  const variance = (scale * doubt) ** 2
  let theta = frame.ids.map(() => 0)
  if (variance === 0 || theta.length === 0)
    return {
      ...{ ...frame, shifts: theta, precision: null },
      logEvidence: -lossOf(rows, scale, theta, 1),
    }
  let loss = lossOf(rows, scale, theta, variance)
  for (let step = 0; step < NEWTON_STEPS; step++) {
    const { gradient, lower } = slopeOf(rows, scale, theta, variance)
    const change = solve(lower, gradient)
    if (dot(gradient, change) < 1e-9) break
    const along = (share: number) => theta.map((own, i) => own - share * change[i])
    let share = 1
    while (share > 1e-6 && !(lossOf(rows, scale, along(share), variance) < loss)) share /= 2
    if (share <= 1e-6) break
    theta = along(share)
    loss = lossOf(rows, scale, theta, variance)
  }
  const { lower } = slopeOf(rows, scale, theta, variance)
  const logDeterminant = lower.reduce((sum, row, i) => sum + 2 * Math.log(row[i]), 0)
  return {
    ...{ ...frame, shifts: theta.map(own => own / scale), precision: lower },
    logEvidence: -loss - 0.5 * (logDeterminant + theta.length * Math.log(variance)),
  }
}

const targetsOf = (pairs: readonly LabelledPair[], frame: Frame): Targets =>
  pairs.flatMap(pair =>
    pair.choice === 'unsure' ? [] : [{ ...numbersOf(pair, frame), target: TARGET[pair.choice] }],
  )

/** A fit's points with the same sum of sizes as the present ones, and their variances; in units. */
const normalised = ({ present }: Frame, { shifts, precision }: ModeFit, scale: number) => {
  const points = present.map((own, i) => own + shifts[i])
  const factor = meanSize(present) / (meanSize(points) || 1)
  const column = (i: number) => points.map((_, j) => Number(i === j))
  const variances = points.map((_, i) => (precision === null ? 0 : solve(precision, column(i))[i]))
  return {
    points: points.map(own => own * factor),
    variances: variances.map(own => own * (factor / scale) ** 2),
  }
}

/**
 * Points that make the choices likely, around the present ones: logistic regression on differences of credits (Bradley-Terry with
 * the points as coefficients), an alike pair half won by each. How decided people are, and how far their points may lie from the
 * present ones (half of the prior: not at all), is averaged over by how likely either makes the choices (Laplace's method). So
 * choices at random leave the points about where they were.
 */
export const fitPoints = (pairs: readonly LabelledPair[]): PointsFit => {
  const frame = frameOf(pairs)
  const rows = targetsOf(pairs, frame)
  const fits = SCALES.flatMap(scale =>
    DOUBTS.map(doubt => {
      const fit = fitAt(rows, frame, scale, doubt)
      const prior = doubt === 0 ? 0 : -Math.log(DOUBTS.length - 1)
      return { ...normalised(frame, fit, scale), logWeight: fit.logEvidence + prior, isMoved: doubt > 0 }
    }),
  )
  const most = Math.max(...fits.map(({ logWeight }) => logWeight))
  const weights = fits.map(({ logWeight }) => Math.exp(logWeight - most))
  const total = weights.reduce((sum, own) => sum + own, 0)
  const averaged = (of: (fit: (typeof fits)[number]) => number) =>
    fits.reduce((sum, fit, i) => sum + (weights[i] / total) * of(fit), 0)
  const points = frame.ids.map((_, k) => averaged(own => own.points[k]))
  return {
    ...{ ids: frame.ids, unit: frame.unit, shifts: points.map((own, k) => own - frame.present[k]) },
    deviations: points.map(
      (centre, k) =>
        frame.unit * Math.sqrt(averaged(own => own.variances[k] + (own.points[k] - centre) ** 2)),
    ),
    moved: averaged(({ isMoved }) => Number(isMoved)),
  }
}

/** Points at the mode, of either sign. */
const shiftedPoints = (
  points: ById<number>,
  { ids, unit, shifts }: Shifted,
): [id: string, points: number][] =>
  Object.entries(points).map(([id, own]) => [id, own + (shifts[ids.indexOf(id)] ?? 0) * unit])

/** Points by a fit, each with the sign that it had. */
export const fittedPoints = (points: ById<number>, fit: PointsFit): Record<string, number> =>
  Object.fromEntries(
    shiftedPoints(points, fit).map(([id, own]) => {
      const sign = Math.sign(points[id])
      return [id, own === points[id] ? own : sign * Math.max(sign * own, LEAST_SHARE * fit.unit)]
    }),
  )

const isDecided = ({ choice }: LabelledPair): boolean => choice === 'a' || choice === 'b'

/** 1 where the margin says what the person said, 1/2 where it says nothing. */
const rightness = (pair: LabelledPair, margin: number): number =>
  margin === 0 ? 0.5 : Number(margin > 0 === (pair.choice === 'a'))

/** Mean of what is right, with Wilson's interval. */
const shareRight = (right: readonly number[]): Estimate =>
  wilsonInterval(
    right.reduce((sum, own) => sum + own, 0),
    right.length,
  )

/** Share of decided pairs that the present points order as people do; null where none is decided. */
export const orderAgreement = (pairs: readonly LabelledPair[]): Estimate | null => {
  const right = pairs.filter(isDecided).map(pair => rightness(pair, pairMargin(pair)))
  return right.length === 0 ? null : shareRight(right)
}

/** How the points of fits on other prompts order held-out pairs, beside the present ones. */
export interface HeldOutOrder {
  pairs: number
  fitted: Estimate
  present: Estimate
  /** Fitted less present; its interval is over prompts. */
  gain: Estimate
}

/** Prompts are dealt into five parts, each ordered by what the other four teach. Null for fewer than five prompts. */
export const heldOutOrder = (pairs: readonly LabelledPair[]): HeldOutOrder | null => {
  const decided = pairs.filter(isDecided)
  const problems = [...new Set(decided.map(({ problemId }) => problemId))]
  if (problems.length < FOLDS) return null
  const foldOf = new Map(problems.map((id, i) => [id, i % FOLDS]))
  const fits = Array.from({ length: FOLDS }, (_, fold) =>
    fitPoints(pairs.filter(({ problemId }) => foldOf.get(problemId) !== fold)),
  )
  const rows = decided.map(pair => {
    const margin = pairMargin(pair, fittedPoints(pair.points, fits[foldOf.get(pair.problemId)!]))
    return { id: pair.problemId, fitted: rightness(pair, margin), present: rightness(pair, pairMargin(pair)) }
  })
  const byProblem = (of: 'fitted' | 'present') =>
    problems.map(id => rows.filter(row => row.id === id).map(row => row[of]))
  return {
    pairs: rows.length,
    fitted: shareRight(rows.map(own => own.fitted)),
    present: shareRight(rows.map(own => own.present)),
    gain: pairedBootstrapInterval(byProblem('fitted'), byProblem('present')),
  }
}

/** A pair that a person could be asked about. */
export interface CandidatePair extends AnswerPair {
  /** Variances of the credits that a judge is not sure of: 1/4 without a verdict, c (1 - c) for a credit c. */
  unsure: readonly { id: string; variance: number }[]
}

/**
 * What a person's choice tells of points and unsure verdicts together, nats: the fall of their log-determinant when the margin is
 * linear in both (Bayesian D-optimal design of a logistic model).
 *
 *   gain = 1/2 log(1 + p (1 - p) (x' S x + sum over unsure verdicts of w^2 v))
 *
 * with p = sigmoid(w x), x the differences of credits, w the points at their mode and S their covariance after the answers so far
 * (units, scale and doubt 1), v the variance of a verdict. D-optimal choice of comparisons, one by one: Guo et al., arXiv 1901.06080; of preferences under a
 * logistic model: Kveton et al., arXiv 2503.01076 (abstracts read).
 */
const pairGain = (pair: CandidatePair, frame: Frame, fit: ModeFit): number => {
  const { x } = numbersOf(pair, frame)
  const points = Object.fromEntries(shiftedPoints(pair.points, fit))
  const p = sigmoid(pairMargin(pair, points) / fit.unit)
  const ofPoints = fit.precision === null ? 0 : dot(x, solve(fit.precision, x))
  const ofVerdicts = pair.unsure.reduce(
    (sum, { id, variance }) => sum + ((ownValue(points, id) ?? 0) / fit.unit) ** 2 * variance,
    0,
  )
  return 0.5 * Math.log1p(p * (1 - p) * (ofPoints + ofVerdicts))
}

/**
 * The pair that tells most, its gain divided by one more than the answers that its prompt has; the first of several that tell the
 * same. Null where no pair tells anything.
 */
export const nextPair = <Pair extends CandidatePair>(
  candidates: readonly Pair[],
  labelled: readonly LabelledPair[],
): Pair | null => {
  const frame = frameOf([...labelled, ...candidates])
  const fit = fitAt(targetsOf(labelled, frame), frame, 1, 1)
  const asked = countEach(labelled.map(({ problemId }) => problemId))
  let [best, most]: [Pair | null, number] = [null, 0]
  for (const pair of candidates) {
    const gain = pairGain(pair, frame, fit) / (1 + (asked.get(pair.problemId) ?? 0))
    if (gain > most) [best, most] = [pair, gain]
  }
  return best
}
