/** @file Parts of a graph that are computed a second time for the gradient, so that what lies inside them need not be kept. */

import { gradients } from './gradients.ts'
import { after } from './ops/order.ts'
import { type Tensor, withGradient } from './tensor.ts'

/** Those of `candidates` that a tensor is computed from, without going through `stop`. */
const leavesOf = (y: Tensor, stop: Tensor, candidates: ReadonlySet<Tensor>): Tensor[] => {
  const seen = new Set<Tensor>([stop])
  const found: Tensor[] = []
  const waiting = [y]
  for (let x = waiting.pop(); x !== undefined; x = waiting.pop()) {
    if (seen.has(x)) continue
    seen.add(x)
    if (candidates.has(x)) found.push(x)
    if (x.source.kind === 'call') waiting.push(...x.source.call.inputs)
    if (x.source.kind === 'custom') waiting.push(x.source.of)
  }
  return found.reverse()
}

/**
 * compute(x), of which the gradient keeps x alone: everything inside is computed again when the output's gradient is there
 * (gradient checkpointing: Chen et al. 2016, arXiv 1604.06174, section 3). Gradients of weights are complete before that of x goes
 * on, because the runtime would otherwise leave them for last, and keep what they need.
 * @param compute one tensor from another; may read others, such as masks, which get no gradient unless they are in `weights`
 * @param weights all that gradients are wanted of
 */
export const recomputed = (
  compute: (x: Tensor) => Tensor,
  x: Tensor,
  weights: ReadonlySet<Tensor>,
): Tensor => {
  const y = compute(x)
  const used = leavesOf(y, x, weights)
  return withGradient([y], [x, ...used], ([dy]) => {
    const again = after(x, [dy!])
    const [dx, ...dWeights] = gradients(compute(again), [again, ...used], dy!)
    return [after(dx, dWeights), ...dWeights]
  })[0]
}
