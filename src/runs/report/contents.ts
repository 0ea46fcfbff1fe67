/** @file A report's table of contents, from the headings that it has. */

import { type Html, html } from './html.ts'

const HEADING = /<a class="place" id="([^"]+)"><\/a><h2>([^<]*)<\/h2>/g

/** A place in the page by its heading: `Where the time went` -> `where-the-time-went`. */
export const anchorOf = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')

/** Links to the headings of a page's body; null for fewer than three. */
export const contents = (body: Html): Html | null => {
  const found = [...body.text.matchAll(HEADING)]
  if (found.length < 3) return null
  return html`<nav class="contents" aria-label="Contents">${found.map(([, , title]) => html`<a href="#${anchorOf(title)}">${title}</a>`)}</nav>`
}
