/** @file The Tinker training protocol: messages, and their two dialects. For the layers above. */

export { chunksOf } from './chunks.ts'
export { Connection, type ConnectionOptions } from './connection.ts'
export { TinkerError, type TinkerErrorKind } from './errors.ts'
export * from './json.ts'
export * from './messages.ts'
export * from './protobuf-output.ts'
export { decodeForwardBackward, encodeForwardBackward } from './protobuf-request.ts'
export { SamplingClient, type SamplingParams } from './sampling-client.ts'
export { TinkerSession } from './session.ts'
export { deleteStored, fetchStored } from './stored.ts'
export * from './training-client.ts'
