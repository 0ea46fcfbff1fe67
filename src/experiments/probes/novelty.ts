/** @file Novelty of a trained policy's responses, the most novel of them, and what a scaffold makes of it. */

import { logNovelty, mostNovel, noveltySummary } from '../../eval/index.ts'
import type { Policy, Sample } from '../../policy/policy.ts'
import { selectCriteria } from '../../recipes/common/scaffold.ts'
import type { TokenIds } from '../../rl/datum.ts'
import { Rng } from '../../util/rng.ts'
import type { ProbeResults } from '../metrics/probed.ts'
import type { ProbeSettings } from './schema.ts'
import { type Subject, sample, subjectScores } from './subject.ts'

/** Log-probs of samples after prompts, which need not be those that they were drawn from. */
const scored = async (policy: Policy, prompts: readonly TokenIds[], samples: readonly Sample[]) => {
  const items = samples.map(({ prompt, tokens }) => ({ promptTokens: prompts[prompt], tokens }))
  return (await policy.score(items)).map(({ logprobs }) => logprobs)
}

/** log rho of each sample, the new policy on one prompt and the initial one on another. */
const logRhos = async (
  { trained, initial }: Subject,
  samples: readonly Sample[],
  newPrompts: readonly TokenIds[],
  initialPrompts: readonly TokenIds[],
): Promise<number[]> => {
  const [after, before] = await Promise.all([
    scored(trained, newPrompts, samples),
    scored(initial, initialPrompts, samples),
  ])
  return after.map((logprobs, i) => logNovelty(logprobs, before[i]))
}

/** One response a problem that was shown a share of its rubric. */
const atShare = async (
  subject: Subject,
  problems: readonly unknown[],
  plain: readonly TokenIds[],
  share: number,
) => {
  const { task } = subject
  const shown = problems.map((problem, i) => {
    const rng = new Rng(`probe/novelty/${share}/${i}`)
    return task.prompt(problem, selectCriteria(task.rubric(problem).criteria, share, rng))
  })
  const drawn = await sample(subject.trained, subject, shown, 1, `novelty/${share}`)
  return {
    share,
    plain: noveltySummary(await logRhos(subject, drawn, plain, plain)),
    shown: noveltySummary(await logRhos(subject, drawn, shown, plain)),
  }
}

/** See `probeSchema`. */
export const novelty = async (
  subject: Subject,
  problems: readonly unknown[],
  { shares }: Extract<ProbeSettings, { name: 'novelty' }>,
): Promise<ProbeResults['novelty']> => {
  const { trained, initial, task } = subject
  const prompts = problems.map(problem => task.prompt(problem))
  const drawn = await sample(trained, subject, prompts, 1, 'novelty')
  const rhos = await logRhos(subject, drawn, prompts, prompts)
  const scores = await subjectScores(subject, problems, drawn)
  const before = await subjectScores(subject, problems, await sample(initial, subject, prompts, 1, 'novelty'))
  const responses = problems.map((problem, i) => ({
    id: task.id(problem),
    logRho: rhos[i],
    scoreDifference: scores[i] - before[i],
  }))
  const byShare: NonNullable<ProbeResults['novelty']['shares']> = []
  for (const share of shares) byShare.push(await atShare(subject, problems, prompts, share))
  return { ...noveltySummary(rhos), top: mostNovel(responses), shares: byShare }
}
