/** @file What a run of rubricem would do and need: tokens of both roles, calls of tools and judges, memory, time. Nothing is run or called. */

import { existsSync } from 'node:fs'
import { isRemote } from '../../policy/open.ts'
import { CHARACTERS_PER_TOKEN } from '../../tasks/prompt-tokens.ts'
import {
  ATTEMPT_TOKENS,
  agentPrompt,
  RECORDS_TEST_WORLD,
  recordsQuestion,
  recordsQuestionText,
} from '../../tasks/records/index.ts'
import {
  agentMessages,
  type ResearchSettings,
  reflectorMessages,
  researchFiles,
  researchQuestions,
} from '../../tasks/research/index.ts'
import type { ToolsConfig } from '../../tools/index.ts'
import { formatCount, formatInteger } from '../../util/format.ts'
import { hasRows } from '../../util/prefetched-rows.ts'
import { mean } from '../../util/statistics.ts'
import { type AnchorRow, anchorCount, anchorLines } from '../common/anchors.ts'
import { evaluationLine } from '../common/evaluation-config.ts'
import { type AskedJudge, judgingOf, NO_JUDGE, responseCharacters } from '../common/judge-plan.ts'
import { methodPlan } from '../common/plan.ts'
import type { RunPlan } from '../common/recipe.ts'
import { mayBeMissing } from '../common/refuse.ts'
import type { RoleWork } from '../common/remote-plan.ts'
import { taskModel } from '../common/word-models.ts'
import { optionLines } from '../options/options.ts'
import { checkStageAnchors } from './anchored.ts'
import { checkRubricem } from './check.ts'
import { type ChatJudgeConfig, PLACEHOLDERS, type RubricemConfig } from './config.ts'

const isLater = (path: string | null): path is string => path !== null && mayBeMissing(path, 'plan')

/** One thing a line, with the setting that says otherwise; none where a run can begin. */
const nextOf = ({ policy, model, task, judge, memory }: RubricemConfig): string[] => {
  const next: string[] = []
  if (!isRemote(policy) && isLater(model.folder))
    next.push(
      task.kind === 'research'
        ? `put a model with tokenizer and chat template into ${model.folder}, or name its folder in model.folder`
        : `put a model into ${model.folder}, or name its folder in model.folder`,
    )
  if (task.kind === 'research') {
    if (task.file === null) next.push('name a file of questions in task.file: one {"question": ...} a line')
    for (const [key, path] of [
      ['task.file', task.file],
      ['task.testFile', task.testFile],
      ...Object.entries(task.tests ?? {}).map(([name, { file }]) => [`task.tests.${name}`, file] as const),
    ] as const)
      if (isLater(path)) next.push(`write questions into ${path}, or name their file in ${key}`)
    if (task.tools.length === 0)
      next.push('list tools in task.tools: local indexes, MCP servers, search over HTTP')
    for (const tool of task.tools)
      if (tool.kind === 'index' && isLater(tool.path))
        next.push(`build ${tool.path} with \`gradus search build\`, or name another index in task.tools`)
  }
  if (judge.kind === 'chat' && judge.fleet.endpoints.some(({ url }) => url === PLACEHOLDERS.judge))
    next.push(
      `name the judge in judge.fleet.endpoints (url, model, apiKeyEnv), or serve one at ${PLACEHOLDERS.judge}`,
    )
  if (memory.kind === 'bank') {
    const { embedder, file = null } = memory
    if (embedder.kind === 'endpoint' && embedder.url === PLACEHOLDERS.embedder)
      next.push(
        `name an endpoint of embeddings in memory.embedder, serve ${embedder.model} at ${embedder.url}, or set memory.embedder to {kind: hashed}`,
      )
    if (isLater(file)) next.push(`put a bank at ${file}, or leave memory.file out`)
  }
  return next
}

/** Lengths in tokens, and what there is to train on. */
interface PlannedData {
  lines: string[]
  promptTokens: number
  /** Of an attempt in all, at most. */
  attemptTokens: number
  /** Of a reflector's prompt, at most. */
  reflectorTokens: number
  /** Calls of tools that an attempt may make. */
  calls: number
  questionCharacters: number
}

const charactersOf = (messages: readonly { content: string }[]): number =>
  messages.reduce((sum, { content }) => sum + content.length, 0)

/** The paper's questions, where the file is not there yet. */
const PUBLISHED = { train: 4900, questionCharacters: 400 }

const notThere = (path: string | null): string =>
  path === null
    ? 'no file yet: name it in the configuration'
    : existsSync(path)
      ? path
      : `${path} (not there yet)`

const TOOLS_HINT =
  'none yet: configure task.tools (MCP servers, a local index of `gradus search build`, search over HTTP; the paper has web and snippet search)'

/** By kind and where it is; what a server lists is not known before it is asked. */
const describeTool = (tool: ToolsConfig[number]): string => {
  if (tool.kind === 'index') return `${tool.name ?? 'search'}: local index ${notThere(tool.path)}`
  if (tool.kind === 'http') return `${tool.name ?? 'web_search'}: HTTP ${tool.url}`
  return `MCP server ${tool.command ?? tool.url}`
}

const researchData = (task: ResearchSettings): PlannedData => {
  const others = researchFiles({ ...task, file: null })
  const there = task.file !== null && [task.file, ...others].every(hasRows)
  const split = there ? researchQuestions(task) : null
  const questionCharacters = split
    ? mean([...split.train, ...split.test].map(({ question }) => question.length))
    : PUBLISHED.questionCharacters
  const instructions = charactersOf(agentMessages('', { tools: [], rules: task.rules }))
  // Lessons may fill a prompt up to its limit.
  const promptTokens = Math.min(
    task.maxPromptTokens,
    Math.round((instructions + questionCharacters) / CHARACTERS_PER_TOKEN),
  )
  const reflector = charactersOf(reflectorMessages('', { key: '', stages: ['', '', '', ''] }))
  const counts = split
    ? `${formatInteger(split.train.length)} questions to train on, ${formatInteger(split.test.length)} to test on`
    : `about ${formatInteger(PUBLISHED.train)} questions as the paper has`
  return {
    lines: [
      `data         ${[task.file, ...others].map(notThere).join(' and ')}: ${counts}; rows {question, id?, answer?, criteria?}`,
      `prompts      about ${formatInteger(promptTokens)} tokens (at four characters a token) beside tools and lessons, at most ${formatInteger(task.maxPromptTokens)}`,
      `tools        ${task.tools.map(describeTool).join('; ') || TOOLS_HINT}`,
    ],
    promptTokens,
    attemptTokens: task.maxTokens,
    reflectorTokens: Math.min(
      task.maxReflectorTokens,
      task.maxTokens + Math.round((reflector + questionCharacters) / CHARACTERS_PER_TOKEN),
    ),
    calls: task.rules.maxCalls,
    questionCharacters,
  }
}

const dataOf = ({ task }: RubricemConfig): PlannedData => {
  if (task.kind === 'research') return researchData(task)
  const question = recordsQuestion(RECORDS_TEST_WORLD, 0, task)
  const { length } = agentPrompt(question)
  const number = task.pool === null ? 'new questions without end' : `${formatInteger(task.pool)} questions`
  return {
    lines: [`data         records, ${task.hops.min} to ${task.hops.max} look-ups, ${number}`],
    promptTokens: length,
    attemptTokens: ATTEMPT_TOKENS,
    reflectorTokens: length + ATTEMPT_TOKENS,
    calls: task.calls,
    questionCharacters: recordsQuestionText(question).length,
  }
}

/** Fresh steps reflect, repeated ones only where that is asked for. */
const reflectingSteps = ({ steps, window, reflection }: RubricemConfig): number => {
  if (!reflection.enabled) return 0
  if (window.reflectOnRepeat) return steps
  const rest = steps % (2 * window.steps)
  return Math.floor(steps / (2 * window.steps)) * window.steps + Math.min(rest, window.steps)
}

/** What a step samples and asks at most, and the whole run. */
const workOf = (config: RubricemConfig, data: PlannedData, anchors: readonly AnchorRow[]) => {
  const { rollout, reflection, steps } = config
  const agents = rollout.prompts * rollout.samples
  const reflections = reflection.enabled ? rollout.prompts * reflection.candidates : 0
  const reflecting = reflectingSteps(config)
  const agentTokens = agents * data.attemptTokens
  const reflectionTokens = reflections * reflection.maxTokens
  return {
    rolloutsPerStep: agents + reflections,
    ...{ agentTokens, reflectionTokens },
    tokensPerStep: agentTokens + reflectionTokens,
    tokens: steps * agentTokens + reflecting * reflectionTokens,
    reflectingSteps: reflecting,
    toolCallsPerStep: agents * data.calls,
    toolCalls: steps * agents * data.calls,
    // A question: new rubrics once, then every attempt; and every reflection.
    generationsPerStep: rollout.prompts * Number(config.evolving.generate),
    scoringsPerStep: agents,
    // Each anchor is scored once on the new rubrics of a question.
    ...(config.anchors && {
      anchorScoringsPerStep:
        rollout.prompts * Number(config.evolving.generate) * anchorCount(config, anchors),
    }),
    reflectionsPerStep: reflections,
    reflections: reflecting * reflections,
  }
}
type Work = ReturnType<typeof workOf>

/** A call ends a turn; reflections are samples of one turn. */
const rolesOf = (config: RubricemConfig, data: PlannedData): RoleWork[] => {
  const { rollout, reflection } = config
  const { promptTokens, attemptTokens: newTokens } = data
  const agents = {
    name: 'agent',
    groups: rollout.prompts,
    samples: rollout.samples,
    promptTokens,
    newTokens,
    turns: data.calls + 1,
  }
  if (!reflection.enabled) return [agents]
  const reflectors = {
    name: 'reflector',
    ...{ groups: rollout.prompts, samples: reflection.candidates, steps: reflectingSteps(config) },
    ...{ promptTokens: data.reflectorTokens, newTokens: reflection.maxTokens },
  }
  return [agents, reflectors]
}

/** Of a judge's instructions and its rubrics, roughly. */
const JUDGE_CHARACTERS = 6000

/** Calls for new rubrics, for scores of attempts, and for reflections. */
const askedOf = (config: RubricemConfig, judge: ChatJudgeConfig, data: PlannedData, work: Work) => {
  const { steps, rollout, evolving } = config
  const attempt = responseCharacters(data.attemptTokens)
  // Parts are cut for the generator: a plan, calls with what tools said, review, answer.
  const { generate } = evolving.shownCharacters
  const shown = generate === null ? attempt : Math.min(attempt, generate * (2 * data.calls + 3))
  const of = (name: string, calls: number, attempts: number, fleet = judge.fleet): AskedJudge => ({
    ...{ name, fleet, calls, callsPerStep: steps === 0 ? 0 : calls / steps },
    characters: {
      ...{ instructions: JUDGE_CHARACTERS / 2, own: JUDGE_CHARACTERS / 2, shared: data.questionCharacters },
      responses: attempts * attempt,
    },
    shown: { role: 'agent', samples: attempts },
  })
  return [
    of('rubrics', steps * work.generationsPerStep, (rollout.samples * shown) / attempt),
    of('scores', steps * work.scoringsPerStep, 1),
    ...(work.anchorScoringsPerStep ? [of('anchors', steps * work.anchorScoringsPerStep, 1)] : []),
    of('reflections', work.reflections, 1, judge.reflections?.fleet),
  ]
}

const judgingIn = (config: RubricemConfig, data: PlannedData, work: Work) => {
  const { judge } = config
  if (judge.kind === 'scripted') return { json: null, lines: [NO_JUDGE], judges: [] }
  const { prompts } = config.rollout
  const asked = askedOf(config, judge, data, work)
  const calls = asked.reduce((sum, own) => sum + own.calls, 0)
  const { json, line, judges } = judgingOf(asked)
  const models = judge.fleet.endpoints.map(({ model, url }) => `${model} at ${url}`).join(', ')
  return {
    json: { calls, ...json },
    lines: [
      `judging      ${models}: a question ${work.generationsPerStep / prompts} call for rubrics, ${config.rollout.samples} for scores${work.reflectionsPerStep > 0 ? `, and in fresh steps ${config.reflection.candidates} for reflections` : ''}; ${formatInteger(calls)} in all, without those of evaluations and attempts that are asked again`,
      line,
    ],
    judges,
  }
}

const describeBank = (memory: RubricemConfig['memory']): string => {
  if (memory.kind === 'none') return 'none'
  const { embedder, top, file } = memory
  const by =
    embedder.kind === 'endpoint'
      ? `embeddings of ${embedder.model} at ${embedder.url}`
      : `${embedder.kind} embeddings`
  const start = file === undefined ? '' : `, begun with ${file}${existsSync(file) ? '' : ' (not there yet)'}`
  return `by ${by}${start}, ${top} similar questions shown`
}

/** @throws ConfigError, DataError, CheckpointError for what a run would refuse, but for a model, data and tools that come later */
export const planRubricem = (config: RubricemConfig): RunPlan => {
  checkRubricem(config, 'plan')
  const { rollout, reflection, window, credit, memory, evaluation } = config
  const data = dataOf(config)
  const anchors = checkStageAnchors(config, 'plan')
  const work = workOf(config, data, anchors)
  const judging = judgingIn(config, data, work)
  // The longest sequence: an attempt behind its prompt, or a reflection behind both.
  const next = nextOf(config)
  const reflected = reflection.enabled ? data.reflectorTokens + reflection.maxTokens : 0
  const longest = Math.max(data.promptTokens, reflected - data.attemptTokens)
  return methodPlan(
    { ...config, rollout: { ...rollout, maxTokens: data.attemptTokens } },
    taskModel('records'),
    { tokens: data.promptTokens, longest, together: rollout.prompts, roles: rolesOf(config, data) },
    {
      lines: [
        ...data.lines,
        `training     ${config.steps} steps of ${rollout.prompts} questions x ${rollout.samples} agents${reflection.enabled ? ` and, in fresh steps, ${reflection.candidates} reflections` : ''}: up to ${formatInteger(work.agentTokens)} + ${formatInteger(work.reflectionTokens)} new tokens a step, tool output included, ${formatCount(work.tokens)} in all`,
        `calls        ${data.calls} of tools an attempt at most: ${formatInteger(work.toolCallsPerStep)} a step, ${formatInteger(work.toolCalls)} in all`,
        `credit       ${credit.mode === 'stages' ? 'by stage' : "the answer's, for every token"}`,
        ...optionLines(config),
        `bank         ${describeBank(memory)}; windows of ${window.steps} fresh batches that are repeated`,
        ...judging.lines,
        ...anchorLines(config, anchors, {
          question: (work.anchorScoringsPerStep ?? 0) / rollout.prompts,
          step: work.anchorScoringsPerStep ?? 0,
        }),
      ],
      algorithm: 'GRPO, ',
      evaluation: [
        evaluationLine(config, {
          noun: 'questions',
          also: evaluation.reuse ? ', there with lessons as well' : '',
        }),
      ],
      // What to do before a run, a line each under one word.
      next: next.map((line, i) => `${(i === 0 ? 'next' : '').padEnd(13)}${line}`),
      json: { ...work, judge: judging.json, next },
      work: { judges: judging.judges },
    },
  )
}
