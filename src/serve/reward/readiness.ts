/** @file Whether the service can grade now: judges reachable, cache open, not draining. */

/** One thing that must work. */
export interface Probe {
  name: string
  /** Null when all is well, else what is wrong. */
  check(signal: AbortSignal): Promise<string | null>
}

export interface Readiness {
  ready: boolean
  checks: Record<string, string>
}

const TIMEOUT_MS = 3_000
/** Answers are kept so long, so that probing the service does not become probing the judges. */
const FRESH_MS = 2_000

const outcome = async ({ name, check }: Probe): Promise<[string, string]> => {
  try {
    return [name, (await check(AbortSignal.timeout(TIMEOUT_MS))) ?? 'ok']
  } catch (error) {
    return [name, (error as Error).message]
  }
}

/** Asks all probes together. */
export class ReadinessCheck {
  private readonly probes: readonly Probe[]
  private last: { atMs: number; result: Promise<Readiness> } | null = null

  constructor(probes: readonly Probe[]) {
    this.probes = probes
  }

  read(): Promise<Readiness> {
    const nowMs = performance.now()
    if (this.last === null || nowMs - this.last.atMs > FRESH_MS)
      this.last = { atMs: nowMs, result: this.ask() }
    return this.last.result
  }

  private async ask(): Promise<Readiness> {
    const checks = Object.fromEntries(await Promise.all(this.probes.map(outcome)))
    return { ready: Object.values(checks).every(text => text === 'ok'), checks }
  }
}
