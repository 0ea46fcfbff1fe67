/** @file The rubric profile before and after, criterion by criterion, and what training cost on those that it could not see. */

import { joinKnown, NONE, percent, points, pointsInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import { criterionLabel, isTax, type Profile, type ReportData, rubricProfile } from './data.ts'
import type { BlockList, PageSection, TableCell, TableView } from './view.ts'

/** Criteria that a sentence names. */
const MOST_NAMED = 6

/** What the intervals are, and what training cost on criteria that it could not see; empty before the end of a run. */
const taxNote = (info: ReportData['info'], { changes }: Profile): string => {
  if (changes === null) return ''
  const unseen = Object.entries(changes).filter(([, { unseen }]) => unseen === true)
  const named = (entries: typeof unseen) =>
    entries.length > MOST_NAMED
      ? `${entries.length} criteria`
      : entries.map(([id]) => criterionLabel(info, id)).join(' and ')
  const taxed = unseen.filter(([, change]) => isTax(change))
  const verdict =
    unseen.length === 0
      ? ''
      : taxed.length > 0
        ? ` Training could not see ${named(unseen)} as they are judged here; ${named(taxed)} fell: the optimisation tax.`
        : ` Training could not see ${named(unseen)} as they are judged here; none of them fell beyond chance.`
  return `Changes in points, paired problem by problem with the start, with 95% intervals.${verdict}`
}

/** So many criteria, in their order: those that training cost something on, and those that changed most. */
const foremost = ({ before, after, changes }: Profile, most: number): [id: string, value: number][] => {
  const sizeOf = ([id, value]: [string, number]): number => {
    const change = ownValue(changes, id)
    return change && isTax(change)
      ? Number.POSITIVE_INFINITY
      : Math.abs(value - (ownValue(before, id) ?? value))
  }
  const bySize = Object.entries(after).toSorted((a, b) =>
    sizeOf(a) < sizeOf(b) ? 1 : sizeOf(a) > sizeOf(b) ? -1 : 0,
  )
  const kept = new Set(bySize.slice(0, most).map(([id]) => id))
  return Object.entries(after).filter(([id]) => kept.has(id))
}

const profileTable = (
  info: ReportData['info'],
  { before, changes }: Profile,
  criteria: readonly [id: string, value: number][],
): TableView => ({
  head: ['Criterion', ...(before ? ['Before'] : []), 'After', ...(before ? ['Change'] : [])],
  rows: criteria.map(([id, value]) => {
    const [earlier, change] = [ownValue(before, id), ownValue(changes, id)]
    const chips = change && isTax(change) ? [{ text: 'optimisation tax', class: 'chip warning' }] : []
    const share = (own: number | undefined, kind: 'before' | 'after'): TableCell =>
      own === undefined ? NONE : { text: percent(own), bar: { value: own, kind } }
    const difference: TableCell =
      earlier === undefined
        ? NONE
        : {
            text: points(change?.change ?? value - earlier),
            notes: change && [pointsInterval(change.interval)],
          }
    return [
      { text: criterionLabel(info, id), chips },
      ...(before ? [share(earlier, 'before')] : []),
      share(value, 'after'),
      ...(before ? [difference] : []),
    ]
  }),
})

/**
 * Null of a run without criteria.
 * @param most criteria that are shown
 */
export const profileSection = (data: ReportData, most = Number.POSITIVE_INFINITY): PageSection | null => {
  const profile = rubricProfile(data)
  if (profile === null || Object.keys(profile.after).length === 0) return null
  const radar = Object.entries(profile.after).map(([id, after]) => {
    const [name = id, before = null] = [ownValue(data.info.criterionNames, id), ownValue(profile.before, id)]
    return { id, name: name === id ? null : name, before, after }
  })
  const shown = foremost(profile, most)
  const more = radar.length - shown.length
  const cut = more > 0 && `${more} more, which ${profile.before ? 'changed no more' : 'the report has'}.`
  const note = joinKnown([cut, taxNote(data.info, profile)], ' ')
  const table = profileTable(data.info, profile, shown)
  const inside: BlockList = [radar.length >= 3 && { kind: 'radar', rows: radar }, table]
  return {
    title: 'Rubric profile',
    about: `Mean score of each criterion (${profile.source}).`,
    blocks: [{ kind: 'panel', blocks: [{ kind: 'stack', class: 'profile', blocks: inside }, note] }],
  }
}
