/** @file What a paper's runs come to: its claims and controls under their rules, block by block and together, and what its arms took. */

import { mean, meanKnown } from '../../util/statistics.ts'
import { analyseClaims, type BriefStatus, briefly, type ClaimResult } from '../analysis/claims.ts'
import { analyseControl, type ControlResult } from '../analysis/controls.ts'
import { decisionRuleOf, RULE } from '../analysis/rules.ts'
import { type FinishedRun, type JudgeWork, judgeWorkOf, tokensUntil } from '../metrics/index.ts'
import { blockAlone, blocksOf, looksOf, plannedFor, type SeedBlock, upToBlock } from '../plan/blocks.ts'
import { CLAIM_CONTROLS, type Registration } from '../plan/registration.ts'
import type { Provenance, TrainedWith } from '../run/provenance.ts'
import type { Registered, RegisteredBlocks } from './registered.ts'

/** What an arm took; judge calls only where its runs had a judge. */
export interface ArmCost extends Partial<JudgeWork> {
  arm: string
  summary: string | null
  runs: number
  planned: number
  steps: number
  /** Means over its runs. */
  tokens: number
  seconds: number
}

/** A block of seeds: what its runs say alone, and with those of the blocks before it. */
export interface BlockResult
  extends SeedBlock,
    Pick<Registered, 'registeredAt' | 'rule' | 'versions' | 'seal'> {
  runs: number
  alone: BriefStatus[]
  /** What was to be decided by at this look. */
  together: BriefStatus[]
}

/** What results name beside what was worked out. */
export interface PaperContext {
  registered: RegisteredBlocks
  failed: { id: string; message: string }[]
  /** What the runs, cold starts included, were trained with. */
  trainedWith: TrainedWith[]
  /** What worked out these results, and by which command. */
  analysedWith: Provenance
  /** What has to be known of runs of several machines together; absent where there is nothing. */
  notes?: readonly string[]
}

export interface PaperResult extends PaperContext {
  registration: Registration
  /** Version of the decision rule that gave the statuses. */
  rule: number
  claims: ClaimResult[]
  controls: ControlResult[]
  /** Controls that are left out, with the reason that was registered. */
  absentControls: { kind: string; reason: string }[]
  /** Block by block, where the experiment was enlarged; else none. */
  blocks: BlockResult[]
  arms: ArmCost[]
  /** Runs that are there, of how many; all seconds of them. */
  runs: { done: number; planned: number; seconds: number }
}

const costOf = (registration: Registration, runs: readonly FinishedRun[]): ArmCost[] =>
  Object.entries(registration.arms).map(([arm, { summary }]) => {
    const own = runs.filter(run => run.arm === arm)
    const average = (pick: (run: FinishedRun) => number) => (own.length > 0 ? mean(own.map(pick)) : 0)
    return {
      arm,
      summary: summary ?? null,
      runs: own.length,
      planned: plannedFor(registration, [arm]),
      steps: own[0]?.steps ?? 0,
      tokens: average(run => tokensUntil(run, run.steps)),
      seconds: average(run => run.seconds),
      ...meanWork(own),
    }
  })

/** Means over the runs that had a judge. */
const meanWork = (runs: readonly FinishedRun[]): JudgeWork | null => {
  const works = runs.flatMap(run => judgeWorkOf(run) ?? [])
  if (works.length === 0) return null
  return {
    judgeCalls: mean(works.map(({ judgeCalls }) => judgeCalls)),
    judgeCachedShare: meanKnown(works.map(({ judgeCachedShare }) => judgeCachedShare)),
  }
}

const inBlock = (runs: readonly FinishedRun[], { seeds }: SeedBlock): FinishedRun[] => {
  const own = new Set(seeds.map(String))
  return runs.filter(({ seed }) => own.has(seed))
}

/** What each look was to be decided by: the first seeds, then each later block with all before it. */
const blockResults = (
  registration: Registration,
  runs: readonly FinishedRun[],
  registered: RegisteredBlocks,
): BlockResult[] => {
  const blocks = blocksOf(registration)
  if (blocks.length === 1) return []
  const looks = looksOf(registration)
  return blocks.map(block => {
    const { nth } = block
    const own = inBlock(runs, block)
    const until = blocks.slice(0, nth).flatMap(each => inBlock(runs, each))
    const { registeredAt, rule, versions, seal } = nth === 1 ? registered : registered.blocks[nth - 2]
    return {
      ...block,
      ...{ registeredAt, rule, versions, seal },
      runs: own.length,
      alone: briefly(analyseClaims(blockAlone(registration, nth), own)),
      together: briefly(analyseClaims({ ...upToBlock(registration, nth), looks }, until)),
    }
  })
}

/** Controls that are left out, with the reason that was registered. */
export const absentControlsOf = ({ controls }: Registration): PaperResult['absentControls'] =>
  CLAIM_CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'absent' in control ? [{ kind, reason: control.absent }] : []
  })

/** Works everything out from the runs that are there. @throws ConfigError for a rule at registration that is not known */
export const analysePaper = (
  registration: Registration,
  runs: readonly FinishedRun[],
  context: PaperContext,
): PaperResult => {
  const { controls, arms } = registration
  const rules = { rule: RULE, registeredRule: decisionRuleOf(context.registered.rule, registration.file) }
  const present = CLAIM_CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'arm' in control ? [analyseControl(runs, controls, kind, control.arm, rules)] : []
  })
  return {
    registration,
    ...context,
    rule: RULE.version,
    claims: analyseClaims(registration, runs, rules),
    controls: present,
    absentControls: absentControlsOf(registration),
    blocks: blockResults(registration, runs, context.registered),
    arms: costOf(registration, runs),
    runs: {
      done: runs.length,
      planned: Object.keys(arms).reduce((sum, arm) => sum + plannedFor(registration, [arm]), 0),
      seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0),
    },
  }
}
