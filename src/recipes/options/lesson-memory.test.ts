import { describe, expect, it } from 'vitest'
import { HashedNgrams, RubricBank } from '../../memory/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { LessonMemory, lessonsOf, missedCriteria, takeawaysOf } from './lesson-memory.ts'
import { lessonMemorySchema, memory as memoryOption } from './memory.ts'

const criterion = (id: string, points: number): Criterion => ({ id, text: `does ${id}`, points })
const RUBRIC = [
  criterion('often', 1),
  criterion('half', 2),
  criterion('rare', 1),
  criterion('never', 9),
  criterion('flaw', -5),
]

/** Verdicts of four rollouts by criterion: 1 met, 0 not, null unknown. */
const verdicts = (by: Record<string, readonly (0 | 1 | null)[]>): Verdict[][] =>
  [0, 1, 2, 3].map(g =>
    Object.entries(by).map(([criterionId, met]) => ({
      criterionId,
      met: met[g] === null ? null : met[g] === 1,
      source: 'rule' as const,
    })),
  )
const GROUP = verdicts({
  often: [1, 1, 1, 0],
  half: [1, 1, 0, 0],
  rare: [1, 0, 0, 0],
  never: [0, 0, 0, 0],
  // Three of four show the flaw: it is absent in a quarter.
  flaw: [1, 1, 1, 0],
})
const DEFAULTS = { atMost: 0.5, most: 4, discerning: true }

const missed = (settings: Partial<typeof DEFAULTS> = {}, verdicts_G = GROUP) =>
  missedCriteria([{ criteria: RUBRIC, verdicts_G }], { ...DEFAULTS, ...settings }).map(
    ({ criterion: { id }, satisfied }) => [id, satisfied],
  )

describe('what a group of rollouts missed', () => {
  it('is what few satisfied and somebody did: the least satisfied first, then those worth most', () => {
    expect(missed()).toEqual([
      ['flaw', 0.25],
      ['rare', 0.25],
      ['half', 0.5],
    ])
  })

  it('has a bound on the share and on the number', () => {
    expect(missed({ atMost: 0.3 }).map(([id]) => id)).toEqual(['flaw', 'rare'])
    expect(missed({ most: 1 })).toEqual([['flaw', 0.25]])
  })

  it('is also what nobody satisfied, where that is asked for', () => {
    expect(missed({ discerning: false })[0]).toEqual(['never', 0])
  })

  it('leaves out verdicts that are missing, which are no zeros', () => {
    expect(missed({}, verdicts({ rare: [1, 0, null, null], half: [null, 0, null, null] }))).toEqual([
      ['rare', 0.5],
    ])
  })
})

const item = (takeaways: never, question = 'q') => ({
  item: { qHash: '', question, rubrics: '', takeaways, u: 1, step: 1 },
  how: 'cross' as const,
  score: 1,
})

describe('lessons of a bank', () => {
  it('come back as the criteria that they were, with what checks them', () => {
    const kept = {
      ...criterion('a', -3),
      verifier: { kind: 'rule' as const, fn: 'contains', params: { any: ['x'] } },
    }
    const takeaways = takeawaysOf([{ criterion: kept, satisfied: 0.2 }]) as never
    expect(lessonsOf({ items: [item(takeaways)] }, { most: 5 })).toEqual([{ ...kept, id: 'lesson-1' }])
  })

  it('are what another run learnt, line by line, each once, and none that cannot be shown', () => {
    const text = item('- Name the year\n- Cite a source\n- name the year' as never)
    const list = item(['Say <b>why</b>', 'Cite a source'] as never)
    const shows = ({ text: own }: Criterion) => !own.startsWith('Cite')
    const texts = lessonsOf({ items: [text, list] }, { most: 5, shows }).map(own => own.text)
    expect(texts).toHaveLength(2)
    expect(texts[0]).toBe('Name the year')
    expect(texts[1]).not.toContain('<b>')
    expect(lessonsOf({ items: [text, list] }, { most: 1 })).toHaveLength(1)
  })
})

const settings = (more: Record<string, unknown> = {}) => {
  const parsed = lessonMemorySchema.parse({ kind: 'bank', ...more })
  if (parsed.kind === 'none') throw new Error('unreachable')
  return parsed
}

/** A prompt is a 0 and a 1 for every criterion that is shown. */
const task = {
  question: (own: string) => own,
  rubric: () => ({ criteria: RUBRIC.slice(0, 2) }),
  prompt: (_: string, own: readonly Criterion[] = []) => [0, ...own.map(() => 1)],
}

const memoryWith = async (more: Record<string, unknown>, questions: readonly string[], room?: number) => {
  const bank = new RubricBank({ embedder: new HashedNgrams() })
  await bank.add(
    questions.map(question => ({ question, rubrics: '', takeaways: `lesson of ${question}`, u: 1, step: 1 })),
  )
  const options = { bank, task, seed: 1, steps: 9, file: null, room }
  return { bank, memory: new LessonMemory<string>({ ...options, settings: settings(more) }) }
}
const textsOf = (lessons: readonly (readonly Criterion[])[]) =>
  lessons.map(own => own.map(({ text }) => text))

describe('a memory of lessons', () => {
  const trips = [
    'beach weekend anna',
    'beach night anna',
    'cave winter hugo',
    'farm race olga',
    'city picnic sam',
  ]

  it('recalls the question itself, or similar ones', async () => {
    const { memory } = await memoryWith({ retrieval: 'within' }, trips)
    expect(textsOf((await memory.recall(1, [trips[2]])).lessons)).toEqual([['lesson of cave winter hugo']])
    const { memory: cross } = await memoryWith({ retrieval: 'cross', top: 1 }, trips)
    expect(textsOf((await cross.recall(1, [trips[0]])).lessons)).toEqual([['lesson of beach night anna']])
  })

  it('recalls what was there at the call, whatever is added meanwhile', async () => {
    const { memory, bank } = await memoryWith({ retrieval: 'both' }, [])
    const recalling = memory.recall(1, ['a question'])
    await bank.add([{ question: 'a question', rubrics: '', takeaways: 'late', u: 1, step: 1 }])
    expect((await recalling).lessons).toEqual([[]])
    expect(textsOf((await memory.recall(2, ['a question'])).lessons)).toEqual([['late']])
  })

  it('with placebos recalls as many items of the half that is least like the question, and others each step', async () => {
    const many = [...trips, ...Array.from({ length: 20 }, (_, i) => `word${i} thing${i}`)]
    const { memory } = await memoryWith({ retrieval: 'both', top: 2, placebo: true }, many)
    const recall = async (step: number) => (await memory.recall(step, [trips[0]])).retrievals[0].items
    const drawn = await recall(1)
    expect(drawn).toHaveLength(3)
    for (const { item: own } of drawn) expect(own.question).not.toMatch(/beach|weekend|anna/)
    expect(await recall(1)).toEqual(drawn)
    const questions = new Set<string>()
    for (let step = 1; step <= 6; step++)
      for (const { item: own } of await recall(step)) questions.add(own.question)
    expect(questions.size).toBeGreaterThan(3)
  })

  /** With these as the lesson of the question `q`. */
  const shownWith = async (lessons: readonly Criterion[], more: Record<string, unknown>, room?: number) => {
    const { memory, bank } = await memoryWith({ retrieval: 'within', ...more }, [], room)
    const takeaways = takeawaysOf(lessons.map(own => ({ criterion: own, satisfied: 0 })))
    await bank.add([{ question: 'q', rubrics: '', takeaways, u: 1, step: 1 }])
    return memory.shown(1, ['q'])
  }

  it('stands in place of the rubric, or after it', async () => {
    const textsWith = async (show: string) => {
      const { criteria } = await shownWith([criterion('a', 1), criterion('half', 1)], { show })
      return criteria('q').map(({ text }) => text)
    }
    expect(await textsWith('alone')).toEqual(['does a', 'does half'])
    // What the rubric says already is not said twice.
    expect(await textsWith('beside')).toEqual(['does often', 'does half', 'does a'])
  })

  it('leaves lessons out where a prompt has no room for them', async () => {
    const lengthIn = async (room?: number) => (await shownWith(RUBRIC, {}, room)).prompt('q', RUBRIC).length
    expect(await Promise.all([lengthIn(), lengthIn(4), lengthIn(1), lengthIn(0)])).toEqual([6, 4, 1, 1])
  })

  it('keeps one lesson a question, the newest, and nothing of a question that missed nothing', async () => {
    const { memory, bank } = await memoryWith({}, [])
    await memory.shown(1, ['q', 'r'])
    const attempt = (problem: string, by: Parameters<typeof verdicts>[0]) => ({
      problem,
      judged: [{ criteria: RUBRIC, verdicts_G: verdicts(by) }],
    })
    const metrics = await memory.learn(1, [
      attempt('q', { rare: [1, 0, 0, 0] }),
      attempt('r', { rare: [1, 1, 1, 1] }),
    ])
    expect(metrics).toMatchObject({ bankSize: 1, referred: 0, references: 0, lessonsKept: 0.5 })
    await memory.shown(2, ['q'])
    await memory.learn(2, [attempt('q', { half: [1, 0, 0, 0] })])
    expect(bank.items()).toMatchObject([{ question: 'q', step: 2, u: 0.75, takeaways: [{ id: 'half' }] }])
  })

  it('keeps nothing where the bank is a file that stays as it is', async () => {
    const { memory, bank } = await memoryWith({ attempts: null, file: 'bank.jsonl' }, ['q'])
    const judged = [{ criteria: RUBRIC, verdicts_G: GROUP }]
    await memory.shown(1, ['r'])
    await memory.learn(1, [{ problem: 'r', judged }])
    expect(bank.items().map(({ question }) => question)).toEqual(['q'])
  })
})

describe('its settings', () => {
  const fine = { scaffold: { group: { kind: 'linear' } }, rollout: { prompts: 2, samples: 8, maxTokens: 9 } }
  it.each<[string, Record<string, unknown>, object, object?]>([
    ['scaffold:', {}, { scaffold: null }],
    ['scaffold.group:', {}, { scaffold: { group: { kind: 'none' } } }],
    ['rollout.samples:', {}, { rollout: { ...fine.rollout, samples: 1 } }],
    ['memory.attempts:', { attempts: null }, {}],
    ['memory.file:', {}, {}, { unkept: 'groupJudge.kind "chat"' }],
    ['memory.show:', { show: 'beside' }, {}, { unshown: 'task "arithmetic"' }],
  ])('refuse a memory that nobody would see: %s', (message, more, beside, facts = {}) => {
    const refused = (memory: ReturnType<typeof lessonMemorySchema.parse>) => () =>
      memoryOption.refuse!({ memory, ...fine, ...beside }, facts)
    expect(refused(settings(more))).toThrow(message)
    if (!('unshown' in facts)) expect(refused({ kind: 'none' })).not.toThrow()
  })

  it('refuse a scaffold without anything to show', () => {
    const shows = (memory: object) => () =>
      memoryOption.refuse!({ memory: lessonMemorySchema.parse(memory), ...fine }, { unshown: 'task "x"' })
    expect(shows({ kind: 'none' })).toThrow('scaffold: expected nothing with task "x"')
    expect(shows({ kind: 'bank' })).not.toThrow()
  })

  it('are strict', () => {
    expect(() => lessonMemorySchema.parse({ kind: 'bank', placbo: true })).toThrow()
    expect(() => lessonMemorySchema.parse({ kind: 'none', top: 2 })).toThrow()
    expect(lessonMemorySchema.parse(undefined)).toEqual({ kind: 'none' })
  })
})
