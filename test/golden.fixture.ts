/** @file Tiny runs of each method on its tasks. What a change of the code's shape must leave equal, bit by bit. */

import { join } from 'node:path'
import { HttpStageJudge } from '../src/grade/evolving/http-stage-judge.fixture.ts'
import { HttpJudge } from '../src/grade/judge/http-judge.fixture.ts'
import { saveCheckpoint } from '../src/model/checkpoint.ts'
import { writeTinyChat } from '../src/model/tiny-chat.fixture.ts'
import { initWeights } from '../src/model/weights.ts'
import { wordModel } from '../src/recipes/common/word-models.ts'
import { folioRows, proofWriterRows, writeRows } from '../src/recipes/rubric-as-reward/sources.fixture.ts'
import { buildIndex, ROW_KEYS, readDocuments } from '../src/search/index.ts'
import { LOGIC_RUBRIC_VOCABULARY, logicRubricTokenizer } from '../src/tasks/logic/thinking/index.ts'
import { writeQuestions } from '../src/tasks/questions/rows.fixture.ts'
import { type FakeOpenEnv, startFakeOpenEnv } from '../src/tools/openenv/fake-server.fixture.ts'
import { modelShapeSchema } from '../src/train/config.ts'

/** What the runs need beside what ships: random models, files of rows, a search index, judges and an environment over HTTP. */
export interface GoldenWorld {
  chat: string
  /** The same, with room for an agent's prompt and reflections. */
  agent: string
  /** Of the words that rubrics of proofs have. */
  rubricator: string
  rows: string
  labels: string
  messages: string
  questions: string
  writing: string
  /** Of an agent. */
  asked: string
  index: string
  folio: string
  proofwriter: string
  judge: HttpJudge
  stageJudge: HttpStageJudge
  environment: FakeOpenEnv
}

const criteria = [
  {
    id: 'e',
    text: 'has an e',
    points: 1,
    verifier: { kind: 'rule', fn: 'contains', params: { any: ['e'] } },
  },
  { id: 'short', text: 'is short', points: 2, verifier: { kind: 'rule', fn: 'length', params: { max: 5 } } },
  { id: 'clear', text: 'is clear', points: -1 },
]
const TOPICS = ['tent', 'rope', 'map', 'stove', 'lamp', 'knife']

/** A random model of logic with rubrics. */
const writeRubricator = (folder: string): string => {
  const shape = modelShapeSchema.parse({ hiddenSize: 32, layers: 1, heads: 2, maxPositions: 224 })
  const config = wordModel(LOGIC_RUBRIC_VOCABULARY)(shape)
  const files = new Map(Object.entries(logicRubricTokenizer(224)))
  saveCheckpoint(folder, { config, weights: initWeights(config, 1), files })
  return folder
}

/** What an agent may search: a passage a topic. */
const writeIndex = async (dir: string): Promise<string> => {
  const path = join(dir, 'topics.index')
  const documents = writeRows(
    join(dir, 'documents.jsonl'),
    TOPICS.map(topic => ({ title: topic, text: `A ${topic} is useful on a trip.` })),
  )
  await buildIndex(path, readDocuments([documents], { ...ROW_KEYS, id: 'title' }), {})
  return path
}

export const startGoldenWorld = async (dir: string): Promise<GoldenWorld> => ({
  chat: writeTinyChat(join(dir, 'chat'), 8192),
  agent: writeTinyChat(join(dir, 'agent'), 32_768),
  rubricator: writeRubricator(join(dir, 'rubricator')),
  rows: writeRows(
    join(dir, 'rows.jsonl'),
    TOPICS.map((topic, i) => ({
      id: topic,
      prompt: `What is a ${topic}?`,
      criteria: criteria.slice(0, 2 + (i % 2)),
    })),
  ),
  labels: writeRows(
    join(dir, 'labels.jsonl'),
    Array.from({ length: 40 }, (_, i) => ({
      criterion: 'names a tool',
      prompt: `Trip ${i}?`,
      response: i % 3 === 0 ? `take the ${TOPICS[i % 6]} along` : `say ${i} words`,
      met: i % 3 === 0,
    })),
  ),
  messages: writeRows(
    join(dir, 'messages.jsonl'),
    TOPICS.map(topic => ({
      messages: [
        { role: 'user', content: `What is a ${topic}?` },
        { role: 'assistant', content: `A ${topic} is useful.` },
      ],
    })),
  ),
  questions: writeQuestions(join(dir, 'questions'), 'dapo'),
  writing: writeQuestions(join(dir, 'writing'), 'writingbench'),
  asked: writeRows(
    join(dir, 'asked.jsonl'),
    TOPICS.map(topic => ({ id: topic, question: `What is a ${topic}?`, answer: 'useful' })),
  ),
  index: await writeIndex(dir),
  folio: writeRows(join(dir, 'folio.jsonl'), folioRows(5, true)),
  proofwriter: writeRows(join(dir, 'proofwriter.jsonl'), proofWriterRows(12)),
  judge: await HttpJudge.start(response => response.length % 2 === 0),
  stageJudge: await HttpStageJudge.start(),
  environment: await startFakeOpenEnv(['tent', 'rope', 'map']),
})

const policy = { threads: 1, spinning: false }
const optimizer = { learningRate: { kind: 'constant', peak: 1e-3 } }
const common = {
  policy,
  optimizer,
  steps: 2,
  rollout: { prompts: 2, samples: 4 },
  evaluation: { problems: 3, samples: 1 },
}
const cold = { policy, optimizer, steps: 2, batch: 4, evaluation: { problems: 2 } }
const shape = { hiddenSize: 32, layers: 1, heads: 2 }
/** Checkpoints that ship. */
const starts = {
  packing: { model: { folder: 'package:models/packing-start' } },
  thinking: { model: { folder: 'package:models/packing-thinking-start' } },
  arithmetic: { model: { folder: 'package:models/arithmetic-start' } },
  records: { model: { folder: 'package:models/records-start' } },
}
const control = { control: 'shuffled' }
/** A hundred questions' rubrics would be most of the run. */
const rlcer = {
  ...{ recipe: 'rlcer', ...common, ...starts.arithmetic },
  evaluation: { ...common.evaluation, rubrics: 4 },
}
/** What agents search in. */
const searchOf = (path: string) => [{ kind: 'index', path, top: 1, snippetChars: 80 }]

export interface GoldenRun {
  settings: object
  /** It is trained so many steps further after its end. */
  further?: number
}

/** Options of rewards and negative controls, in the methods that have them. */
const optionRuns = (
  { packing, thinking, records }: typeof starts,
  { fleet, model, short, conversations, longer }: Record<string, object> & { fleet: { endpoints: object[] } },
): Record<string, GoldenRun> => {
  const heldOut = { fleet: { endpoints: fleet.endpoints.map(own => ({ ...own, model: 'n' })) } }
  const rubricDropout = { rate: 0.5, keepAtLeast: 1 }
  const ruscarl = { recipe: 'ruscarl', ...common, ...packing }
  const rit = { recipe: 'rit', ...common, ...thinking }
  const grpo = { recipe: 'ruscarl', ...common, model, rollout: short, task: conversations }
  return {
    'ruscarl, packing with a judge of groups': {
      settings: { ...ruscarl, rubricDropout, groupJudge: { kind: 'scripted', placeBias: 0.2 } },
    },
    'ruscarl, packing with careless and inverted verdicts': {
      settings: { ...ruscarl, flipRate: 0.2, task: { kind: 'packing', carelessJudge: true } },
      further: 3,
    },
    'ruscarl, packing with random rewards and lessons': {
      settings: { ...ruscarl, reward: 'random', memory: { kind: 'bank' } },
      further: 3,
    },
    'ruscarl, packing with a scoring rule': {
      settings: { ...ruscarl, scoringRule: { name: 'soft-min' } },
    },
    'ruscarl, packing with less for repetition': {
      settings: { ...ruscarl, repetition: { n: 2, factor: 0.5 } },
    },
    'ruscarl, packing with negated rubrics': { settings: { ...ruscarl, noise: 'negated' } },
    'ruscarl, conversations with a held-out judge': {
      settings: {
        ...{ ...grpo, rubricDropout, criterionGroups: [{ criteria: ['e'], voidedBy: ['clear'] }] },
        judge: { fleet, heldOut: { ...heldOut, rollouts: { share: 0.5 }, evaluations: true } },
      },
    },
    'rit, packing with options': {
      settings: {
        ...rit,
        rubricDropout,
        control: 'shuffled',
        normalise: 'part',
        memory: { kind: 'bank' },
        scaffold: {},
      },
      further: 3,
    },
    'rit, packing with random thinking': {
      settings: { ...rit, control: 'random', critic: {}, fusion: { adaptive: {} } },
    },
    'rit, packing, a group in one call': {
      settings: { ...rit, control: 'flipped', rubricDropout, thinkingBy: 'group', judge: { fleet } },
    },
    'rlcer, arithmetic with options': {
      settings: {
        ...{ ...rlcer, critic: null, advantage: { perPart: true } },
        ...{ rubricDropout, control: 'others', overlong: { buffer: 8 } },
        ...{ task: { kind: 'arithmetic', pool: 4 }, scaffold: {} },
      },
      further: 3,
    },
    'rlcer, arithmetic with random verdicts': {
      settings: { ...rlcer, control: 'random', controlAt: 'verdicts' },
    },
    'rubricem, records with options': {
      settings: { recipe: 'rubricem', ...common, ...records, rubricDropout, control: 'shuffled' },
      further: 3,
    },
    'rubricem, records with random rewards': {
      settings: { recipe: 'rubricem', ...common, ...records, control: 'random' },
    },
    'rubric-as-reward, dropout and random rewards': {
      settings: { ...longer, condition: 'rubric', rubricDropout, control: 'random' },
    },
    'rubric-as-reward, dropout, normalised and flipped': {
      settings: { ...longer, condition: 'rubric_norm', rubricDropout, control: 'flipped' },
    },
  }
}

/** By name. The first run of each method goes on after its end. */
export const goldenRuns = (world: GoldenWorld): Readonly<Record<string, GoldenRun>> => {
  const fleet = { endpoints: [{ url: world.judge.url, model: 'm' }] }
  const model = { folder: world.chat }
  const short = { prompts: 2, samples: 3, maxTokens: 12 }
  const conversations = { kind: 'conversations', file: world.rows, holdOut: 2 }
  const longer = {
    recipe: 'rubric-as-reward',
    ...common,
    model: { folder: 'package:models/logic-short' },
    task: { hops: 6, style: 'varied' },
    rollout: { prompts: 2, samples: 4, maxTokens: 96 },
    evaluation: { problems: 3, samples: 1, sets: ['varied'] },
  }
  return {
    'rubric-as-reward, credit by step': {
      settings: { ...longer, condition: 'rubric', credit: 'per-step' },
      further: 3,
    },
    'rubric-as-reward, normalised': { settings: { ...longer, condition: 'rubric_norm' } },
    'rubric-as-reward, rejection': { settings: { ...longer, condition: 'proof', method: 'rejection' } },
    'rubric-as-reward, shuffled': { settings: { ...longer, condition: 'rubric', ...control } },
    'rubric-as-reward, sources': {
      settings: {
        recipe: 'rubric-as-reward',
        ...common,
        condition: 'hybrid',
        model,
        task: {
          ...{ prompt: 'chat', formulas: 'shown' },
          sources: [
            { kind: 'folio', path: world.folio, weight: 2 },
            { kind: 'proofwriter', path: world.proofwriter, part: 'train' },
          ],
        },
        rollout: short,
        evaluation: {
          ...{ sets: [], problems: 3, samples: 1, greedy: false },
          sources: [{ kind: 'proofwriter', path: world.proofwriter, part: 'test' }],
        },
      },
    },
    'ruscarl, packing': { settings: { recipe: 'ruscarl', ...common, ...starts.packing }, further: 3 },
    'ruscarl, packing with dropout and shuffled rubrics': {
      settings: {
        recipe: 'ruscarl',
        ...common,
        ...starts.packing,
        rubricDropout: { rate: 0.3 },
        noise: 'shuffled',
      },
    },
    'ruscarl, conversations': {
      settings: {
        recipe: 'ruscarl',
        ...common,
        model,
        task: conversations,
        judge: { fleet },
        rollout: short,
      },
    },
    'distill, packing, then rewards': {
      settings: {
        ...{ recipe: 'distill', ...common, ...starts.packing, rewards: { after: 2 } },
        rollout: { prompts: 2, samples: 4, maxTokens: 26 },
      },
      further: 3,
    },
    'distill, arithmetic': {
      settings: {
        ...{ recipe: 'distill', ...common, ...starts.arithmetic, task: { kind: 'arithmetic' } },
        ...{ steps: 1, rollout: { prompts: 1, samples: 2, maxTokens: 64 } },
        evaluation: { problems: 1, samples: 1, greedy: false },
      },
    },
    'distill, conversations': {
      settings: {
        ...{ recipe: 'distill', ...common, model, task: conversations, judge: { fleet } },
        rollout: short,
      },
    },
    'grpo, conversations': {
      settings: {
        recipe: 'grpo',
        ...common,
        model,
        task: { file: world.rows, holdOut: 2 },
        judge: { fleet },
        rollout: short,
      },
    },
    'rlcer, arithmetic': { settings: rlcer, further: 3 },
    'rlcer, logic': {
      settings: {
        ...{ recipe: 'rlcer', ...common, model: { folder: world.rubricator } },
        task: { kind: 'logic', hops: [1], nodes: [2, 2] },
        rollout: { prompts: 2, samples: 3, maxTokens: 12 },
        rubricator: { maxTokens: 80, constrained: true, format: { minCriteria: 5, maxCriteria: 6 } },
        evaluation: { problems: 3, rubrics: 2 },
      },
    },
    'rlcer, questions': {
      settings: {
        ...{ recipe: 'rlcer', ...common, model, critic: null, dropZero: false },
        task: { kind: 'questions', format: 'dapo', file: world.questions, holdOut: 2 },
        verifier: { kind: 'judge', judge: { fleet } },
        rollout: { prompts: 1, samples: 2, maxTokens: 8 },
        rubricator: { maxTokens: 8 },
        evaluation: { problems: 2, rubrics: 0 },
      },
    },
    'rit, packing': { settings: { recipe: 'rit', ...common, ...starts.thinking }, further: 3 },
    'rit, arithmetic': {
      settings: { recipe: 'rit', ...common, ...starts.arithmetic, task: { kind: 'arithmetic' } },
    },
    'rit, questions': {
      settings: {
        ...{ recipe: 'rit', ...common, model, judge: { fleet }, rollout: short },
        task: { kind: 'questions', format: 'writingbench', file: world.writing, holdOut: 2 },
        rubric: { source: 'file', file: 'package:examples/thinking/writingbench.yaml' },
      },
    },
    ...optionRuns(starts, { fleet, model, short, conversations, longer }),
    'rubricem, records': { settings: { recipe: 'rubricem', ...common, ...starts.records }, further: 3 },
    'rubricem, by the answer alone': {
      settings: {
        ...{ recipe: 'rubricem', ...common, ...starts.records },
        credit: { mode: 'terminal' },
        reflection: { enabled: false },
        memory: { kind: 'none' },
      },
    },
    'rubricem, research': {
      settings: {
        ...{ recipe: 'rubricem', ...common, model: { folder: world.agent } },
        task: {
          ...{ kind: 'research', file: world.asked, holdOut: 3, tools: searchOf(world.index) },
          ...{ maxPromptTokens: 14_000, maxTokens: 9000, maxOutputTokens: 500, maxReflectorTokens: 22_000 },
        },
        judge: {
          kind: 'chat',
          fleet: { endpoints: [{ url: world.stageJudge.url, model: 'm' }] },
        },
        rollout: { prompts: 1, samples: 2, maxTokens: 128 },
        reflection: { candidates: 2, maxTokens: 64 },
        evaluation: { every: 0, problems: 2, reuse: false },
      },
    },
    'environment, tools': {
      settings: {
        ...{ recipe: 'environment', ...common, model: { folder: world.agent }, judge: { fleet } },
        task: { kind: 'tools', file: world.rows, holdOut: 2, tools: searchOf(world.index) },
        rollout: { prompts: 2, samples: 2, maxTokens: 12 },
        evaluation: { problems: 2 },
      },
    },
    'environment, openenv': {
      settings: {
        ...{ recipe: 'environment', ...common, ...starts.packing },
        task: {
          kind: 'openenv',
          url: world.environment.url,
          train: 3,
          test: 2,
          prompt: '{clue}',
          maxTurns: 2,
          action: { kind: 'text', field: 'guess' },
        },
        rollout: { prompts: 2, samples: 2, maxTokens: 24 },
        evaluation: { problems: 2 },
      },
      further: 3,
    },
    'sft, messages': {
      settings: {
        recipe: 'sft',
        policy,
        optimizer,
        steps: 2,
        batch: 2,
        model,
        data: world.messages,
        holdOut: 2,
      },
      further: 3,
    },
    'learned-verifier': {
      settings: { recipe: 'learned-verifier', policy, steps: 2, batch: 4, data: { file: world.labels } },
    },
    'logic-cold-start': {
      settings: {
        recipe: 'logic-cold-start',
        ...cold,
        model: { shape },
        task: { tests: { hops: [1] } },
      },
    },
    'logic-rubric-start': {
      settings: {
        recipe: 'logic-rubric-start',
        ...cold,
        task: { problems: { hops: [2], nodes: [3, 4] }, reasoners: { problems: 4 } },
      },
    },
    'checklist-cold-start': { settings: { recipe: 'checklist-cold-start', ...cold, model: { shape } } },
    'arithmetic-cold-start': { settings: { recipe: 'arithmetic-cold-start', ...cold, model: { shape } } },
    'records-cold-start': { settings: { recipe: 'records-cold-start', ...cold, model: { shape } } },
    'chat-cold-start': { settings: { recipe: 'chat-cold-start', ...cold, model: { shape } } },
  }
}
