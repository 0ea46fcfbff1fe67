/** @file What an experiment leaves: one JSON file a claim, with all that it takes to work its status out again. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { mean } from '../../util/statistics.ts'
import { type FinishedRun, type JudgeWork, judgeWorkOf, tokensUntil } from '../metrics/index.ts'
import type { Job } from '../plan/jobs.ts'
import { CONTROLS, type Registration } from '../plan/registration.ts'
import { type Provenance, provenanceNow, type TrainedWith } from '../run/provenance.ts'
import { analyseClaims, analyseControl, type ClaimResult, type ControlResult } from './claims.ts'

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

export interface PaperResult {
  registration: Registration
  /** When the registration was first seen by the command, before its first job. */
  registeredAt: string
  claims: ClaimResult[]
  controls: ControlResult[]
  /** Controls that are left out, with the reason that was registered. */
  absentControls: { kind: string; reason: string }[]
  arms: ArmCost[]
  /** Runs that are there, of how many; all seconds of them. */
  runs: { done: number; planned: number; seconds: number }
  failed: { id: string; message: string }[]
  /** What the runs, cold starts included, were trained with. */
  trainedWith: TrainedWith[]
  /** What worked out these results. */
  analysedWith: Provenance
}

const costOf = (registration: Registration, jobs: readonly Job[], runs: readonly FinishedRun[]): ArmCost[] =>
  Object.entries(registration.arms).map(([arm, { summary }]) => {
    const own = runs.filter(run => run.arm === arm)
    const average = (pick: (run: FinishedRun) => number) => (own.length > 0 ? mean(own.map(pick)) : 0)
    return {
      arm,
      summary: summary ?? null,
      runs: own.length,
      planned: jobs.filter(job => job.kind === 'arm' && job.arm === arm).length,
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
  const shares = works.flatMap(({ judgeCachedShare }) => judgeCachedShare ?? [])
  return {
    judgeCalls: mean(works.map(({ judgeCalls }) => judgeCalls)),
    judgeCachedShare: shares.length > 0 ? mean(shares) : null,
  }
}

/** Works everything out from the runs that are there. */
export const analysePaper = (
  registration: Registration,
  jobs: readonly Job[],
  runs: readonly FinishedRun[],
  context: Pick<PaperResult, 'registeredAt' | 'failed' | 'trainedWith'>,
): PaperResult => {
  const { controls } = registration
  const present = CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'arm' in control ? [analyseControl(runs, controls, kind, control.arm)] : []
  })
  const absent = CONTROLS.flatMap(kind => {
    const control = controls[kind]
    return 'absent' in control ? [{ kind, reason: control.absent }] : []
  })
  return {
    registration,
    ...context,
    claims: analyseClaims(registration, runs),
    controls: present,
    absentControls: absent,
    arms: costOf(registration, jobs, runs),
    runs: {
      done: runs.length,
      planned: jobs.filter(({ kind }) => kind === 'arm').length,
      seconds: runs.reduce((sum, { seconds }) => sum + seconds, 0),
    },
    analysedWith: provenanceNow(),
  }
}

const claimJson = (result: PaperResult, claim: ClaimResult) => {
  const { registration, registeredAt } = result
  const { claim: registered, ...outcome } = claim
  const arms = new Set(claim.runs.map(({ arm }) => arm))
  return {
    paper: registration.paper,
    claim: registered,
    ...outcome,
    registration: { file: registration.file, sha256: registration.hash, registeredAt },
    family: result.claims.filter(({ p }) => p !== null).length,
    seeds: registration.seeds,
    starts: registration.starts.map(({ name, seed }) => ({ name, seed })),
    test: registration.test,
    controls: result.controls.map(({ kind, arm, outcome: found }) => ({ kind, arm, outcome: found })),
    arms: result.arms.filter(({ arm }) => arms.has(arm)),
    seconds: claim.runs.reduce((sum, { seconds }) => sum + seconds, 0),
    runsDone: result.runs,
    trainedWith: result.trainedWith,
    analysedWith: result.analysedWith,
  }
}

/** Writes `<claim>.json` for every claim, and `controls.json`. Returns the folder. */
export const writeResults = (folder: string, result: PaperResult): string => {
  const write = (name: string, value: unknown) =>
    writeFileAtomic(join(folder, name), `${JSON.stringify(value, null, 2)}\n`)
  for (const claim of result.claims) write(`${claim.claim.id}.json`, claimJson(result, claim))
  write('controls.json', {
    paper: result.registration.paper,
    of: result.registration.controls.of,
    metric: result.registration.controls.metric,
    controls: result.controls,
    absent: result.absentControls,
    registration: { sha256: result.registration.hash, registeredAt: result.registeredAt },
  })
  return folder
}

/** Whether a file is a claim's result, of this format or the one before it. */
const isClaimFile = (path: string): boolean => {
  try {
    const { registration, status } = JSON.parse(readFileSync(path, 'utf8'))
    return typeof registration?.sha256 === 'string' && typeof status === 'string'
  } catch {
    return false
  }
}

/** Results in the folder that belong to no claim of this registration: an earlier one had them. */
export const foreignResults = (folder: string, { claims }: Registration): string[] => {
  const own = new Set(claims.map(({ id }) => `${id}.json`))
  return readdirSync(folder).filter(
    file => file.endsWith('.json') && !own.has(file) && isClaimFile(join(folder, file)),
  )
}
