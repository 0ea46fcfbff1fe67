// A trial's surroundings: its folder, its judge, its commands with a note of each, and the findings of its checks.
import { appendFileSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { endedWell, rawErrors } from './checks.js'
import { Child, killAll, orphansOf } from './child.js'
import { surroundings } from './disturb.js'
import { ChaosJudge } from './judge.js'

/** Beyond this many times the undisturbed run, and this long at least, a command hangs. */
const HANGS_AFTER = 15
const HANGS_AFTER_MS = 90_000
/** Of an undisturbed run nobody knows yet how long it takes. */
const REFERENCE_MS = 900_000

export class Trial {
  /** @type {{ check: string, problems: string[] }[]} */
  findings = []
  disturbances = 0
  resumes = 0
  /** Whether its first command was started. */
  begun = false
  /** @type {ChaosJudge | null} */
  judge = null

  /** What the undisturbed run was; null while that is made. */
  reference = null

  /** @param {string} folder of this trial @param {string} seed */
  constructor(folder, seed) {
    this.folder = folder
    this.id = `${process.pid}-${folder}`
    this.seed = seed
    mkdirSync(join(folder, 'reports'), { recursive: true })
  }

  get expectedMs() {
    return this.reference?.ms ?? 10_000
  }

  path(...parts) {
    return join(this.folder, ...parts)
  }

  async openJudge(latencyMs = 0) {
    this.judge = new ChaosJudge(this.seed)
    this.judge.latencyMs = latencyMs
    await this.judge.start()
  }

  /** Notes the result of a check. @param {readonly string[]} problems none when it holds */
  check(name, problems) {
    this.findings.push({ check: name, problems: [...problems] })
    if (problems.length > 0) this.note(`FAILED ${name}: ${problems.join('; ')}`)
  }

  note(text) {
    appendFileSync(this.path('trial.log'), `${text}\n`)
  }

  /** Starts a command; with an attempt's fault around it. */
  start(args, attempt) {
    const around = surroundings(attempt, this.expectedMs, this.reference?.bytes ?? { largest: 1 << 20 })
    const stdout = attempt?.fault === 'full-output' ? openSync('/dev/full', 'w') : null
    const slow = attempt?.fault === 'slow-disk' ? 10 : 1
    this.note(
      `gradus ${args.join(' ')}\n  ${JSON.stringify(attempt ?? 'undisturbed')} ${JSON.stringify(around)}`,
    )
    return new Child(args, {
      ...around,
      stdout,
      trial: this.id,
      reports: this.path('reports'),
      limitMs:
        this.reference === null
          ? REFERENCE_MS
          : slow * Math.max(HANGS_AFTER_MS, HANGS_AFTER * this.expectedMs),
    })
  }

  /** Waits for a command's end and looks at how it ended. @param expected exit codes and signals */
  async end(child, expected) {
    const ended = await child.ended
    const { code, signal, ms } = ended
    this.note(
      `  ended with ${signal ?? code} after ${Math.round(ms)} ms\n${child.err.slice(-3000).replace(/^/gm, '  | ')}`,
    )
    this.check('no hang', ended.hung ? [`still there after ${Math.round(ms)} ms: ${ended.stacks}`] : [])
    if (!ended.hung) this.check('exit code', endedWell(ended, expected, child.err))
    this.check('no raw error', rawErrors(child.err))
    return ended
  }

  /** Nothing of this trial may run on. A parent that was killed could not end its children: those are waited for. */
  async checkOrphans(graceMs) {
    const left = await orphansOf(this.id, graceMs)
    this.check('no orphan process', left.length > 0 ? [`still running: ${left.join(', ')}`] : [])
    killAll(this.id)
  }

  /** Stops and starts the judge beside a command. */
  async restartJudge(child, { stops }) {
    for (const { at, ms } of stops) {
      await Promise.race([wait((at * this.expectedMs) / stops.length), child.ended])
      await this.judge.stop()
      await wait(ms)
      await this.judge.start()
    }
  }

  /** Ends what is left and removes the folder unless something was wrong. */
  async close(outcome) {
    killAll(this.id)
    await this.judge?.stop()
    const failed = this.findings.some(({ problems }) => problems.length > 0)
    if (failed) writeFileSync(this.path('findings.json'), JSON.stringify(this.findings, null, 2))
    else if (existsSync(this.folder)) rmSync(this.folder, { recursive: true, force: true })
    const { disturbances, resumes, findings, folder } = this
    return { disturbances, resumes, outcome, findings, folder: failed ? folder : null }
  }
}
