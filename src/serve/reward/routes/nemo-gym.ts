/**
 * @file NeMo-Gym's resources server: `/verify` and what its agents ask beside it. Shape as in its
 * nemo_gym/base_resources_server.py and nemo_gym/judge.py at 07d6b0d07.
 */

import { z } from 'zod'
import type { ChatMessage } from '../../../chat/chat-model.ts'
import type { RouteOf } from '../config.ts'
import { referenceAt } from '../fields.ts'
import { nullShare, type RewardItem, type RewardResult } from '../item.ts'
import { nemoGymMetrics } from './nemo-gym-metrics.ts'
import type { RewardRoute } from './route.ts'

const outputItem = z.looseObject({ type: z.string().optional() })

const nemoGymRequest = z.looseObject({
  responses_create_params: z.looseObject({
    input: z.union([z.string(), z.array(z.looseObject({}))], { error: 'a text or a list of input items' }),
    instructions: z.string().nullish(),
  }),
  response: z.looseObject({ output: z.array(outputItem) }),
})
export type NemoGymRequest = z.output<typeof nemoGymRequest>

/** The request comes back with these added; the last four only where judges failed and there is no reward. */
const nemoGymResponse = z.looseObject({
  ...nemoGymRequest.shape,
  reward: z.number(),
  /** For trainers with several objectives, such as GDPO: what each criterion adds to the signed score. */
  reward_components: z.record(z.string(), z.number()),
  rubric_null_share: z.number(),
  _ng_failure_class: z.literal('judge_failed').optional(),
  _ng_failure_judge_error: z.string().optional(),
  mask_sample: z.literal(true).optional(),
})

const ROLES: ReadonlyMap<string, ChatMessage['role']> = new Map([
  ['system', 'system'],
  ['developer', 'system'],
  ['user', 'user'],
  ['assistant', 'assistant'],
])

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.map(part => (part as { text?: unknown } | null)?.text)
  return texts.filter(text => typeof text === 'string').join('')
}

/** Messages among the items of a conversation; calls of tools and their results are left out. */
const messagesOf = (items: readonly Readonly<Record<string, unknown>>[]): ChatMessage[] =>
  items.flatMap(({ type = 'message', role, content }) => {
    const known = type === 'message' && typeof role === 'string' ? ROLES.get(role) : undefined
    return known === undefined ? [] : [{ role: known, content: textOf(content) }]
  })

const promptOf = ({ input, instructions }: NemoGymRequest['responses_create_params']): ChatMessage[] => {
  const system: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : []
  const rest: ChatMessage[] =
    typeof input === 'string' ? [{ role: 'user', content: input }] : messagesOf(input)
  return [...system, ...rest]
}

const toItem = (body: NemoGymRequest, { reference, judged }: RouteOf<'nemo-gym'>): RewardItem => {
  const said = messagesOf(body.response.output).filter(({ role }) => role === 'assistant')
  const kept = judged === 'last-message' ? said.slice(-1) : said
  return {
    prompt: promptOf(body.responses_create_params),
    response: kept.map(({ content }) => content).join('\n\n'),
    reference: referenceAt(body, reference),
    metadata: body,
    fields: body,
  }
}

const toAnswer = (body: NemoGymRequest, result: RewardResult, onNull: number) => {
  const { reward, reason = 'no verdict' } = result
  const answer = {
    ...body,
    reward: reward ?? onNull,
    reward_components: result.components,
    rubric_null_share: nullShare(result),
  }
  if (reward !== null) return answer
  return {
    ...answer,
    _ng_failure_class: 'judge_failed',
    _ng_failure_judge_error: reason,
    mask_sample: true,
  }
}

/** The folder of `/verify`, where the other paths of a resources server lie. */
const beside = (path: string, name: string): string => path.replace(/[^/]*$/, name)

const metricsRequest = z.object({ verify_responses: z.array(z.looseObject({})) })

export const nemoGymRoute = (config: RouteOf<'nemo-gym'>): RewardRoute<NemoGymRequest> => ({
  config,
  summary: 'Verifies a rollout for NeMo-Gym',
  request: nemoGymRequest,
  response: nemoGymResponse,
  count: () => 1,
  items: body => [toItem(body, config)],
  place: () => 'rollout',
  answer: (body, [result]) => toAnswer(body, result, config.onNull),
  side: [
    {
      method: 'post',
      path: beside(config.path, 'seed_session'),
      summary: 'Begins a NeMo-Gym session; nothing is kept',
      request: z.looseObject({}),
      response: z.object({}),
      answer: () => ({}),
    },
    {
      method: 'get',
      path: beside(config.path, 'reverify_mode'),
      summary: 'Says that a rollout can be verified again',
      response: z.literal('stateless'),
      answer: () => 'stateless',
    },
    {
      method: 'post',
      path: beside(config.path, 'aggregate_metrics'),
      summary: 'Statistics of verified rollouts for NeMo-Gym',
      request: metricsRequest,
      response: z.object({
        group_level_metrics: z.array(z.record(z.string(), z.number())),
        agent_metrics: z.record(z.string(), z.number()),
        key_metrics: z.record(z.string(), z.number()),
      }),
      answer: body => nemoGymMetrics(metricsRequest.parse(body).verify_responses),
    },
  ],
})
