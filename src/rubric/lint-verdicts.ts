/** @file What verdicts of a run show about a rubric: criteria that say nothing, mislead, or that the judge cannot decide. */

import { wholePercent } from '../util/format.ts'
import { wilsonInterval } from '../util/intervals.ts'
import { holm } from '../util/significance.ts'
import type { Criterion, Rubric } from './criterion.ts'
import { sortFindings } from './lint.ts'
import { type Finding, nameOf } from './lint-finding.ts'
import { antiCorrelationTest, chanceAllConstant, type Group, withinCorrelation } from './lint-statistics.ts'
import { type VerdictRow, verdictsOnOthers } from './verdict-rows.ts'

export interface LintVerdictsOptions {
  /** A criterion that is met this often says nothing about a response. Default 0.95. */
  saturatedShare?: number
  /** The least correlation with the outcome that a criterion should have. Default 0.2 (RLCER). */
  minCorrelation?: number
  /** The least agreement of a judge with itself. Default 0.9 (RiT). */
  minAgreement?: number
  /** The highest share of failed verdicts. Default 0.05. */
  maxNullShare?: number
  /** Level of tests, for all criteria together (Holm). Default 0.05. */
  alpha?: number
  seed?: number | string
  /** Rules not to report. */
  off?: readonly string[]
}

/** Confidence of one-sided bounds is 95%: the limits of a two-sided interval of 90%. */
const TWO_SIDED = 0.9
/** A share must be known this well before a criterion is called saturated or never met. */
const KNOWN_SHARE = 0.8

interface Column {
  criterion: Criterion
  /** First judgements, with the row they belong to. */
  entries: { credit: number; row: VerdictRow }[]
  nulls: number
  /** Agreement of each response's repeated judgements with each other. */
  agreements: number[]
}

/**
 * Findings from the verdicts of a run, errors first. Nothing is reported that chance would do: shares are judged by the
 * bounds of their intervals, correlations and variance inside groups against an exact or permutation null, corrected for
 * the number of criteria. Verdicts on criteria that are not the rubric's are left aside.
 * @throws DataError where no verdict is on any of the rubric's criteria.
 */
export const lintVerdicts = (
  rubric: Rubric,
  rows: readonly VerdictRow[],
  options: LintVerdictsOptions = {},
): Finding[] => {
  verdictsOnOthers(rubric, rows)
  const columns = rubric.criteria.map(criterion => columnOf(criterion, rows))
  const findings = [
    ...columns.flatMap(column => failures(column, options)),
    ...columns.flatMap(column => constant(column, options)),
    ...groupConstant(columns, options),
    ...misleading(columns, options),
    ...columns.flatMap(column => irrelevant(column, options)),
    ...columns.flatMap(column => undecided(column, options)),
  ]
  return sortFindings(findings.filter(({ rule }) => !options.off?.includes(rule)))
}

const columnOf = (criterion: Criterion, rows: readonly VerdictRow[]): Column => {
  const judged = rows.filter(({ judgements: [first] }) => Object.hasOwn(first, criterion.id))
  const entries = judged.flatMap(row => {
    const credit = row.judgements[0][criterion.id]
    return credit === null ? [] : [{ credit, row }]
  })
  const agreements = judged.flatMap(({ judgements }) =>
    agreementOf(judgements.map(j => (Object.hasOwn(j, criterion.id) ? j[criterion.id] : null))),
  )
  return { criterion, entries, nulls: judged.length - entries.length, agreements }
}

/** Share of pairs of judgements that agree; none where fewer than two gave a verdict. */
const agreementOf = (credits: readonly (number | null)[]): number[] => {
  const given = credits.filter(credit => credit !== null)
  if (given.length < 2) return []
  const pairs = given.flatMap((a, i) => given.slice(i + 1).map(b => Number(a === b)))
  return [pairs.reduce((sum, same) => sum + same, 0) / pairs.length]
}

const finding = (
  rule: string,
  { criterion }: Column,
  problem: string,
  fix: string,
  severity: Finding['severity'] = 'warning',
): Finding => ({
  rule,
  severity,
  criterionIds: [criterion.id],
  message: `${nameOf(criterion)} ${problem}`,
  fix,
})

const failures = (column: Column, { maxNullShare = 0.05 }: LintVerdictsOptions): Finding[] => {
  const all = column.entries.length + column.nulls
  if (all === 0)
    return [finding('no-verdicts', column, 'has no verdict in any row', 'judge it, or remove it', 'info')]
  if (wilsonInterval(column.nulls, all, TWO_SIDED).low <= maxNullShare) return []
  const problem = `got no usable verdict for ${column.nulls} of ${all} responses`
  return [
    finding(
      'judge-fails',
      column,
      problem,
      'read the raw answers of the judge; shorten or reword the criterion',
    ),
  ]
}

/** Met by all, or by none. A flaw that never occurs is a guard, not a fault. */
const constant = (column: Column, { saturatedShare = 0.95 }: LintVerdictsOptions): Finding[] => {
  const { entries, criterion } = column
  if (entries.length === 0) return []
  const met = entries.filter(({ credit }) => credit > 0.5).length
  const { low, high } = wilsonInterval(met, entries.length, TWO_SIDED)
  const count = `by ${met} of ${entries.length} responses`
  if (met / entries.length >= saturatedShare && low >= KNOWN_SHARE) {
    const problem = `is met ${count} (at least ${wholePercent(low)} with 95% confidence): it no longer separates them`
    return [finding('saturated', column, problem, `raise what ${criterion.id} asks for, or retire it`)]
  }
  if (met > 0 || entries.some(({ credit }) => credit > 0) || 1 - high < KNOWN_SHARE) return []
  const problem = `is met ${count} (at most ${wholePercent(high)} with 95% confidence)`
  return criterion.points < 0
    ? [
        finding(
          'never-met',
          column,
          `${problem}: the flaw does not occur`,
          'keep it only if it should guard against the flaw',
          'info',
        ),
      ]
    : [
        finding(
          'never-met',
          column,
          `${problem}: nobody earns its points`,
          `check that ${criterion.id} can be met; split it into easier steps, or give hints while training`,
        ),
      ]
}

/** The entries by group; groups of one tell nothing. */
const groupsOf = (entries: Column['entries']): Column['entries'][] => {
  const groups = new Map<string, Column['entries']>()
  for (const entry of entries) {
    const group = groups.get(entry.row.group)
    if (group) group.push(entry)
    else groups.set(entry.row.group, [entry])
  }
  return [...groups.values()].filter(group => group.length > 1)
}

const varies = (credits: readonly number[]): boolean => credits.some(credit => credit !== credits[0])

/** Met or not by the prompt alone: such a criterion gives every response of a group the same reward. */
const groupConstant = (columns: readonly Column[], { alpha = 0.05 }: LintVerdictsOptions): Finding[] => {
  const suspects = columns.flatMap(column => {
    const groups = groupsOf(column.entries)
    const credits = groups.flat().map(({ credit }) => credit)
    const constantGroups = groups.every(group => !varies(group.map(({ credit }) => credit)))
    if (!varies(credits) || !constantGroups) return []
    const most = credits.reduce((a, b) => Math.max(a, b))
    const met = credits.filter(credit => credit === most).length
    const sizes = groups.map(group => group.length)
    return [{ column, groups, p: chanceAllConstant(sizes, met) }]
  })
  const adjusted = holm(suspects.map(({ p }) => p))
  return suspects.flatMap(({ column, groups }, i) => {
    if (adjusted[i] >= alpha) return []
    const problem = `has the same verdict for all responses of a prompt, in all ${groups.length} groups (by chance: p = ${adjusted[i].toPrecision(2)}): it judges the prompt, not the response`
    return [
      finding(
        'non-discriminating',
        column,
        problem,
        'ask for something that responses to one prompt can do or leave',
      ),
    ]
  })
}

/** Credits as good or bad (absence of a flaw is good) beside outcomes, in groups where both vary. */
const pairedGroups = ({ entries, criterion }: Column): Group[] =>
  groupsOf(entries.filter(({ row }) => row.outcome !== undefined))
    .map(group => ({
      credits: group.map(({ credit }) => (criterion.points > 0 ? credit : 1 - credit)),
      outcomes: group.map(({ row }) => row.outcome!),
    }))
    .filter(({ credits, outcomes }) => varies(credits) && varies(outcomes))

const misleading = (
  columns: readonly Column[],
  { alpha = 0.05, seed = 0 }: LintVerdictsOptions,
): Finding[] => {
  const tested = columns
    .map(column => ({ column, groups: pairedGroups(column) }))
    .filter(({ groups }) => groups.length > 0)
    .map(({ column, groups }) => ({ column, groups, p: antiCorrelationTest(groups, { seed }) }))
  const adjusted = holm(tested.map(({ p }) => p))
  return tested.flatMap(({ column, groups }, i) => {
    if (adjusted[i] >= alpha) return []
    const estimate = withinCorrelation(groups)?.estimate
    const size = estimate === undefined ? '' : `correlation ${estimate.toFixed(2)}, `
    const problem = `${column.criterion.points > 0 ? 'rewards worse responses' : 'punishes better responses'} (${size}p = ${adjusted[i].toPrecision(2)} for all criteria together)`
    return [
      finding(
        'anti-correlated',
        column,
        problem,
        `check the sign of the points of ${column.criterion.id}, then what its judge takes it to mean`,
      ),
    ]
  })
}

const irrelevant = (column: Column, { minCorrelation = 0.2 }: LintVerdictsOptions): Finding[] => {
  const correlation = withinCorrelation(pairedGroups(column))
  if (correlation === null || correlation.upper >= minCorrelation) return []
  const { estimate, upper, responses } = correlation
  // What goes clearly the other way is reported as such.
  if (estimate < -minCorrelation) return []
  const problem = `has nothing to do with the outcome (correlation ${estimate.toFixed(2)}, at most ${upper.toFixed(2)} with 95% confidence, ${responses} responses)`
  return [
    finding(
      'uncorrelated',
      column,
      problem,
      'remove it, unless it asks for something that the outcome does not measure',
    ),
  ]
}

const undecided = (column: Column, { minAgreement = 0.9 }: LintVerdictsOptions): Finding[] => {
  const { agreements, criterion } = column
  if (agreements.length === 0) return []
  const agreed = agreements.reduce((sum, share) => sum + share, 0)
  const { high } = wilsonInterval(agreed, agreements.length, TWO_SIDED)
  if (high >= minAgreement) return []
  const problem = `is judged differently when it is judged again: ${wholePercent(agreed / agreements.length)} agreement over ${agreements.length} responses (at most ${wholePercent(high)} with 95% confidence)`
  return [
    finding(
      'low-agreement',
      column,
      problem,
      `make ${criterion.id} checkable: say what must stand in the text; split it if it makes several claims`,
    ),
  ]
}
