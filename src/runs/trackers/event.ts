/**
 * @file TensorBoard's events: the fields of tensorboard/compat/proto/event.proto, summary.proto and tensor.proto that scalars and
 * texts need.
 */

import { MessageWriter } from '../../util/protobuf.ts'

/** Field numbers. */
const EVENT = { wallTime: 1, step: 2, fileVersion: 3, summary: 5 } as const
const SUMMARY_VALUE = 1
const VALUE = { tag: 1, simpleValue: 2, tensor: 8, metadata: 9 } as const
const METADATA_PLUGIN = 1
const PLUGIN_NAME = 1
const TENSOR = { dtype: 1, stringValue: 8 } as const
const DT_STRING = 7

const begun = (wallTimeS: number, step: number): MessageWriter => {
  const writer = new MessageWriter().float64(EVENT.wallTime, wallTimeS)
  return step === 0 ? writer : writer.integer(EVENT.step, step)
}

/** The first event of a file. */
export const versionEvent = (wallTimeS: number): Uint8Array =>
  begun(wallTimeS, 0).text(EVENT.fileVersion, 'brain.Event:2').finish()

/** Metrics of a step, each rounded to the 32 bits that scalars have; what is beyond them is infinite there. */
export const scalarsEvent = (
  wallTimeS: number,
  step: number,
  metrics: Readonly<Record<string, number>>,
): Uint8Array =>
  begun(wallTimeS, step)
    .message(EVENT.summary, summary => {
      for (const [tag, value] of Object.entries(metrics))
        summary.message(SUMMARY_VALUE, inner =>
          inner.text(VALUE.tag, tag).float32(VALUE.simpleValue, Math.fround(value)),
        )
    })
    .finish()

/** A text in Markdown, for the tab of texts. */
export const textEvent = (wallTimeS: number, tag: string, text: string): Uint8Array =>
  begun(wallTimeS, 0)
    .message(EVENT.summary, summary =>
      summary.message(SUMMARY_VALUE, inner =>
        inner
          .text(VALUE.tag, tag)
          .message(VALUE.tensor, tensor =>
            tensor.integer(TENSOR.dtype, DT_STRING).text(TENSOR.stringValue, text),
          )
          .message(VALUE.metadata, metadata =>
            metadata.message(METADATA_PLUGIN, plugin => plugin.text(PLUGIN_NAME, 'text')),
          ),
      ),
    )
    .finish()
