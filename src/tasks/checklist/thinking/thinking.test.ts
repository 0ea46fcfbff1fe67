import { describe, expect, it } from 'vitest'
import { createTokenizer } from '../../../model/tokenizer.ts'
import { mean, pearson } from '../../../util/statistics.ts'
import { scored } from '../../scored-response.ts'
import { partThinking } from '../../thinking.ts'
import {
  CHECKLIST_VOCABULARY,
  hintsOf,
  leftThings,
  meetsThought,
  natureOf,
  ORACLE_IDS,
  PackingWorld,
  plannedThings,
  readStatements,
  readThoughtful,
  splitTrips,
  statementVerdicts,
  THINKING_BANK,
  THOUGHT_BANK,
  THOUGHT_VOCABULARY,
  type Trip,
  thinkingPackingTask,
  thoughtDemonstration,
  thoughtfulText,
  thoughtListTokens,
  thoughtText,
  thoughtToken,
  thoughtTokenizer,
  thoughtVerifier,
  tripName,
  wordToken,
} from '../index.ts'
import { COMPANIONS, OCCASIONS, TOPICS } from '../vocabulary.ts'

const world = new PackingWorld()
const task = scored(thinkingPackingTask(world))
const demonstrations = Array.from({ length: 1500 }, (_, i) => thoughtDemonstration(world, i, 'test', 0))
const responses = demonstrations.map(({ trip, responseTokens }) => ({
  problem: trip,
  tokens: Int32Array.from(responseTokens),
  response: readThoughtful(responseTokens),
}))

/** Thinking that knows all the hidden rules of a trip. */
const perfectThought = (trip: Trip): string => {
  const { needed, wanted } = world.topics[trip.topic]
  const [topic, occasion, companion] = [
    TOPICS[trip.topic],
    OCCASIONS[trip.occasion],
    COMPANIONS[trip.companion],
  ]
  return [
    `${companion} needs ${world.companions[trip.companion]}`,
    `${topic} needs ${needed.join(' ')}`,
    `${topic} wants ${wanted.join(' ')}`,
    `leave ${world.avoided(trip)}`,
    `${occasion} means ${world.occasions[trip.occasion].band}`,
    `first ${world.order(trip).join(' then ')}`,
  ].join(' ')
}

const trip: Trip = { topic: 0, occasion: 0, companion: 0 }
const bank = new Map(THOUGHT_BANK.map(criterion => [criterion.id, criterion]))
const meets = (id: string, thinking: string, answer = '', of = trip) =>
  meetsThought(world, of, { thinking, answer }, [bank.get(id)!])[0]

describe('the words of thinking', () => {
  it('come after those of the lists, whose tokens stay what they were', () => {
    expect(CHECKLIST_VOCABULARY).toHaveLength(122)
    expect(THOUGHT_VOCABULARY.slice(0, 122)).toEqual(CHECKLIST_VOCABULARY)
    expect(new Set(THOUGHT_VOCABULARY).size).toBe(THOUGHT_VOCABULARY.length)
    expect(thoughtToken('tent')).toBe(wordToken('tent'))
    expect(thoughtToken('<think>')).toBe(122)
    expect(() => thoughtToken('zebra')).toThrow('no word of the packing lists: zebra')
  })

  it('are what the tokenizer of such a model reads and writes', () => {
    const files = thoughtTokenizer(96)
    const tokenizer = createTokenizer(
      JSON.parse(files['tokenizer.json']),
      JSON.parse(files['tokenizer_config.json']),
    )
    const { responseTokens } = demonstrations[0]
    const text = thoughtfulText(responseTokens)
    expect(tokenizer.encode(text)).toEqual(responseTokens.slice(0, -1))
  })
})

describe('statements', () => {
  it('are read as they were written', () => {
    for (const { statements, responseTokens } of demonstrations) {
      const { thinking } = readThoughtful(responseTokens)
      expect(thinking).toBe(thoughtText(statements))
      const without = (own: typeof statements) => own.map(({ kind, items, band }) => ({ kind, items, band }))
      expect(without(readStatements(thinking))).toEqual(without(statements))
    }
  })

  it('are found in any text, and what is none is passed over', () => {
    expect(
      readStatements('tent zebra needs <think> anna wants tent and mug leave beach kettle means some'),
    ).toEqual([
      { kind: 'needs', items: [] },
      { kind: 'wants', subject: 'anna', items: ['tent', 'mug'] },
      { kind: 'leave', items: [] },
      { kind: 'means', subject: 'beach', items: [], band: 'some' },
    ])
    expect(readStatements('')).toEqual([])
    expect(readStatements('few many means means few many')).toEqual([
      { kind: 'means', items: [] },
      { kind: 'means', items: [], band: 'few' },
    ])
  })

  it('say what is planned and what is left', () => {
    const thought = readStatements(
      'anna needs compass beach wants mug tent leave mug perhaps map first tent then rope',
    )
    expect(plannedThings(thought)).toEqual(['compass', 'mug', 'tent', 'rope'])
    expect(leftThings(thought)).toEqual(['mug'])
  })

  it('part from the list at the end of thinking', () => {
    const tokens = thoughtListTokens([{ kind: 'hmm', items: [] }], ['tent', 'mug'])
    expect(readThoughtful(tokens)).toEqual({
      text: '<think> hmm </think> tent mug',
      thinking: 'hmm',
      answer: 'tent mug',
      closed: true,
    })
    expect(readThoughtful(tokens.slice(0, 2))).toMatchObject({ thinking: 'hmm', answer: '', closed: false })
  })
})

describe('demonstrations', () => {
  it('are never about trips to test on, and depend on seed and index alone', () => {
    const tests = new Set(splitTrips().test.map(tripName))
    expect(demonstrations.some(({ trip: own }) => tests.has(tripName(own)))).toBe(false)
    expect(thoughtDemonstration(world, 7, 'test', 0)).toEqual(demonstrations[7])
  })

  it('have lists as good as their thinking: what is known is worth its points', async () => {
    const grades = await task.grade(responses)
    const oracle = ORACLE_IDS.map(id => bank.get(id)!)
    const thinking = responses.map(({ problem, response }) =>
      mean(meetsThought(world, problem, response, oracle).map(Number)),
    )
    const lists = grades.map(({ score }) => score!)
    expect(pearson(thinking, lists)!).toBeGreaterThan(0.4)
    expect(mean(lists)).toBeGreaterThan(0.35)
    expect(mean(lists)).toBeLessThan(0.6)
  })

  it('think about hints without knowing anything of the trip', () => {
    const hinted = Array.from({ length: 300 }, (_, i) => thoughtDemonstration(world, i, 'hinted', 1))
    for (const { hints, statements } of hinted) {
      const said = new Set(hints.flatMap(({ items }) => items))
      expect([...plannedThings(statements), ...leftThings(statements)].every(item => said.has(item))).toBe(
        true,
      )
    }
  })
})

describe('predicates', () => {
  it('of the oracle hold for perfect thinking about every trip, and for none of another trip’s', () => {
    const oracle = ORACLE_IDS.map(id => bank.get(id)!)
    expect(oracle).toHaveLength(7)
    const trips = splitTrips().test.slice(0, 100)
    for (const own of trips) {
      const thinking = perfectThought(own)
      expect(meetsThought(world, own, { thinking, answer: '' }, oracle).every(Boolean), tripName(own)).toBe(
        true,
      )
    }
    const other = { topic: 3, occasion: 1, companion: 8 }
    expect(meetsThought(world, trip, { thinking: perfectThought(other), answer: '' }, oracle)).toContain(
      false,
    )
  })

  it('hold of empty thinking only where they ask for the lack of something', () => {
    const holding = THOUGHT_BANK.filter(
      criterion => meetsThought(world, trip, { thinking: '', answer: '' }, [criterion])[0],
    )
    expect(holding.map(({ id }) => id)).toEqual([
      'no-repeat',
      'no-contradiction',
      'decided',
      'even',
      'short-8',
    ])
  })

  it.each([
    ['says-order', 'first tent then mug', true],
    ['says-order', 'first tent', false],
    ['says-number', 'night means many', true],
    ['right-number', `${OCCASIONS[0]} means few`, true],
    ['right-number', `${OCCASIONS[0]} means few night means many`, false],
    ['no-repeat', 'leave map leave map', false],
    ['no-repeat', 'leave map leave tent', true],
    ['repeats', 'leave map leave map', true],
    ['no-contradiction', 'beach wants map leave map', false],
    ['decided', 'perhaps map', false],
    ['hedges', 'hmm', true],
    ['plans-3', 'beach wants map tent mug', true],
    ['plans-3', 'beach wants map tent perhaps mug', false],
    ['special-1', 'perhaps anvil', true],
    ['common-2', 'beach wants map map', false],
    ['speaks-companion', `${COMPANIONS[0]} needs map`, true],
    ['speaks-companion', `${COMPANIONS[1]} needs map`, false],
    ['names-map', 'leave map', true],
    ['even', 'leave map', true],
    ['alphabetical', 'beach wants map tent', true],
    ['alphabetical', 'beach wants tent map', false],
    ['alphabetical', 'beach wants tent', false],
    ['short-8', 'a b c d e f g h i', false],
    ['few-strays', 'anna needs anvil', true],
    ['no-strays', '', false],
  ] as const)('%s of "%s": %s', (id, thinking, expected) => {
    expect(meets(id, thinking)).toBe(expected)
  })

  it('tell what is about the list from what is about thinking', () => {
    expect(meets('planned-is-packed', 'beach wants map', 'tent map')).toBe(true)
    expect(meets('planned-is-packed', 'beach wants map', 'tent')).toBe(false)
    expect(bank.get('planned-is-packed')!.tags).toEqual(['outcome-proxy'])
    expect(THINKING_BANK.some(criterion => natureOf(criterion) === 'outcome')).toBe(false)
    expect(new Set(THOUGHT_BANK.map(({ text }) => text)).size).toBe(THOUGHT_BANK.length)
  })

  it('are refused where they are none', () => {
    const verifier = thoughtVerifier(world)
    const item = { problem: trip, response: partThinking('hmm</think>tent') }
    const verify = (criterion: object) =>
      verifier.verify([{ ...item, rubric: { criteria: [{ id: 'c', text: 'c', points: 1, ...criterion }] } }])
    expect(() => meetsThought(world, trip, item.response, [{ id: 'c', text: 'c', points: 1 }])).toThrow(
      'expected a verifier packing_thought, got none',
    )
    return expect(
      verify({ verifier: { kind: 'rule', fn: 'packing_thought', params: { is: 'toString' } } }),
    ).rejects.toThrow('params.is: expected one of companion-need')
  })
})

describe('statements as steps', () => {
  it('are right or wrong, one by one', () => {
    const known = world.topics[0]
    const companion = COMPANIONS[0]
    const thinking = `${companion} needs ${world.companions[0]} ${TOPICS[0]} needs ${known.needed[0]} ${TOPICS[0]} wants tent anvil hmm leave ${world.avoided(trip)}`
    expect(statementVerdicts(world, trip, thinking)).toEqual([true, true, false, false, true])
    expect(statementVerdicts(world, trip, perfectThought(trip))).not.toContain(false)
    expect(statementVerdicts(world, trip, '')).toEqual([])
  })
})

describe('the task', () => {
  it('scores lists alone, and nothing where thinking never ends', async () => {
    const { needed } = world.topics[0]
    const list = `${needed.join(' ')} ${world.companions[0]}`
    const grade = async (text: string) => {
      const words = text
        .replace(/<.?think>/g, ' $& ')
        .split(' ')
        .filter(Boolean)
      return (await task.grade([{ problem: trip, tokens: Int32Array.from(words, thoughtToken) }]))[0]
    }
    const [bare, thought] = [await grade(`</think>${list}`), await grade(`<think>hmm hmm</think>${list}`)]
    expect(bare.score).toBeGreaterThan(0)
    expect(thought.score).toBe(bare.score)
    expect(bare.wellFormed).toBe(true)
    expect(await grade(`<think> ${list}`)).toMatchObject({ score: 0, wellFormed: false })
    expect((await grade('<think></think>')).score).toBe(0)
    expect((await grade('<think></think>tent hmm')).wellFormed).toBe(false)
  })

  it('shows criteria about lists in the prompt, and passes over those about thinking', () => {
    const { criteria } = world.rubric(trip)
    expect(task.prompt(trip, [...criteria, ...THINKING_BANK])).toEqual(task.prompt(trip, criteria))
    expect(task.prompt(trip, criteria).length).toBeGreaterThan(task.prompt(trip).length)
    expect(hintsOf(criteria).length).toBeGreaterThan(8)
  })
})
