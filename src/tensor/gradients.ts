/** @file Reverse-mode differentiation of a graph: the gradient is more graph. */

import { ShapeError } from '../util/errors.ts'
import { sameShape, showShape } from './dim.ts'
import { add, zerosLike } from './ops/elementwise.ts'
import type { Call, CustomRule, Tensor } from './tensor.ts'
import { scalar } from './tensor.ts'

type Step = {
  id: number
  inputs: readonly Tensor[]
  outputs: readonly Tensor[]
  run(): readonly (Tensor | null)[]
}

const parents = (x: Tensor): { key: Call | CustomRule; inputs: readonly Tensor[] } | null => {
  if (x.source.kind === 'call') return { key: x.source.call, inputs: x.source.call.inputs }
  if (x.source.kind === 'custom') return { key: x.source.rule, inputs: x.source.rule.inputs }
  return null
}

/** Marks every tensor between `wrt` and `loss`: only along these does a gradient have to flow. */
const dependents = (loss: Tensor, wrt: ReadonlySet<Tensor>): Set<Tensor> => {
  const memo = new Map<Tensor, boolean>()
  const stack: Tensor[] = [loss]
  while (stack.length > 0) {
    const x = stack[stack.length - 1]
    const above = parents(x)?.inputs ?? []
    const pending = wrt.has(x) ? [] : above.filter(parent => !memo.has(parent))
    if (pending.length > 0) {
      stack.push(...pending)
      continue
    }
    stack.pop()
    memo.set(x, wrt.has(x) || above.some(parent => memo.get(parent)))
  }
  return new Set([...memo].filter(([, depends]) => depends).map(([x]) => x))
}

const accumulate = (sums: Map<Tensor, Tensor>, target: Tensor, gradient: Tensor, op: string) => {
  if (!sameShape(target.shape, gradient.shape))
    throw new ShapeError(
      `gradient of ${op}: got ${showShape(gradient.shape)} for an input of ${showShape(target.shape)}`,
    )
  const previous = sums.get(target)
  sums.set(target, previous ? add(previous, gradient) : gradient)
}

/**
 * Gradients of a scalar (or of the sum of a tensor's elements weighted by `seed`) with respect to tensors.
 * A tensor on which the loss does not depend gets zeros.
 * @throws ShapeError when the loss is no scalar and no seed is given, or an op on the way has no gradient.
 */
export const gradients = (loss: Tensor, wrt: readonly Tensor[], seed?: Tensor): Tensor[] => {
  if (!seed && loss.rank !== 0)
    throw new ShapeError(
      `gradients: the loss must be a scalar, got ${showShape(loss.shape)}; reduce it first`,
    )
  const useful = dependents(loss, new Set(wrt))
  const sums = new Map<Tensor, Tensor>()
  if (useful.has(loss)) sums.set(loss, seed ?? scalar(1))
  for (const step of backwardSteps(loss, useful, sums)) {
    const dInputs = step.run()
    step.inputs.forEach((x, i) => {
      const gradient = dInputs[i]
      if (gradient && useful.has(x)) accumulate(sums, x, gradient, `node ${step.id}`)
    })
  }
  return wrt.map(x => sums.get(x) ?? zerosLike(x))
}

/** The calls and custom rules on the way, last first, each run when all gradients of its outputs are complete. */
function* backwardSteps(
  loss: Tensor,
  useful: ReadonlySet<Tensor>,
  sums: Map<Tensor, Tensor>,
): Generator<Step> {
  const found = new Map<number, Step>()
  const visit: Tensor[] = [loss]
  const seen = new Set<Tensor>()
  while (visit.length > 0) {
    const x = visit.pop()!
    if (seen.has(x) || !useful.has(x)) continue
    seen.add(x)
    const step = stepOf(x, sums)
    if (step) {
      found.set(step.id, step)
      visit.push(...step.inputs)
    }
  }
  for (const id of [...found.keys()].sort((a, b) => b - a)) {
    const step = found.get(id)!
    if (step.outputs.some(output => sums.has(output))) yield step
  }
}

const stepOf = (x: Tensor, sums: Map<Tensor, Tensor>): Step | null => {
  if (x.source.kind === 'custom') {
    const { rule } = x.source
    return { ...rule, run: () => rule.gradient(rule.outputs.map(output => sums.get(output) ?? null)) }
  }
  if (x.source.kind !== 'call') return null
  const { call } = x.source
  return {
    id: call.id,
    inputs: call.inputs,
    outputs: call.outputs,
    run: () => {
      if (!call.op.gradient)
        throw new ShapeError(`${call.op.name} has no gradient; stop it with stopGradient`)
      return call.op.gradient(
        call,
        call.outputs.map(output => sums.get(output) ?? null),
      )
    },
  }
}
