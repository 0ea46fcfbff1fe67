/** @file Log-odds beside labels: how well they tell true from false, what temperature and bias they need, how far they can be believed. */

import { midranks } from './agreement.ts'

/** What makes log-odds of yes believable: divided by `temperature`, then `bias` added (nats). */
export interface Calibration {
  temperature: number
  bias: number
}

/** Log-odds of yes beside the truth. */
export interface LabelledLogOdds {
  logOdds: number
  label: boolean
}

export const calibrated = (logOdds: number, { temperature, bias }: Calibration): number =>
  logOdds / temperature + bias

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/**
 * Area under the ROC curve: the chance that a true row scores higher than a false one, ties counting half; null where one kind is missing.
 * @example
 * areaUnderCurve([0.9, 0.4, 0.6], [true, false, false]) // 1
 */
export const areaUnderCurve = (scores: readonly number[], labels: readonly boolean[]): number | null => {
  const ranks = midranks(scores)
  const trues = labels.filter(Boolean).length
  const falses = labels.length - trues
  if (trues === 0 || falses === 0) return null
  const sum = labels.reduce((total, label, i) => total + (label ? ranks[i] : 0), 0)
  return (sum - (trues * (trues + 1)) / 2) / (trues * falses)
}

/** Newton's steps; a handful are enough, as the loss is convex in two numbers. */
const MOST_STEPS = 100

/**
 * Temperature and bias of the least cross-entropy, towards targets a little off 0 and 1, so that labels that can be distinguished
 * without an error have one too (Platt 1999; Lin, Lin, Weng 2007).
 * @returns null where one kind of label is missing, where all log-odds are the same, or where yes is the less likely the truer it
 *   is: no temperature mends that
 */
export const fitCalibration = (rows: readonly LabelledLogOdds[]): Calibration | null => {
  const trues = rows.filter(({ label }) => label).length
  const falses = rows.length - trues
  if (trues === 0 || falses === 0 || rows.every(({ logOdds }) => logOdds === rows[0].logOdds)) return null
  const targets = rows.map(({ label }) => (label ? (trues + 1) / (trues + 2) : 1 / (falses + 2)))
  const lossAt = (slope: number, bias: number) =>
    rows.reduce((sum, { logOdds }, i) => {
      const z = slope * logOdds + bias
      return sum + Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - targets[i] * z
    }, 0)
  let slope = 0
  let bias = Math.log((trues + 1) / (falses + 1))
  let loss = lossAt(slope, bias)
  for (let step = 0; step < MOST_STEPS; step++) {
    const [ds, db] = newtonStep(rows, targets, slope, bias)
    let share = 1
    while (share > 1e-6 && !(lossAt(slope - share * ds, bias - share * db) < loss)) share /= 2
    if (share <= 1e-6) break
    slope -= share * ds
    bias -= share * db
    loss = lossAt(slope, bias)
  }
  return slope > 0 ? { temperature: 1 / slope, bias } : null
}

const newtonStep = (
  rows: readonly LabelledLogOdds[],
  targets: readonly number[],
  slope: number,
  bias: number,
): [number, number] => {
  let [gs, gb, hss, hsb, hbb] = [0, 0, 1e-12, 0, 1e-12]
  for (const [i, { logOdds }] of rows.entries()) {
    const p = sigmoid(slope * logOdds + bias)
    const weight = p * (1 - p)
    gs += (p - targets[i]) * logOdds
    gb += p - targets[i]
    hss += weight * logOdds * logOdds
    hsb += weight * logOdds
    hbb += weight
  }
  const determinant = hss * hbb - hsb * hsb
  return [(hbb * gs - hsb * gb) / determinant, (hss * gb - hsb * gs) / determinant]
}

const FOLDS = 5

/**
 * Log-odds calibrated by what other groups' labels say: groups are dealt into five parts, each calibrated on the other four.
 * @returns in the order of the rows; null where the other four allow no calibration
 */
export const crossCalibrated = (
  rows: readonly (LabelledLogOdds & { group: string })[],
): (number | null)[] => {
  const groups = [...new Set(rows.map(({ group }) => group))]
  const foldOf = new Map(groups.map((group, i) => [group, i % FOLDS]))
  const fits = Array.from({ length: FOLDS }, (_, fold) =>
    fitCalibration(rows.filter(({ group }) => foldOf.get(group) !== fold)),
  )
  return rows.map(({ logOdds, group }) => {
    const fit = fits[foldOf.get(group)!]
    return fit && calibrated(logOdds, fit)
  })
}

/** Rows whose yes is about as likely. */
export interface ReliabilityBin {
  rows: number
  /** Mean probability of yes; share of rows that are true. */
  said: number
  true: number
}

export interface Reliability {
  /** Mean square of probability less truth. */
  brier: number
  /** Mean distance of what is said from what is true, over ten bins of equal width (Guo et al. 2017). */
  ece: number
  /** Those that have rows, from 0 to 1. */
  bins: ReliabilityBin[]
}

const BINS = 10

export const reliability = (rows: readonly LabelledLogOdds[]): Reliability => {
  const labelled = rows.map(({ logOdds, label }) => ({ p: sigmoid(logOdds), truth: Number(label) }))
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const bins = Array.from({ length: BINS }, (_, bin) =>
    labelled.filter(({ p }) => Math.min(BINS - 1, Math.floor(BINS * p)) === bin),
  )
    .filter(({ length }) => length > 0)
    .map(own => ({
      rows: own.length,
      said: mean(own.map(({ p }) => p)),
      true: mean(own.map(({ truth }) => truth)),
    }))
  return {
    brier: mean(labelled.map(({ p, truth }) => (p - truth) ** 2)),
    ece: bins.reduce((sum, bin) => sum + bin.rows * Math.abs(bin.said - bin.true), 0) / rows.length,
    bins,
  }
}
