/**
 * @file Results worked out again from what lies in their folder: from the runs (`runs.jsonl.br`), or, where these are not kept, from
 * the pairs in the files of the claims. Nothing is trained, and no run folder is needed.
 */

import { join } from 'node:path'
import { DataError } from '../util/errors.ts'
import { shippedFile } from '../util/package.ts'
import { judgeClaims } from './analysis/claims.ts'
import { judgeControl } from './analysis/controls.ts'
import { decisionRuleOf, RULE } from './analysis/rules.ts'
import type { FinishedRun } from './metrics/index.ts'
import { readRegistration, withAfterwards } from './plan/read.ts'
import type { Registration } from './plan/registration.ts'
import { writePaperReport, writePaperSummary } from './report/report.ts'
import { type ClaimFile, readClaimFile, readControlsFile, writeResults } from './results/files.ts'
import { absentControlsOf, analysePaper, type PaperResult } from './results/paper.ts'
import { readSlimRuns } from './results/slim-runs.ts'
import type { Provenance } from './run/provenance.ts'

export interface Recomputed {
  result: PaperResult
  /** What it was worked out from. */
  from: 'runs' | 'pairs'
  runs: FinishedRun[]
  /** Claims and controls that come out otherwise than their files say; empty where all is as it was. */
  differences: string[]
}

const otherwise = (what: string, before: string | undefined, now: string): string[] =>
  before === now ? [] : [`${what}: ${now}, its file says ${before ?? 'nothing'}`]

const differencesFrom = (folder: string, { claims, controls }: PaperResult): string[] => {
  const before = new Map(readControlsFile(folder).controls.map(({ kind, outcome }) => [kind, outcome]))
  return [
    ...claims.flatMap(({ claim, status }) =>
      otherwise(claim.id, readClaimFile(folder, claim.id)?.status, status),
    ),
    ...controls.flatMap(({ kind, outcome }) => otherwise(kind, before.get(kind), outcome)),
  ]
}

/** The file of every claim. @throws DataError for one that is missing, or of another registration */
const claimFiles = (folder: string, { claims, hash, file }: Registration): ClaimFile[] =>
  claims.map(({ id }) => {
    const found = readClaimFile(folder, id)
    if (found?.registration.sha256 === hash) return found
    throw new DataError(
      `${join(folder, `${id}.json`)}: expected results of the registration ${hash.slice(0, 16)} (${file}), got ${found === null ? 'no file' : found.registration.sha256.slice(0, 16)}`,
      { hint: 'results of another registration cannot be judged by this one' },
    )
  })

/** From the pairs that the files of the claims hold. Claims of blocks that were added later need the runs. */
const fromPairs = (folder: string, registration: Registration, analysedWith: Provenance): PaperResult => {
  const files = claimFiles(folder, registration)
  const [first] = files
  if (first.blocks !== undefined)
    throw new DataError(`${folder}: expected runs.jsonl.br beside results of several blocks, found none`, {
      hint: 'the pairs of the claims do not tell what each block came to',
    })
  const { file: _file, ...registered } = first.registration
  const rules = { rule: RULE, registeredRule: decisionRuleOf(registered.rule, folder) }
  const evidence = files.map((found, i) => ({ ...found, claim: registration.claims[i] }))
  const controls = readControlsFile(folder)
  return {
    registration,
    registered: { ...registered, blocks: [] },
    failed: [],
    trainedWith: first.trainedWith,
    analysedWith,
    notes: first.notes,
    rule: RULE.version,
    claims: judgeClaims(
      registration,
      evidence.map(({ claim, unit, runs, comparisons }) => ({ claim, unit, runs, comparisons })),
      rules,
    ),
    controls: controls.controls.map(control =>
      control.evidence === null
        ? control
        : judgeControl(control, control.evidence, registration.controls, rules),
    ),
    absentControls: absentControlsOf(registration),
    blocks: [],
    arms: controls.arms,
    runs: first.runsDone,
  }
}

/** The registration that results of pairs name: by the path in their files, seen from here or in the package. */
const registrationOf = (folder: string): Registration => {
  const { registration } = readControlsFile(folder)
  return { ...readRegistration(shippedFile(registration.file)), file: registration.file }
}

/** Works the results of a folder out again. @throws DataError, ConfigError for a folder that has not what it takes */
export const recompute = (folder: string, analysedWith: Provenance): Recomputed => {
  const kept = readSlimRuns(folder)
  const result = kept
    ? analysePaper(withAfterwards(kept.registration), kept.runs, { ...kept.context, analysedWith })
    : fromPairs(folder, registrationOf(folder), analysedWith)
  return {
    result,
    from: kept ? 'runs' : 'pairs',
    runs: kept?.runs ?? [],
    differences: differencesFrom(folder, result),
  }
}

/**
 * Writes what was worked out again over the results: claims, controls, the summary. The report too where there are runs: its curves
 * are of them. Returns the report's path; null where the one that lies there was left.
 */
export const writeRecomputed = (folder: string, { result, from, runs }: Recomputed): string | null => {
  writeResults(folder, result)
  writePaperSummary(folder, result)
  return from === 'runs' ? writePaperReport(folder, result, runs) : null
}
