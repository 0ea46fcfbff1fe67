/** @file A trained verifier as a grader: the probability that a criterion is met, from a small model in this process. */

import type { GradeItem, GradeOptions, Grader } from '../../grade/grader.ts'
import { loadConfig } from '../../model/checkpoint.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { CheckpointError, DataError } from '../../util/errors.ts'
import { isVerifierTokenizer, type VerifierQuestion, VerifierReader } from './reading.ts'

export interface LearnedVerifierOptions {
  /** Met from this probability on. Default 0.5. */
  threshold?: number
  /** Give the probability itself as graded credit. Default false. */
  graded?: boolean
  threads?: number
}

interface Waiting {
  judged: VerifierQuestion
  resolve(probability: number): void
  reject(error: Error): void
}

/** Judgements that are scored in one call of the model. */
const BATCH = 128

/** The text of a conversation as verifiers read it. */
const promptText = ({ prompt }: GradeItem): string => prompt.map(({ content }) => content).join('\n')

export class LearnedVerifier implements Grader {
  readonly #policy: Policy
  readonly #reader: VerifierReader
  readonly #options: Required<Pick<LearnedVerifierOptions, 'threshold' | 'graded'>>
  readonly #queue: Waiting[] = []
  #running = false

  constructor(
    policy: Policy,
    reader: VerifierReader,
    { threshold = 0.5, graded = false }: LearnedVerifierOptions = {},
  ) {
    if (!(threshold > 0 && threshold < 1))
      throw new DataError(`threshold: expected a probability between 0 and 1, got ${threshold}`)
    this.#policy = policy
    this.#reader = reader
    this.#options = { threshold, graded }
  }

  /**
   * Opens a checkpoint that `gradus train learned-verifier` made.
   * @throws CheckpointError when the folder holds no verifier.
   */
  static async open(place: string, options: LearnedVerifierOptions = {}): Promise<LearnedVerifier> {
    const folder = await fetchModel(place)
    const tokenizer = loadTokenizer(folder)
    if (!isVerifierTokenizer(tokenizer))
      throw new CheckpointError(`${folder}: expected a learned verifier, found another kind of model`, {
        hint: 'train one with `gradus train learned-verifier --set data.file=labels.jsonl`',
      })
    const { maxPositions } = loadConfig(folder)
    const policy = await LocalPolicy.start({ folder }, { threads: options.threads ?? 1 })
    return new LearnedVerifier(policy, new VerifierReader(tokenizer, maxPositions), options)
  }

  async grade(
    item: GradeItem,
    criteria: readonly Criterion[],
    { signal }: GradeOptions = {},
  ): Promise<Verdict[]> {
    signal?.throwIfAborted()
    const prompt = promptText(item)
    return Promise.all(
      criteria.map(async ({ id, text }) =>
        this.#verdict(id, await this.probability({ criterion: text, prompt, response: item.response })),
      ),
    )
  }

  #verdict(criterionId: string, probability: number): Verdict {
    const { threshold, graded } = this.#options
    return {
      criterionId,
      met: probability >= threshold,
      ...(graded && { credit: probability }),
      explanation: `probability ${probability.toFixed(3)}`,
      source: 'model',
    }
  }

  /** The probability that the criterion is met; calls that come together are scored together. */
  probability(judged: VerifierQuestion): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ judged, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  /**
   * The probabilities of judgements that belong together, scored by themselves: what is asked for at the same time elsewhere
   * changes nothing about them, as it may for `probability` in the last digits.
   */
  async probabilities(judged: readonly VerifierQuestion[]): Promise<number[]> {
    const found: number[] = []
    for (let start = 0; start < judged.length; start += BATCH)
      found.push(...(await this.#scoresOf(judged.slice(start, start + BATCH))))
    return found
  }

  async #run(): Promise<void> {
    this.#running = true
    await new Promise(resolve => setImmediate(resolve))
    while (this.#queue.length > 0) await this.#score(this.#queue.splice(0, BATCH))
    this.#running = false
  }

  /** Log-odds of the two verdicts, so that what the model gives to other tokens does not count. */
  async #scoresOf(batch: readonly VerifierQuestion[]): Promise<number[]> {
    const items = batch.flatMap(judged => {
      const promptTokens = this.#reader.read(judged)
      return [true, false].map(met => ({ promptTokens, tokens: [this.#reader.verdictToken(met)] }))
    })
    const scores = await this.#policy.score(items)
    return batch.map((_, i) => {
      const [yes, no] = [scores[2 * i].logprobs[0], scores[2 * i + 1].logprobs[0]]
      return 1 / (1 + Math.exp(no - yes))
    })
  }

  async #score(batch: readonly Waiting[]): Promise<void> {
    try {
      const found = await this.#scoresOf(batch.map(({ judged }) => judged))
      batch.forEach(({ resolve }, i) => {
        resolve(found[i])
      })
    } catch (error) {
      for (const { reject } of batch) reject(error as Error)
    }
  }

  close(): Promise<void> {
    return this.#policy.close()
  }
}
