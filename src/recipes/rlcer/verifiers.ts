/** @file Who decides criteria in place of execution: a noisy hand, rules of a file, a model that is asked or learnt to. */

import type { ChatModel } from '../../chat/chat-model.ts'
import type { Grader } from '../../grade/grader.ts'
import { plainStatement } from '../../grade/proposal/distinct.ts'
import { rubricGrader } from '../../grade/rubric-grader.ts'
import { validateRules } from '../../grade/rules/index.ts'
import { rubricVerifier } from '../../grade/thinking/index.ts'
import type { Criterion, Verdict } from '../../rubric/criterion.ts'
import { readRubricFile } from '../../rubric/formats/index.ts'
import type { MetricGroup } from '../../runs/rows.ts'
import { JudgeVerifier } from '../../tasks/judge-verifier.ts'
import type { Task, TaskWith } from '../../tasks/task.ts'
import type { ThinkingVerifier } from '../../tasks/thinking.ts'
import { ConfigError } from '../../util/errors.ts'
import { resolveShipped } from '../../util/package.ts'
import { RecentMap } from '../../util/recent-map.ts'
import { Rng } from '../../util/rng.ts'
import { checkFleet, openThinkingJudging } from '../common/judging.ts'
import { modelMayBeMissing, type RunMode } from '../common/refuse.ts'
import { wholeModel } from '../common/starting-model.ts'
import { LearnedVerifier } from '../learned-verifier/grader.ts'
import { flippedVerdicts } from '../options/spoilt-rewards.ts'
import { judgedText } from '../sft/roles.ts'
import type { RlcerConfig } from './config.ts'

/** Verdicts that are remembered: those of several steps. */
const MOST_KNOWN = 100_000

/**
 * Asks a learned verifier whether thinking meets criteria, many questions in one call of the model. The same question (words of
 * criterion, problem and response) is asked once.
 */
export const learnedThinkingVerifier = <Problem>(
  learned: Pick<LearnedVerifier, 'grade'>,
  task: Pick<Task<Problem>, 'question'>,
): ThinkingVerifier<Problem> => {
  const known = new RecentMap<string, Verdict>(MOST_KNOWN)
  const underWay = new Map<string, Promise<Verdict>>()
  const grade = (key: string, question: string, response: string, text: string) => {
    const prompt = [{ role: 'user' as const, content: question }]
    const asked = learned
      .grade({ prompt, response }, [{ id: '', text, points: 1 }])
      .then(([verdict]) => {
        known.set(key, verdict)
        return verdict
      })
      .finally(() => underWay.delete(key))
    underWay.set(key, asked)
    return asked
  }
  const ask = async (question: string, response: string, { id, text }: Criterion) => {
    const key = JSON.stringify([question, response, text])
    const verdict = known.get(key) ?? underWay.get(key) ?? grade(key, question, response, text)
    return { ...(await verdict), criterionId: id }
  }
  return {
    verify: items =>
      Promise.all(
        items.map(({ problem, response, rubric: { criteria } }) => {
          const question = task.question(problem)
          const text = judgedText(response)
          return Promise.all(criteria.map(criterion => ask(question, text, criterion)))
        }),
      ),
  }
}

/** The criteria of a file, each with a rule. @param place that names the file @throws ConfigError, DataError for a file that has others, or none */
const readRules = (file: string, place = 'verifier.file'): Criterion[] => {
  const criteria = readRubricFile(resolveShipped(file)).items.flatMap(({ rubric }) => rubric.criteria)
  validateRules({ criteria }, file)
  const without = criteria.find(({ verifier }) => verifier?.kind !== 'rule')
  if (criteria.length === 0 || without)
    throw new ConfigError(
      `${place}: ${file}: expected criteria with a rule, got ${without ? `none of ${without.id}` : 'no criteria'}`,
      { hint: 'give each one a rule (verifier: {kind: rule, fn, params}); gradus grade --rules lists them' },
    )
  return criteria
}

/** Of criteria that nothing executes: the rubric's fault, and no failure of the verifier. */
const UNKNOWN: Grader = {
  grade: async (_, criteria) => {
    const explanation = 'no rule in verifier.file has these words'
    return criteria.map(({ id }) => ({ criterionId: id, met: null, explanation, source: 'rule' }))
  },
}

/** Decides criteria by their words: by the rule of the same words, or else by the judge. */
const byWords = (criteria: readonly Criterion[], judge = UNKNOWN): Grader => {
  const verifiers = new Map(criteria.map(({ text, verifier }) => [plainStatement(text), verifier]))
  const grader = rubricGrader({ judge })
  const known = (criterion: Criterion) => ({
    ...criterion,
    verifier: verifiers.get(plainStatement(criterion.text)),
  })
  return { grade: (item, asked, options) => grader.grade(item, asked.map(known), options) }
}

/** Executes criteria by the rules of a file; of other words nothing is known. @throws as `readRules` */
export const wordRules = (file: string, place: string): Grader => byWords(readRules(file, place))

/** Parts of a run in place of the configured ones. */
export interface RlcerRunParts {
  /** In place of the verifier's endpoints. */
  verifierModel?: ChatModel
}

/** A verifier that is closed when the run ends. */
export interface OpenVerifier<Problem> {
  verifier: ThinkingVerifier<Problem>
  /** Execution, where another one decides. */
  truth?: ThinkingVerifier<Problem>
  /** What it did since it was last asked. */
  metrics?(): MetricGroup
  close(): Promise<void>
}

/**
 * The verifier that the configuration names.
 * @throws CheckpointError for a folder without a learned verifier
 */
export const openRubricVerifier = async <Problem>(
  { verifier }: Pick<RlcerConfig, 'verifier'>,
  task: Pick<TaskWith<Problem, 'thinking'>, 'question' | 'thinking'>,
  { verifierModel }: RlcerRunParts = {},
): Promise<OpenVerifier<Problem>> => {
  const { exact } = task.thinking
  const close = async () => {}
  switch (verifier.kind) {
    case 'exact':
      return { verifier: exact!, close }
    case 'noisy':
      return { verifier: noisyVerifier(exact!, verifier.flipRate), truth: exact, close }
    case 'lenient':
      return { verifier: lenientVerifier(exact!, verifier), truth: exact, close }
    case 'judge':
    case 'rules': {
      const judge = verifierJudge(verifier)
      const judging = judge && openThinkingJudging(judge, rubricVerifier(judge.prompt), verifierModel)
      const grader =
        verifier.kind === 'rules' ? byWords(readRules(verifier.file), judging?.grader) : judging!.grader
      return {
        verifier: new JudgeVerifier(grader, task),
        truth: exact,
        ...(judging && { metrics: () => judging.metrics() }),
        close: async () => judging?.close(),
      }
    }
    case 'learned': {
      const learned = await LearnedVerifier.open(verifier.folder, { threshold: verifier.threshold })
      return {
        verifier: learnedThinkingVerifier(learned, task),
        truth: exact,
        close: () => learned.close(),
      }
    }
  }
}

/** The language model that decides criteria, or those that nothing executes. */
export const verifierJudge = (verifier: RlcerConfig['verifier']) =>
  verifier.kind === 'judge' || verifier.kind === 'rules' ? verifier.judge : null

/**
 * Calls nothing.
 * @throws CheckpointError for a folder without a model, where it need not come later; ConfigError for endpoints that cannot be used
 */
export const checkVerifier = (
  { verifier }: Pick<RlcerConfig, 'verifier'>,
  purpose: RunMode,
  { verifierModel }: RlcerRunParts = {},
): void => {
  const judge = verifierJudge(verifier)
  if (judge && !verifierModel) checkFleet(judge.fleet, 'verifier.judge.fleet')
  if (verifier.kind === 'rules') readRules(verifier.file)
  if (verifier.kind === 'learned' && !modelMayBeMissing(verifier.folder, purpose))
    wholeModel(verifier.folder, 'verifier.folder')
}

/**
 * Gives responses what they do not earn, on a share of all criteria: merits are met, flaws avoided. Depends on the words of criterion
 * and response alone, as a language model does that takes its likeliest answer.
 */
const lenientVerifier = <Problem>(
  exact: ThinkingVerifier<Problem>,
  { share, rate }: { share: number; rate: number },
): ThinkingVerifier<Problem> => ({
  verify: async items => {
    const verdicts = await exact.verify(items)
    return verdicts.map((own, i) =>
      own.map((verdict, k): Verdict => {
        const { text, points } = items[i].rubric.criteria[k]
        const earned = points > 0
        const name = `lenient/${plainStatement(text)}`
        const goesEasy = verdict.met === !earned && new Rng(name).next() < share
        const given = goesEasy && new Rng(`${name}/${items[i].response.text}`).next() < rate
        return given ? { ...verdict, met: earned } : verdict
      }),
    )
  },
})

/** Verdicts with some inverted. Which ones depends on the items' keys alone. */
export const noisyVerifier = <Problem>(
  exact: ThinkingVerifier<Problem>,
  flipRate: number,
): ThinkingVerifier<Problem> => ({
  verify: async items =>
    (await exact.verify(items)).map((own, i) => flippedVerdicts(own, flipRate, items[i].key ?? i)),
})
