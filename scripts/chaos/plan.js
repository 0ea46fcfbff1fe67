// Which trial meets which fault, and how: all of it follows from the seed, the round, the job and the fault.
import { Rng } from '../../dist/util/rng.js'
import { JOBS } from './jobs.js'
import { LASTING, PASSING } from './judge.js'

const SIGNALS = ['kill', 'signals', 'pause']
const DISK = ['disk-full', 'small-device', 'file-limit', 'slow-disk', 'full-output']
const JUDGE = ['judge-passing', 'judge-restarts', 'judge-lasting']

/** Kinds of faults, in the order of the table. */
export const FAULTS = [...SIGNALS, 'clock', ...DISK, ...JUDGE, 'two-starts', 'damage', 'mixed']

const MOMENTS = ['start', 'random', 'random', 'save', 'saved']

const FAULTS_OF = {
  train: FAULTS.filter(fault => !JUDGE.includes(fault)),
  grade: [...SIGNALS, 'clock', 'disk-full', 'file-limit', 'slow-disk', 'full-output', 'two-starts', 'mixed'],
  experiment: [...SIGNALS, 'clock', 'disk-full', 'slow-disk', 'two-starts'],
  serve: [...SIGNALS, 'clock', 'disk-full', 'slow-disk'],
}

/** The faults that a job can meet. */
export const faultsOf = ({ kind, judged = false }) => [...FAULTS_OF[kind], ...(judged ? JUDGE : [])]

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const JUMPS_MS = [
  -400 * DAY_MS,
  -DAY_MS,
  -30 * MINUTE_MS,
  -MINUTE_MS,
  MINUTE_MS,
  90 * MINUTE_MS,
  DAY_MS,
  4000 * DAY_MS,
]

/** Log-uniform: as often between 1 and 10 as between 10 and 100. */
const logUniform = (rng, low, high) => Math.exp(Math.log(low) + rng.next() * Math.log(high / low))

const KINDS_OF_A_MIX = ['kill', 'kill', 'signals', 'pause', 'clock', 'disk-full', 'slow-disk']

/**
 * How an attempt is disturbed. Shares of time are of the undisturbed run's.
 * @param {string} fault
 */
export const planAttempt = (rng, fault) => {
  switch (fault) {
    case 'kill':
      return {
        fault,
        moment: rng.pick(MOMENTS),
        at: rng.next(),
        nth: 1 + rng.int(3),
        waitMs: rng.int(30),
        tree: rng.next() < 0.5,
      }
    case 'signals':
      return {
        ...{ fault, signal: rng.pick(['SIGTERM', 'SIGINT']), at: rng.next() * 0.9 },
        after: rng.pick(['wait', 'wait', 'again', 'kill']),
        waitMs: rng.int(600),
      }
    case 'pause':
      return {
        fault,
        pauses: Array.from({ length: 1 + rng.int(3) }, () => ({
          at: rng.next() * 0.9,
          ms: 200 + rng.int(2500),
        })),
      }
    case 'clock':
      return {
        fault,
        jumps: [{ at: 0, shiftMs: rng.next() < 0.5 ? 0 : rng.pick(JUMPS_MS) }].concat(
          Array.from({ length: 1 + rng.int(3) }, () => ({
            at: rng.next(),
            shiftMs: rng.pick(JUMPS_MS),
          })).sort((a, b) => a.at - b.at),
        ),
        kill: rng.next() < 0.5 ? rng.next() : null,
      }
    case 'disk-full':
      return {
        fault,
        after: Math.floor(logUniform(rng, 1, 120)),
        count: rng.pick([1, 3, 20, 100_000]),
        half: rng.next() < 0.5,
      }
    case 'small-device':
      return { fault, share: 0.1 + 0.9 * rng.next() }
    case 'file-limit':
      return { fault, share: 0.02 + 0.9 * rng.next() }
    case 'slow-disk':
      return { fault, share: 0.1 + 0.5 * rng.next(), mostMs: 20 + rng.int(180) }
    case 'full-output':
      return { fault }
    case 'judge-passing':
      return { fault, faults: { share: 0.1 + 0.6 * rng.next(), times: 1 + rng.int(2), ways: PASSING } }
    case 'judge-lasting':
      return {
        fault,
        faults: { share: 0.05 + 0.4 * rng.next(), times: Number.POSITIVE_INFINITY, ways: LASTING },
      }
    case 'judge-restarts':
      return {
        fault,
        stops: Array.from({ length: 1 + rng.int(2) }, () => ({
          at: rng.next() * 0.9,
          ms: 100 + rng.int(1000),
        })).sort((a, b) => a.at - b.at),
      }
    case 'two-starts':
      return { fault, at: rng.next() < 0.4 ? 0 : rng.next() * 0.9, resume: rng.next() < 0.5 }
    case 'damage':
      return {
        fault,
        nth: 2 + rng.int(2),
        waitMs: rng.int(30),
        target: rng.next(),
        how: rng.next(),
        place: rng.next(),
      }
    default:
      throw new Error(`${fault}: no such fault`)
  }
}

/** How many times a fault comes before a run may finish. */
const timesOf = (rng, fault) => {
  if (fault === 'kill' || fault === 'signals' || fault === 'disk-full') return 1 + rng.int(3)
  return fault === 'mixed' ? 2 + rng.int(3) : 1
}

/**
 * The trials of a round: every job with each of its faults once, in an order of its own.
 * @param {number | string} seed
 * @param {number} round from 1
 * @param {{ recipe?: string, fault?: string }} [only] jobs and faults whose names contain this
 */
export const planRound = (seed, round, { recipe = '', fault: kind = '' } = {}) => {
  const rng = new Rng(`${seed}/round ${round}`)
  const pairs = JOBS.filter(({ name }) => name.includes(recipe)).flatMap(job =>
    faultsOf(job)
      .filter(fault => fault.includes(kind))
      .map(fault => ({ job, fault })),
  )
  return rng.shuffle(pairs).map(({ job, fault }) => {
    const own = rng.fork(`${job.name}/${fault}`)
    const attempts = Array.from({ length: timesOf(own, fault) }, () =>
      planAttempt(own, fault === 'mixed' ? own.pick(KINDS_OF_A_MIX) : fault),
    )
    return { round, job, fault, attempts, seed: `${seed}/${round}/${job.name}/${fault}` }
  })
}
