/** @file Work that `gradus bench determinism` repeats as a whole. */

/** The result of every run is compared bit by bit. */
export interface RepeatedCase {
  /** Makes what a run needs anew, and does it; returns all that came of it. */
  run: (threads: number) => Promise<Uint8Array>
  /** Largest relative difference from another way to compute the same, where there is one. */
  fromReference?: () => Promise<number> | number
}
