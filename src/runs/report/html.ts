/** @file HTML by tagged template, and of the components that the dashboard shows too: every value is escaped unless it is HTML already. */

import { h, type VNode } from 'preact'
import { renderToStaticMarkup } from 'preact-render-to-string'
import { escapeMarkup } from '../../util/markup.ts'

/** A piece of HTML that is safe to insert as it is. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
}

export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[]

const render = (value: HtmlValue): string => {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'string') return escapeMarkup(value)
  if (typeof value === 'number') return String(value)
  return value.map(render).join('')
}

/** `html\`<td>${text}</td>\``: strings are escaped, arrays joined, null and false left out. */
export const html = (strings: TemplateStringsArray, ...values: HtmlValue[]): Html =>
  new Html(strings.reduce((out, part, index) => out + render(values[index - 1]) + part))

/** Text that is trusted to be HTML, CSS or script: only for constants of this program. */
export const raw = (text: string): Html => new Html(text)

/** A component of parts/ as HTML: the markup that the dashboard makes of it in the browser. */
export const part = <Props extends object>(component: (props: Props) => VNode | null, props: Props): Html =>
  new Html(renderToStaticMarkup(h(component, props)))

/** JSON for a script element: nothing in it can close the element or open a comment. */
export const jsonForScript = (value: unknown): Html =>
  new Html(
    JSON.stringify(value)
      .replace(/</g, '\\u003c')
      .replace(/\u2028/g, '\\u2028')
      .replace(/\u2029/g, '\\u2029'),
  )
