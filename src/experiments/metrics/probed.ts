/** @file Metrics of what probes measured on samples of the trained policy: best-of-N, novelty, internalisation. */

import { z } from 'zod'
import type { Internalisation } from '../../eval/internalisation.ts'
import type { NovelResponse, NoveltySummary } from '../../eval/novelty.ts'
import { type Metric, metric } from './metric.ts'

export interface Diversity {
  lexical: number
  semantic: number
}

/** What each probe leaves, by its name. */
export interface ProbeResults {
  'best-of-n': {
    samples: number
    problems: number
    curve: { n: number; score: number }[]
    /** The curve of each problem, scores in its order; absent in results of before it was kept. */
    byProblem?: { id: string; best: number[] }[]
  }
  novelty: NoveltySummary & {
    /** The most novel of them; absent in results of before it was kept. */
    top?: NovelResponse[]
    /** By share of the rubric shown: rho on the plain prompt of both, and with the new policy on the prompt that it saw. */
    shares?: { share: number; plain: NoveltySummary; shown: NoveltySummary }[]
  }
  /** Means over problems: 1 - self-BLEU, and mean cosine distance of pairs; of the policy and of its start. */
  diversity: { n: number; samples: number; trained: Diversity; initial: Diversity }
  internalisation: Record<string, Internalisation>
}

const probe = <Name extends keyof ProbeResults>(
  probes: Readonly<Record<string, unknown>>,
  name: Name,
): ProbeResults[Name] | undefined => probes[name] as ProbeResults[Name] | undefined

const bestOfN = metric({
  summary: 'expected best score of n samples a problem (needs the probe best-of-n)',
  options: z.strictObject({ n: z.int().positive() }),
  unit: 'share',
  value: ({ probes }, { n }) => probe(probes, 'best-of-n')?.curve.find(point => point.n === n)?.score ?? null,
})

const NOVELTY = ['median', 'logMean', 'above2', 'above10', 'above100'] as const

const noveltyOptions = z
  .strictObject({
    of: z.enum(NOVELTY).default('median'),
    share: z.number().min(0).max(1).optional(),
    lessShare: z.number().min(0).max(1).optional(),
    /** What the new policy's log-probs are on: the plain prompt, or the one that the response was drawn from. */
    prompt: z.enum(['plain', 'shown']).default('plain'),
  })
  .refine(
    ({ share, lessShare }) => lessShare === undefined || (share !== undefined && share !== lessShare),
    'share beside lessShare, and another one; say of which share the value is',
  )
  .refine(
    ({ share, prompt }) => share !== undefined || prompt === 'plain',
    'share beside prompt: shown; without one nothing is shown',
  )
type NoveltyOptions = z.output<typeof noveltyOptions>

const noveltyValue = (found: NoveltySummary, of: NoveltyOptions['of']): number =>
  of === 'median' || of === 'logMean' ? found[of] : found.above[Number(of.slice(5)) as 2 | 10 | 100]

/** Of responses that were shown a share of the rubric; without one of those to the plain prompt that the probe begins with. */
const noveltyAt = (
  found: ProbeResults['novelty'],
  share: number | undefined,
  { of, prompt }: NoveltyOptions,
): number | null => {
  if (share === undefined) return noveltyValue(found, of)
  const own = found.shares?.find(each => Math.abs(each.share - share) < 1e-9)
  return own ? noveltyValue(own[prompt], of) : null
}

const novelty = metric({
  summary:
    'how much likelier the policy makes its responses than its start did (needs the probe novelty); `share`: of responses that were shown so much of the rubric, `lessShare`: less those that were shown so much',
  options: noveltyOptions,
  unit: 'number',
  value: ({ probes }, options) => {
    const found = probe(probes, 'novelty')
    if (!found) return null
    const value = noveltyAt(found, options.share, options)
    if (options.lessShare === undefined || value === null) return value
    const less = noveltyAt(found, options.lessShare, options)
    return less === null ? null : value - less
  },
})

const DIVERSITIES = ['lexical', 'semantic'] as const

const diversity = metric({
  summary: 'how much responses to one problem differ, in words or in meaning (needs the probe diversity)',
  options: z.strictObject({ of: z.enum(DIVERSITIES).default('lexical') }),
  unit: 'number',
  value: ({ probes }, { of }) => probe(probes, 'diversity')?.trained[of] ?? null,
})

const DISTANCES = ['initialToPlain', 'plainToScaffolded', 'plainToItself', 'excess'] as const

const internalisation = metric({
  summary:
    'distance between responses (needs the probe internalisation); excess: scaffold against plain, less plain against itself',
  options: z.strictObject({ of: z.enum(DISTANCES).default('excess'), threshold: z.number().default(0.5) }),
  unit: 'number',
  value: ({ probes }, { of, threshold }) => {
    const found = probe(probes, 'internalisation')?.[String(threshold)]
    if (!found) return null
    if (of !== 'excess') return found[of]
    const { plainToScaffolded, plainToItself } = found
    return plainToScaffolded === null || plainToItself === null ? null : plainToScaffolded - plainToItself
  },
})

export const PROBE_METRICS: Readonly<Record<string, Metric>> = {
  'best-of-n': bestOfN,
  ...{ novelty, diversity, internalisation },
}
