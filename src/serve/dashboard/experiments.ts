/** @file Results of experiments as `gradus experiment` writes them: claims with their status and arms, one file each. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import type { ClaimView, ExperimentPage } from '../../runs/report/view.ts'
import { type FoundExperiment, fileOf } from './library.ts'
import type { ExperimentLine } from './wire.ts'

const MOST_BYTES = 32 * 1024 ** 2

/** As much of a claim's file as every format of results has. */
const claimSchema = z.looseObject({
  claim: z.looseObject({ id: z.string(), statement: z.string() }),
  status: z.string(),
  reason: z.string().nullish(),
  registration: z.looseObject({ sha256: z.string().nullish() }).nullish(),
})

type Claim = z.output<typeof claimSchema>

const readText = (dir: string, name: string): string | null => {
  const path = fileOf(dir, name)
  if (path === null || statSync(path).size > MOST_BYTES) return null
  return readFileSync(path, 'utf8')
}

/** What a file holds; null where it is not there or no JSON. */
const jsonIn = (dir: string, name: string): unknown => {
  const text = readText(dir, name)
  try {
    return text === null ? null : JSON.parse(text)
  } catch {
    return null
  }
}

/** A claim's file; null for files that hold something else. */
const readClaim = (dir: string, name: string): Claim | null => {
  const parsed = claimSchema.safeParse(jsonIn(dir, name))
  return parsed.success ? parsed.data : null
}

const jsonFiles = (dir: string): string[] =>
  readdirSync(dir)
    .filter(name => name.endsWith('.json'))
    .sort()

const claimsIn = (dir: string): Claim[] => jsonFiles(dir).flatMap(name => readClaim(dir, name) ?? [])

const firstClaim = (dir: string): Claim | null => {
  for (const name of jsonFiles(dir)) {
    const claim = readClaim(dir, name)
    if (claim !== null) return claim
  }
  return null
}

const claimView = ({ claim, status, reason }: Claim): ClaimView => ({
  ...{ id: claim.id, statement: claim.statement, status, reason: reason ?? null, registered: null },
  ...{ adjustedP: '–', plan: '', comparisons: [], dots: null, notes: [] },
})

/** The first heading of summary.md, and the paragraph under it. */
const headOf = (dir: string): { title: string | null; summary: string | null } => {
  const lines = (readText(dir, 'summary.md') ?? '').split('\n').filter(line => line.trim() !== '')
  const title = lines[0]?.startsWith('# ') ? lines[0].slice(2) : null
  return { title, summary: title === null || lines[1] === undefined ? null : lines[1] }
}

/** `paper/hash`: where the runs of an experiment lie below the folder of the work; null where results do not say. */
export const workFolder = ({ dir, name, isWork }: FoundExperiment): string | null => {
  const hash = isWork ? basename(dir) : firstClaim(dir)?.registration?.sha256?.slice(0, 16)
  return hash === undefined ? null : join(name, hash)
}

const registeredSchema = z.looseObject({ sha256: z.string().nullish(), registeredAt: z.string().nullish() })

/** What was put down in the folder of the work before the first run. */
const registeredFacts = (dir: string): ExperimentPage['facts'] => {
  const parsed = registeredSchema.safeParse(jsonIn(dir, 'registration.json'))
  if (!parsed.success) return []
  const { sha256, registeredAt } = parsed.data
  return [
    ['registered', registeredAt?.slice(0, 16).replace('T', ' ') ?? null],
    ['as', sha256?.slice(0, 16) ?? null],
  ]
}

/** Experiments with results, and those under way of which there are none yet. */
export const shownExperiments = (all: readonly FoundExperiment[]): FoundExperiment[] => {
  const done = new Set(all.flatMap(own => (own.isWork ? [] : (workFolder(own) ?? []))))
  return all.filter(own => !own.isWork || !done.has(workFolder(own) ?? ''))
}

const statusesOf = (claims: readonly Claim[]): ExperimentPage['statuses'] => {
  const counts = new Map<string, number>()
  for (const { status } of claims) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => ({ status, count }))
}

/** What every experiment's page has; of one without results its curves are all there is. */
const barePage = ({ name, dir, isWork }: FoundExperiment): ExperimentPage => {
  const { title, summary } = isWork
    ? { title: `${name}, under way`, summary: 'It has no results yet.' }
    : headOf(dir)
  const claims = isWork ? [] : claimsIn(dir)
  return {
    ...{ title: title ?? name, state: '', isDone: false, facts: isWork ? registeredFacts(dir) : [] },
    ...{
      lead: summary === null ? [] : [summary],
      statuses: statusesOf(claims),
      claims: claims.map(claimView),
    },
    ...{ apart: { claims: [], why: [] }, tables: [], cut: [], origin: null },
    document: isWork ? null : readText(dir, 'summary.md'),
  }
}

export const experimentLine = (found: FoundExperiment): ExperimentLine => {
  const { title, lead, statuses } = barePage(found)
  return { id: found.id, name: found.name, title, summary: lead[0] ?? null, statuses }
}

/** The page of results in a folder, as their report has it. What their files are is known one floor up. */
export type ReadExperiment = (
  folder: string,
  head: { title: string; summary: string | null; document: string | null },
) => Promise<ExperimentPage>

/** Files of a format that is not known are told of by what all formats have. */
export const experimentPage = async (
  found: FoundExperiment,
  read: ReadExperiment | null,
): Promise<ExperimentPage> => {
  const page = barePage(found)
  if (found.isWork || read === null || page.claims.length === 0) return page
  const { title, lead, document } = page
  return read(found.dir, { title, summary: lead[0] ?? null, document }).catch(() => page)
}
