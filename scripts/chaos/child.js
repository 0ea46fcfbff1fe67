// A Gradus command as a process of its own: its output, its end, its group, and what hangs in it.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
/** Environment variable by which a trial's processes are recognised, children of children included. */
const MARK = 'GRADUS_CHAOS_TRIAL'
const KEPT = 200_000

const isLinux = process.platform === 'linux'

/**
 * @typedef {object} Ended
 * @property {number | null} code
 * @property {string | null} signal
 * @property {number} ms
 * @property {boolean} hung it did not end within its limit, and was killed
 * @property {string} stacks what a hanging process said of itself
 */

export class Child {
  out = ''
  err = ''
  /** Its limit ran out. */
  hung = false
  /** @type {Promise<Ended>} */
  ended

  /**
   * @param {readonly string[]} args of `gradus`
   * @param {object} options
   * @param {string} options.trial its mark
   * @param {readonly string[]} [options.preloads] modules that are loaded before it, in every thread
   * @param {Record<string, string>} [options.env]
   * @param {string} [options.cwd]
   * @param {number} [options.limitMs] it hangs when it takes longer
   * @param {string} [options.shell] words of sh before it is started: `ulimit -f 100`
   * @param {string} [options.reports] folder for what a hanging process says of itself
   * @param {number | null} [options.stdout] a file to write standard output to
   */
  constructor(
    args,
    { trial, preloads = [], env = {}, cwd, limitMs = 120_000, shell, reports, stdout = null },
  ) {
    const options = preloads.map(url => `--import=${url}`)
    if (reports !== undefined)
      options.push('--report-on-signal', '--report-signal=SIGUSR2', `--report-directory="${reports}"`)
    this.reports = reports
    const all = [MAIN, ...args]
    const [file, given] =
      shell === undefined
        ? [process.execPath, all]
        : ['sh', ['-c', `${shell}; exec "$0" "$@"`, process.execPath, ...all]]
    this.startedMs = performance.now()
    this.process = spawn(file, given, {
      cwd,
      // A group of its own: a signal to the harness is not one to the trial.
      detached: true,
      env: { ...process.env, NODE_OPTIONS: options.join(' '), [MARK]: trial, ...env },
      stdio: ['ignore', stdout ?? 'pipe', 'pipe'],
    })
    keepPriority(this.process.pid)
    this.process.stdout?.on('data', chunk => {
      this.out += chunk
    })
    this.process.stderr.on('data', chunk => {
      this.err = `${this.err}${chunk}`.slice(-KEPT)
    })
    this.ended = this.#wait(limitMs)
  }

  get pid() {
    return this.process.pid
  }

  get isRunning() {
    return this.process.exitCode === null && this.process.signalCode === null
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    if (this.isRunning) this.process.kill(signal)
  }

  /** @returns {Promise<Ended>} */
  #wait(limitMs) {
    return new Promise((resolve, reject) => {
      let stacks = ''
      const timer = setTimeout(() => {
        this.hung = true
        this.signal('SIGCONT')
        this.signal('SIGUSR2')
        setTimeout(() => {
          stacks = this.#stacks()
          this.signal('SIGKILL')
        }, 3_000)
      }, limitMs)
      this.process.once('error', reject)
      this.process.once('close', (code, signal) => {
        clearTimeout(timer)
        resolve({ code, signal, ms: performance.now() - this.startedMs, hung: this.hung, stacks })
      })
    })
  }

  /** Main thread's stack from Node's own report; without one, what the system says of its threads. */
  #stacks() {
    try {
      const name = readdirSync(this.reports).find(file => file.includes(`.${this.pid}.`))
      const { javascriptStack } = JSON.parse(readFileSync(`${this.reports}/${name}`, 'utf8'))
      return [javascriptStack.message, ...javascriptStack.stack].join('\n')
    } catch {
      return threadsOf(this.pid)
    }
  }
}

const readOr = (path, other = '') => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return other
  }
}

/** Linux schedules by session, and a group of its own begins one: it gets the harness's place in the queue. */
const keepPriority = pid => {
  const nice = /nice (-?\d+)/.exec(readOr('/proc/self/autogroup'))?.[1]
  if (nice === undefined || nice === '0' || pid === undefined) return
  try {
    writeFileSync(`/proc/${pid}/autogroup`, nice)
  } catch {}
}

const threadsOf = pid => {
  if (!isLinux) return ''
  const tasks = `/proc/${pid}/task`
  try {
    return readdirSync(tasks)
      .map(task => `${readOr(`${tasks}/${task}/comm`).trim()}: ${readOr(`${tasks}/${task}/wchan`, '?')}`)
      .join('\n')
  } catch {
    return ''
  }
}

/** Living processes of a trial (on Linux; elsewhere none is found). */
export const processesOf = trial => {
  if (!isLinux) return []
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter(name => readOr(`/proc/${name}/environ`).split('\0').includes(`${MARK}=${trial}`))
    .filter(name => !/^State:\s+Z/m.test(readOr(`/proc/${name}/status`)))
    .map(Number)
}

/** Ends every process of a trial at once. */
export const killAll = trial => {
  for (const pid of processesOf(trial)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {}
  }
}

/** Processes of a trial that are still there after `graceMs`. */
export const orphansOf = async (trial, graceMs = 3_000) => {
  const untilMs = performance.now() + graceMs
  let left = processesOf(trial)
  while (left.length > 0 && performance.now() < untilMs) {
    await new Promise(resolve => setTimeout(resolve, 50))
    left = processesOf(trial)
  }
  return left
}
