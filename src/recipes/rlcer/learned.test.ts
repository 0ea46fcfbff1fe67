import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { type ArithmeticProblem, arithmeticProblem, arithmeticTask } from '../../tasks/arithmetic/index.ts'
import { partThinking, type VerifierItem } from '../../tasks/thinking.ts'
import { learnedVerifierSchema } from '../learned-verifier/config.ts'
import { LearnedVerifier } from '../learned-verifier/grader.ts'
import { runLearnedVerifier } from '../learned-verifier/run.ts'
import { judgedText } from '../sft/roles.ts'
import { agreementMetrics, type Compared } from './metrics.ts'
import { learnedThinkingVerifier } from './verifiers.ts'

const task = arithmeticTask()
const criterion = (text: string, points = 1): Criterion => ({ id: text, text, points })

const itemOf = (index: number, thinking: string, criteria: Criterion[]): VerifierItem<ArithmeticProblem> => ({
  problem: arithmeticProblem('learned', index),
  response: partThinking(`${thinking}\n</think>\nanswer 3`),
  rubric: { criteria },
})

describe('learnedThinkingVerifier', () => {
  const counting = () => {
    const asked: { question: string; response: string; text: string }[] = []
    let fails = false
    const grade: LearnedVerifier['grade'] = async ({ prompt, response }, criteria) => {
      asked.push(...criteria.map(({ text }) => ({ question: prompt[0].content as string, response, text })))
      if (fails) throw new Error('out of order')
      return criteria.map(({ id, text }) => ({ criterionId: id, met: text.includes('yes'), source: 'model' }))
    }
    return { asked, grade, fail: (now: boolean) => (fails = now) }
  }

  it('asks with question, thinking and criterion, once for the same, and names verdicts by their criteria', async () => {
    const model = counting()
    const verifier = learnedThinkingVerifier(model, task)
    const twice = [
      itemOf(1, 'check 1', [criterion('yes'), criterion('no')]),
      itemOf(1, 'check 1', [{ ...criterion('yes'), id: 'other' }]),
      itemOf(1, 'check 2', [criterion('yes')]),
      itemOf(2, 'check 1', [criterion('yes')]),
    ]
    const verdicts = await verifier.verify(twice)
    expect(verdicts.map(own => own.map(({ criterionId, met }) => [criterionId, met]))).toEqual([
      [
        ['yes', true],
        ['no', false],
      ],
      [['other', true]],
      [['yes', true]],
      [['yes', true]],
    ])
    expect(model.asked).toHaveLength(4)
    expect(model.asked[0]).toEqual({
      question: task.question(twice[0].problem),
      response: 'check 1\nanswer 3',
      text: 'yes',
    })
    await verifier.verify(twice)
    expect(model.asked).toHaveLength(4)
  })

  it('asks again after a failure', async () => {
    const model = counting()
    const verifier = learnedThinkingVerifier(model, task)
    model.fail(true)
    await expect(verifier.verify([itemOf(1, 'x', [criterion('yes')])])).rejects.toThrow(/out of order/)
    model.fail(false)
    expect((await verifier.verify([itemOf(1, 'x', [criterion('yes')])]))[0][0].met).toBe(true)
    expect(model.asked).toHaveLength(2)
  })
})

describe('agreement with execution', () => {
  const compared = (points: number, said: boolean | null, truth: boolean | null): Compared => {
    const verdict = (met: boolean | null): Verdict => ({ criterionId: '', met, source: 'model' })
    return { points, said: verdict(said), truth: verdict(truth) }
  }

  it('tells false accepts and rejects apart, by the sign of the points', () => {
    const all = [
      compared(2, true, true),
      compared(1, true, false),
      compared(1, false, false),
      compared(3, false, false),
      compared(-1, false, true),
      compared(-1, true, true),
      compared(-1, null, true),
      compared(1, true, null),
    ]
    expect(agreementMetrics(all)).toEqual({
      verifierAgreement: { reward: 0.75, penalty: 0.5 },
      verifierFalseAccepts: { reward: 1 / 3, penalty: null },
      verifierFalseRejects: { reward: 0, penalty: 0.5 },
    })
    expect(agreementMetrics([]).verifierAgreement).toEqual({ reward: null, penalty: null })
  })
})

describe('a verifier that learnt from labels', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-learned-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('takes the place of execution', { timeout: 180_000 }, async () => {
    // What is to be learnt shows in one word, so that a tiny model learns it at once.
    const thinking = (checks: boolean, i: number) => (checks ? `check ${i} + 1 = 2` : `so ${i}`)
    const items = Array.from({ length: 60 }, (_, i) => {
      const item = itemOf(i, thinking(i % 2 === 0, i % 10), [criterion('never checks anything', -1)])
      const calculation = `1 + 1 = 2\n${item.response.thinking}`
      return {
        ...item,
        response: task.rubricator.masked(item.problem, partThinking(`${calculation}\n</think>`)),
      }
    })
    const exact = task.thinking.exact!
    const truth = await exact.verify(items)
    expect(truth.filter(([{ met }]) => met)).toHaveLength(30)
    const rows = items.map(({ problem, response }, i) => ({
      criterion: 'never checks anything',
      prompt: task.question(problem),
      response: judgedText(response),
      met: truth[i][0].met,
    }))
    const file = join(folder, 'labels.jsonl')
    writeFileSync(file, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    const config = learnedVerifierSchema.parse({
      steps: 30,
      batch: 16,
      data: { file },
      policy: { threads: 1 },
      model: { shape: { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 } },
      optimizer: { learningRate: { kind: 'constant', peak: 1e-2 } },
    })
    const { checkpoint } = await runLearnedVerifier(config, { dir: join(folder, 'run'), resume: false })
    const learned = await LearnedVerifier.open(checkpoint!)
    try {
      const said = await learnedThinkingVerifier(learned, task).verify(items)
      const compared = items.map((_, i) => ({ points: -1, said: said[i][0], truth: truth[i][0] }))
      expect(agreementMetrics(compared).verifierAgreement.penalty).toBeGreaterThan(0.9)
    } finally {
      await learned.close()
    }
  })
})
