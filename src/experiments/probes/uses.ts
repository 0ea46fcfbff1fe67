/** @file Whether probes can be done, and find what claims ask them for: told before the hours of training, not after. */

import { PROBE_METRICS } from '../metrics/probed.ts'
import { armsOf, type Claim, type RegistrationContent, START } from '../plan/registration.ts'
import type { ProbeSettings } from './schema.ts'

/** What a claim's metric would not find in the result of a probe; null: it finds all. */
const lackOf = (probe: ProbeSettings, options: Record<string, unknown>): string | null => {
  const { n, share, lessShare, threshold = 0.5 } = options
  switch (probe.name) {
    case 'best-of-n':
      if (probe.ns.includes(n as number)) return null
      return `n: expected one of ${probe.ns.join(', ')}, the ns of the probe, got ${n}`
    case 'novelty': {
      const lack = Object.entries({ share, lessShare }).find(
        ([, each]) => each !== undefined && !probe.shares.includes(each as number),
      )
      if (lack === undefined) return null
      return `${lack[0]}: expected one of ${probe.shares.join(', ') || 'none'}, the shares of the probe, got ${lack[1]}`
    }
    case 'internalisation':
      if (probe.thresholds.includes(threshold as number)) return null
      return `threshold: expected one of ${probe.thresholds.join(', ')}, the thresholds of the probe, got ${threshold}`
    case 'diversity':
      return null
  }
}

const claimUses = ({ probes }: RegistrationContent, { metric, arms }: Claim, place: string): string[] => {
  const { name } = metric
  if (!Object.hasOwn(PROBE_METRICS, name)) return []
  return armsOf({ arms }).flatMap(arm => {
    if (arm === START)
      return [`${place}.arms: expected no ${START} with metric ${name}; probes are of trained policies`]
    const probe = probes.find(each => each.name === name && each.arms.includes(arm))
    if (!probe)
      return [`${place}.metric: expected a probe ${name} of ${arm}, got none; add the arm to probes`]
    const lack = lackOf(probe, metric.options)
    return lack === null ? [] : [`${place}.metric.${lack}`]
  })
}

/** Every way in which probes and claims do not fit, by place. */
export const probeUses = (content: RegistrationContent): string[] => [
  ...content.probes.flatMap((probe, i) => {
    const tooMany = probe.name === 'best-of-n' ? probe.ns.find(n => n > probe.samples) : undefined
    return tooMany === undefined
      ? []
      : [
          `probes[${i}].ns: expected at most ${(probe as { samples: number }).samples}, the samples, got ${tooMany}`,
        ]
  }),
  ...content.probes.flatMap(({ name, arms }, i) => {
    const earlier = content.probes.slice(0, i).filter(probe => probe.name === name)
    const twice = arms.find(
      (arm, k) => arms.indexOf(arm) < k || earlier.some(probe => probe.arms.includes(arm)),
    )
    return twice === undefined
      ? []
      : [
          `probes[${i}].arms: expected every arm in one probe ${name}, got ${twice} twice; leave it out of one`,
        ]
  }),
  ...content.claims.flatMap((claim, i) => claimUses(content, claim, `claims[${i}]`)),
]
