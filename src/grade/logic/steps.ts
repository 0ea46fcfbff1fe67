/** @file Finds the reasoning and its numbered steps in a response. */

import { phraseRows } from '../../util/words.ts'

/** Rules of inference that a step may name. */
export type InferenceRule =
  | 'premise'
  | 'mp'
  | 'mt'
  | 'ui'
  | 'and-i'
  | 'and-e'
  | 'or-i'
  | 'or-e'
  | 'contra'
  | 'ds'
  | 'hs'
  | 'dneg'

/** The names of each rule, the short one first. */
const RULE_NAMES: Readonly<Record<string, InferenceRule>> = Object.fromEntries(
  phraseRows(`
premise | given
mp | modus ponens
mt | modus tollens
ui | universal instantiation
and-i | and introduction | conjunction introduction
and-e | and elimination | conjunction elimination
or-i | or introduction | disjunction introduction
or-e | or elimination | disjunction elimination
contra | contradiction | proof by contradiction
ds | disjunctive syllogism
hs | hypothetical syllogism
dneg | double negation
`).flatMap(names => names.map(name => [name, names[0] as InferenceRule])),
)

const LONG_NAMES = Object.keys(RULE_NAMES).filter(name => name.includes(' '))

/** The rule that a name stands for, short or long, or null. */
export const ruleNamed = (name: string): InferenceRule | null => {
  const known = name.trim().toLowerCase().replace(/\s+/g, ' ').replace(/_/g, ' ')
  // Not what every object has: "constructor" is no rule.
  return Object.hasOwn(RULE_NAMES, known) ? RULE_NAMES[known] : null
}

export interface StepReference {
  kind: 'premise' | 'step'
  /** 1-based, as written. */
  number: number
}

export interface StepText {
  /** The number that the step carries. */
  number: number
  /** The step's statement: without number and annotation. */
  text: string
  /** The rule in `[rule; refs]`, or a rule's long name mentioned in the text; null when none is known. */
  rule: InferenceRule | null
  refs: StepReference[]
  /** From the number to the end of the line, as offsets in the response. */
  span: [start: number, end: number]
}

export interface ExtractedReasoning {
  /** The text that counts as reasoning. */
  text: string
  /** Its offsets in the response. */
  span: [start: number, end: number]
  /** True when the reasoning stands behind a `<reasoning>` tag. */
  tagged: boolean
  steps: StepText[]
  /** Lines of the reasoning that carry no number and so are no steps. */
  unnumberedLines: number
}

const REFERENCE = /^([ps])\s*(\d+)$/i

const references = (text: string | undefined): StepReference[] =>
  (text ?? '').split(',').flatMap(part => {
    const found = REFERENCE.exec(part.trim())
    if (!found) return []
    return [{ kind: found[1].toLowerCase() === 'p' ? 'premise' : 'step', number: Number(found[2]) } as const]
  })

const mentionedRule = (text: string): InferenceRule | null => {
  const lower = text.toLowerCase()
  const name = LONG_NAMES.find(long => lower.includes(long))
  return name === undefined ? null : RULE_NAMES[name]
}

/** Where the brackets at the end of a text stand, a full stop after them or not; null without any. In linear time. */
const annotationIn = (text: string): [open: number, close: number] | null => {
  const bare = text.trimEnd()
  const end = bare.endsWith('.') ? bare.slice(0, -1).trimEnd() : bare
  if (!end.endsWith(']')) return null
  const close = end.length - 1
  const open = end.lastIndexOf('[')
  return open < 0 || end.lastIndexOf(']', close - 1) > open ? null : [open, close]
}

/** Splits "statement [rule; refs]"; an annotation that names no known rule is dropped. */
export const splitAnnotation = (text: string): Pick<StepText, 'text' | 'rule' | 'refs'> => {
  const bounds = annotationIn(text)
  if (bounds === null) return { text: text.trim(), rule: mentionedRule(text), refs: [] }
  const [open, close] = bounds
  const [rule, refs] = text.slice(open + 1, close).split(';')
  return { text: text.slice(0, open).trim(), rule: ruleNamed(rule), refs: references(refs) }
}

interface Marker {
  number: number
  start: number
  contentStart: number
}

const isGap = (character: string): boolean => character === ' ' || character === '\t'
const ENDS = '.)]!?'
const isEnd = (character: string): boolean => character !== '' && ENDS.includes(character)

/** Where the spaces and tabs before `at` begin, `from` at the earliest. */
const gapBefore = (line: string, from: number, at: number): number => {
  let start = at
  while (start > from && isGap(line[start - 1])) start--
  return start
}

/** What lets a number be a marker: the line's start, or a gap or the end of a sentence before it. */
const leadBefore = (line: string, from: number, at: number): number | null => {
  const gap = gapBefore(line, from, at)
  const end = gap > from && isEnd(line[gap - 1]) ? gap - 1 : gap
  if (end < at) return end
  return at === 0 || /[\r\u2028\u2029]/.test(line[at - 1]) ? at : null
}

/** Offsets at which a marker's lead begins and its label ("3" or "step 3") begins; null where no marker can be. */
const leadOf = (line: string, from: number, at: number): [lead: number, label: number] | null => {
  const gap = gapBefore(line, from, at)
  const word = gap - 4
  if (gap < at && word >= from && /^step$/iu.test(line.slice(word, gap))) {
    const lead = leadBefore(line, from, word)
    if (lead !== null) return [lead, word]
  }
  const lead = leadBefore(line, from, at)
  return lead === null ? null : [lead, at]
}

/** Whether a text ends a sentence before `at`, gaps of any kind aside. */
const endsSentence = (line: string, at: number): boolean => {
  let last = at
  while (last > 0 && line[last - 1].trim() === '') last--
  return last > 0 && isEnd(line[last - 1])
}

const NUMBER = /\d+/g
const MARK = /[ \t]*[.):](?=[ \t])[ \t]*/y

/**
 * A number at the start of a line, or after a sentence's end on the same line when it carries on the count. In linear time:
 * whoever writes the line may fill it with gaps and digits.
 */
const markersIn = (line: string): Marker[] => {
  const markers: Marker[] = []
  const firstMark = line.length - line.trimStart().length
  let from = 0
  for (const { 0: digits, index } of line.matchAll(NUMBER)) {
    if (digits.length > 4 || index < from) continue
    const lead = leadOf(line, from, index)
    MARK.lastIndex = index + digits.length
    const mark = lead === null ? null : MARK.exec(line)
    if (lead === null || mark === null) continue
    const [start, label] = lead
    from = MARK.lastIndex
    const atStart = start <= firstMark && (label === start || isGap(line[start]))
    const number = Number(digits)
    const last = markers.at(-1)
    const carriesOn = last !== undefined && number === last.number + 1 && endsSentence(line, label)
    if (atStart || carriesOn) markers.push({ number, start: label, contentStart: from })
  }
  return markers
}

const stepsOfLine = (line: string, offset: number): StepText[] => {
  const markers = markersIn(line)
  return markers.map(({ number, start, contentStart }, index) => {
    const end = markers[index + 1]?.start ?? line.length
    const length = line.slice(start, end).trimEnd().length
    const content = line.slice(contentStart, end)
    return { number, ...splitAnnotation(content), span: [offset + start, offset + start + length] }
  })
}

/** What lies between `<reasoning>` and its end; without the tag, everything before `<answer>`. */
const reasoningSpan = (response: string): { span: [number, number]; tagged: boolean } => {
  const open = /<reasoning>/i.exec(response)
  const start = open ? open.index + open[0].length : 0
  const end = /<\/reasoning>|<answer>/i.exec(response.slice(start))
  return { span: [start, end ? start + end.index : response.length], tagged: open !== null }
}

/**
 * Finds the steps `INT (. | ) | :) formula [rule; refs]` of a response. Steps are looked for inside `<reasoning>`; without
 * the tag in all text before the answer. Text without numbers holds no steps.
 */
export const extractReasoning = (response: string): ExtractedReasoning => {
  const { span, tagged } = reasoningSpan(response)
  const text = response.slice(span[0], span[1])
  const steps: StepText[] = []
  let unnumberedLines = 0
  let offset = span[0]
  for (const line of text.split('\n')) {
    const found = stepsOfLine(line, offset)
    if (found.length > 0) steps.push(...found)
    else if (line.trim() !== '') unnumberedLines++
    offset += line.length + 1
  }
  return { text, span, tagged, steps, unnumberedLines }
}
