/** @file What an experiment leaves: one JSON file a claim, with all that it takes to judge it again, and one of the controls. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomic } from '../../util/atomic.ts'
import { readText } from '../../util/text-file.ts'
import type { BriefStatus, ClaimResult } from '../analysis/claims.ts'
import { claimLooks } from '../plan/blocks.ts'
import { apartOf, type Registration } from '../plan/registration.ts'
import { type EarlierLook, earlierLooks } from './earlier.ts'
import type { PaperResult } from './paper.ts'
import type { Registered } from './registered.ts'

const registrationJson = ({ registration, registered }: PaperResult) => {
  const { blocks: _blocks, ...own } = registered
  return { file: registration.file, ...own }
}

/** The blocks with what they say of one claim; absent where there is one block only. */
const blocksJson = ({ blocks }: PaperResult, id: string) => {
  const of = (statuses: readonly BriefStatus[]) => {
    const { status, reason } = statuses.find(each => each.id === id)!
    return { status, reason }
  }
  return blocks.length === 0
    ? {}
    : { blocks: blocks.map(block => ({ ...block, alone: of(block.alone), together: of(block.together) })) }
}

const claimJson = (result: PaperResult, claim: ClaimResult, earlier: readonly EarlierLook[]) => {
  const { registration, rule } = result
  const { claim: registered, ...outcome } = claim
  const arms = new Set(claim.runs.map(({ arm }) => arm))
  const apart = apartOf(registration, registered.id)
  return {
    paper: registration.paper,
    claim: registered,
    rule,
    ...outcome,
    ...(apart && { apart }),
    registration: registrationJson(result),
    family: result.claims.filter(({ p }) => p !== null).length,
    looks: claimLooks(registration, registered),
    ...(earlier.length > 0 && { earlier }),
    seeds: registration.seeds,
    ...blocksJson(result, registered.id),
    starts: registration.starts.map(start =>
      'model' in start ? start : { name: start.name, seed: start.seed },
    ),
    test: registration.test,
    controls: result.controls.map(({ kind, arm, outcome: found, note }) => ({
      ...{ kind, arm, outcome: found },
      ...(note && { note }),
    })),
    arms: result.arms.filter(({ arm }) => arms.has(arm)),
    seconds: claim.runs.reduce((sum, { seconds }) => sum + seconds, 0),
    runsDone: result.runs,
    trainedWith: result.trainedWith,
    analysedWith: result.analysedWith,
    notes: result.notes,
  }
}

/** `controls.json`: what the controls came to, and what all arms took. */
const controlsJson = (result: PaperResult) => ({
  paper: result.registration.paper,
  of: result.registration.controls.of,
  metric: result.registration.controls.metric,
  rule: result.rule,
  controls: result.controls,
  absent: result.absentControls,
  arms: result.arms,
  registration: registrationJson(result),
  trainedWith: result.trainedWith,
  analysedWith: result.analysedWith,
  notes: result.notes,
})

/** Writes `<claim>.json` for every claim, and `controls.json`. Returns the folder. */
export const writeResults = (folder: string, result: PaperResult): string => {
  const write = (name: string, value: unknown) =>
    writeFileAtomic(join(folder, name), `${JSON.stringify(value, null, 2)}\n`)
  for (const claim of result.claims)
    write(
      `${claim.claim.id}.json`,
      claimJson(result, claim, earlierLooks(folder, claim, result.registration.arms)),
    )
  write('controls.json', controlsJson(result))
  return folder
}

/** The file of a claim, as it is written. */
export type ClaimFile = Omit<ReturnType<typeof claimJson>, 'registration'> & {
  registration: { file: string } & Registered
}
export type ControlsFile = ReturnType<typeof controlsJson>

/** Reads `<claim>.json`; null where there is none. */
export const readClaimFile = (folder: string, id: string): ClaimFile | null => {
  const path = join(folder, `${id}.json`)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as ClaimFile) : null
}

/** @throws DataError where there is none */
export const readControlsFile = (folder: string): ControlsFile =>
  JSON.parse(readText(join(folder, 'controls.json'))) as ControlsFile

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
