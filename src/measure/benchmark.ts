/** @file Files of conversations with rubrics as tasks: of rows as trainings read them, and of benchmarks, each by its own reader. */

import { z } from 'zod'
import { withoutThinking } from '../model/chat-format.ts'
import { type ConversationRow, namesOf, readConversations, sharedRubric } from '../tasks/conversation/rows.ts'
import { conversationTask } from '../tasks/conversation/task.ts'
import { spokenAs } from './spoken.ts'
import type { MeasuredKind } from './task.ts'

/** A benchmark, and its problems as rows. */
export interface Benchmark extends MeasuredKind {
  /** @throws DataError for a file that cannot be used, with the place */
  rows(file: string): ConversationRow[]
}

type BenchmarkParts<Settings> = Pick<MeasuredKind, 'about' | 'maxTokens' | 'primary' | 'scores' | 'rate'> & {
  rows(file: string, settings: Settings): ConversationRow[]
  /** The text that is graded; absent: all but thinking. */
  read?(response: string): string
  isBinary?: true
}

const kindOf = <Settings>(
  settings: z.ZodType<Settings>,
  { rows, read = withoutThinking, isBinary, ...parts }: BenchmarkParts<Settings>,
) => ({
  ...{ ...parts, settings, rows, read, asked: 'words' as const, reads: true as const },
  open(own: Settings, { files: [file], grader, startLogprobs }: Parameters<MeasuredKind['open']>[1]) {
    const format = spokenAs(read)
    const found = rows(file, own)
    const problems = found.map(row => ({ ...row, promptTokens: format.encode(row.messages) }))
    const task = conversationTask(
      { format, grader, train: [], tests: { [file]: problems }, notes: [] },
      { startLogprobs, named: namesOf(found) },
    )
    return isBinary ? { ...task, isBinary } : task
  },
})

/** A benchmark by how its file is read and counted. */
export const benchmark = (parts: BenchmarkParts<unknown> & Pick<Benchmark, 'rows'>): Benchmark => ({
  ...kindOf<unknown>(z.strictObject({}), parts),
  rows: parts.rows,
})

/** The score is RuscaRL's (Eq. 4): points of the criteria met over all that can be had. Verdicts that are missing are left out. */
export const rubricBenchmark: MeasuredKind<{ rubric: string | null }> = kindOf(
  z.strictObject({ rubric: z.string().nullable().default(null) }),
  {
    about:
      'Rows of prompt and criteria. The score is the points of the criteria that are met, over the points that can be had.',
    maxTokens: 512,
    rows: (file, own) => readConversations(file, sharedRubric(own)),
  },
)
