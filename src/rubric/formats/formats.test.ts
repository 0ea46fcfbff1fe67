import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { DataError, UsageError } from '../../util/errors.ts'
import { scoreByRule } from '../rules.ts'
import {
  type FormatName,
  type ReadRubricOptions,
  readRubricFile,
  readRubricText,
  rubricRows,
  writeRubricFile,
} from './index.ts'

const read = (value: unknown, options?: ReadRubricOptions) =>
  readRubricText(JSON.stringify(value), 'rubric.json', options)
const again = (value: unknown, format: FormatName) => rubricRows(read(value).items, format)

const healthbenchRow = {
  prompt: [{ role: 'user', content: 'How much?' }],
  rubrics: [
    { criterion: 'Names a dose', points: 5, tags: ['level:example', 'axis:accuracy'] },
    { criterion: 'Is rude', points: -3, tags: [], note: 'ours' },
  ],
}

describe('our own format', () => {
  const yaml = `
id: note
title: A note
criteria:
  - {id: thanks, text: Thanks the sender, points: 3, critical: true}
  - id: short
    text: Has at most 50 words
    points: -2
    verifier: {kind: rule, fn: words, params: {max: 50}}
  - id: tone
    text: How warm it is
    points: 1
    levels: [{low: 1, high: 2, text: cold}, {low: 3, high: 5, text: warm}]
`
  it('is one rubric in YAML', () => {
    const { format, layout, items } = readRubricText(yaml, 'note.yaml')
    expect({ format, layout }).toEqual({ format: 'native', layout: 'single' })
    expect(items).toHaveLength(1)
    expect(items[0]).toMatchObject({
      id: 'note',
      rubric: { criteria: [{ critical: true }, { points: -2 }, {}] },
    })
    expect(rubricRows(items, 'native')).toEqual([parse(yaml)])
  })

  it('is items with prompts and references, as a list, an object with items, or JSON Lines', () => {
    const rows = [
      {
        id: 'a',
        prompt: 'Why?',
        reference: 'Because.',
        rubric: { criteria: [{ id: 'x', text: 'X', points: 1 }] },
      },
      { id: 'b', rubric: { criteria: [] } },
      {
        id: 'c',
        prompt: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Why?' },
        ],
        rubric: {
          criteria: [{ id: 'x', text: 'X', points: 1 }],
          tree: { id: 'root', weight: 1, children: [{ id: 'x', weight: 2 }] },
        },
      },
    ]
    for (const [text, name, layout] of [
      [JSON.stringify(rows), 'r.json', 'list'],
      [JSON.stringify({ items: rows }), 'r.json', 'items'],
      [rows.map(row => JSON.stringify(row)).join('\n'), 'r.jsonl', 'rows'],
      [rows.map(row => JSON.stringify(row)).join('\n'), 'r.txt', 'rows'],
    ] as const) {
      const file = readRubricText(text, name)
      expect(file).toMatchObject({ format: 'native', layout })
      expect(file.items[0].prompt).toEqual([{ role: 'user', content: 'Why?' }])
      expect(rubricRows(file.items, 'native')).toEqual(rows)
    }
  })

  it('names what is wrong, and where', () => {
    const bad = (criterion: object) => read({ criteria: [{ id: 'a', text: 't', points: 1, ...criterion }] })
    expect(() => bad({ points: 0 })).toThrow(
      'rubric.json: criteria[0].points: expected a non-zero number, got 0',
    )
    expect(() => bad({ verifier: { kind: 'magic', fn: 'x' } })).toThrow(
      'criteria[0].verifier.kind: expected one of',
    )
    expect(() => bad({ levels: [{ low: 2, high: 1, text: '' }] })).toThrow(DataError)
    const criteria = [{ id: 'a', text: 't', points: 1 }]
    const tree = (...children: object[]) => read({ criteria, tree: { id: 'r', weight: 1, children } })
    expect(() => tree({ id: 'b', weight: 1 })).toThrow('leaf "b" is no criterion')
    expect(() => tree({ id: 'b', weight: 0 })).toThrow('criterion "a" is no leaf')
    expect(() => tree({ id: 'a', weight: 1 }, { id: 'a', weight: 1 })).toThrow('two leaves share an id')
    const lines = `${JSON.stringify({ criteria })}\n\n${JSON.stringify({ criteria: [{ id: 'a' }] })}`
    expect(() => readRubricText(lines, 'r.jsonl')).toThrow(
      /^r\.jsonl:3: criteria\[0\]\.text: expected a string/,
    )
  })
})

describe('detection', () => {
  it('lists what was tried', () => {
    expect(() => read({ prompt: 'a', rubrics: 'none' })).toThrow(
      /^rubric\.json: expected a rubric in a known format, got an object with prompt, rubrics; tried native \(no criteria, no rubric, no items\), healthbench \(prompt is no list of messages\), paperbench \(no requirements, no sub_tasks\), scholarqa-cs \(.*\), writingbench \(.*\), deep-research-bench \(.*\), biggen \(.*\), weighted \(no list rubrics\)/,
    )
    expect(() => read('text')).toThrow('got "text"')
    expect(() => read([1])).toThrow('rubric.json: [0]: expected a rubric in a known format, got 1')
  })

  it('gives way to a format that is named', () => {
    expect(() => read(healthbenchRow, { format: 'paperbench' })).toThrow('rubric.json: id: expected a string')
    expect(() => read(healthbenchRow, { format: 'healthbnch' as FormatName })).toThrow(UsageError)
    expect(() => read(healthbenchRow, { format: 'healthbnch' as FormatName })).toThrow(
      'did you mean healthbench?',
    )
  })

  it('says what is wrong with the text itself', () => {
    expect(() => readRubricText(' \n', 'r.yaml')).toThrow('r.yaml: expected a rubric, got an empty file')
    expect(() => read([])).toThrow('expected at least one rubric')
    expect(() => readRubricText('{"a":', 'r.json')).toThrow('r.json: expected JSON, got')
    expect(() => readRubricText('{"a": 1}\n{', 'r.jsonl')).toThrow(
      'r.jsonl:2: expected JSON, got text that is none',
    )
    expect(() => readRubricText('a: [1', 'r.yaml')).toThrow(/^r\.yaml:\d+: .*correct the YAML there$/)
  })
})

describe('healthbench', () => {
  it('becomes criteria with points, axis and tags', () => {
    const [item] = read(healthbenchRow).items
    expect(item).toMatchObject({ id: 'row1', source: 'healthbench', prompt: healthbenchRow.prompt })
    expect(item.rubric.criteria[0]).toEqual({
      id: 'c0',
      text: 'Names a dose',
      points: 5,
      category: 'accuracy',
      tags: ['level:example', 'axis:accuracy'],
    })
    expect(item.rubric.criteria[1]).toMatchObject({ points: -3, extra: { note: 'ours' } })
  })

  it('keeps ids, ideal completions and whatever else a row has', () => {
    const row = {
      ...healthbenchRow,
      prompt_id: 'p1',
      example_tags: ['theme:hedging'],
      ideal_completions_data: { ideal_completion: 'Ask a doctor.', ideal_completions_group: 'g' },
    }
    const { items } = read(row)
    expect(items[0]).toMatchObject({ id: 'p1', reference: 'Ask a doctor.' })
    expect(again(row, 'healthbench')).toEqual([row])
    expect(again({ ...row, ideal_completions_data: null }, 'healthbench')).toEqual([
      { ...row, ideal_completions_data: null },
    ])
    items[0].reference = 'Better.'
    expect(rubricRows(items, 'healthbench')).toEqual([
      { ...row, ideal_completions_data: { ideal_completion: 'Better.', ideal_completions_group: 'g' } },
    ])
  })

  it('writes what was changed', () => {
    const { items } = read(healthbenchRow)
    items[0].rubric.criteria[0] = { ...items[0].rubric.criteria[0], points: 9, text: 'Names the dose' }
    expect(rubricRows(items, 'healthbench')).toMatchObject([
      { rubrics: [{ criterion: 'Names the dose', points: 9 }, {}] },
    ])
  })

  const withTags = (tags: string[]) => ({
    prompt: [],
    rubrics: [{ criterion: 'The answer is right', points: 10, tags }],
  })
  const verifierOf = (tags: string[]) => read(withTags(tags)).items[0].rubric.criteria[0].verifier

  it('reads verifiers from tags and writes them back', () => {
    const tags = [
      'axis:accuracy',
      'verifier:rule',
      'function:math_verify',
      'parameters:a:\\frac{1}{2}',
      'level:x',
    ]
    expect(verifierOf(tags)).toEqual({ kind: 'rule', fn: 'math_equal', params: { gold: 'a:\\frac{1}{2}' } })
    expect(again(withTags(tags), 'healthbench')).toEqual([withTags(tags)])
    const other = ['verifier:rule', 'function:words', 'parameters:{"max":50}']
    expect(verifierOf(other)).toEqual({ kind: 'rule', fn: 'words', params: { max: 50 } })
    expect(verifierOf(['verifier:rule', 'function:json'])).toEqual({ kind: 'rule', fn: 'json' })
    expect(verifierOf(['verifier:rule', 'function:has', 'parameters:a word'])?.params).toEqual({
      parameters: 'a word',
    })
    expect(verifierOf(['verifier:llm', 'axis:accuracy'])).toBeUndefined()
  })

  it('writes new verifiers as tags', () => {
    const { items } = read(withTags(['axis:accuracy', 'verifier:rule', 'function:json']))
    const [criterion] = items[0].rubric.criteria
    for (const verifier of [
      { kind: 'rule', fn: 'math_equal', params: { gold: '42' } },
      { kind: 'formal', fn: 'entails', params: { depth: 2 } },
      { kind: 'rule', fn: 'has', params: { parameters: 'a word' } },
      undefined,
    ] as const) {
      items[0].rubric.criteria = [{ ...criterion, verifier }]
      const [row] = rubricRows(items, 'healthbench')
      const [back] = read(row).items[0].rubric.criteria
      expect(back.verifier).toEqual(verifier)
      expect(back.tags?.[0]).toBe('axis:accuracy')
    }
  })

  it('refuses a verifier that says too little', () => {
    expect(() => verifierOf(['verifier:rule'])).toThrow('rubrics[0].tags: expected a tag function:NAME')
    expect(() => verifierOf(['verifier:rule', 'function:math_verify'])).toThrow(
      'expected a tag parameters:GOLD',
    )
  })
})

describe('paperbench', () => {
  const leaf = (id: string, weight: number) => ({ id, requirements: `does ${id}`, weight, sub_tasks: [] })
  const tree = {
    id: 'r',
    requirements: 'all',
    weight: 1,
    sub_tasks: [
      { ...leaf('a', 1), task_category: 'Code Development' },
      { id: 'n', requirements: 'more', weight: 3, sub_tasks: [leaf('a', 1), leaf('z', 0), leaf('b', 2)] },
    ],
    task_category: null,
  }

  it('makes leaves criteria, worth their share; a leaf of weight 0 is none; ids become unique', () => {
    const [{ rubric }] = read(tree).items
    expect(rubric.criteria.map(({ id, points }) => [id, points])).toEqual([
      ['a', 1 / 4],
      ['a~2', 1 / 4],
      ['b', 1 / 2],
    ])
    expect(rubric.criteria[0]).toMatchObject({ text: 'does a', category: 'Code Development' })
    expect(again(tree, 'paperbench')).toEqual([tree])
    const verdicts = rubric.criteria.map(({ id }) => ({
      criterionId: id,
      met: id === 'a',
      source: 'llm' as const,
    }))
    expect(scoreByRule('tree', rubric, verdicts).score).toBe(1 / 4)
  })

  it('writes a flat rubric as a tree of one floor', () => {
    const criteria = [{ id: 'x', text: 'X', points: 2 }]
    expect(again({ id: 'f', title: 'F', criteria }, 'paperbench')).toEqual([
      {
        id: 'f',
        requirements: 'F',
        weight: 1,
        sub_tasks: [{ id: 'x', requirements: 'X', weight: 2, sub_tasks: [] }],
      },
    ])
  })
})

describe('checklists', () => {
  const bands = { '1-2': 'poor', '9-10': 'rich' }
  const rows: Record<string, Record<string, unknown>> = {
    'scholarqa-cs': {
      initial_prompt: 'Q',
      case_id: 'k',
      metric_config: {
        name: 'm',
        config: {
          question: 'another Q',
          length_weight: 0.05,
          other_properties: [{ name: 'nice_to_have_item_0', criterion: 'C', weight: 0.1, evidence: ['e'] }],
        },
      },
    },
    writingbench: { index: 3, query: 'Q', checklist: [{ name: 'N', criteria_description: 'C', ...bands }] },
    'deep-research-bench': {
      id: 7,
      prompt: 'Q',
      dimension_weight: { insight: 0.75, reading: 0.25 },
      criterions: {
        insight: [{ criterion: 'N', explanation: 'C', weight: 1, comment: 'x' }],
        reading: [
          { criterion: 'O', explanation: 'D', weight: 0.5 },
          { criterion: 'O', explanation: 'E', weight: 0.5 },
        ],
      },
    },
    biggen: {
      id: 'plan_1',
      task: 't',
      system_prompt: '',
      input: 'Q',
      reference_answer: 'A',
      score_rubric: { criteria: 'C', score1_description: 'poor', score2_description: 'rich' },
    },
  }

  it.each(Object.entries(rows))('%s: known by its content, unchanged on the way', (name, row) => {
    const { format, items } = read(row)
    expect(format).toBe(name)
    expect(items[0].prompt).toEqual([{ role: 'user', content: 'Q' }])
    expect(items[0].rubric.criteria[0].text).toBe('C')
    expect(again(row, format)).toEqual([row])
  })

  it('keep titles, categories, levels and shares', () => {
    const first = (name: string) => read(rows[name]).items[0]
    expect(first('scholarqa-cs').rubric.criteria[0]).toMatchObject({ category: 'nice_to_have', points: 0.1 })
    expect(first('writingbench').rubric.criteria[0]).toMatchObject({
      title: 'N',
      levels: [
        { low: 1, high: 2, text: 'poor' },
        { low: 9, high: 10, text: 'rich' },
      ],
    })
    expect(first('biggen').reference).toBe('A')
    const { criteria } = first('deep-research-bench').rubric
    // A prompt beside a rubric in another form is no prompt alone.
    expect(read(rows['deep-research-bench'], { promptsAlone: true }).items[0].rubric.criteria).toEqual(
      criteria,
    )
    expect(criteria.map(({ points }) => points)).toEqual([0.75, 0.125, 0.125])
    expect(criteria[2]).toMatchObject({ id: 'reading.1', title: 'O', category: 'reading' })
  })

  it('say what they lack', () => {
    const without = (name: string, change: object) => () => read({ ...rows[name], ...change })
    expect(without('writingbench', { checklist: [{ name: 'N', criteria_description: 'C' }] })).toThrow(
      'checklist[0]: expected at least two levels',
    )
    expect(without('deep-research-bench', { dimension_weight: { insight: 1 } })).toThrow(
      'expected the same dimensions in dimension_weight and criterions',
    )
    expect(without('biggen', { score_rubric: { criteria: 'C', score1_description: 1 } })).toThrow(
      'score_rubric.score1_description: expected a text',
    )
  })

  it('refuse what they have no place for, instead of losing it', () => {
    const { items } = read(healthbenchRow)
    for (const name of [
      'scholarqa-cs',
      'writingbench',
      'deep-research-bench',
      'biggen',
      'paperbench',
    ] as const)
      expect(() => rubricRows(items, name)).toThrow(
        'has no place for penalties (criterion c1); write native instead',
      )
    expect(() => rubricRows(read(rows.biggen).items, 'healthbench')).toThrow('no place for levels')
    expect(() => rubricRows(read(rows['deep-research-bench']).items, 'weighted')).toThrow(
      'no place for a tree',
    )
    const criteria = [{ id: 'x', text: 'X', points: 2, critical: true }]
    expect(() => again({ criteria }, 'healthbench')).toThrow('no place for critical criteria (criterion x)')
  })
})

describe('weighted', () => {
  const rubric = [
    { title: 'Dose', description: 'Essential Criteria: names a dose', weight: 5 },
    { title: 'Dose', description: 'Pitfall Criteria: is rude', weight: -1, type: 'x' },
    { description: 'short', weight: 0.5 },
  ]

  it('is a list alone', () => {
    const { format, layout, items } = read(rubric)
    expect({ format, layout }).toEqual({ format: 'weighted', layout: 'single' })
    expect(items[0].rubric.criteria.map(({ id, category }) => [id, category])).toEqual([
      ['Dose', 'essential'],
      ['Dose~2', 'pitfall'],
      ['c2', undefined],
    ])
    expect(rubricRows(items, 'weighted')).toEqual([rubric])
  })

  it.each([
    ['DR Tulu', { query: 'Q', rubrics: rubric, dataset: 'd' }],
    ['RaR', { question: 'Q', reference_answer: 'A', rubric, rubric_count: 3 }],
    ['neither', { rubrics: rubric }],
    [
      'ResearchRubrics',
      {
        ...{ prompt: 'Q', sample_id: 's', domain: 'AI & ML', conceptual_breadth: 'Moderate' },
        ...{ logical_nesting: 'Intermediate', exploration: 'Medium' },
        rubrics: [
          { criterion: 'C', weight: 4, axis: 'Explicit Criteria' },
          { criterion: 'D', weight: -3, axis: 'References' },
        ],
      },
    ],
    [
      'ResearchQA',
      {
        ...{ id: 'x', general_domain: 'g', subdomain: 's', field: 'f', query: 'Q', date: '2020-01-01' },
        rubric: [
          { rubric_item: 'C?', type: 'Cite', citation_metadata: null },
          { rubric_item: 'D?', type: 'Cite' },
        ],
      },
    ],
  ])('is a row of %s', (_, row) => {
    expect(read(row).format).toBe('weighted')
    expect(again(row, 'weighted')).toEqual([row])
    const ours = again(row, 'native')
    expect(rubricRows(read(ours).items, 'weighted')).toEqual([row])
  })

  it('has the kinds of ResearchRubrics and ResearchQA, and the levels of the latter', () => {
    const [{ id, rubric: axes }] = read({
      ...{ prompt: 'Q', sample_id: 's', rubrics: [{ criterion: 'C', axis: 'Implicit', weight: -3 }] },
    }).items
    expect([id, axes.criteria]).toMatchObject(['s', [{ text: 'C', points: -3, category: 'Implicit' }]])
    const [{ rubric: types }] = read({ query: 'Q', rubric: [{ rubric_item: 'C?', type: 'Cite' }] }).items
    expect(types.criteria[0]).toMatchObject({ text: 'C?', points: 1, category: 'Cite' })
    expect(types.criteria[0].levels?.map(({ low }) => low)).toEqual([1, 2, 3, 4, 5])
    expect(() => read({ query: 'Q', rubrics: [{ criterion: 'C' }] })).toThrow('weighted (no weight)')
  })

  it('is written from other formats with signs', () => {
    expect(again(healthbenchRow, 'weighted')).toEqual([
      {
        id: 'row1',
        query: 'How much?',
        rubrics: [
          { title: 'c0', description: 'Names a dose', weight: 5 },
          { title: 'c1', description: 'Is rude', weight: -3 },
        ],
      },
    ])
  })
})

describe('files', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gradus-rubric-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it.each(['one.yaml', 'one.json', 'one.jsonl'])('%s is read as it was written', name => {
    const path = join(folder, name)
    const file = read(healthbenchRow)
    writeRubricFile(path, file, { format: 'native' })
    const back = readRubricFile(path)
    expect(back.items).toEqual(file.items)
    writeRubricFile(path, back, { format: 'healthbench' })
    expect(rubricRows(readRubricFile(path).items, 'healthbench')).toEqual([healthbenchRow])
  })

  it('makes ids unique and keeps rows a list', () => {
    const path = join(folder, 'two.yaml')
    const row = { ...healthbenchRow, prompt_id: 'same' }
    const file = readRubricText(`${JSON.stringify(row)}\n${JSON.stringify(row)}`, 'two.jsonl')
    expect(file.items.map(({ id }) => id)).toEqual(['same', 'same~2'])
    writeRubricFile(path, file)
    expect(parse(readFileSync(path, 'utf8'))).toEqual([row, row])
  })

  it('says when there is none', () => {
    expect(() => readRubricFile(join(folder, 'none.yaml'))).toThrow('none.yaml: cannot be read')
  })
})
