/** @file Lists of kept rollouts: filters are answered by the index, text by reading rows until there are enough or time is up. */

import { z } from 'zod'
import type { Criteria, PageChoice, PageView, TableRow } from '../../runs/report/view.ts'
import type { RolloutRow } from '../../runs/rows.ts'
import { DataError } from '../../util/errors.ts'
import { joinKnown, number } from '../../util/format.ts'
import { rowAt } from './growing-file.ts'
import { type FoundRun, runAddress } from './library.ts'
import type { IndexedRollout, RolloutIndex } from './rollout-index.ts'
import type { RolloutsPage } from './wire.ts'

const PAGE = 30
const EXCERPT = 180
/** A search answers after so long with what it has, and where it is to go on. */
const SEARCH_MS = 350

const metric = z.coerce.number()
const ORDERS = ['newest', 'oldest', 'best', 'worst'] as const

export const rolloutsQuery = z.object({
  from: metric.optional(),
  to: metric.optional(),
  min: metric.optional(),
  max: metric.optional(),
  role: z.string().optional(),
  monitor: z.string().optional(),
  flag: z.string().optional(),
  criterion: z.string().optional(),
  verdict: z.enum(['met', 'unmet', 'none']).optional(),
  correct: z.enum(['yes', 'no']).optional(),
  q: z.string().max(400).optional(),
  order: z.enum(ORDERS).default('newest'),
  after: z.coerce.number().int().min(0).default(0),
})

export type RolloutsQuery = z.output<typeof rolloutsQuery>

type Test = (rollout: IndexedRollout) => boolean

const verdictTest = (index: RolloutIndex, name: string, verdict: RolloutsQuery['verdict']): Test => {
  const place = index.names.criteria.indexOf(name)
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
  const { roles, monitors, flags } = index.names
  const tests: Test[] = []
  if (from !== undefined) tests.push(({ step }) => step >= from)
  if (to !== undefined) tests.push(({ step }) => step <= to)
  if (min !== undefined) tests.push(({ reward }) => reward !== null && reward >= min - 1e-6)
  if (max !== undefined) tests.push(({ reward }) => reward !== null && reward <= max + 1e-6)
  if (role !== undefined) tests.push(own => roles[own.role] === role)
  if (monitor === 'none') tests.push(own => own.monitor < 0)
  else if (monitor !== undefined) tests.push(own => monitors[own.monitor] === monitor)
  if (flag !== undefined) {
    const place = flags.indexOf(flag)
    tests.push(own => place >= 0 && ((own.flags >>> place) & 1) === 1)
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

/** A kept rollout in a list. @param excerpt the beginning of its response, or the words around what was searched for */
const lineOf = (row: RolloutRow, href: string, excerpt: string): TableRow => {
  const { role = 'policy', sample, advantage, monitor, finishReason, flags = {} } = row
  const is = [role, sample !== undefined && `sample ${sample}`, finishReason]
  const raised = Object.keys(flags).filter(flag => flags[flag] > 0)
  return [
    String(row.step),
    { text: number(row.reward), class: 'name', notes: advantage === undefined ? [] : [number(advantage)] },
    {
      text: String(row.problemId ?? '').slice(0, 200) || 'rollout',
      ...{ href, notes: [joinKnown(is, ' · ')] },
      chips: [
        ...(monitor === undefined ? [] : [{ text: monitor, class: 'chip warning' }]),
        ...raised.map(text => ({ text, class: 'flag' })),
      ],
    },
    excerpt,
  ]
}

const KINDS = { Step: 'num', Reward: 'num', Problem: 'head', Response: 'excerpt' }
const HEAD = Object.entries(KINDS).map(([name, kind]) => ({ name, kind }))

/** A rollout's row. @throws DataError where it cannot be read */
export const readRow = (dir: string, index: RolloutIndex, nth: number): RolloutRow =>
  rowAt<RolloutRow>(dir, 'rollouts.jsonl', index.at(nth))

/** What can be asked for. */
const choicesOf = (index: RolloutIndex, query: RolloutsQuery): PageChoice[] => {
  const { roles, criteria, flags, monitors } = index.names
  const any = (name: 'role' | 'criterion' | 'verdict' | 'flag' | 'monitor', label: string, of: string[]) =>
    of.length === 0 ? [] : [{ name, label, value: query[name] ?? '', options: [['', 'any'] as const, ...of] }]
  return [
    { name: 'order', label: 'Order', value: query.order, options: ORDERS },
    ...any('role', 'Role', roles.length > 1 ? roles : []),
    ...any('criterion', 'Criterion', criteria),
    ...any('verdict', 'Verdict', query.criterion === undefined ? [] : ['met', 'unmet', 'none']),
    ...any('flag', 'Flag', flags),
    ...any('monitor', 'Warning', monitors),
  ]
}

/** The address of a rollout, or of all, with what was asked for. */
const addressOf = (run: string, query: Partial<RolloutsQuery>, nth?: number): string => {
  const { after: _, ...filters } = query
  return runAddress(run, nth === undefined ? 'rollouts' : `rollouts/${nth}`, filters)
}

/** A page of a list. @param bytes of the file, to say how far the index is */
export const listRollouts = (
  { id, dir }: Pick<FoundRun, 'id' | 'dir'>,
  index: RolloutIndex,
  query: RolloutsQuery,
  bytes: number,
): RolloutsPage => {
  const places = placesOf(index, query)
  const needle = (query.q ?? '').toLowerCase()
  const rows: TableRow[] = []
  let at = query.after
  const endMs = performance.now() + SEARCH_MS
  for (; at < places.length && rows.length < PAGE && performance.now() < endMs; at++) {
    const row = readRow(dir, index, places[at])
    const excerpt = excerptOf(row, needle)
    if (excerpt !== null) rows.push(lineOf(row, addressOf(id, query, places[at]), excerpt))
  }
  return {
    total: index.count,
    progress: bytes === 0 ? 1 : Math.min(1, index.bytes / bytes),
    matching: needle === '' ? places.length : null,
    table: { class: 'rollout-table', head: HEAD, rows },
    next: at < places.length ? String(at) : null,
    searched: needle === '' ? null : { seen: at, of: places.length },
    choices: choicesOf(index, query),
  }
}

/** Other rollouts of the same step, role and problem that were kept; those of a step are written one after the other. */
const groupOf = (index: RolloutIndex, nth: number): IndexedRollout[] => {
  const { step, role, problem } = index.at(nth)
  let first = nth
  while (first > 0 && index.at(first - 1).step === step) first--
  const group: IndexedRollout[] = []
  for (let at = first; at < index.count && index.at(at).step === step; at++) group.push(index.at(at))
  return group.filter(own => own.nth !== nth && own.role === role && own.problem === problem)
}

export const rolloutQuery = rolloutsQuery.partial().extend({ beside: z.coerce.number().optional() })

/** One rollout whole, or two of a group beside one another. @throws DataError where there is none */
export const rolloutPage = (
  { id, dir }: Pick<FoundRun, 'id' | 'dir'>,
  index: RolloutIndex,
  nth: number,
  { beside, ...query }: z.output<typeof rolloutQuery>,
  criteria: Criteria,
): PageView => {
  const rowOfPlace = (at: number) => {
    if (Number.isInteger(at) && at >= 0 && at < index.count) return readRow(dir, index, at)
    throw new DataError(`rollout ${at}: expected one of 0 to ${index.count - 1}`)
  }
  const rows = [nth, ...(beside === undefined ? [] : [beside])].map(rowOfPlace)
  const to = (at: number) => addressOf(id, query, at)
  const others = groupOf(index, nth).map(({ nth: at, sample, reward }): [string, string] => [
    String(at),
    `sample ${sample ?? at}, reward ${number(reward)}`,
  ])
  const choice = { name: 'beside', label: 'Beside it, of the same group', value: String(beside ?? '') }
  const problem = String(rows[0].problemId ?? '')
  const title = `Rollout ${nth}`
  const links = [
    { text: 'All rollouts', href: addressOf(id, query) },
    ...(nth > 0 ? [{ text: 'Before', href: to(nth - 1), key: 'k' }] : []),
    ...(nth + 1 < index.count ? [{ text: 'Next', href: to(nth + 1), key: 'j' }] : []),
  ]
  const options = [['', 'none'] as const, ...others]
  return {
    title,
    intro: [
      { kind: 'links', links },
      others.length > 0 && { kind: 'choices', choices: [{ ...choice, options }] },
    ],
    sections: [
      {
        title: problem === '' || problem.length > 160 ? title : problem,
        blocks: [{ kind: 'rollouts', rows, criteria, isBeside: beside !== undefined }],
      },
    ],
  }
}
