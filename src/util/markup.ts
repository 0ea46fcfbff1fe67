/** @file Text inside HTML, XML and SVG. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text for an element or a quoted attribute. */
export const escapeMarkup = (text: string): string => text.replace(/[&<>"']/g, mark => ESCAPES[mark])
