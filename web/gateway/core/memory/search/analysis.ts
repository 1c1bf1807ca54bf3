import { contentId } from '../content-id.ts';
import { wordsOf } from '../text/analyze.ts';
import { irregular } from '../text/irregular.ts';
import { LANGUAGES } from '../text/languages.ts';
import { ALIKE, KINDS, PHRASES } from '../text/related-words.ts';

/** To be raised with whatever makes other terms, times or marks of a text, or writes other columns: a test compares what the code makes of many texts. */
const ANALYSIS = 1;

/** What the platform takes apart: its segmenter and its table of characters may be newer than those of another. */
const SAMPLE =
  'ＡＢＣ İstanbul Straße 今日は京都タワーへ行きました。我喜欢喝绿茶，他在北京大学读书。ผมชอบภาษาไทยมาก កុមារ မြန်မာ 한국어를 🙂 x² 1½';

let known: string | undefined;

/** What an index depends on beside its texts. Terms of another analysis may not be mixed with those of this one. */
export function analysis(): string {
  return (known ??= `${ANALYSIS}-${contentId([...ingredients()].join('\n'))}`);
}

function* ingredients(): Generator<string> {
  yield ALIKE;
  yield KINDS;
  yield PHRASES;
  for (const [form, base] of irregular) yield `${form} ${base}`;
  for (const { name, stopWords } of LANGUAGES) yield `${name} ${[...stopWords].join(' ')}`;
  for (const { folded, paired, name } of wordsOf(SAMPLE)) yield `${folded} ${paired} ${name}`;
}
