/** @file `gradus profile`: how far each criterion is met, with intervals and a picture; or two models side by side. */

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import {
  CreditTable,
  type CriterionComparison,
  type CriterionProfile,
  compareProfiles,
  isClear,
  profileOf,
} from '../../eval/profile.ts'
import { profileSvg } from '../../eval/profile-picture.ts'
import { pictureFor } from '../../eval/share-picture.ts'
import type { Criterion } from '../../rubric/criterion.ts'
import { type RubricFile, readRubricFile } from '../../rubric/formats/index.ts'
import { parseGradedRow } from '../../rubric/graded-row.ts'
import { creditOf } from '../../rubric/score.ts'
import { readEvals, readRollouts, readRunInfo } from '../../runs/readers.ts'
import type { EvalRow, RolloutRow, RunInfo } from '../../runs/rows.ts'
import { mean } from '../../util/descriptive.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { percent, points } from '../../util/format.ts'
import { bootstrapInterval, type Estimate } from '../../util/intervals.ts'
import { parseRow } from '../../util/jsonl.ts'
import { writeOutput } from '../../util/output-file.ts'
import { streamRows } from '../../util/row-stream.ts'
import { parseWith } from '../../util/schema.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { givenOption } from '../option-values.ts'

interface ProfileSourceOptions {
  /** Rubric file: names, points, categories and tags of criteria. */
  rubric?: string
  by: 'criterion' | 'category' | 'tag'
  from?: 'rollouts' | 'eval'
  set?: string
  /** First and last step of the rollouts that count. */
  steps?: readonly [number, number]
}

const isFolder = (path: string): boolean => existsSync(path) && statSync(path).isDirectory()

/** @throws DataError for a file that cannot be used; RunError for a folder that is no run. */
const loadProfileSource = async (path: string, options: ProfileSourceOptions): Promise<ProfileSource> => {
  const isRun = isFolder(path)
  const source = isRun ? runSource(path, options) : await fileSource(path, options)
  if (source.table.criteria.length === 0)
    throw new DataError(`${path}: holds no verdicts on criteria`, {
      hint: isRun ? 'try --from rollouts or --from eval' : 'give the output of gradus grade --json',
    })
  return source
}

/** Puts what is observed of a criterion where it counts: under its own name, or under its groups. */
class ProfileSource {
  /** What it is, in words. */
  readonly name: string
  readonly table = new CreditTable()
  /** By item, where the rows have them. */
  readonly scores = new Map<string, number[]>()
  readonly #by: ProfileSourceOptions['by']
  readonly #known: Map<string, Map<string, Criterion>> | null
  readonly #rubrics = new Set<string>()

  constructor(name: string, { rubric, by }: ProfileSourceOptions) {
    this.name = name
    this.#by = by
    this.#known = rubric === undefined ? null : criteriaOf(readRubricFile(rubric))
    if (by !== 'criterion' && !this.#known)
      throw new DataError(
        `--by ${by}: expected a rubric that says the ${by} of each criterion, got none; give --rubric FILE`,
      )
  }

  observe(item: string, rubric: string | null, id: string, credit: number | null, points?: number): void {
    const criterion = this.#criterion(rubric, id)
    const worth = points ?? criterion?.points
    if (this.#by === 'criterion') {
      this.#oneRubric(rubric)
      this.table.add({ item, criterion: criterion?.title ?? id, credit, points: worth })
      return
    }
    // In a group rewards and penalties stand side by side: what counts is what is good about each.
    const good = credit === null || (worth ?? 1) > 0 ? credit : 1 - credit
    for (const group of groupsOf(criterion, this.#by))
      this.table.add({ item, criterion: group, credit: good })
  }

  score(item: string, score: unknown): void {
    if (typeof score !== 'number') return
    const known = this.scores.get(item)
    if (known) known.push(score)
    else this.scores.set(item, [score])
  }

  #criterion(rubric: string | null, id: string): Criterion | undefined {
    if (!this.#known) return undefined
    const only = this.#known.size === 1 ? [...this.#known.values()][0] : undefined
    return (rubric === null ? only : this.#known.get(rubric))?.get(id)
  }

  #oneRubric(rubric: string | null): void {
    if (rubric === null) return
    this.#rubrics.add(rubric)
    if (this.#rubrics.size > 1)
      throw new DataError(
        `expected verdicts on one rubric, got those on ${[...this.#rubrics].join(' and ')}: their criteria are different ones; group them with --rubric FILE --by category or --by tag`,
      )
  }
}

const criteriaOf = ({ items }: RubricFile) =>
  new Map(
    items.map(({ id, rubric }) => [id, new Map(rubric.criteria.map(criterion => [criterion.id, criterion]))]),
  )

const groupsOf = (criterion: Criterion | undefined, by: 'category' | 'tag'): string[] => {
  if (by === 'category') return [criterion?.category ?? '(no category)']
  return criterion?.tags && criterion.tags.length > 0 ? criterion.tags : ['(no tag)']
}

const verdictSchema = z.looseObject({
  criterionId: z.string(),
  met: z.boolean().nullable(),
  credit: z.number().optional(),
  level: z.literal([0, 1, 2]).optional(),
  points: z.number().optional(),
})

const rowSchema = z.looseObject({
  id: z.union([z.string(), z.number()]).nullish(),
  problemId: z.string().optional(),
  rubric: z.string().optional(),
  score: z.number().nullish(),
  verdicts: z.array(verdictSchema).optional(),
  parts: z.record(z.string(), z.number().nullable()).optional(),
})

const fileSource = async (path: string, options: ProfileSourceOptions): Promise<ProfileSource> => {
  const collector = new ProfileSource(path, options)
  for await (const { text, place } of streamRows(path)) {
    const line = place.slice(place.lastIndexOf(':') + 1)
    parseRow(text, place, row =>
      isGradedRow(row) ? observeGraded(row, line, collector) : observeRow(row, line, collector),
    )
  }
  return collector
}

const isGradedRow = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'criteria' in value

/** A row as `gradus score` takes it: criteria and verdicts side by side. */
const observeGraded = (value: unknown, line: string, collector: ProfileSource): void => {
  const { id, rubric, verdicts } = parseGradedRow(value)
  const points = new Map(rubric.criteria.map(criterion => [criterion.id, criterion.points]))
  for (const verdict of verdicts) {
    const { criterionId } = verdict
    collector.observe(String(id ?? line), null, criterionId, creditOf(verdict), points.get(criterionId))
  }
}

/** A row of `gradus grade --json`, or of a run's rollouts. Rows without verdicts (`error`) say nothing. */
const observeRow = (value: unknown, line: string, collector: ProfileSource): void => {
  const row = parseWith(rowSchema, value, '', DataError)
  const item = String(row.id ?? row.problemId ?? line)
  const rubric = row.rubric ?? null
  collector.score(item, row.score)
  if (row.verdicts)
    for (const { points, ...verdict } of row.verdicts)
      collector.observe(item, rubric, verdict.criterionId, creditOf(verdict), points)
  else for (const [id, credit] of Object.entries(row.parts ?? {})) collector.observe(item, rubric, id, credit)
}

const runSource = (dir: string, options: ProfileSourceOptions): ProfileSource => {
  const info = readRunInfo(dir)
  const { from = options.steps && 'rollouts', set } = options
  const evaluation = from === 'rollouts' ? null : lastEvaluation(readEvals(dir), info, set)
  if (evaluation) return evaluationSource(dir, info, evaluation, options)
  if (from === 'eval' || (from === undefined && set !== undefined))
    throw new DataError(
      `${join(dir, 'evals.jsonl')}: expected an evaluation with the criteria of each problem, got none${set ? ` on ${set}` : ''}; try --from rollouts`,
    )
  return rolloutSource(dir, info, options)
}

/** The run's last evaluation that kept the criteria of each problem: on the set asked for, else on the primary one. */
const lastEvaluation = (rows: readonly EvalRow[], info: RunInfo, set: string | undefined): EvalRow | null => {
  const usable = rows.filter(row => row.items?.some(({ criteria }) => criteria))
  const wanted = set ?? info.primarySet ?? usable[0]?.set
  return usable.findLast(row => row.set === wanted) ?? null
}

const nameOf = (info: RunInfo, id: string): string => {
  const name = info.criterionNames?.[id]
  return name === undefined || name === id ? id : `${id} ${name}`
}

const evaluationSource = (
  dir: string,
  info: RunInfo,
  { items = [], set, step }: EvalRow,
  options: ProfileSourceOptions,
): ProfileSource => {
  const collector = new ProfileSource(`${dir}, ${set}, step ${step}`, options)
  for (const { id, criteria } of items)
    for (const [criterion, credit] of Object.entries(criteria ?? {}))
      collector.observe(id, null, nameOf(info, criterion), credit)
  return collector
}

const rolloutSource = (dir: string, info: RunInfo, options: ProfileSourceOptions): ProfileSource => {
  const [first, last] = options.steps ?? [0, Number.POSITIVE_INFINITY]
  const rows = readRollouts(dir).filter(({ step }) => step >= first && step <= last)
  const steps = options.steps ? `, steps ${first} to ${last}` : ''
  const collector = new ProfileSource(`${dir}, ${rows.length} rollouts${steps}`, options)
  for (const row of rows) {
    collector.score(row.problemId, row.reward)
    for (const [id, credit] of creditsOf(row))
      collector.observe(row.problemId, null, nameOf(info, id), credit)
  }
  return collector
}

/** Verdicts, else parts: nulls are only in verdicts. */
const creditsOf = ({ verdicts, parts }: RolloutRow): [string, number | null][] =>
  verdicts
    ? verdicts.map(({ criterionId, met, credit }) => [criterionId, creditOf({ criterionId, met, credit })])
    : Object.entries(parts ?? {})

export interface ProfileCommandOptions extends ProfileSourceOptions {
  against?: string
  svg?: string
  json?: boolean
}

/** @throws UsageError for options of runs where both are files; DataError, RunError for sources that cannot be used */
export const profileCommand = async (
  path: string,
  options: ProfileCommandOptions,
  io: Io,
): Promise<number> => {
  const ofRuns = givenOption(options, ['from', 'set', 'steps'])
  if (ofRuns !== undefined && ![path, options.against ?? path].some(isFolder))
    throw new UsageError(`${ofRuns}: expected a run, got files alone, of which all rows count`)
  const source = await loadProfileSource(path, options)
  const other = options.against === undefined ? null : await loadProfileSource(options.against, options)
  const rows: (CriterionProfile | CriterionComparison)[] = other
    ? compareProfiles(source.table, other.table)
    : profileOf(source.table)
  const shared = rows.some(row => 'sharedItems' in row && row.sharedItems > 0)
  if (other && !shared)
    io.err.write(
      'the two have no item in common; items are matched by id, so there are no paired differences\n',
    )
  if (options.svg) writePicture(options.svg, rows, source, other, io)
  if (options.json) printJson(io, asJson(rows, source, other))
  else io.out.write(`${table(rows, source, other).join('\n')}\n`)
  return EXIT.ok
}

const writePicture = (
  path: string,
  rows: readonly CriterionProfile[],
  source: ProfileSource,
  other: ProfileSource | null,
  io: Io,
): void => {
  const title = other ? 'Rubric profile of two models' : 'Rubric profile'
  const picture = profileSvg(rows, {
    title,
    name: source.name,
    ...(other && { against: other.name }),
    note: other
      ? 'Dots are means over items, lines 95% intervals; differences in points, paired by item.'
      : undefined,
  })
  writeOutput(path, pictureFor(path, picture, title))
  io.err.write(`${path} written\n`)
}

/** Over items, of each the mean of its samples. */
const scoreOf = ({ scores }: ProfileSource): Estimate | null => {
  const means = [...scores.values()].map(values => mean(values))
  return means.length === 0 ? null : bootstrapInterval(means, { resamples: 2_000 })
}

const asJson = (
  rows: readonly (CriterionProfile | CriterionComparison)[],
  source: ProfileSource,
  other: ProfileSource | null,
) => ({
  source: source.name,
  ...(other && { against: other.name }),
  score: scoreOf(source),
  ...(other && { againstScore: scoreOf(other) }),
  criteria: rows,
})

const shortened = (text: string, width: number): string =>
  (text.length > width ? `${text.slice(0, width - 1)}…` : text).padEnd(width)

const intervalText = (interval: Estimate | null): string =>
  interval === null
    ? 'no verdicts'
    : `${percent(interval.estimate).padStart(6)}  [${percent(interval.low)}, ${percent(interval.high)}]`

const differenceText = (row: CriterionProfile | CriterionComparison): string => {
  if (!('difference' in row)) return ''
  const { difference, against } = row
  const theirs = `   against ${intervalText(against?.satisfaction ?? null)}`
  if (!difference) return theirs
  const { estimate, low, high } = difference
  return `${theirs.padEnd(38)}   ${points(estimate)} [${points(low)}, ${points(high)}]${isClear(difference) ? ' *' : ''}`
}

const table = (
  rows: readonly (CriterionProfile | CriterionComparison)[],
  source: ProfileSource,
  other: ProfileSource | null,
): string[] => {
  const width = rows.reduce((most, { criterion }) => Math.min(40, Math.max(most, criterion.length)), 0)
  const lines = rows.map(row => {
    const penalty = row.points !== null && row.points < 0 ? '  penalty' : ''
    const nulls = row.nulls > 0 ? `, ${row.nulls} null` : ''
    const own = intervalText(row.satisfaction).padEnd(24)
    return `  ${shortened(row.criterion, width)}  ${own}${differenceText(row)}   ${row.items} items${nulls}${penalty}`
  })
  const score = scoreOf(source)
  return [
    source.name,
    ...(other
      ? [
          `against ${other.name}; differences in points, paired by item, * where 0 lies outside and p is below .05`,
        ]
      : []),
    ...(score
      ? [`mean score ${score.estimate.toFixed(4)} [${score.low.toFixed(4)}, ${score.high.toFixed(4)}]`]
      : []),
    ...lines,
    'means over items with 95% intervals; a penalty is met where the flaw is present',
  ]
}
