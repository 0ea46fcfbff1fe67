/** @file A policy by script for tests of rubricem: attempts questions of the records task as the scripted researcher does, and reflects on them. */

import type { Sample, SampleRequest } from '../../policy/policy.ts'
import {
  agentPrompt,
  decodeRecords,
  demonstrateReflection,
  demonstrateResearch,
  drawResearchHabits,
  encodeRecords,
  type RecordsQuestion,
  readTrajectory,
  reflectionText,
  TAGS,
  trajectoryPieces,
} from '../../tasks/records/index.ts'
import { FakePolicy } from '../../train/fake-policy.fixture.ts'
import { Rng } from '../../util/rng.ts'

const questionPart = (prompt: string) => prompt.slice(prompt.indexOf(TAGS.question))

export class ScriptedAgent extends FakePolicy {
  readonly #questions: ReadonlyMap<string, RecordsQuestion>
  readonly #broken: (prompt: number, index: number) => boolean

  /** @param broken reflections that are to break the format */
  constructor(
    questions: readonly RecordsQuestion[],
    broken: (prompt: number, index: number) => boolean = () => false,
  ) {
    super()
    this.#questions = new Map(questions.map(own => [decodeRecords(agentPrompt(own)), own]))
    this.#broken = broken
  }

  override async sample(request: SampleRequest, onSample?: (sample: Sample) => void): Promise<Sample[]> {
    this.calls.push('sample')
    this.sampled.push(request)
    const { prompts, samplesPerPrompt = 1, seed, promptSeeds } = request
    const samples = prompts.flatMap((prompt, p) =>
      Array.from({ length: samplesPerPrompt }, (_, index): Sample => {
        // A later turn is named by its own seed; its first one was the sample of its group.
        const key = promptSeeds ? String(promptSeeds[p]).replace(/\/turn \d+$/, '') : `${seed}/${p}/${index}`
        const text = this.#write(decodeRecords(prompt), key, p, index)
        const tokens = Int32Array.from(encodeRecords(text))
        const logprobs = new Float32Array(tokens.length).fill(-0.5)
        return { prompt: p, index, tokens, logprobs, finishReason: 'stop' }
      }),
    )
    for (const sample of samples) onSample?.(sample)
    return samples
  }

  #write(prompt: string, key: string, p: number, index: number): string {
    const asked = questionPart(prompt)
    const end = asked.indexOf(TAGS.questionEnd) + TAGS.questionEnd.length
    const question = this.#questions.get(asked.slice(0, end))
    if (!question) throw new Error(`no question of the test: ${asked.slice(0, end)}`)
    const done = asked.slice(end)
    if (done.endsWith(TAGS.reflect)) return this.#reflect(question, done, key, p, index)
    const rng = new Rng(`agent/${key}`)
    const segments = demonstrateResearch(
      question,
      [],
      drawResearchHabits(rng),
      { calls: 6, scaffold: true },
      rng,
    )
    const turns = segments.filter(({ own }) => own)
    return turns[done.split(TAGS.output).length - 1].text
  }

  #reflect(question: RecordsQuestion, done: string, key: string, p: number, index: number): string {
    if (this.#broken(p, index)) return 'hmm'
    const tokens = encodeRecords(done.slice(0, -TAGS.reflect.length))
    // Who wrote what does not matter to a reflector: tool output is where its tags are.
    let inside = false
    const mask = tokens.map(token => {
      const text = decodeRecords([token])
      if (text === TAGS.output) inside = true
      const own = Number(!inside)
      if (text === TAGS.outputEnd) inside = false
      return own
    })
    const rng = new Rng(`reflector/${key}`)
    const habits = { grounded: 0.2 + 0.1 * index, tells: 0, wise: 0.5 }
    const read = readTrajectory(trajectoryPieces(tokens, mask))
    return `${reflectionText(demonstrateReflection(question, read, habits, rng))}`
  }
}
