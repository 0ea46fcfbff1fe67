import { basename } from 'node:path'

// Counters: what was disturbed, what came of it, which checks failed.
const COUNTS = [
  'trials',
  'disturbances',
  'resumes',
  'identical',
  'fallback',
  'refused',
  'accounted',
  'failed',
]

const emptyCounts = () => Object.fromEntries(COUNTS.map(name => [name, 0]))

export class Tally {
  /** By job, then by fault. */
  cells = {}
  /** By name of the check: how often it passed and failed. */
  checks = {}
  /** What went wrong, each with the folder that was kept. */
  failures = []

  /**
   * @param {{ job: { name: string }, fault: string, round: number }} trial
   * @param {{ disturbances: number, resumes: number, outcome: string, findings: { check: string, problems: readonly string[] }[], folder: string | null }} result
   */
  add({ job, fault, round }, { disturbances, resumes, outcome, findings, folder }) {
    this.cells[job.name] ??= {}
    this.cells[job.name][fault] ??= emptyCounts()
    const cell = this.cells[job.name][fault]
    cell.trials++
    cell.disturbances += disturbances
    cell.resumes += resumes
    const bad = findings.filter(({ problems }) => problems.length > 0)
    cell[bad.length > 0 ? 'failed' : outcome]++
    for (const { check, problems } of findings) {
      this.checks[check] ??= { passed: 0, failed: 0 }
      this.checks[check][problems.length > 0 ? 'failed' : 'passed']++
    }
    for (const { check, problems } of bad)
      this.failures.push({
        job: job.name,
        fault,
        round,
        check,
        problem: problems[0],
        more: problems.length - 1,
        // Wherever it was run: only the trial's own name is of use to others.
        folder: folder === null ? null : basename(folder),
      })
  }

  /** Sums over all cells, or over those of a fault. */
  total(fault) {
    const sum = emptyCounts()
    for (const faults of Object.values(this.cells))
      for (const [name, cell] of Object.entries(faults))
        if (fault === undefined || fault === name) for (const count of COUNTS) sum[count] += cell[count]
    return sum
  }

  /** A table of faults, and one of checks. */
  lines() {
    const faults = [...new Set(Object.values(this.cells).flatMap(Object.keys))].sort()
    const row = (name, counts) =>
      `${name.padEnd(18)}${COUNTS.map(count => String(counts[count]).padStart(13)).join('')}`
    return [
      `${'fault'.padEnd(18)}${COUNTS.map(count => count.padStart(13)).join('')}`,
      ...faults.map(fault => row(fault, this.total(fault))),
      row('all', this.total()),
      '',
      ...Object.entries(this.checks).map(
        ([check, { passed, failed }]) =>
          `${check.padEnd(34)}${String(passed).padStart(7)} passed${String(failed).padStart(6)} failed`,
      ),
      ...(this.failures.length > 0 ? [''] : []),
      ...this.failures.map(
        ({ job, fault, check, problem, folder }) =>
          `FAILED ${job}, ${fault}: ${check}: ${problem.split('\n')[0]} (${folder})`,
      ),
    ]
  }
}
