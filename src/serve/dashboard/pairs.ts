/** @file Pairs of a run's answers for people to choose from: those that tell most, without what graders said of them; choices go into its folder. */

import { createHash, randomUUID } from 'node:crypto'
import type { Hono } from 'hono'
import { z } from 'zod'
import { type CandidatePair, nextPair, orderAgreement } from '../../eval/preferences.ts'
import { type CriterionDescription, describeCriteria, describeVerdict } from '../../runs/criterion-words.ts'
import {
  appendPreference,
  PREFERENCES_FILE,
  type Preference,
  preferenceChoice,
  readPreferences,
} from '../../runs/preferences.ts'
import { checkedRollout } from '../../runs/row-shapes.ts'
import type { EvalSample } from '../../runs/rows.ts'
import { DataError } from '../../util/errors.ts'
import { Rng } from '../../util/rng.ts'
import { parseWith } from '../../util/schema.ts'
import { type DashboardContext, type DashboardEnv, openRun, queryOf } from './context.ts'
import { bodyOf, mayControl, TOKEN_NEEDED } from './control.ts'
import { fileOf } from './library.ts'
import type { OpenRun } from './open-run.ts'
import { readRow } from './rollout-query.ts'
import type { PairsView } from './wire.ts'

/** Answers that pairs are made of: the latest of the run and of its evaluations, and of a prompt so many. */
const MOST_ANSWERS = 2_000
const MOST_EVALS = 40
const MOST_OF_PROMPT = 12

type AnswerRow = Pick<EvalSample, 'prompt' | 'plainPrompt' | 'response' | 'turns' | 'verdicts'> & {
  step: number
  role?: string
  sample?: number
  set?: string
}

/** A pair with its sides as they are shown. */
interface ShownPair extends CandidatePair {
  pair: string
  a: Answer
  b: Answer
}

const digestOf = (...texts: string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22)

/** Rules and solvers are sure of what they say; what nobody said is as likely as not. */
const varianceOf = (credit: number | null, source: string | undefined): number => {
  if (credit === null) return 0.25
  return source === 'rule' || source === 'formal' ? 0 : credit * (1 - credit)
}

type Words = Record<string, CriterionDescription>

/** A kept answer, without its text. */
type Answer = ReturnType<typeof answerOf>

const answerOf = (problemId: string, row: AnswerRow, words: Words, read: () => AnswerRow) => {
  const weighed = (row.verdicts ?? []).flatMap(verdict => {
    const { points } = describeVerdict(verdict, words)
    const { criterionId: id, met, credit: graded, source } = verdict
    const credit = graded ?? (met === null ? null : Number(met))
    if (typeof points !== 'number' || points === 0) return []
    if (credit !== null && !(credit >= 0 && credit <= 1)) return []
    return [{ id, points, credit, variance: varianceOf(credit, source) }]
  })
  return {
    ...{ problemId, digest: digestOf(row.response), read },
    credits: Object.fromEntries(weighed.map(({ id, credit }) => [id, credit])),
    points: Object.fromEntries(weighed.map(({ id, points }) => [id, points])),
    unsure: weighed.filter(({ variance }) => variance > 0),
  }
}

const rolloutAnswers = ({ found, rollouts }: OpenRun, words: Words): Answer[] => {
  const read = (nth: number) => readRow(found.dir, rollouts, nth)
  const first = Math.max(0, rollouts.count - MOST_ANSWERS)
  return Array.from({ length: rollouts.count - first }, (_, i) => first + i).flatMap(nth => {
    try {
      const row = checkedRollout('rollouts.jsonl')(read(nth))
      const name = row.role === undefined ? row.problemId : `${row.role}: ${row.problemId}`
      return [answerOf(String(name), row, words, () => read(nth))]
    } catch {
      // A row that cannot be shown is in no pair.
      return []
    }
  })
}

/** Responses that evaluations kept: to the same problems each time. */
const evalAnswers = (run: OpenRun, words: Words): Answer[] => {
  const rowsOf = (place: number) => {
    const [{ step, set, items = [] }] = run.wholeEvals([place])
    return items.flatMap(({ id, sample }) =>
      sample ? [{ id: `${set}: ${id}`, row: { ...sample, step, set } }] : [],
    )
  }
  const places = [...run.evals.keys()].slice(-MOST_EVALS)
  return places.flatMap(place =>
    rowsOf(place).map(({ id, row }, i) => answerOf(id, row, words, () => rowsOf(place)[i].row)),
  )
}

const pairUp = (left: Answer, right: Answer, seed: string): ShownPair => {
  const ordered = left.digest < right.digest ? [left, right] : [right, left]
  const pair = digestOf(left.problemId, ...ordered.map(({ digest }) => digest))
  const [a, b] = new Rng(`${seed}/sides/${pair}`).shuffle(ordered)
  const common = { pair, problemId: a.problemId, points: { ...b.points, ...a.points } }
  return { ...common, a, b, unsure: [...a.unsure, ...b.unsure] }
}

/** Pairs by run, as long as that holds as many answers. */
const known = new WeakMap<OpenRun, { of: string; pairs: ShownPair[] }>()

/** All pairs of a run, in an order that its name decides: of pairs that tell the same the first is shown. */
const pairsOf = (run: OpenRun): ShownPair[] => {
  const of = `${run.rollouts.count} ${run.evals.length}`
  const cached = known.get(run)
  if (cached?.of === of) return cached.pairs
  const [seed, words] = [`pairs/${run.info.id}`, describeCriteria(run.info)]
  const prompts = new Map<string, Map<string, Answer>>()
  for (const answer of [...rolloutAnswers(run, words), ...evalAnswers(run, words)]) {
    const same = prompts.get(answer.problemId) ?? new Map<string, Answer>()
    prompts.set(answer.problemId, same.set(answer.digest, answer))
  }
  const pairs = [...prompts].flatMap(([id, same]) => {
    const some = new Rng(`${seed}/${id}`).sample([...same.values()], MOST_OF_PROMPT)
    return some.flatMap((left, i) => some.slice(i + 1).map(right => pairUp(left, right, seed)))
  })
  const mixed = new Rng(seed).shuffle(pairs)
  known.set(run, { of, pairs: mixed })
  return mixed
}

const labelsOf = ({ found }: OpenRun): Preference[] => {
  const path = fileOf(found.dir, PREFERENCES_FILE)
  return path === null ? [] : readPreferences(path).standing
}

/** Hints that an answer was shown are left out: of the two prompts the shorter one is shown. */
const promptOf = ({ a, b }: ShownPair): string => {
  const [shortest] = [a.read(), b.read()]
    .map(own => own.plainPrompt ?? own.prompt ?? '')
    .sort((x, y) => x.length - y.length)
  return shortest
}

/** What a person is shown of a pair: no score and no verdict. */
const shownPair = (own: ShownPair): PairsView['pair'] => {
  const [a, b] = [own.a.read(), own.b.read()].map(({ response, turns }) => ({ response, turns }))
  return { id: own.pair, prompt: promptOf(own), a, b }
}

/** @param back the pair to show, where this person has not chosen */
const pairsView = (run: OpenRun, who: string, back?: string): PairsView => {
  const [all, labels] = [pairsOf(run), labelsOf(run)]
  const answered = new Set(labels.map(({ pair }) => pair))
  const open = all.filter(({ pair }) => !answered.has(pair))
  const isChosen = labels.some(own => own.pair === back && own.who === who)
  const next = all.find(({ pair }) => !isChosen && pair === back) ?? nextPair(open, labels)
  const names = [...new Set(labels.map(own => own.who))]
  return {
    pair: next && shownPair(next),
    pairs: all.length,
    labelled: labels.length,
    decided: labels.filter(({ choice }) => choice === 'a' || choice === 'b').length,
    agreement: orderAgreement(labels),
    people: names.map(name => ({ who: name, labels: labels.filter(own => own.who === name).length })),
    last: labels.findLast(own => own.who === who)?.id ?? null,
    file: `${run.found.name}/${PREFERENCES_FILE}`,
  }
}

const who = z.string().trim().max(80)
/** Who looks, and the pair before them: it stays until they choose, whatever others do. */
const shownTo = z.object({ who: who.default(''), back: z.string().max(64).optional() })
const asked = z.union([
  z.strictObject({ who, pair: z.string().max(64), choice: preferenceChoice }),
  z.strictObject({ who, undo: z.string().max(64) }),
])

const labelOf = (own: ShownPair): Omit<Preference, 'id' | 'at' | 'who' | 'choice'> => {
  const side = ({ read, credits }: Answer) => {
    const { step, role, sample, set, response } = read()
    return { step, role, sample, set, response, credits }
  }
  const { pair, problemId, points, a, b } = own
  return { pair, problemId, prompt: promptOf(own), points, a: side(a), b: side(b) }
}

/** Writes down what was asked for. @returns the pair that an undoing brings back */
const take = (run: OpenRun, body: z.output<typeof asked>): string | undefined => {
  const at = new Date().toISOString()
  if ('undo' in body) {
    const label = labelsOf(run).find(({ id, who: name }) => id === body.undo && name === body.who)
    if (label === undefined) throw new DataError('undo: there is no such choice of this name any more')
    appendPreference(run.found.dir, { undo: label.id, at, who: body.who })
    return label.pair
  }
  const shown = pairsOf(run).find(({ pair }) => pair === body.pair)
  if (shown === undefined) throw new DataError('pair: there is no such pair in the run any more')
  const { who: name, choice } = body
  appendPreference(run.found.dir, { id: randomUUID(), at, who: name, choice, ...labelOf(shown) })
  return undefined
}

/** @param token what must be sent in `x-gradus-token` to choose; null: nobody can */
export const addPairPaths = (
  app: Hono<DashboardEnv>,
  context: DashboardContext,
  token: string | null,
): void => {
  const opened = async (id: string) => {
    const run = await openRun(context, id)
    await run.rollouts.advance()
    return run
  }
  app.get('/api/runs/:id/pairs', async c => {
    const { who, back } = queryOf(c, shownTo)
    return c.json(pairsView(await opened(c.req.param('id')), who, back))
  })
  app.post('/api/runs/:id/pairs', async c => {
    if (!mayControl(c, token)) return c.json({ error: TOKEN_NEEDED }, 403)
    const run = await opened(c.req.param('id'))
    const body = parseWith(asked, bodyOf(c), 'body', DataError)
    const back = take(run, body)
    return c.json(pairsView(run, body.who, back))
  })
}
