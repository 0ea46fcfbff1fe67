/**
 * @file Blocks of seeds: those that were registered first, and those that were registered later to enlarge the experiment.
 *
 * Every later block has a hash of its own content and of the block before it. The hash of what was there before stays what it was:
 * runs that are done remain those of the same registration.
 */

import { type Claim, type Registration, type RegistrationContent, START } from './registration.ts'

type Design = Pick<RegistrationContent, 'arms' | 'seeds' | 'starts' | 'blocks'>

/** Seeds that an arm runs with, and the block (from 1) that each was registered in. */
export const seedsOf = (
  { arms, seeds, blocks }: Omit<Design, 'starts'>,
  arm: string,
): { seed: number | string; block: number }[] => [
  ...seeds.slice(0, arms[arm].seeds).map(seed => ({ seed, block: 1 })),
  ...blocks.flatMap((block, i) => {
    // An arm that has only the first so many seeds is enlarged only where a block names it.
    const runs = block.arms?.includes(arm) ?? arms[arm].seeds === undefined
    return runs ? block.seeds.map(seed => ({ seed, block: i + 2 })) : []
  }),
]

/** All seeds, in the order that they were registered in. */
export const allSeeds = ({ seeds, blocks }: Pick<Design, 'seeds' | 'blocks'>): (number | string)[] => [
  ...seeds,
  ...blocks.flatMap(block => block.seeds),
]

/** Runs, or pairs of runs, that are registered for arms; `null` and the arm `start` have no runs of their own. */
export const plannedFor = (design: Design, names: readonly (string | null)[]): number => {
  const own = names.flatMap(name =>
    name === null || name === START ? [] : [seedsOf(design, name).map(({ seed }) => String(seed))],
  )
  const [first, ...others] = own
  const shared = first?.filter(seed => others.every(seeds => seeds.includes(seed)))
  return design.starts.length * (shared?.length ?? allSeeds(design).length)
}

/** How often the results are looked at, or were planned to be: after the first seeds, and after each later block. */
export const looksOf = ({ looks, blocks }: Pick<RegistrationContent, 'looks' | 'blocks'>): number =>
  Math.max(looks, 1 + blocks.length)

/** How often a claim is looked at: here, and in the earlier experiments that it names. */
export const claimLooks = (
  design: Pick<RegistrationContent, 'looks' | 'blocks'>,
  { earlier = [] }: Pick<Claim, 'earlier'>,
): number => looksOf(design) + earlier.length

/** One block of seeds as results name it. */
export interface SeedBlock {
  /** From 1: the seeds that were registered first. */
  nth: number
  seeds: (number | string)[]
  sha256: string
  /** What the file says; the time at which a command first saw it is in the record. */
  registered: string | null
}

/** The blocks of a registration, the first one included. */
export const blocksOf = ({ seeds, blocks, hash, blockHashes }: Registration): SeedBlock[] => [
  { nth: 1, seeds, sha256: hash, registered: null },
  ...blocks.map((block, i) => ({
    nth: i + 2,
    seeds: block.seeds,
    sha256: blockHashes[i],
    registered: block.registered,
  })),
]

/** What names all of a registration, later blocks included. */
export const tipOf = ({ hash, blockHashes }: Pick<Registration, 'hash' | 'blockHashes'>): string =>
  blockHashes.at(-1) ?? hash

/** The registration as it was before a later block: its first `count` blocks alone. */
export const upToBlock = (registration: Registration, count: number): Registration => ({
  ...registration,
  blocks: registration.blocks.slice(0, count - 1),
  blockHashes: registration.blockHashes.slice(0, count - 1),
})

/** A later block as if it were all of the registration; the first one is `upToBlock(registration, 1)`. @param nth from 1 */
export const blockAlone = (registration: Registration, nth: number): Registration => {
  const looks = looksOf(registration)
  if (nth === 1) return { ...upToBlock(registration, 1), looks }
  const { arms, blocks } = registration
  const { seeds } = blocks[nth - 2]
  const count = (name: string) => seedsOf(registration, name).filter(({ block }) => block === nth).length
  const own = Object.entries(arms).map(([name, arm]) => [name, { ...arm, seeds: count(name) }])
  return { ...registration, looks, seeds, blocks: [], blockHashes: [], arms: Object.fromEntries(own) }
}
