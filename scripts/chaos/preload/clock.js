// Loaded before a program, in each of its threads: its wall clock jumps as GRADUS_CHAOS_CLOCK says; monotonic clocks go on.
//
// GRADUS_CHAOS_CLOCK: JSON list of {"atMs": since the process began, "shiftMs": what the clock is off from then on}.
const nowMs = () => Number(process.hrtime.bigint() / 1_000_000n)

// Threads have the environment of their parent: all of them count from the same moment.
process.env.GRADUS_CHAOS_BEGAN ??= String(nowMs())
const beganMs = Number(process.env.GRADUS_CHAOS_BEGAN)
const jumps = JSON.parse(process.env.GRADUS_CHAOS_CLOCK ?? '[]')

const RealDate = globalThis.Date

/** What the clock is off by now, milliseconds. */
const shiftMs = () => {
  const elapsedMs = nowMs() - beganMs
  let shift = 0
  for (const jump of jumps) if (elapsedMs >= jump.atMs) shift = jump.shiftMs
  return shift
}

class JumpingDate extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(JumpingDate.now())
    else super(...parts)
  }

  static now() {
    return RealDate.now() + shiftMs()
  }
}

// `Date()` without `new` is a text of now.
globalThis.Date = new Proxy(JumpingDate, { apply: () => new JumpingDate().toString() })
