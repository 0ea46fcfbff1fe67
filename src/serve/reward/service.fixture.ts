/** @file A reward service inside tests: a small configuration, a grader that does as it is told, requests without a network. */

import type { GradeItem, GradeOptions, Grader } from '../../grade/grader.ts'
import { validateVerifiers } from '../../grade/rubric-grader.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { type AppParts, rewardApp } from './app.ts'
import type { RewardConfigInput } from './config.ts'
import { parseRewardConfig } from './config-file.ts'
import type { OpenGrading } from './grading.ts'
import { assembleService } from './open.ts'
import type { Probe } from './readiness.ts'
import { RubricStore } from './rubric-store.ts'

/** Two criteria: `good` is met where the response says "yes"; `bad`, a flaw, where it says "no". "?" leaves both open. */
export const YES_NO = {
  criteria: [
    { id: 'good', text: 'Says yes', points: 4 },
    { id: 'bad', text: 'Says no', points: -2 },
  ],
}

const met = ({ id }: Criterion, { response }: GradeItem): boolean | null => {
  if (response.includes('?')) return null
  return response.includes(id === 'bad' ? 'no' : 'yes')
}

/** Grades YES_NO; `beforeEach` can wait, or throw. What it saw is kept. */
class FakeGrader implements Grader {
  readonly seen: { item: GradeItem; options?: GradeOptions }[] = []
  beforeEach: (item: GradeItem, options?: GradeOptions) => Promise<void> = async () => {}

  async grade(item: GradeItem, criteria: readonly Criterion[], options?: GradeOptions): Promise<Verdict[]> {
    this.seen.push({ item, options })
    await this.beforeEach(item, options)
    return criteria.map(criterion => ({
      criterionId: criterion.id,
      met: met(criterion, item),
      ...(met(criterion, item) === null && { explanation: 'the judge was silent', raw: 'gibberish' }),
      source: 'llm',
    }))
  }
}

export interface TestService extends AppParts {
  grader: FakeGrader
  lines: Record<string, unknown>[]
  /** Sends JSON (or text as it is) and reads JSON back. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  get(path: string, headers?: Record<string, string>): Promise<Answer>
}

interface Answer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json: any
  text: string
}

const read = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json')
  return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : null }
}

/** A service with the rubric `yes-no`, unless the configuration has others. */
export const testService = (
  config: RewardConfigInput = {},
  options: { hasJudge?: boolean; env?: Record<string, string>; probes?: Probe[]; folder?: string } = {},
): TestService => {
  const parsed = parseRewardConfig({ rubrics: { 'yes-no': YES_NO }, ...config })
  const grader = new FakeGrader()
  const rubrics = new RubricStore(parsed.rubrics, options.folder ?? '.')
  rubrics.checkRoutes(parsed.routes)
  const grading: OpenGrading = {
    rubrics,
    grader,
    hasJudge: options.hasJudge ?? true,
    checkVerifiers: async (rubric, where) => validateVerifiers(rubric, where),
    probes: options.probes ?? [],
    metrics: () => ({ cacheHits: 3, cacheMisses: 1, judges: [] }),
  }
  const lines: Record<string, unknown>[] = []
  const writeLog = (line: string) => lines.push(JSON.parse(line))
  const parts = assembleService(parsed, grading, { writeLog, env: options.env })
  const app = rewardApp(parts)
  return {
    ...parts,
    grader,
    lines,
    post: async (path, body, headers = {}) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return read(await app.request(path, { method: 'POST', body: text, headers }))
    },
    get: async (path, headers = {}) => read(await app.request(path, { headers })),
  }
}
