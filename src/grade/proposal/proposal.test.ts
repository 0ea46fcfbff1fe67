import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_PROPOSAL, PROPOSAL_CATEGORIES, type ProposalSettings } from './format.ts'
import { MOST_CRITERIA, readProposal } from './proposal.ts'

/** Tens of thousands with GRADUS_FUZZ_RUNS. */
const RUNS = Number(process.env.GRADUS_FUZZ_RUNS ?? 1500)

const entry = (points: unknown = 2, changes: object = {}) => ({
  category: PROPOSAL_CATEGORIES[2],
  criterion: 'Names every step before it is taken',
  points,
  ...changes,
})

/** A rubric of six criteria: 10 points to win, 5 to lose; the middle is 2.5. */
const good = (changes: object = {}): Record<string, unknown> => ({
  question_domain: 'math/sums',
  rubrics: [1, 2, 3, 4, -2, -3].map(points => entry(points)),
  maximum_score: 10,
  minimum_score: -5,
  current_score: 2,
  ...changes,
})

const isWellFormed = (value: unknown, settings: Partial<ProposalSettings> = {}) =>
  readProposal(typeof value === 'string' ? value : JSON.stringify(value), {
    ...DEFAULT_PROPOSAL,
    ...settings,
  }).wellFormed

const criteriaOf = (count: number) => Array.from({ length: count }, () => entry(1))

describe('the format of a proposal', () => {
  it('is met by one object with its keys, bounds and sums', () => {
    const { criteria, K, wellFormed, problems } = readProposal(JSON.stringify(good()))
    expect({ K, wellFormed, problems }).toEqual({ K: 6, wellFormed: true, problems: [] })
    expect(criteria.map(({ id, points }) => [id, points])).toEqual([
      ['c1', 1],
      ['c2', 2],
      ['c3', 3],
      ['c4', 4],
      ['c5', -2],
      ['c6', -3],
    ])
    expect(criteria[0]).toMatchObject({ origin: 'self', category: PROPOSAL_CATEGORIES[2] })
  })

  it.each([
    ['in a fence', `\`\`\`json\n${JSON.stringify(good(), null, 2)}\n\`\`\``],
    ['with white space around', `\n ${JSON.stringify(good())}\n\n`],
    ['with further keys', JSON.stringify(good({ note: 'x', rubrics: good().rubrics }))],
    ['with 3.0 for 3', JSON.stringify(good()).replace('"points":3', '"points":3.0')],
    ["with the paper's names of categories", JSON.stringify(good()).replaceAll('and flow', '& Flow')],
  ])('is met %s', (_, text) => {
    expect(isWellFormed(text)).toBe(true)
  })

  it.each([
    // As the paper's prompt (Fig. 9) has them, and where its sample (Fig. 11) spells one otherwise.
    'Effectiveness of Problem Decomposition & Planning',
    'Effectiveness of BackTracking / Self-Validation / Error Handling',
    'Effectiveness of BackTracking, Self-Validation & Error Handling',
    'Reasoning Clarity & Flow',
    'Reasoning Focus & Efficiency',
    'Other Question-Specific Aspects',
  ])("is met with the paper's category %s", category => {
    const { rubrics } = good()
    const own = (rubrics as object[]).map(each => ({ ...each, category }))
    expect(isWellFormed(good({ rubrics: own }))).toBe(true)
  })

  it.each<[string, unknown]>([
    ['words before it', `Here it is: ${JSON.stringify(good())}`],
    ['words after it', `${JSON.stringify(good())} Done.`],
    ['a fence of another language', `\`\`\`js\n${JSON.stringify(good())}\n\`\`\``],
    ['a fence that never ends', `\`\`\`json\n${JSON.stringify(good())}`],
    ['two objects', `${JSON.stringify(good())}${JSON.stringify(good())}`],
    ['a comment', JSON.stringify(good()).replace('{', '{ // mine\n')],
    ['a list', [good()]],
    ['no criteria', good({ rubrics: undefined })],
    ['4 criteria', good({ rubrics: criteriaOf(4), maximum_score: 4, minimum_score: 0, current_score: 1 })],
    ['16 criteria', good({ rubrics: criteriaOf(16), maximum_score: 16, minimum_score: 0 })],
    ['a strange category', good({ rubrics: [entry(5, { category: 'style' }), ...criteriaOf(5)] })],
    ['no category', good({ rubrics: [entry(5, { category: undefined }), ...criteriaOf(5)] })],
    ['an empty criterion', good({ rubrics: [entry(5, { criterion: ' ' }), ...criteriaOf(5)] })],
    ['a wrong maximum', good({ maximum_score: 9 })],
    ['a maximum as text', good({ maximum_score: '10' })],
    ['no maximum', good({ maximum_score: undefined })],
    ['a wrong minimum', good({ minimum_score: 0 })],
    ['no current score', good({ current_score: undefined })],
    ['a current score at the middle', good({ current_score: 2.5 })],
    ['a current score as text', good({ current_score: '1' })],
    ['a current score of null', good({ current_score: null })],
  ])('is broken by %s', (_, value) => {
    expect(isWellFormed(value)).toBe(false)
  })

  it.each([0, 6, -6, 1.5, '2', true, null])('is broken by points %j', points => {
    const rubrics = [entry(points), ...criteriaOf(5)]
    const maximum = 5 + (typeof points === 'number' ? Math.max(0, points) : 0)
    const minimum = typeof points === 'number' ? Math.min(0, points) : 0
    expect(isWellFormed(good({ rubrics, maximum_score: maximum, minimum_score: minimum }))).toBe(false)
  })

  it.each([5, 15])('takes %d criteria', count => {
    const value = good({
      rubrics: criteriaOf(count),
      maximum_score: count,
      minimum_score: 0,
      current_score: 0,
    })
    expect(isWellFormed(value)).toBe(true)
  })

  it('holds for a rubric of penalties alone', () => {
    const rubrics = [-1, -2, -3, -4, -5].map(points => entry(points))
    const all = { rubrics, maximum_score: 0, minimum_score: -15 }
    expect(isWellFormed(good({ ...all, current_score: -8 }))).toBe(true)
    expect(isWellFormed(good({ ...all, current_score: -7.5 }))).toBe(false)
  })

  it('has its settings', () => {
    expect(isWellFormed(good({ current_score: undefined }), { requireCurrentScore: false })).toBe(true)
    expect(isWellFormed(good({ current_score: 3 }), { requireCurrentScore: false })).toBe(false)
    expect(isWellFormed(good({ question_domain: undefined }))).toBe(true)
    expect(isWellFormed(good({ question_domain: undefined }), { requireDomain: true })).toBe(false)
    expect(isWellFormed(good(), { requireDomain: true, categories: ['Reasoning clarity & flow'] })).toBe(true)
    expect(isWellFormed(good(), { categories: ['style'] })).toBe(false)
  })
})

describe('reading a proposal', () => {
  /** The paper's own sample (Fig. 9): a comma is missing, and there is a comment. */
  const sample = `{ "rubrics": [{ "category": "Reasoning Clarity & Flow" "criterion": "XXX", "points": 5 },
    { "category": "Reasoning Focus & Efficiency", "criterion": "YYY", "points": -2 } // ... additional criteria
  ], "maximum_score": 5 }`

  it.each<[string, string, number[]]>([
    ['a missing comma and a comment', sample, [5, -2]],
    [
      'a fence with text around it',
      `Sure!\n\`\`\`json\n${JSON.stringify(good())}\n\`\`\`\nHope it helps.`,
      [],
    ],
    ['doubled braces', JSON.stringify(good()).replaceAll('{', '{{').replaceAll('}', '}}'), []],
    ['a trailing comma', JSON.stringify(good()).replace(/\}$/, ',}'), []],
    ['an inner quote', JSON.stringify(good()).replace('every step', 'every "step"'), []],
    ['reasoning before it', `<think>{"rubrics": []}</think>${JSON.stringify(good())}`, []],
    ['the list alone', JSON.stringify(good().rubrics), []],
    ['another name for the list', JSON.stringify({ criteria: good().rubrics }), []],
  ])('takes %s', (_, text, points) => {
    const { criteria, wellFormed } = readProposal(text)
    expect(criteria.map(own => own.points)).toEqual(points.length > 0 ? points : [1, 2, 3, 4, -2, -3])
    expect(wellFormed).toBe(false)
  })

  it('counts what was written and leaves out what cannot be used', () => {
    const rubrics = [
      entry('3'),
      entry(0),
      entry(Number.MAX_VALUE),
      'words',
      null,
      entry(1, { criterion: '' }),
      { text: 'by another name', points: -1.5 },
      entry('two'),
      entry(1, { criterion: 'x'.repeat(3000) }),
    ]
    const { criteria, K, wellFormed } = readProposal(JSON.stringify({ rubrics }))
    expect(criteria.map(({ id, points }) => [id, points])).toEqual([
      ['c1', 3],
      ['c7', -1.5],
    ])
    expect({ K, wellFormed }).toEqual({ K: 9, wellFormed: false })
  })

  it('uses no more criteria than it may, and counts them all', () => {
    const { criteria, K } = readProposal(JSON.stringify({ rubrics: criteriaOf(500) }))
    expect([criteria.length, K]).toEqual([MOST_CRITERIA, 500])
  })

  it.each(['', '{}', '[]', 'null', '"rubrics"', '{"rubrics": {}}', '{"rubrics": "none"}', 'no JSON at all'])(
    'finds nothing in %j, and says so',
    text => {
      const { criteria, K, wellFormed, problems } = readProposal(text)
      expect({ criteria, K, wellFormed }).toEqual({ criteria: [], K: 0, wellFormed: false })
      expect(problems.length).toBeGreaterThan(0)
    },
  )

  it('does not read a text that is too long', () => {
    expect(readProposal(`${JSON.stringify(good())}${' '.repeat(100_000)}`)).toMatchObject({ K: 0 })
  })
})

/** The rules of the format a second time, from words alone: a list of tests over what JSON.parse gives. */
const independent = (text: string): boolean => {
  const spelt = text.trim()
  const fenced = spelt.match(/^```json[^\S\n]*\n/)
  const body = fenced && spelt.endsWith('```') ? spelt.slice(fenced[0].length, spelt.length - 3) : spelt
  let object: { [key: string]: unknown; rubrics?: unknown }
  try {
    object = JSON.parse(body)
  } catch {
    return false
  }
  if (Object.prototype.toString.call(object) !== '[object Object]' || !Array.isArray(object.rubrics))
    return false
  const list = object.rubrics as { category?: unknown; criterion?: unknown; points?: unknown }[]
  if (list.length < 5 || list.length > 15) return false
  let up = 0
  let down = 0
  for (const item of list) {
    if (Object.prototype.toString.call(item) !== '[object Object]') return false
    if (![-5, -4, -3, -2, -1, 1, 2, 3, 4, 5].some(allowed => allowed === item.points)) return false
    if (typeof item.criterion !== 'string' || !/\S/.test(item.criterion)) return false
    const words = typeof item.category === 'string' ? item.category.toLowerCase().match(/[a-z]+|&/g) : null
    const name = (words ?? []).map(word => (word === '&' ? 'and' : word)).join(' ')
    const names = [
      'problem decomposition and planning',
      'backtracking self validation and error handling',
      'reasoning clarity and flow',
      'reasoning focus and efficiency',
      'other question specific aspects',
    ]
    if (!names.some(own => own === name || `effectiveness of ${own}` === name)) return false
    if ((item.points as number) > 0) up += item.points as number
    else down += item.points as number
  }
  if (object.maximum_score !== up || object.minimum_score !== down) return false
  return typeof object.current_score === 'number' && 2 * object.current_score < up + down
}

const points = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 1, max: 5 }) },
  { weight: 6, arbitrary: fc.integer({ min: -5, max: -1 }) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>(0, 6, -6, 2.5, '3', null, true, 1e308) },
)
const anyCategory = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom<unknown>(...PROPOSAL_CATEGORIES) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(
      'Effectiveness of Problem Decomposition & Planning',
      'Effectiveness of BackTracking / Self-Validation & Error Handling',
      'REASONING CLARITY & FLOW',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<unknown>('style', '', null, 7, 'effectiveness of') },
)
const anyEntry = fc.oneof(
  {
    weight: 40,
    arbitrary: fc.record({
      category: anyCategory,
      criterion: fc.string({ minLength: 1, maxLength: 12 }),
      points,
    }),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
)

/** Rubrics that are often right, each with a few ways to be wrong. */
const anyRubric = fc
  .record({
    rubrics: fc.array(anyEntry, { minLength: 3, maxLength: 17 }),
    off: fc.constantFrom(0, 0, 0, 0, 0, 1, -1),
    below: fc.constantFrom(0.5, 1, 2, 2, 2, 0, -1),
    drop: fc.constantFrom('', '', '', '', '', 'maximum_score', 'minimum_score', 'current_score', 'rubrics'),
  })
  .map(({ rubrics, off, below, drop }) => {
    const worth = rubrics.map(each => Number((each as { points?: unknown } | null)?.points) || 0)
    const up = worth.filter(own => own > 0).reduce((a, b) => a + b, 0)
    const down = worth.filter(own => own < 0).reduce((a, b) => a + b, 0)
    const whole: Record<string, unknown> = {
      rubrics,
      maximum_score: up + off,
      minimum_score: down,
      current_score: (up + down) / 2 - below,
    }
    delete whole[drop]
    return whole
  })
const wrapped = fc
  .tuple(
    anyRubric,
    fc.constantFrom('%', '%', '%', '```json\n%\n```', '```json%```', '```\n%\n```', ' % ', 'x %', '% x'),
  )
  .map(([value, frame]) => frame.replace('%', () => JSON.stringify(value)))
/** Pieces that such texts are made of, in any order, and texts of that kind with a part cut out. */
const broken = fc.oneof(
  fc
    .array(
      fc
        .constantFrom(
          '{',
          '}',
          '[',
          ']',
          '"',
          '\\',
          ',',
          ':',
          '//',
          '/*',
          '```json\n',
          '```',
          '<think>',
          '</think>',
        )
        .chain(piece =>
          fc.tuple(
            fc.constant(piece),
            fc.constantFrom(
              '',
              '"rubrics":',
              '"points":3',
              '"criterion":"a"',
              'null',
              '1e999',
              '\u0000',
              '\ud800',
            ),
          ),
        ),
      { maxLength: 60 },
    )
    .map(pieces => pieces.flat().join('')),
  fc
    .tuple(wrapped, fc.nat(400), fc.nat(40))
    .map(([text, from, length]) => text.slice(0, from) + text.slice(from + length)),
  fc.string({ maxLength: 200, unit: 'binary' }),
)

describe('any text', () => {
  it('is read without a throw, and judged as an independent reading of the rules judges it', () => {
    let wellFormed = 0
    fc.assert(
      fc.property(fc.oneof({ weight: 3, arbitrary: wrapped }, { weight: 1, arbitrary: broken }), text => {
        const read = readProposal(text)
        expect(read.wellFormed).toBe(independent(text))
        expect(read.wellFormed).toBe(read.problems.length === 0)
        expect(read.criteria.length).toBeLessThanOrEqual(read.K)
        for (const { points: worth, text: statement } of read.criteria) {
          expect(Number.isFinite(worth) && worth !== 0).toBe(true)
          expect(statement).not.toBe('')
        }
        if (read.wellFormed) expect(read.criteria.length).toBe(read.K)
        wellFormed += Number(read.wellFormed)
      }),
      { numRuns: RUNS, seed: 12 },
    )
    // Both sides of the rules were met.
    expect(wellFormed).toBeGreaterThan(RUNS / 50)
  })

  it('costs no more the worse it is', () => {
    const unit = [
      '{',
      '[',
      '{"a":',
      '"',
      '\\"',
      '```json\n{',
      '/*',
      '{"rubrics":[',
      '{"criterion":"a" "points":1}',
    ]
    for (const piece of unit) {
      const startMs = performance.now()
      readProposal(piece.repeat(Math.floor(99_000 / piece.length)))
      // Some tens of milliseconds; what grew with the square would take minutes.
      expect(performance.now() - startMs).toBeLessThan(10_000)
    }
  })
})
