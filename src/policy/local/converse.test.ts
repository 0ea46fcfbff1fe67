import { describe, expect, it } from 'vitest'
import type { ConverseRequest, NextTurn, Sample, SampleRequest, TurnReply } from '../policy.ts'
import type { Engine } from './engine.ts'
import { tinyEngine } from './tiny-model.fixture.ts'

/** Two prompts, one of them the longer, with so many rows each. */
const PROMPTS = [
  [1, 2, 3, 4, 5],
  [6, 7],
]
const OPTIONS = { temperature: 1, stopTokens: [3, 9] }
const LIMITS = { turns: 4, tokens: 40 }
const MOST = 9

interface Spoken {
  tokens: number[]
  logprobs: number[]
  turns: number
}

/** What is said to a turn: of different lengths, by what was drawn. */
const saidTo = (turn: ArrayLike<number>): number[] =>
  Array.from({ length: 1 + (turn[0] % 4) }, (_, i) => (turn[0] + i) % 17)

const isOver = ({ turns, tokens }: Spoken) =>
  turns === LIMITS.turns || tokens.length > LIMITS.tokens - MOST - 4

const streamOf = (row: number, turn: number) => `row ${row}, turn ${turn}`

/** All rows, each turn by a call of `sample` with everything that was said before. */
const roundByRound = async (engine: Engine, prompts: readonly number[][]): Promise<Spoken[]> => {
  const rows = prompts.map((): Spoken => ({ tokens: [], logprobs: [], turns: 0 }))
  let waiting = rows.map((_, row) => row)
  while (waiting.length > 0) {
    const request: SampleRequest = {
      ...OPTIONS,
      prompts: waiting.map(row => [...prompts[row], ...rows[row].tokens]),
      maxTokens: MOST,
      promptSeeds: waiting.map(row => streamOf(row, rows[row].turns)),
    }
    const drawn = await engine.sample(request)
    waiting = waiting.filter((row, i) => hear(rows[row], drawn[i]) !== null)
  }
  return rows
}

const hear = (row: Spoken, { tokens, logprobs }: Pick<Sample, 'tokens' | 'logprobs'>): number[] | null => {
  row.tokens.push(...tokens)
  row.logprobs.push(...logprobs)
  row.turns++
  if (isOver(row)) return null
  const said = saidTo(tokens)
  row.tokens.push(...said)
  return said
}

interface Heard {
  instant?: boolean
  /** Milliseconds that a reply takes. */
  paceMs?: (row: number, turn: number) => number
  onTurn?: (row: number, turn: number) => void
}

const conversing = async (
  engine: Pick<Engine, 'converse'>,
  prompts: readonly number[][],
  { instant = true, paceMs = () => 0, onTurn }: Heard = {},
): Promise<Spoken[]> => {
  const rows = prompts.map((): Spoken => ({ tokens: [], logprobs: [], turns: 0 }))
  const request: ConverseRequest = {
    ...OPTIONS,
    instant,
    rows: prompts.map((prompt, row) => ({ prompt, maxTokens: MOST, stream: `${streamOf(row, 0)}/0` })),
  }
  const reply: TurnReply = async (row, turn): Promise<NextTurn | null> => {
    onTurn?.(row, rows[row].turns)
    await new Promise(resolve => setTimeout(resolve, paceMs(row, rows[row].turns)))
    const tokens = hear(rows[row], turn)
    return tokens && { tokens, maxTokens: MOST, stream: `${streamOf(row, rows[row].turns)}/0` }
  }
  await engine.converse(request, reply)
  return rows
}

/** So many rows of each prompt, beside each other. */
const grouped = (each: number) => PROMPTS.flatMap(prompt => Array.from({ length: each }, () => prompt))
/** As many, every one another. */
const ragged = (count: number) =>
  Array.from({ length: count }, (_, i) => Array.from({ length: 1 + (i % 7) }, (_, t) => (i + t) % 17))

const spoken = (rows: readonly Spoken[]) => rows.map(({ tokens, turns }) => ({ tokens, turns }))

describe('rows of several turns in one call', { timeout: 240_000 }, () => {
  it.each([
    ['in groups that share a prompt', grouped(8), {}],
    ['with prompts of their own', ragged(13), {}],
    ['with slow replies, in parts', grouped(24), { instant: false }],
    ['more than are decoded together', grouped(8), { maxRows: 3 }],
  ])('say what a call for each turn says, with its log-probs: %s', async (_, prompts, options) => {
    const naive = await roundByRound(tinyEngine(), prompts)
    expect(naive.some(({ turns }) => turns === LIMITS.turns)).toBe(true)
    const { maxRows, instant } = options as { maxRows?: number; instant?: boolean }
    const engine = tinyEngine({}, { ...(maxRows && { maxRows }) })
    const rows = await conversing(engine, prompts, { instant })
    expect(spoken(rows)).toEqual(spoken(naive))
    rows.forEach(({ logprobs }, row) => {
      for (const [t, logprob] of logprobs.entries()) {
        expect(Math.abs(logprob - naive[row].logprobs[t])).toBeLessThan(1e-4)
      }
    })
  })

  it.each([true, false])('have the same bits however long replies take (instant: %s)', async instant => {
    const prompts = grouped(24)
    const quick = await conversing(tinyEngine(), prompts, { instant })
    const slow = await conversing(tinyEngine(), prompts, {
      instant,
      paceMs: (row, turn) => ((row * 7 + turn * 3) % 5) * 4,
    })
    expect(slow).toEqual(quick)
  })

  it('compute each prompt once and each token once: nothing anew in later turns', async () => {
    const prompts = grouped(8)
    const engine = tinyEngine()
    const rows = await conversing(engine, prompts)
    const work = await engine.samplingWork()
    expect(work.promptTokens).toBe(PROMPTS.flat().length)
    // Of every row all tokens but the last go through the network.
    const tokens = rows.reduce((sum, row) => sum + row.tokens.length - 1, 0)
    expect(work.tokens).toBe(tokens)
    // Neither turns that end nor rows that are over leave many places idle.
    expect(work.places).toBeLessThan(1.35 * tokens)
    const naive = tinyEngine()
    await roundByRound(naive, prompts)
    expect((await naive.samplingWork()).promptTokens).toBeGreaterThan(8 * work.promptTokens)
  })

  it('a slow reply holds up its own part alone', async () => {
    const order: string[] = []
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const rows = ragged(48).map(prompt => ({ prompt, maxTokens: MOST, stream: String(prompt) }))
    const turns = rows.map(() => 0)
    let over = 0
    const request: ConverseRequest = { ...OPTIONS, rows, instant: false }
    await tinyEngine().converse(request, async row => {
      if (row === 0) {
        await held
        order.push('slow')
        return null
      }
      if (++turns[row] < 3) return { tokens: [5], maxTokens: MOST, stream: `${row}/${turns[row]}` }
      // Rows of the other parts have all had all of their turns.
      if (++over === 32) {
        order.push('others')
        release()
      }
      return null
    })
    expect(order).toEqual(['others', 'slow'])
  })

  it('refuse what cannot be: no room, no such token, nothing said, and what a reply throws', async () => {
    const saying = (next: NextTurn | null) =>
      tinyEngine().converse(
        { ...OPTIONS, instant: true, rows: [{ prompt: [1], maxTokens: 4, stream: 'a' }] },
        async () => next,
      )
    const next = { maxTokens: 4, stream: 'b' }
    await expect(saying({ ...next, tokens: [] })).rejects.toThrow(/expected something said to its turn/)
    await expect(saying({ ...next, tokens: [99] })).rejects.toThrow(/token 99 is outside the vocabulary/)
    await expect(saying({ ...next, tokens: [1], maxTokens: 90 })).rejects.toThrow(/exceed the context of 64/)
    const engine = tinyEngine()
    const broken = conversing(engine, grouped(8), {
      onTurn: (row, turn) => {
        if (row === 5 && turn === 1) throw new Error('the tool is gone')
      },
    })
    await expect(broken).rejects.toThrow('the tool is gone')
    expect(await conversing(engine, grouped(2))).toHaveLength(4)
    await engine.converse({ ...OPTIONS, instant: true, rows: [] }, async () => null)
  })
})
