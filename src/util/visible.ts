/** @file Text for a terminal: what files say must not move its cursor, hide lines or change its title. */

// Control characters but for line feed and tab, those of eight bits included, and marks that reverse the order of letters.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g

/** A text with every control character written out, as JSON writes it: ESC is `\\u001b`. */
export const visible = (text: string): string =>
  text.replace(UNSEEN, char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
