/** @file Results of experiments as `gradus experiment` writes them: claims with their status and arms, one file each. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { type FoundExperiment, fileOf } from './library.ts'
import type { ClaimView, ExperimentLine, ExperimentView } from './wire.ts'

const MOST_BYTES = 32 * 1024 ** 2

const number = z.number().nullish()

const comparisonSchema = z.looseObject({
  a: z.string().nullish(),
  b: z.string().nullish(),
  status: z.string().nullish(),
  p: number,
  adjustedP: number,
  statistics: z
    .looseObject({
      n: number,
      meanA: number,
      meanB: number,
      difference: number,
      interval: z.tuple([z.number(), z.number()]).nullish(),
    })
    .nullish(),
})

const claimSchema = z.looseObject({
  claim: z.looseObject({ id: z.string(), statement: z.string(), direction: z.string().nullish() }),
  status: z.string(),
  reason: z.string().nullish(),
  unit: z.string().nullish(),
  p: number,
  adjustedP: number,
  runs: z
    .array(
      z.looseObject({
        arm: z.string(),
        start: z.string().nullish(),
        seed: z.union([z.string(), z.number()]).nullish(),
        value: number,
      }),
    )
    .nullish(),
  comparisons: z.array(comparisonSchema).nullish(),
  arms: z.array(z.looseObject({ arm: z.string(), summary: z.string().nullish() })).nullish(),
  registration: z
    .looseObject({
      file: z.string().nullish(),
      sha256: z.string().nullish(),
      registeredAt: z.string().nullish(),
    })
    .nullish(),
  runsDone: z.looseObject({ done: number, planned: number }).nullish(),
  controls: z
    .array(
      z.looseObject({
        kind: z.string(),
        arm: z.string().nullish(),
        outcome: z.string().nullish(),
        note: z.string().nullish(),
      }),
    )
    .nullish(),
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

const claimView = ({
  claim,
  status,
  reason,
  unit,
  p,
  adjustedP,
  comparisons,
  runs,
  arms,
}: Claim): ClaimView => ({
  id: claim.id,
  statement: claim.statement,
  status,
  reason: reason ?? null,
  unit: unit ?? null,
  p: p ?? null,
  adjustedP: adjustedP ?? null,
  comparisons: (comparisons ?? []).map(own => ({
    a: own.a ?? null,
    b: own.b ?? null,
    status: own.status ?? null,
    p: own.p ?? null,
    n: own.statistics?.n ?? null,
    meanA: own.statistics?.meanA ?? null,
    meanB: own.statistics?.meanB ?? null,
    difference: own.statistics?.difference ?? null,
    interval: own.statistics?.interval ?? null,
  })),
  arms: (arms ?? []).map(({ arm, summary }) => ({ arm, summary: summary ?? null })),
  runs: (runs ?? []).map(({ arm, start, seed, value }) => ({
    ...{ arm, start: start ?? null, seed: seed === undefined || seed === null ? null : String(seed) },
    value: value ?? null,
  })),
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
const registeredWork = (dir: string): ExperimentView['registration'] => {
  const parsed = registeredSchema.safeParse(jsonIn(dir, 'registration.json'))
  if (!parsed.success) return null
  const { sha256, registeredAt } = parsed.data
  return { file: null, sha256: sha256 ?? null, registeredAt: registeredAt ?? null }
}

/** Experiments with results, and those under way of which there are none yet. */
export const shownExperiments = (all: readonly FoundExperiment[]): FoundExperiment[] => {
  const done = new Set(all.flatMap(own => (own.isWork ? [] : (workFolder(own) ?? []))))
  return all.filter(own => !own.isWork || !done.has(workFolder(own) ?? ''))
}

/** What an experiment without results is: its curves alone. */
const workView = ({ id, dir, name }: FoundExperiment): ExperimentView => ({
  ...{ id, name, title: `${name}, under way`, summary: 'It has no results yet.' },
  ...{ registration: registeredWork(dir), runs: null, claims: [], controls: [], document: null },
})

export const experimentLine = (found: FoundExperiment): ExperimentLine => {
  if (found.isWork) {
    const { title, summary } = workView(found)
    return { id: found.id, name: found.name, title, summary, statuses: {} }
  }
  const { id, dir, name } = found
  const statuses: Record<string, number> = {}
  for (const { status } of claimsIn(dir)) statuses[status] = (statuses[status] ?? 0) + 1
  return { id, name, ...headOf(dir), statuses }
}

export const experimentView = (found: FoundExperiment): ExperimentView => {
  if (found.isWork) return workView(found)
  const { id, dir, name } = found
  const claims = claimsIn(dir)
  const { registration, runsDone } = claims[0] ?? {}
  const controls = new Map(
    claims.flatMap(({ controls: own }) => own ?? []).map(each => [`${each.kind} ${each.arm}`, each]),
  )
  return {
    ...{ id, name, ...headOf(dir) },
    registration: registration
      ? {
          file: registration.file ?? null,
          sha256: registration.sha256 ?? null,
          registeredAt: registration.registeredAt ?? null,
        }
      : null,
    runs: runsDone ? { done: runsDone.done ?? null, planned: runsDone.planned ?? null } : null,
    claims: claims.map(claimView),
    controls: [...controls.values()].map(({ kind, arm, outcome, note }) => ({
      ...{ kind, arm: arm ?? null, outcome: outcome ?? null, note: note ?? null },
    })),
    document: readText(dir, 'summary.md'),
  }
}
