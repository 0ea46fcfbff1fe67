/** @file Tensors: write a function once, get its gradient, run it on ONNX Runtime. */

export { codeType } from './code-type.ts'
export { assertWebGpu, Device } from './device.ts'
export { DeviceValue } from './device-value.ts'
export { type Dim, type Shape, showShape } from './dim.ts'
export {
  Executable,
  type ExecutableOptions,
  type Feeds,
  type Gate,
  type TensorValue,
  type Traffic,
  type Values,
} from './executable.ts'
export { gradients } from './gradients.ts'
export { type OnnxModel, toOnnx } from './onnx.ts'
export * from './ops/elementwise.ts'
export * from './ops/index-ops.ts'
export * from './ops/matmul.ts'
export * from './ops/nn.ts'
export * from './ops/quantized.ts'
export * from './ops/reduce.ts'
export * from './ops/shape.ts'
export type { Provider } from './providers.ts'
export { recomputed } from './recompute.ts'
export * from './tensor.ts'
