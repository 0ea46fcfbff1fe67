// `gradus experiment` of a tiny registration: disturbed, started again until it is done, its runs compared.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { bytesOf, fingerprint, leftovers, locksLeft, sameRun } from './checks.js'
import { disturb } from './disturb.js'
import { registration } from './jobs.js'

const FINE = { codes: [0], signals: [] }
/** So long a training may go on whose experiment was killed: it is not told. */
const ORPHAN_MS = 60_000

const argsOf = trial => [
  ...['experiment', trial.path('registration.json'), '--work', trial.path('work')],
  ...['--results', trial.path('results'), '--jobs', '2'],
]

const write = ({ fixtures }, trial) =>
  writeFileSync(trial.path('registration.json'), JSON.stringify(registration(fixtures)))

/** Every run below a folder, by its path. */
const runsBelow = root => {
  if (!existsSync(root)) return {}
  const runs = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(path =>
    path.endsWith('run/config.json'),
  )
  return Object.fromEntries(
    runs
      .sort()
      .map(path => [relative(root, dirname(join(root, path))), fingerprint(dirname(join(root, path)))]),
  )
}

export const experimentReference = async (_job, context, trial) => {
  write(context, trial)
  const child = trial.start(argsOf(trial))
  const { ms } = await trial.end(child, FINE)
  return { ms, bytes: bytesOf(trial.path('work')), runs: runsBelow(trial.path('work')) }
}

export const experimentTrial = async ({ attempts }, context, trial) => {
  write(context, trial)
  const args = argsOf(trial)
  let done = false
  for (const attempt of attempts) {
    const child = trial.start(args, attempt)
    const second = attempt.fault === 'two-starts' ? await startBeside(args, attempt, trial) : null
    const { expectedMs, id } = trial
    const expected = await disturb(child, attempt, { dir: trial.path('work'), expectedMs, trial: id })
    trial.disturbances++
    const shared = second === null ? expected : { codes: [0, 1], signals: [] }
    done = (await trial.end(child, shared)).code === 0
    if (second) await trial.end(second, { codes: [0, 1], signals: [] })
    if (done) break
    trial.resumes++
  }
  await trial.checkOrphans(ORPHAN_MS)
  const last = trial.start(args)
  await trial.end(last, FINE)
  const mine = runsBelow(trial.path('work'))
  const { runs } = trial.reference
  trial.check(
    'same as undisturbed',
    Object.keys(runs).flatMap(path =>
      mine[path] === undefined
        ? [`${path}: missing`]
        : sameRun(mine[path], runs[path]).map(text => `${path}: ${text}`),
    ),
  )
  trial.check('nothing left over', leftovers(trial.path('work')))
  trial.check('lock given back', locksLeft(trial.path('work')))
  trial.check(
    'results are there',
    existsSync(trial.path('results', 'chaos', 'CHAOS-1.json')) ? [] : ['no CHAOS-1.json'],
  )
  await trial.checkOrphans()
  return 'identical'
}

const startBeside = async (args, { at }, trial) => {
  await wait(at * trial.expectedMs)
  return trial.start(args)
}
