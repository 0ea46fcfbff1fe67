/** @file Reads the English of a criterion: its claims, its vague words, the sign it implies, and whom it speaks to. */

import { wordSet } from '../util/words.ts'
import { SCRIPT_WITHOUT_SPACES, statementWords, stem } from './statement.ts'

// What a response does, in the third person as criteria say it.
const ACTS = wordSet(`
  states mentions explains says indicates describes discusses emphasizes emphasises clarifies acknowledges specifies
  includes contains provides gives presents identifies informs conveys covers details illustrates expresses tells
  recommends advises suggests encourages urges instructs proposes directs refers asks seeks warns reminds reassures
  defines compares contrasts cites concludes calculates ensures evaluates demonstrates summarizes summarises avoids
  distinguishes differentiates justifies interprets analyzes analyses assesses considers maintains follows creates
  shows makes uses offers lists notes outlines highlights addresses reports requests points cautions proposes connects`)
// Other verbs that like to share an object with one of these: "uncovers and interprets patterns".
const SHARING = wordSet(`
  incorporates uncovers examines explores investigates measures applies integrates synthesizes recognizes detects
  collects selects gathers tests documents distills delineates breaks`)
// Of the acts, the ones that are nouns as often: they are verbs here only when an object follows.
const ALSO_NOUNS = wordSet(
  'states notes lists offers outlines highlights addresses reports requests points uses shows details contrasts covers cautions analyses refers',
)
const OBJECT_START =
  /^\s+(?:that|the|a|an|how|why|what|when|whether|which|to|it|its|any|all|some|out|several|both|possible|specific|their|users?|patients?)\b/i

/** Text outside brackets, quotes and lists of examples, whose "and" joins no claims. */
const mainText = (text: string): string =>
  text
    .replace(/\([^()]*\)|\[[^[\]]*\]/g, ' ')
    .replace(/"[^"]*"|“[^”]*”|‘[^’]*’|`[^`]*`/g, '""')
    .replace(/\b(?:such as|including|for example|for instance|e\.g\.|i\.e\.|that is)[^.;]*/gi, ' ')
    .replace(/\s+/g, ' ')

// Third-person verbs joined by "and": "states X and recommends Y". Under "or" either will do: one claim.
const JOINED_ACT =
  /(?:\band(?: then| also)?|\bbut(?: also)?|\bas well as|,|;) (?:(?:also|then|\w+ly) )?(\w+s)\b/gi
// After "should" or "fails to" the same in the base form: "should define X and explain Y".
const BASE_HEAD = /^(?:\S+ ){0,6}?(?:should|must|needs to|(?:fails|neglects|forgets) to|does not|doesn't)\b/i
// A clause of its own, whose "and" joins what it is about: "should say that users must test X and discuss Y".
const CLAUSE = /\b(?:that|to|how|whether|who|which|so)\b/i
// What comes after these may belong to them: "noting that X helps and supports Y", "a case that is clear and does not ...".
const ASIDE = /\w+ing (?:that|how)\b/i
const RELATIVE = /\b(?:where|when|if|which|who|whose|that|because|since)\b/i
const JOINED_BASE =
  /(?:\band(?: then| also)?|\bbut(?: also)?|\bas well as|,|;) (?:(?:also|then|\w+ly) )?(\w+)\b/gi
// Denials joined by "and": "fails to ask X and does not advise Y". After "but" they make one flaw of two halves.
const JOINED_DENIAL =
  /(?:\band(?: also)?|;),? (?:does not|doesn't|fails to|omits|neglects to|forgets to) \w+/gi
const STEP = /^[^\S\n]*(?:step \d+|\d{1,2}[.)])\s*\S.*$/gim
// Bullets are claims where the line above asks for all of them; elsewhere they may be definitions or examples.
const DEMANDED_BULLETS = /\b(?:should|must|all of|each of)[^\n:]*:\s*\n((?:\s*[-*•] ?\S.*\n?){2,})/i
const LEAD_WORDS = 5

/**
 * Characters of a text that are read for its claims, its vague words and its sign: three times what is long. Telling claims
 * apart takes time that grows with the square of the length.
 */
export const MOST_READ = 2000

const headOf = (text: string): string => (text.length > MOST_READ ? text.slice(0, MOST_READ) : text)

const BASES = new Map([...ACTS].map(act => [act.replace(/(?<=ss|sh|ch|x)es$|s$/, ''), act]))

interface Joint {
  /** What stands between the two verbs: "and", ", clearly". */
  link: string
  /** The verb in the third person, as in `ACTS`. */
  act: string
  /** Where it begins. */
  start: number
  before: string
  after: string
}

const isClaim = ({ link, act, before, after }: Joint): boolean =>
  ACTS.has(act) &&
  (!ALSO_NOUNS.has(act) || OBJECT_START.test(after)) &&
  !ASIDE.test(before) &&
  !endsInAct(before) &&
  // "directly and fully presents X": two adverbs, one verb.
  !(/ly$/.test(link) && /ly,?\s*$/.test(before))

/** "identifies and describes X" has one object: one claim. */
const endsInAct = (before: string): boolean => {
  const last = /(\w+),?\s*$/.exec(before)?.[1].toLowerCase() ?? ''
  return ACTS.has(last) || BASES.has(last) || SHARING.has(last)
}

/** A comma alone joins verbs only on the way to an "and": "asks X, names Y, and gives Z". */
const isOnItsWay = ({ link, start }: Joint, joints: readonly Joint[]): boolean =>
  !/^[,;](?: \w+ly)?$/.test(link) ||
  joints.some(other => other.start > start && /^(?:and|but|as)/.test(other.link))

const jointsOf = (main: string, pattern: RegExp, actOf: (word: string) => string): Joint[] =>
  [...main.matchAll(pattern)].map(match => {
    const end = match.index + match[0].length
    const start = end - match[1].length
    return {
      link: match[0].slice(0, -match[1].length).trim(),
      act: actOf(match[1].toLowerCase()),
      start,
      before: main.slice(0, match.index),
      after: main.slice(end),
    }
  })

/** Where in a text verbs begin that are joined to its first one. */
const joinedActs = (main: string): number[] => {
  const third = HEAD.test(main) ? jointsOf(main, JOINED_ACT, word => word) : []
  const head = BASE_HEAD.exec(main)
  const base = head ? jointsOf(main, JOINED_BASE, word => BASES.get(word) ?? '') : []
  const direct = base.filter(({ before }) => !CLAUSE.test(before.slice(head![0].length)))
  const claims = [...third, ...direct].filter(isClaim)
  return claims.filter(claim => isOnItsWay(claim, claims)).map(({ start }) => start)
}

const lead = (text: string): string => {
  const words = text.trim().split(/\s+/)
  const start = words
    .slice(0, LEAD_WORDS)
    .join(' ')
    .replace(/[\s.,;:]+$/, '')
  return words.length > LEAD_WORDS ? `${start} ...` : start
}

const listed = (text: string): string[] => {
  const steps = text.match(STEP) ?? []
  if (steps.length >= 2) return steps
  return DEMANDED_BULLETS.exec(text)?.[1].trim().split('\n') ?? []
}

/** A criterion that begins with a verb in the third person, as "states ..." or "the response fails to ...". */
const HEAD = /^(?:(?:the )?(?:responses?|answer|model|assistant|it) )?(?:\w+ly )?\w+(?<![isu])s\b/i

/** What follows the first sentence mostly explains it. */
const firstSentence = (text: string): string => text.split(/(?<=[.!?]) (?=\p{Lu})/u)[0]

/** Beyond this many words a text is a document, not a sentence whose verbs can be distinguished. */
export const LONG_WORDS = 100

/**
 * The claims of a criterion, by their leading words: one for most, several where verbs are joined ("states X and
 * recommends Y") or the text is a list of steps. Lists of things under one verb are one claim (spec, appendix A).
 */
export const claimsOf = (whole: string): string[] => {
  const text = headOf(whole)
  const items = listed(text)
  if (items.length >= 2) return items.map(lead)
  const main = firstSentence(mainText(text).trim())
  const denials = [...main.matchAll(JOINED_DENIAL)]
    .map(({ index }) => index)
    .filter(index => !RELATIVE.test(main.slice(0, index)))
  const starts = [...new Set([...joinedActs(main), ...denials])].sort((a, b) => a - b)
  return [0, ...starts].map(start => lead(main.slice(start).replace(JOINER, '')))
}

const JOINER = /^(?:and|but|also|;|,| )+ /i

const clean = (line: string): string => line.replace(/\s+/g, ' ').trim()

const VAGUE = wordSet(`
  appropriate appropriately adequate adequately sufficient sufficiently proper properly suitable suitably reasonable
  reasonably relevant good great nice bad poor poorly clear clearly concise concisely effective effectively helpful
  useful quality comprehensive thorough thoroughly in-depth well-written well-structured well-organized
  well-organised engaging interesting natural meaningful insightful compelling user-friendly
  nuanced coherent coherently logical logically straightforward understandable easy valuable satisfactory acceptable
  decent excellent high-quality smooth fluent readable creative original succinct succinctly brief short long lengthy
  friendly unfriendly polite impolite kind warm warmly pleasant cheerful professional formal informal casual respectful
  courteous empathetic sympathetic supportive encouraging enthusiastic approachable conversational sincere authentic
  humorous funny witty lively fun
  verbose wordy simple too overly excessive excessively unnecessarily unduly extraneous repetitive generic technical`)

/** What makes a criterion checkable although it uses such words: values, names, quotations, examples. */
const ANCHOR =
  /\d|["“”‘`]|\b(?:such as|including|e\.g\.|i\.e\.|for example|for instance|namely|specifically)\b|:\s|\bthat (?:the|a|an|it|there|this)\b|\p{Lu}{2,}/u

/** Content words besides the vague ones up to which a criterion rests on the vague ones. */
const FEW_WORDS = 3

const FILLERS = wordSet(`
  response responses answer answers text content user users reader readers language information explanation style tone
  way manner the a an is are be it its in of to for and or with uses use using provides provide gives give has have
  should must that this makes making on by as at from their all overall level very not does do do so any model
  assistant writing presents presented contains includes structure format`)

/** The vague words that a criterion rests on; none where it also says something that can be checked. */
export const vagueWordsOf = (whole: string): string[] => {
  const text = headOf(whole)
  if (ANCHOR.test(text) || SCRIPT_WITHOUT_SPACES.test(text)) return []
  const words = statementWords(text.toLowerCase())
  const found = words.filter(word => VAGUE.has(word))
  if (found.length === 0) return []
  const rest = new Set(words.filter(word => !VAGUE.has(word) && !FILLERS.has(word)).map(stem))
  return rest.size <= FEW_WORDS ? [...new Set(found)] : []
}

export interface ImpliedSign {
  points: 1 | -1
  /** The words that imply it. */
  words: string
}

// What ought to be, and what ought not: both describe a response that does well.
const NORM =
  /^(?:the |a |an )?(?:good |ideal )?(?:response|answer|model|assistant|ai|chatbot|it)?\s*(?:should|must|needs to|ought to)(?: not)?\b/i
const FLAW =
  /^(?:the |a |an )?(?:response |answer |model |assistant )?(?:(?:fails|neglects|forgets) to|(?:incorrectly|inaccurately|wrongly|erroneously|falsely)\b)/i

/** The sign that a criterion's first words imply; null where they imply none. */
export const signOf = (whole: string): ImpliedSign | null => {
  const text = headOf(whole).trim()
  const norm = NORM.exec(text)
  if (norm) return { points: 1, words: norm[0].trim() }
  const flaw = FLAW.exec(text)
  return flaw ? { points: -1, words: flaw[0].trim() } : null
}

export interface Order {
  /** `command`: wants a verdict whatever the response says; `address`: speaks to the judge. */
  kind: 'command' | 'address'
  words: string
}

const COMMANDS = [
  /\b(?:ignore|disregard|forget|override) (?:all |any |the |your )*(?:previous|prior|above|other|earlier|system)\b[^.]{0,30}\b(?:instructions?|rules?|criteria|prompts?)/i,
  /\b(?:always|simply|just) (?:answer|return|output|respond|mark|give|award|say)\b[^.]{0,40}\b(?:true|yes|met|pass|full|maximum|highest|level \d)/i,
  /\b(?:mark|treat|consider|count) (?:this|the|it|every)\b[^.]{0,30}\bas (?:met|true|satisfied|passed|fulfilled|correct)\b[^.]{0,20}\b(?:regardless|always|in any case|no matter)/i,
]
const ADDRESSES = [
  /^\s*(?:please )?(?:judge|grade|rate|score|evaluate|assess|determine|decide|verify|check|consider|examine|look at)\b (?:whether|if|how|the (?:response|answer|completion|text|output|model|extent|degree|quality|article))[^.,;:]{0,25}/i,
  /\bas (?:a|an|the) (?:judge|grader|evaluator|rater|annotator)\b/i,
  /\byou (?:are|should|must|will|need to|may) (?:a |an |the |be |now )*(?:judg|grad|evaluat|rat|scor|mark|award|assess|penali[sz]e)\w*/i,
  /\bif (?:yes|no|so|not)\b[,:]? ?(?:then )?(?:it |the response )?(?:pass|fail|mark|award|give|deduct|score)\w*/i,
  /\b(?:award|deduct|assign) (?:\w+ ){0,3}(?:points?|marks?|score)\b/i,
  /\b(?:return|output|answer|respond with) (?:true|false|yes|no|"?true"?|json)\b/i,
]

/** Words of a criterion that speak to the judge; the worst of them, or null. */
export const ordersIn = (text: string): Order | null => {
  for (const pattern of COMMANDS) {
    const match = pattern.exec(text)
    if (match) return { kind: 'command', words: clean(match[0]) }
  }
  for (const pattern of ADDRESSES) {
    const match = pattern.exec(text)
    if (match) return { kind: 'address', words: clean(match[0]) }
  }
  return null
}
