import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askOf, askSchema } from '../judge/ask-config.ts'
import { rollout, rubric } from './evolving.fixture.ts'
import { completion, NO_ANSWERS, NO_PROPOSALS, NO_VERDICTS, type Sending } from './hostile-answers.fixture.ts'
import { type Asked, HttpStageJudge } from './http-stage-judge.fixture.ts'
import { openStageJudge, stageJudgeSchema } from './model-judge.ts'
import { judgeReflection, REFLECTION_JUDGE } from './reflection-judge.ts'
import { DEFAULT_EVOLVING } from './settings.ts'

const KEY = 'sk-live-0123456789abcdef'
const KEY_ENV = 'GRADUS_TEST_HOSTILE_JUDGE_KEY'

let sending: (response: Parameters<Sending>[0], asked: Asked, key: string) => void
let server: HttpStageJudge
beforeAll(async () => {
  process.env[KEY_ENV] = KEY
  server = await HttpStageJudge.start({
    raw: ({ asked, headers }, response) => {
      sending(response, asked, headers.authorization ?? '')
      return true
    },
  })
})
afterAll(async () => {
  delete process.env[KEY_ENV]
  await server.close()
})

const RUBRICS = [rubric('b', 4, { sign: 'negative' }), rubric('a', 1)]
const asked = { question: 'Which city is larger?', key: 'q', step: 1 }

/** Asks for all three things. */
const askAll = async (attemptTimeoutMs = 300_000) => {
  const warnings: string[] = []
  const endpoint = { url: server.url, model: 'm', apiKeyEnv: KEY_ENV, attemptTimeoutMs }
  const fleet = {
    ...{ endpoints: [endpoint], retries: 1, backoffMs: 1, longestRetryAfterMs: 5 },
    breaker: { pauseMs: 1, longestPauseMs: 1 },
  }
  const open = openStageJudge<string>(stageJudgeSchema.parse({ fleet }), {
    settings: DEFAULT_EVOLVING,
    prompt: content => [{ role: 'user', content }],
    onWarning: message => warnings.push(message),
  })
  const reflections = open.alsoAs(REFLECTION_JUDGE, askOf(askSchema.parse({}), 'stages', false))
  try {
    const levels = await open.judge.score({ ...asked, rollout: rollout('x'), rubrics: RUBRICS })
    const proposals = await open.judge.propose({ ...asked, rollouts: [rollout('x')], existing: RUBRICS })
    const toJudge = { rubrics: RUBRICS, judged: null, reflection: 'Look twice.' }
    const prompt = [{ role: 'user' as const, content: asked.question }]
    const marks = await judgeReflection(reflections.grader, { prompt, rollout: rollout('x'), ...toJudge })
    const { generate, score } = open.stats()
    return { levels, proposals, marks, warnings, stats: [score, generate, reflections.stats()] }
  } finally {
    await open.close()
  }
}

describe('a hostile judge over HTTP', () => {
  it.each(Object.entries(NO_ANSWERS))(
    'that sends %s: nothing is known, said shortly, counted',
    async (_, send) => {
      sending = send
      const { levels, proposals, marks, stats } = await askAll()
      expect([levels.scores, proposals.drafts, marks]).toEqual([null, null, null])
      for (const { problem } of [levels, proposals]) {
        expect(problem).toMatch(/^judge failed \((?:malformed|unreachable|rate-limit|server|refused)\): http/)
        expect(problem!.length).toBeLessThan(600)
      }
      for (const { calls, failedCalls } of stats) expect([calls, failedCalls]).toEqual([1, 1])
    },
  )

  it('that never answers is given up at its deadline', async () => {
    sending = () => {}
    const { levels, proposals, marks } = await askAll(50)
    expect([levels.scores, proposals.drafts, marks]).toEqual([null, null, null])
    expect(levels.problem).toMatch(/\(timeout\).*no complete answer within \d+ ms/)
  })

  it.each(Object.entries(NO_VERDICTS))('that answers with %s gives no level and no mark', async (_, text) => {
    sending = (response, what) => response.end(completion(text(what === 'levels' ? 2 : 3, what)))
    const { levels, marks, stats } = await askAll()
    expect([levels.scores, marks]).toEqual([null, null])
    expect(levels.problem!.length).toBeLessThan(300)
    const [score, , reflect] = stats
    for (const { unusableCalls } of [score, reflect]) expect(unusableCalls).toBe(1)
  })

  it.each(Object.entries(NO_PROPOSALS))('that answers with %s proposes nothing', async (_, text) => {
    sending = response => response.end(completion(text))
    const { proposals, stats } = await askAll()
    expect(proposals.drafts).toBeNull()
    expect(stats[1].unusableCalls).toBe(1)
  })

  it('that is endless in what can be used is cut, and shows nobody the key', async () => {
    const endless = 'y'.repeat(900_000)
    sending = (response, what, key) => {
      const entry = (number: number) => ({
        ...{ number, justification: number === 1 ? `${key} ${endless}` : 'so' },
        ...(what === 'levels' ? { level: 2 } : { score: 0.5 }),
      })
      const verdicts = what === 'levels' ? [1, 2].map(entry) : [1, 2, 3].map(entry)
      const proposal = { stage: 1, sign: 'positive', title: key, description: 'Names it', weight: 1 }
      const answer = what === 'proposals' ? { proposals: [proposal] } : { verdicts }
      response.end(completion(JSON.stringify(answer), { model: endless }))
    }
    const { levels, proposals, marks } = await askAll()
    expect(levels.scores).toMatchObject({ a: { level: 2 }, b: { level: 2, justification: 'so' } })
    expect(levels.scores?.a.justification).toMatch(
      /^Bearer \[key\] y+ \[\.\.\. \d+ characters are left out here\]$/,
    )
    expect(levels.scores?.a.justification?.length).toBeLessThan(4100)
    expect(marks).toEqual({ diagnosticAccuracy: 0.5, specificity: 0.5, scopeAndBalance: 0.5 })
    expect(JSON.stringify(proposals)).not.toContain(KEY)
    expect(proposals.drafts).toMatchObject([{ title: 'Bearer [key]' }])
  })
})
