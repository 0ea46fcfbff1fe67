/** @file Lists of kept rollouts: filters are answered by the index, text by reading rows until there are enough or time is up. */

import { z } from 'zod'
import type { CriterionDescription } from '../../runs/criterion-words.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { DataError } from '../../util/errors.ts'
import { rowOf } from './growing-file.ts'
import type { IndexedRollout, RolloutIndex } from './rollout-index.ts'
import { RowReader } from './row-text.ts'
import type { Facets, RolloutLine, RolloutsPage, RolloutView } from './wire.ts'

const PAGE = 30
const EXCERPT = 180
/** A search answers after so long with what it has, and where it is to go on. */
const SEARCH_MS = 350

const figure = z.coerce.number()

export const rolloutsQuery = z.object({
  from: figure.optional(),
  to: figure.optional(),
  min: figure.optional(),
  max: figure.optional(),
  role: z.string().optional(),
  monitor: z.string().optional(),
  flag: z.string().optional(),
  criterion: z.string().optional(),
  verdict: z.enum(['met', 'unmet', 'none']).optional(),
  correct: z.enum(['yes', 'no']).optional(),
  q: z.string().max(400).optional(),
  order: z.enum(['newest', 'oldest', 'best', 'worst']).default('newest'),
  after: z.coerce.number().int().min(0).default(0),
})

export type RolloutsQuery = z.output<typeof rolloutsQuery>

type Test = (rollout: IndexedRollout) => boolean

const verdictTest = (index: RolloutIndex, name: string, verdict: RolloutsQuery['verdict']): Test => {
  const place = index.criteria.known(name)
  if (place < 0) return () => false
  return ({ nth }) => {
    const credit = index.credit(nth, place)
    if (verdict === 'none') return credit === null
    if (credit === null) return false
    return verdict === undefined || (verdict === 'met' ? credit >= 0.5 : credit < 0.5)
  }
}

/** All that the index can tell of a query. */
const testsOf = (index: RolloutIndex, query: RolloutsQuery): Test[] => {
  const { from, to, min, max, role, monitor, flag, criterion, verdict, correct } = query
  const tests: Test[] = []
  if (from !== undefined) tests.push(({ step }) => step >= from)
  if (to !== undefined) tests.push(({ step }) => step <= to)
  if (min !== undefined) tests.push(({ reward }) => reward !== null && reward >= min - 1e-6)
  if (max !== undefined) tests.push(({ reward }) => reward !== null && reward <= max + 1e-6)
  if (role !== undefined) {
    const place = index.roles.known(role)
    tests.push(own => own.role === place)
  }
  if (monitor !== undefined) {
    const place = index.monitors.known(monitor)
    tests.push(own => (monitor === 'none' ? own.monitor < 0 : place >= 0 && own.monitor === place))
  }
  if (flag !== undefined) {
    const place = index.flags.known(flag)
    tests.push(({ flags }) => place >= 0 && ((flags >>> place) & 1) === 1)
  }
  if (criterion !== undefined) tests.push(verdictTest(index, criterion, verdict))
  if (correct !== undefined) tests.push(own => own.correct === (correct === 'yes'))
  return tests
}

/** Places of rollouts that pass, in the order that was asked for. */
const placesOf = (index: RolloutIndex, query: RolloutsQuery): number[] => {
  const tests = testsOf(index, query)
  const found: { nth: number; reward: number | null }[] = []
  for (let nth = 0; nth < index.count; nth++) {
    const rollout = index.at(nth)
    if (tests.every(test => test(rollout))) found.push({ nth, reward: rollout.reward })
  }
  const { order } = query
  if (order === 'newest') found.reverse()
  if (order === 'best' || order === 'worst') {
    const sign = order === 'best' ? -1 : 1
    const worth = (reward: number | null) => (reward === null ? Number.POSITIVE_INFINITY : sign * reward)
    found.sort((a, b) => worth(a.reward) - worth(b.reward) || b.nth - a.nth)
  }
  return found.map(({ nth }) => nth)
}

/** Everything of a row that a person reads. */
const wordsOf = (row: RolloutRow): string[] => [
  row.response,
  row.prompt,
  row.problemId,
  ...(row.verdicts ?? []).flatMap(({ criterionId, explanation }) => [criterionId, explanation ?? '']),
]

const around = (text: string, at: number, length: number): string => {
  const begin = Math.max(0, at - EXCERPT / 3)
  const piece = text.slice(begin, Math.max(begin + EXCERPT, at + length))
  return `${begin > 0 ? '…' : ''}${piece}${begin + piece.length < text.length ? '…' : ''}`
}

/** The words around what was searched for; null where it is not there. */
const excerptOf = (row: RolloutRow, needle: string): string | null => {
  if (needle === '') return around(String(row.response ?? ''), 0, 0)
  for (const text of wordsOf(row)) {
    const at = String(text ?? '')
      .toLowerCase()
      .indexOf(needle)
    if (at >= 0) return around(text, at, needle.length)
  }
  return null
}

const lineOf = (nth: number, row: RolloutRow, excerpt: string): RolloutLine => ({
  nth,
  step: row.step,
  role: row.role ?? 'policy',
  problemId: String(row.problemId ?? '').slice(0, 200),
  sample: row.sample ?? null,
  reward: row.reward ?? null,
  advantage: row.advantage ?? null,
  correct: row.correct ?? null,
  monitor: row.monitor ?? null,
  finish: row.finishReason ?? null,
  excerpt,
  flags: Object.entries(row.flags ?? {}).flatMap(([name, value]) => (value > 0 ? [name] : [])),
})

/** A rollout's row. @throws DataError where it cannot be read */
export const readRow = (reader: RowReader, index: RolloutIndex, nth: number): RolloutRow => {
  const { offset, bytes } = index.at(nth)
  const text = reader.text({ offset, bytes })
  return rowOf<RolloutRow>({ offset, bytes, text }, 'rollouts.jsonl')
}

/** Facets by index, as long as that holds as many rollouts. */
const known = new WeakMap<RolloutIndex, { count: number; facets: Facets }>()

const facetsOf = (index: RolloutIndex): Facets => {
  const found = known.get(index)
  if (found?.count === index.count) return found.facets
  const facets = facetsNow(index)
  known.set(index, { count: index.count, facets })
  return facets
}

const facetsNow = (index: RolloutIndex): Facets => {
  let rewards: [number, number] | null = null
  for (let nth = 0; nth < index.count; nth++) {
    const { reward } = index.at(nth)
    if (reward === null) continue
    rewards =
      rewards === null ? [reward, reward] : [Math.min(rewards[0], reward), Math.max(rewards[1], reward)]
  }
  return {
    roles: index.roles.list,
    criteria: index.criteria.list,
    flags: index.flags.list,
    monitors: index.monitors.list,
    steps: index.count === 0 ? null : [index.at(0).step, index.at(index.count - 1).step],
    rewards,
  }
}

/** A page of a list. @param bytes of the file, to say how far the index is */
export const listRollouts = (
  dir: string,
  index: RolloutIndex,
  query: RolloutsQuery,
  bytes: number,
): RolloutsPage => {
  const places = placesOf(index, query)
  const needle = (query.q ?? '').toLowerCase()
  const rows: RolloutLine[] = []
  let at = query.after
  if (places.length > at) {
    const reader = new RowReader(dir, 'rollouts.jsonl')
    const endMs = performance.now() + SEARCH_MS
    try {
      for (; at < places.length && rows.length < PAGE && performance.now() < endMs; at++) {
        const row = readRow(reader, index, places[at])
        const excerpt = excerptOf(row, needle)
        if (excerpt !== null) rows.push(lineOf(places[at], row, excerpt))
      }
    } finally {
      reader.close()
    }
  }
  return {
    total: index.count,
    progress: bytes === 0 ? 1 : Math.min(1, index.bytes / bytes),
    matching: needle === '' ? places.length : null,
    rows,
    next: at < places.length ? String(at) : null,
    searched: needle === '' ? null : { seen: at, of: places.length },
    facets: facetsOf(index),
  }
}

/** Rollouts of the same step: they are written one after the other. */
const nearby = (index: RolloutIndex, nth: number): number[] => {
  const { step } = index.at(nth)
  let [first, last] = [nth, nth]
  while (first > 0 && index.at(first - 1).step === step) first--
  while (last + 1 < index.count && index.at(last + 1).step === step) last++
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** One rollout whole, and those of its group that were kept. @throws DataError where there is none */
export const viewRollout = (
  dir: string,
  index: RolloutIndex,
  nth: number,
  criteria: Record<string, CriterionDescription>,
): RolloutView => {
  if (!Number.isInteger(nth) || nth < 0 || nth >= index.count)
    throw new DataError(`rollout ${nth}: expected one of 0 to ${index.count - 1}`)
  const own = index.at(nth)
  const reader = new RowReader(dir, 'rollouts.jsonl')
  try {
    const row = readRow(reader, index, nth)
    const group: RolloutLine[] = []
    for (const other of nearby(index, nth)) {
      const { role, problem } = index.at(other)
      if (role !== own.role || problem !== own.problem) continue
      const its = readRow(reader, index, other)
      if (its.problemId === row.problemId) group.push(lineOf(other, its, excerptOf(its, '') ?? ''))
    }
    return { nth, total: index.count, row, criteria, group }
  } finally {
    reader.close()
  }
}
