/** @file Results of experiments as `gradus experiment` writes them: claims with their status and arms, one file each. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'
import {
  type Block,
  foldBlock,
  type PageView,
  plainView,
  statusChip,
  statusCounts,
  tableSection,
} from '../../runs/report/view.ts'
import { countEach } from '../../util/descriptive.ts'
import { tryJson } from '../../util/json.ts'
import { type FoundExperiment, fileOf } from './library.ts'

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

/** What a file holds; undefined where it is not there or no JSON. */
const jsonIn = (dir: string, name: string): unknown => tryJson(readText(dir, name) ?? '')

/** Claims of results; files that hold something else are passed over. */
const claimsIn = function* (dir: string): Generator<Claim> {
  for (const name of readdirSync(dir).sort()) {
    const { data } = claimSchema.safeParse(name.endsWith('.json') ? jsonIn(dir, name) : null)
    if (data) yield data
  }
}

/** The first heading of summary.md, and the paragraph under it. */
const headOf = (dir: string): { title: string | null; summary: string | null } => {
  const lines = (readText(dir, 'summary.md') ?? '').split('\n').filter(line => line.trim() !== '')
  const title = lines[0]?.startsWith('# ') ? lines[0].slice(2) : null
  return { title, summary: title === null || lines[1] === undefined ? null : lines[1] }
}

/** `paper/hash`: where the runs of an experiment lie below the folder of the work; null where results do not say. */
export const workFolder = ({ dir, name, isWork }: FoundExperiment): string | null => {
  const [first] = isWork ? [] : claimsIn(dir)
  const hash = isWork ? basename(dir) : first?.registration?.sha256?.slice(0, 16)
  return hash === undefined ? null : join(name, hash)
}

const registeredSchema = z.looseObject({ sha256: z.string().nullish(), registeredAt: z.string().nullish() })

/** What was put down in the folder of the work before the first run. */
const registeredFacts = (dir: string): PageView['facts'] => {
  const { data: { sha256, registeredAt } = {} } = registeredSchema.safeParse(jsonIn(dir, 'registration.json'))
  return [
    ['registered', registeredAt?.slice(0, 16).replace('T', ' ') ?? null],
    ['as', sha256?.slice(0, 16) ?? null],
  ]
}

/** Experiments with results, and those under way of which there are none yet. */
const shownExperiments = (all: readonly FoundExperiment[]): FoundExperiment[] => {
  const done = new Set(all.flatMap(own => (own.isWork ? [] : (workFolder(own) ?? []))))
  return all.filter(own => !own.isWork || !done.has(workFolder(own) ?? ''))
}

const statusChips = (claims: readonly Claim[]): Block =>
  statusCounts(countEach(claims.map(({ status }) => status)))

/** What every format of results has; of one under way its curves are all there is. */
const bareExperiment = ({ name, dir, isWork }: FoundExperiment) => {
  const claims = isWork ? [] : [...claimsIn(dir)]
  const { title, summary } = isWork
    ? { title: `${name}, under way`, summary: 'It has no results yet.' }
    : headOf(dir)
  return { title: title ?? name, summary, claims }
}

type BareExperiment = ReturnType<typeof bareExperiment>

const barePage = (
  found: FoundExperiment,
  bare: BareExperiment,
  curves: PageView['sections'] = [],
): PageView => {
  const { title, summary, claims } = bare
  const table = {
    head: ['Claim', 'Status', { name: 'Reason', kind: 'reason' }],
    rows: claims.map(({ claim: { id, statement }, status, reason }) => [
      ...[{ text: id, notes: [statement] }, statusChip(status), reason ?? ''],
    ]),
  }
  return {
    ...{ title, facts: found.isWork ? registeredFacts(found.dir) : [] },
    intro: [{ kind: 'text', text: summary ?? '', class: 'lead' }, statusChips(claims)],
    sections: [claims.length > 0 && tableSection('Claims', '', table), ...curves],
  }
}

const listPanel = (found: FoundExperiment): Block => {
  const { title, summary, claims } = bareExperiment(found)
  const href = `/experiment/${encodeURIComponent(found.id)}`
  return { kind: 'panel', title, href, blocks: [summary ?? '', statusChips(claims)] }
}

/** The page of all experiments. */
export const experimentList = (all: readonly FoundExperiment[]): PageView => {
  const blocks = shownExperiments(all).map(listPanel)
  if (blocks.length > 0)
    return { title: 'Experiments', intro: [{ kind: 'stack', class: 'cards-list', blocks }] }
  const none = 'No results of an experiment are here. gradus experiment writes them.'
  return plainView('Experiments', none)
}

/** The page of results in a folder, as their report has it. What their files are is known one floor up. */
export type ReadExperiment = (
  folder: string,
  head: { title: string; summary: string | null; curves: PageView['sections'] },
) => Promise<PageView>

/** Files of a format that is not known are told of by what all formats have. @param curves of the arms */
export const experimentPage = async (
  found: FoundExperiment,
  read: ReadExperiment | undefined,
  curves: PageView['sections'],
): Promise<PageView> => {
  const bare = bareExperiment(found)
  const { title, summary, claims } = bare
  const known = claims.length > 0 && (await read?.(found.dir, { title, summary, curves }).catch(() => null))
  const text = found.isWork ? null : readText(found.dir, 'summary.md')
  return {
    ...(known || barePage(found, bare, curves)),
    footer: undefined,
    end: [text !== null && foldBlock('Its summary as written', { kind: 'document', text })],
  }
}
