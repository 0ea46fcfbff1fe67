/**
 * @file TensorBoard's events: the fields of tensorboard/compat/proto/event.proto, summary.proto and tensor.proto that scalars and
 * texts need.
 */

import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** Field numbers. */
const EVENT = { wallTime: 1, step: 2, fileVersion: 3, summary: 5 } as const
const SUMMARY_VALUE = 1
const VALUE = { tag: 1, simpleValue: 2, tensor: 8, metadata: 9 } as const
const METADATA_PLUGIN = 1
const PLUGIN_NAME = 1
const TENSOR = { dtype: 1, stringValue: 8 } as const
const DT_STRING = 7

const message = (writer: BinaryWriter, field: number, fill: (inner: BinaryWriter) => void): BinaryWriter => {
  writer.tag(field, WireType.LengthDelimited).fork()
  fill(writer)
  return writer.join()
}

const begun = (wallTimeS: number, step: number): BinaryWriter => {
  const writer = new BinaryWriter().tag(EVENT.wallTime, WireType.Bit64).double(wallTimeS)
  return step === 0 ? writer : writer.tag(EVENT.step, WireType.Varint).int64(step)
}

/** The first event of a file. */
export const versionEvent = (wallTimeS: number): Uint8Array =>
  begun(wallTimeS, 0).tag(EVENT.fileVersion, WireType.LengthDelimited).string('brain.Event:2').finish()

/** Figures of a step, each rounded to the 32 bits that scalars have; what is beyond them is infinite there. */
export const scalarsEvent = (
  wallTimeS: number,
  step: number,
  figures: Readonly<Record<string, number>>,
): Uint8Array =>
  message(begun(wallTimeS, step), EVENT.summary, writer => {
    for (const [tag, value] of Object.entries(figures))
      message(writer, SUMMARY_VALUE, inner =>
        inner
          .tag(VALUE.tag, WireType.LengthDelimited)
          .string(tag)
          .tag(VALUE.simpleValue, WireType.Bit32)
          .float(Math.fround(value)),
      )
  }).finish()

/** A text in Markdown, for the tab of texts. */
export const textEvent = (wallTimeS: number, tag: string, text: string): Uint8Array =>
  message(begun(wallTimeS, 0), EVENT.summary, writer =>
    message(writer, SUMMARY_VALUE, inner => {
      inner.tag(VALUE.tag, WireType.LengthDelimited).string(tag)
      message(inner, VALUE.tensor, tensor =>
        tensor
          .tag(TENSOR.dtype, WireType.Varint)
          .int32(DT_STRING)
          .tag(TENSOR.stringValue, WireType.LengthDelimited)
          .string(text),
      )
      message(inner, VALUE.metadata, metadata =>
        message(metadata, METADATA_PLUGIN, plugin =>
          plugin.tag(PLUGIN_NAME, WireType.LengthDelimited).string('text'),
        ),
      )
    }),
  ).finish()
