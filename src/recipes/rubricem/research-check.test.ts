import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { HashedNgrams, RubricBank, writeBankFile } from '../../memory/index.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { checkRubricem } from './check.ts'
import { rubricemSchema } from './config.ts'
import { rubricemPresets } from './entry.ts'
import { planRubricem } from './plan.ts'

const folder = mkdtempSync(join(tmpdir(), 'gradus-research-check-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const model = writeTinyChat(join(folder, 'model'), 32_768)
const file = join(folder, 'questions.jsonl')
writeFileSync(
  file,
  Array.from({ length: 20 }, (_, i) => `${JSON.stringify({ question: `What is ${i}?`, answer: i })}\n`).join(
    '',
  ),
)

type Changes = Record<string, unknown> & { task?: object; judge?: object }

const fleet = { endpoints: [{ url: 'http://127.0.0.1:9/v1', model: 'm' }] }
const tools = [{ kind: 'http', url: 'http://127.0.0.1:9/search', results: 'hits', fields: { text: 'text' } }]

const configOf = ({ task, judge, ...changes }: Changes = {}) =>
  rubricemSchema.parse({
    model: { folder: model },
    task: { kind: 'research', file, tools, maxPromptTokens: 14_000, maxTokens: 18_000, ...task },
    judge: { kind: 'chat', fleet, ...judge },
    rollout: { prompts: 2, samples: 2, maxTokens: 2048 },
    reflection: { maxTokens: 1024 },
    ...changes,
  })

describe('a run on real text', () => {
  it('is taken with questions, tools, a judge and a chat model', () => {
    expect(checkRubricem(configOf(), 'run')).toBe(model)
  })

  it.each<[string, Changes, RegExp]>([
    ['no tools', { task: { tools: [] } }, /task\.tools: expected at least one tool, got none/],
    ['no file', { task: { file: null } }, /task\.file: expected the file/],
    ['a file that is not there', { task: { file: join(folder, 'none.jsonl') } }, /none\.jsonl/],
    ['nothing to test on', { task: { holdOut: 0 } }, /task\.holdOut: expected questions on both sides/],
    [
      'short turns',
      { rollout: { prompts: 2, samples: 2 } },
      /rollout\.maxTokens: expected at least 128 tokens a turn .*got 96/,
    ],
    ['short reflections', { reflection: {} }, /reflection\.maxTokens: expected at least 64 .*got 40/],
    [
      'placebo lessons',
      { reflection: { maxTokens: 1024, placebo: true } },
      /reflection\.placebo: expected false/,
    ],
    ['a cold start', { coldStart: {}, model: {} }, /coldStart: expected nothing with task "research"/],
    [
      'attempts without room',
      { task: { maxTokens: 30_000 } },
      /task\.maxPromptTokens.*exceed the context of 32768/,
    ],
    [
      'reflections without room',
      { reflection: { maxTokens: 40_000 } },
      /reflection\.maxTokens.*exceed the context/,
    ],
    [
      'an endpoint whose key is not there',
      { judge: { fleet: { endpoints: [{ ...fleet.endpoints[0], apiKeyEnv: 'GRADUS_NO_SUCH_KEY' }] } } },
      /judge\.fleet: .*GRADUS_NO_SUCH_KEY/,
    ],
    [
      'such an endpoint of the judge of reflections',
      {
        judge: {
          reflections: { fleet: { endpoints: [{ ...fleet.endpoints[0], apiKeyEnv: 'GRADUS_NO_SUCH_KEY' }] } },
        },
      },
      /judge\.reflections\.fleet: .*GRADUS_NO_SUCH_KEY/,
    ],
    [
      'one sample',
      { rollout: { prompts: 2, samples: 1, maxTokens: 2048 } },
      /rollout\.samples: expected at least 2/,
    ],
    [
      'weights of other stages',
      { credit: { lambda: [[1]] } },
      /credit\.lambda: expected 4 rows, one a stage, got 1/,
    ],
    [
      'a bank that is not there',
      { memory: { kind: 'bank', file: 'none.jsonl' } },
      /memory\.file: expected a bank file, got nothing at none\.jsonl/,
    ],
    [
      'a way of retrieval, which the window decides',
      { memory: { kind: 'bank', retrieval: 'both' } },
      /memory\.retrieval: expected nothing, got "both"/,
    ],
  ])('is refused with %s', (_, changes, message) => {
    expect(() => checkRubricem(configOf(changes), 'run')).toThrow(message)
  })

  it('has plans that name the bank to begin with', async () => {
    const planned = (path: string) =>
      planRubricem(configOf({ memory: { kind: 'bank', file: path } })).lines.find(line =>
        line.startsWith('bank'),
      )
    const bank = join(folder, 'bank.jsonl')
    const lessons = new RubricBank<string[]>({ embedder: new HashedNgrams() })
    await lessons.add([{ question: 'Where?', rubrics: '', takeaways: ['Look.'], u: 1, step: 1 }])
    writeBankFile(bank, lessons, 7)
    expect(planned(bank)).toContain(`, begun with ${bank}, 2 similar questions`)
    expect(planned(join(folder, 'no.jsonl'))).toContain('no.jsonl (not there yet)')
  })

  it('has a chat model for a judge, and the miniature one by script', () => {
    const scripted = rubricemSchema.parse({
      model: { folder: model },
      task: { kind: 'research', file, tools },
    })
    expect(() => checkRubricem(scripted, 'run')).toThrow(
      /judge\.kind: expected chat with task\.kind research, got scripted/,
    )
    const chat = rubricemSchema.parse({ model: { folder: model }, judge: { kind: 'chat', fleet } })
    expect(() => checkRubricem(chat, 'run')).toThrow(
      /expected records with judge\.kind scripted, got records with chat/,
    )
  })

  it.each<[string, object, RegExp]>([
    ['an unknown key of the task', { kind: 'research', files: 'x' }, /files/],
    ["a key of the miniature's", { kind: 'research', hops: {} }, /hops/],
    ['an unknown kind', { kind: 'web' }, /kind/],
    ['an unknown tool', { kind: 'research', tools: [{ kind: 'shell' }] }, /tools/],
    ['no calls', { kind: 'research', rules: { maxCalls: 0 } }, /maxCalls/],
  ])('has settings that are checked: %s', (_, task, message) => {
    expect(JSON.stringify(rubricemSchema.safeParse({ task }).error?.issues)).toMatch(message)
  })
})

describe('the plan', () => {
  const planned = (config: Record<string, unknown>) => {
    const { lines, json } = planRubricem(rubricemSchema.parse(config))
    return { text: lines.join('\n'), json }
  }

  it("of the paper's preset needs nothing that is there, and says what has to be configured", () => {
    const { text, json } = planned(rubricemPresets.paper.config)
    expect(json).toMatchObject({
      ...{ steps: 1400, prompts: 32, samples: 8, rolloutsPerStep: 512 },
      agentTokens: 256 * 18_432,
      reflectionTokens: 256 * 2048,
      // Windows of three fresh steps and three repeated ones: 233 whole ones, and two fresh steps.
      reflectingSteps: 701,
      toolCallsPerStep: 2560,
      toolCalls: 2560 * 1400,
      judge: { calls: 1400 * (32 + 256) + 701 * 256 },
      parameters: 8_190_735_360,
    })
    for (const part of [
      'models/Qwen3-8B (not there yet',
      'data/research-questions.jsonl (not there yet)',
      'about 4,900 questions as the paper has',
      'tools        none yet: configure task.tools',
      'learning rate 5e-7 (constant), KL k3 x 0.001',
      '10 of tools an attempt at most: 2,560 a step',
      'Qwen/Qwen3-Embedding-0.6B',
      'a question 1 call for rubrics, 8 for scores, and in fresh steps 8 for reflections',
      'cost unknown: an endpoint has no price',
      'windows of 3 fresh batches',
      'next         put a model with tokenizer and chat template into models/Qwen3-8B',
      'write questions into data/research-questions.jsonl, or name their file in task.file',
      'write questions into data/research-test.jsonl, or name their file in task.testFile',
      'list tools in task.tools',
      'name the judge in judge.fleet.endpoints',
      'serve Qwen/Qwen3-Embedding-0.6B at http://127.0.0.1:8001/v1, or set memory.embedder to {kind: hashed}',
    ])
      expect(text).toContain(part)
    // The hint leads into no refusal: what it names, a service takes.
    expect(text).toContain('train it elsewhere (policy.kind: tinker, reflection.temperature: 1)')
    const { reflection, ...paper } = rubricemPresets.paper.config as { reflection: object }
    const there = {
      kind: 'tinker',
      url: 'http://127.0.0.1:1',
      model: 'Qwen/Qwen3-8B',
      tokenizer: 'models/Qwen3-8B',
    }
    const at = (temperature: number) => ({
      ...paper,
      policy: there,
      reflection: { ...reflection, temperature },
    })
    expect(() => planned(at(0.7))).toThrow('reflection.temperature: expected 1 with policy.kind tinker')
    expect(() => planned(at(1))).not.toThrow()
  })

  it('has the numbers of the paper', () => {
    const { rollout, optimizer, loss, reflection, memory, window, evolving, task, steps } =
      rubricemSchema.parse(rubricemPresets.paper.config)
    expect([steps, rollout.prompts, rollout.samples, rollout.temperature]).toEqual([1400, 32, 8, 1])
    expect(optimizer.learningRate).toMatchObject({ kind: 'constant', peak: 5e-7, warmup: 0 })
    expect(loss.kl).toMatchObject({ kind: 'k3', coef: 0.001 })
    expect(loss.aggregation).toMatchObject({ mode: 'token-mean' })
    expect(reflection).toMatchObject({ candidates: 8, temperature: 0.7, utility: 'd62', deferred: true })
    expect([memory.kind === 'bank' && memory.top, window.steps]).toEqual([2, 3])
    expect(evolving.caps).toEqual([3, 2, 2, 3])
    // The judge who proposes rubrics is shown all of all rollouts, and so is the one who scores.
    expect(evolving.shownCharacters).toEqual({ generate: null, score: null })
    expect(task).toMatchObject({ maxPromptTokens: 8192, maxTokens: 18_432, rules: { maxCalls: 10 } })
  })

  it('counts what is there, and prices what has a price', () => {
    const priced = {
      endpoints: [{ ...fleet.endpoints[0], price: { inputPerMillion: 1, outputPerMillion: 2 } }],
    }
    const { text } = planned({
      model: { folder: model },
      task: { kind: 'research', file, tools, maxPromptTokens: 14_000, maxTokens: 8000 },
      judge: { kind: 'chat', fleet: priced },
      rollout: { prompts: 2, samples: 2, maxTokens: 2048 },
      reflection: { enabled: false },
    })
    expect(text).toContain('18 questions to train on, 2 to test on')
    expect(text).toContain('web_search: HTTP http://127.0.0.1:9/search')
    expect(text).toMatch(/cost at most about \d+\.\d\d/)
    expect(text).not.toContain('reflections')
  })

  it('of the miniature says that nothing is called', () => {
    const { text, json } = planned({ coldStart: {}, steps: 10 })
    expect(text).toContain('no judge, no network')
    expect(json).toMatchObject({ judge: null, toolCallsPerStep: 16 * 8 * 8 })
  })
})
