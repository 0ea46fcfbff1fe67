/** @file Settings of rubric-as-reward that would silently be ignored, refused before anything runs. */

import { DEFAULT_PROXIES, type ProxySettings } from '../../grade/logic/settings.ts'
import { refuse } from '../common/refuse.ts'
import { checkOptions } from '../options/options.ts'
import { type RubricAsRewardConfig, rubricAsRewardSchema } from './config.ts'
import { checkSchedule, isSchedule } from './lengths.ts'
import { conditionWeights, weighedRubric } from './rewards.ts'
import { checkSourceNames } from './sources-config.ts'

/**
 * Refuses settings of which one would silently be ignored.
 * @throws ConfigError naming the setting and what to do.
 */
export const checkRubricAsRewardSettings = (config: RubricAsRewardConfig): void => {
  checkTask(config)
  checkMethod(config)
  checkRejection(config)
  checkReward(config)
  checkVerifier(config)
  checkCredit(config)
  checkAdvantage(config)
  checkOptions(config, {
    unpaid: unpaid(config),
    allAsked: 'the criteria are worked out together, so asking for fewer saves nothing',
    criteria: weighedRubric(config).criteria,
  })
}

/** Why what options leave out would not be left out of what is paid. */
const unpaid = ({ condition, weights, credit }: RubricAsRewardConfig): string | null => {
  if (Object.keys(weights ?? conditionWeights(condition)).length === 0)
    return `condition "${condition}", which is no weighted sum of criteria`
  return credit === 'per-step'
    ? 'credit "per-step", whose steps carry the verdicts of C2 also where that is left out'
    : null
}

const checkTask = ({ task, coldStart, evaluation }: RubricAsRewardConfig): void => {
  checkSources(task, evaluation)
  if (coldStart !== null && task.prompt === 'chat')
    refuse(
      'task.prompt: expected "miniature" with coldStart, whose model reads word-level tokens, got "chat"',
      'set task.prompt to "miniature", or start from a chat model in model.folder',
    )
  const real = evaluation.sets.find(set => set === 'real' || set === 'real-shuffled')
  if (real !== undefined && evaluation.realFile === null)
    refuse(
      `evaluation.realFile: expected the path of a file of ProntoQA rows for the test set "${real}", got none`,
      `set evaluation.realFile, or take "${real}" out of evaluation.sets`,
    )
  if (evaluation.hopProblems !== undefined && evaluation.hops === undefined)
    refuse(
      `evaluation.hopProblems: expected nothing set without evaluation.hops, got ${evaluation.hopProblems}`,
      'set evaluation.hops, or leave evaluation.hopProblems out',
    )
  const unlisted = evaluation.hopsBetween?.find(hops => !evaluation.hops?.includes(hops))
  if (unlisted !== undefined)
    refuse(
      `evaluation.hopsBetween: expected lengths of evaluation.hops, got ${unlisted}`,
      'add it to evaluation.hops, or take it out',
    )
  if (!isSchedule(task.hops)) return
  checkSchedule(task.hops)
  if (task.file !== null)
    refuse(
      `task.hops: expected no schedule with task.file, whose rows have the lengths that they have, got one of kind "${task.hops.kind}"`,
      'leave task.file out, or the schedule',
    )
}

const checkSources = (
  { sources, file, hops, prompt, formulas }: RubricAsRewardConfig['task'],
  { sources: tested }: RubricAsRewardConfig['evaluation'],
): void => {
  if (formulas === 'shown' && prompt === 'miniature')
    refuse(
      'task.formulas: expected "hidden" with the miniature\'s prompts, which have sentences alone, got "shown"',
      'set task.prompt to "chat", or leave task.formulas out',
    )
  for (const [key, list] of [
    ['task.sources', sources],
    ['evaluation.sources', tested],
  ] as const) {
    checkSourceNames(list ?? [], key)
    const folio = list?.findIndex(({ kind }) => kind === 'folio') ?? -1
    if (folio >= 0 && prompt === 'miniature')
      refuse(
        `${key}[${folio}]: expected no FOLIO rows with task.prompt "miniature", whose word lists hold the words of generated and ProntoQA problems alone, got "folio"`,
        'set task.prompt to "chat" and model.folder to a model with a tokenizer of its own (as preset paper has), or leave the source out',
      )
  }
  if (sources === undefined) return
  if (file !== null)
    refuse(
      `task.file: expected none with task.sources, got ${file}`,
      'make it one of the sources: {kind, path}',
    )
  if (isSchedule(hops))
    refuse(
      `task.hops: expected no schedule with task.sources, got one of kind "${hops.kind}"`,
      'give each generated source its hops, or leave task.sources out',
    )
}

const isDefaultAdvantage = (advantage: RubricAsRewardConfig['advantage']): boolean => {
  const usual: Record<string, unknown> = rubricAsRewardSchema.parse({}).advantage
  return Object.entries(advantage).every(([name, value]) => usual[name] === value)
}

const checkMethod = ({
  method,
  accepted,
  demonstrations,
  control,
  softCriteria,
}: RubricAsRewardConfig): void => {
  if (accepted !== undefined && method !== 'rejection')
    refuse(
      `accepted: expected nothing set with method "${method}", which accepts nothing`,
      'set method to "rejection", or leave accepted out',
    )
  if ((demonstrations === undefined) === (method === 'supervised'))
    refuse(
      method === 'supervised'
        ? 'demonstrations: expected what is learnt with method "supervised", got nothing'
        : `demonstrations: expected nothing set with method "${method}", which learns its own rollouts`,
      'set method to "supervised" and demonstrations to settings of logic-cold-start, or leave both out',
    )
  const rewarding = Object.entries({ control, softCriteria }).find(([, value]) => value !== undefined)
  if (method === 'supervised' && rewarding !== undefined)
    refuse(
      `${rewarding[0]}: expected nothing set with method "supervised", which has no reward, got "${rewarding[1]}"`,
      'leave it out, or set method to "grpo"',
    )
}

const checkRejection = ({ method, condition, credit, advantage, dropZero }: RubricAsRewardConfig): void => {
  if (method !== 'rejection') return
  const why = 'with method "rejection", which learns whole rollouts that are correct and proved'
  if (condition !== 'proof')
    refuse(
      `condition: expected "proof" ${why}, got "${condition}"`,
      'set condition to "proof", or method to "grpo"',
    )
  if (credit !== 'scalar')
    refuse(
      `credit: expected "scalar" ${why}, got "${credit}"`,
      'leave credit at "scalar", or set method to "grpo"',
    )
  if (!isDefaultAdvantage(advantage))
    refuse(
      `advantage: expected nothing set ${why}, got ${JSON.stringify(advantage)}`,
      'leave advantage out, or set method to "grpo"',
    )
  if (!dropZero)
    refuse(
      `dropZero: expected true ${why}, got false: those that are rejected would have a part in the mean`,
      'leave dropZero at true, or set method to "grpo"',
    )
}

const checkReward = ({ condition, weights, softCriteria, grader }: RubricAsRewardConfig): void => {
  const own = conditionWeights(condition)
  if (weights !== null && Object.keys(own).length === 0)
    refuse(
      `weights: expected null with condition "${condition}", whose reward is no weighted sum, got ${JSON.stringify(weights)}`,
      'leave weights out, or choose another condition',
    )
  const { C4 = 0, C5 = 0 } = weights ?? own
  if (softCriteria !== undefined && C4 === 0 && C5 === 0)
    refuse(
      `softCriteria: expected nothing set where neither C4 nor C5 has a weight, got "${softCriteria}" with condition "${condition}"`,
      'set condition to "hybrid", give C4 or C5 a weight, or leave softCriteria out',
    )
  const changed = Object.entries(grader?.proxies ?? {}).find(
    ([name, value]) => value !== DEFAULT_PROXIES[name as keyof ProxySettings],
  )
  if ((softCriteria === 'exact' || softCriteria === 'learned') && changed !== undefined)
    refuse(
      `grader.proxies.${changed[0]}: expected nothing set with softCriteria "${softCriteria}", which does without the proxies, got ${changed[1]}`,
      'set softCriteria to "heuristic", or leave grader.proxies out',
    )
}

const checkVerifier = ({ softCriteria, verifier }: RubricAsRewardConfig): void => {
  if (verifier !== undefined && softCriteria !== 'learned')
    refuse(
      `verifier: expected nothing set with softCriteria "${softCriteria ?? 'heuristic'}", which no verifier judges`,
      'set softCriteria to "learned", or leave verifier out',
    )
}

const checkCredit = ({ credit, stepWeight, control }: RubricAsRewardConfig): void => {
  if (credit === 'per-step' && control !== undefined)
    refuse(
      `control: expected nothing set with credit "per-step", where each step's own verdict stays true, got "${control}"`,
      'set credit to "scalar", or leave control out',
    )
  if (credit === 'scalar' && stepWeight !== 1)
    refuse(
      `stepWeight: expected 1 with credit "scalar", which knows no steps, got ${stepWeight}`,
      'set credit to "per-step", or leave stepWeight out',
    )
}

const checkAdvantage = ({ condition, advantage: { scale, redistribute } }: RubricAsRewardConfig): void => {
  if (condition === 'rubric_norm' && scale !== 'group')
    refuse(
      `advantage.scale: expected "group" with condition "rubric_norm", which divides each criterion by its own spread in the group, got "${scale}"`,
      'leave advantage.scale at "group", or choose another condition',
    )
  if (condition !== 'rubric_norm' && redistribute)
    refuse(
      `advantage.redistribute: expected false with condition "${condition}", which mixes the criteria before they are normalised, got true`,
      'set condition to "rubric_norm", or advantage.redistribute to false',
    )
}
