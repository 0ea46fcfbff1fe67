/** @file What two looks do to false positives, by simulation of claims from evidence to status. */

import { describe, expect, it } from 'vitest'
import { Rng } from '../../util/rng.ts'
import { fakeContent, fakeRegistration } from '../fake-paper.fixture.ts'
import { upToBlock } from '../plan/blocks.ts'
import type { Registration } from '../plan/registration.ts'
import { judgeClaims } from './claims.ts'
import type { ClaimEvidence } from './evidence.ts'
import { type DecisionRule, RULE } from './rules.ts'

const TRIALS = 400

const [claim] = fakeContent().claims as object[]
const design = {
  starts: [{ name: 'a', recipe: 'checklist-cold-start', seed: 1 }],
  claims: [{ ...claim, arms: { a: 'better', b: 'plain' }, smallestEffect: 1e-6 }],
  seeds: [1, 2, 3, 4, 5, 6, 7],
}
/** Seven pairs, then five more: both looks have exact tests that can reach 2.5%. */
const enlarged = fakeRegistration({
  ...design,
  blocks: [{ seeds: [8, 9, 10, 11, 12], registered: '2026-12-01' }],
})

const evidenceOf = (registration: Registration, differences: readonly number[]): ClaimEvidence[] => [
  {
    claim: registration.claims[0],
    unit: 'share',
    runs: [],
    comparisons: [
      {
        a: 'better',
        b: 'plain',
        equal: 'steps',
        pairs: differences.map((d, i) => ({ start: 'a', seed: String(i), a: 0.5 + d, b: 0.5 })),
        withoutValue: [],
        planned: differences.length,
        items: null,
        startErrors: null,
      },
    ],
  },
]

/** Whether the corrected test of the claim, two-sided, finds a difference. */
const isFound = (registration: Registration, differences: readonly number[], rule: DecisionRule): boolean =>
  judgeClaims(registration, evidenceOf(registration, differences), { rule })[0].adjustedP! < 0.05

/** How often something is found at the first look or at the second, where there is nothing. */
const falsePositives = (rule: DecisionRule, trials: number): number => {
  const rng = new Rng('two looks')
  const before: Registration = { ...upToBlock(enlarged, 1), looks: 2 }
  const found = Array.from({ length: trials }, () => {
    const differences = Array.from({ length: 12 }, () => 0.02 * rng.normal())
    return isFound(before, differences.slice(0, 7), rule) || isFound(enlarged, differences, rule)
  })
  return found.filter(Boolean).length / trials
}

describe('two looks at an experiment that is enlarged', () => {
  it('find something where there is nothing at most one time in twenty, both together', () => {
    expect(falsePositives(RULE, TRIALS)).toBeLessThan(0.05)
  })

  it('did so more often where each had the 5% for itself', () => {
    expect(falsePositives({ ...RULE, countsLooks: false }, TRIALS)).toBeGreaterThan(0.06)
  })

  it('multiply p, whatever the claim: each look has its share of the 5%', () => {
    const clear = [0.02, 0.03, 0.02, 0.03, 0.02, 0.03, 0.02]
    const of = (looks: number) => {
      const registration = fakeRegistration({ ...design, looks })
      const [{ adjustedP, status }] = judgeClaims(registration, evidenceOf(registration, clear))
      return [adjustedP, status]
    }
    expect(of(1)).toEqual([2 / 128, 'reproduced'])
    expect(of(2)).toEqual([4 / 128, 'reproduced'])
    expect(of(4)).toEqual([8 / 128, 'inconclusive'])
  })
})
