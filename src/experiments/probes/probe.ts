/** @file Probes of policies: samples of the trained policy and of its start, scored by the true rubrics. */

import {
  bestOfNCurve,
  HashedEmbedder,
  internalisation,
  lexicalDiversity,
  semanticDistance,
} from '../../eval/index.ts'
import { LocalPolicy } from '../../policy/local/local-policy.ts'
import type { Policy, Sample } from '../../policy/policy.ts'
import { mainTest } from '../../tasks/task.ts'
import { mean } from '../../util/statistics.ts'
import type { Diversity, ProbeResults } from '../metrics/probed.ts'
import { novelty } from './novelty.ts'
import type { ProbeSettings } from './schema.ts'
import { type Subject, sample, subjectScores } from './subject.ts'

/** Problem by problem: all samples of all problems at once would need memory for nothing. */
const bestOfN = async (
  subject: Subject,
  problems: readonly unknown[],
  { samples, ns }: Extract<ProbeSettings, { name: 'best-of-n' }>,
): Promise<ProbeResults['best-of-n']> => {
  const scores_I_S: number[][] = []
  for (const [i, problem] of problems.entries()) {
    const drawn = await sample(subject.trained, subject, [subject.task.prompt(problem)], samples, `best/${i}`)
    scores_I_S.push(await subjectScores(subject, [problem], drawn))
  }
  const byProblem = problems.map((problem, i) => ({
    id: subject.task.id(problem),
    best: bestOfNCurve([scores_I_S[i]], ns).map(({ score }) => score),
  }))
  return { samples, problems: problems.length, curve: bestOfNCurve(scores_I_S, ns), byProblem }
}

const internalised = async (
  subject: Subject,
  problems: readonly unknown[],
  { thresholds }: Extract<ProbeSettings, { name: 'internalisation' }>,
): Promise<ProbeResults['internalisation']> => {
  const { task, trained, initial } = subject
  const prompts = problems.map(problem => task.prompt(problem))
  const scaffolded = problems.map(problem => task.prompt(problem, task.rubric(problem).criteria))
  const y1 = await sample(initial, subject, prompts, 1, 'initial')
  const [y2, again] = [
    await sample(trained, subject, prompts, 1, 'plain'),
    await sample(trained, subject, prompts, 1, 'again'),
  ]
  const y3 = await sample(trained, subject, scaffolded, 1, 'scaffolded')
  const scores = await subjectScores(subject, problems, y2)
  const texts = (samples: readonly Sample[]) => samples.map(({ tokens }) => task.show(tokens))
  const embedder = new HashedEmbedder(texts(y1))
  const [initialE, plainE, againE, scaffoldedE] = [y1, y2, again, y3].map(samples =>
    texts(samples).map(text => embedder.embed(text)),
  )
  const items = problems.map((_, i) => ({
    initial: initialE[i],
    plain: plainE[i],
    again: againE[i],
    scaffolded: scaffoldedE[i],
    score: scores[i],
  }))
  return Object.fromEntries(
    thresholds.map(threshold => [String(threshold), internalisation(items, threshold)]),
  )
}

/** Means over problems; the embedding is the start's, so that all arms have the same. */
const diversityOf = (texts_P_G: readonly (readonly string[])[], embedder: HashedEmbedder): Diversity => ({
  lexical: mean(texts_P_G.map(texts => lexicalDiversity(texts))),
  semantic: mean(texts_P_G.map(texts => semanticDistance(texts.map(text => embedder.embed(text))) ?? 0)),
})

/** How much several responses to one problem differ, of a trained policy and of its start. */
const diversity = async (
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
    ...{ n: problems.length, samples },
    trained: diversityOf(after, embedder),
    initial: diversityOf(before, embedder),
  }
}

const measure = (subject: Subject, probe: ProbeSettings): Promise<unknown> => {
  const problems = mainTest(subject.task)[1].slice(0, probe.problems)
  switch (probe.name) {
    case 'best-of-n':
      return bestOfN(subject, problems, probe)
    case 'novelty':
      return novelty(subject, problems, probe)
    case 'internalisation':
      return internalised(subject, problems, probe)
    case 'diversity':
      return diversity(subject, problems, probe)
  }
}

/**
 * Measures one trained policy, probe by probe: each result is there before the next one is begun.
 * @param folders checkpoints of the policy and of what it started from
 */
export async function* probe(
  probes: readonly ProbeSettings[],
  measured: Pick<Subject, 'task' | 'maxTokens'>,
  folders: { trained: string; initial: string },
): AsyncGenerator<{ name: ProbeSettings['name']; result: unknown }> {
  const opened = [folders.trained, folders.initial].map(folder =>
    LocalPolicy.start({ folder }, { threads: 1 }),
  )
  try {
    const [trained, initial] = await Promise.all(opened)
    const subject: Subject = { trained, initial, ...measured }
    for (const own of probes) yield { name: own.name, result: await measure(subject, own) }
  } finally {
    const settled = await Promise.allSettled(opened)
    await Promise.all(settled.flatMap(each => (each.status === 'fulfilled' ? [each.value.close()] : [])))
  }
}
