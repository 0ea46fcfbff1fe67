// What is disturbed: every recipe in its smallest form, and the commands around them.
import { SMALL } from './fixtures.js'

const local = (threads, more = {}) => ({ policy: { threads, ...more } })
const everyStep = { checkpoint: { every: 1, keepLast: 3 } }

const logic = ({ logicModel }, more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 6,
  model: { folder: logicModel },
  task: { hops: 1 },
  condition: 'hybrid',
  credit: 'per-step',
  rollout: { prompts: 4, samples: 4, maxTokens: 32 },
  evaluation: { problems: 4, samples: 1, sets: ['train-distribution'] },
  ...more,
})

const conversations = ({ chatModel, conversations: file }, { judge, cache }, more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 5,
  model: { folder: chatModel },
  task: { kind: 'conversations', file, holdOut: 2 },
  judge: {
    fleet: {
      endpoints: [{ url: judge, model: 'chaos', sendTopK: true, attemptTimeoutMs: 2000 }],
      ...{ retries: 12, backoffMs: 20, longestBackoffMs: 300, longestRetryAfterMs: 300, startupMs: 60_000 },
      breaker: { pauseMs: 50, longestPauseMs: 500 },
    },
    cache: { folder: cache },
  },
  rollout: { prompts: 2, samples: 3, maxTokens: 12 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 2 },
  scaffold: { decay: { kind: 'linear' } },
  ...more,
})

/** The same without a scaffold. */
const plainConversations = (fixtures, places) => {
  const { scaffold: _scaffold, task, ...rest } = conversations(fixtures, places)
  const { kind: _kind, ...rows } = task
  return { ...rest, task: rows }
}

const packing = ({ packingModel }, more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 6,
  model: { folder: packingModel },
  rollout: { prompts: 4, samples: 4, maxTokens: 26 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
  evaluation: { problems: 4 },
  ...more,
})

/** Both roles, with a bank of criteria that lives across steps. */
const selfProposed = (more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 6,
  model: { folder: 'package:models/arithmetic-start' },
  task: { kind: 'arithmetic', pool: 4 },
  rollout: { prompts: 2, samples: 4, maxTokens: 64 },
  rubricator: { maxTokens: 80 },
  scaffold: { decay: { kind: 'linear' } },
  evaluation: { problems: 4, rubrics: 2 },
  ...more,
})

/** A rubric that the run writes itself, and a weight that adapts. */
const thinking = (more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 6,
  model: { folder: 'package:models/packing-thinking-start' },
  rubric: { source: 'refined', problems: 8 },
  fusion: { adaptive: {} },
  rollout: { prompts: 2, samples: 4, maxTokens: 56 },
  evaluation: { problems: 4, samples: 1 },
  ...more,
})

/** Rubrics that evolve, lessons that are remembered, batches that come again, and reflections that are learnt a step later. */
const research = (more = {}) => ({
  ...local(1),
  ...everyStep,
  steps: 6,
  model: { folder: 'package:models/records-start' },
  window: { steps: 2 },
  rollout: { prompts: 2, samples: 4, maxTokens: 48 },
  reflection: { candidates: 3 },
  memory: { kind: 'bank', writeEverySteps: 2 },
  evaluation: { problems: 4 },
  ...more,
})

/** Several turns with a tool, paid by rules. */
const withTools = ({ chatModel, asked, manners, index }) => ({
  ...local(1),
  ...everyStep,
  steps: 5,
  model: { folder: chatModel },
  task: { kind: 'tools', file: asked, holdOut: 2, rubric: manners, tools: [{ kind: 'index', path: index }] },
  rollout: { prompts: 2, samples: 3, maxTokens: 12 },
  optimizer: { learningRate: { kind: 'constant', peak: 1e-3 } },
})

const pipelined = { pipeline: true }
const twoEngines = { ...pipelined, ...local(1, { sampler: {} }) }

/**
 * @typedef {object} Job
 * @property {string} name
 * @property {'train' | 'grade' | 'experiment' | 'serve'} kind
 * @property {string} [recipe]
 * @property {boolean} [judged] asks the judge over HTTP
 * @property {(fixtures: Record<string, string>, places: { judge: string, cache: string }) => object} [settings]
 */

/** @type {readonly Job[]} */
export const JOBS = [
  { name: 'rubric-as-reward', kind: 'train', recipe: 'rubric-as-reward', settings: f => logic(f) },
  {
    name: 'rubric-as-reward, two threads',
    ...{ kind: 'train', recipe: 'rubric-as-reward' },
    settings: f => logic(f, local(2, { spinning: false })),
  },
  {
    name: 'rubric-as-reward, own cold start',
    ...{ kind: 'train', recipe: 'rubric-as-reward' },
    settings: f => ({
      ...logic(f, { steps: 3, model: { folder: null } }),
      coldStart: coldStart({ checkpoint: { every: 1 } }),
    }),
  },
  {
    name: 'grpo, judge',
    ...{ kind: 'train', recipe: 'grpo', judged: true },
    settings: (f, places) => plainConversations(f, places),
  },
  {
    name: 'ruscarl, judge',
    ...{ kind: 'train', recipe: 'ruscarl', judged: true },
    settings: (f, places) => conversations(f, places),
  },
  {
    name: 'ruscarl, judge, pipelined',
    ...{ kind: 'train', recipe: 'ruscarl', judged: true },
    settings: (f, places) => conversations(f, places, pipelined),
  },
  {
    name: 'ruscarl, judge, two engines',
    ...{ kind: 'train', recipe: 'ruscarl', judged: true },
    settings: (f, places) => conversations(f, places, twoEngines),
  },
  { name: 'ruscarl, packing', kind: 'train', recipe: 'ruscarl', settings: f => packing(f) },
  {
    name: 'distill, then rewards',
    ...{ kind: 'train', recipe: 'distill' },
    settings: f => packing(f, { rewards: { after: 3 } }),
  },
  {
    name: 'ruscarl, packing, pipelined',
    ...{ kind: 'train', recipe: 'ruscarl' },
    settings: f => packing(f, pipelined),
  },
  {
    name: 'ruscarl, packing, two engines',
    ...{ kind: 'train', recipe: 'ruscarl' },
    settings: f => packing(f, twoEngines),
  },
  { name: 'rlcer', kind: 'train', recipe: 'rlcer', settings: () => selfProposed() },
  {
    name: 'rlcer, no critic, pipelined',
    ...{ kind: 'train', recipe: 'rlcer' },
    settings: () => selfProposed({ ...pipelined, critic: null }),
  },
  { name: 'rit', kind: 'train', recipe: 'rit', settings: () => thinking() },
  {
    name: 'rit, critic, pipelined',
    ...{ kind: 'train', recipe: 'rit' },
    settings: () => thinking({ ...pipelined, critic: {} }),
  },
  { name: 'rubricem', kind: 'train', recipe: 'rubricem', settings: () => research() },
  {
    name: 'rubricem, pipelined',
    ...{ kind: 'train', recipe: 'rubricem' },
    settings: () => research(pipelined),
  },
  {
    name: 'rubricem, two engines',
    ...{ kind: 'train', recipe: 'rubricem' },
    settings: () => research(twoEngines),
  },
  {
    name: 'records-cold-start',
    ...{ kind: 'train', recipe: 'records-cold-start' },
    settings: () => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 8, evaluation: { problems: 4 } },
      model: { shape: { ...SMALL, maxPositions: 320 } },
    }),
  },
  {
    name: 'rubricem, two steps ahead',
    ...{ kind: 'train', recipe: 'rubricem' },
    settings: () => research({ ...twoEngines, pipeline: 2, window: { steps: 3 } }),
  },
  { name: 'environment, tools', kind: 'train', recipe: 'environment', settings: withTools },
  {
    name: 'sft',
    ...{ kind: 'train', recipe: 'sft' },
    settings: ({ chatModel, demonstrations }) => ({
      ...local(1),
      ...everyStep,
      ...{ model: { folder: chatModel }, data: demonstrations, holdOut: 2, steps: 12, batch: 2 },
    }),
  },
  {
    name: 'arithmetic-cold-start',
    ...{ kind: 'train', recipe: 'arithmetic-cold-start' },
    settings: () => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 8, task: { labels: 20 }, evaluation: { problems: 4, maxTokens: 24 } },
      model: { shape: { ...SMALL, maxPositions: 192 } },
    }),
  },
  {
    name: 'logic-rubric-start',
    ...{ kind: 'train', recipe: 'logic-rubric-start' },
    settings: ({ logicModel: folder }) => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 4, model: { folder, shape: { maxPositions: 320 } } },
      task: {
        ...{ problems: { hops: [1] }, labels: 20, rubricTokens: 16 },
        reasoners: { problems: 8, samples: 2, maxTokens: 24, keep: 'all' },
      },
      evaluation: { problems: 4, maxTokens: 24 },
    }),
  },
  {
    name: 'logic-cold-start',
    ...{ kind: 'train', recipe: 'logic-cold-start' },
    settings: () => ({ ...coldStart({}), ...everyStep, steps: 12, ...local(1) }),
  },
  {
    name: 'checklist-cold-start',
    ...{ kind: 'train', recipe: 'checklist-cold-start' },
    settings: () => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 8, evaluation: { problems: 4 } },
      model: { shape: { ...SMALL, maxPositions: 96 } },
    }),
  },
  {
    name: 'chat-cold-start',
    ...{ kind: 'train', recipe: 'chat-cold-start' },
    settings: () => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 8, evaluation: { problems: 4 } },
      model: { shape: SMALL },
      task: { vocabulary: 1024 },
    }),
  },
  {
    name: 'learned-verifier',
    ...{ kind: 'train', recipe: 'learned-verifier' },
    settings: ({ labels: file }) => ({
      ...local(1),
      ...everyStep,
      ...{ steps: 12, batch: 8, data: { file }, evaluation: { rows: 20 } },
      model: { shape: { ...SMALL, maxPositions: 48 } },
    }),
  },
  { name: 'grade', kind: 'grade', judged: true },
  { name: 'experiment', kind: 'experiment' },
  { name: 'serve reward', kind: 'serve', judged: true },
]

const coldStart = more => ({
  ...{ steps: 4, batch: 4, model: { shape: SMALL } },
  task: { curriculum: { kind: 'short-proofs', maxHops: 1 }, tests: { hops: [1] } },
  evaluation: { problems: 4, maxTokens: 24 },
  ...more,
})

const ABSENT = { absent: 'a test of the machinery has nothing to control for' }

/** A registration of two arms with a seed. */
export const registration = ({ logicModel: _model }) => ({
  paper: 'chaos',
  title: 'Two arms, one seed, three steps',
  recipe: 'rubric-as-reward',
  settings: {
    task: { hops: 1 },
    condition: 'hybrid',
    credit: 'per-step',
    rollout: { prompts: 2, samples: 4, maxTokens: 32 },
    evaluation: { samples: 1, sets: ['train-distribution'] },
    checkpoint: { every: 1 },
  },
  steps: 3,
  test: { problems: 4 },
  seeds: [1],
  starts: [
    { name: 'a', recipe: 'logic-cold-start', seed: 1, settings: coldStart({ checkpoint: { every: 1 } }) },
  ],
  arms: {
    outcome: { settings: { condition: 'outcome' } },
    rubric: { summary: 'answer, steps and format', settings: { condition: 'rubric' } },
  },
  controls: {
    ...{ of: 'rubric', metric: 'score', smallestEffect: 0.02 },
    ...{ 'random-reward': ABSENT, 'shuffled-rubrics': ABSENT, 'flipped-verdicts': ABSENT },
  },
  claims: [
    {
      ...{ id: 'CHAOS-1', statement: 'The rubric beats the outcome.', smallestEffect: 0.02 },
      arms: { a: 'rubric', b: 'outcome' },
      metric: { name: 'score', set: 'train-distribution' },
    },
  ],
})

/** `--set` of each of a configuration's keys. */
export const setOptions = settings =>
  Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${JSON.stringify(value)}`])
