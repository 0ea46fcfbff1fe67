/**
 * @file A teacher as RLCER's verifier, for a small model to learn from (arXiv 2602.10885, Appendix A: the paper distils its verifier):
 * lists of verdicts (Fig. 10) on responses by rubrics, both recorded in two roles. Kept is what most passes say of every criterion,
 * where execution does not deny it.
 */

import { z } from 'zod'
import type { ChatMessage, ChatModel } from '../../chat/chat-model.ts'
import type { Grader } from '../../grade/grader.ts'
import type { JudgeForm } from '../../grade/judge/templates/form.ts'
import { judgeMessages } from '../../grade/judge/templates/template.ts'
import { readProposal } from '../../grade/proposal/index.ts'
import { isVerifierPrompt, RUBRIC_VERIFIER, rubricVerifier } from '../../grade/thinking/index.ts'
import { type Criterion, criterionSchema } from '../../rubric/criterion.ts'
import { groupedBy } from '../../util/grouped.ts'
import type { RecordingFormat } from '../../util/recording-file.ts'
import { quoteUntrusted } from '../../util/untrusted.ts'
import { partThinking } from '../thinking.ts'
import { maskAnswers } from './mask.ts'
import { isCutOff, spokenAnswer, type TwoRolesOptions, type TwoRolesRow } from './two-roles.ts'

const headerSchema = z.strictObject({
  gradus: z.literal('verdict-lists'),
  version: z.literal(1),
  /** Name of the model. */
  teacher: z.string(),
  sampling: z.record(z.string(), z.unknown()),
  /** The verifier's prompt; absent: ours. */
  prompt: z
    .string()
    .refine(isVerifierPrompt, 'a prompt with {question}, {response} and then {rubrics}')
    .optional(),
})

const pairShape = {
  /** The question's, and the attempts that response and rubric are from. */
  id: z.string(),
  question: z.string(),
  /** As the verifier is shown it, with its answer masked. */
  response: z.string(),
  criteria: z.array(criterionSchema).min(1),
}
export type VerifiedPair = z.output<z.ZodObject<typeof pairShape>>

const rowSchema = z
  .looseObject({
    ...pairShape,
    /** Which pass. */
    attempt: z.int().positive(),
    text: z.string(),
    /** Null where it was cut off, or is no list of as many verdicts. */
    verdicts: z.array(z.boolean()).nullable(),
  })
  .refine(
    ({ verdicts, criteria }) => verdicts === null || verdicts.length === criteria.length,
    'as many verdicts as criteria',
  )
export type VerdictListRow = z.output<typeof rowSchema>

export const VERDICT_LISTS: RecordingFormat<z.output<typeof headerSchema>, VerdictListRow> = {
  kind: 'verdict-lists',
  words: { what: 'lists of verdicts', command: 'gradus trajectories roles --verify' },
  header: headerSchema,
  row: rowSchema,
}

/** Every rubric in form on every whole response to its question, right or wrong, as training has them verified (Algorithm 1). */
export const pairsToVerify = (rows: readonly TwoRolesRow[]): VerifiedPair[] => {
  const whole = groupedBy(
    rows.filter(({ reasoner }) => reasoner.rejected !== 'cut-off'),
    ({ id }) => id,
  )
  return rows.flatMap(({ id, attempt, question, rubricator }) => {
    if (rubricator === null || rubricator.rejected !== null) return []
    const { criteria } = readProposal(spokenAnswer(rubricator.text))
    return (whole.get(id) ?? []).map(({ attempt: of, reasoner: { text } }) => {
      return { id: `${id}/${of}/${attempt}`, question, response: maskAnswers(text), criteria }
    })
  })
}

const templateOf = (form: JudgeForm, [criterion]: readonly Criterion[]) =>
  form.many(form.scaleOf(criterion, 'yes-no'))

const gradedItem = ({ question, response }: VerifiedPair) => ({
  prompt: [{ role: 'user' as const, content: question }],
  response,
})

/** What a judge is asked about the pair in training. @param prompt in place of ours */
const verifierMessages = (pair: VerifiedPair, prompt?: string): ChatMessage[] => {
  const form = rubricVerifier(prompt)
  const subject = form.subject(gradedItem(pair), {}, quoteUntrusted)
  return judgeMessages(templateOf(form, pair.criteria), subject, pair.criteria, quoteUntrusted)
}

/** One pass of the teacher. @throws JudgeError where it gives no answer */
export const askForVerdicts = async (
  pair: VerifiedPair,
  teacher: ChatModel,
  { prompt, ...sampling }: Omit<TwoRolesOptions, 'askToThink' | 'prompts'> & { prompt?: string },
  own: { seed?: number; signal?: AbortSignal } = {},
): Promise<Pick<VerdictListRow, 'text' | 'verdicts'>> => {
  const messages = verifierMessages(pair, prompt)
  const { text, finishReason } = await teacher.complete({ messages, ...sampling, ...own })
  const { value } = templateOf(RUBRIC_VERIFIER, pair.criteria).read(text, pair.criteria)
  return {
    text,
    verdicts: isCutOff(finishReason) || value === undefined ? null : value.map(({ met }) => met === true),
  }
}

export const LIST_REJECTIONS = {
  unreadable: 'no list of verdicts that can be read',
  divided: 'no list that most passes agree with',
  denied: 'a verdict that execution denies',
} as const

/**
 * What of the passes over one pair is fit to be learnt from: a row for supervised learning, or why there is none. Learnt is the
 * first list of which more than half of all passes give every verdict, behind its thinking, where the teacher thought.
 * @param options `rules` execute criteria, and null verdicts of theirs deny nothing; `prompt`: of the verifier, in place of ours
 */
export const listDemonstration = async (
  passes: readonly VerdictListRow[],
  { rules, prompt }: { rules?: Grader; prompt?: string },
) => {
  const [{ id, criteria }] = passes
  if (passes.every(({ verdicts }) => verdicts === null)) return 'unreadable'
  const votes = (met: boolean, k: number) => passes.filter(({ verdicts }) => verdicts?.[k] === met).length
  const pass = passes.find(({ verdicts }) => verdicts?.every((met, k) => votes(met, k) > passes.length / 2))
  if (pass === undefined) return 'divided'
  const judgement = pass.verdicts!
  const executed = await rules?.grade(gradedItem(pass), criteria)
  if (executed?.some(({ met }, k) => met !== null && met !== judgement[k])) return 'denied'
  const { thinking, closed } = partThinking(pass.text)
  const final_score = criteria.reduce((sum, { points }, k) => sum + (judgement[k] ? points : 0), 0)
  const list = JSON.stringify({ judgement, final_score })
  const content = closed ? `<think>\n${thinking}\n</think>\n\n${list}` : list
  return {
    ...{ id, attempt: pass.attempt, role: 'verifier' },
    messages: [...verifierMessages(pass, prompt), { role: 'assistant' as const, content }],
  }
}
