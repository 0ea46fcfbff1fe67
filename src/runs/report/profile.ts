/** @file The rubric profile before and after, criterion by criterion, and what training cost on those that it could not see. */

import { points, pointsInterval } from '../../util/format.ts'
import { ownValue } from '../../util/own-value.ts'
import { criterionLabel, isTax, type Profile, type ReportData, rubricProfile } from './data.ts'
import { type PageSection, type ProfileRow, panelBlock, textBlock } from './view.ts'

/** What the intervals are, and what training cost on criteria that it could not see; empty before the end of a run. */
const taxNote = (info: ReportData['info'], { changes }: Profile): string => {
  if (changes === null) return ''
  const unseen = Object.entries(changes).filter(([, { unseen }]) => unseen === true)
  const named = (entries: typeof unseen) => entries.map(([id]) => criterionLabel(info, id)).join(' and ')
  const taxed = unseen.filter(([, change]) => isTax(change))
  const verdict =
    unseen.length === 0
      ? ''
      : taxed.length > 0
        ? ` Training could not see ${named(unseen)} as they are judged here; ${named(taxed)} fell: the optimisation tax.`
        : ` Training could not see ${named(unseen)} as they are judged here; none of them fell beyond chance.`
  return `Changes in points, paired problem by problem with the start, with 95% intervals.${verdict}`
}

/** Null of a run without criteria. */
export const profileSection = (data: ReportData): PageSection | null => {
  const profile = rubricProfile(data)
  if (profile === null) return null
  const rows = Object.entries(profile.after).map(([id, after]): ProfileRow => {
    const before = ownValue(profile.before, id) ?? null
    const change = ownValue(profile.changes, id)
    const name = ownValue(data.info.criterionNames, id)
    return {
      ...{ id, name: name === undefined || name === id ? null : name, before, after },
      difference: before === null ? null : points(change?.change ?? after - before),
      interval: change ? pointsInterval(change.interval) : null,
      isTaxed: change !== undefined && isTax(change),
    }
  })
  const note = taxNote(data.info, profile)
  return {
    title: 'Rubric profile',
    about: `Mean score of each criterion (${profile.source}).`,
    blocks: [panelBlock([{ kind: 'profile', rows }, textBlock(note)])],
  }
}
