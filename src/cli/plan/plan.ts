/** @file `gradus plan`: the settings, the machine, and what the one takes on the other. */

import { availableParallelism } from 'node:os'
import { fetchModel } from '../../model/fetch-model.ts'
import { parseAssumptions } from '../../plan/assumptions.ts'
import { checkRun } from '../../plan/check-run.ts'
import { type EngineSpeed, parseEngineSpeed, planEngineRange } from '../../plan/engine-time.ts'
import { checkLines, enginePlanLines, planLines } from '../../plan/format.ts'
import { parseGpus } from '../../plan/gpus.ts'
import { type Grading, type PlanRequest, planRange } from '../../plan/step-plan.ts'
import { enginesOf } from '../../policy/open.ts'
import { knownShape } from '../../recipes/common/known-models.ts'
import { sizeNamed } from '../../recipes/common/model-size.ts'
import type { StepWork } from '../../recipes/common/step-work.ts'
import { readMetrics, readRollouts } from '../../runs/readers.ts'
import { ConfigError, UsageError } from '../../util/errors.ts'
import { parseJson } from '../../util/json.ts'
import { StatusLine } from '../../util/status-line.ts'
import { readText } from '../../util/text-file.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { refuseGiven } from '../option-values.ts'
import { settingsOfRun } from '../train/fork.ts'
import { resolveSettings, type Settings } from '../train/settings.ts'

export interface PlanOptions {
  preset?: string
  set?: readonly string[]
  gpus?: string
  model?: string
  judgeModel?: string
  judgeGpus?: string
  judgeRate?: number
  judgeTokens?: number
  microBatchTokens?: number
  gpuPrice?: number
  judgePrice?: string
  assume?: readonly string[]
  engine?: string
  check?: string
  json?: boolean
}

const OF_GPUS = [
  ...(['judgeModel', 'judgeGpus', 'judgeRate', 'judgeTokens'] as const),
  ...(['microBatchTokens', 'gpuPrice', 'judgePrice'] as const),
] as const

/** @throws UsageError for an option that this kind of plan does not use */
const refuseUnused = (options: PlanOptions): void => {
  const { check, gpus } = options
  const refuse = (keys: readonly (keyof PlanOptions)[], beside: string) =>
    refuseGiven(options, keys, `has no effect beside ${beside}; leave it out`)
  if (check !== undefined)
    refuse(['preset', 'set', 'assume', ...OF_GPUS], '--check, where the run knows its settings')
  else if (gpus === 'here') refuse(OF_GPUS, '--gpus here')
  else if (gpus !== undefined) refuse(['engine'], 'GPUs: it is for --gpus here')
}

/** @throws UsageError, ConfigError, DataError, RunError */
export const planCommand = async (
  target: string | undefined,
  options: PlanOptions,
  io: Io,
): Promise<number> => {
  refuseUnused(options)
  if (options.check !== undefined) return checkCommand(options.check, target, options, io)
  if (target === undefined)
    throw new UsageError('expected a recipe or a YAML file, got neither', {
      hint: 'for example: gradus plan ruscarl --preset paper --gpus H200:8',
    })
  if (options.gpus === undefined)
    throw new UsageError('--gpus: expected NAME:COUNT or here, got nothing', {
      hint: 'for example --gpus H100:8',
    })
  const settings = await resolveSettings({ target, preset: options.preset, set: options.set })
  await settings.entry.prefetch?.(settings.config, 'plan')
  if (options.model !== undefined && knownShape(options.model) === null)
    await fetchModel(options.model, { only: 'config', status: new StatusLine(io.err) })
  const work = workOf(settings, options)
  return options.gpus === 'here'
    ? planHere(settings, work, options, io)
    : planOnGpus(settings, work, options.gpus, options, io)
}

/** A step of the settings in numbers. @throws ConfigError for a recipe that trains no language model */
const workOf = ({ entry, config }: Settings, { model }: PlanOptions): StepWork => {
  const { work } = entry.plan(config)
  if (work === undefined)
    throw new ConfigError(
      `${entry.name}: expected a recipe whose plan knows its steps, got one that does not`,
      {
        hint: 'gradus train --dry-run says what it would do',
      },
    )
  if (model === undefined) return work
  sizeNamed(model, '--model')
  const shape = knownShape(model)
  if (shape === null)
    throw new UsageError(`--model: expected a dense model, got the mixture of experts ${model}`, {
      hint: 'mixtures of experts are known as judges only (--judge-model)',
    })
  return { ...work, model, shape }
}

const titleOf = ({ entry, preset }: Settings): string =>
  [entry.name, preset && `preset ${preset}`].filter(Boolean).join(', ')

const print = (io: Io, title: string, lines: readonly string[]): number => {
  io.out.write(`${title}\n${lines.map(line => `  ${line}\n`).join('')}`)
  return EXIT.ok
}

const planOnGpus = (
  settings: Settings,
  work: StepWork,
  gpus: string,
  options: PlanOptions,
  io: Io,
): number => {
  const request: PlanRequest = {
    ...{
      work,
      gpus: parseGpus(gpus),
      grading: gradingOf(options),
      set: parseAssumptions(options.assume ?? []),
    },
    ...{ judgeTokens: options.judgeTokens, microBatchTokens: options.microBatchTokens },
    prices: { gpuHour: options.gpuPrice, ...judgePrices(options.judgePrice) },
  }
  const plan = planRange(request)
  if (!options.json)
    return print(io, `${titleOf(settings)}: a plan; nothing was run`, planLines(plan, request))
  printJson(io, {
    recipe: settings.entry.name,
    preset: settings.preset ?? null,
    gpus: { name: request.gpus.gpu.name, count: request.gpus.count },
    steps: work.steps,
    ...plan,
  })
  return EXIT.ok
}

/** @throws UsageError for half of what a judge's speed takes, or both ways to say it */
const gradingOf = ({ judgeModel, judgeGpus, judgeRate }: PlanOptions): Grading => {
  if (judgeRate !== undefined) {
    if (judgeModel !== undefined || judgeGpus !== undefined)
      throw new UsageError('--judge-rate: expected it alone, got --judge-model or --judge-gpus beside it')
    return { kind: 'rate', callsPerSecond: judgeRate }
  }
  if (judgeModel === undefined && judgeGpus === undefined) return { kind: 'unknown' }
  if (judgeModel === undefined || judgeGpus === undefined)
    throw new UsageError('--judge-model, --judge-gpus: expected both, got one of them')
  return {
    kind: 'model',
    size: sizeNamed(judgeModel, '--judge-model'),
    gpus: parseGpus(judgeGpus, '--judge-gpus'),
  }
}

/** @throws UsageError for anything but two prices */
const judgePrices = (text: string | undefined): { judgeIn?: number; judgeOut?: number } => {
  if (text === undefined) return {}
  const parts = text.split(',').map(part => (part.trim() === '' ? Number.NaN : Number(part)))
  if (parts.length !== 2 || parts.some(part => !(part >= 0 && Number.isFinite(part))))
    throw new UsageError(`--judge-price: expected IN,OUT of a million tokens each, got ${text}`)
  return { judgeIn: parts[0], judgeOut: parts[1] }
}

const readSpeed = (path: string): EngineSpeed =>
  parseEngineSpeed(parseJson(readText(path, { ErrorKind: ConfigError }), path), path)

type PolicyPart = Parameters<typeof enginesOf>[0] & { recompute?: boolean }

/** As many as the run itself would have, whatever model is measured in its place; undefined: as that model has. */
export const measuredEngines = (
  policy: PolicyPart,
  { shape }: Pick<StepWork, 'shape'>,
): number | undefined => {
  if (shape) return enginesOf(policy, () => shape)
  return policy.sampler ? 1 : (policy.engines ?? undefined)
}

/** What the file says, or a quick measurement of a model of that shape. */
const speedOf = async (
  settings: Settings,
  work: StepWork,
  { engine }: PlanOptions,
  io: Io,
): Promise<EngineSpeed> => {
  const { policy = {}, model } = settings.config as {
    policy?: PolicyPart
    model?: { folder?: string | null }
  }
  const { recompute = false, threads = availableParallelism() } = policy
  if (engine !== undefined) return readSpeed(engine)
  io.err.write(
    'measuring the engine; --engine FILE takes measurements of `gradus bench engine --json` in place of that\n',
  )
  const { benchEngine } = await import('../../bench/engine.ts')
  const folder = model?.folder ?? undefined
  return parseEngineSpeed(
    await benchEngine({
      ...{ rounds: 1, threads, model: folder, recompute },
      engines: measuredEngines({ ...policy, threads }, work),
    }),
    'gradus bench engine',
  )
}

const planHere = async (
  settings: Settings,
  work: StepWork,
  options: PlanOptions,
  io: Io,
): Promise<number> => {
  const set = parseAssumptions(options.assume ?? [])
  const speed = await speedOf(settings, work, options, io)
  const plan = planEngineRange(work, speed, set)
  if (!options.json)
    return print(io, `${titleOf(settings)}: a plan; nothing was run`, [
      `model        ${work.model}`,
      ...enginePlanLines(plan, speed, work.steps),
    ])
  printJson(io, { recipe: settings.entry.name, preset: settings.preset ?? null, steps: work.steps, ...plan })
  return EXIT.ok
}

const checkCommand = async (
  dir: string,
  target: string | undefined,
  options: PlanOptions,
  io: Io,
): Promise<number> => {
  if (target !== undefined || options.gpus !== undefined)
    throw new UsageError('--check: expected a run alone, got a recipe or --gpus beside it', {
      hint: 'the run knows its settings, and ran on this machine',
    })
  const settings = await resolveSettings({ target: settingsOfRun(dir) })
  const work = workOf(settings, options)
  const check = checkRun({
    work,
    metrics: readMetrics(dir),
    rollouts: readRollouts(dir),
    dropsZero: settings.config.dropZero !== false,
    speed: await speedOf(settings, work, options, io),
  })
  if (!options.json) return print(io, `${dir}: its plan beside what it took`, checkLines(check))
  printJson(io, { run: dir, recipe: settings.entry.name, ...check })
  return EXIT.ok
}
