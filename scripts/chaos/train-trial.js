// A training that is disturbed, gone on with until it is finished, and compared with one that was left alone.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  bytesOf,
  fingerprint,
  inventedVerdicts,
  leftovers,
  locksLeft,
  sameRun,
  stepsInOrder,
  verdictsOfCache,
  verdictsOfRun,
} from './checks.js'
import { damageRun, newestCheckpoint } from './damage.js'
import { disturb, SmallDevice } from './disturb.js'
import { setOptions } from './jobs.js'

/** So often an undisturbed command is tried until the run is finished. */
const TRIES = 4
const FINE = { codes: [0], signals: [] }
const NOTHING_SAVED = /nothing to resume|there is no run here/
const TELLS_OF_DAMAGE =
  /damaged|falling back|fell back|goes back|going back|earlier checkpoint|checkpoint before|checksum|SHA-256/i

const trainArgs = (job, context, trial, dir) => {
  const places = { judge: trial.judge?.url ?? '', cache: trial.path('verdicts') }
  return ['train', job.recipe, '--out', dir, ...setOptions(job.settings(context.fixtures, places))]
}

/** The command that starts a run, or the one that goes on with it, whatever is there. */
const nextArgs = (args, dir, { resumeOrStart }, trial) => {
  const begun = resumeOrStart ? trial.begun : existsSync(join(dir, 'config.json'))
  trial.begun = true
  if (!begun) return args
  trial.resumes++
  return [...args, resumeOrStart ? '--resume-or-start' : '--resume']
}

/** Without `--resume-or-start`, a run that had saved nothing is removed by hand, as its message says. */
const startsAnew = (child, dir, { resumeOrStart }) => {
  if (resumeOrStart || !NOTHING_SAVED.test(child.err)) return false
  rmSync(dir, { recursive: true, force: true })
  return true
}

/** One attempt with its fault. @returns whether the run is finished */
const attemptOnce = async (attempt, args, dir, context, trial) => {
  const child = trial.start(nextArgs(args, dir, context.features, trial), attempt)
  const judging = attempt.fault === 'judge-restarts' ? trial.restartJudge(child, attempt) : null
  if (attempt.faults) trial.judge.faults = attempt.faults
  const { expectedMs, id } = trial
  const expected = await disturb(child, attempt, { dir, expectedMs, trial: id })
  trial.disturbances++
  const { code } = await child.ended
  if (code === 1 && startsAnew(child, dir, context.features)) return false
  await trial.end(child, expected)
  await judging
  return code === 0
}

/** Goes on without disturbance until the run is finished. @returns what the last command said */
const finish = async (args, dir, context, trial, expected = FINE) => {
  for (let i = 0; i < TRIES; i++) {
    const child = trial.start(nextArgs(args, dir, context.features, trial))
    const { code } = await child.ended
    if (code === 1 && startsAnew(child, dir, context.features)) continue
    await trial.end(child, expected)
    return { code, err: child.err }
  }
  trial.check('finishes', [`not finished after ${TRIES} tries`])
  return { code: null, err: '' }
}

const checkJudge = (trial, dir) => {
  const { given } = trial.judge
  const ofRun = verdictsOfRun(dir)
  trial.check('no invented verdict', inventedVerdicts(ofRun, given))
  trial.check(
    'no invented verdict in the cache',
    inventedVerdicts(verdictsOfCache(trial.path('verdicts')), given),
  )
  return ofRun.filter(({ met }) => met === null).length
}

const checkRun = async (trial, dir, context) => {
  trial.check('nothing left over', leftovers(dir))
  trial.check('lock given back', locksLeft(dir))
  trial.check('steps in order', stepsInOrder(dir))
  if (!context.features.runsCheck) return
  const child = trial.start(['runs', 'check', dir])
  await trial.end(child, FINE)
}

/** An undisturbed run, for all trials of a job. */
export const trainReference = async (job, context, trial) => {
  const dir = trial.path('run')
  if (job.judged) await trial.openJudge()
  const child = trial.start(trainArgs(job, context, trial, dir))
  const { ms } = await trial.end(child, FINE)
  const sizes = bytesOf(dir)
  return { ms, bytes: sizes, run: fingerprint(dir) }
}

export const trainTrial = async ({ job, fault, attempts }, context, trial) => {
  if (job.judged) await trial.openJudge()
  if (fault === 'small-device') return onSmallDevice(job, attempts[0], context, trial)
  const dir = trial.path('run')
  const args = trainArgs(job, context, trial, dir)
  if (fault === 'two-starts') return twoStarts(job, attempts[0], args, dir, context, trial)
  if (fault === 'damage') return damaged(attempts[0], args, dir, context, trial)
  for (const attempt of attempts) if (await attemptOnce(attempt, args, dir, context, trial)) break
  await trial.checkOrphans()
  if (fault === 'judge-lasting') return afterLastingFaults(args, dir, context, trial)
  return conclude(job, args, dir, context, trial)
}

/** Finishes the run; then it has to be the reference's. */
const conclude = async (job, args, dir, context, trial) => {
  const { code } = await finish(args, dir, context, trial)
  if (code === 0) {
    trial.check('same as undisturbed', sameRun(fingerprint(dir), trial.reference.run))
    if (job.judged) {
      const nulls = checkJudge(trial, dir)
      trial.check(
        'no lost verdict',
        nulls > 0 ? [`${nulls} verdicts are null although the judge could be asked again`] : [],
      )
    }
    await checkRun(trial, dir, context)
  }
  await trial.checkOrphans()
  return 'identical'
}

/** Verdicts are missing, so the run is another one; but each verdict that is there was given. */
const afterLastingFaults = async (args, dir, context, trial) => {
  const { code, err } = await finish(args, dir, context, trial, { codes: [0, 1], signals: [] })
  checkJudge(trial, dir)
  if (code === 0) await checkRun(trial, dir, context)
  else trial.check('a refusal speaks of the judge', /judge|verdict/i.test(err) ? [] : [err.slice(-300)])
  return code === 0 ? 'accounted' : 'refused'
}

/** Two commands for one folder: one of them is refused, and the other does not notice. */
const twoStarts = async (job, { at, resume }, args, dir, context, trial) => {
  const first = trial.start(nextArgs(args, dir, context.features, trial))
  await Promise.race([wait(at * trial.expectedMs), first.ended])
  const second = trial.start(resume ? nextArgs(args, dir, context.features, trial) : args)
  trial.disturbances++
  const either = { codes: [0, 1], signals: [] }
  const ends = [await trial.end(first, either), await trial.end(second, either)]
  const codes = ends.map(({ code }) => code)
  trial.check(
    'one of two starts trains',
    codes.includes(0) ? [] : [`both were refused: ${first.err} ${second.err}`],
  )
  for (const [i, child] of [first, second].entries())
    if (codes[i] === 1)
      trial.check(
        'the other is refused with words',
        /process \d+|there is a run here|no run here|nothing to resume|being written|not empty/.test(
          child.err,
        )
          ? []
          : [child.err.slice(-300)],
      )
  return conclude(job, args, dir, context, trial)
}

/** Stops a run some checkpoints on, damages it, and goes on: it has to notice, or come to the same end. */
const damaged = async (attempt, args, dir, context, trial) => {
  const stop = { ...attempt, fault: 'kill', moment: 'saved' }
  await attemptOnce(stop, args, dir, context, trial)
  const what = newestCheckpoint(dir) === null ? null : damageRun(dir, attempt)
  if (what === null) return conclude({}, args, dir, context, trial)
  trial.note(`damage: ${what}`)
  const { code, err } = await finish(args, dir, context, trial, { codes: [0, 1], signals: [] })
  if (code === 1) return 'refused'
  if (code === 0) {
    const events = existsSync(join(dir, 'events.jsonl'))
      ? readFileSync(join(dir, 'events.jsonl'), 'utf8')
      : ''
    const detected = TELLS_OF_DAMAGE.test(err) || TELLS_OF_DAMAGE.test(events)
    const different = sameRun(fingerprint(dir), trial.reference.run)
    const how = detected ? 'said so, and came to another end' : 'accepted in silence'
    trial.check('damage is noticed', different.length > 0 ? [`${what}: ${how}: ${different.join('; ')}`] : [])
    await checkRun(trial, dir, context)
    return detected ? 'fallback' : 'identical'
  }
  return 'refused'
}

/** A file system that is too small for the run: refused with words; with more room the run goes on. */
const onSmallDevice = async (job, attempt, context, trial) => {
  const { all } = trial.reference.bytes
  const device = SmallDevice.mount(trial.path('device'), Math.max(65_536, attempt.share * all))
  if (device === null) return 'accounted'
  try {
    const dir = trial.path('device', 'run')
    const args = trainArgs(job, context, trial, dir)
    const finished = await attemptOnce(attempt, args, dir, context, trial)
    device.grow(16 * all + (1 << 22))
    if (finished) trial.note('there was room enough')
    return await conclude(job, args, dir, context, trial)
  } finally {
    device.unmount()
  }
}
