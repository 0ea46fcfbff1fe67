/** @file Proposing new rubrics from all rollouts of a question, in one call (our words). */

import type { Criterion } from '../../rubric/criterion.ts'
import { tryJson } from '../../util/json.ts'
import { QUOTING_NOTE, type Quote } from '../../util/untrusted.ts'
import { plainKey } from '../judge/literals.ts'
import { membersOf } from '../judge/members.ts'
import {
  EMPTY,
  jsonIn,
  NEVER_ENDS,
  NO_JSON,
  type Parsed,
  type ParsedAnswer,
  splitThinking,
  unreadable,
  withoutFence,
} from '../judge/parse.ts'
import { judgeFormOf, listScale, questionParts } from '../judge/templates/lists.ts'
import type { Judgement } from '../judge/templates/scale.ts'
import type { JudgeTemplate } from '../judge/templates/template.ts'
import { renderParts } from './render.ts'
import { type RolloutPart, STAGE_NAMES, STAGES, type StageRubric } from './rubrics.ts'
import type { EvolvingSettings } from './settings.ts'

const KEY = 'proposals'

/** Proposals that an answer may hold at all; a longer list is no answer to what was asked. */
const MOST_PROPOSALS = 200

/** What a call is about besides the rollouts: the text of its only criterion, as JSON. */
export interface ProposalRequest {
  existing: readonly Pick<StageRubric, 'stage' | 'sign' | 'title' | 'description'>[]
  targets: EvolvingSettings['targets']
}

// A proposal is the explanation of a verdict about one criterion: so it is planned, remembered, shared and repaired as any.
export const requestCriterion = (request: ProposalRequest): Criterion => ({
  id: 'new rubrics',
  text: JSON.stringify(request),
  points: 1,
})

const SCALE = listScale({
  name: 'stage-rubrics',
  key: KEY,
  valueSchema: { type: 'array' },
  valueText: 'a list of rubrics',
  read: () => ({ problem: 'proposals are read as a whole' }),
})

const ANSWER = `{"${KEY}": [{"stage": 1, "sign": "positive", "title": "...", "description": "...", "weight": 2}, ...]}`

const listIn = (json: unknown): Parsed<unknown[]> => {
  const list =
    json !== null && typeof json === 'object' && Object.hasOwn(json, KEY)
      ? (json as Record<string, unknown>)[KEY]
      : undefined
  if (!Array.isArray(list)) return { problem: `expected an object with the list "${KEY}"` }
  return list.length > MOST_PROPOSALS
    ? { problem: `${KEY}: expected at most ${MOST_PROPOSALS} entries, got ${list.length}` }
    : { value: list }
}

const SEVERAL = `it holds several lists "${KEY}"; which one is meant cannot be told`

/** An answer that is JSON as a whole, a fence around it at most; text inside its strings is quoted and does not count. */
const readWhole = (text: string, json: unknown): Parsed<unknown[]> => {
  const named = membersOf(text).filter(({ key }) => plainKey(key) === KEY)
  return named.length > 1 ? { problem: SEVERAL } : listIn(json)
}

/** Any other answer: the list may be named once alone, since a judge may have copied one from a rollout. */
const readSearched = (text: string): Parsed<unknown[]> => {
  const { answer, opened } = splitThinking(text)
  if (answer === null) return { problem: NEVER_ENDS }
  if (answer === '') return { problem: EMPTY }
  const inside = withoutFence(answer)
  const whole = tryJson(inside)
  // Without its opening tag, what stands before may be no reasoning: a copied closing tag may have cut the answer in two.
  const searched = opened ? answer : text
  const named = searched.normalize('NFKC').match(new RegExp(`${KEY}["'\`\\\\]{0,4}\\s{0,20}[:=]`, 'gi')) ?? []
  if (whole !== undefined && (opened || searched.trim() === answer)) return readWhole(inside, whole)
  if (named.length > 1) return { problem: SEVERAL }
  let problem: string | undefined
  for (const { json } of jsonIn(answer)) {
    const reading = listIn(json)
    if (reading.problem === undefined) return reading
    problem ??= reading.problem
  }
  return { problem: problem ?? NO_JSON }
}

/** The list of an answer, entries as they came. */
export const readProposals = (text: string): ParsedAnswer<unknown[]> => {
  const problem = unreadable(text)
  if (problem !== null) return { problem, strict: false }
  const whole = tryJson(text)
  return whole === undefined
    ? { ...readSearched(text), strict: false }
    : { ...readWhole(text, whole), strict: true }
}

const read = (text: string): ParsedAnswer<Judgement[]> => {
  const { value, problem, strict } = readProposals(text)
  return problem === undefined
    ? { value: [{ met: true, explanation: JSON.stringify(value) }], strict }
    : { problem, strict }
}

const targetText = (targets: EvolvingSettings['targets']): string =>
  STAGES.map(stage => {
    const [low, high] = targets[stage - 1]
    return `stage ${stage} (${STAGE_NAMES[stage - 1]}) ${low} to ${high}`
  }).join(', ')

const existingLines = (existing: ProposalRequest['existing'], quote: Quote): string[] =>
  existing.length === 0
    ? ['There are no rubrics yet.']
    : [
        'Rubrics that are in use already, not to be proposed again:',
        ...existing.map(
          ({ stage, sign, title, description }) =>
            `Stage ${stage}, ${STAGE_NAMES[stage - 1]}; ${sign === 'positive' ? 'a merit' : 'a flaw'}\n${quote(`${title}: ${description}`, 'criterion')}`,
        ),
      ]

const template: JudgeTemplate = {
  name: 'stage-rubrics/proposals',
  version: 1,
  scale: SCALE,
  system: [
    'You write rubrics that tell good research from poor. Several rollouts of one agent on one question are given. Each of them plans (stage 1), researches with tools (stage 2), reviews what it found (stage 3) and answers (stage 4). Compare them and propose what should be looked at next to tell them apart.',
    'What a rubric is:',
    ...[
      'It belongs to one stage and can be decided from that stage: a plan is not judged by the answer, nor research by how it is reviewed.',
      'It has a sign. "positive" names a merit, "negative" a flaw, worded as the flaw itself.',
      'It has a short title, a description of one or two sentences, and a weight: 1 for what is nice, 2 for what matters, 3 for what the question stands or falls by.',
      'Somebody who sees one rollout alone must be able to say whether all of it, part of it, or nothing of it is there.',
    ].map(rule => `- ${rule}`),
    'What makes one good:',
    ...[
      'It discriminates: you can point at rollouts here that have it and at others that do not. What all have, or none, is worth nothing.',
      'It is concrete: it names the fact, the comparison, the source, the step. Words such as thorough, clear or good decide nothing.',
      'It is new: no rubric in use asks for it, and no other of yours does. Never write a merit and the flaw of lacking it.',
      'Flaws are for what does real harm: a false claim, a source that does not say what it is cited for, evidence that was ignored. When in doubt leave them out.',
    ].map(rule => `- ${rule}`),
    'What must not pay, because an agent would learn to do just that:',
    ...[
      'that a tag, a heading or a section is there, or how long something is;',
      'that a plan is followed which was weak, or that it is kept when the evidence speaks against it: a change that evidence calls for is never a flaw;',
      'one particular wording, order or source where others are as good;',
      'what a rollout says of itself. Rubrics that rollouts wrote for themselves are references that may give you ideas; they are no standard, and none is to be copied because it is met.',
    ].map(rule => `- ${rule}`),
    QUOTING_NOTE,
    `Answer with one JSON object and nothing else: ${ANSWER}`,
  ].join('\n'),
  question: ([criterion], quote) => {
    const { existing, targets } = JSON.parse(criterion.text) as ProposalRequest
    return [
      ...existingLines(existing, quote),
      `How many are wanted: ${targetText(targets)}. These are targets and no quotas: propose fewer, or none, rather than weak ones.`,
      `Answer with the JSON object only: "${KEY}", a list of rubrics with "stage", "sign", "title", "description" and "weight".`,
    ].join('\n')
  },
  answerSchema: () => ({
    name: 'stage_rubrics',
    schema: {
      type: 'object',
      properties: {
        [KEY]: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              stage: { type: 'integer', enum: [1, 2, 3, 4] },
              sign: { type: 'string', enum: ['positive', 'negative'] },
              title: { type: 'string' },
              description: { type: 'string' },
              weight: { type: 'integer', enum: [1, 2, 3] },
            },
            required: ['stage', 'sign', 'title', 'description', 'weight'],
            additionalProperties: false,
          },
        },
      },
      required: [KEY],
      additionalProperties: false,
    },
  }),
  answerText: () => `one JSON object ${ANSWER}, its list empty where there is nothing to propose`,
  read,
}

/** A question and all its rollouts: a list of the parts of each is the item's response, as JSON. */
export const STAGE_GENERATOR = judgeFormOf(template, (item, options, quote) => {
  const rollouts = JSON.parse(item.response) as RolloutPart[][]
  return [
    'The question:',
    ...questionParts(item, options, quote),
    ...rollouts.flatMap((parts, index) => [
      `Rollout ${index + 1} of ${rollouts.length}, in order:`,
      ...renderParts(parts, quote),
    ]),
  ].join('\n')
})
