/** @file `gradus rubric refine --preferences`: points of criteria from pairs that people chose from; no model is asked. */

import { fitPoints, fittedPoints, heldOutOrder } from '../../eval/preferences.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import { somePreferences } from '../../runs/preferences.ts'
import { DataError, UsageError } from '../../util/errors.ts'
import { points as inPoints, percent, pointsInterval } from '../../util/format.ts'
import { formatRate } from '../grade/judge.ts'
import { EXIT, type Io } from '../io.ts'
import { writeRubrics } from './output.ts'

const digits = (value: number): number => Number(value.toPrecision(3))

/** Two standard deviations of a normal distribution to each side: 95%. */
const SIDES = 1.96

/**
 * Writes the rubric with fitted points, of the same sum of sizes, and says on stderr how each moved and how they order pairs of
 * prompts that did not teach them.
 * @throws UsageError without a rubric; DataError without choices, or where they are about none of its criteria
 */
export const weightsCommand = (
  path: string | undefined,
  { preferences, out }: { preferences: string; out?: string },
  io: Io,
): number => {
  if (path === undefined)
    throw new UsageError('rubric refine: expected the FILE of the rubric whose points people decide')
  const file = readRubricFile(path)
  const [{ rubric }] = file.items
  const known = new Set(file.items.flatMap(item => item.rubric.criteria.map(({ id }) => id)))
  const labels = somePreferences(preferences).map(row => {
    const told =
      file.items.length > 1
        ? Object.entries(row.points)
        : rubric.criteria.map(own => [own.id, own.points] as const)
    return {
      ...row,
      points: Object.fromEntries(told.filter(([id]) => known.has(id) && Object.hasOwn(row.points, id))),
    }
  })
  if (labels.every(({ points }) => Object.keys(points).length === 0))
    throw new DataError(`${preferences}: expected choices about criteria of ${path} (by id), found none`)
  const fit = fitPoints(labels)
  const order = heldOutOrder(labels)
  const deviations = new Map(fit.ids.map((id, i) => [id, fit.deviations[i]]))
  const items = file.items.map(item => {
    const before = Object.fromEntries(item.rubric.criteria.map(({ id, points }) => [id, points]))
    const after = fittedPoints(before, fit)
    const size = (own: Record<string, number>) => Object.values(own).reduce((sum, p) => sum + Math.abs(p), 0)
    const factor = size(before) / size(after)
    const criteria = item.rubric.criteria.map(own => ({ ...own, points: digits(after[own.id] * factor) }))
    if (file.items.length === 1)
      for (const { id, points } of criteria) {
        const half = SIDES * (deviations.get(id) ?? 0) * factor
        const interval = half > 0 ? ` [${digits(points - half)}, ${digits(points + half)}]` : ''
        io.err.write(`${id}: ${before[id]} -> ${points}${interval}\n`)
      }
    return { ...item, rubric: { ...item.rubric, criteria } }
  })
  const said = labels.filter(({ choice }) => choice !== 'unsure').length
  io.err.write(
    `${said} choices: people weigh otherwise than the rubric with a chance of ${percent(fit.moved)}\n`,
  )
  io.err.write(
    order === null
      ? 'not checked on other prompts: five with decided pairs are needed\n'
      : `held-out pairs (${order.pairs}) ordered as people do: ${formatRate(order.fitted)} by fitted points, ${formatRate(order.present)} by the present ones; difference ${inPoints(order.gain.estimate)} [${pointsInterval([order.gain.low, order.gain.high])}]\n`,
  )
  writeRubrics({ ...file, items }, { out, like: path }, io)
  return EXIT.ok
}
