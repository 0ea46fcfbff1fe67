/** @file A research agent by script in place of a model, in the tokens of a chat model: plans, searches, reviews, answers, reflects. */

import type { ChatFormat } from '../../model/chat-format.ts'
import type { Sample, SampleRequest, StepOptions, StepStats } from '../../policy/policy.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { Rng } from '../../util/rng.ts'

export interface ResearcherScript {
  /** What it answers, by question. */
  answers: ReadonlyMap<string, string>
  /** Its n-th call, from 0, given what has been said to it. Default: a search for the question, then for what came first. */
  call?(question: string, n: number, said: readonly string[]): string
  /** Which candidates of a reflection break the format. */
  broken?(index: number): boolean
  /** At which of its calls (`calls`) it dies, from 0. */
  diesAt?: number
}

const PLAN = [
  '<think>Which facts are needed?</think><structured_plan>',
  '<deep_analysis>It joins two facts.</deep_analysis>',
  '<rubric>Names the value; rests on a passage.</rubric>',
].join('')

const TURN = '<|im_start|>assistant\n'
const REFLECTOR = 'Now write the two blocks.'
const SAID = /<tool_output[^>]*>\n([\s\S]*?)\n<\/tool_output>/g
const SNIPPET = /<snippet id="([^"]+)">\n([^\n]*)/

const search = (query: string): string => `<call_tool name="search">${query.replace(/[<>]/g, '')}</call_tool>`

const usualCall = (question: string, n: number, said: readonly string[]): string =>
  search(n === 0 ? question : (SNIPPET.exec(said[n - 1])?.[2] ?? 'more'))

/** Everything but `sample` is the policy that computes nothing. */
export class ScriptedResearcher extends FakePolicy {
  readonly #format: ChatFormat
  readonly #script: ResearcherScript

  constructor(format: ChatFormat, script: ResearcherScript) {
    super()
    this.#format = format
    this.#script = script
  }

  override async sample(request: SampleRequest, onSample?: (sample: Sample) => void): Promise<Sample[]> {
    this.#live()
    this.calls.push('sample')
    this.sampled.push(request)
    const { prompts, samplesPerPrompt = 1, seed, promptSeeds } = request
    const samples = prompts.flatMap((prompt, p) => {
      const shown = this.#format.show(Array.from(prompt))
      return Array.from({ length: samplesPerPrompt }, (_, index): Sample => {
        const key = promptSeeds ? String(promptSeeds[p]) : `${seed}/${p}/${index}`
        const tokens = Int32Array.from(this.#format.tokens(this.#write(shown, key, index)))
        const logprobs = new Float32Array(tokens.length).fill(-0.5)
        return { prompt: p, index, tokens, logprobs, finishReason: 'stop' }
      })
    })
    for (const sample of samples) onSample?.(sample)
    return samples
  }

  override step(optimizer: StepOptions): Promise<StepStats> {
    this.#live()
    return super.step(optimizer)
  }

  override save(folder: string): Promise<void> {
    this.#live()
    return super.save(folder)
  }

  #live(): void {
    if (this.calls.length === this.#script.diesAt) throw new Error('the machine died')
  }

  #write(prompt: string, key: string, index: number): string {
    const [before, ...rest] = prompt.split(TURN)
    if (before.includes(REFLECTOR)) return this.#reflect(index)
    const asked = before.slice(before.lastIndexOf('user\n') + 'user\n'.length).replace('<|im_end|>', '')
    const question = asked.split('\n\n').at(-1) ?? ''
    const said = [...rest.join(TURN).matchAll(SAID)].map(found => found[1])
    return this.#turn(question, said, new Rng(key))
  }

  #turn(question: string, said: readonly string[], rng: Rng): string {
    const { call = usualCall, answers } = this.#script
    const wantsMore = said.length < 1 + rng.int(3)
    if (said.length === 0) {
      const steps = rng.next() < 0.5 ? 'Find the first, then what follows from it.' : 'Find it.'
      return `${PLAN}<research_plan>${steps}</research_plan></structured_plan>${call(question, 0, said)}`
    }
    if (wantsMore && said.length < 3)
      return `<think>Not enough.</think><state_evaluation>One of two is open.</state_evaluation>${call(question, said.length, said)}`
    const review =
      rng.next() < 0.8
        ? '<think>Enough.</think><review><rubric_review>item 1: found</rubric_review><writing_plan>the value</writing_plan></review>'
        : ''
    const [, id, title] = SNIPPET.exec(said[0]) ?? [null, 'none', 'unknown']
    const value = rng.next() < 0.6 ? (answers.get(question) ?? title) : title
    return `${review}<answer>\\boxed{${value}} <cite id="${id}">by this passage</cite></answer>`
  }

  #reflect(index: number): string {
    if (this.#script.broken?.(index)) return 'It went well.<|im_end|>'
    const lesson =
      index % 2 === 1 ? 'A second search with the name that the first gave decides.' : 'Read titles.'
    return [
      '<reflection_rubrics>\nCritical requirement: the value, with its passage.\n</reflection_rubrics>',
      `<reflection_takeaways>\n- ${lesson}\n- Box the value.\n</reflection_takeaways><|im_end|>`,
    ].join('\n')
  }
}
