/** @file What the files of a run hold, row by row. All fields but the first few are optional: recipes differ. */

/** A number, or null where a step has no value for it (a mean over nothing). NaN and infinity are refused. */
export type MetricValue = number | null

/** One value by name: criteria, stages, labels. */
export type MetricGroup = Record<string, MetricValue>

/**
 * One line of metrics.jsonl. The named fields have a place in the report; any other number gets a curve of its own, and
 * any other group of numbers a chart with one curve for each name. A number that is called as a score of the evaluations is
 * that score on the step's rollouts, and stands in the score's chart.
 * Everything that depends on the clock belongs in `time` (seconds), so that the rest is equal after a resume.
 */
export interface MetricsRow {
  step: number
  /** Mean reward of the step's rollouts. */
  reward?: MetricValue
  rewardStd?: MetricValue
  /** Mean raw score of each criterion, before weights, in [0, 1]. */
  criteria?: MetricGroup
  /** Share of groups in which each criterion tells rollouts apart: not all of its verdicts there are equal. */
  discrimination?: MetricGroup
  /** Mean entropy of the sampling distribution, nats a token. */
  entropy?: MetricValue
  /** Mean KL to the reference, nats a token. */
  kl?: MetricValue
  loss?: MetricValue
  gradNorm?: MetricValue
  /** Share of tokens where the clip was active. */
  clipFraction?: MetricValue
  learningRate?: MetricValue
  /** |log-prob at sampling - log-prob at scoring|: mean and largest over tokens, nats. */
  logprobGapMean?: MetricValue
  logprobGapMax?: MetricValue
  /** Mean new tokens a rollout, and mean reasoning steps a rollout. */
  responseTokens?: MetricValue
  reasoningSteps?: MetricValue
  /** Share of rollouts that ran into the token limit. */
  truncationRate?: MetricValue
  /** Share of groups in which all rewards are equal. */
  zeroVarianceGroups?: MetricValue
  /** Mean score of the step's rollouts by a grader that training does not see. */
  heldOut?: MetricValue
  /** Share of four-token sequences that a response has said before; correlation of length and advantage. */
  repetition?: MetricValue
  lengthAdvantage?: MetricValue
  /** Each criterion's share of the points earned, and of the points to be had; penalties apart. */
  rewardShare?: MetricGroup
  pointShare?: MetricGroup
  /** Share of verdicts that graders failed to give, about criteria with points above and below zero. */
  judgeNullRatePositive?: MetricValue
  judgeNullRateNegative?: MetricValue
  /** New tokens sampled in the step, and rollouts. */
  tokens?: MetricValue
  rollouts?: MetricValue
  /** Seconds: `sample`, `grade`, `update`, `total`, and whatever else is timed. */
  time?: MetricGroup
  [name: string]: MetricValue | MetricGroup | undefined
}

/** Lower and upper end of a 95% interval. */
export type Interval = readonly [number, number]

/** A metric of an evaluation. */
export interface Score {
  /** Mean over problems and samples, in [0, 1] where it is a share; null where nothing could be scored. */
  value: number | null
  /** 95% interval over problems. */
  interval?: Interval
}

/**
 * Scores by name, in the order in which they are shown: `correctAndProved`, `rubric`. One that is decoded greedily beside
 * sampled ones has `greedy.` before its name.
 */
export type Scores = Record<string, Score>

/** One test problem's scores by name, means over its samples; lets two evaluations be compared pair by pair. */
export interface EvalItem {
  id: string
  /** As in the row; null, or no entry, where the problem has no such score. */
  scores: MetricGroup
  /** Mean raw score of each criterion; null where it has no value for this problem. */
  criteria?: MetricGroup
  /** One of its responses, of the first problems of a set alone. */
  sample?: EvalSample
}

/** A response of an evaluation that is kept for reading, with what was said of it. Long texts are without their middle. */
export type EvalSample = Pick<
  RolloutRow,
  | 'prompt'
  | 'plainPrompt'
  | 'response'
  | 'turns'
  | 'reward'
  | 'answer'
  | 'gold'
  | 'correct'
  | 'valid'
  | 'proved'
  | 'tokens'
  | 'finishReason'
  | 'parts'
  | 'flags'
  | 'steps'
  | 'verdicts'
  | 'judgeCalls'
  | 'lessons'
>

/** How a criterion changed from one evaluation to another, paired by problem. */
export interface CriterionChange {
  /** Problems with a score in both. */
  n: number
  before: number
  after: number
  /** after - before, and its 95% interval. */
  change: number
  interval: Interval
  /** Training could not see the criterion as evaluation judges it: a fall here is an optimisation tax. */
  unseen?: boolean
}

/** What an accuracy can hide: a model that favours a label. */
export interface LabelBalanceRow {
  /** Mean and lowest recall over the labels that occur. */
  macroRecall: number
  minClassRecall: number
  /** Share of answers by label; `none` is unreadable. */
  predicted: Record<string, number>
  /** Share of answers True minus share of problems True. */
  trueBias: number | null
}

/** What a method that is no model of ours gets on the same problems: a shallow cue, or a published metric. */
export interface Baseline {
  /** Those of the row's scores that are known of it. */
  scores: Scores
  n?: number
  /** One line on what it does, or where the metric is from. */
  note?: string
}

export interface LabelScore {
  /** Problems with this label. */
  n: number
  /** Means of the row's scores over them. */
  scores: MetricGroup
}

/** What is known of the test problems from one source. */
export interface SourceScore {
  n: number
  scores: Scores
  criteria?: MetricGroup
  byLabel?: Record<string, LabelScore>
}

/** One line of evals.jsonl: the policy on one test set. */
export interface EvalRow {
  step: number
  /** Name of the test set: `train distribution`, `real`, `shortcut-free`. */
  set: string
  /** Problems, and samples a problem. */
  n: number
  samples?: number
  temperature?: number
  /** At `temperature`, unless the name says greedy. */
  scores: Scores
  /** The name of the one score that reports, comparisons and monitors put first. */
  primary: string
  /** Scores in words, where the name is not the word: `{ rubric: 'rubric score' }`. */
  scoreNames?: Record<string, string>
  /** Mean length of a response. */
  responseTokens?: number
  /** What else is known of the evaluation, by name, in units of its own. */
  figures?: MetricGroup
  /** Share of verdicts that the graders failed to give, and calls that a judge took. */
  judgeNullRate?: number
  judgeCalls?: number
  criteria?: MetricGroup
  /**
   * Share of responses on which two graders gave the same verdict, by criterion: this set's own and the run's usual one, or
   * training's judge where the set's is the truth.
   */
  agreement?: MetricGroup
  /** 95% intervals over problems. */
  criteriaIntervals?: Record<string, Interval>
  /** What a language model says of C4 and C5, and the share of verdicts that it failed to give. */
  judged?: { C4: number | null; C5: number | null; nullRate: number }
  /** At the end of a run: each criterion against the run's own start on this set. */
  tax?: Record<string, CriterionChange>
  balance?: LabelBalanceRow
  byLabel?: Record<string, LabelScore>
  /** Where the problems come from several sources: each by its name. */
  bySource?: Record<string, SourceScore>
  baselines?: Record<string, Baseline>
  items?: EvalItem[]
}

/** `entailed`, `consistent`, `contradicted`, `unverifiable` and `unparsed` have colours; other words are shown plainly. */
export interface RolloutStep {
  text: string
  status: string
  credit?: number
  /** `premise`, `tautology`, `repeat`, `time-out`: what else the grader noticed. */
  flags?: string[]
  note?: string
}

export interface RolloutVerdict {
  criterionId: string
  /** What the criterion says and weighs, where the run's `rubric` does not tell it. */
  text?: string
  points?: number
  met: boolean | null
  credit?: number
  explanation?: string
  /**
   * Who gave it, where no model was asked for it: a rule, a solver, a model of the run's own, a statistic over several rollouts.
   * `llm`: a judge that was not asked.
   */
  source?: 'rule' | 'formal' | 'model' | 'llm' | 'statistic'
  /** Which of the row's `judgeCalls` it came from. */
  call?: number
  /** The reward did not count this criterion (rubric dropout). */
  leftOut?: true
}

/**
 * What a call to a judge brought and took; what its server did not say is absent. It tells of circumstances: after a resume, or
 * beside another process, a verdict may come from the cache that was asked for before.
 */
export interface RolloutJudgeCall {
  /** The model that answered, as its server calls it. */
  judge: string
  /** Its answer as it came; a long one without its middle, absent where there was none. */
  raw?: string
  /** Of the call, when it was made. `cachedTokens`: of the prompts, from the server's prefix cache. */
  promptTokens?: number
  completionTokens?: number
  cachedTokens?: number
  /** In the currency of the configured prices. */
  cost?: number
  /** Where more than one was needed. */
  attempts?: number
  /** Nothing was asked and paid for this rollout: it was remembered, or another rollout waited for the same answer. */
  reused?: 'cache' | 'shared'
}

/** A part of a rollout of several turns. */
export interface RolloutTurn {
  /** Who wrote it: the policy, or the environment that answered it (a tool's output). */
  by: 'policy' | 'environment'
  text: string
}

/** Of every token of a response, in order. */
export interface TokenValues {
  /** Characters (UTF-16 units) of the response that it covers; together they are all of it. */
  widths: number[]
  /** Of sampling; 0 where an environment wrote. */
  logprobs: number[]
  /** One a token, or one number for all. */
  advantages: number[] | number
}

/** One line of rollouts.jsonl: one sampled response with its verdicts. */
export interface RolloutRow {
  step: number
  problemId: string
  /** Which role of the policy it was sampled in; `policy` where absent. */
  role?: string
  /** What it was sampled from. */
  prompt: string
  /** Without the criteria or lessons that it was shown; absent where the prompt shows none. */
  plainPrompt?: string
  /** Everything after the prompt; `turns` says who wrote what. */
  response: string
  /** In order; absent where the policy wrote it all. */
  turns?: RolloutTurn[]
  /** Null where nothing is known of it: left out because the problem is faulty, or graders failed. */
  reward: number | null
  /** What a grader that training does not see says of it. */
  heldOut?: number
  /** The monitor whose warning this rollout shows; absent for those kept for reading. */
  monitor?: string
  /** Which sample of its group, from 0. */
  sample?: number
  answer?: string | null
  gold?: string
  correct?: boolean
  /** The answer is right and every step valid; and every step is a premise or follows from those before it. */
  valid?: boolean
  proved?: boolean
  finishReason?: string
  tokens?: number
  advantage?: number
  /** Absent where the response is not shown as its tokens are. */
  perToken?: TokenValues
  /** Raw score of each criterion; null where it has none. */
  parts?: MetricGroup
  flags?: Record<string, number>
  steps?: RolloutStep[]
  /** Every verdict on it with its reason, where a rubric graded it. */
  verdicts?: RolloutVerdict[]
  /** Calls of judges that the verdicts came from; absent where no judge was asked. */
  judgeCalls?: RolloutJudgeCall[]
  /** Lessons of a memory that it was shown before its prompt. */
  lessons?: ShownLesson[]
}

/** A lesson of a memory, as a rollout was shown it. */
export interface ShownLesson {
  /** Of the very same question, or of a similar one. */
  how: 'within' | 'cross'
  /** What it was learnt from. */
  question: string
  /** A long one without its end. */
  text: string
}

/** A rubric that evolves, at one step of its question. */
export interface RubricStatus {
  id: string
  /** Of the trajectory, from 1. */
  stage: number
  sign: 'positive' | 'negative'
  title: string
  /** Where it was born at this step. */
  description?: string
  weight: number
  /** Step at which it was proposed; null for one that was given with the question. */
  since: number | null
  /** Proposed at this step. */
  born?: true
  /** What became of it: it stays, no two rollouts differed on it, or others separated them better. */
  fate: 'kept' | 'inactive' | 'pruned'
  /** Rollouts with a level on it, what they earned on it in the mean, and the variance of that, which decides its fate. */
  scored: number
  score: number | null
  variance: number | null
}

/** A rubric that was proposed and not taken. */
export interface RefusedRubric {
  /** Null where it named none that there is. */
  stage: number | null
  title: string
  description: string
  /** Which rule it broke, in a word (`duplicate`, `tag-check`), and how. */
  rule: string
  reason: string
}

/** One line of rubrics.jsonl: what the rollouts of a question were scored on, and what became of it. */
export interface RubricRow {
  step: number
  question: string
  /** Rollouts that were judged, and those that could not be scored. */
  rollouts: number
  failedScorings: number
  /** Why nothing was proposed. */
  generationFailure?: string
  rubrics: RubricStatus[]
  refused: RefusedRubric[]
}

/** One line of events.jsonl: something worth telling a person. */
export interface EventRow {
  step?: number
  level: 'info' | 'warning' | 'error'
  message: string
  /** ISO time; filled in by the run folder. */
  at?: string
  /** The monitor that tells it, what it is called, and whether its sign has come or gone. */
  monitor?: string
  title?: string
  turn?: 'on' | 'over'
  /** The metrics in the message. */
  figures?: Record<string, number>
  /** Why it matters, and what to try. */
  why?: string
  advice?: string
  /** What a monitor did about its sign, and which one (several with a comma between); its reason is in the message. */
  action?: 'pause' | 'rollback' | 'raise-kl' | 'stop'
  by?: string
  /** What a person asked of the run while it went on (`control.jsonl`), and which request it was. */
  control?: 'pause' | 'go-on' | 'save' | 'stop' | 'threshold' | 'undo' | 'refused'
  /** Which action was undone. */
  undone?: 'rollback' | 'raise-kl'
  request?: string
}

/** A criterion that responses of a run are scored by, as it was when the run began. */
export interface RewardedCriterion {
  id: string
  /** Null where rows say it in words of their own. */
  text: string | null
  /** Null where rows give it different points. */
  points: number | null
  /** The rule or solver that decides it, with its settings; null: a judge. */
  check: string | null
  /** Rows that have it; absent where all have. */
  rows?: number
}

/** The rubric of a run's rows. */
export interface RewardedRubric {
  criteria: RewardedCriterion[]
  /** Criteria that single rows have for themselves. */
  ofRows: number
  /** SHA-256 of the criteria of the test rows: scores by other ones do not compare with these. */
  sha256: string
}

/** A resume that changed how far a run goes. */
export interface RunExtension {
  /** The step of the checkpoint that the run went on from. */
  step: number
  at: string
  before: ExtendableSettings
}

/** What a resume may change of how a run goes on. */
export interface ExtendableSettings {
  steps?: number
  maxMinutes?: number | null
  /** Steps between evaluations. */
  evaluationEvery?: number
}

/** config.json: everything needed to say what this run is. */
export interface RunInfo {
  id: string
  recipe?: string
  preset?: string
  /** What is trained, in words: a folder, a hub name, or sizes. */
  model?: string
  seed?: number | string
  /** Steps planned. */
  steps?: number
  /** Version of Gradus. */
  version?: string
  createdAt: string
  /** Names of criteria for people: `{ C1: 'answer' }`. */
  criterionNames?: Record<string, string>
  /** What each criterion asks for, in a sentence, and what it weighs in the reward; of recipes whose criteria are their own. */
  criterionAbout?: Record<string, string>
  criterionWeights?: Record<string, number>
  /** Of recipes that are given rows with rubrics. */
  rubric?: RewardedRubric
  /** How the reward comes from the verdicts, in a sentence or two. */
  rewardFormula?: string
  /** The test set that the headline is about; else the first one evaluated. */
  primarySet?: string
  /** Files and models on the hub that it reads, each with the commit that it was read from: a resume reads the same. */
  data?: { source: string; commit: string }[]
  /** Files of rows and rubrics on this machine, as they were when it began: a resume refuses others. */
  files?: { path: string; sha256: string }[]
  /** The resolved configuration, as the last resume left it. */
  config: unknown
  /** The checkpoint of another run that this one started from, with its optimiser. */
  forkedFrom?: { run: string; step: number }
  /** Settings that a resume changed, oldest first: from which step on, and what they were before. */
  extensions?: RunExtension[]
  environment: Record<string, string | number>
}

/** What a list of runs says of each. */
export interface RunListing {
  dir: string
  id: string
  recipe: string | null
  preset: string | null
  seed: number | string | null
  status: 'finished' | 'running' | 'stopped' | 'unreadable'
  /** Why it cannot be read; null where it can. */
  problem: string | null
  /** Steps taken, and planned; null where no number is. */
  step: number
  steps: number | null
  /** The primary score of the last evaluation on the primary set; null before there is one. */
  score: { set: string; name: string; label: string; value: number | null; step: number } | null
  /** Of the last step; null where it has none. */
  reward: number | null
  createdAt: string
  forkedFrom: { run: string; step: number } | null
}
