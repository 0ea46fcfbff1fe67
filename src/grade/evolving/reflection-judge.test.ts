import { describe, expect, it } from 'vitest'
import { type Script, scriptedModel } from '../../chat/scripted-model.ts'
import { JudgeError } from '../../util/errors.ts'
import { ATTEMPTS } from '../judge/injections.fixture.ts'
import { isOrdered } from '../judge/obedient-judge.fixture.ts'
import { openJudge } from '../judge/open-judge.ts'
import { recentVerdicts } from '../judge/recent-verdicts.ts'
import { rollout, rubric } from './evolving.fixture.ts'
import { openStageJudge, stageJudgeSchema } from './model-judge.ts'
import { judgeReflection, REFLECTION_JUDGE, type ReflectionToJudge } from './reflection-judge.ts'
import { DEFAULT_EVOLVING } from './settings.ts'

const {
  cache,
  score: ask,
  ...CONFIG
} = stageJudgeSchema.parse({
  fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'none' }] },
})

const ASKED: ReflectionToJudge = {
  prompt: [{ role: 'user', content: 'Which city is larger?' }],
  rollout: rollout('r'),
  rubrics: [rubric('given', 4), rubric('b', 2, { sign: 'negative' }), rubric('unknown', 1)],
  judged: { scores: { given: { level: 2, justification: 'it names it' }, b: { level: null } } },
  reflection: 'Search for the second city too.',
}

const judgeBy = (script: Script) => {
  const model = scriptedModel(script)
  const judge = openJudge(
    { ...CONFIG, ask, cache },
    { model, form: REFLECTION_JUDGE, store: recentVerdicts() },
  )
  return {
    model,
    judge: (changes: Partial<ReflectionToJudge> = {}) =>
      judgeReflection(judge.grader, { ...ASKED, ...changes }),
  }
}

const answer = (scores: readonly unknown[], changes: object = {}) => ({
  verdicts: scores.map((score, i) => ({ number: i + 1, justification: 'so', score, ...changes })),
})

const marks = async (text: string) => {
  const { judge, model } = judgeBy(() => text)
  return { marks: await judge(), calls: model.calls }
}

const GOOD = { diagnosticAccuracy: 0.8, specificity: 1, scopeAndBalance: 0 }

describe('the judge of reflections', () => {
  it('sees question, trajectory, levels with their reasons, and the reflection; gives three scores in one call', async () => {
    let seen = ''
    const { judge, model } = judgeBy(({ messages }) => {
      seen = messages.map(({ content }) => content).join('\n')
      return JSON.stringify(answer([0.8, 1, 0]))
    })
    expect(await judge()).toEqual(GOOD)
    expect(model.calls).toBe(1)
    for (const text of [
      'Which city is larger?',
      'plan r',
      'research r',
      'review r',
      'answer r',
      'it names it',
    ])
      expect(seen).toContain(text)
    expect(seen).toMatch(/Stage 4, answer; a merit; level 2\n<criterion-\w+>\ngiven: Names given/)
    expect(seen).toMatch(/Stage 2, research; a flaw; no level\n/)
    // What the rollout was not scored on is no verdict.
    expect(seen).not.toContain('unknown')
    expect(seen).toMatch(/<reflection-\w+>\nSearch for the second city too\.\n<\/reflection-/)
    expect(seen).toMatch(/1\. diagnostic_accuracy: .*\n2\. specificity: .*\n3\. scope_and_balance: /)
  })

  it('is told where there are no levels', async () => {
    let seen = ''
    const { judge } = judgeBy(({ messages }) => {
      seen = messages[1].content
      return JSON.stringify(answer([0, 0, 0]))
    })
    await judge({ judged: null })
    expect(seen).toContain('The judge of the work gave no levels.')
    await judge({ judged: { scores: {} } })
    expect(seen).toContain('The judge of the work gave no levels.')
  })

  it('is asked once about the same reflection, and again about another or with other levels', async () => {
    const { judge, model } = judgeBy(() => JSON.stringify(answer([0.8, 1, 0])))
    await judge()
    await judge()
    expect(model.calls).toBe(1)
    await judge({ reflection: 'Another one.' })
    expect(model.calls).toBe(2)
    await judge({ judged: null })
    expect(model.calls).toBe(3)
  })

  it.each([
    ['in a fence', `\`\`\`json\n${JSON.stringify(answer([0.8, 1, 0]))}\n\`\`\``],
    ['behind reasoning', `<think>0.1? no</think>${JSON.stringify(answer([0.8, 1, 0]))}`],
    ['among prose', `Here it is:\n${JSON.stringify(answer([0.8, 1, 0]))}\nThat is all.`],
    ['with the ends of the scale as whole numbers', JSON.stringify(answer([0.8, 1, 0]))],
    ['written with more digits', JSON.stringify(answer([0.8, 1, 0])).replace('0.8', '0.80')],
  ])('is read %s', async (_, text) => {
    expect((await marks(text)).marks).toEqual(GOOD)
  })

  it.each([
    ['nothing', ''],
    ['prose', 'The reflection is quite useful.'],
    ['a score above 1', JSON.stringify(answer([0.8, 1.1, 0]))],
    ['one below 0', JSON.stringify(answer([0.8, -0.1, 0]))],
    ['one as text', JSON.stringify(answer([0.8, '1', 0]))],
    ['one as a truth value', JSON.stringify(answer([0.8, true, 0]))],
    ['one that is no number', JSON.stringify(answer([0.8, 1, 0])).replace('0.8', 'NaN')],
    ['two entries', JSON.stringify(answer([0.8, 1]))],
    ['four entries', JSON.stringify(answer([0.8, 1, 0, 0]))],
    ['a number that is missing', JSON.stringify(answer([0.8, 1, 0], { number: undefined }))],
    ['the numbers in another order', JSON.stringify({ verdicts: answer([0.8, 1, 0]).verdicts.toReversed() })],
    ['no justification', JSON.stringify(answer([0.8, 1, 0], { justification: '' }))],
    ['a key of another name', JSON.stringify(answer([0.8, 1, 0])).replaceAll('score', 'points')],
    ['a list alone', JSON.stringify(answer([0.8, 1, 0]).verdicts)],
    ['a list of numbers', '{"verdicts": [0.8, 1, 0]}'],
    ['one total', '{"verdicts": 0.7}'],
    ['two lists', `{"verdicts": [], "verdicts": ${JSON.stringify(answer([0.8, 1, 0]).verdicts)}}`],
    [
      'two answers that differ',
      `${JSON.stringify(answer([0.8, 1, 0]))} ${JSON.stringify(answer([0.8, 1, 1]))}`,
    ],
    ['an answer that is cut off', JSON.stringify(answer([0.8, 1, 0.25])).slice(0, -4)],
    ['reasoning without an end', `<think>${JSON.stringify(answer([0.8, 1, 0]))}`],
    [
      'a score that it copied without quoting it',
      JSON.stringify(answer([0.1, 0.1, 0.1])).replace('"so"', '"it says "score": 1.0 of itself"'),
    ],
  ])('gives no scores for %s, after asking again', async (_, text) => {
    const { marks: given, calls } = await marks(text)
    expect(given).toBeNull()
    // Asked, repaired once, and both twice more from the start.
    expect(calls).toBe(6)
  })

  it('gives no scores where it cannot tell on one of the three, and does not ask again', async () => {
    expect(await marks(JSON.stringify(answer([0.8, null, 0])))).toEqual({ marks: null, calls: 1 })
  })

  it('gives no scores where the model fails, and stops where it would fail at every call', async () => {
    const failing =
      (fatal: boolean): Script =>
      () => {
        throw new JudgeError('server', 'no', { retryable: false, fatal })
      }
    expect(await judgeBy(failing(false)).judge()).toBeNull()
    await expect(judgeBy(failing(true)).judge()).rejects.toThrow('no')
  })

  it('recovers from an answer that it is asked to give again', async () => {
    const { judge, model } = judgeBy((_, call) =>
      call === 0 ? 'Quite useful.' : JSON.stringify(answer([0.8, 1, 0])),
    )
    expect(await judge()).toEqual(GOOD)
    expect(model.calls).toBe(2)
  })

  it('is given orders only as quotations: in the trajectory, in reasons, in the reflection', async () => {
    let heard = ''
    const { judge } = judgeBy(({ messages }) => {
      heard = messages[1].content.replace(
        /<(\/?)(?:plan|research|review|answer|tool-output|own-rubric|question|reason|reflection)-/g,
        '<$1response-',
      )
      return JSON.stringify(answer([0, 0, 0]))
    })
    for (const { name, text } of ATTEMPTS) {
      const places: Record<string, Partial<ReflectionToJudge>> = {
        question: { prompt: [{ role: 'user', content: text }] },
        trajectory: { rollout: rollout('r', [text, text, text, text]) },
        reason: { judged: { scores: { given: { level: 0, justification: text } } } },
        reflection: { reflection: text },
      }
      for (const [place, changes] of Object.entries(places)) {
        await judge(changes)
        expect([name, place, isOrdered(heard)]).toEqual([name, place, false])
      }
    }
  })
})

describe('a judge of stages that judges reflections too', () => {
  it('asks the same model, remembers both, and is closed once', async () => {
    const model = scriptedModel(({ answerSchema }) =>
      JSON.stringify(
        answerSchema?.name === 'reflection_scores'
          ? answer([0.8, 1, 0])
          : { verdicts: [{ number: 1, justification: 'x', level: 2 }] },
      ),
    )
    const config = stageJudgeSchema.parse({
      fleet: { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'none' }] },
    })
    const open = openStageJudge<string>(config, {
      ...{ model, settings: DEFAULT_EVOLVING },
      prompt: question => [{ role: 'user', content: question }],
    })
    const other = open.alsoAs(REFLECTION_JUDGE, config.score)
    expect(await judgeReflection(other.grader, ASKED)).toEqual(GOOD)
    expect(await judgeReflection(other.grader, ASKED)).toEqual(GOOD)
    const scored = await open.judge.score({
      ...{ question: 'q', key: 'q', step: 1, rollout: rollout('x') },
      rubrics: [rubric('a', 1)],
    })
    expect(scored.scores?.a.level).toBe(2)
    expect([other.stats().calls, other.stats().cachedCalls, open.stats().score.calls]).toEqual([1, 1, 1])
    await open.close()
  })
})
