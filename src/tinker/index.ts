/** @file The Tinker training protocol: messages, and their two dialects. For the floors above. */

export * from './json.ts'
export * from './messages.ts'
export * from './protobuf-output.ts'
export { decodeForwardBackward, encodeForwardBackward } from './protobuf-request.ts'
