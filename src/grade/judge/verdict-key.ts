/** @file Keys of judgements: everything that one depends on, and nothing else; long texts are hashed once an item. */

import type { Criterion } from '../../rubric/criterion.ts'
import type { GradeItem } from '../grader.ts'
import { cacheKey, digestOf } from './cache/cache-key.ts'
import { type JudgeTemplate, type SubjectOptions, shownMessages } from './templates/template.ts'

/** How the judge samples. Left out, the server's own default holds. */
export interface JudgeSampling {
  temperature?: number
  topP?: number
  topK?: number
  presencePenalty?: number
  /** Limit of an answer's tokens, reasoning included; default 2048, and 256 for each further criterion of a call. */
  maxTokens?: number
  /** Repeat number k asks with `seed + k`, and once more afresh with `seed + k + 1000`. */
  seed?: number
  /** Alternatives asked for at each token: verdicts then carry a margin, where the server gives log-probs. */
  topLogprobs?: number
}

/** Settings of a judge as text, the same for the same settings. */
export const samplingText = (
  sampling: JudgeSampling,
  attempts: { repairs: number; retries: number },
): string => {
  const { temperature, topP, topK, presencePenalty, maxTokens, seed, topLogprobs } = sampling
  const { repairs, retries } = attempts
  const settings = [temperature, topP, topK, presencePenalty, maxTokens, seed, topLogprobs, repairs, retries]
  return settings.map(setting => setting ?? '').join(',')
}

/** Digest of what the judge is shown: conversation, response, reference. */
export const subjectDigest = (item: GradeItem, options: SubjectOptions): string => {
  const parts = shownMessages(item, options).flatMap(({ role, content }) => [role, content])
  parts.push('response', item.response)
  if (options.showReference && item.reference !== undefined) parts.push('reference', item.reference)
  // Lengths before the parts, so that no two lists of parts run together into the same text.
  return digestOf(parts.map(part => `${part.length}:${part}`).join(''))
}

/** What a template asks about a criterion: its text, its sign, and its own scale where it has one. Points are not shown. */
const asked = ({ text, points, levels }: Criterion): readonly unknown[] =>
  levels ? [text, Math.sign(points), levels] : [text, Math.sign(points)]

/** Key of one call. */
export const callKey = (
  judge: { model: string; variant?: string; sampling: string },
  template: JudgeTemplate,
  subject: string,
  criteria: readonly Criterion[],
  sampleIndex: number,
): string =>
  cacheKey({
    model: judge.model,
    variant: judge.variant,
    template: `${template.name}@${template.version}`,
    criterion: JSON.stringify(criteria.map(template.shown ?? asked)),
    judged: subject,
    sampling: judge.sampling,
    sampleIndex,
  })
