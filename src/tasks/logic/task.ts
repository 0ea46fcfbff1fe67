/** @file Logic as a task: prompts in words of the miniature or through a chat template, answers judged by five criteria. */

import { gradeLogicBatch } from '../../grade/logic/criteria.ts'
import type { LogicGrade, LogicGradeOptions } from '../../grade/logic/grade.ts'
import { LOGIC_RUBRIC, logicVerdicts } from '../../grade/logic/rubric.ts'
import type { LogicSolver } from '../../grade/logic/solver.ts'
import type { TokenText } from '../../model/chat-format.ts'
import type { Task, Verdicts } from '../task.ts'
import type { LogicTaskExample } from './example.ts'
import type { LogicFormat } from './prompts.ts'

/** What is said of an answer: verdicts on the five criteria, and what they rest on. */
export interface LogicVerdicts extends Verdicts {
  /** The answer as it is, also where training is told something else: steps with their places and statuses, what they prove. */
  grade: LogicGrade
  /** Why nothing can be said: the score is null then. */
  excluded: LogicGrade['excluded']
  /** Right, with steps that prove it; null where that is not known. */
  proved: boolean | null
  /** The exploits that the rubric leaves open, measured. */
  flags: LogicGrade['flags']
}

/** What is said of an answer in tokens, with the text that it was read from. */
export type LogicResponse = LogicVerdicts & { response: TokenText }

/** `stream`: where lengths follow a schedule, its problem i of so many hops. */
export interface LogicTask extends Task<LogicTaskExample, LogicResponse> {
  stream?(index: number, hops?: number): LogicTaskExample
}

/** A logic task that is trained on. */
export type TrainedLogicTask = LogicTask & Required<Pick<LogicTask, 'stream'>>

export interface LogicGrading extends Omit<LogicGradeOptions, 'truth' | 'support'> {
  /**
   * C4 and C5 by proof: `only`, null where there is none, as evaluations judge; `preferred`, by the proxies then. Absent: by the
   * proxies, which a policy can game.
   */
  truth?: 'only' | 'preferred'
}

const verdictsOn = (grade: LogicGrade, { truth }: LogicGrading): LogicVerdicts => {
  const { criteria, excluded, correctAndProved, flags } = grade
  const { C4, C5 } = grade.truth ?? { C4: null, C5: null }
  const preferred = { ...criteria, C4: C4 ?? criteria.C4, C5: C5 ?? criteria.C5 }
  return {
    verdicts: logicVerdicts(
      truth === 'preferred' ? { ...grade, criteria: preferred } : grade,
      truth === 'only',
    ),
    wellFormed: criteria.C3 === 1,
    ...(excluded !== null && { score: null }),
    ...{ grade, excluded, proved: correctAndProved, flags },
  }
}

/** Grades texts, whoever wrote them; give it whole batches. */
export const logicGrader =
  (solver: LogicSolver, options: LogicGrading = {}) =>
  async (items: readonly { problem: LogicTaskExample; response: string }[]): Promise<LogicVerdicts[]> => {
    const grades = await gradeLogicBatch(items, solver, { ...options, truth: options.truth !== undefined })
    return grades.map(grade => verdictsOn(grade, options))
  }

/** Without problems: what tests and trains says which. */
export const logicTask = (
  format: LogicFormat,
  solver: LogicSolver,
  options: LogicGrading = {},
): LogicTask => {
  const grader = logicGrader(solver, options)
  return {
    ...{ train: [], tests: {} },
    label: 'logic problems',
    id: ({ id }) => id,
    question: format.show,
    prompt: problem => format.prompt(problem),
    show: tokens => format.read(tokens).text,
    rubric: () => LOGIC_RUBRIC,
    async grade(items) {
      const responses = items.map(({ tokens }) => format.read(tokens))
      const said = await grader(items.map(({ problem }, i) => ({ problem, response: responses[i].text })))
      return said.map((own, i) => ({ ...own, response: responses[i] }))
    },
    stopTokens: format.stopTokens,
    notes: [],
  }
}
