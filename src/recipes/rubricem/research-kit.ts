/** @file Research on real text as a run of rubricem: questions of files, tools, and chat models as judges, opened and closed together. */

import type { ChatMessage, ChatModel } from '../../chat/index.ts'
import {
  judgeGroup,
  judgeReflection,
  type OpenStageJudge,
  openStageJudge,
  REFLECTION_JUDGE,
} from '../../grade/evolving/index.ts'
import type { Grader } from '../../grade/grader.ts'
import { type OpenJudge, openJudge } from '../../grade/judge/open-judge.ts'
import { recentVerdicts } from '../../grade/judge/recent-verdicts.ts'
import { chatFormatOf } from '../../model/chat-format.ts'
import type { Policy } from '../../policy/policy.ts'
import { type ResearchQuestion, researchQuestions, ToolBox } from '../../tasks/research/index.ts'
import { type OpenTools, openTools, type Tool } from '../../tools/index.ts'
import { ConfigError } from '../../util/errors.ts'
import { judgeFigures } from '../common/judging.ts'
import { shuffledPasses } from '../common/problem-order.ts'
import type { ChatJudgeConfig, ResearchTaskConfig, RubricemConfig } from './config.ts'
import type { RubricemKit } from './kit.ts'
import { type ChatTakeaways, ResearchChatTask } from './research-chat.ts'
import type { ReflectionJudge } from './research-task.ts'

/** In place of what a configuration names. */
export interface RubricemRunParts {
  /** The policy that trains, of the model in a folder. */
  policy?(folder: string): Promise<Policy>
  /** In place of the endpoints of all judges. */
  judgeModel?: ChatModel
  tools?: readonly Tool[]
}

type Kit = RubricemKit<ResearchQuestion, ChatTakeaways>

/** The settings of research. @throws ConfigError for another task or judge */
export const researchSettings = ({
  task,
  judge,
}: Pick<RubricemConfig, 'task' | 'judge'>): { task: ResearchTaskConfig; judge: ChatJudgeConfig } => {
  if (task.kind !== 'research' || judge.kind !== 'chat')
    throw new ConfigError(
      `judge.kind: expected chat with task.kind research, got ${judge.kind} with ${task.kind}`,
      { hint: 'name a chat model in judge.fleet.endpoints; judges by script know the records task alone' },
    )
  return { task, judge }
}

/**
 * @param folder of the model that acts
 * @throws ConfigError, DataError, CheckpointError, ToolError for files, tools, judges or a model that cannot be used; what was
 * opened is closed then
 */
export const openResearchKit = async (
  config: RubricemConfig,
  folder: string,
  parts: RubricemRunParts = {},
): Promise<Kit> => {
  const { task: settings } = researchSettings(config)
  const format = chatFormatOf(folder, 'task "research"')
  const tools: OpenTools = parts.tools
    ? { tools: [...parts.tools], close: async () => {} }
    : await openTools(settings.tools)
  try {
    const task = new ResearchChatTask({
      ...{ format, task: settings, reflectionTokens: config.reflection.maxTokens },
      tools: new ToolBox(tools.tools, settings.toolBox),
    })
    const { train, test, notes } = fittingQuestions(settings, task)
    const judges = openJudges(config, task, parts.judgeModel)
    return {
      ...{ task, test, ...judges },
      question: shuffledPasses(train, `research/${config.seed}`),
      notes: [
        ...notes,
        `calls are written as ${task.form === 'xml' ? 'tags of our own' : "the model's template has them"}`,
      ],
      close: async () => {
        await judges.close()
        await tools.close()
      },
    }
  } catch (error) {
    await tools.close()
    throw error
  }
}

/** Questions whose prompts leave room for an attempt. @throws ConfigError where none is left on a side */
const fittingQuestions = (settings: ResearchTaskConfig, task: ResearchChatTask) => {
  const { maxPromptTokens } = settings
  const { train, test, notes } = researchQuestions(settings)
  const tokens = (question: ResearchQuestion) => task.prompt(question, null).length
  const beside = tokens({ id: '', question: 'x', answers: [], persistent: [] })
  // A token is at least a byte: most questions need not be encoded to see that they fit.
  const fits = (question: ResearchQuestion) =>
    beside + Buffer.byteLength(question.question) <= maxPromptTokens || tokens(question) <= maxPromptTokens
  const [left, tested] = [train.filter(fits), test.filter(fits)]
  if (left.length === 0 || tested.length === 0)
    throw new ConfigError(
      `task.maxPromptTokens: expected prompts of at most ${maxPromptTokens} tokens, of which instructions and tools take ${beside}; got ${left.length} such questions to train on and ${tested.length} to test on`,
      { hint: 'raise it, or configure fewer tools' },
    )
  const leftOut = train.length + test.length - left.length - tested.length
  return {
    train: left,
    test: tested,
    notes:
      leftOut === 0
        ? notes
        : [...notes, `${leftOut} questions left out: prompts above ${maxPromptTokens} tokens`],
  }
}

const promptOf = ({ question }: ResearchQuestion): ChatMessage[] => [{ role: 'user', content: question }]

/** The judge of stages, the one of reflections, and what they took. */
const openJudges = (
  config: RubricemConfig,
  task: ResearchChatTask,
  model?: ChatModel,
): Required<Pick<Kit, 'judge' | 'reflectionJudge' | 'opinion' | 'figures' | 'close'>> => {
  const { evolving } = config
  const { judge: settings } = researchSettings(config)
  const open = openStageJudge<ResearchQuestion>(settings, { prompt: promptOf, settings: evolving, model })
  const reflections = openReflections(settings, open, model)
  const figures = [
    judgeFigures('judge', { stats: () => open.stats().score }),
    judgeFigures('proposalJudge', { stats: () => open.stats().generate }),
    judgeFigures('reflectionJudge', reflections),
  ]
  const { judge } = open
  return {
    judge,
    reflectionJudge: reflectionJudge(task, reflections.grader, evolving.shownCharacters.score),
    opinion: async (question, attempts) => {
      const { persistent } = question
      if (persistent.length === 0) return attempts.map(() => null)
      const rollouts = attempts.map(attempt => task.read(question, attempt).staged)
      const group = { step: 0, question, key: question.id, rollouts, persistent }
      const judged = await judgeGroup(judge, group, { ...evolving, generate: false })
      return judged.rollouts.map(({ rewards_K }) => rewards_K[3])
    },
    figures: () => Object.assign({}, ...figures.map(each => each())),
    close: async () => {
      await reflections.close()
      await open.close()
    },
  }
}

/** The judge of stages asked in another way, or one of its own. */
const openReflections = (
  { reflect, reflections }: ChatJudgeConfig,
  stages: OpenStageJudge<ResearchQuestion>,
  model?: ChatModel,
): Pick<OpenJudge, 'grader' | 'stats' | 'close'> => {
  if (reflections === null) return { ...stages.alsoAs(REFLECTION_JUDGE, reflect), close: async () => {} }
  return openJudge(reflections, { model, form: REFLECTION_JUDGE, store: recentVerdicts() })
}

/** @param shownCharacters of each part of an attempt, at most */
const reflectionJudge = (
  task: ResearchChatTask,
  grader: Grader,
  shownCharacters: number | null,
): ReflectionJudge<ResearchQuestion, ChatTakeaways> => ({
  score: items =>
    Promise.all(
      items.map(({ question, attempt, judged, lessons }) =>
        judgeReflection(
          grader,
          {
            prompt: promptOf(question),
            rollout: judged?.rollout.rollout ?? task.read(question, attempt).staged,
            rubrics: judged?.rubrics ?? [],
            judged: judged?.rollout ?? null,
            reflection: task.lessonsText(lessons),
          },
          shownCharacters,
        ),
      ),
    ),
})
