/** @file Words: in their colour, or with what belongs to them below. */

import type { ComponentChildren } from 'preact'
import type { Chip } from '../view.ts'

export const ChipOf = ({ chip }: { chip: Chip }) => <span class={chip.class}>{chip.text}</span>

/** What stands in a cell, and below it in small what belongs to it, so far as it is known. */
export const noted = (text: ComponentChildren, ...notes: (string | null | undefined | false)[]) => (
  <>
    {text}
    {notes.map(note => note && <small key={note}>{note}</small>)}
  </>
)
