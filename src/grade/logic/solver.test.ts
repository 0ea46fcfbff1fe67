import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readJsonl } from '../../util/jsonl.ts'
import { Rng } from '../../util/rng.ts'
import { sharedData } from '../../util/shared-data.fixture.ts'
import { workerUrl } from '../../util/worker-url.ts'
import { logicSentences, parseSentence } from './english.ts'
import type { Formula } from './formula.ts'
import { GroundProcess } from './ground-process.ts'
import { parseFormula } from './parse.ts'
import { readResults } from './smt.ts'
import { LogicSolver, type SolverOptions, STEP_CREDIT, type StepQuery } from './solver.ts'
import { SolverError, SolverProcess, SolverTimeout } from './solver-process.ts'

const parse = (text: string) => parseFormula(text).formula
const all = (...texts: string[]) => texts.map(parse)

// Only endless models: Z3 searches until its time is up.
const ENDLESS = all('∀x ∃y R(x, y)', '∀x ¬R(x, x)', '∀x ∀y ∀z ((R(x, y) ∧ R(y, z)) → R(x, z))')

describe('LogicSolver', () => {
  let solver: LogicSolver
  beforeAll(async () => {
    solver = await LogicSolver.start({ backend: 'z3' })
  })
  afterAll(() => solver.close())

  it('tells apart the outcomes of a step, over many problems at once', async () => {
    const first = all('∀x (P(x) → Q(x))', 'P(a)')
    const second = all('P(a)', '¬P(a)')
    const statuses = await solver.checkSteps([
      { premises: first, formula: parse('Q(a)') },
      { premises: second, formula: parse('Q(a)') },
      { premises: first, formula: parse('¬Q(a)') },
      { premises: first, formula: parse('Q(b)') },
      { premises: first, formula: null },
      { premises: first, formula: parse('P(a)') },
      { premises: second, formula: parse('P(a)') },
    ])
    expect(statuses).toEqual([
      'entailed',
      'inconsistent-premises',
      'contradicted',
      'consistent',
      'unparsed',
      'entailed',
      'inconsistent-premises',
    ])
    expect(statuses.map(status => STEP_CREDIT[status])).toEqual([1, null, 0, 0.5, 0, 1, null])
  })

  it('decides with equations, alternating quantifiers and propositions', async () => {
    const label = async (premises: string[], conclusion: string) =>
      (await solver.decide(all(...premises), parse(conclusion))).label
    expect(await label(['a = b', 'P(a)'], 'P(b)')).toBe('True')
    expect(await label(['∀x ∃y L(x, y)', '∀x ∀y (L(x, y) → H(x))'], 'H(s)')).toBe('True')
    expect(await label(['p ∨ q', '¬p'], 'q')).toBe('True')
    expect(await label(['∃x ∀y R(x, y)'], '∀y ∃x R(x, y)')).toBe('True')
    expect(await label(['∀y ∃x R(x, y)'], '∃x ∀y R(x, y)')).toBe('Unknown')
    // Names are not taken to be different things unless asked.
    expect(await label(['P(a)'], '¬(a = b)')).toBe('Unknown')
  })

  it('gives .3 to what it cannot settle in time', async () => {
    const startedMs = performance.now()
    const [status] = await solver.checkSteps([{ premises: ENDLESS, formula: parse('S(a)') }])
    expect(status).toBe('unknown')
    expect(STEP_CREDIT[status]).toBe(0.3)
    expect(performance.now() - startedMs).toBeLessThan(5000)
    expect((await solver.decide(ENDLESS, parse('S(a)'), 200)).reason).toMatch(/undecided within 200 ms/)
  })

  it('remembers verdicts by premises and formula', async () => {
    const premises = () => all('∀x (U(x) → V(x))', 'U(a)')
    await solver.checkSteps([{ premises: premises(), formula: parse('V(a)') }])
    const before = solver.stats()
    await solver.checkSteps([{ premises: premises(), formula: parse('~~V(a)') }])
    expect(solver.stats().remembered).toBe(before.remembered + 1)
    expect(solver.stats().scripts).toBe(before.scripts)
  })

  it('serves overlapping calls one after the other', async () => {
    const calls = Array.from({ length: 20 }, (_, i) =>
      solver.checkSteps([{ premises: all(`W(a${i})`), formula: parse(`W(a${i}) ∨ p`) }]),
    )
    for (const [status] of await Promise.all(calls)) expect(status).toBe('entailed')
  })

  it('takes names of any kind', async () => {
    const premises = all('∀x (Świątek(x) → Tennis(x))', 'Świątek(iga)', 'true_(sat)')
    const [status] = await solver.checkSteps([{ premises, formula: parse('Tennis(iga)') }])
    expect(status).toBe('entailed')
  })

  it('a variable that hides another of its name is a variable of its own', async () => {
    const premises = all('∀x R(x, x)', '∃x R(x, a)')
    const texts = ['∃x ∀y R(x, y)', '∃x ∃x ∀y R(x, y)', '∀x ∃x ∃x ∀z ∃y R(z, y)', '∀y ∃y ∃y ∀z R(y, z)']
    const statuses = await solver.checkSteps(texts.map(text => ({ premises, formula: parse(text) })))
    expect(statuses[2]).toBe('entailed')
    for (const at of [0, 1, 3]) expect(['consistent', 'unknown']).toContain(statuses[at])
  })

  it('a name that looks like a quantifier is no quantifier', async () => {
    const formulas = all('∀x P(a)', '∃x P(a)').map(formula => ({ premises: [formula] }))
    const names = all('forall.P(a)', 'exists.P(a)')
    const asked = formulas.map((each, index) => ({ ...each, formula: names[index] }))
    expect(await solver.checkSteps(asked)).toEqual(['consistent', 'consistent'])
  })

  it('reproduces the labels of the real ProntoQA rows', async ctx => {
    const path = sharedData('prontoqa/dev.jsonl')
    if (!path) return ctx.skip('the public data is not here')
    const rows = readJsonl<{ context: string; question: string; answer: string }>(path)
    const statuses = await solver.checkSteps(
      rows.map(row => ({
        premises: logicSentences(row.context).map(parseSentence),
        formula: parseSentence(row.question.slice(row.question.lastIndexOf('? ') + 2)),
      })),
    )
    expect(statuses).toEqual(rows.map(row => (row.answer === 'A' ? 'entailed' : 'contradicted')))
  })
})

describe('a solver that fails', () => {
  afterEach(() => vi.restoreAllMocks())

  const solverWhoseRuns = (...runs: (() => Promise<string>)[]) => {
    const scripts = [...runs]
    const last = runs[runs.length - 1]
    const fake = { restarts: 0, solverMs: 0, run: () => (scripts.shift() ?? last)(), close: async () => {} }
    vi.spyOn(SolverProcess, 'start').mockResolvedValue(fake as unknown as SolverProcess)
    return LogicSolver.start({ backend: 'z3' })
  }
  const crash = () => Promise.reject(new SolverError('the Z3 worker stopped with exit code 1'))
  const hang = () => Promise.reject(new SolverTimeout('Z3 gave no answer'))
  const step = { premises: all('P(a)'), formula: parse('Q(a)') }

  it('gives no credit after a crash, and asks again next time', async () => {
    const solver = await solverWhoseRuns(crash, crash, async () => '@0\nsat\nunsat\nsat\n')
    const [status] = await solver.checkSteps([step])
    expect(status).toBe('failed')
    expect(STEP_CREDIT[status]).toBeNull()
    expect(solver.stats()).toMatchObject({ errors: 1, timeouts: 0 })
    expect(await solver.checkSteps([step])).toEqual(['entailed'])
  })

  it('a question that hangs it by itself is a time-out, one in company gets a second chance', async () => {
    const other = { premises: ENDLESS, formula: parse('S(a)') }
    const alone = await solverWhoseRuns(hang)
    expect(await alone.checkSteps([other])).toEqual(['unknown'])
    expect(alone.stats()).toMatchObject({ errors: 0, timeouts: 1 })
    const both = await solverWhoseRuns(hang, async () => '@0\nsat\nunsat\nsat\n', hang)
    expect(await both.checkSteps([step, other])).toEqual(['entailed', 'unknown'])
  })

  it('a question that Z3 has no time for is decided by the ground solver where it can', async () => {
    const hurried = await solverWhoseRuns(async () => '@0\nunknown\nunknown\nunknown\n', hang, hang)
    expect(await hurried.checkSteps([step])).toEqual(['consistent'])
    expect(hurried.stats()).toMatchObject({ errors: 0, timeouts: 1 })
    const rule = { premises: all('∀x (P(x) → Q(x))', 'P(a)'), formula: parse('Q(a)') }
    expect(await hurried.checkSteps([rule])).toEqual(['entailed'])
    const faulty = { premises: all('P(a)', '¬P(a)'), formula: parse('Q(a)') }
    expect(await hurried.checkSteps([faulty])).toEqual(['inconsistent-premises'])
  })

  it('of the built-in kind says nothing either, and is asked again', async () => {
    const solver = await LogicSolver.start({ backend: 'ground' })
    const answers = vi.spyOn(GroundProcess.prototype, 'statuses')
    answers.mockResolvedValueOnce(['consistent', 'failed'])
    expect(await solver.checkSteps([step])).toEqual(['failed'])
    answers.mockResolvedValueOnce(['failed', 'consistent'])
    expect(await solver.checkSteps([{ ...step, formula: parse('R(a)') }])).toEqual(['failed'])
    expect(solver.stats().errors).toBe(2)
    expect(await solver.checkSteps([step])).toEqual(['consistent'])
    await solver.close()
  })

  it('premises restated get no credit while their consistency is not known', async () => {
    const solver = await solverWhoseRuns(crash)
    expect(await solver.checkSteps([{ premises: step.premises, formula: step.premises[0] }])).toEqual([
      'failed',
    ])
  })

  it('has no label to give', async () => {
    const solver = await solverWhoseRuns(crash)
    expect(await solver.decide(step.premises, step.formula)).toEqual({
      label: null,
      reason: 'the solver failed',
    })
  })
})

describe('settings of the solver', () => {
  const names = [{ premises: all('a = b ∨ P(a)'), formula: parse('P(a)') }]

  it('names are different things only where that is said', async () => {
    for (const [uniqueNames, status] of [
      [undefined, 'consistent'],
      [false, 'consistent'],
      [true, 'entailed'],
    ] as const) {
      const solver = await LogicSolver.start({ backend: 'z3', uniqueNames })
      expect(await solver.checkSteps(names)).toEqual([status])
      await solver.close()
    }
  })

  it('time for steps and for labels is what was set', async () => {
    const solver = await LogicSolver.start({ backend: 'z3', timeoutMs: 20, labelTimeoutMs: 30 })
    expect(await solver.checkSteps([{ premises: ENDLESS, formula: parse('S(a)') }])).toEqual(['unknown'])
    expect((await solver.decide(ENDLESS, parse('S(a)'))).reason).toBe('undecided within 30 ms')
    await solver.close()
  })

  it.each([
    [{ timeoutMs: 0 }, /^solver: timeoutMs: expected a number of at least 1, got 0/],
    [{ labelTimeoutMs: 1.5 }, /^solver: labelTimeoutMs: expected an integer/],
    [{ memory: -1 }, /^solver: memory: expected a number of at least 0, got -1/],
    [{ memory: Number.NaN }, /^solver: memory: expected/],
    [{ uniqueNames: 'yes' }, /^solver: uniqueNames: expected a boolean, got "yes"/],
    [{ timeout: 5 }, /^solver: timeout: .*unknown key; did you mean timeoutMs/],
  ])('%o is refused by name', async (settings, message) => {
    const started = LogicSolver.start({ backend: 'ground', ...settings } as SolverOptions)
    await expect(started).rejects.toThrow(message)
  })
})

describe('the ground backend', () => {
  it('answers without Z3 and says unknown outside its fragment', async () => {
    const solver = await LogicSolver.start({ backend: 'ground' })
    const statuses = await solver.checkSteps([
      { premises: all('P(a)'), formula: parse('P(a) ∨ Q(a)') },
      { premises: all('P(a)', '¬P(a)'), formula: parse('Q(a)') },
      { premises: ENDLESS, formula: parse('S(a)') },
    ])
    expect(statuses).toEqual(['entailed', 'inconsistent-premises', 'unknown'])
    expect(solver.stats().backend).toBe('ground')
    await solver.close()
  })
})

describe.each(['z3', 'ground'] as const)('the memory of verdicts, solver %s', backend => {
  const THEORIES = [
    ['∀x (P(x) → Q(x))', 'P(a)'],
    ['P(a)', '¬P(a)'],
    ['P(a) ∨ Q(b)', '¬Q(b)'],
    ['∀x (Q(x) → ¬P(x))', 'Q(b)'],
    ['Q(a)', '∀x (Q(x) → P(x))', '¬P(a)'],
    ['P(b)'],
  ]
  const QUESTIONS = ['P(a)', '¬P(a)', 'Q(a)', 'Q(b)', '¬P(b)', 'P(a) ∨ ¬P(a)', '∀x (P(x) → Q(x))'].map(parse)

  /** Batches of questions, some on arrays of premises seen before, some on equal ones made anew. */
  const batches = (count: number): StepQuery[][] => {
    const rng = new Rng(`batches ${backend}`)
    const kept = THEORIES.map(texts => all(...texts))
    return Array.from({ length: count }, () =>
      Array.from({ length: 1 + rng.int(30) }, () => {
        const theory = rng.int(THEORIES.length)
        const premises: Formula[] = rng.int(2) === 0 ? kept[theory] : all(...THEORIES[theory])
        const formula = rng.int(12) === 0 ? null : rng.pick([...QUESTIONS, ...premises])
        return { premises, formula }
      }),
    )
  }

  it.each([0, 1, 3, 40])('of %i entries gives the verdicts of one without a bound', async memory => {
    const tiny = await LogicSolver.start({ backend, memory })
    const unbounded = await LogicSolver.start({ backend, memory: Number.MAX_SAFE_INTEGER })
    for (const batch of batches(25)) {
      const wanted = await unbounded.checkSteps(batch)
      expect(wanted).not.toContain('failed')
      expect(await tiny.checkSteps(batch)).toEqual(wanted)
    }
    await Promise.all([tiny.close(), unbounded.close()])
  })

  it('that forgets does not take contradicting premises for consistent ones', async () => {
    const solver = await LogicSolver.start({ backend, memory: 2 })
    const faulty = { premises: all('P(a)', '¬P(a)'), formula: parse('P(a)') }
    const others = ['R(a)', 'R(b)', 'R(c)'].map(text => ({ premises: all(text), formula: parse('Q(a)') }))
    expect(await solver.checkSteps([faulty])).toEqual(['inconsistent-premises'])
    expect(await solver.checkSteps([faulty, ...others])).toEqual([
      'inconsistent-premises',
      ...others.map(() => 'consistent'),
    ])
    await solver.close()
  })

  it('keeps what was used last, and loses nothing to what it knew already', async () => {
    const solver = await LogicSolver.start({ backend, memory: 4 })
    const [first, second, third] = ['R(a)', 'R(b)', 'R(c)'].map(text => ({
      premises: all(text),
      formula: parse('Q(a)'),
    }))
    // Two entries each: the premises' consistency and the question's verdict.
    const solved = async (query: StepQuery) => {
      const before = solver.stats().solved
      await solver.checkSteps([query])
      return solver.stats().solved - before
    }
    expect([await solved(first), await solved(second), await solved(first)]).toEqual([1, 1, 0])
    expect(await solved(third)).toBe(1)
    expect(await solved(first)).toBe(0)
    expect(await solved(second)).toBe(1)
    await solver.close()
  })
})

describe('readResults', () => {
  const problems = [
    { premises: [], queries: [parse('p')] },
    { premises: [], queries: [] },
  ]

  it('takes an error anywhere in a part as failure of that part', () => {
    expect(readResults('@0\nsat\nsat\nunsat\n@1\nsat\n', problems)).toEqual([
      ['sat', 'sat', 'unsat'],
      ['sat'],
    ])
    const broken = '@0\n(error "line 1 column 2: unknown constant")\nsat\nsat\nunsat\n@1\nsat\n'
    expect(readResults(broken, problems)).toEqual([null, ['sat']])
  })

  it('takes a wrong number of results, or an error before the first part, as failure', () => {
    expect(readResults('@0\nsat\nsat\n@1\nsat\n', problems)).toEqual([null, ['sat']])
    expect(readResults('(error "x")\n@0\nsat\nsat\nsat\n@1\nsat\n', problems)).toEqual([null, null])
    expect(readResults('', problems)).toEqual([null, null])
  })
})

describe('SolverProcess', () => {
  it('replaces a worker that does not come back', async () => {
    const process = await SolverProcess.start()
    const script = '(declare-const p Bool)(assert p)(check-sat)'
    await expect(process.run(script.repeat(2000), 0)).rejects.toThrow(/no answer within/)
    expect(await process.run(script, 5000)).toBe('sat\n')
    expect(process.restarts).toBe(1)
    await process.close()
    await expect(process.run(script, 5000)).rejects.toThrow(/closed/)
  })

  it.each(['await solver.close()', ''])('lets the process exit (%s)', ending => {
    const module = fileURLToPath(workerUrl(import.meta.url, './solver.js'))
    const code = `const { LogicSolver } = await import(${JSON.stringify(module)});
      const solver = await LogicSolver.start({ backend: 'z3' });
      console.log(await solver.checkSteps([{ premises: [], formula: { kind: 'true' } }]));
      ${ending}`
    const result = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      timeout: 20_000,
      encoding: 'utf8',
    })
    expect(result.stderr).toBe('')
    expect(result.stdout).toContain('entailed')
    expect(result.status).toBe(0)
  })
})
