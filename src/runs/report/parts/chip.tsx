/** @file A word in its colour. */

import type { Chip } from '../view.ts'

export const ChipOf = ({ chip }: { chip: Chip }) => <span class={chip.class}>{chip.text}</span>
