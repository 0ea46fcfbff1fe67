/** @file How much work one comparison may do: a count of steps, and a wall clock as the second line of defence. */

/** Thrown inside a comparison when its budget is spent; a caller of the public functions never sees it. */
export class BudgetSpent extends Error {}

const CLOCK_EVERY_STEPS = 1024

/** Steps left to one comparison. A step is a token read, a node visited or an arithmetic operation. */
export class Budget {
  private steps: number
  private readonly deadlineMs: number

  constructor(limits: { maxSteps?: number; timeLimitMs?: number } = {}) {
    this.steps = limits.maxSteps ?? 200_000
    this.deadlineMs = performance.now() + (limits.timeLimitMs ?? 1_000)
  }

  /** Pays for `cost` steps. @throws BudgetSpent */
  spend(cost = 1): void {
    const before = this.steps
    this.steps -= cost
    if (this.steps < 0) throw new BudgetSpent('too many steps')
    const passedTick = Math.floor(before / CLOCK_EVERY_STEPS) !== Math.floor(this.steps / CLOCK_EVERY_STEPS)
    if (passedTick && performance.now() > this.deadlineMs) throw new BudgetSpent('too much time')
  }
}
