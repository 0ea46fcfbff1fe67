/** @file Diversity: how much several responses to one problem differ, of a trained policy and of its start. */

import { HashedEmbedder, lexicalDiversity, semanticDistance } from '../../eval/index.ts'
import type { Policy } from '../../policy/policy.ts'
import { mean } from '../../util/statistics.ts'
import type { Diversity, ProbeResults } from '../metrics/probed.ts'
import type { ProbeSettings } from './schema.ts'
import { type Subject, sample } from './subject.ts'

/** Means over problems; the embedding is the start's, so that all arms have the same. */
const diversityOf = (texts_P_G: readonly (readonly string[])[], embedder: HashedEmbedder): Diversity => ({
  lexical: mean(texts_P_G.map(texts => lexicalDiversity(texts))),
  semantic: mean(texts_P_G.map(texts => semanticDistance(texts.map(text => embedder.embed(text))) ?? 0)),
})

/** See `probeSchema`. */
export const diversity = async (
  subject: Subject,
  problems: readonly unknown[],
  { samples }: Extract<ProbeSettings, { name: 'diversity' }>,
): Promise<ProbeResults['diversity']> => {
  const { trained, initial, task } = subject
  const prompts = problems.map(problem => task.prompt(problem))
  const textsOf = async (policy: Policy): Promise<string[][]> => {
    const drawn = await sample(policy, subject, prompts, samples, 'diversity')
    const texts = drawn.map(({ tokens }) => task.show(tokens))
    return problems.map((_, p) => texts.slice(p * samples, (p + 1) * samples))
  }
  const [before, after] = [await textsOf(initial), await textsOf(trained)]
  const embedder = new HashedEmbedder(before.flat())
  return {
    n: problems.length,
    samples,
    trained: diversityOf(after, embedder),
    initial: diversityOf(before, embedder),
  }
}
