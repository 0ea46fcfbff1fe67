import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { ROWS, writeRows } from '../../tasks/conversation/rows.fixture.ts'
import { resolveShipped } from '../../util/package.ts'
import { refusals } from '../common/refusals.fixture.ts'
import { ruscarlEntry } from './entry.ts'
import { tinyConversations } from './tiny-conversations.fixture.ts'

const START = 'package:models/packing-start'

/** Places of the files that the tables name. */
let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gradus-check-'))
  mkdirSync(at('bare'))
  writeFileSync(at('bare/notes.txt'), 'no model here')
  writeTinyChat(at('chat'))
  writeTinyChat(at('short'), 16)
  cpSync(at('chat'), at('no-template'), { recursive: true })
  for (const name of ['chat_template.jinja', 'tokenizer_config.json'])
    rmSync(at(`no-template/${name}`), { force: true })
  cpSync(at('chat'), at('other-words'), { recursive: true })
  const tokenizer = at('other-words/tokenizer.json')
  writeFileSync(tokenizer, `${readFileSync(tokenizer, 'utf8')}\n`)
  cpSync(resolveShipped(START), at('cut'), { recursive: true })
  truncateSync(at('cut/model.safetensors'), 5000)
  writeRows(folder)
  writeRows(at('bare-rows'), [{ id: 'x', rubric: { criteria: [{ id: 'a', text: 'b', points: 1 }] } }])
  writeRows(
    at('ruled'),
    ROWS.map(row => ({ ...row, rubrics: row.rubrics.slice(3) })),
  )
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SMALL = {
  model: { folder: START },
  policy: { threads: 1 },
  steps: 1,
  rollout: { prompts: 2, samples: 2, maxTokens: 26 },
  evaluation: { problems: 2 },
}
const SHAPE = { hiddenSize: 32, layers: 1, heads: 2, maxPositions: 96 }
const FRESH = {
  steps: 1,
  batch: 2,
  model: { shape: SHAPE },
  policy: { threads: 1 },
  evaluation: { problems: 1 },
}
const talk = (more: Record<string, unknown> = {}) => tinyConversations(at('chat'), at('rows.jsonl'), more)
const task = (more: object) =>
  talk({ task: { kind: 'conversations', file: at('rows.jsonl'), holdOut: 2, ...more } })
const fleet = (endpoint: object) => ({
  endpoints: [{ url: 'http://127.0.0.1:9', model: 'nobody', ...endpoint }],
})
const chat = { kind: 'chat', fleet: fleet({}) }
/** Of an environment variable that is not there. */
const keyed = fleet({ apiKeyEnv: 'GRADUS_TEST_NO_SUCH_KEY' })

describe('plan and run refuse the same, before anything is trained', () => {
  it.each<[string, () => Record<string, unknown>, RegExp]>([
    ['no model', () => ({ ...SMALL, model: {} }), /ConfigError: model\.folder: expected a checkpoint/],
    [
      'two models',
      () => ({ ...SMALL, coldStart: FRESH }),
      /model\.folder: expected nothing beside coldStart/,
    ],
    ['a folder without a model', () => ({ ...SMALL, model: { folder: at('bare') } }), /bare holds no model/],
    ['weights that are cut short', () => ({ ...SMALL, model: { folder: at('cut') } }), /model\.safetensors/],
    ['a model of other words', () => ({ ...SMALL, model: { folder: at('chat') } }), /of the packing task's/],
    ['no teacher', () => ({ ...SMALL, sft: { teacher: at('nowhere') } }), /sft\.teacher: .*holds no model/],
    ['a teacher of other words', () => ({ ...SMALL, sft: { teacher: at('chat') } }), /of the packing task's/],
    [
      'lists longer than the context',
      () => ({ ...SMALL, rollout: { ...SMALL.rollout, maxTokens: 90 } }),
      /90 new ones exceed the context of 96/,
    ],
    [
      'heads of a cold start',
      () => ({ ...SMALL, model: {}, coldStart: { ...FRESH, model: { shape: { ...SHAPE, heads: 5 } } } }),
      /model\.shape: expected heads/,
    ],
    [
      'a loss that needs a critic',
      () => ({ ...SMALL, loss: { preset: 'trl:dapo', value: { coef: 1 } } }),
      /loss\.v/,
    ],
    [
      'groups of criteria that no row has',
      () => talk({ criterionGroups: [{ criteria: ['dosis'] }] }),
      /criterionGroups\[0\]\.criteria: expected ids of criteria of the rubrics, got "dosis"/,
    ],
    [
      'groups of criteria that no trip has',
      () => ({ ...SMALL, criterionGroups: [{ criteria: ['order'], voidedBy: ['avoided'] }] }),
      /criterionGroups\[0\]\.voidedBy: expected ids of criteria of the rubrics, got "avoided"/,
    ],
    ['conversations without a judge', () => talk({ judge: null }), /judge: expected one for criteria/],
    [
      'a model without a chat template',
      () => talk({ model: { folder: at('no-template') } }),
      /chat template/,
    ],
    [
      'a context that is too short',
      () => talk({ model: { folder: at('short') } }),
      /task\.maxPromptTokens: exp/,
    ],
    ['rows without prompts', () => task({ file: at('bare-rows/rows.jsonl'), holdOut: 1 }), /got no prompt/],
    ['nothing to train on', () => task({ holdOut: 6 }), /task\.holdOut: expected rows on both sides/],
    ['an absent key', () => talk({ judge: { fleet: keyed } }), /GRADUS_TEST_NO_SUCH_KEY is not set/],
    [
      'an absent key of the judge that training never hears',
      () =>
        talk({
          judge: {
            fleet: fleet({}),
            heldOut: { fleet: fleet({ model: 'other', apiKeyEnv: 'GRADUS_TEST_NO_SUCH_KEY' }) },
          },
        }),
      /GRADUS_TEST_NO_SUCH_KEY is not set/,
    ],
    [
      'groups of criteria that no row has',
      () => talk({ criterionGroups: [{ criteria: ['nope'] }] }),
      /criterionGroups\[0\]\.criteria: expected ids of criteria of the rubrics, got "nope"/,
    ],
    [
      'groups of criteria that no trip has',
      () => ({ ...SMALL, criterionGroups: [{ criteria: ['nope'] }] }),
      /criterionGroups\[0\]\.criteria: expected ids/,
    ],
    [
      'a curriculum without scores',
      () => talk({ groupJudge: chat, exploration: { curriculum: {} } }),
      /exploration\.curriculum: expected null with groupJudge\.kind "chat"/,
    ],
    [
      'demonstrations that nobody can choose',
      () => talk({ groupJudge: chat, sft: {} }),
      /sft: expected null with groupJudge\.kind "chat"/,
    ],
    [
      'lessons of criteria that nobody judges',
      () => talk({ groupJudge: chat, memory: { kind: 'bank' } }),
      /memory\.file: expected a bank with groupJudge\.kind "chat"/,
    ],
    [
      'a rule whose scores nobody pays',
      () => talk({ groupJudge: chat, scoringRule: { name: 'mean' } }),
      /scoringRule: expected nothing with groupJudge\.kind "chat"/,
    ],
    [
      'no teacher of conversations',
      () => talk({ sft: { teacher: at('nowhere') } }),
      /sft\.teacher: .*no model/,
    ],
    [
      'a teacher with another tokenizer',
      () => talk({ sft: { teacher: at('other-words') } }),
      /sft\.teacher: .*another tokenizer/,
    ],
  ])('%s', async (_, settings, message) => {
    const { plan, run, trained } = await refusals(ruscarlEntry, settings(), folder)
    expect(plan).toMatch(message)
    expect(run).toBe(plan)
    expect(trained).toBe(false)
  })

  it('but a plan may name a model and a file that come later, and says so', async () => {
    const settings = { ...task({ file: at('later.jsonl') }), model: { folder: at('Qwen2.5-7B-Instruct') } }
    const { plan, run } = await refusals(ruscarlEntry, settings, folder)
    expect(plan).toBeNull()
    expect(run).toMatch(/holds no model/)
    const { lines } = ruscarlEntry.plan(ruscarlEntry.schema.parse(settings))
    expect(lines.filter(line => line.includes('not there yet'))).toHaveLength(2)
  })

  it('and what is there of them is looked at', () => {
    const planOf = (settings: object) => () => ruscarlEntry.plan(ruscarlEntry.schema.parse(settings as never))
    const model = { folder: at('Qwen2.5-7B-Instruct') }
    expect(planOf({ ...talk({ judge: null }), model })).toThrow('judge: expected one')
    const ruled = task({ file: at('ruled/rows.jsonl') })
    expect(planOf({ ...ruled, judge: null, model })).not.toThrow()
    const testFile = at('later.jsonl')
    expect(planOf(task({ file: at('bare-rows/rows.jsonl'), holdOut: null, testFile }))).toThrow(
      'got no prompt',
    )
  })
})
