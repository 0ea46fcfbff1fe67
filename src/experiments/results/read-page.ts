/** @file The page of results from their files alone: what their report says, but for curves, blocks and what was cut. */

import { readdirSync } from 'node:fs'
import type { PageView } from '../../runs/report/view.ts'
import { paperView } from '../report/paper-view.ts'
import { type ClaimFile, readClaimFile, readControlsFile } from './files.ts'

const claimsIn = (folder: string): ClaimFile[] =>
  readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .sort()
    .flatMap(name => readClaimFile(folder, name.slice(0, -'.json'.length)) ?? [])
    .filter(({ claim, comparisons, runs }) => claim?.id !== undefined && comparisons && runs)

/** @throws an error of any kind for files of another format */
export const readExperimentPage = (
  folder: string,
  { title, summary, curves }: { title: string; summary: string | null; curves: PageView['sections'] },
): PageView => {
  const claims = claimsIn(folder)
  const [first] = claims
  const { controls, absent, arms, of, metric } = readControlsFile(folder)
  const { registration: registered, rule, trainedWith, analysedWith, notes, test, starts, seeds } = first
  const apart = claims.flatMap(({ claim, apart: own }) => (own ? [{ ...own, claims: [claim.id] }] : []))
  const registration = {
    ...{ title, summary: summary ?? undefined, starts, seeds, test, looks: first.looks, blocks: [], cut: [] },
    ...{ afterwards: { apart, notes: [] }, file: registered.file, hash: registered.sha256 },
    ...{ steps: arms[0]?.steps ?? null, controls: { of, metric } },
  }
  const results = {
    claims,
    controls,
    absentControls: absent,
    arms,
    blocks: [],
    failed: [],
    rule,
    trainedWith,
  }
  return paperView(
    { ...results, analysedWith, notes, runs: first.runsDone, registered, registration },
    curves,
  )
}
