/** @file Which language a text is in. */

import { lazily } from '../../util/lazily.ts'
import { wordsIn } from '../../util/words.ts'

/** Languages that `eld` 2.1 tells apart (ISO 639-1). */
const ELD_LANGUAGES: readonly string[] =
  wordsIn(`am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt
  lv ml mr ms nl no or pa pl pt ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh`)

/** The languages of IFEval's prompts, by the ISO 639-3 codes that `franc` uses. */
const FRANC_LANGUAGES: Readonly<Record<string, string>> = Object.fromEntries(
  wordsIn(`
    arb=ar ben=bn bul=bg deu=de eng=en fin=fi fra=fr guj=gu heb=he hin=hi ita=it jpn=ja kan=kn kor=ko
    mal=ml mar=mr npi=ne pan=pa pes=fa pol=pl por=pt rus=ru spa=es swh=sw tam=ta tel=te tha=th ukr=uk
    urd=ur vie=vi
  `).map(pair => pair.split('=')),
)

/** Languages that `franc` alone knows; the second list is what `eld` takes Nepali for. */
const FRANC_ALONE: ReadonlySet<string> = new Set(['ne', 'sw'])
const DEVANAGARI: ReadonlySet<string> = new Set(['hi', 'mr', 'ne'])

/** Codes of the languages that can be asked for. Chinese of any script is `zh`. */
export const LANGUAGES: readonly string[] = [...ELD_LANGUAGES, ...FRANC_ALONE, 'zh-cn', 'zh-tw'].sort()

interface Eld {
  eld: { detect(text: string): { language: string; isReliable(): boolean } }
}

const eld = lazily<Eld>('eld/small')
const franc = lazily<typeof import('franc')>('franc')

const byFranc = (text: string): string =>
  FRANC_LANGUAGES[franc().franc(text, { only: Object.keys(FRANC_LANGUAGES), minLength: 1 })] ?? ''

/**
 * Whether a text is in a language (a code of LANGUAGES). A text without letters is in any: nothing speaks against it, and
 * IFEval counts it so. Where the text is too short for `eld` to be sure, `franc` has a say, too.
 */
export const isInLanguage = (text: string, language: string): boolean => {
  if (!/\p{L}/u.test(text)) return true
  const asked = language.startsWith('zh') ? 'zh' : language
  if (FRANC_ALONE.has(asked)) return byFranc(text) === asked
  const detected = eld().eld.detect(text)
  if (DEVANAGARI.has(detected.language)) return byFranc(text) === asked
  if (detected.language === asked) return true
  return !detected.isReliable() && byFranc(text) === asked
}
