/** @file Finds the reasoning and its numbered steps in a response. */

/** Rules of inference that a step may name (spec 6.3). */
export type Rule =
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

const RULE_NAMES: Readonly<Record<string, Rule>> = {
  premise: 'premise',
  given: 'premise',
  mp: 'mp',
  'modus ponens': 'mp',
  mt: 'mt',
  'modus tollens': 'mt',
  ui: 'ui',
  'universal instantiation': 'ui',
  'and-i': 'and-i',
  'and introduction': 'and-i',
  'conjunction introduction': 'and-i',
  'and-e': 'and-e',
  'and elimination': 'and-e',
  'conjunction elimination': 'and-e',
  'or-i': 'or-i',
  'or introduction': 'or-i',
  'disjunction introduction': 'or-i',
  'or-e': 'or-e',
  'or elimination': 'or-e',
  'disjunction elimination': 'or-e',
  contra: 'contra',
  contradiction: 'contra',
  'proof by contradiction': 'contra',
  ds: 'ds',
  'disjunctive syllogism': 'ds',
  hs: 'hs',
  'hypothetical syllogism': 'hs',
  dneg: 'dneg',
  'double negation': 'dneg',
}

const LONG_NAMES = Object.keys(RULE_NAMES).filter(name => name.includes(' '))

/** The rule that a name stands for, short or long, or null. */
export const ruleNamed = (name: string): Rule | null =>
  RULE_NAMES[name.trim().toLowerCase().replace(/\s+/g, ' ').replace(/_/g, ' ')] ?? null

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
  rule: Rule | null
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

const ANNOTATION = /\s*\[([^[\]]*)\]\s*\.?\s*$/
const REFERENCE = /^([ps])\s*(\d+)$/i

const references = (text: string | undefined): StepReference[] =>
  (text ?? '').split(',').flatMap(part => {
    const found = REFERENCE.exec(part.trim())
    if (!found) return []
    return [{ kind: found[1].toLowerCase() === 'p' ? 'premise' : 'step', number: Number(found[2]) } as const]
  })

const mentionedRule = (text: string): Rule | null => {
  const lower = text.toLowerCase()
  const name = LONG_NAMES.find(long => lower.includes(long))
  return name === undefined ? null : RULE_NAMES[name]
}

/** Splits "statement [rule; refs]"; an annotation that names no known rule is dropped. */
export const splitAnnotation = (text: string): Pick<StepText, 'text' | 'rule' | 'refs'> => {
  const annotation = ANNOTATION.exec(text)
  if (!annotation) return { text: text.trim(), rule: mentionedRule(text), refs: [] }
  const [rule, refs] = annotation[1].split(';')
  return { text: text.slice(0, annotation.index).trim(), rule: ruleNamed(rule), refs: references(refs) }
}

// A number at the start of a line, or after a sentence's end on the same line when it carries on the count.
const MARKER = /(^|[.)\]!?]?[ \t]+|[.)\]!?])(?:step[ \t]+)?(\d{1,4})[ \t]*[.):](?=[ \t])[ \t]*/gimu

interface Marker {
  number: number
  start: number
  contentStart: number
}

const markersIn = (line: string): Marker[] => {
  const markers: Marker[] = []
  for (const found of line.matchAll(MARKER)) {
    const before = line.slice(0, found.index)
    const atStart = before.trim() === '' && found[1].trim() === ''
    const number = Number(found[2])
    const last = markers.at(-1)
    const carriesOn =
      last !== undefined && number === last.number + 1 && /[.)\]!?]$/.test((before + found[1]).trimEnd())
    if (!atStart && !carriesOn) continue
    markers.push({
      number,
      start: found.index + found[1].length,
      contentStart: found.index + found[0].length,
    })
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
