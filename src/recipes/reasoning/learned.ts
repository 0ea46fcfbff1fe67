/** @file A model that learnt to verify, in place of execution. */

import type { Verdict } from '../../rubric/criterion.ts'
import type { Task } from '../../tasks/task.ts'
import type { ThinkingVerifier, VerifierItem } from '../../tasks/thinking.ts'
import { RecentMap } from '../../util/recent-map.ts'
import type { LearnedVerifier } from '../learned-verifier/grader.ts'
import { judgedText } from './labels.ts'

/** Verdicts that are remembered: those of several steps. */
const MOST_KNOWN = 100_000

/**
 * Asks a learned verifier whether thinking meets criteria, many questions in one call of the model. The same question (words of
 * criterion, problem and response) is asked once.
 */
export class LearnedThinkingVerifier<Problem> implements ThinkingVerifier<Problem> {
  readonly #learned: Pick<LearnedVerifier, 'grade'>
  readonly #task: Pick<Task<Problem>, 'question'>
  readonly #known = new RecentMap<string, Verdict>(MOST_KNOWN)
  readonly #underWay = new Map<string, Promise<Verdict>>()

  constructor(learned: Pick<LearnedVerifier, 'grade'>, task: Pick<Task<Problem>, 'question'>) {
    this.#learned = learned
    this.#task = task
  }

  verify(items: readonly VerifierItem<Problem>[]): Promise<Verdict[][]> {
    return Promise.all(
      items.map(({ problem, response, rubric: { criteria } }) => {
        const question = this.#task.question(problem)
        const text = judgedText(response)
        return Promise.all(
          criteria.map(async criterion => ({
            ...(await this.#ask(question, text, criterion.text)),
            criterionId: criterion.id,
          })),
        )
      }),
    )
  }

  async #ask(question: string, response: string, text: string): Promise<Verdict> {
    const key = JSON.stringify([question, response, text])
    return this.#known.get(key) ?? this.#underWay.get(key) ?? this.#grade(key, { question, response, text })
  }

  #grade(key: string, { question, response, text }: Record<'question' | 'response' | 'text', string>) {
    const prompt = [{ role: 'user' as const, content: question }]
    const asked = this.#learned
      .grade({ prompt, response }, [{ id: '', text, points: 1 }])
      .then(([verdict]) => {
        this.#known.set(key, verdict)
        return verdict
      })
      .finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, asked)
    return asked
  }
}
