/** @file Evaluation of the small chat model: answers that are right and do as they were told, and verdicts that are right. */

import type { ChatFormat } from '../../model/chat-format.ts'
import type { Policy } from '../../policy/policy.ts'
import type { EvalRow } from '../../runs/rows.ts'
import { drawDialogue, drawJudgement, readRequestVerdict } from '../../tasks/requests/index.ts'
import { Rng } from '../../util/rng.ts'
import { mean, meanKnown } from '../../util/statistics.ts'
import { scoresOf } from '../common/evaluated-set.ts'
import type { SftConfig } from './config.ts'

export const REQUEST_SET = 'fresh requests'
const JUDGE_SET = 'fresh questions to the judge'

/** What both sets are asked with: a policy, its prompts, and so many conversations of the set. */
interface Asking extends Pick<SftConfig['evaluation'], 'problems' | 'maxTokens'> {
  policy: Policy
  format: ChatFormat
}

/** How both are decoded. */
const GREEDY = { samples: 1, temperature: 0 }

/** Conversations drawn from a stream of their own, and the likeliest answer to each as text. */
const ask = async <Drawn extends { messages: Parameters<ChatFormat['encode']>[0] }>(
  { policy, format, problems, maxTokens }: Asking,
  stream: string,
  draw: (rng: Rng) => Drawn,
): Promise<{ drawn: Drawn[]; answers: string[] }> => {
  const drawn = Array.from({ length: problems }, (_, i) => draw(new Rng(`${stream}/${i}`)))
  const samples = await policy.sample({
    prompts: drawn.map(({ messages }) => format.encode(messages)),
    ...{ maxTokens, temperature: GREEDY.temperature, seed: 'evaluation' },
    stopTokens: format.stopTokens,
  })
  return { drawn, answers: samples.map(({ tokens }) => format.answer(tokens)) }
}

/** Mean by name, in the order of the names. */
const meansByName = (values: readonly (readonly [name: string, value: number])[]): Record<string, number> => {
  const names = [...new Set(values.map(([name]) => name))].sort()
  return Object.fromEntries(
    names.map(name => [name, mean(values.filter(([own]) => own === name).map(([, value]) => value))]),
  )
}

/** Mean of the shares of met and of unmet criteria that are judged so; no verdict is not right. Null where one side is empty. */
const balancedAccuracy = (
  truth: readonly boolean[],
  verdicts: readonly (boolean | null)[],
): number | null => {
  const rights = [true, false].map(side =>
    truth.flatMap((met, i) => (met === side ? [Number(verdicts[i] === side)] : [])),
  )
  return rights.some(values => values.length === 0) ? null : mean(rights.map(mean))
}

/** Requests: right answers by kind, instructions that are followed. */
const requestRow = async (asking: Asking, step: number): Promise<EvalRow> => {
  const { drawn, answers } = await ask(asking, 'chat test', drawDialogue)
  const items = drawn.map(({ kind, request, instruction }, i) => ({
    id: `${kind} ${i}`,
    kind,
    scores: {
      ...(request.isRight && { right: Number(request.isRight(answers[i])) }),
      ...(instruction && { followed: Number(instruction.isFollowed(answers[i])) }),
    } as Record<string, number>,
  }))
  return {
    ...{ step, set: REQUEST_SET, n: drawn.length, ...GREEDY, primary: 'right' },
    scores: scoresOf(items, ['right', 'followed']),
    scoreNames: { right: 'right answers', followed: 'instructions followed' },
    criteria: meansByName(
      items.flatMap(({ kind, scores }) => ('right' in scores ? [[kind, scores.right] as const] : [])),
    ),
    items: items.map(({ id, scores }) => ({ id, scores })),
  }
}

/** Questions to the judge: agreement with the truth, in all and by family of criteria. */
const judgeRow = async (asking: Asking, step: number): Promise<EvalRow> => {
  const { drawn, answers } = await ask(asking, 'judge test', drawJudgement)
  const verdicts = answers.map(readRequestVerdict)
  const truth = drawn.map(({ met }) => met)
  const agrees = drawn.map(({ family, met }, i) => [family, Number(verdicts[i] === met)] as const)
  const accepted = truth.filter((_, i) => verdicts[i] === true)
  return {
    ...{ step, set: JUDGE_SET, n: drawn.length, ...GREEDY, primary: 'agreement' },
    scores: {
      ...scoresOf(
        agrees.map(([family, value], i) => ({ id: `${family} ${i}`, scores: { agreement: value } })),
        ['agreement'],
      ),
      balanced: { value: balancedAccuracy(truth, verdicts) },
      precision: { value: meanKnown(accepted.map(Number)) },
    },
    scoreNames: { agreement: 'right verdicts', balanced: 'balanced accuracy', precision: 'precision of met' },
    judgeNullRate: mean(verdicts.map(verdict => Number(verdict === null))),
    criteria: meansByName(agrees),
  }
}

/** Rows of both sets, greedily. */
export const evaluateChat = async (
  policy: Policy,
  format: ChatFormat,
  { problems, maxTokens }: Pick<Asking, 'problems' | 'maxTokens'>,
  step: number,
): Promise<EvalRow[]> => {
  const asking = { policy, format, problems, maxTokens }
  return [await requestRow(asking, step), await judgeRow(asking, step)]
}
