/** @file What the words of a proposed rubric give away: that it only looks for a tag, that it is about another stage. Knows English. */

import { wordSet } from '../../util/words.ts'
import type { Stage } from './rubrics.ts'

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
