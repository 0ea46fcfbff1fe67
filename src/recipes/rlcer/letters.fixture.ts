/** @file A task of letters for tests: thinking is letters, an answer is right or wrong, criteria ask for a letter; and a policy by script. */

import type { Policy, Sample, SampleRequest } from '../../policy/policy.ts'
import type { Verdict } from '../../rubric/criterion.ts'
import type { RubricatorTask } from '../../tasks/scored-response.ts'
import { partThinking, type ThinkingVerifier, type ThoughtResponse } from '../../tasks/thinking.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { Rng } from '../../util/rng.ts'

const tokensOf = (text: string): number[] => Array.from(text, letter => letter.codePointAt(0)!)
export const textOf = (tokens: ArrayLike<number>): string => String.fromCodePoint(...Array.from(tokens))

/** Problems are their names. */
export const lettersTask: RubricatorTask<string> = {
  ...{ train: [], tests: { letters: [] }, label: 'letters', notes: [] },
  id: problem => problem,
  question: problem => `question ${problem}`,
  prompt: (problem, hints = []) =>
    tokensOf(`${problem}${hints.map(({ text, points }) => `${points > 0 ? '+' : '-'}${text}`).join('')}?`),
  show: textOf,
  rubric: () => ({ criteria: [] }),
  grade: async items =>
    items.map(({ tokens }) => {
      const { answer } = partThinking(textOf(tokens))
      return {
        score: answer === 'lost' ? null : Number(answer === 'right'),
        ...(answer === 'lost' && { unjudged: true }),
        verdicts: [],
        wellFormed: answer !== '',
      }
    }),
  thinking: { read: tokens => partThinking(textOf(tokens)) },
  rubricator: {
    masked: (_, response) => ({ ...response, text: response.thinking, answer: '' }),
    prompt: (problem, { text }) => tokensOf(`${problem}:${text}!`),
    text: textOf,
  },
}

const HAS = /^has (\w)$/

/** Decides `has x` by looking; says nothing of other sentences. */
export const lettersVerifier: ThinkingVerifier<string> = {
  verify: async items =>
    items.map(({ response, rubric: { criteria } }) =>
      criteria.map(({ id, text }): Verdict => {
        const letter = HAS.exec(text)?.[1]
        const met = letter === undefined ? null : response.thinking.includes(letter)
        return { criterionId: id, met, source: 'rule' }
      }),
    ),
}

/** A rubric in the format: criteria as `[text, points]`, at least five of them. */
export const rubricOf = (criteria: readonly (readonly [string, number])[], changes: object = {}): string => {
  const sum = (sign: number) =>
    criteria.reduce((total, [, points]) => total + (Math.sign(points) === sign ? points : 0), 0)
  return JSON.stringify({
    rubrics: criteria.map(([criterion, points]) => ({
      ...{ category: 'reasoning clarity and flow', criterion, points },
    })),
    ...{ maximum_score: sum(1), minimum_score: sum(-1), current_score: (sum(1) + sum(-1)) / 2 - 1 },
    ...changes,
  })
}

/** What the policy says to a prompt; `rng` is the sample's own. */
export type Script = (prompt: string, rng: Rng, index: number) => string

/** A policy that says what a script says, as an engine would: one call after the other, and each sample by its own stream. */
export class ScriptedPolicy extends FakePolicy implements Policy {
  readonly #script: Script
  /** Most requests that have been under way at a time. */
  readonly asked: { role: string; prompts: string[] }[] = []

  constructor(script: Script) {
    super()
    this.#script = script
  }

  override async sample(request: SampleRequest, onSample?: (sample: Sample) => void): Promise<Sample[]> {
    const { prompts, samplesPerPrompt = 1, seed, maxTokens } = request
    const texts = prompts.map(textOf)
    this.asked.push({
      role: texts.every(text => text.endsWith('!')) ? 'rubricator' : 'reasoner',
      prompts: texts,
    })
    this.sampled.push(request)
    const samples = texts.flatMap((text, prompt) =>
      Array.from({ length: samplesPerPrompt }, (_, index): Sample => {
        const said = tokensOf(this.#script(text, new Rng(`${seed}/${prompt}/${index}`), index))
        const tokens = Int32Array.from(said.slice(0, maxTokens))
        const logprobs = new Float32Array(tokens.length).fill(-0.5)
        return {
          ...{ prompt, index, tokens, logprobs },
          finishReason: said.length > maxTokens ? 'length' : 'stop',
        }
      }),
    )
    // The last ones first, a few at a time.
    for (const sample of [...samples].reverse()) {
      await Promise.resolve()
      onSample?.(sample)
    }
    return samples
  }

  /** With a value for every token, as a value head gives. */
  override async score(...args: Parameters<FakePolicy['score']>) {
    const scores = await super.score(...args)
    return scores.map(own => ({ ...own, values: new Float32Array(own.logprobs.length).fill(0.25) }))
  }
}

export const thought = (thinking: string, answer = ''): ThoughtResponse => ({
  ...{ thinking, answer },
  text: `${thinking}</think>${answer}`,
  closed: true,
})
