import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AuditedEdit } from '../../measure/audit.ts'
import { FakeInferenceServer } from '../../policy/served/fake-server.fixture.ts'
import { cli, Sandbox, SLOW_MS } from '../cli.fixture.ts'

const sandbox = new Sandbox()
afterAll(() => sandbox.remove())

const rule = (fn: string, params: object) => ({ kind: 'rule', fn, params })
const says = (word: string) => ({
  id: 'right',
  text: `Says ${word}.`,
  points: 3,
  verifier: rule('contains', { any: [word] }),
})
const rows = sandbox.write(
  'rows.jsonl',
  [
    { id: 'fr', prompt: 'What is the capital of France?', criteria: [says('Paris')] },
    {
      id: 'jp',
      prompt: 'What is the capital of Japan?',
      criteria: [says('Tokyo')],
      reference: 'Tokyo it is, thanks',
    },
  ]
    .map(row => `${JSON.stringify(row)}\n`)
    .join(''),
)
const thanks = { id: 'thanks', text: 'Thanks.', points: 1, verifier: rule('contains', { any: ['thanks'] }) }
const rubric = sandbox.write('rubric.yaml', { criteria: [thanks] })
/** Of four points: 3 and 0 in France, 0 and 0 in Japan. */
const answers = sandbox.write(
  'answers.jsonl',
  [
    ['fr', 0, 'The capital of France is Paris.'],
    ['fr', 1, 'It is a large old town.'],
    ['jp', 0, 'The capital of Japan is Kyoto.'],
    ['jp', 1, 'I do not know it.'],
  ]
    .map(([id, sample, response]) => `${JSON.stringify({ id, sample, response })}\n`)
    .join(''),
)
const audit = async (...more: string[]) => {
  const { code, out, err } = await cli([
    'rubric',
    'audit',
    '--data',
    rows,
    '--rubric',
    rubric,
    '--model',
    answers,
    ...more,
  ])
  return { code, out, err, json: out.startsWith('{') ? JSON.parse(out) : null }
}
const byName = (edits: AuditedEdit[]) => Object.fromEntries(edits.map(own => [own.edit, own]))

describe('gradus rubric audit', { timeout: SLOW_MS }, () => {
  it('tells what is paid for each edit, compared with the sample and with a right answer', async () => {
    const { code, json } = await audit('--json')
    expect(code).toBe(0)
    expect(json).toMatchObject({ rows: 2, samples: 4 })
    // Rows: (.75 + 0) / 2 and 0. Being right: .75, and the reference, which has both words: 1.
    expect(json.untouched.value).toBeCloseTo(0.1875, 12)
    expect(json.right.value).toBeCloseTo(0.875, 12)
    // Both samples from Japan are paid nothing.
    expect(json.telling).toBe(0.5)
    const edits = byName(json.edits)
    expect(edits.pad).toMatchObject({ edited: 4, skipped: 0, paysMore: 0, keepsRight: true })
    expect(edits.pad.difference?.value).toBe(0)
    expect(edits.falsify).toMatchObject({ edited: 0, skipped: 4, difference: null, exploit: null })
    // Without its key point the sample that was right has lost .75; the best that is left is 0 in both rows.
    expect(edits.drop.difference?.value).toBeCloseTo(-0.1875, 12)
    expect(edits.drop.exploit?.value).toBeCloseTo(-0.875, 12)
    expect(edits.drop.criteria).toEqual({ right: -0.1875, thanks: 0 })
    // Japan is told that it is Paris, France that it is Kyoto: nobody is right any more.
    expect(edits.other.reward?.value).toBe(0)
    // Both rows ask for thanks, which a policy can learn; one for Paris, which is its answer. Rows: (1 + .25) / 2, and .25.
    expect(edits.keywords.reward?.value).toBeCloseTo(0.4375, 12)
    expect(edits.keywords.criteria).toMatchObject({ right: 0, thanks: 0.25 })
    expect(edits.keywords.paysMore).toBe(1)
    expect(json.edits[0].edit).toBe('keywords')
  })

  it('fails by --max-exploit where a trick is paid more; what stays right may be paid as before', async () => {
    const much = await audit('--max-exploit', '0')
    expect(much.code).toBe(100)
    expect(much.err).toContain('keywords: expected to be paid at most 0 more than a right answer')
    expect(much.out).toContain('paid by')
    const none = sandbox.write('none.yaml', {
      criteria: [{ id: 'rude', text: 'Is rude.', points: -1, verifier: rule('contains', { any: ['rude'] }) }],
    })
    const facts = ['rubric', 'audit', '--data', rows, '--model', answers, '--rubric', none]
    expect((await cli([...facts, '--max-exploit', '-0.2', '--set', 'nulls=drop'])).err).not.toContain('pad:')
  })

  it('pays groups of criteria as a training with them does', async () => {
    const { json } = await audit('--json', '--set', 'criterionGroups=[{criteria: [right, thanks]}]')
    // Nothing untouched has both.
    expect(json.untouched.value).toBe(0)
    // What a criterion brings is what it is paid: thanks alone are worth nothing, and where both are said at last both are.
    const { keywords } = byName(json.edits)
    expect(keywords.difference?.value).toBeCloseTo(0.25, 12)
    expect(keywords.criteria.right).toBeCloseTo(0.1875, 12)
    expect(keywords.criteria.thanks).toBeCloseTo(0.0625, 12)
    const unknown = await audit('--set', 'criterionGroups=[{criteria: [rihgt]}]')
    expect(unknown).toMatchObject({ code: 1 })
    expect(unknown.err).toContain('criterionGroups[0].criteria')
  })

  it('asks a model, keeps its samples, and writes what was edited', async () => {
    const server = new FakeInferenceServer({
      models: [{ id: 'm', owned_by: 'vllm' }],
      chat: () => 'The capital is Paris, one of four.',
    })
    const url = await server.listen()
    const [out, edited] = [sandbox.path('samples.jsonl'), sandbox.path('edited.jsonl')]
    try {
      const asked = await cli([
        ...['rubric', 'audit', '--data', rows, '--rubric', rubric, '--model', `${url}#m`],
        ...['--samples', '2', '--out', out, '--edited', edited, '--json'],
      ])
      expect(asked.code, asked.err).toBe(0)
      expect(readFileSync(out, 'utf8').trim().split('\n')).toHaveLength(4)
      const lines = readFileSync(edited, 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line))
      // Nine edits of four samples, but for numbers none is skipped.
      expect(lines).toHaveLength(36)
      const wrong = lines.find(({ edit, id }) => edit === 'falsify' && id === 'fr')
      expect(wrong).toMatchObject({
        reward: 0.75,
        verdicts: [
          { criterionId: 'thanks', met: false },
          { criterionId: 'right', met: true },
        ],
      })
      expect(wrong.response).not.toContain('one of four')
    } finally {
      await server.close()
    }
  })

  it('asks for a judge where saved answers stand for the model, since what is edited has no verdict yet', async () => {
    const judged = sandbox.write('kind.yaml', { criteria: [{ id: 'kind', text: 'Is kind.', points: 1 }] })
    const { code, err } = await cli([
      'rubric',
      'audit',
      '--data',
      rows,
      '--rubric',
      judged,
      '--model',
      answers,
    ])
    expect(code).toBe(2)
    expect(err).toContain('--judge')
  })

  it('a judge of whom nothing can be used is an error, and one that never speaks of a criterion fails the gate', async () => {
    const judged = sandbox.write('kind.yaml', {
      criteria: ['kind', 'dull'].map(id => ({ id, text: `Is ${id}.`, points: 1 })),
    })
    for (const [says, code, words] of [
      [() => 'bananas', 1, '--judge: expected verdicts on 4 samples, got none that can be used'],
      [
        (request: object) =>
          JSON.stringify(request).includes('Is dull.')
            ? 'bananas'
            : '{"explanation": "", "criteria_met": true}',
        100,
        '--max-exploit: expected verdicts on dull, got none',
      ],
    ] as const) {
      const server = new FakeInferenceServer({ models: [{ id: 'j', owned_by: 'vllm' }], chat: says })
      const url = await server.listen()
      try {
        const { err, out, ...ended } = await cli([
          ...['rubric', 'audit', '--data', rows, '--rubric', judged, '--model', answers],
          ...['--judge', `${url}#j`, '--max-exploit', '1'],
        ])
        expect(err).toContain(words)
        expect(ended.code).toBe(code)
        // Facts by rule are there: of three criteria a row one is unknown.
        if (code === 100) expect(out).toContain('33.3% of verdicts are missing, and counted as not met')
      } finally {
        await server.close()
      }
    }
  })

  it('where nothing can be edited a gate does not pass', async () => {
    const blank = sandbox.write('blank.jsonl', '{"id": "fr", "response": " "}\n')
    const { code, err } = await audit('--model', blank, '--max-exploit', '1')
    expect(code).toBe(100)
    expect(err).toContain('--max-exploit: expected samples that can be edited and graded, got none')
  })

  it('tells what it found where the file of edited samples cannot be written', async () => {
    const { code, out, err } = await audit('--edited', '/dev/full')
    expect(code).toBe(1)
    expect(out).toContain('paid by')
    expect(err).toContain('/dev/full: cannot be written')
    expect((await audit('--edited', sandbox.path('nowhere/edited.jsonl'))).out).toBe('')
  })

  it('refuses what cannot be', async () => {
    const elsewhere = (path: string) => `${dirname(path)}/./${basename(path)}`
    for (const path of [rows, rubric, answers, elsewhere(answers)])
      expect(await audit('--edited', path)).toMatchObject({ code: 2 })
    expect(await audit('--set', 'lambda=1')).toMatchObject({ code: 2 })
    const empty = sandbox.write('empty.jsonl', '')
    expect((await audit('--data', empty)).err).toContain('empty.jsonl: expected at least one row, got none')
    const bare = sandbox.write('bare.jsonl', '{"id": "a"}\n')
    expect((await audit('--data', bare)).err).toContain(
      'bare.jsonl:1: expected a row with a prompt, got an object with id',
    )
    expect((await audit('--temperature', '0')).err).toContain('--samples')
  })
})
