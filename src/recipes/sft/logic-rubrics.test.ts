import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { saveCheckpoint } from '../../model/checkpoint.ts'
import { loadTokenizer } from '../../model/tokenizer.ts'
import { initWeights } from '../../model/weights.ts'
import { readEvals, readMetrics, withoutTimings } from '../../runs/readers.ts'
import {
  goldResponses,
  keptResponses,
  LOGIC_GRAMMAR,
  LOGIC_PIECES,
  LOGIC_RUBRIC_VOCABULARY,
  logicEvidenceOf,
  logicRubricsStart,
  logicRubricsStartSchema,
  partReasoning,
  type StartResponse,
} from '../../tasks/logic/thinking/index.ts'
import { LOGIC_VOCABULARY } from '../../tasks/logic/vocabulary.ts'
import { isMet } from '../../tasks/thinking-grammar/grammar.ts'
import { modelShapeSchema } from '../../train/config.ts'
import { readJsonl } from '../../util/jsonl.ts'
import type { RunResult } from '../common/recipe.ts'
import { readLabels } from '../learned-verifier/labels.ts'
import { sftEntry } from './entry.ts'
import { freshLogicModel } from './logic.ts'
import { runSftRecipe } from './run.ts'
import { startConfig } from './start.fixture.ts'

const SLOW_MS = 180_000

let folder: string
let start: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-rubric-start-'))
  start = join(folder, 'start')
  const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 160 })
  const { config, files } = freshLogicModel(shape, 1, LOGIC_VOCABULARY).init!
  saveCheckpoint(start, {
    config,
    weights: initWeights(config, 1),
    files: new Map(Object.entries(files!)),
  })
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PROBLEMS = { hops: [1, 2], nodes: [3, 3] }

/** @param task, maxPositions changes */
const config = ({ task = {}, maxPositions = 224, folder: from = start }: Record<string, unknown> = {}) =>
  startConfig('logic-rubric-start', {
    ...{ steps: 4, batch: 6, policy: { threads: 1 }, checkpoint: { every: 2 } },
    model: { folder: from, shape: { maxPositions } },
    task: {
      ...{ problems: PROBLEMS, labels: 30, rubricTokens: 8 },
      reasoners: { problems: 4, samples: 2, maxTokens: 12, keep: 'all' },
      ...(task as object),
    },
    optimizer: { learningRate: { kind: 'constant', peak: 3e-3 } },
    evaluation: { problems: 3, maxTokens: 10 },
  })

const run = (name: string, resume = false, stopAfter = 100): Promise<RunResult> => {
  let steps = 0
  const events = { onStep: () => steps++, shouldStop: () => steps >= stopAfter }
  return runSftRecipe(config(), { dir: join(folder, name), resume, events })
}

const { problem, demonstrations } = logicRubricsStart(
  logicRubricsStartSchema.parse({ kind: 'logic-rubrics', problems: PROBLEMS }),
  { seed: 0, batch: 60, tested: 3 },
)

/** Gold proofs in place of a model's responses, each also cut short. */
const responses = (): StartResponse[] =>
  goldResponses(problem, 6).flatMap(whole => [
    whole,
    { ...whole, text: whole.text.slice(0, 40), right: false, proved: false },
  ])

describe('logic-rubric-start', () => {
  it('teaches its own proofs with hints that they follow, and rubrics about any response', () => {
    const draw = demonstrations(responses())
    expect(draw(3)).toEqual(draw(3))
    const texts = draw(1).map(({ promptTokens, responseTokens }) => ({
      prompt: LOGIC_PIECES.decode(promptTokens),
      response: LOGIC_PIECES.decode(responseTokens),
    }))
    const proofs = new Set(responses().flatMap(({ text, proved }) => (proved ? [text] : [])))
    const reasoners = texts.filter(({ prompt }) => !prompt.endsWith('\n<rubric>'))
    expect(reasoners.length).toBeGreaterThan(15)
    expect(reasoners.every(({ response }) => proofs.has(response))).toBe(true)
    const found = reasoners.filter(({ prompt }) => /\n(do|avoid) /.test(prompt))
    expect(found.length).toBeGreaterThan(4)
    const byText = new Map(responses().map(({ text, index }) => [text, problem(index)]))
    for (const { prompt, response } of found)
      for (const [, word, criterion] of prompt.matchAll(/\n(do|avoid) ([^\n]*)/g)) {
        const evidence = logicEvidenceOf(byText.get(response)!, partReasoning(response).thinking, null)
        expect(isMet(LOGIC_GRAMMAR.read(criterion)!, evidence), criterion).toBe(word === 'do')
      }
    const rubrics = texts.filter(({ prompt }) => prompt.endsWith('\n<rubric>'))
    expect(rubrics.length).toBeGreaterThan(15)
    for (const { response, prompt } of rubrics) {
      const { rubrics: criteria } = JSON.parse(response)
      expect(criteria.length).toBeGreaterThanOrEqual(5)
      expect(prompt).not.toContain('<answer>')
    }
  })

  it('refuses a start of which nothing is left', () => {
    const none = responses().map(own => ({ ...own, proved: false }))
    expect(() => keptResponses(none, 'proved')).toThrow(/12 responses to be proved, got none/)
    expect(keptResponses(none, 'right')).toHaveLength(6)
    expect(keptResponses(none, 'all')).toHaveLength(12)
  })

  it(
    'learns, goes on where it was stopped, and leaves a larger model with labels',
    async () => {
      const { checkpoint, finished } = await run('whole')
      expect(finished).toBe(true)
      const tokenizer = loadTokenizer(checkpoint!)
      expect(LOGIC_RUBRIC_VOCABULARY.every((token, id) => tokenizer.idOf(token) === id)).toBe(true)
      expect(readEvals(join(folder, 'whole')).map(({ step, set, n }) => [step, set, n])).toEqual([
        [4, 'unseen', 3],
        [4, 'told', 3],
        [4, 'rubrics', 3],
      ])
      const labels = join(folder, 'whole', 'labels.jsonl')
      expect(readJsonl(labels)).toHaveLength(30)
      expect(readLabels(labels, 0.3).train[0]).toMatchObject({
        prompt: expect.stringMatching(/true or false/),
      })

      expect(await run('stopped', false, 2)).toMatchObject({ step: 2, finished: false })
      expect(existsSync(join(folder, 'stopped', 'labels.jsonl'))).toBe(false)
      expect(await run('stopped', true)).toMatchObject({ step: 4, finished: true })
      const rowsOf = (name: string) => readMetrics(join(folder, name)).map(withoutTimings)
      expect(rowsOf('stopped')).toEqual(rowsOf('whole'))
      const read = (name: string) => readFileSync(join(folder, name, 'labels.jsonl'), 'utf8')
      expect(read('stopped')).toBe(read('whole'))
    },
    SLOW_MS,
  )

  it('plans and refuses before it trains', async () => {
    const plan = (changes?: Record<string, unknown>) => sftEntry.plan(config(changes))
    expect(plan().lines.join('\n')).toMatch(
      new RegExp(
        `grown {8}to ${LOGIC_RUBRIC_VOCABULARY.length} tokens.*2 responses to each of 4 problems`,
        's',
      ),
    )
    expect(() => plan({ task: { rubricTokens: 250 } })).toThrow(/exceed the context of 224/)
    expect(() => plan({ maxPositions: 150 })).toThrow(/at least the start's 160, got 150/)
    expect(() => plan({ task: { problems: { hops: [3], nodes: [2, 3] } } })).toThrow(/logic generator: nodes/)
    expect(() => plan({ folder: null })).toThrow(/model\.folder: expected a model of the logic task/)
    const dir = join(folder, 'refused')
    await expect(
      runSftRecipe(config({ folder: join(folder, 'none') }), { dir, resume: false }),
    ).rejects.toThrow(/holds no model/)
    expect(existsSync(dir)).toBe(false)
  })
})
