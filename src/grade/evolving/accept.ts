/** @file Which proposals become rubrics: every rule that a program can check, and the reason where one is broken. */

import type { Criterion } from '../../rubric/criterion.ts'
import { lintPairs } from '../../rubric/lint-pairs.ts'
import { uniqueNames } from '../../rubric/unique.ts'
import { ordersIn } from '../../rubric/wording.ts'
import { visible } from '../../util/format.ts'
import { describeValue } from '../../util/schema.ts'
import { wordSet } from '../../util/words.ts'
import { type RubricDraft, STAGE_NAMES, STAGES, type Stage, type StageRubric } from './rubrics.ts'
import type { EvolvingSettings } from './settings.ts'

const TAGS =
  'think(?:ing)?|scratchpad|structured_plan|plan|deep_analysis|analysis|rubrics?|research_plan|state_evaluation|review|rubrics?_review|writing_plan|(?:final )?answer|call_tool|tool_call|tool_output|cite|citation'

/** A tag as such, or one that is called by its name and its kind. */
const TAG_NAMED = new RegExp(
  [
    '</?[a-z_][\\w-]{0,40}(?:\\s[^<>]{0,60})?/?>',
    `[\`'"]?\\b(?:${TAGS})\\b[\`'"]? (?:xml |html |markup )?(?:tags?|blocks?|sections?|elements?|markers?|delimiters?|headings?)\\b`,
    '\\b(?:xml|html|markup|opening|closing|required|expected|specified|proper) (?:xml |html |markup )?(?:tags?|blocks?|elements?|markers?|delimiters?)\\b',
    '\\b(?:tags?|markup|delimiters?)\\b',
    '\\b(?:structured_plan|deep_analysis|research_plan|state_evaluation|rubrics?_review|writing_plan|call_tool|tool_call|tool_output)\\b',
  ].join('|'),
  'gi',
)

/** Words that say of a tag that it is there, that it is well formed, or whose it is; and words that say nothing. */
const OF_TAGS =
  wordSet(`a an the its it this that these those each every all both any one two three four some no not never without and or nor but
  is are was were be been being do does did has have having had contain contains containing include includes including use
  uses using used open opens opened opening close closes closed closing end ends ended begin begins start starts with within
  in inside before after of for to by as at on into from there present exist exists existing missing absent omit omits omitted lack lacks
  lacking provide provides provided give gives given write writes written wrap wraps wrapped enclose encloses enclosed output
  outputs produce produces produced appear appears form formed format formats formatted formatting structure structured well
  good correct correctly proper properly valid validly required expected specified exact exactly order ordered place placed
  right only at least most single own empty nonempty non fully complete completely response rollout trajectory agent model
  text output stage section sections block blocks element elements marker markers heading headings tag tags xml html markup
  plan planning research review answer thinking fails fail failing must should shall will can`)

const WORD = /[\p{L}\p{N}]+/gu

/** Whether a rubric asks for a tag, or its form, and for nothing in it: who writes the tag is paid for it. */
export const asksForTag = (text: string): boolean => {
  let tags = 0
  const rest = text.replace(TAG_NAMED, () => {
    tags++
    return ' '
  })
  const words = rest.toLowerCase().match(WORD) ?? []
  return tags > 0 && words.every(word => OF_TAGS.has(word))
}

const BEGIN = '^\\s*(?:(?:the|its|this|a|an)\\s+)?'

/** What a rubric of another stage begins with, by the stage that writes it. */
const WRITTEN_BY: readonly { stage: Stage; elsewhere: readonly Stage[]; subject: RegExp }[] = [
  {
    stage: 1,
    elsewhere: [4],
    subject: new RegExp(`${BEGIN}(?:initial |research |structured )?plan\\b`, 'i'),
  },
  { stage: 3, elsewhere: [1, 2, 4], subject: new RegExp(`${BEGIN}(?:rubric )?review\\b(?! of\\b)`, 'i') },
  {
    stage: 4,
    elsewhere: [1, 2, 3],
    subject: new RegExp(
      `${BEGIN}(?:final |written )?(?:answer|report|response)\\b(?! (?:outline|plan|structure|format|needs|requires|type))`,
      'i',
    ),
  },
]

/** The stage that a rubric is about, judging by how it begins, where that is another one than its own; else null. */
export const otherStageOf = (text: string, stage: Stage): Stage | null =>
  WRITTEN_BY.find(({ elsewhere, subject }) => elsewhere.includes(stage) && subject.test(text))?.stage ?? null

/** Which rule a proposal broke: what it is made of, how many there are, what it says, or what it makes of labelled answers. */
export type RefusalRule =
  | 'malformed'
  | 'too-many'
  | 'tag-check'
  | 'other-stage'
  | 'order'
  | 'duplicate'
  | 'mirrored'
  | 'contradictory'
  | 'anchors'

/** A proposal that became no rubric. */
export interface RefusedDraft {
  /** Null where it named none that there is. */
  stage: Stage | null
  /** As far as it had one. */
  title: string
  description: string
  rule: RefusalRule
  reason: string
}

/** Why a proposal is refused. */
type Refusal = Pick<RefusedDraft, 'rule' | 'reason'>

export interface Accepted {
  born: StageRubric[]
  refused: RefusedDraft[]
}

/** Longer than any rubric that can be judged. */
const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 1000

/** Refusals of one call that are reported; more say nothing new. */
const MOST_REFUSALS = 60

interface Context {
  /** What rollouts are scored on already. */
  existing: readonly StageRubric[]
  /** Ids that are given away, besides theirs. */
  taken?: readonly string[]
  step: number
  settings: Pick<EvolvingSettings, 'maxProposed' | 'refuse'>
}

/**
 * Reads what a judge proposed. A proposal that breaks a rule is left out, with the reason, and says nothing about the others.
 * @param drafts entries as they came: anything
 */
export const acceptDrafts = (drafts: readonly unknown[], context: Context): Accepted => {
  const born: StageRubric[] = []
  const refused: RefusedDraft[] = []
  const counts = new Map<Stage, number>()
  const nameOf = uniqueNames()
  for (const id of [...context.existing.map(({ id }) => id), ...(context.taken ?? [])]) nameOf(id)
  const alike = likenessOf(drafts, context)
  for (const [place, entry] of drafts.entries()) {
    const read = readDraft(entry)
    const refusal = read.refusal ?? refusalOf(read.draft, place, { ...context, born, counts, alike })
    if (refusal !== null) refused.push({ ...shown(entry), ...refusal })
    else {
      const { stage } = read.draft!
      const id = nameOf(`${context.step}.${stage}.${counts.get(stage) ?? 1}`)
      born.push({ ...read.draft!, id, since: context.step })
      alike.placeOf.set(id, place)
    }
  }
  return { born, refused: refused.slice(0, MOST_REFUSALS) }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (entry: unknown): Fields | null =>
  entry !== null && typeof entry === 'object' && !Array.isArray(entry) ? (entry as Fields) : null

const textOf = (value: unknown, most: number): string =>
  typeof value === 'string' ? value.slice(0, most) : ''

const isStage = (value: unknown): value is Stage => STAGES.includes(value as Stage)

const shown = (entry: unknown): Omit<RefusedDraft, keyof Refusal> => {
  const { stage, title, description } = fieldsOf(entry) ?? {}
  return {
    stage: isStage(stage) ? stage : null,
    title: textOf(title, LONGEST_TITLE),
    description: textOf(description, LONGEST_DESCRIPTION),
  }
}

type DraftReading = { draft: RubricDraft; refusal: null } | { draft?: undefined; refusal: Refusal }

const wrong = (field: string, expected: string, value: unknown): DraftReading => ({
  refusal: { rule: 'malformed', reason: `${field}: expected ${expected}, got ${describeValue(value)}` },
})

/** Control characters have no business in a rubric, which is shown in terminals, pages and prompts; ends of lines are none. */
const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= most &&
  visible(unixLines(value)) === unixLines(value)

const unixLines = (text: string): string => text.replaceAll('\r\n', '\n')

const readDraft = (entry: unknown): DraftReading => {
  const fields = fieldsOf(entry)
  if (fields === null) return wrong('rubric', 'an object', entry)
  const { stage, sign, title, description, weight } = fields
  if (!isStage(stage)) return wrong('stage', '1, 2, 3 or 4', stage)
  if (sign !== 'positive' && sign !== 'negative') return wrong('sign', 'positive or negative', sign)
  if (!isText(title, LONGEST_TITLE))
    return wrong('title', `a text of at most ${LONGEST_TITLE} characters, none of them for control`, title)
  if (!isText(description, LONGEST_DESCRIPTION))
    return wrong(
      'description',
      `a text of at most ${LONGEST_DESCRIPTION} characters, none of them for control`,
      description,
    )
  if (weight !== 1 && weight !== 2 && weight !== 3) return wrong('weight', '1, 2 or 3', weight)
  return {
    draft: {
      stage,
      sign,
      title: unixLines(title.trim()),
      description: unixLines(description.trim()),
      weight,
    },
    refusal: null,
  }
}

interface Reached extends Context {
  born: readonly StageRubric[]
  counts: Map<Stage, number>
  alike: Likeness
}

/** Which rule a well-formed proposal breaks; null for none. */
const refusalOf = (draft: RubricDraft | undefined, place: number, reached: Reached): Refusal | null => {
  const { stage, title, description } = draft!
  const { settings, counts } = reached
  const { refuse, maxProposed } = settings
  const count = (counts.get(stage) ?? 0) + 1
  counts.set(stage, count)
  if (count > maxProposed)
    return { rule: 'too-many', reason: `more than ${maxProposed} proposals for this stage` }
  if (refuse.tagChecks && asksForTag(description))
    return { rule: 'tag-check', reason: 'only asks whether a tag or a section is there' }
  const other = refuse.otherStages ? otherStageOf(description, stage) : null
  if (other !== null)
    return { rule: 'other-stage', reason: `is about another stage, the ${STAGE_NAMES[other - 1]}` }
  const order = refuse.orders ? (ordersIn(description) ?? ordersIn(title)) : null
  if (order !== null) return { rule: 'order', reason: `speaks to the judge ("${order.words}")` }
  return likeProblem(draft!, place, reached)
}

/** Why a proposal may not stand beside another rubric, by the places of both; proposals by number, rubrics by id. */
interface Likeness {
  between(place: number, other: StageRubric): Refusal | null
  /** Where a rubric that was just accepted stood among the proposals. */
  placeOf: Map<string, number>
}

const likeProblem = (
  draft: RubricDraft,
  place: number,
  { existing, born, alike }: Reached,
): Refusal | null => {
  for (const other of [...existing, ...born]) {
    if (other.stage !== draft.stage) continue
    const problem = sameWords(draft, other) ?? alike.between(place, other)
    if (problem !== null) return problem
  }
  return null
}

const plain = (text: string): string => (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]).join(' ')

/** Two merits of one name are one; a merit and a flaw may share a name, and no description. */
const sameWords = (draft: RubricDraft, other: StageRubric): Refusal | null => {
  const sameSign = draft.sign === other.sign
  if (plain(draft.description) === plain(other.description))
    return sameSign ? SAID.duplicate(other) : SAID.mirrored(other)
  return sameSign && plain(draft.title) === plain(other.title) ? SAID.duplicate(other) : null
}

const nameOf = ({ id, title }: StageRubric): string => `${id} (${title})`

/** What the linter's findings about a pair mean here. */
const SAID: Readonly<Record<string, (other: StageRubric) => Refusal>> = {
  duplicate: other => ({ rule: 'duplicate', reason: `repeats ${nameOf(other)}` }),
  'near-duplicate': other => ({
    rule: 'duplicate',
    reason: `one says nothing that the other does not say: this and ${nameOf(other)}`,
  }),
  mirrored: other => ({
    rule: 'mirrored',
    reason: `is the other side of ${nameOf(other)}: the same thing would count twice`,
  }),
  contradictory: other => ({ rule: 'contradictory', reason: `contradicts ${nameOf(other)}` }),
}

const criterionOf = (id: string, { description, sign }: Omit<RubricDraft, 'weight'>): Criterion => ({
  id,
  text: description,
  points: sign === 'positive' ? 1 : -1,
})

/** Compares proposals with rubrics and with each other, a stage at a time, all pairs of it at once. */
const likenessOf = (drafts: readonly unknown[], { existing, settings }: Context): Likeness => {
  const placeOf = new Map<string, number>()
  const { similarity } = settings.refuse
  const found = new Map<string, string>()
  const keyOf = (a: string, b: string) => JSON.stringify(a < b ? [a, b] : [b, a])
  if (similarity !== null)
    for (const stage of STAGES) {
      const old = existing.filter(rubric => rubric.stage === stage)
      const criteria = drafts.flatMap((entry, place) => {
        const { draft } = readDraft(entry)
        return draft?.stage === stage ? [criterionOf(`proposal ${place}`, draft)] : []
      })
      if (criteria.length === 0) continue
      const all = [
        ...old.map(rubric => criterionOf(`rubric ${rubric.id}`, rubric)),
        ...criteria.slice(0, settings.maxProposed),
      ]
      for (const { rule, criterionIds } of lintPairs(all, { similarity }))
        found.set(keyOf(criterionIds[0], criterionIds[1]), rule)
    }
  return {
    placeOf,
    between(place, other) {
      const at = placeOf.get(other.id)
      const name = at === undefined ? `rubric ${other.id}` : `proposal ${at}`
      const rule = found.get(keyOf(`proposal ${place}`, name))
      return rule === undefined ? null : (SAID[rule]?.(other) ?? null)
    },
  }
}
