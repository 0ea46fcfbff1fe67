// `gradus grade` with a judge that is asked over HTTP and a cache of verdicts: disturbed, started again, compared.
import { inventedVerdicts, verdictsOfCache } from './checks.js'
import { disturb } from './disturb.js'

const LATENCY_MS = 25
/** The command waits a minute for a judge that asks for an hour; a trial has no time for that. */
const isQuick = way => way !== 'retry-later'

const FINE = { codes: [0], signals: [] }

const argsOf = ({ fixtures }, trial) => [
  ...['grade', '--rubric', fixtures.rubric, '--responses', fixtures.responses],
  ...['--judge', trial.judge.url, '--model', 'chaos', '--cache', trial.path('verdicts')],
  ...['--concurrency', '4', '--timeout', '2', '--retries', '12', '--json'],
]

/** What a row says, without how often the judge had to be asked for it. */
const rowsOf = out =>
  out
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => {
      const { id, score, parts, verdicts = [], nulls } = JSON.parse(line)
      const plain = verdicts.map(({ criterionId, met, explanation }) => ({ criterionId, met, explanation }))
      return { id, score, parts, nulls, verdicts: plain }
    })

const differences = (mine, reference) => {
  if (mine.length !== reference.length) return [`${reference.length} rows expected, got ${mine.length}`]
  return mine.flatMap((row, i) =>
    JSON.stringify(row) === JSON.stringify(reference[i])
      ? []
      : [`expected ${JSON.stringify(reference[i])}, got ${JSON.stringify(row)}`],
  )
}

const judged = rows =>
  rows.flatMap(({ verdicts }) =>
    verdicts.filter(({ criterionId }) => ['explains', 'kind'].includes(criterionId)),
  )

/** What rules decide is never touched by what becomes of the judge. */
const ruled = rows =>
  rows.map(({ id, verdicts }) => ({
    id,
    ruled: verdicts.filter(({ criterionId }) => ['brief', 'rude'].includes(criterionId)),
  }))

export const gradeReference = async (_job, context, trial) => {
  await trial.openJudge(LATENCY_MS)
  const child = trial.start(argsOf(context, trial))
  const { ms } = await trial.end(child, FINE)
  return { ms, bytes: { all: 1 << 16, largest: 1 << 15 }, rows: rowsOf(child.out) }
}

export const gradeTrial = async ({ fault, attempts }, context, trial) => {
  await trial.openJudge(LATENCY_MS)
  const args = argsOf(context, trial)
  let last = null
  for (const attempt of attempts) {
    const child = trial.start(args, attempt)
    const judging = attempt.fault === 'judge-restarts' ? trial.restartJudge(child, attempt) : null
    const beside = attempt.fault === 'two-starts' ? trial.start(args) : null
    if (attempt.faults) trial.judge.faults = { ...attempt.faults, ways: attempt.faults.ways.filter(isQuick) }
    const { expectedMs, id } = trial
    const expected = await disturb(child, attempt, { dir: trial.folder, expectedMs, trial: id })
    trial.disturbances++
    last = { child, ...(await trial.end(child, expected)) }
    if (beside) {
      await trial.end(beside, FINE)
      trial.check('same rows beside another', differences(rowsOf(beside.out), trial.reference.rows))
    }
    await judging
    if (last.code === 0) break
    trial.resumes++
  }
  await trial.checkOrphans()
  if (last.code !== 0 || fault === 'full-output') {
    const child = trial.start(args)
    last = { child, ...(await trial.end(child, FINE)) }
  }
  return compare(fault, rowsOf(last.child.out), trial)
}

const compare = (fault, rows, trial) => {
  const { given, failed } = trial.judge
  trial.check('no invented verdict', inventedVerdicts(judged(rows), given))
  trial.check(
    'no invented verdict in the cache',
    inventedVerdicts(verdictsOfCache(trial.path('verdicts')), given),
  )
  trial.check(
    'rules are not touched',
    JSON.stringify(ruled(rows)) === JSON.stringify(ruled(trial.reference.rows))
      ? []
      : ['verdicts of rules differ'],
  )
  const nulls = judged(rows).filter(({ met }) => met === null).length
  const excused = fault === 'judge-lasting' || fault === 'judge-restarts'
  if (excused && nulls > 0) {
    const most = fault === 'judge-lasting' ? failed.size : judged(rows).length
    trial.check(
      'null only where the judge failed',
      nulls <= most ? [] : [`${nulls} nulls, ${failed.size} failures`],
    )
    return 'accounted'
  }
  trial.check('same as undisturbed', differences(rows, trial.reference.rows))
  return 'identical'
}
