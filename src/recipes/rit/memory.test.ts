import { describe, expect, it } from 'vitest'
import { HashedNgrams, RubricBank } from '../../memory/index.ts'
import type { Policy } from '../../policy/policy.ts'
import type { TokenIds } from '../../rl/datum.ts'
import type { Criterion, Rubric } from '../../rubric/criterion.ts'
import { partThinking, type Thinking } from '../../tasks/thinking.ts'
import { answering } from '../../train/answering-io.fixture.ts'
import type { StepIo } from '../../train/rollout.ts'
import { LessonMemory } from '../options/lesson-memory.ts'
import { checkRitSettings } from './check.ts'
import { type RitConfig, ritSchema } from './config.ts'
import { rit } from './recipe.ts'
import type { RitTask } from './tasks.ts'

const THINKING: Rubric = { criteria: [{ id: 't', text: 'thinks good', points: 1 }] }
const ANSWERS: Rubric = {
  criteria: [
    { id: 'a', text: 'answers 10', points: 2 },
    { id: 'b', text: 'answers at all', points: 1 },
  ],
}
const WORDS = ['<think>', '</think>', 'good', 'so', '10', '3'] as const
const tokensOf = (text: string) => text.split(' ').map(word => WORDS.indexOf(word as never))
const textOf = (tokens: ArrayLike<number>) => Array.from(tokens, token => WORDS[token]).join(' ')

/** A hint is a token: 100 and the number of its characters. */
const ritTask = (hinted?: Thinking<number>['hinted']): RitTask<number> => {
  const verifier = {
    verify: async (items: readonly { response: { thinking: string } }[]) =>
      items.map(({ response }) => [
        { criterionId: 't', met: response.thinking.includes('good'), source: 'llm' as const },
      ]),
  }
  return {
    task: {
      ...{ train: [0], tests: { test: [0] }, label: 'numbers', notes: [] },
      id: problem => `problem ${problem}`,
      question: problem => `what of ${problem}?`,
      prompt: (problem, hints = []) => [problem, ...hints.map(({ text }) => 100 + text.length)],
      show: textOf,
      rubric: () => ANSWERS,
      grade: async items =>
        items.map(({ tokens }) => {
          const { answer } = partThinking(textOf(tokens))
          return {
            score: answer === '10' ? 1 : 0.3,
            verdicts: [
              { criterionId: 'a', met: answer === '10', source: 'rule' as const },
              { criterionId: 'b', met: answer !== '', source: 'rule' as const },
            ],
            wellFormed: true,
          }
        }),
      thinking: { read: tokens => partThinking(textOf(tokens)), ...(hinted && { hinted }) },
    },
    ...{ verifier, truth: verifier },
    close: async () => {},
  }
}

const RESPONSES = ['so </think> 10', 'so </think> 3', 'so </think> 3', 'good </think> 3'].map(tokensOf)

const runOf = (config: RitConfig, hinted?: Thinking<number>['hinted']) => {
  const { memory: settings } = config
  const task = ritTask(hinted)
  const hints =
    settings.kind === 'none'
      ? undefined
      : new LessonMemory<number>({
          ...{
            settings,
            bank: new RubricBank({ embedder: new HashedNgrams() }),
            seed: 1,
            steps: 4,
            file: null,
          },
          task: task.task,
        })
  const recipe = rit(config, {
    ...{ policy: {} as Policy, problem: () => 7, ritTask: task, rubricOf: () => THINKING, hints },
    evaluate: async () => [],
  })
  const step = async (number: number) => {
    let shown: readonly (readonly TokenIds[])[] | null | undefined
    const io: StepIo = {
      rollOut: request => {
        shown = request.sampledFrom
        return answering([RESPONSES]).rollOut(request)
      },
    }
    const lesson = await recipe.learn(number, await recipe.rollOut(number, io))
    return { shown, lesson }
  }
  return { recipe, step }
}

const settings = (more: Record<string, unknown> = {}) =>
  ritSchema.parse({
    rollout: { prompts: 1, samples: 4, maxTokens: 9 },
    scaffold: { group: { kind: 'all' }, decay: { kind: 'constant' } },
    steps: 4,
    memory: { kind: 'bank', retrieval: 'within' },
    ...more,
  })
const tokenOf = ({ text }: Criterion) => 100 + text.length
const [A, B] = ANSWERS.criteria
const [T] = THINKING.criteria

describe('rit with a memory', () => {
  it('shows what the attempts at a question missed, in place of the rubric', async () => {
    const { step } = runOf(settings())
    expect((await step(1)).shown).toBeNull()
    const { shown, lesson } = await step(2)
    expect(shown).toEqual([RESPONSES.map(() => [7, tokenOf(A)])])
    expect(lesson.metrics).toMatchObject({ bankSize: 1, referred: 1, references: 1, lessonsKept: 1 })
    // The update is about the plain prompt.
    expect(lesson.phases[0].datums[0].datum.promptTokens).toEqual([7])
  })

  it('shows lessons beside the rubric, none of it twice', async () => {
    const { step } = runOf(settings({ memory: { kind: 'bank', retrieval: 'within', show: 'beside' } }))
    await step(1)
    expect((await step(2)).shown).toEqual([RESPONSES.map(() => [7, tokenOf(A), tokenOf(B)])])
  })

  it.each<['thinking' | 'both', Criterion[]]>([
    ['thinking', [T]],
    ['both', [A, T]],
  ])('makes lessons of what its prompts can show: %s', async (hinted, lessons) => {
    const { step } = runOf(settings(), hinted)
    await step(1)
    expect((await step(2)).shown).toEqual([RESPONSES.map(() => [7, ...lessons.map(tokenOf)])])
  })

  it('keeps its bank in the state, with the weight that adapts', async () => {
    const config = settings({ fusion: { adaptive: {} } })
    const first = runOf(config)
    await first.step(1)
    const saved = JSON.parse(JSON.stringify(first.recipe.state!.save()))
    const second = runOf(config)
    second.recipe.state!.load(saved)
    expect((await second.step(2)).shown).toEqual((await first.step(2)).shown)
    expect(second.recipe.state!.save()).toEqual(first.recipe.state!.save())
  })

  it('has no state and no metrics of a memory without one, and shows the rubric as before', async () => {
    const { recipe, step } = runOf(settings({ memory: { kind: 'none' } }))
    const { shown, lesson } = await step(1)
    expect(shown).toEqual([RESPONSES.map(() => [7, tokenOf(A), tokenOf(B)])])
    expect(recipe).not.toHaveProperty('state')
    expect(lesson.metrics).not.toHaveProperty('bankSize')
  })

  it.each<[string, Record<string, unknown>]>([
    ['scaffold: expected one beside memory', { scaffold: null }],
    [
      'memory.show: expected "alone"',
      { task: { kind: 'arithmetic' }, memory: { kind: 'bank', show: 'beside' } },
    ],
  ])('refuses what nobody would see: %s', (message, more) => {
    expect(() => checkRitSettings(settings(more))).toThrow(message)
  })

  it('may be the scaffold of tasks whose answers have no rubric to show', () => {
    expect(() => checkRitSettings(settings({ task: { kind: 'arithmetic' } }))).not.toThrow()
  })
})
