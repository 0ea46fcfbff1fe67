/** @file Every command that reads a file, with a good file for it: what hostile inputs are made from. */

import type { Sandbox } from './cli.fixture.ts'

export interface Reader {
  name: string
  /** Ends of file names that are read in different ways. */
  endings: readonly string[]
  args: (file: string) => string[]
  /** One row, or the whole value, that the command takes. */
  good: unknown
  /** Every run of it starts a solver: one file of so many is enough. */
  oneOf?: number
  /** A plan may name files that are made before the run. */
  mayComeLater?: true
  /** stdout has to be JSON. */
  json?: boolean
  /** What it is asked to write, in the sandbox. */
  writes?: string
}

export const GOOD_RUBRIC = {
  id: 'rubric',
  criteria: [
    { id: 'cause', text: 'Names the cause', points: 5, category: 'accuracy', tags: ['a'] },
    {
      id: 'short',
      text: 'Is short',
      points: -2,
      verifier: { kind: 'rule', fn: 'contains', params: { any: ['x'] } },
    },
  ],
}

const INSTRUCTIONS_ROW = {
  key: 1,
  prompt: 'Why?',
  instruction_id_list: ['punctuation:no_comma'],
  kwargs: [{}],
}

/** A small rubric in every format that is read. */
const RUBRICS: Readonly<Record<string, unknown>> = {
  native: {
    id: 'q1',
    prompt: 'Why?',
    reference: 'Because.',
    rubric: { criteria: [{ id: 'a', text: 'Says why', points: 3 }] },
  },
  tree: {
    criteria: [
      { id: 'a', text: 'Says a', points: 1 },
      { id: 'b', text: 'Says b', points: 2 },
    ],
    tree: {
      id: 'root',
      weight: 1,
      children: [
        { id: 'a', weight: 1 },
        { id: 'b', weight: 2 },
      ],
    },
  },
  healthbench: {
    prompt_id: 'p',
    prompt: [{ role: 'user', content: 'Why?' }],
    rubrics: [{ criterion: 'Says why', points: 5, tags: ['axis:accuracy'] }],
    ideal_completions_data: { ideal_completion: 'Because.' },
  },
  paperbench: {
    id: 'root',
    requirements: 'All of it',
    weight: 1,
    sub_tasks: [
      { id: 'a', requirements: 'Part a', weight: 2, sub_tasks: [], task_category: 'Code' },
      { id: 'b', requirements: 'Part b', weight: 1, sub_tasks: [] },
    ],
  },
  scholarqa: {
    initial_prompt: 'Why?',
    case_id: 'c',
    metric_config: {
      name: 'm',
      config: {
        question: 'Why?',
        other_properties: [{ name: 'most_important_item_0', criterion: 'Says why', weight: 0.5 }],
      },
    },
  },
  writingbench: {
    index: 1,
    query: 'Write.',
    checklist: [
      {
        name: 'Style',
        criteria_description: 'Good style',
        '1-2': 'none',
        '3-4': 'some',
        '5-6': 'fair',
        '7-8': 'good',
        '9-10': 'best',
      },
    ],
  },
  'deep-research': {
    id: 1,
    prompt: 'Why?',
    dimension_weight: { insight: 0.5, readability: 0.5 },
    criterions: {
      insight: [{ criterion: 'Deep', explanation: 'Goes deep', weight: 1 }],
      readability: [{ criterion: 'Clear', explanation: 'Reads well', weight: 1 }],
    },
  },
  biggen: {
    id: 'b',
    system_prompt: 'You help.',
    input: 'Why?',
    reference_answer: 'Because.',
    score_rubric: {
      criteria: 'Good?',
      score1_description: 'bad',
      score2_description: 'poor',
      score3_description: 'fair',
      score4_description: 'good',
      score5_description: 'best',
    },
  },
  weighted: {
    id: 'w',
    query: 'Why?',
    rubrics: [{ title: 'Why', description: 'Essential Criteria: says why', weight: 5 }],
    reference_answer: 'Because.',
  },
}

const REGISTRATION = {
  paper: 'p',
  title: 'A title',
  recipe: 'checklist-cold-start',
  steps: 2,
  test: { problems: 4 },
  seeds: [1],
  starts: [{ name: 'a', recipe: 'checklist-cold-start', seed: 1 }],
  arms: { plain: { settings: {} } },
  controls: { of: 'plain', metric: 'score', smallestEffect: 0.1 },
  claims: [{ id: 'C', statement: 'It is so', arms: { a: 'plain' }, metric: 'score', smallestEffect: 0.1 }],
}

const REWARD = {
  server: { port: 0 },
  rubrics: { short: { criteria: [{ id: 'a', text: 'Says a', points: 1 }] } },
  routes: [{ path: '/v1/grade', rubric: 'short' }],
}

const LOGIC_ROW = {
  id: 'a',
  context: 'Every wumpus is red. Stella is a wumpus.',
  question: 'Based on the above information, is the following statement true or false? Stella is red.',
  options: ['A) True', 'B) False'],
  answer: 'A',
}

const FOLIO_ROW = {
  premises: ['Rex is kind.'],
  'premises-FOL': ['Kind(rex)'],
  conclusion: 'Rex is kind.',
  'conclusion-FOL': 'Kind(rex)',
  label: 'True',
}

/**
 * All commands that read a file.
 * @param model a checkpoint of the logic task
 * @param judge an endpoint that refuses every call
 */
export const readers = (sandbox: Sandbox, model: string, judge: string): Reader[] => {
  const rubric = sandbox.write('good/rubric.json', JSON.stringify(GOOD_RUBRIC))
  const responses = sandbox.write('good/responses.jsonl', '{"id": 1, "response": "the cause"}\n')
  const verdicts = sandbox.write('good/verdicts.jsonl', '{"id": "1", "verdicts": {"cause": true}}\n')
  const answer = { id: 'row1', response: 'the cause' }
  const answers = sandbox.write(
    'good/answers.jsonl',
    `${JSON.stringify(answer)}\n${JSON.stringify({ ...answer, id: 1 })}\n`,
  )
  const instructions = sandbox.write('good/instructions.jsonl', `${JSON.stringify(INSTRUCTIONS_ROW)}\n`)
  const asked = ['--judge', judge, '--model', 'm']
  const rows = ['jsonl']
  const values = ['yaml', 'json', 'jsonl']
  const response = { id: 'a', prompt: 'Why?', response: 'x', reference: 'y', metadata: { sources: ['z'] } }
  const graded = {
    id: 'a',
    criteria: [{ points: 5, id: 'a', category: 'c' }, { points: -2 }],
    verdicts: [true, { met: null, level: 1 }],
  }
  const printed = {
    id: 'a',
    score: 0.5,
    parts: { a: 1 },
    verdicts: [{ criterionId: 'cause', points: 5, met: true, source: 'llm' }],
    nulls: { positive: 0, negative: 0 },
  }
  return [
    {
      name: 'search build',
      endings: ['jsonl', 'md', 'txt'],
      args: file => ['search', 'build', file, '--out', sandbox.path('hostile.index'), '--json'],
      writes: 'hostile.index',
      good: { id: 'a', title: 'Wings', text: 'A wing lifts.' },
      json: true,
    },
    {
      name: 'grade --responses',
      endings: rows,
      args: file => ['grade', '--rubric', rubric, '--responses', file, '--json'],
      good: response,
      json: true,
    },
    {
      name: 'grade --dry-run',
      endings: rows,
      args: file => ['grade', '--rubric', rubric, '--responses', file, '--dry-run'],
      good: response,
    },
    ...Object.entries(RUBRICS).map(
      ([name, good]): Reader => ({
        name: `grade --rubric (${name})`,
        endings: values,
        args: file => ['grade', '--rubric', file, '--responses', responses],
        good,
      }),
    ),
    {
      name: 'score',
      endings: ['jsonl', 'json'],
      args: file => ['score', file, '--rule', 'signed', '--summary'],
      good: graded,
      json: true,
    },
    {
      name: 'score (tree)',
      endings: ['json'],
      args: file => ['score', file, '--rule', 'tree'],
      good: {
        id: 'r',
        sub_tasks: [
          { id: 'a', weight: 2, score: 1 },
          { weight: 1, sub_tasks: [], score: null },
        ],
      },
      json: true,
    },
    { name: 'profile', endings: rows, args: file => ['profile', file], good: printed },
    {
      name: 'profile --json',
      endings: rows,
      args: file => ['profile', file, '--json'],
      good: graded,
      json: true,
    },
    {
      name: 'profile --rubric',
      endings: values,
      args: file => ['profile', verdicts, '--rubric', file, '--by', 'category'],
      good: GOOD_RUBRIC,
    },
    {
      name: 'rubric lint',
      endings: values,
      args: file => ['rubric', 'lint', file, '--json'],
      good: GOOD_RUBRIC,
      json: true,
    },
    {
      name: 'rubric lint --verdicts',
      endings: rows,
      args: file => ['rubric', 'lint', rubric, '--verdicts', file],
      good: { ...printed, group: 'g', outcome: true, repeats: [{ cause: 0.5 }] },
    },
    {
      name: 'rubric lint --outcomes',
      endings: rows,
      args: file => ['rubric', 'lint', rubric, '--verdicts', verdicts, '--outcomes', file],
      good: { id: '1', outcome: true, group: 'g' },
    },
    {
      name: 'rubric perturb',
      endings: values,
      args: file => ['rubric', 'perturb', file, '--variant', 'inverse'],
      good: GOOD_RUBRIC,
    },
    {
      name: 'rubric refine --positives',
      endings: rows,
      args: file => ['rubric', 'refine', '--task', 't', '--positives', file, ...asked],
      good: { response: 'x' },
    },
    {
      name: 'rubric generate --data',
      endings: rows,
      args: file => ['rubric', 'generate', '--data', file, ...asked],
      good: { id: 1, question: 'Why?', answer: 'Because.' },
    },
    {
      name: 'judge check --labels',
      endings: rows,
      args: file => ['judge', 'check', '--labels', file, ...asked],
      good: { prompt: 'Why?', response: 'x', criterion: { text: 'Says why', points: 1 }, label: true },
    },
    {
      name: 'verify math',
      endings: rows,
      args: file => ['verify', 'math', file],
      good: { gold: '1/2', pred: '0.5', precision: 2 },
      json: true,
    },
    {
      name: 'verify instructions',
      endings: rows,
      args: file => ['verify', 'instructions', file],
      good: { instruction_id: 'punctuation:no_comma', kwargs: {}, response: 'x', prompt: 'y' },
      json: true,
    },
    {
      name: 'verify stages',
      endings: rows,
      args: file => ['verify', 'stages', file],
      good: { text: '<think>a</think><structured_plan>b</structured_plan><answer>c</answer>' },
      json: true,
    },
    {
      name: 'verify logic',
      oneOf: 6,
      endings: rows,
      args: file => ['verify', 'logic', file],
      good: FOLIO_ROW,
      json: true,
    },
    {
      name: 'eval --model (answers)',
      endings: rows,
      args: file => ['eval', '--data', instructions, '--task', 'ifeval', '--model', file, '--json'],
      good: { ...answer, id: 1, by: 'b', finishReason: 'stop', tokens: 3, verdicts: printed.verdicts },
      json: true,
    },
    {
      name: 'eval --task ifeval --data',
      endings: rows,
      args: file => ['eval', '--data', file, '--task', 'ifeval', '--model', answers, '--json'],
      good: INSTRUCTIONS_ROW,
      json: true,
    },
    {
      name: 'eval --task gsm8k --data',
      endings: rows,
      args: file => ['eval', '--data', file, '--task', 'gsm8k', '--model', answers, '--json'],
      good: { question: 'Why?', answer: 'So.\n#### 3' },
      json: true,
    },
    {
      name: 'eval --data',
      endings: rows,
      args: file => [
        'eval',
        '--task',
        'logic',
        '--model',
        model,
        '--data',
        file,
        '--limit',
        '1',
        '--max-tokens',
        '2',
        '--json',
      ],
      good: LOGIC_ROW,
      json: true,
    },
    {
      name: 'train FILE',
      endings: ['yaml', 'json'],
      args: file => ['train', file, '--dry-run', '--json'],
      good: {
        recipe: 'logic-cold-start',
        steps: 2,
        batch: 4,
        model: { shape: { hiddenSize: 32, layers: 1, heads: 2 } },
        seed: 1,
        optimizer: { learningRate: { peak: 0.001 } },
      },
      json: true,
    },
    ...(['folio', 'prontoqa', 'proofwriter'] as const).map(
      (format): Reader => ({
        name: `train (${format})`,
        mayComeLater: true,
        endings: rows,
        args: file => [
          ...['train', 'rubric-as-reward', '--preset', 'quick', '--dry-run'],
          ...['--set', `model.folder=${model}`, 'coldStart=null'],
          ...[`task.file=${file}`, `task.format=${format}`],
        ],
        good: format === 'folio' ? FOLIO_ROW : LOGIC_ROW,
      }),
    ),
    {
      name: 'train (labels)',
      mayComeLater: true,
      endings: rows,
      args: file => ['train', 'learned-verifier', '--dry-run', '--set', `data.file=${file}`],
      good: { criterion: 'Says why', prompt: 'Why?', response: 'x', met: true },
    },
    {
      name: 'experiment',
      endings: ['yaml', 'json'],
      args: file => [
        'experiment',
        file,
        '--dry-run',
        '--json',
        '--work',
        sandbox.path('work'),
        '--results',
        sandbox.path('results'),
      ],
      good: REGISTRATION,
      json: true,
    },
    {
      name: 'serve reward --check',
      endings: ['yaml', 'json'],
      args: file => ['serve', 'reward', '--check', '--config', file],
      good: REWARD,
    },
  ]
}
