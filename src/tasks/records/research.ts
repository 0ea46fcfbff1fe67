/** @file A scripted researcher: how the small model is shown to plan, look up, review and answer, well and badly. */

import type { Rng } from '../../util/rng.ts'
import type { RecordsReflection } from './lessons.ts'
import type { Output, Tick } from './trajectory.ts'
import { type Advice, encodeRecords, RECORDS_FILLERS, recordName, TAGS } from './vocabulary.ts'
import {
  drawEnding,
  ENDINGS,
  type Ending,
  type Field,
  fieldName,
  lookUp,
  PEOPLE,
  type RecordsQuestion,
  type Relation,
} from './world.ts'

/** Habits of a researcher. */
export interface ResearchHabits {
  /** Chance that a relation is left out of the plan, and so of the research. */
  forgets: number
  /** Chance that a plan names a second field for a relation. */
  alternatives: number
  /** Chance that what a reference says of a field is believed. */
  trusts: number
  onNone: 'retry' | 'repeat' | 'skip' | 'stop'
  onOld: 'retry' | 'accept'
  /** Whether fields that were tried are remembered. */
  remembers: boolean
  ticks: 'true' | 'all' | 'some'
  cites: 'all' | 'last' | 'none'
  /** Names somebody although the chain broke. */
  bold: boolean
  /** Chance that a note says something else than was found. */
  misreads: number
}

export const drawResearchHabits = (rng: Rng): ResearchHabits => ({
  forgets: rng.pick([0, 0, 0, 0, 0.3]),
  alternatives: rng.pick([0, 0, 0.5]),
  trusts: rng.pick([1, 1, 0.7, 0.3]),
  onNone: rng.pick(['retry', 'retry', 'retry', 'retry', 'repeat', 'skip', 'stop']),
  onOld: rng.pick(['retry', 'retry', 'accept']),
  remembers: rng.next() < 0.7,
  ticks: rng.pick(['true', 'true', 'all', 'some']),
  cites: rng.pick(['all', 'all', 'last', 'none']),
  bold: rng.next() < 0.6,
  misreads: rng.pick([0, 0, 0.15]),
})

/** Advice that is followed changes habits. */
const ADVISED: Record<Advice, Partial<ResearchHabits>> = {
  complete: { forgets: 0 },
  retry: { onNone: 'retry', remembers: true },
  fresh: { onOld: 'retry' },
  follow: { misreads: 0 },
  tick: { ticks: 'true' },
  cite: { cites: 'all' },
  honest: { bold: false },
  long: { remembers: false },
  bold: { bold: true },
}

/** @param heeds chance that a piece of advice is followed */
export const advised = (
  habits: ResearchHabits,
  references: readonly RecordsReflection[],
  heeds: number,
  rng: Rng,
): ResearchHabits =>
  Object.assign(
    { ...habits },
    ...references
      .flatMap(({ advice }) => advice)
      .filter(() => rng.next() < heeds)
      .map(name => ADVISED[name]),
  )

/** A part of a demonstration, and who wrote it. */
export interface Contribution {
  text: string
  own: boolean
}

export interface ResearchOptions {
  /** Look-ups at most. */
  calls: number
  /** False: neither plan nor review, and idle thinking as long as they would be. */
  scaffold: boolean
}

/** What the tool says. */
export const outputText = (output: Output): string => {
  const said =
    output.kind === 'found' || output.kind === 'old'
      ? `${output.kind === 'old' ? ' old' : ''} ${recordName(output.record)} ${output.person}`
      : ` ${output.kind === 'over' ? 'over' : 'none'}`
  return `${TAGS.output}${said}${TAGS.outputEnd}`
}

const callText = (person: string, field: Field): string =>
  `${TAGS.call} ${person} ${fieldName(field)}${TAGS.callEnd}`

/** What references say of a relation's field. */
const fieldsSaid = (references: readonly RecordsReflection[], relation: Relation) => {
  const about = references
    .flatMap(({ lessons }) => lessons)
    .flatMap(lesson =>
      lesson.kind !== 'answer' && lesson.field.relation === relation
        ? [{ kind: lesson.kind, ending: lesson.field.ending }]
        : [],
    )
  const use = about.find(({ kind }) => kind === 'use')?.ending
  return { use, not: about.filter(({ kind }) => kind === 'not').map(({ ending }) => ending) }
}

const endingBesides = (tried: readonly Ending[], rng: Rng): Ending => {
  const left = ENDINGS.filter(ending => !tried.includes(ending))
  if (left.length === 0) return rng.pick(ENDINGS)
  for (;;) {
    const drawn = drawEnding(rng)
    if (left.includes(drawn)) return drawn
  }
}

/** A demonstration in parts; the agent's and the tool's in turns. */
export const demonstrateResearch = (
  question: RecordsQuestion,
  references: readonly RecordsReflection[],
  habits: ResearchHabits,
  { calls: mostCalls, scaffold }: ResearchOptions,
  rng: Rng,
): Contribution[] => {
  const { archive, relations } = question
  const planned = relations.filter((_, i) => i === 0 || rng.next() >= habits.forgets)
  const first = new Map(
    planned.map(relation => {
      const { use, not } = fieldsSaid(references, relation)
      const believes = rng.next() < habits.trusts
      return [relation, believes && use ? use : endingBesides(believes ? not : [], rng)]
    }),
  )
  const plan = planText(planned, first, habits, rng)
  const segments: Contribution[] = [{ text: scaffold ? plan : idle(plan, rng), own: true }]
  let person = question.person
  let broken = false
  let left = mostCalls
  const ticks: Tick[] = []
  for (const relation of planned) {
    const tried: Ending[] = []
    let ending = first.get(relation)!
    let found: number | null = null
    while (left > 0 && !broken) {
      left--
      const field = { relation, ending }
      const finding = lookUp(archive, person, field)
      const output: Output = finding ? { ...finding, kind: finding.old ? 'old' : 'found' } : { kind: 'none' }
      const state = stateText(output, habits, rng)
      segments.push(
        { text: callText(person, field), own: true },
        { text: outputText(output), own: false },
        { text: scaffold ? state : idle(state, rng), own: true },
      )
      tried.push(ending)
      if (finding && (!finding.old || habits.onOld === 'accept')) {
        found = finding.record
        person = rng.next() < habits.misreads / 3 ? rng.pick(PEOPLE) : finding.person
        break
      }
      if (habits.onNone === 'stop') broken = true
      if (habits.onNone === 'skip') break
      if (habits.onNone !== 'repeat') ending = endingBesides(habits.remembers ? tried : [ending], rng)
    }
    if (found === null) broken ||= left === 0
    ticks.push({ relation, record: found })
  }
  const whole = ticks.every(({ record }) => record !== null)
  const review = reviewText(ticks, habits, rng)
  segments.push(
    { text: scaffold ? review : idle(review, rng), own: true },
    { text: answerText(whole || habits.bold ? person : null, ticks, habits), own: true },
  )
  return merged(segments)
}

/** Neighbours of one writer are one segment. */
const merged = (segments: readonly Contribution[]): Contribution[] => {
  const joined: Contribution[] = []
  for (const { text, own } of segments) {
    const last = joined.at(-1)
    if (last && last.own === own) last.text += text
    else joined.push({ text, own })
  }
  return joined
}

const planText = (
  planned: readonly Relation[],
  first: ReadonlyMap<Relation, Ending>,
  { alternatives }: ResearchHabits,
  rng: Rng,
): string => {
  const fields = planned.map(relation => {
    const ending = first.get(relation)!
    const other = rng.next() < alternatives ? ` or ${relation}${endingBesides([ending], rng)}` : ''
    return ` ${relation}${ending}${other}`
  })
  const needs = planned.map(relation => ` ${relation}`).join('')
  return `${TAGS.plan}${TAGS.needs}${needs}${TAGS.needsEnd}${fields.join('')}${TAGS.planEnd}`
}

const stateText = (output: Output, { misreads }: ResearchHabits, rng: Rng): string => {
  const kind = rng.next() < misreads ? rng.pick(['found', 'none', 'old'] as const) : output.kind
  const person = 'person' in output ? output.person : rng.pick(PEOPLE)
  const said = kind === 'found' ? ` got ${person}` : kind === 'old' ? ' old' : ' none'
  return `${TAGS.state}${said}${TAGS.stateEnd}`
}

const reviewText = (ticks: readonly Tick[], { ticks: how }: ResearchHabits, rng: Rng): string => {
  const shown = how === 'some' ? ticks.filter((_, i) => i === 0 || rng.next() < 0.5) : ticks
  const said = shown.map(({ relation, record }) => {
    const named = record ?? (how === 'all' ? 1 + rng.int(40) : null)
    return ` ${relation} ${named === null ? 'missing' : recordName(named)}`
  })
  return `${TAGS.review}${said.join('')}${TAGS.reviewEnd}`
}

const answerText = (
  person: string | null,
  ticks: readonly Tick[],
  { cites }: Pick<ResearchHabits, 'cites'>,
): string => {
  const known = ticks.flatMap(({ record }) => (record === null ? [] : [record]))
  const named = cites === 'all' ? known : cites === 'last' ? known.slice(-1) : []
  const cited = named.map(record => ` ${recordName(record)}`).join('')
  return `${TAGS.answer} ${person ?? 'unknown'}${TAGS.cite}${cited}${TAGS.citeEnd}${TAGS.answerEnd}`
}

/** As many pieces that say nothing as a text has. */
const idle = (text: string, rng: Rng): string => {
  const words = Math.max(1, encodeRecords(text).length - 2)
  const said = Array.from({ length: words }, () => ` ${rng.pick(RECORDS_FILLERS)}`)
  return `${TAGS.think}${said.join('')}${TAGS.thinkEnd}`
}
