/** @file Rounds that look for missing, redundant and ambiguous criteria and revise the rubric (RiT). */

import type { ChatMessage, ChatUsage } from '../../chat/chat-model.ts'
import type { Rubric } from '../../rubric/criterion.ts'
import { DataError } from '../../util/errors.ts'
import { escapeUntrusted, quoteUntrusted } from '../../util/untrusted.ts'
import type { Parsed } from '../judge/parse.ts'
import { type Authored, type AuthorOptions, addUsage, askJson } from './ask.ts'
import { type DraftLimits, draftAnswerSchema, readDraft, toCriteria } from './draft.ts'
import { accept, DRAFT_FAULTS, type RefineRound, type Revision, readRevision } from './revision.ts'
import { context, type PromptSubject, type RubricSubject, systemFor } from './task-prompt.ts'

export interface RefineOptions extends AuthorOptions {
  /** The rubric to start from; without one the model proposes it. */
  rubric?: Rubric
  /** Most rounds. Default 3. */
  rounds?: number
  /** What the criteria are about, in a word or two. Default `the reasoning`, for a rubric of thinking `the thinking`. */
  subject?: string
  /** A rubric of the thinking before an answer: criteria about the answer are refused. */
  about?: Rubric['about']
  /** Default 4 and 8, or what the given rubric has if that is outside. */
  minCriteria?: number
  maxCriteria?: number
  onRound?: (round: RefineRound, index: number) => void
}

export interface Refined {
  rubric: Rubric
  rounds: RefineRound[]
  /** `no-change`: a round found nothing to do; `rounds`: they were used up; `unusable`: a later answer could not be read. */
  stopped: 'no-change' | 'rounds' | 'unusable'
  /** Why the last answer could not be used. */
  problem?: string
  usage: ChatUsage
}

const MAX_POINTS = 10

/**
 * Revises a rubric until a round proposes no change, or the rounds are used up. An unusable answer after the first round
 * leaves the rubric of the rounds before.
 * @throws DataError for a tree, and when the first answer cannot be used, even when it was sent back; JudgeError when the model gives none.
 */
export const refineRubric = async (task: RubricSubject, options: RefineOptions): Promise<Refined> => {
  const { rounds = 3, onRound } = options
  if (options.rubric?.tree)
    throw new DataError(
      'refineRubric: expected a flat rubric, got a tree; refine its criteria without the tree',
    )
  const start = options.rubric
    ? { value: marked(options.rubric, options), usage: NO_TOKENS }
    : await proposeRubric(task, options)
  const state = { rubric: start.value, rounds: [] as RefineRound[], usage: start.usage }
  while (state.rounds.length < rounds) {
    const step = await revise(task, state.rubric, options).catch((error: unknown) => {
      if (state.rounds.length > 0 && error instanceof DataError) return error
      throw error
    })
    if (step instanceof DataError) return { ...state, stopped: 'unusable', problem: step.message }
    state.usage = addUsage(state.usage, step.usage)
    state.rubric = step.value.rubric
    state.rounds.push(step.value.round)
    onRound?.(step.value.round, state.rounds.length - 1)
    if (!step.value.changed) return { ...state, stopped: 'no-change' }
  }
  return { ...state, stopped: 'rounds' }
}

const NO_TOKENS: ChatUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 }

/** The rubric with what it is about. */
const marked = (rubric: Rubric, { about = rubric.about }: Pick<RefineOptions, 'about'>): Rubric => {
  const { about: _, ...rest } = rubric
  return about === undefined ? rubric : { about, ...rest }
}

const subjectOf = ({ about, subject }: RefineOptions): string =>
  subject ?? (about === 'thinking' ? 'the thinking' : 'the reasoning')

const promptSubject = ({ query }: RubricSubject, options: RefineOptions): PromptSubject => ({
  subject: subjectOf(options),
  thinking: (options.about ?? options.rubric?.about) === 'thinking',
  forQuery: query !== undefined,
})

const limitsFor = ({ rubric, minCriteria, maxCriteria }: RefineOptions): DraftLimits => {
  const now = rubric?.criteria.length ?? 0
  const largest = Math.max(MAX_POINTS, ...(rubric?.criteria ?? []).map(({ points }) => Math.abs(points)))
  return {
    minCriteria: minCriteria ?? (rubric ? Math.min(4, now) : 4),
    maxCriteria: maxCriteria ?? Math.max(8, now),
    maxPoints: largest,
    fractions: rubric?.criteria.some(({ points }) => !Number.isInteger(points)),
  }
}

/**
 * A first rubric from a task and examples: the initial rubric.
 * @throws as `refineRubric`.
 */
export const proposeRubric = (task: RubricSubject, options: RefineOptions): Promise<Authored<Rubric>> => {
  const about = promptSubject(task, options)
  const limits = limitsFor(options)
  const what = `You write rubrics. This one grades ${about.subject} by which tasks of one kind are worked on.`
  const answer = '{"criteria": [{"criterion": "Checks the result by ...", "points": 4}, ...]}'
  const messages: ChatMessage[] = [
    { role: 'system', content: systemFor(what, about, limits, answer) },
    { role: 'user', content: `${context(task)}\n\nWrite the rubric, as the JSON object only.` },
  ]
  return askJson(options, messages, draftAnswerSchema(limits), (json): Parsed<Rubric> => {
    const draft = readDraft(json)
    return draft.problem === undefined
      ? accept(marked({ criteria: toCriteria(draft.value) }, options), limits)
      : draft
  })
}

const revise = (task: RubricSubject, rubric: Rubric, options: RefineOptions): Promise<Authored<Revision>> => {
  const about = promptSubject(task, options)
  const limits = limitsFor({ ...options, rubric: options.rubric ?? rubric })
  const what = [
    `You revise rubrics. This one grades ${about.subject} by which tasks of one kind are worked on. Look for three kinds of faults:`,
    '- missing: something sets high examples apart from low ones, and no criterion asks for it;',
    '- redundant: a criterion asks for what another asks for already, wholly or for the most part;',
    '- ambiguous: two careful graders could decide a criterion differently.',
    'Name each fault in a sentence, then give the revised list: faulty criteria mended or dropped, missing ones added, everything else word for word as it was, with its id. New criteria have the id "new". If there is no fault, leave the three lists empty and repeat the criteria.',
  ].join('\n')
  const answer =
    '{"missing": ["..."], "redundant": ["..."], "ambiguous": ["..."], "criteria": [{"id": "c1", "criterion": "...", "points": 4}, ...]}'
  const shown = rubric.criteria.map(
    ({ id, text, points }) =>
      `${escapeUntrusted(id)} (${points} points)\n${quoteUntrusted(text, 'criterion')}`,
  )
  const messages: ChatMessage[] = [
    { role: 'system', content: systemFor(what, about, limits, answer) },
    {
      role: 'user',
      content: `${context(task)}\n\nThe rubric:\n${shown.join('\n')}\n\nRevise it, as the JSON object only.`,
    },
  ]
  return askJson(options, messages, draftAnswerSchema(limits, DRAFT_FAULTS), json =>
    readRevision(json, rubric, limits),
  )
}
