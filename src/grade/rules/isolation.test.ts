import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import type { Criterion } from '../../rubric/criterion.ts'
import { workerUrl } from '../../util/worker-url.ts'
import type { GradeItem } from '../grader.ts'
import { RuleAllowance } from './allowance.ts'
import { RULES, RuleGrader, type RuleSettings, validateRules } from './index.ts'

const rule = (id: string, fn: string, params: Record<string, unknown> = {}): Criterion => ({
  id,
  text: id,
  points: 1,
  verifier: { kind: 'rule', fn, params },
})
const item = (response: string): GradeItem => ({ prompt: [], response })

/** Grades while it watches that timers go on; returns the verdicts and how many ticks there were. */
const graded = async (settings: Partial<RuleSettings>, response: string, criteria: readonly Criterion[]) => {
  const grader = new RuleGrader(settings)
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  try {
    return { verdicts: await grader.grade(item(response), criteria), ticks, grader }
  } finally {
    clearInterval(timer)
  }
}

/** Checks every entry twice, whose entries so too: two to the power of the levels for a value as deep. */
const exponential = (levels: number): Record<string, unknown> => {
  const $defs: Record<string, unknown> = { [`d${levels}`]: { type: 'string' } }
  for (let level = 0; level < levels; level++) {
    const next = { items: { $ref: `#/$defs/d${level + 1}` } }
    $defs[`d${level}`] = { allOf: [next, next] }
  }
  return { $defs, $ref: '#/$defs/d0' }
}
const deep = `${'['.repeat(60)}"word"${']'.repeat(60)}`

const hangs = rule('hangs', 'json_schema', { schema: exponential(60) })
const quick = rule('quick', 'contains', { any: ['word'] })

describe('a rule that does not come to an end', () => {
  it('has no verdict; the others keep theirs, before it and after it', async () => {
    const criteria = [quick, hangs, rule('length', 'length', { max: 3 })]
    const { verdicts, ticks, grader } = await graded({ budgetMs: 400, threads: 1 }, deep, criteria)
    expect(verdicts.map(({ criterionId, met }) => [criterionId, met])).toEqual([
      ['quick', true],
      ['hangs', null],
      ['length', true],
    ])
    expect(verdicts[1].explanation).toMatch(/^stopped: .* after 600 ms \(budgetMs\)$/)
    expect(ticks).toBeGreaterThan(5)
    expect(grader.stats()).toMatchObject({ timeouts: 1, crashes: 0 })
  })

  it('has no verdict when it fills its memory', async () => {
    const criteria = [rule('short', 'starts_with', { any: ['a'] }), rule('words', 'length', { min: 1 })]
    const settings = { heapMb: 64, maxResponseChars: 100_000_000, budgetMs: 60_000 }
    const { verdicts, grader } = await graded(settings, 'a '.repeat(12_000_000), criteria)
    expect(verdicts[1]).toMatchObject({
      met: null,
      explanation: expect.stringMatching(/worker stopped: .*memory/),
    })
    expect(grader.stats().crashes).toBeGreaterThan(0)
  })

  it('is given up after two of its kind', async () => {
    const criteria = [hangs, rule('two', 'json_schema', { schema: exponential(61) }), quick]
    const { verdicts } = await graded({ budgetMs: 400 }, deep, criteria)
    expect(verdicts.map(({ met }) => met)).toEqual([null, null, null])
    expect(verdicts[2].explanation).toMatch(/not checked/)
  })
})

it('idle workers do not keep a process alive', () => {
  const url = workerUrl(import.meta.url, './index.js').href
  const code = `import(${JSON.stringify(url)}).then(({ RuleGrader }) => new RuleGrader().start())`
  const { status, signal } = spawnSync(process.execPath, ['-e', code], { timeout: 60_000 })
  expect({ status, signal }).toEqual({ status: 0, signal: null })
}, 90_000)

it('workers can be started before there is anything to do', async () => {
  const grader = new RuleGrader({ heapMb: 300 })
  expect(grader.stats().threads).toBe(0)
  await grader.start()
  expect(grader.stats()).toMatchObject({ threads: 1, running: 0, waiting: 0 })
})

describe('an allowance that many responses share', () => {
  // Patterns of its own for each test: workers remember those that took too long.
  const slowRules = (end: string) =>
    Array.from({ length: 4 }, (_, index) =>
      rule(`p${index}`, 'regex', { pattern: `^(a|aa)+$${end}{${index + 1}}` }),
    )

  it('ends what waits when it is used up, and nobody else', async () => {
    const grader = new RuleGrader({ budgetMs: 5_000, threads: 1 })
    const allowance = new RuleAllowance(300, 'limits.rulesMs')
    const slow = slowRules('c')
    const responses = Array.from({ length: 12 }, (_, index) => 'a'.repeat(3_000 + index))
    const others = grader.grade(item('a word'), [quick])
    const verdicts = await Promise.all(responses.map(text => grader.grade(item(text), slow, { allowance })))
    const last = verdicts.at(-1)!
    expect(last.map(({ met }) => met)).toEqual([null, null, null, null])
    expect(last[0].explanation).toBe('not checked: the rules of this request took 300 ms (limits.rulesMs)')
    expect((await others)[0].met).toBe(true)
    expect((await grader.grade(item('a word'), [quick]))[0].met).toBe(true)
  })

  it('may fail the grading in place of leaving nulls', async () => {
    const grader = new RuleGrader({ budgetMs: 5_000, threads: 1 })
    const allowance = new RuleAllowance(300, 'limits.rulesMs', 'error')
    const slow = slowRules('d')
    const texts = Array.from({ length: 12 }, (_, index) => 'a'.repeat(3_000 + index))
    const all = Promise.all(texts.map(text => grader.grade(item(text), slow, { allowance })))
    await expect(all).rejects.toThrow('the rules of this request took 300 ms (limits.rulesMs)')
  })

  it('pays for looking at the rules as well', async () => {
    const grader = new RuleGrader()
    const allowance = new RuleAllowance(1e-6, 'limits.rulesMs', 'error')
    await grader.check({ criteria: [rule('new', 'contains', { any: ['never seen before'] })] }, 'rubric', {
      allowance,
    })
    expect(allowance.signal.aborted).toBe(true)
    await expect(grader.grade(item('a word'), [quick], { allowance })).rejects.toThrow('limits.rulesMs')
  })

  it('is no matter to rules that are quick', async () => {
    const grader = new RuleGrader()
    const allowance = new RuleAllowance(60_000, 'limits.rulesMs')
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => grader.grade(item('a word'), [quick], { allowance })),
    )
    expect(verdicts.flat().every(({ met }) => met)).toBe(true)
    expect(allowance.signal.aborted).toBe(false)
  })
})

describe('rules that take long together', () => {
  it('stop at the budget: the rest has no verdict', async () => {
    const patterns = Array.from({ length: 40 }, (_, index) =>
      rule(`p${index}`, 'regex', { pattern: `^(a|aa)+$b{${index + 1}}` }),
    )
    const { verdicts, ticks } = await graded({ budgetMs: 600 }, 'a'.repeat(5_000), patterns)
    expect(verdicts.map(({ met }) => met)).toEqual(Array(40).fill(null))
    expect(verdicts.at(-1)!.explanation).toBe('not checked: the rules before it took 600 ms (budgetMs)')
    expect(ticks).toBeGreaterThan(5)
  })
})

describe('a response that is too long', () => {
  it('has no verdicts, and says why', async () => {
    const { verdicts } = await graded({ maxResponseChars: 10 }, 'word and word', [quick])
    expect(verdicts).toEqual([
      {
        criterionId: 'quick',
        met: null,
        explanation: 'the response has 13 characters, more than the 10 that are checked (maxResponseChars)',
        source: 'rule',
      },
    ])
  })
})

describe('a schema', () => {
  const load = (schema: object) => () => validateRules({ criteria: [rule('s', 'json_schema', { schema })] })

  it.each([
    ['at the top', { $async: true, type: 'string' }],
    ['in a property', { properties: { a: { $async: true } } }],
    ['in $defs', { $defs: { a: { $async: true, type: 'string' } }, $ref: '#/$defs/a' }],
    ['in allOf, written otherwise', { allOf: [{ $async: 1 }] }],
    ['under a property with the name of a keyword', { properties: { default: { $async: true } } }],
  ])('that answers later is refused: $async %s', (_, schema) => {
    expect(load(schema)).toThrow(/\$async: such a schema has its result later.*leave \$async out/)
  })

  it.each([
    ['at once', { $ref: '#' }],
    [
      'by way of others',
      {
        $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
        $ref: '#/$defs/a',
      },
    ],
  ])('that leads back to itself %s is refused', (_, schema) => {
    expect(load(schema)).toThrow(/lead back to where they started/)
  })

  it('may lead back to itself by way of the value', () => {
    expect(load({ type: 'array', items: { $ref: '#' } })).not.toThrow()
    expect(load({ properties: { not: { $ref: '#' } } })).not.toThrow()
  })

  it('of a great many parts is refused before anyone compiles it', () => {
    const patternProperties = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, index) => [`^a${index}(b|c)+$`, { type: 'string' }]),
    )
    expect(load({ patternProperties })).toThrow(/more than 1000 parts/)
    let deep: object = { type: 'string' }
    for (let level = 0; level < 500; level++) deep = { allOf: [deep] }
    expect(load(deep)).toThrow(/deeper than 100 levels/)
  })
})

describe('a rubric from anybody', () => {
  it('is looked at in a worker, with the place of each mistake', async () => {
    const criteria = [quick, rule('bad', 'json_schema', { schema: { $async: true } }), rule('none', 'lenght')]
    const check = new RuleGrader().check({ criteria }, 'items[0].rubric')
    await expect(check).rejects.toThrow(
      /items\[0\]\.rubric: criteria\[1\] "bad": verifier: params: .*\$async/,
    )
    await expect(check).rejects.toThrow(/criteria\[2\] "none": verifier: fn: .*did you mean length/)
    await new RuleGrader().check({ criteria: [quick, { id: 'judged', text: 'x', points: 1 }] })
    await expect(new RuleGrader().grade(item('a'), criteria)).rejects.toThrow(/rubric: criteria\[1\] "bad"/)
  })
})

describe('what a rule looks at', () => {
  it('is what it says it uses, so that nothing else is sent to its worker', () => {
    const params: Record<string, object> = {
      tags: { tags: ['a'] },
      sections: { headings: ['a'] },
      headings: { min: 1 },
      list: { min: 1 },
      code_block: { min: 1 },
      length: { min: 1 },
      repetition: { maxTimes: 1 },
      contains: { any: ['a'] },
      mention_order: { terms: ['a', 'b'] },
      mention_count: { terms: ['a'], min: 1 },
      starts_with: { any: ['a'] },
      ends_with: { any: ['a'] },
      regex: { pattern: 'a' },
      json_schema: {},
      citations: {},
      citations_resolve: {},
      quotes_verbatim: { prompt: true },
      keyword_overlap: { from: 'prompt' },
      echo: {},
      likelihood: { min: -2 },
      exact_answer: {},
      math_equal: {},
      instruction: { id: 'punctuation:no_comma' },
      language: { language: 'en' },
      coin: { seed: 's' },
    }
    expect(Object.keys(params).sort()).toEqual([...RULES.keys()].sort())
    for (const [fn, { uses, compile }] of RULES) {
      const seen = new Set<string>()
      const watched = new Proxy(item('a "b c d e" [1]'), {
        get(target, key) {
          seen.add(String(key))
          return Reflect.get(target, key)
        },
      })
      compile(params[fn], fn)(watched)
      const beyond = [...seen].filter(key => key !== 'response' && key !== 'reference')
      expect(
        beyond.filter(key => !(uses as readonly string[]).includes(key)),
        fn,
      ).toEqual([])
    }
  })

  it('reaches the worker', async () => {
    const criteria = [
      rule('overlap', 'keyword_overlap', { from: 'prompt' }),
      rule('sources', 'citations_resolve', { from: 'given' }),
      rule('exact', 'exact_answer'),
    ]
    const full: GradeItem = {
      prompt: [{ role: 'user', content: 'Which river flows through Paris?' }],
      response: 'Paris river flows [1].\nAnswer: Seine',
      reference: 'Seine',
      metadata: { sources: ['a text'], callback: undefined },
    }
    const verdicts = await new RuleGrader().grade(full, criteria)
    expect(verdicts.map(({ met }) => met)).toEqual([true, true, true])
  })
})

it('an aborted call ends at once', async () => {
  const abort = new AbortController()
  const grading = new RuleGrader({ budgetMs: 600_000 }).grade(item(deep), [hangs], {
    signal: abort.signal,
  })
  setTimeout(() => abort.abort(new Error('enough')), 50)
  await expect(grading).rejects.toThrow('enough')
}, 20_000)
