/** @file The rubric linter: everything that can be found wrong with a rubric before it has judged anything. */

import { median } from '../util/descriptive.ts'
import { type Criterion, maxPoints, type Rubric } from './criterion.ts'
import { lintAbout } from './lint-about.ts'
import { type Finding, nameOf, SEVERITIES } from './lint-finding.ts'
import { lintPairs, type PairOptions } from './lint-pairs.ts'
import { lintWording } from './lint-wording.ts'

export interface PointOptions {
  /** Times the median of the points (without sign) beyond which points are out of proportion. Default 20. */
  absurdRatio?: number
  /** Share of all positive points above which one criterion decides alone. Default 0.5. */
  swampShare?: number
}

/** Fewer criteria than this have no proportion to be out of. */
const ENOUGH = 4

/** Findings about the points of a rubric; criteria may have points of 0 or NaN here, which files refuse. */
const lintPoints = (rubric: Rubric, { absurdRatio = 20, swampShare = 0.5 }: PointOptions = {}): Finding[] => {
  const { criteria } = rubric
  const usable = criteria.filter(({ points }) => Number.isFinite(points) && points !== 0)
  return [
    ...criteria.filter(criterion => !usable.includes(criterion)).map(worthNothing),
    ...noReward(rubric, usable),
    ...outOfProportion(usable, absurdRatio),
    ...swamping(usable, swampShare),
    ...oneWipesAll(usable),
  ]
}

const worthNothing = (criterion: Criterion): Finding => ({
  rule: Number.isFinite(criterion.points) ? 'zero-points' : 'absurd-points',
  severity: 'error',
  criterionIds: [criterion.id],
  message: `${nameOf(criterion)} has ${criterion.points} points: ${criterion.points === 0 ? 'its verdict changes nothing' : 'no score can be computed'}`,
  fix: `give ${criterion.id} points, or remove it`,
})

const noReward = (rubric: Rubric, usable: readonly Criterion[]): Finding[] => {
  if (usable.some(({ points }) => points > 0)) return []
  const empty = rubric.criteria.length === 0
  return [
    {
      rule: empty ? 'empty-rubric' : 'no-positive-points',
      severity: empty ? 'warning' : 'error',
      criterionIds: rubric.criteria.map(({ id }) => id),
      message: empty
        ? 'the rubric has no criteria: it gives every response the same score'
        : `none of ${rubric.criteria.map(({ id }) => id).join(', ')} earns points: the signed score divides by the sum of positive points and is undefined`,
      fix: 'add criteria with positive points that say what a good response does',
    },
  ]
}

const outOfProportion = (usable: readonly Criterion[], ratio: number): Finding[] => {
  if (usable.length < ENOUGH) return []
  const middle = median(usable.map(({ points }) => Math.abs(points)))
  return usable
    .filter(({ points, critical }) => Math.abs(points) > ratio * middle && !critical)
    .map(criterion => ({
      rule: 'absurd-points',
      severity: 'warning',
      criterionIds: [criterion.id],
      message: `${nameOf(criterion)} has ${round(Math.abs(criterion.points) / middle)} times the median points (${round(middle)})`,
      fix: `check the points of ${criterion.id} for a slip of the hand; keep points within one order of magnitude`,
    }))
}

const swamping = (usable: readonly Criterion[], share: number): Finding[] => {
  const whole = maxPoints({ criteria: [...usable] })
  const rewards = usable.filter(({ points }) => points > 0)
  if (rewards.length < ENOUGH) return []
  return rewards
    .filter(({ points }) => points > share * whole)
    .map(criterion => ({
      rule: 'swamping-points',
      severity: 'warning',
      criterionIds: [criterion.id],
      message: `${nameOf(criterion)} has ${Math.round((100 * criterion.points) / whole)}% of all positive points: the other ${rewards.length - 1} hardly count`,
      fix: `lower ${criterion.id}, or split it into the parts that make it worth so much`,
    }))
}

/** A penalty that outweighs everything a response can earn may be meant, as a veto; then it should be marked as one. */
const oneWipesAll = (usable: readonly Criterion[]): Finding[] => {
  const whole = maxPoints({ criteria: [...usable] })
  if (whole === 0) return []
  return usable
    .filter(({ points, critical }) => -points > whole && !critical)
    .map(criterion => ({
      rule: 'swamping-points',
      severity: 'warning',
      criterionIds: [criterion.id],
      message: `${nameOf(criterion)} costs more than all rewards together earn (${round(whole)}): with it every score is negative`,
      fix: `if it is a veto, mark ${criterion.id} \`critical: true\` and score with the rule \`veto\`; otherwise lower it`,
    }))
}

const round = (value: number): number => Number(value.toPrecision(3))

export interface LintOptions extends PairOptions, PointOptions {
  /** Rules not to report. */
  off?: readonly string[]
  /** Every rubric is one of thinking, also those that do not say so. */
  thinking?: boolean
}

/**
 * Static findings about a rubric, errors first, then in the order of the rules. Wording rules know English only, so that
 * they say nothing about other languages rather than something wrong.
 * @example
 * const criteria = [{ id: 'a', text: 'Names a source.', points: 1 }, { id: 'b', text: 'Names a source.', points: 1 }]
 * lintRubric({ criteria }).some(({ rule }) => rule === 'duplicate') // true
 */
export const lintRubric = (rubric: Rubric, options: LintOptions = {}): Finding[] => {
  const judged = rubric.criteria.filter(({ verifier }) => verifier === undefined)
  const findings = [
    ...lintPoints(rubric, options),
    ...lintPairs(rubric.criteria, options),
    ...lintWording(judged),
    ...(options.thinking || rubric.about === 'thinking' ? lintAbout(rubric.criteria) : []),
  ]
  return sortFindings(findings.filter(({ rule }) => !options.off?.includes(rule)))
}

/** Errors first, otherwise as they came. */
export const sortFindings = (findings: readonly Finding[]): Finding[] =>
  SEVERITIES.flatMap(severity => findings.filter(finding => finding.severity === severity))
