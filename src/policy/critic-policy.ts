/** @file A policy beside a critic that is a model of its own: it alone learns from the value loss (RLCER's Table 3, verl). */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LossSpec } from '../rl/loss.ts'
import { CheckpointError } from '../util/errors.ts'
import type { CriticModel, Policy, StepOptions, StepStats } from './policy.ts'

/** In a checkpoint's folder. */
const CRITIC_FOLDER = 'critic'

/** The value term of a loss, alone. */
const valueAlone = (loss: LossSpec): LossSpec => ({
  ...loss,
  policy: { ...loss.policy, kind: 'none' },
  kl: { kind: 'none', coef: 0 },
  ...{ entropyCoef: 0, crossEntropyCoef: 0 },
})

/**
 * The policy learns its loss without the value term, and the critic that term, with a step, a learning rate (`valueLearningRate`) and
 * a norm clip of its own. They take turns, because both compute on the same processor. Where one of the two fails the other may have
 * taken its step: go on from a checkpoint.
 */
export class CriticPolicy implements Policy {
  readonly critic: CriticModel
  readonly converse: Policy['converse']
  readonly syncWeights: Policy['syncWeights']
  readonly #policy: Policy
  /** All that the critic was asked to learn so far. */
  #learning: Promise<unknown> = Promise.resolve()
  /** Whether its next step has a gradient. */
  #owesStep = false

  /** Takes both over. */
  constructor(policy: Policy, critic: CriticModel) {
    this.#policy = policy
    this.critic = critic
    this.converse = policy.converse?.bind(policy)
    this.syncWeights = policy.syncWeights?.bind(policy)
  }

  get version(): number | undefined {
    return this.#policy.version
  }

  sample: Policy['sample'] = (...args) => this.#policy.sample(...args)

  score: Policy['score'] = (...args) => this.#policy.score(...args)

  refuses: Policy['refuses'] = loss =>
    this.#policy.refuses({ ...loss, value: null }) ?? this.critic.refuses(valueAlone(loss))

  /** What the policy does, and then, in the order of the calls, what the critic does. */
  async #both<P, C>(policy: Promise<P>, critic: () => Promise<C>): Promise<[P, C]> {
    const learnt = Promise.all([policy, this.#learning]).then(critic)
    this.#learning = learnt.catch(() => {})
    return Promise.all([policy, learnt])
  }

  accumulate: Policy['accumulate'] = async (datums, options) => {
    const { loss, prompts } = options
    const accumulated = this.#policy.accumulate(datums, { ...options, loss: { ...loss, value: null } })
    if (loss.value === null) return accumulated
    this.#owesStep = true
    const [stats, own] = await this.#both(accumulated, () =>
      this.critic.accumulate(datums, { loss: valueAlone(loss), prompts }),
    )
    return { ...stats, loss: stats.loss + own.loss, parts: { ...stats.parts, value: own.parts?.value } }
  }

  async step({ valueLearningRate, ...options }: StepOptions): Promise<StepStats> {
    const stepped = this.#policy.step(options)
    if (!this.#owesStep) return stepped
    this.#owesStep = false
    const { gradient: _, learningRate, ...own } = options
    const [stats] = await this.#both(stepped, () =>
      this.critic.step({ ...own, learningRate: valueLearningRate ?? learningRate }),
    )
    return stats
  }

  freezeReference: Policy['freezeReference'] = () => this.#policy.freezeReference()

  save: Policy['save'] = async (folder, options) => {
    await this.#policy.save(folder, options)
    await this.critic.save(join(folder, CRITIC_FOLDER), options)
  }

  async load(folder: string): Promise<void> {
    const critic = join(folder, CRITIC_FOLDER)
    if (!existsSync(critic))
      throw new CheckpointError(`${folder}: expected a critic of its own in ${CRITIC_FOLDER}/, got none`, {
        hint: 'go on with the setting critic that it was saved with',
      })
    this.#owesStep = false
    await this.#policy.load(folder)
    await this.critic.load(critic)
  }

  forget = (folder: string): (() => Promise<void>) => {
    const parts = [this.#policy.forget?.(folder), this.critic.forget?.(join(folder, CRITIC_FOLDER))]
    return async () => {
      await Promise.all(parts.map(remove => remove?.()))
    }
  }

  /** The critic first: servers let one go together with its policy. */
  async close(): Promise<void> {
    await this.critic.close()
    await this.#policy.close()
  }
}
