import { describe, expect, it } from 'vitest'
import { Progress } from './progress.ts'

const recorder = (isTTY: boolean, columns = 200) => {
  const written: string[] = []
  return { isTTY, columns, written, write: (text: string) => written.push(text) }
}

describe('progress', () => {
  it('shows step, rate, time left and metrics as plain lines every n seconds where there is no terminal', () => {
    const stream = recorder(false)
    let ms = 0
    const progress = new Progress({ total: 20, stream, everyMs: 5000, now: () => ms })
    for (let step = 1; step <= 20; step++) {
      ms += 2000
      progress.update(step, { reward: 0.5 + step / 100, note: null })
    }
    progress.close()
    expect(stream.written).toHaveLength(8)
    expect(stream.written[0]).toBe(' 1/20 · 2.0 s/step · 38 s left · reward 0.510\n')
    expect(stream.written.at(-1)).toBe('20/20 · 2.0 s/step · done · reward 0.700\n')
  })

  it('renews one line on a terminal, cut to its width, and puts messages above it', () => {
    const stream = recorder(true, 40)
    let ms = 0
    const progress = new Progress({ total: 4, stream, label: 'train', now: () => ms })
    ms = 250
    progress.update(1, { reward: 0.25, entropy: 1.5, kl: 0.0001 })
    progress.log('checkpoint saved')
    progress.close()
    expect(stream.written[0].startsWith('\r\x1b[2Ktrain ████░░░░░░░░░░░░ 1/4')).toBe(true)
    expect(stream.written[0].length).toBeLessThanOrEqual(40 + 5)
    expect(stream.written.slice(1)).toEqual(['\r\x1b[2K', 'checkpoint saved\n'])
  })

  it('measures the rate of this process after a resume', () => {
    const stream = recorder(false)
    let ms = 0
    const progress = new Progress({ total: 100, done: 90, stream, now: () => ms })
    ms = 500
    progress.update(91)
    expect(stream.written).toEqual([' 91/100 · 2.0 steps/s · 4.5 s left\n'])
  })

  it('prints nothing when quiet', () => {
    const stream = recorder(false)
    const progress = new Progress({ total: 1, stream, quiet: true })
    progress.update(1)
    progress.log('hello')
    progress.close()
    expect(stream.written).toEqual([])
  })

  it('takes the rate from the step itself where it is known: an evaluation in between does not count', () => {
    let now = 0
    const lines: string[] = []
    const stream = { isTTY: false, write: (text: string) => lines.push(text) > 0 }
    const progress = new Progress({ total: 11, stream, now: () => now, everyMs: 0 })
    now = 60_000
    progress.update(1, {}, 2)
    expect(lines.at(-1)).toContain('2.0 s/step · 20 s left')
  })
})
