/** @file Runs of rubricem on real text for tests: made-up towns and rivers, an index of them, a judge over HTTP, agents by script. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { HttpStageJudge, type HttpStageJudgeOptions } from '../../grade/evolving/http-stage-judge.fixture.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import { writeTinyChat } from '../../model/tiny-chat.fixture.ts'
import { readEvals, readMetrics, readRollouts, readRubricRows, withoutTimings } from '../../runs/readers.ts'
import { buildIndex, ROW_KEYS, readDocuments } from '../../search/index.ts'
import type { Tool } from '../../tools/index.ts'
import { rubricemSchema } from './config.ts'
import { runRubricem } from './run.ts'
import { type ResearcherScript, ScriptedResearcher } from './scripted-researcher.fixture.ts'

export interface Row {
  id?: string
  question: string
  answer?: string
  criteria?: { title: string; description: string; weight?: number; sign?: string }[]
}

export const writeRows = (path: string, rows: readonly object[]): string => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  return path
}

/** Towns with rivers, made up here. */
const TOWNS = [
  'Aldmar',
  'Brenow',
  'Corvel',
  'Dunsby',
  'Eskar',
  'Fenwick',
  'Gorlin',
  'Hestan',
  'Isver',
  'Jorsk',
]
const RIVERS = ['Tarn', 'Ulme', 'Vess', 'Wenda', 'Xanto']
export const made = {
  documents: [
    ...TOWNS.map((town, i) => ({
      title: town,
      text: `${town} is a town on the river ${RIVERS[i % 5]}, known for its market.`,
    })),
    ...RIVERS.map((river, i) => ({
      title: river,
      text: `The ${river} is a river that flows into the sea near cape ${i + 3}.`,
    })),
  ],
  questions: TOWNS.map(
    (town, i): Row => ({
      id: `town-${i}`,
      question: `Near which cape does the river of ${town} reach the sea?`,
      answer: `cape ${(i % 5) + 3}`,
      ...(i < 3 && {
        criteria: [{ title: 'names the cape', description: 'Names the right cape', weight: 3 }],
      }),
    }),
  ),
}

export interface Run {
  script?: Partial<ResearcherScript>
  rows?: readonly Row[]
  tools?: readonly Tool[]
  resume?: boolean
}

const answersOf = (rows: readonly Row[]) =>
  new Map(rows.flatMap(({ question, answer }) => (answer ? [[question, answer] as const] : [])))

/** The policy by script makes the gap up from how many steps it has taken itself. */
export const rowsOf = (dir: string) => ({
  metrics: readMetrics(dir)
    .map(withoutTimings)
    .map(({ logprobGapMax: _, ...row }) => row),
  rubrics: readRubricRows(dir),
  rollouts: readRollouts(dir),
  evals: readEvals(dir),
  bank: readFileSync(join(dir, 'bank.jsonl'), 'utf8'),
})

/** A folder for runs with a model; `close` removes it and ends the judges that are left. */
export const researchRuns = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gradus-research-run-'))
  const model = writeTinyChat(join(folder, 'model'), 32_768)
  const format = chatFormatOf(model, 'a test')
  const judges: HttpStageJudge[] = []

  /** Passages are cited by their titles. */
  const indexOf = async (name: string, documents: string): Promise<string> => {
    const path = join(folder, `${name}.index`)
    if (!existsSync(path))
      await buildIndex(path, readDocuments([documents], { ...ROW_KEYS, id: 'title' }), {})
    return path
  }

  const madeSearch = async () => ({
    file: writeRows(join(folder, 'made', 'questions.jsonl'), made.questions),
    tools: [
      {
        kind: 'index',
        path: await indexOf('made', writeRows(join(folder, 'made', 'documents.jsonl'), made.documents)),
        top: 2,
        snippetChars: 200,
      },
    ],
  })

  const startJudge = async (options: HttpStageJudgeOptions = {}) => {
    const judge = await HttpStageJudge.start(options)
    judges.push(judge)
    return judge
  }

  const closeJudges = async () => {
    await Promise.all(judges.splice(0).map(each => each.close()))
  }

  const configOf = (url: string, task: object, changes: Record<string, unknown> = {}) =>
    rubricemSchema.parse({
      seed: 1,
      model: { folder: model },
      task: {
        kind: 'research',
        holdOut: 3,
        maxPromptTokens: 14_000,
        maxTokens: 9000,
        maxOutputTokens: 1500,
        maxReflectorTokens: 22_000,
        ...task,
      },
      judge: { kind: 'chat', fleet: { endpoints: [{ url, model: 'scripted' }] } },
      steps: 4,
      window: { steps: 2 },
      rollout: { prompts: 2, samples: 3, maxTokens: 2048 },
      reflection: { candidates: 3, maxTokens: 1024 },
      evaluation: { every: 0, problems: 3, reuse: false },
      checkpoint: { every: 1 },
      ...changes,
    })

  const run = async (
    name: string,
    config: ReturnType<typeof configOf>,
    { script = {}, rows = made.questions, tools, resume = false }: Run = {},
  ) => {
    const dir = join(folder, 'runs', name)
    const policies: ScriptedResearcher[] = []
    const open = async () => {
      policies.push(new ScriptedResearcher(format, { answers: answersOf(rows), ...script }))
      return policies[0]
    }
    await runRubricem(config, { dir, resume }, { policy: open, ...(tools && { tools }) })
    return { dir, policy: policies[0] }
  }

  const close = async () => {
    await closeJudges()
    rmSync(folder, { recursive: true, force: true })
  }

  return { folder, model, format, indexOf, madeSearch, startJudge, closeJudges, configOf, run, close }
}
