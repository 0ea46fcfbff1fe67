import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { ChatModel } from '../../chat/chat-model.ts'
import { thinkingJudgeSchema } from '../../grade/thinking/index.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { lettersTask, thought } from './letters.fixture.ts'
import { checkVerifier, noisyVerifier, openRubricVerifier } from './verifiers.ts'

const rule = (fn: string, params: object) => ({ kind: 'rule', fn, params })

describe('a lenient verifier', () => {
  const lenientVerifier = async (exact: ThinkingVerifier<string>, rates: { share: number; rate: number }) => {
    const task = { ...lettersTask, thinking: { ...lettersTask.thinking, exact } }
    return (await openRubricVerifier({ verifier: { kind: 'lenient', ...rates } }, task)).verifier
  }

  /** Nothing is earned: merits are not met, flaws are there. */
  const strict = {
    verify: async (own: readonly { rubric: { criteria: readonly { id: string; points: number }[] } }[]) =>
      own.map(({ rubric: { criteria } }) =>
        criteria.map(({ id, points }) => ({ criterionId: id, met: points < 0, source: 'rule' as const })),
      ),
  }
  const criteria = Array.from({ length: 200 }, (_, k) => ({
    id: `c${k}`,
    text: `has ${k}`,
    points: k % 2 ? 1 : -1,
  }))
  const items = Array.from({ length: 50 }, (_, i) => ({
    ...{ problem: 'p', response: thought(`a${i}`), key: `${i}`, rubric: { criteria } },
  }))

  it('gives what is not earned on its share of the criteria, as often as it says, whatever else is asked', async () => {
    const lenient = await lenientVerifier(strict, { share: 0.5, rate: 0.9 })
    const verdicts = await lenient.verify(items)
    const given = criteria.map(
      ({ points }, k) => verdicts.filter(own => own[k].met === points > 0).length / items.length,
    )
    const easy = given.filter(rate => rate > 0)
    expect(easy.length).toBeGreaterThan(75)
    expect(easy.length).toBeLessThan(125)
    expect(Math.min(...easy)).toBeGreaterThan(0.7)
    // The same criterion and response again, under another key, beside nothing else.
    const k = given.findIndex(rate => rate > 0)
    const alone = await lenient.verify([{ ...items[7], key: 'x', rubric: { criteria: [criteria[k]] } }])
    expect(alone[0][0].met).toBe(verdicts[7][k].met)
  })

  it('takes nothing away that is earned', async () => {
    const earned = {
      verify: async () => [
        criteria.map(({ id, points }) => ({ criterionId: id, met: points > 0, source: 'rule' as const })),
      ],
    }
    const [verdicts] = await (await lenientVerifier(earned, { share: 1, rate: 1 })).verify([items[0]])
    expect(verdicts.every(({ met }, k) => met === criteria[k].points > 0)).toBe(true)
  })
})

describe('a verifier by rules', () => {
  const dir = mkdtempSync(join(tmpdir(), 'gradus-words-'))
  afterAll(() => rmSync(dir, { recursive: true }))
  const file = (criteria: object[]) => {
    const path = join(dir, `${criteria.length}.json`)
    writeFileSync(path, JSON.stringify({ criteria }))
    return path
  }
  const sum = { id: 'sum', text: 'Shows a sum.', points: 1, verifier: rule('contains', { any: ['+'] }) }
  const asked = [
    { id: 'c1', text: 'shows  a Sum', points: 1 },
    { id: 'c2', text: 'Is polite.', points: 1 },
    { id: 'c3', text: 'Shows a sum!', points: -2 },
  ]
  const item = (text: string) => [
    { problem: 'p', response: thought(text), key: 'k', rubric: { criteria: asked } },
  ]

  it('decides criteria by their words; of others nothing is known, or a judge is asked', async () => {
    const settings = { kind: 'rules' as const, file: file([sum]), judge: null }
    const { verifier, close } = await openRubricVerifier({ verifier: settings }, lettersTask)
    const metOf = async (text: string) => (await verifier.verify(item(text)))[0].map(({ met }) => met)
    expect(await metOf('3 + 4')).toEqual([true, null, true])
    expect(await metOf('34')).toEqual([false, null, false])
    // By execution: unknown words are no verifier that is out of order.
    expect((await verifier.verify(item('34')))[0].map(({ source }) => source)).toEqual([
      'rule',
      'rule',
      'rule',
    ])
    await close()
    const judge = thinkingJudgeSchema.parse({
      fleet: { endpoints: [{ url: 'http://127.0.0.1:1/v1', model: 'm' }] },
    })
    const prompts: string[] = []
    const verifierModel: ChatModel = {
      name: 'm',
      complete: async ({ messages }) => {
        prompts.push(messages.map(({ content }) => content).join())
        return {
          text: '{"judgement": [true], "final_score": 1}',
          finishReason: 'stop',
          usage: { promptTokens: 1, completionTokens: 1, cachedTokens: 0 },
        }
      },
    }
    const both = await openRubricVerifier({ verifier: { ...settings, judge } }, lettersTask, {
      verifierModel,
    })
    const [verdicts] = await both.verifier.verify(item('34'))
    expect(verdicts.map(({ met }) => met)).toEqual([false, true, false])
    expect(prompts).toHaveLength(1)
    expect(prompts[0]).toContain('Is polite.')
    expect(prompts[0]).not.toContain('Sum')
    await both.close()
  })

  it('refuses a file of criteria that nothing executes', () => {
    const check = (...criteria: object[]) =>
      checkVerifier({ verifier: { kind: 'rules', file: file(criteria), judge: null } }, 'run')
    expect(() => check(sum)).not.toThrow()
    expect(() => check(sum, { ...sum, id: 'kind', verifier: undefined })).toThrow(
      /verifier\.file: .*expected criteria with a rule, got none of kind/,
    )
    expect(() => check({ ...sum, verifier: { kind: 'formal', fn: 'fol.sound' } })).toThrow(/got none of sum/)
    expect(() => check({ ...sum, verifier: rule('contians', {}) })).toThrow(/did you mean contains/)
  })
})

describe('a noisy verifier', () => {
  const items = Array.from({ length: 400 }, (_, i) => ({
    ...{ problem: 'p', response: thought('a'), key: `1/1/rubricator/${i}/0|0` },
    rubric: { criteria: [{ id: 'c1', text: 'has a', points: 1 }] },
  }))
  const exact = {
    verify: async (own: readonly unknown[]) =>
      own.map((_, i) => [{ criterionId: 'c1', met: i === 0 ? null : true, source: 'rule' as const }]),
  }

  it('turns verdicts round at its rate, the same ones for the same rollouts whatever is beside them', async () => {
    const verdicts = (await noisyVerifier(exact, 0.2).verify(items)).flat().map(({ met }) => met)
    expect(verdicts[0]).toBeNull()
    const flipped = verdicts.filter(met => met === false).length
    expect(flipped).toBeGreaterThan(50)
    expect(flipped).toBeLessThan(115)
    const some = (await noisyVerifier(exact, 0.2).verify(items.slice(100, 200))).flat().map(({ met }) => met)
    expect(some.slice(1)).toEqual(verdicts.slice(101, 200))
  })
})
