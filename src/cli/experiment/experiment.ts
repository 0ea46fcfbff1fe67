/** @file `gradus experiment`: plan, calibration, runs with progress, and what the claims came to. */

import { availableParallelism } from 'node:os'
import { Experiment, type ExperimentPlan } from '../../experiments/experiment.ts'
import { tipOf } from '../../experiments/plan/blocks.ts'
import { armTraining, type Job, type ResolveTraining, type Training } from '../../experiments/plan/jobs.ts'
import { readRegistration } from '../../experiments/plan/read.ts'
import type { Registration } from '../../experiments/plan/registration.ts'
import type { AdoptedJobs } from '../../experiments/results/adoption.ts'
import type { PaperResult } from '../../experiments/results/paper.ts'
import { fetchModel } from '../../model/fetch-model.ts'
import { RunError } from '../../runs/errors.ts'
import { ConfigError, GradusError, UsageError } from '../../util/errors.ts'
import { formatDuration, plural } from '../../util/format.ts'
import { commandLineOf } from '../../util/invocation.ts'
import { shippedFile } from '../../util/package.ts'
import { StatusLine } from '../../util/status-line.ts'
import { EXIT, type Io, printJson } from '../io.ts'
import { optionWords } from '../option-values.ts'
import { type LoadedRecipes, loadRecipes, resolveAmong } from '../train/settings.ts'
import { probeInProcess, settingsOf, stopper, trainInProcess } from './process.ts'
import { ExperimentProgress } from './progress.ts'
import { recomputeCommand, resultJson, resultLines } from './results.ts'

export interface ExperimentCommandOptions {
  budget?: number
  jobs?: number
  work: string
  results: string
  adopt?: boolean
  dryRun?: boolean
  analyse?: boolean
  json?: boolean
  recompute?: boolean
  write?: boolean
  probe?: string
  registered?: string
}

/** @throws ConfigError naming the place in the registration for what `act` throws */
const placed = <Result>(file: string, place: string, act: () => Result): Result => {
  try {
    return act()
  } catch (error) {
    if (!(error instanceof GradusError)) throw error
    const text = error.message.replaceAll(/^--set: /gm, '')
    throw new ConfigError(`${file}: ${place}: ${text}`)
  }
}

/** The recipes of all its trainings. */
const recipesOf = ({ recipe, starts, arms }: Registration): Promise<LoadedRecipes> =>
  loadRecipes([
    recipe,
    ...starts.flatMap(start => ('recipe' in start ? [start.recipe] : [])),
    ...Object.values(arms).flatMap(arm => arm.recipe ?? []),
  ])

const resolvedOf = (training: Training, recipes: LoadedRecipes) => {
  const { recipe, preset } = training
  return resolveAmong(recipes, { target: recipe, preset, set: settingsOf(training) })
}

/** Checks a job's settings by its recipe. @throws ConfigError naming the place in the registration. */
const resolver =
  (file: string, recipes: LoadedRecipes): ResolveTraining =>
  (training, place) =>
    placed(file, place, () => resolvedOf(training, recipes).config)

/** What arms start from, but for models that are missing: models that are there, and a word for the checkpoints of cold starts, which are not when a plan is made. */
const startFolders = ({ registration: { starts }, jobs }: Experiment): string[] => {
  const missing = new Set(jobs.flatMap(job => (job.kind === 'start' && job.missing ? [job.start] : [])))
  const there = starts.filter(({ name }) => !missing.has(name))
  return [
    ...new Set(there.map(start => ('model' in start ? start.model : 'the checkpoint of its cold start'))),
  ]
}

/** Has every arm planned by its recipe, which refuses settings that do not go together. @throws ConfigError naming the arm */
const checkArms = async (experiment: Experiment, file: string): Promise<void> => {
  const { registration } = experiment
  const recipes = await recipesOf(registration)
  for (const name of Object.keys(registration.arms)) {
    const training = armTraining(registration, name, registration.seeds[0])
    for (const folder of startFolders(experiment)) {
      const settings = [...training.settings, { model: { folder } }]
      const { entry, config } = placed(file, `arms.${name}`, () =>
        resolvedOf({ ...training, settings }, recipes),
      )
      await entry.prefetch?.(config, 'plan')
      placed(file, `arms.${name}`, () => entry.plan(config))
    }
  }
}

/** @throws ConfigError for a registration that cannot be used, UsageError for options that do not go together. */
export const experimentCommand = async (
  named: string,
  options: ExperimentCommandOptions,
  io: Io,
): Promise<number> => {
  // Registrations travel with the package: they are found from any folder by the names that they have in it.
  const file = shippedFile(named)
  if (options.analyse && (options.budget !== undefined || options.dryRun))
    throw new UsageError(
      '--analyse: expected no --budget and no --dry-run beside it; it runs nothing and plans nothing',
    )
  if (options.adopt && options.recompute)
    throw new UsageError(
      '--adopt: expected no --recompute beside it; that reads the runs in the results as they are',
    )
  if (options.recompute) return recomputeCommand(file, options, io)
  if (options.write) throw new UsageError('--write: expected --recompute beside it')
  const registration = readRegistration(file)
  for (const start of registration.starts)
    if ('model' in start) await fetchModel(start.model, { status: new StatusLine(io.err) })
  if (options.registered !== undefined && options.registered !== tipOf(registration))
    throw new ConfigError(
      `${file}: expected the registration ${options.registered.slice(0, 16)}, got ${tipOf(registration).slice(0, 16)}: it was changed since the command began`,
      { hint: 'undo the change while its runs are under way; a changed registration is another experiment' },
    )
  const experiment = new Experiment(registration, {
    work: options.work,
    results: options.results,
    width: options.jobs ?? availableParallelism(),
    budgetMinutes: options.budget,
    adopt: options.adopt,
    resolve: resolver(file, await recipesOf(registration)),
    execute: trainInProcess,
    command: ['gradus', ...wordsOf(named, options)].join(' '),
    probe: async (job, stop) => {
      await probeInProcess(registration, job.id, options.work, stop)
    },
  })
  if (options.probe !== undefined) {
    await experiment.probe(options.probe)
    printJson(io, { probed: options.probe })
    return EXIT.ok
  }
  if (options.analyse) {
    if (!experiment.hasBegun)
      throw new RunError(
        `${experiment.folder}: no run of this registration has been made, so there is nothing to analyse`,
        {
          hint: 'leave out --analyse to run it, or name the folder of its runs with --work; results were left as they are',
        },
      )
    return conclude(experiment, [], options, io)
  }
  return carryOut(experiment, file, options, io)
}

const carryOut = async (
  experiment: Experiment,
  file: string,
  options: ExperimentCommandOptions,
  io: Io,
): Promise<number> => {
  const say = (text: string) => options.json || io.err.write(`${text}\n`)
  await checkArms(experiment, file)
  if (options.dryRun) {
    const plan = experiment.plan()
    if (options.json) printJson(io, planJson(experiment.registration, plan))
    else {
      const lines = [
        ...planLines(experiment.registration, plan, options),
        ...trainingLines(experiment.registration, plan),
      ]
      io.out.write(`${lines.join('\n')}\nnothing was run\n`)
    }
    return EXIT.ok
  }
  const stop = stopper(io, say)
  try {
    if (options.budget !== undefined && experiment.plan().secondsAll === null)
      await experiment.calibrate(stop.signal, say)
    const plan = experiment.plan()
    for (const line of planLines(experiment.registration, plan, options)) say(line)
    if (plan.chosen.length === 0)
      throw new UsageError(`--budget ${options.budget}: not even one seed of one cold start fits`, {
        hint: 'give more minutes, more --jobs, or register fewer arms or steps',
      })
    const progress = new ExperimentProgress(
      experiment,
      plan.chosen,
      options.jobs ?? availableParallelism(),
      say,
    )
    const { failed, interrupted } = await experiment
      .run(plan.chosen, stop.signal, progress.events)
      .finally(() => progress.close())
    if (interrupted) {
      say(`stopped; go on with:\n  ${commandLineOf(wordsOf(file, options))}`)
      return EXIT.interrupted
    }
    const code = conclude(
      experiment,
      failed.map(({ job, message }) => ({ id: job.id, message })),
      options,
      io,
    )
    return failed.length > 0 ? EXIT.failed : code
  } finally {
    stop.release()
  }
}

/** What goes on where a command was stopped, and what results name. */
const wordsOf = (
  file: string,
  { budget, jobs, work, results, adopt }: ExperimentCommandOptions,
): string[] => {
  const given = {
    ...{ budget, jobs, adopt },
    work: work === 'experiments-work' ? undefined : work,
    results: results === 'results' ? undefined : results,
  }
  return ['experiment', file, ...optionWords(given, ['budget', 'jobs', 'work', 'results', 'adopt'])]
}

const timeOf = (seconds: number | null): string =>
  seconds === null
    ? 'unknown before a first run is done (--budget measures it)'
    : `about ${formatDuration(seconds)}`

/** Every cold start and arm: what is trained, how long, how often. Cold starts come first, though they are made when needed. */
const trainingLines = ({ arms }: Registration, { jobs }: ExperimentPlan): string[] => {
  const sorted = jobs.toSorted((a, b) => Number(b.kind === 'start') - Number(a.kind === 'start'))
  const names = [...new Set(sorted.map(nameOf))]
  const width = Math.max(...names.map(name => name.length))
  return names.map(name => {
    const own = jobs.filter(job => nameOf(job) === name)
    const [{ training, steps, kind, arm }] = own
    const what = [training.recipe, ...(training.preset === undefined ? [] : [training.preset])].join(' ')
    const length = steps === null ? '' : `, ${plural(steps, 'step')}`
    if (own[0].given !== undefined) return `  ${name.padEnd(width)}  ${what}, not trained`
    const summary = kind === 'arm' ? arms[arm]?.summary : undefined
    return `  ${name.padEnd(width)}  ${what}${length}, ${plural(own.length, 'run')}${summary === undefined ? '' : `: ${summary}`}`
  })
}

const nameOf = ({ kind, start, arm }: Job): string => (kind === 'start' ? `cold start ${start}` : arm)

const adoptedLines = (adopted: AdoptedJobs | null): string[] => {
  if (adopted === null) return []
  const { from, runs, starts, of } = adopted
  const left =
    starts.length === 0 ? '' : `; cold starts that no other runs need are not trained: ${starts.join(', ')}`
  return [`  ${runs.length} of ${plural(of, 'run')} are adopted from ${from}${left}`]
}

const planLines = (
  { paper, hash, arms, seeds, blocks: added, looks, starts, claims }: Registration,
  { jobs, chosen, done, blocks, secondsChosen, secondsAll, adopted, warnings }: ExperimentPlan,
  { budget }: ExperimentCommandOptions,
): string[] => [
  `${paper}: registration ${hash.slice(0, 16)}`,
  `  ${plural(claims.length, 'claim')}, ${plural(Object.keys(arms).length, 'arm')}, ${plural(starts.length, 'cold start')} x ${plural(seeds.length + added.flatMap(block => block.seeds).length, 'seed')}: ${plural(jobs.length, 'run')}, ${done} done (cold starts included)`,
  ...adoptedLines(adopted),
  ...(added.length === 0
    ? []
    : [
        `  enlarged by ${plural(added.length, 'block')} of seeds: ${added.map(block => block.seeds.join(', ')).join('; ')}`,
        ...(added.length < looks
          ? []
          : [
              '  warning: looks: more looks than were planned at registration; the first one spent its 5% as if it were the only one',
            ]),
      ]),
  `  time left for all of them: ${timeOf(secondsAll)}`,
  ...(budget === undefined
    ? []
    : [
        `  into ${plural(budget, 'minute')} fit ${blocks.chosen} of ${blocks.all} (start, seed) blocks: ${chosen.length} runs, ${timeOf(secondsChosen)}`,
      ]),
  ...warnings.map(warning => `  warning: ${warning}`),
]

const adoptedJson = (adopted: AdoptedJobs | null) => {
  if (adopted === null) return {}
  const { warnings: _warnings, ...rest } = adopted
  return { adopted: rest }
}

const planJson = ({ paper, hash }: Registration, plan: ExperimentPlan) => ({
  paper,
  sha256: hash,
  jobs: plan.jobs.map(({ id, kind, dir, steps, block, training }) => ({
    id,
    kind,
    dir,
    steps,
    block,
    training,
  })),
  chosen: plan.chosen.map(({ id }) => id),
  done: plan.done,
  blocks: plan.blocks,
  secondsChosen: plan.secondsChosen,
  secondsAll: plan.secondsAll,
  ...adoptedJson(plan.adopted),
  warnings: plan.warnings,
})

const conclude = (
  experiment: Experiment,
  failed: PaperResult['failed'],
  options: ExperimentCommandOptions,
  io: Io,
): number => {
  const { result, folder, report, foreign, adopted } = experiment.report(failed)
  const warnings = [...(options.analyse ? (adopted?.warnings ?? []) : []), ...(result.notes ?? [])]
  for (const text of warnings) io.err.write(`warning: ${text}\n`)
  if (foreign.length > 0)
    io.err.write(
      `warning: ${folder}: results of no claim of this registration: ${foreign.join(', ')}; remove them, or keep them elsewhere\n`,
    )
  if (options.json) printJson(io, { ...resultJson(result, folder, report), ...adoptedJson(adopted) })
  else io.out.write(`${[...resultLines(result, report), ...adoptedLines(adopted)].join('\n')}\n`)
  return EXIT.ok
}
